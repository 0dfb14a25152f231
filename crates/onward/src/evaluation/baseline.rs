//! The best constant: what a predictor that ignores the features would have paid,
//! knowing all labels so far. What a learner does not beat, it has not learnt.
//!
//! For losses whose best constant depends on the mean label alone (squared,
//! logistic, Poisson) it is exact. For the others labels are kept in a grid (`grid.rs`),
//! whose best constant is found by golden-section search: memory is bounded, and up to
//! 4,096 distinct labels are exact.

use crate::archive::Archive;
use crate::evaluation::grid::Grid;
use crate::loss::Curvature;
use crate::numeric::sum::Sum;
use crate::{Error, SharedLoss};

/// Golden-section steps: the bracket shrinks by 0.618 each, to below 1e-12 of its width.
const STEPS: u32 = 60;

/// Follows the best constant prediction in hindsight.
#[derive(Debug, Clone)]
pub struct BestConstant {
    loss: SharedLoss,
    /// Σ h.
    weight: f64,
    /// Σ h·label, of labels as the loss wants them for their mean.
    labels: Sum,
    /// Welford's mean and sum of squared distances from it.
    mean: f64,
    squares: f64,
    /// The labels, for losses without a closed form.
    grid: Grid,
    has_closed_form: bool,
}

impl BestConstant {
    /// For the labels of this loss.
    pub fn new(loss: SharedLoss) -> Self {
        let has_closed_form = loss.best_constant(0.5).is_some();
        let grid = Grid::default();
        Self { loss, weight: 0.0, labels: Sum::default(), mean: 0.0, squares: 0.0, grid, has_closed_form }
    }

    /// Takes in a label of importance > 0.
    pub fn observe(&mut self, label: f64, weight: f64) {
        self.weight += weight;
        if !self.has_closed_form {
            self.grid.observe(label, weight);
            return;
        }
        let value = self.loss.label_for_mean(label);
        self.labels.add(weight * value);
        let distance = value - self.mean;
        self.mean += distance * (weight / self.weight);
        self.squares += weight * distance * (value - self.mean);
    }

    /// The score of the best constant so far; `None` before the first label.
    pub fn score(&self) -> Option<f64> {
        if self.weight <= 0.0 {
            return None;
        }
        if self.has_closed_form {
            return self.loss.best_constant(self.labels.total() / self.weight);
        }
        Some(self.search())
    }

    /// The mean loss of the best constant so far.
    pub fn risk(&self) -> Option<f64> {
        self.risk_of(self.score()?)
    }

    /// The mean loss so far of a predictor that always gives this score.
    pub fn risk_of(&self, score: f64) -> Option<f64> {
        if self.weight <= 0.0 {
            return None;
        }
        if !self.has_closed_form {
            return Some(self.grid_risk(score));
        }
        let mean = self.labels.total() / self.weight;
        if let Curvature::Quadratic(c) = self.loss.curvature() {
            return Some(0.5 * c * (self.squares / self.weight + (score - mean) * (score - mean)));
        }
        // Logistic and Poisson losses are affine in the label: the mean label says it all.
        Some(self.loss.value(score, mean))
    }

    fn grid_risk(&self, score: f64) -> f64 {
        let costs = self.grid.labels().map(|(label, weight)| weight * self.loss.value(score, label));
        costs.sum::<f64>() / self.weight
    }

    /// The best constant of the labels in the grid: a convex problem in one dimension.
    fn search(&self) -> f64 {
        let labels = || self.grid.labels().map(|(label, _)| label);
        let widest = (f64::INFINITY, f64::NEG_INFINITY);
        let (mut low, mut high) = labels().fold(widest, |(low, high), y| (low.min(y), high.max(y)));
        if self.loss.curvature() == Curvature::None {
            // 0/1 loss: one class or the other.
            return if self.grid_risk(high) <= self.grid_risk(low) { high } else { low };
        }
        let ratio = 0.5 * (5f64.sqrt() - 1.0);
        let (mut left, mut right) = (high - ratio * (high - low), low + ratio * (high - low));
        let (mut at_left, mut at_right) = (self.grid_risk(left), self.grid_risk(right));
        for _ in 0..STEPS {
            if at_left <= at_right {
                (high, right, at_right) = (right, left, at_left);
                left = high - ratio * (high - low);
                at_left = self.grid_risk(left);
            } else {
                (low, left, at_left) = (left, right, at_right);
                right = low + ratio * (high - low);
                at_right = self.grid_risk(right);
            }
        }
        let found = 0.5 * (low + high);
        // A loss of straight pieces is least at a corner, which the search comes near and does
        // not hit: at a label (absolute, quantile, hinge), or at 0 (perceptron).
        let below = labels().filter(|&y| y <= found).fold(f64::NEG_INFINITY, f64::max);
        let above = labels().filter(|&y| y >= found).fold(f64::INFINITY, f64::min);
        let corners = [below, above, 0.0].into_iter().filter(|corner| corner.is_finite());
        let (mut best, mut least) = (found, self.grid_risk(found));
        for corner in corners {
            let risk = self.grid_risk(corner);
            if risk < least {
                (best, least) = (corner, risk);
            }
        }
        best
    }

