//! Learning from inputs.

use std::time::Instant;

use onward::MixtureReport;
use onward::guarantee::{Guarantee, Novikoff, Regularised};
use onward::loss::TaskLoss;
use onward::numeric::logarithm;
use onward::numeric::rng::SplitMix64;
use onward_data::{Input, Options, Reader};

use super::passes::LearningPasses;
use super::{ReadCounts, read_for};
use crate::control::{Event, RunControl};
use crate::error::EngineError;
use crate::hindsight::{Hindsight, HindsightOptions, HindsightRequest};
use crate::model::{Model, ModelMetadata, ModelOptions, checked_radius, task};
use crate::past_sample::PastSample;
use crate::predictions::PredictionSink;
use crate::report::{DELTA, SavedModelRisk, Timing};
use crate::rows::{PassOrder, RowStore};
use crate::trace::Trace;

/// What learns: a new model, or one that continues.
pub enum Start {
    /// A new model.
    New(ModelOptions),
    /// A model that learnt before: its learner, loss and columns stay what they are.
    Continue(Box<Model>),
}

impl From<Model> for Start {
    fn from(model: Model) -> Self {
        Self::Continue(Box::new(model))
    }
}

impl From<ModelOptions> for Start {
    fn from(options: ModelOptions) -> Self {
        Self::New(options)
    }
}

/// How to learn.
pub struct LearnOptions {
    /// What learns.
    pub start: Start,
    /// How the inputs are read. The formats are those of the registry; what a continued model knows (columns, task, loss)
    /// is the model's.
    pub reading: Options,
    /// Looks for the best fixed predictor in hindsight.
    pub hindsight: Option<HindsightOptions>,
    /// How often to go over the inputs, at least once. Risk and guarantee are those of the first pass.
    pub passes: u32,
    /// In which order the later passes go over the rows.
    pub order: PassOrder,
    /// Whether the first pass goes over the rows in random order too: for inputs whose order means nothing and tells the
    /// labels, such as a file sorted by its label. The rows are kept, and learnt when all have been read.
    pub shuffle: bool,
    /// The seed of random orders, and of the rows on which the model is asked about its past.
    pub seed: u64,
    /// Losses are known to be in [0, this]: then the report bounds what the average of the learner's points pays on
    /// a new example.
    pub loss_bound: Option<f64>,
    /// Whether the curve of the report has the learner's own guarantee and the norm of its weights.
    pub trace: bool,
}

impl Default for LearnOptions {
    fn default() -> Self {
        Self {
            start: Start::New(ModelOptions::default()),
            reading: Options::default(),
            hindsight: None,
            passes: 1,
            order: PassOrder::default(),
            shuffle: false,
            seed: 0,
            loss_bound: None,
            trace: true,
        }
    }
}

/// Learns from inputs.
///
/// # Errors
/// When options do not fit together or to the inputs, or an input cannot be read.
///
/// ```no_run
/// use onward_data::{Input, Options};
/// use onward_engine::{LearnOptions, learn};
///
/// let reading = Options { target: Some("arr_delay>15".to_owned()), ..Options::default() };
/// let options = LearnOptions { reading, ..LearnOptions::default() };
/// let mut outcome = learn(&[Input::from("flights.csv.zst")], options, &())?;
/// println!("{:?}", outcome.report().learner.sequential_risk);
/// outcome.model.save("late.safetensors")?;
/// # Ok::<(), onward_engine::EngineError>(())
/// ```
pub fn learn(inputs: &[Input], options: LearnOptions, control: &dyn RunControl) -> Result<LearnOutcome, EngineError> {
    LearnRun::open(inputs, options)?.run(None, control)
}

/// A run of learning whose inputs are open, and that has learnt nothing yet.
pub struct LearnRun {
    inputs: Vec<Input>,
    /// How later passes read.
    reading: Options,
    reader: Reader,
    model: Model,
    resumed_at: Option<u64>,
    hindsight: Option<HindsightRequest>,
    passes: u32,
    order: PassOrder,
    shuffle: bool,
    seed: u64,
    loss_bound: Option<f64>,
    trace: bool,
}

