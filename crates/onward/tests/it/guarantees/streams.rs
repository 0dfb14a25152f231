//! The streams that guarantees are tried on.

use std::path::Path;
use std::sync::Arc;

use onward::Loss;
use onward::loss::Task;

use crate::common::{Random, Row, label, stream};

/// Features of all streams have indices below this.
pub(crate) const DIMENSION: usize = 10;

/// Streams whose rows do not depend on the learner, by name.
pub(crate) fn fixed(loss: &dyn Loss, rounds: usize) -> Vec<(&'static str, Arc<Vec<Row>>)> {
    let random = stream(loss, rounds, 9);
    let mut sorted = random.clone();
    sorted.sort_by(|a, b| a.label.total_cmp(&b.label));
    let mut heavy = stream(loss, rounds, 10);
    heavy.iter_mut().step_by(17).for_each(|row| row.values.iter_mut().for_each(|value| *value *= 30.0));
    let mut offset = stream(loss, rounds, 13);
    offset.iter_mut().enumerate().for_each(|(round, row)| row.offset = ((round * 7) % 5) as f64 - 2.0);
    let mut light = stream(loss, rounds.min(256), 15);
    light.iter_mut().for_each(|row| row.weight *= 2e-38);
    let mut ponderous = stream(loss, rounds.min(256), 16);
    ponderous.iter_mut().for_each(|row| row.weight *= 1e38);
    // Each row moves what the first one made by less than 32 bits can hold.
    let mut feathers = stream(loss, rounds.min(256), 17);
    feathers.iter_mut().skip(1).for_each(|row| row.weight *= 2f64.powi(-27));
    // From 1e-30 to 1e30 and back.
    let mut tides = stream(loss, rounds.min(256), 18);
    tides.iter_mut().enumerate().for_each(|(round, row)| row.weight *= 10f64.powi((round * 17 % 61) as i32 - 30));
    let streams = [
        ("random", random),
        ("sorted", sorted),
        ("heavy-tailed", heavy),
        ("offset", offset),
        ("light", light),
        ("ponderous", ponderous),
        ("feathers", feathers),
        ("tides", tides),
        ("real", real(loss, rounds)),
    ];
    streams.into_iter().map(|(name, rows)| (name, Arc::new(rows))).collect()
}

/// Web sites that phish for losses of two classes; a president's approval, made small, for others.
fn real(loss: &dyn Loss, rounds: usize) -> Vec<Row> {
    let (file, target) = match loss.task() {
        Task::Binary => ("phishing.csv", 9),
        _ => ("trump_approval.csv", 1),
    };
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data").join(file);
    let text = std::fs::read_to_string(path).unwrap();
    let rows = text.lines().skip(1).take(rounds).map(|line| {
        let cells: Vec<f64> = line.split(',').map(|cell| cell.parse().unwrap_or(0.0)).collect();
        let (mut indices, mut values) = (vec![0], vec![1.0]);
        for (column, &value) in cells.iter().enumerate().filter(|(column, _)| *column != target) {
            indices.push(if column > target { column as u32 } else { column as u32 + 1 });
            // Days of the approval since its first, and its shares, in units of about one.
            values.push(if value > 7e5 {
                (value - 736_389.0) / 1000.0
            } else if value > 2.0 {
                value / 50.0
            } else {
                value
            } as f32);
        }
        let label = match loss.task() {
            Task::Binary if cells[target] > 0.5 => 1.0,
            Task::Binary => -1.0,
            _ => cells[target] / 50.0,
        };
        Row { indices, values, label, weight: 1.0, offset: 0.0 }
    });
    rows.collect()
}

/// Rows whose labels are to be chosen while learning: like the others, or the bias alone, where
/// nothing but the labels matters.
pub(crate) fn unlabelled(loss: &dyn Loss, rounds: usize) -> Vec<(&'static str, Vec<Row>)> {
    let alone = Row { indices: vec![0], values: vec![1.0], label: 0.0, weight: 1.0, offset: 0.0 };
    vec![("adversarial", stream(loss, rounds, 21)), ("adversarial, bias alone", vec![alone; rounds])]
}

/// The label that costs a score most.
pub(crate) fn worst_label(loss: &dyn Loss, score: f64, random: &mut Random) -> f64 {
    match loss.task() {
        Task::Binary => match score {
            0.0 => label(loss, 0.0, random),
            score if score > 0.0 => -1.0,
            _ => 1.0,
        },
        _ => match loss.value(score, 0.0) > loss.value(score, 2.0) {
            true => 0.0,
            false => 2.0,
        },
    }
}
