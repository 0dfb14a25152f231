//! What can go wrong in a run.

use std::io;
use std::path::{Path, PathBuf};

use onward_data::{DataError, DataErrorKind, Position, io_reason};

/// An error of a run, a model or their options. Each door words it for its users; the text here names no
/// option of a program.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// An input cannot be read, or does not fit its options or the model.
    #[error(transparent)]
    Data(#[from] DataError),
    /// A learner, loss, parameter, row or label is not what it must be.
    #[error(transparent)]
    Core(#[from] onward::Error),
    /// A row in memory is not what it must be.
    #[error("row {row}{}: {error}", column.map(|column| format!(", column {column}")).unwrap_or_default())]
    Row {
        /// Its number, from 0.
        row: usize,
        /// The number of the column, from 0, if it is about one.
        column: Option<usize>,
        /// What must be so, and what was found.
        error: Box<EngineError>,
    },
    /// An option of the run has no use, or not this value.
    #[error("{name}{separator}{message}", separator = if name.is_empty() { "" } else { " " })]
    Option {
        /// The option, in snake case; empty if the error is about several.
        name: &'static str,
        /// What it must be, and what it is.
        message: String,
    },
    /// A model cannot be loaded or saved.
    #[error("{}{message}", path.as_ref().map(|path| format!("{}: ", path.display())).unwrap_or_default())]
    Model {
        /// Its file, if it has one.
        path: Option<PathBuf>,
        /// What is wrong with it.
        message: String,
    },
    /// A file cannot be read.
    #[error("{}: {}", path.display(), reading(error))]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A file cannot be written.
    #[error("{}: cannot be written: {}", path.display(), io_reason(error))]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// The predictions cannot be written.
    #[error("the predictions cannot be written: {0}")]
    Predictions(io::Error),
    /// The temporary file of rows cannot be written or read.
    #[error("the temporary file of rows cannot be used: {0}")]
    RowStore(io::Error),
    /// A fault of the program.
    #[error("{0}; this is a bug in Onward, please report it")]
    Fault(&'static str),
}

/// Who can mend an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EngineErrorKind {
    /// The user, by another input, option or path.
    User,
    /// The administrator of the system.
    System,
}

impl EngineError {
    /// An option that is not what it must be.
    pub(crate) fn option(name: &'static str, message: impl Into<String>) -> Self {
        Self::Option { name, message: message.into() }
    }

    /// The same error, found in this row.
    pub(crate) fn of_row(self, row: usize, column: Option<usize>) -> Self {
        Self::Row { row, column, error: Box::new(self) }
    }

    /// A model whose file is not known here.
    pub(crate) fn model(message: impl ToString) -> Self {
        Self::Model { path: None, message: message.to_string() }
    }

    /// The same error of a model from this file.
    pub(crate) fn of_model(self, path: &Path) -> Self {
        let message = self.to_string();
        Self::Model { path: Some(path.to_owned()), message }
    }

    /// Who can mend it.
    pub fn kind(&self) -> EngineErrorKind {
        use io::ErrorKind::{IsADirectory, NotADirectory, NotFound, PermissionDenied};
        let is_system = match self {
            Self::Data(error) => error.kind() == DataErrorKind::Io,
            Self::Row { error, .. } => return error.kind(),
            Self::Core(_) | Self::Option { .. } | Self::Model { .. } | Self::Read { .. } => false,
            // Another path would mend some.
            Self::Write { error, .. } => {
                !matches!(error.kind(), NotFound | PermissionDenied | IsADirectory | NotADirectory)
            }
            Self::Predictions(_) | Self::RowStore(_) | Self::Fault(_) => true,
        };
        if is_system { EngineErrorKind::System } else { EngineErrorKind::User }
    }

    /// Where in the inputs it was found.
    pub fn position(&self) -> Option<&Position> {
        match self {
            Self::Data(error) => Some(error.position()),
            _ => None,
        }
    }
}

fn reading(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::IsADirectory => io_reason(error),
        _ => format!("cannot be read: {}", io_reason(error)),
    }
}
