//! The diagonal of the matrix alone: O(non-zeros) a round.
//!
//! M_i += growth²·x_i², w_i −= z_i/M_i, then w·min(1, U/‖w‖): the Euclidean projection, since that in the
//! norm of M would take a look at all features.

use bytemuck::Zeroable;

use crate::archive::{Archive, Field};
use crate::storage::table::Table;
use crate::{Error, Features};

#[derive(Debug, Clone, Copy, Zeroable)]
#[repr(C)]
struct Slot {
    /// M_i − ε.
    growth: f64,
    /// w_i/scale.
    entry: f64,
}

#[derive(Debug, Clone)]
pub(super) struct Diagonal {
    radius: f64,
    epsilon: f64,
    scale: f64,
    table: Table<Slot>,
    /// Σ entry².
    square: f64,
}

/// Below this the scale is multiplied into the entries.
const SMALLEST_SCALE: f64 = 1e-10;

impl Diagonal {
    pub(super) fn new(radius: f64, epsilon: f64) -> Self {
        Self { radius, epsilon, scale: 1.0, table: Table::default(), square: 0.0 }
    }

    pub(super) fn weight(&self, index: u32) -> f64 {
        self.scale * self.table.get(index).entry
    }

    pub(super) fn step(&mut self, slope: f64, growth: f64, x: Features<'_>) {
        for (index, value) in x.iter().filter(|&(_, value)| value != 0.0) {
            let value = f64::from(value);
            let slot = self.table.slot(index);
            slot.growth += (growth * value) * (growth * value);
            let before = slot.entry;
            slot.entry -= slope * value / (self.epsilon + slot.growth) / self.scale;
            self.square += (slot.entry - before) * (slot.entry + before);
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
        for slot in self.table.slots_mut() {
            slot.entry *= self.scale;
        }
        self.scale = 1.0;
        // In order of index: a saved state goes on to the bit.
        let used = self.table.used(|slot| slot.growth > 0.0 || slot.entry != 0.0);
        self.square = crate::numeric::sum::sum(used.iter().map(|&index| self.table.get(index).entry.powi(2)));
    }

    pub(super) fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        archive.part("diagonal", |archive| {
            archive.number("scale", &mut self.scale)?;
            archive.number("square", &mut self.square)?;
            let fields = [
                ("growth", Field::F64(&|slot: &mut Slot| &mut slot.growth)),
                ("entry", Field::F64(&|slot| &mut slot.entry)),
            ];
            self.table.persist(archive, |slot| slot.growth > 0.0 || slot.entry != 0.0, &fields)
        })
    }
}
