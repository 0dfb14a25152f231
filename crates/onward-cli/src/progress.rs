//! How far a run is: a bar on a terminal, else a line at doubling counts.

use std::cell::Cell;
use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressStyle};

use crate::say;
use crate::session::Counts;
use crate::summary::{counted, grouped, number};

/// Says how far a run is, on standard error.
pub(crate) struct Progress {
    bar: Option<ProgressBar>,
    quiet: bool,
    next_line: Cell<u64>,
    /// What the mean loss is called: the sequential risk, while learning.
    loss: &'static str,
}

/// From how many examples on a line is worth it.
const FIRST_LINE: u64 = 1024;

impl Progress {
    pub(crate) fn new(quiet: bool, loss: &'static str) -> Self {
        let bar = (!quiet && std::io::stderr().is_terminal()).then(ProgressBar::no_length);
        Self { bar, quiet, next_line: Cell::new(FIRST_LINE), loss }
    }

    /// Takes in how much was read, and of how much, and the mean loss so far (NaN: none).
    pub(crate) fn update(&self, counts: &Counts, (read, total): (u64, Option<u64>), risk: f64) {
        if self.quiet {
            return;
        }
        match &self.bar {
            Some(bar) => self.draw(bar, counts, (read, total), risk),
            None => self.line(counts, risk),
        }
    }

    /// Whether a line will be said once there are so many examples: what it says is then to be exact.
    pub(crate) fn is_due(&self, examples: u64) -> bool {
        !self.quiet && self.bar.is_none() && examples >= self.next_line.get()
    }

    fn line(&self, counts: &Counts, risk: f64) {
        if counts.examples < self.next_line.get() {
            return;
        }
        while self.next_line.get() <= counts.examples {
            self.next_line.set(self.next_line.get() * 2);
        }
        say::line(self.state(counts, risk));
    }

    /// Says something between bars and lines.
    pub(crate) fn say(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.println(text),
            None if self.quiet => {}
            None => say::line(text),
        }
    }

    pub(crate) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    fn state(&self, counts: &Counts, risk: f64) -> String {
        let risk = match risk.is_nan() {
            true => String::new(),
            false => format!(", {} {}", self.loss, number(risk)),
        };
        format!("{}{risk}", counted(counts.examples, "example"))
    }

    fn draw(&self, bar: &ProgressBar, counts: &Counts, (read, total): (u64, Option<u64>), risk: f64) {
        let known = total.filter(|&total| total > 0);
        if bar.position() == 0 {
            // The templates are constants: if one were wrong, the plain style would serve.
            let template = match known {
                Some(_) => "[{bar:30}] {percent:>3}%  {msg}  {eta} left",
                None => "{spinner} {msg}",
            };
            bar.set_style(ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()));
        }
        if let Some(total) = known {
            bar.set_length(total);
        }
        bar.set_position(read.max(1));
        let rate = counts.examples as f64 / bar.elapsed().as_secs_f64().max(1e-3);
        bar.set_message(format!("{}, {}/s", self.state(counts, risk), grouped(rate as u64)));
    }
}
