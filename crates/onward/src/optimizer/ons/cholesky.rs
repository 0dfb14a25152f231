//! A symmetric positive definite matrix M = LLᵀ, kept as its Cholesky factor L.

use crate::Error;
use crate::archive::Archive;

/// M = LLᵀ of growing size. The rows of L, of 1, 2, 3, … entries, stand one after the other.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Cholesky {
    factor: Vec<f64>,
    size: usize,
}

/// Where row i begins.
fn start(row: usize) -> usize {
    row * (row + 1) / 2
}

impl Cholesky {
    /// How many rows it has.
    pub(super) fn size(&self) -> usize {
        self.size
    }

    /// Adds a row and column that are 0 but for the diagonal.
    pub(super) fn grow(&mut self, diagonal: f64) {
        self.factor.extend(std::iter::repeat_n(0.0, self.size));
        self.factor.push(diagonal.sqrt());
        self.size += 1;
    }

    fn row(&self, row: usize) -> &[f64] {
        &self.factor[start(row)..start(row + 1)]
    }

    /// The factor of a matrix given by its lower triangle; `None` if it is not positive definite.
    pub(super) fn of(size: usize, entry: impl Fn(usize, usize) -> f64) -> Option<Self> {
        let mut factor = vec![0.0; start(size)];
        for i in 0..size {
            for j in 0..=i {
                let (above, below) = (&factor[start(j)..start(j) + j], &factor[start(i)..start(i) + j]);
                let rest = entry(i, j) - above.iter().zip(below).map(|(a, b)| a * b).sum::<f64>();
                factor[start(i) + j] = match i == j {
                    false => rest / factor[start(j) + j],
                    true if rest > 0.0 => rest.sqrt(),
                    true => return None,
                };
            }
        }
        Some(Self { factor, size })
    }

    /// M_ij.
    pub(super) fn entry(&self, i: usize, j: usize) -> f64 {
        self.row(i).iter().zip(self.row(j)).map(|(a, b)| a * b).sum()
    }

    /// M += vvᵀ, by Givens rotations: it stays positive definite whatever is rounded. v is used up.
    pub(super) fn update(&mut self, v: &mut [f64]) {
        for k in 0..self.size {
            if v[k] == 0.0 {
                continue;
            }
            let diagonal = self.factor[start(k) + k];
            let length = (diagonal * diagonal + v[k] * v[k]).sqrt();
            let (cosine, sine) = (diagonal / length, v[k] / length);
            self.factor[start(k) + k] = length;
            for (i, other) in v.iter_mut().enumerate().skip(k + 1) {
                let entry = &mut self.factor[start(i) + k];
                (*entry, *other) = (cosine * *entry + sine * *other, cosine * *other - sine * *entry);
            }
        }
    }

    /// z becomes L⁻¹z.
    pub(super) fn solve_lower(&self, z: &mut [f64]) {
        for i in 0..self.size {
            let row = self.row(i);
            let known: f64 = row[..i].iter().zip(z.iter()).map(|(a, b)| a * b).sum();
            z[i] = (z[i] - known) / row[i];
        }
    }

    /// z becomes L⁻ᵀz.
    pub(super) fn solve_upper(&self, z: &mut [f64]) {
        for i in (0..self.size).rev() {
            let row = self.row(i);
            z[i] /= row[i];
            let known = z[i];
            z[..i].iter_mut().zip(row).for_each(|(entry, factor)| *entry -= factor * known);
        }
    }

    /// Mv.
    pub(super) fn product(&self, v: &[f64]) -> Vec<f64> {
        let mut upper = vec![0.0; self.size];
        for (i, &entry) in v.iter().enumerate() {
            upper.iter_mut().zip(self.row(i)).for_each(|(sum, factor)| *sum += factor * entry);
        }
        (0..self.size).map(|i| self.row(i).iter().zip(&upper).map(|(a, b)| a * b).sum()).collect()
    }

    /// Saves it under a name, or loads it: then it must be of this size.
    pub(super) fn persist(&mut self, name: &str, size: usize, archive: &mut Archive) -> Result<(), Error> {
        archive.column(name, &mut self.factor)?;
        let is_sound = self.factor.len() == start(size) && (0..size).all(|row| self.factor[start(row) + row] > 0.0);
        archive.check(is_sound, name, "must be a triangle with a row for each feature, above 0 on its diagonal")?;
        self.size = size;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn updates_equal_the_matrix_and_solving_undoes_multiplying() {
        let mut kept = Cholesky::default();
        let mut plain = vec![vec![0.0f64; 4]; 4];
        for (i, row) in plain.iter_mut().enumerate() {
            kept.grow(0.5);
            row[i] = 0.5;
        }
        for round in 0..20u32 {
            let v: Vec<f64> = (0..4).map(|i| f64::from((round * 7 + i * 5) % 11) - 4.0).collect();
            (0..4).for_each(|i| (0..4).for_each(|j| plain[i][j] += v[i] * v[j]));
            kept.update(&mut v.clone());
        }
        let built = Cholesky::of(4, |i, j| plain[i][j]).unwrap();
        for (i, row) in plain.iter().enumerate() {
            for (j, entry) in row.iter().enumerate() {
                assert!((kept.entry(i, j) - entry).abs() < 1e-11);
                assert!((built.entry(i, j) - entry).abs() < 1e-11);
            }
        }
        let v = [1.0, -2.0, 3.0, 0.5];
        let mut back = kept.product(&v);
        kept.solve_lower(&mut back);
        kept.solve_upper(&mut back);
        assert!(back.iter().zip(&v).all(|(a, b)| (a - b).abs() < 1e-10), "{back:?}");
        assert!(Cholesky::of(2, |_, _| 1.0).is_none());
    }
}
