//! Decimals and indices, four at a time, for machines with AVX2.
//!
//! Characters become numbers by the instructions that multiply neighbours and add them up: ten times a digit and the
//! next, a hundred times a pair and the next, ten thousand times a four and the next. What is not of the common form
//! (an exponent, more than fifteen characters, a sign of plus, no digit behind the point) is left to
//! [`decimals`](crate::decimals), which reads all and gives the same bits where both do.

#![allow(unsafe_code)]

use std::arch::x86_64::*;

/// So many bytes are looked at that end where a number ends.
const ROOM: usize = 16;

/// How many numbers are worked on together.
const FOUR: usize = 4;

/// For a point at each byte of sixteen: which bytes make up the digits without it. From 15 on: all as they are.
static WITHOUT_POINT: [[u8; 16]; 33] = {
    let mut all = [[0; 16]; 33];
    let mut point = 0;
    while point < 33 {
        let mut byte = 0;
        while byte < 16 {
            all[point][byte] = match byte {
                _ if point >= 15 || byte > point => byte as u8,
                // No byte at all.
                0 => 0x80,
                _ => byte as u8 - 1,
            };
            byte += 1;
        }
        point += 1;
    }
    all
};

/// For a point at each byte of sixteen, ten to the number of digits behind it. From 15 on: 1.
static POWERS: [f64; 33] = {
    let mut all = [1.0; 33];
    let mut point = 15;
    while point > 0 {
        point -= 1;
        all[point] = all[point + 1] * 10.0;
    }
    all
};

/// Bytes that count down to 1 at the last of sixteen, plus this, in both halves.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
#[inline]
fn count_down(plus: i8) -> __m256i {
    let down = _mm_setr_epi8(16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1);
    _mm256_add_epi8(_mm256_broadcastsi128_si256(down), _mm256_set1_epi8(plus))
}

/// The sixteen bytes before two places.
///
/// # Safety
/// They are there.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
#[inline]
unsafe fn before_two(text: *const u8, low: u32, high: u32) -> __m256i {
    // SAFETY: the caller says so.
    unsafe {
        let low = _mm_loadu_si128(text.add(low as usize - ROOM).cast());
        let high = _mm_loadu_si128(text.add(high as usize - ROOM).cast());
        _mm256_set_m128i(high, low)
    }
}

/// Eight digits, each of four times, from their values: those in front are the upper ones.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
#[inline]
fn fours(digits: __m256i) -> __m256i {
    let pairs = _mm256_maddubs_epi16(digits, _mm256_set1_epi16(0x010a));
    _mm256_madd_epi16(pairs, _mm256_set1_epi32(0x0001_0064))
}

