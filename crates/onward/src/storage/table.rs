//! A table of entries, one per feature, that costs what is used.
//!
//! Low indices (columns of numbers, the numbered features of most svmlight files) address
//! their entries directly. Higher ones, which are mostly hashes, have their entries one after the
//! other in the order in which they first came: scattered over millions, most of what
//! the processor fetches and keeps would never be used. (On the flights file, 10,000 distinct
//! features of 2^22 indices, a pass took 0.75 s and 39 MB; with entries in pages of 16 consecutive
//! indices 1.00 s and 58 MB.) That is the order of the ids that rows get from the model's
//! [`FeatureMap`](crate::FeatureMap): the table is an array by id. Rows that have not been numbered
//! are looked up. Once entries for all indices would take at most four times the memory of
//! those in use and a map of them, all are addressed directly.

use std::sync::OnceLock;

use bytemuck::{Pod, Zeroable};

use crate::archive::{Archive, Field};
use crate::example::reach::{MaxPositions, max_positions};
use crate::hashing::feature_map::{AHEAD, INDEX_LIMIT, LOW, NO_ID};
use crate::hashing::index_map::IndexMap;
use crate::simd::f64x4::Record16;
use crate::simd::scan::max_index;
use crate::simd::{prefer_huge_pages, prefetch_all, prefetch_at};
use crate::{Error, Features};

/// Entries addressed by feature index; one that was never written is all zeros.
#[derive(Debug, Clone)]
pub(crate) struct ParameterTable<S> {
    /// The entries of indices below `limit`, then those of higher ones. While there are no higher ones, it ends with
    /// the low ones that were needed.
    entries: Vec<S>,
    limit: u32,
    /// The number of low entries that were needed, rounded up.
    low: usize,
    /// The index of each high entry.
    indices: Vec<u32>,
    /// The number of each high entry. It is made on first use: rows with ids never need it.
    numbers: OnceLock<IndexMap>,
    /// The map whose ids are the positions of all high entries.
    id_source: IdSource,
    /// How many times entries have been laid out anew. Positions are void once it has changed.
    pub(crate) layout: u32,
    /// The largest high index.
    largest: u32,
    /// Whether to check if all entries should be addressed directly, and with how many high entries the check is next
    /// due.
    is_due: bool,
    due_at: usize,
}

/// The map whose ids are the positions of the high entries. Its ids need not be compared with the index that is
/// kept there, which would be one more access to memory per feature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum IdSource {
    /// There is no high entry yet.
    Undecided,
    /// This map.
    Map(u64),
    /// No map: rows came without ids or with ids of several maps, or entries have been laid out anew.
    Own,
}

/// Where the entries of a row are, the last one to be [located](ParameterTable::locate).
#[derive(Debug, Clone, Default)]
pub(crate) struct Positions {
    told: Told,
    /// The positions, where the row does not have them.
    found: Vec<u32>,
    /// None of these is larger.
    largest: u32,
}

/// What has the positions of the entries of a row.
#[derive(Debug, Clone, Copy, Default)]
enum Told {
    #[default]
    Found,
    /// The row: they are its indices.
    Indices,
    /// The row: they are its ids.
    Ids,
}

/// The positions of the entries of a row, one for each of its features.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RowPositions<'a> {
    positions: &'a [u32],
    /// None of them is larger.
    largest: u32,
}

impl Positions {
    /// The positions of the row that was located.
    #[inline]
    pub(crate) fn of<'a>(&'a self, x: Features<'a>) -> RowPositions<'a> {
        // For any row, no position is larger than `largest`.
        match self.told {
            Told::Found => RowPositions { positions: &self.found, largest: self.largest },
            Told::Indices => RowPositions { positions: x.indices(), largest: x.bounds.trusted_max_index },
            Told::Ids => RowPositions { positions: x.ids, largest: x.bounds.max_ids.largest },
        }
    }

    /// Copies positions. Returns the largest of all, and of low indices.
    #[inline]
    fn copy(&mut self, positions: &[u32]) -> MaxPositions {
        self.told = Told::Found;
        self.found.clear();
        self.found.extend_from_slice(positions);
        // From the copy: borrowed memory may have other numbers the next time.
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

    /// Whether all are below this count.
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
            id_source: IdSource::Undecided,
            layout: 0,
            largest: 0,
            is_due: false,
            due_at: FEWEST_TO_SETTLE,
        }
    }
}

