//! Losses from outside: learners, account and hindsight take them for what they are, whatever their names.

use std::sync::Arc;

use onward::evaluation::{BestConstant, Ledger};
use onward::hindsight::{Best, ComparatorClass, RowsInMemory, Serial, best};
use onward::learner::{LearnerSpec, Losses, ProblemBounds};
use onward::loss::{Curvature, LossKind, Squared, Task, ZeroOne};
use onward::registry::LEARNERS;
use onward::{Batch, Error, Loss, SharedLoss};

use crate::common::{Saved, stream};

/// ½(p − y)², which says no more of itself than it has to.
#[derive(Debug)]
struct HalfSquared;

impl Loss for HalfSquared {
    fn name(&self) -> String {
        "half-squared".to_owned()
    }

    fn task(&self) -> Task {
        Task::Regression
    }

    fn value(&self, p: f64, y: f64) -> f64 {
        0.5 * (p - y) * (p - y)
    }

    fn derivative(&self, p: f64, y: f64) -> f64 {
        p - y
    }

    fn second_derivative(&self, _p: f64, _y: f64) -> f64 {
        1.0
    }

    fn curvature(&self) -> Curvature {
        Curvature::Quadratic(1.0)
    }

    fn lipschitz(&self, range: f64) -> f64 {
        2.0 * range
    }

    fn importance_step(&self, p: f64, y: f64, time: f64, q: f64) -> f64 {
        Squared.importance_step(p, y, 0.5 * time, q)
    }

    fn check_label(&self, y: f64) -> Result<(), Error> {
        Squared.check_label(y)
    }
}

