//! The Newton experts: online Newton steps with the full matrix, for streams of few features.
//!
//! With z the features in units of their running root mean square, held to ±4: the score is
//! o + ⟨w, z⟩, and each round, by the residual r and curvature c that an implicit step leads to,
//! w += h·r·Sz, S −= h·c·Szzᵀ S/(1 + h·c·zᵀSz), from S = ½·I. For squared loss this is ridge
//! regression, solved anew each round; for logistic loss the online Newton method (Hazan, Agarwal,
//! Kale 2007; Jézéquel, Gaillard, Rudi 2020 for implicit steps). A round costs O(d²), so the expert
//! gives up where there are more than 128 of z, and from then on says what the constant says.
//!
//! One takes the features as they are; the other adds the products of all pairs of them, the
//! squares too: a linear learner on those bends.

use super::lane_entry::BIAS;
use crate::Error;
use crate::archive::Archive;
use crate::simd::{larger, smaller, vectorised};
use crate::storage::feature_index::FeatureIndex;

/// An online Newton learner.
#[derive(Debug, Clone)]
pub(super) struct Newton {
    /// Whether z holds products of pairs.
    has_pairs: bool,
    has_given_up: bool,
    features: KnownFeatures,
    weights: Vec<f64>,
    /// S, in rows of length [`MOST`] or less.
    inverse: Vec<f64>,
    stride: usize,
    row: NewtonRow,
}

/// The features that were met.
#[derive(Debug, Clone)]
struct KnownFeatures {
    index: FeatureIndex,
    /// Σ h·x̂² and Σ h of each.
    squares: Vec<f64>,
    counts: Vec<f64>,
}

/// What a round computes, kept for its memory.
#[derive(Debug, Clone, Default)]
struct NewtonRow {
    base: Vec<f64>,
    z: Vec<f64>,
    product: Vec<f64>,
}

/// The most of z.
const MOST: usize = 128;

/// S before the first round.
const FIRST: f64 = 0.5;

/// z is held to ± this: an outlier counts as four times the typical value.
const FARTHEST: f64 = 4.0;

/// Weights stay below this.
const LARGEST: f64 = 1e100;

vectorised! {
    /// Adds Sz to what is there. S is symmetric: its rows are added up side by side.
    fn multiply(inverse: &[f64], stride: usize, z: &[f64], product: &mut [f64]) {
        for (at, z) in z.iter().enumerate().filter(|(_, z)| **z != 0.0) {
            let inverse = &inverse[at * stride..][..product.len()];
            for (product, s) in product.iter_mut().zip(inverse) {
                *product += z * s;
            }
        }
    }
}

vectorised! {
    /// w += step·Sz, S −= shrink·Szzᵀ S.
    fn advance(weights: &mut [f64], inverse: &mut [f64], stride: usize, product: &[f64], step: f64, shrink: f64) {
        for (at, (weight, own)) in weights.iter_mut().zip(product).enumerate() {
            *weight = smaller(LARGEST, larger(-LARGEST, *weight + step * own));
            let inverse = &mut inverse[at * stride..][..product.len()];
            // Both halves of S stay alike to the bit, as a product does whose factors change places.
            for (s, product) in inverse.iter_mut().zip(product) {
                *s -= shrink * (own * product);
            }
        }
    }
}

impl KnownFeatures {
    /// The number of a feature; those of a row often come in the order in which they were met.
    #[inline]
    fn number(&self, index: u32, guess: usize) -> Option<usize> {
        match self.index.indices().get(guess) {
            Some(&known) if known == index => Some(guess),
            _ => self.index.find(index),
        }
    }

    fn add(&mut self, index: u32) {
        self.index.number(index);
        self.squares.push(0.0);
        self.counts.push(0.0);
    }

