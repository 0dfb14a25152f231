//! Fixed share: Hedge that tracks the best expert as it changes (Herbster, Warmuth 1998).
//!
//! Hedge's step, w_k ∝ w_k·e^(−η_t·hℓ_k), after which a share α_t of all weight is dealt out anew:
//! w_k ← (1 − α_t)·w_k + α_t/K. Where the rate falls, from η_t to η_{t+1}, weights are first taken to the
//! power η_{t+1}/η_t and normalised.
//!
//! Shares: α fixed; or, for m switches, m/(T−1) with T known, else m/(m+t), never above ½. Rates: η fixed;
//! √(8C/T) for T rounds with losses in [0, 1], C being the cost below; or self-tuned, as
//! [`hedge`]'s with the cost so far in place of ln K. Rounds in which all lose the same are left out:
//! they make no sequence of experts better than another.
//!
//! **Guarantee** against every sequence of experts with at most m switches, for rates and shares that do
//! not grow. A round without a switch costs a_t = −ln(1−α_t+α_t/K), one with a switch b_t = ln(K/α_t) ≥ a_t:
//! R_T ≤ ln K/η_T + Σ_{t<T} a_t/η_{t+1} + min(m,T−1)·(b_{T−1}−a_{T−1})/η_T + Σ min(r_t, η_t·r_t²/8).
//! *Proof.* With v the weights after Hedge's step, the mixed loss of round t is ℓ_k + (ln v_k − ln w_k)/η_t for every
//! k. Taking v to the power ρ = η_{t+1}/η_t ≤ 1 divides by Σ v^ρ ≤ K^(1−ρ), so ln(v')/η_{t+1} ≥
//! ln(v)/η_t − (1/η_{t+1} − 1/η_t)·ln K; the share leaves w ≥ (1−α+α/K)·v' to the same expert and
//! ≥ (α/K)·v' to another. Along the sequence the sum telescopes, and ln K/η_1 and the differences add up to ln K/η_T.
//! Switches cost most at the end. Hoeffding's inequality as in [`hedge`]. ∎
//! With η and α fixed and a_t ≤ −ln(1−α) it is the textbook's
//! ((m+1) ln K + m ln(1/α) + (T−m−1) ln(1/(1−α)))/η + ηT/8.
//!
//! **Beforehand** ([`FixedShare::promise`]), with η and α fixed: that, with T·min(r, ηr²/8) where the losses of a round
//! differ by at most r.
//!
//! O(K) per round.

use super::hedge::Ranges;
use super::*;
use crate::archive::visit_fields;
use crate::parameter::{Description, ParameterDescriptor, number, whole};

/// How much weight is dealt out anew after each round.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Share {
    /// What suits the number of switches.
    Tuned,
    /// α, from 0 to 1; 0 only for no switches.
    Fixed(f64),
}

/// The rate of a round and the share that was dealt out before it.
#[derive(Debug, Clone, Copy, Default)]
struct Tuning {
    eta: f64,
    share: f64,
}

/// Fixed share.
///
/// ```
/// use onward::mixture::experts::{Experts, FixedShare, HedgeRate, Share};
/// let mut experts = FixedShare::new(2, 1, HedgeRate::Rounds(200.0), Share::Tuned)?;
/// (0..100).for_each(|_| experts.observe(&[0.0, 1.0], 1.0));
/// (0..20).for_each(|_| experts.observe(&[1.0, 0.0], 1.0));
/// let mut weights = [0.0; 2];
/// weights.copy_from_slice(experts.weights());
/// // Hedge would still have to wait for eighty rounds.
/// assert!(weights[1] > 0.9);
/// # Ok::<(), onward::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct FixedShare {
    /// m.
    switches: u64,
    rate: HedgeRate,
    share: Share,
    /// ln K.
    capacity: f64,
    /// ln w_k.
    logarithms: Vec<f64>,
    weights: Vec<f64>,
    excess: Vec<f64>,
    ranges: Ranges,
    /// T.
    rounds: f64,
    /// Those of the last round, and of the next.
    used: Tuning,
    next: Tuning,
    /// Σ a_t, and Σ a_t/η_{t+1}, over all but the last round.
    stays: f64,
    staying: f64,
    /// Σ min(r_t, η_t·r_t²/8).
    paid: f64,
}

