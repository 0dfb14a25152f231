//! Projected online gradient descent (Zinkevich 2003).
//!
//! w_{t+1} = Π(w_t − η_t z_t), Π the projection on the domain, z_t = h_t g_t x_t the gradient of
//! round t. Each step is projected (*greedy* projection); where only the point is, and not the
//! sum of the steps, it is [dual averaging](super::dual_averaging).
//!
//! With `step=flow` a linear learner moves by gradient flow of the loss for the time η_t h_t, which
//! keeps the bound. To first order in η_t both are the same step.
//!
//! Rates: η_t = η/√t, or self-tuned η_t = D/√(2 Σ_{s≤t} ‖z_s‖²), D the largest
//! distance of two points of the domain: 2U for the L2 and the L1 ball, U√2 for the
//! simplex, 2U√d for the box, d the number of coordinates seen so far (there the
//! rate is held from growing when d grows).
//!
//! **Guarantee**, for convex losses, every u of a bounded domain and any rates that
//! do not grow: R_T(u) ≤ D²/(2η_T) + ½ Σ η_t ‖z_t‖². It is printed from the rates and
//! gradients that occurred. With ‖z‖ ≤ G and η = D/(√2·G), on the ball U√2/G, it is at
//! most √2·DG√T, on the ball UG√(8T) (not UG√(2T), as is often claimed); self-tuned
//! at most √2·D·√(Σ‖z_t‖²). On an unbounded domain rates that fall have none, for
//! nothing bounds how far the point goes from u; a [fixed rate](super::osd) has.
//!
//! Cost: that of a step of [`Point`].

use super::BEYOND;
use super::prelude::*;
use crate::domain::{DIMENSION_OF_RATE, DOMAIN, Domain, Point, RADIUS};
use crate::numeric::sum::{self, held};

/// How the step size falls.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum OgdRate {
    /// η_t = D/√(2 Σ‖z‖²): nothing to choose.
    SelfTuned,
    /// η_t = η/√t.
    Root(f64),
    /// η_t = η.
    Constant(f64),
}

impl OgdRate {
    /// η, where it is given.
    fn eta(self) -> Option<f64> {
        match self {
            Self::SelfTuned => None,
            Self::Root(eta) | Self::Constant(eta) => Some(eta),
        }
    }
}

/// Projected online gradient descent in a domain.
///
/// ```
/// use onward::Features;
/// use onward::domain::Domain;
/// use onward::optimizer::{Ogd, Optimizer, OgdRate};
/// let mut w = Ogd::new(Domain::Ball(1.0), 1.0, OgdRate::Root(0.5))?;
/// w.observe(1.0, Features::new(&[2], &[-3.0])?);
/// // 0.5·3 is outside of the ball.
/// assert_eq!(w.weight(2), 1.0);
/// # Ok::<(), onward::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Ogd {
    /// The name it goes by: ogd, or osd for a rate that is fixed.
    name: &'static str,
    /// The size of the comparators on an unbounded domain; elsewhere that of the domain.
    radius: f64,
    rate: OgdRate,
    step: StepKind,
    is_averaging: bool,
    point: Point,
    /// t: rounds with a gradient taken in.
    rounds: f64,
    /// Σ‖z_t‖².
    squares: f64,
    /// η_T, the rate of the last round with a rate.
    last_rate: f64,
    /// Σ η_t‖z_t‖².
    paid: f64,
}

impl Ogd {
    /// In this domain; the radius is that of the comparators of the guarantee where the domain
    /// has none.
    ///
    /// # Errors
    /// When a radius or η is not from 1e-30 to 1e30.
    pub fn new(domain: Domain, radius: f64, rate: OgdRate) -> Result<Self, Error> {
        RADIUS.check(radius)?;
        rate.eta().map(|eta| ETA.check(eta)).transpose()?;
        let point = Point::new(domain)?;
        let (name, step, is_averaging) = ("ogd", StepKind::Gradient, false);
        let (rounds, squares, last_rate, paid) = (0.0, 0.0, 0.0, 0.0);
        Ok(Self { name, radius, rate, step, is_averaging, point, rounds, squares, last_rate, paid })
    }

    /// The same under another name.
    pub(super) fn named(self, name: &'static str) -> Self {
        Self { name, ..self }
    }

    /// The same with this kind of steps.
    #[must_use]
    pub fn with_step(self, step: StepKind) -> Self {
        Self { step, ..self }
    }

