//! Opens text: recognises its format by the head of the first input, and judges its columns by the first rows.

use std::sync::Arc;

use super::columns::{ColumnRequirements, bind_columns, check_columns, check_layout, no_table};
use super::infer::{self, InferredSchema};
use super::text_source::{Expected, FirstBytes, TextSource};
use super::{Opening, Purpose, Request, empty, rules};
use crate::error::{DataError, Result, quoted};
use crate::format::csv::cells::is_bare;
use crate::format::{Definition, FirstLines, Format, TextFormat};
use crate::options::{OnError, Options};
use crate::schema::sample::{FirstRows, TableSample};
use crate::schema::{Role, Schema};
use crate::source::decompress::is_compressed;
use crate::source::{Boundaries, too_long};

/// Opens inputs in a format of text.
pub(super) fn open(request: Request<'_>) -> Result<Opening> {
    let Request { inputs, options, purpose, .. } = request;
    let mut source = TextSource::new(request);
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
    // The keys that are left out with all that is in them.
    let ignored = |schema: &Schema| schema.names_of(&Role::Ignored);
    let ignored = options.schema.as_ref().map_or_else(|| options.ignore.clone(), ignored);
    let first = FirstLines { line, ..first_lines(&bytes, is_all, boundaries, options, &ignored) };
    let mut rows = format.sample(&first).map_err(named)?;
    if let FirstRows::Table(sample) = &mut rows
        && sample.rows == 0
        && options.schema.is_none()
    {
        return Err(named(no_rows(sample, &first, options)));
    }
    let inferred = judge(&rows, format.as_ref(), options, purpose).map_err(named)?;
    let mut notes = vec![format!("format: {}", format.described(boundaries))];
    notes.extend(inferred.notes);
    let schema = Arc::new(inferred.schema);
    source.set_layout(boundaries, Expected::new(Arc::clone(&format), options, &schema, purpose))?;
    notes.extend(source.check_ahead()?.lines());
    let rules = rules(Arc::clone(&schema), options, inferred.invalid);
    Ok(Opening {
        source: Box::new(source),
        is_live: inputs.iter().any(|input| !input.is_repeatable()),
        id_names: format.id_names(&schema),
        schema,
        format: Format::named(format.name()),
        parser: Box::new(move || format.parser(boundaries, &rules)),
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

/// A table without a row that can be looked at.
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

/// The first lines of an input.
pub(super) fn first_lines<'a>(
    bytes: &'a [u8],
    is_all: bool,
    boundaries: Boundaries,
    options: &Options,
    ignored: &'a [String],
) -> FirstLines<'a> {
    let Options { header: has_header, record_limit, threads, .. } = *options;
    FirstLines { bytes, line: 1, is_all, boundaries, has_header, record_limit, threads, ignored }
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
