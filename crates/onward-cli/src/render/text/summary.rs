//! What a person reads at the end of a run.

use onward::MixtureReport;
use onward_engine::{
    AnytimeLoss, AnytimeRisk, HeavyFeature, LearnReport, LearnerReport, MetricsReport, Model, PredictReport, Report,
    StreamReport, Timing,
};

use super::{counted, duration, grouped, guarantee, number, rounded, shortened, skill, verdict};
use crate::render::write;

/// How many features are shown.
const HEAVIEST: usize = 10;

/// The summary of `onward learn`.
pub(crate) fn learned(model: &Model, report: &LearnReport) -> String {
    let LearnReport { stream, learner, .. } = report;
    let passes = learner.pass_risks.as_ref().map_or(1, Vec::len);
    let mut text = head(stream, learner.timing, passes);
    let Some(risk) = learner.sequential_risk.filter(|_| stream.rounds() > 0) else {
        text.push_str(match stream.weightless {
            0 => "no example had a label; nothing was learnt\n",
            _ => "all examples with a label had weight 0; nothing was learnt\n",
        });
        return text;
    };
    let loss = model.learner().loss().name();
    let meaning = format!("mean {loss} loss, each example predicted before its label was seen");
    skill::skill(&mut text, stream, learner, model);
    row(&mut text, "sequential risk", &number(risk), &meaning);
    skill::risks(&mut text, stream, learner);
    // The skill is in its place.
    let metrics = MetricsReport { r2: None, ..learner.metrics.clone() };
    measures(&mut text, stream, &metrics, learner.mistakes, Some(learner));
    skill::label_order(&mut text, stream, learner);
    say_expected(&mut text, learner, risk);
    say_best_lane(&mut text, learner);
    if let Some(updates) = learner.updates {
        let is_bounded = learner.own_guarantee().is_some_and(|own| own.bound_per_round.is_some());
        let bounded = if is_bounded { ", which its guarantee bounds" } else { "" };
        let meaning = format!("total importance of the rounds with an update, M{bounded}");
        let updates = if updates.fract() == 0.0 { grouped(updates as u64) } else { number(updates) };
        row(&mut text, "updates", &updates, &meaning);
    }
    guarantee::own(&mut text, learner, stream);
    let at_zero = model.ledger().constant_risk(0.0);
    verdict::rows(&mut text, stream, learner, at_zero);
    verdict::regularised(&mut text, stream, learner);
    verdict::averaged(&mut text, learner);
    guarantee::certificates(&mut text, learner, stream, risk);
    if let Some(risks) = &learner.pass_risks {
        let risks: Vec<_> = risks.iter().map(|risk| number(risk.unwrap_or(f64::NAN))).collect();
        row(&mut text, "passes", &risks.join(" "), "mean loss of each; the figures above are for the first pass");
    }
    if let Some(sentence) = verdict::sentence(stream, learner, at_zero) {
        write(&mut text, format_args!("\n{sentence}\n"));
    }
    text + &heaviest(&model.heaviest(HEAVIEST))
}

/// The summary of `onward predict`.
pub(crate) fn predicted(report: &PredictReport) -> String {
    let mut text = head(&report.stream, report.timing, 1);
    if let Some(risk) = report.mean_loss {
        let what = if report.is_averaged { "averaged predictor" } else { "model" };
        let loss = &report.stream.loss;
        let meaning = format!("mean {loss} loss of the {what} without learning, on the examples with a label");
        row(&mut text, "mean loss", &number(risk), &meaning);
        measures(&mut text, &report.stream, &report.metrics, report.mistakes, None);
    }
    text
}

/// What `onward compare` says of the best predictor in hindsight.
pub(crate) fn in_hindsight(report: &Report, model: &Model) -> String {
    let Some(hindsight) = &report.stream().hindsight else { return String::new() };
    let mut text = String::from("\n");
    verdict::best(&mut text, hindsight, report.timing(), model.ledger().constant_risk(0.0));
    text
}

/// What was read and how fast.
pub(crate) fn head(stream: &StreamReport, timing: Timing, passes: usize) -> String {
    let mut text = format!("\n{}", counted(stream.examples, "example"));
    let extras = [
        (stream.unlabelled, format!("{} without a label", grouped(stream.unlabelled))),
        (stream.weightless, format!("{} of weight 0", grouped(stream.weightless))),
        (stream.skipped, format!("{} skipped", counted(stream.skipped, "unreadable record"))),
    ];
    let extras: Vec<_> = extras.into_iter().filter(|(count, _)| *count > 0).map(|(_, text)| text).collect();
    if !extras.is_empty() {
        write(&mut text, format_args!(" ({})", extras.join(", ")));
    }
    // The rate is that of all of them.
    if passes > 1 {
        write(&mut text, format_args!(", {passes} passes,"));
    }
    let (time, rate) = (duration(timing.seconds), grouped(timing.examples_per_second as u64));
    write(&mut text, format_args!(" in {time}: {rate} per second, {:.0} MB/s\n", timing.megabytes_per_second));
    if let Some(features) = stream.features.filter(|_| stream.rounds() > 0) {
        write(&mut text, format_args!("{:.1} features per example", features as f64 / stream.rounds() as f64));
        if let Some(distinct) = stream.distinct_features {
            write(&mut text, format_args!(", {} distinct", grouped(distinct)));
        }
        let collisions = 100.0 * stream.collisions.unwrap_or(0.0);
        if collisions >= 0.005 {
            write(&mut text, format_args!("; {collisions:.2}% of hashed ones share a weight (--bits)"));
        }
        text.push('\n');
    }
    text.push('\n');
    text
}

