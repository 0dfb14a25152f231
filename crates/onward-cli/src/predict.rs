//! `onward predict`.

use std::cell::OnceCell;
use std::process::ExitCode;
use std::time::Instant;

use onward::regret::Ledger;
use onward_data::{Options, Reader};

use crate::arguments::PredictOptions;
use crate::course::Course;
use crate::failure::Failure;
use crate::outputs::Outputs;
use crate::predictions::PredictionWriter;
use crate::progress::Progress;
use crate::report::{self, Timing};
use crate::saved::{Facts, Trained};
use crate::session::{Session, Watch};
use crate::signals::Signals;
use crate::{inputs, outputs, say, summary};

pub(crate) fn run(options: &PredictOptions) -> Result<ExitCode, Failure> {
    let inputs = inputs::inputs(&options.input.inputs)?;
    let mut read = inputs.clone();
    read.push(onward_data::Input::Path(options.model.clone()));
    let written = [
        ("--predictions", Some(&options.predictions)),
        ("--report", options.report.as_ref()),
        ("--cache", options.input.cache.as_ref()),
    ];
    outputs::check(&written, &read)?;
    [Some(&options.predictions), options.report.as_ref()].into_iter().try_for_each(outputs::probe)?;
    let mut trained = Trained::load_to_predict(&options.model, &inputs)?;
    // The account of what is predicted now, not of what was learnt.
    let mut ledger = Ledger::new(trained.learner.charged_loss());
    ledger.set_radius(trained.radius);
    // Nothing is learnt: there is no regret to be certified.
    trained.ledger = ledger.uncertified();
    let reading = Options {
        schema: Some(trained.schema.clone()),
        loss: Some(trained.learner.charged_loss()),
        require_target: false,
        ..inputs::reading(&options.input)
    };
    // Before the input is opened: a pipe may take its time.
    let signals = Signals::catch().map_err(Failure::user)?;
    let mut reader = Reader::open(&inputs, reading)?;
    signals.opened();
    inputs::check_format(&options.input, reader.format())?;
    trained.facts = Facts::new(reader.format().clone());
    let watch = Watch { signals, progress: Progress::new(options.voice.quiet, "mean loss") };
    if !options.voice.quiet {
        reader.notes().iter().map(onward_data::Message::command_line).for_each(say::line);
        reader.cache_note().iter().for_each(say::line);
    }
    let fixed = trained.learner.fixed();
    if fixed.is_some() {
        reader.without_hints();
    }
    let started = Instant::now();
    let mut writer = PredictionWriter::create(&options.predictions, reader.id_names(), trained.loss.link())?;
    let mut session = Session::new(&mut trained, &watch, Course::unseen());
    let files = [("report", options.report.as_ref())];
    let predicted = session.predict(fixed.as_ref(), &mut reader, &mut writer, inputs::threads(options.input.threads));
    inputs::say_cache_loss(&options.input, &reader, options.voice.quiet);
    predicted.map_err(|failure| failure.before_files(&files))?;
    let (counts, _) = session.finish();
    let timing = Timing::new(started.elapsed(), counts.examples, counts.bytes);
    let run = report::Run {
        trained: &trained,
        inputs: &inputs,
        resumed_at: None,
        counts: &counts,
        timing,
        pass_risks: &[],
        own_guarantee: None,
        mixed: None,
        updates: None,
        course: &Course::unseen(),
        certificate: OnceCell::new(),
        averaged_risk: None,
        hindsight: None,
    };
    let mut outputs = Outputs::default();
    writer.finish(&mut outputs)?;
    if let Some(path) = &options.report {
        outputs.write(path, report::text(&report::predicted(&run)).as_bytes())?;
    }
    outputs.commit()?;
    if !options.voice.quiet {
        say::block(summary::predicted(&run));
    }
    Ok(watch.signals.exit_code())
}
