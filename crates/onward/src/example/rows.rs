//! Consecutive rows, borrowed: what learners and ledgers take.

use std::mem;
use std::ops::Range;

use super::batch::{Example, RowColumns};
use super::features::{Features, is_offset, refused, repeated};
use super::reach::{RowBounds, max_positions};
use crate::hashing::feature_map::INDEX_LIMIT;
use crate::simd::scan::{are_finite, ascend, max_index};
use crate::{Error, ErrorKind};

/// Rows one after the other, borrowed from a [`Batch`](crate::Batch) or from arrays of the caller. Making, copying
/// and slicing them copies no feature.
///
/// Rows have their features as they are. A bias is a feature like any other: index 0 with the value 1 in rows that
/// readers make, and [`Batch::extend_with_bias`](crate::Batch::extend_with_bias) puts it in front of rows that have none.
///
/// ```
/// use onward::{RowColumns, Rows};
/// // Compressed sparse rows: three of them, the second without features.
/// let (starts, indices, values) = ([0, 2, 2, 3], [0, 7, 7], [1.0, 0.5, 2.0]);
/// let labels = [1.0, f64::NAN, -1.0];
/// let columns = RowColumns { labels: &labels, ..RowColumns::default() };
/// let rows = Rows::from_csr(&starts, &indices, &values, columns)?;
/// assert_eq!((rows.len(), rows.get(0).features.len(), rows.get(1).label), (3, 2, None));
/// # Ok::<(), onward::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Rows<'a> {
    pub(super) layout: RowLayout<'a>,
    /// Of all features of these rows, or of each row if they are dense.
    pub(super) indices: &'a [u32],
    pub(super) values: &'a [f32],
    /// An id for each index, or none at all.
    pub(super) ids: &'a [u32],
    pub(super) bounds: RowBounds,
    pub(super) columns: RowColumns<'a>,
}

/// Where the features of a row are.
#[derive(Debug, Clone, Copy)]
pub(super) enum RowLayout<'a> {
    /// Up to these ends, counted from where the first row begins.
    Sparse { ends: &'a [usize], first: usize },
    /// All rows have the same indices.
    Dense { rows: usize },
}

impl<'a> Rows<'a> {
    /// Compressed sparse rows: row `r` has the features from `starts[r]` up to `starts[r + 1]`, in any order.
    ///
    /// # Errors
    /// When starts do not ascend or end beyond the features, a row names a feature twice or one that no
    /// [`Features`] could hold, or a column fits neither the rows nor its range.
    pub fn from_csr(
        starts: &'a [usize],
        indices: &'a [u32],
        values: &'a [f32],
        columns: RowColumns<'a>,
    ) -> Result<Self, Error> {
        let Some((&first, ends)) = starts.split_first() else {
            return Err(refused("row starts must be one more than there are rows; got none"));
        };
        if let Some(row) = starts.windows(2).position(|pair| pair[0] > pair[1]) {
            let (start, end) = (starts[row], starts[row + 1]);
            return Err(refused(format!("row starts must ascend; got {start} for row {row} and {end} for the next")));
        }
        let end = ends.last().copied().unwrap_or(first);
        if indices.len() != values.len() || end > indices.len() {
            let (indices, values) = (indices.len(), values.len());
            return Err(refused(format!(
                "there must be as many indices as values, at least {end} by the row starts; got {indices} indices and \
                 {values} values"
            )));
        }
        let (indices, values) = (&indices[first..end], &values[first..end]);
        let rows = Self::borrowed(RowLayout::Sparse { ends, first }, indices, values, columns)?;
        let repeats = (0..ends.len()).find_map(|row| Some((row, repeated(rows.get(row).features.indices)?)));
        if let Some((row, index)) = repeats {
            return Err(refused(format!(
                "row {row} must name each feature once, with the sum of its values; got index {index} twice"
            )));
        }
        rows.check_columns()?;
        Ok(rows)
    }

