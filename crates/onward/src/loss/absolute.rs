//! Absolute losses: the median, the quantiles, and tubes without charge.

use std::sync::Arc;

use super::flow::{settle, slide};
use super::{Curvature, Kinks, Loss, LossDescriptor, LossKind, Task, finite_label};
use crate::Error;
use crate::parameter::{ParameterDescriptor, number, within};

/// The sign of a number: −1, 0 or 1.
fn sign(r: f64) -> f64 {
    if r == 0.0 { 0.0 } else { r.signum() }
}

/// The absolute loss, ℓ(p, y) = |p − y|.
///
/// Convex and 1-Lipschitz, with a kink at p = y where the subgradient is 0; its
/// best constant is the median. Gradient flow moves at constant speed q and
/// stops at the label.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Absolute;

impl Loss for Absolute {
    fn name(&self) -> String {
        "absolute".into()
    }

    fn task(&self) -> Task {
        Task::Regression
    }

    fn value(&self, p: f64, y: f64) -> f64 {
        (p - y).abs()
    }

    fn derivative(&self, p: f64, y: f64) -> f64 {
        sign(p - y)
    }

    fn second_derivative(&self, _: f64, _: f64) -> f64 {
        0.0
    }

    fn curvature(&self) -> Curvature {
        Curvature::Convex
    }

    fn lipschitz(&self, _: f64) -> f64 {
        1.0
    }

    fn importance_step(&self, p: f64, y: f64, time: f64, q: f64) -> f64 {
        slide((y - p).abs(), 1.0, time, q).copysign(y - p)
    }

    fn kinks(&self, y: f64) -> Option<Kinks> {
        Some(Kinks::one(-1.0, y, 2.0))
    }

    fn check_label(&self, y: f64) -> Result<(), Error> {
        finite_label(self, y)
    }
}

/// The quantile (pinball) loss: ℓ(p, y) = τ(y − p) where p < y and
/// (1 − τ)(p − y) where p > y.
///
/// Its best constant is the τ-quantile of the labels (Koenker and Bassett
/// 1978); at τ = ½ it is half the absolute loss. g is −τ below the label, 1 − τ
/// above, and 0 at p = y. Gradient flow moves at the constant speed of its side
/// and stops at the label.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quantile {
    tau: f64,
}

impl Quantile {
    /// The loss of the τ-quantile.
    ///
    /// # Errors
    /// Refuses a τ outside (0, 1).
    pub fn new(tau: f64) -> Result<Self, Error> {
        Ok(Self { tau: TAU.check(tau)? })
    }

    /// |g| on the side that the score is on.
    fn slope(self, p: f64, y: f64) -> f64 {
        if p < y { self.tau } else { 1.0 - self.tau }
    }
}

impl Loss for Quantile {
    fn name(&self) -> String {
        format!("quantile:tau={}", self.tau)
    }

    fn task(&self) -> Task {
        Task::Regression
    }

    fn value(&self, p: f64, y: f64) -> f64 {
        self.slope(p, y) * (p - y).abs()
    }

    fn derivative(&self, p: f64, y: f64) -> f64 {
        self.slope(p, y) * sign(p - y)
    }

    fn second_derivative(&self, _: f64, _: f64) -> f64 {
        0.0
    }

    fn curvature(&self) -> Curvature {
        Curvature::Convex
    }

    fn lipschitz(&self, _: f64) -> f64 {
        self.tau.max(1.0 - self.tau)
    }

    fn importance_step(&self, p: f64, y: f64, time: f64, q: f64) -> f64 {
        slide((y - p).abs(), self.slope(p, y), time, q).copysign(y - p)
    }

    fn kinks(&self, y: f64) -> Option<Kinks> {
        Some(Kinks::one(-self.tau, y, 1.0))
    }

    fn check_label(&self, y: f64) -> Result<(), Error> {
        finite_label(self, y)
    }
}

