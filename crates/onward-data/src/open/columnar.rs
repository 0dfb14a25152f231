//! Opens files of columns: Parquet and Arrow IPC.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow_array::RecordBatch;

use super::columns::{ColumnRequirements, LaterNotes, bind_columns, check_layout, no_table};
use super::infer::{self, InferredSchema};
use super::{Opening, Purpose, Request, empty, rules};
use crate::encode::{NamesSeen, RowEncoder};
use crate::error::{DataError, Result};
use crate::format::arrow::examples::{self, ExampleParser};
use crate::format::columnar::cells::{self, ArrayCells, CellForm, LeafColumn};
use crate::format::columnar::{
    ColumnarFile, TableParser, TableReader, TableSlice, check_type, failed, guarded, named_leaves, wanted,
};
use crate::format::{ColumnarFormat, Definition, Format, Formats};
use crate::options::Options;
use crate::schema::names::no_such_column;
use crate::schema::sample::{SAMPLE_BYTES, SAMPLE_ROWS, TableSample};
use crate::schema::{Layout, Role, Schema, TargetRule};
use crate::source::decompress::is_compressed;
use crate::source::{Chunk, ChunkContent, ChunkSource, Input};

/// How many times larger chunks are than chunks of text, because each has a cost per column.
const CHUNK_FACTOR: usize = 8;

