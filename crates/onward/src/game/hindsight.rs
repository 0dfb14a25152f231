//! The best fixed point for the rounds so far.
//!
//! - Linear losses: a corner of the simplex, the L1 ball or the box, or −UΣz/‖Σz‖ on the ball.
//! - Quadratic losses: the projection of the mean x̄, since Σ‖u − x_t‖² = Σ‖x_t − x̄‖² + T‖u − x̄‖².
//! - Log losses: the best constant portfolio, found by [`best_portfolio`] with a bound on what a better one could save.
//!
//! Sums are kept for the first two, and all rows for the third.

use super::portfolio::best_portfolio;
use super::{GameRules, PointLoss};
use crate::domain::Domain;
use crate::guarantee::Comparator;
use crate::numeric::linalg::vector::norm;
use crate::numeric::sum::Sum;

/// A fixed point with what it pays in all rounds.
#[derive(Debug, Clone, PartialEq)]
pub struct FixedPoint {
    /// u.
    pub point: Vec<f64>,
    /// What it pays.
    pub loss: f64,
    /// No comparator pays less than the loss minus this.
    pub gap: f64,
}

/// What is kept of the rounds so far.
#[derive(Debug, Clone)]
pub(super) struct PastRounds {
    rules: GameRules,
    count: f64,
    /// Σ of the rows.
    sums: Vec<Sum>,
    /// Σ‖x_t − x̄‖².
    spread: Sum,
    /// The rows one after the other, of log losses.
    rows: Vec<f64>,
}

impl PastRounds {
    pub(super) fn new(rules: GameRules) -> Self {
        let sums = vec![Sum::default(); rules.dimension()];
        Self { rules, count: 0.0, sums, spread: Sum::default(), rows: Vec::new() }
    }

    /// Takes in a round.
    pub(super) fn observe(&mut self, row: &[f64]) {
        if self.rules.loss() == PointLoss::Quadratic && self.count > 0.0 {
            // The sum of squares about the mean grows by (1 − 1/t)‖x − x̄‖² (Welford 1962).
            let count = self.count;
            let square = |(sum, x): (&Sum, &f64)| (x - sum.total() / count).powi(2);
            let squares: f64 = self.sums.iter().zip(row).map(square).sum();
            self.spread.add(squares * count / (count + 1.0));
        }
        self.sums.iter_mut().zip(row).for_each(|(sum, entry)| sum.add(*entry));
        if self.rules.loss() == PointLoss::Log {
            self.rows.extend_from_slice(row);
        }
        self.count += 1.0;
    }

    /// Whether the best point is a matter of a few operations per coordinate.
    pub(super) fn is_closed_form(&self) -> bool {
        self.rules.loss() != PointLoss::Log
    }

    /// The best of the comparators.
    pub(super) fn best(&self) -> FixedPoint {
        let sums: Vec<f64> = self.sums.iter().map(Sum::total).collect();
        match self.rules.loss() {
            PointLoss::Linear => {
                let point = self.best_of_linear(&sums);
                let loss = point.iter().zip(&sums).map(|(u, sum)| u * sum).sum();
                FixedPoint { point, loss, gap: 0.0 }
            }
            PointLoss::Quadratic => {
                let mean: Vec<f64> = sums.iter().map(|sum| sum / self.count.max(1.0)).collect();
                let mut point = mean.clone();
                match (self.rules.domain(), self.rules.comparators()) {
                    (Domain::All, Comparator::Ball(radius)) => Domain::Ball(radius).project(&mut point),
                    (domain, _) => domain.project(&mut point),
                }
                let distance: f64 = point.iter().zip(&mean).map(|(u, mean)| (u - mean).powi(2)).sum();
                FixedPoint { point, loss: self.spread.total() + self.count * distance, gap: 0.0 }
            }
            PointLoss::Log => {
                let (shares, gap) = best_portfolio(&self.rows, self.rules.dimension());
                let point: Vec<f64> = shares.iter().map(|share| self.rules.radius() * share).collect();
                let mut loss = Sum::default();
                self.rows.chunks_exact(point.len()).for_each(|row| loss.add(PointLoss::Log.value(&point, row)));
                FixedPoint { point, loss: loss.total(), gap }
            }
        }
    }

    /// argmin ⟨u, Σz⟩.
    fn best_of_linear(&self, sums: &[f64]) -> Vec<f64> {
        let mut point = vec![0.0; sums.len()];
        // Of equal ones the first.
        let first_largest = |value: &dyn Fn(usize) -> f64| {
            (0..sums.len()).max_by(|&one, &other| value(one).total_cmp(&value(other)).then(other.cmp(&one)))
        };
        match self.rules.domain() {
            Domain::Simplex { radius, .. } => {
                if let Some(best) = first_largest(&|at| -sums[at]) {
                    point[best] = radius;
                }
            }
            Domain::L1Ball(radius) => {
                if let Some(best) = first_largest(&|at| sums[at].abs())
                    && sums[best] != 0.0
                {
                    point[best] = -radius.copysign(sums[best]);
                }
            }
            Domain::Box(radius) => {
                let corner = |sum: &f64| if *sum == 0.0 { 0.0 } else { -radius.copysign(*sum) };
                point.iter_mut().zip(sums).for_each(|(u, sum)| *u = corner(sum));
            }
            _ => {
                let size = norm(sums);
                if size > 0.0 {
                    point.iter_mut().zip(sums).for_each(|(u, sum)| *u = -self.rules.radius() * (sum / size));
                }
            }
        }
        point
    }
}
