//! A table of slots, one for each feature index, that costs what is used.
//!
//! Low indices (columns of numbers, the numbered features of most svmlight files) address
//! their slots directly. Higher ones, which are mostly hashes, have their slots one after the
//! other in the order in which they were first written: scattered over millions, most of what
//! the processor fetches and keeps would never be used. (On the flights file, 10,000 distinct
//! features of 2^22 indices, a pass took 0.75 s and 39 MB; with slots in pages of 16 consecutive
//! indices 1.00 s and 58 MB.) Which slot is whose is told by the row's hints
//! ([`SlotHints`](crate::SlotHints)), or looked up.

use bytemuck::Zeroable;

use crate::slot_hints::{LOW, Numbers};
use crate::vector::{prefetch, vectorised};
use crate::{Error, Features, INDEX_LIMIT};

/// Slots addressed by feature index; one that was never written is all zeros.
#[derive(Debug, Clone)]
pub(crate) struct Table<S> {
    /// The slots of indices below [`LOW`].
    low: Vec<S>,
    /// The slots of higher indices.
    high: Vec<S>,
    /// Of each of those its index; [`NONE`]: a slot that was passed over.
    indices: Vec<u32>,
    /// Where they are.
    numbers: Numbers,
}

/// Where the slots of a row are.
#[derive(Debug, Clone, Default)]
pub(crate) struct Places {
    /// Low ones are where their indices say.
    are_indices: bool,
    found: Vec<u32>,
}

impl Places {
    /// The places of the slots of this row, which was the last to be located.
    #[inline]
    pub(crate) fn of<'a>(&'a self, x: Features<'a>) -> &'a [u32] {
        if self.are_indices { x.indices() } else { &self.found }
    }
}

vectorised! {
    /// The largest index, 0 if there is none.
    pub(crate) fn largest(indices: &[u32]) -> u32 {
        indices.iter().fold(0, |largest, &index| largest.max(index))
    }
}

/// No index is so large.
const NONE: u32 = u32::MAX;

impl<S> Default for Table<S> {
    fn default() -> Self {
        Self { low: Vec::new(), high: Vec::new(), indices: Vec::new(), numbers: Numbers::default() }
    }
}

/// The low slots of the smallest table.
const FEWEST: usize = 64;

impl<S: Copy + Zeroable> Table<S> {
    /// The slot of an index; all zeros if it was never written.
    #[inline]
    pub(crate) fn get(&self, index: u32) -> S {
        self.get_hinted(index, 0)
    }

    /// The same, where it may be at this number.
    #[inline]
    fn get_hinted(&self, index: u32, hint: u32) -> S {
        let slot = match (index as usize) < LOW {
            true => self.low.get(index as usize),
            false if self.indices.get(hint as usize) == Some(&index) => self.high.get(hint as usize),
            false => self.numbers.find(index).ok().and_then(|number| self.high.get(number as usize)),
        };
        slot.copied().unwrap_or_else(S::zeroed)
    }

    /// The slots of a row, with its values.
    #[inline]
    pub(crate) fn row<'a>(&'a self, x: Features<'a>) -> impl Iterator<Item = (S, f32)> + 'a {
        x.hinted().map(|(index, hint, value)| (self.get_hinted(index, hint), value))
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
        self.place_hinted(index, self.high.len() as u32)
    }

    /// The same, where it may be at this number, or come to be there.
    #[inline]
    fn place_hinted(&mut self, index: u32, hint: u32) -> usize {
        if (index as usize) < LOW {
            if index as usize >= self.low.len() {
                self.grow_low(index as usize);
            }
            return index as usize;
        }
        if self.indices.get(hint as usize) == Some(&index) {
            return LOW + hint as usize;
        }
        LOW + match self.numbers.find(index) {
            Ok(number) => number as usize,
            Err(entry) => self.insert(index, hint as usize, entry),
        }
    }

    /// Has the slots of a row fetched that is going to be worked on.
    #[inline]
    pub(crate) fn expect(&self, x: Features<'_>) {
        for (index, hint, _) in x.hinted() {
            if (index as usize) < LOW {
                if let Some(slot) = self.low.get(index as usize) {
                    prefetch(slot);
                }
            } else if let Some(slot) = self.high.get(hint as usize) {
                prefetch(slot);
            }
        }
    }

    /// Finds the places of the slots of a row, which there are from now on.
    #[inline]
    pub(crate) fn locate(&mut self, x: Features<'_>, places: &mut Places) {
        places.are_indices = largest(x.indices()) < self.low.len().min(LOW) as u32;
        if !places.are_indices {
            places.found.clear();
            places.found.extend(x.hinted().map(|(index, hint, _)| self.place_hinted(index, hint) as u32));
        }
    }

    /// The slot at a place that [`place`](Self::place) told.
    #[inline]
    pub(crate) fn at(&mut self, place: usize) -> &mut S {
        if place < LOW { &mut self.low[place] } else { &mut self.high[place - LOW] }
    }

    #[cold]
    fn grow_low(&mut self, index: usize) {
        let mut low = bytemuck::zeroed_vec((index + 1).next_power_of_two().max(FEWEST));
        low[..self.low.len()].copy_from_slice(&self.low);
        self.low = low;
    }

    /// Makes a slot, at this number if none is there yet.
    #[cold]
    fn insert(&mut self, index: u32, hint: usize, entry: usize) -> usize {
        let is_free = self.indices.get(hint).is_none_or(|&other| other == NONE);
        let number = if is_free { hint } else { self.indices.len() };
        if number >= self.indices.len() {
            self.indices.resize(number + 1, NONE);
            self.high.resize(number + 1, S::zeroed());
        }
        self.indices[number] = index;
        self.numbers.insert(index, number as u32, entry);
        number
    }

    /// How many slots there are, written or not.
    pub(crate) fn len(&self) -> usize {
        self.low.len() + self.high.len()
    }

    /// All slots that may differ from zero: low ones in order, high ones as they were first written.
    pub(crate) fn slots(&self) -> impl Iterator<Item = (u32, &S)> + Clone {
        let high = self.indices.iter().copied().zip(&self.high).filter(|&(index, _)| index != NONE);
        (0..).zip(&self.low).chain(high)
    }

    /// The same, to be changed.
    pub(crate) fn slots_mut(&mut self) -> impl Iterator<Item = &mut S> {
        self.slots_mut_with_indices().map(|(_, slot)| slot)
    }

    /// The same, with their indices.
    pub(crate) fn slots_mut_with_indices(&mut self) -> impl Iterator<Item = (u32, &mut S)> {
        let high = self.indices.iter().copied().zip(&mut self.high).filter(|&(index, _)| index != NONE);
        (0..).zip(&mut self.low).chain(high)
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
