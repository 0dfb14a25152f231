//! One file for each command.

mod compare;
mod completions;
mod convert;
mod inspect;
mod learn;
mod list;
mod plan;
mod predict;
mod show;

use std::process::ExitCode;

use crate::args::{Arguments, Command};
use crate::failure::Failure;

/// Does what the arguments say.
pub(crate) fn run(arguments: Arguments) -> Result<ExitCode, Failure> {
    match arguments.command {
        Command::Learn(arguments) => learn::run(&arguments),
        Command::Compare(arguments) => compare::run(&arguments),
        Command::Predict(arguments) => predict::run(&arguments),
        Command::Show(arguments) => show::run(&arguments),
        Command::Inspect(arguments) => inspect::run(&arguments),
        Command::Convert(arguments) => convert::run(&arguments),
        Command::List { what } => list::run(what),
        Command::Plan(arguments) => plan::run(&arguments),
        Command::Completions { shell } => completions::run(shell),
    }
}
