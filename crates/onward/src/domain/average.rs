//! The average of a sequence of sparse vectors at the cost of their changes.
//!
//! With w_t = a_t·v_t, δ the changes of v, and A = Σ a_s over the points counted so
//! far, Σ_s w_s = A·v − Σ A_t·δ_t, where A_t is A at the time of the change:
//! coordinates that do not change cost nothing, and a scale that shrinks all of
//! them costs nothing either.

use crate::Error;
use crate::archive::{Archive, Field, visit_fields};
use crate::storage::table::ParameterTable;

/// The running sum of points w = a·v, kept by the changes of v, or nothing where no average is wanted.
#[derive(Debug, Clone, Default)]
pub(crate) struct Average {
    is_kept: bool,
    /// How many points were counted.
    count: f64,
    /// A = Σ a_s.
    scales: f64,
    /// Σ A_t·δ_t.
    corrections: ParameterTable<f64>,
}

impl Average {
    /// The average before a point was counted.
    pub(crate) fn new(is_kept: bool) -> Self {
        Self { is_kept, ..Self::default() }
    }

    /// Whether an average is wanted.
    pub(crate) fn is_kept(&self) -> bool {
        self.is_kept
    }

    /// Counts the point as it is, its scale being `scale`.
    #[inline]
    pub(crate) fn count(&mut self, scale: f64) {
        if self.is_kept {
            self.count += 1.0;
            self.scales += scale;
        }
    }

    /// v_i changed by `change`, after the points counted so far.
    #[inline]
    pub(crate) fn change(&mut self, index: u32, change: f64) {
        if self.scales != 0.0 && change != 0.0 {
            *self.corrections.entry(index) += self.scales * change;
        }
    }

    /// The entries of v are about to be multiplied by the scale, which becomes 1: `entries` are
    /// all that differ from 0, as they were.
    pub(crate) fn fold(&mut self, entries: impl Iterator<Item = (u32, f64)>) {
        if self.is_kept {
            entries.for_each(|(index, entry)| *self.corrections.entry(index) -= self.scales * entry);
            self.scales = 0.0;
        }
    }

    /// Whether a point was counted.
    pub(crate) fn has_points(&self) -> bool {
        self.count > 0.0
    }

    /// The average at an index where v is `entry`; 0 before a point was counted.
    pub(crate) fn get(&self, index: u32, entry: f64) -> f64 {
        if self.count > 0.0 { (self.scales * entry - self.corrections.get(index)) / self.count } else { 0.0 }
    }

    /// The average, in order of index, where it is kept; `used` gives the indices where v is not 0, `entry` gives v.
    pub(crate) fn weights(
        &self,
        used: impl FnOnce() -> Vec<u32>,
        entry: impl Fn(u32) -> f64,
    ) -> Option<Vec<(u32, f64)>> {
        if !self.is_kept {
            return None;
        }
        let mut indices = self.corrections.used(|correction| *correction != 0.0);
        indices.extend(used());
        indices.sort_unstable();
        indices.dedup();
        Some(indices.into_iter().map(|index| (index, self.get(index, entry(index)))).collect())
    }

    pub(crate) fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        if !self.is_kept {
            return Ok(());
        }
        archive.part("average", |archive| {
            visit_fields!(archive.number(self.count, self.scales));
            self.corrections.persist(archive, |correction| *correction != 0.0, &[("sum", Field::F64(&|it| it))])
        })
    }
}
