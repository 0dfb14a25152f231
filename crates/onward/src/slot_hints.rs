//! Hints where the slots of features are.
//!
//! Every table of slots (the learner's, the certificate's, those of a mixture's experts) has to
//! find the slot of each feature of each row, and for hashed features most of the time of that is
//! an uncertain look into a hash table. [`SlotHints`] looks once for all of them: it numbers the
//! features of a batch in order of appearance, and a table that has seen the same rows keeps their
//! slots in that order, behind those of low indices: a hint is a place in such a table. It is no promise: a table
//! that was filled otherwise looks each hint's index up once, and keeps for which of its own places the hint stands.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use bytemuck::Zeroable;

use crate::Batch;
use crate::memory::expect_random_access;
use crate::vector::prefetch_at;

/// Indices below this address their slots and need no number: a hash that is so low is one in
/// dozens.
pub(crate) const LOW: u32 = 1 << 16;

/// 2^32 divided by the golden ratio: multiples of it are spread evenly (Knuth's Fibonacci
/// hashing), whether indices are scattered, follow each other or differ in a few bits only.
pub(crate) const GOLDEN: u32 = 0x9e37_79b1;

/// What is told of a feature that has no number: the place of no slot.
pub(crate) const NONE: u32 = u32::MAX;

/// The entries of the smallest table.
const FEWEST: usize = 64;

/// Hints end when one in so many indices has one.
const FEWEST_SHARE: u32 = 7;

/// Where the number of an index is: open addressing, at most half full.
#[derive(Debug, Clone, Copy, Zeroable)]
#[repr(C)]
struct Entry {
    index: u32,
    /// One more than its number; 0: no entry.
    number: u32,
}

/// A map from indices to numbers.
#[derive(Debug, Clone, Default)]
pub(crate) struct Numbers {
    /// A power of two of them, or none.
    entries: Vec<Entry>,
    used: usize,
    /// What leaves so many bits of a hash as the number of entries has.
    shift: u32,
}

impl Numbers {
    /// The number of an index, or where its entry will be.
    #[inline]
    pub(crate) fn find(&self, index: u32) -> Result<u32, usize> {
        let mask = self.entries.len().wrapping_sub(1);
        let mut at = (index.wrapping_mul(GOLDEN) >> self.shift) as usize;
        // At least half of the entries are empty: the search ends.
        while let Some(entry) = self.entries.get(at) {
            if entry.number == 0 {
                break;
            }
            if entry.index == index {
                return Ok(entry.number - 1);
            }
            at = (at + 1) & mask;
        }
        Err(at)
    }

    /// The numbers of indices by their order.
    pub(crate) fn of(indices: &[u32]) -> Self {
        let mut numbers = Self::default();
        for (number, &index) in (0..).zip(indices) {
            if let Err(entry) = numbers.find(index) {
                numbers.insert(index, number, entry);
            }
        }
        numbers
    }

    /// Has the entry of an index fetched.
    #[inline]
    pub(crate) fn expect(&self, index: u32) {
        prefetch_at(&self.entries, (index.wrapping_mul(GOLDEN) >> (self.shift & 31)) as usize);
    }

    /// Gives an index a number; `entry` is where [`find`](Self::find) ended.
    #[cold]
    pub(crate) fn insert(&mut self, index: u32, number: u32, mut entry: usize) {
        if 2 * (self.used + 1) > self.entries.len() {
            self.grow();
            entry = self.find(index).err().unwrap_or(0);
        }
        self.used += 1;
        self.entries[entry] = Entry { index, number: number + 1 };
    }

    fn grow(&mut self) {
        let size = (2 * self.entries.len()).max(FEWEST);
        let old = std::mem::replace(&mut self.entries, bytemuck::zeroed_vec(size));
        expect_random_access(&self.entries);
        self.shift = u32::BITS - size.trailing_zeros();
        for entry in old.iter().filter(|entry| entry.number != 0) {
            if let Err(at) = self.find(entry.index) {
                self.entries[at] = *entry;
            }
        }
    }
}

