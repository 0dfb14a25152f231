//! Hints where the slots of features are: all that a reader knows of how learners store features.

use onward::FeatureMap;

use crate::encode::ParsedBatch;

/// Gives hints to batches, one after the other in order, by whoever is free.
pub(super) struct HintGiver {
    /// `None` where none are wanted.
    hints: Option<FeatureMap>,
    /// The number of the batch that is next.
    pub(super) next: u64,
}

impl HintGiver {
    pub(super) fn new(learns: bool) -> Self {
        Self { hints: Some(if learns { FeatureMap::for_learning() } else { FeatureMap::default() }), next: 0 }
    }

    /// Gives hints to the next batch.
    pub(super) fn add(&mut self, parsed: &mut ParsedBatch) {
        if let Some(hints) = &mut self.hints {
            hints.add(&mut parsed.batch);
        }
        self.next += 1;
    }

    /// Gives no more.
    pub(super) fn stop(&mut self) {
        self.hints = None;
    }
}
