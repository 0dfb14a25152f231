//! The protocol of online learning: each round, observe the features, predict, observe the label, pay
//! weight × loss, update. The loss is always that of the prediction made *before* the label was seen.
//!
//! Calls take many rows and play one round for each, in order. A prediction is its scores: one, or one per class.

use bytemuck::Zeroable;

use super::frozen::{Clipping, frozen_linear};
use crate::archive::Archive;
use crate::guarantee::{Guarantee, Novikoff, Regularised};
use crate::loss::{SharedLoss, TaskLoss};
use crate::storage::table::ParameterTable;
use crate::{Error, Example, Features, Rows};

/// Reads rows and gives scores. What does not change any more serves many threads.
pub trait Predictor: Send + Sync {
    /// How many scores a row gets: 1, or one per class.
    fn outputs(&self) -> usize {
        1
    }

    /// Writes the scores of all rows, row after row: those that [`Learner::learn`] would make for the next row.
    /// Changes nothing.
    ///
    /// # Panics
    /// When there are not [`outputs`](Self::outputs) scores per row.
    fn predict(&self, rows: Rows<'_>, scores: &mut [f64]);
}

impl dyn Predictor + '_ {
    /// The score of one row.
    ///
    /// # Panics
    /// When it has several.
    pub fn predict_one(&self, x: Features<'_>) -> f64 {
        let mut score = [0.0];
        Example { features: x, label: None, weight: 1.0 }.as_rows(|rows| self.predict(rows, &mut score));
        score[0]
    }
}

/// Predicts, is told the truth, updates.
///
/// All state is inside; equal rows in equal order give equal bits, however many come in a call. Every learner goes
/// through one battery of tests (`tests/it/battery.rs`). Learners whose rows have one score implement
/// [`ScoreLearner`] instead, for one row at a time, and are learners by that.
pub trait Learner: Predictor {
    /// One round per row, in order: writes the scores that are made before the row's label is used, then
    /// updates with the label and the importance weight (from 1e-38 to 3.4e38: what sums can hold). Rows without a
    /// label or of weight 0 are predicted only. Labels must be such as [`TaskLoss::check_label`] accepts.
    ///
    /// # Panics
    /// When there are not [`outputs`](Predictor::outputs) scores per row.
    fn learn(&mut self, rows: Rows<'_>, scores: &mut [f64]);

    /// The loss that predictions are charged by.
    fn loss(&self) -> TaskLoss;

    /// Name and all parameters, as `--learner` takes them, the inferred ones included.
    fn describe(&self) -> String;

    /// The learner's own guarantee, from sums of what happened so far.
    fn guarantee(&self) -> Guarantee;

    /// Saves or loads all that is needed to continue to the bit. Loaded is what a learner with the same parameters saved.
    ///
    /// # Errors
    /// When something is missing or does not match.
    fn persist(&mut self, archive: &mut Archive) -> Result<(), Error>;

    /// Called before the first row of a class is learnt from, with the number of classes met up to that row, the row
    /// included. Learners of classes give this many scores from here on. What the new class's score is in that row does
    /// not matter where the loss is a log loss: there the class has the probability 1/(n + 1) after n rows, and the
    /// others share the rest ([`TaskLoss::score_of_new_class`]).
    fn set_classes(&mut self, _classes: usize) {}

    /// The predictor that this learner is now: faster, and the same to the bit. `None` where there is no such form.
    fn freeze(&self) -> Option<Box<dyn Predictor>> {
        None
    }

    /// The weights of linear learners.
    fn linear(&self) -> Option<&dyn LinearWeights> {
        None
    }

    /// The experts that the learner mixes, if it does.
    fn mixture(&self) -> Option<MixtureReport> {
        None
    }

    /// M: the importance of the rounds in which it moved, for learners that move at mistakes only.
    fn updates(&self) -> Option<f64> {
        None
    }

    /// What bounds M against any comparator, for learners that the perceptron's theorem is about.
    fn novikoff(&self) -> Option<Novikoff> {
        None
    }

    /// What it did by its regularised losses, for learners of such.
    fn regularised(&self) -> Option<Regularised> {
        None
    }
}

/// One record at a time, for learners with one score.
impl dyn Learner + '_ {
    /// One round of [`learn`](Learner::learn): returns the score that was made before the label was used.
    ///
    /// # Panics
    /// When rows have several scores.
    pub fn learn_one(&mut self, x: Features<'_>, label: f64, weight: f64) -> f64 {
        let mut score = [0.0];
        Example { features: x, label: Some(label), weight }.as_rows(|rows| self.learn(rows, &mut score));
        score[0]
    }

