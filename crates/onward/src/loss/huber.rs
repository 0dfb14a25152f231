//! Huber's loss: a square near the label, straight far from it.

use super::Task;
use super::gap::{GapCost, GapLoss};
use crate::Error;
use crate::parameter::{ParameterDescriptor, within};

/// Huber's loss with threshold δ: with r = p − y, ℓ = r² where |r| ≤ δ and
/// δ(2|r| − δ) outside.
///
/// It meets the squared loss inside (no half), so g = 2r clipped to ±2δ, and an
/// outlier pulls no harder than 2δ (Huber 1964). 2-smooth; ℓ'' is 2 for
/// |r| ≤ δ, ends included, and 0 outside. Gradient flow goes straight at speed
/// 2δq until |r| = δ and decays as the squared loss's from there.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Huber {
    delta: f64,
}

impl Huber {
    /// Huber's loss with threshold δ.
    ///
    /// # Errors
    /// Refuses a δ that is not a finite number above 0.
    pub fn new(delta: f64) -> Result<Self, Error> {
        Ok(Self { delta: DELTA.check(delta)? })
    }
}

impl GapLoss for Huber {
    const TASK: Task = Task::Regression;

    fn full_name(self) -> String {
        format!("huber:delta={}", self.delta)
    }

    fn cost(self, _: f64, _: f64) -> GapCost {
        GapCost::Huber(self.delta)
    }
}

pub(super) const DELTA: ParameterDescriptor =
    within("delta", 0.0, f64::INFINITY).default("1").meaning("where it becomes linear");

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::Loss;

    #[test]
    fn inside_its_threshold_huber_is_the_squared_loss() {
        let loss = Huber::new(1.5).unwrap();
        for p in [-1.5, -0.3, 0.0, 1.5] {
            assert_eq!(loss.value(p, 0.0), p * p);
            assert_eq!(loss.derivative(p, 0.0), 2.0 * p);
        }
    }

    #[test]
    fn outside_its_threshold_huber_is_straight() {
        let loss = Huber::new(1.5).unwrap();
        assert_eq!(loss.value(4.0, 0.0), 2.0 * 1.5 * 4.0 - 1.5 * 1.5);
        assert_eq!(loss.derivative(4.0, 0.0), 3.0);
        assert_eq!(loss.derivative(-4.0, 0.0), -3.0);
    }

    #[test]
    fn the_flow_arrives_at_the_threshold_after_a_straight_stretch() {
        // From 5 to 1 at speed 2·1·0.5 takes 4; then decay e^(−2·0.5·1).
        let loss = Huber::new(1.0).unwrap();
        assert_eq!(5.0 + 0.5 * loss.importance_step(5.0, 0.0, 4.0, 0.5), 1.0);
        let later = 5.0 + 0.5 * loss.importance_step(5.0, 0.0, 5.0, 0.5);
        assert!((later - (-1f64).exp()).abs() < 1e-15);
    }
}
