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
mod streams;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use games::{ADVERSARIES, Adversary, Game};
use onward::learner::LearnerSpec;
use onward::registry::LEARNERS;
use onward::regret::{Comparator, Guarantee, Ledger};
use onward::{SharedLoss, loss};

use crate::common::{Random, Row};

/// Learners in forms other than their default, each with a theorem of its own.
const FORMS: &[&str] = &[
    "auto:lanes=4",
    "ogd:eta=1",
    "ogd:radius=1",
    "ogd:domain=box,radius=1",
    "ogd:domain=l1,radius=1",
    "ogd:dimension=10,domain=simplex,radius=1",
    "osd:domain=all,eta=0.05,radius=1",
    "osd:gradient=1,radius=1,rounds=4096",
    "sgd:eta0=0.05,schedule=constant",
    "ogd-strong:radius=1,sigma=0.1",
    "adagrad:domain=box,eta=auto,radius=1",
    "adagrad:domain=ball,eta=auto,radius=1",
    "adagrad:form=dual-averaging,radius=1",
    "adagrad:full=true,radius=1",
    "ftrl:eta=0.05,radius=1",
    "ftrl:domain=ball,eta=0.05,radius=1",
    "ftrl:domain=l1,eta=0.05,radius=1",
    "ftrl:losses=real",
    "osd:domain=box,eta=0.05,radius=1",
    "osd:domain=orthant,eta=0.05,radius=1",
    "ogd:domain=box,dimension=10,gradient=20,radius=1",
    "adagrad:domain=ball,form=dual-averaging,radius=1",
    "dual-averaging:dimension=10,domain=simplex,radius=1",
    "dual-averaging:domain=l1,radius=1",
    "dual-averaging:domain=ball,radius=1",
    "dual-averaging:domain=box,radius=1",
    "dual-averaging:domain=all,gradient=20,radius=1",
    "dual-averaging:domain=orthant,gradient=20,radius=1",
    "mirror-descent:radius=1",
    "mirror-descent:dimension=10,radius=1",
    "mirror-descent:dimension=10,radius=1,signed=false",
    "mirror-descent:map=euclidean,radius=1",
    "mirror-descent:map=pnorm,p=1.2,radius=1",
    "ftrl-proximal:l1=0,l2=1",
    "ons:radius=1",
    "coin:class=box,gradient=4,radius=1",
    "kernel:kernel=linear",
    "kernel:kernel=linear,eta=0.05",
];

/// The domains by name.
const DOMAINS: [&str; 6] = ["all", "ball", "box", "orthant", "l1", "simplex"];

/// The learners that have no bound of their own, with whatever class: a bound of any other that is gone is a fault.
const WITHOUT: &[&str] = &[
    "nag",
    "sgd",
    "ftl",
    "scinol",
    "pa",
    "arow",
    "nystrom",
    "rff",
    "ogd:domain=all,radius=1",
    "ogd:domain=orthant,radius=1",
    "ftl:domain=box,radius=1",
    "ftl:domain=l1,radius=1",
    "ftl:domain=simplex,dimension=10,radius=1",
];

/// Those that have a bound on some streams only, and how the reason begins that they give on others.
const PARTIAL: &[(&str, &str)] = &[
    ("auto", "squared losses are mixed by a rule without a bound"),
    ("ons", "the theorem needs losses that curve along their gradient"),
    // Importances of 1e38.
    ("ons", "a projection could not be computed: the values are too far apart"),
];

/// Those whose comparators are no weight vectors on the features: the tests that have others for them
/// are in perceptron.rs, kernels.rs and experts.rs.
const ELSEWHERE: &[&str] = &["perceptron", "kernel", "kernel-perceptron", "fixed-share"];

/// Learners whose rounds cost more as the stream grows, with the most rounds they are given.
const SLOW: &[(&str, usize)] = &[
    ("kernel", 2000),
    ("kernel-perceptron", 2000),
    ("nystrom", 2000),
    ("rff", 4000),
    ("least-squares", 512),
    ("ftrl:losses=real", 2000),
];

