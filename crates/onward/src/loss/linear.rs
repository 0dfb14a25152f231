//! The linear loss ℓ(p, y) = y·p: online convex optimisation in the form of a loss.
//!
//! With the features z and the label 1 it is ⟨w, z⟩, so that a learner fed with it plays
//! the general game of online linear optimisation: what was lost (or, with the label −1,
//! gained) by the point w on the vector z. It has no minimiser, and no name on the command line.

use super::{Evaluation, Loss, ScaledConjugate, Task};

/// ℓ(p, y) = y·p, g = y.
///
/// ```
/// use onward::{Loss, loss::LinearLoss};
/// assert_eq!(LinearLoss.value(3.0, -2.0), -6.0);
/// assert_eq!(LinearLoss.derivative(3.0, -2.0), -2.0);
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct LinearLoss;

impl Loss for LinearLoss {
    fn name(&self) -> String {
        "linear".to_owned()
    }

    fn task(&self) -> Task {
        Task::Regression
    }

    fn value(&self, p: f64, y: f64) -> f64 {
        y * p
    }

    fn derivative(&self, _p: f64, y: f64) -> f64 {
        y
    }

    fn second_derivative(&self, _p: f64, _y: f64) -> f64 {
        0.0
    }

    fn lipschitz(&self, range: f64) -> f64 {
        range
    }

    /// It has no least value.
    fn conjugate(&self, _p: f64, _y: f64, _evaluation: Evaluation) -> Option<ScaledConjugate> {
        None
    }

    fn importance_step(&self, _p: f64, y: f64, time: f64, _q: f64) -> f64 {
        -time * y
    }
}
