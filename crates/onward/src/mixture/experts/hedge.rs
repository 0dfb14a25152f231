//! Hedge, the exponentially weighted average (Littlestone, Warmuth 1994; Freund, Schapire 1997).
//!
//! w_k ∝ e^(−η_t·L_k), L_k = Σ_{s<t} h_s·ℓ_k,s, computed from how far each expert is behind the
//! leader.
//!
//! Rates: η fixed; η = √(8 ln K/T) for T rounds of losses in [0, 1]; or self-tuned,
//! η_t = 2√(ln K/(V_{t−1} + R²_{t−1})), where V = Σ r² is over the ranges that occurred,
//! r_t = h·(max_k ℓ_k − min_k ℓ_k), and R is the largest of them.
//!
//! **Guarantee**, for any losses and rates that do not grow: with η_T the rate of the last round,
//! R_T ≤ ln K/η_T + Σ min(r_t, η_t·r_t²/8).
//! *Proof.* Let Φ_t(η) = −ln(Σ e^(−η·L_k,t)/K)/η, a mean of powers: it does not grow with η. A round's mixed loss
//! −ln(Σ w_k·e^(−η_t·hℓ_k))/η_t = Φ_t(η_t) − Φ_{t−1}(η_t) is at least the mean loss less η_t·r_t²/8 (Hoeffding 1963),
//! and at least the least loss. By η_t ≤ η_{t−1} the sum of Φ_t(η_t) − Φ_{t−1}(η_t) is at most
//! Φ_T(η_T) ≤ min_k L_k + ln K/η_T. ∎ Before the first round with a range above 0 weights are equal
//! whatever the rate, and so in that round self-tuned rates may know its range.
//!
//! **Beforehand** ([`Hedge::promise`]): where every r_t ≤ r, and η does not fall, that is ln K/η + T·min(r, ηr²/8): for
//! losses in [0, 1] and the rate for T rounds √(T·ln K/2). Self-tuned, T not being known, it is at most
//! r·√(T·ln K) + r·max(2, 3√(ln K/32)). *Proof.* 1/η_T ≤ r√T/(2√ln K). Of a round's cost, with c = √(ln K)/4 and
//! S = V_{t−1} + R²_{t−1}, where r_t ≤ R_{t−1}: c·r_t²/√S ≤ c·r_t²/√V_t, and these sum to at most 2c√V_T. Where r_t is
//! larger than R = R_{t−1} by d, up to R: S ≥ 2R² and c·r_t²/√S ≤ c·R²/√S + 3c·d/√2, the first part as before; where d > R,
//! and in the first round: r_t ≤ 2d. The d sum to R_T ≤ r. ∎
//!
//! O(K) per round.

use super::*;
use crate::archive::visit_fields;
use crate::parameter::{Description, ParameterDescriptor, number, positive};

/// How η is chosen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum HedgeRate {
    /// From the ranges of losses so far: nothing to choose.
    SelfTuned,
    /// √(8 ln K/T) for this T: optimal for this many rounds with losses in [0, 1].
    Rounds(f64),
    /// This.
    Fixed(f64),
}

impl HedgeRate {
    /// Refuses rates that are none.
    pub(super) fn check(self) -> Result<(), Error> {
        match self {
            Self::SelfTuned => Ok(()),
            Self::Rounds(rounds) => ROUNDS.check(rounds).map(drop),
            Self::Fixed(eta) => ETA.check(eta).map(drop),
        }
    }

    /// Adds the parameters to what a learner says of itself.
    pub(super) fn describe(self, learner: Description) -> Description {
        match self {
            Self::SelfTuned => learner.with(&ETA, "auto"),
            Self::Rounds(rounds) => learner.with(&ETA, "auto").with(&ROUNDS, rounds),
            Self::Fixed(eta) => learner.with(&ETA, eta),
        }
    }
}

pub(crate) const ETA: ParameterDescriptor = positive("eta")
    .or("auto")
    .meaning("learning rate; auto: tuned from the ranges of the losses, or from rounds")
    .remedy("a smaller eta");

