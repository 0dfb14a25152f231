//! The Poisson loss, for counts and rates.

use super::conjugate::x_log_x;
use super::flow::{faded, slide};
use super::softmax::log_sum_exp;
use super::{Evaluation, InverseLink, Loss, LossKind, ScaledConjugate, Task, expect_label};
use crate::Error;

/// The score above which the loss is straight, so that it stays finite.
pub(crate) const STRAIGHT_FROM: f64 = 50.0;

/// e^50, the rate at that score and the largest label.
const LARGEST_RATE: f64 = 5.184_705_528_587_072e21;

/// The Poisson loss with log link, ℓ(p, y) = e^p − yp, for labels y ≥ 0.
///
/// The negative log likelihood of a count y at rate e^p, without its constant
/// ln y!, so it may be negative. g = e^p − y; the best constant is the
/// logarithm of the mean label, held within ±50. Above p = 50 the loss
/// continues along its tangent (continuously differentiable, convex), so that
/// it stays finite; a label above e^50 would leave it without a minimum and is
/// refused.
///
/// # Gradient flow
/// With s = e^(−p), ds/dτ = q(1 − ys), so s decays to 1/y. With the time
/// K = ∫₀^τ e^(−yqs) ds that counts, s(τ) = s·e^(−yqτ) + qK, hence
/// p(τ) − p = −ln(1 + qK(e^p − y)), where nothing cancels but e^p − y itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Poisson;

impl Loss for Poisson {
    fn name(&self) -> String {
        "poisson".into()
    }

    fn task(&self) -> Task {
        Task::Regression
    }

    fn value(&self, p: f64, y: f64) -> f64 {
        if p <= STRAIGHT_FROM {
            libm::exp(p) - y * p
        } else {
            (LARGEST_RATE - y) * p - LARGEST_RATE * (STRAIGHT_FROM - 1.0)
        }
    }

    fn derivative(&self, p: f64, y: f64) -> f64 {
        InverseLink::Log.response(p) - y
    }

    /// e^p up to p = 50, 0 above.
    fn second_derivative(&self, p: f64, _: f64) -> f64 {
        if p <= STRAIGHT_FROM { libm::exp(p) } else { 0.0 }
    }

    fn kind(&self) -> LossKind {
        LossKind::Poisson
    }

    /// The least loss is that of the rate y.
    fn conjugate(&self, p: f64, y: f64, evaluation: Evaluation) -> Option<ScaledConjugate> {
        Some(ScaledConjugate::chord(p, evaluation, y - x_log_x(y)))
    }

    fn is_curvature_unimodal(&self) -> bool {
        true
    }

    fn lipschitz(&self, range: f64) -> f64 {
        InverseLink::Log.response(range)
    }

    fn inverse_link(&self) -> InverseLink {
        InverseLink::Log
    }

    fn importance_step(&self, p: f64, y: f64, time: f64, q: f64) -> f64 {
        let speed = LARGEST_RATE - y;
        let arrival = (p - STRAIGHT_FROM) / (q * speed);
        if p <= STRAIGHT_FROM {
            curved_flow(p, y, time, q)
        } else if time > arrival {
            (STRAIGHT_FROM - p) / q + curved_flow(STRAIGHT_FROM, y, time - arrival, q)
        } else {
            -slide(p - STRAIGHT_FROM, speed, time, q)
        }
    }

    fn best_constant(&self, mean_label: f64) -> Option<f64> {
        Some(libm::log(mean_label).clamp(-STRAIGHT_FROM, STRAIGHT_FROM))
    }

    fn check_label(&self, y: f64) -> Result<(), Error> {
        let is_allowed = (0.0..=LARGEST_RATE).contains(&y);
        expect_label(self, is_allowed, y, "a count or rate from 0 to e^50 (5.18e21)")
    }
}

/// The flow where the loss is e^p − yp.
fn curved_flow(p: f64, y: f64, time: f64, q: f64) -> f64 {
    let slope = libm::exp(p) - y;
    let counts = faded(y * q, time);
    let x = (q * counts).min(f64::MAX) * slope;
    if x.abs() <= 0.5 {
        -slope * counts * log1p_ratio(x)
    } else {
        -log_sum_exp(-y * q * time, p + libm::log((q * counts).min(f64::MAX))) / q
    }
}

/// ln(1 + x)/x, 1 at 0.
fn log1p_ratio(x: f64) -> f64 {
    if x == 0.0 { 1.0 } else { libm::log1p(x) / x }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_rate_is_that_of_the_largest_curved_score() {
        assert_eq!(libm::exp(STRAIGHT_FROM), LARGEST_RATE);
        let (before, after) = (Poisson.value(50.0, 3.0), Poisson.value(50.000_000_1, 3.0));
        assert!((after - before - 1e-7 * LARGEST_RATE).abs() < 1e-7 * after);
    }

    #[test]
    fn above_fifty_the_loss_is_straight_and_finite() {
        assert_eq!(Poisson.derivative(1000.0, 2.0), LARGEST_RATE - 2.0);
        assert!((Poisson.value(51.0, 0.0) / LARGEST_RATE - 2.0).abs() < 1e-13);
        assert!(Poisson.value(1e77, 1e21).is_finite());
        let rise = Poisson.value(60.0, 1e21) - Poisson.value(55.0, 1e21);
        assert!((rise / (5.0 * (LARGEST_RATE - 1e21)) - 1.0).abs() < 1e-13);
    }

    #[test]
    fn the_flow_follows_the_closed_form_in_the_inverse_rate() {
        for (p, y, time, q) in [(0.3f64, 2.0, 0.7, 0.4), (2.0, 0.5, 3.0, 1.0), (-3.0, 4.0, 0.2, 5.0)] {
            let (s, q_time) = ((-p).exp(), q * time);
            let s = 1.0 / y + (s - 1.0 / y) * (-y * q_time).exp();
            let found: f64 = p + q * Poisson.importance_step(p, y, time, q);
            assert!((found + s.ln()).abs() < 1e-14, "{found}");
        }
        let without: f64 = 1.0 + 0.5 * Poisson.importance_step(1.0, 0.0, 3.0, 0.5);
        assert!((without + ((-1f64).exp() + 1.5).ln()).abs() < 1e-15);
    }

    #[test]
    fn the_flow_comes_down_the_straight_stretch_into_the_curve() {
        // 10 at speed e^50, and the rest of the time from 50 on.
        let q = 1e-20;
        let arrival = 10.0 / (q * (LARGEST_RATE - 3.0));
        let found = 60.0 + q * Poisson.importance_step(60.0, 3.0, arrival + 0.25, q);
        let expected = 50.0 + q * Poisson.importance_step(50.0, 3.0, 0.25, q);
        assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        assert!(expected < 49.9);
    }

    #[test]
    fn the_flow_arrives_at_the_logarithm_of_the_label() {
        for (p, y) in [(-1e6, 7.0), (0.0, 1e-9), (80.0, 2.0), (1000.0, 1e21), (-700.0, 1e-300)] {
            let end: f64 = p + Poisson.importance_step(p, y, 1e305, 1.0);
            assert!((end - f64::ln(y)).abs() <= 1e-15 * (p.abs() + 700.0), "{p} {y}: {end}");
        }
    }
}
