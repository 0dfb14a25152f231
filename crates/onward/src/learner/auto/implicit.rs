//! Implicit steps: those whose gradient is taken where they lead to.

/// The most iterations; one or two are the rule.
const MOST: usize = 20;

/// Where the score s' = s + q·r(s') is known to this part of its size, it is known well enough.
const PRECISION: f64 = 1e-5;

/// The residual r and its curvature c at the score s' = s + q·r(s'), q ≥ 0 being how far the
/// score moves for a step of 1. `slope` tells both of a score; r falls as the score rises.
///
/// A plain Newton step takes r and c at s: where the loss is flat (a score of −10, say, and a
/// label that says the contrary) it goes far too far. This one never passes the minimum.
pub(super) fn implicit(slope: impl Fn(f64) -> (f64, f64), score: f64, q: f64) -> (f64, f64) {
    let (residual, mut curvature) = slope(score);
    let farthest = score + q * residual;
    let (mut low, mut high) = (score.min(farthest), score.max(farthest));
    let mut at = (score + q * residual / (1.0 + q * curvature)).clamp(low, high);
    let mut reached = residual;
    for _ in 0..MOST {
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
        at = if at - newton >= low && at - newton <= high { at - newton } else { low + (high - low) / 2.0 };
    }
    (reached, curvature)
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
                let slope = |s: f64| (1.0 - sigmoid(s), (sigmoid(s) * (1.0 - sigmoid(s))).max(1e-3));
                let (residual, _) = implicit(slope, score, q);
                let reached = score + q * residual;
                assert!((1.0 - sigmoid(reached) - residual).abs() < 1e-4, "{score} {q}");
            }
        }
    }
}
