//! Opens inputs: recognises the format, infers or binds the schema, and makes
//! the source and the parsers.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use crate::chunk::{Boundaries, Expected, Header, TextSource};
use crate::csv::{self, CsvParser};
use crate::encode::{RowEncoder, Rules};
use crate::error::{DataError, DataErrorKind, quoted};
use crate::format::Format;
use crate::infer::{self, Holds, Inferred, SAMPLE_BYTES, SAMPLE_ROWS, Sample, Seen, Strays};
use crate::input::{self, Input};
use crate::jsonl::{self, JsonlParser};
use crate::lines::count_lines;
use crate::options::{OnError, Options};
use crate::piece::{Parser, Source};
use crate::schema::{Layout, Role, Schema};
use crate::svmlight::{self, SvmlightParser};
use crate::vw::{self, VwParser};

/// What inputs are opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Examples.
    Learn,
    /// The cells of tables, as text: each row has all its columns as ids.
    Copy,
}

/// Inputs that are open, and what was found.
pub(crate) struct Opening {
    pub(crate) source: Box<dyn Source>,
    /// Makes a parser for each thread.
    pub(crate) parser: Box<dyn FnMut() -> Box<dyn Parser>>,
    pub(crate) schema: Arc<Schema>,
    pub(crate) format: Format,
    pub(crate) notes: Vec<String>,
    /// What the columns hold, where tables are copied.
    pub(crate) holds: Option<Vec<Holds>>,
}

/// Opens inputs.
pub(crate) fn open(
    inputs: &[Input],
    options: &Options,
    purpose: Purpose,
    count: Arc<AtomicU64>,
) -> Result<Opening, DataError> {
    check_ranges(options)?;
    if inputs.is_empty() {
        return Err(DataError::new(DataErrorKind::Options, "there is no input"));
    }
    for input in inputs {
        // All files are there before the first is read for an hour.
        input.check()?;
    }
    #[cfg(feature = "arrow")]
    if let Some(format) = columnar_format(inputs, options)? {
        return crate::columnar::open(inputs, format, options, purpose, count);
    }
    text(inputs, options, purpose, count)
}

fn check_ranges(options: &Options) -> Result<(), DataError> {
    let wrong = |what: &str, allowed: &str, found: u64| {
        Err(DataError::new(DataErrorKind::Options, format!("{what} is {found}: it is {allowed}")))
    };
    if !(1..=30).contains(&options.bits) {
        return wrong("--bits", "from 1 to 30", options.bits.into());
    }
    if !(1..=8).contains(&options.ngrams) {
        return wrong("--ngrams", "from 1 to 8", options.ngrams.into());
    }
    if !(1..=256).contains(&options.threads) {
        return wrong("--threads", "from 1 to 256", options.threads as u64);
    }
    Ok(())
}

/// Parquet or Arrow, if the first input (a file that is not compressed) is one of them.
#[cfg(feature = "arrow")]
fn columnar_format(inputs: &[Input], options: &Options) -> Result<Option<Format>, DataError> {
    if let Some(format) = options.format {
        return Ok(matches!(format, Format::Parquet | Format::Arrow).then_some(format));
    }
    if !inputs[0].is_repeatable() {
        return Ok(None);
    }
    let Some(file) = inputs[0].file()? else {
        return Ok(None);
    };
    use std::io::Read;
    let mut head = Vec::new();
    file.take(8).read_to_end(&mut head).map_err(|error| inputs[0].failed(&error))?;
    let format = Format::recognise(&head, false);
    Ok(format.filter(|format| matches!(format, Format::Parquet | Format::Arrow)))
}

