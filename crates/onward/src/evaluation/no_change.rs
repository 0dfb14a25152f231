//! The no-change baseline: a predictor that knows the labels so far, goes by the last of them, and sees no features.
//! Where labels come in runs it pays little, however little there is to learn from the features. Žliobaitė, Bifet, Read,
//! Pfahringer and Holmes 2015, Evaluation methods and decision theory for classification of streaming data with temporal
//! dependence.
//!
//! - Numbers: it predicts the last label (for Poisson losses the rate y + ½, since a rate of 0 pays without limit when
//!   the next count is not 0).
//! - Two classes: an [online constant](super::OnlineConstant) for what follows the one class and another for what follows
//!   the other. With the logistic loss it is the smoothed frequency (s + ½)/(n + 1) with which the class stayed.
//! - Several classes: the class c stays with the smoothed frequency (s_c + ½)/(n_c + 1) of those that followed c; the
//!   others share the rest in proportion to their [frequencies](super::OnlineFrequencies).
//!
//! In the first row, which no label precedes, it pays what the online constant does. Beside the losses it keeps how often
//! the last label was right.

use crate::archive::Archive;
use crate::evaluation::OnlineFrequencies;
use crate::evaluation::online_constant::LoneConstant;
use crate::evaluation::smoothed_frequency::{SMOOTHING, SmoothedFrequency};
use crate::loss::{Curvature, InverseLink, LossKind, Task};
use crate::numeric::sum::Sum;
use crate::{Error, SharedLoss};

/// Predicts by the label before, and is charged for it.
///
/// ```
/// use onward::evaluation::NoChange;
/// let mut same = NoChange::new(onward::loss::parse("absolute")?);
/// for label in [5.0, 7.0, 7.0] {
///     same.observe(label, 1.0);
/// }
/// assert_eq!(same.paid(), 5.0 + 2.0 + 0.0);
/// # Ok::<(), onward::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct NoChange {
    loss: SharedLoss,
    rule: NoChangeRule,
}

#[derive(Debug, Clone)]
enum NoChangeRule {
    /// The last label, by a loss of ½c(p − y)², and Σ h·ℓ.
    Quadratic { last: f64, c: f64, paid: Sum },
    /// The score of the last label, and Σ h·ℓ.
    Number { score: f64, paid: Sum },
    /// What follows nothing, the negative class and the positive one; which of them is next; and Σ h of the rounds in which
    /// the last label was right.
    TwoClasses { after: Followers, state: usize, right: f64 },
}

/// What goes by the labels that follow each class.
#[derive(Debug, Clone)]
enum Followers {
    Frequencies([SmoothedFrequency; 3]),
    Constants(Box<[LoneConstant; 3]>),
}

impl Followers {
    fn observe(&mut self, state: usize, label: f64, weight: f64) {
        match self {
            Self::Frequencies(after) => after[state].observe(label, weight),
            Self::Constants(after) => after[state].observe(label, weight),
        }
    }

    fn paid(&self) -> f64 {
        match self {
            Self::Frequencies(after) => after.iter().map(SmoothedFrequency::paid).sum(),
            Self::Constants(after) => after.iter().map(LoneConstant::paid).sum(),
        }
    }

    fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        for (state, name) in ["after_nothing", "after_negative", "after_positive"].iter().enumerate() {
            archive.part(name, |archive| match self {
                Self::Frequencies(after) => after[state].persist(archive),
                Self::Constants(after) => after[state].persist(archive),
            })?;
        }
        Ok(())
    }
}

impl NoChange {
    /// For the labels of this loss.
    pub fn new(loss: SharedLoss) -> Self {
        let rule = match loss.task() {
            Task::Binary => {
                let after = match loss.kind() {
                    LossKind::Logistic => Followers::Frequencies(Default::default()),
                    _ => Followers::Constants(Box::new(std::array::from_fn(|_| LoneConstant::new(&loss)))),
                };
                NoChangeRule::TwoClasses { after, state: 0, right: 0.0 }
            }
            _ => match loss.curvature() {
                Curvature::Quadratic(c) => NoChangeRule::Quadratic { last: 0.0, c, paid: Sum::default() },
                _ => NoChangeRule::Number { score: 0.0, paid: Sum::default() },
            },
        };
        Self { loss, rule }
    }

