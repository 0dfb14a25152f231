//! CSV and TSV as RFC 4180 has them, read leniently: cells may be quoted, quotes
//! in them doubled, line ends inside quotes are text, `\n` and `\r\n` both end
//! records, blank lines count for nothing. A quote that does not begin a cell is
//! text. Every record has as many cells as the header.

use std::collections::HashMap;
use std::ops::Range;

use memchr::memchr;

use crate::chunk::{closing_quote, opening_quote};
use crate::encode::{Cell, RowEncoder};
use crate::error::{DataError, DataErrorKind, quoted};
use crate::format::Format;
use crate::lines::{LineNumber, count_lines, invalid_utf8, not_utf8};
use crate::number::{self, Number};
use crate::open::too_long;
use crate::parsed::Parsed;
use crate::piece::{Content, Parser, Piece};
use crate::plain_lines::PlainLines;
use crate::plain_records::PlainRecords;
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
            return Err(never_closed());
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

#[cold]
fn never_closed() -> DataError {
    DataError::record("a quote is opened and never closed").remedy("close it, or double it if it is part of the text")
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

/// All cells of the first record of `bytes`, as names of columns: one without a name is called by
/// its number, as in what pandas writes.
pub(crate) fn header(bytes: &[u8], delimiter: u8) -> Result<Vec<String>, DataError> {
    if let Some(at) = invalid_utf8(bytes, 0) {
        return Err(not_utf8(&bytes[..(at + 4).min(bytes.len())]));
    }
    let mut reader = CellReader::default();
    let mut names = Vec::new();
    let mut at = 0;
    loop {
        let found = reader.read(bytes, at, delimiter)?;
        names.push(match found.cell.trim_ascii() {
            b"" => unnamed(names.len()),
            name => String::from_utf8_lossy(name).into_owned(),
        });
        at = found.next;
        if found.is_last {
            return Ok(names);
        }
    }
}

/// What a column without a name is called.
pub(crate) fn unnamed(at: usize) -> String {
    format!("column {}", at + 1)
}

/// Refuses a header that names a column twice, or that is data by all its looks: empty cells
/// and numbers.
pub(crate) fn check_header(names: &[String]) -> Result<(), DataError> {
    let wrong = |found: String| {
        DataError::new(DataErrorKind::Format, found).remedy("rename a column, or say --no-header if this line is data")
    };
    let is_unnamed = |(at, name): (usize, &String)| *name == unnamed(at);
    let is_number = |name: &String| matches!(number::parse(name.as_bytes()), Number::Finite(_));
    let first = names.iter().enumerate().position(is_unnamed);
    if let Some(at) = first
        && names.iter().enumerate().all(|(at, name)| is_unnamed((at, name)) || is_number(name))
    {
        return Err(wrong(format!("column {} has no name, and no other has one but numbers", at + 1)));
    }
    let mut places = HashMap::with_capacity(names.len());
    for (at, name) in names.iter().enumerate() {
        if let Some(before) = places.insert(name, at) {
            let name = quoted(name.as_bytes());
            return Err(wrong(format!("columns {} and {} are both named {name}", before + 1, at + 1)));
        }
    }
    Ok(())
}

/// What separates cells, by the first line: in a CSV that may be another mark than a comma.
pub(crate) fn separator(format: Format, head: &[u8]) -> u8 {
    if format == Format::Tsv {
        return b'\t';
    }
    let mut is_quoted = false;
    let line = without_blank_lines(head).iter().take_while(|&&byte| byte != b'\n');
    let unquoted = line.filter(|&&byte| {
        is_quoted ^= byte == b'"';
        !is_quoted
    });
    let unquoted: Vec<u8> = unquoted.copied().collect();
    let marks = [b',', b';', b'|', b'\t'];
    marks.into_iter().find(|mark| unquoted.contains(mark)).unwrap_or(b',')
}

/// The cells of a record.
#[derive(Default)]
struct Record {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Record {
    /// Reads the record at `start`; returns where the next begins.
    fn read(
        &mut self,
        reader: &mut CellReader,
        bytes: &[u8],
        start: usize,
        delimiter: u8,
        columns: usize,
    ) -> Result<usize, DataError> {
        self.bytes.clear();
        self.ends.clear();
        let mut at = start;
        loop {
            let found = reader.read(bytes, at, delimiter)?;
            self.bytes.extend_from_slice(found.cell);
            self.ends.push(self.bytes.len());
            at = found.next;
            if found.is_last != (self.ends.len() == columns) {
                return Err(ragged(&bytes[start..], columns, delimiter));
            }
            if found.is_last {
                return Ok(at);
            }
        }
    }

    fn cells(&self) -> impl Iterator<Item = &[u8]> {
        self.ends.iter().scan(0, |start, &end| Some(&self.bytes[std::mem::replace(start, end)..end]))
    }
}

/// What was found in the first records.
#[derive(Default)]
pub(crate) struct Looked {
    pub(crate) rows: usize,
    /// What is wrong with the first record that cannot be read, with its line.
    pub(crate) fault: Option<DataError>,
}

/// Calls `cell` with the cells of some of the columns of each record that can be read and is not too long, `limit` at
/// the most.
pub(crate) fn sample(
    text: &Text<'_>,
    columns: usize,
    some: Range<usize>,
    limit: usize,
    mut cell: impl FnMut(usize, &[u8]),
) -> Looked {
    let Text { bytes, delimiter, .. } = *text;
    let (mut reader, mut record) = (CellReader::default(), Record::default());
    let mut lines = PlainLines::default();
    let mut looked = Looked::default();
    let read = |looked: &mut Looked, at: usize| {
        if looked.rows == limit {
            return Ok(bytes.len());
        }
        lines.go_to(bytes, at, delimiter, columns);
        let next = match lines.current().map(|number| lines.line(number)) {
            Some(line) => {
                for column in some.clone() {
                    let (start, end) = lines.cell(line, column);
                    cell(column, &bytes[start..end]);
                }
                line.end as usize + 1
            }
            None => {
                let next = record.read(&mut reader, bytes, at, delimiter, columns)?;
                let cells = record.cells().enumerate().skip(some.start).take(some.len());
                cells.for_each(|(column, found)| cell(column, found));
                next
            }
        };
        looked.rows += 1;
        Ok(next)
    };
    let refuse = |looked: &mut Looked, error| {
        looked.fault.get_or_insert(error);
        Ok(())
    };
    // Nothing that is refused stops it.
    let _ = each_record(text, &mut looked, read, refuse);
    looked
}

/// Whole records.
pub(crate) struct Text<'a> {
    pub(crate) bytes: &'a [u8],
    /// The number of the first line.
    pub(crate) first_line: u64,
    pub(crate) delimiter: u8,
    pub(crate) record_limit: usize,
}

/// If the first record of `bytes` is longer than is allowed, where reading goes on: after it,
/// or if it has a quote that stays open beyond the limit, after the line of that quote.
fn end_if_too_long(bytes: &[u8], delimiter: u8, limit: usize) -> Option<usize> {
    // Most often all that there is is shorter, and this costs nothing.
    let look = bytes.get(..=limit)?;
    let Extent { end, open_quote } = extent(look, delimiter);
    if open_quote.is_none() && end <= limit {
        return None;
    }
    match look[end - 1] {
        b'\n' => Some(end),
        _ => Some(memchr(b'\n', &bytes[end..]).map_or(bytes.len(), |at| end + at + 1)),
    }
}

/// Calls `read` with where each record begins; it returns where the next one does. An error
/// gets its line and goes to `refuse`; if that has none, the records after the bad one follow.
fn each_record<T>(
    text: &Text<'_>,
    out: &mut T,
    mut read: impl FnMut(&mut T, usize) -> Result<usize, DataError>,
    mut refuse: impl FnMut(&mut T, DataError) -> Result<(), DataError>,
) -> Result<(), DataError> {
    let Text { bytes, first_line, delimiter, record_limit } = *text;
    let mut invalid = invalid_utf8(bytes, 0);
    let mut number = LineNumber::new(first_line);
    let mut at = 0;
    while at < bytes.len() {
        if let Some(next) = blank_line(bytes, at) {
            at = next;
            continue;
        }
        if let Some(end) = end_if_too_long(&bytes[at..], delimiter, record_limit) {
            refuse(out, too_long(record_limit).line(number.at(bytes, at)))?;
            at += end;
            if invalid.is_some_and(|bad| bad < at) {
                invalid = invalid_utf8(bytes, at);
            }
            continue;
        }
        let result = match invalid {
            Some(bad) if bad < at + extent(&bytes[at..], delimiter).end => {
                Err(not_utf8(&bytes[at..at + extent(&bytes[at..], delimiter).end]))
            }
            _ => read(out, at),
        };
        at = match result {
            Ok(next) => next,
            Err(error) => {
                let Extent { end, open_quote } = extent(&bytes[at..], delimiter);
                let error = match open_quote {
                    Some(quote) => never_closed().line(number.at(bytes, at + quote)),
                    None => error.line(number.at(bytes, at)),
                };
                refuse(out, error)?;
                let next = at + end;
                if invalid.is_some_and(|bad| bad < next) {
                    invalid = invalid_utf8(bytes, next);
                }
                next
            }
        };
    }
    Ok(())
}

/// How far a record goes.
pub(crate) struct Extent {
    /// Where the next one begins. After a quote that is never closed that is the next line: a
    /// record is bad then, and not all that follow it.
    pub(crate) end: usize,
    /// Where a cell begins with a quote that is never closed.
    open_quote: Option<usize>,
}

/// How far the first record of `bytes` goes.
pub(crate) fn extent(bytes: &[u8], delimiter: u8) -> Extent {
    let mut start = 0;
    loop {
        let line = memchr(b'\n', &bytes[start..]).map_or(bytes.len(), |at| start + at);
        let end = (line + 1).min(bytes.len());
        let Some(quote) = opening_quote(bytes, start, line, delimiter) else {
            return Extent { end, open_quote: None };
        };
        match closing_quote(bytes, quote + 1) {
            Some(close) => start = close + 1,
            None => return Extent { end, open_quote: Some(quote) },
        }
    }
}

/// What follows the blank lines at the head of an input.
pub(crate) fn without_blank_lines(mut bytes: &[u8]) -> &[u8] {
    while let Some(end) = memchr(b'\n', bytes)
        && is_blank(&bytes[..end])
    {
        bytes = &bytes[end + 1..];
    }
    bytes
}

/// Whether a line holds nothing. A tab separates empty cells.
pub(crate) fn is_blank(line: &[u8]) -> bool {
    line.iter().all(|byte| matches!(byte, b' ' | b'\r' | b'\n'))
}

/// Parses pieces of CSV or TSV.
pub(crate) struct CsvParser {
    delimiter: u8,
    encoder: RowEncoder,
    reader: CellReader,
    plain: PlainRecords,
}

impl CsvParser {
    pub(crate) fn new(delimiter: u8, encoder: RowEncoder) -> Self {
        Self { delimiter, encoder, reader: CellReader::default(), plain: PlainRecords::default() }
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
        if let Some(number) = self.plain.next(&mut self.encoder, bytes, start, self.delimiter) {
            return self.plain.encode(number, &mut self.encoder, schema, bytes, out);
        }
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
    let record = &bytes[..extent(bytes, delimiter).end];
    let found = header(record, delimiter).map_or(0, |cells| cells.len());
    let lines = count_lines(record.strip_suffix(b"\n").unwrap_or(record)) + 1;
    let goes_on = if lines > 1 { format!(", going on for {lines} lines,") } else { String::new() };
    let error = DataError::record(format!("the record{goes_on} has {found} cells where the header has {expected}"));
    error.remedy(match lines {
        1 => "quote cells that hold the delimiter, or leave such records out with --on-error skip",
        _ => {
            "is a quote left open? Quote cells that hold the delimiter, or leave such records out with --on-error skip"
        }
    })
}

impl Parser for CsvParser {
    fn parse(&mut self, piece: &Piece, out: &mut Parsed) -> Result<(), DataError> {
        let &Content::Text { ref bytes, first_line, record_limit } = &piece.content else {
            return Ok(());
        };
        out.bytes += bytes.len() as u64;
        out.set_id_columns(self.encoder.id_columns());
        let schema = self.encoder.schema();
        let (delimiter, skips_errors) = (self.delimiter, self.encoder.skips_errors());
        self.plain.begin(&self.encoder, &piece.binding);
        let read = |out: &mut Parsed, at| self.record(&schema, &piece.binding.columns, bytes, at, out);
        let refuse = |out: &mut Parsed, error: DataError| {
            let error = error.input(&piece.input);
            if !skips_errors {
                out.abandon();
                return Err(error);
            }
            out.skip(error);
            Ok(())
        };
        each_record(&Text { bytes, first_line, delimiter, record_limit }, out, read, refuse)
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
