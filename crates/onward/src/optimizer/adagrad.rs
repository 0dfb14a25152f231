//! AdaGrad with a diagonal metric, in the mirror-descent form (Duchi, Hazan,
//! Singer 2011; McMahan, Streeter 2010).
//!
//! G_i += z_i²; w_i −= η z_i/√G_i (nothing where G_i = 0); then the projection in the norm
//! √Σ √G_i w_i²: in a box coordinate by coordinate, on an L2 ball by [`weighted_ball`]. With `step=flow` a
//! linear learner moves by gradient flow of the loss in that metric for time h, which keeps the bound.
//!
//! **Guarantee**, for convex losses and every u of the box or ball of radius U (on R^d: with
//! ‖u‖_∞ ≤ U): with D = max_t ‖w_t‖_∞ + U, R_T(u) ≤ (D²/(2η) + η) Σ_i √G_i, that is √2·D·Σ√G_i at
//! the best η = D/√2. The largest weight and Σ√G_i are those that occurred. In a domain of
//! radius U, where D ≤ 2U, `eta=auto` is U√2.
//!
//! Cost: O(non-zeros); on the ball O(d) to O(d log d) in rounds in which the step left it.
//!
//! The other forms: [`adagrad_dual`](super::adagrad_dual) (`form=dual-averaging`) and the full
//! matrix, [`adagrad_full`](super::adagrad_full) (`full=true`).

use super::adaptive::{Adaptive, AdaptiveRule, AdaptiveTable, Entry, F32Entry, F64Entry};
use super::prelude::*;
use super::{AdaGradDual, AdaGradFull};
use crate::archive::Precision;
use crate::domain::{ALL, BALL, BOX, Domain, RADIUS, weighted_ball};
use crate::numeric::sum::{self, LARGEST_SUM};
use crate::simd::f64x4::{F64x4, Real};
use crate::storage::table::ParameterTable;

/// Where AdaGrad keeps its weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AdaGradDomain {
    /// R^d.
    All,
    /// |w_i| ≤ radius.
    Box,
    /// ‖w‖₂ ≤ radius.
    Ball,
}

impl AdaGradDomain {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::All => ALL.0,
            Self::Box => BOX.0,
            Self::Ball => BALL.0,
        }
    }

    pub(super) fn comparator(self, radius: f64) -> Comparator {
        match self {
            Self::All | Self::Box => Comparator::Box(radius),
            Self::Ball => Comparator::Ball(radius),
        }
    }
}

/// AdaGrad with a diagonal metric.
pub type AdaGrad = Adaptive<AdaGradRule, 2>;

/// What [`AdaGrad`] knows of all features together.
#[derive(Debug, Clone)]
pub struct AdaGradRule {
    eta: f64,
    step: StepKind,
    domain: AdaGradDomain,
    /// U, the size of the domain, or of the comparators that the guarantee is for.
    radius: f64,
    /// What |w_i| is held to.
    limit: f64,
    /// Σ√G_i.
    roots: f64,
    /// max_t ‖w_t‖_∞.
    largest: f64,
    /// ‖w‖², for the ball.
    norm: f64,
    /// h·g of this round.
    scalar: f64,
    /// Of the weights.
    precision: Precision,
}

impl AdaGrad {
    /// With this η on all of R^d, and the guarantee printed for comparators in the box of this
    /// radius.
    ///
    /// # Errors
    /// When η is not from 1e-30 to 1e30, or the radius not positive and finite.
    pub fn new(eta: f64, radius: f64) -> Result<Self, Error> {
        Self::within(AdaGradDomain::All, eta, radius)
    }

    /// With this η in a domain of this radius.
    ///
    /// # Errors
    /// As [`new`](Self::new); for the box and the ball, when the radius is not from 1e-30 to 1e30.
    pub fn within(domain: AdaGradDomain, eta: f64, radius: f64) -> Result<Self, Error> {
        ETA.check(eta)?;
        let sizes = if domain == AdaGradDomain::All { COMPARATOR_RADIUS } else { RADIUS };
        sizes.check(radius)?;
        let limit = if domain == AdaGradDomain::Box { radius } else { f64::INFINITY };
        let (step, precision) = (StepKind::Gradient, Precision::Double);
        let (roots, largest, norm, scalar) = (0.0, 0.0, 0.0, 0.0);
        Ok(Self::of(AdaGradRule { eta, step, domain, radius, limit, roots, largest, norm, scalar, precision }))
    }

    /// The same with this kind of steps.
    #[must_use]
    pub fn with_step(mut self, step: StepKind) -> Self {
        self.rule.step = step;
        self
    }
}

