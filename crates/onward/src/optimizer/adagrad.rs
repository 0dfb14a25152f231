//! AdaGrad with a diagonal metric, in the mirror-descent form (Duchi, Hazan,
//! Singer 2011; McMahan, Streeter 2010).
//!
//! G_i += z_i²; w_i −= η z_i/√G_i (nothing where G_i = 0).
//!
//! **Guarantee**, for convex losses and every u with ‖u‖_∞ ≤ U: with D =
//! max_t ‖w_t‖_∞ + U, R_T(u) ≤ (D²/(2η) + η) Σ_i √G_i, that is √2·D·Σ√G_i at the
//! best η = D/√2. The largest weight and Σ√G_i are those that occurred.

use bytemuck::Zeroable;

use super::{Optimizer, Step, expect_positive, expect_rate};
use crate::domain::saturate;
use crate::learner::{COMPARATOR_RADIUS, Clip, LearnerEntry, Linear, Losses, ParameterEntry, STANDARDISE};
use crate::model::{Column, State};
use crate::regret::{Comparator, Guarantee, GuaranteeKind};
use crate::table::Table;
use crate::{Error, Features, sum};

/// What an update touches: the weight and the sum of squared gradients.
#[derive(Debug, Clone, Copy, Zeroable)]
#[repr(C)]
struct Slot {
    /// G_i, in f64: it neither stalls at 2²⁴ small terms nor overflows.
    squares: f64,
    weight: f32,
    unused: u32,
}

impl Slot {
    fn rate(&self, eta: f64) -> f64 {
        if self.squares > 0.0 { eta / self.squares.sqrt() } else { 0.0 }
    }
}

/// AdaGrad with a diagonal metric on all of R^d.
#[derive(Debug, Clone)]
pub struct AdaGrad {
    eta: f64,
    /// U, the largest entry of the comparators that the guarantee is for.
    radius: f64,
    table: Table<Slot>,
    /// Σ√G_i.
    roots: f64,
    /// max_t ‖w_t‖_∞.
    largest: f64,
}

impl AdaGrad {
    /// With this η, and the guarantee printed for comparators in the box of this radius.
    ///
    /// # Errors
    /// When η is not from 1e-30 to 1e30, or the radius not positive and finite.
    pub fn new(eta: f64, radius: f64) -> Result<Self, Error> {
        expect_rate("eta", eta)?;
        expect_positive("radius", radius)?;
        Ok(Self { eta, radius, table: Table::default(), roots: 0.0, largest: 0.0 })
    }
}

impl Optimizer for AdaGrad {
    fn dot(&self, x: Features<'_>) -> f64 {
        sum::sum(x.iter().map(|(index, value)| f64::from(self.table.get(index).weight) * f64::from(value)))
    }

    fn prepare(&mut self, g: f64, h: f64, x: Features<'_>) -> Step {
        for (index, value) in x.iter() {
            let slot = self.table.slot(index);
            let z = h * g * f64::from(value);
            let before = slot.squares;
            slot.squares += z * z;
            self.roots += slot.squares.sqrt() - before.sqrt();
        }
        let (table, eta) = (&self.table, self.eta);
        let q =
            sum::sum(x.iter().map(|(index, value)| f64::from(value) * f64::from(value) * table.get(index).rate(eta)));
        Step::Flow { time: h, q }
    }

    fn advance(&mut self, u: f64, x: Features<'_>) {
        for (index, value) in x.iter() {
            let slot = self.table.slot(index);
            slot.weight = saturate(f64::from(slot.weight) + u * f64::from(value) * slot.rate(self.eta));
            self.largest = self.largest.max(f64::from(slot.weight.abs()));
        }
    }

    fn weight(&self, index: u32) -> f64 {
        f64::from(self.table.get(index).weight)
    }

    fn guarantee(&self) -> Guarantee {
        let diameter = self.largest + self.radius;
        let bound = (diameter * diameter / (2.0 * self.eta) + self.eta) * self.roots;
        Guarantee::own(Comparator::Box(self.radius), bound)
    }

    fn describe(&self) -> String {
        format!("adagrad:eta={},radius={}", self.eta, self.radius)
    }

    fn state(&self) -> State {
        let mut state = State::default();
        state.set("roots", self.roots);
        state.set("largest", self.largest);
        let indices = self.table.used(|slot| slot.squares > 0.0);
        let slots = || indices.iter().map(|&index| self.table.get(index));
        state.set_column("weight", Column::F32(slots().map(|slot| slot.weight).collect()));
        state.set_column("squares", Column::F64(slots().map(|slot| slot.squares).collect()));
        state.set_column("index", Column::U32(indices));
        state
    }

    fn restore(&mut self, state: &State) -> Result<(), Error> {
        self.roots = state.number("roots")?;
        self.largest = state.number("largest")?;
        let (weights, squares) = (state.f32s("weight")?, state.f64s("squares")?);
        if weights.len() != squares.len() {
            return Err(Error::model("the columns of adagrad differ in length: the model is damaged"));
        }
        let slots = weights.iter().zip(squares).map(|(&weight, &squares)| Slot { squares, weight, unused: 0 });
        self.table = Table::filled(state.u32s("index")?, slots)?;
        Ok(())
    }
}

/// `adagrad` by name.
pub(crate) const ENTRY: LearnerEntry = LearnerEntry {
    name: "adagrad",
    summary: "a rate for each feature that falls with its gradients (Duchi, Hazan, Singer)",
    losses: Losses::Convex,
    parameters: &[
        ParameterEntry { name: "eta", default: "0.5", meaning: "learning rate, above 0" },
        COMPARATOR_RADIUS,
        STANDARDISE,
    ],
    build: |arguments| {
        let optimizer = AdaGrad::new(arguments.number("eta")?, arguments.number("radius")?)?;
        Ok(Box::new(Linear::new(arguments.loss(), optimizer, Clip::Never)))
    },
    plan: |_, _| {
        let reason = "without a domain nothing bounds its weights beforehand";
        Ok(Guarantee::none(GuaranteeKind::Own, reason))
    },
};
