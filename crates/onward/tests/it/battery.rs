//! The battery that every learner goes through, with every loss it takes. Its guarantees have one of
//! their own: guarantees.

use onward::learner::{LearnerSpec, Losses};
use onward::loss;
use onward::registry::LEARNERS;
use onward::regret::Ledger;
use onward::{Features, SharedLoss};

use crate::common::{Random, Row, Saved, stream};

/// Every learner as it is, with each loss it takes. The variable LEARNERS, names joined by commas,
/// restricts them while one is being written.
fn plain() -> Vec<(String, SharedLoss)> {
    let asked = std::env::var("LEARNERS").ok();
    let is_asked = |name: &str| asked.as_deref().is_none_or(|names| names.split(',').any(|asked| asked == name));
    let mut all = Vec::new();
    for entry in LEARNERS.iter().filter(|entry| is_asked(entry.name)) {
        let before = all.len();
        for (name, _) in loss::NAMES {
            let loss = loss::parse(name).unwrap();
            let specification: LearnerSpec = entry.name.parse().unwrap();
            if specification.build(&loss, None).is_ok() {
                all.push((entry.name.to_owned(), loss));
            }
        }
        let expected = match entry.losses {
            // All but 0/1.
            Losses::Convex => loss::NAMES.len() - 1,
            Losses::Only(names) => names.len(),
        };
        assert_eq!(all.len() - before, expected, "{}", entry.name);
    }
    all
}

/// The same, each that can on standardised features too, and `auto` with four lanes.
fn every() -> Vec<(String, SharedLoss)> {
    let mut all = plain();
    for (name, loss) in plain() {
        let entry = LEARNERS.iter().find(|entry| entry.name == name).unwrap();
        if entry.parameters.iter().any(|parameter| parameter.name == "standardise") {
            all.push((format!("{name}:standardise=true"), loss));
        } else if name == "auto" {
            all.push((format!("{name}:lanes=4"), loss));
        }
    }
    all
}

/// Whether a learner mixes experts, of which some see features centred.
fn is_mixture(name: &str) -> bool {
    name.starts_with("auto")
}

fn build(name: &str, loss: &SharedLoss) -> Box<dyn onward::Learner> {
    name.parse::<LearnerSpec>().unwrap().build(loss, None).unwrap()
}

/// Learns from rows and returns the scores.
fn learn(learner: &mut dyn onward::Learner, rows: &[Row]) -> Vec<f64> {
    rows.iter().map(|row| learner.learn_one(row.features(), row.label, row.weight)).collect()
}

fn bits(scores: &[f64]) -> Vec<u64> {
    scores.iter().map(|score| score.to_bits()).collect()
}

#[test]
fn predicting_changes_nothing_and_says_what_learning_will_say() {
    for (name, loss) in every() {
        let rows = stream(loss.as_ref(), 200, 1);
        let (mut asked, mut silent) = (build(&name, &loss), build(&name, &loss));
        for row in &rows {
            let predicted = asked.predict_one(row.features());
            asked.predict_one(rows[0].features());
            // Standardising looks at the row's weight: a row of weight 1 is what is predicted.
            let said = asked.learn_one(row.features(), row.label, 1.0);
            assert_eq!(predicted.to_bits(), said.to_bits(), "{name} {}", loss.name());
            silent.learn_one(row.features(), row.label, 1.0);
        }
        assert_eq!(asked.state(), silent.state(), "{name} {}", loss.name());
    }
}

#[test]
fn weight_zero_changes_nothing() {
    for (name, loss) in every() {
        let rows = stream(loss.as_ref(), 60, 2);
        let mut learner = build(&name, &loss);
        learn(learner.as_mut(), &rows);
        let before = learner.state();
        for row in stream(loss.as_ref(), 20, 3) {
            learner.learn_one(row.features(), row.label, 0.0);
        }
        assert_eq!(learner.state(), before, "{name} {}", loss.name());
    }
}

#[test]
fn equal_streams_give_equal_bits() {
    for (name, loss) in every() {
        let rows = stream(loss.as_ref(), 200, 4);
        let (mut one, mut other) = (build(&name, &loss), build(&name, &loss));
        assert_eq!(bits(&learn(one.as_mut(), &rows)), bits(&learn(other.as_mut(), &rows)), "{name}");
    }
}

#[test]
fn saving_loading_and_continuing_equals_never_stopping() {
    for (name, loss) in every() {
        let rows = stream(loss.as_ref(), 300, 5);
        let (mut whole, mut first) = (build(&name, &loss), build(&name, &loss));
        let scores = learn(whole.as_mut(), &rows);
        let mut stopped = learn(first.as_mut(), &rows[..150]);
        let mut second = build(&first.describe(), &loss);
        second.restore(&first.state()).unwrap();
        stopped.extend(learn(second.as_mut(), &rows[150..]));
        assert_eq!(bits(&scores), bits(&stopped), "{name} {}", loss.name());
        assert_eq!(whole.state(), second.state(), "{name} {}", loss.name());
        assert_eq!(whole.guarantee(), second.guarantee(), "{name} {}", loss.name());
    }
}

