//! Sums of quadratic functions of few variables: Σ slope·x and Σ bend·xxᵀ.
//!
//! Rows are laid side by side, eight at a time, and taken in together: an entry of the matrix is then loaded and stored once for
//! eight rows (of a table with 26 numbers, 5 instructions per entry and row became 1). Eights are summed in blocks, and blocks with a
//! running compensation, so that sums have the error of one block, however long the stream is.

use crate::Error;
use crate::archive::Archive;
use crate::numeric::sum::Sum;
use crate::simd::f64x4::{F64x4, FOUR, by_f64x4};

/// Rows that are taken in together.
const ROWS: usize = 8;

/// Eights of a block.
const BLOCK: u32 = 64;

/// Terms of a sum whose rounding adds up: those of a block, and some for the compensated rest and the products.
pub(super) const TERMS: f64 = (ROWS as u32 * BLOCK + 8) as f64;

/// The sums, over the lower triangle of the matrix, row by row, each row filled up to whole fours.
#[derive(Debug, Clone)]
pub(super) struct QuadraticSums {
    /// Variables there is room for, in whole fours.
    width: usize,
    /// The vector and then the triangle: of whole blocks, and of the current one.
    totals: Vec<Sum>,
    block: Vec<f64>,
    eights: u32,
    /// The rows that wait, `width` values each; which of them have something in each place; their slopes and bends.
    rows: Vec<f64>,
    masks: Vec<u8>,
    slopes: [f64; ROWS],
    bends: [f64; ROWS],
    waiting: usize,
}

/// Where row i of the triangle begins.
fn start(row: usize) -> usize {
    let (fours, rest) = (row / FOUR, row % FOUR);
    // Four rows of each number of fours before.
    FOUR * (2 * fours * fours.saturating_sub(1) + fours * rest + row)
}

impl QuadraticSums {
    pub(super) fn new(variables: usize) -> Self {
        let width = variables.next_multiple_of(FOUR);
        let length = width + start(width);
        Self {
            width,
            totals: vec![Sum::default(); length],
            block: vec![0.0; length],
            eights: 0,
            rows: vec![0.0; ROWS * width],
            masks: vec![0; width],
            slopes: [0.0; ROWS],
            bends: [0.0; ROWS],
            waiting: 0,
        }
    }

    /// Adds to a variable of the next row.
    #[inline]
    pub(super) fn set(&mut self, place: u16, value: f64) {
        self.rows[self.waiting * self.width + usize::from(place)] += value;
        self.masks[usize::from(place)] |= 1 << self.waiting;
    }

    /// Takes in the row that was set.
    #[inline]
    pub(super) fn push(&mut self, slope: f64, bend: f64) {
        (self.slopes[self.waiting], self.bends[self.waiting]) = (slope, bend);
        self.waiting += 1;
        if self.waiting == ROWS {
            let (vector, triangle) = self.block.split_at_mut(self.width);
            add_rows(vector, triangle, &self.rows, &self.masks, &self.slopes, &self.bends);
            self.clear();
        }
    }

    fn clear(&mut self) {
        for (place, mask) in self.masks.iter_mut().enumerate().filter(|(_, mask)| **mask != 0) {
            (0..ROWS).for_each(|row| self.rows[row * self.width + place] = 0.0);
            *mask = 0;
        }
        self.waiting = 0;
        self.eights += 1;
        if self.eights == BLOCK {
            self.totals.iter_mut().zip(&mut self.block).for_each(|(sum, block)| sum.add(std::mem::take(block)));
            self.eights = 0;
        }
    }

    /// Σ slope·x_i.
    pub(super) fn slope(&self, i: usize) -> f64 {
        let waiting = (0..self.waiting).map(|row| self.slopes[row] * self.rows[row * self.width + i]).sum::<f64>();
        self.totals[i].total() + self.block[i] + waiting
    }

    /// Σ bend·x_i x_j.
    pub(super) fn bend(&self, i: usize, j: usize) -> f64 {
        let at = self.width + start(i.max(j)) + i.min(j);
        let product = |row: usize| self.bends[row] * self.rows[row * self.width + i] * self.rows[row * self.width + j];
        self.totals[at].total() + self.block[at] + (0..self.waiting).map(product).sum::<f64>()
    }

