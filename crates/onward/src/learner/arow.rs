//! AROW: adaptive regularisation of weights (Crammer, Kulesza, Dredze 2009).
//!
//! A Gaussian over weights, of mean w and covariance Σ, first 0 and I. With m = b + ⟨w, x⟩, b the
//! row's offset, v = xᵀΣx and, where ym < 1, β = 1/(v + r/h) and α = (1 − ym)β:
//!
//! w += α·y·Σx, Σ −= β·Σxxᵀ Σ.
//!
//! So weights that were updated often are trusted, and change little. The importance h makes the
//! row as sure as h rows at once: the noise r is divided by it.
//!
//! - `form=diagonal` keeps the variance of each weight alone, Σ_i −= β(Σ_i x_i)²: O(non-zeros);
//! - `form=full` keeps all of Σ. As 1 − ym = y(y − m), it is ridge regression on the labels of the
//!   rows with ym < 1, each of importance h/r, and λ = 1: Σ = (I + Σ xxᵀ·h/r)⁻¹ over those rows.
//!   It is computed as `rls` is: O(d²) per round, for the first `limit` features; later ones are
//!   ignored.
//!
//! What is charged is the hinge loss or its square, as asked; the update is the same.
//!
//! **Guarantee**: none of regret. The paper's theorem bounds mistakes by the hinge loss of a
//! comparator on the rows with an update, plus √(‖u‖² + uᵀXu/r)·√(r ln det(I + X/r)), less the
//! updates without a mistake, for the full form; X is the sum of xxᵀ over those rows.

use bytemuck::Zeroable;

use super::columns;
use super::ridge::Ridge;
use crate::archive::{Archive, fields};
use crate::guarantee::{Guarantee, GuaranteeKind};
use crate::loss::LossKind;
use crate::numeric::{saturate, sum};
use crate::parameter::{Description, ParameterDescriptor, positive, words};
use crate::protocol::{LearnerDescriptor, Losses, Promise, STANDARDISE};
use crate::storage::table::ParameterTable;
use crate::{Error, Features, LinearWeights, ScoreLearner, SharedLoss};

/// What is kept of the covariance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Covariance {
    /// The variance of each weight.
    Diagonal,
    /// The whole matrix, for at most this many features.
    Full(u64),
}

/// AROW.
pub struct Arow {
    loss: SharedLoss,
    r: f64,
    gaussian: Gaussian,
}

/// The distribution of weights.
enum Gaussian {
    Diagonal(ParameterTable<ArowEntry>),
    Full(Box<Ridge>),
}

/// A weight in the diagonal form.
#[derive(Debug, Clone, Copy, Zeroable)]
#[repr(C)]
struct ArowEntry {
    /// Σ_i; 0 for a weight that was never updated, whose variance is 1.
    variance: f64,
    weight: f32,
    unused: u32,
}

/// Variances do not fall below this, by which a row of importance 1e38 would make them 0.
const SMALLEST: f64 = 1e-200;

impl ArowEntry {
    fn variance(self) -> f64 {
        if self.variance == 0.0 { 1.0 } else { self.variance }
    }
}

impl Arow {
    /// For hinge or squared hinge loss, with the noise r.
    ///
    /// # Errors
    /// When the loss is another, r not from 1e-30 to 1e30, or the limit of the full form not from
    /// 1 to 8192.
    pub fn new(loss: SharedLoss, covariance: Covariance, r: f64) -> Result<Self, Error> {
        R.check(r)?;
        ENTRY.check_loss(loss.as_ref())?;
        let gaussian = match covariance {
            Covariance::Diagonal => Gaussian::Diagonal(ParameterTable::default()),
            Covariance::Full(limit) => Gaussian::Full(Box::new(Ridge::new(1.0, limit)?)),
        };
        Ok(Self { loss, r, gaussian })
    }
}

impl ScoreLearner for Arow {
    fn predict_one(&self, x: Features<'_>) -> f64 {
        x.offset() + x.dot(|index| self.weight(index))
    }

