//! Opens inputs: recognises the format, infers or binds the schema, and makes
//! the source and the parsers.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use crate::chunk::{Boundaries, Header, TextSource};
use crate::csv::{self, CsvParser};
use crate::encode::{RowEncoder, Rules};
use crate::error::{DataError, DataErrorKind};
use crate::format::{self, Format};
use crate::infer::{self, Holds, SAMPLE_BYTES, SAMPLE_ROWS, Sample, Seen, Strays};
use crate::input::Input;
use crate::jsonl::{self, JsonlParser};
use crate::options::Options;
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

/// How much of an input is looked at to recognise it.
const HEAD: usize = 4096;

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
    let format = Format::recognise(&head);
    Ok(format.filter(|format| matches!(format, Format::Parquet | Format::Arrow)))
}

fn text(inputs: &[Input], options: &Options, purpose: Purpose, count: Arc<AtomicU64>) -> Result<Opening, DataError> {
    let mut source = TextSource::new(inputs.to_vec(), Boundaries::Lines, Header::Fixed, options, count);
    let head = source.head(SAMPLE_BYTES)?.to_vec();
    let name = source.name();
    if head.iter().all(u8::is_ascii_whitespace) {
        return Err(DataError::new(DataErrorKind::Format, "is empty")
            .input(&inputs[0].name())
            .remedy("give an input with examples in it"));
    }
    let found = match options.format {
        Some(format) => Some(format),
        None => Format::recognise(&head[..head.len().min(HEAD)]),
    };
    let named = |error: DataError| error.input(&name);
    let format = found.ok_or_else(|| {
        named(DataError::new(DataErrorKind::Format, "is not in a format that onward reads: it holds binary data"))
            .remedy("formats are csv, tsv, jsonl, svmlight, vw, parquet and arrow, as they are or in gzip or zstd")
    })?;
    if matches!(format, Format::Parquet | Format::Arrow) {
        return Err(named(DataError::new(
            DataErrorKind::Format,
            format!("{format} is read from files that are not compressed as a whole, for it is read by seeking"),
        ))
        .remedy("save it to a file first"));
    }
    if format::looks_binary(&head[..head.len().min(HEAD)]) {
        return Err(named(DataError::new(DataErrorKind::Format, format!("is no {format}: it holds binary data"))));
    }
    let mut notes = vec![format!("format: {format}")];
    let (boundaries, sampled) = sample(format, &head, options).map_err(named)?;
    let (mut holds, mut strays) = (None, Strays::new());
    let schema = match &options.schema {
        _ if purpose == Purpose::Copy => {
            let Sampled::Table(sample) = &sampled else {
                return Err(named(no_table(format)));
            };
            let (schema, found) = infer::copied(sample, options).map_err(named)?;
            holds = Some(found);
            schema
        }
        Some(schema) => bound_schema(schema, format, &sampled, options, &mut notes).map_err(named)?,
        None => {
            let inferred = match &sampled {
                Sampled::Table(sample) => infer::table(sample, options),
                Sampled::Labels(seen, namespaces) => infer::labels(format.layout(), seen, namespaces, options),
            };
            let inferred = inferred.map_err(named)?;
            notes.extend(inferred.notes);
            strays = inferred.strays;
            inferred.schema
        }
    };
    let schema = Arc::new(schema);
    source.set_layout(boundaries, header_of(format, options, &schema))?;
    let rules = Rules::new(Arc::clone(&schema), options).with_strays(strays);
    let parser: Box<dyn FnMut() -> Box<dyn Parser>> = Box::new(move || parser(format, rules.clone()));
    Ok(Opening { source: Box::new(source), parser, schema, format, notes, holds })
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

fn delimiter(format: Format) -> u8 {
    if format == Format::Tsv { b'\t' } else { b',' }
}

fn sample(format: Format, head: &[u8], options: &Options) -> Result<(Boundaries, Sampled), DataError> {
    let limit = SAMPLE_ROWS;
    match format {
        Format::Csv | Format::Tsv => {
            let boundaries = Boundaries::Quoted { delimiter: delimiter(format) };
            csv_sample(head, delimiter(format), options, limit).map(|sample| (boundaries, Sampled::Table(sample)))
        }
        Format::Jsonl => {
            let sample = jsonl::sample(head, limit, &ignored(options))?;
            Ok((Boundaries::Lines, Sampled::Table(sample)))
        }
        Format::Svmlight => {
            let seen = svmlight::sample(head, limit);
            Ok((Boundaries::Lines, Sampled::Labels(seen, Vec::new())))
        }
        _ => {
            let (seen, namespaces) = vw::sample(head, limit);
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

fn csv_sample(head: &[u8], delimiter: u8, options: &Options, limit: usize) -> Result<Sample, DataError> {
    let head = csv::without_blank_lines(head);
    let end = (Boundaries::Quoted { delimiter }).first(head).unwrap_or(head.len());
    let first = csv::header(&head[..end], delimiter)?;
    let (names, rows) = if options.header {
        csv::check_header(&first)?;
        refuse_numbers(&first)?;
        (first, &head[end..])
    } else {
        ((1..=first.len()).map(|number| number.to_string()).collect(), head)
    };
    let columns = names.len();
    // The last record may go on beyond what was read; that ends with a line, and an input need not.
    let whole = match (Boundaries::Quoted { delimiter }).last(rows) {
        0 => rows,
        end if rows.ends_with(b"\n") => &rows[..end],
        _ => rows,
    };
    let mut sample = Sample::with_columns(names);
    let seen = &mut sample.seen;
    sample.rows = csv::sample(whole, delimiter, columns, limit, |column, cell| seen[column].text(cell));
    if sample.rows == 0 && options.schema.is_none() && rows.iter().all(u8::is_ascii_whitespace) {
        return Err(DataError::new(DataErrorKind::Format, "holds a header and no rows")
            .remedy("give an input with examples in it"));
    }
    Ok(sample)
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
    .line(1)
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
        Sampled::Table(sample) if sample.is_open => check_columns(schema, &sample.names, options, notes)?,
        Sampled::Table(sample) => bind_columns(schema, &sample.names, options, notes)?,
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
    .remedy("convert the input with onward convert, or learn a model from it"))
}

/// Says what the input lacks of a model's columns, and what it has besides; refuses if it
/// lacks all of them.
pub(crate) fn bind_columns(
    schema: &Schema,
    names: &[String],
    options: &Options,
    notes: &mut Vec<String>,
) -> Result<(), DataError> {
    check_columns(schema, names, options, notes)?;
    let known = |name: &&String| schema.columns.iter().any(|column| column.name == **name);
    let extra: Vec<_> = names.iter().filter(|name| !known(name)).cloned().collect();
    if !extra.is_empty() {
        notes.push(format!("columns that the model does not know, ignored: {}", infer::shown(&extra)));
    }
    Ok(())
}

/// Says what the input lacks of a model's columns; refuses if it lacks all of them.
fn check_columns(
    schema: &Schema,
    names: &[String],
    options: &Options,
    notes: &mut Vec<String>,
) -> Result<(), DataError> {
    let has = |name: &str| names.iter().any(|other| other == name);
    let features: Vec<_> = schema.columns.iter().filter(|column| matches!(column.role, Role::Feature(_))).collect();
    let lacking: Vec<_> =
        features.iter().filter(|column| !has(&column.name)).map(|column| column.name.clone()).collect();
    if !features.is_empty() && lacking.len() == features.len() {
        return Err(DataError::new(
            DataErrorKind::Options,
            format!("has none of the model's columns ({})", infer::shown(&lacking)),
        )
        .remedy("is it the right file, and does it have a header?"));
    }
    if options.require_target && !has(&schema.target.column) {
        return Err(infer::no_such_column(&schema.target.column, "the model's target", names));
    }
    if !lacking.is_empty() {
        notes.push(format!("columns of the model that the input lacks, taken as missing: {}", infer::shown(&lacking)));
    }
    Ok(())
}

fn header_of(format: Format, options: &Options, schema: &Arc<Schema>) -> Header {
    let (delimiter, schema) = (delimiter(format), Arc::clone(schema));
    match format {
        Format::Csv | Format::Tsv if options.header => Header::First { delimiter, schema },
        Format::Csv | Format::Tsv => Header::Numbered { delimiter, schema },
        _ => Header::Fixed,
    }
}

fn parser(format: Format, rules: Rules) -> Box<dyn Parser> {
    match format {
        Format::Csv | Format::Tsv => Box::new(CsvParser::new(delimiter(format), RowEncoder::new(rules))),
        Format::Jsonl => Box::new(JsonlParser::new(RowEncoder::new(rules))),
        Format::Svmlight => Box::new(SvmlightParser::new(rules)),
        _ => Box::new(VwParser::new(rules)),
    }
}
