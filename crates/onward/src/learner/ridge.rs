//! Ridge regression, one row at a time: what recursive least squares and its kin share.
//!
//! With A = λI + Σ h·xxᵀ = Γ⁻¹ it keeps the triangle R of A = RᵀR and z of Rᵀz = Σ h·y·x, so that
//! w = Γ·Σ h·y·x solves Rw = z. A row is folded into both by rotations (`numeric/linalg/triangle.rs`): that is the
//! QR form of recursive least squares, in which no rounding makes Γ lose its sign. O(d²) a row.

use std::cell::RefCell;
use std::sync::Arc;

use super::columns::{FeatureColumns, LIMIT};
use crate::archive::Archive;
use crate::guarantee::{Comparator, Guarantee, GuaranteeKind};
use crate::loss::{Curvature, Squared};
use crate::numeric::linalg::triangle::{Folded, Triangle};
use crate::numeric::sum::{self, Sum};
use crate::parameter::{Description, ParameterDescriptor, positive};
use crate::protocol::COMPARATOR_RADIUS;
use crate::{Error, Features, LinearWeights, SharedLoss};

/// The quadratic loss that is charged.
pub(super) struct Charged {
    pub(super) loss: SharedLoss,
    /// By what (p − y)² is multiplied in it.
    pub(super) unit: f64,
}

impl Default for Charged {
    /// The squared loss itself.
    fn default() -> Self {
        Self::by(Arc::new(Squared))
    }
}

impl Charged {
    /// By ½c(p − y)².
    pub(super) fn by(loss: SharedLoss) -> Self {
        let unit = if let Curvature::Quadratic(c) = loss.curvature() { 0.5 * c } else { 1.0 };
        Self { loss, unit }
    }
}

/// What `rls` and `vaw` share: ridge regression, the loss that is charged, and the bound on the regret.
pub(super) struct RidgeLearner {
    pub(super) charged: Charged,
    radius: f64,
    pub(super) lambda: f64,
    pub(super) ridge: Ridge,
    /// The regret for (p − y)² against the best comparator with its regularisation.
    pub(super) paid: Sum,
}

impl RidgeLearner {
    pub(super) fn new(lambda: f64, limit: u64, radius: f64) -> Result<Self, Error> {
        LAMBDA.check(lambda)?;
        COMPARATOR_RADIUS.check(radius)?;
        let (charged, paid) = Default::default();
        Ok(Self { charged, radius, lambda, ridge: Ridge::new(lambda, limit)?, paid })
    }

    pub(super) fn charged_by(self, loss: SharedLoss) -> Self {
        Self { charged: Charged::by(loss), ..self }
    }

    /// Adds the parameters that both have to a learner's description.
    pub(super) fn describe(&self, learner: Description) -> String {
        let learner = learner.with(&LAMBDA, self.lambda).with(&LIMIT, self.ridge.columns.features.limit());
        learner.with(&COMPARATOR_RADIUS, self.radius).into()
    }

    /// The bound on the regret, from that against the regularised squares.
    pub(super) fn bound(&self, regret: f64) -> f64 {
        self.charged.unit * (self.lambda * self.radius * self.radius + regret)
    }

    /// The guarantee, from what was paid.
    pub(super) fn guarantee(&self) -> Guarantee {
        if self.ridge.columns.ignored() > 0 {
            return Guarantee::none(GuaranteeKind::Own, beyond_the_limit(&self.ridge));
        }
        Guarantee::own(Comparator::Ball(self.radius), self.bound(self.paid.total()))
    }
}

/// Why there is no guarantee once features had to be ignored.
pub(super) fn beyond_the_limit(ridge: &Ridge) -> String {
    let limit = ridge.columns.features.limit();
    format!("there were more features than limit={limit}; the others were ignored, but comparators may use them")
}

pub(super) const LAMBDA: ParameterDescriptor = positive("lambda")
    .default("1")
    .meaning("regularisation: lambda·‖u‖² is added to the sum of squares")
    .remedy("a larger lambda");

