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

use super::{arow, auto, experts, kernel, least_squares, pa, perceptron, rls, vaw};
use crate::optimizer::{
    adagrad, coin, dual_averaging, ftl, ftrl, ftrl_proximal, mirror_descent, nag, ogd, ogd_strong, ons, osd, scinol,
    sgd,
};

/// All learners.
pub const LEARNERS: &[&LearnerEntry] = &[
    &auto::ENTRY,
    &nag::ENTRY,
    &sgd::ENTRY,
    &ogd::ENTRY,
    &ogd_strong::ENTRY,
    &osd::ENTRY,
    &adagrad::ENTRY,
    &ftl::ENTRY,
    &ftrl::ENTRY,
    &ftrl_proximal::ENTRY,
    &dual_averaging::ENTRY,
    &mirror_descent::ENTRY,
    &ons::ENTRY,
    &coin::ENTRY,
    &scinol::ENTRY,
    &perceptron::ENTRY,
    &pa::ENTRY,
    &arow::ENTRY,
    &rls::ENTRY,
    &vaw::ENTRY,
    &least_squares::ENTRY,
    &kernel::DESCENT,
    &kernel::PERCEPTRON,
    &kernel::NYSTROM,
    &kernel::FOURIER,
    &experts::HEDGE,
    &experts::FIXED_SHARE,
    &experts::ADAHEDGE,
    &experts::SQUINT,
];