/// Four decimals that end at `ends`; in the second and the fourth number of each half of `lengths` how long they are, plus 1.
/// And bytes that are not 0 where one is not of the common form, if `lengths` are from 2 to 16.
///
/// # Safety
/// Sixteen bytes are before each end.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
#[inline]
unsafe fn decimals<const COLONS: bool>(text: *const u8, lengths: __m256i, ends: [u32; FOUR]) -> (__m256d, __m256i) {
    let zero = _mm256_setzero_si256();
    // The first and the third, the second and the fourth: halves of vectors have lengths of their own.
    let (even_length, odd_length) =
        (_mm256_shuffle_epi8(lengths, _mm256_set1_epi8(4)), _mm256_shuffle_epi8(lengths, _mm256_set1_epi8(12)));
    // SAFETY: the caller says so.
    let (even, odd) = unsafe { (before_two(text, ends[0], ends[2]), before_two(text, ends[1], ends[3])) };
    let zeros = _mm256_set1_epi8(b'0'.cast_signed());
    let (even, odd) = (_mm256_sub_epi8(even, zeros), _mm256_sub_epi8(odd, zeros));
    let down = count_down(0);
    let mut bad = zero;
    if COLONS {
        // What stands before each is a colon.
        let colon = _mm256_set1_epi8((b':' - b'0').cast_signed());
        let (even_start, odd_start) = (_mm256_cmpeq_epi8(even_length, down), _mm256_cmpeq_epi8(odd_length, down));
        bad = _mm256_or_si256(
            _mm256_and_si256(even_start, _mm256_xor_si256(even, colon)),
            _mm256_and_si256(odd_start, _mm256_xor_si256(odd, colon)),
        );
    }
    let mut even = _mm256_and_si256(even, _mm256_cmpgt_epi8(even_length, down));
    let mut odd = _mm256_and_si256(odd, _mm256_cmpgt_epi8(odd_length, down));
    let minus = _mm256_set1_epi8(b'-'.wrapping_sub(b'0').cast_signed());
    let (even_minus, odd_minus) = (_mm256_cmpeq_epi8(even, minus), _mm256_cmpeq_epi8(odd, minus));
    let mut signs = _mm256_setzero_pd();
    if _mm256_movemask_epi8(_mm256_or_si256(even_minus, odd_minus)) != 0 {
        // Only the first character may be one, and not the last.
        let first = count_down(1);
        let even_minus = _mm256_and_si256(even_minus, _mm256_cmpeq_epi8(even_length, first));
        let odd_minus = _mm256_and_si256(odd_minus, _mm256_cmpeq_epi8(odd_length, first));
        (even, odd) = (_mm256_andnot_si256(even_minus, even), _mm256_andnot_si256(odd_minus, odd));
        let last = _mm256_cmpeq_epi8(down, _mm256_set1_epi8(1));
        bad = _mm256_or_si256(bad, _mm256_and_si256(last, _mm256_or_si256(even_minus, odd_minus)));
        // 255 in one of the two words of 64 bits that each of them has.
        let (even_sum, odd_sum) = (_mm256_sad_epu8(even_minus, zero), _mm256_sad_epu8(odd_minus, zero));
        let sums = _mm256_or_si256(_mm256_unpacklo_epi64(even_sum, odd_sum), _mm256_unpackhi_epi64(even_sum, odd_sum));
        signs = _mm256_and_pd(_mm256_castsi256_pd(_mm256_slli_epi64::<56>(sums)), _mm256_set1_pd(-0.0));
    }
    let point = _mm256_set1_epi8(b'.'.wrapping_sub(b'0').cast_signed());
    let even_points = _mm256_movemask_epi8(_mm256_cmpeq_epi8(even, point)).cast_unsigned();
    let odd_points = _mm256_movemask_epi8(_mm256_cmpeq_epi8(odd, point)).cast_unsigned();
    // 16 or more where there is none.
    let points = [
        even_points.trailing_zeros() as usize,
        odd_points.trailing_zeros() as usize,
        (even_points >> 16).trailing_zeros() as usize,
        (odd_points >> 16).trailing_zeros() as usize,
    ];
    // SAFETY: no number of 32 bits has more than 32 zeros at its end.
    let (without, power) = unsafe {
        let without = |at: usize| WITHOUT_POINT.get_unchecked(points[at]).as_ptr().cast::<__m128i>();
        let power = |at: usize| POWERS.as_ptr().add(points[at]);
        (
            (
                _mm256_set_m128i(_mm_loadu_si128(without(2)), _mm_loadu_si128(without(0))),
                _mm256_set_m128i(_mm_loadu_si128(without(3)), _mm_loadu_si128(without(1))),
            ),
            _mm256_set_m128d(
                _mm_loadh_pd(_mm_load_sd(power(2)), power(3)),
                _mm_loadh_pd(_mm_load_sd(power(0)), power(1)),
            ),
        )
    };
    let (even, odd) = (_mm256_shuffle_epi8(even, without.0), _mm256_shuffle_epi8(odd, without.1));
    let nine = _mm256_set1_epi8(9);
    bad = _mm256_or_si256(bad, _mm256_or_si256(_mm256_subs_epu8(even, nine), _mm256_subs_epu8(odd, nine)));
    // Of each number the upper eight digits, then the lower ones: in order now.
    let eights = _mm256_madd_epi16(_mm256_packus_epi32(fours(even), fours(odd)), _mm256_set1_epi32(0x0001_2710));
    let upper = _mm256_mul_epu32(eights, _mm256_set1_epi64x(100_000_000));
    let whole = _mm256_add_epi64(upper, _mm256_srli_epi64::<32>(eights));
    // Below 10^15: a float of 2^52 and more has it in its lowest bits.
    let base = _mm256_set1_pd(4_503_599_627_370_496.0);
    let whole = _mm256_sub_pd(_mm256_or_pd(_mm256_castsi256_pd(whole), base), base);
    // Rounded once: both are exact.
    (_mm256_or_pd(_mm256_div_pd(whole, power), signs), bad)
}

/// The lowest and the highest of some places.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
#[inline]
fn reach(places: &[u32]) -> (u32, u32) {
    let (mut lowest, mut highest) = (u32::MAX, 0);
    for &place in places {
        lowest = lowest.min(place);
        highest = highest.max(place);
    }
    (lowest, highest)
}

/// Whether these places are within a text, and sixteen bytes before each.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
#[inline]
fn have_room(text: &[u8], places: &[u32]) -> bool {
    let (lowest, highest) = reach(places);
    lowest as usize >= ROOM && (highest as usize) < text.len()
}

