//! A guarantee: how much regret a run can have, from sums of what happened.

mod comparator;
mod novikoff;
mod regularised;

pub use comparator::Comparator;
pub use novikoff::Novikoff;
pub use regularised::Regularised;

use serde::{Deserialize, Serialize};

use crate::numeric::sum::LARGEST_SUM;

/// Where a guarantee comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum GuaranteeKind {
    /// The learner's own theorem.
    Own,
    /// The certificate that holds for any predictor and any convex loss.
    Universal,
    /// The same by a scaled dual, which is never above what was paid where losses are not negative.
    Dual,
    /// The certificate of the curvature of the loss, against every linear predictor whose scores stay in a range.
    Curved,
    /// A mixture's bound against its best expert.
    Mixture,
}

/// A bound on the regret against every comparator of a class.
#[derive(Debug, Clone, PartialEq)]
pub struct Guarantee {
    /// Where it comes from.
    pub kind: GuaranteeKind,
    /// The class of comparators; `None` when there is no bound.
    pub comparator: Option<Comparator>,
    /// The bound on the regret summed over all rounds, in units of the loss; or
    /// the reason why there is none.
    pub bound: Result<f64, String>,
}

impl Guarantee {
    /// The learner's own bound against a class.
    pub fn own(comparator: Comparator, bound: f64) -> Self {
        Self { kind: GuaranteeKind::Own, comparator: Some(comparator), bound: Ok(bound) }
    }

    /// The bound of a mixture against a class of its experts, or the reason why there is none.
    pub(crate) fn of_mixture(comparator: Comparator, bound: Result<f64, String>) -> Self {
        Self { kind: GuaranteeKind::Mixture, comparator: Some(comparator), bound }
    }

    /// No bound of the learner's own, with the reason.
    pub fn missing(reason: impl Into<String>) -> Self {
        Self::none(GuaranteeKind::Own, reason)
    }

    /// No guarantee of a kind, with the reason.
    pub fn none(kind: GuaranteeKind, reason: impl Into<String>) -> Self {
        Self { kind, comparator: None, bound: Err(reason.into()) }
    }

    /// The class in words, with the word `radius` for the radius; empty when there is no bound.
    pub fn description(&self) -> String {
        self.comparator.map_or_else(String::new, |comparator| comparator.description())
    }

    /// The radius of the class, if it has one.
    pub fn radius(&self) -> Option<f64> {
        self.comparator.and_then(|comparator| comparator.radius())
    }
}

/// The bound, unless a sum that it is made of had to be held.
pub(crate) fn bound_of_sums(comparator: Comparator, bound: f64, sums: &[f64]) -> Guarantee {
    if sums.iter().all(|&sum| sum < LARGEST_SUM) {
        return Guarantee::own(comparator, bound);
    }
    Guarantee::missing(OVERFLOW)
}

/// Why a bound ends where sums could not be kept.
pub(crate) const OVERFLOW: &str = "gradients were so large that their sums could not be kept";
