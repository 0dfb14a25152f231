//! What ends a run: with a message and an exit code, 2 for what the user can
//! mend, 1 for what they cannot.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use onward_data::{DataError, io_reason};
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
    pub(crate) fn writing(path: &Path, error: io::Error) -> Self {
        EngineError::Write { path: path.to_owned(), error }.into()
    }

    /// An error of a run that writes its predictions to this path.
    pub(crate) fn of_run(error: EngineError, predictions: Option<&PathBuf>) -> Self {
        match (error, predictions) {
            (EngineError::Predictions(error), Some(path)) => Self::writing(path, error),
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
            "{}: its reader closed it before the end of the run, so no {} is written; let it read to the end, or \
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
        let code = if error.kind() == EngineErrorKind::System { SYSTEM } else { MENDABLE };
        let message = match &error {
            EngineError::Option { name, message } => format!("--{} {message}", name.replace('_', "-")),
            EngineError::RowStore(error) => format!(
                "the temporary file of rows in {} cannot be used: {}; free some space there, or name another \
                 folder in the environment variable TMPDIR",
                std::env::temp_dir().display(),
                io_reason(error)
            ),
            EngineError::Write { path, error } => unwritten(path, error),
            EngineError::Data(error) => error.command_line(),
            other => other.to_string(),
        };
        let broken_pipe =
            matches!(&error, EngineError::Write { error, .. } if error.kind() == io::ErrorKind::BrokenPipe);
        Self { message, code, broken_pipe }
    }
}

/// Why a file cannot be written, and what to do.
fn unwritten(path: &Path, error: &io::Error) -> String {
    let name = if path == Path::new("-") { "standard output".to_owned() } else { path.display().to_string() };
    let remedy = match error.kind() {
        io::ErrorKind::NotFound => return format!("{name}: cannot be written: its folder does not exist; create it"),
        io::ErrorKind::StorageFull if is_stream(path) => "; free some space and run again",
        io::ErrorKind::StorageFull => "; free some space and run again; the old file is unchanged",
        _ => "",
    };
    format!("{name}: cannot be written: {}{remedy}", io_reason(error))
}

/// Whether this is standard output, a pipe or a device: what is written there is not a
/// file that replaces another.
pub(crate) fn is_stream(path: &Path) -> bool {
    let is_special = || fs::metadata(path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir());
    path == Path::new("-") || is_special()
}

impl From<DataError> for Failure {
    fn from(error: DataError) -> Self {
        EngineError::from(error).into()
    }
}

impl From<&str> for Failure {
    fn from(message: &str) -> Self {
        Self::user(message)
    }
}
