//! The best predictor in hindsight: the fixed linear predictor û that would have paid least,
//! found by further passes over the rows, with a certificate of how near to the least it is.
//!
//! û minimises the mean loss Σ h ℓ(b + ⟨u, x⟩, y)/Σ h over a [`ComparatorClass`]. It is found to a gap: no
//! predictor of the class pays less than `loss − gap`, which duality proves (`search.rs`, `bundle.rs`). So
//! the regret of whoever paid R per unit weight lies in [R − loss, R − loss + gap].
//!
//! | loss | method |
//! |---|---|
//! | squared, few features | the normal equations with the multiplier of the ball, by Cholesky, to rounding |
//! | other smooth losses | truncated Newton on the ball, preconditioned by the second derivatives of the most frequent features (`search.rs`); where that becomes slow, dual ascent |
//! | losses with kinks | the same Newton method on smoothed losses, the smoothing decreasing until the gap is met |
//! | losses with kinks, many rare features | dual ascent, a slope at a time (`ascent.rs`), where the features are scaled and the rows fit in memory; else Newton, the smoothing also tilting |
//!
//! Rows are walked in shards ([`RowSource`]) by whoever does the work ([`Workers`]): a program may
//! keep them in files and use threads, and the bits stay the same.

mod ascent;
mod beside_bias;
mod bundle;
mod cholesky;
mod passes;
mod preconditioner;
mod regularised;
mod rows;
mod search;
mod small;
mod subspace;
mod surrogate;

use std::fmt;

pub use regularised::{RegularisedBest, regularised};
pub use rows::{LabelledRow, Numbering, RowBlock, RowSource, RowsInMemory, SHARDS, Serial, Workers, share};

use crate::loss::Curvature;
use crate::numeric::linalg::vector;
use crate::{Error, Loss};
use ascent::Ascent;
use bundle::Bundle;
use passes::{Passes, SearchCoordinates, Statistics};
use preconditioner::Preconditioner;
use search::{ENTRIES, FAR, Goal, Search, SearchResult};

/// The predictors that û is the best of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ComparatorClass {
    /// ‖u‖₂ ≤ radius, in the units of the features.
    Ball {
        /// The radius, a finite number above 0.
        radius: f64,
    },
    /// Σ(s_i u_i)² ≤ radius², s_i the root mean square of feature i over the rows, uncentred.
    Standardised {
        /// The radius, a finite number above 0.
        radius: f64,
    },
    /// √(Σ(s_i u_i)²) ≤ radius over all features but the first, the bias, which is 1 in every row; and its weight from `low` to
    /// `high`.
    BallBesideBias {
        /// The radius, a finite number above 0.
        radius: f64,
        /// The least weight of the bias.
        low: f64,
        /// The largest weight of the bias, above `low`.
        high: f64,
    },
    /// All. û is certified against all u of at most ten times its norm √(Σ(s_i u_i)²).
    Unconstrained,
}

impl ComparatorClass {
    /// The radius, if there is one.
    pub fn radius(self) -> Option<f64> {
        match self {
            Self::Ball { radius } | Self::Standardised { radius } | Self::BallBesideBias { radius, .. } => Some(radius),
            Self::Unconstrained => None,
        }
    }
}

impl fmt::Display for ComparatorClass {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ball { radius } => write!(out, "‖u‖₂ ≤ {radius}"),
            Self::Standardised { radius } => {
                write!(out, "Σ(s_i u_i)² ≤ {radius}², s_i the root mean square of feature i")
            }
            Self::BallBesideBias { radius, low, high } => {
                let what = "s_i the root mean square of feature i, and a bias";
                write!(out, "Σ(s_i u_i)² ≤ {radius}², {what} from {low} to {high}")
            }
            Self::Unconstrained => out.write_str("every u of at most ten times its norm √(Σ(s_i u_i)²)"),
        }
    }
}

