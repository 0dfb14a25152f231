//! The best constant for classes: their frequencies.

use crate::Error;
use crate::archive::Archive;
use crate::numeric::sum;

/// Follows the frequencies of classes: of all predictors that give every row the same probabilities, they have the
/// least log loss in hindsight.
///
/// ```
/// let mut frequencies = onward::evaluation::ClassFrequencies::default();
/// for class in [0, 2, 2, 0] {
///     frequencies.observe(class, 1.0);
/// }
/// assert_eq!(frequencies.probabilities(), [0.5, 0.0, 0.5]);
/// assert_eq!(frequencies.risk(), Some(2f64.ln()));
/// ```
#[derive(Debug, Clone, Default)]
pub struct ClassFrequencies {
    /// Σ h of each class.
    weights: Vec<f64>,
}

impl ClassFrequencies {
    /// Takes in the class of a row of importance > 0.
    pub fn observe(&mut self, class: usize, weight: f64) {
        if class >= self.weights.len() {
            self.weights.resize(class + 1, 0.0);
        }
        self.weights[class] += weight;
    }

    /// The share of each class up to the last that was met.
    pub fn probabilities(&self) -> Vec<f64> {
        let total = self.total();
        self.weights.iter().map(|weight| weight / total).collect()
    }

    /// Their mean log loss: the entropy of the classes so far. `None` before the first.
    pub fn risk(&self) -> Option<f64> {
        let total = self.total();
        let met = self.weights.iter().filter(|&&weight| weight > 0.0);
        (total > 0.0).then(|| sum::sum(met.map(|weight| weight / total * libm::log(total / weight))))
    }

    fn total(&self) -> f64 {
        sum::sum(self.weights.iter().copied())
    }

    /// All that is needed to continue to the bit.
    ///
    /// # Errors
    /// When something is missing or does not match.
    pub fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        archive.column("weight", &mut self.weights)?;
        archive.check(self.weights.iter().all(|&weight| weight >= 0.0), "weight", "must not be below 0")
    }
}
