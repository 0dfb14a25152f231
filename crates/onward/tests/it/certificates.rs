//! Certificates against the best predictors of their classes: on many streams and at many times, for good predictors and
//! bad ones, and how near they come.

use onward::evaluation::Ledger;
use onward::guarantee::{Comparator, Guarantee, GuaranteeKind};
use onward::hindsight::{ComparatorClass, RowsInMemory, Serial, best};
use onward::loss::{self, Curvature, InverseLink, LOSSES, LossDescriptor, Task};
use onward::{Batch, LearnerSpec, Loss, SharedLoss};

use crate::common::{Random, Row, stream};

const DIMENSION: usize = 8;

fn convex() -> impl Iterator<Item = SharedLoss> {
    LOSSES.iter().map(LossDescriptor::default_loss).filter(|loss| loss.curvature() != Curvature::None)
}

/// Rows that begin with a bias, labels moved and scaled.
fn rows(loss: &dyn Loss, count: usize, seed: u64) -> Vec<Row> {
    let mut rows = stream(loss, count, seed);
    for row in &mut rows {
        let others = row.indices.iter().zip(&row.values).filter(|(index, _)| **index != 0);
        let (indices, values): (Vec<u32>, Vec<f32>) = others.map(|(&index, &value)| (index, value)).unzip();
        row.indices = std::iter::once(0).chain(indices).collect();
        row.values = std::iter::once(1.0).chain(values).collect();
    }
    rows
}

/// What one of several predictors says before it learns.
enum Predictor {
    Learner(Box<dyn onward::Learner>),
    Drawn(Random, f64),
}

impl Predictor {
    fn all(loss: &SharedLoss) -> Vec<Self> {
        let learners = ["auto", "ogd", "nag"].into_iter();
        let built = learners.filter_map(|name| name.parse::<LearnerSpec>().unwrap().build(loss, None).ok());
        let drawn = [0.5, 30.0].map(|reach| Self::Drawn(Random(5), reach));
        built.map(Self::Learner).chain(drawn).collect()
    }

    fn next(&mut self, row: &Row) -> f64 {
        match self {
            Self::Learner(learner) => learner.learn_one(row.features(), row.label, row.weight),
            Self::Drawn(random, reach) => random.between(-*reach, *reach),
        }
    }
}

fn ledger(loss: &SharedLoss, radius: Option<f64>) -> Ledger {
    let mut ledger = Ledger::new(SharedLoss::clone(loss));
    ledger.set_radius(radius);
    ledger.keep_curvature(None, 1);
    ledger
}

fn hindsight(rows: &[Row], loss: &dyn Loss, class: ComparatorClass) -> (f64, Vec<f64>) {
    let mut batch = Batch::default();
    for row in rows {
        row.indices.iter().zip(&row.values).for_each(|(&index, &value)| batch.push(index, value));
        batch.set_offset(row.offset);
        batch.finish(Some(row.label), row.weight);
    }
    let mut recorded = RowsInMemory::default();
    recorded.record(&batch);
    let found = best(&recorded, &Serial, loss, class, 1e-4).unwrap();
    let mut weights = vec![0.0; DIMENSION];
    found.pairs(recorded.numbering()).iter().for_each(|&(index, weight)| weights[index as usize] = weight);
    (found.loss * rows.iter().map(|row| row.weight).sum::<f64>(), weights)
}

fn class(comparator: Comparator) -> ComparatorClass {
    match comparator {
        Comparator::Ball(radius) => ComparatorClass::Ball { radius },
        Comparator::StandardisedBall(radius) => ComparatorClass::Standardised { radius },
        Comparator::BallBesideBias { radius, low, high } => ComparatorClass::BallBesideBias { radius, low, high },
        other => panic!("{other:?}"),
    }
}

fn total(rows: &[Row], loss: &dyn Loss, u: &[f64]) -> f64 {
    rows.iter().map(|row| row.weight * loss.value(row.score(u), row.label)).sum()
}

/// The point of the way from the predictor 0 to this one at which some score comes to ±`bound`, or this one; `None` where offsets
/// alone are beyond.
fn within(rows: &[Row], u: &[f64], bound: f64) -> Option<Vec<f64>> {
    let share = rows.iter().map(|row| {
        let along = row.score(u) - row.offset;
        let room = if along > 0.0 { bound - row.offset } else { bound + row.offset };
        if along == 0.0 { 1.0 } else { room / along.abs() }
    });
    let share = share.fold(1.0, f64::min);
    (share >= 0.0).then(|| u.iter().map(|u| share * u * (1.0 - 1e-12)).collect())
}