fn text(inputs: &[Input], options: &Options, purpose: Purpose, count: Arc<AtomicU64>) -> Result<Opening, DataError> {
    let mut source = TextSource::new(inputs.to_vec(), Boundaries::Lines, Header::Fixed, options, count);
    // A header alone says nothing about the columns: the next input may.
    let mut bare = None;
    let mut bytes = source.head(SAMPLE_BYTES)?.to_vec();
    while source.head_is_all() && is_bare(&bytes, options) {
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
        let error = DataError::new(DataErrorKind::Format, "is empty").remedy("give an input with examples in it");
        return Err(failure.or(bare).unwrap_or_else(|| error.input(&inputs[0].name())));
    }
    let format = recognise(&bytes, options).map_err(named)?;
    if !source.head_is_all() && !bytes.contains(&b'\n') {
        return Err(named(source.too_long().unwrap_or_else(|| first_too_long(bytes.len()))));
    }
    let delimiter = csv::separator(format, &bytes);
    let head = Head { bytes: &bytes, line: source.line(), is_all: source.head_is_all(), delimiter };
    let mut notes = vec![match (format, delimiter) {
        (Format::Csv, mark) if mark != b',' => format!("format: {format}, separated by {}", quoted(&[mark])),
        _ => format!("format: {format}"),
    }];
    let (boundaries, sampled) = sample(format, &head, options).map_err(named)?;
    let Judged { schema, holds, strays } = judge(&sampled, format, options, purpose, &mut notes).map_err(named)?;
    let schema = Arc::new(schema);
    let header = header_of(format, delimiter, options, &schema);
    source.set_layout(boundaries, header, Expected::new(format, options, &schema, purpose))?;
    notes.extend(source.check_ahead()?.lines());
    let rules = Rules::new(Arc::clone(&schema), options).with_strays(strays);
    let parser: Box<dyn FnMut() -> Box<dyn Parser>> = Box::new(move || parser(format, delimiter, rules.clone()));
    Ok(Opening { source: Box::new(source), parser, schema, format, notes, holds })
}

/// The format of a text, asked for or recognised.
fn recognise(bytes: &[u8], options: &Options) -> Result<Format, DataError> {
    let error = |found: String| DataError::new(DataErrorKind::Format, found);
    if input::is_compressed(bytes) {
        return Err(error("is compressed twice".to_owned()).remedy("decompress it once"));
    }
    let Some(format) = options.format.or_else(|| Format::recognise(bytes, !options.header)) else {
        return Err(error("is not in a format that onward reads: it holds binary data".to_owned())
            .remedy("formats are csv, tsv, jsonl, svmlight, vw, parquet and arrow, as they are or in gzip or zstd"));
    };
    if matches!(format, Format::Parquet | Format::Arrow) {
        let found = "is read from files that are not compressed as a whole, for it is read by seeking";
        return Err(error(format!("{format} {found}")).remedy("save it to a file first"));
    }
    if !bytes.contains(&b'\n') && bytes.trim_ascii().contains(&b'\r') {
        return Err(error("its lines end with carriage returns alone, as on old Macs".to_owned())
            .remedy("make them line feeds, for instance with tr '\\r' '\\n'"));
    }
    Ok(format)
}

/// What the first rows say about all.
pub(crate) struct Judged {
    pub(crate) schema: Schema,
    /// What the columns hold, where tables are copied.
    pub(crate) holds: Option<Vec<Holds>>,
    pub(crate) strays: Strays,
}

impl Judged {
    /// A schema that is known already.
    pub(crate) fn known(schema: Schema) -> Self {
        Self { schema, holds: None, strays: Strays::new() }
    }

    /// A table that is copied.
    pub(crate) fn copied(sample: &Sample, options: &Options) -> Result<Self, DataError> {
        let (schema, holds) = infer::copied(sample, options)?;
        Ok(Self { schema, holds: Some(holds), strays: Strays::new() })
    }

    /// What was inferred, and to be noted.
    pub(crate) fn inferred(inferred: Inferred, notes: &mut Vec<String>) -> Self {
        notes.extend(inferred.notes);
        Self { schema: inferred.schema, holds: None, strays: inferred.strays }
    }
}

