//! A running sum with its rounding error kept beside it.

use crate::Error;
use crate::archive::Archive;
use crate::numeric::sum::Sum;

/// The largest magnitude of a term, 2^960 ≈ 10^289: 2^63 of them do not
/// overflow, so that no finite stream can make a sum infinite.
const LARGEST: f64 = f64::from_bits((1023 + 960) << 52);

/// The number itself, or ±2^960 where it lies beyond.
#[inline]
pub(super) fn bounded(number: f64) -> f64 {
    number.clamp(-LARGEST, LARGEST)
}

/// Σ terms by compensated summation: a [`Sum`] of bounded terms.
///
/// The error of [`value`](CompensatedTotal::value) is about one rounding of the result plus
/// n²ε²·Σ|terms|, where plain addition has nε·Σ|terms| (ε = 2^−53): on 10⁹ terms
/// of either sign nothing is lost that matters. Terms beyond ±2^960 count as ±2^960.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct CompensatedTotal(pub(super) Sum);

impl CompensatedTotal {
    /// Adds a term.
    #[inline]
    pub(super) fn add(&mut self, term: f64) {
        self.0.add(bounded(term));
    }

    /// The sum so far.
    pub(super) fn value(self) -> f64 {
        self.0.total()
    }

    /// The sum over a total weight: a weighted mean. None before any weight.
    pub(super) fn per(self, weight: CompensatedTotal) -> Option<f64> {
        let weight = weight.value();
        (weight > 0.0).then(|| self.value() / weight)
    }

    /// How much larger this sum is than another.
    pub(super) fn minus(self, other: CompensatedTotal) -> f64 {
        (self.0.sum - other.0.sum) + (self.0.lost - other.0.lost)
    }

    /// Saves the sum, of either sign, under `name` and what was rounded off under `name_rest`, or loads them.
    pub(super) fn persist(&mut self, name: &str, archive: &mut Archive) -> Result<(), Error> {
        archive.finite(name, &mut self.0.sum)?;
        archive.finite(&format!("{name}_rest"), &mut self.0.lost)
    }

    /// The same, for a sum of terms that are not negative.
    pub(super) fn persist_count(&mut self, name: &str, archive: &mut Archive) -> Result<(), Error> {
        self.persist(name, archive)?;
        archive.check(self.is_count(), name, "must be finite and not below 0")
    }

    /// Whether it may be a sum of terms that are not negative.
    pub(super) fn is_count(self) -> bool {
        (0.0..=f64::MAX).contains(&self.value())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn total(terms: impl IntoIterator<Item = f64>) -> CompensatedTotal {
        let mut total = CompensatedTotal::default();
        terms.into_iter().for_each(|term| total.add(term));
        total
    }

    #[test]
    fn small_terms_survive_between_large_ones_that_cancel() {
        let terms = [1e16, 1.0, 1.0, 1.0, -1e16];
        assert_eq!(total(terms).value(), 3.0);
        assert_ne!(terms.iter().sum::<f64>(), 3.0, "plain addition loses them");
    }

    #[test]
    fn a_million_tenths_make_a_hundred_thousand_exactly() {
        // 0.1 is stored as 0.1 + 5.55e-18: the exact sum is 5.55e-12 too large, less than
        // half the distance 1.46e-11 between neighbours of 100000.
        assert_eq!(total((0..1_000_000).map(|_| 0.1)).value(), 100_000.0);
        assert_ne!((0..1_000_000).map(|_| 0.1).sum::<f64>(), 100_000.0);
    }

    #[test]
    fn the_largest_terms_do_not_make_a_sum_infinite() {
        let sum = total([f64::MAX, f64::INFINITY, f64::MAX]).value();
        assert_eq!(sum, 3.0 * LARGEST);
        assert!((sum * (2f64).powi(60)).is_finite());
        assert_eq!(total([f64::INFINITY, f64::NEG_INFINITY]).value(), 0.0);
    }

    #[test]
    fn the_mean_of_nothing_is_none() {
        assert_eq!(total([1.0]).per(CompensatedTotal::default()), None);
        assert_eq!(total([1.0, 2.0]).per(total([2.0])), Some(1.5));
    }
}
