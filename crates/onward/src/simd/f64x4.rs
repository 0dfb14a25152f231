//! Four numbers at a time, and entries of 16 bytes taken four at a time.
//!
//! A loop written with [`F64x4`] says what the vectors are made of. Given arrays, the compiler guesses and shuffles
//! (in `nag`, 12 instructions per feature became 6). Such a loop is compiled twice: with the instructions of AVX2,
//! and with arrays for any machine. Both round alike, operation by operation, so they give the same bits.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;
use std::ops::{Add, Div, Mul, Sub};

use crate::simd::{self, vectors};

/// An entry as it lies in memory: two words of 64 bits.
pub(crate) type Record16 = [u64; 2];

/// The numbers in an [`F64x4`].
pub(crate) const FOUR: usize = 4;

/// For any machine.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PortableF64x4([f64; FOUR]);

/// For machines with AVX2.
#[cfg(target_arch = "x86_64")]
#[derive(Debug, Clone, Copy)]
pub(crate) struct Avx2F64x4(__m256d);

impl PortableF64x4 {
    #[inline(always)]
    fn each(self, other: Self, operation: impl Fn(f64, f64) -> f64) -> Self {
        let ([a, b, c, d], [e, f, g, h]) = (self.0, other.0);
        Self([operation(a, e), operation(b, f), operation(c, g), operation(d, h)])
    }
}

/// Operators, by their instructions.
macro_rules! arithmetic {
    ($($trait:ident $operation:ident $operator:tt $instruction:ident;)*) => {$(
        impl $trait for PortableF64x4 {
            type Output = Self;

            #[inline(always)]
            fn $operation(self, other: Self) -> Self {
                self.each(other, |one, other| one $operator other)
            }
        }

        #[cfg(target_arch = "x86_64")]
        impl $trait for Avx2F64x4 {
            type Output = Self;

            #[inline(always)]
            fn $operation(self, other: Self) -> Self {
                // SAFETY: see `vectors`.
                #[allow(unsafe_code)]
                Self(unsafe { $instruction(self.0, other.0) })
            }
        }
    )*};
}

arithmetic! {
    Add add + _mm256_add_pd;
    Sub sub - _mm256_sub_pd;
    Mul mul * _mm256_mul_pd;
    Div div / _mm256_div_pd;
}

vectors! {
    /// A number of 64 bits, or several side by side: a formula written with it serves any number of features.
    trait Real [: Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self>] {
        /// Each number limited to ± `most` > 0. NaN stays.
        #[inline(always)]
        fn held(self, most: Self) -> Self {
            most.smaller((Self::all(0.0) - most).larger(self))
        }
    }
    portable [impl Real for f64] {}
    portable [impl Real for PortableF64x4] {}
    avx2 [impl Real for Avx2F64x4] {}

    [fn all(number: f64) -> Self] number, Self([number; FOUR]), Self(_mm256_set1_pd(number));
    [fn sqrt(self) -> Self] f64::sqrt(self), Self(self.0.map(f64::sqrt)), Self(_mm256_sqrt_pd(self.0));
    [fn abs(self) -> Self]
        f64::abs(self), Self(self.0.map(f64::abs)), Self(_mm256_andnot_pd(_mm256_set1_pd(-0.0), self.0));
    /// The smaller of each pair, the second if they cannot be compared.
    [fn smaller(self, other: Self) -> Self]
        simd::smaller(self, other), self.each(other, simd::smaller), Self(_mm256_min_pd(self.0, other.0));
    /// The larger of each pair, the second if they cannot be compared.
    [fn larger(self, other: Self) -> Self]
        simd::larger(self, other), self.each(other, simd::larger), Self(_mm256_max_pd(self.0, other.0));
    /// The numbers of `self` where `one` > `two`, else those of `other`.
    [fn where_above(self, one: Self, two: Self, other: Self) -> Self]
        if one > two { self } else { other },
        Self(std::array::from_fn(|at| if one.0[at] > two.0[at] { self.0[at] } else { other.0[at] })),
        Self(_mm256_blendv_pd(other.0, self.0, _mm256_cmp_pd::<_CMP_GT_OQ>(one.0, two.0)));
}

