use super::*;
use crate::archive::{SavedColumn, State};
use proptest::prelude::*;

const KINDS: [(Task, InverseLink); 6] = [
    (Task::Binary, InverseLink::Identity),
    (Task::Binary, InverseLink::Logistic),
    (Task::Regression, InverseLink::Identity),
    (Task::Regression, InverseLink::Logistic),
    (Task::Regression, InverseLink::Log),
    (Task::Binary, InverseLink::Log),
];

fn metrics(kind: (Task, InverseLink), rows: &[(f64, f64, f64)]) -> Metrics {
    let mut metrics = Metrics::new(kind.0, kind.1);
    feed(&mut metrics, rows);
    metrics
}

fn feed(metrics: &mut Metrics, rows: &[(f64, f64, f64)]) {
    rows.iter().for_each(|&(score, label, weight)| metrics.observe(score, label, weight));
}

fn saved(metrics: &Metrics) -> State {
    Archive::saved(|archive| metrics.clone().persist(archive)).unwrap()
}

/// All bits of what is kept: debug output tells every two numbers apart.
fn bits(metrics: &Metrics) -> String {
    format!("{:?}", saved(metrics))
}

fn rows(range: std::ops::Range<usize>) -> impl Strategy<Value = Vec<(f64, f64, f64)>> {
    let label = prop_oneof![Just(1.0), Just(-1.0), 0.0..=1.0];
    let weight = prop_oneof![Just(0.0), Just(1.0), 0.001..100.0];
    prop::collection::vec((-12.0..12.0, label, weight), range)
}

/// A stream that leaves nothing empty.
fn some_rows() -> Vec<(f64, f64, f64)> {
    let row = |t: i32| {
        let label = if t % 3 == 0 { 1.0 } else { -1.0 };
        (f64::from(t % 17 - 8) / 3.0, label, 1.0 + f64::from(t % 4) / 3.0)
    };
    (0..200).map(row).collect()
}

/// The AUC by its definition: every pair of a positive and a negative, ties counting half.
fn auc_of_pairs(rows: &[(f64, f64)]) -> f64 {
    let (mut won, mut pairs) = (0.0, 0.0);
    for &(one, _) in rows.iter().filter(|row| row.1 > 0.0) {
        for &(other, _) in rows.iter().filter(|row| row.1 < 0.0) {
            pairs += 1.0;
            won += if one > other {
                1.0
            } else if one == other {
                0.5
            } else {
                0.0
            };
        }
    }
    won / pairs
}

