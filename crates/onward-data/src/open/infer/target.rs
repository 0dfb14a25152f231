//! How the values of the target become labels, judged from the first rows.

use onward::hashing::feature_hash as hash;
use onward::loss::Task;

use crate::error::{DataError, Result, quoted};
use crate::options::Options;
use crate::schema::names::shown;
use crate::schema::sample::{ColumnSample, ROWS_FOR_ONE_INVALID, ROWS_TO_TRUST};
use crate::schema::target::{Expression, Operator, Target, TargetRule};
use crate::text::numbers;

/// Two classes, one of them a number, are taken as classes from this many rows on.
const ROWS_FOR_MIXED_CLASSES: usize = 20;

/// How the values of the target become labels.
pub(super) fn rule(
    expression: Expression,
    seen: &ColumnSample,
    options: &Options,
    notes: &mut Vec<String>,
) -> Result<Target> {
    let column = expression.column;
    let rule = match expression.comparison {
        Some((operator, with)) if options.task.is_some_and(|task| task != Task::Binary) => {
            let target = Target { column, rule: TargetRule::Comparison { operator, with, numeric: false } };
            let asked = if options.task == Some(Task::Regression) { "regression" } else { "classes" };
            return Err(DataError::options(format!("the target {target} makes two classes, but the task is {asked}"))
                .advise("leave out the comparison, or ⟦task⟧"));
        }
        Some((operator, with)) => {
            check_value(&column, operator, &with, seen, notes)?;
            let numeric = seen.numbers > 0 && are_numbers(seen) && numbers::finite(with.as_bytes()).is_some();
            TargetRule::Comparison { operator, with, numeric }
        }
        None => match options.task {
            Some(Task::Regression) => TargetRule::Number,
            Some(Task::Binary) => binary_rule(&column, seen)?,
            Some(Task::Classes) => TargetRule::ClassNumber,
            _ if seen.present() == 0 => TargetRule::Number,
            _ if are_signs(seen) => TargetRule::Signs,
            _ if are_numbers(seen) => TargetRule::Number,
            _ => binary_rule(&column, seen)?,
        },
    };
    let target = Target { column, rule };
    notes.extend(assumed(&target, seen, options.task));
    notes.push(match &target.rule {
        TargetRule::Number => format!("target: {target} (regression)"),
        TargetRule::ClassNumber => format!("target: {target} (the number of a class)"),
        TargetRule::Classes { negative, positive } => {
            format!("target: {}, {positive} against {negative} (binary)", target.column)
        }
        TargetRule::Probability => format!("target: {target} (a probability, binary)"),
        TargetRule::Signs => format!("target: {target}, 1 against 0 or -1 (binary)"),
        TargetRule::Comparison { .. } => format!("target: {target} (binary)"),
    });
    Ok(target)
}

/// What is assumed where the first rows have no label.
fn assumed(target: &Target, seen: &ColumnSample, task: Option<Task>) -> Option<String> {
    if seen.present() > 0 {
        return None;
    }
    let column = &target.column;
    let assumed = match &target.rule {
        TargetRule::Number if task == Some(Task::Regression) => String::new(),
        TargetRule::Comparison { .. } | TargetRule::ClassNumber => String::new(),
        TargetRule::Number => {
            format!(": regression is assumed (else use ⟦task=binary⟧ or ⟦target={column}==CLASS⟧)")
        }
        _ => format!(": 1 against 0 or -1 is assumed (else use ⟦target={column}==CLASS⟧)"),
    };
    Some(format!("all labels are missing in the first rows of '{column}'{assumed}"))
}

/// Looks whether the value that a target is compared with can occur, and whether both
/// classes do. Comparing numbers with a word is probably a mistaken column; a class may
/// occur later.
fn check_value(column: &str, operator: Operator, with: &str, seen: &ColumnSample, notes: &mut Vec<String>) -> Result {
    if seen.present() == 0 {
        return Ok(());
    }
    let examples = shown(&seen.examples);
    let number = numbers::finite(with.as_bytes());
    if let Some(threshold) = number.filter(|_| operator.orders()) {
        if seen.numbers > 0 && is_one_sided(operator, threshold, seen) {
            notes.push(format!(
                "only one class in the first rows: '{column}' goes from {} to {} there, compared with {with}",
                seen.smallest, seen.largest
            ));
        }
        return Ok(());
    }
    let occurs = match number {
        Some(number) => seen.has_number(number),
        None => seen.distinct.contains(&hash::seed(with.as_bytes())),
    };
    if occurs {
        return Ok(());
    }
    if number.is_none() && seen.numbers == seen.present() {
        let found = format!("the target is compared with '{with}', and '{column}' holds only numbers: {examples}, …");
        return Err(DataError::options(found)
            .advise(format!("compare with a number, ⟦target={column}==1⟧, or name another column")));
    }
    notes.push(format!("'{with}' does not occur in the first rows of '{column}', which holds {examples}, …"));
    Ok(())
}

