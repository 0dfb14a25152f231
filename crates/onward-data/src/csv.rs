//! CSV and TSV as RFC 4180 has them, read leniently: cells may be quoted, quotes
//! in them doubled, line ends inside quotes are text, `\n` and `\r\n` both end
//! records, blank lines count for nothing. A quote that does not begin a cell is
//! text. Every record has as many cells as the header.

use memchr::memchr;

use crate::chunk::{Boundaries, closing_quote};
use crate::encode::{Cell, RowEncoder};
use crate::error::{DataError, DataErrorKind};
use crate::lines::{LineNumber, invalid_utf8, not_utf8};
use crate::parsed::Parsed;
use crate::piece::{Content, Parser, Piece};
use crate::schema::Schema;

/// A cell, where it ends, and whether it is the last of its record.
struct Found<'a> {
    cell: &'a [u8],
    /// Where the next cell or record begins.
    next: usize,
    is_last: bool,
}

/// Reads cells out of bytes; unquoted ones in place, quoted ones with doubled
/// quotes through a buffer.
#[derive(Default)]
struct CellReader {
    buffer: Vec<u8>,
}

impl CellReader {
    /// The cell that begins at `start`. At the end of the bytes the cell is empty and the last.
    #[inline]
    fn read<'a>(&'a mut self, bytes: &'a [u8], start: usize, delimiter: u8) -> Result<Found<'a>, DataError> {
        if bytes.get(start) == Some(&b'"') {
            return self.quoted(bytes, start, delimiter);
        }
        Ok(plain(bytes, start, delimiter))
    }

    #[cold]
    fn quoted<'a>(&'a mut self, bytes: &'a [u8], start: usize, delimiter: u8) -> Result<Found<'a>, DataError> {
        let Some(close) = closing_quote(bytes, start + 1) else {
            return Err(DataError::record("a quote is opened and never closed")
                .remedy("close it, or double it if it is part of the text"));
        };
        let tail = plain(bytes, close + 1, delimiter);
        self.buffer.clear();
        let mut from = start + 1;
        while let Some(at) = memchr(b'"', &bytes[from..close]) {
            self.buffer.extend_from_slice(&bytes[from..=from + at]);
            from += at + 2;
        }
        self.buffer.extend_from_slice(bytes.get(from..close).unwrap_or(&[]));
        self.buffer.extend_from_slice(tail.cell);
        Ok(Found { cell: &self.buffer, next: tail.next, is_last: tail.is_last })
    }
}

/// The unquoted cell (or rest of a cell) that begins at `start`.
#[inline]
fn plain(bytes: &[u8], start: usize, delimiter: u8) -> Found<'_> {
    let mut end = start;
    while end < bytes.len() && bytes[end] != delimiter && bytes[end] != b'\n' {
        end += 1;
    }
    let is_last = end >= bytes.len() || bytes[end] == b'\n';
    let cell = bytes.get(start..end).unwrap_or(&[]);
    let cell = if is_last { cell.strip_suffix(b"\r").unwrap_or(cell) } else { cell };
    Found { cell, next: end + 1, is_last }
}

/// All cells of the first record of `bytes`, as text.
pub(crate) fn header(bytes: &[u8], delimiter: u8) -> Result<Vec<String>, DataError> {
    if let Some(at) = invalid_utf8(bytes, 0) {
        return Err(not_utf8(&bytes[..(at + 4).min(bytes.len())]));
    }
    let mut reader = CellReader::default();
    let mut names = Vec::new();
    let mut at = 0;
    loop {
        let found = reader.read(bytes, at, delimiter)?;
        names.push(String::from_utf8_lossy(found.cell.trim_ascii()).into_owned());
        at = found.next;
        if found.is_last {
            return Ok(names);
        }
    }
}

/// Refuses a header that names a column twice or not at all.
pub(crate) fn check_header(names: &[String]) -> Result<(), DataError> {
    let wrong = |found: String| {
        DataError::new(DataErrorKind::Format, found)
            .line(1)
            .remedy("rename a column, or say --no-header if this line is data")
    };
    for (at, name) in names.iter().enumerate() {
        if name.is_empty() && names.len() > 1 {
            return Err(wrong(format!("column {} has no name", at + 1)));
        }
        if let Some(before) = names[..at].iter().position(|other| other == name) {
            return Err(wrong(format!("columns {} and {} are both named '{name}'", before + 1, at + 1)));
        }
    }
    Ok(())
}

