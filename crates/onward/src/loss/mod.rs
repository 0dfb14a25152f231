//! What a wrong prediction costs: one file per family.
//!
//! A loss ℓ(p, y) gives its value, its derivative g = ∂ℓ/∂p, its curvature, its
//! Lipschitz constant on a range, the link from scores to what people read, and
//! an **importance-aware step**: the solution of gradient flow for a given time
//! (Karampatziakis and Langford 2011), so that an importance weight of 2 equals
//! seeing the example twice at a fixed rate, and a weight of 10⁹ does not
//! overshoot.

pub mod absolute;
mod class;
mod conjugate;
mod flow;
mod gap;
pub mod hinge;
pub mod huber;
pub mod linear;
pub mod logistic;
mod parse;
pub mod poisson;
pub mod softmax;
pub mod squared;
#[cfg(test)]
mod tests;

use std::fmt::Debug;
use std::sync::Arc;

pub use absolute::{Absolute, EpsilonInsensitive, Quantile, SquaredEpsilonInsensitive};
pub use class::{ClassLoss, MAX_CLASSES, SharedClassLoss, TaskLoss};
pub use conjugate::ScaledConjugate;
pub(crate) use conjugate::largest_bend;
pub use hinge::{Hinge, ModifiedHuber, PerceptronLoss, SquaredHinge, ZeroOne};
pub use huber::Huber;
pub use linear::LinearLoss;
pub use logistic::Logistic;
pub use parse::{CLASS_LOSSES, LOSSES, LossDescriptor, parse, parse_among, parse_task_loss};
pub use poisson::Poisson;
pub use softmax::Softmax;
pub use squared::{Expectile, Squared};

use crate::{Error, ErrorKind};

/// A loss shared between a learner and the ledger that charges it.
pub type SharedLoss = Arc<dyn Loss>;

/// What kind of label a loss is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Task {
    /// Two classes, labels −1 and 1.
    Binary,
    /// Real labels.
    Regression,
    /// One of several classes, labels 0, 1, 2, …; a score for each.
    Classes,
}

/// From a score to what people read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum InverseLink {
    /// The score itself.
    Identity,
    /// The probability of the positive class, 1/(1+e^(−p)).
    Logistic,
    /// A rate, e^p, held at e^50 above p = 50, where the loss is straight.
    Log,
}

impl InverseLink {
    /// The response for a score.
    pub fn response(self, score: f64) -> f64 {
        match self {
            Self::Identity => score,
            Self::Logistic => logistic::sigmoid(score),
            Self::Log => libm::exp(score.min(poisson::STRAIGHT_FROM)),
        }
    }
}

/// How a loss curves as a function of the score, which decides what a learner
/// can promise.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Curvature {
    /// ℓ = ½c(p − y)², this constant being c: ∂²ℓ/∂p² everywhere (squared loss: 2).
    Quadratic(f64),
    /// ∂²ℓ/∂p² ≥ this constant everywhere.
    Strong(f64),
    /// Smooth, ∂²ℓ/∂p² ≤ this constant, with no positive lower bound.
    Smooth(f64),
    /// Convex with kinks, or curved without a bound.
    Convex,
    /// Not convex (0/1 loss): no certificate applies.
    None,
}

/// What a loss is, for code that can do more with some losses than with values and slopes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum LossKind {
    /// ½c(p − y)², c that of [`Curvature::Quadratic`].
    Quadratic,
    /// The cross-entropy of σ(p).
    Logistic,
    /// e^p − yp, straight above p = 50.
    Poisson,
    /// max(0, 1 − yp).
    Hinge,
    /// Its square.
    SquaredHinge,
    /// max(0, −yp), whose step is no flow.
    Perceptron,
    /// max(0, |p − y| − ε).
    EpsilonInsensitive,
    /// Its square.
    SquaredEpsilonInsensitive,
    /// 1 for a mistake.
    ZeroOne,
    /// Another loss.
    Other,
}

impl LossKind {
    /// The first loss of this kind that has a name.
    pub(crate) fn named(self) -> Option<&'static LossDescriptor> {
        LOSSES.iter().find(|entry| entry.default_loss().kind() == self)
    }
}

/// A convex function of straight pieces: its slope on the far left, and where it rises by how much.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Kinks {
    /// The slope as p → −∞.
    pub slope: f64,
    /// The kinks, from left to right: where, and the jump > 0 of the slope. A second one that is none
    /// has the jump 0.
    pub jumps: [(f64, f64); 2],
}

impl Kinks {
    /// One kink.
    fn one(slope: f64, at: f64, jump: f64) -> Self {
        Self { slope, jumps: [(at, jump), (at, 0.0)] }
    }
}

/// What a prediction is charged.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Evaluation {
    /// ℓ(p, y).
    pub value: f64,
    /// [`Loss::derivative`].
    pub derivative: f64,
    /// e^(−|p|) and ln(1 + e^(−|p|)), where they were needed: metrics need them too.
    pub(crate) logistic: Option<(f64, f64)>,
}

/// How steep a loss is at a prediction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gradient {
    /// [`Loss::derivative`].
    pub derivative: f64,
    /// e^(−|p|) where it was needed, since the flow needs it too; else anything.
    pub(crate) exponential: f64,
}

/// A loss ℓ(p, y) of a score p and a label y.
pub trait Loss: Debug + Send + Sync {
    /// The name that [`parse`](parse()) reads, with parameters: `huber:delta=1.35`.
    fn name(&self) -> String;

    /// What the labels are.
    fn task(&self) -> Task;

    /// ℓ(p, y) ≥ 0 for finite p and a label that [`check_label`](Loss::check_label)
    /// accepts (Poisson's may be negative: its constant is left out).
    fn value(&self, p: f64, y: f64) -> f64;

