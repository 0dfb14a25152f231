//! Dual ascent: the search where the losses of thousands of rows are at their kinks.
//!
//! The lower bound of `search.rs` is a concave function of the slopes α_t of the rows:
//! D(α) = Σ h(ℓ(q) + α(b − q))/Σ h − U‖θ‖, θ = Σ h α x/Σ h. Here it is climbed directly, one slope at a
//! time (stochastic dual coordinate ascent: Shalev-Shwartz and Zhang 2013), around a centre v₀ that
//! moves (the proximal point method: Rockafellar 1976; on the dual it is the method of multipliers).
//! With z = v₀ − θ/λ and v the point of the ball nearest to z, the slope of a row becomes that of
//! the loss at the score p′ = p + κ(α − α′), κ = h‖x‖²/(λΣh), p the score that v gives it. Along this
//! slope the objective is largest there (on the edge of the ball, a bound on it
//! from below). The slope lies between those of the loss whatever its kinks, and z follows at the
//! cost of the row. After a pass v is the next centre. As v comes to the best predictor, θ comes to
//! what holds it in the ball: 0 if nothing does.
//!
//! Where the optimum is at thousands of kinks, as with the hinge loss and features that few rows
//! have, Newton's method on smoothed losses has to find out which; here each row sees its own.
//!
//! Rows are taken in an order drawn once, the same for all runs: neighbours in a stream are too much
//! alike for their turns to follow each other. They are copied into memory in that order.

use super::passes::{Assessment, AssessmentSums, Passes, SearchCoordinates, Statistics, recedes};
use super::rows::{LabelledRow, RowSource, SHARDS, Workers};
use crate::Loss;
use crate::loss::{InverseLink, Kinks};
use crate::numeric::linalg::vector::norm;
use crate::numeric::rng::SplitMix64;
use crate::numeric::sum::{Sum, sum};

/// Rows that take more memory are not copied.
const MOST_BYTES: u64 = 256 << 20;

/// What λ is multiplied by: with kinks, and without.
const PULL_KINKED: f64 = 2.0;
const PULL_SMOOTH: f64 = 0.02;

/// With kinks λ is corrected so much a turn when of the two parts of the gap, what the losses are above their
/// tangents and U‖θ‖, one is this many times the other: with a large λ the former falls faster, with a small one the
/// latter.
const CORRECTION: f64 = 1.05;
const UNEVEN: f64 = 4.0;

/// Where the loss has fallen to less than one part in this many, λ falls with it: rows that can be fitted are fitted
/// by long steps.
const FALLEN: f64 = 4.0;

/// So far and no farther, where it comes to nothing.
const FARTHEST: f64 = 1e-12;

/// The passes of the rows that a turn and its state are worth.
pub(super) const PASSES_OF_A_TURN: u32 = 2;

/// A row, its entries apart.
#[derive(Debug, Clone, Copy)]
struct AscentRow {
    start: usize,
    end: usize,
    label: f64,
    weight: f64,
    offset: f64,
    /// h‖x‖²/Σ h in the coordinates of the search.
    square: f64,
    /// α.
    slope: f64,
    /// ℓ(q) − αq.
    intercept: f64,
}

/// The rows, with a slope each.
pub(super) struct Ascent<'a> {
    loss: &'a dyn Loss,
    lines: Vec<AscentRow>,
    entries: Vec<(u32, f32)>,
    /// Of each feature r, u = r∘v, and Σ h.
    frame: SearchCoordinates,
    /// λ.
    pull: f64,
    /// λ before the loss fell.
    base: f64,
    /// The mean loss at first, above the least.
    first_loss: f64,
    /// The mean of what each loss is at least.
    least: f64,
    /// v₀.
    pub(super) centre: Vec<f64>,
}

/// A coordinate of z, and the square of its reach.
#[derive(Debug, Clone, Copy)]
struct AscentCoordinate {
    /// r·z.
    u: f64,
    square: f64,
}

