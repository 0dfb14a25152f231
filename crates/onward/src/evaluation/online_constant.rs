//! The online constant: a predictor that knows the labels so far and no features. It pays for its first row too.
//!
//! The [best constant](super::BestConstant) is known when all labels are. The online constant predicts each label by the
//! best constant of the labels before it; its first prediction is the score 0.
//!
//! - Quadratic losses: the mean of the labels so far.
//! - Logistic loss: the smoothed frequency (k + ½)/(n + 1) of the positive class among n labels with k positive ones
//!   (`smoothed_frequency.rs`).
//! - Poisson loss: the smoothed mean rate, (Σy + ½)/n.
//! - Losses whose best constant must be searched for: the best constant of the labels up to the last round that is a
//!   power of two. A search in each round would cost more than learning does.
//!
//! Labels count by their importance.

use crate::archive::Archive;
use crate::evaluation::BestConstant;
use crate::evaluation::smoothed_frequency::{SMOOTHING, SmoothedFrequency};
use crate::loss::{Curvature, LossKind};
use crate::numeric::sum::Sum;
use crate::{Error, SharedLoss};

/// Predicts by the labels so far, and is charged for it.
///
/// ```
/// use onward::evaluation::{BestConstant, OnlineConstant};
/// let loss = onward::loss::parse("squared")?;
/// let (mut past, mut constant) = (BestConstant::new(loss.clone()), OnlineConstant::new(loss));
/// for label in [1.0, 3.0, 2.0] {
///     constant.observe(label, 1.0, &past);
///     past.observe(label, 1.0);
/// }
/// // Its predictions are 0, 1 and 2.
/// assert_eq!(constant.paid(), 1.0 + 4.0 + 0.0);
/// # Ok::<(), onward::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct OnlineConstant {
    loss: SharedLoss,
    rule: ConstantRule,
}

#[derive(Debug, Clone)]
enum ConstantRule {
    Frequency(SmoothedFrequency),
    /// The mean label, by a loss of ½c(p − y)², and Σ h·ℓ.
    Quadratic {
        c: f64,
        paid: Sum,
    },
    /// The score of the mean label, or of the smoothed rate, and Σ h·ℓ.
    Mean {
        is_rate: bool,
        paid: Sum,
    },
    /// The score that was found last, and Σ h·ℓ.
    Found {
        score: f64,
        paid: Sum,
    },
}

impl OnlineConstant {
    /// For the labels of this loss.
    pub fn new(loss: SharedLoss) -> Self {
        let paid = Sum::default();
        let rule = match (loss.kind(), loss.curvature()) {
            (LossKind::Logistic, _) => ConstantRule::Frequency(SmoothedFrequency::default()),
            (LossKind::Poisson, _) => ConstantRule::Mean { is_rate: true, paid },
            (_, Curvature::Quadratic(c)) => ConstantRule::Quadratic { c, paid },
            _ if loss.best_constant(0.5).is_some() => ConstantRule::Mean { is_rate: false, paid },
            _ => ConstantRule::Found { score: 0.0, paid },
        };
        Self { loss, rule }
    }

    /// For the labels of the logistic loss, some of which have been counted.
    pub(super) fn of_frequency(loss: SharedLoss, frequency: SmoothedFrequency) -> Self {
        Self { loss, rule: ConstantRule::Frequency(frequency) }
    }

    /// Charges the prediction for a label of importance > 0. `past` knows the labels before it.
    #[inline]
    pub fn observe(&mut self, label: f64, weight: f64, past: &BestConstant) {
        match &mut self.rule {
            ConstantRule::Frequency(frequency) => frequency.observe(label, weight),
            ConstantRule::Quadratic { c, paid } => {
                // The mean of no labels is 0.
                let error = label - past.mean_label();
                paid.add(weight * (0.5 * *c * error * error));
            }
            ConstantRule::Mean { is_rate, paid } => {
                let known = past.weight();
                let mean = past.mean_label() + if *is_rate { SMOOTHING / known } else { 0.0 };
                let score = if known > 0.0 { self.loss.best_constant(mean).unwrap_or(0.0) } else { 0.0 };
                paid.add(weight * self.loss.value(score, label));
            }
            ConstantRule::Found { score, paid } => paid.add(weight * self.loss.value(*score, label)),
        }
    }

    /// Predicts this score from now on, where the best constant must be searched for; else it changes nothing.
    pub fn predict(&mut self, found: f64) {
        if let ConstantRule::Found { score, .. } = &mut self.rule {
            *score = found;
        }
    }

    /// Σ h·ℓ of its predictions.
    pub fn paid(&self) -> f64 {
        match &self.rule {
            ConstantRule::Frequency(frequency) => frequency.paid(),
            ConstantRule::Quadratic { paid, .. }
            | ConstantRule::Mean { paid, .. }
            | ConstantRule::Found { paid, .. } => paid.total(),
        }
    }

    /// Σ h·(ȳ − y)², each ȳ the mean of the labels before, where that is what it predicts.
    pub(super) fn squares_of_mean(&self) -> Option<f64> {
        match &self.rule {
            ConstantRule::Quadratic { c, paid } => Some(paid.total() / (0.5 * c)),
            _ => None,
        }
    }

