//! The numbers of a row, all of them together.
//!
//! Where each number begins and ends is known beforehand ([`marks`](crate::marks)). Of each the last
//! eight characters are taken as one integer of 64 bits; what follows is arithmetic on arrays of these, which
//! the compiler turns into vector code: 7 instead of 40 instructions for eight digits.

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

/// Whole numbers of up to eight digits.
#[derive(Debug, Default)]
struct Digits {
    /// The eight characters of which the last are digits.
    windows: Vec<u64>,
    /// By how many bits those before them are shifted out.
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

/// The last `count` characters of eight, as a shift; and a number that is 0 if there are one to eight.
#[inline(always)]
fn shift(count: u32) -> (u64, u64) {
    (u64::from(64u32.wrapping_sub(count.wrapping_mul(8)) & 63), u64::from(count.wrapping_sub(1) >= 8))
}

/// Whole numbers that each end before a colon: the indices of svmlight.
#[derive(Debug, Default)]
pub(crate) struct Integers {
    digits: Digits,
}

impl Integers {
    /// Reads those between the places of a blank and a colon, each in its turn; whether all are there, of one to eight
    /// digits, below the limit, and ascend. Gives them plus 1.
    pub(crate) fn read(&mut self, text: &Padded, places: &[u32], limit: u64, indices: &mut Vec<u32>) -> bool {
        let count = places.len() / 2;
        self.digits.resize(count);
        if look_at_integers(text, places, &mut self.digits) != 0 {
            return false;
        }
        self.digits.read();
        indices.resize(count, 0);
        ascend(&self.digits.numbers, &self.digits.others, limit, indices)
    }
}

onward::vectorised! {
    fn look_at_integers(text: &Padded, places: &[u32], digits: &mut Digits) -> u64 {
        let mut faults = 0;
        let rows = digits.windows.iter_mut().zip(digits.shifts.iter_mut());
        for ((window, bits), pair) in rows.zip(places.chunks_exact(2)) {
            let (blank, colon) = (pair[0], pair[1]);
            let (eight, next) = text.around(colon);
            let (shift, fault) = shift(colon.wrapping_sub(blank).wrapping_sub(1));
            faults |= fault | ((next & 0xff) ^ u64::from(b':'));
            (*window, *bits) = (eight, shift);
        }
        faults
    }
}

onward::vectorised! {
    fn ascend(numbers: &[u64], others: &[u64], limit: u64, indices: &mut [u32]) -> bool {
        let (mut lowest, mut faults, mut largest) = (0, 0, 0);
        for ((&number, &others), index) in numbers.iter().zip(others).zip(indices.iter_mut()) {
            faults |= others | u64::from(number < lowest);
            lowest = number + 1;
            largest = lowest.max(largest);
            *index = lowest as u32;
        }
        faults == 0 && largest <= limit
    }
}

/// Decimals that each follow a colon.
#[derive(Debug, Default)]
pub(crate) struct Decimals {
    digits: Digits,
    /// What is before the point, where that is one digit; else all digits are behind it.
    wholes: Vec<f64>,
    /// The power of ten that they are divided by, with the sign of the decimal.
    powers: Vec<f64>,
}

impl Decimals {
    /// Begins a row of so many.
    #[inline]
    pub(crate) fn begin(&mut self, count: usize) {
        self.digits.resize(count);
        self.wholes.resize(count, 0.0);
        self.powers.resize(count, 1.0);
    }

