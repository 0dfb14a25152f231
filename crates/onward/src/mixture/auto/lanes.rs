//! The lanes: linear learners of several step rules that share one walk over the features.
//!
//! A lane k has weights w_k and takes, each round, the gradient g_k of its own loss:
//! G_i += h·g²·x̂_i², then w_i += u·x_i·rate_i, u being the gradient flow of the loss for a time τ
//! ([`Loss::importance_step`](crate::Loss::importance_step)), at rates
//! - *normalised* (Ross, Mineiro, Langford 2013): √(Σh/N)/(M_i√G_i), τ = η·s·h;
//! - *distance over gradients* (Ivgi, Hinder, Carmon 2023): max(R_i, r·s·√(Σh/N)/M_i)/√G_i, τ = c·h;
//!
//! where N = Σ h·Σ x̂_i², s is the deviation of the labels so far (1 where scores are no labels),
//! and R_i is how far the weight has ever been from 0. Half of the lanes see features as they are,
//! the others see those centred that are always there.

use super::lane_entry::{self, CENTRED, DenseCounts, Dither, LARGEST, LaneEntry, RAW};
use super::walks::{Advance, Begin, GatheredRow, LARGEST_WEIGHT, Masks, Prepare, Weighing};
use crate::archive::{Archive, Field, visit_fields};
use crate::simd::f32xn::{self, Avx2F32x4, Avx2F32x8, F32xN};
use crate::simd::smaller;
use crate::storage::table::ParameterTable;
use crate::{Error, Features};

/// How a lane chooses its steps.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Rule {
    /// Distance over gradients, with c and r.
    Distance { time: f64, start: f64 },
    /// Normalised, with η.
    Normalised { rate: f64 },
    /// No lane: where lanes have G it keeps Σ h·x̂², from which the spread of a feature is known.
    Spread,
}

/// A lane: its rule, and whether it sees raw or centred features.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lane {
    /// What it is called in reports.
    pub(super) name: &'static str,
    rule: Rule,
    kind: usize,
}

impl Lane {
    const fn is_by_distance(&self) -> bool {
        matches!(self.rule, Rule::Distance { .. })
    }

    /// The flow time of a round of importance 1, s being the deviation of labels.
    pub(super) fn time(&self, deviation: f64) -> f64 {
        match self.rule {
            Rule::Distance { time, .. } => time,
            Rule::Normalised { rate } => rate * deviation,
            Rule::Spread => 0.0,
        }
    }
}

const fn distance(name: &'static str, kind: usize, time: f64, start: f64) -> Lane {
    Lane { name, rule: Rule::Distance { time, start }, kind }
}

const fn normalised(name: &'static str, kind: usize, rate: f64) -> Lane {
    Lane { name, rule: Rule::Normalised { rate }, kind }
}

/// Which lanes there are: a vector of W, those by distance first; the last one may be no lane.
pub(super) trait LaneLayout<const W: usize>: Send + Sync + 'static {
    /// In what it is worked on.
    type Wide: F32xN<W>;
    /// The vector.
    const VECTOR: [Lane; W];
    /// Those that are lanes.
    const LANES: &'static [Lane];
}

/// Seven lanes, and the spread of features.
pub(super) enum Seven {}

impl LaneLayout<8> for Seven {
    type Wide = Avx2F32x8;
    const VECTOR: [Lane; 8] = [
        distance("distance 2, centred", CENTRED, 2.0, 0.1),
        distance("distance 0.5, centred", CENTRED, 0.5, 0.5),
        distance("distance 2, raw", RAW, 2.0, 0.01),
        normalised("normalised 2, centred", CENTRED, 2.0),
        normalised("normalised 4, raw", RAW, 4.0),
        normalised("normalised 64, raw", RAW, 64.0),
        normalised("normalised 0.5, centred", CENTRED, 0.5),
        Lane { name: "spread", rule: Rule::Spread, kind: CENTRED },
    ];
    const LANES: &'static [Lane] = Self::VECTOR.split_at(7).0;
}

/// Four lanes.
pub(super) enum Four {}

impl LaneLayout<4> for Four {
    type Wide = Avx2F32x4;
    const VECTOR: [Lane; 4] = [
        distance("distance 0.5, centred", CENTRED, 0.5, 0.5),
        distance("distance 2, raw", RAW, 2.0, 0.01),
        normalised("normalised 2, centred", CENTRED, 2.0),
        normalised("normalised 32, raw", RAW, 32.0),
    ];
    const LANES: &'static [Lane] = &Self::VECTOR;
}

/// Of each of the four lanes, which of the seven goes on as it.
pub(super) const KEPT: [usize; 4] = [1, 2, 3, 5];