    /// Saves or loads what is needed to continue to the bit.
    ///
    /// # Errors
    /// When something is missing or does not match.
    pub fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        match &mut self.rule {
            ConstantRule::Frequency(frequency) => frequency.persist(archive),
            ConstantRule::Quadratic { paid, .. } | ConstantRule::Mean { paid, .. } => paid.persist("paid", archive),
            ConstantRule::Found { score, paid } => {
                archive.number("score", score)?;
                paid.persist("paid", archive)
            }
        }
    }
}

/// The online constant with the best constant that it goes by: for labels that no other account keeps.
#[derive(Debug, Clone)]
pub(super) struct LoneConstant {
    online: OnlineConstant,
    past: BestConstant,
    rounds: u64,
}

impl LoneConstant {
    pub(super) fn new(loss: &SharedLoss) -> Self {
        let online = OnlineConstant::new(SharedLoss::clone(loss));
        Self { online, past: BestConstant::new(SharedLoss::clone(loss)), rounds: 0 }
    }

    /// Charges the prediction for a label of importance > 0, and then knows the label.
    pub(super) fn observe(&mut self, label: f64, weight: f64) {
        self.online.observe(label, weight, &self.past);
        self.past.observe(label, weight);
        self.rounds += 1;
        if let (true, Some(score)) = (self.rounds.is_power_of_two(), self.past.score()) {
            self.online.predict(score);
        }
    }

    /// Σ h·ℓ of its predictions.
    pub(super) fn paid(&self) -> f64 {
        self.online.paid()
    }

    pub(super) fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        archive.part("online", |archive| self.online.persist(archive))?;
        archive.part("past", |archive| self.past.persist(archive))?;
        archive.count("rounds", &mut self.rounds)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::loss::{self, Task};

    type Rows = Vec<(f64, f64)>;

    /// Labels that any loss of the task takes, with weights.
    fn rows(task: Task) -> BoxedStrategy<Rows> {
        let label = match task {
            Task::Binary => prop_oneof![Just(-1.0), Just(1.0)].boxed(),
            _ => prop_oneof![Just(0.0), (0i32..5).prop_map(f64::from), 0.0..100.0f64].boxed(),
        };
        prop::collection::vec((label, prop_oneof![3 => Just(1.0), 1 => 0.1..3.0f64]), 1..70).boxed()
    }

    /// The textbook's predictor of the label in this row, from the rows before it.
    fn expected_score(loss: &SharedLoss, past: &[(f64, f64)]) -> f64 {
        if past.is_empty() {
            return 0.0;
        }
        let weight: f64 = past.iter().map(|row| row.1).sum();
        let sum: f64 = past.iter().map(|&(label, h)| h * loss.label_for_mean(label)).sum();
        match loss.kind() {
            LossKind::Logistic => ((sum + 0.5) / (weight - sum + 0.5)).ln(),
            LossKind::Poisson => ((sum + 0.5) / weight).ln(),
            LossKind::Quadratic => sum / weight,
            _ => {
                let known = 1 << past.len().ilog2();
                let mut best = BestConstant::new(SharedLoss::clone(loss));
                past[..known].iter().for_each(|&(label, h)| best.observe(label, h));
                best.score().unwrap()
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn it_pays_what_its_predictions_cost(binary in rows(Task::Binary), numbers in rows(Task::Regression)) {
            for entry in loss::LOSSES {
                let loss = entry.default_loss();
                let rows = if loss.task() == Task::Binary { &binary } else { &numbers };
                let mut constant = LoneConstant::new(&loss);
                let mut expected = 0.0;
                for (t, &(label, weight)) in rows.iter().enumerate() {
                    expected += weight * loss.value(expected_score(&loss, &rows[..t]), label);
                    constant.observe(label, weight);
                    let found = constant.paid();
                    prop_assert!((found - expected).abs() <= 1e-10 * (1.0 + expected.abs()), "{} {t}: {found} {expected}", entry.name);
                    // Saved and loaded, it goes on.
                    let state = Archive::saved(|archive| constant.persist(archive)).unwrap();
                    let mut loaded = LoneConstant::new(&loss);
                    loaded.persist(&mut Archive::loading(state)).unwrap();
                    prop_assert_eq!(loaded.paid(), found);
                    constant = loaded;
                }
            }
        }
    }

    #[test]
    fn probabilities_as_labels_pay_their_cross_entropy() {
        let loss = loss::parse("logistic").unwrap();
        let mut constant = LoneConstant::new(&loss);
        let rows = [(0.3, 1.0), (1.0, 2.0), (0.9, 1.0), (0.0, 1.0)];
        let mut expected = 0.0;
        for (t, &(label, weight)) in rows.iter().enumerate() {
            expected += weight * loss.value(expected_score(&loss, &rows[..t]), label);
            constant.observe(label, weight);
        }
        assert!((constant.paid() - expected).abs() < 1e-12);
    }
}
