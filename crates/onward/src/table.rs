//! A table of slots, one for each feature index, that costs what is used.
//!
//! Low indices (columns of numbers, the numbered features of most svmlight files) address
//! their slots directly. Higher ones, which are mostly hashes, are looked up in a hash table
//! (open addressing, at most half full), and their slots stand one after the other in the
//! order in which they were first written: scattered over millions, most of what the
//! processor fetches and keeps would never be used. On the flights file (10,000 distinct
//! features, 2^22 indices) the program's pass takes 0.75 s and 39 MB; with slots in pages of
//! 16 consecutive indices it took 1.00 s and 58 MB.

use bytemuck::Zeroable;

use crate::{Error, INDEX_LIMIT};

/// Slots addressed by feature index; one that was never written is all zeros.
#[derive(Debug, Clone)]
pub(crate) struct Table<S> {
    /// The slots of indices below [`LOW`].
    low: Vec<S>,
    /// The slots of higher indices, in the order in which they were first written.
    high: Vec<S>,
    /// Of each of those its index.
    indices: Vec<u32>,
    /// Where they are: a power of two of entries, or none.
    entries: Vec<Entry>,
    /// What leaves so many bits of a hash as the number of entries has.
    shift: u32,
}

/// Where the slot of a high index is.
#[derive(Debug, Clone, Copy, Zeroable)]
#[repr(C)]
struct Entry {
    index: u32,
    /// One more than its position among the high slots; 0: no entry.
    position: u32,
}

impl<S> Default for Table<S> {
    fn default() -> Self {
        Self { low: Vec::new(), high: Vec::new(), indices: Vec::new(), entries: Vec::new(), shift: 0 }
    }
}

/// Indices below this address their slots: a hash that is so low is one in dozens.
const LOW: usize = 1 << 16;

/// The low slots, and the entries, of the smallest table.
const FEWEST: usize = 64;

/// 2^32 divided by the golden ratio: multiples of it are spread evenly (Knuth's Fibonacci
/// hashing), whether indices are scattered, follow each other or differ in a few bits only.
pub(crate) const GOLDEN: u32 = 0x9e37_79b1;

impl<S: Copy + Zeroable> Table<S> {
    /// The slot of an index; all zeros if it was never written.
    #[inline]
    pub(crate) fn get(&self, index: u32) -> S {
        let slot = match (index as usize) < LOW {
            true => self.low.get(index as usize),
            false => self.find(index).ok().map(|position| &self.high[position]),
        };
        slot.copied().unwrap_or_else(S::zeroed)
    }

    /// The position of the slot of a high index, or of the entry that it will have.
    #[inline]
    fn find(&self, index: u32) -> Result<usize, usize> {
        let mask = self.entries.len().wrapping_sub(1);
        let mut at = (index.wrapping_mul(GOLDEN) >> self.shift) as usize;
        // At least half of the entries are empty: the search ends.
        while let Some(entry) = self.entries.get(at) {
            if entry.position == 0 {
                break;
            }
            if entry.index == index {
                return Ok(entry.position as usize - 1);
            }
            at = (at + 1) & mask;
        }
        Err(at)
    }

    /// The slot of an index, to be written.
    #[inline]
    pub(crate) fn slot(&mut self, index: u32) -> &mut S {
        let place = self.place(index);
        self.at(place)
    }

    /// The place of the slot of an index, which there is from now on.
    #[inline]
    pub(crate) fn place(&mut self, index: u32) -> usize {
        if (index as usize) < LOW {
            if index as usize >= self.low.len() {
                self.grow_low(index as usize);
            }
            return index as usize;
        }
        LOW + match self.find(index) {
            Ok(position) => position,
            Err(entry) => self.insert(index, entry),
        }
    }

    /// The slot at a place that [`place`](Self::place) told.
    #[inline]
    pub(crate) fn at(&mut self, place: usize) -> &mut S {
        if place < LOW { &mut self.low[place] } else { &mut self.high[place - LOW] }
    }

    /// The place of the slot of an index; where there is no slot if it has none.
    #[inline]
    pub(crate) fn known(&self, index: u32) -> u32 {
        match (index as usize) < LOW {
            true => index,
            false => self.find(index).map_or(u32::MAX, |position| (LOW + position) as u32),
        }
    }

