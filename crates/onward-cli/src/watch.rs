//! Follows a run: signals cancel it, and a bar on a terminal shows how far it is, else a line at doubling counts.

use std::io::IsTerminal;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};

use indicatif::{ProgressBar, ProgressStyle};
use onward_data::{Format, Formats, Kind, Layout, Message, Reader, Role};
use onward_engine::{Event, Progress, RunControl};

use crate::args::{ColumnArguments, FormatArguments, InputArguments};
use crate::failure::Failure;
use crate::render::text::{counted, grouped, number};
use crate::signals::Signals;
use crate::stderr;

/// Cancels a run on signals, and tells of it on standard error.
pub(crate) struct Watch {
    signals: Signals,
    bar: Option<ProgressBar>,
    quiet: bool,
    next_line: AtomicU64,
    /// What the mean loss is called: the sequential risk, while learning.
    loss: &'static str,
    /// The file of the cache, if one was asked for.
    cache: String,
}

/// From this many examples on a line is worth it.
const FIRST_LINE: u64 = 1024;

impl Watch {
    /// Begins to catch signals. This comes before inputs are opened: a pipe may take its time.
    pub(crate) fn begin(input: &InputArguments, quiet: bool, loss: &'static str) -> Result<Self, Failure> {
        let signals = Signals::catch().map_err(Failure::user)?;
        let bar = (!quiet && std::io::stderr().is_terminal()).then(ProgressBar::no_length);
        let cache = input.cache.as_ref().map(|path| path.display().to_string()).unwrap_or_default();
        Ok(Self { signals, bar, quiet, next_line: AtomicU64::new(FIRST_LINE), loss, cache })
    }

    /// The inputs are open: tells what was recognised, and from now on the first signal ends the run in order.
    pub(crate) fn opened(&self, reader: &Reader, input: &InputArguments, columns: Option<&ColumnArguments>) {
        self.signals.opened();
        if self.quiet {
            return;
        }
        reader.notes().iter().map(Message::command_line).for_each(stderr::line);
        reader.cache_note().iter().for_each(stderr::line);
        idle_options(&input.format, input.record_limit, columns, reader).for_each(stderr::line);
    }

    /// Says something, unless the run is quiet.
    pub(crate) fn say(&self, text: impl std::fmt::Display) {
        match &self.bar {
            Some(bar) => bar.println(text.to_string()),
            None if self.quiet => {}
            None => stderr::line(text),
        }
    }

    /// The run is over.
    pub(crate) fn finish(&self) {
        self.bar.iter().for_each(ProgressBar::finish_and_clear);
    }

    /// The exit code of the run.
    pub(crate) fn exit_code(&self) -> ExitCode {
        self.signals.exit_code()
    }

    fn progress(&self, progress: Progress) {
        match &self.bar {
            Some(bar) => self.draw(bar, progress),
            None if self.needs_exact_risk(progress.examples) => {
                let next = (progress.examples + 1).next_power_of_two();
                self.next_line.store(next, Ordering::Relaxed);
                stderr::line(self.state(progress));
            }
            None => {}
        }
    }

    fn state(&self, Progress { examples, risk, .. }: Progress) -> String {
        let risk = if risk.is_nan() { String::new() } else { format!(", {} {}", self.loss, number(risk)) };
        format!("{}{risk}", counted(examples, "example"))
    }

    fn draw(&self, bar: &ProgressBar, progress: Progress) {
        let known = progress.bytes_total.filter(|&total| total > 0);
        if bar.position() == 0 {
            // The templates are constants: if one were wrong, the plain style would serve.
            let template = match known {
                Some(_) => "[{bar:30}] {percent:>3}%  {msg}  {eta} left",
                None => "{spinner} {msg}",
            };
            bar.set_style(ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()));
        }
        known.into_iter().for_each(|total| bar.set_length(total));
        bar.set_position(progress.bytes_read.max(1));
        let rate = progress.examples as f64 / bar.elapsed().as_secs_f64().max(1e-3);
        bar.set_message(format!("{}, {}/s", self.state(progress), grouped(rate as u64)));
    }
}

impl RunControl for Watch {
    fn is_cancelled(&self) -> bool {
        self.signals.received()
    }

    fn needs_exact_risk(&self, examples: u64) -> bool {
        !self.quiet && self.bar.is_none() && examples >= self.next_line.load(Ordering::Relaxed)
    }

    fn observe(&self, event: Event<'_>) {
        match event {
            Event::Progress(progress) => self.progress(progress),
            Event::Skipped(error) => self.say(format_args!("skipped: {}", error.command_line())),
            Event::CacheLost(reason) => self.say(format_args!("no cache is written to {}: {reason}", self.cache)),
            Event::Spilled { bytes, folder } => self.say(format_args!(
                "the rows take more than {} MB; they go to a temporary file in {}",
                bytes >> 20,
                folder.display()
            )),
            _ => {}
        }
    }
}

/// Notes on options that change nothing for this input.
pub(crate) fn idle_options(
    format: &FormatArguments,
    record_limit: Option<usize>,
    columns: Option<&ColumnArguments>,
    reader: &Reader,
) -> impl Iterator<Item = String> {
    let (schema, found, formats) = (reader.schema(), reader.format(), Formats::default());
    let has = |is_meant: fn(&Kind) -> bool| {
        schema.columns.iter().any(|column| matches!(&column.role, Role::Feature(kind) if is_meant(kind)))
    };
    // A key that comes later in JSON lines is hashed, whatever the columns are.
    let hashes = schema.layout != Layout::Table
        || *found == Format::JSONL
        || !schema.interactions.is_empty()
        || has(|kind| !matches!(kind, Kind::Numeric { .. } | Kind::Boolean { .. }));
    let given = |option: fn(&ColumnArguments) -> bool| columns.is_some_and(option);
    let notes = [
        (
            format.no_header && !formats.has_header(found),
            format!("--no-header has no effect: it is for csv and tsv, and this is {found}"),
        ),
        (
            record_limit.is_some() && !formats.is_text(found),
            format!("--record-limit has no effect: it is for text formats, and this is {found}"),
        ),
        (
            given(|columns| columns.ngrams.is_some()) && !has(|kind| *kind == Kind::Text),
            "--ngrams has no effect: no column is text; name text columns in --text".to_owned(),
        ),
        (
            given(|columns| columns.bits.is_some()) && !hashes,
            "--bits has no effect: only categories, text, dates and interactions are hashed, and there are none"
                .to_owned(),
        ),
    ];
    notes.into_iter().filter(|(is_idle, _)| *is_idle).map(|(_, note)| note)
}
