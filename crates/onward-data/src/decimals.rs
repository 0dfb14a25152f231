//! The numbers of a row, all of them together.
//!
//! Where each number begins and ends is known beforehand ([`marks`](crate::marks)). Of each the last
//! eight characters are taken as one integer of 64 bits; what follows is arithmetic on arrays of these, which
//! the compiler turns into vector code: nine instructions for a number of eight digits.

use crate::number::{self, EXACT_POWERS};

/// A text with room around it, so that eight bytes can be looked at before any place, and eight from it on.
#[derive(Debug, Default)]
pub(crate) struct Padded(Vec<u8>);

/// What can be looked at before a place, and from it on.
const BEFORE: usize = 8;
const WINDOW: usize = 16;

impl Padded {
    /// Takes a text in place of the one before; blanks follow it.
    pub(crate) fn set(&mut self, text: &[u8]) {
        self.0.resize(BEFORE, 0);
        self.0.extend_from_slice(text);
        self.0.extend_from_slice(&[b' '; WINDOW]);
    }

    /// The eight bytes before a place, and those from it on, the first one lowest.
    #[inline(always)]
    fn around(&self, place: u32) -> (u64, u64) {
        let start = place as usize;
        let window = self.0.get(start..start + WINDOW).and_then(<[u8]>::first_chunk::<WINDOW>);
        let [before, after]: [[u8; BEFORE]; 2] = bytemuck::must_cast(*window.unwrap_or(&[0; WINDOW]));
        (u64::from_le_bytes(before), u64::from_le_bytes(after))
    }

    fn text(&self) -> &[u8] {
        &self.0[BEFORE..self.0.len() - WINDOW]
    }
}

/// Whole numbers of up to eight digits, array by array.
#[derive(Debug, Default)]
struct Digits {
    /// The eight characters of which the last are digits.
    windows: Vec<u64>,
    /// How many; then by how many bits those before them are shifted out.
    shifts: Vec<u64>,
    numbers: Vec<u64>,
    /// 0 where all of them are digits.
    others: Vec<u64>,
}

impl Digits {
    fn resize(&mut self, count: usize) {
        for numbers in [&mut self.windows, &mut self.shifts, &mut self.numbers, &mut self.others] {
            numbers.resize(count, 0);
        }
    }

    fn read(&mut self) {
        read(&self.windows, &self.shifts, &mut self.numbers, &mut self.others);
    }
}

/// A byte in each of eight.
const EACH: u64 = 0x0101_0101_0101_0101;

/// Below which part of a number is its first byte.
const BYTE: u64 = 0xff;

onward::vectorised! {
    fn read(windows: &[u64], shifts: &[u64], numbers: &mut [u64], others: &mut [u64]) {
        let rows = windows.iter().zip(shifts).zip(numbers.iter_mut().zip(others.iter_mut()));
        for ((&window, &shift), (number, others)) in rows {
            // Zeros in front of the digits.
            let digits = (window ^ (EACH * 0x30)) >> shift << shift;
            // The high bit of each byte that is above 9.
            *others = (((digits & (EACH * 0x7f)) + EACH * 0x76) | digits) & (EACH * 0x80);
            // Pairs, then fours, then all eight: ten, a hundred, ten thousand times the first and the second.
            let pairs = (digits << 3).wrapping_add(digits << 1).wrapping_add(digits >> 8) & 0x00ff_00ff_00ff_00ff;
            let hundreds = (pairs << 6).wrapping_add(pairs << 5).wrapping_add(pairs << 2);
            let fours = hundreds.wrapping_add(pairs >> 16) & 0x0000_ffff_0000_ffff;
            *number = (fours & 0xffff_ffff) * 10_000 + (fours >> 32);
        }
    }
}

/// By how many bits what is before the last `count` of eight characters is shifted out.
#[inline(always)]
fn shift(count: u64) -> u64 {
    64u64.wrapping_sub(count.wrapping_mul(8)) & 63
}

/// Not 0 unless a count is from 1 to 8.
#[inline(always)]
fn not_one_to_eight(count: u64) -> u64 {
    count.wrapping_sub(1) & !7
}

/// The features of a row of svmlight: whole numbers, colons, decimals.
#[derive(Debug, Default)]
pub(crate) struct Pairs {
    integers: Digits,
    decimals: Decimals,
}

