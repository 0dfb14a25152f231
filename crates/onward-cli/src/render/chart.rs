//! The charts of a report as data: lines with their meaning, before they are laid out.

use onward::guarantee::Comparator;
use onward_engine::{CurvePoint, HindsightClass, LearnerReport, Report};

use super::text::rounded;

/// A chart. Its views show the same in different units.
#[derive(Debug)]
pub(super) struct Chart {
    /// What links and scripts call it.
    pub(super) id: &'static str,
    pub(super) title: &'static str,
    /// What it shows, in a sentence or two.
    pub(super) meaning: String,
    pub(super) log_x: bool,
    pub(super) log_y: bool,
    /// The round from which on it is drawn: what the first few examples cost would leave no room for the rest.
    pub(super) start: f64,
    pub(super) views: Vec<View>,
}

/// Lines with one unit.
#[derive(Debug)]
pub(super) struct View {
    /// What the button says that shows it.
    pub(super) name: &'static str,
    /// What stands at the axis.
    pub(super) unit: String,
    pub(super) series: Vec<Series>,
}

/// A line.
#[derive(Debug)]
pub(super) struct Series {
    /// Its learner, as a position in the list of learners; `None` for something to compare with.
    pub(super) learner: Option<usize>,
    /// What it shows, as the legend says; lines of one kind have the same dashes.
    pub(super) kind: &'static str,
    pub(super) dashes: Dashes,
    /// Rounds and values.
    pub(super) points: Vec<(f64, f64)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dashes {
    Solid,
    Dashed,
    Dotted,
}

/// Lines whose values are this many times the others want a logarithmic axis.
const WIDE: f64 = 5.0;
/// Recent risks go up and down: a few near 0 are no reason.
const VERY_WIDE: f64 = 100.0;

/// The best constant of fewer examples is little more than their labels, and pays almost nothing.
const FEW: u64 = 16;

/// The recent risk is the mean over about this part of the run.
const WINDOWS: f64 = 64.0;

/// More digits cannot be seen.
const DIGITS: usize = 6;

/// All charts of a report.
pub(super) fn charts(report: &Report) -> Vec<Chart> {
    vec![cumulative_loss(report), regret(report), recent_risk(report), weight_norms(report)]
}

/// What was paid so far.
pub(super) fn cumulative_loss(report: &Report) -> Chart {
    let is_game = report.game().is_some();
    let view = |name, unit, scale: fn(&CurvePoint) -> f64| {
        let mut series = each_learner(report, "loss", Dashes::Solid, |point| Some(point.risk? * scale(point)));
        let constant =
            line(first_curve(report), |point| Some(point.baseline.filter(|_| point.t >= FEW)? * scale(point)));
        series.extend(constant.map(|points| Series {
            learner: None,
            kind: if is_game { "best fixed point so far" } else { "best constant so far" },
            dashes: Dashes::Dotted,
            points,
        }));
        View { name, unit, series }
    };
    let loss = &report.stream().loss;
    let views = vec![
        view("mean", format!("mean {loss} loss so far"), |_| 1.0),
        view("total", format!("total {loss} loss"), |point| point.weight),
    ];
    let start = start(first_curve(report));
    Chart {
        id: "loss",
        title: "Cumulative loss",
        meaning: match is_game {
            true => {
                "The loss of each player up to each round, every point declared before the row was seen. The dotted line \
                 is the loss of the best fixed point for the rounds so far."
            }
            false => {
                "The loss of each learner up to each round, every example predicted before its label was seen. The \
                 dotted line is the loss of the best constant for the examples so far."
            }
        }
        .to_owned(),
        log_x: true,
        log_y: is_wide(&views[0], start, WIDE),
        start,
        views,
    }
}

/// The regret, and the guarantees on it.
fn regret(report: &Report) -> Chart {
    // It is on the curve where the best predictor in hindsight was found.
    let has_hindsight = curves(report).any(|curve| curve.iter().any(|point| point.regret.is_some()));
    let best = report.stream().hindsight.as_ref().and_then(|it| it.best());
    let counts_mistakes = best.is_some_and(|best| best.charged_by.is_some());
    let regret = |point: &CurvePoint| match has_hindsight {
        true => point.regret,
        false => Some(point.risk? - point.baseline?),
    };
    let (kind, meaning) = match (has_hindsight, counts_mistakes) {
        _ if report.game().is_some() => (
            "regret",
            "The loss of each player minus that of the best fixed point for the rounds so far (solid), and the upper \
             bound on it from its own theorem (dashed, where it is about that point).",
        ),
        (true, true) => (
            "mistakes minus hinge loss",
            "The mistakes of each learner minus the hinge loss of the best fixed linear predictor, found with the \
             whole stream known (solid; below 0: fewer mistakes), and the most that its own theorem allows (dashed, \
             if it is about the same predictors). The mistakes of that predictor, which may be fewer, are given above \
             the table.",
        ),
        (true, false) => (
            "regret",
            "The loss of each learner minus that of the best fixed linear predictor, found with the whole stream \
             known (solid), and upper bounds on it: from its own theorem (dashed, if it is about the same predictors) \
             and from the certificate that holds for any predictor (dotted).",
        ),
        (false, _) => (
            "regret against the best constant",
            "The loss of each learner minus that of the best constant for the examples so far (solid; below 0: it \
             paid less), and the guarantees on its regret against the classes of linear predictors named below the \
             table: its own (dashed) and the certificate that holds for any predictor (dotted). The best of those \
             predictors was not computed, so the solid line is not the regret that the guarantees bound.",
        ),
    };
    let view = |name, unit: &str, scale: fn(&CurvePoint) -> f64| {
        let mut series = each_learner(report, kind, Dashes::Solid, |point| Some(regret(point)? * scale(point)));
        let own =
            each_learner(report, "own guarantee", Dashes::Dashed, |point| Some(point.own_guarantee? * scale(point)));
        // Beside the regret stand only guarantees about it.
        let is_about = |it: &Series| it.learner.is_some_and(|at| own_is_about_the_same(&report.learners()[at], report));
        series.extend(own.into_iter().filter(|it| report.game().is_some() || !has_hindsight || is_about(it)));
        series.extend(each_learner(report, "universal certificate", Dashes::Dotted, |point| {
            Some(point.guarantee? * scale(point))
        }));
        View { name, unit: unit.to_owned(), series }
    };
    Chart {
        id: "regret",
        title: "Regret against guarantee",
        meaning: meaning.to_owned(),
        log_x: true,
        log_y: true,
        start: 0.0,
        views: vec![view("mean", "per example", |_| 1.0), view("total", "summed over examples", |point| point.weight)],
    }
}

/// Whether a learner's own guarantee is about the predictors that the certificate, and the regret, are about;
/// for learners charged by mistakes, about the hinge loss of the predictors that the regret is about.
fn own_is_about_the_same(learner: &LearnerReport, report: &Report) -> bool {
    let best = report.stream().hindsight.as_ref().and_then(|it| it.best());
    let Some(own) = learner.own_guarantee() else { return false };
    match best.filter(|best| best.charged_by.is_some()) {
        Some(best) => {
            let radius = own.radius_of(Comparator::HingeOnUpdates);
            best.class == HindsightClass::Ball && radius.is_some() && radius == best.radius
        }
        None => {
            let same =
                |it: &&onward_engine::GuaranteeReport| it.comparator == own.comparator && it.radius == own.radius;
            learner.certificate().filter(same).is_some()
        }
    }
}

/// What was paid lately.
fn recent_risk(report: &Report) -> Chart {
    let series = curves(report).enumerate().map(|(at, curve)| Series {
        learner: Some(at),
        kind: "recent risk",
        dashes: Dashes::Solid,
        points: recent(curve),
    });
    let series: Vec<Series> = series.filter(|series| !series.points.is_empty()).collect();
    let unit = format!("recent mean {} loss", report.stream().loss);
    let views = vec![View { name: "mean", unit, series }];
    Chart {
        id: "recent",
        title: "Recent risk",
        meaning: "The mean loss of each learner since the previous point, about a sixtieth of the run earlier. It \
                  shows where the stream is hard, and whether the learner still improves."
            .to_owned(),
        log_x: false,
        log_y: is_wide(&views[0], 0.0, VERY_WIDE),
        start: 0.0,
        views,
    }
}

/// How large the weights are.
fn weight_norms(report: &Report) -> Chart {
    let series = each_learner(report, "norm of the weights", Dashes::Solid, |point| point.weight_norm);
    let has_line = |at: usize| series.iter().any(|series| series.learner == Some(at));
    let learners = report.learners().iter().enumerate();
    let without: Vec<&str> = learners.filter(|(at, _)| !has_line(*at)).map(|(_, learner)| learner.name()).collect();
    let note = if without.is_empty() { String::new() } else { format!(" None for {}.", without.join(", ")) };
    Chart {
        id: "norms",
        title: "Weight norms",
        meaning: format!(
            "The Euclidean norm of each learner's weights in the units of the data, over the features seen so far.{note}"
        ),
        log_x: true,
        log_y: true,
        start: 0.0,
        views: vec![View { name: "norm", unit: "norm of the weights".to_owned(), series }],
    }
}

/// A line for each learner that has points.
fn each_learner(
    report: &Report,
    kind: &'static str,
    dashes: Dashes,
    value: impl Fn(&CurvePoint) -> Option<f64>,
) -> Vec<Series> {
    let all = curves(report).enumerate();
    all.filter_map(|(at, curve)| Some(Series { learner: Some(at), kind, dashes, points: line(curve, &value)? }))
        .collect()
}

fn curves(report: &Report) -> impl Iterator<Item = &[CurvePoint]> {
    report.learners().iter().map(|learner| learner.curve.as_slice())
}

fn first_curve(report: &Report) -> &[CurvePoint] {
    curves(report).next().unwrap_or(&[])
}

/// The points that have a value; `None` when none has.
fn line(curve: &[CurvePoint], value: impl Fn(&CurvePoint) -> Option<f64>) -> Option<Vec<(f64, f64)>> {
    let point = |point: &CurvePoint| Some((point.t as f64, rounded(value(point)?, DIGITS)));
    let points: Vec<_> = curve.iter().filter_map(point).filter(|(_, value)| value.is_finite()).collect();
    (!points.is_empty()).then_some(points)
}

/// Mean losses between points that are about equally far apart. The curve has more, too many to be
/// legible; and the last one may be next to the one before.
fn recent(curve: &[CurvePoint]) -> Vec<(f64, f64)> {
    let sums = curve.iter().filter_map(|point| Some((point.t as f64, point.weight, point.risk? * point.weight)));
    let sums: Vec<_> = sums.collect();
    let Some(&end) = sums.last() else { return Vec::new() };
    let step = (end.0 / WINDOWS).max(1.0);
    let mut kept = vec![(0.0, 0.0, 0.0)];
    for &point in &sums {
        let before = kept[kept.len() - 1].0;
        if point.0 - before >= step {
            kept.push(point);
        }
    }
    let last = kept.len() - 1;
    if kept[last].0 < end.0 {
        // Too little came after it to be shown as a point of its own.
        if last > 0 { kept[last] = end } else { kept.push(end) }
    }
    let mean =
        |pair: &[(f64, f64, f64)]| (pair[1].0, rounded((pair[1].2 - pair[0].2) / (pair[1].1 - pair[0].1), DIGITS));
    kept.windows(2).map(mean).filter(|(_, value)| value.is_finite()).collect()
}

/// The round after about a two hundred and fiftieth part of the run: a power of two, where all lines
/// have points.
fn start(curve: &[CurvePoint]) -> f64 {
    let part = curve.last().map_or(0, |point| point.t) / 256;
    if part > 0 { (1u64 << part.ilog2()) as f64 } else { 0.0 }
}

fn is_wide(view: &View, start: f64, wide: f64) -> bool {
    let learners = view.series.iter().filter(|series| series.learner.is_some());
    let values = || learners.clone().flat_map(|series| &series.points).filter(|it| it.0 >= start).map(|it| it.1);
    let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
    low > 0.0 && low.is_finite() && high / low > wide
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(points: &[(u64, f64)]) -> Vec<CurvePoint> {
        let point = |&(t, loss): &(u64, f64)| CurvePoint {
            t,
            weight: t as f64,
            risk: Some(loss / t as f64),
            recent_risk: None,
            guarantee: None,
            baseline: None,
            own_guarantee: None,
            weight_norm: None,
            regret: None,
        };
        points.iter().map(point).collect()
    }

    #[test]
    fn recent_risks_are_means_between_points_and_a_short_rest_joins_the_last() {
        let points = recent(&curve(&[(1, 9.0), (2, 9.5), (10, 10.0), (20, 30.0), (636, 646.0), (640, 650.0)]));
        assert_eq!(points, [(10.0, 1.0), (20.0, 2.0), (640.0, 1.0)]);
        assert_eq!(recent(&curve(&[(1, 7.0)])), [(1.0, 7.0)]);
        assert!(recent(&[]).is_empty());
    }
}
