//! `onward learn`.

use std::cell::OnceCell;
use std::process::ExitCode;
use std::time::Instant;

use onward::SharedLoss;
use onward::learner::{LEARNERS, Specification};
use onward::loss::{self, Task};
use onward::random::SplitMix64;
use onward_data::{Input, Options, Reader};

use crate::arguments::LearnOptions;
use crate::course::Course;
use crate::failure::Failure;
use crate::hindsight::Question;
use crate::inputs;
use crate::order::{Order, Rows};
use crate::outputs::{self, Outputs};
use crate::plan;
use crate::predictions::PredictionWriter;
use crate::progress::Progress;
use crate::recorder::Recorder;
use crate::report::{self, Timing};
use crate::saved::{Facts, Trained};
use crate::say;
use crate::session::{Session, Watch};
use crate::signals::Signals;
use crate::{page, plot, summary};

/// What learns when nothing is asked for.
const DEFAULT_LEARNER: &str = "auto";

pub(crate) fn run(options: &LearnOptions) -> Result<ExitCode, Failure> {
    if options.list_learners || options.list_losses {
        return list(options);
    }
    if let Some(rounds) = options.plan {
        return plan::run(options, rounds, options.learner.as_deref().unwrap_or(DEFAULT_LEARNER));
    }
    if !options.scales.is_empty() {
        return Err(Failure::user("--scales says what --plan is to reckon with: add --plan T, or leave it out"));
    }
    let inputs = inputs::inputs(&options.input.inputs)?;
    check_outputs(options, &inputs)?;
    check_order(options)?;
    let question = Question::new(&options.hindsight, options.radius, options.input.threads)?;
    if question.is_some() && options.init.is_some() {
        return Err(Failure::user(
            "--hindsight looks back on every row that was charged, and those of the run that --init continues are \
             gone: leave one of them out, or learn anew from all inputs",
        ));
    }
    let begun = Begun::new(options)?;
    let reading = begun.reading.clone();
    // Before the input is opened: a pipe may take its time.
    let signals = Signals::catch().map_err(Failure::user)?;
    let mut reader = Reader::open(&inputs, reading.clone())?;
    signals.opened();
    inputs::check_format(&options.input, reader.format())?;
    let mut trained = begun.trained(&reader, options)?;
    let mut recorder = question.map(|_| Recorder::new(options.voice.quiet));
    let watch = Watch { signals, progress: Progress::new(options.voice.quiet, "sequential risk") };
    if !options.voice.quiet {
        reader.notes().iter().map(onward_data::Message::command_line).for_each(say::line);
        reader.cache_note().iter().for_each(say::line);
        inputs::idle_options(&options.columns, reader.schema(), reader.format()).iter().for_each(say::line);
        say::line(format_args!("learner: {}, loss: {}", trained.learner.describe(), trained.loss.name()));
    }
    let started = Instant::now();
    let mut writer = match &options.predictions {
        Some(path) => Some(PredictionWriter::create(path, reader.id_names(), trained.loss.link())?),
        None => None,
    };
    let before = trained.facts.examples;
    let course = Course::shown_if(options.report.is_some() || options.html.is_some());
    let mut session = Session::new(&mut trained, &watch, course);
    let files =
        [("model", options.model.as_ref()), ("report", options.report.as_ref()), ("page", options.html.as_ref())];
    let mut kept = options.order.filter(|&order| order != Order::Sequential).map(|order| (order, Rows::default()));
    let rows = kept.as_mut().map(|(_, rows)| rows);
    let threads = inputs::threads(options.input.threads);
    let learnt = session.learn(&mut reader, writer.as_mut(), recorder.as_mut(), rows, threads);
    inputs::say_cache_loss(&options.input, &reader, options.voice.quiet);
    learnt.map_err(|failure| failure.before_files(&files))?;
    drop(reader);
    let own_guarantee = session.trained().own_guarantee();
    let mixed = session.trained().learner.mixed();
    let updates = session.trained().learner.updates();
    let mut pass_risks = vec![session.trained().ledger.sequential_risk()];
    pass_risks.extend(later_passes(options, &mut session, &inputs, reading, kept)?);
    let (counts, course) = session.finish();
    let timing = Timing::new(started.elapsed(), counts.examples, counts.bytes);
    trained.facts.passes = trained.facts.passes.max(pass_risks.len() as u32);
    let hindsight = match (question, recorder) {
        (Some(question), Some(recorder)) if trained.ledger.rounds() > 0 => {
            Some(question.answer(recorder, &*trained.learner, &trained.ledger, pass_risks.len())?)
        }
        _ => None,
    };
    let run = report::Run {
        trained: &trained,
        inputs: &inputs,
        resumed_at: options.init.as_ref().map(|_| before),
        counts: &counts,
        timing,
        pass_risks: &pass_risks,
        own_guarantee: Some(own_guarantee),
        mixed,
        updates,
        course: &course,
        certificate: OnceCell::new(),
        averaged_risk: options.loss_bound.map(|range| averaged_risk(&trained, range)),
        hindsight: hindsight.as_ref(),
    };
    finish(options, &run, writer)?;
    Ok(watch.signals.exit_code())
}

