//! The best predictor in hindsight against closed forms and against brute force.

use std::convert::Infallible;
use std::sync::Mutex;

use onward::hindsight::{
    Best, ComparatorClass, HindsightError, MOST_PASSES, RowSource, RowsInMemory, Serial, Workers, best,
};
use onward::loss::{self, Curvature, LOSSES, LossDescriptor, Task};
use onward::{Batch, Error, Loss, SharedLoss};

use crate::common::{self, Random, Row, stream};

/// Features of the streams.
const DIMENSION: usize = 8;

fn recorded(rows: &[Row]) -> RowsInMemory {
    let mut batch = Batch::default();
    for row in rows {
        row.indices.iter().zip(&row.values).for_each(|(&index, &value)| batch.push(index, value));
        batch.set_offset(row.offset);
        batch.finish(Some(row.label), row.weight);
    }
    let mut recorded = RowsInMemory::default();
    recorded.record(&batch);
    recorded
}

fn found(rows: &[Row], loss: &dyn Loss, class: ComparatorClass, gap: f64) -> Best {
    best(&recorded(rows), &Serial, loss, class, gap).unwrap()
}

fn refused(rows: &[Row], loss: &dyn Loss, class: ComparatorClass, gap: f64) -> String {
    match best(&recorded(rows), &Serial, loss, class, gap) {
        Err(HindsightError::Refused(error)) => error.to_string(),
        other => panic!("{other:?}"),
    }
}

/// The weights by index.
fn weights(best: &Best, rows: &[Row]) -> Vec<f64> {
    let mut weights = vec![0.0; DIMENSION];
    best.pairs(recorded(rows).numbering()).iter().for_each(|&(index, weight)| weights[index as usize] = weight);
    weights
}

fn mean_loss(rows: &[Row], loss: &dyn Loss, u: &[f64]) -> f64 {
    let paid: f64 = rows.iter().map(|row| row.weight * loss.value(row.score(u), row.label)).sum();
    paid / rows.iter().map(|row| row.weight).sum::<f64>()
}

/// The scales s_i of the class.
fn scales(rows: &[Row], class: ComparatorClass) -> Vec<f64> {
    if matches!(class, ComparatorClass::Ball { .. }) {
        return vec![1.0; DIMENSION];
    }
    let mut squares = [0.0; DIMENSION];
    for row in rows {
        for (&i, &x) in row.indices.iter().zip(&row.values) {
            squares[i as usize] += row.weight * f64::from(x).powi(2);
        }
    }
    let weight: f64 = rows.iter().map(|row| row.weight).sum();
    squares.iter().map(|square| (square / weight).sqrt()).collect()
}

fn size(u: &[f64], scales: &[f64]) -> f64 {
    u.iter().zip(scales).map(|(u, s)| (u * s).powi(2)).sum::<f64>().sqrt()
}

/// Goes on from a predictor by brute force: best points of many chords of the ball, and
/// projected subgradients of many sizes. The least mean loss that is seen.
fn polished(rows: &[Row], loss: &dyn Loss, u: &[f64], radius: f64, scales: &[f64], random: &mut Random) -> f64 {
    let mut u = u.to_vec();
    let mut least = mean_loss(rows, loss, &u);
    let clip = |u: &mut [f64]| {
        let size = size(u, scales);
        if size > radius {
            u.iter_mut().for_each(|u| *u *= radius / size);
        }
    };
    for round in 0..60 {
        let mut gradient = [0.0; DIMENSION];
        for row in rows {
            let g = row.weight * loss.derivative(row.score(&u), row.label);
            row.indices.iter().zip(&row.values).for_each(|(&i, &x)| gradient[i as usize] -= g * f64::from(x));
        }
        let direction: Vec<f64> = match round % 3 {
            // The subgradient of the scaled problem, and a random direction.
            0 => gradient.iter().zip(scales).map(|(g, s)| if *s > 0.0 { g / (s * s) } else { 0.0 }).collect(),
            _ => scales.iter().map(|s| random.between(-1.0, 1.0) / s.max(1e-9)).collect(),
        };
        let length = size(&direction, scales).max(1e-300);
        for power in 0..24 {
            for sign in [-1.0, 1.0] {
                let step = sign * 2.0 * radius.min(1e3) * 0.5f64.powi(power) / length;
                let mut other: Vec<f64> = u.iter().zip(&direction).map(|(u, d)| u + step * d).collect();
                clip(&mut other);
                let paid = mean_loss(rows, loss, &other);
                if paid < least {
                    (u, least) = (other, paid);
                }
            }
        }
    }
    least
}

