//! The table of what learners paid: for the terminal and for the page.

use onward::loss::InverseLink;
use onward_engine::{GuaranteeReport, LearnerReport, Report, TaskKind};

use super::guarantee::{bounded, class, foremost, link, most};
use super::number;

/// Rows of cells in order of risk, with notes.
pub(crate) struct ResultTable {
    pub(crate) head: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
    pub(crate) notes: Vec<String>,
    /// What guarantees bound.
    pub(crate) bounded: &'static str,
    /// What the regret is, where there is one.
    pub(super) regret: Option<String>,
}

/// What stands where there is nothing to say.
pub(super) const NOTHING: &str = "–";

/// A measure beside the loss: its title, its value, and how that is written.
type Measure = (&'static str, fn(&LearnerReport) -> Option<f64>, fn(f64) -> String);

const BINARY: &[Measure] = &[
    ("accuracy", |learner| learner.metrics.accuracy, |value| format!("{:.2}%", 100.0 * value)),
    ("AUC", |learner| learner.metrics.auc, number),
];
const REGRESSION: &[Measure] = &[("RMSE", |learner| learner.metrics.rmse, number)];

/// The table of a report.
pub(crate) fn of(report: &Report) -> ResultTable {
    if let Some(game) = report.game() {
        return super::game::table(report, game);
    }
    let stream = report.stream();
    let mut learners: Vec<&LearnerReport> = report.learners().iter().collect();
    let risk = |learner: &LearnerReport| learner.sequential_risk.unwrap_or(f64::INFINITY);
    learners.sort_by(|one, other| risk(one).total_cmp(&risk(other)));
    let best = learners.first().map_or(f64::NAN, |learner| risk(learner));
    // Losses may cost the constant nothing, and reports of older versions do not have it.
    let (ratio_title, one) = match stream.online_constant_risk.filter(|&risk| risk > 0.0) {
        Some(constant) => ("to the constant", constant),
        None => ("to the best", best),
    };
    let measures = if stream.task == TaskKind::Binary { BINARY } else { REGRESSION };
    // Those that some learner has.
    let measures: Vec<&Measure> =
        measures.iter().filter(|(_, value, _)| learners.iter().any(|it| value(it).is_some())).collect();
    let has_regret = learners.iter().any(|learner| learner.regret_per_round.is_some());
    let mut head = vec!["learner", "sequential risk", ratio_title];
    head.extend(measures.iter().map(|(title, ..)| title));
    head.extend(has_regret.then_some("regret"));
    head.extend(["own guarantee", "guarantee", "seconds"]);
    let head: Vec<String> = head.into_iter().map(str::to_owned).collect();
    let mut notes = Notes::default();
    let mut rows = Vec::new();
    for learner in learners {
        let mut row = vec![learner.name().to_owned(), shown(learner.sequential_risk), ratio(risk(learner), one)];
        row.extend(measures.iter().map(|(_, value, text)| value(learner).map_or_else(|| NOTHING.to_owned(), text)));
        row.extend(has_regret.then(|| shown(learner.regret_per_round)));
        for guarantee in [learner.own_guarantee(), foremost(learner)] {
            let bound = guarantee.and_then(|it| Some(bounded(it.bound_per_round?, most(it, stream, risk(learner)))));
            row.push(notes.cell(guarantee, bound, link(stream)));
        }
        row.push(format!("{:.2}", learner.timing.seconds));
        rows.push(row);
    }
    let hindsight = stream.hindsight.as_ref().and_then(|it| it.best());
    let by_hinge = hindsight.is_some_and(|it| it.charged_by.is_some());
    let name = if by_hinge { "best in hindsight (hinge loss)" } else { "best in hindsight" };
    for (name, risk) in [
        ("online constant", stream.online_constant_risk),
        ("no change", stream.no_change_risk),
        ("best constant", stream.baseline_risk),
        (name, hindsight.and_then(|it| it.loss)),
    ] {
        if let Some(risk) = risk {
            let mut row = vec![name.to_owned(), number(risk), ratio(risk, one)];
            row.resize(head.len(), String::new());
            rows.push(row);
        }
    }
    let regret = has_regret.then(|| meaning_of_regret(hindsight.and_then(|it| it.mistakes_per_round)));
    ResultTable { head, rows, notes: notes.0, bounded: "regret per example", regret }
}

impl ResultTable {
    /// As text: names to the left, figures to the right.
    pub(crate) fn text(&self) -> String {
        let lines: Vec<Vec<String>> = std::iter::once(&self.head).chain(&self.rows).cloned().collect();
        let mut text = aligned(&lines);
        if !self.notes.is_empty() {
            text.push_str(&format!("\nGuarantees bound the {}:\n", self.bounded));
        }
        for (at, note) in self.notes.iter().enumerate() {
            text.push_str(&format!("[{}] {note}\n", at + 1));
        }
        self.regret.iter().for_each(|regret| text.push_str(&format!("{regret}\n")));
        text
    }
}

/// Lines of cells: the first to the left, the others to the right.
pub(super) fn aligned(lines: &[Vec<String>]) -> String {
    let columns = lines.iter().map(Vec::len).max().unwrap_or(0);
    let width = |at: usize| lines.iter().filter_map(|line| line.get(at)).map(|cell| cell.chars().count()).max();
    let widths: Vec<usize> = (0..columns).map(|at| width(at).unwrap_or(0)).collect();
    let mut text = String::new();
    for line in lines {
        let cells = line.iter().zip(&widths).enumerate().map(|(at, (cell, &width))| match at {
            0 => format!("{cell:width$}"),
            _ => format!("  {cell:>width$}"),
        });
        text.push_str(cells.collect::<String>().trim_end());
        text.push('\n');
    }
    text
}

fn meaning_of_regret(mistakes: Option<f64>) -> String {
    match mistakes {
        Some(mistakes) => format!(
            "The regret is the mistakes minus the hinge loss of the best in hindsight, which itself makes {} mistakes \
             per example. Only a guarantee against the hinge loss on the rounds with an update bounds it.",
            number(mistakes)
        ),
        None => "The regret is against the best in hindsight. A guarantee against other predictors does not bound it."
            .to_owned(),
    }
}

/// What is said below the table, each thing once.
#[derive(Default)]
pub(super) struct Notes(pub(super) Vec<String>);

impl Notes {
    /// The bound of a guarantee, with the number of the note that says against what, or why there is none.
    pub(super) fn cell(
        &mut self,
        guarantee: Option<&GuaranteeReport>,
        bound: Option<String>,
        link: InverseLink,
    ) -> String {
        let Some(guarantee) = guarantee else { return NOTHING.to_owned() };
        let (value, note) = match bound {
            Some(bound) => (bound, format!("against {}", class(guarantee, link))),
            None => ("none".to_owned(), guarantee.reason.clone().unwrap_or_default()),
        };
        let at = self.0.iter().position(|known| *known == note).unwrap_or_else(|| {
            self.0.push(note);
            self.0.len() - 1
        });
        format!("{value} [{}]", at + 1)
    }
}

fn shown(risk: Option<f64>) -> String {
    risk.map_or_else(|| NOTHING.to_owned(), number)
}

/// How many times the risk that counts as one; risks may be 0 or, for some losses, negative.
fn ratio(risk: f64, one: f64) -> String {
    let ratio = risk / one;
    match one > 0.0 && ratio.is_finite() {
        true if ratio < 1e4 => format!("{ratio:.3}"),
        true => format!("{ratio:.1e}"),
        false => NOTHING.to_owned(),
    }
}
