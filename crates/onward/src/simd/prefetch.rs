//! Prefetching.

/// Makes the processor fetch a value that is needed soon. It changes nothing but the time.
#[doc(hidden)]
#[inline(always)]
pub fn prefetch<T>(value: &T) {
    prefetch_at(std::slice::from_ref(value), 0);
}

/// The same for one of several values. Nothing happens if the position is beyond them.
#[doc(hidden)]
#[inline(always)]
pub fn prefetch_at<T>(values: &[T], at: usize) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    for line in (0..size_of::<T>()).step_by(64) {
        let start = values.as_ptr().wrapping_add(at).cast::<i8>();
        // SAFETY: fetching reads nothing that a program sees, wherever it is.
        #[allow(unsafe_code)]
        unsafe {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            _mm_prefetch::<_MM_HINT_T0>(start.wrapping_add(line));
        }
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = (values, at);
}

/// The same for many of them.
#[inline(always)]
pub(crate) fn prefetch_all<T>(values: &[T], positions: &[u32]) {
    // Four at a time, or counting takes as long as fetching.
    let (fours, rest) = positions.as_chunks::<4>();
    for four in fours {
        for &position in four {
            prefetch_at(values, position as usize);
        }
    }
    for &position in rest {
        prefetch_at(values, position as usize);
    }
}
