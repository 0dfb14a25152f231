//! AdaGrad with a diagonal metric, in the dual-averaging form (Duchi, Hazan, Singer 2011).
//!
//! θ_{t+1} = θ_t − z_t, H_{t,i} = δ + √G_{t,i} with G_t = Σ_{s≤t} z_s², and
//! w_{t+1} = argmin −⟨θ_{t+1}, w⟩ + Σ H_{t,i} w_i²/(2η) over the domain: η θ_i/H_i on R^d, held within
//! ±U in a box, and η θ_i/(H_i + λ) on an L2 ball ([`weighted_ball`]).
//!
//! **Guarantee**, for convex losses and every u of the box or ball (on R^d: with |u_i| ≤ U):
//! R_T(u) ≤ Σ H_{T,i} u_i²/(2η) + Σ_t c_t. The matrix that produced w_t has not seen z_t, so that round t
//! costs c_t = (η/2) Σ z_{t,i}²/H_{t−1,i}, not what H_t would give; with δ ≥ max|z_{t,i}| it is at most
//! that, and the sum at most η Σ√G_i. In a bounded domain c_t is besides at most what the whole
//! domain is worth in the direction of z_t: 2U|z_{t,i}| for each coordinate of the box, 2U‖z_t‖₂ on the
//! ball (the proof is that of [dual averaging](super::dual_averaging)). Printed from what
//! happened; of u the largest of the class: U²Σ H_i over the coordinates seen, on the ball
//! U² max H_i.
//!
//! The step is by the plain gradient, which the theorem is about.
//!
//! Cost: O(non-zeros) on R^d and in the box; on the ball O(d log d) in rounds whose point lies
//! on its surface.

use super::adagrad::{AdaGradDomain, DELTA, DOMAIN, ETA, FORM};
use super::adaptive::{Adaptive, AdaptiveRule, AdaptiveTable};
use super::prelude::*;
use crate::domain::{RADIUS, weighted_ball};
use crate::numeric::sum::{self, LARGEST_SUM, held};
use crate::simd::f64x4::{F64x4, Real};
use crate::storage::table::ParameterTable;

/// Sums of gradients are held within this: their squares stay finite.
const LARGEST: f64 = 1e150;

/// AdaGrad by dual averaging.
pub type AdaGradDual = Adaptive<AdaGradDualRule, 2>;

/// What [`AdaGradDual`] knows of all features together.
#[derive(Debug, Clone)]
pub struct AdaGradDualRule {
    domain: AdaGradDomain,
    eta: f64,
    radius: f64,
    delta: f64,
    /// λ of the projection on the ball.
    lambda: f64,
    /// Σ (η θ_i/H_i)², for the ball.
    norm: f64,
    /// Σ√G_i, the largest G_i, and how many of them are above 0.
    roots: f64,
    largest: f64,
    seen: f64,
    /// Σ c_t.
    paid: f64,
    /// h·g of this round.
    scalar: f64,
}

impl AdaGradDual {
    /// With η and δ in a domain; the radius is its size, on R^d that of the box of the
    /// comparators.
    ///
    /// # Errors
    /// When η, δ or the radius is not from 1e-30 to 1e30.
    pub fn new(domain: AdaGradDomain, eta: f64, radius: f64, delta: f64) -> Result<Self, Error> {
        ETA.check(eta)?;
        RADIUS.check(radius)?;
        DELTA.check(delta)?;
        let (lambda, norm, roots, largest, seen, paid, scalar) = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0);
        Ok(Self::of(AdaGradDualRule { domain, eta, radius, delta, lambda, norm, roots, largest, seen, paid, scalar }))
    }
}

impl AdaGradDualRule {
    /// H_i.
    #[inline(always)]
    fn metric<Q: Real>(&self, squares: Q) -> Q {
        Q::all(self.delta) + squares.sqrt()
    }

    /// η θ_i/H_i: the weight where there is no domain.
    #[inline(always)]
    fn free<Q: Real>(&self, [sum, squares]: [Q; 2]) -> Q {
        Q::all(self.eta) * (sum / self.metric(squares))
    }

    /// λ anew, and ‖·‖² of the point without a domain, which rounding has moved.
    fn find_multiplier(&mut self, features: &ParameterTable<[f64; 2]>) {
        if self.norm <= self.radius * self.radius {
            self.lambda = 0.0;
            return;
        }
        // In order of index, whatever the order in which they came: a saved learner goes on to the bit.
        let entries = features.used(|[sum, _]| *sum != 0.0).into_iter().map(|index| features.get(index));
        let pairs: Vec<_> = entries.map(|entry| (self.metric(entry[1]), self.free(entry))).collect();
        self.lambda = weighted_ball::multiplier(&pairs, self.radius);
        self.norm = held(sum::sum(pairs.iter().map(|(_, weight)| weight * weight)));
    }
}

