//! Examples as an Arrow file of lists, read by [`examples`](super::examples).
//!
//! Names come with the examples and the schema of the file comes first: so the names are in
//! the metadata of the footer, where pyarrow has them as `ipc.open_file(path).metadata`.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float32Array, Float64Array, ListArray, RecordBatch, UInt32Array};
use arrow_buffer::{NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, SchemaRef};
use onward::Example;

use super::examples::{
    INDICES, LABEL, NAMES_KEY, OFFSET, SCHEMA_KEY, TARGET_KEY, VALUES, VERSION, VERSION_KEY, WEIGHT,
};
use crate::format::write::{Compression, ConvertError, Converted, ExampleWriter, NewExamples, Out};
use crate::schema::Schema;

/// The most rows of a record batch.
const MOST_ROWS: usize = 1 << 16;
/// The most features of a record batch: 128 MB of them.
const MOST_FEATURES: usize = 1 << 24;
/// The most bytes of names: a footer can hold twice as much.
const MOST_NAMES: usize = 1 << 30;

/// The rows of a record batch that is being filled: of a file, or of a cache.
#[derive(Default)]
pub(crate) struct ExampleRows {
    /// NaN where one is missing.
    labels: Vec<f64>,
    weights: Vec<f64>,
    offsets: Vec<f64>,
    lengths: Vec<usize>,
    indices: Vec<u32>,
    values: Vec<f32>,
}

/// What lists hold: never null.
pub(crate) fn element(data_type: DataType) -> FieldRef {
    Arc::new(Field::new_list_field(data_type, false))
}

/// What went wrong when rows were written.
pub(crate) fn plain(error: ArrowError) -> io::Error {
    match error {
        ArrowError::IoError(_, error) => error,
        error => io::Error::other(error),
    }
}

impl ExampleRows {
    pub(crate) fn push(&mut self, example: Example<'_>) {
        self.labels.push(example.label.unwrap_or(f64::NAN));
        self.weights.push(example.weight);
        self.offsets.push(example.features.offset());
        self.lengths.push(example.features.len());
        self.indices.extend_from_slice(example.features.indices());
        self.values.extend_from_slice(example.features.values());
    }

    /// How many rows there are.
    pub(crate) fn len(&self) -> usize {
        self.labels.len()
    }

    /// How many features they have.
    pub(crate) fn features(&self) -> usize {
        self.indices.len()
    }

    /// The columns of a record batch.
    pub(crate) fn fields() -> Vec<Field> {
        vec![
            Field::new(LABEL, DataType::Float64, true),
            Field::new(WEIGHT, DataType::Float64, false),
            Field::new(OFFSET, DataType::Float64, false),
            Field::new(INDICES, DataType::List(element(DataType::UInt32)), false),
            Field::new(VALUES, DataType::List(element(DataType::Float32)), false),
        ]
    }

    /// The arrays of these [fields](Self::fields).
    pub(crate) fn columns(self) -> Result<Vec<ArrayRef>, ArrowError> {
        let has_label: Vec<_> = self.labels.iter().map(|label| !label.is_nan()).collect();
        let nulls = Some(NullBuffer::from(has_label)).filter(|nulls| nulls.null_count() > 0);
        let ends = OffsetBuffer::<i32>::from_lengths(self.lengths);
        let list = |data_type, elements| ListArray::try_new(element(data_type), ends.clone(), elements, None);
        Ok(vec![
            Arc::new(Float64Array::new(ScalarBuffer::from(self.labels), nulls)),
            Arc::new(Float64Array::from(self.weights)),
            Arc::new(Float64Array::from(self.offsets)),
            Arc::new(list(DataType::UInt32, Arc::new(UInt32Array::from(self.indices)))?),
            Arc::new(list(DataType::Float32, Arc::new(Float32Array::from(self.values)))?),
        ])
    }
}

/// Writes examples as an Arrow file.
pub(super) fn arrow<'a>(origin: &Schema, compression: Compression, out: Out<'a>) -> NewExamples<'a> {
    let codec = match compression {
        Compression::None => None,
        Compression::Lz4 => Some(CompressionType::LZ4_FRAME),
        Compression::Zstd => Some(CompressionType::ZSTD),
    };
    let options = IpcWriteOptions::default().try_with_compression(codec).map_err(plain)?;
    let origin_json = serde_json::to_string(origin).map_err(io::Error::other)?;
    let metadata = HashMap::from([
        (VERSION_KEY.to_owned(), VERSION.to_owned()),
        (TARGET_KEY.to_owned(), origin.target.to_string()),
        (SCHEMA_KEY.to_owned(), origin_json),
    ]);
    let schema = Arc::new(arrow_schema::Schema::new(ExampleRows::fields()).with_metadata(metadata));
    let writer = FileWriter::try_new_with_options(out, &schema, options).map_err(plain)?;
    Ok(Box::new(ArrowWriter { writer, schema, rows: ExampleRows::default(), names: BTreeMap::new() }))
}

struct ArrowWriter<'a> {
    writer: FileWriter<Out<'a>>,
    schema: SchemaRef,
    rows: ExampleRows,
    names: BTreeMap<u32, Box<str>>,
}

impl ArrowWriter<'_> {
    fn flush(&mut self) -> io::Result<()> {
        let rows = std::mem::take(&mut self.rows);
        if rows.len() == 0 {
            return Ok(());
        }
        let batch = rows.columns().and_then(|columns| RecordBatch::try_new(SchemaRef::clone(&self.schema), columns));
        self.writer.write(&batch.map_err(plain)?).map_err(plain)
    }
}

impl ExampleWriter for ArrowWriter<'_> {
    fn name(&mut self, index: u32, name: &str) {
        self.names.insert(index, name.into());
    }

    fn row(&mut self, _number: u64, example: Example<'_>, _ids: &[&[u8]]) -> Result<(), ConvertError> {
        if self.rows.features() + example.features.len() > MOST_FEATURES {
            self.flush()?;
        }
        self.rows.push(example);
        if self.rows.len() == MOST_ROWS {
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
        Ok(self.writer.finish().map_err(plain)?)
    }
}
