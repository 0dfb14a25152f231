//! Several classes: accuracy and log loss.

use super::total::CompensatedTotal;
use crate::Error;
use crate::archive::Archive;

/// How often the class with the largest score is the true one, the first of several that are equal; and the mean of
/// −ln of the probability that was given to the true class, where scores stand for probabilities.
#[derive(Debug, Clone, Default)]
pub struct Classes {
    weight: CompensatedTotal,
    mistakes: CompensatedTotal,
    log_loss: CompensatedTotal,
}

impl Classes {
    /// Takes in the scores of a row, the number of its class, −ln of the probability of that and the importance
    /// weight (finite, ≥ 0; 0 changes nothing).
    pub fn observe(&mut self, scores: &[f64], class: usize, log_loss: f64, weight: f64) {
        let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let is_right = scores.iter().position(|&score| score == largest) == Some(class);
        self.weight.add(weight);
        self.mistakes.add(if is_right { 0.0 } else { weight });
        self.log_loss.add(weight * log_loss);
    }

    /// The weight of the mistakes: how many there were when all weights are 1.
    pub fn mistakes(&self) -> f64 {
        self.mistakes.value()
    }

    /// The share that was right. None before any weight.
    pub fn accuracy(&self) -> Option<f64> {
        let weight = self.weight.value();
        (weight > 0.0).then(|| self.weight.minus(self.mistakes) / weight)
    }

    /// The mean log loss. None before any weight.
    pub fn log_loss(&self) -> Option<f64> {
        self.log_loss.per(self.weight)
    }

    /// What is needed to continue to the bit.
    ///
    /// # Errors
    /// When a number is missing, not finite or negative.
    pub fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        self.weight.persist_count("weight", archive)?;
        self.mistakes.persist_count("mistakes", archive)?;
        self.log_loss.persist("log_loss", archive)
    }
}
