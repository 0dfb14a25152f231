//! Decimal numbers from bytes: exact, fast for the short ones that data are made of.
//!
//! The grammar: an optional sign, digits with an optional point (at least one
//! digit), an optional exponent. Nothing else is a number: not `0x10`, not
//! `1-2`, not `1_000`. The result is the nearest f64; features are then rounded
//! to f32.

/// What a text is, read as a number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Number {
    /// A finite number.
    Finite(f64),
    /// Empty, `NA`, `N/A`, `NaN` or `null`, in any case.
    Missing,
    /// `inf` or `infinity`, or too large for f64.
    Infinite,
    /// Something else.
    Invalid,
}

/// Powers of ten that are exact in f64.
pub(crate) const EXACT_POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
    1e21, 1e22,
];

/// All powers of ten that a u64 holds.
const TENS: [u64; 20] = {
    let mut tens = [1; 20];
    let mut power = 1;
    while power < 20 {
        tens[power] = 10 * tens[power - 1];
        power += 1;
    }
    tens
};

/// What to do about a number with a comma in it.
pub(crate) const NO_COMMAS: &str = "numbers have a decimal point and no commas: write 1.5 and not 1,5, for instance with sed 's/,/./g', or skip such records with ⟦on_error=skip⟧";

/// Below this the digits are exact in f64.
const EXACT_DIGITS: u64 = 1 << 53;

/// Reads a text as a number; spaces and tabs around it do not count.
#[inline]
pub(crate) fn parse(text: &[u8]) -> Number {
    match text.get(..=MOST_EXACT) {
        // Most words: missing and infinite values begin otherwise.
        _ if text.first().is_some_and(|&byte| byte.is_ascii_alphabetic() && !matches!(byte | 32, b'n' | b'i')) => {
            Number::Invalid
        }
        None => match prefix(text) {
            Some((value, length)) if length == text.len() => Number::Finite(value),
            _ => parse_rest(text),
        },
        Some(_) => parse_rest(text),
    }
}

/// A sign, a point, and the most digits that fit a u64 whatever they are: what is longer is left to the standard library.
const MOST_EXACT: usize = 21;

/// The common case: the decimal that `text` begins with, if it has no more than 19 digits and a small exponent, and how
/// many bytes it takes.
#[inline]
pub(crate) fn prefix(text: &[u8]) -> Option<(f64, usize)> {
    text.first_chunk().and_then(short).or_else(|| plain(text))
}

/// The most common case of all: one digit, a point, and up to eight digits more. There is
/// no branch that depends on how many.
#[inline]
fn short(text: &[u8; 16]) -> Option<(f64, usize)> {
    let negative = text[0] == b'-';
    let start = usize::from(negative);
    let digit = text[start].wrapping_sub(b'0');
    if digit > 9 || text[start + 1] != b'.' {
        return None;
    }
    let eight = text[start + 2..].first_chunk()?;
    let (count, fraction) = leading_digits(u64::from_le_bytes(*eight));
    let end = start + 2 + count;
    if matches!(text[end], b'0'..=b'9' | b'e' | b'E') {
        return None;
    }
    let mantissa = u64::from(digit) * TENS[count] + fraction;
    let value = mantissa.cast_signed() as f64 / EXACT_POWERS[count];
    Some((if negative { -value } else { value }, end))
}

fn plain(text: &[u8]) -> Option<(f64, usize)> {
    let (negative, start) = match text.first()? {
        b'-' => (true, 1),
        b'+' => (false, 1),
        _ => (false, 0),
    };
    let (mut mantissa, mut at) = digits_from(text, start, 0);
    let mut count = at - start;
    let mut power = 0;
    if text.get(at) == Some(&b'.') {
        let point = at + 1;
        (mantissa, at) = digits_from(text, point, mantissa);
        count += at - point;
        power = -((at - point) as i64);
    }
    // 19 digits always fit a u64: with more, the mantissa is not to be trusted.
    if count == 0 || count > 19 {
        return None;
    }
    if let Some(b'e' | b'E') = text.get(at) {
        let (exponent, end) = exponent(text, at + 1)?;
        power += exponent;
        at = end;
    }
    let value = match mantissa > EXACT_DIGITS {
        true => quotient(mantissa, *TENS.get(usize::try_from(-power).ok()?)?),
        // Clinger's fast path: both operands are exact, so the result is rounded once.
        false => {
            let exact = EXACT_POWERS.get(power.unsigned_abs() as usize)?;
            if power < 0 { mantissa as f64 / exact } else { mantissa as f64 * exact }
        }
    };
    Some((if negative { -value } else { value }, at))
}