impl AdaGradRule {
    /// The nearest point of the ball in the norm √Σ √G_i w_i².
    fn project_on_ball(&mut self, features: &mut ParameterTable<F64Entry>) {
        if self.norm <= self.radius * self.radius {
            return;
        }
        // In order of index, whatever the order in which they came: a saved learner goes on to the bit.
        let indices = features.used(|entry| entry.weight != 0.0);
        let pair = |entry: F64Entry| (entry.accumulator, entry.weight);
        let pairs: Vec<_> = indices.iter().map(|&index| pair(features.get(index))).collect();
        let lambda = weighted_ball::multiplier(&pairs, self.radius);
        for (&index, &(root, weight)) in indices.iter().zip(&pairs) {
            features.entry(index).weight = self.precision.rounded(weighted_ball::shrunk(root, weight, lambda));
        }
        self.norm = sum::sum(indices.iter().map(|&index| features.get(index).weight.powi(2)));
    }
}

/// Of each feature: √G_i and w_i. The root, because Σ√G_i is kept too, and one of G_i before and one after a round
/// would be two roots.
impl AdaptiveRule<2> for AdaGradRule {
    type Entry = F64Entry;

    const KNOWS_LARGEST: bool = true;

    #[inline(always)]
    fn weight<Q: Real>(&self, [_, weight]: [Q; 2], _value: Q) -> Q {
        weight
    }

    /// The direction is η·x_i/√G_i, and the sums are q and that by which Σ√G_i grows.
    #[inline(always)]
    fn observe<Q: F64x4>(&mut self, [before, weight]: [Q; 2], value: Q) -> ([Q; 2], Q, [Q; 2]) {
        let z = Q::all(self.scalar) * value;
        let sum = before * before + z * z;
        // Rounding must not make it smaller.
        let root = sum.smaller(Q::all(LARGEST_SUM)).sqrt().larger(before);
        let zero = Q::all(0.0);
        let direction = value * (Q::all(self.eta) / root).where_above(root, zero, zero);
        ([root, weight], direction, [value * direction, root - before])
    }

    #[inline(always)]
    fn step<Q: F64x4>(&self, [root, weight]: [Q; 2], change: Q) -> [Q; 2] {
        let held = (weight + change).larger(Q::all(-self.limit)).smaller(Q::all(self.limit));
        let is_single = self.precision == Precision::Single;
        [root, if is_single { F32Entry::rounded(held) } else { Self::Entry::rounded(held) }]
    }

    fn prepare(&mut self, g: f64, h: f64, features: &mut AdaptiveTable<Self, 2>) -> Step {
        self.scalar = h * g;
        let [q, grown] = features.observe(self);
        self.roots += grown;
        self.step.step(h, q)
    }

    fn advance(&mut self, u: f64, x: Features<'_>, features: &mut AdaptiveTable<Self, 2>) {
        if self.domain != AdaGradDomain::Ball {
            self.largest = self.largest.max(features.advance(self, u, x));
            return;
        }
        let norm = |features: &AdaptiveTable<Self, 2>| sum::sum(features.row(x).map(|[_, weight]| weight * weight));
        let before = norm(features);
        features.advance(self, u, x);
        self.norm = (self.norm + (norm(features) - before)).max(0.0);
        self.project_on_ball(features.entries_mut());
        // Only weights of this row can have grown.
        self.largest = features.row(x).fold(self.largest, |most, [_, weight]| most.max(weight.abs()));
    }

    fn guarantee(&self, _features: &ParameterTable<F64Entry>) -> Guarantee {
        let diameter = self.largest + self.radius;
        let bound = (diameter * diameter / (2.0 * self.eta) + self.eta) * self.roots;
        // √G_i ≤ Σ√G_i: held only where a square of it was.
        bound_of_sums(self.domain.comparator(self.radius), bound, &[self.roots * self.roots])
    }

    fn describe(&self) -> String {
        let adagrad = Description::of("adagrad").with(&DOMAIN, self.domain.name());
        adagrad.with(&ETA, self.eta).with(&COMPARATOR_RADIUS, self.radius).with(&STEP, self.step).into()
    }

    fn persist(&mut self, archive: &mut Archive, features: &mut ParameterTable<F64Entry>) -> Result<(), Error> {
        visit_fields!(archive.number(self.roots, self.largest));
        if self.domain == AdaGradDomain::Ball {
            archive.number("norm", &mut self.norm)?;
        }
        archive.precision("weight", &mut self.precision);
        let fields = [
            ("weight", Field::Weight(&|entry: &mut F64Entry| &mut entry.weight, self.precision)),
            ("root", Field::F64(&|entry| &mut entry.accumulator)),
        ];
        features.persist(archive, |entry| entry.accumulator > 0.0, &fields)
    }
}