/// The best predictor in hindsight. Losses are per unit weight.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Best {
    /// What it is the best of.
    pub class: ComparatorClass,
    /// Its mean loss.
    pub loss: f64,
    /// No predictor of the class has a mean loss below `loss − gap`.
    pub gap: f64,
    /// Whether the gap is as small as was asked for.
    pub is_reached: bool,
    /// Its norm as the class measures it: ‖u‖₂, or √(Σ(s_i u_i)²), without the bias where the class bounds it beside the others.
    pub norm: f64,
    /// ‖u‖₂.
    pub raw_norm: f64,
    /// The passes that were made over the rows, all in all.
    pub passes: u32,
    /// The best at ten times the radius; `None` without a radius.
    pub at_ten_times: Option<AtTenTimes>,
    /// u_i of each feature by its number.
    pub weights: Vec<f64>,
}

/// What the best predictor of ten times the radius pays: much less, where the radius is too small
/// to matter.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct AtTenTimes {
    /// The mean loss of the best that was found.
    pub loss: f64,
    /// No predictor of that size has a mean loss below `loss − gap`.
    pub gap: f64,
}

impl Best {
    /// Its score of a row: offset + ⟨u, x⟩.
    pub fn predict(&self, row: LabelledRow<'_>) -> f64 {
        row.offset + row.dot(&self.weights)
    }

    /// The weights other than 0, by index.
    pub fn pairs(&self, numbering: &Numbering) -> Vec<(u32, f64)> {
        let pairs = numbering.indices().iter().copied().zip(self.weights.iter().copied());
        pairs.filter(|&(_, weight)| weight != 0.0).collect()
    }
}

/// Why there is no best predictor.
#[derive(Debug)]
#[non_exhaustive]
pub enum HindsightError<E> {
    /// The rows could not be walked.
    Rows(E),
    /// The question has no answer; the error says why and what to do.
    Refused(Error),
}

impl<E> From<E> for HindsightError<E> {
    fn from(error: E) -> Self {
        Self::Rows(error)
    }
}

/// The most features among which second derivatives are computed.
const MOST_MEMBERS: usize = 512;

/// The same for the squared loss, whose second derivatives are computed once: up to here its best
/// predictor is found to rounding.
const MOST_MEMBERS_SQUARED: usize = 2048;

/// The most minorants that are kept.
const MINORANTS: usize = 40;

/// The gap that rounding allows, as a share of the loss.
const TO_ROUNDING: f64 = 1e-9;

/// The passes after which a search ends, whatever its gap.
pub const MOST_PASSES: u32 = 500;

/// The passes of Newton's method before dual ascent takes over, where it can.
const NEWTON_PASSES: u32 = 160;

/// The passes of dual ascent before it is asked whether it was the right choice, with kinks: where the loss is by then
/// below this share of what the score 0 pays, the rows can nearly be fitted, and Newton's method finds how.
const ASCENT_PASSES: u32 = 60;
const NEARLY_FITTED: f64 = 0.1;

/// The passes that the search at ten times the radius may add.
const PASSES_AT_TEN_TIMES: u32 = 60;

/// The fixed linear predictor of least mean loss, found to a gap that is at most `gap` times its loss
/// (or a thousandth of what a constant score pays, whichever is more). Where that is not reached in
/// [`MOST_PASSES`] passes, or by rounding, the gap that was is told.
///
/// ```
/// use onward::hindsight::{ComparatorClass, RowsInMemory, Serial, best};
/// use onward::{Batch, loss};
///
/// let mut batch = Batch::default();
/// for (x, y) in [(1.0, 2.0), (2.0, 4.5), (-1.0, -2.5)] {
///     batch.push(0, 1.0);
///     batch.push(7, x);
///     batch.finish(Some(y), 1.0);
/// }
/// let mut rows = RowsInMemory::default();
/// rows.record(&batch);
/// let squared = loss::parse("squared")?;
/// let line = best(&rows, &Serial, &*squared, ComparatorClass::Unconstrained, 1e-3).unwrap();
/// // Least squares: intercept −3/14, slope 65/28.
/// assert!((line.weights[1] - 65.0 / 28.0).abs() < 1e-6);
/// # Ok::<(), onward::Error>(())
/// ```
///
/// # Errors
/// When rows cannot be walked; when the loss is not convex, the radius is not a finite number above
/// 0, the gap is not between 0 and 1, or there are no rows; without a radius, when the labels are
/// separated, so that there is no best predictor.
pub fn best<R: RowSource, W: Workers>(
    rows: &R,
    workers: &W,
    loss: &dyn Loss,
    class: ComparatorClass,
    gap: f64,
) -> Result<Best, HindsightError<R::Error>> {
    check(loss, class, gap).map_err(HindsightError::Refused)?;
    match class {
        ComparatorClass::BallBesideBias { radius, low, high } => {
            beside_bias::best(rows, workers, loss, beside_bias::Bounds { radius, low, high }, gap)
        }
        _ => best_of(rows, workers, loss, class, None, gap),
    }
}

