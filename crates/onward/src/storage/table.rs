//! A table of entries, one for each feature index, that costs what is used.
//!
//! Low indices (columns of numbers, the numbered features of most svmlight files) address
//! their entries directly. Higher ones, which are mostly hashes, have their entries one after the
//! other in the order in which they were first written: scattered over millions, most of what
//! the processor fetches and keeps would never be used. (On the flights file, 10,000 distinct
//! features of 2^22 indices, a pass took 0.75 s and 39 MB; with entries in pages of 16 consecutive
//! indices 1.00 s and 58 MB.) Which entry is whose is told by the row's hints
//! ([`FeatureMap`](crate::FeatureMap)), or looked up. Once so many indices have an entry that all could have
//! one in four times the memory of those and a map of them, all are addressed directly.

use std::sync::OnceLock;

use bytemuck::{Pod, Zeroable};

use crate::archive::{Archive, Field};
use crate::example::feature_map::{AHEAD, LOW, NONE};
use crate::example::reach::{MaxPositions, max_positions};
use crate::hashing::index_map::IndexMap;
use crate::simd::f64x4::Record16;
use crate::simd::scan::max_index;
use crate::simd::{prefer_huge_pages, prefetch_all, prefetch_at};
use crate::{Error, Features, INDEX_LIMIT};

/// Entries addressed by feature index; one that was never written is all zeros.
#[derive(Debug, Clone)]
pub(crate) struct ParameterTable<S> {
    /// The entries of indices below `limit`, and from there on those of higher ones. While there are none of those,
    /// it ends where the low ones do that were needed.
    entries: Vec<S>,
    limit: u32,
    /// How many low ones were needed, rounded up.
    low: usize,
    /// Of each high one its index.
    indices: Vec<u32>,
    /// Where they are: made when it is first asked, since while hints are followed nobody may.
    numbers: OnceLock<IndexMap>,
    /// Those which tell the positions of all high entries, if there are such.
    hints: Follows,
    /// Where entries are of which they do not tell the positions.
    translated: Translated,
    /// How often entries have been laid out anew.
    layout: u32,
    /// The largest high index.
    largest: u32,
    /// Whether it is time to see if all entries had better be addressed directly, and with how many
    /// high ones it is next.
    is_due: bool,
    due_at: usize,
}

/// Whose hints tell where all high entries are. A hint of theirs need not be compared with the index that is
/// kept there, which would be one more access to memory for each feature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Follows {
    /// There is no high entry yet.
    Undecided,
    Hints(u64),
    /// There are entries that no hint told of, or hints of which there are no entries; or entries have been laid out anew.
    Nobody,
}

/// The positions of high entries by those that hints tell: of a table that was filled before there were hints, or from other rows.
#[derive(Debug, Clone, Default)]
struct Translated {
    /// Whose hints they are.
    hints_of: Option<u64>,
    /// By what a hint is above [`LOW`]; 0: not known.
    positions: Vec<u32>,
}

impl Translated {
    /// The position of a hint, if it is known.
    #[inline]
    fn get(&self, hint: u32) -> Option<u32> {
        self.positions.get(hint.wrapping_sub(LOW) as usize).copied().filter(|&position| position != 0)
    }

    fn set(&mut self, hint: u32, position: u32) {
        let Some(at) = hint.checked_sub(LOW).filter(|_| hint != NONE) else { return };
        if at as usize >= self.positions.len() {
            self.positions.resize((at as usize + 1).next_power_of_two(), 0);
        }
        self.positions[at as usize] = position;
    }

    /// Forgets what hints of others tell.
    fn follow(&mut self, id: u64) {
        if self.hints_of != Some(id) {
            *self = Self { hints_of: Some(id), positions: Vec::new() };
        }
    }
}

/// Where the entries of a row are, the last one to be [located](ParameterTable::locate).
#[derive(Debug, Clone, Default)]
pub(crate) struct Positions {
    told: Told,
    /// Those that the row does not tell.
    found: Vec<u32>,
    /// None of these is larger.
    largest: u32,
}

