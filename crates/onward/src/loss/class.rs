//! Losses of several scores, one per class; and what a task is charged by.

use std::fmt::Debug;
use std::sync::Arc;

use super::softmax::{log_sum_exp, position_of_largest};
use super::{SharedLoss, Task};
use crate::{Error, ErrorKind};

/// Classes have numbers below this: a row has a score for each class.
pub const MAX_CLASSES: usize = 1 << 17;

/// A loss of several scores that is shared between a learner and the ledger that charges it.
pub type SharedClassLoss = Arc<dyn ClassLoss>;

/// A loss ℓ(p, y) of a vector p of scores, one per class, and the number y of the class that is true. A class without
/// a score of its own may have −∞, as long as one score is finite.
pub trait ClassLoss: Debug + Send + Sync {
    /// The name, with parameters.
    fn name(&self) -> String;

    /// ℓ(p, y) ≥ 0; +∞ if the class has the score −∞.
    ///
    /// # Panics
    /// When the class has no score.
    fn value(&self, scores: &[f64], class: usize) -> f64;

    /// Writes ∂ℓ/∂p, or a subgradient.
    ///
    /// # Panics
    /// When the class has no score, or the gradient is not as long as the scores.
    fn gradient(&self, scores: &[f64], class: usize, gradient: &mut [f64]);

    /// Writes u such that scores p + q·u are those that gradient flow, dp/ds = −q·∂ℓ/∂p, leads to in this time;
    /// −time·∂ℓ/∂p in the limit q → 0. The importance-aware step, as [`Loss::importance_step`](super::Loss::importance_step) is for one score.
    ///
    /// # Panics
    /// As [`gradient`](Self::gradient).
    fn importance_step(&self, scores: &[f64], class: usize, time: f64, q: f64, u: &mut [f64]);

    /// Writes the probabilities of the classes, for losses whose scores stand for some.
    ///
    /// # Panics
    /// When there are not as many of both.
    fn probabilities(&self, scores: &[f64], probabilities: &mut [f64]);

    /// Whether scores stand for probabilities, of which this is the log loss.
    fn is_log_loss(&self) -> bool;
}

/// The loss that the predictions of a learner are charged by.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum TaskLoss {
    /// Of one score and a label.
    Score(SharedLoss),
    /// Of a score per class and the number of a class.
    Classes(SharedClassLoss),
}

impl TaskLoss {
    /// The name of the loss, with parameters.
    pub fn name(&self) -> String {
        match self {
            Self::Score(loss) => loss.name(),
            Self::Classes(loss) => loss.name(),
        }
    }

    /// What the labels are.
    pub fn task(&self) -> Task {
        match self {
            Self::Score(loss) => loss.task(),
            Self::Classes(_) => Task::Classes,
        }
    }

    /// The loss, if it is one of a single score.
    pub fn score(&self) -> Option<&SharedLoss> {
        match self {
            Self::Score(loss) => Some(loss),
            Self::Classes(_) => None,
        }
    }

    /// The loss, if it is one of a score per class.
    pub fn classes(&self) -> Option<&SharedClassLoss> {
        match self {
            Self::Score(_) => None,
            Self::Classes(loss) => Some(loss),
        }
    }

    /// The prediction that scores stand for: the one score, or the number of the class with the largest (the first
    /// of equal ones; 0 without scores).
    pub fn prediction(&self, scores: &[f64]) -> f64 {
        match self {
            Self::Score(_) => scores.first().copied().unwrap_or(0.0),
            Self::Classes(_) if scores.is_empty() => 0.0,
            Self::Classes(_) => position_of_largest(scores) as f64,
        }
    }

    /// A prediction on the scale that people read: of one score a probability, a rate or the score itself; a class
    /// stays a class.
    pub fn response(&self, prediction: f64) -> f64 {
        self.score().map_or(prediction, |loss| loss.inverse_link().response(prediction))
    }

    /// What the scores of a row pay for a label.
    ///
    /// # Panics
    /// When the label is no class that has a score.
    pub fn value(&self, scores: &[f64], label: f64) -> f64 {
        match self {
            Self::Score(loss) => loss.value(scores[0], label),
            Self::Classes(loss) => {
                let class = label as usize;
                let count = scores.len();
                assert!(
                    class < count && class as f64 == label,
                    "label {label} is not a class with one of {count} scores"
                );
                loss.value(scores, class)
            }
        }
    }

    /// The score that a class gets in the row where it is met first, beside the scores of the other classes, after `rows`
    /// rows: with it the class has the probability 1/(rows + 1), and the others keep their proportions. `None` before the
    /// first row, and where scores do not stand for probabilities.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use onward::loss::{SharedClassLoss, Softmax, TaskLoss};
    /// let loss = TaskLoss::Classes(Arc::new(Softmax) as SharedClassLoss);
    /// let scores = [0.3, -1.2];
    /// let new = loss.score_of_new_class(&scores, 9).unwrap();
    /// assert!((loss.value(&[0.3, -1.2, new], 2.0) - 10f64.ln()).abs() < 1e-14);
    /// ```
    pub fn score_of_new_class(&self, scores: &[f64], rows: u64) -> Option<f64> {
        let Self::Classes(loss) = self else { return None };
        let others = scores.iter().copied().filter(|score| score.is_finite()).reduce(log_sum_exp)?;
        (loss.is_log_loss() && rows > 0).then(|| others - libm::log(rows as f64))
    }

    /// Whether the loss takes this label.
    ///
    /// # Errors
    /// Names what labels the loss takes.
    pub fn check_label(&self, label: f64) -> Result<(), Error> {
        match self {
            Self::Score(loss) => loss.check_label(label),
            Self::Classes(_) if (0.0..MAX_CLASSES as f64).contains(&label) && label.fract() == 0.0 => Ok(()),
            Self::Classes(loss) => {
                let (name, last) = (loss.name(), MAX_CLASSES - 1);
                let message =
                    format!("the label of the {name} loss must be a whole number from 0 to {last}; got {label}");
                Err(Error::new(ErrorKind::Label, message))
            }
        }
    }
}

impl From<&Self> for TaskLoss {
    fn from(loss: &Self) -> Self {
        loss.clone()
    }
}

impl From<&SharedLoss> for TaskLoss {
    fn from(loss: &SharedLoss) -> Self {
        Self::Score(SharedLoss::clone(loss))
    }
}

impl From<SharedLoss> for TaskLoss {
    fn from(loss: SharedLoss) -> Self {
        Self::Score(loss)
    }
}

impl From<SharedClassLoss> for TaskLoss {
    fn from(loss: SharedClassLoss) -> Self {
        Self::Classes(loss)
    }
}
