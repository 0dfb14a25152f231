//! Implicit steps: those whose gradient is taken where they lead to.

/// The most iterations; 3 to 6 are the rule.
const MOST: usize = 20;

/// Where the score s' = s + q·r(s') is known to this part of its size, it is known well enough.
const PRECISION: f64 = 1e-7;

/// The residual r and its curvature c at the score s' = s + q·r(s'), q ≥ 0 being how far the
/// score moves for a step of 1. `slope` tells both of a score; r falls as the score rises.
///
/// A plain Newton step takes r and c at s: where the loss is flat (a score of −10, say, and a
/// label that says the contrary) it goes far too far. This one never passes the minimum.
pub(super) fn implicit(slope: impl Fn(f64) -> (f64, f64), score: f64, q: f64) -> (f64, f64) {
    let (residual, curvature) = slope(score);
    let farthest = score + q * residual;
    let (mut low, mut high) = (score.min(farthest), score.max(farthest));
    let mut at = (score + q * residual / (1.0 + q * curvature)).clamp(low, high);
    for _ in 0..MOST {
        let (residual, curvature) = slope(at);
        let excess = at - score - q * residual;
        if excess > 0.0 {
            high = at;
        } else {
            low = at;
        }
        let newton = at - excess / (1.0 + q * curvature);
        let next = if newton >= low && newton <= high { newton } else { low + (high - low) / 2.0 };
        let moved = (next - at).abs();
        at = next;
        if moved <= PRECISION * at.abs().max(1.0) {
            break;
        }
    }
    slope(at)
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
