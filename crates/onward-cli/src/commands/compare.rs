//! `onward compare`.

use std::process::ExitCode;

use onward_engine::{CompareRun, Report};

use crate::args::CompareArguments;
use crate::failure::Failure;
use crate::outputs::{self, Outputs};
use crate::render::text::{skill, summary, table};
use crate::stderr;
use crate::watch::Watch;

/// Lets learners learn side by side, writes what is asked for, and says what each paid.
pub(super) fn run(arguments: &CompareArguments) -> Result<ExitCode, Failure> {
    arguments.check()?;
    let inputs = arguments.input.inputs()?;
    let (path, quiet) = (arguments.output.report.as_ref(), arguments.output.quiet);
    outputs::check(&[("--report", path), ("--cache", arguments.input.cache.as_ref())], &inputs)?;
    outputs::probe(path)?;
    let watch = Watch::begin(&arguments.input, quiet, "least sequential risk")?;
    let run = CompareRun::open(&inputs, arguments.options())?;
    watch.opened(run.reader(), &arguments.input, Some(&arguments.columns));
    let names: Vec<_> = run.contestants().iter().map(|contestant| contestant.name()).collect();
    let loss = run.contestants().first().map(|contestant| contestant.model().loss().name()).unwrap_or_default();
    watch.say(format_args!("learners: {}; loss: {loss}", names.join(", ")));
    let outcome = run.run(&watch);
    watch.finish();
    let outcome = outcome?;
    let report = outcome.report();
    let mut outputs = Outputs::default();
    outputs.report(path, &report)?;
    outputs.commit()?;
    if !quiet {
        let report = Report::Compare(report);
        stderr::block(summary::head(report.stream(), report.timing(), 1));
        stderr::block(table::of(&report).text());
        if let Some((_, model)) = outcome.models().next() {
            stderr::block(summary::in_hindsight(&report, model));
        }
        skill::label_order_line(&report).iter().for_each(stderr::line);
        for (name, model) in outcome.models() {
            if let Some((what, meaning)) = skill::off_course(model) {
                stderr::line(format_args!("{name} {what}: {meaning}"));
            }
        }
    }
    Ok(watch.exit_code())
}
