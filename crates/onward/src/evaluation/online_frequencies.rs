//! The online constant for classes: their smoothed frequencies so far.

use crate::Error;
use crate::archive::Archive;
use crate::evaluation::smoothed_frequency::SMOOTHING;
use crate::numeric::sum::Sum;

/// Predicts each class by the labels so far, and is charged the log loss for it.
///
/// Of n labels with K classes, a class that was met n_c times has the probability (n_c + ½)/(n + K/2) (Krichevsky and
/// Trofimov 1981), labels counting by their importance. A class that is new is charged what a learner is charged for it:
/// as if it had had the probability 1/(t + 1) after t rows.
///
/// ```
/// let mut frequencies = onward::evaluation::OnlineFrequencies::default();
/// for class in [0, 1, 0] {
///     frequencies.observe(class, 1.0);
/// }
/// // 1, then 1/(1 + 1), then (1 + ½)/(2 + 1).
/// assert!((frequencies.paid() - 4f64.ln()).abs() < 1e-15);
/// ```
#[derive(Debug, Clone, Default)]
pub struct OnlineFrequencies {
    /// Σ h of each class.
    weights: Vec<f64>,
    /// Σ h of all.
    weight: f64,
    /// The classes that were met.
    met: u64,
    rounds: u64,
    paid: Sum,
}

impl OnlineFrequencies {
    /// Charges the prediction for the class of a row of importance > 0, and then knows it.
    pub fn observe(&mut self, class: usize, weight: f64) {
        self.paid.add(-weight * libm::log(self.probability(class)));
        self.learn(class, weight);
    }

    /// The probability that the next class is given.
    pub(super) fn probability(&self, class: usize) -> f64 {
        match self.weights.get(class) {
            Some(&weight) if weight > 0.0 => (weight + SMOOTHING) / (self.weight + SMOOTHING * self.met as f64),
            _ => 1.0 / (self.rounds + 1) as f64,
        }
    }

    /// Whether the class has been met.
    pub(super) fn knows(&self, class: usize) -> bool {
        self.weights.get(class).is_some_and(|&weight| weight > 0.0)
    }

    /// How many classes have been met.
    pub(super) fn met(&self) -> u64 {
        self.met
    }

    /// The share of a class that has been met among all of them but one.
    pub(super) fn share_without(&self, left_out: usize, class: usize) -> f64 {
        let others = self.weight - self.weights[left_out] + SMOOTHING * (self.met - 1) as f64;
        (self.weights[class] + SMOOTHING) / others
    }

    fn learn(&mut self, class: usize, weight: f64) {
        if class >= self.weights.len() {
            self.weights.resize(class + 1, 0.0);
        }
        self.met += u64::from(self.weights[class] == 0.0);
        self.weights[class] += weight;
        self.weight += weight;
        self.rounds += 1;
    }

    /// Σ h·ℓ of its predictions.
    pub fn paid(&self) -> f64 {
        self.paid.total()
    }

    /// Saves or loads what is needed to continue to the bit.
    ///
    /// # Errors
    /// When something is missing or does not match.
    pub fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        archive.column("weights", &mut self.weights)?;
        archive.check(self.weights.iter().all(|&weight| weight >= 0.0), "weights", "must not be below 0")?;
        archive.size("weight", &mut self.weight)?;
        archive.count("met", &mut self.met)?;
        archive.count("rounds", &mut self.rounds)?;
        self.paid.persist("paid", archive)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frequencies_pay_what_their_probabilities_cost() {
        let rows = [(2usize, 1.0), (2, 0.5), (0, 2.0), (2, 1.0), (7, 1.0), (0, 3.0)];
        let mut found = OnlineFrequencies::default();
        let mut expected = 0.0;
        for (t, &(class, weight)) in rows.iter().enumerate() {
            let past = &rows[..t];
            let of = |class: usize| past.iter().filter(|row| row.0 == class).map(|row| row.1).sum::<f64>();
            let classes = (0..8).filter(|&class| of(class) > 0.0).count() as f64;
            let all: f64 = past.iter().map(|row| row.1).sum();
            let probability = match of(class) {
                0.0 => 1.0 / (t as f64 + 1.0),
                known => (known + 0.5) / (all + 0.5 * classes),
            };
            expected -= weight * probability.ln();
            found.observe(class, weight);
            assert!((found.paid() - expected).abs() < 1e-12);
        }
        let state = Archive::saved(|archive| found.persist(archive)).unwrap();
        let mut loaded = OnlineFrequencies::default();
        loaded.persist(&mut Archive::loading(state)).unwrap();
        [&mut found, &mut loaded].into_iter().for_each(|it| it.observe(5, 1.0));
        assert_eq!(found.paid(), loaded.paid());
    }
}