#[test]
fn a_state_that_lacks_something_is_refused() {
    for (name, loss) in every() {
        let mut learner = build(&name, &loss);
        learn(learner.as_mut(), &stream(loss.as_ref(), 20, 6));
        let state = learner.state();
        for missing in state.numbers().keys().chain(state.columns().keys()) {
            let mut damaged = onward::model::State::default();
            state.numbers().iter().filter(|(key, _)| *key != missing).for_each(|(key, value)| damaged.set(key, *value));
            let columns = state.columns().iter().filter(|(key, _)| *key != missing);
            columns.for_each(|(key, column)| damaged.set_column(key, column.clone()));
            // A number and a column may share a name: then both are gone.
            assert!(build(&name, &loss).restore(&damaged).is_err(), "{name} without {missing}");
        }
    }
}

#[test]
fn an_absent_feature_equals_a_feature_of_value_zero() {
    // Not so on standardised features, nor for `auto`, half of whose lanes centre: a zero that is
    // there is a value to centre.
    for (name, loss) in plain().into_iter().filter(|(name, _)| !is_mixture(name)) {
        let rows = stream(loss.as_ref(), 200, 7);
        let (mut sparse, mut dense) = (build(&name, &loss), build(&name, &loss));
        for row in &rows {
            let mut full = [0.0; 8];
            row.indices.iter().zip(&row.values).for_each(|(&index, &value)| full[index as usize] = value);
            let indices: Vec<u32> = (0..8).collect();
            let one = sparse.learn_one(row.features(), row.label, row.weight);
            let other = dense.learn_one(Features::new(&indices, &full).unwrap(), row.label, row.weight);
            // The sums run in other accumulators: equal to rounding, which 200 rounds may amplify.
            assert!((one - other).abs() <= 1e-5 * one.abs().max(1.0), "{name} {}: {one} {other}", loss.name());
        }
    }
}

#[test]
fn everything_stays_finite_under_any_finite_input() {
    let extremes = [0.0, 1.0, -1.0, f32::MAX, f32::MIN, f32::MIN_POSITIVE, 1e-45, -1e30, 1e-20, 3.0e7];
    for (name, loss) in every() {
        let mut random = Random(8);
        let mut learner = build(&name, &loss);
        let mut ledger = Ledger::new(learner.loss());
        for round in 0..300 {
            let values: Vec<f32> = (0..6).map(|_| extremes[(random.next() % 10) as usize]).collect();
            let label = match (loss.task(), loss.check_label(-1.0).is_ok()) {
                (loss::Task::Binary, _) => [-1.0, 1.0][(random.next() % 2) as usize],
                (_, true) => [0.0, 1.0, -1e9, f64::from(f32::MAX), f64::from(f32::MIN)][(random.next() % 5) as usize],
                (_, false) => [0.0, 1.0, 1e9, f64::from(f32::MAX)][(random.next() % 4) as usize],
            };
            let weight = [1.0, 1e-38, 1e9, 3.0e38][(random.next() % 4) as usize];
            let offset = f64::from(extremes[(random.next() % 10) as usize]);
            let x = Features::new(&[0, 1, 2, 3, 4, 5], &values).unwrap().with_offset(offset).unwrap();
            let prediction = learner.learn_one(x, label, weight);
            assert!(prediction.is_finite(), "{name} {} round {round}", loss.name());
            ledger.observe_one(prediction, label, weight, x);
        }
        if let Some(linear) = learner.linear() {
            assert!((0..6).all(|index| linear.weight(index).is_finite()), "{name} {}", loss.name());
            let indices = [5, 0, 70_000, 3];
            let one_by_one = indices.map(|index| linear.weight(index));
            assert_eq!(linear.weights(&indices), one_by_one, "{name} {}", loss.name());
        }
        assert!(learner.state().numbers().values().all(|number| number.is_finite()), "{name} {}", loss.name());
    }
}

#[test]
fn scores_start_from_the_offset() {
    let binary = every().into_iter().filter(|(_, loss)| loss.task() == loss::Task::Binary);
    for (name, loss) in binary.filter(|(name, _)| !is_mixture(name)) {
        let rows = stream(loss.as_ref(), 100, 14);
        let mut learner = build(&name, &loss);
        learn(learner.as_mut(), &rows);
        for row in &rows {
            let without = learner.predict_one(row.features());
            let with = learner.predict_one(row.features().with_offset(1.25).unwrap());
            // Without a ball ogd-strong may be far out: relative.
            assert!(
                (with - without - 1.25).abs() <= 1e-12 * without.abs().max(1.0),
                "{name} {}: {with} {without}",
                loss.name()
            );
        }
    }
}