impl Pairs {
    /// Reads pairs of an index and a value. `places`: where the blank before each, its colon and the blank after it are,
    /// that blank being the one before the next. False if something is not plain: indices of one to eight digits below
    /// the limit that ascend, values that are numbers 32 bits hold. Gives indices plus 1.
    pub(crate) fn read(
        &mut self,
        text: &Padded,
        places: &[u32],
        limit: u64,
        indices: &mut Vec<u32>,
        values: &mut Vec<f32>,
    ) -> bool {
        let count = places.len() / 2;
        self.integers.resize(count);
        self.decimals.resize(count);
        indices.resize(count, 0);
        if look_at_pairs(text, places, self) | bits_of(&mut self.integers.shifts) != 0 {
            return false;
        }
        self.integers.read();
        ascend(&self.integers.numbers, &self.integers.others, limit, indices)
            && self.decimals.finish(text, values, |number| (places[2 * number + 1], places[2 * number + 2]))
    }
}

onward::vectorised! {
    /// Takes from the text what is to be worked on: not 0 if a colon is not where it has to be.
    fn look_at_pairs(text: &Padded, places: &[u32], pairs: &mut Pairs) -> u64 {
        let Pairs { integers, decimals } = pairs;
        let mut faults = 0;
        let into = integers.windows.iter_mut().zip(&mut integers.shifts);
        let into = into.zip(decimals.heads.iter_mut().zip(&mut decimals.digits.windows).zip(&mut decimals.digits.shifts));
        // A loop of our own: an iterator's would not be compiled for this machine.
        for (((index, digits), ((head, window), length)), place) in into.zip(places.windows(3).step_by(2)) {
            let (blank, colon, end) = (place[0], place[1], place[2]);
            (*index, *head) = text.around(colon);
            faults |= (*head & BYTE) ^ u64::from(b':');
            *digits = u64::from(colon.wrapping_sub(blank).wrapping_sub(1));
            let (eight, next) = text.around(end);
            (*window, *length) = (eight, length_up_to(next, colon, end));
        }
        faults
    }
}

/// How long a decimal is; too long to be one, if there is no blank where it ends.
#[inline(always)]
fn length_up_to(next: u64, colon: u32, end: u32) -> u64 {
    u64::from(end.wrapping_sub(colon).wrapping_sub(1)) | ((next & BYTE) ^ u64::from(b' ')) << 32
}

onward::vectorised! {
    /// From counts to shifts; not 0 if one is not from 1 to 8.
    fn bits_of(counts: &mut [u64]) -> u64 {
        let mut faults = 0;
        for count in counts {
            faults |= not_one_to_eight(*count);
            *count = shift(*count);
        }
        faults
    }
}

onward::vectorised! {
    fn ascend(numbers: &[u64], others: &[u64], limit: u64, indices: &mut [u32]) -> bool {
        let mut faults = 0;
        for ((&number, &others), index) in numbers.iter().zip(others).zip(indices.iter_mut()) {
            faults |= others;
            *index = number as u32 + 1;
        }
        let mut ascend = true;
        for pair in indices.windows(2) {
            ascend &= pair[0] < pair[1];
        }
        faults == 0 && ascend && indices.last().is_none_or(|&last| u64::from(last) <= limit)
    }
}

/// Decimals that each follow a colon.
#[derive(Debug, Default)]
pub(crate) struct Decimals {
    /// The colon and the seven characters after it.
    heads: Vec<u64>,
    digits: Digits,
    /// What is before the point, where that is one digit; else all digits are behind it.
    wholes: Vec<u64>,
    /// Which power of ten they are divided by, with the sign of the decimal.
    powers: Vec<u64>,
    divisors: Vec<f64>,
}

impl Decimals {
    fn resize(&mut self, count: usize) {
        self.digits.resize(count);
        for numbers in [&mut self.heads, &mut self.wholes, &mut self.powers] {
            numbers.resize(count, 0);
        }
        self.divisors.resize(count, 1.0);
    }

    /// Reads the decimals after these colons up to these ends; where both are one, there is none, and it is 1. False if one
    /// is not a number that 32 bits hold.
    pub(crate) fn read(&mut self, text: &Padded, colons: &[(u32, u32)], ends: &[u32], values: &mut Vec<f32>) -> bool {
        self.resize(ends.len());
        look_at_decimals(text, colons, ends, self);
        self.finish(text, values, |number| (colons[number].1, ends[number]))
    }

