//! The L1 ball ‖w‖₁ ≤ U, with exact Euclidean projection (Duchi, Shalev-Shwartz,
//! Singer, Chandra 2008).
//!
//! Π(v)_i = sign(v_i)·max(0, |v_i| − τ): τ = 0 inside the ball, otherwise that of
//! the projection of |v| on the simplex of size U. Many entries become exactly 0.
//!
//! Cost: O(d log d) in rounds in which the point left the ball, d the number of
//! coordinates seen; otherwise O(d) to sum up |v|.

use super::simplex::Threshold;

/// τ, by which entries of these absolute values shrink: 0 inside the ball. The values may be
/// reordered; their order changes nothing.
pub fn threshold(sizes: &mut [f64], radius: f64) -> Threshold {
    // Far more than the rounding of a sum of 2²⁰ terms: points nearer to the surface are summed in order.
    const DOUBT: f64 = 1e-9;
    if sizes.iter().sum::<f64>() <= radius * (1.0 - DOUBT) {
        return Threshold::default();
    }
    let threshold = Threshold::of(sizes, radius);
    if sizes.iter().sum::<f64>() <= radius { Threshold::default() } else { threshold }
}

/// An entry moved towards 0 by τ, and held there.
#[inline]
pub fn shrunk(value: f64, threshold: &Threshold) -> f64 {
    threshold.cut(value.abs()).copysign(value)
}

/// The Euclidean projection on the L1 ball of this radius.
///
/// ```
/// let mut w = [0.1, -0.9, 0.6];
/// onward::domain::l1_ball::project(&mut w, 1.0);
/// assert!((w[1] + 0.65).abs() < 1e-15 && w[0] == 0.0);
/// ```
pub fn project(values: &mut [f64], radius: f64) {
    let mut sizes: Vec<f64> = values.iter().map(|value| value.abs()).collect();
    let threshold = threshold(&mut sizes, radius);
    values.iter_mut().for_each(|value| *value = shrunk(*value, &threshold));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_projection_makes_an_obtuse_angle_with_every_corner(
            v in prop::collection::vec(-5.0f64..5.0, 1..12), radius in 0.01f64..20.0
        ) {
            let mut w = v.clone();
            project(&mut w, radius);
            prop_assert!(w.iter().map(|w| w.abs()).sum::<f64>() <= radius * (1.0 + 1e-13));
            for corner in 0..v.len() {
                for sign in [-radius, radius] {
                    let angle: f64 = (0..v.len())
                        .map(|i| (v[i] - w[i]) * (if i == corner { sign } else { 0.0 } - w[i]))
                        .sum();
                    prop_assert!(angle <= 1e-11 * radius.max(1.0), "{angle}");
                }
            }
        }
    }

    #[test]
    fn a_point_inside_stays_to_the_bit() {
        let mut w = [0.25, -0.5, 0.0];
        project(&mut w, 0.75);
        assert_eq!(w, [0.25, -0.5, 0.0]);
    }
}
