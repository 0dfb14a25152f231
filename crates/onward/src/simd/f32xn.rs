//! Four or eight numbers of 32 bits at a time, and what is summed of them in 64.
//!
//! A loop that is written with [`F32xN`] says what vectors are made of. Of arrays the compiler makes some that are half as
//! wide, and keeps them in memory meanwhile (in the second walk of `auto` 45 instructions a feature for what takes 37).
//! Operation by operation vectors and arrays round alike, so they give the same bits.

use crate::simd::f64x4::FOUR;
use crate::simd::u32x8::EIGHT;

/// N numbers of 32 bits.
pub(crate) trait F32xN<const N: usize>: Copy {
    /// As many of 64.
    type Sums: Copy;

    fn all(number: f32) -> Self;
    fn load(from: &[f32; N]) -> Self;
    /// Those of these bits.
    fn load_bits(from: &[u32; N]) -> Self;
    fn store(self, into: &mut [f32; N]);
    fn add(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
    fn over(self, other: Self) -> Self;
    fn root(self) -> Self;
    /// The smaller of each two, the second if they cannot be compared.
    fn smaller(self, other: Self) -> Self;
    /// The larger of each two, the second if they cannot be compared.
    fn larger(self, other: Self) -> Self;
    /// The bits that a mask has too.
    fn masked(self, mask: Self) -> Self;
    /// Each where a mask has all bits, that of another where it has none.
    fn chosen(self, mask: Self, other: Self) -> Self;
    /// Each where `one` > `two`, else 0.
    fn where_above(self, one: Self, two: Self) -> Self;
    fn no_sums() -> Self::Sums;
    /// Sums with these numbers added.
    fn added_to(self, sums: Self::Sums) -> Self::Sums;
    fn store_sums(sums: Self::Sums, into: &mut [f64; N]);
}

/// Eight numbers of each of several columns, from eight rows and back.
pub(crate) trait Transpose: F32xN<EIGHT> {
    /// Four columns.
    fn of_fours(rows: [&[f32; 4]; EIGHT]) -> [Self; 4];
    /// Two columns.
    fn of_pairs(rows: [&[f32; 2]; EIGHT]) -> [Self; 2];
    /// The rows of four columns.
    fn fours(columns: [Self; 4]) -> [[f32; 4]; EIGHT];
}

/// Work on vectors of N numbers, and on such of eight. `run` is to be `#[inline(always)]`.
pub(crate) trait WidthKernel<const N: usize> {
    /// What comes out.
    type Output;

    /// The work.
    fn run<V: F32xN<N>, E: Transpose>(self) -> Self::Output;
}

/// The vectors of N numbers that machines with AVX2 have: [`run`] alone may name them.
pub(crate) trait Width<const N: usize> {
    type Wide: F32xN<N>;
}

/// Runs a kernel as fast as this machine can.
#[inline]
pub(crate) fn run<const N: usize, W: Width<N>, K: WidthKernel<N>>(kernel: K) -> K::Output {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
        fn wide<const N: usize, W: Width<N>, K: WidthKernel<N>>(kernel: K) -> K::Output {
            kernel.run::<W::Wide, wide::Avx2F32x8>()
        }
        if crate::simd::is_wide() {
            // SAFETY: the processor was asked, and has what the function is compiled for.
            #[allow(unsafe_code)]
            return unsafe { wide::<N, W, K>(kernel) };
        }
    }
    kernel.run::<[f32; N], [f32; EIGHT]>()
}

/// Vectors of eight.
pub(crate) enum OfEight {}

/// Vectors of four.
pub(crate) enum OfFour {}

#[cfg(not(target_arch = "x86_64"))]
mod wide {
    use super::*;

    impl Width<EIGHT> for OfEight {
        type Wide = [f32; EIGHT];
    }

    impl Width<FOUR> for OfFour {
        type Wide = [f32; FOUR];
    }
}

/// For any machine.
impl<const N: usize> F32xN<N> for [f32; N] {
    type Sums = [f64; N];

    #[inline(always)]
    fn all(number: f32) -> Self {
        [number; N]
    }

    #[inline(always)]
    fn load(from: &[f32; N]) -> Self {
        *from
    }

    #[inline(always)]
    fn load_bits(from: &[u32; N]) -> Self {
        from.map(f32::from_bits)
    }

    #[inline(always)]
    fn store(self, into: &mut [f32; N]) {
        *into = self;
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        std::array::from_fn(|at| self[at] + other[at])
    }

    #[inline(always)]
    fn times(self, other: Self) -> Self {
        std::array::from_fn(|at| self[at] * other[at])
    }

