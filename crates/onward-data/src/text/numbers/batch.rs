//! The numbers of a line, or of some lines, all of them together.
//!
//! Where each number begins and ends is known beforehand ([`delimiters`](crate::text::delimiters)). Where the processor has AVX2, those of
//! the common form are read four at a time ([`batch_avx2`](super::batch_avx2)); all others one by one, to the same bits.

use std::ops::RangeInclusive;

use onward::hashing::feature_hash as hash;

use super as numbers;
#[cfg(target_arch = "x86_64")]
use super::batch_avx2;

/// How many bytes have to be before and behind a number for its surroundings to be looked at.
pub(crate) const ROOM: usize = 8;

/// A text in which eight bytes are looked at anywhere but in its first and last eight.
#[derive(Clone, Copy)]
pub(crate) struct PaddedText<'a> {
    bytes: &'a [u8],
    /// Where the last sixteen bytes begin.
    last: usize,
}

impl<'a> PaddedText<'a> {
    /// `None` of a text that is too short.
    #[inline(always)]
    pub(crate) fn new(bytes: &'a [u8]) -> Option<Self> {
        bytes.len().checked_sub(2 * ROOM).map(|last| Self { bytes, last })
    }

    /// The eight bytes before a place of a text, and those from it on, the first one lowest; anything, in the first and
    /// last eight.
    #[inline(always)]
    fn around(self, place: u32) -> (u64, u64) {
        // Held within the text, which costs less than to ask whether it is.
        let start = (place as usize).wrapping_sub(ROOM).min(self.last);
        debug_assert!(start + 2 * ROOM <= self.bytes.len());
        // SAFETY: the last sixteen bytes begin at `last`, so there are as many from any place before it.
        #[allow(unsafe_code)]
        let window: [u8; 2 * ROOM] = unsafe { self.bytes.as_ptr().add(start).cast::<[u8; 2 * ROOM]>().read() };
        let [before, after]: [[u8; 8]; 2] = bytemuck::must_cast(window);
        (u64::from_le_bytes(before), u64::from_le_bytes(after))
    }

    /// The eight bytes before a place.
    #[inline(always)]
    pub(crate) fn before(self, place: u32) -> u64 {
        self.around(place).0
    }

    /// The eight bytes from a place on.
    #[inline(always)]
    pub(crate) fn after(self, place: u32) -> u64 {
        self.around(place).1
    }

    /// The hash of the name between two places of this text.
    #[inline(always)]
    pub(crate) fn hash(self, seed: u64, (start, end): (u32, u32)) -> u64 {
        match hash::SHORT.contains(&(end - start)) {
            true => hash::short(seed, self.after(start), self.before(end), end - start),
            false => hash::name(seed, &self.bytes[start as usize..end as usize]),
        }
    }
}

/// The features of some lines of svmlight: whole numbers, colons, decimals; or the decimals alone.
#[derive(Debug, Default)]
pub(crate) struct DecimalBatch {
    count: usize,
    /// Indices plus 1.
    indices: Vec<u32>,
    values: Vec<f32>,
    /// Whether a value is 0.
    has_zero: bool,
}

