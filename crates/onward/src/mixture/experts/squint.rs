//! Squint: second-order bounds without a rate to choose (Koolen, van Erven 2015).
//!
//! With r_k = ⟨w, hℓ⟩ − hℓ_k the regret of a round against expert k, R_k = Σ r_k and V_k = Σ r_k²,
//! w_k ∝ π_k·∫ η·e^(ηR_k − η²V_k) γ(dη), with the prior π_k = 1/K on experts and a uniform one, γ, on rates
//! 0 < η ≤ 1/(2B), where B bounds the range of a round's losses. Every rate is tried, and those that
//! suit an expert win. The integrals: `integral.rs`.
//!
//! B is given, or it is the largest range so far. A round whose range exceeds B makes B its range, B', and
//! is counted as r_k·B/B' in R_k and V_k (the first one as it is: weights are equal then whatever B is); what
//! that leaves out, E_k = Σ r_k·(1 − B/B') ≤ B_T, is kept aside (the clipping of Mhammedi, Koolen, van Erven 2019).
//!
//! **Guarantee**, for any losses: the regret against expert k is at most E_k plus the largest R for which
//! 2B·∫ e^(ηR − η²V_k) dη over 0 < η ≤ 1/(2B) is at most K·B/B_1, at the V_k and B that occurred, B_1 being
//! the first B. It is printed for the best of the experts. In units of B it is about 2√(V_k·(ln K + ½·ln V_k)),
//! and of the order of ln K where V_k is small, ln(B/B_1) being added to ln K. With B known, B = B_1 and E_k = 0.
//! *Proof.* Σ_k w_k·r_k = 0, clipped or not, and e^(x−x²) ≤ 1 + x for x ≥ −½. So Σ_k π_k ∫ e^(ηR_k − η²V_k) dη
//! does not grow in a round, and where B grows the integral is over less. At the beginning it is 1/(2B_1), and
//! no summand is more than all of them. ∎
//!
//! **Beforehand** ([`Squint::promise`]), with B known: V_k ≤ T·r² where the losses of a round differ by at most r ≤ B.
//!
//! K·40 to K·80 exponentials per round.

use super::integral::{largest_regret, logarithms};
use super::*;
use crate::archive::visit_fields;
use crate::parameter::{Description, ParameterDescriptor, positive};

/// Squint.
///
/// ```
/// use onward::mixture::experts::{Experts, Squint};
/// let mut experts = Squint::new(3, None)?;
/// (0..1000).for_each(|_| experts.observe(&[0.2, 1.0, 0.9], 1.0));
/// // One expert is always better: V stays small, and so do regret and bound.
/// assert!(experts.guarantee().bound.unwrap() < 10.0);
/// # Ok::<(), onward::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Squint {
    /// B, if it is known beforehand.
    known: Option<f64>,
    /// B_1, and B: 0 while there is none.
    first: f64,
    range: f64,
    /// R_k/B and V_k/B².
    regrets: Vec<f64>,
    variances: Vec<f64>,
    /// E_k.
    clipped: Vec<f64>,
    weights: Vec<f64>,
    excess: Vec<f64>,
}

pub(crate) const RANGE: ParameterDescriptor = positive("range")
    .or("auto")
    .meaning("largest difference between losses in a round, times importance; auto: the largest so far");

impl Squint {
    /// For this number of experts, with the largest range that h·ℓ will have in a round if that is known. Should a larger one
    /// come, it is as if it had not been known: nothing breaks.
    ///
    /// # Errors
    /// When there are no experts or too many, or the range is not from 1e-30 to 1e30.
    pub fn new(count: usize, range: Option<f64>) -> Result<Self, Error> {
        let count = expect_count(count)?;
        let range_or_none = range.map(|range| RANGE.check(range)).transpose()?.unwrap_or(0.0);
        let zeros = || vec![0.0; count];
        Ok(Self {
            known: range,
            first: range_or_none,
            range: range_or_none,
            regrets: zeros(),
            variances: zeros(),
            clipped: zeros(),
            weights: vec![1.0 / count as f64; count],
            excess: zeros(),
        })
    }

    /// What is promised of T rounds before there are any, B being known: a bound on the regret, and on the
    /// guarantee, if the losses of a round differ by at most `range`, times importance. None where `range` is above B.
    ///
    /// ```
    /// use onward::mixture::experts::Squint;
    /// assert!(Squint::promise(4, 1.0, 1e4, 1.0)?.is_some_and(|bound| bound < 1e3));
    /// assert_eq!(Squint::promise(4, 1.0, 1e4, 2.0)?, None);
    /// # Ok::<(), onward::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn promise(count: usize, known: f64, rounds: f64, range: f64) -> Result<Option<f64>, Error> {
        let capacity = libm::log(expect_count(count)? as f64);
        let known = RANGE.check(known)?;
        let share = range / known;
        Ok(match count {
            _ if share > 1.0 => None,
            1 => Some(0.0),
            _ => Some(known * largest_regret(capacity, rounds * share * share)),
        })
    }

    fn weigh(&mut self) {
        let sums = self.regrets.iter().zip(&self.variances);
        for (weight, (&regret, &variance)) in self.weights.iter_mut().zip(sums) {
            *weight = logarithms(regret, variance).1;
        }
        normalise(&mut self.weights);
    }

    /// The regret against expert k.
    fn regret(&self, expert: usize) -> f64 {
        self.regrets[expert] * self.range + self.clipped[expert]
    }
}

