//! Opens text: recognises its format by the head of the first input, judges its columns by the first rows, and
//! reads all inputs as one sequence of chunks.

use std::mem;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use memchr::memrchr;

use super::columns::{ColumnRequirements, LaterNotes, bind_columns, check_columns, check_layout, no_table};
use super::infer::{self, InferredSchema};
use super::{Opening, Purpose, empty, rules};
use crate::encode::ColumnMapping;
use crate::error::{DataError, Result, quoted};
use crate::format::csv::cells::{check_header, guess_delimiter, header, is_bare, numbered, without_blank_lines};
use crate::format::{Definition, FirstLines, Head, TextFormat, has_first_line};
use crate::options::{OnError, Options};
use crate::schema::sample::{FirstRows, SAMPLE_BYTES, TableSample};
use crate::schema::{Layout, Role, Schema};
use crate::source::decompress::is_compressed;
use crate::source::{
    Boundaries, Chunk, ChunkContent, ChunkSource, Chunker, HeadLimits, Input, Next, is_blank, too_long,
};

/// Opens inputs in a format of text.
pub(super) fn open(inputs: &[Input], options: &Options, purpose: Purpose, count: Arc<AtomicU64>) -> Result<Opening> {
    let mut source = TextSource::new(inputs.to_vec(), options, count);
    // A header alone says nothing about the columns: the next input may.
    let mut bare = None;
    let mut bytes = source.head(SAMPLE_BYTES)?.to_vec();
    while source.head_is_all() && holds_header_only(&bytes, options) {
        bare.get_or_insert_with(|| header_only().input(&source.name()));
        if !source.pass() {
            // Its own error says the same, or more.
            break;
        }
        bytes = source.head(SAMPLE_BYTES)?.to_vec();
    }
    let (name, failure) = (source.name(), source.failure().cloned());
    // What cannot be read on may look like anything.
    let named = |error: DataError| failure.clone().unwrap_or_else(|| error.input(&name));
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(failure.or(bare).unwrap_or_else(|| empty().input(&inputs[0].name())));
    }
    let format = recognise(&bytes, options).map_err(named)?;
    if !source.head_is_all() && !bytes.contains(&b'\n') {
        return Err(named(source.too_long().unwrap_or_else(|| first_too_long(bytes.len()))));
    }
    let boundaries = format.boundaries(&bytes);
    let ignored = ignored(options.schema.as_ref()).unwrap_or_else(|| options.ignore.clone());
    let first = FirstLines {
        bytes: &bytes,
        line: source.line(),
        is_all: source.head_is_all(),
        boundaries,
        has_header: options.header,
        record_limit: options.record_limit,
        threads: options.threads,
        ignored: &ignored,
    };
    let rows = first_rows(format.as_ref(), &first, options).map_err(named)?;
    let inferred = judge(&rows, format.as_ref(), options, purpose).map_err(named)?;
    let mut notes = vec![format!("format: {}", format.described(boundaries))];
    notes.extend(inferred.notes);
    let schema = Arc::new(inferred.schema);
    source.set_layout(boundaries, Expected::new(Arc::clone(&format), options, &schema, purpose))?;
    notes.extend(source.check_ahead()?.lines());
    let rules = rules(Arc::clone(&schema), options, inferred.invalid);
    let definition = Definition::Text(Arc::clone(&format));
    Ok(Opening {
        source: Box::new(source),
        parser: Box::new(move || format.parser(boundaries, &rules)),
        schema,
        format: definition,
        notes,
        types: inferred.types,
    })
}

