//! What a learner says of itself during a run: at each log-spaced point of the curve, and where the run ends, its own
//! guarantee and the norm of its weights. The ledger, which knows nothing of learners, cannot keep these.
//!
//! A walk over all weights at rounds 1, 2, 4, … costs less than two such walks at the end, which with millions
//! of weights is still a tenth of the time: it is made only if it is asked for. Nothing of this goes into a
//! model: a run that continues one begins anew.

use onward::Learner;
use onward::evaluation::Ledger;
use onward::guarantee::GuaranteeKind;

use crate::model::own_guarantee;

/// The points of a run, in order of rounds.
#[derive(Debug, Default)]
pub(crate) struct Trace {
    is_kept: bool,
    points: Vec<TracePoint>,
}

/// What the learner said after a round.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct TracePoint {
    round: u64,
    /// The bound of its own guarantee, summed over rounds; `None` when it has none, or one about its
    /// experts, which is about another regret.
    pub(crate) own_guarantee: Option<f64>,
    /// ‖w‖₂ in raw units over the features that were seen; `None` when it has no weights.
    pub(crate) weight_norm: Option<f64>,
}

impl Trace {
    /// One that keeps points, or never asks the learner.
    pub(crate) fn new(is_kept: bool) -> Self {
        Self { is_kept, points: Vec::new() }
    }

    /// Whether to ask the learner after this round.
    #[inline]
    pub(crate) fn is_due(&self, round: u64) -> bool {
        self.is_kept && round.is_power_of_two() && self.points.last().is_none_or(|point| point.round != round)
    }

    /// The first of these rows after which to ask the learner. `rounds` counts what was charged before them, and is brought
    /// up to that row, or to the end.
    pub(crate) fn next_due(&self, rounds: &mut u64, labels: &[f64], weights: &[f64]) -> Option<usize> {
        let is_round = |(label, &weight): (&f64, &f64)| u64::from(!label.is_nan() && weight != 0.0);
        let mut all = labels.iter().zip(weights).map(is_round);
        if !self.is_kept {
            *rounds += all.sum::<u64>();
            return None;
        }
        all.position(|round| {
            *rounds += round;
            self.is_due(*rounds)
        })
    }

    /// Asks the learner, unless it has been asked since the last charged round.
    pub(crate) fn mark(&mut self, learner: &dyn Learner, ledger: &Ledger, passes: u32) {
        let round = ledger.rounds();
        if !self.is_kept || self.points.last().is_some_and(|point| point.round == round) {
            return;
        }
        let guarantee = own_guarantee(learner, passes);
        let own_guarantee = guarantee.bound.ok().filter(|_| guarantee.kind == GuaranteeKind::Own);
        self.points.push(TracePoint { round, own_guarantee, weight_norm: weight_norm(learner, ledger) });
    }

    /// What it said after this round, if it was asked.
    pub(crate) fn at(&self, round: u64) -> Option<&TracePoint> {
        let found = self.points.binary_search_by_key(&round, |point| point.round);
        found.ok().map(|at| &self.points[at])
    }
}

fn weight_norm(learner: &dyn Learner, ledger: &Ledger) -> Option<f64> {
    let weights = learner.linear()?.weights(ledger.sums()?.features());
    Some(weights.iter().map(|weight| weight * weight).sum::<f64>().sqrt())
}
