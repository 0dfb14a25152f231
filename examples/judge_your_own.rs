//! Measure a predictor that is not ours against hindsight: the ledger takes any.
//!
//!     cargo run -p onward-examples --example judge_your_own

use std::error::Error;

use onward::evaluation::Ledger;
use onward::{Features, loss};

/// Judges "tomorrow is as today" on a series with a daily rhythm.
pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let mut ledger = Ledger::new(loss::parse("absolute")?);
    // The comparators: all u with ‖u‖ ≤ 30 on the features that we name.
    ledger.set_radius(Some(30.0));

    let mut yesterday = 0.0;
    for hour in 0..2_000u32 {
        let phase = f64::from(hour % 24) / 24.0 * std::f64::consts::TAU;
        let demand = 20.0 + 5.0 * phase.sin() + f64::from(hour * 7 % 5) * 0.1;
        // What a linear predictor could have used: a bias and the clock.
        let values = [1.0, phase.sin() as f32, phase.cos() as f32];
        let x = Features::new(&[0, 1, 2], &values)?;
        ledger.observe_one(yesterday, demand, 1.0, x);
        yesterday = demand;
    }

    let guarantee = ledger.certificate();
    let regret = guarantee.bound? / ledger.weight();
    println!("as-the-hour-before pays {:.3} an hour", ledger.sequential_risk());
    println!("at most {regret:.3} more than the best linear predictor on the clock, knowing the whole series");
    // The best in hindsight is off by the noise alone, 0.12 on average: the certificate must allow for it.
    assert!(ledger.sequential_risk() - regret <= 0.13);
    Ok(())
}
