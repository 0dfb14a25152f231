//! What a learner is built from.

use std::collections::BTreeMap;

use super::{LearnerDescriptor, LearnerSpec};
use crate::{Error, SharedLoss};

/// The loss and the parameters, given or by default, that a learner is built from.
pub struct Params<'a> {
    pub(super) entry: &'static LearnerDescriptor,
    pub(super) given: &'a BTreeMap<String, String>,
    pub(super) loss: &'a SharedLoss,
    /// What learners inside of this one may be.
    pub(super) learners: &'static [&'static LearnerDescriptor],
    /// From `--radius`.
    pub(super) radius: Option<&'a str>,
    /// How many learners this one is inside of.
    pub(super) depth: usize,
}

/// Learners may be inside of so many others.
const DEEPEST: usize = 3;

impl Params<'_> {
    /// The loss.
    pub fn loss(&self) -> SharedLoss {
        SharedLoss::clone(self.loss)
    }

    /// A parameter as it was written.
    pub fn text(&self, key: &str) -> &str {
        let default =
            || self.entry.parameters.iter().find(|parameter| parameter.name == key).map_or("", |it| it.default);
        match self.given.get(key) {
            Some(given) => given,
            None if key == "radius" => self.radius.unwrap_or_else(default),
            None => default(),
        }
    }

    /// Whether the parameter was given, by the user or, for the radius, by `--radius`.
    pub fn is_given(&self, key: &str) -> bool {
        self.given.contains_key(key) || key == "radius" && self.radius.is_some()
    }

    /// A number.
    ///
    /// # Errors
    /// When it is none.
    pub fn number(&self, key: &str) -> Result<f64, Error> {
        let text = self.text(key);
        text.parse().map_err(|_| Error::parameter(format!("{key} of {} is '{text}': it is a number", self.entry.name)))
    }

    /// A number, or `None` for this word: `auto`, `none`.
    ///
    /// # Errors
    /// When it is neither.
    pub fn number_or(&self, key: &str, word: &str) -> Result<Option<f64>, Error> {
        let text = self.text(key);
        if text == word {
            return Ok(None);
        }
        let wrong = || format!("{key} of {} is '{text}': it is a number, or {word}", self.entry.name);
        text.parse().map(Some).map_err(|_| Error::parameter(wrong()))
    }

    /// A whole number within bounds, and why these, as a refusal says it: "for each costs a weight".
    ///
    /// # Errors
    /// When it is none, or out of them.
    pub fn whole(&self, key: &str, bounds: std::ops::RangeInclusive<u64>, why: &str) -> Result<u64, Error> {
        let text = self.text(key);
        match text.parse() {
            Ok(number) if bounds.contains(&number) => Ok(number),
            _ => Err(Error::parameter(format!(
                "{key} of {} is '{text}': it is a whole number from {} to {}, {why}",
                self.entry.name,
                bounds.start(),
                bounds.end()
            ))),
        }
    }

    /// True or false.
    ///
    /// # Errors
    /// When it is neither.
    pub fn flag(&self, key: &str) -> Result<bool, Error> {
        match self.text(key) {
            "true" => Ok(true),
            "false" | "" => Ok(false),
            other => Err(Error::parameter(format!("{key} of {} is '{other}': it is true or false", self.entry.name))),
        }
    }

    /// One of several words.
    ///
    /// # Errors
    /// When it is none of them.
    pub fn choice<T: Copy>(&self, key: &str, choices: &[(&str, T)]) -> Result<T, Error> {
        let text = self.text(key);
        choices.iter().find(|(word, _)| *word == text).map(|&(_, choice)| choice).ok_or_else(|| {
            let words = choices.iter().map(|&(word, _)| word).collect::<Vec<_>>().join(", ");
            Error::parameter(format!("{key} of {} is '{text}': it is one of {words}", self.entry.name))
        })
    }

    /// Learners joined by `+`, each with its parameters in parentheses if it has any:
    /// `nag+(ogd:radius=2,eta=1)+auto`.
    ///
    /// # Errors
    /// When one of them is no learner.
    pub fn specifications(&self, key: &str) -> Result<Vec<LearnerSpec>, Error> {
        let (mut depth, mut from, mut parts) = (0i32, 0, Vec::new());
        let text = self.text(key);
        for (at, symbol) in text.char_indices() {
            match symbol {
                '(' => depth += 1,
                ')' => depth -= 1,
                '+' if depth == 0 => {
                    parts.push(&text[from..at]);
                    from = at + 1;
                }
                _ => {}
            }
        }
        parts.push(&text[from..]);
        let inner = |part: &str| {
            let part = part.trim();
            if part.is_empty() {
                return Err(Error::parameter(format!(
                    "{key} of {} is '{text}': it is learners joined by +, such as nag+(ogd:radius=2)",
                    self.entry.name
                )));
            }
            let part = part.strip_prefix('(').and_then(|part| part.strip_suffix(')')).unwrap_or(part);
            LearnerSpec::parse_among(part, self.learners)
        };
        parts.into_iter().map(inner).collect()
    }

    /// Builds another learner for the same loss, `--radius` included.
    ///
    /// # Errors
    /// As [`LearnerSpec::build`], and when learners are more than three inside of each other.
    pub fn build(&self, specification: &LearnerSpec) -> Result<Box<dyn crate::Learner>, Error> {
        if self.depth == DEEPEST {
            return Err(Error::parameter(format!(
                "'{}' is inside of more than {DEEPEST} other learners, each within the next",
                specification.name()
            )));
        }
        let named = |error: Error| Error::parameter(format!("{specification} within {}: {error}", self.entry.name));
        specification.build_with(self.loss, self.radius, self.depth + 1).map_err(named)
    }
}