    /// Dense rows, one after the other: each has as many values as there are indices, such as 0, 1, … below the number of
    /// columns, which all rows share.
    ///
    /// # Errors
    /// When the values do not fill whole rows or are not finite, indices are repeated or too large, or a column fits
    /// neither the rows nor its range.
    ///
    /// ```
    /// use onward::{RowColumns, Rows};
    /// let indices = [0, 1, 2];
    /// let rows = Rows::from_dense(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &indices, RowColumns::default())?;
    /// assert_eq!(rows.get(1).features.values(), [4.0, 5.0, 6.0]);
    /// # Ok::<(), onward::Error>(())
    /// ```
    pub fn from_dense(values: &'a [f32], indices: &'a [u32], columns: RowColumns<'a>) -> Result<Self, Error> {
        if values.len().checked_rem(indices.len()).unwrap_or(values.len()) != 0 {
            let (values, indices) = (values.len(), indices.len());
            return Err(refused(format!("values must fill whole rows of {indices} columns; got {values} values")));
        }
        let rows = values.len().checked_div(indices.len()).unwrap_or(0);
        let rows = Self::borrowed(RowLayout::Dense { rows }, indices, values, columns)?;
        if !rows.is_empty() && !ascend(indices) {
            Features::new(indices, &values[..indices.len()])?;
        }
        rows.check_columns()?;
        Ok(rows)
    }

    /// Rows of features that are in range, before the rest is checked.
    fn borrowed(
        layout: RowLayout<'a>,
        indices: &'a [u32],
        values: &'a [f32],
        columns: RowColumns<'a>,
    ) -> Result<Self, Error> {
        let rows = Self { layout, indices, values, ids: &[], bounds: RowBounds::of(max_index(indices)), columns };
        let are_valid = rows.bounds.max_index < INDEX_LIMIT && are_finite(values);
        if are_valid { Ok(rows) } else { Err(rows.invalid_feature()) }
    }

    /// What is wrong with a feature that is out of range.
    #[cold]
    fn invalid_feature(&self) -> Error {
        let found = (0..self.len()).find_map(|row| {
            let Features { indices, values, .. } = self.get(row).features;
            Features::new(indices, values).err().map(|error| Error::new(error.kind(), format!("row {row}: {error}")))
        });
        found.unwrap_or_else(|| refused("indices are below 2^31"))
    }

    fn check_columns(&self) -> Result<(), Error> {
        let RowColumns { labels, weights, offsets } = self.columns;
        for (name, column) in [("labels", labels), ("weights", weights), ("offsets", offsets)] {
            if !column.is_empty() && column.len() != self.len() {
                let (rows, found) = (self.len(), column.len());
                return Err(refused(format!("{name} must be as many as rows, which are {rows}, or none; got {found}")));
            }
        }
        self.columns.check()
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        match self.layout {
            RowLayout::Sparse { ends, .. } => ends.len(),
            RowLayout::Dense { rows } => rows,
        }
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The label of each row, NaN where it is missing; empty if no row has one.
    pub fn labels(&self) -> &'a [f64] {
        self.columns.labels
    }