/// Seven lanes.
pub(super) type SevenLanes = Lanes<Seven, 8, 8>;
/// Four lanes.
pub(super) type FourLanes = Lanes<Four, 4, 2>;

/// What scales all rates, and the units that an entry's numbers are in: powers of two near the first
/// label and gradient, so that f32 holds what follows; 0 before.
#[derive(Debug, Clone, Copy, Default)]
struct Norms {
    /// Σ h.
    total: f64,
    /// N, of raw and of centred features.
    squares: [f64; 2],
    label_unit: f64,
    gradient_unit: f64,
    /// Rounds with an update.
    rounds: u64,
}

impl Norms {
    /// √(Σh/N), of raw and of centred features.
    fn multipliers(&self) -> [f64; 2] {
        self.squares.map(|squares| if squares > 0.0 { (self.total / squares).sqrt() } else { 0.0 })
    }

    /// The weight with which a row counts among those that it is predicted from: the mean of those
    /// before. Its own weight, which may depend on its label, must not enter its prediction.
    fn usual_weight(&self) -> f32 {
        if self.rounds == 0 { 1.0 } else { as_weight(self.total / self.rounds as f64) }
    }
}

/// As entries count it.
fn as_weight(h: f64) -> f32 {
    h.clamp(1e-30, 1e30) as f32
}

/// The power of two next to a size > 0.
fn power_of_two(size: f64) -> f64 {
    libm::exp2(libm::round(libm::log2(size)))
}

/// The lanes of a form. Of a vector of W those that go by distance are among the first D.
pub(super) struct Lanes<F, const W: usize, const D: usize> {
    table: ParameterTable<LaneEntry<W, D>>,
    norms: Norms,
    row: GatheredRow,
    /// x̂·rate of each feature of the round and of each lane.
    directions: Vec<[f32; W]>,
    form: std::marker::PhantomData<F>,
}

/// A number in an entry.
type Place<const W: usize, const D: usize> = Box<dyn Fn(&mut LaneEntry<W, D>) -> &mut f32>;

/// What the learner asks of its lanes, whatever their form.
pub(super) trait LanePasses: Send + Sync {
    /// The lanes.
    fn lanes(&self) -> &'static [Lane];

