//! The page of a run: one HTML file that needs no network. The charts stand in it as SVG, for those who
//! print it or have no script, and their data as JSON, from which `page/page.js` draws them anew so that
//! they answer.

use std::borrow::Cow;
use std::fmt::Write;

use serde_json::{Value, json};

use crate::chart::{self, Chart};
use crate::summary::{grouped, number, size};
use crate::svg::{self, escaped};
use crate::table::Table;

const PAGE_RULES: &str = include_str!("page/page.css");
const SCRIPT: &str = include_str!("page/page.js");

/// Nothing is fetched, and nothing could be.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'";

/// The page of a report of [`compared`](crate::report::compared) learners.
pub(crate) fn html(report: &Value) -> String {
    let (names, charts) = (chart::learners(report), chart::charts(report));
    let title = title(report, &names);
    let mut page = String::new();
    let mut add = |arguments: std::fmt::Arguments<'_>| {
        // Writing to a String cannot fail.
        let _ = page.write_fmt(arguments);
    };
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
    add(format_args!("<h2>Results</h2>\n<p>{RESULTS}</p>\n{}", table(&Table::new(report))));
    for chart in &charts {
        add(format_args!("{}", section(chart, &names)));
    }
    let data = json!({ "charts": charts, "learners": names, "marks": svg::MARKS, "colours": svg::colours() });
    add(format_args!(
        "</main>\n<script id=\"data\" type=\"application/json\">{}</script>\n<script>\n{SCRIPT}</script>\n</body>\n</html>\n",
        embedded(&data)
    ));
    page
}

/// How the table is to be read.
const RESULTS: &str = "Sequential risk: the mean loss, each example predicted before its label was seen and learnt from \
                       after. Best constant: the least that a predictor could have paid which ignores the features.";

fn title(report: &Value, names: &[String]) -> String {
    let inputs: Vec<&str> = report["inputs"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    // Where it lies is said below.
    let inputs: Vec<&str> = inputs.iter().filter_map(|path| path.rsplit(['/', '\\']).next()).collect();
    let data = match inputs.as_slice() {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first, others @ ..] => format!("{first} and {} more", others.len()),
    };
    match names {
        [one] => format!("{one} on {data}"),
        names => format!("{} learners, one pass over {data}", names.len()),
    }
}