    /// The importance weight of each row; empty if all are 1.
    pub fn weights(&self) -> &'a [f64] {
        self.columns.weights
    }

    /// The row at this position.
    ///
    /// # Panics
    /// When it is not below [`len`](Self::len).
    #[inline]
    pub fn get(&self, row: usize) -> Example<'a> {
        let (indices, values) = self.spans(row..row + 1);
        let features = Features {
            ids: self.ids.get(indices.clone()).unwrap_or_default(),
            indices: &self.indices[indices],
            values: &self.values[values],
            bounds: self.bounds,
            offset: self.columns.offsets.get(row).copied().unwrap_or(0.0),
        };
        let label = self.columns.labels.get(row).copied().filter(|label| !label.is_nan());
        Example { features, label, weight: self.columns.weights.get(row).copied().unwrap_or(1.0) }
    }

    /// Where the indices of some rows are, and their values.
    #[inline]
    fn spans(&self, rows: Range<usize>) -> (Range<usize>, Range<usize>) {
        match self.layout {
            RowLayout::Sparse { ends, first } => {
                let start_of = |row: usize| if row == 0 { 0 } else { ends[row - 1] - first };
                let span = start_of(rows.start)..start_of(rows.end);
                (span.clone(), span)
            }
            RowLayout::Dense { .. } => {
                let columns = self.indices.len();
                (0..columns, rows.start * columns..rows.end * columns)
            }
        }
    }

    /// All rows in order.
    pub fn iter(self) -> impl ExactSizeIterator<Item = Example<'a>> {
        (0..self.len()).map(move |row| self.get(row))
    }

    /// Whether something is learnt from a row: it has a label and an importance.
    pub(super) fn is_learnt(&self, row: usize) -> bool {
        let RowColumns { labels, weights, .. } = self.columns;
        labels.get(row).is_some_and(|label| !label.is_nan()) && weights.get(row) != Some(&0.0)
    }

    /// The same rows with ids from this map, one for each index or none at all.
    pub(super) fn with_ids<'b>(self, ids: &'b [u32], map: u64) -> Rows<'b>
    where
        'a: 'b,
    {
        assert!(ids.is_empty() || ids.len() == self.indices.len(), "each feature has an id");
        Rows { ids, bounds: RowBounds { map, max_ids: max_positions(ids), ..self.bounds }, ..self }
    }

    /// All rows in order, each with the features of the one after it, which may be fetched from memory meanwhile.
    #[inline]
    pub(crate) fn with_next(self) -> impl Iterator<Item = (Example<'a>, Option<Features<'a>>)> {
        let mut later = self.iter();
        let mut next = later.next();
        std::iter::from_fn(move || {
            let example = next.take()?;
            next = later.next();
            Some((example, next.map(|example| example.features)))
        })
    }

    /// All rows in order, each with its scores in `scores`.
    ///
    /// # Panics
    /// When there are not `outputs` scores per row.
    ///
    /// ```
    /// use onward::{RowColumns, Rows};
    /// let rows = Rows::from_dense(&[1.0, 2.0], &[0], RowColumns::default())?;
    /// let mut scores = [0.0; 6];
    /// for (example, scores) in rows.with_scores(3, &mut scores) {
    ///     scores[1] = f64::from(example.features.values()[0]);
    /// }
    /// assert_eq!(scores, [0.0, 1.0, 0.0, 0.0, 2.0, 0.0]);
    /// # Ok::<(), onward::Error>(())
    /// ```
    pub fn with_scores<'s>(
        self,
        outputs: usize,
        scores: &'s mut [f64],
    ) -> impl ExactSizeIterator<Item = (Example<'a>, &'s mut [f64])> {
        self.check_scores(outputs, scores);
        let mut rest = scores;
        self.iter().map(move |example| {
            let (scores, others) = mem::take(&mut rest).split_at_mut(outputs);
            rest = others;
            (example, scores)
        })
    }

    /// Panics unless there are `outputs` scores per row.
    #[inline]
    pub(crate) fn check_scores(&self, outputs: usize, scores: &[f64]) {
        let (rows, found) = (self.len(), scores.len());
        assert!(found == rows * outputs, "scores must be {outputs} for each of {rows} rows; got {found}");
    }

    /// Some of the rows.
    ///
    /// # Panics
    /// When the range ends beyond the rows.
    pub fn slice(self, range: Range<usize>) -> Self {
        let part = |column: &'a [f64]| if column.is_empty() { column } else { &column[range.clone()] };
        let RowColumns { labels, weights, offsets } = self.columns;
        let columns = RowColumns { labels: part(labels), weights: part(weights), offsets: part(offsets) };
        if let RowLayout::Dense { rows } = self.layout {
            assert!(range.start <= range.end && range.end <= rows, "there are {rows} rows, not {}", range.end);
        }
        let (indices, values) = self.spans(range.clone());
        let layout = match self.layout {
            RowLayout::Sparse { ends, first } => RowLayout::Sparse { ends: &ends[range], first: first + indices.start },
            RowLayout::Dense { .. } => RowLayout::Dense { rows: range.len() },
        };
        let ids = self.ids.get(indices.clone()).unwrap_or_default();
        Self { layout, indices: &self.indices[indices], values: &self.values[values], ids, columns, ..self }
    }

    /// The rows in parts of this many, the last one smaller if they do not divide.
    ///
    /// # Panics
    /// When `size` is 0.
    pub fn chunks(self, size: usize) -> impl Iterator<Item = Self> {
        let rows = self.len();
        (0..rows).step_by(size).map(move |start| self.slice(start..rows.min(start.saturating_add(size))))
    }

    /// The same rows with other values, finite and as many, all of them one row after the other.
    pub(crate) fn with_values<'b>(self, values: &'b [f32]) -> Rows<'b>
    where
        'a: 'b,
    {
        assert_eq!(values.len(), self.values.len(), "each feature has a value");
        Rows { values, ..self }
    }
}

