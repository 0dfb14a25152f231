//! What ends a run: with a message and an exit code, 2 for what the user can
//! mend, 1 for what they cannot.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use onward_data::DataError;
use onward_engine::{EngineError, EngineErrorKind};

/// The end of a run that did not succeed.
#[derive(Debug)]
pub(crate) struct Failure {
    message: String,
    code: u8,
    broken_pipe: bool,
}

/// The user can mend it.
const MENDABLE: u8 = 2;
/// The user cannot.
const SYSTEM: u8 = 1;

impl Failure {
    /// Something that the user can mend.
    pub(crate) fn user(message: impl fmt::Display) -> Self {
        Self { message: message.to_string(), code: MENDABLE, broken_pipe: false }
    }

    /// Something that the user cannot mend by other arguments.
    pub(crate) fn system(message: impl fmt::Display) -> Self {
        Self { message: message.to_string(), code: SYSTEM, broken_pipe: false }
    }

    /// A file that cannot be written.
    pub(crate) fn writing(path: &Path, error: &io::Error) -> Self {
        let name = if path == Path::new("-") { "standard output".to_owned() } else { path.display().to_string() };
        let code = match error.kind() {
            io::ErrorKind::NotFound
            | io::ErrorKind::PermissionDenied
            | io::ErrorKind::IsADirectory
            | io::ErrorKind::NotADirectory => MENDABLE,
            _ => SYSTEM,
        };
        let remedy = match error.kind() {
            io::ErrorKind::NotFound => "; the folder must exist",
            io::ErrorKind::StorageFull if crate::outputs::is_stream(path) => "; free some space and run again",
            io::ErrorKind::StorageFull => "; free some space and run again: what was there before is unchanged",
            _ => "",
        };
        let broken_pipe = error.kind() == io::ErrorKind::BrokenPipe;
        Self { message: format!("{name}: cannot be written: {error}{remedy}"), code, broken_pipe }
    }

    /// An error of a run that writes its predictions to this path.
    pub(crate) fn of_run(error: EngineError, predictions: Option<&PathBuf>) -> Self {
        match (error, predictions) {
            (EngineError::Predictions(error), Some(path)) => Self::writing(path, &error),
            (error, _) => error.into(),
        }
    }

    /// The reader of the output has gone away before the run was over: no fault, unless files
    /// were to be written at its end.
    pub(crate) fn before_files(self, files: &[(&str, Option<&PathBuf>)]) -> Self {
        let asked: Vec<_> = files.iter().filter(|(_, path)| path.is_some()).map(|&(what, _)| what).collect();
        if !self.broken_pipe || asked.is_empty() {
            return self;
        }
        Self::system(format_args!(
            "{}: its reader went away before the run was over, so that no {} is written; let it read to the end, or \
             write to a file",
            self.message,
            asked.join(" or ")
        ))
    }

    /// Adds what may be meant.
    pub(crate) fn hint(self, hint: impl fmt::Display) -> Self {
        Self { message: format!("{self}; {hint}"), ..self }
    }

    pub(crate) fn is_broken_pipe(&self) -> bool {
        self.broken_pipe
    }

    pub(crate) fn exit_code(&self) -> ExitCode {
        ExitCode::from(self.code)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.message)
    }
}

impl From<EngineError> for Failure {
    /// Options are named as they are written here.
    fn from(error: EngineError) -> Self {
        let message = match &error {
            EngineError::Option { name, message } if !name.is_empty() => {
                format!("--{} {message}", name.replace('_', "-"))
            }
            EngineError::RowStore(error) => {
                let folder = std::env::temp_dir();
                format!(
                    "the temporary file of rows in {} cannot be used: {error}; free some space there, or name another \
                     folder in the environment variable TMPDIR",
                    folder.display()
                )
            }
            other => other.to_string(),
        };
        let code = if error.kind() == EngineErrorKind::System { SYSTEM } else { MENDABLE };
        Self { message, code, broken_pipe: false }
    }
}

impl From<DataError> for Failure {
    fn from(error: DataError) -> Self {
        EngineError::from(error).into()
    }
}

impl From<onward::Error> for Failure {
    fn from(error: onward::Error) -> Self {
        Self::user(error)
    }
}

impl From<&str> for Failure {
    fn from(message: &str) -> Self {
        Self::user(message)
    }
}
