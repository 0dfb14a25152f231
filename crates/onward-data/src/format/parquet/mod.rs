//! Apache Parquet.

mod write;

use std::sync::Arc;

use arrow_schema::{DataType, Field, FieldRef, Fields, Schema, SchemaRef};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use parquet::basic::Compression;
use parquet::file::metadata::{ParquetStatisticsPolicy, RowGroupMetaData};
use parquet::file::reader::Length;

use super::ColumnarFormat;
use super::columnar::cells::LeafColumn;
use super::columnar::{ColumnarFile, MOST_ROWS, TableReader, TableSlice, broken, damaged, share};
use super::write::Writing;
use crate::error::{DataError, Result};
use crate::source::Seekable;

/// The format.
pub(super) static PARQUET: ColumnarFormat = ColumnarFormat {
    name: "parquet",
    summary: "Apache Parquet files; they are read by seeking",
    endings: &["parquet", "pq"],
    has_magic: |head| head.starts_with(b"PAR1"),
    open: |file| Ok(Box::new(ParquetFile::open(file)?)),
    writing: Writing::Table(write::parquet),
};

/// An open Parquet file, before its rows are read.
struct ParquetFile {
    schema: SchemaRef,
    file: Seekable,
    metadata: ArrowReaderMetadata,
    size: ParquetSize,
}

/// How much a file holds, by its own account.
#[derive(Debug, Clone, Copy)]
struct ParquetSize {
    rows: u64,
    /// Bytes once decompressed.
    bytes: u64,
    /// Bytes of the file.
    length: u64,
    /// The average size of a row in the row group where it is largest.
    widest: u64,
}

impl ParquetFile {
    fn open(file: Seekable) -> Result<Self> {
        let length = Length::len(&file);
        let options = || ArrowReaderOptions::new().with_column_stats_policy(ParquetStatisticsPolicy::SkipAll);
        let found = ArrowReaderMetadata::load(&file, options()).map_err(|error| broken(&error))?;
        check_compression(&found)?;
        let size = ParquetSize::of(&found, length)?;
        // Strings are read as views: those of a dictionary page are then not copied for each row.
        let viewed = Schema::new(as_views(found.schema().fields()));
        let options = options().with_schema(Arc::new(viewed));
        let metadata = ArrowReaderMetadata::try_new(Arc::clone(found.metadata()), options).unwrap_or(found);
        Ok(Self { schema: Arc::clone(metadata.schema()), file, metadata, size })
    }
}

impl ColumnarFile for ParquetFile {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn rows(self: Box<Self>, columns: &[LeafColumn], size: usize) -> Result<Box<dyn TableReader>> {
        let rows = (size as u64 / self.size.widest.max(1)).clamp(1, MOST_ROWS as u64) as usize;
        let parts = self.metadata.parquet_schema().columns().iter().enumerate();
        let is_wanted = |parts: &[String]| columns.iter().any(|column| parts.starts_with(&column.path));
        let wanted = parts.filter(|(_, part)| is_wanted(part.path().parts()));
        let mask = ProjectionMask::leaves(self.metadata.parquet_schema(), wanted.map(|(at, _)| at));
        let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(self.file, self.metadata)
            .with_projection(mask)
            .with_batch_size(rows);
        let reader = builder.build().map_err(|error| broken(&error))?;
        Ok(Box::new(ParquetRows { reader, size: self.size, done: 0 }))
    }
}

impl ParquetSize {
    fn of(metadata: &ArrowReaderMetadata, length: u64) -> Result<Self> {
        let claimed = |number: i64| {
            u64::try_from(number).map_err(|_| damaged(format!("its footer counts {number} rows or bytes")))
        };
        let mut size = Self { rows: 0, bytes: 0, length, widest: 0 };
        for group in metadata.metadata().row_groups() {
            let (rows, bytes) = (claimed(group.num_rows())?, claimed(group.total_byte_size())?);
            size.rows = size.rows.saturating_add(rows);
            size.bytes = size.bytes.saturating_add(bytes);
            size.widest = size.widest.max(bytes / rows.max(1));
        }
        let rows = claimed(metadata.metadata().file_metadata().num_rows())?;
        if rows != size.rows {
            let found = format!("its footer counts {rows} rows in all and {} in its parts", size.rows);
            return Err(damaged(found));
        }
        Ok(size)
    }
}

/// Refuses columns whose compression this build does not read.
fn check_compression(metadata: &ArrowReaderMetadata) -> Result<()> {
    let mut columns = metadata.metadata().row_groups().iter().flat_map(RowGroupMetaData::columns);
    match columns.find(|column| matches!(column.compression(), Compression::BROTLI(_))) {
        Some(column) if !cfg!(feature = "brotli") => {
            let found = format!(
                "column '{}' is compressed with Brotli, which this build does not read",
                column.column_path().string()
            );
            Err(DataError::format(found)
                .advise("write the file with Zstandard or Snappy, or build Onward with the feature brotli"))
        }
        _ => Ok(()),
    }
}

fn as_views(fields: &Fields) -> Fields {
    fields.iter().map(as_view).collect()
}

fn as_view(field: &FieldRef) -> FieldRef {
    let data_type = match field.data_type() {
        DataType::Utf8 | DataType::LargeUtf8 => DataType::Utf8View,
        DataType::Struct(fields) => DataType::Struct(as_views(fields)),
        _ => return Arc::clone(field),
    };
    Arc::new(Field::clone(field).with_data_type(data_type))
}

/// The rows of a Parquet file.
struct ParquetRows {
    reader: ParquetRecordBatchReader,
    size: ParquetSize,
    done: u64,
}

impl TableReader for ParquetRows {
    fn schema(&self) -> Result<Schema> {
        use arrow_array::RecordBatchReader;
        Ok(self.reader.schema().as_ref().clone())
    }

    fn next(&mut self) -> Result<Option<TableSlice>> {
        let Some(rows) = self.reader.next() else { return self.check_end().map(|()| None) };
        let rows = rows.map_err(|error| broken(&error))?;
        let before = self.done;
        self.done += rows.num_rows() as u64;
        if rows.num_rows() == 0 || self.done > self.size.rows {
            return self.check_end().map(|()| None);
        }
        let share = |whole| share(whole, before as usize..self.done as usize, self.size.rows as usize);
        Ok(Some(TableSlice { bytes: share(self.size.bytes), read: share(self.size.length), rows }))
    }
}

impl ParquetRows {
    /// All rows that the footer speaks of have been there.
    fn check_end(&self) -> Result {
        if self.done == self.size.rows {
            return Ok(());
        }
        Err(damaged(format!("its footer counts {} rows, and it holds {}", self.size.rows, self.done)))
    }
}
