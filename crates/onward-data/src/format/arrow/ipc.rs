//! Arrow IPC files and streams, message by message.
//!
//! The messages are read here and only decoded by the library, so that every length
//! that a damaged file may claim is checked before memory is asked for: a failed
//! allocation would end the program.

use std::collections::HashMap;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_buffer::Buffer;
use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::reader::{RecordBatchDecoder, read_dictionary};
use arrow_ipc::{Block, Message};
use arrow_schema::{ArrowError, FieldRef, Schema, SchemaRef};

use super::examples;
use crate::error::DataError;
use crate::format::columnar::cells::LeafColumn;
use crate::format::columnar::{ColumnarFile, MOST_ROWS, TableReader, TableSlice, broken, damaged, failed};
use crate::schema::Layout;
use crate::source::Seekable;

pub(super) const MAGIC: &[u8] = b"ARROW1";
pub(super) const CONTINUATION: [u8; 4] = [0xff; 4];

/// An open file of Arrow's, before its rows are read.
pub(super) struct Ipc {
    schema: SchemaRef,
    /// What else it says about itself: that of its schema and that of its footer.
    metadata: HashMap<String, String>,
    messages: Messages,
}

/// Where the messages are.
enum Messages {
    /// In blocks that the footer lists.
    File { file: Seekable, length: u64, dictionaries: std::vec::IntoIter<Block>, batches: std::vec::IntoIter<Block> },
    /// One after the other.
    Stream { reader: BufReader<Seekable>, left: u64 },
}

impl Ipc {
    pub(super) fn open(mut file: Seekable) -> Result<Self, DataError> {
        let length = file.seek(SeekFrom::End(0)).map_err(|error| failed(&error))?;
        let mut head = [0; 6];
        file.rewind().map_err(|error| failed(&error))?;
        let read = file.read(&mut head).map_err(|error| failed(&error))?;
        file.rewind().map_err(|error| failed(&error))?;
        match &head[..read] {
            MAGIC => Self::open_file(file, length),
            _ => Self::open_stream(file, length),
        }
    }

    fn open_file(mut file: Seekable, length: u64) -> Result<Self, DataError> {
        let bytes = footer(&mut file, length)?;
        let footer = arrow_ipc::root_as_footer(&bytes).map_err(|error| broken(&error))?;
        let Some(schema) = footer.schema() else {
            return Err(damaged("its footer holds no schema"));
        };
        if !schema.endianness().equals_to_target_endianness() {
            return Err(damaged("it was written on a machine with another order of bytes"));
        }
        let schema = try_fb_to_schema(schema).map_err(|error| broken(&error))?;
        let mut metadata = HashMap::from(schema.metadata().clone());
        let pairs = footer.custom_metadata().into_iter().flatten();
        metadata.extend(pairs.filter_map(|pair| Some((pair.key()?.to_owned(), pair.value()?.to_owned()))));
        Ok(Self {
            metadata,
            messages: Messages::File {
                length,
                dictionaries: blocks(footer.dictionaries().into_iter().flatten()),
                batches: blocks(footer.recordBatches().into_iter().flatten()),
                file,
            },
            schema: Arc::new(schema),
        })
    }

    fn open_stream(file: Seekable, length: u64) -> Result<Self, DataError> {
        let mut messages = Messages::Stream { reader: BufReader::new(file), left: length };
        let Some(raw) = messages.next()? else {
            return Err(damaged("it holds no schema"));
        };
        let Some(schema) = raw.message()?.header_as_schema() else {
            return Err(damaged("it does not begin with a schema"));
        };
        if !schema.endianness().equals_to_target_endianness() {
            return Err(damaged("it was written on a machine with another order of bytes"));
        }
        let schema = try_fb_to_schema(schema).map_err(|error| broken(&error))?;
        Ok(Self { metadata: schema.metadata().clone().into(), schema: Arc::new(schema), messages })
    }
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

