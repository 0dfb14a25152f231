//! Least mean squares (Widrow, Hoff 1960): the squared loss at a fixed rate.
//!
//! w_{t+1} = w_t + η h_t e_t x_t with the error e_t = y_t − p_t, p_t = b_t + ⟨w_t, x_t⟩, b the row's offset. This is
//! half the gradient of (p − y)², in which the error has a factor of 2: `lms:eta=0.1` is
//! [`osd:domain=all,eta=0.05`](super::osd), step for step. Its error at x_t shrinks for η h_t‖x_t‖² < 2.
//!
//! **Guarantee**, for every u, whatever the stream. With ε_t = y_t − b_t − ⟨u, x_t⟩ and q_t = η h_t‖x_t‖²,
//!
//! ‖w_t − u‖² − ‖w_{t+1} − u‖² = 2η h_t e_t(e_t − ε_t) − (η h_t e_t)²‖x_t‖² ≥ η h_t(e_t² − ε_t² − q_t e_t²),
//!
//! since 2eε ≤ e² + ε². Summed: R_T(u) = Σ h(e² − ε²) ≤ ‖u‖²/η + η Σ(h e)²‖x‖², which is printed for ‖u‖ ≤ U from
//! what happened. If q_t ≤ β < 1 in all rounds, the last sum is at most β Σ h e², and so
//!
//! Σ h e² ≤ (Σ h ε² + ‖u‖²/η)/(1 − β)
//!
//! (Cesa-Bianchi, Long, Warmuth 1996; Kivinen, Warmuth 1997): within a factor of the squares of any u. Without that
//! condition weights can run away, and the bound with them. Beforehand, for ‖x‖ ≤ X and |y| ≤ Y, u = 0 shows that
//! Σ e² ≤ TY²/(1 − ηX²), where ηX² < 1: R_T(u) ≤ U²/η + ηX²·TY²/(1 − ηX²).
//!
//! Cost: O(non-zeros) per round.

use super::prelude::*;
use crate::domain::{Domain, Point};
use crate::loss::{Curvature, LossKind};
use crate::numeric::sum::{self, held};

/// Least mean squares.
#[derive(Debug, Clone)]
pub struct Lms {
    eta: f64,
    /// The size of the comparators of the guarantee.
    radius: f64,
    /// c of the loss ½c(p − y)²: its slope is −c·e.
    curvature: f64,
    point: Point,
    /// Σ(h e)²‖x‖².
    squares: f64,
}

impl Lms {
    /// With this rate, and the guarantee printed for comparators of this radius.
    ///
    /// # Errors
    /// When η or the radius is not from 1e-30 to 1e30, or the loss is not quadratic.
    pub fn new(eta: f64, radius: f64, loss: &dyn Loss) -> Result<Self, Error> {
        ENTRY.check_loss(loss)?;
        let (eta, radius, curvature) = (ETA.check(eta)?, RADIUS.check(radius)?, curvature(loss));
        Ok(Self { eta, radius, curvature, point: Point::new(Domain::All)?, squares: 0.0 })
    }
}

/// c of a quadratic loss ½c(p − y)².
pub(super) fn curvature(loss: &dyn Loss) -> f64 {
    if let Curvature::Quadratic(curvature) = loss.curvature() { curvature } else { 2.0 }
}

impl Optimizer for Lms {
    fn dot(&self, x: Features<'_>) -> f64 {
        self.point.dot(x)
    }

    fn prepare(&mut self, g: f64, h: f64, x: Features<'_>) -> Step {
        let error = h * g / self.curvature;
        self.squares = held(self.squares + error * error * sum::squares(x.values()));
        Step::Gradient { time: self.eta * h / self.curvature }
    }

    fn advance(&mut self, u: f64, x: Features<'_>) {
        self.point.step(u, x);
    }

    fn weight(&self, index: u32) -> f64 {
        self.point.get(index)
    }

    fn guarantee(&self) -> Guarantee {
        let bound = self.radius * self.radius / self.eta + self.eta * self.squares;
        bound_of_sums(Comparator::Ball(self.radius), 0.5 * self.curvature * bound, &[self.squares])
    }

    fn describe(&self) -> String {
        Description::of("lms").with(&ETA, self.eta).with(&RADIUS, self.radius).into()
    }

    fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        archive.number("squares", &mut self.squares)?;
        archive.part("point", |archive| self.point.persist(archive))
    }
}

const ETA: ParameterDescriptor = positive("eta")
    .default("0.05")
    .meaning("learning rate; errors shrink where eta·importance·‖x‖² is below 2")
    .remedy("a smaller eta");

const RADIUS: ParameterDescriptor = positive("radius").default("1").meaning(COMPARATOR_RADIUS.meaning);

/// `lms` by name.
pub(crate) const ENTRY: LearnerDescriptor = LearnerDescriptor {
    name: "lms",
    summary: "least mean squares: w += eta·(y − p)·x (Widrow, Hoff)",
    losses: Losses::Only(&[LossKind::Quadratic]),
    parameters: &[ETA, RADIUS, STANDARDISE],
    promises: &[Promise::linear("", FIXED_RATE), Promise::linear("eta=0.2,radius=2", FIXED_RATE)],
    build: |arguments| {
        let (eta, radius, loss) = (arguments.number("eta"), arguments.number("radius"), arguments.loss());
        Linear::learner(arguments, Lms::new(eta, radius, loss.as_ref())?)
    },
    plan: |arguments, scales| {
        let (eta, radius) = (arguments.number("eta"), arguments.number("radius"));
        let share = eta * scales.norm * scales.norm;
        if share >= 1.0 {
            return Ok(Guarantee::missing("eta·‖x‖² may reach 1, so that its errors have no bound in advance"));
        }
        let squares = scales.rounds * scales.label * scales.label / (1.0 - share);
        let bound = radius * radius / eta + share * squares;
        Ok(Guarantee::own(Comparator::Ball(radius), 0.5 * curvature(arguments.loss().as_ref()) * bound))
    },
};
