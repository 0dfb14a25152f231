//! Two classes: accuracy, logarithmic loss, Brier score.
//!
//! Labels are −1 and 1, or probabilities q in \[0, 1\] of the positive class
//! (0 is then a negative). What counts right and wrong takes a label as positive
//! when it is above 0.5; what scores probabilities takes q itself.

use super::total::{CompensatedTotal, bounded};
use crate::Error;
use crate::archive::Archive;

/// Whether a label counts as positive: above 0.5. −1, 0 and 0.5 do not.
#[inline]
pub(super) fn is_positive(label: f64) -> bool {
    label > 0.5
}

/// The probability q of the positive class that a label stands for: −1 ↦ 0,
/// probabilities and 1 themselves.
#[inline]
pub(super) fn target(label: f64) -> f64 {
    label.clamp(0.0, 1.0)
}

/// The share of examples whose class the sign of the score names: positive when
/// the score is ≥ 0.
///
/// accuracy = 1 − Σ h·\[class ≠ truth\] / Σ h, in \[0, 1\]; higher is better.
///
/// ```
/// let mut accuracy = onward::metric::Accuracy::default();
/// accuracy.observe(0.3, 1.0, 1.0);
/// accuracy.observe(-2.0, -1.0, 1.0);
/// accuracy.observe(0.0, -1.0, 2.0); // a zero score says positive: wrong, twice
/// assert_eq!(accuracy.mistakes(), 2.0);
/// assert_eq!(accuracy.value(), Some(0.5));
/// ```
#[derive(Debug, Clone, Default)]
pub struct Accuracy {
    weight: CompensatedTotal,
    mistakes: CompensatedTotal,
}

impl Accuracy {
    /// Takes in a score, its label and the importance weight (finite, ≥ 0; 0 changes nothing).
    #[inline]
    pub fn observe(&mut self, score: f64, label: f64, weight: f64) {
        self.add(score, label, weight);
    }

    /// Returns whether it was a mistake.
    #[inline]
    pub(super) fn add(&mut self, score: f64, label: f64, weight: f64) -> bool {
        let mistake = (score >= 0.0) != is_positive(label);
        self.weight.add(weight);
        self.mistakes.add(if mistake { weight } else { 0.0 });
        mistake
    }

    /// The weight of the mistakes: how many there were when all weights are 1.
    pub fn mistakes(&self) -> f64 {
        self.mistakes.value()
    }

    /// The weight of the mistakes over all weight. None before any weight.
    pub fn mistake_rate(&self) -> Option<f64> {
        self.mistakes.per(self.weight)
    }

    /// The share that was right. None before any weight.
    pub fn value(&self) -> Option<f64> {
        let weight = self.weight.value();
        (weight > 0.0).then(|| self.weight.minus(self.mistakes) / weight)
    }

    /// Saves or loads what is needed to continue to the bit.
    ///
    /// # Errors
    /// When a number is missing, not finite or negative.
    pub fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        self.weight.persist_count("weight", archive)?;
        self.mistakes.persist_count("mistakes", archive)
    }
}

/// The two probabilities of a logistic score s, neither as 1 minus the other:
/// each has full relative accuracy however small it is.
///
/// With e = exp(−|s|) ≤ 1, the likelier class has 1/(1+e), the other e/(1+e).
#[derive(Debug, Clone, Copy)]
pub(super) struct Probability {
    score: f64,
    /// ln(1 + exp(−|score|)).
    shared: f64,
    /// Of label 1.
    pub(super) positive: f64,
    /// Of label −1.
    negative: f64,
}

impl Probability {
    /// From a score; one exponential, from `libm`: equal bits on all machines.
    #[inline]
    pub(super) fn of(score: f64) -> Self {
        let e = libm::exp(-score.abs());
        Self::from_exponential(score, e, libm::log1p(e))
    }

    /// The same, e = exp(−|score|) and ln(1 + e) being known.
    #[inline]
    pub(super) fn from_exponential(score: f64, e: f64, shared: f64) -> Self {
        let score = bounded(score);
        let likelier = 1.0 / (1.0 + e);
        let (up, down) = if score >= 0.0 { (1.0, e) } else { (e, 1.0) };
        Self { score, shared, positive: up * likelier, negative: down * likelier }
    }
}