    /// For the labels of the logistic loss, some of which have been counted by what they followed.
    pub(super) fn of_frequencies(loss: SharedLoss, after: [SmoothedFrequency; 3], state: usize, right: f64) -> Self {
        Self { loss, rule: NoChangeRule::TwoClasses { after: Followers::Frequencies(after), state, right } }
    }

    /// Charges the prediction for a label of importance > 0, and then knows the label.
    #[inline]
    pub fn observe(&mut self, label: f64, weight: f64) {
        match &mut self.rule {
            NoChangeRule::Quadratic { last, c, paid } => {
                paid.add(weight * (0.5 * *c * (*last - label) * (*last - label)));
                *last = label;
            }
            NoChangeRule::Number { score, paid } => {
                paid.add(weight * self.loss.value(*score, label));
                *score = score_of(&self.loss, label);
            }
            NoChangeRule::TwoClasses { after, state, right } => {
                let next = 1 + usize::from(label > 0.5);
                // Before the first label the score is 0, which says positive.
                let guess = if *state == 0 { 2 } else { *state };
                if next == guess {
                    *right += weight;
                }
                after.observe(*state, label, weight);
                *state = next;
            }
        }
    }

    /// Σ h·ℓ of its predictions.
    pub fn paid(&self) -> f64 {
        match &self.rule {
            NoChangeRule::Quadratic { paid, .. } | NoChangeRule::Number { paid, .. } => paid.total(),
            NoChangeRule::TwoClasses { after, .. } => after.paid(),
        }
    }

    /// Σ h of the rounds in which the last label was the right class; `None` for numbers.
    pub fn right(&self) -> Option<f64> {
        match &self.rule {
            NoChangeRule::Quadratic { .. } | NoChangeRule::Number { .. } => None,
            NoChangeRule::TwoClasses { right, .. } => Some(*right),
        }
    }

    /// Saves or loads what is needed to continue to the bit.
    ///
    /// # Errors
    /// When something is missing or does not match.
    pub fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        match &mut self.rule {
            NoChangeRule::Quadratic { last: score, paid, .. } | NoChangeRule::Number { score, paid } => {
                archive.number("score", score)?;
                paid.persist("paid", archive)
            }
            NoChangeRule::TwoClasses { after, state, right } => {
                let mut after_what = *state as u64;
                archive.count("state", &mut after_what)?;
                archive.check(after_what < 3, "state", "must be below 3")?;
                *state = after_what as usize;
                archive.size("right", right)?;
                after.persist(archive)
            }
        }
    }
}

/// The score by which a label is predicted.
fn score_of(loss: &SharedLoss, label: f64) -> f64 {
    match loss.inverse_link() {
        InverseLink::Identity => label,
        _ if loss.kind() == LossKind::Poisson => loss.best_constant(label + SMOOTHING).unwrap_or(0.0),
        _ => loss.best_constant(loss.label_for_mean(label)).unwrap_or(0.0),
    }
}

/// Predicts the class before, and is charged the log loss for it.
///
/// ```
/// use onward::evaluation::{NoChangeOfClass, OnlineFrequencies};
/// let (mut same, mut frequencies) = (NoChangeOfClass::default(), OnlineFrequencies::default());
/// for class in [1, 1, 1, 0] {
///     same.observe(class, 1.0, &frequencies);
///     frequencies.observe(class, 1.0);
/// }
/// assert_eq!(same.right(), 2.0);
/// ```
#[derive(Debug, Clone, Default)]
pub struct NoChangeOfClass {
    last: Option<usize>,
    /// Of each class, Σ h of the rows that followed it, and of those among them that were of the same class.
    followed: Vec<f64>,
    stayed: Vec<f64>,
    paid: Sum,
    right: Sum,
}

