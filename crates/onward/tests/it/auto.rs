//! `auto` against its reference program, and what it promises.

use std::path::Path;

use onward::archive::Archive;
use onward::guarantee::Guarantee;
use onward::mixture::{Auto, LaneCount};
use onward::{Features, ScoreLearner, loss};

use crate::common::{self, Random, Row, stream};

fn auto(loss: &str) -> Auto {
    Auto::new(loss::parse(loss).unwrap(), LaneCount::Auto).unwrap()
}

/// The rows of data/phishing.csv: the bias, nine values, and the label.
fn phishing() -> Vec<(Vec<f32>, f64)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/phishing.csv");
    let text = std::fs::read_to_string(path).unwrap();
    let row = |line: &str| {
        let numbers: Vec<f32> = line.split(',').map(|cell| cell.parse().unwrap()).collect();
        ([&[1.0], &numbers[..9]].concat(), if numbers[9] == 1.0 { 1.0 } else { -1.0 })
    };
    text.lines().skip(1).map(row).collect()
}

const TEN: [u32; 10] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];

#[test]
fn the_first_six_lanes_are_those_of_the_reference_program() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/phishing.auto-reference.scores");
    let text = std::fs::read_to_string(path).unwrap();
    let mut learner = auto("logistic");
    let mut tried = 0;
    for (row, (line, (values, label))) in text.lines().zip(phishing()).enumerate() {
        let x = Features::new(&TEN, &values).unwrap();
        let scores = learner.scores(x);
        for (lane, expected) in line.split(' ').enumerate() {
            let expected: f64 = expected.parse().unwrap();
            // The reference computes in f32, sums included.
            assert!((scores[lane] - expected).abs() < 1e-4, "row {row}, lane {lane}: {} {expected}", scores[lane]);
            tried += 1;
        }
        learner.learn_one(x, label, 1.0);
    }
    assert_eq!(tried, 500 * 6);
}

#[test]
fn the_first_prediction_does_not_depend_on_the_first_label_nor_any_on_its_own() {
    for name in ["squared", "logistic", "hinge", "absolute", "poisson"] {
        let rows = stream(loss::parse(name).unwrap().as_ref(), 100, 21);
        for cut in [0, 1, 2, 50] {
            let [mut one, mut other] = [auto(name), auto(name)];
            for row in &rows[..cut] {
                one.learn_one(row.features(), row.label, row.weight);
                other.learn_one(row.features(), row.label, row.weight);
            }
            let row = &rows[cut];
            let label = if row.label == 1.0 && name != "squared" { 0.0f64.max(-1.0) } else { row.label + 7.0 };
            let label = if loss::parse(name).unwrap().check_label(label).is_ok() { label } else { -row.label };
            let predicted = one.learn_one(row.features(), row.label, 1.0);
            assert_eq!(predicted.to_bits(), other.learn_one(row.features(), label, 1.0).to_bits(), "{name} {cut}");
            if cut == 0 && name != "poisson" {
                assert_eq!(predicted, 0.0, "{name}");
            }
        }
    }
}

/// A stream in other units: feature i multiplied by `unit(i)`.
fn scaled(rows: &[Row], unit: impl Fn(u32) -> f32) -> Vec<Row> {
    let mut rows = rows.to_vec();
    for row in &mut rows {
        row.values.iter_mut().zip(&row.indices).filter(|(_, index)| **index != 0).for_each(|(x, &i)| *x *= unit(i));
    }
    rows
}

fn mean_loss(learner: &mut dyn onward::Learner, rows: &[Row]) -> f64 {
    let loss = learner.loss();
    let paid = rows.iter().map(|row| {
        let score = learner.learn_one(row.features(), row.label, row.weight);
        row.weight * loss.value(&[score], row.label)
    });
    paid.sum::<f64>() / rows.iter().map(|row| row.weight).sum::<f64>()
}

#[test]
fn features_in_other_units_change_nothing() {
    for name in ["logistic", "squared", "hinge"] {
        let rows = stream(loss::parse(name).unwrap().as_ref(), 2000, 22);
        let plain = mean_loss(&mut auto(name), &rows);
        // Powers of two round alike: equal bits.
        let binary = scaled(&rows, |index| [2f32.powi(-40), 2f32.powi(30), 0.5][index as usize % 3]);
        assert_eq!(mean_loss(&mut auto(name), &binary).to_bits(), plain.to_bits(), "{name} {plain}");
        // Powers of ten do not: equal to the rounding of f32 in the features.
        let decimal = scaled(&rows, |index| [1e-4, 1e4, 1e3][index as usize % 3]);
        assert!((mean_loss(&mut auto(name), &decimal) / plain - 1.0).abs() < 1e-4, "{name} {plain}");
    }
}

