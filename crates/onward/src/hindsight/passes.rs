//! The passes over the rows: what the search asks of them.
//!
//! The search works in coordinates v_i = u_i/r_i, r_i > 0 the reach of a feature: 1 for the raw
//! ball, 1/s_i for the standardised one, 0 for a feature that was never other than 0 there. All
//! sums are per unit weight.

use std::cell::Cell;

use super::rows::{LabelledRow, RowSource, Workers};
use super::surrogate::{Bend, SurrogateLoss, Tilts, tilted};
use crate::Loss;
use crate::loss::{InverseLink, Task};
use crate::numeric::sum::Sum;

/// What the first pass finds out.
#[derive(Debug, Default)]
pub(super) struct Statistics {
    /// Σ h.
    pub(super) weight: f64,
    /// Of each feature Σ h x².
    pub(super) squares: Vec<f64>,
    /// Of each feature in how many rows it is not 0.
    pub(super) counts: Vec<u64>,
    /// How many rows there are.
    pub(super) rows: u64,
    /// How many values there are.
    pub(super) values: u64,
}

/// What a pass says of a point.
#[derive(Debug, Clone)]
pub(super) struct Assessment {
    /// The mean loss.
    pub(super) loss: f64,
    /// The mean of the smooth losses.
    pub(super) smooth: f64,
    /// The mean of the tangents at the offsets: Σ h(ℓ(q) + α(b − q))/Σ h.
    pub(super) tangents: f64,
    /// Σ h α x/Σ h in the coordinates of the search: the gradient of the mean smooth loss.
    pub(super) gradient: Vec<f64>,
    /// Whether the scores of all rows tend to where the loss is least, and nowhere reached, as the
    /// predictor grows.
    pub(super) recedes: bool,
}

/// Sums over the rows of a shard, of which an [`Assessment`] is made.
pub(super) struct AssessmentSums {
    pub(super) loss: Sum,
    pub(super) smooth: Sum,
    pub(super) tangents: Sum,
    pub(super) gradient: Vec<f64>,
    pub(super) recedes: bool,
}

impl AssessmentSums {
    /// Before the first row.
    pub(super) fn new(dimension: usize) -> Self {
        let (loss, smooth, tangents) = Default::default();
        Self { loss, smooth, tangents, gradient: vec![0.0; dimension], recedes: true }
    }

    /// The means over the rows of all shards.
    pub(super) fn assess(shards: Vec<Self>, frame: &SearchCoordinates) -> Assessment {
        let gradient = vec![0.0; frame.reach.len()];
        let mut total = Assessment { loss: 0.0, smooth: 0.0, tangents: 0.0, gradient, recedes: true };
        for sums in shards {
            total.loss += sums.loss.total() / frame.weight;
            total.smooth += sums.smooth.total() / frame.weight;
            total.tangents += sums.tangents.total() / frame.weight;
            total.recedes &= sums.recedes;
            add(&mut total.gradient, &sums.gradient);
        }
        frame.pull_back(&mut total.gradient);
        total
    }
}

/// The second derivatives at a point: exact among some features, and the diagonal for all.
#[derive(Debug, Clone, Default)]
pub(super) struct Curvatures {
    /// The lower triangle among the members, row by row.
    pub(super) triangle: Vec<f64>,
    /// The diagonal of all features.
    pub(super) diagonal: Vec<f64>,
}

/// What a constant pays is measured on about this many rows, in this many steps.
const SOME_ROWS: u64 = 1024;
const TERNARY: u32 = 100;

/// A feature that is no member.
pub(super) const OUTSIDE: u32 = u32::MAX;

/// Makes the passes, and counts them.
pub(super) struct Passes<'a, R, W> {
    rows: &'a R,
    workers: &'a W,
    loss: &'a dyn Loss,
    count: Cell<u32>,
    /// Of each row the tilts of its kinks, for losses that have some.
    tilts: PerRow<Tilts>,
    /// The coordinates that points are given in, once they are known.
    pub(super) frame: SearchCoordinates,
}

/// Something of each row, by shard.
pub(super) type PerRow<T> = Vec<Vec<T>>;

/// What was kept of a row.
fn of<T: Copy + Default>(kept: &PerRow<T>, (shard, at): (usize, usize)) -> T {
    kept.get(shard).and_then(|kept| kept.get(at)).copied().unwrap_or_default()
}