/// The float that is nearest to the quotient of two integers above 0, the even one of two that are as near: 62 or more of its
/// bits as an integer, of which the last is set if something is left, so that it is rounded once.
fn quotient(dividend: u64, divisor: u64) -> f64 {
    let (up, down) = (dividend.leading_zeros(), divisor.leading_zeros());
    // Both have their highest bit set: the quotient is between 2^62 and 2^64.
    let (dividend, divisor) = (u128::from(dividend << up) << 63, u128::from(divisor << down));
    let quotient = dividend / divisor;
    let bits = quotient as u64 | u64::from(quotient * divisor != dividend);
    // Times a power of two: exact, as its exponent is from -126 to 0.
    let scale = f64::from_bits(u64::from(1023 + down - up - 63) << 52);
    bits as f64 * scale
}

/// Appends the digits from `start` on to a number, and says where they end; wraps around
/// when there are too many.
#[inline]
pub(crate) fn digits_from(text: &[u8], start: usize, before: u64) -> (u64, usize) {
    let (mut number, mut at) = (before, start);
    while let Some(eight) = text.get(at..).and_then(<[u8]>::first_chunk) {
        let (count, value) = leading_digits(u64::from_le_bytes(*eight));
        number = number.wrapping_mul(TENS[count]).wrapping_add(value);
        at += count;
        if count < 8 {
            return (number, at);
        }
    }
    let (count, value) = leading_digits(fewer(text.get(at..).unwrap_or_default()));
    (number.wrapping_mul(TENS[count]).wrapping_add(value), at + count)
}

/// The bytes of a text that has fewer than eight, the first one lowest, and zeros: by two reads that may overlap.
#[inline]
fn fewer(text: &[u8]) -> u64 {
    match (text.first_chunk::<4>(), text.last_chunk::<4>(), text) {
        (Some(first), Some(last), _) => {
            let last = u64::from(u32::from_le_bytes(*last));
            u64::from(u32::from_le_bytes(*first)) | last << ((8 * (text.len() - 4)) & 63)
        }
        (_, _, &[one, .., last]) => {
            let middle = u64::from(text[text.len() / 2]);
            u64::from(one) | middle << (8 * (text.len() / 2)) | u64::from(last) << (8 * (text.len() - 1))
        }
        (_, _, &[only]) => u64::from(only),
        _ => 0,
    }
}

/// The finite number that a text is, as a whole: nothing around it is left out.
pub(crate) fn whole(text: &[u8]) -> Option<f64> {
    match prefix(text) {
        Some((value, length)) if length == text.len() => Some(value),
        _ if text.trim_ascii() != text => None,
        _ => finite(text),
    }
}

/// How many of eight bytes are digits before one is none, and the number they make. The
/// first byte is the lowest. All eight at once and without a branch: how many digits a
/// number has is what a processor guesses worst (22 instead of 30 ns a feature of svmlight).
#[inline]
fn leading_digits(eight: u64) -> (usize, u64) {
    const EACH: u64 = 0x0101_0101_0101_0101;
    let digits = eight ^ (EACH * 0x30);
    // The high bit of each byte that is above 9.
    let others = (((digits & (EACH * 0x7f)) + EACH * 0x76) | digits) & (EACH * 0x80);
    let count = (others.trailing_zeros() / 8) as usize;
    if count == 0 {
        return (0, 0);
    }
    // Zeros in front of the digits.
    (count, number_of(digits << (64 - 8 * count)))
}

/// The number that eight digits make, each in a byte, the first one lowest.
#[inline(always)]
fn number_of(digits: u64) -> u64 {
    // Pairs, then fours, then all eight, each in the upper part of its field.
    let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8);
    let odd = (pairs & 0x0000_00ff_0000_00ff).wrapping_mul(100 + (1_000_000 << 32));
    let even = ((pairs >> 16) & 0x0000_00ff_0000_00ff).wrapping_mul(1 + (10_000 << 32));
    odd.wrapping_add(even) >> 32
}

/// The exponent from `start` on, after the `e`; `None` if there is none, or a long one.
#[inline]
fn exponent(text: &[u8], start: usize) -> Option<(i64, usize)> {
    let (negative, first) = match text.get(start)? {
        b'-' => (true, start + 1),
        b'+' => (false, start + 1),
        _ => (false, start),
    };
    let (size, end) = digits_from(text, first, 0);
    let size = size as i64;
    (1..=4).contains(&(end - first)).then_some((if negative { -size } else { size }, end))
}

/// Everything else: long numbers, large exponents, missing values, and invalid text.
#[cold]
fn parse_rest(text: &[u8]) -> Number {
    let text = text.trim_ascii();
    let may_be_number = matches!(text.first(), Some(b'0'..=b'9' | b'+' | b'-' | b'.' | b'i' | b'I'));
    // The standard library reads this grammar, correctly rounded, and the words for NaN and infinity.
    match std::str::from_utf8(text).ok().filter(|_| may_be_number).and_then(|text| text.parse::<f64>().ok()) {
        Some(value) if value.is_finite() => Number::Finite(value),
        Some(value) if value.is_infinite() => Number::Infinite,
        _ if is_missing(text) => Number::Missing,
        _ => Number::Invalid,
    }
}