    /// x̂ in units of its root mean square.
    fn scaled(&self, number: usize, size: f32) -> f64 {
        let square = self.squares[number];
        if square == 0.0 {
            return 0.0;
        }
        (f64::from(size) / (square / self.counts[number]).sqrt()).clamp(-FARTHEST, FARTHEST)
    }
}

impl NewtonRow {
    /// z of a row: of each feature itself, then its products with those met before and its square.
    fn fill(&mut self, features: &KnownFeatures, has_pairs: bool, indices: &[u32], sizes: &[f32]) {
        self.base.clear();
        self.base.resize(features.index.len(), 0.0);
        for (at, (&index, &size)) in indices.iter().zip(sizes).enumerate() {
            if let Some(number) = features.number(index, at) {
                self.base[number] = features.scaled(number, size);
            }
        }
        self.z.clear();
        for (number, &value) in self.base.iter().enumerate() {
            self.z.push(value);
            if has_pairs && features.index.indices()[number] != BIAS {
                let before = self.base[..=number].iter().zip(features.index.indices());
                self.z.extend(before.filter(|(_, index)| **index != BIAS).map(|(other, _)| value * other));
            }
        }
    }
}

impl Newton {
    pub(super) fn new(has_pairs: bool) -> Self {
        Self {
            has_pairs,
            has_given_up: false,
            features: KnownFeatures { index: FeatureIndex::new(usize::MAX), squares: Vec::new(), counts: Vec::new() },
            weights: Vec::new(),
            inverse: Vec::new(),
            stride: 0,
            row: NewtonRow::default(),
        }
    }