/// The diagonal of R stays above this, so that what is divided by it stays finite: λ² of what has faded.
const SMALLEST: f64 = 1e-100;

/// The least of λ‖u‖² + Σ h(y − ⟨u, x⟩)², kept up to date.
#[derive(Debug, Clone, Default)]
pub(super) struct Ridge {
    /// Of features that are not met yet.
    pub(super) lambda: f64,
    pub(super) columns: FeatureColumns,
    /// R.
    triangle: Triangle,
    /// z = Rw.
    rotated: Vec<f64>,
    /// w.
    weights: Vec<f64>,
    /// √h·x by columns.
    row: Vec<f64>,
}

thread_local! {
    /// Predicting changes nothing, and must not allocate for each row either.
    static ROW: RefCell<Vec<f64>> = const { RefCell::new(Vec::new()) };
}

impl LinearWeights for Ridge {
    fn weight(&self, index: u32) -> f64 {
        self.columns.find(index).map_or(0.0, |column| self.weights[column])
    }

    fn gamma(&self, index: u32) -> Option<f64> {
        Features::new(&[index], &[1.0]).ok().map(|unit| self.variance(unit))
    }
}

impl Ridge {
    /// Before the first row. λ is from 1e-30 to 1e30.
    pub(super) fn new(lambda: f64, limit: u64) -> Result<Self, Error> {
        Ok(Self { lambda, columns: FeatureColumns::new(limit)?, ..Self::default() })
    }

    /// ⟨w, x⟩.
    pub(super) fn dot(&self, x: Features<'_>) -> f64 {
        x.dot(|index| self.weight(index))
    }

    /// xᵀΓx, with Γ = I/λ for features that were never met. O(d²).
    pub(super) fn variance(&self, x: Features<'_>) -> f64 {
        let new = self.columns.new_values(x).map(|value| value * value / self.lambda);
        ROW.with_borrow_mut(|row| {
            let from = self.columns.spread(x, 1.0, row);
            self.triangle.solve_transposed(row, from);
            sum::sum(row.iter().map(|a| a * a).chain(new))
        })
    }

    /// Takes in a row with the target y and the importance h > 0.
    pub(super) fn observe(&mut self, x: Features<'_>, y: f64, h: f64) -> Folded {
        self.columns.meet(x);
        while self.triangle.rows.len() < self.columns.len() {
            self.triangle.grow(self.lambda.sqrt());
            self.rotated.push(0.0);
        }
        let root = h.sqrt();
        let from = self.columns.spread(x, root, &mut self.row);
        let folded = self.triangle.fold(&mut self.row, from, &mut self.rotated, root * y);
        self.triangle.solve(&self.rotated, &mut self.weights);
        folded
    }

    /// All that was seen counts `factor` times as much, the regularisation of features that were met included.
    pub(super) fn discount(&mut self, factor: f64) {
        self.triangle.scale(factor.sqrt(), SMALLEST, &mut self.rotated);
    }

    /// The same for the regularisation of features that are not met yet.
    pub(super) fn fade(&mut self, factor: f64) {
        self.lambda = (self.lambda * factor).max(SMALLEST * SMALLEST);
    }

    /// Adds `amount`·u_i² to what is minimised, i being the feature of a column; returns by how
    /// much the least grows. The weights follow with the next row.
    pub(super) fn strengthen(&mut self, column: usize, amount: f64) -> f64 {
        self.row.clear();
        self.row.resize(self.columns.len(), 0.0);
        self.row[column] = amount.sqrt();
        let folded = self.triangle.fold(&mut self.row, column, &mut self.rotated, 0.0);
        folded.residual * folded.residual
    }

    pub(super) fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        self.columns.persist(archive)?;
        let size = self.columns.len();
        self.triangle.persist("triangle", size, archive)?;
        let is_positive = self.triangle.rows.iter().all(|row| row[0] > 0.0);
        archive.check(is_positive, "triangle", "must be above 0 on its diagonal")?;
        archive.column_of(size, "rotated", &mut self.rotated)?;
        archive.column_of(size, "weight", &mut self.weights)
    }
}
