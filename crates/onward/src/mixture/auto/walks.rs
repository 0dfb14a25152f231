//! The three walks over the features of a row, of all lanes at once.
//!
//! 1. [`Begin`], before the label is known: sums ŵ·x̂ of each lane, and takes in the features: their counts, means
//!    and largest values, which are worked out for eight features side by side ([`FeatureBlock`]).
//! 2. [`Prepare`]: takes in h·g² of each lane, and sums x̂²·rate, from which it is known how far a step leads.
//! 3. [`Advance`]: moves the weights.

use bytemuck::Zeroable;

use super::lane_entry::{
    self, CENTRED, DenseCounts, Dither, FREQUENT, FeatureHistory, LARGEST, LaneEntry, RAW, has_doubled,
};
use crate::Features;
use crate::numeric::sum;
use crate::simd::f32xn::{F32xN, Transpose, WidthKernel};
use crate::simd::u32x8::EIGHT;
use crate::simd::{larger, prefetch};
use crate::storage::table::{ParameterTable, Positions};

/// A G below this is none: what is divided by its root stays within f32.
const LEAST_SQUARES: f32 = 1e-30;

/// ŵ and R̂ stay below this many units of the label.
pub(super) const LARGEST_WEIGHT: f32 = 1e18;

/// What a round knows of the features of its row.
#[derive(Debug, Default)]
pub(super) struct GatheredRow {
    /// Where their entries are.
    positions: Vec<u32>,
    located: Positions,
    blocks: Vec<FeatureBlock>,
}

impl GatheredRow {
    /// Writes the centred x̂ as it is predicted from, and once the row was taken in.
    pub(super) fn sizes(&self, seen: &mut Vec<f32>, sizes: &mut Vec<f32>) {
        seen.clear();
        sizes.clear();
        for block in &self.blocks {
            seen.extend(block.seen[CENTRED]);
            sizes.extend(block.sizes[CENTRED]);
        }
        seen.truncate(self.positions.len());
        sizes.truncate(self.positions.len());
    }
}

/// A number of each of eight features.
type Eight<T> = [T; EIGHT];

/// Eight features of a row, number by number: what has to be worked out from their entries before the label is
/// known is the same for all, and is done for eight at once.
#[derive(Debug, Clone, Copy, Zeroable)]
#[repr(C, align(32))]
struct FeatureBlock {
    index: Eight<u32>,
    value: Eight<f32>,
    /// Before and after the row.
    counts: [Eight<f32>; 2],
    mean: Eight<f32>,
    largest: [Eight<f32>; 2],
    recent: [Eight<f32>; 2],
    /// x and x̃.
    values: [Eight<f32>; 2],
    /// x̂ as it is predicted from, and once the row was taken in.
    seen: [Eight<f32>; 2],
    sizes: [Eight<f32>; 2],
    /// Not 0 where M grows, or the count has doubled.
    is_special: Eight<u32>,
}

/// Before and after the row.
const BEFORE: usize = 0;
const AFTER: usize = 1;

/// With which weights a row is taken in.
#[derive(Debug, Clone, Copy)]
pub(super) struct Weighing {
    /// That with which it is predicted, and that of all rows then.
    pub(super) usual: f32,
    pub(super) total: DenseCounts,
    /// Its own.
    pub(super) h: f32,
    pub(super) dither: Dither,
}

impl FeatureBlock {
    /// Copies what must be known of eight entries.
    #[inline(always)]
    fn gather<const W: usize, const D: usize, E: Transpose>(
        &mut self,
        entries: &[LaneEntry<W, D>],
        positions: &Eight<u32>,
    ) {
        let [a, b, c, d, e, f, g, h] = *positions;
        let at = |position: u32| &entries[position as usize];
        let entries = [at(a), at(b), at(c), at(d), at(e), at(f), at(g), at(h)];
        let [a, b, c, d, e, f, g, h] = entries;
        let pasts = [&a.past, &b.past, &c.past, &d.past, &e.past, &f.past, &g.past, &h.past];
        let [recent_raw, recent_centred, count, mean] = E::of_fours(pasts.map(FeatureHistory::numbers));
        recent_raw.store(&mut self.recent[RAW]);
        recent_centred.store(&mut self.recent[CENTRED]);
        count.store(&mut self.counts[BEFORE]);
        mean.store(&mut self.mean);
        let [raw, centred] = E::of_pairs(entries.map(|entry| &entry.largest));
        raw.store(&mut self.largest[RAW]);
        centred.store(&mut self.largest[CENTRED]);
    }