/// The format of columns that the first input has (a file that is not compressed), or that is asked for.
pub(super) fn format_of(Request { inputs, options, .. }: Request<'_>) -> Result<Option<&'static ColumnarFormat>> {
    let columnar = |definition: Option<&Definition>| match definition {
        Some(Definition::Columnar(format)) => Some(*format),
        _ => None,
    };
    if let Some(format) = &options.format {
        return Ok(columnar(options.formats.get(format)));
    }
    let Some(file) = inputs[0].seekable()? else { return Ok(None) };
    let magic = file.magic().map_err(|error| inputs[0].failed(&error))?;
    Ok(columnar(options.formats.columnar(&magic)))
}

/// Opens inputs in a format of columns.
pub(super) fn open(request: Request<'_>, format: &'static ColumnarFormat) -> Result<Opening> {
    let Request { inputs, options, purpose, count } = request;
    for input in inputs {
        check_magic(input, format, &options.formats).map_err(|error| error.input(&input.name()))?;
    }
    let layout = guarded(&inputs[0].name(), || Ok(file(&inputs[0], format)?.layout()))?;
    let inferred = judge(request, format, layout)?;
    let mut notes = vec![format!("format: {}", format.name)];
    notes.extend(inferred.notes);
    let schema = Arc::new(inferred.schema);
    let rules = rules(Arc::clone(&schema), options, inferred.invalid);
    let mut source = ColumnSource {
        inputs: Vec::from(inputs).into_iter(),
        format,
        schema: Arc::clone(&schema),
        chunk_size: options.chunk_size.max(1).saturating_mul(CHUNK_FACTOR),
        requirements: ColumnRequirements::new(options, purpose),
        count: Arc::clone(count),
        current: None,
    };
    let mut later = LaterNotes::default();
    for input in &inputs[1..] {
        let name = input.name();
        let said = guarded(&name, || {
            source.open(input)?;
            bind(input, format, &schema, &source.requirements)
        })?;
        later.add(&name, said);
    }
    notes.extend(source.advance()?);
    notes.extend(later.lines());
    Ok(Opening {
        source: Box::new(source),
        is_live: false,
        parser: Box::new(move || match layout {
            Layout::Indexed => Box::new(ExampleParser { rules: rules.clone(), seen: NamesSeen::default() }),
            _ => Box::new(TableParser { encoder: RowEncoder::new(rules.clone(), "null") }),
        }),
        id_names: schema.names_of(&Role::Id),
        schema,
        format: Format::named(format.name),
        notes,
        types: inferred.types,
    })
}

/// A file, open and not yet read.
fn file(input: &Input, format: &ColumnarFormat) -> Result<Box<dyn ColumnarFile>> {
    (format.open)(input.seekable()?.ok_or_else(|| no_file(format))?)
}

/// The notes about the columns of a table.
fn bind(input: &Input, format: &ColumnarFormat, schema: &Schema, required: &ColumnRequirements) -> Result<Vec<String>> {
    if schema.layout == Layout::Indexed {
        return Ok(Vec::new());
    }
    let names: Vec<_> = named_leaves(file(input, format)?.as_ref())?.into_iter().map(|leaf| leaf.name).collect();
    bind_columns(schema, &names, required)
}

/// What the first rows say about all, or the schema of a model, checked against the first file.
fn judge(request: Request<'_>, format: &ColumnarFormat, layout: Layout) -> Result<InferredSchema> {
    let Request { inputs, options, purpose, .. } = request;
    let named = |error: DataError| error.input(&inputs[0].name());
    match (&options.schema, purpose, layout) {
        (Some(schema), ..) => guarded(&inputs[0].name(), || {
            check_layout(schema, layout, format.name)?;
            let requirements = ColumnRequirements::new(options, Purpose::Learn);
            Ok(InferredSchema::known(schema.clone(), bind(&inputs[0], format, schema, &requirements)?))
        }),
        (None, Purpose::Copy, Layout::Indexed) => Err(named(no_table(format.name))),
        (None, Purpose::Copy, _) => infer::copied(&sample(request, format)?, options).map_err(named),
        (None, Purpose::Learn, Layout::Indexed) => examples_schema(request, format),
        (None, Purpose::Learn, _) => infer::table(&sample(request, format)?, options).map_err(named),
    }
}

/// The first rows of the first file that has some.
fn sample(Request { inputs, options, .. }: Request<'_>, format: &ColumnarFormat) -> Result<TableSample> {
    for input in inputs {
        let sample = guarded(&input.name(), || file_sample(file(input, format)?, options))?;
        if sample.rows > 0 {
            return Ok(sample);
        }
    }
    Err(no_rows(inputs))
}

fn file_sample(file: Box<dyn ColumnarFile>, options: &Options) -> Result<TableSample> {
    let mut leaves = named_leaves(file.as_ref())?;
    let mut sample = TableSample::with_columns(leaves.iter().map(|leaf| leaf.name.clone()).collect(), 0);
    leaves.retain(|leaf| !options.ignore.contains(&leaf.name));
    for leaf in &leaves {
        check_type(leaf)?;
    }
    let whole = file.schema().clone();
    let mut rows = file.rows(&leaves, options.chunk_size.max(1))?;
    // Of the columns that are there, those that were asked for.
    let place = |leaf: LeafColumn| {
        let at = sample.names.iter().position(|name| *name == leaf.name);
        at.filter(|_| !options.ignore.contains(&leaf.name))
    };
    let places: Vec<_> = cells::projected(&rows.schema()?, &whole).into_iter().map(place).collect();
    let mut bytes = 0;
    while sample.rows < SAMPLE_ROWS
        && bytes < SAMPLE_BYTES as u64
        && let Some(table) = rows.next()?
    {
        bytes += table.bytes;
        look(&table.rows, &places, &mut sample);
    }
    Ok(sample)
}

/// Takes in the cells of some rows.
fn look(rows: &RecordBatch, places: &[Option<usize>], sample: &mut TableSample) {
    let count = rows.num_rows().min(SAMPLE_ROWS - sample.rows);
    for ((array, nulls), place) in cells::arrays(rows).iter().zip(places) {
        let column = ArrayCells::new(array, nulls.clone(), CellForm::Exact);
        if let (Some(place), Some(column)) = (*place, column) {
            (0..count).for_each(|row| column.look(row, &mut sample.seen[place]));
        }
    }
    sample.rows += count;
}

/// The schema of examples: that of their origin where the file tells, else from the labels of
/// the first rows.
fn examples_schema(request: Request<'_>, format: &ColumnarFormat) -> Result<InferredSchema> {
    let Request { inputs, options, .. } = request;
    for input in inputs {
        let (labels, rule) = guarded(&input.name(), || examples::first_labels(file(input, format)?))?;
        let Some(labels) = labels else { continue };
        let mut inferred =
            infer::labels(Layout::Indexed, &labels, options).map_err(|error| error.input(&input.name()))?;
        // The labels are those that this rule gave: the same again.
        if let Some(rule) = rule.filter(|_| options.target.is_none() && options.task.is_none()) {
            inferred.schema.target.rule = match rule {
                TargetRule::Signs | TargetRule::Classes { .. } | TargetRule::Comparison { .. } => TargetRule::Signs,
                rule @ (TargetRule::Number | TargetRule::Probability | TargetRule::ClassNumber) => rule,
            };
            inferred.notes = vec!["target: label, as chosen when the file was converted".to_owned()];
        }
        return Ok(inferred);
    }
    Err(no_rows(inputs))
}

/// Refuses what is no file, or no file of the format.
fn check_magic(input: &Input, format: &ColumnarFormat, formats: &Formats) -> Result {
    let file = input.seekable()?.ok_or_else(|| no_file(format))?;
    let head = file.magic().map_err(|error| failed(&error))?;
    if formats.columnar(&head).is_some_and(|found| found.name() == format.name) {
        return Ok(());
    }
    let error = DataError::format(format!("is not a {} file", format.name));
    Err(match &head[..] {
        [] => empty(),
        [b'P', b'A', b'R', b'E', ..] => error.advise("it is encrypted: decrypt it first"),
        head if is_compressed(head) => error.advise("it is compressed as a whole: decompress it first"),
        _ => error.advise("all inputs must have one format: convert it first, or leave it out"),
    })
}

fn no_file(format: &ColumnarFormat) -> DataError {
    let found = format!("{} must come from a file, because it is read by seeking", format.name);
    DataError::format(found).advise("save it to a file first")
}

fn no_rows(inputs: &[Input]) -> DataError {
    DataError::format("holds no rows").input(&inputs[0].name()).advise("give an input with examples in it")
}

/// Reads files one after the other.
struct ColumnSource {
    inputs: std::vec::IntoIter<Input>,
    format: &'static ColumnarFormat,
    schema: Arc<Schema>,
    /// About how many bytes a chunk has.
    chunk_size: usize,
    requirements: ColumnRequirements,
    count: Arc<AtomicU64>,
    current: Option<CurrentFile>,
}

/// The file that is being read.
struct CurrentFile {
    name: Arc<str>,
    places: Arc<[Option<usize>]>,
    names: Arc<HashMap<u32, Box<str>>>,
    rows: Box<dyn TableReader>,
    next_row: u64,
    /// Bytes of the file that have not been counted as read.
    uncounted: u64,
}

impl ColumnSource {
    /// Opens the next file, if there is one, and returns the notes about it.
    fn advance(&mut self) -> Result<Vec<String>> {
        let Some(input) = self.inputs.next() else { return Ok(Vec::new()) };
        let (current, notes) = guarded(&input.name(), || self.open(&input))?;
        self.current = Some(current);
        Ok(notes)
    }

    fn open(&self, input: &Input) -> Result<(CurrentFile, Vec<String>)> {
        let file = file(input, self.format)?;
        if file.layout() != self.schema.layout {
            return Err(DataError::format("is laid out in another way than the inputs before it")
                .advise("all inputs must be tables, or all must be examples (columns 'indices' and 'values')"));
        }
        let names = Arc::new(examples::names(file.as_ref())?);
        let columns = match self.schema.layout {
            Layout::Indexed => examples::columns(file.as_ref())?,
            _ => {
                let leaves = named_leaves(file.as_ref())?;
                self.check_target(&leaves)?;
                wanted(leaves, &self.schema)?
            }
        };
        let whole = file.schema().clone();
        let rows = file.rows(&columns, self.chunk_size)?;
        let leaves = cells::projected(&rows.schema()?, &whole);
        let mut places = self.schema.places_of(leaves.iter().map(|leaf| leaf.name.as_str()));
        for (leaf, column) in leaves.iter().zip(&mut places) {
            *column = column.filter(|_| columns.iter().any(|other| other.name == leaf.name));
        }
        let zone_note = |leaf: &LeafColumn| {
            let (name, zone) = (&leaf.name, cells::named_zone(&leaf.data_type)?);
            Some(format!("times of '{name}' are read as UTC, because the offset of {zone} is not known here"))
        };
        let notes = columns.iter().filter_map(zone_note).collect();
        let (name, places, uncounted) = (input.name().into(), places.into(), input.size().unwrap_or(0));
        Ok((CurrentFile { name, places, names, rows, next_row: 1, uncounted }, notes))
    }

    /// A file without labels has nothing to learn from.
    fn check_target(&self, leaves: &[LeafColumn]) -> Result {
        let target = &self.schema.target.column;
        if !self.requirements.requires_target || leaves.iter().any(|leaf| leaf.name == *target) {
            return Ok(());
        }
        let names: Vec<_> = leaves.iter().map(|leaf| leaf.name.clone()).collect();
        Err(no_such_column(target, "the target", &names))
    }
}

impl ChunkSource for ColumnSource {
    fn next(&mut self, _buffer: Vec<u8>) -> Result<Option<Chunk>> {
        loop {
            let Some(current) = &mut self.current else {
                self.advance()?;
                if self.current.is_none() {
                    return Ok(None);
                }
                continue;
            };
            let table = guarded(&current.name, || current.rows.next())?;
            let read = table.as_ref().map_or(current.uncounted, |table| table.read.min(current.uncounted));
            current.uncounted -= read;
            self.count.fetch_add(read, Ordering::Relaxed);
            match table {
                Some(table) => return Ok(Some(current.chunk(table))),
                None => self.current = None,
            }
        }
    }
}

impl CurrentFile {
    fn chunk(&mut self, table: TableSlice) -> Chunk {
        let first_row = self.next_row;
        self.next_row += table.rows.num_rows() as u64;
        let TableSlice { rows, bytes, .. } = table;
        Chunk {
            input: Arc::clone(&self.name),
            places: Arc::clone(&self.places),
            content: ChunkContent::Rows { rows, first_row, bytes, names: Arc::clone(&self.names) },
        }
    }
}
