//! The threads that read and parse, and what they share.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use onward::FeatureMap;

use crate::encode::ParsedBatch;
use crate::error::{DataError, Result};
use crate::source::{Chunk, ChunkContent, ChunkSource, Parser};

/// What the threads share.
pub(super) struct Shared {
    chunks: Mutex<ChunkQueue>,
    ready: Mutex<ReadyQueue>,
    assigner: Mutex<IdAssigner>,
    /// Something became ready, or was taken.
    changed: Condvar,
    stop: AtomicBool,
    /// How many chunks may be taken and not yet handed out.
    window: u64,
}

/// The source with the number of its next chunk.
struct ChunkQueue {
    source: Box<dyn ChunkSource>,
    next: u64,
    ended: bool,
}

/// Batches that are ready, and wait to be handed out in order.
struct ReadyQueue {
    outcomes: BTreeMap<u64, Outcome>,
    /// The number of the batch that is handed out next.
    due: u64,
    /// How many chunks have been taken.
    taken: u64,
    /// Memory to use again.
    spare: Vec<ParsedBatch>,
}

/// What a thread has of its own.
pub(super) struct Worker {
    parser: Box<dyn Parser>,
    /// The memory of the last chunk: near the processor on which it is used again.
    buffer: Vec<u8>,
}

impl Worker {
    pub(super) fn new(parser: Box<dyn Parser>) -> Self {
        Self { parser, buffer: Vec::new() }
    }
}

/// Gives ids to the features of batches, one batch after the other in order, on whichever thread is free.
#[derive(Default)]
struct IdAssigner {
    /// `None` where no ids are wanted.
    map: Option<FeatureMap>,
    /// The number of the batch that is next.
    next: u64,
}

/// What became of a chunk.
pub(super) enum Outcome {
    Parsed(Box<ParsedChunk>),
    Failed(DataError),
    End,
}

/// A chunk that has been parsed, up to an error if there was one.
pub(super) struct ParsedChunk {
    pub(super) parsed: ParsedBatch,
    pub(super) error: Option<DataError>,
    is_numbered: bool,
}

impl ParsedChunk {
    /// Gives ids to its features.
    fn number(&mut self, assigner: &mut IdAssigner) {
        if let Some(map) = &mut assigner.map {
            map.number(&mut self.parsed.batch);
        }
        assigner.next += 1;
        self.is_numbered = true;
    }
}

