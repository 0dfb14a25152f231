//! The L2 ball ‖w‖₂ ≤ U, with projection in constant time.
//!
//! The vector is kept as w = a·v with a running ‖v‖². The Euclidean projection
//! Π(w) = w·min(1, U/‖w‖) only changes the scale a; a step w += c·x costs one
//! operation a non-zero of x. The norm is that of the entries as they are stored.

use super::average::Average;
use crate::archive::{Archive, Field, Precision, single, visit_fields};
use crate::numeric::sum;
use crate::storage::table::ParameterTable;
use crate::{Error, Features};

/// Below this the scale is multiplied into the entries, so that they do not overflow.
const SMALLEST_SCALE: f64 = 1e-10;

/// The same where an average is kept: it is a difference of terms that are larger than it by as
/// much as the scale is below 1, and so keeps eleven digits.
const SMALLEST_SCALE_WITH_AVERAGE: f64 = 1e-5;

/// Weights are held within the range of f32.
const LARGEST: f64 = f32::MAX as f64;

/// A vector that can be projected on an L2 ball, or shrunk, in constant time.
///
/// ```
/// use onward::{Features, domain::BallVector};
/// let mut w = BallVector::default();
/// w.add(1.0, Features::new(&[0, 1], &[3.0, 4.0])?);
/// w.project(1.0);
/// assert!((w.norm_squared() - 1.0).abs() < 1e-12);
/// assert!((w.get(1) - 0.8).abs() < 1e-15);
/// # Ok::<(), onward::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct BallVector {
    scale: f64,
    entries: ParameterTable<f64>,
    precision: Precision,
    /// ‖v‖² of the entries.
    square: f64,
    /// The average of the points, if it is wanted.
    average: Average,
}

impl Default for BallVector {
    fn default() -> Self {
        let (entries, precision, average) = Default::default();
        Self { scale: 1.0, entries, precision, square: 0.0, average }
    }
}

impl BallVector {
    /// A vector that also keeps the average of the points that are [counted](Self::count).
    pub fn averaging() -> Self {
        Self { average: Average::new(true), ..Self::default() }
    }

    /// Counts the point as it is for the average.
    pub fn count(&mut self) {
        self.average.count(self.scale);
    }

    /// The average of the points that were counted, if it is kept.
    pub fn averaged(&self) -> Option<Vec<(u32, f64)>> {
        self.average.weights(|| self.entries.used(|entry| *entry != 0.0), |index| self.entries.get(index))
    }

    /// ⟨w, x⟩.
    pub fn dot(&self, x: Features<'_>) -> f64 {
        self.scale * x.dot(|index| self.entries.get(index))
    }

    /// w_i.
    pub fn get(&self, index: u32) -> f64 {
        self.scale * self.entries.get(index)
    }

    /// ‖w‖².
    pub fn norm_squared(&self) -> f64 {
        self.scale * self.scale * self.square
    }

    /// w += step·x.
    pub fn add(&mut self, step: f64, x: Features<'_>) {
        let limit = LARGEST / self.scale;
        match self.precision {
            Precision::Double => self.add_kept(step, x, |entry| entry.clamp(-limit, limit)),
            Precision::Single => self.add_kept(step, x, |entry| single(entry.clamp(-LARGEST, LARGEST))),
        }
    }

    fn add_kept(&mut self, step: f64, x: Features<'_>, kept: impl Fn(f64) -> f64) {
        let step = step / self.scale;
        let mut change = 0.0;
        for (index, value) in x.iter() {
            let entry = self.entries.entry(index);
            let before = *entry;
            *entry = kept(before + step * f64::from(value));
            let after = *entry;
            change += (after - before) * (after + before);
            self.average.change(index, after - before);
        }
        self.square = (self.square + change).max(0.0);
    }

    /// w ← factor·w, factor ≥ 0.
    pub fn shrink(&mut self, factor: f64) {
        self.scale *= factor;
        let smallest = if self.average.is_kept() { SMALLEST_SCALE_WITH_AVERAGE } else { SMALLEST_SCALE };
        if self.scale < smallest {
            self.fold();
        }
    }

