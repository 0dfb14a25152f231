//! Reads inputs ahead of the learner, in parallel, and hands out batches in order.
//!
//! There is no reading thread and no learning thread: whichever thread is free
//! takes the next piece (reading and decompressing it under a lock), parses it
//! and puts the batch where the learner will look for it. The caller, when its
//! next batch is not there yet, does the same. So two cores parse until a batch
//! is due, and none waits for the other for long. What comes out depends on the
//! pieces alone, never on who parsed them.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use onward::FeatureMap;

use crate::error::{DataError, DataErrorKind};
use crate::format::Format;
use crate::infer::Holds;
use crate::input::Input;
use crate::open::{self, Opening, Purpose};
use crate::options::Options;
use crate::parsed::Parsed;
use crate::piece::{Content, Keeping, Parser, Piece, Source};
use crate::schema::Schema;

/// Hands out the examples of inputs as batches, in order.
pub struct Reader {
    shared: Arc<Shared>,
    workers: Vec<JoinHandle<()>>,
    /// The caller's own.
    place: Workplace,
    helps: bool,
    /// The batch that was handed out by reference.
    current: Option<Parsed>,
    failed: Option<DataError>,
    facts: Facts,
    keeping: Keeping,
}

/// What is known once the inputs are open.
struct Facts {
    schema: Arc<Schema>,
    format: Format,
    notes: Vec<String>,
    holds: Option<Vec<Holds>>,
    id_names: Vec<String>,
    read: Arc<AtomicU64>,
    total: Option<u64>,
}

/// What the threads share.
struct Shared {
    source: Mutex<Numbered>,
    state: Mutex<State>,
    hinting: Mutex<Hinting>,
    /// Something was put into the state.
    changed: Condvar,
    stop: AtomicBool,
    /// How many pieces may be taken and not yet handed out.
    window: u64,
}

/// The source with the number of its next piece.
struct Numbered {
    source: Box<dyn Source>,
    next: u64,
    ended: bool,
}

/// Hints are given batch by batch in order, by whoever is free.
struct Hinting {
    /// `None` where none are wanted.
    hints: Option<FeatureMap>,
    /// The number of the batch that is next.
    next: u64,
}

impl Hinting {
    /// Gives hints to the next batch.
    fn add(&mut self, done: &mut Done) {
        if let Some(hints) = &mut self.hints {
            hints.add(&mut done.parsed.batch);
        }
        done.is_hinted = true;
        self.next += 1;
    }
}

struct State {
    ready: BTreeMap<u64, Outcome>,
    /// The number of the batch that is handed out next.
    due: u64,
    /// How many pieces have been taken.
    taken: u64,
    /// Memory to use again.
    spare: Vec<Parsed>,
}

/// What a thread has of its own.
struct Workplace {
    parser: Box<dyn Parser>,
    /// The memory of the last piece: near the processor on which it is used again.
    buffer: Vec<u8>,
}

impl Workplace {
    fn new(parser: Box<dyn Parser>) -> Self {
        Self { parser, buffer: Vec::new() }
    }
}

/// A piece that has been taken, and an empty batch for it.
struct Taken {
    number: u64,
    /// `None` at the end.
    piece: Result<Option<Piece>, DataError>,
    parsed: Parsed,
}

/// What became of a piece.
enum Outcome {
    Parsed(Box<Done>),
    Failed(DataError),
    End,
}

/// A piece that has been parsed, up to an error if there was one.
struct Done {
    parsed: Parsed,
    error: Option<DataError>,
    is_hinted: bool,
}

