//! Comparing learners: each batch goes to every learner, and each has a ledger of its own. What a learner pays and
//! says is to the bit what [`learn`](super::learn()) has of it alone, on any number of threads.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use onward::hindsight::Workers;
use onward::loss::{Task, TaskLoss};
use onward::protocol::LearnerSpec;
use onward::{Batch, FeatureMap};
use onward_data::{Input, Options, Reader};

use super::learn::FinishedRun;
use super::scoring::keep;
use super::{Arrival, ReadCounts, each_batch, learn_batch, read_for};
use crate::control::{Event, RunControl};
use crate::error::EngineError;
use crate::hindsight::{Hindsight, HindsightOptions, HindsightRequest, Threads};
use crate::model::{Model, ModelMetadata, checked_radius, task};
use crate::registry::Registry;
use crate::report::Timing;
use crate::rows::RowStore;
use crate::trace::Trace;

/// What is compared when nothing is named.
const DEFAULT_LEARNERS: [&str; 4] = ["auto", "nag", "adagrad", "ogd"];

/// What to compare, and how.
#[derive(Debug, Clone)]
pub struct CompareOptions {
    /// The learners, each once.
    pub learners: Vec<String>,
    /// The loss that all are charged by; by default the one that suits them and the task.
    pub loss: Option<String>,
    /// The comparators of the certificate are ‖u‖₂ ≤ radius, and learners that project stay there.
    pub radius: Option<f64>,
    /// Where names are looked up.
    pub registry: Registry,
    /// How the inputs are read. The formats are those of the registry.
    pub reading: Options,
    /// Looks for the best fixed predictor in hindsight.
    pub hindsight: Option<HindsightOptions>,
    /// Whether the curves of the report have the learners' own guarantees and the norms of their weights.
    pub trace: bool,
}

impl Default for CompareOptions {
    fn default() -> Self {
        Self {
            learners: DEFAULT_LEARNERS.map(str::to_owned).to_vec(),
            loss: None,
            radius: None,
            registry: Registry::default(),
            reading: Options::default(),
            hindsight: None,
            trace: true,
        }
    }
}

/// Lets several learners learn side by side in one pass.
///
/// # Errors
/// When the learners cannot be compared, or as [`learn`](super::learn()).
pub fn compare(
    inputs: &[Input],
    options: CompareOptions,
    control: &dyn RunControl,
) -> Result<CompareOutcome, EngineError> {
    CompareRun::open(inputs, options)?.run(control)
}

/// A comparison whose inputs are open, and in which nothing was learnt yet.
pub struct CompareRun {
    inputs: Vec<String>,
    reader: Reader,
    contestants: Vec<Contestant>,
    hindsight: Option<HindsightRequest>,
    threads: usize,
}

impl CompareRun {
    /// Opens the inputs: recognises format and columns, and builds the models.
    ///
    /// # Errors
    /// When the learners cannot be compared, options do not fit the inputs, or an input cannot be opened.
    pub fn open(inputs: &[Input], options: CompareOptions) -> Result<Self, EngineError> {
        let CompareOptions { learners, loss, radius, registry, mut reading, hindsight, trace } = options;
        let radius = checked_radius(radius)?;
        let hindsight = hindsight.map(|it| HindsightRequest::new(it, reading.threads)).transpose()?;
        let threads = reading.threads;
        reading.formats = registry.formats().clone();
        let learners = specifications(&learners, &registry)?;
        let loss = match loss {
            Some(name) => Some(registry.loss(&name)?),
            None => loss_before_reading(&learners, reading.task)?.map(|name| registry.loss(name)).transpose()?,
        };
        if let Some(loss) = &loss {
            // Whether learners, loss and parameters fit is found out before the input is read.
            check_learners(&learners, loss, radius)?;
            read_for(&mut reading, loss.clone())?;
        }
        let reader = Reader::open(inputs, reading)?;
        let loss = match loss {
            Some(loss) => loss,
            None => registry.loss(common_loss(&learners, task(reader.schema()))?)?,
        };
        check_learners(&learners, &loss, radius)?;
        let contestant = |learner: &LearnerSpec| {
            let (schema, metadata) = (reader.schema().clone(), ModelMetadata::new(reader.format()));
            let mut model = Model::build(learner, loss.clone(), radius, schema, metadata, &registry)?;
            if hindsight.is_some() {
                model.keep_more_curvature();
            }
            let (name, trace, elapsed) = (learner.to_string(), Trace::new(trace), Duration::ZERO);
            Ok(Contestant { name, model, trace, elapsed, scores: Vec::new() })
        };
        let contestants = learners.iter().map(contestant).collect::<Result<_, EngineError>>()?;
        let inputs = inputs.iter().map(Input::name).collect();
        Ok(Self { inputs, reader, contestants, hindsight, threads })
    }

