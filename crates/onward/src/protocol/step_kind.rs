//! The kind of a learner's steps: the parameter `step`, which all learners that have it share.

use std::fmt;

use super::{Params, Step};
use crate::parameter::{ParameterDescriptor, words};

/// What a step is, once its rates are known.
///
/// ```
/// use onward::protocol::{Step, StepKind};
/// assert_eq!(StepKind::default().step(0.5, 2.0), Step::Gradient { time: 0.5 });
/// assert_eq!(StepKind::Flow.step(0.5, 2.0), Step::Flow { time: 0.5, q: 2.0 });
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StepKind {
    /// The textbook's: the (sub)gradient at the score that was predicted, times rate and importance weight.
    #[default]
    Gradient,
    /// Gradient flow of the loss for that time. At a fixed rate a row of importance 2 moves the weights as two rows of
    /// importance 1 do, and no step overshoots.
    Flow,
}

impl StepKind {
    /// The kind that the parameter [`STEP`] asks for.
    pub(crate) fn from_arguments(arguments: &Params<'_>) -> Self {
        if arguments.text(STEP.name) == "flow" { Self::Flow } else { Self::Gradient }
    }

    /// The step of this time, the importance weight included, where the score moves by `q` for u = 1.
    #[inline]
    pub fn step(self, time: f64, q: f64) -> Step {
        match self {
            Self::Gradient => Step::Gradient { time },
            Self::Flow => Step::Flow { time, q },
        }
    }
}

/// As the parameter names it.
impl fmt::Display for StepKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Gradient => "gradient",
            Self::Flow => "flow",
        })
    }
}

/// Descriptions always say it: a model that does not was saved when all steps were flow.
pub(crate) const STEP: ParameterDescriptor = words(
    "step",
    &[
        ("gradient", "the textbook's: rate × importance × (sub)gradient"),
        ("flow", "gradient flow of the loss: importance-aware, never overshoots"),
    ],
)
.meaning("kind of step")
.in_older_models("flow");
