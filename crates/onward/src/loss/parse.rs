//! Losses by name: `logistic`, `huber:delta=1.35`.

use std::sync::Arc;

use super::{
    Absolute, EpsilonInsensitive, Expectile, Hinge, Huber, Logistic, Loss, ModifiedHuber, PerceptronLoss, Poisson,
    Quantile, SharedLoss, Squared, SquaredEpsilonInsensitive, SquaredHinge, ZeroOne,
};
use crate::Error;
use crate::nearest::nearest;

/// Every loss: its name with its parameter at the default value, and what it is
/// in one line.
pub const NAMES: &[(&str, &str)] = &[
    ("squared", "(p-y)^2; predicts the mean"),
    ("absolute", "|p-y|; predicts the median"),
    ("huber:delta=1", "squared up to delta, straight beyond: outliers pull no harder than 2 delta"),
    ("quantile:tau=0.5", "pinball loss; predicts the tau-quantile"),
    ("expectile:tau=0.5", "asymmetric square; predicts the tau-expectile"),
    ("epsilon-insensitive:epsilon=0.1", "max(0, |p-y|-epsilon): errors up to epsilon are free"),
    ("squared-epsilon-insensitive:epsilon=0.1", "the square of epsilon-insensitive"),
    ("logistic", "ln(1+e^(-yp)) for labels -1 and 1, cross-entropy for probabilities"),
    ("hinge", "max(0, 1-yp) for labels -1 and 1"),
    ("squared-hinge", "max(0, 1-yp)^2 for labels -1 and 1"),
    ("modified-huber", "squared hinge, straight below a margin of -1"),
    ("perceptron", "max(0, -yp) for labels -1 and 1; a score of 0 costs nothing"),
    ("zero-one", "1 if the sign is wrong; charges, teaches nothing"),
    ("poisson", "e^p-yp for counts and rates y >= 0"),
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
    let (name, parameters) = match text.split_once(':') {
        Some((name, parameters)) => (name, Some(parameters)),
        None => (text, None),
    };
    let given = Given { name, parameters };
    match name {
        "squared" => given.build(Squared),
        "absolute" => given.build(Absolute),
        "huber" => given.build_with("delta", 1.0, Huber::new),
        "quantile" => given.build_with("tau", 0.5, Quantile::new),
        "expectile" => given.build_with("tau", 0.5, Expectile::new),
        "epsilon-insensitive" => given.build_with("epsilon", 0.1, EpsilonInsensitive::new),
        "squared-epsilon-insensitive" => given.build_with("epsilon", 0.1, SquaredEpsilonInsensitive::new),
        "logistic" => given.build(Logistic),
        "hinge" => given.build(Hinge),
        "squared-hinge" => given.build(SquaredHinge),
        "modified-huber" => given.build(ModifiedHuber),
        "perceptron" => given.build(PerceptronLoss),
        "zero-one" => given.build(ZeroOne),
        "poisson" => given.build(Poisson),
        _ => Err(unknown_loss(name)),
    }
}

/// The text of a loss, taken apart.
struct Given<'a> {
    name: &'a str,
    parameters: Option<&'a str>,
}

impl Given<'_> {
    /// A loss without parameters.
    fn build(&self, loss: impl Loss + 'static) -> Result<SharedLoss, Error> {
        match self.parameters {
            None => Ok(Arc::new(loss)),
            Some(_) => Err(self.refuse("takes no parameters")),
        }
    }

    /// A loss with one parameter.
    fn build_with<L: Loss + 'static>(
        &self,
        parameter: &str,
        default: f64,
        new: impl Fn(f64) -> Result<L, Error>,
    ) -> Result<SharedLoss, Error> {
        Ok(Arc::new(new(self.value(parameter)?.unwrap_or(default))?))
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
        Error::parameter(format!("the {} loss {takes}, not '{given}'", self.name))
    }
}

/// An error that suggests the nearest name and lists all.
fn unknown_loss(name: &str) -> Error {
    let all: Vec<&str> = NAMES.iter().map(|(name, _)| *name).collect();
    let known = NAMES.iter().map(|(name, _)| name.split(':').next().unwrap_or(name));
    let suggestion = match nearest(name, known) {
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
        for (name, _) in NAMES {
            assert_eq!(parse(name).unwrap().name(), *name);
            // The defaults that the list shows are the ones that apply.
            let bare = name.split(':').next().unwrap();
            assert_eq!(parse(bare).unwrap().name(), *name);
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

    const ALL: &str = "The losses are squared, absolute, huber:delta=1, quantile:tau=0.5, \
                       expectile:tau=0.5, epsilon-insensitive:epsilon=0.1, \
                       squared-epsilon-insensitive:epsilon=0.1, logistic, hinge, squared-hinge, \
                       modified-huber, perceptron, zero-one, poisson";

    #[test]
    fn an_unknown_loss_is_refused_with_the_nearest_and_all_names() {
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
            assert_eq!(error.to_string(), format!("there is no loss '{nearest} {ALL}"));
            assert_eq!(error.kind(), crate::ErrorKind::Parameter);
        }
    }
}
