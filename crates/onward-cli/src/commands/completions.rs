//! `onward completions`.

use std::process::ExitCode;

use clap::CommandFactory;

use crate::args::Arguments;
use crate::failure::Failure;
use crate::outputs;

/// Prints the completion script of a shell.
pub(super) fn run(shell: clap_complete::Shell) -> Result<ExitCode, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "onward", &mut script);
    outputs::print(&script)
}
