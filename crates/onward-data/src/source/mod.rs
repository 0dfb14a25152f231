//! From files and pipes to chunks of whole records.

mod boundaries;
mod chunk;
mod chunker;
pub(crate) mod decompress;
mod input;
mod live;
mod read_buffer;
#[cfg(feature = "arrow")]
mod seekable;

pub use boundaries::Boundaries;
pub(crate) use boundaries::{RecordExtent, closing_quote, is_blank, too_long};
pub use chunk::{Chunk, Parser};
pub(crate) use chunk::{ChunkContent, ChunkSource};
pub(crate) use chunker::{Chunker, HeadLimits};
pub use input::{Input, NamedBytes, NamedReader};
#[cfg(feature = "arrow")]
pub(crate) use seekable::Seekable;
