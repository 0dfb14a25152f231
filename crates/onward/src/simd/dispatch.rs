//! Loops that the compiler turns into vector code: compiled once for every machine of the architecture, and once
//! for machines with AVX2 (and the bit instructions that came with it). The program chooses when it runs.
//! Both are the same plain Rust, rounded operation by operation, so they give the same bits.

use std::sync::atomic::{AtomicU8, Ordering};

const UNKNOWN: u8 = 0;
const PORTABLE: u8 = 1;
const WIDE: u8 = 2;

/// What the machine has, once the program has asked.
static MODE: AtomicU8 = AtomicU8::new(UNKNOWN);

/// Whether loops run as they were compiled for AVX2.
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

/// Makes loops run as they were compiled for any machine, or (`false`) as this one allows. Results are the same
/// to the bit: this is for tests of that, and for measuring what AVX2 gains.
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

/// Ends a function with a call that is compiled for AVX2 where the machine has it, and else with one that is compiled for
/// any machine. Generic parameters come in brackets: as they are declared, then as they are passed on.
#[doc(hidden)]
#[macro_export]
macro_rules! dispatch {
    (
        [$($parameters:tt)*] [$($passed:tt)*] ($($argument:ident: $type:ty),*) $(-> $result:ty)?,
        $wide:expr, $portable:expr
    ) => {
        #[cfg(target_arch = "x86_64")]
        {
            #[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
            fn wide<$($parameters)*>($($argument: $type),*) $(-> $result)? {
                $wide
            }
            if $crate::simd::is_wide() {
                // SAFETY: the processor was asked, and has what the function is compiled for.
                #[allow(unsafe_code)]
                return unsafe { wide::<$($passed)*>($($argument),*) };
            }
        }
        $portable
    };
}

/// Defines a function that is compiled for any machine and for AVX2. What it calls is compiled for both too if it is
/// inlined. Its loops should be `for` loops: the closures that iterators call may not be inlined.
#[doc(hidden)]
#[macro_export]
macro_rules! vectorised {
    ($(#[$meta:meta])* $visibility:vis fn $name:ident($($argument:ident: $type:ty),* $(,)?) $(-> $result:ty)? $body:block) => {
        $(#[$meta])*
        #[inline]
        $visibility fn $name($($argument: $type),*) $(-> $result)? {
            #[inline(always)]
            fn portable($($argument: $type),*) $(-> $result)? $body
            $crate::dispatch! {
                [] [] ($($argument: $type),*) $(-> $result)?, portable($($argument),*), portable($($argument),*)
            }
        }
    };
}
#[doc(hidden)]
pub use vectorised;

/// Defines a function that is generic in a kind of vectors. It runs with the type for AVX2, or with the one for any machine.
/// It may have one more type parameter and a size.
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
            $crate::dispatch! {
                [$($generic: $bound, const $size: usize)?] [$($generic, $size)?] ($($argument: $type),*) $(-> $result)?,
                generic::<$wide $(, $generic, $size)?>($($argument),*),
                generic::<$portable $(, $generic, $size)?>($($argument),*)
            }
        }
    };
}
pub(crate) use by_vectors;

/// Defines a kind of vectors: a trait, and the types that implement it, from a table of operations. A row of the table has
/// the signature of an operation, then its value for each type, in the order of the types.
///
/// The values for a type marked `avx2` are unsafe code. SAFETY, of all of them: only functions that [`dispatch`] runs and
/// tests name these types, or pass them to `f32xn::run`: both run what uses them only where the processor has AVX2. An array has at least as many numbers
/// as an instruction loads from it or stores into it. Rows that need more say why they are sound.
macro_rules! vectors {
    (
        $(#[$meta:meta])* trait $kind:ident [$($parameters:tt)*] { $($item:tt)* }
        $($machine:ident [$($head:tt)*] { $($associated:tt)* })+
        $($(#[$note:meta])* [$($signature:tt)*] $($value:expr),+;)+
    ) => {
        $(#[$meta])*
        #[allow(unsafe_code)]
        pub(crate) trait $kind $($parameters)* {
            $($item)*
            $($(#[$note])* $($signature)*;)+
        }
        $crate::simd::vectors! {
            @implement { $($machine [$($head)*] { $($associated)* })+ } $([$($signature)*] $($value),+;)+
        }
    };
    (@implement {} $([$($signature:tt)*];)+) => {};
    (
        @implement { portable [$($head:tt)*] { $($associated:tt)* } $($others:tt)* }
        $([$($signature:tt)*] $value:expr $(, $rest:expr)*;)+
    ) => {
        #[allow(unsafe_code)]
        const _: () = {
            $($head)* {
                $($associated)*
                $(#[inline(always)] $($signature)* { $value })+
            }
        };
        $crate::simd::vectors! { @implement { $($others)* } $([$($signature)*] $($rest),*;)+ }
    };
    (
        @implement { avx2 [$($head:tt)*] { $($associated:tt)* } $($others:tt)* }
        $([$($signature:tt)*] $value:expr $(, $rest:expr)*;)+
    ) => {
        #[cfg(target_arch = "x86_64")]
        #[allow(unsafe_code)]
        const _: () = {
            $($head)* {
                $($associated)*
                $(#[inline(always)] $($signature)* {
                    // SAFETY: see `vectors`.
                    unsafe { $value }
                })+
            }
        };
        $crate::simd::vectors! { @implement { $($others)* } $([$($signature)*] $($rest),*;)+ }
    };
}
pub(crate) use vectors;

/// The smaller of two numbers, the second if they cannot be compared. It is one instruction, unlike `f32::min`.
#[inline(always)]
pub(crate) fn smaller<T: PartialOrd>(one: T, other: T) -> T {
    if one < other { one } else { other }
}

/// The larger of two numbers, the second if they cannot be compared.
#[inline(always)]
pub(crate) fn larger<T: PartialOrd>(one: T, other: T) -> T {
    if one > other { one } else { other }
}
