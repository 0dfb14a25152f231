//! A model: what learns, its account, and what its features mean.

mod file;
mod inspection;
mod matrix;
mod rounds;
mod snapshot;

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use onward::archive::Names;
use onward::evaluation::Ledger;
use onward::guarantee::Guarantee;
use onward::loss::{Task, TaskLoss};
use onward::protocol::LearnerSpec;
use onward::{Example, FeatureMap, Features, Learner, LinearWeights, Predictor, Rows};
use onward_data::{Layout, Options, ParsedBatch, Schema, Target, TargetRule};
use serde::{Deserialize, Serialize};

use crate::error::EngineError;
use crate::registry::Registry;

pub use file::is_model_file;
pub use inspection::Inspection;
pub use matrix::MatrixRows;
pub(crate) use rounds::{learn_rows, rows_at_a_time, with_new_classes};
pub use snapshot::Snapshot;

/// What learns when no learner is named.
pub const DEFAULT_LEARNER: &str = "auto";

/// What a new model is made of.
#[derive(Debug, Clone)]
pub struct ModelOptions {
    /// The learner, as [`LearnerSpec`] reads it.
    pub learner: String,
    /// The loss, as [`onward::loss::parse`] reads it; by default the one that suits learner and task.
    pub loss: Option<String>,
    /// The comparators of the certificate are ‖u‖₂ ≤ radius, and learners that project stay there.
    pub radius: Option<f64>,
    /// Where the names of learners, losses and formats are looked up.
    pub registry: Registry,
}

impl Default for ModelOptions {
    fn default() -> Self {
        Self { learner: DEFAULT_LEARNER.to_owned(), loss: None, radius: None, registry: Registry::default() }
    }
}

/// What a model remembers beside its state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelMetadata {
    /// The format it was learnt from.
    pub format: String,
    /// Examples, those without a label among them.
    pub examples: u64,
    /// Examples without a label.
    pub unlabelled: u64,
    /// Examples of importance 0.
    pub weightless: u64,
    /// Records that could not be read.
    pub skipped: u64,
    /// The most passes over the same data that a run made.
    pub passes: u32,
}

impl ModelMetadata {
    /// Nothing was seen yet.
    pub(crate) fn new(format: impl ToString) -> Self {
        Self { format: format.to_string(), examples: 0, unlabelled: 0, weightless: 0, skipped: 0, passes: 1 }
    }

    /// Counts those of the examples that teach nothing.
    pub(crate) fn count_idle(&mut self, rows: Rows<'_>) {
        for example in rows.iter() {
            let (unlabelled, weightless) = (example.label.is_none(), example.label.is_some() && example.weight == 0.0);
            self.examples += u64::from(unlabelled || weightless);
            self.unlabelled += u64::from(unlabelled);
            self.weightless += u64::from(weightless);
        }
    }

    /// Counts the examples.
    pub(crate) fn count(&mut self, rows: Rows<'_>) {
        self.examples += rows.len() as u64;
        for example in rows.iter() {
            self.unlabelled += u64::from(example.label.is_none());
            self.weightless += u64::from(example.label.is_some() && example.weight == 0.0);
        }
    }
}

/// A feature that moves the score of a typical example far.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HeavyFeature {
    /// Its name, or `#` and its index.
    pub name: String,
    /// Its weight in raw units.
    pub weight: f64,
    /// |weight| × spread.
    pub effect: f64,
    /// How uncertain the weight is, of learners that know ([`LinearWeights::gamma`]).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gamma: Option<f64>,
}

/// A learner with its account, the meaning of its columns and the names of its features.
///
/// ```
/// use onward::Features;
/// use onward::loss::{Task, TaskLoss};
/// use onward_engine::{Model, ModelOptions};
///
/// let mut model = Model::for_indices(&ModelOptions::default(), Task::Binary)?;
/// let x = Features::new(&[0, 7], &[1.0, 0.5])?;
/// let before = model.learn_one(x, 1.0, 1.0)?;
/// assert!(model.predict_one(x) > before);
/// assert_eq!(model.ledger().rounds(), 1);
/// # Ok::<(), onward_engine::EngineError>(())
/// ```
pub struct Model {
    specification: LearnerSpec,
    pub(crate) learner: Box<dyn Learner>,
    pub(crate) loss: TaskLoss,
    pub(crate) radius: Option<f64>,
    pub(crate) ledger: Ledger,
    pub(crate) names: Names,
    /// The ids of features, by which learner and ledger keep what belongs to them.
    pub(crate) features: FeatureMap,
    pub(crate) schema: Arc<Schema>,
    pub(crate) metadata: ModelMetadata,
    pub(crate) registry: Registry,
    scores: Vec<f64>,
    /// The ids of the features of the rows at hand.
    ids: Vec<u32>,
}