impl<'a> Example<'a> {
    /// The label, if something is learnt from the row: it has one, and an importance.
    #[inline]
    pub fn label_to_learn(&self) -> Option<f64> {
        self.label.filter(|_| self.weight != 0.0)
    }

    /// Hands out the row alone as rows: for calls that take many.
    ///
    /// ```
    /// let example = onward::Example { features: onward::Features::new(&[7], &[0.5])?, label: Some(1.0), weight: 2.0 };
    /// assert_eq!(example.as_rows(|rows| (rows.len(), rows.get(0).weight)), (1, 2.0));
    /// # Ok::<(), onward::Error>(())
    /// ```
    #[inline]
    pub fn as_rows<R>(&self, call: impl FnOnce(Rows<'_>) -> R) -> R {
        let x = &self.features;
        let (label, end) = ([self.label.unwrap_or(f64::NAN)], [x.len()]);
        let (weights, offsets) = ([self.weight], [x.offset]);
        call(Rows {
            layout: RowLayout::Sparse { ends: &end, first: 0 },
            indices: x.indices,
            values: x.values,
            ids: x.ids,
            bounds: x.bounds,
            columns: RowColumns { labels: &label, weights: &weights, offsets: &offsets },
        })
    }
}

impl RowColumns<'_> {
    /// Refuses labels that are infinite, and weights and offsets out of range.
    pub(super) fn check(&self) -> Result<(), Error> {
        type IsValid = fn(f64) -> bool;
        let is_label: IsValid = |label| !label.is_infinite();
        let is_weight: IsValid = |weight| weight == 0.0 || (1e-38..=f64::from(f32::MAX)).contains(&weight);
        let columns = [
            ("label", self.labels, is_label, "finite, or NaN for none", ErrorKind::Label),
            ("weight", self.weights, is_weight, "0, or from 1e-38 to 3.4e38", ErrorKind::Features),
            ("offset", self.offsets, is_offset as IsValid, "a number within ±3.4e38", ErrorKind::Features),
        ];
        for (name, column, is_valid, must, kind) in columns {
            if let Some(row) = column.iter().position(|&value| !is_valid(value)) {
                let found = column[row];
                return Err(Error::new(kind, format!("the {name} of row {row} must be {must}; got {found}")));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Batch;

    fn shown(example: &Example<'_>) -> String {
        let x = example.features;
        format!("{:?}", (x.indices(), x.values(), x.ids, x.offset(), example.label, example.weight))
    }

    /// Five rows of 0 to 4 features.
    fn batch() -> Batch {
        let mut batch = Batch::default();
        for row in 0..5u32 {
            (0..row).for_each(|at| batch.push(7 * at + row, at as f32 + 0.5));
            batch.set_offset(f64::from(row) * 0.25);
            batch.finish((row != 2).then_some(f64::from(row)), f64::from(row % 3));
        }
        batch
    }

    #[test]
    fn slices_of_rows_have_the_same_rows() {
        let batch = batch();
        let labels: Vec<f64> = (0..5).map(f64::from).collect();
        let columns = RowColumns { labels: &labels, ..RowColumns::default() };
        let values: Vec<f32> = (0..10).map(|at| at as f32).collect();
        let dense = Rows::from_dense(&values, &[3, 1], columns).unwrap();
        let starts = [2, 2, 5, 6, 6, 9];
        let indices = [9, 9, 4, 1, 2, 8, 1, 2, 3, 9];
        let sparse = Rows::from_csr(&starts, &indices, &values, columns).unwrap();
        assert_eq!((sparse.get(0).features.len(), sparse.get(1).features.indices()), (0, &[4, 1, 2][..]));
        for rows in [batch.rows(0..5), dense, sparse] {
            for first in 0..=5 {
                for last in first..=5 {
                    let part = rows.slice(first..last);
                    let expected: Vec<String> = (first..last).map(|row| shown(&rows.get(row))).collect();
                    assert_eq!(part.iter().map(|it| shown(&it)).collect::<Vec<_>>(), expected);
                    let mut again = part.slice(0..part.len()).chunks(2).flat_map(Rows::iter).map(|it| shown(&it));
                    assert!(expected.iter().all(|row| again.next().as_ref() == Some(row)) && again.next().is_none());
                }
            }
        }
        let rows = batch.rows(1..4);
        assert!(rows.iter().zip(batch.iter().skip(1)).all(|(one, other)| shown(&one) == shown(&other)));
        for example in batch.iter() {
            example.as_rows(|rows| assert_eq!((rows.len(), shown(&rows.get(0))), (1, shown(&example))));
        }
    }

    #[test]
    fn what_is_absent_has_its_default() {
        let rows = Rows::from_csr(&[0, 1], &[3], &[0.5], RowColumns::default()).unwrap();
        let example = rows.get(0);
        assert_eq!((example.label, example.weight, example.features.offset()), (None, 1.0, 0.0));
        assert!(Rows::from_csr(&[0], &[], &[], RowColumns::default()).unwrap().is_empty());
        assert!(Rows::from_dense(&[], &[], RowColumns::default()).unwrap().is_empty());
        assert!(Rows::from_dense(&[], &[0, 1], RowColumns::default()).unwrap().is_empty());
        assert_eq!(Batch::default().rows(0..0).len(), 0);
    }

    #[test]
    fn arrays_that_are_no_rows_are_refused_with_what_was_found() {
        let columns = RowColumns::default();
        let csr = |starts: &[usize], indices: &[u32], values: &[f32]| {
            Rows::from_csr(starts, indices, values, columns).unwrap_err().to_string()
        };
        assert!(csr(&[], &[], &[]).contains("got none"));
        assert!(csr(&[0, 2, 1], &[1, 2], &[1.0, 1.0]).contains("got 2 for row 1 and 1 for the next"));
        assert!(csr(&[0, 3], &[1, 2], &[1.0, 1.0]).contains("at least 3 by the row starts; got 2 indices"));
        assert!(csr(&[0, 1], &[1, 2], &[1.0]).contains("got 2 indices and 1 values"));
        assert_eq!(csr(&[0, 0, 2], &[1, 2], &[1.0, f32::NAN]), "row 1: the value of feature 2 must be finite; got NaN");
        assert!(csr(&[0, 1], &[1 << 31], &[1.0]).contains("row 0: indices must be below 2^31; got 2147483648"));
        assert!(csr(&[0, 2, 4], &[2, 1, 5, 5], &[1.0; 4]).contains("row 1 must name each feature once"));
        assert!(csr(&[0, 3], &[5, 1, 5], &[1.0; 3]).contains("got index 5 twice"));
        let dense =
            |values: &[f32], indices: &[u32]| Rows::from_dense(values, indices, columns).unwrap_err().to_string();
        assert!(dense(&[1.0; 5], &[0, 1]).contains("whole rows of 2 columns; got 5 values"));
        assert!(dense(&[1.0], &[]).contains("whole rows of 0 columns"));
        assert!(
            dense(&[1.0, 1.0, 1.0, f32::INFINITY], &[0, 1])
                .contains("row 1: the value of feature 1 must be finite; got inf")
        );
        assert!(dense(&[1.0, 1.0], &[4, 4]).contains("got index 4 twice"));
        assert!(dense(&[1.0], &[u32::MAX]).contains("indices must be below 2^31; got 4294967295"));

        fn with(columns: RowColumns<'_>) -> Error {
            Rows::from_dense(&[1.0, 2.0], &[0], columns).unwrap_err()
        }
        let few = with(RowColumns { labels: &[1.0], ..columns });
        assert!(few.to_string().contains("labels must be as many as rows, which are 2, or none; got 1"));
        let infinite = with(RowColumns { labels: &[1.0, f64::INFINITY], ..columns });
        assert_eq!(infinite.kind(), ErrorKind::Label);
        for weight in [-1.0, f64::NAN, 1e-39, 1e39] {
            let weights = [1.0, weight];
            let error = with(RowColumns { weights: &weights, ..columns }).to_string();
            assert!(error.contains("the weight of row 1 must be 0, or from 1e-38"), "{error}");
        }
        let error = with(RowColumns { offsets: &[f64::NAN, 0.0], ..columns }).to_string();
        assert!(error.contains("the offset of row 0"), "{error}");
    }

    #[test]
    #[should_panic = "scores must be 3 for each of 2 rows; got 5"]
    fn too_few_scores_are_told() {
        let rows = Rows::from_dense(&[1.0, 2.0], &[0], RowColumns::default()).unwrap();
        rows.with_scores(3, &mut [0.0; 5]).for_each(drop);
    }
}
