//! What writes formats: examples, or tables.

use std::io::{self, Write};

use onward::Example;

use crate::error::{DataError, quoted};
use crate::schema::{ColumnType, Schema};
use crate::text::numbers::{self, Number};

/// What was written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Converted {
    /// Examples written.
    pub rows: u64,
    /// Records left out because they could not be read, if that was allowed.
    pub skipped: u64,
    /// Features whose name was written.
    pub names: u64,
    /// The [`bits`](crate::Options::bits) with which svmlight is read again: more than its largest index needs none.
    pub bits: u32,
}

/// Why converting stopped.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConvertError {
    /// The input is at fault, or holds what the format cannot say.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The output could not be written.
    #[error("writing failed: {0}")]
    Write(#[from] io::Error),
}

/// How the columns of Arrow and Parquet are compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Compression {
    /// Not at all: reads fastest.
    #[default]
    None,
    /// LZ4: fast, somewhat smaller.
    Lz4,
    /// Zstandard: smallest.
    Zstd,
}

/// Begins to write examples of a schema.
pub type NewExampleWriter = for<'a> fn(&Schema, Compression, Out<'a>) -> NewExamples<'a>;

/// Begins to write a table of these columns.
pub type NewTableWriter = for<'a> fn(Vec<TableColumn>, Compression, Out<'a>) -> NewTable<'a>;

/// Where a format is written to.
pub(super) type Out<'a> = &'a mut (dyn Write + Send);

/// What begins to write examples gives.
pub(super) type NewExamples<'a> = Result<Box<dyn ExampleWriter + 'a>, ConvertError>;

/// What begins to write a table gives.
pub(super) type NewTable<'a> = Result<Box<dyn TableWriter + 'a>, ConvertError>;

/// What is written in a format, and how.
#[derive(Clone, Copy)]
pub enum Writing {
    /// Nothing: it is only read.
    None,
    /// Examples, whatever they were made from; with the schema they were made by.
    Examples(NewExampleWriter),
    /// The rows of tables.
    Table(NewTableWriter),
}

/// Writes examples in a format.
pub trait ExampleWriter {
    /// Whether the format has a place for ids.
    fn has_ids(&self) -> bool {
        false
    }

    /// The name of a feature, once, before or with the first row that has it.
    fn name(&mut self, _index: u32, _name: &str) {}

    /// An example with its ids; `number` counts from 1.
    ///
    /// # Errors
    /// When the format has no words for it, or writing fails.
    fn row(&mut self, number: u64, example: Example<'_>, ids: &[&[u8]]) -> Result<(), ConvertError>;

    /// Writes what is left, and tells what there is to tell.
    ///
    /// # Errors
    /// When writing fails.
    fn finish(self: Box<Self>, converted: &mut Converted) -> Result<(), ConvertError>;
}

/// Writes the rows of a table, whose cells come as text.
///
/// CSV and TSV write that text; JSON lines and Parquet write what the first rows say the column holds: whole numbers, numbers,
/// truth values, else text. A later cell that does not fit is an error. As everywhere in Onward, an empty text is a missing value.
pub trait TableWriter {
    /// A row; `number` counts from 1.
    ///
    /// # Errors
    /// When a cell is not of the type of its column, or writing fails.
    fn row(&mut self, number: u64, cells: &mut dyn Iterator<Item = &[u8]>) -> Result<(), ConvertError>;

    /// Writes what is left.
    ///
    /// # Errors
    /// When writing fails.
    fn finish(self: Box<Self>) -> Result<(), ConvertError> {
        Ok(())
    }
}

/// An example that a format has no words for.
pub(super) fn cannot(number: u64, found: &str, remedy: &str) -> ConvertError {
    let found = format!("example {number} {found}");
    DataError::record(found).advise(remedy).into()
}

/// A column of a table that is written.
#[derive(Debug, Clone)]
pub struct TableColumn {
    /// Its name.
    pub name: String,
    /// What its cells hold.
    pub holds: ColumnType,
}

impl TableColumn {
    /// A cell that cannot be written as what the column holds.
    fn wrong(&self, number: u64, cell: &[u8], what: &str) -> DataError {
        DataError::record(format!("row {number}, column '{}': {} {what}", self.name, quoted(cell)))
    }

    fn misfit(&self, number: u64, cell: &[u8]) -> ConvertError {
        let name = &self.name;
        let remedy = match self.holds {
            ColumnType::Whole => format!("⟦numeric={name}⟧ writes all as 64-bit floats, ⟦categorical={name}⟧ as text"),
            _ => format!("⟦categorical={name}⟧ writes all as text"),
        };
        let what = match self.holds {
            ColumnType::Whole => "is not a whole number",
            ColumnType::Number => "is not a finite number",
            ColumnType::Boolean | ColumnType::Text => "is neither true nor false",
        };
        self.wrong(number, cell, &format!("{what}, unlike the values in the first rows")).advise(remedy).into()
    }

    /// A number, and its text; `None` when it is missing.
    pub(super) fn numeric<'a>(&self, number: u64, cell: &'a [u8]) -> Result<Option<(&'a [u8], f64)>, ConvertError> {
        let text = cell.trim_ascii();
        let unsigned = text.strip_prefix(b"-").or_else(|| text.strip_prefix(b"+")).unwrap_or(text);
        // It is a code of some kind.
        if matches!(unsigned, [b'0', b'0'..=b'9', ..]) {
            let error = self.wrong(number, cell, "would lose the zeros in front of it as a number");
            return Err(error.advise(format!("⟦categorical={}⟧ writes it as text", self.name)).into());
        }
        match numbers::parse(text) {
            Number::Finite(value) => Ok(Some((text, value))),
            Number::Missing => Ok(None),
            Number::Infinite | Number::Invalid => Err(self.misfit(number, cell)),
        }
    }

    /// A whole number; `None` when it is missing.
    pub(super) fn whole(&self, number: u64, cell: &[u8]) -> Result<Option<i64>, ConvertError> {
        const EXACT: f64 = 9_007_199_254_740_992.0;
        let Some((text, value)) = self.numeric(number, cell)? else { return Ok(None) };
        let written = std::str::from_utf8(text).ok().and_then(|text| text.parse().ok());
        match written {
            Some(whole) => Ok(Some(whole)),
            None if value == value.trunc() && value.abs() <= EXACT => Ok(Some(value as i64)),
            None => Err(self.misfit(number, cell)),
        }
    }

    /// True or false; `None` when it is missing.
    pub(super) fn truth(&self, number: u64, cell: &[u8]) -> Result<Option<bool>, ConvertError> {
        match cell.trim_ascii() {
            b"true" => Ok(Some(true)),
            b"false" => Ok(Some(false)),
            text if numbers::is_missing(text) => Ok(None),
            _ => Err(self.misfit(number, cell)),
        }
    }
}
