//! Weights that a penalty pulls towards 0 each step, caught up when they are asked for.
//!
//! w = a·v. The L2 penalty shrinks all weights by one factor, which is multiplied into a. The L1
//! penalty is the cumulative truncated one (Tsuruoka, Tsujii, Ananiadou 2009): u is the penalty that
//! every weight could have received since the beginning, q_i what weight i did receive; a
//! weight is moved towards 0 by the difference and held at 0: v ← max(0, v − (u + q)) for v > 0,
//! min(0, v + (u − q)) for v < 0, and q becomes what was received. Doing so once after many
//! steps equals doing it in each, so that a weight is caught up when it is next asked for.
//! u and q are kept in units of v: they shrink with the weights when there is an L2 penalty too.

use crate::optimizer::prelude::*;
use bytemuck::Zeroable;

use crate::domain::Average;
use crate::numeric::sum;
use crate::storage::table::{ParameterTable, Positions};

/// Below this the scale is multiplied into the entries. (An average is a difference of terms that
/// are larger than it by as much as weights have shrunk: it keeps eleven digits.)
const SMALLEST_SCALE: f64 = 1e-5;

/// Weights are held within the range of f32.
const LARGEST: f64 = f32::MAX as f64;

#[derive(Debug, Clone, Copy, Zeroable)]
#[repr(C)]
struct PenalisedEntry {
    /// v_i, as it was when it was last touched.
    raw: f64,
    /// q_i.
    received: f64,
}

impl PenalisedEntry {
    /// v_i after the penalty u.
    #[inline]
    fn caught_up(&self, penalty: f64) -> f64 {
        if self.raw > 0.0 {
            (self.raw - (penalty + self.received)).max(0.0)
        } else if self.raw < 0.0 {
            (self.raw + (penalty - self.received)).min(0.0)
        } else {
            0.0
        }
    }
}

/// Weights under a penalty, and their average if it is asked for.
#[derive(Debug, Clone)]
pub(super) struct Penalised {
    /// a.
    scale: f64,
    /// u.
    penalty: f64,
    entries: ParameterTable<PenalisedEntry>,
    /// Where the entries of a row are.
    positions: Positions,
    average: Average,
    /// Whether an L1 penalty occurs: an average then catches up all weights each round.
    has_l1: bool,
}

impl Penalised {
    pub(super) fn new(has_l1: bool, averaging: bool) -> Self {
        Self {
            scale: 1.0,
            penalty: 0.0,
            entries: ParameterTable::default(),
            positions: Positions::default(),
            average: Average::new(averaging),
            has_l1,
        }
    }

    pub(super) fn get(&self, index: u32) -> f64 {
        self.scale * self.entries.get(index).caught_up(self.penalty)
    }

    pub(super) fn dot(&self, x: Features<'_>) -> f64 {
        let weights = self.entries.row(x);
        sum::sum(weights.map(|(entry, value)| self.scale * entry.caught_up(self.penalty) * f64::from(value)))
    }

    /// A row to come: its entries are fetched.
    pub(super) fn prefetch(&mut self, x: Features<'_>) {
        self.entries.prefetch(x);
    }

    /// Finds where the weights of a row are, for what is done with all of them.
    pub(super) fn locate(&mut self, x: Features<'_>) {
        self.entries.locate(x, &mut self.positions);
    }

    /// Catches up the weights of the row that was located.
    pub(super) fn catch_up_all(&mut self, x: Features<'_>) {
        if self.has_l1 {
            self.each(x, |weights, position, index, _| weights.catch_up_at(position, index));
        }
    }

    /// w += u·x of the row that was located, of weights that are caught up.
    pub(super) fn add_all(&mut self, u: f64, x: Features<'_>) {
        self.each(x, |weights, position, index, value| weights.add_at(position, index, u * f64::from(value)));
    }

    /// Does something with each weight of the row that was located, unless its value is 0.
    fn each(&mut self, x: Features<'_>, act: impl Fn(&mut Self, usize, u32, f32)) {
        let positions = std::mem::take(&mut self.positions);
        for (&position, (index, value)) in
            positions.of(x).all().iter().zip(x.iter()).filter(|&(_, (_, value))| value != 0.0)
        {
            act(self, position as usize, index, value);
        }
        self.positions = positions;
    }

    /// Counts the point as it is for the average.
    pub(super) fn count(&mut self) {
        if self.has_l1 && self.average.is_kept() {
            let used = self.entries.used(|entry| entry.raw != 0.0);
            used.into_iter().for_each(|index| self.catch_up(index));
        }
        self.average.count(self.scale);
    }

    /// The penalty that is due, on one weight.
    pub(super) fn catch_up(&mut self, index: u32) {
        if !self.has_l1 {
            return;
        }
        let position = self.entries.position(index);
        self.catch_up_at(position, index);
    }

    fn catch_up_at(&mut self, position: usize, index: u32) {
        let entry = self.entries.at(position);
        let after = entry.caught_up(self.penalty);
        let change = after - entry.raw;
        entry.received += change;
        entry.raw = after;
        self.average.change(index, change);
    }

    /// w_i += step, of a weight that is caught up.
    pub(super) fn add(&mut self, index: u32, step: f64) {
        let position = self.entries.position(index);
        self.add_at(position, index, step);
    }

    fn add_at(&mut self, position: usize, index: u32, step: f64) {
        let entry = self.entries.at(position);
        let before = entry.raw;
        entry.raw = (before + step / self.scale).clamp(-LARGEST, LARGEST);
        let change = entry.raw - before;
        self.average.change(index, change);
    }

    /// The L2 penalty: w ← factor·w, factor from 0 to 1.
    pub(super) fn shrink(&mut self, factor: f64) {
        self.scale *= factor;
        if self.scale < SMALLEST_SCALE {
            self.fold();
        }
    }

    /// The L1 penalty: all weights owe this much more. Weights that are touched must be caught up.
    pub(super) fn owe(&mut self, amount: f64) {
        self.penalty = (self.penalty + amount / self.scale).min(LARGEST);
    }

    /// Multiplies the scale into everything that is in units of v: O(d), once in many rounds.
    fn fold(&mut self) {
        self.average.fold(self.entries.entries().map(|(index, entry)| (index, entry.raw)));
        for entry in self.entries.entries_mut() {
            entry.raw *= self.scale;
            entry.received *= self.scale;
        }
        self.penalty *= self.scale;
        self.scale = 1.0;
    }

    /// The average of the points that were counted; none before the first.
    pub(super) fn averaged(&self) -> Option<Vec<(u32, f64)>> {
        let used = || self.entries.used(|entry| entry.raw != 0.0);
        self.average.weights(used, |index| self.entries.get(index).raw).filter(|_| self.average.has_points())
    }

    pub(super) fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        visit_fields!(archive.number(self.scale, self.penalty));
        let fields = [
            ("weight", Field::F64(&|entry: &mut PenalisedEntry| &mut entry.raw)),
            ("received", Field::F64(&|entry| &mut entry.received)),
        ];
        self.entries.persist(archive, |entry| entry.raw != 0.0 || entry.received != 0.0, &fields)?;
        self.average.persist(archive)
    }
}
