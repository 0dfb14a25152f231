//! Examples as an Arrow file of lists, read by [`examples`](super::examples).
//!
//! Names come with the examples and the schema of the file comes first: so the names are in
//! the metadata of the footer, where pyarrow has them as `ipc.open_file(path).metadata`.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};
use std::sync::Arc;

use arrow_array::{ArrayRef, Float32Array, Float64Array, ListArray, RecordBatch, UInt32Array};
use arrow_buffer::OffsetBuffer;
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, SchemaRef};
use onward::Example;

use super::examples::{INDICES, LABEL, NAMES_KEY, OFFSET, SCHEMA_KEY, VALUES, VERSION, VERSION_KEY, WEIGHT};
use crate::format::write::{Compression, ConvertError, Converted, ExampleWriter};
use crate::schema::Schema;

/// The most rows of a record batch.
const MOST_ROWS: usize = 1 << 16;
/// The most features of a record batch: 128 MB of them.
const MOST_FEATURES: usize = 1 << 24;
/// The most bytes of names: a footer can hold twice as much.
const MOST_NAMES: usize = 1 << 30;

/// Writes examples as an Arrow file.
pub(super) fn arrow<'a>(
    origin: &Schema,
    compression: Compression,
    out: &'a mut dyn Write,
) -> Result<Box<dyn ExampleWriter + 'a>, ConvertError> {
    Ok(Box::new(ArrowWriter::new(origin, compression, out)?))
}

struct ArrowWriter<'a> {
    writer: FileWriter<&'a mut dyn Write>,
    schema: SchemaRef,
    rows: Rows,
    names: BTreeMap<u32, Box<str>>,
}

/// The rows of the record batch that is being filled.
#[derive(Default)]
struct Rows {
    labels: Vec<Option<f64>>,
    weights: Vec<f64>,
    offsets: Vec<f64>,
    lengths: Vec<usize>,
    indices: Vec<u32>,
    values: Vec<f32>,
}

impl<'a> ArrowWriter<'a> {
    fn new(origin: &Schema, compression: Compression, out: &'a mut dyn Write) -> Result<Self, ConvertError> {
        let codec = match compression {
            Compression::None => None,
            Compression::Lz4 => Some(CompressionType::LZ4_FRAME),
            Compression::Zstd => Some(CompressionType::ZSTD),
        };
        let options = IpcWriteOptions::default().try_with_compression(codec).map_err(failed)?;
        let schema = Arc::new(schema(origin)?);
        Ok(Self {
            writer: FileWriter::try_new_with_options(out, &schema, options).map_err(failed)?,
            schema,
            rows: Rows::default(),
            names: BTreeMap::new(),
        })
    }

    fn flush(&mut self) -> Result<(), ConvertError> {
        let rows = std::mem::take(&mut self.rows);
        if rows.labels.is_empty() {
            return Ok(());
        }
        let batch = rows.batch(&self.schema).map_err(failed)?;
        self.writer.write(&batch).map_err(failed)
    }
}

fn element(data_type: DataType) -> FieldRef {
    Arc::new(Field::new_list_field(data_type, false))
}

fn schema(origin: &Schema) -> Result<arrow_schema::Schema, ConvertError> {
    let origin_json = serde_json::to_string(origin).map_err(io::Error::other)?;
    let metadata = HashMap::from([
        (VERSION_KEY.to_owned(), VERSION.to_owned()),
        ("onward.target".to_owned(), origin.target.to_string()),
        (SCHEMA_KEY.to_owned(), origin_json),
    ]);
    let fields = vec![
        Field::new(LABEL, DataType::Float64, true),
        Field::new(WEIGHT, DataType::Float64, false),
        Field::new(OFFSET, DataType::Float64, false),
        Field::new(INDICES, DataType::List(element(DataType::UInt32)), false),
        Field::new(VALUES, DataType::List(element(DataType::Float32)), false),
    ];
    Ok(arrow_schema::Schema::new(fields).with_metadata(metadata))
}

impl Rows {
    fn batch(self, schema: &SchemaRef) -> Result<RecordBatch, ArrowError> {
        let offsets = OffsetBuffer::<i32>::from_lengths(self.lengths);
        let indices = ListArray::try_new(
            element(DataType::UInt32),
            offsets.clone(),
            Arc::new(UInt32Array::from(self.indices)),
            None,
        )?;
        let values =
            ListArray::try_new(element(DataType::Float32), offsets, Arc::new(Float32Array::from(self.values)), None)?;
        let columns: Vec<ArrayRef> = vec![
            Arc::new(Float64Array::from(self.labels)),
            Arc::new(Float64Array::from(self.weights)),
            Arc::new(Float64Array::from(self.offsets)),
            Arc::new(indices),
            Arc::new(values),
        ];
        RecordBatch::try_new(SchemaRef::clone(schema), columns)
    }
}

impl ExampleWriter for ArrowWriter<'_> {
    fn name(&mut self, index: u32, name: &str) {
        self.names.insert(index, name.into());
    }

    fn row(&mut self, _number: u64, example: Example<'_>, _ids: &[&[u8]]) -> Result<(), ConvertError> {
        if self.rows.indices.len() + example.features.len() > MOST_FEATURES {
            self.flush()?;
        }
        self.rows.labels.push(example.label);
        self.rows.weights.push(example.weight);
        self.rows.offsets.push(example.features.offset());
        self.rows.lengths.push(example.features.len());
        self.rows.indices.extend_from_slice(example.features.indices());
        self.rows.values.extend_from_slice(example.features.values());
        if self.rows.labels.len() == MOST_ROWS {
            self.flush()?;
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>, converted: &mut Converted) -> Result<(), ConvertError> {
        self.flush()?;
        let names = serde_json::to_string(&self.names).map_err(io::Error::other)?;
        if names.len() <= MOST_NAMES {
            converted.names = self.names.len() as u64;
            self.writer.write_metadata(NAMES_KEY, names);
        }
        self.writer.finish().map_err(failed)
    }
}

fn failed(error: ArrowError) -> ConvertError {
    ConvertError::Write(match error {
        ArrowError::IoError(_, error) => error,
        error => io::Error::other(error),
    })
}
