//! Draws charts as SVG: the picture of a comparison, and the charts of a page for those who print it
//! or have no script.

use std::fmt::Write;

use serde_json::Value;

use crate::chart::{self, Chart, Dashes, Series};
use crate::scale::{self, Scale};

/// Colours that differ in lightness and under the common kinds of colour blindness (Okabe and Ito 2008,
/// darker on light and lighter on dark ground, so that each stands out from it by 3 to 1 or more).
const COLOURS: [(&str, &str); 7] = [
    ("#0062a3", "#5ab4f0"),
    ("#c04a00", "#ff9248"),
    ("#007a58", "#2fd1a0"),
    ("#a3407c", "#eb9ccb"),
    ("#7d6400", "#f0d050"),
    ("#4b5fd0", "#a9b4ff"),
    ("#8a3b2a", "#e6a595"),
];

/// With the colours, marks tell lines apart. There is one more of them, so that many learners have
/// pairs of their own.
pub(crate) const MARKS: [&str; 8] = [
    "M-4,0a4,4 0 1,0 8,0a4,4 0 1,0 -8,0Z",
    "M-3.5,-3.5h7v7h-7Z",
    "M0,-4.5l4.5,8h-9Z",
    "M0,-5l5,5l-5,5l-5,-5Z",
    "M0,4.5l4.5,-8h-9Z",
    "M-1.5,-4.5h3v3h3v3h-3v3h-3v-3h-3v-3h3Z",
    "M-5,-2h10v4h-10Z",
    "M-2,-5h4v10h-4Z",
];

/// How many marks a line has.
const MARKS_ON_A_LINE: usize = 6;

const WIDTH: f64 = 800.0;
const HEIGHT: f64 = 400.0;
const LEFT: f64 = 76.0;
const RIGHT: f64 = 20.0;
const BOTTOM: f64 = 52.0;
const LEGEND_LINE: f64 = 22.0;
/// About how wide a letter is.
const LETTER: f64 = 7.2;

/// The class of what is nobody's.
const NOBODY: &str = "nobody";

/// How many colours there are: the class of a learner is `c` and its position modulo this.
pub(crate) fn colours() -> usize {
    COLOURS.len()
}

/// The rules that give learners their colours, on light ground or on dark.
pub(crate) fn colour_rules(dark: bool) -> String {
    let rule = |(at, &(on_light, on_dark)): (usize, &(&str, &str))| {
        format!(".c{at}{{color:{}}}", if dark { on_dark } else { on_light })
    };
    COLOURS.iter().enumerate().map(rule).collect()
}

/// The rules that charts have in common with those that the page draws.
pub(crate) const CHART_RULES: &str = include_str!("page/chart.css");

/// The chart of the cumulative loss as a file of its own, legible on any ground: it brings its own.
pub(crate) fn picture(report: &Value) -> String {
    let chart = chart::cumulative_loss(report);
    let names = chart::learners(report);
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{}\n",
        drawing(&chart, &names, Some(&format!("{}{}", CHART_RULES, colour_rules(false))))
    )
}

/// A chart inside a page.
pub(crate) fn inline(chart: &Chart, names: &[String]) -> String {
    drawing(chart, names, None)
}

/// Text as XML and HTML have it.
pub(crate) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            // No document may have these, not even as numbers.
            control if control.is_control() && !matches!(control, '\n' | '\t') => safe.push('\u{fffd}'),
            '\u{fffe}' | '\u{ffff}' => safe.push('\u{fffd}'),
            letter => safe.push(letter),
        }
    }
    safe
}

/// A place in the legend.
struct Entry<'a> {
    series: &'a Series,
    /// Whether it stands for a learner, rather than for a kind of line.
    is_learner: bool,
    text: String,
    x: f64,
    line: usize,
}

/// The longest name in a legend, in letters.
const LONGEST_NAME: usize = 60;

