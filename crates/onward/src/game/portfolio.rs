//! The best constant portfolio: the shares u of the simplex with the least Σ −ln⟨u, x_t⟩.
//!
//! By an interior-point method. With λ = T + dμ the function
//!
//! ψ_μ(v) = Σ −ln⟨v, x_t⟩ − μ Σ ln v_i + λ Σ v_i, v > 0,
//!
//! is least where Σ_t x_ti/⟨v, x_t⟩ + μ/v_i = λ for all i. Times v_i and summed up, this says Σ v_i = 1: the constraint
//! need not be kept. All its terms but the last are logarithms of linear functions, for which Newton's method
//! with a line search converges from anywhere (Nesterov, Nemirovski 1994), and μ falls from T by steps.
//!
//! **The gap.** Let g_i = Σ_t x_ti/⟨u, x_t⟩. For every v of the simplex, by Jensen's inequality,
//! Σ ln(⟨v, x_t⟩/⟨u, x_t⟩) ≤ T ln(Σ_i v_i g_i/T) ≤ T ln(max g_i/T): no portfolio pays less than u by more than that. At the
//! least of ψ_μ it is at most dμ.
//!
//! Cost: O(Td² + d³) for each of about 40 steps.

use crate::numeric::linalg::cholesky::Cholesky;
use crate::numeric::linalg::vector::{dot, norm};
use crate::numeric::sum::Sum;

/// The search ends where the gap per round is this.
const TOLERANCE: f64 = 1e-13;

/// What μ falls by.
const FALL: f64 = 0.1;

/// μ falls so often at most: then rounding is all that is left.
const MOST_FALLS: usize = 16;

/// Newton steps for one μ, at most.
const MOST_STEPS: usize = 30;

/// The best shares for the rows, which stand one after the other, and the gap.
pub(super) fn best_portfolio(rows: &[f64], dimension: usize) -> (Vec<f64>, f64) {
    let rounds = (rows.len() / dimension) as f64;
    let mut best = (vec![1.0 / dimension as f64; dimension], f64::INFINITY);
    if rounds == 0.0 {
        return (best.0, 0.0);
    }
    let (mut v, mut mu) = (best.0.clone(), rounds);
    for _ in 0..MOST_FALLS {
        centre(rows, &mut v, mu);
        let total: f64 = v.iter().sum();
        let shares: Vec<f64> = v.iter().map(|v| v / total).collect();
        let gap = gap(rows, &shares);
        if gap < best.1 {
            best = (shares, gap);
        }
        if gap <= TOLERANCE * rounds {
            break;
        }
        mu *= FALL;
    }
    // Shares that the barrier has kept from being 0.
    let total: f64 = best.0.iter().filter(|share| **share > VANISHING).sum();
    let without: Vec<f64> = best.0.iter().map(|&share| if share > VANISHING { share / total } else { 0.0 }).collect();
    let gap = gap(rows, &without);
    if gap <= best.1.max(TOLERANCE * rounds) { (without, gap) } else { best }
}

/// Shares below this are tried without.
const VANISHING: f64 = 1e-8;

/// T ln(max g_i/T); ∞ where a round would leave nothing.
fn gap(rows: &[f64], shares: &[f64]) -> f64 {
    let rounds = (rows.len() / shares.len()) as f64;
    let mut sums = vec![Sum::default(); shares.len()];
    for row in rows.chunks_exact(shares.len()) {
        let wealth = dot(shares, row);
        sums.iter_mut().zip(row).for_each(|(sum, x)| sum.add(x / wealth));
    }
    let most = sums.iter().map(Sum::total).fold(0.0, f64::max);
    if most.is_finite() { rounds * libm::log(most / rounds).max(0.0) } else { f64::INFINITY }
}

/// Moves v to about the least of ψ_μ, by Newton's method.
fn centre(rows: &[f64], v: &mut [f64], mu: f64) {
    let dimension = v.len();
    let lambda = (rows.len() / dimension) as f64 + dimension as f64 * mu;
    for _ in 0..MOST_STEPS {
        // In units of v_i, where the matrix is at least μI.
        let mut slope: Vec<f64> = v.iter().map(|v| lambda * v - mu).collect();
        let mut matrix = vec![0.0; dimension * dimension];
        for row in rows.chunks_exact(dimension) {
            let wealth = dot(v, row);
            let shares: Vec<f64> = v.iter().zip(row).map(|(v, x)| v * x / wealth).collect();
            for (i, share) in shares.iter().enumerate() {
                slope[i] -= share;
                matrix[i * dimension..=i * dimension + i]
                    .iter_mut()
                    .zip(&shares)
                    .for_each(|(m, other)| *m += share * other);
            }
        }
        let entry = |i: usize, j: usize| matrix[i * dimension + j] + if i == j { mu } else { 0.0 };
        let root = |rest: f64, _: f64| Some(rest.max(mu).sqrt());
        let Some(factor) = Cholesky::of(dimension, entry, dot, root) else { return };
        let mut step: Vec<f64> = slope.iter().map(|slope| -slope).collect();
        factor.solve_lower(&mut step, dot);
        // How far ψ may still fall, about: in units of what self-concordance is about.
        let decrement = norm(&step) / mu.min(1.0).sqrt();
        factor.solve_upper(&mut step);
        let length = line_search(rows, v, &step, mu, lambda);
        v.iter_mut().zip(&step).for_each(|(v, step)| *v *= 1.0 + length * step);
        if decrement < CENTRED {
            return;
        }
    }
}