    fn rows(self: Box<Self>, columns: &[LeafColumn], size: usize) -> Result<Box<dyn TableReader>, DataError> {
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

fn blocks<'a>(blocks: impl Iterator<Item = &'a Block>) -> std::vec::IntoIter<Block> {
    blocks.copied().collect::<Vec<_>>().into_iter()
}

/// What the footer of an Arrow file says besides its schema.
pub(crate) fn footer_metadata(file: &mut (impl Read + Seek)) -> Result<HashMap<String, String>, DataError> {
    let length = file.seek(SeekFrom::End(0)).map_err(|error| failed(&error))?;
    let bytes = footer(file, length)?;
    let footer = arrow_ipc::root_as_footer(&bytes).map_err(|error| broken(&error))?;
    let pairs = footer.custom_metadata().into_iter().flatten();
    Ok(pairs.filter_map(|pair| Some((pair.key()?.to_owned(), pair.value()?.to_owned()))).collect())
}

/// The bytes of a file's footer: they stand before its length and the closing magic.
fn footer(file: &mut (impl Read + Seek), length: u64) -> Result<Vec<u8>, DataError> {
    const TAIL: u64 = 4 + MAGIC.len() as u64;
    let cut = || damaged("it ends before its footer").advise("it was cut short: copy or write it again");
    let Some(end) = length.checked_sub(TAIL) else {
        return Err(cut());
    };
    let mut tail = [0; TAIL as usize];
    file.seek(SeekFrom::Start(end)).and_then(|_| file.read_exact(&mut tail)).map_err(|error| failed(&error))?;
    let Some((size, MAGIC)) = tail.split_first_chunk::<4>() else {
        return Err(cut());
    };
    let size = i32::from_le_bytes(*size);
    let start = u64::try_from(size).ok().and_then(|size| end.checked_sub(size));
    let Some(start) = start.filter(|&start| start >= MAGIC.len() as u64) else {
        return Err(damaged(format!("its footer is said to be {size} bytes long")));
    };
    let mut bytes = vec![0; (end - start) as usize];
    file.seek(SeekFrom::Start(start)).and_then(|_| file.read_exact(&mut bytes)).map_err(|error| failed(&error))?;
    Ok(bytes)
}

/// A message: its description, and the body that holds the arrays.
struct RawMessage {
    description: Vec<u8>,
    body: Buffer,
    /// How many bytes of the file it takes.
    length: u64,
}

impl RawMessage {
    fn message(&self) -> Result<Message<'_>, DataError> {
        arrow_ipc::root_as_message(&self.description).map_err(|error| broken(&error))
    }
}

impl Messages {
    fn next(&mut self) -> Result<Option<RawMessage>, DataError> {
        match self {
            Self::File { file, length, dictionaries, batches } => {
                match dictionaries.next().or_else(|| batches.next()) {
                    Some(block) => block_at(file, *length, &block).map(Some),
                    None => Ok(None),
                }
            }
            Self::Stream { reader, left } => streamed(reader, left),
        }
    }
}

/// The message of a block.
fn block_at(file: &mut (impl Read + Seek), length: u64, block: &Block) -> Result<RawMessage, DataError> {
    let wrong = || damaged("a block lies outside the file");
    let start = u64::try_from(block.offset()).map_err(|_| wrong())?;
    let mut left = length.checked_sub(start).ok_or_else(wrong)?;
    let whole = left;
    file.seek(SeekFrom::Start(start)).map_err(|error| failed(&error))?;
    let described = u64::try_from(block.metaDataLength()).ok().filter(|&size| size <= left);
    let Some(described) = described else {
        return Err(wrong());
    };
    // The description has a prefix and padding of its own: it is read by its own length.
    let Some(size) = prefix(file, &mut left)? else {
        return Err(damaged("a block holds no message"));
    };
    let description = bytes(file, &mut left, size)?;
    let padding = described.checked_sub(whole - left).ok_or_else(wrong)?;
    bytes(file, &mut left, padding)?;
    let body = body(file, &mut left, &description)?;
    Ok(RawMessage { description, body, length: whole - left })
}

/// The record batch of a message in memory, whose columns stay where they are in it.
pub(crate) fn decode_batch(message: Buffer, schema: &SchemaRef) -> Result<RecordBatch, DataError> {
    let mut rest = message.as_slice();
    let mut left = rest.len() as u64;
    let size = prefix(&mut rest, &mut left)?.ok_or_else(|| damaged("it holds no message"))?;
    let description = bytes(&mut rest, &mut left, size)?;
    let body = message.slice(message.len() - left as usize);
    let raw = RawMessage { description, body, length: message.len() as u64 };
    let columns = (0..schema.fields().len()).collect();
    let mut decoder = Decoder { schema: SchemaRef::clone(schema), columns, dictionaries: HashMap::new() };
    decoder.decode(&raw)?.ok_or_else(|| damaged("a message is no record batch"))
}

/// The next message of a stream.
fn streamed(reader: &mut BufReader<Seekable>, left: &mut u64) -> Result<Option<RawMessage>, DataError> {
    let before = *left;
    let Some(size) = prefix(reader, left)? else {
        return Ok(None);
    };
    let description = bytes(reader, left, size)?;
    let body = body(reader, left, &description)?;
    Ok(Some(RawMessage { description, body, length: before - *left }))
}

