//! `onward compare`: several learners, one pass over the data.
//!
//! Each batch goes to every learner, and each has a ledger of its own: what a learner pays and
//! says is to the bit what `onward learn` has of it alone, on however many threads.

use std::cell::OnceCell;
use std::num::NonZeroUsize;
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use onward::learner::Specification;
use onward::loss::{self, Task};
use onward::{Batch, SharedLoss};
use onward_data::{Input, Reader};

use crate::arguments::CompareOptions;
use crate::course::Course;
use crate::failure::Failure;
use crate::hindsight::{Hindsight, Question};
use crate::learn::{agreed_task, checked_radius};
use crate::outputs::{self, Outputs};
use crate::progress::Progress;
use crate::recorder::Recorder;
use crate::report::{self, Run, Timing};
use crate::saved::{Facts, Trained};
use crate::session::{self, Counts, Watch};
use crate::signals::Signals;
use crate::table::Table;
use crate::{inputs, page, plot, say, summary, svg, verdict};

/// What is compared when nothing is asked for.
const DEFAULT_LEARNERS: [&str; 4] = ["auto", "nag", "adagrad", "ogd"];

pub(crate) fn run(options: &CompareOptions) -> Result<ExitCode, Failure> {
    let inputs = inputs::inputs(&options.input.inputs)?;
    check_outputs(options, &inputs)?;
    let question = Question::new(&options.hindsight, options.radius, options.input.threads)?;
    let specifications = specifications(&options.learner)?;
    let mut reading = inputs::with_columns(inputs::reading(&options.input), &options.columns)?;
    if let Some(loss) = loss_before_reading(options, &specifications, reading.task)? {
        reading.task = Some(agreed_task(reading.task, &loss)?);
        // Whether learners, loss and parameters fit is said before the input is read.
        check_learners(&specifications, &loss, options.radius)?;
        reading.loss = Some(loss);
    }
    let asked = reading.loss.clone();
    // Before the input is opened: a pipe may take its time.
    let signals = Signals::catch().map_err(Failure::user)?;
    let mut reader = Reader::open(&inputs, reading)?;
    signals.opened();
    inputs::check_format(&options.input, reader.format())?;
    let loss = match asked {
        Some(loss) => loss,
        None => loss::parse(default_loss(&specifications, task_of(&reader))?)?,
    };
    let is_shown = options.report.is_some() || options.html.is_some() || options.picture.is_some();
    let mut entrants = entrants(&specifications, &loss, options.radius, &reader, is_shown)?;
    let mut recorder = question.map(|_| Recorder::new(options.voice.quiet));
    let watch = Watch { signals, progress: Progress::new(options.voice.quiet, "least sequential risk") };
    if !options.voice.quiet {
        reader.notes().iter().map(onward_data::Message::command_line).for_each(say::line);
        reader.cache_note().iter().for_each(say::line);
        inputs::idle_options(&options.columns, reader.schema(), reader.format()).iter().for_each(say::line);
        let names: Vec<_> = entrants.iter().map(|entrant| entrant.name.as_str()).collect();
        say::line(format_args!("learners: {}; loss: {}", names.join(", "), loss.name()));
    }
    let started = Instant::now();
    let threads = inputs::threads(options.input.threads);
    let learnt = learn(&mut entrants, &mut reader, &watch, threads, recorder.as_mut());
    inputs::say_cache_loss(&options.input, &reader, options.voice.quiet);
    let counts = learnt?;
    let timing = Timing::new(started.elapsed(), counts.examples, counts.bytes);
    drop(reader);
    // Once for all: rows, loss and class are the same, and the rounds of the curves.
    let hindsight = match (question, recorder, entrants.first()) {
        (Some(question), Some(recorder), Some(Entrant { trained, .. })) if trained.ledger.rounds() > 0 => {
            Some(question.answer(recorder, &*trained.learner, &trained.ledger, 1)?)
        }
        _ => None,
    };
    let found = hindsight.as_ref();
    let runs: Vec<_> = entrants.iter().map(|it| (it.name.clone(), it.run(&inputs, &counts, found))).collect();
    let head = entrants.first().map(|it| summary::head(&Run { timing, ..it.run(&inputs, &counts, None) }));
    finish(options, &runs, timing, &head.unwrap_or_default())?;
    Ok(watch.signals.exit_code())
}

