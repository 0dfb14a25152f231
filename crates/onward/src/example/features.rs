//! A row of features.

use super::reach::RowBounds;
use crate::hashing::feature_map::INDEX_LIMIT;
use crate::numeric::sum::{self, LANES};
use crate::simd::scan::ascend;
use crate::{Error, ErrorKind};

/// A borrowed sparse row: what a linear predictor multiplies its weights with.
///
/// Each index occurs once, in any order, and is below [`INDEX_LIMIT`]. Dense rows are
/// the same with indices `0..d`.
/// Index 0 is the bias (value 1) in rows that the readers of `onward-data` make.
#[derive(Debug, Clone, Copy)]
pub struct Features<'a> {
    pub(super) indices: &'a [u32],
    pub(super) values: &'a [f32],
    /// The ids of the features in a feature map; empty if the row has not been numbered.
    pub(crate) ids: &'a [u32],
    pub(crate) bounds: RowBounds,
    pub(super) offset: f64,
}

impl<'a> Features<'a> {
    /// A row from its indices and values. Fastest where indices ascend: then it is plain
    /// that none occurs twice.
    ///
    /// # Errors
    /// When the two differ in length, a value is not finite, an index is
    /// [`INDEX_LIMIT`] or more, or one occurs twice ([`Batch::finish`](super::Batch::finish) adds up the values
    /// of such).
    ///
    /// ```
    /// let x = onward::Features::new(&[0, 7], &[1.0, 0.25])?;
    /// assert_eq!(x.len(), 2);
    /// assert!(onward::Features::new(&[0], &[f32::NAN]).is_err());
    /// assert!(onward::Features::new(&[7, 0, 7], &[1.0, 1.0, 1.0]).is_err());
    /// # Ok::<(), onward::Error>(())
    /// ```
    pub fn new(indices: &'a [u32], values: &'a [f32]) -> Result<Self, Error> {
        if indices.len() != values.len() {
            return Err(refused(format!(
                "a row must have as many indices as values; got {} indices and {} values",
                indices.len(),
                values.len()
            )));
        }
        if let Some(at) = values.iter().position(|value| !value.is_finite()) {
            return Err(refused(format!("the value of feature {} must be finite; got {}", indices[at], values[at])));
        }
        if let Some(index) = indices.iter().find(|&&index| index >= INDEX_LIMIT) {
            return Err(refused(format!("indices must be below 2^31; got {index}")));
        }
        if let Some(index) = repeated(indices) {
            return Err(refused(format!(
                "a row must name each feature once, with the sum of its values; got index {index} twice"
            )));
        }
        let bounds = RowBounds::of(indices.iter().copied().max().unwrap_or(0));
        Ok(Self { indices, values, ids: &[], bounds, offset: 0.0 })
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
            false => Err(refused(format!("the offset must be a number within ±3.4e38; got {offset}"))),
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

    /// Σ w_i·x_i, added up as [`sum`](crate::numeric::sum) does.
    #[inline(always)]
    pub(crate) fn dot(self, weight: impl Fn(u32) -> f64) -> f64 {
        let mut sums = [0.0; LANES];
        let (eights, indices) = self.indices.as_chunks::<LANES>();
        let (value_eights, values) = self.values.as_chunks::<LANES>();
        // With the eights written out.
        for (indices, values) in eights.iter().zip(value_eights) {
            for lane in 0..LANES {
                sums[lane] += weight(indices[lane]) * f64::from(values[lane]);
            }
        }
        for ((sum, &index), &value) in sums.iter_mut().zip(indices).zip(values) {
            *sum += weight(index) * f64::from(value);
        }
        sum::join(sums)
    }

    /// The map that gave the ids, if there are some.
    pub(crate) fn map(&self) -> Option<u64> {
        (!self.ids.is_empty()).then_some(self.bounds.map)
    }
}

/// An index that occurs twice.
pub(super) fn repeated(indices: &[u32]) -> Option<u32> {
    if ascend(indices) {
        return None;
    }
    let mut sorted = indices.to_vec();
    sorted.sort_unstable();
    sorted.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0])
}

/// Refuses features, for the reason that it gives.
pub(super) fn refused(message: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::Features, message)
}

/// Whether a score may start from it: squares of scores are finite then.
pub(super) fn is_offset(offset: f64) -> bool {
    offset.abs() <= f64::from(f32::MAX)
}
