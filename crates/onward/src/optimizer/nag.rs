//! NAG: the normalised, adaptive, importance-invariant rule that is Vowpal
//! Wabbit's default (Ross, Mineiro, Langford 2013; Karampatziakis, Langford 2011).
//!
//! Each feature has the largest value M_i seen so far, and x̂_i = x_i/M_i. In
//! these units, for a round with derivative g ≠ 0 and importance h:
//! G_i += h g² x̂_i²; N += h Σ x̂_i²; n += h; and ŵ_i moves by gradient flow for
//! time η·h at the rates x̂_i·√(n/N)/√G_i. When M_i grows, G_i is rescaled to the
//! new unit and ŵ_i stays: w_i = ŵ_i/M_i, that is, the weight falls as the scale
//! rises. Features may be in any units: the prediction is the same, but for what
//! is not known before a larger value comes.
//!
//! Kept are w_i itself and S_i = G_i·M_i², which does not change when M_i grows. So
//! a prediction divides by nothing, and the rate of w_i is √(n/N)/(M_i√S_i): a root and
//! a division a feature, from which x̂_i = x_i/(M_i√S_i)·√S_i comes too.
//!
//! It has no regret bound of its own: the universal certificate is printed.

// Of two halves of an eight, both are worked on alike.
#![allow(clippy::needless_range_loop)]

use bytemuck::{Pod, Zeroable};

use crate::archive::{Archive, Field};
use crate::guarantee::{Guarantee, GuaranteeKind};
use crate::numeric::sum::{self, LANES};
use crate::parameter::{Description, ParameterDescriptor, positive};
use crate::protocol::{Clip, LearnerDescriptor, Linear, Losses, Optimizer, Promise, STANDARDISE, Step};
use crate::simd::f64x4::{self, FOUR, Record16, by_f64x4};
use crate::storage::table::{ParameterTable, Positions, RowPositions, records};
use crate::{Error, Features};

/// What an update touches, in 16 bytes: four entries a cache line.
#[derive(Debug, Clone, Copy, Zeroable, Pod)]
#[repr(C)]
struct NagEntry {
    /// S_i = Σ h g² x_i² = G_i·M_i², in f64: it neither stalls nor overflows.
    gradients: f64,
    /// w_i.
    weight: f32,
    /// M_i; 0 before the feature was seen.
    scale: f32,
}

/// Eight features of the row that is being learnt from, side by side: they are worked on together.
#[derive(Debug, Clone, Copy, Zeroable)]
#[repr(C)]
struct NagEight {
    value: [[f64; FOUR]; 2],
    gradients: [[f64; FOUR]; 2],
    /// x_i/(M_i√S_i), what the weight moves by for u = 1.
    direction: [[f64; FOUR]; 2],
    weight: [[f32; FOUR]; 2],
    scale: [[f32; FOUR]; 2],
}

/// Normalised adaptive gradient with importance-aware steps.
#[derive(Debug, Clone)]
pub struct Nag {
    eta: f64,
    table: ParameterTable<NagEntry>,
    /// N = Σ h Σ x̂².
    squares: f64,
    /// n = Σ h, over rounds with a gradient.
    weight: f64,
    /// √(n/N) of this round.
    multiplier: f64,
    /// Whether this round has a gradient.
    moves: bool,
    /// Where the entries of this round's features are.
    positions: Positions,
    /// What was in them; the rest of the last eight is 0.
    row: Vec<NagEight>,
    /// Whether one of them has a larger value than ever.
    is_wider: bool,
}

impl Nag {
    /// With this η (0.5 in Vowpal Wabbit).
    ///
    /// # Errors
    /// When η is not from 1e-30 to 1e30.
    pub fn new(eta: f64) -> Result<Self, Error> {
        ETA.check(eta)?;
        Ok(Self {
            eta,
            table: ParameterTable::default(),
            squares: 0.0,
            weight: 0.0,
            multiplier: 0.0,
            moves: false,
            positions: Positions::default(),
            row: Vec::new(),
            is_wider: false,
        })
    }
}

impl NagEight {
    /// Takes in an entry, where fewer than eight are left.
    fn take(&mut self, at: usize, entry: NagEntry, value: f32) {
        let (half, at) = (at / FOUR, at % FOUR);
        self.value[half][at] = f64::from(value);
        self.gradients[half][at] = entry.gradients;
        self.weight[half][at] = entry.weight;
        self.scale[half][at] = entry.scale;
    }

    fn entry(&self, at: usize) -> NagEntry {
        let (half, at) = (at / FOUR, at % FOUR);
        NagEntry { gradients: self.gradients[half][at], weight: self.weight[half][at], scale: self.scale[half][at] }
    }
}

