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
//! The path of a byte: an [`Input`] is opened and decompressed (`source`), and cut into chunks of
//! whole records; parsers, one per thread, turn chunks into batches (`format`, on `text` and
//! `encode`), as the [`Schema`] says that was inferred or given (`open`, `schema`); the [`Reader`]
//! hands the batches out in order. Whatever the number of threads, the batches are the same.
//!
//! Modules import from those that stand before them here only: `atomic`, `error`, `text`, `schema`,
//! `encode`, `source`, `format`, `options`, `open`, `record`, `cache`, `reader`, `convert`, `vectors`.

// Without Arrow some parts have no user.
#![cfg_attr(not(feature = "arrow"), allow(dead_code, unused_imports))]

mod atomic;
mod cache;
mod convert;
mod encode;
mod error;
mod format;
mod open;
mod options;
mod reader;
mod record;
mod schema;
mod source;
mod text;
mod vectors;

pub use atomic::{AtomicFile, PreparedFile};
pub use convert::convert;
pub use encode::{NewNames, ParsedBatch};
pub use error::{DataError, DataErrorKind, Message, Position, Setting, io_reason};
pub use format::write::{Compression, ConvertError, Converted};
pub use format::{Format, Formats, csv_cell};
pub use options::{OnError, Options};
pub use reader::Reader;
pub use record::{Field, RecordEncoder};
pub use schema::{Column, Interaction, Kind, Layout, Role, Schema, Target, TargetRule};
pub use source::{Input, NamedBytes, NamedReader};
pub use vectors::VectorReader;

pub mod formats {
    //! What a format of your own is made of: a [`TextFormat`], which [`Formats::with`](crate::Formats::with) adds to those
    //! that a run knows.

    pub use crate::encode::Rules;
    pub use crate::format::write::{
        ExampleWriter, NewExampleWriter, NewTableWriter, TableColumn, TableWriter, Writing,
    };
    pub use crate::format::{FirstLines, Head, Recognition, RowBuilder, TextFormat, by_line};
    pub use crate::schema::ColumnType;
    pub use crate::schema::sample::{FirstRows, LabelSample, TableSample};
    pub use crate::source::{Boundaries, Chunk, Parser};
}

/// Tests that choose how loops run, or ask how they do: one at a time, since all of a process run alike.
#[cfg(test)]
fn alone() -> std::sync::MutexGuard<'static, ()> {
    static ALONE: std::sync::Mutex<()> = std::sync::Mutex::new(());
    ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
