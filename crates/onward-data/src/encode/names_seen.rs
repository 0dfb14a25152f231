//! Which features have had their name handed on.

use super::BIAS;

/// Which indices have had their name handed on: one bit each.
#[derive(Debug, Clone, Default)]
pub(crate) struct NamesSeen {
    bits: Vec<u64>,
    /// How many have from [`RUN`] on, without a gap.
    run: u32,
}

/// Behind the bias and the index of a feature 0, which files that count from 1 do not have.
const RUN: u32 = BIAS + 2;

impl NamesSeen {
    /// Prefetches the bit that says whether an index has been met.
    #[inline(always)]
    pub(crate) fn prefetch(&self, index: u32) {
        onward::simd::prefetch_at(&self.bits, (index / 64) as usize);
    }

    /// Whether an index has been met, in the lowest bit.
    #[inline(always)]
    fn bit(&self, index: u32) -> u64 {
        self.bits.get((index / 64) as usize).copied().unwrap_or(0) >> (index % 64)
    }

    /// Whether none of the indices is met for the first time.
    #[inline]
    pub(crate) fn all(&self, indices: &[u32]) -> bool {
        let mut all = 1;
        for &index in indices {
            all &= self.bit(index);
        }
        all & 1 == 1
    }

    /// Which of the indices have not been met.
    pub(crate) fn find_new(&self, indices: &[u32], new: &mut Vec<u32>) {
        new.clear();
        new.resize(indices.len(), 0);
        let mut count = 0;
        for (at, &index) in (0..).zip(indices) {
            let is_new = self.bit(index) & 1 == 0;
            // Written in any case: which are new is what a processor guesses wrong.
            new[count] = at;
            count += usize::from(is_new);
        }
        new.truncate(count);
    }

    /// The same of indices that ascend: where all features of a file have been met, which is soon, only their ends are looked at.
    #[inline]
    pub(crate) fn all_ascending(&self, indices: &[u32]) -> bool {
        match indices {
            [first, .., last] if *first >= RUN && *last < RUN + self.run => true,
            _ => self.all(indices),
        }
    }

    /// Whether the index is met for the first time.
    #[inline]
    pub(crate) fn first(&mut self, index: u32) -> bool {
        self.bit(index) & 1 == 0 && self.note(index)
    }

    #[cold]
    fn note(&mut self, index: u32) -> bool {
        let word = (index / 64) as usize;
        if word >= self.bits.len() {
            self.bits.reserve_exact((word + 1).next_power_of_two() - self.bits.len());
            onward::simd::prefer_huge_pages(&self.bits);
            self.bits.resize((word + 1).next_power_of_two(), 0);
        }
        self.bits[word] |= 1 << (index % 64);
        while self.bit(RUN + self.run) & 1 == 1 {
            self.run += 1;
        }
        true
    }
}