pub(super) const ETA: ParameterDescriptor = positive("eta")
    .or("auto")
    .default("0.5")
    .meaning("learning rate; auto: the theorem's, in a box or ball")
    .remedy("a smaller eta");

pub(super) const DOMAIN: ParameterDescriptor =
    words("domain", &[ALL, BOX, BALL]).meaning("domain of the weights").quiet();

pub(super) const FORM: ParameterDescriptor = words(
    "form",
    &[
        ("mirror-descent", "each gradient moves the weights"),
        (
            "dual-averaging",
            "the weights follow \
                from the sum of all \
                    gradients",
        ),
    ],
)
.meaning("variant of AdaGrad");

pub(super) const DELTA: ParameterDescriptor = positive("delta")
    .default("1")
    .meaning("added to the metric; best at least the largest entry of any gradient")
    .only_with("form=dual-averaging");

pub(super) const FULL: ParameterDescriptor = flag("full")
    .meaning("use the full matrix instead of its diagonal, for few features")
    .only_with("form=mirror-descent and domain=all");

/// The root of a matrix of that size costs its cube each round.
pub(super) const FEATURES: ParameterDescriptor =
    whole("features", 1..=64).default("32").meaning("uses only the first N features").only_with("full=true");

pub(super) const STEP: ParameterDescriptor = crate::protocol::STEP.only_with("form=mirror-descent");

fn domain(arguments: &Params<'_>) -> AdaGradDomain {
    match arguments.text("domain") {
        "box" => AdaGradDomain::Box,
        "ball" => AdaGradDomain::Ball,
        _ => AdaGradDomain::All,
    }
}

fn eta(arguments: &Params<'_>) -> Result<f64, Error> {
    match (arguments.optional_number("eta"), domain(arguments)) {
        (Some(eta), _) => Ok(eta),
        (None, AdaGradDomain::All) => Err(Error::parameter(
            "eta=auto needs to know how large weights are: give domain=box or domain=ball, or eta",
        )),
        // What makes the two parts of the bound equal: D/√2 with D = 2U, and U/√2.
        (None, _) if arguments.text("form") == "dual-averaging" => {
            Ok(arguments.number("radius") * std::f64::consts::FRAC_1_SQRT_2)
        }
        (None, _) => Ok(arguments.number("radius") * std::f64::consts::SQRT_2),
    }
}

const RADIUS_OF_BOTH: ParameterDescriptor =
    COMPARATOR_RADIUS.meaning("radius of the domain; with domain=all, of the comparators in the guarantee; the radius of the run replaces this default");

