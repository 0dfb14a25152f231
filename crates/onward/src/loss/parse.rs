//! Losses by name: `logistic`, `huber:delta=1.35`.

use std::sync::Arc;

use super::{
    Absolute, EpsilonInsensitive, Expectile, Hinge, Huber, Logistic, Loss, ModifiedHuber, PerceptronLoss, Poisson,
    Quantile, SharedLoss, Squared, SquaredEpsilonInsensitive, SquaredHinge, ZeroOne,
};
use crate::Error;
use crate::nearest::nearest;

/// A loss that can be asked for by name.
#[derive(Debug, Clone, Copy)]
pub struct LossDescriptor {
    /// The name, with its parameter at the default value.
    pub name: &'static str,
    /// What it is, in a line.
    pub summary: &'static str,
    /// The loss at other values of its parameter, which the tests try beside the default.
    pub examples: &'static [&'static str],
    /// Builds it from what was asked for.
    build: fn(&LossParams<'_>) -> Result<SharedLoss, Error>,
}

impl LossDescriptor {
    /// A loss with its name and parameter at the default value, a line about it, other values of its parameter to be tried
    /// by tests, and what builds it.
    ///
    /// ```
    /// use onward::loss::{Huber, LossDescriptor, Squared, parse_among};
    /// let losses = [
    ///     LossDescriptor::new("mine", "the squared loss by another name", &[], |given| given.build(Squared)),
    ///     LossDescriptor::new("bent:delta=2", "Huber's", &["bent:delta=0.5"], |given| given.build_with(Huber::new)),
    /// ];
    /// assert_eq!(parse_among("mine", &losses)?.value(1.0, 3.0), 4.0);
    /// assert_eq!(parse_among("bent", &losses)?.name(), "huber:delta=2");
    /// # Ok::<(), onward::Error>(())
    /// ```
    pub const fn new(
        name: &'static str,
        summary: &'static str,
        examples: &'static [&'static str],
        build: fn(&LossParams<'_>) -> Result<SharedLoss, Error>,
    ) -> Self {
        Self { name, summary, examples, build }
    }

    /// The name without a parameter, by which the loss has its default value.
    pub fn base(&self) -> &'static str {
        self.name.split(':').next().unwrap_or(self.name)
    }

    /// The loss at its default value.
    pub fn default_loss(&self) -> SharedLoss {
        let built = (self.build)(&LossParams { entry: self, parameters: None });
        built.expect("a default value is one that the loss takes")
    }
}

/// All losses.
pub const LOSSES: &[LossDescriptor] = &[
    LossDescriptor::new("squared", "(p-y)^2; predicts the mean", &[], |given| given.build(Squared)),
    LossDescriptor::new("absolute", "|p-y|; predicts the median", &[], |given| given.build(Absolute)),
    LossDescriptor::new(
        "huber:delta=1",
        "squared up to delta, straight beyond: outliers pull no harder than 2 delta",
        &["huber:delta=0.3"],
        |given| given.build_with(Huber::new),
    ),
    LossDescriptor::new(
        "quantile:tau=0.5",
        "pinball loss; predicts the tau-quantile",
        &["quantile:tau=0.2"],
        |given| given.build_with(Quantile::new),
    ),
    LossDescriptor::new(
        "expectile:tau=0.5",
        "asymmetric square; predicts the tau-expectile",
        &["expectile:tau=0.9"],
        |given| given.build_with(Expectile::new),
    ),
    LossDescriptor::new(
        "epsilon-insensitive:epsilon=0.1",
        "max(0, |p-y|-epsilon): errors up to epsilon are free",
        &["epsilon-insensitive:epsilon=0", "epsilon-insensitive:epsilon=0.5"],
        |given| given.build_with(EpsilonInsensitive::new),
    ),
    LossDescriptor::new(
        "squared-epsilon-insensitive:epsilon=0.1",
        "the square of epsilon-insensitive",
        &["squared-epsilon-insensitive:epsilon=0.5"],
        |given| given.build_with(SquaredEpsilonInsensitive::new),
    ),
    LossDescriptor::new(
        "logistic",
        "ln(1+e^(-yp)) for labels -1 and 1, cross-entropy for probabilities",
        &[],
        |given| given.build(Logistic),
    ),
    LossDescriptor::new("hinge", "max(0, 1-yp) for labels -1 and 1", &[], |given| given.build(Hinge)),
    LossDescriptor::new("squared-hinge", "max(0, 1-yp)^2 for labels -1 and 1", &[], |given| given.build(SquaredHinge)),
    LossDescriptor::new("modified-huber", "squared hinge, straight below a margin of -1", &[], |given| {
        given.build(ModifiedHuber)
    }),
    LossDescriptor::new("perceptron", "max(0, -yp) for labels -1 and 1; a score of 0 costs nothing", &[], |given| {
        given.build(PerceptronLoss)
    }),
    LossDescriptor::new("zero-one", "1 if the sign is wrong; charges, teaches nothing", &[], |given| {
        given.build(ZeroOne)
    }),
    LossDescriptor::new("poisson", "e^p-yp for counts and rates y >= 0", &[], |given| given.build(Poisson)),
];

