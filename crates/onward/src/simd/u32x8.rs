//! Eight numbers of 32 bits at a time: indices, places, the bits of values.
//!
//! Rows are short. The compiler turns a plain loop into one that takes 32 or 64 numbers at a time and the rest, which is
//! most or all of a row, one by one. A loop written with [`U32x8`] takes eight, and the rest together with numbers before it.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;

use crate::simd::vectors;

/// The numbers in a [`U32x8`].
pub(crate) const EIGHT: usize = 8;

/// For any machine.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PortableU32x8([u32; EIGHT]);

/// For machines with AVX2.
#[cfg(target_arch = "x86_64")]
#[derive(Debug, Clone, Copy)]
pub(crate) struct Avx2U32x8(__m256i);

impl PortableU32x8 {
    #[inline(always)]
    fn each(self, other: Self, operation: impl Fn(u32, u32) -> u32) -> Self {
        Self(std::array::from_fn(|at| operation(self.0[at], other.0[at])))
    }
}

vectors! {
    /// Eight numbers of 32 bits.
    trait U32x8 [: Copy] {}
    portable [impl U32x8 for PortableU32x8] {}
    avx2 [impl U32x8 for Avx2U32x8] {}

    [fn all(number: u32) -> Self] Self([number; EIGHT]), Self(_mm256_set1_epi32(number.cast_signed()));
    [fn load(from: &[u32; EIGHT]) -> Self] Self(*from), Self(_mm256_loadu_si256(from.as_ptr().cast()));
    [fn store(self, into: &mut [u32; EIGHT])] *into = self.0, _mm256_storeu_si256(into.as_mut_ptr().cast(), self.0);
    [fn add(self, other: Self) -> Self] self.each(other, u32::wrapping_add), Self(_mm256_add_epi32(self.0, other.0));
    [fn and(self, other: Self) -> Self] self.each(other, |one, other| one & other), Self(_mm256_and_si256(self.0, other.0));
    [fn larger(self, other: Self) -> Self] self.each(other, u32::max), Self(_mm256_max_epu32(self.0, other.0));
    [fn smaller(self, other: Self) -> Self] self.each(other, u32::min), Self(_mm256_min_epu32(self.0, other.0));
    /// All bits of the numbers that are equal in both, and none of the others.
    [fn equal(self, other: Self) -> Self]
        self.each(other, |one, other| if one == other { u32::MAX } else { 0 }),
        Self(_mm256_cmpeq_epi32(self.0, other.0));
    /// The highest bit of each number, that of the first one lowest.
    [fn bits(self) -> u32]
        (0..).zip(self.0).fold(0, |bits, (at, number)| bits | (number >> 31) << at),
        _mm256_movemask_ps(_mm256_castsi256_ps(self.0)).cast_unsigned();
}

/// The largest of eight numbers.
#[inline(always)]
pub(crate) fn largest_of<E: U32x8>(eight: E) -> u32 {
    let mut numbers = [0; EIGHT];
    eight.store(&mut numbers);
    let [a, b, c, d, e, f, g, h] = numbers;
    (a.max(b).max(c.max(d))).max(e.max(f).max(g.max(h)))
}

/// The last eight numbers, some of which may be in the eight before; or all numbers and zeros, if there are fewer.
#[inline(always)]
pub(crate) fn last<E: U32x8>(numbers: &[u32]) -> E {
    match numbers.last_chunk() {
        Some(last) => E::load(last),
        None => {
            let mut few = [0; EIGHT];
            few[..numbers.len()].copy_from_slice(numbers);
            E::load(&few)
        }
    }
}

/// Runs a function of a [`U32x8`] as fast as this machine can.
macro_rules! by_u32x8 {
    ($($function:tt)*) => {
        $crate::simd::by_vectors! { [$crate::simd::u32x8::U32x8, $crate::simd::u32x8::Avx2U32x8, $crate::simd::u32x8::PortableU32x8] $($function)* }
    };
}
pub(crate) use by_u32x8;

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    fn results<E: U32x8>(one: &[u32; EIGHT], other: &[u32; EIGHT]) -> Vec<u32> {
        let (a, b) = (E::load(one), E::load(other));
        let eights = [E::all(one[3]), a, a.add(b), a.and(b), a.larger(b), a.smaller(b), a.equal(b), last(&one[..5])];
        let mut all = vec![a.bits(), a.equal(b).bits(), largest_of(a)];
        for eight in eights {
            let mut stored = [0; EIGHT];
            eight.store(&mut stored);
            all.extend(stored);
        }
        all
    }

    #[test]
    fn vectors_and_arrays_give_the_same_bits() {
        if !std::arch::is_x86_feature_detected!("avx2") {
            return;
        }
        let mut random = crate::numeric::rng::SplitMix64::new(41);
        for round in 0..10_000 {
            let mut number = || if round % 2 == 0 { random.below(3) as u32 } else { random.bits() as u32 };
            let (one, other) = (std::array::from_fn(|_| number()), std::array::from_fn(|_| number()));
            assert_eq!(results::<Avx2U32x8>(&one, &other), results::<PortableU32x8>(&one, &other), "{one:?} {other:?}");
        }
    }
}