impl<'a> Ascent<'a> {
    /// Whether the copies of the rows, two for a moment, take no more than [`MOST_BYTES`].
    pub(super) fn fits(statistics: &Statistics) -> bool {
        let of_rows = statistics.rows.saturating_mul(size_of::<AscentRow>() as u64);
        let of_values = statistics.values.saturating_mul(2 * size_of::<(u32, f32)>() as u64);
        of_rows.saturating_add(of_values) <= MOST_BYTES
    }

    /// Around v: from the slopes of the loss there or, with kinks, from slopes of 0. None where there is
    /// nothing to climb.
    pub(super) fn new<R: RowSource, W: Workers>(
        passes: &Passes<'a, R, W>,
        v: &[f64],
    ) -> Result<Option<Self>, R::Error> {
        let (loss, frame) = (passes.loss(), &passes.frame);
        let u = frame.raw(v);
        let is_kinked = loss.kinks(1.0).is_some();
        let (mut lines, mut entries) = (Vec::new(), Vec::new());
        let (mut losses, mut slopes, mut squares) = (Sum::default(), Sum::default(), Sum::default());
        let mut leasts = Sum::default();
        passes.each(&mut |row: LabelledRow<'_>| {
            let p = row.offset + row.dot(&u);
            let (value, slope) = (loss.value(p, row.label), loss.derivative(p, row.label));
            let start = entries.len();
            entries.extend(row.numbers.iter().copied().zip(row.values.iter().copied()));
            let square = row.weight / frame.weight * square(row, &frame.reach);
            losses.add(row.weight * value);
            leasts.add(row.weight * least(loss, row.label));
            slopes.add(row.weight * slope * slope);
            squares.add(square);
            // The tangent where these losses are least, which is 0.
            let (slope, intercept) = if is_kinked { (0.0, 0.0) } else { (slope, value - slope * p) };
            let LabelledRow { label, weight, offset, .. } = row;
            lines.push(AscentRow { start, end: entries.len(), label, weight, offset, square, slope, intercept });
        })?;
        // A slope that changes by what slopes are moves the score of its row by a part of what losses are over
        // slopes: half of it with kinks, and fifty times it without, where Newton's method has
        // found the place and steps should be long.
        let factor = if is_kinked { PULL_KINKED } else { PULL_SMOOTH };
        let open = losses.total() - leasts.total();
        let pull = factor * squares.total() / lines.len() as f64 * slopes.total() / open;
        if !(pull.is_finite() && pull > 0.0) {
            return Ok(None);
        }
        let mut ascent = Self {
            loss,
            lines,
            entries,
            frame: frame.clone(),
            pull,
            base: pull,
            first_loss: open / frame.weight,
            least: leasts.total() / frame.weight,
            centre: v.to_vec(),
        };
        ascent.shuffle();
        Ok(Some(ascent))
    }

    /// Puts rows, and their entries, into a drawn order.
    fn shuffle(&mut self) {
        let mut random = SplitMix64::new(0);
        for at in (1..self.lines.len()).rev() {
            let other = (random.uniform() * (at + 1) as f64) as usize;
            self.lines.swap(at, other.min(at));
        }
        let mut entries = Vec::with_capacity(self.entries.len());
        for line in &mut self.lines {
            let start = entries.len();
            entries.extend_from_slice(&self.entries[line.start..line.end]);
            (line.start, line.end) = (start, entries.len());
        }
        self.entries = entries;
    }

    /// Gives each row its turn, and makes the next centre of where that leads. `radius` is that of the ball, `reach`
    /// how far predictors are that it is compared with, and `state` what there is now.
    pub(super) fn turn(&mut self, radius: f64, reach: f64, state: &Assessment) {
        if self.loss.kinks(1.0).is_some() {
            let (open, held) = (state.loss - state.tangents, reach * norm(&state.gradient));
            if held > UNEVEN * open {
                self.base /= CORRECTION;
            } else if open > UNEVEN * held {
                self.base *= CORRECTION;
            }
        }
        self.pull = self.base * (FALLEN * (state.loss - self.least) / self.first_loss).clamp(FARTHEST, 1.0);
        let gradient = &state.gradient;
        let share = |length: f64| if length > radius { radius / length } else { 1.0 };
        let z = self.centre.iter().zip(gradient).map(|(centre, theta)| centre - theta / self.pull);
        let mut square: f64 = z.clone().map(|z| z * z).sum();
        let mut coordinates: Vec<AscentCoordinate> = z
            .zip(&self.frame.reach)
            .map(|(z, reach)| AscentCoordinate { u: z * reach, square: reach * reach })
            .collect();
        let mut kept = share(square.sqrt());
        for line in &mut self.lines {
            let entries = &self.entries[line.start..line.end];
            let along: f64 = entries.iter().map(|&(at, value)| coordinates[at as usize].u * f64::from(value)).sum();
            let kappa = line.square / self.pull;
            let (slope, intercept) = response(self.loss, line.offset + kept * along, line.label, line.slope, kappa);
            let change = line.slope - slope;
            if change == 0.0 {
                continue;
            }
            (line.slope, line.intercept) = (slope, intercept);
            let step = change * line.weight / (self.frame.weight * self.pull);
            for &(at, value) in entries {
                let coordinate = &mut coordinates[at as usize];
                coordinate.u += step * coordinate.square * f64::from(value);
            }
            if radius.is_finite() {
                // ‖z + step·x‖², as ‖x‖² = κλΣh/h.
                square += step * (2.0 * along + change * kappa);
                kept = share(square.max(0.0).sqrt());
            }
        }
        let v = coordinates
            .iter()
            .zip(&self.frame.reach)
            .map(|(coordinate, &reach)| if reach > 0.0 { coordinate.u / reach } else { 0.0 });
        self.centre = v.collect();
        let kept = share(norm(&self.centre));
        self.centre.iter_mut().for_each(|v| *v *= kept);
    }

    /// The loss at the centre, which is not smoothed, and what the slopes prove.
    pub(super) fn assess<W: Workers>(&self, workers: &W) -> Assessment {
        let (u, link) = (self.frame.raw(&self.centre), self.loss.inverse_link());
        let share = |shard: usize| shard * self.lines.len() / SHARDS..(shard + 1) * self.lines.len() / SHARDS;
        let shards = workers.map(SHARDS, &|shard| {
            let mut sums = AssessmentSums::new(u.len());
            for line in &self.lines[share(shard)] {
                let entries = &self.entries[line.start..line.end];
                let along: f64 = entries.iter().map(|&(at, value)| u[at as usize] * f64::from(value)).sum();
                sums.loss.add(line.weight * self.loss.value(line.offset + along, line.label));
                sums.recedes &= recedes(link, along, line.label);
                sums.tangents.add(line.weight * (line.intercept + line.slope * line.offset));
                let step = line.weight * line.slope;
                if step != 0.0 {
                    entries.iter().for_each(|&(at, value)| sums.gradient[at as usize] += step * f64::from(value));
                }
            }
            sums
        });
        AssessmentSums::assess(shards, &self.frame)
    }
}

