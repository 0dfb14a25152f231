//! Solving with a symmetric positive definite matrix: Cholesky's factor A = LLᵀ.

use crate::numeric::linalg::cholesky::Cholesky;
use crate::numeric::linalg::vector::dot;

/// Pivots below this share of the largest diagonal entry are rounding.
const ROUNDING: f64 = 1e-13;

/// A thousand times more is added each time: at last a hundred times the largest entry. The factor of a matrix that is not
/// finite is not either.
const MOST_ATTEMPTS: u32 = 5;

/// The factor of a matrix plus `shift` times the identity; the lower triangle is given row by
/// row. Where the sum is singular, or nearly, a little more is added.
pub(super) fn factor(triangle: &[f64], size: usize, shift: f64) -> Cholesky {
    let entry = |i: usize, j: usize| triangle[i * (i + 1) / 2 + j];
    let largest = (0..size).map(|at| entry(at, at)).fold(0.0, f64::max) + shift;
    let largest = if largest > 0.0 { largest } else { 1.0 };
    let mut extra = ROUNDING * largest;
    let mut rest = MOST_ATTEMPTS;
    loop {
        let with_extra = |i: usize, j: usize| entry(i, j) + if i == j { shift + extra } else { 0.0 };
        let root = |pivot: f64, _: f64| (pivot >= 0.5 * extra || rest == 0).then(|| pivot.sqrt());
        if let Some(factor) = Cholesky::of(size, with_extra, dot, root) {
            return factor;
        }
        (extra, rest) = (1e3 * extra, rest - 1);
    }
}

/// Solves LLᵀx = b in place.
pub(super) fn solve(factor: &Cholesky, x: &mut [f64]) {
    factor.solve_lower(x, dot);
    factor.solve_upper(x);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_solves(size in 1usize..40, seeds in prop::collection::vec(-1.0..1.0f64, 40 * 60), shift in 0.01..2.0f64) {
            // XᵀX of 60 rows.
            let column = |i: usize| (0..60).map(move |t| t * 40 + i);
            let mut triangle = Vec::new();
            for i in 0..size {
                for j in 0..=i {
                    triangle.push(column(i).zip(column(j)).map(|(a, b)| seeds[a] * seeds[b]).sum::<f64>());
                }
            }
            let entry = |i: usize, j: usize| triangle[i.max(j) * (i.max(j) + 1) / 2 + i.min(j)];
            let b: Vec<f64> = seeds[..size].to_vec();
            let mut x = b.clone();
            solve(&factor(&triangle, size, shift), &mut x);
            for i in 0..size {
                let found: f64 = (0..size).map(|j| entry(i, j) * x[j]).sum::<f64>() + shift * x[i];
                prop_assert!((found - b[i]).abs() < 1e-9, "{found} {}", b[i]);
            }
        }
    }

    #[test]
    fn a_matrix_that_is_not_finite_has_a_factor_that_is_not() {
        for wrong in [f64::INFINITY, f64::NAN] {
            let mut x = [1.0, 1.0];
            solve(&factor(&[1.0, wrong, wrong], 2, 0.0), &mut x);
            assert!(x.iter().any(|x| !x.is_finite()), "{x:?}");
        }
    }

    #[test]
    fn a_singular_matrix_gets_what_it_lacks() {
        // Of rank 1, and of rank 0.
        for (triangle, b) in [([1e6, 1e6, 1e6], [2e6, 2e6]), ([0.0; 3], [0.0; 2])] {
            let mut x = b;
            solve(&factor(&triangle, 2, 0.0), &mut x);
            let found = triangle[0] * x[0] + triangle[1] * x[1];
            assert!((found - b[0]).abs() <= 1e-6 * b[0] && x.iter().all(|x| x.is_finite()), "{x:?}");
        }
    }
}
