//! Losses of the margin m = yp for labels y ∈ {−1, 1}.

use std::sync::Arc;

use super::flow::{settle, slide, slide_then_settle};
use super::huber::huber;
use super::{Curvature, Kinks, Loss, LossDescriptor, LossKind, Task, sign_label};
use crate::Error;

/// The hinge loss, ℓ(p, y) = max(0, 1 − yp).
///
/// Convex, 1-Lipschitz, kinked at yp = 1, where the subgradient is 0: a margin
/// of exactly 1 makes no update. It lies above the 0/1 loss. Gradient flow
/// moves the margin at constant speed q and stops at 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Hinge;

impl Loss for Hinge {
    fn name(&self) -> String {
        "hinge".into()
    }

    fn task(&self) -> Task {
        Task::Binary
    }

    fn value(&self, p: f64, y: f64) -> f64 {
        (1.0 - y * p).max(0.0)
    }

    fn derivative(&self, p: f64, y: f64) -> f64 {
        if y * p < 1.0 { -y } else { 0.0 }
    }

    fn second_derivative(&self, _: f64, _: f64) -> f64 {
        0.0
    }

    fn curvature(&self) -> Curvature {
        Curvature::Convex
    }

    fn kind(&self) -> LossKind {
        LossKind::Hinge
    }

    fn lipschitz(&self, _: f64) -> f64 {
        1.0
    }

    fn importance_step(&self, p: f64, y: f64, time: f64, q: f64) -> f64 {
        y * slide(1.0 - y * p, 1.0, time, q)
    }

    fn kinks(&self, y: f64) -> Option<Kinks> {
        Some(Kinks::one((-y).min(0.0), y, 1.0))
    }

    fn check_label(&self, y: f64) -> Result<(), Error> {
        sign_label(self, y)
    }
}

/// The squared hinge loss, ℓ(p, y) = max(0, 1 − yp)².
///
/// 2-smooth, g = −2y·max(0, 1 − yp); ℓ'' is 2 for yp < 1 and 0 from there on.
/// In gradient flow the shortfall 1 − yp decays as e^(−2qτ).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SquaredHinge;

impl Loss for SquaredHinge {
    fn name(&self) -> String {
        "squared-hinge".into()
    }

    fn task(&self) -> Task {
        Task::Binary
    }

    fn value(&self, p: f64, y: f64) -> f64 {
        let shortfall = (1.0 - y * p).max(0.0);
        shortfall * shortfall
    }

    fn derivative(&self, p: f64, y: f64) -> f64 {
        -2.0 * y * (1.0 - y * p).max(0.0)
    }

    fn second_derivative(&self, p: f64, y: f64) -> f64 {
        if y * p < 1.0 { 2.0 } else { 0.0 }
    }

    fn curvature(&self) -> Curvature {
        Curvature::Smooth(2.0)
    }

    fn kind(&self) -> LossKind {
        LossKind::SquaredHinge
    }

    fn lipschitz(&self, range: f64) -> f64 {
        2.0 * (1.0 + range)
    }

    fn importance_step(&self, p: f64, y: f64, time: f64, q: f64) -> f64 {
        y * settle(1.0 - y * p, time, q)
    }

    fn check_label(&self, y: f64) -> Result<(), Error> {
        sign_label(self, y)
    }
}

/// The modified Huber loss: max(0, 1 − yp)² for yp ≥ −1 and −4yp below.
///
/// The squared hinge, continued by its tangent from a shortfall of 2 on, so
/// that a gross mistake pulls no harder than 4 (Zhang 2004). 2-smooth; ℓ'' is 2
/// for −1 ≤ yp < 1 and 0 elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ModifiedHuber;

/// The shortfall 1 − yp from which on the modified Huber loss is straight.
const STRAIGHT_FROM: f64 = 2.0;

impl Loss for ModifiedHuber {
    fn name(&self) -> String {
        "modified-huber".into()
    }

    fn task(&self) -> Task {
        Task::Binary
    }

