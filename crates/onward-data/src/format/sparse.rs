//! What the two sparse text formats share: words between blanks, and values.

use crate::error::{DataError, MEND, Result, quoted};
use crate::text::numbers::{self, Number};

/// Whether a byte stands between words.
pub(crate) fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}

/// Where the next word begins, or the line ends.
pub(crate) fn skip_blanks(line: &[u8], mut at: usize) -> usize {
    while at < line.len() && is_blank(line[at]) {
        at += 1;
    }
    at
}

/// Where the word at `at` ends.
pub(crate) fn word_end(line: &[u8], mut at: usize) -> usize {
    while at < line.len() && !is_blank(line[at]) {
        at += 1;
    }
    at
}

/// A value as the weight of a feature is multiplied with it: an error when it overflows.
pub(crate) fn narrow(value: f64) -> Result<f32> {
    let narrow = value as f32;
    if narrow.is_finite() { Ok(narrow) } else { Err(not_finite(value)) }
}

#[cold]
fn not_finite(value: f64) -> DataError {
    match value.is_nan() {
        true => DataError::record("the value is NaN, which is not a number")
            .advise("features must be finite: leave a missing feature out of the row"),
        false => DataError::record(format!("the value {value:e} is beyond ±3.4e38, the range of 32-bit floats"))
            .advise("rescale the feature"),
    }
}

/// The value that begins at `start`, up to a byte that ends it, and where that is.
#[inline(always)]
pub(crate) fn value_at(text: &[u8], start: usize, ends: impl Fn(u8) -> bool) -> Result<(f64, usize)> {
    if let Some((value, length)) = numbers::prefix(&text[start..])
        && text.get(start + length).is_none_or(|&byte| ends(byte))
    {
        return Ok((value, start + length));
    }
    let end = text[start..].iter().position(|&byte| ends(byte)).map_or(text.len(), |length| start + length);
    value(&text[start..end]).map(|value| (value, end))
}

/// The value of a feature that is not one of the short decimals, or what is wrong with it.
#[cold]
fn value(text: &[u8]) -> Result<f64> {
    let number = match text.trim_ascii() == text {
        true => numbers::parse(text),
        false => Number::Invalid,
    };
    let (found, remedy) = match number {
        Number::Finite(value) => return Ok(value),
        Number::Infinite => (
            format!("the value {} is infinite, or beyond the range of 64-bit floats", quoted(text)),
            "features must be finite: rescale this one, or leave it out of the row",
        ),
        Number::Missing if text.is_empty() => ("there is no value after the colon".to_owned(), MEND),
        Number::Missing => (format!("the value is {}", quoted(text)), "leave a missing feature out of the row"),
        Number::Invalid => (format!("expected a number, found {}", quoted(text)), MEND),
    };
    Err(DataError::record(found).advise(remedy))
}