/// Whether all numbers are on one side of a threshold.
fn is_one_sided(operator: Operator, threshold: f64, seen: &ColumnSample) -> bool {
    match operator {
        Operator::Greater | Operator::LessOrEqual => seen.largest <= threshold || seen.smallest > threshold,
        _ => seen.largest < threshold || seen.smallest >= threshold,
    }
}

/// Whether enough of a target's values are of one kind for the others to be mistakes. Of two
/// distinct values each may be a class; of more, one token is a mistake in any number of rows.
fn are_nearly_all(count: usize, seen: &ColumnSample) -> bool {
    let invalid = seen.present() - count;
    let few = invalid * ROWS_FOR_ONE_INVALID <= seen.present().max(ROWS_FOR_ONE_INVALID);
    count > invalid && (invalid == 0 || few && (seen.distinct.len() > 2 || count >= ROWS_TO_TRUST))
}

fn are_numbers(seen: &ColumnSample) -> bool {
    are_nearly_all(seen.numbers, seen)
}

fn are_signs(seen: &ColumnSample) -> bool {
    let numbers_fit = seen.integers == seen.numbers
        && seen.largest <= 1.0
        && (seen.smallest >= 0.0 || seen.smallest == -1.0 && seen.zeros == 0);
    are_numbers(seen) && numbers_fit || are_nearly_all(seen.booleans, seen)
}

/// The rule for two classes.
fn binary_rule(column: &str, seen: &ColumnSample) -> Result<TargetRule> {
    if seen.present() == 0 || are_signs(seen) {
        return Ok(TargetRule::Signs);
    }
    if are_numbers(seen) && seen.smallest >= 0.0 && seen.largest <= 1.0 {
        return Ok(TargetRule::Probability);
    }
    if are_nearly_all(seen.ones + seen.zeros.max(seen.minus_ones), seen) {
        return Ok(TargetRule::Signs);
    }
    let mut classes = seen.examples.clone();
    classes.sort();
    let is_mixed = seen.numbers > 0 && seen.numbers < seen.present();
    let (found, remedy) = match (classes.as_slice(), seen.distinct.len()) {
        ([negative, positive], 2) if is_mixed && seen.present() < ROWS_FOR_MIXED_CLASSES => (
            format!("has two values in the first rows, {negative} and {positive}, of which only one is a number"),
            format!(
                "if they are two classes, name the positive one: ⟦target={column}=={positive}⟧; if one is a mistake, fix it, \
                 or use ⟦task=regression⟧ to see where it is"
            ),
        ),
        ([negative, positive], 2) => {
            return Ok(TargetRule::Classes { negative: negative.clone(), positive: positive.clone() });
        }
        ([only], 1) => (
            format!("is always '{only}' in the first rows"),
            format!("name the positive class: ⟦target={column}=={only}⟧"),
        ),
        _ => {
            let (values, invalid) = (shown(&classes), invalid_among_numbers(seen));
            let first = classes.first().map_or("", String::as_str);
            (
                format!("has more than two values in the first rows: {values}, …{invalid}"),
                format!("name the positive one, ⟦target={column}=={first}⟧, or compare numbers, ⟦target={column}>0⟧"),
            )
        }
    };
    Err(DataError::options(format!("target '{column}' {found}")).advise(remedy))
}

/// What keeps a target from being a number.
fn invalid_among_numbers(seen: &ColumnSample) -> String {
    if seen.numbers == 0 || seen.invalid.is_empty() {
        return String::new();
    }
    let words: Vec<_> = seen.invalid.iter().map(|(word, _)| quoted(word.as_bytes())).collect();
    format!(" ({} of {} are not numbers: {}, …)", seen.present() - seen.numbers, seen.present(), shown(&words))
}