    /// The same of fewer entries; the features beyond them are none.
    fn gather_some<const W: usize, const D: usize>(&mut self, entries: &[LaneEntry<W, D>], positions: &[u32]) {
        for at in 0..EIGHT {
            let entry = positions.get(at).map_or_else(LaneEntry::zeroed, |&position| entries[position as usize]);
            let FeatureHistory { recent, count, mean } = entry.past;
            (self.counts[BEFORE][at], self.mean[at]) = (count, mean);
            for kind in [RAW, CENTRED] {
                (self.largest[kind][at], self.recent[kind][at]) = (entry.largest[kind], recent[kind]);
            }
        }
    }

    /// Takes in values, all that does not need more of an entry than is here.
    #[inline(always)]
    fn take_in(&mut self, weighing: Weighing) {
        let Weighing { usual, total, h, dither } = weighing;
        let before = self.counts[BEFORE];
        let (counts, means) = self.counted(usual, dither);
        for at in 0..EIGHT {
            let value = self.value[at];
            let largest = [self.largest[RAW][at], self.largest[CENTRED][at]];
            let values =
                [value, lane_entry::centred(self.index[at], value, counts[at], means[at], largest[RAW], total)];
            let mut is_special = false;
            for kind in [RAW, CENTRED] {
                let size = values[kind].abs();
                self.values[kind][at] = values[kind];
                self.seen[kind][at] = lane_entry::bounded(values[kind], largest[kind]);
                self.sizes[kind][at] = self.seen[kind][at];
                self.recent[kind][at] = larger(size, self.recent[kind][at]);
                is_special |= size > largest[kind];
            }
            self.is_special[at] = u32::from(is_special);
        }
        (self.counts[AFTER], self.mean) = if h == usual { (counts, means) } else { self.counted(h, dither) };
        for at in 0..EIGHT {
            self.is_special[at] |= u32::from(has_doubled(before[at], self.counts[AFTER][at]));
        }
    }

    /// Counts and means with the row at this weight.
    #[inline(always)]
    fn counted(&self, h: f32, dither: Dither) -> (Eight<f32>, Eight<f32>) {
        let before = self.counts[BEFORE];
        let (mut counts, mut means) = (before, self.mean);
        let mut most = 0.0;
        for at in 0..EIGHT {
            most = larger(before[at], most);
            counts[at] = before[at] + h;
        }
        if most >= FREQUENT {
            for at in 0..EIGHT {
                let dithered = dither.add(before[at], h);
                counts[at] = if before[at] >= FREQUENT { dithered } else { counts[at] };
            }
        }
        for at in 0..EIGHT {
            means[at] = lane_entry::moved(self.mean[at], self.value[at], self.largest[CENTRED][at], h / counts[at]);
        }
        (counts, means)
    }

    /// What entries are to know of the past from now on.
    #[inline(always)]
    fn pasts<E: Transpose>(&self) -> Eight<[f32; 4]> {
        let [raw, centred] = &self.recent;
        E::fours([E::load(raw), E::load(centred), E::load(&self.counts[AFTER]), E::load(&self.mean)])
    }

    /// Whether any of the first `count` features needs more than that.
    #[inline(always)]
    fn has_special(&self, count: usize) -> bool {
        let mut any = 0;
        for at in 0..EIGHT {
            // A feature that is none seems to be met for the first time.
            any |= if at < count { self.is_special[at] } else { 0 };
        }
        any != 0
    }
}

/// Which features each lane sees, and as masks which lanes see raw ones, and which go by distance (all bits but the
/// sign's).
#[derive(Debug, Clone, Copy)]
pub(super) struct Masks<const W: usize> {
    pub(super) kinds: [usize; W],
    pub(super) raw: [u32; W],
    pub(super) distance: [u32; W],
}

/// x̂ as each lane sees it.
#[inline(always)]
fn by_lane<const W: usize, V: F32xN<W>>(block: &[Eight<f32>; 2], at: usize, raw: V) -> V {
    V::all(block[RAW][at]).chosen(raw, V::all(block[CENTRED][at]))
}

