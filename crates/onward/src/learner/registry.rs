//! The learners by name: what `--learner name:key=value,…` means.
//!
//! A learner is registered by one entry in [`LEARNERS`]; the command line, the
//! help, the documentation and the battery of tests follow from it.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use super::{Auto, Clip, LaneCount, Linear, Perceptron, Standardised};
use crate::loss::{self, Curvature};
use crate::nearest::nearest;
use crate::optimizer::{AdaGrad, Nag, Ogd, OgdStrong, Rate};
use crate::{Error, Learner, SharedLoss};

/// A learner that can be asked for by name.
pub struct LearnerEntry {
    /// The name on the command line.
    pub name: &'static str,
    /// What it is, in a line.
    pub summary: &'static str,
    /// Its parameters.
    pub parameters: &'static [ParameterEntry],
    build: fn(&Arguments<'_>) -> Result<Box<dyn Learner>, Error>,
}

/// A parameter of a learner.
pub struct ParameterEntry {
    /// The key.
    pub name: &'static str,
    /// The value when none is given.
    pub default: &'static str,
    /// What it is and its range.
    pub meaning: &'static str,
}

const STANDARDISE: ParameterEntry = ParameterEntry {
    name: "standardise",
    default: "false",
    meaning: "true or false: centre and scale features by their running mean and deviation",
};

const COMPARATOR_RADIUS: ParameterEntry = ParameterEntry {
    name: "radius",
    default: "1",
    meaning: "size of the comparators that the guarantee is printed for, above 0 (or --radius)",
};

/// All learners.
pub const LEARNERS: &[LearnerEntry] = &[
    LearnerEntry {
        name: "auto",
        summary: "the default: nothing to tune; lanes of several rules, mixed by how well they predict",
        parameters: &[ParameterEntry {
            name: "lanes",
            default: "auto",
            meaning: "for experts: 7, 4 (half the memory), or auto: 7, and 4 from 131,072 features on",
        }],
        build: |arguments| {
            let lanes = match arguments.text("lanes") {
                "auto" => LaneCount::Auto,
                "7" => LaneCount::Seven,
                "4" => LaneCount::Four,
                other => return Err(Error::parameter(format!("lanes of auto is '{other}': it is auto, 7 or 4"))),
            };
            Ok(Box::new(Auto::new(arguments.loss(), lanes)?))
        },
    },
    LearnerEntry {
        name: "nag",
        summary: "normalised adaptive importance-aware gradient, Vowpal Wabbit's default rule",
        parameters: &[ParameterEntry { name: "eta", default: "0.5", meaning: "learning rate, above 0" }, STANDARDISE],
        build: |arguments| {
            let optimizer = Nag::new(arguments.number("eta")?)?;
            Ok(Box::new(Linear::new(arguments.loss(), optimizer, Clip::Plausible)))
        },
    },
    LearnerEntry {
        name: "ogd",
        summary: "projected online gradient descent on an L2 ball (Zinkevich)",
        parameters: &[
            ParameterEntry {
                name: "eta",
                default: "auto",
                meaning: "the rate is eta/√t, above 0; auto tunes itself from the gradients",
            },
            ParameterEntry { name: "radius", default: "10", meaning: "of the ball, above 0 (or --radius)" },
            STANDARDISE,
        ],
        build: |arguments| {
            let rate = match arguments.text("eta") {
                "auto" => Rate::SelfTuned,
                _ => Rate::Root(arguments.number("eta")?),
            };
            let optimizer = Ogd::new(arguments.number("radius")?, rate)?;
            Ok(Box::new(Linear::new(arguments.loss(), optimizer, Clip::Never)))
        },
    },
    LearnerEntry {
        name: "ogd-strong",
        summary: "gradient descent with rate 1/(sigma·t) on the loss plus ½·sigma·‖w‖² (online SVM, ridge, logistic)",
        parameters: &[
            ParameterEntry { name: "sigma", default: "0.01", meaning: "strength of the regularisation, above 0" },
            ParameterEntry {
                name: "radius",
                default: "none",
                meaning: "projects on this ball, above 0 (or --radius); none: no projection",
            },
            STANDARDISE,
        ],
        build: |arguments| {
            let radius = match arguments.text("radius") {
                "none" => None,
                _ => Some(arguments.number("radius")?),
            };
            let optimizer = OgdStrong::new(arguments.number("sigma")?, radius)?;
            Ok(Box::new(Linear::new(arguments.loss(), optimizer, Clip::Never)))
        },
    },
    LearnerEntry {
        name: "adagrad",
        summary: "a rate for each feature that falls with its gradients (Duchi, Hazan, Singer)",
        parameters: &[
            ParameterEntry { name: "eta", default: "0.5", meaning: "learning rate, above 0" },
            COMPARATOR_RADIUS,
            STANDARDISE,
        ],
        build: |arguments| {
            let optimizer = AdaGrad::new(arguments.number("eta")?, arguments.number("radius")?)?;
            Ok(Box::new(Linear::new(arguments.loss(), optimizer, Clip::Never)))
        },
    },
    LearnerEntry {
        name: "perceptron",
        summary: "updates at mistakes only (Rosenblatt); binary, charged by mistakes",
        parameters: &[COMPARATOR_RADIUS, STANDARDISE],
        build: |arguments| {
            let loss = arguments.loss();
            Ok(Box::new(Perceptron::new(arguments.number("radius")?, loss.as_ref())?))
        },
    },
];

/// A learner's name with parameters, as `--learner` takes it.
///
/// ```
/// use onward::learner::Specification;
/// let specification: Specification = "nag:eta=1,standardise=true".parse()?;
/// assert_eq!(specification.to_string(), "nag:eta=1,standardise=true");
/// assert!("nag:rate=1".parse::<Specification>().is_err());
/// # Ok::<(), onward::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Specification {
    name: String,
    given: BTreeMap<String, String>,
}

