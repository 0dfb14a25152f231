//! The stacks: online Newton learners whose features are the other experts' predictions.
//!
//! They may give those any weights, negative ones too, where the mixture gives a mean. With
//! z = (p − o)/reach, o being what every lane starts from and reach how far labels were from it:
//! the score is o + reach·⟨v, z⟩, v starts at 1/K each, and S at ½·I. Each round, by the residual r and
//! curvature c that an implicit step leads to:
//! v += h·r·Sz/reach, S −= h·c·Szzᵀ S/(1 + h·c·zᵀSz). One stack remembers all rounds alike, and so
//! converges on steady streams; the other forgets: S grows by a thousandth each round, until
//! a number on its diagonal is ten, so that it follows the experts that are best now.

use super::implicit::implicit;
use crate::Error;
use crate::model::{Column, State};

/// An online Newton learner on few features.
#[derive(Debug, Clone)]
pub(super) struct Stack {
    name: &'static str,
    /// By how much S grows each round.
    forgetting: f64,
    weights: Vec<f64>,
    /// S, row by row.
    inverse: Vec<f64>,
    product: Vec<f64>,
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
        let inverse = (0..experts * experts).map(|at| if at % (experts + 1) == 0 { FIRST } else { 0.0 }).collect();
        let weights = vec![1.0 / experts as f64; experts];
        Self { name, forgetting, weights, inverse, product: vec![0.0; experts] }
    }

    /// What it is called in reports.
    pub(super) fn name(&self) -> &'static str {
        self.name
    }

    /// v.
    pub(super) fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Σ v·(p − o).
    pub(super) fn dot(&self, scores: &[f64], origin: f64) -> f64 {
        self.weights.iter().zip(scores).map(|(weight, score)| weight * (score - origin)).sum()
    }

    /// A step of importance h at z, from this score; `slope` tells residual and curvature of a score.
    pub(super) fn observe(&mut self, z: &[f64], reach: f64, score: f64, slope: impl Fn(f64) -> (f64, f64), h: f64) {
        let experts = z.len();
        let mut square = 0.0;
        for (row, z_row) in z.iter().enumerate() {
            let inverse = &self.inverse[row * experts..(row + 1) * experts];
            self.product[row] = inverse.iter().zip(z).map(|(s, z)| s * z).sum();
            square += z_row * self.product[row];
        }
        let q = h * square.max(0.0);
        let (residual, curvature) = implicit(slope, score, q);
        let (step, shrink) = (h * residual / reach, h * curvature / (1.0 + curvature * q));
        if !(step.is_finite() && shrink.is_finite()) {
            return;
        }
        // The whole of S or nothing: where experts are alike rounding leaves it not quite positive, and
        // what is below 0 would grow for ever.
        let largest = (0..experts).map(|at| self.inverse[at * experts + at]).fold(0.0, f64::max);
        let growth = (1.0 + self.forgetting).min((LARGEST_INVERSE / largest).max(1.0));
        for row in 0..experts {
            self.weights[row] = (self.weights[row] + step * self.product[row]).clamp(-LARGEST_WEIGHT, LARGEST_WEIGHT);
            let factor = shrink * self.product[row];
            let inverse = &mut self.inverse[row * experts..(row + 1) * experts];
            for (s, product) in inverse.iter_mut().zip(&self.product) {
                *s = ((*s - factor * product) * growth).clamp(-LARGEST_INVERSE, LARGEST_INVERSE);
            }
        }
    }

    /// The stack on some of its experts.
    pub(super) fn narrowed(&self, kept: &[usize]) -> Self {
        let all = self.weights.len();
        let mut narrow = Self::new(self.name, self.forgetting, kept.len());
        narrow.weights = kept.iter().map(|&row| self.weights[row]).collect();
        narrow.inverse =
            kept.iter().flat_map(|row| kept.iter().map(move |column| self.inverse[row * all + column])).collect();
        narrow
    }

    pub(super) fn save(&self, state: &mut State) {
        state.set_column("weights", Column::F64(self.weights.clone()));
        state.set_column("inverse", Column::F64(self.inverse.clone()));
    }

    pub(super) fn restore(&mut self, state: &State) -> Result<(), Error> {
        let (weights, inverse) = (state.f64s("weights")?, state.f64s("inverse")?);
        if weights.len() != self.weights.len() || inverse.len() != self.inverse.len() {
            return Err(Error::model("a stack of the model has another number of experts: it is damaged"));
        }
        self.weights = weights.to_vec();
        self.inverse = inverse.to_vec();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_forgetting_it_is_the_least_of_squares_about_equal_weights() {
        let mut stack = Stack::new("stack", 0.0, 2);
        let mut rows = Vec::new();
        for round in 0..50 {
            let scores = [(round % 7) as f64 - 3.0, (round % 4) as f64];
            let y = 0.7 * scores[0] + 1.5 * scores[1] + (round % 3) as f64 * 0.1;
            let reach = 4.0;
            let score = stack.dot(&scores, 0.0);
            let z = scores.map(|score| score / reach);
            stack.observe(&z, reach, score, |s| (y - s, 1.0), 1.0);
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
            let z = [a, a, 0.5 * (a + b), 1e-3 * b];
            let score: f64 = stack.dot(&z, 0.0);
            let label = a + 0.5 * b + 0.1 * spread(31);
            paid += (label - score).powi(2);
            stack.observe(&z, 1.0, score, |score| (label - score, 1.0), 1.0);
        }
        assert!(paid / 50_000.0 < 0.01, "{}", paid / 50_000.0);
        assert!(
            (0..4).all(|at| (0.0..=1.001 * LARGEST_INVERSE).contains(&stack.inverse[at * 5])),
            "{:?}",
            stack.inverse
        );
    }

    #[test]
    fn the_one_that_forgets_follows_a_change() {
        let mut steady = Stack::new("stack", 0.0, 2);
        let mut forgetting = Stack::new("stack, forgetting", 1e-3, 2);
        let mut paid = [0.0; 2];
        for round in 0..20_000 {
            let scores = [((round * 7) % 11) as f64 / 5.0 - 1.0, ((round * 3) % 13) as f64 / 6.0 - 1.0];
            let y = if (round / 5_000) % 2 == 0 { scores[0] } else { scores[1] };
            for (stack, paid) in [&mut steady, &mut forgetting].into_iter().zip(&mut paid) {
                let score = stack.dot(&scores, 0.0);
                *paid += (score - y) * (score - y);
                stack.observe(&scores, 1.0, score, |s| (y - s, 1.0), 1.0);
            }
        }
        assert!(paid[1] < 0.5 * paid[0], "{paid:?}");
    }
}
