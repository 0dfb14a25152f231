//! Learners, by the names that `--learner` takes.
//!
//! ```
//! use onward::protocol::LearnerSpec;
//! let specification: LearnerSpec = "ogd:radius=5".parse()?;
//! let learner = specification.build(onward::loss::parse("logistic")?, None)?;
//! assert_eq!(learner.describe(), "ogd:eta=auto,radius=5,step=gradient");
//! # Ok::<(), onward::Error>(())
//! ```

pub mod arow;
mod columns;
pub mod kernel;
pub mod least_squares;
pub mod pa;
pub mod perceptron;
mod ridge;
pub mod rls;
pub mod vaw;

pub use arow::{Arow, Covariance};
pub use least_squares::{LeastSquares, LeastSquaresForm};
pub use pa::{Aggressiveness, PassiveAggressive};
pub use perceptron::{AveragedPerceptron, Perceptron, SecondOrderPerceptron, VotedPerceptron};
pub use rls::{Regularisation, Rls};
pub use vaw::Vaw;

pub use crate::protocol::{Clip, LearnerDescriptor, LearnerSpec, Linear, Losses, Params, ProblemBounds, Standardised};
