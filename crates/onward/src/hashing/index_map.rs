//! A map from feature indices to numbers.

use bytemuck::Zeroable;

use crate::simd::{prefer_huge_pages, prefetch_at};

/// 2^32 divided by the golden ratio: multiples of it are spread evenly (Knuth's Fibonacci
/// hashing), whether indices are scattered, follow each other or differ in a few bits only.
pub(crate) const GOLDEN: u32 = 0x9e37_79b1;

/// The entries of the smallest table.
const FEWEST: usize = 64;

/// Where the number of an index is: open addressing, at most half full.
#[derive(Debug, Clone, Copy, Zeroable)]
#[repr(C)]
struct IndexMapEntry {
    index: u32,
    /// One more than its number; 0: no entry.
    number: u32,
}

/// A map from indices to numbers.
#[derive(Debug, Clone, Default)]
pub(crate) struct IndexMap {
    /// A power of two of them, or none.
    entries: Vec<IndexMapEntry>,
    used: usize,
    /// What leaves so many bits of a hash as the number of entries has.
    shift: u32,
}

impl IndexMap {
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
    pub(crate) fn prefetch(&self, index: u32) {
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
        self.entries[entry] = IndexMapEntry { index, number: number + 1 };
    }

    fn grow(&mut self) {
        let size = (2 * self.entries.len()).max(FEWEST);
        let old = std::mem::replace(&mut self.entries, bytemuck::zeroed_vec(size));
        prefer_huge_pages(&self.entries);
        self.shift = u32::BITS - size.trailing_zeros();
        for entry in old.iter().filter(|entry| entry.number != 0) {
            if let Err(at) = self.find(entry.index) {
                self.entries[at] = *entry;
            }
        }
    }
}
