//! Learning from inputs.

use std::mem;
use std::sync::Arc;
use std::time::Instant;

use onward::guarantee::Guarantee;
use onward::numeric::rng::SplitMix64;
use onward::protocol::LearnerSpec;
use onward::{Batch, MixtureReport};
use onward_data::{Input, Options, Reader};

use super::scoring::{Destinations, ScoringWorker};
use super::{Arrival, PassLoss, ReadCounts, each_batch, learn_batch, read_for};
use crate::control::{Event, RunControl};
use crate::error::EngineError;
use crate::hindsight::{Hindsight, HindsightOptions, HindsightRequest};
use crate::model::{Model, ModelMetadata, ModelOptions, add_names, checked_radius};
use crate::predictions::PredictionSink;
use crate::report::{DELTA, Timing};
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
    /// The seed of that order.
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
        let LearnOptions { start, reading, hindsight, passes, order, seed, loss_bound, trace } = options;
        if let Some(bound) = loss_bound.filter(|bound| !(bound.is_finite() && *bound > 0.0)) {
            return Err(EngineError::option("loss_bound", format!("must be above 0; got {bound}")));
        }
        match order {
            PassOrder::Sequential if passes > 1 => check_repeatable(inputs)?,
            PassOrder::Shuffle | PassOrder::Random if passes < 2 => {
                return Err(EngineError::option("order", "needs at least 2 passes"));
            }
            _ => {}
        }
        let radius = match &start {
            Start::New(options) => checked_radius(options.radius)?,
            Start::Continue(model) => model.radius,
        };
        let hindsight = hindsight.map(|it| HindsightRequest::new(it, radius, reading.threads)).transpose()?;
        let prepared = Prepared::new(start, reading)?;
        if hindsight.is_some() && prepared.model.is_err() {
            return Err(EngineError::option("hindsight", "needs all rows, and a continued model has not kept them"));
        }
        let reading = prepared.reading.clone();
        let reader = Reader::open(inputs, reading.clone())?;
        let (model, resumed_at) = prepared.model(&reader)?;
        let reading = Options { schema: Some(model.schema.clone()), ..reading };
        let inputs = inputs.to_vec();
        Ok(Self { inputs, reading, reader, model, resumed_at, hindsight, passes, order, seed, loss_bound, trace })
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
    /// When an input cannot be read, or predictions or rows cannot be kept.
    pub fn run(
        self,
        sink: Option<&mut dyn PredictionSink>,
        control: &dyn RunControl,
    ) -> Result<LearnOutcome, EngineError> {
        let Self { inputs, reading, mut reader, mut model, resumed_at, hindsight, .. } = self;
        let started = Instant::now();
        let (mut counts, mut trace) = (ReadCounts::default(), Trace::new(self.trace));
        let is_ordered = self.passes > 1 && self.order != PassOrder::Sequential;
        let mut rows = (hindsight.is_some() || is_ordered).then(|| RowStore::new(hindsight.is_some()));
        let is_aside = reading.threads > 1;
        let mut pass = FirstPass { model: &mut model, trace: &mut trace, counts: &mut counts, control };
        let learnt = pass.run(&mut reader, sink, rows.as_mut(), is_aside);
        if let Some(reason) = reader.cache_loss() {
            control.observe(Event::CacheLost(reason));
        }
        learnt?;
        drop(reader);
        if let Some(rows) = &mut rows {
            rows.finish().map_err(EngineError::RowStore)?;
        }
        let own_guarantee = model.own_guarantee();
        let (mixture, updates) = (model.learner.mixture(), model.learner.updates());
        let mut pass_risks = vec![model.ledger.sequential_risk()];
        let mut random = SplitMix64::new(self.seed);
        for _ in 1..self.passes {
            let risk = match rows.as_ref().filter(|_| is_ordered) {
                Some(store) => {
                    let order = self.order.rows(store.len(), &mut random);
                    replay(&mut model, store, &order, &mut counts, control)?
                }
                None => read_again(&mut model, &mut Reader::open(&inputs, reading.clone())?, &mut counts, control)?,
            };
            let Some(risk) = risk else { break };
            pass_risks.push(risk);
        }
        let timing = Timing::new(started.elapsed(), counts.examples, counts.bytes);
        model.metadata.passes = model.metadata.passes.max(pass_risks.len() as u32);
        let hindsight = match (hindsight, rows) {
            (Some(request), Some(rows)) if model.ledger.rounds() > 0 => {
                Some(request.answer(&rows, &*model.learner, &model.ledger, pass_risks.len())?)
            }
            _ => None,
        };
        let averaged_risk = self.loss_bound.map(|range| averaged_risk(&model, range));
        let inputs = inputs.iter().map(Input::name).collect();
        let bytes = counts.bytes;
        let run = FinishedRun { timing, pass_risks, own_guarantee, mixture, updates, trace, averaged_risk };
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
    pub(super) trace: Trace,
    /// What the average of the learner's points pays at most on a new example, or why nothing can be said of it,
    /// if it was asked for.
    pub(super) averaged_risk: Option<Result<f64, String>>,
}

