//! ln Σ e^{a_k} of terms that change one at a time.
//!
//! The sum is kept as mass·e^shift, so that neither a_k = 10⁶ nor a_k = −10⁶ leaves the
//! range of numbers. A change costs O(1): what the term was is taken off, what it is now
//! is added. Taking off cancels digits, so the owner of the terms
//! [rebuilds](LogSum::rebuild) the sum from them when it is [worn](LogSum::is_worn):
//! when less than 2⁻²⁰ of its largest value is left, or after as many changes as there
//! are terms (65,536 at least).

use crate::numeric::sum;
use crate::optimizer::prelude::*;

/// ln Σ e^{a_k}, kept up to date term by term.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct LogSum {
    shift: f64,
    /// Σ e^{a_k − shift}.
    mass: f64,
    /// The largest mass since the sum was built.
    peak: f64,
    changes: f64,
}

/// A term so far above the shift makes itself the shift.
const HEADROOM: f64 = 30.0;

/// What must be left of the peak: errors of 2⁻⁵³ of it are 2⁻³³ of what is left.
const LEFT: f64 = 1.0 / (1u64 << 20) as f64;

/// Changes after which rounding is wiped off, at least.
const CHANGES: f64 = 65_536.0;

impl LogSum {
    /// The sum of these terms, given by their logarithms.
    pub(super) fn rebuild(terms: impl Iterator<Item = f64> + Clone) -> Self {
        let shift = terms.clone().fold(f64::NEG_INFINITY, f64::max);
        if shift == f64::NEG_INFINITY {
            return Self::default();
        }
        let mass = sum::sum(terms.map(|term| libm::exp(term - shift)));
        Self { shift, mass, peak: mass, changes: 0.0 }
    }

    /// Replaces a term. −∞ is the logarithm of a term that is not there.
    pub(super) fn replace(&mut self, old: f64, new: f64) {
        if new > self.shift + HEADROOM {
            let factor = libm::exp(self.shift - new);
            self.mass *= factor;
            self.peak *= factor;
            self.shift = new;
        }
        self.mass += libm::exp(new - self.shift) - libm::exp(old - self.shift);
        self.peak = self.peak.max(self.mass);
        self.changes += 1.0;
    }

    /// Whether it should be built anew from its terms, given how many there are.
    pub(super) fn is_worn(&self, terms: f64) -> bool {
        let has_enough_left = self.mass > 0.0 && self.mass >= self.peak * LEFT;
        !has_enough_left || self.changes > CHANGES.max(terms)
    }

    /// e^a divided by the sum.
    #[inline]
    pub(super) fn fraction(&self, term: f64) -> f64 {
        libm::exp(term - self.shift) / self.mass
    }

    /// ln Σ e^{a_k}; −∞ when there is no term.
    pub(super) fn ln(&self) -> f64 {
        if self.mass > 0.0 { self.shift + libm::log(self.mass) } else { f64::NEG_INFINITY }
    }

    /// Saves or loads what is needed to continue to the bit.
    pub(super) fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        visit_fields!(archive.number(self.shift, self.mass, self.peak, self.changes));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_sum_that_was_changed_equals_one_that_was_built(
            changes in prop::collection::vec((0usize..5, prop_oneof![-2.0f64..2.0, -900.0f64..900.0]), 1..200)
        ) {
            let mut terms = [0.0f64; 5];
            let mut kept = LogSum::rebuild(terms.iter().copied());
            for (at, term) in changes {
                kept.replace(terms[at], term);
                terms[at] = term;
                if kept.is_worn(5.0) {
                    kept = LogSum::rebuild(terms.iter().copied());
                }
                let built = LogSum::rebuild(terms.iter().copied());
                // 200 changes of 2⁻⁵³ of the peak each, of which 2⁻²⁰ may be left.
                prop_assert!((kept.ln() - built.ln()).abs() < 200.0 * 2e-16 * 1.1e6, "{} {}", kept.ln(), built.ln());
            }
        }
    }

    #[test]
    fn large_exponents_stay_numbers() {
        let mut sum = LogSum::rebuild([0.0, 0.0].into_iter());
        sum.replace(0.0, 1e6);
        assert_eq!(sum.ln(), 1e6);
        assert_eq!((sum.fraction(1e6), sum.fraction(0.0)), (1.0, 0.0));
        sum.replace(1e6, -1e6);
        // The term of 1 drowned in e^(10⁶): the sum says that it is worn.
        assert!(sum.is_worn(2.0));
        assert_eq!(LogSum::rebuild([-1e6, 0.0].into_iter()).ln(), 0.0);
    }
}
