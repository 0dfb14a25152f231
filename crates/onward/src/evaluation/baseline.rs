//! The best constant: what a predictor that ignores the features would have paid,
//! knowing all labels so far. What a learner does not beat, it has not learnt.
//!
//! For losses whose best constant depends on the mean label alone (squared,
//! logistic, Poisson) it is exact. For the others labels are kept in a grid (`grid.rs`),
//! whose best constant is found by golden-section search: memory is bounded, and up to
//! 4,096 distinct labels are exact. With more of them, what the best constant pays is known
//! to lie in an interval:
//!
//! - by Jensen's inequality no constant pays less than on the means of the cells, if the loss is convex in the label;
//! - the constant that was found pays at most what it would if the labels of each cell were at its two ends, in the
//!   shares that give their mean.

use crate::archive::Archive;
use crate::evaluation::grid::Grid;
use crate::loss::Curvature;
use crate::numeric::sum::Sum;
use crate::{Error, SharedLoss};

/// Golden-section steps: the bracket shrinks by 0.618 each, to below 1e-12 of its width.
const STEPS: u32 = 60;

/// What the best constant pays, in hindsight.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ConstantInHindsight {
    /// Its score.
    pub score: f64,
    /// Its mean loss: the middle of where it lies.
    pub risk: f64,
    /// How far the mean loss may be from that; 0 where it is exact, up to rounding. `None`: not known, for losses of one's
    /// own that are not [convex in the label](crate::Loss::is_convex_in_label).
    pub error: Option<f64>,
}

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

    /// Σ h so far.
    pub(super) fn weight(&self) -> f64 {
        self.weight
    }

    /// The mean label so far, as the loss wants it for its mean, where the best constant follows from that; 0 before the
    /// first label.
    #[inline]
    pub(super) fn mean_label(&self) -> f64 {
        self.mean
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
        self.found().map(|found| found.risk)
    }

    /// The best constant so far, and what it pays; `None` before the first label.
    pub fn found(&self) -> Option<ConstantInHindsight> {
        let score = self.score()?;
        let least = self.risk_of(score)?;
        if self.has_closed_form || !self.grid.is_coarse() {
            return Some(ConstantInHindsight { score, risk: least, error: Some(0.0) });
        }
        let excess = self.excess(score);
        Some(match self.loss.is_convex_in_label() {
            true => ConstantInHindsight { score, risk: least + 0.5 * excess, error: Some(0.5 * excess) },
            false => ConstantInHindsight { score, risk: least, error: None },
        })
    }

    /// How much more than on the means of the cells a constant may pay on the labels themselves.
    fn excess(&self, score: f64) -> f64 {
        let value = |label| self.loss.value(score, label);
        let excess = self.grid.cells().map(|((low, high), mean, weight)| {
            let share = ((mean - low) / (high - low)).clamp(0.0, 1.0);
            weight * ((1.0 - share) * value(low) + share * value(high) - value(mean)).max(0.0)
        });
        excess.sum::<f64>() / self.weight
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

    /// The losses of numbers whose best constant is searched for.
    fn searched() -> impl Iterator<Item = SharedLoss> {
        let all = loss::LOSSES.iter().map(|entry| entry.default_loss());
        all.filter(|loss| loss.task() == loss::Task::Regression && loss.best_constant(0.5).is_none())
    }

    #[test]
    fn what_the_best_constant_pays_lies_where_it_is_said_to() {
        let mut random = crate::numeric::rng::SplitMix64::new(5);
        // Uniform, skewed with far outliers, on a lattice with a bit of noise.
        let kinds: [fn(f64, f64) -> f64; 3] =
            [|u, _| u, |u, v| (1.0 / (1.0 - u)).powi(2) * (v - 0.3), |u, v| (7.0 * u).floor() + 1e-3 * v];
        for (loss, kind) in searched().flat_map(|loss| kinds.map(|kind| (loss.clone(), kind))) {
            let labels: Vec<f64> = (0..9000).map(|_| kind(random.uniform(), random.uniform())).collect();
            let mut best = BestConstant::new(SharedLoss::clone(&loss));
            labels.iter().for_each(|&label| best.observe(label, 1.0));
            let found = best.found().unwrap();
            let pays = |score: f64| labels.iter().map(|&y| loss.value(score, y)).sum::<f64>() / 9000.0;
            // A convex function of one number: ternary search over all labels.
            let (mut low, mut high) = labels.iter().fold((f64::MAX, f64::MIN), |(a, b), &y| (a.min(y), b.max(y)));
            for _ in 0..90 {
                let third = (high - low) / 3.0;
                if pays(low + third) <= pays(high - third) { high -= third } else { low += third }
            }
            let (exact, error) = (pays(0.5 * (low + high)), found.error.unwrap());
            let name = loss.name();
            assert!(error > 0.0 && (found.risk - exact).abs() <= error + 1e-12 * exact, "{name}: {found:?} {exact}");
            assert!(error < 1e-3 * exact, "{name}: {found:?}");
        }
    }

    #[test]
    fn few_labels_and_closed_forms_are_exact() {
        for entry in loss::LOSSES {
            let mut best = BestConstant::new(entry.default_loss());
            (0..4000).for_each(|_| best.observe(1.0, 1.0));
            assert_eq!(best.found().unwrap().error, Some(0.0), "{}", entry.name);
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
