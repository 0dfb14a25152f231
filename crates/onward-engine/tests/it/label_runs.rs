//! Labels that come in runs: what is said of them, whatever kind they are of, and that nothing is said of others.

use onward_data::{Input, Options};
use onward_engine::{LearnReport, Model, Registry, SkillBaseline, learn, predict};

use crate::learned;

fn table(rows: impl IntoIterator<Item = (f64, usize)>) -> Input {
    let row = |(y, x): (f64, usize)| format!("{y},{}\n", x * 37 % 101);
    Input::bytes("rows.csv", "y,x\n".to_owned() + &rows.into_iter().map(row).collect::<String>())
}

/// The report on these rows, and what the saved model pays when it predicts them.
fn run(input: &Input, learner: &str) -> (LearnReport, f64) {
    let outcome = learned(input, learner, |_| ());
    let mut scores = Vec::new();
    let again = predict(&outcome.model, std::slice::from_ref(input), Options::default(), &mut scores, &()).unwrap();
    (outcome.report(), again.mean_loss.unwrap())
}

#[test]
fn the_saved_model_is_asked_about_its_past_where_labels_come_in_runs() {
    let sorted: fn(usize) -> f64 = |t| (t / 400) as f64;
    let blocks: fn(usize) -> f64 = |t| (t / 50 % 2) as f64;
    let ascending: fn(usize) -> f64 = |t| t as f64 * 0.01;
    let groups: fn(usize) -> f64 = |t| (t / 80) as f64 + (t * 31 % 17) as f64 * 0.1;
    for (kind, label) in [("sorted", sorted), ("blocks", blocks), ("ascending", ascending), ("groups", groups)] {
        let (report, again) = run(&table((0..800).map(|t| (label(t), t))), "nag");
        let order = report.stream.label_order.unwrap();
        assert!(order.is_clear && order.p_value < 1e-9, "{kind}: {order:?}");
        assert_eq!(order.runs.is_some(), order.rank_correlation.is_none());
        let saved = report.learner.saved_model_risk.unwrap();
        assert_eq!(saved.examples, 800);
        assert!((saved.risk.unwrap() - again).abs() < 1e-12 * again, "{kind}: {saved:?} {again}");
        let skill = report.learner.skill.unwrap();
        assert!(skill.value < 0.0 && skill.baseline == SkillBaseline::NoChange, "{kind}: {skill:?}");
        // The same rows in another order.
        let (report, _) = run(&table((0..800).map(|t| (label(t * 379 % 800), t))), "nag");
        assert!(!report.stream.label_order.unwrap().is_clear, "{kind}: {:?}", report.stream.label_order);
        assert!(report.learner.saved_model_risk.is_none());
    }
}

#[test]
fn a_sample_of_many_rows_is_of_the_whole_past_and_the_same_for_the_same_seed() {
    let input = table((0..6000).map(|t| ((t / 3000) as f64, t)));
    let (report, again) = run(&input, "nag");
    let saved = report.learner.saved_model_risk.unwrap();
    assert_eq!(saved.examples, 1000);
    // The model knows the second half alone.
    assert!(again > 0.5 && (saved.risk.unwrap() / again - 1.0).abs() < 0.2, "{saved:?} {again}");
    let seeded = |seed| learned(&input, "nag", |options| options.seed = seed).report().learner.saved_model_risk;
    assert_eq!(seeded(0).unwrap().risk, saved.risk);
    assert_ne!(seeded(1).unwrap().risk, saved.risk);
}

#[test]
fn a_continued_run_knows_the_labels_of_all_runs() {
    let half = |rows: std::ops::Range<usize>| table(rows.map(|t| ((t / 300) as f64, t)));
    let whole = learned(&half(0..600), "nag", |_| ());
    let bytes = learned(&half(0..300), "nag", |options| options.reading.task = Some(onward::loss::Task::Binary))
        .model
        .to_bytes()
        .unwrap();
    let model = Model::from_bytes(&bytes, &Registry::default()).unwrap();
    let options = onward_engine::LearnOptions { start: model.into(), ..onward_engine::LearnOptions::default() };
    let continued = learn(&[half(300..600)], options, &()).unwrap().report();
    let whole = whole.report();
    for (one, other) in [
        (whole.stream.online_constant_risk, continued.stream.online_constant_risk),
        (whole.stream.no_change_risk, continued.stream.no_change_risk),
        (whole.stream.label_order.map(|it| it.p_value), continued.stream.label_order.map(|it| it.p_value)),
        (whole.learner.recent_risk, continued.learner.recent_risk),
        (whole.learner.skill.map(|it| it.value), continued.learner.skill.map(|it| it.value)),
        (whole.learner.kappa_temporal, continued.learner.kappa_temporal),
    ] {
        assert!(one.is_some());
        assert_eq!(one, other);
    }
    // Its rows are those of the second run.
    assert_eq!(continued.learner.saved_model_risk.unwrap().examples, 300);
}