#[test]
fn the_experts_of_a_mixture_start_from_the_offset() {
    for (name, loss) in every().into_iter().filter(|(name, _)| is_mixture(name)) {
        let rows = stream(loss.as_ref(), 100, 14);
        let mut learner = build(&name, &loss);
        for (round, row) in rows.iter().enumerate() {
            let offset = (round as f64 - 50.0) / 2.0;
            let score = learner.predict_one(row.features().with_offset(offset).unwrap());
            assert!((score - offset).abs() <= 1e-12 * offset.abs().max(1.0), "{name} {}: {score}", loss.name());
        }
        learn(learner.as_mut(), &rows);
        if loss.task() == loss::Task::Regression {
            // Scores are held within the range of labels. These widen it and weigh nothing.
            let x = rows[0].features();
            for label in [1e6, -1e6].into_iter().filter(|&label| loss.check_label(label).is_ok()) {
                learner.learn_one(x, label, 1e-38);
            }
        }
        for row in &rows {
            let without = learner.predict_one(row.features());
            let with = learner.predict_one(row.features().with_offset(1.25).unwrap());
            let context = format!("{name} {}: {with} {without}", loss.name());
            match (loss.task(), loss.inverse_link()) {
                // A mean of scores moves as they do.
                (loss::Task::Regression, _) => {
                    assert!((with - without - 1.25).abs() <= 1e-12 * without.abs().max(1.0), "{context}");
                }
                // The logit of a mean of probabilities moves with their logits, but not as far.
                (_, loss::InverseLink::Logistic) => {
                    assert!(with > without && with <= without + 1.25 + 1e-12 * without.abs().max(1.0), "{context}");
                }
                // Margins are held within ±1 and the offset.
                _ => {
                    assert!(without.abs() <= 1.0 + 1e-12 && (-1.0 - 1e-12..=1.25 + 1e-12).contains(&with), "{context}")
                }
            }
        }
    }
}

#[test]
fn labels_outside_the_task_are_refused() {
    for (name, loss) in plain() {
        let charged = build(&name, &loss).loss();
        assert!(charged.check_label(f64::NAN).is_err());
        assert!(charged.check_label(f64::INFINITY).is_err());
        if charged.task() == loss::Task::Binary {
            assert!(charged.check_label(2.0).is_err(), "{}", charged.name());
            assert!(charged.check_label(-1.0).is_ok() && charged.check_label(1.0).is_ok());
        }
    }
}

#[test]
fn the_description_builds_the_same_learner_again() {
    for (name, loss) in every() {
        let learner = build(&name, &loss);
        assert_eq!(build(&learner.describe(), &loss).describe(), learner.describe());
    }
}

/// Rows by themselves and together in parts, those to come being known: scores, what is learnt, and what is predicted
/// afterwards. Some rows have no label and some no importance.
#[test]
fn one_row_at_a_time_or_many_are_the_same_to_the_bit() {
    for (name, loss) in every() {
        let rows = stream(loss.as_ref(), 200, 46);
        let mut batch = onward::Batch::default();
        for (round, row) in rows.iter().enumerate() {
            batch.extend(&row.indices, &row.values);
            batch.set_offset(row.offset);
            batch.finish((round % 7 != 3).then_some(row.label), if round % 11 == 5 { 0.0 } else { row.weight });
        }
        let mut alone = build(&name, &loss);
        let round = |example: onward::Example<'_>| match example.label {
            Some(label) => alone.learn_one(example.features, label, example.weight).to_bits(),
            None => alone.predict_one(example.features).to_bits(),
        };
        let expected: Vec<u64> = batch.iter().map(round).collect();
        let state = format!("{:?}", alone.state());
        let later: Vec<u64> = batch.iter().map(|it| alone.predict_one(it.features).to_bits()).collect();
        let bits = |scores: &[f64]| scores.iter().map(|score| score.to_bits()).collect::<Vec<_>>();
        for size in [3, 65, 200] {
            let (mut learner, mut scores) = (build(&name, &loss), [f64::NAN; 200]);
            for (rows, scores) in batch.rows(..).chunks(size).zip(scores.chunks_mut(size)) {
                learner.learn(rows, scores);
            }
            assert_eq!(bits(&scores), expected, "{name} {} {size}", loss.name());
            assert_eq!(format!("{:?}", learner.state()), state, "{name} {} {size}", loss.name());
            learner.predict(batch.rows(..), &mut scores);
            assert_eq!(bits(&scores), later, "{name} {} {size}", loss.name());
        }
        if let Some(frozen) = alone.freeze() {
            let mut scores = [f64::NAN; 200];
            frozen.predict(batch.rows(..), &mut scores);
            assert_eq!(bits(&scores), later, "{name} {}", loss.name());
        }
    }
}
