//! Recursive least squares: ridge regression that is exact after every row (Plackett 1950).
//!
//! p_t = b_t + ⟨w_{t−1}, x_t⟩, where w_t minimises λ‖u‖² + Σ_{s≤t} h_s(y_s − b_s − ⟨u, x_s⟩)² and
//! b is the row's offset. In the usual form Γ_0 = (1/λ)I, Γ_t = Γ − Γxxᵀ Γ/(1/h + xᵀΓx) and
//! w_t = w + h·Γ_t x·(y − p): then Γ_t = (λI + Σ h·xxᵀ)⁻¹. Here the triangular root of Γ⁻¹ is kept
//! and rows are folded into it by rotations (the QR form), which keeps Γ symmetric and positive
//! definite for ever. Squared loss only, or a multiple of it: the guarantee is then the same multiple; predictions
//! are not clipped.
//!
//! **Guarantee**, for every ‖u‖ ≤ U, whatever the stream. With r = y − p and q = h·xᵀΓ_{t−1}x,
//! a row lets the least of the regularised squares grow by h·r²/(1 + q): the minimum over u of
//! the quadratic (about its minimiser, Hessian 2Γ⁻¹) plus h(y − b − ⟨u, x⟩)². Hence
//! min_u λ‖u‖² + Σ h(y − b − ⟨u, x⟩)² = Σ h·r²/(1 + q), and
//! R_T(u) ≤ λ‖u‖² + Σ h·r²·q/(1 + q). It is printed from what happened; beforehand nothing can be
//! said, since residuals are not bounded (`vaw` can).
//!
//! **Forgetting** f < 1: each row lets what came before it count f times as much, so that w_t
//! minimises f^t·λ‖u‖² + Σ_s f^(t−s) h_s(…)² (exponentially weighted least squares; Haykin, *Adaptive Filter
//! Theory*). The regularisation fades like the rows, and Γ grows without limit in directions that no row touches:
//! after a long silence one row may move a weight far. With `regularisation=kept` w_t minimises
//! Σ λ_i u_i² + Σ_s f^(t−s) h_s(…)²: the λ_i, a few a round and each in turn, are set to λ again, so that
//! λ·f^(1 + 1/(1−f)) ≤ λ_i ≤ λ always. No guarantee.
//!
//! `onward inspect` shows Γ_ii beside the weight of feature i.
//!
//! **Cost**: O(d²) per round and at most 8·d² bytes for d features. Features beyond the first `limit`
//! with a value other than 0 are ignored and counted; there is no guarantee from then on.

use super::columns::LIMIT;
use super::ridge::{LAMBDA, RidgeLearner};
use crate::archive::Archive;
use crate::guarantee::{Guarantee, GuaranteeKind};
use crate::loss::LossKind;
use crate::numeric::sum::Sum;
use crate::parameter::{Description, ParameterDescriptor, number, words};
use crate::protocol::{COMPARATOR_RADIUS, LearnerDescriptor, Losses, Promise, STANDARDISE};
use crate::{Error, Features, LinearWeights, ScoreLearner, SharedLoss};

/// What becomes of the regularisation where the past is forgotten.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Regularisation {
    /// It is forgotten like the rows: f^t·λ.
    Fading,
    /// It is set to λ again, feature by feature.
    Kept,
}

/// Recursive least squares.
///
/// ```
/// use onward::{Features, ScoreLearner, learner::Rls};
/// let mut learner = Rls::new(0.5, 1.0, 10, 1.0)?;
/// learner.learn_one(Features::new(&[0], &[1.0])?, 3.0, 1.0);
/// // The minimum of ½u² + (3 − u)² is 3, at u = 2.
/// assert!((learner.linear().unwrap().weight(0) - 2.0).abs() < 1e-12);
/// assert!((learner.best_regularised_loss() - 3.0).abs() < 1e-12);
/// # Ok::<(), onward::Error>(())
/// ```
pub struct Rls {
    base: RidgeLearner,
    forgetting: f64,
    regularisation: Regularisation,
    /// λ_i by columns, where the past is forgotten and they are kept.
    lambdas: Vec<f64>,
    /// The column whose λ_i is set next.
    turn: usize,
    /// Σ h·r²/(1 + q), discounted.
    least: Sum,
}