    /// The reader, which knows what was recognised.
    pub fn reader(&self) -> &Reader {
        &self.reader
    }

    /// What is compared.
    pub fn contestants(&self) -> &[Contestant] {
        &self.contestants
    }

    /// Learns to the end of the inputs, or until it is cancelled.
    ///
    /// # Errors
    /// When an input cannot be read, or rows cannot be kept.
    pub fn run(self, control: &dyn RunControl) -> Result<CompareOutcome, EngineError> {
        let Self { inputs, mut reader, mut contestants, hindsight, threads } = self;
        let started = Instant::now();
        let mut counts = ReadCounts::default();
        let mut rows = hindsight.map(|_| RowStore::new(true));
        reader.number_features(FeatureMap::default());
        let learnt = each_batch(&mut reader, control, &mut counts, |reader, arrival| {
            let Some(Arrival { parsed, .. }) = arrival else { return Ok(f64::NAN) };
            side_by_side(&mut contestants, &parsed.batch, threads)?;
            if let Some(store) = &mut rows {
                keep(store, parsed.batch.rows(..), control)?;
            }
            contestants.iter_mut().for_each(|it| it.model.metadata.skipped += parsed.skipped);
            reader.give_back(parsed);
            Ok(contestants.iter().map(|it| it.model.ledger.sequential_risk()).fold(f64::NAN, f64::min))
        });
        if let Some(reason) = reader.cache_loss() {
            control.observe(Event::CacheLost(reason));
        }
        learnt?;
        for Contestant { model, trace, .. } in &mut contestants {
            trace.mark(&*model.learner, &model.ledger, model.metadata.passes);
        }
        let timing = Timing::new(started.elapsed(), counts.examples, counts.bytes);
        // Once for all: rows, loss and class are the same, and the rounds of the curves.
        let hindsight = match (hindsight, rows, contestants.first()) {
            (Some(request), Some(mut rows), Some(Contestant { model, .. })) if model.ledger.rounds() > 0 => {
                rows.finish().map_err(EngineError::RowStore)?;
                Some(request.answer(&rows, model, 1)?)
            }
            _ => None,
        };
        let contestants = contestants.into_iter().map(|it| it.finish(counts)).collect();
        Ok(CompareOutcome { contestants, inputs, bytes: counts.bytes, timing, hindsight })
    }
}

/// What came of a comparison.
pub struct CompareOutcome {
    pub(super) contestants: Vec<(String, Model, FinishedRun)>,
    pub(super) inputs: Vec<String>,
    pub(super) bytes: u64,
    pub(super) timing: Timing,
    pub(super) hindsight: Option<Hindsight>,
}

impl CompareOutcome {
    /// The learners as they were asked for, with their models.
    pub fn models(&self) -> impl Iterator<Item = (&str, &Model)> {
        self.contestants.iter().map(|(name, model, _)| (name.as_str(), model))
    }
}

/// A learner in a comparison.
pub struct Contestant {
    name: String,
    model: Model,
    trace: Trace,
    elapsed: Duration,
    scores: Vec<f64>,
}

impl Contestant {
    /// The learner as it was asked for.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its model.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Learns from a batch, and takes the time.
    fn learn(&mut self, batch: &Batch) -> Result<(), EngineError> {
        let started = Instant::now();
        let Model { learner, ledger, metadata, .. } = &mut self.model;
        let (mut rounds, passes) = (ledger.rounds(), metadata.passes);
        metadata.count(batch.rows(..));
        let score = |learner: &dyn onward::Learner, rows, marked: Option<&mut Trace>, scores: Vec<f64>| {
            ledger.observe(batch.rows(rows), &scores);
            if let Some(trace) = marked {
                trace.mark(learner, ledger, passes);
            }
            Ok(scores)
        };
        let blank = std::mem::take(&mut self.scores);
        self.scores = learn_batch(&mut **learner, &mut self.trace, &mut rounds, batch, score, blank)?;
        self.elapsed += started.elapsed();
        Ok(())
    }

