//! What four ways to the same weights cost: batch least squares, from scratch and from running
//! sums, recursive least squares, and gradient descent, which comes near them only.
//!
//! `cargo run --release -p onward --example least_squares_costs` prints, for n rows of d dense
//! features, seconds of a whole pass in which each row is predicted before it is learnt from: of
//! the processor where the system tells (Linux), so that other programs do not count. Sizes of
//! which a learner would take minutes are left out.

use std::time::Instant;

use onward::learner::LearnerSpec;
use onward::{Features, loss};

/// How many multiplications a pass over n rows of d features takes, about.
type Cost = fn(f64, f64) -> f64;

/// Learners, and what the textbook says of their cost.
const LEARNERS: [(&str, &str, Cost); 4] = [
    ("least-squares:form=scratch,rows=1000000", "n²d²+nd³", |n, d| n * n * d * d / 4.0 + n * d * d * d / 6.0),
    ("least-squares:form=running", "nd³", |n, d| n * d * d * d / 6.0),
    ("rls", "nd²", |n, d| 2.0 * n * d * d),
    ("ogd", "nd", |n, d| 2.0 * n * d),
];

/// Beyond so many multiplications a size is left out.
const MOST: f64 = 3e10;

/// Seconds that are measured at least.
const SHORTEST: f64 = 0.4;

/// n and d.
const SIZES: [(usize, usize); 7] =
    [(1_000, 10), (1_000, 50), (1_000, 200), (10_000, 10), (10_000, 50), (10_000, 200), (100_000, 50)];

/// Numbers from −1 to 1 that look random.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}

fn main() -> Result<(), onward::Error> {
    let names = LEARNERS.map(|(name, order, _)| format!("{} {order}", name.split(",rows").next().unwrap_or(name)));
    println!("| n | d | {} |\n|---|---|{}", names.join(" | "), "---|".repeat(LEARNERS.len()));
    for (rows, features) in SIZES {
        let mut cells = vec![rows.to_string(), features.to_string()];
        for (name, _, cost) in LEARNERS {
            let is_long = cost(rows as f64, features as f64) > MOST;
            cells.push(if is_long { "–".to_owned() } else { format!("{:.2e} s", seconds(name, rows, features)?) });
        }
        println!("| {} |", cells.join(" | "));
    }
    Ok(())
}

/// A pass of a learner over rows of which the labels are linear, but for noise.
fn seconds(name: &str, rows: usize, features: usize) -> Result<f64, onward::Error> {
    let mut noise = Noise(1);
    let indices: Vec<u32> = (0..features as u32).collect();
    let stream: Vec<(Vec<f32>, f64)> = (0..rows)
        .map(|_| {
            let values: Vec<f32> = (0..features).map(|_| noise.next() as f32).collect();
            let label = values.iter().map(|&value| f64::from(value)).sum::<f64>() + noise.next();
            (values, label)
        })
        .collect();
    let specification: LearnerSpec = name.parse()?;
    let squared = loss::parse("squared")?;
    let (start, start_of_processor) = (Instant::now(), processor_seconds());
    // Again and again until it takes long enough to tell: the system counts in ticks.
    let mut passes = 0;
    loop {
        passes += 1;
        let mut learner = specification.build(&squared, None)?;
        for (values, label) in &stream {
            learner.learn_one(Features::new(&indices, values)?, *label, 1.0);
        }
        let processor = processor_seconds().zip(start_of_processor).map(|(end, start)| end - start);
        let seconds = processor.unwrap_or_else(|| start.elapsed().as_secs_f64());
        if seconds >= SHORTEST {
            return Ok(seconds / f64::from(passes));
        }
    }
}

/// Seconds that this process had of the processor so far.
fn processor_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/schedstat").ok()?;
    Some(text.split(' ').next()?.parse::<f64>().ok()? * 1e-9)
}
