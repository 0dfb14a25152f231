//! Normalised least mean squares (Nagumo, Noda 1967; Albert, Gardner 1967).
//!
//! w_{t+1} = w_t + η h_t e_t x_t/(ε + ‖x_t‖²) with the error e_t = y_t − p_t: [least mean squares](super::lms) whose step
//! does not depend on the scale of the features. For ε = 0 and h = 1 the error at x_t becomes (1 − η)e_t: η = 1 fits
//! each row (passive-aggressive regression without a margin), 0 < η < 2 shrinks its error.
//!
//! **Guarantee**: none for the squares themselves. With n_t = ε + ‖x_t‖², h = 1 and ε_t = y_t − b_t − ⟨u, x_t⟩ the proof of
//! `lms` gives Σ e²/n ≤ (Σ ε²/n + ‖u‖²/η)/(1 − η) for η < 1 (Cesa-Bianchi, Long, Warmuth 1996): it weighs rows by 1/n_t,
//! of which a run is not charged.
//!
//! Cost: O(non-zeros) per round.

use super::lms::curvature;
use super::prelude::*;
use crate::domain::{Domain, Point};
use crate::loss::LossKind;
use crate::numeric::sum;

/// Normalised least mean squares.
#[derive(Debug, Clone)]
pub struct Nlms {
    eta: f64,
    epsilon: f64,
    /// c of the loss ½c(p − y)²: its slope is −c·e.
    curvature: f64,
    point: Point,
}

impl Nlms {
    /// With this rate and this ε.
    ///
    /// # Errors
    /// When η is not from 1e-30 to 1e30, ε not from 0 to 1e30, or the loss is not quadratic.
    pub fn new(eta: f64, epsilon: f64, loss: &dyn Loss) -> Result<Self, Error> {
        ENTRY.check_loss(loss)?;
        let (eta, epsilon, curvature) = (ETA.check(eta)?, EPSILON.check(epsilon)?, curvature(loss));
        Ok(Self { eta, epsilon, curvature, point: Point::new(Domain::All)? })
    }
}

impl Optimizer for Nlms {
    fn dot(&self, x: Features<'_>) -> f64 {
        self.point.dot(x)
    }

    fn prepare(&mut self, _g: f64, h: f64, x: Features<'_>) -> Step {
        let norm = self.epsilon + sum::squares(x.values());
        // Without features there is nothing to move.
        let rate = if norm > 0.0 { self.eta / norm } else { 0.0 };
        Step::Gradient { time: rate * h / self.curvature }
    }

    fn advance(&mut self, u: f64, x: Features<'_>) {
        self.point.step(u, x);
    }

    fn weight(&self, index: u32) -> f64 {
        self.point.get(index)
    }

    fn guarantee(&self) -> Guarantee {
        Guarantee::missing(NORMALISED)
    }

    fn describe(&self) -> String {
        Description::of("nlms").with(&EPSILON, self.epsilon).with(&ETA, self.eta).into()
    }

    fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        archive.part("point", |archive| self.point.persist(archive))
    }
}

const NORMALISED: &str = "its theorem is about the squares divided by epsilon + ‖x‖²; the universal certificate holds";

const ETA: ParameterDescriptor = positive("eta")
    .default("0.5")
    .meaning("learning rate; 1 fits each row, errors shrink where eta·importance is below 2")
    .remedy("a smaller eta");

const EPSILON: ParameterDescriptor =
    number("epsilon", 0.0..=1e30).default("1e-6").meaning("is added to ‖x‖²: keeps the steps of short rows short");

/// `nlms` by name.
pub(crate) const ENTRY: LearnerDescriptor = LearnerDescriptor {
    name: "nlms",
    summary: "normalised least mean squares: w += eta·(y − p)·x/(epsilon + ‖x‖²) (Nagumo, Noda)",
    losses: Losses::Only(&[LossKind::Quadratic]),
    parameters: &[ETA, EPSILON, STANDARDISE],
    promises: &[Promise::never("", NORMALISED), Promise::other("epsilon=1,eta=0.2")],
    build: |arguments| {
        let (eta, epsilon, loss) = (arguments.number("eta"), arguments.number("epsilon"), arguments.loss());
        Linear::learner(arguments, Nlms::new(eta, epsilon, loss.as_ref())?)
    },
    plan: |_, _| Ok(Guarantee::missing(NORMALISED)),
};