/// A point is near enough to the least of ψ_μ where the decrement is this.
const CENTRED: f64 = 1e-2;

/// How far to go: the whole step, or to where ψ_μ is least on the way.
fn line_search(rows: &[f64], v: &[f64], step: &[f64], mu: f64, lambda: f64) -> f64 {
    let change: Vec<f64> = v.iter().zip(step).map(|(v, step)| v * step).collect();
    let ratios: Vec<f64> = rows.chunks_exact(v.len()).map(|row| dot(&change, row) / dot(v, row)).collect();
    let linear = lambda * change.iter().sum::<f64>();
    let slope = |length: f64| {
        let logarithms = |ratios: &[f64]| ratios.iter().map(|ratio| ratio / (1.0 + length * ratio)).sum::<f64>();
        linear - logarithms(&ratios) - mu * logarithms(step)
    };
    // Up to where an entry vanishes.
    let end = step.iter().filter(|step| **step < 0.0).map(|step| -1.0 / step).fold(f64::INFINITY, f64::min);
    let (mut low, mut high) = (0.0, (0.999 * end).min(1.0));
    if slope(high) <= 0.0 {
        return high;
    }
    for _ in 0..BISECTIONS {
        let middle = 0.5 * (low + high);
        if slope(middle) <= 0.0 { low = middle } else { high = middle }
    }
    low
}

const BISECTIONS: usize = 20;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::rng::SplitMix64;

    fn loss(rows: &[f64], shares: &[f64]) -> f64 {
        rows.chunks_exact(shares.len()).map(|row| -dot(shares, row).ln()).sum()
    }

    #[test]
    fn of_two_assets_it_is_the_best_of_a_fine_grid() {
        let mut random = SplitMix64::new(5);
        for kind in 0..20 {
            let rows: Vec<f64> = (0..60)
                .map(|at| match (kind % 4, at % 2) {
                    // Noise, a leader, assets that vanish at times, and one that is cash.
                    (0, _) => 0.5 + random.uniform(),
                    (1, asset) => 0.9 + 0.2 * random.uniform() + 0.1 * f64::from(asset),
                    (2, _) => f64::from(u8::from(random.uniform() < 0.7 || at == 0 || at % 2 == 1)),
                    (_, 0) => 1.0,
                    _ => {
                        if random.uniform() < 0.5 {
                            2.1
                        } else {
                            0.5
                        }
                    }
                })
                .collect();
            let (shares, gap) = best_portfolio(&rows, 2);
            assert!(gap <= 1e-8, "{kind}: {gap}");
            let found = loss(&rows, &shares);
            for part in 0..=10_000 {
                let other = f64::from(part) / 10_000.0;
                assert!(found - gap <= loss(&rows, &[other, 1.0 - other]) + 1e-12, "{kind} {other}");
            }
        }
    }

    #[test]
    fn the_conditions_of_kuhn_and_tucker_hold_in_more_dimensions() {
        let mut random = SplitMix64::new(7);
        for dimension in [3, 10, 40] {
            let rows: Vec<f64> = (0..200 * dimension).map(|_| (random.uniform() - 0.45).exp()).collect();
            let (shares, gap) = best_portfolio(&rows, dimension);
            assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            assert!(gap < 1e-8, "{dimension}: {gap}");
            // Σ x_i/⟨u, x⟩ is T where u_i > 0, and at most T elsewhere.
            for i in 0..dimension {
                let sum: f64 = rows.chunks_exact(dimension).map(|row| row[i] / dot(&shares, row)).sum();
                let slack = 200.0 - sum;
                assert!(slack > -1e-7 && slack * shares[i] < 1e-7, "{dimension} {i}: {slack} {}", shares[i]);
            }
        }
    }

    #[test]
    fn units_of_a_round_and_rows_of_one_asset_do_not_matter() {
        let one = best_portfolio(&[1e-20, 0.0, 0.0, 1e25], 2);
        assert!((one.0[0] - 0.5).abs() < 1e-9 && one.1 < 1e-10, "{one:?}");
        let certain = best_portfolio(&[2.0, 1.0].repeat(50), 2);
        assert!(certain.0[0] > 1.0 - 1e-9 && certain.1 < 1e-8, "{certain:?}");
    }
}