/// A panic elsewhere leaves these data as they were: plain values.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    /// Takes the next piece and parses it. False when there is nothing to do now:
    /// the end, or a full window.
    fn work(&self, place: &mut Workplace) -> bool {
        let Some(Taken { number, piece, mut parsed }) = self.take(&mut place.buffer) else {
            return false;
        };
        let outcome = match piece {
            Ok(Some(piece)) => {
                let error = parse_guarded(place.parser.as_mut(), &piece, &mut parsed).err();
                place.buffer = buffer_of(piece);
                Outcome::Parsed(Box::new(Done { parsed, error, is_hinted: false }))
            }
            Ok(None) => Outcome::End,
            Err(error) => Outcome::Failed(error),
        };
        lock(&self.state).ready.insert(number, outcome);
        self.changed.notify_all();
        true
    }

    /// Gives hints to the batches that are next and ready, unless somebody is at it. Who has nothing to parse does that: where
    /// learning takes longer, the one who learns need not. Else they are given to a batch when it is handed out, and is near.
    fn hint_ahead(&self) {
        let Ok(mut hinting) = self.hinting.try_lock() else { return };
        while let Some(mut outcome) = self.take_to_hint(hinting.next) {
            let number = hinting.next;
            // A panic (memory was refused) must not hang the run.
            let hinted = catch_unwind(AssertUnwindSafe(|| {
                if let Outcome::Parsed(done) = &mut outcome {
                    hinting.add(done);
                }
            }));
            if hinted.is_err() {
                let fault = "hints could not be given: memory was refused, or a fault of onward";
                outcome = Outcome::Failed(DataError::new(DataErrorKind::Io, fault));
            }
            lock(&self.state).ready.insert(number, outcome);
            self.changed.notify_all();
        }
    }

    /// Takes out the batch of this number, if it is ready.
    fn take_to_hint(&self, number: u64) -> Option<Outcome> {
        let mut state = lock(&self.state);
        let is_ready = matches!(state.ready.get(&number), Some(Outcome::Parsed(done)) if !done.is_hinted);
        if is_ready { state.ready.remove(&number) } else { None }
    }

    /// Reads the next piece, after whoever is reading: to go to sleep instead would cost the time of a piece.
    fn take(&self, buffer: &mut Vec<u8>) -> Option<Taken> {
        let mut numbered = lock(&self.source);
        if numbered.ended || self.is_full() {
            return None;
        }
        // Only now: memory taken before the checks would be lost whenever there is nothing to do.
        let mut parsed = lock(&self.state).spare.pop().unwrap_or_default();
        parsed.clear();
        let number = numbered.next;
        let piece = numbered.source.next(std::mem::take(buffer));
        numbered.next += 1;
        numbered.ended = !matches!(piece, Ok(Some(_)));
        lock(&self.state).taken = numbered.next;
        Some(Taken { number, piece, parsed })
    }

    fn is_full(&self) -> bool {
        let state = lock(&self.state);
        state.taken - state.due >= self.window
    }

    /// The life of a worker thread.
    fn run(&self, place: &mut Workplace) {
        while !self.stop.load(Ordering::Relaxed) {
            if self.work(place) {
                continue;
            }
            self.hint_ahead();
            if lock(&self.source).ended {
                return;
            }
            let state = lock(&self.state);
            if state.taken - state.due >= self.window {
                drop(self.changed.wait_timeout(state, Duration::from_millis(50)));
            }
        }
    }
}

/// A parser that panics is a fault of ours, and must not hang the run.
fn parse_guarded(parser: &mut dyn Parser, piece: &Piece, out: &mut Parsed) -> Result<(), DataError> {
    if let Content::Skipped { error, bytes } = &piece.content {
        out.bytes += bytes;
        out.skip(error.clone());
        return Ok(());
    }
    catch_unwind(AssertUnwindSafe(|| parser.parse(piece, out))).unwrap_or_else(|_| {
        Err(DataError::new(DataErrorKind::Io, "the parser failed on this input: a fault of onward, please report it")
            .input(&piece.input))
    })
}

