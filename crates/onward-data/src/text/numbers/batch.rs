//! The numbers of a line, or of some lines, all of them together.
//!
//! Where each number begins and ends is known beforehand ([`delimiters`](crate::text::delimiters)). Where the processor has AVX2 those of the
//! common form are read by [`batch_avx2`](super::batch_avx2). Here, of each the last eight characters are taken as one integer of 64
//! bits; what follows is arithmetic on eight of these side by side, which the compiler turns into vector code, without a
//! branch; and numbers of any other form are looked at one by one.

use std::ops::{Range, RangeInclusive};

#[cfg(target_arch = "x86_64")]
use super::batch_avx2;
use super::{self as numbers, EXACT_POWERS};

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
}

/// A byte in each of eight.
const EACH: u64 = 0x0101_0101_0101_0101;

/// Below which part of a number is its first byte.
const BYTE: u64 = 0xff;

/// The number of whose digits `count` are the last of eight characters, and not 0 in the place of it if they are none.
#[inline(always)]
fn digits(eight: u64, count: u64) -> (u64, u64) {
    // Zeros in front of the digits.
    let shift = 64u64.wrapping_sub(count << 3) & 63;
    let digits = (eight ^ (EACH * 0x30)) >> shift << shift;
    // The high bit of each byte that is above 9; and what is not 0 unless there are from 1 to 8.
    let others = (((digits & (EACH * 0x7f)) + EACH * 0x76) | digits) & (EACH * 0x80) | (count.wrapping_sub(1) & !7);
    // Pairs, then fours, then all eight: ten, a hundred, ten thousand times the first and the second.
    let pairs = (digits << 3).wrapping_add(digits << 1).wrapping_add(digits >> 8) & 0x00ff_00ff_00ff_00ff;
    let hundreds = (pairs << 6).wrapping_add(pairs << 5).wrapping_add(pairs << 2);
    let fours = hundreds.wrapping_add(pairs >> 16) & 0x0000_ffff_0000_ffff;
    ((fours & 0xffff_ffff) * 10_000 + (fours >> 32), others)
}

/// A decimal of the common form: a minus or none, one digit, a point, and one to eight digits more, or up to eight digits.
/// `head` is the colon before it with seven characters, `tail` its last eight. Not 0 behind the value if it is of another form.
#[inline(always)]
fn decimal(head: u64, tail: u64, length: u64) -> (f32, u64) {
    let is_negative = u64::from((head >> 8) & BYTE == u64::from(b'-'));
    let head = head >> (8 + 8 * is_negative);
    let has_point = u64::from((head >> 8) & BYTE == u64::from(b'.'));
    // Above 9 for what is no digit.
    let digit = (head & BYTE) ^ 0x30;
    // Without a point, all digits are behind it and divided by 1.
    let count = length.wrapping_sub(is_negative + 2 * has_point);
    let (number, others) = digits(tail, count);
    let point = 0u64.wrapping_sub(has_point);
    // Ten to the count, exactly.
    let power = |bit: u64, times: f64| if count & point & bit == 0 { 1.0 } else { times };
    let divisor = (power(1, 1e1) * power(2, 1e2)) * (power(4, 1e4) * power(8, 1e8));
    let (whole, number) = (float(digit & point), float(number));
    // Rounded once but for the narrowing: above and below are whole and below 2^53.
    let value = (whole * divisor + number) / divisor;
    let signed = f64::from_bits(value.to_bits() | is_negative << 63);
    (signed as f32, others | ((digit + 6) >> 4))
}

/// A whole number below 2^31, in an instruction that there is for four at once.
#[inline(always)]
fn float(number: u64) -> f64 {
    f64::from(number as u32 as i32)
}

/// The features of some lines of svmlight: whole numbers, colons, decimals; or the decimals alone.
#[derive(Debug, Default)]
pub(crate) struct DecimalBatch {
    count: usize,
    /// The characters before the colons.
    indices: Vec<u64>,
    /// The colons and the seven characters after them.
    heads: Vec<u64>,
    /// The last characters of the decimals.
    tails: Vec<u64>,
    /// How long they are, in the upper halves; in the lower ones how long the indices are.
    lengths: Vec<u64>,
    values: Vec<f32>,
    /// Indices plus 1.
    found: Vec<u32>,
    /// Not 0 where a decimal is of another than the common form.
    others: Vec<u64>,
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

