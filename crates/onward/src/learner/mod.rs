//! Learners, by the names that `--learner` takes.
//!
//! ```
//! use onward::learner::Specification;
//! let specification: Specification = "ogd:radius=5".parse()?;
//! let learner = specification.build(&onward::loss::parse("logistic")?, None)?;
//! assert_eq!(learner.describe(), "ogd:eta=auto,radius=5");
//! # Ok::<(), onward::Error>(())
//! ```

pub mod arow;
pub mod auto;
mod columns;
pub mod experts;
pub mod fixed;
pub mod ftrl_real;
pub mod kernel;
pub mod least_squares;
pub mod linear;
pub mod pa;
pub mod perceptron;
mod registry;
mod ridge;
pub mod rls;
pub mod standardised;
pub mod vaw;

pub use arow::{Arow, Covariance};
pub use auto::{Auto, LaneCount};
pub use experts::{Advice, Predict};
pub use fixed::Fixed;
pub use ftrl_real::FtrlReal;
pub use least_squares::{LeastSquares, LeastSquaresForm};
pub use linear::{Clip, Linear};
pub use pa::{Aggressiveness, PassiveAggressive};
pub use perceptron::{AveragedPerceptron, Perceptron, SecondOrderPerceptron, VotedPerceptron};
pub use registry::{Arguments, LEARNERS, LearnerEntry, Losses, ParameterEntry, Scales, Specification};
pub(crate) use registry::{COMPARATOR_RADIUS, STANDARDISE};
pub use rls::Rls;
pub use standardised::Standardised;
pub use vaw::Vaw;