/// The best predictor of a ball; the reach of the bias, the first feature, may be given.
fn best_of<R: RowSource, W: Workers>(
    rows: &R,
    workers: &W,
    loss: &dyn Loss,
    class: ComparatorClass,
    reach_of_bias: Option<f64>,
    gap: f64,
) -> Result<Best, HindsightError<R::Error>> {
    let mut passes = Passes::new(rows, workers, loss);
    let statistics = passes.statistics()?;
    if statistics.rows == 0 {
        let message = "the best predictor in hindsight needs a row with a label and a weight above 0; there is none";
        return Err(HindsightError::Refused(Error::parameter(message)));
    }
    let is_quadratic = matches!(loss.curvature(), Curvature::Quadratic(_));
    let (most, passes_worth) = if is_quadratic { (MOST_MEMBERS_SQUARED, 40.0) } else { (MOST_MEMBERS, 12.0) };
    let preconditioner = Preconditioner::new(&statistics, most, passes_worth);
    let is_whole = preconditioner.members() == statistics.counts.iter().filter(|&&count| count > 0).count();
    passes.frame = coordinates(&statistics, class, reach_of_bias);
    let constant = passes.constant(statistics.rows)?;
    let dimension = rows.dimension();
    let bundle = Bundle::new((ENTRIES / dimension.max(1)).min(MINORANTS));
    let mut search = Search {
        passes,
        preconditioner,
        bundle,
        is_whole,
        narrower: 0.0,
        mu: 0.0,
        secant: 0.0,
        scale: 0.0,
        constant,
        last_step: 0,
    };
    let radius = class.radius().unwrap_or(f64::INFINITY);
    let share = if is_quadratic && is_whole { gap.min(TO_ROUNDING) } else { gap };
    let goal = Goal { radius, gap: share, passes: MOST_PASSES };
    let can_ascend = !is_whole && Ascent::fits(&statistics);
    let (found, mut ascent) = find(&mut search, goal, class, can_ascend)?;
    if found.recedes {
        return Err(HindsightError::Refused(Error::parameter(
            "a linear predictor separates the labels, so its loss can be arbitrarily small; give a radius",
        )));
    }
    let mut lower = found.lower;
    let at_ten_times = match class.radius() {
        Some(radius) if (FAR * radius).is_finite() => {
            let passes = search.passes.count() + PASSES_AT_TEN_TIMES;
            let goal = Goal { radius: FAR * radius, gap: (FAR * gap).min(1.0), passes };
            let far = go_on(&mut search, ascent.as_mut(), &found, goal)?;
            // What all of the larger ball cannot fall below, the smaller one cannot.
            lower = lower.max(far.lower).min(found.loss);
            Some(AtTenTimes { loss: far.loss, gap: far.loss - far.lower })
        }
        _ => None,
    };
    let weights = search.passes.frame.raw(&found.v);
    // What was found to less than rounding allows may be good enough.
    let is_reached = found.is_reached || found.loss - lower <= gap * found.loss.abs();
    Ok(Best {
        class,
        loss: found.loss,
        gap: found.loss - lower,
        is_reached,
        norm: vector::norm(&found.v),
        raw_norm: vector::norm(&weights),
        passes: search.passes.count(),
        at_ten_times,
        weights,
    })
}