    /// Makes room for more.
    fn reserve(&mut self, more: usize) {
        let size = self.count + more;
        if self.heads.len() < size {
            for eights in [&mut self.indices, &mut self.heads, &mut self.tails, &mut self.lengths, &mut self.others] {
                eights.resize(size, 0);
            }
            self.values.resize(size, 0.0);
            self.found.resize(size, 0);
        }
    }

    /// Reads the pairs of an index and a decimal of a line. `places`: where the blank before each, its colon and the
    /// blank after it are, that blank being the one before the next. None is among the first or last [`ROOM`] bytes.
    /// Gives whether they are plain: blanks and colons at their places, indices of one to eight digits, values that
    /// are numbers 32 bits hold; if they are not, they do not count.
    pub(crate) fn read_pairs(&mut self, text: &[u8], places: &[u32]) -> bool {
        let range = self.count..self.count + places.len() / 2;
        self.reserve(range.len());
        #[cfg(target_arch = "x86_64")]
        if let Some(has_zero) =
            batch_avx2::read_pairs(text, places, &mut self.found[range.clone()], &mut self.values[range.clone()])
        {
            self.has_zero |= has_zero;
            self.count = range.end;
            return true;
        }
        look_at_pairs(text, places, range.clone(), self);
        let others = self.work_out_decimals(range.clone());
        let faults = work_out_indices(
            &self.indices[range.clone()],
            &self.heads[range.clone()],
            &self.lengths[range.clone()],
            &mut self.found[range.clone()],
        );
        // Colons are where colons are looked for; so no other mark may be one, as between 2:3:4:5.
        let mut blanks = places[..2 * range.len()].iter().step_by(2);
        let is_plain = faults == 0
            && blanks.all(|&place| text.get(place as usize) == Some(&b' '))
            && (others == 0
                || self.settle(range.clone(), text, |number| (places[2 * number + 1], places[2 * number + 2])));
        self.count += if is_plain { range.len() } else { 0 };
        is_plain
    }

    /// Reads the decimals after the second of each of `colons` up to these ends; where both are one, there is none, and it is 1.
    /// None is among the first or last [`ROOM`] bytes. Gives whether all are of the common form; if not, they are to be
    /// [settled](Self::settle_decimals).
    pub(crate) fn read_decimals(&mut self, text: &[u8], colons: &[[u32; 2]], ends: &[u32]) -> bool {
        let range = self.count..self.count + ends.len();
        self.reserve(range.len());
        self.count = range.end;
        #[cfg(target_arch = "x86_64")]
        if let Some(has_zero) = batch_avx2::read_decimals(text, colons, ends, &mut self.values[range.clone()]) {
            self.has_zero |= has_zero;
            return true;
        }
        look_at_decimals(text, colons, ends, range.clone(), self);
        self.work_out_decimals(range) == 0
    }

    /// Works out decimals that were looked at; not 0 if one is of another than the common form.
    fn work_out_decimals(&mut self, range: Range<usize>) -> u64 {
        let (others, has_zero) = work_out_decimals(
            &self.heads[range.clone()],
            &self.tails[range.clone()],
            &self.lengths[range.clone()],
            &mut self.values[range.clone()],
            &mut self.others[range],
        );
        self.has_zero |= has_zero;
        others
    }

    /// Whether some of these have a value that is 0.
    pub(crate) fn have_zero(&self, from: usize, count: usize) -> bool {
        self.has_zero && self.values[from..from + count].contains(&0.0)
    }

    /// Looks closer at some of the decimals: false if one is no number that 32 bits hold.
    #[cold]
    pub(crate) fn settle_decimals(&mut self, from: usize, text: &[u8], colons: &[[u32; 2]], ends: &[u32]) -> bool {
        self.settle(from..from + ends.len(), text, |number| (colons[number][1], ends[number]))
    }

    /// Reads those values that are not of the common form. `place` tells where a colon and an end are.
    fn settle(&mut self, range: Range<usize>, text: &[u8], place: impl Fn(usize) -> (u32, u32)) -> bool {
        let others = &self.others[range.clone()];
        let values = &mut self.values[range];
        for (number, value) in values.iter_mut().enumerate().filter(|&(number, _)| others[number] != 0) {
            let (colon, end) = place(number);
            match long(text, colon, end) {
                Some(long) if (long as f32).is_finite() => *value = long as f32,
                _ => return false,
            }
            self.has_zero |= *value == 0.0;
        }
        true
    }

