//! What a person reads at the end of a run.

use std::borrow::Cow;
use std::fmt::Write;

use onward::Mixed;
use onward::loss::{Curvature, Task};
use onward::registry::LEARNERS;
use onward::regret::{Guarantee, GuaranteeKind};

use crate::report::{Run, guarantees};
use crate::saved::Trained;
use crate::verdict;

/// How many features are shown.
const HEAVIEST: usize = 10;
/// When so many features are kept, or twice as many as are wanted, the lighter ones are dropped.
const MOST_KEPT: usize = 1024;

/// A count with commas between thousands.
pub(crate) fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A count with what is counted: 1 example, 2 examples.
pub(crate) fn counted(count: u64, what: &str) -> String {
    format!("{} {what}{}", grouped(count), if count == 1 { "" } else { "s" })
}

/// The summary of `onward learn`.
pub(crate) fn learned(run: &Run<'_>) -> String {
    let mut text = head(run);
    let ledger = &run.trained.ledger;
    if ledger.rounds() == 0 {
        text.push_str(match run.trained.facts.weightless {
            0 => "no example had a label: nothing was learnt\n",
            _ => "all examples with a label had weight 0: nothing was learnt\n",
        });
        return text;
    }
    row(
        &mut text,
        "sequential risk",
        &number(ledger.sequential_risk()),
        &format!(
            "mean {} loss, each example predicted before its label was seen",
            run.trained.learner.charged_loss().name()
        ),
    );
    body(&mut text, run.trained);
    if let Some(mixed) = &run.mixed {
        say_best_lane(&mut text, mixed);
    }
    if let Some(meaning) = diverged(run.trained) {
        row(&mut text, "diverged", "", &meaning);
    }
    if let Some(updates) = run.updates {
        let is_bounded = run.own_guarantee.as_ref().is_some_and(|guarantee| guarantee.bound.is_ok());
        let bounded = if is_bounded { ", which its guarantee bounds" } else { "" };
        let meaning = format!("the importance of the rounds in which it moved, M{bounded}");
        let updates = if updates.fract() == 0.0 { grouped(updates as u64) } else { number(updates) };
        row(&mut text, "updates", &updates, &meaning);
    }
    verdict::rows(&mut text, run);
    verdict::say_averaged(&mut text, run);
    for guarantee in guarantees(run) {
        say_guarantee(&mut text, &guarantee, run);
    }
    if run.pass_risks.len() > 1 {
        let risks: Vec<_> = run.pass_risks.iter().map(|&risk| number(risk)).collect();
        row(&mut text, "passes", &risks.join(" "), "mean loss of each; what is above is of the first");
    }
    if let Some(sentence) = verdict::sentence(run) {
        write_to(&mut text, format_args!("\n{sentence}\n"));
    }
    say_heaviest(&mut text, run.trained, HEAVIEST);
    text
}

/// The summary of `onward predict`.
pub(crate) fn predicted(run: &Run<'_>) -> String {
    let mut text = head(run);
    let ledger = &run.trained.ledger;
    if ledger.rounds() > 0 {
        let loss = run.trained.learner.charged_loss().name();
        row(
            &mut text,
            "mean loss",
            &number(ledger.sequential_risk()),
            &format!("{loss} loss of the model as it is, on the examples with a label"),
        );
        body(&mut text, run.trained);
    }
    text
}

/// What was read and how fast.
pub(crate) fn head(run: &Run<'_>) -> String {
    let facts = &run.trained.facts;
    let mut text = format!("\n{}", counted(facts.examples, "example"));
    let extras = [
        (facts.unlabelled, format!("{} without a label", grouped(facts.unlabelled))),
        (facts.weightless, format!("{} of weight 0", grouped(facts.weightless))),
        (facts.skipped, format!("{} skipped", counted(facts.skipped, "unreadable record"))),
    ];
    let extras: Vec<_> = extras.into_iter().filter(|(count, _)| *count > 0).map(|(_, text)| text).collect();
    if !extras.is_empty() {
        write_to(&mut text, format_args!(" ({})", extras.join(", ")));
    }
    // The rate is that of all of them.
    if run.pass_risks.len() > 1 {
        write_to(&mut text, format_args!(", {} passes,", run.pass_risks.len()));
    }
    let timing = run.timing;
    write_to(
        &mut text,
        format_args!(
            " in {:.2} s: {} a second, {:.0} MB/s\n",
            timing.seconds,
            grouped(timing.examples_per_second as u64),
            timing.megabytes_per_second
        ),
    );
    let ledger = &run.trained.ledger;
    if ledger.rounds() > 0 {
        let mean = ledger.features() as f64 / ledger.rounds() as f64;
        write_to(&mut text, format_args!("{mean:.1} features an example"));
        if let Some(distinct) = ledger.distinct_features() {
            write_to(&mut text, format_args!(", {} distinct", grouped(distinct)));
            let collisions = 100.0 * run.trained.schema.expected_collisions(distinct);
            if collisions >= 0.005 {
                write_to(&mut text, format_args!("; {collisions:.2}% of hashed ones share a weight (--bits)"));
            }
        }
        text.push('\n');
    }
    text.push('\n');
    text
}

