//! A parameter as it is declared.

use std::fmt::{self, Debug};
use std::ops::RangeInclusive;

use super::split_outside;
use crate::Error;

/// A parameter of a learner or a loss.
#[derive(Debug, Clone, Copy)]
pub struct ParameterDescriptor {
    /// The key.
    pub name: &'static str,
    /// What values it takes.
    pub kind: ParameterKind,
    /// A word that it takes too, such as auto or none.
    pub word: Option<&'static str>,
    /// The value when none is given.
    pub default: &'static str,
    /// What it is.
    pub meaning: &'static str,
    /// When it has an effect.
    pub applies: Applies,
    /// Whether a description leaves it out at its default.
    pub is_quiet: bool,
    /// How to change it for smaller steps: "a smaller eta".
    pub remedy: Option<&'static str>,
    /// What a number must be at least where a condition, as those of [`Applies`], holds.
    pub at_least_with: Option<(f64, &'static str)>,
    /// The value in saved models that do not say one: they are older than the parameter.
    pub in_older_models: Option<&'static str>,
}

/// What values a parameter takes.
#[derive(Debug, Clone, Copy)]
pub enum ParameterKind {
    /// A number whose square neither vanishes nor overflows: from 1e-30 to 1e30.
    Positive,
    /// A number from the one to the other.
    Number(f64, f64),
    /// A number above the one and below the other.
    Within(f64, f64),
    /// A whole number from the one to the other.
    Whole(u64, u64),
    /// True or false.
    Flag,
    /// One of these words, each with what it means.
    Words(&'static [(&'static str, &'static str)]),
    /// One learner.
    Learner,
    /// Learners joined by `+`.
    Learners,
}

/// When a parameter has an effect. A condition is made of `key=word`, or of a key alone, whose value is then not its
/// default, joined by `and`, and these by `or`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Applies {
    /// In all forms.
    Always,
    /// Only where this holds.
    OnlyWith(&'static str),
    /// Except where this holds.
    Unless(&'static str),
}

/// A number above 0 whose square neither vanishes nor overflows: from 1e-30 to 1e30.
pub const fn positive(name: &'static str) -> ParameterDescriptor {
    ParameterDescriptor::new(name, ParameterKind::Positive)
}

/// A number of a range, both ends included.
pub const fn number(name: &'static str, range: RangeInclusive<f64>) -> ParameterDescriptor {
    ParameterDescriptor::new(name, ParameterKind::Number(*range.start(), *range.end()))
}

/// A number above `least` and below `most`.
pub const fn within(name: &'static str, least: f64, most: f64) -> ParameterDescriptor {
    ParameterDescriptor::new(name, ParameterKind::Within(least, most))
}

/// A whole number of a range, both ends included.
pub const fn whole(name: &'static str, range: RangeInclusive<u64>) -> ParameterDescriptor {
    ParameterDescriptor::new(name, ParameterKind::Whole(*range.start(), *range.end()))
}

/// True or, unless it is given, false.
pub const fn flag(name: &'static str) -> ParameterDescriptor {
    ParameterDescriptor::new(name, ParameterKind::Flag).default("false")
}

/// One of several words, each with what it means. The first is the default.
pub const fn words(name: &'static str, words: &'static [(&'static str, &'static str)]) -> ParameterDescriptor {
    ParameterDescriptor::new(name, ParameterKind::Words(words)).default(words[0].0)
}

/// One learner, in parentheses if it has parameters.
pub const fn learner(name: &'static str) -> ParameterDescriptor {
    ParameterDescriptor::new(name, ParameterKind::Learner)
}

/// Learners joined by `+`, each in parentheses if it has parameters.
pub const fn learners(name: &'static str) -> ParameterDescriptor {
    ParameterDescriptor::new(name, ParameterKind::Learners)
}

impl ParameterDescriptor {
    const fn new(name: &'static str, kind: ParameterKind) -> Self {
        let (default, meaning, applies) = ("", "", Applies::Always);
        Self {
            name,
            kind,
            word: None,
            default,
            meaning,
            applies,
            is_quiet: false,
            remedy: None,
            at_least_with: None,
            in_older_models: None,
        }
    }

    /// The value when none is given.
    pub const fn default(self, default: &'static str) -> Self {
        Self { default, ..self }
    }

    /// It takes this word too, which is the default.
    pub const fn or(self, word: &'static str) -> Self {
        Self { word: Some(word), default: word, ..self }
    }

    /// What it is.
    pub const fn meaning(self, meaning: &'static str) -> Self {
        Self { meaning, ..self }
    }

    /// It has an effect only where this holds: `form=full`, or `domain=box and gradient or domain=simplex`.
    pub const fn only_with(self, condition: &'static str) -> Self {
        Self { applies: Applies::OnlyWith(condition), ..self }
    }

    /// It has no effect where this holds.
    pub const fn unless(self, condition: &'static str) -> Self {
        Self { applies: Applies::Unless(condition), ..self }
    }

    /// Descriptions leave it out at its default.
    pub const fn quiet(self) -> Self {
        Self { is_quiet: true, ..self }
    }

    /// How to change it for smaller steps, as a learner that runs away is advised: "a smaller eta".
    pub const fn remedy(self, remedy: &'static str) -> Self {
        Self { remedy: Some(remedy), ..self }
    }

    /// It must be at least this where the condition holds.
    pub const fn at_least_with(self, least: f64, condition: &'static str) -> Self {
        Self { at_least_with: Some((least, condition)), ..self }
    }

    /// Saved models that do not say it were made when this was the only value.
    pub const fn in_older_models(self, value: &'static str) -> Self {
        Self { in_older_models: Some(value), ..self }
    }

    /// The same with a range of numbers that starts here.
    pub(crate) const fn narrowed(self, least: f64) -> Self {
        match self.kind {
            ParameterKind::Number(_, most) => Self { kind: ParameterKind::Number(least, most), ..self },
            _ => self,
        }
    }

    /// Refuses a value out of range.
    ///
    /// # Errors
    /// Says what it must be.
    pub fn check<T: Debug>(&self, value: T) -> Result<T, Error> {
        self.refuse("", &format!("{value:?}")).map_or(Ok(value), Err)
    }

    /// An error where a text is no value of this parameter, which `owner` has: " of nag".
    pub(super) fn refuse(&self, owner: &str, text: &str) -> Option<Error> {
        let must = self.objection(text)?;
        let got = if text.is_empty() { "nothing" } else { text.trim_end_matches(".0") };
        Some(Error::parameter(format!("{}{owner} must be {must}; got {got}", self.name)))
    }

    /// What it must be, where a text is no value of it.
    fn objection(&self, text: &str) -> Option<String> {
        let number = text.parse::<f64>().ok();
        let is_value = match self.kind {
            _ if self.word == Some(text) => true,
            ParameterKind::Positive => number.is_some_and(|number| (1e-30..=1e30).contains(&number)),
            ParameterKind::Number(least, most) => number.is_some_and(|number| (least..=most).contains(&number)),
            ParameterKind::Within(least, most) => number.is_some_and(|number| least < number && number < most),
            ParameterKind::Whole(least, most) => text.parse().is_ok_and(|number| (least..=most).contains(&number)),
            ParameterKind::Flag => matches!(text, "true" | "false"),
            ParameterKind::Words(words) => words.iter().any(|(word, _)| *word == text),
            ParameterKind::Learner => {
                split_outside(text, '+').is_some_and(|parts| matches!(parts[..], [one] if !one.is_empty()))
            }
            ParameterKind::Learners => split_outside(text, '+').is_some_and(|parts| !parts.contains(&"")),
        };
        match (self.kind, number) {
            _ if is_value => None,
            (ParameterKind::Positive, Some(number)) if number > 0.0 && number.is_finite() => {
                Some("from 1e-30 to 1e30".to_owned())
            }
            (ParameterKind::Positive | ParameterKind::Number(..) | ParameterKind::Within(..), None) => {
                Some(format!("a number {}", self.values()))
            }
            _ => Some(self.values()),
        }
    }

    /// The values that it takes, in words: "above 0, or auto".
    pub fn values(&self) -> String {
        let values = match self.kind {
            ParameterKind::Positive => "above 0".to_owned(),
            ParameterKind::Number(least, f64::MAX) => format!("at least {}", ShortNumber(least)),
            ParameterKind::Number(least, most) => format!("from {} to {}", ShortNumber(least), ShortNumber(most)),
            ParameterKind::Within(least, f64::INFINITY) => format!("above {}", ShortNumber(least)),
            ParameterKind::Within(least, most) => {
                format!("above {} and below {}", ShortNumber(least), ShortNumber(most))
            }
            ParameterKind::Whole(0, u64::MAX) => "a whole number".to_owned(),
            ParameterKind::Whole(least, most) => format!("a whole number from {least} to {most}"),
            ParameterKind::Flag => "true or false".to_owned(),
            ParameterKind::Words(words) => alternatives(&words.iter().map(|&(word, _)| word).collect::<Vec<_>>()),
            ParameterKind::Learner => "one learner, such as auto or (ogd:radius=5)".to_owned(),
            ParameterKind::Learners => "learners joined by +, such as nag+(ogd:radius=2)".to_owned(),
        };
        self.word.map_or(values.clone(), |word| format!("{values}, or {word}"))
    }

    /// The words that it takes, each with what it means.
    pub fn choices(&self) -> &'static [(&'static str, &'static str)] {
        if let ParameterKind::Words(words) = self.kind { words } else { &[] }
    }
}

/// As a list has it: `eta=0.5  learning rate (above 0)`, and a line for each word.
impl fmt::Display for ParameterDescriptor {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}={}  {}", self.name, self.default, self.meaning)?;
        let when = match self.applies {
            Applies::Always => String::new(),
            Applies::OnlyWith(condition) => format!("only with {condition}"),
            Applies::Unless(condition) => format!("not with {condition}"),
        };
        let mut values = if self.choices().is_empty() { self.values() } else { String::new() };
        if let Some((least, condition)) = self.at_least_with {
            values.push_str(&format!(", with {condition} at least {}", ShortNumber(least)));
        }
        match (values.is_empty(), when.is_empty()) {
            (true, true) => {}
            (false, false) => write!(out, " ({values}; {when})")?,
            _ => write!(out, " ({values}{when})")?,
        }
        self.choices().iter().try_for_each(|(word, meaning)| write!(out, "\n    {word}: {meaning}"))
    }
}

/// A number without an end of `.0`, large ones as 1e30.
struct ShortNumber(f64);

impl fmt::Display for ShortNumber {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(format!("{:?}", self.0).trim_end_matches(".0"))
    }
}

/// `a, b or c`.
fn alternatives(words: &[&str]) -> String {
    match words {
        [first @ .., last] if !first.is_empty() => format!("{} or {last}", first.join(", ")),
        _ => words.concat(),
    }
}
