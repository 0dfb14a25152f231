//! A learner that sees features standardised by their running scale
//! ([`RunningScale`]), whatever units they come in.
//!
//! The comparators of regret and certificate stay those on the raw features. The
//! theorem of the learner inside is about features that do not change with time,
//! so it has no guarantee of its own.

use crate::archive::Archive;
use crate::guarantee::{Guarantee, GuaranteeKind};
use crate::loss::TaskLoss;
use crate::storage::RunningScale;
use crate::{Error, Learner, LinearWeights, Predictor, Rows};

/// How many rows are scaled before they are learnt from.
const TOGETHER: usize = 64;

/// A learner on standardised features.
pub struct Standardised {
    inner: Box<dyn Learner>,
    scale: RunningScale,
    scaled: Vec<f32>,
}

impl Standardised {
    /// Puts a running scale before a learner.
    pub fn new(inner: Box<dyn Learner>) -> Self {
        Self { inner, scale: RunningScale::default(), scaled: Vec::new() }
    }
}

impl Predictor for Standardised {
    fn outputs(&self) -> usize {
        self.inner.outputs()
    }

    fn predict(&self, rows: Rows<'_>, scores: &mut [f64]) {
        let outputs = self.outputs();
        rows.check_scores(outputs, scores);
        let mut scaled = Vec::new();
        for (rows, scores) in rows.chunks(TOGETHER).zip(scores.chunks_mut((TOGETHER * outputs).max(1))) {
            scaled.clear();
            rows.iter().for_each(|example| self.scale.scale(example.features, &mut scaled));
            self.inner.predict(rows.with_values(&scaled), scores);
        }
    }
}

impl Learner for Standardised {
    fn learn(&mut self, rows: Rows<'_>, scores: &mut [f64]) {
        let outputs = self.outputs();
        rows.check_scores(outputs, scores);
        let Self { inner, scale, scaled } = self;
        for (rows, scores) in rows.chunks(TOGETHER).zip(scores.chunks_mut((TOGETHER * outputs).max(1))) {
            scaled.clear();
            for example in rows.iter() {
                match example.label_to_learn() {
                    Some(_) => scale.observe(example.features, example.weight, scaled),
                    None => scale.scale(example.features, scaled),
                }
            }
            inner.learn(rows.with_values(scaled), scores);
        }
    }

    fn loss(&self) -> TaskLoss {
        self.inner.loss()
    }

    fn describe(&self) -> String {
        format!("{},standardise=true", self.inner.describe())
    }

    fn set_classes(&mut self, classes: usize) {
        self.inner.set_classes(classes);
    }

    fn linear(&self) -> Option<&dyn LinearWeights> {
        self.inner.linear().map(|_| self as &dyn LinearWeights)
    }

    fn updates(&self) -> Option<f64> {
        self.inner.updates()
    }

    fn guarantee(&self) -> Guarantee {
        let reason = "features are standardised by scales that change with the stream";
        Guarantee::none(GuaranteeKind::Own, reason)
    }

    fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        archive.part("scale", |archive| self.scale.persist(archive))?;
        self.inner.persist(archive)
    }
}

impl LinearWeights for Standardised {
    fn weight(&self, index: u32) -> f64 {
        self.inner.linear().map_or(0.0, |inner| inner.weight(index) / self.scale.deviation(index))
    }

    fn gamma(&self, index: u32) -> Option<f64> {
        let deviation = self.scale.deviation(index);
        Some(self.inner.linear()?.gamma(index)? / (deviation * deviation))
    }

    fn deviation(&self, index: u32) -> Option<f64> {
        self.scale.is_centred(index).then(|| self.scale.deviation(index))
    }
}
