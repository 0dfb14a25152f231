//! The books: what is done with a prediction once it was made. It is charged to the ledger, written
//! where predictions go, and its row is kept if it is to be looked back on.
//!
//! Nothing of that comes back to the learner, so a thread of its own does it while the learner goes
//! on to the next batch; the order is the same, and so is every bit. With one thread it is done at once, and
//! where parsing takes longer than learning.

use std::mem;
use std::ops::Range;
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use onward::Prediction;
use onward::regret::Ledger;
use onward_data::ParsedBatch;

use crate::failure::Failure;
use crate::order::Rows;
use crate::predictions::PredictionWriter;
use crate::recorder::Recorder;

/// Batches that may wait to be charged.
const MOST_WAITING: usize = 3;

/// Where predictions go.
pub(crate) struct Account<'a> {
    pub(crate) ledger: &'a mut Ledger,
    pub(crate) writer: Option<&'a mut PredictionWriter>,
    pub(crate) recorder: Option<&'a mut Recorder>,
    pub(crate) kept: Option<&'a mut Rows>,
}

impl Account<'_> {
    /// Takes in the predictions of these rows.
    fn take(&mut self, parsed: &ParsedBatch, rows: Range<usize>, predictions: &[Prediction]) -> Result<(), Failure> {
        self.ledger.observe_rows(predictions, &parsed.batch, rows.clone());
        if self.recorder.is_none() && self.kept.is_none() && self.writer.is_none() {
            return Ok(());
        }
        for (row, &prediction) in rows.zip(predictions) {
            let example = parsed.batch.get(row);
            if let Some(recorder) = self.recorder.as_deref_mut() {
                recorder.push(example)?;
            }
            if let Some(kept) = self.kept.as_deref_mut() {
                kept.push(example)?;
            }
            if let Some(writer) = self.writer.as_deref_mut() {
                writer.write(parsed.ids(row), prediction, example.label)?;
            }
        }
        // With a pipe behind it, whoever reads the predictions wants them now.
        self.writer.as_deref_mut().map_or(Ok(()), PredictionWriter::flush)
    }
}

/// Predictions of rows of a batch.
struct Job {
    parsed: Arc<ParsedBatch>,
    rows: Range<usize>,
    predictions: Vec<Prediction>,
}

/// A job that was done.
struct Done {
    job: Job,
    result: Result<(), Failure>,
    risk: f64,
}

/// The thread that does them.
struct Bookkeeper {
    jobs: SyncSender<Job>,
    done: Receiver<Done>,
    waiting: usize,
}

