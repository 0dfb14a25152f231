//! The columns of learners with full matrices: features in the order in which they came, up to a
//! limit, since a round costs O(d²).

use crate::archive::{Column, State};
use crate::storage::table::Table;
use crate::{Error, Features};

/// The most that a limit may be: half a gigabyte of matrix.
const MOST: u64 = 8192;

/// What a limit may be.
pub(super) const LIMITS: std::ops::RangeInclusive<u64> = 1..=MOST;

/// The features that have a column.
#[derive(Debug, Clone)]
pub(super) struct Columns {
    limit: usize,
    indices: Vec<u32>,
    /// One more than the column of each; 0: none.
    places: Table<u32>,
    /// Values other than 0 of features without a column, in all that was learnt.
    ignored: f64,
}

impl Columns {
    /// None, and room for so many.
    pub(super) fn new(limit: u64) -> Result<Self, Error> {
        if !LIMITS.contains(&limit) {
            return Err(Error::parameter(format!(
                "limit is {limit}: it is a whole number from 1 to {MOST}, for the matrix has its square of entries"
            )));
        }
        Ok(Self { limit: limit as usize, indices: Vec::new(), places: Table::default(), ignored: 0.0 })
    }

    /// d: how many features have a column.
    pub(super) fn len(&self) -> usize {
        self.indices.len()
    }

    /// How many may have one.
    pub(super) fn limit(&self) -> usize {
        self.limit
    }

    /// How many values of features without a column were met in learning.
    pub(super) fn ignored(&self) -> u64 {
        self.ignored as u64
    }

    /// The column of a feature.
    #[inline]
    pub(super) fn find(&self, index: u32) -> Option<usize> {
        (self.places.get(index) as usize).checked_sub(1)
    }

    /// Gives features of a row a column while there is room. A value of 0 is no feature.
    pub(super) fn meet(&mut self, x: Features<'_>) {
        for (index, _) in x.iter().filter(|&(_, value)| value != 0.0) {
            if self.find(index).is_some() {
                continue;
            }
            if self.indices.len() < self.limit {
                self.indices.push(index);
                *self.places.slot(index) = self.indices.len() as u32;
            } else {
                self.ignored += 1.0;
            }
        }
    }

    /// factor·x by columns; returns the first that is not 0. What has no column is left out.
    pub(super) fn spread(&self, x: Features<'_>, factor: f64, row: &mut Vec<f64>) -> usize {
        row.clear();
        row.resize(self.indices.len(), 0.0);
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
        new.take(self.limit - self.indices.len()).map(|(_, &value)| f64::from(value))
    }

    pub(super) fn save(&self, state: &mut State) {
        state.set_column("index", Column::U32(self.indices.clone()));
        state.set("ignored", self.ignored);
    }

    pub(super) fn restore(&mut self, state: &State) -> Result<(), Error> {
        let indices = state.u32s("index")?;
        let places = Table::filled(indices, 1..indices.len() as u32 + 1)?;
        let is_apart = indices.iter().zip(1..).all(|(&index, place)| places.get(index) == place);
        if !is_apart || indices.len() > self.limit {
            return Err(Error::model("the columns of the model are more than its limit, or repeat: it is damaged"));
        }
        self.ignored = state.number("ignored")?;
        (self.indices, self.places) = (indices.to_vec(), places);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_beyond_the_limit_are_left_out_and_counted() {
        let mut columns = Columns::new(2).unwrap();
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
    fn columns_that_repeat_are_refused() {
        let mut state = State::default();
        state.set("ignored", 0.0);
        for (indices, is_good) in [(vec![3, 5], true), (vec![3, 5, 3], false), (vec![1, 2, 3, 4], false)] {
            state.set_column("index", Column::U32(indices));
            assert_eq!(Columns::new(3).unwrap().restore(&state).is_ok(), is_good);
        }
        assert!(Columns::new(0).is_err() && Columns::new(8193).is_err());
    }
}
