//! Who to believe: weights of experts that predict side by side.
//!
//! Expert k of K has a weight π_k that grows as its losses ℓ_k stay small.
//!
//! - *Bayes*, for the logistic loss: π_k ∝ e^(−Σ h·ℓ_k/H), H being the largest importance so far, and the
//!   prediction is the mean of probabilities. −ln of it to the power h/H ≤ 1 is what a mixture of
//!   e^(−hℓ_k/H) pays or less, so the mixture pays at most H·ln K more than the best expert (DeSantis,
//!   Markowsky, Wegman 1988; Vovk 1990); where H grows to H', π_k becomes π_k^(H/H'), normalised, as if H' had
//!   been known. A share α = min(½, 1/(t+2) + 10⁻⁴) of all weight is dealt out anew after round t
//!   (Herbster, Warmuth 1998), so that an expert that becomes the best is found; it costs
//!   −H·ln(1 − α + α/K) per round at most, which the bound counts.
//! - *Bernstein online aggregation*, for squared losses (Wintenberger 2017): by the regret against
//!   each expert on the loss's tangent, r_k = h·g·(q − p_k), q being the mixture's prediction and g the
//!   derivative there: π_k ∝ η_k·e^(η_k·Σ (r_k − η_k·r_k²)), η_k = min(√(ln K/Σ r_k²), 1/(2·max |r_k|)).
//!   Its theorem is about another order of the same steps: the measured gap is reported, no bound.
//! - *AdaHedge*, for all other losses (de Rooij, van Erven, Grünwald, Koolen 2014): π_k ∝ e^(−η·Σ h·ℓ_k)
//!   with η = ln K/Δ, Δ being what mixing has cost so far. For convex losses the mixture pays at most
//!   2Δ more than the best expert.

use super::{Experts, MOST_EXPERTS, total};
use crate::Error;
use crate::archive::{Archive, visit_fields};
use crate::mixture::experts::{adahedge, least};
use crate::numeric::exp_log;
use crate::simd::{larger, smaller, vectorised};

/// Why there is no bound.
pub(super) const UNBOUNDED: &str = "squared losses are mixed by a rule that has no bound";

/// How the weights follow from the losses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Mixing {
    #[default]
    Bayes,
    Bernstein,
    AdaHedge,
}

/// A round, as the mixture sees it.
pub(super) struct Paid<'a> {
    /// ℓ_k.
    pub(super) losses: &'a Experts,
    /// e^(−ℓ_k), if that is known.
    pub(super) likelihoods: Option<&'a Experts>,
    /// p_k.
    pub(super) scores: &'a Experts,
    /// ℓ of the mixture's prediction.
    pub(super) loss: f64,
    /// q.
    pub(super) score: f64,
    /// ∂ℓ/∂q.
    pub(super) derivative: f64,
    /// Scores that differ by no more than this are equal, but for rounding.
    pub(super) resolution: f64,
    /// The importance.
    pub(super) h: f64,
}

/// The weights and losses of experts.
#[derive(Debug, Clone, Default)]
pub(super) struct Mixture {
    mixing: Mixing,
    /// ln K, K being how many experts there were at the beginning: bounds count those that left.
    capacity: f64,
    /// How many there are; what arrays hold beyond is 0.
    experts: usize,
    /// π_k.
    weights: Experts,
    /// Σ h·ℓ_k.
    losses: Experts,
    /// Σ h·ℓ of the mixture.
    paid: f64,
    /// Σ (r_k − η_k·r_k²), Σ r_k² and max |r_k|.
    regrets: Experts,
    squares: Experts,
    largest: Experts,
    rounds: f64,
    /// Σ h.
    weight: f64,
    /// Σ −H·ln(1 − α + α/K) for Bayes, Δ for AdaHedge.
    cost: f64,
    /// H: the largest h so far.
    heaviest: f64,
}

/// What is dealt out anew in every round, however many there were.
const LEAST_SHARE: f64 = 1e-4;

impl Mixture {
    pub(super) fn new(mixing: Mixing, experts: usize) -> Self {
        let mut mixture = Self { mixing, capacity: libm::log(experts as f64), experts, ..Self::default() };
        mixture.weights[..experts].fill(1.0 / experts as f64);
        mixture
    }

    /// π_k.
    pub(super) fn weights(&self) -> &[f64] {
        &self.weights[..self.experts]
    }

    /// The same, followed by zeros.
    pub(super) fn all_weights(&self) -> &Experts {
        &self.weights
    }

    /// Σ h·ℓ_k.
    pub(super) fn losses(&self) -> &[f64] {
        &self.losses[..self.experts]
    }

    /// Σ h·ℓ of the mixture.
    pub(super) fn paid(&self) -> f64 {
        self.paid
    }