fn judge(
    sampled: &Sampled,
    format: Format,
    options: &Options,
    purpose: Purpose,
    notes: &mut Vec<String>,
) -> Result<Judged, DataError> {
    let inferred = match (sampled, &options.schema) {
        (Sampled::Table(sample), _) if purpose == Purpose::Copy => return Judged::copied(sample, options),
        _ if purpose == Purpose::Copy => return Err(no_table(format)),
        (_, Some(schema)) => return bound_schema(schema, format, sampled, options, notes).map(Judged::known),
        (Sampled::Table(sample), None) => infer::table(sample, options),
        (Sampled::Labels(seen, namespaces), None) => infer::labels(format.layout(), seen, namespaces, options),
    };
    inferred.map(|inferred| Judged::inferred(inferred, notes))
}

/// An input without named columns, where a table is to be copied.
pub(crate) fn no_table(format: Format) -> DataError {
    DataError::new(DataErrorKind::Format, format!("is {format}, which holds examples and no table"))
        .remedy("convert it to svmlight, vw or arrow")
}

/// What the first rows gave.
enum Sampled {
    Table(Sample),
    /// Labels, and the names of the namespaces.
    Labels(Seen, Vec<String>),
}

/// The first lines of the first input.
struct Head<'a> {
    bytes: &'a [u8],
    /// The number of the first line.
    line: u64,
    /// Whether there is no more.
    is_all: bool,
    /// What separates cells, if it is CSV or TSV.
    delimiter: u8,
}

fn sample(format: Format, head: &Head<'_>, options: &Options) -> Result<(Boundaries, Sampled), DataError> {
    let limit = SAMPLE_ROWS;
    match format {
        Format::Csv | Format::Tsv => {
            let boundaries = Boundaries::Quoted { delimiter: head.delimiter };
            csv_sample(head, options, limit).map(|sample| (boundaries, Sampled::Table(sample)))
        }
        Format::Jsonl => {
            let sample = jsonl::sample(head.bytes, limit, &ignored(options))?;
            Ok((Boundaries::Lines, Sampled::Table(sample)))
        }
        Format::Svmlight => {
            let seen = svmlight::sample(head.bytes, limit);
            Ok((Boundaries::Lines, Sampled::Labels(seen, Vec::new())))
        }
        _ => {
            let (seen, namespaces) = vw::sample(head.bytes, limit);
            Ok((Boundaries::Lines, Sampled::Labels(seen, namespaces)))
        }
    }
}

/// The keys that are left out with all that is in them.
fn ignored(options: &Options) -> Vec<String> {
    match &options.schema {
        Some(schema) => {
            let ignored = schema.columns.iter().filter(|column| column.role == Role::Ignored);
            ignored.map(|column| column.name.clone()).collect()
        }
        None => options.ignore.clone(),
    }
}

/// From how many bytes on a second thread helps to judge the columns.
const WORTH_A_THREAD: usize = 128 << 10;

