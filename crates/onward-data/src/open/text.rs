//! Opens text: recognises its format by the head of the first input, and judges its columns by the first rows.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use super::columns::{ColumnRequirements, bind_columns, check_columns, check_layout, no_table};
use super::infer::{self, InferredSchema};
use super::text_source::{Expected, FirstBytes, TextSource};
use super::{Opening, Purpose, empty, rules};
use crate::error::{DataError, Result, quoted};
use crate::format::csv::cells::is_bare;
use crate::format::{Definition, FirstLines, TextFormat};
use crate::options::{OnError, Options};
use crate::schema::sample::{FirstRows, TableSample};
use crate::schema::{Role, Schema};
use crate::source::decompress::is_compressed;
use crate::source::{Boundaries, Input, too_long};

/// Opens inputs in a format of text.
pub(super) fn open(inputs: &[Input], options: &Options, purpose: Purpose, count: Arc<AtomicU64>) -> Result<Opening> {
    let mut source = TextSource::new(inputs.to_vec(), options, count);
    // A header alone says nothing about the columns: the next input may.
    let mut bare = None;
    let mut head = source.head()?;
    while head.is_all && holds_header_only(&head.bytes, options) {
        bare.get_or_insert_with(|| header_only().input(&head.name));
        if !source.pass() {
            // Its own error says the same, or more.
            break;
        }
        head = source.head()?;
    }
    let FirstBytes { bytes, name, line, is_all, failure } = head;
    // What cannot be read on may look like anything.
    let named = |error: DataError| failure.clone().unwrap_or_else(|| error.input(&name));
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(failure.or(bare).unwrap_or_else(|| empty().input(&inputs[0].name())));
    }
    let format = recognise(&bytes, options).map_err(named)?;
    if !is_all && !bytes.contains(&b'\n') {
        return Err(named(too_long(options.record_limit).line(line)));
    }
    let boundaries = format.boundaries(&bytes);
    let ignored = options.schema.as_ref().map_or_else(|| options.ignore.clone(), ignored);
    let first = FirstLines {
        bytes: &bytes,
        line,
        is_all,
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
    if is_compressed(bytes) {
        return Err(DataError::format("is compressed twice").advise("decompress it once"));
    }
    let format = match options.recognise(bytes) {
        Some(Definition::Text(format)) => Arc::clone(format),
        Some(Definition::Columnar(format)) => {
            let found = format!("{} must not be compressed as a whole, because it is read by seeking", format.name);
            return Err(DataError::format(found).advise("save it to a file first"));
        }
        None => {
            let formats = options.formats.list();
            let (before, last) = formats.rsplit_once(", ").unwrap_or(("", &formats));
            return Err(DataError::format("is binary data, in no format that Onward reads")
                .advise(format!("formats are {before} and {last}, as they are or in gzip or zstd")));
        }
    };
    if !bytes.contains(&b'\n') && bytes.trim_ascii().contains(&b'\r') {
        return Err(DataError::format("its lines end with carriage returns alone, as on old Macs")
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
    match (sample.fault.take(), sample.names.as_slice()) {
        (Some(fault), _) if options.on_error == OnError::Stop => fault,
        _ if !first.is_all => {
            let size = first.bytes.len();
            let found = format!("the first row must end within {size} bytes, so that the columns can be inferred");
            DataError::format(found)
                .advise(
                    "close a quote that is left open, name another format with ⟦format⟧, or put a shorter row \
                         first",
                )
                .line(sample.first_line)
        }
        (Some(_), _) => DataError::format("holds no row that can be read")
            .advise("run without ⟦on_error=skip⟧ to see what is wrong with the first one"),
        (None, [only]) if options.format.is_none() => {
            let only = quoted(only.as_bytes());
            DataError::format(format!("holds one line, {only}, which as CSV is a header"))
                .advise("if it was cut short, copy it again; if it is in another format, name it with ⟦format⟧")
        }
        (None, _) => header_only(),
    }
}

fn header_only() -> DataError {
    DataError::format("holds a header and no rows").advise("give an input with examples in it")
}

/// Whether all that a table holds is its header, from which no columns can be judged.
fn holds_header_only(bytes: &[u8], options: &Options) -> bool {
    if !options.header || options.schema.is_some() {
        return false;
    }
    let format = options.recognise(bytes).and_then(Definition::text).filter(|format| format.has_header());
    match format.map(|format| format.boundaries(bytes)) {
        Some(Boundaries::Quoted { delimiter }) => is_bare(bytes, delimiter),
        Some(Boundaries::Lines) | None => false,
    }
}

/// The keys that a schema leaves out with all that is in them.
pub(super) fn ignored(schema: &Schema) -> Vec<String> {
    let ignored = schema.columns.iter().filter(|column| column.role == Role::Ignored);
    ignored.map(|column| column.name.clone()).collect()
}

/// What the first rows say about all.
fn judge(rows: &FirstRows, format: &dyn TextFormat, options: &Options, purpose: Purpose) -> Result<InferredSchema> {
    match (rows, &options.schema) {
        (FirstRows::Table(sample), _) if purpose == Purpose::Copy => infer::copied(sample, options),
        _ if purpose == Purpose::Copy => Err(no_table(format.name())),
        (FirstRows::Table(sample), None) => infer::table(sample, options),
        (FirstRows::Labels(sample), None) => infer::labels(format.layout(), sample, options),
        (rows, Some(schema)) => {
            check_layout(schema, format.layout(), format.name())?;
            let requirements = ColumnRequirements::new(options, Purpose::Learn);
            let notes = match rows {
                // Keys that are no columns are hashed by their names, not ignored.
                FirstRows::Table(sample) if sample.is_open => check_columns(schema, &sample.names, &requirements)?,
                FirstRows::Table(sample) => bind_columns(schema, &sample.names, &requirements)?,
                FirstRows::Labels(_) => Vec::new(),
            };
            Ok(InferredSchema::known(schema.clone(), notes))
        }
    }
}