/// See [`read_pairs`].
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
fn pairs(text: &[u8], places: &[u32], indices: &mut [u32], values: &mut [f32]) -> Option<bool> {
    if !have_room(text, places) {
        return None;
    }
    let (most, two) = (_mm256_set1_epi64x(16 << 32 | 9), _mm256_set1_epi32(2));
    let zeros = _mm256_set1_epi8(b'0'.cast_signed());
    let down = _mm256_broadcastq_epi64(_mm_setr_epi8(8, 7, 6, 5, 4, 3, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0));
    let index_length = _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 8, 8, 8, 8, 8, 8, 8, 8));
    let (mut bad, mut are_zero) = (_mm256_setzero_si256(), _mm_setzero_ps());
    // What stands before indices, of which some may be colons, as between 2:3:4:5.
    let mut blanks = b' ';
    let last = places.len() / 2 - FOUR;
    let mut from = 0;
    loop {
        let (Some(group), Some(indices), Some(values)) = (
            places[2 * from..].first_chunk::<{ 2 * FOUR + 1 }>(),
            indices[from..].first_chunk_mut::<FOUR>(),
            values[from..].first_chunk_mut::<FOUR>(),
        ) else {
            return None;
        };
        // SAFETY: there are nine places, of which eight are read from the first, and from the second on.
        let lengths = unsafe {
            _mm256_sub_epi32(
                _mm256_loadu_si256(group.as_ptr().add(1).cast()),
                _mm256_loadu_si256(group.as_ptr().cast()),
            )
        };
        // From mark to mark, so one more than what is between: 2 to 9 for an index, 2 to 16 for a decimal.
        bad = _mm256_or_si256(bad, _mm256_cmpgt_epi32(lengths, most));
        bad = _mm256_or_si256(bad, _mm256_cmpgt_epi32(two, lengths));
        // SAFETY: each place is within the text, and sixteen bytes are before it, as was seen.
        let (numbers, others, index) = unsafe {
            let (numbers, others) = decimals::<true>(text.as_ptr(), lengths, [group[2], group[4], group[6], group[8]]);
            for at in [0, 2, 4, 6] {
                blanks |= *text.as_ptr().add(group[at] as usize);
            }
            let before = |at: usize| text.as_ptr().add(group[at] as usize - 8);
            let low = _mm_loadh_pd(_mm_load_sd(before(1).cast()), before(3).cast());
            let high = _mm_loadh_pd(_mm_load_sd(before(5).cast()), before(7).cast());
            (_mm256_cvtpd_ps(numbers), others, _mm256_castpd_si256(_mm256_set_m128d(high, low)))
        };
        let is_digit = _mm256_cmpgt_epi8(_mm256_shuffle_epi8(lengths, index_length), down);
        let digits = _mm256_and_si256(_mm256_sub_epi8(index, zeros), is_digit);
        bad = _mm256_or_si256(bad, _mm256_or_si256(others, _mm256_subs_epu8(digits, _mm256_set1_epi8(9))));
        let fours = fours(digits);
        let found = _mm256_madd_epi16(_mm256_packus_epi32(fours, fours), _mm256_set1_epi32(0x0001_2710));
        let found = _mm256_castsi256_si128(_mm256_permute4x64_epi64::<0b10_00>(found));
        are_zero = _mm_or_ps(are_zero, _mm_cmpeq_ps(numbers, _mm_setzero_ps()));
        // SAFETY: there is room for four.
        unsafe {
            _mm_storeu_si128(indices.as_mut_ptr().cast(), _mm_add_epi32(found, _mm_set1_epi32(1)));
            _mm_storeu_ps(values.as_mut_ptr(), numbers);
        }
        if from == last {
            break;
        }
        // The last four may be some that were read already.
        from = (from + FOUR).min(last);
    }
    (_mm256_testz_si256(bad, bad) == 1 && blanks == b' ').then(|| _mm_movemask_ps(are_zero) != 0)
}

/// Reads pairs of a whole number of up to eight digits and a decimal, four at least. `places`: where the blank before each, its
/// colon and the blank after it are, that blank being the one before the next. `indices` get the numbers plus 1.
/// Gives whether there is a zero among the values, or nothing if one is not of the common form or near the beginning of the text.
pub(crate) fn read_pairs(text: &[u8], places: &[u32], indices: &mut [u32], values: &mut [f32]) -> Option<bool> {
    if !onward::vector::is_wide() || places.len() <= 2 * FOUR {
        return None;
    }
    // SAFETY: the processor was asked, and has what the function is compiled for.
    unsafe { pairs(text, places, indices, values) }
}

