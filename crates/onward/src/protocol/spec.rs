//! A learner's name with parameters, as a person writes it.

use std::collections::BTreeMap;
use std::fmt;

use super::{LearnerDescriptor, Losses, Params, ProblemBounds, STANDARDISE};
use crate::guarantee::{Guarantee, GuaranteeKind};
use crate::loss::{LossKind, Task, TaskLoss};
use crate::parameter::GivenParameters;
use crate::protocol::Standardised;
use crate::{Error, Learner, SharedLoss};

/// A learner's name with parameters, as `--learner` takes it. Parameters are separated by
/// commas; what stands in parentheses is one value.
///
/// ```
/// use onward::protocol::LearnerSpec;
/// let specification: LearnerSpec = "nag:eta=1,standardise=true".parse()?;
/// assert_eq!(specification.to_string(), "nag:eta=1,standardise=true");
/// assert!("nag:rate=1".parse::<LearnerSpec>().is_err());
/// # Ok::<(), onward::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LearnerSpec {
    entry: &'static LearnerDescriptor,
    given: BTreeMap<String, String>,
    /// Among which it was looked for: learners inside of it are too.
    learners: &'static [&'static LearnerDescriptor],
    /// Whether a saved model says it, which may be older than some parameters.
    is_saved: bool,
}

impl fmt::Display for LearnerSpec {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.entry.name)?;
        for (at, (key, value)) in self.given.iter().enumerate() {
            write!(out, "{}{key}={value}", if at == 0 { ':' } else { ',' })?;
        }
        Ok(())
    }
}