fn convex() -> impl Iterator<Item = SharedLoss> {
    let unusual = ["quantile:tau=0.9", "huber:delta=0.2", "expectile:tau=0.8", "epsilon-insensitive:epsilon=0.5"];
    let unusual = unusual.into_iter().map(|name| loss::parse(name).unwrap());
    let usual = LOSSES.iter().map(LossDescriptor::default_loss);
    usual.filter(|loss| loss.curvature() != Curvature::None).chain(unusual)
}

#[test]
fn brute_force_finds_nothing_below_the_gap_and_nothing_much_better() {
    for (seed, gap) in [(1, 1e-3), (2, 1e-5)] {
        for loss in convex() {
            let mut random = Random(100 + seed);
            let mut rows = stream(&*loss, 150, seed);
            rows.iter_mut().for_each(|row| row.offset = random.between(-0.3, 0.3));
            for class in [
                ComparatorClass::Ball { radius: 0.5 },
                ComparatorClass::Ball { radius: 3.0 },
                ComparatorClass::Standardised { radius: 1.0 },
                ComparatorClass::Standardised { radius: 10.0 },
            ] {
                let case = format!("{} {class} seed {seed}", loss.name());
                let best = found(&rows, &*loss, class, gap);
                let (u, scales, radius) = (weights(&best, &rows), scales(&rows, class), class.radius().unwrap());
                assert!(best.is_reached, "{case}: {best:?}");
                assert!(
                    best.gap >= 0.0
                        && best.gap <= gap * best.loss.max(1e-3 * mean_loss(&rows, &*loss, &[0.0; DIMENSION])),
                    "{case}: {best:?}"
                );
                // It is what it is said to be.
                assert!(size(&u, &scales) <= radius * (1.0 + 1e-12), "{case}");
                assert!((best.norm - size(&u, &scales)).abs() <= 1e-12 * radius, "{case}");
                assert!((best.loss - mean_loss(&rows, &*loss, &u)).abs() <= 1e-12 * (1.0 + best.loss.abs()), "{case}");
                // From there, and from nowhere, nothing better.
                let near = polished(&rows, &*loss, &u, radius, &scales, &mut random);
                assert!(near >= best.loss - best.gap - 1e-12, "{case}: {near} {best:?}");
                let from_zero = polished(&rows, &*loss, &[0.0; DIMENSION], radius, &scales, &mut random);
                assert!(from_zero >= best.loss - best.gap - 1e-12, "{case}: {from_zero} {best:?}");
                // Ten times as far it is no worse.
                let ten = best.at_ten_times.unwrap();
                assert!(ten.loss <= best.loss && ten.gap >= 0.0, "{case}: {best:?}");
                let far = polished(&rows, &*loss, &u, 10.0 * radius, &scales, &mut random);
                assert!(far >= ten.loss - ten.gap - 1e-12, "{case}: {far} {best:?}");
            }
        }
    }
}

/// Solves a small system by elimination.
fn solve(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
    let n = b.len();
    for i in 0..n {
        let pivot = (i..n).max_by(|&p, &q| a[p][i].abs().total_cmp(&a[q][i].abs())).unwrap();
        a.swap(i, pivot);
        b.swap(i, pivot);
        for k in i + 1..n {
            let factor = a[k][i] / a[i][i];
            let line = a[i].clone();
            a[k].iter_mut().zip(line).for_each(|(entry, above)| *entry -= factor * above);
            b[k] -= factor * b[i];
        }
    }
    for i in (0..n).rev() {
        let rest: f64 = (i + 1..n).map(|j| a[i][j] * b[j]).sum();
        b[i] = (b[i] - rest) / a[i][i];
    }
    b
}