/// Bounds that grow as fast as the rounds, on whatever domain, and why that is their theorem.
const LINEAR_GROWTH: &[(&str, &str)] = &[
    ("ogd-strong", OF_THE_PLAIN_LOSSES),
    ("ogd-strong:radius=1,sigma=0.1", OF_THE_PLAIN_LOSSES),
    ("osd:domain=all,eta=0.05,radius=1", FIXED),
    ("osd:domain=box,eta=0.05,radius=1", FIXED),
    ("osd:domain=orthant,eta=0.05,radius=1", FIXED),
    ("osd:gradient=1,radius=1,rounds=4096", FIXED),
    ("sgd:eta0=0.05,schedule=constant", FIXED),
    ("ftrl", FIXED),
    ("ftrl:eta=0.05,radius=1", FIXED),
    ("kernel:kernel=linear,eta=0.05", FIXED),
];

const OF_THE_PLAIN_LOSSES: &str = "on the plain losses the comparator pays for the regularisation";
const FIXED: &str = "a fixed rate is for a given number of rounds";

/// The rounds after which a bound must not be vacuous either: many are met with equality in the first round, by
/// one example that costs all they allow, which says nothing of how they grow.
const EARLY: usize = 32;

/// From so many rounds on, in the bench alone, what was paid may be off by a rounding of the weights in every round:
/// 2⁻²⁴ of it. (`ogd-strong` meets its bound with equality: after 10⁵ rounds the regret is 7e-7 of it above.)
const LONG: usize = 1 << 13;

