//! The mean loss so far as a picture of Braille dots, for the terminal.

use std::io::IsTerminal;

use onward_engine::Report;

use super::chart;
use super::scene::{PlottedLine, Scene, Spot, Tick};
use super::text::number;

/// What the plot is drawn on.
pub(crate) struct Terminal {
    width: usize,
    has_colours: bool,
}

/// When the terminal does not say how wide it is.
const USUAL_WIDTH: usize = 80;
/// Wider plots show no more.
const MOST_WIDTH: usize = 160;
const LEAST_WIDTH: usize = 40;
/// Lines of the plot.
const ROWS: usize = 16;
/// Cyan, yellow, green, magenta, blue, red.
const COLOURS: [u8; 6] = [36, 33, 32, 35, 34, 31];

impl Terminal {
    /// Colours are left out where the output is no terminal, or where `NO_COLOR` is set.
    pub(crate) fn of_standard_output() -> Self {
        let size = terminal_size::terminal_size_of(std::io::stdout());
        let width = size.map_or(USUAL_WIDTH, |(width, _)| usize::from(width.0));
        let unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Self { width, has_colours: std::io::stdout().is_terminal() && !unwanted }
    }
}

/// The plot of a report.
pub(crate) fn plot(report: &Report, terminal: &Terminal) -> String {
    let chart = chart::cumulative_loss(report);
    let scene = Scene::new(&chart, &chart.views[0], report);
    if scene.curves.is_empty() {
        return "the report has no losses, so there is nothing to plot\n".to_owned();
    }
    let indent = scene.y_ticks.iter().map(|tick| tick.label.chars().count()).max().unwrap_or(0);
    let mut canvas = Canvas::new(terminal.width.clamp(LEAST_WIDTH, MOST_WIDTH) - indent - 2);
    // The best is drawn last, over the others.
    let mut order: Vec<&PlottedLine> = scene.curves.iter().collect();
    let end = |curve: &PlottedLine| curve.spots.last().map_or(f64::NAN, |spot| spot.value);
    order.sort_by(|one, other| {
        one.learner.is_some().cmp(&other.learner.is_some()).then(end(other).total_cmp(&end(one)))
    });
    order.iter().for_each(|curve| canvas.draw(curve));
    order.iter().for_each(|curve| canvas.stamp(curve));
    let mut labels = vec![String::new(); ROWS];
    for tick in &scene.y_ticks {
        labels[row(tick.at) / 4] = tick.label.clone();
    }
    let mut text = format!("{}\n", scene.unit);
    for (at, label) in labels.iter().enumerate() {
        let (line, mark) = (canvas.line(at, terminal.has_colours), if label.is_empty() { '│' } else { '┤' });
        text.push_str(format!("{label:>indent$} {mark}{line}").trim_end());
        text.push('\n');
    }
    text.push_str(&axis(&scene.x_ticks, canvas.width, indent));
    text.push_str(&legend(&order, report, terminal));
    text
}

