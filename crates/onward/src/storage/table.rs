//! A table of slots, one for each feature index, that costs what is used.
//!
//! Low indices (columns of numbers, the numbered features of most svmlight files) address
//! their slots directly. Higher ones, which are mostly hashes, have their slots one after the
//! other in the order in which they were first written: scattered over millions, most of what
//! the processor fetches and keeps would never be used. (On the flights file, 10,000 distinct
//! features of 2^22 indices, a pass took 0.75 s and 39 MB; with slots in pages of 16 consecutive
//! indices 1.00 s and 58 MB.) Which slot is whose is told by the row's hints
//! ([`SlotHints`](crate::SlotHints)), or looked up. Once so many indices have a slot that all could have
//! one in four times the memory of those and a map of them, all are addressed directly.

use std::sync::OnceLock;

use bytemuck::{Pod, Zeroable};

use crate::archive::{Archive, Field};
use crate::example::feature_map::{AHEAD, LOW, NONE};
use crate::example::reach::{Reach, reach};
use crate::hashing::index_map::Numbers;
use crate::simd::f64x4::Words;
use crate::simd::scan::largest;
use crate::simd::{expect_random_access, prefetch_all, prefetch_at};
use crate::{Error, Features, INDEX_LIMIT};

/// Slots addressed by feature index; one that was never written is all zeros.
#[derive(Debug, Clone)]
pub(crate) struct Table<S> {
    /// The slots of indices below `limit`, and from there on those of higher ones. While there are none of those,
    /// it ends where the low ones do that were needed.
    slots: Vec<S>,
    limit: u32,
    /// How many low ones were needed, rounded up.
    low: usize,
    /// Of each high one its index.
    indices: Vec<u32>,
    /// Where they are: made when it is first asked, since while hints are followed nobody may.
    numbers: OnceLock<Numbers>,
    /// Those which tell the places of all high slots, if there are such.
    hints: Follows,
    /// Where slots are of which they do not tell the places.
    translated: Translated,
    /// How often slots have been laid out anew.
    layout: u32,
    /// The largest high index.
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
    /// There are slots that no hint told of, or hints of which there are no slots; or slots have been laid out anew.
    Nobody,
}

/// The places of high slots by those that hints tell: of a table that was filled before there were hints, or from other rows.
#[derive(Debug, Clone, Default)]
struct Translated {
    /// Whose hints they are.
    hints_of: Option<u64>,
    /// By what a hint is above [`LOW`]; 0: not known.
    places: Vec<u32>,
}

impl Translated {
    /// The place of a hint, if it is known.
    #[inline]
    fn get(&self, hint: u32) -> Option<u32> {
        self.places.get(hint.wrapping_sub(LOW) as usize).copied().filter(|&place| place != 0)
    }

    fn set(&mut self, hint: u32, place: u32) {
        let Some(at) = hint.checked_sub(LOW).filter(|_| hint != NONE) else { return };
        if at as usize >= self.places.len() {
            self.places.resize((at as usize + 1).next_power_of_two(), 0);
        }
        self.places[at as usize] = place;
    }

    /// Forgets what hints of others tell.
    fn follow(&mut self, id: u64) {
        if self.hints_of != Some(id) {
            *self = Self { hints_of: Some(id), places: Vec::new() };
        }
    }
}

/// Where the slots of a row are, the last one to be [located](Table::locate).
#[derive(Debug, Clone, Default)]
pub(crate) struct Places {
    told: Told,
    /// Those that the row does not tell.
    found: Vec<u32>,
    /// None of these is larger.
    largest: u32,
}

/// Who tells where the slots of a row are.
#[derive(Debug, Clone, Copy, Default)]
enum Told {
    #[default]
    Found,
    /// The row itself, by its indices.
    Indices,
    /// The same, by its hints.
    Hints,
}