/// Rounds of a stream: few in the tests, 10⁵ in the bench, fewer where a round costs as much as
/// all before it.
fn rounds(name: &str) -> usize {
    let asked = std::env::var("ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(512);
    let is = |slow: &str| name.strip_prefix(slow).is_some_and(|rest| rest.is_empty() || rest.starts_with([':', ',']));
    SLOW.iter().find(|(slow, _)| is(slow)).map_or(asked, |&(_, most)| asked.min(most))
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
        // Weights are kept in f32: where a bound is met with equality, their rounding shows. NaN is no regret
        // and no bound, and infinity promises nothing.
        let rounding = if round < LONG { 1e-9 } else { 2f64.powi(-24) };
        let holds = regret <= bound + 2f64.powi(-22) * bound.abs() + rounding * scale;
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
    let all = loss::NAMES.iter().map(|(name, _)| loss::parse(name).unwrap());
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
    let universal = ledger.certificate();
    if let (Ok(bound), Some(class)) = (&universal.bound, universal.comparator)
        && let Some(least) = least(class)
    {
        let regret = paid - least;
        if regret > bound + 1e-9 * paid.abs() {
            finding.faults.push(format!("universal, {}: regret {regret} > bound {bound}", (place.text)()));
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
fn examine(name: &str, known: &Mutex<Known>) -> Finding {
    let specification: LearnerSpec = name.parse().unwrap();
    let mut finding = Finding::default();
    let rounds = rounds(name);
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
            grows_slowly(&mut finding, name, kind, loss.name(), &bounds);
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
    for adversary in games::written() {
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
            let place = || format!("linear game, {adversary:?}, T = {}", round + 1);
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
fn grows_slowly(finding: &mut Finding, name: &str, kind: &str, loss: String, bounds: &[(usize, Result<f64, String>)]) {
    let is = |linear| name == linear || name.strip_prefix(linear).is_some_and(|rest| rest.starts_with(":domain="));
    let is_linear = LINEAR_GROWTH.iter().any(|&(linear, _)| is(linear));
    let at = |rounds: usize| bounds.iter().find(|(at, _)| *at == rounds).and_then(|(_, bound)| bound.clone().ok());
    let whole = rounds(name);
    if kind != "random" || is_linear || !whole.is_power_of_two() {
        return;
    }
    if let (Some(quarter), Some(all)) = (at(whole / 4), at(whole))
        && all > 3.0 * quarter
    {
        finding.faults.push(format!("{kind}, {loss}: the bound grew from {quarter} to {all} in four times the rounds"));
    }
}

/// Every learner as it is, then the other forms, then every domain that none of these had.
fn names() -> Vec<String> {
    let asked = std::env::var("LEARNERS").ok();
    let is_asked = |name: &str| {
        let base = name.split(':').next().unwrap();
        asked.as_deref().is_none_or(|names| names.split(',').any(|asked| asked == base))
    };
    let mut all: Vec<String> =
        LEARNERS.iter().map(|entry| entry.name).chain(FORMS.iter().copied()).map(str::to_owned).collect();
    let had: BTreeSet<_> = all.iter().filter_map(|name| kept_in(name)).collect();
    for entry in LEARNERS.iter().filter(|entry| entry.parameters.iter().any(|parameter| parameter.name == "domain")) {
        for domain in DOMAINS {
            let forms = [",radius=1", "", ",dimension=10,radius=1"];
            let mut forms = forms.iter().map(|rest| format!("{}:domain={domain}{rest}", entry.name));
            let form = forms.find_map(|form| Some((kept_in(&form)?, form)));
            if let Some((pair, form)) = form
                && !had.contains(&pair)
            {
                all.push(form);
            }
        }
    }
    all.retain(|name| is_asked(name));
    all
}

/// The name of a learner and its domain, if it can be built: `None` for one that has none.
fn kept_in(name: &str) -> Option<(String, String)> {
    let specification: LearnerSpec = name.parse().ok()?;
    let base = name.split(':').next()?;
    let entry = LEARNERS.iter().find(|entry| entry.name == base)?;
    let default = entry.parameters.iter().find(|parameter| parameter.name == "domain")?.default;
    specification.build(losses(&specification).first()?, None).ok()?;
    let domain = name.split([':', ',']).find_map(|part| part.strip_prefix("domain="));
    Some((base.to_owned(), domain.unwrap_or(default).to_owned()))
}

#[test]
fn every_guarantee_holds_and_none_is_vacuous() {
    let names = names();
    let known = Mutex::new(Known::default());
    let findings = Mutex::new(BTreeMap::new());
    let next = AtomicUsize::new(0);
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(name) = names.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let finding = examine(name, &known);
                    findings.lock().unwrap().insert(name.clone(), finding);
                }
            });
        }
    });
    let findings = findings.into_inner().unwrap();
    assert_eq!(findings.len(), names.len());
    let mut faults = Vec::new();
    for name in &names {
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
        for (reason, (count, place)) in finding.reasons.iter().filter(|_| finding.compared > 0) {
            let is_known =
                PARTIAL.iter().any(|(known, start)| name.split(':').next() == Some(known) && reason.starts_with(start));
            if !is_known {
                faults.push(format!("{name}: no bound {count} times, first {place}: {reason}"));
            }
        }
        // With one loss alone, too, though streams that are bad for each are not looked for.
        for (loss, ratio) in finding.by_loss.iter().filter(|&(_, &ratio)| ratio < 0.02) {
            faults.push(format!("{name}, {loss}: the regret was at most {ratio:.3} of the bound"));
        }
        faults.extend(finding.faults.iter().map(|fault| format!("{name}, {fault}")));
        let has_none = finding.compared == 0 && !finding.reasons.is_empty() && finding.class.is_empty();
        let is_elsewhere = finding.compared == 0 && !finding.class.is_empty();
        assert_eq!(has_none, WITHOUT.contains(&name.as_str()), "{name} has no bound: {:?}", finding.reasons);
        assert_eq!(is_elsewhere, ELSEWHERE.contains(&name.as_str()), "{name}: {}", finding.class);
        for (ratio, when) in [(finding.worst.0, "at most"), (finding.late.0, "later at most")] {
            if finding.compared > 0 && ratio < 0.2 {
                faults.push(format!("{name}: the regret was {when} {ratio:.3} of the bound"));
            }
        }
    }
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}
