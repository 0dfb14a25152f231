//! Upper triangular matrices R: the square roots of learners that solve least squares.
//!
//! A learner needs (RᵀR)⁻¹ times something, and never that inverse itself. R stands for the
//! matrix A = RᵀR, which is positive definite as long as no number on the diagonal is 0. Adding
//! xxᵀ to A is a chain of Givens rotations that fold x into R, by which the diagonal never falls:
//! what rounding does, it does to the data, and A stays positive definite for ever.
//! (Golub, Van Loan, Matrix Computations, sections 5.1 and 6.5.)

use super::rotation::Rotation;
use crate::numeric::sum;

/// What solves a system is held to ± this: importance weights of 1e38 beside features of 1e38
/// leave nothing of the rest but rounding, and that must stay finite.
const LARGEST: f64 = 1e60;

/// What is left of the diagonal of a matrix of sums, as a part of it, must be at least this. Rounding makes 1e-16 of it:
/// five digits of what is left are right.
const SMALLEST_PIVOT: f64 = 1e-11;

/// An upper triangular matrix that grows.
#[derive(Debug, Clone, Default)]
pub(crate) struct Triangle {
    /// Each row from the diagonal on.
    pub(crate) rows: Vec<Vec<f64>>,
}

/// What came of folding a row into a triangle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Folded {
    /// q/(1 + q), where q = xᵀ(RᵀR)⁻¹x before: from 0 to 1.
    pub(crate) leverage: f64,
    /// What is left of the target: (y − ⟨w, x⟩)/√(1 + q), but for the sign. By its square the
    /// least of the squares grows.
    pub(crate) residual: f64,
}

impl Triangle {
    /// Adds a row and a column that are 0 but on the diagonal.
    pub(crate) fn grow(&mut self, diagonal: f64) {
        self.rows.iter_mut().for_each(|row| row.push(0.0));
        self.rows.push(vec![diagonal]);
    }

    /// R ← factor·R, z likewise. A row whose diagonal would fall below `least` stays as it is: it is the trace of rows
    /// that have long been forgotten, and still has the weight that they left.
    pub(crate) fn scale(&mut self, factor: f64, least: f64, z: &mut [f64]) {
        for (row, z) in self.rows.iter_mut().zip(z).filter(|(row, _)| row[0] * factor >= least) {
            row.iter_mut().for_each(|entry| *entry *= factor);
            *z *= factor;
        }
    }

    /// RᵀR += xxᵀ, and z, for which Rᵀz is the right-hand side, takes in target·x. `x` is 0 before
    /// `from`, and all 0 afterwards.
    pub(crate) fn fold(&mut self, x: &mut [f64], from: usize, z: &mut [f64], target: f64) -> Folded {
        // Each rotation leaves the share c² of 1/(1 + q), and adds s² of what was left to q/(1 + q):
        // no difference of nearly equal numbers.
        let (mut left, mut leverage, mut residual) = (1.0, 0.0, target);
        for (i, row) in self.rows.iter_mut().enumerate().skip(from) {
            if x[i] == 0.0 {
                continue;
            }
            let (head, tail) = row.split_at_mut(1);
            let (length, rotation) = Rotation::to_first(head[0], x[i]);
            (head[0], x[i]) = (length, 0.0);
            for (entry, value) in tail.iter_mut().zip(&mut x[i + 1..]) {
                rotation.turn(entry, value);
            }
            rotation.turn(&mut z[i], &mut residual);
            leverage += left * (rotation.sine * rotation.sine);
            left *= rotation.cosine * rotation.cosine;
        }
        Folded { leverage: f64::min(leverage, 1.0), residual }
    }

    /// Solves Rw = z.
    pub(crate) fn solve(&self, z: &[f64], w: &mut Vec<f64>) {
        w.clear();
        w.resize(self.rows.len(), 0.0);
        for (i, row) in self.rows.iter().enumerate().rev() {
            let known = sum::sum(row[1..].iter().zip(&w[i + 1..]).map(|(entry, w)| entry * w));
            w[i] = ((z[i] - known) / row[0]).clamp(-LARGEST, LARGEST);
        }
    }

    /// Solves Rᵀa = x in place, `x` being 0 before `from`. xᵀ(RᵀR)⁻¹x is ‖a‖².
    pub(crate) fn solve_transposed(&self, x: &mut [f64], from: usize) {
        for (i, row) in self.rows.iter().enumerate().skip(from) {
            if x[i] == 0.0 {
                continue;
            }
            x[i] = (x[i] / row[0]).clamp(-LARGEST, LARGEST);
            let a = x[i];
            row[1..].iter().zip(&mut x[i + 1..]).for_each(|(entry, x)| *x -= a * entry);
        }
    }

