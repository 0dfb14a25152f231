//! Four or eight numbers of 32 bits at a time, and their sums in 64 bits.
//!
//! A loop written with [`F32xN`] says what the vectors are made of. Given arrays, the compiler makes vectors half as wide
//! and keeps them in memory meanwhile (in the second walk of `auto`, 45 instructions per feature instead of 37).
//! Vectors and arrays round alike, operation by operation, so they give the same bits.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;
use std::array;

use crate::simd::f64x4::FOUR;
use crate::simd::u32x8::EIGHT;
use crate::simd::{self, vectors};

/// Eight numbers, for machines with AVX2.
#[cfg(target_arch = "x86_64")]
#[derive(Debug, Clone, Copy)]
pub(crate) struct Avx2F32x8(__m256);

/// Four numbers, for machines with AVX2.
#[cfg(target_arch = "x86_64")]
#[derive(Debug, Clone, Copy)]
pub(crate) struct Avx2F32x4(__m128);

/// Other architectures than x86-64 have no other vectors than arrays.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) type Avx2F32x8 = [f32; EIGHT];
#[cfg(not(target_arch = "x86_64"))]
pub(crate) type Avx2F32x4 = [f32; FOUR];

vectors! {
    /// N numbers of 32 bits.
    trait F32xN [<const N: usize>: Copy] {
        /// N numbers of 64 bits.
        type Sums: Copy;
    }
    portable [impl<const N: usize> F32xN<N> for [f32; N]] { type Sums = [f64; N]; }
    avx2 [const N: usize = EIGHT; impl F32xN<N> for Avx2F32x8] { type Sums = [__m256d; 2]; }
    avx2 [const N: usize = FOUR; impl F32xN<N> for Avx2F32x4] { type Sums = __m256d; }

    [fn all(number: f32) -> Self] [number; N], Self(_mm256_set1_ps(number)), Self(_mm_set1_ps(number));
    [fn load(from: &[f32; N]) -> Self] *from, Self(_mm256_loadu_ps(from.as_ptr())), Self(_mm_loadu_ps(from.as_ptr()));
    /// The numbers with these bits.
    [fn load_bits(from: &[u32; N]) -> Self]
        from.map(f32::from_bits),
        Self(_mm256_loadu_ps(from.as_ptr().cast())),
        Self(_mm_loadu_ps(from.as_ptr().cast()));
    [fn store(self, into: &mut [f32; N])]
        *into = self, _mm256_storeu_ps(into.as_mut_ptr(), self.0), _mm_storeu_ps(into.as_mut_ptr(), self.0);
    [fn add(self, other: Self) -> Self]
        array::from_fn(|at| self[at] + other[at]),
        Self(_mm256_add_ps(self.0, other.0)),
        Self(_mm_add_ps(self.0, other.0));
    [fn times(self, other: Self) -> Self]
        array::from_fn(|at| self[at] * other[at]),
        Self(_mm256_mul_ps(self.0, other.0)),
        Self(_mm_mul_ps(self.0, other.0));
    [fn over(self, other: Self) -> Self]
        array::from_fn(|at| self[at] / other[at]),
        Self(_mm256_div_ps(self.0, other.0)),
        Self(_mm_div_ps(self.0, other.0));
    [fn root(self) -> Self] self.map(f32::sqrt), Self(_mm256_sqrt_ps(self.0)), Self(_mm_sqrt_ps(self.0));
    /// The smaller of each pair, the second if they cannot be compared.
    [fn smaller(self, other: Self) -> Self]
        array::from_fn(|at| simd::smaller(self[at], other[at])),
        Self(_mm256_min_ps(self.0, other.0)),
        Self(_mm_min_ps(self.0, other.0));
    /// The larger of each pair, the second if they cannot be compared.
    [fn larger(self, other: Self) -> Self]
        array::from_fn(|at| simd::larger(self[at], other[at])),
        Self(_mm256_max_ps(self.0, other.0)),
        Self(_mm_max_ps(self.0, other.0));
    /// The bits that the mask has too.
    [fn masked(self, mask: Self) -> Self]
        array::from_fn(|at| f32::from_bits(self[at].to_bits() & mask[at].to_bits())),
        Self(_mm256_and_ps(self.0, mask.0)),
        Self(_mm_and_ps(self.0, mask.0));
    /// The numbers of `self` where the mask has all bits, those of `other` where it has none.
    [fn chosen(self, mask: Self, other: Self) -> Self]
        array::from_fn(|at| if mask[at].to_bits() == 0 { other[at] } else { self[at] }),
        Self(_mm256_blendv_ps(other.0, self.0, mask.0)),
        Self(_mm_blendv_ps(other.0, self.0, mask.0));
    /// The numbers of `self` where `one` > `two`, else 0.
    [fn where_above(self, one: Self, two: Self) -> Self]
        array::from_fn(|at| if one[at] > two[at] { self[at] } else { 0.0 }),
        Self(_mm256_and_ps(self.0, _mm256_cmp_ps::<_CMP_GT_OQ>(one.0, two.0))),
        Self(_mm_and_ps(self.0, _mm_cmp_ps::<_CMP_GT_OQ>(one.0, two.0)));
    [fn no_sums() -> Self::Sums] [0.0; N], [_mm256_setzero_pd(), _mm256_setzero_pd()], _mm256_setzero_pd();
    /// Sums with these numbers added.
    [fn added_to(self, sums: Self::Sums) -> Self::Sums]
        array::from_fn(|at| sums[at] + f64::from(self[at])),
        [
            _mm256_add_pd(sums[0], _mm256_cvtps_pd(_mm256_castps256_ps128(self.0))),
            _mm256_add_pd(sums[1], _mm256_cvtps_pd(_mm256_extractf128_ps::<1>(self.0))),
        ],
        _mm256_add_pd(sums, _mm256_cvtps_pd(self.0));
    [fn store_sums(sums: Self::Sums, into: &mut [f64; N])]
        *into = sums,
        {
            _mm256_storeu_pd(into.as_mut_ptr(), sums[0]);
            _mm256_storeu_pd(into.as_mut_ptr().add(FOUR), sums[1]);
        },
        _mm256_storeu_pd(into.as_mut_ptr(), sums);
}