#[test]
fn labels_in_other_units_change_the_unit_only() {
    let rows = stream(loss::parse("squared").unwrap().as_ref(), 2000, 23);
    let plain = mean_loss(&mut auto("squared"), &rows);
    let mut other = rows.clone();
    other.iter_mut().for_each(|row| row.label *= 2f64.powi(30));
    let changed = mean_loss(&mut auto("squared"), &other) / 2f64.powi(60);
    assert!((changed / plain - 1.0).abs() < 1e-12, "{changed} {plain}");
}

#[test]
fn the_order_of_columns_matters_to_the_last_digits_only() {
    for name in ["logistic", "squared"] {
        let rows = stream(loss::parse(name).unwrap().as_ref(), 3000, 24);
        let plain = mean_loss(&mut auto(name), &rows);
        let mut turned = rows.clone();
        turned.iter_mut().for_each(|row| {
            row.indices.reverse();
            row.values.reverse();
        });
        let other = mean_loss(&mut auto(name), &turned);
        assert!((other - plain).abs() < 1e-6, "{name}: {other} {plain}");
    }
}

/// Streams made to be hard for a mixture: the best expert changes, labels are sorted or at random.
fn hard_streams(loss: &str) -> Vec<Vec<Row>> {
    let loss = loss::parse(loss).unwrap();
    let random = stream(loss.as_ref(), 1500, 25);
    let mut sorted = random.clone();
    sorted.sort_by(|a, b| a.label.total_cmp(&b.label));
    let mut turning = random.clone();
    let middle = turning.len() / 2;
    turning[middle..].iter_mut().for_each(|row| row.values.iter_mut().for_each(|x| *x = -*x));
    let mut noise = random.clone();
    let mut generator = Random(26);
    noise.iter_mut().for_each(|row| row.label = common::label(loss.as_ref(), 0.0, &mut generator));
    let mut all = vec![random, sorted, turning, noise];
    all.iter_mut().flatten().for_each(|row| row.weight = row.weight.min(1.0));
    all
}

#[test]
fn the_mixture_pays_no_more_than_its_bound_above_the_best_expert() {
    let mut tried = 0;
    for name in ["logistic", "hinge", "absolute", "squared-hinge", "modified-huber", "huber", "quantile:tau=0.9"] {
        for (kind, rows) in hard_streams(name).into_iter().enumerate() {
            let mut learner = auto(name);
            for (round, row) in rows.iter().enumerate() {
                learner.learn_one(row.features(), row.label, row.weight);
                if !(round + 1).is_power_of_two() && round + 1 != rows.len() {
                    continue;
                }
                let weight: f64 = rows[..=round].iter().map(|row| row.weight).sum();
                let Guarantee { bound, .. } = learner.guarantee();
                let (bound, gap) = (bound.unwrap(), learner.mixture().unwrap().gap() * weight);
                assert!(gap <= bound + 1e-9 * weight, "{name} {kind} {round}: {gap} {bound}");
                tried += 1;
            }
        }
    }
    assert!(tried > 300);
}

#[test]
fn the_bound_for_log_loss_is_ln_k_and_the_shares() {
    let mut learner = auto("logistic");
    let experts = learner.mixture().unwrap().experts.len() as f64;
    let mut expected = experts.ln();
    for (round, row) in stream(loss::parse("logistic").unwrap().as_ref(), 300, 27).iter().enumerate() {
        learner.learn_one(row.features(), row.label, 1.0);
        let share = (1.0 / (round as f64 + 2.0) + 1e-4).min(0.5);
        expected -= (1.0 - share + share / experts).ln();
    }
    assert!((learner.guarantee().bound.unwrap() - expected).abs() < 1e-9);
}

/// Importance as people use it: another unit, a rare class, growing with time; and as they do not.
fn weighted(rows: &[Row], weight: impl Fn(usize, &Row) -> f64) -> Vec<Row> {
    rows.iter().enumerate().map(|(at, row)| Row { weight: weight(at, row), ..row.clone() }).collect()
}