impl LearnRun {
    /// Opens the inputs: recognises format and columns, and builds the model.
    ///
    /// # Errors
    /// When options do not fit together or to the inputs, or an input cannot be opened.
    pub fn open(inputs: &[Input], options: LearnOptions) -> Result<Self, EngineError> {
        let LearnOptions { start, reading, hindsight, passes, order, shuffle, seed, loss_bound, trace } = options;
        if let Some(bound) = loss_bound.filter(|bound| !(bound.is_finite() && *bound > 0.0)) {
            return Err(EngineError::option("loss_bound", format!("must be above 0; got {bound}")));
        }
        match order {
            PassOrder::Sequential if passes > 1 && !shuffle => check_repeatable(inputs)?,
            PassOrder::Shuffle | PassOrder::Random if passes < 2 => {
                return Err(EngineError::option("order", "needs at least 2 passes"));
            }
            _ => {}
        }
        if let Start::New(options) = &start {
            checked_radius(options.radius)?;
        }
        let hindsight = hindsight.map(|it| HindsightRequest::new(it, reading.threads)).transpose()?;
        let reading = prepare(&start, reading)?;
        if hindsight.is_some() && matches!(start, Start::Continue(_)) {
            return Err(EngineError::option("hindsight", "needs all rows, and a continued model has not kept them"));
        }
        let reader = Reader::open(inputs, reading.clone())?;
        let (model, resumed_at) = match start {
            Start::New(options) => {
                let mut model = new_model(&options, reading.loss.clone(), &reader)?;
                if hindsight.is_some() {
                    model.keep_more_curvature();
                }
                (model, None)
            }
            Start::Continue(model) => {
                let seen = model.metadata.examples;
                (*model, Some(seen))
            }
        };
        let reading = Options { schema: Some((*model.schema).clone()), ..reading };
        let inputs = inputs.to_vec();
        let run = Self {
            inputs,
            reading,
            reader,
            model,
            resumed_at,
            hindsight,
            passes,
            order,
            shuffle,
            seed,
            loss_bound,
            trace,
        };
        Ok(run)
    }

    /// The reader, which knows what was recognised.
    pub fn reader(&self) -> &Reader {
        &self.reader
    }

    /// The model that will learn.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Learns to the end of the inputs, or until it is cancelled. The sink gets the prediction that was made for each
    /// row of the first pass before its label was seen.
    ///
    /// # Errors
    /// When an input cannot be read, predictions or rows cannot be kept, or predictions are asked for of rows that are
    /// learnt in random order.
    pub fn run(
        self,
        sink: Option<&mut dyn PredictionSink>,
        control: &dyn RunControl,
    ) -> Result<LearnOutcome, EngineError> {
        let Self { inputs, reading, mut reader, mut model, resumed_at, hindsight, shuffle, .. } = self;
        if shuffle && sink.is_some() {
            let reason = "learns in random order, and predictions would not be in the order of the rows; save the model \
                          and predict with it";
            return Err(EngineError::option("shuffle", reason));
        }
        let started = Instant::now();
        let mut trace = Trace::new(self.trace);
        let is_kept = shuffle || self.passes > 1 && self.order != PassOrder::Sequential;
        let mut rows = (hindsight.is_some() || is_kept).then(|| RowStore::new(hindsight.is_some()));
        let (mut random, mut sample) = (SplitMix64::new(self.seed), PastSample::new(self.seed));
        let mut passes = LearningPasses { model: &mut model, counts: ReadCounts::default(), control };
        let learnt = match rows.as_mut().filter(|_| shuffle) {
            Some(rows) => passes.keep(&mut reader, rows),
            None => passes.first(&mut reader, &mut trace, sink, rows.as_mut(), &mut sample, reading.threads > 1),
        };
        if let Some(reason) = reader.cache_loss() {
            control.observe(Event::CacheLost(reason));
        }
        let is_read = learnt?;
        drop(reader);
        if let Some(rows) = &mut rows {
            rows.finish().map_err(EngineError::RowStore)?;
        }
        let is_whole = match rows.as_mut().filter(|_| shuffle) {
            Some(rows) => passes.first_shuffled(rows, &mut trace, &mut random, is_read)?,
            None => true,
        };
        let own_guarantee = passes.model.own_guarantee();
        let learner = &passes.model.learner;
        let (mixture, updates, novikoff) = (learner.mixture(), learner.updates(), learner.novikoff());
        let regularised = learner.regularised();
        let mut pass_risks = vec![passes.model.ledger.sequential_risk()];
        for _ in 1..self.passes {
            let risk = match rows.as_ref().filter(|_| is_kept) {
                Some(store) => passes.replay(store, &self.order.rows(store.len(), &mut random))?,
                None => passes.read_again(&mut Reader::open(&inputs, reading.clone())?)?,
            };
            let Some(risk) = risk else { break };
            pass_risks.push(risk);
        }
        let LearningPasses { counts, .. } = passes;
        let timing = Timing::new(started.elapsed(), counts.examples, counts.bytes);
        model.metadata.passes = model.metadata.passes.max(pass_risks.len() as u32);
        let hindsight = match (hindsight, rows) {
            (Some(_), Some(_)) if !is_whole => {
                Some(Hindsight::unknown("the run was ended before all rows were learnt"))
            }
            (Some(request), Some(rows)) if model.ledger.rounds() > 0 => {
                Some(request.answer(&rows, &model, pass_risks.len())?)
            }
            _ => None,
        };
        let averaged_risk = self.loss_bound.map(|range| averaged_risk(&model, range));
        let has_runs = model.ledger.label_order().is_some_and(|order| order.is_clear());
        let saved_model_risk = (has_runs && !shuffle).then(|| sample.risk_of(&model));
        let inputs = inputs.iter().map(Input::name).collect();
        let bytes = counts.bytes;
        let run = FinishedRun {
            timing,
            pass_risks,
            own_guarantee,
            mixture,
            updates,
            novikoff,
            regularised,
            trace,
            averaged_risk,
            loss_bound: self.loss_bound,
            saved_model_risk,
        };
        Ok(LearnOutcome { model, inputs, resumed_at, bytes, run, hindsight })
    }
}

