//! A sparse vector whose coordinates are projected one by one or all together.

use bytemuck::Zeroable;

use super::average::Average;
use crate::archive::{Column, State};
use crate::numeric::{saturate, sum};
use crate::storage::table::Table;
use crate::{Error, Features};

/// A coordinate.
#[derive(Debug, Clone, Copy, Zeroable)]
#[repr(C)]
struct Coordinate {
    weight: f32,
    /// Whether a gradient touched it: 0 or 1.
    is_seen: u32,
}

/// Weights by index, how many of them gradients touched, and their average if it is asked for.
#[derive(Debug, Clone, Default)]
pub(super) struct PlainVector {
    coordinates: Table<Coordinate>,
    seen: f64,
    average: Option<Average>,
}

impl PlainVector {
    /// The vector that is `weight` at the coordinates below `dimension`.
    pub(super) fn uniform(weight: f64, dimension: u32, averaging: bool) -> Self {
        let mut vector = Self { average: averaging.then(Average::default), ..Self::default() };
        (0..dimension).for_each(|index| vector.coordinates.slot(index).weight = saturate(weight));
        vector
    }

    pub(super) fn dot(&self, x: Features<'_>) -> f64 {
        sum::sum(x.iter().map(|(index, value)| self.get(index) * f64::from(value)))
    }

    pub(super) fn get(&self, index: u32) -> f64 {
        f64::from(self.coordinates.get(index).weight)
    }

    /// How many coordinates were seen.
    pub(super) fn seen(&self) -> f64 {
        self.seen
    }

    /// A gradient touches the coordinates of x.
    pub(super) fn see(&mut self, x: Features<'_>) {
        for (index, _) in x.iter().filter(|(_, value)| *value != 0.0) {
            let coordinate = self.coordinates.slot(index);
            self.seen += f64::from(1 - coordinate.is_seen);
            coordinate.is_seen = 1;
        }
    }

    /// w_i ← project(w_i + step·x_i), of the indices below `limit`.
    pub(super) fn add(&mut self, step: f64, x: Features<'_>, limit: u32, project: impl Fn(f64) -> f64) {
        for (index, value) in x.iter().filter(|&(index, _)| index < limit) {
            let coordinate = self.coordinates.slot(index);
            let before = coordinate.weight;
            coordinate.weight = saturate(project(f64::from(before) + step * f64::from(value)));
            if let Some(average) = &mut self.average {
                average.change(index, f64::from(coordinate.weight) - f64::from(before));
            }
        }
    }

    /// The weights that differ from 0, or of all coordinates below `dimension`.
    pub(super) fn weights(&self, dimension: u32) -> impl Iterator<Item = f64> {
        let is_one = move |(index, coordinate): &(u32, &Coordinate)| *index < dimension || coordinate.weight != 0.0;
        self.coordinates.slots().filter(is_one).map(|(_, coordinate)| f64::from(coordinate.weight))
    }

    /// w_i ← project(w_i) for the same.
    pub(super) fn project(&mut self, dimension: u32, project: impl Fn(f64) -> f64) {
        let average = &mut self.average;
        for (index, coordinate) in self.coordinates.slots_mut_with_indices() {
            let before = coordinate.weight;
            if index < dimension || before != 0.0 {
                coordinate.weight = saturate(project(f64::from(before)));
                if let Some(average) = average {
                    average.change(index, f64::from(coordinate.weight) - f64::from(before));
                }
            }
        }
    }

    pub(super) fn count(&mut self) {
        if let Some(average) = &mut self.average {
            average.count(1.0);
        }
    }

    pub(super) fn averaged(&self) -> Option<Vec<(u32, f64)>> {
        let average = self.average.as_ref()?;
        Some(average.weights(self.coordinates.used(|it| it.weight != 0.0), |index| self.get(index)))
    }

    pub(super) fn state(&self) -> State {
        let mut state = State::default();
        let indices = self.coordinates.used(|coordinate| coordinate.weight != 0.0 || coordinate.is_seen != 0);
        let coordinates = || indices.iter().map(|&index| self.coordinates.get(index));
        state.set_column("weight", Column::F32(coordinates().map(|coordinate| coordinate.weight).collect()));
        state.set_column("seen", Column::U8(coordinates().map(|coordinate| coordinate.is_seen as u8).collect()));
        state.set_column("index", Column::U32(indices));
        if let Some(average) = &self.average {
            state.absorb("average", average.state());
        }
        state
    }

    /// The vector of a saved state, with all coordinates below `dimension`.
    pub(super) fn restore(&mut self, state: &State, dimension: u32) -> Result<(), Error> {
        let (weights, seen) = (state.f32s("weight")?, state.u8s("seen")?);
        if weights.len() != seen.len() || seen.iter().any(|&seen| seen > 1) {
            return Err(Error::model("the columns of the weights do not match: the model is damaged"));
        }
        self.seen = seen.iter().map(|&seen| f64::from(seen)).sum();
        let coordinates =
            weights.iter().zip(seen).map(|(&weight, &seen)| Coordinate { weight, is_seen: u32::from(seen) });
        self.coordinates = Table::filled(state.u32s("index")?, coordinates)?;
        // Coordinates of a simplex are there when they are 0 too.
        for index in 0..dimension {
            self.coordinates.place(index);
        }
        self.average.as_mut().map_or(Ok(()), |average| average.restore(&state.part("average")))
    }
}
