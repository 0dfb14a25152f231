//! The stacks: online Newton learners whose features are the other experts' predictions.
//!
//! They may give those any weights, negative ones too, where the mixture gives a mean. With
//! z = (p − o)/reach, o being what every lane starts from and reach how far labels were from it:
//! the score is o + reach·⟨v, z⟩, v starts at 1/K each, and S at ½·I. Each round, by the residual r and
//! curvature c that an implicit step leads to:
//! v += h·r·Sz/reach, S −= h·c·Szzᵀ S/(1 + h·c·zᵀSz). One stack remembers all rounds alike, and so
//! converges on steady streams; the other forgets: S grows by a thousandth each round, no number on
//! its diagonal beyond ten, so that it follows the experts that are best now.

use super::{Experts, MOST_EXPERTS, total};
use crate::Error;
use crate::archive::Archive;
use crate::simd::{larger, smaller, vectorised};

/// An online Newton learner on few features.
#[derive(Debug, Clone)]
pub(super) struct Stack {
    name: &'static str,
    /// By how much S grows each round.
    forgetting: f64,
    experts: usize,
    /// v, and 0 where there is no expert: arrays are as long as for the most experts.
    weights: Experts,
    /// S, row by row.
    inverse: [Experts; MOST_EXPERTS],
    /// Sz of the round.
    product: Experts,
}

vectorised! {
    /// Sz, zᵀSz and ‖Sz‖². S is symmetric: its rows are added up side by side.
    fn multiply(inverse: &[Experts], z: &Experts, product: &mut Experts) -> (f64, f64) {
        let mut sums = [0.0; MOST_EXPERTS];
        for (row, z) in inverse.iter().zip(z) {
            for at in 0..MOST_EXPERTS {
                sums[at] += z * row[at];
            }
        }
        *product = sums;
        let (mut square, mut length) = ([0.0; MOST_EXPERTS], [0.0; MOST_EXPERTS]);
        for at in 0..MOST_EXPERTS {
            (square[at], length[at]) = (sums[at] * z[at], sums[at] * sums[at]);
        }
        (total(&square), total(&length))
    }
}

vectorised! {
    /// S ← (S − shrink·Szzᵀ S)·growth. A product of two numbers does not depend on their
    /// order: both halves stay alike to the bit. What differed would be seen by no later round, and grow.
    fn reduce(inverse: &mut [Experts], product: &Experts, shrink: f64, growth: f64) {
        for (row, own) in inverse.iter_mut().zip(product) {
            for at in 0..MOST_EXPERTS {
                row[at] = (row[at] - shrink * (own * product[at])) * growth;
            }
        }
    }
}

vectorised! {
    /// Scales rows and columns, to the same bits in both halves.
    fn scale(inverse: &mut [Experts], factors: &Experts) {
        for (row, own) in inverse.iter_mut().zip(factors) {
            for at in 0..MOST_EXPERTS {
                row[at] *= own * factors[at];
            }
        }
    }
}

/// S before the first round.
const FIRST: f64 = 0.5;

/// The diagonal of S is not larger than this, by forgetting.
const LARGEST_INVERSE: f64 = 10.0;

/// Weights beyond this say that experts are all but equal.
const LARGEST_WEIGHT: f64 = 1e6;

impl Stack {
    /// Trusts all experts alike.
    pub(super) fn new(name: &'static str, forgetting: f64, experts: usize) -> Self {
        let mut weights = [0.0; MOST_EXPERTS];
        weights[..experts].fill(1.0 / experts as f64);
        let mut stack = Self {
            name,
            forgetting,
            experts,
            weights,
            inverse: [[0.0; MOST_EXPERTS]; MOST_EXPERTS],
            product: [0.0; MOST_EXPERTS],
        };
        stack.forget_all();
        stack
    }

    fn forget_all(&mut self) {
        self.inverse = [[0.0; MOST_EXPERTS]; MOST_EXPERTS];
        (0..self.experts).for_each(|at| self.inverse[at][at] = FIRST);
    }

