//! The text inputs of a run, read as one sequence of chunks.

use std::mem;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use memchr::memrchr;

use super::columns::{ColumnRequirements, LaterNotes, bind_columns, check_columns};
use super::text::first_lines;
use super::{Purpose, Request};
use crate::error::{DataError, Result, quoted};
use crate::format::csv::cells::{check_header, guess_delimiter, header, numbered, without_blank_lines};
use crate::format::{FirstLines, Head, Recognition, TextFormat, has_first_line};
use crate::options::{OnError, Options};
use crate::schema::sample::{FirstRows, SAMPLE_BYTES};
use crate::schema::{Layout, Role, Schema};
use crate::source::decompress::is_compressed;
use crate::source::{Boundaries, Chunk, ChunkContent, ChunkSource, Chunker, HeadLimits, Input, is_blank};

/// What is expected of the inputs after the first.
pub(super) struct Expected {
    format: Arc<dyn TextFormat>,
    /// The columns, in tables.
    columns: Option<(Arc<Schema>, ColumnRequirements)>,
}

/// How much of a later input is looked at to see that it is in the format of the first.
const HEAD: usize = 64 << 10;
/// How much of it is looked at for its columns, where each record names them.
const HEAD_OF_KEYS: usize = 256 << 10;

impl Expected {
    pub(super) fn new(format: Arc<dyn TextFormat>, options: &Options, schema: &Arc<Schema>, purpose: Purpose) -> Self {
        let is_table = schema.layout == Layout::Table;
        let columns = is_table.then(|| (Arc::clone(schema), ColumnRequirements::new(options, purpose)));
        Self { format, columns }
    }

    /// Refuses an input that is recognised as one of another format than the first was.
    fn check_format(&self, name: &str, head: &[u8], options: &Options) -> Result {
        if options.format.is_some() {
            return Ok(());
        }
        let expected = self.format.name();
        let found = match options.formats.recognise(head, options.header) {
            Some(found) if found.name() == expected => return Ok(()),
            Some(found) => {
                // What nothing else is taken for: the lines or the header say more.
                let head = Head::new(head, options.header);
                let is_any = |found: &Arc<dyn TextFormat>| found.recognise(&head) == Recognition::IfNoOther;
                if found.text().is_some_and(is_any) && self.format.admits(&head) {
                    return Ok(());
                }
                found.name()
            }
            None if is_compressed(head) => "compressed twice",
            None => "binary data",
        };
        Err(DataError::format(format!("is {found}, but the first input is {expected}"))
            .input(name)
            .advise("all inputs must have one format: convert it first, or leave it out"))
    }

    /// The schema, if each record names its columns, and need not have any.
    fn columns_in_records(&self) -> Option<&(Arc<Schema>, ColumnRequirements)> {
        self.columns.as_ref().filter(|_| !self.format.has_header())
    }

    /// The notes about an input whose records name their columns.
    fn check_records(&self, head: &[u8], is_all: bool, options: &Options) -> Result<Vec<String>> {
        let Some((schema, requirements)) = self.columns_in_records() else { return Ok(Vec::new()) };
        let boundaries = self.format.boundaries(head);
        let whole = if is_all { head.len() } else { boundaries.last(head) };
        let ignored = schema.names_of(&Role::Ignored);
        let first = FirstLines { threads: 1, ..first_lines(&head[..whole], is_all, boundaries, options, &ignored) };
        // What is wrong with rows is said when they are read.
        let Ok(FirstRows::Table(sample)) = self.format.sample(&first) else { return Ok(Vec::new()) };
        if sample.rows == 0 {
            return Ok(Vec::new());
        }
        let target = &schema.target.column;
        let lenient = ColumnRequirements { requires_target: false, ..*requirements };
        let mut notes = check_columns(schema, &sample.names, &lenient)?;
        if requirements.requires_target && !sample.names.contains(target) {
            notes.push(format!("none of the first {} rows has '{target}'", sample.rows));
        }
        Ok(notes)
    }
}