/// The first walk: sums ŵ·x̂ of each lane and x̂² of both kinds, and takes in the features.
pub(super) struct Begin<'a, const W: usize, const D: usize> {
    pub(super) table: &'a mut ParameterTable<LaneEntry<W, D>>,
    pub(super) row: &'a mut GatheredRow,
    pub(super) masks: &'a Masks<W>,
    pub(super) x: Features<'a>,
    pub(super) weighing: Weighing,
}

impl<const W: usize, const D: usize> WidthKernel<W> for Begin<'_, W, D> {
    type Output = ([f64; W], [f64; 2]);

    #[inline(always)]
    fn run<V: F32xN<W>, E: Transpose>(self) -> Self::Output {
        let Self { table, row, masks, x, weighing } = self;
        let GatheredRow { located, positions, blocks } = row;
        table.locate(x, located);
        let entries = table.all();
        positions.resize(x.len(), 0);
        for (position, &found) in positions.iter_mut().zip(located.of(x).all()) {
            *position = found;
            // The line that this walk reads; that which the next one reads is fetched on the way.
            prefetch(&entries[found as usize].past);
        }
        blocks.resize(positions.len().div_ceil(EIGHT), FeatureBlock::zeroed());
        let (indices, values) = (x.indices().chunks(EIGHT), x.values().chunks(EIGHT));
        let eights = indices.zip(values).zip(positions.chunks(EIGHT));
        for (block, ((indices, values), positions)) in blocks.iter_mut().zip(eights) {
            match (indices.first_chunk(), values.first_chunk(), positions.first_chunk()) {
                (Some(indices), Some(values), Some(positions)) => {
                    block.gather::<W, D, E>(entries, positions);
                    (block.index, block.value) = (*indices, *values);
                }
                _ => {
                    block.gather_some(entries, positions);
                    (block.index, block.value) = ([0; EIGHT], [0.0; EIGHT]);
                    block.index[..positions.len()].copy_from_slice(indices);
                    block.value[..positions.len()].copy_from_slice(values);
                }
            }
        }
        // Not `for_each`, which the compiler keeps apart, and compiles for any machine.
        for block in blocks.iter_mut() {
            block.take_in(weighing);
        }
        let raw = V::load_bits(&masks.raw);
        let mut sums = V::no_sums();
        for (block, positions) in blocks.iter_mut().zip(positions.chunks(EIGHT)) {
            let pasts = block.pasts::<E>();
            for (at, &position) in positions.iter().enumerate() {
                let entry = &mut entries[position as usize];
                prefetch(&entry.squares);
                sums = V::load(&entry.weights).times(by_lane(&block.seen, at, raw)).added_to(sums);
                entry.past = FeatureHistory::of(pasts[at]);
            }
            if block.has_special(positions.len()) {
                special(entries, positions, block, weighing.h, &masks.kinds);
            }
        }
        let mut norms = [E::no_sums(); 2];
        for block in blocks.iter() {
            for kind in [RAW, CENTRED] {
                let sizes = E::load(&block.sizes[kind]);
                norms[kind] = sizes.times(sizes).added_to(norms[kind]);
            }
        }
        let mut by_lane = [0.0; W];
        V::store_sums(sums, &mut by_lane);
        let norms = norms.map(|sums| {
            let mut norms = [0.0; EIGHT];
            E::store_sums(sums, &mut norms);
            sum::join(norms)
        });
        (by_lane, norms)
    }
}

/// Takes in values that M grows by, or after which the count has doubled; x̂ from then on.
#[cold]
#[inline(never)]
fn special<const W: usize, const D: usize>(
    entries: &mut [LaneEntry<W, D>],
    positions: &[u32],
    block: &mut FeatureBlock,
    h: f32,
    kinds: &[usize; W],
) {
    for (at, &position) in positions.iter().enumerate().filter(|&(at, _)| block.is_special[at] != 0) {
        let entry = &mut entries[position as usize];
        let values = [RAW, CENTRED].map(|kind| block.values[kind][at]);
        entry.widen(values, kinds);
        if has_doubled(block.counts[BEFORE][at], entry.past.count) {
            entry.review(values[RAW], h, kinds);
        }
        for kind in [RAW, CENTRED] {
            block.sizes[kind][at] = lane_entry::bounded(values[kind], entry.largest[kind]);
        }
    }
}

