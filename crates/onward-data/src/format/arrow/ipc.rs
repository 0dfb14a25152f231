//! Arrow IPC files and streams, message by message.
//!
//! The messages are read here and only decoded by the library, so that every length
//! that a damaged file may claim is checked before memory is asked for: a failed
//! allocation would end the program.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_buffer::Buffer;
use arrow_ipc::Message;
use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::reader::{RecordBatchDecoder, read_dictionary};
use arrow_schema::{ArrowError, FieldRef, Schema, SchemaRef};
use bytes::Bytes;
use parquet::file::reader::Length;

use super::examples;
use crate::error::{DataError, Result};
use crate::format::columnar::cells::LeafColumn;
use crate::format::columnar::{ColumnarFile, MOST_ROWS, TableReader, TableSlice, broken, damaged, failed, share};
use crate::schema::Layout;
use crate::source::Seekable;

pub(super) const MAGIC: &[u8] = b"ARROW1";
pub(super) const CONTINUATION: [u8; 4] = [0xff; 4];

/// An open Arrow file, before its rows are read.
pub(super) struct Ipc {
    schema: SchemaRef,
    /// What else it says about itself: in its schema and in its footer.
    metadata: HashMap<String, String>,
    messages: Messages,
}

/// The messages of a file.
struct Messages {
    file: Seekable,
    /// Where they begin, as a footer lists them. `None` in a stream, where each begins behind the one before.
    starts: Option<std::vec::IntoIter<u64>>,
    /// Where the last one ended.
    at: u64,
}

impl Ipc {
    pub(super) fn open(file: Seekable) -> Result<Self> {
        let magic = file.magic().map_err(|error| failed(&error))?;
        let messages = Messages { file, starts: None, at: 0 };
        if magic.starts_with(MAGIC) { Self::open_file(messages) } else { Self::open_stream(messages) }
    }

    fn open_file(messages: Messages) -> Result<Self> {
        let bytes = footer(&messages.file)?;
        let footer = arrow_ipc::root_as_footer(&bytes).map_err(|error| broken(&error))?;
        let schema = schema(footer.schema(), "its footer holds no schema")?;
        let mut metadata = HashMap::from(schema.metadata().clone());
        metadata.extend(pairs(&footer));
        let dictionaries = footer.dictionaries().into_iter().flatten();
        let blocks = dictionaries.chain(footer.recordBatches().into_iter().flatten());
        let starts = blocks.map(|block| u64::try_from(block.offset()).map_err(|_| outside()));
        let starts = Some(starts.collect::<Result<Vec<_>>>()?.into_iter());
        Ok(Self { metadata, messages: Messages { starts, ..messages }, schema: Arc::new(schema) })
    }

    fn open_stream(mut messages: Messages) -> Result<Self> {
        let raw = messages.next()?.ok_or_else(|| damaged("it holds no schema"))?;
        let schema = schema(raw.message()?.header_as_schema(), "it does not begin with a schema")?;
        Ok(Self { metadata: schema.metadata().clone().into(), schema: Arc::new(schema), messages })
    }
}

fn schema(found: Option<arrow_ipc::Schema<'_>>, missing: &str) -> Result<Schema> {
    let found = found.ok_or_else(|| damaged(missing))?;
    if !found.endianness().equals_to_target_endianness() {
        return Err(damaged("it was written on a machine with another byte order"));
    }
    try_fb_to_schema(found).map_err(|error| broken(&error))
}

impl ColumnarFile for Ipc {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn layout(&self) -> Layout {
        if examples::are_examples(&self.schema) { Layout::Indexed } else { Layout::Table }
    }

    fn metadata(&self, key: &str) -> Option<&str> {
        self.metadata.get(key).map(String::as_str)
    }

    fn rows(self: Box<Self>, columns: &[LeafColumn], size: usize) -> Result<Box<dyn TableReader>> {
        let is_wanted = |field: &FieldRef| columns.iter().any(|column| column.path.first() == Some(field.name()));
        let fields = self.schema.fields().iter().enumerate();
        let columns = fields.filter(|(_, field)| is_wanted(field)).map(|(at, _)| at).collect();
        Ok(Box::new(IpcRows {
            messages: self.messages,
            size,
            current: None,
            decoder: Decoder { schema: self.schema, columns, dictionaries: HashMap::new() },
        }))
    }
}

/// What the footer of an Arrow file says besides its schema.
pub(crate) fn footer_metadata(file: &Seekable) -> Result<HashMap<String, String>> {
    let bytes = footer(file)?;
    let footer = arrow_ipc::root_as_footer(&bytes).map_err(|error| broken(&error))?;
    Ok(pairs(&footer).collect())
}

