//! Rows get the ids of their features.

use super::batch::Batch;
use super::reach::max_positions;
use super::rows::{RowLayout, Rows};
use crate::hashing::feature_map::FeatureMap;

impl FeatureMap {
    /// Gives ids to the features of all finished rows. Features that were met only in rows that nothing is learnt from
    /// get none. Batches must come in the order in which their rows are learnt from; other orders cost time and
    /// nothing else.
    pub fn number(&mut self, batch: &mut Batch) {
        let mut ids = std::mem::take(&mut batch.ids);
        self.add_ids_of(batch.rows(..), &mut ids);
        (batch.bounds.map, batch.bounds.max_ids) = (self.map, max_positions(&ids));
        batch.ids = ids;
    }

    /// The same rows with ids, which are kept in `ids`.
    pub fn number_rows<'a>(&mut self, rows: Rows<'a>, ids: &'a mut Vec<u32>) -> Rows<'a> {
        self.add_ids_of(rows, ids);
        rows.with_ids(ids, self.map)
    }

    fn add_ids_of(&mut self, rows: Rows<'_>, ids: &mut Vec<u32>) {
        ids.clear();
        if !self.is_useful_for(rows.bounds.max_index) {
            return;
        }
        ids.reserve(rows.indices.len());
        let RowLayout::Sparse { ends, first } = rows.layout else {
            return self.add_ids(rows.indices, ids);
        };
        // Rows one after the other that are alike in whether they are learnt from are numbered together.
        let (mut row, mut start) = (0, 0);
        while row < rows.len() {
            let is_learnt = rows.is_learnt(row);
            while row < rows.len() && rows.is_learnt(row) == is_learnt {
                row += 1;
            }
            let end = ends[row - 1] - first;
            match is_learnt {
                true => self.add_ids(&rows.indices[start..end], ids),
                false => self.add_known_ids(&rows.indices[start..end], ids),
            }
            start = end;
        }
    }
}