    /// Works out all values; false if one is not a number that 32 bits hold. `place` tells where its colon and its end are.
    #[inline]
    fn finish(&mut self, text: &Padded, values: &mut Vec<f32>, place: impl Fn(usize) -> (u32, u32)) -> bool {
        self.digits.read();
        values.resize(self.powers.len(), 0.0);
        if divide(&self.digits.numbers, &self.wholes, &self.powers, values) | any(&self.digits.others) != 0 {
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

    /// Reads the decimals between the places of a colon and a blank, each in its turn; false if one is not a number
    /// that 32 bits hold.
    pub(crate) fn read_pairs(&mut self, text: &Padded, places: &[u32], values: &mut Vec<f32>) -> bool {
        self.begin(places.len() / 2);
        look_at_pairs(text, places, self);
        self.finish(text, values, |number| (places[2 * number], places[2 * number + 1]))
    }

    /// Reads the decimals after these colons up to these ends; where both are one, there is none, and it is 1.
    pub(crate) fn read_some(
        &mut self,
        text: &Padded,
        colons: &[(u32, u32)],
        ends: &[u32],
        values: &mut Vec<f32>,
    ) -> bool {
        self.begin(ends.len());
        look_at_some(text, colons, ends, self);
        self.finish(text, values, |number| (colons[number].1, ends[number]))
    }
}

/// What is seen of a decimal before it is worked out.
struct Look {
    window: u64,
    shift: u64,
    whole: f64,
    power: f64,
}

impl Look {
    /// A 1 that is not written.
    const ONE: Self = Self { window: u64::from_le_bytes(*b"00000001"), shift: 0, whole: 0.0, power: 1.0 };

    /// Looks at the decimal between the places of a colon and of a blank.
    #[inline(always)]
    fn at(text: &Padded, colon: u32, end: u32) -> Self {
        let (_, head) = text.around(colon);
        let (eight, next) = text.around(end);
        let is_negative = u32::from((head >> 8) as u8 == b'-');
        let head = head >> (8 + 8 * is_negative);
        let point = u32::from((head >> 8) as u8 == b'.');
        let digit = (head as u8).wrapping_sub(b'0');
        // Without a point, all digits are behind it and divided by 1.
        let count = end.wrapping_sub(colon).wrapping_sub(1 + is_negative + 2 * point);
        let (shift, fault) = shift(count);
        let fault = fault | u64::from(digit > 9) | ((next & 0xff) ^ u64::from(b' '));
        Self {
            window: if fault == 0 { eight } else { NO_DIGITS },
            shift,
            whole: f64::from(i32::from(digit) * point as i32),
            power: SIGNED_POWERS[((count & 15) * point | 16 * is_negative) as usize],
        }
    }

    #[inline(always)]
    fn put(self, decimals: (((&mut u64, &mut u64), &mut f64), &mut f64)) {
        let (((window, shift), whole), power) = decimals;
        (*window, *shift, *whole, *power) = (self.window, self.shift, self.whole, self.power);
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

onward::vectorised! {
    fn look_at_pairs(text: &Padded, places: &[u32], decimals: &mut Decimals) {
        let Decimals { digits, wholes, powers } = decimals;
        let looks = digits.windows.iter_mut().zip(&mut digits.shifts).zip(wholes).zip(powers);
        for (look, pair) in looks.zip(places.chunks_exact(2)) {
            Look::at(text, pair[0], pair[1]).put(look);
        }
    }
}

onward::vectorised! {
    fn look_at_some(text: &Padded, colons: &[(u32, u32)], ends: &[u32], decimals: &mut Decimals) {
        let Decimals { digits, wholes, powers } = decimals;
        let looks = digits.windows.iter_mut().zip(&mut digits.shifts).zip(wholes).zip(powers);
        for (look, (&(_, colon), &end)) in looks.zip(colons.iter().zip(ends)) {
            if colon == end { Look::ONE } else { Look::at(text, colon, end) }.put(look);
        }
    }
}

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
    fn divide(numbers: &[u64], wholes: &[f64], powers: &[f64], values: &mut [f32]) -> u64 {
        let mut faults = false;
        for ((value, &number), (&whole, &power)) in values.iter_mut().zip(numbers).zip(wholes.iter().zip(powers)) {
            let number = f64::from(number as u32 as i32);
            *value = ((whole * power.abs() + number) / power) as f32;
            faults |= !value.is_finite();
        }
        u64::from(faults)
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
    read(&[joined], &[shift(length - 1).0], &mut number, &mut others);
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
                let read = decimals.read_pairs(&whole, &[colon, end], &mut values).then(|| values[0].to_bits());
                prop_assert_eq!(read, expected, "{:?}", whole);
                let (mut integers, mut indices) = (Integers::default(), Vec::new());
                let read = integers.read(&whole, &[colon, end], 1 << 20, &mut indices).then(|| u64::from(indices[0] - 1));
                let expected = text.parse::<u64>().ok().filter(|&number| number < 1 << 20);
                let is_plain = text.bytes().all(|byte| byte.is_ascii_digit()) && text.len() <= 8 && after.starts_with(':');
                prop_assert_eq!(read, expected.filter(|_| is_plain), "{:?}", whole);
            }
            onward::vector::set_portable(false);
        }
    }
}