#[test]
fn importance_in_any_unit_is_learnt_from_as_well() {
    for name in ["logistic", "squared", "absolute", "hinge"] {
        let rows = weighted(&stream(loss::parse(name).unwrap().as_ref(), 2000, 33), |_, _| 1.0);
        let plain = mean_loss(&mut auto(name), &rows);
        for unit in [1e-30, 1e-3, 10.0, 1e3, 1e9, 1e20, 1e30] {
            let mut learner = auto(name);
            let paid = mean_loss(&mut learner, &weighted(&rows, |_, _| unit));
            assert!(paid < 1.15 * plain, "{name} {unit}: {paid} {plain}");
            let mixed = learner.mixture().unwrap();
            let least = mixed.best().unwrap().loss;
            assert!(mixed.loss <= least * 1.1, "{name} {unit}: {} {least}", mixed.loss);
            let is_finite = |column: &onward::archive::SavedColumn| match column {
                onward::archive::SavedColumn::F64(numbers) => numbers.iter().all(|number| number.is_finite()),
                onward::archive::SavedColumn::F32(numbers) => numbers.iter().all(|number| number.is_finite()),
                _ => true,
            };
            let state = Archive::saved(|archive| learner.persist(archive)).unwrap();
            assert!(state.columns().values().all(is_finite), "{name} {unit}");
        }
    }
}

#[test]
fn importance_that_varies_keeps_the_mixture_within_its_bound() {
    for name in ["logistic", "hinge", "absolute"] {
        let rows = stream(loss::parse(name).unwrap().as_ref(), 3000, 34);
        let heavy = |at: usize| if at % 30 == 7 { 1e18 } else { 1.0 };
        let all = [
            weighted(&rows, |_, row| if row.label > 0.5 { 100.0 } else { 1.0 }),
            weighted(&rows, |at, _| 1.002f64.powi(at as i32)),
            weighted(&rows, |at, _| 1.02f64.powi(at as i32)),
            weighted(&rows, |at, _| 1.0 / (1.0 + at as f64)),
            weighted(&rows, |at, _| heavy(at)),
            weighted(&rows, |at, _| [1e-6, 1.0, 0.3, 7.0, 50.0][at % 5]),
        ];
        for (kind, rows) in all.iter().enumerate() {
            let mut learner = auto(name);
            let mut weight = 0.0;
            for (round, row) in rows.iter().enumerate() {
                learner.learn_one(row.features(), row.label, row.weight);
                weight += row.weight;
                if (round + 1).is_power_of_two() || round + 1 == rows.len() {
                    let (gap, bound) = (learner.mixture().unwrap().gap() * weight, learner.guarantee().bound.unwrap());
                    assert!(gap <= bound + 1e-9 * weight, "{name} {kind} {round}: {gap} {bound}");
                }
            }
            let mixed = learner.mixture().unwrap();
            assert!(mixed.loss <= 1.3 * mixed.best().unwrap().loss + 0.02, "{name} {kind}: {mixed:?}");
        }
    }
}

#[test]
fn a_row_s_own_importance_does_not_enter_its_prediction() {
    for name in ["logistic", "squared"] {
        let rows = stream(loss::parse(name).unwrap().as_ref(), 300, 35);
        let mut learner = auto(name);
        for (at, row) in rows.iter().enumerate() {
            let predicted = learner.predict_one(row.features());
            let said = learner.learn_one(row.features(), row.label, [1.0, 1e6, 1e-3, 30.0][at % 4]);
            assert_eq!(predicted.to_bits(), said.to_bits(), "{name} {at}");
        }
    }
}

#[test]
fn where_all_experts_agree_the_mixture_says_what_they_say() {
    for name in ["absolute", "squared"] {
        for label in [0.1, 1.7e9, 1e30] {
            let mut learner = auto(name);
            (0..20).for_each(|_| {
                learner.learn_one(Features::new(&[0], &[1.0]).unwrap(), label, 1.0);
            });
            assert!(learner.mixture().unwrap().gap() <= 0.0, "{name} {label}");
        }
    }
}

#[test]
fn a_million_separable_rows_end_without_a_nan() {
    let mut learner = auto("logistic");
    let mut random = Random(28);
    let mut paid = 0.0;
    let mut last = 0.0;
    for round in 0..1_000_000 {
        let label = if random.next().is_multiple_of(2) { 1.0 } else { -1.0 };
        let values = [1.0, (label * (0.5 + random.uniform())) as f32, random.uniform() as f32];
        let score = learner.learn_one(Features::new(&[0, 1, 2], &values).unwrap(), label, 1.0);
        assert!(score.is_finite(), "round {round}");
        paid += (-label * score).exp().ln_1p();
        last = label * score;
    }
    // A ten-thousandth of all belief is dealt out in every round to experts that may be wrong.
    assert!(paid < 1e6 * 1e-4 + 10.0, "{paid}");
    assert!(last > 9.0, "{last}");
    let mixed = learner.mixture().unwrap();
    assert!(mixed.experts.iter().all(|expert| expert.loss.is_finite() && expert.weight.is_finite()));
    assert!((mixed.experts.iter().map(|expert| expert.weight).sum::<f64>() - 1.0).abs() < 1e-9);
}

