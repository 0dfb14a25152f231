//! The page of a report: one HTML file that needs no network. The charts stand in it as SVG, and what
//! `page.js` reads out under the pointer as JSON.

use onward_engine::{BestInHindsight, GameReport, HindsightReport, Report, Timing};
use serde_json::{Value, json};

use super::chart::{self, Chart};
use super::scene::Scene;
use super::svg::{self, Drawing, escaped};
use super::text::guarantee;
use super::text::skill::order_in_words;
use super::text::table::{self, ResultTable};
use super::text::{class_in_words, duration, game, grouped, number, task_name};
use super::write;

const PAGE_RULES: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// Nothing is fetched, and nothing could be.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'";

/// The page of a report.
pub(crate) fn page(report: &Report) -> String {
    let title = title(report);
    let mut page = String::new();
    let mut add = |arguments: std::fmt::Arguments<'_>| write(&mut page, arguments);
    add(format_args!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{}\"/>\n<title>{}</title>\n",
        escaped(POLICY),
        escaped(&title)
    ));
    add(format_args!(
        "<style>\n{}{}\n{PAGE_RULES}@media screen and (prefers-color-scheme: dark) {{ {} }}\n</style>\n</head>\n<body>\n<main>\n",
        svg::CHART_RULES,
        svg::colour_rules(false),
        svg::colour_rules(true)
    ));
    add(format_args!("<h1>{}</h1>\n{}", escaped(&title), facts(report)));
    let meaning = if report.game().is_some() { PLAYED } else { RESULTS };
    add(format_args!("<h2>Results</h2>\n<p>{meaning}</p>\n{}", results(&table::of(report))));
    let mut data = Vec::new();
    for chart in chart::charts(report) {
        let (section, views) = section(&chart, report);
        add(format_args!("{section}"));
        data.push(json!({ "id": chart.id, "title": chart.title, "views": views }));
    }
    let names: Vec<&str> = report.learners().iter().map(|learner| learner.name()).collect();
    add(format_args!(
        "</main>\n<script id=\"data\" type=\"application/json\">{}</script>\n<script>\n{SCRIPT}</script>\n</body>\n</html>\n",
        embedded(&json!({ "charts": data, "learners": names }))
    ));
    page
}

/// How to read the table.
const RESULTS: &str = "Sequential risk: the mean loss, each example predicted before its label was seen and learnt from afterwards. Online constant: the mean loss of predicting by the labels so far, without features. No change: that of predicting by the label before. Best constant: the least mean loss of a predictor that ignores the features, with all labels known.";

/// How to read the table of a game.
const PLAYED: &str = "Each player declares a point before it sees the row, and pays its loss. Best fixed point: the one that pays least in all rounds together. Regret: what a player paid more.";

fn title(report: &Report) -> String {
    // Where they lie is said below.
    let inputs: Vec<&str> = report.stream().inputs.iter().filter_map(|path| path.rsplit(['/', '\\']).next()).collect();
    let data = match inputs.as_slice() {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first, others @ ..] => format!("{first} and {} more", others.len()),
    };
    match report.learners() {
        [one] => format!("{} on {data}", one.name()),
        learners if report.game().is_some() => format!("{} players of {data}", learners.len()),
        learners => format!("{} learners, one pass over {data}", learners.len()),
    }
}

/// What was run, and on what.
fn facts(report: &Report) -> String {
    let rows = match report.game() {
        Some(game) => facts_of_game(report, game),
        None => facts_of_run(report),
    };
    let rows: String =
        rows.iter().map(|(name, value)| format!("<dt>{name}</dt><dd>{}</dd>\n", escaped(value))).collect();
    format!("<dl>\n{rows}</dl>\n")
}

fn facts_of_game(report: &Report, game: &GameReport) -> Vec<(&'static str, String)> {
    let stream = report.stream();
    let mut rows = vec![
        ("data", format!("{} ({})", stream.inputs.join(", "), stream.format)),
        ("game", game::played(report, game)),
        ("rounds", grouped(stream.examples)),
        ("comparators", guarantee::sized(&game.comparator, Some(game.radius))),
    ];
    rows.extend(game.best.as_ref().map(|best| ("best fixed point", game::point(game, &best.point))));
    rows.push(("time", duration(report.timing().seconds)));
    rows.push(("version", format!("onward {}", stream.onward)));
    rows
}

fn facts_of_run(report: &Report) -> Vec<(&'static str, String)> {
    let stream = report.stream();
    let mut examples = grouped(stream.examples);
    for (count, what) in
        [(stream.unlabelled, "without a label"), (stream.weightless, "of weight 0"), (stream.skipped, "skipped")]
    {
        if count > 0 {
            examples.push_str(&format!(", {} {what}", grouped(count)));
        }
    }
    let mut rows = vec![
        ("data", format!("{} ({})", stream.inputs.join(", "), stream.format)),
        ("target", format!("{} ({})", stream.target, task_name(stream.task))),
        ("loss", stream.loss.clone()),
        ("examples", examples),
        ("features", format!("{} distinct", grouped(stream.distinct_features.unwrap_or(0)))),
    ];
    let order = stream.label_order.filter(|order| order.is_clear);
    rows.extend(order.map(|order| ("order of labels", order_in_words(&order))));
    rows.extend(stream.hindsight.as_ref().map(|it| ("best in hindsight", hindsight(it, report.timing()))));
    rows.push(("time", duration(report.timing().seconds)));
    rows.push(("version", format!("onward {}", stream.onward)));
    rows
}

