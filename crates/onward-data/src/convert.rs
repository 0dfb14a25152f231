//! Writes what a reader reads in another format.
//!
//! Formats of examples take any input: svmlight, Vowpal Wabbit's text, and Arrow files of
//! lists, which say all there is (indices, values, labels, weights, names) and give the
//! same batches to the bit when they are read again.
//!
//! Formats of tables take tables: CSV, TSV, JSON lines and Parquet. Columns keep their names,
//! and cells their values.

use std::io::Write;

use onward::archive::Names;

use crate::encode::{BIAS, NamesSeen, ParsedBatch};
use crate::error::DataError;
use crate::format::Format;
use crate::format::write::{Compression, ConvertError, Converted, ExampleWriter, TableColumn, TableWriter, Writing};
use crate::reader::Reader;
use crate::schema::Role;

/// Writes all that a reader reads to `out`: examples as svmlight, Vowpal Wabbit's text or
/// Arrow; the rows of [`Reader::open_table`] as CSV, TSV, JSON lines or Parquet
/// ([`Formats::writes_tables`](crate::Formats::writes_tables)).
///
/// # Errors
/// When reading fails, when the format cannot say what was read, when writing fails.
///
/// ```
/// use onward_data::{Compression, Format, Input, Options, Reader, convert};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("rain.csv");
/// std::fs::write(&path, "rain,clouds\n1,0.5\n0,0.25\n")?;
/// let options = Options { target: Some("rain".to_owned()), ..Options::default() };
/// let mut reader = Reader::open(&[Input::from(path.as_path())], options)?;
/// let mut text = Vec::new();
/// convert(&mut reader, &Format::VW, Compression::None, &mut text)?;
/// assert_eq!(text, b"1 | clouds:0.5\n-1 | clouds:0.25\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn convert(
    reader: &mut Reader,
    format: &Format,
    compression: Compression,
    out: &mut (dyn Write + Send),
) -> Result<Converted, ConvertError> {
    let formats = reader.formats();
    let Some(definition) = formats.get(format) else { return Err(formats.unknown(format).into()) };
    let writing = definition.writing();
    if formats.is_text(format) && compression != Compression::None {
        let error = DataError::options(format!("{format} has no compression of its own"));
        return Err(error.advise("leave it out, and compress the file as a whole").into());
    }
    let converted = match (writing, reader.types().is_some()) {
        (Writing::Table(writer), true) => {
            let mut writer = writer(table_columns(reader)?, compression, out)?;
            let converted = table_rows(reader, writer.as_mut())?;
            writer.finish()?;
            converted
        }
        (Writing::Examples(writer), false) => {
            let mut writer = writer(reader.schema(), compression, out)?;
            let mut converted = examples(reader, format, writer.as_mut())?;
            writer.finish(&mut converted)?;
            converted
        }
        (Writing::None, _) => {
            let error = DataError::options(format!("{format} can be read but not written"));
            return Err(error.advise("name another format").into());
        }
        _ => {
            let remedy = "open tables with Reader::open_table for csv, tsv, jsonl and parquet, and with Reader::open for \
                          svmlight, vw and arrow";
            let error = DataError::options(format!("{format} cannot be written from these inputs"));
            return Err(error.advise(remedy).into());
        }
    };
    out.flush()?;
    Ok(converted)
}

/// Writes all examples.
fn examples(reader: &mut Reader, format: &Format, writer: &mut dyn ExampleWriter) -> Result<Converted, ConvertError> {
    if !writer.has_ids() {
        no_ids(reader, format)?;
    }
    let mut converted = Converted::default();
    let mut seen = NamesSeen::default();
    // Names of products are made of the names of their factors.
    let mut names = (!reader.schema().interactions.is_empty()).then(Names::default);
    while let Some(parsed) = reader.next_batch()? {
        for (index, name) in parsed.names.iter() {
            if seen.first(index) {
                writer.name(index, name);
            }
            if let Some(names) = &mut names {
                names.add(index, name);
            }
        }
        if let Some(names) = &mut names {
            for (index, factors) in parsed.products() {
                names.add_product(index, factors);
                if let Some(name) = names.get(index)
                    && seen.first(index)
                {
                    writer.name(index, &name);
                }
            }
        }
        for (row, example) in parsed.batch.iter().enumerate() {
            converted.rows += 1;
            writer.row(converted.rows, example, &parsed.ids(row).collect::<Vec<_>>())?;
        }
        converted.skipped += parsed.skipped;
    }
    Ok(converted)
}

/// Refuses columns of ids in a format that has no place for them. (Tags of Vowpal Wabbit's
/// text, which no one asked for, are left out.)
fn no_ids(reader: &Reader, format: &Format) -> Result<(), ConvertError> {
    let columns = &reader.schema().columns;
    let Some(id) = columns.iter().find(|column| column.role == Role::Id) else { return Ok(()) };
    let found = format!("column '{}' is an id, but examples in {format} have no ids", id.name);
    let remedy = "convert to vw, where ids are tags, or leave the column out with ⟦ignore⟧ instead of ⟦ids⟧";
    Err(DataError::options(found).advise(remedy).into())
}

/// The columns of a table that was opened.
fn table_columns(reader: &Reader) -> Result<Vec<TableColumn>, ConvertError> {
    let names = reader.id_names().iter().cloned();
    let types = reader.types().unwrap_or_default();
    let columns: Vec<_> = names.zip(types).map(|(name, &holds)| TableColumn { name, holds }).collect();
    if columns.is_empty() {
        let error = DataError::options("no column is left to write");
        return Err(error.advise("name fewer in ⟦ignore⟧").into());
    }
    Ok(columns)
}

/// Writes all rows of a table.
fn table_rows(reader: &mut Reader, writer: &mut dyn TableWriter) -> Result<Converted, ConvertError> {
    let mut converted = Converted::default();
    while let Some(parsed) = reader.next_batch()? {
        for row in 0..parsed.batch.len() {
            converted.rows += 1;
            refuse_unknown(parsed, row, converted.rows)?;
            writer.row(converted.rows, &mut parsed.ids(row))?;
        }
        converted.skipped += parsed.skipped;
    }
    Ok(converted)
}

/// Only ids are known: a feature besides the bias is a key that the first rows lack.
fn refuse_unknown(parsed: &ParsedBatch, row: usize, number: u64) -> Result<(), ConvertError> {
    let features = parsed.batch.get(row).features;
    let Some(&index) = features.indices().iter().find(|&&index| index != BIAS) else { return Ok(()) };
    let name = parsed.names.iter().find(|&(other, _)| other == index);
    let name = name.map_or("another key", |(_, name)| name.split('=').next().unwrap_or(name));
    let found = format!("row {number} has '{name}', but the first rows, which determine the columns, do not");
    let remedy = format!("leave it out with ⟦ignore={name}⟧, or move a row that has it to the front");
    Err(DataError::record(found).advise(remedy).into())
}
