//! A portfolio that is chosen anew each day, and a loss of your own.
//!
//!     cargo run -p onward-examples --example portfolio
//!
//! Each day all wealth is spread over three assets by shares w, the market multiplies asset i by r_i, and
//! wealth by ⟨w, r⟩. The loss −ln⟨w, r⟩ is none of those that Onward has: an optimiser needs nothing of it
//! but its gradient. In hindsight the best constant shares, rebalanced each day, are known, and how
//! much better they did is the regret; both optimisers say, from what happened, how large it can be.

use std::error::Error;

use onward::Features;
use onward::optimizer::mirror_descent::MirrorRate;
use onward::optimizer::ons::{KnownCurvature, OnsForm};
use onward::optimizer::{Entropic, Ons, Optimizer};

const ASSETS: usize = 3;
const DAYS: usize = 2_000;

/// What a day makes of 1 in each asset.
type Returns = [f64; ASSETS];

/// A loss of our own: its value for shares w on a day, and its gradient in w. It is convex, and
/// exp-concave with α = 1: e^{−loss} is ⟨w, r⟩, which is linear.
fn loss(w: &[f64], r: &Returns) -> f64 {
    -dot(w, r).ln()
}

fn gradient(w: &[f64], r: &Returns) -> [f64; ASSETS] {
    let wealth = dot(w, r);
    r.map(|r| -r / wealth)
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// A synthetic market, the same at every run: a bond, a share that rises, and one that swings widely.
/// Logarithms of daily returns are drift + spread·n, n nearly normal: a sum of twelve uniform numbers
/// of SplitMix64, less 6.
fn market() -> Vec<Returns> {
    let mut state = 2013u64;
    let mut uniform = move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    };
    let assets = [(0.0001, 0.001), (0.0012, 0.012), (-0.0004, 0.04)];
    let day =
        |_| assets.map(|(drift, spread)| (drift + spread * ((0..12).map(|_| uniform()).sum::<f64>() - 6.0)).exp());
    (0..DAYS).map(day).collect()
}

/// Exponentiated gradient on the simplex w ≥ 0, Σw = 1. Returns the loss of the run, and the guarantee.
fn exponentiated_gradient(market: &[Returns]) -> Result<(f64, f64), Box<dyn Error>> {
    let mut optimizer = Entropic::new(1.0, false, Some(ASSETS as u32), MirrorRate::SelfTuned)?;
    let mut paid = 0.0;
    for r in market {
        let w: Vec<f64> = (0..ASSETS).map(|i| optimizer.weight(i as u32)).collect();
        paid += loss(&w, r);
        // Shares sum to 1, so a constant added to all entries of the gradient adds the same to every
        // portfolio's: with 1 added they are small, and so is the guarantee.
        let z = gradient(&w, r).map(|z| (z + 1.0) as f32);
        optimizer.observe(1.0, Features::new(&[0, 1, 2], &z)?);
    }
    Ok((paid, optimizer.guarantee().bound?))
}

/// Directions in which the sum of shares does not change, of length 1 and at right angles.
const DIRECTIONS: [[f64; ASSETS]; 2] = [
    [std::f64::consts::FRAC_1_SQRT_2, -std::f64::consts::FRAC_1_SQRT_2, 0.0],
    // 1/√6, 1/√6, −2/√6
    [0.408_248_290_463_863, 0.408_248_290_463_863, -0.816_496_580_927_726],
];

/// The radius of the largest circle within the simplex: 1/√6.
const RADIUS: f64 = 0.408_248_290_463_863;

/// Shares from a point of the circle around equal shares.
fn shares(v: &[f64]) -> Vec<f64> {
    (0..ASSETS)
        .map(|i| 1.0 / ASSETS as f64 + DIRECTIONS.iter().zip(v).map(|(row, v)| row[i] * v).sum::<f64>())
        .collect()
}

/// The gradient of the loss in the point of the circle: the chain rule.
fn gradient_on_circle(v: &[f64], r: &Returns) -> [f64; 2] {
    let z = gradient(&shares(v), r);
    DIRECTIONS.map(|row| dot(&row, &z))
}

/// The online Newton step. Its domain is a ball, so it plays on the circle within the simplex.
fn newton(market: &[Returns]) -> Result<(f64, f64), Box<dyn Error>> {
    let mut optimizer = Ons::new(OnsForm::Full(2), RADIUS, 1.0, KnownCurvature::ExpConcave { alpha: 1.0 })?;
    let mut paid = 0.0;
    for r in market {
        let v = [optimizer.weight(0), optimizer.weight(1)];
        paid += loss(&shares(&v), r);
        let z = gradient_on_circle(&v, r).map(|z| z as f32);
        optimizer.observe(1.0, Features::new(&[0, 1], &z)?);
    }
    Ok((paid, optimizer.guarantee().bound?))
}