/// The places of the slots of a row, one for each of its features.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Located<'a> {
    places: &'a [u32],
    /// None of them is larger.
    largest: u32,
}

impl Places {
    /// Those of the row that was located.
    #[inline]
    pub(crate) fn of<'a>(&'a self, x: Features<'a>) -> Located<'a> {
        // Whatever row is asked for, none of the places that are given is larger than `largest`.
        match self.told {
            Told::Found => Located { places: &self.found, largest: self.largest },
            Told::Indices => Located { places: x.indices(), largest: x.bound() },
            Told::Hints => Located { places: x.hints(), largest: x.hints_reach().largest },
        }
    }

    /// Takes in places that somebody told. Gives the largest of them, and of those of low indices.
    #[inline]
    fn copy(&mut self, places: &[u32]) -> Reach {
        self.told = Told::Found;
        self.found.clear();
        self.found.extend_from_slice(places);
        // Of what was copied: what is lent may be other numbers the next time.
        let reach = reach(&self.found);
        self.largest = reach.largest;
        reach
    }
}

impl<'a> Located<'a> {
    #[inline]
    pub(crate) fn all(self) -> &'a [u32] {
        self.places
    }

    /// Whether all are among so many.
    #[inline]
    pub(crate) fn are_below(self, count: usize) -> bool {
        self.places.is_empty() || (self.largest as usize) < count
    }
}

impl<S> Default for Table<S> {
    fn default() -> Self {
        Self {
            slots: Vec::new(),
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

/// Slots as words, among which all `places` are.
///
/// # Panics
/// When one is not, which is a fault of ours.
#[inline]
pub(crate) fn words<'a, S: Pod>(slots: &'a mut [S], places: Located<'_>) -> &'a mut [Words] {
    assert!(places.are_below(slots.len()), "a place beyond the table");
    bytemuck::must_cast_slice_mut(slots)
}

/// The low slots of the smallest table.
const FEWEST: usize = 64;

/// Slots of more bytes are never all addressed directly.
const MOST_TO_SETTLE: usize = 32;

/// All slots are addressed directly where that takes at most so many times the memory.
const MOST_TIMES: usize = 4;

/// From how many slots on it is worth asking whether to address all directly.
const FEWEST_TO_SETTLE: usize = if cfg!(test) { 16 } else { 1 << 16 };

impl<S: Copy + Zeroable> Table<S> {
    /// The slot of an index; all zeros if it was never written.
    #[inline]
    pub(crate) fn get(&self, index: u32) -> S {
        self.get_hinted(index, 0)
    }

    /// The same, where it may be at this place, or at that which it stands for.
    #[inline]
    fn get_hinted(&self, index: u32, hint: u32) -> S {
        let place = if index < self.limit { Some(index) } else { self.find(index, hint) };
        place.and_then(|place| self.slots.get(place as usize)).copied().unwrap_or_else(S::zeroed)
    }

    /// The place of the slot of a high index, if there is one.
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

    /// Where high slots are.
    #[inline]
    fn numbers(&self) -> &Numbers {
        self.numbers.get_or_init(|| Numbers::of(&self.indices))
    }

    /// Whether the slot of a high index is at this place.
    #[inline]
    fn is_at(&self, index: u32, place: u32) -> bool {
        self.indices.get(place.wrapping_sub(self.limit) as usize) == Some(&index)
    }

    /// The slots of many indices. Those that come in the order in which they were first written, or nearly so, need
    /// not be looked up.
    pub(crate) fn each<'a>(&'a self, indices: &'a [u32]) -> impl Iterator<Item = S> + 'a {
        let mut next = self.limit;
        indices.iter().enumerate().map(move |(at, &index)| {
            if index < self.limit {
                if let Some(&later) = indices.get(at + AHEAD) {
                    prefetch_at(&self.slots, later as usize);
                }
                return self.there(index);
            }
            let place = if self.is_at(index, next) { Some(next) } else { self.find(index, next) };
            let Some(place) = place else { return S::zeroed() };
            next = place + 1;
            self.there(place)
        })
    }

    /// The slots at places that were told.
    pub(crate) fn these<'a>(&'a self, places: &'a [u32]) -> impl Iterator<Item = S> + 'a {
        places.iter().enumerate().map(move |(at, &place)| {
            if let Some(&later) = places.get(at + AHEAD) {
                prefetch_at(&self.slots, later as usize);
            }
            self.there(place)
        })
    }

    /// The slots of a row, with its values.
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
            (told.map_or_else(|| self.get_hinted(index, hint), |place| self.there(place)), value)
        })
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
        if index < self.limit {
            if index as usize >= self.low {
                self.grow_low(index as usize);
            }
            return index as usize;
        }
        let number = match self.numbers().find(index) {
            Ok(number) => number as usize,
            Err(entry) => {
                self.hints = Follows::Nobody;
                self.insert(index, entry)
            }
        };
        self.limit as usize + number
    }

