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
use crate::protocol::{Clip, LearnerEntry, Linear, Losses, Optimizer, ParameterEntry, STANDARDISE, Step, expect_rate};
use crate::simd::f64x4::{self, FOUR, Words, by_quads};
use crate::storage::table::{Located, Places, Table, words};
use crate::{Error, Features};

/// What an update touches, in 16 bytes: four slots a cache line.
#[derive(Debug, Clone, Copy, Zeroable, Pod)]
#[repr(C)]
struct Slot {
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
struct Eight {
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
    table: Table<Slot>,
    /// N = Σ h Σ x̂².
    squares: f64,
    /// n = Σ h, over rounds with a gradient.
    weight: f64,
    /// √(n/N) of this round.
    multiplier: f64,
    /// Whether this round has a gradient.
    moves: bool,
    /// Where the slots of this round's features are.
    places: Places,
    /// What was in them; the rest of the last eight is 0.
    row: Vec<Eight>,
    /// Whether one of them has a larger value than ever.
    is_wider: bool,
}

impl Nag {
    /// With this η (0.5 in Vowpal Wabbit).
    ///
    /// # Errors
    /// When η is not from 1e-30 to 1e30.
    pub fn new(eta: f64) -> Result<Self, Error> {
        expect_rate("eta", eta)?;
        Ok(Self {
            eta,
            table: Table::default(),
            squares: 0.0,
            weight: 0.0,
            multiplier: 0.0,
            moves: false,
            places: Places::default(),
            row: Vec::new(),
            is_wider: false,
        })
    }
}

impl Eight {
    /// Takes in a slot, where fewer than eight are left.
    fn take(&mut self, at: usize, slot: Slot, value: f32) {
        let (half, at) = (at / FOUR, at % FOUR);
        self.value[half][at] = f64::from(value);
        self.gradients[half][at] = slot.gradients;
        self.weight[half][at] = slot.weight;
        self.scale[half][at] = slot.scale;
    }

