//! Examples, one by one and many in one arena.

use std::fmt::Debug;
use std::ops::{Bound, RangeBounds};
use std::sync::Arc;

use super::features::{Features, is_offset, refused};
use super::reach::RowBounds;
use super::repeats::REPEATS;
use super::rows::{RowLayout, Rows};
use crate::Error;
use crate::hashing::feature_map::INDEX_LIMIT;
use crate::simd::scan::{FEW, are_alone, are_finite, ascend, max_index};

/// One round's material: a row, its label if known, its importance weight.
#[derive(Debug, Clone, Copy)]
pub struct Example<'a> {
    /// The features.
    pub features: Features<'a>,
    /// The label; `None` when it is missing: such a row is predicted, not learnt from.
    pub label: Option<f64>,
    /// The importance weight: 0, or from 1e-38 to 3.4e38.
    pub weight: f64,
}

/// Many examples in one arena, filled row by row and reused: after the first
/// few batches nothing is allocated.
///
/// ```
/// let mut batch = onward::Batch::default();
/// batch.push(0, 1.0);
/// batch.push(3, 0.5);
/// batch.finish(Some(1.0), 1.0);
/// assert_eq!(batch.get(0).features.len(), 2);
/// ```
#[derive(Debug, Clone, Default)]
pub struct Batch {
    indices: Vec<u32>,
    values: Vec<f32>,
    /// An id for each feature, or none at all.
    pub(super) ids: Vec<u32>,
    /// Of the finished rows.
    pub(super) bounds: RowBounds,
    ends: Vec<usize>,
    /// NaN stands for a missing label.
    labels: Vec<f64>,
    weights: Vec<f64>,
    offsets: Vec<f64>,
    /// No index of the row that is being filled is larger.
    row_max_index: u32,
    /// Up to where the features of the row that is being filled are known to ascend; 0 if that is not known.
    ascend_to: usize,
    /// The offset of the row that is being filled.
    offset: f64,
    /// The indices and values, if they are not in the batch itself.
    lent: Option<Arc<dyn BorrowedColumns>>,
}

/// Indices and values outside a [`Batch`], for example in a file that is mapped into memory. They must be the same
/// on every call.
pub trait BorrowedColumns: Debug + Send + Sync {
    /// The indices of all rows, one row after the other.
    fn indices(&self) -> &[u32];

    /// As many values.
    fn values(&self) -> &[f32];
}

/// What rows have beside their features: one number per row and column.
#[derive(Debug, Clone, Copy, Default)]
pub struct RowColumns<'a> {
    /// Labels; NaN where one is missing. Empty: no row has one.
    pub labels: &'a [f64],
    /// Importance weights. Empty: all are 1.
    pub weights: &'a [f64],
    /// What scores start from. Empty: all start from 0.
    pub offsets: &'a [f64],
}

impl Batch {
    /// Fills an empty batch with rows whose features stay where they are; it only reads each feature once to check it.
    /// `ends` gives for each row the number of features up to its end. No row may name a feature twice; this is not
    /// checked, and rows made by [`finish`](Batch::finish) never do. The batch takes no other rows until it is
    /// [cleared](Batch::clear).
    ///
    /// # Errors
    /// When lengths do not match, or a feature, weight or offset is out of range; the batch is then empty.
    ///
    /// # Panics
    /// When the batch is not empty.
    pub fn borrow_columns(
        &mut self,
        lent: Arc<dyn BorrowedColumns>,
        ends: impl Iterator<Item = usize>,
        rows: RowColumns<'_>,
    ) -> Result<(), Error> {
        assert!(self.is_empty() && self.indices.is_empty(), "a batch with rows of its own is not lent others");
        let RowColumns { labels, weights, offsets } = rows;
        self.ends.extend(ends);
        let lengths = [labels.len(), weights.len(), offsets.len()];
        let fit = check_ends(&self.ends, lengths, &*lent).and_then(|()| rows.check());
        if let Err(error) = fit {
            self.ends.clear();
            return Err(error);
        }
        self.labels.extend_from_slice(labels);
        self.weights.extend_from_slice(weights);
        self.offsets.extend_from_slice(offsets);
        // Borrowed columns may be other numbers each time, whatever their owner promises.
        self.bounds = RowBounds { trusted_max_index: u32::MAX, ..RowBounds::of(max_index(lent.indices())) };
        self.lent = Some(lent);
        Ok(())
    }

