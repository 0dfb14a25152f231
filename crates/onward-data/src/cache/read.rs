//! Reads batches from a cache: features stay in the mapped file.

use std::fs::File;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytemuck::AnyBitPattern;
use memmap2::Mmap;
use onward::{BorrowedColumns, RowColumns};

use super::{Block, map};
use crate::columnar::{broken, damaged, guarded};
use crate::encode::Binding;
use crate::error::{DataError, DataErrorKind};
use crate::parsed::Parsed;
use crate::piece::{Content, Parser, Piece, Source};

/// Names the record batches of a cache, one after the other.
pub(super) struct CacheSource {
    name: Arc<str>,
    binding: Arc<Binding>,
    blocks: Arc<[Block]>,
    next: usize,
    count: Arc<AtomicU64>,
}

impl CacheSource {
    pub(super) fn new(name: &str, blocks: Arc<[Block]>, count: Arc<AtomicU64>) -> Self {
        Self { name: Arc::from(name), binding: Arc::default(), blocks, next: 0, count }
    }
}

impl Source for CacheSource {
    fn next(&mut self, _buffer: Vec<u8>) -> Result<Option<Piece>, DataError> {
        let Some(block) = self.blocks.get(self.next) else {
            return Ok(None);
        };
        self.count.fetch_add(block.length, Ordering::Relaxed);
        let content = Content::Cached { block: self.next };
        self.next += 1;
        Ok(Some(Piece { input: Arc::clone(&self.name), binding: Arc::clone(&self.binding), content }))
    }

    fn is_live(&self) -> bool {
        false
    }
}

/// Makes batches of record batches.
#[derive(Clone)]
pub(super) struct CacheParser {
    file: Arc<File>,
    blocks: Arc<[Block]>,
    id_columns: usize,
    /// What the inputs were called, and are called now.
    renamed: Arc<[(String, String)]>,
}

/// The features of a record batch, where they are in the file.
#[derive(Debug)]
struct Mapped {
    map: Arc<Mmap>,
    indices: Range<usize>,
    values: Range<usize>,
}

impl BorrowedColumns for Mapped {
    #[inline]
    fn indices(&self) -> &[u32] {
        bytemuck::try_cast_slice(&self.map[self.indices.clone()]).unwrap_or_default()
    }

    #[inline]
    fn values(&self) -> &[f32] {
        bytemuck::try_cast_slice(&self.map[self.values.clone()]).unwrap_or_default()
    }
}

/// Where the columns are among the fields and buffers of a record batch, as the writer has them:
/// a field or buffer for each level of nesting, and for each level one more buffer, of which values
/// are null, before its own.
mod place {
    pub(super) const ROWS: usize = 0;
    pub(super) const FEATURES: usize = 4;
    pub(super) const KEYS: usize = 9;
    pub(super) const LABELS: usize = 1;
    pub(super) const WEIGHTS: usize = 3;
    pub(super) const OFFSETS: usize = 5;
    pub(super) const ENDS: usize = 7;
    pub(super) const INDICES: usize = 9;
    pub(super) const VALUES: usize = 13;
    pub(super) const NAME_KEYS: usize = 18;
    pub(super) const NAME_ENDS: usize = 20;
    pub(super) const NAMES: usize = 21;
    pub(super) const FACTORS: usize = 12;
    pub(super) const PRODUCTS: usize = 25;
    pub(super) const ID_ENDS: usize = 28;
    pub(super) const IDS: usize = 29;
}

/// The parts of a record batch within its message.
struct Body<'a> {
    bytes: &'a [u8],
    /// Where the body begins in them.
    start: usize,
    lengths: Vec<usize>,
    buffers: Vec<Range<usize>>,
}

impl<'a> Body<'a> {
    fn new(bytes: &'a [u8]) -> Result<Self, DataError> {
        /// The mark of a message, and the length of its description.
        const PREFIX: usize = 8;
        let size = bytes.get(4..).and_then(<[u8]>::first_chunk).map(|size| i32::from_le_bytes(*size));
        let size = size.and_then(|size| usize::try_from(size).ok()).ok_or_else(|| damaged("it holds no message"))?;
        let description = bytes.get(PREFIX..).and_then(|rest| rest.get(..size));
        let description = description.ok_or_else(|| damaged("a message goes on beyond its end"))?;
        let message = arrow_ipc::root_as_message(description).map_err(|error| broken(&error))?;
        let batch = message.header_as_record_batch().ok_or_else(|| damaged("a message is no record batch"))?;
        let range = |offset: i64, length: i64| {
            let start = usize::try_from(offset).ok()?;
            Some(start..start.checked_add(usize::try_from(length).ok()?)?)
        };
        let buffers = batch.buffers().into_iter().flatten().map(|buffer| range(buffer.offset(), buffer.length()));
        let lengths = batch.nodes().into_iter().flatten().map(|node| usize::try_from(node.length()).ok());
        Ok(Self {
            bytes,
            start: PREFIX + size,
            lengths: lengths.collect::<Option<_>>().ok_or_else(outside)?,
            buffers: buffers.collect::<Option<_>>().ok_or_else(outside)?,
        })
    }

    fn length(&self, field: usize) -> Result<usize, DataError> {
        self.lengths.get(field).copied().ok_or_else(|| damaged("a column is not there"))
    }