impl LearnerSpec {
    /// The specification that a text is, of one of these learners.
    ///
    /// # Errors
    /// When the learner or a parameter is unknown, or the text cannot be read.
    pub fn parse_among(text: &str, learners: &'static [&'static LearnerDescriptor]) -> Result<Self, Error> {
        let (name, rest) = text.split_once(':').unwrap_or((text, ""));
        let entry = LearnerDescriptor::find(name, learners)?;
        let given = GivenParameters::read(entry.name, entry.parameters, rest)?;
        Ok(Self { entry, given, learners, is_saved: false })
    }

    /// The specification of a saved model. Where it does not say a parameter that is younger than some models, it means
    /// what those did before the parameter existed; so do the learners inside of it.
    ///
    /// # Errors
    /// As [`parse_among`](Self::parse_among).
    ///
    /// ```
    /// use onward::{LearnerSpec, loss, registry::LEARNERS};
    /// let squared = loss::parse("squared")?;
    /// let old = LearnerSpec::parse_saved("ogd:eta=1,radius=10", LEARNERS)?.build(&squared, None)?;
    /// assert_eq!(old.describe(), "ogd:eta=1,radius=10,step=flow");
    /// let new = LearnerSpec::parse_among("ogd:eta=1,radius=10", LEARNERS)?.build(&squared, None)?;
    /// assert_eq!(new.describe(), "ogd:eta=1,radius=10,step=gradient");
    /// # Ok::<(), onward::Error>(())
    /// ```
    pub fn parse_saved(text: &str, learners: &'static [&'static LearnerDescriptor]) -> Result<Self, Error> {
        Ok(Self { is_saved: true, ..Self::parse_among(text, learners)? })
    }

    /// The learner's name.
    pub fn name(&self) -> &str {
        self.entry.name
    }

    /// The loss that the learner is charged by when none is asked for.
    ///
    /// # Errors
    /// When it takes none of this task.
    pub fn default_loss(&self, task: Task) -> Result<&'static str, Error> {
        self.entry.default_loss(task)
    }

    /// Whether the learner is charged by mistakes and takes no other loss.
    pub(crate) fn is_charged_by_mistakes(&self) -> bool {
        self.entry.losses == Losses::Only(&[LossKind::ZeroOne])
    }

    /// The task, where the learner is for one alone.
    pub fn task(&self) -> Option<Task> {
        let is_for_classes =
            |kind: &LossKind| kind.named().is_some_and(|loss| loss.default_loss().task() == Task::Binary);
        match self.entry.losses {
            Losses::Only(kinds) if kinds.iter().all(is_for_classes) => Some(Task::Binary),
            Losses::Classes => Some(Task::Classes),
            _ => None,
        }
    }

    /// Builds the learner for a loss. `radius` is used where the learner has a radius and
    /// none is given among its parameters.
    ///
    /// # Errors
    /// When a parameter is out of range, or the learner cannot take the loss.
    pub fn build(&self, loss: impl Into<TaskLoss>, radius: Option<f64>) -> Result<Box<dyn Learner>, Error> {
        self.build_with(&loss.into(), radius, 0)
    }

    pub(super) fn build_with(
        &self,
        loss: &TaskLoss,
        radius: Option<f64>,
        depth: usize,
    ) -> Result<Box<dyn Learner>, Error> {
        self.entry.check_task_loss(loss)?;
        let arguments = self.arguments(loss, radius, depth)?;
        let learner = (self.entry.build)(&arguments)?;
        if self.is_standardised() { Ok(Box::new(Standardised::new(learner))) } else { Ok(learner) }
    }

    /// All parameters, checked.
    pub(crate) fn arguments<'a>(
        &self,
        loss: &'a TaskLoss,
        radius: Option<f64>,
        depth: usize,
    ) -> Result<Params<'a>, Error> {
        let mut given = self.given.clone();
        if let Some(radius) = radius.filter(|_| self.has("radius")) {
            given.entry("radius".to_owned()).or_insert_with(|| format!("{radius:?}"));
        }
        let given = GivenParameters::new(self.entry.name, self.entry.parameters, given)?;
        let (learners, is_saved) = (self.learners, self.is_saved);
        let given = if is_saved { given.of_saved() } else { given };
        Ok(Params { given, loss, learners, is_saved, radius, depth })
    }

    /// Whether the learner has a parameter of this name.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.entry.parameters.iter().any(|parameter| parameter.name == key)
    }

    /// A parameter as it was given.
    pub(crate) fn given(&self, key: &str) -> Option<&str> {
        self.given.get(key).map(String::as_str)
    }

    /// The same with this value of a parameter.
    #[must_use]
    pub(crate) fn with(mut self, key: &str, value: impl ToString) -> Self {
        self.given.insert(key.to_owned(), value.to_string());
        self
    }

    /// Whether the learner sees features standardised.
    pub fn is_standardised(&self) -> bool {
        self.given.get(STANDARDISE.name).is_some_and(|value| value == "true")
    }

    /// What makes the steps of the learner smaller: `standardise=true`, a smaller eta.
    pub fn remedies(&self) -> Vec<&'static str> {
        let standardise = (self.has(STANDARDISE.name) && !self.is_standardised()).then_some("standardise=true");
        let smaller = self.entry.parameters.iter().find_map(|parameter| parameter.remedy);
        standardise.into_iter().chain(smaller).collect()
    }

    /// What the learner's theorem promises beforehand of a stream of such scales: its own
    /// guarantee, or the reason why there is none.
    ///
    /// # Errors
    /// As [`build`](Self::build), and when the scales are no sizes.
    ///
    /// ```
    /// use onward::protocol::{LearnerSpec, ProblemBounds};
    /// let specification: LearnerSpec = "ogd:radius=1".parse()?;
    /// let scales = ProblemBounds { rounds: 1e4, label: 1.0, ..ProblemBounds::default() };
    /// // (p − y)²: G = 4, and self-tuned rates give √2·D·√(ΣG²) = √2·2·4·√T.
    /// let promise = specification.plan(&onward::loss::parse("squared")?, None, &scales)?;
    /// assert!((promise.bound.unwrap() - 2f64.sqrt() * 8.0 * 100.0).abs() < 1e-9);
    /// # Ok::<(), onward::Error>(())
    /// ```
    pub fn plan(&self, loss: &SharedLoss, radius: Option<f64>, scales: &ProblemBounds) -> Result<Guarantee, Error> {
        scales.check()?;
        self.build(loss, radius)?;
        if self.is_standardised() {
            let reason = "on standardised features the theorem of the learner does not hold for the raw ones";
            return Ok(Guarantee::none(GuaranteeKind::Own, reason));
        }
        (self.entry.plan)(&self.arguments(&loss.into(), radius, 0)?, scales)
    }
}