impl Rls {
    /// With the regularisation λ, a factor by which the past counts less with each row (1: not at
    /// all), a limit on the number of features, and a guarantee for comparators in the ball of this
    /// radius.
    ///
    /// # Errors
    /// When λ is not from 1e-30 to 1e30, the factor not from 0.5 to 1, the limit not from 1 to
    /// 8192, or the radius not positive and finite.
    pub fn new(lambda: f64, forgetting: f64, limit: u64, radius: f64) -> Result<Self, Error> {
        FORGETTING.check(forgetting)?;
        let (base, regularisation) = (RidgeLearner::new(lambda, limit, radius)?, Regularisation::Fading);
        Ok(Self { base, forgetting, regularisation, lambdas: Vec::new(), turn: 0, least: Sum::default() })
    }

    /// The same with this regularisation.
    #[must_use]
    pub fn with_regularisation(self, regularisation: Regularisation) -> Self {
        Self { regularisation, ..self }
    }

    /// The same, charged by a quadratic loss ½c(p − y)².
    ///
    /// # Errors
    /// When the loss is another.
    pub fn charged_by(self, loss: SharedLoss) -> Result<Self, Error> {
        ENTRY.check_loss(loss.as_ref())?;
        Ok(Self { base: self.base.charged_by(loss), ..self })
    }

    /// Whether λ_i are set again.
    fn is_kept(&self) -> bool {
        self.forgetting < 1.0 && self.regularisation == Regularisation::Kept
    }

    /// The least of λ‖u‖² + Σ h(y − b − ⟨u, x⟩)² over all u, as w attains it: what the best
    /// comparator in hindsight pays, with its regularisation. Discounted, if the past is.
    pub fn best_regularised_loss(&self) -> f64 {
        self.least.total()
    }

    /// xᵀΓx: how uncertain the score is, in units of the variance of labels.
    pub fn variance(&self, x: Features<'_>) -> f64 {
        self.base.ridge.variance(x)
    }

    /// How many values were ignored since their features came when there were `limit` already.
    pub fn ignored(&self) -> u64 {
        self.base.ridge.columns.ignored()
    }

    /// Lets the past count less. If they are kept, some of the λ_i are set again: enough of them that each has its turn
    /// within 1 + 1/(1 − f) rounds.
    fn forget(&mut self) {
        let f = self.forgetting;
        self.base.ridge.discount(f);
        if self.regularisation == Regularisation::Fading {
            self.base.ridge.fade(f);
        }
        self.lambdas.iter_mut().for_each(|lambda| *lambda *= f);
        let mut least = f * self.least.total();
        let columns = self.lambdas.len();
        for _ in 0..(columns as f64 * (1.0 - f)).ceil() as usize {
            self.turn = (self.turn + 1) % columns;
            least += self.base.ridge.strengthen(self.turn, self.base.lambda - self.lambdas[self.turn]);
            self.lambdas[self.turn] = self.base.lambda;
        }
        self.least = Sum::default();
        self.least.add(least);
    }
}

impl ScoreLearner for Rls {
    fn predict_one(&self, x: Features<'_>) -> f64 {
        x.offset() + self.base.ridge.dot(x)
    }

    fn learn_one(&mut self, x: Features<'_>, label: f64, weight: f64) -> f64 {
        let prediction = self.predict_one(x);
        let residual = label - prediction;
        if self.forgetting < 1.0 {
            self.forget();
        }
        let folded = self.base.ridge.observe(x, label - x.offset(), weight);
        if self.is_kept() {
            self.lambdas.resize(self.base.ridge.columns.len(), self.base.lambda);
        }
        self.least.add(folded.residual * folded.residual);
        self.base.paid.add(weight * residual * residual * folded.leverage);
        prediction
    }

