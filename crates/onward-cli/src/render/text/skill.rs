//! Did it learn? The learner beside the baselines that go by the labels alone, in rows of the summary.

use onward::loss::Curvature;
use onward_engine::{
    DEFAULT_LEARNER, LabelOrderReport, LearnerReport, Model, Report, SkillBaseline, SkillReport, StreamReport,
};

use super::summary::row;
use super::{counted, grouped, number};

/// The first row: the skill, and where there is none what to try.
pub(super) fn skill(text: &mut String, stream: &StreamReport, learner: &LearnerReport, model: &Model) {
    let forgets = forgets(stream, learner);
    if let Some(skill) = &learner.skill_after_first {
        let meaning = in_words(skill, forgets, ", from the second example on");
        row(text, "skill", &percent(skill.value), &meaning);
    } else if let Some(skill) = &learner.skill {
        row(text, "skill", &percent(skill.value), &in_words(skill, forgets, ""));
    } else if let (Some(constant), Some(same)) = (stream.online_constant_risk, stream.no_change_risk) {
        let meaning = format!(
            "a share of the loss of the better baseline, which is {}: there is none unless that is above 0",
            number(constant.min(same))
        );
        row(text, "skill", "none", &meaning);
    }
    match off_course(model) {
        Some((what, meaning)) => row(text, what, "", &meaning),
        None => advice(stream, learner, model).iter().for_each(|advice| row(text, "", "", advice)),
    }
}

/// Whether what the learner knows at the end is worth nothing on the examples that it came from.
fn forgets(stream: &StreamReport, learner: &LearnerReport) -> bool {
    let saved = learner.saved_model_risk.and_then(|saved| saved.risk);
    matches!((saved, stream.online_constant_risk), (Some(saved), Some(constant)) if saved > constant)
}

/// What the skill says. `since`: which examples it is of.
fn in_words(skill: &SkillReport, forgets: bool, since: &str) -> String {
    let baseline = name(skill.baseline);
    let (Some(low), Some(high)) = (skill.low, skill.high) else {
        let less = if skill.value > 0.0 { "less" } else { "no less" };
        return format!("it pays {less} than {baseline}; there are too few examples to be sure");
    };
    let (verdict, range) = match skill.baseline {
        _ if low > 0.0 && forgets => {
            ("it followed the stream", format!("{} to {} less than", percent(low), percent(high)))
        }
        _ if low > 0.0 => ("it learnt", format!("{} to {} less than", percent(low), percent(high))),
        _ if high >= 0.0 && skill.value < -MANY => {
            let times = times(-skill.value);
            return format!(
                "it did not learn: it pays {times} times as much as {baseline}; too unevenly for an interval"
            );
        }
        _ if high >= 0.0 => ("it may not have learnt", format!("from {} to {} less than", more(-low), percent(high))),
        _ if high < -MANY => ("it did not learn", format!("{} to {} times as much as", times(-high), times(-low))),
        SkillBaseline::NoChange => ("it learnt no more than the label before tells", range_more(low, high)),
        SkillBaseline::OnlineConstant => ("it did not learn", range_more(low, high)),
    };
    let but = match low > 0.0 && forgets {
        true => ", but the saved model pays more on these examples than the online constant does",
        false => "",
    };
    format!("{verdict}: it pays {range} {baseline} ({:.0}% interval){since}{but}", 100.0 * skill.confidence)
}

fn range_more(low: f64, high: f64) -> String {
    format!("{} to {} more than", percent(-high), percent(-low))
}

/// So many times are said as such, and not in percent.
const MANY: f64 = 5.0;

/// So much more, or so many times as much.
fn more(share: f64) -> String {
    if share < MANY { format!("{} more", percent(share)) } else { format!("{} times as much", times(share)) }
}

/// How many times as much, where so much more is paid.
fn times(share: f64) -> String {
    let times = 1.0 + share;
    if times < 1e6 { grouped(times.round() as u64) } else { format!("{times:.0e}") }
}

/// A share in percent.
fn percent(share: f64) -> String {
    // No share is -0.0%.
    let percent = (1000.0 * share).round() / 10.0 + 0.0;
    match percent.abs() {
        ..1e3 => format!("{percent:.1}%"),
        size @ ..1e5 => format!("{}{}%", if share < 0.0 { "-" } else { "" }, grouped(size.round() as u64)),
        _ => format!("{percent:.0e}%"),
    }
}

