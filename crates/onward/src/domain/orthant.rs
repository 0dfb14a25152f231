//! The orthant w_i ≥ 0: Π(v)_i = max(0, v_i), coordinate by coordinate.
//!
//! Coordinates that a step does not touch stay where they are: O(non-zeros).

/// The projection of a coordinate.
///
/// ```
/// assert_eq!(onward::domain::orthant::project(-0.5), 0.0);
/// ```
#[inline]
pub fn project(value: f64) -> f64 {
    value.max(0.0)
}
