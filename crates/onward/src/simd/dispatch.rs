//! Loops that the compiler turns into vector code: compiled once for every machine of the
//! architecture, and once for those with AVX2 (and the instructions on bits that came with it), chosen when
//! the program runs. Both are the same plain Rust, rounded operation by operation, so they give the same bits.

use std::sync::atomic::{AtomicU8, Ordering};

const UNKNOWN: u8 = 0;
const PORTABLE: u8 = 1;
const WIDE: u8 = 2;

/// What the machine has, once that was asked.
static MODE: AtomicU8 = AtomicU8::new(UNKNOWN);

/// Whether loops are to run as they were compiled for AVX2.
#[inline]
#[doc(hidden)]
pub fn is_wide() -> bool {
    match MODE.load(Ordering::Relaxed) {
        UNKNOWN => ask(),
        mode => mode == WIDE,
    }
}

#[cold]
fn ask() -> bool {
    set_portable(false);
    MODE.load(Ordering::Relaxed) == WIDE
}

/// Has loops run as they were compiled for any machine, or (`false`) as this one allows. Results
/// are the same to the bit: this is for tests that they are, and for measuring what it gains.
pub fn set_portable(is_portable: bool) {
    #[cfg(target_arch = "x86_64")]
    let has_wide = std::arch::is_x86_feature_detected!("avx2")
        && std::arch::is_x86_feature_detected!("bmi1")
        && std::arch::is_x86_feature_detected!("bmi2")
        && std::arch::is_x86_feature_detected!("popcnt")
        && std::arch::is_x86_feature_detected!("lzcnt");
    #[cfg(not(target_arch = "x86_64"))]
    let has_wide = false;
    MODE.store(if has_wide && !is_portable { WIDE } else { PORTABLE }, Ordering::Relaxed);
}

/// Defines a function that is compiled for any machine and for AVX2. What it calls is compiled so too
/// if it is inlined: loops are to be `for` loops, since the closures that iterators call need not be.
#[doc(hidden)]
#[macro_export]
macro_rules! vectorised {
    ($(#[$meta:meta])* $visibility:vis fn $name:ident($($argument:ident: $type:ty),* $(,)?) $(-> $result:ty)? $body:block) => {
        $(#[$meta])*
        #[inline]
        $visibility fn $name($($argument: $type),*) $(-> $result)? {
            #[inline(always)]
            fn portable($($argument: $type),*) $(-> $result)? $body
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
                fn wide($($argument: $type),*) $(-> $result)? {
                    portable($($argument),*)
                }
                if $crate::simd::is_wide() {
                    // SAFETY: the processor was asked, and has what the function is compiled for.
                    #[allow(unsafe_code)]
                    return unsafe { wide($($argument),*) };
                }
            }
            portable($($argument),*)
        }
    };
}
#[doc(hidden)]
pub use vectorised;

/// Defines a function of a kind of vectors, of which there are those of AVX2 and arrays: with the ones or the others, as this
/// machine allows. It may have a type parameter more, and a size.
macro_rules! by_vectors {
    (
        [$kind:path, $wide:path, $portable:path] $(#[$meta:meta])*
        $visibility:vis fn $name:ident<$vector:ident $(, $generic:ident: $bound:path; const $size:ident: usize)?>(
            $($argument:ident: $type:ty),* $(,)?
        ) $(-> $result:ty)? $body:block
    ) => {
        $(#[$meta])*
        #[inline]
        $visibility fn $name$(<$generic: $bound, const $size: usize>)?($($argument: $type),*) $(-> $result)? {
            #[inline(always)]
            fn generic<$vector: $kind $(, $generic: $bound, const $size: usize)?>(
                $($argument: $type),*
            ) $(-> $result)? $body
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
                fn wide$(<$generic: $bound, const $size: usize>)?($($argument: $type),*) $(-> $result)? {
                    generic::<$wide $(, $generic, $size)?>($($argument),*)
                }
                if $crate::simd::is_wide() {
                    // SAFETY: the processor was asked, and has what the function is compiled for.
                    #[allow(unsafe_code)]
                    return unsafe { wide$(::<$generic, $size>)?($($argument),*) };
                }
            }
            generic::<$portable $(, $generic, $size)?>($($argument),*)
        }
    };
}
pub(crate) use by_vectors;

/// What runs as it was compiled for this machine, where a function of [`vectorised`] will not
/// do since it is generic. `run` is to be `#[inline(always)]`.
pub(crate) trait SimdKernel {
    /// What comes out.
    type Output;

    /// The work.
    fn run(self) -> Self::Output;
}

/// Runs a kernel as fast as this machine can.
#[inline]
pub(crate) fn run<K: SimdKernel>(kernel: K) -> K::Output {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
        fn wide<K: SimdKernel>(kernel: K) -> K::Output {
            kernel.run()
        }
        if is_wide() {
            // SAFETY: the processor was asked, and has what the function is compiled for.
            #[allow(unsafe_code)]
            return unsafe { wide(kernel) };
        }
    }
    kernel.run()
}

/// The smaller of two numbers, the second if they cannot be compared: one instruction, as
/// `f32::min` is not.
#[inline(always)]
pub(crate) fn smaller<T: PartialOrd>(one: T, other: T) -> T {
    if one < other { one } else { other }
}

/// The larger of two numbers, the second if they cannot be compared.
#[inline(always)]
pub(crate) fn larger<T: PartialOrd>(one: T, other: T) -> T {
    if one > other { one } else { other }
}
