//! Runs: one loop over batches for learning, predicting, comparing and later passes.

mod compare;
mod learn;
mod passes;
mod predict;
mod reports;
mod scoring;

use std::ops::Range;
use std::time::Duration;

use onward::loss::{Task, TaskLoss};
use onward::{Batch, Learner, Rows};
use onward_data::{Options, ParsedBatch, Reader};

use crate::control::{Event, Progress, RunControl};
use crate::error::EngineError;
use crate::model::{learn_rows, rows_at_a_time};
use crate::report::TaskKind;
use crate::trace::Trace;

pub use compare::{CompareOptions, CompareOutcome, CompareRun, Contestant, compare};
pub use learn::{LearnOptions, LearnOutcome, LearnRun, Start, learn};
pub use predict::{PredictRun, predict};
pub(crate) use reports::{guarantee, stated};

/// How long a cancellation may go unnoticed while nothing arrives.
const PATIENCE: Duration = Duration::from_millis(100);

/// How many skipped records are named.
const NAMED_SKIPS: u64 = 5;

/// What was read, in all passes.
#[derive(Debug, Default, Clone, Copy)]
struct ReadCounts {
    examples: u64,
    bytes: u64,
    skips: u64,
}

/// A batch that has arrived.
struct Arrival {
    parsed: ParsedBatch,
    /// Whether the mean loss after it must be exact.
    needs_exact_risk: bool,
}

/// Reads batch by batch. `each` takes a batch, or nothing when none has come for a while, and gives the mean loss so
/// far (NaN: nothing was charged). Whether the input was read to its end: a cancelled run ends before.
fn each_batch(
    reader: &mut Reader,
    control: &dyn RunControl,
    counts: &mut ReadCounts,
    mut each: impl FnMut(&Reader, Option<Arrival>) -> Result<f64, EngineError>,
) -> Result<bool, EngineError> {
    while !control.is_cancelled() {
        let parsed = match reader.next_owned(PATIENCE)? {
            None => {
                each(reader, None)?;
                continue;
            }
            Some(None) => return Ok(true),
            Some(Some(parsed)) => parsed,
        };
        for error in &parsed.errors {
            if counts.skips < NAMED_SKIPS {
                control.observe(Event::Skipped(error));
            }
            counts.skips += 1;
        }
        counts.examples += parsed.batch.len() as u64;
        counts.bytes += parsed.bytes;
        let needs_exact_risk = control.needs_exact_risk(counts.examples);
        let risk = each(reader, Some(Arrival { parsed, needs_exact_risk }))?;
        let (bytes_read, bytes_total) = reader.progress();
        control.observe(Event::Progress(Progress { examples: counts.examples, bytes_read, bytes_total, risk }));
    }
    Ok(false)
}

/// Learns from a batch: in one go, or up to each round that the trace asks about. `score` takes the scores of
/// some rows, and gives memory for the next ones. Where a trace comes with them, `score` marks the learner in it once
/// they are charged.
fn learn_batch(
    learner: &mut dyn Learner,
    trace: &mut Trace,
    rounds: &mut u64,
    batch: &Batch,
    mut score: impl FnMut(&dyn Learner, Range<usize>, Option<&mut Trace>, Vec<f64>) -> Result<Vec<f64>, EngineError>,
    mut scores: Vec<f64>,
) -> Result<Vec<f64>, EngineError> {
    let (all, mut first, loss) = (batch.rows(..), 0_usize, learner.loss());
    let most = rows_at_a_time(&loss, learner.outputs(), all);
    loop {
        let (before, end) = (*rounds, first.saturating_add(most).min(batch.len()));
        let due = trace.next_due(rounds, &all.labels()[first..end], &all.weights()[first..end]);
        let rows = first..due.map_or(end, |at| first + at + 1);
        first = rows.end;
        learn_rows(learner, &loss, batch.rows(rows.clone()), &mut scores, before)?;
        let marked = due.is_some().then_some(&mut *trace);
        scores = score(learner, rows, marked, scores)?;
        if due.is_none() && end == batch.len() {
            return Ok(scores);
        }
    }
}

/// What a later pass paid.
struct PassLoss {
    loss: TaskLoss,
    paid: f64,
    weight: f64,
    scores: Vec<f64>,
}

impl PassLoss {
    fn new(learner: &dyn Learner) -> Self {
        Self { loss: learner.loss(), paid: 0.0, weight: 0.0, scores: Vec::new() }
    }

    /// Learns again from rows.
    fn learn(&mut self, learner: &mut dyn Learner, rows: Rows<'_>) -> Result<(), EngineError> {
        for rows in rows.chunks(rows_at_a_time(&self.loss, learner.outputs(), rows)) {
            // Classes that the first pass met are not new.
            learn_rows(learner, &self.loss, rows, &mut self.scores, 0)?;
            for (example, scores) in rows.with_scores(learner.outputs(), &mut self.scores) {
                if let Some(label) = example.label_to_learn() {
                    self.paid += example.weight * self.loss.value(scores, label);
                    self.weight += example.weight;
                }
            }
        }
        Ok(())
    }

    fn risk(&self) -> f64 {
        self.paid / self.weight
    }
}

/// Makes the loss known to the reader, which checks labels by it, and with it the task, if the user did not ask
/// for another.
fn read_for(reading: &mut Options, loss: TaskLoss) -> Result<(), EngineError> {
    // Losses of numbers take the labels -1 and 1 too.
    let fits = |task: Task| task == loss.task() || task == Task::Binary && loss.task() == Task::Regression;
    if let Some(asked) = reading.task.filter(|&task| !fits(task)) {
        let names = [loss.task(), asked].map(TaskKind::from);
        let message = format!("must be {} for the {} loss; got {}", names[0], loss.name(), names[1]);
        return Err(EngineError::option("task", message));
    }
    reading.task.get_or_insert(loss.task());
    reading.loss = Some(loss);
    Ok(())
}