    /// Finds out where the slots of a row are that is going to be worked on, if that takes looking them up.
    pub(crate) fn look_up(&mut self, x: Features<'_>) {
        if let Some(id) = x.hints_of().filter(|_| self.hints == Follows::Nobody) {
            self.translate(id, x);
        }
    }

    /// Has the slots of a row fetched that is going to be worked on, and finds out where they are.
    #[inline]
    pub(crate) fn expect(&mut self, x: Features<'_>) {
        let places = match x.hints_of() {
            _ if (x.largest() as usize) < self.low => x.indices(),
            Some(id) if self.hints == Follows::Nobody => return self.translate(id, x),
            Some(_) => x.hints(),
            None if self.are_low(x) => x.indices(),
            None => return,
        };
        prefetch_all(&self.slots, places);
    }

    /// Finds out for which places the hints of a row stand, and has their slots fetched.
    #[inline(never)]
    fn translate(&mut self, id: u64, x: Features<'_>) {
        self.translated.follow(id);
        for (index, hint, _) in x.hinted() {
            let known = if index < self.limit { Some(index) } else { self.translated.get(hint) };
            let place = known.or_else(|| {
                let found = self.find(index, hint)?;
                self.translated.set(hint, found);
                Some(found)
            });
            if let Some(place) = place {
                prefetch_at(&self.slots, place as usize);
            }
        }
    }

    /// Finds the places of the slots of a row, which there are from now on.
    #[inline]
    pub(crate) fn locate(&mut self, x: Features<'_>, places: &mut Places) {
        if self.is_due {
            self.settle();
        }
        if (x.bound() as usize) < self.low {
            places.told = Told::Indices;
            return;
        }
        if self.are_where_hints_tell(x, places) {
            return;
        }
        if places.copy(x.indices()).largest as usize >= self.low {
            // Nobody may rely on places that are being looked for.
            places.largest = u32::MAX;
            self.search(x, &mut places.found);
            places.largest = largest(&places.found);
        }
    }

    /// Whether all slots of a row are low ones.
    #[inline]
    fn are_low(&self, x: Features<'_>) -> bool {
        (x.largest() as usize) < self.low || (largest(x.indices()) as usize) < self.low
    }

    /// Whether all slots of a row are where its hints tell, which are then its places; those that are new are made.
    #[inline]
    fn are_where_hints_tell(&mut self, x: Features<'_>, places: &mut Places) -> bool {
        if !x.hints_of().is_some_and(|id| self.hints == Follows::Hints(id)) {
            return false;
        }
        let is_there =
            |reach: Reach| (reach.largest_low as usize) < self.low && (reach.largest as usize) < self.slots.len();
        if is_there(x.hints_reach()) {
            places.told = Told::Hints;
            return true;
        }
        let reach = places.copy(x.hints());
        is_there(reach) || (reach.largest_low as usize) < self.low && self.make_new(x)
    }

