//! Files of columns: Parquet and Arrow IPC.
//!
//! Record batches are read and decoded a few thousand rows at a time, and only the columns that
//! are used; parsers walk their columns row by row. Structs are flattened (`a.b`), lists of
//! strings are sets.

pub(crate) mod cells;

use std::fmt;
use std::io;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;

use crate::encode::{ParsedBatch, RowEncoder};
use crate::error::{DataError, Result};
use crate::schema::names::named_twice;
use crate::schema::{Kind, Layout, Role, Schema};
use crate::source::{Chunk, ChunkContent, Parser};
use cells::{ArrayCells, CellForm, LeafColumn};

/// The most rows of a chunk.
pub(super) const MOST_ROWS: usize = 8192;

/// A file, open and not yet read.
pub(crate) trait ColumnarFile {
    fn schema(&self) -> &SchemaRef;

    /// Whether it holds a table or examples.
    fn layout(&self) -> Layout {
        Layout::Table
    }

    /// What the file says about itself, by name.
    fn metadata(&self, _key: &str) -> Option<&str> {
        None
    }

    /// The rows with some of the columns (and perhaps more), about `size` bytes at a time.
    fn rows(self: Box<Self>, columns: &[LeafColumn], size: usize) -> Result<Box<dyn TableReader>>;
}

/// Some rows of a file.
pub(crate) struct TableSlice {
    pub(crate) rows: RecordBatch,
    /// About how many bytes of the input (decompressed) they take.
    pub(crate) bytes: u64,
    /// About how many bytes of the file were read for them.
    pub(crate) read: u64,
}

/// The part of `whole` that belongs to some of all rows.
pub(super) fn share(whole: u64, some: Range<usize>, rows: usize) -> u64 {
    let until = |done: usize| (u128::from(whole) * done as u128 / rows.max(1) as u128) as u64;
    until(some.end) - until(some.start)
}

/// The rows of a file, some of bounded size at a time.
pub(crate) trait TableReader: Send {
    /// The columns of the tables.
    fn schema(&self) -> Result<arrow_schema::Schema>;

    /// The next rows, at least one; `None` at the end.
    fn next(&mut self) -> Result<Option<TableSlice>>;
}

/// The columns of a file; no two have the same name.
pub(crate) fn named_leaves(file: &dyn ColumnarFile) -> Result<Vec<LeafColumn>> {
    let leaves = cells::leaves(file.schema());
    match named_twice(leaves.iter().map(|leaf| leaf.name.as_str())) {
        Some(found) => Err(DataError::format(found).advise("rename one of them")),
        None => Ok(leaves),
    }
}

/// Refuses a column whose type has no place among features.
pub(crate) fn check_type(leaf: &LeafColumn) -> Result {
    let Some(name) = cells::refused(&leaf.data_type) else { return Ok(()) };
    let found = format!("its type is {name}, which cannot be a feature");
    let error = DataError::format(found).column(&leaf.name);
    Err(error.advise(format!("leave it out with ⟦ignore={}⟧", leaf.name)))
}

/// Checks the columns of a file that a schema uses, and tells which they are.
pub(crate) fn wanted(leaves: Vec<LeafColumn>, schema: &Schema) -> Result<Vec<LeafColumn>> {
    let role = |leaf: &LeafColumn| schema.columns.iter().find(|column| column.name == leaf.name);
    let mut wanted = Vec::with_capacity(leaves.len());
    for leaf in leaves {
        let Some(column) = role(&leaf).filter(|column| column.role != Role::Ignored) else { continue };
        check_type(&leaf)?;
        let single = match column.role {
            Role::Target => "the target",
            Role::Weight => "the weight",
            Role::Id => "an id",
            Role::Feature(_) | Role::Ignored => "",
        };
        if cells::is_set(&leaf.data_type) && !single.is_empty() {
            let found = format!("its type is list, and {single} must have one value per row");
            return Err(DataError::options(found).column(&leaf.name).advise("name another column"));
        }
        wanted.push(leaf);
    }
    Ok(wanted)
}

/// What a damaged file is.
pub(crate) fn damaged(found: impl fmt::Display) -> DataError {
    DataError::format(format!("is damaged: {found}")).advise("copy or write it again")
}

/// What the library says of a file that it does not read.
pub(crate) fn broken(error: &dyn fmt::Display) -> DataError {
    DataError::format(format!("cannot be read ({error})"))
        .advise("if it is damaged or cut short, copy or write it again")
}

/// Reading failed.
pub(crate) fn failed(error: &io::Error) -> DataError {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => {
            DataError::format("ends too early").advise("it was cut short: copy or write it again")
        }
        _ => DataError::io(format!("reading failed: {error}")),
    }
}

/// Calls what may meet a damaged file: the libraries refuse most damage with an error, and
/// some with a panic, which is one more error here.
pub(crate) fn guarded<T>(input: &str, read: impl FnOnce() -> Result<T>) -> Result<T> {
    let result = catch_unwind(AssertUnwindSafe(read));
    result
        .unwrap_or_else(|panic| {
            let found =
                panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
            Err(damaged(found.unwrap_or("its contents contradict each other")))
        })
        .map_err(|error| error.input(input))
}

/// Walks the columns of record batches row by row.
pub(crate) struct TableParser {
    pub(crate) encoder: RowEncoder,
}

impl Parser for TableParser {
    fn parse(&mut self, chunk: &Chunk, out: &mut ParsedBatch) -> Result {
        let ChunkContent::Rows { rows, first_row, bytes, .. } = &chunk.content else { return Ok(()) };
        out.bytes += bytes;
        out.id_columns = self.encoder.id_columns.len();
        let arrays = cells::arrays(rows);
        let mut columns = Vec::with_capacity(arrays.len());
        for ((array, nulls), at) in arrays.iter().zip(chunk.places.iter()) {
            let Some(at) = *at else { continue };
            let column = ArrayCells::new(array, nulls.clone(), form(&self.encoder.column(at).role));
            columns.extend(column.map(|column| (at, column)));
        }
        for row in 0..rows.num_rows() {
            if let Err(error) = self.row(&columns, row, out) {
                let error = error.input(&chunk.input).row(first_row + row as u64);
                out.refuse(error, self.encoder.rules.skip_errors)?;
            }
        }
        Ok(())
    }
}

impl TableParser {
    fn row(&mut self, columns: &[(usize, ArrayCells<'_>)], row: usize, out: &mut ParsedBatch) -> Result {
        self.encoder.begin(out);
        for (at, column) in columns {
            if column.is_set() {
                for element in column.elements(row).into_iter().flatten() {
                    self.encoder.element(Some(*at), "", element, out);
                }
            } else {
                self.encoder.cell(*at, column.cell(row), out)?;
            }
        }
        self.encoder.end(out)
    }
}

fn form(role: &Role) -> CellForm {
    match role {
        Role::Weight | Role::Feature(Kind::Numeric { .. } | Kind::Boolean { .. } | Kind::Timestamp { .. }) => {
            CellForm::Typed
        }
        Role::Target | Role::Ignored => CellForm::Exact,
        Role::Id | Role::Feature(Kind::Categorical { .. } | Kind::Text) => CellForm::Written,
    }
}