    /// The same, keeping the average of the points that made the predictions.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn averaging(self) -> Result<Self, Error> {
        Ok(Self { is_averaging: true, point: Point::averaging(self.point.domain())?, ..self })
    }

    /// The parameters that `ogd` and `osd` share.
    pub(super) fn from_arguments(arguments: &Params<'_>, rate: OgdRate) -> Result<Self, Error> {
        let optimizer = Self::new(Domain::from_arguments(arguments)?, arguments.number("radius"), rate)?
            .with_step(StepKind::from_arguments(arguments));
        if arguments.flag("average") { optimizer.averaging() } else { Ok(optimizer) }
    }

    /// D²/(2η) and all that, of a stream of these bounds.
    pub(super) fn promise(&self, loss: &dyn Loss, scales: &ProblemBounds) -> Guarantee {
        let (domain, dimension) = (self.point.domain(), scales.dimension);
        if let Some(none) = beyond(domain, scales) {
            return none;
        }
        let sizes = (domain.norm(dimension), domain.diameter(dimension), domain.reach(dimension));
        let (Some(norm), Some(diameter), Some(reach)) = sizes else {
            return match self.rate {
                OgdRate::Constant(eta) => promise_of_fixed_rate(domain, eta, self.radius, loss, scales),
                _ => Guarantee::missing(UNBOUNDED),
            };
        };
        let gradient = scales.gradient(loss, norm);
        let root = scales.rounds.sqrt();
        let bound = match (self.rate, domain) {
            // A box whose coordinates come one by one: the rate is at least that of the first.
            (OgdRate::SelfTuned, Domain::Box(radius)) => {
                let ratio = diameter / (2.0 * radius);
                (ratio + 1.0) * diameter * std::f64::consts::FRAC_1_SQRT_2 * gradient * root
            }
            (OgdRate::SelfTuned, _) => std::f64::consts::SQRT_2 * diameter * gradient * root,
            // Σ 1/√t ≤ 2√T.
            (OgdRate::Root(eta), _) => root * (diameter * diameter / (2.0 * eta) + eta * gradient * gradient),
            (OgdRate::Constant(eta), _) => {
                reach * reach / (2.0 * eta) + 0.5 * eta * gradient * gradient * scales.rounds
            }
        };
        Guarantee::own(domain.comparator(1.0), if scales.rounds > 0.0 { bound } else { 0.0 })
    }

    fn next_rate(&self) -> f64 {
        match self.rate {
            OgdRate::Constant(eta) => eta,
            OgdRate::Root(eta) => eta / self.rounds.sqrt(),
            OgdRate::SelfTuned if self.squares > 0.0 => {
                // On an unbounded domain as if the comparators were all of it.
                let diameter = self.point.domain().diameter(self.point.seen()).unwrap_or(2.0 * self.radius);
                let rate = diameter / (2.0 * self.squares).sqrt();
                if self.last_rate > 0.0 { rate.min(self.last_rate) } else { rate }
            }
            // No gradient so far: no step, and no rate to speak of.
            OgdRate::SelfTuned => 0.0,
        }
    }
}

impl Optimizer for Ogd {
    fn dot(&self, x: Features<'_>) -> f64 {
        self.point.dot(x)
    }

    fn prepare(&mut self, g: f64, h: f64, x: Features<'_>) -> Step {
        self.point.count();
        let q = sum::squares(x.values());
        let square = held((h * g) * (h * g) * q);
        self.rounds += 1.0;
        self.squares = held(self.squares + square);
        if square > 0.0 {
            self.point.see(x);
        }
        let rate = self.next_rate();
        self.last_rate = rate;
        self.paid = held(self.paid + rate * square);
        self.step.step(rate * h, q)
    }

    fn advance(&mut self, u: f64, x: Features<'_>) {
        self.point.step(u, x);
    }

    fn weight(&self, index: u32) -> f64 {
        self.point.get(index)
    }

    fn averaged(&self) -> Option<Vec<(u32, f64)>> {
        self.point.averaged()
    }

    fn guarantee(&self) -> Guarantee {
        let domain = self.point.domain();
        let seen = self.point.seen();
        let distance = match self.rate {
            // The point starts from 0, and only where it starts counts.
            OgdRate::Constant(_) => Some(domain.reach(seen).unwrap_or(self.radius)),
            OgdRate::SelfTuned | OgdRate::Root(_) => domain.diameter(seen),
        };
        match distance {
            None => Guarantee::missing(UNBOUNDED),
            Some(_) if !self.point.is_complete() => Guarantee::missing(BEYOND),
            Some(distance) => {
                // Before the first gradient there is no rate, and nothing was paid.
                let first = if self.last_rate > 0.0 { distance * distance / (2.0 * self.last_rate) } else { 0.0 };
                let bound = first + 0.5 * self.paid;
                bound_of_sums(domain.comparator(self.radius), bound, &[self.squares, self.paid])
            }
        }
    }

