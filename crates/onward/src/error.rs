//! What can go wrong in this crate: a parameter, a feature row, or a saved model.

use std::fmt;

/// An error of this crate: opaque, with a [`kind`](Error::kind) to match on and
/// a message that says what was found, what is allowed and what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    kind: ErrorKind,
    message: String,
}

/// What an [`Error`] is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A parameter, or a name of a loss or learner, outside what is allowed.
    Parameter,
    /// A row whose indices and values do not match, or whose values are not finite.
    Features,
    /// A label that the loss cannot take.
    Label,
    /// A saved model that is damaged, cut short, newer, or of another learner.
    Model,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: impl fmt::Display) -> Self {
        Self { kind, message: message.to_string() }
    }

    /// An error about a parameter, which learners and losses of your own give too.
    pub fn parameter(message: impl fmt::Display) -> Self {
        Self::new(ErrorKind::Parameter, message)
    }

    /// An error about a saved model.
    pub(crate) fn model(message: impl fmt::Display) -> Self {
        Self::new(ErrorKind::Model, message)
    }

    /// What the error is about.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }
}
