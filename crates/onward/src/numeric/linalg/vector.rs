//! Vectors of f64: products, norms and steps, with the same bits on every machine.

use crate::numeric::sum::{LANES, join, sum};

/// ⟨a, b⟩ with eight sums side by side.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; LANES];
    let (a_parts, b_parts) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let rest = a_parts.remainder().iter().zip(b_parts.remainder());
    let tail: f64 = rest.map(|(a, b)| a * b).sum();
    for (a, b) in a_parts.zip(b_parts) {
        for (sum, (a, b)) in sums.iter_mut().zip(a.iter().zip(b)) {
            *sum += a * b;
        }
    }
    join(sums) + tail
}

/// ⟨a, b⟩, term after term.
pub(crate) fn dot_in_order(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// ⟨a, b⟩ as [`sum`] adds up.
pub(crate) fn dot_by_lanes(a: &[f64], b: &[f64]) -> f64 {
    sum(a.iter().zip(b).map(|(a, b)| a * b))
}

/// ‖a‖₂.
pub(crate) fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

/// a += times·b.
pub(crate) fn add_scaled(a: &mut [f64], times: f64, b: &[f64]) {
    a.iter_mut().zip(b).for_each(|(a, b)| *a += times * b);
}

/// times·a.
pub(crate) fn scaled(a: &[f64], times: f64) -> Vec<f64> {
    a.iter().map(|a| times * a).collect()
}

/// What is left of a vector at right angles to all of an orthonormal basis, of length 1; `None` if
/// nothing is.
pub(crate) fn orthonormal(mut a: Vec<f64>, basis: &[Vec<f64>]) -> Option<Vec<f64>> {
    let whole = norm(&a);
    if !(whole > 0.0 && whole.is_finite()) {
        return None;
    }
    // Lengths first: squares of what is left may be beyond the range.
    a.iter_mut().for_each(|a| *a /= whole);
    // Twice is enough (Kahan and Parlett).
    for _ in 0..2 {
        for other in basis {
            let share = dot(&a, other);
            add_scaled(&mut a, -share, other);
        }
    }
    let left = norm(&a);
    (left > 1e-10).then(|| scaled(&a, 1.0 / left))
}