/// The best constant and the metrics.
fn measures(
    text: &mut String,
    stream: &StreamReport,
    metrics: &MetricsReport,
    mistakes: Option<f64>,
    learner: Option<&LearnerReport>,
) {
    if let Some(risk) = stream.baseline_risk {
        let error = stream.baseline_error.map_or(String::new(), |error| format!(", ± {error:.1e}"));
        let meaning = format!("mean loss of the best predictor that ignores the features{error}");
        row(text, "best constant", &number(risk), &meaning);
    }
    if let (Some(rmse), Some(mae)) = (metrics.rmse, metrics.mae) {
        let r2 = metrics.r2.map_or(String::new(), |r2| format!(", R² {}", number(r2)));
        row(text, "errors", "", &format!("RMSE {}, MAE {}{r2}", number(rmse), number(mae)));
    }
    if let Some(accuracy) = metrics.accuracy {
        let mistakes = counted(mistakes.unwrap_or(0.0).round() as u64, "mistake");
        let kappa = learner
            .and_then(|learner| learner.kappa_temporal)
            .map_or(String::new(), |kappa| format!("; temporal kappa {kappa:.4} (0: no better than the class before)"));
        row(text, "accuracy", &format!("{:.2}%", 100.0 * accuracy), &format!("{mistakes}{kappa}"));
        learner.into_iter().for_each(|learner| anytime(text, learner));
    }
    if let Some(auc) = metrics.auc {
        let error = metrics.auc_error.unwrap_or(0.0);
        row(text, "AUC", &format!("{auc:.4}"), &format!("± {error:.1e}, from a streaming histogram"));
    }
}

/// What drawing experts costs on average, and the luck of the draws.
fn say_expected(text: &mut String, learner: &LearnerReport, risk: f64) {
    let Some(expected) = learner.expected_loss else { return };
    let luck = match risk - expected {
        luck if luck < 0.0 => format!("saved {}", number(-luck)),
        luck => format!("cost {}", number(luck)),
    };
    row(text, "expected loss", &number(expected), &format!("mean loss on average over the draws; their luck {luck}"));
}

/// Where the accuracy that could be expected is.
fn anytime(text: &mut String, learner: &LearnerReport) {
    let mistakes = learner.anytime_risk.iter().flatten().find(|it| it.of == AnytimeLoss::Mistakes);
    let Some(AnytimeRisk { low: Some(low), high: Some(high), confidence: Some(confidence), .. }) = mistakes else {
        return;
    };
    let percent = |share: f64| format!("{:.2}%", 100.0 * share);
    // Rounded outwards, within what a share can be.
    let (from, to) = ((1e4 * (1.0 - high)).floor() / 1e4, (1e4 * (1.0 - low)).ceil() / 1e4);
    let meaning = format!(
        "expected accuracy between {} and {} at any time, with probability {}%",
        percent(from),
        percent(to),
        rounded(100.0 * confidence, 12)
    );
    row(text, "", "", &meaning);
}

/// The lane that would have paid least alone.
fn say_best_lane(text: &mut String, learner: &LearnerReport) {
    let lanes = learner.lanes.iter().flatten().filter_map(|lane| Some((lane.name.as_str(), lane.loss?)));
    let best = lanes.min_by(|one, other| one.1.total_cmp(&other.1));
    if let (Some((name, loss)), Some(gap)) = (best, learner.gap_to_best_lane) {
        best_lane(text, name, loss, gap);
    }
}

fn best_lane(text: &mut String, name: &str, loss: f64, gap: f64) {
    let meaning = match gap < 0.0 {
        true => format!("'{name}' alone; mixing gained {}", number(-gap)),
        false => format!("'{name}' alone; mixing cost {}", number(gap)),
    };
    row(text, "best lane", &number(loss), &meaning);
}

/// The learners of a mixture as a table, and how it did beside the best of them.
pub(crate) fn lanes(mixture: &MixtureReport) -> String {
    let mut text = String::from("\nlanes                        weight      loss (each alone)\n");
    for expert in &mixture.experts {
        let weight = format!("{:.2}%", 100.0 * expert.weight);
        write(&mut text, format_args!("{:26} {weight:>8} {:>9}\n", expert.name, number(expert.loss)));
    }
    write(&mut text, format_args!("{:26} {:>8} {:>9}\n", "their mixture", "", number(mixture.loss)));
    if let Some(best) = mixture.best().filter(|best| best.loss.is_finite()) {
        best_lane(&mut text, &best.name, best.loss, mixture.gap());
    }
    text
}

/// Features with weights as a table.
pub(crate) fn heaviest(features: &[HeavyFeature]) -> String {
    if features.is_empty() {
        return String::new();
    }
    let has_gamma = features.iter().any(|feature| feature.gamma.is_some());
    let uncertainty = if has_gamma { "      Γ_ii" } else { "" };
    let mut text = format!("\nheaviest features          weight{uncertainty}    effect (|weight| × spread)\n");
    for HeavyFeature { name, weight, effect, gamma } in features {
        let shown = shortened(name, 24);
        let gamma = gamma.map_or(String::new(), |gamma| format!(" {:>9}", number(gamma)));
        write(&mut text, format_args!("{shown:24} {:>9}{gamma} {:>9}\n", number(*weight), number(*effect)));
    }
    text
}

pub(super) fn row(text: &mut String, title: &str, value: &str, meaning: &str) {
    write(text, format_args!("{title:16} {value:>9}  {meaning}\n"));
}
