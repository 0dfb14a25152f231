//! Real labels: root mean square error, mean absolute error, R², bias.

use super::total::{CompensatedTotal, bounded};
use crate::Error;
use crate::archive::Archive;

/// How far predictions p are from labels y, in four readings of e = p − y:
///
/// - `rmse` = √(Σ h·e² / Σ h), in the unit of the label: large errors weigh most;
/// - `mae` = Σ h·|e| / Σ h, in the unit of the label;
/// - `bias` = Σ h·e / Σ h: positive when predictions are too high;
/// - `r2` = 1 − Σ h·e² / Σ h·(y − ȳ)², without unit: 1 is perfect, 0 is as good as
///   the mean ȳ of all labels (known only in hindsight), negative is worse.
///
/// Predictions are on the scale of the labels (rates, not their logarithms).
/// Terms beyond 2^960 count as 2^960, so a predictor that runs away leaves the
/// sums finite.
///
/// ```
/// let mut regression = onward::metric::Regression::default();
/// for (prediction, label) in [(2.0, 1.0), (2.0, 3.0), (5.0, 5.0)] {
///     regression.observe(prediction, label, 1.0);
/// }
/// assert_eq!(regression.rmse(), Some((2.0f64 / 3.0).sqrt()));
/// assert_eq!(regression.mae(), Some(2.0 / 3.0));
/// assert_eq!(regression.bias(), Some(0.0));
/// assert_eq!(regression.r2(), Some(0.75)); // 1 − 2/8
/// ```
#[derive(Debug, Clone, Default)]
pub struct Regression {
    weight: CompensatedTotal,
    squares: CompensatedTotal,
    absolutes: CompensatedTotal,
    errors: CompensatedTotal,
    label_mean: f64,
    /// Σ h·(y − ȳ)² in one pass: Welford 1962, with weights West 1979. The textbook's Σ h·y² − (Σ h·y)²/Σ h loses all digits
    /// when labels are large and close together.
    label_squares: CompensatedTotal,
}

impl Regression {
    /// Takes in a prediction, its label and the importance weight (finite, ≥ 0; 0 changes nothing).
    #[inline]
    pub fn observe(&mut self, prediction: f64, label: f64, weight: f64) {
        if weight > 0.0 {
            let label = bounded(label);
            let error = bounded(prediction) - label;
            self.weight.add(weight);
            self.squares.add(weight * (error * error));
            self.absolutes.add(weight * error.abs());
            self.errors.add(weight * error);
            let before = label - self.label_mean;
            self.label_mean += before * (weight / self.weight.value());
            self.label_squares.add(weight * (before * (label - self.label_mean)));
        }
    }

    /// The root mean square error. None before any weight.
    pub fn rmse(&self) -> Option<f64> {
        self.squares.per(self.weight).map(f64::sqrt)
    }

    /// The mean absolute error. None before any weight.
    pub fn mae(&self) -> Option<f64> {
        self.absolutes.per(self.weight)
    }

    /// The mean error, prediction − label. None before any weight.
    pub fn bias(&self) -> Option<f64> {
        self.errors.per(self.weight)
    }

    /// The share of the labels' variance that the predictions explain. None when
    /// all labels were equal: then there is nothing to explain.
    pub fn r2(&self) -> Option<f64> {
        let spread = self.label_squares.value();
        (spread > 0.0).then(|| 1.0 - self.squares.value() / spread)
    }

    /// Saves or loads what is needed to continue to the bit.
    ///
    /// # Errors
    /// When a number is missing or not finite, or one that cannot be negative is.
    pub fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        self.weight.persist_count("weight", archive)?;
        self.squares.persist_count("squares", archive)?;
        self.absolutes.persist_count("absolutes", archive)?;
        self.errors.persist("errors", archive)?;
        archive.finite("label_mean", &mut self.label_mean)?;
        self.label_squares.persist_count("label_squares", archive)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn regression(rows: &[(f64, f64, f64)]) -> Regression {
        let mut regression = Regression::default();
        rows.iter().for_each(|&(p, y, h)| regression.observe(p, y, h));
        regression
    }

    fn sum(rows: &[(f64, f64, f64)], f: impl Fn(f64, f64) -> f64) -> f64 {
        rows.iter().map(|&(p, y, h)| h * f(p, y)).sum()
    }

    fn close(found: Option<f64>, expected: f64, scale: f64) -> Result<(), TestCaseError> {
        // 100 terms, each rounded a few times: below 1000·2^-53 ≈ 1.1e-13 of the scale.
        let found = found.unwrap_or(f64::NAN);
        prop_assert!((found - expected).abs() <= 1.2e-13 * scale, "{found} {expected}");
        Ok(())
    }