/// (XᵀX + λ diag(s²))⁻¹ Xᵀ(y − b).
fn ridge(rows: &[Row], lambda: f64, scales: &[f64]) -> Vec<f64> {
    let mut a = vec![vec![0.0; DIMENSION]; DIMENSION];
    let mut b = vec![0.0; DIMENSION];
    for row in rows {
        for (&i, &x) in row.indices.iter().zip(&row.values) {
            b[i as usize] += row.weight * f64::from(x) * (row.label - row.offset);
            for (&j, &z) in row.indices.iter().zip(&row.values) {
                a[i as usize][j as usize] += row.weight * f64::from(x) * f64::from(z);
            }
        }
    }
    (0..DIMENSION).for_each(|i| a[i][i] += lambda * scales[i] * scales[i]);
    solve(a, b)
}

#[test]
fn the_squared_loss_is_solved_exactly() {
    let loss = loss::parse("squared").unwrap();
    let mut rows = stream(&*loss, 300, 5);
    rows.iter_mut().enumerate().for_each(|(at, row)| row.offset = 0.1 * (at % 7) as f64);
    let unconstrained = found(&rows, &*loss, ComparatorClass::Unconstrained, 1e-3);
    let plain = ridge(&rows, 0.0, &[1.0; DIMENSION]);
    let closed = mean_loss(&rows, &*loss, &plain);
    assert!((unconstrained.loss - closed).abs() <= 1e-9 * closed, "{unconstrained:?} {closed}");
    assert_eq!(unconstrained.at_ten_times, None);
    for (u, plain) in weights(&unconstrained, &rows).iter().zip(&plain) {
        assert!((u - plain).abs() < 1e-6, "{u} {plain}");
    }
    for class in [ComparatorClass::Ball { radius: 0.8 }, ComparatorClass::Standardised { radius: 0.5 }] {
        let (scales, radius) = (scales(&rows, class), class.radius().unwrap());
        // The multiplier that puts it on the sphere, by bisection.
        let (mut low, mut high) = (0.0, 1e6);
        for _ in 0..200 {
            let middle: f64 = 0.5 * (low + high);
            if size(&ridge(&rows, middle, &scales), &scales) > radius { low = middle } else { high = middle }
        }
        let closed = mean_loss(&rows, &*loss, &ridge(&rows, high, &scales));
        let best = found(&rows, &*loss, class, 1e-3);
        assert!(best.gap <= 1e-9 * closed && (best.loss - closed).abs() <= 2e-9 * closed, "{best:?} {closed}");
        assert!((best.norm - radius).abs() < 1e-9 && best.loss > 1.01 * unconstrained.loss);
    }
}

#[test]
fn features_that_say_the_same_are_no_obstacle() {
    let loss = loss::parse("squared").unwrap();
    let mut rows = stream(&*loss, 200, 6);
    for class in [ComparatorClass::Unconstrained, ComparatorClass::Standardised { radius: 10.0 }] {
        let once = found(&rows, &*loss, class, 1e-3);
        for row in &mut rows {
            // Feature 1 a second time, and one that is always 0.
            let value = row.values[1];
            row.indices.extend([100, 101]);
            row.values.extend([2.0 * value, 0.0]);
        }
        let twice = found(&rows, &*loss, class, 1e-3);
        assert!(once.gap <= 1e-8 && twice.gap <= 1e-6 && twice.is_reached, "{once:?} {twice:?}");
        assert!((once.loss - twice.loss).abs() <= once.gap + twice.gap, "{once:?} {twice:?}");
        rows.iter_mut()
            .for_each(|row| (row.indices.truncate(row.indices.len() - 2), row.values.truncate(row.values.len() - 2)).0);
    }
}

#[test]
fn units_do_not_matter_to_the_standardised_ball() {
    for loss in convex() {
        let mut rows = stream(&*loss, 200, 7);
        let class = ComparatorClass::Standardised { radius: 2.0 };
        let before = found(&rows, &*loss, class, 1e-4);
        for row in &mut rows {
            row.values
                .iter_mut()
                .zip(&row.indices)
                .for_each(|(value, index)| *value *= [1.0, 4096.0, 0.0625][*index as usize % 3]);
        }
        let after = found(&rows, &*loss, class, 1e-4);
        assert!((before.loss - after.loss).abs() <= before.gap.max(after.gap) + 1e-12, "{}", loss.name());
        // Nor are large units an obstacle to the raw ball.
        let raw = found(&rows, &*loss, ComparatorClass::Ball { radius: 0.5 }, 1e-3);
        assert!(raw.is_reached, "{}: {raw:?}", loss.name());
    }
}