    /// The score that `learn_one` would make next. Changes nothing.
    ///
    /// # Panics
    /// When rows have several scores.
    pub fn predict_one(&self, x: Features<'_>) -> f64 {
        (self as &dyn Predictor).predict_one(x)
    }

    /// The predictor by the average of the learner's points, where it keeps one ([`LinearWeights::averaged`]). Its scores
    /// are the means of those that the points would give: nothing is clipped.
    pub fn freeze_averaged(&self) -> Option<Box<dyn Predictor>> {
        let (indices, weights): (Vec<_>, Vec<_>) = self.linear()?.averaged()?.into_iter().unzip();
        Some(frozen_linear(&indices, &weights, Clipping::Never))
    }
}

/// A learner with one score, one row at a time. It is a [`Learner`] of many: the loop over rows is written once and
/// compiled with the learner in it.
pub trait ScoreLearner: Send + Sync {
    /// The score of a row on the scale of the loss, as it is charged: offset + ⟨w, x⟩ for a linear learner, clipped
    /// where the learner clips. Changes nothing.
    fn predict_one(&self, x: Features<'_>) -> f64;

    /// One round: returns the score that [`predict_one`](Self::predict_one) would give, then updates with the label
    /// and the importance weight, which is above 0.
    fn learn_one(&mut self, x: Features<'_>, label: f64, weight: f64) -> f64;

    /// The row after the next one: what belongs to it may be fetched from memory meanwhile. Changes nothing but the time.
    fn prefetch(&mut self, _next: Features<'_>) {}

    /// As [`Learner::loss`].
    fn loss(&self) -> SharedLoss;

    /// As [`Learner::describe`].
    fn describe(&self) -> String;

    /// As [`Learner::guarantee`].
    fn guarantee(&self) -> Guarantee;

    /// As [`Learner::persist`].
    ///
    /// # Errors
    /// When something is missing or does not match.
    fn persist(&mut self, archive: &mut Archive) -> Result<(), Error>;

    /// As [`Learner::freeze`].
    fn freeze(&self) -> Option<Box<dyn Predictor>> {
        None
    }

    /// As [`Learner::linear`].
    fn linear(&self) -> Option<&dyn LinearWeights> {
        None
    }

    /// As [`Learner::mixture`].
    fn mixture(&self) -> Option<MixtureReport> {
        None
    }

    /// As [`Learner::updates`].
    fn updates(&self) -> Option<f64> {
        None
    }

    /// As [`Learner::novikoff`].
    fn novikoff(&self) -> Option<Novikoff> {
        None
    }

    /// As [`Learner::regularised`].
    fn regularised(&self) -> Option<Regularised> {
        None
    }
}

impl<L: ScoreLearner> Predictor for L {
    fn predict(&self, rows: Rows<'_>, scores: &mut [f64]) {
        rows.check_scores(1, scores);
        for (example, score) in rows.iter().zip(scores) {
            *score = self.predict_one(example.features);
        }
    }
}

/// The calls that a [`Learner`] answers as the [`ScoreLearner`] that it is.
macro_rules! same {
    ($($name:ident -> $result:ty;)+) => {$(
        fn $name(&self) -> $result {
            ScoreLearner::$name(self)
        }
    )+};
}

impl<L: ScoreLearner> Learner for L {
    fn learn(&mut self, rows: Rows<'_>, scores: &mut [f64]) {
        rows.check_scores(1, scores);
        for ((example, next), score) in rows.with_next().zip(scores) {
            if let Some(next) = next {
                self.prefetch(next);
            }
            *score = match example.label_to_learn() {
                Some(label) => self.learn_one(example.features, label, example.weight),
                None => self.predict_one(example.features),
            };
        }
    }

    fn loss(&self) -> TaskLoss {
        TaskLoss::Score(ScoreLearner::loss(self))
    }

    same! {
        describe -> String;
        guarantee -> Guarantee;
        freeze -> Option<Box<dyn Predictor>>;
        linear -> Option<&dyn LinearWeights>;
        mixture -> Option<MixtureReport>;
        updates -> Option<f64>;
        novikoff -> Option<Novikoff>;
        regularised -> Option<Regularised>;
    }

    fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        ScoreLearner::persist(self, archive)
    }
}

/// The weights of a linear learner, in raw units: how much the score changes when a feature grows by one.
pub trait LinearWeights {
    /// The weight of a feature.
    fn weight(&self, index: u32) -> f64;

    /// The weights of many features, one for each index. Fastest where indices come in the order in which the learner
    /// met them.
    fn weights(&self, indices: &[u32]) -> Vec<f64> {
        indices.iter().map(|&index| self.weight(index)).collect()
    }

    /// The running standard deviation of a feature, if the learner sees it centred: `weight` times it is by how
    /// much the feature moves the score.
    fn deviation(&self, _index: u32) -> Option<f64> {
        None
    }

    /// Γ_ii of learners that keep Γ, the inverse of λI + Σ h·xxᵀ: how uncertain the weight of a feature is. It is the
    /// weight's variance where labels have the variance 1 about what x says.
    fn gamma(&self, _index: u32) -> Option<f64> {
        None
    }

    /// The average of the points that made the predictions so far, as (index, weight), where it is kept.
    fn averaged(&self) -> Option<Vec<(u32, f64)>> {
        None
    }

    /// Where that average begins with a later point than the first: how many points it is of, and what they paid in the
    /// rounds that they predicted; NaN if that is not known.
    fn late_average(&self) -> Option<(f64, f64)> {
        None
    }
}

/// A table of weights.
impl<W: Copy + Zeroable + Into<f64> + Send + Sync> LinearWeights for ParameterTable<W> {
    fn weight(&self, index: u32) -> f64 {
        self.get(index).into()
    }
}

/// What a learner that mixes experts says of them.
#[derive(Debug, Clone, PartialEq)]
pub struct MixtureReport {
    /// What the mixture has paid: its mean loss over all that was learnt, each example weighted by
    /// its importance; NaN before the first.
    pub loss: f64,
    /// The same on average over the draws, for a mixture that draws one of its experts in each round.
    pub expected: Option<f64>,
    /// The experts.
    pub experts: Vec<ExpertReport>,
}

impl MixtureReport {
    /// How much more the mixture paid than the best of its experts, an example. Below 0 where mixing
    /// gained more than it cost.
    pub fn gap(&self) -> f64 {
        self.loss - self.best().map_or(f64::NAN, |best| best.loss)
    }

    /// The expert that paid least.
    pub fn best(&self) -> Option<&ExpertReport> {
        self.experts.iter().min_by(|one, other| one.loss.total_cmp(&other.loss))
    }
}

/// An expert in a mixture.
#[derive(Debug, Clone, PartialEq)]
pub struct ExpertReport {
    /// Its name.
    pub name: String,
    /// Its share of the next prediction, from 0 to 1.
    pub weight: f64,
    /// What it would have paid alone: its mean loss.
    pub loss: f64,
}
