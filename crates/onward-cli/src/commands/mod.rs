//! One file for each command that reads examples or draws, and one for those that print.

mod compare;
mod convert;
mod learn;
mod play;
mod predict;
mod print;
mod show;

use std::process::ExitCode;

use crate::args::{Arguments, Command};
use crate::failure::Failure;

/// Does what the arguments say.
pub(crate) fn run(arguments: Arguments) -> Result<ExitCode, Failure> {
    match arguments.command {
        Command::Learn(arguments) => learn::run(&arguments),
        Command::Compare(arguments) => compare::run(&arguments),
        Command::Play(arguments) => play::run(&arguments),
        Command::Predict(arguments) => predict::run(&arguments),
        Command::Show(arguments) => show::run(&arguments),
        Command::Inspect(arguments) => print::inspect(&arguments),
        Command::Convert(arguments) => convert::run(&arguments),
        Command::List { what } => print::list(what),
        Command::Plan(arguments) => print::plan(&arguments),
        Command::Completions { shell } => print::completions(shell),
    }
}
