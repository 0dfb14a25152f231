//! `onward show`.

use std::io::Read;
use std::path::Path;
use std::process::ExitCode;

use onward::archive::is_safetensors;
use onward_engine::{EngineError, Report};

use crate::args::ShowArguments;
use crate::failure::Failure;
use crate::outputs::{self, Outputs};
use crate::render::terminal::Terminal;
use crate::render::text::table;
use crate::render::{html, svg, terminal};

/// Draws a report, or prints its table.
pub(super) fn run(arguments: &ShowArguments) -> Result<ExitCode, Failure> {
    let report = load(&arguments.report)?;
    let (html, svg) = (arguments.html.as_ref(), arguments.svg.as_ref());
    outputs::check(&[("--html", html), ("--svg", svg)], &[onward_data::Input::Path(arguments.report.clone())])?;
    let mut outputs = Outputs::default();
    if let Some(path) = html {
        outputs.write(path, html::page(&report).as_bytes())?;
    }
    if let Some(path) = svg {
        outputs.write(path, svg::picture(&report).as_bytes())?;
    }
    if arguments.plot {
        outputs.write(Path::new("-"), terminal::plot(&report, &Terminal::of_standard_output()).as_bytes())?;
    }
    if html.is_none() && svg.is_none() && !arguments.plot {
        outputs.write(Path::new("-"), table::of(&report).text().as_bytes())?;
    }
    outputs.commit()?;
    Ok(ExitCode::SUCCESS)
}

fn load(path: &Path) -> Result<Report, Failure> {
    let name = path.display();
    let mut bytes = Vec::new();
    let read = match path == Path::new("-") {
        true => std::io::stdin().read_to_end(&mut bytes),
        false => std::fs::File::open(path).and_then(|mut file| file.read_to_end(&mut bytes)),
    };
    read.map_err(|error| EngineError::Read { path: path.to_owned(), error })?;
    if is_safetensors(&bytes) {
        return Err(Failure::user(format_args!("{name}: is a model, not a report; use onward inspect")));
    }
    // What is no text is no report either.
    let report = Report::from_json(&String::from_utf8_lossy(&bytes)).map_err(|error| {
        Failure::user(format_args!(
            "{name}: {error}; write one with `onward learn --report` or `onward compare --report`"
        ))
    })?;
    match report.learners() {
        [] => Err(Failure::user(format_args!(
            "{name}: is a report of `onward predict`; only those of `onward learn` and `onward compare` can be drawn"
        ))),
        _ => Ok(report),
    }
}