/// Who tells where the entries of a row are.
#[derive(Debug, Clone, Copy, Default)]
enum Told {
    #[default]
    Found,
    /// The row itself, by its indices.
    Indices,
    /// The same, by its hints.
    Hints,
}

/// The positions of the entries of a row, one for each of its features.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RowPositions<'a> {
    positions: &'a [u32],
    /// None of them is larger.
    largest: u32,
}

impl Positions {
    /// Those of the row that was located.
    #[inline]
    pub(crate) fn of<'a>(&'a self, x: Features<'a>) -> RowPositions<'a> {
        // Whatever row is asked for, none of the positions that are given is larger than `largest`.
        match self.told {
            Told::Found => RowPositions { positions: &self.found, largest: self.largest },
            Told::Indices => RowPositions { positions: x.indices(), largest: x.trusted_max_index() },
            Told::Hints => RowPositions { positions: x.hints(), largest: x.max_hints().largest },
        }
    }

    /// Takes in positions that somebody told. Gives the largest of them, and of those of low indices.
    #[inline]
    fn copy(&mut self, positions: &[u32]) -> MaxPositions {
        self.told = Told::Found;
        self.found.clear();
        self.found.extend_from_slice(positions);
        // Of what was copied: what is lent may be other numbers the next time.
        let reach = max_positions(&self.found);
        self.largest = reach.largest;
        reach
    }
}

impl<'a> RowPositions<'a> {
    #[inline]
    pub(crate) fn all(self) -> &'a [u32] {
        self.positions
    }

    /// Whether all are among so many.
    #[inline]
    pub(crate) fn are_below(self, count: usize) -> bool {
        self.positions.is_empty() || (self.largest as usize) < count
    }
}

impl<S> Default for ParameterTable<S> {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
            limit: LOW,
            low: 0,
            indices: Vec::new(),
            numbers: OnceLock::new(),
            hints: Follows::Undecided,
            translated: Translated::default(),
            layout: 0,
            largest: 0,
            is_due: false,
            due_at: FEWEST_TO_SETTLE,
        }
    }
}

/// Entries as words, among which all `positions` are.
///
/// # Panics
/// When one is not, which is a fault of ours.
#[inline]
pub(crate) fn records<'a, S: Pod>(entries: &'a mut [S], positions: RowPositions<'_>) -> &'a mut [Record16] {
    assert!(positions.are_below(entries.len()), "a position beyond the table");
    bytemuck::must_cast_slice_mut(entries)
}

/// The low entries of the smallest table.
const FEWEST: usize = 64;

/// Entries of more bytes are never all addressed directly.
const MOST_TO_SETTLE: usize = 32;

/// All entries are addressed directly where that takes at most so many times the memory.
const MOST_TIMES: usize = 4;

/// From how many entries on it is worth asking whether to address all directly.
const FEWEST_TO_SETTLE: usize = if cfg!(test) { 16 } else { 1 << 16 };

impl<S: Copy + Zeroable> ParameterTable<S> {
    /// The entry of an index; all zeros if it was never written.
    #[inline]
    pub(crate) fn get(&self, index: u32) -> S {
        self.get_hinted(index, 0)
    }

    /// The same, where it may be at this position, or at that which it stands for.
    #[inline]
    fn get_hinted(&self, index: u32, hint: u32) -> S {
        let position = if index < self.limit { Some(index) } else { self.find(index, hint) };
        position.and_then(|position| self.entries.get(position as usize)).copied().unwrap_or_else(S::zeroed)
    }

    /// The position of the entry of a high index, if there is one.
    #[inline]
    fn find(&self, index: u32, hint: u32) -> Option<u32> {
        let told = match self.hints {
            Follows::Nobody => self.translated.get(hint).unwrap_or(hint),
            _ => hint,
        };
        if self.is_at(index, told) {
            return Some(told);
        }
        self.numbers().find(index).ok().map(|number| self.limit + number)
    }