/// The second walk: takes in h·g² of each lane, and sums x̂²·rate.
pub(super) struct Prepare<'a, const W: usize, const D: usize> {
    pub(super) table: &'a mut ParameterTable<LaneEntry<W, D>>,
    pub(super) row: &'a GatheredRow,
    pub(super) masks: &'a Masks<W>,
    /// x̂·rate of each feature and lane.
    pub(super) directions: &'a mut Vec<[f32; W]>,
    pub(super) squares: [f32; W],
    pub(super) numerators: [f32; W],
    pub(super) dither: Dither,
}

impl<const W: usize, const D: usize> WidthKernel<W> for Prepare<'_, W, D> {
    type Output = [f64; W];

    #[inline(always)]
    fn run<V: F32xN<W>, E: Transpose>(self) -> Self::Output {
        let Self { table, row, masks, directions, squares, numerators, dither } = self;
        let entries = table.all();
        directions.resize(row.positions.len(), [0.0; W]);
        let (raw, squares, numerators) = (V::load_bits(&masks.raw), V::load(&squares), V::load(&numerators));
        let (most, least) = (V::all(LARGEST), V::all(LEAST_SQUARES));
        let mut sums = V::no_sums();
        let eights = row.blocks.iter().zip(row.positions.chunks(EIGHT)).zip(directions.chunks_mut(EIGHT));
        for ((block, positions), directions) in eights {
            for (at, (&position, direction)) in positions.iter().zip(directions).enumerate() {
                let entry = &mut entries[position as usize];
                let x = by_lane(&block.sizes, at, raw);
                let more = squares.times(x.times(x));
                let mut sum = V::load(&entry.squares).add(more).smaller(most);
                if block.counts[AFTER][at] >= FREQUENT {
                    let mut terms = [0.0; W];
                    more.store(&mut terms);
                    sum = V::load(&dithered(&entry.squares, &terms, dither));
                }
                sum.store(&mut entry.squares);
                let rate = distances::<W, D, V>(entry).larger(numerators).over(sum.root());
                let step = x.times(rate.where_above(sum, least));
                step.store(direction);
                sums = step.times(x).added_to(sums);
            }
        }
        let mut by_lane = [0.0; W];
        V::store_sums(sums, &mut by_lane);
        by_lane
    }
}

/// R̂ of each lane; of those that never go by distance, nothing that is larger than another number.
#[inline(always)]
fn distances<const W: usize, const D: usize, V: F32xN<W>>(entry: &LaneEntry<W, D>) -> V {
    let mut distances = [f32::NEG_INFINITY; W];
    distances[..D].copy_from_slice(&entry.distances);
    V::load(&distances)
}

/// Sums of which the terms may be small beside them.
#[inline(never)]
fn dithered<const W: usize>(sums: &[f32; W], terms: &[f32; W], dither: Dither) -> [f32; W] {
    std::array::from_fn(|lane| dither.add(sums[lane], terms[lane]))
}

/// The third walk: moves the weights.
pub(super) struct Advance<'a, const W: usize, const D: usize> {
    pub(super) table: &'a mut ParameterTable<LaneEntry<W, D>>,
    pub(super) row: &'a GatheredRow,
    pub(super) masks: &'a Masks<W>,
    pub(super) directions: &'a [[f32; W]],
    pub(super) steps: [f32; W],
}

