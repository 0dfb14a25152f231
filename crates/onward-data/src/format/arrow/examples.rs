//! Arrow files of examples that are ready, as `onward convert` writes them.
//!
//! The columns: `indices` (list of u32) and `values` (list of f32), of which each row has
//! as many; `label` (a number, null where it is missing), `weight` and `offset` (numbers:
//! what the prediction starts from), which may all be absent. Indices are used as they are: for a bias, give index 0 the value
//! 1 in every row. The metadata, all of which may be absent: `onward.version` of this layout,
//! which is 1; `onward.schema`, what the examples were made from, as JSON, and `onward.target`,
//! their target for people to read, in the schema's; `onward.names`, an object of JSON from
//! indices to names, in the footer's.

use std::collections::HashMap;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, UInt32Type};
use arrow_array::{Array, ArrowPrimitiveType, PrimitiveArray, RecordBatch};
use arrow_schema::DataType;
use onward::INDEX_LIMIT;

use crate::encode::{NamesSeen, ParsedBatch, Rules, bad_offset, bad_weight, checked_offset, checked_weight};
use crate::error::{DataError, Result};
use crate::format::columnar::cells::{self, ArrayCells, CellForm, LeafColumn};
use crate::format::columnar::{ColumnarFile, damaged, named_leaves};
use crate::schema::sample::{LabelSample, SAMPLE_ROWS};
use crate::schema::{CellValue, Schema, TargetRule};
use crate::source::{Chunk, ChunkContent, Parser};

pub(crate) const LABEL: &str = "label";
pub(crate) const WEIGHT: &str = "weight";
pub(crate) const OFFSET: &str = "offset";
pub(crate) const INDICES: &str = "indices";
pub(crate) const VALUES: &str = "values";
pub(crate) const NAMES_KEY: &str = "onward.names";
pub(crate) const SCHEMA_KEY: &str = "onward.schema";
pub(crate) const TARGET_KEY: &str = "onward.target";
pub(crate) const VERSION_KEY: &str = "onward.version";
/// About how many bytes are looked at together for labels.
const SAMPLED_BYTES: usize = 256 << 10;
/// The version of the layout.
pub(crate) const VERSION: &str = "1";

/// Whether a file holds examples: a table has no use for lists of numbers.
pub(super) fn are_examples(schema: &arrow_schema::Schema) -> bool {
    let is_list_of = |name: &str, of: &DataType| match schema.field_with_name(name).map(|field| field.data_type()) {
        Ok(DataType::List(field) | DataType::LargeList(field)) => field.data_type() == of,
        _ => false,
    };
    is_list_of(INDICES, &DataType::UInt32) && is_list_of(VALUES, &DataType::Float32)
}

/// The columns of a file of examples.
pub(crate) fn columns(file: &dyn ColumnarFile) -> Result<Vec<LeafColumn>> {
    if let Some(version) = file.metadata(VERSION_KEY).filter(|&version| version != VERSION) {
        let found = format!("holds examples in layout {version}, and this Onward reads layout {VERSION}");
        return Err(DataError::format(found).advise("read it with a newer Onward"));
    }
    let mut columns = named_leaves(file)?;
    columns.retain(|leaf| [LABEL, WEIGHT, OFFSET, INDICES, VALUES].contains(&leaf.name.as_str()));
    for leaf in &columns {
        let is_number =
            |data_type: &DataType| data_type.is_numeric() || matches!(data_type, DataType::Null | DataType::Boolean);
        if [LABEL, WEIGHT, OFFSET].contains(&leaf.name.as_str()) && !is_number(&leaf.data_type) {
            let found = format!("its type is {}", leaf.data_type);
            let error = DataError::format(found).column(&leaf.name);
            return Err(error.advise("in a file of examples (columns 'indices' and 'values') it must be a number"));
        }
    }
    Ok(columns)
}

/// The names of features in a file of examples.
pub(crate) fn names(file: &dyn ColumnarFile) -> Result<HashMap<u32, Box<str>>> {
    metadata(file, NAMES_KEY).map(Option::unwrap_or_default)
}

/// What a file says about itself, as JSON.
fn metadata<T: serde::de::DeserializeOwned>(file: &dyn ColumnarFile, key: &str) -> Result<Option<T>> {
    let read = file.metadata(key).map(serde_json::from_str).transpose();
    read.map_err(|error| damaged(format!("its metadata '{key}' cannot be read ({error})")))
}

/// The labels of the first rows, if there are any rows, and the rule by which they were made.
pub(crate) fn first_labels(file: Box<dyn ColumnarFile>) -> Result<(Option<LabelSample>, Option<TargetRule>)> {
    let origin: Option<Schema> = metadata(file.as_ref(), SCHEMA_KEY)?;
    let rule = origin.map(|schema| schema.target.rule);
    let mut columns = columns(file.as_ref())?;
    columns.retain(|leaf| leaf.name == LABEL);
    let mut rows = file.rows(&columns, SAMPLED_BYTES)?;
    let (mut sample, mut count) = (LabelSample::default(), 0);
    while count < SAMPLE_ROWS
        && let Some(table) = rows.next()?
    {
        let label = scalar(&table.rows, LABEL);
        for row in 0..table.rows.num_rows().min(SAMPLE_ROWS - count) {
            match &label {
                Some(label) => label.look(row, &mut sample.labels),
                None => sample.labels.cell(CellValue::Missing),
            }
        }
        count += table.rows.num_rows();
    }
    Ok(((count > 0).then_some(sample), rule))
}

fn scalar<'a>(rows: &'a RecordBatch, name: &str) -> Option<ArrayCells<'a>> {
    let array = rows.column_by_name(name)?;
    ArrayCells::new(array, array.nulls().cloned(), CellForm::Typed).filter(|_| cells::is_scalar(array.data_type()))
}

