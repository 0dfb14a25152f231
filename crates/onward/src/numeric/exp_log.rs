//! Exponentials and logarithms without a branch: in a loop over several numbers the compiler makes
//! vector code of them, which it cannot of the `libm` crate's. Plain Rust, rounded operation by
//! operation: the same bits one at a time and side by side, on every machine. Right to two units in
//! the last place (tested against `libm`).

/// 1.5·2⁵²: added to a number within ±2⁵¹, what is left is the number rounded to an integer, whose
/// lowest bits are those of the sum.
const ROUNDER: f64 = 6_755_399_441_055_744.0;

/// ln 2, its upper bits and the rest (from FDLIBM): multiples of the first by exponents are exact.
const LN_2_HIGH: f64 = 6.931_471_803_691_238e-1;
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;

/// What exponentials take: e^709 is near the largest number, and e^(−708) near the smallest with all its bits.
const MOST: f64 = 709.0;
const LEAST: f64 = -708.0;

/// 2^k and e^r − 1 of x = k·ln 2 + r, |r| ≤ ln 2/2, for x within [`LEAST`] and [`MOST`].
#[inline(always)]
fn split(x: f64) -> (f64, f64) {
    let shifted = x * std::f64::consts::LOG2_E + ROUNDER;
    let k = shifted - ROUNDER;
    let r = (x - k * LN_2_HIGH) - k * LN_2_LOW;
    // Taylor's series; the first term left out is below 2⁻⁵⁷ of the sum. Pairs shorten the chain of sums.
    let square = r * r;
    let fourth = square * square;
    let low = (1.0 / 2.0 + r * (1.0 / 6.0)) + square * (1.0 / 24.0 + r * (1.0 / 120.0));
    let middle = (1.0 / 720.0 + r * (1.0 / 5040.0)) + square * (1.0 / 40_320.0 + r * (1.0 / 362_880.0));
    let high =
        (1.0 / 3_628_800.0 + r * (1.0 / 39_916_800.0)) + square * (1.0 / 479_001_600.0 + r * (1.0 / 6_227_020_800.0));
    let power = f64::from_bits(shifted.to_bits().wrapping_add(1023) << 52);
    (power, r + square * (low + fourth * (middle + fourth * high)))
}

/// x held to what [`split`] takes.
#[inline(always)]
fn held(x: f64) -> f64 {
    let x = if x < LEAST { LEAST } else { x };
    if x > MOST { MOST } else { x }
}

/// e^x; 0 below e^(−708), and e^709 above that.
#[inline(always)]
pub(crate) fn exp(x: f64) -> f64 {
    let (power, rest) = split(held(x));
    let result = power + power * rest;
    if x < LEAST { 0.0 } else { result }
}

/// e^x − 1; that of 709 above that.
#[inline(always)]
pub(crate) fn expm1(x: f64) -> f64 {
    let (power, rest) = split(held(x));
    power * rest + (power - 1.0)
}

/// ln x of a positive, normal, finite x.
#[inline(always)]
pub(crate) fn ln(x: f64) -> f64 {
    ln_and(x, 0.0)
}

/// ln(1 + x) of x ≥ 0.
#[inline(always)]
pub(crate) fn log1p(x: f64) -> f64 {
    let sum = 1.0 + x;
    // What rounding took from the sum.
    let lost = if x < 1.0 { x - (sum - 1.0) } else { 1.0 - (sum - x) };
    ln_and(sum, lost / sum)
}