    fn describe(&self) -> String {
        let average = Description::of(self.name).with(&AVERAGE, self.is_averaging);
        let domain = self.point.domain().describe(average, &DOMAIN);
        domain.with_optional(&ETA, self.rate.eta()).with(&RADIUS, self.radius).with(&STEP, self.step).into()
    }

    fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        visit_fields!(archive.number(self.rounds, self.squares, self.last_rate, self.paid));
        archive.part("point", |archive| self.point.persist(archive))
    }
}

/// Why rates that fall have no guarantee on all of R^d.
const UNBOUNDED: &str = "on an unbounded domain with decreasing rates the weights have no bound; use a bounded \
    domain, or a fixed rate (osd)";

/// Why nothing can be promised beforehand on an unbounded domain.
pub(super) const NO_GRADIENT: &str = "on an unbounded domain the gradients of this loss have no bound in advance";

/// Why there is no promise for features that a simplex does not have.
pub(super) fn beyond(domain: Domain, scales: &ProblemBounds) -> Option<Guarantee> {
    let is_beyond = matches!(domain, Domain::Simplex { dimension, .. } if scales.dimension > f64::from(dimension));
    is_beyond.then(|| Guarantee::missing(BEYOND))
}

pub(super) const ETA: ParameterDescriptor =
    positive("eta").or("auto").meaning("the rate is eta/√t; auto: tuned from the gradients").remedy("a smaller eta");

pub(super) const AVERAGE: ParameterDescriptor =
    flag("average").meaning("keep the average of the weights that made the predictions").quiet();

pub(super) const GRADIENT: ParameterDescriptor =
    positive("gradient").or("none").meaning("bound on the norm of the gradients").quiet();

pub(super) const ROUNDS: ParameterDescriptor =
    number("rounds", 1.0..=1e18).or("none").meaning("the number of rounds T, if known in advance");

/// How many coordinates there are, where a rate that is set beforehand depends on it.
pub(super) fn coordinates(arguments: &Params<'_>, domain: Domain) -> Result<f64, Error> {
    match domain {
        Domain::Box(_) if !arguments.is_given("dimension") => {
            Err(Error::parameter("gradient with domain=box needs the number of features; give it as dimension=100"))
        }
        _ => Ok(arguments.number("dimension")),
    }
}

/// The fixed rate B/(G√T), B the largest ‖u − w_1‖ (on an unbounded domain the radius).
pub(super) fn rate_of_theorem(
    arguments: &Params<'_>,
    domain: Domain,
    rounds: f64,
    gradient: f64,
) -> Result<f64, Error> {
    let reach = domain.reach(coordinates(arguments, domain)?);
    Ok(reach.unwrap_or_else(|| arguments.number("radius")) / (gradient * rounds.sqrt()))
}

/// U²/(2η) + ½ηTG² on an unbounded domain, against comparators no larger than the radius U.
pub(super) fn promise_of_fixed_rate(
    domain: Domain,
    eta: f64,
    radius: f64,
    loss: &dyn Loss,
    scales: &ProblemBounds,
) -> Guarantee {
    let Some(gradient) = scales.gradient_anywhere(loss) else { return Guarantee::missing(NO_GRADIENT) };
    let bound = radius * radius / (2.0 * eta) + 0.5 * eta * gradient * gradient * scales.rounds;
    Guarantee::own(domain.comparator(radius), bound)
}

fn rate(arguments: &Params<'_>) -> Result<OgdRate, Error> {
    match (arguments.optional_number("eta"), arguments.optional_number("gradient")) {
        (None, None) => Ok(OgdRate::SelfTuned),
        (Some(eta), _) => Ok(OgdRate::Root(eta)),
        (None, Some(gradient)) => {
            let domain = Domain::from_arguments(arguments)?;
            let Some(diameter) = domain.diameter(coordinates(arguments, domain)?) else {
                return Err(Error::parameter(format!(
                    "gradient needs a bounded domain; got domain={}: use ball, box, l1 or simplex",
                    domain.name()
                )));
            };
            Ok(OgdRate::Root(diameter * std::f64::consts::FRAC_1_SQRT_2 / gradient))
        }
    }
}

