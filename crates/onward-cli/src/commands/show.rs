//! `onward show`.

use std::io::Read;
use std::path::Path;
use std::process::ExitCode;

use onward_engine::Report;

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
    let mut text = String::new();
    let read = match path == Path::new("-") {
        true => std::io::stdin().read_to_string(&mut text),
        false => std::fs::File::open(path).and_then(|mut file| file.read_to_string(&mut text)),
    };
    read.map_err(|error| Failure::user(format_args!("{name}: cannot be read: {error}")))?;
    let report = Report::from_json(&text).map_err(|_| {
        Failure::user(format_args!(
            "{name}: is not a report; `onward learn --report` and `compare --report` write them"
        ))
    })?;
    match report.learners() {
        [] => Err(Failure::user(format_args!("{name}: is a report of `onward predict`, which has nothing to draw"))),
        _ => Ok(report),
    }
}