    /// Σ h.
    pub(super) fn weight(&self) -> f64 {
        self.weight
    }

    /// Takes in a round.
    #[inline(always)]
    pub(super) fn observe(&mut self, paid: &Paid<'_>) {
        self.rounds += 1.0;
        self.weight += paid.h;
        self.paid = (self.paid + paid.h * paid.loss).clamp(f64::MIN, f64::MAX);
        if self.mixing == Mixing::AdaHedge {
            let losses = &paid.losses[..self.experts];
            let gap = adahedge::mixability_gap(self.eta(), self.weights(), self.losses(), losses, paid.h);
            self.cost = (self.cost + gap).min(f64::MAX);
        }
        for at in 0..MOST_EXPERTS {
            let sum = self.losses[at] + paid.h * paid.losses[at];
            self.losses[at] = smaller(f64::MAX, larger(f64::MIN, sum));
        }
        match self.mixing {
            Mixing::Bayes => self.bayes(paid),
            Mixing::Bernstein => self.bernstein(paid),
            Mixing::AdaHedge => self.hedge(),
        }
    }

    #[inline(always)]
    fn bayes(&mut self, paid: &Paid<'_>) {
        if paid.h > self.heaviest {
            self.temper(self.heaviest / paid.h);
            self.heaviest = paid.h;
        }
        // Never 0 for all: shares keep each weight above 10⁻⁴/K, and no likelihood is below e^(−50), or, of
        // those that are computed here, that of the least loss is 1.
        let rate = paid.h / self.heaviest;
        match paid.likelihoods {
            Some(likelihoods) if rate == 1.0 => {
                for at in 0..MOST_EXPERTS {
                    self.weights[at] *= likelihoods[at];
                }
            }
            _ => {
                let least = least(&paid.losses[..self.experts]);
                let pairs = self.weights[..self.experts].iter_mut().zip(paid.losses);
                pairs.for_each(|(weight, loss)| *weight *= libm::exp(-(rate * (loss - least))));
            }
        }
        let sum = total(&self.weights);
        let experts = self.experts as f64;
        let share = smaller(1.0 / (self.rounds + 1.0) + LEAST_SHARE, 0.5);
        self.cost -= self.heaviest * exp_log::ln(1.0 - share + share / experts);
        self.weights = self.weights.map(|weight| (1.0 - share) * (weight / sum) + share / experts);
        self.weights[self.experts..].fill(0.0);
    }

    /// π_k ← π_k^power, normalised.
    fn temper(&mut self, power: f64) {
        self.weights[..self.experts].iter_mut().for_each(|weight| *weight = libm::pow(*weight, power));
        let sum = total(&self.weights);
        self.weights.iter_mut().for_each(|weight| *weight /= sum);
    }

    fn bernstein(&mut self, paid: &Paid<'_>) {
        let logarithms = believe(self.capacity, &mut self.squares, &mut self.largest, &mut self.regrets, paid);
        let known = || logarithms[..self.experts].iter().zip(&self.squares).filter(|(_, square)| **square > 0.0);
        // The logarithm of the largest rate, for experts that have said nothing of their own so far.
        let fastest = known().fold(f64::NEG_INFINITY, |most, ((rate, _), _)| most.max(*rate));
        let fastest = if fastest.is_finite() { fastest } else { 0.0 };
        let mut most = f64::NEG_INFINITY;
        for (at, (rate, belief)) in logarithms.into_iter().enumerate().take(self.experts) {
            // For now the logarithm of the weight.
            self.weights[at] = if self.squares[at] > 0.0 { belief + rate } else { fastest };
            most = most.max(self.weights[at]);
        }
        self.normalise(most);
    }

    /// π_k ∝ e^(−η·Σ h·ℓ_k).
    fn hedge(&mut self) {
        let (eta, best) = (self.eta(), least(self.losses()));
        for (weight, sum) in self.weights.iter_mut().zip(&self.losses) {
            let behind = sum - best;
            *weight = if behind > 0.0 { -(eta * behind).min(f64::MAX) } else { 0.0 };
        }
        self.normalise(0.0);
    }

    /// AdaHedge's rate.
    fn eta(&self) -> f64 {
        adahedge::rate(self.capacity, self.cost)
    }

    /// From logarithms to weights, the largest being `most`.
    fn normalise(&mut self, most: f64) {
        self.weights = exponentials(&self.weights, most);
        self.weights[self.experts..].fill(0.0);
        let sum = total(&self.weights);
        self.weights.iter_mut().for_each(|weight| *weight /= sum);
    }

    /// What the mixture pays more than its best expert, at most.
    pub(super) fn bound(&self) -> Result<f64, String> {
        match self.mixing {
            Mixing::Bayes => Ok(self.heaviest * self.capacity + self.cost),
            Mixing::Bernstein => Err(UNBOUNDED.to_owned()),
            Mixing::AdaHedge => Ok(2.0 * self.cost),
        }
    }

