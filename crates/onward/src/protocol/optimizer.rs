//! What an algorithm of online convex optimisation does.

use crate::archive::Archive;
use crate::guarantee::{Guarantee, Regularised};
use crate::{Error, Features};

/// How far to move: w_i += u·x_i·rate_i, where u is chosen by the caller.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Step {
    /// By gradient flow of the loss for this time, where the score moves by q for u = 1
    /// (see [`Loss::importance_step`](crate::Loss::importance_step)).
    Flow {
        /// The time, the importance weight included.
        time: f64,
        /// q = Σ x²·rate.
        q: f64,
    },
    /// By the gradient as it is: u = −time·g.
    Gradient {
        /// The step size, the importance weight included.
        time: f64,
    },
}

/// An algorithm of online convex optimisation on sparse vectors.
///
/// ```
/// use onward::loss::Squared;
/// use onward::protocol::{Clip, Linear};
/// use onward::ScoreLearner;
/// use std::sync::Arc;
/// use onward::archive::Archive;
/// use onward::guarantee::{Guarantee, GuaranteeKind};
/// use onward::parameter::{Description, ParameterDescriptor, positive};
/// use onward::protocol::{Optimizer, Step};
/// use onward::{Error, Features};
///
/// const ETA: ParameterDescriptor = positive("eta").default("0.1").meaning("learning rate");
///
/// /// w_{t+1} = w_t − η z_t.
/// struct Descent {
///     eta: f64,
///     weights: Vec<f64>,
/// }
///
/// impl Optimizer for Descent {
///     /// All rates are η, so a step of 1 moves the score by q = η‖x‖².
///     fn prepare(&mut self, _g: f64, h: f64, x: Features<'_>) -> Step {
///         let square: f64 = x.iter().map(|(_, value)| f64::from(value).powi(2)).sum();
///         Step::Flow { time: h, q: self.eta * square }
///     }
///
///     fn advance(&mut self, u: f64, x: Features<'_>) {
///         for (index, value) in x.iter() {
///             let index = index as usize;
///             self.weights.resize(self.weights.len().max(index + 1), 0.0);
///             self.weights[index] += u * self.eta * f64::from(value);
///         }
///     }
///
///     fn weight(&self, index: u32) -> f64 {
///         self.weights.get(index as usize).copied().unwrap_or(0.0)
///     }
///
///     fn guarantee(&self) -> Guarantee {
///         Guarantee::none(GuaranteeKind::Own, "the sums of its theorem are not kept here")
///     }
///
///     fn describe(&self) -> String {
///         Description::of("descent").with(&ETA, self.eta).into()
///     }
///
///     fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
///         archive.column("weight", &mut self.weights)
///     }
/// }
///
/// let mut learner = Linear::new(Arc::new(Squared), Descent { eta: 0.1, weights: Vec::new() }, Clip::Never);
/// learner.learn_one(Features::new(&[0], &[1.0])?, 2.0, 1.0);
/// assert!(learner.predict_one(Features::new(&[0], &[1.0])?) > 0.0);
/// # Ok::<(), Error>(())
/// ```
pub trait Optimizer: Send + Sync {
    /// ⟨w, x⟩.
    fn dot(&self, x: Features<'_>) -> f64 {
        x.dot(|index| self.weight(index))
    }

    /// The row of a round to come: what belongs to it may be fetched from memory. Changes nothing.
    fn prefetch(&mut self, _x: Features<'_>) {}

    /// ⟨w, x⟩ at the beginning of a round: as [`dot`](Self::dot), and where the weights of x were
    /// found may be remembered for [`prepare`](Self::prepare), which is then about the same x.
    fn begin(&mut self, x: Features<'_>) -> f64 {
        self.dot(x)
    }

    /// The round paid this loss, its weight of importance included: for rates that follow the
    /// loss. It is computed only if it is asked for.
    fn observe_loss(&mut self, _loss: &dyn Fn() -> f64, _weight: f64) {}

    /// Takes in the gradient h·g·x, x being that of [`begin`](Self::begin), and sets this round's rates.
    fn prepare(&mut self, g: f64, h: f64, x: Features<'_>) -> Step;

    /// Moves: w_i += u·x_i·rate_i with the rates that were set, then projects.
    fn advance(&mut self, u: f64, x: Features<'_>);

    /// A round of general online convex optimisation: takes in the gradient
    /// `scalar`·x and moves against it.
    fn observe(&mut self, scalar: f64, x: Features<'_>) {
        self.begin(x);
        let time = match self.prepare(scalar, 1.0, x) {
            Step::Flow { time, .. } | Step::Gradient { time } => time,
        };
        self.advance(-time * scalar, x);
    }

    /// w_i.
    fn weight(&self, index: u32) -> f64;

    /// The weights of many features.
    fn weights(&self, indices: &[u32]) -> Vec<f64> {
        indices.iter().map(|&index| self.weight(index)).collect()
    }

    /// The features that have a weight, and their weights, where [`dot`](Self::dot) is their Σ w_i·x_i to the bit.
    fn frozen_weights(&self) -> Option<(Vec<u32>, Vec<f64>)> {
        None
    }

    /// The average of the points so far, as (index, weight), where it is kept.
    fn averaged(&self) -> Option<Vec<(u32, f64)>> {
        None
    }

    /// As [`LinearWeights::late_average`](crate::LinearWeights::late_average).
    fn late_average(&self) -> Option<(f64, f64)> {
        None
    }

    /// The guarantee of the algorithm's theorem, from sums of what happened.
    fn guarantee(&self) -> Guarantee;

    /// What it did by its regularised losses, for optimisers of such.
    fn regularised(&self) -> Option<Regularised> {
        None
    }

    /// Name and all parameters.
    fn describe(&self) -> String;

    /// Saves or loads what is needed to continue to the bit. It loads what an algorithm with the same parameters saved.
    ///
    /// # Errors
    /// When something is missing or does not match.
    fn persist(&mut self, archive: &mut Archive) -> Result<(), Error>;
}
