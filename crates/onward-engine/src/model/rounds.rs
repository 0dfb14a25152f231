//! The rounds of some rows: how a learner learns from them, and how classes that are new get their scores.

use onward::loss::TaskLoss;
use onward::{Learner, Rows};

use crate::error::EngineError;

/// Learns from rows, and leaves their scores, row after row: one for each, or one per class that was met up to the last
/// row. `rounds` labelled rows came before.
///
/// # Errors
/// When the learner has no score for a class, which would be a fault of the learner.
pub(crate) fn learn_rows(
    learner: &mut dyn Learner,
    loss: &TaskLoss,
    rows: Rows<'_>,
    scores: &mut Vec<f64>,
    rounds: u64,
) -> Result<(), EngineError> {
    if loss.classes().is_some() {
        return learn_classes(learner, loss, rows, scores, rounds);
    }
    scores.resize(rows.len() * learner.outputs(), 0.0);
    learner.learn(rows, scores);
    Ok(())
}

/// Learns up to the next row of a class that is new, tells the learner of it, and goes on from there.
fn learn_classes(
    learner: &mut dyn Learner,
    loss: &TaskLoss,
    rows: Rows<'_>,
    scores: &mut Vec<f64>,
    mut rounds: u64,
) -> Result<(), EngineError> {
    let needed: Vec<usize> = rows.iter().map(|row| row.label.map_or(0, |class| class as usize + 1)).collect();
    let outputs = needed.iter().copied().fold(learner.outputs(), usize::max);
    scores.clear();
    scores.resize(rows.len() * outputs, f64::NEG_INFINITY);
    let (mut first, mut made) = (0, Vec::new());
    while first < rows.len() {
        let is_new = needed[first] > learner.outputs();
        if is_new {
            learner.set_classes(needed[first]);
        }
        let known = learner.outputs();
        if known < needed[first] {
            return Err(EngineError::Fault("a learner of classes has no score for a class that is new"));
        }
        let end = (first + 1..rows.len()).find(|&row| needed[row] > known).unwrap_or(rows.len());
        let part = rows.slice(first..end);
        made.clear();
        made.resize(part.len() * known, 0.0);
        learner.learn(part, &mut made);
        if let (true, Some((new, others))) = (is_new, made.get_mut(..known).and_then(<[f64]>::split_last_mut)) {
            *new = loss.score_of_new_class(others, rounds).unwrap_or(*new);
        }
        for (row, made) in (first..end).zip(made.chunks(known.max(1))) {
            scores[row * outputs..][..known].copy_from_slice(made);
        }
        rounds += part.iter().filter(|row| row.label_to_learn().is_some()).count() as u64;
        first = end;
    }
    Ok(())
}

/// Adds scores for classes that the model has not met to the predictions of rows, so that such rows can be charged: what
/// the class would have paid, had it been learnt next after `rounds` rows.
pub(crate) fn add_new_classes(loss: &TaskLoss, rows: Rows<'_>, outputs: usize, scores: &mut Vec<f64>, rounds: u64) {
    let class_of = |label: Option<f64>| label.map_or(0, |class| class as usize);
    let most = rows.iter().map(|row| class_of(row.label) + usize::from(row.label.is_some())).fold(outputs, usize::max);
    if loss.classes().is_none() || most == outputs {
        return;
    }
    let mut wide = vec![f64::NEG_INFINITY; rows.len() * most];
    for (row, (example, wide)) in rows.iter().zip(wide.chunks_mut(most)).enumerate() {
        let known = &scores[row * outputs..][..outputs];
        wide[..outputs].copy_from_slice(known);
        let class = class_of(example.label);
        if example.label.is_some() && class >= outputs {
            let least = known.iter().copied().fold(0.0, f64::min);
            wide[class] = loss.score_of_new_class(known, rounds).unwrap_or(least);
        }
    }
    *scores = wide;
}
