//! AdaHedge (de Rooij, van Erven, Grünwald, Koolen 2014).
//!
//! Hedge with η_t = ln K/Δ_{t−1}, where Δ = Σ δ is what mixing has cost: the mixability gap of a round is
//! δ_t = Σ w_k·hℓ_k + ln(Σ w_k·e^(−η_t·hℓ_k))/η_t ≥ 0. Before there is any, η = ∞ and the leaders share
//! all weight.
//!
//! **Guarantee**, for losses of any range, known or not: R_T ≤ 2Δ_T. *Proof.* Rates do not grow, so the
//! mixed losses sum to at most min L_k + ln K/η_T (see [`hedge`]) = min L_k + Δ_{T−1},
//! and the paid ones to Δ_T more. ∎ It is never much above that of Hedge with the best rate
//! in hindsight, of the order of √(Σ variance·ln K), and constant where one expert leads clearly.
//!
//! **Beforehand** ([`AdaHedge::promise`]): where the losses of a round differ by at most r,
//! R_T ≤ 2Δ_T ≤ r·√(T·ln K) + r·(4/3·ln K + 2) (theorem 8 of the paper, with variances of at most r²/4).
//!
//! Gaps are taken in logarithms: a weight that is 0 in f64 may be that of the expert whose loss is far
//! the least, and Δ must not stall then. O(K) per round.

use super::*;

/// AdaHedge.
///
/// ```
/// use onward::mixture::experts::{AdaHedge, Experts};
/// let mut experts = AdaHedge::new(3)?;
/// (0..100).for_each(|_| experts.observe(&[0.0, 5e6, 5e6], 1.0));
/// // One that is always best is followed after the first round, whatever the scale.
/// assert!(experts.guarantee().bound.unwrap() <= 2.0 * 5e6);
/// # Ok::<(), onward::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct AdaHedge {
    /// ln K.
    capacity: f64,
    /// L_k − min L.
    behind: Vec<f64>,
    weights: Vec<f64>,
    excess: Vec<f64>,
    /// Δ.
    cost: f64,
}

impl AdaHedge {
    /// For this number of experts.
    ///
    /// # Errors
    /// When there are none, or too many.
    pub fn new(count: usize) -> Result<Self, Error> {
        let count = expect_count(count)?;
        let zeros = vec![0.0; count];
        let weights = vec![1.0 / count as f64; count];
        Ok(Self { capacity: libm::log(count as f64), behind: zeros.clone(), weights, excess: zeros, cost: 0.0 })
    }

    /// What is promised of T rounds before there are any: a bound on the regret, and on the guarantee, if the losses
    /// of a round differ by at most `range`, times importance.
    ///
    /// ```
    /// use onward::mixture::experts::AdaHedge;
    /// assert!(AdaHedge::promise(2, 1e4, 1.0)? < 90.0);
    /// # Ok::<(), onward::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn promise(count: usize, rounds: f64, range: f64) -> Result<f64, Error> {
        let capacity = libm::log(expect_count(count)? as f64);
        Ok(match count {
            1 => 0.0,
            _ => range * ((rounds * capacity).sqrt() + 4.0 / 3.0 * capacity + 2.0),
        })
    }

    fn eta(&self) -> f64 {
        rate(self.capacity, self.cost)
    }
}

/// η = ln K/Δ.
pub(crate) fn rate(capacity: f64, cost: f64) -> f64 {
    if cost > 0.0 { capacity / cost } else { f64::INFINITY }
}

/// What mixing costs in one round, δ: `weights` being ∝ e^(−η·sums).
pub(crate) fn mixability_gap(eta: f64, weights: &[f64], sums: &[f64], losses: &[f64], h: f64) -> f64 {
    let best = least(losses);
    let excess = |loss: &f64| h * (loss - best);
    let hedged: f64 = weights.iter().zip(losses).map(|(weight, loss)| weight * excess(loss)).sum();
    let mixed = if eta.is_finite() {
        // In logarithms: a weight that is 0 in f64 may be that of the one whose loss is far the least.
        let leader = least(sums);
        let logarithm = |behind: f64| -(eta * behind).min(f64::MAX);
        let before = log_sum(sums.iter().map(|sum| logarithm(sum - leader)));
        let after = log_sum(sums.iter().zip(losses).map(|(sum, loss)| logarithm(sum - leader + excess(loss))));
        (before - after) / eta
    } else {
        // Only the leaders have weight: the mixed loss is the least of theirs.
        let leaders = weights.iter().zip(losses).filter(|(weight, _)| **weight > 0.0);
        leaders.map(|(_, loss)| excess(loss)).fold(f64::INFINITY, f64::min)
    };
    (hedged - mixed).max(0.0)
}

impl Experts for AdaHedge {
    fn weights(&self) -> &[f64] {
        &self.weights
    }

    fn observe(&mut self, losses: &[f64], importance: f64) {
        if excess(losses, importance, &mut self.excess) == 0.0 {
            return;
        }
        let gap = mixability_gap(self.eta(), &self.weights, &self.behind, &self.excess, 1.0);
        self.cost = (self.cost + gap).min(LARGEST);
        fall_behind(&mut self.behind, &self.excess);
        let eta = self.eta();
        exponential(&mut self.weights, &self.behind, eta);
    }

    fn guarantee(&self) -> Guarantee {
        against_the_best(2.0 * self.cost)
    }

    fn describe(&self) -> String {
        "adahedge".to_owned()
    }

    fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        persist_column(archive, "behind", &mut self.behind, 0.0..=LARGEST)?;
        archive.size("cost", &mut self.cost)?;
        if archive.is_loading() {
            let eta = self.eta();
            exponential(&mut self.weights, &self.behind, eta);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_weight_that_vanishes_in_f64_still_costs() {
        let mut experts = AdaHedge::new(2).unwrap();
        experts.observe(&[0.0, 1.0], 1.0);
        (0..5000).for_each(|_| experts.observe(&[0.0, 1.0], 1.0));
        let mut weights = [0.0; 2];
        weights.copy_from_slice(experts.weights());
        assert_eq!(weights[1], 0.0);
        let before = experts.guarantee().bound.unwrap();
        // The leader loses more than its lead: mixing costs the difference, though all weight was on it.
        experts.observe(&[10_000.0, 0.0], 1.0);
        let after = experts.guarantee().bound.unwrap();
        assert!(after - before > 2.0 * 4000.0, "{before} {after}");
    }

    #[test]
    fn gaps_are_those_of_the_definition() {
        let (eta, sums, losses) = (0.3, [2.0, 0.0, 5.0], [0.5, 1.5, 0.1]);
        let mut weights = [0.0; 3];
        exponential(&mut weights, &sums, eta);
        let mean: f64 = weights.iter().zip(losses).map(|(w, loss)| w * loss).sum();
        let mixed: f64 = weights.iter().zip(losses).map(|(w, loss)| w * (-eta * loss).exp()).sum();
        let gap = mixability_gap(eta, &weights, &sums, &losses, 1.0);
        assert!((gap - (mean + mixed.ln() / eta)).abs() < 1e-14, "{gap}");
    }
}
