//! What the lanes know of a feature: one entry, and the small steps that change it.
//!
//! Weights are kept in units of the largest value M that the feature had (ŵ = w·M, x̂ = x/M):
//! whatever units features come in, x̂ is within ±1 and nothing overflows, and when M grows the
//! weight w = ŵ/M shrinks by itself. M is guarded on both sides. A row can make it four times as
//! large at most, so that a gross outlier costs a few weights and not all; and where the latest
//! half of a feature's rows stayed below a sixteenth of M, M comes down to what they had, or a
//! wrong unit in a few early rows would hold the feature still for ever.
//!
//! G is in units of M² and of the first gradient: a sum of f32 that is dithered where it might stall, and
//! held below 10³⁰.

use bytemuck::{Pod, Zeroable};

use crate::simd::{larger, smaller};

/// Raw features, and features as a lane sees them that centres.
pub(super) const RAW: usize = 0;
pub(super) const CENTRED: usize = 1;

/// The share of rows from which on a feature counts as always there.
const DENSE: f64 = 0.95;

/// A constant feature that is in this share of rows says no more than the bias does.
const EVERYWHERE: f64 = 0.999;

/// The index of the bias, which is never centred.
pub(super) const BIAS: u32 = 0;

/// How many times as large a row can make M, and a distance from the mean count.
const LARGEST_GROWTH: f32 = 4.0;

/// M comes down where half of the rows stayed below this part of it.
const FAR_BELOW: f32 = 1.0 / 16.0;

/// But not before this many rows.
const FEWEST_TO_SHRINK: f32 = 16.0;

/// From this many rounds on sums are dithered. Before, rounding to the nearest loses
/// nothing that matters, and needs no sums of f64.
pub(super) const FREQUENT: f32 = 1_048_576.0;

/// Of what a rate is a ratio stays below this.
pub(super) const LARGEST: f32 = 1e30;

/// What a round touches of a feature, for W lanes of which only the first D may go by distance: two
/// cache lines for seven lanes, one for four. What is needed before the label is known lies in the
/// second, no vector across both.
#[derive(Debug, Clone, Copy, Zeroable)]
#[repr(C, align(64))]
pub(super) struct LaneEntry<const W: usize, const D: usize> {
    /// G = Σ h·g²·x̂² of each lane, in units of a gradient.
    pub(super) squares: [f32; W],
    /// R̂ of each lane by distance: the largest |ŵ| so far.
    pub(super) distances: [f32; D],
    /// ŵ of each lane, in units of the label.
    pub(super) weights: [f32; W],
    /// M of raw and of centred values.
    pub(super) largest: [f32; 2],
    pub(super) past: FeatureHistory,
}

/// What each row that has a feature changes, whatever its label is.
#[derive(Debug, Clone, Copy, Zeroable, Pod)]
#[repr(C)]
pub(super) struct FeatureHistory {
    /// The largest |x| and |x̃| since the count last doubled.
    pub(super) recent: [f32; 2],
    /// Σ h of the rounds that had the feature.
    pub(super) count: f32,
    /// The running mean.
    pub(super) mean: f32,
}

impl FeatureHistory {
    /// As they lie in memory.
    #[inline(always)]
    pub(super) fn numbers(&self) -> &[f32; 4] {
        bytemuck::must_cast_ref(self)
    }

    #[inline(always)]
    pub(super) fn of(numbers: [f32; 4]) -> Self {
        bytemuck::must_cast(numbers)
    }
}

/// The weight of all rows so far, as counts are compared with it.
#[derive(Debug, Clone, Copy)]
pub(super) struct DenseCounts {
    /// The least count of a feature that is in nearly every row.
    dense: f32,
    /// The least count of one that is in practically every row.
    everywhere: f32,
}

impl DenseCounts {
    pub(super) fn new(total: f64) -> Self {
        Self { dense: up(DENSE * total), everywhere: up(EVERYWHERE * total) }
    }

    /// Whether a feature of this count is in nearly every row.
    #[inline(always)]
    pub(super) fn is_dense(self, index: u32, count: f32) -> bool {
        (index != BIAS) & (count >= self.dense)
    }
}

/// The least f32 that is not below a size ≥ 0: f32s are above both or above neither.
fn up(size: f64) -> f32 {
    let near = size as f32;
    if f64::from(near) < size { near.next_up() } else { near }
}

/// The count with a row of weight h.
#[inline(always)]
pub(super) fn counted(count: f32, h: f32, dither: Dither) -> f32 {
    if count >= FREQUENT { dither.add(count, h) } else { count + h }
}

/// The mean with a value that has this share of the count. `largest` is M of centred values.
#[inline(always)]
pub(super) fn moved(mean: f32, value: f32, largest: f32, share: f32) -> f32 {
    let most = if largest > 0.0 { LARGEST_GROWTH * largest } else { f32::INFINITY };
    let distance = smaller(f64::from(most), larger(-f64::from(most), f64::from(value) - f64::from(mean)));
    // Categories, whose value is 1, always have distance 0: nothing moves.
    let moved = f64::from(mean) + distance * f64::from(share);
    let most = f64::from(f32::MAX);
    smaller(most, larger(-most, moved)) as f32
}

