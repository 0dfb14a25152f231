//! A learner that sees features standardised by their running scale
//! ([`RunningScale`]), whatever units they come in.
//!
//! The comparators of regret and certificate stay those on the raw features. The
//! theorem of the learner inside is about features that do not change with time,
//! so it has no guarantee of its own.

use std::cell::RefCell;

use crate::archive::Archive;
use crate::guarantee::{Guarantee, GuaranteeKind};
use crate::storage::RunningScale;
use crate::{Error, Features, Learner, Prediction, SharedLoss};

/// A learner on standardised features.
pub struct Standardised {
    inner: Box<dyn Learner>,
    scale: RunningScale,
    scaled: Vec<f32>,
}

thread_local! {
    /// Predicting changes nothing, and must not allocate for each row either.
    static SCALED: RefCell<Vec<f32>> = const { RefCell::new(Vec::new()) };
}

impl Standardised {
    /// Puts a running scale before a learner.
    pub fn new(inner: Box<dyn Learner>) -> Self {
        Self { inner, scale: RunningScale::default(), scaled: Vec::new() }
    }
}

impl Learner for Standardised {
    fn predict(&self, x: Features<'_>) -> Prediction {
        SCALED.with_borrow_mut(|scaled| {
            self.scale.scale(x, scaled);
            self.inner.predict(x.with_values(scaled))
        })
    }

    fn learn(&mut self, x: Features<'_>, label: f64, weight: f64) -> Prediction {
        if weight == 0.0 {
            return self.predict(x);
        }
        self.scale.observe(x, weight, &mut self.scaled);
        self.inner.learn(x.with_values(&self.scaled), label, weight)
    }

    fn charged_loss(&self) -> SharedLoss {
        self.inner.charged_loss()
    }

    fn describe(&self) -> String {
        format!("{},standardise=true", self.inner.describe())
    }

    fn weight(&self, index: u32) -> Option<f64> {
        Some(self.inner.weight(index)? / self.scale.deviation(index))
    }

    fn deviation(&self, index: u32) -> Option<f64> {
        self.scale.is_centred(index).then(|| self.scale.deviation(index))
    }

    fn updates(&self) -> Option<f64> {
        self.inner.updates()
    }

    fn guarantee(&self) -> Guarantee {
        let reason = "features are standardised by a scale that changes with the stream";
        Guarantee::none(GuaranteeKind::Own, reason)
    }

    fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        archive.part("scale", |archive| self.scale.persist(archive))?;
        self.inner.persist(archive)
    }
}
