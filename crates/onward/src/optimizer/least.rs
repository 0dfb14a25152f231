//! The least of a sum of losses of few features, on a ball or with Tikhonov's regulariser, and how near it is come to.
//!
//! F(w) = Σ h ℓ(o + ⟨w, x⟩, y) + ½α‖w‖², over ‖w‖₂ ≤ U if there is a ball (then α may be 0).
//!
//! **Losses with kinks** are smoothed: each kink k with the jump J, J·max(0, p − k), becomes J(p − k + μ)²/(4μ) for |p − k| < μ,
//! which is above it by at most Jμ/4. The sum is then quadratic in pieces. μ falls from the distance of the farthest
//! kink, where all is one piece, by steps to almost nothing; a start near the leader of the round before is tried first. Once
//! it is known which rows are at kinks the least moves along a line as μ falls, and is found where that ends.
//! **Steps** are Newton's: the least of the quadratic model on the ball, then the best point on the way there.
//!
//! **The gap.** Each slope a of the smoothed loss is a subgradient of the loss itself at its score, or at a kink, q:
//! ℓ(p) ≥ ℓ(q) + a(p − q) for all p. With c = Σ h(ℓ(q) − a(q − o)) and v = Σ h a x every F(u) ≥ c + ⟨v, u⟩ + ½α‖u‖², the least of
//! which is c − ‖v‖²/(2α), or on a ball c − U‖v‖ at α = 0. What the best point pays less the highest of these is the gap.

use crate::SharedLoss;
use crate::loss::Kinks;
use crate::numeric::linalg::ball::{least_on_ball, positive_root};
use crate::numeric::linalg::cholesky::Cholesky;
use crate::numeric::linalg::vector::dot_in_order;
use crate::numeric::sum::{Sum, sum};

/// A row, by the positions of its features.
#[derive(Debug, Clone)]
pub(super) struct SeenExample {
    pub(super) features: Vec<(u32, f64)>,
    pub(super) label: f64,
    pub(super) weight: f64,
    pub(super) offset: f64,
}

impl SeenExample {
    pub(super) fn score(&self, w: &[f64]) -> f64 {
        self.offset + self.product(w)
    }

    fn product(&self, w: &[f64]) -> f64 {
        sum(self.features.iter().map(|&(at, value)| w[at as usize] * value))
    }
}

/// What keeps the least from running away.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Hold {
    /// ½α‖w‖².
    Tikhonov(f64),
    /// ‖w‖₂ ≤ U.
    Ball(f64),
}

/// F.
pub(super) struct LossSum<'a> {
    pub(super) rows: &'a [SeenExample],
    pub(super) loss: &'a SharedLoss,
    pub(super) hold: Hold,
}

/// A loss at a score, smoothed.
struct Smoothed {
    slope: f64,
    bend: f64,
    /// ℓ(q) − a·q.
    intercept: f64,
}

/// The search ends where the gap is this part of what is paid.
const TOLERANCE: f64 = 1e-9;

/// What μ falls by, and how far: to this part of the farthest kink. With less, slopes would be those of rounded scores.
const FALL: f64 = 0.1;
const SMALLEST: f64 = 1e-10;

/// From this part of the farthest kink μ falls at first.
const NEAR: f64 = 1e-6;

/// Newton steps for one μ, at most.
const MOST_STEPS: usize = 40;

const BISECTIONS: usize = 40;

/// A way ends where the slope along it is this part of what it was.
const FLAT: f64 = 0.05;

/// Added to the diagonal of the model, as a part of its largest entry: what no loss curves along has curvature too.
const RIDGE: f64 = 1e-12;

/// The best point so far, what it pays, and what nothing pays less than.
struct BestSoFar {
    point: Vec<f64>,
    paid: f64,
    floor: f64,
}

impl BestSoFar {
    fn gap(&self) -> f64 {
        let gap = self.paid - self.floor;
        if gap.is_nan() { f64::INFINITY } else { gap.max(0.0) }
    }

    fn is_over(&self) -> bool {
        self.gap() <= TOLERANCE * self.paid.abs()
    }
}