#[test]
fn without_a_ball_the_loss_is_as_small_as_in_a_large_one() {
    for loss in convex() {
        let rows = stream(&*loss, 200, 8);
        let free = found(&rows, &*loss, ComparatorClass::Unconstrained, 1e-4);
        let bound = found(&rows, &*loss, ComparatorClass::Standardised { radius: 1e3 }, 1e-4);
        assert!(free.is_reached, "{}: {free:?}", loss.name());
        assert!(
            (free.loss - bound.loss).abs() <= free.gap.max(bound.gap) + 1e-12,
            "{} {free:?} {bound:?}",
            loss.name()
        );
    }
}

/// Walks the shards on three threads, the last first.
struct Backwards;

impl Workers for Backwards {
    fn map<T: Send>(&self, count: usize, work: &(dyn Fn(usize) -> T + Sync)) -> Vec<T> {
        let left = Mutex::new((0..count).collect::<Vec<_>>());
        let done = Mutex::new((0..count).map(|_| None).collect::<Vec<Option<T>>>());
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    loop {
                        let Some(shard) = left.lock().unwrap().pop() else { return };
                        let result = work(shard);
                        done.lock().unwrap()[shard] = Some(result);
                    }
                });
            }
        });
        done.into_inner().unwrap().into_iter().map(Option::unwrap).collect()
    }
}

/// Sparse rows with rare features, more of them than second derivatives are computed among.
fn sparse(loss: &dyn Loss, rounds: usize) -> Vec<Row> {
    let mut random = Random(11);
    let effects: Vec<f64> = (0..5000).map(|_| random.between(-1.0, 1.0)).collect();
    (0..rounds)
        .map(|_| {
            let mut indices = vec![0];
            let mut sum = 0.0;
            for kind in 0..6 {
                // Of each kind one, the first ones often.
                let one = (800.0 * random.uniform().powi(4)) as usize;
                indices.push(1 + 800 * kind + one as u32);
                sum += effects[800 * kind as usize + one];
            }
            let values = vec![1.0; indices.len()];
            Row {
                indices,
                values,
                label: common::label(loss, 0.5 + sum, &mut random),
                weight: random.between(0.5, 2.0),
                offset: 0.0,
            }
        })
        .collect()
}

/// The best of many rare features, which must not depend on who walks the shards.
fn with_rare_features(name: &str, rounds: usize) -> Best {
    let loss = loss::parse(name).unwrap();
    let rows = recorded(&sparse(&*loss, rounds));
    let class = ComparatorClass::Standardised { radius: 10.0 };
    let serial = best(&rows, &Serial, &*loss, class, 1e-3).unwrap();
    let threads = best(&rows, &Backwards, &*loss, class, 1e-3).unwrap();
    assert_eq!(serial, threads, "{name}");
    // More than second derivatives are computed among.
    assert!(rows.dimension() > 1000, "{name}: {}", rows.dimension());
    serial
}

#[test]
fn many_rare_features_are_certified_and_bits_do_not_depend_on_threads() {
    let losses =
        [("squared", 300), ("logistic", 300), ("huber:delta=1", 300), ("poisson", 300), ("squared-hinge", 300)];
    for (name, most) in losses.into_iter().chain([("hinge", 400)]) {
        let best = with_rare_features(name, 20_000);
        assert!(best.is_reached && best.passes < most, "{name}: {} passes, gap {}", best.passes, best.gap);
    }
}

