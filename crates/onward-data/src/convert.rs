//! Writes what a reader reads in another format.
//!
//! Formats of examples take any input: svmlight, Vowpal Wabbit's text, and Arrow files of
//! lists, which say all there is (indices, values, labels, weights, names) and give the
//! same batches to the bit when they are read again.
//!
//! Formats of tables take tables: CSV, TSV, JSON lines and Parquet. Columns keep their names,
//! and cells their values.

#[cfg(feature = "arrow")]
mod arrow;
mod svmlight;
mod table;
mod vw;

use std::io::{self, Write};

use onward::Example;
use onward::model::Names;

use crate::encode::NamesSeen;
use crate::error::{DataError, DataErrorKind};
use crate::format::Format;
use crate::parsed::Parsed;
use crate::reader::Reader;
use crate::schema::Role;

/// What was written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Converted {
    /// Examples written.
    pub rows: u64,
    /// Records left out since they could not be read, if that was allowed.
    pub skipped: u64,
    /// Features whose name was written.
    pub names: u64,
    /// The `--bits` with which svmlight is read again: more than its largest index needs none.
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

/// Writes examples in a format.
trait ExampleWriter {
    /// The name of a feature, once, before or with the first row that has it.
    fn name(&mut self, index: u32, name: &str);

    /// An example with its ids; `number` counts from 1.
    fn row(&mut self, number: u64, example: Example<'_>, ids: &[&[u8]]) -> Result<(), ConvertError>;

    /// Writes what is left, and tells what there is to tell.
    fn finish(self: Box<Self>, converted: &mut Converted) -> Result<(), ConvertError>;
}

/// Writes all that a reader reads to `out`: examples as svmlight, Vowpal Wabbit's text or
/// Arrow; the rows of [`Reader::open_table`] as CSV, TSV, JSON lines or Parquet
/// ([`Format::is_table`]).
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
/// convert(&mut reader, Format::Vw, Compression::None, &mut text)?;
/// assert_eq!(text, b"1 | clouds:0.5\n-1 | clouds:0.25\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn convert(
    reader: &mut Reader,
    format: Format,
    compression: Compression,
    out: &mut dyn Write,
) -> Result<Converted, ConvertError> {
    // Nobody looks for slots.
    reader.without_hints();
    if format.is_table() || reader.holds().is_some() {
        return table::convert(reader, format, compression, out);
    }
    if format != Format::Vw {
        no_ids(reader, format)?;
    }
    let mut writer = writer(reader, format, compression, out)?;
    let mut converted = Converted::default();
    let mut seen = NamesSeen::default();
    let has_ids = !reader.id_names().is_empty();
    // Names of products are made of those of their factors.
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
            name_products(parsed, names, &mut seen, writer.as_mut());
        }
        rows(parsed, has_ids, writer.as_mut(), &mut converted.rows)?;
        converted.skipped += parsed.skipped;
    }
    writer.finish(&mut converted)?;
    Ok(converted)
}

fn name_products(parsed: &Parsed, names: &mut Names, seen: &mut NamesSeen, writer: &mut dyn ExampleWriter) {
    for (index, factors) in parsed.products() {
        names.add_product(index, factors);
        if let Some(name) = names.get(index)
            && seen.first(index)
        {
            writer.name(index, &name);
        }
    }
}

fn rows(parsed: &Parsed, has_ids: bool, writer: &mut dyn ExampleWriter, count: &mut u64) -> Result<(), ConvertError> {
    for (row, example) in parsed.batch.iter().enumerate() {
        *count += 1;
        let ids: Vec<_> = if has_ids { parsed.ids(row).collect() } else { Vec::new() };
        writer.row(*count, example, &ids)?;
    }
    Ok(())
}

#[cfg_attr(not(feature = "arrow"), allow(unused_variables))]
fn writer<'a>(
    reader: &Reader,
    format: Format,
    compression: Compression,
    out: &'a mut dyn Write,
) -> Result<Box<dyn ExampleWriter + 'a>, ConvertError> {
    if format != Format::Arrow {
        no_compression(format, compression)?;
    }
    match format {
        Format::Svmlight => Ok(Box::new(svmlight::SvmlightWriter::new(out))),
        Format::Vw => Ok(Box::new(vw::VwWriter::new(out))),
        #[cfg(feature = "arrow")]
        Format::Arrow => Ok(Box::new(arrow::ArrowWriter::new(reader.schema(), compression, out)?)),
        _ => Err(DataError::new(DataErrorKind::Options, format!("examples cannot be written as {format}"))
            .remedy("formats of examples are svmlight, vw and arrow")
            .into()),
    }
}

/// Refuses columns of ids in a format that has no place for them. (Tags of Vowpal Wabbit's
/// text, which nobody asked for, are left out.)
fn no_ids(reader: &Reader, format: Format) -> Result<(), ConvertError> {
    let columns = &reader.schema().columns;
    let Some(id) = columns.iter().find(|column| column.role == Role::Id) else {
        return Ok(());
    };
    let found = format!("column '{}' is an id, and examples in {format} have none", id.name);
    let remedy = "convert to vw, where ids are tags, or leave the column out with --ignore instead of --id";
    Err(DataError::new(DataErrorKind::Options, found).remedy(remedy).into())
}

/// Refuses compression in a format of text.
fn no_compression(format: Format, compression: Compression) -> Result<(), ConvertError> {
    if compression == Compression::None {
        return Ok(());
    }
    Err(DataError::new(DataErrorKind::Options, format!("{format} has no compression of its own"))
        .remedy("leave it out, and compress the file as a whole")
        .into())
}

/// An example that a format has no words for.
fn cannot(number: u64, found: &str, remedy: &str) -> ConvertError {
    let found = format!("example {number} {found}");
    DataError::record(found).remedy(remedy).into()
}

/// The shortest decimal that is read back as the same number.
fn shortest(number: f64, out: &mut Vec<u8>) {
    let mut buffer = zmij::Buffer::new();
    let text = buffer.format(number);
    out.extend_from_slice(text.strip_suffix(".0").unwrap_or(text).as_bytes());
}

/// The shortest decimal that is read back as the same 32-bit float, by way of a 64-bit one.
pub(crate) fn shortest_single(number: f32, out: &mut Vec<u8>) {
    if number == 1.0 {
        // All categories have it.
        return out.push(b'1');
    }
    let mut buffer = zmij::Buffer::new();
    let text = buffer.format(number);
    let text = text.strip_suffix(".0").unwrap_or(text);
    // Rounded twice, a text can end up on the other side of where it would if rounded once.
    match crate::number::parse(text.as_bytes()) {
        crate::number::Number::Finite(read) if (read as f32).to_bits() == number.to_bits() => {
            out.extend_from_slice(text.as_bytes());
        }
        _ => shortest(number.into(), out),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::number::{self, Number};

    fn single(number: f32) -> String {
        let mut text = Vec::new();
        shortest_single(number, &mut text);
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn whole_numbers_have_no_point() {
        assert_eq!(single(1.0), "1");
        assert_eq!(single(-0.1), "-0.1");
        assert_eq!(single(-0.0), "-0");
        let mut text = Vec::new();
        shortest(1e300, &mut text);
        assert_eq!(number::parse(&text), Number::Finite(1e300));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]

        #[test]
        fn every_float_is_read_back_as_it_was(bits: u32) {
            let value = f32::from_bits(bits);
            prop_assume!(value.is_finite());
            let Number::Finite(read) = number::parse(single(value).as_bytes()) else {
                panic!("{}", single(value));
            };
            prop_assert_eq!((read as f32).to_bits(), bits);
        }
    }
}
