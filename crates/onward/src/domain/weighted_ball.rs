//! The L2 ball, with projection in the norm √Σ s_i w_i², s_i > 0: what AdaGrad needs.
//!
//! The nearest point of ‖w‖₂ ≤ U to v in that norm is w_i = s_i v_i/(s_i + λ), λ = 0 inside,
//! otherwise the one number with ‖w‖ = U, found by Newton's method on 1/‖w‖ − 1/U (Moré,
//! Sorensen 1983), which comes from the left without overshooting.
//!
//! Cost: O(d) an iteration, usually fewer than ten.

/// Newton's method needs fewer than ten steps; each at least halves what is left when
/// the weights s differ by hundreds of orders of magnitude.
const MOST_STEPS: usize = 200;

/// λ for pairs (s_i, v_i): 0 when ‖v‖ ≤ `radius`.
///
/// ```
/// // s = 1 for both: the ordinary projection, v/(1 + λ) with 1 + λ = ‖v‖.
/// let lambda = onward::domain::weighted_ball::multiplier(&[(1.0, 3.0), (1.0, 4.0)], 1.0);
/// assert!((lambda - 4.0).abs() < 1e-12);
/// ```
pub fn multiplier(coordinates: &[(f64, f64)], radius: f64) -> f64 {
    let mut lambda = 0.0;
    for _ in 0..MOST_STEPS {
        let (mut square, mut slope) = (0.0, 0.0);
        for &(s, v) in coordinates {
            if v != 0.0 {
                // In units of the radius: v² neither overflows nor vanishes.
                let w = shrunk(s, v, lambda) / radius;
                square += w * w;
                slope += w * w / (s + lambda);
            }
        }
        let excess = square.sqrt() - 1.0;
        // What is left is rounding.
        if excess <= 1e-15 || slope == 0.0 {
            break;
        }
        let next = lambda + excess * (square / slope);
        if next == lambda || !next.is_finite() {
            break;
        }
        lambda = next;
    }
    lambda
}

/// s·v/(s + λ).
#[inline]
pub fn shrunk(s: f64, v: f64, lambda: f64) -> f64 {
    if lambda > 0.0 { v * (s / (s + lambda)) } else { v }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// The conditions of Karush, Kuhn and Tucker: s_i(v_i − w_i) = λw_i, λ ≥ 0, ‖w‖ = U.
        #[test]
        fn a_projection_meets_the_conditions_of_an_optimum(
            coordinates in prop::collection::vec((-12.0f64..12.0, -9.0f64..9.0), 1..12), radius in 0.01f64..9.0
        ) {
            let pairs: Vec<(f64, f64)> = coordinates.iter().map(|&(s, v)| (s.exp2(), v)).collect();
            let lambda = multiplier(&pairs, radius);
            let w: Vec<f64> = pairs.iter().map(|&(s, v)| shrunk(s, v, lambda)).collect();
            let norm = w.iter().map(|w| w * w).sum::<f64>().sqrt();
            let before = pairs.iter().map(|(_, v)| v * v).sum::<f64>().sqrt();
            if before <= radius {
                prop_assert_eq!(lambda, 0.0);
            } else {
                prop_assert!(lambda > 0.0 && (norm / radius - 1.0).abs() < 1e-13, "{} {norm} {radius}", lambda);
            }
            for (&(s, v), w) in pairs.iter().zip(&w) {
                prop_assert!((s * (v - w) - lambda * w).abs() <= 1e-12 * (s * v).abs());
            }
        }
    }
}
