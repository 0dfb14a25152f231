//! Tables as CSV, TSV, JSON lines or Parquet.
//!
//! The reader hands out each row's cells as text. CSV and TSV write that text; JSON lines and
//! Parquet write what the first rows say the column holds: whole numbers, numbers, truth values,
//! else text. A later cell that does not fit is an error. As everywhere in onward, an empty
//! text is a missing value.

#[cfg(feature = "arrow")]
mod parquet;

use std::io::Write;

use super::{Compression, ConvertError, Converted, no_compression};
use crate::error::{DataError, DataErrorKind, quoted};
use crate::format::Format;
use crate::infer::Holds;
use crate::number::{self, Number};
use crate::parsed::Parsed;
use crate::reader::Reader;

/// A column of the table.
#[derive(Debug, Clone)]
struct Column {
    name: String,
    holds: Holds,
}

/// Writes rows of cells.
trait TableWriter {
    fn row(&mut self, number: u64, cells: &mut dyn Iterator<Item = &[u8]>) -> Result<(), ConvertError>;

    fn finish(self: Box<Self>) -> Result<(), ConvertError>;
}

/// Writes the rows of tables.
pub(super) fn convert(
    reader: &mut Reader,
    format: Format,
    compression: Compression,
    out: &mut dyn Write,
) -> Result<Converted, ConvertError> {
    let Some(holds) = reader.holds().filter(|_| format.is_table()) else {
        let found = format!("{format} is not written from what was opened");
        let remedy = "open tables with Reader::open_table for csv, tsv, jsonl and parquet, and with Reader::open for \
                      svmlight, vw and arrow";
        return Err(DataError::new(DataErrorKind::Options, found).remedy(remedy).into());
    };
    let names = reader.id_names().iter().cloned();
    let columns: Vec<_> = names.zip(holds).map(|(name, &holds)| Column { name, holds }).collect();
    if columns.is_empty() {
        let error = DataError::new(DataErrorKind::Options, "no column is left to write");
        return Err(error.remedy("name fewer in --ignore").into());
    }
    let mut writer = writer(columns, format, compression, out)?;
    let mut converted = Converted::default();
    while let Some(parsed) = reader.next_batch()? {
        for row in 0..parsed.batch.len() {
            converted.rows += 1;
            refuse_unknown(parsed, row, converted.rows)?;
            writer.row(converted.rows, &mut parsed.ids(row))?;
        }
        converted.skipped += parsed.skipped;
    }
    writer.finish()?;
    Ok(converted)
}

fn writer<'a>(
    columns: Vec<Column>,
    format: Format,
    compression: Compression,
    out: &'a mut dyn Write,
) -> Result<Box<dyn TableWriter + 'a>, ConvertError> {
    if format != Format::Parquet {
        no_compression(format, compression)?;
    }
    match format {
        Format::Csv => Ok(Box::new(Delimited::new(&columns, b',', out)?)),
        Format::Tsv => Ok(Box::new(Delimited::new(&columns, b'\t', out)?)),
        #[cfg(feature = "arrow")]
        Format::Parquet => Ok(Box::new(parquet::ParquetWriter::new(columns, compression, out)?)),
        #[cfg(not(feature = "arrow"))]
        Format::Parquet => Err(DataError::new(DataErrorKind::Options, "this build of onward writes no parquet").into()),
        _ => Ok(Box::new(JsonLines::new(columns, out)?)),
    }
}

/// Only ids are known: a feature besides the bias is a key that the first rows lack.
fn refuse_unknown(parsed: &Parsed, row: usize, number: u64) -> Result<(), ConvertError> {
    let features = parsed.batch.get(row).features;
    let Some(&index) = features.indices().iter().find(|&&index| index != crate::encode::BIAS) else {
        return Ok(());
    };
    let name = parsed.names.iter().find(|&(other, _)| other == index);
    let name = name.map_or("another key", |(_, name)| name.split('=').next().unwrap_or(name));
    let found = format!("row {number} has '{name}', and the first rows, which say what columns there are, do not");
    let remedy = format!("leave it out with --ignore '{name}', or put a row that has it first");
    Err(DataError::record(found).remedy(remedy).into())
}

