//! The files that a run writes: each differs from the inputs and from the others,
//! and appears whole or not at all.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use onward_data::{AtomicFile, Input, PreparedFile, Reader};
use onward_engine::{Model, PredictionCsv, to_json};
use serde::Serialize;

use crate::failure::{Failure, is_stream};

/// Refuses an output that is also an input, and two outputs that are one.
pub(crate) fn check(outputs: &[(&str, Option<&PathBuf>)], inputs: &[Input]) -> Result<(), Failure> {
    let named: Vec<_> = outputs.iter().filter_map(|&(flag, path)| Some((flag, path?))).collect();
    for (at, (flag, path)) in named.iter().enumerate() {
        for input in inputs {
            // A file, if that is where the shell has standard input from.
            let from = match input {
                Input::Path(input) => input.as_path(),
                Input::Standard => Path::new("/dev/stdin"),
                _ => continue,
            };
            if same(from, path) {
                return Err(Failure::user(format!(
                    "{flag} {} is also an input and would be overwritten; name another file",
                    path.display()
                )));
            }
        }
        if let Some((other, _)) = named[..at].iter().find(|(_, other)| same(other, path)) {
            let to = if is_standard_output(path) { "standard output".to_owned() } else { path.display().to_string() };
            return Err(Failure::user(format!(
                "{other} and {flag} both write to {to}; name another file for one of \
                    them"
            )));
        }
    }
    Ok(())
}

/// Whether two paths are one regular file (or, not being there yet, would be), or both are
/// standard output.
fn same(one: &Path, other: &Path) -> bool {
    if is_standard_output(one) && is_standard_output(other) {
        return true;
    }
    match (place(one), place(other)) {
        (Some(one), Some(other)) => one == other && (one.is_file() || !one.exists()),
        (None, None) => one == other,
        _ => false,
    }
}

/// Where a path leads, however it is spelled: what is not there yet is told by its folder.
fn place(path: &Path) -> Option<PathBuf> {
    // A file, if that is where the shell sends it.
    let path = if is_standard_output(path) { Path::new("/dev/stdout") } else { path };
    if let Ok(place) = fs::canonicalize(path) {
        return Some(place);
    }
    let folder = path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
    Some(fs::canonicalize(folder).ok()?.join(path.file_name()?))
}

/// Whether this is standard output, by any of its names.
pub(crate) fn is_standard_output(path: &Path) -> bool {
    ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"].iter().any(|name| path == Path::new(name))
}

/// Writes what a command was asked for to standard output.
pub(crate) fn print(bytes: &[u8]) -> Result<ExitCode, Failure> {
    let mut outputs = Outputs::default();
    outputs.write(Path::new("-"), bytes)?;
    outputs.commit()?;
    Ok(ExitCode::SUCCESS)
}

/// The file of predictions, with its header.
pub(crate) fn predictions(path: &Path, reader: &Reader, model: &Model) -> Result<PredictionCsv<AtomicFile>, Failure> {
    let written = AtomicFile::create(path)
        .and_then(|file| PredictionCsv::new(file, reader.id_names(), model.loss(), path == Path::new("-")));
    written.map_err(|error| Failure::writing(path, error))
}

/// What a run leaves behind: all is written before the first file takes its place, so
/// that a run that fails leaves all of what was there before.
#[derive(Default)]
pub(crate) struct Outputs {
    files: Vec<(PathBuf, PreparedFile)>,
    /// The reader of one of them has gone away. The others are still written.
    left: Option<Failure>,
}

impl Outputs {
    /// Adds a whole file.
    pub(crate) fn write(&mut self, path: &Path, bytes: &[u8]) -> Result<(), Failure> {
        let written = AtomicFile::create(path).and_then(|mut file| file.write_all(bytes).map(|()| file));
        match written {
            Ok(file) => self.add(path, file),
            Err(error) => self.failed(path, error),
        }
    }

    /// Adds a report, if it is asked for.
    pub(crate) fn report(&mut self, path: Option<&PathBuf>, report: &impl Serialize) -> Result<(), Failure> {
        let Some(path) = path else { return Ok(()) };
        self.write(path, to_json(report).map_err(Failure::user)?.as_bytes())
    }

    /// Adds a file that was written bit by bit.
    pub(crate) fn add(&mut self, path: &Path, file: AtomicFile) -> Result<(), Failure> {
        match file.prepare() {
            Ok(prepared) => self.files.push((path.to_owned(), prepared)),
            Err(error) => self.failed(path, error)?,
        }
        Ok(())
    }

    fn failed(&mut self, path: &Path, error: io::Error) -> Result<(), Failure> {
        let failure = Failure::writing(path, error);
        if !failure.is_broken_pipe() {
            return Err(failure);
        }
        self.left.get_or_insert(failure);
        Ok(())
    }

    /// Puts all files in their places.
    pub(crate) fn commit(self) -> Result<(), Failure> {
        for (path, file) in self.files {
            file.commit().map_err(|error| Failure::writing(&path, error))?;
        }
        self.left.map_or(Ok(()), Err)
    }
}

/// Finds out before the run that a file cannot be written at all.
pub(crate) fn probe(path: Option<&PathBuf>) -> Result<(), Failure> {
    // A pipe would see its writer come and go.
    let Some(path) = path.filter(|path| !is_stream(path)) else { return Ok(()) };
    AtomicFile::create(path).map(drop).map_err(|error| Failure::writing(path, error))
}
