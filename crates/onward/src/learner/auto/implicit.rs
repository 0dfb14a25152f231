//! Implicit steps: those whose gradient is taken where they lead to.

/// The most iterations.
const MOST: usize = 100;

/// A loss counts as curved by so much at least: the logistic one is flat far from 0.
const LEAST_CURVATURE: f64 = 1e-3;

/// From this iteration on every other one halves the interval: Newton's steps may go to and fro.
const PATIENCE: usize = 4;

/// Where the score s' = s + q·r(s') is known to this part of its size, it is known well enough.
const PRECISION: f64 = 1e-5;

/// The residual r and the curvature c ≥ 0.001 at the score s' = s + q·r(s'), q ≥ 0 being how far the
/// score moves for a step of 1. `slope` tells both of a score; r falls as the score rises.
///
/// A plain Newton step takes r and c at s: where the loss is flat (a score of −10, say, and a
/// label that says the contrary) it goes far too far. This one never passes the minimum.
pub(super) fn implicit(slope: impl Fn(f64) -> (f64, f64), score: f64, q: f64) -> (f64, f64) {
    let (residual, mut curvature) = slope(score);
    let farthest = score + q * residual;
    if !farthest.is_finite() {
        return (residual, curvature.max(LEAST_CURVATURE));
    }
    let (mut low, mut high) = (score.min(farthest), score.max(farthest));
    let mut at = (score + q * residual / (1.0 + q * curvature)).clamp(low, high);
    let mut reached = residual;
    for iteration in 0..MOST {
        (reached, curvature) = slope(at);
        let excess = at - score - q * reached;
        if excess > 0.0 {
            high = at;
        } else {
            low = at;
        }
        let newton = excess / (1.0 + q * curvature);
        // The residual at where this step leads, to first order.
        reached += newton * curvature;
        if newton.abs() <= PRECISION * at.abs().max(1.0) {
            break;
        }
        let is_inside = at - newton >= low && at - newton <= high;
        let is_newton = is_inside && (iteration < PATIENCE || iteration % 2 == 0);
        at = if is_newton { at - newton } else { low + (high - low) / 2.0 };
    }
    (reached, curvature.max(LEAST_CURVATURE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_square_it_is_the_closed_form() {
        for (score, label, q) in [(0.0, 3.0, 0.5), (-2.0, 9.0, 100.0), (5.0, 5.0, 1.0), (1.0, -7.0, 0.0)] {
            let (residual, _) = implicit(|s| (label - s, 1.0), score, q);
            let exact = (label - score) / (1.0 + q);
            assert!((residual - exact).abs() < 1e-6 * (1.0 + f64::abs(exact)), "{residual} {exact}");
        }
    }

    #[test]
    fn of_a_logistic_it_solves_its_equation_however_flat_the_start() {
        let sigmoid = |s: f64| 1.0 / (1.0 + (-s).exp());
        for score in [-30.0, -3.0, 0.0, 4.0, 40.0] {
            for q in [1e-3, 1.0, 1e3, 1e6] {
                let slope = |s: f64| (sigmoid(-s), sigmoid(s) * sigmoid(-s));
                let (residual, _) = implicit(slope, score, q);
                let reached = score + q * residual;
                assert!((sigmoid(-reached) / residual - 1.0).abs() < 1e-3, "{score} {q}: {residual}");
            }
        }
    }
}