#[test]
fn no_certificate_is_below_the_regret() {
    for loss in convex() {
        for (seed, radius, is_long) in [(3, None, true), (4, Some(1.5), false), (5, None, false)] {
            let mut rows = rows(loss.as_ref(), if is_long { 512 } else { 64 }, seed);
            if seed == 5 {
                rows.iter_mut().enumerate().for_each(|(at, row)| row.weight *= if at % 5 == 0 { 1e6 } else { 1e-6 });
                rows.iter_mut().enumerate().for_each(|(at, row)| row.offset = (at % 5) as f64 - 2.0);
            }
            for (number, mut predictor) in Predictor::all(&loss).into_iter().enumerate() {
                let mut ledger = ledger(&loss, radius);
                for (round, row) in rows.iter().enumerate() {
                    let score = predictor.next(row);
                    ledger.observe_one(score, row.label, row.weight, row.features());
                    if (round + 1).is_power_of_two() && round > 0 {
                        let place = format!("{}, seed {seed}, predictor {number}, T = {}", loss.name(), round + 1);
                        check(&ledger, &rows[..=round], &loss, &place);
                    }
                }
            }
        }
    }
}

fn check(ledger: &Ledger, rows: &[Row], loss: &SharedLoss, place: &str) {
    let (least, u) = hindsight(rows, loss.as_ref(), class(ledger.comparator()));
    let size = ledger.paid().abs().max(least.abs());
    let holds = |guarantee: &Guarantee, least: f64| {
        let bound = guarantee.bound.as_ref().unwrap_or_else(|reason| panic!("{place}: {reason}"));
        let regret = ledger.paid() - least;
        assert!(regret <= bound + 1e-9 * size, "{place}, {:?}: regret {regret} > bound {bound}", guarantee.kind);
    };
    holds(&ledger.certificate(), least);
    let dual = ledger.dual();
    holds(&dual, least);
    let paid = ledger.paid() - ledger.least().unwrap();
    let bound = dual.bound.unwrap();
    assert!(bound <= paid + 1e-9 * size, "{place}: {bound} was certified where {paid} was paid");
    assert!(bound <= ledger.certificate().bound.unwrap() + 1e-9 * size, "{place}");
    let (curved, _) = ledger.curved();
    if let (Ok(_), Some(Comparator::ScoresWithin(most))) = (&curved.bound, curved.comparator) {
        for scale in [0.0, 0.1, 0.5, 1.0, 3.0] {
            let scaled: Vec<f64> = u.iter().map(|u| scale * u).collect();
            if let Some(inside) = within(rows, &scaled, most) {
                holds(&curved, total(rows, loss.as_ref(), &inside));
            }
        }
    }
}

/// For the squared loss the curved certificate is the regret against least squares.
#[test]
fn of_the_squared_loss_the_curved_certificate_is_the_regret() {
    let squared = loss::parse("squared").unwrap();
    for seed in 0..5 {
        let rows = rows(squared.as_ref(), 700, seed);
        let mut ledger = ledger(&squared, None);
        let mut learner = "nag".parse::<LearnerSpec>().unwrap().build(&squared, None).unwrap();
        for row in &rows {
            let score = learner.learn_one(row.features(), row.label, row.weight);
            ledger.observe_one(score, row.label, row.weight, row.features());
        }
        let (least, _) = hindsight(&rows, squared.as_ref(), ComparatorClass::Unconstrained);
        let (regret, bound) = (ledger.paid() - least, ledger.curved().0.bound.unwrap());
        assert!(bound >= regret - 1e-9 * least && bound <= regret + 1e-6 * least, "{bound} {regret}");
    }
}

