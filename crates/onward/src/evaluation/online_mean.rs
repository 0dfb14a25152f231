//! The mean of the labels so far as a predictor of the next: what its squared errors are, which pays for the first label too.

use crate::Error;
use crate::archive::Archive;
use crate::numeric::sum::Sum;

/// Follows the mean of the labels, and its squared errors.
#[derive(Debug, Clone)]
pub(super) struct OnlineMean {
    mean: f64,
    /// Σ h.
    weight: f64,
    /// Σ h·(mean − y)².
    squares: Sum,
}

impl OnlineMean {
    /// No labels yet: this is predicted.
    pub(super) fn starting_at(start: f64) -> Self {
        Self { mean: start, weight: 0.0, squares: Sum::default() }
    }

    /// Takes in a label of importance > 0.
    pub(super) fn observe(&mut self, label: f64, weight: f64) {
        let error = label - self.mean;
        self.squares.add(weight * (error * error));
        self.weight += weight;
        // What was predicted before the first label counts no more.
        self.mean += error * (weight / self.weight);
    }

    /// Σ h·(mean − y)², each mean that of the labels before.
    pub(super) fn squares(&self) -> f64 {
        self.squares.total()
    }

    pub(super) fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        archive.number("mean", &mut self.mean)?;
        archive.size("weight", &mut self.weight)?;
        self.squares.persist("squares", archive)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn squares_are_those_of_the_means_before() {
        let rows = [(3.0, 1.0), (-2.0, 0.5), (1e3, 2.0), (7.0, 1.0)];
        let mut mean = OnlineMean::starting_at(1.0);
        let mut expected = 0.0;
        for (t, &(label, weight)) in rows.iter().enumerate() {
            let all: f64 = rows[..t].iter().map(|row| row.1).sum();
            let before = if t == 0 { 1.0 } else { rows[..t].iter().map(|row| row.0 * row.1).sum::<f64>() / all };
            expected += weight * (label - before).powi(2);
            mean.observe(label, weight);
            let state = Archive::saved(|archive| mean.persist(archive)).unwrap();
            mean = OnlineMean::starting_at(1.0);
            mean.persist(&mut Archive::loading(state)).unwrap();
        }
        assert!((mean.squares() - expected).abs() < 1e-9 * expected);
    }
}