/// What is known before the inputs are open.
struct Prepared {
    reading: Options,
    model: Result<(ModelOptions, LearnerSpec), Box<Model>>,
}

impl Prepared {
    fn new(start: Start, mut reading: Options) -> Result<Self, EngineError> {
        let options = match start {
            Start::New(options) => options,
            Start::Continue(model) => {
                let (schema, formats) = (Some(model.schema.clone()), model.registry.formats().clone());
                let reading = Options { schema, formats, loss: model.learner.loss().score().cloned(), ..reading };
                return Ok(Self { reading, model: Err(model) });
            }
        };
        reading.formats = options.registry.formats().clone();
        let learner = options.registry.learner(&options.learner)?;
        let loss = match (&options.loss, learner.task()) {
            (Some(name), _) => Some(options.registry.loss(name)?),
            (None, Some(task)) => Some(options.registry.loss(learner.default_loss(task)?)?),
            (None, None) => None,
        };
        if let Some(loss) = loss {
            // Whether learner, loss and parameters fit is found out before the input is read.
            learner.build(&loss, options.radius)?;
            read_for(&mut reading, loss)?;
        }
        Ok(Self { reading, model: Ok((options, learner)) })
    }

    /// The model for these inputs, and how many examples it has seen if it continues.
    fn model(self, reader: &Reader) -> Result<(Model, Option<u64>), EngineError> {
        let (options, learner) = match self.model {
            Ok(new) => new,
            Err(model) => {
                let seen = model.metadata.examples;
                return Ok((*model, Some(seen)));
            }
        };
        let schema = reader.schema().clone();
        let loss = match self.reading.loss {
            Some(loss) => loss,
            None => options.registry.loss(learner.default_loss(crate::model::task(&schema))?)?,
        };
        let metadata = ModelMetadata::new(reader.format());
        let model = Model::build(&learner, loss, options.radius, schema, metadata, &options.registry)?;
        Ok((model, None))
    }
}

/// The pass in which everything is charged.
struct FirstPass<'a> {
    model: &'a mut Model,
    trace: &'a mut Trace,
    counts: &'a mut ReadCounts,
    control: &'a dyn RunControl,
}

