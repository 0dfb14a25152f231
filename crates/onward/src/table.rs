//! A table of slots, one for each feature index, that costs what is used.
//!
//! Low indices (columns of numbers, the numbered features of most svmlight files) address
//! their slots directly. Higher ones, which are mostly hashes, have their slots one after the
//! other in the order in which they were first written: scattered over millions, most of what
//! the processor fetches and keeps would never be used. (On the flights file, 10,000 distinct
//! features of 2^22 indices, a pass took 0.75 s and 39 MB; with slots in pages of 16 consecutive
//! indices 1.00 s and 58 MB.) Which slot is whose is told by the row's hints
//! ([`SlotHints`](crate::SlotHints)), or looked up. Once so many indices have a slot that all could have
//! one in twice the memory, all are addressed directly.

use bytemuck::Zeroable;

use crate::slot_hints::{LOW, Numbers};
use crate::vector::{prefetch, vectorised};
use crate::{Error, Features, INDEX_LIMIT};

/// Slots addressed by feature index; one that was never written is all zeros.
#[derive(Debug, Clone)]
pub(crate) struct Table<S> {
    /// The slots of indices below `limit`, as far as they were needed.
    low: Vec<S>,
    limit: u32,
    /// The slots of higher indices.
    high: Vec<S>,
    /// Of each of those its index; [`NONE`]: a slot that was passed over.
    indices: Vec<u32>,
    /// Where they are.
    numbers: Numbers,
    /// Those whose numbers are the numbers of all high slots, if there are such.
    hints: Follows,
    /// The largest of them.
    largest: u32,
    /// Whether it is time to see if all slots had better be addressed directly, and with how many
    /// high ones it is next.
    is_due: bool,
    due_at: usize,
}

/// Whose hints tell where all high slots are. A hint of theirs need not be compared with the index that is
/// kept there, which would be one more access to memory for each feature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Follows {
    /// There is no high slot yet.
    Undecided,
    Hints(u64),
    /// There are slots that no hint told of, or hints of which there are no slots.
    Nobody,
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
        Self {
            low: Vec::new(),
            limit: LOW,
            high: Vec::new(),
            indices: Vec::new(),
            numbers: Numbers::default(),
            hints: Follows::Undecided,
            largest: 0,
            is_due: false,
            due_at: FEWEST_TO_SETTLE,
        }
    }
}

/// The low slots of the smallest table.
const FEWEST: usize = 64;

/// Slots of more bytes are never all addressed directly.
const MOST_TO_SETTLE: usize = 32;

/// From how many slots on it is worth asking whether to address all directly.
const FEWEST_TO_SETTLE: usize = if cfg!(test) { 16 } else { 1 << 16 };

impl<S: Copy + Zeroable> Table<S> {
    /// The slot of an index; all zeros if it was never written.
    #[inline]
    pub(crate) fn get(&self, index: u32) -> S {
        self.get_hinted(index, 0)
    }