/// Learns again and again, and returns the mean loss of each later pass that was not cut short.
fn later_passes(
    options: &LearnOptions,
    session: &mut Session<'_>,
    inputs: &[Input],
    reading: Options,
    kept: Option<(Order, Rows)>,
) -> Result<Vec<f64>, Failure> {
    let again = Options { schema: Some(session.trained().schema.clone()), ..reading };
    let mut random = SplitMix64::new(options.seed.unwrap_or(0));
    let mut risks = Vec::new();
    for _ in 1..options.passes {
        let risk = match &kept {
            Some((order, rows)) => session.repeat_kept(rows, &rows.places(*order, &mut random)),
            None => session.repeat(&mut Reader::open(inputs, again.clone())?)?,
        };
        match risk {
            Some(risk) => risks.push(risk),
            None => break,
        }
    }
    Ok(risks)
}

/// What the average of the learner's points pays on a new example, if all losses are within [0, range].
fn averaged_risk(trained: &Trained, range: f64) -> Result<f64, String> {
    if trained.facts.passes > 1 {
        return Err("the bound is for one pass".to_owned());
    }
    if trained.learner.averaged().is_none() {
        return Err("the learner does not keep the average of its points (sgd:average=1 does)".to_owned());
    }
    trained.ledger.averaged_risk(range, report::DELTA)
}

/// Writes what the run is to leave behind, then says how it went.
fn finish(options: &LearnOptions, run: &report::Run<'_>, writer: Option<PredictionWriter>) -> Result<(), Failure> {
    let mut outputs = Outputs::default();
    if let Some(path) = &options.model {
        outputs.write(path, &run.trained.to_bytes()?)?;
    }
    if let Some(writer) = writer {
        writer.finish(&mut outputs)?;
    }
    if let Some(path) = &options.report {
        outputs.write(path, report::text(&report::learned(run)).as_bytes())?;
    }
    let shown = (options.html.is_some() || options.plot).then(|| report::as_compared(&report::learned(run)));
    if let (Some(path), Some(report)) = (&options.html, &shown) {
        outputs.write(path, page::html(report).as_bytes())?;
    }
    outputs.commit()?;
    if !options.voice.quiet {
        say::block(summary::learned(run));
    }
    if let Some(report) = shown.filter(|_| options.plot) {
        say::block(plot::mean_loss(&report, &plot::Terminal::of_standard_error()));
    }
    Ok(())
}

fn check_outputs(options: &LearnOptions, inputs: &[Input]) -> Result<(), Failure> {
    let (model, predictions, report) = (options.model.as_ref(), options.predictions.as_ref(), options.report.as_ref());
    let html = options.html.as_ref();
    let cache = options.input.cache.as_ref();
    let beside_model = [("--predictions", predictions), ("--report", report), ("--html", html), ("--cache", cache)];
    outputs::check(&[&[("--model", model)], &beside_model[..]].concat(), inputs)?;
    // --model may name it: that is how one continues.
    if let Some(init) = &options.init {
        let init = Input::Path(init.clone());
        outputs::check(&beside_model, &[init])?;
    }
    if options.passes > 1
        && options.order.is_none_or(|order| order == Order::Sequential)
        && let Some(input) = inputs.iter().find(|input| !input.is_repeatable())
        && !matches!(input, Input::Path(path) if !path.exists())
    {
        let name = input.name();
        return Err(Failure::user(format!(
            "--passes {} reads the input again, and {name} can be read once: save it to a file first",
            options.passes
        )));
    }
    [model, predictions, report, html].into_iter().try_for_each(outputs::probe)
}

/// What is known before the input is opened: from the arguments, or from a saved model.
struct Begun {
    reading: Options,
    specification: Option<Specification>,
    saved: Option<Trained>,
}