/// The format of a text, asked for or recognised.
fn recognise(bytes: &[u8], options: &Options) -> Result<Arc<dyn TextFormat>> {
    let error = |found: String| DataError::format(found);
    if is_compressed(bytes) {
        return Err(error("is compressed twice".to_owned()).advise("decompress it once"));
    }
    let asked = options.format.as_ref().and_then(|format| options.formats.get(format));
    let format = match asked.or_else(|| options.formats.recognise(bytes, options.header)) {
        Some(Definition::Text(format)) => Arc::clone(format),
        #[cfg(feature = "arrow")]
        Some(Definition::Columnar(format)) => {
            let found = "is read from files that are not compressed as a whole, for it is read by seeking";
            return Err(error(format!("{} {found}", format.name())).advise("save it to a file first"));
        }
        None => {
            let formats = options.formats.list();
            let last = formats.rfind(", ").unwrap_or(0);
            let formats = format!("{} and {}", &formats[..last], formats[last..].trim_start_matches(", "));
            return Err(error("is not in a format that onward reads: it holds binary data".to_owned())
                .advise(format!("formats are {formats}, as they are or in gzip or zstd")));
        }
    };
    if !bytes.contains(&b'\n') && bytes.trim_ascii().contains(&b'\r') {
        return Err(error("its lines end with carriage returns alone, as on old Macs".to_owned())
            .advise("make them line feeds, for instance with tr '\\r' '\\n'"));
    }
    Ok(format)
}

/// What the first records are; an error if there are none to judge the columns by.
fn first_rows(format: &dyn TextFormat, first: &FirstLines<'_>, options: &Options) -> Result<FirstRows> {
    let mut rows = format.sample(first)?;
    if let FirstRows::Table(sample) = &mut rows
        && sample.rows == 0
        && options.schema.is_none()
    {
        return Err(no_rows(sample, first, options));
    }
    Ok(rows)
}

/// A table of which no row can be looked at.
fn no_rows(sample: &mut TableSample, first: &FirstLines<'_>, options: &Options) -> DataError {
    let error = |found: String| DataError::format(found);
    match (sample.fault.take(), sample.names.as_slice()) {
        (Some(fault), _) if options.on_error == OnError::Stop => fault,
        _ if !first.is_all => first_too_long(first.bytes.len()).line(sample.first_line),
        (Some(_), _) => {
            error("holds no row that can be read".to_owned()).advise("without ⟦on_error=skip⟧ the first one is told")
        }
        (None, [only]) if options.format.is_none() => {
            error(format!("holds one line, {}, which as CSV is a header", quoted(only.as_bytes())))
                .advise("if it was cut short, copy it again; if it is in another format, say so with ⟦format⟧")
        }
        (None, _) => header_only(),
    }
}

/// The first row is not all in the first `size` bytes.
fn first_too_long(size: usize) -> DataError {
    let found = format!("the first row goes on beyond {size} bytes, which are looked at to judge the columns");
    DataError::format(found).advise("is a quote left open, or is the format another one? Else put a shorter row first")
}

fn header_only() -> DataError {
    DataError::format("holds a header and no rows").advise("give an input with examples in it")
}

/// Whether all that a table holds is its header, from which no columns can be judged.
fn holds_header_only(bytes: &[u8], options: &Options) -> bool {
    if !options.header || options.schema.is_some() {
        return false;
    }
    let asked = options.format.as_ref().and_then(|format| options.formats.get(format));
    match asked.or_else(|| options.formats.recognise(bytes, true)) {
        Some(Definition::Text(format)) if format.has_header() => match format.boundaries(bytes) {
            Boundaries::Quoted { delimiter } => is_bare(bytes, delimiter),
            Boundaries::Lines => false,
        },
        _ => false,
    }
}

/// The keys that a schema leaves out with all that is in them.
fn ignored(schema: Option<&Schema>) -> Option<Vec<String>> {
    let ignored = schema?.columns.iter().filter(|column| column.role == Role::Ignored);
    Some(ignored.map(|column| column.name.clone()).collect())
}

/// What the first rows say about all.
fn judge(rows: &FirstRows, format: &dyn TextFormat, options: &Options, purpose: Purpose) -> Result<InferredSchema> {
    match (rows, &options.schema) {
        (FirstRows::Table(sample), _) if purpose == Purpose::Copy => infer::copied(sample, options),
        _ if purpose == Purpose::Copy => Err(no_table(format.name())),
        (rows, Some(schema)) => {
            let notes = bound_notes(schema, rows, format, options)?;
            Ok(InferredSchema::known(schema.clone(), notes))
        }
        (FirstRows::Table(sample), None) => infer::table(sample, options),
        (FirstRows::Labels(sample), None) => infer::labels(format.layout(), sample, options),
    }
}

