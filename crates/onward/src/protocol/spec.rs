//! A learner's name with parameters, as a person writes it.

use std::collections::BTreeMap;
use std::fmt;

use super::{LearnerDescriptor, Losses, Params, ProblemBounds};
use crate::guarantee::{Guarantee, GuaranteeKind};
use crate::loss::{LossKind, Task};
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

/// The parts of `rest` between commas outside parentheses, without empty ones.
fn pairs<'a>(text: &str, rest: &'a str) -> Result<Vec<&'a str>, Error> {
    let (mut depth, mut from, mut parts) = (0usize, 0, Vec::new());
    let unbalanced = || Error::parameter(format!("the parentheses in '{text}' do not match"));
    for (at, symbol) in rest.char_indices() {
        match symbol {
            '(' => depth += 1,
            ')' => depth = depth.checked_sub(1).ok_or_else(unbalanced)?,
            ',' if depth == 0 => {
                parts.push(&rest[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    if depth > 0 {
        return Err(unbalanced());
    }
    parts.push(&rest[from..]);
    Ok(parts.into_iter().filter(|part| !part.trim().is_empty()).collect())
}

impl LearnerSpec {
    /// The specification that a text is, of one of these learners.
    ///
    /// # Errors
    /// When the learner or a parameter is unknown, or the text cannot be read.
    pub fn parse_among(text: &str, learners: &'static [&'static LearnerDescriptor]) -> Result<Self, Error> {
        let (name, rest) = text.split_once(':').unwrap_or((text, ""));
        let entry = LearnerDescriptor::find(name, learners)?;
        let mut given = BTreeMap::new();
        for pair in pairs(text, rest)? {
            let (key, value) = pair.split_once('=').ok_or_else(|| {
                Error::parameter(format!("'{pair}' in '{text}' should read key=value, such as {}", entry.example()))
            })?;
            let (key, value) = (key.trim(), value.trim());
            if !entry.parameters.iter().any(|parameter| parameter.name == key) {
                return Err(entry.unknown_parameter(key));
            }
            if given.insert(key.to_owned(), value.to_owned()).is_some() {
                return Err(Error::parameter(format!("'{text}' gives {key} twice")));
            }
        }
        Ok(Self { entry, given, learners })
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
            _ => None,
        }
    }

    /// Builds the learner for a loss. `radius` is used where the learner has a radius and
    /// none is given among its parameters.
    ///
    /// # Errors
    /// When a parameter is out of range, or the learner cannot take the loss.
    pub fn build(&self, loss: &SharedLoss, radius: Option<f64>) -> Result<Box<dyn Learner>, Error> {
        self.build_with(loss, radius.map(|radius| radius.to_string()).as_deref(), 0)
    }

    pub(super) fn build_with(
        &self,
        loss: &SharedLoss,
        radius: Option<&str>,
        depth: usize,
    ) -> Result<Box<dyn Learner>, Error> {
        self.entry.check_loss(loss.as_ref())?;
        let arguments = self.arguments(loss, radius, depth);
        let learner = (self.entry.build)(&arguments)?;
        self.refuse_idle(&arguments, learner.as_ref())?;
        if arguments.flag("standardise")? { Ok(Box::new(Standardised::new(learner))) } else { Ok(learner) }
    }

    fn arguments<'a>(&'a self, loss: &'a SharedLoss, radius: Option<&'a str>, depth: usize) -> Params<'a> {
        Params { entry: self.entry, given: &self.given, loss, learners: self.learners, radius, depth }
    }

    /// Refuses a parameter that changes nothing beside the others: without it the learner describes
    /// itself as with it. What the learner says of itself, a default that is spelled out, and the
    /// radius, which may come from elsewhere too, are let pass.
    fn refuse_idle(&self, arguments: &Params<'_>, built: &dyn Learner) -> Result<(), Error> {
        let described = built.describe();
        for parameter in self.entry.parameters {
            let Some(given) = self.given.get(parameter.name) else { continue };
            let is_number = |text: &str| text.parse::<f64>().ok();
            let is_default = given == parameter.default
                || is_number(given).is_some_and(|given| Some(given) == is_number(parameter.default));
            let is_said = described.contains(&format!("{}={given}", parameter.name));
            if is_default || is_said || matches!(parameter.name, "radius" | "standardise") {
                continue;
            }
            let mut without = self.given.clone();
            without.remove(parameter.name);
            let bare = (self.entry.build)(&Params { given: &without, ..*arguments });
            if bare.is_ok_and(|bare| bare.describe() == described) {
                return Err(Error::parameter(format!(
                    "{} of {} changes nothing here ({}): leave it out",
                    parameter.name, self.entry.name, parameter.meaning
                )));
            }
        }
        Ok(())
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
        let radius = radius.map(|radius| radius.to_string());
        let arguments = self.arguments(loss, radius.as_deref(), 0);
        if arguments.flag("standardise")? {
            let reason = "on standardised features the theorem of the learner does not hold for the raw ones";
            return Ok(Guarantee::none(GuaranteeKind::Own, reason));
        }
        (self.entry.plan)(&arguments, scales)
    }
}
