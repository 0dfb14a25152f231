//! The learners by name: what `--learner name:key=value,…` means.
//!
//! A learner's file ends with its [`LearnerDescriptor`], and [`LEARNERS`] lists it; the command
//! line, the help, the documentation and the battery of tests follow from it.

use std::str::FromStr;

use crate::Error;
use crate::learner::{arow, kernel, least_squares, pa, perceptron, rls, vaw};
use crate::mixture::{auto, expert_mixture};
use crate::optimizer::{
    adagrad, coin, dual_averaging, ftl, ftrl, ftrl_proximal, lms, mirror_descent, nag, nlms, ogd, ogd_strong, ons, osd,
    scinol, sgd,
};
use crate::protocol::{LearnerDescriptor, LearnerSpec};

/// All learners.
pub const LEARNERS: &[&LearnerDescriptor] = &[
    &auto::ENTRY,
    &nag::ENTRY,
    &sgd::ENTRY,
    &ogd::ENTRY,
    &ogd_strong::ENTRY,
    &osd::ENTRY,
    &lms::ENTRY,
    &nlms::ENTRY,
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
    &kernel::descent::ENTRY,
    &kernel::perceptron::ENTRY,
    &kernel::nystrom::ENTRY,
    &kernel::fourier::ENTRY,
    &expert_mixture::HEDGE,
    &expert_mixture::FIXED_SHARE,
    &expert_mixture::ADAHEDGE,
    &expert_mixture::SQUINT,
];

impl FromStr for LearnerSpec {
    type Err = Error;

    /// The specification that a text is, of one of all learners.
    fn from_str(text: &str) -> Result<Self, Error> {
        Self::parse_among(text, LEARNERS)
    }
}