    /// Makes the slots of a row that are new, by its hints; false if they are not those to come next.
    #[inline(never)]
    fn make_new(&mut self, x: Features<'_>) -> bool {
        for (&index, &hint) in x.indices().iter().zip(x.hints()) {
            if hint as usize >= self.limit as usize + self.indices.len() && !self.make_next(index, hint) {
                return false;
            }
        }
        true
    }

    /// Makes the slot of an index, if its hint tells that it is the next one. Hints come in order, one for each index; with others
    /// a row was left out, and they are no longer followed.
    #[cold]
    fn make_next(&mut self, index: u32, hint: u32) -> bool {
        let next = self.limit as usize + self.indices.len();
        match self.numbers.get().map_or(Err(0), |numbers| numbers.find(index)) {
            Err(entry) if hint as usize == next => drop(self.insert(index, entry)),
            _ => {
                self.hints = Follows::Nobody;
                return false;
            }
        }
        true
    }

    /// Finds the places of slots one by one.
    #[inline(never)]
    fn search(&mut self, x: Features<'_>, found: &mut Vec<u32>) {
        found.clear();
        if self.follow(x, found) {
            return;
        }
        found.clear();
        let Some(id) = x.hints_of() else {
            found.extend(x.indices().iter().map(|&index| self.place(index) as u32));
            return;
        };
        self.translated.follow(id);
        for (index, hint, _) in x.hinted() {
            let place = match self.translated.get(hint) {
                Some(place) if index >= self.limit => place,
                _ => {
                    let place = self.place(index) as u32;
                    if index >= self.limit {
                        self.translated.set(hint, place);
                    }
                    place
                }
            };
            found.push(place);
        }
    }

    /// Finds the places where hints tell they are, and makes the slots that are new, if hints are to be relied on.
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

    /// The slot at a place that was told; all zeros if there is none.
    #[inline]
    fn there(&self, place: u32) -> S {
        self.slots.get(place as usize).copied().unwrap_or_else(S::zeroed)
    }

    /// The slot at a place that [`place`](Self::place) told.
    #[inline]
    pub(crate) fn at(&mut self, place: usize) -> &mut S {
        &mut self.slots[place]
    }

    /// All slots, to be taken at the [places](Self::locate) of a row.
    #[inline]
    pub(crate) fn all(&mut self) -> &mut [S] {
        &mut self.slots
    }

    #[cold]
    fn grow_low(&mut self, index: usize) {
        self.low = (index + 1).next_power_of_two().max(FEWEST);
        if self.indices.is_empty() {
            self.extend_low(self.low);
        }
    }

    /// Makes room for low slots where there are no others.
    fn extend_low(&mut self, size: usize) {
        let mut slots = bytemuck::zeroed_vec(size);
        expect_random_access(&slots);
        slots[..self.slots.len()].copy_from_slice(&self.slots);
        self.slots = slots;
    }

    /// Makes the next slot, that of this index, whose number is to be kept at `entry` if numbers are.
    #[cold]
    fn insert(&mut self, index: u32, entry: usize) -> usize {
        if self.slots.len() < self.limit as usize {
            self.extend_low(self.limit as usize);
        }
        let number = self.indices.len();
        self.indices.push(index);
        if self.slots.len() == self.slots.capacity() {
            self.slots.reserve(1);
            expect_random_access(&self.slots);
        }
        self.slots.push(S::zeroed());
        self.largest = self.largest.max(index);
        if self.indices.len() > self.due_at {
            (self.is_due, self.due_at) = (true, self.due_at + self.due_at / 4);
        }
        if let Some(numbers) = self.numbers.get_mut() {
            numbers.insert(index, number as u32, entry);
        }
        number
    }