#[test]
fn the_auc_is_that_of_the_probabilities_as_they_are_written() {
    let mut random = crate::numeric::rng::SplitMix64::new(12);
    // Around where probabilities become 1, where they become 0, and where neither is so.
    for (center, spread) in
        [(36.0, 6.0), (40.0, 20.0), (-735.0, 30.0), (-60.0, 100.0), (0.0, 60.0), (0.0, 3.0), (200.0, 90.0)]
    {
        let rows: Vec<(f64, f64)> = (0..700)
            .map(|_| {
                let label = [-1.0, 1.0][random.below(2) as usize];
                (center + spread * (random.uniform() - 0.5 + 0.2 * label), label)
            })
            .collect();
        let mut metrics = Metrics::new(Task::Binary, InverseLink::Logistic);
        rows.iter().for_each(|&(score, label)| metrics.observe(score, label, 1.0));
        let written: Vec<(f64, f64)> =
            rows.iter().map(|&(score, label)| (InverseLink::Logistic.response(score), label)).collect();
        let (found, error) =
            (metrics.summary()["auc"].as_f64().unwrap(), metrics.summary()["auc_error"].as_f64().unwrap());
        let exact = auc_of_pairs(&written);
        assert!((found - exact).abs() <= error + 1e-12, "{center} {spread}: {found} {exact} {error}");
        // Probabilities that are 1 are known to tie; of those next to 1 a bin holds few.
        assert!(error < 0.01 || center == 36.0, "{center} {spread}: {error}");
        // Scores that are no probabilities are ranked as they are.
        let mut scores = Metrics::new(Task::Binary, InverseLink::Identity);
        rows.iter().for_each(|&(score, label)| scores.observe(score, label, 1.0));
        let (by_score, error) =
            (scores.summary()["auc"].as_f64().unwrap(), scores.summary()["auc_error"].as_f64().unwrap());
        assert!((by_score - auc_of_pairs(&rows)).abs() <= error + 1e-12);
        assert!((by_score - exact).abs() > 0.01 || center < 36.0, "{center} {by_score} {exact}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn saved_and_restored_in_the_middle_equals_never_stopping_to_the_bit(
        first in rows(0..40), second in rows(0..40), other in rows(0..5),
    ) {
        for kind in KINDS {
            let mut unbroken = metrics(kind, &first);
            let mut resumed = metrics(kind, &other); // what it saw before must be forgotten
            resumed.persist(&mut Archive::loading(saved(&unbroken))).unwrap();
            prop_assert_eq!(bits(&resumed), bits(&unbroken));
            feed(&mut unbroken, &second);
            feed(&mut resumed, &second);
            prop_assert_eq!(bits(&resumed), bits(&unbroken));
            prop_assert_eq!(resumed.summary(), unbroken.summary());
        }
    }

    #[test]
    fn a_weight_of_two_equals_two_rows_of_weight_one(rows in rows(1..40)) {
        let double: Vec<_> = rows.iter().map(|&(p, y, h)| (p, y, 2.0 * h)).collect();
        let twice: Vec<_> = rows.iter().flat_map(|&row| [row, row]).collect();
        for kind in KINDS {
            let (double, twice) = (metrics(kind, &double), metrics(kind, &twice));
            equal(&Value::Object(double.summary()), &Value::Object(twice.summary()))?;
        }
    }

    #[test]
    fn a_weight_of_zero_changes_no_bit(rows in rows(0..20), score in prop::num::f64::ANY, label in -1.0..1.0) {
        for kind in KINDS {
            let mut metrics = metrics(kind, &rows);
            let before = bits(&metrics);
            metrics.observe(score, label, 0.0);
            prop_assert_eq!(bits(&metrics), before);
        }
    }
}

/// Equality up to the rounding of 80 terms, each of a few operations: some 1000·2^-53
/// ≈ 1.1e-13 of a number, ten times that where R² divides two of them.
fn equal(a: &Value, b: &Value) -> Result<(), TestCaseError> {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => {
            prop_assert_eq!(a.keys().collect::<Vec<_>>(), b.keys().collect::<Vec<_>>());
            a.values().zip(b.values()).try_for_each(|(a, b)| equal(a, b))
        }
        (Value::Array(a), Value::Array(b)) => {
            prop_assert_eq!(a.len(), b.len());
            a.iter().zip(b).try_for_each(|(a, b)| equal(a, b))
        }
        _ => {
            let (a, b) = (a.as_f64().unwrap(), b.as_f64().unwrap());
            prop_assert!((a - b).abs() <= 1e-12 * a.abs().max(1.0), "{a} {b}");
            Ok(())
        }
    }
}

#[test]
fn integer_weights_are_counted_exactly() {
    let row = |t: i32| (f64::from(t % 7 - 3), if t % 2 == 0 { 1.0 } else { -1.0 });
    let mut double = Metrics::new(Task::Binary, InverseLink::Identity);
    let mut twice = Metrics::new(Task::Binary, InverseLink::Identity);
    for (score, label) in (0..500).map(row) {
        double.observe(score, label, 2.0);
        twice.observe(score, label, 1.0);
        twice.observe(score, label, 1.0);
    }
    assert_eq!(bits(&double), bits(&twice));
    assert_eq!(double.mistakes(), twice.mistakes());
}

#[test]
fn each_task_and_link_has_its_own_keys() {
    let keys = |kind| metrics(kind, &some_rows()).summary().keys().cloned().collect::<Vec<_>>().join(" ");
    assert_eq!(keys((Task::Binary, InverseLink::Identity)), "accuracy auc auc_error");
    assert_eq!(keys((Task::Binary, InverseLink::Log)), "accuracy auc auc_error");
    assert_eq!(
        keys((Task::Binary, InverseLink::Logistic)),
        "accuracy auc auc_error brier calibration calibration_error log_loss"
    );
    for link in [InverseLink::Identity, InverseLink::Logistic, InverseLink::Log] {
        assert_eq!(keys((Task::Regression, link)), "bias mae r2 rmse");
    }
}

