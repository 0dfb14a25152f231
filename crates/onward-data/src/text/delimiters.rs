//! The positions of the bytes that structure a text, found many at a time.
//!
//! A parser that finds the end of a word by reading it cannot begin with the next word before it
//! has read this one. Where all ends are known beforehand the processor works on several words at
//! once.

use memchr::{memchr, memrchr};

use crate::text::numbers::batch::ROOM;

/// How many bytes are looked at together.
const BLOCK: usize = 64;

/// How many delimiters a block rarely has more of.
const USUAL: usize = 10;

/// How much text is looked at together, if its lines are not longer: what is worked out of it is to
/// stay in the processor's first cache.
const WINDOW: usize = 4096;

/// Where the delimiters of some lines are.
#[derive(Debug, Default)]
pub(crate) struct DelimiterIndex {
    /// Their positions in the text, and those of line ends; what stands behind the last means nothing.
    positions: Vec<u32>,
    /// The lines.
    pub(crate) lines: Vec<IndexedLine>,
    /// What was found, block by block. (In columns: of masks side by side the compiler makes vectors, bit by bit.)
    all: Vec<u64>,
    line_ends: Vec<u64>,
}

/// A line whose delimiters are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct IndexedLine {
    /// Where it begins and ends in the text.
    pub(crate) start: u32,
    pub(crate) end: u32,
    /// Its delimiters, of all that were found: behind them the line end is one more, with a carriage return if there is one.
    pub(crate) first: u32,
    pub(crate) last: u32,
}

impl IndexedLine {
    /// Whether [`ROOM`] bytes stand before and behind it.
    pub(crate) fn has_room(self, text: &[u8]) -> bool {
        self.start as usize >= ROOM && self.end as usize + ROOM <= text.len()
    }
}

impl DelimiterIndex {
    /// Finds these delimiters and the line ends in the next whole lines from `start` on. Gives the end of the last of
    /// the lines, behind its line end.
    pub(crate) fn find<const N: usize>(&mut self, text: &[u8], start: usize, others: [u8; N]) -> usize {
        let rest = &text[start..];
        let within = memrchr(b'\n', &rest[..rest.len().min(WINDOW)]);
        let end = within.or_else(|| memchr(b'\n', rest)).map_or(rest.len(), |at| at + 1);
        // A text of 4 GB has no positions of 32 bits: it is left to others.
        let end = if start + end > u32::MAX as usize { rest.len() } else { end };
        self.lines.clear();
        if start + end <= u32::MAX as usize {
            find_all(&rest[..end], start as u32, others, self);
        }
        start + end
    }

    /// The positions of a line's delimiters, and of its end.
    #[inline]
    pub(crate) fn positions(&self, line: IndexedLine) -> &[u32] {
        &self.positions[line.first as usize..=line.last as usize]
    }
}

/// What is found in a block: bit k is set where byte k is one.
#[derive(Debug, Clone, Copy)]
struct BlockMasks {
    all: u64,
    line_ends: u64,
}

