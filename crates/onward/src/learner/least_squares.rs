//! Ridge regression solved anew before every prediction: batch least squares on a stream.
//!
//! w_t minimises λ‖u‖² + Σ_{s≤t} h_s(y_s − b_s − ⟨u, x_s⟩)², as in `rls`, by the normal equations
//! (λI + Σ h·xxᵀ)w = Σ h(y − b)x and their Cholesky factor. It says what `rls` says and is there to
//! be compared with it:
//!
//! - `form=running` keeps Σ h·xxᵀ and Σ h(y − b)x, and factors each round: O(d³) per round;
//! - `form=scratch` keeps the rows and sums them again each round: O(td² + d³) in round t, so
//!   n²d² + nd³ in all. Its memory grows with the stream: rows beyond the first `rows` are
//!   predicted but not learnt from, and counted.
//!
//! The condition of the normal equations is the square of that of the rows. Where features are collinear but for
//! rounding, and λ is next to what rounding makes of the sums (below 1e-11 of them), nothing that is solved is right; there λ is
//! raised to 1e-10 of the largest sum, which hardly changes predictions within the span of the rows. `rls`, which
//! rotates the rows themselves, needs no such remedy.
//!
//! **Guarantee**: as `rls`, R_T(u) ≤ λ‖u‖² + Σ h·r²·q/(1 + q) from what happened, until features or
//! rows had to be ignored or λ was raised. Squared loss only; predictions are not clipped.

use super::columns::{FeatureColumns, LIMIT};
use super::ridge::{Charged, LAMBDA};
use crate::archive::Archive;
use crate::guarantee::{Comparator, Guarantee, GuaranteeKind};
use crate::loss::LossKind;
use crate::numeric::linalg::triangle::Triangle;
use crate::numeric::sum::{self, Sum};
use crate::parameter::{Description, ParameterDescriptor, whole, words};
use crate::protocol::{COMPARATOR_RADIUS, LearnerDescriptor, Losses, Promise, STANDARDISE};
use crate::{Batch, Error, Example, Features, LinearWeights, RowColumns, Rows, ScoreLearner, SharedLoss};

/// What is kept of the past.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeastSquaresForm {
    /// The sums of the normal equations.
    Running,
    /// All rows, up to this number.
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
    rows: Batch,
    /// R of RᵀR = λI + Σ h·xxᵀ.
    root: Triangle,
    weights: Vec<f64>,
    row: Vec<f64>,
    /// Σ h·r²·q/(1 + q).
    paid: Sum,
    /// Rows that came when there were as many as may be kept.
    ignored: f64,
    /// Whether λ was raised.
    is_raised: bool,
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

    /// Whether λ sufficed.
    fn solve(&mut self, lambda: f64, root: &mut Triangle, weights: &mut Vec<f64>) -> bool {
        let is_sound = self.gram.cholesky(lambda, root);
        if !is_sound {
            self.gram.cholesky(lambda.max(LEAST_LAMBDA * self.gram.largest_diagonal()), root);
        }
        self.rotated.clone_from(&self.moments);
        root.solve_transposed(&mut self.rotated, 0);
        root.solve(&self.rotated, weights);
        is_sound
    }
}

/// λ where it would be lost beside the sums, as a part of the largest of them.
const LEAST_LAMBDA: f64 = 1e-10;

