//! Writes the batches of a run to a cache.

use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, FixedSizeListArray, LargeBinaryArray, LargeStringArray, ListArray, MapArray, RecordBatch, StructArray,
    UInt32Array,
};
use arrow_buffer::{Buffer, OffsetBuffer};
use arrow_ipc::writer::FileWriter;
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Fields, Schema, SchemaRef};
use onward::Example;

use super::BatchSink;
use super::identity::InputStamps;

use super::store::{
    CHECKSUM_KEY, CacheIndex, CachedBatch, IDS, INDEX_KEY, LAYOUT, LAYOUT_KEY, NAMES, PARSERS, PRODUCTS, ParsingRules,
};
use crate::atomic::AtomicFile;
use crate::encode::{KEPT_ERRORS, NamesSeen, ParsedBatch};
use crate::error::{DataError, Result, io_reason};
use crate::format::arrow::examples::{TARGET_KEY, VERSION, VERSION_KEY};
use crate::format::arrow::write::{ExampleRows, element, plain};
use crate::source::Input;

/// About how many bytes a record batch has.
const SIZE: usize = 512 << 10;
/// Bytes of a row besides its features: label, weight, offset, and the ends of its lists.
const ROW: usize = 48;

/// Writes batches as they are handed out. What is not finished leaves nothing behind.
pub(super) struct CacheWriter {
    writer: FileWriter<ChecksumWriter<AtomicFile>>,
    schema: SchemaRef,
    rows: CachedRows,
    seen: NamesSeen,
    seen_products: NamesSeen,
    id_columns: usize,
    index: CacheIndex,
    stamps: InputStamps,
}

/// A writer that keeps the checksum of what was written since the last was asked for.
struct ChecksumWriter<W> {
    inner: W,
    checksum: crc32fast::Hasher,
    written: u64,
}

impl<W: Write> Write for ChecksumWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.checksum.update(&bytes[..written]);
        self.written += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

impl<W> ChecksumWriter<W> {
    fn take_checksum(&mut self) -> u32 {
        std::mem::take(&mut self.checksum).finalize()
    }
}

/// The rows of the record batch that is being filled, and what is told of them.
#[derive(Default)]
struct CachedRows {
    rows: ExampleRows,
    names: Vec<(u32, Box<str>)>,
    products: Vec<u32>,
    id_lengths: Vec<usize>,
    ids: Vec<u8>,
    block: CachedBatch,
}

fn entries() -> Fields {
    Fields::from(vec![Field::new("key", DataType::UInt32, false), Field::new("value", DataType::LargeUtf8, false)])
}

fn entry() -> FieldRef {
    Arc::new(Field::new("entries", DataType::Struct(entries()), false))
}

/// The columns of examples, and what else is kept.
pub(super) fn schema(rules: &ParsingRules, id_columns: usize) -> Schema {
    let mut fields = ExampleRows::fields();
    fields.push(Field::new(NAMES, DataType::Map(entry(), false), false));
    fields.push(Field::new(PRODUCTS, DataType::List(element(DataType::UInt32)), false));
    if id_columns > 0 {
        let list = DataType::FixedSizeList(element(DataType::LargeBinary), id_columns as i32);
        fields.push(Field::new(IDS, list, false));
    }
    let metadata = [
        (LAYOUT_KEY, LAYOUT.to_owned()),
        (VERSION_KEY, VERSION.to_owned()),
        (TARGET_KEY, rules.schema.target.to_string()),
    ];
    Schema::new(fields).with_metadata(metadata.map(|(key, value)| (key.to_owned(), value)))
}

/// The ends of lists where the first row has all elements.
fn all_with_the_first(count: usize, rows: usize) -> OffsetBuffer<i32> {
    OffsetBuffer::from_lengths(std::iter::once(count).chain(std::iter::repeat_n(0, rows - 1)))
}

impl CachedRows {
    fn bytes(&self) -> usize {
        8 * self.rows.features() + ROW * self.rows.len() + self.ids.len()
    }

