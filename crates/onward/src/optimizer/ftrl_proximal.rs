//! FTRL-Proximal (McMahan 2011; McMahan et al. 2013): AdaGrad's rates, with an L1
//! penalty that makes weights exactly 0.
//!
//! w_{t+1} = argmin ⟨Σ_{s≤t} z_s, w⟩ + λ₁‖w‖₁ + ½(λ₂ + β/α)‖w‖² + ½ Σ_{s≤t} σ_s (w − w_s)², for each
//! coordinate, with n_t = Σ_{s≤t} z_s² and σ_t = (√n_t − √n_{t−1})/α. Kept as ζ = Σ(z_s − σ_s w_s) this is
//!
//! w = 0 where |ζ| ≤ λ₁, else w = −(ζ − sign(ζ)λ₁)/((β + √n)/α + λ₂).
//!
//! The penalty λ₁‖w‖₁ + ½λ₂‖w‖² counts once for the whole run, not once per round: it is part of the
//! regulariser, and the bound is on the plain losses.
//!
//! **Guarantee**, for convex losses and every u with |u_i| ≤ U. Let r_0 = λ₁‖w‖₁ + ½(λ₂ + β/α)‖w‖² and
//! r_t = ½σ_t(w − w_t)². As r_t is least at w_t, w_t also minimises
//! f_{t−1} + r_t where f_t = ⟨Σ_{s≤t} z_s, ·⟩ + r_0 + … + r_t, so f_t(w_t) − f_t(w_{t+1}) ≤ ½z_t²/h_t:
//! the gain of minimising once a linear function z_t is added to one that is least at w_t, with the
//! curvature h_t = (β + √n_t)/α + λ₂. Summing,
//! Σ⟨z_t, w_t⟩ ≤ min f_T − r_0(w_1) + ½Σz_t²/h_t, where r_0(w_1) = 0, and min f_T ≤ f_T(u). Per coordinate:
//!
//! R_T(u) ≤ λ₁|u| + ½(λ₂ + β/α)u² + ½ Σ σ_s(u − w_s)² + ½ Σ z_t²/((β + √n_t)/α + λ₂).
//!
//! Σσ_s(u − w_s)² = (√n/α)u² − 2u·Σσ_s w_s + Σσ_s w_s²: it is kept in three sums. As a function of u the
//! bound is convex and largest at u = ±U, which is what is printed, summed over the coordinates that had
//! a gradient (the others lose nothing, whatever u is there).
//!
//! **Cost**: O(non-zeros) per round; printing the bound looks at all coordinates.

use super::adaptive::{Adaptive, AdaptiveRule, AdaptiveTable};
use super::prelude::*;
use crate::numeric::sum;
use crate::simd::f64x4::{F64x4, Real};
use crate::storage::table::ParameterTable;

/// FTRL-Proximal.
///
/// ```
/// use onward::{Features, optimizer::{FtrlProximal, Optimizer}};
/// let mut it = FtrlProximal::new(0.5, 1.0, 2.0, 0.0, 1.0)?;
/// it.observe(1.0, Features::new(&[0, 1], &[1.5, 5.0])?);
/// // |ζ| = 1.5 ≤ λ₁ = 2; and −(5 − 2)/((1 + 5)/0.5).
/// assert_eq!((it.weight(0), it.weight(1)), (0.0, -0.25));
/// # Ok::<(), onward::Error>(())
/// ```
pub type FtrlProximal = Adaptive<FtrlProximalRule, 3>;

/// What [`FtrlProximal`] knows of all features together.
#[derive(Debug, Clone)]
pub struct FtrlProximalRule {
    alpha: f64,
    beta: f64,
    l1: f64,
    l2: f64,
    /// U, the largest entry of the comparators that the guarantee is for.
    radius: f64,
    /// ΣΣσw².
    pulled: f64,
    /// ½ΣΣ z²/((β + √n)/α + λ₂).
    paid: f64,
    /// h·g of this round.
    scalar: f64,
}

impl FtrlProximal {
    /// With these α, β, λ₁ and λ₂, and the guarantee printed for comparators in the box of this radius.
    ///
    /// # Errors
    /// When α is not from 1e-30 to 1e30, β, λ₁ or λ₂ not from 0 to 1e30, or the radius not positive and finite.
    pub fn new(alpha: f64, beta: f64, l1: f64, l2: f64, radius: f64) -> Result<Self, Error> {
        ALPHA.check(alpha)?;
        BETA.check(beta)?;
        L1.check(l1)?;
        L2.check(l2)?;
        COMPARATOR_RADIUS.check(radius)?;
        let (pulled, paid, scalar) = (0.0, 0.0, 0.0);
        Ok(Self::of(FtrlProximalRule { alpha, beta, l1, l2, radius, pulled, paid, scalar }))
    }
}

impl FtrlProximalRule {
    /// (β + √n)/α + λ₂.
    #[inline(always)]
    fn curvature<Q: Real>(&self, squares: Q) -> Q {
        (Q::all(self.beta) + squares.sqrt()) / Q::all(self.alpha) + Q::all(self.l2)
    }
}

