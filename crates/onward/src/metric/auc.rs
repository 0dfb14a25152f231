//! How well scores rank: the area under the ROC curve, from a histogram, with a
//! bound on what the histogram cannot see.

use std::fmt;

use super::binary::is_positive;
use super::total::bounded;
use crate::Error;
use crate::archive::{Archive, fields};
use crate::simd::prefetch;

/// A range of magnitudes, from a power of two up to the next zone's, whose bits are
/// cut off at one place: 2^(52 − dropped) bins an octave.
struct Zone {
    /// The exponent field of the lowest magnitude; a bin begins there.
    lowest: usize,
    /// How many low bits share a bin.
    dropped: u32,
}

impl Zone {
    /// A zone that begins at 2^exponent.
    const fn new(exponent: i32, dropped: u32) -> Self {
        Self { lowest: (exponent + 1023) as usize, dropped }
    }

    /// How many bins lie below an exponent field, were the whole axis cut as here.
    const fn bins_below(&self, field: usize) -> usize {
        (((field as u64) << 52) >> self.dropped) as usize
    }
}

/// How many exponent fields a float can have: infinity and NaN are the last.
const FIELDS: usize = 2048;

/// The layout of the bins on either side of zero, by magnitude (see [`Auc`]).
const ZONES: [Zone; 9] = [
    Zone::new(-1023, 56),
    Zone::new(-63, 49),
    Zone::new(-20, 45),
    Zone::new(-6, 42),
    Zone::new(-2, 40),
    Zone::new(3, 42),
    Zone::new(5, 45),
    Zone::new(19, 49),
    Zone::new(65, 54),
];

/// The exponent field at which a zone ends.
const fn end(zone: usize) -> usize {
    if zone + 1 < ZONES.len() { ZONES[zone + 1].lowest } else { FIELDS }
}

/// The first bin of each zone, and behind them how many bins a side has.
const FIRST: [usize; ZONES.len() + 1] = {
    let mut first = [0; ZONES.len() + 1];
    let mut at = 0;
    while at < ZONES.len() {
        let bins = ZONES[at].bins_below(end(at)) - ZONES[at].bins_below(ZONES[at].lowest);
        first[at + 1] = first[at] + bins;
        at += 1;
    }
    first
};

/// The zone of each exponent field: looked up, because a search would mispredict a
/// branch or two for each score.
static ZONE_OF: [u8; FIELDS] = {
    let mut zones = [0; FIELDS];
    let (mut field, mut zone) = (0, 0);
    while field < FIELDS {
        if field == end(zone) {
            zone += 1;
        }
        zones[field] = zone as u8;
        field += 1;
    }
    zones
};

/// How many bins each side of zero has.
const SIDE: usize = FIRST[ZONES.len()];

/// The layout's number in saved states: to be raised when [`ZONES`] changes.
const LAYOUT: f64 = 1.0;

/// The bin of a magnitude, rising with it.
#[inline]
fn rank(magnitude: f64) -> usize {
    let bits = magnitude.to_bits();
    let at = usize::from(ZONE_OF[(bits >> 52) as usize]);
    let zone = &ZONES[at];
    FIRST[at] + (bits >> zone.dropped) as usize - zone.bins_below(zone.lowest)
}

/// The bin of a score, rising with it. Both zeros share one.
#[inline]
fn bin_of(score: f64) -> usize {
    let rank = rank(score.abs());
    if score < 0.0 { SIDE - 1 - rank } else { SIDE + rank }
}

