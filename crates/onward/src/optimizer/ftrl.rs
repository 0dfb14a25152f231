//! Follow the regularised leader, with the Euclidean regulariser, on linearised losses
//! (Shalev-Shwartz 2007; McMahan 2017).
//!
//! w_{t+1} = argmin ⟨Σ_{s≤t} z_s, w⟩ + ‖w‖²/(2η) over the domain = Π(−η Σ z_s). On all of
//! R^d it is gradient descent with the rate η, step for step; on other domains it
//! differs from it, for only the point is projected, not the sum.
//!
//! **Guarantee**, for convex losses and every u of the domain (of R^d and the orthant:
//! with ‖u‖₂ ≤ U): R_T(u) ≤ ‖u‖²/(2η) + (η/2) Σ‖z_t‖². With ‖z‖ ≤ G and T rounds known
//! beforehand η = B/(G√T), B the largest ‖u‖, gives BG√T.
//!
//! With `step=flow` a linear learner takes in gradient flow of the loss for time η h_t, from the score of
//! w_t: z_t is then the mean gradient of the way, z̄_t. The bound stays: on average over the way
//! ℓ(w) − ℓ(u) ≤ ⟨z̄_t, w_t − u⟩ − ½η‖z̄_t‖², by the lemma Σ⟨z̄_t, w_t − u⟩ ≤ ‖u‖²/(2η) + (η/2)Σ‖z̄_t‖²,
//! and ℓ(w_t) is above that average by at most ½η‖z_t‖², since the gradient does not
//! grow on the way down.
//!
//! Cost: that of a step of [`LazyPoint`].
//!
//! With `losses=real` the losses are not linearised: see [`ftrl_real`].

use super::BEYOND;
use super::ogd::{self, beyond, promise_of_fixed_rate};
use super::prelude::*;
use crate::domain::{DIMENSION_OF_RATE, Domain, LazyPoint, RADIUS};
use crate::guarantee::OVERFLOW;
use crate::numeric::sum::{self, held};
use crate::optimizer::ftrl_real::{self, ALPHA, FEATURES, LOSSES, SHORT};

/// Follow the regularised leader on linearised losses.
#[derive(Debug, Clone)]
pub struct Ftrl {
    eta: f64,
    step: StepKind,
    /// The size of the comparators on an unbounded domain.
    radius: f64,
    /// −η Σ z_s, and its projection.
    point: LazyPoint,
    /// Σ‖z_t‖².
    squares: f64,
}

impl Ftrl {
    /// With this η; the radius is that of the comparators where the domain has none.
    ///
    /// # Errors
    /// When η or a radius is not from 1e-30 to 1e30.
    pub fn new(domain: Domain, radius: f64, eta: f64) -> Result<Self, Error> {
        RADIUS.check(radius)?;
        ETA.check(eta)?;
        let mut point = LazyPoint::new(domain)?;
        // The rate is in the sum already.
        point.set_rate(1.0);
        Ok(Self { eta, step: StepKind::Gradient, radius, point, squares: 0.0 })
    }

    /// The same with this kind of steps.
    #[must_use]
    pub fn with_step(self, step: StepKind) -> Self {
        Self { step, ..self }
    }
}

impl Optimizer for Ftrl {
    fn prepare(&mut self, g: f64, h: f64, x: Features<'_>) -> Step {
        let q = sum::squares(x.values());
        self.squares = held(self.squares + held((h * g) * (h * g) * q));
        self.step.step(self.eta * h, q)
    }

    fn advance(&mut self, u: f64, x: Features<'_>) {
        self.point.add(u, x);
        self.point.set_rate(1.0);
    }

    fn weight(&self, index: u32) -> f64 {
        self.point.get(index)
    }

    fn guarantee(&self) -> Guarantee {
        let domain = self.point.domain();
        if !self.point.is_complete() {
            return Guarantee::missing(BEYOND);
        }
        // ½‖u‖² less the least of it: on the simplex the point starts from the centre.
        let size = domain.reach(self.point.seen()).unwrap_or(self.radius);
        let bound = size * size / (2.0 * self.eta) + 0.5 * self.eta * self.squares;
        bound_of_sums(domain.comparator(self.radius), bound, &[self.squares])
    }