/// What was run, and on what.
fn facts(report: &Value) -> String {
    let text = |key: &str| report[key].as_str().unwrap_or("").to_owned();
    let count = |key: &str| report[key].as_u64().unwrap_or(0);
    let inputs: Vec<&str> = report["inputs"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let mut examples = grouped(count("examples"));
    for (key, what) in
        [("unlabelled", "without a label"), ("weightless", "of weight 0"), ("skipped", "skipped besides")]
    {
        if count(key) > 0 {
            examples.push_str(&format!(", {} {what}", grouped(count(key))));
        }
    }
    let seconds = report["timing"]["seconds"].as_f64().unwrap_or(0.0);
    let mut rows = vec![
        ("command", format!("<code>{}</code>", escaped(&command()))),
        ("data", escaped(&format!("{} ({})", inputs.join(", "), text("format")))),
        ("target", escaped(&format!("{} ({})", text("target"), text("task")))),
        ("loss", escaped(&text("loss"))),
        ("examples", examples),
        ("features", format!("{} distinct", grouped(count("distinct_features")))),
        ("time", format!("{seconds:.2} s")),
        ("version", escaped(&format!("onward {}", text("onward")))),
    ];
    if let Some(best) = hindsight(&report["hindsight"], &report["timing"]) {
        rows.insert(rows.len() - 2, ("best in hindsight", escaped(&best)));
    }
    let rows: String = rows.iter().map(|(name, value)| format!("<dt>{name}</dt><dd>{value}</dd>\n")).collect();
    format!("<dl>\n{rows}</dl>\n")
}

/// The best fixed predictor, if it was asked for.
fn hindsight(best: &Value, timing: &Value) -> Option<String> {
    if let Some(reason) = best["reason"].as_str() {
        return Some(format!("none: {reason}"));
    }
    let figure = |value: &Value| value.as_f64().map(number);
    let what = if best["charged_by"] == "hinge" { "mean hinge loss" } else { "mean loss" };
    let radius = best["radius"].as_f64().map_or_else(String::new, size);
    let class = match best["class"].as_str()? {
        "ball" => format!("‖u‖₂ ≤ {radius}"),
        "standardised ball" => format!("Σ(s_i u_i)² ≤ {radius}², s_i the root mean square of feature i"),
        _ => "any size".to_owned(),
    };
    let mut text = format!(
        "{what} {} of the best fixed linear predictor of {class}, to {}{}; its norm is {}",
        figure(&best["loss"])?,
        figure(&best["gap"])?,
        if best["is_reached"] == true { "" } else { " (more than asked for)" },
        figure(&best["norm"])?
    );
    if let Some(mistakes) = figure(&best["mistakes_per_round"]) {
        text.push_str(&format!("; it makes {mistakes} mistakes an example"));
    }
    if let (Some(ten), Some(gap)) =
        (figure(&best["loss_at_ten_times_radius"]), figure(&best["gap_at_ten_times_radius"]))
    {
        text.push_str(&format!("; {ten}, to {gap}, at ten times the radius"));
    }
    let seconds = timing["hindsight_seconds"].as_f64().unwrap_or(0.0);
    text.push_str(&format!("; {} passes, {seconds:.2} s", best["passes"]));
    Some(text)
}

/// The command that was run, as a shell takes it.
fn command() -> String {
    let arguments = std::env::args_os().skip(1).map(|argument| quoted(&argument.to_string_lossy()).into_owned());
    std::iter::once("onward".to_owned()).chain(arguments).collect::<Vec<_>>().join(" ")
}

fn quoted(argument: &str) -> Cow<'_, str> {
    let is_plain = |letter: char| letter.is_alphanumeric() || "_@%+=:,./-".contains(letter);
    if !argument.is_empty() && argument.chars().all(is_plain) {
        return Cow::Borrowed(argument);
    }
    Cow::Owned(format!("'{}'", argument.replace('\'', r"'\''")))
}

fn table(table: &Table) -> String {
    let cells = |name: &str, cells: &[String]| -> String {
        cells.iter().map(|cell| format!("<{name}>{}</{name}>", escaped(cell))).collect()
    };
    let rows: String = table.rows.iter().map(|row| format!("<tr>{}</tr>\n", cells("td", row))).collect();
    let notes: String = table.notes.iter().map(|note| format!("<li>{}</li>\n", escaped(note))).collect();
    let notes = match notes.as_str() {
        "" => String::new(),
        notes => format!(
            "<p>Guarantees bound the regret an example; the numbers in brackets say against whom:</p>\n<ol class=\"notes\">\n{notes}</ol>\n"
        ),
    };
    format!(
        "<div class=\"scroll\"><table class=\"results\">\n<thead><tr>{}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table></div>\n{notes}",
        cells("th", &table.head)
    )
}

fn section(chart: &Chart, names: &[String]) -> String {
    format!(
        "<section id=\"{}\">\n<h2>{}</h2>\n<p>{}</p>\n<figure><div class=\"canvas\">{}</div></figure>\n</section>\n",
        chart.id,
        escaped(chart.title),
        escaped(&chart.meaning),
        svg::inline(chart, names)
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
    fn commands_read_back_in_a_shell() {
        assert_eq!(
            ["learn", "arr_delay>15", "", "it's"].map(|it| quoted(it).into_owned()),
            ["learn", "'arr_delay>15'", "''", r"'it'\''s'"]
        );
    }

    #[test]
    fn nothing_in_the_data_ends_the_script() {
        let data = json!({ "name": "</script><!-- & \u{2028}" });
        let text = embedded(&data);
        assert!(!text.contains(['<', '>', '&', '\u{2028}']), "{text}");
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), data);
    }
}
