//! The round, batch by batch: predict, pay, update, and what goes along with it.

use std::sync::Arc;
use std::time::Duration;

use onward::learner::Fixed;
use onward::{Example, Learner, Prediction, SharedLoss};
use onward_data::{ParsedBatch, Reader};

use crate::books::{Account, Books};
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
    pub(crate) fn new(trained: &'a mut Trained, watch: &'a Watch, course: Course) -> Self {
        Self { trained, watch, counts: Counts::default(), course }
    }

    pub(crate) fn trained(&self) -> &Trained {
        self.trained
    }

    /// What was read, and the learner's part of the curve.
    pub(crate) fn finish(self) -> (Counts, Course) {
        self.watch.progress.finish();
        (self.counts, self.course)
    }

    /// The first pass: everything is charged, and recorded if it is to be looked back on. With more
    /// than one thread the books are kept by one of their own while those who parse wait for the learner.
    pub(crate) fn learn(
        &mut self,
        reader: &mut Reader,
        writer: Option<&mut PredictionWriter>,
        recorder: Option<&mut Recorder>,
        kept: Option<&mut Rows>,
        threads: usize,
    ) -> Result<(), Failure> {
        let Self { trained, watch, counts, course } = self;
        let Trained { learner, ledger, names, facts, .. } = &mut **trained;
        let (mut rounds, passes) = (ledger.rounds(), facts.passes);
        let account = Account { ledger, writer, recorder, kept };
        Books::keep(account, threads > 1, |books| {
            each_owned(reader, watch, counts, |reader, arrived| {
                let Some((parsed, is_shown)) = arrived else {
                    return books.look_in();
                };
                names.add_all(parsed.names.indices(), parsed.names.iter().map(|(_, name)| name));
                parsed.products().for_each(|(index, factors)| names.add_product(index, factors));
                facts.skipped += parsed.skipped;
                let parsed = Arc::new(parsed);
                let rows = parsed.batch.len();
                let (mut first, mut predictions) = (0, books.blank());
                for (row, (example, next)) in parsed.batch.with_next(0..rows).enumerate() {
                    if let Some(next) = next {
                        learner.expect(next);
                    }
                    facts.count(example);
                    predictions.push(predict_or_learn(&mut **learner, example));
                    rounds += u64::from(example.label.is_some() && example.weight != 0.0);
                    if course.is_due(rounds) {
                        let predictions = std::mem::replace(&mut predictions, books.blank());
                        books.charge(Arc::clone(&parsed), first..row + 1, predictions, false)?;
                        books.settled(|ledger| course.mark(&**learner, ledger, passes))?;
                        first = row + 1;
                    }
                }
                books.charge(parsed, first..rows, predictions, reader.is_waited_for())?;
                books.returned().for_each(|spent| reader.give_back(spent));
                books.risk(is_shown)
            })
        })?;
        self.course.mark(&*self.trained.learner, &self.trained.ledger, passes);
        Ok(())
    }

    /// A later pass: the learner learns again, and only the mean loss of the pass is kept;
    /// `None` when a signal cut it short.
    pub(crate) fn repeat(&mut self, reader: &mut Reader) -> Result<Option<f64>, Failure> {
        let mut again = Again::new(self.trained);
        let Self { trained, watch, counts, .. } = self;
        let whole = each_batch(reader, watch, counts, |parsed| {
            parsed.batch.iter().for_each(|example| again.learn(trained, example));
            trained.facts.skipped += parsed.skipped;
            Ok(trained.ledger.sequential_risk())
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

    /// Predicting: what has a label is charged, and nothing is learnt. `fixed` is what the learner predicts by, if it is one.
    pub(crate) fn predict(
        &mut self,
        fixed: Option<&Fixed>,
        reader: &mut Reader,
        writer: &mut PredictionWriter,
        threads: usize,
    ) -> Result<(), Failure> {
        let Self { trained, watch, counts, .. } = self;
        let Trained { learner, ledger, facts, .. } = &mut **trained;
        let account = Account { ledger, writer: Some(writer), recorder: None, kept: None };
        Books::keep(account, threads > 1, |books| {
            each_owned(reader, watch, counts, |reader, arrived| {
                let Some((parsed, is_shown)) = arrived else {
                    return books.look_in();
                };
                facts.skipped += parsed.skipped;
                let (mut predictions, rows) = (books.blank(), parsed.batch.len());
                for (example, next) in parsed.batch.with_next(0..rows) {
                    facts.count(example);
                    predictions.push(match fixed {
                        Some(fixed) => {
                            if let Some(next) = next {
                                fixed.expect(next);
                            }
                            fixed.predict(example.features)
                        }
                        None => {
                            if let Some(next) = next {
                                learner.expect(next);
                            }
                            learner.predict(example.features)
                        }
                    });
                }
                books.charge(Arc::new(parsed), 0..rows, predictions, reader.is_waited_for())?;
                books.returned().for_each(|spent| reader.give_back(spent));
                books.risk(is_shown)
            })
        })?;
        Ok(())
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
    mut each: impl FnMut(&ParsedBatch) -> Result<f64, Failure>,
) -> Result<bool, Failure> {
    each_owned(reader, watch, counts, |reader, arrived| {
        let Some((parsed, _)) = arrived else {
            return Ok(f64::NAN);
        };
        let risk = each(&parsed)?;
        reader.give_back(parsed);
        Ok(risk)
    })
}

/// The same, where whoever takes a batch gives it back to the reader in time, and hears whether the mean loss
/// is going to be shown; of nothing, when nothing has come for a while.
fn each_owned(
    reader: &mut Reader,
    watch: &Watch,
    counts: &mut Counts,
    mut each: impl FnMut(&Reader, Option<(ParsedBatch, bool)>) -> Result<f64, Failure>,
) -> Result<bool, Failure> {
    while !watch.signals.received() {
        let parsed = match reader.next_owned(PATIENCE)? {
            None => {
                each(reader, None)?;
                continue;
            }
            Some(None) => return Ok(true),
            Some(Some(parsed)) => parsed,
        };
        for error in &parsed.errors {
            if counts.shown_errors < SHOWN_ERRORS {
                watch.progress.say(&format!("skipped: {}", error.command_line()));
            }
            counts.shown_errors += 1;
        }
        let (examples, bytes) = (parsed.batch.len() as u64, parsed.bytes);
        let is_shown = watch.progress.is_due(counts.examples + examples);
        let risk = each(reader, Some((parsed, is_shown)))?;
        counts.examples += examples;
        counts.bytes += bytes;
        watch.progress.update(counts, reader.progress(), risk);
    }
    Ok(false)
}

/// What a learner says of a row: it learns from those that have a label.
fn predict_or_learn(learner: &mut dyn Learner, example: Example<'_>) -> Prediction {
    match example.label {
        Some(label) => learner.learn(example.features, label, example.weight),
        None => learner.predict(example.features),
    }
}

/// One round of learning, charged at once.
pub(crate) fn round(trained: &mut Trained, course: &mut Course, example: Example<'_>) {
    let prediction = predict_or_learn(&mut *trained.learner, example);
    trained.facts.count(example);
    if let Some(label) = example.label {
        trained.ledger.observe(prediction, label, example.weight, example.features);
    }
    if course.is_due(trained.ledger.rounds()) {
        course.mark(&*trained.learner, &trained.ledger, trained.facts.passes);
    }
}