/// Each certificate comes as near what its class regrets on some stream as is written here. A bound that were less by more than
/// that would be below the regret. (The least point of a minorant is not where it touches a curved loss, hence the smaller share.)
#[test]
fn certificates_bite() {
    for (name, kind, least) in [
        ("squared", GuaranteeKind::Universal, 0.99),
        ("squared", GuaranteeKind::Dual, 0.99),
        ("squared", GuaranteeKind::Curved, 0.999),
        ("absolute", GuaranteeKind::Universal, 0.99),
        ("absolute", GuaranteeKind::Dual, 0.99),
        ("logistic", GuaranteeKind::Universal, 0.9),
        ("logistic", GuaranteeKind::Dual, 0.95),
        ("logistic", GuaranteeKind::Curved, 0.66),
    ] {
        let loss = loss::parse(name).unwrap();
        let mut most: f64 = 0.0;
        for (label, score) in [(1.0, 0.9), (1.0, 1.4), (2.0, 0.99), (1.0, -9.0), (1.0, -2.0), (1.0, 9.5)] {
            if loss.check_label(label).is_err() {
                continue;
            }
            // One feature; the best weight is at the end of the class, or at the label.
            let row = Row { indices: vec![0], values: vec![1.0], label, weight: 1.0, offset: 0.0 };
            let mut ledger = ledger(&loss, Some(1.0));
            (0..100).for_each(|_| ledger.observe_one(score, row.label, row.weight, row.features()));
            let (guarantee, reach) = match kind {
                GuaranteeKind::Universal => (ledger.certificate(), 1.0),
                GuaranteeKind::Dual => (ledger.dual(), 1.0),
                _ => (ledger.curved().0, 10.0),
            };
            let at = |u: i32| total(std::slice::from_ref(&row), loss.as_ref(), &[reach * f64::from(u) / 1000.0]);
            let grid = (-1000..=1000).map(at);
            let regret = ledger.paid() - 100.0 * grid.fold(f64::INFINITY, f64::min);
            if regret > 0.0 {
                most = most.max(regret / guarantee.bound.unwrap());
            }
        }
        assert!((least..=1.0 + 1e-9).contains(&most), "{name} {kind:?}: {most}");
    }
}

/// Neither the units of the label nor where its 0 is change what the default class of regression says.
#[test]
fn the_default_class_of_regression_has_the_units_of_the_label() {
    let squared = loss::parse("squared").unwrap();
    let original = rows(squared.as_ref(), 300, 8);
    let mut found = Vec::new();
    for (scale, shift) in [(1.0, 0.0), (1000.0, 0.0), (1.0, 5000.0), (1e-3, -7.0)] {
        let rows: Vec<Row> =
            original.iter().map(|row| Row { label: scale * row.label + shift, offset: 0.0, ..row.clone() }).collect();
        let mut ledger = ledger(&squared, None);
        rows.iter().for_each(|row| ledger.observe_one(shift, row.label, row.weight, row.features()));
        let (least, weights) = hindsight(&rows, squared.as_ref(), class(ledger.comparator()));
        let constant = ledger.baseline_risk().unwrap() * ledger.weight();
        assert!(least <= constant * (1.0 + 1e-9), "the class holds the best constant: {least} {constant}");
        let square = scale * scale;
        let bounds = [ledger.certificate(), ledger.dual(), ledger.curved().0].map(|it| it.bound.unwrap() / square);
        found.push((least / square, (weights[0] - shift) / scale, bounds));
    }
    let (least, bias, bounds) = found[0];
    for (other, moved, others) in &found[1..] {
        assert!((least - other).abs() < 1e-6 * least && (bias - moved).abs() < 1e-3, "{least} {other} {bias} {moved}");
        assert!(bounds.iter().zip(others).all(|(a, b)| (a - b).abs() < 1e-6 * a.abs()), "{bounds:?} {others:?}");
    }
}

/// Predictors of the class with a bias at an end of its interval, against a fine grid.
#[test]
fn the_best_is_found_where_the_bias_is_at_an_end() {
    for loss in convex().filter(|loss| loss.task() == Task::Regression && loss.inverse_link() == InverseLink::Identity)
    {
        let rows: Vec<Row> = (0..40)
            .map(|t| {
                let x = 1.0 + f64::from(t % 5);
                let (indices, values) = (vec![0, 1], vec![1.0, x as f32]);
                Row { indices, values, label: 3.0 * x + f64::from(t % 3), weight: 1.0, offset: 0.0 }
            })
            .collect();
        for (radius, low, high) in [(4.0, -1.0, 2.0), (4.0, 8.0, 20.0), (30.0, 4.0, 5.0), (3.0, -9.0, -8.0)] {
            let scale = (rows.iter().map(|row| f64::from(row.values[1]).powi(2)).sum::<f64>() / 40.0).sqrt();
            let (least, u) = hindsight(&rows, loss.as_ref(), ComparatorClass::BallBesideBias { radius, low, high });
            assert!(
                (low - 1e-9..=high + 1e-9).contains(&u[0]) && (scale * u[1]).abs() <= radius * (1.0 + 1e-9),
                "{u:?}"
            );
            let grid =
                (0..=300).flat_map(|a| (0..=300).map(move |b| (f64::from(a) / 300.0, f64::from(b) / 150.0 - 1.0)));
            let grid = grid.map(|(a, b)| total(&rows, loss.as_ref(), &[low + a * (high - low), b * radius / scale]));
            let found = grid.fold(f64::INFINITY, f64::min);
            assert!(least <= found * (1.0 + 1e-3), "{} {radius} {low} {high}: {least} {found}", loss.name());
        }
    }
}

