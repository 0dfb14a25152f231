//! The files that a run writes: each differs from the inputs and from the others,
//! and appears whole or not at all.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use onward_data::{AtomicFile, Input};

use crate::failure::Failure;

/// Refuses an output that is also an input, and two outputs that are one.
pub(crate) fn check(outputs: &[(&str, Option<&PathBuf>)], inputs: &[Input]) -> Result<(), Failure> {
    let named: Vec<_> = outputs.iter().filter_map(|&(flag, path)| Some((flag, path?))).collect();
    for (at, (flag, path)) in named.iter().enumerate() {
        for input in inputs {
            if let Input::Path(input) = input
                && same(input, path)
            {
                return Err(Failure::user(format!(
                    "{flag} {} is also an input: it would be overwritten",
                    path.display()
                )));
            }
        }
        if let Some((other, _)) = named[..at].iter().find(|(_, other)| same(other, path)) {
            return Err(Failure::user(format!("{other} and {flag} both write to {}", path.display())));
        }
    }
    Ok(())
}

/// Whether two paths are one regular file (or, not being there yet, would be), or one
/// standard output.
fn same(one: &Path, other: &Path) -> bool {
    match (fs::canonicalize(one), fs::canonicalize(other)) {
        (Ok(one), Ok(other)) => one == other && one.is_file(),
        (Err(_), Err(_)) => one == other,
        _ => false,
    }
}

/// Writes a whole file.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let written = || -> io::Result<()> {
        let mut file = AtomicFile::create(path)?;
        file.write_all(bytes)?;
        file.commit()
    };
    written().map_err(|error| Failure::writing(path, &error))
}

/// Finds out early that a file cannot be written at all, rather than after an hour.
pub(crate) fn probe(path: Option<&PathBuf>) -> Result<(), Failure> {
    match path {
        // A pipe would see its writer come and go.
        Some(path) if fs::metadata(path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir()) => Ok(()),
        Some(path) if path == Path::new("-") => Ok(()),
        Some(path) => AtomicFile::create(path).map(drop).map_err(|error| Failure::writing(path, &error)),
        None => Ok(()),
    }
}