    /// Where so many numbers of a buffer are.
    fn range<T>(&self, buffer: usize, count: usize) -> Result<Range<usize>, DataError> {
        let found = self.buffers.get(buffer).ok_or_else(|| damaged("a column is not there"))?;
        let length = count.checked_mul(size_of::<T>()).filter(|&length| length <= found.len()).ok_or_else(outside)?;
        let start = self.start.checked_add(found.start).ok_or_else(outside)?;
        let range = start..start.checked_add(length).ok_or_else(outside)?;
        if range.end <= self.bytes.len() { Ok(range) } else { Err(outside()) }
    }

    fn numbers<T: AnyBitPattern>(&self, buffer: usize, count: usize) -> Result<&'a [T], DataError> {
        let range = self.range::<T>(buffer, count)?;
        bytemuck::try_cast_slice(&self.bytes[range]).map_err(damaged)
    }

    /// Byte strings: where each ends, and all their bytes.
    fn strings(&self, ends: usize, data: usize, count: usize) -> Result<(&'a [i64], &'a [u8]), DataError> {
        if count == 0 {
            return Ok((&[], &[]));
        }
        let offsets = self.numbers::<i64>(ends, count.checked_add(1).ok_or_else(outside)?)?;
        let ascend = offsets[0] == 0 && offsets.windows(2).all(|pair| pair[0] <= pair[1]);
        let length = usize::try_from(offsets[count]).ok().filter(|_| ascend).ok_or_else(outside)?;
        Ok((&offsets[1..], self.numbers(data, length)?))
    }
}

fn outside() -> DataError {
    damaged("a column lies outside its record batch")
}

impl CacheParser {
    pub(super) fn new(file: File, blocks: Vec<Block>, id_columns: usize, renamed: Arc<[(String, String)]>) -> Self {
        Self { file: Arc::new(file), blocks: Arc::from(blocks), id_columns, renamed }
    }

    pub(super) fn blocks(&self) -> Arc<[Block]> {
        Arc::clone(&self.blocks)
    }

    fn block(&self, block: &Block, out: &mut Parsed) -> Result<(), DataError> {
        let map = map::map(&self.file, block.at, block.length)
            .map_err(|error| DataError::new(DataErrorKind::Io, format!("reading failed: {error}")))?;
        if crc32fast::hash(&map) != block.checksum {
            return Err(damaged("a record batch does not have its checksum"));
        }
        let map = Arc::new(map);
        let body = Body::new(&map)?;
        let rows = body.length(place::ROWS)?;
        let features = body.length(place::FEATURES)?;
        let columns = RowColumns {
            labels: body.numbers(place::LABELS, rows)?,
            weights: body.numbers(place::WEIGHTS, rows)?,
            offsets: body.numbers(place::OFFSETS, rows)?,
        };
        let ends = &body.numbers::<i64>(place::ENDS, rows.checked_add(1).ok_or_else(outside)?)?[1..];
        let indices = body.range::<u32>(place::INDICES, features)?;
        let values = body.range::<f32>(place::VALUES, features)?;
        self.names(&body, out)?;
        out.set_products(body.numbers(place::PRODUCTS, body.length(place::FACTORS)?)?);
        if self.id_columns > 0 {
            let (ends, ids) = body.strings(place::ID_ENDS, place::IDS, rows.saturating_mul(self.id_columns))?;
            out.set_ids(self.id_columns, ids, ends.iter().map(|&end| end as usize));
        }
        let mapped = Arc::new(Mapped { map: Arc::clone(&map), indices, values });
        // What is below 0 becomes too large, and is refused as such.
        let ends = ends.iter().map(|&end| end as usize);
        out.batch.borrow_columns(mapped, ends, columns).map_err(damaged)
    }

    fn names(&self, body: &Body<'_>, out: &mut Parsed) -> Result<(), DataError> {
        let count = body.length(place::KEYS)?;
        let keys = body.numbers::<u32>(place::NAME_KEYS, count)?;
        let (ends, text) = body.strings(place::NAME_ENDS, place::NAMES, count)?;
        let text = std::str::from_utf8(text).map_err(damaged)?;
        let mut start = 0;
        for (&key, &end) in keys.iter().zip(ends) {
            let name = text.get(start..end as usize).ok_or_else(outside)?;
            out.names.push(key, name);
            start = end as usize;
        }
        Ok(())
    }

    /// An error as it would be said of an input that was moved.
    fn renamed(&self, error: &DataError) -> DataError {
        let name = &error.position().input;
        match self.renamed.iter().find(|(before, _)| before == name) {
            Some((_, now)) => error.clone().input(now),
            None => error.clone(),
        }
    }
}

impl Parser for CacheParser {
    fn parse(&mut self, piece: &Piece, out: &mut Parsed) -> Result<(), DataError> {
        let Content::Cached { block } = piece.content else {
            return Ok(());
        };
        let blocks = Arc::clone(&self.blocks);
        let block = &blocks[block];
        let read = guarded(&piece.input, || self.block(block, out));
        if let Err(error) = read {
            out.clear();
            return Err(error.remedy("remove this cache, and the next run makes it anew"));
        }
        out.bytes += block.bytes;
        out.skipped += block.skipped;
        out.errors.extend(block.errors.iter().map(|error| self.renamed(error)));
        Ok(())
    }
}