/// Reads a loss from its name and, after a colon, its parameter; what is not
/// given has its default value. [`Loss::name`] writes what this reads.
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
    let (name, parameters) = match text.split_once(':') {
        Some((name, parameters)) => (name, Some(parameters)),
        None => (text, None),
    };
    match losses.iter().find(|entry| entry.base() == name) {
        Some(entry) => (entry.build)(&LossParams { entry, parameters }),
        None => Err(unknown_loss(name, losses)),
    }
}

/// What a loss is built from.
pub struct LossParams<'a> {
    entry: &'a LossDescriptor,
    parameters: Option<&'a str>,
}

impl LossParams<'_> {
    /// A loss without parameters.
    ///
    /// # Errors
    /// When some are given.
    pub fn build(&self, loss: impl Loss + 'static) -> Result<SharedLoss, Error> {
        match self.parameters {
            None => Ok(Arc::new(loss)),
            Some(_) => Err(self.refuse("takes no parameters")),
        }
    }

    /// A loss with the parameter that its entry names.
    ///
    /// # Errors
    /// When another one is given, or it is out of range.
    pub fn build_with<L: Loss + 'static>(&self, new: impl Fn(f64) -> Result<L, Error>) -> Result<SharedLoss, Error> {
        let (_, default) = self.entry.name.split_once(':').unwrap_or_default();
        let (parameter, default) = default.split_once('=').unwrap_or_default();
        let value = match self.value(parameter)? {
            Some(value) => value,
            None => self.number(parameter, default)?,
        };
        Ok(Arc::new(new(value)?))
    }

    /// The value of the one parameter that the loss has, if it is given.
    fn value(&self, parameter: &str) -> Result<Option<f64>, Error> {
        let mut value = None;
        for item in self.parameters.into_iter().flat_map(|text| text.split(',')) {
            match item.split_once('=') {
                Some((name, _)) if name == parameter && value.is_some() => {
                    return Err(self.refuse(format_args!("takes its parameter {name} once")));
                }
                Some((name, number)) if name == parameter => {
                    value = Some(self.number(parameter, number)?);
                }
                _ => return Err(self.refuse(format_args!("takes {parameter}=NUMBER only"))),
            }
        }
        Ok(value)
    }

    /// A parameter's number.
    fn number(&self, parameter: &str, number: &str) -> Result<f64, Error> {
        let refused = format_args!("takes a number for {parameter}");
        number.parse().map_err(|_| self.refuse(refused))
    }

    /// An error that says what the loss takes, and what was given.
    fn refuse(&self, takes: impl std::fmt::Display) -> Error {
        let given = self.parameters.unwrap_or_default();
        Error::parameter(format!("the {} loss {takes}, not '{given}'", self.entry.base()))
    }
}

