//! Learners, losses and formats by name.

use onward::loss::{self, CLASS_LOSSES, LOSSES, LossDescriptor, SharedClassLoss, TaskLoss};
use onward::protocol::{LearnerDescriptor, LearnerSpec};
use onward::registry::LEARNERS;
use onward_data::Formats;
use onward_data::formats::TextFormat;

use crate::error::EngineError;

/// Where the names of learners, losses and formats are looked up: the built-in ones, and your own beside them.
///
/// ```
/// use std::sync::Arc;
/// use onward::loss::{LossDescriptor, Squared};
/// use onward_engine::Registry;
///
/// let mine = LossDescriptor::new("mine", "(p-y)^2 by another name", |_| Ok(Arc::new(Squared)));
/// let registry = Registry::default().with_loss(mine);
/// assert_eq!(registry.loss("mine")?.value(&[1.0], 3.0), 4.0);
/// assert_eq!(registry.loss("huber:delta=2")?.name(), "huber:delta=2");
/// # Ok::<(), onward_engine::EngineError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Registry {
    learners: &'static [&'static LearnerDescriptor],
    losses: Vec<LossDescriptor>,
    class_losses: Vec<LossDescriptor<SharedClassLoss>>,
    formats: Formats,
}

impl Default for Registry {
    /// All that is built in.
    fn default() -> Self {
        Self {
            learners: LEARNERS,
            losses: LOSSES.to_vec(),
            class_losses: CLASS_LOSSES.to_vec(),
            formats: Formats::default(),
        }
    }
}

impl Registry {
    /// Adds a learner. It hides another one of its name, and other learners may mix it.
    ///
    /// The list is kept to the end of the program: make a registry once.
    pub fn with_learner(self, learner: &'static LearnerDescriptor) -> Self {
        let learners = [&[learner], self.learners].concat();
        Self { learners: learners.leak(), ..self }
    }

    /// Adds a loss. It hides another one of its name.
    pub fn with_loss(mut self, loss: LossDescriptor) -> Self {
        self.losses.insert(0, loss);
        self
    }

    /// Adds a loss of a score per class. It hides another loss of its name.
    pub fn with_class_loss(mut self, loss: LossDescriptor<SharedClassLoss>) -> Self {
        self.class_losses.insert(0, loss);
        self
    }

    /// Adds a format. It hides another one of its name, and inputs are tried as one of it first.
    pub fn with_format(self, format: impl TextFormat + 'static) -> Self {
        Self { formats: self.formats.with(format), ..self }
    }

    /// All learners.
    pub fn learners(&self) -> &[&'static LearnerDescriptor] {
        self.learners
    }

    /// All losses of a score per class.
    pub fn class_losses(&self) -> &[LossDescriptor<SharedClassLoss>] {
        &self.class_losses
    }

    /// All losses of one score.
    pub fn losses(&self) -> &[LossDescriptor] {
        &self.losses
    }

    /// All formats.
    pub fn formats(&self) -> &Formats {
        &self.formats
    }

    /// The learner of a name with its parameters.
    ///
    /// # Errors
    /// When there is none, or it has no such parameter.
    pub fn learner(&self, text: &str) -> Result<LearnerSpec, EngineError> {
        Ok(LearnerSpec::parse_among(text, self.learners)?)
    }

    /// The learner of a saved model: see [`LearnerSpec::parse_saved`].
    ///
    /// # Errors
    /// As [`learner`](Self::learner).
    pub fn saved_learner(&self, text: &str) -> Result<LearnerSpec, EngineError> {
        Ok(LearnerSpec::parse_saved(text, self.learners)?)
    }

    /// The loss of a name with its parameter.
    ///
    /// # Errors
    /// When there is none, or its parameter is out of range.
    pub fn loss(&self, text: &str) -> Result<TaskLoss, EngineError> {
        Ok(loss::parse_task_loss(text, &self.losses, &self.class_losses)?)
    }
}
