//! What learners and optimisers are: the calls that they answer, and how they are described and built.

mod descriptor;
mod frozen;
mod learner;
mod linear;
mod optimizer;
mod params;
mod problem_bounds;
mod promise;
mod spec;
mod standardised;
mod step_kind;

pub(crate) use descriptor::{COMPARATOR_RADIUS, STANDARDISE};
pub use descriptor::{LearnerDescriptor, Losses};
pub use learner::{ExpertReport, Learner, LinearWeights, MixtureReport, Predictor, ScoreLearner};
pub use linear::{Clip, Linear};
pub use optimizer::{Optimizer, Step};
pub use params::Params;
pub use problem_bounds::ProblemBounds;
pub(crate) use promise::FIXED_RATE;
pub use promise::{Bound, Promise};
pub use spec::LearnerSpec;
pub use standardised::Standardised;
pub(crate) use step_kind::STEP;
pub use step_kind::StepKind;
