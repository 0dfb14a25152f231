//! The box |w_i| ≤ U: Π(v)_i = v_i held within ±U, coordinate by coordinate.
//!
//! Coordinates that a step does not touch stay where they are: O(non-zeros). The
//! same map is the projection in every norm √Σ a_i w_i².

/// The projection of a coordinate on ±`radius`.
///
/// ```
/// assert_eq!(onward::domain::cube::project(-3.0, 2.0), -2.0);
/// ```
#[inline]
pub fn project(value: f64, radius: f64) -> f64 {
    value.max(-radius).min(radius)
}