impl Model {
    /// A model that has seen nothing.
    ///
    /// # Errors
    /// When learner, loss, their parameters and the task of the schema do not fit together.
    pub fn new(options: &ModelOptions, schema: impl Into<Arc<Schema>>) -> Result<Self, EngineError> {
        let schema = schema.into();
        let learner = options.registry.learner(&options.learner)?;
        let loss = match &options.loss {
            Some(name) => options.registry.loss(name)?,
            None => options.registry.loss(learner.default_loss(task(&schema))?)?,
        };
        Self::build(&learner, loss, options.radius, schema, ModelMetadata::new("memory"), &options.registry)
    }

    /// A model that has seen nothing, of features that are numbered rather than named: for rows in memory. Labels of two
    /// classes are −1 and 1, those of several classes 0, 1, 2, …
    ///
    /// # Errors
    /// When learner, loss, their parameters and the task do not fit together.
    pub fn for_indices(options: &ModelOptions, task: Task) -> Result<Self, EngineError> {
        let rule = match task {
            Task::Regression => TargetRule::Number,
            Task::Classes => TargetRule::ClassNumber,
            _ => TargetRule::Signs,
        };
        let (column, Options { bits, ngrams, .. }) = ("label".to_owned(), Options::default());
        let target = Target { column, rule };
        let (columns, interactions) = (Vec::new(), Vec::new());
        Self::new(options, Schema { layout: Layout::Indexed, bits, ngrams, columns, target, interactions })
    }

    pub(crate) fn build(
        specification: &LearnerSpec,
        loss: TaskLoss,
        radius: Option<f64>,
        schema: impl Into<Arc<Schema>>,
        metadata: ModelMetadata,
        registry: &Registry,
    ) -> Result<Self, EngineError> {
        let schema = schema.into();
        let (of_labels, of_loss) = (task(&schema), loss.task());
        if (of_labels == Task::Classes) != (of_loss == Task::Classes) {
            let message = format!("must fit the labels, which are {}; got {}", labels_of(of_labels), loss.name());
            return Err(EngineError::option("loss", message));
        }
        let learner = specification.build(&loss, checked_radius(radius)?)?;
        let mut ledger = Ledger::new(learner.loss());
        ledger.set_radius(radius);
        ledger.keep_curvature(None, schema.reserved());
        Ok(Self {
            specification: specification.clone(),
            learner,
            loss,
            radius,
            ledger,
            names: Names::default(),
            features: FeatureMap::default(),
            schema,
            metadata,
            registry: registry.clone(),
            scores: Vec::new(),
            ids: Vec::new(),
        })
    }

    /// Has the curved certificate be about more features, before anything is learnt: for runs that take their time.
    pub(crate) fn keep_more_curvature(&mut self) {
        self.ledger.keep_curvature(Some(MORE_MEMBERS), self.schema.reserved());
    }

    /// What learns.
    pub fn learner(&self) -> &dyn Learner {
        &*self.learner
    }

    /// The learner as it was asked for.
    pub fn specification(&self) -> &LearnerSpec {
        &self.specification
    }

    /// The loss that was asked for.
    pub fn loss(&self) -> &TaskLoss {
        &self.loss
    }

    /// The account of what was learnt.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// What the columns mean.
    pub fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// The names of features.
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// What else it remembers.
    pub fn metadata(&self) -> &ModelMetadata {
        &self.metadata
    }

    /// Whether the labels are classes or numbers.
    pub fn task(&self) -> Task {
        task(&self.schema)
    }

    /// The learner's own guarantee. It holds after one pass, when its sums are of the rounds that were charged.
    pub fn own_guarantee(&self) -> Guarantee {
        own_guarantee(&*self.learner, self.metadata.passes)
    }