#[test]
fn strange_streams_stay_finite_and_sensible() {
    let rows = stream(loss::parse("logistic").unwrap().as_ref(), 1000, 29);
    let mut sorted = rows.clone();
    sorted.sort_by(|a, b| a.label.total_cmp(&b.label));
    // One change of class in the whole stream: it costs a few mistakes.
    assert!(mean_loss(&mut auto("logistic"), &sorted) < 0.1);
    let mut one_class = rows.clone();
    one_class.iter_mut().for_each(|row| row.label = 1.0);
    assert!(mean_loss(&mut auto("logistic"), &one_class) < 0.01);
    let mut zeros = rows.clone();
    zeros.iter_mut().for_each(|row| row.values.fill(0.0));
    let share = rows.iter().filter(|row| row.label > 0.0).map(|row| row.weight).sum::<f64>()
        / rows.iter().map(|row| row.weight).sum::<f64>();
    let entropy = -share * share.ln() - (1.0 - share) * (1.0 - share).ln();
    assert!(mean_loss(&mut auto("logistic"), &zeros) < entropy + 0.02);
    let mut constant = rows.clone();
    constant.iter_mut().for_each(|row| row.values.fill(7.0));
    let paid = mean_loss(&mut auto("logistic"), &constant);
    assert!(paid.is_finite() && paid < 0.75, "{paid}");
}

#[test]
fn labels_of_a_thousand_million_are_learnt_like_others() {
    let mut rows = stream(loss::parse("squared").unwrap().as_ref(), 1000, 30);
    let small = mean_loss(&mut auto("squared"), &rows);
    rows.iter_mut().for_each(|row| row.label *= 1e9);
    let large = mean_loss(&mut auto("squared"), &rows);
    assert!((large / 1e18 / small - 1.0).abs() < 1e-3, "{large} {small}");
    let labels = rows.iter().enumerate().map(|(round, _)| if round % 2 == 0 { 1e9 } else { -1e9 });
    let signs: Vec<Row> = rows.iter().zip(labels).map(|(row, label)| Row { label, ..row.clone() }).collect();
    // Labels that no feature tells: not much worse than their variance.
    assert!(mean_loss(&mut auto("squared"), &signs) < 1.1e18);
}

#[test]
fn an_importance_however_large_does_not_overshoot() {
    for name in ["logistic", "squared"] {
        let rows = stream(loss::parse(name).unwrap().as_ref(), 200, 31);
        let mut learner = auto(name);
        rows.iter().for_each(|row| {
            learner.learn_one(row.features(), row.label, 1.0);
        });
        let (x, label) = (rows[0].features(), rows[0].label);
        let before = learner.scores(x);
        learner.learn_one(x, label, 1e9);
        let after = learner.scores(x);
        // Of raw lanes: for the others the row has moved the mean to where it is itself.
        for lane in [2, 4, 5] {
            let (before, after) = (&before[lane], &after[lane]);
            let (low, high) = if name == "squared" { (label.min(*before), label.max(*before)) } else { (-51.0, 51.0) };
            // Means and scales that the row moved too give a little room.
            let room = 0.2 * (high - low) + 0.1;
            assert!(
                (low - room..=high + room).contains(after),
                "{name} lane {lane}: {before} to {after}, label {label}"
            );
        }
    }
}

/// Rows of many features, until seven lanes are too wide.
fn wide(rows: std::ops::Range<u32>) -> Vec<Row> {
    rows.map(|round| {
        let mut random = Random(u64::from(round));
        let mut indices: Vec<u32> = (0..600).map(|_| 1 + (random.next() % 3_000_000) as u32).collect();
        indices.sort_unstable();
        indices.dedup();
        let values = vec![1.0; indices.len()];
        let label = if indices[0].is_multiple_of(2) { 1.0 } else { -1.0 };
        Row { indices, values, label, weight: 1.0, offset: 0.0 }
    })
    .collect()
}

