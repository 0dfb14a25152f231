//! Cuts an input into chunks at record boundaries.

use std::io;
use std::mem;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use memchr::memchr;

use super::boundaries::{Boundaries, too_long};
use super::chunk::ChunkContent;
use super::input::Input;
use super::live::InputStream;
use super::read_buffer::ReadBuffer;
use crate::error::{DataError, Result};
use crate::schema::sample::SAMPLE_ROWS;
use crate::text::lines::count_lines;

/// How much is read at a time.
const READ: usize = 256 << 10;

/// How many records of a live input are waited for before its columns are judged, however
/// long it takes: a header and a row.
const HEAD_RECORDS: u64 = 2;

/// How long a live input may take to deliver the rows that its columns are judged from.
/// What `cat` sends is judged as the file would be; a stream of one event per minute is not
/// held up until there are ten thousand.
const PATIENCE: Duration = Duration::from_secs(2);

/// An input that is being cut into chunks.
pub(crate) struct Chunker {
    input: Input,
    pub(crate) name: Arc<str>,
    stream: InputStream,
    /// What was read and not yet cut off.
    pub(crate) buffer: ReadBuffer,
    /// Whether nothing is left to be read.
    pub(crate) ended: bool,
    /// Why it ended, if reading failed: what was read until then still counts.
    pub(crate) failed: Option<DataError>,
    /// The number of the line where the buffer begins.
    pub(crate) line: u64,
    /// Of each column of the input its place in the schema, once that is known.
    pub(crate) places: Arc<[Option<usize>]>,
}

/// What is known before the head is read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HeadLimits {
    pub(crate) record_limit: usize,
    /// Whether the columns are judged from the head.
    pub(crate) infers: bool,
    /// Records that are too long do not count.
    pub(crate) skips_errors: bool,
}

impl Chunker {
    pub(crate) fn open(input: Input, count: Arc<AtomicU64>) -> Result<Self> {
        let stream = input.open(count)?;
        let mut chunker = Self {
            name: Arc::from(input.name()),
            input,
            stream,
            buffer: ReadBuffer::default(),
            ended: false,
            failed: None,
            line: 1,
            places: Arc::default(),
        };
        chunker.fill(3, false);
        if chunker.buffer.starts_with(b"\xef\xbb\xbf") {
            drop(chunker.buffer.take_front(3, Vec::new()));
        }
        Ok(chunker)
    }

    /// Whether it is a pipe, where a short read means that no more is there yet.
    pub(crate) fn is_live(&self) -> bool {
        self.stream.is_live()
    }

