//! `nag` against Vowpal Wabbit itself, and against its rule written plainly.

use std::path::Path;

use onward::learner::LearnerSpec;
use onward::{Features, loss};

use crate::common::{self, stream};

fn nag(loss: &str) -> Box<dyn onward::Learner> {
    "nag".parse::<LearnerSpec>().unwrap().build(loss::parse(loss).unwrap(), None).unwrap()
}

/// The rows of data/phishing.csv: nine values and the label.
fn phishing() -> Vec<(Vec<f32>, f64)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/phishing.csv");
    let text = std::fs::read_to_string(path).unwrap();
    let row = |line: &str| {
        let numbers: Vec<f32> = line.split(',').map(|cell| cell.parse().unwrap()).collect();
        (numbers[..9].to_vec(), if numbers[9] == 1.0 { 1.0 } else { -1.0 })
    };
    text.lines().skip(1).map(row).collect()
}

fn golden(name: &str) -> Vec<f64> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    std::fs::read_to_string(path).unwrap().lines().map(|line| line.parse().unwrap()).collect()
}

fn agrees_with_vowpal_wabbit(file: &str, importance: impl Fn(usize) -> f64, base: impl Fn(usize) -> f64) {
    let mut learner = nag("logistic");
    let (rows, expected) = (phishing(), golden(file));
    assert_eq!((rows.len(), expected.len()), (1250, 1250));
    for (row, ((values, label), expected)) in rows.iter().zip(&expected).enumerate() {
        let mut values = values.clone();
        values.insert(0, 1.0);
        let indices: Vec<u32> = (0..10).collect();
        let x = Features::new(&indices, &values).unwrap().with_offset(base(row)).unwrap();
        let score = learner.learn_one(x, *label, importance(row));
        // Six decimals are printed, and Vowpal Wabbit computes in f32 with approximate roots and exponentials.
        assert!((score - expected).abs() < 1e-4, "row {row}: {score} {expected}");
    }
}

#[test]
fn scores_on_phishing_are_those_of_vowpal_wabbit() {
    agrees_with_vowpal_wabbit("phishing.vw-9.11.9.predictions", |_| 1.0, |_| 0.0);
}

#[test]
fn weighted_scores_on_phishing_are_those_of_vowpal_wabbit() {
    let importance = |row: usize| match row + 1 {
        number if number % 7 == 0 => 3.0,
        number if number % 5 == 0 => 0.5,
        _ => 1.0,
    };
    agrees_with_vowpal_wabbit("phishing-weighted.vw-9.11.9.predictions", importance, |_| 0.0);
}

#[test]
fn scores_from_a_base_on_phishing_are_those_of_vowpal_wabbit() {
    let base = |row: usize| 0.5 * ((row + 1) % 5) as f64 - 1.0;
    agrees_with_vowpal_wabbit("phishing-base.vw-9.11.9.predictions", |_| 1.0, base);
}

/// The rule in raw units, as it is usually written, in f64.
struct Plain {
    w: [f64; 8],
    g: [f64; 8],
    m: [f64; 8],
    n: f64,
    t: f64,
}

impl Plain {
    fn learn(&mut self, loss: &dyn onward::Loss, row: &common::Row, range: (f64, f64)) -> f64 {
        let x: Vec<(usize, f64)> =
            row.indices.iter().zip(&row.values).map(|(&i, &x)| (i as usize, f64::from(x))).collect();
        let raw: f64 = x.iter().map(|&(i, x)| self.w[i] * x).sum();
        let p =
            if loss.task() == loss::Task::Regression { raw.clamp(range.0, range.1) } else { raw.clamp(-50.0, 50.0) };
        let g = loss.derivative(p, row.label);
        if g == 0.0 {
            return p;
        }
        for &(i, x) in &x {
            if x.abs() > self.m[i] {
                if self.m[i] > 0.0 {
                    self.w[i] *= self.m[i] / x.abs();
                }
                self.m[i] = x.abs();
            }
            self.g[i] += row.weight * g * g * x * x;
            self.n += row.weight * (x / self.m[i]).powi(2);
        }
        self.t += row.weight;
        let multiplier = (self.t / self.n).sqrt();
        let rate = |i: usize| multiplier / (self.m[i] * self.g[i].sqrt());
        let q: f64 = x.iter().map(|&(i, x)| x * x * rate(i)).sum();
        let u = loss.importance_step(p, row.label, 0.5 * row.weight, q);
        let moves: Vec<(usize, f64)> = x.iter().map(|&(i, x)| (i, u * x * rate(i))).collect();
        moves.iter().for_each(|&(i, step)| self.w[i] += step);
        p
    }
}

#[test]
fn the_rule_in_units_of_the_scale_equals_the_rule_in_raw_units() {
    // The one difference: Vowpal Wabbit lets G keep its raw sum when a scale grows, and so do we in other units.
    for name in ["logistic", "squared", "poisson"] {
        let loss = loss::parse(name).unwrap();
        let mut learner = nag(name);
        let mut plain = Plain { w: [0.0; 8], g: [0.0; 8], m: [0.0; 8], n: 0.0, t: 0.0 };
        let mut range = (0.0f64, 0.0f64);
        let log_link = name == "poisson";
        for (round, row) in stream(loss.as_ref(), 2000, 11).iter().enumerate() {
            let limits = if log_link { (-50.0, 50.0) } else { range };
            let expected = plain.learn(loss.as_ref(), row, limits);
            let score = learner.learn_one(row.features(), row.label, row.weight);
            range = (range.0.min(row.label), range.1.max(row.label));
            // Weights are f32: relative rounding 6e-8 a step, of steps that shrink like 1/√t.
            assert!((score - expected).abs() < 2e-5 * expected.abs().max(1.0), "{name} {round}: {score} {expected}");
        }
    }
}

#[test]
fn units_do_not_matter() {
    let loss = loss::parse("logistic").unwrap();
    let (mut one, mut other) = (nag("logistic"), nag("logistic"));
    for row in stream(loss.as_ref(), 500, 12) {
        let mut scaled = row.clone();
        let unit = |index: u32| 2f32.powi(7 * index as i32 - 20);
        scaled.values.iter_mut().zip(&row.indices).for_each(|(value, &index)| *value *= unit(index));
        let (a, b) =
            (one.learn_one(row.features(), row.label, 1.0), other.learn_one(scaled.features(), row.label, 1.0));
        // Powers of two scale exactly.
        assert_eq!(a.to_bits(), b.to_bits());
    }
}

#[test]
fn the_first_prediction_does_not_depend_on_the_first_label() {
    for label in [-1e9, 0.0, 5.0] {
        let mut learner = nag("squared");
        let x = Features::new(&[0, 1], &[1.0, 3.0]).unwrap();
        assert_eq!(learner.learn_one(x, label, 1.0), 0.0);
    }
}