    /// The mixture of some of its experts.
    pub(super) fn narrowed(&self, kept: &[usize]) -> Self {
        let pick =
            |column: &Experts| -> Experts { std::array::from_fn(|at| kept.get(at).map_or(0.0, |&from| column[from])) };
        let mut weights = pick(&self.weights);
        let sum = total(&weights);
        if sum > 0.0 {
            weights.iter_mut().for_each(|weight| *weight /= sum);
        } else {
            weights[..kept.len()].fill(1.0 / kept.len() as f64);
        }
        Self {
            experts: kept.len(),
            weights,
            losses: pick(&self.losses),
            regrets: pick(&self.regrets),
            squares: pick(&self.squares),
            largest: pick(&self.largest),
            ..self.clone()
        }
    }

    pub(super) fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        archive.array("weights", &mut self.weights[..self.experts])?;
        archive.array("losses", &mut self.losses[..self.experts])?;
        archive.array("regrets", &mut self.regrets[..self.experts])?;
        archive.array("squares", &mut self.squares[..self.experts])?;
        archive.array("largest", &mut self.largest[..self.experts])?;
        visit_fields!(archive.number(self.capacity, self.paid, self.rounds, self.weight, self.cost, self.heaviest));
        Ok(())
    }
}

vectorised! {
    /// Takes in the regrets of a round for Bernstein online aggregation: of each expert ln η_k and η_k·Σ (r_k − η_k·r_k²).
    fn believe(capacity: f64, squares: &mut Experts, largest: &mut Experts, regrets: &mut Experts, paid: &Paid<'_>) -> [(f64, f64); MOST_EXPERTS] {
        let mut logarithms = [(0.0, 0.0); MOST_EXPERTS];
        for at in 0..MOST_EXPERTS {
            let difference = paid.score - paid.scores[at];
            let difference = if difference.abs() > paid.resolution { difference } else { 0.0 };
            let regret = smaller(LARGEST, larger(-LARGEST, paid.h * paid.derivative * difference));
            squares[at] = smaller(f64::MAX, squares[at] + regret * regret);
            largest[at] = larger(regret.abs(), largest[at]);
            let is_known = squares[at] > 0.0;
            let eta = smaller((capacity / squares[at]).sqrt(), 0.5 / largest[at]);
            let eta = if is_known { eta } else { 1.0 };
            regrets[at] += if is_known { regret - eta * regret * regret } else { 0.0 };
            logarithms[at] = (exp_log::ln(eta), eta * regrets[at]);
        }
        logarithms
    }
}

vectorised! {
    /// e^(l − most) of each.
    fn exponentials(logarithms: &Experts, most: f64) -> Experts {
        logarithms.map(|logarithm| exp_log::exp(logarithm - most))
    }
}

/// A regret beyond this counts as this: its square is finite.
const LARGEST: f64 = 1e150;

#[cfg(test)]
mod tests {
    use super::*;

    /// Losses that look at random.
    fn losses(round: usize, experts: usize) -> Experts {
        std::array::from_fn(|k| if k < experts { ((round * 7919 + k * 104_729) % 1000) as f64 / 400.0 } else { 0.0 })
    }

    fn observe(mixture: &mut Mixture, losses: &Experts, h: f64) {
        let scores = [0.0; MOST_EXPERTS];
        let (loss, score, derivative, resolution) = (0.0, 0.0, 0.0, 0.0);
        let paid = Paid { losses, likelihoods: None, scores: &scores, loss, score, derivative, resolution, h };
        mixture.observe(&paid);
    }

    /// The share that is dealt out after round t, counted from 1.
    fn share(t: usize) -> f64 {
        (1.0 / (t as f64 + 1.0) + LEAST_SHARE).min(0.5)
    }

    #[test]
    fn bayes_is_the_sum_over_all_sequences_of_experts() {
        const EXPERTS: usize = 3;
        const ROUNDS: usize = 6;
        let mut mixture = Mixture::new(Mixing::Bayes, EXPERTS);
        let mut mixed = 0.0;
        for round in 0..ROUNDS {
            let losses = losses(round, EXPERTS);
            let likelihood: f64 = mixture.weights().iter().zip(&losses).map(|(w, loss)| w * (-loss).exp()).sum();
            mixed -= likelihood.ln();
            observe(&mut mixture, &losses, 1.0);
        }
        // Brute force: a sequence of experts, one a round, goes on as it is or is drawn anew.
        let mut total = 0.0;
        for code in 0..EXPERTS.pow(ROUNDS as u32) {
            let expert = |round: usize| code / EXPERTS.pow(round as u32) % EXPERTS;
            let mut likelihood = 1.0 / EXPERTS as f64;
            for round in 0..ROUNDS {
                if round > 0 {
                    let stays = if expert(round) == expert(round - 1) { 1.0 - share(round) } else { 0.0 };
                    likelihood *= stays + share(round) / EXPERTS as f64;
                }
                likelihood *= (-losses(round, EXPERTS)[expert(round)]).exp();
            }
            total += likelihood;
        }
        assert!((mixed + f64::ln(total)).abs() < 1e-12, "{mixed} {}", -f64::ln(total));
    }

