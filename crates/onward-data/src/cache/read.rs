//! Reads batches from a cache: features stay in the mapped file.

use std::fs::File;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type, UInt32Type};
use arrow_array::{Array, RecordBatch};
use arrow_buffer::ScalarBuffer;
use arrow_schema::SchemaRef;
use bytes::Bytes;
use memmap2::{Mmap, MmapOptions};
use onward::{BorrowedColumns, RowColumns};

use super::store::{CachedBatch, IDS, NAMES, PRODUCTS};
use crate::encode::ParsedBatch;
use crate::error::{DataError, Result};
use crate::format::arrow::decode_batch;
use crate::format::arrow::examples::{INDICES, LABEL, OFFSET, VALUES, WEIGHT};
use crate::format::columnar::{damaged, guarded};
use crate::source::{Chunk, ChunkContent, ChunkSource, Parser};

/// Names the record batches of a cache, one after the other.
pub(super) struct CacheSource {
    pub(super) name: Arc<str>,
    pub(super) blocks: Arc<[CachedBatch]>,
    pub(super) next: usize,
    pub(super) count: Arc<AtomicU64>,
}

impl ChunkSource for CacheSource {
    fn next(&mut self, _buffer: Vec<u8>) -> Result<Option<Chunk>> {
        let Some(block) = self.blocks.get(self.next) else { return Ok(None) };
        self.count.fetch_add(block.length, Ordering::Relaxed);
        let content = ChunkContent::Cached { block: self.next };
        self.next += 1;
        Ok(Some(Chunk { input: Arc::clone(&self.name), places: Arc::default(), content }))
    }
}

/// Makes batches of record batches.
#[derive(Clone)]
pub(super) struct CacheParser {
    pub(super) file: Arc<File>,
    pub(super) blocks: Arc<[CachedBatch]>,
    pub(super) schema: SchemaRef,
    pub(super) id_columns: usize,
    /// What the inputs were called, and are called now.
    pub(super) renamed: Arc<[(String, String)]>,
}

/// The features of a record batch, where they are in the file.
#[derive(Debug)]
struct MappedFeatures {
    indices: ScalarBuffer<u32>,
    values: ScalarBuffer<f32>,
}

impl BorrowedColumns for MappedFeatures {
    fn indices(&self) -> &[u32] {
        &self.indices
    }

    fn values(&self) -> &[f32] {
        &self.values
    }
}

/// Maps a part of a file: it is read as it is looked at.
fn map(file: &File, at: u64, length: u64) -> io::Result<Mmap> {
    let out_of_file = || io::Error::from(io::ErrorKind::UnexpectedEof);
    let end = at.checked_add(length).ok_or_else(out_of_file)?;
    // To read beyond the end of a mapped file ends the program.
    if end > file.metadata()?.len() {
        return Err(out_of_file());
    }
    let length = usize::try_from(length).map_err(|_| out_of_file())?;
    // SAFETY: the bytes must not change while they are mapped. Onward writes a cache under another
    // name and renames it, so that a file that is mapped is never written to by any run; nothing
    // but another program that writes into it, or cuts it short, could change it, and the
    // documentation asks not to.
    #[allow(unsafe_code)]
    unsafe {
        MmapOptions::new().offset(at).len(length).map(file)
    }
}

/// A column of a record batch.
fn column<'a>(rows: &'a RecordBatch, name: &str) -> Result<&'a dyn Array> {
    rows.column_by_name(name).map(AsRef::as_ref).ok_or_else(|| damaged(format!("the column '{name}' is missing")))
}

impl CacheParser {
    fn block(&self, block: &CachedBatch, out: &mut ParsedBatch) -> Result {
        let map = map(&self.file, block.at, block.length)
            .map_err(|error| DataError::io(format!("reading failed: {error}")))?;
        if crc32fast::hash(&map) != block.checksum {
            return Err(damaged("a record batch does not have its checksum"));
        }
        let rows = decode_batch(Bytes::from_owner(map), &self.schema)?;
        names(&rows, out)?;
        out.set_products(column(&rows, PRODUCTS)?.as_list::<i32>().values().as_primitive::<UInt32Type>().values());
        if self.id_columns > 0 {
            let ids = column(&rows, IDS)?.as_fixed_size_list().values().as_binary::<i64>();
            let ends = ids.value_offsets().iter().skip(1).map(|&end| end as usize);
            out.set_ids(self.id_columns, ids.value_data(), ends);
        }
        let numbers = |name| column(&rows, name).map(|array| array.as_primitive::<Float64Type>().values());
        let columns = RowColumns { labels: numbers(LABEL)?, weights: numbers(WEIGHT)?, offsets: numbers(OFFSET)? };
        let indices = column(&rows, INDICES)?.as_list::<i32>();
        let values = column(&rows, VALUES)?.as_list::<i32>();
        let mapped = Arc::new(MappedFeatures {
            indices: indices.values().as_primitive::<UInt32Type>().values().clone(),
            values: values.values().as_primitive::<Float32Type>().values().clone(),
        });
        let ends = indices.value_offsets().iter().skip(1).map(|&end| end as usize);
        out.batch.borrow_columns(mapped, ends, columns).map_err(damaged)
    }

    /// An error with the present name of an input that was moved.
    fn renamed(&self, error: &DataError) -> DataError {
        let name = &error.position().input;
        match self.renamed.iter().find(|(before, _)| before == name) {
            Some((_, now)) => error.clone().input(now),
            None => error.clone(),
        }
    }
}

/// The features that were met first in a record batch.
fn names(rows: &RecordBatch, out: &mut ParsedBatch) -> Result {
    let map = column(rows, NAMES)?.as_map();
    let names = map.values().as_string::<i64>();
    for (&index, name) in map.keys().as_primitive::<UInt32Type>().values().iter().zip(names.iter().flatten()) {
        out.names.push(index, &[name]);
    }
    Ok(())
}

impl Parser for CacheParser {
    fn parse(&mut self, chunk: &Chunk, out: &mut ParsedBatch) -> Result {
        let ChunkContent::Cached { block } = chunk.content else { return Ok(()) };
        let blocks = Arc::clone(&self.blocks);
        let block = &blocks[block];
        if let Err(error) = guarded(&chunk.input, || self.block(block, out)) {
            out.clear();
            return Err(error.advise("remove this cache, and the next run rebuilds it"));
        }
        out.bytes += block.bytes;
        out.skipped += block.skipped;
        out.errors.extend(block.errors.iter().map(|error| self.renamed(error)));
        Ok(())
    }
}
