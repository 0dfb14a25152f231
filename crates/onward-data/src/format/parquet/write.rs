//! Tables as Parquet.

use std::any::Any;
use std::io;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_array::builder::{ArrayBuilder, BooleanBuilder, Float64Builder, Int64Builder, StringBuilder, make_builder};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::basic;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;

use crate::format::write::{Compression, ConvertError, NewTable, Out, TableColumn, TableWriter};
use crate::schema::ColumnType;

/// The most rows that wait to be encoded, and the most bytes of text.
const MOST_ROWS: usize = 1 << 13;
const MOST_BYTES: usize = 16 << 20;
/// A row group holds about this many bytes.
const ROW_GROUP_BYTES: usize = 64 << 20;

/// Writes Parquet.
pub(super) fn parquet(columns: Vec<TableColumn>, compression: Compression, out: Out<'_>) -> NewTable<'_> {
    let codec = match compression {
        Compression::None => basic::Compression::UNCOMPRESSED,
        Compression::Lz4 => basic::Compression::LZ4_RAW,
        Compression::Zstd => basic::Compression::ZSTD(basic::ZstdLevel::default()),
    };
    let properties = WriterProperties::builder().set_compression(codec).build();
    let field = |column: &TableColumn| Field::new(&column.name, data_type(column.holds), true);
    let schema = Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()));
    let writer = ArrowWriter::try_new(out, SchemaRef::clone(&schema), Some(properties)).map_err(failed)?;
    let builder = |column: &TableColumn| make_builder(&data_type(column.holds), 0);
    let builders = columns.iter().map(builder).collect();
    Ok(Box::new(ParquetWriter { columns, builders, schema, writer, rows: 0, waiting: 0 }))
}

struct ParquetWriter<'a> {
    columns: Vec<TableColumn>,
    /// The cells of each column.
    builders: Vec<Box<dyn ArrayBuilder>>,
    schema: SchemaRef,
    writer: ArrowWriter<Out<'a>>,
    rows: usize,
    /// Bytes of text that wait.
    waiting: usize,
}

fn data_type(holds: ColumnType) -> DataType {
    match holds {
        ColumnType::Text => DataType::Utf8,
        ColumnType::Whole => DataType::Int64,
        ColumnType::Number => DataType::Float64,
        ColumnType::Boolean => DataType::Boolean,
    }
}

fn push(column: &TableColumn, builder: &mut dyn Any, number: u64, cell: &[u8]) -> Result<(), ConvertError> {
    if let Some(builder) = builder.downcast_mut::<StringBuilder>() {
        builder.append_option((!cell.is_empty()).then(|| String::from_utf8_lossy(cell)));
    } else if let Some(builder) = builder.downcast_mut::<Int64Builder>() {
        builder.append_option(column.whole(number, cell)?);
    } else if let Some(builder) = builder.downcast_mut::<Float64Builder>() {
        builder.append_option(column.numeric(number, cell)?.map(|(_, value)| value));
    } else if let Some(builder) = builder.downcast_mut::<BooleanBuilder>() {
        builder.append_option(column.truth(number, cell)?);
    }
    Ok(())
}

impl ParquetWriter<'_> {
    /// Hands on the rows that wait.
    fn encode(&mut self) -> Result<(), ConvertError> {
        let arrays = self.builders.iter_mut().map(|builder| builder.finish()).collect();
        let batch = RecordBatch::try_new(SchemaRef::clone(&self.schema), arrays)
            .map_err(|error: ArrowError| ConvertError::Write(io::Error::other(error)))?;
        self.writer.write(&batch).map_err(failed)?;
        if self.writer.in_progress_size() > ROW_GROUP_BYTES {
            self.writer.flush().map_err(failed)?;
        }
        (self.rows, self.waiting) = (0, 0);
        Ok(())
    }
}

impl TableWriter for ParquetWriter<'_> {
    fn row(&mut self, number: u64, cells: &mut dyn Iterator<Item = &[u8]>) -> Result<(), ConvertError> {
        for ((column, builder), cell) in self.columns.iter().zip(&mut self.builders).zip(cells) {
            push(column, builder.as_any_mut(), number, cell)?;
            self.waiting += cell.len();
        }
        self.rows += 1;
        if self.rows == MOST_ROWS || self.waiting > MOST_BYTES {
            self.encode()?;
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<(), ConvertError> {
        if self.rows > 0 {
            self.encode()?;
        }
        self.writer.finish().map(drop).map_err(failed)
    }
}

/// An error of the output stays what it was: a full disk is told from other faults.
fn failed(error: ParquetError) -> ConvertError {
    ConvertError::Write(match error {
        ParquetError::External(error) => match error.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(error) => io::Error::other(error),
        },
        error => io::Error::other(error),
    })
}