/// x̃ of a row's value: centred if the feature is always there; 0 if it is constant too. `largest` is M of raw
/// values.
#[inline(always)]
pub(super) fn centred(index: u32, value: f32, count: f32, mean: f32, largest: f32, total: DenseCounts) -> f32 {
    let distance = smaller(f32::MAX, larger(-f32::MAX, value - mean));
    // As long as a feature has not varied its mean is its value, to the bit.
    let varies = (value != mean) | (mean.abs() < largest);
    let constant = if count >= total.everywhere { 0.0 } else { value };
    let dense = if varies { distance } else { constant };
    if total.is_dense(index, count) { dense } else { value }
}

/// x̂: a value over M, which was seen before and which it is held to.
#[inline(always)]
pub(super) fn bounded(value: f32, largest: f32) -> f32 {
    let held = smaller(largest, larger(-largest, value));
    held / if largest > 0.0 { largest } else { 1.0 }
}

impl<const W: usize, const D: usize> LaneEntry<W, D> {
    /// Lets M grow to a row's values; `kinds` says which lane sees which.
    pub(super) fn widen(&mut self, values: [f32; 2], kinds: &[usize; W]) {
        for (kind, value) in values.into_iter().enumerate() {
            let (size, largest) = (value.abs(), self.largest[kind]);
            if size > largest {
                let size = if largest > 0.0 { size.min(LARGEST_GROWTH * largest) } else { size };
                self.rescale_squares(largest / size, kind, kinds);
                self.largest[kind] = size;
            }
        }
    }

    /// G in units of a new M.
    fn rescale_squares(&mut self, ratio: f32, kind: usize, kinds: &[usize; W]) {
        for (square, of) in self.squares.iter_mut().zip(kinds) {
            if *of == kind {
                *square *= ratio * ratio;
            }
        }
    }

    /// When the count has doubled: M comes down if the rows since stayed far below it. The
    /// weight stays what it is in raw units, and G what it is in those of M: what was learnt
    /// in the wrong unit counts as if it had been in this one.
    pub(super) fn review(&mut self, value: f32, h: f32, kinds: &[usize; W]) {
        for kind in [RAW, CENTRED] {
            let (largest, recent) = (self.largest[kind], self.past.recent[kind]);
            if recent > 0.0 && recent < FAR_BELOW * largest && self.past.count >= FEWEST_TO_SHRINK * h {
                for lane in (0..W).filter(|&lane| kinds[lane] == kind) {
                    self.weights[lane] *= recent / largest;
                    // 0 stands for a lane that does not go by distance too.
                    if lane < D && self.distances[lane] > 0.0 {
                        self.distances[lane] = self.weights[lane].abs();
                    }
                }
                self.largest[kind] = recent;
                if kind == RAW {
                    self.past.mean = value;
                }
            }
            self.past.recent[kind] = 0.0;
        }
    }
}

/// Whether a count has doubled, that is, passed a power of two.
#[inline(always)]
pub(super) fn has_doubled(before: f32, after: f32) -> bool {
    (before.to_bits() ^ after.to_bits()) >> 23 != 0
}

/// Rounds sums of f32 up or down so that what is added counts on average, however small it is
/// beside the sum: a plain sum of f32 stops growing at 2²⁴ times what is added.
#[derive(Debug, Clone, Copy)]
pub(super) struct Dither(u64);

impl Dither {
    /// The dither of a round: multiples of the golden ratio, modulo 1, are spread evenly.
    pub(super) fn of(round: u64) -> Self {
        Self(round.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - Self::BITS))
    }

    /// The bits by which f64 is finer than f32.
    const BITS: u32 = 29;

    /// sum + more ≥ 0, below [`LARGEST`].
    #[inline(always)]
    pub(super) fn add(self, sum: f32, more: f32) -> f32 {
        let exact = f64::from(sum) + f64::from(more);
        let rounded = (exact.to_bits() + self.0) & !((1 << Self::BITS) - 1);
        smaller(f64::from_bits(rounded) as f32, LARGEST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_of_seven_lanes_is_two_cache_lines_and_one_of_four_one() {
        assert_eq!(size_of::<LaneEntry<8, 8>>(), 128);
        assert_eq!(size_of::<LaneEntry<4, 2>>(), 64);
    }

    #[test]
    fn counts_are_compared_as_exactly_as_if_all_were_f64() {
        for total in (1..2000).map(|at| f64::from(at) * 0.37).chain([1e-30, 16_777_217.0, 1e12, 1e30]) {
            let near = (DENSE * total) as f32;
            for count in [near.next_down(), near, near.next_up()] {
                let exact = f64::from(count) >= DENSE * total;
                assert_eq!(DenseCounts::new(total).is_dense(1, count), exact, "{total} {count}");
            }
        }
    }

    #[test]
    fn a_dithered_sum_goes_on_growing() {
        let mut plain = 0f32;
        let mut sum = 0f32;
        for round in 0..40_000_000u64 {
            plain += 1.0;
            sum = Dither::of(round).add(sum, 1.0);
        }
        assert_eq!(plain, 16_777_216.0);
        assert!((f64::from(sum) / 4e7 - 1.0).abs() < 1e-6, "{sum}");
    }

    #[test]
    fn sums_below_the_precision_of_f32_are_exact() {
        let sum = (0..1000).fold(0f32, |sum, round| Dither::of(round).add(sum, 3.0));
        assert_eq!(sum, 3000.0);
    }
}
