//! `onward plan`: what the theory promises for a stream before there is one.

use std::process::ExitCode;

use onward_engine::Plan;

use crate::args::PlanArguments;
use crate::failure::Failure;
use crate::outputs;
use crate::render::text::plan::text;

/// Prints the promise for the stream, and for some shorter and longer ones.
pub(super) fn run(arguments: &PlanArguments) -> Result<ExitCode, Failure> {
    let plan = Plan::new(&arguments.model_options(), arguments.task.into())?;
    let bounds = arguments.bounds().map_err(Failure::user)?;
    outputs::print(text(&plan, &bounds)?.as_bytes())
}
