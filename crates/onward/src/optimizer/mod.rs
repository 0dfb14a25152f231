//! Online convex optimisation: one file an algorithm.
//!
//! An optimiser sees (sub)gradients, one a round, and keeps a point w. The
//! gradient of a linear predictor's loss is a number times the features, z =
//! h·g·x, so one interface serves both: learning, and general online convex
//! optimisation, where the features are the gradient and the number is 1.

pub mod adagrad;
pub mod adagrad_dual;
pub mod adagrad_full;
pub mod coin;
pub mod dual_averaging;
pub mod ftl;
pub mod ftrl;
pub mod ftrl_proximal;
pub mod mirror_descent;
pub mod nag;
pub mod ogd;
pub mod ogd_strong;
pub mod ons;
pub mod osd;
pub mod scinol;
pub mod sgd;

pub use adagrad::AdaGrad;
pub use adagrad_dual::AdaGradDual;
pub use adagrad_full::AdaGradFull;
pub use coin::Coin;
pub use dual_averaging::{DualAveraging, LazyRate};
pub use ftl::{Ftl, RunningMean};
pub use ftrl::Ftrl;
pub use ftrl_proximal::FtrlProximal;
pub use mirror_descent::{Entropic, PNorm};
pub use nag::Nag;
pub use ogd::{Ogd, Rate};
pub use ogd_strong::OgdStrong;
pub use ons::Ons;
pub use scinol::Scinol;
pub use sgd::Sgd;

use crate::model::State;
use crate::regret::{Comparator, Guarantee, GuaranteeKind};
use crate::{Error, Features};

/// How far to move: w_i += u·x_i·rate_i, where u is chosen by the caller.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Step {
    /// By gradient flow of the loss for this time, where the score moves by q for u = 1
    /// (see [`Loss::flow`](crate::Loss::flow)).
    Flow {
        /// The time, the importance weight included.
        time: f64,
        /// q = Σ x²·rate.
        q: f64,
    },
    /// By the gradient as it is: u = −time·g.
    Gradient {
        /// The step size, the importance weight included.
        time: f64,
    },
}

/// An algorithm of online convex optimisation on sparse vectors.
pub trait Optimizer: Send + Sync {
    /// ⟨w, x⟩.
    fn dot(&self, x: Features<'_>) -> f64;

    /// The row of a round to come: what belongs to it may be fetched from memory. Changes nothing.
    fn expect(&mut self, _x: Features<'_>) {}

    /// ⟨w, x⟩ at the beginning of a round: as [`dot`](Self::dot), and where the weights of x were
    /// found may be remembered for [`prepare`](Self::prepare), which is then about the same x.
    fn begin(&mut self, x: Features<'_>) -> f64 {
        self.dot(x)
    }

    /// The round paid this loss, its weight of importance included: for rates that follow the
    /// loss. It is computed only if it is asked for.
    fn charge(&mut self, _loss: &dyn Fn() -> f64, _weight: f64) {}

    /// Takes in the gradient h·g·x, x being that of [`begin`](Self::begin), and sets this round's rates.
    fn prepare(&mut self, g: f64, h: f64, x: Features<'_>) -> Step;

    /// Moves: w_i += u·x_i·rate_i with the rates that were set, then projects.
    fn advance(&mut self, u: f64, x: Features<'_>);

    /// A round of general online convex optimisation: takes in the gradient
    /// `scalar`·x and moves against it.
    fn observe(&mut self, scalar: f64, x: Features<'_>) {
        self.begin(x);
        let time = match self.prepare(scalar, 1.0, x) {
            Step::Flow { time, .. } | Step::Gradient { time } => time,
        };
        self.advance(-time * scalar, x);
    }

    /// w_i.
    fn weight(&self, index: u32) -> f64;

    /// The weights of many features.
    fn weights(&self, indices: &[u32]) -> Vec<f64> {
        indices.iter().map(|&index| self.weight(index)).collect()
    }

    /// The features that have a weight, and their weights, where [`dot`](Self::dot) is their Σ w_i·x_i to the bit.
    fn fixed(&self) -> Option<(Vec<u32>, Vec<f64>)> {
        None
    }

    /// The average of the points so far, as (index, weight), where it is kept.
    fn averaged(&self) -> Option<Vec<(u32, f64)>> {
        None
    }

    /// The guarantee of the algorithm's theorem, from sums of what happened.
    fn guarantee(&self) -> Guarantee;

    /// Name and all parameters.
    fn describe(&self) -> String;

    /// All that is needed to continue to the bit.
    fn state(&self) -> State;

    /// Continues from a saved state.
    ///
    /// # Errors
    /// When something is missing or does not match.
    fn restore(&mut self, state: &State) -> Result<(), Error>;
}

/// Sums of squares are held within this, which only values near the ends of f32 together with
/// weights near the ends of theirs can reach: rates stay above 0 and everything finite.
const LARGEST_SUM: f64 = 1e300;

/// A sum, held within what can be squared, divided and saved.
#[inline]
pub(crate) fn held(sum: f64) -> f64 {
    sum.min(LARGEST_SUM)
}

/// The bound, unless a sum that it is made of had to be held.
pub(crate) fn bound_of_sums(comparator: Comparator, bound: f64, sums: &[f64]) -> Guarantee {
    if sums.iter().all(|&sum| sum < LARGEST_SUM) {
        return Guarantee::own(comparator, bound);
    }
    Guarantee::none(GuaranteeKind::Own, "gradients were so large that their sums could not be kept")
}

/// Why there is no guarantee when a row had features that a simplex does not have.
pub(crate) const BEYOND: &str = "rows had features at or above the dimension of the simplex, which have no weights there: give a dimension above all \
     indices (2^N for features hashed with --bits N)";

/// Refuses a rate (or what rates are made of) that sums of squares could not hold.
pub(crate) fn expect_rate(name: &str, value: f64) -> Result<f64, Error> {
    if (1e-30..=1e30).contains(&value) {
        return Ok(value);
    }
    Err(Error::parameter(format!(
        "{name} is {value:?}: it is a number from 1e-30 to 1e30, so that its square neither vanishes nor overflows"
    )))
}

/// Refuses a number of rounds that no stream has.
pub(crate) fn expect_rounds(rounds: f64) -> Result<f64, Error> {
    if (1.0..=1e18).contains(&rounds) {
        return Ok(rounds);
    }
    Err(Error::parameter(format!(
        "rounds is {rounds}: it is a number from 1 to 1e18, the examples that a stream can have"
    )))
}

/// Refuses a parameter that is not positive and finite.
pub(crate) fn expect_positive(name: &str, value: f64) -> Result<f64, Error> {
    if value.is_finite() && value > 0.0 {
        return Ok(value);
    }
    let why = if name == "radius" { ", for a class of size 0 has one predictor, which is 0" } else { "" };
    Err(Error::parameter(format!("{name} is {value}: it is a finite number above 0{why}")))
}