    #[test]
    fn for_adahedge_importance_is_so_many_copies_of_a_loss() {
        let (mut one, mut other) = (Mixture::new(Mixing::AdaHedge, 4), Mixture::new(Mixing::AdaHedge, 4));
        let doubled = losses(5, 4).map(|loss| 2.0 * loss);
        observe(&mut one, &losses(5, 4), 2.0);
        observe(&mut other, &doubled, 1.0);
        assert_eq!(one.weights(), other.weights());
    }

    #[test]
    fn for_bayes_the_unit_of_importance_changes_the_unit_of_the_bound_only() {
        let (mut one, mut other) = (Mixture::new(Mixing::Bayes, 4), Mixture::new(Mixing::Bayes, 4));
        for round in 0..50 {
            let h = [1.0, 3.0, 0.5, 8.0][round % 4];
            observe(&mut one, &losses(round, 4), h);
            observe(&mut other, &losses(round, 4), 1024.0 * h);
        }
        assert_eq!(one.weights(), other.weights());
        assert_eq!(1024.0 * one.bound().unwrap(), other.bound().unwrap());
    }

    #[test]
    fn a_larger_importance_makes_of_weights_what_they_were_had_it_been_known() {
        let (mut one, mut other) = (Mixture::new(Mixing::Bayes, 3), Mixture::new(Mixing::Bayes, 3));
        // Without shares, which would be dealt out at other times.
        let likelihood = |k: usize, power: f64| [0.5f64, 0.2, 0.3][k].powf(power);
        (0..3).for_each(|k| one.weights[k] = likelihood(k, 1.0));
        one.temper(1.0 / 7.0);
        (0..3).for_each(|k| other.weights[k] = likelihood(k, 1.0 / 7.0));
        other.temper(1.0);
        one.weights.iter().zip(&other.weights).for_each(|(one, other)| assert!((one - other).abs() < 1e-15));
    }

    #[test]
    fn adahedge_is_within_its_bound_on_losses_made_against_it() {
        for experts in [2, 5] {
            let mut mixture = Mixture::new(Mixing::AdaHedge, experts);
            let mut paid = 0.0;
            for round in 0..2000usize {
                // Whoever is believed most loses.
                let most = (0..experts).max_by(|&a, &b| mixture.weights()[a].total_cmp(&mixture.weights()[b])).unwrap();
                let losses = std::array::from_fn(|k| f64::from(u8::from(k == most)));
                paid += mixture.weights().iter().zip(&losses).map(|(w, loss)| w * loss).sum::<f64>();
                observe(&mut mixture, &losses, 1.0);
                let regret = paid - least(mixture.losses());
                let bound = mixture.bound().unwrap();
                assert!(regret <= bound + 1e-9, "{experts} {round}: {regret} {bound}");
                // Its theorem: no more than about 2√(Σ variance·ln K), here at most √T.
                assert!(bound <= 2.0 * ((round + 1) as f64 * (experts as f64).ln()).sqrt() + 6.0, "{round}: {bound}");
            }
        }
    }

    #[test]
    fn bernstein_follows_the_best_of_experts_on_squared_loss() {
        let mut mixture = Mixture::new(Mixing::Bernstein, 5);
        let (mut paid, mut best) = (0.0, 0.0);
        for round in 0..5000usize {
            let noise = losses(round, 1)[0] - 1.25;
            let scores: Experts = std::array::from_fn(|k| k as f64 / 2.0);
            let y = 1.5 + noise;
            let score: f64 = mixture.weights().iter().zip(&scores).map(|(w, s)| w * s).sum();
            paid += (score - y) * (score - y);
            best += (scores[3] - y) * (scores[3] - y);
            let losses = scores.map(|s| (s - y) * (s - y));
            let derivative = 2.0 * (score - y);
            let (loss, resolution) = ((score - y) * (score - y), 1e-12);
            let (losses, likelihoods, scores) = (&losses, None, &scores);
            mixture.observe(&Paid { losses, likelihoods, scores, loss, score, derivative, resolution, h: 1.0 });
        }
        // Of the order of ln K times the range of losses, and not of √T·ln K.
        assert!(paid - best < 30.0, "{}", paid - best);
        assert!(mixture.weights()[3] > 0.9, "{:?}", mixture.weights());
    }
}