/// Work on vectors of N numbers and on vectors of eight. `run` should be `#[inline(always)]`.
pub(crate) trait WidthKernel<const N: usize> {
    /// The result.
    type Output;

    /// Does the work.
    fn run<V: F32xN<N>, E: Transpose>(self) -> Self::Output;
}

/// Runs a kernel as fast as this machine can: with vectors of the type `W` where it has AVX2, else with arrays.
#[inline]
pub(crate) fn run<const N: usize, W: F32xN<N>, K: WidthKernel<N>>(kernel: K) -> K::Output {
    crate::dispatch! {
        [const N: usize, W: F32xN<N>, K: WidthKernel<N>] [N, W, K] (kernel: K) -> K::Output,
        kernel.run::<W, Avx2F32x8>(),
        kernel.run::<[f32; N], [f32; EIGHT]>()
    }
}

vectors! {
    /// Eight numbers of each of several columns, from eight rows and back.
    trait Transpose [: F32xN<EIGHT>] {}
    portable [impl Transpose for [f32; EIGHT]] {}
    avx2 [impl Transpose for Avx2F32x8] {}

    /// Four columns.
    [fn of_fours(rows: [&[f32; 4]; EIGHT]) -> [Self; 4]]
        array::from_fn(|column| rows.map(|row| row[column])),
        {
            let two = |low: &[f32; 4], high: &[f32; 4]| {
                let low = _mm256_castps128_ps256(_mm_loadu_ps(low.as_ptr()));
                _mm256_insertf128_ps::<1>(low, _mm_loadu_ps(high.as_ptr()))
            };
            let [a, b, c, d, e, f, g, h] = rows;
            transposed([two(a, e), two(b, f), two(c, g), two(d, h)]).map(Self)
        };
    /// Two columns. A row of two numbers has 64 bits, which may be anywhere: it is not loaded as one number of 64 bits, which
    /// has to be at a multiple of eight bytes.
    [fn of_pairs(rows: [&[f32; 2]; EIGHT]) -> [Self; 2]]
        array::from_fn(|column| rows.map(|row| row[column])),
        {
            let one = |row: &[f32; 2]| _mm_loadl_epi64(row.as_ptr().cast());
            let two = |low: &[f32; 2], high: &[f32; 2]| _mm_unpacklo_epi64(one(low), one(high));
            let four = |low, high| _mm256_castsi256_ps(_mm256_set_m128i(high, low));
            let [a, b, c, d, e, f, g, h] = rows;
            let (first, second) = (four(two(a, b), two(e, f)), four(two(c, d), two(g, h)));
            [
                Self(_mm256_shuffle_ps::<0b10_00_10_00>(first, second)),
                Self(_mm256_shuffle_ps::<0b11_01_11_01>(first, second)),
            ]
        };
    /// The rows of four columns.
    [fn fours(columns: [Self; 4]) -> [[f32; 4]; EIGHT]]
        array::from_fn(|row| columns.map(|column| column[row])),
        {
            let mut rows = [[0.0; 4]; EIGHT];
            for (row, two) in transposed(columns.map(|column| column.0)).into_iter().enumerate() {
                _mm_storeu_ps(rows[row].as_mut_ptr(), _mm256_castps256_ps128(two));
                _mm_storeu_ps(rows[row + FOUR].as_mut_ptr(), _mm256_extractf128_ps::<1>(two));
            }
            rows
        };
}

