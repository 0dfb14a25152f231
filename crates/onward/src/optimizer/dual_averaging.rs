//! Dual averaging: gradient descent with lazy projection (Nesterov 2009; Xiao 2010;
//! Zinkevich's lazy variant, 2004).
//!
//! θ_{t+1} = θ_t − z_t; w_{t+1} = Π(η_t θ_{t+1}), that is
//! w_{t+1} = argmin ⟨Σ_{s≤t} z_s, w⟩ + ‖w‖²/(2η_t) over the domain. Steps are never
//! projected, points are.
//!
//! Rates: η_t = η/√(t+1); or self-tuned η_t = B/√(2 Σ_{s≤t} ‖z_s‖²), B the largest
//! ‖u − w_1‖ of the domain (U√d for the box, d the coordinates seen, the rate held from
//! growing), w_1 = Π(0) while there was no gradient; or, with G known,
//! η_t = B/√(2(G² + Σ_{s≤t} ‖z_s‖²)).
//!
//! **Guarantee**, for convex losses and every u of the domain (of R^d and the orthant:
//! with ‖u‖₂ ≤ U): R_T(u) ≤ B²/(2η_{T−1}) + Σ min(½η_{t−1}‖z_t‖², D‖z_t‖), D the
//! largest distance of two points of the domain, for rates that do not grow. The rate
//! in the sum is the one that produced w_t, from z_1..z_{t−1}; so is that of the first
//! term. Printed from what happened.
//!
//! *Proof.* Let r_t(w) = ½(‖w‖² − ‖w_1‖²)(1/η_t − 1/η_{t−1}) ≥ 0 with 1/η_{−1} = 0, and
//! h_t(w) = Σ_{s≤t} (⟨z_s, w⟩ + r_s(w)) + r_0(w), which w_{t+1} minimises over the domain
//! (r_T, which no point of the T rounds has seen, is taken as 0). Then
//! h_T(w_{T+1}) ≤ h_T(u), and telescoping h_t(w_{t+1}) − h_{t−1}(w_t) from h_0(w_1) = 0,
//! R_T(u) ≤ Σ⟨z_t, w_t − u⟩ ≤ (‖u‖² − ‖w_1‖²)/(2η_{T−1}) + Σ [h_t(w_t) − h_t(w_{t+1}) − r_t(w_t)]
//! (the strong lemma of follow the regularised leader, McMahan 2017). As
//! h_t = h_{t−1} + z_t + r_t, the bracket is
//! ⟨z_t, w_t − w_{t+1}⟩ + h_{t−1}(w_t) − h_{t−1}(w_{t+1}) − r_t(w_{t+1}). Drop r_t ≥ 0. Since w_t
//! minimises h_{t−1}, the bracket is at most ⟨z_t, w_t − w_{t+1}⟩ ≤ D‖z_t‖; and since h_{t−1} is
//! (1/η_{t−1})-strongly convex, at most a‖z_t‖ − a²/(2η_{t−1}) ≤ ½η_{t−1}‖z_t‖², a = ‖w_t − w_{t+1}‖.
//! While there was no gradient, r = 0 and any point is a minimiser: the first form holds. ∎
//!
//! A self-tuned rate has not seen z_t when it produces w_t: without a bound on D or G one
//! large gradient costs ½η_{t−1}‖z_t‖² with no rate to set against it, and on an unbounded
//! domain without G there is no guarantee.
//!
//! The step is by the plain gradient, which the theorem is about.
//!
//! Cost: that of a step of [`LazyPoint`].

use super::BEYOND;
use super::ogd::{self, NO_GRADIENT, beyond};
use super::prelude::*;
use crate::domain::{DIMENSION, DOMAIN, Domain, LazyPoint, RADIUS};
use crate::numeric::sum::{self, held};

/// How the rate η_t that produces w_{t+1} follows from the first t gradients.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LazyRate {
    /// B/√(2 Σ‖z‖²).
    SelfTuned,
    /// B/√(2(G² + Σ‖z‖²)) with this G.
    Known(f64),
    /// η/√(t+1).
    Root(f64),
}

/// Why rates that tune themselves have no guarantee on an unbounded domain.
const UNSEEN: &str = "self-tuned rates are one gradient late; use a bounded domain, or give a bound on the gradients \
    (gradient=G)";

