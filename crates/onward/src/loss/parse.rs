//! Losses by name: `logistic`, `huber:delta=1.35`.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{
    Absolute, EpsilonInsensitive, Expectile, Hinge, Huber, Logistic, ModifiedHuber, PerceptronLoss, Poisson, Quantile,
    SharedClassLoss, SharedLoss, Squared, SquaredEpsilonInsensitive, SquaredHinge, TaskLoss, ZeroOne, absolute, huber,
    softmax, squared,
};
use crate::Error;
use crate::nearest::unknown;
use crate::parameter::{GivenParameters, ParameterDescriptor};

/// A loss that can be asked for by name: of one score, or of a score per class (`LossDescriptor<SharedClassLoss>`).
#[derive(Debug, Clone, Copy)]
pub struct LossDescriptor<L = SharedLoss> {
    /// The name on the command line.
    pub name: &'static str,
    /// What it is, in a line.
    pub summary: &'static str,
    /// Its parameters.
    pub parameters: &'static [ParameterDescriptor],
    /// The loss at other values of its parameters, which the tests try beside the defaults.
    pub examples: &'static [&'static str],
    /// Builds it.
    pub build: fn(&GivenParameters) -> Result<L, Error>,
}

impl LossDescriptor {
    /// A loss without parameters: its name, a line about it, and what builds it.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use onward::loss::{Huber, LossDescriptor, Squared, parse_among};
    /// use onward::parameter::{ParameterDescriptor, positive};
    /// const DELTA: ParameterDescriptor = positive("delta").default("2").meaning("where it becomes linear");
    /// let losses = [
    ///     LossDescriptor::new("mine", "the squared loss by another name", |_| Ok(Arc::new(Squared))),
    ///     LossDescriptor::new("bent", "Huber's", |given| Ok(Arc::new(Huber::new(given.number("delta"))?)))
    ///         .with(&[DELTA], &["bent:delta=0.5"]),
    /// ];
    /// assert_eq!(parse_among("mine", &losses)?.value(1.0, 3.0), 4.0);
    /// assert_eq!(parse_among("bent", &losses)?.name(), "huber:delta=2");
    /// # Ok::<(), onward::Error>(())
    /// ```
    pub const fn new(
        name: &'static str,
        summary: &'static str,
        build: fn(&GivenParameters) -> Result<SharedLoss, Error>,
    ) -> Self {
        Self { name, summary, parameters: &[], examples: &[], build }
    }
}

impl LossDescriptor<SharedClassLoss> {
    /// The same for a loss of a score per class.
    pub const fn of_classes(
        name: &'static str,
        summary: &'static str,
        build: fn(&GivenParameters) -> Result<SharedClassLoss, Error>,
    ) -> Self {
        Self { name, summary, parameters: &[], examples: &[], build }
    }
}

