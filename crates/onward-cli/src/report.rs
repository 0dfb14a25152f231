//! The report: what a run did and what it cost, as JSON with stable keys. Runs on
//! equal inputs with equal arguments differ in `timing` alone.

use std::cell::OnceCell;
use std::time::Duration;

use onward::regret::hindsight::Class;
use onward::regret::{Guarantee, Point};
use onward::{Expert, Mixed};
use onward_data::Input;
use serde_json::{Map, Value, json};

use crate::course::Course;
use crate::hindsight::{Excess, Hindsight};
use crate::saved::Trained;
use crate::session::Counts;

/// How long it took.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Timing {
    pub(crate) seconds: f64,
    pub(crate) examples_per_second: f64,
    pub(crate) megabytes_per_second: f64,
}

impl Timing {
    pub(crate) fn new(elapsed: Duration, examples: u64, bytes: u64) -> Self {
        let seconds = elapsed.as_secs_f64().max(1e-9);
        Self {
            seconds,
            examples_per_second: examples as f64 / seconds,
            megabytes_per_second: bytes as f64 / 1e6 / seconds,
        }
    }
}

/// The chance that what is said of the average of the points is false.
pub(crate) const DELTA: f64 = 0.05;

/// A run that is over.
pub(crate) struct Run<'a> {
    pub(crate) trained: &'a Trained,
    pub(crate) inputs: &'a [Input],
    /// Examples that the model had seen before, when it was continued.
    pub(crate) resumed_at: Option<u64>,
    pub(crate) counts: &'a Counts,
    pub(crate) timing: Timing,
    /// The mean loss of each pass.
    pub(crate) pass_risks: &'a [f64],
    /// The learner's own guarantee after the first pass; `None` when nothing was learnt.
    pub(crate) own_guarantee: Option<Guarantee>,
    /// The experts of a learner that mixes some, after the first pass.
    pub(crate) mixed: Option<Mixed>,
    /// The importance of the rounds of the first pass in which it moved, for learners that count it.
    pub(crate) updates: Option<f64>,
    /// What the learner said of itself during the first pass.
    pub(crate) course: &'a Course,
    /// What [`certificate`](Self::certificate) found.
    pub(crate) certificate: OnceCell<Guarantee>,
    /// What the average of the learner's points pays at most on a new example, or why nothing can be
    /// said of it, if it was asked for.
    pub(crate) averaged_risk: Option<Result<f64, String>>,
    /// The best predictor in hindsight, if it was asked for and something was charged.
    pub(crate) hindsight: Option<&'a Hindsight>,
}

impl Run<'_> {
    /// The universal certificate, for which all sums of features are walked: once.
    pub(crate) fn certificate(&self) -> &Guarantee {
        self.certificate.get_or_init(|| self.trained.ledger.certificate())
    }
}

/// A report as text.
pub(crate) fn text(report: &Value) -> String {
    format!("{report:#}\n")
}

/// The report of `onward learn`.
pub(crate) fn learned(run: &Run<'_>) -> Value {
    let mut report = common(run);
    let ledger = &run.trained.ledger;
    let mut insert = |key: &str, value: Value| report.insert(key.to_owned(), value);
    insert("resumed_at", json!(run.resumed_at));
    insert("guarantees", Value::Array(guarantees(run).iter().map(|it| guarantee(it, ledger.weight())).collect()));
    insert("curve", curve(run));
    if let Some(hindsight) = run.hindsight {
        insert("hindsight", best_in_hindsight(hindsight));
        if let Ok(answer) = &hindsight.answer {
            insert("regret_per_round", finite(ledger.sequential_risk() - answer.best.loss));
            if let Some(excess) = &answer.excess {
                insert("excess_empirical_risk", excess_risk(excess));
            }
        }
    }
    match &run.averaged_risk {
        Some(Ok(bound)) => insert("averaged_risk", json!({ "bound": bound, "confidence": 1.0 - DELTA })),
        Some(Err(reason)) => insert("averaged_risk", json!({ "bound": null, "reason": reason })),
        None => None,
    };
    if let Some(updates) = run.updates {
        insert("updates", json!(updates));
    }
    if let Some(mixed) = &run.mixed {
        insert("lanes", lanes(mixed));
        insert("gap_to_best_lane", finite(mixed.gap()));
    }
    if run.pass_risks.len() > 1 {
        insert("pass_risks", json!(run.pass_risks));
    }
    Value::Object(report)
}