fn pairs<'f>(footer: &arrow_ipc::Footer<'f>) -> impl Iterator<Item = (String, String)> + use<'f> {
    let pairs = footer.custom_metadata().into_iter().flatten();
    pairs.filter_map(|pair| Some((pair.key()?.to_owned(), pair.value()?.to_owned())))
}

/// The bytes of a file's footer: they stand before its length and the closing magic.
fn footer(file: &Seekable) -> Result<Bytes> {
    const TAIL: u64 = 4 + MAGIC.len() as u64;
    let cut = || damaged("it ends before its footer").advise("it was cut short: copy or write it again");
    let end = file.len().checked_sub(TAIL).ok_or_else(cut)?;
    let tail = bytes(file, end, TAIL)?;
    let Some((size, MAGIC)) = tail.split_first_chunk::<4>() else { return Err(cut()) };
    let size = i32::from_le_bytes(*size);
    let start = u64::try_from(size).ok().and_then(|size| end.checked_sub(size));
    let start = start.filter(|&start| start >= MAGIC.len() as u64);
    let start = start.ok_or_else(|| damaged(format!("its footer claims to be {size} bytes long")))?;
    bytes(file, start, end - start)
}

/// A message: its description, and the body that holds the arrays.
struct RawMessage {
    description: Bytes,
    body: Buffer,
    /// How many bytes of the file it takes.
    length: u64,
}

impl RawMessage {
    fn message(&self) -> Result<Message<'_>> {
        arrow_ipc::root_as_message(&self.description).map_err(|error| broken(&error))
    }
}

impl Messages {
    fn next(&mut self) -> Result<Option<RawMessage>> {
        if let Some(starts) = &mut self.starts {
            let Some(start) = starts.next() else { return Ok(None) };
            self.at = start;
        } else if self.at == self.file.len() {
            return Ok(None);
        }
        let found = message_at(&self.file, self.at)?;
        if found.is_none() && self.starts.is_some() {
            return Err(damaged("a block holds no message"));
        }
        self.at += found.as_ref().map_or(0, |raw| raw.length);
        Ok(found)
    }
}

/// The message at a position; `None` where a stream ends.
fn message_at(file: &Seekable, at: u64) -> Result<Option<RawMessage>> {
    if at > file.len() {
        return Err(outside());
    }
    let word = |at| bytes(file, at, 4).map(|word| [word[0], word[1], word[2], word[3]]);
    let (mut start, mut size) = (at + 4, word(at)?);
    if size == CONTINUATION {
        (start, size) = (at + 8, word(at + 4)?);
    }
    let length =
        |claim: i64| u64::try_from(claim).map_err(|_| damaged(format!("a message claims to be {claim} bytes long")));
    let size = length(i32::from_le_bytes(size).into())?;
    if size == 0 {
        return Ok(None);
    }
    let description = bytes(file, start, size)?;
    let message = arrow_ipc::root_as_message(&description).map_err(|error| broken(&error))?;
    let body_length = length(message.bodyLength())?;
    let body = Buffer::from(bytes(file, start + size, body_length)?);
    Ok(Some(RawMessage { description, body, length: start + size + body_length - at }))
}

/// The record batch of a message in memory, whose columns stay where they are in it.
pub(crate) fn decode_batch(message: Bytes, schema: &SchemaRef) -> Result<RecordBatch> {
    let raw = message_at(&Seekable::Memory(message), 0)?.ok_or_else(|| damaged("it holds no message"))?;
    let columns = (0..schema.fields().len()).collect();
    let mut decoder = Decoder { schema: SchemaRef::clone(schema), columns, dictionaries: HashMap::new() };
    decoder.decode(&raw)?.ok_or_else(|| damaged("a message is not a record batch"))
}

/// The bytes from a position on, if the file still has them.
fn bytes(file: &Seekable, at: u64, size: u64) -> Result<Bytes> {
    let is_there = at.checked_add(size).is_some_and(|end| end <= file.len());
    let read = if is_there { file.read_at(at, size as usize) } else { Err(io::ErrorKind::UnexpectedEof.into()) };
    read.map_err(|error| failed(&error))
}

fn outside() -> DataError {
    damaged("a block lies outside the file")
}

/// The record batches of a file or stream, in parts.
struct IpcRows {
    messages: Messages,
    decoder: Decoder,
    /// About how many bytes a part has.
    size: usize,
    current: Option<CurrentBatch>,
}