/// The length of the description that follows; `None` at the end of a stream.
fn prefix(reader: &mut impl Read, left: &mut u64) -> Result<Option<u64>, DataError> {
    if *left == 0 {
        return Ok(None);
    }
    let mut word = word(reader, left)?;
    if word == CONTINUATION {
        word = self::word(reader, left)?;
    }
    match i32::from_le_bytes(word) {
        0 => Ok(None),
        size => match u64::try_from(size) {
            Ok(size) => Ok(Some(size)),
            Err(_) => Err(damaged(format!("a message is said to be {size} bytes long"))),
        },
    }
}

fn word(reader: &mut impl Read, left: &mut u64) -> Result<[u8; 4], DataError> {
    let mut word = [0; 4];
    *left = left.checked_sub(4).ok_or_else(cut_short)?;
    reader.read_exact(&mut word).map_err(|error| failed(&error))?;
    Ok(word)
}

fn body(reader: &mut impl Read, left: &mut u64, description: &[u8]) -> Result<Buffer, DataError> {
    let message = arrow_ipc::root_as_message(description).map_err(|error| broken(&error))?;
    let size = u64::try_from(message.bodyLength())
        .map_err(|_| damaged(format!("a message is said to be {} bytes long", message.bodyLength())))?;
    Ok(Buffer::from_vec(bytes(reader, left, size)?))
}

/// So many bytes, if the file still has them.
fn bytes(reader: &mut impl Read, left: &mut u64, size: u64) -> Result<Vec<u8>, DataError> {
    *left = left.checked_sub(size).ok_or_else(cut_short)?;
    let mut bytes = vec![0; size as usize];
    reader.read_exact(&mut bytes).map_err(|error| failed(&error))?;
    Ok(bytes)
}

fn cut_short() -> DataError {
    failed(&io::ErrorKind::UnexpectedEof.into())
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
        let rows = self.rows.num_rows() as u128;
        let until = |whole: u64, done: usize| (u128::from(whole) * done as u128 / rows.max(1)) as u64;
        let share = |whole| until(whole, self.done) - until(whole, before);
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
    fn schema(&self) -> Result<Schema, DataError> {
        let columns = &self.decoder.columns;
        self.decoder.schema.project(columns).map_err(|error| broken(&error))
    }

    fn next(&mut self) -> Result<Option<TableSlice>, DataError> {
        loop {
            if let Some(table) = self.current.as_mut().and_then(CurrentBatch::next) {
                return Ok(Some(table));
            }
            let Some(raw) = self.messages.next()? else {
                return Ok(None);
            };
            let rows = self.decoder.decode(&raw)?;
            let bytes = raw.body.len() as u64;
            self.current = rows.map(|rows| CurrentBatch::new(rows, bytes, raw.length, self.size));
        }
    }
}

impl Decoder {
    /// The record batch of a message; `None` after taking in a dictionary.
    fn decode(&mut self, raw: &RawMessage) -> Result<Option<RecordBatch>, DataError> {
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
            return Err(damaged("it holds a message that is no table"));
        };
        if let Some(data) = batch.data() {
            check_buffers(&data, &raw.body)?;
        }
        read_dictionary(&raw.body, batch, &self.schema, &mut self.dictionaries, &version).map_err(failed)?;
        Ok(None)
    }
}

/// All buffers lie in the body, and there is memory for what they decompress to.
fn check_buffers(batch: &arrow_ipc::RecordBatch<'_>, body: &[u8]) -> Result<(), DataError> {
    let is_compressed = batch.compression().is_some();
    for buffer in batch.buffers().into_iter().flatten() {
        let start = usize::try_from(buffer.offset()).ok();
        let size = usize::try_from(buffer.length()).ok();
        let found = start.zip(size).and_then(|(start, size)| body.get(start..)?.get(..size));
        let Some(found) = found else {
            return Err(damaged("a column lies outside its message"));
        };
        if let Some(prefix) = found.first_chunk::<8>().filter(|_| is_compressed) {
            check_claim(i64::from_le_bytes(*prefix), found.len())?;
        }
    }
    Ok(())
}

/// Whether a compressed buffer can be as long as it claims to be once decompressed.
fn check_claim(claim: i64, compressed: usize) -> Result<(), DataError> {
    /// Less than this is always to be had.
    const SMALL: u64 = 64 << 20;
    /// More than Zstandard's best: 128 kB of one byte in 4 bytes.
    const BEST_RATIO: u64 = 1 << 16;
    let Ok(claim) = u64::try_from(claim) else {
        return Ok(());
    };
    if claim <= SMALL {
        return Ok(());
    }
    let has_memory = |claim: u64| Vec::<u8>::new().try_reserve_exact(claim as usize).is_ok();
    if claim / BEST_RATIO > compressed as u64 || !has_memory(claim) {
        return Err(damaged(format!("{compressed} compressed bytes are said to hold {claim}")));
    }
    Ok(())
}
