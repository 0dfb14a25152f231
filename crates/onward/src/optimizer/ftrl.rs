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
//! The step is gradient flow of the loss for time η, from the score of w_t: z_t is then the
//! mean gradient of the way, z̄_t. The bound stays: on average over the way
//! ℓ(w) − ℓ(u) ≤ ⟨z̄_t, w_t − u⟩ − ½η‖z̄_t‖², by the lemma Σ⟨z̄_t, w_t − u⟩ ≤ ‖u‖²/(2η) + (η/2)Σ‖z̄_t‖²,
//! and ℓ(w_t) is above that average by at most ½η‖z_t‖², since the gradient does not
//! grow on the way down.
//!
//! Cost: that of a step of [`LazyPoint`].
//!
//! With `losses=real` the losses are not linearised: see [`ftrl_real`].

use super::BEYOND;
use super::ogd::{self, RADIUS, beyond, promise_of_fixed_rate};
use crate::archive::Archive;
use crate::domain::{DIMENSION, DOMAIN, Domain, LazyPoint};
use crate::guarantee::{Comparator, Guarantee, GuaranteeKind, bound_of_sums};
use crate::numeric::sum::{self, held};
use crate::optimizer::ftrl_real;
use crate::protocol::{
    Clip, FIXED_RATE, LearnerDescriptor, Linear, Losses, Optimizer, ParameterDescriptor, Params, Promise, STANDARDISE,
    Step, expect_rate,
};
use crate::{Error, Features};

/// Follow the regularised leader on linearised losses.
#[derive(Debug, Clone)]
pub struct Ftrl {
    eta: f64,
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
        expect_rate("radius", radius)?;
        expect_rate("eta", eta)?;
        let mut point = LazyPoint::new(domain)?;
        // The rate is in the sum already.
        point.set_rate(1.0);
        Ok(Self { eta, radius, point, squares: 0.0 })
    }
}

impl Optimizer for Ftrl {
    fn dot(&self, x: Features<'_>) -> f64 {
        self.point.dot(x)
    }

    fn prepare(&mut self, g: f64, h: f64, x: Features<'_>) -> Step {
        let q = sum::squares(x.values());
        self.squares = held(self.squares + held((h * g) * (h * g) * q));
        Step::Flow { time: self.eta * h, q }
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
            return Guarantee::none(GuaranteeKind::Own, BEYOND);
        }
        // ½‖u‖² less the least of it: on the simplex the point starts from the centre.
        let size = domain.reach(self.point.seen()).unwrap_or(self.radius);
        let bound = size * size / (2.0 * self.eta) + 0.5 * self.eta * self.squares;
        bound_of_sums(domain.comparator(self.radius), bound, &[self.squares])
    }

    fn describe(&self) -> String {
        format!("ftrl:{}eta={},radius={}", self.point.domain().describe("all"), self.eta, self.radius)
    }

    fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        archive.number("squares", &mut self.squares)?;
        archive.part("point", |archive| self.point.persist(archive))
    }
}

/// What the losses are taken as.
#[derive(Debug, Clone, Copy, PartialEq)]
enum LossesTaken {
    Linearised,
    Real,
}

fn taken(arguments: &Params<'_>) -> Result<LossesTaken, Error> {
    let taken = arguments.choice("losses", &[("linearised", LossesTaken::Linearised), ("real", LossesTaken::Real)])?;
    let other = match taken {
        LossesTaken::Linearised => ["alpha", "features"].as_slice(),
        LossesTaken::Real => ["eta", "domain", "dimension", "rounds", "gradient"].as_slice(),
    };
    match other.iter().find(|name| arguments.is_given(name)) {
        None => Ok(taken),
        Some(name) => Err(Error::parameter(format!(
            "ftrl takes {name} with losses={} only",
            if taken == LossesTaken::Real { "linearised" } else { "real" }
        ))),
    }
}

