//! Draws scenes as SVG: the picture of a report, and the charts of a page.

use onward_engine::Report;

use super::chart::{self, Dashes};
use super::scene::{LegendEntry, PlottedLine, Scene, Spot};
use super::write;

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
const MARKS: [&str; 8] = [
    "M-4,0a4,4 0 1,0 8,0a4,4 0 1,0 -8,0Z",
    "M-3.5,-3.5h7v7h-7Z",
    "M0,-4.5l4.5,8h-9Z",
    "M0,-5l5,5l-5,5l-5,-5Z",
    "M0,4.5l4.5,-8h-9Z",
    "M-1.5,-4.5h3v3h3v3h-3v3h-3v-3h-3v-3h3Z",
    "M-5,-2h10v4h-10Z",
    "M-2,-5h4v10h-4Z",
];

const WIDTH: f64 = 800.0;
const HEIGHT: f64 = 400.0;
const LEFT: f64 = 76.0;
const RIGHT: f64 = 20.0;
const BOTTOM: f64 = 52.0;
const LEGEND_LINE: f64 = 22.0;
/// About how wide a letter is.
const LETTER: f64 = 7.2;

/// The class of lines that are no learner's.
const NO_LEARNER: &str = "neutral";

/// The rules that give learners their colours, on light ground or on dark.
pub(super) fn colour_rules(dark: bool) -> String {
    let rule = |(at, &(on_light, on_dark)): (usize, &(&str, &str))| {
        format!(".c{at}{{color:{}}}", if dark { on_dark } else { on_light })
    };
    COLOURS.iter().enumerate().map(rule).collect()
}

/// The rules that charts have in the page and in a picture.
pub(super) const CHART_RULES: &str = include_str!("html/chart.css");

/// The chart of the cumulative loss as a file of its own, legible on any ground: it brings its own.
pub(crate) fn picture(report: &Report) -> String {
    let chart = chart::cumulative_loss(report);
    let view = &chart.views[0];
    let name = format!("{}: {}", chart.title, view.unit);
    let style = format!("{CHART_RULES}{}", colour_rules(false));
    let drawing = Drawing::new(&Scene::new(&chart, view, report)).svg(&name, Some(&style));
    format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{drawing}\n")
}

/// Text as XML and HTML have it.
pub(super) fn escaped(text: &str) -> String {
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

/// A scene with its place on a canvas.
pub(super) struct Drawing<'a> {
    scene: &'a Scene,
    /// Where each entry of the legend begins, and its line.
    entries: Vec<(f64, f64)>,
    top: f64,
    height: f64,
}

impl<'a> Drawing<'a> {
    pub(super) fn new(scene: &'a Scene) -> Self {
        let (mut x, mut line) = (LEFT, 0.0);
        let mut entries = Vec::new();
        for entry in &scene.legend {
            let width = 40.0 + LETTER * entry.text.chars().count() as f64;
            if x + width > WIDTH && x > LEFT {
                (x, line) = (LEFT, line + 1.0);
            }
            entries.push((x, line));
            x += width + 14.0;
        }
        let top = 14.0 + LEGEND_LINE * entries.last().map_or(0.0, |(_, line)| line + 1.0);
        Self { scene, entries, top, height: HEIGHT + top }
    }

    /// Left, top, right and bottom of the lines.
    pub(super) fn frame(&self) -> [f64; 4] {
        [LEFT, self.top, WIDTH - RIGHT, self.height - BOTTOM]
    }

    /// Where a spot is.
    pub(super) fn place(&self, spot: &Spot) -> (f64, f64) {
        (self.at_x(spot.x), self.at_y(spot.y))
    }

    fn at_x(&self, share: f64) -> f64 {
        let [left, _, right, _] = self.frame();
        left + share * (right - left)
    }

    fn at_y(&self, share: f64) -> f64 {
        let [_, top, _, bottom] = self.frame();
        bottom - share * (bottom - top)
    }