    /// Where high entries are.
    #[inline]
    fn numbers(&self) -> &IndexMap {
        self.numbers.get_or_init(|| IndexMap::of(&self.indices))
    }

    /// Whether the entry of a high index is at this position.
    #[inline]
    fn is_at(&self, index: u32, position: u32) -> bool {
        self.indices.get(position.wrapping_sub(self.limit) as usize) == Some(&index)
    }

    /// The entries of many indices. Those that come in the order in which they were first written, or nearly so, need
    /// not be looked up.
    pub(crate) fn each<'a>(&'a self, indices: &'a [u32]) -> impl Iterator<Item = S> + 'a {
        let mut next = self.limit;
        indices.iter().enumerate().map(move |(at, &index)| {
            if index < self.limit {
                if let Some(&later) = indices.get(at + AHEAD) {
                    prefetch_at(&self.entries, later as usize);
                }
                return self.there(index);
            }
            let position = if self.is_at(index, next) { Some(next) } else { self.find(index, next) };
            let Some(position) = position else { return S::zeroed() };
            next = position + 1;
            self.there(position)
        })
    }

    /// The entries at positions that were told.
    pub(crate) fn these<'a>(&'a self, positions: &'a [u32]) -> impl Iterator<Item = S> + 'a {
        positions.iter().enumerate().map(move |(at, &position)| {
            if let Some(&later) = positions.get(at + AHEAD) {
                prefetch_at(&self.entries, later as usize);
            }
            self.there(position)
        })
    }

    /// The entries of a row, with its values.
    #[inline]
    pub(crate) fn row<'a>(&'a self, x: Features<'a>) -> impl Iterator<Item = (S, f32)> + 'a {
        let id = x.hints_of();
        // What these hints tell need not be compared with the indices.
        let follows = id.is_some_and(|id| self.hints == Follows::Hints(id));
        let is_translated = !follows && id.is_some() && self.translated.hints_of == id;
        x.hinted().map(move |(index, hint, value)| {
            let told = match index < self.limit {
                true => Some(index),
                // Without one, it was not learnt from before its row; it may have been since.
                false if follows && hint != NONE => Some(hint),
                false if is_translated => self.translated.get(hint),
                false => None,
            };
            (told.map_or_else(|| self.get_hinted(index, hint), |position| self.there(position)), value)
        })
    }

    /// The entry of an index, to be written.
    #[inline]
    pub(crate) fn entry(&mut self, index: u32) -> &mut S {
        let position = self.position(index);
        self.at(position)
    }

    /// The position of the entry of an index, which there is from now on.
    #[inline]
    pub(crate) fn position(&mut self, index: u32) -> usize {
        if index < self.limit {
            if index as usize >= self.low {
                self.grow_low(index as usize);
            }
            return index as usize;
        }
        let number = match self.numbers().find(index) {
            Ok(number) => number as usize,
            Err(vacancy) => {
                self.hints = Follows::Nobody;
                self.insert(index, vacancy)
            }
        };
        self.limit as usize + number
    }

    /// Finds out where the entries of a row are that is going to be worked on, if that takes looking them up.
    pub(crate) fn look_up(&mut self, x: Features<'_>) {
        if let Some(id) = x.hints_of().filter(|_| self.hints == Follows::Nobody) {
            self.translate(id, x);
        }
    }

    /// Has the entries of a row fetched that is going to be worked on, and finds out where they are.
    #[inline]
    pub(crate) fn prefetch(&mut self, x: Features<'_>) {
        let positions = match x.hints_of() {
            _ if (x.max_index() as usize) < self.low => x.indices(),
            Some(id) if self.hints == Follows::Nobody => return self.translate(id, x),
            Some(_) => x.hints(),
            None if self.are_low(x) => x.indices(),
            None => return,
        };
        prefetch_all(&self.entries, positions);
    }

