//! Implicit steps: those whose gradient is taken where they lead to.

use crate::simd::{larger, smaller};

/// The most iterations.
const MOST: usize = 100;

/// The least curvature of a loss: the logistic one is flat far from 0.
const LEAST_CURVATURE: f64 = 1e-3;

/// From this iteration on every other one halves the interval: Newton's steps may go to and fro.
const PATIENCE: usize = 4;

/// Where the score s' = s + q·r(s') is known to this part of its size, it is known well enough.
const PRECISION: f64 = 1e-5;

/// Residuals and curvatures of N scores.
pub(super) type Slopes<const N: usize> = ([f64; N], [f64; N]);

/// The residuals r and the curvatures c ≥ 0.001 at the scores s' = s + q·r(s'), q ≥ 0 being how far each of N
/// scores moves for a step of 1. `slopes` tells both of N scores, `first` is what it tells of s; r falls as the
/// score rises.
///
/// A plain Newton step takes r and c at s: where the loss is flat (a score of −10, say, and a
/// label that says the contrary) it goes far too far. This one never passes the minimum.
///
/// N are solved side by side since each waits most of the time for one exponential after the other.
#[inline(always)]
pub(super) fn implicit<const N: usize>(
    slopes: impl Fn([f64; N]) -> Slopes<N>,
    first: Slopes<N>,
    score: [f64; N],
    q: [f64; N],
) -> Slopes<N> {
    let (residual, mut curvature) = first;
    let mut reached = residual;
    let (mut low, mut high, mut at) = ([0.0; N], [0.0; N], [0.0; N]);
    let mut is_found = [false; N];
    for k in 0..N {
        let farthest = score[k] + q[k] * residual[k];
        is_found[k] = !farthest.is_finite();
        (low[k], high[k]) = (smaller(score[k], farthest), larger(score[k], farthest));
        let newton = score[k] + q[k] * residual[k] / (1.0 + q[k] * curvature[k]);
        at[k] = smaller(high[k], larger(low[k], newton));
    }
    for iteration in 0..MOST {
        if is_found.iter().all(|&is_found| is_found) {
            break;
        }
        let (residuals, curvatures) = slopes(at);
        for k in 0..N {
            let excess = at[k] - score[k] - q[k] * residuals[k];
            high[k] = if excess > 0.0 { at[k] } else { high[k] };
            low[k] = if excess > 0.0 { low[k] } else { at[k] };
            let newton = excess / (1.0 + q[k] * curvatures[k]);
            // The residual at where this step leads, to first order.
            reached[k] = if is_found[k] { reached[k] } else { residuals[k] + newton * curvatures[k] };
            curvature[k] = if is_found[k] { curvature[k] } else { curvatures[k] };
            is_found[k] |= newton.abs() <= PRECISION * larger(at[k].abs(), 1.0);
            let next = at[k] - newton;
            let is_newton = (next >= low[k]) & (next <= high[k]) & (iteration < PATIENCE || iteration % 2 == 0);
            at[k] = if is_newton { next } else { low[k] + (high[k] - low[k]) / 2.0 };
        }
    }
    (reached, curvature.map(|curvature| larger(curvature, LEAST_CURVATURE)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_square_it_is_the_closed_form() {
        for (score, label, q) in [(0.0, 3.0, 0.5), (-2.0, 9.0, 100.0), (5.0, 5.0, 1.0), (1.0, -7.0, 0.0)] {
            let slopes = |s: [f64; 1]| (s.map(|s| label - s), [1.0]);
            let ([residual], _) = implicit(slopes, slopes([score]), [score], [q]);
            let exact = (label - score) / (1.0 + q);
            assert!((residual - exact).abs() < 1e-6 * (1.0 + f64::abs(exact)), "{residual} {exact}");
        }
    }

    #[test]
    fn of_a_logistic_it_solves_its_equation_however_flat_the_start() {
        let sigmoid = |s: f64| 1.0 / (1.0 + (-s).exp());
        let slopes = |s: [f64; 4]| (s.map(|s| sigmoid(-s)), s.map(|s| sigmoid(s) * sigmoid(-s)));
        for score in [-30.0, -3.0, 0.0, 4.0, 40.0] {
            // Side by side, as one that is found must not be changed by what others still need.
            let (scores, q) = ([score; 4], [1e-3, 1.0, 1e3, 1e6]);
            let (residuals, _) = implicit(slopes, slopes(scores), scores, q);
            for (residual, q) in residuals.into_iter().zip(q) {
                let reached = score + q * residual;
                assert!((sigmoid(-reached) / residual - 1.0).abs() < 1e-3, "{score} {q}: {residual}");
            }
        }
    }
}
