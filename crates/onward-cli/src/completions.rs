//! Completion scripts for shells.

use std::process::ExitCode;

use clap::CommandFactory;

use crate::arguments::Arguments;
use crate::failure::Failure;

/// Prints the script of a shell.
pub(crate) fn run(shell: clap_complete::Shell) -> Result<ExitCode, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "onward", &mut script);
    crate::outputs::write(std::path::Path::new("-"), &script)?;
    Ok(ExitCode::SUCCESS)
}