/// The mean of −ln of the probability that was given to the truth, for a
/// logistic score s: P(y = 1) = 1/(1+e^(−s)).
///
/// log loss = Σ h·ln(1+e^(−ys)) / Σ h for y = ±1, in nats, ≥ 0; lower is better,
/// ln 2 ≈ 0.693 is a fair coin. A label that is a probability q pays the
/// cross-entropy −q·ln P(1) − (1−q)·ln P(−1).
///
/// ```
/// let mut log_loss = onward::metric::LogLoss::default();
/// log_loss.observe(0.0, 1.0, 1.0);
/// assert!((log_loss.value().unwrap() - 2f64.ln()).abs() < 1e-15);
/// log_loss.observe(-1000.0, 1.0, 1.0); // P(1) = e^-1000, and yet the loss is finite
/// assert!((log_loss.value().unwrap() - (1000.0 + 2f64.ln()) / 2.0).abs() < 1e-12);
/// ```
#[derive(Debug, Clone, Default)]
pub struct LogLoss {
    weight: CompensatedTotal,
    loss: CompensatedTotal,
}

impl LogLoss {
    /// Takes in a logistic score, its label and the importance weight (finite, ≥ 0; 0 changes nothing).
    #[inline]
    pub fn observe(&mut self, score: f64, label: f64, weight: f64) {
        self.add(Probability::of(score), target(label), weight);
    }

    #[inline]
    pub(super) fn add(&mut self, probability: Probability, target: f64, weight: f64) {
        self.weight.add(weight);
        // −q·ln P(1) − (1−q)·ln P(−1) = q·max(−s, 0) + (1−q)·max(s, 0) + ln(1+e): no term is negative, so nothing cancels.
        let against = target * (-probability.score).max(0.0) + (1.0 - target) * probability.score.max(0.0);
        self.loss.add(weight * (against + probability.shared));
    }

    /// The mean in nats. None before any weight.
    pub fn value(&self) -> Option<f64> {
        self.loss.per(self.weight)
    }

    /// Saves or loads what is needed to continue to the bit.
    ///
    /// # Errors
    /// When a number is missing, not finite or negative.
    pub fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        self.weight.persist_count("weight", archive)?;
        self.loss.persist_count("loss", archive)
    }
}

/// The mean squared distance between the probability of the positive class and
/// the truth (Brier 1950), for a logistic score.
///
/// Brier score = Σ h·(P(1) − q)² / Σ h with q = 1 for positives and 0 for
/// negatives (or the label, when it is a probability); in \[0, 1\], lower is
/// better, 0.25 is a fair coin.
///
/// ```
/// let mut brier = onward::metric::Brier::default();
/// brier.observe(0.0, -1.0, 1.0);
/// assert_eq!(brier.value(), Some(0.25));
/// ```
#[derive(Debug, Clone, Default)]
pub struct Brier {
    weight: CompensatedTotal,
    squares: CompensatedTotal,
}

impl Brier {
    /// Takes in a logistic score, its label and the importance weight (finite, ≥ 0; 0 changes nothing).
    #[inline]
    pub fn observe(&mut self, score: f64, label: f64, weight: f64) {
        let _ = self.add(Probability::of(score), target(label), weight);
    }

    #[inline]
    pub(super) fn add(&mut self, probability: Probability, target: f64, weight: f64) -> f64 {
        // P(1) − q, without cancellation where q is 0 or 1.
        let excess = probability.positive * (1.0 - target) - probability.negative * target;
        let square = excess * excess;
        self.weight.add(weight);
        self.squares.add(weight * square);
        square
    }

    /// The mean square. None before any weight.
    pub fn value(&self) -> Option<f64> {
        self.squares.per(self.weight)
    }

    /// Saves or loads what is needed to continue to the bit.
    ///
    /// # Errors
    /// When a number is missing, not finite or negative.
    pub fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        self.weight.persist_count("weight", archive)?;
        self.squares.persist_count("squares", archive)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Scores, labels and weights of a stream with ±1 and probability labels.
    fn stream() -> impl Strategy<Value = Vec<(f64, f64, f64)>> {
        let label = prop_oneof![Just(1.0), Just(-1.0), Just(0.0), 0.0..=1.0];
        let weight = prop_oneof![Just(0.0), Just(1.0), 0.01..10.0];
        prop::collection::vec((-15.0..15.0, label, weight), 1..80)
    }

    /// Σ h·f / Σ h, plainly.
    fn mean(rows: &[(f64, f64, f64)], f: impl Fn(f64, f64) -> f64) -> f64 {
        let sum: f64 = rows.iter().map(|&(score, label, weight)| weight * f(score, label)).sum();
        sum / rows.iter().map(|row| row.2).sum::<f64>()
    }