/// The ε-insensitive loss, ℓ(p, y) = max(0, |p − y| − ε).
///
/// Errors up to ε cost nothing (Vapnik 1995): for support vector regression and
/// passive-aggressive learners. Convex and 1-Lipschitz; at |p − y| = ε the
/// subgradient is 0. Gradient flow moves at constant speed q and stops at the
/// edge of the tube.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EpsilonInsensitive {
    epsilon: f64,
}

impl EpsilonInsensitive {
    /// The loss with a tube of half width ε.
    ///
    /// # Errors
    /// Refuses an ε that is negative or not finite.
    pub fn new(epsilon: f64) -> Result<Self, Error> {
        Ok(Self { epsilon: EPSILON.check(epsilon)? })
    }

    /// How far the score is outside the tube; at most 0 inside.
    fn excess(self, p: f64, y: f64) -> f64 {
        (p - y).abs() - self.epsilon
    }
}

impl Loss for EpsilonInsensitive {
    fn name(&self) -> String {
        format!("epsilon-insensitive:epsilon={}", self.epsilon)
    }

    fn task(&self) -> Task {
        Task::Regression
    }

    fn value(&self, p: f64, y: f64) -> f64 {
        self.excess(p, y).max(0.0)
    }

    fn derivative(&self, p: f64, y: f64) -> f64 {
        if self.excess(p, y) > 0.0 { sign(p - y) } else { 0.0 }
    }

    fn second_derivative(&self, _: f64, _: f64) -> f64 {
        0.0
    }

    fn curvature(&self) -> Curvature {
        Curvature::Convex
    }

    fn kind(&self) -> LossKind {
        LossKind::EpsilonInsensitive
    }

    fn lipschitz(&self, range: f64) -> f64 {
        if 2.0 * range > self.epsilon { 1.0 } else { 0.0 }
    }

    fn importance_step(&self, p: f64, y: f64, time: f64, q: f64) -> f64 {
        slide(self.excess(p, y), 1.0, time, q).copysign(y - p)
    }

    fn kinks(&self, y: f64) -> Option<Kinks> {
        Some(Kinks { slope: -1.0, jumps: [(y - self.epsilon, 1.0), (y + self.epsilon, 1.0)] })
    }

    fn check_label(&self, y: f64) -> Result<(), Error> {
        finite_label(self, y)
    }
}

/// The squared ε-insensitive loss, ℓ(p, y) = max(0, |p − y| − ε)².
///
/// 2-smooth, g = 2·sign(p − y)·max(0, |p − y| − ε); ℓ'' is 2 outside the tube,
/// 0 inside and on its edge. In gradient flow the distance to the tube decays
/// as e^(−2qτ).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SquaredEpsilonInsensitive {
    epsilon: f64,
}

impl SquaredEpsilonInsensitive {
    /// The loss with a tube of half width ε.
    ///
    /// # Errors
    /// Refuses an ε that is negative or not finite.
    pub fn new(epsilon: f64) -> Result<Self, Error> {
        Ok(Self { epsilon: EPSILON.check(epsilon)? })
    }

    /// How far the score is outside the tube, 0 inside.
    fn excess(self, p: f64, y: f64) -> f64 {
        ((p - y).abs() - self.epsilon).max(0.0)
    }
}

impl Loss for SquaredEpsilonInsensitive {
    fn name(&self) -> String {
        format!("squared-epsilon-insensitive:epsilon={}", self.epsilon)
    }

    fn task(&self) -> Task {
        Task::Regression
    }

    fn value(&self, p: f64, y: f64) -> f64 {
        self.excess(p, y) * self.excess(p, y)
    }

    fn derivative(&self, p: f64, y: f64) -> f64 {
        2.0 * self.excess(p, y) * sign(p - y)
    }

    fn second_derivative(&self, p: f64, y: f64) -> f64 {
        if self.excess(p, y) > 0.0 { 2.0 } else { 0.0 }
    }

    fn curvature(&self) -> Curvature {
        Curvature::Smooth(2.0)
    }