    #[inline(always)]
    fn over(self, other: Self) -> Self {
        std::array::from_fn(|at| self[at] / other[at])
    }

    #[inline(always)]
    fn root(self) -> Self {
        self.map(f32::sqrt)
    }

    #[inline(always)]
    fn smaller(self, other: Self) -> Self {
        std::array::from_fn(|at| crate::simd::smaller(self[at], other[at]))
    }

    #[inline(always)]
    fn larger(self, other: Self) -> Self {
        std::array::from_fn(|at| crate::simd::larger(self[at], other[at]))
    }

    #[inline(always)]
    fn masked(self, mask: Self) -> Self {
        std::array::from_fn(|at| f32::from_bits(self[at].to_bits() & mask[at].to_bits()))
    }

    #[inline(always)]
    fn chosen(self, mask: Self, other: Self) -> Self {
        std::array::from_fn(|at| if mask[at].to_bits() == 0 { other[at] } else { self[at] })
    }

    #[inline(always)]
    fn where_above(self, one: Self, two: Self) -> Self {
        std::array::from_fn(|at| if one[at] > two[at] { self[at] } else { 0.0 })
    }

    #[inline(always)]
    fn no_sums() -> [f64; N] {
        [0.0; N]
    }

    #[inline(always)]
    fn added_to(self, sums: [f64; N]) -> [f64; N] {
        std::array::from_fn(|at| sums[at] + f64::from(self[at]))
    }

    #[inline(always)]
    fn store_sums(sums: [f64; N], into: &mut [f64; N]) {
        *into = sums;
    }
}

impl Transpose for [f32; EIGHT] {
    #[inline(always)]
    fn of_fours(rows: [&[f32; 4]; EIGHT]) -> [Self; 4] {
        std::array::from_fn(|column| rows.map(|row| row[column]))
    }

    #[inline(always)]
    fn of_pairs(rows: [&[f32; 2]; EIGHT]) -> [Self; 2] {
        std::array::from_fn(|column| rows.map(|row| row[column]))
    }

    #[inline(always)]
    fn fours(columns: [Self; 4]) -> [[f32; 4]; EIGHT] {
        std::array::from_fn(|row| columns.map(|column| column[row]))
    }
}

#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
mod wide {
    use std::arch::x86_64::*;

    use super::{EIGHT, F32xN, FOUR, OfEight, OfFour, Transpose, Width};

    impl Width<EIGHT> for OfEight {
        type Wide = Avx2F32x8;
    }

    impl Width<FOUR> for OfFour {
        type Wide = Avx2F32x4;
    }

    /// Eight numbers, for machines with AVX2. SAFETY, of all instructions here: [`run`](super::run) and the tests alone name
    /// these vectors, and run what names them only where the processor has the instructions.
    #[derive(Debug, Clone, Copy)]
    pub(crate) struct Avx2F32x8(__m256);

    /// Four of them.
    #[derive(Debug, Clone, Copy)]
    pub(crate) struct Avx2F32x4(__m128);

    impl F32xN<EIGHT> for Avx2F32x8 {
        type Sums = [__m256d; 2];

        #[inline(always)]
        fn all(number: f32) -> Self {
            // SAFETY: see `Avx2F32x8`.
            Self(unsafe { _mm256_set1_ps(number) })
        }

        #[inline(always)]
        fn load(from: &[f32; EIGHT]) -> Self {
            // SAFETY: see `Avx2F32x8`; eight numbers are there.
            Self(unsafe { _mm256_loadu_ps(from.as_ptr()) })
        }

        #[inline(always)]
        fn load_bits(from: &[u32; EIGHT]) -> Self {
            // SAFETY: see `Avx2F32x8`; eight numbers are there.
            Self(unsafe { _mm256_loadu_ps(from.as_ptr().cast()) })
        }

        #[inline(always)]
        fn store(self, into: &mut [f32; EIGHT]) {
            // SAFETY: see `Avx2F32x8`; there is room for eight numbers.
            unsafe { _mm256_storeu_ps(into.as_mut_ptr(), self.0) }
        }

        #[inline(always)]
        fn add(self, other: Self) -> Self {
            // SAFETY: see `Avx2F32x8`.
            Self(unsafe { _mm256_add_ps(self.0, other.0) })
        }

        #[inline(always)]
        fn times(self, other: Self) -> Self {
            // SAFETY: see `Avx2F32x8`.
            Self(unsafe { _mm256_mul_ps(self.0, other.0) })
        }

