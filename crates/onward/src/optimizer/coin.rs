//! Coin betting, per coordinate (Orabona, Pál 2016): no rate, no domain, nothing to tune.
//!
//! Each coordinate is a gambler with the wealth ε who bets on the sign of −z. After n gradients that
//! were not 0, with the running maximum M = max|z| and sums over them in units of it,
//!
//! w = (Θ/(M(n + 1)))·(ε + R/M), Θ = −Σz̃, R = −Σz̃w,
//!
//! the bet of Krichevsky and Trofimov: the fraction |Θ/(M(n+1))| < 1 of the wealth ε + R/M. Its ε is in
//! units of a weight.
//!
//! **When the maximum grows.** A gradient larger than M could cost more than all the wealth. So z̃ is z
//! cut off at ±M, M as it was before the round (Cutkosky 2019); the first gradient has nothing to be cut
//! off at, and was bet nothing on. Then the wealth stays positive. On a round at M it becomes at least
//! (1 − |bet fraction|) times what it was. When M grows to M' it is ε + R/M', which is at least ε if
//! R ≥ 0, and above ε + R/M > 0 if not. The fraction |Θ|/(M'(n+1)) only falls. What is cut off costs, against
//! u, at most Σ(|z| − M)₊·|w − u| over the rounds with a new maximum, where the excesses of a coordinate
//! sum to less than its last M.
//!
//! **Guarantee**, for convex losses and every u of the class, in raw units and whatever M did: by convexity
//! R_T(u) ≤ Σ⟨z_t, w_t⟩ + ⟨u, −Σz_t⟩, which is (ε − Wealth_T) + ⟨u, θ⟩ with θ = −Σz and Wealth_T = ε − Σ⟨z_t, w_t⟩ counted
//! with the true gradients. Both sums are kept; the largest over the ball ‖u‖₂ ≤ U is
//! Σ⟨z_t, w_t⟩ + U‖Σz‖₂, over the box |u_i| ≤ U it is Σ⟨z_t, w_t⟩ + UΣ|Σz_i|. It is what the run has shown, and
//! for linear losses it is the regret, exactly.
//!
//! Beforehand something can be said only if the scale is known: with `gradient` = G, M starts at G, and if
//! no |z_i| exceeds it each coordinate has at most G(|u_i|√(T ln(1 + 24T²u_i²/ε²)) + ε).
//!
//! **Cost**: O(non-zeros) per round; printing the bound looks at all coordinates.

use super::adaptive::{Adaptive, AdaptiveRule, AdaptiveTable};
use super::prelude::*;
use crate::numeric::sum::{self, Sum};
use crate::parameter::GivenParameters;
use crate::simd::f64x4::{F64x4, Real};
use crate::storage::table::ParameterTable;

/// The class that the guarantee is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CoinDomain {
    /// ‖u‖₂ ≤ U.
    Ball,
    /// |u_i| ≤ U.
    Box,
}

/// Coin betting per coordinate.
///
/// ```
/// use onward::{Features, optimizer::{Coin, Optimizer, coin::CoinDomain}};
/// let mut it = Coin::new(1.0, 1.0, CoinDomain::Ball, None)?;
/// it.observe(-3.0, Features::new(&[0], &[1.0])?);
/// // One coin of 1, nothing won yet: half of ε.
/// assert_eq!(it.weight(0), 0.5);
/// # Ok::<(), onward::Error>(())
/// ```
pub type Coin = Adaptive<CoinRule, 5>;

/// What [`Coin`] knows of all features together.
#[derive(Debug, Clone)]
pub struct CoinRule {
    epsilon: f64,
    radius: f64,
    class: CoinDomain,
    /// G: where M starts, if it is known.
    gradient: Option<f64>,
    /// Σ⟨z_t, w_t⟩.
    paid: Sum,
    /// h·g of this round.
    scalar: f64,
}

impl Coin {
    /// With this ε, and the guarantee printed for this class of this radius. `gradient` is the largest
    /// |z_i|, if it is known.
    ///
    /// # Errors
    /// When ε or the gradient is not from 1e-30 to 1e30, or the radius not positive and finite.
    pub fn new(epsilon: f64, radius: f64, class: CoinDomain, gradient: Option<f64>) -> Result<Self, Error> {
        EPSILON.check(epsilon)?;
        COMPARATOR_RADIUS.check(radius)?;
        gradient.map(|gradient| GRADIENT.check(gradient)).transpose()?;
        Ok(Self::of(CoinRule { epsilon, radius, class, gradient, paid: Sum::default(), scalar: 0.0 }))
    }
}

/// Of each feature: Σz, Θ = −Σz̃, R = −Σz̃w, M, which is 0 while it is that of the start, and n.
impl AdaptiveRule<5> for CoinRule {
    type Entry = [f64; 5];

    #[inline(always)]
    fn weight<Q: Real>(&self, [_, coins, reward, largest, count]: [Q; 5], _value: Q) -> Q {
        let zero = Q::all(0.0);
        let fraction = coins / largest / (count + Q::all(1.0));
        let wealth = (Q::all(self.epsilon) + reward / largest).larger(zero);
        (fraction * wealth).held(Q::all(f32::MAX.into())).where_above(count, zero, zero)
    }