    /// Addresses all slots directly, if that takes at most four times the memory that they and a map of them take: most rows
    /// then need one access to memory for a feature, and no hint. Where there are so many, more are going to come, and what
    /// grows is copied: with 36 million products in 2^24 slots this took a tenth less time than at twice the memory, and a fifth
    /// less memory. Places that were told before are void.
    #[cold]
    fn settle(&mut self) {
        self.is_due = false;
        // With a little to spare, but not a power of two: hashes of 24 bits, behind the index of the bias, need more than one.
        let size = (self.largest as usize + self.largest as usize / 64 + 1).next_multiple_of(FEWEST);
        // A slot, its index, and two to four entries of a number.
        let scattered = self.indices.len() * (size_of::<S>() + 28);
        // Large slots stay together: how many there are tells `auto` when to do with fewer lanes.
        if size * size_of::<S>() > MOST_TIMES * scattered || size_of::<S>() > MOST_TO_SETTLE {
            return;
        }
        let (low, high) = self.slots.split_at(self.slots.len().min(self.limit as usize));
        let mut slots = bytemuck::zeroed_vec(size);
        expect_random_access(&slots);
        slots[..low.len()].copy_from_slice(low);
        for (&index, slot) in self.indices.iter().zip(high) {
            slots[index as usize] = *slot;
        }
        (self.slots, self.low, self.limit) = (slots, size, size as u32);
        (self.indices, self.numbers, self.hints) = (Vec::new(), OnceLock::new(), Follows::Nobody);
        self.layout += 1;
        self.translated = Translated::default();
    }

    /// How many slots there are: all low ones up to the largest, and the high ones that were written.
    pub(crate) fn len(&self) -> usize {
        self.low + self.indices.len()
    }

    /// All slots that may differ from zero: low ones in order, high ones as they were first written.
    pub(crate) fn slots(&self) -> impl Iterator<Item = (u32, &S)> + Clone {
        let (low, high) = self.slots.split_at(self.slots.len().min(self.limit as usize));
        let high = self.indices.iter().copied().zip(high);
        (0..).zip(&low[..self.low]).chain(high)
    }

    /// The same, to be changed.
    pub(crate) fn slots_mut(&mut self) -> impl Iterator<Item = &mut S> {
        self.slots_mut_with_indices().map(|(_, slot)| slot)
    }

    /// The same, with their indices.
    pub(crate) fn slots_mut_with_indices(&mut self) -> impl Iterator<Item = (u32, &mut S)> {
        let limit = self.slots.len().min(self.limit as usize);
        let (low, high) = self.slots.split_at_mut(limit);
        let high = self.indices.iter().copied().zip(high);
        (0..).zip(&mut low[..self.low]).chain(high)
    }

    /// The indices of the slots that are in use, in order.
    pub(crate) fn used(&self, is_used: impl Fn(&S) -> bool) -> Vec<u32> {
        let mut used: Vec<_> = self.slots().filter(|(_, slot)| is_used(slot)).map(|(index, _)| index).collect();
        used.sort_unstable();
        used
    }

    /// The indices whose slots give a number that is not 0, and the numbers.
    pub(crate) fn not_zero(&self, number: impl Fn(S) -> f64) -> (Vec<u32>, Vec<f64>) {
        self.slots().map(|(index, &slot)| (index, number(slot))).filter(|&(_, number)| number != 0.0).unzip()
    }

    /// The slots that are in use, in order of index: a column `index`, and one for each field.
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
        let mut slots: Vec<S> = indices.iter().map(|&index| self.get(index)).collect();
        archive.column("index", &mut indices)?;
        archive.records(&mut slots, &S::zeroed(), fields)?;
        if archive.is_loading() {
            archive.check(slots.iter().all(is_used), "index", "must have no entry that says nothing")?;
            *self = Self::filled(&indices, slots.into_iter())?;
        }
        Ok(())
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

