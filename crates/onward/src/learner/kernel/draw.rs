//! Numbers drawn by hashing: the same for the same place whenever it is asked, so that a random
//! matrix without end needs no memory.
//!
//! The numbers of a row of the matrix are a stream of SplitMix64 (Steele, Lea, Flood 2014) whose
//! start is the hash of the seed and of the row's name; the k-th is had without those before.

use crate::numeric::rng::{STEP, mix};

/// A row of random numbers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Draws {
    start: u64,
}

impl Draws {
    /// The row of this name.
    pub(super) fn new(seed: u64, name: u64) -> Self {
        Self { start: mix(mix(seed.wrapping_add(STEP)).wrapping_add(name.wrapping_add(1).wrapping_mul(STEP))) }
    }

    /// The k-th number, uniform on (0, 1): never an end of it.
    #[inline]
    pub(super) fn uniform(&self, k: u64) -> f64 {
        let bits = mix(self.start.wrapping_add(k.wrapping_add(1).wrapping_mul(STEP)));
        ((bits >> 11) as f64 + 0.5) * (1.0 / (1u64 << 53) as f64)
    }

    /// The k-th number, of the standard normal distribution.
    #[inline]
    pub(super) fn normal(&self, k: u64) -> f64 {
        normal_quantile(self.uniform(k))
    }

    /// The k-th number, of the standard Cauchy distribution: tan(π(u − ½)).
    pub(super) fn cauchy(&self, k: u64) -> f64 {
        libm::tan(std::f64::consts::PI * (self.uniform(k) - 0.5))
    }
}

/// The quantile of the standard normal distribution: Wichura's algorithm AS 241 (1988), good to
/// sixteen digits. One uniform number makes one normal, mostly without a logarithm.
#[inline]
fn normal_quantile(u: f64) -> f64 {
    let q = u - 0.5;
    if q.abs() <= 0.425 {
        let r = 0.180_625 - q * q;
        return q * polynomial(&CENTRE.0, r) / polynomial(&CENTRE.1, r);
    }
    let r = (-libm::log(u.min(1.0 - u))).sqrt();
    let (coefficients, at) = if r <= 5.0 { (&MIDDLE, r - 1.6) } else { (&TAIL, r - 5.0) };
    let size = polynomial(&coefficients.0, at) / polynomial(&coefficients.1, at);
    if q < 0.0 { -size } else { size }
}

/// Σ c_k x^k.
#[inline]
fn polynomial(coefficients: &[f64; 8], x: f64) -> f64 {
    coefficients.iter().rev().fold(0.0, |sum, c| sum * x + c)
}

/// Numerator and denominator.
type Rational = ([f64; 8], [f64; 8]);

const CENTRE: Rational = (
    [
        3.387_132_872_796_366_5e0,
        1.331_416_678_917_843_8e2,
        1.971_590_950_306_551_3e3,
        1.373_169_376_550_946e4,
        4.592_195_393_154_987e4,
        6.726_577_092_700_87e4,
        3.343_057_558_358_813e4,
        2.509_080_928_730_122_7e3,
    ],
    [
        1.0,
        4.231_333_070_160_091e1,
        6.871_870_074_920_579e2,
        5.394_196_021_424_751e3,
        2.121_379_430_158_66e4,
        3.930_789_580_009_271e4,
        2.872_908_573_572_194_3e4,
        5.226_495_278_852_854e3,
    ],
);

const MIDDLE: Rational = (
    [
        1.423_437_110_749_683_5e0,
        4.630_337_846_156_546e0,
        5.769_497_221_460_691e0,
        3.647_848_324_763_204_5e0,
        1.270_458_252_452_368_4e0,
        2.417_807_251_774_506e-1,
        2.272_384_498_926_918_4e-2,
        7.745_450_142_783_414e-4,
    ],
    [
        1.0,
        2.053_191_626_637_759e0,
        1.676_384_830_183_803_8e0,
        6.897_673_349_851e-1,
        1.481_039_764_274_800_8e-1,
        1.519_866_656_361_645_7e-2,
        5.475_938_084_995_345e-4,
        1.050_750_071_644_416_9e-9,
    ],
);

const TAIL: Rational = (
    [
        6.657_904_643_501_103e0,
        5.463_784_911_164_114e0,
        1.784_826_539_917_291_3e0,
        2.965_605_718_285_048_7e-1,
        2.653_218_952_657_612_4e-2,
        1.242_660_947_388_078_4e-3,
        2.711_555_568_743_487_6e-5,
        2.010_334_399_292_288_1e-7,
    ],
    [
        1.0,
        5.998_322_065_558_88e-1,
        1.369_298_809_227_358e-1,
        1.487_536_129_085_061_5e-2,
        7.868_691_311_456_133e-4,
        1.846_318_317_510_054_8e-5,
        1.421_511_758_316_446e-7,
        2.044_263_103_389_939_8e-15,
    ],
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_normal_quantile_inverts_the_distribution() {
        // P(Z ≤ z) = erfc(−z/√2)/2.
        for u in [1e-16, 1e-12, 1e-9, 1e-5, 0.01, 0.07, 0.08, 0.2, 0.4999, 0.5, 0.7, 0.93, 0.999, 1.0 - 1e-9] {
            let back = 0.5 * libm::erfc(-normal_quantile(u) / std::f64::consts::SQRT_2);
            assert!((back - u).abs() < 2e-14 * u.min(1.0 - u).max(1e-3) + 1e-13 * u, "{u}: {back}");
        }
    }

    #[test]
    fn draws_have_their_distributions() {
        let count = 200_000u32;
        let draws = Draws::new(7, 3);
        let share =
            |is: &dyn Fn(u64) -> bool| (0..u64::from(count)).filter(|&k| is(k)).count() as f64 / f64::from(count);
        // Five standard deviations of a share: at most 5·0.5/√200,000 = 0.0056.
        for (z, below) in [(-2.0, 0.022_750), (-1.0, 0.158_655), (0.0, 0.5), (0.5, 0.691_462), (1.5, 0.933_193)] {
            assert!((share(&|k| draws.normal(k) < z) - below).abs() < 0.0056);
        }
        for (z, below) in [(-1.0, 0.25), (0.0, 0.5), (1.0, 0.75), (3.077_684, 0.9)] {
            assert!((share(&|k| draws.cauchy(k) < z) - below).abs() < 0.0056);
        }
    }

    #[test]
    fn rows_seeds_and_places_are_independent() {
        let mean = |of: &dyn Fn(u64) -> f64| (0..100_000).map(of).sum::<f64>() / 1e5;
        let rows = [Draws::new(0, 0), Draws::new(0, 1), Draws::new(1, 0)];
        // Products of independent normals have variance 1: five deviations are 0.016.
        for (one, other) in [(0, 1), (0, 2), (1, 2)] {
            assert!(mean(&|k| rows[one].normal(k) * rows[other].normal(k)).abs() < 0.016);
        }
        assert!(mean(&|k| rows[0].normal(k) * rows[0].normal(k + 1)).abs() < 0.016);
        // The same place of neighbouring rows, too.
        assert!(mean(&|row| Draws::new(0, row).normal(5) * Draws::new(0, row + 1).normal(5)).abs() < 0.016);
    }
}