/// The absolute loss under the name of another, and a loss of mistakes that is no 0/1 loss.
#[derive(Debug)]
struct Named(&'static str, Curvature);

impl Loss for Named {
    fn name(&self) -> String {
        self.0.to_owned()
    }

    fn task(&self) -> Task {
        Task::Binary
    }

    fn value(&self, p: f64, y: f64) -> f64 {
        (p - y).abs()
    }

    fn derivative(&self, p: f64, y: f64) -> f64 {
        (p - y).signum()
    }

    fn second_derivative(&self, _p: f64, _y: f64) -> f64 {
        0.0
    }

    fn curvature(&self) -> Curvature {
        self.1
    }

    fn lipschitz(&self, _range: f64) -> f64 {
        1.0
    }

    fn importance_step(&self, p: f64, y: f64, time: f64, _q: f64) -> f64 {
        -time * self.derivative(p, y)
    }

    fn check_label(&self, y: f64) -> Result<(), Error> {
        ZeroOne.check_label(y)
    }
}

fn half() -> SharedLoss {
    Arc::new(HalfSquared)
}

fn build(text: &str, loss: SharedLoss) -> Result<Box<dyn onward::Learner>, Error> {
    text.parse::<LearnerSpec>()?.build(&loss, None)
}

#[test]
fn learners_of_the_squared_loss_take_half_of_it_and_promise_half() {
    for entry in LEARNERS.iter().filter(|entry| entry.losses == Losses::Only(&[LossKind::Quadratic])) {
        let (mut whole, mut halved) =
            (build(entry.name, Arc::new(Squared)).unwrap(), build(entry.name, half()).unwrap());
        assert_eq!(halved.loss().name(), "half-squared");
        let mut paid = 0.0;
        for row in stream(&Squared, 100, 1) {
            let one = whole.learn_one(row.features(), row.label, row.weight);
            assert_eq!(one, halved.learn_one(row.features(), row.label, row.weight), "{}", entry.name);
            paid += row.weight * HalfSquared.value(one, row.label);
        }
        let (bound, of_half) = match (whole.guarantee().bound, halved.guarantee().bound) {
            (Ok(bound), Ok(of_half)) => (bound, of_half),
            (bound, of_half) => {
                assert_eq!(bound, of_half, "{}", entry.name);
                continue;
            }
        };
        assert_eq!(of_half, 0.5 * bound, "{}", entry.name);
        // Not vacuous: not far above what was paid.
        assert!(of_half <= 1.2 * paid + 1.0, "{}: {of_half} {paid}", entry.name);
        let promised = |loss: SharedLoss| {
            let specification: LearnerSpec = entry.name.parse().unwrap();
            specification.plan(&loss, None, &ProblemBounds::default()).unwrap().bound
        };
        match (promised(Arc::new(Squared)), promised(half())) {
            (Ok(bound), Ok(of_half)) => assert_eq!(of_half, 0.5 * bound, "{}", entry.name),
            (one, other) => assert_eq!(one, other, "{}", entry.name),
        }
    }
}

#[test]
fn following_the_leader_of_half_squares_solves_for_them() {
    let mut whole = build("ftrl:alpha=2,losses=real", Arc::new(Squared)).unwrap();
    let mut halved = build("ftrl:alpha=1,losses=real", half()).unwrap();
    for row in stream(&Squared, 60, 2) {
        let one = whole.learn_one(row.features(), row.label, row.weight);
        let other = halved.learn_one(row.features(), row.label, row.weight);
        assert!((one - other).abs() <= 1e-9 * one.abs().max(1.0), "{one} {other}");
    }
    // It keeps a matrix, not the rows.
    let state = halved.state();
    assert!(state.columns().contains_key("matrix") && !state.columns().contains_key("row.label"));
}

#[test]
fn steps_that_need_curvature_find_it() {
    for row in stream(&Squared, 1, 3) {
        let mut learner = build("ons", half()).unwrap();
        learner.learn_one(row.features(), row.label, row.weight);
        assert!(learner.guarantee().bound.is_ok());
    }
    let scales = ProblemBounds { label: 3.0, norm: 2.0, ..ProblemBounds::default() };
    assert_eq!(scales.gradient(&HalfSquared, 1.0), 0.5 * scales.gradient(&Squared, 1.0));
}

#[test]
fn the_account_of_half_squares_is_half() {
    let mut ledgers = [Ledger::new(Arc::new(Squared) as SharedLoss), Ledger::new(half())];
    let mut constants = [BestConstant::new(Arc::new(Squared)), BestConstant::new(half())];
    let mut learner = build("nag", Arc::new(Squared)).unwrap();
    for row in stream(&Squared, 200, 4) {
        let prediction = learner.learn_one(row.features(), row.label, row.weight);
        for ledger in &mut ledgers {
            ledger.observe_one(prediction, row.label, row.weight, row.features());
        }
        constants.iter_mut().for_each(|constant| constant.observe(row.label, row.weight));
    }
    let risks = ledgers.each_ref().map(|ledger| ledger.baseline_risk().unwrap());
    assert_eq!(risks[1], 0.5 * risks[0]);
    assert_eq!(constants[0].score(), constants[1].score());
    assert_eq!(constants[1].risk_of(0.25).unwrap(), 0.5 * constants[0].risk_of(0.25).unwrap());
}

#[test]
fn the_best_of_half_squares_in_hindsight_is_found_to_rounding() {
    let mut batch = Batch::default();
    for row in stream(&Squared, 300, 5) {
        row.indices.iter().zip(&row.values).for_each(|(&index, &value)| batch.push(index, value));
        batch.finish(Some(row.label), row.weight);
    }
    let mut rows = RowsInMemory::default();
    rows.record(&batch);
    for class in [
        ComparatorClass::Unconstrained,
        ComparatorClass::Ball { radius: 0.5 },
        ComparatorClass::Standardised { radius: 10.0 },
    ] {
        let find = |loss: &dyn Loss| -> Best { best(&rows, &Serial, loss, class, 1e-3).unwrap() };
        let (whole, halved) = (find(&Squared), find(&HalfSquared));
        assert!(halved.gap <= 1e-9 * halved.loss, "{class}: {}", halved.gap);
        assert!((halved.loss - 0.5 * whole.loss).abs() <= 1e-9 * whole.loss, "{class}");
        for (one, other) in whole.weights.iter().zip(&halved.weights) {
            assert!((one - other).abs() <= 1e-6, "{class}: {one} {other}");
        }
        assert!(halved.passes <= whole.passes + 2, "{class}: {} {}", halved.passes, whole.passes);
    }
}

#[test]
fn a_name_makes_no_loss_another() {
    for name in ["squared", "hinge", "squared-hinge", "epsilon-insensitive", "zero-one"] {
        for curvature in [Curvature::Convex, Curvature::None] {
            for entry in LEARNERS {
                let built = build(entry.name, Arc::new(Named(name, curvature)));
                let is_taken = entry.losses == Losses::Convex && curvature != Curvature::None;
                assert_eq!(built.is_ok(), is_taken, "{} {name} {curvature:?}", entry.name);
            }
        }
    }
    // What it is, not what it is called: no closed form of the variance.
    let mut constant = BestConstant::new(Arc::new(Named("squared", Curvature::Convex)));
    [1.0, 1.0, -1.0].iter().for_each(|&label| constant.observe(label, 1.0));
    assert!((constant.risk().unwrap() - 2.0 / 3.0).abs() < 1e-9);
}
