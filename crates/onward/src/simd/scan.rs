//! Questions about all indices or values of a row: the largest, whether they ascend, whether all are finite.

use crate::simd::u32x8::{EIGHT, by_u32x8, largest_of, last};

by_u32x8! {
    /// The largest of some indices, 0 if there is none.
    pub(crate) fn max_index<E>(indices: &[u32]) -> u32 {
        let (eights, _) = indices.as_chunks::<EIGHT>();
        let mut most: E = last(indices);
        for eight in eights {
            most = most.larger(E::load(eight));
        }
        largest_of(most)
    }
}

by_u32x8! {
    /// Whether each index is larger than the one before it. If not, the first ones mostly show it.
    pub(crate) fn ascend<E>(indices: &[u32]) -> bool {
        let Some((_, later)) = indices.split_first() else { return true };
        let before = &indices[..later.len()];
        let ((eights, rest), (next, next_rest)) = (before.as_chunks::<EIGHT>(), later.as_chunks::<EIGHT>());
        for (eight, next) in eights.iter().zip(next) {
            let (eight, next) = (E::load(eight), E::load(next));
            if eight.smaller(next).equal(eight).bits() != 0xff || eight.equal(next).bits() != 0 {
                return false;
            }
        }
        let mut ascend = true;
        for (one, next) in rest.iter().zip(next_rest) {
            ascend &= one < next;
        }
        ascend
    }
}

by_u32x8! {
    /// Whether all floats with these bits are finite.
    fn are_all_finite<E>(bits: &[u32]) -> bool {
        let without_sign = E::all(0x7fff_ffff);
        let (eights, _) = bits.as_chunks::<EIGHT>();
        let mut most: E = last::<E>(bits).and(without_sign);
        for eight in eights {
            most = most.larger(E::load(eight).and(without_sign));
        }
        // Larger sizes have larger bits, and the bits of NaN are larger still.
        largest_of(most) < f32::INFINITY.to_bits()
    }
}

/// Whether all values are.
#[inline]
pub(crate) fn are_finite(values: &[f32]) -> bool {
    are_all_finite(bytemuck::must_cast_slice(values))
}

by_u32x8! {
    /// How many floats with these bits are 0.
    fn count_zeros<E>(bits: &[u32]) -> u32 {
        let (without_sign, zero) = (E::all(0x7fff_ffff), E::all(0));
        let (eights, rest) = bits.as_chunks::<EIGHT>();
        // Of the last eight only those count that are in no other chunk.
        let mut zeros = match bits.len() < EIGHT {
            true => rest.iter().map(|&bits| u32::from(bits & 0x7fff_ffff == 0)).sum(),
            false => (last::<E>(bits).and(without_sign).equal(zero).bits() >> (EIGHT - rest.len())).count_ones(),
        };
        for eight in eights {
            zeros += E::load(eight).and(without_sign).equal(zero).bits().count_ones();
        }
        zeros
    }
}

/// How many values differ from 0.
#[inline]
pub(crate) fn count_present(values: &[f32]) -> usize {
    values.len() - count_zeros(bytemuck::must_cast_slice(values)) as usize
}

/// [`are_alone`] compares this many numbers, each with each.
pub(crate) const FEW: usize = 2 * EIGHT;

by_u32x8! {
    /// Whether the first `count` of these are equal to no other one. Those behind them are equal to none of them.
    pub(crate) fn are_alone<E>(few: &[u32; FEW], count: usize) -> bool {
        let ([first, second], _) = few.as_chunks::<EIGHT>() else { return false };
        let (first, second) = (E::load(first), E::load(second));
        // Less by one for each that is equal.
        let mut equal = E::all(0);
        for &one in few.iter().take(count) {
            let one = E::all(one);
            equal = equal.add(first.equal(one).add(second.equal(one)));
        }
        let mut counts = [0; EIGHT];
        equal.store(&mut counts);
        // Each is equal to itself.
        counts.into_iter().fold(count as u32, u32::wrapping_add) == 0
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Rows of all lengths, some of which ascend but for a number.
    pub(crate) fn rows(mut each: impl FnMut(&[u32])) {
        let mut random = crate::numeric::rng::SplitMix64::new(5);
        for round in 0..4000 {
            let length = random.below(70) as usize;
            let mut row: Vec<u32> = (0..length).map(|_| random.below(3 << 16) as u32).collect();
            if round % 4 > 0 {
                row.sort_unstable();
                row.dedup();
            }
            if round % 4 > 1 && !row.is_empty() {
                let at = random.below(row.len() as u64) as usize;
                row[at] = if round % 4 == 2 { row[row.len() - 1 - at] } else { u32::MAX - random.below(9) as u32 };
            }
            crate::simd::set_portable(round % 8 < 4);
            each(&row);
        }
        crate::simd::set_portable(false);
    }

    #[test]
    fn the_largest_of_a_row_is_found() {
        rows(|row| assert_eq!(max_index(row), row.iter().copied().max().unwrap_or(0), "{row:?}"));
    }

    #[test]
    fn a_row_ascends_where_each_is_above_the_one_before() {
        rows(|row| assert_eq!(ascend(row), row.windows(2).all(|pair| pair[0] < pair[1]), "{row:?}"));
    }

    #[test]
    fn zeros_are_counted_and_numbers_that_occur_twice_are_found() {
        rows(|row| {
            let values: Vec<f32> = row.iter().map(|&index| [0.0, -0.0, 1e-45, 7.0][index as usize % 4]).collect();
            assert_eq!(count_present(&values), values.iter().filter(|&&value| value != 0.0).count());
            let (mut few, count) = ([u32::MAX - 10; FEW], row.len().min(FEW));
            few[..count].copy_from_slice(&row[..count]);
            let mut sorted = row[..count].to_vec();
            sorted.sort_unstable();
            assert_eq!(are_alone(&few, count), sorted.windows(2).all(|pair| pair[0] != pair[1]), "{row:?}");
        });
    }

    #[test]
    fn one_value_that_is_not_finite_is_found_wherever_it_is() {
        for length in 0..40 {
            let mut values: Vec<f32> = (0..length).map(|at| at as f32 * -1e36).collect();
            assert!(are_finite(&values), "{length}");
            for at in 0..length {
                for other in [f32::INFINITY, f32::NEG_INFINITY, f32::NAN, -f32::NAN] {
                    let before = std::mem::replace(&mut values[at], other);
                    assert!(!are_finite(&values), "{other} at {at} of {length}");
                    values[at] = before;
                }
            }
        }
        assert!(are_finite(&[f32::MAX, f32::MIN, -0.0, f32::MIN_POSITIVE]));
    }
}
