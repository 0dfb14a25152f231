//! A frozen predictor.

use onward::learner::Fixed;
use onward::loss::Link;
use onward::model::Archive;
use onward::{Batch, Features, Learner, Prediction};

use super::Model;
use crate::error::EngineError;

/// What a model predicted when the snapshot was taken, to the bit. It never changes, so any number of threads
/// predict with it while the model learns on.
pub struct Snapshot {
    predictor: Predictor,
    link: Link,
}

/// Linear learners have a faster form for predicting alone.
enum Predictor {
    Linear(Fixed),
    Copy(Box<dyn Learner>),
}

impl Snapshot {
    pub(super) fn of(model: &mut Model) -> Result<Self, EngineError> {
        let predictor = match model.learner.fixed() {
            Some(fixed) => Predictor::Linear(fixed),
            None => {
                let specification = model.registry.learner(&model.learner.describe())?;
                let mut copy = specification.build(&model.loss, model.radius)?;
                let state = Archive::saved(|archive| model.learner.persist(archive))?;
                copy.persist(&mut Archive::loading(state))?;
                Predictor::Copy(copy)
            }
        };
        Ok(Self { predictor, link: model.loss.link() })
    }

    /// The prediction of a row.
    pub fn predict_one(&self, x: Features<'_>) -> Prediction {
        match &self.predictor {
            Predictor::Linear(fixed) => fixed.predict(x),
            Predictor::Copy(learner) => learner.predict(x),
        }
    }

    /// The prediction of a row on the scale that people read: a probability, a rate, or the score itself.
    pub fn response_of(&self, x: Features<'_>) -> f64 {
        self.predict_one(x).response(self.link)
    }

    /// The predictions of many rows.
    pub fn predict(&self, batch: &Batch) -> Vec<Prediction> {
        batch.iter().map(|example| self.predict_one(example.features)).collect()
    }
}
