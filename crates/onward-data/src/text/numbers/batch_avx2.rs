//! Decimals and indices, four at a time, for machines with AVX2.
//!
//! Characters become numbers by the instructions that multiply neighbours and add them up: ten times a digit and the
//! next, a hundred times a pair and the next, ten thousand times a four and the next. What is not of the common form
//! (an exponent, more than fifteen characters, a sign of plus, no digit behind the point) is left to
//! [`batch`](super::batch), which reads all and gives the same bits where both do.

#![allow(unsafe_code)]

use std::arch::x86_64::*;

/// How many bytes up to the end of a number are looked at.
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

/// For a point at each byte of sixteen that end with a pair of an index and a decimal: which bytes make up the eight digits of
/// the decimal, and, if it is moved by as many as the decimal with its colon has, those of the index. From 15 on: no point.
static SNUG: [[u8; 16]; 33] = {
    let mut all = WITHOUT_POINT;
    let mut point = 0;
    while point < 33 {
        let mut byte = 0;
        while byte < 8 {
            all[point][byte] = byte as u8 + 8;
            byte += 1;
        }
        point += 1;
    }
    all
};

/// One divided by each of [`POWERS`].
///
/// Of whole numbers below 10^8 and up to eight digits behind the point (seven are met), the product with it is, rounded to
/// 32 bits, what the quotient is: both differ from the true number by less than 2^-52 of it, and that from the middle between
/// two floats of 32 bits by more than 2^-52, as m/10^k − M·2^e, M of 25 bits, is at least 2^e/10^k if it is not 0. Where it is,
/// for k = 1 and m = 5·M alone, the product is exact. A test takes all of them.
static RECIPROCALS: [f64; 33] = {
    let mut all = POWERS;
    let mut point = 0;
    while point < 33 {
        all[point] = 1.0 / all[point];
        point += 1;
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

/// The sign bits of four numbers, from bytes that are 255 where they have a minus, one in each half at the most.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
#[inline]
fn sign_bits(even: __m256i, odd: __m256i) -> __m256d {
    let zero = _mm256_setzero_si256();
    // 255 in one of the two words of 64 bits that each of them has.
    let (even, odd) = (_mm256_sad_epu8(even, zero), _mm256_sad_epu8(odd, zero));
    let sums = _mm256_or_si256(_mm256_unpacklo_epi64(even, odd), _mm256_unpackhi_epi64(even, odd));
    _mm256_and_pd(_mm256_castsi256_pd(_mm256_slli_epi64::<56>(sums)), _mm256_set1_pd(-0.0))
}

/// Of four numbers, in halves, the first byte that is not 0: 16 to 32 where there is none.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
#[inline]
fn places_of(even: __m256i, odd: __m256i) -> [usize; FOUR] {
    let (even, odd) = (_mm256_movemask_epi8(even).cast_unsigned(), _mm256_movemask_epi8(odd).cast_unsigned());
    [
        even.trailing_zeros() as usize,
        odd.trailing_zeros() as usize,
        (even >> 16).trailing_zeros() as usize,
        (odd >> 16).trailing_zeros() as usize,
    ]
}

/// The rows of a table at four places: of the first and the third, of the second and the fourth.
///
/// # Safety
/// The table has these rows.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
#[inline]
unsafe fn rows_of(table: &[[u8; 16]; 33], places: [usize; FOUR]) -> (__m256i, __m256i) {
    // SAFETY: the caller says so.
    unsafe {
        let row = |at: usize| _mm_loadu_si128(table.get_unchecked(places[at]).as_ptr().cast());
        (_mm256_set_m128i(row(2), row(0)), _mm256_set_m128i(row(3), row(1)))
    }
}

/// What a table has for points at four places.
///
/// # Safety
/// None is above 32.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
#[inline]
unsafe fn powers_of(table: &[f64; 33], points: [usize; FOUR]) -> __m256d {
    // SAFETY: the caller says so.
    unsafe {
        let power = |at: usize| table.as_ptr().add(points[at]);
        _mm256_set_m128d(_mm_loadh_pd(_mm_load_sd(power(2)), power(3)), _mm_loadh_pd(_mm_load_sd(power(0)), power(1)))
    }
}

/// Four decimals that end at `ends`; in the second and the fourth number of each half of `lengths` how long they are, plus 1.
/// And bytes that are not 0 where one is not of the common form, if `lengths` are from 2 to 16.
///
/// # Safety
/// Sixteen bytes are before each end.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
#[inline]
unsafe fn decimals(text: *const u8, lengths: __m256i, ends: [u32; FOUR]) -> (__m256d, __m256i) {
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
        signs = sign_bits(even_minus, odd_minus);
    }
    let point = _mm256_set1_epi8(b'.'.wrapping_sub(b'0').cast_signed());
    let points = places_of(_mm256_cmpeq_epi8(even, point), _mm256_cmpeq_epi8(odd, point));
    // SAFETY: none is above 32.
    let (without, power) = unsafe { (rows_of(&WITHOUT_POINT, points), powers_of(&POWERS, points)) };
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

/// Four pairs that end at `ends`: their indices, their decimals, and bytes that are not 0 where one is not of the common form;
/// nothing if one has more digits than there is room for. `lengths`: of each, from 4 to 17, how long it is, plus 1; and, from 2 to
/// 10, its decimal, plus 1.
///
/// Both numbers of a pair are in the same sixteen bytes, eight digits each: half the work of [`decimals`].
///
/// # Safety
/// Sixteen bytes are before each end.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
#[inline]
unsafe fn snug_pairs(text: *const u8, lengths: __m256i, ends: [u32; FOUR]) -> Option<(__m128i, __m128, __m256i)> {
    const NO: i8 = -128;
    let zero = _mm256_setzero_si256();
    let both = |low: i8, high: i8| {
        let (low, high) = (_mm_set1_epi8(low), _mm_set1_epi8(high));
        _mm256_broadcastsi128_si256(_mm_unpacklo_epi64(low, high))
    };
    // The first and the third, the second and the fourth pair: halves of vectors have lengths of their own. Of each where the
    // index and where the decimal begins, and how far the index is from the end.
    let seventeen = _mm256_set1_epi8(17);
    let even_start = _mm256_sub_epi8(seventeen, _mm256_shuffle_epi8(lengths, both(0, 4)));
    let odd_start = _mm256_sub_epi8(seventeen, _mm256_shuffle_epi8(lengths, both(8, 12)));
    let (even_back, odd_back) = (_mm256_shuffle_epi8(lengths, both(4, NO)), _mm256_shuffle_epi8(lengths, both(12, NO)));
    // SAFETY: the caller says so.
    let (even, odd) = unsafe { (before_two(text, ends[0], ends[2]), before_two(text, ends[1], ends[3])) };
    let zeros = _mm256_set1_epi8(b'0'.cast_signed());
    let (mut even, mut odd) = (_mm256_sub_epi8(even, zeros), _mm256_sub_epi8(odd, zeros));
    // Of the decimal half each byte's place; in the other none that there is.
    let place =
        _mm256_broadcastsi128_si256(_mm_setr_epi8(NO, NO, NO, NO, NO, NO, NO, NO, 8, 9, 10, 11, 12, 13, 14, 15));
    let mut bad = zero;
    let minus = _mm256_set1_epi8(b'-'.wrapping_sub(b'0').cast_signed());
    let (even_minus, odd_minus) = (_mm256_cmpeq_epi8(even, minus), _mm256_cmpeq_epi8(odd, minus));
    let (mut signs, mut is_too_long) = (_mm256_setzero_pd(), false);
    if _mm256_movemask_epi8(_mm256_or_si256(even_minus, odd_minus)) != 0 {
        // With a sign there is room for one character less.
        let most = _mm256_cmpeq_epi32(lengths, _mm256_set1_epi64x(10 << 32));
        is_too_long = _mm256_testz_si256(most, most) == 0;
        // Only the first character may be one, and not the last. Others are no digits.
        let even_minus = _mm256_and_si256(even_minus, _mm256_cmpeq_epi8(even_start, place));
        let odd_minus = _mm256_and_si256(odd_minus, _mm256_cmpeq_epi8(odd_start, place));
        (even, odd) = (_mm256_andnot_si256(even_minus, even), _mm256_andnot_si256(odd_minus, odd));
        let last = _mm256_cmpeq_epi8(place, _mm256_set1_epi8(15));
        bad = _mm256_and_si256(last, _mm256_or_si256(even_minus, odd_minus));
        signs = sign_bits(even_minus, odd_minus);
    }
    let point = _mm256_set1_epi8(b'.'.wrapping_sub(b'0').cast_signed());
    let even_points = _mm256_andnot_si256(_mm256_cmpgt_epi8(even_start, place), _mm256_cmpeq_epi8(even, point));
    let odd_points = _mm256_andnot_si256(_mm256_cmpgt_epi8(odd_start, place), _mm256_cmpeq_epi8(odd, point));
    let points = places_of(even_points, odd_points);
    // SAFETY: none is above 32.
    let ((even_from, odd_from), part) = unsafe { (rows_of(&SNUG, points), powers_of(&RECIPROCALS, points)) };
    let (even_from, odd_from) = (_mm256_sub_epi8(even_from, even_back), _mm256_sub_epi8(odd_from, odd_back));
    // What is taken from before a number is 0, and the first byte that is taken is not behind its first.
    let (even_before, odd_before) = (_mm256_cmpgt_epi8(even_start, even_from), _mm256_cmpgt_epi8(odd_start, odd_from));
    let (even_behind, odd_behind) = (_mm256_cmpgt_epi8(even_from, even_start), _mm256_cmpgt_epi8(odd_from, odd_start));
    let first = _mm256_broadcastq_epi64(_mm_setr_epi8(NO, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0));
    is_too_long |= _mm256_testz_si256(first, _mm256_or_si256(even_behind, odd_behind)) == 0;
    let even = _mm256_shuffle_epi8(even, _mm256_or_si256(even_from, even_before));
    let odd = _mm256_shuffle_epi8(odd, _mm256_or_si256(odd_from, odd_before));
    let nine = _mm256_set1_epi8(9);
    bad = _mm256_or_si256(bad, _mm256_or_si256(_mm256_subs_epu8(even, nine), _mm256_subs_epu8(odd, nine)));
    // Index, decimal, index, decimal, in order.
    let eights = _mm256_madd_epi16(_mm256_packus_epi32(fours(even), fours(odd)), _mm256_set1_epi32(0x0001_2710));
    let eights = _mm256_castsi256_ps(eights);
    let (low, high) = (_mm256_castps256_ps128(eights), _mm256_extractf128_ps::<1>(eights));
    let indices = _mm_castps_si128(_mm_shuffle_ps::<0b10_00_10_00>(low, high));
    let whole = _mm256_cvtepi32_pd(_mm_castps_si128(_mm_shuffle_ps::<0b11_01_11_01>(low, high)));
    // A division would be waited for.
    let values = _mm256_cvtpd_ps(_mm256_or_pd(_mm256_mul_pd(whole, part), signs));
    (!is_too_long).then_some((indices, values, bad))
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

/// Four pairs between nine places: their indices, their decimals, and bytes that are not 0 where one is not of the common form.
/// `lengths`: from mark to mark, so one more than what is between, an index, a decimal, an index, ….
///
/// # Safety
/// Sixteen bytes are before each place but the first.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
#[inline(never)]
unsafe fn wide_pairs(text: *const u8, lengths: __m256i, group: &[u32; 2 * FOUR + 1]) -> (__m128i, __m128, __m256i) {
    // 2 to 9 for an index, 2 to 16 for a decimal.
    let bad = _mm256_cmpgt_epi32(lengths, _mm256_set1_epi64x(16 << 32 | 9));
    let down = _mm256_broadcastq_epi64(_mm_setr_epi8(8, 7, 6, 5, 4, 3, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0));
    let index_length = _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 8, 8, 8, 8, 8, 8, 8, 8));
    // SAFETY: the caller says so.
    let (numbers, others, index) = unsafe {
        let (numbers, others) = decimals(text, lengths, [group[2], group[4], group[6], group[8]]);
        let before = |at: usize| text.add(group[at] as usize - 8);
        let low = _mm_loadh_pd(_mm_load_sd(before(1).cast()), before(3).cast());
        let high = _mm_loadh_pd(_mm_load_sd(before(5).cast()), before(7).cast());
        (_mm256_cvtpd_ps(numbers), others, _mm256_castpd_si256(_mm256_set_m128d(high, low)))
    };
    let is_digit = _mm256_cmpgt_epi8(_mm256_shuffle_epi8(lengths, index_length), down);
    let digits = _mm256_and_si256(_mm256_sub_epi8(index, _mm256_set1_epi8(b'0'.cast_signed())), is_digit);
    let others = _mm256_or_si256(others, _mm256_subs_epu8(digits, _mm256_set1_epi8(9)));
    let fours = fours(digits);
    let found = _mm256_madd_epi16(_mm256_packus_epi32(fours, fours), _mm256_set1_epi32(0x0001_2710));
    let found = _mm256_castsi256_si128(_mm256_permute4x64_epi64::<0b10_00>(found));
    (found, numbers, _mm256_or_si256(bad, others))
}

/// See [`read_pairs`].
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
fn pairs(text: &[u8], places: &[u32], indices: &mut [u32], values: &mut [f32]) -> Option<bool> {
    if !have_room(text, places) {
        return None;
    }
    let two = _mm256_set1_epi32(2);
    let (mut bad, mut are_zero) = (_mm256_setzero_si256(), _mm_setzero_ps());
    // What stands before indices, of which some may be colons, as between 2:3:4:5; and before decimals. All are marks: blanks,
    // colons, or line ends.
    let (mut blanks, mut colons) = (b' ', b':');
    let most_snug = _mm256_set1_epi64x(10 << 32 | 17);
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
        // From mark to mark: one more than what is between.
        bad = _mm256_or_si256(bad, _mm256_cmpgt_epi32(two, lengths));
        let mut ends = [0; FOUR];
        for (at, end) in ends.iter_mut().enumerate() {
            // SAFETY: there are nine places, each of them within the text, as was seen. They are read one by one: the compiler
            // would load them all at once and take them apart again, which is slower.
            unsafe {
                let place = |at: usize| group.as_ptr().add(at).read_volatile() as usize;
                blanks |= *text.as_ptr().add(place(2 * at));
                colons &= *text.as_ptr().add(place(2 * at + 1));
                *end = place(2 * at + 2) as u32;
            }
        }
        // Of the whole pair, and of the decimal.
        let both = _mm256_add_epi32(lengths, _mm256_srli_epi64::<32>(lengths));
        let is_snug = _mm256_testz_si256(_mm256_cmpgt_epi32(both, most_snug), _mm256_set1_epi8(-1)) == 1;
        // SAFETY: each place is within the text, and sixteen bytes are before it, as was seen.
        let (found, numbers, others) = unsafe {
            match if is_snug { snug_pairs(text.as_ptr(), both, ends) } else { None } {
                Some(read) => read,
                None => wide_pairs(text.as_ptr(), lengths, group),
            }
        };
        bad = _mm256_or_si256(bad, others);
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
    (_mm256_testz_si256(bad, bad) == 1 && blanks == b' ' && colons == b':').then(|| _mm_movemask_ps(are_zero) != 0)
}

/// Reads pairs of a whole number of up to eight digits and a decimal, four at least. `places`: where the blank before each, its
/// colon and the blank after it are, that blank being the one before the next. `indices` get the numbers plus 1.
/// Gives whether there is a zero among the values, or nothing if one is not of the common form or near the beginning of the text.
pub(crate) fn read_pairs(text: &[u8], places: &[u32], indices: &mut [u32], values: &mut [f32]) -> Option<bool> {
    if !onward::simd::is_wide() || places.len() <= 2 * FOUR {
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
        let (numbers, others) = unsafe { decimals(text.as_ptr(), lengths, *ends) };
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
    if !onward::simd::is_wide() || ends.len() < FOUR {
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
        let (numbers, bad) = unsafe { decimals(text.as_ptr(), lengths, *ends) };
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
    onward::simd::is_wide() && unsafe { cells(text, starts, ends, values) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All whole numbers of eight digits, with up to eight of them behind the point.
    #[test]
    fn products_with_reciprocals_are_quotients_once_they_are_narrowed() {
        for (power, part) in POWERS[7..15].iter().zip(&RECIPROCALS[7..15]) {
            let mut others = 0;
            for whole in 0..100_000_000 {
                let whole = f64::from(whole);
                others += u32::from(((whole * part) as f32).to_bits() != ((whole / power) as f32).to_bits());
            }
            assert_eq!(others, 0, "{power}");
        }
        assert_eq!([POWERS[7], POWERS[14], POWERS[15]], [1e8, 10.0, 1.0]);
    }
}