fn csv_sample(head: &Head<'_>, options: &Options, limit: usize) -> Result<Sample, DataError> {
    let Head { delimiter, is_all, .. } = *head;
    let text = csv::without_blank_lines(head.bytes);
    let line = head.line + count_lines(&head.bytes[..head.bytes.len() - text.len()]);
    let boundaries = Boundaries::Quoted { delimiter };
    let end = boundaries.first(text).unwrap_or(text.len());
    if end > options.record_limit {
        return Err(too_long(options.record_limit).line(line));
    }
    let first = csv::header(&text[..end], delimiter).map_err(|error| error.line(line))?;
    let (names, rows) = if options.header {
        csv::check_header(&first).and_then(|()| refuse_numbers(&first)).map_err(|error| error.line(line))?;
        (first, &text[end..])
    } else {
        ((1..=first.len()).map(|number| number.to_string()).collect(), text)
    };
    // The last record may go on beyond what was read.
    let whole = if is_all { rows } else { &rows[..boundaries.last(rows)] };
    let first_line = line + count_lines(&text[..text.len() - rows.len()]);
    let columns = names.len();
    let mut sample = Sample::with_columns(names);
    let text = csv::Text { bytes: whole, first_line, delimiter, record_limit: options.record_limit };
    // Some of the columns, from this one on.
    let judge = |seen: &mut [Seen], from: usize| {
        csv::sample(&text, columns, from..from + seen.len(), limit, |column, cell| match delimiter {
            b',' => seen[column - from].text(cell),
            _ => seen[column - from].text_with_commas(cell),
        })
    };
    let looked = if options.threads > 1 && whole.len() >= WORTH_A_THREAD {
        // Nothing else can begin before the columns are judged.
        let (low, high) = sample.seen.split_at_mut(columns / 2);
        std::thread::scope(|scope| {
            scope.spawn(|| judge(high, columns / 2));
            judge(low, 0)
        })
    } else {
        judge(&mut sample.seen, 0)
    };
    (sample.rows, sample.fault) = (looked.rows, looked.fault);
    if sample.rows == 0 && options.schema.is_none() {
        let stops = options.on_error == OnError::Stop;
        let fault = sample.fault.take().filter(|_| stops);
        let too_long = || first_too_long(head.bytes.len()).line(first_line);
        return Err(fault.unwrap_or_else(|| if is_all { no_rows(&sample, rows, options) } else { too_long() }));
    }
    Ok(sample)
}

/// The first row is not all in the first `size` bytes.
fn first_too_long(size: usize) -> DataError {
    let found = format!("the first row goes on beyond {size} bytes, which are looked at to judge the columns");
    DataError::new(DataErrorKind::Format, found)
        .remedy("is a quote left open, or is the format another one? Else put a shorter row first")
}

/// A table of which no row can be looked at.
fn no_rows(sample: &Sample, rows: &[u8], options: &Options) -> DataError {
    let error = |found: String| DataError::new(DataErrorKind::Format, found);
    if !rows.iter().all(u8::is_ascii_whitespace) {
        return error("holds no row that can be read".to_owned())
            .remedy("without --on-error skip the first one is told");
    }
    match sample.names.as_slice() {
        [only] if options.format.is_none() => {
            error(format!("holds one line, {}, which as CSV is a header", quoted(only.as_bytes())))
                .remedy("if it was cut short, copy it again; if it is in another format, say so with --format")
        }
        _ => header_only(),
    }
}

fn header_only() -> DataError {
    DataError::new(DataErrorKind::Format, "holds a header and no rows").remedy("give an input with examples in it")
}

/// Whether all that a table holds is its header, from which no columns can be judged.
fn is_bare(bytes: &[u8], options: &Options) -> bool {
    if !options.header || options.schema.is_some() {
        return false;
    }
    let format = options.format.or_else(|| Format::recognise(bytes, false));
    let Some(format @ (Format::Csv | Format::Tsv)) = format else {
        return false;
    };
    let text = csv::without_blank_lines(bytes);
    let delimiter = csv::separator(format, text);
    let end = Boundaries::Quoted { delimiter }.first(text).unwrap_or(text.len());
    let (header, rest) = text.split_at(end);
    // One word may be anything, and lines may end as they did on old Macs.
    rest.iter().all(u8::is_ascii_whitespace)
        && !header.trim_ascii().contains(&b'\r')
        && csv::header(header, delimiter).is_ok_and(|names| names.len() > 1 && refuse_numbers(&names).is_ok())
}

/// A first line of numbers only is data.
fn refuse_numbers(names: &[String]) -> Result<(), DataError> {
    let is_number = |name: &String| matches!(crate::number::parse(name.as_bytes()), crate::number::Number::Finite(_));
    if !names.iter().all(is_number) {
        return Ok(());
    }
    Err(DataError::new(
        DataErrorKind::Format,
        format!("the first line should name the columns, found only numbers: {}", infer::shown(names)),
    )
    .remedy("say --no-header if it is data; its columns are then named 1, 2, …"))
}