    /// The Euclidean projection on the ball of a radius > 0.
    pub fn project(&mut self, radius: f64) {
        let norm = self.norm_squared().sqrt();
        if norm > radius {
            self.shrink(radius / norm);
        }
    }

    /// Multiplies the scale into the entries: O(d), once in many rounds.
    fn fold(&mut self) {
        self.average.fold(self.entries.entries().map(|(index, entry)| (index, *entry)));
        for entry in self.entries.entries_mut() {
            *entry = self.precision.rounded(*entry * self.scale);
        }
        self.scale = 1.0;
        // In order of index, whatever the order in which they came: a saved vector goes on to the bit.
        let used = self.entries.used(|entry| *entry != 0.0);
        self.square = sum::sum(used.into_iter().map(|index| self.entries.get(index).powi(2)));
    }

    /// The vector as columns `index` and `weight` (entries), and its scale and square.
    ///
    /// # Errors
    /// When something is missing or does not match.
    pub fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        visit_fields!(archive.number(self.scale, self.square));
        archive.precision("weight", &mut self.precision);
        let weight = Field::Weight(&|entry| entry, self.precision);
        self.entries.persist(archive, |entry| *entry != 0.0, &[("weight", weight)])?;
        self.average.persist(archive)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn steps_and_projections_equal_those_of_a_plain_vector(
            steps in prop::collection::vec((prop::array::uniform5(-3.0f32..3.0), 0.1f64..2.0), 1..60)
        ) {
            let mut ball = BallVector::default();
            let mut plain = [0.0f64; 5];
            for (row, radius) in &steps {
                ball.add(0.7, Features::new(&[0, 1, 2, 3, 4], row).unwrap());
                plain.iter_mut().zip(row).for_each(|(entry, &value)| *entry += 0.7 * f64::from(value));
                ball.project(*radius);
                let norm = plain.iter().map(|entry| entry * entry).sum::<f64>().sqrt();
                plain.iter_mut().for_each(|entry| *entry *= (radius / norm).min(1.0));
            }
            // 60 steps of relative rounding 1.1e-16 on values up to about 5.
            for (index, &entry) in plain.iter().enumerate() {
                prop_assert!((ball.get(index as u32) - entry).abs() < 60.0 * 1.2e-16 * 10.0);
            }
            let norm: f64 = (0..5).map(|index| ball.get(index) * ball.get(index)).sum();
            prop_assert!((ball.norm_squared() - norm).abs() <= 1e-12 * norm.max(1.0));
        }
    }

    #[test]
    fn the_average_survives_scales_that_are_multiplied_in() {
        let mut ball = BallVector::averaging();
        let mut sums = [0.0f64; 3];
        let rounds = 2000u32;
        for round in 0..rounds {
            ball.count();
            sums.iter_mut().zip(0..).for_each(|(sum, index)| *sum += ball.get(index));
            let sign = if round % 5 == 0 { -1.0 } else { 1.0 };
            ball.add(10.0, Features::new(&[round % 3], &[sign]).unwrap());
            ball.project(0.5);
            ball.shrink(0.9);
        }
        let averaged = ball.averaged().unwrap();
        assert_eq!(averaged.len(), 3);
        for (index, average) in averaged {
            // It is a difference of terms that are larger than it by as much as the scale is below 1.
            assert!((average - sums[index as usize] / f64::from(rounds)).abs() < 1e-11);
        }
    }

    #[test]
    fn a_thousand_projections_keep_the_norm() {
        let mut ball = BallVector::default();
        for round in 0..100_000u32 {
            let sign = if round % 3 == 0 { -1.0 } else { 1.0 };
            ball.add(1e3, Features::new(&[round % 7], &[sign]).unwrap());
            ball.project(0.5);
        }
        assert!((ball.norm_squared().sqrt() - 0.5).abs() < 1e-12);
    }
}