/// The best constant and the metrics.
fn body(text: &mut String, trained: &Trained) {
    let ledger = &trained.ledger;
    if let Some(risk) = ledger.baseline_risk() {
        row(text, "best constant", &number(risk), "the same for the best predictor that ignores the features");
    }
    let metrics = ledger.metrics().summary();
    let metric = |name: &str| metrics.get(name).and_then(serde_json::Value::as_f64);
    match ledger.loss().task() {
        Task::Regression => {
            if let (Some(rmse), Some(mae)) = (metric("rmse"), metric("mae")) {
                let r2 = metric("r2").map_or(String::new(), |r2| format!(", R² {}", number(r2)));
                row(text, "errors", "", &format!("RMSE {}, MAE {}{r2}", number(rmse), number(mae)));
            }
        }
        _ => {
            if let Some(accuracy) = metric("accuracy") {
                let mistakes = ledger.metrics().mistakes().unwrap_or(0.0);
                row(
                    text,
                    "accuracy",
                    &format!("{:.2}%", 100.0 * accuracy),
                    &counted(mistakes.round() as u64, "mistake"),
                );
            }
            if let Some(auc) = metric("auc") {
                let error = metric("auc_error").unwrap_or(0.0);
                row(text, "AUC", &format!("{auc:.4}"), &format!("± {error:.1e}, from a streaming histogram"));
            }
        }
    }
}

/// How many times what the score 0 pays is a sign that the steps were too large.
const RUNAWAY: f64 = 10.0;

/// What to do where the learner ran away. It starts at the score 0: one that is merely slow, or
/// held back by a small ball, pays no more than that does. Only steps that go too far do.
pub(crate) fn diverged(trained: &Trained) -> Option<String> {
    let ledger = &trained.ledger;
    let risk = ledger.sequential_risk();
    let start = ledger.constant_risk(0.0)?;
    // Losses that cost nothing at 0 (or jump there) give no scale.
    let has_scale = start > 0.0 && ledger.loss().curvature() != Curvature::None;
    if risk.is_finite() && !(has_scale && risk > RUNAWAY * start) {
        return None;
    }
    let times = match ledger.baseline_risk() {
        Some(best) if risk.is_finite() && best > 0.0 => {
            let times = risk / best;
            let times = if times < 1e6 { grouped(times.round() as u64) } else { format!("{times:.0e}") };
            format!("the learner pays {times} times what the best constant does")
        }
        _ => "the learner pays far more than a constant does".to_owned(),
    };
    let learner = trained.learner.describe();
    if learner.starts_with("auto") {
        return Some(format!(
            "{times}: some labels are far from all others; look for mistakes in them, or try --loss absolute"
        ));
    }
    let parameters = LEARNERS.iter().find(|entry| learner.split(':').next() == Some(entry.name));
    let has = |key: &str| parameters.is_some_and(|entry| entry.parameters.iter().any(|known| known.name == key));
    let is_standardised = learner.contains("standardise=true");
    let mut remedies = Vec::new();
    if has("standardise") && !is_standardised {
        remedies.push("standardise=true");
    }
    remedies.extend(SMALLER_STEPS.iter().find(|(key, _)| has(key)).map(|(_, remedy)| *remedy));
    let other = if is_standardised { "another learner" } else { "the default learner" };
    let remedy = match remedies.join(", ") {
        none if none.is_empty() => other.to_owned(),
        some => format!("{some}, or {other}"),
    };
    Some(format!("{times}: its steps are too large for these features; try {remedy}"))
}

/// What makes steps smaller, by the parameter that a learner has; the first that it has counts.
const SMALLER_STEPS: &[(&str, &str)] = &[
    ("sigma", "a larger sigma, a smaller --radius"),
    ("eta0", "a smaller eta0"),
    ("eta", "a smaller eta"),
    ("lambda", "a larger lambda"),
    ("r", "a larger r"),
    ("c", "a smaller c"),
    ("alpha", "a smaller alpha"),
];

fn say_guarantee(text: &mut String, guarantee: &Guarantee, run: &Run<'_>) {
    let ledger = &run.trained.ledger;
    let title = match guarantee.kind {
        GuaranteeKind::Universal => "guarantee",
        GuaranteeKind::Mixture => "of the mixture",
        _ => "own guarantee",
    };
    let bound = match &guarantee.bound {
        Ok(bound) => bound,
        Err(reason) => return row(text, title, "none", reason),
    };
    let per_round = bound / ledger.weight();
    let comparator = match guarantee.radius() {
        Some(radius) => guarantee.description().replace("radius", &size(radius)),
        None => guarantee.description(),
    };
    row(text, title, &format!("≤ {}", number(per_round)), &format!("regret an example against {comparator}"));
    // Where the best predictor is known, what the certificate rules out says nothing more.
    let is_known = run.hindsight.is_some_and(|hindsight| hindsight.answer.is_ok());
    if guarantee.kind == GuaranteeKind::Universal && !is_known {
        let floor = ledger.sequential_risk() - per_round;
        let meaning = match floor > 0.0 {
            true => format!("so no such predictor, knowing the whole stream, pays less than {}", number(floor)),
            false => "which is more than was paid: it rules out no predictor of that size (--radius)".to_owned(),
        };
        row(text, "", "", &meaning);
    }
}

