//! Solving with a symmetric positive definite matrix: Cholesky's factor A = LLᵀ.

use crate::numeric::linalg::vector::dot;

/// L, row by row, each as long as the matrix is wide.
#[derive(Debug, Clone)]
pub(super) struct Cholesky {
    size: usize,
    rows: Vec<f64>,
}

/// Pivots below this share of the largest diagonal entry are rounding.
const ROUNDING: f64 = 1e-13;

impl Cholesky {
    /// The factor of a matrix plus `shift` times the identity; the lower triangle is given row by
    /// row. Where the sum is singular, or nearly, a little more is added.
    pub(super) fn new(triangle: &[f64], size: usize, shift: f64) -> Self {
        let diagonal = (0..size).map(|at| triangle[at * (at + 3) / 2]);
        let largest = diagonal.fold(0.0, f64::max) + shift;
        let largest = if largest > 0.0 { largest } else { 1.0 };
        let mut extra = ROUNDING * largest;
        loop {
            let mut factor = Self { size, rows: vec![0.0; size * size] };
            // A thousand times more each time: at most five times.
            if factor.fill(triangle, shift + extra, extra) || extra > largest {
                return factor;
            }
            extra *= 1e3;
        }
    }

    /// Computes the rows; false when a pivot is not above `least`.
    fn fill(&mut self, triangle: &[f64], shift: f64, least: f64) -> bool {
        let size = self.size;
        for at in 0..size {
            let (above, rest) = self.rows.split_at_mut(at * size);
            let row = &mut rest[..size];
            let given = &triangle[at * (at + 1) / 2..];
            for other in 0..at {
                let line = &above[other * size..other * size + other + 1];
                row[other] = (given[other] - dot(&row[..other], &line[..other])) / line[other];
            }
            let pivot = given[at] + shift - dot(&row[..at], &row[..at]);
            if pivot.is_nan() || pivot < 0.5 * least {
                return false;
            }
            row[at] = pivot.sqrt();
        }
        true
    }

    /// Solves LLᵀx = b in place.
    pub(super) fn solve(&self, x: &mut [f64]) {
        let size = self.size;
        for at in 0..size {
            let row = &self.rows[at * size..at * size + at + 1];
            x[at] = (x[at] - dot(&row[..at], &x[..at])) / row[at];
        }
        for at in (0..size).rev() {
            let row = &self.rows[at * size..at * size + at + 1];
            x[at] /= row[at];
            let value = x[at];
            x[..at].iter_mut().zip(row).for_each(|(x, entry)| *x -= value * entry);
        }
    }
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
            Cholesky::new(&triangle, size, shift).solve(&mut x);
            for i in 0..size {
                let found: f64 = (0..size).map(|j| entry(i, j) * x[j]).sum::<f64>() + shift * x[i];
                prop_assert!((found - b[i]).abs() < 1e-9, "{found} {}", b[i]);
            }
        }
    }

    #[test]
    fn a_singular_matrix_gets_what_it_lacks() {
        // Of rank 1, and of rank 0.
        for (triangle, b) in [([1e6, 1e6, 1e6], [2e6, 2e6]), ([0.0; 3], [0.0; 2])] {
            let mut x = b;
            Cholesky::new(&triangle, 2, 0.0).solve(&mut x);
            let found = triangle[0] * x[0] + triangle[1] * x[1];
            assert!((found - b[0]).abs() <= 1e-6 * b[0] && x.iter().all(|x| x.is_finite()), "{x:?}");
        }
    }
}