pub(crate) const ALPHA: ParameterDescriptor = number("alpha", 0.0..=1.0)
    .or("auto")
    .meaning("share of the weight redistributed per round; auto: switches/(switches + rounds so far)");

/// Without a share no switch is followed.
const ALPHA_OF_SWITCHES: ParameterDescriptor = number("alpha", 1e-30..=1.0);

/// Against more the bound says nothing.
pub(crate) const SWITCHES: ParameterDescriptor =
    whole("switches", 0..=1_000_000_000).default("3").meaning("how often the best expert may change in the guarantee");

impl FixedShare {
    /// For this number of experts, with a guarantee against sequences of them with at most this many switches.
    ///
    /// # Errors
    /// When there are no experts or too many, a rate is out of range (as [`HedgeRate`]), the share is not from
    /// 0 to 1, or 0 with switches.
    pub fn new(count: usize, switches: u64, rate: HedgeRate, share: Share) -> Result<Self, Error> {
        let count = expect_count(count)?;
        rate.check()?;
        if let Share::Fixed(alpha) = share {
            let range = if switches > 0 { ALPHA_OF_SWITCHES } else { ALPHA };
            range.check(alpha)?;
        }
        let even = 1.0 / count as f64;
        Ok(Self {
            switches,
            rate,
            share,
            capacity: libm::log(count as f64),
            logarithms: vec![libm::log(even); count],
            weights: vec![even; count],
            excess: vec![0.0; count],
            ranges: Ranges::default(),
            rounds: 0.0,
            used: Tuning::default(),
            next: Tuning::default(),
            stays: 0.0,
            staying: 0.0,
            paid: 0.0,
        })
    }

    /// What is promised of T rounds before there are any: a bound on the regret, and on the guarantee, if the losses
    /// of a round differ by at most `range`, times importance. None where rate or share depend on what comes: with
    /// [`HedgeRate::Rounds`], or with both fixed, they do not.
    ///
    /// ```
    /// use onward::mixture::experts::{FixedShare, HedgeRate, Share};
    /// let promise = |rate| FixedShare::promise(2, 3, rate, Share::Tuned, 1e4, 1.0);
    /// assert!(promise(HedgeRate::Rounds(1e4))?.is_some_and(|bound| bound < 500.0));
    /// assert_eq!(promise(HedgeRate::SelfTuned)?, None);
    /// # Ok::<(), onward::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn promise(
        count: usize,
        switches: u64,
        rate: HedgeRate,
        share: Share,
        rounds: f64,
        range: f64,
    ) -> Result<Option<f64>, Error> {
        let experts = Self::new(count, switches, rate, share)?;
        if !matches!((rate, share), (HedgeRate::Rounds(_), _) | (HedgeRate::Fixed(_), Share::Fixed(_))) {
            return Ok(None);
        }
        if count == 1 {
            return Ok(Some(0.0));
        }
        let alpha = experts.share(1.0);
        let eta = experts.rate(alpha, 0.0, range);
        let between = (rounds - 1.0).max(0.0);
        let moves = experts.switching((switches as f64).min(between), alpha);
        let cost = experts.capacity + between * experts.stay(alpha) + moves;
        Ok(Some(cost / eta + rounds * hoeffding(eta, range)))
    }

    /// α_t, t counted from 1.
    fn share(&self, round: f64) -> f64 {
        let switches = self.switches as f64;
        match (self.share, self.rate) {
            (Share::Fixed(alpha), _) => alpha,
            (Share::Tuned, HedgeRate::Rounds(rounds)) => (switches / (rounds - 1.0).max(1.0)).min(0.5),
            (Share::Tuned, _) => (switches / (switches + round)).min(0.5),
        }
    }

    /// a: what a round without a switch costs.
    fn stay(&self, share: f64) -> f64 {
        -libm::log1p(-share + share / self.weights.len() as f64)
    }

    /// m·(b − a), for this many switches.
    fn switching(&self, switches: f64, share: f64) -> f64 {
        if switches > 0.0 { switches * (self.capacity - libm::log(share) - self.stay(share)) } else { 0.0 }
    }

    /// The rate after shares whose stays cost so much, should the next range be this.
    fn rate(&self, share: f64, stays: f64, range: f64) -> f64 {
        let switches = self.switches as f64;
        match self.rate {
            HedgeRate::Fixed(eta) => eta,
            HedgeRate::Rounds(rounds) => {
                let kept = (rounds - 1.0 - switches).max(0.0);
                let cost = self.capacity + self.switching(switches, share) + (kept + switches) * self.stay(share);
                (8.0 * cost / rounds).sqrt()
            }
            HedgeRate::SelfTuned => self.ranges.rate(self.capacity + self.switching(switches, share) + stays, range),
        }
    }

    /// Hedge's step, the power, and the share.
    fn step(&mut self) {
        let (eta, next) = (self.used.eta, self.next.eta);
        let power = next / eta;
        for (logarithm, excess) in self.logarithms.iter_mut().zip(&self.excess) {
            *logarithm = (*logarithm - (eta * excess).min(LARGEST)).max(-LARGEST) * power;
        }
        let sum = log_sum(self.logarithms.iter().copied());
        let (keep, deal) = (1.0 - self.next.share, self.next.share / self.weights.len() as f64);
        for (logarithm, weight) in self.logarithms.iter_mut().zip(&mut self.weights) {
            *logarithm -= sum;
            // With a share the weight is at least α/K: nothing vanishes.
            if deal > 0.0 {
                *logarithm = libm::log(keep * libm::exp(*logarithm) + deal);
            }
            *weight = *logarithm;
        }
        normalise(&mut self.weights);
    }
}

