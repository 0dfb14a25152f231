//! Mistakes that textbooks and programs make, of all learners: looking at the label before it is
//! charged, and looking into the future. Those of single learners are in their own tests;
//! docs/theory.md lists all.

use onward::learner::LearnerSpec;
use onward::registry::LEARNERS;
use onward::{Loss, SharedLoss, loss};

use crate::common::{Random, Row, stream};

fn build(name: &str, loss: &SharedLoss) -> Box<dyn onward::Learner> {
    name.parse::<LearnerSpec>().unwrap().build(loss, None).unwrap()
}

/// Each learner with the first losses that it takes, one for each task.
fn learners() -> Vec<(&'static str, SharedLoss)> {
    let mut all = Vec::new();
    for entry in LEARNERS {
        let specification: LearnerSpec = entry.name.parse().unwrap();
        for task in [loss::Task::Binary, loss::Task::Regression] {
            if let Ok(name) = specification.default_loss(task) {
                all.push((entry.name, loss::parse(name).unwrap()));
            }
        }
    }
    assert!(all.len() >= LEARNERS.len());
    all
}

/// Rows whose labels are fair coins, whatever the features.
fn coins(rounds: usize, seed: u64) -> Vec<Row> {
    let mut random = Random(seed);
    let mut rows = stream(&loss::Logistic, rounds, seed);
    rows.iter_mut().for_each(|row| row.label = if random.uniform() < 0.5 { 1.0 } else { -1.0 });
    rows.iter_mut().for_each(|row| row.weight = 1.0);
    rows
}

/// How far the mean loss is above ln 2, in standard errors of it.
fn above_chance(losses: &[f64]) -> f64 {
    let count = losses.len() as f64;
    let mean = losses.iter().sum::<f64>() / count;
    let variance = losses.iter().map(|loss| (loss - mean).powi(2)).sum::<f64>() / count;
    (mean - 2f64.ln()) / (variance / count).sqrt().max(1e-12)
}

#[test]
fn on_random_labels_nobody_pays_less_than_chance() {
    let logistic = loss::parse("logistic").unwrap();
    let mut tried = 0;
    for entry in LEARNERS {
        let specification: LearnerSpec = entry.name.parse().unwrap();
        if specification.build(&logistic, None).is_err() {
            continue;
        }
        let mut learner = build(entry.name, &logistic);
        let rows = coins(1024, 5);
        let losses: Vec<f64> = rows
            .iter()
            .map(|row| logistic.value(learner.learn_one(row.features(), row.label, 1.0), row.label))
            .collect();
        let above = above_chance(&losses);
        assert!(above > -3.0, "{}: {above} standard errors", entry.name);
        tried += 1;
    }
    assert!(tried >= 5);
}

/// The test above can fail: who is charged after the update pays less than chance.
#[test]
fn charging_after_the_update_is_seen_on_random_labels() {
    let logistic = loss::parse("logistic").unwrap();
    for name in ["auto", "nag", "adagrad"] {
        let mut learner = build(name, &logistic);
        let rows = coins(1024, 5);
        let losses: Vec<f64> = rows
            .iter()
            .map(|row| {
                learner.learn_one(row.features(), row.label, 1.0);
                logistic.value(learner.predict_one(row.features()), row.label)
            })
            .collect();
        let above = above_chance(&losses);
        assert!(above < -3.0, "{name}: {above} standard errors");
    }
}

#[test]
fn the_first_prediction_does_not_depend_on_the_first_label() {
    for (name, loss) in learners() {
        let row = &stream(loss.as_ref(), 1, 3)[0];
        let first = |label: f64| build(name, &loss).learn_one(row.features(), label, 1.0).to_bits();
        let (one, other) = if loss.task() == loss::Task::Binary { (-1.0, 1.0) } else { (0.0, 7.0) };
        assert_eq!(first(one), first(other), "{name} {}", loss.name());
    }
}

#[test]
fn another_future_leaves_the_prediction_as_it_is() {
    for (name, loss) in learners() {
        let rows = stream(loss.as_ref(), 60, 4);
        let mut turned = rows.clone();
        turned[30..].reverse();
        // The label of the row itself is of the future too.
        turned[30].label = if loss.task() == loss::Task::Binary { -rows[30].label } else { rows[30].label + 3.0 };
        turned[30].indices.clone_from(&rows[30].indices);
        turned[30].values.clone_from(&rows[30].values);
        turned[30].weight = rows[30].weight;
        let scores = |rows: &[Row]| -> Vec<u64> {
            let mut learner = build(name, &loss);
            let score = |row: &Row| learner.learn_one(row.features(), row.label, row.weight).to_bits();
            rows[..=30].iter().map(score).collect()
        };
        assert_eq!(scores(&rows), scores(&turned), "{name} {}", loss.name());
    }
}

#[test]
fn the_absolute_loss_is_convex_and_1_lipschitz_and_not_linear() {
    let absolute = loss::Absolute;
    let mut random = Random(6);
    let mut is_linear = true;
    for _ in 0..1000 {
        let (p, q, y) = (random.between(-5.0, 5.0), random.between(-5.0, 5.0), random.between(-5.0, 5.0));
        let share = random.uniform();
        let between = absolute.value(share * p + (1.0 - share) * q, y);
        let chord = share * absolute.value(p, y) + (1.0 - share) * absolute.value(q, y);
        assert!(between <= chord + 1e-12);
        assert!((absolute.value(p, y) - absolute.value(q, y)).abs() <= (p - q).abs() + 1e-12);
        is_linear &= (between - chord).abs() < 1e-12;
    }
    assert!(!is_linear);
    assert_eq!(absolute.lipschitz(5.0), 1.0);
}