/// A cell that cannot be written as what its column holds.
fn wrong(column: &Column, number: u64, cell: &[u8], what: &str) -> DataError {
    DataError::record(format!("row {number}, column '{}': {} {what}", column.name, quoted(cell)))
}

fn misfit(column: &Column, number: u64, cell: &[u8]) -> ConvertError {
    let name = &column.name;
    let error = match column.holds {
        Holds::Whole => wrong(column, number, cell, "is no whole number, as those in the first rows are")
            .remedy(format!("--numeric '{name}' writes all as 64-bit floats, --categorical '{name}' as text")),
        Holds::Number => wrong(column, number, cell, "is no finite number, as those in the first rows are")
            .remedy(format!("--categorical '{name}' writes all as text")),
        Holds::Boolean | Holds::Text => wrong(column, number, cell, "is neither true nor false, as the first rows are")
            .remedy(format!("--categorical '{name}' writes all as text")),
    };
    error.into()
}

/// Whether a number would lose zeros that lead it: it is a code of some kind.
fn has_leading_zero(text: &[u8]) -> bool {
    let unsigned = text.strip_prefix(b"-").or_else(|| text.strip_prefix(b"+")).unwrap_or(text);
    matches!(unsigned, [b'0', b'0'..=b'9', ..])
}

/// A number; `None` when it is missing.
fn numeric<'a>(column: &Column, number: u64, cell: &'a [u8]) -> Result<Option<(&'a [u8], f64)>, ConvertError> {
    let text = cell.trim_ascii();
    if has_leading_zero(text) {
        let error = wrong(column, number, cell, "would lose the zeros in front of it as a number");
        return Err(error.remedy(format!("--categorical '{}' writes it as text", column.name)).into());
    }
    match number::parse(text) {
        Number::Finite(value) => Ok(Some((text, value))),
        Number::Missing => Ok(None),
        Number::Infinite | Number::Invalid => Err(misfit(column, number, cell)),
    }
}

/// A whole number; `None` when it is missing.
#[cfg(feature = "arrow")]
fn whole(column: &Column, number: u64, cell: &[u8]) -> Result<Option<i64>, ConvertError> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let Some((text, value)) = numeric(column, number, cell)? else {
        return Ok(None);
    };
    let written = std::str::from_utf8(text).ok().and_then(|text| text.parse().ok());
    match written {
        Some(whole) => Ok(Some(whole)),
        None if value == value.trunc() && value.abs() <= EXACT => Ok(Some(value as i64)),
        None => Err(misfit(column, number, cell)),
    }
}

/// True or false; `None` when it is missing.
fn truth(column: &Column, number: u64, cell: &[u8]) -> Result<Option<bool>, ConvertError> {
    match cell.trim_ascii() {
        b"true" => Ok(Some(true)),
        b"false" => Ok(Some(false)),
        text if number::is_missing(text) => Ok(None),
        _ => Err(misfit(column, number, cell)),
    }
}

/// CSV and TSV.
struct Delimited<'a> {
    delimiter: u8,
    line: Vec<u8>,
    out: &'a mut dyn Write,
}

impl<'a> Delimited<'a> {
    fn new(columns: &[Column], delimiter: u8, out: &'a mut dyn Write) -> Result<Self, ConvertError> {
        let mut writer = Self { delimiter, line: Vec::new(), out };
        // A header of numbers only would be refused when it is read: such are the columns of --no-header.
        let is_number = |column: &Column| matches!(number::parse(column.name.as_bytes()), Number::Finite(_));
        if !columns.iter().all(is_number) {
            writer.record(&mut columns.iter().map(|column| column.name.as_bytes()))?;
        }
        Ok(writer)
    }

