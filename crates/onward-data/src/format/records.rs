//! The records of a chunk of text, one after the other, with the positions of errors.

use crate::encode::ParsedBatch;
use crate::error::{DataError, Result};
use crate::source::{Boundaries, Chunk, ChunkContent, RecordExtent, too_long};
use crate::text::lines::{LineNumber, invalid_utf8, line_end, not_utf8};

/// Whole records.
pub(super) struct RecordText<'a> {
    pub(super) bytes: &'a [u8],
    /// The number of the first line.
    pub(super) first_line: u64,
    pub(super) boundaries: Boundaries,
    pub(super) record_limit: usize,
}

/// If the first record of `bytes` is longer than is allowed, where reading goes on: after it,
/// or if it has a quote that stays open beyond the limit, after the line of that quote.
fn end_if_too_long(bytes: &[u8], boundaries: Boundaries, limit: usize) -> Option<usize> {
    // Most often all that there is is shorter, and this costs nothing.
    let look = bytes.get(..=limit)?;
    let RecordExtent { end, open_quote } = boundaries.extent(look);
    if open_quote.is_none() && end <= limit {
        return None;
    }
    Some(if look[end - 1] == b'\n' { end } else { (line_end(bytes, end) + 1).min(bytes.len()) })
}

/// Calls `read` with where each record begins; it returns where the next one does. An error
/// gets its line and goes to `refuse`; if that has none, the records after the bad one follow.
pub(super) fn each_record<T>(
    text: &RecordText<'_>,
    out: &mut T,
    mut read: impl FnMut(&mut T, usize) -> Result<usize>,
    mut refuse: impl FnMut(&mut T, DataError) -> Result,
) -> Result {
    let RecordText { bytes, first_line, boundaries, record_limit } = *text;
    let mut invalid = invalid_utf8(bytes, 0);
    let mut number = LineNumber { counted: 0, line: first_line };
    let mut at = 0;
    while at < bytes.len() {
        if let Some(next) = blank_line(bytes, at) {
            at = next;
            continue;
        }
        let whole = || &bytes[at..at + boundaries.extent(&bytes[at..]).end];
        let (error, next) = match end_if_too_long(&bytes[at..], boundaries, record_limit) {
            Some(end) => (too_long(record_limit).line(number.at(bytes, at)), at + end),
            None => {
                let result = match invalid {
                    Some(bad) if bad < at + whole().len() => Err(not_utf8(whole())),
                    _ => read(out, at),
                };
                match result {
                    Ok(next) => {
                        at = next;
                        continue;
                    }
                    Err(error) => located(error, text, at, &mut number),
                }
            }
        };
        refuse(out, error)?;
        if invalid.is_some_and(|bad| bad < next) {
            invalid = invalid_utf8(bytes, next);
        }
        at = next;
    }
    Ok(())
}

/// What is wrong with the record at `at`, with its line, and where the next begins.
#[cold]
fn located(error: DataError, text: &RecordText<'_>, at: usize, number: &mut LineNumber) -> (DataError, usize) {
    let RecordExtent { end, open_quote } = text.boundaries.extent(&text.bytes[at..]);
    let error = match open_quote {
        Some(quote) => never_closed().line(number.at(text.bytes, at + quote)),
        None => error.line(number.at(text.bytes, at)),
    };
    (error, at + end)
}

pub(super) fn never_closed() -> DataError {
    DataError::record("a quote is opened and never closed").advise("close it, or double it if it is part of the text")
}

/// Where the next line begins, if the line at `at` is blank.
#[inline]
fn blank_line(bytes: &[u8], at: usize) -> Option<usize> {
    match bytes[at] {
        b'\n' => Some(at + 1),
        b'\r' if bytes.get(at + 1).is_none_or(|&byte| byte == b'\n') => Some(at + 2),
        _ => None,
    }
}

/// Reads lines, one after the other.
pub(super) trait LineParser {
    /// Where the line ends that begins at `start`: at its line end, or with the text. It is asked of each line.
    fn end(&mut self, text: &[u8], start: usize) -> usize {
        line_end(text, start)
    }

    /// Reads the line whose end was asked for last.
    fn parse_line(&mut self, line: &[u8], out: &mut ParsedBatch) -> Result;
}

/// A function from a line.
impl<F: FnMut(&[u8], &mut ParsedBatch) -> Result> LineParser for F {
    fn parse_line(&mut self, line: &[u8], out: &mut ParsedBatch) -> Result {
        self(line, out)
    }
}

/// Has each line read that is not blank. An error ends the chunk, or is counted when errors are skipped.
pub(super) fn each_line(chunk: &Chunk, skips: bool, out: &mut ParsedBatch, parser: &mut impl LineParser) -> Result {
    let &ChunkContent::Text { ref bytes, first_line, record_limit } = &chunk.content else { return Ok(()) };
    out.bytes += bytes.len() as u64;
    let read = |out: &mut ParsedBatch, at: usize| {
        let end = parser.end(bytes, at);
        let line = bytes[at..end].strip_suffix(b"\r").unwrap_or(&bytes[at..end]);
        if !line.trim_ascii().is_empty() {
            parser.parse_line(line, out)?;
        }
        Ok(end + 1)
    };
    let refuse = |out: &mut ParsedBatch, error: DataError| out.refuse(error.input(&chunk.input), skips);
    each_record(&RecordText { bytes, first_line, boundaries: Boundaries::Lines, record_limit }, out, read, refuse)
}