pub(crate) const ROUNDS: ParameterDescriptor = number("rounds", 1.0..=1e30)
    .or("none")
    .meaning("the number of rounds T, for the textbook's rate for losses in [0, 1]")
    .only_with("eta=auto");

/// The ranges that occurred, as self-tuned rates see them.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Ranges {
    /// √V, which does not overflow.
    root: f64,
    /// R.
    largest: f64,
}

impl Ranges {
    pub(super) fn add(&mut self, range: f64) {
        self.root = libm::hypot(self.root, range);
        self.largest = self.largest.max(range);
    }

    /// 2√(cost/(V + R²)), or, before there was any, that with `range` for R.
    pub(super) fn rate(self, cost: f64, range: f64) -> f64 {
        let largest = if self.largest > 0.0 { self.largest } else { range };
        (2.0 * cost.sqrt() / libm::hypot(self.root, largest)).min(LARGEST)
    }

    pub(super) fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        archive.size("root", &mut self.root)?;
        archive.size("largest", &mut self.largest)
    }
}

/// Hedge.
///
/// ```
/// use onward::mixture::experts::{Experts, Hedge, HedgeRate};
/// let mut hedge = Hedge::new(2, HedgeRate::Fixed(1.0))?;
/// hedge.observe(&[3f64.ln(), 0.0], 1.0);
/// let mut weights = [0.0; 2];
/// weights.copy_from_slice(hedge.weights());
/// assert!((weights[0] - 0.25).abs() < 1e-15);
/// # Ok::<(), onward::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Hedge {
    rate: HedgeRate,
    /// ln K.
    capacity: f64,
    /// L_k − min L.
    behind: Vec<f64>,
    weights: Vec<f64>,
    excess: Vec<f64>,
    ranges: Ranges,
    /// η_T, or 0 before there was a range.
    eta: f64,
    /// Σ min(r_t, η_t·r_t²/8).
    paid: f64,
}

impl Hedge {
    /// For this number of experts.
    ///
    /// # Errors
    /// When there are none or too many, η is not from 1e-30 to 1e30, or T is not from 1 to 1e30.
    pub fn new(count: usize, rate: HedgeRate) -> Result<Self, Error> {
        let count = expect_count(count)?;
        rate.check()?;
        let zeros = vec![0.0; count];
        let weights = vec![1.0 / count as f64; count];
        let capacity = libm::log(count as f64);
        let (behind, excess) = (zeros.clone(), zeros);
        Ok(Self { rate, capacity, behind, weights, excess, ranges: Ranges::default(), eta: 0.0, paid: 0.0 })
    }

    /// What is promised of T rounds before there are any: a bound on the regret, and on the guarantee, if the losses
    /// of a round differ by at most `range`, times importance.
    ///
    /// ```
    /// use onward::mixture::experts::{Hedge, HedgeRate};
    /// // √(T·ln K/2), the textbook's.
    /// let promise = Hedge::promise(2, HedgeRate::Rounds(1000.0), 1000.0, 1.0)?;
    /// assert!((promise - (1000.0 * 2f64.ln() / 2.0).sqrt()).abs() < 1e-9);
    /// # Ok::<(), onward::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn promise(count: usize, rate: HedgeRate, rounds: f64, range: f64) -> Result<f64, Error> {
        let capacity = libm::log(expect_count(count)? as f64);
        rate.check()?;
        let of = |eta: f64| capacity / eta + rounds * hoeffding(eta, range);
        Ok(match rate {
            _ if count == 1 => 0.0,
            HedgeRate::Fixed(eta) => of(eta),
            HedgeRate::Rounds(known) => of((8.0 * capacity / known).sqrt()),
            HedgeRate::SelfTuned => range * ((rounds * capacity).sqrt() + (3.0 * (capacity / 32.0).sqrt()).max(2.0)),
        })
    }

    /// The rate of the next round, should its range be this.
    fn next_rate(&self, range: f64) -> f64 {
        match self.rate {
            HedgeRate::Fixed(eta) => eta,
            HedgeRate::Rounds(rounds) => (8.0 * self.capacity / rounds).sqrt(),
            HedgeRate::SelfTuned => self.ranges.rate(self.capacity, range),
        }
    }
}