    /// The indices, plus 1, and the values of some pairs.
    pub(crate) fn pairs(&self, from: usize, count: usize) -> (&[u32], &[f32]) {
        (&self.found[from..from + count], self.values(from, count))
    }

    /// Some of the values.
    pub(crate) fn values(&self, from: usize, count: usize) -> &[f32] {
        &self.values[from..from + count]
    }
}

/// The lengths of the texts that [`read_cells`] reads.
const CELL: RangeInclusive<u32> = 1..=15;

/// Reads the numbers that begin at `starts` and end at `ends`. NaN stands for one that is to be read by itself: it is empty, or
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

onward::vectorised! {
    fn look_at_pairs(text: &[u8], places: &[u32], range: Range<usize>, numbers: &mut DecimalBatch) {
        let Some(text) = PaddedText::new(text) else { return };
        let indices = &mut numbers.indices[range.clone()];
        let heads = &mut numbers.heads[range.clone()];
        let tails = &mut numbers.tails[range.clone()];
        // A loop of our own: an iterator's would not be compiled for this machine.
        for (((index, head), tail), place) in indices.iter_mut().zip(heads).zip(tails).zip(places[1..].chunks_exact(2)) {
            (*index, *head) = text.around(place[0]);
            *tail = text.before(place[1]);
        }
        // From mark to mark: an index, a decimal, an index, …
        let lengths: &mut [u32] = bytemuck::must_cast_slice_mut(&mut numbers.lengths[range]);
        for (length, pair) in lengths.iter_mut().zip(places.windows(2)) {
            *length = pair[1].wrapping_sub(pair[0]).wrapping_sub(1);
        }
    }
}

/// The lengths of an index and of its decimal, of two integers one after the other.
#[inline(always)]
fn two_lengths(length: u64) -> (u64, u64) {
    let length = if cfg!(target_endian = "big") { length.rotate_left(32) } else { length };
    (length & 0xffff_ffff, length >> 32)
}

/// The length of a decimal without an index.
#[inline(always)]
fn one_length(length: u32) -> u64 {
    let length = u64::from(length) << 32;
    if cfg!(target_endian = "big") { length.rotate_left(32) } else { length }
}

onward::vectorised! {
    fn look_at_decimals(text: &[u8], colons: &[[u32; 2]], ends: &[u32], range: Range<usize>, numbers: &mut DecimalBatch) {
        /// A 1 that is not written.
        const ONE: (u64, u64) = (u64::from_le_bytes(*b":1      "), u64::from_le_bytes(*b"       1"));
        let Some(text) = PaddedText::new(text) else { return };
        let heads = &mut numbers.heads[range.clone()];
        let tails = &mut numbers.tails[range.clone()];
        let lengths = &mut numbers.lengths[range];
        let into = heads.iter_mut().zip(tails).zip(lengths);
        for (((head, tail), length), (&[_, colon], &end)) in into.zip(colons.iter().zip(ends)) {
            (*head, *tail, *length) = match colon != end {
                true => (text.around(colon).1, text.before(end), one_length(end.wrapping_sub(colon).wrapping_sub(1))),
                false => (ONE.0, ONE.1, one_length(1)),
            };
        }
    }
}

onward::vectorised! {
    fn work_out_indices(indices: &[u64], heads: &[u64], lengths: &[u64], found: &mut [u32]) -> u64 {
        let mut faults = 0;
        for (((&index, &head), &length), found) in indices.iter().zip(heads).zip(lengths).zip(found.iter_mut()) {
            let (number, fault) = digits(index, two_lengths(length).0);
            // What follows an index is its colon.
            faults |= fault | ((head & BYTE) ^ u64::from(b':'));
            *found = number as u32 + 1;
        }
        faults
    }
}

