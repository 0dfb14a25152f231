//! The perceptron's bounds (Novikoff; hinge loss of any comparator), and its first step.

mod common;

use common::Random;
use onward::learner::Perceptron;
use onward::loss::ZeroOne;
use onward::{Features, Learner};

#[test]
fn a_score_of_zero_is_a_mistake_to_learn_from() {
    let mut learner = Perceptron::new(1.0, &ZeroOne).unwrap();
    let x = Features::new(&[0], &[1.0]).unwrap();
    learner.learn(x, 1.0, 1.0);
    assert_eq!((learner.updates(), learner.weight(0)), (1.0, Some(1.0)));
}

#[test]
fn on_separable_streams_updates_stay_below_diameter_over_margin_squared() {
    for seed in 0..20 {
        let mut random = Random(seed);
        let mut learner = Perceptron::new(1.0, &ZeroOne).unwrap();
        let direction: Vec<f64> = (0..5).map(|_| random.between(-1.0, 1.0)).collect();
        let norm = direction.iter().map(|u| u * u).sum::<f64>().sqrt();
        let (mut margin, mut diameter) = (f64::INFINITY, 0f64);
        for _ in 0..5000 {
            let values: Vec<f32> = (0..5).map(|_| random.between(-1.0, 1.0) as f32).collect();
            let score = direction.iter().zip(&values).map(|(u, &x)| u * f64::from(x)).sum::<f64>() / norm;
            if score.abs() < 0.05 {
                continue;
            }
            margin = margin.min(score.abs());
            diameter = diameter.max(values.iter().map(|&x| f64::from(x) * f64::from(x)).sum::<f64>().sqrt());
            learner.learn(Features::new(&[0, 1, 2, 3, 4], &values).unwrap(), score.signum(), 1.0);
        }
        assert!(learner.updates() > 0.0 && learner.updates() <= (diameter / margin).powi(2));
    }
}

#[test]
fn with_offsets_too_updates_exceed_the_hinge_loss_of_no_comparator_by_more_than_the_bound() {
    for (seed, toward_label) in [(7, true), (8, false), (9, true), (10, false)] {
        exceed_no_comparator(seed, |random, label| {
            let size = 0.8 * random.uniform();
            if (random.uniform() < 0.8) == toward_label { size * label } else { -size * label }
        });
    }
}

#[test]
fn on_noisy_streams_updates_exceed_the_hinge_loss_of_no_comparator_by_more_than_the_bound() {
    exceed_no_comparator(99, |_, _| 0.0);
}

fn exceed_no_comparator(seed: u64, offset: impl Fn(&mut Random, f64) -> f64) {
    let mut random = Random(seed);
    let mut learner = Perceptron::new(3.0, &ZeroOne).unwrap();
    let mut updated = Vec::new();
    for _ in 0..3000 {
        let values: Vec<f32> = (0..3).map(|_| random.between(-1.0, 1.0) as f32).collect();
        let noise = random.uniform() < 0.2;
        let label = if (values[0] > 0.0) != noise { 1.0 } else { -1.0 };
        let weight = [1.0, 2.0][(random.next() % 2) as usize];
        let before = learner.updates();
        let offset = offset(&mut random, label);
        learner.learn(Features::new(&[0, 1, 2], &values).unwrap().with_offset(offset).unwrap(), label, weight);
        if learner.updates() > before {
            updated.push((values, label, weight, offset));
        }
    }
    let bound = learner.guarantee().bound.unwrap();
    for _ in 0..500 {
        let mut u: Vec<f64> = (0..3).map(|_| random.between(-1.0, 1.0)).collect();
        let scale = 3.0 * random.uniform() / u.iter().map(|u| u * u).sum::<f64>().sqrt();
        u.iter_mut().for_each(|u| *u *= scale);
        let hinge: f64 = updated
            .iter()
            .map(|(x, y, h, b)| {
                h * (1.0 - y * (b + u.iter().zip(x).map(|(u, &x)| u * f64::from(x)).sum::<f64>())).max(0.0)
            })
            .sum();
        assert!(learner.updates() <= hinge + bound, "{} {hinge} {bound}", learner.updates());
    }
}