impl FirstPass<'_> {
    /// With more than one thread scoring has its own while the parsers wait for the learner.
    fn run(
        &mut self,
        reader: &mut Reader,
        sink: Option<&mut dyn PredictionSink>,
        rows: Option<&mut RowStore>,
        is_aside: bool,
    ) -> Result<(), EngineError> {
        let Self { model, trace, counts, control } = self;
        let Model { learner, ledger, names, features, metadata, .. } = &mut **model;
        reader.number_features(mem::take(features));
        let (mut rounds, passes) = (ledger.rounds(), metadata.passes);
        let sink = sink.map(|sink| sink as &mut dyn PredictionSink);
        let destinations = Destinations { ledger, sink, rows, control: *control };
        let mut blank = Vec::new();
        let learnt = ScoringWorker::run(destinations, is_aside, |worker| {
            each_batch(reader, *control, counts, |reader, arrival| {
                let Some(Arrival { parsed, needs_exact_risk }) = arrival else { return worker.poll() };
                add_names(names, &parsed);
                metadata.skipped += parsed.skipped;
                metadata.count(parsed.batch.rows(..));
                let parsed = Arc::new(parsed);
                let score = |learner: &dyn onward::Learner, rows, marked: Option<&mut Trace>, scores| {
                    let is_behind = marked.is_none() && reader.is_waited_for();
                    worker.submit(Arc::clone(&parsed), rows, scores, is_behind)?;
                    if let Some(trace) = marked {
                        worker.settled(|ledger| trace.mark(learner, ledger, passes))?;
                    }
                    Ok(worker.blank())
                };
                let scores = std::mem::take(&mut blank);
                blank = learn_batch(&mut **learner, trace, &mut rounds, &parsed.batch, score, scores)?;
                drop(parsed);
                worker.returned().for_each(|spent| reader.give_back(spent));
                worker.risk(needs_exact_risk)
            })
        });
        *features = reader.take_features();
        learnt?;
        self.trace.mark(&*self.model.learner, &self.model.ledger, passes);
        Ok(())
    }
}

/// A later pass over the inputs: the learner learns again, and only the mean loss of the pass is kept; `None` when
/// it was cancelled.
fn read_again(
    model: &mut Model,
    reader: &mut Reader,
    counts: &mut ReadCounts,
    control: &dyn RunControl,
) -> Result<Option<f64>, EngineError> {
    let mut pass = PassLoss::new(&*model.learner);
    reader.number_features(mem::take(&mut model.features));
    let is_whole = each_batch(reader, control, counts, |reader, arrival| {
        if let Some(Arrival { parsed, .. }) = arrival {
            pass.learn(&mut *model.learner, parsed.batch.rows(..));
            model.metadata.skipped += parsed.skipped;
            reader.give_back(parsed);
        }
        Ok(model.ledger.sequential_risk())
    });
    model.features = reader.take_features();
    Ok(is_whole?.then(|| pass.risk()))
}

/// How many rows are replayed at a time.
const REPLAYED: usize = 256;

/// A later pass over rows that were kept, in this order; `None` when it was cancelled.
fn replay(
    model: &mut Model,
    store: &RowStore,
    order: &[usize],
    counts: &mut ReadCounts,
    control: &dyn RunControl,
) -> Result<Option<f64>, EngineError> {
    let mut pass = PassLoss::new(&*model.learner);
    let mut batch = Batch::default();
    for rows in order.chunks(REPLAYED) {
        if control.is_cancelled() {
            return Ok(None);
        }
        batch.clear();
        store.read(rows.iter().copied(), &mut batch).map_err(EngineError::RowStore)?;
        model.features.number(&mut batch);
        pass.learn(&mut *model.learner, batch.rows(..));
    }
    counts.examples += order.len() as u64;
    Ok(Some(pass.risk()))
}

/// What the average of the learner's points pays on a new example, if all losses are within [0, range].
fn averaged_risk(model: &Model, range: f64) -> Result<f64, String> {
    if model.metadata.passes > 1 {
        return Err("the bound is for one pass".to_owned());
    }
    if model.learner.linear().and_then(|linear| linear.averaged()).is_none() {
        return Err("the learner does not keep the average of its points (sgd:average=1 does)".to_owned());
    }
    model.ledger.averaged_risk(range, DELTA)
}

/// Several passes read files.
fn check_repeatable(inputs: &[Input]) -> Result<(), EngineError> {
    // A file that is not there is refused when it is opened.
    let is_missing = |input: &Input| matches!(input, Input::Path(path) if !path.exists());
    match inputs.iter().find(|input| !input.is_repeatable() && !is_missing(input)) {
        Some(input) => {
            let message = format!("must be 1 for {}, which can be read only once; or save it to a file", input.name());
            Err(EngineError::option("passes", message))
        }
        None => Ok(()),
    }
}