/// Calls `cell` with the cells of each whole record at the head of an input, at most
/// `limit` records; stops where a record is malformed (the parser reports it).
pub(crate) fn sample(
    bytes: &[u8],
    delimiter: u8,
    columns: usize,
    limit: usize,
    mut cell: impl FnMut(usize, &[u8]),
) -> usize {
    let mut reader = CellReader::default();
    let mut at = 0;
    let mut rows = 0;
    while at < bytes.len() && rows < limit {
        if let Some(next) = blank_line(bytes, at) {
            at = next;
            continue;
        }
        for column in 0..columns {
            let Ok(found) = reader.read(bytes, at, delimiter) else { return rows };
            cell(column, found.cell);
            at = found.next;
            if found.is_last != (column + 1 == columns) {
                return rows;
            }
        }
        rows += 1;
    }
    rows
}

/// What follows the blank lines at the head of an input.
pub(crate) fn without_blank_lines(mut bytes: &[u8]) -> &[u8] {
    while let Some(rest) = bytes.strip_prefix(b"\n").or_else(|| bytes.strip_prefix(b"\r\n")) {
        bytes = rest;
    }
    bytes
}

pub(crate) fn is_blank(record: &[u8]) -> bool {
    matches!(record, b"\n" | b"\r\n" | b"\r" | b"")
}

/// Parses pieces of CSV or TSV.
pub(crate) struct CsvParser {
    delimiter: u8,
    encoder: RowEncoder,
    reader: CellReader,
}

impl CsvParser {
    pub(crate) fn new(delimiter: u8, encoder: RowEncoder) -> Self {
        Self { delimiter, encoder, reader: CellReader::default() }
    }

    /// Parses the record at `start` and returns where the next begins.
    fn record(
        &mut self,
        schema: &Schema,
        columns: &[Option<usize>],
        bytes: &[u8],
        start: usize,
        out: &mut Parsed,
    ) -> Result<usize, DataError> {
        self.encoder.begin(out);
        let mut at = start;
        for (number, column) in columns.iter().enumerate() {
            let found = self.reader.read(bytes, at, self.delimiter)?;
            if let Some(column) = *column {
                self.encoder.cell(schema, column, Cell::Text(found.cell), out)?;
            }
            at = found.next;
            if found.is_last != (number + 1 == columns.len()) {
                let first_line = &bytes[start..];
                return Err(ragged(first_line, columns.len(), self.delimiter));
            }
        }
        self.encoder.end(schema, out)?;
        Ok(at)
    }
}

#[cold]
fn ragged(bytes: &[u8], expected: usize, delimiter: u8) -> DataError {
    let end = (Boundaries::Quoted { delimiter }).first(bytes).unwrap_or(bytes.len());
    let found = header(&bytes[..end], delimiter).map_or(0, |cells| cells.len());
    DataError::record(format!("the record has {found} cells where the header has {expected}"))
        .remedy("quote cells that hold the delimiter, or leave such records out with --on-error skip")
}

impl Parser for CsvParser {
    fn parse(&mut self, piece: &Piece, out: &mut Parsed) -> Result<(), DataError> {
        #[cfg_attr(not(feature = "arrow"), allow(irrefutable_let_patterns))]
        let Content::Text { bytes, first_line } = &piece.content else {
            return Ok(());
        };
        out.bytes += bytes.len() as u64;
        out.set_id_columns(self.encoder.id_columns());
        let schema = self.encoder.schema();
        let mut invalid = invalid_utf8(bytes, 0);
        let mut number = LineNumber::new(*first_line);
        let mut at = 0;
        while at < bytes.len() {
            if let Some(next) = blank_line(bytes, at) {
                at = next;
                continue;
            }
            let result = match self.record(&schema, &piece.binding.columns, bytes, at, out) {
                Ok(next) if invalid.is_some_and(|invalid| invalid < next) => {
                    out.undo();
                    Err(not_utf8(&bytes[at..next.min(bytes.len())]))
                }
                other => other,
            };
            at = match result {
                Ok(next) => next,
                Err(error) => {
                    let error = error.input(&piece.input).line(number.at(bytes, at));
                    if !self.encoder.skips_errors() {
                        out.abandon();
                        return Err(error);
                    }
                    out.skip(error);
                    let boundaries = Boundaries::Quoted { delimiter: self.delimiter };
                    let next = boundaries.first(&bytes[at..]).map_or(bytes.len(), |end| at + end);
                    if invalid.is_some_and(|invalid| invalid < next) {
                        invalid = invalid_utf8(bytes, next);
                    }
                    next
                }
            };
        }
        Ok(())
    }
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