/// Writes what the run is to leave behind, then says how it went.
fn finish(options: &CompareOptions, runs: &[(String, Run<'_>)], timing: Timing, head: &str) -> Result<(), Failure> {
    let report = report::compared(runs, timing);
    let mut outputs = Outputs::default();
    if let Some(path) = &options.report {
        outputs.write(path, report::text(&report).as_bytes())?;
    }
    if let Some(path) = &options.html {
        outputs.write(path, page::html(&report).as_bytes())?;
    }
    if let Some(path) = &options.picture {
        outputs.write(path, svg::picture(&report).as_bytes())?;
    }
    outputs.commit()?;
    if options.voice.quiet {
        return Ok(());
    }
    say::block(head);
    say::block(Table::new(&report).text());
    if let Some((first, hindsight)) = runs.first().and_then(|(_, run)| Some((run, run.hindsight?))) {
        let mut text = String::from("\n");
        verdict::say_best(&mut text, hindsight, first.trained.ledger.constant_risk(0.0));
        say::block(text);
    }
    for (name, run) in runs {
        if let Some(meaning) = summary::diverged(run.trained) {
            say::line(format_args!("{name} diverged: {meaning}"));
        }
    }
    if options.plot {
        say::block(plot::mean_loss(&report, &plot::Terminal::of_standard_error()));
    }
    Ok(())
}

fn check_outputs(options: &CompareOptions, inputs: &[Input]) -> Result<(), Failure> {
    let written = [
        ("--report", options.report.as_ref()),
        ("--html", options.html.as_ref()),
        ("--picture", options.picture.as_ref()),
    ];
    outputs::check(&[&written[..], &[("--cache", options.input.cache.as_ref())]].concat(), inputs)?;
    written.into_iter().try_for_each(|(_, path)| outputs::probe(path))
}

/// What was asked for, each once.
fn specifications(asked: &[String]) -> Result<Vec<Specification>, Failure> {
    let texts: Vec<&str> = match asked {
        [] => DEFAULT_LEARNERS.to_vec(),
        asked => asked.iter().map(String::as_str).collect(),
    };
    let mut specifications: Vec<Specification> = Vec::new();
    for text in texts {
        let specification = text.parse()?;
        if specifications.contains(&specification) {
            return Err(twice(&specification, &specification));
        }
        specifications.push(specification);
    }
    Ok(specifications)
}

fn twice(one: &Specification, other: &Specification) -> Failure {
    let both =
        if one == other { format!("'{one}' is given twice") } else { format!("'{one}' and '{other}' are equal") };
    Failure::user(format!("--learner {both}: leave one out, or change a parameter"))
}

/// The loss, where it is known before the input is looked at.
fn loss_before_reading(
    options: &CompareOptions,
    specifications: &[Specification],
    task: Option<Task>,
) -> Result<Option<SharedLoss>, Failure> {
    if let Some(name) = &options.loss {
        return Ok(Some(loss::parse(name)?));
    }
    // Some learners are for one task alone.
    let task = task.or_else(|| specifications.iter().find_map(Specification::task));
    let loss = match task {
        Some(task) => Some(default_loss(specifications, task)?),
        None => {
            let binary = default_loss(specifications, Task::Binary)?;
            Some(binary).filter(|binary| default_loss(specifications, Task::Regression).ok() == Some(binary))
        }
    };
    Ok(loss.map(loss::parse).transpose()?)
}

/// The loss that all learners are charged by when none is asked for. Where they would be charged by
/// different ones there is no common measure, and a table in order of risk would mean nothing.
fn default_loss(specifications: &[Specification], task: Task) -> Result<&'static str, Failure> {
    let mut found: Option<(&Specification, &'static str)> = None;
    for specification in specifications {
        let loss = specification.default_loss(task)?;
        match found {
            None => found = Some((specification, loss)),
            Some((first, other)) if other != loss => {
                return Err(Failure::user(format!(
                    "{first} is charged by the {other} loss and {specification} by the {loss} loss, and what they pay \
                     cannot be compared: name a --loss that all can take, or leave one of them out"
                )));
            }
            Some(_) => {}
        }
    }
    found.map(|(_, loss)| loss).ok_or_else(|| Failure::user("there is no learner to compare: name one with --learner"))
}

/// Builds each learner, to find out whether it can take the loss.
fn check_learners(specifications: &[Specification], loss: &SharedLoss, radius: Option<f64>) -> Result<(), Failure> {
    let radius = checked_radius(radius)?;
    let mut described: Vec<(String, &Specification)> = Vec::new();
    for specification in specifications {
        let built = specification.build(loss, radius);
        let text = built.map_err(|error| Failure::user(format!("--learner {specification}: {error}")))?.describe();
        if let Some((_, other)) = described.iter().find(|(other, _)| *other == text) {
            return Err(twice(other, specification));
        }
        described.push((text, specification));
    }
    Ok(())
}

fn task_of(reader: &Reader) -> Task {
    if reader.schema().target.rule.is_binary() { Task::Binary } else { Task::Regression }
}

/// A learner with its account.
struct Entrant {
    /// As it was asked for.
    name: String,
    trained: Trained,
    course: Course,
    elapsed: Duration,
}

fn entrants(
    specifications: &[Specification],
    loss: &SharedLoss,
    radius: Option<f64>,
    reader: &Reader,
    is_shown: bool,
) -> Result<Vec<Entrant>, Failure> {
    check_learners(specifications, loss, radius)?;
    let entrant = |specification: &Specification| {
        let (schema, facts) = (reader.schema().clone(), Facts::new(reader.format().clone()));
        let trained = Trained::new(specification, SharedLoss::clone(loss), radius, schema, facts)?;
        let name = specification.to_string();
        Ok(Entrant { name, trained, course: Course::shown_if(is_shown), elapsed: Duration::ZERO })
    };
    specifications.iter().map(entrant).collect()
}

impl Entrant {
    /// Learns from a batch, and takes the time.
    fn learn(&mut self, batch: &Batch) {
        let started = Instant::now();
        for example in batch.iter() {
            session::round(&mut self.trained, &mut self.course, example);
        }
        self.elapsed += started.elapsed();
    }

    fn run<'a>(&'a self, inputs: &'a [Input], counts: &'a Counts, hindsight: Option<&'a Hindsight>) -> Run<'a> {
        Run {
            trained: &self.trained,
            inputs,
            resumed_at: None,
            counts,
            timing: Timing::new(self.elapsed, counts.examples, counts.bytes),
            pass_risks: &[],
            own_guarantee: Some(self.trained.own_guarantee()),
            mixed: self.trained.learner.mixed(),
            updates: self.trained.learner.updates(),
            course: &self.course,
            certificate: OnceCell::new(),
            averaged_risk: None,
            hindsight,
        }
    }
}

/// The pass: each batch to every learner.
fn learn(
    entrants: &mut [Entrant],
    reader: &mut Reader,
    watch: &Watch,
    threads: usize,
    mut recorder: Option<&mut Recorder>,
) -> Result<Counts, Failure> {
    let mut counts = Counts::default();
    session::each_batch(reader, watch, &mut counts, |parsed| {
        side_by_side(entrants, &parsed.batch, threads);
        if let Some(recorder) = recorder.as_deref_mut() {
            parsed.batch.iter().try_for_each(|example| recorder.push(example))?;
        }
        for entrant in &mut *entrants {
            entrant.trained.facts.skipped += parsed.skipped;
        }
        Ok(entrants.iter().map(|it| it.trained.ledger.sequential_risk()).fold(f64::NAN, f64::min))
    })?;
    for Entrant { trained, course, .. } in entrants {
        course.mark(&*trained.learner, &trained.ledger, trained.facts.passes);
    }
    watch.progress.finish();
    Ok(counts)
}

/// Whichever thread is free takes the next learner. None sees another's state, so that it does not
/// matter who does.
fn side_by_side(entrants: &mut [Entrant], batch: &Batch, threads: usize) {
    let helpers = threads.min(entrants.len()).saturating_sub(1);
    let Some(helpers) = NonZeroUsize::new(helpers) else {
        return entrants.iter_mut().for_each(|entrant| entrant.learn(batch));
    };
    let queue = Mutex::new(entrants.iter_mut());
    let work = || {
        loop {
            let next = queue.lock().unwrap_or_else(PoisonError::into_inner).next();
            match next {
                Some(entrant) => entrant.learn(batch),
                None => break,
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..helpers.get() {
            scope.spawn(work);
        }
        work();
    });
}
