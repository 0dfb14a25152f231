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
