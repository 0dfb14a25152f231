//! The protocol of online learning: a learner sees one example at a time. Each round: observe the
//! features, predict, observe the label, pay weight × loss, update. The loss is always that of the
//! prediction made *before* the label was seen.

use super::FrozenLinear;
use crate::archive::Archive;
use crate::guarantee::Guarantee;
use crate::loss::{InverseLink, SharedLoss};
use crate::{Error, Features};

/// What a learner says before it sees the label.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Prediction {
    /// The score p on the scale of the loss, as it is charged: offset + ⟨w, x⟩ for
    /// a linear learner, clipped where the learner clips.
    pub score: f64,
}

impl Prediction {
    /// A prediction with this score.
    pub fn new(score: f64) -> Self {
        Self { score }
    }

    /// The score on the scale that people read: a probability for the logistic
    /// loss, a rate for Poisson, the score itself otherwise.
    ///
    /// ```
    /// use onward::{Prediction, loss::InverseLink};
    /// assert_eq!(Prediction::new(0.0).response(InverseLink::Logistic), 0.5);
    /// ```
    pub fn response(&self, link: InverseLink) -> f64 {
        link.response(self.score)
    }
}

/// What a learner that mixes experts says of them.
#[derive(Debug, Clone, PartialEq)]
pub struct MixtureReport {
    /// What the mixture has paid: its mean loss over all that was learnt, each example weighted by
    /// its importance; NaN before the first.
    pub loss: f64,
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

/// Predicts, is told the truth, updates.
///
/// All state is inside; equal calls in equal order give equal bits. Every
/// learner goes through one battery of tests (`tests/it/battery.rs`).
pub trait Learner: Send + Sync {
    /// The prediction that [`learn`](Learner::learn) would make next. Changes nothing.
    fn predict(&self, x: Features<'_>) -> Prediction;

    /// One round: predicts, then updates with the label and the importance
    /// weight (0, which changes nothing, or from 1e-38 to 3.4e38: what sums can
    /// hold). Returns the prediction made
    /// before the update. The label must be one that
    /// [`Loss::check_label`](crate::Loss::check_label) accepts.
    fn learn(&mut self, x: Features<'_>, label: f64, weight: f64) -> Prediction;

    /// The row that is predicted or learnt from after the next one: what belongs to it may be fetched
    /// from memory meanwhile. Changes nothing but the time.
    fn prefetch(&mut self, _x: Features<'_>) {}

    /// The loss that predictions are charged by.
    fn charged_loss(&self) -> SharedLoss;

    /// Name and all parameters, as `--learner` takes them, the inferred ones included.
    fn describe(&self) -> String;

    /// The weight of a feature in raw units, for linear learners: how much the
    /// score changes when the feature grows by one.
    fn weight(&self, index: u32) -> Option<f64>;

    /// The weights of many features, one for each index; `None` where [`weight`](Self::weight) gives none. Fastest where
    /// indices come in the order in which the learner met them.
    fn weights(&self, indices: &[u32]) -> Option<Vec<f64>> {
        indices.iter().map(|&index| self.weight(index)).collect()
    }

    /// The running standard deviation of a feature, if the learner sees it centred:
    /// `weight` times it is by how much the feature moves the score.
    fn deviation(&self, _index: u32) -> Option<f64> {
        None
    }

    /// The learner's own guarantee, from sums of what happened so far.
    fn guarantee(&self) -> Guarantee;

    /// M: the importance of the rounds in which it moved, for learners that move at mistakes only.
    fn updates(&self) -> Option<f64> {
        None
    }

    /// The predictor that this learner is now, for those who only [predict](Self::predict) from here on: faster, and the
    /// same to the bit. `None` where scores are no sums of weights that stay.
    fn freeze(&self) -> Option<FrozenLinear> {
        None
    }

    /// The average of the points that made the predictions so far, as (index, weight), for
    /// linear learners that keep it.
    fn averaged(&self) -> Option<Vec<(u32, f64)>> {
        None
    }

    /// The experts that the learner mixes, if it does.
    fn mixture(&self) -> Option<MixtureReport> {
        None
    }

    /// Saves or loads what is needed to continue to the bit. It loads what a learner with the same parameters saved.
    ///
    /// # Errors
    /// When something is missing or does not match.
    fn persist(&mut self, archive: &mut Archive) -> Result<(), Error>;
}
