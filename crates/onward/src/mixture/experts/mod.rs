//! Prediction with expert advice: one file per algorithm.
//!
//! K experts predict side by side. An algorithm gives each a weight w_k, the weights being
//! ≥ 0 with the sum 1, and pays Σ w_k·ℓ_k in a round in which expert k loses ℓ_k. Its regret is
//! what it has paid more than the best of the experts (or the best sequence of them with few
//! switches); its guarantee is a bound on that from what happened. An importance h multiplies
//! the losses of a round.
//!
//! For experts of your own, losses are all that is needed; with learners as experts there are
//! `hedge`, `fixed-share`, `adahedge` and `squint` among [`LEARNERS`](crate::registry::LEARNERS).
//!
//! ```
//! use onward::mixture::experts::{AdaHedge, Experts};
//! let mut experts = AdaHedge::new(2)?;
//! let (mut weights, mut paid, mut best) = ([0.0; 2], 0.0, [0.0; 2]);
//! for round in 0..1000 {
//!     let losses = [f64::from(round % 3 == 0), f64::from(round % 3 != 0)];
//!     weights.copy_from_slice(experts.weights());
//!     paid += weights[0] * losses[0] + weights[1] * losses[1];
//!     experts.observe(&losses, 1.0);
//!     best[0] += losses[0];
//!     best[1] += losses[1];
//! }
//! let regret = paid - f64::min(best[0], best[1]);
//! assert!(regret <= experts.guarantee().bound.unwrap() && regret < 3.0);
//! # Ok::<(), onward::Error>(())
//! ```

pub mod adahedge;
pub mod fixed_share;
pub mod hedge;
mod integral;
pub mod squint;

pub use adahedge::AdaHedge;
pub use fixed_share::{FixedShare, Share};
pub use hedge::{Hedge, HedgeRate};
pub use squint::Squint;

use std::ops::RangeInclusive;

use crate::Error;
use crate::archive::Archive;
use crate::guarantee::{Comparator, Guarantee};

/// No algorithm here weighs more experts than this.
pub const LARGEST_COUNT: usize = 1 << 24;

/// An algorithm of prediction with expert advice.
pub trait Experts: Send + Sync {
    /// The weights of the experts for the next round: from 0 to 1, with the sum 1 but for rounding.
    fn weights(&self) -> &[f64];

    /// A round: takes in the loss of each expert, a finite number, and the importance, ≥ 0. Neither
    /// an importance of 0 nor a round in which all lose the same changes anything. Differences of
    /// losses, times the importance, count up to 1e300.
    ///
    /// # Panics
    /// When there are not as many losses as experts.
    fn observe(&mut self, losses: &[f64], importance: f64);

    /// The bound on Σ h·(⟨w, ℓ⟩ − ℓ_best) from what happened.
    fn guarantee(&self) -> Guarantee;

    /// Name and all parameters.
    fn describe(&self) -> String;

    /// Saves or loads what is needed to continue to the bit. It loads what the same algorithm with the same parameters
    /// saved.
    ///
    /// # Errors
    /// When something is missing or does not match.
    fn persist(&mut self, archive: &mut Archive) -> Result<(), Error>;
}

/// Numbers beyond this count as this.
const LARGEST: f64 = 1e300;

/// The guarantee against the best of the experts.
fn against_the_best(bound: f64) -> Guarantee {
    Guarantee::of_mixture(Comparator::Experts, Ok(bound))
}

/// Refuses a number of experts out of range.
fn expect_count(count: usize) -> Result<usize, Error> {
    match count {
        1..=LARGEST_COUNT => Ok(count),
        _ => Err(Error::parameter(format!("the number of experts must be from 1 to {LARGEST_COUNT}; got {count}"))),
    }
}

