//! The diagonal of the matrix alone: O(non-zeros) per round.
//!
//! M_i += growth²·x_i², w_i −= z_i/M_i, then w·min(1, U/‖w‖): the Euclidean projection, since that in the
//! norm of M would take a look at all features.

use crate::optimizer::prelude::*;
use bytemuck::Zeroable;

use crate::storage::table::ParameterTable;

#[derive(Debug, Clone, Copy, Zeroable)]
#[repr(C)]
struct DiagonalEntry {
    /// M_i − ε.
    growth: f64,
    /// w_i/scale.
    raw: f64,
}

#[derive(Debug, Clone)]
pub(super) struct Diagonal {
    radius: f64,
    epsilon: f64,
    scale: f64,
    table: ParameterTable<DiagonalEntry>,
    /// Σ entry².
    square: f64,
}

/// Below this the scale is multiplied into the entries.
const SMALLEST_SCALE: f64 = 1e-10;

impl Diagonal {
    pub(super) fn new(radius: f64, epsilon: f64) -> Self {
        Self { radius, epsilon, scale: 1.0, table: ParameterTable::default(), square: 0.0 }
    }

    pub(super) fn weight(&self, index: u32) -> f64 {
        self.scale * self.table.get(index).raw
    }

    pub(super) fn step(&mut self, slope: f64, growth: f64, x: Features<'_>) {
        for (index, value) in x.iter().filter(|&(_, value)| value != 0.0) {
            let value = f64::from(value);
            let entry = self.table.entry(index);
            entry.growth += (growth * value) * (growth * value);
            let before = entry.raw;
            entry.raw -= slope * value / (self.epsilon + entry.growth) / self.scale;
            self.square += (entry.raw - before) * (entry.raw + before);
        }
        let size = self.scale * self.square.max(0.0).sqrt();
        if size > self.radius {
            self.scale *= self.radius / size;
            // Far steps take digits of what was there with them.
            if self.scale < SMALLEST_SCALE || size > 1e3 * self.radius {
                self.fold();
            }
        }
    }

    fn fold(&mut self) {
        for entry in self.table.entries_mut() {
            entry.raw *= self.scale;
        }
        self.scale = 1.0;
        // In order of index: a saved state goes on to the bit.
        let used = self.table.used(|entry| entry.growth > 0.0 || entry.raw != 0.0);
        self.square = crate::numeric::sum::sum(used.iter().map(|&index| self.table.get(index).raw.powi(2)));
    }

    pub(super) fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        archive.part("diagonal", |archive| {
            visit_fields!(archive.number(self.scale, self.square));
            let fields = [
                ("growth", Field::F64(&|entry: &mut DiagonalEntry| &mut entry.growth)),
                ("entry", Field::F64(&|entry| &mut entry.raw)),
            ];
            self.table.persist(archive, |entry| entry.growth > 0.0 || entry.raw != 0.0, &fields)
        })
    }
}