/// What a baseline is called.
fn name(baseline: SkillBaseline) -> &'static str {
    match baseline {
        SkillBaseline::OnlineConstant => "the online constant",
        SkillBaseline::NoChange => "the no-change baseline",
    }
}

/// What to try where the labels alone tell more than the learner found.
fn advice(stream: &StreamReport, learner: &LearnerReport, model: &Model) -> Option<String> {
    let (risk, constant) = (learner.sequential_risk?, stream.online_constant_risk?);
    if risk > constant {
        return Some(match model.specification().name() == DEFAULT_LEARNER {
            true => "the features seem to tell nothing about the label: check the columns and the target, or give it \
                     more examples"
                .to_owned(),
            false => format!("this is more than the online constant pays: try {}", remedies(model)),
        });
    }
    stream.no_change_risk.filter(|&same| risk > same)?;
    Some("the label before tells more than the features do: try earlier labels as features".to_owned())
}

/// What makes the steps of the learner smaller, and another learner.
fn remedies(model: &Model) -> String {
    let specification = model.specification();
    let other = if specification.is_standardised() { "another learner" } else { "the default learner" };
    match specification.remedies().join(", ") {
        none if none.is_empty() => other.to_owned(),
        some => format!("{some}, or {other}"),
    }
}

/// How many times what the online constant pays is a sign that something is wrong.
const FAR: f64 = 10.0;

/// What is wrong with a learner that pays many times what the online constant does, and what to try. All learners start at
/// the score 0: one that pays more than that does has gone too far; one that pays less is slow, or held back by its ball.
pub(crate) fn off_course(model: &Model) -> Option<(&'static str, String)> {
    let ledger = model.ledger();
    let risk = ledger.sequential_risk();
    let is_convex = ledger.loss().score().is_some_and(|loss| loss.curvature() != Curvature::None);
    // A model of an older version does not know the online constant.
    let (baseline, constant) = match ledger.online_constant_risk() {
        Some(risk) => ("online", risk),
        None => ("best", ledger.baseline_risk()?),
    };
    // Losses of which the constant pays nothing give no scale.
    if ledger.rounds() == 0 || risk.is_finite() && !(is_convex && constant > 0.0 && risk > FAR * constant) {
        return None;
    }
    let many = match risk.is_finite() && constant > 0.0 {
        true => format!("{} times", times(risk / constant - 1.0)),
        false => "far more than".to_owned(),
    };
    let pays = format!("the learner pays {many} what the {baseline} constant does");
    if model.specification().name() == DEFAULT_LEARNER {
        let meaning =
            format!("{pays}: some labels are far from all others; check them for errors, or try --loss absolute");
        return Some(("diverged", meaning));
    }
    if ledger.constant_risk(0.0).is_some_and(|start| risk <= start) {
        let meaning = format!(
            "{pays}: it is slow to reach labels so far from 0, or its radius keeps it from them; try {}a larger radius \
             or rate, or the default learner",
            if model.specification().remedies().contains(&"standardise=true") { "standardise=true, " } else { "" }
        );
        return Some(("behind", meaning));
    }
    Some(("diverged", format!("{pays}: its steps are too large for these features; try {}", remedies(model))))
}

/// The rows about the risk: where it was paid, and what the labels alone would have cost.
pub(super) fn risks(text: &mut String, stream: &StreamReport, learner: &LearnerReport) {
    // Of a few examples each makes such a share.
    let is_large = |share: &f64| *share > 0.1 && *share * stream.rounds() as f64 > 2.0;
    if let Some(share) = learner.first_share.filter(is_large) {
        let whole = learner.skill.filter(|_| learner.skill_after_first.is_some());
        let whole = whole.map_or(String::new(), |skill| format!("; with it the skill is {}", percent(skill.value)));
        let meaning = format!("of the whole loss, paid before any label was known{whole}");
        row(text, "first example", &percent(share), &meaning);
    }
    if let Some(risk) = learner.recent_risk {
        row(text, "recent risk", &number(risk), "mean loss over the last tenth of the examples");
    }
    if let Some(risk) = stream.online_constant_risk {
        row(text, "online constant", &number(risk), "mean loss of predicting by the labels so far, without features");
    }
    if let Some(risk) = stream.no_change_risk {
        row(text, "no change", &number(risk), "mean loss of predicting by the label before, without features");
    }
}