impl LossSum<'_> {
    /// From a point to about the least, and the gap.
    pub(super) fn least(&self, from: &[f64]) -> (Vec<f64>, f64) {
        let farthest = self.farthest_kink(from);
        let mut so_far = BestSoFar { point: from.to_vec(), paid: self.paid(from), floor: f64::NEG_INFINITY };
        if farthest == 0.0 {
            let w = self.descend(from.to_vec(), 0.0);
            self.take(&mut so_far, &w);
            so_far.floor = self.floor(&w, 0.0);
        } else {
            // No loss is below 0; then from near by first.
            so_far.floor = 0.0;
            for mu in [NEAR * farthest, farthest] {
                if !so_far.is_over() {
                    self.fall(&mut so_far, from, mu);
                }
            }
        }
        let gap = so_far.gap();
        (so_far.point, gap)
    }

    fn take(&self, so_far: &mut BestSoFar, w: &[f64]) {
        let paid = self.paid(w);
        if paid < so_far.paid {
            (so_far.point, so_far.paid) = (w.to_vec(), paid);
        }
    }

    /// μ falls from this until the gap is small enough, or nothing is left.
    fn fall(&self, so_far: &mut BestSoFar, from: &[f64], mut mu: f64) {
        let (mut w, last) = (from.to_vec(), SMALLEST * mu.max(self.farthest_kink(from)));
        let mut before: Option<Vec<f64>> = None;
        while mu > last {
            w = self.descend(w, mu);
            self.take(so_far, &w);
            so_far.floor = so_far.floor.max(self.floor(&w, mu));
            // Once the rows at kinks are known, the least moves along a line as μ falls: to here at μ = 0.
            let ahead = before.replace(w.clone()).map(|before| {
                let part = FALL / (1.0 - FALL);
                let mut ahead: Vec<f64> = w.iter().zip(&before).map(|(w, before)| w + part * (w - before)).collect();
                self.bring_back(&mut ahead);
                ahead
            });
            if let Some(ahead) = ahead {
                self.take(so_far, &ahead);
                w = w.iter().zip(&ahead).map(|(w, ahead)| ahead + FALL * (w - ahead)).collect();
            }
            if so_far.is_over() {
                return;
            }
            mu *= FALL;
        }
    }

    /// Into the ball.
    fn bring_back(&self, w: &mut [f64]) {
        if let Hold::Ball(radius) = self.hold {
            let norm = dot_in_order(w, w).sqrt();
            if norm > radius {
                w.iter_mut().for_each(|w| *w *= radius / norm);
            }
        }
    }

    /// How far a score is from a kink at most; 0 where there are none.
    fn farthest_kink(&self, w: &[f64]) -> f64 {
        let mut farthest = 0.0f64;
        for row in self.rows {
            let Some(Kinks { jumps, .. }) = self.loss.kinks(row.label) else { return 0.0 };
            let score = row.score(w);
            let kinks = jumps.iter().filter(|(_, jump)| *jump > 0.0);
            farthest = kinks.fold(farthest, |farthest, (kink, _)| farthest.max((score - kink).abs()));
        }
        farthest.max(f64::MIN_POSITIVE)
    }

    /// F(w).
    fn paid(&self, w: &[f64]) -> f64 {
        let mut paid = Sum::default();
        self.rows.iter().for_each(|row| paid.add(row.weight * self.loss.value(row.score(w), row.label)));
        paid.add(0.5 * self.alpha() * dot_in_order(w, w));
        paid.total()
    }

    fn alpha(&self) -> f64 {
        if let Hold::Tikhonov(alpha) = self.hold { alpha } else { 0.0 }
    }

    /// The loss of a row at this score, smoothed by μ where it has kinks.
    fn smoothed(&self, row: &SeenExample, p: f64, mu: f64) -> Smoothed {
        let (loss, y) = (self.loss, row.label);
        let Some(Kinks { slope: left, jumps }) = loss.kinks(y).filter(|_| mu > 0.0) else {
            let slope = loss.derivative(p, y);
            return Smoothed { slope, bend: loss.second_derivative(p, y), intercept: loss.value(p, y) - slope * p };
        };
        let (mut slope, mut bend) = (left, 0.0);
        for (kink, jump) in jumps.into_iter().filter(|(_, jump)| *jump > 0.0) {
            let inside = (p - kink + mu) / (2.0 * mu);
            slope += jump * inside.clamp(0.0, 1.0);
            if (0.0..1.0).contains(&inside) {
                bend += jump / (2.0 * mu);
            }
        }
        let q = if slope <= left + jumps[0].1 { jumps[0].0 } else { jumps[1].0 };
        Smoothed { slope, bend, intercept: loss.value(q, y) - slope * q }
    }

    /// What no point pays less than, by the slopes at this point.
    fn floor(&self, w: &[f64], mu: f64) -> f64 {
        let (mut floor, mut v) = (Sum::default(), vec![Sum::default(); w.len()]);
        for row in self.rows {
            let at = self.smoothed(row, row.score(w), mu);
            floor.add(row.weight * at.intercept);
            floor.add(row.weight * at.slope * row.offset);
            row.features.iter().for_each(|&(i, x)| v[i as usize].add(row.weight * at.slope * x));
        }
        let v: Vec<f64> = v.iter().map(Sum::total).collect();
        let square = dot_in_order(&v, &v);
        floor.add(match self.hold {
            Hold::Tikhonov(alpha) => -square / (2.0 * alpha),
            Hold::Ball(radius) => -radius * square.sqrt(),
        });
        if floor.total().is_nan() { f64::NEG_INFINITY } else { floor.total() }
    }

    /// Newton's method on the smoothed sum.
    fn descend(&self, mut w: Vec<f64>, mu: f64) -> Vec<f64> {
        let (d, alpha) = (w.len(), self.alpha());
        for _ in 0..MOST_STEPS {
            let mut slope: Vec<f64> = w.iter().map(|w| alpha * w).collect();
            let mut hessian = vec![0.0; d * d];
            (0..d).for_each(|i| hessian[i * d + i] = alpha);
            for row in self.rows {
                let at = self.smoothed(row, row.score(&w), mu);
                let (g, bend) = (row.weight * at.slope, row.weight * at.bend);
                for &(i, x) in &row.features {
                    slope[i as usize] += g * x;
                    if bend > 0.0 {
                        row.features.iter().for_each(|&(j, z)| hessian[i as usize * d + j as usize] += bend * (x * z));
                    }
                }
            }
            let Some(change) = self.newton(&w, &slope, hessian) else { return w };
            let fall = -dot_in_order(&slope, &change);
            // Less is rounding: of each entry of the slope a few units in its last place.
            let length = if fall > 0.0 { self.line_search(&w, &change, mu) } else { 0.0 };
            if length == 0.0 {
                return w;
            }
            w.iter_mut().zip(&change).for_each(|(w, change)| *w += length * change);
            if fall <= 1e-3 * TOLERANCE * self.paid(&w).abs() {
                return w;
            }
        }
        w
    }

    /// The step to the least of the quadratic model.
    fn newton(&self, w: &[f64], slope: &[f64], mut hessian: Vec<f64>) -> Option<Vec<f64>> {
        let d = w.len();
        let mut largest = (0..d).map(|i| hessian[i * d + i]).fold(f64::MIN_POSITIVE, f64::max);
        if let Hold::Ball(radius) = self.hold {
            // Where no loss curves the way leads across the ball.
            largest = largest.max(dot_in_order(slope, slope).sqrt() / radius);
        }
        (0..d).for_each(|i| hessian[i * d + i] += RIDGE * largest);
        let entry = |i: usize, j: usize| hessian[i * d + j];
        match self.hold {
            Hold::Tikhonov(_) => {
                let factor = Cholesky::of(d, entry, dot_in_order, positive_root)?;
                let mut change: Vec<f64> = slope.iter().map(|slope| -slope).collect();
                factor.solve_lower(&mut change, dot_in_order);
                factor.solve_upper(&mut change);
                Some(change)
            }
            Hold::Ball(radius) => {
                let row = |i: usize| (0..d).map(|j| hessian[i * d + j] * w[j]).sum::<f64>();
                let target: Vec<f64> = (0..d).map(|i| row(i) - slope[i]).collect();
                let least = least_on_ball(d, entry, &target, radius)?;
                Some(least.iter().zip(w).map(|(v, w)| v - w).collect())
            }
        }
        .filter(|change| change.iter().all(|change| change.is_finite()))
    }

    /// How far to go, at most the whole way: to where the smoothed sum is least.
    fn line_search(&self, w: &[f64], change: &[f64], mu: f64) -> f64 {
        let alpha = self.alpha();
        let rows: Vec<(&SeenExample, f64, f64)> =
            self.rows.iter().map(|row| (row, row.score(w), row.product(change))).collect();
        let (inner, square) = (dot_in_order(w, change), dot_in_order(change, change));
        let slope = |length: f64| {
            let of_losses = rows
                .iter()
                .map(|&(row, score, moved)| row.weight * moved * self.smoothed(row, score + length * moved, mu).slope);
            sum(of_losses) + alpha * (inner + length * square)
        };
        if slope(1.0) <= 0.0 {
            return 1.0;
        }
        let (mut low, mut high, at_start) = (0.0, 1.0, slope(0.0).abs());
        for _ in 0..BISECTIONS {
            let middle = 0.5 * (low + high);
            let at_middle = slope(middle);
            if at_middle <= 0.0 {
                low = middle
            } else {
                high = middle
            }
            // Not beyond the least.
            if (-FLAT * at_start..=0.0).contains(&at_middle) {
                break;
            }
        }
        low
    }
}
