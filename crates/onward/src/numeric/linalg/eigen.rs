//! Eigenvalues and eigenvectors of symmetric matrices, by Jacobi's rotations: in sweeps over all pairs of axes each
//! plane is rotated so that what is off the diagonal there vanishes. Small eigenvalues are found as exactly as large
//! ones. (Golub, Van Loan, Matrix Computations, section 8.5.)

use super::rotation::Rotation;

/// Six or seven sweeps make what is off the diagonal vanish.
const SWEEPS: usize = 30;

/// What is as good as diagonal, and in which order planes are rotated.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Jacobi {
    /// An entry below this part of the diagonal entries beside it is rounding.
    pub(crate) tolerance: f64,
    /// Whether the planes of an axis and those before it are rotated; else of an axis and those behind it.
    pub(crate) is_backward: bool,
    /// Whether what vanishes is set to 0; else rounding is left of it.
    pub(crate) clears: bool,
}

impl Jacobi {
    /// The eigenvalues, and the eigenvectors in the same order.
    pub(crate) fn eigen(self, mut a: Vec<Vec<f64>>) -> (Vec<f64>, Vec<Vec<f64>>) {
        let size = a.len();
        let mut vectors: Vec<Vec<f64>> =
            (0..size).map(|i| (0..size).map(|j| f64::from(u8::from(i == j))).collect()).collect();
        for _ in 0..SWEEPS {
            let mut is_diagonal = true;
            for i in 0..size {
                for j in if self.is_backward { 0..i } else { i + 1..size } {
                    if a[i][j].abs() <= self.tolerance * (a[i][i] * a[j][j]).abs().sqrt() {
                        continue;
                    }
                    is_diagonal = false;
                    self.rotate(&mut a, &mut vectors, i, j);
                }
            }
            if is_diagonal {
                break;
            }
        }
        ((0..size).map(|i| a[i][i]).collect(), vectors)
    }

    /// Rotates the plane of two axes.
    fn rotate(self, a: &mut [Vec<f64>], vectors: &mut [Vec<f64>], i: usize, j: usize) {
        let theta = (a[j][j] - a[i][i]) / (2.0 * a[i][j]);
        let tangent = 1.0f64.copysign(theta) / (theta.abs() + (theta * theta + 1.0).sqrt());
        let cosine = 1.0 / (tangent * tangent + 1.0).sqrt();
        let rotation = Rotation { cosine, sine: -tangent * cosine };
        for row in a.iter_mut() {
            let (mut x, mut y) = (row[i], row[j]);
            rotation.turn(&mut x, &mut y);
            (row[i], row[j]) = (x, y);
        }
        for rows in [&mut *a, vectors] {
            if let Ok([one, other]) = rows.get_disjoint_mut([i, j]) {
                one.iter_mut().zip(other).for_each(|(x, y)| rotation.turn(x, y));
            }
        }
        if self.clears {
            (a[i][j], a[j][i]) = (0.0, 0.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eigenvectors_take_a_matrix_apart() {
        let size = 5;
        let mut matrix = vec![vec![0.0; size]; size];
        for t in 0..7u32 {
            let z: Vec<f64> =
                (0..size).map(|i| f64::from(t * 7 % 5) - 2.0 + (f64::from(t) * (i as f64 + 0.7)).sin()).collect();
            (0..size).for_each(|i| (0..size).for_each(|j| matrix[i][j] += z[i] * z[j]));
        }
        for (tolerance, is_backward, clears) in
            [(1e-16, false, true), (1e-17, true, true), (f64::EPSILON, false, false)]
        {
            let (values, vectors) = Jacobi { tolerance, is_backward, clears }.eigen(matrix.clone());
            for i in 0..size {
                for j in 0..size {
                    let sum: f64 = (0..size).map(|k| values[k] * vectors[k][i] * vectors[k][j]).sum();
                    assert!((sum - matrix[i][j]).abs() < 1e-12 * matrix[0][0].abs().max(1.0) * 10.0);
                    let product: f64 = vectors[i].iter().zip(&vectors[j]).map(|(a, b)| a * b).sum();
                    assert!((product - f64::from(u8::from(i == j))).abs() < 1e-13);
                }
            }
        }
    }

    #[test]
    fn a_matrix_of_zeros_is_diagonal() {
        let jacobi = Jacobi { tolerance: 1e-16, is_backward: false, clears: true };
        assert_eq!(jacobi.eigen(vec![vec![0.0; 2]; 2]), (vec![0.0; 2], vec![vec![1.0, 0.0], vec![0.0, 1.0]]));
    }
}