    /// The drawing, with its own style if it is to stand alone.
    pub(super) fn svg(&self, name: &str, style: Option<&str>) -> String {
        let (name, height) = (escaped(name), self.height);
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" \
             aria-label=\"{name}\">"
        );
        if let Some(style) = style {
            out.push_str(&format!(
                "<title>{name}</title><style>{style}</style><rect class=\"ground\" width=\"{WIDTH}\" \
                 height=\"{height}\" rx=\"8\"/>"
            ));
        }
        self.draw_axes(&mut out);
        self.scene.curves.iter().for_each(|curve| self.draw_curve(&mut out, curve));
        if self.scene.curves.is_empty() {
            let (x, y) = (self.at_x(0.5), self.at_y(0.5));
            write(&mut out, format_args!("<text class=\"middle\" x=\"{x}\" y=\"{y}\">nothing to show</text>"));
        }
        for (entry, &(x, line)) in self.scene.legend.iter().zip(&self.entries) {
            draw_entry(&mut out, entry, x, 20.0 + LEGEND_LINE * line);
        }
        out.push_str("</svg>");
        out
    }

    fn draw_axes(&self, out: &mut String) {
        let [left, top, right, bottom] = self.frame();
        for tick in &self.scene.y_ticks {
            let (y, text) = (self.at_y(tick.at), &tick.label);
            write(out, format_args!("<path class=\"grid\" d=\"M{left},{y:.1}H{right}\"/>"));
            write(out, format_args!("<text class=\"end\" x=\"{}\" y=\"{:.1}\">{text}</text>", left - 8.0, y + 4.5));
        }
        for tick in &self.scene.x_ticks {
            let (x, text) = (self.at_x(tick.at), &tick.label);
            write(out, format_args!("<path class=\"grid\" d=\"M{x:.1},{top}V{bottom}\"/>"));
            write(out, format_args!("<text class=\"middle\" x=\"{x:.1}\" y=\"{}\">{text}</text>", bottom + 18.0));
        }
        write(out, format_args!("<path class=\"axis\" d=\"M{left},{top}V{bottom}H{right}\"/>"));
        let (x, y) = (self.at_x(0.5), bottom + 40.0);
        write(out, format_args!("<text class=\"middle\" x=\"{x}\" y=\"{y}\">round (examples with a label)</text>"));
        let (y, unit) = (self.at_y(0.5), escaped(&self.scene.unit));
        let turned = format!("translate(16,{y}) rotate(-90)");
        write(out, format_args!("<text class=\"middle\" transform=\"{turned}\">{unit}</text>"));
    }

    fn draw_curve(&self, out: &mut String, curve: &PlottedLine) {
        let dashes = dashes(curve.dashes);
        write(out, format_args!("<g class=\"{}\"><path class=\"line {dashes}\" d=\"", class(curve.learner)));
        for (at, spot) in curve.spots.iter().enumerate() {
            let (x, y) = self.place(spot);
            write(out, format_args!("{}{x:.1},{y:.1}", if at == 0 { 'M' } else { 'L' }));
        }
        out.push_str("\"/>");
        for &at in &curve.marks {
            let (x, y) = self.place(&curve.spots[at]);
            draw_mark(out, curve.learner.unwrap_or(0), x, y);
        }
        out.push_str("</g>");
    }
}

fn draw_entry(out: &mut String, entry: &LegendEntry, x: f64, y: f64) {
    let (class, dashes, end) = (class(entry.learner), dashes(entry.dashes), x + 28.0);
    write(out, format_args!("<g class=\"{class}\"><path class=\"line {dashes}\" d=\"M{x:.1},{y}H{end:.1}\"/>"));
    if let Some(learner) = entry.learner {
        draw_mark(out, learner, x + 14.0, y);
    }
    write(out, format_args!("</g><text x=\"{:.1}\" y=\"{}\">{}</text>", end + 6.0, y + 4.5, escaped(&entry.text)));
}

fn draw_mark(out: &mut String, learner: usize, x: f64, y: f64) {
    let mark = MARKS[learner % MARKS.len()];
    write(out, format_args!("<path class=\"mark\" transform=\"translate({x:.1},{y:.1})\" d=\"{mark}\"/>"));
}

/// The class of a line, which gives it its colour.
pub(super) fn class(learner: Option<usize>) -> String {
    learner.map_or_else(|| NO_LEARNER.to_owned(), |at| format!("c{}", at % COLOURS.len()))
}

fn dashes(dashes: Dashes) -> &'static str {
    match dashes {
        Dashes::Solid => "solid",
        Dashes::Dashed => "dashed",
        Dashes::Dotted => "dotted",
    }
}
