//! Risk that holds at any time (Howard, Ramdas, McAuliffe, Sekhon 2021).
//!
//! X_1, X_2, … are losses within [0, 1], and m̄_t the mean of their conditional expectations given the past, for the first
//! t: what predictions such as these could expect to pay when they were made. Nothing else is assumed: examples may depend
//! on each other and drift, and the learner learns. With X̂_s the mean of the losses before X_s (0 at first),
//! V_t = Σ(X_s − X̂_s)² and ψ(λ) = −ln(1−λ) − λ, exp(λ·Σ(X_s − E_s X_s) − ψ(λ)V_t) is a supermartingale for each λ in
//! [0, 1), and for −X too, since exp(λξ − ψ(λ)ξ²) ≤ 1 + λξ for ξ ≥ −1 (Fan, Grama, Liu 2015). So is a mean of such over a
//! grid of λ_k, and by Ville's inequality, with probability 1 − δ, both signs of S_t = ΣX_s − t·m̄_t satisfy
//!
//! **Σ_k w_k exp(±λ_k S_t − ψ(λ_k)V_t) < 2/δ for all t at once.**
//!
//! The sum grows with ±S_t, so m̄_t is within an interval, whose ends are found by bisection when they are asked for. One may
//! look at any time and stop whenever one likes. A sequence for one constant mean would not cover a risk that drifts.
//!
//! Losses in [0, R], R known beforehand, are taken as X = ℓ/R.

use crate::Error;
use crate::archive::Archive;

/// How many λ_k = 0.9/2^k there are, all of equal weight: they suit from one round to 10¹².
const LEVELS: i32 = 24;

/// Halves the interval until its ends are next to each other.
const BISECTIONS: usize = 64;

/// A loss whose range is known beforehand.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum BoundedLoss {
    /// 1 where the sign of the score is not the class, of two.
    Mistakes,
    /// (P(1) − y)² of a probability.
    Brier,
    /// The loss that is charged, known to be within 0 and this.
    Charged(f64),
}

/// The sums of a sequence of losses.
///
/// ```
/// let mut losses = onward::evaluation::AnytimeLosses::default();
/// (0..1000).for_each(|t| losses.observe(if t % 4 == 0 { 1.0 } else { 0.0 }));
/// let (low, high) = losses.interval(1.0, 0.05);
/// assert!(0.19 < low && low < 0.25 && 0.25 < high && high < 0.31);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct AnytimeLosses {
    rounds: f64,
    total: f64,
    /// V, in units of the loss.
    squares: f64,
}

impl AnytimeLosses {
    /// Takes in a loss.
    #[inline]
    pub fn observe(&mut self, loss: f64) {
        let excess = if self.rounds > 0.0 { loss - self.total / self.rounds } else { loss };
        self.squares += excess * excess;
        self.total += loss;
        self.rounds += 1.0;
    }

    /// Whether nothing was taken in.
    pub(crate) fn is_empty(&self) -> bool {
        self.rounds == 0.0
    }

    /// ln Σ w_k exp(λ_k·excess − ψ(λ_k)V), losses being in units of the range.
    fn evidence(&self, excess: f64, range: f64) -> f64 {
        // What the errors of a sum of so many may come to.
        let squares = self.squares / (range * range) * (1.0 + 2.0 * f64::EPSILON * self.rounds);
        let exponents = (0..LEVELS).map(|level| {
            let rate = 0.9 * 0.5f64.powi(level);
            rate * excess + (libm::log1p(-rate) + rate) * squares
        });
        let most = exponents.clone().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = exponents.map(|exponent| libm::exp(exponent - most)).sum();
        most + libm::log(sum / f64::from(LEVELS))
    }

    /// Whether this mean of conditional expectations is in the interval at the level δ, for losses in [0, range].
    pub fn covers(&self, mean: f64, range: f64, delta: f64) -> bool {
        let (total, expected) = (self.total / range, self.rounds * (mean / range));
        let slack = f64::EPSILON * self.rounds * total.max(expected);
        let excess = (total - expected).abs() - slack;
        self.evidence(excess, range) < libm::log(2.0 / delta)
    }

    /// Where the mean of the conditional expectations is at all times with probability 1 − δ, for losses in [0, range]. All of
    /// that before the first loss.
    pub fn interval(&self, range: f64, delta: f64) -> (f64, f64) {
        if self.is_empty() {
            return (0.0, range);
        }
        let mean = (self.total / self.rounds).clamp(0.0, range);
        // From the mean to a point that is not in the interval, which is given.
        let end = |mut outside: f64| {
            if self.covers(outside, range, delta) {
                return outside;
            }
            let mut inside = mean;
            for _ in 0..BISECTIONS {
                let middle = 0.5 * (inside + outside);
                match self.covers(middle, range, delta) {
                    true => inside = middle,
                    false => outside = middle,
                }
            }
            outside
        };
        (end(0.0), end(range))
    }
}

