//! The matrix sketched by frequent directions (Ghashami, Liberty, Phillips, Woodruff 2016; Luo, Agarwal,
//! Cesa-Bianchi, Langford 2016): M ≈ εI + BᵀB with at most 2m rows in B.
//!
//! Each round adds a row. When there are 2m, the rows are turned to their principal directions, the square
//! σ_m² of direction m + 1 is taken off all squares, and m rows or fewer are left. M⁻¹z costs O(m·d + m³) by
//! Woodbury's identity: (z − Bᵀ(εI + BBᵀ)⁻¹Bz)/ε. The projection is Euclidean.

use super::full::norm;
use crate::archive::rows_of;
use crate::numeric::linalg::ball::positive_root;
use crate::numeric::linalg::cholesky::Cholesky;
use crate::numeric::linalg::eigen::Jacobi;
use crate::numeric::linalg::vector::dot_in_order as dot;
use crate::optimizer::prelude::*;
use crate::storage::feature_index::FeatureIndex;

#[derive(Debug, Clone)]
pub(super) struct Sketched {
    radius: f64,
    epsilon: f64,
    rank: usize,
    features: FeatureIndex,
    weights: Vec<f64>,
    /// B; a row ends where its feature with the highest number is.
    rows: Vec<Vec<f64>>,
    /// BBᵀ.
    products: Vec<Vec<f64>>,
}

/// How the rows are turned to their principal directions.
const DIRECTIONS: Jacobi = Jacobi { tolerance: f64::EPSILON, is_backward: false, clears: false };

impl Sketched {
    pub(super) fn new(radius: f64, epsilon: f64, rank: usize) -> Self {
        let (weights, rows, products) = (Vec::new(), Vec::new(), Vec::new());
        Self { radius, epsilon, rank, features: FeatureIndex::new(usize::MAX), weights, rows, products }
    }

    pub(super) fn weight(&self, index: u32) -> f64 {
        self.features.find(index).map_or(0.0, |number| self.weights[number])
    }

    pub(super) fn step(&mut self, slope: f64, growth: f64, x: Features<'_>) {
        let (row, _) = self.features.number_row(x);
        self.weights.resize(self.features.len(), 0.0);
        let dense = |factor: f64| {
            let mut dense = vec![0.0; self.weights.len()];
            row.iter().for_each(|&(number, value)| dense[number as usize] = factor * value);
            dense
        };
        let (new, mut direction) = (dense(growth), dense(slope));
        if growth != 0.0 {
            self.rows.push(new);
            if self.rows.len() >= 2 * self.rank {
                self.shrink();
                self.multiply(0);
            } else {
                self.multiply(self.rows.len() - 1);
            }
        }
        self.solve(&mut direction);
        self.weights.iter_mut().zip(&direction).for_each(|(weight, entry)| *weight -= entry);
        let size = norm(&self.weights);
        if size > self.radius {
            self.weights.iter_mut().for_each(|weight| *weight *= self.radius / size);
        }
    }

    /// BBᵀ from this row on.
    fn multiply(&mut self, from: usize) {
        self.products.truncate(from);
        for i in from..self.rows.len() {
            self.products.push((0..=i).map(|j| dot(&self.rows[i], &self.rows[j])).collect());
        }
    }

    /// z becomes M⁻¹z.
    fn solve(&self, z: &mut [f64]) {
        let with_epsilon = |i: usize, j: usize| self.products[i][j] + if i == j { self.epsilon } else { 0.0 };
        if let Some(inner) = Cholesky::of(self.rows.len(), with_epsilon, dot, positive_root) {
            let mut coefficients: Vec<f64> = self.rows.iter().map(|row| dot(row, z)).collect();
            inner.solve_lower(&mut coefficients, dot);
            inner.solve_upper(&mut coefficients);
            for (row, coefficient) in self.rows.iter().zip(&coefficients) {
                z.iter_mut().zip(row).for_each(|(entry, value)| *entry -= coefficient * value);
            }
        }
        z.iter_mut().for_each(|entry| *entry /= self.epsilon);
    }

    /// From 2m rows to m or fewer.
    fn shrink(&mut self) {
        let size = self.weights.len();
        self.rows.iter_mut().for_each(|row| row.resize(size, 0.0));
        let gram: Vec<Vec<f64>> =
            self.rows.iter().map(|row| self.rows.iter().map(|other| dot(row, other)).collect()).collect();
        let (squares, vectors) = DIRECTIONS.eigen(gram);
        let mut directions: Vec<(f64, Vec<f64>)> = squares.into_iter().zip(vectors).collect();
        directions.sort_by(|a, b| b.0.total_cmp(&a.0));
        let least = directions.get(self.rank).map_or(0.0, |direction| direction.0);
        let kept = directions.iter().take(self.rank).filter(|direction| direction.0 > least.max(0.0));
        let rows = kept.map(|(square, direction)| {
            let factor = ((square - least.max(0.0)) / square).sqrt();
            let mut row = vec![0.0; size];
            for (coefficient, old) in direction.iter().zip(&self.rows) {
                row.iter_mut().zip(old).for_each(|(entry, value)| *entry += factor * coefficient * value);
            }
            row
        });
        self.rows = rows.collect();
    }

    pub(super) fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        archive.part("sketch", |archive| {
            self.features.persist(archive)?;
            archive.column_of(self.features.len(), "weight", &mut self.weights)?;
            let mut lengths: Vec<u32> = self.rows.iter().map(|row| row.len() as u32).collect();
            let mut entries = self.rows.concat();
            archive.column("length", &mut lengths)?;
            archive.column("row", &mut entries)?;
            if archive.is_loading() {
                let rows = rows_of(&entries, lengths.iter().map(|&length| length as usize));
                let rows = rows.filter(|rows| rows.iter().all(|row| row.len() <= self.features.len()));
                self.rows = archive.require(rows, "length", "must be of rows of 'row', for at most all features")?;
                self.multiply(0);
            }
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sketch_of_enough_rank_solves_as_the_full_matrix() {
        // Three directions fit in a rank of 4: what is taken off is 0, however many rows there were.
        let mut sketch = Sketched::new(1e9, 0.5, 4);
        let mut full = super::super::full::Full::new(1e9, 0.5, 3);
        for round in 0..40u32 {
            let values: Vec<f32> = (0..3).map(|i| ((round * 5 + i * 7) % 9) as f32 - 4.0).collect();
            let x = Features::new(&[3, 8, 9], &values).unwrap();
            let slope = f64::from(round % 5) - 2.0;
            sketch.step(slope, 1.0, x);
            full.step(slope, 1.0, x);
            for index in [3, 8, 9] {
                let (one, other) = (sketch.weight(index), full.weight(index));
                assert!((one - other).abs() < 1e-9, "{round}: {one} {other}");
            }
        }
    }
}