/// The area under the ROC curve: the probability that a positive example scores
/// higher than a negative one, ties counting half.
///
/// AUC = Σ_{i positive, j negative} h_i·h_j·(\[s_i > s_j\] + ½\[s_i = s_j\]) / (P·N),
/// P and N the weights of the positives and the negatives; in \[0, 1\], ½ is blind,
/// 1 ranks perfectly. It needs no threshold and no link: only the order of the
/// scores counts. Labels count as positive above 0.5.
///
/// The scores of a stream cannot be kept, so they are counted in bins of nearby
/// scores, and pairs within a bin count half. That errs by at most half of each such
/// pair: the AUC of the scores themselves lies within [`value`](Auc::value) ±
/// [`error`](Auc::error), for any stream,
///
/// error = ½·Σ_bins pos_b·neg_b / (P·N)
///
/// up to the rounding of the sums: a few times (n + 62,440)·2^−53 for n examples at
/// worst; weights that are integers are added exactly. The order of the examples
/// changes nothing but that rounding.
///
/// The bins are those of the score's bits, finest where the scores of logistic and
/// hinge losses lie; relative to the score they are
///
/// | magnitude of the score | bins an octave | width ÷ score at most |
/// |---|---|---|
/// | 2^−2 to 2^3 | 4096 | 1/4096 |
/// | 2^−6 to 2^−2, 2^3 to 2^5 | 1024 | 1/1024 |
/// | 2^−20 to 2^−6, 2^5 to 2^19 | 128 | 1/128 |
/// | 2^−63 to 2^−20, 2^19 to 2^65 | 8 | 1/8 |
/// | below, with zero | 1/16 | |
/// | above | 1/4 | |
///
/// 62,440 bins of two sums: 999,040 bytes. For scores of a logistic model centred at 0
/// with scales 0.25 to 3 the error measured 3·10^−5 to 3·10^−6, for rare positives
/// (centred at −3.5) 2·10^−5: 16 to 32 times less than with the upper 16 bits of an f32
/// as bins, which take the same memory (128 bins an octave everywhere).
///
/// ```
/// let mut auc = onward::metric::Auc::default();
/// for (score, label) in [(-1.0, -1.0), (0.5, 1.0), (0.7, -1.0), (2.0, 1.0)] {
///     auc.observe(score, label, 1.0);
/// }
/// assert_eq!(auc.value(), Some(0.75)); // of 4 pairs, only (0.5, 0.7) is in the wrong order
/// assert_eq!(auc.error(), Some(0.0)); // no bin holds both classes
/// ```
///
/// Reference: Fawcett, An introduction to ROC analysis, 2006, section 7.
#[derive(Clone)]
pub struct Auc {
    bins: Vec<AucBin>,
}

/// The weights of the two classes in a bin.
#[derive(Clone, Copy, Default)]
struct AucBin {
    positive: f64,
    negative: f64,
}

impl AucBin {
    fn is_empty(self) -> bool {
        self.positive == 0.0 && self.negative == 0.0
    }
}

impl Default for Auc {
    fn default() -> Self {
        Self { bins: vec![AucBin::default(); 2 * SIDE] }
    }
}

impl fmt::Debug for Auc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let filled = self.bins.iter().filter(|bin| !bin.is_empty()).count();
        f.debug_struct("Auc")
            .field("value", &self.value())
            .field("error", &self.error())
            .field("filled_bins", &filled)
            .finish()
    }
}

impl Auc {
    /// Takes in a score, its label and the importance weight (finite, ≥ 0; 0 changes nothing).
    #[inline]
    pub fn observe(&mut self, score: f64, label: f64, weight: f64) {
        let bin = &mut self.bins[bin_of(score)];
        let side = if is_positive(label) { &mut bin.positive } else { &mut bin.negative };
        *side += bounded(weight);
    }

    /// Fetches the bin of a score that will be observed: it may be anywhere in a megabyte.
    #[inline]
    pub(super) fn prefetch(&self, score: f64) {
        if let Some(bin) = self.bins.get(bin_of(score)) {
            prefetch(bin);
        }
    }

    /// The middle of where the AUC lies. None until both classes were seen.
    pub fn value(&self) -> Option<f64> {
        self.value_and_error().map(|(value, _)| value)
    }

    /// How far the AUC can be from [`value`](Auc::value). None until both classes were seen.
    pub fn error(&self) -> Option<f64> {
        self.value_and_error().map(|(_, error)| error)
    }

    /// Both at once.
    ///
    /// Negatives are divided by N before they meet a positive: products of weights
    /// cannot overflow then, and a perfect ranking gives exactly 1.
    pub(super) fn value_and_error(&self) -> Option<(f64, f64)> {
        self.estimate(false)
    }

    /// The same where no score is beyond 2^1020 but those that are infinite: these are known to tie.
    pub(super) fn of_probabilities(&self) -> Option<(f64, f64)> {
        self.estimate(true)
    }