/// What a loss is at least, at whatever score.
fn least(loss: &dyn Loss, y: f64) -> f64 {
    match loss.inverse_link() {
        // Poisson's leaves a constant out: e^p − yp is least at p = ln y.
        InverseLink::Log if y > 0.0 => y - y * libm::log(y),
        _ => 0.0,
    }
}

/// ‖x‖² in the coordinates of the search. What a row has twice counts as its sum.
fn square(row: LabelledRow<'_>, reach: &[f64]) -> f64 {
    let mut entries: Vec<(u32, f64)> =
        row.numbers.iter().zip(row.values).map(|(&at, &value)| (at, f64::from(value) * reach[at as usize])).collect();
    entries.sort_unstable_by(|one, other| one.0.cmp(&other.0).then(one.1.total_cmp(&other.1)));
    let sums = entries.chunk_by(|one, other| one.0 == other.0).map(|same| same.iter().map(|&(_, value)| value).sum());
    sum(sums.map(|value: f64| value * value))
}

/// The slope α′ and the intercept ℓ(q) − α′q for which α′ is a slope of the loss at p′ = p + κ(α − α′).
fn response(loss: &dyn Loss, p: f64, y: f64, slope: f64, kappa: f64) -> (f64, f64) {
    // p′ + κα′, which grows with p′.
    let target = p + kappa * slope;
    let Some(Kinks { slope: left, jumps }) = loss.kinks(y) else {
        return smooth_response(loss, p, y, slope, kappa);
    };
    let mut found = left;
    for (kink, jump) in jumps {
        let is_left_of_it = target - kappa * found <= kink;
        if is_left_of_it {
            break;
        }
        found = if kappa > 0.0 { ((target - kink) / kappa).max(found).min(found + jump) } else { found + jump };
    }
    let q = if found <= left + jumps[0].1 { jumps[0].0 } else { jumps[1].0 };
    (found, loss.value(q, y) - found * q)
}