    /// Works out all values; false if one is not a number that 32 bits hold. `place` tells where its colon and its end are.
    #[inline]
    fn finish(&mut self, text: &Padded, values: &mut Vec<f32>, place: impl Fn(usize) -> (u32, u32)) -> bool {
        look_closer(self);
        self.digits.read();
        values.resize(self.powers.len(), 0.0);
        if divide(&self.digits.numbers, &self.wholes, &self.divisors, values) | any(&self.digits.others) != 0 {
            return self.read_others(text, values, place);
        }
        true
    }

    /// Reads those that are not of the common form.
    fn read_others(&mut self, text: &Padded, values: &mut [f32], place: impl Fn(usize) -> (u32, u32)) -> bool {
        for (number, value) in values.iter_mut().enumerate() {
            if self.digits.others[number] != 0 {
                let (colon, end) = place(number);
                match long(text, colon, end) {
                    Some(long) => *value = long as f32,
                    None => return false,
                }
            }
            if !value.is_finite() {
                return false;
            }
        }
        true
    }
}

onward::vectorised! {
    fn look_at_decimals(text: &Padded, colons: &[(u32, u32)], ends: &[u32], decimals: &mut Decimals) {
        /// A 1 that is not written.
        const ONE: (u64, u64) = (u64::from_le_bytes(*b":1      "), u64::from_le_bytes(*b"       1"));
        let into = decimals.heads.iter_mut().zip(&mut decimals.digits.windows).zip(&mut decimals.digits.shifts);
        for (((head, window), length), (&(_, colon), &end)) in into.zip(colons.iter().zip(ends)) {
            let (eight, next) = text.around(end);
            let is_written = colon != end;
            (*head, *window, *length) = match is_written {
                true => (text.around(colon).1, eight, length_up_to(next, colon, end)),
                false => (ONE.0, ONE.1, 1),
            };
        }
    }
}

onward::vectorised! {
    /// From the first characters and lengths of decimals to signs, what is before points, and how many digits follow.
    fn look_closer(decimals: &mut Decimals) {
        let Decimals { heads, digits, wholes, powers, divisors } = decimals;
        let into = digits.windows.iter_mut().zip(&mut digits.shifts).zip(wholes.iter_mut().zip(powers.iter_mut()));
        for (&head, ((window, length), (whole, power))) in heads.iter().zip(into) {
            let is_negative = u64::from((head >> 8) & BYTE == u64::from(b'-'));
            let head = head >> (8 + 8 * is_negative);
            let point = u64::from((head >> 8) & BYTE == u64::from(b'.'));
            // Above 9 for what is no digit.
            let digit = (head & BYTE) ^ 0x30;
            // Without a point, all digits are behind it and divided by 1.
            let count = length.wrapping_sub(is_negative + 2 * point);
            let faults = not_one_to_eight(count) | ((digit + 6) >> 4);
            *window |= if faults == 0 { 0 } else { NO_DIGITS };
            *length = shift(count);
            *whole = digit & 0u64.wrapping_sub(point);
            *power = (count & 15 & 0u64.wrapping_sub(point)) | (is_negative << 4);
        }
        for (divisor, &power) in divisors.iter_mut().zip(powers.iter()) {
            *divisor = SIGNED_POWERS[power as usize & 31];
        }
    }
}

/// Powers of ten, then the same with a minus.
const SIGNED_POWERS: [f64; 32] = {
    let mut powers = [0.0; 32];
    let mut at = 0;
    while at < 16 {
        powers[at] = EXACT_POWERS[at];
        powers[at + 16] = -EXACT_POWERS[at];
        at += 1;
    }
    powers
};

/// Eight characters that are no digits.
const NO_DIGITS: u64 = u64::MAX;

onward::vectorised! {
    fn any(others: &[u64]) -> u64 {
        let mut any = 0;
        for other in others {
            any |= other;
        }
        any
    }
}

onward::vectorised! {
    /// (whole·power + number)/power, exact but for one rounding, then narrowed; not 0 if one of them is not finite.
    fn divide(numbers: &[u64], wholes: &[u64], powers: &[f64], values: &mut [f32]) -> u64 {
        let mut faults = false;
        for ((value, &number), (&whole, &power)) in values.iter_mut().zip(numbers).zip(wholes.iter().zip(powers)) {
            let (whole, number) = (f64::from(whole as u32 as i32), f64::from(number as u32 as i32));
            *value = ((whole * power.abs() + number) / power) as f32;
            faults |= !value.is_finite();
        }
        u64::from(faults)
    }
}

