//! One thread learns, others predict with snapshots: no prediction waits for the learner.
//!
//!     cargo run --release -p onward-examples --example serve

use std::error::Error;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::thread;

use onward::Features;
use onward::loss::Task;
use onward_engine::{Model, ModelOptions, Snapshot};

/// A click on an advertisement: where it was shown, how often, and whether somebody clicked.
fn click(t: u32) -> ([f32; 3], f64) {
    let (place, times) = ((t * 37 % 100) as f32 / 100.0, (t * 61 % 89) as f32 / 89.0);
    ([1.0, place, times], if place > times { 1.0 } else { -1.0 })
}

/// Serves predictions from two threads while 20,000 clicks come in.
pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let mut model = Model::for_indices(&ModelOptions::default(), Task::Binary)?;

    // What is served: a snapshot never changes, and a newer one takes its place. The lock is held only to swap the two.
    let served: RwLock<Arc<Snapshot>> = RwLock::new(Arc::new(model.snapshot()?));
    let current = || Arc::clone(&served.read().unwrap_or_else(PoisonError::into_inner));
    let (done, predictions) = (AtomicBool::new(false), AtomicUsize::new(0));

    thread::scope(|scope| {
        for reader in 0..2 {
            let (current, done, predictions) = (&current, &done, &predictions);
            scope.spawn(move || {
                let mut t = reader;
                while !done.load(Ordering::Relaxed) {
                    let (values, _) = click(t);
                    let x = Features::new(&[0, 1, 2], &values).expect("three different features");
                    let probability = current().response_of(x);
                    assert!((0.0..=1.0).contains(&probability));
                    predictions.fetch_add(1, Ordering::Relaxed);
                    t += 1;
                }
            });
        }
        for t in 0..20_000 {
            let (values, label) = click(t);
            model.learn_one(Features::new(&[0, 1, 2], &values)?, label, 1.0)?;
            if t % 1000 == 999 {
                *served.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(model.snapshot()?);
            }
        }
        done.store(true, Ordering::Relaxed);
        Ok::<(), Box<dyn Error>>(())
    })?;

    println!("{} predictions while learning", predictions.load(Ordering::Relaxed));
    let x = Features::new(&[0, 1, 2], &[1.0, 0.9, 0.1])?;
    assert_eq!(current().predict_one(x), model.predict_one(x));
    assert!(model.ledger().sequential_risk() < 0.2);
    Ok(())
}
