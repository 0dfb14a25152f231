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

use bytemuck::Zeroable;

use super::adagrad::{AdaGradDomain, DELTA, DOMAIN, ETA, FORM};
use crate::archive::{Archive, Field};
use crate::domain::{cube, weighted_ball};
use crate::guarantee::{Guarantee, bound_of_sums};
use crate::numeric::sum::{self, held};
use crate::parameter::Description;
use crate::protocol::{COMPARATOR_RADIUS, Optimizer, Step};
use crate::storage::table::ParameterTable;
use crate::{Error, Features};

/// Sums of gradients are held within this: their squares stay finite.
const LARGEST: f64 = 1e150;

#[derive(Debug, Clone, Copy, Zeroable)]
#[repr(C)]
struct AdaGradDualEntry {
    /// θ_i.
    sum: f64,
    /// G_i.
    squares: f64,
}

/// AdaGrad by dual averaging.
#[derive(Debug, Clone)]
pub struct AdaGradDual {
    domain: AdaGradDomain,
    eta: f64,
    radius: f64,
    delta: f64,
    table: ParameterTable<AdaGradDualEntry>,
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
}

impl AdaGradDual {
    /// With η and δ in a domain; the radius is its size, on R^d that of the box of the
    /// comparators.
    ///
    /// # Errors
    /// When η, δ or the radius is not from 1e-30 to 1e30.
    pub fn new(domain: AdaGradDomain, eta: f64, radius: f64, delta: f64) -> Result<Self, Error> {
        ETA.check(eta)?;
        COMPARATOR_RADIUS.check(radius)?;
        DELTA.check(delta)?;
        let table = ParameterTable::default();
        let (lambda, norm, roots, largest, seen, paid) = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0);
        Ok(Self { domain, eta, radius, delta, table, lambda, norm, roots, largest, seen, paid })
    }

    fn metric(&self, entry: AdaGradDualEntry) -> f64 {
        self.delta + entry.squares.sqrt()
    }

    /// η θ_i/H_i: the weight where there is no domain.
    fn free(&self, entry: AdaGradDualEntry) -> f64 {
        self.eta * (entry.sum / self.metric(entry))
    }

    /// c_t, by the matrix that produced w_t.
    fn cost(&self, scale: f64, x: Features<'_>) -> f64 {
        let pairs = || x.iter().map(|(index, value)| (scale * f64::from(value), self.metric(self.table.get(index))));
        let by_rate = |(z, metric): (f64, f64)| 0.5 * self.eta * (z / metric) * z;
        match self.domain {
            AdaGradDomain::All => sum::sum(pairs().map(by_rate)),
            AdaGradDomain::Box => {
                sum::sum(pairs().map(|(z, metric)| by_rate((z, metric)).min(2.0 * self.radius * z.abs())))
            }
            AdaGradDomain::Ball => {
                let length = sum::sum(pairs().map(|(z, _)| z * z)).sqrt();
                sum::sum(pairs().map(by_rate)).min(2.0 * self.radius * length)
            }
        }
    }

    /// λ anew, and ‖·‖² of the point without a domain, which rounding has moved.
    fn find_multiplier(&mut self) {
        if self.norm <= self.radius * self.radius {
            self.lambda = 0.0;
            return;
        }
        // In order of index, whatever the order in which they came: a saved learner goes on to the bit.
        let entries = self.table.used(|entry| entry.sum != 0.0).into_iter().map(|index| self.table.get(index));
        let pairs: Vec<_> = entries.map(|entry| (self.metric(entry), self.free(entry))).collect();
        self.lambda = weighted_ball::multiplier(&pairs, self.radius);
        self.norm = held(sum::sum(pairs.iter().map(|(_, weight)| weight * weight)));
    }
}

impl Optimizer for AdaGradDual {
    fn dot(&self, x: Features<'_>) -> f64 {
        sum::sum(x.iter().map(|(index, value)| self.weight(index) * f64::from(value)))
    }

    fn prepare(&mut self, g: f64, h: f64, x: Features<'_>) -> Step {
        let scale = h * g;
        self.paid = held(self.paid + self.cost(scale, x));
        for (index, value) in x.iter() {
            let before = self.table.get(index);
            // What its weight adds to the norm is taken away, and comes back when it has moved.
            self.norm -= self.free(before).powi(2);
            let z = scale * f64::from(value);
            let entry = self.table.entry(index);
            entry.squares = held(before.squares + z * z);
            let after = entry.squares;
            self.roots += after.sqrt() - before.squares.sqrt();
            self.largest = self.largest.max(after);
            if before.squares == 0.0 && after > 0.0 {
                self.seen += 1.0;
            }
        }
        Step::Gradient { time: h }
    }

    fn advance(&mut self, u: f64, x: Features<'_>) {
        for (index, value) in x.iter() {
            let entry = self.table.entry(index);
            entry.sum = (entry.sum + u * f64::from(value)).clamp(-LARGEST, LARGEST);
            let after = *entry;
            self.norm = held(self.norm + self.free(after).powi(2));
        }
        if self.domain == AdaGradDomain::Ball {
            self.find_multiplier();
        }
    }

    fn weight(&self, index: u32) -> f64 {
        let entry = self.table.get(index);
        match self.domain {
            AdaGradDomain::All => self.free(entry),
            AdaGradDomain::Box => cube::project(self.free(entry), self.radius),
            AdaGradDomain::Ball => weighted_ball::shrunk(self.metric(entry), self.free(entry), self.lambda),
        }
    }

    fn guarantee(&self) -> Guarantee {
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

    fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        archive.number("lambda", &mut self.lambda)?;
        archive.number("norm", &mut self.norm)?;
        archive.number("roots", &mut self.roots)?;
        archive.number("largest", &mut self.largest)?;
        archive.number("seen", &mut self.seen)?;
        archive.number("paid", &mut self.paid)?;
        let fields = [
            ("sum", Field::F64(&|entry: &mut AdaGradDualEntry| &mut entry.sum)),
            ("squares", Field::F64(&|entry| &mut entry.squares)),
        ];
        self.table.persist(archive, |entry| entry.squares > 0.0 || entry.sum != 0.0, &fields)
    }
}
