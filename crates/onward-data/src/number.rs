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

/// Below this the digits are exact in f64.
const EXACT_DIGITS: u64 = 1 << 53;

/// Reads a text as a number; spaces and tabs around it do not count.
#[inline]
pub(crate) fn parse(text: &[u8]) -> Number {
    match decimal(text) {
        Some(value) => Number::Finite(value),
        None => parse_rest(text),
    }
}

/// The common case: a plain decimal that is exact with one multiplication or division.
#[inline]
fn decimal(text: &[u8]) -> Option<f64> {
    let (negative, digits) = match text.first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    // 19 digits always fit a u64.
    if digits.len() > 20 {
        return None;
    }
    let mut mantissa = 0u64;
    let mut at = 0;
    while at < digits.len() && digits[at].is_ascii_digit() {
        mantissa = mantissa.wrapping_mul(10).wrapping_add(u64::from(digits[at] - b'0'));
        at += 1;
    }
    let mut count = at;
    let mut scale = 0;
    if at < digits.len() && digits[at] == b'.' {
        at += 1;
        let start = at;
        while at < digits.len() && digits[at].is_ascii_digit() {
            mantissa = mantissa.wrapping_mul(10).wrapping_add(u64::from(digits[at] - b'0'));
            at += 1;
        }
        scale = at - start;
        count += scale;
    }
    if at < digits.len() || count == 0 || count > 19 || mantissa > EXACT_DIGITS {
        return None;
    }
    // Clinger's fast path: both operands are exact, so the quotient is rounded once.
    let value = mantissa as f64 / EXACT_POWERS[scale];
    Some(if negative { -value } else { value })
}

/// Everything else: exponents, long numbers, missing values, and what is no number.
#[cold]
fn parse_rest(text: &[u8]) -> Number {
    let text = text.trim_ascii();
    if is_missing(text) {
        return Number::Missing;
    }
    if !is_decimal(text) {
        return if is_infinite(text) { Number::Infinite } else { Number::Invalid };
    }
    // What the grammar lets through is ASCII and std parses all of it, correctly rounded.
    match std::str::from_utf8(text).ok().and_then(|text| text.parse::<f64>().ok()) {
        Some(value) if value.is_finite() => Number::Finite(value),
        Some(_) => Number::Infinite,
        None => Number::Invalid,
    }
}

/// Whether a text stands for a missing value.
pub(crate) fn is_missing(text: &[u8]) -> bool {
    const WORDS: [&[u8]; 4] = [b"na", b"n/a", b"nan", b"null"];
    text.is_empty() || WORDS.iter().any(|word| text.eq_ignore_ascii_case(word))
}

fn is_infinite(text: &[u8]) -> bool {
    let unsigned = text.strip_prefix(b"-").or_else(|| text.strip_prefix(b"+")).unwrap_or(text);
    unsigned.eq_ignore_ascii_case(b"inf") || unsigned.eq_ignore_ascii_case(b"infinity")
}

/// Whether a text follows the grammar.
fn is_decimal(text: &[u8]) -> bool {
    let unsigned = text.strip_prefix(b"-").or_else(|| text.strip_prefix(b"+")).unwrap_or(text);
    let (integer, rest) = digits(unsigned);
    let (fraction, rest) = match rest.strip_prefix(b".") {
        Some(rest) => digits(rest),
        None => (0, rest),
    };
    integer + fraction > 0 && (rest.is_empty() || is_exponent(rest))
}

fn is_exponent(text: &[u8]) -> bool {
    let Some((b'e' | b'E', rest)) = text.split_first() else {
        return false;
    };
    let rest = rest.strip_prefix(b"-").or_else(|| rest.strip_prefix(b"+")).unwrap_or(rest);
    let (count, rest) = digits(rest);
    count > 0 && rest.is_empty()
}

/// How many digits a text begins with, and what follows.
fn digits(text: &[u8]) -> (usize, &[u8]) {
    let count = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    (count, &text[count..])
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