    /// The same, where it may be at this number.
    #[inline]
    fn get_hinted(&self, index: u32, hint: u32) -> S {
        let slot = match index < self.limit {
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
    pub(crate) fn place_hinted(&mut self, index: u32, hint: u32) -> usize {
        if index < self.limit {
            if index as usize >= self.low.len() {
                self.grow_low(index as usize);
            }
            return index as usize;
        }
        let limit = self.limit as usize;
        if self.indices.get(hint as usize) == Some(&index) {
            return limit + hint as usize;
        }
        limit
            + match self.numbers.find(index) {
                Ok(number) => number as usize,
                Err(entry) => {
                    self.hints = Follows::Nobody;
                    self.insert(index, hint as usize, entry)
                }
            }
    }

    /// Has the slots of a row fetched that is going to be worked on.
    #[inline]
    pub(crate) fn expect(&self, x: Features<'_>) {
        if (largest(x.indices()) as usize) < self.low.len() {
            for &index in x.indices() {
                if let Some(slot) = self.low.get(index as usize) {
                    prefetch(slot);
                }
            }
            return;
        }
        for (index, hint, _) in x.hinted() {
            if index < self.limit {
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
        if self.is_due {
            self.settle();
        }
        places.are_indices = (largest(x.indices()) as usize) < self.low.len();
        if !places.are_indices && !self.follow(x, places) {
            places.found.clear();
            places.found.extend(x.hinted().map(|(index, hint, _)| self.place_hinted(index, hint) as u32));
        }
    }

    /// Finds the places where hints say they are, if they are to be relied on.
    fn follow(&mut self, x: Features<'_>, places: &mut Places) -> bool {
        let (hints, Some(id)) = (x.hints(), x.hints_of()) else { return false };
        if self.hints == Follows::Undecided {
            self.hints = Follows::Hints(id);
        }
        if self.hints != Follows::Hints(id) {
            return false;
        }
        let (limit, mut known) = (self.limit, self.high.len() as u32);
        places.found.clear();
        for (&index, &hint) in x.indices().iter().zip(hints) {
            let place = if index < limit { index } else { limit + hint };
            if index >= limit && hint >= known {
                // Numbers come in order: the next one is new, and with others a row was left out.
                match self.numbers.find(index) {
                    Err(entry) if hint == known => drop(self.insert(index, hint as usize, entry)),
                    _ => {
                        self.hints = Follows::Nobody;
                        return false;
                    }
                }
                known += 1;
            } else if index < limit && index as usize >= self.low.len() {
                self.grow_low(index as usize);
            }
            places.found.push(place);
        }
        true
    }

    /// The slot at a place that [`place`](Self::place) told.
    #[inline]
    pub(crate) fn at(&mut self, place: usize) -> &mut S {
        if place < self.low.len() { &mut self.low[place] } else { &mut self.high[place - self.limit as usize] }
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
        self.largest = self.largest.max(index);
        if self.high.len() > self.due_at {
            (self.is_due, self.due_at) = (true, 2 * self.due_at);
        }
        self.numbers.insert(index, number as u32, entry);
        number
    }

    /// Addresses all slots directly, if that takes at most twice the memory: most rows then need one
    /// access to memory for a feature, and no hint. Places that were told before are void.
    #[cold]
    fn settle(&mut self) {
        self.is_due = false;
        let size = (self.largest as usize + 1).next_power_of_two();
        // A slot, its index, and two to four entries of a number.
        let scattered = self.high.len() * (size_of::<S>() + 28);
        // Large slots stay together: how many there are tells `auto` when to do with fewer lanes.
        if size * size_of::<S>() > 2 * scattered || size_of::<S>() > MOST_TO_SETTLE {
            return;
        }
        let mut low = bytemuck::zeroed_vec(size);
        low[..self.low.len()].copy_from_slice(&self.low);
        for (&index, slot) in self.indices.iter().zip(&self.high).filter(|&(&index, _)| index != NONE) {
            low[index as usize] = *slot;
        }
        (self.low, self.limit) = (low, size as u32);
        (self.high, self.indices, self.numbers) = (Vec::new(), Vec::new(), Numbers::default());
    }

    /// How many slots there are: all low ones up to the largest, and the high ones that were written.
    pub(crate) fn len(&self) -> usize {
        self.low.len() + self.numbers.len()
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
        prop_oneof![0u32..5000, (LOW - 9)..(LOW + 2000), (0u32..2048).prop_map(|k| k << 20), any::<u32>()]
    }

    proptest! {
        #[test]
        fn a_table_is_a_map_whose_values_start_at_zero(writes in prop::collection::vec((index(), any::<f64>()), 0..300)) {
            let (mut table, mut map) = (Table::default(), BTreeMap::new());
            for &(index, value) in &writes {
                *table.slot(index) = value;
                map.insert(index, value);
            }
            for index in (0..6000).chain((0..3000).map(|k| k << 20)).chain(LOW - 9..LOW + 3000) {
                prop_assert_eq!(table.get(index).to_bits(), map.get(&index).copied().unwrap_or(0.0).to_bits());
            }
            let mut found: Vec<(u32, u64)> = table.slots().filter(|(_, value)| value.to_bits() != 0).map(|(i, v)| (i, v.to_bits())).collect();
            found.sort_unstable();
            let expected: Vec<(u32, u64)> = map.iter().filter(|(_, value)| value.to_bits() != 0).map(|(&i, v)| (i, v.to_bits())).collect();
            prop_assert_eq!(found, expected);
        }
    }

    /// Counts how often indices occur, row by row, with hints or without.
    /// `before`: what a saved table had, which was filled before there were hints.
    fn counted(rows: &[Vec<u32>], hinted: bool, before: &[u32]) -> (Table<u8>, BTreeMap<u32, u8>) {
        let mut table: Table<u8> = Table::filled(before, before.iter().map(|_| 3)).unwrap();
        let (mut map, mut places) =
            (before.iter().map(|&index| (index, 3)).collect::<BTreeMap<_, _>>(), Places::default());
        let (mut hints, mut batch) = (crate::SlotHints::default(), crate::Batch::default());
        for chunk in rows.chunks(7) {
            batch.clear();
            for row in chunk {
                row.iter().for_each(|&index| batch.push(index, 1.0));
                batch.finish(None, 1.0);
            }
            if hinted {
                hints.add(&mut batch);
            }
            for (number, example) in batch.iter().enumerate() {
                // One that is predicted only: its features have hints and no slots.
                if number == 3 {
                    continue;
                }
                let x = example.features;
                table.locate(x, &mut places);
                for (&place, &index) in places.of(x).iter().zip(x.indices()) {
                    let slot = table.at(place as usize);
                    *slot = slot.wrapping_add(1);
                    let count = map.entry(index).or_insert(0u8);
                    *count = count.wrapping_add(1);
                }
            }
        }
        (table, map)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]

        #[test]
        fn slots_are_found_by_hints_and_without_and_when_all_are_addressed_directly(
            seed: u64, spread in prop_oneof![Just(8000u64), Just(40_000), Just(1 << 30)], count in 1usize..400,
        ) {
            let mut random = crate::random::SplitMix64::new(seed);
            let index = |random: &mut crate::random::SplitMix64| (u64::from(LOW) - 50 + random.below(spread)) as u32;
            let rows: Vec<Vec<u32>> = (0..count).map(|_| (0..30).map(|_| index(&mut random)).collect()).collect();
            let before: Vec<u32> = if seed % 2 == 0 { Vec::new() } else { vec![LOW + 7, LOW + 3, 9, LOW + 3000] };
            for hinted in [false, true] {
                let (table, map) = counted(&rows, hinted, &before);
                for (&index, &count) in &map {
                    prop_assert_eq!(table.get(index), count, "{}", index);
                }
                let all: u64 = table.slots().map(|(_, &count)| u64::from(count != 0)).sum();
                prop_assert_eq!(all, map.values().filter(|&&count| count != 0).count() as u64);
                // The case is there to be met: 29 bytes a slot, and one for each index up to 2^17.
                prop_assert_eq!(spread == 8000 && table.limit > LOW, spread == 8000 && table.limit == 1 << 17);
                if spread == 8000 && count > 300 {
                    prop_assert!(table.limit > LOW);
                }
            }
        }
    }
}
