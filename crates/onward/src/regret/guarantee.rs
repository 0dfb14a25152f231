//! A guarantee: how much regret a run can have, from sums of what happened.

use serde::Serialize;

/// Where a guarantee comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum GuaranteeKind {
    /// The learner's own theorem.
    Own,
    /// The certificate that holds for any predictor and any convex loss.
    Universal,
    /// A mixture's bound against its best expert.
    Mixture,
}

/// A bound on the regret against every comparator of a class.
#[derive(Debug, Clone, PartialEq)]
pub struct Guarantee {
    /// Where it comes from.
    pub kind: GuaranteeKind,
    /// The class of comparators, in words.
    pub comparator: String,
    /// The radius of the class.
    pub radius: Option<f64>,
    /// The bound on the regret summed over all rounds, in units of the loss; or
    /// the reason why there is none.
    pub bound: Result<f64, String>,
}

impl Guarantee {
    /// No guarantee, with the reason.
    pub fn none(kind: GuaranteeKind, reason: impl Into<String>) -> Self {
        Self { kind, comparator: String::new(), radius: None, bound: Err(reason.into()) }
    }
}
