//! What is kept of a feature, and how four features come into registers and back.

use std::fmt::Debug;

use bytemuck::{Pod, Zeroable};

use crate::simd::f64x4::{F64x4, FOUR, Record16};

/// What is kept of a feature: N numbers, whose order a rule chooses.
pub(crate) trait Entry<const N: usize>: Pod + Debug + Send + Sync {
    /// The numbers of this feature.
    fn numbers(self) -> [f64; N];

    /// Weights rounded as they are kept, and held within what is kept.
    fn rounded<Q: F64x4>(weight: Q) -> Q;

    /// The numbers of four features.
    ///
    /// # Safety
    /// All positions are below the number of entries.
    #[allow(unsafe_code)]
    unsafe fn gather<Q: F64x4>(entries: &[Self], positions: &[u32; FOUR]) -> [Q; N];

    /// Writes them back.
    ///
    /// # Safety
    /// All positions are below the number of entries.
    #[allow(unsafe_code)]
    unsafe fn scatter<Q: F64x4>(entries: &mut [Self], positions: &[u32; FOUR], numbers: [Q; N]);
}

/// A weight of 32 bits with a sum of its gradients: 16 bytes, four entries a cache line.
#[derive(Debug, Clone, Copy, Zeroable, Pod)]
#[repr(C)]
pub(crate) struct F32Entry {
    /// In f64: it neither stalls at 2²⁴ small terms nor overflows.
    pub(crate) accumulator: f64,
    pub(crate) weight: f32,
    /// The unit of the feature, for rules that have one.
    pub(crate) scale: f32,
}

impl Entry<3> for F32Entry {
    #[inline(always)]
    fn numbers(self) -> [f64; 3] {
        [self.accumulator, self.weight.into(), self.scale.into()]
    }

    #[inline(always)]
    fn rounded<Q: F64x4>(weight: Q) -> Q {
        Q::widen(weight.saturate())
    }

    #[inline(always)]
    #[allow(unsafe_code)]
    unsafe fn gather<Q: F64x4>(entries: &[Self], positions: &[u32; FOUR]) -> [Q; 3] {
        let entries: &[Record16] = bytemuck::must_cast_slice(entries);
        // SAFETY: the caller says that all positions are there.
        let (accumulator, others) = unsafe { Q::gather(entries, positions) };
        let (weight, scale) = others.unzip();
        [accumulator, Q::widen(weight), Q::widen(scale)]
    }

    #[inline(always)]
    #[allow(unsafe_code)]
    unsafe fn scatter<Q: F64x4>(entries: &mut [Self], positions: &[u32; FOUR], numbers: [Q; 3]) {
        let [accumulator, weight, scale] = numbers;
        let entries: &mut [Record16] = bytemuck::must_cast_slice_mut(entries);
        // SAFETY: the caller says that all positions are there.
        unsafe { Q::scatter(entries, positions, accumulator, Q::zip(weight.narrow(), scale.narrow())) }
    }
}

/// A weight of 64 bits with a sum of its gradients, in as many bytes.
#[derive(Debug, Clone, Copy, Zeroable, Pod)]
#[repr(C)]
pub(crate) struct F64Entry {
    pub(crate) accumulator: f64,
    pub(crate) weight: f64,
}

impl Entry<2> for F64Entry {
    #[inline(always)]
    fn numbers(self) -> [f64; 2] {
        [self.accumulator, self.weight]
    }

    #[inline(always)]
    fn rounded<Q: F64x4>(weight: Q) -> Q {
        weight.held(Q::all(f32::MAX.into()))
    }

    #[inline(always)]
    #[allow(unsafe_code)]
    unsafe fn gather<Q: F64x4>(entries: &[Self], positions: &[u32; FOUR]) -> [Q; 2] {
        let entries: &[Record16] = bytemuck::must_cast_slice(entries);
        // SAFETY: the caller says that all positions are there.
        unsafe { Q::gather(entries, positions) }.into()
    }

    #[inline(always)]
    #[allow(unsafe_code)]
    unsafe fn scatter<Q: F64x4>(entries: &mut [Self], positions: &[u32; FOUR], [accumulator, weight]: [Q; 2]) {
        let entries: &mut [Record16] = bytemuck::must_cast_slice_mut(entries);
        // SAFETY: the caller says that all positions are there.
        unsafe { Q::scatter(entries, positions, accumulator, weight) }
    }
}

/// Numbers that weights follow from.
impl<const N: usize> Entry<N> for [f64; N] {
    #[inline(always)]
    fn numbers(self) -> [f64; N] {
        self
    }

    #[inline(always)]
    fn rounded<Q: F64x4>(weight: Q) -> Q {
        weight.held(Q::all(f64::MAX))
    }

    #[inline(always)]
    #[allow(unsafe_code)]
    unsafe fn gather<Q: F64x4>(entries: &[Self], positions: &[u32; FOUR]) -> [Q; N] {
        // SAFETY: the caller says that all positions are there.
        let entry = |at: usize| unsafe { entries.get_unchecked(positions[at] as usize) };
        let [a, b, c, d] = [entry(0), entry(1), entry(2), entry(3)];
        let mut numbers = [Q::all(0.0); N];
        for (column, number) in numbers.iter_mut().enumerate() {
            *number = Q::load(&[a[column], b[column], c[column], d[column]]);
        }
        numbers
    }

    #[inline(always)]
    #[allow(unsafe_code)]
    unsafe fn scatter<Q: F64x4>(entries: &mut [Self], positions: &[u32; FOUR], numbers: [Q; N]) {
        for (column, number) in numbers.into_iter().enumerate() {
            for (&position, number) in positions.iter().zip(number.numbers()) {
                // SAFETY: the caller says that all positions are there.
                unsafe { entries.get_unchecked_mut(position as usize)[column] = number };
            }
        }
    }
}
