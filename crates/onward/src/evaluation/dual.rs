//! The scaled dual: a certificate that is never above what was paid.
//!
//! For slopes α_t of the losses and 0 ≤ c ≤ 1, Fenchel's inequality gives for every u of a class
//!
//! > Σ h ℓ_t(b_t + ⟨u, x_t⟩) ≥ Σ −h ℓ_t*(cα_t) + c(Σ h α_t b_t + ⟨θ, u⟩), θ = Σ h α_t x_t,
//!
//! and so what the best of the class pays is at least the sum on the right less c·max −⟨θ, u⟩. With α_t the slope at the
//! charged prediction, c = 1 is the [universal certificate](super::certificate). Smaller c are for classes in which some u
//! are far from what was predicted; c = 0 leaves the least loss of each row, so that where losses are not negative
//! the regret that is certified is at most what was paid. Each round leaves an upper bound on ℓ_t*(cα_t) that is a
//! function of c ([`ScaledConjugate`]); the sums are functions of c, and the best c is found at the end.
//!
//! The entropy (1 − z)ln(1 − z), z = ch, is −z + Σ_{k≥2} zᵏ/(k(k − 1)) and the terms beyond K add up to at most z^(K+1)/K, so
//! sums of powers of h serve all c.

use crate::Error;
use crate::archive::Archive;
use crate::loss::ScaledConjugate;
use crate::numeric::sum::Sum;

/// K, and with one power more two vectors.
const POWERS: usize = 7;

/// Powers side by side.
const SIDE_BY_SIDE: usize = 4;

/// How many c are tried.
const SCALES: u32 = 256;

/// The sums of the scaled dual.
#[derive(Debug, Clone, Default)]
pub struct ScaledDual {
    least: Sum,
    linear: Sum,
    square: Sum,
    /// Σ h α b.
    offsets: Sum,
    /// Σ h·h_tᵏ for k = 1, 2, ….
    powers: [f64; POWERS + 1],
    /// Rounds, and the sum of all sizes: what rounding is measured by.
    rounds: f64,
    size: f64,
    /// Whether some loss had no least value.
    is_unbounded: bool,
}

impl ScaledDual {
    /// Takes in a round: what bounds its conjugate, and its slope, importance and offset.
    pub fn observe(&mut self, conjugate: Option<ScaledConjugate>, slope: f64, weight: f64, offset: f64) {
        let Some(ScaledConjugate { least, linear, square, entropy }) = conjugate else {
            self.is_unbounded = true;
            return;
        };
        self.rounds += 1.0;
        self.linear.add(weight * linear);
        // Most losses have none of some of these.
        for (sum, term) in [(&mut self.least, least), (&mut self.square, square), (&mut self.offsets, slope * offset)] {
            if term != 0.0 {
                sum.add(weight * term);
            }
        }
        self.size += weight * (least.abs() + linear.abs() + square + entropy + (slope * offset).abs());
        if entropy > 0.0 {
            let square = entropy * entropy;
            let mut powers = [entropy, square, entropy * square, square * square].map(|power| weight * power);
            for sums in self.powers.as_chunks_mut::<SIDE_BY_SIDE>().0 {
                for (sum, power) in sums.iter_mut().zip(&mut powers) {
                    *sum += *power;
                    *power *= square * square;
                }
            }
        }
    }

    /// What no predictor of a class can fall below, summed over rounds, where `reach` is the largest −⟨θ, u⟩ of the class; `None`
    /// where losses are not bounded below.
    pub fn floor(&self, reach: f64) -> Option<f64> {
        if self.is_unbounded {
            return None;
        }
        let scales = (0..=SCALES).map(|step| self.at(f64::from(step) / f64::from(SCALES), reach));
        let best = scales.filter(|floor| !floor.is_nan()).fold(f64::NEG_INFINITY, f64::max);
        Some(best - 4.0 * f64::EPSILON * (self.rounds + f64::from(SCALES)) * self.size)
    }

    /// What each row costs at least, summed; `None` where losses are not bounded below.
    pub fn least(&self) -> Option<f64> {
        (!self.is_unbounded).then(|| self.least.total())
    }

