//! What past labels say of labels to come: their range, mean and spread, and from them the score
//! that every lane starts from.

use crate::archive::{Archive, visit_fields};
use crate::loss::{InverseLink, Loss, Task, poisson};
use crate::numeric::exp_log;
use crate::{Error, SharedLoss};

/// What kind of number a score is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ScoreKind {
    /// A label: regression.
    Labels,
    /// The logarithm of a rate.
    Rates,
    /// The logit of a probability.
    Logits,
    /// A margin: the classes lie beyond ±1.
    Margins,
}

impl ScoreKind {
    pub(super) fn of(loss: &dyn Loss) -> Self {
        match (loss.inverse_link(), loss.task()) {
            (InverseLink::Logistic, _) => Self::Logits,
            (InverseLink::Log, _) => Self::Rates,
            (InverseLink::Identity, Task::Regression) => Self::Labels,
            (InverseLink::Identity, _) => Self::Margins,
        }
    }
}

/// The labels so far.
#[derive(Debug, Clone)]
pub(super) struct LabelExperts {
    loss: SharedLoss,
    scores: ScoreKind,
    past: LabelHistory,
}

/// What is kept of them.
#[derive(Debug, Clone, Copy, Default)]
struct LabelHistory {
    rounds: f64,
    /// Σ of importances as they came.
    importance: f64,
    /// Σ h and Σ h², h being importance in units of its mean so far.
    weight: f64,
    weight_squares: f64,
    /// Σ h·e^offset: by what a rate is multiplied.
    exposure: f64,
    /// Of label − offset for scores that are labels, else of labels as they enter a mean.
    mean: f64,
    /// Σ h·(… − mean)².
    squares: f64,
    /// The smallest and largest label as it came, and 0.
    range: (f64, f64),
    /// The first label − offset that is not 0: what spread there is while all labels are equal.
    first: f64,
    /// The largest distance of a label from the mean of those before it.
    reach: f64,
    /// The deviation before the last label: one of great importance may make it all but vanish.
    previous: f64,
}

/// The largest score for losses with a probability or rate: e^±50.
const LARGEST_SCORE: f64 = 50.0;

/// Labels farther from a score than this many deviations pull a lane as if they were that far.
const FARTHEST: f64 = 3.0;

impl LabelExperts {
    pub(super) fn new(loss: SharedLoss) -> Self {
        Self { scores: ScoreKind::of(loss.as_ref()), loss, past: LabelHistory::default() }
    }

    pub(super) fn scores(&self) -> ScoreKind {
        self.scores
    }

    /// The score, less the row's offset, of a learner that knows past labels only.
    ///
    /// For scores that are labels the mean, drawn towards 0 by as much of itself as its own error is:
    /// mean·max(0, 1 − variance/(n·mean²)) (James, Stein 1961), n being (Σh)²/Σh². Where labels are far
    /// from 0 one is enough to know where they are; where they scatter around 0 it stays there. For
    /// rates the logarithm of their mean. 0 otherwise, and before the first label.
    #[inline(always)]
    pub(super) fn origin(&self) -> f64 {
        let past = &self.past;
        match self.scores {
            ScoreKind::Labels if past.weight > 0.0 => {
                let error = past.squares / past.weight * (past.weight_squares / past.weight / past.weight);
                let signal = past.mean * past.mean;
                if signal > error { past.mean * (1.0 - error / signal) } else { 0.0 }
            }
            ScoreKind::Rates if past.mean > 0.0 => {
                let most = poisson::STRAIGHT_FROM;
                libm::log(past.mean * (past.weight / past.exposure)).clamp(-most, most)
            }
            _ => 0.0,
        }
    }

    /// The score of a constant that knows past labels, less the row's offset: the best one of classes and
    /// rates; for regression the origin, which is the best for squared loss only.
    #[inline(always)]
    pub(super) fn constant(&self) -> f64 {
        let past = &self.past;
        match self.scores {
            // Krichevsky and Trofimov 1981: half a label of each class counts as seen.
            ScoreKind::Logits => {
                let ones = past.weight * past.mean;
                exp_log::ln(ones + 0.5) - exp_log::ln((past.weight - ones).max(0.0) + 0.5)
            }
            ScoreKind::Margins if past.mean != 0.0 => past.mean.signum(),
            _ => self.origin(),
        }
    }

    /// How far labels are spread: their running standard deviation, the size of the first one
    /// as long as all are equal, and 1 where scores are no labels.
    #[inline(always)]
    pub(super) fn deviation(&self) -> f64 {
        let past = &self.past;
        match self.scores {
            ScoreKind::Labels if past.squares > 0.0 => (past.squares / past.weight).sqrt(),
            ScoreKind::Labels => past.first.abs(),
            _ => 1.0,
        }
    }

    /// How far a label may be from the origin, as far as is known.
    pub(super) fn reach(&self) -> f64 {
        if self.scores == ScoreKind::Labels && self.past.reach > 0.0 { self.past.reach } else { 1.0 }
    }

