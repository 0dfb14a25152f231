//! Cuts text inputs into pieces at record boundaries.

use std::io;
use std::mem;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use memchr::{memchr, memrchr};

use crate::csv;
use crate::encode::Binding;
use crate::error::{DataError, DataErrorKind, quoted};
use crate::format::{self, Format};
use crate::infer::SAMPLE_ROWS;
use crate::input::{self, Input, Opened};
use crate::jsonl;
use crate::lines::count_lines;
use crate::open::{self, Binds, LaterNotes, Purpose};
use crate::options::{OnError, Options};
use crate::pending::Pending;
use crate::piece::{Content, Piece, Source};
use crate::schema::{Layout, Role, Schema};

/// How records end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Boundaries {
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
        match self {
            Self::Lines => memchr(b'\n', bytes).map(|at| at + 1),
            Self::Quoted { delimiter } => first_unquoted(bytes, delimiter),
        }
    }
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

/// Looks no further than the record: it is called once a record where many are bad.
fn first_unquoted(bytes: &[u8], delimiter: u8) -> Option<usize> {
    let mut start = 0;
    loop {
        let end = start + memchr(b'\n', &bytes[start..])?;
        match opening_quote(bytes, start, end, delimiter) {
            Some(quote) => start = closing_quote(bytes, quote + 1)? + 1,
            None => return Some(end + 1),
        }
    }
}

/// The first quote from `start` to `end` that opens a quoted cell: one where a cell begins.
pub(crate) fn opening_quote(bytes: &[u8], mut start: usize, end: usize, delimiter: u8) -> Option<usize> {
    loop {
        let quote = start + memchr(b'"', &bytes[start..end])?;
        if quote == 0 || bytes[quote - 1] == b'\n' || bytes[quote - 1] == delimiter {
            return Some(quote);
        }
        start = quote + 1;
    }
}

/// How much is read at a time.
const READ: usize = 256 << 10;

/// How many records of a live input are waited for before its columns are judged, however
/// long it takes: a header and a row.
const HEAD_RECORDS: u64 = 2;

/// How long a live input may take to deliver the rows that its columns are judged from.
/// What `cat` sends is judged as the file would be; who sends an event a minute need not
/// wait for ten thousand.
const PATIENCE: Duration = Duration::from_secs(2);

/// The text inputs of a run as one sequence of pieces.
pub(crate) struct TextSource {
    inputs: std::vec::IntoIter<Input>,
    boundaries: Boundaries,
    chunk_size: usize,
    record_limit: usize,
    count: Arc<AtomicU64>,
    header: Header,
    current: Option<Current>,
    is_live: bool,
    head_options: HeadOptions,
    expected: Expected,
}

/// Whether each input begins with a line of column names.
pub(crate) enum Header {
    /// Columns named 1, 2, … in each input, as many as its first record has.
    Numbered { delimiter: u8, schema: Arc<Schema> },
    /// The first record names the columns.
    First { delimiter: u8, schema: Arc<Schema> },
    /// No columns, or names that come with each record.
    Fixed,
}

/// What is expected of the inputs after the first.
#[derive(Default)]
pub(crate) struct Expected {
    format: Option<Format>,
    /// Whether the user says what the format is.
    is_given: bool,
    no_header: bool,
    columns: Option<(Arc<Schema>, Binds)>,
}

impl Expected {
    pub(crate) fn new(format: Format, options: &Options, schema: &Arc<Schema>, purpose: Purpose) -> Self {
        Self {
            format: Some(format),
            is_given: options.format.is_some(),
            no_header: !options.header,
            columns: (schema.layout == Layout::Table).then(|| (Arc::clone(schema), Binds::new(options, purpose))),
        }
    }

    /// Refuses an input that is recognised as one of another format than the first was.
    fn check_format(&self, name: &str, head: &[u8]) -> Result<(), DataError> {
        let Some(format) = self.format.filter(|_| !self.is_given) else {
            return Ok(());
        };
        let found = match Format::recognise(head, self.no_header) {
            Some(found) if found == format => return Ok(()),
            // What nothing else is taken for: the lines or the header say more.
            Some(Format::Csv | Format::Tsv) if format.admits(head) => return Ok(()),
            Some(found) => found.to_string(),
            None if input::is_compressed(head) => "compressed twice".to_owned(),
            None => "binary data".to_owned(),
        };
        Err(DataError::new(DataErrorKind::Format, format!("is {found}, and the first input is {format}"))
            .input(name)
            .remedy("a run reads inputs of one format: convert it first with onward convert, or leave it out"))
    }

