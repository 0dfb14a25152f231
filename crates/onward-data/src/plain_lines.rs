//! The lines of a CSV that are records without quotes: where their cells end is found 64 bytes at a time
//! ([`marks`](crate::marks)), some lines together.

use memchr::memchr;

use crate::marks::{Line, Marks};

/// Lines that were looked at together.
#[derive(Default)]
pub(crate) struct PlainLines {
    marks: Marks,
    /// Whether each is plain: no quote begins a cell, and there are as many cells as columns.
    are_plain: Vec<bool>,
    current: usize,
}

impl PlainLines {
    /// A new text is read.
    pub(crate) fn begin(&mut self) {
        self.are_plain.clear();
        self.current = 0;
    }

    /// Goes on to the record that begins at `start`, and looks at the next lines if it is none of those that were looked at:
    /// then `true`.
    pub(crate) fn go_to(&mut self, text: &[u8], start: usize, delimiter: u8, columns: usize) -> bool {
        // Records that were read by others may have been of several lines.
        let lines = self.marks.lines().get(..self.are_plain.len()).unwrap_or_default();
        while lines.get(self.current).is_some_and(|line| (line.start as usize) < start) {
            self.current += 1;
        }
        if lines.get(self.current).is_some_and(|line| line.start as usize == start) {
            return false;
        }
        let end = self.marks.find_by(text, start, [delimiter]);
        let has_quotes = memchr(b'"', &text[start..end]).is_some();
        self.current = 0;
        self.are_plain.clear();
        for &line in self.marks.lines() {
            let places = self.marks.of(line);
            let begins_quoted = |start: u32| text.get(start as usize) == Some(&b'"');
            let is_quoted =
                has_quotes && (begins_quoted(line.start) || places.iter().any(|&place| begins_quoted(place + 1)));
            self.are_plain.push(places.len() == columns && line.has_room(text) && !is_quoted);
        }
        true
    }

    /// The number of the current line, among those that were looked at, if it is a plain record.
    pub(crate) fn current(&self) -> Option<usize> {
        self.are_plain.get(self.current).filter(|&&is_plain| is_plain).map(|_| self.current)
    }

    /// All lines that were looked at, and whether they are plain.
    pub(crate) fn lines(&self) -> impl ExactSizeIterator<Item = (Line, bool)> {
        self.marks.lines().iter().copied().zip(self.are_plain.iter().copied())
    }

    /// Where the cells of a line end.
    #[inline]
    pub(crate) fn places(&self, line: Line) -> &[u32] {
        self.marks.of(line)
    }

    /// Where the cell of this number of a line begins and ends.
    #[inline]
    pub(crate) fn cell(&self, line: Line, at: usize) -> (usize, usize) {
        let places = self.places(line);
        let start = if at == 0 { line.start } else { places[at - 1] + 1 };
        (start as usize, places[at] as usize)
    }

    /// The line of this number.
    #[inline]
    pub(crate) fn line(&self, number: usize) -> Line {
        self.marks.lines()[number]
    }
}
