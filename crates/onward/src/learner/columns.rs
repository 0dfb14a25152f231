//! The columns of learners with full matrices: features in the order in which they came, up to a
//! limit, since each round costs O(d²).

use crate::archive::Archive;
use crate::parameter::{ParameterDescriptor, whole};
use crate::storage::feature_index::FeatureIndex;
use crate::{Error, Features};

/// How many features have a column: at most half a gigabyte of matrix.
pub(super) const LIMIT: ParameterDescriptor =
    whole("limit", 1..=8192).default("512").meaning("uses only the first N features; the cost per round is N²");

/// The features that have a column.
#[derive(Debug, Clone, Default)]
pub(super) struct FeatureColumns {
    pub(super) features: FeatureIndex,
    /// Values other than 0 of features without a column, in all that was learnt.
    ignored: f64,
}

impl FeatureColumns {
    /// No columns yet, and room for `limit`.
    pub(super) fn new(limit: u64) -> Result<Self, Error> {
        LIMIT.check(limit)?;
        Ok(Self { features: FeatureIndex::new(limit as usize), ignored: 0.0 })
    }

    /// d: how many features have a column.
    pub(super) fn len(&self) -> usize {
        self.features.len()
    }

    /// How many values of features without a column were met in learning.
    pub(super) fn ignored(&self) -> u64 {
        self.ignored as u64
    }

    /// The column of a feature.
    #[inline]
    pub(super) fn find(&self, index: u32) -> Option<usize> {
        self.features.find(index)
    }

    /// Gives features of a row a column while there is room. A value of 0 is no feature.
    pub(super) fn meet(&mut self, x: Features<'_>) {
        for (index, _) in x.iter().filter(|&(_, value)| value != 0.0) {
            if self.features.number(index).is_none() {
                self.ignored += 1.0;
            }
        }
    }

    /// factor·x by columns; returns the first that is not 0. What has no column is left out.
    pub(super) fn spread(&self, x: Features<'_>, factor: f64, row: &mut Vec<f64>) -> usize {
        row.clear();
        row.resize(self.len(), 0.0);
        let mut first = row.len();
        for (index, value) in x.iter().filter(|&(_, value)| value != 0.0) {
            if let Some(column) = self.find(index) {
                row[column] = factor * f64::from(value);
                first = first.min(column);
            }
        }
        first
    }

    /// The values of features of a row that have no column and would be given one.
    pub(super) fn new_values<'a>(&'a self, x: Features<'a>) -> impl Iterator<Item = f64> + 'a {
        let row = x.indices().iter().zip(x.values());
        let new = row.filter(|&(&index, &value)| value != 0.0 && self.find(index).is_none());
        new.take(self.features.limit() - self.len()).map(|(_, &value)| f64::from(value))
    }

    pub(super) fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        self.features.persist(archive)?;
        archive.number("ignored", &mut self.ignored)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_beyond_the_limit_are_left_out_and_counted() {
        let mut columns = FeatureColumns::new(2).unwrap();
        let x = Features::new(&[9, 4, 7, 1], &[1.0, 0.0, 2.0, 3.0]).unwrap();
        assert_eq!(columns.new_values(x).collect::<Vec<_>>(), [1.0, 2.0]);
        columns.meet(x);
        columns.meet(x);
        assert_eq!((columns.len(), columns.ignored(), columns.find(7), columns.find(4)), (2, 2, Some(1), None));
        let mut row = Vec::new();
        assert_eq!(columns.spread(Features::new(&[1, 7], &[3.0, 5.0]).unwrap(), 2.0, &mut row), 1);
        assert_eq!(row, [0.0, 10.0]);
    }

    #[test]
    fn limits_out_of_range_are_refused() {
        assert!(FeatureColumns::new(0).is_err() && FeatureColumns::new(8193).is_err());
    }
}
