//! The hash of feature names: stable, documented, equal on all machines.
//!
//! Names are hashed in two parts, a group (column or namespace) and a name in
//! it (category, word, feature): h = mix(rapidhash_v3(name) ⊕ seed(group)) with
//! seed(group) = mix(rapidhash_v3(group)), rapidhash version 3 with its default
//! secrets, and mix(z) the finaliser of SplitMix64 (without it in the seed, a
//! name equal to its group would always give 0):
//! z ← (z ⊕ z≫30)·0xbf58476d1ce4e5b9; z ← (z ⊕ z≫27)·0x94d049bb133111eb; z ⊕ z≫31.
//! Models depend on it, so it never changes.
//!
//! A product of features is hashed by their indices i₁, i₂, … in the order in which the
//! interaction names their groups: h₁ = i₁, then h_k = mix(rotl(h_(k−1), 32) ⊕ i_k), which for
//! two is mix(i₁·2³² + i₂). This does not change either.

use std::ops::RangeInclusive;

use rapidhash::v3::rapidhash_v3;

use crate::numeric::rng::mix;

/// The seed of a group of names.
pub fn seed(group: &[u8]) -> u64 {
    mix(rapidhash_v3(group))
}

/// The hash of a name in the group with this seed.
///
/// ```
/// use onward::hashing::feature_hash as hash;
/// let carrier = hash::seed(b"carrier");
/// assert_ne!(hash::name(carrier, b"UA"), hash::name(carrier, b"AA"));
/// ```
#[inline]
pub fn name(seed: u64, name: &[u8]) -> u64 {
    mix(rapidhash_v3(name) ^ seed)
}

/// The lengths of names that [`short`] hashes.
#[doc(hidden)]
pub const SHORT: RangeInclusive<u32> = 1..=16;

/// Two of the secrets of rapidhash, and the seed that it begins with.
const SECRET: u64 = 0x8bb8_4b93_962e_acc9;
const SEED: u64 = multiply_and_fold(0x4b33_a62e_d433_d4a3, SECRET);

/// Both halves of a product, as one.
const fn multiply_and_fold(one: u64, other: u64) -> u64 {
    let product = one as u128 * other as u128;
    product as u64 ^ (product >> 64) as u64
}

/// The same as [`name`], of a name of one to sixteen bytes of which the eight from its start on and the eight before its end are
/// given, the first lowest, whatever is behind and before it: without a branch for its length.
#[doc(hidden)]
#[inline(always)]
pub fn short(seed: u64, first: u64, last: u64, length: u32) -> u64 {
    let (is_long, is_middle) = (length >= 8, length >= 4);
    let ends = if is_middle { first & 0xffff_ffff } else { (first & 0xff) << 45 | last >> 56 };
    let centre = if is_middle { last >> 32 } else { first >> (8 * (length >> 1)) & 0xff };
    let (one, other) = if is_long { (first, last) } else { (ends, centre) };
    let start = if is_middle { SEED ^ u64::from(length) } else { SEED };
    let product = u128::from(one ^ SECRET) * u128::from(other ^ start);
    let (low, high) = (product as u64, (product >> 64) as u64);
    mix(multiply_and_fold(low ^ 0xaaaa_aaaa_aaaa_aaaa, high ^ SECRET ^ u64::from(length)) ^ seed)
}

/// The hash of a product of features, from that of the factors before (of one factor: its
/// index) and the index of the next factor.
///
/// ```
/// use onward::hashing::feature_hash as hash;
/// let pair = hash::product(3, 7);
/// let triple = hash::product(pair, 9);
/// assert_ne!(pair, hash::product(7, 3));
/// assert_ne!(triple, pair);
/// ```
#[inline]
pub fn product(before: u64, index: u32) -> u64 {
    mix(before.rotate_left(32) ^ u64::from(index))
}

/// The share of names expected to share their slot with another name, when
/// `used` of 2^bits slots are in use: with n names in m slots, used ≈
/// m(1 − e^(−n/m)), and a name is alone with probability e^(−n/m).
///
/// ```
/// use onward::hashing::feature_hash::expected_collisions;
/// assert_eq!(expected_collisions(0, 22), 0.0);
/// assert!((expected_collisions(10_000, 22) - 0.0024).abs() < 1e-4);
/// ```
pub fn expected_collisions(used: u64, bits: u32) -> f64 {
    // With e^(−n/m) = 1 − used/m the share is used/m.
    (used as f64 / (1u64 << bits) as f64).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_never_changes() {
        // Numbers of the first release: a model saved then must find its weights.
        assert_eq!(name(seed(b"carrier"), b"UA"), 15201448244710991264);
        assert_eq!(name(seed(b""), b""), 11687358359782746052);
    }

    #[test]
    fn short_names_are_hashed_as_all_others() {
        let mut random = crate::numeric::rng::SplitMix64::new(3);
        for length in SHORT.cycle().take(16_000) {
            // Anything before and behind.
            let bytes: Vec<u8> = (0..32).map(|_| random.bits() as u8).collect();
            let end = 8 + length as usize;
            let eight = |from: usize| u64::from_le_bytes(bytes[from..from + 8].try_into().unwrap());
            let seed = random.bits();
            assert_eq!(short(seed, eight(8), eight(end - 8), length), name(seed, &bytes[8..end]), "{length}");
        }
    }

    #[test]
    fn the_hash_of_products_never_changes() {
        // Computed by the formula at the head of this file, in whole numbers of any length.
        assert_eq!(product(1, 2), 17493830668386226750);
        assert_eq!(product(2, 1), 14351860901744426894);
        assert_eq!(product(product(1, 2), 3), 5047703054703595787);
        assert_eq!(product(4_194_304, 4_194_303), 13947724778754810898);
        assert_eq!(product(product(product(7, 7), 7), 7), 9765368698181424449);
    }

    #[test]
    fn hashes_spread_over_the_low_bits() {
        let mut used = vec![false; 1 << 12];
        let words = seed(b"words");
        for number in 0..4096u32 {
            used[(name(words, number.to_string().as_bytes()) & 0xfff) as usize] = true;
        }
        let share = used.iter().filter(|&&used| used).count() as f64 / 4096.0;
        // 1 − 1/e = 0.632 of the slots, standard deviation 0.005.
        assert!((share - 0.632).abs() < 0.025, "{share}");
    }
}