    fn estimate(&self, has_ties_at_ends: bool) -> Option<(f64, f64)> {
        let positives = self.bins.iter().map(|bin| bin.positive).sum::<f64>();
        let negatives = self.bins.iter().map(|bin| bin.negative).sum::<f64>();
        if positives == 0.0 || negatives == 0.0 {
            return None;
        }
        let (mut below, mut value, mut error) = (0.0, 0.0, 0.0);
        let ends = [bin_of(f64::NEG_INFINITY), bin_of(f64::INFINITY)];
        for (at, bin) in self.bins.iter().enumerate().filter(|(_, bin)| !bin.is_empty()) {
            let tied = 0.5 * bin.positive * (bin.negative / negatives);
            value += bin.positive * (below / negatives) + tied;
            error += if has_ties_at_ends && ends.contains(&at) { 0.0 } else { tied };
            below += bin.negative;
        }
        Some((value / positives, error / positives))
    }

    /// Saves or loads what is needed to continue to the bit: the bins that are not empty.
    ///
    /// # Errors
    /// When the bins are laid out as this program does not, a column is missing or of
    /// another length than the others, bins are out of order or range, or a weight
    /// is not finite or negative.
    pub fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        let mut layout = LAYOUT;
        archive.number("layout", &mut layout)?;
        archive.check(layout == LAYOUT, "layout", &format!("must be {LAYOUT}, for this program has no other bins"))?;
        let bins = (0u32..).zip(self.bins.iter().copied());
        let mut filled: Vec<(u32, AucBin)> = bins.filter(|(_, bin)| !bin.is_empty()).collect();
        let fields = fields!((u32, AucBin) { "bins": U32 0, "positive": F64 1.positive, "negative": F64 1.negative });
        archive.records(&mut filled, &(0, AucBin::default()), &fields)?;
        let is_ordered = filled.windows(2).all(|pair| pair[0].0 < pair[1].0)
            && filled.last().is_none_or(|&(last, _)| (last as usize) < self.bins.len());
        archive.check(is_ordered, "bins", &format!("must rise and stay below {}", self.bins.len()))?;
        let is_count = |weight: f64| (0.0..=f64::MAX).contains(&weight);
        let are_counts = filled.iter().all(|(_, bin)| is_count(bin.positive) && is_count(bin.negative));
        archive.check(are_counts, "positive", "and 'negative' must be finite and not below 0")?;
        if archive.is_loading() {
            self.bins.fill(AucBin::default());
            filled.into_iter().for_each(|(at, bin)| self.bins[at as usize] = bin);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Rows = Vec<(f64, f64, f64)>;

    fn auc(rows: &[(f64, f64, f64)]) -> Auc {
        let mut auc = Auc::default();
        rows.iter().for_each(|&(score, label, weight)| auc.observe(score, label, weight));
        auc
    }

    /// The definition: every pair of a positive and a negative. None without pairs.
    fn exact(rows: &[(f64, f64, f64)]) -> Option<f64> {
        let (mut won, mut pairs) = (0.0, 0.0);
        for &(score, _, h) in rows.iter().filter(|row| row.1 > 0.5) {
            for &(other, _, k) in rows.iter().filter(|row| row.1 <= 0.5) {
                pairs += h * k;
                won += h
                    * k
                    * if score > other {
                        1.0
                    } else if score == other {
                        0.5
                    } else {
                        0.0
                    };
            }
        }
        (pairs > 0.0).then(|| won / pairs)
    }

    /// Any finite score: ties, neighbours, denormals, both zeros, the largest.
    fn score() -> impl Strategy<Value = f64> {
        let special = [0.0, -0.0, 5e-324, -5e-324, 1e-310, 2e-300, f64::MAX, f64::MIN, 1e300, 2e300];
        prop_oneof![
            4 => (-8i32..=8).prop_map(|k| f64::from(k) / 4.0),
            4 => -10.0..10.0,
            3 => (0u64..4, any::<bool>()).prop_map(|(k, negative)| {
                let near = f64::from_bits(1.5f64.to_bits() + k);
                if negative { -near } else { near }
            }),
            2 => proptest::sample::select(special.to_vec()),
            2 => prop::num::f64::NORMAL | prop::num::f64::SUBNORMAL | prop::num::f64::ZERO,
        ]
    }

    fn rows() -> impl Strategy<Value = Rows> {
        let label = prop_oneof![Just(1.0), Just(-1.0), Just(0.0), 0.0..=1.0];
        let weight = prop_oneof![Just(0.0), Just(1.0), 0.001..1000.0];
        prop::collection::vec((score(), label, weight), 0..60)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]

        #[test]
        fn the_true_auc_lies_within_the_error_of_the_value(rows in rows()) {
            let auc = auc(&rows);
            match exact(&rows) {
                None => prop_assert_eq!((auc.value(), auc.error()), (None, None)),
                Some(truth) => {
                    let (value, error) = (auc.value().unwrap(), auc.error().unwrap());
                    // 900 pairs, all terms ≥ 0: at most about 1000·2^-53 = 1.1e-13 is rounded off.
                    prop_assert!((truth - value).abs() <= error + 2.3e-13, "{truth} {value} {error}");
                    prop_assert!((0.0..=0.5).contains(&error) && (0.0..=1.0 + 1e-12).contains(&value));
                }
            }
        }

        #[test]
        fn bins_keep_the_order_of_scores(a in score(), b in score()) {
            let (low, high) = if a <= b { (a, b) } else { (b, a) };
            prop_assert!(bin_of(low) <= bin_of(high), "{low} {high}");
            prop_assert_eq!(bin_of(-a), if a == 0.0 { SIDE } else { 2 * SIDE - 1 - bin_of(a) });
        }

        #[test]
        fn a_bin_is_as_narrow_as_the_table_says(score in score()) {
            let magnitude = score.abs();
            let resolution = match magnitude.log2() {
                octave if (-2.0..3.0).contains(&octave) => 4096.0,
                octave if (-6.0..5.0).contains(&octave) => 1024.0,
                octave if (-20.0..19.0).contains(&octave) => 128.0,
                octave if (-63.0..65.0).contains(&octave) => 8.0,
                _ => return Ok(()),
            };
            let next = magnitude * (1.0 + 1.0 / resolution);
            prop_assert!(bin_of(next) > bin_of(magnitude), "{magnitude} {next}");
        }
    }