    fn close(found: Option<f64>, expected: f64, tolerance: f64) -> Result<(), TestCaseError> {
        match found {
            Some(found) => {
                prop_assert!((found - expected).abs() <= tolerance, "{found} {expected}")
            }
            None => prop_assert!(expected.is_nan(), "none, but expected {expected}"),
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn means_agree_with_the_formulas_of_the_textbook(rows in stream()) {
            let (mut accuracy, mut log_loss, mut brier) = Default::default();
            for &(score, label, weight) in &rows {
                Accuracy::observe(&mut accuracy, score, label, weight);
                LogLoss::observe(&mut log_loss, score, label, weight);
                Brier::observe(&mut brier, score, label, weight);
            }
            let p = |score: f64| 1.0 / (1.0 + (-score).exp());
            let q = |label: f64| if label < 0.0 { 0.0 } else { label };
            let right = |s: f64, y: f64| f64::from(u8::from((s >= 0.0) == (q(y) > 0.5)));
            let nats = |s: f64, y: f64| -q(y) * p(s).ln() - (1.0 - q(y)) * (1.0 - p(s)).ln();
            let square = |s: f64, y: f64| (p(s) - q(y)) * (p(s) - q(y));
            // 80 terms round off 80·2^-53 of at most 1 (accuracy, Brier). In the naive
            // log loss 1 − p loses e^15·2^-53 ≈ 4e-10 relative to itself.
            close(accuracy.value(), mean(&rows, right), 1e-13)?;
            close(accuracy.mistake_rate(), 1.0 - mean(&rows, right), 1e-13)?;
            close(brier.value(), mean(&rows, square), 1e-13)?;
            close(log_loss.value(), mean(&rows, nats), 1e-9)?;
        }
    }

    #[test]
    fn a_zero_score_says_positive_whatever_its_sign() {
        for zero in [0.0, -0.0] {
            let mut accuracy = Accuracy::default();
            accuracy.observe(zero, 1.0, 1.0);
            assert_eq!(accuracy.mistakes(), 0.0);
            accuracy.observe(zero, -1.0, 1.0);
            assert_eq!(accuracy.mistakes(), 1.0);
        }
    }

    #[test]
    fn labels_are_positive_above_one_half() {
        for (label, positive) in [(1.0, true), (0.51, true), (0.5, false), (0.0, false), (-1.0, false)] {
            let mut accuracy = Accuracy::default();
            accuracy.observe(1.0, label, 3.0);
            assert_eq!(accuracy.mistakes(), if positive { 0.0 } else { 3.0 }, "label {label}");
        }
    }

    #[test]
    fn the_log_loss_of_a_confident_right_score_is_not_rounded_to_nothing() {
        let mut log_loss = LogLoss::default();
        log_loss.observe(100.0, 1.0, 1.0);
        // ln(1 + e^-100) = e^-100 − e^-200/2 + …
        let expected = (-100f64).exp();
        assert!((log_loss.value().unwrap() / expected - 1.0).abs() < 1e-14);
        let mut brier = Brier::default();
        brier.observe(100.0, 1.0, 1.0);
        assert!((brier.value().unwrap() / (expected * expected) - 1.0).abs() < 1e-14);
    }

    #[test]
    fn the_log_loss_of_a_confident_wrong_score_is_the_score() {
        for (score, label) in [(1e300, -1.0), (-1e300, 1.0), (-1e300, 1.0)] {
            let mut log_loss = LogLoss::default();
            log_loss.observe(score, label, 1.0);
            assert_eq!(log_loss.value(), Some(LARGEST_LOSS.min(1e300)));
        }
    }

    /// 2^960: what a loss beyond it counts as.
    const LARGEST_LOSS: f64 = f64::from_bits((1023 + 960) << 52);

    #[test]
    fn scores_of_infinity_stay_finite() {
        for score in [f64::INFINITY, f64::NEG_INFINITY, f64::MAX, f64::MIN] {
            for label in [1.0, -1.0, 0.3] {
                let (mut log_loss, mut brier) = (LogLoss::default(), Brier::default());
                log_loss.observe(score, label, 1.0);
                brier.observe(score, label, 1.0);
                assert!(log_loss.value().unwrap().is_finite(), "{score} {label}");
                assert!(brier.value().unwrap() <= 1.0, "{score} {label}");
            }
        }
    }

    #[test]
    fn the_best_score_for_a_probability_is_its_logit() {
        let loss = |score: f64| {
            let mut log_loss = LogLoss::default();
            log_loss.observe(score, 0.2, 1.0);
            log_loss.value().unwrap()
        };
        let logit = (0.2f64 / 0.8).ln();
        let entropy = -0.2 * 0.2f64.ln() - 0.8 * 0.8f64.ln();
        assert!((loss(logit) - entropy).abs() < 1e-15);
        assert!(loss(logit + 0.01) > entropy && loss(logit - 0.01) > entropy);
    }

    #[test]
    fn nothing_observed_means_no_value() {
        assert_eq!(Accuracy::default().value(), None);
        assert_eq!(Accuracy::default().mistake_rate(), None);
        assert_eq!(Accuracy::default().mistakes(), 0.0);
        assert_eq!(LogLoss::default().value(), None);
        assert_eq!(Brier::default().value(), None);
    }
}