/// Looks at a block by eight bytes at a time.
#[inline(always)]
fn block_of_eights<const N: usize>(bytes: &[u8; BLOCK], others: [u8; N]) -> BlockMasks {
    const EACH: u64 = 0x0101_0101_0101_0101;
    let eights: &[[u8; 8]; 8] = bytemuck::must_cast_ref(bytes);
    let of = |delimiter: u8| {
        let mut mask = 0;
        for (at, &eight) in eights.iter().enumerate() {
            let difference = u64::from_le_bytes(eight) ^ (EACH * u64::from(delimiter));
            // The high bit of each byte that is 0, and of no other.
            let found = !(((difference & (EACH * 0x7f)) + EACH * 0x7f) | difference) & (EACH * 0x80);
            // The eight high bits side by side.
            mask |= ((found >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * at);
        }
        mask
    };
    let line_ends = of(b'\n');
    BlockMasks { all: others.iter().fold(line_ends, |mask, &delimiter| mask | of(delimiter)), line_ends }
}

/// The same, 32 bytes at a time.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
#[inline]
fn block_wide<const N: usize>(bytes: &[u8; BLOCK], others: [u8; N]) -> BlockMasks {
    use std::arch::x86_64::{_mm256_cmpeq_epi8, _mm256_loadu_si256, _mm256_or_si256, _mm256_set1_epi8};
    let [low, high]: &[[u8; 32]; 2] = bytemuck::must_cast_ref(bytes);
    // SAFETY: both are 32 bytes.
    #[allow(unsafe_code)]
    let (low, high) = unsafe { (_mm256_loadu_si256(low.as_ptr().cast()), _mm256_loadu_si256(high.as_ptr().cast())) };
    let line_end = _mm256_set1_epi8(b'\n'.cast_signed());
    let (low_ends, high_ends) = (_mm256_cmpeq_epi8(low, line_end), _mm256_cmpeq_epi8(high, line_end));
    let (mut low_all, mut high_all) = (low_ends, high_ends);
    // No closures: they would not be compiled for this machine.
    for other in others {
        let other = _mm256_set1_epi8(other.cast_signed());
        low_all = _mm256_or_si256(low_all, _mm256_cmpeq_epi8(low, other));
        high_all = _mm256_or_si256(high_all, _mm256_cmpeq_epi8(high, other));
    }
    BlockMasks { all: bits(low_all, high_all), line_ends: bits(low_ends, high_ends) }
}

/// A bit for each byte of two vectors that is not 0.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
#[inline]
fn bits(low: std::arch::x86_64::__m256i, high: std::arch::x86_64::__m256i) -> u64 {
    use std::arch::x86_64::_mm256_movemask_epi8;
    u64::from(_mm256_movemask_epi8(low).cast_unsigned()) | u64::from(_mm256_movemask_epi8(high).cast_unsigned()) << 32
}

/// Finds all delimiters of whole lines; `offset` is added to their positions.
fn find_all<const N: usize>(text: &[u8], offset: u32, others: [u8; N], index: &mut DelimiterIndex) {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
        fn wide<const N: usize>(text: &[u8], offset: u32, others: [u8; N], index: &mut DelimiterIndex) {
            find(text, offset, |bytes| block_wide(bytes, others), index);
        }
        if onward::simd::is_wide() {
            // SAFETY: the processor was asked, and has what the function is compiled for.
            #[allow(unsafe_code)]
            return unsafe { wide(text, offset, others, index) };
        }
    }
    find(text, offset, |bytes| block_of_eights(bytes, others), index);
}

/// In loops, each of which is short enough for its numbers to stay in registers.
#[inline(always)]
fn find(text: &[u8], offset: u32, look: impl Fn(&[u8; BLOCK]) -> BlockMasks, index: &mut DelimiterIndex) {
    let (whole, rest) = text.as_chunks::<BLOCK>();
    let count = whole.len() + 1;
    for masks in [&mut index.all, &mut index.line_ends] {
        masks.resize(count, 0);
    }
    for (bytes, (all, line_ends)) in whole.iter().zip(index.all.iter_mut().zip(index.line_ends.iter_mut())) {
        let found = look(bytes);
        (*all, *line_ends) = (found.all, found.line_ends);
    }
    let mut last = [0; BLOCK];
    last[..rest.len()].copy_from_slice(rest);
    // Text that ends without a line end is given one.
    if !text.ends_with(b"\n") {
        last[rest.len()] = b'\n';
    }
    let found = look(&last);
    (index.all[count - 1], index.line_ends[count - 1]) = (found.all, found.line_ends);
    write_places(offset, index);
    split_lines(text, offset, index);
}

/// The same number, of which the compiler knows nothing: from eight that are alike in how they came about it
/// makes a vector, one by one, which takes a tenth of the time of parsing.
#[inline(always)]
fn opaque(number: u32) -> u32 {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        let mut number = number;
        // SAFETY: there is no instruction.
        #[allow(unsafe_code)]
        unsafe {
            std::arch::asm!("/* {0:e} */", inout(reg) number, options(pure, nomem, nostack, preserves_flags));
        }
        number
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    number
}

/// Writes the positions of all delimiters.
#[inline(always)]
fn write_places(offset: u32, index: &mut DelimiterIndex) {
    let DelimiterIndex { positions, all, .. } = index;
    let mut most = 0;
    for &mask in all.iter() {
        most += mask.count_ones() as usize;
    }
    // A block writes up to 64 positions, wherever it begins.
    if positions.len() < most + BLOCK {
        positions.resize(most + BLOCK, 0);
    }
    let (mut count, mut start) = (0, offset);
    for &mask in all.iter() {
        let mut mask = mask;
        let Some(into) = positions[count..].first_chunk_mut::<BLOCK>() else { break };
        let here = mask.count_ones() as usize;
        // How many there are is what a processor guesses wrong: most often they are among these, and what
        // stands behind the last one means nothing.
        let (first, rest) = into.split_at_mut(USUAL);
        for position in first {
            *position = opaque(start + mask.trailing_zeros());
            mask &= mask.wrapping_sub(1);
        }
        for position in rest.iter_mut().take(here.saturating_sub(USUAL)) {
            *position = start + mask.trailing_zeros();
            mask &= mask.wrapping_sub(1);
        }
        count += here;
        start += BLOCK as u32;
    }
}

