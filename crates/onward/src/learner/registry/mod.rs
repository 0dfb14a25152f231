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

use super::{auto, perceptron};
use crate::optimizer::{adagrad, dual_averaging, ftl, ftrl, nag, ogd, ogd_strong, osd, sgd};

/// All learners.
pub const LEARNERS: &[&LearnerEntry] = &[
    &auto::ENTRY,
    &nag::ENTRY,
    &ogd::ENTRY,
    &ogd_strong::ENTRY,
    &osd::ENTRY,
    &sgd::ENTRY,
    &dual_averaging::ENTRY,
    &ftrl::ENTRY,
    &ftl::ENTRY,
    &adagrad::ENTRY,
    &perceptron::ENTRY,
];