#[test]
fn a_feature_that_a_row_has_twice_counts_as_its_sum() {
    for name in ["hinge", "logistic", "squared"] {
        let loss = loss::parse(name).unwrap();
        let plain = sparse(&*loss, 3000);
        let mut twice = plain.clone();
        for row in &mut twice {
            // 1 as 1.5 less 0.5: sums of squares would be 2.5 of it.
            for at in 0..row.indices.len() {
                row.indices.push(row.indices[at]);
                row.values[at] = 1.5;
                row.values.push(-0.5);
            }
        }
        // ProblemBounds would count each part, so by the raw ball, with and without kinks, and unconstrained.
        for class in [ComparatorClass::Ball { radius: 5.0 }, ComparatorClass::Unconstrained] {
            let of = |rows: &[Row]| best(&recorded(rows), &Serial, &*loss, class, 1e-3);
            match (of(&plain), of(&twice)) {
                (Ok(one), Ok(other)) => {
                    let floor = |best: &Best| best.loss - best.gap;
                    assert!(floor(&one) <= other.loss + 1e-9 && floor(&other) <= one.loss + 1e-9, "{name} {class}");
                    assert!(one.is_reached && other.is_reached, "{name} {class}: {} {}", one.gap, other.gap);
                }
                // Separated.
                (one, other) => assert!(one.is_err() && other.is_err(), "{name} {class}"),
            }
        }
    }
}

/// Rows of 40 of 700 features at random.
fn dense(rounds: usize, label: impl Fn(f64, &mut Random) -> f64) -> Vec<Row> {
    let mut random = Random(5);
    let row = |random: &mut Random| {
        let mut indices: Vec<u32> = (0..40).map(|kind| kind * 17 + (17.0 * random.uniform()) as u32).collect();
        indices.push(700);
        let mut values: Vec<f32> = indices.iter().map(|_| random.between(-1.0, 1.0) as f32).collect();
        values[40] = 1.0;
        let score: f64 = indices.iter().zip(&values).map(|(&at, &x)| f64::from(x) * f64::from(at * 7 % 13).sin()).sum();
        Row { indices, values, label: label(score, random), weight: 1.0, offset: 0.0 }
    };
    (0..rounds).map(|_| row(&mut random)).collect()
}

#[test]
fn rows_that_many_features_fit_are_fitted() {
    // More than second derivatives are computed among: dual ascent takes over from Newton's method.
    let signs = dense(600, |score, _| if score > 0.0 { 1.0 } else { -1.0 });
    let numbers = dense(600, |score, _| score);
    for (name, rows) in [("squared-hinge", &signs), ("modified-huber", &signs), ("hinge", &signs), ("huber", &numbers)]
    {
        let loss = loss::parse(name).unwrap();
        let best = found(rows, &*loss, ComparatorClass::Standardised { radius: 100.0 }, 1e-3);
        let at_zero = mean_loss(rows, &*loss, &[0.0; 701]);
        assert!(best.loss < 1e-3 * at_zero && best.norm > 0.1, "{name}: {best:?}");
    }
    // Without a ball there is then no best one for losses that never come to 0, by whatever method.
    let logistic = loss::parse("logistic").unwrap();
    assert!(
        refused(&signs, &*logistic, ComparatorClass::Unconstrained, 1e-3)
            .contains("a linear predictor separates the labels")
    );
}

#[test]
fn losses_below_0_are_no_obstacle() {
    // Poisson's loss leaves a constant out: at the best it is far below 0.
    let loss = loss::parse("poisson").unwrap();
    let counts = dense(3000, |score, random| (20.0 * (0.3 * score + 0.5 * random.uniform()).exp()).round());
    let best = found(&counts, &*loss, ComparatorClass::Standardised { radius: 10.0 }, 1e-4);
    assert!(best.is_reached && best.loss < 0.0 && best.gap <= 1e-4 * best.loss.abs(), "{best:?}");
}

#[test]
fn labels_far_from_0_are_found_without_a_ball() {
    let mut random = Random(8);
    let rows: Vec<Row> = (0..300)
        .map(|_| {
            let x = random.between(-1.0, 1.0);
            let label = 1e7 + 3.0 * x + random.between(-1.0, 1.0);
            Row { indices: vec![0, 1], values: vec![1.0, x as f32], label, weight: 1.0, offset: 0.0 }
        })
        .collect();
    for name in ["absolute", "huber", "quantile:tau=0.9", "squared"] {
        let loss = loss::parse(name).unwrap();
        let best = found(&rows, &*loss, ComparatorClass::Unconstrained, 1e-3);
        let known = mean_loss(&rows, &*loss, &[1e7 + if name.starts_with('q') { 0.8 } else { 0.0 }, 3.0]);
        assert!(best.loss <= 1.01 * known, "{name}: {known} {best:?}");
    }
}

