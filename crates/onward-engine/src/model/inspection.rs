//! What a model holds.

use onward_data::Schema;
use serde::Serialize;

use super::{HeavyFeature, Model, ModelMetadata};
use crate::error::EngineError;
use crate::report::{LaneReport, TaskKind, lanes};

/// What a model holds, as JSON with stable keys.
#[derive(Debug, Clone, Serialize)]
pub struct Inspection {
    /// The learner with all its parameters.
    pub learner: String,
    /// The loss.
    pub loss: String,
    /// What it predicts.
    pub target: String,
    /// Whether that is a class or a number.
    #[serde(skip)]
    pub task: TaskKind,
    /// What the columns mean.
    pub schema: Schema,
    /// What else it remembers.
    pub facts: ModelMetadata,
    /// The mean loss while learning; `None` if nothing was charged.
    pub sequential_risk: Option<f64>,
    /// The mean loss of the best constant prediction.
    pub baseline_risk: Option<f64>,
    /// Different features that were learnt from.
    pub distinct_features: Option<u64>,
    /// Whether the weights are those of the average of the learner's points.
    #[serde(rename = "averaged", skip_serializing_if = "std::ops::Not::not")]
    pub is_averaged: bool,
    /// The features that move a typical score furthest.
    pub heaviest: Vec<HeavyFeature>,
    /// What a learner that mixes others says of them.
    pub lanes: Option<Vec<LaneReport>>,
    /// What the mixture paid more than the best of them.
    pub gap_to_best_lane: Option<f64>,
}

impl Model {
    /// What it holds, with this many of its heaviest features.
    pub fn inspect(&self, heaviest: usize) -> Inspection {
        let mixture = self.learner.mixture();
        Inspection {
            learner: self.learner.describe(),
            loss: self.loss.name(),
            target: self.schema.target.to_string(),
            task: self.task().into(),
            schema: Schema::clone(&self.schema),
            facts: self.metadata.clone(),
            sequential_risk: (self.ledger.rounds() > 0).then(|| self.ledger.sequential_risk()),
            baseline_risk: self.ledger.baseline_risk(),
            distinct_features: self.ledger.distinct_features(),
            is_averaged: false,
            heaviest: self.heaviest(heaviest),
            lanes: mixture.as_ref().map(lanes),
            gap_to_best_lane: mixture.as_ref().map(|mixture| mixture.gap()),
        }
    }

    /// The same, with the weights of the average of the learner's points.
    ///
    /// # Errors
    /// When the learner keeps no average.
    pub fn inspect_averaged(&self, heaviest: usize) -> Result<Inspection, EngineError> {
        let found = self.heaviest_averaged(heaviest)?;
        Ok(Inspection { is_averaged: true, heaviest: found, ..self.inspect(0) })
    }
}
