//! Hints where the entries of features are.
//!
//! Every table of entries (the learner's, the certificate's, those of a mixture's experts) has to
//! find the entry of each feature of each row, and for hashed features most of the time of that is
//! an uncertain look into a hash table. [`FeatureMap`] looks once for all of them: it numbers the
//! features of a batch in order of appearance, and a table that has seen the same rows keeps their
//! entries in that order, behind those of low indices: a hint is a position in such a table. It is no promise: a table
//! that was filled otherwise looks each hint's index up once, and keeps for which of its own positions the hint stands.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use super::Batch;
use crate::hashing::index_map::IndexMap;

/// Indices below this address their entries and need no number: a hash that is so low is one in
/// dozens.
pub(crate) const LOW: u32 = 1 << 16;

/// What is told of a feature that has no number: the position of no entry.
pub(crate) const NONE: u32 = u32::MAX;

/// Hints end when one in so many indices has one.
const FEWEST_SHARE: u32 = 7;

/// Hints where the entries of the features of a stream are, batch by batch.
///
/// It changes no result: only how long it takes to find what belongs to a feature.
///
/// ```
/// let (mut hints, mut batch) = (onward::FeatureMap::default(), onward::Batch::default());
/// batch.push(3_000_000, 0.5);
/// batch.finish(Some(1.0), 1.0);
/// hints.add(&mut batch);
/// ```
#[derive(Debug)]
pub struct FeatureMap {
    /// Who gives the hints: another one has other numbers.
    id: u64,
    numbers: IndexMap,
    count: u32,
    max_index: u32,
    /// Whether hints are no longer given: an index must not get a second one.
    has_ended: bool,
    /// Whether features that were met only in rows that nothing is learnt from get no number.
    learns: bool,
}

/// How many there have been.
static COUNT: AtomicU64 = AtomicU64::new(0);

impl Default for FeatureMap {
    fn default() -> Self {
        let id = COUNT.fetch_add(1, Ordering::Relaxed);
        Self { id, numbers: IndexMap::default(), count: 0, max_index: 0, has_ended: false, learns: false }
    }
}

/// How far ahead entries are fetched.
pub(crate) const AHEAD: usize = 24;

impl FeatureMap {
    /// Hints for learners: rows without a label or of no importance, which are predicted and not learnt from, give no
    /// feature a number, since it will have no entry.
    pub fn for_learning() -> Self {
        Self { learns: true, ..Self::default() }
    }

    /// Adds hints to all finished rows. Batches are to come in the order in which their
    /// rows are learnt from; other orders cost time and nothing else.
    pub fn add(&mut self, batch: &mut Batch) {
        self.max_index = self.max_index.max(batch.max_index());
        let leaves_out = self.learns && !batch.is_all_learnt();
        let (indices, hints) = batch.indices_and_hints(self.id);
        hints.clear();
        if self.max_index < LOW {
            return;
        }
        if self.has_ended || (self.count >= LOW && self.count > self.max_index / FEWEST_SHARE) {
            // Small entries are addressed directly by now, or soon, and entries for so many would take as much memory as they.
            (self.numbers, self.has_ended) = (IndexMap::default(), true);
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
                self.numbers.prefetch(later);
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
