//! What makes the search short: an approximate inverse of the second derivatives.
//!
//! Among the most frequent features, which carry most of what a stream says, the second
//! derivatives are computed and factored exactly; of the others the diagonal is. Where all
//! features are among the former the approximation is exact.

use super::cholesky;
use super::passes::{Curvatures, OUTSIDE, Statistics};
use crate::numeric::linalg::cholesky::Cholesky;

/// The approximate inverse.
pub(super) struct Preconditioner {
    members: Vec<u32>,
    /// Of each feature its place among the members.
    pub(super) places: Vec<u32>,
    curvatures: Curvatures,
    /// The factor among the members, and what had been added to the diagonal.
    factor: Option<(f64, Cholesky)>,
    /// The smallest diagonal entry that is believed.
    floor: f64,
    /// About how many other passes a pass that computes the second derivatives costs.
    pub(super) cost: f64,
}

/// So many members there may always be.
const FEW: usize = 64;

/// What a value costs in a pass, in multiplications of one second derivative.
const COST_OF_A_VALUE: f64 = 6.0;

impl Preconditioner {
    /// For the most frequent features: as many as `most`, and as keep the pass that computes the
    /// second derivatives to the cost of about `passes` others.
    pub(super) fn new(statistics: &Statistics, most: usize, passes: f64) -> Self {
        let counts = &statistics.counts;
        let mut order: Vec<u32> = (0..counts.len() as u32).filter(|&at| counts[at as usize] > 0).collect();
        order.sort_unstable_by_key(|&at| (std::cmp::Reverse(counts[at as usize]), at));
        let rows = statistics.rows.max(1) as f64;
        let pass = COST_OF_A_VALUE * (statistics.values as f64 / rows).max(1.0);
        // How many members a row has; their square is what the row costs.
        let (mut inside, mut members) = (0.0, 0);
        while members < order.len().min(most) {
            let with = inside + counts[order[members] as usize] as f64 / rows;
            if members >= FEW && with * with > passes * pass {
                break;
            }
            (inside, members) = (with, members + 1);
        }
        order.truncate(members);
        let mut places = vec![OUTSIDE; counts.len()];
        order.iter().enumerate().for_each(|(place, &at)| places[at as usize] = place as u32);
        let cost = inside * inside / pass;
        Self { members: order, places, curvatures: Curvatures::default(), factor: None, floor: 0.0, cost }
    }

    /// How many features the second derivatives are computed among.
    pub(super) fn members(&self) -> usize {
        self.members.len()
    }

    /// Whether it has second derivatives.
    pub(super) fn is_ready(&self) -> bool {
        !self.curvatures.diagonal.is_empty()
    }

    /// Takes in second derivatives.
    pub(super) fn set(&mut self, curvatures: Curvatures) {
        let largest = curvatures.diagonal.iter().copied().fold(0.0, f64::max);
        self.floor = if largest > 0.0 { 1e-9 * largest } else { 1.0 };
        (self.curvatures, self.factor) = (curvatures, None);
    }

    /// About (∇² + shift)⁻¹r.
    pub(super) fn apply(&mut self, r: &[f64], shift: f64) -> Vec<f64> {
        let shift = shift.max(self.floor);
        let mut out: Vec<f64> =
            r.iter().zip(&self.curvatures.diagonal).map(|(r, diagonal)| r / (diagonal + shift)).collect();
        if self.members.is_empty() {
            return out;
        }
        // A shift that is half or twice as large would do.
        if self.factor.as_ref().is_none_or(|(with, _)| !(0.7..=1.4).contains(&(shift / with))) {
            self.factor = Some((shift, cholesky::factor(&self.curvatures.triangle, self.members.len(), shift)));
        }
        if let Some((_, factor)) = &self.factor {
            let mut among: Vec<f64> = self.members.iter().map(|&at| r[at as usize]).collect();
            cholesky::solve(factor, &mut among);
            self.members.iter().zip(among).for_each(|(&at, value)| out[at as usize] = value);
        }
        out
    }
}