/// The head of the first input that is not blank: whole lines.
pub(super) struct FirstBytes {
    pub(super) bytes: Vec<u8>,
    pub(super) name: Arc<str>,
    /// The number of the first line.
    pub(super) line: u64,
    /// Whether there is no more of the input.
    pub(super) is_all: bool,
    /// Why no more could be read.
    pub(super) failure: Option<DataError>,
}

/// The text inputs of a run as one sequence of chunks.
pub(super) struct TextSource {
    inputs: std::vec::IntoIter<Input>,
    options: Options,
    boundaries: Boundaries,
    expected: Option<Expected>,
    count: Arc<AtomicU64>,
    current: Option<Chunker>,
}

impl TextSource {
    pub(super) fn new(Request { inputs, options, count, .. }: Request<'_>) -> Self {
        Self {
            inputs: Vec::from(inputs).into_iter(),
            options: options.clone(),
            boundaries: Boundaries::Lines,
            expected: None,
            count: Arc::clone(count),
            current: None,
        }
    }

    /// Reads the head of the first input that is not blank, or of the last. It stays to be read.
    pub(super) fn head(&mut self) -> Result<FirstBytes> {
        let limits = HeadLimits {
            record_limit: self.options.record_limit,
            infers: self.options.schema.is_none(),
            skips_errors: self.options.on_error == OnError::Skip,
        };
        while self.current.is_some() || self.advance()? {
            let Some(current) = &mut self.current else { break };
            // How records end, once the first line is there to tell.
            current.fill_head(SAMPLE_BYTES, limits, |head| {
                let format = has_first_line(head).then(|| self.options.recognise(head)).flatten()?;
                Some(format.text().map_or(Boundaries::Lines, |format| format.boundaries(head)))
            });
            if !current.is_blank() || current.failed.is_some() {
                break;
            }
            if current.ended {
                self.current = None;
            } else {
                drop(current.take_front(current.buffer.len(), Vec::new()));
            }
        }
        let Some(current) = &self.current else {
            return Ok(FirstBytes { bytes: Vec::new(), name: Arc::from(""), line: 1, is_all: true, failure: None });
        };
        let failure = current.failed.clone();
        let (bytes, is_all) = (&current.buffer, current.ended && failure.is_none());
        let end = if is_all { None } else { memrchr(b'\n', bytes) };
        let bytes = bytes[..end.map_or(bytes.len(), |at| at + 1)].to_vec();
        Ok(FirstBytes { bytes, name: Arc::clone(&current.name), line: current.line, is_all, failure })
    }

    /// Leaves out the input that is being read; false if it is the last, which stays.
    pub(super) fn pass(&mut self) -> bool {
        let is_last = self.inputs.as_slice().is_empty();
        if !is_last {
            self.current = None;
        }
        !is_last
    }

    /// Sets what could not be known before the head was seen.
    pub(super) fn set_layout(&mut self, boundaries: Boundaries, expected: Expected) -> Result {
        self.boundaries = boundaries;
        self.expected = Some(expected);
        if let Some(mut current) = self.current.take() {
            self.bind(&mut current)?;
            self.current = Some(current);
        }
        Ok(())
    }

    /// Looks at the heads of the later files, so that their errors come before the first file
    /// is read, which may take an hour. Returns the notes about them.
    pub(super) fn check_ahead(&self) -> Result<LaterNotes> {
        let mut later = LaterNotes::default();
        for input in self.inputs.as_slice().iter().filter(|input| input.is_repeatable()) {
            let (mut current, notes) = self.begin(input.clone(), Arc::default())?;
            later.add(&current.name, notes);
            if let Some(expected) = self.expected.as_ref().filter(|expected| expected.columns_in_records().is_some()) {
                current.fill(HEAD_OF_KEYS, false);
                let notes = expected.check_records(&current.buffer, current.ended, &self.options);
                later.add(&current.name, notes.map_err(|error| error.input(&current.name))?);
            }
        }
        Ok(later)
    }

