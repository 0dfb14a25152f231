//! Lines that are looked at together, some kilobytes at a time.
//!
//! Fast paths find the delimiters of many lines at once ([`DelimiterIndex`]), work on all their numbers and names
//! together, and keep what they found of each line until its turn comes.

use super::delimiters::{DelimiterIndex, IndexedLine};
use super::lines::line_end;

/// Lines of a text with their delimiters, and what is known of each.
pub(crate) struct Window<R> {
    pub(crate) index: DelimiterIndex,
    pub(crate) rows: Vec<R>,
    /// The line whose turn it is.
    current: usize,
}

impl<R> Default for Window<R> {
    fn default() -> Self {
        Self { index: DelimiterIndex::default(), rows: Vec::new(), current: 0 }
    }
}

impl<R> Window<R> {
    /// Forgets the lines: a new text is read.
    pub(crate) fn begin(&mut self) {
        self.rows.clear();
        self.current = 0;
    }

    /// Goes on to the line that begins at `start`. If it is none of those in the window, finds the delimiters of the lines
    /// from there on and gives where these end: then the rows must be [filled in](Self::fill).
    #[inline]
    pub(crate) fn go_to<const N: usize>(&mut self, text: &[u8], start: usize, delimiters: [u8; N]) -> Option<usize> {
        // Records that were read by others may have been of several lines.
        let lines = self.index.lines.get(..self.rows.len()).unwrap_or_default();
        while lines.get(self.current).is_some_and(|line| (line.start as usize) < start) {
            self.current += 1;
        }
        if lines.get(self.current).is_some_and(|line| line.start as usize == start) {
            return None;
        }
        self.begin();
        Some(self.index.find(text, start, delimiters))
    }

    /// Fills in what is known of each line.
    pub(crate) fn fill(&mut self, mut row: impl FnMut(&DelimiterIndex, IndexedLine) -> R) {
        let Self { index, rows, .. } = self;
        rows.extend(index.lines.iter().map(|&line| row(index, line)));
    }

    /// The current line, and what is known of it.
    #[inline]
    pub(crate) fn current(&self) -> Option<(IndexedLine, &R)> {
        Some((*self.index.lines.get(self.current)?, self.rows.get(self.current)?))
    }

    /// Where the line ends that begins at `start`, which the window went to.
    #[inline]
    pub(crate) fn end(&self, text: &[u8], start: usize) -> usize {
        self.current().map_or_else(|| line_end(text, start), |(line, _)| line.end as usize)
    }
}
