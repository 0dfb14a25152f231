//! A learner on features that a map makes of the row: with a map φ such that ⟨φ(x), φ(x')⟩ is
//! near K(x, x'), any linear learner becomes a kernel learner whose cost a round does not grow.
//!
//! The learner inside sees the features 1, 2, … that the map makes, and, if it is asked for, the
//! bias at index 0 (its kernel is K + 1 then). The comparators of its theorem are linear in those
//! features: their functions of x depend on what the map has drawn or seen, so that it says nothing
//! of a class that could be named beforehand, and there is no guarantee of its own. What a mixture
//! promises against its experts is promised here too.

use crate::archive::Archive;
use crate::guarantee::{Guarantee, GuaranteeKind};
use crate::protocol::{ParameterDescriptor, Params};
use crate::{Error, Features, Learner, MixtureReport, Prediction, SharedLoss};

/// Makes features.
pub trait KernelMap: Send + Sync {
    /// Adds the features of a row to those that are there.
    fn append(&self, x: Features<'_>, features: &mut Vec<f32>);

    /// Takes in a row that is learnt from, after its features were made. It may make the map
    /// larger, but a feature that a learner has seen keeps its meaning.
    fn observe(&mut self, _x: Features<'_>) {}

    /// Name and parameters, without those of the learner inside.
    fn describe(&self) -> String;

    /// Saves or loads what is needed to continue to the bit, if it learns anything.
    ///
    /// # Errors
    /// When something is missing or does not match.
    fn persist(&mut self, _archive: &mut Archive) -> Result<(), Error> {
        Ok(())
    }
}

/// A learner behind a feature map.
pub struct MappedLearner<M> {
    map: M,
    has_bias: bool,
    learner: Box<dyn Learner>,
}

impl<M: KernelMap> MappedLearner<M> {
    /// Puts a map before a learner, with a bias beside its features or not.
    pub fn new(map: M, has_bias: bool, learner: Box<dyn Learner>) -> Self {
        Self { map, has_bias, learner }
    }

    /// What the parameters [`BIAS`] and `learner` ask for, behind this map.
    pub(super) fn asked(map: M, arguments: &Params<'_>) -> Result<Box<dyn Learner>, Error>
    where
        M: 'static,
    {
        let [specification] = &arguments.specifications("learner")?[..] else {
            let given = arguments.text("learner");
            return Err(Error::parameter(format!(
                "learner is '{given}': it is one learner, such as auto or (ogd:radius=5)"
            )));
        };
        Ok(Box::new(Self::new(map, arguments.flag("bias")?, arguments.build(specification)?)))
    }

    /// The indices and values that the learner inside sees.
    fn features(&self, x: Features<'_>) -> (Vec<u32>, Vec<f32>) {
        let mut values = Vec::new();
        if self.has_bias {
            values.push(1.0);
        }
        self.map.append(x, &mut values);
        let first = u32::from(!self.has_bias);
        ((first..).take(values.len()).collect(), values)
    }
}

/// Calls with the features: indices are distinct and values finite, as the map makes them.
fn with<R>(
    x: Features<'_>,
    (indices, values): &(Vec<u32>, Vec<f32>),
    call: impl FnOnce(Features<'_>) -> R,
) -> Option<R> {
    let mapped = Features::new(indices, values).and_then(|mapped| mapped.with_offset(x.offset()));
    mapped.ok().map(call)
}

impl<M: KernelMap> Learner for MappedLearner<M> {
    fn predict(&self, x: Features<'_>) -> Prediction {
        let prediction = with(x, &self.features(x), |mapped| self.learner.predict(mapped));
        prediction.unwrap_or_else(|| Prediction::new(x.offset()))
    }

    fn learn(&mut self, x: Features<'_>, label: f64, weight: f64) -> Prediction {
        if weight == 0.0 {
            return self.predict(x);
        }
        let features = self.features(x);
        self.map.observe(x);
        let prediction = with(x, &features, |mapped| self.learner.learn(mapped, label, weight));
        prediction.unwrap_or_else(|| Prediction::new(x.offset()))
    }

    fn charged_loss(&self) -> SharedLoss {
        self.learner.charged_loss()
    }

    fn describe(&self) -> String {
        format!("{},bias={},learner=({})", self.map.describe(), self.has_bias, self.learner.describe())
    }

    fn weight(&self, _index: u32) -> Option<f64> {
        None
    }

    fn guarantee(&self) -> Guarantee {
        let inner = self.learner.guarantee();
        match inner.kind {
            GuaranteeKind::Mixture => inner,
            _ => Guarantee::none(GuaranteeKind::Own, REASON),
        }
    }

    fn mixture(&self) -> Option<MixtureReport> {
        self.learner.mixture()
    }

    fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        archive.part("map", |archive| self.map.persist(archive))?;
        archive.part("learner", |archive| self.learner.persist(archive))
    }
}

/// Why a learner behind a map has no guarantee of its own.
pub(super) const REASON: &str = "its theorem is about functions of the features that the map makes, no class that could \
                                 be named beforehand";

pub(super) const BIAS: ParameterDescriptor = ParameterDescriptor {
    name: "bias",
    default: "true",
    meaning: "true or false: a feature of value 1 beside those made",
};

pub(super) const LEARNER: ParameterDescriptor = ParameterDescriptor {
    name: "learner",
    default: "ogd",
    meaning: "any learner for the features, with its parameters in parentheses: auto, (ogd:radius=5)",
};
