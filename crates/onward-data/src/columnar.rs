//! Stub while the house is built.
use crate::error::{DataError, DataErrorKind};
use crate::format::Format;
use crate::input::Input;
use crate::open::Opening;
use crate::options::Options;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

pub(crate) fn open(
    _inputs: &[Input],
    _format: Format,
    _options: &Options,
    _count: Arc<AtomicU64>,
) -> Result<Opening, DataError> {
    Err(DataError::new(DataErrorKind::Format, "not yet"))
}
