//! The records and cells of delimited text, read one by one.

use memchr::memchr;

use crate::error::{DataError, Result};
use crate::format::detect::is_number;
use crate::format::records::never_closed;
use crate::schema::names::{named_twice, shown};
use crate::source::{Boundaries, closing_quote, is_blank};
use crate::text::lines::{count_lines, invalid_utf8, not_utf8};

/// A cell, where it ends, and whether it is the last of its record.
struct CellSpan<'a> {
    cell: &'a [u8],
    /// Where the next cell or record begins.
    next: usize,
    is_last: bool,
}

/// Reads cells out of bytes: unquoted ones in place, quoted ones through a buffer.
pub(super) struct CellReader {
    delimiter: u8,
    buffer: Vec<u8>,
}

impl CellReader {
    pub(super) fn new(delimiter: u8) -> Self {
        Self { delimiter, buffer: Vec::new() }
    }

    /// Calls `cell` with the number and the text of each cell of the record at `start`, which must have as many as there are
    /// columns. Gives where the next record begins.
    pub(super) fn each_cell(
        &mut self,
        bytes: &[u8],
        start: usize,
        columns: usize,
        mut cell: impl FnMut(usize, &[u8]) -> Result,
    ) -> Result<usize> {
        let (mut at, mut number) = (start, 0);
        loop {
            let found = self.read(bytes, at)?;
            cell(number, found.cell)?;
            (at, number) = (found.next, number + 1);
            match (found.is_last, number == columns) {
                (true, true) => return Ok(at),
                (false, false) => {}
                _ => return Err(ragged(&bytes[start..], columns, self.delimiter)),
            }
        }
    }

    /// The cell that begins at `start`. At the end of the bytes the cell is empty and the last.
    #[inline]
    fn read<'a>(&'a mut self, bytes: &'a [u8], start: usize) -> Result<CellSpan<'a>> {
        match bytes.get(start) {
            Some(&b'"') => self.quoted(bytes, start),
            _ => Ok(plain(bytes, start, self.delimiter)),
        }
    }

    #[cold]
    fn quoted<'a>(&'a mut self, bytes: &'a [u8], start: usize) -> Result<CellSpan<'a>> {
        let close = closing_quote(bytes, start + 1).ok_or_else(never_closed)?;
        let tail = plain(bytes, close + 1, self.delimiter);
        self.buffer.clear();
        let mut from = start + 1;
        while let Some(at) = memchr(b'"', &bytes[from..close]) {
            self.buffer.extend_from_slice(&bytes[from..=from + at]);
            from += at + 2;
        }
        self.buffer.extend_from_slice(bytes.get(from..close).unwrap_or(&[]));
        self.buffer.extend_from_slice(tail.cell);
        Ok(CellSpan { cell: &self.buffer, ..tail })
    }
}

/// The unquoted cell (or rest of a cell) that begins at `start`.
#[inline]
fn plain(bytes: &[u8], start: usize, delimiter: u8) -> CellSpan<'_> {
    let mut end = start;
    while end < bytes.len() && bytes[end] != delimiter && bytes[end] != b'\n' {
        end += 1;
    }
    let is_last = end >= bytes.len() || bytes[end] == b'\n';
    let cell = bytes.get(start..end).unwrap_or(&[]);
    let cell = if is_last { cell.strip_suffix(b"\r").unwrap_or(cell) } else { cell };
    CellSpan { cell, next: end + 1, is_last }
}

/// All cells of the first record of `bytes`, as names of columns: one without a name is called by
/// its number, as in what pandas writes.
pub(crate) fn header(bytes: &[u8], delimiter: u8) -> Result<Vec<String>> {
    if let Some(at) = invalid_utf8(bytes, 0) {
        return Err(not_utf8(&bytes[..(at + 4).min(bytes.len())]));
    }
    let mut names = Vec::new();
    each_cell(bytes, delimiter, |cell| {
        names.push(match cell.trim_ascii() {
            b"" => unnamed(names.len()),
            name => String::from_utf8_lossy(name).into_owned(),
        });
    })?;
    Ok(names)
}