/// Saves or loads rows, their targets and importance weights.
fn persist_rows(rows: &mut Batch, archive: &mut Archive) -> Result<(), Error> {
    let all = rows.rows(..);
    let (mut indices, mut values, mut ends): (Vec<u32>, Vec<f32>, Vec<f64>) = Default::default();
    for example in all.iter() {
        indices.extend(example.features.indices());
        values.extend(example.features.values());
        ends.push(indices.len() as f64);
    }
    let (mut targets, mut importances) = (all.labels().to_vec(), all.weights().to_vec());
    archive.column("index", &mut indices)?;
    archive.column_of(indices.len(), "value", &mut values)?;
    archive.column("end", &mut ends)?;
    archive.column_of(ends.len(), "target", &mut targets)?;
    archive.column_of(ends.len(), "importance", &mut importances)?;
    let starts: Vec<usize> = [0.0].iter().chain(&ends).map(|&end| end as usize).collect();
    let do_match = starts.is_sorted() && starts.last() == Some(&indices.len());
    archive.check(do_match, "end", "must be where rows of 'index' end")?;
    if archive.is_loading() {
        let columns = RowColumns { labels: &targets, weights: &importances, offsets: &[] };
        rows.clear();
        for Example { features, label, weight } in
            Rows::from_csr(&starts, &indices, &values, columns).map_err(Error::model)?.iter()
        {
            rows.extend(features.indices(), features.values());
            rows.finish(label, weight);
        }
    }
    Ok(())
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
        let columns = FeatureColumns::new(limit)?;
        let (charged, sums, rows, root, weights, row, paid) = Default::default();
        let (ignored, is_raised) = (0.0, false);
        Ok(Self { charged, form, radius, lambda, columns, sums, rows, root, weights, row, paid, ignored, is_raised })
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

    /// xᵀΓx of the row that is being learnt, its columns being known.
    fn variance(&mut self, x: Features<'_>) -> f64 {
        let from = self.columns.spread(x, 1.0, &mut self.row);
        // Features that are new have no column in the root yet, and λ there.
        let (known, new) = self.row.split_at_mut(self.root.rows.len());
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
            self.rows.extend(x.indices(), x.values());
            self.rows.finish(Some(y), h);
            self.sum_up();
        }
        self.is_raised |= !self.sums.solve(self.lambda, &mut self.root, &mut self.weights);
    }

    /// The normal equations of all rows, from nothing.
    fn sum_up(&mut self) {
        self.sums = LeastSquaresSums::default();
        self.sums.grow(self.columns.len());
        for Example { features, label, weight } in self.rows.iter() {
            self.columns.spread(features, 1.0, &mut self.row);
            self.sums.add(&self.row, label.unwrap_or_default(), weight);
        }
    }
}

impl ScoreLearner for LeastSquares {
    fn predict_one(&self, x: Features<'_>) -> f64 {
        x.offset() + x.dot(|index| self.weight(index))
    }

    fn learn_one(&mut self, x: Features<'_>, label: f64, weight: f64) -> f64 {
        let prediction = self.predict_one(x);
        if let LeastSquaresForm::Scratch(rows) = self.form
            && self.rows.len() as u64 >= rows
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
        let it = it.with(&LIMIT, self.columns.features.limit()).with(&COMPARATOR_RADIUS, self.radius);
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
        if self.is_raised {
            return Guarantee::none(GuaranteeKind::Own, RAISED);
        }
        let bound = self.lambda * self.radius * self.radius + self.paid.total();
        Guarantee::own(Comparator::Ball(self.radius), self.charged.unit * bound)
    }

    fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        self.columns.persist(archive)?;
        archive.part("rows", |archive| persist_rows(&mut self.rows, archive))?;
        let size = self.columns.len();
        self.sums.gram.persist("gram", size, archive)?;
        archive.column_of(size, "moments", &mut self.sums.moments)?;
        archive.column_of(size, "weight", &mut self.weights)?;
        archive.number("ignored_rows", &mut self.ignored)?;
        // Models of earlier versions do not say it.
        let mut raised = self.is_raised.then_some(1.0);
        archive.optional("lambda_raised", &mut raised)?;
        self.is_raised = raised.is_some();
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
        self.columns.find(index).map_or(0.0, |column| self.weights[column])
    }

    fn gamma(&self, index: u32) -> Option<f64> {
        let Some(column) = self.columns.find(index) else { return Some(1.0 / self.lambda) };
        let mut unit = vec![0.0; self.root.rows.len()];
        unit[column] = 1.0;
        self.root.solve_transposed(&mut unit, column);
        Some(sum::sum(unit.iter().map(|a| a * a)))
    }
}

const RAISED: &str = "features are collinear, and lambda was raised to solve for them; rls has a bound there";

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
        Promise::always("").repeating().overflowing(RAISED).at_most(512),
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