/// Reads the entries of a row. Gives ⟨w, x⟩, and whether a value is larger than any before.
fn gather(
    entries: &mut [NagEntry],
    positions: RowPositions<'_>,
    values: &[f32],
    row: &mut Vec<NagEight>,
) -> (f64, bool) {
    row.resize(positions.all().len().div_ceil(LANES), NagEight::zeroed());
    let (_, last_places) = positions.all().as_chunks::<LANES>();
    let (_, last_values) = values.as_chunks::<LANES>();
    if !last_places.is_empty()
        && let Some(last) = row.last_mut()
    {
        *last = NagEight::zeroed();
        for (at, (&position, &value)) in last_places.iter().zip(last_values).enumerate() {
            last.take(at, entries[position as usize], value);
        }
    }
    gather_eights(records(entries, positions), positions.all(), values, row)
}

by_f64x4! {
    /// The same, where what is not a whole eight has been read.
    fn gather_eights<Q>(entries: &[Record16], positions: &[u32], values: &[f32], row: &mut [NagEight]) -> (f64, bool) {
        let (mut products, mut is_wider) = ([Q::all(0.0); 2], false);
        let (positions, _) = positions.as_chunks::<LANES>();
        let (values, _) = values.as_chunks::<LANES>();
        let (whole, last) = row.split_at_mut(positions.len());
        for (eight, (positions, values)) in whole.iter_mut().zip(positions.iter().zip(values)) {
            let positions: &[[u32; FOUR]; 2] = bytemuck::must_cast_ref(positions);
            let values: &[[f32; FOUR]; 2] = bytemuck::must_cast_ref(values);
            for half in 0..2 {
                // SAFETY: `records` has seen that all positions are there.
                #[allow(unsafe_code)]
                let (gradients, others) = unsafe { Q::gather(entries, &positions[half]) };
                let (weight, scale) = others.unzip();
                let value = Q::widen(Q::load_f32(&values[half]));
                value.store(&mut eight.value[half]);
                gradients.store(&mut eight.gradients[half]);
                Q::store_f32(weight, &mut eight.weight[half]);
                Q::store_f32(scale, &mut eight.scale[half]);
                products[half] = products[half].add(Q::widen(weight).times(value));
                is_wider |= value.size().is_above(Q::widen(scale));
            }
        }
        for eight in last {
            for half in 0..2 {
                let value = Q::load(&eight.value[half]);
                let weight = Q::widen(Q::load_f32(&eight.weight[half]));
                products[half] = products[half].add(weight.times(value));
                is_wider |= value.size().is_above(Q::widen(Q::load_f32(&eight.scale[half])));
            }
        }
        (f64x4::join(products), is_wider)
    }
}

by_f64x4! {
    /// Where a value is larger than any before: M_i grows, and ŵ_i = w_i·M_i stays.
    fn widen<Q>(row: &mut [NagEight]) {
        for eight in row {
            for half in 0..2 {
                let size = Q::load(&eight.value[half]).size();
                let (weight, scale) = (Q::load_f32(&eight.weight[half]), Q::load_f32(&eight.scale[half]));
                let (weight, scale) = (Q::widen(weight), Q::widen(scale));
                let shrunk = weight.times(scale.over(size));
                Q::store_f32(shrunk.where_above(size, scale, weight).saturate(), &mut eight.weight[half]);
                // The size of an f32.
                Q::store_f32(size.where_above(size, scale, scale).saturate(), &mut eight.scale[half]);
            }
        }
    }
}

by_f64x4! {
    /// Takes in `square` = h·g², and sets the directions. Gives Σ x̂² and Σ x²·rate.
    fn turn<Q>(row: &mut [NagEight], square: f64) -> (f64, f64) {
        let (zero, one, square) = (Q::all(0.0), Q::all(1.0), Q::all(square));
        let (mut squares, mut q) = ([zero; 2], [zero; 2]);
        for eight in row {
            for half in 0..2 {
                let value = Q::load(&eight.value[half]);
                let gradients = Q::load(&eight.gradients[half]).add(square.times(value.times(value)));
                let root = gradients.root();
                let product = root.times(Q::widen(Q::load_f32(&eight.scale[half])));
                let direction = value.times(one.over(product).where_above(product, zero, zero));
                // x_i/M_i without a division of its own.
                let normalised = direction.times(root);
                squares[half] = squares[half].add(normalised.times(normalised));
                q[half] = q[half].add(value.times(direction));
                gradients.store(&mut eight.gradients[half]);
                direction.store(&mut eight.direction[half]);
            }
        }
        (f64x4::join(squares), f64x4::join(q))
    }
}

/// w_i += u·direction_i, and all goes back to the entries.
fn step(entries: &mut [NagEntry], positions: RowPositions<'_>, row: &mut [NagEight], u: f64) {
    step_eights(records(entries, positions), positions.all(), row, u);
    let (_, last_places) = positions.all().as_chunks::<LANES>();
    if let Some(last) = row.last() {
        for (at, &position) in last_places.iter().enumerate() {
            entries[position as usize] = last.entry(at);
        }
    }
}