    /// What it is called in reports.
    pub(super) fn name(&self) -> &'static str {
        match (self.has_pairs, self.has_given_up) {
            (false, false) => "newton",
            (true, false) => "newton on pairs",
            (false, true) => "newton (gave up)",
            (true, true) => "newton on pairs (gave up)",
        }
    }

    /// Whether there were too many features.
    pub(super) fn has_given_up(&self) -> bool {
        self.has_given_up
    }

    /// ⟨w, z⟩ of a row, given its centred x̂.
    pub(super) fn dot(&self, indices: &[u32], sizes: &[f32]) -> f64 {
        if self.has_given_up {
            return 0.0;
        }
        ROW.with_borrow_mut(|row| {
            row.fill(&self.features, self.has_pairs, indices, sizes);
            self.weights.iter().zip(&row.z).map(|(weight, z)| weight * z).sum()
        })
    }

    /// The weight of a feature itself, not that of its products, for x̂.
    pub(super) fn weight(&self, index: u32) -> f64 {
        let Some(number) = self.features.number(index, usize::MAX) else { return 0.0 };
        let square = self.features.squares[number];
        if square == 0.0 {
            return 0.0;
        }
        self.weights[self.start(number)] / (square / self.features.counts[number]).sqrt()
    }

    /// Where in z a feature is, those met before having been followed by their products.
    fn start(&self, number: usize) -> usize {
        let paired = self.features.index.indices()[..number].iter().filter(|&&index| index != BIAS).count();
        number + if self.has_pairs { paired * (paired + 1) / 2 } else { 0 }
    }

    /// Takes in the features of a row: zᵀSz, how far the score moves for a step of 1. None if there is to be no
    /// step.
    pub(super) fn prepare(&mut self, indices: &[u32], sizes: &[f32], h: f64) -> Option<f64> {
        if self.has_given_up || !self.meet(indices, sizes, h) {
            return None;
        }
        let Self { features, row, weights, inverse, stride, .. } = self;
        row.fill(features, self.has_pairs, indices, sizes);
        row.product.clear();
        row.product.resize(weights.len(), 0.0);
        multiply(inverse, *stride, &row.z, &mut row.product);
        let square: f64 = row.product.iter().zip(&row.z).map(|(product, z)| product * z).sum();
        // S ≤ ½·I, so ‖Sz‖² ≤ ½·zᵀSz: where enormous importance weights have left nothing of S but
        // rounding that is not so, and a step would make it grow without limit.
        let length: f64 = row.product.iter().map(|product| product * product).sum();
        let is_sound = square.is_finite() && length <= FIRST * square * (1.0 + 1e-9);
        is_sound.then_some(square)
    }

    /// A step of importance h, q being h·zᵀSz, by the residual and curvature that it leads to.
    pub(super) fn advance(&mut self, (residual, curvature): (f64, f64), q: f64, h: f64) {
        let (step, shrink) = (h * residual, h * curvature / (1.0 + curvature * q));
        if step.is_finite() && shrink.is_finite() {
            advance(&mut self.weights, &mut self.inverse, self.stride, &self.row.product, step, shrink);
        }
    }

    /// Takes in the features of a row; whether they are not too many.
    fn meet(&mut self, indices: &[u32], sizes: &[f32], h: f64) -> bool {
        for (at, (&index, &size)) in indices.iter().zip(sizes).enumerate() {
            let number = match self.features.number(index, at) {
                Some(number) => number,
                None => {
                    self.features.add(index);
                    if !self.grow() {
                        *self = Self { has_given_up: true, ..Self::new(self.has_pairs) };
                        return false;
                    }
                    self.features.index.len() - 1
                }
            };
            self.features.squares[number] += h * f64::from(size) * f64::from(size);
            self.features.counts[number] += h;
        }
        true
    }

    /// Makes room for the features that are known; whether they are not too many.
    fn grow(&mut self) -> bool {
        let size = self.start(self.features.index.len());
        if size > MOST {
            return false;
        }
        let before = self.weights.len();
        if size > self.stride {
            let stride = size.next_power_of_two();
            let mut inverse = vec![0.0; stride * stride];
            for row in 0..before {
                inverse[row * stride..][..before].copy_from_slice(&self.inverse[row * self.stride..][..before]);
            }
            (self.stride, self.inverse) = (stride, inverse);
        }
        self.weights.resize(size, 0.0);
        (before..size).for_each(|at| self.inverse[at * self.stride + at] = FIRST);
        true
    }

    pub(super) fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        let mut indices = self.features.index.indices().to_vec();
        archive.flag("has_given_up", &mut self.has_given_up)?;
        archive.column("indices", &mut indices)?;
        if archive.is_loading() {
            *self = Self { has_given_up: self.has_given_up, ..Self::new(self.has_pairs) };
            for index in indices {
                let is_new = self.features.index.find(index).is_none();
                self.features.add(index);
                archive.check(is_new && self.grow(), "indices", "must not repeat or be too many")?;
            }
        }
        archive.array("squares", &mut self.features.squares)?;
        archive.array("counts", &mut self.features.counts)?;
        archive.array("weights", &mut self.weights)?;
        let size = self.weights.len();
        let rows = (0..size).flat_map(|row| &self.inverse[row * self.stride..][..size]);
        let mut inverse: Vec<f64> = rows.copied().collect();
        archive.array("inverse", &mut inverse)?;
        for row in 0..size {
            self.inverse[row * self.stride..][..size].copy_from_slice(&inverse[row * size..][..size]);
        }
        Ok(())
    }
}

