//! A random sample of the rows that a run learnt from, so that the model can be asked about its past when the run is over:
//! a model that follows the order of its rows may have paid little in the run and be useless on any of them.

use onward::numeric::sample::RandomSample;
use onward::{Batch, Example, Rows};

use crate::model::{Model, rows_at_a_time};
use crate::report::{SavedModelRisk, finite};

/// The most rows that are kept.
const MOST_ROWS: usize = 1000;

/// The most features that they have in all: rows of very many are kept in lower number.
const MOST_FEATURES: usize = 1 << 20;

/// A sample of rows with a label and a weight above 0.
pub(crate) struct PastSample {
    rows: RandomSample<KeptRow>,
    most_features: usize,
    features: usize,
}

/// A row that is kept.
struct KeptRow {
    indices: Vec<u32>,
    values: Vec<f32>,
    offset: f64,
    label: f64,
    weight: f64,
}

impl PastSample {
    /// An empty sample.
    pub(crate) fn new(seed: u64) -> Self {
        Self { rows: RandomSample::new(MOST_ROWS, seed), most_features: MOST_FEATURES, features: 0 }
    }

    /// Takes in rows that were learnt from.
    pub(crate) fn take(&mut self, rows: Rows<'_>) {
        for (row, (label, &weight)) in rows.labels().iter().zip(rows.weights()).enumerate() {
            if !label.is_nan() && weight > 0.0 && self.rows.is_due() {
                self.put(rows.get(row), *label);
            }
        }
    }

    fn put(&mut self, Example { features, weight, .. }: Example<'_>, label: f64) {
        let (indices, values) = (features.indices().to_vec(), features.values().to_vec());
        self.rows.put(KeptRow { indices, values, offset: features.offset(), label, weight });
        // Of rows that were replaced too: counted anew when they may be too many.
        self.features += features.len();
        if self.features > self.most_features {
            self.features = self.count();
        }
        while self.features > self.most_features && self.rows.items().count() > 1 {
            self.rows.halve();
            self.features = self.count();
        }
    }

    fn count(&self) -> usize {
        self.rows.items().map(|row| row.indices.len()).sum()
    }

    /// What the model pays on them as it is.
    pub(crate) fn risk_of(&self, model: &Model) -> SavedModelRisk {
        let (loss, outputs) = (model.ledger.loss(), model.learner.outputs());
        let mut batch = Batch::default();
        for row in self.rows.items() {
            batch.extend(&row.indices, &row.values);
            batch.set_offset(row.offset);
            // It named each feature once when it came.
            batch.finish_distinct_but(&[], Some(row.label), row.weight);
        }
        let (mut paid, mut weight, mut scores) = (0.0, 0.0, Vec::new());
        for rows in batch.rows(..).chunks(rows_at_a_time(loss, outputs, batch.rows(..))) {
            scores.clear();
            scores.resize(rows.len() * outputs, 0.0);
            model.learner.predict(rows, &mut scores);
            for (row, scores) in rows.with_scores(outputs, &mut scores) {
                paid += row.weight * row.label.map_or(0.0, |label| loss.value(scores, label));
                weight += row.weight;
            }
        }
        SavedModelRisk { risk: finite(paid / weight), examples: batch.len() as u64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows with as many features as their number says, some without a label or weight.
    fn batch() -> Batch {
        let mut batch = Batch::default();
        for row in 0..5000u32 {
            (0..row % 60).for_each(|at| batch.push(at * 977 % 4096, (row + at) as f32 * 0.5));
            batch.set_offset(f64::from(row) * 0.25);
            batch.finish((row % 7 != 0).then_some(f64::from(row)), f64::from(row % 5));
        }
        batch
    }

    #[test]
    fn rows_are_kept_as_they_were_and_within_the_limit() {
        let batch = batch();
        for (limit, rows) in [(usize::MAX, MOST_ROWS), (20_000, 500), (300, 7)] {
            let mut sample = PastSample { most_features: limit, ..PastSample::new(1) };
            batch.rows(..).chunks(64).for_each(|rows| sample.take(rows));
            let kept: Vec<_> = sample.rows.items().collect();
            assert!(kept.len() <= rows && 3 * kept.len() > rows, "{limit}: {}", kept.len());
            assert!(kept.iter().map(|row| row.indices.len()).sum::<usize>() <= limit);
            for row in kept {
                let x = batch.rows(..).get(row.label as usize);
                let (indices, values) = (x.features.indices(), x.features.values());
                assert_eq!((&*row.indices, &*row.values), (indices, values));
                assert_eq!((row.offset, Some(row.label), row.weight), (x.features.offset(), x.label, x.weight));
                assert!(row.weight > 0.0);
            }
        }
    }
}
