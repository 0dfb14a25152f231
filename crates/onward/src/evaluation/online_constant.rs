//! The online constant: a predictor that knows the labels so far and no features. It pays for its first row too.
//!
//! The [best constant](super::BestConstant) is known when all labels are. The online constant predicts each label by the
//! best constant of the labels before it; its first prediction is the score 0.
//!
//! - Quadratic losses: the mean of the labels so far.
//! - Logistic loss: the smoothed frequency (k + ½)/(n + 1) of the positive class among n labels with k positive ones
//!   (Krichevsky and Trofimov 1981), since the frequency itself pays without limit when a class is new.
//! - Poisson loss: the smoothed mean rate, (Σy + ½)/n.
//! - Losses whose best constant must be searched for: the best constant of the labels up to the last round that is a
//!   power of two. A search in each round would cost more than learning does.
//!
//! Labels count by their importance.

use crate::archive::Archive;
use crate::evaluation::BestConstant;
use crate::loss::{Curvature, LossKind};
use crate::numeric::sum::Sum;
use crate::{Error, SharedLoss};

/// What is added to the count of each class, and to the sum of rates.
const SMOOTHING: f64 = 0.5;

/// Products of probabilities are kept above this.
const SMALLEST_PRODUCT: f64 = 1e-280;

/// Predicts by the labels so far, and is charged for it.
///
/// ```
/// use onward::evaluation::OnlineConstant;
/// let mut constant = OnlineConstant::new(onward::loss::parse("squared")?);
/// for label in [1.0, 3.0, 2.0] {
///     constant.observe(label, 1.0);
/// }
/// // Its predictions are 0, 1 and 2.
/// assert_eq!(constant.paid(), 1.0 + 4.0 + 0.0);
/// # Ok::<(), onward::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct OnlineConstant {
    loss: SharedLoss,
    rule: ConstantRule,
    /// Σ h·ℓ, but for what `product` stands for.
    paid: Sum,
}

#[derive(Debug, Clone)]
enum ConstantRule {
    /// The weights of the two classes; and the product of some probabilities that the labels were given, for one
    /// logarithm costs less than many.
    Frequency { positive: f64, negative: f64, product: f64 },
    /// The mean label, as the loss wants it for its mean, and Σ h.
    Mean { mean: f64, weight: f64 },
    /// The score that was found last.
    Found(f64),
}

impl OnlineConstant {
    /// For the labels of this loss.
    pub fn new(loss: SharedLoss) -> Self {
        let rule = match loss.kind() {
            LossKind::Logistic => ConstantRule::Frequency { positive: 0.0, negative: 0.0, product: 1.0 },
            _ if loss.best_constant(0.5).is_some() => ConstantRule::Mean { mean: 0.0, weight: 0.0 },
            _ => ConstantRule::Found(0.0),
        };
        Self { loss, rule, paid: Sum::default() }
    }

    /// Charges the prediction for a label of importance > 0, and then knows the label.
    #[inline]
    pub fn observe(&mut self, label: f64, weight: f64) {
        match &mut self.rule {
            ConstantRule::Frequency { positive, negative, product } => {
                let target = label.clamp(0.0, 1.0);
                let all = *positive + *negative + 2.0 * SMOOTHING;
                if weight == 1.0 && (target == 0.0 || target == 1.0) {
                    *product *= (SMOOTHING + if target == 1.0 { *positive } else { *negative }) / all;
                    if *product < SMALLEST_PRODUCT {
                        self.paid.add(-libm::log(*product));
                        *product = 1.0;
                    }
                } else {
                    let information = |count: f64| libm::log(all / (count + SMOOTHING));
                    self.paid.add(weight * (target * information(*positive) + (1.0 - target) * information(*negative)));
                }
                *positive += weight * target;
                *negative += weight * (1.0 - target);
            }
            ConstantRule::Mean { mean, weight: known } => {
                let score = if *known > 0.0 { score_of_mean(&self.loss, *mean, *known) } else { 0.0 };
                self.paid.add(weight * self.loss.value(score, label));
                *known += weight;
                *mean += (self.loss.label_for_mean(label) - *mean) * (weight / *known);
            }
            ConstantRule::Found(score) => self.paid.add(weight * self.loss.value(*score, label)),
        }
    }

    /// Whether the score is to be given, after each round that is a power of two.
    pub(crate) fn is_given(&self) -> bool {
        matches!(self.rule, ConstantRule::Found(_))
    }

