//! The values of parameters: as they are given, or else by default.

use std::collections::BTreeMap;

use super::{Applies, ParameterDescriptor};
use crate::Error;
use crate::nearest::nearest;

/// The parameters of a learner or a loss with the values that they have. They are checked before anything is built: numbers
/// are in their ranges, and words are among those declared.
#[derive(Debug, Clone)]
pub struct GivenParameters {
    owner: &'static str,
    parameters: &'static [ParameterDescriptor],
    given: BTreeMap<String, String>,
}

/// The parts of a text between separators outside parentheses; `None` where parentheses do not match.
pub(crate) fn split_outside(text: &str, separator: char) -> Option<Vec<&str>> {
    let (mut depth, mut from, mut parts) = (0usize, 0, Vec::new());
    for (at, symbol) in text.char_indices() {
        match symbol {
            '(' => depth += 1,
            ')' => depth = depth.checked_sub(1)?,
            _ if symbol == separator && depth == 0 => {
                parts.push(text[from..at].trim());
                from = at + symbol.len_utf8();
            }
            _ => {}
        }
    }
    parts.push(text[from..].trim());
    (depth == 0).then_some(parts)
}

impl GivenParameters {
    /// Reads `key=value,…`, values in parentheses being one. Values are not looked at.
    pub(crate) fn read(
        owner: &'static str,
        parameters: &'static [ParameterDescriptor],
        text: &str,
    ) -> Result<BTreeMap<String, String>, Error> {
        let pairs = split_outside(text, ',');
        let pairs =
            pairs.ok_or_else(|| Error::parameter(format!("the parentheses in '{owner}:{text}' do not match")))?;
        let mut given = BTreeMap::new();
        for pair in pairs.into_iter().filter(|pair| !pair.is_empty()) {
            let Some((key, value)) = pair.split_once('=') else {
                let example = parameters.first().map_or(String::new(), |it| format!(":{}={}", it.name, it.default));
                return Err(Error::parameter(format!(
                    "'{pair}' in '{owner}:{text}' must have the form key=value, such as {owner}{example}"
                )));
            };
            let (key, value) = (key.trim(), value.trim());
            if !parameters.iter().any(|parameter| parameter.name == key) {
                return Err(unknown(owner, parameters, key));
            }
            if given.insert(key.to_owned(), value.to_owned()).is_some() {
                return Err(Error::parameter(format!("'{owner}:{text}' gives {key} twice")));
            }
        }
        Ok(given)
    }

    /// Refuses values that a parameter does not take, and parameters that have no effect beside the others.
    pub(crate) fn new(
        owner: &'static str,
        parameters: &'static [ParameterDescriptor],
        given: BTreeMap<String, String>,
    ) -> Result<Self, Error> {
        let it = Self { owner, parameters, given };
        let of_owner = format!(" of {owner}");
        for parameter in parameters.iter().filter(|parameter| it.is_given(parameter.name)) {
            let text = it.text(parameter.name);
            let at_least = parameter.at_least_with.filter(|(_, condition)| it.holds(condition));
            let narrower = at_least.and_then(|(least, condition)| {
                parameter.narrowed(least).refuse(&format!("{of_owner} with {condition}"), text)
            });
            if let Some(error) = parameter.refuse(&of_owner, text).or(narrower) {
                return Err(error);
            }
        }
        for parameter in parameters.iter().filter(|parameter| it.is_given(parameter.name)) {
            if let Some(why) = it.why_without_effect(parameter) {
                return Err(Error::parameter(format!(
                    "{}{of_owner} has no effect {why}; leave it out",
                    parameter.name
                )));
            }
        }
        Ok(it)
    }

    /// The same for a saved model: what it does not say has the value of the time before the parameter existed.
    pub(crate) fn of_saved(mut self) -> Self {
        for parameter in self.parameters {
            if let Some(value) = parameter.in_older_models
                && !self.is_given(parameter.name)
                && self.why_without_effect(parameter).is_none()
            {
                self.given.insert(parameter.name.to_owned(), value.to_owned());
            }
        }
        self
    }

    /// Why a parameter has no effect beside the others, if so.
    fn why_without_effect(&self, parameter: &ParameterDescriptor) -> Option<String> {
        match parameter.applies {
            Applies::OnlyWith(condition) if !self.holds(condition) => Some(format!("without {condition}")),
            Applies::Unless(condition) if self.holds(condition) => Some(format!("with {condition}")),
            _ => None,
        }
    }

    /// Whether a condition of [`Applies`] holds.
    fn holds(&self, condition: &str) -> bool {
        let is_so = |term: &str| match term.split_once('=') {
            Some((key, word)) => self.text(key) == word,
            None => self.text(term) != self.parameter(term).default,
        };
        condition.split(" or ").any(|terms| terms.split(" and ").all(is_so))
    }

    fn parameter(&self, key: &str) -> &'static ParameterDescriptor {
        let found = self.parameters.iter().find(|parameter| parameter.name == key);
        found.unwrap_or_else(|| panic!("{} has no parameter {key}", self.owner))
    }

    /// The name of the learner or loss.
    pub fn owner(&self) -> &'static str {
        self.owner
    }

    /// A parameter as it was written, such as the word of one that takes words.
    ///
    /// # Panics
    /// When no such parameter was declared, as the other methods do, and when it is of another kind.
    pub fn text(&self, key: &str) -> &str {
        self.given.get(key).map_or_else(|| self.parameter(key).default, String::as_str)
    }

    /// Whether the parameter was given.
    pub fn is_given(&self, key: &str) -> bool {
        self.given.contains_key(key)
    }

    /// A number.
    pub fn number(&self, key: &str) -> f64 {
        self.optional_number(key).unwrap_or_else(|| panic!("{key} of {} is no number", self.owner))
    }

    /// A number, or `None` for the word that the parameter takes too.
    pub fn optional_number(&self, key: &str) -> Option<f64> {
        self.text(key).parse().ok()
    }

    /// A whole number.
    pub fn whole(&self, key: &str) -> u64 {
        self.optional_whole(key).unwrap_or_else(|| panic!("{key} of {} is no whole number", self.owner))
    }

    /// A whole number, or `None` for the word that the parameter takes too.
    pub fn optional_whole(&self, key: &str) -> Option<u64> {
        self.text(key).parse().ok()
    }

    /// Whether it is true.
    pub fn flag(&self, key: &str) -> bool {
        self.text(key) == "true"
    }
}

fn unknown(owner: &str, parameters: &[ParameterDescriptor], key: &str) -> Error {
    let names = parameters.iter().map(|parameter| parameter.name);
    let all = names.clone().collect::<Vec<_>>().join(", ");
    Error::parameter(match nearest(key, names) {
        _ if parameters.is_empty() => format!("{owner} has no parameter '{key}'; it has no parameters"),
        Some(near) => format!("{owner} has no parameter '{key}'; did you mean '{near}'? Its parameters are: {all}"),
        None => format!("{owner} has no parameter '{key}'; its parameters are: {all}"),
    })
}
