//! A map from feature indices to numbers or weights.

use bytemuck::Zeroable;

use crate::simd::{prefer_huge_pages, prefetch_at};

/// 2^32 divided by the golden ratio: multiples of it are spread evenly (Knuth's Fibonacci
/// hashing), whether indices are scattered, follow each other or differ in a few bits only.
pub(crate) const GOLDEN: u32 = 0x9e37_79b1;

/// The entries of the smallest table.
const FEWEST: usize = 64;

/// An index and its value.
#[derive(Debug, Clone, Copy, Zeroable)]
#[repr(C)]
struct IndexMapEntry<V> {
    /// One more than the index; 0: no entry.
    key: u32,
    value: V,
}

/// A map from indices, which are below 2^31, to values: by default to numbers. Open addressing, at most half full.
#[derive(Debug, Clone, Default)]
pub(crate) struct IndexMap<V = u32> {
    /// A power of two of them, or none.
    entries: Vec<IndexMapEntry<V>>,
    used: usize,
    /// A hash without this many low bits is the position of an entry.
    shift: u32,
}

impl IndexMap {
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
}

impl<V: Copy + Zeroable> IndexMap<V> {
    /// An empty map with room for half as many values as `size`, a power of two.
    pub(crate) fn with_size(size: usize) -> Self {
        let entries = bytemuck::zeroed_vec(size);
        prefer_huge_pages(&entries);
        Self { entries, used: 0, shift: u32::BITS - size.trailing_zeros() }
    }

    /// The value of an index, or where its entry will be.
    #[inline]
    pub(crate) fn find(&self, index: u32) -> Result<V, usize> {
        let (mask, key) = (self.entries.len().wrapping_sub(1), index.wrapping_add(1));
        let mut at = (index.wrapping_mul(GOLDEN) >> self.shift) as usize;
        // At least half of the entries are empty: the search ends.
        while let Some(entry) = self.entries.get(at) {
            if entry.key == 0 {
                break;
            }
            if entry.key == key {
                return Ok(entry.value);
            }
            at = (at + 1) & mask;
        }
        Err(at)
    }

    /// The value of an index, if it is in the first place where it may be.
    #[inline]
    pub(crate) fn first(&self, index: u32) -> Option<V> {
        let entry = self.entries.get((index.wrapping_mul(GOLDEN) >> self.shift) as usize)?;
        (entry.key == index.wrapping_add(1)).then_some(entry.value)
    }

    /// Fetches the entry of an index.
    #[inline]
    pub(crate) fn prefetch(&self, index: u32) {
        prefetch_at(&self.entries, (index.wrapping_mul(GOLDEN) >> (self.shift & 31)) as usize);
    }

    /// Gives an index a value; `entry` is where [`find`](Self::find) ended.
    #[inline]
    pub(crate) fn insert(&mut self, index: u32, value: V, mut entry: usize) {
        if 2 * (self.used + 1) > self.entries.len() {
            self.grow();
            entry = self.find(index).err().unwrap_or(0);
        }
        self.used += 1;
        self.entries[entry] = IndexMapEntry { key: index.wrapping_add(1), value };
    }

    #[cold]
    fn grow(&mut self) {
        let larger = Self::with_size((2 * self.entries.len()).max(FEWEST));
        let old = std::mem::replace(self, Self { used: self.used, ..larger });
        for entry in old.entries.iter().filter(|entry| entry.key != 0) {
            if let Err(at) = self.find(entry.key - 1) {
                self.entries[at] = *entry;
            }
        }
    }
}