        #[inline(always)]
        fn over(self, other: Self) -> Self {
            // SAFETY: see `Avx2F32x8`.
            Self(unsafe { _mm256_div_ps(self.0, other.0) })
        }

        #[inline(always)]
        fn root(self) -> Self {
            // SAFETY: see `Avx2F32x8`.
            Self(unsafe { _mm256_sqrt_ps(self.0) })
        }

        #[inline(always)]
        fn smaller(self, other: Self) -> Self {
            // SAFETY: see `Avx2F32x8`.
            Self(unsafe { _mm256_min_ps(self.0, other.0) })
        }

        #[inline(always)]
        fn larger(self, other: Self) -> Self {
            // SAFETY: see `Avx2F32x8`.
            Self(unsafe { _mm256_max_ps(self.0, other.0) })
        }

        #[inline(always)]
        fn masked(self, mask: Self) -> Self {
            // SAFETY: see `Avx2F32x8`.
            Self(unsafe { _mm256_and_ps(self.0, mask.0) })
        }

        #[inline(always)]
        fn chosen(self, mask: Self, other: Self) -> Self {
            // SAFETY: see `Avx2F32x8`.
            Self(unsafe { _mm256_blendv_ps(other.0, self.0, mask.0) })
        }

        #[inline(always)]
        fn where_above(self, one: Self, two: Self) -> Self {
            // SAFETY: see `Avx2F32x8`.
            Self(unsafe { _mm256_and_ps(self.0, _mm256_cmp_ps::<_CMP_GT_OQ>(one.0, two.0)) })
        }

        #[inline(always)]
        fn no_sums() -> [__m256d; 2] {
            // SAFETY: see `Avx2F32x8`.
            unsafe { [_mm256_setzero_pd(), _mm256_setzero_pd()] }
        }

        #[inline(always)]
        fn added_to(self, [low, high]: [__m256d; 2]) -> [__m256d; 2] {
            // SAFETY: see `Avx2F32x8`.
            unsafe {
                [
                    _mm256_add_pd(low, _mm256_cvtps_pd(_mm256_castps256_ps128(self.0))),
                    _mm256_add_pd(high, _mm256_cvtps_pd(_mm256_extractf128_ps::<1>(self.0))),
                ]
            }
        }

        #[inline(always)]
        fn store_sums([low, high]: [__m256d; 2], into: &mut [f64; EIGHT]) {
            // SAFETY: see `Avx2F32x8`; there is room for twice four numbers.
            unsafe {
                _mm256_storeu_pd(into.as_mut_ptr(), low);
                _mm256_storeu_pd(into.as_mut_ptr().add(FOUR), high);
            }
        }
    }

    impl Transpose for Avx2F32x8 {
        #[inline(always)]
        fn of_fours(rows: [&[f32; 4]; EIGHT]) -> [Self; 4] {
            let [a, b, c, d, e, f, g, h] = rows;
            // SAFETY: see `Avx2F32x8`; each row has four numbers.
            unsafe {
                let two = |low: &[f32; 4], high: &[f32; 4]| {
                    let low = _mm256_castps128_ps256(_mm_loadu_ps(low.as_ptr()));
                    _mm256_insertf128_ps::<1>(low, _mm_loadu_ps(high.as_ptr()))
                };
                transposed([two(a, e), two(b, f), two(c, g), two(d, h)]).map(Self)
            }
        }

        #[inline(always)]
        fn of_pairs(rows: [&[f32; 2]; EIGHT]) -> [Self; 2] {
            let [a, b, c, d, e, f, g, h] = rows;
            // SAFETY: see `Avx2F32x8`; each row has two numbers, 64 bits, which may be anywhere.
            unsafe {
                // Not a load of one number of 64 bits, which has to be at a multiple of eight bytes.
                let one = |row: &[f32; 2]| _mm_loadl_epi64(row.as_ptr().cast());
                let two = |low: &[f32; 2], high: &[f32; 2]| _mm_unpacklo_epi64(one(low), one(high));
                let four = |low, high| _mm256_castsi256_ps(_mm256_set_m128i(high, low));
                let (first, second) = (four(two(a, b), two(e, f)), four(two(c, d), two(g, h)));
                [
                    Self(_mm256_shuffle_ps::<0b10_00_10_00>(first, second)),
                    Self(_mm256_shuffle_ps::<0b11_01_11_01>(first, second)),
                ]
            }
        }

