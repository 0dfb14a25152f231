//! The protocol of online learning: examples, and the learner that sees one at
//! a time. Each round: observe the features, predict, observe the label, pay
//! weight × loss, update. The loss is always that of the prediction made
//! *before* the label was seen.

use crate::loss::{Link, SharedLoss};
use crate::model::State;
use crate::regret::Guarantee;
use crate::{Error, ErrorKind};

/// A borrowed sparse row: what a linear predictor multiplies its weights with.
///
/// Indices need not be sorted; an index that occurs twice counts as two
/// features that share a weight. Dense rows are the same with indices `0..d`.
/// Index 0 is the bias (value 1) in rows that the readers of `onward-data` make.
#[derive(Debug, Clone, Copy)]
pub struct Features<'a> {
    indices: &'a [u32],
    values: &'a [f32],
    limit: u32,
    offset: f64,
}

impl<'a> Features<'a> {
    /// A row from its indices and values.
    ///
    /// # Errors
    /// When the two differ in length, a value is not finite, or an index is
    /// `u32::MAX`.
    ///
    /// ```
    /// let x = onward::Features::new(&[0, 7], &[1.0, 0.25])?;
    /// assert_eq!(x.len(), 2);
    /// assert!(onward::Features::new(&[0], &[f32::NAN]).is_err());
    /// # Ok::<(), onward::Error>(())
    /// ```
    pub fn new(indices: &'a [u32], values: &'a [f32]) -> Result<Self, Error> {
        if indices.len() != values.len() {
            let message = format!("{} indices but {} values: a row needs as many", indices.len(), values.len());
            return Err(Error::new(ErrorKind::Features, message));
        }
        if let Some(at) = values.iter().position(|value| !value.is_finite()) {
            let message = format!("the value of feature {} is {}: features are finite", indices[at], values[at]);
            return Err(Error::new(ErrorKind::Features, message));
        }
        let largest = indices.iter().copied().max();
        let limit = match largest {
            Some(u32::MAX) => {
                return Err(Error::new(ErrorKind::Features, "index 4294967295 is one too large"));
            }
            Some(index) => index + 1,
            None => 0,
        };
        Ok(Self { indices, values, limit, offset: 0.0 })
    }

    /// The same row with an offset: what every predictor of it starts from, so that the score
    /// is offset + ⟨w, x⟩. Vowpal Wabbit calls it the initial prediction; it may be the score of
    /// another model, or the logarithm of an exposure for Poisson. 0 if not given.
    ///
    /// # Errors
    /// When it is not a number within ±3.4e38, as labels are.
    ///
    /// ```
    /// let x = onward::Features::new(&[0, 7], &[1.0, 0.25])?.with_offset(-1.5)?;
    /// assert_eq!(x.offset(), -1.5);
    /// # Ok::<(), onward::Error>(())
    /// ```
    pub fn with_offset(self, offset: f64) -> Result<Self, Error> {
        match is_offset(offset) {
            true => Ok(Self { offset, ..self }),
            false => {
                Err(Error::new(ErrorKind::Features, format!("the offset is {offset}: it is a number within ±3.4e38")))
            }
        }
    }

    /// What the score starts from, before the features are looked at.
    pub fn offset(&self) -> f64 {
        self.offset
    }

    /// The indices, in the order in which they were given.
    pub fn indices(&self) -> &'a [u32] {
        self.indices
    }

    /// The values, one for each index; all finite.
    pub fn values(&self) -> &'a [f32] {
        self.values
    }

    /// One more than the largest index (or an upper bound of that).
    pub fn limit(&self) -> u32 {
        self.limit
    }

    /// How many features the row holds.
    pub fn len(&self) -> usize {
        self.indices.len()
    }

    /// Whether the row holds no feature at all.
    pub fn is_empty(&self) -> bool {
        self.indices.is_empty()
    }

    /// Pairs of index and value.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (u32, f32)> + 'a {
        self.indices.iter().copied().zip(self.values.iter().copied())
    }

    /// The same indices with other values, finite and as many.
    pub(crate) fn with_values<'b>(&self, values: &'b [f32]) -> Features<'b>
    where
        'a: 'b,
    {
        debug_assert_eq!(values.len(), self.indices.len());
        Features { values, ..*self }
    }
}

/// Whether a score may start from it: squares of scores are finite then.
fn is_offset(offset: f64) -> bool {
    offset.abs() <= f64::from(f32::MAX)
}

