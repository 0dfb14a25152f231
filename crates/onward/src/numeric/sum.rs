//! Sums whose bits do not depend on vector width: eight accumulators, joined in
//! a fixed tree. No fused multiply-add: Rust never contracts on its own.

/// How many accumulators run side by side.
pub(crate) const LANES: usize = 8;

/// Joins the accumulators in a fixed tree.
#[inline]
pub(crate) fn join(sums: [f64; LANES]) -> f64 {
    ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]))
}

/// Σ terms, term k added to accumulator k mod 8.
#[inline]
pub(crate) fn sum(terms: impl Iterator<Item = f64>) -> f64 {
    let mut sums = [0.0; LANES];
    for (at, term) in terms.enumerate() {
        sums[at % LANES] += term;
    }
    join(sums)
}

/// Σ x² of a row.
#[inline]
pub(crate) fn squares(values: &[f32]) -> f64 {
    sum(values.iter().map(|&value| f64::from(value) * f64::from(value)))
}

/// A sum with a running compensation: its error does not grow with the number of terms. `lost` adds up what each addition
/// rounds off, which Knuth's two-sum knows exactly (The Art of Computer Programming, volume 2, 4.2.2).
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Sum {
    pub(crate) sum: f64,
    pub(crate) lost: f64,
}

impl Sum {
    /// Adds a term.
    #[inline]
    pub(crate) fn add(&mut self, term: f64) {
        let sum = self.sum + term;
        let added = sum - self.sum;
        self.lost += (self.sum - (sum - added)) + (term - added);
        self.sum = sum;
    }

    /// The sum so far.
    #[inline]
    pub(crate) fn total(&self) -> f64 {
        self.sum + self.lost
    }
}

/// Sums of squares are held within this, which only values near the ends of f32 together with
/// weights near the ends of theirs can reach: rates stay above 0 and everything finite.
pub(crate) const LARGEST_SUM: f64 = 1e300;

/// A sum, held within what can be squared, divided and saved.
#[inline]
pub(crate) fn held(sum: f64) -> f64 {
    sum.min(LARGEST_SUM)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_of_few_terms_is_exact() {
        assert_eq!(sum((1..=100).map(f64::from)), 5050.0);
        assert_eq!(squares(&[3.0, 4.0]), 25.0);
        assert_eq!(sum(std::iter::empty()), 0.0);
    }

    #[test]
    fn small_terms_are_not_lost_beside_a_large_one() {
        let mut sum = Sum::default();
        sum.add(1e16);
        for _ in 0..1000 {
            sum.add(1.0);
        }
        sum.add(-1e16);
        assert_eq!(sum.total(), 1000.0);
    }
}
