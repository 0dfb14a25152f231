//! The best predictor of a ball of all features but the bias, with the bias in an interval.
//!
//! The search knows balls. With every score moved by the middle of the interval, and the bias measured by a unit so large
//! that it is nearly free, the class is inside a ball that is hardly larger: what nobody pays less than there, nobody does in the class.
//! The best of the ball is brought into the class. Where its bias e is beyond an end e′ of the interval, the best of the class has the
//! bias e′ (the problem is convex), which is then fixed, and the search repeated for the other weights.
//!
//! # The certificate at an end
//! Let f be the loss f_e at the point found with bias e, and no u with the bias e′ pay less than F. From a u of the class, with the
//! bias e″ on the inner side, the way to that point crosses bias e′ at the share t of the way. There the loss is
//! at least F, and by convexity at most (1 − t)·f(u) + t·f_e. So f(u) ≥ F − (f_e − F)·t/(1 − t), and t/(1 − t) =
//! |e″ − e′|/|e − e′| is at most the width of the interval over how far e is beyond it.

use super::{Best, ComparatorClass, HindsightError, LabelledRow, RowSource, Workers, best_of};
use crate::Loss;
use crate::numeric::sum::Sum;

/// The interval of the bias is this share of the larger ball: its radius is √(1 + share²) times that of the class.
const SHARE: f64 = 0.05;

/// The number of the bias.
const BIAS: usize = 0;

/// The class.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    pub(super) radius: f64,
    pub(super) low: f64,
    pub(super) high: f64,
}

/// Rows whose scores all start from somewhat more.
struct Shifted<'a, R> {
    rows: &'a R,
    shift: f64,
}

impl<R: RowSource> RowSource for Shifted<'_, R> {
    type Error = R::Error;

    fn dimension(&self) -> usize {
        self.rows.dimension()
    }

    fn shards(&self) -> usize {
        self.rows.shards()
    }

    fn visit(&self, shard: usize, each: &mut dyn FnMut(LabelledRow<'_>)) -> Result<(), R::Error> {
        self.rows.visit(shard, &mut |row| each(LabelledRow { offset: row.offset + self.shift, ..row }))
    }
}

/// The best predictor of the class.
pub(super) fn best<R: RowSource, W: Workers>(
    rows: &R,
    workers: &W,
    loss: &dyn Loss,
    bounds: Bounds,
    gap: f64,
) -> Result<Best, HindsightError<R::Error>> {
    let Bounds { radius, low, high } = bounds;
    let (middle, half) = (0.5 * (low + high), 0.5 * (high - low));
    let larger = ComparatorClass::Standardised { radius: radius * SHARE.hypot(1.0) };
    let reach = Some(half / (radius * SHARE));
    let free = best_of(&Shifted { rows, shift: middle }, workers, loss, larger, reach, gap)?;
    let class = ComparatorClass::BallBesideBias { radius, low, high };
    let target = free.gap.max(gap * free.loss.abs());
    let lower = free.loss - free.gap;
    let mut passes = free.passes;
    // The norm without the bias.
    let beside = free.weights.first().map_or(0.0, |bias| bias * SHARE * radius / half);
    let norm = (free.norm * free.norm - beside * beside).max(0.0).sqrt();
    let mut weights = free.weights.clone();
    let kept = if norm > radius { radius / norm * (1.0 - 1e-15) } else { 1.0 };
    weights.iter_mut().for_each(|weight| *weight *= kept);
    if let (Some(bias), Some(found)) = (weights.first_mut(), free.weights.first()) {
        *bias = middle + found;
    }
    let mut pay = |weights: &[f64]| {
        passes += 1;
        mean_loss(rows, workers, loss, weights)
    };
    let found = Best { class, norm: norm * kept, ..free };
    let beyond = weights.first().copied().unwrap_or_default();
    let end = beyond.clamp(low, high);
    let outside = if beyond == end { None } else { Some(pay(&weights)?) };
    if let Some(bias) = weights.first_mut() {
        *bias = end;
    }
    let paid = pay(&weights)?;
    let Some(outside) = outside.filter(|_| paid - lower > target) else {
        return Ok(finished(found, weights, paid, lower, passes, gap));
    };
    let at_end = Shifted { rows, shift: end };
    let fixed = best_of(&at_end, workers, loss, ComparatorClass::Standardised { radius }, Some(0.0), gap)?;
    let floor = fixed.loss - fixed.gap;
    let share = (high - low) / (beyond - end).abs();
    let lower = lower.max(floor - share * (outside - floor).max(0.0));
    let mut weights = fixed.weights.clone();
    if let Some(bias) = weights.get_mut(BIAS) {
        *bias = end;
    }
    let found = Best { norm: fixed.norm, ..found };
    Ok(finished(found, weights, fixed.loss, lower, passes + fixed.passes, gap))
}

/// What was found, with all that follows from it.
fn finished(found: Best, weights: Vec<f64>, loss: f64, lower: f64, passes: u32, gap: f64) -> Best {
    let lower = lower.min(loss);
    let raw_norm = crate::numeric::linalg::vector::norm(&weights);
    let is_reached = loss - lower <= 1.5 * gap * loss.abs() || (found.is_reached && loss - lower <= found.gap);
    Best { loss, gap: loss - lower, is_reached, raw_norm, passes, weights, ..found }
}

/// The mean loss of a predictor.
fn mean_loss<R: RowSource, W: Workers>(
    rows: &R,
    workers: &W,
    loss: &dyn Loss,
    weights: &[f64],
) -> Result<f64, R::Error> {
    let shards = workers.map(rows.shards(), &|shard| {
        let (mut paid, mut weight) = (Sum::default(), Sum::default());
        rows.visit(shard, &mut |row| {
            paid.add(row.weight * loss.value(row.offset + row.dot(weights), row.label));
            weight.add(row.weight);
        })
        .map(|()| (paid.total(), weight.total()))
    });
    let (mut paid, mut weight) = (0.0, 0.0);
    for shard in shards {
        let (more, heavier) = shard?;
        (paid, weight) = (paid + more, weight + heavier);
    }
    Ok(paid / weight)
}