/// One round's material: a row, its label if known, its importance weight.
#[derive(Debug, Clone, Copy)]
pub struct Example<'a> {
    /// The features.
    pub features: Features<'a>,
    /// The label; `None` when it is missing: such a row is predicted, not learnt from.
    pub label: Option<f64>,
    /// The importance weight, finite and ≥ 0.
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
    ends: Vec<usize>,
    /// NaN stands for a missing label.
    labels: Vec<f64>,
    weights: Vec<f64>,
    offsets: Vec<f64>,
    /// The offset of the row that is being filled.
    offset: f64,
    limit: u32,
}

impl Batch {
    /// Adds a feature to the row that is being filled.
    ///
    /// # Panics
    /// When `value` is not finite or `index` is `u32::MAX`: readers check both.
    #[inline]
    pub fn push(&mut self, index: u32, value: f32) {
        assert!(value.is_finite() && index != u32::MAX, "feature {index} = {value}");
        self.indices.push(index);
        self.values.push(value);
        self.limit = self.limit.max(index + 1);
    }

    /// Sets the [offset](Features::offset) of the row that is being filled: 0 unless it is set.
    ///
    /// # Panics
    /// When it is not a number within ±3.4e38: readers check it.
    pub fn set_offset(&mut self, offset: f64) {
        assert!(is_offset(offset), "offset {offset}");
        self.offset = offset;
    }

    /// Ends the row that is being filled, with its label and weight.
    #[inline]
    pub fn finish(&mut self, label: Option<f64>, weight: f64) {
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
        self.offset = 0.0;
    }

    /// Empties the batch and keeps its memory.
    pub fn clear(&mut self) {
        self.indices.clear();
        self.values.clear();
        self.ends.clear();
        self.labels.clear();
        self.weights.clear();
        self.offsets.clear();
        self.offset = 0.0;
        self.limit = 0;
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

    /// The row at position `row`.
    ///
    /// # Panics
    /// When `row` is not below [`len`](Batch::len).
    #[inline]
    pub fn get(&self, row: usize) -> Example<'_> {
        let start = if row == 0 { 0 } else { self.ends[row - 1] };
        let end = self.ends[row];
        let features = Features {
            indices: &self.indices[start..end],
            values: &self.values[start..end],
            limit: self.limit,
            offset: self.offsets[row],
        };
        let label = self.labels[row];
        Example { features, label: (!label.is_nan()).then_some(label), weight: self.weights[row] }
    }

    /// All finished rows in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Example<'_>> {
        (0..self.len()).map(|row| self.get(row))
    }
}

/// What a learner says before it sees the label.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Prediction {
    /// The score p on the scale of the loss, as it is charged: offset + ⟨w, x⟩ for
    /// a linear learner, clipped where the learner clips.
    pub score: f64,
}

impl Prediction {
    /// A prediction with this score.
    pub fn new(score: f64) -> Self {
        Self { score }
    }

    /// The score on the scale that people read: a probability for the logistic
    /// loss, a rate for Poisson, the score itself otherwise.
    ///
    /// ```
    /// use onward::{Prediction, loss::Link};
    /// assert_eq!(Prediction::new(0.0).response(Link::Logistic), 0.5);
    /// ```
    pub fn response(&self, link: Link) -> f64 {
        link.response(self.score)
    }
}

/// Predicts, is told the truth, updates.
///
/// All state is inside; equal calls in equal order give equal bits. Every
/// learner goes through one battery of tests (`tests/battery.rs`).
pub trait Learner: Send + Sync {
    /// The prediction that [`learn`](Learner::learn) would make next. Changes nothing.
    fn predict(&self, x: Features<'_>) -> Prediction;

    /// One round: predicts, then updates with the label and the importance
    /// weight (finite, ≥ 0; 0 changes nothing). Returns the prediction made
    /// before the update. The label must be one that
    /// [`Loss::check_label`] accepts.
    fn learn(&mut self, x: Features<'_>, label: f64, weight: f64) -> Prediction;

    /// The loss that predictions are charged by.
    fn charged_loss(&self) -> SharedLoss;

    /// Name and all parameters, as `--learner` takes them, the inferred ones included.
    fn describe(&self) -> String;

    /// The weight of a feature in raw units, for linear learners: how much the
    /// score changes when the feature grows by one.
    fn weight(&self, index: u32) -> Option<f64>;

    /// The learner's own guarantee, from sums of what happened so far.
    fn guarantee(&self) -> Guarantee;

    /// All that is needed to continue to the bit.
    fn state(&self) -> State;

    /// Continues from a saved state of a learner built with the same parameters.
    ///
    /// # Errors
    /// When something is missing from the state or of the wrong shape.
    fn restore(&mut self, state: &State) -> Result<(), Error>;
}
