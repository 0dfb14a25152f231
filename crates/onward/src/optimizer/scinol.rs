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
//! **Cost**: O(non-zeros) a round.

use bytemuck::Zeroable;

use crate::archive::{Archive, Field};
use crate::guarantee::{Guarantee, GuaranteeKind};
use crate::numeric::sum;
use crate::parameter::{Description, ParameterDescriptor, positive};
use crate::protocol::{Clip, LearnerDescriptor, Linear, Losses, Optimizer, Promise, Step};
use crate::storage::table::ParameterTable;
use crate::{Error, Features};

/// What is kept of a coordinate.
#[derive(Debug, Clone, Copy, Zeroable)]
#[repr(C)]
struct ScinolEntry {
    /// max|x|; 0: not seen.
    largest: f64,
    /// S² = Σz².
    squares: f64,
    /// Gsum = −Σz.
    sum: f64,
    /// What was won, −Σz·w, in units of ε: η = ε(1 + won).
    won: f64,
}

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
#[derive(Debug, Clone)]
pub struct Scinol {
    epsilon: f64,
    table: ParameterTable<ScinolEntry>,
    /// L: the largest h|g| so far, and 1.
    slope: f64,
}

/// What is won stays below this.
const LARGEST: f64 = 1e300;

const REASON: &str = "the theorem of scinol has no bound with all its constants: the universal certificate holds";

impl Scinol {
    /// With this wealth ε of each coordinate at first.
    ///
    /// # Errors
    /// When it is not from 1e-30 to 1e30.
    pub fn new(epsilon: f64) -> Result<Self, Error> {
        EPSILON.check(epsilon)?;
        Ok(Self { epsilon, table: ParameterTable::default(), slope: 1.0 })
    }

    /// w for a coordinate whose M is up to date.
    fn point(&self, entry: ScinolEntry) -> f64 {
        let scale = entry.largest * self.slope;
        if scale == 0.0 {
            return 0.0;
        }
        // √(S² + M²) in units of M, whose square may be no number.
        let root = scale * (entry.squares / scale / scale + 1.0).sqrt();
        let wealth = self.epsilon * (1.0 + entry.won);
        let point = (entry.sum / root).clamp(-1.0, 1.0) * (wealth / (2.0 * root));
        point.clamp(f64::from(f32::MIN), f64::from(f32::MAX))
    }

    /// The coordinate once it has seen x.
    fn widened(&self, index: u32, value: f32) -> ScinolEntry {
        let entry = self.table.get(index);
        ScinolEntry { largest: entry.largest.max(f64::from(value.abs())), ..entry }
    }
}

impl Optimizer for Scinol {
    fn dot(&self, x: Features<'_>) -> f64 {
        sum::sum(x.iter().map(|(index, value)| self.point(self.widened(index, value)) * f64::from(value)))
    }

    fn prepare(&mut self, g: f64, h: f64, x: Features<'_>) -> Step {
        for (index, value) in x.iter().filter(|&(_, value)| value != 0.0) {
            let mut entry = self.widened(index, value);
            let point = self.point(entry);
            let scale = entry.largest * self.slope;
            let z = (h * g * f64::from(value)).clamp(-scale, scale);
            entry.squares = (entry.squares + z * z).min(f64::MAX);
            entry.sum -= z;
            entry.won = (entry.won - z * point / self.epsilon).min(LARGEST);
            *self.table.entry(index) = entry;
        }
        self.slope = self.slope.max((h * g).abs());
        // The point is a function of the sums: there is nothing left to move.
        Step::Gradient { time: 0.0 }
    }

    fn advance(&mut self, _u: f64, _x: Features<'_>) {}

    fn weight(&self, index: u32) -> f64 {
        self.point(self.table.get(index))
    }

    fn guarantee(&self) -> Guarantee {
        Guarantee::none(GuaranteeKind::Own, REASON)
    }

    fn describe(&self) -> String {
        Description::of("scinol").with(&EPSILON, self.epsilon).into()
    }

    fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        archive.number("slope", &mut self.slope)?;
        let fields = [
            ("largest", Field::F64(&|entry: &mut ScinolEntry| &mut entry.largest)),
            ("squares", Field::F64(&|entry| &mut entry.squares)),
            ("sum", Field::F64(&|entry| &mut entry.sum)),
            ("won", Field::F64(&|entry| &mut entry.won)),
        ];
        self.table.persist(archive, |entry| entry.largest > 0.0, &fields)
    }
}

const EPSILON: ParameterDescriptor = positive("epsilon").default("1").meaning("the wealth of each feature at first");

/// `scinol` by name.
pub(crate) const ENTRY: LearnerDescriptor = LearnerDescriptor {
    name: "scinol",
    summary: "scale-invariant online learning: features in any units, no rate (Kempka, Kotłowski, Warmuth)",
    losses: Losses::Convex,
    parameters: &[EPSILON],
    promises: &[Promise::never("", REASON), Promise::other("epsilon=2")],
    build: |arguments| {
        let optimizer = Scinol::new(arguments.number("epsilon"))?;
        Ok(Box::new(Linear::new(arguments.loss(), optimizer, Clip::Never)))
    },
    plan: |_, _| Ok(Guarantee::none(GuaranteeKind::Own, REASON)),
};