/// Checks the schema of a model against the input, and tells what is to be said.
fn bound_notes(schema: &Schema, rows: &FirstRows, format: &dyn TextFormat, options: &Options) -> Result<Vec<String>> {
    check_layout(schema, format.layout(), format.name())?;
    let requirements = ColumnRequirements::new(options, Purpose::Learn);
    match rows {
        // Keys that are no columns are hashed by their names, not ignored.
        FirstRows::Table(sample) if sample.is_open => check_columns(schema, &sample.names, &requirements),
        FirstRows::Table(sample) => bind_columns(schema, &sample.names, &requirements),
        FirstRows::Labels(_) => Ok(Vec::new()),
    }
}

/// What is expected of the inputs after the first.
struct Expected {
    format: Arc<dyn TextFormat>,
    /// The columns, in tables.
    columns: Option<(Arc<Schema>, ColumnRequirements)>,
}

/// How much of a later input is looked at to see that it is in the format of the first.
const HEAD: usize = 64 << 10;
/// How much of it is looked at for its columns, where each record names them.
const HEAD_OF_KEYS: usize = 256 << 10;

impl Expected {
    fn new(format: Arc<dyn TextFormat>, options: &Options, schema: &Arc<Schema>, purpose: Purpose) -> Self {
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
            // What nothing else is taken for: the lines or the header say more.
            Some(Definition::Text(found)) => {
                let head = Head::new(head, options.header);
                if found.recognise(&head) == crate::format::Recognition::IfNoOther && self.format.admits(&head) {
                    return Ok(());
                }
                found.name().to_owned()
            }
            #[cfg(feature = "arrow")]
            Some(Definition::Columnar(found)) => found.name().to_owned(),
            None if is_compressed(head) => "compressed twice".to_owned(),
            None => "binary data".to_owned(),
        };
        Err(DataError::format(format!("is {found}, and the first input is {expected}"))
            .input(name)
            .advise("a run reads inputs of one format: convert it first with onward convert, or leave it out"))
    }

    /// Checks the columns of an input, and tells what is to be said about them.
    fn check_columns(&self, names: &[String]) -> Result<Vec<String>> {
        match &self.columns {
            Some((schema, requirements)) => bind_columns(schema, names, requirements),
            None => Ok(Vec::new()),
        }
    }

    /// The schema, if each record names its columns, and need not have any.
    fn columns_in_records(&self) -> Option<&(Arc<Schema>, ColumnRequirements)> {
        self.columns.as_ref().filter(|_| !self.format.has_header())
    }

    /// What is to be said of an input whose records name their columns.
    fn check_records(&self, head: &[u8], is_all: bool, options: &Options) -> Result<Vec<String>> {
        let Some((schema, requirements)) = self.columns_in_records() else { return Ok(Vec::new()) };
        let boundaries = self.format.boundaries(head);
        let whole = if is_all { head.len() } else { boundaries.last(head) };
        let first = FirstLines {
            bytes: &head[..whole],
            line: 1,
            is_all,
            boundaries,
            has_header: options.header,
            record_limit: options.record_limit,
            threads: 1,
            ignored: &ignored(Some(schema)).unwrap_or_default(),
        };
        // What is wrong with rows is said when they are read.
        let sample = match self.format.sample(&first) {
            Ok(FirstRows::Table(sample)) if sample.rows > 0 => sample,
            _ => return Ok(Vec::new()),
        };
        let target = &schema.target.column;
        let lenient = ColumnRequirements { requires_target: false, ..*requirements };
        let mut notes = check_columns(schema, &sample.names, &lenient)?;
        if requirements.requires_target && !sample.names.contains(target) {
            notes.push(format!("none of the first {} rows has '{target}'", sample.rows));
        }
        Ok(notes)
    }
}

/// The text inputs of a run as one sequence of chunks.
struct TextSource {
    inputs: std::vec::IntoIter<Input>,
    options: Options,
    boundaries: Boundaries,
    expected: Option<Expected>,
    count: Arc<AtomicU64>,
    current: Option<Chunker>,
    is_live: bool,
}

