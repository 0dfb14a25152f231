//! The charts of a run, as data: what is drawn by `svg.rs` and, once the page is open, by `page/page.js`.

use serde::Serialize;
use serde_json::Value;

/// A chart. Its views show the same in different units.
#[derive(Debug, Serialize)]
pub(crate) struct Chart {
    /// What links and scripts call it.
    pub(crate) id: &'static str,
    pub(crate) title: &'static str,
    /// What it shows, in a sentence or two.
    pub(crate) meaning: String,
    /// Whether the axes are logarithmic until the reader wants them otherwise.
    pub(crate) log_x: bool,
    pub(crate) log_y: bool,
    /// The round from which on it is drawn until the reader wants all: what the first few examples cost
    /// would leave no room for the rest.
    pub(crate) start: f64,
    pub(crate) views: Vec<View>,
}

/// Lines with one unit.
#[derive(Debug, Serialize)]
pub(crate) struct View {
    /// What the button says that shows it.
    pub(crate) name: &'static str,
    /// What stands at the axis.
    pub(crate) unit: String,
    pub(crate) series: Vec<Series>,
}

/// A line.
#[derive(Debug, Serialize)]
pub(crate) struct Series {
    /// Whose it is: a position in the list of learners; `None`: nobody's, something to compare with.
    pub(crate) learner: Option<usize>,
    /// What it shows, as the legend says; lines of one kind have the same dashes.
    pub(crate) kind: &'static str,
    pub(crate) dashes: Dashes,
    /// Rounds and values.
    pub(crate) points: Vec<(f64, f64)>,
}