/// See [`read_decimals`].
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
fn lone_decimals(text: &[u8], colons: &[[u32; 2]], ends: &[u32], values: &mut [f32]) -> Option<bool> {
    if !have_room(text, ends) {
        return None;
    }
    // Those of indices are not looked at.
    let (most, two) = (_mm256_set1_epi64x(16 << 32 | 0x7fff_ffff), _mm256_set1_epi64x(2 << 32 | 0x8000_0000));
    let twice = _mm256_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3);
    let (mut bad, mut are_zero) = (_mm256_setzero_si256(), _mm_setzero_ps());
    let last = ends.len() - FOUR;
    let mut from = 0;
    loop {
        let (Some(colons), Some(ends), Some(values)) = (
            colons[from..].first_chunk::<FOUR>(),
            ends[from..].first_chunk::<FOUR>(),
            values[from..].first_chunk_mut::<FOUR>(),
        ) else {
            return None;
        };
        // SAFETY: four pairs and four numbers are there.
        let (colons, far) =
            unsafe { (_mm256_loadu_si256(colons.as_ptr().cast()), _mm_loadu_si128(ends.as_ptr().cast())) };
        let lengths = _mm256_sub_epi32(_mm256_permutevar8x32_epi32(_mm256_castsi128_si256(far), twice), colons);
        let is_absent = _mm256_cmpeq_epi32(lengths, _mm256_setzero_si256());
        bad = _mm256_or_si256(bad, _mm256_cmpgt_epi32(lengths, most));
        bad = _mm256_or_si256(bad, _mm256_andnot_si256(is_absent, _mm256_cmpgt_epi32(two, lengths)));
        // SAFETY: sixteen bytes are before each place, as was seen.
        let (numbers, others) = unsafe { decimals::<false>(text.as_ptr(), lengths, *ends) };
        bad = _mm256_or_si256(bad, others);
        let is_absent = _mm256_castsi256_ps(is_absent);
        let (low, high) = (_mm256_castps256_ps128(is_absent), _mm256_extractf128_ps::<1>(is_absent));
        let numbers =
            _mm_blendv_ps(_mm256_cvtpd_ps(numbers), _mm_set1_ps(1.0), _mm_shuffle_ps::<0b11_01_11_01>(low, high));
        are_zero = _mm_or_ps(are_zero, _mm_cmpeq_ps(numbers, _mm_setzero_ps()));
        // SAFETY: there is room for four.
        unsafe { _mm_storeu_ps(values.as_mut_ptr(), numbers) };
        if from == last {
            break;
        }
        // The last four may be some that were read already.
        from = (from + FOUR).min(last);
    }
    (_mm256_testz_si256(bad, bad) == 1).then(|| _mm_movemask_ps(are_zero) != 0)
}

/// Reads decimals, four at least, after the second of each of `colons` up to `ends`; where both are one, there is none, and it is
/// 1. Gives what [`read_pairs`] does.
pub(crate) fn read_decimals(text: &[u8], colons: &[[u32; 2]], ends: &[u32], values: &mut [f32]) -> Option<bool> {
    if !onward::vector::is_wide() || ends.len() < FOUR {
        return None;
    }
    // SAFETY: the processor was asked, and has what the function is compiled for.
    unsafe { lone_decimals(text, colons, ends, values) }
}

/// See [`read_cells`].
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
fn cells(text: &[u8], starts: &[u32], ends: &[u32], values: &mut [f64]) -> bool {
    if !have_room(text, ends) {
        return false;
    }
    let (starts, rest) = starts.as_chunks::<FOUR>();
    let (ends, ends_rest) = ends.as_chunks::<FOUR>();
    let (values, values_rest) = values.as_chunks_mut::<FOUR>();
    debug_assert!(rest.is_empty() && ends_rest.is_empty() && values_rest.is_empty());
    for ((starts, ends), values) in starts.iter().zip(ends).zip(values) {
        // SAFETY: four of each are there.
        let (near, far) = unsafe { (_mm_loadu_si128(starts.as_ptr().cast()), _mm_loadu_si128(ends.as_ptr().cast())) };
        let lengths = _mm_sub_epi32(_mm_sub_epi32(far, near), _mm_set1_epi32(-1));
        let lengths = _mm256_slli_epi64::<32>(_mm256_cvtepu32_epi64(lengths));
        // SAFETY: sixteen bytes are before each place, as was seen.
        let (numbers, bad) = unsafe { decimals::<false>(text.as_ptr(), lengths, *ends) };
        let is_good = _mm256_testz_si256(bad, bad) == 1;
        let numbers = _mm256_or_pd(numbers, _mm256_set1_pd(if is_good { 0.0 } else { f64::NAN }));
        // SAFETY: there is room for four.
        unsafe { _mm256_storeu_pd(values.as_mut_ptr(), numbers) };
    }
    true
}

/// Reads the decimals from `starts` to `ends`, whose lengths are 15 at the most and whose number is divisible by four. An empty
/// one is 0. Where one of four is not of the common form none of them is read, and NaN. False, and nothing is read, if this machine cannot, or one
/// is near the beginning of the text.
pub(crate) fn read_cells(text: &[u8], starts: &[u32], ends: &[u32], values: &mut [f64]) -> bool {
    // SAFETY: the processor was asked, and has what the function is compiled for.
    onward::vector::is_wide() && unsafe { cells(text, starts, ends, values) }
}