    /// The upper half of this matrix += factor·xxᵀ.
    pub(crate) fn add_outer(&mut self, factor: f64, x: &[f64]) {
        for (i, row) in self.rows.iter_mut().enumerate().filter(|&(i, _)| x[i] != 0.0) {
            let step = factor * x[i];
            row.iter_mut().zip(&x[i..]).for_each(|(entry, x)| *entry += step * x);
        }
    }

    /// R of RᵀR = λI + this, taken for the upper half of a symmetric matrix without negative
    /// eigenvalues (Cholesky). All that is left on the diagonal is at least λ then; where rounding
    /// has undone that, it is λ again. False where what is left is no more than rounding has made of the diagonal: then
    /// what is solved with R has no digit that is right.
    pub(crate) fn cholesky(&self, lambda: f64, root: &mut Self) -> bool {
        root.rows.clone_from(&self.rows);
        let mut is_sound = true;
        for i in 0..root.rows.len() {
            let (above, below) = root.rows.split_at_mut(i + 1);
            let row = &mut above[i];
            // The diagonals of later rows hold what is left of them without λ.
            let left = row[0].max(0.0) + lambda;
            is_sound &= left >= SMALLEST_PIVOT * self.rows[i][0];
            let pivot = left.sqrt();
            row[0] = pivot;
            row[1..].iter_mut().for_each(|entry| *entry /= pivot);
            for (at, lower) in (1..).zip(below) {
                let entry = row[at];
                lower.iter_mut().zip(&row[at..]).for_each(|(lower, other)| *lower -= entry * other);
            }
        }
        is_sound
    }

    /// The largest number on the diagonal.
    pub(crate) fn largest_diagonal(&self) -> f64 {
        self.rows.iter().fold(0.0, |most, row| most.max(row[0]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROWS: [[f64; 3]; 4] = [[1.0, 2.0, -1.0], [0.0, 1.5, 0.5], [2.0, -0.5, 0.25], [0.0, 0.0, 3.0]];

    /// λI + Σxxᵀ as a full matrix.
    fn gram(lambda: f64) -> [[f64; 3]; 3] {
        let mut a = [[0.0; 3]; 3];
        for i in 0..3 {
            a[i][i] = lambda;
            for j in 0..3 {
                a[i][j] += ROWS.iter().map(|x| x[i] * x[j]).sum::<f64>();
            }
        }
        a
    }

    fn is_root_of(root: &Triangle, a: &[[f64; 3]; 3]) {
        let entry = |i: usize, j: usize| if j >= i { root.rows[i][j - i] } else { 0.0 };
        for (i, row) in a.iter().enumerate() {
            for (j, expected) in row.iter().enumerate() {
                let product: f64 = (0..3).map(|k| entry(k, i) * entry(k, j)).sum();
                assert!((product - expected).abs() < 1e-13, "{i} {j}: {product} {expected}");
            }
        }
    }

    #[test]
    fn folding_rows_in_and_cholesky_give_roots_of_the_same_matrix() {
        let (mut folded, mut sum) = (Triangle::default(), Triangle::default());
        for _ in 0..3 {
            folded.grow(0.7f64.sqrt());
            sum.grow(0.0);
        }
        let mut z = [0.0; 3];
        for x in ROWS {
            sum.add_outer(1.0, &x);
            folded.fold(&mut x.clone(), 0, &mut z, 1.0);
        }
        is_root_of(&folded, &gram(0.7));
        let mut root = Triangle::default();
        assert!(sum.cholesky(0.7, &mut root));
        is_root_of(&root, &gram(0.7));
    }

    #[test]
    fn the_leverage_and_the_residual_of_a_row_are_those_of_least_squares() {
        let mut triangle = Triangle::default();
        (0..3).for_each(|_| triangle.grow(1.0));
        let (mut z, mut w) = ([0.0; 3], Vec::new());
        for (at, x) in ROWS.into_iter().enumerate() {
            triangle.solve(&z, &mut w);
            let y = at as f64 - 1.0;
            let error = y - x.iter().zip(&w).map(|(x, w)| x * w).sum::<f64>();
            let mut a = x;
            triangle.solve_transposed(&mut a, 0);
            let q = a.iter().map(|a| a * a).sum::<f64>();
            let folded = triangle.fold(&mut x.clone(), 0, &mut z, y);
            assert!((folded.leverage - q / (1.0 + q)).abs() < 1e-15);
            assert!((folded.residual * folded.residual - error * error / (1.0 + q)).abs() < 1e-14);
        }
    }
}
