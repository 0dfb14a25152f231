//! The `onward` program: learns from files and pipes, and says what it cost.

// These panic where the stream is closed: `say` and `outputs` do not.
#![warn(clippy::print_stderr, clippy::print_stdout)]

mod arguments;
mod books;
mod chart;
mod compare;
mod completions;
mod convert;
mod course;
mod failure;
mod hindsight;
mod inputs;
mod inspect;
mod learn;
mod order;
mod outputs;
mod page;
mod plan;
mod plot;
mod predict;
mod predictions;
mod progress;
mod recorder;
mod report;
mod saved;
mod say;
mod scale;
mod session;
mod signals;
mod summary;
mod svg;
mod table;
mod threads;
mod verdict;

use std::process::ExitCode;

use clap::Parser;

use crate::arguments::{Arguments, Command};
use crate::failure::Failure;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let result = match arguments.command {
        Command::Learn(options) => learn::run(&options),
        Command::Compare(options) => compare::run(&options),
        Command::Predict(options) => predict::run(&options),
        Command::Inspect(options) => inspect::run(&options),
        Command::Convert(options) => convert::run(&options),
        Command::Completions { shell } => completions::run(shell),
    };
    match result {
        Ok(code) => code,
        Err(failure) => report_failure(&failure),
    }
}

/// Says what went wrong; a reader of our output that has gone away is no fault.
fn report_failure(failure: &Failure) -> ExitCode {
    if failure.is_broken_pipe() {
        return ExitCode::SUCCESS;
    }
    say::line(format_args!("onward: {failure}"));
    failure.exit_code()
}