/// Of each feature: θ_i and G_i.
impl AdaptiveRule<2> for AdaGradDualRule {
    type Entry = [f64; 2];

    #[inline(always)]
    fn weight<Q: Real>(&self, numbers: [Q; 2], _value: Q) -> Q {
        let (free, metric) = (self.free(numbers), self.metric(numbers[1]));
        match self.domain {
            AdaGradDomain::Box => free.held(Q::all(self.radius)),
            AdaGradDomain::Ball if self.lambda > 0.0 => free * (metric / (metric + Q::all(self.lambda))),
            AdaGradDomain::All | AdaGradDomain::Ball => free,
        }
    }

    /// The sums are that of ½η z_i²/H_i, by the matrix that produced w_t, and ‖z‖².
    #[inline(always)]
    fn observe<Q: F64x4>(&mut self, [sum, before]: [Q; 2], value: Q) -> ([Q; 2], Q, [Q; 2]) {
        let z = Q::all(self.scalar) * value;
        let cost = Q::all(0.5 * self.eta) * (z / self.metric(before)) * z;
        let cost = match self.domain {
            AdaGradDomain::Box => cost.smaller(Q::all(2.0 * self.radius) * z.abs()),
            AdaGradDomain::All | AdaGradDomain::Ball => cost,
        };
        let squares = (before + z * z).smaller(Q::all(LARGEST_SUM));
        // What a weight adds to the norm is taken away, and comes back when it has moved.
        for weight in self.free([sum, before]).numbers() {
            self.norm -= weight * weight;
        }
        for grown in (squares.sqrt() - before.sqrt()).numbers() {
            self.roots += grown;
        }
        for (before, after) in before.numbers().into_iter().zip(squares.numbers()) {
            self.largest = self.largest.max(after);
            self.seen += f64::from(u8::from(before == 0.0 && after > 0.0));
        }
        ([sum, squares], value, [cost, z * z])
    }

    #[inline(always)]
    fn step<Q: F64x4>(&self, [sum, squares]: [Q; 2], change: Q) -> [Q; 2] {
        [(sum + change).held(Q::all(LARGEST)), squares]
    }

    fn prepare(&mut self, g: f64, h: f64, features: &mut AdaptiveTable<Self, 2>) -> Step {
        self.scalar = h * g;
        let [cost, square] = features.observe(self);
        let most = match self.domain {
            AdaGradDomain::Ball => 2.0 * self.radius * square.sqrt(),
            AdaGradDomain::All | AdaGradDomain::Box => f64::INFINITY,
        };
        self.paid = held(self.paid + cost.min(most));
        Step::Gradient { time: h }
    }

    fn advance(&mut self, u: f64, x: Features<'_>, features: &mut AdaptiveTable<Self, 2>) {
        features.advance(self, u, x);
        self.norm = features.row(x).fold(self.norm, |norm, entry| held(norm + self.free(entry).powi(2)));
        if self.domain == AdaGradDomain::Ball {
            self.find_multiplier(features.entries());
        }
    }

    fn guarantee(&self, _features: &ParameterTable<[f64; 2]>) -> Guarantee {
        let metric = match self.domain {
            AdaGradDomain::Ball => self.delta + self.largest.sqrt(),
            AdaGradDomain::All | AdaGradDomain::Box => self.delta * self.seen + self.roots,
        };
        // Before a gradient there is nothing to pay for.
        let metric = if self.seen > 0.0 { metric } else { 0.0 };
        let bound = self.radius * self.radius / (2.0 * self.eta) * metric + self.paid;
        bound_of_sums(self.domain.comparator(self.radius), bound, &[self.largest, self.paid])
    }

    fn describe(&self) -> String {
        let adagrad = Description::of("adagrad").with(&DELTA, self.delta).with(&DOMAIN, self.domain.name());
        adagrad.with(&ETA, self.eta).with(&FORM, "dual-averaging").with(&COMPARATOR_RADIUS, self.radius).into()
    }

    fn persist(&mut self, archive: &mut Archive, features: &mut ParameterTable<[f64; 2]>) -> Result<(), Error> {
        visit_fields!(archive.number(self.lambda, self.norm, self.roots, self.largest, self.seen, self.paid));
        let fields =
            [("sum", Field::F64(&|[sum, _]: &mut [f64; 2]| sum)), ("squares", Field::F64(&|[_, squares]| squares))];
        features.persist(archive, |[sum, squares]| *squares > 0.0 || *sum != 0.0, &fields)
    }
}