/// The rows about labels that come in runs.
pub(super) fn label_order(text: &mut String, stream: &StreamReport, learner: &LearnerReport) {
    let Some(order) = stream.label_order.filter(|order| order.is_clear) else { return };
    row(text, "label order", "", &order_in_words(&order));
    if let (Some(saved), Some(risk)) = (&learner.saved_model_risk, learner.sequential_risk) {
        let sample = counted(saved.examples, "example");
        let sample = match saved.examples == stream.rounds() {
            true => format!("all {sample}"),
            false => format!("{sample} of this run, drawn at random"),
        };
        let meaning = format!("mean loss of the saved model on {sample}; in the run it paid {}", number(risk));
        row(text, "saved model", &saved.risk.map_or_else(|| "none".to_owned(), number), &meaning);
        row(text, "", "", "if the order of the rows means nothing, learn them in random order: --shuffle");
    }
}

/// What is said of labels that come in runs, in a line; nothing of others.
pub(crate) fn label_order_line(report: &Report) -> Option<String> {
    let order = report.stream().label_order.filter(|order| order.is_clear)?;
    Some(format!("\nlabel order: {}", order_in_words(&order)))
}

/// How labels hang together.
pub(crate) fn order_in_words(order: &LabelOrderReport) -> String {
    match (order.runs, order.expected_runs, order.rank_correlation) {
        (Some(runs), Some(expected), _) => format!(
            "the labels come in {}; in random order they would come in about {}",
            counted(runs, "run"),
            grouped(expected.round() as u64)
        ),
        (_, _, Some(correlation)) => format!(
            "each label is close to the one before it: rank correlation {correlation:.2}, in random order about 0"
        ),
        _ => "the labels come in runs".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_short_whatever_their_size() {
        let shares = [0.2114, -0.004, 1.0, -27.3, -84.0, -1e12].map(percent);
        assert_eq!(shares, ["21.1%", "-0.4%", "100.0%", "-2,730%", "-8,400%", "-1e14%"]);
    }

    #[test]
    fn the_skill_is_said_in_plain_words() {
        use SkillBaseline::{NoChange, OnlineConstant};
        let said = |value, interval: Option<(f64, f64)>, baseline| {
            let (low, high) = (interval.map(|it| it.0), interval.map(|it| it.1));
            in_words(&SkillReport { value, low, high, confidence: 0.95, baseline }, false, "")
        };
        for (text, expected) in [
            (
                said(0.2, Some((0.1, 0.3)), NoChange),
                "it learnt: it pays 10.0% to 30.0% less than the no-change baseline (95% interval)",
            ),
            (
                said(-0.2, Some((-0.3, -0.1)), OnlineConstant),
                "it did not learn: it pays 10.0% to 30.0% more than the online constant (95% interval)",
            ),
            (
                said(-0.2, Some((-0.3, -0.1)), NoChange),
                "it learnt no more than the label before tells: it pays 10.0% to 30.0% more than the no-change \
                 baseline (95% interval)",
            ),
            (
                said(-60.0, Some((-80.0, -40.0)), NoChange),
                "it did not learn: it pays 41 to 81 times as much as the no-change baseline (95% interval)",
            ),
            (
                said(-60.0, Some((-160.0, 0.5)), NoChange),
                "it did not learn: it pays 61 times as much as the no-change baseline; too unevenly for an interval",
            ),
            (
                said(0.0, Some((-0.3, 0.2)), OnlineConstant),
                "it may not have learnt: it pays from 30.0% more to 20.0% less than the online constant (95% interval)",
            ),
            (
                said(0.2, None, OnlineConstant),
                "it pays less than the online constant; there are too few examples to be sure",
            ),
            (
                said(0.0, None, NoChange),
                "it pays no less than the no-change baseline; there are too few examples to be sure",
            ),
        ] {
            assert_eq!(text, expected);
        }
        let skill = SkillReport { value: 0.2, low: Some(0.1), high: Some(0.3), confidence: 0.95, baseline: NoChange };
        assert_eq!(
            in_words(&skill, true, ", from the second example on"),
            "it followed the stream: it pays 10.0% to 30.0% less than the no-change baseline (95% interval), from the second \
             example on, but the saved model pays more on these examples than the online constant does"
        );
    }
}
