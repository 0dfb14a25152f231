//! Models on disk: what a run saves and what another continues from.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use onward::learner::Specification;
use onward::model::{Archive, Model, Names};
use onward::regret::{Guarantee, Ledger};
use onward::{Example, Learner, SharedLoss};
use onward_data::{Format, Input, Schema};
use serde::{Deserialize, Serialize};

use crate::failure::Failure;

/// What learns and keeps account, with what it needs to know.
pub(crate) struct Trained {
    pub(crate) learner: Box<dyn Learner>,
    pub(crate) loss: SharedLoss,
    pub(crate) radius: Option<f64>,
    pub(crate) ledger: Ledger,
    pub(crate) names: Names,
    pub(crate) schema: Schema,
    pub(crate) facts: Facts,
}

/// What else a model remembers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Facts {
    /// The format it was learnt from.
    pub(crate) format: Format,
    /// Examples, those without a label among them.
    pub(crate) examples: u64,
    /// Examples without a label.
    pub(crate) unlabelled: u64,
    /// Examples of importance 0.
    pub(crate) weightless: u64,
    /// Records that could not be read.
    pub(crate) skipped: u64,
    /// The most passes over the same data that a run made.
    pub(crate) passes: u32,
}

impl Facts {
    pub(crate) fn new(format: Format) -> Self {
        Self { format, examples: 0, unlabelled: 0, weightless: 0, skipped: 0, passes: 1 }
    }

    /// Counts an example.
    pub(crate) fn count(&mut self, example: Example<'_>) {
        self.examples += 1;
        self.unlabelled += u64::from(example.label.is_none());
        self.weightless += u64::from(example.label.is_some() && example.weight == 0.0);
    }
}

/// A learner's own guarantee, if its sums are those of the rounds that were charged: after one pass.
pub(crate) fn own_guarantee(learner: &dyn Learner, passes: u32) -> Guarantee {
    if passes > 1 {
        let reason = "the model went over data several times: its theorem is about rounds that are charged";
        return Guarantee::none(learner.guarantee().kind, reason);
    }
    learner.guarantee()
}

impl Trained {
    /// The learner's own guarantee, if its sums are those of the rounds that were charged.
    pub(crate) fn own_guarantee(&self) -> Guarantee {
        own_guarantee(&*self.learner, self.facts.passes)
    }

    /// A fresh learner.
    pub(crate) fn new(
        specification: &Specification,
        loss: SharedLoss,
        radius: Option<f64>,
        schema: Schema,
        facts: Facts,
    ) -> Result<Self, Failure> {
        let learner = specification.build(&loss, radius)?;
        let mut ledger = Ledger::new(learner.charged_loss());
        ledger.set_radius(radius);
        Ok(Self { learner, loss, radius, ledger, names: Names::default(), schema, facts })
    }

    /// The bytes of its file.
    pub(crate) fn to_bytes(&mut self) -> Result<Vec<u8>, Failure> {
        let state = Archive::saved(|archive| self.persist(archive))?;
        let json = |value: Result<serde_json::Value, serde_json::Error>| value.map_err(Failure::user);
        let model = Model {
            learner: self.learner.describe(),
            loss: self.loss.name(),
            radius: self.radius,
            schema: json(serde_json::to_value(&self.schema))?,
            facts: json(serde_json::to_value(&self.facts))?,
            state,
        };
        Ok(model.to_bytes()?)
    }

    /// Loads what was saved.
    pub(crate) fn load(path: &Path) -> Result<Self, Failure> {
        let bytes = fs::read(path).map_err(|error| Failure::reading(path, &error))?;
        let damaged = |error: &dyn std::fmt::Display| Failure::user(format!("{}: {error}", path.display()));
        let model = Model::from_bytes(&bytes).map_err(|error| damaged(&error))?;
        drop(bytes);
        Self::restore(model).map_err(|failure| damaged(&failure))
    }

    /// Loads the MODEL of `onward predict MODEL INPUT…`; where this is no model, reminds of the order.
    pub(crate) fn load_to_predict(path: &Path, inputs: &[Input]) -> Result<Self, Failure> {
        Self::load(path).map_err(|failure| {
            let model = inputs.iter().find(|input| matches!(input, Input::Path(path) if is_model(path)));
            match model {
                _ if is_model(path) || !path.is_file() => failure,
                Some(model) => failure.hint(format_args!("{} may be one: the model comes first", model.name())),
                None => failure.hint("the model comes first: onward predict MODEL INPUT"),
            }
        })
    }

    fn restore(model: Model) -> Result<Self, Failure> {
        let unfit = |what: &str, error: serde_json::Error| Failure::user(format!("its {what} cannot be read: {error}"));
        let schema: Schema = serde_json::from_value(model.schema).map_err(|error| unfit("schema", error))?;
        let facts = serde_json::from_value(model.facts).map_err(|error| unfit("facts", error))?;
        schema.check().map_err(Failure::user)?;
        let specification: Specification = model.learner.parse()?;
        let mut trained = Self::new(&specification, onward::loss::parse(&model.loss)?, model.radius, schema, facts)?;
        trained.persist(&mut Archive::loading(model.state))?;
        Ok(trained)
    }

    fn persist(&mut self, archive: &mut Archive) -> Result<(), onward::Error> {
        archive.part("learner", |archive| self.learner.persist(archive))?;
        archive.part("ledger", |archive| self.ledger.persist(archive))?;
        archive.part("names", |archive| self.names.persist(archive))
    }
}

/// Whether a file begins as models do.
fn is_model(path: &Path) -> bool {
    let mut head = Vec::new();
    // Of a pipe the reader would miss what is read here.
    path.is_file()
        && File::open(path).and_then(|file| file.take(9).read_to_end(&mut head)).is_ok()
        && onward::model::is_safetensors(&head)
}
