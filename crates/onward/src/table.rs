//! A table of slots, one for each feature index, that grows as indices appear.

use bytemuck::Zeroable;

/// Slots addressed by feature index. A slot that was never written is all
/// zeros, and memory for it is not touched: a large table costs what is used.
#[derive(Debug, Clone, Default)]
pub(crate) struct Table<S> {
    slots: Vec<S>,
}

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
}