    /// Finds out for which positions the hints of a row stand, and has their entries fetched.
    #[inline(never)]
    fn translate(&mut self, id: u64, x: Features<'_>) {
        self.translated.follow(id);
        for (index, hint, _) in x.hinted() {
            let known = if index < self.limit { Some(index) } else { self.translated.get(hint) };
            let position = known.or_else(|| {
                let found = self.find(index, hint)?;
                self.translated.set(hint, found);
                Some(found)
            });
            if let Some(position) = position {
                prefetch_at(&self.entries, position as usize);
            }
        }
    }

    /// Finds the positions of the entries of a row, which there are from now on.
    #[inline]
    pub(crate) fn locate(&mut self, x: Features<'_>, positions: &mut Positions) {
        if self.is_due {
            self.settle();
        }
        if (x.trusted_max_index() as usize) < self.low {
            positions.told = Told::Indices;
            return;
        }
        if self.are_where_hints_tell(x, positions) {
            return;
        }
        if positions.copy(x.indices()).largest as usize >= self.low {
            // Nobody may rely on positions that are being looked for.
            positions.largest = u32::MAX;
            self.search(x, &mut positions.found);
            positions.largest = max_index(&positions.found);
        }
    }

    /// Whether all entries of a row are low ones.
    #[inline]
    fn are_low(&self, x: Features<'_>) -> bool {
        (x.max_index() as usize) < self.low || (max_index(x.indices()) as usize) < self.low
    }

    /// Whether all entries of a row are where its hints tell, which are then its positions; those that are new are made.
    #[inline]
    fn are_where_hints_tell(&mut self, x: Features<'_>, positions: &mut Positions) -> bool {
        if !x.hints_of().is_some_and(|id| self.hints == Follows::Hints(id)) {
            return false;
        }
        let is_there = |reach: MaxPositions| {
            (reach.largest_low as usize) < self.low && (reach.largest as usize) < self.entries.len()
        };
        if is_there(x.max_hints()) {
            positions.told = Told::Hints;
            return true;
        }
        let reach = positions.copy(x.hints());
        is_there(reach) || (reach.largest_low as usize) < self.low && self.make_new(x)
    }

    /// Makes the entries of a row that are new, by its hints; false if they are not those to come next.
    #[inline(never)]
    fn make_new(&mut self, x: Features<'_>) -> bool {
        for (&index, &hint) in x.indices().iter().zip(x.hints()) {
            if hint as usize >= self.limit as usize + self.indices.len() && !self.make_next(index, hint) {
                return false;
            }
        }
        true
    }

    /// Makes the entry of an index, if its hint tells that it is the next one. Hints come in order, one for each index; with others
    /// a row was left out, and they are no longer followed.
    #[cold]
    fn make_next(&mut self, index: u32, hint: u32) -> bool {
        let next = self.limit as usize + self.indices.len();
        match self.numbers.get().map_or(Err(0), |numbers| numbers.find(index)) {
            Err(vacancy) if hint as usize == next => drop(self.insert(index, vacancy)),
            _ => {
                self.hints = Follows::Nobody;
                return false;
            }
        }
        true
    }

    /// Finds the positions of entries one by one.
    #[inline(never)]
    fn search(&mut self, x: Features<'_>, found: &mut Vec<u32>) {
        found.clear();
        if self.follow(x, found) {
            return;
        }
        found.clear();
        let Some(id) = x.hints_of() else {
            found.extend(x.indices().iter().map(|&index| self.position(index) as u32));
            return;
        };
        self.translated.follow(id);
        for (index, hint, _) in x.hinted() {
            let position = match self.translated.get(hint) {
                Some(position) if index >= self.limit => position,
                _ => {
                    let position = self.position(index) as u32;
                    if index >= self.limit {
                        self.translated.set(hint, position);
                    }
                    position
                }
            };
            found.push(position);
        }
    }

