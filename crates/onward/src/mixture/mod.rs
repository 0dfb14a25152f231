//! Mixtures: predictors that weigh experts by what they have paid.

pub mod auto;
pub mod expert_mixture;
pub mod experts;

pub use auto::{Auto, LaneCount};
pub use expert_mixture::{ExpertMixture, Predict};
