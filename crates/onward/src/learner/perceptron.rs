//! The perceptron (Rosenblatt 1958).
//!
//! Predict 1 if s = b + ⟨w, x⟩ ≥ 0, else −1, b being the row's offset. When y·s ≤ 0,
//! w += h·y·x. A learning rate would only scale w.
//!
//! The charged loss is 0/1. **Guarantee** (Novikoff 1962; Freund, Schapire 1999):
//! over the rounds with an update, of which there are M, and for every u,
//! M ≤ H(u) + ‖u‖√(Σ‖x‖²), where H(u) = Σ max(0, 1 − y⟨u, x⟩) and both sums are
//! over those rounds only. Sign mistakes may be fewer than M, since a score of 0
//! is updated whatever the label. So the mistakes exceed the hinge loss of any u
//! with ‖u‖ ≤ U by at most U√(Σ‖x‖²). If some u has margin γ on every example and
//! ‖x‖ ≤ D, M ≤ (D/γ)², however long the stream.
//!
//! With offsets, of which y·b = 0 is the usual case, the same proof goes: an update adds
//! h²‖x‖² + 2h·y⟨w, x⟩ ≤ h²‖x‖² − 2h·y·b to ‖w‖², and h·y⟨u, x⟩ ≥ h(1 − H − y·b) to
//! ⟨w, u⟩, H being that of b + ⟨u, x⟩. So M ≤ H(u) + Σ h·y·b + ‖u‖√(Σ h²‖x‖² − 2h·y·b).

use std::sync::Arc;

use crate::domain::saturate;
use crate::learner::{COMPARATOR_RADIUS, LearnerEntry, Losses, STANDARDISE};
use crate::loss::{Curvature, ZeroOne};
use crate::model::{Column, State};
use crate::optimizer::expect_positive;
use crate::regret::{Comparator, Guarantee};
use crate::table::Table;
use crate::{Error, Features, Learner, Loss, Prediction, SharedLoss, sum};

/// The perceptron.
pub struct Perceptron {
    radius: f64,
    weights: Table<f32>,
    /// M: the importance of rounds with an update.
    updates: f64,
    /// Σ h²‖x‖² − 2h·y·b over rounds with an update: at least ‖w‖².
    squares: f64,
    /// Σ h·y·b over rounds with an update.
    offsets: f64,
}

impl Perceptron {
    /// A perceptron whose guarantee is printed for comparators in the ball of this radius.
    ///
    /// # Errors
    /// When the radius is not positive and finite, or the loss is one that the
    /// perceptron does not pay.
    pub fn new(radius: f64, loss: &dyn Loss) -> Result<Self, Error> {
        expect_positive("radius", radius)?;
        if loss.curvature() != Curvature::None {
            let name = loss.name();
            return Err(Error::parameter(format!(
                "the perceptron is charged by mistakes and cannot take the loss '{name}': leave --loss out, or say zero-one"
            )));
        }
        Ok(Self { radius, weights: Table::default(), updates: 0.0, squares: 0.0, offsets: 0.0 })
    }

    /// M: rounds with an update, weighted by importance.
    pub fn updates(&self) -> f64 {
        self.updates
    }
}

impl Learner for Perceptron {
    fn predict(&self, x: Features<'_>) -> Prediction {
        let products = x.iter().map(|(index, value)| f64::from(self.weights.get(index)) * f64::from(value));
        Prediction::new(x.offset() + sum::sum(products))
    }

    fn learn(&mut self, x: Features<'_>, label: f64, weight: f64) -> Prediction {
        let prediction = self.predict(x);
        if weight == 0.0 || label * prediction.score > 0.0 {
            return prediction;
        }
        for (index, value) in x.iter() {
            let slot = self.weights.slot(index);
            *slot = saturate(f64::from(*slot) + weight * label * f64::from(value));
        }
        self.updates += weight;
        let offset = weight * label * x.offset();
        self.squares += weight * weight * sum::squares(x.values()) - 2.0 * offset;
        self.offsets += offset;
        prediction
    }

    fn charged_loss(&self) -> SharedLoss {
        Arc::new(ZeroOne)
    }

    fn describe(&self) -> String {
        format!("perceptron:radius={}", self.radius)
    }

    fn weight(&self, index: u32) -> Option<f64> {
        Some(f64::from(self.weights.get(index)))
    }

    fn guarantee(&self) -> Guarantee {
        let bound = self.offsets + self.radius * self.squares.max(0.0).sqrt();
        Guarantee::own(Comparator::HingeOnUpdates(self.radius), bound)
    }

    fn state(&self) -> State {
        let mut state = State::default();
        state.set("updates", self.updates);
        state.set("squares", self.squares);
        state.set("offsets", self.offsets);
        let indices = self.weights.used(|weight| *weight != 0.0);
        state.set_column("weight", Column::F32(indices.iter().map(|&index| self.weights.get(index)).collect()));
        state.set_column("index", Column::U32(indices));
        state
    }

    fn restore(&mut self, state: &State) -> Result<(), Error> {
        self.updates = state.number("updates")?;
        self.squares = state.number("squares")?;
        self.offsets = state.number("offsets")?;
        self.weights = Table::filled(state.u32s("index")?, state.f32s("weight")?.iter().copied())?;
        Ok(())
    }
}

/// The perceptron by name.
pub(crate) const ENTRY: LearnerEntry = LearnerEntry {
    name: "perceptron",
    summary: "updates at mistakes only (Rosenblatt); binary, charged by mistakes",
    losses: Losses::Only(&["zero-one"]),
    parameters: &[COMPARATOR_RADIUS, STANDARDISE],
    build: |arguments| {
        let loss = arguments.loss();
        Ok(Box::new(Perceptron::new(arguments.number("radius")?, loss.as_ref())?))
    },
    // At most T updates of size X each.
    plan: |arguments, scales| {
        let radius = arguments.number("radius")?;
        let bound = radius * scales.norm * scales.rounds.sqrt();
        Ok(Guarantee::own(Comparator::HingeOnUpdates(radius), bound))
    },
};