/// A known limit: on straight or one-sided losses, with about as many features as rows near the kinks, the passes
/// may run out before the gap is met. It is then told, and not claimed.
#[test]
fn a_gap_that_is_not_met_is_told() {
    for name in ["hinge", "absolute", "squared-hinge"] {
        let best = with_rare_features(name, 3000);
        let is_met = best.gap <= 1e-3 * best.loss.max(1e-3);
        assert!(best.is_reached || (!is_met && best.passes >= MOST_PASSES), "{name}: {} {}", best.passes, best.gap);
        assert!(best.gap >= 0.0 && best.gap <= best.loss, "{name}: {} {}", best.loss, best.gap);
        // Of losses near 1 at the score 0.
        assert!(best.gap < 1e-5 && (best.is_reached || name == "absolute"), "{name}: {} {}", best.loss, best.gap);
    }
}

#[test]
fn labels_that_a_predictor_separates_have_no_best_one_without_a_radius() {
    let loss = loss::parse("logistic").unwrap();
    let mut rows = stream(&*loss, 100, 9);
    rows.iter_mut().for_each(|row| row.label = if row.values[1] > 0.1 { 1.0 } else { -1.0 });
    let message = refused(&rows, &*loss, ComparatorClass::Unconstrained, 1e-3);
    assert!(
        message.contains("a linear predictor separates the labels") && message.contains("give a radius"),
        "{message}"
    );
    // In a ball there is one; and the hinge loss reaches 0.
    assert!(found(&rows, &*loss, ComparatorClass::Ball { radius: 5.0 }, 1e-3).is_reached);
    let hinge = found(&rows, &*loss::parse("hinge").unwrap(), ComparatorClass::Unconstrained, 1e-3);
    assert!(hinge.is_reached && hinge.loss < 1e-5, "{hinge:?}");
    // One class alone, or counts that are all 0.
    rows.iter_mut().for_each(|row| row.label = 1.0);
    assert!(refused(&rows, &*loss, ComparatorClass::Unconstrained, 1e-3).contains("separates"));
    let poisson = loss::parse("poisson").unwrap();
    rows.iter_mut().for_each(|row| row.label = 0.0);
    assert!(refused(&rows, &*poisson, ComparatorClass::Unconstrained, 1e-3).contains("separates"));
    // Probabilities are never separated.
    rows.iter_mut().for_each(|row| row.label = 0.9);
    assert!(found(&rows, &*loss, ComparatorClass::Unconstrained, 1e-3).is_reached);
}

#[test]
fn odd_streams_have_answers() {
    for loss in convex() {
        for class in [ComparatorClass::Ball { radius: 2.0 }, ComparatorClass::Standardised { radius: 10.0 }] {
            // No feature at all: the offsets predict.
            let label = if loss.task() == Task::Binary { 1.0 } else { 2.0 };
            let bare = Row { indices: vec![], values: vec![], label, weight: 3.0, offset: 0.25 };
            let best = found(&[bare.clone(), bare.clone()], &*loss, class, 1e-3);
            let paid = loss.value(0.25, label);
            assert!(
                best.is_reached && (best.loss - paid).abs() <= 1e-15 * paid.abs() && best.gap <= 1e-3 * paid.abs(),
                "{}: {best:?}",
                loss.name()
            );
            // Features that are always 0; then one example.
            let zero = Row { indices: vec![3, 5], values: vec![0.0, 0.0], ..bare.clone() };
            let best = found(&[zero], &*loss, class, 1e-3);
            assert!(
                best.is_reached && (best.loss - paid).abs() <= 1e-15 * paid.abs() && best.gap <= 1e-3 * paid.abs(),
                "{}: {best:?}",
                loss.name()
            );
            assert_eq!(best.norm, 0.0);
            let one = Row { indices: vec![0, 5], values: vec![1.0, 2.0], ..bare };
            let best = found(&vec![one; 3], &*loss, class, 1e-3);
            assert!(best.is_reached, "{} {class}: {best:?}", loss.name());
        }
    }
}