    /// One round: predicts, is charged for it, and learns; returns the score that was made before, or for several classes
    /// the number of the one with the largest score. A weight of 0 changes nothing.
    ///
    /// # Errors
    /// When the loss cannot take the label, or the weight is negative or not finite.
    pub fn learn_one(&mut self, x: Features<'_>, label: f64, weight: f64) -> Result<f64, EngineError> {
        // In a row, a label of NaN would mean a missing one.
        self.check(label, weight)?;
        let row = Example { features: x, label: Some(label), weight };
        row.as_rows(|rows| self.learn_checked(rows).map(drop))?;
        Ok(self.loss.prediction(&self.scores))
    }

    /// What [`learn_one`](Self::learn_one) would predict. Changes nothing.
    pub fn predict_one(&self, x: Features<'_>) -> f64 {
        predict_one(&*self.learner, &self.loss, x)
    }

    /// Learns from many rows, in order, and returns the scores made for each before its label was seen: one per row, or
    /// one per class that was met up to the last row (−∞ for those that had not been met before the row). Rows without a
    /// label are predicted only.
    ///
    /// # Errors
    /// When the loss cannot take a label or a weight: names the row, and nothing was learnt.
    pub fn learn(&mut self, rows: Rows<'_>) -> Result<&[f64], EngineError> {
        for (row, example) in rows.iter().enumerate() {
            if let Some(label) = example.label {
                self.check(label, example.weight).map_err(|error| error.of_row(row, None))?;
            }
        }
        self.learn_checked(rows)
    }

    /// Learns from encoded records as [`learn`](Self::learn) does from rows, and remembers the names of their features.
    ///
    /// # Errors
    /// As [`learn`](Self::learn), and when the records were encoded by another schema than the model's.
    pub fn learn_records(&mut self, records: &ParsedBatch) -> Result<&[f64], EngineError> {
        check_schema(&self.schema, records)?;
        self.remember_names(records);
        self.learn(records.batch.rows(..))
    }

    /// The scores of encoded records. Changes nothing.
    ///
    /// # Errors
    /// When the records were encoded by another schema than the model's.
    pub fn predict_records(&self, records: &ParsedBatch) -> Result<Vec<f64>, EngineError> {
        check_schema(&self.schema, records)?;
        Ok(self.predict(records.batch.rows(..)))
    }

    /// The same for rows whose labels and weights were checked.
    fn learn_checked(&mut self, rows: Rows<'_>) -> Result<&[f64], EngineError> {
        let rows = self.features.number_rows(rows, &mut self.ids);
        learn_rows(&mut *self.learner, &self.loss, rows, &mut self.scores, self.ledger.rounds())?;
        self.metadata.count(rows);
        self.ledger.observe(rows, &self.scores);
        Ok(&self.scores)
    }

    /// The scores of many rows. Changes nothing.
    pub fn predict(&self, rows: Rows<'_>) -> Vec<f64> {
        let mut scores = vec![0.0; rows.len() * self.learner.outputs()];
        self.learner.predict(rows, &mut scores);
        scores
    }

    /// The features that move a typical score furthest, by |weight| × spread: the deviation of a feature that
    /// the learner centres, and the root mean square of another. Empty for learners without weights.
    pub fn heaviest(&self, count: usize) -> Vec<HeavyFeature> {
        let Some(linear) = self.learner.linear() else { return Vec::new() };
        self.heaviest_by(linear, count, |indices| linear.weights(indices))
    }

    /// The same by the weights of the average of the learner's points.
    ///
    /// # Errors
    /// When the learner keeps no average.
    pub fn heaviest_averaged(&self, count: usize) -> Result<Vec<HeavyFeature>, EngineError> {
        let averaged = self.learner.linear().and_then(|linear| Some((linear, linear.averaged()?)));
        let (linear, pairs) = averaged.ok_or_else(|| self.no_average())?;
        let weights: HashMap<u32, f64> = pairs.into_iter().collect();
        let weight = |index: &u32| weights.get(index).copied().unwrap_or(0.0);
        Ok(self.heaviest_by(linear, count, |indices| indices.iter().map(weight).collect()))
    }

