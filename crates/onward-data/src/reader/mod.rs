//! Reads inputs ahead of the learner, in parallel, and hands out batches in order.
//!
//! There is no reading thread and no learning thread: whichever thread is free
//! takes the next chunk (reading and decompressing it under a lock), parses it
//! and puts the batch where the learner will look for it. The caller, when its
//! next batch is not there yet, does the same. So two cores parse until a batch
//! is due, and none waits for the other for long. What comes out depends on the
//! chunks alone, never on the threads.

mod workers;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use onward::FeatureMap;

use crate::cache::{self, CacheState};
use crate::encode::ParsedBatch;
use crate::error::{DataError, Message, Result};
use crate::format::{Format, Formats};
use crate::open::{Opening, Purpose, Request};
use crate::options::Options;
use crate::schema::{ColumnType, Schema};
use crate::source::Input;
use workers::{Outcome, ParsedChunk, Shared, Worker};

/// Hands out the examples of inputs as batches, in order.
pub struct Reader {
    shared: Arc<Shared>,
    workers: Vec<JoinHandle<()>>,
    /// The caller's own.
    worker: Worker,
    helps: bool,
    /// The batch that was handed out by reference.
    current: Option<ParsedBatch>,
    failed: Option<DataError>,
    schema: Arc<Schema>,
    format: Format,
    formats: Formats,
    notes: Vec<Message>,
    types: Option<Vec<ColumnType>>,
    id_names: Vec<String>,
    read: Arc<AtomicU64>,
    total: Option<u64>,
    cache: CacheState,
}

impl Reader {
    /// Opens inputs: recognises format and columns from the first rows, and starts
    /// to read ahead.
    ///
    /// # Errors
    /// When an input cannot be opened or recognised, or the options do not fit it.
    pub fn open(inputs: &[Input], options: Options) -> Result<Self, DataError> {
        Self::open_for(inputs, &options, Purpose::Learn)
    }

    /// Opens tables to be copied to another format of tables with [`convert`](crate::convert):
    /// rows have no features, and all columns but those to [ignore](Options::ignore) as ids.
    ///
    /// # Errors
    /// As [`open`](Reader::open); and when the input is no table.
    pub fn open_table(inputs: &[Input], options: Options) -> Result<Self, DataError> {
        Self::open_for(inputs, &options, Purpose::Copy)
    }

    fn open_for(inputs: &[Input], options: &Options, purpose: Purpose) -> Result<Self> {
        let threads = options.threads;
        let read = Arc::new(AtomicU64::new(0));
        let (opening, cache) = cache::open(Request { inputs, options, purpose, count: &read })?;
        let Opening { source, is_live, mut parser, schema, format, id_names, notes, types } = opening;
        let shared = Arc::new(Shared::new(source, threads));
        // A thread that waits for a pipe must not be the one that learns.
        let count = if is_live { threads.saturating_sub(1).max(1) } else { threads.saturating_sub(1) };
        let workers = (0..count).map(|_| shared.spawn(parser())).collect();
        let total = cache.total.or_else(|| inputs.iter().map(Input::size).sum());
        Ok(Self {
            shared,
            workers,
            worker: Worker::new(parser()),
            helps: !is_live,
            current: None,
            failed: None,
            schema,
            format,
            formats: options.formats.clone(),
            notes: notes.into_iter().map(Message::from).collect(),
            types,
            id_names,
            read,
            total,
            cache,
        })
    }

    /// What the columns mean.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The format that was recognised or asked for.
    pub fn format(&self) -> &Format {
        &self.format
    }

    /// The formats that the run knows.
    pub(crate) fn formats(&self) -> &Formats {
        &self.formats
    }

    /// What was inferred, one line per note.
    pub fn notes(&self) -> &[Message] {
        &self.notes
    }

    /// The note about the [cache](Options::cache) that was found: that it is read, or why
    /// it is rebuilt.
    pub fn cache_note(&self) -> Option<&str> {
        self.cache.note.as_deref()
    }

    /// Why no cache was made, if one was to be and reading is over.
    pub fn cache_loss(&self) -> Option<&str> {
        self.cache.loss()
    }

    /// The names of the ids that come with each row.
    pub fn id_names(&self) -> &[String] {
        &self.id_names
    }