/// ln x + more, `more` being below the rounding of x.
///
/// With x = 2^k·(1 + f), √½ ≤ 1 + f < √2, and s = f/(2 + f): ln(1 + f) = 2·artanh s = f − f²/2 + s·(f²/2 + R(s²)), R from FDLIBM.
#[inline(always)]
fn ln_and(x: f64, more: f64) -> f64 {
    const ONE: u64 = 1023 << 52;
    const EXPONENT: u64 = 0xfff << 52;
    let bits = x.to_bits();
    // The exponent that the number has if it is to be at least √½ of its power of two.
    let exponent = bits.wrapping_sub(std::f64::consts::FRAC_1_SQRT_2.to_bits()).wrapping_add(ONE);
    // An integer below 2⁵² stands in the last bits of its sum with 2⁵².
    let k = f64::from_bits((exponent >> 52) | 0x4330_0000_0000_0000) - (4_503_599_627_370_496.0 + 1023.0);
    let f = f64::from_bits(bits.wrapping_sub(exponent & EXPONENT).wrapping_add(ONE)) - 1.0;
    let s = f / (2.0 + f);
    let (z, half) = (s * s, 0.5 * f * f);
    let w = z * z;
    let odd = 6.666_666_666_666_735e-1
        + w * (2.857_142_874_366_239e-1 + w * (1.818_357_216_161_805e-1 + w * 1.479_819_860_511_658_6e-1));
    let even = 3.999_999_999_940_942e-1 + w * (2.222_219_843_214_978_4e-1 + w * 1.531_383_769_920_937_3e-1);
    let r = z * odd + w * even;
    k * LN_2_HIGH - ((half - (s * (half + r) + (k * LN_2_LOW + more))) - f)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::vectorised;

    /// How many units in the last place two numbers are apart.
    fn apart(one: f64, other: f64) -> u64 {
        (one.to_bits() as i64).abs_diff(other.to_bits() as i64)
    }

    /// Numbers between two ends, evenly, none of them round.
    fn between(low: f64, high: f64, count: u32) -> impl Iterator<Item = f64> {
        (0..count).map(move |at| low + (high - low) * ((f64::from(at) + 0.377) / f64::from(count)))
    }

    /// Powers of ten of such.
    fn scales(low: f64, high: f64, count: u32) -> impl Iterator<Item = f64> {
        between(low, high, count).map(|power| 10f64.powf(power))
    }

    #[test]
    fn exponentials_are_those_of_libm_to_the_last_places() {
        let all = between(-708.0, 709.0, 1_000_000).chain(between(-2.0, 2.0, 1_000_000));
        for x in all.chain(scales(-300.0, 0.0, 100_000)).chain(scales(-300.0, 0.0, 100_000).map(|x| -x)) {
            assert!(apart(exp(x), libm::exp(x)) <= 1, "{x}: {} {}", exp(x), libm::exp(x));
            assert!(apart(expm1(x), libm::expm1(x)) <= 2, "{x}: {} {}", expm1(x), libm::expm1(x));
        }
    }

    #[test]
    fn logarithms_are_those_of_libm_to_the_last_places() {
        for x in scales(-307.0, 308.0, 1_000_000).chain(between(0.5, 2.0, 1_000_000)) {
            assert!(apart(ln(x), libm::log(x)) <= 1, "{x}: {} {}", ln(x), libm::log(x));
        }
        for x in scales(-300.0, 300.0, 1_000_000).chain(between(0.0, 2.0, 1_000_000)) {
            assert!(apart(log1p(x), libm::log1p(x)) <= 2, "{x}: {} {}", log1p(x), libm::log1p(x));
        }
    }

    #[test]
    fn ends_are_where_they_should_be() {
        assert_eq!([exp(0.0), expm1(0.0), ln(1.0), log1p(0.0)], [1.0, 0.0, 0.0, 0.0]);
        assert_eq!([exp(-709.0), exp(-1e300), exp(f64::NEG_INFINITY)], [0.0; 3]);
        assert_eq!([exp(1e300), expm1(1e300)], [exp(709.0); 2]);
        assert_eq!(expm1(-1e300), -1.0);
        assert!(exp(f64::NAN).is_nan() && expm1(f64::NAN).is_nan());
    }

    vectorised! {
        fn side_by_side(x: &[f64; 8]) -> [[f64; 8]; 4] {
            [x.map(exp), x.map(expm1), x.map(|x| ln(x.abs())), x.map(|x| log1p(x.abs()))]
        }
    }

    #[test]
    fn side_by_side_they_give_the_same_bits() {
        let numbers: Vec<f64> = between(-30.0, 30.0, 80_000).collect();
        for eight in numbers.chunks_exact(8) {
            let eight: &[f64; 8] = eight.try_into().unwrap();
            let found = side_by_side(eight);
            for (at, &x) in eight.iter().enumerate() {
                let alone = [exp(x), expm1(x), ln(x.abs()), log1p(x.abs())].map(std::hint::black_box);
                assert_eq!(found.map(|found| found[at].to_bits()), alone.map(f64::to_bits), "{x}");
            }
        }
    }
}