/// An error that suggests the nearest name and lists all.
fn unknown_loss(name: &str, losses: &[LossDescriptor]) -> Error {
    let all: Vec<&str> = losses.iter().map(|entry| entry.name).collect();
    let suggestion = match nearest(name, losses.iter().map(LossDescriptor::base)) {
        Some(near) => format!(", did you mean '{near}'?"),
        None => ".".into(),
    };
    let all = all.join(", ");
    Error::parameter(format!("there is no loss '{name}'{suggestion} The losses are {all}"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_name_reads_back_as_the_loss_that_wrote_it() {
        for entry in LOSSES {
            for name in entry.examples.iter().chain([&entry.name]) {
                assert_eq!(parse(name).unwrap().name(), *name);
            }
            // The defaults that the list shows are the ones that apply.
            assert_eq!(entry.default_loss().name(), entry.name);
            let has_other = entry.examples.iter().any(|example| *example != entry.name);
            assert_eq!(
                has_other,
                entry.name.contains(':'),
                "`examples` of {} are its parameter at other values",
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
            ("huber:delta=0", "delta of the huber loss must be a finite number above 0, not 0"),
            ("huber:delta=-1", "delta of the huber loss must be a finite number above 0, not -1"),
            ("huber:delta=inf", "delta of the huber loss must be a finite number above 0, not inf"),
            ("huber:delta=NaN", "delta of the huber loss must be a finite number above 0, not NaN"),
            ("quantile:tau=0", "tau of the quantile loss must be between 0 and 1, both excluded, not 0"),
            ("quantile:tau=1", "tau of the quantile loss must be between 0 and 1, both excluded, not 1"),
            ("expectile:tau=1.5", "tau of the expectile loss must be between 0 and 1, both excluded, not 1.5"),
            (
                "epsilon-insensitive:epsilon=-0.1",
                "epsilon of the epsilon-insensitive loss must be a finite number, 0 or above, not -0.1",
            ),
            (
                "squared-epsilon-insensitive:epsilon=-1",
                "epsilon of the squared-epsilon-insensitive loss must be a finite number, 0 or above, not -1",
            ),
            ("huber:delta=wide", "the huber loss takes a number for delta, not 'delta=wide'"),
            ("huber:delta=", "the huber loss takes a number for delta, not 'delta='"),
            ("huber:tau=0.5", "the huber loss takes delta=NUMBER only, not 'tau=0.5'"),
            ("huber:delta=1,tau=0.5", "the huber loss takes delta=NUMBER only, not 'delta=1,tau=0.5'"),
            ("huber:delta=1,delta=2", "the huber loss takes its parameter delta once, not 'delta=1,delta=2'"),
            ("huber:1.35", "the huber loss takes delta=NUMBER only, not '1.35'"),
            ("huber:", "the huber loss takes delta=NUMBER only, not ''"),
            ("squared:delta=1", "the squared loss takes no parameters, not 'delta=1'"),
            ("logistic:", "the logistic loss takes no parameters, not ''"),
        ] {
            let error = parse(text).unwrap_err();
            assert_eq!(error.to_string(), message);
            assert_eq!(error.kind(), crate::ErrorKind::Parameter);
        }
    }

    #[test]
    fn an_unknown_loss_is_refused_with_the_nearest_and_all_names() {
        let all = format!("The losses are {}", LOSSES.iter().map(|entry| entry.name).collect::<Vec<_>>().join(", "));
        for (text, nearest) in [
            ("hubber:delta=1", "hubber', did you mean 'huber'?"),
            ("logisitc", "logisitc', did you mean 'logistic'?"),
            ("log", "log', did you mean 'logistic'?"),
            ("eps", "eps', did you mean 'epsilon-insensitive'?"),
            ("Squared", "Squared', did you mean 'squared'?"),
            ("squared_hinge", "squared_hinge', did you mean 'squared-hinge'?"),
            ("mse", "mse'."),
            ("", "'."),
        ] {
            let error = parse(text).unwrap_err();
            assert_eq!(error.to_string(), format!("there is no loss '{nearest} {all}"));
            assert_eq!(error.kind(), crate::ErrorKind::Parameter);
        }
    }
}