/// How far shorter steps are tried: 1/2, 1/4, …
pub(super) const SHORTER: usize = 20;

impl<'a, R: RowSource, W: Workers> Passes<'a, R, W> {
    pub(super) fn new(rows: &'a R, workers: &'a W, loss: &'a dyn Loss) -> Self {
        Self { rows, workers, loss, count: Cell::new(0), tilts: PerRow::new(), frame: SearchCoordinates::default() }
    }

    /// How many passes were made.
    pub(super) fn count(&self) -> u32 {
        self.count.get()
    }

    pub(super) fn loss(&self) -> &'a dyn Loss {
        self.loss
    }

    pub(super) fn workers(&self) -> &'a W {
        self.workers
    }

    /// This many more passes were made elsewhere.
    pub(super) fn add(&self, passes: u32) {
        self.count.set(self.count.get() + passes);
    }

    /// One pass over all rows, in order.
    pub(super) fn each(&self, each: &mut dyn FnMut(LabelledRow<'_>)) -> Result<(), R::Error> {
        self.add(1);
        (0..self.rows.shards()).try_for_each(|shard| self.rows.visit(shard, each))
    }

    /// One pass: what the rows of each shard made of what it began with. A row comes with its place: its shard, and its
    /// number there.
    fn fold<T: Send>(
        &self,
        begin: impl Fn() -> T + Sync,
        each: impl Fn(&mut T, LabelledRow<'_>, (usize, usize)) + Sync,
    ) -> Result<Vec<T>, R::Error> {
        self.add(1);
        let rows = self.rows;
        let shard = |shard: usize| {
            let mut state = begin();
            let mut at = 0;
            let visit = &mut |row: LabelledRow<'_>| {
                each(&mut state, row, (shard, at));
                at += 1;
            };
            rows.visit(shard, visit).map(|()| state)
        };
        self.workers.map(rows.shards(), &shard).into_iter().collect()
    }

    /// Weights, scales and counts.
    pub(super) fn statistics(&self) -> Result<Statistics, R::Error> {
        let dimension = self.rows.dimension();
        let begin = || (Sum::default(), vec![0.0; dimension], vec![0u64; dimension], 0, 0);
        let shards = self.fold(begin, |(weight, squares, counts, rows, values), row, _| {
            weight.add(row.weight);
            for (&number, &value) in row.numbers.iter().zip(row.values) {
                let value = f64::from(value);
                squares[number as usize] += row.weight * value * value;
                counts[number as usize] += u64::from(value != 0.0);
            }
            *rows += 1;
            *values += row.numbers.len() as u64;
        })?;
        let mut total =
            Statistics { squares: vec![0.0; dimension], counts: vec![0; dimension], ..Statistics::default() };
        for (weight, squares, counts, rows, values) in shards {
            total.weight += weight.total();
            add(&mut total.squares, &squares);
            total.counts.iter_mut().zip(counts).for_each(|(total, count)| *total += count);
            total.rows += rows;
            total.values += values;
        }
        Ok(total)
    }

    /// Nearly what the best constant score pays, added to the offsets, where it may be far from 0: for losses
    /// of numbers, on evenly spaced rows. Infinite for other losses.
    pub(super) fn constant(&self, rows: u64) -> Result<f64, R::Error> {
        if self.loss.task() == Task::Binary || self.loss.inverse_link() == InverseLink::Log {
            return Ok(f64::INFINITY);
        }
        let (mut some, mut at) = (Vec::new(), 0u64);
        let stride = rows.div_ceil(SOME_ROWS).max(1);
        self.each(&mut |row| {
            if at.is_multiple_of(stride) {
                some.push((row.label, row.offset, row.weight));
            }
            at += 1;
        })?;
        let weight: f64 = some.iter().map(|&(_, _, weight)| weight).sum();
        let paid = |score: f64| {
            let each = some.iter().map(|&(label, offset, weight)| weight * self.loss.value(offset + score, label));
            each.sum::<f64>() / weight
        };
        let wanted = || some.iter().map(|&(label, offset, _)| label - offset);
        let (mut low, mut high) = (wanted().fold(f64::INFINITY, f64::min), wanted().fold(f64::NEG_INFINITY, f64::max));
        // Ternary search: the loss is convex.
        for _ in 0..TERNARY {
            let third = (high - low) / 3.0;
            if paid(low + third) <= paid(high - third) {
                high -= third;
            } else {
                low += third;
            }
        }
        Ok(paid(0.5 * (low + high)))
    }

    /// The losses and their gradient at v.
    pub(super) fn assess(&self, v: &[f64], mu: f64) -> Result<Assessment, R::Error> {
        let u = self.frame.raw(v);
        let begin = || AssessmentSums::new(u.len());
        let (loss, link, tilts) = (self.loss, self.loss.inverse_link(), &self.tilts);
        let shards = self.fold(begin, |sums, row, place| {
            let moved = row.dot(&u);
            let piece = SurrogateLoss::new(loss, row.offset + moved, row.label, mu, of(tilts, place));
            sums.loss.add(row.weight * piece.loss);
            sums.smooth.add(row.weight * piece.smooth);
            sums.tangents.add(row.weight * (piece.intercept + piece.slope * row.offset));
            sums.recedes &= recedes(link, moved, row.label);
            let step = row.weight * piece.slope;
            if step != 0.0 {
                for (&number, &value) in row.numbers.iter().zip(row.values) {
                    sums.gradient[number as usize] += step * f64::from(value);
                }
            }
        })?;
        Ok(AssessmentSums::assess(shards, &self.frame))
    }

    /// Tilts every kink to the slope that the smoothed loss has at v.
    pub(super) fn tilt(&mut self, v: &[f64], mu: f64) -> Result<(), R::Error> {
        let (u, loss, tilts) = (self.frame.raw(v), self.loss, &self.tilts);
        let tilts = self.fold(Vec::new, |out, row, place| {
            out.push(tilted(loss, row.offset + row.dot(&u), row.label, mu, of(tilts, place)));
        })?;
        self.tilts = tilts;
        Ok(())
    }

    /// Takes all tilts back.
    pub(super) fn level(&mut self) {
        self.tilts = PerRow::new();
    }

    /// The curvatures of the rows at v.
    pub(super) fn bends(&self, v: &[f64], bend: Bend) -> Result<PerRow<f64>, R::Error> {
        let (u, loss, tilts) = (self.frame.raw(v), self.loss, &self.tilts);
        self.fold(Vec::new, |out, row, place| {
            out.push(row.weight * bend.at(loss, row.offset + row.dot(&u), row.label, of(tilts, place)));
        })
    }

    /// The products of the matrix of second derivatives with K directions, where rows have these curvatures.
    pub(super) fn products<const K: usize>(
        &self,
        bends: &PerRow<f64>,
        directions: [&[f64]; K],
    ) -> Result<[Vec<f64>; K], R::Error> {
        let (frame, dimension) = (&self.frame, self.frame.reach.len());
        // Side by side: one place in memory for all that a feature is multiplied with.
        let side_by_side: Vec<[f64; K]> =
            (0..dimension).map(|at| std::array::from_fn(|k| directions[k][at] * frame.reach[at])).collect();
        let shards = self.fold(
            || vec![[0.0; K]; dimension],
            |sums, row, place| {
                let bend = of(bends, place);
                if bend == 0.0 {
                    return;
                }
                let mut along = [0.0; K];
                for (&number, &value) in row.numbers.iter().zip(row.values) {
                    let directions = &side_by_side[number as usize];
                    (0..K).for_each(|k| along[k] += directions[k] * f64::from(value));
                }
                for (&number, &value) in row.numbers.iter().zip(row.values) {
                    let value = bend * f64::from(value);
                    let sums = &mut sums[number as usize];
                    (0..K).for_each(|k| sums[k] += along[k] * value);
                }
            },
        )?;
        let mut total: [Vec<f64>; K] = std::array::from_fn(|_| vec![0.0; dimension]);
        for sums in shards {
            for (at, sums) in sums.iter().enumerate() {
                (0..K).for_each(|k| total[k][at] += sums[k]);
            }
        }
        total.iter_mut().for_each(|product| frame.pull_back(product));
        Ok(total)
    }

    /// The second derivatives at u; `places` says which features are members, and of these which
    /// row of the triangle is theirs.
    pub(super) fn curvatures(
        &self,
        v: &[f64],
        bend: Bend,
        places: &[u32],
        members: usize,
    ) -> Result<Curvatures, R::Error> {
        let (frame, u) = (&self.frame, self.frame.raw(v));
        let begin = || (vec![0.0; members * (members + 1) / 2], vec![0.0; u.len()], Vec::new());
        let (loss, tilts) = (self.loss, &self.tilts);
        let shards = self.fold(begin, |sums: &mut (Vec<f64>, Vec<f64>, Vec<_>), row, place| {
            let (triangle, diagonal, inside) = sums;
            let bend = row.weight * bend.at(loss, row.offset + row.dot(&u), row.label, of(tilts, place));
            if bend == 0.0 {
                return;
            }
            inside.clear();
            for (&number, &value) in row.numbers.iter().zip(row.values) {
                let value = f64::from(value) * frame.reach[number as usize];
                diagonal[number as usize] += bend * value * value;
                let place = places[number as usize] as usize;
                if place != OUTSIDE as usize && value != 0.0 {
                    inside.push((place, value));
                }
            }
            // In order, each row of the triangle is written from left to right.
            inside.sort_unstable_by_key(|&(place, _)| place);
            for (at, &(place, value)) in inside.iter().enumerate() {
                let line = &mut triangle[place * (place + 1) / 2..];
                let value = bend * value;
                for &(other, times) in &inside[..=at] {
                    line[other] += value * times;
                }
            }
        })?;
        let mut total = Curvatures { triangle: vec![0.0; members * (members + 1) / 2], diagonal: vec![0.0; u.len()] };
        for (triangle, diagonal, _) in shards {
            add(&mut total.triangle, &triangle);
            add(&mut total.diagonal, &diagonal);
        }
        total.triangle.iter_mut().chain(&mut total.diagonal).for_each(|entry| *entry /= frame.weight);
        Ok(total)
    }

    /// The mean smooth loss at v + τ·step for τ = 1/2, 1/4, ….
    pub(super) fn shorter(&self, v: &[f64], step: &[f64], mu: f64) -> Result<[f64; SHORTER], R::Error> {
        let (loss, tilts, frame) = (self.loss, &self.tilts, &self.frame);
        let (u, step) = (frame.raw(v), frame.raw(step));
        let shards = self.fold(
            || [Sum::default(); SHORTER],
            |sums, row, place| {
                let tilts = of(tilts, place);
                let (p, along) = (row.offset + row.dot(&u), row.dot(&step));
                let mut share = 1.0;
                for sum in sums {
                    share *= 0.5;
                    sum.add(row.weight * SurrogateLoss::new(loss, p + share * along, row.label, mu, tilts).smooth);
                }
            },
        )?;
        let mut total = [0.0; SHORTER];
        for sums in shards {
            total.iter_mut().zip(sums).for_each(|(total, sum)| *total += sum.total() / frame.weight);
        }
        Ok(total)
    }
}

