//! Sums whose bits do not depend on vector width: eight accumulators, joined in
//! a fixed tree. No fused multiply-add: Rust never contracts on its own.

/// How many accumulators run side by side.
const LANES: usize = 8;

/// Joins the accumulators in a fixed tree.
#[inline]
fn join(sums: [f64; LANES]) -> f64 {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_of_few_terms_is_exact() {
        assert_eq!(sum((1..=100).map(f64::from)), 5050.0);
        assert_eq!(squares(&[3.0, 4.0]), 25.0);
        assert_eq!(sum(std::iter::empty()), 0.0);
    }
}