onward::vectorised! {
    /// Whether one of the values is 0.
    pub(crate) fn has_zero(values: &[f32]) -> bool {
        let mut has_zero = false;
        for &value in values {
            has_zero |= value == 0.0;
        }
        has_zero
    }
}

/// The decimal after `colon` up to `end`, whatever its form; `None` if it is not a finite number, or something
/// else than a blank is at the end.
fn long(text: &Padded, colon: u32, end: u32) -> Option<f64> {
    if text.text().get(end as usize).is_some_and(|&byte| byte != b' ') {
        return None;
    }
    pointed(text, colon, end).or_else(|| number::whole(text.text().get(colon as usize + 1..end as usize)?))
}

/// The same, of digits with a point anywhere among them, eight characters at the most.
fn pointed(text: &Padded, colon: u32, end: u32) -> Option<f64> {
    let (_, head) = text.around(colon);
    let (eight, _) = text.around(end);
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
    let (mut number, mut others) = ([0], [0]);
    read(&[joined], &[shift(u64::from(length) - 1)], &mut number, &mut others);
    let value = number[0] as f64 / EXACT_POWERS[(points.leading_zeros() / 8) as usize];
    (others[0] == 0).then_some(if is_negative == 1 { -value } else { value })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]

        #[test]
        fn numbers_are_those_of_the_standard_library(
            before in "[ :a-z0-9]{0,12}",
            text in prop_oneof!["-?[0-9]{0,9}(\\.[0-9]{0,9})?", "[-+.0-9e]{0,10}", "-?[0-9]{1,20}\\.[0-9]{1,20}(e-?[0-9]{1,2})?"],
            after in prop_oneof![Just(""), Just(" "), Just(" 17:3"), Just("|"), Just(":5")],
        ) {
            let mut whole = Padded::default();
            whole.set(format!("{before}:{text}{after}").as_bytes());
            let (colon, end) = (before.len() as u32, (before.len() + 1 + text.len()) as u32);
            let ends = after.is_empty() || after.starts_with(' ');
            let expected = text.parse::<f64>().ok().filter(|value| (*value as f32).is_finite() && ends);
            let expected = expected.map(|value| (value as f32).to_bits());
            for is_portable in [false, true] {
                onward::vector::set_portable(is_portable);
                let (mut decimals, mut values) = (Decimals::default(), Vec::new());
                let read = decimals.read(&whole, &[(0, colon)], &[end], &mut values).then(|| values[0].to_bits());
                // Without a character there is no colon, and the value is 1.
                prop_assert_eq!(read, expected, "{:?}", whole);
                let mut pair = Padded::default();
                pair.set(format!(" {text}:{text}{after}").as_bytes());
                let (colon, end) = (text.len() as u32 + 1, 2 * text.len() as u32 + 2);
                let (mut pairs, mut indices) = (Pairs::default(), Vec::new());
                let read = pairs.read(&pair, &[0, colon, end], 1 << 20, &mut indices, &mut values);
                let number = text.parse::<u64>().ok().filter(|&number| number < 1 << 20);
                let is_plain = text.bytes().all(|byte| byte.is_ascii_digit()) && text.len() <= 8;
                let expected = number.filter(|_| is_plain).zip(expected);
                let read = read.then(|| (u64::from(indices[0] - 1), values[0].to_bits()));
                prop_assert_eq!(read, expected, "{:?}", pair);
            }
            onward::vector::set_portable(false);
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
        let (mut decimals, mut values, mut text) = (Decimals::default(), Vec::new(), Padded::default());
        for _ in 0..(1 << 20) / 64 {
            let words: Vec<String> = (0..64).map(|_| written(&mut random)).collect();
            let words: Vec<String> = words
                .into_iter()
                .filter(|word| word.parse::<f64>().is_ok_and(|value| (value as f32).is_finite()))
                .collect();
            let line: String = words.iter().map(|word| format!(" :{word}")).collect();
            text.set(line.as_bytes());
            let mut end = 0;
            let places: Vec<((u32, u32), u32)> = words
                .iter()
                .map(|word| {
                    let colon = end + 1;
                    end = colon + 1 + word.len() as u32;
                    ((colon, colon), end)
                })
                .collect();
            let (colons, ends): (Vec<_>, Vec<_>) = places.into_iter().unzip();
            assert!(decimals.read(&text, &colons, &ends, &mut values), "{line}");
            for (word, value) in words.iter().zip(&values) {
                let expected = word.parse::<f64>().unwrap() as f32;
                assert_eq!(value.to_bits(), expected.to_bits(), "{word}");
            }
        }
    }
}
