//! What ends a run: with a message and an exit code, 2 for what the user can
//! mend, 1 for what they cannot.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use onward_data::{DataError, DataErrorKind};

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

    /// Whoever read the output has gone away before the run was over: no fault, unless files
    /// were to be written at its end.
    pub(crate) fn before_files(self, files: &[(&str, Option<&PathBuf>)]) -> Self {
        let asked: Vec<_> = files.iter().filter(|(_, path)| path.is_some()).map(|&(flag, _)| flag).collect();
        if !self.broken_pipe || asked.is_empty() {
            return self;
        }
        let message = format!(
            "{self}: its reader went away before the run was over, so that no {} is written; let it read to the end, \
             or write to a file",
            asked.join(" and no ")
        );
        Self { message, code: SYSTEM, broken_pipe: false }
    }

    /// Adds what may help.
    pub(crate) fn hint(self, hint: impl fmt::Display) -> Self {
        Self { message: format!("{self}; {hint}"), ..self }
    }

    /// A file that cannot be read.
    pub(crate) fn reading(path: &Path, error: &io::Error) -> Self {
        let found = match error.kind() {
            io::ErrorKind::NotFound => "no such file".to_owned(),
            io::ErrorKind::IsADirectory => "is a folder".to_owned(),
            _ => format!("cannot be read: {error}"),
        };
        Self::user(format!("{}: {found}", path.display()))
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

impl From<DataError> for Failure {
    fn from(error: DataError) -> Self {
        let code = if error.kind() == DataErrorKind::Io { SYSTEM } else { MENDABLE };
        Self { message: error.command_line(), code, broken_pipe: false }
    }
}

impl From<onward::Error> for Failure {
    fn from(error: onward::Error) -> Self {
        Self::user(error)
    }
}
