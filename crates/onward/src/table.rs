//! A table of slots, one for each feature index, that grows as indices appear.

use bytemuck::Zeroable;

use crate::Error;

/// Slots addressed by feature index. A slot that was never written is all
/// zeros, and memory for it is not touched: a large table costs what is used.
#[derive(Debug, Clone)]
pub(crate) struct Table<S> {
    slots: Vec<S>,
}

impl<S> Default for Table<S> {
    fn default() -> Self {
        Self { slots: Vec::new() }
    }
}

/// Readers hash to at most 2^30 indices (and own a few below them): a larger one in a model is damage.
const LARGEST_SAVED_INDEX: u32 = 1 << 31;

impl<S: Copy + Zeroable> Table<S> {
    /// Makes room for all indices below `limit`.
    #[inline]
    pub(crate) fn reserve(&mut self, limit: u32) {
        if limit as usize > self.slots.len() {
            self.grow(limit as usize);
        }
    }

    #[cold]
    fn grow(&mut self, limit: usize) {
        let mut slots = bytemuck::zeroed_vec(limit.next_power_of_two());
        slots[..self.slots.len()].copy_from_slice(&self.slots);
        self.slots = slots;
    }

    /// The slot of an index; all zeros beyond the table.
    #[inline]
    pub(crate) fn get(&self, index: u32) -> S {
        self.slots.get(index as usize).copied().unwrap_or_else(S::zeroed)
    }

    /// The slot of an index below the reserved limit.
    #[inline]
    pub(crate) fn slot(&mut self, index: u32) -> &mut S {
        &mut self.slots[index as usize]
    }

    /// All slots in order of index.
    pub(crate) fn slots(&self) -> &[S] {
        &self.slots
    }

    /// All slots in order of index, to be changed.
    pub(crate) fn slots_mut(&mut self) -> &mut [S] {
        &mut self.slots
    }

    /// The indices of the slots that are in use.
    pub(crate) fn used(&self, is_used: impl Fn(&S) -> bool) -> Vec<u32> {
        let used = self.slots.iter().enumerate().filter(|(_, slot)| is_used(slot));
        used.map(|(index, _)| index as u32).collect()
    }

    /// A table with these slots filled.
    pub(crate) fn filled(indices: &[u32], slots: impl ExactSizeIterator<Item = S>) -> Result<Self, Error> {
        if indices.len() != slots.len() || indices.iter().any(|&index| index > LARGEST_SAVED_INDEX) {
            return Err(Error::model("the model's columns do not match: it is damaged"));
        }
        let mut table = Self::default();
        table.reserve(indices.iter().max().map_or(0, |&index| index + 1));
        for (&index, slot) in indices.iter().zip(slots) {
            *table.slot(index) = slot;
        }
        Ok(table)
    }
}
