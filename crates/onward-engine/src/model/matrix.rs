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

    /// Refuses what is not a matrix, and values that are not numbers.
    fn check(&self) -> Result<(), EngineError> {
        let (name, message) = match *self {
            Self::Dense { columns, stride, .. } if columns == 0 || stride < columns => {
                ("stride", format!("must be at least the number of columns, above 0; got {stride} for {columns}"))
            }
            Self::Dense { columns, .. } if columns >= INDEX_LIMIT as usize => {
                ("columns", format!("must be below {}; got {columns}", INDEX_LIMIT - 1))
            }
            // The last row may end with its columns or with its stride.
            Self::Dense { values, columns, stride } if ![0, columns].contains(&(values.len() % stride)) => {
                ("values", format!("must be whole rows of {columns} values, {stride} apart; got {}", values.len()))
            }
            Self::Csr { columns, values, .. } if columns.len() != values.len() => {
                ("columns", format!("must be as many as values, {}; got {}", values.len(), columns.len()))
            }
            Self::Csr { row_starts, values, .. }
                if !row_starts.is_sorted()
                    || (row_starts.first(), row_starts.last()) != (Some(&0), Some(&values.len())) =>
            {
                ("row_starts", format!("must rise from 0 to the number of values, {}", values.len()))
            }
            Self::Dense { .. } | Self::Csr { .. } => return self.check_values(),
        };
        Err(EngineError::option(name, message))
    }

    /// Names the first value that is not finite, and the first column that is beyond the last index.
    fn check_values(&self) -> Result<(), EngineError> {
        for row in 0..self.rows() {
            let (columns, values) = self.row(row);
            if let Some(at) = values.iter().position(|value| !value.is_finite()) {
                let column = columns.map_or(at, |columns| columns[at] as usize);
                let error = EngineError::option("values", format!("must be finite; got {}", values[at]));
                return Err(error.of_row(row, Some(column)));
            }
            if let Some(&column) = columns.and_then(|columns| columns.iter().find(|&&it| it >= INDEX_LIMIT - 1)) {
                let error = EngineError::option("columns", format!("must be below {}; got {column}", INDEX_LIMIT - 1));
                return Err(error.of_row(row, Some(column as usize)));
            }
        }
        Ok(())
    }

    /// The columns of a row, where they are named, and its values.
    fn row(&self, row: usize) -> (Option<&[u32]>, &[f32]) {
        match *self {
            Self::Dense { values, columns, stride } => (None, &values[row * stride..row * stride + columns]),
            Self::Csr { row_starts, columns, values } => {
                let features = row_starts[row]..row_starts[row + 1];
                (Some(&columns[features.clone()]), &values[features])
            }
        }
    }

    /// Copies some rows to a batch, with the bias.
    fn copy(&self, first: usize, row: impl Fn(usize) -> (Option<f64>, f64), batch: &mut Batch) {
        batch.clear();
        for at in first..self.rows().min(first + ROWS) {
            batch.push(0, 1.0);
            let (columns, values) = self.row(at);
            match columns {
                Some(columns) => columns.iter().zip(values).for_each(|(&column, &value)| batch.push(column + 1, value)),
                None => (1..).zip(values).for_each(|(index, &value)| batch.push(index, value)),
            }
            let (label, weight) = row(at);
            batch.finish(label, weight);
        }
    }
}

impl Model {
    /// Learns from the rows of a matrix, in order, and returns the scores of each before its label was used, as
    /// [`learn`](Self::learn) does. A label that is NaN is missing; without weights each row counts 1.
    ///
    /// # Errors
    /// When there are not as many labels and weights as rows, the matrix is not one, or a value, label or weight is
    /// not what it must be: names the row and the column, and nothing was learnt.
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
        for row in 0..rows {
            if !labels[row].is_nan() {
                self.check(labels[row], weights.map_or(1.0, |weights| weights[row]))
                    .map_err(|error| error.of_row(row, None))?;
            }
        }
        let (mut batch, mut scores) = (Batch::default(), Vec::with_capacity(rows));
        let row = |at: usize| (Some(labels[at]).filter(|label| !label.is_nan()), weights.map_or(1.0, |it| it[at]));
        for first in (0..rows).step_by(ROWS) {
            matrix.copy(first, row, &mut batch);
            let rows = batch.rows(..);
            let made = self.learn_checked(rows)?;
            widen(&mut scores, first, made.len() / rows.len());
            scores.extend(made);
        }
        Ok(scores)
    }

    /// The scores of the rows of a matrix. Changes nothing.
    ///
    /// # Errors
    /// When the matrix is not one, or a value is not finite.
    pub fn predict_matrix(&self, matrix: MatrixRows<'_>) -> Result<Vec<f64>, EngineError> {
        matrix.check()?;
        let (mut batch, mut scores) = (Batch::default(), Vec::with_capacity(matrix.rows()));
        for first in (0..matrix.rows()).step_by(ROWS) {
            matrix.copy(first, |_| (None, 1.0), &mut batch);
            scores.extend(self.predict(batch.rows(..)));
        }
        Ok(scores)
    }
}

/// Gives each of some rows `wanted` scores: −∞ for the classes that were not met yet.
fn widen(scores: &mut Vec<f64>, rows: usize, wanted: usize) {
    let known = scores.len().checked_div(rows).unwrap_or(wanted);
    if known == wanted {
        return;
    }
    let mut wide = vec![f64::NEG_INFINITY; rows * wanted];
    for (row, wide) in wide.chunks_mut(wanted).enumerate() {
        wide[..known].copy_from_slice(&scores[row * known..][..known]);
    }
    *scores = wide;
}
