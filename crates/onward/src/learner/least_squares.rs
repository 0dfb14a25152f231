//! Ridge regression solved anew before every prediction: batch least squares on a stream.
//!
//! w_t minimises λ‖u‖² + Σ_{s≤t} h_s(y_s − b_s − ⟨u, x_s⟩)², as in `rls`, by the normal equations
//! (λI + Σ h·xxᵀ)w = Σ h(y − b)x and their Cholesky factor. It says what `rls` says and is there to
//! be compared with it:
//!
//! - `form=running` keeps Σ h·xxᵀ and Σ h(y − b)x, and factors each round: O(d³) a round;
//! - `form=scratch` keeps the rows and sums them again each round: O(td² + d³) in round t, so
//!   n²d² + nd³ in all. Its memory grows with the stream: rows beyond the first `rows` are
//!   predicted but not learnt from, and counted.
//!
//! **Guarantee**: as `rls`, R_T(u) ≤ λ‖u‖² + Σ h·r²·q/(1 + q) from what happened, until features or
//! rows had to be ignored. Squared loss only; predictions are not clipped.

use super::columns::{FeatureColumns, LIMIT};
use super::ridge::Charged;
use super::rls::LAMBDA;
use crate::archive::Archive;
use crate::guarantee::{Comparator, Guarantee, GuaranteeKind};
use crate::loss::LossKind;
use crate::numeric::linalg::triangle::Triangle;
use crate::numeric::sum::{self, Sum};
use crate::parameter::{Description, ParameterDescriptor, whole, words};
use crate::protocol::{COMPARATOR_RADIUS, LearnerDescriptor, Losses, Promise, STANDARDISE};
use crate::{Error, Features, LinearWeights, ScoreLearner, SharedLoss};

/// What is kept of the past.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeastSquaresForm {
    /// The sums of the normal equations.
    Running,
    /// All rows, up to so many.
    Scratch(u64),
}

/// Batch least squares, solved before every prediction.
pub struct LeastSquares {
    charged: Charged,
    form: LeastSquaresForm,
    radius: f64,
    lambda: f64,
    columns: FeatureColumns,
    sums: LeastSquaresSums,
    rows: KeptRows,
    /// R of RᵀR = λI + Σ h·xxᵀ.
    root: Triangle,
    weights: Vec<f64>,
    row: Vec<f64>,
    /// Σ h·r²·q/(1 + q).
    paid: Sum,
    /// Rows that came when there were as many as may be kept.
    ignored: f64,
}

/// The normal equations.
#[derive(Debug, Clone, Default)]
struct LeastSquaresSums {
    /// Σ h·xxᵀ, its upper half.
    gram: Triangle,
    /// Σ h(y − b)x.
    moments: Vec<f64>,
    /// z of Rᵀz = moments.
    rotated: Vec<f64>,
}

impl LeastSquaresSums {
    fn grow(&mut self, size: usize) {
        while self.moments.len() < size {
            self.gram.grow(0.0);
            self.moments.push(0.0);
        }
    }

    fn add(&mut self, row: &[f64], y: f64, h: f64) {
        self.gram.add_outer(h, row);
        self.moments.iter_mut().zip(row).for_each(|(moment, x)| *moment += h * y * x);
    }

    fn solve(&mut self, lambda: f64, root: &mut Triangle, weights: &mut Vec<f64>) {
        self.gram.cholesky(lambda, root);
        self.rotated.clone_from(&self.moments);
        root.solve_transposed(&mut self.rotated, 0);
        root.solve(&self.rotated, weights);
    }
}

/// The rows so far, as they came.
#[derive(Debug, Clone, Default)]
struct KeptRows {
    indices: Vec<u32>,
    values: Vec<f32>,
    ends: Vec<usize>,
    targets: Vec<f64>,
    importances: Vec<f64>,
}

impl KeptRows {
    fn push(&mut self, x: Features<'_>, y: f64, h: f64) {
        self.indices.extend(x.indices());
        self.values.extend(x.values());
        self.ends.push(self.indices.len());
        self.targets.push(y);
        self.importances.push(h);
    }

    fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        archive.column("index", &mut self.indices)?;
        archive.column_of(self.indices.len(), "value", &mut self.values)?;
        let mut ends: Vec<f64> = self.ends.iter().map(|&end| end as f64).collect();
        archive.column("end", &mut ends)?;
        archive.column_of(ends.len(), "target", &mut self.targets)?;
        archive.column_of(ends.len(), "importance", &mut self.importances)?;
        self.ends = ends.iter().map(|&end| end as usize).collect();
        let do_match = self.ends.is_sorted() && self.ends.last().copied().unwrap_or(0) == self.indices.len();
        archive.check(do_match, "end", "must be where rows of 'index' end")?;
        // Each row is one that could have come.
        let mut start = 0;
        for &end in self.ends.iter().filter(|_| archive.is_loading()) {
            Features::new(&self.indices[start..end], &self.values[start..end]).map_err(Error::model)?;
            start = end;
        }
        Ok(())
    }
}

impl LeastSquares {
    /// With the regularisation λ, a limit on the number of features, and a guarantee for
    /// comparators in the ball of this radius.
    ///
    /// # Errors
    /// When λ is not from 1e-30 to 1e30, the limit not from 1 to 8192, the most rows not from 1 to
    /// a million, or the radius not positive and finite.
    pub fn new(form: LeastSquaresForm, lambda: f64, limit: u64, radius: f64) -> Result<Self, Error> {
        LAMBDA.check(lambda)?;
        COMPARATOR_RADIUS.check(radius)?;
        if let LeastSquaresForm::Scratch(rows) = form {
            ROWS.check(rows)?;
        }
        Ok(Self {
            charged: Charged::default(),
            form,
            radius,
            lambda,
            columns: FeatureColumns::new(limit)?,
            sums: LeastSquaresSums::default(),
            rows: KeptRows::default(),
            root: Triangle::default(),
            weights: Vec::new(),
            row: Vec::new(),
            paid: Sum::default(),
            ignored: 0.0,
        })
    }

    /// The same, charged by a quadratic loss ½c(p − y)².
    ///
    /// # Errors
    /// When the loss is another.
    pub fn charged_by(self, loss: SharedLoss) -> Result<Self, Error> {
        ENTRY.check_loss(loss.as_ref())?;
        Ok(Self { charged: Charged::by(loss), ..self })
    }

    /// How many rows were not learnt from, since there were as many as may be kept.
    pub fn ignored(&self) -> u64 {
        self.ignored as u64
    }

    fn weight_of(&self, index: u32) -> f64 {
        self.columns.find(index).map_or(0.0, |column| self.weights[column])
    }

    /// xᵀΓx of the row that is being learnt, its columns being known.
    fn variance(&mut self, x: Features<'_>) -> f64 {
        let from = self.columns.spread(x, 1.0, &mut self.row);
        // Features that are new have no column in the root yet, and λ there.
        let (known, new) = self.row.split_at_mut(self.root.size());
        self.root.solve_transposed(known, from);
        let squares = |values: &[f64]| sum::sum(values.iter().map(|value| value * value));
        squares(known) + squares(new) / self.lambda
    }

    /// Takes in a row and solves.
    fn solve(&mut self, x: Features<'_>, y: f64, h: f64) {
        self.sums.grow(self.columns.len());
        if let LeastSquaresForm::Running = self.form {
            self.columns.spread(x, 1.0, &mut self.row);
            self.sums.add(&self.row, y, h);
        } else {
            self.rows.push(x, y, h);
            self.sum_up();
        }
        self.sums.solve(self.lambda, &mut self.root, &mut self.weights);
    }

    /// The normal equations of all rows, from nothing.
    fn sum_up(&mut self) {
        self.sums = LeastSquaresSums::default();
        self.sums.grow(self.columns.len());
        let KeptRows { indices, values, ends, targets, importances } = &self.rows;
        let mut start = 0;
        for ((&end, &y), &h) in ends.iter().zip(targets).zip(importances) {
            self.row.clear();
            self.row.resize(self.columns.len(), 0.0);
            for (&index, &value) in indices[start..end].iter().zip(&values[start..end]) {
                if let Some(column) = self.columns.find(index) {
                    self.row[column] = f64::from(value);
                }
            }
            self.sums.add(&self.row, y, h);
            start = end;
        }
    }
}

