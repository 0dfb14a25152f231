//! Learn from rows that your own program makes.
//!
//!     cargo run -p onward-examples --example learn_in_memory

use std::error::Error;

use onward::Features;
use onward::evaluation::Ledger;
use onward::learner::LearnerSpec;
use onward::loss;

/// A stream of sensor readings: temperature and load, and whether the machine failed.
fn reading(t: u32) -> ([f32; 3], f64) {
    let temperature = (t * 37 % 100) as f32;
    let load = (t * 61 % 89) as f32 / 89.0;
    let failed = temperature / 100.0 + load > 1.2;
    ([1.0, temperature, load], if failed { 1.0 } else { -1.0 })
}

/// Learns from 5,000 readings, one at a time.
pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    // A loss says what a wrong prediction costs; a learner is asked for by name, as on the command line.
    let loss = loss::parse("logistic")?;
    let specification: LearnerSpec = "auto".parse()?;
    let mut learner = specification.build(&loss, None)?;

    // The ledger keeps what was paid. It knows nothing of the learner.
    let mut ledger = Ledger::new(learner.loss());

    for t in 0..5_000 {
        let (values, label) = reading(t);
        // Index 0 is the bias; the others are ours to choose.
        let x = Features::new(&[0, 1, 2], &values)?;
        // The prediction is made before the label is looked at; the update comes after.
        let prediction = learner.learn_one(x, label, 1.0);
        ledger.observe_one(prediction, label, 1.0, x);
    }

    let risk = ledger.sequential_risk();
    let baseline = ledger.baseline_risk().unwrap_or(f64::NAN);
    println!("{} pays {risk:.3} a round where the best constant pays {baseline:.3}", learner.describe());
    assert!(risk < 0.5 * baseline);

    // A prediction without learning: the probability that a hot, loaded machine fails.
    let x = Features::new(&[0, 1, 2], &[1.0, 95.0, 0.9])?;
    let probability = loss.inverse_link().response(learner.predict_one(x));
    println!("a machine at 95 degrees and 90% load fails with probability {probability:.3}");
    assert!(probability > 0.9);
    Ok(())
}