#[test]
fn four_lanes_go_on_where_seven_are_too_wide() {
    let rows = wide(0..400);
    let mut learner = auto("logistic");
    let names = |learner: &Auto| -> Vec<String> {
        learner.mixture().unwrap().experts.into_iter().map(|expert| expert.name).collect()
    };
    let mut narrowed = None;
    for (round, row) in rows.iter().enumerate() {
        assert!(learner.learn_one(row.features(), row.label, 1.0).is_finite());
        if names(&learner).len() == 9 {
            narrowed.get_or_insert(round);
        } else {
            assert!(narrowed.is_none() && names(&learner).len() == 12);
        }
    }
    // 131,072 slots are 219 rows of 600 new features.
    let round = narrowed.expect("seven lanes have become four");
    assert!((100..300).contains(&round), "{round}");
    assert!(names(&learner).contains(&"normalised 32, raw".to_owned()));
    assert!(learner.guarantee().bound.unwrap() > 12f64.ln(), "the bound counts the lanes that left");
    let gap = learner.mixture().unwrap().gap() * rows.len() as f64;
    assert!(gap <= learner.guarantee().bound.unwrap());
    let mut again = auto("logistic");
    let state = Archive::saved(|archive| learner.persist(archive)).unwrap();
    again.persist(&mut Archive::loading(state)).unwrap();
    for row in wide(400..420) {
        let one = learner.learn_one(row.features(), row.label, 1.0);
        assert_eq!(one.to_bits(), again.learn_one(row.features(), row.label, 1.0).to_bits());
    }
    let mut kept = Auto::new(loss::parse("logistic").unwrap(), LaneCount::Seven).unwrap();
    rows.iter().for_each(|row| {
        kept.learn_one(row.features(), row.label, 1.0);
    });
    assert_eq!(names(&kept).len(), 12, "asked for, seven stay seven");
}

#[test]
fn streams_of_many_features_cost_no_matrix() {
    let mut learner = auto("logistic");
    wide(0..3).iter().for_each(|row| {
        learner.learn_one(row.features(), row.label, 1.0);
    });
    let names: Vec<String> = learner.mixture().unwrap().experts.into_iter().map(|expert| expert.name).collect();
    assert!(names.contains(&"newton (gave up)".to_owned()) && names.contains(&"newton on pairs (gave up)".to_owned()));
}

#[test]
fn pairs_make_it_bend() {
    let mut random = Random(32);
    let rows: Vec<Row> = (0..4000)
        .map(|_| {
            let (a, b) = (random.between(-1.0, 1.0), random.between(-1.0, 1.0));
            let label = if a * b > 0.0 { 1.0 } else { -1.0 };
            Row { indices: vec![0, 1, 2], values: vec![1.0, a as f32, b as f32], label, weight: 1.0, offset: 0.0 }
        })
        .collect();
    // No linear predictor does better than ln 2 = 0.69 here.
    assert!(mean_loss(&mut auto("logistic"), &rows) < 0.2);
}

/// The bits of all scores of a learner on rows, each expected beforehand or not.
fn bits(name: &str, lanes: LaneCount, rows: &[Row], is_expected: bool) -> Vec<u64> {
    let mut learner = Auto::new(loss::parse(name).unwrap(), lanes).unwrap();
    let mut bits = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        if let Some(next) = rows.get(at + 1).filter(|_| is_expected) {
            learner.prefetch(next.features());
        }
        bits.push(learner.learn_one(row.features(), row.label, row.weight).to_bits());
        bits.extend(learner.scores(row.features()).into_iter().map(f64::to_bits));
    }
    bits
}

#[test]
fn bits_depend_neither_on_the_width_of_vectors_nor_on_what_was_expected() {
    let _alone = common::alone();
    for name in ["logistic", "squared", "hinge", "poisson"] {
        let few = stream(loss::parse(name).unwrap().as_ref(), 600, 27);
        let mut rows = wide(0..40);
        rows.iter_mut().zip(&few).for_each(|(row, other)| row.label = other.label);
        rows.splice(0..0, few);
        for lanes in [LaneCount::Seven, LaneCount::Four] {
            let plain = bits(name, lanes, &rows, false);
            assert!(plain == bits(name, lanes, &rows, true), "{name}: expecting rows has changed something");
            onward::simd::set_portable(true);
            let portable = bits(name, lanes, &rows, false);
            onward::simd::set_portable(false);
            assert!(plain == portable, "{name}: vectors have changed something");
        }
    }
}
