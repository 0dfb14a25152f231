//! What a learner's theorem promises for a stream before there is one.

use onward::SharedLoss;
use onward::guarantee::Guarantee;
use onward::loss::Task;
use onward::protocol::{LearnerSpec, ProblemBounds};

use crate::error::EngineError;
use crate::model::{ModelOptions, checked_radius};

/// A learner of which its promise is asked.
///
/// ```
/// use onward::protocol::ProblemBounds;
/// use onward::loss::Task;
/// use onward_engine::{ModelOptions, Plan};
///
/// let options = ModelOptions {
///     learner: "ogd:radius=1".to_owned(),
///     loss: Some("squared".to_owned()),
///     ..ModelOptions::default()
/// };
/// let plan = Plan::new(&options, Task::Regression)?;
/// // (p − y)²: G = 4, and self-tuned rates give √2·D·√(ΣG²) = √2·2·4·√T.
/// let promise = plan.promise(&ProblemBounds { rounds: 1e4, label: 1.0, ..ProblemBounds::default() })?;
/// assert!((promise.bound.unwrap() - 2f64.sqrt() * 8.0 * 100.0).abs() < 1e-9);
/// # Ok::<(), onward_engine::EngineError>(())
/// ```
pub struct Plan {
    learner: LearnerSpec,
    loss: SharedLoss,
    radius: Option<f64>,
}

impl Plan {
    /// A plan for this learner; the task decides the loss where none is named and the learner takes several.
    ///
    /// # Errors
    /// When learner, loss and their parameters do not fit together.
    pub fn new(options: &ModelOptions, task: Task) -> Result<Self, EngineError> {
        let radius = checked_radius(options.radius)?;
        let learner = options.registry.learner(&options.learner)?;
        let loss = match &options.loss {
            Some(name) => options.registry.loss(name)?,
            None => options.registry.loss(learner.default_loss(learner.task().unwrap_or(task))?)?,
        };
        learner.build(&loss, radius)?;
        match loss.score() {
            Some(loss) => Ok(Self { learner, loss: SharedLoss::clone(loss), radius }),
            None => Err(EngineError::option("loss", format!("must be one of a single score; got {}", loss.name()))),
        }
    }

    /// The learner with all its parameters.
    ///
    /// # Errors
    /// When it cannot be built, which [`new`](Self::new) has ruled out.
    pub fn learner(&self) -> Result<String, EngineError> {
        Ok(self.learner.build(&self.loss, self.radius)?.describe())
    }

    /// The loss.
    pub fn loss(&self) -> &SharedLoss {
        &self.loss
    }

    /// What the theorem promises for a stream within these bounds: the learner's own guarantee, or the reason why
    /// there is none.
    ///
    /// # Errors
    /// When a bound is not above 0.
    pub fn promise(&self, bounds: &ProblemBounds) -> Result<Guarantee, EngineError> {
        Ok(self.learner.plan(&self.loss, self.radius, bounds)?)
    }
}