/// What came of learning.
pub struct LearnOutcome {
    /// The model.
    pub model: Model,
    pub(super) inputs: Vec<String>,
    pub(super) resumed_at: Option<u64>,
    pub(super) bytes: u64,
    pub(super) run: FinishedRun,
    pub(super) hindsight: Option<Hindsight>,
}

/// What is known of a learner when its run is over.
pub(super) struct FinishedRun {
    pub(super) timing: Timing,
    /// The mean loss of each pass.
    pub(super) pass_risks: Vec<f64>,
    /// The learner's own guarantee after the first pass.
    pub(super) own_guarantee: Guarantee,
    /// The experts of a learner that mixes some, after the first pass.
    pub(super) mixture: Option<MixtureReport>,
    /// The importance of the rounds of the first pass in which it moved, for learners that count it.
    pub(super) updates: Option<f64>,
    /// What bounds these, for learners that the perceptron's theorem is about.
    pub(super) novikoff: Option<Novikoff>,
    /// What it did by its regularised losses, for learners of such.
    pub(super) regularised: Option<Regularised>,
    pub(super) trace: Trace,
    /// What the average of the learner's points pays at most on a new example, or why nothing can be said of it,
    /// if it was asked for.
    pub(super) averaged_risk: Option<Result<f64, String>>,
    /// Losses are known to be in [0, this].
    pub(super) loss_bound: Option<f64>,
    /// What the model pays at the end on some of its rows, where their labels come in runs.
    pub(super) saved_model_risk: Option<SavedModelRisk>,
}

/// How inputs are read for what learns, with what is known of it before they are open.
fn prepare(start: &Start, mut reading: Options) -> Result<Options, EngineError> {
    let ModelOptions { learner, loss, radius, registry } = match start {
        Start::New(options) => options,
        Start::Continue(model) => {
            let (schema, formats) = (Some((*model.schema).clone()), model.registry.formats().clone());
            return Ok(Options { schema, formats, loss: Some(model.learner.loss()), ..reading });
        }
    };
    reading.formats = registry.formats().clone();
    let learner = registry.learner(learner)?;
    let loss = match (loss, learner.task()) {
        (Some(name), _) => registry.loss(name)?,
        (None, Some(task)) => registry.loss(learner.default_loss(task)?)?,
        (None, None) => return Ok(reading),
    };
    // Whether learner, loss and parameters fit is found out before the input is read.
    learner.build(&loss, *radius)?;
    read_for(&mut reading, loss)?;
    Ok(reading)
}

/// A new model for these inputs, by this loss or the one that suits learner and task.
fn new_model(options: &ModelOptions, loss: Option<TaskLoss>, reader: &Reader) -> Result<Model, EngineError> {
    let ModelOptions { learner, radius, registry, .. } = options;
    let (schema, metadata) = (reader.schema().clone(), ModelMetadata::new(reader.format()));
    let learner = registry.learner(learner)?;
    let loss = match loss {
        Some(loss) => loss,
        None => registry.loss(learner.default_loss(task(&schema))?)?,
    };
    Model::build(&learner, loss, *radius, schema, metadata, registry)
}

/// What the average of the learner's points pays on a new example, if all losses are within [0, range].
fn averaged_risk(model: &Model, range: f64) -> Result<f64, String> {
    if model.metadata.passes > 1 {
        return Err("the bound is for one pass".to_owned());
    }
    let linear = model.learner.linear();
    let late = linear.and_then(|linear| linear.late_average());
    if late.is_some_and(|(points, _)| points == 0.0) {
        return Err("the average begins with a later example".to_owned());
    }
    if linear.and_then(|linear| linear.averaged()).is_none() {
        return Err("the learner does not keep the average of its points (sgd:average=1 does)".to_owned());
    }
    let of_all = model.ledger.averaged_risk(range, DELTA)?;
    match late {
        None => Ok(of_all),
        Some((_, paid)) if paid.is_nan() => {
            Err("the model is older than the losses of the average's rounds".to_owned())
        }
        // The points that were averaged, and their rounds alone.
        Some((points, paid)) => Ok(paid / points + range * (2.0 * logarithm(1.0 / DELTA) / points).sqrt()),
    }
}

/// Several passes read files.
fn check_repeatable(inputs: &[Input]) -> Result<(), EngineError> {
    // A file that is not there is refused when it is opened.
    let is_missing = |input: &Input| matches!(input, Input::Path(path) if !path.exists());
    let once = inputs.iter().find(|input| !input.is_repeatable() && !is_missing(input));
    let Some(input) = once else { return Ok(()) };
    let message = format!("must be 1 for {}, which can be read only once; or save it to a file", input.name());
    Err(EngineError::option("passes", message))
}