    /// What it is called in reports.
    pub(super) fn name(&self) -> &'static str {
        self.name
    }

    /// v.
    pub(super) fn weights(&self) -> &[f64] {
        &self.weights[..self.experts]
    }

    /// Σ v·(p − o).
    #[inline(always)]
    pub(super) fn dot(&self, scores: &Experts, origin: f64) -> f64 {
        let mut terms = [0.0; MOST_EXPERTS];
        for at in 0..MOST_EXPERTS {
            terms[at] = self.weights[at] * (scores[at] - origin);
        }
        total(&terms)
    }

    /// zᵀSz of a round: how far the score moves for a step of 1. None where S begins anew.
    #[inline(always)]
    pub(super) fn prepare(&mut self, z: &Experts) -> Option<f64> {
        let (square, length) = multiply(&self.inverse[..self.experts], z, &mut self.product);
        // S is positive and its trace at most 10·K, so ‖Sz‖² ≤ 10·K·zᵀSz: where rounding has undone that
        // S begins anew.
        let longest = LARGEST_INVERSE * self.experts as f64 * square;
        if !square.is_finite() || length > longest * (1.0 + 1e-9) {
            self.forget_all();
            return None;
        }
        Some(square)
    }

    /// A step of importance h, q being h·zᵀSz, by the residual and curvature that it leads to.
    #[inline(always)]
    pub(super) fn advance(&mut self, reach: f64, (residual, curvature): (f64, f64), q: f64, h: f64) {
        let (step, shrink) = (h * residual / reach, h * curvature / (1.0 + curvature * q));
        if !(step.is_finite() && shrink.is_finite()) {
            return;
        }
        for at in 0..MOST_EXPERTS {
            let weight = self.weights[at] + step * self.product[at];
            self.weights[at] = smaller(LARGEST_WEIGHT, larger(-LARGEST_WEIGHT, weight));
        }
        reduce(&mut self.inverse[..self.experts], &self.product, shrink, 1.0 + self.forgetting);
        if self.forgetting > 0.0 {
            self.limit();
        }
    }

    /// Scales row and column where the diagonal is beyond its limit: an expert that says what another
    /// says, or nothing, would let it grow for ever. S stays positive, as it would not if its numbers
    /// were cut off one by one.
    #[inline(always)]
    fn limit(&mut self) {
        let mut factors = [1.0; MOST_EXPERTS];
        let (mut is_any, mut is_any_lost) = (false, false);
        for (at, factor) in factors.iter_mut().enumerate().take(self.experts) {
            let diagonal = self.inverse[at][at];
            // Rounding may leave nothing of a number that was all but 0: that expert begins anew.
            let is_lost = diagonal <= 0.0;
            if diagonal > LARGEST_INVERSE || is_lost {
                *factor = if is_lost { 0.0 } else { (LARGEST_INVERSE / diagonal).sqrt() };
                (is_any, is_any_lost) = (true, is_any_lost | is_lost);
            }
        }
        if is_any {
            scale(&mut self.inverse[..self.experts], &factors);
        }
        if is_any_lost {
            (0..self.experts).filter(|&at| factors[at] == 0.0).for_each(|at| self.inverse[at][at] = FIRST);
        }
    }

    /// The stack on some of its experts.
    pub(super) fn narrowed(&self, kept: &[usize]) -> Self {
        let mut narrow = Self::new(self.name, self.forgetting, kept.len());
        for (to, &row) in kept.iter().enumerate() {
            narrow.weights[to] = self.weights[row];
            for (other, &column) in kept.iter().enumerate() {
                narrow.inverse[to][other] = self.inverse[row][column];
            }
        }
        narrow
    }

    pub(super) fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        archive.array("weights", &mut self.weights[..self.experts])?;
        let rows = &mut self.inverse[..self.experts];
        let mut inverse: Vec<f64> = rows.iter().flat_map(|row| row[..self.experts].to_vec()).collect();
        archive.array("inverse", &mut inverse)?;
        for (row, numbers) in rows.iter_mut().zip(inverse.chunks_exact(self.experts)) {
            row[..self.experts].copy_from_slice(numbers);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mixture::auto::implicit::implicit;

    /// The scores of a few experts.
    fn experts<const K: usize>(scores: [f64; K]) -> Experts {
        let mut experts = [0.0; MOST_EXPERTS];
        experts[..K].copy_from_slice(&scores);
        experts
    }

    /// A step of importance 1.
    fn observe(stack: &mut Stack, z: &Experts, reach: f64, score: f64, slope: impl Fn(f64) -> (f64, f64)) {
        let Some(q) = stack.prepare(z) else { return };
        let slopes = |[score]: [f64; 1]| {
            let (residual, curvature) = slope(score);
            ([residual], [curvature])
        };
        let ([residual], [curvature]) = implicit(slopes, slopes([score]), [score], [q]);
        stack.advance(reach, (residual, curvature), q, 1.0);
    }

    #[test]
    fn without_forgetting_it_is_the_least_of_squares_about_equal_weights() {
        let mut stack = Stack::new("stack", 0.0, 2);
        let mut rows = Vec::new();
        for round in 0..50 {
            let scores = experts([(round % 7) as f64 - 3.0, (round % 4) as f64]);
            let y = 0.7 * scores[0] + 1.5 * scores[1] + (round % 3) as f64 * 0.1;
            let reach = 4.0;
            let score = stack.dot(&scores, 0.0);
            let z = scores.map(|score| score / reach);
            observe(&mut stack, &z, reach, score, |s| (y - s, 1.0));
            rows.push((z, y / reach));
        }
        // The gradient of Σ½(⟨v, z⟩ − y/reach)² + ½·2‖v − ½‖² vanishes.
        for at in 0..2 {
            let prior = (stack.weights[at] - 0.5) / FIRST;
            let data: f64 =
                rows.iter().map(|(z, y)| (stack.weights[0] * z[0] + stack.weights[1] * z[1] - y) * z[at]).sum();
            assert!((prior + data).abs() < 1e-9, "{at}: {prior} {data}");
        }
    }

    #[test]
    fn one_that_forgets_stays_where_experts_are_alike() {
        let mut stack = Stack::new("forgetting", 1e-3, 4);
        let mut paid = 0.0;
        for round in 0..50_000u32 {
            let spread = |factor: u32| f64::from(round.wrapping_mul(factor) % 1009) / 504.5 - 1.0;
            let (a, b) = (spread(7919), spread(104_729));
            // Two experts are one, and the fourth hardly says anything.
            let z = experts([a, a, 0.5 * (a + b), 1e-3 * b]);
            let score: f64 = stack.dot(&z, 0.0);
            let label = a + 0.5 * b + 0.1 * spread(31);
            paid += (label - score).powi(2);
            observe(&mut stack, &z, 1.0, score, |score| (label - score, 1.0));
        }
        assert!(paid / 50_000.0 < 0.01, "{}", paid / 50_000.0);
        assert!(
            (0..4).all(|at| (0.0..=1.001 * LARGEST_INVERSE).contains(&stack.inverse[at][at])),
            "{:?}",
            stack.inverse
        );
    }

    #[test]
    fn one_that_forgets_is_never_lost_to_rounding() {
        // Scores less the origin are at most 50, and labels in units of their reach about 1.
        for scale in [1e-6, 1.0, 50.0] {
            let mut stack = Stack::new("forgetting", 1e-3, 6);
            for round in 0..300_000u32 {
                let spread = |factor: u32| f64::from(round.wrapping_mul(factor) % 1009) / 504.5 - 1.0;
                let a = scale * spread(7919);
                // Three experts that never differ, one that is their shadow, one that is silent.
                let z = experts([a, a, a, -0.3 * a, 0.0, scale * spread(104_729)]);
                let score = stack.dot(&z, 0.0);
                assert!(score.is_finite(), "{scale} {round}");
                let label = if spread(31) > 0.0 { 1.0 } else { 0.0 };
                let slope = |s: f64| {
                    let up = 1.0 / (1.0 + (-s).exp());
                    (label - up, up * (1.0 - up))
                };
                observe(&mut stack, &z, 1.0, score.clamp(-50.0, 50.0), slope);
            }
            assert!(
                (0..6).all(|at| (0.0..=1.001 * LARGEST_INVERSE).contains(&stack.inverse[at][at])),
                "{:?}",
                stack.inverse
            );
            assert!(stack.weights.iter().all(|weight| weight.abs() * scale < 1e3), "{scale} {:?}", stack.weights);
        }
    }

    #[test]
    fn the_one_that_forgets_follows_a_change() {
        let mut steady = Stack::new("stack", 0.0, 2);
        let mut forgetting = Stack::new("stack, forgetting", 1e-3, 2);
        let mut paid = [0.0; 2];
        for round in 0..20_000 {
            let scores = experts([((round * 7) % 11) as f64 / 5.0 - 1.0, ((round * 3) % 13) as f64 / 6.0 - 1.0]);
            let y = if (round / 5_000) % 2 == 0 { scores[0] } else { scores[1] };
            for (stack, paid) in [&mut steady, &mut forgetting].into_iter().zip(&mut paid) {
                let score = stack.dot(&scores, 0.0);
                *paid += (score - y) * (score - y);
                observe(stack, &scores, 1.0, score, |s| (y - s, 1.0));
            }
        }
        assert!(paid[1] < 0.5 * paid[0], "{paid:?}");
    }
}