/// Entries as words. All `positions` are among them.
///
/// # Panics
/// When one is not, which is a bug.
#[inline]
pub(crate) fn records<'a, S: Pod>(entries: &'a mut [S], positions: RowPositions<'_>) -> &'a mut [Record16] {
    assert!(positions.are_below(entries.len()), "a position beyond the table");
    bytemuck::must_cast_slice_mut(entries)
}

/// The low entries of the smallest table.
const FEWEST: usize = 64;

/// Entries of more bytes are never all addressed directly.
const MOST_TO_SETTLE: usize = 32;

/// All entries are addressed directly where that takes at most this many times the memory.
const MOST_TIMES: usize = 4;

/// From how many entries on it is worth asking whether to address all directly.
const FEWEST_TO_SETTLE: usize = if cfg!(test) { 16 } else { 1 << 16 };

impl<S: Copy + Zeroable> ParameterTable<S> {
    /// The entry of an index; all zeros if it was never written.
    #[inline]
    pub(crate) fn get(&self, index: u32) -> S {
        let position = if index < self.limit { Some(index) } else { self.find(index) };
        position.map_or_else(S::zeroed, |position| self.there(position))
    }

    /// The position of the entry of a high index, if there is one.
    #[inline]
    fn find(&self, index: u32) -> Option<u32> {
        self.numbers().find(index).ok().map(|number| self.limit + number)
    }

