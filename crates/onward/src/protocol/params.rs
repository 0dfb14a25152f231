//! What a learner is built from.

use std::ops::Deref;

use super::{LearnerDescriptor, LearnerSpec};
use crate::loss::{SharedClassLoss, TaskLoss};
use crate::parameter::{GivenParameters, split_outside};
use crate::{Error, SharedLoss};

/// The loss and the parameters, given or by default, that a learner is built from.
pub struct Params<'a> {
    pub(super) given: GivenParameters,
    pub(super) loss: &'a TaskLoss,
    /// What learners inside of this one may be.
    pub(super) learners: &'static [&'static LearnerDescriptor],
    /// Whether a saved model says them, those of the learners inside included.
    pub(super) is_saved: bool,
    /// The radius of the run.
    pub(super) radius: Option<f64>,
    /// How many learners this one is inside of.
    pub(super) depth: usize,
}

/// How many learners a learner may be inside of.
const DEEPEST: usize = 3;

impl Deref for Params<'_> {
    type Target = GivenParameters;

    fn deref(&self) -> &GivenParameters {
        &self.given
    }
}

impl Params<'_> {
    /// The loss of one score.
    ///
    /// # Panics
    /// For learners that are registered for [`Losses::Classes`](super::Losses::Classes).
    pub fn loss(&self) -> SharedLoss {
        let loss = self.loss.score();
        SharedLoss::clone(loss.expect("learners registered for losses of one score are built with one"))
    }

    /// The loss of a score per class.
    ///
    /// # Panics
    /// For learners that are not registered for [`Losses::Classes`](super::Losses::Classes).
    pub fn class_loss(&self) -> SharedClassLoss {
        let loss = self.loss.classes();
        SharedClassLoss::clone(loss.expect("learners registered for losses of classes are built with one"))
    }

    /// Learners joined by `+`, each with its parameters in parentheses if it has any:
    /// `nag+(ogd:radius=2,eta=1)+auto`.
    ///
    /// # Errors
    /// When one of them is no learner.
    pub fn specifications(&self, key: &str) -> Result<Vec<LearnerSpec>, Error> {
        let parts = split_outside(self.text(key), '+').unwrap_or_default().into_iter();
        parts
            .map(|part| {
                let part = part.strip_prefix('(').and_then(|part| part.strip_suffix(')')).unwrap_or(part);
                let parse = if self.is_saved { LearnerSpec::parse_saved } else { LearnerSpec::parse_among };
                parse(part, self.learners)
            })
            .collect()
    }

    /// Builds another learner for the same loss, `--radius` included.
    ///
    /// # Errors
    /// As [`LearnerSpec::build`], and when learners are more than three inside of each other.
    pub fn build(&self, specification: &LearnerSpec) -> Result<Box<dyn crate::Learner>, Error> {
        if self.depth == DEEPEST {
            return Err(Error::parameter(format!(
                "learners can be nested at most {DEEPEST} deep; '{}' is deeper",
                specification.name()
            )));
        }
        let named = |error: Error| Error::parameter(format!("{specification} within {}: {error}", self.owner()));
        specification.build_with(self.loss, self.radius, self.depth + 1).map_err(named)
    }
}