onward::vectorised! {
    fn work_out_decimals(heads: &[u64], tails: &[u64], lengths: &[u64], values: &mut [f32], others: &mut [u64]) -> (u64, bool) {
        let (mut all, mut has_zero) = (0, false);
        for (((&head, &tail), &length), (value, other)) in heads.iter().zip(tails).zip(lengths).zip(values.iter_mut().zip(others)) {
            (*value, *other) = decimal(head, tail, two_lengths(length).1);
            all |= *other;
            has_zero |= *value == 0.0;
        }
        (all, has_zero)
    }
}

/// The decimal after `colon` up to `end`, whatever its form; `None` if it is not a finite number.
fn long(text: &[u8], colon: u32, end: u32) -> Option<f64> {
    pointed(text, colon, end).or_else(|| numbers::whole(text.get(colon as usize + 1..end as usize)?))
}

/// The same, of digits with a point anywhere among them, eight characters at the most.
fn pointed(text: &[u8], colon: u32, end: u32) -> Option<f64> {
    let text = PaddedText::new(text)?;
    let (_, head) = text.around(colon);
    let eight = text.before(end);
    let is_negative = u32::from((head >> 8) as u8 == b'-');
    let length = end.wrapping_sub(colon).wrapping_sub(1 + is_negative);
    if !(2..=8).contains(&length) {
        return None;
    }
    let begins = 64 - 8 * length;
    let difference = (eight >> begins << begins) ^ (EACH * u64::from(b'.'));
    // The high bit of each byte that is a point.
    let points = !(((difference & (EACH * 0x7f)) + EACH * 0x7f) | difference) & (EACH * 0x80);
    if points.count_ones() != 1 {
        return None;
    }
    // Without the point: what was before it moves up by a byte.
    let point = points >> 7;
    let joined = (eight & !(point - 1) & !(point * 0xff)) | (eight & (point - 1)) << 8;
    let (number, others) = digits(joined, u64::from(length) - 1);
    let value = number as f64 / EXACT_POWERS[(points.leading_zeros() / 8) as usize];
    (others == 0).then_some(if is_negative == 1 { -value } else { value })
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
        let is_plain = is_common || numbers.settle_decimals(0, text.as_bytes(), &colons, &ends);
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
                onward::vector::set_portable(is_portable);
                let whole = format!("{AROUND}{before}:{text}{AROUND}");
                prop_assert_eq!(decimal_bits(&whole, start, end), expected, "{}", whole);
                let number = text.parse::<u32>().ok();
                let is_plain = text.bytes().all(|byte| byte.is_ascii_digit()) && text.len() <= 8;
                let expected = number.filter(|_| is_plain).map(|number| number + 1).zip(expected);
                // One pair, and so many that they are read four at a time.
                for count in [1, 4, 6] {
                    let whole = format!("{AROUND}{before}{}{AROUND}", format!(" {text}:{text}").repeat(count));
                    let marks = (0..=2 * count as u32).map(|mark| start + mark * (1 + text.len() as u32));
                    let expected = expected.map(|pair| vec![pair; count]);
                    prop_assert_eq!(pair_bits(&whole, &marks.collect::<Vec<_>>()), expected, "{}", whole);
                }
            }
            onward::vector::set_portable(false);
        }
    }

    /// The numbers of a line that are all of the common form, and one that is not at each of their places.
    #[test]
    fn common_numbers_are_read_four_at_a_time_and_one_other_is_found_among_them() {
        let _alone = crate::alone();
        let mut random = onward::random::SplitMix64::new(11);
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
            if onward::vector::is_wide() && round % 2 == 0 && pairs.iter().all(|(_, value)| value.len() < 16) {
                let (mut indices, mut values) = (vec![0; count], vec![0.0; count]);
                assert!(
                    batch_avx2::read_pairs(text.as_bytes(), &places, &mut indices, &mut values).is_some(),
                    "{line}"
                );
            }
        }
    }

    /// A decimal as somebody may write it: short or long, near a boundary of rounding, with an exponent or without.
    fn written(random: &mut onward::random::SplitMix64) -> String {
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
        let mut random = onward::random::SplitMix64::new(7);
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
            assert!(is_common || numbers.settle_decimals(0, text.as_bytes(), &colons, &ends), "{line}");
            let values = numbers.values(0, words.len());
            for (word, value) in words.iter().zip(values) {
                let expected = word.parse::<f64>().unwrap() as f32;
                assert_eq!(value.to_bits(), expected.to_bits(), "{word}");
            }
        }
    }
}