/// A column of lists, downcast.
struct ListColumn<'a, T: ArrowPrimitiveType> {
    array: &'a dyn Array,
    starts: Vec<usize>,
    elements: &'a PrimitiveArray<T>,
}

impl<'a, T: ArrowPrimitiveType> ListColumn<'a, T> {
    fn new(rows: &'a RecordBatch, name: &str) -> Option<Self> {
        let array = rows.column_by_name(name)?;
        let (starts, elements) = cells::list_parts(array)?;
        Some(Self { array, starts, elements: elements.as_primitive_opt()? })
    }

    /// The elements of a row; `None` if the list or one of them is null.
    fn get(&self, row: usize) -> Option<&[T::Native]> {
        let (start, end) = (self.starts[row], self.starts[row + 1]);
        let has_nulls = self.array.is_null(row)
            || self.elements.null_count() > 0 && (start..end).any(|at| self.elements.is_null(at));
        (!has_nulls).then(|| &self.elements.values()[start..end])
    }
}

/// Takes examples out of record batches.
pub(crate) struct ExampleParser {
    pub(crate) rules: Rules,
    pub(crate) seen: NamesSeen,
}

/// The columns of a record batch of examples.
struct ExampleColumns<'a> {
    label: Option<ArrayCells<'a>>,
    weight: Option<ArrayCells<'a>>,
    offset: Option<ArrayCells<'a>>,
    indices: ListColumn<'a, UInt32Type>,
    values: ListColumn<'a, Float32Type>,
    /// The names of features.
    names: &'a HashMap<u32, Box<str>>,
}

impl<'a> ExampleColumns<'a> {
    fn new(rows: &'a RecordBatch, names: &'a HashMap<u32, Box<str>>) -> Option<Self> {
        Some(Self {
            label: scalar(rows, LABEL),
            weight: scalar(rows, WEIGHT),
            offset: scalar(rows, OFFSET),
            indices: ListColumn::new(rows, INDICES)?,
            values: ListColumn::new(rows, VALUES)?,
            names,
        })
    }
}

impl ExampleParser {
    fn row(&mut self, columns: &ExampleColumns<'_>, row: usize, out: &mut ParsedBatch) -> Result {
        let label = columns.label.as_ref().map_or(CellValue::Missing, |label| label.cell(row));
        let label = self.rules.label(label).map_err(|error| error.column(LABEL))?;
        let weight = number(columns.weight.as_ref(), row, (1.0, bad_weight), checked_weight);
        let weight = weight.map_err(|error| error.column(WEIGHT))?;
        let offset = number(columns.offset.as_ref(), row, (0.0, bad_offset), checked_offset);
        let offset = offset.map_err(|error| error.column(OFFSET))?;
        let (indices, values) = lists(columns, row)?;
        for (&index, &value) in indices.iter().zip(values) {
            if index >= INDEX_LIMIT || !value.is_finite() {
                return Err(bad_feature(index, value));
            }
            out.push(&mut self.seen, index, value, |new| {
                columns.names.get(&index).into_iter().for_each(|name| new.push(index, &[name]));
            });
        }
        out.batch.set_offset(offset);
        out.batch.finish(label, weight);
        Ok(())
    }
}

/// The number in a column, or what is `absent` where there is no such column.
fn number(
    column: Option<&ArrayCells<'_>>,
    row: usize,
    (absent, bad): (f64, fn(&str) -> DataError),
    checked: fn(f64) -> Result<f64>,
) -> Result<f64> {
    match column.map(|column| column.cell(row)) {
        None => Ok(absent),
        Some(CellValue::Missing) => Err(bad("missing")),
        Some(CellValue::Number(number)) => checked(number),
        Some(CellValue::Boolean(flag)) => Ok(f64::from(u8::from(flag))),
        Some(_) => checked(f64::NAN),
    }
}

fn lists<'a>(columns: &'a ExampleColumns<'_>, row: usize) -> Result<(&'a [u32], &'a [f32])> {
    let null = |name: &str| {
        DataError::record("holds a null")
            .column(name)
            .advise("every row must be a list of numbers: leave out a feature that is missing")
    };
    let indices = columns.indices.get(row).ok_or_else(|| null(INDICES))?;
    let values = columns.values.get(row).ok_or_else(|| null(VALUES))?;
    if indices.len() != values.len() {
        let found = format!("a row must have as many indices as values; got {} and {}", indices.len(), values.len());
        return Err(DataError::record(found));
    }
    Ok((indices, values))
}

fn bad_feature(index: u32, value: f32) -> DataError {
    if index >= INDEX_LIMIT {
        return DataError::record(format!("the index {index} is 2^31 or more"))
            .column(INDICES)
            .advise("indices must be below 2^31: renumber the features");
    }
    DataError::record(format!("the value of feature {index} is {value}"))
        .column(VALUES)
        .advise("values must be finite: leave out a feature that is missing")
}

impl Parser for ExampleParser {
    fn parse(&mut self, chunk: &Chunk, out: &mut ParsedBatch) -> Result {
        let ChunkContent::Rows { rows, first_row, bytes, names } = &chunk.content else { return Ok(()) };
        out.bytes += bytes;
        let Some(columns) = ExampleColumns::new(rows, names) else { return Ok(()) };
        for row in 0..rows.num_rows() {
            if let Err(error) = self.row(&columns, row, out) {
                let error = error.input(&chunk.input).row(first_row + row as u64);
                out.refuse(error, self.rules.skip_errors)?;
            }
        }
        Ok(())
    }
}
