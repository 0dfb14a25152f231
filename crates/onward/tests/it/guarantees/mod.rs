//! The guarantee battery: each learner × loss × class of comparators, on random, sorted,
//! adversarial, heavy-tailed and real streams and in linear games. The guarantee is at least the
//! regret at every power of two; on the learner's worst stream the regret is at least a fifth of
//! it, in the first rounds and later on, so that a vacuous bound fails; and it grows more slowly than the rounds where that is
//! promised. It is the learner's own bound that is tested here; the universal certificate, which
//! holds for any learner, is tested beside it.
//!
//! `bench/guarantees` runs the same on longer streams and writes docs/guarantees.md.

mod comparators;
mod games;
mod long;
mod streams;

use std::collections::{BTreeMap, HashMap};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use games::{ADVERSARIES, Adversary, Game};
use onward::evaluation::Ledger;
use onward::guarantee::{Comparator, Guarantee};
use onward::loss::InverseLink;
use onward::protocol::{Bound, LearnerSpec, Promise};
use onward::registry::LEARNERS;
use onward::{SharedLoss, loss};

use crate::common::{Random, Row, form_name, is_asked};

/// The rounds after which a bound must not be vacuous either: many are met with equality in the first round, by
/// one example that costs all they allow, which says nothing of how they grow.
const EARLY: usize = 32;

/// Rounds of a stream: few in the tests, 10⁵ in the bench, fewer where a round costs as much as
/// all before it, and where a form is known to have no bound.
fn rounds(promise: &Promise) -> usize {
    let asked = std::env::var("ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(512);
    let has_none = matches!(promise.bound, Some(Bound::Never(_))) && !promise.parameters.is_empty();
    asked.min(if has_none { 64 } else { promise.rounds })
}

/// What was found of a learner.
#[derive(Debug, Clone, Default)]
struct Finding {
    /// How many bounds were compared with regrets.
    compared: usize,
    /// The largest regret ÷ bound, and where.
    worst: (f64, String),
    /// The same after more than [`EARLY`] rounds.
    late: (f64, String),
    /// The class, in words.
    class: String,
    /// Why there is no bound, where there is none, and of the first how often and where.
    reasons: BTreeMap<String, (usize, String)>,
    /// The largest regret ÷ bound with each loss.
    by_loss: BTreeMap<String, f64>,
    /// What was wrong.
    faults: Vec<String>,
}

/// Where a bound is compared.
#[derive(Clone, Copy)]
struct Place<'a> {
    loss: &'a str,
    round: usize,
    /// In words.
    text: &'a dyn Fn() -> String,
}

impl Finding {
    fn compare(&mut self, regret: f64, bound: f64, scale: f64, at: Place<'_>) {
        let Place { loss, round, text: place } = at;
        self.compared += 1;
        // Where a bound is met with equality, the rounding of what is summed shows. NaN is no regret and no bound, and
        // infinity promises nothing.
        let rounding = (round + 8) as f64 * f64::EPSILON;
        let holds = regret <= bound + rounding * (bound.abs() + scale);
        if !(holds && bound.is_finite()) {
            self.faults.push(format!("{}: regret {regret} > bound {bound}", place()));
            return;
        }
        let ratio = if bound > 0.0 { regret / bound } else { 0.0 };
        if ratio > self.worst.0 {
            self.worst = (ratio, place());
        }
        let most = self.by_loss.entry(loss.to_owned()).or_insert(0.0);
        *most = most.max(ratio);
        if round >= EARLY && ratio > self.late.0 {
            self.late = (ratio, place());
        }
    }
}

/// The least losses of comparators on the streams that are the same for all learners, by stream,
/// loss, class and length; and the best that were found last, from which the next search starts.
#[derive(Default)]
struct Known {
    losses: HashMap<(String, usize), f64>,
    points: HashMap<String, Vec<f64>>,
}

impl Known {
    fn least(known: &Mutex<Self>, stream: &str, rows: &[Row], loss: &SharedLoss, class: Comparator) -> Option<f64> {
        let name = format!("{stream} {} {class:?}", loss.name());
        let key = (name.clone(), rows.len());
        if let Some(&least) = known.lock().unwrap().losses.get(&key) {
            return Some(least);
        }
        let mut start = known.lock().unwrap().points.get(&name).cloned().unwrap_or(vec![0.0; streams::DIMENSION]);
        let least = comparators::least(rows, loss.as_ref(), class, &mut start)?;
        let mut known = known.lock().unwrap();
        known.losses.insert(key, least);
        known.points.insert(name, start);
        Some(least)
    }
}

/// The losses that a learner takes.
fn losses(specification: &LearnerSpec) -> Vec<SharedLoss> {
    let all = loss::LOSSES.iter().map(loss::LossDescriptor::default_loss);
    all.filter(|loss| specification.build(loss, None).is_ok()).collect()
}