impl fmt::Display for Specification {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.name)?;
        for (at, (key, value)) in self.given.iter().enumerate() {
            write!(out, "{}{key}={value}", if at == 0 { ':' } else { ',' })?;
        }
        Ok(())
    }
}

impl FromStr for Specification {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let (name, rest) = text.split_once(':').unwrap_or((text, ""));
        let entry = entry(name)?;
        let mut given = BTreeMap::new();
        for pair in rest.split(',').filter(|pair| !pair.is_empty()) {
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
        Ok(Self { name: name.to_owned(), given })
    }
}

impl Specification {
    /// The learner's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The loss that the learner is charged by when none is asked for.
    pub fn default_loss(&self, task: loss::Task) -> &'static str {
        match (self.name.as_str(), task) {
            ("perceptron", _) => "zero-one",
            (_, loss::Task::Binary) => "logistic",
            (_, loss::Task::Regression) => "squared",
        }
    }

    /// Builds the learner for a loss. `radius` is used where the learner has a radius and
    /// none is given among its parameters.
    ///
    /// # Errors
    /// When a parameter is out of range, or the learner cannot take the loss.
    pub fn build(&self, loss: &SharedLoss, radius: Option<f64>) -> Result<Box<dyn Learner>, Error> {
        let entry = entry(&self.name)?;
        let radius = radius.map(|radius| radius.to_string());
        if self.name != "perceptron" && loss.curvature() == Curvature::None {
            let message = format!("{} cannot learn from the {} loss, which has no slope", self.name, loss.name());
            return Err(Error::parameter(format!(
                "{message}: take hinge, logistic or another loss, or the perceptron"
            )));
        }
        let arguments = Arguments { entry, given: &self.given, loss, radius: radius.as_deref() };
        let learner = (entry.build)(&arguments)?;
        if arguments.flag("standardise")? { Ok(Box::new(Standardised::new(learner))) } else { Ok(learner) }
    }
}

fn entry(name: &str) -> Result<&'static LearnerEntry, Error> {
    LEARNERS.iter().find(|entry| entry.name == name).ok_or_else(|| {
        let names = LEARNERS.iter().map(|entry| entry.name);
        let all = names.clone().collect::<Vec<_>>().join(", ");
        Error::parameter(match nearest(name, names) {
            Some(near) => format!("there is no learner '{name}', did you mean '{near}'? The learners are {all}"),
            None => format!("there is no learner '{name}': there are {all}"),
        })
    })
}

impl LearnerEntry {
    fn unknown_parameter(&self, key: &str) -> Error {
        let names = self.parameters.iter().map(|parameter| parameter.name);
        let all = names.clone().collect::<Vec<_>>().join(", ");
        let name = self.name;
        Error::parameter(match nearest(key, names) {
            Some(near) => format!("{name} has no parameter '{key}', did you mean '{near}'? It has {all}"),
            None => format!("{name} has no parameter '{key}': it has {all}"),
        })
    }

    fn example(&self) -> String {
        let first = self.parameters.first();
        first.map_or_else(|| self.name.to_owned(), |first| format!("{}:{}={}", self.name, first.name, first.default))
    }
}

/// What a learner is built from.
struct Arguments<'a> {
    entry: &'static LearnerEntry,
    given: &'a BTreeMap<String, String>,
    loss: &'a SharedLoss,
    /// From `--radius`.
    radius: Option<&'a str>,
}

impl Arguments<'_> {
    fn loss(&self) -> SharedLoss {
        SharedLoss::clone(self.loss)
    }

    fn text(&self, key: &str) -> &str {
        let default =
            || self.entry.parameters.iter().find(|parameter| parameter.name == key).map_or("", |it| it.default);
        match self.given.get(key) {
            Some(given) => given,
            None if key == "radius" => self.radius.unwrap_or_else(default),
            None => default(),
        }
    }

    fn number(&self, key: &str) -> Result<f64, Error> {
        let text = self.text(key);
        text.parse()
            .map_err(|_| Error::parameter(format!("{} of {} is '{text}': it is a number", key, self.entry.name)))
    }

    fn flag(&self, key: &str) -> Result<bool, Error> {
        match self.text(key) {
            "true" => Ok(true),
            "false" | "" => Ok(false),
            other => Err(Error::parameter(format!("{key} of {} is '{other}': it is true or false", self.entry.name))),
        }
    }
}