    proptest! {
        #[test]
        fn all_four_agree_with_two_passes_over_the_rows(
            rows in prop::collection::vec(
                (-100.0..100.0, -100.0..100.0, prop_oneof![Just(0.0), Just(1.0), 0.01..10.0]), 2..100),
        ) {
            let weight = sum(&rows, |_, _| 1.0);
            let label_mean = sum(&rows, |_, y| y) / weight;
            let spread = sum(&rows, |_, y| (y - label_mean).powi(2));
            prop_assume!(spread > 1e-3 * weight);
            let squares = sum(&rows, |p, y| (p - y).powi(2));
            let found = regression(&rows);
            close(found.rmse(), (squares / weight).sqrt(), 200.0)?;
            close(found.mae(), sum(&rows, |p, y| (p - y).abs()) / weight, 200.0)?;
            close(found.bias(), sum(&rows, |p, y| p - y) / weight, 200.0)?;
            // A relative error of the spread is that of (100)² against its mean square.
            close(found.r2(), 1.0 - squares / spread, squares / spread * (1e4 * weight / spread))?;
        }
    }

    #[test]
    fn the_spread_of_large_labels_close_together_keeps_its_digits() {
        let rows: Vec<_> = (0..3000).map(|t| (1e9 + 1.0, 1e9 + f64::from(t % 3), 1.0)).collect();
        // Errors 1, 0, −1 and labels −1, 0, 1 about their mean: SSE = SST, R² = 0.
        // A mean near 1e9 is rounded by 1e9·2^-53 ≈ 1.1e-7 a step.
        assert!(regression(&rows).r2().unwrap().abs() < 1e-6);
        let textbook = sum(&rows, |_, y| y * y) - sum(&rows, |_, y| y).powi(2) / 3000.0;
        assert!((textbook / 2000.0 - 1.0).abs() > 0.1, "the textbook's formula fails here: {textbook}");
    }

    #[test]
    fn small_errors_of_either_sign_survive_large_ones_that_cancel() {
        let rows = [(1e16, 0.0, 1.0), (1.0, 0.0, 1.0), (1.0, 0.0, 1.0), (-1e16, 0.0, 1.0)];
        assert_eq!(regression(&rows).bias(), Some(0.5));
    }

    #[test]
    fn predicting_the_mean_explains_nothing_and_the_label_everything() {
        let labels = [1.0, 2.0, 3.0, 6.0];
        let mean: Vec<_> = labels.iter().map(|&y| (3.0, y, 1.0)).collect();
        let truth: Vec<_> = labels.iter().map(|&y| (y, y, 1.0)).collect();
        assert_eq!(regression(&mean).r2(), Some(0.0));
        assert_eq!(regression(&truth).r2(), Some(1.0));
        assert_eq!(regression(&truth).rmse(), Some(0.0));
    }

    #[test]
    fn bias_is_positive_when_predictions_are_too_high() {
        assert_eq!(regression(&[(3.0, 1.0, 1.0), (4.0, 5.0, 3.0)]).bias(), Some(-0.25));
        assert_eq!(regression(&[(3.0, 1.0, 3.0), (4.0, 5.0, 1.0)]).bias(), Some(1.25));
    }

    #[test]
    fn equal_labels_have_no_r2_at_any_weight() {
        for label in [0.0, 0.1, -7.3, 1e300] {
            let rows = [(1.0, label, 0.3), (2.0, label, 0.7), (0.0, label, 1e-9), (5.0, label, 1e9)];
            assert_eq!(regression(&rows).r2(), None, "{label}");
            assert!(regression(&rows).rmse().is_some());
        }
    }

    #[test]
    fn nothing_observed_means_no_value() {
        for regression in [Regression::default(), regression(&[(1.0, f64::MAX, 0.0), (f64::INFINITY, 2.0, 0.0)])] {
            let values = [regression.rmse(), regression.mae(), regression.r2(), regression.bias()];
            assert_eq!(values, [None; 4]);
        }
    }

    #[test]
    fn a_predictor_that_runs_away_leaves_finite_numbers() {
        let huge = [f64::MAX, f64::MIN, f64::INFINITY, f64::NEG_INFINITY, 1e200];
        let mut regression = Regression::default();
        for (prediction, label) in huge.iter().flat_map(|&p| [(p, f64::MAX), (p, f64::MIN), (p, 0.0)]) {
            regression.observe(prediction, label, 1.0);
            let values = [regression.rmse(), regression.mae(), regression.bias()];
            assert!(values.iter().all(|value| value.unwrap().is_finite()), "{regression:?}");
        }
        assert!(regression.r2().unwrap().is_finite());
        let state = Archive::saved(|archive| regression.persist(archive)).unwrap();
        Regression::default().persist(&mut Archive::loading(state)).expect("what was saved can be read");
    }
}