    /// The point is a function of the sums: there is nothing left to move.
    #[inline(always)]
    fn observe<Q: F64x4>(&mut self, numbers: [Q; 5], value: Q) -> ([Q; 5], Q, [Q; 2]) {
        let ([sum, coins, reward, before, count], zero) = (numbers, Q::all(0.0));
        let z = Q::all(self.scalar) * value;
        let (bet, size) = (self.weight(numbers, value), z.abs());
        for term in (z * bet).where_above(size, zero, zero).numbers() {
            self.paid.add(term);
        }
        let largest = before.where_above(before, zero, self.gradient.map_or(size, Q::all));
        let cut = z.held(largest);
        // Where z is 0 all stays.
        let numbers = [
            (sum + z).where_above(size, zero, sum),
            (coins - cut).where_above(size, zero, coins),
            (reward - cut * bet).where_above(size, zero, reward),
            size.larger(largest).where_above(size, zero, before),
            (count + Q::all(1.0)).where_above(size, zero, count),
        ];
        (numbers, zero, [zero; 2])
    }

    fn prepare(&mut self, g: f64, h: f64, features: &mut AdaptiveTable<Self, 5>) -> Step {
        self.scalar = h * g;
        features.observe(self);
        Step::Gradient { time: 0.0 }
    }

    fn guarantee(&self, features: &ParameterTable<[f64; 5]>) -> Guarantee {
        let indices = features.used(|[.., count]| *count > 0.0);
        let sums = || indices.iter().map(|&index| features.get(index)[0]);
        let (comparator, norm) = match self.class {
            CoinDomain::Box => (Comparator::Box(self.radius), sum::sum(sums().map(f64::abs))),
            CoinDomain::Ball => {
                // In units of the largest: squares of large sums are no numbers.
                let most = sums().fold(0.0f64, |most, sum| most.max(sum.abs()));
                let squares = sum::sum(sums().map(|sum| (sum / most) * (sum / most)));
                (Comparator::Ball(self.radius), if most > 0.0 { most * squares.sqrt() } else { 0.0 })
            }
        };
        Guarantee::own(comparator, self.paid.total() + self.radius * norm)
    }

    fn describe(&self) -> String {
        let class = if self.class == CoinDomain::Ball { "ball" } else { "box" };
        let coin = Description::of("coin").with(&CLASS, class).with(&EPSILON, self.epsilon);
        coin.with_optional(&GRADIENT, self.gradient).with(&COMPARATOR_RADIUS, self.radius).into()
    }

    fn persist(&mut self, archive: &mut Archive, features: &mut ParameterTable<[f64; 5]>) -> Result<(), Error> {
        self.paid.persist("paid", archive)?;
        let fields = [
            ("sum", Field::F64(&|[sum, ..]: &mut [f64; 5]| sum)),
            ("coins", Field::F64(&|[_, coins, ..]| coins)),
            ("reward", Field::F64(&|[_, _, reward, ..]| reward)),
            ("largest", Field::F64(&|[.., largest, _]| largest)),
            ("count", Field::F64(&|[.., count]| count)),
        ];
        features.persist(archive, |[.., count]| *count > 0.0, &fields)
    }
}

/// What the theorem says of T rounds, d coordinates and the known scale G.
fn promise(epsilon: f64, radius: f64, class: CoinDomain, gradient: f64, rounds: f64, dimension: f64) -> Guarantee {
    let ratio = radius / epsilon;
    let root = (rounds * libm::log1p(24.0 * rounds * rounds * ratio * ratio)).sqrt();
    let (comparator, size) = match class {
        CoinDomain::Box => (Comparator::Box(radius), dimension * radius),
        // Σ|u_i| ≤ U√d, and no |u_i| is above U.
        CoinDomain::Ball => (Comparator::Ball(radius), dimension.sqrt() * radius),
    };
    Guarantee::own(comparator, gradient * (size * root + dimension * epsilon))
}

const EPSILON: ParameterDescriptor = positive("epsilon").default("1").meaning("initial wealth of each feature");

const CLASS: ParameterDescriptor =
    words("class", &[("ball", "‖u‖₂ ≤ radius"), ("box", "|u_i| ≤ radius")]).meaning("comparators in the guarantee");

const GRADIENT: ParameterDescriptor =
    positive("gradient").or("none").meaning("bound on slope times feature value, if known in advance");

fn class(arguments: &GivenParameters) -> CoinDomain {
    if arguments.text("class") == "ball" { CoinDomain::Ball } else { CoinDomain::Box }
}

/// `coin` by name.
pub(crate) const ENTRY: LearnerDescriptor = LearnerDescriptor {
    name: "coin",
    summary: "coin betting per feature: no rate or domain to choose (Orabona, Pál)",
    losses: Losses::Convex,
    parameters: &[EPSILON, COMPARATOR_RADIUS, CLASS, GRADIENT, STANDARDISE],
    promises: &[
        Promise::always(""),
        Promise::always("class=box,gradient=4,radius=1"),
        Promise::other("epsilon=2,radius=2"),
    ],
    build: |arguments| {
        let (epsilon, radius) = (arguments.number("epsilon"), arguments.number("radius"));
        let optimizer = Coin::new(epsilon, radius, class(arguments), arguments.optional_number("gradient"))?;
        Linear::learner(arguments, optimizer)
    },
    plan: |arguments, scales| {
        let Some(gradient) = arguments.optional_number("gradient") else {
            return Ok(Guarantee::missing("its theorem needs the scale of the gradients in advance; give gradient"));
        };
        // Per coordinate: slope times value, where the slope is bounded whatever the weights.
        let along = ProblemBounds { norm: scales.largest, ..*scales }.gradient_anywhere(arguments.loss().as_ref());
        if let Some(largest) = along.filter(|&largest| largest > gradient) {
            let reason =
                format!("slopes times values may be as large as {largest}, more than the {gradient} that was given");
            return Ok(Guarantee::missing(reason));
        }
        let (epsilon, radius) = (arguments.number("epsilon"), arguments.number("radius"));
        Ok(promise(epsilon, radius, class(arguments), gradient, scales.rounds, scales.dimension))
    },
};