    /// The slot at a place, if there is one.
    #[inline]
    pub(crate) fn peek(&self, place: u32) -> Option<&S> {
        let place = place as usize;
        if place < LOW { self.low.get(place) } else { self.high.get(place - LOW) }
    }

    #[cold]
    fn grow_low(&mut self, index: usize) {
        let mut low = bytemuck::zeroed_vec((index + 1).next_power_of_two().max(FEWEST));
        low[..self.low.len()].copy_from_slice(&self.low);
        self.low = low;
    }

    #[cold]
    fn insert(&mut self, index: u32, mut entry: usize) -> usize {
        if 2 * (self.high.len() + 1) > self.entries.len() {
            self.grow_entries();
            entry = self.find(index).unwrap_or_else(|entry| entry);
        }
        self.high.push(S::zeroed());
        self.indices.push(index);
        self.entries[entry] = Entry { index, position: self.high.len() as u32 };
        self.high.len() - 1
    }

    fn grow_entries(&mut self) {
        let size = (2 * self.entries.len()).max(FEWEST);
        self.entries = bytemuck::zeroed_vec(size);
        self.shift = u32::BITS - size.trailing_zeros();
        for (position, &index) in self.indices.iter().enumerate() {
            if let Err(entry) = self.find(index) {
                self.entries[entry] = Entry { index, position: position as u32 + 1 };
            }
        }
    }

    /// How many slots there are, written or not.
    pub(crate) fn len(&self) -> usize {
        self.low.len() + self.high.len()
    }

    /// All slots that may differ from zero: low ones in order, high ones as they were first written.
    pub(crate) fn slots(&self) -> impl Iterator<Item = (u32, &S)> + Clone {
        (0..).zip(&self.low).chain(self.indices.iter().copied().zip(&self.high))
    }

    /// The same, to be changed.
    pub(crate) fn slots_mut(&mut self) -> impl Iterator<Item = &mut S> {
        self.low.iter_mut().chain(&mut self.high)
    }

    /// The same, with their indices.
    pub(crate) fn slots_mut_with_indices(&mut self) -> impl Iterator<Item = (u32, &mut S)> {
        (0..).zip(&mut self.low).chain(self.indices.iter().copied().zip(&mut self.high))
    }

    /// The indices of the slots that are in use, in order.
    pub(crate) fn used(&self, is_used: impl Fn(&S) -> bool) -> Vec<u32> {
        let mut used: Vec<_> = self.slots().filter(|(_, slot)| is_used(slot)).map(|(index, _)| index).collect();
        used.sort_unstable();
        used
    }

    /// A table with these slots filled.
    pub(crate) fn filled(indices: &[u32], slots: impl ExactSizeIterator<Item = S>) -> Result<Self, Error> {
        if indices.len() != slots.len() || indices.iter().any(|&index| index >= INDEX_LIMIT) {
            return Err(Error::model("the model's columns do not match: it is damaged"));
        }
        let mut table = Self::default();
        for (&index, slot) in indices.iter().zip(slots) {
            *table.slot(index) = slot;
        }
        Ok(table)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    /// Low and high ones, neighbours, and such as differ in their upper bits only.
    fn index() -> impl Strategy<Value = u32> {
        prop_oneof![0u32..5000, (LOW as u32 - 9)..(LOW as u32 + 2000), (0u32..2048).prop_map(|k| k << 20), any::<u32>()]
    }

    proptest! {
        #[test]
        fn a_table_is_a_map_whose_values_start_at_zero(writes in prop::collection::vec((index(), any::<f64>()), 0..300)) {
            let (mut table, mut map) = (Table::default(), BTreeMap::new());
            for &(index, value) in &writes {
                *table.slot(index) = value;
                map.insert(index, value);
            }
            for index in (0..6000).chain((0..3000).map(|k| k << 20)).chain(LOW as u32 - 9..LOW as u32 + 3000) {
                prop_assert_eq!(table.get(index).to_bits(), map.get(&index).copied().unwrap_or(0.0).to_bits());
            }
            let mut found: Vec<(u32, u64)> = table.slots().filter(|(_, value)| value.to_bits() != 0).map(|(i, v)| (i, v.to_bits())).collect();
            found.sort_unstable();
            let expected: Vec<(u32, u64)> = map.iter().filter(|(_, value)| value.to_bits() != 0).map(|(&i, v)| (i, v.to_bits())).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
