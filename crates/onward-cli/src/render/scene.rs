//! A chart laid out on the unit square: axes, ticks, curves, marks and legend. The page, the picture and the
//! terminal only draw it.

use onward_engine::Report;

use super::axis::{Scale, label};
use super::chart::{Chart, Dashes, Series, View};
use super::text::shortened;

/// A view of a chart. Places are from 0 to 1, to the right and upwards.
pub(super) struct Scene {
    /// What stands at the vertical axis.
    pub(super) unit: String,
    pub(super) x_ticks: Vec<Tick>,
    pub(super) y_ticks: Vec<Tick>,
    pub(super) curves: Vec<PlottedLine>,
    pub(super) legend: Vec<LegendEntry>,
}

/// A marked value of an axis.
pub(super) struct Tick {
    pub(super) at: f64,
    pub(super) label: String,
}

/// A line.
pub(super) struct PlottedLine {
    /// Its learner, as a position in the list of learners; `None` for something to compare with.
    pub(super) learner: Option<usize>,
    pub(super) kind: &'static str,
    pub(super) dashes: Dashes,
    pub(super) spots: Vec<Spot>,
    /// The spots that bear the mark of the learner.
    pub(super) marks: Vec<usize>,
}

/// A point of a line.
#[derive(Clone, Copy)]
pub(super) struct Spot {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) round: f64,
    pub(super) value: f64,
}

/// What a line stands for.
pub(super) struct LegendEntry {
    /// The learner; `None` for a kind of lines.
    pub(super) learner: Option<usize>,
    pub(super) dashes: Dashes,
    pub(super) text: String,
}

/// How many marks a line has.
const MARKS: usize = 6;

/// About how many ticks an axis has.
const TICKS: (usize, usize) = (7, 6);

/// The room above and below the lines.
const MARGIN: f64 = 0.04;

/// The longest name in a legend, in letters.
const LONGEST_NAME: usize = 60;

impl Scene {
    /// Lays out a view.
    pub(super) fn new(chart: &Chart, view: &View, report: &Report) -> Self {
        let is_shown = |point: &&(f64, f64)| point.0 >= chart.start;
        let points = || view.series.iter().flat_map(|series| &series.points).filter(is_shown);
        let x = Scale::new(points().map(|point| point.0), chart.log_x);
        let y = Scale::new(points().map(|point| point.1), chart.log_y).padded(MARGIN);
        let ticks = |scale: &Scale, wanted| {
            let tick = |value| Tick { at: scale.place(value), label: label(value) };
            scale.ticks(wanted).into_iter().map(tick).collect()
        };
        // Rounds are whole.
        let mut x_ticks: Vec<Tick> = ticks(&x, TICKS.0);
        x_ticks.retain(|tick| !tick.label.contains('.'));
        let lines = view.series.iter().filter(|series| series.dashes == Dashes::Solid).count();
        let curve = |series: &Series| {
            let spot = |&(round, value): &(f64, f64)| Spot { x: x.place(round), y: y.place(value), round, value };
            let spots: Vec<Spot> = series.points.iter().filter(is_shown).map(spot).collect();
            let marks = series.learner.map_or_else(Vec::new, |learner| marks(&spots, learner, lines));
            PlottedLine { learner: series.learner, kind: series.kind, dashes: series.dashes, spots, marks }
        };
        let scale = if chart.log_y { " (log)" } else { "" };
        Self {
            unit: format!("{}{scale}", view.unit),
            x_ticks,
            y_ticks: ticks(&y, TICKS.1),
            curves: view.series.iter().map(curve).collect(),
            legend: legend(&view.series, report),
        }
    }
}

/// Spots that are about equally far apart; those of different lines stand beside one another.
fn marks(spots: &[Spot], learner: usize, lines: usize) -> Vec<usize> {
    let mut marked = Vec::new();
    for mark in 0..MARKS {
        let wanted = (mark as f64 + (learner as f64 + 0.5) / lines.max(1) as f64) / MARKS as f64;
        let far = |at: &usize| (spots[*at].x - wanted.min(1.0)).abs();
        let nearest = (0..spots.len()).min_by(|one, other| far(one).total_cmp(&far(other)));
        marked.extend(nearest.filter(|nearest| !marked.contains(nearest)));
    }
    marked
}

/// One entry for each learner, and one for each kind of line where there are several.
fn legend(series: &[Series], report: &Report) -> Vec<LegendEntry> {
    let mut entries = Vec::new();
    for (at, learner) in report.learners().iter().enumerate() {
        let first = series.iter().find(|series| series.learner == Some(at));
        entries.extend(first.map(|first| LegendEntry {
            learner: Some(at),
            dashes: first.dashes,
            text: shortened(learner.name(), LONGEST_NAME),
        }));
    }
    let mut kinds: Vec<&Series> = Vec::new();
    for series in series {
        if !kinds.iter().any(|known| known.kind == series.kind) {
            kinds.push(series);
        }
    }
    // Where all lines of learners are of one kind, it needs no key.
    let of_learners = kinds.iter().filter(|kind| kind.learner.is_some()).count();
    kinds.retain(|kind| kind.learner.is_none() || of_learners > 1);
    entries.extend(kinds.iter().map(|kind| LegendEntry {
        learner: None,
        dashes: kind.dashes,
        text: kind.kind.to_owned(),
    }));
    entries
}