    /// Checks the columns of an input, and tells what is to be said about them.
    fn check_columns(&self, names: &[String]) -> Result<Vec<String>, DataError> {
        match &self.columns {
            Some((schema, binds)) => open::bind_columns(schema, names, binds),
            None => Ok(Vec::new()),
        }
    }

    /// What is to be said of JSON lines, where rows need not have any column.
    fn check_json(&self, head: &[u8], is_all: bool) -> Result<Vec<String>, DataError> {
        let Some((schema, binds)) = self.columns.as_ref().filter(|_| self.format == Some(Format::Jsonl)) else {
            return Ok(Vec::new());
        };
        let whole = if is_all { head.len() } else { Boundaries::Lines.last(head) };
        let ignored = schema.columns.iter().filter(|column| column.role == Role::Ignored);
        let ignored: Vec<_> = ignored.map(|column| column.name.clone()).collect();
        // What is wrong with rows is said when they are read.
        let Some(sample) = jsonl::sample(&head[..whole], SAMPLE_ROWS, &ignored).ok().filter(|sample| sample.rows > 0)
        else {
            return Ok(Vec::new());
        };
        let target = &schema.target.column;
        let mut notes = open::check_columns(schema, &sample.names, &Binds { requires_target: false, ..*binds })?;
        if binds.requires_target && !sample.names.contains(target) {
            notes.push(format!("none of the first {} rows has '{target}'", sample.rows));
        }
        Ok(notes)
    }
}

/// How much of a later input is looked at to see that it is in the format of the first.
const HEAD: usize = 64 << 10;
/// How much of it is looked at for its columns, where each record names them.
const JSON_HEAD: usize = 256 << 10;

/// How far the records of a head have been counted.
struct Counting<'a> {
    options: &'a HeadOptions,
    boundaries: Option<Boundaries>,
    /// How much has been looked at.
    seen: usize,
    /// Where the first record begins that has not been counted.
    at: usize,
    records: u64,
}

impl<'a> Counting<'a> {
    fn new(options: &'a HeadOptions) -> Self {
        Self { options, boundaries: None, seen: 0, at: 0, records: 0 }
    }

    /// Goes on counting in a head that has grown: blank lines and comments do not count, nor do
    /// records that are too long where those are skipped.
    fn count(&mut self, head: &[u8]) {
        let HeadOptions { record_limit, skips_errors, .. } = *self.options;
        // A long line that comes in many parts is not looked at again for each.
        let has_ended = memchr(b'\n', &head[self.seen..]).is_some();
        self.seen = head.len();
        if !has_ended {
            return;
        }
        let Some(boundaries) = self.boundaries.or_else(|| self.options.boundaries(head)) else {
            return;
        };
        self.boundaries = Some(boundaries);
        while let Some(end) = boundaries.first(&head[self.at..]) {
            let record = &head[self.at..self.at + end];
            let counts = match boundaries {
                Boundaries::Quoted { .. } => !csv::is_blank(record),
                Boundaries::Lines => !matches!(record.trim_ascii().first(), None | Some(b'#')),
            };
            self.records += u64::from(counts && !(skips_errors && end > record_limit));
            self.at += end;
        }
    }
}

/// What is known before the head is read.
struct HeadOptions {
    format: Option<Format>,
    no_header: bool,
    record_limit: usize,
    /// Whether the columns are to be judged from the head.
    infers: bool,
    skips_errors: bool,
}

impl HeadOptions {
    /// How records end, once the first line is there to tell.
    fn boundaries(&self, head: &[u8]) -> Option<Boundaries> {
        if !format::has_first_line(head) {
            return None;
        }
        let format = self.format.or_else(|| Format::recognise(head, self.no_header))?;
        Some(match format {
            Format::Csv | Format::Tsv => Boundaries::Quoted { delimiter: csv::separator(format, head) },
            _ => Boundaries::Lines,
        })
    }
}

/// The input that is being read.
struct Current {
    input: Input,
    name: Arc<str>,
    opened: Opened,
    /// What was read and not yet cut off.
    pending: Pending,
    ended: bool,
    /// Why it ended, if reading failed: what was read until then still counts.
    failed: Option<DataError>,
    line: u64,
    binding: Arc<Binding>,
}

/// What can be cut off next.
enum Next {
    /// Whole records, so many bytes.
    Records(usize),
    /// Nothing: the record is longer than is allowed.
    TooLong,
}