    /// An importance in units of its mean, itself counted.
    pub(super) fn relative(&self, weight: f64) -> f64 {
        weight * ((self.past.rounds + 1.0) / (self.past.importance + weight))
    }

    /// What scores are plausible: ±50 for logits and rates; ±1 for margins, and for labels those so far
    /// and 0, and there the offset too, whatever it is.
    pub(super) fn bounds(&self, offset: f64) -> (f64, f64) {
        let (low, high) = match self.scores {
            ScoreKind::Labels => self.past.range,
            ScoreKind::Margins => (-1.0, 1.0),
            ScoreKind::Rates | ScoreKind::Logits => return (-LARGEST_SCORE, LARGEST_SCORE),
        };
        (low.min(offset), high.max(offset))
    }

    /// The label as it pulls a lane of this score: outliers pull no harder than at three deviations.
    pub(super) fn held(&self, label: f64, score: f64) -> f64 {
        self.held_within(FARTHEST, label, score)
    }

    /// The same, at another number of deviations.
    #[inline(always)]
    pub(super) fn held_within(&self, deviations: f64, label: f64, score: f64) -> f64 {
        if self.scores != ScoreKind::Labels {
            return label;
        }
        let most = deviations * self.deviation().max(self.past.previous);
        label.clamp((score - most).max(f64::MIN), (score + most).min(f64::MAX))
    }

    /// Takes in a label and the offset of its row.
    #[inline(always)]
    pub(super) fn observe(&mut self, label: f64, offset: f64, importance: f64) {
        let weight = self.relative(importance);
        let value = match self.scores {
            ScoreKind::Labels => label - offset,
            _ => self.loss.label_for_mean(label),
        };
        let previous = self.deviation();
        let past = &mut self.past;
        past.previous = previous;
        let distance = value - past.mean;
        past.range = (past.range.0.min(label), past.range.1.max(label));
        past.reach = past.reach.max(distance.abs());
        if past.first == 0.0 {
            past.first = value;
        }
        past.rounds += 1.0;
        past.importance += importance;
        past.weight += weight;
        past.weight_squares += weight * weight;
        past.exposure +=
            weight * if offset == 0.0 { 1.0 } else { libm::exp(offset.clamp(-LARGEST_SCORE, LARGEST_SCORE)) };
        let step = distance * (weight / past.weight);
        past.mean += step;
        past.squares += weight * distance * (distance - step);
    }

    pub(super) fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        let past = &mut self.past;
        visit_fields!(archive.number(past.rounds, past.importance, past.weight, past.weight_squares));
        visit_fields!(archive.number(past.exposure, past.mean, past.squares));
        archive.number("smallest", &mut past.range.0)?;
        archive.number("largest", &mut past.range.1)?;
        archive.check(past.range.0 <= past.range.1, "smallest", "must be at most 'largest'")?;
        visit_fields!(archive.number(past.first, past.reach, past.previous));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(loss: &str) -> LabelExperts {
        LabelExperts::new(crate::loss::parse(loss).unwrap())
    }

    #[test]
    fn the_origin_is_the_mean_drawn_towards_0_by_its_error() {
        let mut past = labels("squared");
        assert_eq!(past.origin(), 0.0);
        past.observe(43.0, 0.0, 1.0);
        assert_eq!(past.origin(), 43.0);
        past.observe(45.0, 0.0, 1.0);
        // Mean 44, variance 1, n = 2.
        assert!((past.origin() - 44.0 * (1.0 - 1.0 / (2.0 * 44.0 * 44.0))).abs() < 1e-12);
        let mut around = labels("squared");
        [1.0, -1.5, 0.8, -0.4].into_iter().for_each(|label| around.observe(label, 0.0, 1.0));
        assert_eq!(around.origin(), 0.0);
    }

    #[test]
    fn weights_of_any_unit_give_the_same_origin() {
        let of = |unit: f64| {
            let mut past = labels("squared");
            [(2.0, 1.0), (3.0, 2.0), (1.0, 0.5)].into_iter().for_each(|(y, h)| past.observe(y, 0.0, h * unit));
            past.origin()
        };
        assert!((of(1.0) - of(1e-37)).abs() < 1e-12 && (of(1.0) - of(1e30)).abs() < 1e-12);
    }

    #[test]
    fn the_constant_of_classes_is_that_of_krichevsky_and_trofimov() {
        let mut past = labels("logistic");
        assert_eq!(past.constant(), 0.0);
        [1.0, 1.0, -1.0].into_iter().for_each(|label| past.observe(label, 0.0, 1.0));
        assert!((past.constant() - (2.5f64 / 1.5).ln()).abs() < 1e-12);
        assert_eq!(past.origin(), 0.0);
    }

    #[test]
    fn rates_start_from_the_logarithm_of_their_mean_an_exposure() {
        let mut past = labels("poisson");
        past.observe(6.0, 2f64.ln(), 1.0);
        past.observe(0.0, 0.0, 1.0);
        assert!((past.origin() - 2f64.ln()).abs() < 1e-12);
    }
}