    #[test]
    fn zones_follow_each_other_without_gap_or_overlap() {
        for zone in 1..ZONES.len() {
            let lowest = f64::from_bits((ZONES[zone].lowest as u64) << 52);
            assert_eq!(rank(lowest), FIRST[zone]);
            assert_eq!(rank(lowest.next_down()), FIRST[zone] - 1, "below {lowest}");
        }
        assert_eq!(rank(0.0), 0);
        assert!(rank(f64::INFINITY) < SIDE && bin_of(f64::NAN) < 2 * SIDE);
    }

    #[test]
    fn the_bins_take_less_than_a_megabyte() {
        assert_eq!(SIDE, 31_220);
        assert!(size_of_val(auc(&[]).bins.as_slice()) <= 1_000_000);
    }

    #[test]
    fn the_bound_is_reached_from_both_sides() {
        let (low, high) = (1.5, 1.5f64.next_up());
        for (positive, negative, truth) in [(high, low, 1.0), (low, high, 0.0)] {
            let rows = [(positive, 1.0, 2.0), (negative, -1.0, 3.0)];
            assert_eq!(exact(&rows), Some(truth));
            assert_eq!((auc(&rows).value(), auc(&rows).error()), (Some(0.5), Some(0.5)));
        }
    }

    #[test]
    fn perfect_reversed_and_constant_scores_give_one_zero_and_one_half() {
        let ranked: Rows = (0..30).map(|t| (f64::from(t) - 9.5, if t < 17 { -1.0 } else { 1.0 }, 0.1)).collect();
        let reversed: Rows = ranked.iter().map(|&(score, label, weight)| (-score, label, weight)).collect();
        let constant: Rows = ranked.iter().map(|&(_, label, weight)| (0.25, label, weight)).collect();
        assert_eq!(auc(&ranked).value_and_error(), Some((1.0, 0.0)));
        assert_eq!(auc(&reversed).value_and_error(), Some((0.0, 0.0)));
        let (value, error) = auc(&constant).value_and_error().unwrap();
        assert!((value - 0.5).abs() < 1e-15 && (error - 0.5).abs() < 1e-15);
    }