/// A panic elsewhere leaves these data as they were: plain values.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    pub(super) fn new(source: Box<dyn ChunkSource>, threads: usize) -> Self {
        Self {
            chunks: Mutex::new(ChunkQueue { source, next: 0, ended: false }),
            ready: Mutex::new(ReadyQueue { outcomes: BTreeMap::new(), due: 0, taken: 0, spare: Vec::new() }),
            assigner: Mutex::new(IdAssigner::default()),
            changed: Condvar::new(),
            stop: AtomicBool::new(false),
            window: 2 * threads.max(1) as u64 + 1,
        }
    }

    /// Has a thread parse.
    pub(super) fn spawn(self: &Arc<Self>, parser: Box<dyn Parser>) -> JoinHandle<()> {
        let shared = Arc::clone(self);
        std::thread::spawn(move || shared.run(&mut Worker::new(parser)))
    }

    /// Ends all threads.
    pub(super) fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
        self.changed.notify_all();
    }

    /// Takes back a batch, to be filled again.
    pub(super) fn give_back(&self, spent: ParsedBatch) {
        lock(&self.ready).spare.push(spent);
    }

    /// Gives ids to a batch that is handed out, unless it has some.
    pub(super) fn number(&self, done: &mut ParsedChunk) {
        if !done.is_numbered {
            done.number(&mut lock(&self.assigner));
        }
    }

    /// Takes ids from this map from here on, and gives back the one that they were taken from.
    pub(super) fn number_with(&self, map: Option<FeatureMap>) -> Option<FeatureMap> {
        std::mem::replace(&mut lock(&self.assigner).map, map)
    }

    /// What became of the chunk that is due, if it is there.
    pub(super) fn take_due(&self) -> Option<Outcome> {
        let mut ready = lock(&self.ready);
        let due = ready.due;
        let outcome = ready.outcomes.remove(&due)?;
        if matches!(outcome, Outcome::End) {
            ready.outcomes.insert(due, Outcome::End);
        } else {
            ready.due += 1;
        }
        drop(ready);
        self.changed.notify_all();
        Some(outcome)
    }

    /// Waits a little for the chunk that is due.
    pub(super) fn await_due(&self) {
        let ready = lock(&self.ready);
        if !ready.outcomes.contains_key(&ready.due) {
            drop(self.changed.wait_timeout(ready, Duration::from_millis(20)));
        }
    }

    /// Takes the next chunk and parses it. False when there is nothing to do now:
    /// the end, or a full window.
    pub(super) fn work(&self, worker: &mut Worker) -> bool {
        let Some((number, chunk, mut parsed)) = self.take(&mut worker.buffer) else { return false };
        let outcome = match chunk {
            Ok(Some(chunk)) => {
                let error = parse_guarded(worker.parser.as_mut(), &chunk, &mut parsed).err();
                if let ChunkContent::Text { bytes, .. } = chunk.content {
                    worker.buffer = bytes;
                }
                Outcome::Parsed(Box::new(ParsedChunk { parsed, error, is_numbered: false }))
            }
            Ok(None) => Outcome::End,
            Err(error) => Outcome::Failed(error),
        };
        lock(&self.ready).outcomes.insert(number, outcome);
        self.changed.notify_all();
        true
    }

    /// Gives ids to the batches that are next and ready, unless another thread is doing that. Idle threads assign ids ahead
    /// of time; otherwise a batch gets them when it is handed out, while it is in the cache.
    fn number_ahead(&self) {
        let Ok(mut assigner) = self.assigner.try_lock() else { return };
        while assigner.map.is_some()
            && let Some(mut done) = self.take_to_number(assigner.next)
        {
            let number = assigner.next;
            // A panic (memory was refused) must not hang the run.
            let outcome = match catch_unwind(AssertUnwindSafe(|| done.number(&mut assigner))) {
                Ok(()) => Outcome::Parsed(done),
                Err(_) => {
                    Outcome::Failed(DataError::io("features could not be numbered: out of memory, or a bug in Onward"))
                }
            };
            lock(&self.ready).outcomes.insert(number, outcome);
            self.changed.notify_all();
        }
    }

    /// Takes out the batch of this number, if it is ready.
    fn take_to_number(&self, number: u64) -> Option<Box<ParsedChunk>> {
        let mut ready = lock(&self.ready);
        if !matches!(ready.outcomes.get(&number), Some(Outcome::Parsed(done)) if !done.is_numbered) {
            return None;
        }
        match ready.outcomes.remove(&number)? {
            Outcome::Parsed(done) => Some(done),
            _ => None,
        }
    }

    /// Reads the next chunk, when the thread that is reading has finished: to go to sleep instead would cost the time of a chunk.
    /// Gives its number, the chunk (`None` at the end) and an empty batch for it.
    fn take(&self, buffer: &mut Vec<u8>) -> Option<(u64, Result<Option<Chunk>>, ParsedBatch)> {
        let mut chunks = lock(&self.chunks);
        if chunks.ended || self.is_full() {
            return None;
        }
        // Only now: memory taken before the checks would be lost whenever there is nothing to do.
        let mut parsed = lock(&self.ready).spare.pop().unwrap_or_default();
        parsed.clear();
        let number = chunks.next;
        let chunk = chunks.source.next(std::mem::take(buffer));
        chunks.next += 1;
        chunks.ended = !matches!(chunk, Ok(Some(_)));
        lock(&self.ready).taken = chunks.next;
        Some((number, chunk, parsed))
    }

    pub(super) fn is_full(&self) -> bool {
        let ready = lock(&self.ready);
        ready.taken - ready.due >= self.window
    }

    /// The life of a worker thread.
    fn run(&self, worker: &mut Worker) {
        while !self.stop.load(Ordering::Relaxed) {
            if self.work(worker) {
                continue;
            }
            self.number_ahead();
            if lock(&self.chunks).ended {
                return;
            }
            let ready = lock(&self.ready);
            if ready.taken - ready.due >= self.window {
                drop(self.changed.wait_timeout(ready, Duration::from_millis(50)));
            }
        }
    }
}

/// A parser that panics is a fault of ours, and must not hang the run.
fn parse_guarded(parser: &mut dyn Parser, chunk: &Chunk, out: &mut ParsedBatch) -> Result {
    if let ChunkContent::Skipped { error, bytes } = &chunk.content {
        out.bytes += bytes;
        return out.refuse(error.clone(), true);
    }
    catch_unwind(AssertUnwindSafe(|| parser.parse(chunk, out))).unwrap_or_else(|_| {
        Err(DataError::io("the parser failed on this input; this is a bug in Onward, please report it")
            .input(&chunk.input))
    })
}
