//! `onward inspect`.

use std::process::ExitCode;

use onward_engine::{Model, to_json};

use crate::args::InspectArguments;
use crate::failure::Failure;
use crate::outputs;
use crate::render::text::inspection;

/// Prints what a model holds.
pub(super) fn run(arguments: &InspectArguments) -> Result<ExitCode, Failure> {
    let model = Model::load(&arguments.model)?;
    let text = match arguments.json {
        true => to_json(&model.inspect(arguments.top)).map_err(Failure::user)?,
        false => inspection::text(&model, arguments.top),
    };
    outputs::print(text.as_bytes())
}