    fn record(&mut self, cells: &mut dyn Iterator<Item = &[u8]>) -> Result<(), ConvertError> {
        self.line.clear();
        for (at, cell) in cells.enumerate() {
            if at > 0 {
                self.line.push(self.delimiter);
            }
            self.cell(cell);
        }
        if self.line.is_empty() {
            // A blank line would count for nothing.
            self.line.extend_from_slice(b"\"\"");
        }
        self.line.push(b'\n');
        self.out.write_all(&self.line)?;
        Ok(())
    }

    fn cell(&mut self, cell: &[u8]) {
        let needs_quotes = |&byte: &u8| byte == self.delimiter || matches!(byte, b'"' | b'\n' | b'\r');
        if !cell.iter().any(needs_quotes) {
            return self.line.extend_from_slice(cell);
        }
        self.line.push(b'"');
        for &byte in cell {
            if byte == b'"' {
                self.line.push(b'"');
            }
            self.line.push(byte);
        }
        self.line.push(b'"');
    }
}

impl TableWriter for Delimited<'_> {
    fn row(&mut self, _number: u64, cells: &mut dyn Iterator<Item = &[u8]>) -> Result<(), ConvertError> {
        self.record(cells)
    }

    fn finish(self: Box<Self>) -> Result<(), ConvertError> {
        Ok(self.out.flush()?)
    }
}

/// JSON lines.
struct JsonLines<'a> {
    /// With the name as it is written: in quotes, with a colon.
    columns: Vec<(Column, Vec<u8>)>,
    line: Vec<u8>,
    out: &'a mut dyn Write,
}

impl<'a> JsonLines<'a> {
    fn new(columns: Vec<Column>, out: &'a mut dyn Write) -> Result<Self, ConvertError> {
        let key = |column: Column| {
            let mut key = Vec::new();
            string(&column.name, &mut key)?;
            key.push(b':');
            Ok((column, key))
        };
        let columns = columns.into_iter().map(key).collect::<Result<_, ConvertError>>()?;
        Ok(Self { columns, line: Vec::new(), out })
    }
}

fn string(text: &str, out: &mut Vec<u8>) -> Result<(), ConvertError> {
    serde_json::to_writer(out, text).map_err(|error| ConvertError::Write(error.into()))
}

impl TableWriter for JsonLines<'_> {
    fn row(&mut self, number: u64, cells: &mut dyn Iterator<Item = &[u8]>) -> Result<(), ConvertError> {
        let Self { columns, line, out } = self;
        line.clear();
        for ((column, key), cell) in columns.iter().zip(cells) {
            line.push(if line.is_empty() { b'{' } else { b',' });
            line.extend_from_slice(key);
            json(column, number, cell, line)?;
        }
        line.extend_from_slice(b"}\n");
        out.write_all(line)?;
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<(), ConvertError> {
        Ok(self.out.flush()?)
    }
}

/// Writes a cell as a value of JSON.
fn json(column: &Column, number: u64, cell: &[u8], line: &mut Vec<u8>) -> Result<(), ConvertError> {
    match column.holds {
        Holds::Text if cell.is_empty() => line.extend_from_slice(b"null"),
        Holds::Text => string(&String::from_utf8_lossy(cell), line)?,
        Holds::Boolean => line.extend_from_slice(match truth(column, number, cell)? {
            Some(true) => b"true",
            Some(false) => b"false",
            None => b"null",
        }),
        Holds::Whole | Holds::Number => match numeric(column, number, cell)? {
            None => line.extend_from_slice(b"null"),
            Some((text, _)) if is_json(text) => line.extend_from_slice(text),
            Some((_, value)) => super::shortest(value, line),
        },
    }
    Ok(())
}

/// Whether a number is written as JSON has it: no plus, digits on both sides of a point.
fn is_json(text: &[u8]) -> bool {
    let unsigned = text.strip_prefix(b"-").unwrap_or(text);
    let is_digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
    let point = text.iter().position(|&byte| byte == b'.');
    is_digit(unsigned.first()) && point.is_none_or(|at| is_digit(text.get(at + 1)))
}