    fn heaviest_by(
        &self,
        linear: &dyn LinearWeights,
        count: usize,
        weights: impl FnOnce(&[u32]) -> Vec<f64>,
    ) -> Vec<HeavyFeature> {
        let Some(sums) = self.ledger.sums() else { return Vec::new() };
        let weights = weights(sums.features());
        let order = |a: &(u32, f64, f64), b: &(u32, f64, f64)| b.2.total_cmp(&a.2).then(a.0.cmp(&b.0));
        let mut found = Vec::new();
        for ((&index, weight), spread) in sums.features().iter().zip(weights).zip(sums.root_mean_squares()) {
            let spread = linear.deviation(index).unwrap_or(spread);
            found.push((index, weight, weight.abs() * spread));
            // There may be millions, and few are wanted.
            if found.len() >= count.saturating_mul(2).max(MOST_KEPT) {
                found.select_nth_unstable_by(count, order);
                found.truncate(count);
            }
        }
        found.sort_unstable_by(order);
        found.truncate(count);
        let named = found.into_iter().map(|(index, weight, effect)| {
            let gamma = linear.gamma(index);
            HeavyFeature { name: self.name(index), weight, effect, gamma }
        });
        named.collect()
    }

    /// The name of a feature, or # and its index.
    pub(crate) fn name(&self, index: u32) -> String {
        self.names.get(index).map_or_else(|| format!("#{index}"), Cow::into_owned)
    }

    /// Remembers the names of features that came with a batch: by them [`heaviest`](Self::heaviest) calls its features.
    pub fn remember_names(&mut self, parsed: &ParsedBatch) {
        add_names(&mut self.names, parsed);
    }

    fn check(&self, label: f64, weight: f64) -> Result<(), EngineError> {
        self.ledger.loss().check_label(label)?;
        match weight == 0.0 || (SMALLEST_WEIGHT..=f64::from(f32::MAX)).contains(&weight) {
            true => Ok(()),
            false => Err(EngineError::option("weight", format!("must be 0, or from 1e-38 to 3.4e38; got {weight}"))),
        }
    }
}

/// The features of the curved certificate where it may take its time.
const MORE_MEMBERS: usize = 256;

/// When this many features are found, or twice as many as are wanted, the lighter ones are dropped.
const MOST_KEPT: usize = 1024;

/// Sums of smaller weights could vanish.
const SMALLEST_WEIGHT: f64 = 1e-38;

/// The learner's own guarantee after this many passes over the same data.
pub(crate) fn own_guarantee(learner: &dyn Learner, passes: u32) -> Guarantee {
    if passes > 1 {
        let reason = "the model made several passes, and its theorem covers only the first one";
        return Guarantee::none(learner.guarantee().kind, reason);
    }
    learner.guarantee()
}

/// The prediction of one row. A single score needs no memory.
pub(crate) fn predict_one(predictor: &dyn Predictor, loss: &TaskLoss, x: Features<'_>) -> f64 {
    if loss.score().is_some() {
        return predictor.predict_one(x);
    }
    let mut scores = vec![0.0; predictor.outputs()];
    Example { features: x, label: None, weight: 1.0 }.as_rows(|rows| predictor.predict(rows, &mut scores));
    loss.prediction(&scores)
}

/// Refuses records whose features mean something else.
pub(crate) fn check_schema(schema: &Arc<Schema>, records: &ParsedBatch) -> Result<(), EngineError> {
    match records.schema().is_none_or(|other| Arc::ptr_eq(other, schema) || other == schema) {
        true => Ok(()),
        false => Err(EngineError::option("records", "must be encoded by the model's schema; got another one's")),
    }
}

/// Takes in the names of features that came with a batch.
pub(crate) fn add_names(names: &mut Names, parsed: &ParsedBatch) {
    names.add_all(parsed.names.indices(), parsed.names.iter().map(|(_, name)| name));
    parsed.products().for_each(|(index, factors)| names.add_product(index, factors));
}

fn labels_of(task: Task) -> &'static str {
    match task {
        Task::Classes => "numbers of classes",
        Task::Regression => "numbers",
        _ => "two classes",
    }
}

/// What the labels are.
pub(crate) fn task(schema: &Schema) -> Task {
    schema.target.rule.task()
}

/// A radius is positive and finite.
pub(crate) fn checked_radius(radius: Option<f64>) -> Result<Option<f64>, EngineError> {
    match radius {
        Some(radius) if !(radius.is_finite() && radius > 0.0) => {
            Err(EngineError::option("radius", format!("must be above 0; got {radius}")))
        }
        radius => Ok(radius),
    }
}
