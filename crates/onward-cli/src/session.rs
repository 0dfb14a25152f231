//! The round, batch by batch: predict, pay, update, and what goes along with it.

use std::time::Duration;

use onward::{Example, Prediction, SharedLoss};
use onward_data::{Parsed, Reader};

use crate::course::Course;
use crate::failure::Failure;
use crate::order::Rows;
use crate::predictions::PredictionWriter;
use crate::progress::Progress;
use crate::recorder::Recorder;
use crate::saved::Trained;
use crate::signals::Signals;

/// How long a signal may go unnoticed while nothing arrives.
const PATIENCE: Duration = Duration::from_millis(100);

/// How many rows go by before signals are looked up.
const LOOKED_UP_EVERY: usize = 1024;

/// How many skipped records are shown.
const SHOWN_ERRORS: u64 = 5;

/// What a run looks at besides the data.
pub(crate) struct Watch {
    pub(crate) signals: Signals,
    pub(crate) progress: Progress,
}

/// What was read, whatever pass it was.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) examples: u64,
    pub(crate) bytes: u64,
    shown_errors: u64,
}

/// A run of a learner over inputs.
pub(crate) struct Session<'a> {
    trained: &'a mut Trained,
    watch: &'a Watch,
    counts: Counts,
    course: Course,
}

impl<'a> Session<'a> {
    pub(crate) fn new(trained: &'a mut Trained, watch: &'a Watch) -> Self {
        Self { trained, watch, counts: Counts::default(), course: Course::default() }
    }

    pub(crate) fn trained(&self) -> &Trained {
        self.trained
    }

    /// What was read, and the learner's part of the curve.
    pub(crate) fn finish(self) -> (Counts, Course) {
        self.watch.progress.finish();
        (self.counts, self.course)
    }

    /// The first pass: everything is charged, and recorded if it is to be looked back on.
    pub(crate) fn learn(
        &mut self,
        reader: &mut Reader,
        mut writer: Option<&mut PredictionWriter>,
        mut recorder: Option<&mut Recorder>,
        mut kept: Option<&mut Rows>,
    ) -> Result<(), Failure> {
        self.each_batch(reader, |trained, course, parsed| {
            for (row, example) in parsed.batch.iter().enumerate() {
                let prediction = round(trained, course, example);
                if let Some(recorder) = recorder.as_deref_mut() {
                    recorder.push(example)?;
                }
                if let Some(kept) = kept.as_deref_mut() {
                    kept.push(example)?;
                }
                if let Some(writer) = writer.as_deref_mut() {
                    writer.write(parsed.ids(row), prediction, example.label)?;
                }
            }
            // With a pipe behind it, whoever reads the predictions wants them now.
            if let Some(writer) = writer.as_deref_mut() {
                writer.flush()?;
            }
            Ok(())
        })?;
        self.course.mark(self.trained);
        Ok(())
    }

    /// A later pass: the learner learns again, and only the mean loss of the pass is kept;
    /// `None` when a signal cut it short.
    pub(crate) fn repeat(&mut self, reader: &mut Reader) -> Result<Option<f64>, Failure> {
        let mut again = Again::new(self.trained);
        let whole = self.each_batch(reader, |trained, _, parsed| {
            parsed.batch.iter().for_each(|example| again.learn(trained, example));
            Ok(())
        })?;
        Ok(whole.then(|| again.risk()))
    }

    /// A later pass over rows that were kept, in this order; `None` when a signal cut it short.
    pub(crate) fn repeat_kept(&mut self, rows: &Rows, places: &[usize]) -> Option<f64> {
        let mut again = Again::new(self.trained);
        for (at, &place) in places.iter().enumerate() {
            if at.is_multiple_of(LOOKED_UP_EVERY) && self.watch.signals.received() {
                return None;
            }
            again.learn(self.trained, rows.get(place));
        }
        self.counts.examples += rows.len() as u64;
        Some(again.risk())
    }

    /// Predicting: what has a label is charged, and nothing is learnt.
    pub(crate) fn predict(&mut self, reader: &mut Reader, writer: &mut PredictionWriter) -> Result<(), Failure> {
        self.each_batch(reader, |trained, _, parsed| {
            for (row, example) in parsed.batch.iter().enumerate() {
                let prediction = trained.learner.predict(example.features);
                charge(trained, example, prediction);
                writer.write(parsed.ids(row), prediction, example.label)?;
            }
            writer.flush()
        })?;
        Ok(())
    }

    /// Whether it came to the end of the input.
    fn each_batch(
        &mut self,
        reader: &mut Reader,
        mut each: impl FnMut(&mut Trained, &mut Course, &Parsed) -> Result<(), Failure>,
    ) -> Result<bool, Failure> {
        let (trained, course) = (&mut *self.trained, &mut self.course);
        each_batch(reader, self.watch, &mut self.counts, |parsed| {
            for (index, name) in &parsed.names {
                trained.names.add(*index, name);
            }
            for (index, factors) in parsed.products() {
                trained.names.add_product(index, factors);
            }
            each(trained, course, parsed)?;
            trained.facts.skipped += parsed.skipped;
            Ok(trained.ledger.sequential_risk())
        })
    }
}

/// A later pass: what it paid.
struct Again {
    loss: SharedLoss,
    paid: f64,
    weight: f64,
}

impl Again {
    fn new(trained: &Trained) -> Self {
        Self { loss: trained.learner.charged_loss(), paid: 0.0, weight: 0.0 }
    }

    fn learn(&mut self, trained: &mut Trained, example: Example<'_>) {
        let Some(label) = example.label else { return };
        let prediction = trained.learner.learn(example.features, label, example.weight);
        self.paid += example.weight * self.loss.value(prediction.score, label);
        self.weight += example.weight;
    }

    fn risk(&self) -> f64 {
        self.paid / self.weight
    }
}

/// Reads batch by batch. What is done with a batch gives the mean loss so far (NaN: nothing was
/// charged), for those who watch. Whether it came to the end of the input: a signal ends it before.
pub(crate) fn each_batch(
    reader: &mut Reader,
    watch: &Watch,
    counts: &mut Counts,
    mut each: impl FnMut(&Parsed) -> Result<f64, Failure>,
) -> Result<bool, Failure> {
    while !watch.signals.received() {
        let parsed = match reader.next_within(PATIENCE)? {
            None => continue,
            Some(None) => return Ok(true),
            Some(Some(parsed)) => parsed,
        };
        let risk = each(parsed)?;
        counts.examples += parsed.batch.len() as u64;
        counts.bytes += parsed.bytes;
        for error in &parsed.errors {
            if counts.shown_errors < SHOWN_ERRORS {
                watch.progress.say(&format!("skipped: {error}"));
            }
            counts.shown_errors += 1;
        }
        let read = reader.progress();
        watch.progress.update(counts, read, risk);
    }
    Ok(false)
}

/// One round of learning.
pub(crate) fn round(trained: &mut Trained, course: &mut Course, example: Example<'_>) -> Prediction {
    let prediction = match example.label {
        Some(label) => trained.learner.learn(example.features, label, example.weight),
        None => trained.learner.predict(example.features),
    };
    charge(trained, example, prediction);
    course.observe(trained);
    prediction
}

/// Charges a prediction, if there is a label.
fn charge(trained: &mut Trained, example: Example<'_>, prediction: Prediction) {
    trained.facts.examples += 1;
    match example.label {
        Some(label) => {
            trained.facts.weightless += u64::from(example.weight == 0.0);
            trained.ledger.observe(prediction, label, example.weight, example.features);
        }
        None => trained.facts.unlabelled += 1,
    }
}
