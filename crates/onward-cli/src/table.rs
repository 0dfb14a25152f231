//! The table of what learners paid, from the report: for the terminal and for the page.

use serde_json::Value;

use crate::summary::{number, size};

/// Rows of cells in order of risk, with notes.
pub(crate) struct Table {
    pub(crate) head: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
    pub(crate) notes: Vec<String>,
    /// What the regret is, where there is one.
    regret: Option<String>,
}

/// What stands where there is nothing to say.
const NOTHING: &str = "–";

impl Table {
    /// The table of a report of [`compared`](crate::report::compared) learners.
    pub(crate) fn new(report: &Value) -> Self {
        let mut learners: Vec<&Value> = report["learners"].as_array().into_iter().flatten().collect();
        let risk = |learner: &Value| learner["sequential_risk"].as_f64().unwrap_or(f64::INFINITY);
        learners.sort_by(|one, other| risk(one).total_cmp(&risk(other)));
        let best = learners.first().map_or(f64::NAN, |learner| risk(learner));
        let metrics = metrics(report, &learners);
        let mut head = vec!["learner", "sequential risk", "to the best"];
        head.extend(metrics.iter().map(|metric| metric.title));
        let regrets = learners.iter().any(|learner| learner["regret_per_round"].is_number());
        head.extend(regrets.then_some("regret"));
        head.extend(["own guarantee", "guarantee", "seconds"]);
        let mut notes = Notes::default();
        let mut rows = Vec::new();
        for learner in learners {
            let mut row = vec![text(&learner["name"]), shown(&learner["sequential_risk"]), ratio(risk(learner), best)];
            row.extend(metrics.iter().map(|metric| metric.cell(learner)));
            if regrets {
                row.push(shown(&learner["regret_per_round"]));
            }
            let (universal, own) = guarantees(learner);
            row.push(own.map_or_else(|| NOTHING.to_owned(), |own| notes.cell(own)));
            row.push(universal.map_or_else(|| NOTHING.to_owned(), |universal| notes.cell(universal)));
            row.push(learner["timing"]["seconds"].as_f64().map_or_else(String::new, |it| format!("{it:.2}")));
            rows.push(row);
        }
        let baseline = &report["baseline_risk"];
        if let Some(risk) = baseline.as_f64() {
            let mut row = vec!["best constant".to_owned(), shown(baseline), ratio(risk, best)];
            row.resize(head.len(), String::new());
            rows.push(row);
        }
        if let Some(risk) = report["hindsight"]["loss"].as_f64() {
            let is_charged_alike = report["hindsight"]["charged_by"].is_null();
            let name = if is_charged_alike { "best in hindsight" } else { "best in hindsight (hinge loss)" };
            let mut row = vec![name.to_owned(), number(risk), ratio(risk, best)];
            row.resize(head.len(), String::new());
            rows.push(row);
        }
        let regret = regrets.then(|| regret(&report["hindsight"]));
        Self { head: head.into_iter().map(str::to_owned).collect(), rows, notes: notes.0, regret }
    }

    /// As text: names to the left, figures to the right.
    pub(crate) fn text(&self) -> String {
        let lines = || std::iter::once(&self.head).chain(&self.rows);
        let width = |at: usize| lines().map(|line| line[at].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..self.head.len()).map(width).collect();
        let mut text = String::new();
        for line in lines() {
            let cells = line.iter().zip(&widths).enumerate().map(|(at, (cell, &width))| match at {
                0 => format!("{cell:width$}"),
                _ => format!("  {cell:>width$}"),
            });
            text.push_str(cells.collect::<String>().trim_end());
            text.push('\n');
        }
        if !self.notes.is_empty() {
            text.push_str("\nGuarantees bound the regret an example:\n");
        }
        for (at, note) in self.notes.iter().enumerate() {
            text.push_str(&format!("[{}] {note}\n", at + 1));
        }
        if let Some(regret) = &self.regret {
            text.push_str(&format!("{regret}\n"));
        }
        text
    }
}

/// What the regret is.
fn regret(hindsight: &Value) -> String {
    match hindsight["mistakes_per_round"].as_f64() {
        Some(mistakes) => format!(
            "The regret is the mistakes less the hinge loss of the best in hindsight, which makes {} mistakes an example \
             itself; it is what a guarantee is about that is against the hinge loss on the rounds with an update.",
            number(mistakes)
        ),
        None => {
            "The regret is against the best in hindsight; a guarantee against others says nothing of it.".to_owned()
        }
    }
}

/// A measure beside the loss.
struct Metric {
    title: &'static str,
    key: &'static str,
    percent: bool,
}

impl Metric {
    fn cell(&self, learner: &Value) -> String {
        match learner["metrics"][self.key].as_f64() {
            Some(value) if self.percent => format!("{:.2}%", 100.0 * value),
            Some(value) => number(value),
            None => NOTHING.to_owned(),
        }
    }
}

/// Those that some learner has.
fn metrics(report: &Value, learners: &[&Value]) -> Vec<Metric> {
    let mut all = match report["task"].as_str() {
        Some("binary") => vec![
            Metric { title: "accuracy", key: "accuracy", percent: true },
            Metric { title: "AUC", key: "auc", percent: false },
        ],
        _ => vec![Metric { title: "RMSE", key: "rmse", percent: false }],
    };
    all.retain(|metric| learners.iter().any(|learner| learner["metrics"][metric.key].is_number()));
    all
}

/// The universal certificate, and the learner's own guarantee.
fn guarantees(learner: &Value) -> (Option<&Value>, Option<&Value>) {
    let find = |universal: bool| {
        let mut all = learner["guarantees"].as_array().into_iter().flatten();
        all.find(|guarantee| (guarantee["kind"] == "universal") == universal)
    };
    (find(true), find(false))
}

/// What is said below the table, each thing once.
#[derive(Default)]
struct Notes(Vec<String>);

impl Notes {
    /// A guarantee, with the number of the note that says against whom, or why there is none.
    fn cell(&mut self, guarantee: &Value) -> String {
        let (value, note) = match guarantee["bound_per_round"].as_f64() {
            Some(bound) => (number(bound), format!("against {}", comparator(guarantee))),
            None => ("none".to_owned(), text(&guarantee["reason"])),
        };
        let at = self.0.iter().position(|known| *known == note).unwrap_or_else(|| {
            self.0.push(note);
            self.0.len() - 1
        });
        format!("{value} [{}]", at + 1)
    }
}

/// The class that a guarantee is against, in words.
pub(crate) fn comparator(guarantee: &Value) -> String {
    let words = text(&guarantee["comparator"]);
    match guarantee["radius"].as_f64() {
        Some(radius) => words.replace("radius", &size(radius)),
        None => words,
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or("").to_owned()
}

fn shown(risk: &Value) -> String {
    risk.as_f64().map_or_else(|| NOTHING.to_owned(), number)
}

/// How many times the best risk; risks may be 0 or, for some losses, negative.
fn ratio(risk: f64, best: f64) -> String {
    let ratio = risk / best;
    match best > 0.0 && ratio.is_finite() {
        true if ratio < 1e4 => format!("{ratio:.3}"),
        true => format!("{ratio:.1e}"),
        false => NOTHING.to_owned(),
    }
}
