//! `--plot`: the mean loss so far as a picture of Braille dots, for the terminal.

use std::io::IsTerminal;

use serde_json::Value;

use crate::chart::{self, Series};
use crate::scale::{self, Scale};
use crate::summary::number;

/// What the plot is drawn on.
pub(crate) struct Terminal {
    pub(crate) width: usize,
    pub(crate) has_colours: bool,
}

/// When the terminal does not say how wide it is.
const USUAL_WIDTH: usize = 80;
/// Wider plots show no more.
const MOST_WIDTH: usize = 160;
const LEAST_WIDTH: usize = 40;
/// Lines of the plot.
const ROWS: usize = 16;
/// How often a line bears the letter of its learner.
const LETTERS_ON_A_LINE: usize = 4;
/// Cyan, yellow, green, magenta, blue, red.
const COLOURS: [u8; 6] = [36, 33, 32, 35, 34, 31];

impl Terminal {
    /// Colours are left out where nobody sees them, or where `NO_COLOR` asks for that.
    pub(crate) fn of_standard_error() -> Self {
        let size = terminal_size::terminal_size_of(std::io::stderr());
        let width = size.map_or(USUAL_WIDTH, |(width, _)| usize::from(width.0));
        let unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Self { width, has_colours: std::io::stderr().is_terminal() && !unwanted }
    }
}

/// The plot of a report of [`compared`](crate::report::compared) learners.
pub(crate) fn mean_loss(report: &Value, terminal: &Terminal) -> String {
    let chart = chart::cumulative_loss(report);
    let (view, names) = (&chart.views[0], chart::learners(report));
    let points = || view.series.iter().flat_map(|series| series.since(chart.start));
    let values = || points().map(|point| point.1);
    let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
    if low > high {
        return "\nnothing was charged: there is nothing to plot\n".to_owned();
    }
    let labels = Labels::new(low, high);
    let width = terminal.width.clamp(LEAST_WIDTH, MOST_WIDTH) - labels.width() - 2;
    let (x, y) = (Scale::new(points().map(|point| point.0), true), Scale::new(values(), chart.log_y));
    let mut canvas = Canvas::new(width);
    // The best is drawn last, over the others.
    let mut order: Vec<&Series> = view.series.iter().collect();
    let end = |series: &Series| series.points.last().map_or(f64::NAN, |point| point.1);
    order.sort_by(|one, other| {
        one.learner.is_some().cmp(&other.learner.is_some()).then(end(other).total_cmp(&end(one)))
    });
    let traces: Vec<_> = order
        .iter()
        .map(|series| (series.learner, canvas.draw(series.learner, series.since(chart.start), &x, &y)))
        .collect();
    for (learner, trace) in &traces {
        if let Some(learner) = *learner {
            canvas.stamp(learner, names.len(), trace);
        }
    }
    let heading = if chart.log_y { format!("{} (log)", view.unit) } else { view.unit.clone() };
    let mut text = format!("\n{heading}\n");
    for row in 0..ROWS {
        let line = canvas.line(row, terminal.has_colours);
        text.push_str(&format!("{} ┤{line}\n", labels.at(row)));
    }
    text.push_str(&axis(&x, width, labels.width()));
    text.push_str(&legend(&order, &names, terminal));
    text
}

/// What stands at the top and the bottom of the axis.
struct Labels {
    high: String,
    low: String,
}

impl Labels {
    fn new(low: f64, high: f64) -> Self {
        Self { high: number(high), low: number(low) }
    }

    fn width(&self) -> usize {
        self.high.len().max(self.low.len())
    }

    fn at(&self, row: usize) -> String {
        let text = match row {
            0 => self.high.as_str(),
            row if row + 1 == ROWS => self.low.as_str(),
            _ => "",
        };
        format!("{text:>width$}", width = self.width())
    }
}

/// Cells of 2 by 4 dots, each with the learner whose dots were set last.
struct Canvas {
    width: usize,
    cells: Vec<Cell>,
}