    fn slot(&self, at: usize) -> Slot {
        let (half, at) = (at / FOUR, at % FOUR);
        Slot { gradients: self.gradients[half][at], weight: self.weight[half][at], scale: self.scale[half][at] }
    }
}

/// Reads the slots of a row. Gives ⟨w, x⟩, and whether a value is larger than any before.
fn gather(slots: &mut [Slot], places: Located<'_>, values: &[f32], row: &mut Vec<Eight>) -> (f64, bool) {
    row.resize(places.all().len().div_ceil(LANES), Eight::zeroed());
    let (_, last_places) = places.all().as_chunks::<LANES>();
    let (_, last_values) = values.as_chunks::<LANES>();
    if !last_places.is_empty()
        && let Some(last) = row.last_mut()
    {
        *last = Eight::zeroed();
        for (at, (&place, &value)) in last_places.iter().zip(last_values).enumerate() {
            last.take(at, slots[place as usize], value);
        }
    }
    gather_eights(words(slots, places), places.all(), values, row)
}

by_quads! {
    /// The same, where what is not a whole eight has been read.
    fn gather_eights<Q>(slots: &[Words], places: &[u32], values: &[f32], row: &mut [Eight]) -> (f64, bool) {
        let (mut products, mut is_wider) = ([Q::all(0.0); 2], false);
        let (places, _) = places.as_chunks::<LANES>();
        let (values, _) = values.as_chunks::<LANES>();
        let (whole, last) = row.split_at_mut(places.len());
        for (eight, (places, values)) in whole.iter_mut().zip(places.iter().zip(values)) {
            let places: &[[u32; FOUR]; 2] = bytemuck::must_cast_ref(places);
            let values: &[[f32; FOUR]; 2] = bytemuck::must_cast_ref(values);
            for half in 0..2 {
                // SAFETY: `words` has seen that all places are there.
                #[allow(unsafe_code)]
                let (gradients, others) = unsafe { Q::take(slots, &places[half]) };
                let (weight, scale) = others.unzip();
                let value = Q::widen(Q::load_narrow(&values[half]));
                value.store(&mut eight.value[half]);
                gradients.store(&mut eight.gradients[half]);
                Q::store_narrow(weight, &mut eight.weight[half]);
                Q::store_narrow(scale, &mut eight.scale[half]);
                products[half] = products[half].add(Q::widen(weight).times(value));
                is_wider |= value.size().is_above(Q::widen(scale));
            }
        }
        for eight in last {
            for half in 0..2 {
                let value = Q::load(&eight.value[half]);
                let weight = Q::widen(Q::load_narrow(&eight.weight[half]));
                products[half] = products[half].add(weight.times(value));
                is_wider |= value.size().is_above(Q::widen(Q::load_narrow(&eight.scale[half])));
            }
        }
        (f64x4::join(products), is_wider)
    }
}

by_quads! {
    /// Where a value is larger than any before: M_i grows, and ŵ_i = w_i·M_i stays.
    fn widen<Q>(row: &mut [Eight]) {
        for eight in row {
            for half in 0..2 {
                let size = Q::load(&eight.value[half]).size();
                let (weight, scale) = (Q::load_narrow(&eight.weight[half]), Q::load_narrow(&eight.scale[half]));
                let (weight, scale) = (Q::widen(weight), Q::widen(scale));
                let shrunk = weight.times(scale.over(size));
                Q::store_narrow(shrunk.where_above(size, scale, weight).saturate(), &mut eight.weight[half]);
                // The size of an f32.
                Q::store_narrow(size.where_above(size, scale, scale).saturate(), &mut eight.scale[half]);
            }
        }
    }
}

by_quads! {
    /// Takes in `square` = h·g², and sets the directions. Gives Σ x̂² and Σ x²·rate.
    fn turn<Q>(row: &mut [Eight], square: f64) -> (f64, f64) {
        let (zero, one, square) = (Q::all(0.0), Q::all(1.0), Q::all(square));
        let (mut squares, mut q) = ([zero; 2], [zero; 2]);
        for eight in row {
            for half in 0..2 {
                let value = Q::load(&eight.value[half]);
                let gradients = Q::load(&eight.gradients[half]).add(square.times(value.times(value)));
                let root = gradients.root();
                let product = root.times(Q::widen(Q::load_narrow(&eight.scale[half])));
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

/// w_i += u·direction_i, and all goes back to the slots.
fn step(slots: &mut [Slot], places: Located<'_>, row: &mut [Eight], u: f64) {
    step_eights(words(slots, places), places.all(), row, u);
    let (_, last_places) = places.all().as_chunks::<LANES>();
    if let Some(last) = row.last() {
        for (at, &place) in last_places.iter().enumerate() {
            slots[place as usize] = last.slot(at);
        }
    }
}

by_quads! {
    /// The same, but that what is not a whole eight stays in the row.
    fn step_eights<Q>(slots: &mut [Words], places: &[u32], row: &mut [Eight], u: f64) {
        let u = Q::all(u);
        let (places, _) = places.as_chunks::<LANES>();
        let (whole, last) = row.split_at_mut(places.len());
        for (eight, places) in whole.iter().zip(places) {
            let places: &[[u32; FOUR]; 2] = bytemuck::must_cast_ref(places);
            for half in 0..2 {
                let weight = Q::widen(Q::load_narrow(&eight.weight[half]));
                let weight = weight.add(u.times(Q::load(&eight.direction[half]))).saturate();
                let others = Q::zip(weight, Q::load_narrow(&eight.scale[half]));
                // SAFETY: `words` has seen that all places are there.
                #[allow(unsafe_code)]
                unsafe { Q::put(slots, &places[half], Q::load(&eight.gradients[half]), others) }
            }
        }
        for eight in last {
            for half in 0..2 {
                let weight = Q::widen(Q::load_narrow(&eight.weight[half]));
                let weight = weight.add(u.times(Q::load(&eight.direction[half]))).saturate();
                Q::store_narrow(weight, &mut eight.weight[half]);
            }
        }
    }
}

impl Optimizer for Nag {
    fn dot(&self, x: Features<'_>) -> f64 {
        sum::sum(self.table.row(x).map(|(slot, value)| f64::from(slot.weight) * f64::from(value)))
    }

    fn expect(&mut self, x: Features<'_>) {
        self.table.expect(x);
    }

    fn begin(&mut self, x: Features<'_>) -> f64 {
        self.table.locate(x, &mut self.places);
        let (score, is_wider) = gather(self.table.all(), self.places.of(x), x.values(), &mut self.row);
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
            step(self.table.all(), self.places.of(x), &mut self.row, u * self.multiplier);
        }
    }

    fn weight(&self, index: u32) -> f64 {
        f64::from(self.table.get(index).weight)
    }

    fn weights(&self, indices: &[u32]) -> Vec<f64> {
        self.table.each(indices).map(|slot| f64::from(slot.weight)).collect()
    }

    fn fixed(&self) -> Option<(Vec<u32>, Vec<f64>)> {
        Some(self.table.not_zero(|slot| f64::from(slot.weight)))
    }

    fn guarantee(&self) -> Guarantee {
        Guarantee::none(GuaranteeKind::Own, "nag has no regret bound of its own: the universal certificate holds")
    }

    fn describe(&self) -> String {
        format!("nag:eta={}", self.eta)
    }

    fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        archive.number("squares", &mut self.squares)?;
        archive.number("weight", &mut self.weight)?;
        let fields = [
            ("weight", Field::F32(&|slot: &mut Slot| &mut slot.weight)),
            ("scale", Field::F32(&|slot| &mut slot.scale)),
            ("gradients", Field::F64(&|slot| &mut slot.gradients)),
        ];
        self.table.persist(archive, |slot| slot.scale > 0.0, &fields)
    }
}

/// `nag` by name.
pub(crate) const ENTRY: LearnerEntry = LearnerEntry {
    name: "nag",
    summary: "normalised adaptive importance-aware gradient, Vowpal Wabbit's default rule",
    losses: Losses::Convex,
    parameters: &[ParameterEntry { name: "eta", default: "0.5", meaning: "learning rate, above 0" }, STANDARDISE],
    build: |arguments| {
        let optimizer = Nag::new(arguments.number("eta")?)?;
        Ok(Box::new(Linear::new(arguments.loss(), optimizer, Clip::Plausible)))
    },
    plan: |_, _| Ok(Guarantee::none(GuaranteeKind::Own, "no theorem is known for it; the universal certificate holds")),
};