/// Of each feature: n = Σz², ζ = Σ(z − σw) and Σσw.
impl AdaptiveRule<3> for FtrlProximalRule {
    type Entry = [f64; 3];

    #[inline(always)]
    fn weight<Q: Real>(&self, [squares, sum, _]: [Q; 3], _value: Q) -> Q {
        let (zero, l1) = (Q::all(0.0), Q::all(self.l1));
        let shrunk = (sum - l1).where_above(sum, zero, sum + l1);
        let point = (zero - shrunk) / self.curvature(squares);
        point.held(Q::all(f32::MAX.into())).where_above(sum.abs(), l1, zero)
    }

    /// The point is a function of the sums: there is nothing left to move.
    #[inline(always)]
    fn observe<Q: F64x4>(&mut self, numbers: [Q; 3], value: Q) -> ([Q; 3], Q, [Q; 2]) {
        let ([before, sum, pull], zero) = (numbers, Q::all(0.0));
        let z = Q::all(self.scalar) * value;
        let (point, square) = (self.weight(numbers, value), z * z);
        let squares = before + square;
        // (√(n + z²) − √n)/α without cancelling.
        let sigma = square / (squares.sqrt() + before.sqrt()) / Q::all(self.alpha);
        // Where z is too small for its square it is not learnt from, and all of it counts as lost.
        let pulled = (sigma * point).where_above(square, zero, zero);
        let lost = z.abs() * (point.abs() + Q::all(self.radius));
        let paid = (Q::all(0.5) * z * z / self.curvature(squares)).where_above(square, zero, lost);
        for (pulled, paid) in (pulled * point).numbers().into_iter().zip(paid.numbers()) {
            self.pulled += pulled;
            self.paid += paid;
        }
        ([squares, (sum + z - pulled).where_above(square, zero, sum), pull + pulled], zero, [zero; 2])
    }

    fn prepare(&mut self, g: f64, h: f64, features: &mut AdaptiveTable<Self, 3>) -> Step {
        self.scalar = h * g;
        features.observe(self);
        Step::Gradient { time: 0.0 }
    }

    fn guarantee(&self, features: &ParameterTable<[f64; 3]>) -> Guarantee {
        let radius = self.radius;
        let indices = features.used(|[squares, ..]| *squares > 0.0);
        let of_coordinates = sum::sum(indices.iter().map(|&index| {
            let [squares, _, pull] = features.get(index);
            self.l1 * radius + 0.5 * self.curvature(squares) * radius * radius + pull.abs() * radius
        }));
        Guarantee::own(Comparator::Box(radius), of_coordinates + 0.5 * self.pulled + self.paid)
    }

    fn describe(&self) -> String {
        let it = Description::of("ftrl-proximal").with(&ALPHA, self.alpha).with(&BETA, self.beta);
        it.with(&L1, self.l1).with(&L2, self.l2).with(&COMPARATOR_RADIUS, self.radius).into()
    }

    fn persist(&mut self, archive: &mut Archive, features: &mut ParameterTable<[f64; 3]>) -> Result<(), Error> {
        visit_fields!(archive.number(self.pulled, self.paid));
        let fields = [
            ("squares", Field::F64(&|[squares, ..]: &mut [f64; 3]| squares)),
            ("sum", Field::F64(&|[_, sum, _]| sum)),
            ("pull", Field::F64(&|[.., pull]| pull)),
        ];
        features.persist(archive, |[squares, ..]| *squares > 0.0, &fields)
    }
}

const ALPHA: ParameterDescriptor = positive("alpha").default("0.5").meaning("learning rate").remedy("a smaller alpha");

const BETA: ParameterDescriptor = number("beta", 0.0..=1e30).default("1").meaning("slows the first steps");

const L1: ParameterDescriptor =
    number("l1", 0.0..=1e30).default("1").meaning("L1 penalty: a weight stays 0 until its gradients exceed this");

const L2: ParameterDescriptor = number("l2", 0.0..=1e30).default("0").meaning("L2 penalty");

/// `ftrl-proximal` by name.
pub(crate) const ENTRY: LearnerDescriptor = LearnerDescriptor {
    name: "ftrl-proximal",
    summary: "follow the proximally regularised leader: rates as in adagrad, sparse weights (McMahan)",
    losses: Losses::Convex,
    parameters: &[ALPHA, BETA, L1, L2, COMPARATOR_RADIUS, STANDARDISE],
    promises: &[Promise::always(""), Promise::always("l1=0,l2=1"), Promise::other("alpha=1,beta=2,radius=3")],
    build: |arguments| {
        let [alpha, beta, l1, l2, radius] = ["alpha", "beta", "l1", "l2", "radius"].map(|key| arguments.number(key));
        Linear::learner(arguments, FtrlProximal::new(alpha, beta, l1, l2, radius)?)
    },
    plan: |_, _| Ok(Guarantee::missing("without a domain its weights have no bound in advance")),
};
