//! A frozen predictor.

use std::sync::Arc;

use onward::archive::Archive;
use onward::loss::TaskLoss;
use onward::{Features, Predictor, Rows};
use onward_data::{ParsedBatch, Schema};

use super::{Model, check_schema, predict_one};
use crate::error::EngineError;

/// What a model predicted when the snapshot was taken, to the bit. It never changes, and a model's schema never does, so
/// any number of threads predict with it while the model learns on.
pub struct Snapshot {
    predictor: Box<dyn Predictor>,
    loss: TaskLoss,
    schema: Arc<Schema>,
}

impl Model {
    /// The predictor that this model is now, for other threads: it does not change when the model learns on.
    ///
    /// # Errors
    /// When the learner's state cannot be copied, which would be a fault of the learner.
    pub fn snapshot(&mut self) -> Result<Snapshot, EngineError> {
        let (loss, schema) = (self.loss.clone(), Arc::clone(&self.schema));
        if let Some(predictor) = self.learner.freeze() {
            return Ok(Snapshot { predictor, loss, schema });
        }
        let mut copy = self.specification.build(&self.loss, self.radius)?;
        let state = Archive::saved(|archive| self.learner.persist(archive))?;
        copy.persist(&mut Archive::loading(state))?;
        Ok(Snapshot { predictor: copy, loss, schema })
    }

    /// The predictor by the average of the points that the learner went through: what the risk of the averaged predictor
    /// ([`Ledger::averaged_risk`](onward::evaluation::Ledger::averaged_risk)) is about.
    ///
    /// ```
    /// use onward::Features;
    /// use onward::loss::Task;
    /// use onward_engine::{Model, ModelOptions};
    ///
    /// let options = ModelOptions { learner: "ogd:average=true,eta=0.1,radius=10".to_owned(), ..ModelOptions::default() };
    /// let mut model = Model::for_indices(&options, Task::Regression)?;
    /// let x = Features::new(&[0], &[1.0])?;
    /// model.learn_one(x, 5.0, 1.0)?;
    /// model.learn_one(x, 5.0, 1.0)?;
    /// // The points were 0 and 0.1·2·5.
    /// assert!((model.averaged()?.predict_one(x) - 0.5).abs() < 1e-6);
    /// # Ok::<(), onward_engine::EngineError>(())
    /// ```
    ///
    /// # Errors
    /// When the learner keeps no average.
    pub fn averaged(&self) -> Result<Snapshot, EngineError> {
        let (loss, schema) = (self.loss.clone(), Arc::clone(&self.schema));
        Ok(Snapshot { predictor: self.averaged_predictor()?, loss, schema })
    }

    pub(crate) fn averaged_predictor(&self) -> Result<Box<dyn Predictor>, EngineError> {
        self.learner.freeze_averaged().ok_or_else(|| self.no_average())
    }

    /// Says which options keep an average.
    pub(super) fn no_average(&self) -> EngineError {
        let learner = self.learner.describe();
        EngineError::option(
            "averaged",
            format!(
                "needs a learner that keeps the average of its points: sgd:average=K from example K on, or \
                 ogd:average=true or osd:average=true; got {learner}"
            ),
        )
    }
}

impl Snapshot {
    /// How many scores a row gets.
    pub fn outputs(&self) -> usize {
        self.predictor.outputs()
    }

    /// The score of a row; for several classes the number of the one with the largest score.
    pub fn predict_one(&self, x: Features<'_>) -> f64 {
        predict_one(&*self.predictor, &self.loss, x)
    }

    /// The prediction of a row on the scale that people read: a probability, a rate, the score itself, or the number of
    /// a class.
    pub fn response_of(&self, x: Features<'_>) -> f64 {
        self.loss.response(self.predict_one(x))
    }

    /// The scores of encoded records, row after row.
    ///
    /// # Errors
    /// When the records were encoded by another schema than the model's.
    pub fn predict_records(&self, records: &ParsedBatch) -> Result<Vec<f64>, EngineError> {
        check_schema(&self.schema, records)?;
        Ok(self.predict(records.batch.rows(..)))
    }

    /// The scores of many rows, row after row.
    pub fn predict(&self, rows: Rows<'_>) -> Vec<f64> {
        let mut scores = vec![0.0; rows.len() * self.predictor.outputs()];
        self.predictor.predict(rows, &mut scores);
        scores
    }
}