    fn finish(self, counts: ReadCounts) -> (String, Model, FinishedRun) {
        let run = FinishedRun {
            timing: Timing::new(self.elapsed, counts.examples, counts.bytes),
            pass_risks: Vec::new(),
            own_guarantee: self.model.own_guarantee(),
            mixture: self.model.learner.mixture(),
            updates: self.model.learner.updates(),
            novikoff: self.model.learner.novikoff(),
            regularised: self.model.learner.regularised(),
            trace: self.trace,
            averaged_risk: None,
            loss_bound: None,
            saved_model_risk: None,
        };
        (self.name, self.model, run)
    }
}

/// Any thread that is free takes the next learner. None sees another's state, so that it does not matter which.
fn side_by_side(contestants: &mut [Contestant], batch: &Batch, threads: usize) -> Result<(), EngineError> {
    let contestants: Vec<_> = contestants.iter_mut().map(Mutex::new).collect();
    let learn = |at: usize| contestants[at].lock().unwrap_or_else(PoisonError::into_inner).learn(batch);
    let learnt = catch_unwind(AssertUnwindSafe(|| Threads(threads).map(contestants.len(), &learn)));
    learnt.map_err(|_| EngineError::Fault("a learner panicked"))?.into_iter().collect()
}

/// What was asked for, each once.
fn specifications(asked: &[String], registry: &Registry) -> Result<Vec<LearnerSpec>, EngineError> {
    let mut found: Vec<LearnerSpec> = Vec::new();
    for text in asked {
        let learner = registry.learner(text)?;
        if found.contains(&learner) {
            return Err(twice(&learner, &learner));
        }
        found.push(learner);
    }
    Ok(found)
}

fn twice(one: &LearnerSpec, other: &LearnerSpec) -> EngineError {
    let both = match one == other {
        true => format!("'{one}' is given twice"),
        false => format!("'{one}' and '{other}' are equal"),
    };
    EngineError::option("learner", format!("{both}: leave one out, or change a parameter"))
}

/// The loss, where it is known before the inputs are looked at.
fn loss_before_reading(learners: &[LearnerSpec], task: Option<Task>) -> Result<Option<&'static str>, EngineError> {
    // Some learners are for one task alone.
    match task.or_else(|| learners.iter().find_map(LearnerSpec::task)) {
        Some(task) => common_loss(learners, task).map(Some),
        None => {
            let binary = common_loss(learners, Task::Binary)?;
            Ok(Some(binary).filter(|binary| common_loss(learners, Task::Regression).ok() == Some(binary)))
        }
    }
}

/// The loss that all learners are charged by when none is asked for. Where they would be charged by
/// different ones there is no common measure, and a table in order of risk would mean nothing.
fn common_loss(learners: &[LearnerSpec], task: Task) -> Result<&'static str, EngineError> {
    let Some((first, others)) = learners.split_first() else {
        return Err(EngineError::option("learner", "must name at least one"));
    };
    let loss = first.default_loss(task)?;
    for learner in others {
        let other = learner.default_loss(task)?;
        if other != loss {
            let message = format!(
                "must be a loss that all learners can take; by default {first} would use {loss} and {learner} {other}, \
                 which cannot be compared"
            );
            return Err(EngineError::option("loss", message));
        }
    }
    Ok(loss)
}

/// Builds each learner, to find out whether it can take the loss, and whether two are equal.
fn check_learners(learners: &[LearnerSpec], loss: &TaskLoss, radius: Option<f64>) -> Result<(), EngineError> {
    let mut described: Vec<(String, &LearnerSpec)> = Vec::new();
    for learner in learners {
        let built = learner.build(loss, radius);
        let text = built.map_err(|error| EngineError::option("learner", format!("{learner}: {error}")))?.describe();
        if let Some((_, other)) = described.iter().find(|(other, _)| *other == text) {
            return Err(twice(other, learner));
        }
        described.push((text, learner));
    }
    Ok(())
}
