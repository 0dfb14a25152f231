//! Large tables in large pages.
//!
//! What is accessed at random in more than a few megabytes misses the processor's small table of pages each time: with
//! pages of 4 KB it costs as much to find out where memory is as to fetch it (*ctr* with 2^24 entries takes a fifth less time in
//! pages of 2 MB). A system that gives them to who asks is asked.

/// Smaller memory is left as it is.
#[cfg(all(target_os = "linux", not(miri)))]
const FEWEST_BYTES: usize = 4 << 20;

/// Says that memory will be accessed at random: to be called when it was allocated, before it is filled. Changes nothing but the
/// time, and by how much at once the system provides it.
#[doc(hidden)]
pub fn prefer_huge_pages<T>(memory: &Vec<T>) {
    #[cfg(all(target_os = "linux", not(miri)))]
    {
        const PAGE: usize = 4096;
        let start = memory.as_ptr().addr();
        let end = start + memory.capacity() * size_of::<T>();
        let (first, end) = (start.next_multiple_of(PAGE), end / PAGE * PAGE);
        if end.saturating_sub(first) >= FEWEST_BYTES {
            let first = memory.as_ptr().cast_mut().cast::<u8>().wrapping_add(first - start);
            // SAFETY: whole pages within memory that we own. This is advice, which leaves their contents as they are;
            // that it may not be taken (an old system, another setting) is no error.
            #[allow(unsafe_code)]
            unsafe {
                libc::madvise(first.cast(), end - first.addr(), libc::MADV_HUGEPAGE);
            }
        }
    }
    #[cfg(not(all(target_os = "linux", not(miri))))]
    let _ = memory;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_memory_stays() {
        let mut memory: Vec<u64> = (0..1 << 20).collect();
        memory.reserve(1 << 20);
        prefer_huge_pages(&memory);
        prefer_huge_pages(&Vec::<u64>::new());
        memory.extend(1 << 20..1 << 21);
        assert!(memory.iter().copied().eq(0..1 << 21));
    }
}