/// Hints where the slots of the features of a stream are, batch by batch.
///
/// It changes no result: only how long it takes to find what belongs to a feature.
///
/// ```
/// let (mut hints, mut batch) = (onward::SlotHints::default(), onward::Batch::default());
/// batch.push(3_000_000, 0.5);
/// batch.finish(Some(1.0), 1.0);
/// hints.add(&mut batch);
/// ```
#[derive(Debug)]
pub struct SlotHints {
    /// Who gives the hints: another one has other numbers.
    id: u64,
    numbers: Numbers,
    count: u32,
    largest: u32,
    /// Whether hints are no longer given: an index must not get a second one.
    has_ended: bool,
    /// Whether features that were met only in rows that nothing is learnt from get no number.
    learns: bool,
}

/// How many there have been.
static COUNT: AtomicU64 = AtomicU64::new(0);

impl Default for SlotHints {
    fn default() -> Self {
        let id = COUNT.fetch_add(1, Ordering::Relaxed);
        Self { id, numbers: Numbers::default(), count: 0, largest: 0, has_ended: false, learns: false }
    }
}

/// How far ahead entries are fetched.
pub(crate) const AHEAD: usize = 24;

impl SlotHints {
    /// Hints for learners: rows without a label or of no importance, which are predicted and not learnt from, give no
    /// feature a number, since it will have no slot.
    pub fn for_learning() -> Self {
        Self { learns: true, ..Self::default() }
    }

    /// Adds hints to all finished rows. Batches are to come in the order in which their
    /// rows are learnt from; other orders cost time and nothing else.
    pub fn add(&mut self, batch: &mut Batch) {
        self.largest = self.largest.max(batch.largest());
        let leaves_out = self.learns && !batch.is_all_learnt();
        let (indices, hints) = batch.indices_and_hints(self.id);
        hints.clear();
        if self.largest < LOW {
            return;
        }
        if self.has_ended || (self.count >= LOW && self.count > self.largest / FEWEST_SHARE) {
            // Small slots are addressed directly by now, or soon, and entries for so many would take as much memory as they.
            (self.numbers, self.has_ended) = (Numbers::default(), true);
            return;
        }
        hints.resize(indices.len(), NONE);
        if leaves_out {
            batch.each_row_to_hint(|is_learnt, range, indices, hints| match is_learnt {
                true => self.number(range, indices, hints),
                false => indices[range].iter().zip(hints).for_each(|(&index, hint)| *hint = self.known(index)),
            });
        } else {
            self.number(0..indices.len(), indices, hints);
        }
        batch.settle_hints();
    }

    /// Gives hints to some of the indices of a batch.
    fn number(&mut self, range: Range<usize>, indices: &[u32], hints: &mut [u32]) {
        let later = &indices[(range.start + AHEAD).min(indices.len())..];
        let count = later.len().min(hints.len());
        let (row, (first, last)) = (&indices[range], hints.split_at_mut(count));
        for ((&index, &later), hint) in row.iter().zip(later).zip(first) {
            if later >= LOW {
                self.numbers.expect(later);
            }
            *hint = self.of(index);
        }
        for (&index, hint) in row[count..].iter().zip(last) {
            *hint = self.of(index);
        }
    }

    /// The hint of a feature, if it has a number.
    #[inline]
    fn known(&self, index: u32) -> u32 {
        if index < LOW { index } else { self.numbers.find(index).map_or(NONE, |number| LOW + number) }
    }

    #[inline]
    fn of(&mut self, index: u32) -> u32 {
        if index < LOW {
            return index;
        }
        let number = match self.numbers.find(index) {
            Ok(number) => number,
            Err(entry) => {
                self.numbers.insert(index, self.count, entry);
                self.count += 1;
                self.count - 1
            }
        };
        LOW + number
    }
}
