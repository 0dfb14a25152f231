//! Runs and their reports.

use onward_data::Options;
use onward_engine::{
    CompareOptions, EngineError, HindsightOptions, LearnOptions, PassOrder, Report, compare, learn, predict, to_json,
};

use crate::{Folder, classes, learned};

/// A report reads back from its JSON, and is written the same again.
fn reads_back(json: &str) -> Report {
    let report = Report::from_json(json).unwrap();
    assert_eq!(to_json(&report).unwrap(), json);
    report
}

#[test]
fn reports_read_back_as_what_they_were() {
    let folder = Folder::new();
    let input = folder.input("data.csv", classes());
    let outcome = learned(&input, "sgd:average=1", |options| {
        options.hindsight = Some(HindsightOptions::default());
        options.passes = 2;
        options.loss_bound = Some(100.0);
    });
    let json = to_json(&outcome.report()).unwrap();
    let report = reads_back(&json);
    assert!(matches!(&report, Report::Learn(_)));
    assert_eq!(report.learners()[0].name(), outcome.model.learner().describe());
    assert!(report.stream().hindsight.as_ref().unwrap().best().is_some());
    for key in ["averaged_risk", "excess_empirical_risk", "pass_risks", "regret_per_round", "hindsight_seconds"] {
        assert!(json.contains(&format!("\"{key}\"")), "{key}: {json}");
    }
    let reading = Options { target: Some("y".to_owned()), ..Options::default() };
    let options = CompareOptions { reading: reading.clone(), ..CompareOptions::default() };
    let report = compare(std::slice::from_ref(&input), options, &()).unwrap().report();
    let report = reads_back(&to_json(&report).unwrap());
    let names: Vec<_> = report.learners().iter().map(|learner| learner.name()).collect();
    assert_eq!(names, ["auto", "nag", "adagrad", "ogd"]);
    let (model, mut scores) = (outcome.model, Vec::new());
    let predicted = predict(&model, &[input], Options::default(), &mut scores, &()).unwrap();
    assert_eq!((scores.len(), predicted.stream.rounds()), (600, 588));
    assert!(matches!(reads_back(&to_json(&predicted).unwrap()), Report::Predict(_)));
}

/// Fair coins as labels, each row with a feature of its own: on a new row the average predicts its bias alone, and what that
/// pays in expectation is known.
#[test]
fn the_bound_on_an_average_that_begins_late_is_that_of_its_own_rounds() {
    let folder = Folder::new();
    let (mut state, mut labels) = (9u64, Vec::new());
    // It ends with a run of equal labels, after which the last point is far out.
    while labels.len() < 15_000 || !labels.ends_with(&[1; 9]) {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        labels.push(if state >> 63 == 0 { 1 } else { -1 });
    }
    let rows = labels.iter().enumerate().map(|(at, label)| format!("{label} {}:1\n", at + 1));
    let input = folder.input("coins.svm", rows.collect::<String>());
    let rounds = labels.len();
    let range = 12.0;
    let bound = |points: f64, paid: f64| paid / points + range * (2.0 * 20f64.ln() / points).sqrt();
    let mut below = 0;
    for first in [2, rounds - 500, rounds - 20, rounds] {
        let learner = format!("sgd:average={first},eta0=3,schedule=constant");
        let outcome = learned(&input, &learner, |options| {
            options.reading = Options::default();
            options.loss_bound = Some(range);
        });
        let averaged = outcome.model.learner().linear().unwrap().averaged().unwrap();
        let bias = averaged.iter().find(|(index, _)| *index == 0).unwrap().1;
        let truth = 0.5 * ((-bias).exp().ln_1p() + bias.exp().ln_1p());
        let report = outcome.report();
        let printed = report.learner.averaged_risk.as_ref().unwrap().bound.unwrap();
        assert!(truth <= printed, "{first}: {truth} > {printed}");
        // As the bias walks alone, so do the losses of the rounds from the first one on.
        let (mut walk, mut paid) = (0.0f64, 0.0);
        for (at, label) in labels.iter().map(|&label| f64::from(label)).enumerate() {
            paid += if at + 1 < first { 0.0 } else { (-label * walk).exp().ln_1p() };
            walk += 3.0 * label / (1.0 + (label * walk).exp());
        }
        let points = (rounds - first + 1) as f64;
        assert!((printed - bound(points, paid)).abs() < 1e-9, "{first}: {printed}");
        below += usize::from(bound(rounds as f64, report.learner.sequential_risk.unwrap() * rounds as f64) < truth);
    }
    assert!(below > 0, "the bound of the average of all points would not be found out");
    let late = learned(&input, &format!("sgd:average={}", rounds + 1), |options| {
        options.reading = Options::default();
        options.loss_bound = Some(range);
    });
    assert!(late.report().learner.averaged_risk.unwrap().reason.unwrap().contains("begins with a later example"));
}

#[test]
fn rows_are_kept_once_for_hindsight_and_order_and_change_neither() {
    let folder = Folder::new();
    let input = folder.input("data.csv", classes());
    let run = |hindsight: bool, passes: u32, order: PassOrder| {
        let outcome = learned(&input, "nag", |options| {
            options.hindsight = hindsight.then(HindsightOptions::default);
            (options.passes, options.order, options.seed) = (passes, order, 7);
        });
        outcome.report()
    };
    let (both, order) = (run(true, 3, PassOrder::Shuffle), run(false, 3, PassOrder::Shuffle));
    assert_eq!(both.learner.pass_risks, order.learner.pass_risks);
    let alone = run(true, 1, PassOrder::Sequential);
    let loss =
        |report: &onward_engine::LearnReport| report.stream.hindsight.as_ref().and_then(|it| it.best()).unwrap().loss;
    assert_eq!(loss(&both), loss(&alone));
}

#[test]
fn options_that_do_not_fit_are_refused_by_name() {
    let folder = Folder::new();
    let input = folder.input("data.csv", classes());
    let refused = |change: fn(&mut LearnOptions), expected: &str| {
        let reading = Options { target: Some("y".to_owned()), ..Options::default() };
        let mut options = LearnOptions { reading, ..LearnOptions::default() };
        change(&mut options);
        match learn(std::slice::from_ref(&input), options, &()) {
            Err(EngineError::Option { name, .. }) => assert_eq!(name, expected),
            other => panic!("{expected}: {:?}", other.err()),
        }
    };
    refused(|options| options.loss_bound = Some(-1.0), "loss_bound");
    refused(|options| options.order = PassOrder::Random, "order");
    refused(
        |options| options.hindsight = Some(HindsightOptions { gap: 2.0, ..HindsightOptions::default() }),
        "hindsight_gap",
    );
    refused(
        |options| {
            options.start =
                onward_engine::ModelOptions { radius: Some(0.0), ..onward_engine::ModelOptions::default() }.into();
        },
        "radius",
    );
    let model = learned(&input, "nag", |_| ()).model;
    let options =
        LearnOptions { start: model.into(), hindsight: Some(HindsightOptions::default()), ..LearnOptions::default() };
    let error = learn(&[input], options, &()).err().unwrap();
    assert!(matches!(error, EngineError::Option { name: "hindsight", .. }), "{error}");
}