/// Compares what the learner and the certificate say now with the regrets of the rows so far.
fn check(
    finding: &mut Finding,
    learner: &dyn onward::Learner,
    ledger: &Ledger,
    rows: &[Row],
    known: (&Mutex<Known>, &str),
    place: Place<'_>,
) {
    let charged = ledger.loss().score().unwrap();
    let paid = ledger.paid();
    let least = |class: Comparator| Known::least(known.0, known.1, rows, charged, class);
    // The certificate is tested at a radius that no guarantee has by default.
    for certificate in [ledger.certificate(), ledger.dual()] {
        if let (Ok(bound), Some(class)) = (&certificate.bound, certificate.comparator)
            && let Some(least) = least(class)
        {
            let (regret, kind) = (paid - least, certificate.kind);
            if regret > bound + 1e-9 * paid.abs() {
                finding.faults.push(format!("{kind:?}, {}: regret {regret} > bound {bound}", (place.text)()));
            }
        }
    }
    let own = learner.guarantee();
    note(finding, &own, place.text);
    let (Ok(bound), Some(class)) = (&own.bound, own.comparator) else { return };
    let class = of_weights(class, &learner.describe());
    if let Some(least) = least(class) {
        finding.compare(paid - least, *bound, paid.abs().max(least.abs()), place);
    } else if let (Comparator::Experts, Some(mixed)) = (class, learner.mixture()) {
        finding.compare(mixed.gap() * ledger.weight(), *bound, paid.abs(), place);
    }
}

/// Of the linear kernel the functions are those of weight vectors.
fn of_weights(class: Comparator, learner: &str) -> Comparator {
    match class {
        Comparator::KernelBall(radius) if learner.contains("kernel=linear") => Comparator::Ball(radius),
        class => class,
    }
}

fn note(finding: &mut Finding, own: &Guarantee, place: &dyn Fn() -> String) {
    match &own.bound {
        Ok(_) => finding.class = own.description(),
        Err(reason) => finding.reasons.entry(reason.clone()).or_insert_with(|| (0, place())).0 += 1,
    }
}

