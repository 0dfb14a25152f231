//! Absolute losses: the median, the quantiles, and tubes without charge.

use super::gap::{GapCost, GapLoss};
use super::{Kinks, LossKind, Task};
use crate::Error;
use crate::parameter::{ParameterDescriptor, number, within};

/// The absolute loss, ℓ(p, y) = |p − y|.
///
/// Convex and 1-Lipschitz, with a kink at p = y where the subgradient is 0; its
/// best constant is the median. Gradient flow moves at constant speed q and
/// stops at the label.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Absolute;

impl GapLoss for Absolute {
    const TASK: Task = Task::Regression;

    fn full_name(self) -> String {
        "absolute".into()
    }

    fn cost(self, _: f64, _: f64) -> GapCost {
        GapCost::Straight(1.0)
    }

    fn bends(self, y: f64) -> Option<Kinks> {
        Some(Kinks::one(-1.0, y, 2.0))
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
}

impl GapLoss for Quantile {
    const TASK: Task = Task::Regression;

    fn full_name(self) -> String {
        format!("quantile:tau={}", self.tau)
    }

    fn cost(self, p: f64, y: f64) -> GapCost {
        GapCost::Straight(if p < y { self.tau } else { 1.0 - self.tau })
    }

    fn bends(self, y: f64) -> Option<Kinks> {
        Some(Kinks::one(-self.tau, y, 1.0))
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
}

impl GapLoss for EpsilonInsensitive {
    const TASK: Task = Task::Regression;
    const KIND: LossKind = LossKind::EpsilonInsensitive;

    fn full_name(self) -> String {
        format!("epsilon-insensitive:epsilon={}", self.epsilon)
    }

    fn cost(self, _: f64, _: f64) -> GapCost {
        GapCost::Straight(1.0)
    }

    fn tolerance(self) -> f64 {
        self.epsilon
    }

    fn bends(self, y: f64) -> Option<Kinks> {
        Some(Kinks { slope: -1.0, jumps: [(y - self.epsilon, 1.0), (y + self.epsilon, 1.0)] })
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
}

impl GapLoss for SquaredEpsilonInsensitive {
    const TASK: Task = Task::Regression;
    const KIND: LossKind = LossKind::SquaredEpsilonInsensitive;

    fn full_name(self) -> String {
        format!("squared-epsilon-insensitive:epsilon={}", self.epsilon)
    }

    fn cost(self, _: f64, _: f64) -> GapCost {
        GapCost::Square
    }

    fn tolerance(self) -> f64 {
        self.epsilon
    }
}

pub(super) const TAU: ParameterDescriptor = within("tau", 0.0, 1.0).default("0.5").meaning("the quantile to predict");

pub(super) const EPSILON: ParameterDescriptor =
    number("epsilon", 0.0..=f64::MAX).default("0.1").meaning("errors up to this cost nothing");

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::Loss;

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