    /// The indices and values of all rows.
    #[inline]
    fn arena(&self) -> (&[u32], &[f32]) {
        match &self.lent {
            None => (&self.indices, &self.values),
            Some(lent) => (lent.indices(), lent.values()),
        }
    }

    /// Adds a feature to the row that is being filled.
    ///
    /// # Panics
    /// When `value` is not finite or `index` is [`INDEX_LIMIT`] or more: readers check both.
    #[inline]
    pub fn push(&mut self, index: u32, value: f32) {
        assert!(value.is_finite() && index < INDEX_LIMIT, "feature {index} = {value}");
        self.row_max_index = self.row_max_index.max(index);
        self.indices.push(index);
        self.values.push(value);
    }

    /// Adds features to the row that is being filled.
    ///
    /// # Panics
    /// When there are not as many of both, a value is not finite or an index is [`INDEX_LIMIT`] or more:
    /// readers check all three.
    pub fn extend(&mut self, indices: &[u32], values: &[f32]) {
        assert_eq!(indices.len(), values.len(), "each index has its value");
        let max_index = max_index(indices);
        assert!(max_index < INDEX_LIMIT && are_finite(values), "a feature is not finite, or its index too large");
        self.row_max_index = self.row_max_index.max(max_index);
        self.indices.extend_from_slice(indices);
        self.values.extend_from_slice(values);
    }

    /// Adds features to the row that is being filled if their indices ascend, from above those that it has so far (which
    /// are one at the most) to `limit` at the most, and their values are finite; else nothing, and gives false.
    ///
    /// # Panics
    /// When there are not as many of both, or the limit is [`INDEX_LIMIT`] or more.
    ///
    /// ```
    /// let mut batch = onward::Batch::default();
    /// batch.push(0, 1.0);
    /// assert!(batch.extend_ascending(&[3, 7], &[0.5, 2.0], 99));
    /// assert!(!batch.extend_ascending(&[8, 8], &[0.5, 2.0], 99));
    /// batch.finish(Some(1.0), 1.0);
    /// assert_eq!(batch.get(0).features.len(), 3);
    /// ```
    pub fn extend_ascending(&mut self, indices: &[u32], values: &[f32], limit: u32) -> bool {
        assert_eq!(indices.len(), values.len(), "each index has its value");
        assert!(limit < INDEX_LIMIT, "the largest index may be {limit}");
        let (Some(&first), Some(&last)) = (indices.first(), indices.last()) else { return true };
        let pending = &self.indices[self.features()..];
        let is_above = match pending {
            [] => true,
            [before] => *before < first,
            _ => false,
        };
        if !is_above || last > limit || !ascend(indices) || !are_finite(values) {
            return false;
        }
        self.row_max_index = last;
        self.indices.extend_from_slice(indices);
        self.values.extend_from_slice(values);
        self.ascend_to = self.indices.len();
        true
    }

    /// Sets the [offset](Features::offset) of the row that is being filled: 0 unless it is set.
    ///
    /// # Panics
    /// When it is not a number within ±3.4e38: readers check it.
    pub fn set_offset(&mut self, offset: f64) {
        assert!(is_offset(offset), "offset {offset}");
        self.offset = offset;
    }

    /// Ends the row that is being filled, with its label and weight. Features that share an
    /// index (a word that occurs twice, two names with one hash) become one, where the first
    /// of them stood, with the sum of their values (cut off at ±3.4e38): the gradient of their
    /// weight is that of the sum, and so is what theorems say of it.
    #[inline]
    pub fn finish(&mut self, label: Option<f64>, weight: f64) {
        self.finish_distinct_below(0, label, weight);
    }