thread_local! {
    /// Predicting changes nothing, and must not allocate for each row either.
    static ROW: std::cell::RefCell<NewtonRow> = std::cell::RefCell::default();
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A step of importance h for squared loss.
    fn observe(newton: &mut Newton, indices: &[u32], sizes: &[f32], score: f64, label: f64, h: f64) {
        if let Some(square) = newton.prepare(indices, sizes, h) {
            let q = h * square;
            newton.advance(((label - score) / (1.0 + q), 1.0), q, h);
        }
    }

    /// Solves Ax = b by elimination.
    fn solve(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
        let n = b.len();
        for pivot in 0..n {
            let best = (pivot..n).max_by(|&i, &j| a[i][pivot].abs().total_cmp(&a[j][pivot].abs())).unwrap();
            a.swap(pivot, best);
            b.swap(pivot, best);
            for row in pivot + 1..n {
                let factor = a[row][pivot] / a[pivot][pivot];
                let (above, below) = a.split_at_mut(row);
                below[0][pivot..].iter_mut().zip(&above[pivot][pivot..]).for_each(|(x, y)| *x -= factor * y);
                b[row] -= factor * b[pivot];
            }
        }
        for row in (0..n).rev() {
            let known: f64 = (row + 1..n).map(|column| a[row][column] * b[column]).sum();
            b[row] = (b[row] - known) / a[row][row];
        }
        b
    }

    /// Features of ±1, whose root mean square is 1 whatever came before.
    fn signs(round: u64) -> [f32; 4] {
        [0, 1, 2, 3].map(|at| if (round * (7 + at) / 3).is_multiple_of(2) { 1.0 } else { -1.0 })
    }

    #[test]
    fn for_squared_loss_it_solves_ridge_regression() {
        for has_pairs in [false, true] {
            let mut newton = Newton::new(has_pairs);
            let indices = [3, 1, 7, 2];
            let (mut rows, mut labels, mut weights) = (Vec::new(), Vec::new(), Vec::new());
            for round in 0..60 {
                let (x, h) = (signs(round), 1.0 + (round % 3) as f64);
                let y = f64::from(x[0]) - 2.0 * f64::from(x[1] * x[3]) + (round % 5) as f64;
                let score = newton.dot(&indices, &x);
                observe(&mut newton, &indices, &x, score, y, h);
                rows.push(newton.row.z.clone());
                labels.push(y);
                weights.push(h);
            }
            let size = rows[0].len();
            assert_eq!(size, if has_pairs { 4 + 10 } else { 4 });
            // S starts at ½·I: the regularisation is 2‖w‖²/2 beside half squares.
            let mut a = vec![vec![0.0; size]; size];
            let mut b = vec![0.0; size];
            (0..size).for_each(|at| a[at][at] = 1.0 / FIRST);
            for ((z, y), h) in rows.iter().zip(&labels).zip(&weights) {
                for row in 0..size {
                    b[row] += h * z[row] * y;
                    (0..size).for_each(|column| a[row][column] += h * z[row] * z[column]);
                }
            }
            for (found, expected) in newton.weights.iter().zip(solve(a, b)) {
                assert!((found - expected).abs() < 1e-9, "{found} {expected}");
            }
        }
    }

    #[test]
    fn weights_are_found_by_feature() {
        let mut newton = Newton::new(true);
        let indices = [BIAS, 9, 4];
        for round in 0..400 {
            let x = signs(round);
            let y = f64::from(3.0 * x[1] - x[2]);
            let score = newton.dot(&indices, &[1.0, x[1], x[2]]);
            observe(&mut newton, &indices, &[1.0, x[1], x[2]], score, y, 1.0);
        }
        assert_eq!(newton.weights.len(), 3 + 3, "the bias has no products");
        assert!((newton.weight(9) - 3.0).abs() < 0.05 && (newton.weight(4) + 1.0).abs() < 0.05);
        assert_eq!(newton.weight(5), 0.0);
    }

    #[test]
    fn features_that_come_later_find_room_and_too_many_end_it() {
        let mut newton = Newton::new(false);
        for index in 0..128u32 {
            observe(&mut newton, &[index], &[1.0], 0.0, 1.0, 1.0);
            assert!(!newton.has_given_up());
        }
        assert!(newton.weights.iter().all(|weight| (weight - 1.0 / 3.0).abs() < 1e-9));
        observe(&mut newton, &[128], &[1.0], 0.0, 1.0, 1.0);
        assert!(newton.has_given_up() && newton.weights.is_empty());
        assert_eq!(newton.dot(&[0], &[1.0]), 0.0);
    }
}