impl<L> LossDescriptor<L> {
    /// With these parameters, and the loss at other values of them, which the tests try.
    pub const fn with(self, parameters: &'static [ParameterDescriptor], examples: &'static [&'static str]) -> Self {
        Self { parameters, examples, ..self }
    }

    /// The loss with these parameters, and the others at their defaults.
    fn build(&self, given: BTreeMap<String, String>) -> Result<L, Error> {
        (self.build)(&GivenParameters::new(self.name, self.parameters, given)?)
    }

    /// The loss with all parameters at their defaults.
    ///
    /// # Panics
    /// When the loss does not take its own defaults, which the tests ask of every loss.
    pub fn default_loss(&self) -> L
    where
        L: std::fmt::Debug,
    {
        self.build(BTreeMap::new()).expect("a default value is one that the loss takes")
    }
}

/// All losses of one score.
pub const LOSSES: &[LossDescriptor] = &[
    LossDescriptor::new("squared", "(p-y)^2; predicts the mean", |_| Ok(Arc::new(Squared))),
    LossDescriptor::new("absolute", "|p-y|; predicts the median", |_| Ok(Arc::new(Absolute))),
    LossDescriptor::new("huber", "squared up to delta, linear beyond: the slope is at most 2 delta", |it| {
        Ok(Arc::new(Huber::new(it.number("delta"))?))
    })
    .with(&[huber::DELTA], &["huber:delta=0.3"]),
    LossDescriptor::new("quantile", "pinball loss; predicts the tau-quantile", |it| {
        Ok(Arc::new(Quantile::new(it.number("tau"))?))
    })
    .with(&[absolute::TAU], &["quantile:tau=0.2"]),
    LossDescriptor::new("expectile", "asymmetric square; predicts the tau-expectile", |it| {
        Ok(Arc::new(Expectile::new(it.number("tau"))?))
    })
    .with(&[squared::TAU], &["expectile:tau=0.9"]),
    LossDescriptor::new("epsilon-insensitive", "max(0, |p-y|-epsilon): errors up to epsilon cost nothing", |it| {
        Ok(Arc::new(EpsilonInsensitive::new(it.number("epsilon"))?))
    })
    .with(&[absolute::EPSILON], &["epsilon-insensitive:epsilon=0", "epsilon-insensitive:epsilon=0.5"]),
    LossDescriptor::new(
        "squared-epsilon-insensitive",
        "max(0, |p-y|-epsilon)^2: the square of epsilon-insensitive",
        |it| Ok(Arc::new(SquaredEpsilonInsensitive::new(it.number("epsilon"))?)),
    )
    .with(&[absolute::EPSILON], &["squared-epsilon-insensitive:epsilon=0.5"]),
    LossDescriptor::new("logistic", "ln(1+e^(-yp)) for labels -1 and 1, cross-entropy for probabilities", |_| {
        Ok(Arc::new(Logistic))
    }),
    LossDescriptor::new("hinge", "max(0, 1-yp) for labels -1 and 1", |_| Ok(Arc::new(Hinge))),
    LossDescriptor::new("squared-hinge", "max(0, 1-yp)^2 for labels -1 and 1", |_| Ok(Arc::new(SquaredHinge))),
    LossDescriptor::new("modified-huber", "squared hinge, linear below a margin of -1", |_| {
        Ok(Arc::new(ModifiedHuber))
    }),
    LossDescriptor::new("perceptron", "max(0, -yp) for labels -1 and 1; a score of 0 costs nothing", |_| {
        Ok(Arc::new(PerceptronLoss))
    }),
    LossDescriptor::new(
        "zero-one",
        "1 if the sign is wrong, else 0; it has no slope, so that only perceptrons take it",
        |_| Ok(Arc::new(ZeroOne)),
    ),
    LossDescriptor::new("poisson", "e^p-yp for counts and rates y >= 0", |_| Ok(Arc::new(Poisson))),
];

/// All losses of a score per class.
pub const CLASS_LOSSES: &[LossDescriptor<SharedClassLoss>] = &[softmax::SOFTMAX];

/// Reads a loss from its name and, after a colon, its parameter; what is not
/// given has its default value. [`Loss::name`](crate::Loss::name) writes what this reads.
///
/// ```
/// let loss = onward::loss::parse("huber:delta=1.35")?;
/// assert_eq!(loss.name(), "huber:delta=1.35");
/// assert_eq!(onward::loss::parse("huber")?.name(), "huber:delta=1");
/// # Ok::<(), onward::Error>(())
/// ```
///
/// # Errors
/// Names the nearest loss and lists all for an unknown name; says what is
/// allowed for an unknown, repeated, unreadable or outlying parameter.
pub fn parse(text: &str) -> Result<SharedLoss, Error> {
    parse_among(text, LOSSES)
}

/// The same among these losses, of which the first one of a name counts.
///
/// # Errors
/// As [`parse`].
pub fn parse_among(text: &str, losses: &[LossDescriptor]) -> Result<SharedLoss, Error> {
    found(text, losses)?.ok_or_else(|| unknown_loss(text, losses, &[]))
}

/// A loss of one score or of a score per class.
///
/// # Errors
/// As [`parse`].
///
/// ```
/// use onward::loss::{CLASS_LOSSES, LOSSES, Task, parse_task_loss};
/// assert_eq!(parse_task_loss("softmax", LOSSES, CLASS_LOSSES)?.task(), Task::Classes);
/// assert_eq!(parse_task_loss("huber:delta=2", LOSSES, CLASS_LOSSES)?.name(), "huber:delta=2");
/// # Ok::<(), onward::Error>(())
/// ```
pub fn parse_task_loss(
    text: &str,
    losses: &[LossDescriptor],
    class_losses: &[LossDescriptor<SharedClassLoss>],
) -> Result<TaskLoss, Error> {
    if let Some(loss) = found(text, class_losses)? {
        return Ok(loss.into());
    }
    Ok(found(text, losses)?.ok_or_else(|| unknown_loss(text, losses, class_losses))?.into())
}

/// The first loss of a name, with its parameters; `None` if there is none.
fn found<L>(text: &str, losses: &[LossDescriptor<L>]) -> Result<Option<L>, Error> {
    let (name, rest) = text.split_once(':').unwrap_or((text, ""));
    let entry = losses.iter().find(|entry| entry.name == name);
    entry.map(|entry| entry.build(GivenParameters::read(entry.name, entry.parameters, rest)?)).transpose()
}

/// An error that suggests the nearest name and lists all.
fn unknown_loss(text: &str, losses: &[LossDescriptor], class_losses: &[LossDescriptor<SharedClassLoss>]) -> Error {
    let name = text.split_once(':').map_or(text, |(name, _)| name);
    let names = losses.iter().map(|entry| entry.name).chain(class_losses.iter().map(|entry| entry.name));
    Error::parameter(unknown("loss", "losses", name, names))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{EpsilonInsensitive, Expectile, Huber, Loss, Quantile, SquaredEpsilonInsensitive};
    use super::*;

    #[test]
    fn a_name_reads_back_as_the_loss_that_wrote_it() {
        for entry in LOSSES {
            // The defaults that the list shows are the ones that apply.
            let default = entry.default_loss().name();
            let values = entry.parameters.iter().map(|parameter| format!("{}={}", parameter.name, parameter.default));
            let separator = if entry.parameters.is_empty() { "" } else { ":" };
            assert_eq!(default, format!("{}{separator}{}", entry.name, values.collect::<Vec<_>>().join(",")));
            for name in entry.examples.iter().copied().chain([default.as_str()]) {
                assert_eq!(parse(name).unwrap().name(), *name);
            }
            let has_other = entry.examples.iter().any(|example| *example != default);
            assert_eq!(
                has_other,
                !separator.is_empty(),
                "`examples` of {} are other values of its parameters",
                entry.name
            );
        }
    }

    proptest! {
        #[test]
        fn parameters_read_back_to_the_last_bit(
            bits in any::<u64>(),
            tau in 0.0..1.0f64,
        ) {
            let positive = f64::from_bits(bits >> 1);
            prop_assume!(positive > 0.0 && positive.is_finite() && tau > 0.0);
            let losses: [&dyn Loss; 5] = [
                &Huber::new(positive)?,
                &Quantile::new(tau)?,
                &Expectile::new(tau)?,
                &EpsilonInsensitive::new(positive)?,
                &SquaredEpsilonInsensitive::new(positive)?,
            ];
            for loss in losses {
                let again = parse(&loss.name())?;
                prop_assert_eq!(format!("{:?}", again), format!("{:?}", loss));
            }
        }
    }

    #[test]
    fn a_bad_loss_is_refused_with_what_is_allowed() {
        for (text, message) in [
            ("huber:delta=0", "delta of huber must be above 0; got 0"),
            ("huber:delta=-1", "delta of huber must be above 0; got -1"),
            ("huber:delta=inf", "delta of huber must be above 0; got inf"),
            ("huber:delta=NaN", "delta of huber must be above 0; got NaN"),
            ("quantile:tau=0", "tau of quantile must be above 0 and below 1; got 0"),
            ("quantile:tau=1", "tau of quantile must be above 0 and below 1; got 1"),
            ("expectile:tau=1.5", "tau of expectile must be above 0 and below 1; got 1.5"),
            ("epsilon-insensitive:epsilon=-0.1", "epsilon of epsilon-insensitive must be at least 0; got -0.1"),
            ("epsilon-insensitive:epsilon=inf", "epsilon of epsilon-insensitive must be at least 0; got inf"),
            (
                "squared-epsilon-insensitive:epsilon=-1",
                "epsilon of squared-epsilon-insensitive must be at least 0; got -1",
            ),
            ("huber:delta=wide", "delta of huber must be a number above 0; got wide"),
            ("huber:delta=", "delta of huber must be a number above 0; got nothing"),
            ("huber:tau=0.5", "huber has no parameter 'tau'; its parameters are: delta"),
            ("huber:delta=1,delta=2", "'huber:delta=1,delta=2' gives delta twice"),
            ("huber:1.35", "'1.35' in 'huber:1.35' must have the form key=value, such as huber:delta=1"),
            ("squared:delta=1", "squared has no parameter 'delta'; it has no parameters"),
        ] {
            let error = parse(text).unwrap_err();
            assert_eq!(error.to_string(), message);
            assert_eq!(error.kind(), crate::ErrorKind::Parameter);
        }
    }

    #[test]
    fn an_unknown_loss_is_refused_with_the_nearest_and_all_names() {
        let all = format!("losses are: {}", LOSSES.iter().map(|entry| entry.name).collect::<Vec<_>>().join(", "));
        for (text, nearest) in [
            ("hubber:delta=1", "hubber'; did you mean 'huber'? The"),
            ("logisitc", "logisitc'; did you mean 'logistic'? The"),
            ("log", "log'; did you mean 'logistic'? The"),
            ("eps", "eps'; did you mean 'epsilon-insensitive'? The"),
            ("Squared", "Squared'; did you mean 'squared'? The"),
            ("squared_hinge", "squared_hinge'; did you mean 'squared-hinge'? The"),
            ("mse", "mse'; the"),
            ("", "'; the"),
        ] {
            let error = parse(text).unwrap_err();
            assert_eq!(error.to_string(), format!("there is no loss '{nearest} {all}"));
            assert_eq!(error.kind(), crate::ErrorKind::Parameter);
        }
    }
}