/// The row of dots of a place on the vertical axis.
fn row(share: f64) -> usize {
    ((1.0 - share) * (4 * ROWS - 1) as f64).round().clamp(0.0, (4 * ROWS - 1) as f64) as usize
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

    /// The column and row of dots of a spot.
    fn dot(&self, spot: &Spot) -> (usize, usize) {
        ((spot.x * (2 * self.width - 1) as f64).round().max(0.0) as usize, row(spot.y))
    }

    /// Draws a line, dotted if it is no learner's.
    fn draw(&mut self, curve: &PlottedLine) {
        let dots: Vec<_> = curve.spots.iter().map(|spot| self.dot(spot)).collect();
        let single = dots.first().map(|&dot| (dot, dot));
        for (from, to) in single.into_iter().chain(dots.windows(2).map(|pair| (pair[0], pair[1]))) {
            let steps = from.0.abs_diff(to.0).max(from.1.abs_diff(to.1)).max(1);
            for step in 0..=steps {
                let share = step as f64 / steps as f64;
                let at = |from: usize, to: usize| (from as f64 + share * (to as f64 - from as f64)).round() as usize;
                let (column, row) = (at(from.0, to.0), at(from.1, to.1));
                if let Some(cell) = self.cell(column, row)
                    && (curve.learner.is_some() || column.is_multiple_of(4))
                {
                    cell.dots |= DOTS[row % 4][column % 2];
                    cell.learner = curve.learner;
                }
            }
        }
    }

    /// The cell with this dot, if there is one.
    fn cell(&mut self, column: usize, row: usize) -> Option<&mut Cell> {
        self.cells.get_mut(row / 4 * self.width + column / 2).filter(|_| column / 2 < self.width)
    }

    /// Writes the letter of a learner on its line.
    fn stamp(&mut self, curve: &PlottedLine) {
        for &at in &curve.marks {
            let (column, row) = self.dot(&curve.spots[at]);
            if let Some(cell) = self.cell(column, row) {
                (cell.learner, cell.letter) = (curve.learner, curve.learner.map(letter));
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
fn axis(ticks: &[Tick], width: usize, indent: usize) -> String {
    let (mut line, mut labels) = (vec!['─'; width], vec![' '; width]);
    let mut free = 0;
    for Tick { at, label } in ticks {
        let column = (at * (width - 1) as f64).round() as usize;
        let length = label.chars().count();
        let start = column.saturating_sub(length / 2).min(width.saturating_sub(length));
        if start < free || start + length > width {
            continue;
        }
        line[column.min(width - 1)] = '┴';
        labels[start..start + length].iter_mut().zip(label.chars()).for_each(|(place, letter)| *place = letter);
        free = start + length + 1;
    }
    let (line, labels): (String, String) = (line.into_iter().collect(), labels.into_iter().collect());
    let space = " ".repeat(indent + 1);
    format!("{space}└{line}\n{space} {}\n", labels.trim_end())
}

/// Letters, names and where the lines end, the least first.
fn legend(order: &[&PlottedLine], report: &Report, terminal: &Terminal) -> String {
    let (mut text, mut length) = (String::new(), 0);
    for curve in order.iter().rev() {
        let (key, name) = match curve.learner {
            Some(learner) => (letter(learner), report.learners()[learner].name()),
            None => ('⠄', curve.kind),
        };
        let end = curve.spots.last().map_or_else(String::new, |spot| number(spot.value));
        let entry = format!("{key} {name} {end}");
        let size = entry.chars().count() + 3;
        if length > 0 && length + size > terminal.width {
            text.push('\n');
            length = 0;
        }
        text.push_str(if length > 0 { "   " } else { "" });
        text.push_str(&coloured(&entry, curve.learner.filter(|_| terminal.has_colours)));
        length += size;
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn report(curves: &[&[(u64, f64)]]) -> Report {
        let points = |points: &[(u64, f64)]| -> Vec<serde_json::Value> {
            points.iter().map(|&(t, risk)| json!({ "t": t, "risk": risk, "weight": t as f64 })).collect()
        };
        let timing = json!({ "seconds": 1.0, "examples_per_second": 1.0, "megabytes_per_second": 1.0 });
        let learner = |(at, curve): (usize, &&[(u64, f64)])| {
            json!({ "name": format!("learner {at}"), "learner": "l", "metrics": {}, "timing": timing,
                    "guarantees": [], "curve": points(curve) })
        };
        let learners: Vec<_> = curves.iter().enumerate().map(learner).collect();
        let report = json!({
            "onward": "", "inputs": [], "format": "csv", "target": "y", "task": "regression", "loss": "squared",
            "examples": 0, "unlabelled": 0, "weightless": 0, "skipped": 0, "bytes": 0, "timing": timing,
            "learners": learners,
        });
        Report::from_json(&report.to_string()).unwrap()
    }

    fn plot_of(report: &Report, has_colours: bool) -> String {
        plot(report, &Terminal { width: 60, has_colours })
    }

    #[test]
    fn lines_go_from_the_upper_left_to_the_lower_right_between_labelled_ticks() {
        let text = plot_of(&report(&[&[(1, 9.0), (200, 3.0)], &[(1, 5.0), (200, 4.0)]]), false);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "mean squared loss so far");
        assert!(lines[1].starts_with("  │a"), "{text}");
        let ticks: Vec<&str> = lines.iter().filter_map(|line| line.split_once(" ┤")).map(|(label, _)| label).collect();
        assert_eq!(ticks, ["8", "6", "4"], "{text}");
        // The first line ends at the lower right corner.
        assert!(lines[ROWS].ends_with('a') && lines[ROWS].chars().count() == 60, "{text}");
        assert!(lines.iter().all(|line| line.chars().count() <= 60), "{text}");
        assert!(text.ends_with("a learner 0 3.0000   b learner 1 4.0000\n"), "{text}");
        assert!(text.contains("100"), "{text}");
    }

    #[test]
    fn colours_are_there_where_they_are_wanted() {
        let report = report(&[&[(1, 1.0), (8, 2.0)]]);
        assert!(plot_of(&report, true).contains("\x1b[36m") && !plot_of(&report, false).contains('\x1b'));
    }

    #[test]
    fn any_numbers_can_be_plotted() {
        for curve in
            [&[][..], &[(1, 0.0)], &[(5, -1e308), (6, 1e308)], &[(1, 1e-300), (2, 1e300)], &[(1, 3.0), (2, 3.0)]]
        {
            let text = plot_of(&report(&[curve]), false);
            assert!(text.lines().all(|line| line.chars().count() <= 60), "{text}");
        }
    }
}