/// One entry for each learner, and one for each kind of line where there are several.
fn legend<'a>(series: &'a [Series], names: &[String]) -> Vec<Entry<'a>> {
    let mut wanted: Vec<(&Series, bool, &str)> = Vec::new();
    for (at, name) in names.iter().enumerate() {
        let first = series.iter().find(|series| series.learner == Some(at));
        wanted.extend(first.map(|first| (first, true, name.as_str())));
    }
    let mut kinds: Vec<&Series> = Vec::new();
    for series in series {
        if !kinds.iter().any(|known| known.kind == series.kind) {
            kinds.push(series);
        }
    }
    // Where all lines of learners are of one kind, it needs no key.
    kinds.retain(|first| first.learner.is_none() || kinds_of_learners(series) > 1);
    wanted.extend(kinds.into_iter().map(|first| (first, false, first.kind)));
    let (mut x, mut line) = (LEFT, 0);
    let mut entries = Vec::new();
    for (series, is_learner, text) in wanted {
        let text = shortened(text);
        let width = 40.0 + LETTER * text.chars().count() as f64;
        if x + width > WIDTH && x > LEFT {
            (x, line) = (LEFT, line + 1);
        }
        entries.push(Entry { series, is_learner, text, x, line });
        x += width + 14.0;
    }
    entries
}

fn kinds_of_learners(series: &[Series]) -> usize {
    let mut kinds: Vec<&str> = series.iter().filter(|it| it.learner.is_some()).map(|it| it.kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    kinds.len()
}

fn shortened(text: &str) -> String {
    if text.chars().count() <= LONGEST_NAME {
        return text.to_owned();
    }
    text.chars().take(LONGEST_NAME - 1).chain(['…']).collect()
}

fn drawing(chart: &Chart, names: &[String], style: Option<&str>) -> String {
    let view = &chart.views[0];
    let entries = legend(&view.series, names);
    let top = 14.0 + LEGEND_LINE * entries.last().map_or(0.0, |entry| entry.line as f64 + 1.0);
    let height = HEIGHT + top;
    let points = || view.series.iter().flat_map(|series| series.since(chart.start));
    let frame = Frame {
        x: Scale::new(points().map(|point| point.0), chart.log_x),
        y: Scale::new(points().map(|point| point.1), chart.log_y).padded(0.04),
        top,
        bottom: height - BOTTOM,
    };
    let mut out = String::new();
    let name = format!("{}: {}", chart.title, view.unit);
    write(
        &mut out,
        format_args!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{}\">",
            escaped(&name)
        ),
    );
    if let Some(style) = style {
        write(
            &mut out,
            format_args!(
                "<title>{}</title><style>{style}</style><rect class=\"ground\" width=\"{WIDTH}\" height=\"{height}\" rx=\"8\"/>",
                escaped(&name)
            ),
        );
    }
    let scale = if chart.log_y { " (log)" } else { "" };
    frame.draw_axes(&mut out, &format!("{}{scale}", view.unit));
    let marked = view.series.iter().filter(|series| series.dashes == Dashes::Solid).count();
    for series in &view.series {
        frame.draw_series(&mut out, series, chart.start, marked);
    }
    if view.series.is_empty() {
        let (x, y) = (WIDTH / 2.0, (frame.top + frame.bottom) / 2.0);
        write(&mut out, format_args!("<text class=\"middle\" x=\"{x}\" y=\"{y}\">nothing to show</text>"));
    }
    for entry in &entries {
        draw_entry(&mut out, entry);
    }
    out.push_str("</svg>");
    out
}

fn draw_entry(out: &mut String, entry: &Entry<'_>) {
    let y = 20.0 + LEGEND_LINE * entry.line as f64;
    let (from, to, middle) = (entry.x, entry.x + 28.0, entry.x + 14.0);
    let class = if entry.is_learner { class(entry.series) } else { NOBODY.to_owned() };
    let dashes = dashes(entry.series.dashes);
    write(out, format_args!("<g class=\"{class}\"><path class=\"line {dashes}\" d=\"M{from:.1},{y}H{to:.1}\"/>"));
    if entry.is_learner {
        draw_mark(out, entry.series, middle, y);
    }
    write(out, format_args!("</g><text x=\"{:.1}\" y=\"{}\">{}</text>", to + 6.0, y + 4.5, escaped(&entry.text)));
}