    fn value(&self, p: f64, y: f64) -> f64 {
        huber((1.0 - y * p).max(0.0), STRAIGHT_FROM)
    }

    fn derivative(&self, p: f64, y: f64) -> f64 {
        -2.0 * y * (1.0 - y * p).clamp(0.0, STRAIGHT_FROM)
    }

    fn second_derivative(&self, p: f64, y: f64) -> f64 {
        let shortfall = 1.0 - y * p;
        if shortfall > 0.0 && shortfall <= STRAIGHT_FROM { 2.0 } else { 0.0 }
    }

    fn curvature(&self) -> Curvature {
        Curvature::Smooth(2.0)
    }

    fn lipschitz(&self, range: f64) -> f64 {
        2.0 * (1.0 + range).min(STRAIGHT_FROM)
    }

    fn importance_step(&self, p: f64, y: f64, time: f64, q: f64) -> f64 {
        y * slide_then_settle(1.0 - y * p, STRAIGHT_FROM, time, q)
    }

    fn check_label(&self, y: f64) -> Result<(), Error> {
        sign_label(self, y)
    }
}

/// The perceptron's loss, ℓ(p, y) = max(0, −yp).
///
/// Convex and 1-Lipschitz, kinked at 0, where the subgradient is −y: a zero
/// score is a mistake. The constant predictor 0 pays nothing, so it says
/// nothing about regret: charge [`ZeroOne`] instead.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PerceptronLoss;

impl Loss for PerceptronLoss {
    fn name(&self) -> String {
        "perceptron".into()
    }

    fn task(&self) -> Task {
        Task::Binary
    }

    fn value(&self, p: f64, y: f64) -> f64 {
        (-y * p).max(0.0)
    }

    fn derivative(&self, p: f64, y: f64) -> f64 {
        if y * p <= 0.0 { -y } else { 0.0 }
    }

    fn second_derivative(&self, _: f64, _: f64) -> f64 {
        0.0
    }

    fn curvature(&self) -> Curvature {
        Curvature::Convex
    }

    fn kind(&self) -> LossKind {
        LossKind::Perceptron
    }

    fn lipschitz(&self, _: f64) -> f64 {
        1.0
    }

    /// The plain step y·time on a mistake, **not** gradient flow: flow would
    /// stop at the zero score, which is a mistake still, and w = 0 would never
    /// learn.
    fn importance_step(&self, p: f64, y: f64, time: f64, _: f64) -> f64 {
        -self.derivative(p, y) * time
    }

    fn kinks(&self, y: f64) -> Option<Kinks> {
        Some(Kinks::one((-y).min(0.0), 0.0, 1.0))
    }

    fn check_label(&self, y: f64) -> Result<(), Error> {
        sign_label(self, y)
    }
}

/// The 0/1 loss: 1 where the sign of the score is not the label, else 0. A
/// score of 0 predicts 1.
///
/// Not convex: its derivative is 0 everywhere, nothing learns from it, and no
/// certificate applies. It is there to charge the perceptron, whose mistakes
/// are what its bounds count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ZeroOne;

impl Loss for ZeroOne {
    fn name(&self) -> String {
        "zero-one".into()
    }

    fn task(&self) -> Task {
        Task::Binary
    }

    fn value(&self, p: f64, y: f64) -> f64 {
        if (p >= 0.0) == (y > 0.0) { 0.0 } else { 1.0 }
    }

    fn derivative(&self, _: f64, _: f64) -> f64 {
        0.0
    }

    fn second_derivative(&self, _: f64, _: f64) -> f64 {
        0.0
    }

    fn curvature(&self) -> Curvature {
        Curvature::None
    }

    /// 0: the largest of derivatives that are all 0, not a bound on how fast
    /// the loss jumps.
    fn kind(&self) -> LossKind {
        LossKind::ZeroOne
    }

    fn lipschitz(&self, _: f64) -> f64 {
        0.0
    }