impl Experts for Squint {
    fn weights(&self) -> &[f64] {
        &self.weights
    }

    fn observe(&mut self, losses: &[f64], importance: f64) {
        let range = excess(losses, importance, &mut self.excess);
        if range == 0.0 {
            return;
        }
        if self.range == 0.0 {
            (self.first, self.range) = (range, range);
        }
        let kept = if range > self.range { self.range / range } else { 1.0 };
        self.range = self.range.max(range);
        let mean: f64 = self.weights.iter().zip(&self.excess).map(|(weight, excess)| weight * excess).sum();
        for (expert, excess) in self.excess.iter().enumerate() {
            let regret = mean - excess;
            // In units of the B that was; then of the one that is.
            let unit = (regret / self.range).clamp(-1.0, 1.0);
            self.regrets[expert] = (self.regrets[expert] + unit) * kept;
            self.variances[expert] = (self.variances[expert] + unit * unit) * kept * kept;
            self.clipped[expert] = (self.clipped[expert] + regret * (1.0 - kept)).clamp(-LARGEST, LARGEST);
        }
        self.weigh();
    }

    fn guarantee(&self) -> Guarantee {
        if self.range == 0.0 || self.weights.len() == 1 {
            return against_the_best(0.0);
        }
        let regrets: Vec<f64> = (0..self.weights.len()).map(|expert| self.regret(expert)).collect();
        let most = largest(&regrets);
        let cost = libm::log(self.weights.len() as f64) + libm::log(self.range) - libm::log(self.first);
        let bound = |expert: usize| largest_regret(cost, self.variances[expert]) * self.range + self.clipped[expert];
        let best = (0..self.weights.len()).filter(|&expert| regrets[expert] >= most);
        against_the_best(best.map(bound).fold(0.0, f64::max).min(f64::MAX))
    }

    fn describe(&self) -> String {
        Description::of("squint").with_optional(&RANGE, self.known).into()
    }

    fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        persist_column(archive, "regrets", &mut self.regrets, -1e20..=1e20)?;
        persist_column(archive, "variances", &mut self.variances, 0.0..=1e20)?;
        persist_column(archive, "clipped", &mut self.clipped, -LARGEST..=LARGEST)?;
        visit_fields!(archive.size(self.first, self.range));
        let is_sound = self.first <= self.range && (self.first == 0.0) == (self.range == 0.0);
        archive.check(is_sound, "first", "must be at most 'range', and 0 only with it")?;
        if archive.is_loading() {
            self.weigh();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_do_not_depend_on_the_unit_of_losses() {
        let (mut one, mut other) = (Squint::new(3, None).unwrap(), Squint::new(3, None).unwrap());
        for round in 0..200usize {
            let losses = [0, 1, 2].map(|k| ((round * 7 + k * 5) % (11 + round / 20)) as f64);
            one.observe(&losses, 1.0);
            other.observe(&losses, 1024.0);
            let (mut of_one, mut of_other) = ([0.0; 3], [0.0; 3]);
            of_one.copy_from_slice(one.weights());
            of_other.copy_from_slice(other.weights());
            assert_eq!(of_one, of_other);
        }
        let (one, other) = (one.guarantee().bound.unwrap(), other.guarantee().bound.unwrap());
        assert!((1024.0 * one - other).abs() < 1e-9 * other, "{one} {other}");
    }

    #[test]
    fn a_range_that_was_too_small_is_as_good_as_none() {
        let mut experts = Squint::new(2, Some(1e-3)).unwrap();
        let (mut paid, mut sums) = (0.0, [0.0; 2]);
        for round in 0..500usize {
            let losses = [(round % 2) as f64 * 50.0, ((round + 1) % 2) as f64 * 50.0 + 1.0];
            let mut weights = [0.0; 2];
            weights.copy_from_slice(experts.weights());
            for k in 0..2 {
                paid += weights[k] * losses[k];
                sums[k] += losses[k];
            }
            experts.observe(&losses, 1.0);
            let bound = experts.guarantee().bound.unwrap();
            assert!(paid - sums[0].min(sums[1]) <= bound + 1e-9, "{round}");
        }
        assert!(Squint::new(2, Some(0.0)).is_err());
    }
}
