//! Mean, deviation and range of the labels: what the default class of comparators is measured in.

use crate::Error;
use crate::archive::Archive;

/// Follows the labels of a stream in constant memory.
///
/// ```
/// use onward::evaluation::LabelStatistics;
/// let mut labels = LabelStatistics::default();
/// [1.0, 3.0, 5.0].iter().for_each(|&label| labels.observe(label, 1.0));
/// assert_eq!((labels.mean(), labels.range()), (3.0, (1.0, 5.0)));
/// assert_eq!(labels.deviation(), (8f64 / 3.0).sqrt());
/// ```
#[derive(Debug, Clone, Default)]
pub struct LabelStatistics {
    /// Σ h.
    weight: f64,
    /// Welford's mean and sum of squared distances from it.
    mean: f64,
    squares: f64,
    low: f64,
    high: f64,
}

impl LabelStatistics {
    /// Takes in a label of importance > 0.
    pub fn observe(&mut self, label: f64, weight: f64) {
        let is_first = self.weight == 0.0;
        self.weight += weight;
        let distance = label - self.mean;
        self.mean += distance * (weight / self.weight);
        self.squares += weight * distance * (label - self.mean);
        self.low = if is_first { label } else { self.low.min(label) };
        self.high = if is_first { label } else { self.high.max(label) };
    }

    /// The mean label, each weighted by its importance; 0 before the first.
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// The standard deviation of the labels; 0 before the first.
    pub fn deviation(&self) -> f64 {
        if self.weight > 0.0 { (self.squares / self.weight).max(0.0).sqrt() } else { 0.0 }
    }

    /// The root mean square of the labels: their deviation from 0.
    pub fn root_mean_square(&self) -> f64 {
        self.deviation().hypot(self.mean)
    }

    /// The smallest and the largest label.
    pub fn range(&self) -> (f64, f64) {
        (self.low, self.high)
    }

    /// Saves or loads what is needed to continue to the bit. Returns whether it was there.
    ///
    /// # Errors
    /// When it does not match.
    pub fn persist(&mut self, archive: &mut Archive) -> Result<bool, Error> {
        let mut values = [self.weight, self.mean, self.squares, self.low, self.high];
        let mut column = values.to_vec();
        archive.optional_column("labels", &mut column)?;
        if archive.is_loading() && column.is_empty() {
            return Ok(false);
        }
        let is_sound = column.len() == values.len() && column.iter().all(|number| number.is_finite());
        archive.check(is_sound, "labels", "must have five finite numbers")?;
        if archive.is_loading() {
            values.copy_from_slice(&column);
            [self.weight, self.mean, self.squares, self.low, self.high] = values;
        }
        Ok(true)
    }
}