    /// Finds the positions where hints tell they are, and makes the entries that are new, if hints are to be relied on.
    fn follow(&mut self, x: Features<'_>, found: &mut Vec<u32>) -> bool {
        let (hints, Some(id)) = (x.hints(), x.hints_of()) else { return false };
        if self.hints == Follows::Undecided {
            self.hints = Follows::Hints(id);
        }
        if self.hints != Follows::Hints(id) {
            return false;
        }
        for (&index, &hint) in x.indices().iter().zip(hints) {
            if index < self.limit && index as usize >= self.low {
                self.grow_low(index as usize);
            }
            let next = self.limit as usize + self.indices.len();
            if index >= self.limit && hint as usize >= next && !self.make_next(index, hint) {
                return false;
            }
            found.push(hint);
        }
        true
    }

    /// Places are void that were told while this was another number.
    pub(crate) fn layout(&self) -> u32 {
        self.layout
    }

    /// The entry at a position that was told; all zeros if there is none.
    #[inline]
    fn there(&self, position: u32) -> S {
        self.entries.get(position as usize).copied().unwrap_or_else(S::zeroed)
    }

    /// The entry at a position that [`position`](Self::position) told.
    #[inline]
    pub(crate) fn at(&mut self, position: usize) -> &mut S {
        &mut self.entries[position]
    }

    /// All entries, to be taken at the [positions](Self::locate) of a row.
    #[inline]
    pub(crate) fn all(&mut self) -> &mut [S] {
        &mut self.entries
    }

    #[cold]
    fn grow_low(&mut self, index: usize) {
        self.low = (index + 1).next_power_of_two().max(FEWEST);
        if self.indices.is_empty() {
            self.extend_low(self.low);
        }
    }

    /// Makes room for low entries where there are no others.
    fn extend_low(&mut self, size: usize) {
        let mut entries = bytemuck::zeroed_vec(size);
        prefer_huge_pages(&entries);
        entries[..self.entries.len()].copy_from_slice(&self.entries);
        self.entries = entries;
    }

    /// Makes the next entry, that of this index, whose number is to be kept at `vacancy` if numbers are.
    #[cold]
    fn insert(&mut self, index: u32, vacancy: usize) -> usize {
        if self.entries.len() < self.limit as usize {
            self.extend_low(self.limit as usize);
        }
        let number = self.indices.len();
        self.indices.push(index);
        if self.entries.len() == self.entries.capacity() {
            self.entries.reserve(1);
            prefer_huge_pages(&self.entries);
        }
        self.entries.push(S::zeroed());
        self.largest = self.largest.max(index);
        if self.indices.len() > self.due_at {
            (self.is_due, self.due_at) = (true, self.due_at + self.due_at / 4);
        }
        if let Some(numbers) = self.numbers.get_mut() {
            numbers.insert(index, number as u32, vacancy);
        }
        number
    }

    /// Addresses all entries directly, if that takes at most four times the memory that they and a map of them take: most rows
    /// then need one access to memory for a feature, and no hint. Where there are so many, more are going to come, and what
    /// grows is copied: with 36 million products in 2^24 entries this took a tenth less time than at twice the memory, and a fifth
    /// less memory. Places that were told before are void.
    #[cold]
    fn settle(&mut self) {
        self.is_due = false;
        // With a little to spare, but not a power of two: hashes of 24 bits, behind the index of the bias, need more than one.
        let size = (self.largest as usize + self.largest as usize / 64 + 1).next_multiple_of(FEWEST);
        // An entry, its index, and two to four entries of a number.
        let scattered = self.indices.len() * (size_of::<S>() + 28);
        // Large entries stay together: how many there are tells `auto` when to do with fewer lanes.
        if size * size_of::<S>() > MOST_TIMES * scattered || size_of::<S>() > MOST_TO_SETTLE {
            return;
        }
        let (low, high) = self.entries.split_at(self.entries.len().min(self.limit as usize));
        let mut entries = bytemuck::zeroed_vec(size);
        prefer_huge_pages(&entries);
        entries[..low.len()].copy_from_slice(low);
        for (&index, entry) in self.indices.iter().zip(high) {
            entries[index as usize] = *entry;
        }
        (self.entries, self.low, self.limit) = (entries, size, size as u32);
        (self.indices, self.numbers, self.hints) = (Vec::new(), OnceLock::new(), Follows::Nobody);
        self.layout += 1;
        self.translated = Translated::default();
    }