/// What is the same for all learners that were compared: these keys stand at the top.
const SHARED: [&str; 17] = [
    "onward",
    "inputs",
    "format",
    "target",
    "task",
    "loss",
    "examples",
    "unlabelled",
    "weightless",
    "skipped",
    "features",
    "distinct_features",
    "collisions",
    "bytes",
    "baseline_risk",
    "hindsight",
    "resumed_at",
];

/// The report of `onward compare`: what is common to all, and for each learner, in the order in
/// which they were asked for, what [`learned`] says of it beyond that.
pub(crate) fn compared(runs: &[(String, Run<'_>)], timing: Timing) -> Value {
    let mut report = Map::new();
    let mut learners = Vec::new();
    let mut all_timing = json_timing(timing);
    for (name, run) in runs {
        let mut learner = learned(run);
        if let Some(keys) = learner.as_object_mut() {
            for key in SHARED {
                report.extend(keys.remove(key).map(|value| (key.to_owned(), value)));
            }
            keys.insert("name".to_owned(), json!(name));
            // Found once for all.
            if let Some(seconds) = keys.get_mut("timing").and_then(|it| it.as_object_mut()?.remove("hindsight_seconds"))
            {
                all_timing["hindsight_seconds"] = seconds;
            }
        }
        learners.push(learner);
    }
    report.remove("resumed_at");
    report.insert("timing".to_owned(), all_timing);
    report.insert("learners".to_owned(), Value::Array(learners));
    Value::Object(report)
}

/// The report of one learner in the shape that [`compared`] gives several.
pub(crate) fn as_compared(report: &Value) -> Value {
    let mut all = Map::new();
    let mut learner = report.as_object().cloned().unwrap_or_default();
    for key in SHARED {
        all.extend(learner.remove(key).map(|value| (key.to_owned(), value)));
    }
    all.extend(learner.get("timing").map(|timing| ("timing".to_owned(), timing.clone())));
    let name = learner.get("learner").cloned().unwrap_or_default();
    learner.insert("name".to_owned(), name);
    all.insert("learners".to_owned(), json!([learner]));
    Value::Object(all)
}

/// The report of `onward predict`.
pub(crate) fn predicted(run: &Run<'_>) -> Value {
    let mut report = common(run);
    // Nothing was learnt on the way: this is the mean loss of a fixed predictor.
    if let Some(risk) = report.remove("sequential_risk") {
        report.insert("mean_loss".to_owned(), risk);
    }
    Value::Object(report)
}

fn common(run: &Run<'_>) -> Map<String, Value> {
    let Trained { learner, ledger, facts, schema, loss, .. } = run.trained;
    let mut report = Map::new();
    let mut insert = |key: &str, value: Value| report.insert(key.to_owned(), value);
    insert("onward", json!(env!("CARGO_PKG_VERSION")));
    insert("inputs", json!(run.inputs.iter().map(Input::name).collect::<Vec<_>>()));
    insert("format", json!(facts.format.to_string()));
    insert("target", json!(schema.target.to_string()));
    insert("task", json!(if schema.target.rule.is_binary() { "binary" } else { "regression" }));
    insert("loss", json!(loss.name()));
    insert("learner", json!(learner.describe()));
    insert("examples", json!(facts.examples));
    insert("unlabelled", json!(facts.unlabelled));
    insert("weightless", json!(facts.weightless));
    insert("skipped", json!(facts.skipped));
    // Counted where something is charged: of rows without a label nothing is known.
    let is_charged = ledger.rounds() > 0 || facts.examples == 0;
    let distinct = ledger.distinct_features().filter(|_| is_charged);
    insert("features", json!(is_charged.then(|| ledger.features())));
    insert("distinct_features", json!(distinct));
    insert("collisions", json!(distinct.map(|distinct| schema.expected_collisions(distinct))));
    insert("bytes", json!(run.counts.bytes));
    insert("sequential_risk", finite(ledger.sequential_risk()));
    insert("baseline_risk", json!(ledger.baseline_risk()));
    insert("mistakes", json!(ledger.metrics().mistakes()));
    insert("metrics", Value::Object(ledger.metrics().summary()));
    let mut timing = json_timing(run.timing);
    if let Some(hindsight) = run.hindsight {
        timing["hindsight_seconds"] = json!(hindsight.elapsed.as_secs_f64());
    }
    insert("timing", timing);
    report
}

fn json_timing(timing: Timing) -> Value {
    json!({
        "seconds": timing.seconds,
        "examples_per_second": timing.examples_per_second,
        "megabytes_per_second": timing.megabytes_per_second,
    })
}

/// The experts of a mixture.
pub(crate) fn lanes(mixed: &Mixed) -> Value {
    let lane = |expert: &Expert| json!({ "name": expert.name, "weight": expert.weight, "loss": finite(expert.loss) });
    mixed.experts.iter().map(lane).collect()
}

/// JSON has no NaN: nothing was charged.
pub(crate) fn finite(value: f64) -> Value {
    if value.is_finite() { json!(value) } else { Value::Null }
}

/// The learner's own guarantee, and the universal certificate. A bound that is there is a
/// finite number, in all and an example; else there is a reason.
pub(crate) fn guarantees(run: &Run<'_>) -> Vec<Guarantee> {
    let ledger = &run.trained.ledger;
    let weight = ledger.weight();
    let stated = run.own_guarantee.iter().chain([run.certificate()]).cloned().map(|guarantee| {
        let bound = guarantee.bound.and_then(|bound| match bound {
            _ if weight == 0.0 => Err("nothing has been charged yet".to_owned()),
            bound if bound.is_finite() && (bound / weight).is_finite() => Ok(bound),
            _ => Err("its bound is beyond the range of 64-bit floats".to_owned()),
        });
        Guarantee { bound, ..guarantee }
    });
    stated.collect()
}

fn guarantee(guarantee: &Guarantee, weight: f64) -> Value {
    let mut value =
        json!({ "kind": guarantee.kind, "comparator": guarantee.description(), "radius": guarantee.radius() });
    match &guarantee.bound {
        Ok(bound) => value["bound_per_round"] = json!(bound / weight),
        Err(reason) => (value["bound_per_round"], value["reason"]) = (Value::Null, json!(reason)),
    }
    value
}

/// The best predictor in hindsight; where there is none, the reason.
fn best_in_hindsight(hindsight: &Hindsight) -> Value {
    let answer = match &hindsight.answer {
        Ok(answer) => answer,
        Err(reason) => return json!({ "loss": null, "reason": reason }),
    };
    let best = &answer.best;
    let class = match best.class {
        Class::Ball { .. } => "ball",
        Class::Standardised { .. } => "standardised ball",
        _ => "unconstrained",
    };
    let mut value = json!({
        "class": class,
        "radius": best.class.radius(),
        "loss": finite(best.loss),
        "gap": finite(best.gap),
        "is_reached": best.is_reached,
        "norm": finite(best.norm),
        "raw_norm": finite(best.raw_norm),
        "passes": best.passes,
        "loss_at_ten_times_radius": best.at_ten_times.map(|ten| finite(ten.loss)),
        "gap_at_ten_times_radius": best.at_ten_times.map(|ten| finite(ten.gap)),
    });
    if let Some(mistakes) = answer.mistakes {
        value["charged_by"] = json!("hinge");
        value["mistakes_per_round"] = json!(mistakes);
    }
    value
}

fn excess_risk(excess: &Excess) -> Value {
    let mut value = json!({ "last": finite(excess.last) });
    if let Some(averaged) = excess.averaged {
        value["averaged"] = finite(averaged);
    }
    value
}

/// The points that were kept, and as the last one where the run ends; with the best predictor
/// in hindsight, its regret up to each.
fn curve(run: &Run<'_>) -> Value {
    let ledger = &run.trained.ledger;
    let paid = run.hindsight.and_then(|hindsight| hindsight.answer.as_ref().ok()).map(|answer| &answer.paid);
    let mut kept = ledger.curve().points();
    kept.retain(|point| point.round < ledger.rounds());
    if ledger.rounds() > 0 {
        kept.push(Point {
            round: ledger.rounds(),
            loss: ledger.paid(),
            weight: ledger.weight(),
            guarantee: run.certificate().bound.clone().ok(),
            baseline: ledger.baseline_risk(),
        });
    }
    let mut before = Point { round: 0, loss: 0.0, weight: 0.0, guarantee: None, baseline: None };
    let mut points = Vec::new();
    for point in kept {
        let mark = run.course.at(point.round);
        let mut value = json!({
            "t": point.round,
            "weight": point.weight,
            "risk": finite(point.loss / point.weight),
            "recent_risk": finite((point.loss - before.loss) / (point.weight - before.weight)),
            "guarantee": point.guarantee.map(|bound| finite(bound / point.weight)),
            "baseline": point.baseline,
            "own_guarantee": mark.and_then(|mark| mark.own_guarantee).map(|bound| finite(bound / point.weight)),
            "weight_norm": mark.and_then(|mark| mark.weight_norm).map(finite),
        });
        let best = paid.and_then(|paid| paid.binary_search_by_key(&point.round, |at| at.0).ok().map(|at| paid[at].1));
        if let Some(best) = best {
            value["regret"] = finite((point.loss - best) / point.weight);
        }
        points.push(value);
        before = point;
    }
    Value::Array(points)
}