by_f64x4! {
    /// The same, but that what is not a whole eight stays in the row.
    fn step_eights<Q>(entries: &mut [Record16], positions: &[u32], row: &mut [NagEight], u: f64) {
        let u = Q::all(u);
        let (positions, _) = positions.as_chunks::<LANES>();
        let (whole, last) = row.split_at_mut(positions.len());
        for (eight, positions) in whole.iter().zip(positions) {
            let positions: &[[u32; FOUR]; 2] = bytemuck::must_cast_ref(positions);
            for half in 0..2 {
                let weight = Q::widen(Q::load_f32(&eight.weight[half]));
                let weight = weight.add(u.times(Q::load(&eight.direction[half]))).saturate();
                let others = Q::zip(weight, Q::load_f32(&eight.scale[half]));
                // SAFETY: `records` has seen that all positions are there.
                #[allow(unsafe_code)]
                unsafe { Q::scatter(entries, &positions[half], Q::load(&eight.gradients[half]), others) }
            }
        }
        for eight in last {
            for half in 0..2 {
                let weight = Q::widen(Q::load_f32(&eight.weight[half]));
                let weight = weight.add(u.times(Q::load(&eight.direction[half]))).saturate();
                Q::store_f32(weight, &mut eight.weight[half]);
            }
        }
    }
}

impl Optimizer for Nag {
    fn dot(&self, x: Features<'_>) -> f64 {
        sum::sum(self.table.row(x).map(|(entry, value)| f64::from(entry.weight) * f64::from(value)))
    }

    fn prefetch(&mut self, x: Features<'_>) {
        self.table.prefetch(x);
    }

    fn begin(&mut self, x: Features<'_>) -> f64 {
        self.table.locate(x, &mut self.positions);
        let (score, is_wider) = gather(self.table.all(), self.positions.of(x), x.values(), &mut self.row);
        self.is_wider = is_wider;
        score
    }

    fn prepare(&mut self, g: f64, h: f64, _x: Features<'_>) -> Step {
        self.moves = g != 0.0;
        if !self.moves {
            return Step::Flow { time: 0.0, q: 0.0 };
        }
        if self.is_wider {
            widen(&mut self.row);
        }
        let (squares, q) = turn(&mut self.row, h * g * g);
        self.squares += h * squares;
        self.weight += h;
        self.multiplier = if self.squares > 0.0 { (self.weight / self.squares).sqrt() } else { 0.0 };
        Step::Flow { time: self.eta * h, q: self.multiplier * q }
    }

    fn advance(&mut self, u: f64, x: Features<'_>) {
        if self.moves {
            step(self.table.all(), self.positions.of(x), &mut self.row, u * self.multiplier);
        }
    }

    fn weight(&self, index: u32) -> f64 {
        f64::from(self.table.get(index).weight)
    }

    fn weights(&self, indices: &[u32]) -> Vec<f64> {
        self.table.each(indices).map(|entry| f64::from(entry.weight)).collect()
    }

    fn frozen_weights(&self) -> Option<(Vec<u32>, Vec<f64>)> {
        Some(self.table.not_zero(|entry| f64::from(entry.weight)))
    }

    fn guarantee(&self) -> Guarantee {
        Guarantee::none(GuaranteeKind::Own, NONE)
    }

    fn describe(&self) -> String {
        Description::of("nag").with(&ETA, self.eta).into()
    }

    fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        archive.number("squares", &mut self.squares)?;
        archive.number("weight", &mut self.weight)?;
        let fields = [
            ("weight", Field::F32(&|entry: &mut NagEntry| &mut entry.weight)),
            ("scale", Field::F32(&|entry| &mut entry.scale)),
            ("gradients", Field::F64(&|entry| &mut entry.gradients)),
        ];
        self.table.persist(archive, |entry| entry.scale > 0.0, &fields)
    }
}

const NONE: &str = "nag has no regret bound of its own: the universal certificate holds";

const ETA: ParameterDescriptor = positive("eta").default("0.5").meaning("learning rate").remedy("a smaller eta");

/// `nag` by name.
pub(crate) const ENTRY: LearnerDescriptor = LearnerDescriptor {
    name: "nag",
    summary: "normalised adaptive importance-aware gradient, Vowpal Wabbit's default rule",
    losses: Losses::Convex,
    parameters: &[ETA, STANDARDISE],
    promises: &[Promise::never("", NONE), Promise::other("eta=1")],
    build: |arguments| {
        let optimizer = Nag::new(arguments.number("eta"))?;
        Ok(Box::new(Linear::new(arguments.loss(), optimizer, Clip::Plausible)))
    },
    plan: |_, _| Ok(Guarantee::none(GuaranteeKind::Own, "no theorem is known for it; the universal certificate holds")),
};
