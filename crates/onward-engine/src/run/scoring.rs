//! What is done with a prediction once it was made: it is charged to the ledger, goes where predictions go, and its
//! row is kept if it will be needed again.
//!
//! Nothing of that comes back to the learner, so a thread of its own does it while the learner goes on to
//! the next batch; the order is the same, and so is every bit. With one thread it is done at once, and
//! where parsing takes longer than learning.

use std::mem;
use std::ops::Range;
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use onward::Rows;
use onward::evaluation::Ledger;
use onward_data::ParsedBatch;

use crate::control::{Event, RunControl};
use crate::error::EngineError;
use crate::model::with_new_classes;
use crate::past_sample::PastSample;
use crate::predictions::PredictionSink;
use crate::rows::RowStore;

/// Batches that may wait to be scored.
const MAX_WAITING: usize = 3;

/// Where predictions and rows go.
pub(super) struct Destinations<'a> {
    pub(super) ledger: &'a mut Ledger,
    pub(super) sink: Option<&'a mut dyn PredictionSink>,
    pub(super) rows: Option<&'a mut RowStore>,
    pub(super) sample: Option<&'a mut PastSample>,
    pub(super) control: &'a dyn RunControl,
    /// Where nothing is learnt: how many rows the model has learnt from, which decides what a class costs that it has not met.
    pub(super) learnt: Option<u64>,
}

impl Destinations<'_> {
    /// Takes in the predictions of these rows.
    fn take(&mut self, parsed: &ParsedBatch, rows: Range<usize>, scores: &[f64]) -> Result<(), EngineError> {
        let batch = parsed.batch.rows(rows.clone());
        let wide = self.learnt.and_then(|learnt| with_new_classes(self.ledger.loss(), batch, scores, learnt));
        self.ledger.observe(batch, wide.as_deref().unwrap_or(scores));
        if let Some(store) = self.rows.as_deref_mut() {
            keep(store, batch, self.control)?;
        }
        if let Some(sample) = self.sample.as_deref_mut() {
            sample.take(batch);
        }
        match self.sink.as_deref_mut() {
            Some(sink) => sink.write(parsed, rows, scores).map_err(EngineError::Predictions),
            None => Ok(()),
        }
    }
}

/// Keeps rows of a batch.
pub(super) fn keep(store: &mut RowStore, rows: Rows<'_>, control: &dyn RunControl) -> Result<(), EngineError> {
    let was_spilled = store.spilled().is_some();
    rows.iter().try_for_each(|example| store.push(example)).map_err(EngineError::RowStore)?;
    if let (false, Some(bytes)) = (was_spilled, store.spilled()) {
        control.observe(Event::Spilled { bytes, folder: &std::env::temp_dir() });
    }
    Ok(())
}

/// Predictions of rows of a batch.
pub(super) struct ScoringJob {
    pub(super) parsed: Arc<ParsedBatch>,
    pub(super) rows: Range<usize>,
    pub(super) scores: Vec<f64>,
}

/// A job that was done, and the mean loss after it.
type ScoringResult = (ScoringJob, Result<f64, EngineError>);

/// The thread that does them.
struct ScoringThread {
    jobs: SyncSender<ScoringJob>,
    results: Receiver<ScoringResult>,
    waiting: usize,
}

