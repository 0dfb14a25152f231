//! Features of batches get ids: all that a reader knows of how learners store features.

use onward::FeatureMap;

use crate::encode::ParsedBatch;

/// Gives ids to batches, one after the other in order, on whichever thread is free.
#[derive(Default)]
pub(super) struct IdAssigner {
    /// `None` where no ids are wanted.
    pub(super) map: Option<FeatureMap>,
    /// The number of the batch that is next.
    pub(super) next: u64,
}

impl IdAssigner {
    /// Gives ids to the next batch.
    pub(super) fn number(&mut self, parsed: &mut ParsedBatch) {
        if let Some(map) = &mut self.map {
            map.number(&mut parsed.batch);
        }
        self.next += 1;
    }
}
