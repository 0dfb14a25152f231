//! Features that share an index.

use std::cell::RefCell;

use crate::hashing::index_map::GOLDEN;
use crate::numeric::saturate;
use crate::simd::scan::{FEW, are_alone};

thread_local! {
    /// Of each thread, not of each batch, which goes from one processor to the other: its memory stays near.
    pub(super) static REPEATS: RefCell<Repeats> = const { RefCell::new(Repeats { seen: Vec::new(), row: 0, sorted: Vec::new() }) };
}

/// Finds and adds up features that share an index; its memory is kept from row to row.
#[derive(Debug, Default)]
pub(super) struct Repeats {
    /// The indices of a row, hashed, each with the number of the row in the upper half: what other
    /// rows left there is as good as nothing.
    seen: Vec<u64>,
    row: u32,
    /// Indices with their positions.
    sorted: Vec<(u32, u32)>,
}

/// Entries for each feature of a row: few features find their entry taken.
const ENTRIES_OF_A_FEATURE: usize = 16;

/// Rows of more features are sorted, for their entries would take too much memory.
const MOST_SEEN: usize = 4096;

/// Rows of more features are not looked through for whether few are not distinct.
const MOST_SORTED_OUT: usize = 64;

impl Repeats {
    /// Whether two indices are equal, those below `distinct` not being looked at; or perhaps, in a row of very many.
    pub(super) fn are_there(&mut self, indices: &[u32], distinct: u32) -> bool {
        if indices.len() <= if distinct > 0 { MOST_SORTED_OUT } else { FEW } {
            let (mut few, mut count) = ([u32::MAX; MOST_SORTED_OUT], 0);
            for &index in indices {
                // Written in any case, as the next one if it is not distinct.
                few[count % MOST_SORTED_OUT] = index;
                count += usize::from(index >= distinct);
            }
            if let (true, Some(few)) = (count <= FEW, few.first_chunk()) {
                return !are_alone(few, count);
            }
        }
        if indices.len() > MOST_SEEN {
            return true;
        }
        let size = (ENTRIES_OF_A_FEATURE * indices.len()).next_power_of_two();
        self.row = self.row.wrapping_add(1);
        if size > self.seen.len() || self.row == 0 {
            self.seen.clear();
            self.seen.resize(size, 0);
            self.row = 1;
        }
        let mask = self.seen.len() - 1;
        let shift = u32::BITS - self.seen.len().trailing_zeros();
        for &index in indices {
            if index < distinct {
                continue;
            }
            let entry = u64::from(self.row) << 32 | u64::from(index);
            let mut at = (index.wrapping_mul(GOLDEN) >> shift) as usize & mask;
            while (self.seen[at] >> 32) as u32 == self.row {
                if self.seen[at] == entry {
                    return true;
                }
                at = (at + 1) & mask;
            }
            self.seen[at] = entry;
        }
        false
    }

    /// Adds up the values of equal indices from `start` on.
    pub(super) fn add_up(&mut self, start: usize, indices: &mut Vec<u32>, values: &mut Vec<f32>) {
        self.sorted.clear();
        self.sorted.extend(indices[start..].iter().copied().zip(0..));
        self.sorted.sort_unstable();
        for group in self.sorted.chunk_by(|one, other| one.0 == other.0).filter(|group| group.len() > 1) {
            let sum: f64 = group.iter().map(|&(_, at)| f64::from(values[start + at as usize])).sum();
            values[start + group[0].1 as usize] = saturate(sum);
            // No index is so large: it marks what is to go.
            group[1..].iter().for_each(|&(_, at)| indices[start + at as usize] = u32::MAX);
        }
        let mut kept = start;
        for at in start..indices.len() {
            if indices[at] != u32::MAX {
                (indices[kept], values[kept]) = (indices[at], values[at]);
                kept += 1;
            }
        }
        indices.truncate(kept);
        values.truncate(kept);
    }
}
