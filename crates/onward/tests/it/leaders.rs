//! Leaders of the losses themselves, kinks and all (`ftl:losses=real`, `ftrl:losses=real`), against brute force after every
//! round.

use onward::loss::{self, Task};
use onward::{Features, LearnerSpec, SharedLoss};

use crate::common::{Random, Row};

const LOSSES: [&str; 9] = [
    "absolute",
    "quantile:tau=0.8",
    "epsilon-insensitive:epsilon=0.3",
    "hinge",
    "perceptron",
    "squared",
    "logistic",
    "huber",
    "squared-hinge",
];

/// Rows with few different values, so that kinks meet, and with noise.
fn rows(loss: &SharedLoss, features: u32, count: usize, seed: u64) -> Vec<Row> {
    let mut random = Random(seed);
    let row = |at: usize| {
        let values: Vec<f32> = (0..features)
            .map(|i| {
                if i == 0 {
                    1.0
                } else if seed.is_multiple_of(2) {
                    random.between(-1.0, 1.0) as f32
                } else {
                    [-1.0, 0.5, 2.0][(at * 7 + 3) % 3]
                }
            })
            .collect();
        let score = f64::from(values[values.len() - 1]) + 0.3 + random.between(-1.0, 1.0);
        let label = if loss.task() == Task::Binary { score.signum() } else { (4.0 * score).round() / 4.0 };
        let (weight, offset) = ([1.0, 2.5, 0.5][at % 3], [0.0, 0.2][at % 2]);
        Row { indices: (0..features).collect(), values, label, weight, offset }
    };
    (0..count).map(row).collect()
}

/// F, in plain loops.
fn total(loss: &SharedLoss, rows: &[Row], alpha: f64, w: &[f64]) -> f64 {
    let paid: f64 = rows.iter().map(|row| row.weight * loss.value(row.score(w), row.label)).sum();
    paid + 0.5 * alpha * w.iter().map(|w| w * w).sum::<f64>()
}

/// The least of F on the ball of one or two dimensions: a convex function of the first weight, the least over the second.
fn brute(loss: &SharedLoss, rows: &[Row], alpha: f64, radius: f64, features: usize) -> f64 {
    let over = |first: f64| match features {
        1 => total(loss, rows, alpha, &[first]),
        _ => {
            let end = (radius * radius - first * first).max(0.0).sqrt();
            ternary(-end, end, |second| total(loss, rows, alpha, &[first, second]))
        }
    };
    ternary(-radius, radius, over)
}

/// The least of a convex function.
fn ternary(mut low: f64, mut high: f64, value: impl Fn(f64) -> f64) -> f64 {
    let mut least = value(low).min(value(high));
    for _ in 0..64 {
        let (left, right) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
        let (at_left, at_right) = (value(left), value(right));
        least = least.min(at_left).min(at_right);
        if at_left < at_right { high = right } else { low = left }
    }
    least
}

fn weights(learner: &dyn onward::Learner, features: u32) -> Vec<f64> {
    let linear = learner.linear().unwrap();
    (0..features).map(|index| linear.weight(index)).collect()
}

#[test]
fn leaders_of_real_losses_are_those_of_brute_force_after_every_round() {
    for name in LOSSES {
        let loss = loss::parse(name).unwrap();
        for (learner, alpha, radius) in [
            ("ftrl:losses=real,alpha=0.5", 0.5, 50.0),
            ("ftrl:losses=real,alpha=0.001", 0.001, 200.0),
            ("ftl:losses=real,radius=0.7", 0.0, 0.7),
            ("ftl:losses=real,radius=3", 0.0, 3.0),
        ] {
            for (features, seed) in [(1, 1), (1, 2), (2, 3), (2, 4)] {
                let rows = rows(&loss, features, 24, seed);
                let specification: LearnerSpec = learner.parse().unwrap();
                let mut learner = specification.build(&loss, None).unwrap();
                for (round, row) in rows.iter().enumerate() {
                    learner.learn_one(row.features(), row.label, row.weight);
                    let w = weights(learner.as_ref(), features);
                    assert!(w.iter().map(|w| w * w).sum::<f64>().sqrt() <= radius * (1.0 + 1e-9));
                    let found = total(&loss, &rows[..=round], alpha, &w);
                    let scale = found + 1e-2;
                    if [0, 3, 9, 23].contains(&round) {
                        let least = brute(&loss, &rows[..=round], alpha, radius, features as usize);
                        let place = format!(
                            "{name}, {}, {features} features, round {round}: {found} {least}",
                            learner.describe()
                        );
                        assert!(found <= least + 1e-8 * scale, "{place}");
                        assert!(found >= least - 1e-7 * scale, "brute force is worse: {place}");
                    }
                }
            }
        }
    }
}

/// With one feature that is 1, and no ball to speak of, leaders are medians and quantiles.
#[test]
fn leaders_of_absolute_losses_are_medians() {
    for (name, tau) in [("absolute", 0.5), ("quantile:tau=0.8", 0.8)] {
        let loss = loss::parse(name).unwrap();
        let specification: LearnerSpec = "ftl:losses=real,radius=1000".parse().unwrap();
        let mut learner = specification.build(&loss, None).unwrap();
        let (mut random, mut labels) = (Random(9), Vec::new());
        for round in 1..=61 {
            let label = random.between(-100.0, 100.0).round();
            labels.push(label);
            labels.sort_by(f64::total_cmp);
            learner.learn_one(Features::new(&[0], &[1.0]).unwrap(), label, 1.0);
            // Any point between these is a quantile.
            let place = tau * f64::from(round);
            let (low, high) =
                (labels[(place.ceil() as usize).max(1) - 1], labels[(place.floor() as usize).min(labels.len() - 1)]);
            let w = learner.linear().unwrap().weight(0);
            assert!(w >= low - 1e-5 && w <= high + 1e-5, "{name} {round}: {low} {w} {high}");
        }
    }
}

#[test]
fn what_leaders_miss_is_a_small_part_of_their_bound() {
    for name in LOSSES {
        let loss = loss::parse(name).unwrap();
        for learner in
            ["ftrl:losses=real,radius=2", "ftl:losses=real,radius=2", "ftrl:losses=real,alpha=0.001,radius=2"]
        {
            let specification: LearnerSpec = learner.parse().unwrap();
            let mut learner = specification.build(&loss, None).unwrap();
            let rows = rows(&loss, 4, 60, 6);
            // Σ ℓ_t(w_t) − ℓ_t(w_{t+1}), and ½αU².
            let mut jumps = if learner.describe().starts_with("ftl") {
                0.0
            } else if learner.describe().contains("0.001") {
                0.002
            } else {
                2.0
            };
            for row in &rows {
                let paid = loss.value(learner.learn_one(row.features(), row.label, row.weight), row.label);
                jumps += row.weight * (paid - loss.value(learner.predict_one(row.features()), row.label));
            }
            let bound = learner.guarantee().bound.unwrap();
            // Sixty times 1e-9 of about 50.
            assert!(bound >= jumps - 1e-9 && bound - jumps < 3e-6, "{name} {}: {bound} {jumps}", learner.describe());
        }
    }
}
