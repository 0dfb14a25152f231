//! NAG: the normalised, adaptive, importance-invariant rule that is Vowpal
//! Wabbit's default (Ross, Mineiro, Langford 2013; Karampatziakis, Langford 2011).
//!
//! Each feature has the largest value M_i seen so far, and x̂_i = x_i/M_i. In
//! these units, for a round with derivative g ≠ 0 and importance h:
//! G_i += h g² x̂_i²; N += h Σ x̂_i²; n += h; and ŵ_i moves by gradient flow for
//! time η·h at the rates x̂_i·√(n/N)/√G_i. When M_i grows, G_i is rescaled to the
//! new unit and ŵ_i stays: w_i = ŵ_i/M_i, that is, the weight falls as the scale
//! rises. Features may be in any units: the prediction is the same, but for what
//! is not known before a larger value comes.
//!
//! Kept are w_i itself and S_i = G_i·M_i², which does not change when M_i grows. So
//! a prediction divides by nothing, and the rate of w_i is √(n/N)/(M_i√S_i): a root and
//! a division a feature, from which x̂_i = x_i/(M_i√S_i)·√S_i comes too.
//!
//! It has no regret bound of its own: the universal certificate is printed.

use super::adaptive::{Adaptive, AdaptiveRule, AdaptiveTable, Entry, F32Entry};
use super::prelude::*;
use crate::protocol::Clip;
use crate::simd::f64x4::{F64x4, Real};
use crate::storage::table::ParameterTable;

/// Normalised adaptive gradient with importance-aware steps.
pub type Nag = Adaptive<NagRule, 3>;

/// What [`Nag`] knows of all features together.
#[derive(Debug, Clone, Default)]
pub struct NagRule {
    eta: f64,
    /// N = Σ h Σ x̂².
    squares: f64,
    /// n = Σ h, over rounds with a gradient.
    weight: f64,
    /// h·g² of this round.
    square: f64,
    /// Whether this round has a gradient.
    has_gradient: bool,
    /// √(n/N) of this round.
    multiplier: f64,
}

impl Nag {
    /// With this η (0.5 in Vowpal Wabbit).
    ///
    /// # Errors
    /// When η is not from 1e-30 to 1e30.
    pub fn new(eta: f64) -> Result<Self, Error> {
        ETA.check(eta)?;
        Ok(Self::of(NagRule { eta, ..NagRule::default() }))
    }
}

/// Of each feature: S_i = Σ h g² x_i² = G_i·M_i², w_i and M_i, which is 0 before the feature was seen.
impl AdaptiveRule<3> for NagRule {
    type Entry = F32Entry;

    #[inline(always)]
    fn weight<Q: Real>(&self, [_, weight, _]: [Q; 3], _value: Q) -> Q {
        weight
    }

    #[inline(always)]
    fn is_wider<Q: F64x4>(&self, [_, _, scale]: [Q; 3], value: Q) -> bool {
        value.abs().is_above(scale)
    }

    /// M_i grows, and ŵ_i = w_i·M_i stays.
    #[inline(always)]
    fn widen<Q: F64x4>(&self, [gradients, weight, scale]: [Q; 3], value: Q) -> [Q; 3] {
        let size = value.abs();
        let shrunk = (weight * (scale / size)).where_above(size, scale, weight);
        [gradients, Self::Entry::rounded(shrunk), size.where_above(size, scale, scale)]
    }

    /// The direction is x_i/(M_i√S_i), and the sums are q and Σ x̂_i².
    #[inline(always)]
    fn observe<Q: F64x4>(&mut self, [gradients, weight, scale]: [Q; 3], value: Q) -> ([Q; 3], Q, [Q; 2]) {
        let gradients = gradients + Q::all(self.square) * (value * value);
        let root = gradients.sqrt();
        let (product, zero) = (root * scale, Q::all(0.0));
        let direction = value * (Q::all(1.0) / product).where_above(product, zero, zero);
        // x_i/M_i without a division of its own.
        let normalised = direction * root;
        ([gradients, weight, scale], direction, [value * direction, normalised * normalised])
    }

    #[inline(always)]
    fn step<Q: F64x4>(&self, [gradients, weight, scale]: [Q; 3], change: Q) -> [Q; 3] {
        [gradients, Self::Entry::rounded(weight + change), scale]
    }

    fn prepare(&mut self, g: f64, h: f64, features: &mut AdaptiveTable<Self, 3>) -> Step {
        self.square = h * g * g;
        self.has_gradient = g != 0.0;
        if !self.has_gradient {
            return Step::Flow { time: 0.0, q: 0.0 };
        }
        let [q, squares] = features.observe(self);
        self.squares += h * squares;
        self.weight += h;
        self.multiplier = if self.squares > 0.0 { (self.weight / self.squares).sqrt() } else { 0.0 };
        Step::Flow { time: self.eta * h, q: self.multiplier * q }
    }

    fn advance(&mut self, u: f64, x: Features<'_>, features: &mut AdaptiveTable<Self, 3>) {
        if self.has_gradient {
            features.advance(self, u * self.multiplier, x);
        }
    }

    fn guarantee(&self, _features: &ParameterTable<F32Entry>) -> Guarantee {
        Guarantee::missing(NONE)
    }

    fn describe(&self) -> String {
        Description::of("nag").with(&ETA, self.eta).into()
    }

    fn persist(&mut self, archive: &mut Archive, features: &mut ParameterTable<F32Entry>) -> Result<(), Error> {
        visit_fields!(archive.number(self.squares, self.weight));
        let fields = [
            ("weight", Field::F32(&|entry: &mut F32Entry| &mut entry.weight)),
            ("scale", Field::F32(&|entry| &mut entry.scale)),
            ("gradients", Field::F64(&|entry| &mut entry.accumulator)),
        ];
        features.persist(archive, |entry| entry.scale > 0.0, &fields)
    }
}

const NONE: &str = "nag has no regret bound of its own; the universal certificate holds";

const ETA: ParameterDescriptor = positive("eta").default("0.5").meaning("learning rate").remedy("a smaller eta");

/// `nag` by name.
pub(crate) const ENTRY: LearnerDescriptor = LearnerDescriptor {
    name: "nag",
    summary: "normalised adaptive importance-aware gradient, Vowpal Wabbit's default rule",
    losses: Losses::Convex,
    parameters: &[ETA, STANDARDISE],
    promises: &[Promise::never("", NONE), Promise::other("eta=1")],
    build: |arguments| {
        let optimizer = Nag::new(arguments.number("eta"))?;
        Ok(Box::new(Linear::new(arguments.loss(), optimizer, Clip::Plausible)))
    },
    plan: |_, _| Ok(Guarantee::missing("no theorem is known for it; the universal certificate holds")),
};
