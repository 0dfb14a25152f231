//! The layout of examples in Arrow files, as they are written: by [`convert`](crate::convert), and to caches.

use std::io;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float32Array, Float64Array, ListArray, UInt32Array};
use arrow_buffer::{NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, DataType, Field, FieldRef};
use onward::Example;

use super::examples::{INDICES, LABEL, OFFSET, VALUES, WEIGHT};

/// The rows of a record batch that is being filled.
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