impl ScoreLearner for LeastSquares {
    fn predict_one(&self, x: Features<'_>) -> f64 {
        x.offset() + x.dot(|index| self.weight_of(index))
    }

    fn learn_one(&mut self, x: Features<'_>, label: f64, weight: f64) -> f64 {
        let prediction = self.predict_one(x);
        if let LeastSquaresForm::Scratch(rows) = self.form
            && self.rows.ends.len() as u64 >= rows
        {
            self.ignored += 1.0;
            return prediction;
        }
        self.columns.meet(x);
        let q = weight * self.variance(x);
        let residual = label - prediction;
        self.paid.add(weight * residual * residual * (q / (1.0 + q)));
        self.solve(x, label - x.offset(), weight);
        prediction
    }

    fn loss(&self) -> SharedLoss {
        SharedLoss::clone(&self.charged.loss)
    }

    fn describe(&self) -> String {
        let name = if let LeastSquaresForm::Running = self.form { "running" } else { "scratch" };
        let it = Description::of("least-squares").with(&FORM, name).with(&LAMBDA, self.lambda);
        let it = it.with(&LIMIT, self.columns.limit()).with(&COMPARATOR_RADIUS, self.radius);
        match self.form {
            LeastSquaresForm::Running => it.into(),
            LeastSquaresForm::Scratch(rows) => it.with(&ROWS, rows).into(),
        }
    }

    fn guarantee(&self) -> Guarantee {
        if self.ignored > 0.0 || self.columns.ignored() > 0 {
            let reason = "there were more features or rows than its limits, and the others were ignored";
            return Guarantee::none(GuaranteeKind::Own, reason);
        }
        let bound = self.lambda * self.radius * self.radius + self.paid.total();
        Guarantee::own(Comparator::Ball(self.radius), self.charged.unit * bound)
    }

    fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        self.columns.persist(archive)?;
        archive.part("rows", |archive| self.rows.persist(archive))?;
        let size = self.columns.len();
        self.sums.gram.persist("gram", size, archive)?;
        archive.column_of(size, "moments", &mut self.sums.moments)?;
        archive.column_of(size, "weight", &mut self.weights)?;
        archive.number("ignored_rows", &mut self.ignored)?;
        self.paid.persist("paid", archive)?;
        if archive.is_loading() {
            self.sums.solve(self.lambda, &mut self.root, &mut self.weights);
        }
        Ok(())
    }

    fn linear(&self) -> Option<&dyn LinearWeights> {
        Some(self)
    }
}

impl LinearWeights for LeastSquares {
    fn weight(&self, index: u32) -> f64 {
        self.weight_of(index)
    }
}

const FORM: ParameterDescriptor = words(
    "form",
    &[
        ("running", "the sums of the normal equations, O(d³) per round"),
        (
            "scratch",
            "the rows themselves, O(td² + d³) \
                                                                                     in round t",
        ),
    ],
)
.meaning("what is kept of past rows");

/// They are kept, and solved for anew each round.
const ROWS: ParameterDescriptor = whole("rows", 1..=1_000_000)
    .default("10000")
    .meaning("number of rows kept; later ones are predicted but not learnt from")
    .only_with("form=scratch");

/// `least-squares` by name.
pub(crate) const ENTRY: LearnerDescriptor = LearnerDescriptor {
    name: "least-squares",
    summary: "batch ridge regression, solved anew after every row: predicts as rls does, at the cost of the batch",
    losses: Losses::Only(&[LossKind::Quadratic]),
    parameters: &[FORM, LAMBDA, LIMIT, COMPARATOR_RADIUS, ROWS, STANDARDISE],
    promises: &[
        Promise::always("").repeating().at_most(512),
        Promise::other("form=scratch,lambda=2,limit=20,radius=2,rows=2000").repeating(),
    ],
    build: |arguments| {
        let form = match arguments.text("form") {
            "running" => LeastSquaresForm::Running,
            _ => LeastSquaresForm::Scratch(arguments.whole("rows")),
        };
        let (lambda, limit, radius) =
            (arguments.number("lambda"), arguments.whole("limit"), arguments.number("radius"));
        Ok(Box::new(LeastSquares::new(form, lambda, limit, radius)?.charged_by(arguments.loss())?))
    },
    plan: super::rls::ENTRY.plan,
};
