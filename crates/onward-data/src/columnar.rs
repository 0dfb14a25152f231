//! Parquet and Arrow IPC: files of columns.
//!
//! The source reads and decodes record batches, a few thousand rows at a time, and only
//! the columns that are used; parsers walk their columns row by row. Structs are
//! flattened (`a.b`), lists of strings are sets. An Arrow file with the columns
//! `indices` and `values` holds examples that are ready: see [`examples`].

mod cells;
mod examples;
mod ipc;
mod parquet;

use std::fmt;
use std::io::{self, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;

use crate::encode::{Binding, RowEncoder, Rules};
use crate::error::{DataError, DataErrorKind};
use crate::format::Format;
use crate::infer::{self, SAMPLE_BYTES, SAMPLE_ROWS, Sample};
use crate::input::Input;
use crate::open::{self, Judged, LaterNotes, Opening, Purpose};
use crate::options::Options;
use crate::parsed::Parsed;
use crate::piece::{Content, Parser, Piece, Source};
use crate::schema::{Kind, Layout, Role, Schema};
use cells::{Column, Form, Leaf};
use examples::ExampleParser;
pub(crate) use examples::{INDICES, LABEL, NAMES_KEY, Names, OFFSET, SCHEMA_KEY, VALUES, VERSION, VERSION_KEY, WEIGHT};
use ipc::Ipc;
pub(crate) use ipc::footer_metadata;
use parquet::Parquet;

/// The most rows of a piece.
const MOST_ROWS: usize = 8192;
/// Pieces are so much larger than those of text, for each costs something a column.
const PIECE_FACTOR: usize = 8;

/// Some rows of a file.
struct Table {
    rows: RecordBatch,
    /// About how many bytes of the input (decompressed) they take.
    bytes: u64,
    /// About how many bytes of the file were read for them.
    read: u64,
}

/// The rows of a file, a table of bounded size at a time.
trait Rows: Send {
    /// The columns of the tables.
    fn schema(&self) -> Result<arrow_schema::Schema, DataError>;

    /// The next rows, at least one; `None` at the end.
    fn next(&mut self) -> Result<Option<Table>, DataError>;
}

/// A file, open and not yet read.
enum Opened {
    Parquet(Parquet),
    Arrow(Ipc),
}

impl Opened {
    fn new(input: &Input, format: Format) -> Result<Self, DataError> {
        let Some(file) = input.file()? else {
            return Err(no_file(format));
        };
        match format {
            Format::Parquet => Parquet::open(file).map(Self::Parquet),
            _ => Ipc::open(file).map(Self::Arrow),
        }
    }

    fn schema(&self) -> &SchemaRef {
        match self {
            Self::Parquet(parquet) => &parquet.schema,
            Self::Arrow(ipc) => &ipc.schema,
        }
    }

    fn layout(&self) -> Layout {
        match self {
            Self::Arrow(ipc) if examples::are_examples(&ipc.schema) => Layout::Indexed,
            _ => Layout::Table,
        }
    }

    /// What the file says about itself, by name.
    fn metadata(&self, key: &str) -> Option<&str> {
        match self {
            Self::Parquet(_) => None,
            Self::Arrow(ipc) => ipc.metadata.get(key).map(String::as_str),
        }
    }

    /// The rows with some of the columns (and perhaps more), about `piece` bytes at a time.
    fn rows(self, columns: &[Leaf], piece: usize) -> Result<Box<dyn Rows>, DataError> {
        Ok(match self {
            Self::Parquet(parquet) => Box::new(parquet.rows(columns, piece)?),
            Self::Arrow(ipc) => Box::new(ipc.rows(columns, piece)),
        })
    }
}

/// Opens inputs in one of the two formats.
pub(crate) fn open(
    inputs: &[Input],
    format: Format,
    options: &Options,
    purpose: Purpose,
    count: Arc<AtomicU64>,
) -> Result<Opening, DataError> {
    for input in inputs {
        check_magic(input, format).map_err(|error| error.input(&input.name()))?;
    }
    let mut notes = vec![format!("format: {format}")];
    let first = &inputs[0];
    let (layout, schema) = guarded(&first.name(), || {
        let opened = Opened::new(first, format)?;
        let layout = opened.layout();
        let schema = options.schema.as_ref();
        let schema = schema.map(|schema| bound_schema(schema, &opened, format, options, &mut notes));
        Ok((layout, schema.transpose()?))
    })?;
    let Judged { schema, holds, strays } = match schema {
        Some(schema) => Judged::known(schema),
        None => judge(inputs, format, layout, options, purpose, &mut notes)?,
    };
    let schema = Arc::new(schema);
    let rules = Rules::new(Arc::clone(&schema), options).with_strays(strays);
    let mut source = ColumnSource {
        inputs: Vec::from(inputs).into_iter(),
        format,
        schema: Arc::clone(&schema),
        piece: options.chunk_size.max(1).saturating_mul(PIECE_FACTOR),
        binds: open::Binds::new(options, purpose),
        count,
        current: None,
    };
    let mut later = LaterNotes::default();
    for input in &inputs[1..] {
        let name = input.name();
        let said = guarded(&name, || {
            source.open(input)?;
            source.bind_columns(input)
        })?;
        later.add(&name, said);
    }
    notes.extend(source.advance()?);
    notes.extend(later.lines());
    Ok(Opening {
        source: Box::new(source),
        parser: Box::new(move || match layout {
            Layout::Indexed => Box::new(ExampleParser::new(rules.clone())),
            _ => Box::new(TableParser { encoder: RowEncoder::new(rules.clone()).with_nulls() }),
        }),
        schema,
        format,
        notes,
        holds,
    })
}

/// Infers from the first rows what is not known.
fn judge(
    inputs: &[Input],
    format: Format,
    layout: Layout,
    options: &Options,
    purpose: Purpose,
    notes: &mut Vec<String>,
) -> Result<Judged, DataError> {
    let named = |error: DataError| error.input(&inputs[0].name());
    match (purpose, layout) {
        (Purpose::Copy, Layout::Indexed) => Err(named(open::no_table(format))),
        (Purpose::Copy, _) => Judged::copied(&sample(inputs, format, options)?, options).map_err(named),
        (Purpose::Learn, Layout::Indexed) => examples::inferred(inputs, options, notes).map(Judged::known),
        (Purpose::Learn, _) => {
            let inferred = infer::table(&sample(inputs, format, options)?, options).map_err(named)?;
            Ok(Judged::inferred(inferred, notes))
        }
    }
}

/// The schema of a model, checked against the first file.
fn bound_schema(
    schema: &Schema,
    opened: &Opened,
    format: Format,
    options: &Options,
    notes: &mut Vec<String>,
) -> Result<Schema, DataError> {
    open::check_layout(schema, opened.layout(), format)?;
    if opened.layout() == Layout::Table {
        let names: Vec<_> = named_leaves(opened)?.into_iter().map(|leaf| leaf.name).collect();
        notes.extend(open::bind_columns(schema, &names, &open::Binds::new(options, Purpose::Learn))?);
    }
    Ok(schema.clone())
}

/// The first rows of the first file that has some.
fn sample(inputs: &[Input], format: Format, options: &Options) -> Result<Sample, DataError> {
    for input in inputs {
        let sample = guarded(&input.name(), || file_sample(Opened::new(input, format)?, options))?;
        if sample.rows > 0 {
            return Ok(sample);
        }
    }
    Err(no_rows(inputs))
}

fn file_sample(opened: Opened, options: &Options) -> Result<Sample, DataError> {
    let mut leaves = named_leaves(&opened)?;
    let mut sample = Sample::with_columns(leaves.iter().map(|leaf| leaf.name.clone()).collect());
    leaves.retain(|leaf| !options.ignore.contains(&leaf.name));
    for leaf in &leaves {
        check_type(leaf)?;
    }
    let whole = opened.schema().clone();
    let mut rows = opened.rows(&leaves, options.chunk_size.max(1))?;
    // Of the columns that are there, those that were asked for.
    let place = |leaf: Leaf| {
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
fn look(rows: &RecordBatch, places: &[Option<usize>], sample: &mut Sample) {
    let count = rows.num_rows().min(SAMPLE_ROWS - sample.rows);
    for ((array, nulls), place) in cells::arrays(rows).iter().zip(places) {
        let column = Column::new(array, nulls.clone(), Form::Exact);
        if let (Some(place), Some(column)) = (*place, column) {
            (0..count).for_each(|row| column.look(row, &mut sample.seen[place]));
        }
    }
    sample.rows += count;
}

/// The columns of a file; no two have the same name.
fn named_leaves(opened: &Opened) -> Result<Vec<Leaf>, DataError> {
    let leaves = cells::leaves(opened.schema());
    let mut seen = std::collections::HashMap::with_capacity(leaves.len());
    for (at, leaf) in leaves.iter().enumerate() {
        if let Some(before) = seen.insert(leaf.name.as_str(), at) {
            let found = format!("columns {} and {} are both named '{}'", before + 1, at + 1, leaf.name);
            return Err(DataError::new(DataErrorKind::Format, found).remedy("rename one of them"));
        }
    }
    Ok(leaves)
}

/// Refuses a column whose type has no place among features.
fn check_type(leaf: &Leaf) -> Result<(), DataError> {
    let Some(name) = cells::refused(&leaf.data_type) else {
        return Ok(());
    };
    let found = format!("its type is {name}, which cannot be a feature");
    let error = DataError::new(DataErrorKind::Format, found).column(&leaf.name);
    Err(error.remedy(format!("leave it out with --ignore '{}'", leaf.name)))
}

fn one_value(leaf: &Leaf, what: &str) -> DataError {
    let found = format!("its type is list, and {what} is one value a row");
    DataError::new(DataErrorKind::Options, found).column(&leaf.name).remedy("name another column")
}

/// Checks the columns of a file that a schema uses, and tells which they are.
fn wanted(leaves: Vec<Leaf>, schema: &Schema) -> Result<Vec<Leaf>, DataError> {
    let role = |leaf: &Leaf| schema.columns.iter().find(|column| column.name == leaf.name);
    let mut wanted = Vec::with_capacity(leaves.len());
    for leaf in leaves {
        let Some(column) = role(&leaf).filter(|column| column.role != Role::Ignored) else {
            continue;
        };
        check_type(&leaf)?;
        let single = match column.role {
            Role::Target => "the target",
            Role::Weight => "the weight",
            Role::Id => "an id",
            Role::Feature(_) | Role::Ignored => "",
        };
        if cells::is_set(&leaf.data_type) && !single.is_empty() {
            return Err(one_value(&leaf, single));
        }
        wanted.push(leaf);
    }
    Ok(wanted)
}

/// Refuses what is no file, or no file of the format.
fn check_magic(input: &Input, format: Format) -> Result<(), DataError> {
    let Some(file) = input.file()?.filter(|_| input.is_repeatable()) else {
        return Err(no_file(format));
    };
    let mut head = Vec::new();
    file.take(8).read_to_end(&mut head).map_err(|error| failed(&error))?;
    if Format::recognise(&head, false) == Some(format) {
        return Ok(());
    }
    let error = DataError::new(DataErrorKind::Format, format!("is no {format} file"));
    Err(match &head[..] {
        [] => DataError::new(DataErrorKind::Format, "is empty").remedy("give an input with examples in it"),
        [b'P', b'A', b'R', b'E', ..] => error.remedy("it is encrypted: decrypt it first"),
        head if crate::input::is_compressed(head) => error.remedy("it is compressed as a whole: decompress it first"),
        _ => error.remedy("all inputs are of one format: convert it first, or leave it out"),
    })
}

fn no_file(format: Format) -> DataError {
    DataError::new(DataErrorKind::Format, format!("{format} is read from files, for it is read by seeking"))
        .remedy("save it to a file first")
}

fn no_rows(inputs: &[Input]) -> DataError {
    let name = inputs.first().map_or_else(String::new, Input::name);
    DataError::new(DataErrorKind::Format, "holds no rows").input(&name).remedy("give an input with examples in it")
}

/// What a damaged file is.
pub(crate) fn damaged(found: impl fmt::Display) -> DataError {
    DataError::new(DataErrorKind::Format, format!("is damaged: {found}")).remedy("copy or write it again")
}

/// What the library says of a file that it does not read.
pub(crate) fn broken(error: &dyn fmt::Display) -> DataError {
    DataError::new(DataErrorKind::Format, format!("cannot be read ({error})"))
        .remedy("if it is damaged or cut short, copy or write it again")
}

/// Reading failed.
fn failed(error: &io::Error) -> DataError {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => {
            DataError::new(DataErrorKind::Format, "ends too early").remedy("it was cut short: copy or write it again")
        }
        _ => DataError::new(DataErrorKind::Io, format!("reading failed: {error}")),
    }
}

/// Calls what may meet a damaged file: the libraries refuse most damage with an error, and
/// some with a panic, which is one more error here.
pub(crate) fn guarded<T>(input: &str, read: impl FnOnce() -> Result<T, DataError>) -> Result<T, DataError> {
    let result = catch_unwind(AssertUnwindSafe(read));
    result
        .unwrap_or_else(|panic| {
            let found =
                panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
            Err(damaged(found.unwrap_or("it makes no sense")))
        })
        .map_err(|error| error.input(input))
}

/// Reads files one after the other.
struct ColumnSource {
    inputs: std::vec::IntoIter<Input>,
    format: Format,
    schema: Arc<Schema>,
    /// About how many bytes a piece has.
    piece: usize,
    binds: open::Binds,
    count: Arc<AtomicU64>,
    current: Option<Current>,
}

/// The file that is being read.
struct Current {
    name: Arc<str>,
    binding: Arc<Binding>,
    names: Arc<Names>,
    rows: Box<dyn Rows>,
    next_row: u64,
    /// Bytes of the file that have not been counted as read.
    uncounted: u64,
}

impl ColumnSource {
    /// Opens the next file, if there is one, and tells what is to be said about it.
    fn advance(&mut self) -> Result<Vec<String>, DataError> {
        let Some(input) = self.inputs.next() else {
            return Ok(Vec::new());
        };
        let name = input.name();
        let (current, notes) = guarded(&name, || self.open(&input))?;
        self.current = Some(current);
        Ok(notes)
    }

    fn open(&self, input: &Input) -> Result<(Current, Vec<String>), DataError> {
        let opened = Opened::new(input, self.format)?;
        if opened.layout() != self.schema.layout {
            return Err(DataError::new(DataErrorKind::Format, "is laid out in another way than the inputs before it")
                .remedy("a run reads tables, or examples (columns 'indices' and 'values'), and not both"));
        }
        let names = Names::of(&opened)?;
        let (binding, rows, notes) = match self.schema.layout {
            Layout::Indexed => {
                let columns = examples::columns(&opened)?;
                (Binding::default(), opened.rows(&columns, self.piece)?, Vec::new())
            }
            _ => {
                let leaves = named_leaves(&opened)?;
                self.check_target(&leaves)?;
                let wanted = wanted(leaves, &self.schema)?;
                let whole = opened.schema().clone();
                let rows = opened.rows(&wanted, self.piece)?;
                let leaves = cells::projected(&rows.schema()?, &whole);
                let mut binding = Binding::new(&self.schema, leaves.iter().map(|leaf| leaf.name.as_str()));
                for (leaf, column) in leaves.iter().zip(&mut binding.columns) {
                    *column = column.filter(|_| wanted.iter().any(|other| other.name == leaf.name));
                }
                (binding, rows, zone_notes(&wanted))
            }
        };
        let current = Current {
            name: Arc::from(input.name()),
            binding: Arc::new(binding),
            names: Arc::new(names),
            rows,
            next_row: 1,
            uncounted: input.size().unwrap_or(0),
        };
        Ok((current, notes))
    }

    /// What is to be said of the columns of a later file, as of those of the first.
    fn bind_columns(&self, input: &Input) -> Result<Vec<String>, DataError> {
        if self.schema.layout == Layout::Indexed {
            return Ok(Vec::new());
        }
        let leaves = named_leaves(&Opened::new(input, self.format)?)?;
        let names: Vec<_> = leaves.into_iter().map(|leaf| leaf.name).collect();
        open::bind_columns(&self.schema, &names, &self.binds)
    }

    /// A file without labels has nothing to learn from.
    fn check_target(&self, leaves: &[Leaf]) -> Result<(), DataError> {
        let target = &self.schema.target.column;
        if !self.binds.requires_target || leaves.iter().any(|leaf| leaf.name == *target) {
            return Ok(());
        }
        let names: Vec<_> = leaves.iter().map(|leaf| leaf.name.clone()).collect();
        Err(infer::no_such_column(target, "the target", &names))
    }

    fn counted(&self, bytes: u64) {
        self.count.fetch_add(bytes, Ordering::Relaxed);
    }
}

fn zone_notes(leaves: &[Leaf]) -> Vec<String> {
    let note = |leaf: &Leaf| {
        let zone = cells::named_zone(&leaf.data_type)?;
        let name = &leaf.name;
        Some(format!("times of '{name}' are read as UTC has them, for the clock of {zone} is not known here"))
    };
    leaves.iter().filter_map(note).collect()
}

impl Source for ColumnSource {
    fn next(&mut self, _buffer: Vec<u8>) -> Result<Option<Piece>, DataError> {
        loop {
            let Some(mut current) = self.current.take() else {
                self.advance()?;
                if self.current.is_none() {
                    return Ok(None);
                }
                continue;
            };
            let name = Arc::clone(&current.name);
            let Some(table) = guarded(&name, || current.rows.next())? else {
                self.counted(current.uncounted);
                continue;
            };
            let read = table.read.min(current.uncounted);
            current.uncounted -= read;
            self.counted(read);
            let piece = current.piece(table);
            self.current = Some(current);
            return Ok(Some(piece));
        }
    }

    fn is_live(&self) -> bool {
        false
    }
}

impl Current {
    fn piece(&mut self, table: Table) -> Piece {
        let first_row = self.next_row;
        self.next_row += table.rows.num_rows() as u64;
        Piece {
            input: Arc::clone(&self.name),
            binding: Arc::clone(&self.binding),
            content: Content::Rows { rows: table.rows, first_row, bytes: table.bytes, names: Arc::clone(&self.names) },
        }
    }
}

/// Walks the columns of record batches row by row.
struct TableParser {
    encoder: RowEncoder,
}

impl Parser for TableParser {
    fn parse(&mut self, piece: &Piece, out: &mut Parsed) -> Result<(), DataError> {
        let Content::Rows { rows, first_row, bytes, .. } = &piece.content else {
            return Ok(());
        };
        out.bytes += bytes;
        out.set_id_columns(self.encoder.id_columns());
        let schema = self.encoder.schema();
        let arrays = cells::arrays(rows);
        let mut columns = Vec::with_capacity(arrays.len());
        for ((array, nulls), at) in arrays.iter().zip(&piece.binding.columns) {
            let Some(at) = *at else {
                continue;
            };
            let column = Column::new(array, nulls.clone(), form(&schema.columns[at].role));
            columns.extend(column.map(|column| (at, column)));
        }
        for row in 0..rows.num_rows() {
            if let Err(error) = self.row(&schema, &columns, row, out) {
                let error = error.input(&piece.input).row(first_row + row as u64);
                if !self.encoder.skips_errors() {
                    out.abandon();
                    return Err(error);
                }
                out.skip(error);
            }
        }
        Ok(())
    }
}

impl TableParser {
    fn row(
        &mut self,
        schema: &Schema,
        columns: &[(usize, Column<'_>)],
        row: usize,
        out: &mut Parsed,
    ) -> Result<(), DataError> {
        self.encoder.begin(out);
        for (at, column) in columns {
            if column.is_set() {
                for element in column.elements(row).into_iter().flatten() {
                    self.encoder.element(Some(*at), &schema.columns[*at].name, element, out);
                }
            } else {
                self.encoder.cell(schema, *at, column.cell(row), out)?;
            }
        }
        self.encoder.end(schema, out)
    }
}

fn form(role: &Role) -> Form {
    match role {
        Role::Weight | Role::Feature(Kind::Numeric { .. } | Kind::Boolean { .. } | Kind::Timestamp { .. }) => {
            Form::Typed
        }
        Role::Target | Role::Ignored => Form::Exact,
        Role::Id | Role::Feature(Kind::Categorical { .. } | Kind::Text) => Form::Written,
    }
}