    /// Where high entries are.
    #[inline]
    fn numbers(&self) -> &IndexMap {
        self.numbers.get_or_init(|| IndexMap::of(&self.indices))
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
            let is_next = self.indices.get((next - self.limit) as usize) == Some(&index);
            let position = if is_next { Some(next) } else { self.find(index) };
            let Some(position) = position else { return S::zeroed() };
            next = position + 1;
            self.there(position)
        })
    }

    /// The entries at known positions.
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
        let ids = if x.map().is_some_and(|map| self.id_source == IdSource::Map(map)) { x.ids } else { &[] };
        x.indices().iter().zip(x.values()).enumerate().map(move |(at, (&index, &value))| {
            let entry = match ids.get(at) {
                // Without one, it was not learnt from before its row; it may have been since.
                Some(&id) if id != NO_ID => self.there(id),
                _ => self.get(index),
            };
            (entry, value)
        })
    }

    /// The entry of an index, to be written.
    #[inline]
    pub(crate) fn entry(&mut self, index: u32) -> &mut S {
        let position = self.position(index);
        self.at(position)
    }

    /// The position of the entry of an index, which is made if it is missing.
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
                self.id_source = IdSource::Own;
                self.insert(index, vacancy)
            }
        };
        self.limit as usize + number
    }

    /// Fetches the entries of a row that is needed soon.
    #[inline]
    pub(crate) fn prefetch(&self, x: Features<'_>) {
        let is_numbered = || x.map().is_some_and(|map| self.id_source == IdSource::Map(map));
        let positions = match x {
            _ if (x.bounds.max_index as usize) < self.low => x.indices(),
            _ if is_numbered() => x.ids,
            _ if (max_index(x.indices()) as usize) < self.low => x.indices(),
            _ => return,
        };
        prefetch_all(&self.entries, positions);
    }

    /// Finds the positions of the entries of a row, and makes the missing entries.
    #[inline]
    pub(crate) fn locate(&mut self, x: Features<'_>, positions: &mut Positions) {
        if self.is_due {
            self.settle();
        }
        if (x.bounds.trusted_max_index as usize) < self.low {
            positions.told = Told::Indices;
            return;
        }
        if self.are_at_ids(x, positions) {
            return;
        }
        if positions.copy(x.indices()).largest as usize >= self.low {
            // Nothing may rely on positions that are being looked for.
            positions.largest = u32::MAX;
            positions.found.clear();
            positions.found.extend(x.indices().iter().map(|&index| self.position(index) as u32));
            positions.largest = max_index(&positions.found);
        }
    }

    /// Whether all entries of a row are at its ids, which are then its positions. New entries are made.
    #[inline]
    fn are_at_ids(&mut self, x: Features<'_>, positions: &mut Positions) -> bool {
        let Some(map) = x.map() else { return false };
        if self.id_source == IdSource::Undecided {
            self.id_source = IdSource::Map(map);
        }
        if self.id_source != IdSource::Map(map) {
            return false;
        }
        let are_there =
            |max: MaxPositions| (max.largest_low as usize) < self.low && (max.largest as usize) < self.entries.len();
        if are_there(x.bounds.max_ids) {
            positions.told = Told::Ids;
            return true;
        }
        let max = positions.copy(x.ids);
        are_there(max) || self.make_new(x, max.largest_low)
    }

    /// Makes the entries of a row that are new, by its ids. False if they are not those to come next: ids come in order, one
    /// for each feature, unless rows are left out, and then they are no longer relied on.
    #[inline(never)]
    fn make_new(&mut self, x: Features<'_>, largest_low: u32) -> bool {
        if largest_low as usize >= self.low {
            self.grow_low(largest_low as usize);
        }
        let mut next = self.limit as usize + self.indices.len();
        for (&index, &id) in x.indices().iter().zip(x.ids) {
            // Low indices are their own ids, and below the limit.
            if (id as usize) < next {
                continue;
            }
            match self.numbers.get().map_or(Err(0), |numbers| numbers.find(index)) {
                Err(vacancy) if id as usize == next => next = self.limit as usize + self.insert(index, vacancy) + 1,
                _ => {
                    self.id_source = IdSource::Own;
                    return false;
                }
            }
        }
        true
    }

    /// The entry at a position; all zeros if there is none.
    #[inline]
    fn there(&self, position: u32) -> S {
        self.entries.get(position as usize).copied().unwrap_or_else(S::zeroed)
    }

    /// The entry at a position from [`position`](Self::position).
    #[inline]
    pub(crate) fn at(&mut self, position: usize) -> &mut S {
        &mut self.entries[position]
    }

    /// All entries, for access at the [positions](Self::locate) of a row.
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

    /// Makes the next entry, for this index. `vacancy` is the place of its number in the map, if there is a map.
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
    /// then need one access to memory for a feature, and no id. Where there are so many, more are going to come, and what
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
        (self.indices, self.numbers, self.id_source) = (Vec::new(), OnceLock::new(), IdSource::Own);
        self.layout += 1;
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
            *self = Self::loaded(archive, &indices, entries.into_iter())?;
        }
        Ok(())
    }

    /// A table with these entries filled, by the ids of the map that the archive has.
    pub(crate) fn loaded(
        archive: &Archive,
        indices: &[u32],
        entries: impl ExactSizeIterator<Item = S>,
    ) -> Result<Self, Error> {
        let Some((map, all)) = archive.features.as_ref().and_then(|map| Some((map, map.indices()?))) else {
            return Self::filled(indices, entries);
        };
        let (mut table, mut ids) = (Self::default(), Vec::new());
        map.add_known_ids(indices, &mut ids);
        if all.is_empty() || ids.contains(&NO_ID) || indices.len() != entries.len() {
            return Self::filled(indices, entries);
        }
        for &index in all {
            table.insert(index, 0);
        }
        table.id_source = IdSource::Map(map.map);
        for (id, entry) in ids.into_iter().zip(entries) {
            if id < table.limit {
                table.position(id);
            }
            *table.at(id as usize) = entry;
        }
        Ok(table)
    }

    /// A table with these entries filled.
    pub(crate) fn filled(indices: &[u32], entries: impl ExactSizeIterator<Item = S>) -> Result<Self, Error> {
        if indices.len() != entries.len() || indices.iter().any(|&index| index >= INDEX_LIMIT) {
            return Err(Error::model(
                "the model's columns do not match: it is damaged; copy it again, or learn it again",
            ));
        }
        let mut table = Self::default();
        for (&index, entry) in indices.iter().zip(entries) {
            *table.entry(index) = entry;
        }
        Ok(table)
    }

    /// A table with the same features, whose entries are made from these.
    pub(crate) fn map<T: Copy + Zeroable>(&self, make: impl Fn(&S) -> T) -> ParameterTable<T> {
        let (limit, low, id_source, layout) = (self.limit, self.low, self.id_source, self.layout);
        let entries: Vec<T> = self.entries.iter().map(make).collect();
        prefer_huge_pages(&entries);
        ParameterTable {
            entries,
            limit,
            low,
            indices: self.indices.clone(),
            numbers: self.numbers.clone(),
            id_source,
            layout,
            largest: self.largest,
            is_due: self.is_due,
            due_at: self.due_at,
        }
    }
}

#[cfg(test)]
mod tests;
