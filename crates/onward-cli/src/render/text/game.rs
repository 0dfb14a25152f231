//! What a person reads of a game.

use onward::loss::InverseLink;
use onward_data::VectorReader;
use onward_engine::{GameReport, LearnerReport, Report};

use super::guarantee::sized;
use super::table::{NOTHING, Notes, ResultTable, aligned};
use super::{counted, duration, grouped, number, size, total};
use crate::render::write;

/// Names beyond these are counted.
const MOST_NAMES: usize = 10;

/// What was recognised of the input.
pub(crate) fn opened(reader: &VectorReader) -> String {
    let mut text = format!("format: {}\ncoordinates: {}\n", reader.format(), listed(reader.names()));
    if !reader.left_out().is_empty() {
        write(&mut text, format_args!("left out: {}\n", reader.left_out().join(", ")));
    }
    text
}

/// The first of some names, and how many others there are.
fn listed(names: &[String]) -> String {
    let shown = names[..names.len().min(MOST_NAMES)].join(", ");
    match names.len().saturating_sub(MOST_NAMES) {
        0 => shown,
        others => format!("{shown} and {} more", grouped(others as u64)),
    }
}

/// What was played.
pub(crate) fn head(report: &Report) -> String {
    let Some(game) = report.game() else { return String::new() };
    let rounds = counted(report.stream().examples, "round");
    format!("\n{rounds} of {} in {}\n\n", played(report, game), duration(report.timing().seconds))
}

/// The losses and the domain.
pub(crate) fn played(report: &Report, game: &GameReport) -> String {
    let loss = &report.stream().loss;
    let formula = loss.parse().map_or("", onward::game::PointLoss::formula);
    format!("{loss} losses {formula} {}", domain(game))
}

/// Where points are.
fn domain(game: &GameReport) -> String {
    let radius = size(game.radius);
    let dimension = game.coordinates.len();
    match game.domain.as_str() {
        "simplex" => format!("on the simplex w_i ≥ 0, Σw_i = {radius}, of {}", counted(dimension as u64, "coordinate")),
        "ball" => format!("on the ball ‖w‖₂ ≤ {radius} in R^{dimension}"),
        "box" => format!("in the box |w_i| ≤ {radius} of R^{dimension}"),
        "l1" => format!("on the ball ‖w‖₁ ≤ {radius} in R^{dimension}"),
        _ => format!("on all of R^{dimension}"),
    }
}

/// The table of what players paid.
pub(super) fn table(report: &Report, game: &GameReport) -> ResultTable {
    let rounds = report.stream().examples as f64;
    let mut learners: Vec<&LearnerReport> = report.learners().iter().collect();
    let paid = |learner: &LearnerReport| learner.played.as_ref().and_then(|it| it.loss).unwrap_or(f64::INFINITY);
    learners.sort_by(|one, other| paid(one).total_cmp(&paid(other)));
    let head = ["learner", "total loss", "per round", "regret", "per round", "own guarantee"];
    let (mut notes, mut rows) = (Notes::default(), Vec::new());
    let best = game.best.as_ref().and_then(|best| best.loss);
    let shown = |value: Option<f64>| {
        value.map_or_else(|| [NOTHING, NOTHING].map(str::to_owned), |value| [total(value), number(value / rounds)])
    };
    let figures = |loss: Option<f64>| [loss, loss.zip(best).map(|(loss, best)| loss - best)].map(shown).concat();
    for learner in learners {
        let Some(played) = &learner.played else { continue };
        let own = learner.own_guarantee();
        let guarantee = notes.cell(own, own.and(played.guarantee).map(total), InverseLink::Identity);
        let row = |name: String, loss, guarantee| [vec![name], figures(loss), vec![guarantee]].concat();
        rows.push(row(learner.name().to_owned(), played.loss, guarantee));
        if let Some(drawn) = played.drawn_loss {
            rows.push(row(format!("{}, as drawn", learner.name()), Some(drawn), String::new()));
        }
    }
    if let Some(best) = best {
        let mut row = vec!["best fixed point".to_owned(), total(best), number(best / rounds)];
        row.resize(head.len(), String::new());
        rows.push(row);
    }
    let head = head.map(str::to_owned).to_vec();
    let has_draws = report.learners().iter().any(|it| it.played.as_ref().is_some_and(|it| it.drawn_loss.is_some()));
    let regret = has_draws.then(|| DRAWS.to_owned());
    ResultTable { head, rows, notes: notes.0, bounded: "regret in all", regret }
}

const DRAWS: &str = "A player that draws a corner is charged for the mean over its draws, which is what the guarantee \
    bounds. What was drawn differs by luck.";

/// The best fixed point.
pub(crate) fn best(report: &Report) -> String {
    let Some((game, best)) = report.game().and_then(|game| Some((game, game.best.as_ref()?))) else {
        return String::new();
    };
    let mut text = String::from("\n");
    if game.domain == "all" && report.stream().loss == "linear" {
        let class = sized(&game.comparator, Some(game.radius));
        write(
            &mut text,
            format_args!("linear losses have no best point on all of R^d: the best of {class} stands for it\n"),
        );
    }
    write(&mut text, format_args!("best fixed point: {}\n", point(game, &best.point)));
    if best.gap > 0.0 {
        write(&mut text, format_args!("no other pays less by more than {}\n", number(best.gap)));
    }
    text
}

/// The largest coordinates of a point.
pub(crate) fn point(game: &GameReport, point: &[f64]) -> String {
    let mut entries: Vec<(&String, f64)> = game.coordinates.iter().zip(point.iter().copied()).collect();
    let others = entries.len().saturating_sub(MOST_NAMES);
    if others > 0 {
        entries.sort_by(|one, other| other.1.abs().total_cmp(&one.1.abs()));
        entries.truncate(MOST_NAMES);
    }
    let shown: Vec<String> = entries.iter().map(|(name, value)| format!("{name} {}", number(*value))).collect();
    match others {
        0 => shown.join(", "),
        others => format!("{} and {} smaller ones", shown.join(", "), grouped(others as u64)),
    }
}

/// How many rounds are shown of the curves.
const SHOWN: usize = 5;

/// The regrets after some rounds, with the bounds on them.
pub(crate) fn curves(report: &Report) -> String {
    let rounds = report.stream().examples;
    // Each a quarter of the next.
    let mut shown: Vec<u64> =
        (1..SHOWN as u32).filter_map(|back| (rounds / 4u64.pow(back)).checked_ilog2()).map(|it| 1 << it).collect();
    shown.retain(|&round| round > 1 && round < rounds);
    shown.reverse();
    shown.push(rounds);
    let cell = |learner: &LearnerReport, round: u64| {
        let point = learner.curve.iter().find(|point| point.t == round)?;
        let in_all = |value: f64| total(value * point.weight);
        let bound = point.own_guarantee.map_or_else(String::new, |bound| format!(" ≤ {}", in_all(bound)));
        Some(format!("{}{bound}", in_all(point.regret?)))
    };
    let mut lines = vec![
        std::iter::once("regret ≤ guarantee after".to_owned())
            .chain(shown.iter().map(|&round| grouped(round)))
            .collect::<Vec<_>>(),
    ];
    for learner in report.learners() {
        let cells = shown.iter().map(|&round| cell(learner, round).unwrap_or_else(|| NOTHING.to_owned()));
        lines.push(std::iter::once(learner.name().to_owned()).chain(cells).collect());
    }
    format!("\n{}", aligned(&lines))
}