    /// ⟨w_k, x⟩ of each lane for a row to come; writes the centred x̂ that it is made of.
    fn dot(&self, x: Features<'_>, scores: &mut [f64], seen: &mut Vec<f32>);

    /// ⟨w_k, x⟩ of each lane at the beginning of a round of importance h; then takes in the features,
    /// not yet the label.
    fn begin(&mut self, x: Features<'_>, h: f64, scores: &mut [f64]);

    /// Writes the centred x̂ of the round as it was predicted from, and now that its features have been taken in.
    fn sizes(&self, seen: &mut Vec<f32>, sizes: &mut Vec<f32>);

    /// Takes in each lane's gradient g_k; writes Q_k, how far its score moves for u_k = 1. `deviation`
    /// is that of labels, `usual` how steep the loss is at that distance.
    fn prepare(&mut self, g: &[f64], h: f64, deviation: f64, usual: f64, q: &mut [f64]);

    /// w_k += u_k·x·rate_k.
    fn advance(&mut self, u: &[f64]);

    /// Of each feature Σ share_k·w_k in raw units, and what centred x̂ = 1 is in raw units; 0 for one that was not seen.
    fn mixed(&self, indices: &[u32], shares: &[f64]) -> Vec<(f64, f64)>;

    /// The deviation of a feature that lanes see centred, if there is room to keep it.
    fn deviation(&self, index: u32) -> Option<f64>;

    /// The bytes of all entries.
    fn bytes(&self) -> usize;

    /// The four lanes among these, if there are more.
    fn narrowed(&self) -> Option<Box<dyn LanePasses>>;

    /// Saves or loads what is needed to continue to the bit.
    fn persist(&mut self, archive: &mut Archive) -> Result<(), Error>;
}

impl<F: LaneLayout<W>, const W: usize, const D: usize> Default for Lanes<F, W, D> {
    fn default() -> Self {
        Self {
            table: ParameterTable::default(),
            norms: Norms::default(),
            row: GatheredRow::default(),
            directions: Vec::new(),
            form: std::marker::PhantomData,
        }
    }
}

impl<F: LaneLayout<W>, const W: usize, const D: usize> Lanes<F, W, D> {
    /// What differs from lane to lane, so that all lanes are worked on alike.
    const MASKS: Masks<W> = {
        let mut masks = Masks { kinds: [RAW; W], raw: [0; W], distance: [0; W] };
        let mut lane = 0;
        while lane < W {
            masks.kinds[lane] = F::VECTOR[lane].kind;
            masks.raw[lane] = if F::VECTOR[lane].kind == RAW { u32::MAX } else { 0 };
            masks.distance[lane] = if F::VECTOR[lane].is_by_distance() { u32::MAX >> 1 } else { 0 };
            lane += 1;
        }
        masks
    };

    fn finish(&self, sums: [f64; W], scores: &mut [f64]) {
        scores.iter_mut().zip(sums).for_each(|(score, sum)| *score = sum * self.norms.label_unit);
    }

    /// What the rates of each lane are measured with beside an entry's own R̂ and G: of lanes by
    /// distance the least R̂, of the others the numerator.
    fn numerators(&self, deviation: f64) -> [f32; W] {
        let multipliers = self.norms.multipliers();
        let labels = deviation / self.norms.label_unit;
        let mut numerators = [0.0; W];
        for (numerator, lane) in numerators.iter_mut().zip(&F::VECTOR) {
            let size = match lane.rule {
                Rule::Distance { start, .. } => start * labels * multipliers[lane.kind],
                Rule::Normalised { .. } => multipliers[lane.kind],
                Rule::Spread => 0.0,
            };
            *numerator = smaller(size, f64::from(LARGEST_WEIGHT)) as f32;
        }
        numerators
    }

    /// The columns of a saved table, and where in an entry they belong.
    fn columns() -> Vec<(String, Place<W, D>)> {
        let mut columns: Vec<(String, Place<W, D>)> = vec![
            ("count".to_owned(), Box::new(|entry| &mut entry.past.count)),
            ("mean".to_owned(), Box::new(|entry| &mut entry.past.mean)),
            ("largest.raw".to_owned(), Box::new(|entry| &mut entry.largest[RAW])),
            ("largest.centred".to_owned(), Box::new(|entry| &mut entry.largest[CENTRED])),
            ("recent.raw".to_owned(), Box::new(|entry| &mut entry.past.recent[RAW])),
            ("recent.centred".to_owned(), Box::new(|entry| &mut entry.past.recent[CENTRED])),
        ];
        for lane in 0..F::LANES.len() {
            columns.push((format!("lane{lane}.weight"), Box::new(move |entry| &mut entry.weights[lane])));
            columns.push((format!("lane{lane}.squares"), Box::new(move |entry| &mut entry.squares[lane])));
        }
        for lane in (0..D).filter(|&lane| F::VECTOR[lane].is_by_distance()) {
            columns.push((format!("lane{lane}.distance"), Box::new(move |entry| &mut entry.distances[lane])));
        }
        if F::LANES.len() < W {
            columns.push(("spread".to_owned(), Box::new(|entry| &mut entry.squares[W - 1])));
        }
        columns
    }

    /// The unit of a lane's rates: R̂ is in units of the label.
    fn unit(&self, lane: usize) -> f64 {
        if F::VECTOR[lane].is_by_distance() { self.norms.label_unit } else { 1.0 }
    }
}

impl<F: LaneLayout<W>, const W: usize, const D: usize> LanePasses for Lanes<F, W, D> {
    fn lanes(&self) -> &'static [Lane] {
        F::LANES
    }

    fn dot(&self, x: Features<'_>, scores: &mut [f64], seen: &mut Vec<f32>) {
        let usual = self.norms.usual_weight();
        let total = DenseCounts::new(self.norms.total + f64::from(usual));
        let dither = Dither::of(self.norms.rounds + 1);
        let mut sums = [0.0; W];
        seen.clear();
        for (&index, (entry, value)) in x.indices().iter().zip(self.table.row(x)) {
            let count = lane_entry::counted(entry.past.count, usual, dither);
            let mean = lane_entry::moved(entry.past.mean, value, entry.largest[CENTRED], usual / count);
            let centred = lane_entry::centred(index, value, count, mean, entry.largest[RAW], total);
            let bounded =
                [lane_entry::bounded(value, entry.largest[RAW]), lane_entry::bounded(centred, entry.largest[CENTRED])];
            seen.push(bounded[CENTRED]);
            for lane in 0..W {
                sums[lane] += f64::from(entry.weights[lane] * bounded[Self::MASKS.kinds[lane]]);
            }
        }
        self.finish(sums, scores);
    }

    fn begin(&mut self, x: Features<'_>, h: f64, scores: &mut [f64]) {
        let usual = self.norms.usual_weight();
        let total = DenseCounts::new(self.norms.total + f64::from(usual));
        self.norms.rounds += 1;
        let h = as_weight(h);
        let weighing = Weighing { usual, total, h, dither: Dither::of(self.norms.rounds) };
        self.norms.total += f64::from(h);
        let (Self { table, row, .. }, masks) = (&mut *self, &Self::MASKS);
        let (sums, norms) = f32xn::run::<W, F::Wide, _>(Begin { table, row, masks, x, weighing });
        self.norms.squares.iter_mut().zip(norms).for_each(|(sum, norm)| *sum += f64::from(h) * norm);
        self.finish(sums, scores);
    }

    fn sizes(&self, seen: &mut Vec<f32>, sizes: &mut Vec<f32>) {
        self.row.sizes(seen, sizes);
    }

    fn prepare(&mut self, g: &[f64], h: f64, deviation: f64, usual: f64, q: &mut [f64]) {
        let steepest = g.iter().fold(0.0, |most: f64, g| most.max(g.abs()));
        if self.norms.label_unit == 0.0 && deviation > 0.0 {
            self.norms.label_unit = power_of_two(deviation);
        }
        if self.norms.gradient_unit == 0.0 && steepest > 0.0 {
            // Not of the first gradient alone: it may be what rounding left of 0.
            self.norms.gradient_unit = power_of_two(steepest.max(usual));
        }
        self.directions.clear();
        if steepest == 0.0 || self.norms.label_unit == 0.0 {
            q.fill(0.0);
            return;
        }
        let dither = Dither::of(self.norms.rounds);
        let mut squares = [0.0; W];
        for (lane, square) in squares.iter_mut().enumerate() {
            let slope = g.get(lane).map_or(1.0, |g| g / self.norms.gradient_unit);
            *square = (h * slope * slope).min(f64::from(LARGEST)) as f32;
        }
        let numerators = self.numerators(deviation);
        let (Self { table, row, directions, .. }, masks) = (&mut *self, &Self::MASKS);
        let walk = Prepare { table, row, masks, directions, squares, numerators, dither };
        let sums = f32xn::run::<W, F::Wide, _>(walk);
        for (lane, q) in q.iter_mut().enumerate() {
            *q = sums[lane] * (self.unit(lane) / self.norms.gradient_unit);
        }
    }

    fn advance(&mut self, u: &[f64]) {
        let mut steps = [0.0f32; W];
        for (lane, (step, u)) in steps.iter_mut().zip(u).enumerate() {
            let in_units = u * (self.unit(lane) / self.norms.label_unit / self.norms.gradient_unit);
            *step = in_units.clamp(-f64::from(LARGEST), f64::from(LARGEST)) as f32;
        }
        let (Self { table, row, directions, .. }, masks) = (self, &Self::MASKS);
        f32xn::run::<W, F::Wide, _>(Advance { table, row, masks, directions, steps });
    }

    fn mixed(&self, indices: &[u32], shares: &[f64]) -> Vec<(f64, f64)> {
        let weight = |entry: &LaneEntry<W, D>, lane: usize| {
            let largest = f64::from(entry.largest[Self::MASKS.kinds[lane]]);
            if largest > 0.0 { f64::from(entry.weights[lane]) * self.norms.label_unit / largest } else { 0.0 }
        };
        let mixed = |entry: LaneEntry<W, D>| {
            let weights = shares.iter().enumerate().map(|(lane, share)| share * weight(&entry, lane));
            (weights.sum(), f64::from(entry.largest[CENTRED]))
        };
        self.table.each(indices).map(mixed).collect()
    }

    fn deviation(&self, index: u32) -> Option<f64> {
        let entry = self.table.get(index);
        let is_known = F::LANES.len() < W
            && entry.past.count > 0.0
            && DenseCounts::new(self.norms.total).is_dense(index, entry.past.count);
        is_known.then(|| f64::from(entry.largest[CENTRED]) * f64::from(entry.squares[W - 1] / entry.past.count).sqrt())
    }

    fn bytes(&self) -> usize {
        self.table.len() * size_of::<LaneEntry<W, D>>()
    }

    fn narrowed(&self) -> Option<Box<dyn LanePasses>> {
        if W == KEPT.len() {
            return None;
        }
        let table = self.table.map(|entry| LaneEntry {
            weights: KEPT.map(|lane| entry.weights[lane]),
            squares: KEPT.map(|lane| entry.squares[lane]),
            distances: [KEPT[0], KEPT[1]].map(|lane| entry.distances[lane]),
            largest: entry.largest,
            past: entry.past,
        });
        Some(Box::new(FourLanes { table, norms: self.norms, ..FourLanes::default() }))
    }

    fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        let norms = &mut self.norms;
        archive.part("lanes", |archive| {
            archive.number("total", &mut norms.total)?;
            archive.number("squares.raw", &mut norms.squares[RAW])?;
            archive.number("squares.centred", &mut norms.squares[CENTRED])?;
            visit_fields!(archive.number(norms.label_unit, norms.gradient_unit));
            archive.count("rounds", &mut norms.rounds)
        })?;
        let columns = Self::columns();
        let fields: Vec<_> = columns.iter().map(|(name, of)| (name.as_str(), Field::F32(of))).collect();
        self.table.persist(archive, |entry| entry.past.count > 0.0, &fields)
    }
}