    fn kind(&self) -> LossKind {
        LossKind::SquaredEpsilonInsensitive
    }

    fn lipschitz(&self, range: f64) -> f64 {
        2.0 * (2.0 * range - self.epsilon).max(0.0)
    }

    fn importance_step(&self, p: f64, y: f64, time: f64, q: f64) -> f64 {
        settle(self.excess(p, y), time, q).copysign(y - p)
    }

    fn check_label(&self, y: f64) -> Result<(), Error> {
        finite_label(self, y)
    }
}

pub(super) const ABSOLUTE: LossDescriptor =
    LossDescriptor::new("absolute", "|p-y|; predicts the median", |_| Ok(Arc::new(Absolute)));

const TAU: ParameterDescriptor = within("tau", 0.0, 1.0).default("0.5").meaning("the quantile to predict");

pub(super) const QUANTILE: LossDescriptor =
    LossDescriptor::new("quantile", "pinball loss; predicts the tau-quantile", |it| {
        Ok(Arc::new(Quantile::new(it.number("tau"))?))
    })
    .with(&[TAU], &["quantile:tau=0.2"]);

const EPSILON: ParameterDescriptor =
    number("epsilon", 0.0..=f64::MAX).default("0.1").meaning("errors up to this cost nothing");

pub(super) const EPSILON_INSENSITIVE: LossDescriptor =
    LossDescriptor::new("epsilon-insensitive", "max(0, |p-y|-epsilon): errors up to epsilon cost nothing", |it| {
        Ok(Arc::new(EpsilonInsensitive::new(it.number("epsilon"))?))
    })
    .with(&[EPSILON], &["epsilon-insensitive:epsilon=0", "epsilon-insensitive:epsilon=0.5"]);

pub(super) const SQUARED_EPSILON_INSENSITIVE: LossDescriptor = LossDescriptor::new(
    "squared-epsilon-insensitive",
    "max(0, |p-y|-epsilon)^2: the square of epsilon-insensitive",
    |it| Ok(Arc::new(SquaredEpsilonInsensitive::new(it.number("epsilon"))?)),
)
.with(&[EPSILON], &["squared-epsilon-insensitive:epsilon=0.5"]);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_subgradient_at_the_label_is_zero() {
        assert_eq!(Absolute.derivative(2.0, 2.0), 0.0);
        assert_eq!(Quantile::new(0.9).unwrap().derivative(2.0, 2.0), 0.0);
        assert_eq!(Absolute.importance_step(2.0, 2.0, 1e9, 0.0), 0.0);
    }

    #[test]
    fn the_pinball_leans_towards_its_quantile() {
        let loss = Quantile::new(0.9).unwrap();
        assert_eq!(loss.value(0.0, 2.0), 1.8);
        assert_eq!(loss.derivative(0.0, 2.0), -0.9);
        assert!((loss.derivative(4.0, 2.0) - 0.1).abs() < 1e-16);
    }

    #[test]
    fn inside_the_tube_nothing_is_charged_and_nothing_moves() {
        let straight = EpsilonInsensitive::new(0.5).unwrap();
        let squared = SquaredEpsilonInsensitive::new(0.5).unwrap();
        for loss in [&straight as &dyn Loss, &squared] {
            for p in [1.5, 2.0, 2.5] {
                assert_eq!(loss.value(p, 2.0), 0.0);
                assert_eq!(loss.derivative(p, 2.0), 0.0);
                assert_eq!(loss.importance_step(p, 2.0, 1e9, 1.0), 0.0);
            }
        }
    }

    #[test]
    fn the_flow_stops_at_the_edge_of_the_tube() {
        let loss = EpsilonInsensitive::new(0.5).unwrap();
        assert_eq!(5.0 + 2.0 * loss.importance_step(5.0, 2.0, 1e9, 2.0), 2.5);
        assert_eq!(-1.0 + 2.0 * loss.importance_step(-1.0, 2.0, 1e9, 2.0), 1.5);
    }
}
