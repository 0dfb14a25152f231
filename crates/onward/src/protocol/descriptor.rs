//! What is registered of a learner.

use std::fmt;

use super::{Learner, Params, ProblemBounds, Promise};
use crate::guarantee::Guarantee;
use crate::loss::{Curvature, LossKind, Task, TaskLoss};
use crate::nearest::unknown;
use crate::parameter::{ParameterDescriptor, flag, within};
use crate::{Error, Loss};

/// A learner that can be asked for by name.
pub struct LearnerDescriptor {
    /// The name on the command line.
    pub name: &'static str,
    /// What it is, in a line.
    pub summary: &'static str,
    /// The losses it takes.
    pub losses: Losses,
    /// Its parameters.
    pub parameters: &'static [ParameterDescriptor],
    /// What it promises, which the tests hold it to: first with the defaults, then in its other forms.
    pub promises: &'static [Promise],
    /// Builds it.
    pub build: fn(&Params<'_>) -> Result<Box<dyn Learner>, Error>,
    /// What its theorem promises of a stream of such scales, before a run: its own guarantee, or
    /// the reason why there is none.
    pub plan: fn(&Params<'_>, &ProblemBounds) -> Result<Guarantee, Error>,
}

/// Which losses a learner takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Losses {
    /// Every loss with a slope: all but 0/1.
    Convex,
    /// Those of these kinds; the first that fits the task is the default.
    Only(&'static [LossKind]),
    /// Those of a score per class; the default is softmax.
    Classes,
}

pub(crate) const STANDARDISE: ParameterDescriptor =
    flag("standardise").meaning("centre and scale features by their running mean and deviation").quiet();

pub(crate) const COMPARATOR_RADIUS: ParameterDescriptor = within("radius", 0.0, f64::INFINITY)
    .default("1")
    .meaning("norm of the comparators in the guarantee; the radius of the run replaces this default");

/// Two entries of the same name are the same learner.
impl PartialEq for LearnerDescriptor {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for LearnerDescriptor {}

impl fmt::Debug for LearnerDescriptor {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "LearnerDescriptor({})", self.name)
    }
}

impl LearnerDescriptor {
    /// The entry of a name.
    ///
    /// # Errors
    /// When there is none: names the nearest, and all.
    pub(super) fn find(name: &str, learners: &[&'static Self]) -> Result<&'static Self, Error> {
        learners.iter().copied().find(|entry| entry.name == name).ok_or_else(|| {
            Error::parameter(unknown("learner", "learners", name, learners.iter().map(|entry| entry.name)))
        })
    }

    /// Refuses a loss that the learner cannot take, with those that it can.
    pub(super) fn check_task_loss(&self, loss: &TaskLoss) -> Result<(), Error> {
        match (loss, self.losses) {
            (TaskLoss::Classes(_), Losses::Classes) => Ok(()),
            (TaskLoss::Classes(loss), _) => Err(self.has_one_score(&loss.name())),
            (TaskLoss::Score(loss), _) => self.check_loss(loss.as_ref()),
        }
    }

    /// The same for a loss of one score.
    pub(crate) fn check_loss(&self, loss: &dyn Loss) -> Result<(), Error> {
        let (asked, name) = (loss.name(), self.name);
        match self.losses {
            Losses::Classes => Err(Error::parameter(format!(
                "{name} gives a score per class; the {asked} loss takes one score per row"
            ))),
            Losses::Convex if loss.curvature() == Curvature::None => Err(Error::parameter(format!(
                "the loss of {name} must have a slope, and {asked} has none; use hinge or logistic, or the learner \
                 perceptron"
            ))),
            Losses::Only([LossKind::ZeroOne]) if loss.kind() != LossKind::ZeroOne => {
                Err(Error::parameter(format!("the {name} counts mistakes, so its loss must be zero-one; got {asked}")))
            }
            Losses::Only(kinds) if !kinds.contains(&loss.kind()) => {
                let names: Vec<&str> = kinds.iter().filter_map(|kind| Some(kind.named()?.name)).collect();
                Err(Error::parameter(format!("the loss of {name} must be {}; got {asked}", names.join(" or "))))
            }
            _ => Ok(()),
        }
    }

    fn has_one_score(&self, loss: &str) -> Error {
        Error::parameter(format!("{} gives one score per row; the {loss} loss needs a score per class", self.name))
    }

    /// The loss that the learner is charged by when none is asked for; an error where it takes
    /// none of this task.
    pub(crate) fn default_loss(&self, task: Task) -> Result<&'static str, Error> {
        match (self.losses, task) {
            (Losses::Convex, Task::Binary) => Ok("logistic"),
            (Losses::Convex, Task::Regression) => Ok("squared"),
            (Losses::Classes, Task::Classes) => Ok("softmax"),
            (Losses::Classes, _) => {
                let message = format!("{} predicts classes; the target has two classes or is a number", self.name);
                Err(Error::parameter(message))
            }
            (_, Task::Classes) => Err(self.has_one_score("softmax")),
            (Losses::Only(kinds), task) => {
                let mut named = kinds.iter().filter_map(|kind| kind.named());
                let fits = named.clone().find(|entry| entry.default_loss().task() == task);
                // Losses of numbers take the labels -1 and 1 too.
                let of_numbers = if task == Task::Binary { named.next() } else { None };
                fits.or(of_numbers).map(|loss| loss.name).ok_or_else(|| {
                    Error::parameter(format!(
                        "{} needs two classes, and the target is a number; make two classes of it, as in COLUMN>0, or use \
                         another learner",
                        self.name
                    ))
                })
            }
        }
    }
}