        #[inline(always)]
        fn fours(columns: [Self; 4]) -> [[f32; 4]; EIGHT] {
            let mut rows = [[0.0; 4]; EIGHT];
            let [a, b, c, d] = columns;
            // SAFETY: see `Avx2F32x8`; each row has room for four numbers.
            unsafe {
                for (row, two) in transposed([a.0, b.0, c.0, d.0]).into_iter().enumerate() {
                    _mm_storeu_ps(rows[row].as_mut_ptr(), _mm256_castps256_ps128(two));
                    _mm_storeu_ps(rows[row + FOUR].as_mut_ptr(), _mm256_extractf128_ps::<1>(two));
                }
            }
            rows
        }
    }

    /// Rows for columns, in each half apart.
    ///
    /// # Safety
    /// See [`Avx2F32x8`].
    #[inline(always)]
    unsafe fn transposed([a, b, c, d]: [__m256; 4]) -> [__m256; 4] {
        // SAFETY: see `Avx2F32x8`.
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

    impl F32xN<FOUR> for Avx2F32x4 {
        type Sums = __m256d;

        #[inline(always)]
        fn all(number: f32) -> Self {
            // SAFETY: see `Avx2F32x8`.
            Self(unsafe { _mm_set1_ps(number) })
        }

        #[inline(always)]
        fn load(from: &[f32; FOUR]) -> Self {
            // SAFETY: see `Avx2F32x8`; four numbers are there.
            Self(unsafe { _mm_loadu_ps(from.as_ptr()) })
        }

        #[inline(always)]
        fn load_bits(from: &[u32; FOUR]) -> Self {
            // SAFETY: see `Avx2F32x8`; four numbers are there.
            Self(unsafe { _mm_loadu_ps(from.as_ptr().cast()) })
        }

        #[inline(always)]
        fn store(self, into: &mut [f32; FOUR]) {
            // SAFETY: see `Avx2F32x8`; there is room for four numbers.
            unsafe { _mm_storeu_ps(into.as_mut_ptr(), self.0) }
        }

        #[inline(always)]
        fn add(self, other: Self) -> Self {
            // SAFETY: see `Avx2F32x8`.
            Self(unsafe { _mm_add_ps(self.0, other.0) })
        }

        #[inline(always)]
        fn times(self, other: Self) -> Self {
            // SAFETY: see `Avx2F32x8`.
            Self(unsafe { _mm_mul_ps(self.0, other.0) })
        }

        #[inline(always)]
        fn over(self, other: Self) -> Self {
            // SAFETY: see `Avx2F32x8`.
            Self(unsafe { _mm_div_ps(self.0, other.0) })
        }

        #[inline(always)]
        fn root(self) -> Self {
            // SAFETY: see `Avx2F32x8`.
            Self(unsafe { _mm_sqrt_ps(self.0) })
        }

        #[inline(always)]
        fn smaller(self, other: Self) -> Self {
            // SAFETY: see `Avx2F32x8`.
            Self(unsafe { _mm_min_ps(self.0, other.0) })
        }

        #[inline(always)]
        fn larger(self, other: Self) -> Self {
            // SAFETY: see `Avx2F32x8`.
            Self(unsafe { _mm_max_ps(self.0, other.0) })
        }

        #[inline(always)]
        fn masked(self, mask: Self) -> Self {
            // SAFETY: see `Avx2F32x8`.
            Self(unsafe { _mm_and_ps(self.0, mask.0) })
        }

        #[inline(always)]
        fn chosen(self, mask: Self, other: Self) -> Self {
            // SAFETY: see `Avx2F32x8`.
            Self(unsafe { _mm_blendv_ps(other.0, self.0, mask.0) })
        }

        #[inline(always)]
        fn where_above(self, one: Self, two: Self) -> Self {
            // SAFETY: see `Avx2F32x8`.
            Self(unsafe { _mm_and_ps(self.0, _mm_cmp_ps::<_CMP_GT_OQ>(one.0, two.0)) })
        }

        #[inline(always)]
        fn no_sums() -> __m256d {
            // SAFETY: see `Avx2F32x8`.
            unsafe { _mm256_setzero_pd() }
        }

        #[inline(always)]
        fn added_to(self, sums: __m256d) -> __m256d {
            // SAFETY: see `Avx2F32x8`.
            unsafe { _mm256_add_pd(sums, _mm256_cvtps_pd(self.0)) }
        }

        #[inline(always)]
        fn store_sums(sums: __m256d, into: &mut [f64; FOUR]) {
            // SAFETY: see `Avx2F32x8`; there is room for four numbers.
            unsafe { _mm256_storeu_pd(into.as_mut_ptr(), sums) }
        }
    }

    #[cfg(test)]
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
}