    fn describe(&self) -> String {
        let domain = self.point.domain().describe(Description::of("ftrl"), &DOMAIN);
        domain.with(&ETA, self.eta).with(&RADIUS, self.radius).with(&STEP, self.step).into()
    }

    fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        archive.number("squares", &mut self.squares)?;
        archive.part("point", |archive| self.point.persist(archive))
    }
}

const ETA: ParameterDescriptor = positive("eta")
    .default("0.1")
    .meaning("learning rate; the regulariser is ‖w‖²/(2·eta)")
    .unless("losses=real or rounds and gradient")
    .remedy("a smaller eta");

const DOMAIN: ParameterDescriptor = crate::domain::DOMAIN.default("all").unless("losses=real");

const STEP: ParameterDescriptor = crate::protocol::STEP.only_with("losses=linearised");

fn eta(arguments: &Params<'_>) -> Result<f64, Error> {
    match arguments.optional_number("rounds").zip(arguments.optional_number("gradient")) {
        None => Ok(arguments.number("eta")),
        Some((rounds, gradient)) => {
            ogd::rate_of_theorem(arguments, Domain::from_arguments(arguments)?, rounds, gradient)
        }
    }
}

const ROUNDS: ParameterDescriptor = ogd::ROUNDS.only_with("losses=linearised and gradient");

const GRADIENT: ParameterDescriptor = ogd::GRADIENT.only_with("losses=linearised and rounds");

/// `ftrl` by name.
pub(crate) const ENTRY: LearnerDescriptor = LearnerDescriptor {
    name: "ftrl",
    summary: "follow the regularised leader, Euclidean, on linearised losses or on the losses themselves",
    losses: Losses::Convex,
    parameters: &[ETA, RADIUS, DOMAIN, DIMENSION_OF_RATE, ROUNDS, GRADIENT, STEP, LOSSES, ALPHA, FEATURES, STANDARDISE],
    promises: &[
        Promise::linear("", FIXED_RATE).overflowing(OVERFLOW),
        Promise::linear("eta=0.05,radius=1", FIXED_RATE).overflowing(OVERFLOW),
        Promise::linear("eta=0.05,radius=1,step=flow", FIXED_RATE).repeating(),
        Promise::linear("domain=ball,eta=0.05,radius=1", FIXED_RATE).within(Comparator::Ball(1.0)),
        Promise::linear("domain=l1,eta=0.05,radius=1", FIXED_RATE).within(Comparator::L1Ball(1.0)),
        Promise::linear("domain=box,radius=1", FIXED_RATE).within(Comparator::Box(1.0)),
        Promise::linear("domain=orthant,radius=1", FIXED_RATE)
            .within(Comparator::Orthant(f64::INFINITY))
            .overflowing(OVERFLOW),
        Promise::linear("domain=simplex,dimension=10,radius=1", FIXED_RATE).within(Comparator::Simplex(1.0)),
        Promise::always("losses=real").repeating().at_most(SHORT),
        Promise::other("alpha=2,features=20,losses=real").repeating().at_most(SHORT),
        Promise::other("gradient=20,rounds=100"),
    ],
    build: |arguments| {
        if arguments.text("losses") == "real" {
            return ftrl_real::build(arguments);
        }
        let optimizer = Ftrl::new(Domain::from_arguments(arguments)?, arguments.number("radius"), eta(arguments)?)?
            .with_step(StepKind::from_arguments(arguments));
        Linear::learner(arguments, optimizer)
    },
    plan: |arguments, scales| {
        if arguments.text("losses") == "real" {
            return Ok(Guarantee::missing("with losses=real its bound depends on the losses of each round"));
        }
        let domain = Domain::from_arguments(arguments)?;
        if let Some(none) = beyond(domain, scales) {
            return Ok(none);
        }
        let (Some(size), Some(reach)) = (domain.norm(scales.dimension), domain.reach(scales.dimension)) else {
            let (radius, loss) = (arguments.number("radius"), arguments.loss());
            return Ok(promise_of_fixed_rate(domain, eta(arguments)?, radius, loss.as_ref(), scales));
        };
        let (eta, gradient) = (eta(arguments)?, scales.gradient(arguments.loss().as_ref(), size));
        let bound = reach * reach / (2.0 * eta) + 0.5 * eta * gradient * gradient * scales.rounds;
        Ok(Guarantee::own(domain.comparator(1.0), bound))
    },
};
