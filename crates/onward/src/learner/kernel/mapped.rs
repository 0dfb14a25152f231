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
use crate::loss::TaskLoss;
use crate::parameter::{Description, ParameterDescriptor, flag, learner};
use crate::protocol::Params;
use crate::{Batch, Error, Example, Features, INDEX_LIMIT, Learner, MixtureReport, Predictor, Rows};

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
        let learner = arguments.build(&arguments.specifications("learner")?[0])?;
        Ok(Box::new(Self::new(map, arguments.flag("bias"), learner)))
    }
}

/// How many rows have their features made before they are learnt from.
const TOGETHER: usize = 64;

/// Makes the features of rows by `make`, which adds those of a row, and hands out rows that have them instead, some at
/// a time with their scores. A row with a feature that is not finite is left out: its scores are what they start from.
fn in_batches(
    rows: Rows<'_>,
    outputs: usize,
    scores: &mut [f64],
    has_bias: bool,
    mut make: impl FnMut(&Example<'_>, &mut Vec<f32>),
    mut call: impl FnMut(Rows<'_>, &mut [f64]),
) {
    rows.check_scores(outputs, scores);
    let first = u32::from(!has_bias);
    let (mut batch, mut indices, mut values) = (Batch::default(), Vec::new(), Vec::new());
    let mut start = 0;
    for (row, example) in rows.iter().enumerate() {
        values.clear();
        if has_bias {
            values.push(1.0);
        }
        make(&example, &mut values);
        indices.extend((first..).skip(indices.len()).take(values.len().saturating_sub(indices.len())));
        let is_finite = batch.extend_ascending(&indices[..values.len()], &values, INDEX_LIMIT - 1);
        if is_finite {
            batch.set_offset(example.features.offset());
            batch.finish(example.label, example.weight);
        } else {
            scores[row * outputs..][..outputs].fill(example.features.offset());
        }
        if !is_finite || batch.len() == TOGETHER || row + 1 == rows.len() {
            call(batch.rows(..), &mut scores[start * outputs..][..batch.len() * outputs]);
            batch.clear();
            start = row + 1;
        }
    }
}

impl<M: KernelMap> Predictor for MappedLearner<M> {
    fn outputs(&self) -> usize {
        self.learner.outputs()
    }

    fn predict(&self, rows: Rows<'_>, scores: &mut [f64]) {
        let Self { map, has_bias, learner } = self;
        let make = |example: &Example<'_>, values: &mut Vec<f32>| map.append(example.features, values);
        in_batches(rows, learner.outputs(), scores, *has_bias, make, |rows, scores| learner.predict(rows, scores));
    }
}

impl<M: KernelMap> Learner for MappedLearner<M> {
    fn learn(&mut self, rows: Rows<'_>, scores: &mut [f64]) {
        let Self { map, has_bias, learner } = self;
        let make = |example: &Example<'_>, values: &mut Vec<f32>| {
            map.append(example.features, values);
            if example.label_to_learn().is_some() {
                map.observe(example.features);
            }
        };
        in_batches(rows, learner.outputs(), scores, *has_bias, make, |rows, scores| learner.learn(rows, scores));
    }

    fn loss(&self) -> TaskLoss {
        self.learner.loss()
    }

    fn describe(&self) -> String {
        let inner = format!("({})", self.learner.describe());
        Description::of(self.map.describe()).with(&BIAS, self.has_bias).with(&LEARNER, inner).into()
    }

    fn guarantee(&self) -> Guarantee {
        let inner = self.learner.guarantee();
        match inner.kind {
            GuaranteeKind::Mixture => inner,
            _ => Guarantee::none(GuaranteeKind::Own, REASON),
        }
    }

    fn set_classes(&mut self, classes: usize) {
        self.learner.set_classes(classes);
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
pub(super) const REASON: &str = "its theorem covers functions of the mapped features, which cannot be named in advance";

/// Why there may be none against the experts of a mixture inside either, such as `auto`.
pub(super) const REASONS: &[&str] = &[REASON, "squared losses are mixed by a rule that has no bound"];

pub(super) const BIAS: ParameterDescriptor =
    flag("bias").default("true").meaning("add a feature whose value is always 1");

pub(super) const LEARNER: ParameterDescriptor = learner("learner")
    .default("auto")
    .meaning("the learner that gets these features; its parameters go in parentheses");