/// The coordinates in which the class is a ball.
fn coordinates(statistics: &Statistics, class: ComparatorClass, reach_of_bias: Option<f64>) -> SearchCoordinates {
    let deviation = |square: f64| (square / statistics.weight).sqrt();
    let reach = |square: &f64| match class {
        ComparatorClass::Ball { .. } => 1.0,
        _ if deviation(*square) > 0.0 => 1.0 / deviation(*square),
        _ => 0.0,
    };
    let mut reach: Vec<f64> = statistics.squares.iter().map(reach).collect();
    if let (Some(given), Some(bias)) = (reach_of_bias, reach.first_mut()) {
        *bias = given;
    }
    SearchCoordinates { weight: statistics.weight, reach }
}

/// The best predictor of the class, by the method for the loss; and the dual ascent that found it, if one did.
///
/// Measured on the flights (10,000 features) with the hinge loss: ascent from 0 comes to a gap of 1e-3 in 200
/// passes, where Newton's method is at 3.5e-3 after 500; on raw features, of unlike sizes, it is the other way
/// round. Without kinks Newton's method is better, and ascent takes over where it becomes slow.
fn find<'a, R: RowSource, W: Workers>(
    search: &mut Search<'a, R, W>,
    goal: Goal,
    class: ComparatorClass,
    can_ascend: bool,
) -> Result<(SearchResult, Option<Ascent<'a>>), R::Error> {
    let origin = vec![0.0; search.passes.frame.reach.len()];
    let is_kinked = search.passes.loss().kinks(1.0).is_some();
    let is_raw = matches!(class, ComparatorClass::Ball { .. });
    if !can_ascend || (is_kinked && is_raw) {
        return Ok((search.run(origin, goal)?, None));
    }
    let mut found = match is_kinked {
        true => SearchResult::nothing(origin),
        false => search.run(origin, Goal { passes: goal.passes.min(NEWTON_PASSES), ..goal })?,
    };
    if found.is_reached || found.recedes {
        return Ok((found, None));
    }
    let Some(mut ascent) = Ascent::new(&search.passes, &found.v)? else {
        // Nothing to climb by: as if it could not.
        return Ok((search.run(found.v, goal)?, None));
    };
    if is_kinked {
        search.ascend(&mut ascent, &mut found, Goal { passes: goal.passes.min(ASCENT_PASSES), ..goal })?;
        if !found.is_reached && found.loss < NEARLY_FITTED * search.scale {
            let other = search.run(vec![0.0; found.v.len()], goal)?;
            return Ok(if other.loss < found.loss || other.is_reached { (other, None) } else { (found, Some(ascent)) });
        }
    }
    if !found.is_reached {
        search.ascend(&mut ascent, &mut found, goal)?;
    }
    Ok((found, Some(ascent)))
}

/// Goes on from what was found in a larger ball, by what found it.
fn go_on<R: RowSource, W: Workers>(
    search: &mut Search<'_, R, W>,
    ascent: Option<&mut Ascent<'_>>,
    found: &SearchResult,
    goal: Goal,
) -> Result<SearchResult, R::Error> {
    let Some(ascent) = ascent else {
        search.passes.level();
        search.mu *= if search.passes.loss().kinks(1.0).is_some() { 16.0 } else { 1.0 };
        return search.run(found.v.clone(), goal);
    };
    let mut far = SearchResult { lower: f64::NEG_INFINITY, ..found.clone() };
    search.ascend(ascent, &mut far, goal)?;
    Ok(far)
}

/// Refuses what has no answer.
fn check(loss: &dyn Loss, class: ComparatorClass, gap: f64) -> Result<(), Error> {
    if loss.curvature() == Curvature::None {
        return Err(Error::parameter(format!(
            "the best predictor in hindsight can be found only for convex losses, and {} is not convex; use hinge or \
             logistic, with a learner that takes it",
            loss.name()
        )));
    }
    if let Some(radius) = class.radius()
        && !(radius.is_finite() && radius > 0.0)
    {
        return Err(Error::parameter(format!("the radius must be a finite number above 0; got {radius}")));
    }
    if let ComparatorClass::BallBesideBias { low, high, .. } = class
        && !(low.is_finite() && high.is_finite() && low < high)
    {
        return Err(Error::parameter(format!("the bias must be within finite numbers; got {low} to {high}")));
    }
    if !(gap > 0.0 && gap < 1.0) {
        return Err(Error::parameter(format!("the relative gap must be above 0 and below 1; got {gap}")));
    }
    Ok(())
}
