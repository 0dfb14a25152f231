//! The unit of work of the reading threads: a piece of an input, between record
//! boundaries, and the traits that make pieces and turn them into batches.

use std::sync::Arc;

use crate::encode::Binding;
use crate::error::DataError;
use crate::parsed::Parsed;

/// A piece of an input.
pub(crate) struct Piece {
    /// The name of the input, for messages.
    pub(crate) input: Arc<str>,
    /// The input's columns, in formats that have some.
    pub(crate) binding: Arc<Binding>,
    /// The records.
    pub(crate) content: Content,
}

/// The records of a piece.
pub(crate) enum Content {
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
        names: Arc<crate::columnar::Names>,
    },
    /// A record batch of a cache, by its number.
    #[cfg(feature = "arrow")]
    Cached { block: usize },
}

/// Cuts inputs into pieces, one after the other.
pub(crate) trait Source: Send {
    /// The next piece; `None` at the end of the last input. `buffer` is memory to use again.
    fn next(&mut self, buffer: Vec<u8>) -> Result<Option<Piece>, DataError>;

    /// Whether records arrive while it is read (a pipe), so that reading may wait long.
    fn is_live(&self) -> bool;
}

/// Turns pieces into batches. Each thread has one of its own; what it makes of a
/// piece depends on the piece alone (but for [`Parsed::names`], which it hands on
/// once).
pub(crate) trait Parser: Send {
    /// Adds the examples of a piece to `out`. After an error `out` holds the
    /// examples before it.
    fn parse(&mut self, piece: &Piece, out: &mut Parsed) -> Result<(), DataError>;
}

/// Keeps batches as they are handed out, for the next run.
pub(crate) trait Keeper: Send {
    /// Takes in the next batch; after an error it is to be dropped.
    fn add(&mut self, parsed: &Parsed) -> Result<(), String>;

    /// Makes what was kept ready to be read, after the last batch.
    fn finish(self: Box<Self>) -> Result<(), String>;
}

/// What is done about a cache.
#[derive(Default)]
pub(crate) struct Keeping {
    /// Where batches go, while all is well.
    pub(crate) recorder: Option<Box<dyn Keeper>>,
    /// What is to be said of the cache that was found.
    pub(crate) note: Option<String>,
    /// Why none was made.
    pub(crate) failed: Option<String>,
    /// How many bytes are read, where they are those of a cache.
    pub(crate) total: Option<u64>,
}

impl Keeping {
    /// Takes in a batch.
    pub(crate) fn add(&mut self, parsed: &Parsed) {
        if let Some(Err(reason)) = self.recorder.as_mut().map(|recorder| recorder.add(parsed)) {
            self.give_up(reason);
        }
    }

    /// The last batch has come.
    pub(crate) fn finish(&mut self) {
        self.failed = self.recorder.take().and_then(|recorder| recorder.finish().err()).or(self.failed.take());
    }

    /// No more will come, though there is more.
    pub(crate) fn give_up(&mut self, reason: String) {
        if self.recorder.take().is_some() {
            self.failed = Some(reason);
        }
    }

    /// Why no cache was made, if one was to be.
    pub(crate) fn loss(&self) -> Option<&str> {
        let ended = || self.recorder.as_ref().map(|_| "the run ended before the input did");
        self.failed.as_deref().or_else(ended)
    }
}
