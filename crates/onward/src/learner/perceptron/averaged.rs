//! The averaged perceptron (Freund, Schapire 1999; Collins 2002).
//!
//! The weights w are updated as by the perceptron, by *their* mistakes: where y·s ≤ 0 with
//! s = b + ⟨w, x⟩, w += h·y·x. Predictions are made by the average w̄ of the weights after each
//! round, each counted by the round's importance: the score is b + ⟨w̄, x⟩. It moves less than w
//! does, the less the longer the stream.
//!
//! The average costs nothing in rounds without an update: with T = Σh it is w − c/T, where c
//! collects T·h·y·x as it is before each update.
//!
//! **Guarantee**: none. That of the perceptron bounds the updates, which w makes; w̄ usually makes
//! fewer mistakes, and may make more.

use std::sync::Arc;

use bytemuck::Zeroable;

use super::{Count, ENTRY, NO_BOUND, VARIANT};
use crate::archive::{Archive, fields};
use crate::guarantee::{Guarantee, GuaranteeKind};
use crate::loss::ZeroOne;
use crate::numeric::saturate;
use crate::parameter::Description;
use crate::storage::table::ParameterTable;
use crate::{Error, Features, LinearWeights, Loss, ScoreLearner, SharedLoss};

/// The averaged perceptron.
pub struct AveragedPerceptron {
    entries: ParameterTable<AveragedEntry>,
    /// T = Σh.
    total: f64,
    pub(super) count: Count,
}

/// A weight.
#[derive(Debug, Clone, Copy, Zeroable)]
#[repr(C)]
struct AveragedEntry {
    /// c_i.
    correction: f64,
    /// w_i.
    weight: f32,
    unused: u32,
}

impl AveragedPerceptron {
    /// Before the first round.
    ///
    /// # Errors
    /// When the loss is one that the perceptron does not pay.
    pub fn new(loss: &dyn Loss) -> Result<Self, Error> {
        ENTRY.check_loss(loss)?;
        let (entries, count) = Default::default();
        Ok(Self { entries, total: 0.0, count })
    }
}

impl ScoreLearner for AveragedPerceptron {
    fn predict_one(&self, x: Features<'_>) -> f64 {
        x.offset() + x.dot(|index| self.weight(index))
    }

    fn learn_one(&mut self, x: Features<'_>, label: f64, weight: f64) -> f64 {
        let prediction = self.predict_one(x);
        self.count.observe(prediction, label, weight);
        let score = x.offset() + x.dot(|index| self.entries.get(index).weight.into());
        if label * score <= 0.0 {
            for (index, value) in x.iter() {
                let entry = self.entries.entry(index);
                let before = f64::from(entry.weight);
                entry.weight = saturate(before + weight * label * f64::from(value));
                entry.correction += self.total * (f64::from(entry.weight) - before);
            }
            self.count.updates += weight;
        }
        self.total += weight;
        prediction
    }

    fn loss(&self) -> SharedLoss {
        Arc::new(ZeroOne)
    }

    fn describe(&self) -> String {
        Description::of("perceptron").with(&VARIANT, "averaged").into()
    }

    fn updates(&self) -> Option<f64> {
        Some(Self::updates(self))
    }

    fn guarantee(&self) -> Guarantee {
        Guarantee::none(GuaranteeKind::Own, NO_BOUND)
    }

    fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        self.count.persist(archive)?;
        archive.number("total", &mut self.total)?;
        let fields = fields!(AveragedEntry { "last": F32 weight, "correction": F64 correction });
        self.entries.persist(archive, |entry| entry.weight != 0.0 || entry.correction != 0.0, &fields)
    }

    fn linear(&self) -> Option<&dyn LinearWeights> {
        Some(self)
    }
}

impl LinearWeights for AveragedPerceptron {
    /// w̄_i.
    fn weight(&self, index: u32) -> f64 {
        let entry = self.entries.get(index);
        if self.total > 0.0 { f64::from(entry.weight) - entry.correction / self.total } else { 0.0 }
    }
}