/// The record batch that is handed out.
struct CurrentBatch {
    rows: RecordBatch,
    /// How many rows have been handed out.
    done: usize,
    /// How many rows a part has.
    part: usize,
    /// Bytes of its body, and of all that was read for it.
    bytes: u64,
    read: u64,
}

impl CurrentBatch {
    fn new(rows: RecordBatch, bytes: u64, read: u64, size: usize) -> Self {
        let widest = (rows.get_array_memory_size() / rows.num_rows().max(1)).max(1);
        Self { part: (size / widest).clamp(1, MOST_ROWS), rows, done: 0, bytes, read }
    }

    fn next(&mut self) -> Option<TableSlice> {
        let before = self.done;
        let count = self.part.min(self.rows.num_rows() - before);
        self.done += count;
        let share = |whole| share(whole, before..self.done, self.rows.num_rows());
        (count > 0).then(|| TableSlice {
            rows: self.rows.slice(before, count),
            bytes: share(self.bytes),
            read: share(self.read),
        })
    }
}

/// Turns messages into record batches.
struct Decoder {
    schema: SchemaRef,
    /// The columns to decode.
    columns: Vec<usize>,
    dictionaries: HashMap<i64, ArrayRef>,
}

impl TableReader for IpcRows {
    fn schema(&self) -> Result<Schema> {
        let columns = &self.decoder.columns;
        self.decoder.schema.project(columns).map_err(|error| broken(&error))
    }

    fn next(&mut self) -> Result<Option<TableSlice>> {
        loop {
            if let Some(table) = self.current.as_mut().and_then(CurrentBatch::next) {
                return Ok(Some(table));
            }
            let Some(raw) = self.messages.next()? else { return Ok(None) };
            let rows = self.decoder.decode(&raw)?;
            let bytes = raw.body.len() as u64;
            self.current = rows.map(|rows| CurrentBatch::new(rows, bytes, raw.length, self.size));
        }
    }
}

impl Decoder {
    /// The record batch of a message; `None` after taking in a dictionary.
    fn decode(&mut self, raw: &RawMessage) -> Result<Option<RecordBatch>> {
        let message = raw.message()?;
        let version = message.version();
        let failed = |error: ArrowError| broken(&error);
        if let Some(batch) = message.header_as_record_batch() {
            check_buffers(&batch, &raw.body)?;
            let decoder =
                RecordBatchDecoder::try_new(&raw.body, batch, self.schema.clone(), &self.dictionaries, &version)
                    .map_err(failed)?;
            let rows = decoder.with_projection(Some(&self.columns)).read_record_batch();
            return rows.map(Some).map_err(failed);
        }
        let Some(batch) = message.header_as_dictionary_batch() else {
            return Err(damaged("it holds a message that is not a table"));
        };
        if let Some(data) = batch.data() {
            check_buffers(&data, &raw.body)?;
        }
        read_dictionary(&raw.body, batch, &self.schema, &mut self.dictionaries, &version).map_err(failed)?;
        Ok(None)
    }
}

/// All buffers lie in the body, and there is memory for what they decompress to.
fn check_buffers(batch: &arrow_ipc::RecordBatch<'_>, body: &[u8]) -> Result {
    let is_compressed = batch.compression().is_some();
    for buffer in batch.buffers().into_iter().flatten() {
        let start = usize::try_from(buffer.offset()).ok();
        let size = usize::try_from(buffer.length()).ok();
        let found = start.zip(size).and_then(|(start, size)| body.get(start..)?.get(..size));
        let Some(found) = found else { return Err(damaged("a column lies outside its message")) };
        if let Some(prefix) = found.first_chunk::<8>().filter(|_| is_compressed) {
            check_claim(i64::from_le_bytes(*prefix), found.len())?;
        }
    }
    Ok(())
}

/// Whether a compressed buffer can be as long as it claims to be once decompressed.
fn check_claim(claim: i64, compressed: usize) -> Result {
    /// Less than this is always to be had.
    const SMALL: u64 = 64 << 20;
    /// More than Zstandard's best: 128 kB of one byte in 4 bytes.
    const BEST_RATIO: u64 = 1 << 16;
    let claim = u64::try_from(claim).unwrap_or(0);
    let has_memory = || Vec::<u8>::new().try_reserve_exact(claim as usize).is_ok();
    if claim > SMALL && (claim / BEST_RATIO > compressed as u64 || !has_memory()) {
        return Err(damaged(format!("{compressed} compressed bytes are said to hold {claim}")));
    }
    Ok(())
}
