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
