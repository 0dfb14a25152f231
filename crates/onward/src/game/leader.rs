//! Leaders of losses that curve: `ftl`, `ftrl:losses=real` and `ogd-strong` on the losses themselves.
//!
//! **Quadratic losses** are 2-strongly convex. The leader is the mean, projected on the domain; with the regulariser
//! ½α‖w‖² it is Π(Σx_s/(t + α/2)). Descent with the rate 1/(2t) is w_{t+1} = Π(w_t − (w_t − x_t)/t).
//! On all of R^d both are the running mean.
//!
//! **Guarantee**, for every u of the domain: R_T(u) ≤ Σ ‖w_t − x_t‖²/t for both, and with a regulariser
//! R_T(u) ≤ ½α(‖u‖² − ‖w_1‖²) + Σ 2‖w_t − x_t‖²/(2t + α). With points and centres of at most the norm L that is at most
//! 4L²(1 + ln T). *Proof.* Let F_t be all losses up to t with the regulariser; it is (2t + α)-strongly convex, and w_t is least for
//! F_{t−1}. So F_t(w_t) − F_t(w_{t+1}) ≤ ‖z_t‖²/(2(2t + α)) with z_t = 2(w_t − x_t), and the sum of the left sides is
//! Σ ℓ_t(w_t) + F_0(w_1) − F_T(w_{T+1}). For descent see [`ogd_strong`](crate::optimizer::ogd_strong), with σ = 2. ∎
//!
//! **Log losses**: the leader is the best constant portfolio so far, found anew each round from all rows: O(td²) for each of
//! about 40 steps of round t, a yardstick for short games.
//! **Guarantee**: R_T(u) ≤ Σ (ℓ_t(w_t) − ℓ_t(w_{t+1})) + Σ gap_t, what each w_{t+1} may miss its least by. *Proof.* By induction
//! Σ_{s≤t} ℓ_s(w_{s+1}) ≤ min Σ_{s≤t} ℓ_s + Σ_{s≤t} gap_s: before round t the left side is at most what w_{t+1} has paid, and the
//! gaps so far. ∎ It is what happened: on a market that makes the leader jump it grows with T.

use super::portfolio::best_portfolio;
use super::{GameRound, GameRules, Player, PointLoss};
use crate::domain::Domain;
use crate::guarantee::Guarantee;
use crate::numeric::sum::Sum;

/// What moves on quadratic losses.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Quadratic {
    /// To the leader.
    Leader,
    /// To the leader with the regulariser ½α‖w‖².
    Regularised {
        /// α.
        alpha: f64,
    },
    /// By descent with the rate 1/(2t).
    Descent,
}

/// The leader of quadratic losses, or descent at its pace.
pub(super) struct OnQuadratics {
    rules: GameRules,
    form: Quadratic,
    rounds: f64,
    /// Σx.
    sums: Vec<Sum>,
    point: Vec<f64>,
    /// Σ 2‖w_t − x_t‖²/(2t + α).
    paid: Sum,
}

/// The point of a domain with the least norm.
fn start(rules: &GameRules) -> Vec<f64> {
    let dimension = rules.dimension();
    let entry = if let Domain::Simplex { radius, .. } = rules.domain() { radius / dimension as f64 } else { 0.0 };
    vec![entry; dimension]
}

impl OnQuadratics {
    pub(super) fn new(rules: &GameRules, form: Quadratic) -> Self {
        let sums = vec![Sum::default(); rules.dimension()];
        Self { rules: *rules, form, rounds: 0.0, sums, point: start(rules), paid: Sum::default() }
    }

    fn alpha(&self) -> f64 {
        if let Quadratic::Regularised { alpha } = self.form { alpha } else { 0.0 }
    }
}

impl Player for OnQuadratics {
    fn point(&self) -> &[f64] {
        &self.point
    }

    fn observe(&mut self, round: &GameRound<'_>) {
        let alpha = self.alpha();
        self.rounds += 1.0;
        let square = PointLoss::Quadratic.value(&self.point, round.row);
        self.paid.add(2.0 * square / (2.0 * self.rounds + alpha));
        let (weight, rate) = (self.rounds + 0.5 * alpha, 1.0 / self.rounds);
        for ((w, sum), x) in self.point.iter_mut().zip(&mut self.sums).zip(round.row) {
            sum.add(*x);
            *w = if self.form == Quadratic::Descent { *w - (*w - x) * rate } else { sum.total() / weight };
        }
        self.rules.domain().project(&mut self.point);
    }

    fn guarantee(&self) -> Guarantee {
        let (alpha, paid) = (self.alpha(), self.paid.total());
        match (self.rules.norms(), self.form) {
            ((Some(largest), least), Quadratic::Regularised { .. }) => {
                let regulariser = 0.5 * alpha * (largest * largest - least * least);
                Guarantee::own(self.rules.comparators(), regulariser + paid)
            }
            ((None, _), Quadratic::Regularised { .. }) => {
                Guarantee::missing("the regulariser of its bound grows with the comparator; give a radius")
            }
            // It does not depend on the size of the comparator.
            _ => Guarantee::own(self.rules.domain_class(), paid),
        }
    }

    fn describe(&self) -> String {
        match self.form {
            Quadratic::Leader => "ftl".to_owned(),
            Quadratic::Regularised { alpha } => format!("ftrl:alpha={alpha},losses=real"),
            Quadratic::Descent => "ogd-strong:sigma=2".to_owned(),
        }
    }
}

/// The best constant portfolio so far.
pub(super) struct OnLogs {
    rules: GameRules,
    rows: Vec<f64>,
    point: Vec<f64>,
    /// Σ (ℓ_t(w_t) − ℓ_t(w_{t+1})), and Σ gap_t.
    paid: Sum,
    missed: Sum,
}

impl OnLogs {
    pub(super) fn new(rules: &GameRules) -> Self {
        let (rows, point) = (Vec::new(), start(rules));
        Self { rules: *rules, rows, point, paid: Sum::default(), missed: Sum::default() }
    }
}

impl Player for OnLogs {
    fn point(&self) -> &[f64] {
        &self.point
    }

    fn observe(&mut self, round: &GameRound<'_>) {
        self.rows.extend_from_slice(round.row);
        self.paid.add(PointLoss::Log.value(&self.point, round.row));
        let (shares, gap) = best_portfolio(&self.rows, self.point.len());
        self.point.iter_mut().zip(&shares).for_each(|(w, share)| *w = self.rules.radius() * share);
        self.paid.add(-PointLoss::Log.value(&self.point, round.row));
        self.missed.add(gap);
    }

    fn guarantee(&self) -> Guarantee {
        Guarantee::own(self.rules.comparators(), self.paid.total() + self.missed.total())
    }

    fn describe(&self) -> String {
        "ftl".to_owned()
    }
}