/// The books of a run.
pub(crate) struct Books<'a, 'b> {
    account: &'a Mutex<Account<'b>>,
    bookkeeper: Option<Bookkeeper>,
    risk: f64,
    spare: Vec<Vec<Prediction>>,
    returned: Vec<ParsedBatch>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'b> Books<'_, 'b> {
    /// Keeps the books while `work` goes on: `aside`, on a thread of their own. All is charged when it
    /// returns, unless it failed.
    pub(crate) fn keep<T>(
        account: Account<'b>,
        aside: bool,
        work: impl FnOnce(&mut Books<'_, 'b>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let account = Mutex::new(account);
        let risk = lock(&account).ledger.sequential_risk();
        let books = |bookkeeper| Books { account: &account, bookkeeper, risk, spare: Vec::new(), returned: Vec::new() };
        if !aside {
            return work(&mut books(None));
        }
        std::thread::scope(|scope| {
            let (jobs, queue) = sync_channel::<Job>(MOST_WAITING);
            let (results, done) = sync_channel::<Done>(MOST_WAITING);
            let account = &account;
            scope.spawn(move || {
                for job in queue {
                    let mut account = lock(account);
                    let result = account.take(&job.parsed, job.rows.clone(), &job.predictions);
                    let risk = account.ledger.sequential_risk();
                    drop(account);
                    if results.send(Done { job, result, risk }).is_err() {
                        break;
                    }
                }
            });
            let mut books = books(Some(Bookkeeper { jobs, done, waiting: 0 }));
            let result = work(&mut books)?;
            books.settle()?;
            Ok(result)
        })
    }

    /// Memory for predictions.
    pub(crate) fn blank(&mut self) -> Vec<Prediction> {
        let mut blank = self.spare.pop().unwrap_or_default();
        blank.clear();
        blank
    }

    /// Has the predictions of these rows charged; at once, if nobody is `waited_for` and nothing is left to be charged
    /// before: what is near need not go to another processor then.
    pub(crate) fn charge(
        &mut self,
        parsed: Arc<ParsedBatch>,
        rows: Range<usize>,
        predictions: Vec<Prediction>,
        waited_for: bool,
    ) -> Result<(), Failure> {
        let job = Job { parsed, rows, predictions };
        while self.collect(false)? {}
        if self.bookkeeper.is_none() || !(waited_for || self.waiting() > 0) {
            let mut account = lock(self.account);
            let result = account.take(&job.parsed, job.rows.clone(), &job.predictions);
            let risk = account.ledger.sequential_risk();
            drop(account);
            return self.put_away(Done { job, result, risk });
        }
        while self.collect(self.waiting() >= MOST_WAITING)? {}
        match &mut self.bookkeeper {
            Some(bookkeeper) if bookkeeper.jobs.send(job).is_ok() => bookkeeper.waiting += 1,
            _ => return Err(gone()),
        }
        Ok(())
    }

    /// Waits until all is charged.
    pub(crate) fn settle(&mut self) -> Result<(), Failure> {
        while self.waiting() > 0 {
            self.collect(true)?;
        }
        Ok(())
    }

    /// The ledger, once all is charged.
    pub(crate) fn settled<T>(&mut self, look: impl FnOnce(&Ledger) -> T) -> Result<T, Failure> {
        self.settle()?;
        Ok(look(lock(self.account).ledger))
    }

    /// The mean loss of what has been charged: of all, if it is to be exact.
    pub(crate) fn risk(&mut self, is_exact: bool) -> Result<f64, Failure> {
        if is_exact {
            self.settle()?;
        }
        Ok(self.risk)
    }

    /// Takes back what was done meanwhile, and hears of what failed: whoever reads predictions may have gone away.
    pub(crate) fn look_in(&mut self) -> Result<f64, Failure> {
        while self.collect(false)? {}
        Ok(self.risk)
    }

    /// Batches that are no longer needed.
    pub(crate) fn returned(&mut self) -> impl Iterator<Item = ParsedBatch> {
        mem::take(&mut self.returned).into_iter()
    }

    fn waiting(&self) -> usize {
        self.bookkeeper.as_ref().map_or(0, |bookkeeper| bookkeeper.waiting)
    }

    /// Takes back a job that was done, waiting for one if `patient`; false if there was none.
    fn collect(&mut self, patient: bool) -> Result<bool, Failure> {
        let Some(bookkeeper) = &mut self.bookkeeper else { return Ok(false) };
        let done = match patient {
            true => bookkeeper.done.recv().map_err(|_| gone())?,
            false => match bookkeeper.done.try_recv() {
                Ok(done) => done,
                Err(TryRecvError::Empty) => return Ok(false),
                Err(TryRecvError::Disconnected) => return Err(gone()),
            },
        };
        bookkeeper.waiting -= 1;
        self.put_away(done)?;
        Ok(true)
    }

    fn put_away(&mut self, done: Done) -> Result<(), Failure> {
        self.risk = done.risk;
        self.spare.push(done.job.predictions);
        self.returned.extend(Arc::into_inner(done.job.parsed));
        done.result
    }
}

/// The bookkeeper panicked, which ends the run.
fn gone() -> Failure {
    Failure::system("the books could not be kept: a fault of onward, please report it")
}