/// The schema of a model, checked against the input.
fn bound_schema(
    schema: &Schema,
    format: Format,
    sampled: &Sampled,
    options: &Options,
    notes: &mut Vec<String>,
) -> Result<Schema, DataError> {
    check_layout(schema, format.layout(), format)?;
    match sampled {
        // Keys that are no columns are hashed by their names, not ignored.
        Sampled::Table(sample) if sample.is_open => {
            notes.extend(check_columns(schema, &sample.names, &Binds::new(options, Purpose::Learn))?);
        }
        Sampled::Table(sample) => {
            notes.extend(bind_columns(schema, &sample.names, &Binds::new(options, Purpose::Learn))?);
        }
        Sampled::Labels(..) => {}
    }
    Ok(schema.clone())
}

/// Refuses an input that is laid out in another way than a model's.
pub(crate) fn check_layout(schema: &Schema, layout: Layout, format: Format) -> Result<(), DataError> {
    if schema.layout == layout {
        return Ok(());
    }
    let of = |layout| match layout {
        Layout::Table => "named columns",
        Layout::Indexed => "numbered features (svmlight)",
        Layout::Named => "Vowpal Wabbit's namespaces",
    };
    Err(DataError::new(
        DataErrorKind::Options,
        format!("the model was learnt from {}, and this is {format}", of(schema.layout)),
    )
    .remedy("say what it is with --format if it is something else, convert it with onward convert, or learn a model from it"))
}

/// What columns an input is to have, besides those of the schema's features.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Binds {
    /// Whether the schema is that of a model, and not of the first input.
    pub(crate) of_model: bool,
    /// Whether rows are to be learnt from.
    pub(crate) requires_target: bool,
}

impl Binds {
    pub(crate) fn new(options: &Options, purpose: Purpose) -> Self {
        Self {
            of_model: options.schema.is_some(),
            requires_target: options.require_target && purpose == Purpose::Learn,
        }
    }

    /// Who named the target.
    pub(crate) fn target(self) -> &'static str {
        if self.of_model { "the model's target" } else { "--target" }
    }

    fn owner(self) -> &'static str {
        if self.of_model { "the model" } else { "the first input" }
    }
}

/// Says what the input lacks of the schema's columns, and what it has besides; refuses if it
/// lacks all of them.
pub(crate) fn bind_columns(schema: &Schema, names: &[String], binds: &Binds) -> Result<Vec<String>, DataError> {
    let mut notes = check_columns(schema, names, binds)?;
    let weight = schema.columns.iter().find(|column| column.role == Role::Weight && !names.contains(&column.name));
    if let Some(weight) = weight.filter(|_| binds.requires_target) {
        let named = if binds.of_model { "the model's weight" } else { "--weight" };
        return Err(infer::no_such_column(&weight.name, named, names));
    }
    let known: HashSet<_> = schema.columns.iter().map(|column| &column.name).collect();
    let extra: Vec<_> = names.iter().filter(|name| !known.contains(name)).cloned().collect();
    if !extra.is_empty() {
        let owner = binds.owner();
        let lacks = if binds.of_model { "does not know" } else { "does not have" };
        notes.push(format!("columns that {owner} {lacks}, ignored: {}", infer::shown(&extra)));
    }
    Ok(notes)
}

