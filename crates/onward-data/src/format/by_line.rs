//! Formats with a record per line: the lines of a chunk, with positions of errors.

use crate::encode::ParsedBatch;
use crate::error::DataError;
use crate::source::{Chunk, ChunkContent, too_long};
use crate::text::lines::{LineNumber, invalid_utf8, line_end, not_utf8};

/// Reads lines, one after the other.
pub(super) trait LineParser {
    /// Where the line ends that begins at `start`: at its line end, or with the text. It is asked of each line.
    fn end(&mut self, text: &[u8], start: usize) -> usize {
        line_end(text, start)
    }

    /// Reads the line whose end was asked for last.
    fn parse_line(&mut self, line: &[u8], out: &mut ParsedBatch) -> Result<(), DataError>;
}

/// A function from a line.
impl<F: FnMut(&[u8], &mut ParsedBatch) -> Result<(), DataError>> LineParser for F {
    fn parse_line(&mut self, line: &[u8], out: &mut ParsedBatch) -> Result<(), DataError> {
        self(line, out)
    }
}

/// Has each line read that is not blank. An error gets its position;
/// it ends the chunk, or is counted when errors are skipped.
pub(super) fn each_line(
    chunk: &Chunk,
    skip_errors: bool,
    out: &mut ParsedBatch,
    parser: &mut impl LineParser,
) -> Result<(), DataError> {
    let ChunkContent::Text { bytes, first_line, record_limit } = &chunk.content else {
        return Ok(());
    };
    out.bytes += bytes.len() as u64;
    let mut number = LineNumber::new(*first_line);
    let mut start = 0;
    let mut invalid = invalid_utf8(bytes, 0);
    while start < bytes.len() {
        let end = parser.end(bytes, start);
        let line = bytes[start..end].strip_suffix(b"\r").unwrap_or(&bytes[start..end]);
        let is_invalid = invalid.is_some_and(|at| at < end);
        if is_invalid {
            invalid = invalid_utf8(bytes, end);
        }
        let result = if end - start >= *record_limit && bytes.len() - start > *record_limit {
            // With its line end.
            Err(too_long(*record_limit))
        } else if is_invalid {
            Err(not_utf8(line))
        } else if line.trim_ascii().is_empty() {
            Ok(())
        } else {
            parser.parse_line(line, out)
        };
        if let Err(error) = result {
            out.refuse(error.input(&chunk.input).line(number.at(bytes, start)), skip_errors)?;
        }
        start = end + 1;
    }
    Ok(())
}
