//! The Vovk–Azoury–Warmuth forecaster: ridge regression that takes in the features before it
//! predicts (Vovk 1998; Azoury, Warmuth 2001).
//!
//! p_t = b_t + ⟨Γ_t Σ_{s<t} h_s(y_s − b_s)x_s, x_t⟩ with Γ_t = (λI + Σ_{s≤t} h_s x_s x_sᵀ)⁻¹, b the
//! row's offset. That is p − b = ⟨w, x⟩/(1 + q), w being the weights of ridge regression on the
//! rows before (`rls`) and q = h·xᵀΓ_{t−1}x: it shrinks predictions to 0 where x is new. The
//! importance h is a part of the row: a prediction is that of a row of importance 1 unless the
//! row says otherwise. Squared loss only.
//!
//! **Guarantee**, for every ‖u‖ ≤ U, whatever the stream. Let y and p be less b, h = 1 (else scale
//! row and label by √h). The least of the regularised squares grows by (y − ⟨w, x⟩)²/(1 + q)
//! (see `rls`), and ⟨w, x⟩ = (1 + q)p, so
//!
//! (y − p)² − (y − (1 + q)p)²/(1 + q) = y²·q/(1 + q) − q·p².
//!
//! Summed: R_T(u) ≤ λ‖u‖² + Σ y²·q/(1 + q) − Σ q·p², exactly the regret against the regularised
//! squares. This is printed, from what happened. As q/(1 + q) = xᵀΓ_t x ≤ ln(1 + q) and
//! Σ ln(1 + q) = ln det(I + Σ h·xxᵀ/λ), it is at most λ‖u‖² + Y² ln det(I + Σ h·xxᵀ/λ), Y being the
//! largest |y|: that is promised beforehand, at most λU² + Y²·d·ln(1 + TX²/(λd)).
//!
//! **Cost**: as `rls`, features beyond the first `limit` included.

use super::columns::LIMIT;
use super::ridge::{Charged, LAMBDA, RidgeLearner};
use crate::archive::Archive;
use crate::guarantee::{Comparator, Guarantee, GuaranteeKind};
use crate::loss::LossKind;
use crate::numeric::sum::Sum;
use crate::parameter::Description;
use crate::protocol::{COMPARATOR_RADIUS, LearnerDescriptor, Losses, Promise, STANDARDISE};
use crate::{Error, Features, LinearWeights, ScoreLearner, SharedLoss};

/// The Vovk–Azoury–Warmuth forecaster.
///
/// ```
/// use onward::{Features, ScoreLearner, learner::Vaw};
/// let mut learner = Vaw::new(1.0, 10, 1.0)?;
/// let x = Features::new(&[0], &[1.0])?;
/// learner.learn_one(x, 3.0, 1.0);
/// // Γ_2 = 1/(1 + 2), although one row has been seen.
/// assert!((learner.predict_one(x) - 3.0 / 3.0).abs() < 1e-12);
/// # Ok::<(), onward::Error>(())
/// ```
pub struct Vaw {
    base: RidgeLearner,
    /// Y: the largest |y − b|·√h.
    largest: f64,
    /// ln det(I + Σ h·xxᵀ/λ).
    determinant: Sum,
}

impl Vaw {
    /// With the regularisation λ, a limit on the number of features, and a guarantee for
    /// comparators in the ball of this radius.
    ///
    /// # Errors
    /// When λ is not from 1e-30 to 1e30, the limit not from 1 to 8192, or the radius not positive
    /// and finite.
    pub fn new(lambda: f64, limit: u64, radius: f64) -> Result<Self, Error> {
        let base = RidgeLearner::new(lambda, limit, radius)?;
        Ok(Self { base, largest: 0.0, determinant: Sum::default() })
    }

    /// The same, charged by a quadratic loss ½c(p − y)².
    ///
    /// # Errors
    /// When the loss is another.
    pub fn charged_by(self, loss: SharedLoss) -> Result<Self, Error> {
        ENTRY.check_loss(loss.as_ref())?;
        Ok(Self { base: self.base.charged_by(loss), ..self })
    }

    /// λU² + Y² ln det(I + Σ h·xxᵀ/λ): the bound as it is usually stated, never below that of
    /// [`guarantee`](crate::Learner::guarantee).
    pub fn logarithmic_bound(&self) -> f64 {
        self.base.bound(self.largest * self.largest * self.determinant.total())
    }

    /// How many values were ignored since their features came when there were `limit` already.
    pub fn ignored(&self) -> u64 {
        self.base.ridge.columns.ignored()
    }

    /// p − b of a row of this importance, and q.
    fn forecast(&self, x: Features<'_>, h: f64) -> (f64, f64) {
        let q = h * self.base.ridge.variance(x);
        (self.base.ridge.dot(x) / (1.0 + q), q)
    }
}

impl ScoreLearner for Vaw {
    fn predict_one(&self, x: Features<'_>) -> f64 {
        x.offset() + self.forecast(x, 1.0).0
    }

    fn learn_one(&mut self, x: Features<'_>, label: f64, weight: f64) -> f64 {
        let (p, q) = self.forecast(x, weight);
        let y = label - x.offset();
        let leverage = self.base.ridge.observe(x, y, weight).leverage;
        self.base.paid.add(weight * y * y * leverage - weight * (q * p) * p);
        self.largest = self.largest.max(y.abs() * weight.sqrt());
        self.determinant.add(libm::log1p(q));
        x.offset() + p
    }

    fn loss(&self) -> SharedLoss {
        SharedLoss::clone(&self.base.charged.loss)
    }

    fn describe(&self) -> String {
        self.base.describe(Description::of("vaw"))
    }

    fn guarantee(&self) -> Guarantee {
        self.base.guarantee()
    }

    fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        self.base.ridge.persist(archive)?;
        archive.number("largest", &mut self.largest)?;
        self.base.paid.persist("paid", archive)?;
        self.determinant.persist("determinant", archive)
    }

    fn linear(&self) -> Option<&dyn LinearWeights> {
        Some(&self.base.ridge)
    }
}

/// `vaw` by name.
pub(crate) const ENTRY: LearnerDescriptor = LearnerDescriptor {
    name: "vaw",
    summary: "ridge regression that uses the features of a row before it predicts, with a logarithmic bound (Vovk, \
              Azoury, Warmuth)",
    losses: Losses::Only(&[LossKind::Quadratic]),
    parameters: &[LAMBDA, LIMIT, COMPARATOR_RADIUS, STANDARDISE],
    promises: &[Promise::always("").repeating(), Promise::other("lambda=2,limit=20,radius=2").repeating()],
    build: |arguments| {
        let vaw = Vaw::new(arguments.number("lambda"), arguments.whole("limit"), arguments.number("radius"))?;
        Ok(Box::new(vaw.charged_by(arguments.loss())?))
    },
    plan: |arguments, scales| {
        let (lambda, radius) = (arguments.number("lambda"), arguments.number("radius"));
        if scales.dimension > arguments.number("limit") {
            let reason = "there are more features than its limit, and the others are ignored; give a larger limit";
            return Ok(Guarantee::none(GuaranteeKind::Own, reason));
        }
        // The determinant is largest where all eigenvalues are alike, and their sum is at most TX².
        let spread = scales.rounds * scales.norm * scales.norm / (lambda * scales.dimension);
        let determinant = scales.dimension * libm::log1p(spread);
        let bound = lambda * radius * radius + scales.label * scales.label * determinant;
        Ok(Guarantee::own(Comparator::Ball(radius), Charged::by(arguments.loss()).unit * bound))
    },
};