    /// Predicts this score from now on, where it [is given](Self::is_given).
    pub fn predict(&mut self, score: f64) {
        if let ConstantRule::Found(found) = &mut self.rule {
            *found = score;
        }
    }

    /// Σ h·ℓ of its predictions.
    pub fn paid(&self) -> f64 {
        match self.rule {
            ConstantRule::Frequency { product, .. } => self.paid.total() - libm::log(product),
            _ => self.paid.total(),
        }
    }

    /// Saves or loads what is needed to continue to the bit.
    ///
    /// # Errors
    /// When something is missing or does not match.
    pub fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        self.paid.persist("paid", archive)?;
        match &mut self.rule {
            ConstantRule::Frequency { positive, negative, product } => {
                archive.size("positive", positive)?;
                archive.size("negative", negative)?;
                archive.number("product", product)?;
                archive.check(*product > 0.0 && *product <= 1.0, "product", "must be above 0 and at most 1")
            }
            ConstantRule::Mean { mean, weight } => {
                archive.number("mean", mean)?;
                archive.size("weight", weight)
            }
            ConstantRule::Found(score) => archive.number("score", score),
        }
    }
}

/// The best constant of labels with this mean and total weight, smoothed where the loss needs it.
fn score_of_mean(loss: &SharedLoss, mean: f64, weight: f64) -> f64 {
    match loss.curvature() {
        Curvature::Quadratic(_) => mean,
        _ if loss.kind() == LossKind::Poisson => loss.best_constant(mean + SMOOTHING / weight).unwrap_or(0.0),
        _ => loss.best_constant(mean).unwrap_or(0.0),
    }
}

/// The online constant with the best constant that it needs: for labels that no other account keeps.
#[derive(Debug, Clone)]
pub(super) struct LoneConstant {
    online: OnlineConstant,
    /// `None` where the online constant needs none.
    best: Option<BestConstant>,
    rounds: u64,
}

impl LoneConstant {
    pub(super) fn new(loss: &SharedLoss) -> Self {
        let online = OnlineConstant::new(SharedLoss::clone(loss));
        let best = online.is_given().then(|| BestConstant::new(SharedLoss::clone(loss)));
        Self { online, best, rounds: 0 }
    }

    /// Charges the prediction for a label of importance > 0, and then knows the label.
    #[inline]
    pub(super) fn observe(&mut self, label: f64, weight: f64) {
        self.online.observe(label, weight);
        if let Some(best) = &mut self.best {
            best.observe(label, weight);
            self.rounds += 1;
            if let (true, Some(score)) = (self.rounds.is_power_of_two(), best.score()) {
                self.online.predict(score);
            }
        }
    }

    /// Σ h·ℓ of its predictions.
    pub(super) fn paid(&self) -> f64 {
        self.online.paid()
    }

    pub(super) fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        archive.part("online", |archive| self.online.persist(archive))?;
        let Some(best) = &mut self.best else { return Ok(()) };
        archive.count("rounds", &mut self.rounds)?;
        archive.part("best", |archive| best.persist(archive))
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
    fn a_long_run_of_one_class_costs_half_a_logarithm() {
        let mut constant = LoneConstant::new(&loss::parse("logistic").unwrap());
        let rounds = 100_000u32;
        // Π (k − ½)/k, whose logarithm is computed term by term.
        let mut expected = 0.0;
        for k in 1..=rounds {
            constant.observe(1.0, 1.0);
            expected -= (-0.5 / f64::from(k)).ln_1p();
        }
        assert!((constant.paid() - expected).abs() < 1e-10, "{} {expected}", constant.paid());
        // The product has been taken to its logarithm in between.
        for _ in 0..rounds {
            constant.observe(-1.0, 1.0);
        }
        let half_n = f64::from(rounds);
        let stirling = 2.0 * half_n * 2f64.ln() + 0.5 * (std::f64::consts::PI * half_n).ln();
        assert!((constant.paid() - stirling).abs() < 1e-4, "{} {stirling}", constant.paid());
    }

    #[test]
    fn probabilities_as_labels_pay_their_cross_entropy() {
        let loss = loss::parse("logistic").unwrap();
        let mut constant = OnlineConstant::new(SharedLoss::clone(&loss));
        let rows = [(0.3, 1.0), (1.0, 2.0), (0.9, 1.0), (0.0, 1.0)];
        let mut expected = 0.0;
        for (t, &(label, weight)) in rows.iter().enumerate() {
            expected += weight * loss.value(expected_score(&loss, &rows[..t]), label);
            constant.observe(label, weight);
        }
        assert!((constant.paid() - expected).abs() < 1e-12);
    }
}