/// `adagrad` by name.
pub(crate) const ENTRY: LearnerDescriptor = LearnerDescriptor {
    name: "adagrad",
    summary: "a rate per feature that falls with its gradients (Duchi, Hazan, Singer)",
    losses: Losses::Convex,
    parameters: &[ETA, RADIUS_OF_BOTH, DOMAIN, FORM, DELTA, FULL, FEATURES, STEP, STANDARDISE],
    promises: &[
        Promise::always(""),
        Promise::always("step=flow"),
        Promise::always("domain=box,eta=auto,radius=1").within(Comparator::Box(1.0)),
        Promise::always("domain=ball,eta=auto,radius=1").within(Comparator::Ball(1.0)),
        Promise::always("form=dual-averaging,radius=1"),
        Promise::always("full=true,radius=1"),
        Promise::always("full=true,radius=1,step=flow"),
        Promise::always("domain=ball,form=dual-averaging,radius=1").within(Comparator::Ball(1.0)),
        Promise::other("delta=2,domain=box,form=dual-averaging,radius=1").within(Comparator::Box(1.0)),
        Promise::other("features=16,full=true,radius=2"),
    ],
    build: |arguments| {
        let (eta, radius, domain) = (eta(arguments)?, arguments.number("radius"), domain(arguments));
        match arguments.text("form") {
            "dual-averaging" => {
                Linear::learner(arguments, AdaGradDual::new(domain, eta, radius, arguments.number("delta"))?)
            }
            _ if arguments.flag("full") => {
                let full = AdaGradFull::new(eta, radius, arguments.whole("features") as u32)?;
                Linear::learner(arguments, full.with_step(StepKind::from_arguments(arguments)))
            }
            _ => {
                let adagrad = AdaGrad::within(domain, eta, radius)?;
                Linear::learner(arguments, adagrad.with_step(StepKind::from_arguments(arguments)))
            }
        }
    },
    plan: |arguments, scales| {
        let (radius, dimension) = (arguments.number("radius"), scales.dimension);
        let domain = domain(arguments);
        let norm = match domain {
            AdaGradDomain::All => {
                return Ok(Guarantee::missing("without a domain its weights have no bound in advance"));
            }
            AdaGradDomain::Box => Domain::Box(radius).norm(dimension).unwrap_or(radius),
            AdaGradDomain::Ball => radius,
        };
        let (eta, gradient) = (eta(arguments)?, scales.gradient(arguments.loss().as_ref(), norm));
        // Σ√G_i ≤ √(d Σ‖z‖²).
        let roots = gradient * (dimension * scales.rounds).sqrt();
        let bound = match arguments.text("form") {
            "dual-averaging" => {
                let delta = arguments.number("delta");
                let size = match domain {
                    AdaGradDomain::Ball => delta + gradient * scales.rounds.sqrt(),
                    _ => delta * dimension + roots,
                };
                // δ + √G_{t−1} ≥ √G_t·min(1, δ/G).
                radius * radius / (2.0 * eta) * size + eta * (gradient / delta).max(1.0) * roots
            }
            _ => (2.0 * radius * radius / eta + eta) * roots,
        };
        Ok(Guarantee::own(domain.comparator(radius), bound))
    },
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::{LearnerSpec, Optimizer};

    #[test]
    fn the_form_the_domain_and_the_rate_are_described() {
        let build = |text: &str| {
            let specification: LearnerSpec = text.parse().unwrap();
            specification.build(crate::loss::parse("hinge").unwrap(), None).map(|learner| learner.describe())
        };
        assert_eq!(build("adagrad").unwrap(), "adagrad:eta=0.5,radius=1,step=gradient");
        assert_eq!(
            build("adagrad:domain=box,eta=auto,radius=2").unwrap(),
            format!("adagrad:domain=box,eta={},radius=2,step=gradient", 8f64.sqrt())
        );
        assert_eq!(
            build("adagrad:form=dual-averaging,domain=ball,eta=1,delta=2").unwrap(),
            "adagrad:delta=2,domain=ball,eta=1,form=dual-averaging,radius=1"
        );
        assert_eq!(build("adagrad:full=true").unwrap(), "adagrad:eta=0.5,features=32,full=true,radius=1,step=gradient");
        for wrong in [
            "adagrad:eta=auto",
            "adagrad:full=true,domain=box",
            "adagrad:delta=2",
            "adagrad:features=4",
            "adagrad:full=true,form=dual-averaging",
            "adagrad:full=true,features=65",
            "adagrad:domain=l1",
        ] {
            assert!(build(wrong).is_err(), "{wrong}");
        }
    }

    /// Every step against a plain one whose projection is found by bisection.
    #[test]
    fn steps_on_the_ball_are_projected_in_the_norm_of_the_metric() {
        let (eta, radius) = (0.7, 1.0);
        let mut adagrad = AdaGrad::within(AdaGradDomain::Ball, eta, radius).unwrap();
        let (mut w, mut squares) = ([0.0f64; 3], [0.0f64; 3]);
        for t in 0..60u32 {
            let z =
                [(t as f32 * 0.9 + 0.5).sin() * 3.0, 0.1 + (t as f32).cos() * 0.2, if t % 7 == 0 { 5.0 } else { -0.5 }];
            adagrad.observe(1.0, Features::new(&[0, 1, 2], &z).unwrap());
            for i in 0..3 {
                squares[i] += f64::from(z[i]).powi(2);
                w[i] -= eta * f64::from(z[i]) / squares[i].sqrt();
            }
            let at = |lambda: f64| [0, 1, 2].map(|i| w[i] * squares[i].sqrt() / (squares[i].sqrt() + lambda));
            let norm = |w: [f64; 3]| w.iter().map(|w| w * w).sum::<f64>().sqrt();
            if norm(w) > radius {
                let (mut low, mut high) = (0.0, 1e6);
                for _ in 0..200 {
                    let middle = 0.5 * (low + high);
                    if norm(at(middle)) > radius { low = middle } else { high = middle }
                }
                w = at(high);
            }
            for (i, w) in w.iter().enumerate() {
                // 60 roundings.
                assert!((adagrad.weight(i as u32) - w).abs() < 1e-12, "round {t}");
            }
        }
    }
}