fn buffer_of(piece: Piece) -> Vec<u8> {
    match piece.content {
        Content::Text { bytes, .. } => bytes,
        Content::Skipped { .. } => Vec::new(),
        #[cfg(feature = "arrow")]
        Content::Rows { .. } | Content::Cached { .. } => Vec::new(),
    }
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

    fn open_for(inputs: &[Input], options: &Options, purpose: Purpose) -> Result<Self, DataError> {
        let threads = options.threads;
        let read = Arc::new(AtomicU64::new(0));
        let (opening, keeping) = opened(inputs, options, purpose, &read)?;
        let Opening { source, mut parser, schema, format, notes, holds } = opening;
        let is_live = source.is_live();
        let hints = if options.require_target { FeatureMap::for_learning() } else { FeatureMap::default() };
        let shared = Arc::new(Shared {
            source: Mutex::new(Numbered { source, next: 0, ended: false }),
            state: Mutex::new(State { ready: BTreeMap::new(), due: 0, taken: 0, spare: Vec::new() }),
            hinting: Mutex::new(Hinting { hints: Some(hints), next: 0 }),
            changed: Condvar::new(),
            stop: AtomicBool::new(false),
            window: 2 * threads.max(1) as u64 + 1,
        });
        // A thread that waits for a pipe must not be the one that learns.
        let count = if is_live { threads.saturating_sub(1).max(1) } else { threads.saturating_sub(1) };
        let workers = (0..count).map(|_| spawn(Arc::clone(&shared), parser())).collect();
        let total = keeping.total.or_else(|| inputs.iter().map(Input::size).sum());
        let id_names = id_names(&schema, format);
        Ok(Self {
            shared,
            workers,
            place: Workplace::new(parser()),
            helps: !is_live,
            current: None,
            failed: None,
            facts: Facts { schema, format, notes, holds, id_names, read, total },
            keeping,
        })
    }

    /// What the columns mean.
    pub fn schema(&self) -> &Schema {
        &self.facts.schema
    }

    /// The format that was recognised or asked for.
    pub fn format(&self) -> Format {
        self.facts.format
    }

    /// What was inferred, a line each.
    pub fn notes(&self) -> &[String] {
        &self.facts.notes
    }

    /// What is to be said of the [cache](Options::cache) that was found: that it is read, or why
    /// it is made anew.
    pub fn cache_note(&self) -> Option<&str> {
        self.keeping.note.as_deref()
    }

    /// Why no cache was made, if one was to be and reading is over.
    pub fn cache_loss(&self) -> Option<&str> {
        self.keeping.loss()
    }

    /// The names of the ids that come with each row.
    pub fn id_names(&self) -> &[String] {
        &self.facts.id_names
    }

    /// What the columns hold, of tables that are copied.
    pub(crate) fn holds(&self) -> Option<&[Holds]> {
        self.facts.holds.as_deref()
    }

    /// Bytes of the files read so far (before decompression), and in all if that is known.
    pub fn progress(&self) -> (u64, Option<u64>) {
        (self.facts.read.load(Ordering::Relaxed), self.facts.total)
    }

    /// The next batch; `None` at the end.
    ///
    /// # Errors
    /// At a malformed record (unless those are skipped) or when reading fails; the
    /// examples before it have been handed out.
    pub fn next_batch(&mut self) -> Result<Option<&Parsed>, DataError> {
        self.next_within(Duration::MAX).map(|next| next.flatten())
    }

    /// As [`next_batch`](Reader::next_batch), but gives up after some time: `None` when
    /// nothing has come, `Some(None)` at the end. A read of a file is waited for.
    ///
    /// # Errors
    /// As [`next_batch`](Reader::next_batch).
    pub fn next_within(&mut self, patience: Duration) -> Result<Option<Option<&Parsed>>, DataError> {
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
    pub fn next_owned(&mut self, patience: Duration) -> Result<Option<Option<Parsed>>, DataError> {
        if let Some(error) = self.failed.clone() {
            return Err(error);
        }
        match self.wait(patience) {
            None => Ok(None),
            Some(Outcome::End) => {
                self.keeping.finish();
                Ok(Some(None))
            }
            Some(Outcome::Failed(error)) => {
                self.keeping.give_up(AFTER_ERROR.to_owned());
                self.failed = Some(error.clone());
                Err(error)
            }
            Some(Outcome::Parsed(done)) => {
                let mut done = done;
                if !done.is_hinted {
                    lock(&self.shared.hinting).add(&mut done);
                }
                let Done { parsed, error, .. } = *done;
                self.failed = error;
                match self.failed {
                    None => self.keeping.add(&parsed),
                    Some(_) => self.keeping.give_up(AFTER_ERROR.to_owned()),
                }
                match &self.failed {
                    Some(error) if parsed.batch.is_empty() && parsed.skipped == 0 => Err(error.clone()),
                    _ => Ok(Some(Some(parsed))),
                }
            }
        }
    }

    /// Gives back a batch that is no longer needed: its memory is used again.
    pub fn give_back(&self, spent: Parsed) {
        lock(&self.shared.state).spare.push(spent);
    }

    /// Gives no more hints where the slots of features are: for those who look for none, as in converting. What has been
    /// read ahead may have some.
    pub fn without_hints(&mut self) {
        lock(&self.shared.hinting).hints = None;
    }

    /// Whether those who parse have nothing to do until the next batch is taken: they are faster than whoever takes it.
    pub fn is_waited_for(&self) -> bool {
        self.shared.is_full()
    }

    /// What became of the piece that is due, parsing meanwhile.
    fn wait(&mut self, patience: Duration) -> Option<Outcome> {
        let begun = Instant::now();
        loop {
            let mut state = lock(&self.shared.state);
            let due = state.due;
            if let Some(outcome) = state.ready.remove(&due) {
                if matches!(outcome, Outcome::End) {
                    state.ready.insert(due, Outcome::End);
                } else {
                    state.due += 1;
                }
                drop(state);
                self.shared.changed.notify_all();
                return Some(outcome);
            }
            drop(state);
            if self.helps && self.shared.work(&mut self.place) {
                continue;
            }
            if begun.elapsed() >= patience {
                return None;
            }
            let state = lock(&self.shared.state);
            if !state.ready.contains_key(&due) {
                drop(self.shared.changed.wait_timeout(state, Duration::from_millis(20)));
            }
        }
    }
}

/// Why there is no cache of an input that cannot be read.
const AFTER_ERROR: &str = "the input could not be read to its end";

/// Opens inputs, by way of a cache if one is asked for.
fn opened(
    inputs: &[Input],
    options: &Options,
    purpose: Purpose,
    read: &Arc<AtomicU64>,
) -> Result<(Opening, Keeping), DataError> {
    let Some(_path) = options.cache.as_deref().filter(|_| purpose == Purpose::Learn) else {
        return Ok((open::open(inputs, options, purpose, Arc::clone(read))?, Keeping::default()));
    };
    #[cfg(feature = "arrow")]
    return crate::cache::open(_path, inputs, options, read);
    #[cfg(not(feature = "arrow"))]
    Err(DataError::new(DataErrorKind::Options, "this onward was built without Arrow, in which caches are written"))
}

fn spawn(shared: Arc<Shared>, parser: Box<dyn Parser>) -> JoinHandle<()> {
    std::thread::spawn(move || shared.run(&mut Workplace::new(parser)))
}

/// The names of the ids that come with each row.
pub(crate) fn id_names(schema: &Schema, format: Format) -> Vec<String> {
    if format == Format::Vw {
        return vec!["tag".to_owned()];
    }
    let ids = schema.columns.iter().filter(|column| column.role == crate::schema::Role::Id);
    ids.map(|column| column.name.clone()).collect()
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        self.shared.changed.notify_all();
        // A thread that waits for a pipe may wait for ever: it is left to the end of the program.
        if self.helps {
            for worker in self.workers.drain(..) {
                let _ = worker.join();
            }
        }
    }
}