/// Rows for columns, in each half separately.
///
/// # Safety
/// See [`vectors`].
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
#[inline(always)]
unsafe fn transposed([a, b, c, d]: [__m256; 4]) -> [__m256; 4] {
    // SAFETY: see `vectors`.
    unsafe {
        let (ab, cd) = (_mm256_unpacklo_ps(a, b), _mm256_unpacklo_ps(c, d));
        let (behind_ab, behind_cd) = (_mm256_unpackhi_ps(a, b), _mm256_unpackhi_ps(c, d));
        [
            _mm256_shuffle_ps::<0b01_00_01_00>(ab, cd),
            _mm256_shuffle_ps::<0b11_10_11_10>(ab, cd),
            _mm256_shuffle_ps::<0b01_00_01_00>(behind_ab, behind_cd),
            _mm256_shuffle_ps::<0b11_10_11_10>(behind_ab, behind_cd),
        ]
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    fn results<const N: usize, V: F32xN<N>>(one: &[f32; N], other: &[f32; N], bits: &[u32; N]) -> Vec<u64> {
        let (a, b, mask) = (V::load(one), V::load(other), V::load_bits(bits));
        let vectors = [
            V::all(one[3]),
            a,
            a.add(b),
            a.times(b),
            a.over(b),
            a.root(),
            a.smaller(b),
            a.larger(b),
            a.masked(mask),
            a.chosen(mask, b),
            a.where_above(a, b),
        ];
        let mut all = Vec::new();
        for vector in vectors {
            let mut stored = [0.0; N];
            vector.store(&mut stored);
            // Which bits a number has that is none may differ.
            all.extend(stored.map(|number| if number.is_nan() { 1 } else { u64::from(number.to_bits()) << 1 }));
        }
        let mut sums = [0.0; N];
        V::store_sums(b.added_to(a.added_to(V::no_sums())), &mut sums);
        all.extend(sums.map(|sum| if sum.is_nan() { 1 } else { sum.to_bits() }));
        all
    }

    fn columns<E: Transpose>(fours: &[[f32; 4]; EIGHT], pairs: [&[f32; 2]; EIGHT]) -> Vec<u32> {
        let columns = E::of_fours(fours.each_ref());
        let mut all = Vec::new();
        for column in columns.into_iter().chain(E::of_pairs(pairs)) {
            let mut stored = [0.0; EIGHT];
            column.store(&mut stored);
            all.extend(stored.map(f32::to_bits));
        }
        assert_eq!(E::fours(columns), *fours);
        all
    }

    #[test]
    fn vectors_and_arrays_give_the_same_bits() {
        if !std::arch::is_x86_feature_detected!("avx2") {
            return;
        }
        let mut random = crate::numeric::rng::SplitMix64::new(47);
        for round in 0..10_000 {
            let mut bits = || random.bits() as u32;
            let mut number = || match (bits(), round % 3) {
                (bits, 0) => f32::from_bits(bits),
                (bits, _) => [0.0, -0.0, 1.5, -2.0, f32::INFINITY, f32::NAN, 3e38, 1e-40][bits as usize % 8],
            };
            let (one, other): ([f32; 8], [f32; 8]) =
                (std::array::from_fn(|_| number()), std::array::from_fn(|_| number()));
            let fours = std::array::from_fn(|row| std::array::from_fn(|column| (8 * row + column + round) as f32));
            // At a multiple of eight bytes, or only of four.
            let line: [f32; 17] = std::array::from_fn(|at| (at + round) as f32);
            let pairs = std::array::from_fn(|row| line[2 * row + round % 2..].first_chunk().unwrap());
            let mask = std::array::from_fn(|_| if bits() % 2 == 0 { u32::MAX } else { 0 });
            let expected = results::<8, [f32; 8]>(&one, &other, &mask);
            assert_eq!(results::<8, Avx2F32x8>(&one, &other, &mask), expected, "{one:?} {other:?}");
            let half = |all: &[f32; 8]| [all[0], all[1], all[2], all[3]];
            let (one, other, mask) = (half(&one), half(&other), [mask[0], mask[1], mask[2], mask[3]]);
            let expected = results::<4, [f32; 4]>(&one, &other, &mask);
            assert_eq!(results::<4, Avx2F32x4>(&one, &other, &mask), expected, "{one:?} {other:?}");
            assert_eq!(columns::<Avx2F32x8>(&fours, pairs), columns::<[f32; 8]>(&fours, pairs));
        }
    }
}
