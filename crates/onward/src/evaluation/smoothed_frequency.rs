//! The smoothed frequency of a class: what a predictor pays by the logistic loss that goes by how often each of two classes
//! has come.
//!
//! After k positive labels and m negative ones the positive class has the probability (k + ½)/(k + m + 1). The frequency
//! itself would pay without limit when a class is new. Krichevsky and Trofimov 1981, The performance of universal encoding.

use crate::Error;
use crate::archive::Archive;
use crate::numeric::sum::Sum;

/// What is added to the count of each class.
pub(super) const SMOOTHING: f64 = 0.5;

/// What predicting k positive and m negative labels by their smoothed frequency costs in all, which does not depend on their
/// order: −ln of Γ(k + ½)·Γ(m + ½)/(π·(k + m)!).
pub(super) fn cost_of(positive: u64, negative: u64) -> f64 {
    let (k, m) = (positive as f64, negative as f64);
    let logarithm_of_pi = libm::log(std::f64::consts::PI);
    libm::lgamma(k + m + 1.0) + logarithm_of_pi - libm::lgamma(k + SMOOTHING) - libm::lgamma(m + SMOOTHING)
}

/// Counts two classes by their importance, and pays for predicting by the counts.
#[derive(Debug, Clone, Default)]
pub(super) struct SmoothedFrequency {
    /// Σ h of either class.
    positive: f64,
    negative: f64,
    /// Σ h·ℓ.
    paid: Sum,
}

impl SmoothedFrequency {
    /// After these labels, in any order.
    pub(super) fn after(positive: u64, negative: u64) -> Self {
        let paid = Sum { sum: cost_of(positive, negative), lost: 0.0 };
        Self { positive: positive as f64, negative: negative as f64, paid }
    }

    /// Charges the prediction for a label of importance > 0, −1 or the probability of the positive class, and then knows
    /// the label.
    pub(super) fn observe(&mut self, label: f64, weight: f64) {
        let share = label.clamp(0.0, 1.0);
        let all = self.positive + self.negative + 2.0 * SMOOTHING;
        // 0·∞ cannot occur: no count is infinite or below ½.
        let information = |share: f64, known: f64| match share > 0.0 {
            true => share * libm::log(all / (known + SMOOTHING)),
            false => 0.0,
        };
        self.paid.add(weight * (information(share, self.positive) + information(1.0 - share, self.negative)));
        self.positive += weight * share;
        self.negative += weight * (1.0 - share);
    }

    /// Σ h·ℓ of its predictions.
    pub(super) fn paid(&self) -> f64 {
        self.paid.total()
    }

    pub(super) fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        archive.size("positive", &mut self.positive)?;
        archive.size("negative", &mut self.negative)?;
        self.paid.persist("paid", archive)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cost_in_all_is_the_sum_of_the_costs_of_the_labels_in_any_order() {
        let orders: [fn(u64) -> f64; 3] =
            [|_| 1.0, |t| if t < 700 { -1.0 } else { 1.0 }, |t| [1.0, -1.0][t as usize % 2]];
        for order in orders {
            let (mut frequency, mut positive) = (SmoothedFrequency::default(), 0);
            for t in 0..1500 {
                let expected = cost_of(positive, t - positive);
                assert!((frequency.paid() - expected).abs() < 1e-10 * (1.0 + expected), "{t}");
                frequency.observe(order(t), 1.0);
                positive += u64::from(order(t) > 0.0);
            }
        }
        // C(2m, m)/16^m: m ln 4 + ½ ln(πm), by Stirling.
        let m = 1e8;
        let expected = 2.0 * m * 2f64.ln() + 0.5 * (std::f64::consts::PI * m).ln();
        assert!((cost_of(m as u64, m as u64) - expected).abs() < 1e-5);
    }

    #[test]
    fn counts_go_on_from_where_they_are() {
        let mut whole = SmoothedFrequency::default();
        [1.0, -1.0, 1.0, 1.0].into_iter().for_each(|label| whole.observe(label, 1.0));
        let mut rest = SmoothedFrequency::after(3, 1);
        for frequency in [&mut whole, &mut rest] {
            [(0.3, 2.0), (-1.0, 0.5), (0.0, 1.0)].into_iter().for_each(|(label, h)| frequency.observe(label, h));
        }
        assert!((whole.paid() - rest.paid()).abs() < 1e-14);
    }
}
