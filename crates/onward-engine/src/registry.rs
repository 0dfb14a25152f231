//! Learners and losses by name.

use onward::SharedLoss;
use onward::learner::LearnerSpec;
use onward::loss;

use crate::error::EngineError;

/// Where the names of learners and losses are looked up.
#[derive(Debug, Clone, Default)]
pub struct Registry {}

impl Registry {
    /// The learner of a name with its parameters.
    ///
    /// # Errors
    /// When there is none, or it has no such parameter.
    pub fn learner(&self, text: &str) -> Result<LearnerSpec, EngineError> {
        Ok(text.parse()?)
    }

    /// The loss of a name with its parameter.
    ///
    /// # Errors
    /// When there is none, or its parameter is out of range.
    pub fn loss(&self, text: &str) -> Result<SharedLoss, EngineError> {
        Ok(loss::parse(text)?)
    }
}