/// Steps on a score that are Newton's alone: nearly all scores take far fewer.
const NEWTON: usize = 60;

/// Steps on a score in all, at most: as many as halve what f64 can hold, and more.
const MOST_STEPS: usize = 400;

/// The same for losses without kinks: Newton's method on p′ + κℓ′(p′) = p + κα, bisection where it leads
/// out of what is known to hold the root. Where slopes flatten on both sides, as those of the logistic loss do, it may
/// go to and fro for ever: a late step that did not halve what is left is followed by a bisection.
fn smooth_response(loss: &dyn Loss, p: f64, y: f64, slope: f64, kappa: f64) -> (f64, f64) {
    let target = p + kappa * slope;
    // The root is between p and where it would be if the slope there were that at p.
    let away = kappa * (loss.derivative(p, y) - slope);
    let (mut low, mut high) = if away > 0.0 { (p - away, p) } else { (p, p - away) };
    let (mut at, mut left) = (p, f64::INFINITY);
    for step in 0..MOST_STEPS {
        let excess = at + kappa * loss.derivative(at, y) - target;
        if excess > 0.0 {
            high = at
        } else {
            low = at
        }
        let is_slow = step >= NEWTON && excess.abs() > 0.5 * left;
        left = excess.abs();
        let next = at - excess / (1.0 + kappa * loss.second_derivative(at, y));
        let next = if low < next && next < high && !is_slow { next } else { 0.5 * (low + high) };
        let change = (next - at).abs();
        at = next;
        if change <= 1e-13 * (1.0 + at.abs()) {
            break;
        }
    }
    let found = loss.derivative(at, y);
    (found, loss.value(at, y) - found * at)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::rows::{RowsInMemory, Serial};
    use super::*;
    use crate::Batch;
    use crate::loss::{self, Curvature};

    #[test]
    fn what_a_row_has_twice_counts_as_its_sum() {
        let row = LabelledRow { numbers: &[3, 1, 3], values: &[1.5, 2.0, -0.5], label: 1.0, weight: 1.0, offset: 0.0 };
        // (2·½)² + ((1.5 − 0.5)·3)².
        assert_eq!(square(row, &[9.0, 0.5, 9.0, 3.0]), 10.0);
    }

    #[test]
    fn where_losses_are_below_0_the_bound_is_climbed_too() {
        // Poisson's leaves a constant out: at scores near ln 20 its mean is about 20 − 20 ln 20.
        let poisson = loss::parse("poisson").unwrap();
        let mut batch = Batch::default();
        for t in 0..60u32 {
            batch.push(0, 1.0);
            batch.push(1 + t % 7, 1.0);
            batch.finish(Some(f64::from(15 + t * 11 % 13)), 1.0);
        }
        let mut rows = RowsInMemory::default();
        rows.record(&batch);
        let mut passes = Passes::new(&rows, &Serial, &*poisson);
        passes.frame = SearchCoordinates { weight: 60.0, reach: vec![1.0; 8] };
        let mut start = vec![0.0; 8];
        start[0] = 20f64.ln();
        let mut ascent = Ascent::new(&passes, &start).unwrap().expect("there is something to climb");
        let radius = 4.0;
        let gap = |state: &Assessment| state.loss - state.tangents + radius * norm(&state.gradient);
        let first = ascent.assess(&Serial);
        assert!(first.loss < -30.0, "{}", first.loss);
        let mut state = ascent.assess(&Serial);
        for _ in 0..200 {
            ascent.turn(radius, radius, &state);
            state = ascent.assess(&Serial);
        }
        assert!(gap(&state) >= 0.0 && gap(&state) < 1e-3 * gap(&first), "{} {}", gap(&first), gap(&state));
    }

    /// The slopes that are not a slope of the loss at p′ = p + κ(α − α′), of `draws` responses with scores within ±reach.
    fn wrong_responses(reach: f64, draws: usize) -> Vec<String> {
        let mut random = SplitMix64::new(7);
        let mut between = |low: f64, high: f64| low + (high - low) * random.uniform();
        let losses: Vec<_> = loss::LOSSES.iter().map(loss::LossDescriptor::default_loss).collect();
        let mut wrong = Vec::new();
        for _ in 0..draws {
            let (p, away, y) = (between(-reach, reach), between(-reach, reach), between(-1.0, 1.0));
            let kappa = 10f64.powf(between(-3.0, 2.0));
            for loss in losses.iter().filter(|loss| loss.curvature() != Curvature::None) {
                let y =
                    [4.0 * y, 4.0 * y.abs(), y.signum()].into_iter().find(|&y| loss.check_label(y).is_ok()).unwrap();
                let slope = loss.derivative(away, y);
                let (found, _) = response(&**loss, p, y, slope, kappa);
                let (target, at) = (p + kappa * slope, p + kappa * (slope - found));
                // Slopes only rise: those of scores a little to the left and right enclose what is one here.
                let rounding = 1e-9 * (1.0 + p.abs() + target.abs() + kappa * (slope.abs() + found.abs()));
                let (low, high) = (loss.derivative(at - rounding, y), loss.derivative(at + rounding, y));
                let size = 1e-9 * (1.0 + found.abs());
                if !(low - size <= found && found <= high + size) {
                    wrong.push(format!("{} p={p} y={y} slope={slope} kappa={kappa}: {found}", loss.name()));
                }
            }
        }
        wrong
    }

    #[test]
    fn a_response_is_a_slope_of_the_loss_where_it_leads() {
        for reach in [1.0, 4.0, 8.0, 16.0] {
            let wrong = wrong_responses(reach, 20_000);
            assert!(wrong.is_empty(), "±{reach}: {} of 20000 draws, first {}", wrong.len(), wrong[0]);
        }
    }

    proptest! {
        #[test]
        fn a_response_maximises_the_dual_along_its_slope(
            p in -4.0..4.0f64, away in -3.0..3.0f64, other in -6.0..6.0f64, positive: bool, log_kappa in -3.0..2.0f64,
        ) {
            let (kappa, y) = (10f64.powf(log_kappa), if positive { 1.0 } else { -1.0 });
            for entry in loss::LOSSES {
                let (name, loss) = (entry.name, entry.default_loss());
                if loss.curvature() == Curvature::None || loss.check_label(y).is_err() {
                    continue;
                }
                // α is the slope at some score, as it always is.
                let slope = loss.derivative(away, y);
                // What the row adds to the dual for a slope and its tangent, p and κ at hand.
                let worth = |(new, intercept): (f64, f64)| {
                    intercept + new * p - 0.5 * kappa * (new - slope).powi(2)
                };
                let found = response(&*loss, p, y, slope, kappa);
                let at = loss.derivative(other, y);
                let there = (at, loss.value(other, y) - at * other);
                let size = 1.0 + worth(found).abs() + worth(there).abs();
                prop_assert!(worth(there) <= worth(found) + 1e-9 * size, "{name} {found:?} {there:?}");
                // Its tangent is below the loss.
                let below = found.1 + found.0 * other;
                prop_assert!(below <= loss.value(other, y) + 1e-9 * (1.0 + below.abs()), "{name} {found:?}");
            }
        }
    }
}