    /// A subgradient g ∈ ∂ℓ(p, y); at a kink, the one that the documentation of
    /// the loss names.
    fn derivative(&self, p: f64, y: f64) -> f64;

    /// Value and derivative at once, where they share work.
    fn evaluate(&self, p: f64, y: f64) -> Evaluation {
        Evaluation { value: self.value(p, y), derivative: self.derivative(p, y), logistic: None }
    }

    /// ∂²ℓ/∂p² where it exists, 0 at kinks; where it jumps, the value of the
    /// side that the documentation of the loss names.
    fn second_derivative(&self, p: f64, y: f64) -> f64;

    /// The class of curvature; unless a loss says more, no more is known than that it is convex.
    fn curvature(&self) -> Curvature {
        Curvature::Convex
    }

    /// What it is, where more is known of it than its curvature says.
    fn kind(&self) -> LossKind {
        match self.curvature() {
            Curvature::Quadratic(_) => LossKind::Quadratic,
            _ => LossKind::Other,
        }
    }

    /// The largest |∂ℓ/∂p| for scores and labels in [−range, range], range > 0
    /// (only labels that the loss takes; −1 and 1 at any range).
    fn lipschitz(&self, range: f64) -> f64;

    /// From scores to what people read.
    fn inverse_link(&self) -> InverseLink {
        InverseLink::Identity
    }

    /// What many predictions are charged, one after the other: what [`evaluate`](Self::evaluate) gives, to the bit. A label that is
    /// NaN may be charged anything.
    fn evaluate_all(&self, scores: &[f64], labels: &[f64], evaluations: &mut Vec<Evaluation>) {
        evaluations.clear();
        let evaluate = |(&p, &y): (&f64, &f64)| if y.is_nan() { Evaluation::default() } else { self.evaluate(p, y) };
        evaluations.extend(scores.iter().zip(labels).map(evaluate));
    }

    /// The importance-aware step: u such that w += u·x·rate moves the score as
    /// gradient flow does in time `time`, where `q` = Σ x²·rate ≥ 0 is how far
    /// the score moves for u = 1. That is u = (p(time) − p)/q for
    /// dp/ds = −q·∂ℓ/∂p, and −time·∂ℓ/∂p in the limit q → 0.
    fn importance_step(&self, p: f64, y: f64, time: f64, q: f64) -> f64;

    /// The derivative, to be followed by [`importance_step_from`](Self::importance_step_from).
    fn gradient(&self, p: f64, y: f64) -> Gradient {
        Gradient { derivative: self.derivative(p, y), exponential: 0.0 }
    }

    /// The same as [`importance_step`](Self::importance_step) where the [gradient](Self::gradient) at p and y is known.
    fn importance_step_from(&self, _gradient: Gradient, p: f64, y: f64, time: f64, q: f64) -> f64 {
        self.importance_step(p, y, time, q)
    }

    /// A bound on the conjugate of the loss for slopes that are its own at p, scaled down; `evaluation` is that at p. `None` for
    /// losses that are not bounded below. Unless a loss says more: that of a loss that is never below 0.
    fn conjugate(&self, p: f64, y: f64, evaluation: Evaluation) -> Option<ScaledConjugate> {
        let _ = y;
        Some(match self.curvature() {
            Curvature::None => return None,
            Curvature::Quadratic(curvature) => ScaledConjugate::quadratic(p, evaluation, curvature),
            _ => ScaledConjugate::chord(p, evaluation, 0.0),
        })
    }

    /// Whether ∂²ℓ/∂p², as a function of p, rises up to some score and falls from there on. Then the loss has
    /// quadratic minorants on every range of scores, of which the certificates make use.
    fn is_curvature_unimodal(&self) -> bool {
        matches!(self.curvature(), Curvature::Quadratic(_))
    }

    /// Where a loss of straight pieces bends, for this label; `None` for losses that are curved.
    fn kinks(&self, y: f64) -> Option<Kinks> {
        let _ = y;
        None
    }

    /// The score of least loss for a constant predictor that sees each label
    /// with its weight, if it has a closed form in the mean of the labels as
    /// [`label_for_mean`](Loss::label_for_mean) gives them: for quadratic losses, and for those that are
    /// affine in such a label.
    fn best_constant(&self, mean_label: f64) -> Option<f64> {
        matches!(self.curvature(), Curvature::Quadratic(_)).then_some(mean_label)
    }

    /// The label as it enters the mean for [`best_constant`](Loss::best_constant):
    /// itself, except that the logistic loss's −1 stands for probability 0.
    fn label_for_mean(&self, y: f64) -> f64 {
        y
    }

    /// Whether ℓ(p, y) is convex in the label y too, as losses of the distance |p − y| are. Then what the best constant
    /// pays on very many labels, which are grouped, is known with an error.
    fn is_convex_in_label(&self) -> bool {
        false
    }

    /// Whether the loss takes this label: −1 and 1 where there are two classes, every finite number otherwise, unless the
    /// loss says something else.
    ///
    /// # Errors
    /// Names what labels the loss takes.
    fn check_label(&self, y: f64) -> Result<(), Error> {
        match self.task() {
            Task::Binary => expect_label(self, y.abs() == 1.0, y, "-1 or 1"),
            _ => expect_label(self, y.is_finite(), y, "a finite number"),
        }
    }
}

/// Refuses a label that is not allowed, with a message of one form for all losses.
fn expect_label(loss: &(impl Loss + ?Sized), is_allowed: bool, y: f64, allowed: &str) -> Result<(), Error> {
    let message = || format!("the label of the {} loss must be {allowed}; got {y}", loss.name());
    if is_allowed { Ok(()) } else { Err(Error::new(ErrorKind::Label, message())) }
}
