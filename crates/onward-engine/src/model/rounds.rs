//! The rounds of some rows: how a learner learns from them, and how classes that are new get their scores.

use onward::loss::TaskLoss;
use onward::{Example, Learner, Rows};

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
    let needed: Vec<usize> = rows.iter().map(classes_up_to).collect();
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

/// How many classes there are up to the one that a row is charged for; 0 if it is not charged.
fn classes_up_to(row: Example<'_>) -> usize {
    row.label_to_learn().map_or(0, |class| class as usize + 1)
}

/// The most scores that are made at a time, unless a row has more.
const MOST_SCORES: usize = 1 << 20;

/// How many of some rows are handled at a time, so that their scores fit into memory.
pub(crate) fn rows_at_a_time(loss: &TaskLoss, outputs: usize, rows: Rows<'_>) -> usize {
    match loss.classes() {
        Some(_) => (MOST_SCORES / rows.iter().map(classes_up_to).fold(outputs.max(1), usize::max)).max(1),
        None => usize::MAX,
    }
}

/// The scores of rows with those of classes that the model has not met, so that such rows can be charged: what the class
/// would have paid, had it been learnt next after `rounds` rows. `None` where all classes have been met.
pub(crate) fn with_new_classes(loss: &TaskLoss, rows: Rows<'_>, scores: &[f64], rounds: u64) -> Option<Vec<f64>> {
    loss.classes()?;
    let outputs = scores.len().checked_div(rows.len())?;
    let most = rows.iter().map(classes_up_to).fold(outputs, usize::max);
    if most == outputs {
        return None;
    }
    let mut all = vec![f64::NEG_INFINITY; rows.len() * most];
    for (row, (example, wide)) in rows.iter().zip(all.chunks_mut(most)).enumerate() {
        let known = &scores[row * outputs..][..outputs];
        wide[..outputs].copy_from_slice(known);
        let needed = classes_up_to(example);
        if needed > outputs {
            let least = known.iter().copied().fold(0.0, f64::min);
            wide[needed - 1] = loss.score_of_new_class(known, rounds).unwrap_or(least);
        }
    }
    Some(all)
}