/// The expert that would have paid least alone.
fn say_best_lane(text: &mut String, mixed: &Mixed) {
    let Some(best) = mixed.best().filter(|best| best.loss.is_finite()) else { return };
    let gap = mixed.gap();
    let meaning = match gap < 0.0 {
        true => format!("'{}' alone; mixing gained {}", best.name, number(-gap)),
        false => format!("'{}' alone; mixing cost {}", best.name, number(gap)),
    };
    row(text, "best lane", &number(best.loss), &meaning);
}

/// The experts of a mixture as a table, and how it did beside the best of them.
pub(crate) fn lanes(mixed: &Mixed) -> String {
    let mut text = String::from("\nlanes                        weight      loss (each alone)\n");
    for expert in &mixed.experts {
        let weight = format!("{:.2}%", 100.0 * expert.weight);
        write_to(&mut text, format_args!("{:26} {weight:>8} {:>9}\n", expert.name, number(expert.loss)));
    }
    write_to(&mut text, format_args!("{:26} {:>8} {:>9}\n", "their mixture", "", number(mixed.loss)));
    say_best_lane(&mut text, mixed);
    text
}

/// The heaviest features, by how much they move a typical score: by |weight| × spread, which is the
/// deviation of a feature that the learner centres, and the root mean square of another.
pub(crate) fn heaviest(trained: &Trained, top: usize) -> Vec<(String, f64, f64)> {
    let Some(sums) = trained.ledger.sums() else { return Vec::new() };
    let Some(weights) = trained.learner.weights(sums.features()) else { return Vec::new() };
    let order = |a: &(u32, f64, f64), b: &(u32, f64, f64)| b.2.total_cmp(&a.2).then(a.0.cmp(&b.0));
    let mut found = Vec::new();
    for ((&index, weight), spread) in sums.features().iter().zip(weights).zip(sums.root_mean_squares()) {
        let spread = trained.learner.deviation(index).unwrap_or(spread);
        found.push((index, weight, weight.abs() * spread));
        // There may be millions, of which few are shown.
        if found.len() >= top.saturating_mul(2).max(MOST_KEPT) {
            found.select_nth_unstable_by(top, order);
            found.truncate(top);
        }
    }
    found.sort_unstable_by(order);
    found.truncate(top);
    let name = |index: u32| trained.names.get(index).map_or_else(|| format!("#{index}"), Cow::into_owned);
    found.into_iter().map(|(index, weight, effect)| (name(index), weight, effect)).collect()
}

fn say_heaviest(text: &mut String, trained: &Trained, top: usize) {
    let found = heaviest(trained, top);
    if found.is_empty() {
        return;
    }
    text.push_str(&table(&found));
}

/// Features with weights as a table.
pub(crate) fn table(found: &[(String, f64, f64)]) -> String {
    let mut text = String::from("\nheaviest features          weight    effect (|weight| × spread)\n");
    for (name, weight, effect) in found {
        let shown: String =
            if name.chars().count() > 24 { name.chars().take(23).chain(['…']).collect() } else { name.clone() };
        write_to(
            &mut text,
            format_args!("{shown:24} {weight:>9} {effect:>9}\n", weight = number(*weight), effect = number(*effect)),
        );
    }
    text
}

pub(crate) fn row(text: &mut String, title: &str, value: &str, meaning: &str) {
    write_to(text, format_args!("{title:16} {value:>9}  {meaning}\n"));
}

/// Four decimals, or as many significant digits when that would show too few or too many.
pub(crate) fn number(value: f64) -> String {
    if value == 0.0 || (1e-3..1e4).contains(&value.abs()) { format!("{value:.4}") } else { format!("{value:.3e}") }
}

/// A size that a person gave, as short as it reads back.
pub(crate) fn size(value: f64) -> String {
    if (1e-4..1e7).contains(&value) { value.to_string() } else { format!("{value:e}") }
}

/// Writing to a String cannot fail.
fn write_to(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    let _ = text.write_fmt(arguments);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_grouped_and_numbers_are_short() {
        assert_eq!([0, 999, 1000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([0, 1, 2000].map(|count| counted(count, "example")), ["0 examples", "1 example", "2,000 examples"]);
        assert_eq!([10.0, 0.5, 1e300, 1e-9].map(size), ["10", "0.5", "1e300", "1e-9"]);
        assert_eq!([0.45123, 0.00001, -12.5, 1e9].map(number), ["0.4512", "1.000e-5", "-12.5000", "1.000e9"]);
    }
}