    /// Reads until `size` bytes are there, the input ends, or (if `eager`) the
    /// input is live and has given what it had.
    pub(crate) fn fill(&mut self, size: usize, eager: bool) {
        while !self.ended && self.buffer.len() < size {
            let result = self.buffer.read(&mut self.stream, size.min(self.buffer.len() + READ));
            match result {
                Ok(0) => self.ended = true,
                Ok(_) if eager && self.stream.is_live() && self.buffer.len() < size => return,
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.failed = Some(self.input.failed(&error));
                    self.ended = true;
                }
            }
        }
    }

    /// Reads what the columns are judged from: `size` bytes, or two records if they are longer
    /// (up to the limit of records); of a live input only what comes within [`PATIENCE`], and
    /// two records at least. `detect` tells how records end, once the first line is there.
    pub(crate) fn fill_head(&mut self, size: usize, limits: HeadLimits, detect: impl Fn(&[u8]) -> Option<Boundaries>) {
        let HeadLimits { record_limit, infers, skips_errors } = limits;
        let until = Instant::now() + if infers { PATIENCE } else { Duration::ZERO };
        let enough = if infers { SAMPLE_ROWS as u64 } else { 1 };
        // How much has been looked at, where the first record begins that has not been counted, and how many have.
        let (mut seen, mut at, mut records) = (0, 0, 0);
        let mut known = None;
        // Blank lines and comments do not count, nor do records that are too long where those are skipped.
        let mut count = |head: &[u8]| {
            // A long line that comes in many parts is not looked at again for each.
            let has_ended = memchr(b'\n', &head[mem::replace(&mut seen, head.len())..]).is_some();
            if !has_ended {
                return records;
            }
            let Some(boundaries) = known.or_else(|| detect(head)) else { return records };
            known = Some(boundaries);
            while let Some(end) = boundaries.first(&head[at..]) {
                let is_skipped = skips_errors && end > record_limit;
                records += u64::from(boundaries.counts(&head[at..at + end]) && !is_skipped);
                at += end;
            }
            records
        };
        let mut found = 0;
        while !self.ended && self.buffer.len() < size && found <= enough {
            if self.is_live() && found >= HEAD_RECORDS.min(enough) && !self.stream.wait(until) {
                break;
            }
            self.fill(size, true);
            found = count(&self.buffer);
        }
        while !self.ended && found < HEAD_RECORDS && (size..=record_limit).contains(&self.buffer.len()) {
            self.fill(self.buffer.len() + size, true);
            found = count(&self.buffer);
        }
    }

    pub(crate) fn is_blank(&self) -> bool {
        self.buffer.iter().all(u8::is_ascii_whitespace)
    }

    /// Where the first record ends, after reading what that takes; `None` at the end of the input.
    pub(crate) fn first_record(&mut self, boundaries: Boundaries, limit: usize) -> Result<Option<usize>> {
        let mut size = 4096;
        loop {
            match boundaries.first(&self.buffer) {
                Some(end) if end > limit => return Err(self.too_long(limit)),
                Some(end) => return Ok(Some(end)),
                None => {}
            }
            if let Some(error) = &self.failed {
                return Err(error.clone());
            }
            if self.ended {
                return Ok((!self.buffer.is_empty()).then_some(self.buffer.len()));
            }
            if self.buffer.len() > limit {
                return Err(self.too_long(limit));
            }
            if self.buffer.len() >= size {
                size *= 2;
            }
            self.fill(size, true);
        }
    }

    /// Whether the first record is there, or the input has ended. A pipe is waited for, but no longer than this.
    pub(crate) fn wait_for_record(&mut self, boundaries: Boundaries, patience: Duration) -> bool {
        let until = Instant::now() + patience;
        while !self.ended && boundaries.first(&self.buffer).is_none() {
            if !self.stream.wait(until) {
                return false;
            }
            self.fill(self.buffer.len() + READ, true);
        }
        true
    }

    pub(crate) fn too_long(&self, limit: usize) -> DataError {
        too_long(limit).input(&self.name).line(self.line)
    }

    /// Where the whole records in about `size` bytes end, more if a record is longer; 0 at the end of the input, and
    /// `None` if the record is longer than is allowed.
    pub(crate) fn next_records(
        &mut self,
        boundaries: Boundaries,
        mut size: usize,
        limit: usize,
    ) -> Result<Option<usize>> {
        if self.is_live() {
            // Its writer may wait for an answer before it writes more.
            let arrived = boundaries.last(&self.buffer[..self.buffer.len().min(size)]);
            if arrived > 0 {
                return Ok(Some(arrived));
            }
        }
        loop {
            self.fill(size, true);
            if self.ended && self.buffer.len() <= size {
                // If reading failed, the last record is not all there.
                return match (&self.failed, boundaries.last(&self.buffer)) {
                    (None, _) => Ok(Some(self.buffer.len())),
                    (Some(error), 0) => Err(error.clone()),
                    (Some(_), end) => Ok(Some(end)),
                };
            }
            let window = &self.buffer[..self.buffer.len().min(size)];
            match boundaries.last(window) {
                0 if window.len() > limit => return Ok(None),
                // The record is longer than the window, or has arrived only in part.
                0 if window.len() == size => size = (size * 2).min(limit.saturating_add(1)).max(size),
                0 => {}
                end => return Ok(Some(end)),
            }
        }
    }

    /// Passes over a record that is too long, without keeping it: to the end of the line, or
    /// to that of the line where it opens a quote.
    pub(crate) fn discard(&mut self, boundaries: Boundaries, limit: usize) -> ChunkContent {
        let error = self.too_long(limit);
        let mut bytes = 0;
        // No more than has been looked at, however much has been read.
        let looked_at = self.buffer.len().min(limit.saturating_add(1));
        let mut end = boundaries.extent(&self.buffer[..looked_at]).end;
        if end == 0 || self.buffer[end - 1] != b'\n' {
            end = self.line_end(end);
        }
        while end == 0 && !self.buffer.is_empty() {
            bytes += self.buffer.len() as u64;
            self.buffer.clear();
            self.fill(READ, true);
            end = self.line_end(0);
        }
        bytes += end as u64;
        drop(self.take_front(end, Vec::new()));
        ChunkContent::Skipped { error, bytes }
    }

    /// The end of the first line that ends after `start`; 0 if none does.
    fn line_end(&self, start: usize) -> usize {
        memchr(b'\n', &self.buffer[start..]).map_or(0, |at| start + at + 1)
    }

    /// Cuts off the first `end` bytes into the memory of `spare`.
    pub(crate) fn take_front(&mut self, end: usize, spare: Vec<u8>) -> Vec<u8> {
        let first = self.buffer.take_front(end, spare);
        self.line += count_lines(&first);
        first
    }
}