const GRADIENT_OF_ETA: ParameterDescriptor = GRADIENT
    .meaning("bound on the norm of the gradients, which sets eta: radius·√2/gradient on the ball")
    .only_with("eta=auto");

/// `ogd` by name.
pub(crate) const ENTRY: LearnerDescriptor = LearnerDescriptor {
    name: "ogd",
    summary: "projected online gradient descent with decreasing rates (Zinkevich)",
    losses: Losses::Convex,
    parameters: &[ETA, RADIUS, DOMAIN, DIMENSION_OF_RATE, GRADIENT_OF_ETA, STEP, AVERAGE, STANDARDISE],
    promises: &[
        Promise::always("").within(Comparator::Ball(10.0)),
        Promise::always("eta=1").within(Comparator::Ball(10.0)),
        Promise::always("radius=1").within(Comparator::Ball(1.0)),
        Promise::always("radius=1,step=flow").within(Comparator::Ball(1.0)),
        Promise::always("domain=box,radius=1").within(Comparator::Box(1.0)),
        Promise::always("domain=l1,radius=1").within(Comparator::L1Ball(1.0)),
        Promise::always("dimension=10,domain=simplex,radius=1").within(Comparator::Simplex(1.0)),
        Promise::always("domain=box,dimension=10,gradient=20,radius=1").within(Comparator::Box(1.0)),
        Promise::never("domain=all,radius=1", UNBOUNDED),
        Promise::never("domain=orthant,radius=1", UNBOUNDED).within(Comparator::Orthant(f64::INFINITY)),
        Promise::other("average=true").within(Comparator::Ball(10.0)),
    ],
    build: |arguments| Linear::learner(arguments, Ogd::from_arguments(arguments, rate(arguments)?)?),
    plan: |arguments, scales| {
        let optimizer = Ogd::from_arguments(arguments, rate(arguments)?)?;
        Ok(optimizer.promise(arguments.loss().as_ref(), scales))
    },
};

#[cfg(test)]
mod tests {
    use super::*;

    /// What the theorem says of ‖z‖ ≤ G is what is printed when all gradients are that large.
    #[test]
    fn the_printed_bound_is_the_textbooks_when_all_gradients_are_as_large_as_was_said() {
        let (radius, gradient, rounds) = (3.0, 2.0, 100);
        let eta = radius * std::f64::consts::SQRT_2 / gradient;
        let mut ogd = Ogd::new(Domain::Ball(radius), radius, OgdRate::Root(eta)).unwrap();
        for _ in 0..rounds {
            ogd.observe(1.0, Features::new(&[0], &[2.0]).unwrap());
        }
        let roots: f64 = (1..=rounds).map(|t| 1.0 / f64::from(t).sqrt()).sum();
        let exact = 4.0 * radius * radius * 10.0 / (2.0 * eta) + 0.5 * eta * gradient * gradient * roots;
        let bound = ogd.guarantee().bound.unwrap();
        assert!((bound - exact).abs() < 1e-12 * exact);
        assert!(bound <= radius * gradient * (8.0 * f64::from(rounds)).sqrt());
    }

    #[test]
    fn domains_without_end_have_a_bound_at_a_fixed_rate_only() {
        let x = Features::new(&[0, 4], &[1.0, -2.0]).unwrap();
        for domain in [Domain::All, Domain::Orthant] {
            for (rate, has) in
                [(OgdRate::SelfTuned, false), (OgdRate::Root(1.0), false), (OgdRate::Constant(0.1), true)]
            {
                let mut ogd = Ogd::new(domain, 2.0, rate).unwrap();
                ogd.observe(1.0, x);
                let guarantee = ogd.guarantee();
                assert_eq!(guarantee.bound.is_ok(), has, "{domain:?} {rate:?}");
                if has {
                    // ‖u‖²/(2η) + (η/2)Σ‖z‖².
                    assert!((guarantee.bound.unwrap() - (4.0 / 0.2 + 0.05 * 5.0)).abs() < 1e-12);
                }
            }
        }
    }

    #[test]
    fn the_rate_of_a_box_does_not_grow_when_coordinates_come() {
        let mut ogd = Ogd::new(Domain::Box(1.0), 1.0, OgdRate::SelfTuned).unwrap();
        let mut last = f64::INFINITY;
        for index in 0..50u32 {
            ogd.observe(1e-3, Features::new(&[index % 25], &[1.0]).unwrap());
            assert!(ogd.last_rate <= last);
            last = ogd.last_rate;
        }
        assert_eq!(ogd.point.seen(), 25.0);
    }
}
