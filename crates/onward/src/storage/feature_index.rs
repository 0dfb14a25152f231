//! Features numbered in the order in which they come, up to a limit: the rows and columns of learners with a matrix.

use crate::archive::Archive;
use crate::storage::table::ParameterTable;
use crate::{Error, Features};

/// The first features that came, up to a limit, and their numbers.
#[derive(Debug, Clone, Default)]
pub(crate) struct FeatureIndex {
    limit: usize,
    /// In order of number.
    indices: Vec<u32>,
    /// One more than the number of each; 0: none.
    numbers: ParameterTable<u32>,
}

impl FeatureIndex {
    /// An empty index with room for `limit` features.
    pub(crate) fn new(limit: usize) -> Self {
        Self { limit, indices: Vec::new(), numbers: ParameterTable::default() }
    }

    /// How many features have a number.
    pub(crate) fn len(&self) -> usize {
        self.indices.len()
    }

    /// The features in order of number.
    pub(crate) fn indices(&self) -> &[u32] {
        &self.indices
    }

    /// How many features may have a number.
    pub(crate) fn limit(&self) -> usize {
        self.limit
    }

    /// The number of a feature, from 0.
    #[inline]
    pub(crate) fn find(&self, index: u32) -> Option<usize> {
        (self.numbers.get(index) as usize).checked_sub(1)
    }

    /// The same. A feature without a number gets the next one while there is room.
    pub(crate) fn number(&mut self, index: u32) -> Option<usize> {
        self.find(index).or_else(|| {
            let number = self.len();
            let is_room = number < self.limit;
            if is_room {
                self.indices.push(index);
                *self.numbers.entry(index) = self.indices.len() as u32;
            }
            is_room.then_some(number)
        })
    }

    /// The numbers and values of the features of a row that are not 0, and whether all have numbers.
    pub(crate) fn number_row(&mut self, x: Features<'_>) -> (Vec<(u32, f64)>, bool) {
        let (mut row, mut is_complete) = (Vec::with_capacity(x.len()), true);
        for (index, value) in x.iter().filter(|(_, value)| *value != 0.0) {
            match self.number(index) {
                Some(number) => row.push((number as u32, f64::from(value))),
                None => is_complete = false,
            }
        }
        (row, is_complete)
    }

    /// The features in order of number, as a column `index`.
    pub(crate) fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        archive.column("index", &mut self.indices)?;
        archive.check(self.len() <= self.limit, "index", "must not have more features than the limit")?;
        if archive.is_loading() {
            self.numbers = ParameterTable::filled(&self.indices, 1..self.indices.len() as u32 + 1)?;
            let are_distinct = (0..).zip(&self.indices).all(|(number, &index)| self.find(index) == Some(number));
            archive.check(are_distinct, "index", "must not repeat")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::{SavedColumn, State};

    #[test]
    fn features_beyond_the_limit_have_no_number() {
        let mut features = FeatureIndex::new(2);
        assert_eq!([9, 7, 9, 1].map(|index| features.number(index)), [Some(0), Some(1), Some(0), None]);
        assert_eq!((features.len(), features.find(7), features.find(1)), (2, Some(1), None));
    }

    #[test]
    fn features_that_repeat_or_are_too_many_are_refused() {
        for (indices, is_good) in [(vec![3, 5], true), (vec![3, 5, 3], false), (vec![1, 2, 3, 4], false)] {
            let mut state = State::default();
            state.set_column("index", SavedColumn::U32(indices));
            assert_eq!(FeatureIndex::new(3).persist(&mut Archive::loading(state)).is_ok(), is_good);
        }
    }
}