    /// The same, where indices below this are known to occur once.
    #[inline]
    pub fn finish_distinct_below(&mut self, distinct: u32, label: Option<f64>, weight: f64) {
        let start = self.features();
        let row = &self.indices[start..];
        let is_known = self.ascend_to == self.indices.len();
        if !is_known && !ascend(row) {
            REPEATS.with_borrow_mut(|repeats| {
                if repeats.are_there(&self.indices[start..], distinct) {
                    repeats.add_up(start, &mut self.indices, &mut self.values);
                }
            });
        }
        self.end_row(label, weight);
    }

    /// The same, where all indices but these are known to occur once.
    ///
    /// ```
    /// let mut batch = onward::Batch::default();
    /// batch.extend(&[0, 70, 1, 70, 71], &[1.0, 0.5, 2.0, 0.25, 1.0]);
    /// batch.finish_distinct_but(&[70, 70, 71], Some(1.0), 1.0);
    /// assert_eq!(batch.get(0).features.indices(), [0, 70, 1, 71]);
    /// assert_eq!(batch.get(0).features.values(), [1.0, 0.75, 2.0, 1.0]);
    /// ```
    #[inline]
    pub fn finish_distinct_but(&mut self, others: &[u32], label: Option<f64>, weight: f64) {
        let mut few = [u32::MAX; FEW];
        let are_distinct = match few.get_mut(..others.len()) {
            Some(into) => {
                into.copy_from_slice(others);
                are_alone(&few, others.len())
            }
            None => !REPEATS.with_borrow_mut(|repeats| repeats.are_there(others, 0)),
        };
        if are_distinct { self.end_row(label, weight) } else { self.finish(label, weight) }
    }

    #[inline]
    fn end_row(&mut self, label: Option<f64>, weight: f64) {
        assert!(self.lent.is_none(), "a batch of lent rows takes no others");
        self.ascend_to = 0;
        let max_index = self.bounds.max_index.max(std::mem::take(&mut self.row_max_index));
        (self.bounds.max_index, self.bounds.trusted_max_index) = (max_index, max_index);
        self.ends.push(self.indices.len());
        self.labels.push(label.unwrap_or(f64::NAN));
        self.weights.push(weight);
        self.offsets.push(std::mem::take(&mut self.offset));
    }

    /// Drops the features of the row that is being filled.
    pub fn abandon(&mut self) {
        let end = self.ends.last().copied().unwrap_or(0);
        self.indices.truncate(end);
        self.values.truncate(end);
        (self.ascend_to, self.row_max_index) = (0, 0);
        self.offset = 0.0;
    }

    /// Empties the batch and keeps its memory.
    pub fn clear(&mut self) {
        self.indices.clear();
        self.values.clear();
        self.ids.clear();
        self.bounds = RowBounds::default();
        self.ends.clear();
        self.labels.clear();
        self.weights.clear();
        self.offsets.clear();
        (self.ascend_to, self.row_max_index) = (0, 0);
        self.offset = 0.0;
        self.lent = None;
    }