/// Scores the batches of a run.
pub(super) struct ScoringWorker<'a, 'b> {
    destinations: &'a Mutex<Destinations<'b>>,
    thread: Option<ScoringThread>,
    risk: f64,
    spare: Vec<Vec<f64>>,
    returned: Vec<Arc<ParsedBatch>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Does a job.
fn score(destinations: &Mutex<Destinations<'_>>, job: ScoringJob) -> ScoringResult {
    let mut destinations = lock(destinations);
    let result = destinations.take(&job.parsed, job.rows.clone(), &job.scores);
    (job, result.map(|()| destinations.ledger.sequential_risk()))
}

impl<'b> ScoringWorker<'_, 'b> {
    /// Scores while `work` goes on: `aside`, on a thread of its own. All is scored when it returns,
    /// unless it failed.
    pub(super) fn run<T>(
        destinations: Destinations<'b>,
        aside: bool,
        work: impl FnOnce(&mut ScoringWorker<'_, 'b>) -> Result<T, EngineError>,
    ) -> Result<T, EngineError> {
        let risk = destinations.ledger.sequential_risk();
        let destinations = &Mutex::new(destinations);
        let worker = |thread| ScoringWorker { destinations, thread, risk, spare: Vec::new(), returned: Vec::new() };
        if !aside {
            return work(&mut worker(None));
        }
        std::thread::scope(|scope| {
            let (jobs, queue) = sync_channel::<ScoringJob>(MAX_WAITING);
            let (sender, results) = sync_channel(MAX_WAITING);
            scope.spawn(move || {
                for job in queue {
                    if sender.send(score(destinations, job)).is_err() {
                        break;
                    }
                }
            });
            let mut worker = worker(Some(ScoringThread { jobs, results, waiting: 0 }));
            let result = work(&mut worker)?;
            worker.settle()?;
            Ok(result)
        })
    }

    /// Memory for predictions.
    pub(super) fn blank(&mut self) -> Vec<f64> {
        let mut blank = self.spare.pop().unwrap_or_default();
        blank.clear();
        blank
    }

    /// Has predictions scored; at once, if `is_behind` is false (the learner waits for the parsers)
    /// and nothing is waiting: what is in this processor's cache need not go to another one then.
    pub(super) fn submit(&mut self, job: ScoringJob, is_behind: bool) -> Result<(), EngineError> {
        while self.collect(false)? {}
        if self.thread.is_none() || !(is_behind || self.waiting() > 0) {
            let result = score(self.destinations, job);
            return self.put_away(result);
        }
        while self.collect(self.waiting() >= MAX_WAITING)? {}
        match &mut self.thread {
            Some(thread) if thread.jobs.send(job).is_ok() => thread.waiting += 1,
            _ => return Err(GONE),
        }
        Ok(())
    }

    /// Waits until all is scored.
    fn settle(&mut self) -> Result<(), EngineError> {
        while self.waiting() > 0 {
            self.collect(true)?;
        }
        Ok(())
    }

    /// The ledger, once all is scored.
    pub(super) fn settled<T>(&mut self, look: impl FnOnce(&Ledger) -> T) -> Result<T, EngineError> {
        self.settle()?;
        Ok(look(lock(self.destinations).ledger))
    }

    /// The mean loss of what has been scored: of all, if it must be exact.
    pub(super) fn risk(&mut self, is_exact: bool) -> Result<f64, EngineError> {
        if is_exact {
            self.settle()?;
        }
        Ok(self.risk)
    }

    /// Takes back what was done meanwhile, and learns of what failed: the reader of the predictions may have
    /// gone away.
    pub(super) fn poll(&mut self) -> Result<f64, EngineError> {
        while self.collect(false)? {}
        Ok(self.risk)
    }

    /// Batches that are no longer needed. Those that the caller shares still are dropped when it drops them: ask after that.
    pub(super) fn returned(&mut self) -> impl Iterator<Item = ParsedBatch> {
        mem::take(&mut self.returned).into_iter().filter_map(Arc::into_inner)
    }

    fn waiting(&self) -> usize {
        self.thread.as_ref().map_or(0, |thread| thread.waiting)
    }

    /// Takes back a job that was done, waiting for one if `patient`; false if there was none.
    fn collect(&mut self, patient: bool) -> Result<bool, EngineError> {
        let Some(thread) = &mut self.thread else { return Ok(false) };
        let result = match patient {
            true => thread.results.recv().map_err(|_| GONE)?,
            false => match thread.results.try_recv() {
                Ok(result) => result,
                Err(TryRecvError::Empty) => return Ok(false),
                Err(TryRecvError::Disconnected) => return Err(GONE),
            },
        };
        thread.waiting -= 1;
        self.put_away(result)?;
        Ok(true)
    }

    fn put_away(&mut self, (job, risk): ScoringResult) -> Result<(), EngineError> {
        self.spare.push(job.scores);
        self.returned.push(job.parsed);
        self.risk = risk?;
        Ok(())
    }
}

/// The scoring thread panicked, which ends the run.
const GONE: EngineError = EngineError::Fault("the predictions could not be scored");
