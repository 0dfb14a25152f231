//! Apache Arrow IPC: files and streams of tables, and of examples that are ready.

pub(crate) mod examples;
mod ipc;
pub(crate) mod write;

use super::ColumnarFormat;
use super::write::Writing;
use ipc::Ipc;
pub(crate) use ipc::{decode_batch, footer_metadata};

/// The format. A file with the columns `indices` and `values` holds [`examples`].
pub(super) static ARROW: ColumnarFormat = ColumnarFormat {
    name: "arrow",
    summary: "Apache Arrow IPC files and streams: tables, or encoded examples",
    endings: &["arrow", "feather", "ipc", "arrows"],
    has_magic: |head| head.starts_with(ipc::MAGIC) || head.starts_with(&ipc::CONTINUATION),
    open: |file| Ok(Box::new(Ipc::open(file)?)),
    writing: Writing::Examples(write::arrow),
};