#[test]
fn what_is_undefined_is_left_out() {
    for kind in KINDS {
        assert!(metrics(kind, &[]).summary().is_empty());
        assert!(metrics(kind, &[(1.0, 1.0, 0.0)]).summary().is_empty());
    }
    let one_class = metrics((Task::Binary, InverseLink::Logistic), &[(1.0, 1.0, 1.0)]).summary();
    assert!(!one_class.contains_key("auc") && !one_class.contains_key("auc_error"));
    assert_eq!(one_class["accuracy"], 1.0);
    let one_label = metrics((Task::Regression, InverseLink::Identity), &[(1.0, 3.0, 1.0)]).summary();
    assert!(!one_label.contains_key("r2"));
    assert_eq!(one_label["rmse"], 2.0);
}

#[test]
fn the_calibration_table_has_the_keys_of_the_report() {
    let summary = metrics((Task::Binary, InverseLink::Logistic), &[(0.0, 1.0, 2.0)]).summary();
    let row = serde_json::json!({"from": 0.5, "to": 0.55, "weight": 2.0, "predicted": 0.5, "observed": 1.0});
    assert_eq!(summary["calibration"], Value::Array(vec![row]));
    assert_eq!(summary["calibration_error"], 0.5);
}

#[test]
fn regression_is_measured_on_the_scale_of_the_response() {
    let rates = metrics((Task::Regression, InverseLink::Log), &[(0.0, 3.0, 1.0), (0.0, 0.0, 1.0)]).summary();
    assert_eq!((&rates["mae"], &rates["bias"]), (&1.5.into(), &(-0.5).into()));
    let shares = metrics((Task::Regression, InverseLink::Logistic), &[(0.0, 1.0, 1.0)]).summary();
    assert_eq!(shares["bias"], -0.5);
}

#[test]
fn the_parts_alone_say_what_they_say_together() {
    let rows = some_rows();
    let summary = metrics((Task::Binary, InverseLink::Logistic), &rows).summary();
    let (mut accuracy, mut auc) = (Accuracy::default(), Auc::default());
    let (mut log_loss, mut brier) = (LogLoss::default(), Brier::default());
    for &(score, label, weight) in &rows {
        accuracy.observe(score, label, weight);
        auc.observe(score, label, weight);
        log_loss.observe(score, label, weight);
        brier.observe(score, label, weight);
    }
    assert_eq!(summary["accuracy"], accuracy.value().unwrap());
    assert_eq!(summary["auc"], auc.value().unwrap());
    assert_eq!(summary["auc_error"], auc.error().unwrap());
    assert_eq!(summary["log_loss"], log_loss.value().unwrap());
    assert_eq!(summary["brier"], brier.value().unwrap());
}

#[test]
fn extreme_scores_leave_a_summary_of_finite_numbers_that_can_be_saved() {
    let extreme = [0.0, 5e-324, 1e-300, 800.0, 1e300, f64::MAX];
    for kind in KINDS {
        let mut metrics = Metrics::new(kind.0, kind.1);
        let keys = metrics_of_one_pass(&mut metrics, &extreme);
        assert_eq!(keys, self::metrics(kind, &some_rows()).summary().len(), "{kind:?} left something out");
        let mut archive = Archive::loading(saved(&metrics));
        Metrics::new(kind.0, kind.1).persist(&mut archive).expect("what was saved can be read");
    }
}

fn metrics_of_one_pass(metrics: &mut Metrics, scores: &[f64]) -> usize {
    for (&score, sign, label) in scores.iter().flat_map(|s| [(s, 1.0, -1.0), (s, -1.0, 1.0), (s, 1.0, 1.0)]) {
        metrics.observe(sign * score, label, 1.0);
    }
    metrics.summary().len()
}

/// A state with one number changed, or left out.
fn with_number(state: &State, name: &str, value: Option<f64>) -> State {
    let mut changed = State::default();
    for (other, &number) in state.numbers() {
        match value {
            Some(value) if other == name => changed.set(name, value),
            None if other == name => {}
            _ => changed.set(other, number),
        }
    }
    state.columns().iter().for_each(|(name, column)| changed.set_column(name, column.clone()));
    changed
}