    /// Saves or loads what is needed to continue to the bit.
    ///
    /// # Errors
    /// When something is missing or does not match.
    pub(super) fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        let mut counts = vec![f64::from(self.eights), self.waiting as f64];
        let (length, width) = (self.block.len(), self.width);
        let mut sums: Vec<f64> = self.totals.iter().map(|sum| sum.sum).collect();
        let mut lost: Vec<f64> = self.totals.iter().map(|sum| sum.lost).collect();
        archive.column_of(2, "counts", &mut counts)?;
        archive.column_of(length, "sums", &mut sums)?;
        archive.column_of(length, "lost", &mut lost)?;
        archive.column_of(length, "block", &mut self.block)?;
        archive.column_of(ROWS * width, "rows", &mut self.rows)?;
        archive.array("slopes", &mut self.slopes)?;
        archive.array("bends", &mut self.bends)?;
        if archive.is_loading() {
            let is_sound = (0.0..f64::from(BLOCK)).contains(&counts[0]) && (0.0..ROWS as f64).contains(&counts[1]);
            archive.check(is_sound, "counts", "must be below those of a block")?;
            let all = [&sums, &lost, &self.block, &self.rows].into_iter().flatten();
            let is_finite = all.chain(&self.slopes).chain(&self.bends).all(|number| number.is_finite());
            archive.check(is_finite, "sums", "must be finite")?;
            let rest = &self.rows[counts[1] as usize * width..];
            archive.check(rest.iter().all(|value| *value == 0.0), "rows", "must be 0 where there are none")?;
            (self.eights, self.waiting) = (counts[0] as u32, counts[1] as usize);
            self.totals = sums.into_iter().zip(lost).map(|(sum, lost)| Sum { sum, lost }).collect();
            for (row, values) in self.rows.chunks_exact(width.max(1)).enumerate() {
                let set = self.masks.iter_mut().zip(values).filter(|(_, value)| **value != 0.0);
                set.for_each(|(mask, _)| *mask |= 1 << row);
            }
        }
        Ok(())
    }
}

by_f64x4! {
    /// Adds eight rows of as many values as there are masks.
    fn add_rows<Q>(vector: &mut [f64], triangle: &mut [f64], rows: &[f64], masks: &[u8], slopes: &[f64; ROWS], bends: &[f64; ROWS]) {
        let mut rest = triangle;
        let width = masks.len();
        for (at, &mask) in masks.iter().enumerate() {
            let (line, after) = std::mem::take(&mut rest).split_at_mut(FOUR * (at / FOUR + 1));
            rest = after;
            if mask == 0 {
                continue;
            }
            if mask == u8::MAX {
                let value = |row: usize| rows[row * width + at];
                (0..ROWS).for_each(|row| vector[at] += slopes[row] * value(row));
                let factors: [f64; ROWS] = std::array::from_fn(|row| bends[row] * value(row));
                let others: [&[f64]; ROWS] = std::array::from_fn(|row| &rows[row * width..][..line.len()]);
                add_scaled::<Q, ROWS>(line, &factors, &others);
                continue;
            }
            let (mut factors, mut others, mut count) = ([0.0; ROWS], [&rows[..0]; ROWS], 0);
            let mut left = mask;
            while left != 0 {
                let row = left.trailing_zeros() as usize;
                left &= left - 1;
                let values = &rows[row * width..][..width];
                vector[at] += slopes[row] * values[at];
                factors[count] = bends[row] * values[at];
                others[count] = &values[..line.len()];
                count += 1;
            }
            let mut done = 0;
            while done < count {
                let (factors, others) = (&factors[done..], &others[done..]);
                done += match count - done {
                    8.. => add_scaled::<Q, 8>(line, factors, others),
                    4.. => add_scaled::<Q, 4>(line, factors, others),
                    2.. => add_scaled::<Q, 2>(line, factors, others),
                    _ => add_scaled::<Q, 1>(line, factors, others),
                };
            }
        }
    }
}

/// Adds N vectors, each times its factor. Returns N.
#[inline(always)]
fn add_scaled<Q: F64x4, const N: usize>(line: &mut [f64], factors: &[f64], others: &[&[f64]]) -> usize {
    let (line, _) = line.as_chunks_mut::<FOUR>();
    let factors: [Q; N] = std::array::from_fn(|at| Q::all(factors[at]));
    let others: [&[[f64; FOUR]]; N] = std::array::from_fn(|at| &others[at].as_chunks().0[..line.len()]);
    for (at, entries) in line.iter_mut().enumerate() {
        let mut sum = Q::load(entries);
        for k in 0..N {
            sum = sum + factors[k] * Q::load(&others[k][at]);
        }
        sum.store(entries);
    }
    N
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::rng::SplitMix64;

    #[test]
    fn rows_of_the_triangle_follow_each_other() {
        let mut next = 0;
        for row in 0..300 {
            assert_eq!(start(row), next, "{row}");
            next += FOUR * (row / FOUR + 1);
        }
    }

    #[test]
    fn sums_are_those_of_the_rows_however_sparse() {
        let mut random = SplitMix64::new(3);
        let mut sums = QuadraticSums::new(10);
        let (mut vector, mut matrix) = ([0.0; 10], [[0.0; 10]; 10]);
        for round in 0..1_203u32 {
            let mut x = [0.0; 10];
            for (place, value) in x.iter_mut().enumerate() {
                if place < 4 || random.below(5) == 0 {
                    *value = random.uniform() - 0.5;
                    sums.set(place as u16, *value);
                }
            }
            let (slope, bend) = (random.uniform() - 0.5, random.uniform());
            sums.push(slope, bend);
            for i in 0..10 {
                vector[i] += slope * x[i];
                (0..10).for_each(|j| matrix[i][j] += bend * x[i] * x[j]);
            }
            if round % 97 == 0 || round == 1_202 {
                for i in 0..10 {
                    assert!((sums.slope(i) - vector[i]).abs() < 1e-10);
                    assert!((0..10).all(|j| (sums.bend(i, j) - matrix[i][j]).abs() < 1e-10));
                }
            }
        }
    }
}