#[derive(Clone, Copy, Default)]
struct Cell {
    dots: u8,
    learner: Option<usize>,
    letter: Option<char>,
}

/// The bits of the dots of a cell, row by row.
const DOTS: [[u8; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];

impl Canvas {
    fn new(width: usize) -> Self {
        Self { width, cells: vec![Cell::default(); width * ROWS] }
    }

    /// Draws a line, dotted if it is nobody's. Which row it has in each column.
    fn draw(
        &mut self,
        learner: Option<usize>,
        points: impl Iterator<Item = (f64, f64)>,
        x: &Scale,
        y: &Scale,
    ) -> Vec<Option<usize>> {
        let mut trace = vec![None; self.width];
        let (most_x, most_y) = ((2 * self.width - 1) as f64, (4 * ROWS - 1) as f64);
        let dot = |(round, value)| (x.place(round) * most_x, (1.0 - y.place(value)) * most_y);
        let dots: Vec<(f64, f64)> = points.map(dot).collect();
        let single = dots.first().map(|&dot| (dot, dot));
        let pairs = dots.windows(2).map(|pair| (pair[0], pair[1]));
        for (from, to) in single.into_iter().chain(pairs) {
            let steps = (to.0 - from.0).abs().max((to.1 - from.1).abs()).ceil().max(1.0) as usize;
            for step in 0..=steps {
                let share = step as f64 / steps as f64;
                let at = |from: f64, to: f64| (from + share * (to - from)).round().max(0.0) as usize;
                let (column, row) = (at(from.0, to.0), at(from.1, to.1));
                if learner.is_some() || column.is_multiple_of(4) {
                    self.set(column, row, learner);
                }
                if let Some(place) = trace.get_mut(column / 2) {
                    *place = Some(row / 4);
                }
            }
        }
        trace
    }

    fn set(&mut self, column: usize, row: usize, learner: Option<usize>) {
        if let Some(cell) = self.cells.get_mut(row / 4 * self.width + column / 2).filter(|_| column / 2 < self.width) {
            cell.dots |= DOTS[row % 4][column % 2];
            cell.learner = learner;
        }
    }

    /// Writes the letter of a learner on its line; those of others stand in other columns.
    fn stamp(&mut self, learner: usize, learners: usize, trace: &[Option<usize>]) {
        for mark in 0..LETTERS_ON_A_LINE {
            let share = (mark as f64 + (learner as f64 + 0.5) / learners.max(1) as f64) / LETTERS_ON_A_LINE as f64;
            let column = ((share * self.width as f64) as usize).min(self.width - 1);
            if let Some(row) = trace[column] {
                let cell = &mut self.cells[row * self.width + column];
                (cell.learner, cell.letter) = (Some(learner), Some(letter(learner)));
            }
        }
    }

    fn line(&self, row: usize, has_colours: bool) -> String {
        let cells = &self.cells[row * self.width..(row + 1) * self.width];
        let mut text = String::new();
        for cell in cells {
            let shown = match (cell.letter, cell.dots) {
                (Some(letter), _) => letter,
                (None, 0) => ' ',
                (None, dots) => char::from_u32(0x2800 + u32::from(dots)).unwrap_or(' '),
            };
            text.push_str(&coloured(&shown.to_string(), cell.learner.filter(|_| has_colours)));
        }
        text.trim_end().to_owned()
    }
}

/// The letter of a learner.
fn letter(learner: usize) -> char {
    char::from(b'a' + (learner % 26) as u8)
}

fn coloured(text: &str, learner: Option<usize>) -> String {
    match learner {
        Some(learner) => format!("\x1b[{}m{text}\x1b[0m", COLOURS[learner % COLOURS.len()]),
        None => text.to_owned(),
    }
}

/// The axis of rounds with its labels.
fn axis(x: &Scale, width: usize, indent: usize) -> String {
    let (mut line, mut labels) = (vec!['─'; width], vec![' '; width]);
    let mut free = 0;
    for tick in x.ticks(width / 12) {
        let (column, text) = ((x.place(tick) * (width - 1) as f64).round() as usize, scale::label(tick));
        let length = text.chars().count();
        let start = column.saturating_sub(length / 2).min(width.saturating_sub(length));
        if tick.fract() != 0.0 || start < free || start + length > width {
            continue;
        }
        line[column.min(width - 1)] = '┴';
        labels[start..start + length].iter_mut().zip(text.chars()).for_each(|(place, letter)| *place = letter);
        free = start + length + 1;
    }
    let (line, labels): (String, String) = (line.into_iter().collect(), labels.into_iter().collect());
    let space = " ".repeat(indent + 1);
    format!("{space}└{line}\n{space} {}\n", labels.trim_end())
}

/// Letters, names and where the lines end, the least first.
fn legend(order: &[&Series], names: &[String], terminal: &Terminal) -> String {
    let (mut text, mut length) = (String::new(), 0);
    for series in order.iter().rev() {
        let (key, name) = match series.learner {
            Some(learner) => (letter(learner), names[learner].as_str()),
            None => ('⠄', series.kind),
        };
        let end = series.points.last().map_or_else(String::new, |point| number(point.1));
        let entry = format!("{key} {name} {end}");
        let size = entry.chars().count() + 3;
        if length > 0 && length + size > terminal.width {
            text.push('\n');
            length = 0;
        }
        text.push_str(if length > 0 { "   " } else { "" });
        text.push_str(&coloured(&entry, series.learner.filter(|_| terminal.has_colours)));
        length += size;
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn report(curves: &[&[(u64, f64)]]) -> Value {
        let points = |points: &[(u64, f64)]| -> Vec<Value> {
            points.iter().map(|&(t, risk)| json!({ "t": t, "risk": risk, "weight": t })).collect()
        };
        let learners = curves.iter().enumerate();
        let learners: Vec<Value> =
            learners.map(|(at, curve)| json!({ "name": format!("learner {at}"), "curve": points(curve) })).collect();
        json!({ "loss": "squared", "learners": learners })
    }

    fn plot(report: &Value, has_colours: bool) -> String {
        mean_loss(report, &Terminal { width: 60, has_colours })
    }

    #[test]
    fn the_extremes_are_at_the_corners() {
        let text = plot(&report(&[&[(1, 9.0), (200, 3.0)], &[(1, 5.0), (200, 4.0)]]), false);
        let lines: Vec<&str> = text.lines().skip(1).collect();
        assert_eq!(lines[0], "mean squared loss so far");
        assert!(
            lines[1].starts_with("9.0000 ┤⡀") || lines[1].starts_with("9.0000 ┤⠁") || lines[1].starts_with("9.0000 ┤⠑"),
            "{text}"
        );
        assert!(lines[ROWS].starts_with("3.0000 ┤"), "{text}");
        // The first line ends at the lower right corner.
        assert_eq!(lines[ROWS].chars().count(), 60);
        assert!(lines.iter().all(|line| line.chars().count() <= 60), "{text}");
        assert!(text.ends_with("a learner 0 3.0000   b learner 1 4.0000\n"), "{text}");
        assert!(text.contains("100"), "{text}");
    }

    #[test]
    fn colours_are_there_where_they_are_wanted() {
        let report = report(&[&[(1, 1.0), (8, 2.0)]]);
        assert!(plot(&report, true).contains("\x1b[36m") && !plot(&report, false).contains('\x1b'));
    }

    #[test]
    fn any_numbers_can_be_plotted() {
        for curve in
            [&[][..], &[(1, 0.0)], &[(5, -1e308), (6, 1e308)], &[(1, 1e-300), (2, 1e300)], &[(1, 3.0), (2, 3.0)]]
        {
            let text = plot(&report(&[curve]), false);
            assert!(text.lines().all(|line| line.chars().count() <= 60), "{text}");
        }
    }
}
