//! Where in a text the bytes are that structure it: many at a time.
//!
//! A parser that finds the end of a word by reading it cannot begin with the next word before it
//! has read this one. Where all ends are known beforehand the processor works on several words at
//! once.

/// How many bytes are looked at together.
const BLOCK: usize = 64;

/// How many marks a block rarely has more of.
const USUAL: usize = 12;

/// Bit k of the result is set where byte k is one of the marks.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn block<const N: usize>(bytes: &[u8; BLOCK], marks: [u8; N]) -> u64 {
    use std::arch::x86_64::{
        __m128i, _mm_cmpeq_epi8, _mm_movemask_epi8, _mm_or_si128, _mm_set1_epi8, _mm_setzero_si128,
    };
    let sixteens: &[[u8; 16]; 4] = bytemuck::must_cast_ref(bytes);
    let mut mask = 0;
    for (at, &sixteen) in sixteens.iter().enumerate() {
        let vector: __m128i = bytemuck::must_cast(sixteen);
        // SAFETY: these are instructions of SSE2, which every x86-64 machine has.
        #[allow(unsafe_code)]
        let found = unsafe {
            let mut found = _mm_setzero_si128();
            for mark in marks {
                found = _mm_or_si128(found, _mm_cmpeq_epi8(vector, _mm_set1_epi8(mark.cast_signed())));
            }
            _mm_movemask_epi8(found)
        };
        mask |= u64::from(found.cast_unsigned()) << (16 * at);
    }
    mask
}

/// The same without vector instructions.
#[cfg_attr(target_arch = "x86_64", allow(dead_code))]
#[inline(always)]
fn block_portable<const N: usize>(bytes: &[u8; BLOCK], marks: [u8; N]) -> u64 {
    const EACH: u64 = 0x0101_0101_0101_0101;
    let eights: &[[u8; 8]; 8] = bytemuck::must_cast_ref(bytes);
    let mut mask = 0;
    for (at, &eight) in eights.iter().enumerate() {
        let eight = u64::from_le_bytes(eight);
        let mut found = 0;
        for mark in marks {
            let difference = eight ^ (EACH * u64::from(mark));
            // The high bit of each byte that is 0, and of no other.
            found |= !(((difference & (EACH * 0x7f)) + EACH * 0x7f) | difference) & (EACH * 0x80);
        }
        // The eight high bits side by side.
        mask |= ((found >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * at);
    }
    mask
}

#[cfg(not(target_arch = "x86_64"))]
use block_portable as block;

onward::vectorised! {
    /// Writes the positions of all `marks` in `text`, in order, into `found`, and says how many there are;
    /// what stands behind them in `found` means nothing.
    pub(crate) fn positions_of_two(text: &[u8], marks: [u8; 2], found: &mut Vec<u32>) -> usize {
        positions(text, marks, found)
    }
}

onward::vectorised! {
    /// The same for four marks.
    pub(crate) fn positions_of_four(text: &[u8], marks: [u8; 4], found: &mut Vec<u32>) -> usize {
        positions(text, marks, found)
    }
}

#[inline(always)]
fn positions<const N: usize>(text: &[u8], marks: [u8; N], found: &mut Vec<u32>) -> usize {
    // A block writes up to 64 positions.
    if found.len() < text.len() + BLOCK {
        found.resize(text.len() + BLOCK, 0);
    }
    let mut count = 0;
    let mut start = 0;
    let blocks = text.chunks_exact(BLOCK);
    let rest = blocks.remainder();
    let mut last = [0; BLOCK];
    last[..rest.len()].copy_from_slice(rest);
    let whole = blocks.filter_map(|bytes| bytes.first_chunk());
    for bytes in whole.chain(std::iter::once(&last)) {
        let mut mask = block(bytes, marks);
        let Some(places) = found[count..].first_chunk_mut::<BLOCK>() else { break };
        let here = mask.count_ones() as usize;
        // How many there are is what a processor guesses wrong: most often they are among these, and what
        // stands behind the last one means nothing.
        let (first, rest) = places.split_at_mut(USUAL);
        for place in first {
            *place = start + mask.trailing_zeros();
            mask &= mask.wrapping_sub(1);
        }
        for place in rest.iter_mut().take(here.saturating_sub(USUAL)) {
            *place = start + mask.trailing_zeros();
            mask &= mask.wrapping_sub(1);
        }
        count += here;
        start += BLOCK as u32;
    }
    count
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn positions_are_those_that_a_walk_finds(text in prop::collection::vec(prop_oneof![Just(b' '), Just(b':'), any::<u8>()], 0..300)) {
            let expected: Vec<u32> = (0..text.len()).filter(|&at| matches!(text[at], b' ' | b':')).map(|at| at as u32).collect();
            for is_portable in [false, true] {
                onward::vector::set_portable(is_portable);
                let mut found = Vec::new();
                let count = positions_of_two(&text, [b' ', b':'], &mut found);
                prop_assert_eq!(&found[..count], &expected);
            }
            onward::vector::set_portable(false);
        }

        #[test]
        fn blocks_are_the_same_without_vector_instructions(bytes in prop::collection::vec(any::<u8>(), BLOCK), marks: [u8; 4]) {
            let bytes: [u8; BLOCK] = bytes.try_into().unwrap();
            prop_assert_eq!(block(&bytes, marks), block_portable(&bytes, marks));
            let expected = (0..BLOCK).filter(|&at| marks.contains(&bytes[at])).fold(0, |mask, at| mask | 1 << at);
            prop_assert_eq!(block_portable(&bytes, marks), expected);
        }
    }
}
