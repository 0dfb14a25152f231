//! The learners by name: what `--learner name:key=value,…` means.
//!
//! A learner's file ends with its [`LearnerEntry`], and [`LEARNERS`] lists it; the command
//! line, the help, the documentation and the battery of tests follow from it.

mod arguments;
mod entry;
mod scales;
mod specification;

pub use arguments::Arguments;
pub(crate) use entry::{COMPARATOR_RADIUS, STANDARDISE};
pub use entry::{LearnerEntry, Losses, ParameterEntry};
pub use scales::Scales;
pub use specification::Specification;

use super::{arow, auto, least_squares, pa, perceptron, rls, vaw};
use crate::optimizer::{adagrad, nag, ogd, ogd_strong};

/// All learners.
pub const LEARNERS: &[&LearnerEntry] = &[
    &auto::ENTRY,
    &nag::ENTRY,
    &ogd::ENTRY,
    &ogd_strong::ENTRY,
    &adagrad::ENTRY,
    &perceptron::ENTRY,
    &pa::ENTRY,
    &arow::ENTRY,
    &rls::ENTRY,
    &vaw::ENTRY,
    &least_squares::ENTRY,
];