fn draw_mark(out: &mut String, series: &Series, x: f64, y: f64) {
    let mark = MARKS[series.learner.unwrap_or(0) % MARKS.len()];
    write(out, format_args!("<path class=\"mark\" transform=\"translate({x:.1},{y:.1})\" d=\"{mark}\"/>"));
}

fn class(series: &Series) -> String {
    series.learner.map_or_else(|| NOBODY.to_owned(), |at| format!("c{}", at % COLOURS.len()))
}

fn dashes(dashes: Dashes) -> &'static str {
    match dashes {
        Dashes::Solid => "solid",
        Dashes::Dashed => "dashed",
        Dashes::Dotted => "dotted",
    }
}

/// Where the lines are.
struct Frame {
    x: Scale,
    y: Scale,
    top: f64,
    bottom: f64,
}

impl Frame {
    fn at_x(&self, value: f64) -> f64 {
        LEFT + self.x.place(value) * (WIDTH - RIGHT - LEFT)
    }

    fn at_y(&self, value: f64) -> f64 {
        self.bottom - self.y.place(value) * (self.bottom - self.top)
    }

    fn draw_axes(&self, out: &mut String, unit: &str) {
        let (right, top, bottom) = (WIDTH - RIGHT, self.top, self.bottom);
        for tick in self.y.ticks(6) {
            let (y, text) = (self.at_y(tick), scale::label(tick));
            write(out, format_args!("<path class=\"grid\" d=\"M{LEFT},{y:.1}H{right}\"/>"));
            write(out, format_args!("<text class=\"end\" x=\"{}\" y=\"{:.1}\">{text}</text>", LEFT - 8.0, y + 4.5));
        }
        for tick in self.x.ticks(7) {
            let (x, text) = (self.at_x(tick), scale::label(tick));
            write(out, format_args!("<path class=\"grid\" d=\"M{x:.1},{top}V{bottom}\"/>"));
            write(out, format_args!("<text class=\"middle\" x=\"{x:.1}\" y=\"{}\">{text}</text>", bottom + 18.0));
        }
        write(out, format_args!("<path class=\"axis\" d=\"M{LEFT},{top}V{bottom}H{right}\"/>"));
        let (middle, below) = ((LEFT + right) / 2.0, bottom + 40.0);
        write(
            out,
            format_args!("<text class=\"middle\" x=\"{middle}\" y=\"{below}\">round (examples with a label)</text>"),
        );
        let (x, y) = (16.0, (top + bottom) / 2.0);
        write(
            out,
            format_args!(
                "<text class=\"middle\" transform=\"translate({x},{y}) rotate(-90)\">{}</text>",
                escaped(unit)
            ),
        );
    }

    fn draw_series(&self, out: &mut String, series: &Series, start: f64, lines: usize) {
        let places: Vec<(f64, f64)> = series.since(start).map(|(x, y)| (self.at_x(x), self.at_y(y))).collect();
        write(out, format_args!("<g class=\"{}\"><path class=\"line {}\" d=\"", class(series), dashes(series.dashes)));
        for (at, (x, y)) in places.iter().enumerate() {
            write(out, format_args!("{}{x:.1},{y:.1}", if at == 0 { 'M' } else { 'L' }));
        }
        out.push_str("\"/>");
        let mut marked = Vec::new();
        for mark in 0..MARKS_ON_A_LINE {
            // Those of different lines stand beside one another.
            let Some(learner) = series.learner else { break };
            let share = (mark as f64 + (learner as f64 + 0.5) / lines.max(1) as f64) / MARKS_ON_A_LINE as f64;
            let wanted = LEFT + share.min(1.0) * (WIDTH - RIGHT - LEFT);
            let near = |at: &usize| (places[*at].0 - wanted).abs();
            let Some(nearest) = (0..places.len()).min_by(|one, other| near(one).total_cmp(&near(other))) else { break };
            if !marked.contains(&nearest) {
                marked.push(nearest);
                draw_mark(out, series, places[nearest].0, places[nearest].1);
            }
        }
        out.push_str("</g>");
    }
}

/// Writing to a String cannot fail.
fn write(out: &mut String, arguments: std::fmt::Arguments<'_>) {
    let _ = out.write_fmt(arguments);
}