/// A later table that is laid out in another way.
fn other_separator(found: u8, expected: u8) -> DataError {
    let (found, expected) = (quoted(&[found]), quoted(&[expected]));
    let found = format!("its header is separated by {found}, and the first input by {expected}");
    DataError::format(found).advise("convert it first with onward convert, or leave it out")
}

impl TextSource {
    fn new(inputs: Vec<Input>, options: &Options, count: Arc<AtomicU64>) -> Self {
        Self {
            is_live: inputs.iter().any(|input| !input.is_repeatable()),
            inputs: inputs.into_iter(),
            options: options.clone(),
            boundaries: Boundaries::Lines,
            expected: None,
            count,
            current: None,
        }
    }

    /// Reads the head of the first input that is not blank: whole lines, in about `size`
    /// bytes; they stay to be read.
    fn head(&mut self, size: usize) -> Result<&[u8]> {
        let limits = HeadLimits {
            record_limit: self.options.record_limit,
            infers: self.options.schema.is_none(),
            skips_errors: self.options.on_error == OnError::Skip,
        };
        loop {
            if self.current.is_none() && !self.advance()? {
                return Ok(&[]);
            }
            let Some(current) = &mut self.current else { return Ok(&[]) };
            current.fill_head(size, limits, |head| boundaries_of(head, &self.options));
            if !current.is_blank() || current.failure().is_some() {
                break;
            }
            if current.has_ended() {
                self.current = None;
            } else {
                drop(current.take_front(current.bytes().len(), Vec::new()));
            }
        }
        let Some(current) = &self.current else { return Ok(&[]) };
        let bytes = current.bytes();
        let end = match current.has_ended() && current.failure().is_none() {
            true => None,
            false => memrchr(b'\n', bytes),
        };
        Ok(&bytes[..end.map_or(bytes.len(), |at| at + 1)])
    }

    /// Leaves out the input that is being read; false if it is the last, which stays.
    fn pass(&mut self) -> bool {
        let is_last = self.inputs.as_slice().is_empty();
        if !is_last {
            self.current = None;
        }
        !is_last
    }

    /// Whether the head is all there is of the input.
    fn head_is_all(&self) -> bool {
        self.current.as_ref().is_none_or(|current| current.has_ended() && current.failure().is_none())
    }

    /// Why no more than the head could be read.
    fn failure(&self) -> Option<&DataError> {
        self.current.as_ref().and_then(Chunker::failure)
    }

    /// What is wrong with a head that holds no whole line.
    fn too_long(&self) -> Option<DataError> {
        self.current.as_ref().map(|current| current.too_long(self.options.record_limit))
    }

    /// The line where the head begins.
    fn line(&self) -> u64 {
        self.current.as_ref().map_or(1, |current| current.line)
    }

    /// The name of the input that is being read.
    fn name(&self) -> Arc<str> {
        self.current.as_ref().map_or_else(|| Arc::from(""), |current| Arc::clone(&current.name))
    }

    /// Sets what could not be known before the head was seen.
    fn set_layout(&mut self, boundaries: Boundaries, expected: Expected) -> Result {
        self.boundaries = boundaries;
        self.expected = Some(expected);
        if let Some(mut current) = self.current.take() {
            self.bind(&mut current)?;
            self.current = Some(current);
        }
        Ok(())
    }

    /// Looks at the heads of the files that come later: what is wrong with them is said
    /// before the first is read for an hour. Returns what else is to be said.
    fn check_ahead(&self) -> Result<LaterNotes> {
        let mut later = LaterNotes::default();
        for input in self.inputs.as_slice().iter().filter(|input| input.is_repeatable()) {
            let (mut current, notes) = self.begin(input.clone(), Arc::default())?;
            later.add(&current.name, notes);
            if let Some(expected) = self.expected.as_ref().filter(|expected| expected.columns_in_records().is_some()) {
                current.fill(HEAD_OF_KEYS, false);
                let notes = expected.check_records(current.bytes(), current.has_ended(), &self.options);
                later.add(&current.name, notes.map_err(|error| error.input(&current.name))?);
            }
        }
        Ok(later)
    }

    /// Opens the next input; false when there is none.
    fn advance(&mut self) -> Result<bool> {
        let Some(input) = self.inputs.next() else {
            self.current = None;
            return Ok(false);
        };
        self.current = Some(self.begin(input, Arc::clone(&self.count))?.0);
        Ok(true)
    }

