//! ScInOL₂: scale-invariant online learning (Kempka, Kotłowski, Warmuth 2019, algorithm 2).
//!
//! Features may be in any units, unknown and changing, without a rate to choose. For each
//! coordinate, on seeing x: M = max|x| so far, this x included (no label is needed for that), then
//!
//! v = S² + M², θ = Gsum/√v, w = clip(θ, ±1)·η/(2√v),
//!
//! and after the gradient z: S² += z², Gsum −= z, η −= z·w. η starts at ε: it is the wealth of a gambler,
//! who risks no more than half of it. Scaling a feature by c scales its weight by 1/c, to rounding.
//!
//! The paper is about slopes |g| ≤ 1. For others M is taken in units of the gradient: max|x|·L, L the
//! largest h|g| of the rounds before and 1 at least, and z is cut off at ±M: with slopes within 1 this is
//! the paper's rule, and with any others |z·w| ≤ η/2, so that the wealth stays positive.
//!
//! **Guarantee**: the paper's is Σ|u_i|√(S_i² + M_i²) times logarithms that its proof does not give in a
//! form with all constants, and it is for |g| ≤ 1; no number is printed, the universal certificate holds.
//!
//! **Cost**: O(non-zeros) per round.

use super::adaptive::{Adaptive, AdaptiveRule, AdaptiveTable};
use super::prelude::*;
use crate::simd::f64x4::{F64x4, Real};
use crate::storage::table::ParameterTable;

/// Scale-invariant online learning.
///
/// ```
/// use onward::{Features, optimizer::{Optimizer, Scinol}};
/// let (mut metres, mut kilometres) = (Scinol::new(1.0)?, Scinol::new(1.0)?);
/// metres.observe(-1.0, Features::new(&[0], &[2048.0])?);
/// kilometres.observe(-1.0, Features::new(&[0], &[2.0])?);
/// assert!((metres.weight(0) * 1024.0 - kilometres.weight(0)).abs() < 1e-12);
/// # Ok::<(), onward::Error>(())
/// ```
pub type Scinol = Adaptive<ScinolRule, 4>;

/// What [`Scinol`] knows of all features together.
#[derive(Debug, Clone)]
pub struct ScinolRule {
    epsilon: f64,
    /// L: the largest h|g| so far, and 1.
    slope: f64,
    /// h·g of this round.
    scalar: f64,
}

/// What is won stays below this.
const LARGEST: f64 = 1e300;

const REASON: &str = "the theorem of scinol does not state all its constants; the universal certificate holds";

impl Scinol {
    /// With this wealth ε of each coordinate at first.
    ///
    /// # Errors
    /// When it is not from 1e-30 to 1e30.
    pub fn new(epsilon: f64) -> Result<Self, Error> {
        EPSILON.check(epsilon)?;
        Ok(Self::of(ScinolRule { epsilon, slope: 1.0, scalar: 0.0 }))
    }
}

/// Of each feature: max|x|, which is 0 before it was seen, S² = Σz², Gsum = −Σz, and what was won, −Σz·w, in units of
/// ε: η = ε(1 + won).
impl AdaptiveRule<4> for ScinolRule {
    type Entry = [f64; 4];

    const HAS_FIXED_WEIGHTS: bool = false;

    #[inline(always)]
    fn weight<Q: Real>(&self, [largest, squares, sum, won]: [Q; 4], value: Q) -> Q {
        let (zero, one) = (Q::all(0.0), Q::all(1.0));
        let scale = value.abs().larger(largest) * Q::all(self.slope);
        // √(S² + M²) in units of M, whose square may be no number.
        let root = scale * (squares / scale / scale + one).sqrt();
        let wealth = Q::all(self.epsilon) * (one + won);
        let point = (sum / root).held(one) * (wealth / (Q::all(2.0) * root));
        point.held(Q::all(f32::MAX.into())).where_above(scale, zero, zero)
    }

    /// The point is a function of the sums: there is nothing left to move.
    #[inline(always)]
    fn observe<Q: F64x4>(&mut self, numbers: [Q; 4], value: Q) -> ([Q; 4], Q, [Q; 2]) {
        let ([largest, squares, sum, won], zero) = (numbers, Q::all(0.0));
        let (point, size) = (self.weight(numbers, value), value.abs());
        let largest = size.larger(largest);
        let z = (Q::all(self.scalar) * value).held(largest * Q::all(self.slope));
        // Where the value is 0 all stays.
        let numbers = [
            largest,
            (squares + z * z).smaller(Q::all(f64::MAX)).where_above(size, zero, squares),
            (sum - z).where_above(size, zero, sum),
            (won - z * point / Q::all(self.epsilon)).smaller(Q::all(LARGEST)).where_above(size, zero, won),
        ];
        (numbers, zero, [zero; 2])
    }

    fn prepare(&mut self, g: f64, h: f64, features: &mut AdaptiveTable<Self, 4>) -> Step {
        self.scalar = h * g;
        features.observe(self);
        self.slope = self.slope.max(self.scalar.abs());
        Step::Gradient { time: 0.0 }
    }

    fn guarantee(&self, _features: &ParameterTable<[f64; 4]>) -> Guarantee {
        Guarantee::missing(REASON)
    }

    fn describe(&self) -> String {
        Description::of("scinol").with(&EPSILON, self.epsilon).into()
    }

    fn persist(&mut self, archive: &mut Archive, features: &mut ParameterTable<[f64; 4]>) -> Result<(), Error> {
        archive.number("slope", &mut self.slope)?;
        let fields = [
            ("largest", Field::F64(&|[largest, ..]: &mut [f64; 4]| largest)),
            ("squares", Field::F64(&|[_, squares, ..]| squares)),
            ("sum", Field::F64(&|[.., sum, _]| sum)),
            ("won", Field::F64(&|[.., won]| won)),
        ];
        features.persist(archive, |[largest, ..]| *largest > 0.0, &fields)
    }
}

const EPSILON: ParameterDescriptor = positive("epsilon").default("1").meaning("initial wealth of each feature");

/// `scinol` by name.
pub(crate) const ENTRY: LearnerDescriptor = LearnerDescriptor {
    name: "scinol",
    summary: "scale-invariant online learning: features in any units, no rate (Kempka, Kotłowski, Warmuth)",
    losses: Losses::Convex,
    parameters: &[EPSILON],
    promises: &[Promise::never("", REASON), Promise::other("epsilon=2")],
    build: |arguments| Linear::learner(arguments, Scinol::new(arguments.number("epsilon"))?),
    plan: |_, _| Ok(Guarantee::missing(REASON)),
};