    /// What the columns hold, of tables that are copied.
    pub(crate) fn types(&self) -> Option<&[ColumnType]> {
        self.types.as_deref()
    }

    /// Bytes of the files read so far (before decompression), and in all if that is known.
    pub fn progress(&self) -> (u64, Option<u64>) {
        (self.read.load(Ordering::Relaxed), self.total)
    }

    /// The next batch; `None` at the end.
    ///
    /// # Errors
    /// At a malformed record (unless those are skipped) or when reading fails; the
    /// examples before it have been handed out.
    pub fn next_batch(&mut self) -> Result<Option<&ParsedBatch>, DataError> {
        self.next_within(Duration::MAX).map(|next| next.flatten())
    }

    /// As [`next_batch`](Reader::next_batch), but gives up after some time: `None` when
    /// nothing has come, `Some(None)` at the end. A read of a file is waited for.
    ///
    /// # Errors
    /// As [`next_batch`](Reader::next_batch).
    pub fn next_within(&mut self, patience: Duration) -> Result<Option<Option<&ParsedBatch>>, DataError> {
        if let Some(spent) = self.current.take() {
            self.give_back(spent);
        }
        let next = self.next_owned(patience)?;
        Ok(next.map(|next| next.map(|parsed| &*self.current.insert(parsed))))
    }

    /// As [`next_within`](Reader::next_within), where the caller keeps the batch until it
    /// [gives it back](Reader::give_back) to be filled again.
    ///
    /// # Errors
    /// As [`next_batch`](Reader::next_batch).
    pub fn next_owned(&mut self, patience: Duration) -> Result<Option<Option<ParsedBatch>>, DataError> {
        if let Some(error) = self.failed.clone() {
            return Err(error);
        }
        match self.wait(patience) {
            None => Ok(None),
            Some(Outcome::End) => {
                self.cache.finish();
                Ok(Some(None))
            }
            Some(Outcome::Failed(error)) => {
                self.cache.give_up(AFTER_ERROR.to_owned());
                self.failed = Some(error.clone());
                Err(error)
            }
            Some(Outcome::Parsed(mut done)) => {
                self.shared.number(&mut done);
                let ParsedChunk { parsed, error, .. } = *done;
                self.failed = error;
                match &self.failed {
                    None => self.cache.add(&parsed),
                    Some(_) => self.cache.give_up(AFTER_ERROR.to_owned()),
                }
                match &self.failed {
                    // The batch holds what was read before the error.
                    Some(error) if parsed.batch.is_empty() && parsed.skipped == 0 => Err(error.clone()),
                    _ => Ok(Some(Some(parsed))),
                }
            }
        }
    }

    /// Gives back a batch that is no longer needed: its memory is used again.
    pub fn give_back(&self, spent: ParsedBatch) {
        self.shared.give_back(spent);
    }

    /// Gives the batches from here on the ids of this map, ahead of time where threads are idle.
    pub fn number_features(&mut self, map: FeatureMap) {
        self.shared.number_with(Some(map));
    }

    /// Takes the map back, with the features that came since: an empty one if there is none.
    pub fn take_features(&mut self) -> FeatureMap {
        self.shared.number_with(None).unwrap_or_default()
    }

    /// Whether the parsers wait for the caller to take the next batch: they are faster than the caller.
    pub fn is_waited_for(&self) -> bool {
        self.shared.is_full()
    }

    /// What became of the chunk that is due, parsing meanwhile.
    fn wait(&mut self, patience: Duration) -> Option<Outcome> {
        let begun = Instant::now();
        loop {
            if let Some(outcome) = self.shared.take_due() {
                return Some(outcome);
            }
            if self.helps && self.shared.work(&mut self.worker) {
                continue;
            }
            if begun.elapsed() >= patience {
                return None;
            }
            self.shared.await_due();
        }
    }
}

/// Why there is no cache of an input that cannot be read.
const AFTER_ERROR: &str = "the input could not be read to its end";

impl Drop for Reader {
    fn drop(&mut self) {
        self.shared.stop();
        // A thread that reads a pipe may wait for good: it is left to the end of the program.
        if self.helps {
            for worker in self.workers.drain(..) {
                let _ = worker.join();
            }
        }
    }
}
