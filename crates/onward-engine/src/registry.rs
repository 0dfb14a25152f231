//! Learners and losses by name.

use std::fmt;

use onward::loss::{self, LOSSES};
use onward::protocol::{LearnerDescriptor, LearnerSpec};
use onward::registry::LEARNERS;
use onward::{Error, SharedLoss};

use crate::error::EngineError;

/// A loss that can be asked for by name.
#[derive(Clone, Copy)]
pub struct LossEntry {
    /// Its name, which begins what [`Loss::name`](onward::Loss::name) gives.
    pub name: &'static str,
    /// What it is, in a line.
    pub summary: &'static str,
    /// Builds it from what stands after the colon: `delta=2` in `huber:delta=2`.
    pub build: fn(&str) -> Result<SharedLoss, Error>,
}

/// Where the names of learners and losses are looked up: the built-in ones, and your own beside them.
///
/// ```
/// use std::sync::Arc;
/// use onward_engine::{LossEntry, Registry};
///
/// let registry = Registry::default().with_loss(LossEntry {
///     name: "my-squared",
///     summary: "(p-y)^2 under another name",
///     build: |_| Ok(Arc::new(onward::loss::Squared)),
/// });
/// assert_eq!(registry.loss("my-squared")?.value(1.0, 3.0), 4.0);
/// assert_eq!(registry.loss("huber:delta=2")?.name(), "huber:delta=2");
/// # Ok::<(), onward_engine::EngineError>(())
/// ```
#[derive(Clone)]
pub struct Registry {
    learners: &'static [&'static LearnerDescriptor],
    losses: Vec<LossEntry>,
}

impl Default for Registry {
    /// All that is built in.
    fn default() -> Self {
        Self { learners: LEARNERS, losses: Vec::new() }
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
    pub fn with_loss(mut self, loss: LossEntry) -> Self {
        self.losses.insert(0, loss);
        self
    }

    /// All learners.
    pub fn learners(&self) -> &[&'static LearnerDescriptor] {
        self.learners
    }

    /// All losses: name with parameter and default, and what they are in a line.
    pub fn losses(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        self.losses
            .iter()
            .map(|loss| (loss.name, loss.summary))
            .chain(LOSSES.iter().map(|loss| (loss.name, loss.summary)))
    }

    /// The learner of a name with its parameters.
    ///
    /// # Errors
    /// When there is none, or it has no such parameter.
    pub fn learner(&self, text: &str) -> Result<LearnerSpec, EngineError> {
        Ok(LearnerSpec::parse_among(text, self.learners)?)
    }

    /// The loss of a name with its parameter.
    ///
    /// # Errors
    /// When there is none, or its parameter is out of range.
    pub fn loss(&self, text: &str) -> Result<SharedLoss, EngineError> {
        let (name, parameters) = text.split_once(':').unwrap_or((text, ""));
        Ok(match self.losses.iter().find(|loss| loss.name == name) {
            Some(loss) => (loss.build)(parameters)?,
            None => loss::parse(text)?,
        })
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let learners: Vec<_> = self.learners.iter().map(|learner| learner.name).collect();
        let losses: Vec<_> = self.losses().map(|(name, _)| name).collect();
        out.debug_struct("Registry").field("learners", &learners).field("losses", &losses).finish()
    }
}
