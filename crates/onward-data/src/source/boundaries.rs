//! Where records end.

use memchr::{memchr, memrchr};

use crate::error::DataError;

/// How records end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Boundaries {
    /// At every line end.
    Lines,
    /// At line ends outside quotes.
    Quoted {
        /// What separates cells.
        delimiter: u8,
    },
}

impl Boundaries {
    /// The end of the last whole record in bytes that begin with one; 0 if there is none.
    pub(crate) fn last(self, bytes: &[u8]) -> usize {
        match self {
            Self::Lines => memrchr(b'\n', bytes).map_or(0, |at| at + 1),
            Self::Quoted { delimiter } => last_unquoted(bytes, delimiter),
        }
    }

    /// The end of the first whole record; `None` if it is not all there.
    pub(crate) fn first(self, bytes: &[u8]) -> Option<usize> {
        let RecordExtent { end, open_quote } = self.extent(bytes);
        (open_quote.is_none() && bytes[..end].ends_with(b"\n")).then_some(end)
    }

    /// How far the first record goes.
    pub(crate) fn extent(self, bytes: &[u8]) -> RecordExtent {
        let mut start = 0;
        loop {
            let line = memchr(b'\n', &bytes[start..]).map_or(bytes.len(), |at| start + at);
            let end = (line + 1).min(bytes.len());
            let open_quote = match self {
                Self::Lines => None,
                Self::Quoted { delimiter } => opening_quote(bytes, start, line, delimiter),
            };
            match open_quote.map(|quote| closing_quote(bytes, quote + 1)) {
                Some(Some(close)) => start = close + 1,
                None | Some(None) => return RecordExtent { end, open_quote },
            }
        }
    }

    /// Whether a record is more than a blank line or a comment.
    pub(crate) fn counts(self, record: &[u8]) -> bool {
        match self {
            Self::Lines => !matches!(record.trim_ascii().first(), None | Some(b'#')),
            Self::Quoted { .. } => !is_blank(record),
        }
    }
}

/// Whether a line of a table holds nothing. A tab separates empty cells.
pub(crate) fn is_blank(line: &[u8]) -> bool {
    line.iter().all(|byte| matches!(byte, b' ' | b'\r' | b'\n'))
}

/// The quote that ends a quoted cell whose text begins at `from`.
pub(crate) fn closing_quote(bytes: &[u8], mut from: usize) -> Option<usize> {
    loop {
        let quote = from + memchr(b'"', &bytes[from..])?;
        if bytes.get(quote + 1) != Some(&b'"') {
            return Some(quote);
        }
        from = quote + 2;
    }
}

fn last_unquoted(bytes: &[u8], delimiter: u8) -> usize {
    let mut last = 0;
    let mut start = 0;
    loop {
        let quote = opening_quote(bytes, start, bytes.len(), delimiter);
        let end = quote.unwrap_or(bytes.len());
        last = memrchr(b'\n', &bytes[start..end]).map_or(last, |at| start + at + 1);
        match quote.and_then(|quote| closing_quote(bytes, quote + 1)) {
            Some(close) => start = close + 1,
            None => return last,
        }
    }
}

/// The first quote from `start` to `end` that opens a quoted cell: one where a cell begins.
fn opening_quote(bytes: &[u8], mut start: usize, end: usize, delimiter: u8) -> Option<usize> {
    loop {
        let quote = start + memchr(b'"', &bytes[start..end])?;
        if quote == 0 || bytes[quote - 1] == b'\n' || bytes[quote - 1] == delimiter {
            return Some(quote);
        }
        start = quote + 1;
    }
}

/// How far a record goes.
pub(crate) struct RecordExtent {
    /// Where the next one begins. After a quote that is never closed that is the next line: a
    /// record is bad then, and not all that follow it.
    pub(crate) end: usize,
    /// Where a cell begins with a quote that is never closed.
    pub(crate) open_quote: Option<usize>,
}

/// A record that is longer than is allowed.
pub(crate) fn too_long(limit: usize) -> DataError {
    DataError::format(format!("the record that begins here is longer than {limit} bytes")).advise(
        "close a quote that is left open, name another format with ⟦format⟧, or allow longer records with \
                 ⟦record_limit⟧",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const CSV: Boundaries = Boundaries::Quoted { delimiter: b',' };

    #[test]
    fn line_ends_in_quotes_do_not_end_records() {
        let text = b"a,\"b\nc\"\nd,e\n\"f\n";
        assert_eq!(CSV.first(text), Some(8));
        assert_eq!(CSV.last(text), 12);
    }

    #[test]
    fn quotes_in_the_middle_of_a_cell_are_text() {
        let text = b"5\" pipe,6\" pipe\nx,y\n";
        assert_eq!(CSV.first(text), Some(16));
        assert_eq!(CSV.last(text), 20);
    }

    #[test]
    fn doubled_quotes_stay_inside() {
        let text = b"\"a\"\"\n\"\"b\",1\nc";
        assert_eq!(CSV.first(text), Some(12));
        assert_eq!(CSV.last(text), 12);
    }

    #[test]
    fn an_open_quote_leaves_the_record_unfinished() {
        assert_eq!(CSV.first(b"\"a\nb\n"), None);
        assert_eq!(CSV.last(b"x\n\"a\nb\n"), 2);
    }
}
