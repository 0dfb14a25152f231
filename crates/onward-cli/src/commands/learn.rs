//! `onward learn`.

use std::process::ExitCode;

use onward_data::Input;
use onward_engine::{LearnRun, Model, PredictionSink};

use crate::args::LearnArguments;
use crate::failure::Failure;
use crate::outputs::{self, Outputs};
use crate::render::text::summary;
use crate::stderr;
use crate::watch::Watch;

/// Learns, writes what is asked for, and says what it cost.
pub(super) fn run(arguments: &LearnArguments) -> Result<ExitCode, Failure> {
    arguments.check()?;
    let inputs = arguments.input.inputs()?;
    check_outputs(arguments, &inputs)?;
    let model = arguments.init.as_ref().map(Model::load).transpose()?;
    let options = arguments.options(model);
    let watch = Watch::begin(&arguments.input, arguments.output.quiet, "sequential risk")?;
    let run = LearnRun::open(&inputs, options)?;
    let model = run.model();
    watch.opened(run.reader(), &arguments.input, Some(&arguments.columns));
    watch.say(format_args!("learner: {}, loss: {}", model.learner().describe(), model.loss().name()));
    let predictions = arguments.predictions.as_ref();
    let mut csv = predictions.map(|path| outputs::predictions(path, run.reader(), model)).transpose()?;
    let sink = csv.as_mut().map(|csv| csv as &mut dyn PredictionSink);
    let files = [("model", arguments.model.as_ref()), ("report", arguments.output.report.as_ref())];
    let outcome = run.run(sink, &watch);
    watch.finish();
    let mut outcome = outcome.map_err(|error| Failure::of_run(error, predictions).before_files(&files))?;
    let mut outputs = Outputs::default();
    if let Some(path) = &arguments.model {
        outputs.write(path, &outcome.model.to_bytes()?)?;
    }
    if let (Some(path), Some(csv)) = (predictions, csv) {
        outputs.add(path, csv.into_inner())?;
    }
    // It walks over all features: only if it is wanted.
    let report = (!arguments.output.quiet || arguments.output.report.is_some()).then(|| outcome.report());
    if let Some(report) = &report {
        outputs.report(arguments.output.report.as_ref(), report)?;
    }
    outputs.commit()?;
    if let Some(report) = report.filter(|_| !arguments.output.quiet) {
        stderr::block(summary::learned(&outcome.model, &report));
    }
    Ok(watch.exit_code())
}

fn check_outputs(arguments: &LearnArguments, inputs: &[Input]) -> Result<(), Failure> {
    let (model, predictions) = (arguments.model.as_ref(), arguments.predictions.as_ref());
    let beside_model = [
        ("--predictions", predictions),
        ("--report", arguments.output.report.as_ref()),
        ("--cache", arguments.input.cache.as_ref()),
    ];
    outputs::check(&[&[("--model", model)], &beside_model[..]].concat(), inputs)?;
    // --model may name it: that is how one continues.
    if let Some(init) = &arguments.init {
        outputs::check(&beside_model, &[Input::Path(init.clone())])?;
    }
    [model, predictions, arguments.output.report.as_ref()].into_iter().try_for_each(outputs::probe)
}
