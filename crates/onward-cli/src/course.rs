//! What the ledger cannot put on its curve, since it knows nothing of learners: at each of its
//! log-spaced points, and where the run ends, the learner's own guarantee and the norm of its weights.
//!
//! A walk over all weights at rounds 1, 2, 4, … costs less than two such walks at the end, which of millions
//! of them is still a tenth of the time: nobody is asked unless it is going to be shown. Nothing
//! of this goes into a model: in a run that continues one (`--init`) it begins anew.

use onward::Learner;
use onward::regret::{GuaranteeKind, Ledger};

use crate::saved;

/// What a learner said of itself, in order of rounds.
#[derive(Debug)]
pub(crate) struct Course {
    is_shown: bool,
    marks: Vec<Mark>,
}

/// What it said after a round.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Mark {
    round: u64,
    /// The bound of its own guarantee, summed over rounds; `None` when it has none, or one about its
    /// experts, which is about another regret.
    pub(crate) own_guarantee: Option<f64>,
    /// ‖w‖₂ in raw units over the features that were seen; `None` when it has no weights.
    pub(crate) weight_norm: Option<f64>,
}

impl Course {
    /// One that is going to be shown, if this is so.
    pub(crate) fn shown_if(is_shown: bool) -> Self {
        Self { is_shown, marks: Vec::new() }
    }

    /// One that nobody is going to see: the learner is never asked.
    pub(crate) fn unseen() -> Self {
        Self::shown_if(false)
    }

    /// Whether the learner is to be asked after this round.
    #[inline]
    pub(crate) fn is_due(&self, round: u64) -> bool {
        self.is_shown && round.is_power_of_two() && self.marks.last().is_none_or(|mark| mark.round != round)
    }

    /// Asks the learner, unless it has been asked since the last charged round. `passes`: how many it made
    /// over the same data, this one among them.
    pub(crate) fn mark(&mut self, learner: &dyn Learner, ledger: &Ledger, passes: u32) {
        let round = ledger.rounds();
        if !self.is_shown || self.marks.last().is_some_and(|mark| mark.round == round) {
            return;
        }
        let guarantee = saved::own_guarantee(learner, passes);
        let own_guarantee = guarantee.bound.ok().filter(|_| guarantee.kind == GuaranteeKind::Own);
        self.marks.push(Mark { round, own_guarantee, weight_norm: weight_norm(learner, ledger) });
    }

    /// What it said after this round, if it was asked.
    pub(crate) fn at(&self, round: u64) -> Option<&Mark> {
        let found = self.marks.binary_search_by_key(&round, |mark| mark.round);
        found.ok().map(|at| &self.marks[at])
    }
}

fn weight_norm(learner: &dyn Learner, ledger: &Ledger) -> Option<f64> {
    let weights = learner.weights(ledger.sums()?.features())?;
    Some(weights.iter().map(|weight| weight * weight).sum::<f64>().sqrt())
}