impl DecimalBatch {
    /// Forgets all, and keeps the memory.
    pub(crate) fn clear(&mut self) {
        (self.count, self.has_zero) = (0, false);
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// Makes room for more, and gives where they go.
    fn reserve(&mut self, more: usize) -> (&mut [u32], &mut [f32]) {
        let size = self.count + more;
        if self.values.len() < size {
            self.indices.resize(size, 0);
            self.values.resize(size, 0.0);
        }
        (&mut self.indices[self.count..size], &mut self.values[self.count..size])
    }

    /// Reads the pairs of an index and a decimal of a line. `places`: where the blank before each, its colon and the
    /// blank after it are, that blank being the one before the next. None is among the first or last [`ROOM`] bytes.
    /// Gives whether they are plain: blanks and colons at their places, indices of one to eight digits, values that
    /// are numbers 32 bits hold; if they are not, they do not count.
    pub(crate) fn read_pairs(&mut self, text: &[u8], places: &[u32]) -> bool {
        let count = places.len() / 2;
        let (indices, values) = self.reserve(count);
        #[cfg(target_arch = "x86_64")]
        if let Some(has_zero) = batch_avx2::read_pairs(text, places, indices, values) {
            self.has_zero |= has_zero;
            self.count += count;
            return true;
        }
        let mut has_zero = false;
        for (number, (index, value)) in indices.iter_mut().zip(values).enumerate() {
            let Some(found) = pair(text, &places[2 * number..]) else { return false };
            (*index, *value) = found;
            has_zero |= *value == 0.0;
        }
        self.has_zero |= has_zero;
        self.count += count;
        true
    }

    /// Reads the decimals after the second of each of `colons` up to these ends; where both are one, there is none, and it is 1.
    /// None is among the first or last [`ROOM`] bytes. Gives whether all are of the common form; if not, they must be
    /// [read one by one](Self::read_each).
    pub(crate) fn read_decimals(&mut self, text: &[u8], colons: &[[u32; 2]], ends: &[u32]) -> bool {
        let (_, values) = self.reserve(ends.len());
        #[cfg(target_arch = "x86_64")]
        let read = batch_avx2::read_decimals(text, colons, ends, values);
        #[cfg(not(target_arch = "x86_64"))]
        let read: Option<bool> = None;
        self.has_zero |= read.unwrap_or(false);
        self.count += ends.len();
        read.is_some()
    }

    /// Reads some of these decimals one by one: false if one is no number that 32 bits hold.
    pub(crate) fn read_each(&mut self, from: usize, text: &[u8], colons: &[[u32; 2]], ends: &[u32]) -> bool {
        for ((value, &[_, colon]), &end) in self.values[from..].iter_mut().zip(colons).zip(ends) {
            *value = match colon == end {
                true => 1.0,
                false => match single(text, colon, end) {
                    Some(value) => value,
                    None => return false,
                },
            };
            self.has_zero |= *value == 0.0;
        }
        true
    }

    /// Whether some of these have a value that is 0.
    pub(crate) fn have_zero(&self, from: usize, count: usize) -> bool {
        self.has_zero && self.values[from..from + count].contains(&0.0)
    }

    /// The indices, plus 1, and the values of some pairs.
    pub(crate) fn pairs(&self, from: usize, count: usize) -> (&[u32], &[f32]) {
        (&self.indices[from..from + count], self.values(from, count))
    }

    /// Some of the values.
    pub(crate) fn values(&self, from: usize, count: usize) -> &[f32] {
        &self.values[from..from + count]
    }
}

/// The index, plus 1, and the value of the pair between three places, if it is plain.
fn pair(text: &[u8], places: &[u32]) -> Option<(u32, f32)> {
    let &[blank, colon, end] = places.first_chunk()?;
    let is_plain = text.get(blank as usize) == Some(&b' ') && text.get(colon as usize) == Some(&b':');
    let index =
        text.get(blank as usize + 1..colon as usize).filter(|index| is_plain && (1..=8).contains(&index.len()))?;
    let (number, length) = numbers::digits_from(index, 0, 0);
    Some((number as u32 + 1, single(text, colon, end).filter(|_| length == index.len())?))
}

/// The number after `colon` up to `end`, if 32 bits hold it.
fn single(text: &[u8], colon: u32, end: u32) -> Option<f32> {
    let value = numbers::whole(text.get(colon as usize + 1..end as usize)?)? as f32;
    value.is_finite().then_some(value)
}

/// The lengths of the texts that [`read_cells`] reads.
const CELL: RangeInclusive<u32> = 1..=15;

/// Reads the numbers that begin at `starts` and end at `ends`. NaN stands for one that must be read by itself: it is empty, or
/// longer than [these](CELL), or it or one of its neighbours is not of the common form.
pub(crate) fn read_cells(text: &[u8], starts: &mut [u32], ends: &[u32], values: &mut Vec<f64>) {
    values.resize(starts.len(), 0.0);
    hold(starts, ends);
    let mut whole = 0;
    #[cfg(target_arch = "x86_64")]
    {
        let fours = starts.len() / 4 * 4;
        if batch_avx2::read_cells(text, &starts[..fours], &ends[..fours], &mut values[..fours]) {
            whole = fours;
        }
    }
    for ((value, &start), &end) in values[whole..].iter_mut().zip(&starts[whole..]).zip(&ends[whole..]) {
        let cell = text.get(start as usize..end as usize).unwrap_or_default();
        *value = match numbers::prefix(cell) {
            Some((value, length)) if length == cell.len() => value,
            _ => f64::NAN,
        };
    }
    leave_empty(starts, ends, &mut values[..whole]);
}

onward::vectorised! {
    /// Has cells that are too long begin at their end.
    fn hold(starts: &mut [u32], ends: &[u32]) {
        for (start, &end) in starts.iter_mut().zip(ends) {
            *start = if end - *start > *CELL.end() { end } else { *start };
        }
    }
}

onward::vectorised! {
    /// Of an empty cell nothing was read.
    fn leave_empty(starts: &[u32], ends: &[u32], values: &mut [f64]) {
        for (value, (start, end)) in values.iter_mut().zip(starts.iter().zip(ends)) {
            *value = if start == end { f64::NAN } else { *value };
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What is before and behind, so that there is room.
    const AROUND: &str = "1 1:0.5 2:0.25 3:0.125";

    /// The bits of the value between a colon and an end, or that there is none.
    fn decimal_bits(text: &str, colon: u32, end: u32) -> Option<u32> {
        let mut numbers = DecimalBatch::default();
        let (colons, ends) = ([[0, colon]; 4], [end; 4]);
        let is_common = numbers.read_decimals(text.as_bytes(), &colons, &ends);
        let is_plain = is_common || numbers.read_each(0, text.as_bytes(), &colons, &ends);
        is_plain.then(|| numbers.values(0, 1)[0].to_bits())
    }

    /// The indices and the bits of the values of the pairs of a line.
    fn pair_bits(text: &str, places: &[u32]) -> Option<Vec<(u32, u32)>> {
        let mut numbers = DecimalBatch::default();
        numbers.read_pairs(text.as_bytes(), places).then(|| {
            let (indices, values) = numbers.pairs(0, places.len() / 2);
            indices.iter().copied().zip(values.iter().map(|value| value.to_bits())).collect()
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]

        #[test]
        fn numbers_are_those_of_the_standard_library(
            before in "[ :a-z0-9]{0,12}",
            text in prop_oneof!["-?[0-9]{0,9}(\\.[0-9]{0,9})?", "[-+.0-9e]{0,10}", "-?[0-9]{1,20}\\.[0-9]{1,20}(e-?[0-9]{1,2})?"],
        ) {
            let expected = text.parse::<f64>().ok().filter(|value| (*value as f32).is_finite());
            let expected = expected.map(|value| (value as f32).to_bits());
            let start = (AROUND.len() + before.len()) as u32;
            let end = start + 1 + text.len() as u32;
            let _alone = crate::alone();
            for is_portable in [false, true] {
                onward::simd::set_portable(is_portable);
                let whole = format!("{AROUND}{before}:{text}{AROUND}");
                prop_assert_eq!(decimal_bits(&whole, start, end), expected, "{}", whole);
                let number = text.parse::<u32>().ok();
                let is_plain = text.bytes().all(|byte| byte.is_ascii_digit()) && text.len() <= 8;
                let expected = number.filter(|_| is_plain).map(|number| number + 1).zip(expected);
                // One pair, and enough to be read four at a time.
                for count in [1, 4, 6] {
                    let whole = format!("{AROUND}{before}{}{AROUND}", format!(" {text}:{text}").repeat(count));
                    let marks = (0..=2 * count as u32).map(|mark| start + mark * (1 + text.len() as u32));
                    let expected = expected.map(|pair| vec![pair; count]);
                    prop_assert_eq!(pair_bits(&whole, &marks.collect::<Vec<_>>()), expected, "{}", whole);
                }
            }
            onward::simd::set_portable(false);
        }
    }

    /// The numbers of a line that are all of the common form, and one that is not at each of their places.
    #[test]
    fn common_numbers_are_read_four_at_a_time_and_one_other_is_found_among_them() {
        let _alone = crate::alone();
        let mut random = onward::numeric::rng::SplitMix64::new(11);
        for round in 0..20_000 {
            let count = 4 + random.below(6) as usize;
            let mut pairs: Vec<(String, String)> = (0..count)
                .map(|_| {
                    let digits = 10u64.pow(random.below(9) as u32);
                    let sign = if random.below(4) == 0 { "-" } else { "" };
                    let decimal = match random.below(4) {
                        0 => format!("{sign}{}", random.below(digits)),
                        1 => format!("{sign}.{}", random.below(digits)),
                        2 => format!("{sign}{}.{:02}", random.below(100_000), random.below(digits)),
                        _ => format!("{sign}{}", random.below(digits) as f64 / 1e5),
                    };
                    let limit = 10u64.pow(1 + random.below(8) as u32);
                    (random.below(limit).to_string(), decimal)
                })
                .collect();
            if round % 2 == 1 {
                let other = [
                    "",
                    "-",
                    "-5",
                    "-17",
                    ".",
                    "1.",
                    "-.",
                    "1.2.3",
                    "--1",
                    "1-2",
                    "+1",
                    "1e2",
                    "1234567890123456",
                    "x",
                    "1:2",
                ];
                let (at, index) = (random.below(count as u64) as usize, random.below(3) == 0);
                let other = other[random.below(other.len() as u64) as usize].to_owned();
                if index { pairs[at].0 = other } else { pairs[at].1 = other }
            }
            let line: String = pairs.iter().map(|(index, value)| format!(" {index}:{value}")).collect();
            let text = format!("{AROUND}{line}{AROUND}");
            let mut places = vec![AROUND.len() as u32];
            for (index, value) in &pairs {
                let start = places.last().unwrap() + 1;
                let colon = start + index.len() as u32;
                places.extend([colon, colon + 1 + value.len() as u32]);
            }
            let expected: Option<Vec<(u32, u32)>> = pairs
                .iter()
                .map(|(index, value)| {
                    let is_index = index.len() <= 8 && index.bytes().all(|byte| byte.is_ascii_digit());
                    let index = index.parse::<u32>().ok().filter(|_| is_index)?;
                    Some((index + 1, (value.parse::<f64>().ok()? as f32).to_bits()))
                })
                .collect();
            assert_eq!(pair_bits(&text, &places), expected, "{line}");
            #[cfg(target_arch = "x86_64")]
            if onward::simd::is_wide() && round % 2 == 0 && pairs.iter().all(|(_, value)| value.len() < 16) {
                let (mut indices, mut values) = (vec![0; count], vec![0.0; count]);
                assert!(
                    batch_avx2::read_pairs(text.as_bytes(), &places, &mut indices, &mut values).is_some(),
                    "{line}"
                );
            }
        }
    }

    /// A decimal of any kind: short or long, near a boundary of rounding, with an exponent or without.
    fn written(random: &mut onward::numeric::rng::SplitMix64) -> String {
        let value = f64::from_bits(random.bits());
        let near = f64::from((random.bits() as u32 as f32) * 1e-9);
        match random.below(8) {
            0 if value.is_finite() => format!("{value:e}"),
            1 => format!("{near}"),
            2 => format!("{:.17}", near / 1e3),
            // Half-way between two floats of 32 bits, and next to it.
            3 => {
                let single = f32::from_bits(random.bits() as u32 & 0x7f7f_ffff);
                let half = (f64::from(single) + f64::from(f32::from_bits(single.to_bits() + 1))) / 2.0;
                let bits = half.to_bits() + random.below(3);
                format!("{:e}", f64::from_bits(bits.saturating_sub(1)))
            }
            4 => format!("{}.{}", random.below(10), random.below(100_000_000)),
            5 => format!("-{}", random.below(1_000_000_000_000)),
            6 => format!("{}.{:03}", random.below(100_000), random.below(1000)),
            _ => format!("{}e{}", random.below(1 << 60), random.below(40) as i64 - 20),
        }
    }

    #[test]
    fn a_million_decimals_are_those_of_the_standard_library() {
        let mut random = onward::numeric::rng::SplitMix64::new(7);
        let mut numbers = DecimalBatch::default();
        for _ in 0..(1 << 20) / 64 {
            let words: Vec<String> = (0..64).map(|_| written(&mut random)).collect();
            let words: Vec<String> = words
                .into_iter()
                .filter(|word| word.parse::<f64>().is_ok_and(|value| (value as f32).is_finite()))
                .collect();
            let line: String = words.iter().map(|word| format!(" :{word}")).collect();
            let text = format!("{AROUND}{line}{AROUND}");
            let mut end = AROUND.len() as u32;
            let places: Vec<([u32; 2], u32)> = words
                .iter()
                .map(|word| {
                    let colon = end + 1;
                    end = colon + 1 + word.len() as u32;
                    ([colon, colon], end)
                })
                .collect();
            let (colons, ends): (Vec<_>, Vec<_>) = places.into_iter().unzip();
            numbers.clear();
            let is_common = numbers.read_decimals(text.as_bytes(), &colons, &ends);
            assert!(is_common || numbers.read_each(0, text.as_bytes(), &colons, &ends), "{line}");
            let values = numbers.values(0, words.len());
            for (word, value) in words.iter().zip(values) {
                let expected = word.parse::<f64>().unwrap() as f32;
                assert_eq!(value.to_bits(), expected.to_bits(), "{word}");
            }
        }
    }
}
