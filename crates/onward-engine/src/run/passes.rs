//! The passes of a run of learning: the first, in which everything is charged, and those after it.

use std::mem;
use std::sync::Arc;

use onward::numeric::rng::SplitMix64;
use onward::{Batch, Learner};
use onward_data::Reader;

use super::scoring::{Destinations, ScoringJob, ScoringWorker, keep};
use super::{Arrival, PassLoss, ReadCounts, each_batch, learn_batch};
use crate::control::RunControl;
use crate::error::EngineError;
use crate::model::{Model, add_names};
use crate::past_sample::PastSample;
use crate::predictions::PredictionSink;
use crate::rows::{PassOrder, RowStore};
use crate::trace::Trace;

/// The passes of a run.
pub(super) struct LearningPasses<'a> {
    pub(super) model: &'a mut Model,
    pub(super) counts: ReadCounts,
    pub(super) control: &'a dyn RunControl,
}

/// How many rows are replayed at a time.
const REPLAYED: usize = 256;

impl LearningPasses<'_> {
    /// The pass in which everything is charged. If `is_aside`, scoring has a thread of its own while the parsers wait for
    /// the learner. Whether the input was read to its end.
    pub(super) fn first(
        &mut self,
        reader: &mut Reader,
        trace: &mut Trace,
        sink: Option<&mut dyn PredictionSink>,
        rows: Option<&mut RowStore>,
        sample: &mut PastSample,
        is_aside: bool,
    ) -> Result<bool, EngineError> {
        let Self { model, counts, control } = self;
        let Model { learner, ledger, names, features, metadata, .. } = &mut **model;
        reader.number_features(mem::take(features));
        let (mut rounds, passes) = (ledger.rounds(), metadata.passes);
        let sink = sink.map(|sink| sink as &mut dyn PredictionSink);
        let sample = Some(sample);
        let destinations = Destinations { ledger, sink, rows, sample, control: *control, learnt: None };
        let mut blank = Vec::new();
        let learnt = ScoringWorker::run(destinations, is_aside, |worker| {
            each_batch(reader, *control, counts, |reader, arrival| {
                let Some(Arrival { parsed, needs_exact_risk }) = arrival else { return worker.poll() };
                add_names(names, &parsed);
                metadata.skipped += parsed.skipped;
                metadata.count(parsed.batch.rows(..));
                let parsed = Arc::new(parsed);
                let score = |learner: &dyn Learner, rows, marked: Option<&mut Trace>, scores| {
                    let is_behind = marked.is_none() && reader.is_waited_for();
                    worker.submit(ScoringJob { parsed: Arc::clone(&parsed), rows, scores }, is_behind)?;
                    if let Some(trace) = marked {
                        worker.settled(|ledger| trace.mark(learner, ledger, passes))?;
                    }
                    Ok(worker.blank())
                };
                blank = learn_batch(&mut **learner, trace, &mut rounds, &parsed.batch, score, mem::take(&mut blank))?;
                drop(parsed);
                worker.returned().for_each(|spent| reader.give_back(spent));
                worker.risk(needs_exact_risk)
            })
        });
        *features = reader.take_features();
        let is_whole = learnt?;
        trace.mark(&*self.model.learner, &self.model.ledger, passes);
        Ok(is_whole)
    }

    /// Keeps the rows of the inputs, and learns nothing yet. Whether the inputs were read to their end.
    pub(super) fn keep(&mut self, reader: &mut Reader, rows: &mut RowStore) -> Result<bool, EngineError> {
        let Self { model, counts, control } = self;
        let Model { names, features, metadata, .. } = &mut **model;
        reader.number_features(mem::take(features));
        let kept = each_batch(reader, *control, counts, |reader, arrival| {
            if let Some(Arrival { parsed, .. }) = arrival {
                add_names(names, &parsed);
                metadata.skipped += parsed.skipped;
                metadata.count_idle(parsed.batch.rows(..));
                keep(rows, parsed.batch.rows(..), *control)?;
                reader.give_back(parsed);
            }
            Ok(f64::NAN)
        });
        *features = reader.take_features();
        kept
    }

    /// The pass in which everything is charged, over rows that were kept, in random order. Whether all were learnt: a run
    /// that is cancelled while rows are read learns those that have been read.
    pub(super) fn first_shuffled(
        &mut self,
        store: &mut RowStore,
        trace: &mut Trace,
        random: &mut SplitMix64,
        is_cancellable: bool,
    ) -> Result<bool, EngineError> {
        let Model { learner, ledger, features, metadata, .. } = &mut *self.model;
        let (mut rounds, passes) = (ledger.rounds(), metadata.passes);
        let order = PassOrder::Shuffle.rows(store.len(), random);
        let (mut batch, mut scores) = (Batch::default(), Vec::new());
        let mut learnt = 0;
        for rows in order.chunks(REPLAYED) {
            if is_cancellable && self.control.is_cancelled() {
                break;
            }
            batch.clear();
            store.read(rows.iter().copied(), &mut batch).map_err(EngineError::RowStore)?;
            features.number(&mut batch);
            metadata.count(batch.rows(..));
            let score = |learner: &dyn Learner, rows, marked: Option<&mut Trace>, scores: Vec<f64>| {
                ledger.observe(batch.rows(rows), &scores);
                if let Some(trace) = marked {
                    trace.mark(learner, ledger, passes);
                }
                Ok(scores)
            };
            scores = learn_batch(&mut **learner, trace, &mut rounds, &batch, score, scores)?;
            learnt += rows.len();
        }
        trace.mark(&**learner, ledger, passes);
        let is_whole = learnt == order.len();
        store.learnt_in(order);
        Ok(is_whole)
    }

    /// A later pass over the inputs: the learner learns again, and only the mean loss of the pass is kept; `None` when
    /// it was cancelled.
    pub(super) fn read_again(&mut self, reader: &mut Reader) -> Result<Option<f64>, EngineError> {
        let model = &mut *self.model;
        let mut pass = PassLoss::new(&*model.learner);
        reader.number_features(mem::take(&mut model.features));
        let is_whole = each_batch(reader, self.control, &mut self.counts, |reader, arrival| {
            if let Some(Arrival { parsed, .. }) = arrival {
                pass.learn(&mut *model.learner, parsed.batch.rows(..))?;
                model.metadata.skipped += parsed.skipped;
                reader.give_back(parsed);
            }
            Ok(model.ledger.sequential_risk())
        });
        model.features = reader.take_features();
        Ok(is_whole?.then(|| pass.risk()))
    }

    /// A later pass over rows that were kept, in this order; `None` when it was cancelled.
    pub(super) fn replay(&mut self, store: &RowStore, order: &[usize]) -> Result<Option<f64>, EngineError> {
        let mut pass = PassLoss::new(&*self.model.learner);
        let mut batch = Batch::default();
        for rows in order.chunks(REPLAYED) {
            if self.control.is_cancelled() {
                return Ok(None);
            }
            batch.clear();
            store.read(rows.iter().copied(), &mut batch).map_err(EngineError::RowStore)?;
            self.model.features.number(&mut batch);
            pass.learn(&mut *self.model.learner, batch.rows(..))?;
        }
        self.counts.examples += order.len() as u64;
        Ok(Some(pass.risk()))
    }
}
