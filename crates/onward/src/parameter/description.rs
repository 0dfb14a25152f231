//! What a learner says of itself.

use std::fmt::{self, Display};

use super::ParameterDescriptor;

/// A name and the values of its parameters, as `--learner` takes them.
///
/// ```
/// use onward::parameter::{Description, flag, positive};
/// let (eta, average) = (positive("eta").or("auto"), flag("average").quiet());
/// let text = |value| Description::of("ogd").with(&average, false).with_optional(&eta, value).to_string();
/// assert_eq!((text(Some(0.5)), text(None)), ("ogd:eta=0.5".to_owned(), "ogd:eta=auto".to_owned()));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Description(String);

impl Description {
    /// Of this name, or of what has been said so far.
    pub fn of(name: impl Into<String>) -> Self {
        Self(name.into())
    }

    /// Adds a parameter with the value that is used. A quiet one is left out at its default.
    pub fn with(mut self, parameter: &ParameterDescriptor, value: impl Display) -> Self {
        let value = value.to_string();
        if !(parameter.is_quiet && value == parameter.default) {
            let separator = if self.0.contains(':') { ',' } else { ':' };
            self.0 += &format!("{separator}{}={value}", parameter.name);
        }
        self
    }

    /// The same for a parameter that takes a word, which stands for no value.
    pub fn with_optional(self, parameter: &ParameterDescriptor, value: Option<impl Display>) -> Self {
        match value {
            Some(value) => self.with(parameter, value),
            None => self.with(parameter, parameter.word.unwrap_or_default()),
        }
    }
}

impl Display for Description {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl From<Description> for String {
    fn from(description: Description) -> Self {
        description.0
    }
}
