//! What the labels alone tell: the baselines that go by them, and their order. The ledger keeps it beside what the learner
//! pays.

use crate::Error;
use crate::SharedLoss;
use crate::archive::Archive;
use crate::evaluation::{LabelOrder, LabelRuns, NoChange, NoChangeOfClass, OnlineConstant, OnlineFrequencies};
use crate::loss::{Task, TaskLoss};

/// The baselines and the runs of labels.
#[derive(Debug, Clone)]
pub(super) struct LabelAccount {
    baselines: OnlineBaselines,
    runs: LabelRuns,
}

#[derive(Debug, Clone)]
enum OnlineBaselines {
    Score { constant: OnlineConstant, same: NoChange },
    Classes { frequencies: OnlineFrequencies, same: NoChangeOfClass, has_log_loss: bool },
}

impl LabelAccount {
    pub(super) fn new(loss: &TaskLoss) -> Self {
        let runs = if loss.task() == Task::Regression { LabelRuns::of_numbers() } else { LabelRuns::of_classes() };
        let baselines = match loss {
            TaskLoss::Score(loss) => OnlineBaselines::Score {
                constant: OnlineConstant::new(SharedLoss::clone(loss)),
                same: NoChange::new(SharedLoss::clone(loss)),
            },
            TaskLoss::Classes(loss) => OnlineBaselines::Classes {
                frequencies: OnlineFrequencies::default(),
                same: NoChangeOfClass::default(),
                has_log_loss: loss.is_log_loss(),
            },
        };
        Self { baselines, runs }
    }

    /// Takes in the label of a round of importance > 0.
    #[inline]
    pub(super) fn observe(&mut self, label: f64, weight: f64) {
        if let OnlineBaselines::Score { constant, same } = &mut self.baselines {
            constant.observe(label, weight);
            same.observe(label, weight);
            self.runs.observe(label);
        }
    }

    /// Takes in the class of a round of importance > 0.
    pub(super) fn observe_class(&mut self, class: usize, weight: f64) {
        if let OnlineBaselines::Classes { frequencies, same, .. } = &mut self.baselines {
            same.observe(class, weight, frequencies);
            frequencies.observe(class, weight);
            self.runs.observe_class(class);
        }
    }

    /// The best constant of the labels so far, after each round that is a power of two.
    pub(super) fn predict(&mut self, score: f64) {
        if let OnlineBaselines::Score { constant, .. } = &mut self.baselines {
            constant.predict(score);
        }
    }

    /// Σ h·ℓ of the online constant; `None` for classes whose scores stand for no probabilities.
    pub(super) fn online_constant(&self) -> Option<f64> {
        match &self.baselines {
            OnlineBaselines::Score { constant, .. } => Some(constant.paid()),
            OnlineBaselines::Classes { frequencies, has_log_loss, .. } => has_log_loss.then(|| frequencies.paid()),
        }
    }

    /// Σ h·ℓ of the no-change baseline; `None` as for the online constant.
    pub(super) fn no_change(&self) -> Option<f64> {
        match &self.baselines {
            OnlineBaselines::Score { same, .. } => Some(same.paid()),
            OnlineBaselines::Classes { same, has_log_loss, .. } => has_log_loss.then(|| same.paid()),
        }
    }

    /// Σ h of the rounds in which the last label was the right class; `None` for numbers.
    pub(super) fn right(&self) -> Option<f64> {
        match &self.baselines {
            OnlineBaselines::Score { same, .. } => same.right(),
            OnlineBaselines::Classes { same, .. } => Some(same.right()),
        }
    }

    pub(super) fn order(&self) -> Option<LabelOrder> {
        self.runs.order()
    }

    pub(super) fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        match &mut self.baselines {
            OnlineBaselines::Score { constant, same } => {
                archive.part("online_constant", |archive| constant.persist(archive))?;
                archive.part("no_change", |archive| same.persist(archive))?;
            }
            OnlineBaselines::Classes { frequencies, same, .. } => {
                archive.part("online_frequencies", |archive| frequencies.persist(archive))?;
                archive.part("no_change", |archive| same.persist(archive))?;
            }
        }
        archive.part("runs", |archive| self.runs.persist(archive))
    }
}
