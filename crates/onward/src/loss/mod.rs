//! What a wrong prediction costs: one file a family.
//!
//! A loss ℓ(p, y) gives its value, its derivative g = ∂ℓ/∂p, its curvature, its
//! Lipschitz constant on a range, the link from scores to what people read, and
//! an **importance-aware step**: the solution of gradient flow for a given time
//! (Karampatziakis and Langford 2011), so that an importance weight of 2 equals
//! seeing the example twice at a fixed rate, and a weight of 10⁹ does not
//! overshoot.

use std::fmt::Debug;
use std::sync::Arc;

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
}

/// From a score to what people read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Link {
    /// The score itself.
    Identity,
    /// The probability of the positive class, 1/(1+e^(−p)).
    Logistic,
    /// A rate, e^p.
    Log,
}

impl Link {
    /// The response for a score.
    pub fn response(self, score: f64) -> f64 {
        match self {
            Self::Identity => score,
            Self::Logistic => score,
            Self::Log => libm::exp(score),
        }
    }
}

/// How a loss curves as a function of the score, which decides what a learner
/// can promise.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Curvature {
    /// ∂²ℓ/∂p² ≥ this constant everywhere (squared loss: 2).
    Strong(f64),
    /// Smooth, ∂²ℓ/∂p² ≤ this constant, with no positive lower bound.
    Smooth(f64),
    /// Convex with kinks, or curved without a bound.
    Convex,
    /// Not convex (0/1 loss): no certificate applies.
    None,
}

/// A loss ℓ(p, y) of a score p and a label y.
pub trait Loss: Debug + Send + Sync {
    /// The name that [`parse`] reads, with parameters: `huber:delta=1.35`.
    fn name(&self) -> String;

    /// What the labels are.
    fn task(&self) -> Task;

    /// ℓ(p, y) ≥ 0 for finite p and a label that [`check_label`](Loss::check_label)
    /// accepts (Poisson's may be negative: its constant is left out).
    fn value(&self, p: f64, y: f64) -> f64;

    /// A subgradient g ∈ ∂ℓ(p, y); at a kink, the one that the documentation of
    /// the loss names.
    fn derivative(&self, p: f64, y: f64) -> f64;

    /// ∂²ℓ/∂p² where it exists, 0 at kinks.
    fn second_derivative(&self, p: f64, y: f64) -> f64;

    /// The class of curvature.
    fn curvature(&self) -> Curvature;

    /// The largest |∂ℓ/∂p| for scores and labels in [−range, range] (labels as
    /// far as the loss takes them).
    fn lipschitz(&self, range: f64) -> f64;

    /// From scores to what people read.
    fn link(&self) -> Link {
        Link::Identity
    }

    /// The importance-aware step: u such that w += u·x·rate moves the score as
    /// gradient flow does in time `time`, where `q` = Σ x²·rate ≥ 0 is how far
    /// the score moves for u = 1. That is u = (p(time) − p)/q for
    /// dp/ds = −q·∂ℓ/∂p, and −time·∂ℓ/∂p in the limit q → 0.
    fn flow(&self, p: f64, y: f64, time: f64, q: f64) -> f64;

    /// The score of least loss for a constant predictor that sees each label
    /// with its weight, if it has a closed form in the mean label.
    fn best_constant(&self, mean_label: f64) -> Option<f64> {
        let _ = mean_label;
        None
    }

    /// Whether the loss takes this label.
    ///
    /// # Errors
    /// Names what labels the loss takes.
    fn check_label(&self, y: f64) -> Result<(), Error>;
}

/// Refuses a label with a message of one form for all losses.
fn refuse_label(loss: &dyn Loss, y: f64, allowed: &str) -> Error {
    let message = format!(
        "label {y} is not one for the {} loss, which takes {allowed}",
        loss.name()
    );
    Error::new(ErrorKind::Label, message)
}

/// Accepts every finite label.
fn finite_label(loss: &dyn Loss, y: f64) -> Result<(), Error> {
    if y.is_finite() {
        Ok(())
    } else {
        Err(refuse_label(loss, y, "finite numbers"))
    }
}

/// Accepts −1 and 1.
fn sign_label(loss: &dyn Loss, y: f64) -> Result<(), Error> {
    if y == 1.0 || y == -1.0 {
        Ok(())
    } else {
        Err(refuse_label(loss, y, "-1 and 1"))
    }
}
