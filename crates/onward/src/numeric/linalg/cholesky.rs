//! A symmetric positive definite matrix A = LLᵀ, kept as its Cholesky factor L.

use super::rotation::Rotation;

/// A matrix of growing size. The rows of L, of 1, 2, 3, … entries, stand one after the other.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Cholesky {
    pub(crate) factor: Vec<f64>,
    pub(crate) size: usize,
}

/// Where row i begins.
fn start(row: usize) -> usize {
    row * (row + 1) / 2
}

impl Cholesky {
    /// Row i of L up to the diagonal.
    pub(crate) fn row(&self, row: usize) -> &[f64] {
        &self.factor[start(row)..start(row + 1)]
    }

    /// Adds a row to L.
    pub(crate) fn grow(&mut self, row: impl IntoIterator<Item = f64>) {
        self.factor.extend(row);
        self.size += 1;
        debug_assert_eq!(self.factor.len(), start(self.size));
    }

    /// The factor of a matrix given by its lower triangle; `dot` adds up products in some order. `root` is given what is left of a diagonal entry, and that
    /// entry, and says what its root is, or that there is none: then the matrix has no factor.
    pub(crate) fn of(
        size: usize,
        entry: impl Fn(usize, usize) -> f64,
        dot: impl Fn(&[f64], &[f64]) -> f64,
        root: impl Fn(f64, f64) -> Option<f64>,
    ) -> Option<Self> {
        let mut factor = vec![0.0; start(size)];
        for i in 0..size {
            let (above, row) = factor.split_at_mut(start(i));
            for j in 0..i {
                let other = &above[start(j)..start(j + 1)];
                row[j] = (entry(i, j) - dot(&other[..j], &row[..j])) / other[j];
            }
            let diagonal = entry(i, i);
            row[i] = root(diagonal - dot(&row[..i], &row[..i]), diagonal)?;
        }
        Some(Self { factor, size })
    }

    /// A_ij.
    pub(crate) fn entry(&self, i: usize, j: usize) -> f64 {
        self.row(i).iter().zip(self.row(j)).map(|(a, b)| a * b).sum()
    }

    /// A += vvᵀ, by Givens rotations: it stays positive definite whatever is rounded. v is used up.
    pub(crate) fn update(&mut self, v: &mut [f64]) {
        for k in 0..self.size {
            if v[k] == 0.0 {
                continue;
            }
            let (length, rotation) = Rotation::to_first(self.factor[start(k) + k], v[k]);
            self.factor[start(k) + k] = length;
            for (i, other) in v.iter_mut().enumerate().skip(k + 1) {
                rotation.turn(&mut self.factor[start(i) + k], other);
            }
        }
    }

    /// z becomes L⁻¹z.
    pub(crate) fn solve_lower(&self, z: &mut [f64], dot: impl Fn(&[f64], &[f64]) -> f64) {
        for i in 0..self.size {
            let row = self.row(i);
            z[i] = (z[i] - dot(&row[..i], &z[..i])) / row[i];
        }
    }

    /// z becomes L⁻ᵀz.
    pub(crate) fn solve_upper(&self, z: &mut [f64]) {
        for i in (0..self.size).rev() {
            let row = self.row(i);
            z[i] /= row[i];
            let known = z[i];
            z[..i].iter_mut().zip(row).for_each(|(entry, factor)| *entry -= factor * known);
        }
    }

    /// Av.
    pub(crate) fn product(&self, v: &[f64]) -> Vec<f64> {
        let mut upper = vec![0.0; self.size];
        for (i, &entry) in v.iter().enumerate() {
            upper.iter_mut().zip(self.row(i)).for_each(|(sum, factor)| *sum += factor * entry);
        }
        (0..self.size).map(|i| self.row(i).iter().zip(&upper).map(|(a, b)| a * b).sum()).collect()
    }

    /// Whether it is a factor: all its rows are there, above 0 on the diagonal.
    pub(crate) fn is_sound(&self) -> bool {
        self.factor.len() == start(self.size) && (0..self.size).all(|i| self.row(i)[i] > 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::linalg::vector::dot;

    fn root(rest: f64, _diagonal: f64) -> Option<f64> {
        (rest > 0.0).then(|| rest.sqrt())
    }

    #[test]
    fn updates_equal_the_matrix_and_solving_undoes_multiplying() {
        let mut kept = Cholesky::default();
        let mut plain = vec![vec![0.0f64; 4]; 4];
        for (i, row) in plain.iter_mut().enumerate() {
            kept.grow(std::iter::repeat_n(0.0, kept.size).chain([0.5f64.sqrt()]));
            row[i] = 0.5;
        }
        for round in 0..20u32 {
            let v: Vec<f64> = (0..4).map(|i| f64::from((round * 7 + i * 5) % 11) - 4.0).collect();
            (0..4).for_each(|i| (0..4).for_each(|j| plain[i][j] += v[i] * v[j]));
            kept.update(&mut v.clone());
        }
        let built = Cholesky::of(4, |i, j| plain[i][j], dot, root).unwrap();
        for (i, row) in plain.iter().enumerate() {
            for (j, entry) in row.iter().enumerate() {
                assert!((kept.entry(i, j) - entry).abs() < 1e-11);
                assert!((built.entry(i, j) - entry).abs() < 1e-11);
            }
        }
        let v = [1.0, -2.0, 3.0, 0.5];
        let mut back = kept.product(&v);
        kept.solve_lower(&mut back, dot);
        kept.solve_upper(&mut back);
        assert!(back.iter().zip(&v).all(|(a, b)| (a - b).abs() < 1e-10), "{back:?}");
        assert!(Cholesky::of(2, |_, _| 1.0, dot, root).is_none());
    }
}
