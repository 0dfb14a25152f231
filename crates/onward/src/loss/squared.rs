//! Squared losses: the mean, and the expectiles.

use super::flow::settle;
use super::{Curvature, Evaluation, Loss, ScaledConjugate, Task};
use crate::Error;
use crate::parameter::{ParameterDescriptor, within};

/// The squared loss, ℓ(p, y) = (p − y)², with no half.
///
/// g = 2(p − y) and ℓ'' = 2: the loss is 2-strongly convex in the score. The
/// best constant is the mean of the labels. Gradient flow is exponential decay
/// of the residual, p(τ) − y = (p − y)e^(−2qτ), so
/// u = (y − p)(1 − e^(−2qτ))/q.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Squared;

impl Loss for Squared {
    fn name(&self) -> String {
        "squared".into()
    }

    fn task(&self) -> Task {
        Task::Regression
    }

    fn value(&self, p: f64, y: f64) -> f64 {
        (p - y) * (p - y)
    }

    fn derivative(&self, p: f64, y: f64) -> f64 {
        2.0 * (p - y)
    }

    fn second_derivative(&self, _: f64, _: f64) -> f64 {
        2.0
    }

    fn curvature(&self) -> Curvature {
        Curvature::Quadratic(2.0)
    }

    fn lipschitz(&self, range: f64) -> f64 {
        4.0 * range
    }

    fn importance_step(&self, p: f64, y: f64, time: f64, q: f64) -> f64 {
        settle((y - p).abs(), time, q).copysign(y - p)
    }
}

/// The expectile loss, ℓ(p, y) = a·(p − y)² with a = τ for p < y and 1 − τ for
/// p ≥ y.
///
/// An asymmetric square (Newey and Powell 1987): its best constant is the
/// τ-expectile, as the squared loss's is the mean. At τ = ½ it is *half* the
/// squared loss. ℓ' is continuous; ℓ'' jumps from 2τ to 2(1 − τ) at p = y,
/// where the value to the right is given. 2·min(τ, 1 − τ)-strongly convex.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Expectile {
    tau: f64,
}

impl Expectile {
    /// The loss of the τ-expectile.
    ///
    /// # Errors
    /// Refuses a τ outside (0, 1).
    pub fn new(tau: f64) -> Result<Self, Error> {
        Ok(Self { tau: TAU.check(tau)? })
    }

    /// The weight of the side that the score is on.
    fn weight(self, p: f64, y: f64) -> f64 {
        if p < y { self.tau } else { 1.0 - self.tau }
    }
}

impl Loss for Expectile {
    fn name(&self) -> String {
        format!("expectile:tau={}", self.tau)
    }

    fn task(&self) -> Task {
        Task::Regression
    }

    fn value(&self, p: f64, y: f64) -> f64 {
        self.weight(p, y) * (p - y) * (p - y)
    }

    fn derivative(&self, p: f64, y: f64) -> f64 {
        2.0 * self.weight(p, y) * (p - y)
    }

    fn second_derivative(&self, p: f64, y: f64) -> f64 {
        2.0 * self.weight(p, y)
    }

    fn curvature(&self) -> Curvature {
        Curvature::Strong(2.0 * self.tau.min(1.0 - self.tau))
    }

    fn conjugate(&self, p: f64, y: f64, evaluation: Evaluation) -> Option<ScaledConjugate> {
        Some(ScaledConjugate::quadratic(p, evaluation, self.second_derivative(p, y)))
    }

    /// It jumps once.
    fn is_curvature_unimodal(&self) -> bool {
        true
    }

    fn lipschitz(&self, range: f64) -> f64 {
        4.0 * range * self.tau.max(1.0 - self.tau)
    }

    /// The residual keeps its sign, hence its weight a: the squared loss's flow
    /// with time and way both in units of a.
    fn importance_step(&self, p: f64, y: f64, time: f64, q: f64) -> f64 {
        let weight = self.weight(p, y);
        settle((y - p).abs(), weight * time, q).copysign(y - p)
    }

    fn is_convex_in_label(&self) -> bool {
        true
    }
}

pub(super) const TAU: ParameterDescriptor = within("tau", 0.0, 1.0).default("0.5").meaning("the expectile to predict");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_squared_loss_has_no_half() {
        assert_eq!(Squared.value(3.0, 1.0), 4.0);
        assert_eq!(Squared.derivative(3.0, 1.0), 4.0);
        assert_eq!(Squared.second_derivative(3.0, 1.0), 2.0);
    }

    #[test]
    fn the_flow_of_the_squared_loss_is_exponential_decay() {
        // The residual −2 decays to −2e^(−2·0.5·0.3) in time 0.5 with q = 0.3.
        let u = Squared.importance_step(1.0, 3.0, 0.5, 0.3);
        let p = 1.0 + 0.3 * u;
        assert!((p - (3.0 - 2.0 * (-0.3f64).exp())).abs() < 1e-15);
    }

    #[test]
    fn an_expectile_at_one_half_is_half_the_squared_loss() {
        let half = Expectile::new(0.5).unwrap();
        assert_eq!(half.value(3.0, 1.0), Squared.value(3.0, 1.0) / 2.0);
        assert_eq!(half.derivative(-3.0, 1.0), Squared.derivative(-3.0, 1.0) / 2.0);
    }

    #[test]
    fn a_high_expectile_charges_scores_below_the_label_more() {
        let high = Expectile::new(0.9).unwrap();
        assert_eq!(high.value(0.0, 1.0), 0.9);
        assert!((high.value(2.0, 1.0) - 0.1).abs() < 1e-16);
    }
}