    fn push<'a>(&mut self, example: Example<'_>, ids: impl Iterator<Item = &'a [u8]>) {
        self.rows.push(example);
        for id in ids {
            self.ids.extend_from_slice(id);
            self.id_lengths.push(id.len());
        }
    }

    /// A record batch of at least one row.
    fn batch(self, schema: &SchemaRef, id_columns: usize) -> Result<RecordBatch, ArrowError> {
        let rows = self.rows.len();
        let (keys, names): (Vec<u32>, Vec<Box<str>>) = self.names.into_iter().unzip();
        let ends = all_with_the_first(keys.len(), rows);
        let names = LargeStringArray::from_iter_values(names.iter().map(AsRef::as_ref));
        let names = StructArray::try_new(entries(), vec![Arc::new(UInt32Array::from(keys)), Arc::new(names)], None)?;
        let names = MapArray::try_new(entry(), ends, names, None, false)?;
        let ends = all_with_the_first(self.products.len(), rows);
        let products = Arc::new(UInt32Array::from(self.products));
        let products = ListArray::try_new(element(DataType::UInt32), ends, products, None)?;
        let mut columns = self.rows.columns()?;
        columns.push(Arc::new(names));
        columns.push(Arc::new(products));
        if id_columns > 0 {
            let ends = OffsetBuffer::from_lengths(self.id_lengths);
            let ids: ArrayRef = Arc::new(LargeBinaryArray::try_new(ends, Buffer::from_vec(self.ids), None)?);
            let element = element(DataType::LargeBinary);
            columns.push(Arc::new(FixedSizeListArray::try_new(element, id_columns as i32, ids, None)?));
        }
        RecordBatch::try_new(SchemaRef::clone(schema), columns)
    }
}

impl CacheWriter {
    pub(super) fn create(path: &Path, rules: ParsingRules, id_columns: usize, stamps: InputStamps) -> Result<Self> {
        let unwritable = |error: io::Error| {
            DataError::open(format!("the cache cannot be written: {}", io_reason(&error)))
                .input(&path.display().to_string())
        };
        let file = AtomicFile::create(path).map_err(unwritable)?;
        let schema = schema(&rules, id_columns);
        let mut writer = FileWriter::try_new(
            ChecksumWriter { inner: file, checksum: crc32fast::Hasher::new(), written: 0 },
            &schema,
        )
        .map_err(|error| unwritable(plain(error)))?;
        let head = writer.get_mut().take_checksum();
        Ok(Self {
            writer,
            schema: Arc::new(schema),
            rows: CachedRows::default(),
            seen: NamesSeen::default(),
            seen_products: NamesSeen::default(),
            id_columns,
            index: CacheIndex {
                layout: LAYOUT.to_owned(),
                onward: PARSERS.to_owned(),
                rules,
                begun: stamps.begun,
                names: stamps.inputs.iter().map(Input::name).collect(),
                inputs: Vec::new(),
                head,
                blocks: Vec::new(),
            },
            stamps,
        })
    }

    /// Writes the record batch that was filled, which has at least one row.
    fn flush(&mut self) -> io::Result<()> {
        let mut rows = std::mem::take(&mut self.rows);
        let mut block = std::mem::take(&mut rows.block);
        block.rows = rows.rows.len() as u64;
        let batch = rows.batch(&self.schema, self.id_columns).map_err(plain)?;
        block.at = self.writer.get_ref().written;
        self.writer.write(&batch).map_err(plain)?;
        let written = self.writer.get_mut();
        block.length = written.written - block.at;
        block.checksum = written.take_checksum();
        self.index.blocks.push(block);
        Ok(())
    }
}

impl BatchSink for CacheWriter {
    /// What belongs to the whole batch goes with its first row, or with the row before.
    fn add(&mut self, parsed: &ParsedBatch) -> io::Result<()> {
        let seen = &mut self.seen;
        let new = parsed.names.iter().filter(|&(index, _)| seen.first(index));
        self.rows.names.extend(new.map(|(index, name)| (index, name.into())));
        let seen = &mut self.seen_products;
        for (index, factors) in parsed.products().filter(|&(index, _)| seen.first(index)) {
            self.rows.products.extend([index, factors.len() as u32]);
            self.rows.products.extend_from_slice(factors);
        }
        let block = &mut self.rows.block;
        block.bytes += parsed.bytes;
        block.skipped += parsed.skipped;
        let room = KEPT_ERRORS - block.errors.len();
        block.errors.extend(parsed.errors.iter().take(room).cloned());
        for (row, example) in parsed.batch.iter().enumerate() {
            if self.rows.bytes() >= SIZE {
                self.flush()?;
            }
            self.rows.push(example, parsed.ids(row));
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        if self.rows.rows.len() == 0 {
            return Err(io::Error::other("there was no example"));
        }
        self.flush()?;
        let inputs = self.stamps.identities()?;
        self.index.inputs = inputs.ok_or_else(|| io::Error::other("an input changed while it was being read"))?;
        let index = serde_json::to_string(&self.index).map_err(io::Error::other)?;
        self.writer.write_metadata(CHECKSUM_KEY, crc32fast::hash(index.as_bytes()).to_string());
        self.writer.write_metadata(INDEX_KEY, index);
        self.writer.into_inner().map_err(plain)?.inner.commit()
    }
}