/// The losses whose range is known, of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct AnytimeRisks {
    pub(crate) mistakes: AnytimeLosses,
    pub(crate) brier: AnytimeLosses,
    pub(crate) charged: AnytimeLosses,
}

impl AnytimeRisks {
    /// Saves or loads what is needed to continue to the bit. Returns whether it was there.
    pub(crate) fn persist(&mut self, archive: &mut Archive) -> Result<bool, Error> {
        let all = [&mut self.mistakes, &mut self.brier, &mut self.charged];
        let mut column: Vec<f64> = all.iter().flat_map(|it| [it.rounds, it.total, it.squares]).collect();
        let length = column.len();
        archive.optional_column("anytime", &mut column)?;
        if archive.is_loading() && column.is_empty() {
            return Ok(false);
        }
        archive.check(column.len() == length, "anytime", &format!("must have {length} numbers"))?;
        for (losses, sums) in all.into_iter().zip(column.chunks_exact(3)) {
            *losses = AnytimeLosses { rounds: sums[0], total: sums[1], squares: sums[2] };
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::rng::SplitMix64;

    const DELTA: f64 = 0.1;

    /// The probability of a loss in round t of a stream, and the loss itself.
    type Stream = fn(f64, f64, &mut SplitMix64) -> (f64, f64);

    fn uniform(random: &mut SplitMix64) -> f64 {
        random.below(1 << 40) as f64 / (1u64 << 40) as f64
    }

    /// Coins of constant and drifting bias, one whose bias depends on what was lost so far, and losses between 0 and 1.
    const STREAMS: [Stream; 5] = [
        |_, _, random| (0.3, f64::from(uniform(random) < 0.3)),
        |_, _, random| (0.02, f64::from(uniform(random) < 0.02)),
        |t, _, random| {
            let p = if t < 200.0 { 0.1 } else { 0.6 };
            (p, f64::from(uniform(random) < p))
        },
        |_, mean, random| {
            let p = 0.9 - 0.8 * mean;
            (p, f64::from(uniform(random) < p))
        },
        |t, _, random| {
            let level = 0.5 + 0.4 * (t / 100.0).sin();
            (0.5 * level, level * uniform(random))
        },
    ];

    #[test]
    fn the_mean_of_the_risks_is_within_at_all_times_as_often_as_promised() {
        for (number, stream) in STREAMS.iter().enumerate() {
            let runs = 200;
            let failures = (0..runs).filter(|&run| {
                let mut random = SplitMix64::new(1000 * number as u64 + run);
                let (mut losses, mut risks) = (AnytimeLosses::default(), 0.0);
                (0..600).any(|t| {
                    let t = f64::from(t);
                    let mean = if t > 0.0 { losses.total / t } else { 0.5 };
                    let (risk, loss) = stream(t, mean, &mut random);
                    losses.observe(3.0 * loss);
                    risks += 3.0 * risk;
                    !losses.covers(risks / (t + 1.0), 3.0, DELTA)
                })
            });
            assert!(failures.count() as f64 <= DELTA * runs as f64, "{number}");
        }
    }

    #[test]
    fn the_ends_solve_the_inequality_and_the_interval_shrinks() {
        let (mut losses, mut random, mut widths) = (AnytimeLosses::default(), SplitMix64::new(3), Vec::new());
        for t in 1..=100_000 {
            losses.observe(2.0 * f64::from(uniform(&mut random) < 0.3));
            if [1000, 10_000, 100_000].contains(&t) {
                let (low, high) = losses.interval(2.0, DELTA);
                for (end, sign) in [(low, 1.0), (high, -1.0)] {
                    // By the formula, with sums of its own.
                    let excess = sign * (losses.total - losses.rounds * end) / 2.0;
                    let terms = (0..LEVELS).map(|k| {
                        let rate = 0.9 / f64::from(1u32 << k);
                        let cost = -(1.0 - rate).ln() - rate;
                        (rate * excess - cost * losses.squares / 4.0).exp() / f64::from(LEVELS)
                    });
                    let sum: f64 = terms.sum();
                    assert!((sum / (2.0 / DELTA) - 1.0).abs() < 1e-6, "{t} {sum}");
                }
                assert!(low < 0.6 && 0.6 < high);
                widths.push(high - low);
            }
        }
        // As 1/√t but for a logarithm.
        assert!(widths.windows(2).all(|pair| pair[1] < 0.4 * pair[0]), "{widths:?}");
        assert!(widths[2] < 0.03, "{widths:?}");
    }

    #[test]
    fn extremes_are_held_to_the_range() {
        assert_eq!(AnytimeLosses::default().interval(4.0, DELTA), (0.0, 4.0));
        for loss in [0.0, 4.0] {
            let mut losses = AnytimeLosses::default();
            losses.observe(loss);
            assert_eq!(losses.interval(4.0, DELTA), (0.0, 4.0), "one round tells nothing");
            (0..1000).for_each(|_| losses.observe(loss));
            let (low, high) = losses.interval(4.0, DELTA);
            let width = high - low;
            assert!(low <= loss && loss <= high && width < 0.1, "{low} {high}");
        }
    }
}
