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

use bytemuck::Zeroable;

use super::{Optimizer, Step, expect_rate};
use crate::domain::saturate;
use crate::learner::{Clip, LearnerEntry, Linear, Losses, ParameterEntry, STANDARDISE};
use crate::model::{Column, State};
use crate::regret::{Guarantee, GuaranteeKind};
use crate::sum::LANES;
use crate::table::{Places, Table};
use crate::vector::vectorised;
use crate::{Error, Features, sum};

/// What an update touches, in 16 bytes: four slots a cache line.
#[derive(Debug, Clone, Copy, Zeroable)]
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
    value: [f64; LANES],
    gradients: [f64; LANES],
    /// x_i/(M_i√S_i), what the weight moves by for u = 1.
    direction: [f64; LANES],
    weight: [f32; LANES],
    scale: [f32; LANES],
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

/// Reads the slots of a row.
fn gather(slots: &[Slot], places: &[u32], values: &[f32], row: &mut Vec<Eight>) {
    row.resize(places.len().div_ceil(LANES), Eight::zeroed());
    let (places, last_places) = places.as_chunks::<LANES>();
    let (values, last_values) = values.as_chunks::<LANES>();
    for (eight, (places, values)) in row.iter_mut().zip(places.iter().zip(values)) {
        for at in 0..LANES {
            eight.take(at, slots[places[at] as usize], values[at]);
        }
    }
    if !last_places.is_empty()
        && let Some(last) = row.last_mut()
    {
        *last = Eight::zeroed();
        for (at, (&place, &value)) in last_places.iter().zip(last_values).enumerate() {
            last.take(at, slots[place as usize], value);
        }
    }
}

impl Eight {
    #[inline(always)]
    fn take(&mut self, at: usize, slot: Slot, value: f32) {
        self.value[at] = f64::from(value);
        self.gradients[at] = slot.gradients;
        self.weight[at] = slot.weight;
        self.scale[at] = slot.scale;
    }

    #[inline(always)]
    fn slot(&self, at: usize) -> Slot {
        Slot { gradients: self.gradients[at], weight: self.weight[at], scale: self.scale[at] }
    }
}

vectorised! {
    /// ⟨w, x⟩. Not in one loop with the reading: what was written in parts would be read as a
    /// whole before it has left the processor's queue of writes, which waits for it.
    /// And whether a value is larger than any before.
    fn dot(row: &[Eight]) -> (f64, bool) {
        let (mut products, mut are_wider) = ([0.0; LANES], [false; LANES]);
        for eight in row {
            for at in 0..LANES {
                products[at] += f64::from(eight.weight[at]) * eight.value[at];
                are_wider[at] |= eight.value[at].abs() > f64::from(eight.scale[at]);
            }
        }
        (sum::join(products), are_wider != [false; LANES])
    }
}

/// Where a value is larger than any before: M_i grows, and ŵ_i = w_i·M_i stays.
fn widen(row: &mut [Eight]) {
    for eight in row {
        for at in 0..LANES {
            let size = eight.value[at].abs();
            if size > f64::from(eight.scale[at]) {
                eight.weight[at] = (f64::from(eight.weight[at]) * (f64::from(eight.scale[at]) / size)) as f32;
                // The size of an f32.
                eight.scale[at] = size as f32;
            }
        }
    }
}

vectorised! {
    /// Takes in `square` = h·g², and sets the directions. Gives Σ x̂² and Σ x²·rate.
    fn turn(row: &mut [Eight], square: f64) -> (f64, f64) {
        let (mut squares, mut q) = ([0.0; LANES], [0.0; LANES]);
        for eight in row {
            for at in 0..LANES {
                let value = eight.value[at];
                let gradients = eight.gradients[at] + square * (value * value);
                let root = gradients.sqrt();
                let product = root * f64::from(eight.scale[at]);
                let inverse = 1.0 / product;
                let direction = value * if product > 0.0 { inverse } else { 0.0 };
                // x_i/M_i without a division of its own.
                let normalised = direction * root;
                squares[at] += normalised * normalised;
                q[at] += value * direction;
                eight.gradients[at] = gradients;
                eight.direction[at] = direction;
            }
        }
        (sum::join(squares), sum::join(q))
    }
}

vectorised! {
    /// w_i += u·direction_i.
    fn step(row: &mut [Eight], u: f64) {
        for eight in row {
            for at in 0..LANES {
                eight.weight[at] = saturate(f64::from(eight.weight[at]) + u * eight.direction[at]);
            }
        }
    }
}

/// All goes back to the slots.
fn scatter(slots: &mut [Slot], places: &[u32], row: &[Eight]) {
    let (places, last_places) = places.as_chunks::<LANES>();
    for (eight, places) in row.iter().zip(places) {
        for at in 0..LANES {
            slots[places[at] as usize] = eight.slot(at);
        }
    }
    if let Some(last) = row.last() {
        for (at, &place) in last_places.iter().enumerate() {
            slots[place as usize] = last.slot(at);
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
        gather(self.table.all(), self.places.of(x), x.values(), &mut self.row);
        let (score, is_wider) = dot(&self.row);
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
            step(&mut self.row, u * self.multiplier);
            scatter(self.table.all(), self.places.of(x), &self.row);
        }
    }

    fn weight(&self, index: u32) -> f64 {
        f64::from(self.table.get(index).weight)
    }

    fn weights(&self, indices: &[u32]) -> Vec<f64> {
        self.table.each(indices).map(|slot| f64::from(slot.weight)).collect()
    }

    fn guarantee(&self) -> Guarantee {
        Guarantee::none(GuaranteeKind::Own, "nag has no regret bound of its own: the universal certificate holds")
    }

    fn describe(&self) -> String {
        format!("nag:eta={}", self.eta)
    }

    fn state(&self) -> State {
        let mut state = State::default();
        state.set("squares", self.squares);
        state.set("weight", self.weight);
        let indices = self.table.used(|slot| slot.scale > 0.0);
        let slots = || indices.iter().map(|&index| self.table.get(index));
        state.set_column("weight", Column::F32(slots().map(|slot| slot.weight).collect()));
        state.set_column("scale", Column::F32(slots().map(|slot| slot.scale).collect()));
        state.set_column("gradients", Column::F64(slots().map(|slot| slot.gradients).collect()));
        state.set_column("index", Column::U32(indices));
        state
    }

    fn restore(&mut self, state: &State) -> Result<(), Error> {
        self.squares = state.number("squares")?;
        self.weight = state.number("weight")?;
        let (weights, scales, gradients) = (state.f32s("weight")?, state.f32s("scale")?, state.f64s("gradients")?);
        if weights.len() != scales.len() || weights.len() != gradients.len() {
            return Err(Error::model("the columns of nag differ in length: the model is damaged"));
        }
        let slots = weights.iter().zip(scales).zip(gradients);
        let slots = slots.map(|((&weight, &scale), &gradients)| Slot { gradients, weight, scale });
        self.table = Table::filled(state.u32s("index")?, slots)?;
        Ok(())
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