    fn learn_one(&mut self, x: Features<'_>, label: f64, weight: f64) -> f64 {
        let prediction = self.predict_one(x);
        let shortfall = 1.0 - label * prediction;
        if shortfall <= 0.0 {
            return prediction;
        }
        match &mut self.gaussian {
            Gaussian::Diagonal(entries) => update(entries, x, label * shortfall, self.r / weight),
            Gaussian::Full(ridge) => {
                ridge.observe(x, label - x.offset(), weight / self.r);
            }
        }
        prediction
    }

    fn loss(&self) -> SharedLoss {
        SharedLoss::clone(&self.loss)
    }

    fn describe(&self) -> String {
        let arow = Description::of("arow");
        let arow = match &self.gaussian {
            Gaussian::Diagonal(_) => arow.with(&FORM, "diagonal"),
            Gaussian::Full(ridge) => arow.with(&FORM, "full").with(&LIMIT, ridge.columns.features.limit()),
        };
        arow.with(&R, self.r).into()
    }

    fn guarantee(&self) -> Guarantee {
        Guarantee::none(GuaranteeKind::Own, NONE)
    }

    fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        match &mut self.gaussian {
            Gaussian::Diagonal(entries) => {
                let fields = fields!(ArowEntry { "weight": F32 weight, "variance": F64 variance });
                entries.persist(archive, |entry| entry.variance > 0.0, &fields)
            }
            Gaussian::Full(ridge) => ridge.persist(archive),
        }
    }

    fn linear(&self) -> Option<&dyn LinearWeights> {
        Some(self)
    }
}

impl LinearWeights for Arow {
    fn weight(&self, index: u32) -> f64 {
        match &self.gaussian {
            Gaussian::Diagonal(entries) => f64::from(entries.get(index).weight),
            Gaussian::Full(ridge) => ridge.weight(index),
        }
    }
}

/// An update of the diagonal form towards the label: `shortfall` is y(1 − ym), `noise` r/h.
fn update(entries: &mut ParameterTable<ArowEntry>, x: Features<'_>, shortfall: f64, noise: f64) {
    let variances = x.iter().map(|(index, value)| entries.get(index).variance() * f64::from(value) * f64::from(value));
    let v = sum::sum(variances);
    let beta = 1.0 / (v + noise);
    for (index, value) in x.iter().filter(|&(_, value)| value != 0.0) {
        let entry = entries.entry(index);
        let (variance, value) = (entry.variance(), f64::from(value));
        entry.weight = saturate(f64::from(entry.weight) + shortfall * beta * variance * value);
        // At least a share r/h of v + r/h is left, as it would not be where rounding swallows r.
        let left = (1.0 - beta * variance * value * value).max(beta * noise);
        entry.variance = (variance * left).max(SMALLEST);
    }
}

const NONE: &str = "the theorem of AROW bounds mistakes on the rows that it learns from, not regret";

const FORM: ParameterDescriptor =
    words("form", &[("diagonal", "one variance per weight"), ("full", "all covariances, O(d²) per round")])
        .meaning("which part of the covariance is kept");

const LIMIT: ParameterDescriptor = columns::LIMIT.only_with("form=full");

const R: ParameterDescriptor =
    positive("r").default("1").meaning("noise: larger values learn more slowly").remedy("a larger r");

/// `arow` by name.
pub(crate) const ENTRY: LearnerDescriptor = LearnerDescriptor {
    name: "arow",
    summary: "adaptive regularisation of weights, with a confidence per weight (Crammer, Kulesza, Dredze)",
    losses: Losses::Only(&[LossKind::Hinge, LossKind::SquaredHinge]),
    parameters: &[FORM, LIMIT, R, STANDARDISE],
    promises: &[Promise::never("", NONE), Promise::other("form=full,limit=20,r=2").repeating()],
    build: |arguments| {
        let form = match arguments.text("form") {
            "diagonal" => Covariance::Diagonal,
            _ => Covariance::Full(arguments.whole("limit")),
        };
        Ok(Box::new(Arow::new(arguments.loss(), form, arguments.number("r"))?))
    },
    plan: |_, _| Ok(Guarantee::none(GuaranteeKind::Own, NONE)),
};