fn total(w: &[f64], market: &[Returns]) -> f64 {
    market.iter().map(|r| loss(w, r)).sum()
}

/// The best constant shares, by mirror descent on the whole run at once; and a loss that no constant
/// shares can be below: a convex loss is at most ⟨gradient, w⟩ − min_i gradient_i above its least.
fn best_shares(market: &[Returns]) -> (Vec<f64>, f64) {
    let mut w = vec![1.0 / ASSETS as f64; ASSETS];
    let mut gap = f64::INFINITY;
    for _ in 0..20_000 {
        let mut sum = [0.0; ASSETS];
        for r in market {
            gradient(&w, r).iter().zip(&mut sum).for_each(|(z, sum)| *sum += z);
        }
        gap = dot(&sum, &w) - sum.iter().copied().fold(f64::INFINITY, f64::min);
        if gap < GAP {
            break;
        }
        let value = dot(&sum, &w);
        w.iter_mut().zip(&sum).for_each(|(w, z)| *w *= (-0.2 * (z - value)).exp());
        let whole: f64 = w.iter().sum();
        w.iter_mut().for_each(|w| *w /= whole);
    }
    let least = total(&w, market) - gap;
    (w, least)
}

/// How near the best loss in hindsight is come to.
const GAP: f64 = 1e-4;

/// The same on the circle, by projected gradient descent; here the loss is at most
/// ⟨gradient, v⟩ + radius·‖gradient‖ above its least.
fn best_on_circle(market: &[Returns]) -> (Vec<f64>, f64) {
    let mut v = vec![0.0; 2];
    let mut gap = f64::INFINITY;
    for _ in 0..20_000 {
        let mut sum = [0.0; 2];
        for r in market {
            gradient_on_circle(&v, r).iter().zip(&mut sum).for_each(|(z, sum)| *sum += z);
        }
        gap = dot(&sum, &v) + RADIUS * dot(&sum, &sum).sqrt();
        if gap < GAP {
            break;
        }
        v.iter_mut().zip(&sum).for_each(|(v, z)| *v -= 0.1 * z);
        let size = dot(&v, &v).sqrt();
        if size > RADIUS {
            v.iter_mut().for_each(|v| *v *= RADIUS / size);
        }
    }
    let w = shares(&v);
    let least = total(&w, market) - gap;
    (w, least)
}

/// Plays 2,000 days.
pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let market = market();
    let (best, least) = best_shares(&market);
    let (circle, least_on_circle) = best_on_circle(&market);
    let (gradient_paid, gradient_bound) = exponentiated_gradient(&market)?;
    let (newton_paid, newton_bound) = newton(&market)?;

    println!("1 becomes, in {DAYS} days");
    for (i, name) in ["all in the bond", "all in the steady share", "all in the wild share"].iter().enumerate() {
        let mut alone = [0.0; ASSETS];
        alone[i] = 1.0;
        println!("{name:28} {:8.4}", (-total(&alone, &market)).exp());
    }
    println!("{:28} {:8.4}", "equal shares", (-total(&[1.0 / 3.0; ASSETS], &market)).exp());
    println!("{:28} {:8.4}", "exponentiated gradient", (-gradient_paid).exp());
    println!("{:28} {:8.4}", "online Newton step", (-newton_paid).exp());
    println!("{:28} {:8.4}  {best:.3?}", "best constant, in hindsight", (-total(&best, &market)).exp());
    println!("{:28} {:8.4}  {circle:.3?}", "best of the circle", (-total(&circle, &market)).exp());

    // Regret is a difference of logarithms of wealth. The comparator is taken at its very best.
    let (gradient_regret, newton_regret) = (gradient_paid - least, newton_paid - least_on_circle);
    println!(
        "regret of exponentiated gradient {gradient_regret:.4} ≤ {gradient_bound:.4}, against all constant shares"
    );
    println!("regret of the Newton step        {newton_regret:.4} ≤ {newton_bound:.4}, against those of the circle");
    assert!(total(&best, &market) - least < 2.0 * GAP && total(&circle, &market) - least_on_circle < 2.0 * GAP);
    // The optimisers are told gradients in single precision: 1e-7 of |z| < 1 a day.
    assert!(gradient_regret <= gradient_bound + 1e-7 * DAYS as f64);
    assert!(newton_regret <= newton_bound + 1e-7 * DAYS as f64);
    Ok(())
}
