//! Projected online gradient descent (Zinkevich 2003).
//!
//! w_{t+1} = Π(w_t − η_t z_t), Π the projection on the ball ‖w‖₂ ≤ U, z_t the
//! gradient of round t (for linear learners the step is gradient flow for time
//! η_t, which keeps the bound).
//!
//! Rates: η_t = η/√t, or self-tuned η_t = D/√(2 Σ_{s≤t} ‖z_s‖²) with D = 2U.
//!
//! **Guarantee**, for convex losses, every ‖u‖ ≤ U and any rates that do not
//! grow: R_T(u) ≤ D²/(2η_T) + ½ Σ η_t ‖z_t‖². It is printed from the rates and
//! gradients that occurred. With ‖z‖ ≤ G and η = U√2/G it is at most UG√(8T)
//! (not UG√(2T), as is often claimed); self-tuned at most √2·D·√(Σ‖z_t‖²).

use super::{Optimizer, Step, expect_rate};
use crate::domain::BallVector;
use crate::learner::{Clip, LearnerEntry, Linear, Losses, ParameterEntry, STANDARDISE};
use crate::model::State;
use crate::regret::{Comparator, Guarantee};
use crate::{Error, Features, sum};

/// How the step size falls.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rate {
    /// η_t = D/√(2 Σ‖z‖²): nothing to choose.
    SelfTuned,
    /// η_t = η/√t.
    Root(f64),
}

/// Projected online gradient descent on an L2 ball.
#[derive(Debug, Clone)]
pub struct Ogd {
    radius: f64,
    rate: Rate,
    point: BallVector,
    /// t: rounds with a gradient taken in.
    rounds: f64,
    /// Σ‖z_t‖².
    squares: f64,
    /// η_T, the rate of the last round.
    last_rate: f64,
    /// Σ η_t‖z_t‖².
    paid: f64,
}

impl Ogd {
    /// On the ball of this radius.
    ///
    /// # Errors
    /// When the radius or η is not from 1e-30 to 1e30.
    pub fn new(radius: f64, rate: Rate) -> Result<Self, Error> {
        expect_rate("radius", radius)?;
        if let Rate::Root(eta) = rate {
            expect_rate("eta", eta)?;
        }
        let point = BallVector::default();
        Ok(Self { radius, rate, point, rounds: 0.0, squares: 0.0, last_rate: 0.0, paid: 0.0 })
    }
}

impl Optimizer for Ogd {
    fn dot(&self, x: Features<'_>) -> f64 {
        self.point.dot(x)
    }

    fn prepare(&mut self, g: f64, h: f64, x: Features<'_>) -> Step {
        let q = sum::squares(x.values());
        let square = (h * g) * (h * g) * q;
        self.rounds += 1.0;
        self.squares += square;
        let rate = match self.rate {
            Rate::Root(eta) => eta / self.rounds.sqrt(),
            Rate::SelfTuned if self.squares > 0.0 => 2.0 * self.radius / (2.0 * self.squares).sqrt(),
            // No gradient so far: no step, and no rate to speak of.
            Rate::SelfTuned => 0.0,
        };
        self.last_rate = rate;
        self.paid += rate * square;
        Step::Flow { time: rate * h, q }
    }

    fn advance(&mut self, u: f64, x: Features<'_>) {
        self.point.add(u, x);
        self.point.project(self.radius);
    }

    fn weight(&self, index: u32) -> f64 {
        self.point.get(index)
    }

    fn guarantee(&self) -> Guarantee {
        let diameter = 2.0 * self.radius;
        let bound = match self.last_rate > 0.0 {
            true => diameter * diameter / (2.0 * self.last_rate) + 0.5 * self.paid,
            false => 0.0,
        };
        Guarantee::own(Comparator::Ball(self.radius), bound)
    }

    fn describe(&self) -> String {
        let eta = match self.rate {
            Rate::SelfTuned => "auto".to_owned(),
            Rate::Root(eta) => eta.to_string(),
        };
        format!("ogd:eta={eta},radius={}", self.radius)
    }

    fn state(&self) -> State {
        let mut state = State::default();
        state.set("rounds", self.rounds);
        state.set("squares", self.squares);
        state.set("last_rate", self.last_rate);
        state.set("paid", self.paid);
        state.absorb("point", self.point.state());
        state
    }

    fn restore(&mut self, state: &State) -> Result<(), Error> {
        self.rounds = state.number("rounds")?;
        self.squares = state.number("squares")?;
        self.last_rate = state.number("last_rate")?;
        self.paid = state.number("paid")?;
        self.point.restore(&state.part("point"))
    }
}

/// `ogd` by name.
pub(crate) const ENTRY: LearnerEntry = LearnerEntry {
    name: "ogd",
    summary: "projected online gradient descent on an L2 ball (Zinkevich)",
    losses: Losses::Convex,
    parameters: &[
        ParameterEntry {
            name: "eta",
            default: "auto",
            meaning: "the rate is eta/√t, above 0; auto tunes itself from the gradients",
        },
        ParameterEntry { name: "radius", default: "10", meaning: "of the ball, above 0 (or --radius)" },
        STANDARDISE,
    ],
    build: |arguments| {
        let rate = arguments.number_or("eta", "auto")?.map_or(Rate::SelfTuned, Rate::Root);
        let optimizer = Ogd::new(arguments.number("radius")?, rate)?;
        Ok(Box::new(Linear::new(arguments.loss(), optimizer, Clip::Never)))
    },
    plan: |arguments, scales| {
        let radius = arguments.number("radius")?;
        let gradient = scales.gradient(arguments.loss().as_ref(), radius);
        let (diameter, rounds) = (2.0 * radius, scales.rounds);
        let bound = match arguments.number_or("eta", "auto")? {
            None => diameter * gradient * (2.0 * rounds).sqrt(),
            // Σ 1/√t ≤ 2√T.
            Some(eta) => rounds.sqrt() * (diameter * diameter / (2.0 * eta) + eta * gradient * gradient),
        };
        Ok(Guarantee::own(Comparator::Ball(radius), bound))
    },
};
