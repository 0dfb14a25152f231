//! Apache Arrow IPC: files and streams of tables, and of examples that are ready.

pub(crate) mod examples;
mod ipc;
pub(crate) mod rows;
mod write;

use super::ColumnarFormat;
use super::columnar::ColumnarFile;
use super::write::Writing;
use crate::error::Result;
use crate::source::Seekable;
use ipc::Ipc;
pub(crate) use ipc::{decode_batch, footer_metadata};

/// The format. A file with the columns `indices` and `values` holds [`examples`].
pub(super) struct Arrow;

impl ColumnarFormat for Arrow {
    fn name(&self) -> &'static str {
        "arrow"
    }

    fn endings(&self) -> &'static [&'static str] {
        &["arrow", "feather", "ipc", "arrows"]
    }

    fn has_magic(&self, head: &[u8]) -> bool {
        head.starts_with(ipc::MAGIC) || head.starts_with(&ipc::CONTINUATION)
    }

    fn open(&self, file: Seekable) -> Result<Box<dyn ColumnarFile>> {
        Ok(Box::new(Ipc::open(file)?))
    }

    fn writing(&self) -> Writing {
        Writing::Examples(write::arrow)
    }
}
