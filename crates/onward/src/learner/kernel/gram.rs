//! The Gram matrix of rows in a kernel's space, as its Cholesky factor, which grows by a row.
//!
//! With K = LLᵀ the matrix of K(x_i, x_j), the rows of L are the coordinates of the points in an
//! orthonormal basis of their span (Gram–Schmidt in the order in which they came). A further point
//! with k = (K(x_j, x))_j has there the coordinates y = L⁻¹k; what is not in the span has the
//! squared norm δ² = K(x, x) − ‖y‖², and (y, δ) is the row that L grows by. The point of the span
//! next to it is Σ d_j φ(x_j) with d = L⁻ᵀy = K⁻¹k.
//!
//! Keeping K⁻¹ itself, with its rank-one growth, costs the same O(n²) and loses twice the digits:
//! the condition of L is the square root of that of K. Only points with δ² above
//! [`DEPENDENT`]·K(x, x) are taken in, so the pivots of L stay above a millionth of the norms.

use crate::numeric::linalg::cholesky::Cholesky;
use crate::numeric::linalg::vector::dot_by_lanes;

/// The share of K(x, x) below which the residual is that of rounding, not of a new direction.
pub(super) const DEPENDENT: f64 = 1e-12;

/// A factor of the Gram matrix.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Gram {
    /// L, with a row for each point.
    factor: Cholesky,
}

/// Where a point stands with respect to a span.
#[derive(Debug, Clone)]
pub(super) struct Coordinates {
    /// y: its coordinates in the span.
    pub(super) inside: Vec<f64>,
    /// δ²: the square of its distance from the span.
    pub(super) residual: f64,
    /// Whether it is new to the span, by more than rounding.
    pub(super) is_independent: bool,
}

impl Gram {
    /// The coordinates of a point with these kernel values at the points, and K(x, x).
    pub(super) fn coordinates(&self, products: &[f64], itself: f64) -> Coordinates {
        // No coordinate of a point is larger than its norm: what rounding would add is cut off,
        // so that nothing can grow from row to row.
        let norm = itself.max(0.0).sqrt();
        let mut inside: Vec<f64> = Vec::with_capacity(self.factor.size + 1);
        for (at, product) in products.iter().enumerate().take(self.factor.size) {
            let row = self.factor.row(at);
            inside.push(((product - dot_by_lanes(&row[..at], &inside)) / row[at]).clamp(-norm, norm));
        }
        let residual = (itself - dot_by_lanes(&inside, &inside)).max(0.0);
        // Where squares would be denormal there are no digits to divide by.
        let is_independent = residual > DEPENDENT * itself && residual > 1e-200;
        Coordinates { inside, residual, is_independent }
    }

    /// Takes in an independent point with these coordinates.
    pub(super) fn grow(&mut self, coordinates: &Coordinates) {
        debug_assert!(coordinates.is_independent);
        self.factor.grow(coordinates.inside.iter().copied().chain([coordinates.residual.sqrt()]));
    }

    /// d = L⁻ᵀy: the combination of the points with these coordinates. `None` where it leaves the
    /// numbers that there are.
    pub(super) fn combination(&self, inside: &[f64]) -> Option<Vec<f64>> {
        let mut rest = inside.to_vec();
        self.factor.solve_upper(&mut rest);
        rest.iter().all(|share| share.is_finite()).then_some(rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// K(x, y) = exp(−(x − y)²) for numbers.
    fn kernel(x: f64, y: f64) -> f64 {
        libm::exp(-(x - y) * (x - y))
    }

    fn grown(points: &[f64]) -> (Gram, Vec<f64>) {
        let (mut gram, mut kept) = (Gram::default(), Vec::new());
        for &x in points {
            let products: Vec<f64> = kept.iter().map(|&y| kernel(x, y)).collect();
            let coordinates = gram.coordinates(&products, 1.0);
            if coordinates.is_independent {
                gram.grow(&coordinates);
                kept.push(x);
            }
        }
        (gram, kept)
    }

    #[test]
    fn the_factor_times_its_transpose_is_the_matrix() {
        let (gram, kept) = grown(&[0.0, 1.0, -0.7, 2.5, 0.3]);
        assert_eq!(kept.len(), 5);
        for (i, &x) in kept.iter().enumerate() {
            for (j, &y) in kept.iter().enumerate() {
                let product: f64 = gram.factor.entry(i, j);
                assert!((product - kernel(x, y)).abs() < 1e-15);
            }
        }
    }

    #[test]
    fn combinations_solve_the_normal_equations() {
        let (gram, kept) = grown(&[0.0, 1.0, -0.7, 2.5]);
        let products: Vec<f64> = kept.iter().map(|&y| kernel(0.4, y)).collect();
        let coordinates = gram.coordinates(&products, 1.0);
        let shares = gram.combination(&coordinates.inside).unwrap();
        for (&x, &product) in kept.iter().zip(&products) {
            let at_x: f64 = kept.iter().zip(&shares).map(|(&y, share)| share * kernel(x, y)).sum();
            assert!((at_x - product).abs() < 1e-14);
        }
        // δ² is the square of the distance from that combination.
        let apart: f64 = 1.0 - shares.iter().zip(&products).map(|(share, product)| share * product).sum::<f64>();
        assert!((coordinates.residual - apart).abs() < 1e-14);
    }

    #[test]
    fn hundreds_of_nearly_dependent_points_neither_break_nor_bend_it() {
        // On a short interval the matrix is of numerical rank about 15: the rest is in the span.
        let points: Vec<f64> = (0..400).map(|at| f64::from(at * 37 % 400) / 400.0).collect();
        let (gram, kept) = grown(&points);
        assert!((5..25).contains(&kept.len()), "{}", kept.len());
        for &x in &points {
            let products: Vec<f64> = kept.iter().map(|&y| kernel(x, y)).collect();
            let coordinates = gram.coordinates(&products, 1.0);
            assert!(coordinates.residual < 1e-10);
            let shares = gram.combination(&coordinates.inside).unwrap();
            for &z in &points {
                let at_z: f64 = kept.iter().zip(&shares).map(|(&y, share)| share * kernel(y, z)).sum();
                // |φ(x) − its projection| ≤ δ ≤ 1e-5.
                assert!((at_z - kernel(x, z)).abs() < 2e-5);
            }
        }
    }

    #[test]
    fn a_point_that_is_there_is_in_the_span() {
        let (gram, kept) = grown(&[0.0, 1.0, 0.0, 1.0]);
        assert_eq!((gram.factor.size, kept.as_slice()), (2, &[0.0, 1.0][..]));
    }
}