/// The finite number that a text is, with spaces and tabs around it ignored.
pub(crate) fn finite(text: &[u8]) -> Option<f64> {
    match parse(text) {
        Number::Finite(value) => Some(value),
        _ => None,
    }
}

/// Whether a text stands for a missing value.
pub(crate) fn is_missing(text: &[u8]) -> bool {
    const WORDS: [&[u8]; 4] = [b"na", b"n/a", b"nan", b"null"];
    text.is_empty() || WORDS.iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// The number that a text with a decimal comma means.
pub(crate) fn with_point(text: &[u8]) -> Option<f64> {
    let comma = text.iter().position(|&byte| byte == b',')?;
    let mut pointed = text.to_vec();
    pointed[comma] = b'.';
    finite(&pointed)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_no_number_is_refused() {
        for text in ["0x10", "1-2", "1_000", "--1", "1e", "1e+", ".", "-", "+", "1.2.3", "1 2", "١", "1f", "e5"] {
            assert_eq!(parse(text.as_bytes()), Number::Invalid, "{text}");
        }
    }

    #[test]
    fn missing_and_infinite_are_told_apart() {
        for text in ["", "  ", "NA", "n/a", "NaN", "nan", "null", "NULL", " na "] {
            assert_eq!(parse(text.as_bytes()), Number::Missing, "{text}");
        }
        for text in ["inf", "-Infinity", "+INF", "1e400", "-1e400"] {
            assert_eq!(parse(text.as_bytes()), Number::Infinite, "{text}");
        }
    }

    #[test]
    fn numbers_at_the_edges_are_those_of_the_standard_library() {
        for text in [
            "0",
            "-0",
            "1.",
            ".5",
            "+7",
            "9007199254740993",
            "9007199254740992",
            "0.1",
            "1e22",
            "1e23",
            "1e-400",
            "123456789012345678",
            "12345678901234567890",
            "123456789012345678901234567890",
            "0.00000000000000000001",
            "5e-324",
            "2.2250738585072011e-308",
            "1.7976931348623157e308",
            "00000000000000000001",
            "1E5",
            "1e+05",
            "8.000000000000000000000000001",
            "179.99999999999999999",
        ] {
            let Number::Finite(value) = parse(text.as_bytes()) else { panic!("{text}") };
            assert_eq!(value.to_bits(), text.parse::<f64>().unwrap().to_bits(), "{text}");
        }
    }

    /// Where the float below and the one above are as near as can be, or equally near.
    #[test]
    fn long_decimals_are_rounded_as_the_standard_library_does() {
        let mut random = onward::numeric::rng::SplitMix64::new(71);
        let mut compared = 0;
        while compared < 1_000_000 {
            let digits = 16 + random.below(4) as usize;
            let mut text = match random.below(3) {
                0 => random.bits().to_string(),
                // Seventeen digits of a float, or the middle between two, written out.
                1 => format!("{:.16e}", f64::from_bits(random.bits() >> 2)).replace(['.', 'e', '-'], ""),
                _ => ((1u64 << 53) + 2 * random.below(1 << 52) + 1).to_string(),
            };
            text.truncate(digits);
            let point = random.below(text.len() as u64 + 1) as usize;
            text.insert(point, '.');
            if random.below(4) == 0 {
                text.insert(0, '-');
            }
            let expected: f64 = text.parse().unwrap();
            assert_eq!(parse(text.as_bytes()), Number::Finite(expected), "{text}");
            compared += 1;
        }
    }

    proptest! {
        #[test]
        fn any_printed_number_is_read_back_exactly(bits: u64) {
            let value = f64::from_bits(bits);
            prop_assume!(value.is_finite());
            for text in [format!("{value}"), format!("{value:e}"), format!("{value:.3}"), format!("{value:.17}")] {
                let expected: f64 = text.parse().unwrap();
                prop_assert_eq!(parse(text.as_bytes()), Number::Finite(expected), "{}", text);
            }
        }

        #[test]
        fn decimals_are_those_of_the_standard_library(text in "[-+]?[0-9]{0,22}(\\.[0-9]{0,22})?([eE][-+]?[0-9]{1,3})?") {
            let expected = text.parse::<f64>().ok();
            let found = match parse(text.as_bytes()) {
                Number::Finite(value) => Some(value),
                Number::Infinite => Some(if text.starts_with('-') { f64::NEG_INFINITY } else { f64::INFINITY }),
                Number::Missing | Number::Invalid => None,
            };
            prop_assert_eq!(found.map(f64::to_bits), expected.map(f64::to_bits));
        }
    }
}