/// The coordinates of the search.
#[derive(Debug, Clone, Default)]
pub(super) struct SearchCoordinates {
    /// Σ h.
    pub(super) weight: f64,
    /// r_i: u_i = r_i v_i.
    pub(super) reach: Vec<f64>,
}

impl SearchCoordinates {
    /// u = r∘v.
    pub(super) fn raw(&self, v: &[f64]) -> Vec<f64> {
        v.iter().zip(&self.reach).map(|(v, reach)| v * reach).collect()
    }

    /// From sums in raw units to means in the coordinates of the search.
    fn pull_back(&self, sums: &mut [f64]) {
        sums.iter_mut().zip(&self.reach).for_each(|(sum, reach)| *sum = *sum / self.weight * reach);
    }
}

fn add(total: &mut [f64], part: &[f64]) {
    total.iter_mut().zip(part).for_each(|(total, part)| *total += part);
}

/// Whether the loss of a row tends to its infimum, which no score reaches, when what was added to its offset is
/// multiplied.
pub(super) fn recedes(link: InverseLink, moved: f64, label: f64) -> bool {
    match link {
        InverseLink::Logistic => (label == 1.0 && moved > 0.0) || (label <= 0.0 && moved < 0.0),
        InverseLink::Log => label == 0.0 && moved < 0.0,
        InverseLink::Identity => false,
    }
}