vectors! {
    /// Four numbers of 64 bits.
    trait F64x4 [: Real] {
        /// Four numbers of 32 bits.
        type F32x4: Copy;

        #[inline(always)]
        fn numbers(self) -> [f64; FOUR] {
            let mut numbers = [0.0; FOUR];
            self.store(&mut numbers);
            numbers
        }
    }
    portable [impl F64x4 for PortableF64x4] { type F32x4 = [f32; FOUR]; }
    avx2 [impl F64x4 for Avx2F64x4] { type F32x4 = __m128; }

    [fn load(from: &[f64; FOUR]) -> Self] Self(*from), Self(_mm256_loadu_pd(from.as_ptr()));
    [fn store(self, into: &mut [f64; FOUR])] *into = self.0, _mm256_storeu_pd(into.as_mut_ptr(), self.0);
    [fn load_f32(from: &[f32; FOUR]) -> Self::F32x4] *from, _mm_loadu_ps(from.as_ptr());
    [fn widen(narrow: Self::F32x4) -> Self] Self(narrow.map(f64::from)), Self(_mm256_cvtps_pd(narrow));
    /// Each rounded to 32 bits.
    [fn narrow(self) -> Self::F32x4] self.0.map(|number| number as f32), _mm256_cvtpd_ps(self.0);
    /// Each rounded to 32 bits, and limited to the finite numbers of 32 bits. NaN stays: `_mm_min_ps` and `_mm_max_ps` take
    /// the second of two numbers that cannot be compared.
    [fn saturate(self) -> Self::F32x4]
        self.0.map(crate::numeric::saturate),
        _mm_min_ps(_mm_set1_ps(f32::MAX), _mm_max_ps(_mm_set1_ps(f32::MIN), self.narrow()));
    /// Whether some number is above that of `other`.
    [fn is_above(self, other: Self) -> bool]
        self.0.iter().zip(&other.0).any(|(one, other)| one > other),
        _mm256_movemask_pd(_mm256_cmp_pd::<_CMP_GT_OQ>(self.0, other.0)) != 0;
    /// Which numbers have no bit set, one bit for each.
    [fn zeros(self) -> u32]
        (0..).zip(self.0).fold(0, |bits, (at, number)| bits | u32::from(number.to_bits() == 0) << at),
        {
            let are_zero = _mm256_cmpeq_epi64(_mm256_castpd_si256(self.0), _mm256_setzero_si256());
            _mm256_movemask_pd(_mm256_castsi256_pd(are_zero)).cast_unsigned()
        };
    /// The first and the second words of entries.
    ///
    /// # Safety
    /// All positions are below the number of entries.
    [unsafe fn gather(entries: &[Record16], positions: &[u32; FOUR]) -> (Self, Self)]
        {
            let entries = positions.map(|position| entries[position as usize].map(f64::from_bits));
            (Self(entries.map(|[first, _]| first)), Self(entries.map(|[_, second]| second)))
        },
        {
            debug_assert!(positions.iter().all(|&position| (position as usize) < entries.len()));
            let entry = |at: usize| entries.as_ptr().add(positions[at] as usize).cast::<f64>();
            let even = _mm256_set_m128d(_mm_loadu_pd(entry(2)), _mm_loadu_pd(entry(0)));
            let odd = _mm256_set_m128d(_mm_loadu_pd(entry(3)), _mm_loadu_pd(entry(1)));
            (Self(_mm256_unpacklo_pd(even, odd)), Self(_mm256_unpackhi_pd(even, odd)))
        };
    /// Writes entries.
    ///
    /// # Safety
    /// All positions are below the number of entries.
    [unsafe fn scatter(entries: &mut [Record16], positions: &[u32; FOUR], first: Self, second: Self)]
        for (&position, (first, second)) in positions.iter().zip(first.0.into_iter().zip(second.0)) {
            entries[position as usize] = [first.to_bits(), second.to_bits()];
        },
        {
            debug_assert!(positions.iter().all(|&position| (position as usize) < entries.len()));
            let even = _mm256_unpacklo_pd(first.0, second.0);
            let odd = _mm256_unpackhi_pd(first.0, second.0);
            let entries = entries.as_mut_ptr();
            let entry = |at: usize| entries.add(positions[at] as usize).cast::<f64>();
            _mm_storeu_pd(entry(0), _mm256_castpd256_pd128(even));
            _mm_storeu_pd(entry(1), _mm256_castpd256_pd128(odd));
            _mm_storeu_pd(entry(2), _mm256_extractf128_pd::<1>(even));
            _mm_storeu_pd(entry(3), _mm256_extractf128_pd::<1>(odd));
        };
    /// Splits words of two numbers of 32 bits each: the numbers in front, and the numbers behind.
    [fn unzip(self) -> (Self::F32x4, Self::F32x4)]
        {
            let pairs: [[f32; 2]; FOUR] = bytemuck::must_cast(self.0);
            (pairs.map(|[front, _]| front), pairs.map(|[_, behind]| behind))
        },
        {
            let words = _mm256_castpd_ps(self.0);
            let (low, high) = (_mm256_castps256_ps128(words), _mm256_extractf128_ps::<1>(words));
            (_mm_shuffle_ps::<0b10_00_10_00>(low, high), _mm_shuffle_ps::<0b11_01_11_01>(low, high))
        };
    /// Words of two numbers of 32 bits each.
    [fn zip(front: Self::F32x4, behind: Self::F32x4) -> Self]
        Self(bytemuck::must_cast::<[[f32; 2]; FOUR], _>(std::array::from_fn(|at| [front[at], behind[at]]))),
        {
            let (low, high) = (_mm_unpacklo_ps(front, behind), _mm_unpackhi_ps(front, behind));
            Self(_mm256_castps_pd(_mm256_set_m128(high, low)))
        };
}