/// Dual averaging in a domain.
///
/// ```
/// use onward::Features;
/// use onward::domain::Domain;
/// use onward::optimizer::{DualAveraging, LazyRate, Optimizer};
/// let mut w = DualAveraging::new(Domain::Ball(1.0), 1.0, LazyRate::Root(0.5))?;
/// let x = [0];
/// w.observe(1.0, Features::new(&x, &[-8.0])?);
/// assert_eq!(w.weight(0), 1.0);
/// // The sum remembers how far out it went: gradient descent would leave the surface now.
/// w.observe(1.0, Features::new(&x, &[1.0])?);
/// assert_eq!(w.weight(0), 1.0);
/// # Ok::<(), onward::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct DualAveraging {
    /// The size of the comparators on an unbounded domain.
    radius: f64,
    rate: LazyRate,
    point: LazyPoint,
    /// t.
    rounds: f64,
    /// Σ‖z_t‖².
    squares: f64,
    /// η_{T−1}, that produced the point of the last round; 0 when there was none.
    used_rate: f64,
    /// η_T, that produced the present point; 0 when there is none.
    next_rate: f64,
    /// Σ min(½η_{t−1}‖z_t‖², D‖z_t‖).
    paid: f64,
}

impl DualAveraging {
    /// In this domain; the radius is that of the comparators where the domain has none.
    ///
    /// # Errors
    /// When a radius, η or G is not from 1e-30 to 1e30.
    pub fn new(domain: Domain, radius: f64, rate: LazyRate) -> Result<Self, Error> {
        RADIUS.check(radius)?;
        match rate {
            LazyRate::SelfTuned => 0.0,
            LazyRate::Known(gradient) => GRADIENT.check(gradient)?,
            LazyRate::Root(eta) => ogd::ETA.check(eta)?,
        };
        let point = LazyPoint::new(domain)?;
        let (rounds, squares, paid) = (0.0, 0.0, 0.0);
        let mut learner = Self { radius, rate, point, rounds, squares, used_rate: 0.0, next_rate: 0.0, paid };
        learner.next_rate = learner.rate_now();
        Ok(learner)
    }

    /// B, in the coordinates seen.
    fn size(&self) -> f64 {
        self.point.domain().reach(self.point.seen()).unwrap_or(self.radius)
    }

    /// The rate that the gradients so far give, before it is held from growing; 0: none yet.
    fn rate_now(&self) -> f64 {
        match self.rate {
            LazyRate::Root(eta) => eta / (self.rounds + 1.0).sqrt(),
            LazyRate::Known(gradient) => {
                // A box has no size before a coordinate was seen.
                let size = if self.size() > 0.0 { self.size() } else { self.radius };
                size / (2.0 * (gradient * gradient + self.squares)).sqrt()
            }
            LazyRate::SelfTuned if self.squares > 0.0 => self.size() / (2.0 * self.squares).sqrt(),
            LazyRate::SelfTuned => 0.0,
        }
    }

    /// min(½η_{t−1}‖z_t‖², D‖z_t‖). Of a box only the coordinates of z_t matter to the second.
    fn cost(&self, square: f64, x: Features<'_>) -> f64 {
        let touched = x.values().iter().filter(|value| **value != 0.0).count();
        let diameter = self.point.domain().diameter(touched as f64);
        let by_distance = diameter.map_or(f64::INFINITY, |diameter| diameter * square.sqrt());
        let by_rate = if self.used_rate > 0.0 { 0.5 * self.used_rate * square } else { f64::INFINITY };
        by_distance.min(by_rate)
    }
}

impl Optimizer for DualAveraging {
    fn prepare(&mut self, g: f64, h: f64, x: Features<'_>) -> Step {
        let square = held((h * g) * (h * g) * sum::squares(x.values()));
        self.used_rate = self.next_rate;
        self.rounds += 1.0;
        self.squares = held(self.squares + square);
        if square > 0.0 {
            self.paid = held(self.paid + self.cost(square, x));
        }
        Step::Gradient { time: h }
    }

    fn advance(&mut self, u: f64, x: Features<'_>) {
        self.point.add(u, x);
        let rate = self.rate_now();
        self.next_rate = if self.next_rate > 0.0 { rate.min(self.next_rate) } else { rate };
        self.point.set_rate(self.next_rate);
    }

    fn weight(&self, index: u32) -> f64 {
        self.point.get(index)
    }

    fn guarantee(&self) -> Guarantee {
        let domain = self.point.domain();
        if self.rate == LazyRate::SelfTuned && !domain.is_bounded() {
            return Guarantee::missing(UNSEEN);
        }
        if !self.point.is_complete() {
            return Guarantee::missing(BEYOND);
        }
        let size = self.size();
        // No rate so far, no regulariser.
        let regulariser = if self.used_rate > 0.0 { size * size / (2.0 * self.used_rate) } else { 0.0 };
        bound_of_sums(domain.comparator(self.radius), regulariser + self.paid, &[self.squares, self.paid])
    }

    fn describe(&self) -> String {
        let (eta, gradient) = match self.rate {
            LazyRate::SelfTuned => (None, None),
            LazyRate::Known(gradient) => (None, Some(gradient)),
            LazyRate::Root(eta) => (Some(eta), None),
        };
        let domain = self.point.domain().describe(Description::of("dual-averaging"), &DOMAIN);
        let rate = domain.with_optional(&ogd::ETA, eta).with_optional(&GRADIENT, gradient);
        rate.with(&RADIUS, self.radius).into()
    }

    fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        visit_fields!(archive.number(self.rounds, self.squares, self.used_rate, self.next_rate, self.paid));
        archive.part("point", |archive| self.point.persist(archive))
    }
}

fn rate(arguments: &Params<'_>) -> LazyRate {
    match (arguments.optional_number("eta"), arguments.optional_number("gradient")) {
        (None, None) => LazyRate::SelfTuned,
        (None, Some(gradient)) => LazyRate::Known(gradient),
        (Some(eta), _) => LazyRate::Root(eta),
    }
}

const GRADIENT: ParameterDescriptor =
    ogd::GRADIENT.meaning("bound on the norm of the gradients, from which the rates start").only_with("eta=auto");

/// `dual-averaging` by name.
pub(crate) const ENTRY: LearnerDescriptor = LearnerDescriptor {
    name: "dual-averaging",
    summary: "gradient descent with lazy projection: the point is the projection of the scaled sum of gradients (Nesterov, Xiao)",
    losses: Losses::Convex,
    parameters: &[ogd::ETA, RADIUS, DOMAIN, DIMENSION, GRADIENT, STANDARDISE],
    promises: &[
        Promise::always("").within(Comparator::Ball(10.0)),
        Promise::always("dimension=10,domain=simplex,radius=1").within(Comparator::Simplex(1.0)),
        Promise::always("domain=l1,radius=1").within(Comparator::L1Ball(1.0)),
        Promise::always("domain=ball,radius=1").within(Comparator::Ball(1.0)),
        Promise::always("domain=box,radius=1").within(Comparator::Box(1.0)),
        Promise::always("domain=all,gradient=20,radius=1"),
        Promise::always("domain=orthant,gradient=20,radius=1").within(Comparator::Orthant(f64::INFINITY)),
        Promise::other("eta=1").within(Comparator::Ball(10.0)),
    ],
    build: |arguments| {
        let (domain, radius) = (Domain::from_arguments(arguments)?, arguments.number("radius"));
        let optimizer = DualAveraging::new(domain, radius, rate(arguments))?;
        Linear::learner(arguments, optimizer)
    },
    plan: |arguments, scales| {
        let domain = Domain::from_arguments(arguments)?;
        let dimension = scales.dimension;
        if let Some(none) = beyond(domain, scales) {
            return Ok(none);
        }
        let (rate, radius) = (rate(arguments), arguments.number("radius"));
        let sizes = (domain.norm(dimension), domain.reach(dimension), domain.diameter(dimension));
        let (size, diameter, gradient) = match sizes {
            (Some(norm), Some(size), Some(diameter)) => {
                (size, diameter, scales.gradient(arguments.loss().as_ref(), norm))
            }
            _ if rate == LazyRate::SelfTuned => return Ok(Guarantee::missing(UNSEEN)),
            _ => match scales.gradient_anywhere(arguments.loss().as_ref()) {
                Some(gradient) => (radius, f64::INFINITY, gradient),
                None => return Ok(Guarantee::missing(NO_GRADIENT)),
            },
        };
        let comparator = domain.comparator(radius);
        if scales.rounds == 0.0 {
            return Ok(Guarantee::own(comparator, 0.0));
        }
        let root = scales.rounds.sqrt();
        // A box whose coordinates come one by one: its rates may stay those of the first, which are
        // smaller than B/√(2Σ‖z‖²) by at most this.
        let late = if let Domain::Box(radius) = domain { size / radius } else { 1.0 };
        let bound = match rate {
            LazyRate::Root(eta) => root * (size * size / (2.0 * eta) + eta * gradient * gradient),
            // η_{t−1} ≤ B/√(2 Σ_{s≤t} ‖z_s‖²) where ‖z‖ ≤ what was said, and at most ‖z‖/G times that.
            LazyRate::Known(known) => {
                let larger = (gradient / known).max(1.0);
                let last = (known * known + gradient * gradient * scales.rounds).sqrt();
                size * std::f64::consts::FRAC_1_SQRT_2 * (late * last + larger * gradient * root)
            }
            // Rounds with S_{t−1} ≥ ‖z_t‖² pay at most ½η_{t−1}‖z_t‖² ≤ ½B‖z_t‖²/√S_t, in all B√S_T;
            // in the others S at least doubles: their D‖z_t‖ ≤ D√S_t sum up to D√S_T·Σ2^(−k/2),
            // and there are none after S has reached G², so that S_t ≤ 2G² in them.
            LazyRate::SelfTuned => {
                let doubling =
                    diameter * gradient * scales.rounds.min(2.0).sqrt() / (1.0 - std::f64::consts::FRAC_1_SQRT_2);
                size * gradient * root * (late * std::f64::consts::FRAC_1_SQRT_2 + 1.0) + doubling
            }
        };
        Ok(Guarantee::own(comparator, bound))
    },
};