impl<const W: usize, const D: usize> WidthKernel<W> for Advance<'_, W, D> {
    type Output = ();

    #[inline(always)]
    fn run<V: F32xN<W>, E: Transpose>(self) {
        let Self { table, row, masks, directions, steps } = self;
        let entries = table.all();
        let (steps, by_distance) = (V::load(&steps), V::load_bits(&masks.distance));
        let (most, least) = (V::all(LARGEST_WEIGHT), V::all(-LARGEST_WEIGHT));
        for (&position, direction) in row.positions.iter().zip(directions) {
            let entry = &mut entries[position as usize];
            let weight = V::load(&entry.weights).add(steps.times(V::load(direction)));
            let weight = most.smaller(least.larger(weight));
            weight.store(&mut entry.weights);
            let mut farthest = [0.0; W];
            weight.masked(by_distance).larger(distances::<W, D, V>(entry)).store(&mut farthest);
            entry.distances.copy_from_slice(&farthest[..D]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::rng::SplitMix64;
    use crate::simd::f32xn::{self, Avx2F32x4, Avx2F32x8};

    /// An entry of a feature that was met often or seldom, with some of its numbers 0.
    fn entry<const W: usize, const D: usize>(random: &mut SplitMix64) -> LaneEntry<W, D> {
        let mut number = |most: f32| if random.below(6) == 0 { 0.0 } else { random.uniform() as f32 * most };
        let mut entry = LaneEntry::zeroed();
        entry.squares = std::array::from_fn(|_| number(3.0));
        entry.distances = std::array::from_fn(|_| number(0.5));
        entry.weights = std::array::from_fn(|_| number(1.0) - 0.5);
        entry.largest = [number(2.0), number(2.0)];
        entry.past.recent = [number(1.0), number(1.0)];
        entry.past.mean = number(1.0);
        entry.past.count = [0.0, 7.0, FREQUENT - 1.0, FREQUENT, 3.0 * FREQUENT][random.below(5) as usize];
        entry
    }

    /// All bits that the three walks over some rows lead to.
    fn bits<const W: usize, const D: usize, F: F32xN<W>>(is_portable: bool) -> Vec<u64> {
        crate::simd::set_portable(is_portable);
        let (mut random, mut bits) = (SplitMix64::new(W as u64), Vec::new());
        let indices: Vec<u32> = (0..60).collect();
        let entries: Vec<LaneEntry<W, D>> = indices.iter().map(|_| entry(&mut random)).collect();
        let mut table = ParameterTable::filled(&indices, entries.into_iter()).unwrap();
        let kinds: [usize; W] = std::array::from_fn(|lane| lane % 2);
        let masks = Masks {
            kinds,
            raw: kinds.map(|kind| if kind == RAW { u32::MAX } else { 0 }),
            distance: std::array::from_fn(|lane| if lane < 2 { u32::MAX >> 1 } else { 0 }),
        };
        let (mut row, mut directions) = (GatheredRow::default(), Vec::new());
        for round in 0..200u64 {
            let count = random.below(30) as usize;
            let mut value = || if random.below(4) == 0 { 0.0 } else { random.uniform() as f32 * 3.0 - 1.5 };
            let values: Vec<f32> = (0..count).map(|_| value()).collect();
            let start = random.below(30) as usize;
            let x = Features::new(&indices[start..start + count], &values).unwrap();
            let dither = Dither::of(round);
            let weighing = Weighing { usual: 1.0, total: DenseCounts::new(2e6), h: 1.0 + (round % 2) as f32, dither };
            let (table, masks) = (&mut table, &masks);
            let (sums, norms) = f32xn::run::<W, F, _>(Begin { table: &mut *table, row: &mut row, masks, x, weighing });
            bits.extend(sums.iter().chain(&norms).map(|sum| sum.to_bits()));
            let (squares, numerators) = ([0.25; W], std::array::from_fn(|lane| lane as f32 * 0.1));
            let (row, directions) = (&row, &mut directions);
            let walk =
                Prepare { table: &mut *table, row, masks, directions: &mut *directions, squares, numerators, dither };
            bits.extend(f32xn::run::<W, F, _>(walk).map(f64::to_bits));
            f32xn::run::<W, F, _>(Advance { table, row, masks, directions, steps: [-0.3; W] });
        }
        crate::simd::set_portable(false);
        for (_, entry) in table.entries() {
            let LaneEntry { squares, distances, weights, largest, past } = entry;
            let all = [&squares[..], distances, weights, largest, past.numbers()];
            bits.extend(all.concat().iter().map(|number| u64::from(number.to_bits())));
        }
        bits
    }

    #[test]
    fn vectors_of_eight_and_four_lanes_give_the_bits_of_arrays() {
        let eight = bits::<8, 8, Avx2F32x8>(true);
        assert!(eight == bits::<8, 8, Avx2F32x8>(false));
        let four = bits::<4, 2, Avx2F32x4>(true);
        assert!(four == bits::<4, 2, Avx2F32x4>(false));
        assert!(eight.len() > four.len());
    }
}
