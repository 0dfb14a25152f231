//! What the labels alone tell: the baselines that go by them, and their order. The ledger keeps it beside what the learner
//! pays.

use crate::archive::Archive;
use crate::evaluation::online_mean::OnlineMean;
use crate::evaluation::sign_transitions::SignTransitions;
use crate::evaluation::{
    BestConstant, LabelOrder, LabelRuns, NoChange, NoChangeOfClass, OnlineConstant, OnlineFrequencies,
};
use crate::loss::{Curvature, LossKind, Task, TaskLoss};
use crate::{Error, SharedLoss};

/// The baselines and the runs of labels.
#[derive(Debug, Clone)]
pub(super) enum LabelAccount {
    /// With the logistic loss, as long as labels can be counted.
    Signs(SharedLoss, SignTransitions),
    Score {
        constant: OnlineConstant,
        same: NoChange,
        runs: LabelRuns,
        /// Of numbers whose loss is not quadratic: then the online constant is not their mean.
        mean: Option<OnlineMean>,
    },
    Classes {
        frequencies: OnlineFrequencies,
        same: NoChangeOfClass,
        runs: LabelRuns,
        has_log_loss: bool,
    },
}

impl LabelAccount {
    pub(super) fn new(loss: &TaskLoss) -> Self {
        match loss {
            TaskLoss::Score(loss) if loss.kind() == LossKind::Logistic => {
                Self::Signs(SharedLoss::clone(loss), SignTransitions::default())
            }
            TaskLoss::Score(loss) => Self::of_scores(loss),
            TaskLoss::Classes(loss) => Self::Classes {
                frequencies: OnlineFrequencies::default(),
                same: NoChangeOfClass::default(),
                runs: LabelRuns::of_classes(),
                has_log_loss: loss.is_log_loss(),
            },
        }
    }

    fn of_scores(loss: &SharedLoss) -> Self {
        let has_numbers = loss.task() == Task::Regression;
        let has_mean = has_numbers && !matches!(loss.curvature(), Curvature::Quadratic(_));
        Self::Score {
            constant: OnlineConstant::new(SharedLoss::clone(loss)),
            same: NoChange::new(SharedLoss::clone(loss)),
            runs: if has_numbers { LabelRuns::of_numbers() } else { LabelRuns::of_classes() },
            mean: has_mean.then(|| OnlineMean::starting_at(loss.inverse_link().response(0.0))),
        }
    }

    /// Takes in the label of a round of importance > 0. `past` knows the labels before it.
    #[inline]
    pub(super) fn observe(&mut self, label: f64, weight: f64, past: &BestConstant) {
        if let Self::Signs(_, signs) = self {
            if SignTransitions::takes(label, weight) {
                return signs.observe(label);
            }
            self.expand();
        }
        if let Self::Score { constant, same, runs, mean } = self {
            constant.observe(label, weight, past);
            same.observe(label, weight);
            runs.observe(label);
            if let Some(mean) = mean {
                mean.observe(label, weight);
            }
        }
    }

    /// Takes in the class of a round of importance > 0.
    pub(super) fn observe_class(&mut self, class: usize, weight: f64) {
        if let Self::Classes { frequencies, same, runs, .. } = self {
            same.observe(class, weight, frequencies);
            frequencies.observe(class, weight);
            runs.observe_class(class);
        }
    }

    /// Goes on where labels cannot be counted.
    #[cold]
    fn expand(&mut self) {
        if let Self::Signs(loss, signs) = self {
            let (constant, same) = signs.baselines(loss);
            *self = Self::Score { constant, same, runs: signs.runs(), mean: None };
        }
    }

    /// The best constant of the labels so far, after each round that is a power of two.
    pub(super) fn predict(&mut self, score: f64) {
        if let Self::Score { constant, .. } = self {
            constant.predict(score);
        }
    }

    /// Σ h·ℓ of the online constant; `None` for classes whose scores stand for no probabilities.
    pub(super) fn online_constant(&self) -> Option<f64> {
        match self {
            Self::Signs(_, signs) => Some(signs.online_constant()),
            Self::Score { constant, .. } => Some(constant.paid()),
            Self::Classes { frequencies, has_log_loss, .. } => has_log_loss.then(|| frequencies.paid()),
        }
    }

    /// Σ h·ℓ of the no-change baseline; `None` as for the online constant.
    pub(super) fn no_change(&self) -> Option<f64> {
        match self {
            Self::Signs(_, signs) => Some(signs.no_change()),
            Self::Score { same, .. } => Some(same.paid()),
            Self::Classes { same, has_log_loss, .. } => has_log_loss.then(|| same.paid()),
        }
    }

    /// Σ h·(ȳ − y)², each ȳ the mean of the labels before; `None` for classes.
    pub(super) fn squares_of_mean(&self) -> Option<f64> {
        match self {
            Self::Score { mean: Some(mean), .. } => Some(mean.squares()),
            Self::Score { constant, .. } => constant.squares_of_mean(),
            Self::Signs(..) | Self::Classes { .. } => None,
        }
    }

    /// Σ h of the rounds in which the last label was the right class; `None` for numbers.
    pub(super) fn right(&self) -> Option<f64> {
        match self {
            Self::Signs(_, signs) => Some(signs.right()),
            Self::Score { same, .. } => same.right(),
            Self::Classes { same, .. } => Some(same.right()),
        }
    }

    pub(super) fn order(&self) -> Option<LabelOrder> {
        match self {
            Self::Signs(_, signs) => signs.runs().order(),
            Self::Score { runs, .. } | Self::Classes { runs, .. } => runs.order(),
        }
    }

    pub(super) fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        // Written only where labels are counted.
        let mut is_counted = matches!(self, Self::Signs(..)).then_some(1.0);
        archive.optional("is_counted", &mut is_counted)?;
        if is_counted.is_none() {
            self.expand();
        }
        match self {
            Self::Signs(_, signs) => archive.part("signs", |archive| signs.persist(archive)),
            Self::Score { constant, same, runs, mean } => {
                if let Some(mean) = mean {
                    archive.part("online_mean", |archive| mean.persist(archive))?;
                }
                archive.part("online_constant", |archive| constant.persist(archive))?;
                archive.part("no_change", |archive| same.persist(archive))?;
                archive.part("runs", |archive| runs.persist(archive))
            }
            Self::Classes { frequencies, same, runs, .. } => {
                archive.part("online_frequencies", |archive| frequencies.persist(archive))?;
                archive.part("no_change", |archive| same.persist(archive))?;
                archive.part("runs", |archive| runs.persist(archive))
            }
        }
    }
}