/// Runs a learner over everything.
fn examine((name, promise): &(String, &'static Promise), known: &Mutex<Known>) -> Finding {
    let specification: LearnerSpec = name.parse().unwrap();
    let mut finding = Finding::default();
    let rounds = rounds(promise);
    for loss in losses(&specification) {
        for (kind, rows) in streams::fixed(loss.as_ref(), rounds) {
            let mut learner = specification.build(&loss, None).unwrap();
            let mut ledger = Ledger::new(learner.loss());
            ledger.set_radius(Some(2.0));
            let mut bounds = Vec::new();
            // Slow learners are given shorter streams, whose beginnings may differ: a sorted one's do.
            let stream = format!("{kind} of {}", rows.len());
            for (round, row) in rows.iter().enumerate() {
                let prediction = learner.learn_one(row.features(), row.label, row.weight);
                ledger.observe_one(prediction, row.label, row.weight, row.features());
                if is_due(round, rows.len()) {
                    let place = || format!("{kind}, {}, T = {}", loss.name(), round + 1);
                    check(
                        &mut finding,
                        learner.as_ref(),
                        &ledger,
                        &rows[..=round],
                        (known, &stream),
                        Place { loss: &loss.name(), round, text: &place },
                    );
                    bounds.push((round + 1, learner.guarantee().bound));
                }
            }
            // The gradients of rates are exponential in scores: one that comes late may outweigh all before it.
            let is_even = loss.inverse_link() != InverseLink::Log && !matches!(promise.bound, Some(Bound::Linear(_)));
            if kind == "random" && rounds.is_power_of_two() && is_even {
                grows_slowly(&mut finding, rounds, loss.name(), &bounds);
            }
        }
        for (kind, mut rows) in streams::unlabelled(loss.as_ref(), rounds) {
            let mut learner = specification.build(&loss, None).unwrap();
            let mut ledger = Ledger::new(learner.loss());
            ledger.set_radius(Some(2.0));
            let mut random = Random(33);
            let own = Mutex::new(Known::default());
            for round in 0..rows.len() {
                let score = learner.predict_one(rows[round].features());
                rows[round].label = streams::worst_label(learner.loss().score().unwrap().as_ref(), score, &mut random);
                let row = &rows[round];
                let prediction = learner.learn_one(row.features(), row.label, row.weight);
                ledger.observe_one(prediction, row.label, row.weight, row.features());
                if is_due(round, rows.len()) {
                    let place = || format!("{kind}, {}, T = {}", loss.name(), round + 1);
                    check(
                        &mut finding,
                        learner.as_ref(),
                        &ledger,
                        &rows[..=round],
                        (&own, kind),
                        Place { loss: &loss.name(), round, text: &place },
                    );
                }
            }
        }
    }
    let length = (8 * rounds).min(1 << 16);
    for adversary in ADVERSARIES {
        play(&mut finding, &specification, adversary, length);
    }
    // Written games are there for bounds that are met in the first rounds.
    let has_none = matches!(promise.bound, Some(Bound::Never(_)));
    for adversary in games::written().filter(|_| !has_none) {
        play(&mut finding, &specification, adversary, games::WRITTEN);
    }
    finding
}

/// Plays a linear game, if the learner plays such.
fn play(finding: &mut Finding, specification: &LearnerSpec, adversary: Adversary, length: usize) {
    let Some(mut game) = Game::new(specification, adversary) else { return };
    for round in 0..length {
        game.play();
        if is_due(round, length) {
            let own = game.learner.guarantee();
            let place = || format!("linear game, {adversary}, T = {}", round + 1);
            note(finding, &own, &place);
            let (Ok(bound), Some(class)) = (&own.bound, own.comparator) else { continue };
            let class = of_weights(class, &game.learner.describe());
            let Some(least) = comparators::least_linear(&game.theta, class) else { continue };
            finding.compare(
                game.paid - least,
                *bound,
                game.paid.abs().max(least.abs()),
                Place { loss: "linear", round, text: &place },
            );
        }
    }
}

/// At powers of two, and at the end.
fn is_due(round: usize, length: usize) -> bool {
    (round + 1).is_power_of_two() || round + 1 == length
}

/// Between a quarter of the rounds of a random stream and all of them, a bound of order √T doubles (3 allows
/// for logarithms, and for weights that had not come to their size in the first quarter).
fn grows_slowly(finding: &mut Finding, rounds: usize, loss: String, bounds: &[(usize, Result<f64, String>)]) {
    let at = |rounds: usize| bounds.iter().find(|(at, _)| *at == rounds).and_then(|(_, bound)| bound.clone().ok());
    if let (Some(quarter), Some(all)) = (at(rounds / 4), at(rounds))
        && all > 3.0 * quarter
    {
        finding.faults.push(format!(
            "{loss}: the bound grew from {quarter} to {all} in four times the rounds: is its `bound` in `promises` linear?"
        ));
    }
}

/// Every form that has a theorem of its own, or the reason why it has none.
fn promises() -> Vec<(String, &'static Promise)> {
    let asked = LEARNERS.iter().filter(|entry| is_asked(entry.name));
    let all = asked.flat_map(|entry| entry.promises.iter().map(|promise| (form_name(entry, promise), promise)));
    all.filter(|(_, promise)| promise.bound.is_some()).collect()
}

#[test]
fn every_guarantee_holds_and_none_is_vacuous() {
    let promises = promises();
    let known = Mutex::new(Known::default());
    let findings = Mutex::new(BTreeMap::new());
    let next = AtomicUsize::new(0);
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(form) = promises.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let finding = examine(form, &known);
                    findings.lock().unwrap().insert(form.0.clone(), finding);
                }
            });
        }
    });
    let findings = findings.into_inner().unwrap();
    assert_eq!(findings.len(), promises.len(), "two forms of `promises` are the same");
    let mut faults = Vec::new();
    for (name, promise) in &promises {
        let finding = &findings[name];
        // The lines that bench/guarantees makes its page of.
        match (finding.compared, finding.reasons.keys().next()) {
            (0, Some(reason)) => println!("guarantee\t{name}\tnone\t\t\t{reason}"),
            (0, None) => println!("guarantee\t{name}\telsewhere\t\t\t{}", finding.class),
            (compared, _) => println!(
                "guarantee\t{name}\t{}\t{compared}\t{:.3}\t{}\t{:.3}\t{}",
                finding.class, finding.worst.0, finding.worst.1, finding.late.0, finding.late.1
            ),
        }
        let mut starts = match promise.bound {
            Some(Bound::Sometimes(starts)) => starts.to_vec(),
            Some(Bound::Never(start)) => vec![start],
            _ => Vec::new(),
        };
        starts.extend(promise.overflow);
        for (reason, (count, place)) in &finding.reasons {
            if !starts.iter().any(|start| reason.starts_with(start)) {
                faults.push(format!("{name}: no bound {count} times, first {place}, which its `bound` in `promises` does not say: {reason}"));
            }
        }
        // With one loss alone, too, though streams that are bad for each are not looked for.
        for (loss, ratio) in finding.by_loss.iter().filter(|&(_, &ratio)| ratio < 0.02) {
            faults.push(format!("{name}, {loss}: the regret was at most {ratio:.3} of the bound"));
        }
        faults.extend(finding.faults.iter().map(|fault| format!("{name}, {fault}")));
        let is_as_said = match promise.bound {
            Some(Bound::Never(_)) => finding.compared == 0 && finding.class.is_empty(),
            Some(Bound::Elsewhere(_)) => finding.compared == 0 && !finding.class.is_empty(),
            _ => finding.compared > 0,
        };
        if !is_as_said {
            let (compared, class) = (finding.compared, &finding.class);
            let said = promise.bound;
            faults.push(format!(
                "{name}: {compared} bounds were compared, against '{class}'; its `bound` in `promises` is {said:?}"
            ));
        }
        for (ratio, when) in [(finding.worst.0, "at most"), (finding.late.0, "later at most")] {
            if finding.compared > 0 && ratio < 0.2 {
                faults.push(format!("{name}: the regret was {when} {ratio:.3} of the bound"));
            }
        }
    }
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}
