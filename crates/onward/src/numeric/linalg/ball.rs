//! The least of a quadratic on a ball.

use super::cholesky::Cholesky;
use super::vector::dot_in_order;

/// Newton steps, at most; it takes a handful.
const STEPS: usize = 100;

/// ‖v‖ is this near the radius.
const TOLERANCE: f64 = 1e-12;

/// The v with ‖v‖ ≤ radius and the least ½vᵀMv − ⟨target, v⟩, for a positive definite matrix that is given by its lower triangle:
/// v = (M + λI)⁻¹·target with λ = 0, or with the λ at which ‖v‖ is the radius. As a function of λ, 1/‖v‖ is concave
/// and nearly straight: Newton's steps come from the left and are few, of O(d³) each. `None` where the numbers are too far
/// apart.
pub(crate) fn least_on_ball(
    size: usize,
    matrix: impl Fn(usize, usize) -> f64,
    target: &[f64],
    radius: f64,
) -> Option<Vec<f64>> {
    let mut lambda = 0.0;
    for _ in 0..STEPS {
        let entry = |i: usize, j: usize| matrix(i, j) + if i == j { lambda } else { 0.0 };
        let shifted = Cholesky::of(size, entry, dot_in_order, positive_root)?;
        let mut point = target.to_vec();
        shifted.solve_lower(&mut point, dot_in_order);
        shifted.solve_upper(&mut point);
        let length = dot_in_order(&point, &point).sqrt();
        if !length.is_finite() {
            return None;
        }
        if length <= radius * (1.0 + TOLERANCE) {
            if length > radius {
                point.iter_mut().for_each(|entry| *entry *= radius / length);
            }
            return Some(point);
        }
        shifted.solve_lower(&mut point, dot_in_order);
        let ratio = length / dot_in_order(&point, &point).sqrt();
        lambda += ratio * ratio * (length - radius) / radius;
    }
    None
}

/// The root of what is left of a diagonal entry, if the matrix is positive definite.
pub(crate) fn positive_root(rest: f64, _diagonal: f64) -> Option<f64> {
    (rest > 0.0).then(|| rest.sqrt())
}
