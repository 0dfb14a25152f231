//! The second-order perceptron (Cesa-Bianchi, Conconi, Gentile 2005).
//!
//! Over the rounds with an update it keeps v = Σ h·y·x and A = aI + Σ h·xxᵀ. The score is
//! s = b + ⟨(A + xxᵀ)⁻¹v, x⟩ = b + ⟨w, x⟩/(1 + xᵀA⁻¹x) with w = A⁻¹v, b the row's offset; when
//! y·s ≤ 0, v += h·y·x and A += h·xxᵀ. Features that are correlated are treated as if they were
//! not: it needs fewer updates than the perceptron where a few directions dominate.
//!
//! **Guarantee**: with M = Σh over the rounds with an update, and H(u) the hinge loss of b + ⟨u, x⟩
//! on them, h·y⟨u, x⟩ ≥ h(1 − H − y·b) sums to
//! M ≤ H(u) + Σ h·y·b + ⟨u, v⟩ ≤ H(u) + Σ h·y·b + ‖u‖·‖v‖, which is printed for ‖u‖ ≤ U. It is never
//! above the paper's bound: ⟨u, v⟩ ≤ √(uᵀAu)·√(vᵀA⁻¹v), and (h = 1, b = 0) an update at y·s ≤ 0 adds
//! at most q/(1 + q) ≤ ln(1 + q) to vᵀA⁻¹v, q = xᵀA⁻¹x, whose sum is Σ ln(1 + λ_i/a), so that
//! ‖v‖² ≤ (a + λ_1)·Σ ln(1 + λ_i/a), λ_i being the eigenvalues of Σxxᵀ over the updates and λ_1
//! the largest.
//!
//! **Cost**: O(d²) a round for the first `limit` features; later ones are ignored and counted, and
//! there is no guarantee from then on.

use std::sync::Arc;

use super::{A, Count, ENTRY, LIMIT, VARIANT};
use crate::archive::Archive;
use crate::guarantee::{Comparator, Guarantee, GuaranteeKind};
use crate::learner::ridge::{Ridge, beyond_the_limit};
use crate::loss::ZeroOne;
use crate::numeric::sum::{self, Sum};
use crate::parameter::Description;
use crate::protocol::COMPARATOR_RADIUS;
use crate::{Error, Features, LinearWeights, Loss, ScoreLearner, SharedLoss};

/// The second-order perceptron.
pub struct SecondOrderPerceptron {
    radius: f64,
    a: f64,
    ridge: Ridge,
    /// v, by columns.
    v: Vec<f64>,
    /// Σ h·y·b.
    offsets: f64,
    /// Σ ln(1 + q), h in q.
    determinant: Sum,
    pub(super) count: Count,
}

impl SecondOrderPerceptron {
    /// With aI added to the correlations, a limit on the number of features, and a guarantee for
    /// comparators in the ball of this radius.
    ///
    /// # Errors
    /// When a is not from 1e-30 to 1e30, the limit not from 1 to 8192, the radius not positive and
    /// finite, or the loss one that the perceptron does not pay.
    pub fn new(a: f64, limit: u64, radius: f64, loss: &dyn Loss) -> Result<Self, Error> {
        A.check(a)?;
        COMPARATOR_RADIUS.check(radius)?;
        ENTRY.check_loss(loss)?;
        let (v, determinant, count) = Default::default();
        Ok(Self { radius, a, ridge: Ridge::new(a, limit)?, v, offsets: 0.0, determinant, count })
    }

    /// Σ ln(1 + λ_i/a) = ln det(A/a).
    pub fn log_determinant(&self) -> f64 {
        self.determinant.total()
    }

    /// How many values were ignored since their features came when there were `limit` already.
    pub fn ignored(&self) -> u64 {
        self.ridge.columns.ignored()
    }
}

impl ScoreLearner for SecondOrderPerceptron {
    fn predict_one(&self, x: Features<'_>) -> f64 {
        x.offset() + self.ridge.dot(x) / (1.0 + self.ridge.variance(x))
    }

    fn learn_one(&mut self, x: Features<'_>, label: f64, weight: f64) -> f64 {
        let prediction = self.predict_one(x);
        if label * prediction > 0.0 {
            return prediction;
        }
        self.determinant.add(libm::log1p(weight * self.ridge.variance(x)));
        self.ridge.observe(x, label, weight);
        self.v.resize(self.ridge.columns.len(), 0.0);
        for (index, value) in x.iter() {
            if let Some(column) = self.ridge.columns.find(index) {
                self.v[column] += weight * label * f64::from(value);
            }
        }
        self.offsets += weight * label * x.offset();
        self.count.observe(prediction, label, weight);
        self.count.updates += weight;
        prediction
    }

    fn loss(&self) -> SharedLoss {
        Arc::new(ZeroOne)
    }

    fn describe(&self) -> String {
        let it = Description::of("perceptron").with(&A, self.a).with(&LIMIT, self.ridge.columns.features.limit());
        it.with(&COMPARATOR_RADIUS, self.radius).with(&VARIANT, "second-order").into()
    }

    fn updates(&self) -> Option<f64> {
        Some(Self::updates(self))
    }

    fn guarantee(&self) -> Guarantee {
        if self.ignored() > 0 {
            return Guarantee::none(GuaranteeKind::Own, beyond_the_limit(&self.ridge));
        }
        let length = sum::sum(self.v.iter().map(|v| v * v)).sqrt();
        Guarantee::own(Comparator::HingeOnUpdates(self.radius), self.offsets + self.radius * length)
    }

    fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        self.ridge.persist(archive)?;
        self.count.persist(archive)?;
        archive.column_of(self.ridge.columns.len(), "v", &mut self.v)?;
        archive.number("offsets", &mut self.offsets)?;
        self.determinant.persist("determinant", archive)
    }

    /// w = A⁻¹v: scores are a share 1/(1 + xᵀA⁻¹x) of what such weights say.
    fn linear(&self) -> Option<&dyn LinearWeights> {
        Some(&self.ridge)
    }
}
