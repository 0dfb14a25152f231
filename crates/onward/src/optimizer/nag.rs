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
//! It has no regret bound of its own: the universal certificate is printed.

use bytemuck::Zeroable;

use super::{Optimizer, Step, expect_rate};
use crate::domain::saturate;
use crate::learner::{Clip, LearnerEntry, Linear, Losses, ParameterEntry, STANDARDISE};
use crate::model::{Column, State};
use crate::regret::{Guarantee, GuaranteeKind};
use crate::sum::LANES;
use crate::table::Table;
use crate::{Error, Features, sum};

/// What an update touches, in 16 bytes: four slots a cache line.
#[derive(Debug, Clone, Copy, Zeroable)]
#[repr(C)]
struct Slot {
    /// G_i in units of M_i², in f64: it neither stalls nor overflows.
    squares: f64,
    /// ŵ_i = w_i·M_i.
    weight: f32,
    /// M_i; 0 before the feature was seen.
    scale: f32,
}

impl Slot {
    /// x_i/M_i.
    #[inline]
    fn normalised(&self, value: f32) -> f64 {
        if self.scale > 0.0 { f64::from(value) / f64::from(self.scale) } else { 0.0 }
    }

    /// w_i·x_i.
    #[inline]
    fn product(&self, value: f32) -> f64 {
        f64::from(self.weight) * self.normalised(value)
    }

    /// Takes in a value: M_i, G_i.
    #[inline]
    fn widen(&mut self, value: f32) {
        let size = value.abs();
        if size > self.scale {
            let ratio = f64::from(self.scale) / f64::from(size);
            self.squares *= ratio * ratio;
            self.scale = size;
        }
    }

    #[inline]
    fn rate(&self) -> f64 {
        if self.squares > 0.0 { 1.0 / self.squares.sqrt() } else { 0.0 }
    }
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
    /// Where the slots of this round's features are: looked up once instead of three times,
    /// a tenth of the time of a round.
    places: Vec<usize>,
    /// x̂_i/√G_i of this round's features: computed once, for a root and two divisions a feature
    /// are a third of it.
    directions: Vec<f64>,
}

impl Nag {
    /// With this η (0.5 in Vowpal Wabbit).
    ///
    /// # Errors
    /// When η is not from 1e-30 to 1e30.
    pub fn new(eta: f64) -> Result<Self, Error> {
        expect_rate("eta", eta)?;
        let (places, directions) = (Vec::new(), Vec::new());
        Ok(Self { eta, table: Table::default(), squares: 0.0, weight: 0.0, multiplier: 0.0, places, directions })
    }
}

impl Optimizer for Nag {
    fn dot(&self, x: Features<'_>) -> f64 {
        sum::sum(x.iter().map(|(index, value)| self.table.get(index).product(value)))
    }

    fn begin(&mut self, x: Features<'_>) -> f64 {
        self.places.clear();
        sum::sum(x.iter().map(|(index, value)| {
            let place = self.table.place(index);
            self.places.push(place);
            self.table.at(place).product(value)
        }))
    }

    fn prepare(&mut self, g: f64, h: f64, x: Features<'_>) -> Step {
        if g == 0.0 {
            return Step::Flow { time: 0.0, q: 0.0 };
        }
        self.directions.clear();
        let (mut squares, mut q) = ([0.0; LANES], [0.0; LANES]);
        for (at, (&place, &value)) in self.places.iter().zip(x.values()).enumerate() {
            let slot = self.table.at(place);
            slot.widen(value);
            let normalised = slot.normalised(value);
            let square = normalised * normalised;
            slot.squares += h * g * g * square;
            let rate = slot.rate();
            squares[at % LANES] += square;
            q[at % LANES] += square * rate;
            self.directions.push(normalised * rate);
        }
        self.squares += h * sum::join(squares);
        self.weight += h;
        self.multiplier = if self.squares > 0.0 { (self.weight / self.squares).sqrt() } else { 0.0 };
        Step::Flow { time: self.eta * h, q: self.multiplier * sum::join(q) }
    }

    fn advance(&mut self, u: f64, _x: Features<'_>) {
        if u == 0.0 {
            return;
        }
        let u = u * self.multiplier;
        for (&place, direction) in self.places.iter().zip(&self.directions) {
            let slot = self.table.at(place);
            slot.weight = saturate(f64::from(slot.weight) + u * direction);
        }
    }

    fn weight(&self, index: u32) -> f64 {
        let slot = self.table.get(index);
        if slot.scale > 0.0 { f64::from(slot.weight) / f64::from(slot.scale) } else { 0.0 }
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
        state.set_column("squares", Column::F64(slots().map(|slot| slot.squares).collect()));
        state.set_column("index", Column::U32(indices));
        state
    }

    fn restore(&mut self, state: &State) -> Result<(), Error> {
        self.squares = state.number("squares")?;
        self.weight = state.number("weight")?;
        let (weights, scales, squares) = (state.f32s("weight")?, state.f32s("scale")?, state.f64s("squares")?);
        if weights.len() != scales.len() || weights.len() != squares.len() {
            return Err(Error::model("the columns of nag differ in length: the model is damaged"));
        }
        let slots = weights.iter().zip(scales).zip(squares);
        let slots = slots.map(|((&weight, &scale), &squares)| Slot { squares, weight, scale });
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