/// Tells which delimiters are whose line's.
#[inline(always)]
fn split_lines(text: &[u8], offset: u32, index: &mut DelimiterIndex) {
    let DelimiterIndex { positions, lines, all, line_ends } = index;
    let (mut count, mut start) = (0, offset);
    let mut line = IndexedLine { start: offset, ..IndexedLine::default() };
    for (&all, &line_ends) in all.iter().zip(line_ends.iter()) {
        let mut line_ends = line_ends;
        while line_ends != 0 {
            let before = (line_ends & line_ends.wrapping_neg()) - 1;
            line.end = start + line_ends.trailing_zeros();
            line.last = count + (all & before).count_ones();
            // A carriage return belongs to the line end.
            let is_return = text.get((line.end - offset) as usize - usize::from(line.end > line.start)) == Some(&b'\r');
            if let Some(position) = positions.get_mut(line.last as usize) {
                *position -= u32::from(is_return);
            }
            lines.push(line);
            line = IndexedLine { start: line.end + 1, end: 0, first: line.last + 1, last: 0 };
            line_ends &= line_ends - 1;
        }
        count += all.count_ones();
        start += BLOCK as u32;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// All lines of a text, found window by window.
    fn found(text: &[u8], has_bars: bool) -> Vec<(IndexedLine, Vec<u32>)> {
        let (mut index, mut start, mut all) = (DelimiterIndex::default(), 0, Vec::new());
        while start < text.len() {
            start = if has_bars {
                index.find(text, start, [b':', b' ', b'|', b'\t'])
            } else {
                index.find(text, start, [b':', b' '])
            };
            all.extend(
                index
                    .lines
                    .iter()
                    .map(|&line| (IndexedLine { first: 0, last: 0, ..line }, index.positions(line).to_vec())),
            );
        }
        all
    }

    /// The same by a walk.
    fn expected(text: &[u8], delimiters: &[u8]) -> Vec<(IndexedLine, Vec<u32>)> {
        let (mut start, mut all) = (0, Vec::new());
        for part in text.split_inclusive(|&byte| byte == b'\n') {
            let line = part.strip_suffix(b"\n").unwrap_or(part);
            let end = start + line.len();
            let is_mark = |&at: &usize| delimiters.contains(&text[at]);
            let mut positions: Vec<u32> = (start..end).filter(is_mark).map(|at| at as u32).collect();
            positions.push((start + line.strip_suffix(b"\r").unwrap_or(line).len()) as u32);
            all.push((IndexedLine { start: start as u32, end: end as u32, first: 0, last: 0 }, positions));
            start += part.len();
        }
        all
    }

    fn text(length: usize) -> impl Strategy<Value = Vec<u8>> {
        prop::collection::vec(
            prop_oneof![4 => Just(b' '), 4 => Just(b':'), 1 => Just(b'\n'), 1 => Just(b'\r'), 4 => any::<u8>()],
            0..length,
        )
    }

    proptest! {
        #[test]
        fn marks_are_those_that_a_walk_finds(text in text(400)) {
            let _alone = crate::alone();
            for is_portable in [false, true] {
                onward::simd::set_portable(is_portable);
                prop_assert_eq!(found(&text, false), expected(&text, b": "));
                prop_assert_eq!(found(&text, true), expected(&text, b": |\t"));
            }
            onward::simd::set_portable(false);
        }

        #[test]
        fn blocks_are_the_same_without_vector_instructions(bytes in text(BLOCK + 1), others: [u8; 3]) {
            let mut block = [b'x'; BLOCK];
            block[..bytes.len()].copy_from_slice(&bytes);
            let found = block_of_eights(&block, others);
            let bits = |delimiters: &[u8]| (0..BLOCK).filter(|&at| delimiters.contains(&block[at])).fold(0, |mask, at| mask | 1 << at);
            let all = bits(&others) | bits(b"\n");
            prop_assert_eq!((found.all, found.line_ends), (all, bits(b"\n")));
        }
    }

    #[test]
    fn lines_longer_than_a_window_are_found_whole() {
        let mut text = vec![b'a'; 3 * WINDOW];
        for at in (0..text.len()).step_by(7) {
            text[at] = b':';
        }
        text[WINDOW + 1] = b'\n';
        assert_eq!(found(&text, false), expected(&text, b": "));
        text[WINDOW / 2] = b'\n';
        assert_eq!(found(&text, false), expected(&text, b": "));
    }
}