/// A run that is saved half-way and continued certifies the same, to the bit.
#[test]
fn certificates_continue_to_the_bit() {
    use onward::archive::Archive;
    let loss = loss::parse("logistic").unwrap();
    let rows = rows(loss.as_ref(), 900, 2);
    let (mut whole, mut half) = (ledger(&loss, None), ledger(&loss, None));
    for (round, row) in rows.iter().enumerate() {
        let score = 0.3 * f64::from(row.values[1]);
        whole.observe_one(score, row.label, row.weight, row.features());
        half.observe_one(score, row.label, row.weight, row.features());
        if round == 700 {
            let state = Archive::saved(|archive| half.persist(archive)).unwrap();
            half = Ledger::new(SharedLoss::clone(&loss));
            half.persist(&mut Archive::loading(state)).unwrap();
        }
    }
    assert_eq!(whole.curved(), half.curved());
    assert_eq!((whole.dual(), whole.certificate()), (half.dual(), half.certificate()));
    assert!(whole.curved().0.bound.is_ok());
}

/// Features that come later than there is room for end the sums; with columns of numbers they are left out by name.
#[test]
fn a_class_of_some_features_says_which() {
    let loss = loss::parse("squared").unwrap();
    for reserved in [1, 4] {
        let mut ledger = Ledger::new(SharedLoss::clone(&loss));
        ledger.keep_curvature(Some(12), reserved);
        let mut random = Random(4);
        for round in 0..60u32 {
            let (category, number) = (100 + round % 9, random.between(-1.0, 1.0) as f32);
            let x = [1.0, number, number * number, random.between(0.0, 1.0) as f32, 1.0];
            // The third number is there from the middle on.
            let (indices, values): (Vec<u32>, Vec<f32>) =
                [0, 1, 2, 3, category].into_iter().zip(x).filter(|(index, _)| *index != 3 || round > 30).unzip();
            let label = f64::from(number) + f64::from(category % 3);
            let row = Row { indices, values, label, weight: 1.0, offset: 0.0 };
            ledger.observe_one(0.0, row.label, row.weight, row.features());
        }
        let (guarantee, floor) = ledger.curved();
        match reserved {
            1 => assert!(guarantee.bound.unwrap_err().contains("more than 12 features")),
            _ => {
                let mut features = floor.unwrap().features;
                features.sort_unstable();
                assert_eq!(features, [0, 1, 2, 3, 100, 101, 102]);
            }
        }
    }
}

/// A column that is nearly the bias may be used with large weights: the class names what it is about, and the bias stays.
#[test]
fn a_near_combination_is_named_as_left_out() {
    let squared = loss::parse("squared").unwrap();
    let mut ledger = ledger(&squared, None);
    for round in 0..200u32 {
        let sign = if round % 2 == 0 { 1.0 } else { -1.0 };
        let (indices, values) = (vec![0, 1], vec![1.0, 1.0 + 1e-5 * sign as f32]);
        let row = Row { indices, values, label: sign, weight: 1.0, offset: 0.0 };
        ledger.observe_one(0.0, row.label, row.weight, row.features());
    }
    // u = (−10⁵, 10⁵) pays next to nothing; the floor is of constants alone, and says so.
    let (_, floor) = ledger.curved();
    let floor = floor.unwrap();
    assert_eq!((floor.features, floor.combinations), (vec![0], 1));
    assert!((floor.floor - 200.0).abs() < 1e-6, "{}", floor.floor);
}