impl Begun {
    fn new(options: &LearnOptions) -> Result<Self, Failure> {
        let base = inputs::reading(&options.input);
        if let Some(path) = &options.init {
            refuse_what_the_model_says(options)?;
            let saved = Trained::load(path)?;
            let reading =
                Options { schema: Some(saved.schema.clone()), loss: Some(saved.learner.charged_loss()), ..base };
            return Ok(Self { reading, specification: None, saved: Some(saved) });
        }
        let specification: Specification = options.learner.as_deref().unwrap_or(DEFAULT_LEARNER).parse()?;
        let mut reading = inputs::with_columns(base, &options.columns)?;
        let loss = match (&options.loss, specification.task()) {
            (Some(name), _) => Some(loss::parse(name)?),
            (None, Some(task)) => Some(loss::parse(specification.default_loss(task)?)?),
            (None, None) => None,
        };
        if let Some(loss) = &loss {
            reading.task = Some(agreed_task(reading.task, loss)?);
            // Whether learner, loss and parameters fit is said before the input is read.
            specification.build(loss, checked_radius(options.radius)?)?;
        }
        reading.loss = loss;
        Ok(Self { reading, specification: Some(specification), saved: None })
    }

    fn trained(self, reader: &Reader, options: &LearnOptions) -> Result<Trained, Failure> {
        if let Some(saved) = self.saved {
            return Ok(saved);
        }
        let schema = reader.schema().clone();
        let task = if schema.target.rule.is_binary() { Task::Binary } else { Task::Regression };
        let specification = self.specification.map_or_else(|| DEFAULT_LEARNER.parse(), Ok)?;
        let loss = match self.reading.loss {
            Some(loss) => loss,
            None => loss::parse(specification.default_loss(task)?)?,
        };
        Trained::new(&specification, loss, checked_radius(options.radius)?, schema, Facts::new(reader.format().clone()))
    }
}

/// An order is one of several passes, and a seed that of an order that has one.
fn check_order(options: &LearnOptions) -> Result<(), Failure> {
    if let Some(bound) = options.loss_bound
        && !(bound.is_finite() && bound > 0.0)
    {
        return Err(Failure::user(format!(
            "--loss-bound is {bound}: it is a finite number above 0, the largest loss that can come"
        )));
    }
    let draws = options.order.is_some_and(|order| order != Order::Sequential);
    match (options.order, options.passes, options.seed) {
        (Some(_), 1, _) => {
            Err(Failure::user("--order is for the passes after the first: add --passes N, or leave it out"))
        }
        (_, _, Some(_)) if !draws => {
            Err(Failure::user("--seed is for --order shuffle or random: leave it out, or add one of these"))
        }
        _ => Ok(()),
    }
}

/// A model says what its columns, learner and loss are: an option that says it again would
/// be ignored.
fn refuse_what_the_model_says(options: &LearnOptions) -> Result<(), Failure> {
    let mut given = options.columns.given();
    let learning = [
        ("--loss", options.loss.is_some()),
        ("--learner", options.learner.is_some()),
        ("--radius", options.radius.is_some()),
    ];
    given.extend(learning.into_iter().filter(|&(_, given)| given).map(|(name, _)| name));
    if given.is_empty() {
        return Ok(());
    }
    Err(Failure::user(format!(
        "--init continues with the columns, learner and loss of the model: leave {} out, or learn anew without --init",
        given.join(" and ")
    )))
}

/// A radius is positive and finite.
pub(crate) fn checked_radius(radius: Option<f64>) -> Result<Option<f64>, Failure> {
    match radius {
        Some(radius) if !(radius.is_finite() && radius > 0.0) => Err(Failure::user(format!(
            "--radius is {radius}: it is a finite number above 0, for a smaller ball holds no predictor but 0"
        ))),
        radius => Ok(radius),
    }
}

/// The task that the loss is for, if the user did not ask for another.
pub(crate) fn agreed_task(asked: Option<Task>, loss: &SharedLoss) -> Result<Task, Failure> {
    match (asked, loss.task()) {
        (Some(Task::Regression), Task::Binary) => Err(Failure::user(format!(
            "the {} loss is for two classes, and --task is regression: leave one of them out",
            loss.name()
        ))),
        (Some(asked), _) => Ok(asked),
        (None, task) => Ok(task),
    }
}

fn list(options: &LearnOptions) -> Result<ExitCode, Failure> {
    let mut text = String::new();
    if options.list_learners {
        for learner in LEARNERS {
            text.push_str(&format!("{}\n    {}\n", learner.name, learner.summary));
            for parameter in learner.parameters {
                text.push_str(&format!("    {}={}  {}\n", parameter.name, parameter.default, parameter.meaning));
            }
        }
    }
    if options.list_losses {
        for (name, summary) in loss::NAMES {
            text.push_str(&format!("{name:40} {summary}\n"));
        }
    }
    outputs::write(std::path::Path::new("-"), text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}
