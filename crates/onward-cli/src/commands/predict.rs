//! `onward predict`.

use std::path::Path;
use std::process::ExitCode;

use onward_data::Input;
use onward_engine::{Model, PredictRun, is_model_file};

use crate::args::PredictArguments;
use crate::failure::Failure;
use crate::outputs::{self, Outputs};
use crate::render::text::summary;
use crate::stderr;
use crate::watch::Watch;

/// Predicts, and says what that cost where there are labels.
pub(super) fn run(arguments: &PredictArguments) -> Result<ExitCode, Failure> {
    let inputs = arguments.input.inputs()?;
    let (path, report) = (&arguments.predictions, arguments.output.report.as_ref());
    let written = [("--predictions", Some(path)), ("--report", report), ("--cache", arguments.input.cache.as_ref())];
    outputs::check(&written, &[&inputs[..], &[Input::Path(arguments.model.clone())]].concat())?;
    [Some(path), report].into_iter().try_for_each(outputs::probe)?;
    let model = load(&arguments.model, &inputs)?;
    let watch = Watch::begin(&arguments.input, arguments.output.quiet, "mean loss")?;
    let run = PredictRun::open(&model, &inputs, arguments.input.reading())?;
    let run = if arguments.averaged { run.averaged()? } else { run };
    watch.opened(run.reader(), &arguments.input, None);
    let mut csv = outputs::predictions(path, run.reader(), run.model())?;
    let predicted = run.run(&mut csv, &watch);
    watch.finish();
    let files = [("report", report)];
    let predicted = predicted.map_err(|error| Failure::of_run(error, Some(path)).before_files(&files))?;
    let mut outputs = Outputs::default();
    outputs.add(path, csv.into_inner())?;
    outputs.report(report, &predicted)?;
    outputs.commit()?;
    if !arguments.output.quiet {
        stderr::block(summary::predicted(&predicted));
    }
    Ok(watch.exit_code())
}

/// Loads the MODEL of `onward predict MODEL INPUT…`; where this is no model, reminds of the order.
fn load(path: &Path, inputs: &[Input]) -> Result<Model, Failure> {
    Model::load(path).map_err(|error| {
        let failure = Failure::from(error);
        let model = inputs.iter().find(|input| matches!(input, Input::Path(path) if is_model_file(path)));
        match model {
            _ if is_model_file(path) || !path.is_file() => failure,
            Some(model) => failure.hint(format_args!("{} may be one; the model comes first", model.name())),
            None => failure.hint("the model comes first: onward predict MODEL INPUT"),
        }
    })
}