fn eta(arguments: &Params<'_>) -> Result<f64, Error> {
    match (arguments.number_or("rounds", "none")?, arguments.number_or("gradient", "none")?) {
        (None, None) => expect_rate("eta", arguments.number("eta")?),
        (Some(rounds), Some(gradient)) if !arguments.is_given("eta") => {
            let domain = Domain::from_arguments(arguments)?;
            ogd::rate_of_theorem(arguments, domain, rounds, gradient)
        }
        _ => Err(Error::parameter("ftrl takes eta, or both rounds=T and gradient=G, which set it")),
    }
}

/// `ftrl` by name.
pub(crate) const ENTRY: LearnerDescriptor = LearnerDescriptor {
    name: "ftrl",
    summary: "follow the regularised leader, Euclidean, on linearised losses or on the losses themselves",
    losses: Losses::Convex,
    parameters: &[
        ParameterDescriptor {
            name: "eta",
            default: "0.1",
            meaning: "the rate: the regulariser is ‖w‖²/(2·eta), above 0",
        },
        RADIUS,
        ParameterDescriptor { default: "all", ..DOMAIN },
        DIMENSION,
        ParameterDescriptor { name: "rounds", default: "none", meaning: "T, if known beforehand: from 1 to 1e18" },
        ParameterDescriptor { name: "gradient", default: "none", meaning: "a bound on the norm of gradients, above 0" },
        ParameterDescriptor {
            name: "losses",
            default: "linearised",
            meaning: "linearised, or real: each round minimises the sum of the losses themselves (few features, short streams)",
        },
        ParameterDescriptor {
            name: "alpha",
            default: "1",
            meaning: "with losses=real the regulariser is ½·alpha·‖w‖², above 0",
        },
        ParameterDescriptor {
            name: "features",
            default: "100",
            meaning: "with losses=real: only the first so many distinct features get weights, from 1 to 1000",
        },
        STANDARDISE,
    ],
    promises: &[
        Promise::linear("", FIXED_RATE).repeating(),
        Promise::linear("eta=0.05,radius=1", FIXED_RATE).repeating(),
        Promise::linear("domain=ball,eta=0.05,radius=1", FIXED_RATE).within(Comparator::Ball(1.0)),
        Promise::linear("domain=l1,eta=0.05,radius=1", FIXED_RATE).within(Comparator::L1Ball(1.0)),
        Promise::linear("domain=box,radius=1", FIXED_RATE).within(Comparator::Box(1.0)),
        Promise::linear("domain=orthant,radius=1", FIXED_RATE).within(Comparator::Orthant(f64::INFINITY)),
        Promise::linear("domain=simplex,dimension=10,radius=1", FIXED_RATE).within(Comparator::Simplex(1.0)),
        Promise::always("losses=real").repeating().at_most(2000),
        Promise::other("alpha=2,features=20,losses=real").repeating(),
        Promise::other("gradient=2,rounds=100").repeating(),
    ],
    build: |arguments| {
        if taken(arguments)? == LossesTaken::Real {
            return ftrl_real::build(arguments);
        }
        let optimizer = Ftrl::new(Domain::from_arguments(arguments)?, arguments.number("radius")?, eta(arguments)?)?;
        Ok(Box::new(Linear::new(arguments.loss(), optimizer, Clip::Never)))
    },
    plan: |arguments, scales| {
        if taken(arguments)? == LossesTaken::Real {
            let reason = "on the losses themselves it is bounded by what they pay from round to round";
            return Ok(Guarantee::none(GuaranteeKind::Own, reason));
        }
        let domain = Domain::from_arguments(arguments)?;
        if let Some(none) = beyond(domain, scales) {
            return Ok(none);
        }
        let (Some(size), Some(reach)) = (domain.norm(scales.dimension), domain.reach(scales.dimension)) else {
            return promise_of_fixed_rate(domain, eta(arguments)?, arguments, scales);
        };
        let (eta, gradient) = (eta(arguments)?, scales.gradient(arguments.loss().as_ref(), size));
        let bound = reach * reach / (2.0 * eta) + 0.5 * eta * gradient * gradient * scales.rounds;
        Ok(Guarantee::own(domain.comparator(1.0), bound))
    },
};