/// Joins eight accumulators in the fixed tree of [`sum`](crate::numeric::sum).
#[inline(always)]
pub(crate) fn join<Q: F64x4>([low, high]: [Q; 2]) -> f64 {
    let [a, b, c, d] = (low + high).numbers();
    (a + c) + (b + d)
}

/// Runs a function of a [`F64x4`] as fast as this machine can.
macro_rules! by_f64x4 {
    ($($function:tt)*) => {
        $crate::simd::by_vectors! { [$crate::simd::f64x4::F64x4, $crate::simd::f64x4::Avx2F64x4, $crate::simd::f64x4::PortableF64x4] $($function)* }
    };
}
pub(crate) use by_f64x4;

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;
    use crate::numeric::rng::SplitMix64;

    /// Numbers of all kinds, and entries; what all operations make of them, bit by bit.
    fn results<Q: F64x4>(
        numbers: [[f64; FOUR]; 3],
        narrow: [f32; FOUR],
        entries: &mut [Record16],
        positions: &[u32; FOUR],
    ) -> Vec<u64> {
        let [a, b, c] = numbers.map(|four| Q::load(&four));
        let x = Q::load_f32(&narrow);
        // SAFETY: the positions are those of entries.
        #[allow(unsafe_code)]
        let (first, second) = unsafe { Q::gather(entries, positions) };
        let (front, behind) = second.unzip();
        let wide = [
            Q::all(numbers[0][1]),
            a + b,
            a - b,
            a * b,
            a / b,
            a.sqrt(),
            a.abs(),
            a.smaller(b),
            a.larger(b),
            a.where_above(b, c, b),
            Q::widen(x),
            first,
            second,
            Q::widen(front),
            Q::widen(behind),
            Q::zip(behind, x),
            Q::widen(a.narrow()),
            Q::widen(a.saturate()),
            Q::widen(b.saturate()),
        ];
        let mut bits: Vec<u64> = Vec::new();
        for four in wide {
            let mut stored = [0.0; FOUR];
            four.store(&mut stored);
            // Which of the many that are no number is left to the processor.
            bits.extend(stored.map(|number| if number.is_nan() { 1 } else { number.to_bits() }));
        }
        bits.extend([u64::from(a.is_above(b)), u64::from(a.zeros()), u64::from(b.zeros())]);
        let sum = join([a, b]);
        bits.push(if sum.is_nan() { 1 } else { sum.to_bits() });
        // SAFETY: the positions are those of entries.
        #[allow(unsafe_code)]
        unsafe {
            Q::scatter(entries, positions, second, first);
        }
        bits.extend(entries.iter().flatten());
        bits
    }

    #[test]
    fn vectors_and_arrays_give_the_same_bits() {
        if !crate::simd::is_wide() {
            return;
        }
        let mut random = SplitMix64::new(17);
        for _ in 0..20_000 {
            let mut number = || match random.below(8) {
                0 => 0.0,
                1 => -0.0,
                2 => f64::INFINITY,
                3 => f64::NAN,
                4 => f64::from_bits(random.bits()),
                5 => 10f64.powi(random.below(90) as i32 - 40),
                _ => random.below(1000) as f64 / 8.0 - 60.0,
            };
            let numbers: [[f64; FOUR]; 3] = std::array::from_fn(|_| std::array::from_fn(|_| number()));
            let narrow: [f32; FOUR] = std::array::from_fn(|_| random.below(1 << 20) as f32 / 7.0);
            let mut entries: Vec<Record16> = (0..9)
                .map(|_| [(random.below(100) as f64).to_bits(), bytemuck::must_cast([random.below(9) as f32, 0.5f32])])
                .collect();
            let first = random.below(6) as u32;
            let positions = [first + 2, first, first + 1, first + 3];
            let mut others = entries.clone();
            let portable = results::<PortableF64x4>(numbers, narrow, &mut entries, &positions);
            assert_eq!(results::<Avx2F64x4>(numbers, narrow, &mut others, &positions), portable, "{numbers:?}");
        }
    }
}