impl Experts for FixedShare {
    fn weights(&self) -> &[f64] {
        &self.weights
    }

    fn observe(&mut self, losses: &[f64], importance: f64) {
        let range = excess(losses, importance, &mut self.excess);
        if range == 0.0 {
            return;
        }
        if self.rounds == 0.0 {
            self.next = Tuning { eta: self.rate(self.share(1.0), 0.0, range), share: 0.0 };
        } else {
            let stay = self.stay(self.next.share);
            self.stays += stay;
            self.staying = (self.staying + stay / self.next.eta).min(f64::MAX);
        }
        self.rounds += 1.0;
        self.used = self.next;
        self.paid = (self.paid + hoeffding(self.used.eta, range)).min(f64::MAX);
        self.ranges.add(range);
        let share = self.share(self.rounds);
        let eta = self.rate(share, self.stays + self.stay(share), range).min(self.used.eta);
        self.next = Tuning { eta, share };
        self.step();
    }

    fn guarantee(&self) -> Guarantee {
        let comparator = Comparator::SwitchingExperts(self.switches);
        // All sequences of one expert are the same.
        if self.rounds == 0.0 || self.weights.len() == 1 {
            return Guarantee::of_mixture(comparator, Ok(0.0));
        }
        let switches = (self.switches as f64).min(self.rounds - 1.0);
        let cost = self.capacity + self.switching(switches, self.used.share);
        Guarantee::of_mixture(comparator, Ok(cost / self.used.eta + self.staying + self.paid))
    }

    fn describe(&self) -> String {
        let alpha = if let Share::Fixed(alpha) = self.share { Some(alpha) } else { None };
        let share = Description::of("fixed-share").with_optional(&ALPHA, alpha);
        self.rate.describe(share).with(&SWITCHES, self.switches).into()
    }

    fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        persist_column(archive, "logarithms", &mut self.logarithms, -f64::MAX..=1e-9)?;
        self.ranges.persist(archive)?;
        archive.size("rounds", &mut self.rounds)?;
        for (name, tuning) in [("used", &mut self.used), ("next", &mut self.next)] {
            archive.part(name, |archive| {
                archive.size("eta", &mut tuning.eta)?;
                let is_sound = tuning.eta > 0.0 || self.rounds == 0.0;
                archive.check(is_sound, "eta", "must be above 0 once there were rounds")?;
                archive.size("share", &mut tuning.share)?;
                archive.check(tuning.share <= 1.0, "share", "must be at most 1")
            })?;
        }
        visit_fields!(archive.size(self.stays, self.staying, self.paid));
        if archive.is_loading() {
            self.weights.copy_from_slice(&self.logarithms);
            normalise(&mut self.weights);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn losses(round: usize) -> [f64; 3] {
        [0, 1, 2].map(|k| ((round * 7 + k * 5) % 11) as f64 / 11.0)
    }

    #[test]
    fn it_is_a_mixture_of_all_sequences_of_experts() {
        const ROUNDS: usize = 6;
        let (eta, alpha) = (0.9, 0.2);
        let mut experts = FixedShare::new(3, 1, HedgeRate::Fixed(eta), Share::Fixed(alpha)).unwrap();
        for round in 0..ROUNDS {
            // By brute force: the weight of a sequence is its prior and e^(−η·its loss so far).
            let mut brute = [0.0; 3];
            for code in 0..3usize.pow(round as u32 + 1) {
                let expert = |at: usize| code / 3usize.pow(at as u32) % 3;
                let mut weight = 1.0 / 3.0;
                for at in 0..round {
                    let stays = if expert(at) == expert(at + 1) { 1.0 - alpha } else { 0.0 };
                    weight *= (-eta * losses(at)[expert(at)]).exp() * (stays + alpha / 3.0);
                }
                brute[expert(round)] += weight;
            }
            let total: f64 = brute.iter().sum();
            let mut weights = [0.0; 3];
            weights.copy_from_slice(experts.weights());
            weights.iter().zip(brute).for_each(|(w, b)| assert!((w - b / total).abs() < 1e-14));
            experts.observe(&losses(round), 1.0);
        }
    }

    #[test]
    fn without_switches_it_is_hedge() {
        for rate in [HedgeRate::Fixed(0.5), HedgeRate::SelfTuned, HedgeRate::Rounds(60.0)] {
            let mut one = FixedShare::new(3, 0, rate, Share::Tuned).unwrap();
            let mut other = super::super::Hedge::new(3, rate).unwrap();
            for round in 0..60 {
                one.observe(&losses(round), 1.5);
                other.observe(&losses(round), 1.5);
                let (mut of_one, mut of_other) = ([0.0; 3], [0.0; 3]);
                of_one.copy_from_slice(one.weights());
                of_other.copy_from_slice(other.weights());
                of_one.iter().zip(of_other).for_each(|(one, other)| assert!((one - other).abs() < 1e-12));
            }
            let (one, other) = (one.guarantee().bound.unwrap(), other.guarantee().bound.unwrap());
            assert!((one - other).abs() < 1e-12 * other, "{rate:?}: {one} {other}");
        }
    }

    #[test]
    fn known_constants_give_no_more_than_the_bound_of_the_textbook() {
        let (k, t, m) = (3f64, 500f64, 4f64);
        let mut experts = FixedShare::new(3, 4, HedgeRate::Rounds(t), Share::Tuned).unwrap();
        for round in 0..500 {
            let losses = [0, 1, 2].map(|expert| f64::from(u8::from(round % 3 == expert)));
            experts.observe(&losses, 1.0);
        }
        let alpha = m / (t - 1.0);
        let cost = (m + 1.0) * k.ln() + m * (1.0 / alpha).ln() + (t - m - 1.0) * (1.0 / (1.0 - alpha)).ln();
        let textbook = (cost * t / 2.0).sqrt();
        let bound = experts.guarantee().bound.unwrap();
        assert!(bound <= textbook && bound >= 0.95 * textbook, "{bound} {textbook}");
    }

    #[test]
    fn shares_out_of_range_are_refused() {
        let new = |switches, alpha| FixedShare::new(2, switches, HedgeRate::SelfTuned, Share::Fixed(alpha));
        assert!(new(1, 0.0).is_err() && new(1, 1.5).is_err() && new(1, f64::NAN).is_err());
        assert!(new(0, 0.0).is_ok() && new(1, 1.0).is_ok());
    }
}
