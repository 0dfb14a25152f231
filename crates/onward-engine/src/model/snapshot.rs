//! A frozen predictor.

use onward::archive::Archive;
use onward::loss::InverseLink;
use onward::{Features, Predictor, Rows};

use super::Model;
use crate::error::EngineError;

/// What a model predicted when the snapshot was taken, to the bit. It never changes, so any number of threads
/// predict with it while the model learns on.
pub struct Snapshot {
    predictor: Box<dyn Predictor>,
    link: InverseLink,
}

impl Model {
    /// The predictor that this model is now, for other threads: it does not change when the model learns on.
    ///
    /// # Errors
    /// When the learner's state cannot be copied, which would be a fault of the learner.
    pub fn snapshot(&mut self) -> Result<Snapshot, EngineError> {
        let link = self.loss.inverse_link();
        if let Some(predictor) = self.learner.freeze() {
            return Ok(Snapshot { predictor, link });
        }
        let mut copy = self.specification.build(&self.loss, self.radius)?;
        let state = Archive::saved(|archive| self.learner.persist(archive))?;
        copy.persist(&mut Archive::loading(state))?;
        Ok(Snapshot { predictor: copy, link })
    }
}

impl Snapshot {
    /// The score of a row.
    pub fn predict_one(&self, x: Features<'_>) -> f64 {
        self.predictor.predict_one(x)
    }

    /// The prediction of a row on the scale that people read: a probability, a rate, or the score itself.
    pub fn response_of(&self, x: Features<'_>) -> f64 {
        self.link.response(self.predict_one(x))
    }

    /// The scores of many rows.
    pub fn predict(&self, rows: Rows<'_>) -> Vec<f64> {
        let mut scores = vec![0.0; rows.len() * self.predictor.outputs()];
        self.predictor.predict(rows, &mut scores);
        scores
    }
}