    /// How many entries there are: all low ones up to the largest, and the high ones that were written.
    pub(crate) fn len(&self) -> usize {
        self.low + self.indices.len()
    }

    /// All entries that may differ from zero: low ones in order, high ones as they were first written.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (u32, &S)> + Clone {
        let (low, high) = self.entries.split_at(self.entries.len().min(self.limit as usize));
        let high = self.indices.iter().copied().zip(high);
        (0..).zip(&low[..self.low]).chain(high)
    }

    /// The same, to be changed.
    pub(crate) fn entries_mut(&mut self) -> impl Iterator<Item = &mut S> {
        self.entries_mut_with_indices().map(|(_, entry)| entry)
    }

    /// The same, with their indices.
    pub(crate) fn entries_mut_with_indices(&mut self) -> impl Iterator<Item = (u32, &mut S)> {
        let limit = self.entries.len().min(self.limit as usize);
        let (low, high) = self.entries.split_at_mut(limit);
        let high = self.indices.iter().copied().zip(high);
        (0..).zip(&mut low[..self.low]).chain(high)
    }

    /// The indices of the entries that are in use, in order.
    pub(crate) fn used(&self, is_used: impl Fn(&S) -> bool) -> Vec<u32> {
        let mut used: Vec<_> = self.entries().filter(|(_, entry)| is_used(entry)).map(|(index, _)| index).collect();
        used.sort_unstable();
        used
    }

    /// The indices whose entries give a number that is not 0, and the numbers.
    pub(crate) fn not_zero(&self, number: impl Fn(S) -> f64) -> (Vec<u32>, Vec<f64>) {
        self.entries().map(|(index, &entry)| (index, number(entry))).filter(|&(_, number)| number != 0.0).unzip()
    }

    /// The entries that are in use, in order of index: a column `index`, and one for each field.
    ///
    /// # Errors
    /// When a column is missing, or they do not match.
    pub(crate) fn persist(
        &mut self,
        archive: &mut Archive,
        is_used: impl Fn(&S) -> bool,
        fields: &[(&str, Field<'_, S>)],
    ) -> Result<(), Error> {
        let mut indices = self.used(&is_used);
        let mut entries: Vec<S> = indices.iter().map(|&index| self.get(index)).collect();
        archive.column("index", &mut indices)?;
        archive.records(&mut entries, &S::zeroed(), fields)?;
        if archive.is_loading() {
            archive.check(entries.iter().all(is_used), "index", "must have no entry that says nothing")?;
            *self = Self::filled(&indices, entries.into_iter())?;
        }
        Ok(())
    }

    /// A table with these entries filled.
    pub(crate) fn filled(indices: &[u32], entries: impl ExactSizeIterator<Item = S>) -> Result<Self, Error> {
        if indices.len() != entries.len() || indices.iter().any(|&index| index >= INDEX_LIMIT) {
            return Err(Error::model("the model's columns do not match: it is damaged"));
        }
        let mut table = Self::default();
        for (&index, entry) in indices.iter().zip(entries) {
            *table.entry(index) = entry;
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
            let (mut table, mut map) = (ParameterTable::default(), BTreeMap::new());
            for &(index, value) in &writes {
                *table.entry(index) = value;
                map.insert(index, value);
            }
            for index in (0..6000).chain((0..3000).map(|k| k << 20)).chain(LOW - 9..LOW + 3000) {
                prop_assert_eq!(table.get(index).to_bits(), map.get(&index).copied().unwrap_or(0.0).to_bits());
            }
            let mut found: Vec<(u32, u64)> = table.entries().filter(|(_, value)| value.to_bits() != 0).map(|(i, v)| (i, v.to_bits())).collect();
            found.sort_unstable();
            let expected: Vec<(u32, u64)> = map.iter().filter(|(_, value)| value.to_bits() != 0).map(|(&i, v)| (i, v.to_bits())).collect();
            prop_assert_eq!(found, expected);
        }
    }

    /// Counts how often indices occur, row by row, with hints or without; some rows are not learnt from.
    /// `before`: what a saved table had, which was filled before there were hints.
    fn counted(rows: &[Vec<u32>], hinted: bool, before: &[u32]) -> (ParameterTable<u8>, BTreeMap<u32, u8>) {
        let mut table: ParameterTable<u8> = ParameterTable::filled(before, before.iter().map(|_| 3)).unwrap();
        let (mut map, mut positions) =
            (before.iter().map(|&index| (index, 3)).collect::<BTreeMap<_, _>>(), Positions::default());
        let (mut hints, mut everywhere) = (crate::FeatureMap::for_learning(), crate::FeatureMap::default());
        let mut batch = crate::Batch::default();
        for chunk in rows.chunks(7) {
            batch.clear();
            for (number, row) in chunk.iter().enumerate() {
                row.iter().for_each(|&index| batch.push(index, 1.0));
                // Some have no label or no importance; and of some it was not known that they would be left out.
                let (label, weight) = ((number != 3).then_some(1.0), if number == 5 { 0.0 } else { 1.0 });
                batch.finish(label, weight);
            }
            match hinted {
                true if rows.len().is_multiple_of(2) => hints.add(&mut batch),
                true => everywhere.add(&mut batch),
                false => {}
            }
            for (number, example) in batch.iter().enumerate() {
                let x = example.features;
                // Predicted only: some of its features have no entries.
                if number == 3 || number == 5 {
                    for (&index, (entry, _)) in x.indices().iter().zip(table.row(x)) {
                        assert_eq!(entry, map.get(&index).copied().unwrap_or(0));
                    }
                    continue;
                }
                table.locate(x, &mut positions);
                for (&position, &index) in positions.of(x).all().iter().zip(x.indices()) {
                    let entry = table.at(position as usize);
                    *entry = entry.wrapping_add(1);
                    let count = map.entry(index).or_insert(0u8);
                    *count = count.wrapping_add(1);
                }
            }
        }
        (table, map)
    }

    /// Of a table that was filled before there were hints, and of one that follows them: rows that are predicted, expected
    /// before or not, and all entries at once.
    #[test]
    fn entries_are_found_by_translated_hints_and_all_at_once() {
        let mut random = crate::numeric::rng::SplitMix64::new(5);
        let mut index = || (u64::from(LOW) - 50 + random.below(3000)) as u32;
        let kept: Vec<u32> = (0..400).map(|_| index()).collect();
        let mut table: ParameterTable<u32> = ParameterTable::filled(&kept, kept.iter().copied()).unwrap();
        let (mut hints, mut batch) = (crate::FeatureMap::default(), crate::Batch::default());
        for _ in 0..50 {
            (0..20).for_each(|_| batch.push(index(), 1.0));
            batch.finish(None, 1.0);
        }
        hints.add(&mut batch);
        let is_kept = |index: u32| if kept.contains(&index) { index } else { 0 };
        for is_expected in [false, true, true] {
            for example in batch.iter() {
                if is_expected {
                    table.prefetch(example.features);
                }
                for (&index, (entry, _)) in example.features.indices().iter().zip(table.row(example.features)) {
                    assert_eq!(entry, is_kept(index));
                }
            }
        }
        let asked: Vec<u32> =
            kept.iter().copied().chain(kept.iter().rev().copied()).chain((0..500).map(|_| index())).collect();
        let found: Vec<u32> = table.each(&asked).collect();
        assert_eq!(found, asked.iter().map(|&index| is_kept(index)).collect::<Vec<_>>());
        let (mut follower, mut positions) = (ParameterTable::<u32>::default(), Positions::default());
        for example in batch.iter() {
            follower.locate(example.features, &mut positions);
            for (&position, &index) in positions.of(example.features).all().iter().zip(example.features.indices()) {
                *follower.at(position as usize) = index;
            }
        }
        assert!(matches!(follower.hints, Follows::Hints(_)) && follower.numbers.get().is_none());
        let met: Vec<u32> = batch.iter().flat_map(|example| example.features.indices().to_vec()).collect();
        assert_eq!(follower.each(&met).collect::<Vec<_>>(), met);
        assert_eq!(met.iter().map(|&index| follower.get(index)).collect::<Vec<_>>(), met);
    }

    #[test]
    fn tables_follow_hints_where_some_rows_are_not_learnt_from() {
        let mut random = crate::numeric::rng::SplitMix64::new(23);
        let mut index = || (u64::from(LOW) - 50 + random.below(8000)) as u32;
        let rows: Vec<Vec<u32>> = (0..200).map(|_| (0..30).map(|_| index()).collect()).collect();
        let (table, _) = counted(&rows[..20], true, &[]);
        assert!(matches!(table.hints, Follows::Hints(_)));
        let (table, _) = counted(&rows[..21], true, &[]);
        assert!(table.hints == Follows::Nobody, "of all rows: a slot is missing");
    }

    #[test]
    fn a_row_without_hints_of_its_own_is_predicted_after_later_ones_as_it_should_be() {
        let (mut hints, mut batch) = (crate::FeatureMap::for_learning(), crate::Batch::default());
        for label in [None, Some(1.0)] {
            batch.push(3_000_000, 1.0);
            batch.finish(label, 1.0);
        }
        hints.add(&mut batch);
        let (mut table, mut positions) = (ParameterTable::<u32>::default(), Positions::default());
        table.locate(batch.get(1).features, &mut positions);
        *table.at(positions.of(batch.get(1).features).all()[0] as usize) = 7;
        for row in 0..2 {
            assert_eq!(table.row(batch.get(row).features).next(), Some((7, 1.0)), "{row}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]

        #[test]
        fn entries_are_found_by_hints_and_without_and_when_all_are_addressed_directly(
            seed: u64, spread in prop_oneof![Just(8000u64), Just(40_000), Just(1 << 30)], count in 1usize..400,
        ) {
            let mut random = crate::numeric::rng::SplitMix64::new(seed);
            let index = |random: &mut crate::numeric::rng::SplitMix64| (u64::from(LOW) - 50 + random.below(spread)) as u32;
            let rows: Vec<Vec<u32>> = (0..count).map(|_| (0..30).map(|_| index(&mut random)).collect()).collect();
            let before: Vec<u32> = if seed % 2 == 0 { Vec::new() } else { vec![LOW + 7, LOW + 3, 9, LOW + 3000] };
            for hinted in [false, true] {
                let (table, map) = counted(&rows, hinted, &before);
                for (&index, &count) in &map {
                    prop_assert_eq!(table.get(index), count, "{}", index);
                }
                let all: u64 = table.entries().map(|(_, &count)| u64::from(count != 0)).sum();
                prop_assert_eq!(all, map.values().filter(|&&count| count != 0).count() as u64);
                // The case is there to be met: 29 bytes an entry, and one for each index.
                // A 64th more than the largest index.
                let most = (u64::from(LOW) + spread) * 65 / 64 + 64;
                prop_assert!(table.limit == LOW || spread < 1 << 30 && u64::from(table.limit) < most, "{}", table.limit);
                if spread == 8000 && count > 300 {
                    prop_assert!(table.limit > LOW);
                }
            }
        }
    }
}