/// Calls `cell` with the text of each cell of the first record of `bytes`, however many there are.
pub(crate) fn each_cell(bytes: &[u8], delimiter: u8, mut cell: impl FnMut(&[u8])) -> Result {
    let mut reader = CellReader::new(delimiter);
    let mut at = 0;
    loop {
        let found = reader.read(bytes, at)?;
        cell(found.cell);
        at = found.next;
        if found.is_last {
            return Ok(());
        }
    }
}

/// The names of columns without a header.
pub(crate) fn numbered(columns: usize) -> Vec<String> {
    (1..=columns).map(|number| number.to_string()).collect()
}

/// What a column without a name is called.
pub(crate) fn unnamed(at: usize) -> String {
    format!("column {}", at + 1)
}

/// Refuses a header that names a column twice, or that is data by all its looks: empty cells
/// and numbers.
pub(crate) fn check_header(names: &[String]) -> Result {
    let wrong =
        |found: String| DataError::format(found).advise("rename a column, or use ⟦header=no⟧ if this line is data");
    let is_unnamed = |(at, name): (usize, &String)| *name == unnamed(at);
    let first = names.iter().enumerate().position(is_unnamed);
    if let Some(at) = first
        && names.iter().enumerate().all(|(at, name)| is_unnamed((at, name)) || is_number(name.as_bytes()))
    {
        return Err(wrong(format!("column {} has no name, and the other names are only numbers", at + 1)));
    }
    named_twice(names.iter().map(String::as_str)).map_or(Ok(()), |found| Err(wrong(found)))
}

/// Refuses a first line of numbers only: it is data.
pub(super) fn refuse_numbers(names: &[String]) -> Result {
    if !names.iter().all(|name| is_number(name.as_bytes())) {
        return Ok(());
    }
    Err(DataError::format(format!("the first line should name the columns, found only numbers: {}", shown(names)))
        .advise("use ⟦header=no⟧ if it is data; its columns are then named 1, 2, …"))
}

/// Whether a text is no more than a line of column names, from which no columns can be judged.
pub(crate) fn is_bare(text: &[u8], delimiter: u8) -> bool {
    let text = without_blank_lines(text);
    let end = Boundaries::Quoted { delimiter }.first(text).unwrap_or(text.len());
    let (line, rest) = text.split_at(end);
    // One word may be anything, and lines may end as they did on old Macs.
    rest.iter().all(u8::is_ascii_whitespace)
        && !line.trim_ascii().contains(&b'\r')
        && header(line, delimiter).is_ok_and(|names| names.len() > 1 && refuse_numbers(&names).is_ok())
}

/// What separates cells, by the first line: most often a comma.
pub(crate) fn guess_delimiter(head: &[u8]) -> u8 {
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

/// What follows the blank lines at the head of an input.
pub(crate) fn without_blank_lines(mut bytes: &[u8]) -> &[u8] {
    while let Some(end) = memchr(b'\n', bytes)
        && is_blank(&bytes[..end])
    {
        bytes = &bytes[end + 1..];
    }
    bytes
}

fn ragged(bytes: &[u8], expected: usize, delimiter: u8) -> DataError {
    let record = &bytes[..Boundaries::Quoted { delimiter }.extent(bytes).end];
    let found = header(record, delimiter).map_or(0, |cells| cells.len());
    let lines = count_lines(record.strip_suffix(b"\n").unwrap_or(record)) + 1;
    let goes_on = if lines > 1 { format!(", going on for {lines} lines,") } else { String::new() };
    let error = DataError::record(format!("the record{goes_on} has {found} cells where the header has {expected}"));
    error.advise(match lines {
        1 => "quote cells that hold the delimiter, or skip such records with ⟦on_error=skip⟧",
        _ => {
            "close a quote that is left open, quote cells that hold the delimiter, or skip such records with \
              ⟦on_error=skip⟧"
        }
    })
}