    /// Opens an input, up to its first row; with what is to be said about it.
    fn begin(&self, input: Input, count: Arc<AtomicU64>) -> Result<(Chunker, Vec<String>)> {
        let mut current = Chunker::open(input, count)?;
        if !current.is_live() {
            current.fill(HEAD, false);
        }
        let shows = has_first_line(current.bytes()) || current.has_ended() || current.bytes().len() >= HEAD;
        if let Some(expected) = self.expected.as_ref().filter(|_| shows && !current.is_blank()) {
            expected.check_format(&current.name, current.bytes(), &self.options)?;
        }
        let notes = self.bind(&mut current)?;
        Ok((current, notes))
    }

    /// Reads the column names of an input, if it begins with them, and tells what is to be said about them.
    fn bind(&self, current: &mut Chunker) -> Result<Vec<String>> {
        let Some((expected, delimiter)) = self.expected.as_ref().zip(match self.boundaries {
            Boundaries::Quoted { delimiter } => Some(delimiter),
            Boundaries::Lines => None,
        }) else {
            return Ok(Vec::new());
        };
        let Some((schema, _)) = &expected.columns else { return Ok(Vec::new()) };
        let Some(end) = self.first_record(current)? else { return Ok(Vec::new()) };
        let (name, line) = (Arc::clone(&current.name), current.line);
        let located = |error: DataError| error.input(&name).line(line);
        let record = &current.bytes()[..end];
        let mut names = header(record, delimiter).map_err(located)?;
        let found = guess_delimiter(record);
        let splits = || header(record, found).is_ok_and(|cells| cells.len() > 1);
        if found != delimiter && names.len() == 1 && schema.columns.len() > 1 && splits() {
            return Err(located(other_separator(found, delimiter)));
        }
        if self.options.header {
            check_header(&names).map_err(located)?;
            drop(current.take_front(end, Vec::new()));
        } else {
            names = numbered(names.len());
        }
        let notes = expected.check_columns(&names).map_err(|error| error.input(&name))?;
        current.mapping = Arc::new(ColumnMapping::new(schema, names.iter().map(String::as_str)));
        Ok(notes)
    }

    /// Goes on to the first record that is not blank, and tells where it ends.
    fn first_record(&self, current: &mut Chunker) -> Result<Option<usize>> {
        loop {
            // All at once, for what is left is moved.
            let rest = without_blank_lines(current.bytes()).len();
            drop(current.take_front(current.bytes().len() - rest, Vec::new()));
            match current.first_record(self.boundaries, self.options.record_limit)? {
                Some(end) if is_blank(&current.bytes()[..end]) => drop(current.take_front(end, Vec::new())),
                found => return Ok(found),
            }
        }
    }
}

/// How records end, once the first line is there to tell.
fn boundaries_of(head: &[u8], options: &Options) -> Option<Boundaries> {
    if !has_first_line(head) {
        return None;
    }
    let asked = options.format.as_ref().and_then(|format| options.formats.get(format));
    match asked.or_else(|| options.formats.recognise(head, options.header))? {
        Definition::Text(format) => Some(format.boundaries(head)),
        #[cfg(feature = "arrow")]
        Definition::Columnar(_) => Some(Boundaries::Lines),
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
            current.reuse(&mut buffer);
            let content = match current.next_records(self.boundaries, self.options.chunk_size.max(1), limit)? {
                Next::Records(0) => {
                    self.current = None;
                    continue;
                }
                Next::Records(end) => ChunkContent::Text {
                    bytes: current.take_front(end, mem::take(&mut buffer)),
                    first_line,
                    record_limit: limit,
                },
                Next::TooLong if self.options.on_error == OnError::Skip => current.discard(self.boundaries, limit),
                Next::TooLong => return Err(too_long(limit).input(&current.name).line(current.line)),
            };
            return Ok(Some(Chunk {
                input: Arc::clone(&current.name),
                mapping: Arc::clone(&current.mapping),
                content,
            }));
        }
    }

    fn is_live(&self) -> bool {
        self.is_live
    }
}