    #[test]
    fn restoring_forgets_what_was_seen_before() {
        let mut other = auc(&[(1.0, 1.0, 1.0), (-1.0, -1.0, 1.0)]);
        let mut used = auc(&[(-5.0, 1.0, 9.0), (5.0, -1.0, 9.0)]);
        let state = Archive::saved(|archive| other.persist(archive)).unwrap();
        used.persist(&mut Archive::loading(state.clone())).unwrap();
        assert_eq!(used.value_and_error(), Some((1.0, 0.0)));
        assert_eq!(Archive::saved(|archive| used.persist(archive)).unwrap(), state);
    }

    #[test]
    fn both_zeros_tie() {
        for (positive, negative) in [(0.0, -0.0), (-0.0, 0.0)] {
            let rows = [(positive, 1.0, 1.0), (negative, -1.0, 1.0)];
            assert_eq!(auc(&rows).value(), Some(0.5));
        }
    }

    #[test]
    fn one_class_alone_has_no_auc() {
        assert_eq!(auc(&[]).value_and_error(), None);
        assert_eq!(auc(&[(1.0, 1.0, 1.0), (2.0, 1.0, 1.0)]).value_and_error(), None);
        assert_eq!(auc(&[(1.0, -1.0, 1.0), (2.0, 1.0, 0.0)]).value_and_error(), None);
    }

    #[test]
    fn weights_of_any_size_leave_the_value_finite() {
        for weight in [5e-324, 1e-300, 1e300, f64::MAX] {
            let rows = [(1.0, 1.0, weight), (-1.0, -1.0, weight), (-1.0, -1.0, weight), (3.0, 1.0, weight)];
            let mut auc = auc(&rows);
            assert_eq!(auc.value(), Some(1.0), "{weight}");
            let state = Archive::saved(|archive| auc.persist(archive)).unwrap();
            Auc::default().persist(&mut Archive::loading(state)).expect("what was saved can be read");
        }
    }

    /// Pseudo-random numbers in [0, 1): a linear congruential generator of Knuth's.
    fn uniform(seed: &mut u64) -> f64 {
        *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*seed >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Scores logistically distributed with this centre and scale, labels true to them.
    fn logistic_stream(centre: f64, scale: f64, rows: usize) -> Rows {
        let mut seed = 7;
        let row = |_| {
            let u = uniform(&mut seed);
            let score = centre + scale * (u / (1.0 - u)).ln();
            let positive = uniform(&mut seed) < 1.0 / (1.0 + (-score).exp());
            (score, if positive { 1.0 } else { -1.0 }, 1.0)
        };
        (0..rows).map(row).collect()
    }

    /// The error of a histogram over the upper 16 bits of the score as f32.
    fn error_of_upper_bits(rows: &Rows) -> f64 {
        let mut bins = std::collections::HashMap::<u32, [f64; 2]>::new();
        let mut totals = [0.0; 2];
        for &(score, label, weight) in rows {
            let class = usize::from(label > 0.5);
            bins.entry((score as f32).to_bits() >> 16).or_default()[class] += weight;
            totals[class] += weight;
        }
        0.5 * bins.values().map(|bin| bin[0] * bin[1]).sum::<f64>() / (totals[0] * totals[1])
    }

    #[test]
    fn logistic_scores_leave_less_than_an_eighth_of_the_error_of_plain_bits() {
        for (centre, scale) in [(0.0, 0.25), (0.0, 0.5), (0.0, 1.0), (0.0, 3.0), (-2.0, 0.2), (-3.5, 1.0)] {
            let rows = logistic_stream(centre, scale, 400_000);
            let error = auc(&rows).error().unwrap();
            let plain = error_of_upper_bits(&rows);
            assert!(error < 2e-4, "{centre} {scale}: {error}");
            assert!(error < plain / 8.0, "{centre} {scale}: {error} {plain}");
        }
    }
}