    fn at(&self, c: f64, reach: f64) -> f64 {
        if c == 0.0 {
            return self.least.total();
        }
        let mut entropy = self.powers[0] * (c * libm::log(c) - c);
        let mut power = c;
        for (k, sum) in (2..).zip(&self.powers[1..]) {
            power *= c;
            let share = if k <= POWERS { (k * (k - 1)) as f64 } else { POWERS as f64 };
            entropy += power * sum / share;
        }
        (1.0 - c) * self.least.total() - c * self.linear.total() - c * c * self.square.total() - entropy
            + c * (self.offsets.total() - reach)
    }

    /// Saves or loads what is needed to continue to the bit. Returns whether it was there.
    ///
    /// # Errors
    /// When it does not match.
    pub fn persist(&mut self, archive: &mut Archive) -> Result<bool, Error> {
        let Self { least, linear, square, offsets, powers, rounds, size, is_unbounded } = self;
        let sums = [least, linear, square, offsets];
        let mut column: Vec<f64> = sums.iter().flat_map(|sum| [sum.sum, sum.lost]).chain(*powers).collect();
        column.extend([*rounds, *size, f64::from(u8::from(*is_unbounded))]);
        let length = column.len();
        archive.optional_column("scaled_dual", &mut column)?;
        if !archive.is_loading() || column.is_empty() {
            return Ok(!column.is_empty());
        }
        let is_sound = column.len() == length && column.iter().all(|number| number.is_finite());
        archive.check(is_sound, "scaled_dual", &format!("must have {length} finite numbers"))?;
        let (of_sums, rest) = column.split_at(2 * sums.len());
        for (sum, pair) in sums.into_iter().zip(of_sums.chunks_exact(2)) {
            *sum = Sum { sum: pair[0], lost: pair[1] };
        }
        let (of_powers, rest) = rest.split_at(powers.len());
        powers.copy_from_slice(of_powers);
        (*rounds, *size, *is_unbounded) = (rest[0], rest[1], rest[2] != 0.0);
        archive.check(*rounds >= 0.0 && *size >= 0.0, "scaled_dual", "must have counts and sizes of at least 0")?;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss;

    /// The sums for each c are those of the bounds of the rows, but for what the series leaves out, and no higher.
    #[test]
    fn sums_are_those_of_the_rows() {
        for name in ["logistic", "squared", "hinge", "poisson", "absolute"] {
            let loss = loss::parse(name).unwrap();
            let (mut dual, mut conjugates) = (ScaledDual::default(), Vec::new());
            for t in 0..300u32 {
                let p = f64::from(t % 17) / 4.0 - 2.0;
                let y = if t % 3 == 0 || loss.check_label(-1.0).is_err() { 1.0 } else { -1.0 };
                let (h, evaluation) = (1.0 + f64::from(t % 2), loss.evaluate(p, y));
                let conjugate = loss.conjugate(p, y, evaluation);
                dual.observe(conjugate, evaluation.derivative, h, 0.5);
                conjugates.push((conjugate.unwrap(), h, evaluation.derivative));
            }
            for c in [0.1, 0.5, 0.8, 1.0] {
                let rows: f64 =
                    conjugates.iter().map(|(conjugate, h, slope)| h * (c * slope * 0.5 - conjugate.at(c))).sum();
                let found = dual.at(c, 3.0);
                assert!(found <= rows - 3.0 * c + 1e-9, "{name} {c}: {found} {rows}");
                // What the series leaves out is at most the eighth power of c, a seventh of it for each row.
                assert!(found > rows - 3.0 * c - 450.0 * f64::powi(c, 8) / 7.0 - 1e-9, "{name} {c}: {found} {rows}");
            }
            let floor = dual.floor(3.0).unwrap();
            assert!(floor >= dual.at(0.0, 3.0) - 1e-9 && floor >= dual.at(1.0, 3.0) - 1e-9);
        }
    }

    #[test]
    fn a_loss_without_a_least_value_has_no_floor() {
        let mut dual = ScaledDual::default();
        dual.observe(None, 1.0, 1.0, 0.0);
        assert_eq!(dual.floor(1.0), None);
    }
}