impl Series {
    /// The points from a round on.
    pub(crate) fn since(&self, start: f64) -> impl Iterator<Item = (f64, f64)> + Clone {
        self.points.iter().copied().filter(move |&(round, _)| round >= start)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Dashes {
    Solid,
    Dashed,
    Dotted,
}

/// Lines with values that are so many times the others want a logarithmic axis.
const WIDE: f64 = 5.0;
/// Recent risks go up and down: a few near 0 are no reason.
const VERY_WIDE: f64 = 100.0;

/// The best constant of fewer examples is little more than their labels, and pays next to nothing.
const FEW: f64 = 16.0;

/// The recent risk is the mean over about this part of the run.
const WINDOWS: f64 = 64.0;

/// The names of the learners in a report of [`compared`](crate::report::compared) learners, as they were asked for.
pub(crate) fn learners(report: &Value) -> Vec<String> {
    let learners = report["learners"].as_array().into_iter().flatten();
    learners.map(|learner| learner["name"].as_str().unwrap_or("").to_owned()).collect()
}

/// The charts of such a report.
pub(crate) fn charts(report: &Value) -> Vec<Chart> {
    vec![cumulative_loss(report), regret(report), recent_risk(report), weight_norms(report)]
}

/// What was paid so far.
pub(crate) fn cumulative_loss(report: &Value) -> Chart {
    let view = |name, unit, total: bool| {
        let scaled =
            |point: &Value, value: Option<f64>| Some(value? * if total { number(point, "weight")? } else { 1.0 });
        let mut series: Vec<Series> =
            each_learner(report, "loss", Dashes::Solid, |point| scaled(point, number(point, "risk")));
        let constant = line(first_curve(report), |point| {
            let is_known = number(point, "t")? >= FEW;
            scaled(point, number(point, "baseline").filter(|_| is_known))
        });
        series.extend(constant.map(|points| Series {
            learner: None,
            kind: "best constant so far",
            dashes: Dashes::Dotted,
            points,
        }));
        View { name, unit, series }
    };
    let loss = report["loss"].as_str().unwrap_or("");
    let views = vec![
        view("mean", format!("mean {loss} loss so far"), false),
        view("total", format!("total {loss} loss"), true),
    ];
    let start = start(first_curve(report));
    Chart {
        id: "loss",
        title: "Cumulative loss",
        meaning: "What each learner has paid up to a round, every example predicted before its label was seen; \
                  the dotted line is what the best constant for the examples so far would have paid."
            .to_owned(),
        log_x: true,
        log_y: is_wide(&views[0], start, WIDE),
        start,
        views,
    }
}

/// The regret, and what it was guaranteed to stay below.
fn regret(report: &Value) -> Chart {
    // `onward learn --hindsight` puts it on the curve.
    let has_hindsight = curves(report).any(|curve| curve.iter().any(|point| number(point, "regret").is_some()));
    let regret = |point: &Value| match has_hindsight {
        true => number(point, "regret"),
        false => Some(number(point, "risk")? - number(point, "baseline")?),
    };
    let hindsight = &report["hindsight"];
    let is_about = |learner| own_is_about_the_same(learner, hindsight);
    let is_about: Vec<bool> = report["learners"].as_array().into_iter().flatten().map(is_about).collect();
    let counts_mistakes = hindsight["charged_by"] == "hinge";
    let kind = match (has_hindsight, counts_mistakes) {
        (true, true) => "mistakes less hinge loss",
        (true, false) => "regret",
        (false, _) => "regret against the best constant",
    };
    let view = |name, unit: &str, total: bool| {
        let scaled =
            |point: &Value, value: Option<f64>| Some(value? * if total { number(point, "weight")? } else { 1.0 });
        let mut series = each_learner(report, kind, Dashes::Solid, |point| scaled(point, regret(point)));
        let own = each_learner(report, "own guarantee", Dashes::Dashed, |point| {
            scaled(point, number(point, "own_guarantee"))
        });
        // Beside the regret stand only guarantees about it.
        series.extend(own.into_iter().filter(|series| !has_hindsight || series.learner.is_some_and(|at| is_about[at])));
        series.extend(each_learner(report, "universal certificate", Dashes::Dotted, |point| {
            scaled(point, number(point, "guarantee"))
        }));
        View { name, unit: unit.to_owned(), series }
    };
    let meaning = match (has_hindsight, counts_mistakes) {
        (true, true) => {
            "How many more mistakes each learner has made than the hinge loss of the best fixed linear predictor is, found \
             with the whole stream known (solid; below 0: fewer), and by its own theorem at most (dashed; where that is \
             about the same predictors). The mistakes of that predictor itself, which may be fewer, are named above the table."
        }
        (true, false) => {
            "How much more each learner has paid than the best fixed linear predictor, found with the whole stream known \
             (solid), and what it was guaranteed to stay below: by its own theorem (dashed; where that is about the same \
             predictors, as with --radius it is for many learners) and by the certificate that holds for any predictor (dotted)."
        }
        (false, _) => {
            "How much more each learner has paid than the best constant predictor of the examples so far (solid; below 0: \
             it paid less), and the guarantees on its regret against whole classes of linear predictors, named below the \
             table: its own (dashed) and the certificate that holds for any predictor (dotted). The best of those \
             predictors was not computed, so that the solid line is not the regret that the guarantees are about."
        }
    };
    Chart {
        id: "regret",
        title: "Regret against guarantee",
        meaning: meaning.to_owned(),
        log_x: true,
        log_y: true,
        start: 0.0,
        views: vec![view("mean", "an example", false), view("total", "summed over examples", true)],
    }
}

/// Whether a learner's own guarantee is about the predictors that the certificate, and the regret, are about;
/// of those who are charged by mistakes, about the hinge loss of the predictors that the regret is about.
fn own_is_about_the_same(learner: &Value, hindsight: &Value) -> bool {
    let find = |kind: &str| {
        let mut all = learner["guarantees"].as_array().into_iter().flatten();
        all.find(|guarantee| guarantee["kind"] == kind)
    };
    let is_of_hinge =
        |own: &Value| own["comparator"].as_str().is_some_and(|text| text.contains("of every u with ‖u‖₂"));
    match (find("own"), find("universal")) {
        (Some(own), _) if hindsight["charged_by"] == "hinge" => {
            is_of_hinge(own) && hindsight["class"] == "ball" && own["radius"] == hindsight["radius"]
        }
        (Some(own), Some(universal)) => {
            own["comparator"] == universal["comparator"] && own["radius"] == universal["radius"]
        }
        _ => false,
    }
}

/// What was paid lately.
fn recent_risk(report: &Value) -> Chart {
    let loss = report["loss"].as_str().unwrap_or("");
    let series = curves(report).enumerate().map(|(at, curve)| Series {
        learner: Some(at),
        kind: "recent risk",
        dashes: Dashes::Solid,
        points: recent(curve),
    });
    let series: Vec<Series> = series.filter(|series| !series.points.is_empty()).collect();
    let views = vec![View { name: "mean", unit: format!("mean {loss} loss lately"), series }];
    Chart {
        id: "recent",
        title: "Recent risk",
        meaning: "The mean loss of each learner since the point before, a sixtieth of the run or so ago: where the \
                  stream is hard, and whether learning still gains."
            .to_owned(),
        log_x: false,
        log_y: is_wide(&views[0], 0.0, VERY_WIDE),
        start: 0.0,
        views,
    }
}

/// How large the weights are.
fn weight_norms(report: &Value) -> Chart {
    let series = each_learner(report, "norm of the weights", Dashes::Solid, |point| number(point, "weight_norm"));
    let without: Vec<String> = learners(report)
        .into_iter()
        .enumerate()
        .filter(|(at, _)| !series.iter().any(|series| series.learner == Some(*at)))
        .map(|(_, name)| name)
        .collect();
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
    report: &Value,
    kind: &'static str,
    dashes: Dashes,
    value: impl Fn(&Value) -> Option<f64>,
) -> Vec<Series> {
    let all = curves(report).enumerate();
    all.filter_map(|(at, curve)| Some(Series { learner: Some(at), kind, dashes, points: line(curve, &value)? }))
        .collect()
}

fn curves(report: &Value) -> impl Iterator<Item = &[Value]> {
    let learners = report["learners"].as_array().into_iter().flatten();
    learners.map(|learner| learner["curve"].as_array().map_or(&[][..], Vec::as_slice))
}

fn first_curve(report: &Value) -> &[Value] {
    curves(report).next().unwrap_or(&[])
}

fn number(point: &Value, key: &str) -> Option<f64> {
    point[key].as_f64()
}

/// The points that have a value; `None` when none has.
fn line(curve: &[Value], value: impl Fn(&Value) -> Option<f64>) -> Option<Vec<(f64, f64)>> {
    let point = |point: &Value| Some((number(point, "t")?, short(value(point)?)));
    let points: Vec<_> = curve.iter().filter_map(point).filter(|(_, value)| value.is_finite()).collect();
    (!points.is_empty()).then_some(points)
}

/// Seven digits are more than anyone sees.
fn short(value: f64) -> f64 {
    format!("{value:.6e}").parse().unwrap_or(value)
}

/// Mean losses between points that are about equally far apart. The curve has more, too many to be
/// legible; and the last one may be next to the one before.
fn recent(curve: &[Value]) -> Vec<(f64, f64)> {
    let sums = |point: &Value| {
        let weight = number(point, "weight")?;
        Some((number(point, "t")?, weight, number(point, "risk")? * weight))
    };
    let sums: Vec<_> = curve.iter().filter_map(sums).collect();
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
    let mean = |pair: &[(f64, f64, f64)]| (pair[1].0, short((pair[1].2 - pair[0].2) / (pair[1].1 - pair[0].1)));
    kept.windows(2).map(mean).filter(|(_, value)| value.is_finite()).collect()
}

/// The round after about a two hundred and fiftieth part of the run: a power of two, where all lines
/// have points.
fn start(curve: &[Value]) -> f64 {
    let end = curve.last().and_then(|point| point["t"].as_u64()).unwrap_or(0);
    let part = end / 256;
    if part > 0 { (1u64 << part.ilog2()) as f64 } else { 0.0 }
}

fn is_wide(view: &View, start: f64, wide: f64) -> bool {
    let learners = view.series.iter().filter(|series| series.learner.is_some());
    let values = || learners.clone().flat_map(|series| series.since(start)).map(|(_, value)| value);
    let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
    low > 0.0 && low.is_finite() && high / low > wide
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn curve(points: &[(u64, f64)]) -> Vec<Value> {
        points.iter().map(|&(t, loss)| json!({ "t": t, "weight": t, "risk": loss / t as f64 })).collect()
    }

    #[test]
    fn recent_risks_are_means_between_points_and_a_short_rest_joins_the_last() {
        let points = recent(&curve(&[(1, 9.0), (2, 9.5), (10, 10.0), (20, 30.0), (636, 646.0), (640, 650.0)]));
        assert_eq!(points, [(10.0, 1.0), (20.0, 2.0), (640.0, 1.0)]);
        assert_eq!(recent(&curve(&[(1, 7.0)])), [(1.0, 7.0)]);
        assert!(recent(&[]).is_empty());
    }

    #[test]
    fn the_regret_of_hindsight_is_shown_where_there_is_one() {
        let mut point = json!({ "t": 1, "weight": 2.0, "risk": 3.0, "baseline": 1.0, "guarantee": 5.0 });
        let solid = |report: &Value, view: usize| regret(report).views[view].series[0].points[0].1;
        let report = |point: &Value| json!({ "learners": [{ "name": "ogd", "curve": [point] }] });
        assert_eq!((solid(&report(&point), 0), solid(&report(&point), 1)), (2.0, 4.0));
        point["regret"] = json!(2.5);
        assert_eq!((solid(&report(&point), 0), solid(&report(&point), 1)), (2.5, 5.0));
    }
}