    /// How many rows are finished.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether no row is finished.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// How many features all finished rows hold together.
    pub fn features(&self) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }

    /// How many features the row that is being filled holds so far.
    pub fn pending(&self) -> usize {
        self.indices.len() - self.features()
    }

    /// The indices and values of the row that is being filled, as they were pushed.
    pub fn pending_row(&self) -> (&[u32], &[f32]) {
        let start = self.features();
        (&self.indices[start..], &self.values[start..])
    }

    /// The row at position `row`.
    ///
    /// # Panics
    /// When `row` is not below [`len`](Batch::len).
    #[inline]
    pub fn get(&self, row: usize) -> Example<'_> {
        self.all_rows().get(row)
    }

    /// Some finished rows, as learners and ledgers take them.
    ///
    /// # Panics
    /// When the range ends beyond the rows.
    ///
    /// ```
    /// let mut batch = onward::Batch::default();
    /// for index in [3, 7] {
    ///     batch.push(index, 1.0);
    ///     batch.finish(Some(1.0), 1.0);
    /// }
    /// assert_eq!((batch.rows(..).len(), batch.rows(1..).get(0).features.indices()), (2, &[7][..]));
    /// ```
    pub fn rows(&self, range: impl RangeBounds<usize>) -> Rows<'_> {
        let start = match range.start_bound() {
            Bound::Included(&start) => start,
            Bound::Excluded(&before) => before + 1,
            Bound::Unbounded => 0,
        };
        let end = match range.end_bound() {
            Bound::Included(&last) => last + 1,
            Bound::Excluded(&end) => end,
            Bound::Unbounded => self.len(),
        };
        self.all_rows().slice(start..end)
    }

    #[inline]
    fn all_rows(&self) -> Rows<'_> {
        let (indices, values) = self.arena();
        Rows {
            layout: RowLayout::Sparse { ends: &self.ends, first: 0 },
            indices,
            values,
            ids: &self.ids,
            bounds: self.bounds,
            columns: RowColumns { labels: &self.labels, weights: &self.weights, offsets: &self.offsets },
        }
    }

    /// Adds rows that have no bias: index 0 with the value 1 comes before their features, whose indices grow by one, as
    /// readers have it. Copies the features.
    ///
    /// # Errors
    /// When an index would become too large; nothing is added then.
    ///
    /// # Panics
    /// When a row is being filled.
    ///
    /// ```
    /// use onward::{Batch, RowColumns, Rows};
    /// let mut batch = Batch::default();
    /// batch.extend_with_bias(Rows::from_dense(&[0.5, 2.0], &[0, 1], RowColumns::default())?)?;
    /// assert_eq!(batch.get(0).features.indices(), [0, 1, 2]);
    /// assert_eq!(batch.get(0).features.values(), [1.0, 0.5, 2.0]);
    /// # Ok::<(), onward::Error>(())
    /// ```
    pub fn extend_with_bias(&mut self, rows: Rows<'_>) -> Result<(), Error> {
        assert_eq!(self.pending(), 0, "the row that is being filled ends first");
        if rows.bounds.max_index >= INDEX_LIMIT - 1 {
            return Err(refused(format!(
                "indices must be below 2^31 - 1 where a bias is added; got {}",
                rows.bounds.max_index
            )));
        }
        for Example { features, label, weight } in rows.iter() {
            let start = self.indices.len();
            self.push(0, 1.0);
            self.indices.extend(features.indices.iter().map(|index| index.wrapping_add(1)));
            self.values.extend_from_slice(features.values);
            // Of what was copied: what is lent may be other numbers by now.
            self.row_max_index = max_index(&self.indices[start..]);
            assert!(self.row_max_index < INDEX_LIMIT, "an index has become too large");
            self.offset = features.offset;
            self.end_row(label, weight);
        }
        Ok(())
    }

    /// All finished rows in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Example<'_>> {
        self.all_rows().iter()
    }
}

/// Refuses ends that do not cover all borrowed features, columns that are not one number per row, and features out of range.
fn check_ends(ends: &[usize], columns: [usize; 3], lent: &dyn BorrowedColumns) -> Result<(), Error> {
    let (indices, values) = (lent.indices(), lent.values());
    let ascend = ends.windows(2).all(|pair| pair[0] <= pair[1]);
    let all = ends.last().copied().unwrap_or(0);
    if columns != [ends.len(); 3] || !ascend || all != indices.len() || all != values.len() {
        return Err(refused(format!(
            "the ends of {} rows, of which the last is {all}, do not fit {columns:?} labels, weights and offsets, {} \
             indices and {} values",
            ends.len(),
            indices.len(),
            values.len()
        )));
    }
    match max_index(indices) < INDEX_LIMIT && are_finite(values) {
        true => Ok(()),
        false => Err(refused("an index is 2^31 or more, or a value is not finite")),
    }
}

#[cfg(test)]
mod tests;