impl Current {
    fn open(input: Input, count: Arc<AtomicU64>) -> Result<Self, DataError> {
        let opened = input.open(count)?;
        let name = Arc::from(input.name());
        let mut current = Self {
            input,
            name,
            opened,
            pending: Pending::default(),
            ended: false,
            failed: None,
            line: 1,
            binding: Arc::default(),
        };
        current.fill(3, false);
        if current.pending.starts_with(b"\xef\xbb\xbf") {
            drop(current.pending.cut(3, Vec::new()));
        }
        Ok(current)
    }

    /// Reads until `size` bytes are pending, the input ends, or (if `eager`) the
    /// input is live and has given what it had.
    fn fill(&mut self, size: usize, eager: bool) {
        while !self.ended && self.pending.len() < size {
            let result = self.pending.read(&mut self.opened, size.min(self.pending.len() + READ));
            match result {
                Ok(0) => self.ended = true,
                Ok(_) if eager && self.opened.is_live() && self.pending.len() < size => return,
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
    /// two records at least.
    fn fill_head(&mut self, size: usize, options: &HeadOptions) {
        let until = Instant::now() + if options.infers { PATIENCE } else { Duration::ZERO };
        let enough = if options.infers { SAMPLE_ROWS as u64 } else { 1 };
        let mut counting = Counting::new(options);
        while !self.ended && self.pending.len() < size && counting.records <= enough {
            if self.opened.is_live() && counting.records >= HEAD_RECORDS.min(enough) && !self.opened.wait(until) {
                break;
            }
            self.fill(size, true);
            counting.count(&self.pending);
        }
        while !self.ended
            && counting.records < HEAD_RECORDS
            && (size..=options.record_limit).contains(&self.pending.len())
        {
            self.fill(self.pending.len() + size, true);
            counting.count(&self.pending);
        }
    }

    fn is_blank(&self) -> bool {
        self.pending.iter().all(u8::is_ascii_whitespace)
    }

    /// The end of the first record, read as far as needed; `None` at the end of the input.
    fn first_record(&mut self, boundaries: Boundaries, limit: usize) -> Result<Option<usize>, DataError> {
        let mut size = 4096;
        loop {
            match boundaries.first(&self.pending) {
                Some(end) if end > limit => return Err(self.too_long(limit)),
                Some(end) => return Ok(Some(end)),
                None => {}
            }
            if let Some(error) = &self.failed {
                return Err(error.clone());
            }
            if self.ended {
                return Ok((!self.pending.is_empty()).then_some(self.pending.len()));
            }
            if self.pending.len() > limit {
                return Err(self.too_long(limit));
            }
            if self.pending.len() >= size {
                size *= 2;
            }
            self.fill(size, true);
        }
    }

    fn too_long(&self, limit: usize) -> DataError {
        open::too_long(limit).input(&self.name).line(self.line)
    }

    /// The last whole records in about `size` bytes, more if a record is longer; none at the
    /// end of the input.
    fn next_records(&mut self, boundaries: Boundaries, mut size: usize, limit: usize) -> Result<Next, DataError> {
        if self.opened.is_live() {
            // Whoever writes to it may wait for an answer before writing more.
            let arrived = boundaries.last(&self.pending[..self.pending.len().min(size)]);
            if arrived > 0 {
                return Ok(Next::Records(arrived));
            }
        }
        loop {
            self.fill(size, true);
            if self.ended && self.pending.len() <= size {
                return self.last_records(boundaries);
            }
            let window = &self.pending[..self.pending.len().min(size)];
            match boundaries.last(window) {
                0 if window.len() > limit => return Ok(Next::TooLong),
                // A record longer than the window, or one of which only a part has arrived.
                0 if window.len() == size => size = (size * 2).min(limit.saturating_add(1)).max(size),
                0 => {}
                end => return Ok(Next::Records(end)),
            }
        }
    }

    /// What is left at the end: if reading failed, the last record is not all there.
    fn last_records(&self, boundaries: Boundaries) -> Result<Next, DataError> {
        match (&self.failed, boundaries.last(&self.pending)) {
            (None, _) => Ok(Next::Records(self.pending.len())),
            (Some(error), 0) => Err(error.clone()),
            (Some(_), end) => Ok(Next::Records(end)),
        }
    }

    /// Passes over a record that is too long, without keeping it: to the end of the line, or
    /// to that of the line where it opens a quote.
    fn discard(&mut self, boundaries: Boundaries, limit: usize) -> Content {
        let error = self.too_long(limit);
        let mut bytes = 0;
        let mut end = match boundaries {
            Boundaries::Lines => 0,
            // No more than has been looked at, however much has been read.
            Boundaries::Quoted { delimiter } => {
                let looked_at = self.pending.len().min(limit.saturating_add(1));
                csv::extent(&self.pending[..looked_at], delimiter).end
            }
        };
        if end == 0 || self.pending[end - 1] != b'\n' {
            end = self.line_end(end);
        }
        while end == 0 && !self.pending.is_empty() {
            bytes += self.pending.len() as u64;
            self.pending.clear();
            self.fill(READ, true);
            end = self.line_end(0);
        }
        bytes += end as u64;
        drop(self.cut(end, Vec::new()));
        Content::Skipped { error, bytes }
    }

    /// The end of the first line that ends after `start`; 0 if none does.
    fn line_end(&self, start: usize) -> usize {
        memchr(b'\n', &self.pending[start..]).map_or(0, |at| start + at + 1)
    }

    /// Cuts off the first `end` bytes into `buffer`.
    fn cut(&mut self, end: usize, buffer: Vec<u8>) -> Vec<u8> {
        let first = self.pending.cut(end, buffer);
        self.line += count_lines(&first);
        first
    }
}

/// A later table that is laid out in another way.
fn other_separator(found: u8, expected: u8) -> DataError {
    let (found, expected) = (quoted(&[found]), quoted(&[expected]));
    let found = format!("its header is separated by {found}, and the first input by {expected}");
    DataError::new(DataErrorKind::Format, found).remedy("convert it first with onward convert, or leave it out")
}

impl TextSource {
    pub(crate) fn new(
        inputs: Vec<Input>,
        boundaries: Boundaries,
        header: Header,
        options: &Options,
        count: Arc<AtomicU64>,
    ) -> Self {
        Self {
            is_live: inputs.iter().any(|input| !input.is_repeatable()),
            inputs: inputs.into_iter(),
            boundaries,
            chunk_size: options.chunk_size.max(1),
            record_limit: options.record_limit,
            head_options: HeadOptions {
                format: options.format,
                no_header: !options.header,
                record_limit: options.record_limit,
                infers: options.schema.is_none(),
                skips_errors: options.on_error == OnError::Skip,
            },
            count,
            header,
            expected: Expected::default(),
            current: None,
        }
    }

    /// Reads the head of the first input that is not blank: whole lines, in about `size`
    /// bytes; they stay to be read.
    pub(crate) fn head(&mut self, size: usize) -> Result<&[u8], DataError> {
        loop {
            if self.current.is_none() && !self.advance()? {
                return Ok(&[]);
            }
            let Some(current) = &mut self.current else {
                return Ok(&[]);
            };
            current.fill_head(size, &self.head_options);
            if !current.is_blank() || current.failed.is_some() {
                break;
            }
            if current.ended {
                self.current = None;
            } else {
                drop(current.cut(current.pending.len(), Vec::new()));
            }
        }
        let Some(current) = &self.current else {
            return Ok(&[]);
        };
        let end = match current.ended && current.failed.is_none() {
            true => None,
            false => memrchr(b'\n', &current.pending),
        };
        Ok(&current.pending[..end.map_or(current.pending.len(), |at| at + 1)])
    }

    /// Leaves out the input that is being read; false if it is the last, which stays.
    pub(crate) fn pass(&mut self) -> bool {
        let is_last = self.inputs.as_slice().is_empty();
        if !is_last {
            self.current = None;
        }
        !is_last
    }

    /// Whether the head is all there is of the input.
    pub(crate) fn head_is_all(&self) -> bool {
        self.current.as_ref().is_none_or(|current| current.ended && current.failed.is_none())
    }

    /// Why no more than the head could be read.
    pub(crate) fn failure(&self) -> Option<&DataError> {
        self.current.as_ref().and_then(|current| current.failed.as_ref())
    }

    /// What is wrong with a head that holds no whole line.
    pub(crate) fn too_long(&self) -> Option<DataError> {
        self.current.as_ref().map(|current| current.too_long(self.record_limit))
    }

    /// The line where the head begins.
    pub(crate) fn line(&self) -> u64 {
        self.current.as_ref().map_or(1, |current| current.line)
    }

    /// The name of the input that is being read.
    pub(crate) fn name(&self) -> Arc<str> {
        self.current.as_ref().map_or_else(|| Arc::from(""), |current| Arc::clone(&current.name))
    }

    /// Sets what could not be known before the head was seen.
    pub(crate) fn set_layout(
        &mut self,
        boundaries: Boundaries,
        header: Header,
        expected: Expected,
    ) -> Result<(), DataError> {
        self.boundaries = boundaries;
        self.header = header;
        self.expected = expected;
        if let Some(mut current) = self.current.take() {
            self.bind(&mut current)?;
            self.current = Some(current);
        }
        Ok(())
    }

    /// Looks at the heads of the files that come later: what is wrong with them is said
    /// before the first is read for an hour. Returns what else is to be said.
    pub(crate) fn check_ahead(&self) -> Result<LaterNotes, DataError> {
        let mut later = LaterNotes::default();
        for input in self.inputs.as_slice().iter().filter(|input| input.is_repeatable()) {
            let (mut current, notes) = self.begin(input.clone(), Arc::default())?;
            later.add(&current.name, notes);
            if self.expected.format == Some(Format::Jsonl) {
                current.fill(JSON_HEAD, false);
                let notes = self.expected.check_json(&current.pending, current.ended);
                later.add(&current.name, notes.map_err(|error| error.input(&current.name))?);
            }
        }
        Ok(later)
    }

    /// Opens the next input; false when there is none.
    fn advance(&mut self) -> Result<bool, DataError> {
        let Some(input) = self.inputs.next() else {
            self.current = None;
            return Ok(false);
        };
        self.current = Some(self.begin(input, Arc::clone(&self.count))?.0);
        Ok(true)
    }

    /// Opens an input, up to its first row; with what is to be said about it.
    fn begin(&self, input: Input, count: Arc<AtomicU64>) -> Result<(Current, Vec<String>), DataError> {
        let mut current = Current::open(input, count)?;
        if !current.opened.is_live() {
            current.fill(HEAD, false);
        }
        let shows = format::has_first_line(&current.pending) || current.ended || current.pending.len() >= HEAD;
        if shows && !current.is_blank() {
            self.expected.check_format(&current.name, &current.pending)?;
        }
        let notes = self.bind(&mut current)?;
        Ok((current, notes))
    }

    /// Reads the column names of an input, and tells what is to be said about them.
    fn bind(&self, current: &mut Current) -> Result<Vec<String>, DataError> {
        let (delimiter, schema, named) = match &self.header {
            Header::Fixed => return Ok(Vec::new()),
            Header::Numbered { delimiter, schema } => (*delimiter, schema, false),
            Header::First { delimiter, schema } => (*delimiter, schema, true),
        };
        let end = loop {
            // All at once, for what is left is moved.
            let rest = csv::without_blank_lines(&current.pending).len();
            drop(current.cut(current.pending.len() - rest, Vec::new()));
            match current.first_record(self.boundaries, self.record_limit)? {
                Some(end) if csv::is_blank(&current.pending[..end]) => drop(current.cut(end, Vec::new())),
                Some(end) => break end,
                None => return Ok(Vec::new()),
            }
        };
        let line = current.line;
        let mut names =
            csv::header(&current.pending[..end], delimiter).map_err(|error| error.input(&current.name).line(line))?;
        let found = csv::separator(Format::Csv, &current.pending[..end]);
        let splits = || csv::header(&current.pending[..end], found).is_ok_and(|cells| cells.len() > 1);
        if found != delimiter && names.len() == 1 && schema.columns.len() > 1 && splits() {
            return Err(other_separator(found, delimiter).input(&current.name).line(line));
        }
        if named {
            csv::check_header(&names).map_err(|error| error.input(&current.name).line(line))?;
            let header = current.cut(end, Vec::new());
            drop(header);
        } else {
            names = (1..=names.len()).map(|number| number.to_string()).collect();
        }
        let notes = self.expected.check_columns(&names).map_err(|error| error.input(&current.name))?;
        current.binding = Arc::new(Binding::new(schema, names.iter().map(String::as_str)));
        Ok(notes)
    }
}

impl Source for TextSource {
    fn next(&mut self, mut buffer: Vec<u8>) -> Result<Option<Piece>, DataError> {
        loop {
            let Some(current) = &mut self.current else {
                if !self.advance()? {
                    return Ok(None);
                }
                continue;
            };
            let first_line = current.line;
            current.pending.adopt(&mut buffer);
            let content = match current.next_records(self.boundaries, self.chunk_size, self.record_limit)? {
                Next::Records(0) => {
                    self.current = None;
                    continue;
                }
                Next::Records(end) => Content::Text {
                    bytes: current.cut(end, mem::take(&mut buffer)),
                    first_line,
                    record_limit: self.record_limit,
                },
                Next::TooLong if self.head_options.skips_errors => current.discard(self.boundaries, self.record_limit),
                Next::TooLong => return Err(current.too_long(self.record_limit)),
            };
            return Ok(Some(Piece {
                input: Arc::clone(&current.name),
                binding: Arc::clone(&current.binding),
                content,
            }));
        }
    }

    fn is_live(&self) -> bool {
        self.is_live
    }
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
