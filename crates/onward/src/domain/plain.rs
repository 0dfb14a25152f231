//! A sparse vector whose coordinates are projected one by one or all together.

use bytemuck::Zeroable;

use super::average::Average;
use crate::archive::{Archive, Field, Precision, single};
use crate::storage::table::ParameterTable;
use crate::{Error, Features};

/// Weights are held within the range of f32.
const LARGEST: f64 = f32::MAX as f64;

/// A coordinate.
#[derive(Debug, Clone, Copy, Zeroable)]
#[repr(C)]
struct PlainCoordinate {
    weight: f64,
    /// Whether a gradient touched it: 0 or 1.
    is_seen: u8,
}

/// Weights by index, how many of them gradients touched, and their average if it is asked for.
#[derive(Debug, Clone, Default)]
pub(super) struct PlainVector {
    coordinates: ParameterTable<PlainCoordinate>,
    precision: Precision,
    seen: f64,
    average: Average,
}

impl PlainVector {
    /// The vector that is `weight` at the coordinates below `dimension`.
    pub(super) fn uniform(weight: f64, dimension: u32, averaging: bool) -> Self {
        let mut vector = Self { average: Average::new(averaging), ..Self::default() };
        (0..dimension).for_each(|index| vector.coordinates.entry(index).weight = weight);
        vector
    }

    pub(super) fn dot(&self, x: Features<'_>) -> f64 {
        x.dot(|index| self.get(index))
    }

    pub(super) fn get(&self, index: u32) -> f64 {
        self.coordinates.get(index).weight
    }

    /// How many coordinates were seen.
    pub(super) fn seen(&self) -> f64 {
        self.seen
    }

    /// A gradient touches the coordinates of x.
    pub(super) fn see(&mut self, x: Features<'_>) {
        for (index, _) in x.iter().filter(|(_, value)| *value != 0.0) {
            let coordinate = self.coordinates.entry(index);
            self.seen += f64::from(1 - coordinate.is_seen);
            coordinate.is_seen = 1;
        }
    }

    /// w_i ← project(w_i + step·x_i), of the indices below `limit`.
    pub(super) fn add(&mut self, step: f64, x: Features<'_>, limit: u32, project: impl Fn(f64) -> f64) {
        let held = |weight: f64| project(weight).clamp(-LARGEST, LARGEST);
        match self.precision {
            Precision::Double => self.add_kept(step, x, limit, held),
            Precision::Single => self.add_kept(step, x, limit, |weight| single(held(weight))),
        }
    }

    fn add_kept(&mut self, step: f64, x: Features<'_>, limit: u32, kept: impl Fn(f64) -> f64) {
        for (index, value) in x.iter().filter(|&(index, _)| index < limit) {
            let coordinate = self.coordinates.entry(index);
            let before = coordinate.weight;
            coordinate.weight = kept(before + step * f64::from(value));
            self.average.change(index, coordinate.weight - before);
        }
    }

    /// The weights that differ from 0, or of all coordinates below `dimension`.
    pub(super) fn weights(&self, dimension: u32) -> impl Iterator<Item = f64> {
        let is_one =
            move |(index, coordinate): &(u32, &PlainCoordinate)| *index < dimension || coordinate.weight != 0.0;
        self.coordinates.entries().filter(is_one).map(|(_, coordinate)| coordinate.weight)
    }

    /// w_i ← project(w_i) for the same.
    pub(super) fn project(&mut self, dimension: u32, project: impl Fn(f64) -> f64) {
        for (index, coordinate) in self.coordinates.entries_mut_with_indices() {
            let before = coordinate.weight;
            if index < dimension || before != 0.0 {
                coordinate.weight = self.precision.rounded(project(before));
                self.average.change(index, coordinate.weight - before);
            }
        }
    }

    pub(super) fn count(&mut self) {
        self.average.count(1.0);
    }

    pub(super) fn averaged(&self) -> Option<Vec<(u32, f64)>> {
        self.average.weights(|| self.coordinates.used(|it| it.weight != 0.0), |index| self.get(index))
    }

    /// Loaded, the vector has all coordinates below `dimension`.
    pub(super) fn persist(&mut self, archive: &mut Archive, dimension: u32) -> Result<(), Error> {
        archive.precision("weight", &mut self.precision);
        let fields = [
            ("weight", Field::Weight(&|coordinate: &mut PlainCoordinate| &mut coordinate.weight, self.precision)),
            ("seen", Field::U8(&|coordinate| &mut coordinate.is_seen)),
        ];
        self.coordinates.persist(archive, |it| it.weight != 0.0 || it.is_seen != 0, &fields)?;
        archive.check(self.coordinates.entries().all(|(_, it)| it.is_seen <= 1), "seen", "must be 0 or 1")?;
        if archive.is_loading() {
            self.seen = self.coordinates.entries().map(|(_, it)| f64::from(it.is_seen)).sum();
            // Coordinates of a simplex are there when they are 0 too.
            for index in 0..dimension {
                self.coordinates.position(index);
            }
        }
        self.average.persist(archive)
    }
}
