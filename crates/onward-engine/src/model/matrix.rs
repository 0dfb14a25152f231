//! Many rows at once, from matrices that lie elsewhere.

use onward::{Batch, INDEX_LIMIT};

use super::Model;
use crate::error::EngineError;

/// The rows of a borrowed matrix. Column j is feature j + 1, as in svmlight's text; feature 0 is the bias, which each
/// row gets.
#[derive(Debug, Clone, Copy)]
pub enum MatrixRows<'a> {
    /// All values, row by row.
    Dense {
        /// The values.
        values: &'a [f32],
        /// How many columns a row has.
        columns: usize,
        /// How far the beginnings of two rows are apart; `columns` where rows follow each other.
        stride: usize,
    },
    /// Compressed sparse rows, as SciPy has them. Columns come in any order; values of a column that a row names
    /// twice are added up.
    Csr {
        /// Where each row begins in the others, and at last where the last one ends.
        row_starts: &'a [usize],
        /// The columns.
        columns: &'a [u32],
        /// Their values.
        values: &'a [f32],
    },
}

/// How many rows are handled at a time.
const ROWS: usize = 1024;

impl MatrixRows<'_> {
    /// How many rows there are.
    pub fn rows(&self) -> usize {
        match *self {
            Self::Dense { values, columns, stride } if values.len() >= columns && stride > 0 => {
                (values.len() - columns) / stride + 1
            }
            Self::Dense { .. } => 0,
            Self::Csr { row_starts, .. } => row_starts.len().saturating_sub(1),
        }
    }

    /// Refuses what is no matrix.
    fn check(&self) -> Result<(), EngineError> {
        let found = match *self {
            Self::Dense { columns, stride, .. } if columns == 0 || stride < columns => {
                ("stride", format!("must be at least the number of columns, above 0; got {stride} for {columns}"))
            }
            Self::Dense { columns, .. } if columns >= INDEX_LIMIT as usize => {
                ("columns", format!("must be below {}; got {columns}", INDEX_LIMIT - 1))
            }
            Self::Dense { .. } => return Ok(()),
            Self::Csr { columns, values, .. } if columns.len() != values.len() => {
                ("columns", format!("must be as many as values, {}; got {}", values.len(), columns.len()))
            }
            Self::Csr { row_starts, columns, .. } => {
                let ends = row_starts.last().is_none_or(|&end| end <= columns.len());
                if row_starts.is_sorted() && ends && row_starts.first().is_none_or(|&first| first == 0) {
                    return Ok(());
                }
                ("row_starts", format!("must rise from 0 to at most the number of values, {}", columns.len()))
            }
        };
        Err(EngineError::option(found.0, found.1))
    }

    /// Adds a row to a batch.
    fn push(&self, row: usize, batch: &mut Batch) -> Result<(), EngineError> {
        let mut add = |column: usize, value: f32| {
            if !value.is_finite() {
                let message = format!("must be finite; row {row}, column {column} has {value}");
                return Err(EngineError::option("values", message));
            }
            if column as u64 + 1 >= u64::from(INDEX_LIMIT) {
                let message = format!("must be below {}; row {row} has {column}", INDEX_LIMIT - 1);
                return Err(EngineError::option("columns", message));
            }
            batch.push(column as u32 + 1, value);
            Ok(())
        };
        match *self {
            Self::Dense { values, columns, stride } => {
                let values = &values[row * stride..row * stride + columns];
                values.iter().enumerate().try_for_each(|(column, &value)| add(column, value))
            }
            Self::Csr { row_starts, columns, values } => {
                let features = row_starts[row]..row_starts[row + 1];
                let pairs = columns[features.clone()].iter().zip(&values[features]);
                pairs.into_iter().try_for_each(|(&column, &value)| add(column as usize, value))
            }
        }
    }

    /// Copies rows, with the bias.
    fn copy(
        &self,
        first: usize,
        row: impl Fn(usize) -> (Option<f64>, f64),
        batch: &mut Batch,
    ) -> Result<(), EngineError> {
        batch.clear();
        for at in first..self.rows().min(first + ROWS) {
            batch.push(0, 1.0);
            self.push(at, batch)?;
            let (label, weight) = row(at);
            batch.finish(label, weight);
        }
        Ok(())
    }
}

impl Model {
    /// Learns from the rows of a matrix, in order, and returns the score of each before its label was used. A label
    /// that is NaN is missing; without weights each row counts 1.
    ///
    /// # Errors
    /// When there are not as many labels and weights as rows, the matrix is no matrix, or a value, label or weight is
    /// not what it must be. The rows before it have been learnt from, some of a thousand at a time.
    ///
    /// ```
    /// use onward_engine::{MatrixRows, Model, ModelOptions};
    ///
    /// let mut model = Model::for_indices(&ModelOptions::default(), onward::loss::Task::Binary)?;
    /// let matrix = MatrixRows::Dense { values: &[1.0, 0.0, 0.0, 1.0], columns: 2, stride: 2 };
    /// let scores = model.learn_matrix(matrix, &[1.0, -1.0], None)?;
    /// assert_eq!(scores[0], 0.0);
    /// # Ok::<(), onward_engine::EngineError>(())
    /// ```
    pub fn learn_matrix(
        &mut self,
        matrix: MatrixRows<'_>,
        labels: &[f64],
        weights: Option<&[f64]>,
    ) -> Result<Vec<f64>, EngineError> {
        matrix.check()?;
        let rows = matrix.rows();
        for (name, length) in [("labels", labels.len()), ("weights", weights.map_or(rows, <[f64]>::len))] {
            if length != rows {
                return Err(EngineError::option(name, format!("must be as many as rows, {rows}; got {length}")));
            }
        }
        let (mut batch, mut scores) = (Batch::default(), Vec::with_capacity(rows));
        let row = |at: usize| (Some(labels[at]).filter(|label| !label.is_nan()), weights.map_or(1.0, |it| it[at]));
        for first in (0..rows).step_by(ROWS) {
            matrix.copy(first, row, &mut batch)?;
            scores.extend(self.learn(batch.rows(..))?.iter().copied());
        }
        Ok(scores)
    }

    /// The scores of the rows of a matrix. Changes nothing.
    ///
    /// # Errors
    /// When the matrix is no matrix, or a value is not finite.
    pub fn predict_matrix(&self, matrix: MatrixRows<'_>) -> Result<Vec<f64>, EngineError> {
        matrix.check()?;
        let (mut batch, mut scores) = (Batch::default(), Vec::with_capacity(matrix.rows()));
        for first in (0..matrix.rows()).step_by(ROWS) {
            matrix.copy(first, |_| (None, 1.0), &mut batch)?;
            scores.extend(self.predict(batch.rows(..)));
        }
        Ok(scores)
    }
}