/// A state with one column changed, or left out.
fn with_column(state: &State, name: &str, column: Option<SavedColumn>) -> State {
    let mut changed = State::default();
    state.numbers().iter().for_each(|(name, &number)| changed.set(name, number));
    for (other, old) in state.columns() {
        if other != name {
            changed.set_column(other, old.clone());
        }
    }
    column.into_iter().for_each(|column| changed.set_column(name, column));
    changed
}

/// Whether the state is refused.
fn refused(kind: (Task, InverseLink), state: &State) -> bool {
    let read = Metrics::new(kind.0, kind.1).persist(&mut Archive::loading(state.clone()));
    read.is_err_and(|error| error.kind() == crate::ErrorKind::Model)
}

#[test]
fn a_state_that_lacks_a_number_or_holds_one_that_is_not_finite_is_refused() {
    for kind in KINDS {
        let state = saved(&metrics(kind, &some_rows()));
        for name in state.numbers().keys() {
            for value in [None, Some(f64::NAN), Some(f64::INFINITY), Some(f64::NEG_INFINITY)] {
                assert!(refused(kind, &with_number(&state, name, value)), "{kind:?} {name} {value:?}");
            }
        }
    }
}

#[test]
fn a_state_with_a_negative_count_is_refused() {
    for kind in KINDS {
        let state = saved(&metrics(kind, &some_rows()));
        let signed = ["regression.errors", "regression.errors_rest", "regression.label_mean"];
        for name in state.numbers().keys() {
            let refused = refused(kind, &with_number(&state, name, Some(-1e6)));
            assert_eq!(refused, !signed.contains(&name.as_str()), "{kind:?} {name}");
        }
    }
}

/// Ways to damage a column of counts or bins; none is the column itself.
fn damaged(column: &SavedColumn) -> Vec<Option<SavedColumn>> {
    let mut all = vec![None, Some(SavedColumn::U8(vec![1; column.len()]))];
    match column {
        SavedColumn::F64(values) => {
            let last = values.len() - 1;
            let with = |value| [&values[..last], &[value]].concat();
            all.extend([f64::NAN, f64::INFINITY, -1e6].map(|value| Some(SavedColumn::F64(with(value)))));
            all.push(Some(SavedColumn::F64(values[..last].to_vec())));
            all.push(Some(SavedColumn::F64([values.as_slice(), &[0.0]].concat())));
            all.push(Some(SavedColumn::F64(Vec::new())));
        }
        SavedColumn::U32(values) => {
            let last = values.len() - 1;
            let with = |value| [&values[..last], &[value]].concat();
            all.extend([0, values[last - 1], 62_440, u32::MAX].map(|value| Some(SavedColumn::U32(with(value)))));
            all.push(Some(SavedColumn::U32(values[..last].to_vec())));
            all.push(Some(SavedColumn::U32(values.iter().rev().copied().collect())));
        }
        _ => unreachable!("metrics save no such column"),
    }
    all
}

#[test]
fn a_state_with_a_damaged_column_is_refused() {
    for kind in [KINDS[0], KINDS[1]] {
        let state = saved(&metrics(kind, &some_rows()));
        assert!(!state.columns().is_empty());
        for (name, column) in state.columns() {
            for damage in damaged(column) {
                let state = with_column(&state, name, damage.clone());
                assert!(refused(kind, &state), "{kind:?} {name} {damage:?}");
            }
        }
    }
}

#[test]
fn a_state_of_another_task_or_of_scores_without_probabilities_is_refused() {
    let state = |kind| saved(&metrics(kind, &some_rows()));
    assert!(refused(KINDS[0], &state(KINDS[2])));
    assert!(refused(KINDS[2], &state(KINDS[1])));
    assert!(refused(KINDS[1], &state(KINDS[0])));
    assert!(refused(KINDS[0], &State::default()));
}

#[test]
fn an_auc_of_another_layout_of_bins_is_refused() {
    let state = saved(&metrics(KINDS[0], &some_rows()));
    assert!(refused(KINDS[0], &with_number(&state, "auc.layout", Some(2.0))));
}