    /// Counts how often indices occur, row by row, with hints or without; some rows are not learnt from.
    /// `before`: what a saved table had, which was filled before there were hints.
    fn counted(rows: &[Vec<u32>], hinted: bool, before: &[u32]) -> (Table<u8>, BTreeMap<u32, u8>) {
        let mut table: Table<u8> = Table::filled(before, before.iter().map(|_| 3)).unwrap();
        let (mut map, mut places) =
            (before.iter().map(|&index| (index, 3)).collect::<BTreeMap<_, _>>(), Places::default());
        let (mut hints, mut everywhere) = (crate::SlotHints::for_learning(), crate::SlotHints::default());
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
                // Predicted only: some of its features have no slots.
                if number == 3 || number == 5 {
                    for (&index, (slot, _)) in x.indices().iter().zip(table.row(x)) {
                        assert_eq!(slot, map.get(&index).copied().unwrap_or(0));
                    }
                    continue;
                }
                table.locate(x, &mut places);
                for (&place, &index) in places.of(x).all().iter().zip(x.indices()) {
                    let slot = table.at(place as usize);
                    *slot = slot.wrapping_add(1);
                    let count = map.entry(index).or_insert(0u8);
                    *count = count.wrapping_add(1);
                }
            }
        }
        (table, map)
    }

    /// Of a table that was filled before there were hints, and of one that follows them: rows that are predicted, expected
    /// before or not, and all slots at once.
    #[test]
    fn slots_are_found_by_translated_hints_and_all_at_once() {
        let mut random = crate::numeric::rng::SplitMix64::new(5);
        let mut index = || (u64::from(LOW) - 50 + random.below(3000)) as u32;
        let kept: Vec<u32> = (0..400).map(|_| index()).collect();
        let mut table: Table<u32> = Table::filled(&kept, kept.iter().copied()).unwrap();
        let (mut hints, mut batch) = (crate::SlotHints::default(), crate::Batch::default());
        for _ in 0..50 {
            (0..20).for_each(|_| batch.push(index(), 1.0));
            batch.finish(None, 1.0);
        }
        hints.add(&mut batch);
        let is_kept = |index: u32| if kept.contains(&index) { index } else { 0 };
        for is_expected in [false, true, true] {
            for example in batch.iter() {
                if is_expected {
                    table.expect(example.features);
                }
                for (&index, (slot, _)) in example.features.indices().iter().zip(table.row(example.features)) {
                    assert_eq!(slot, is_kept(index));
                }
            }
        }
        let asked: Vec<u32> =
            kept.iter().copied().chain(kept.iter().rev().copied()).chain((0..500).map(|_| index())).collect();
        let found: Vec<u32> = table.each(&asked).collect();
        assert_eq!(found, asked.iter().map(|&index| is_kept(index)).collect::<Vec<_>>());
        let (mut follower, mut places) = (Table::<u32>::default(), Places::default());
        for example in batch.iter() {
            follower.locate(example.features, &mut places);
            for (&place, &index) in places.of(example.features).all().iter().zip(example.features.indices()) {
                *follower.at(place as usize) = index;
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
        let (mut hints, mut batch) = (crate::SlotHints::for_learning(), crate::Batch::default());
        for label in [None, Some(1.0)] {
            batch.push(3_000_000, 1.0);
            batch.finish(label, 1.0);
        }
        hints.add(&mut batch);
        let (mut table, mut places) = (Table::<u32>::default(), Places::default());
        table.locate(batch.get(1).features, &mut places);
        *table.at(places.of(batch.get(1).features).all()[0] as usize) = 7;
        for row in 0..2 {
            assert_eq!(table.row(batch.get(row).features).next(), Some((7, 1.0)), "{row}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]

        #[test]
        fn slots_are_found_by_hints_and_without_and_when_all_are_addressed_directly(
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
                let all: u64 = table.slots().map(|(_, &count)| u64::from(count != 0)).sum();
                prop_assert_eq!(all, map.values().filter(|&&count| count != 0).count() as u64);
                // The case is there to be met: 29 bytes a slot, and one for each index.
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