    fn importance_step(&self, _: f64, _: f64, _: f64, _: f64) -> f64 {
        0.0
    }

    fn check_label(&self, y: f64) -> Result<(), Error> {
        sign_label(self, y)
    }
}

pub(super) const HINGE: LossDescriptor =
    LossDescriptor::new("hinge", "max(0, 1-yp) for labels -1 and 1", |_| Ok(Arc::new(Hinge)));

pub(super) const SQUARED_HINGE: LossDescriptor =
    LossDescriptor::new("squared-hinge", "max(0, 1-yp)^2 for labels -1 and 1", |_| Ok(Arc::new(SquaredHinge)));

pub(super) const MODIFIED_HUBER: LossDescriptor =
    LossDescriptor::new("modified-huber", "squared hinge, linear below a margin of -1", |_| {
        Ok(Arc::new(ModifiedHuber))
    });

pub(super) const PERCEPTRON: LossDescriptor =
    LossDescriptor::new("perceptron", "max(0, -yp) for labels -1 and 1; a score of 0 costs nothing", |_| {
        Ok(Arc::new(PerceptronLoss))
    });

pub(super) const ZERO_ONE: LossDescriptor = LossDescriptor::new(
    "zero-one",
    "1 if the sign is wrong, else 0; it has no slope, so that only perceptrons take \
                                     it",
    |_| Ok(Arc::new(ZeroOne)),
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_margin_of_exactly_one_makes_no_hinge_update() {
        for y in [-1.0, 1.0] {
            assert_eq!(Hinge.derivative(y, y), 0.0);
            assert_eq!(Hinge.importance_step(y, y, 1.0, 0.0), 0.0);
            assert_eq!(Hinge.derivative(0.999 * y, y), -y);
        }
    }

    #[test]
    fn the_hinge_flow_stops_at_the_margin() {
        assert_eq!(-2.0 + 0.5 * Hinge.importance_step(-2.0, 1.0, 4.0, 0.5), 0.0);
        assert_eq!(-2.0 + 0.5 * Hinge.importance_step(-2.0, 1.0, 1e9, 0.5), 1.0);
        assert_eq!(2.0 + 0.5 * Hinge.importance_step(2.0, -1.0, 1e9, 0.5), -1.0);
    }

    #[test]
    fn modified_huber_is_straight_below_a_margin_of_minus_one() {
        assert_eq!(ModifiedHuber.value(-3.0, 1.0), 12.0);
        assert_eq!(ModifiedHuber.value(-1.0, 1.0), 4.0);
        assert_eq!(ModifiedHuber.derivative(-3.0, 1.0), -4.0);
        assert_eq!(ModifiedHuber.value(0.5, 1.0), SquaredHinge.value(0.5, 1.0));
        assert_eq!(ModifiedHuber.value(1.5, 1.0), 0.0);
    }

    #[test]
    fn a_zero_score_is_a_mistake_of_the_perceptron() {
        for y in [-1.0, 1.0] {
            assert_eq!(PerceptronLoss.derivative(0.0, y), -y);
            assert_eq!(PerceptronLoss.derivative(1e-300 * y, y), 0.0);
        }
    }

    #[test]
    fn the_perceptron_takes_the_plain_step_and_goes_beyond_zero() {
        assert_eq!(PerceptronLoss.importance_step(0.0, -1.0, 1.0, 5.0), -1.0);
        assert_eq!(PerceptronLoss.importance_step(-2.0, 1.0, 3.0, 5.0), 3.0);
        assert_eq!(PerceptronLoss.importance_step(2.0, 1.0, 3.0, 5.0), 0.0);
    }

    #[test]
    fn a_zero_score_predicts_the_positive_class() {
        assert_eq!(ZeroOne.value(0.0, 1.0), 0.0);
        assert_eq!(ZeroOne.value(0.0, -1.0), 1.0);
        assert_eq!(ZeroOne.value(-0.1, 1.0), 1.0);
        assert_eq!(ZeroOne.value(-0.1, -1.0), 0.0);
    }
}