/// The best fixed predictor.
fn hindsight(hindsight: &HindsightReport, timing: Timing) -> String {
    let best = match hindsight {
        HindsightReport::Found(best) => best,
        HindsightReport::Missing { reason, .. } => return format!("none: {reason}"),
    };
    let BestInHindsight { loss, gap, norm, mistakes_per_round, passes, .. } = best;
    let figure = |value: &Option<f64>| number(value.unwrap_or(f64::NAN));
    let mut text = format!(
        "mean {} {} of the best fixed linear predictor with {}, to {}{}; its norm is {}",
        if best.charged_by.is_some() { "hinge loss" } else { "loss" },
        figure(loss),
        class_in_words(best),
        figure(gap),
        if best.is_reached { "" } else { " (more than requested)" },
        figure(norm)
    );
    if let Some(mistakes) = mistakes_per_round {
        text.push_str(&format!("; it makes {} mistakes per example", number(*mistakes)));
    }
    if let (Some(ten), Some(gap)) = (best.loss_at_ten_times_radius, best.gap_at_ten_times_radius) {
        text.push_str(&format!("; {}, to {}, at ten times the radius", number(ten), number(gap)));
    }
    format!("{text}; {passes} passes, {}", duration(timing.hindsight_seconds.unwrap_or(0.0)))
}

fn results(table: &ResultTable) -> String {
    let cells = |name: &str, cells: &[String]| -> String {
        cells.iter().map(|cell| format!("<{name}>{}</{name}>", escaped(cell))).collect()
    };
    let rows: String = table.rows.iter().map(|row| format!("<tr>{}</tr>\n", cells("td", row))).collect();
    let notes: String = table.notes.iter().map(|note| format!("<li>{}</li>\n", escaped(note))).collect();
    let notes = match notes.as_str() {
        "" => String::new(),
        notes => format!(
            "<p>Guarantees bound the {}; the numbers in brackets name the comparators:</p>\n<ol \
             class=\"notes\">\n{notes}</ol>\n",
            table.bounded
        ),
    };
    format!(
        "<div class=\"scroll\"><table class=\"results\">\n<thead><tr>{}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table></div>\n{notes}",
        cells("th", &table.head)
    )
}

/// A chart with a drawing per view, of which the first is shown, and the data that the script reads.
fn section(chart: &Chart, report: &Report) -> (String, Vec<Value>) {
    let (mut figures, mut views) = (String::new(), Vec::new());
    for view in &chart.views {
        let scene = Scene::new(chart, view, report);
        let drawing = Drawing::new(&scene);
        let svg = drawing.svg(&format!("{}: {}", chart.title, view.unit), None);
        let hidden = if views.is_empty() { "" } else { " hidden=\"\"" };
        figures.push_str(&format!("<div class=\"canvas\"{hidden}>{svg}</div>"));
        let series: Vec<Value> = scene
            .curves
            .iter()
            .map(|curve| {
                let tenths = |(x, y): (f64, f64)| [(10.0 * x).round() / 10.0, (10.0 * y).round() / 10.0];
                let places: Vec<_> = curve.spots.iter().map(|spot| tenths(drawing.place(spot))).collect();
                let points: Vec<_> = curve.spots.iter().map(|spot| (spot.round, spot.value)).collect();
                json!({
                    "learner": curve.learner, "kind": curve.kind, "class": svg::class(curve.learner),
                    "points": points, "places": places,
                })
            })
            .collect();
        views.push(json!({ "name": view.name, "frame": drawing.frame(), "series": series }));
    }
    let (id, title, meaning) = (chart.id, escaped(chart.title), escaped(&chart.meaning));
    (
        format!("<section id=\"{id}\">\n<h2>{title}</h2>\n<p>{meaning}</p>\n<figure>{figures}</figure>\n</section>\n"),
        views,
    )
}

/// JSON inside a script element, which nothing in it can end.
fn embedded(data: &Value) -> String {
    let mut safe = String::new();
    for letter in data.to_string().chars() {
        match letter {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => safe.push_str(&format!("\\u{:04x}", u32::from(letter))),
            letter => safe.push(letter),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_the_data_ends_the_script() {
        let data = json!({ "name": "</script><!-- & \u{2028}" });
        let text = embedded(&data);
        assert!(!text.contains(['<', '>', '&', '\u{2028}']), "{text}");
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), data);
    }
}
