//! What a run asks of those who started it, and tells them.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use onward_data::DataError;

/// Cancels a run, and follows its progress. Everything has a default: `&()` lets a run go on to its end,
/// and an [`AtomicBool`] cancels it when it becomes true.
///
/// ```
/// use std::sync::atomic::AtomicBool;
/// use onward_engine::RunControl;
/// let cancel = AtomicBool::new(false);
/// assert!(!cancel.is_cancelled());
/// ```
pub trait RunControl: Sync {
    /// Whether the run should end. It ends in order, after the batch at hand, and its outcome is that of
    /// what was read so far.
    fn is_cancelled(&self) -> bool {
        false
    }

    /// Whether [`Progress::risk`] will be shown after this many examples: it is then exact. Otherwise it may
    /// lack the last few batches.
    fn needs_exact_risk(&self, _examples: u64) -> bool {
        false
    }

    /// Takes note of an event.
    fn observe(&self, _event: Event<'_>) {}
}

/// What happens during a run.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Event<'a> {
    /// A batch was processed.
    Progress(Progress),
    /// A record was skipped. The first few are named.
    Skipped(&'a DataError),
    /// No cache could be kept: why.
    CacheLost(&'a str),
    /// The rows that are kept take more than this many bytes: they continue in a temporary file of this folder.
    Spilled {
        /// The bytes.
        bytes: usize,
        /// The folder.
        folder: &'a Path,
    },
}

/// How far a run is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// Examples that were read, in all passes.
    pub examples: u64,
    /// Bytes of the inputs that were read, as they are on disk, in this pass.
    pub bytes_read: u64,
    /// All bytes of the inputs, if that is known.
    pub bytes_total: Option<u64>,
    /// The mean loss so far; NaN if nothing was charged.
    pub risk: f64,
}

impl RunControl for () {}

impl RunControl for AtomicBool {
    fn is_cancelled(&self) -> bool {
        self.load(Ordering::Relaxed)
    }
}
