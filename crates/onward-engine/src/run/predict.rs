//! Predicting with a model, without learning.

use std::sync::Arc;
use std::time::Instant;

use onward::Predictor;
use onward::evaluation::Ledger;
use onward_data::{Input, Options, Reader};

use super::scoring::{Destinations, ScoringJob, ScoringWorker};
use super::{Arrival, ReadCounts, each_batch, reports};
use crate::control::{Event, RunControl};
use crate::error::EngineError;
use crate::model::{Model, ModelMetadata, rows_at_a_time};
use crate::predictions::PredictionSink;
use crate::report::{PredictReport, Timing, finite};

/// Predicts the rows of inputs, in order. The report has the mean loss on those that have a label.
///
/// # Errors
/// When the inputs do not fit the model, cannot be read, or predictions cannot be kept.
pub fn predict(
    model: &Model,
    inputs: &[Input],
    reading: Options,
    sink: &mut dyn PredictionSink,
    control: &dyn RunControl,
) -> Result<PredictReport, EngineError> {
    PredictRun::open(model, inputs, reading)?.run(sink, control)
}

/// A run of predicting whose inputs are open.
pub struct PredictRun<'a> {
    model: &'a Model,
    inputs: Vec<String>,
    reader: Reader,
    /// What the learner predicts by, if it has a form for that alone.
    frozen: Option<Box<dyn Predictor>>,
    is_averaged: bool,
    is_aside: bool,
}

impl<'a> PredictRun<'a> {
    /// Opens the inputs: recognises the format, and finds the model's columns. Columns and formats are the model's, not
    /// those of `reading`.
    ///
    /// # Errors
    /// When an input cannot be opened, or does not fit the model.
    pub fn open(model: &'a Model, inputs: &[Input], reading: Options) -> Result<Self, EngineError> {
        let is_aside = reading.threads > 1;
        let (schema, loss) = (Some((*model.schema).clone()), Some(model.learner.loss()));
        let formats = model.registry.formats().clone();
        let reading = Options { schema, loss, formats, require_target: false, ..reading };
        let reader = Reader::open(inputs, reading)?;
        let frozen = model.learner.freeze();
        let inputs = inputs.iter().map(Input::name).collect();
        Ok(Self { model, inputs, reader, frozen, is_averaged: false, is_aside })
    }

    /// Predicts by the average of the learner's points instead of the last one.
    ///
    /// # Errors
    /// When the learner keeps no average.
    pub fn averaged(self) -> Result<Self, EngineError> {
        let frozen = Some(self.model.averaged_predictor()?);
        Ok(Self { frozen, is_averaged: true, ..self })
    }

    /// The reader, which knows what was recognised.
    pub fn reader(&self) -> &Reader {
        &self.reader
    }

    /// The model that predicts.
    pub fn model(&self) -> &Model {
        self.model
    }

    /// Predicts to the end of the inputs, or until it is cancelled.
    ///
    /// # Errors
    /// When an input cannot be read, or predictions cannot be kept.
    pub fn run(self, sink: &mut dyn PredictionSink, control: &dyn RunControl) -> Result<PredictReport, EngineError> {
        let Self { model, inputs, mut reader, frozen, is_averaged, is_aside } = self;
        let started = Instant::now();
        let mut counts = ReadCounts::default();
        let mut metadata = ModelMetadata::new(reader.format());
        // The account of what is predicted now. Nothing is learnt: there is no regret to be certified.
        let mut ledger = Ledger::new(model.learner.loss()).uncertified();
        let learnt = Some(model.ledger.rounds());
        let destinations =
            Destinations { ledger: &mut ledger, sink: Some(sink), rows: None, sample: None, control, learnt };
        let predictor: &dyn Predictor = frozen.as_deref().unwrap_or(&*model.learner);
        let predicted = ScoringWorker::run(destinations, is_aside, |worker| {
            each_batch(&mut reader, control, &mut counts, |reader, arrival| {
                let Some(Arrival { parsed, needs_exact_risk }) = arrival else { return worker.poll() };
                metadata.skipped += parsed.skipped;
                metadata.count(parsed.batch.rows(..));
                let parsed = Arc::new(parsed);
                let most = rows_at_a_time(&model.loss, predictor.outputs(), parsed.batch.rows(..));
                for first in (0..parsed.batch.len()).step_by(most) {
                    let (mut scores, rows) =
                        (worker.blank(), first..first.saturating_add(most).min(parsed.batch.len()));
                    scores.resize(rows.len() * predictor.outputs(), 0.0);
                    predictor.predict(parsed.batch.rows(rows.clone()), &mut scores);
                    worker.submit(ScoringJob { parsed: Arc::clone(&parsed), rows, scores }, reader.is_waited_for())?;
                }
                drop(parsed);
                worker.returned().for_each(|spent| reader.give_back(spent));
                worker.risk(needs_exact_risk)
            })
        });
        if let Some(reason) = reader.cache_loss() {
            control.observe(Event::CacheLost(reason));
        }
        predicted?;
        let timing = Timing::new(started.elapsed(), counts.examples, counts.bytes);
        Ok(PredictReport {
            stream: reports::stream(model, &ledger, &metadata, inputs, counts.bytes, None),
            learner: model.learner.describe(),
            is_averaged,
            mean_loss: finite(ledger.sequential_risk()),
            mistakes: ledger.metrics().mistakes(),
            metrics: reports::metrics(&ledger),
            timing,
        })
    }
}