    /// Saves or loads what is needed to continue to the bit.
    ///
    /// # Errors
    /// When something is missing or does not match.
    pub fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        archive.number("weight", &mut self.weight)?;
        archive.number("mean", &mut self.mean)?;
        archive.number("squares", &mut self.squares)?;
        self.labels.persist("labels", archive)?;
        archive.part("grid", |archive| self.grid.persist(archive))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss;

    fn risk(loss: &str, labels: &[f64]) -> f64 {
        let mut best = BestConstant::new(loss::parse(loss).unwrap());
        for &label in labels {
            best.observe(label, 1.0);
        }
        best.risk().unwrap()
    }

    #[test]
    fn the_best_constant_pays_what_theory_says() {
        // 3 of 4 positive: entropy; variance; mean distance to the median; the smaller class.
        let signs = [1.0, 1.0, -1.0, 1.0];
        let entropy = -(0.75 * 0.75f64.ln() + 0.25 * 0.25f64.ln());
        assert!((risk("logistic", &signs) - entropy).abs() < 1e-12);
        assert!((risk("squared", &[1.0, 2.0, 6.0]) - 14.0 / 3.0).abs() < 1e-12);
        assert!((risk("absolute", &[1.0, 2.0, 6.0]) - 5.0 / 3.0).abs() < 1e-9);
        assert!((risk("quantile:tau=0.9", &[0.0, 1.0, 2.0, 3.0]) - 0.15).abs() < 1e-9);
        assert_eq!(risk("zero-one", &signs), 0.25);
        assert!((risk("hinge", &signs) - 0.5).abs() < 1e-9);
        let mean = 3.0f64;
        assert!((risk("poisson", &[1.0, 2.0, 6.0]) - (mean - mean * mean.ln())).abs() < 1e-12);
    }

    #[test]
    fn a_best_constant_at_a_corner_is_hit() {
        let signs = [1.0, -1.0, -1.0, 1.0, 1.0, -1.0, 1.0];
        assert_eq!(risk("perceptron", &signs), 0.0);
        assert_eq!(risk("hinge", &signs), 6.0 / 7.0);
        assert_eq!(risk("absolute", &[1.0, 2.0, 6.0]), 5.0 / 3.0);
        assert_eq!(risk("absolute", &[-3.0, -3.0, 5.0, -3.0]), 2.0);
        assert_eq!(risk("epsilon-insensitive:epsilon=2", &[1.0, 4.0, 2.0]), 0.0);
    }

    #[test]
    fn the_risk_of_a_constant_is_the_mean_of_its_losses() {
        for entry in loss::LOSSES {
            let (name, loss) = (entry.name, entry.default_loss());
            let mut best = BestConstant::new(SharedLoss::clone(&loss));
            assert_eq!(best.risk_of(0.5), None);
            let labels = [1.0, if loss.check_label(-1.0).is_ok() { -1.0 } else { 3.0 }, 1.0];
            labels.iter().zip([1.0, 2.5, 0.5]).for_each(|(&label, weight)| best.observe(label, weight));
            for score in [0.0, 0.5, -2.0] {
                let paid: f64 = labels.iter().zip([1.0, 2.5, 0.5]).map(|(&y, h)| h * loss.value(score, y)).sum();
                let found = best.risk_of(score).unwrap();
                assert!((found - paid / 4.0).abs() < 1e-12, "{name} {score}: {found}");
                assert!(best.risk().unwrap() <= found + 1e-9);
            }
        }
    }

    #[test]
    fn many_distinct_labels_far_from_zero_cost_next_to_nothing() {
        for (center, spread) in [(0.0, 1.0), (1e5, 3.0), (-1e9, 50.0), (1.0, 1e-4)] {
            let labels: Vec<f64> = (0..20_000u32)
                .map(|t| center + spread * (f64::from(t * 7919 % 20_011) / 20_011.0 - 0.5).powi(3))
                .collect();
            let mut sorted = labels.clone();
            sorted.sort_by(f64::total_cmp);
            let mean = |of: &dyn Fn(f64) -> f64| labels.iter().map(|&y| of(y)).sum::<f64>() / labels.len() as f64;
            let median = sorted[labels.len() / 2];
            let exact = mean(&|y| (y - median).abs());
            let found = risk("absolute", &labels);
            assert!((found - exact).abs() < 1e-3 * exact, "absolute {center} {spread}: {found} {exact}");
            let quantile = sorted[labels.len() * 9 / 10];
            let exact = mean(&|y| if y > quantile { 0.9 * (y - quantile) } else { 0.1 * (quantile - y) });
            let found = risk("quantile:tau=0.9", &labels);
            assert!((found - exact).abs() < 1e-3 * exact, "quantile {center} {spread}: {found} {exact}");
        }
    }
}
