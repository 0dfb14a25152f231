//! Dense ids for features.
//!
//! Indices of features are mostly hashes, scattered over millions. A [`FeatureMap`] gives each feature of a stream an
//! id, once, in order of appearance, and everything that keeps numbers for each feature (the learner, the certificate,
//! the experts of a mixture) keeps them in arrays by these ids. So a feature is looked up once per row, whatever uses
//! it afterwards, and by whichever thread is free.
//!
//! A model owns its map. Its file keeps indices, from which the map is made again.

use std::sync::atomic::{AtomicU64, Ordering};

use super::index_map::IndexMap;

/// Indices below this are their own ids: a hash that is so low is one in dozens.
pub(crate) const LOW: u32 = 1 << 16;

/// Indices of features are below this.
pub const INDEX_LIMIT: u32 = 1 << 31;

/// The id of a feature that has none.
pub(crate) const NO_ID: u32 = u32::MAX;

/// How far ahead entries are fetched.
pub(crate) const AHEAD: usize = 24;

/// No more ids are given once more than one in this many indices has one.
const FEWEST_SHARE: u32 = 7;

/// How many maps there have been.
static COUNT: AtomicU64 = AtomicU64::new(0);

/// The ids of the features of a stream. It changes no result: only how long it takes to find what belongs to a feature.
///
/// ```
/// let (mut map, mut batch) = (onward::FeatureMap::default(), onward::Batch::default());
/// batch.push(3_000_000, 0.5);
/// batch.finish(Some(1.0), 1.0);
/// map.number(&mut batch);
/// ```
#[derive(Debug)]
pub struct FeatureMap {
    /// Which map it is: another one has other ids.
    pub(crate) map: u64,
    numbers: IndexMap,
    /// Of each id from [`LOW`] on its index.
    indices: Vec<u32>,
    max_index: u32,
    /// Whether no more ids are given: features are addressed by their indices.
    has_ended: bool,
}

impl Default for FeatureMap {
    fn default() -> Self {
        let map = COUNT.fetch_add(1, Ordering::Relaxed);
        Self { map, numbers: IndexMap::default(), indices: Vec::new(), max_index: 0, has_ended: false }
    }
}

impl FeatureMap {
    /// Of each id from [`LOW`] on its index; `None` where features are addressed by their indices.
    pub(crate) fn indices(&self) -> Option<&[u32]> {
        (!self.has_ended).then_some(&self.indices)
    }

    /// Takes in how large indices become. False where ids would not help: all indices are low, or many of them are in use.
    /// Small entries are then addressed directly by now, or soon, and a map would take as much memory as they do.
    pub(crate) fn is_useful_for(&mut self, max_index: u32) -> bool {
        self.max_index = self.max_index.max(max_index);
        let count = self.indices.len() as u32;
        if count >= LOW && count > self.max_index / FEWEST_SHARE {
            (self.numbers, self.indices, self.has_ended) = (IndexMap::default(), Vec::new(), true);
        }
        self.max_index >= LOW && !self.has_ended
    }

    /// Adds the ids of features, which they have from now on.
    pub(crate) fn add_ids(&mut self, indices: &[u32], ids: &mut Vec<u32>) {
        let start = ids.len();
        ids.resize(start + indices.len(), NO_ID);
        let later = indices.get(AHEAD..).unwrap_or_default();
        let (first, last) = ids[start..].split_at_mut(later.len());
        for ((id, &index), &later) in first.iter_mut().zip(indices).zip(later) {
            self.numbers.prefetch(later);
            *id = self.id(index);
        }
        for (id, &index) in last.iter_mut().zip(&indices[later.len()..]) {
            *id = self.id(index);
        }
    }

    /// Adds the ids of features that have one, and [`NO_ID`] for others.
    pub(crate) fn add_known_ids(&self, indices: &[u32], ids: &mut Vec<u32>) {
        let known = |&index: &u32| match index < LOW {
            true => index,
            false => self.numbers.find(index).map_or(NO_ID, |number| LOW + number),
        };
        ids.extend(indices.iter().map(known));
    }

    #[inline]
    fn id(&mut self, index: u32) -> u32 {
        if index < LOW {
            return index;
        }
        // Nearly all features have an id, and nearly all of these are found at once.
        match self.numbers.first(index) {
            Some(number) => LOW + number,
            None => self.find_or_add(index),
        }
    }

    #[inline(never)]
    fn find_or_add(&mut self, index: u32) -> u32 {
        let number = self.indices.len() as u32;
        match self.numbers.find(index) {
            Ok(number) => LOW + number,
            Err(vacancy) => {
                self.numbers.insert(index, number, vacancy);
                self.indices.push(index);
                LOW + number
            }
        }
    }
}