impl Experts for Hedge {
    fn weights(&self) -> &[f64] {
        &self.weights
    }

    fn observe(&mut self, losses: &[f64], importance: f64) {
        let range = excess(losses, importance, &mut self.excess);
        if range == 0.0 {
            return;
        }
        self.eta = self.next_rate(range);
        self.paid = (self.paid + hoeffding(self.eta, range)).min(f64::MAX);
        self.ranges.add(range);
        fall_behind(&mut self.behind, &self.excess);
        let eta = self.next_rate(range);
        exponential(&mut self.weights, &self.behind, eta);
    }

    fn guarantee(&self) -> Guarantee {
        let begun = self.eta > 0.0;
        against_the_best(if begun { self.capacity / self.eta + self.paid } else { 0.0 })
    }

    fn describe(&self) -> String {
        self.rate.describe(Description::of("hedge")).into()
    }

    fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        persist_column(archive, "behind", &mut self.behind, 0.0..=LARGEST)?;
        self.ranges.persist(archive)?;
        visit_fields!(archive.size(self.eta, self.paid));
        if archive.is_loading() {
            // Before the first round with a range all are 0 behind: whatever the rate, weights are equal.
            let eta = if self.eta > 0.0 { self.next_rate(0.0) } else { 0.0 };
            exponential(&mut self.weights, &self.behind, eta);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_those_of_all_losses_so_far() {
        let mut hedge = Hedge::new(3, HedgeRate::Fixed(0.7)).unwrap();
        let mut sums = [0.0f64; 3];
        for round in 0..50 {
            let losses = [0, 1, 2].map(|k| ((round * 7 + k * 5) % 11) as f64 / 3.0);
            let importance = [1.0, 0.0, 2.5][round % 3];
            hedge.observe(&losses, importance);
            sums.iter_mut().zip(losses).for_each(|(sum, loss)| *sum += importance * loss);
            let unnormalised = sums.map(|sum| (-0.7 * sum).exp());
            let total: f64 = unnormalised.iter().sum();
            let mut weights = [0.0; 3];
            weights.copy_from_slice(hedge.weights());
            weights.iter().zip(unnormalised).for_each(|(w, u)| assert!((w - u / total).abs() < 1e-12));
        }
    }

    #[test]
    fn known_constants_give_the_bound_of_the_textbook() {
        let (count, rounds) = (5usize, 1000.0);
        let mut hedge = Hedge::new(count, HedgeRate::Rounds(rounds)).unwrap();
        for round in 0..1000 {
            let losses: Vec<f64> = (0..count).map(|k| f64::from(u8::from(round % count == k))).collect();
            hedge.observe(&losses, 1.0);
        }
        let textbook = (rounds * 5f64.ln() / 2.0).sqrt();
        assert!((hedge.guarantee().bound.unwrap() - textbook).abs() < 1e-9 * textbook);
    }

    #[test]
    fn self_tuned_rates_cost_no_more_than_the_root_of_two_beyond_known_ones() {
        let mut hedge = Hedge::new(2, HedgeRate::SelfTuned).unwrap();
        for round in 0..1000 {
            // In units of 1e-20: no unit is special.
            let losses = [1e-20, 0.0];
            hedge.observe(&[losses[round % 2], losses[(round + 1) % 2]], 1.0);
            let bound = hedge.guarantee().bound.unwrap();
            assert!(bound <= 1e-20 * ((round + 1) as f64 * 2f64.ln()).sqrt() + 1e-32, "{round}: {bound}");
        }
    }

    #[test]
    fn rates_and_rounds_out_of_range_are_refused() {
        for rate in [HedgeRate::Fixed(0.0), HedgeRate::Fixed(f64::NAN), HedgeRate::Rounds(0.5)] {
            assert!(Hedge::new(2, rate).is_err(), "{rate:?}");
        }
    }
}