/// Says what the input lacks of the schema's columns; refuses if it lacks all of them.
pub(crate) fn check_columns(schema: &Schema, names: &[String], binds: &Binds) -> Result<Vec<String>, DataError> {
    let mut notes = Vec::new();
    let owner = binds.owner();
    let there: HashSet<_> = names.iter().map(String::as_str).collect();
    let has = |name: &str| there.contains(name);
    let features: Vec<_> = schema.columns.iter().filter(|column| matches!(column.role, Role::Feature(_))).collect();
    let lacking: Vec<_> =
        features.iter().filter(|column| !has(&column.name)).map(|column| column.name.clone()).collect();
    if !features.is_empty() && lacking.len() == features.len() {
        return Err(has_none(owner, &lacking));
    }
    if binds.requires_target && !has(&schema.target.column) {
        return Err(infer::no_such_column(&schema.target.column, binds.target(), names));
    }
    if !lacking.is_empty() {
        notes.push(format!("columns of {owner} that the input lacks, taken as missing: {}", infer::shown(&lacking)));
    }
    let lacking = |role: &Role| {
        let columns = schema.columns.iter().filter(|column| column.role == *role && !has(&column.name));
        columns.map(|column| column.name.clone()).collect::<Vec<_>>()
    };
    let ids = lacking(&Role::Id);
    // Where tables are copied there are no features, and all columns are ids.
    if features.is_empty() && !ids.is_empty() && ids.len() == schema.columns.len() {
        return Err(has_none(owner, &ids));
    }
    if !ids.is_empty() {
        let place = if features.is_empty() { "" } else { " in predictions" };
        notes.push(format!("ids that the input lacks, left empty{place}: {}", infer::shown(&ids)));
    }
    let weights = lacking(&Role::Weight);
    // For learning a missing weight is an error of its first record.
    if !weights.is_empty() && !binds.requires_target {
        notes.push(format!("weights that the input lacks, each example counts 1: {}", infer::shown(&weights)));
    }
    Ok(notes)
}

/// An input that is another than was meant.
fn has_none(owner: &str, lacking: &[String]) -> DataError {
    DataError::new(DataErrorKind::Options, format!("has none of {owner}'s columns ({})", infer::shown(lacking)))
        .remedy("is it the right file, and does it have a header?")
}

/// What is said of later inputs: the same of many only once.
#[derive(Debug, Default)]
pub(crate) struct LaterNotes {
    /// A note, the first input that it is about, and of how many more.
    said: Vec<(String, String, usize)>,
}

impl LaterNotes {
    pub(crate) fn add(&mut self, input: &str, notes: Vec<String>) {
        for note in notes {
            match self.said.iter_mut().find(|(other, ..)| *other == note) {
                Some((.., more)) => *more += 1,
                None => self.said.push((note, input.to_owned(), 0)),
            }
        }
    }

    pub(crate) fn lines(self) -> impl Iterator<Item = String> {
        self.said.into_iter().map(|(note, input, more)| match more {
            0 => format!("{input}: {note}"),
            _ => format!("{input} and {more} more: {note}"),
        })
    }
}

/// A record that is longer than is allowed.
pub(crate) fn too_long(limit: usize) -> DataError {
    DataError::new(DataErrorKind::Format, format!("the record that begins here is longer than {limit} bytes"))
        .remedy("is a quote left open, or is the format another one? Else allow it with --record-limit")
}

fn header_of(format: Format, delimiter: u8, options: &Options, schema: &Arc<Schema>) -> Header {
    let schema = Arc::clone(schema);
    match format {
        Format::Csv | Format::Tsv if options.header => Header::First { delimiter, schema },
        Format::Csv | Format::Tsv => Header::Numbered { delimiter, schema },
        _ => Header::Fixed,
    }
}

fn parser(format: Format, delimiter: u8, rules: Rules) -> Box<dyn Parser> {
    match format {
        Format::Csv | Format::Tsv => Box::new(CsvParser::new(delimiter, RowEncoder::new(rules))),
        Format::Jsonl => Box::new(JsonlParser::new(RowEncoder::new(rules))),
        Format::Svmlight => Box::new(SvmlightParser::new(rules)),
        _ => Box::new(VwParser::new(rules)),
    }
}
