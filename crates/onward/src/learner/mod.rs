//! Learners, by the names that `--learner` takes.
//!
//! ```
//! use onward::learner::Specification;
//! let specification: Specification = "ogd:radius=5".parse()?;
//! let learner = specification.build(&onward::loss::parse("logistic")?, None)?;
//! assert_eq!(learner.describe(), "ogd:eta=auto,radius=5");
//! # Ok::<(), onward::Error>(())
//! ```

pub mod auto;
pub mod ftrl_real;
pub mod linear;
pub mod perceptron;
mod registry;
pub mod standardised;

pub use auto::{Auto, LaneCount};
pub use ftrl_real::FtrlReal;
pub use linear::{Clip, Linear};
pub use perceptron::Perceptron;
pub use registry::{Arguments, LEARNERS, LearnerEntry, Losses, ParameterEntry, Scales, Specification};
pub(crate) use registry::{COMPARATOR_RADIUS, STANDARDISE};
pub use standardised::Standardised;
