//! Why following the leader fails, and what mends it.
//!
//!     cargo run -p onward-examples --example follow_the_leader
//!
//! Each round a point w of [−1, 1] pays z·w. On z = ½, −1, 1, −1, … whoever takes the point that
//! was best so far is wrong in every round: the sums ½, −½, ½, … change sign, and the leader jumps
//! from −1 to 1 and back. Descent and a regulariser hold it back.

use std::error::Error;
use std::sync::Arc;

use onward::learner::LearnerSpec;
use onward::loss::LinearLoss;
use onward::{Features, SharedLoss};

/// What a learner pays in so many rounds, and its bound on the regret, if it has one.
fn play(learner: &str, rounds: u32) -> Result<(f64, Option<f64>), Box<dyn Error>> {
    // ℓ(p, 1) = p with p = ⟨w, z⟩: online linear optimisation.
    let loss: SharedLoss = Arc::new(LinearLoss);
    let mut learner = learner.parse::<LearnerSpec>()?.build(&loss, None)?;
    let mut paid = 0.0;
    for t in 0..rounds {
        let z = match t {
            0 => 0.5,
            t if t % 2 == 1 => -1.0,
            _ => 1.0,
        };
        paid += learner.learn_one(Features::new(&[0], &[z])?, 1.0, 1.0);
    }
    Ok((paid, learner.guarantee().bound.ok()))
}

/// Plays the game with three learners at three lengths.
pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    println!("{:>6}  {:>10} {:>22} {:>22}", "T", "ftl pays", "ogd pays (bound)", "ftrl pays (bound)");
    for rounds in [10, 100, 1000] {
        let root = f64::from(rounds).sqrt();
        // The best fixed point pays −½ at most: Σz is ½ or −½.
        let best = -0.5;
        let (leader, none) = play("ftl:domain=box,radius=1", rounds)?;
        let (descent, bound) = play("ogd:domain=box,radius=1", rounds)?;
        let descent_bound = bound.ok_or("ogd has a bound")?;
        // The theorem's rate for this many rounds of gradients within ±1.
        let (regularised, bound) = play(&format!("ftrl:domain=ball,radius=1,gradient=1,rounds={rounds}"), rounds)?;
        let regularised_bound = bound.ok_or("ftrl has a bound")?;
        println!(
            "{rounds:>6}  {leader:>10.1} {:>22} {:>22}",
            format!("{descent:.2} ({descent_bound:.1})"),
            format!("{regularised:.2} ({regularised_bound:.1})")
        );
        assert_eq!(leader, f64::from(rounds) - 1.0);
        assert!(none.is_none(), "following the leader has no guarantee");
        assert!(descent - best <= descent_bound && descent_bound <= 2.0 * 2f64.sqrt() * root);
        assert!(regularised - best <= regularised_bound && regularised_bound <= root);
    }
    Ok(())
}
