//! Lines, their numbers, and whether they are UTF-8.

use memchr::memchr;

use crate::error::{DataError, quoted};

/// Where the line ends that begins at `start`: at its line end, or with the text.
pub(crate) fn line_end(text: &[u8], start: usize) -> usize {
    memchr(b'\n', &text[start..]).map_or(text.len(), |at| start + at)
}

/// All lines, blank ones as empty, without the blanks around them.
pub(crate) fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let ends = memchr::memchr_iter(b'\n', bytes).chain(std::iter::once(bytes.len()));
    ends.scan(0, |start, end| Some(&bytes[std::mem::replace(start, end + 1)..end])).map(<[u8]>::trim_ascii)
}

/// The number of a line, counted on from the one asked for before: a chunk full of
/// bad records is not counted from its start for each of them.
pub(crate) struct LineNumber {
    pub(crate) counted: usize,
    pub(crate) line: u64,
}

impl LineNumber {
    /// The number of the line that begins at `start`, not before the one asked for last.
    pub(crate) fn at(&mut self, bytes: &[u8], start: usize) -> u64 {
        self.line += count_lines(&bytes[self.counted..start]);
        self.counted = start;
        self.line
    }
}

/// How many line ends there are.
pub(crate) fn count_lines(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}

/// Where, from `start` on, the text stops to be UTF-8.
pub(crate) fn invalid_utf8(bytes: &[u8], start: usize) -> Option<usize> {
    let rest = &bytes[start..];
    if rest.is_ascii() {
        return None;
    }
    std::str::from_utf8(rest).err().map(|error| start + error.valid_up_to())
}

/// A record that is not UTF-8.
pub(crate) fn not_utf8(record: &[u8]) -> DataError {
    let record = record.strip_suffix(b"\n").unwrap_or(record);
    let record = record.strip_suffix(b"\r").unwrap_or(record);
    let at = invalid_utf8(record, 0).unwrap_or(0);
    let shown = record[at..].iter().take(4).map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ");
    let before = &record[at.saturating_sub(12)..at];
    DataError::record(format!("is not UTF-8: bytes {shown} after {}", quoted(before)))
        .advise("convert the file to UTF-8, for instance with iconv, or skip such records with ⟦on_error=skip⟧")
}