impl NoChangeOfClass {
    /// Charges the prediction for the class of a row of importance > 0, and then knows it. `before`: the frequencies of
    /// the classes before this row.
    pub fn observe(&mut self, class: usize, weight: f64, before: &OnlineFrequencies) {
        self.paid.add(-weight * libm::log(self.probability(class, before)));
        // Before the first row all scores are equal, which says the first class.
        if class == self.last.unwrap_or(0) {
            self.right.add(weight);
        }
        if let Some(last) = self.last {
            self.followed[last] += weight;
            self.stayed[last] += if class == last { weight } else { 0.0 };
        }
        if class >= self.followed.len() {
            self.followed.resize(class + 1, 0.0);
            self.stayed.resize(class + 1, 0.0);
        }
        self.last = Some(class);
    }

    fn probability(&self, class: usize, before: &OnlineFrequencies) -> f64 {
        match self.last.filter(|_| before.knows(class)) {
            // One class alone is sure to stay.
            Some(_) if before.met() == 1 => 1.0,
            Some(last) => {
                let stays = (self.stayed[last] + SMOOTHING) / (self.followed[last] + 2.0 * SMOOTHING);
                if class == last { stays } else { (1.0 - stays) * before.share_without(last, class) }
            }
            None => before.probability(class),
        }
    }

    /// Σ h·ℓ of its predictions.
    pub fn paid(&self) -> f64 {
        self.paid.total()
    }

    /// Σ h of the rounds in which the last class was the right one.
    pub fn right(&self) -> f64 {
        self.right.total()
    }

    /// Saves or loads what is needed to continue to the bit.
    ///
    /// # Errors
    /// When something is missing or does not match.
    pub fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        let mut last = self.last.map(|class| class as f64);
        archive.optional("last", &mut last)?;
        archive.column("followed", &mut self.followed)?;
        archive.column_of(self.followed.len(), "stayed", &mut self.stayed)?;
        let is_met = last.is_none_or(|class| class >= 0.0 && class < self.followed.len() as f64);
        archive.check(is_met, "last", "must be a class that was met")?;
        self.last = last.map(|class| class as usize);
        self.paid.persist("paid", archive)?;
        self.right.persist("right", archive)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::{BestConstant, OnlineConstant};
    use crate::loss;

    /// Rows that stay with chance 3/4, and some weights.
    fn signs() -> Vec<(f64, f64)> {
        let mut random = crate::numeric::rng::SplitMix64::new(3);
        let mut label = 1.0;
        let mut row = || {
            label = if random.below(4) == 0 { -label } else { label };
            (label, [1.0, 1.0, 1.0, 2.5][random.below(4) as usize])
        };
        (0..200).map(|_| row()).collect()
    }

    #[test]
    fn two_classes_pay_what_the_labels_after_each_class_tell() {
        for entry in loss::LOSSES.iter().filter(|entry| entry.default_loss().task() == Task::Binary) {
            let loss = entry.default_loss();
            let rows = signs();
            let mut same = NoChange::new(SharedLoss::clone(&loss));
            let (mut expected, mut right) = (0.0, 0.0);
            for (t, &(label, weight)) in rows.iter().enumerate() {
                // Of the labels that followed the class before this one.
                let followed: Vec<(f64, f64)> = match t.checked_sub(1) {
                    None => Vec::new(),
                    Some(last) => (1..t).filter(|&s| rows[s - 1].0 == rows[last].0).map(|s| rows[s]).collect(),
                };
                let weight_of = |sign: f64| followed.iter().filter(|row| row.0 == sign).map(|row| row.1).sum::<f64>();
                let score = match loss.kind() {
                    LossKind::Logistic => ((weight_of(1.0) + 0.5) / (weight_of(-1.0) + 0.5)).ln(),
                    _ if followed.is_empty() => 0.0,
                    _ => {
                        let mut best = BestConstant::new(SharedLoss::clone(&loss));
                        followed[..1 << followed.len().ilog2()].iter().for_each(|&(y, h)| best.observe(y, h));
                        best.score().unwrap()
                    }
                };
                expected += weight * loss.value(score, label);
                let before = if t == 0 { 1.0 } else { rows[t - 1].0 };
                right += if label == before { weight } else { 0.0 };
                same.observe(label, weight);
                let state = Archive::saved(|archive| same.persist(archive)).unwrap();
                same = NoChange::new(SharedLoss::clone(&loss));
                same.persist(&mut Archive::loading(state)).unwrap();
            }
            assert!((same.paid() - expected).abs() < 1e-9, "{}: {} {expected}", entry.name, same.paid());
            assert!((same.right().unwrap() - right).abs() < 1e-12);
        }
    }

