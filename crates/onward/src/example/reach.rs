//! The largest of some ids: a table then checks once, not per id, that it has entries for all.

use crate::hashing::feature_map::LOW;
use crate::simd::u32x8::{EIGHT, by_u32x8, largest_of, last};

/// The largest of some positions, and of those that are low indices.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MaxPositions {
    pub(crate) largest: u32,
    pub(crate) largest_low: u32,
}

impl Default for MaxPositions {
    /// Of positions that were not looked at: nothing may rely on them.
    fn default() -> Self {
        Self { largest: u32::MAX, largest_low: u32::MAX }
    }
}

/// What is known of the indices of rows, and of the ids that they have: bounds for all rows of a batch.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RowBounds {
    /// No index is larger.
    pub(crate) max_index: u32,
    /// The same, as surely as unchecked access to memory needs it; [`u32::MAX`] where that is not known.
    pub(crate) trusted_max_index: u32,
    /// The map that gave the ids, if there are any.
    pub(super) map: u64,
    /// The largest ids, as surely.
    pub(crate) max_ids: MaxPositions,
}

impl RowBounds {
    /// Of rows without ids, whose largest index is known.
    pub(super) fn of(max_index: u32) -> Self {
        Self { max_index, trusted_max_index: max_index, map: 0, max_ids: MaxPositions::default() }
    }
}

by_u32x8! {
    /// The largest of some positions, and of the low ones.
    pub(crate) fn max_positions<E>(positions: &[u32]) -> MaxPositions {
        let end = E::all(LOW - 1);
        let mut most: E = last(positions);
        let mut most_low = most.and(most.smaller(end).equal(most));
        let (eights, _) = positions.as_chunks::<EIGHT>();
        // A loop of our own: an iterator's would not be compiled for this machine.
        for eight in eights {
            let eight = E::load(eight);
            most = most.larger(eight);
            most_low = most_low.larger(eight.and(eight.smaller(end).equal(eight)));
        }
        MaxPositions { largest: largest_of(most), largest_low: largest_of(most_low) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::scan::tests::rows;

    #[test]
    fn a_row_reaches_as_far_as_its_largest() {
        rows(|row| {
            let expected = row.iter().copied().max().unwrap_or(0);
            let expected_low = row.iter().copied().filter(|&position| position < LOW).max().unwrap_or(0);
            let found = max_positions(row);
            assert_eq!((found.largest, found.largest_low), (expected, expected_low));
        });
    }
}
