//! Examples kept from one run for the next, which then parses nothing.

#[cfg(feature = "arrow")]
mod identity;
#[cfg(feature = "arrow")]
mod read;
#[cfg(feature = "arrow")]
mod store;
#[cfg(feature = "arrow")]
mod write;

use std::io;

use crate::encode::ParsedBatch;
use crate::error::Result;
use crate::open::{self, Opening, Purpose, Request};

/// Keeps batches as they are handed out, for the next run.
trait BatchSink: Send {
    /// Takes in the next batch. After an error, drop the sink.
    fn add(&mut self, parsed: &ParsedBatch) -> io::Result<()>;

    /// Makes what was kept ready to be read, after the last batch.
    fn finish(self: Box<Self>) -> io::Result<()>;
}

/// What is done about a cache.
#[derive(Default)]
pub(crate) struct CacheState {
    /// Where batches go, while all is well.
    writer: Option<Box<dyn BatchSink>>,
    /// The note about the cache that was found.
    pub(crate) note: Option<String>,
    /// Why none was made.
    failed: Option<String>,
    /// The size of the cache, if one is read.
    pub(crate) total: Option<u64>,
}

impl CacheState {
    /// Takes in a batch.
    pub(crate) fn add(&mut self, parsed: &ParsedBatch) {
        if let Some(Err(error)) = self.writer.as_mut().map(|writer| writer.add(parsed)) {
            self.give_up(error.to_string());
        }
    }

    /// The last batch has come.
    pub(crate) fn finish(&mut self) {
        if let Some(Err(error)) = self.writer.take().map(|writer| writer.finish()) {
            self.failed = Some(error.to_string());
        }
    }

    /// No more will come, though there is more.
    pub(crate) fn give_up(&mut self, reason: String) {
        if self.writer.take().is_some() {
            self.failed = Some(reason);
        }
    }

    /// Why no cache was made, if one was to be.
    pub(crate) fn loss(&self) -> Option<&str> {
        let ended = || self.writer.as_ref().map(|_| "the run ended before the input did");
        self.failed.as_deref().or_else(ended)
    }
}

/// Opens inputs, by way of a cache if one is asked for.
pub(crate) fn open(request: Request<'_>) -> Result<(Opening, CacheState)> {
    let Some(_path) = request.options.cache.as_deref().filter(|_| request.purpose == Purpose::Learn) else {
        return Ok((open::open(request)?, CacheState::default()));
    };
    #[cfg(feature = "arrow")]
    return store::open(_path, request);
    #[cfg(not(feature = "arrow"))]
    Err(crate::error::DataError::options("this build of Onward has no Arrow support, which caches need"))
}