#[test]
fn questions_without_an_answer_are_refused() {
    let squared = loss::parse("squared").unwrap();
    let rows = stream(&*squared, 10, 1);
    let ball = ComparatorClass::Ball { radius: 1.0 };
    for (message, part) in [
        (refused(&rows, &*loss::parse("zero-one").unwrap(), ball, 1e-3), "zero-one is not convex"),
        (
            refused(&rows, &*squared, ComparatorClass::Ball { radius: 0.0 }, 1e-3),
            "the radius must be a finite number above 0; got 0",
        ),
        (
            refused(&rows, &*squared, ComparatorClass::Standardised { radius: f64::NAN }, 1e-3),
            "the radius must be a finite number above 0; got NaN",
        ),
        (refused(&rows, &*squared, ball, 0.0), "the relative gap must be above 0 and below 1; got 0"),
        (refused(&[], &*squared, ball, 1e-3), "needs a row with a label and a weight above 0"),
    ] {
        assert!(message.contains(part), "{message}");
    }
    // Rows without a label or weight are none.
    let mut batch = Batch::default();
    batch.push(0, 1.0);
    batch.finish(None, 1.0);
    batch.push(0, 1.0);
    batch.finish(Some(1.0), 0.0);
    let mut rows = RowsInMemory::default();
    rows.record(&batch);
    assert!(matches!(best(&rows, &Serial, &*squared, ball, 1e-3), Err(HindsightError::Refused(_))));
}

#[test]
fn everything_stays_finite_under_any_finite_input() {
    let mut random = Random(12);
    for loss in convex() {
        for round in 0..6 {
            let extreme = |random: &mut Random| {
                let size = 10f64.powf(random.between(-38.0, 38.0));
                if random.uniform() < 0.5 { size } else { -size }
            };
            let rows: Vec<Row> = (0..20)
                .map(|_| {
                    let values = vec![1.0, extreme(&mut random) as f32, extreme(&mut random) as f32];
                    let y = if loss.task() == Task::Binary {
                        1f64.copysign(random.between(-1.0, 1.0))
                    } else {
                        extreme(&mut random)
                    };
                    let label = if loss.check_label(y).is_ok() { y } else { y.abs().min(1e20) };
                    Row { indices: vec![0, 1, 2], values, label, weight: extreme(&mut random).abs(), offset: 0.0 }
                })
                .collect();
            let class = if round % 2 == 0 {
                ComparatorClass::Ball { radius: 1.0 }
            } else {
                ComparatorClass::Standardised { radius: 10.0 }
            };
            let best = found(&rows, &*loss, class, 1e-3);
            assert!(best.loss.is_finite() && best.gap >= 0.0 && best.norm.is_finite(), "{}: {best:?}", loss.name());
            assert!(best.weights.iter().all(|weight| weight.is_finite()), "{}: {best:?}", loss.name());
        }
    }
}

/// Rows that cannot be read a third time.
struct Failing(RowsInMemory, Mutex<u32>);

impl RowSource for Failing {
    type Error = Error;

    fn dimension(&self) -> usize {
        self.0.dimension()
    }

    fn shards(&self) -> usize {
        1
    }

    fn visit(&self, _: usize, each: &mut dyn FnMut(onward::hindsight::LabelledRow<'_>)) -> Result<(), Error> {
        *self.1.lock().unwrap() += 1;
        if *self.1.lock().unwrap() > 2 {
            return Err(loss::parse("none").unwrap_err());
        }
        (0..self.0.shards()).for_each(|shard| {
            let Ok(()): Result<(), Infallible> = self.0.visit(shard, each);
        });
        Ok(())
    }
}

#[test]
fn rows_that_cannot_be_read_again_end_it() {
    let squared = loss::parse("squared").unwrap();
    let rows = Failing(recorded(&stream(&*squared, 10, 1)), Mutex::new(0));
    let failure = best(&rows, &Serial, &*squared, ComparatorClass::Ball { radius: 1.0 }, 1e-3).unwrap_err();
    assert!(matches!(failure, HindsightError::Rows(_)), "{failure:?}");
}
