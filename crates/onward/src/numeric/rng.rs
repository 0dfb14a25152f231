//! Random numbers: SplitMix64 (Steele, Lea, Flood 2014), the same on every machine.
//!
//! The state grows by the odd constant ⌊2⁶⁴/φ⌋ and each output is a bijective scramble of it:
//! the period is 2⁶⁴, and any state is a good one.

/// 2^64 divided by the golden ratio.
pub(crate) const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// The finaliser of SplitMix64.
#[inline]
pub(crate) fn mix(z: u64) -> u64 {
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A generator.
///
/// ```
/// use onward::numeric::rng::SplitMix64;
/// let (mut one, mut other) = (SplitMix64::new(7), SplitMix64::new(7));
/// assert_eq!(one.bits(), other.bits());
/// assert!(one.below(10) < 10);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SplitMix64(pub(crate) u64);

impl SplitMix64 {
    /// From a seed, any.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        mix(self.0)
    }

    /// Uniform on [0, 1), a multiple of 2⁻⁵³.
    pub fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A whole number below this one, which is above 0: uniform but for an error of `limit`·2⁻⁶⁴.
    pub fn below(&mut self, limit: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(limit)) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_published_sequence() {
        let mut random = SplitMix64::new(1_234_567);
        let first: Vec<u64> = (0..3).map(|_| random.bits()).collect();
        assert_eq!(first, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }
}
