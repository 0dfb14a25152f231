//! `onward play`.

use std::process::ExitCode;

use onward_engine::{PlayRun, Report, RunControl};

use crate::args::PlayArguments;
use crate::failure::Failure;
use crate::outputs::{self, Outputs};
use crate::render::html;
use crate::render::text::{game, table};
use crate::signals::Signals;
use crate::stderr;

/// A game ends on a signal.
impl RunControl for Signals {
    fn is_cancelled(&self) -> bool {
        self.received()
    }
}

/// Plays, writes what is asked for, and says what each player paid.
pub(super) fn run(arguments: &PlayArguments) -> Result<ExitCode, Failure> {
    let input = arguments.input()?;
    let (path, html, quiet) = (arguments.output.report.as_ref(), arguments.html.as_ref(), arguments.output.quiet);
    outputs::check(&[("--report", path), ("--html", html)], std::slice::from_ref(&input))?;
    [path, html].into_iter().try_for_each(outputs::probe)?;
    let signals = Signals::catch().map_err(Failure::user)?;
    let run = PlayRun::open(input, arguments.options())?;
    signals.opened();
    if !quiet {
        stderr::block(game::opened(run.reader()));
    }
    let report = run.run(&signals)?;
    let mut outputs = Outputs::default();
    outputs.report(path, &report)?;
    let report = Report::Play(report);
    if let Some(path) = html {
        outputs.write(path, html::page(&report).as_bytes())?;
    }
    outputs.commit()?;
    if !quiet {
        stderr::block(game::head(&report));
        stderr::block(table::of(&report).text());
        stderr::block(game::best(&report));
        stderr::block(game::curves(&report));
    }
    Ok(signals.exit_code())
}