    fn loss(&self) -> SharedLoss {
        SharedLoss::clone(&self.base.charged.loss)
    }

    fn describe(&self) -> String {
        let rls = Description::of("rls").with(&FORGETTING, self.forgetting);
        let kind = if self.regularisation == Regularisation::Kept { "kept" } else { "fading" };
        let described = Description::of(self.base.describe(rls));
        if self.forgetting < 1.0 { described.with(&REGULARISATION, kind).into() } else { described.into() }
    }

    fn guarantee(&self) -> Guarantee {
        if self.forgetting < 1.0 {
            return Guarantee::none(GuaranteeKind::Own, FORGETFUL);
        }
        self.base.guarantee()
    }

    fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        self.base.ridge.persist(archive)?;
        let features = self.base.ridge.columns.len();
        archive.column_of(if self.is_kept() { features } else { 0 }, "lambdas", &mut self.lambdas)?;
        if self.forgetting < 1.0 && self.regularisation == Regularisation::Fading {
            archive.size("lambda", &mut self.base.ridge.lambda)?;
            archive.check(self.base.ridge.lambda > 0.0, "lambda", "must be above 0")?;
        }
        let mut turn = self.turn as u64;
        archive.count("turn", &mut turn)?;
        archive.check(turn <= features as u64, "turn", "must not be above the number of features")?;
        self.turn = turn as usize;
        self.least.persist("least", archive)?;
        self.base.paid.persist("paid", archive)
    }

    fn linear(&self) -> Option<&dyn LinearWeights> {
        Some(&self.base.ridge)
    }
}

const FORGETFUL: &str = "with forgetting there is no bound against a fixed comparator";

/// With less than half the last rows are all that counts, and with more than 1 the past would grow.
const FORGETTING: ParameterDescriptor = number("forgetting", 0.5..=1.0).default("1").meaning(
    "factor by which past rows are discounted per round; 1: no \
        discount",
);

const REGULARISATION: ParameterDescriptor = words(
    "regularisation",
    &[
        ("fading", "is discounted like the rows, as in the textbook"),
        ("kept", "is set to lambda again, feature by feature"),
    ],
)
.meaning("what forgetting does to the regularisation")
.only_with("forgetting")
.in_older_models("kept");

/// `rls` by name.
pub(crate) const ENTRY: LearnerDescriptor = LearnerDescriptor {
    name: "rls",
    summary: "recursive least squares: ridge regression solved after every row, O(d²) (Plackett)",
    losses: Losses::Only(&[LossKind::Quadratic]),
    parameters: &[FORGETTING, REGULARISATION, LAMBDA, LIMIT, COMPARATOR_RADIUS, STANDARDISE],
    promises: &[
        Promise::always("").repeating(),
        Promise::other("lambda=2,limit=20,radius=2").repeating(),
        Promise::never("forgetting=0.9", FORGETFUL),
        Promise::never("forgetting=0.9,regularisation=kept", FORGETFUL),
    ],
    build: |arguments| {
        let (lambda, forgetting) = (arguments.number("lambda"), arguments.number("forgetting"));
        let rls = Rls::new(lambda, forgetting, arguments.whole("limit"), arguments.number("radius"))?;
        let is_kept = arguments.text("regularisation") == "kept";
        let kind = if is_kept { Regularisation::Kept } else { Regularisation::Fading };
        Ok(Box::new(rls.with_regularisation(kind).charged_by(arguments.loss())?))
    },
    plan: |_, _| {
        let reason = "its bound depends on residuals, which are unknown in advance; see vaw";
        Ok(Guarantee::none(GuaranteeKind::Own, reason))
    },
};
