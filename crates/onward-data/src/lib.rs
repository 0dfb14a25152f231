//! From bytes to batches of examples: formats, compression, schema.
//!
//! ```no_run
//! use onward_data::{Input, Options, Reader};
//!
//! let options = Options { target: Some("arr_delay>15".to_owned()), ..Options::default() };
//! let mut reader = Reader::open(&[Input::from("flights.csv.zst")], options)?;
//! while let Some(parsed) = reader.next_batch()? {
//!     println!("{} examples", parsed.batch.len());
//! }
//! # Ok::<(), onward_data::DataError>(())
//! ```
//!
//! The path of a byte: [`Input`] opens a file or standard input and
//! decompresses it; the chunker cuts the bytes at record boundaries; parsers,
//! one a thread, turn chunks into batches; the [`Reader`] hands the batches out
//! in order. Whatever the number of threads, the batches are the same.

mod atomic;
#[cfg(feature = "arrow")]
mod cache;
mod chunk;
#[cfg(feature = "arrow")]
mod columnar;
mod convert;
mod csv;
mod decimals;
#[cfg(target_arch = "x86_64")]
mod digits;
mod encode;
mod error;
mod format;
mod infer;
mod input;
mod interactions;
mod jsonl;
mod lines;
mod marks;
mod number;
mod open;
mod options;
mod parsed;
mod pending;
mod piece;
mod plain_lines;
mod plain_records;
mod reader;
mod schema;
mod sparse;
mod svmlight;
mod target;
mod timestamp;
mod vw;
mod words;

pub use atomic::{AtomicFile, PreparedFile};
pub use convert::{Compression, ConvertError, Converted, convert};
pub use error::{DataError, DataErrorKind, Position};
pub use format::Format;
pub use input::Input;
pub use interactions::Interaction;
pub use options::{OnError, Options};
pub use parsed::{NewNames, Parsed};
pub use reader::Reader;
pub use schema::{Column, Kind, Layout, Role, Schema};
pub use target::{Target, TargetRule};

/// Tests that choose how loops run, or ask how they do: one at a time, since all of a process run alike.
#[cfg(test)]
fn alone() -> std::sync::MutexGuard<'static, ()> {
    static ALONE: std::sync::Mutex<()> = std::sync::Mutex::new(());
    ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
