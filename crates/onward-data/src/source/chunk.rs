//! The unit of work of the reading threads: a chunk of an input, between record
//! boundaries, and the traits that make chunks and turn them into batches.

use std::sync::Arc;

use crate::encode::ParsedBatch;
use crate::error::{DataError, Result};

/// A chunk of an input.
pub struct Chunk {
    /// The name of the input, for messages.
    pub(crate) input: Arc<str>,
    /// Of each column of the input its place in the schema, if it has one; in formats that have columns.
    pub(crate) places: Arc<[Option<usize>]>,
    /// The records.
    pub(crate) content: ChunkContent,
}

/// The records of a chunk.
pub(crate) enum ChunkContent {
    /// Whole records of text.
    Text {
        bytes: Vec<u8>,
        /// The line number of the first byte, from 1.
        first_line: u64,
        /// Records longer than this, with their line ends, are refused.
        record_limit: usize,
    },
    /// A record that was too long to be read, and is skipped.
    Skipped {
        error: DataError,
        /// How many bytes were passed over.
        bytes: u64,
    },
    /// Rows of columns.
    #[cfg(feature = "arrow")]
    Rows {
        rows: arrow_array::RecordBatch,
        /// The number of the first row, from 1.
        first_row: u64,
        /// About how many bytes of the input they take.
        bytes: u64,
        /// The names of features, in files of examples.
        names: Arc<std::collections::HashMap<u32, Box<str>>>,
    },
    /// A record batch of a cache, by its number.
    #[cfg(feature = "arrow")]
    Cached { block: usize },
}

/// Cuts inputs into chunks, one after the other.
pub(crate) trait ChunkSource: Send {
    /// The next chunk; `None` at the end of the last input. `buffer` is memory to use again.
    fn next(&mut self, buffer: Vec<u8>) -> Result<Option<Chunk>>;
}

/// Turns chunks into batches. Each thread has one of its own; what it makes of a
/// chunk depends on the chunk alone (but for [`ParsedBatch::names`], which it hands on
/// once).
pub trait Parser: Send {
    /// Adds the examples of a chunk to `out`. After an error `out` holds the
    /// examples before it.
    ///
    /// # Errors
    /// At a malformed record, unless those are skipped.
    fn parse(&mut self, chunk: &Chunk, out: &mut ParsedBatch) -> Result<(), DataError>;
}
