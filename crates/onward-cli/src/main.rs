//! The `onward` program: learns from files and pipes, and says what it cost.

// These panic where the stream is closed: `stderr` and `outputs` do not.
#![warn(clippy::print_stderr, clippy::print_stdout)]

mod args;
mod commands;
mod failure;
mod outputs;
mod render;
mod signals;
mod stderr;
mod watch;

use std::process::ExitCode;

use clap::Parser;

use crate::failure::Failure;

fn main() -> ExitCode {
    commands::run(args::Arguments::parse()).unwrap_or_else(|failure| report_failure(&failure))
}

/// Says what went wrong; a reader of our output that has gone away is no fault.
fn report_failure(failure: &Failure) -> ExitCode {
    if failure.is_broken_pipe() {
        return ExitCode::SUCCESS;
    }
    stderr::line(format_args!("onward: {failure}"));
    failure.exit_code()
}