    #[test]
    fn numbers_are_predicted_by_the_number_before() {
        for entry in loss::LOSSES.iter().filter(|entry| entry.default_loss().task() == Task::Regression) {
            let loss = entry.default_loss();
            let rows = [(3.0, 1.0), (0.0, 2.0), (7.5, 1.0), (7.5, 0.5), (0.0, 1.0), (0.0, 1.0)];
            let mut same = NoChange::new(SharedLoss::clone(&loss));
            let (mut expected, mut score) = (0.0, 0.0);
            for (label, weight) in rows {
                expected += weight * loss.value(score, label);
                score = if loss.kind() == LossKind::Poisson { (label + 0.5f64).ln() } else { label };
                same.observe(label, weight);
            }
            assert!((same.paid() - expected).abs() < 1e-12 * expected.abs(), "{}", entry.name);
            assert_eq!(same.right(), None);
        }
    }

    #[test]
    fn the_first_row_pays_what_the_online_constant_does() {
        for entry in loss::LOSSES {
            let mut same = NoChange::new(entry.default_loss());
            let mut constant = OnlineConstant::new(entry.default_loss());
            same.observe(1.0, 2.0);
            constant.observe(1.0, 2.0, &BestConstant::new(entry.default_loss()));
            assert_eq!(same.paid(), constant.paid(), "{}", entry.name);
        }
    }

    #[test]
    fn several_classes_pay_what_their_probabilities_cost() {
        let mut random = crate::numeric::rng::SplitMix64::new(9);
        let mut class = 0;
        let rows: Vec<(usize, f64)> = (0..150)
            .map(|_| {
                class = if random.below(3) == 0 { random.below(5) as usize } else { class };
                (class, [1.0, 1.5][random.below(2) as usize])
            })
            .collect();
        let (mut same, mut frequencies) = (NoChangeOfClass::default(), OnlineFrequencies::default());
        let (mut expected, mut right) = (0.0, 0.0);
        for (t, &(class, weight)) in rows.iter().enumerate() {
            let past = &rows[..t];
            let count = |class: usize| past.iter().filter(|row| row.0 == class).map(|row| row.1).sum::<f64>();
            let known: Vec<usize> = (0..5).filter(|&class| count(class) > 0.0).collect();
            let last = past.last().map(|row| row.0);
            let probability = if !known.contains(&class) {
                1.0 / (t as f64 + 1.0)
            } else if known.len() == 1 {
                1.0
            } else {
                let last = last.unwrap();
                let after: Vec<_> = (1..t).filter(|&s| rows[s - 1].0 == last).map(|s| rows[s]).collect();
                let all: f64 = after.iter().map(|row| row.1).sum();
                let stayed: f64 = after.iter().filter(|row| row.0 == last).map(|row| row.1).sum();
                let stays = (stayed + 0.5) / (all + 1.0);
                let others: f64 = known.iter().filter(|&&class| class != last).map(|&class| count(class) + 0.5).sum();
                if class == last { stays } else { (1.0 - stays) * (count(class) + 0.5) / others }
            };
            expected -= weight * probability.ln();
            right += if class == last.unwrap_or(0) { weight } else { 0.0 };
            same.observe(class, weight, &frequencies);
            frequencies.observe(class, weight);
            let state = Archive::saved(|archive| same.persist(archive)).unwrap();
            same = NoChangeOfClass::default();
            same.persist(&mut Archive::loading(state)).unwrap();
        }
        assert!((same.paid() - expected).abs() < 1e-10, "{} {expected}", same.paid());
        assert!((same.right() - right).abs() < 1e-12);
    }
}