    /// Opens the next input; false when there is none.
    fn advance(&mut self) -> Result<bool> {
        let next = self.inputs.next().map(|input| self.begin(input, Arc::clone(&self.count))).transpose()?;
        self.current = next.map(|(current, _)| current);
        Ok(self.current.is_some())
    }

    /// Opens an input, up to its first row, and returns the notes about it.
    fn begin(&self, input: Input, count: Arc<AtomicU64>) -> Result<(Chunker, Vec<String>)> {
        let mut current = Chunker::open(input, count)?;
        if !current.is_live() {
            current.fill(HEAD, false);
        }
        let shows = has_first_line(&current.buffer) || current.ended || current.buffer.len() >= HEAD;
        if let Some(expected) = self.expected.as_ref().filter(|_| shows && !current.is_blank()) {
            expected.check_format(&current.name, &current.buffer, &self.options)?;
        }
        let notes = self.bind(&mut current)?;
        Ok((current, notes))
    }

    /// Reads the column names of an input, if it begins with them, and returns the notes about them.
    fn bind(&self, current: &mut Chunker) -> Result<Vec<String>> {
        let columns = self.expected.as_ref().and_then(|expected| expected.columns.as_ref());
        let (Some((schema, requirements)), Boundaries::Quoted { delimiter }) = (columns, self.boundaries) else {
            return Ok(Vec::new());
        };
        let Some(end) = self.first_record(current)? else { return Ok(Vec::new()) };
        let (name, line) = (Arc::clone(&current.name), current.line);
        let located = |error: DataError| error.input(&name).line(line);
        let record = &current.buffer[..end];
        let mut names = header(record, delimiter).map_err(located)?;
        let found = guess_delimiter(record);
        let splits = || header(record, found).is_ok_and(|cells| cells.len() > 1);
        if found != delimiter && names.len() == 1 && schema.columns.len() > 1 && splits() {
            let (found, expected) = (quoted(&[found]), quoted(&[delimiter]));
            let found = format!("its header is separated by {found}, but that of the first input by {expected}");
            let remedy = "convert it first, or leave it out";
            return Err(located(DataError::format(found).advise(remedy)));
        }
        if self.options.header {
            check_header(&names).map_err(located)?;
            drop(current.take_front(end, Vec::new()));
        } else {
            names = numbered(names.len());
        }
        let notes = bind_columns(schema, &names, requirements).map_err(|error| error.input(&name))?;
        current.places = schema.places_of(names.iter().map(String::as_str)).into();
        Ok(notes)
    }

    /// Goes on to the first record that is not blank, and tells where it ends.
    fn first_record(&self, current: &mut Chunker) -> Result<Option<usize>> {
        loop {
            // All at once, because the rest is moved.
            let rest = without_blank_lines(&current.buffer).len();
            drop(current.take_front(current.buffer.len() - rest, Vec::new()));
            match current.first_record(self.boundaries, self.options.record_limit)? {
                Some(end) if is_blank(&current.buffer[..end]) => drop(current.take_front(end, Vec::new())),
                found => return Ok(found),
            }
        }
    }
}

impl ChunkSource for TextSource {
    fn next(&mut self, mut buffer: Vec<u8>) -> Result<Option<Chunk>> {
        let limit = self.options.record_limit;
        loop {
            let Some(current) = &mut self.current else {
                if !self.advance()? {
                    return Ok(None);
                }
                continue;
            };
            let first_line = current.line;
            current.buffer.reuse(&mut buffer);
            let content = match current.next_records(self.boundaries, self.options.chunk_size.max(1), limit)? {
                Some(0) => {
                    self.current = None;
                    continue;
                }
                Some(end) => ChunkContent::Text {
                    bytes: current.take_front(end, mem::take(&mut buffer)),
                    first_line,
                    record_limit: limit,
                },
                None if self.options.on_error == OnError::Skip => current.discard(self.boundaries, limit),
                None => return Err(current.too_long(limit)),
            };
            return Ok(Some(Chunk { input: Arc::clone(&current.name), places: Arc::clone(&current.places), content }));
        }
    }
}