/// h·(ℓ_k − the least ℓ), and the largest of these: the range of a round's losses.
fn excess(losses: &[f64], importance: f64, out: &mut [f64]) -> f64 {
    assert_eq!(losses.len(), out.len(), "as many losses as experts");
    if importance.is_nan() || importance <= 0.0 {
        return 0.0;
    }
    let least = least(losses);
    let mut range = 0f64;
    for (out, loss) in out.iter_mut().zip(losses) {
        *out = (importance * (loss - least)).min(LARGEST);
        range = range.max(*out);
    }
    range
}

/// Adds a round to how far each expert is behind the leader.
fn fall_behind(behind: &mut [f64], excess: &[f64]) {
    behind.iter_mut().zip(excess).for_each(|(sum, excess)| *sum = (*sum + excess).min(LARGEST));
    let leader = least(behind);
    behind.iter_mut().for_each(|sum| *sum -= leader);
}

/// w_k ∝ e^(−η·behind_k), the leader being 0 behind.
fn exponential(weights: &mut [f64], behind: &[f64], eta: f64) {
    for (weight, &behind) in weights.iter_mut().zip(behind) {
        *weight = if behind > 0.0 { -(eta * behind).min(f64::MAX) } else { 0.0 };
    }
    normalise(weights);
}

/// From logarithms to weights.
fn normalise(logarithms: &mut [f64]) {
    let most = logarithms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut sum = 0.0;
    for weight in logarithms.iter_mut() {
        *weight = libm::exp(*weight - most);
        sum += *weight;
    }
    logarithms.iter_mut().for_each(|weight| *weight /= sum);
}

/// What mixing with Hoeffding's inequality costs per round: Σ w_k·ℓ_k + ln(Σ w_k·e^(−ηℓ_k))/η is at most
/// η·range²/8, and never more than the range.
fn hoeffding(eta: f64, range: f64) -> f64 {
    (eta * range / 8.0 * range).min(range)
}

/// ln Σ e^x.
fn log_sum(logarithms: impl Iterator<Item = f64> + Clone) -> f64 {
    let most = logarithms.clone().fold(f64::NEG_INFINITY, f64::max);
    most + libm::log(logarithms.map(|x| libm::exp(x - most)).sum())
}

/// The expert that a number from 0 to 1 draws by weight.
pub(crate) fn draw(weights: &[f64], uniform: f64) -> usize {
    let mut left = uniform;
    for (expert, &weight) in weights.iter().enumerate() {
        if left < weight {
            return expert;
        }
        left -= weight;
    }
    // The weights sum to 1 but for rounding.
    weights.iter().rposition(|&weight| weight > 0.0).unwrap_or(0)
}

pub(crate) fn least(losses: &[f64]) -> f64 {
    losses.iter().copied().fold(f64::INFINITY, f64::min)
}

fn largest(numbers: &[f64]) -> f64 {
    numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

/// A column with a number for each expert, all within a range.
fn persist_column(
    archive: &mut Archive,
    name: &str,
    numbers: &mut [f64],
    range: RangeInclusive<f64>,
) -> Result<(), Error> {
    archive.array(name, numbers)?;
    let must = format!("must be within {} and {}", range.start(), range.end());
    archive.check(numbers.iter().all(|number| range.contains(number)), name, &must)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_of_any_size_make_weights() {
        let mut weights = [-1e300, 1e300, 1e300];
        normalise(&mut weights);
        assert_eq!(weights, [0.0, 0.5, 0.5]);
        assert!((log_sum([-1000.0, -1000.0].into_iter()) + 1000.0 - libm::log(2.0)).abs() < 1e-12);
    }

    #[test]
    fn losses_that_are_no_numbers_count_as_the_largest() {
        let mut out = [0.0; 3];
        assert_eq!(excess(&[f64::NAN, 1.0, f64::INFINITY], 2.0, &mut out), LARGEST);
        assert_eq!(out, [LARGEST, 0.0, LARGEST]);
        assert_eq!(excess(&[3.0, 1.0, 2.0], f64::NAN, &mut out), 0.0);
    }

    #[test]
    fn there_is_an_expert_at_least() {
        assert!(AdaHedge::new(0).is_err() && AdaHedge::new(LARGEST_COUNT + 1).is_err());
    }
}
