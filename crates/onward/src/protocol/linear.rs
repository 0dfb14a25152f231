//! A linear learner: an optimiser fed with the gradients of a loss.
//!
//! Each round: p = offset + ⟨w, x⟩, clipped to what the past makes plausible; pay
//! h·ℓ(p, y); g = ∂ℓ/∂p at p; the optimiser takes in h·g·x and moves by gradient
//! flow of the loss (or by the gradient as it is, if that is its theorem).

use super::frozen::{Clipping, frozen_linear};
use crate::archive::Archive;
use crate::guarantee::{Guarantee, Regularised};
use crate::loss::{InverseLink, Task};
use crate::protocol::{Learner, Optimizer, Params, Predictor, Step};
use crate::{Error, Features, LinearWeights, ScoreLearner, SharedLoss};

/// The largest score for losses with a probability or rate: e^±50.
const LARGEST_SCORE: f64 = 50.0;

/// How predictions are kept plausible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clip {
    /// Not at all: what the theorem of the optimiser is about.
    Never,
    /// Probabilities and rates to e^±50; regression to the range of *past* labels, zero
    /// and the row's offset: never with the label that is being predicted.
    Plausible,
}

/// A loss and an optimiser.
pub struct Linear<O> {
    loss: SharedLoss,
    optimizer: O,
    clip: Clip,
    /// The smallest and largest label so far, and zero.
    range: (f64, f64),
}

impl<O: Optimizer + 'static> Linear<O> {
    /// The learner of the loss in these parameters, with the predictions that the theorem of the optimiser is about.
    pub(crate) fn learner(parameters: &Params<'_>, optimizer: O) -> Result<Box<dyn Learner>, Error> {
        Ok(Box::new(Self::new(parameters.loss(), optimizer, Clip::Never)))
    }
}

impl<O: Optimizer> Linear<O> {
    /// A learner of this loss.
    pub fn new(loss: SharedLoss, optimizer: O, clip: Clip) -> Self {
        Self { loss, optimizer, clip, range: (0.0, 0.0) }
    }

    #[inline]
    fn clipping(&self) -> Clipping {
        match (self.clip, self.loss.inverse_link(), self.loss.task()) {
            (Clip::Never, ..) => Clipping::Never,
            (_, InverseLink::Logistic | InverseLink::Log, _) => Clipping::Within(-LARGEST_SCORE, LARGEST_SCORE),
            (_, _, Task::Regression) => Clipping::WithinOrOffset(self.range.0, self.range.1),
            (_, _, Task::Binary | Task::Classes) => Clipping::Never,
        }
    }
}

impl<O: Optimizer> ScoreLearner for Linear<O> {
    fn predict_one(&self, x: Features<'_>) -> f64 {
        self.clipping().clip(x.offset() + self.optimizer.dot(x), x.offset())
    }

    fn learn_one(&mut self, x: Features<'_>, label: f64, weight: f64) -> f64 {
        let score = x.offset() + self.optimizer.begin(x);
        let p = self.clipping().clip(score, x.offset());
        let loss = &self.loss;
        self.optimizer.observe_loss(&|| weight * loss.value(p, label), weight);
        let gradient = self.loss.gradient(p, label);
        let g = gradient.derivative;
        let u = match self.optimizer.prepare(g, weight, x) {
            Step::Flow { time, q } => self.loss.importance_step_from(gradient, p, label, time, q),
            Step::Gradient { time } => -time * g,
        };
        self.optimizer.advance(u, x);
        self.range = (self.range.0.min(label), self.range.1.max(label));
        p
    }

    fn prefetch(&mut self, x: Features<'_>) {
        self.optimizer.prefetch(x);
    }

    fn loss(&self) -> SharedLoss {
        SharedLoss::clone(&self.loss)
    }

    fn describe(&self) -> String {
        self.optimizer.describe()
    }

    fn freeze(&self) -> Option<Box<dyn Predictor>> {
        let (indices, weights) = self.optimizer.frozen_weights()?;
        Some(frozen_linear(&indices, &weights, self.clipping()))
    }

    fn guarantee(&self) -> Guarantee {
        self.optimizer.guarantee()
    }

    fn regularised(&self) -> Option<Regularised> {
        self.optimizer.regularised()
    }

    fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        archive.number("label.smallest", &mut self.range.0)?;
        archive.number("label.largest", &mut self.range.1)?;
        archive.check(self.range.0 <= self.range.1, "label.smallest", "must be at most 'label.largest'")?;
        self.optimizer.persist(archive)
    }

    fn linear(&self) -> Option<&dyn LinearWeights> {
        Some(self)
    }
}

impl<O: Optimizer> LinearWeights for Linear<O> {
    fn weight(&self, index: u32) -> f64 {
        self.optimizer.weight(index)
    }

    fn weights(&self, indices: &[u32]) -> Vec<f64> {
        self.optimizer.weights(indices)
    }

    fn averaged(&self) -> Option<Vec<(u32, f64)>> {
        self.optimizer.averaged()
    }

    fn late_average(&self) -> Option<(f64, f64)> {
        self.optimizer.late_average()
    }
}
