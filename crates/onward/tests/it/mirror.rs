//! Mirror descent, FTRL-Proximal, coin betting, ScInOL and the online Newton step: each against a
//! plain twin that keeps everything and computes it anew, and each bound on the streams that are
//! worst for it.

use onward::domain::Domain;
use onward::guarantee::{Comparator, Guarantee};
use onward::learner::{LearnerSpec, ProblemBounds};
use onward::optimizer::coin::CoinDomain;
use onward::optimizer::mirror_descent::MirrorRate;
use onward::optimizer::ogd;
use onward::optimizer::ons::{KnownCurvature, OnsForm};
use onward::optimizer::{Coin, Entropic, FtrlProximal, Ogd, Ons, Optimizer, PNorm, Scinol};
use onward::{Features, loss};

use crate::common::{Random, Saved, best_on_ball, stream};

const INDICES: [u32; 8] = [0, 1, 2, 3, 70_000, 70_001, 5, 6];

/// A row of so many features, some of them 0.
fn row(random: &mut Random, dimension: usize, size: f64) -> Vec<f32> {
    let value = |random: &mut Random| if random.uniform() < 0.3 { 0.0 } else { random.between(-size, size) as f32 };
    (0..dimension).map(|_| value(random)).collect()
}

fn features(values: &[f32]) -> Features<'_> {
    Features::new(&INDICES[..values.len()], values).unwrap()
}

fn weights(optimizer: &dyn Optimizer, dimension: usize) -> Vec<f64> {
    INDICES[..dimension].iter().map(|&index| optimizer.weight(index)).collect()
}

fn close(one: &[f64], other: &[f64], tolerance: f64, context: &str) {
    for (a, b) in one.iter().zip(other) {
        assert!((a - b).abs() <= tolerance * a.abs().max(1.0), "{context}: {one:?} {other:?}");
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn norm(v: &[f64]) -> f64 {
    dot(v, v).sqrt()
}

/// ‖v‖_q.
fn q_norm(v: &[f64], q: f64) -> f64 {
    v.iter().map(|entry| entry.abs().powf(q)).sum::<f64>().powf(1.0 / q)
}

// ---------------------------------------------------------------- entropic

/// Hedge over experts with summed losses and priors, by log-sum-exp.
fn hedge(priors: &[f64], losses: &[f64], eta: f64) -> Vec<f64> {
    let logs: Vec<f64> = priors.iter().zip(losses).map(|(prior, loss)| prior.ln() - eta * loss).collect();
    let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let total: f64 = logs.iter().map(|log| (log - most).exp()).sum();
    logs.iter().map(|log| (log - most).exp() / total).collect()
}

#[test]
fn exponentiated_gradient_on_the_simplex_is_hedge_step_for_step() {
    for (radius, eta, size) in [(1.0, 0.3, 1.0), (5.0, 2.0, 3.0)] {
        let mut it = Entropic::new(radius, false, Some(6), MirrorRate::Fixed(eta)).unwrap();
        let (mut losses, mut random) = ([0.0; 6], Random(1));
        for round in 0..500 {
            let twin: Vec<f64> = hedge(&[1.0 / 6.0; 6], &losses, eta).iter().map(|share| radius * share).collect();
            close(&twin, &weights(&it, 6), 1e-9, &format!("round {round}"));
            let z = row(&mut random, 6, size);
            it.observe(1.0, features(&z));
            losses.iter_mut().zip(&z).for_each(|(loss, z)| *loss += radius * f64::from(*z));
        }
    }
}

#[test]
fn signed_exponentiated_gradient_is_hedge_over_both_signs() {
    let (radius, eta) = (3.0, 0.2);
    let mut it = Entropic::new(radius, true, Some(5), MirrorRate::Fixed(eta)).unwrap();
    let (mut losses, mut random) = ([0.0; 10], Random(2));
    for round in 0..500 {
        let shares = hedge(&[0.1; 10], &losses, eta);
        let twin: Vec<f64> = (0..5).map(|i| radius * (shares[i] - shares[5 + i])).collect();
        close(&twin, &weights(&it, 5), 1e-9, &format!("round {round}"));
        let z = row(&mut random, 5, 2.0);
        it.observe(-1.5, features(&z));
        for i in 0..5 {
            losses[i] -= 1.5 * radius * f64::from(z[i]);
            losses[5 + i] += 1.5 * radius * f64::from(z[i]);
        }
    }
}

#[test]
fn self_tuned_hedge_with_the_prior_by_order_of_appearance_is_its_plain_twin() {
    for is_signed in [false, true] {
        let radius = 2.0;
        let mut it = Entropic::new(radius, is_signed, None, MirrorRate::SelfTuned).unwrap();
        let mut random = Random(3);
        let (mut order, mut sums): (Vec<usize>, [f64; 6]) = (Vec::new(), [0.0; 6]);
        let (mut eta, mut squares, mut reference, mut paid) = (0.0f64, 0.0f64, 0.0f64, 0.0f64);
        for round in 0..400 {
            // Features appear one after the other.
            let mut z = row(&mut random, 6, if round == 100 { 50.0 } else { 1.0 });
            z.iter_mut().enumerate().for_each(|(i, z)| *z *= f32::from(u8::from(round >= 20 * i)));
            // The weight of what has not appeared depends on when it will: only those seen, and this row's.
            let mut known = order.clone();
            (0..6).filter(|i| z[*i] != 0.0 && !order.contains(i)).for_each(|i| known.push(i));
            let (mut priors, mut losses) = (vec![], vec![]);
            for (place, &i) in known.iter().enumerate() {
                let prior = 1.0 / ((place + 1) as f64 * (place + 2) as f64);
                priors.push(if is_signed { prior / 2.0 } else { prior });
                losses.push(radius * sums[i]);
                if is_signed {
                    priors.push(prior / 2.0);
                    losses.push(-radius * sums[i]);
                }
            }
            // The rest of the prior, on what never came.
            priors.push(1.0 / (known.len() + 1) as f64);
            losses.push(0.0);
            let shares = hedge(&priors, &losses, eta);
            let score: f64 = known
                .iter()
                .enumerate()
                .map(|(place, &i)| match is_signed {
                    true => radius * (shares[2 * place] - shares[2 * place + 1]) * f64::from(z[i]),
                    false => radius * shares[place] * f64::from(z[i]),
                })
                .sum();
            close(&[score], &[it.dot(features(&z))], 1e-9, &format!("{is_signed}, round {round}"));
            it.observe(1.0, features(&z));
            let most = z.iter().fold(0.0f64, |most, z| most.max(f64::from(z.abs())));
            if most == 0.0 {
                continue;
            }
            let regret = score + radius * most;
            paid += if eta > 0.0 { regret.min(0.5 * eta * radius * radius * most * most) } else { regret };
            order = known;
            sums.iter_mut().zip(&z).for_each(|(sum, z)| *sum += f64::from(*z));
            squares += most * most;
            let seen = order.len() as f64;
            let complexity = (if is_signed { 2.0 } else { 1.0 } * seen * (seen + 1.0)).ln();
            if squares > 1.25 * reference {
                reference = squares;
                let rate = (complexity.max(2f64.ln()) / squares).sqrt() / radius;
                eta = if eta > 0.0 { eta.min(rate) } else { rate };
            }
            close(&[complexity / eta + paid], &[it.guarantee().bound.unwrap()], 1e-9, "bound");
        }
    }
}

#[test]
fn a_million_steps_of_separable_data_leave_no_weight_without_a_number() {
    let logistic = loss::parse("logistic").unwrap();
    for name in [
        "mirror-descent:signed=false,eta=5,radius=50",
        "mirror-descent:signed=false,eta=5,radius=50,dimension=3",
        "mirror-descent:eta=5,radius=50",
    ] {
        let mut learner = name.parse::<LearnerSpec>().unwrap().build(&logistic, None).unwrap();
        let mut random = Random(4);
        for round in 0..1_000_000u32 {
            // The linear loss of a hinge that is never satisfied pushes for ever: x_1 is right, x_2 wrong.
            let y = if random.next().is_multiple_of(2) { 1.0 } else { -1.0 };
            let values = [1.0, (y * 0.01) as f32, (-y * 100.0) as f32];
            let x = features(&values[..if round % 2 == 0 { 3 } else { 2 }]);
            let p = learner.learn_one(x, y, 1.0);
            assert!(p.is_finite(), "{name} round {round}");
        }
        let all: Vec<f64> = (0..3).map(|index| learner.linear().unwrap().weight(index)).collect();
        assert!(all.iter().all(|weight| weight.is_finite()), "{name}: {all:?}");
        assert!(all.iter().map(|weight| weight.abs()).sum::<f64>() <= 50.0 * (1.0 + 1e-9), "{name}: {all:?}");
        assert!(learner.guarantee().bound.unwrap().is_finite());
    }
}

#[test]
fn a_million_steps_in_one_direction_and_back_keep_the_normaliser() {
    let mut it = Entropic::new(1.0, false, Some(3), MirrorRate::Fixed(0.7)).unwrap();
    for round in 0..1_000_000 {
        let z = if round < 500_000 { [1.0, 0.0, -0.5] } else { [-1.0, 0.0, 0.5] };
        it.observe(1.0, features(&z));
        if round % 50_000 == 0 || round > 999_990 {
            let total: f64 = weights(&it, 3).iter().sum();
            assert!((total - 1.0).abs() < 1e-9, "round {round}: {total}");
        }
    }
    // All sums are 0 again.
    close(&weights(&it, 3), &[1.0 / 3.0; 3], 1e-6, "at the end");
}

// ---------------------------------------------------------------- p-norm

#[test]
fn the_two_norm_is_gradient_descent_step_for_step() {
    let (mut it, mut twin) = (
        PNorm::new(2.0, 1.5, true, MirrorRate::SelfTuned).unwrap(),
        Ogd::new(Domain::Ball(1.5), 1.5, ogd::OgdRate::SelfTuned).unwrap(),
    );
    let mut random = Random(5);
    for round in 0..300 {
        let z = row(&mut random, 8, 2.0);
        it.observe(-0.7, features(&z));
        twin.observe(-0.7, features(&z));
        close(&weights(&it, 8), &weights(&twin, 8), 1e-11, &format!("round {round}"));
        close(&[it.guarantee().bound.unwrap()], &[twin.guarantee().bound.unwrap()], 1e-9, "bound");
    }
    let logistic = loss::parse("logistic").unwrap();
    let build = |name: &str| name.parse::<LearnerSpec>().unwrap().build(&logistic, Some(3.0)).unwrap();
    let (mut it, mut twin) = (build("mirror-descent:map=euclidean"), build("ogd"));
    for row in stream(logistic.as_ref(), 300, 6) {
        let one = it.learn_one(row.features(), row.label, row.weight);
        let other = twin.learn_one(row.features(), row.label, row.weight);
        assert!((one - other).abs() < 1e-4, "{one} {other}");
    }
}

#[test]
fn p_norms_are_their_plain_twin() {
    for (p, rate, is_projected, radius) in [
        (1.3, MirrorRate::SelfTuned, true, 0.8),
        (1.05, MirrorRate::SelfTuned, true, 2.0),
        (1.7, MirrorRate::Fixed(0.1), true, 1.0),
        (1.7, MirrorRate::Fixed(0.1), false, 1.0),
        (2.0, MirrorRate::Fixed(0.1), false, 1.0),
    ] {
        let q = p / (p - 1.0);
        let mut it = PNorm::new(p, radius, is_projected, rate).unwrap();
        let (mut theta, mut squares, mut paid, mut eta) = (vec![0.0; 7], 0.0, 0.0, 0.0);
        let mut random = Random(7);
        for round in 0..300 {
            let size = q_norm(&theta, q);
            let link = |entry: &f64| match *entry == 0.0 {
                true => 0.0,
                false => entry.signum() * size * (entry.abs() / size).powf(q - 1.0),
            };
            let twin: Vec<f64> = theta.iter().map(link).collect();
            close(&twin, &weights(&it, 7), 1e-9, &format!("p = {p}, round {round}"));
            let z: Vec<f64> = row(&mut random, 7, 3.0).iter().map(|z| f64::from(*z)).collect();
            it.observe(2.0, features(&z.iter().map(|z| *z as f32).collect::<Vec<_>>()));
            let square = 4.0 * q_norm(&z, q).powi(2);
            squares += square;
            eta = match rate {
                MirrorRate::Fixed(eta) => eta,
                MirrorRate::SelfTuned => radius * (2.0 * (p - 1.0) / squares).sqrt(),
            };
            paid += eta * square;
            theta.iter_mut().zip(&z).for_each(|(theta, z)| *theta -= eta * 2.0 * z);
            let size = q_norm(&theta, q);
            if is_projected && size > radius {
                theta.iter_mut().for_each(|theta| *theta *= radius / size);
            }
        }
        let divergence = if rate == MirrorRate::SelfTuned { 2.0 } else { 0.5 } * radius * radius;
        close(&[divergence / eta + paid / (2.0 * (p - 1.0))], &[it.guarantee().bound.unwrap()], 1e-9, "bound");
    }
}

#[test]
fn the_projection_of_the_p_norm_is_the_nearest_point_in_its_divergence() {
    // D_ψ(v, w) = ½‖v‖_p² + ½‖w‖_p² − ⟨∇ψ(w), v⟩ for w = (1, 2)·s outside of the ball, over the boundary in two dimensions.
    let (p, radius) = (1.4f64, 1.0);
    let q = p / (p - 1.0);
    let theta = [0.5f64, -1.7];
    let mut it = PNorm::new(p, radius, true, MirrorRate::Fixed(1.0)).unwrap();
    it.observe(-1.0, features(&[0.5, -1.7]));
    let found = weights(&it, 2);
    let theta: Vec<f64> = theta.iter().map(|entry| f64::from(*entry as f32)).collect();
    let divergence = |v: &[f64]| 0.5 * q_norm(v, p).powi(2) - dot(&theta, v);
    let mut best = (f64::INFINITY, vec![]);
    for step in 0..20_000 {
        let angle = f64::from(step) / 20_000.0 * std::f64::consts::TAU;
        let direction = [angle.cos(), angle.sin()];
        let v: Vec<f64> = direction.iter().map(|entry| radius * entry / q_norm(&direction, p)).collect();
        if divergence(&v) < best.0 {
            best = (divergence(&v), v);
        }
    }
    assert!(q_norm(&theta, q) > radius && (q_norm(&found, p) - radius).abs() < 1e-12);
    close(&found, &best.1, 1e-3, "projection");
    assert!(divergence(&found) <= best.0 + 1e-12);
}

// ---------------------------------------------------------------- FTRL-Proximal

#[test]
fn ftrl_proximal_minimises_what_it_says() {
    let (alpha, beta, l1, l2) = (0.4, 0.7, 1.2, 0.3);
    let mut it = FtrlProximal::new(alpha, beta, l1, l2, 1.0).unwrap();
    let mut random = Random(8);
    // (z, σ, w) of the rounds with a gradient.
    let mut history: Vec<(f64, f64, f64)> = Vec::new();
    let mut zeros = 0;
    for round in 0..200 {
        let z = row(&mut random, 1, 2.0)[0];
        let w = it.weight(0);
        let objective = |w: f64| {
            let linear: f64 = history.iter().map(|(z, ..)| z * w).sum();
            let proximal: f64 = history.iter().map(|(_, sigma, at)| 0.5 * sigma * (w - at) * (w - at)).sum();
            linear + l1 * w.abs() + 0.5 * (l2 + beta / alpha) * w * w + proximal
        };
        // Convex: no neighbour is lower.
        for step in [1e-3, 1e-2, 0.1, 1.0] {
            assert!(objective(w) <= objective(w + step) && objective(w) <= objective(w - step), "round {round}");
        }
        let sum: f64 = history.iter().map(|(z, sigma, at)| z - sigma * at).sum();
        assert_eq!(sum.abs() <= l1, w == 0.0, "round {round}: {sum} {w}");
        zeros += usize::from(w == 0.0);
        it.observe(1.0, features(&[z]));
        if z != 0.0 {
            let before: f64 = history.iter().map(|(z, ..)| z * z).sum();
            let sigma = ((before + f64::from(z * z)).sqrt() - before.sqrt()) / alpha;
            history.push((f64::from(z), sigma, w));
        }
    }
    assert!(zeros > 3 && zeros < 190, "{zeros}");
    // The bound at u = ±U, from the history.
    let bound = |u: f64| {
        let mut squares = 0.0;
        let mut bound = l1 * u.abs() + 0.5 * (l2 + beta / alpha) * u * u;
        for (z, sigma, at) in &history {
            squares += z * z;
            bound += 0.5 * sigma * (u - at).powi(2) + 0.5 * z * z / ((beta + f64::sqrt(squares)) / alpha + l2);
        }
        bound
    };
    // z² was taken in f32 above.
    close(&[bound(1.0).max(bound(-1.0))], &[it.guarantee().bound.unwrap()], 1e-6, "bound");
}

// ---------------------------------------------------------------- coin betting

#[test]
fn coins_are_their_plain_twin_and_wealth_stays_positive() {
    let epsilon = 0.5;
    let mut it = Coin::new(epsilon, 2.0, CoinDomain::Box, None).unwrap();
    let mut random = Random(9);
    let mut history: Vec<(f64, f64)> = Vec::new();
    let mut paid = 0.0;
    for round in 0..400u32 {
        // With the scale growing by leaps, against the bet.
        let size = f64::from(1u32 << (round / 40));
        let sign = if random.uniform() < 0.7 { -1.0 } else { it.weight(0).signum() };
        let z = f64::from((sign * random.between(0.5, size)) as f32);
        let mut largest = 0.0f64;
        let (mut coins, mut reward) = (0.0, 0.0);
        for &(z, w) in &history {
            let cut = if largest > 0.0 { z.clamp(-largest, largest) } else { z };
            coins -= cut;
            reward -= cut * w;
            largest = largest.max(z.abs());
            assert!(epsilon + reward / largest > 0.0, "round {round}");
            assert!(coins.abs() <= history.len() as f64 * largest);
        }
        let w = match history.is_empty() {
            true => 0.0,
            false => coins / largest / (history.len() as f64 + 1.0) * (epsilon + reward / largest),
        };
        close(&[w], &[it.weight(0)], 1e-9, &format!("round {round}"));
        paid += z * it.weight(0);
        history.push((z, it.weight(0)));
        it.observe(1.0, features(&[z as f32]));
    }
    let theta: f64 = -history.iter().map(|(z, _)| z).sum::<f64>();
    close(&[paid + 2.0 * theta.abs()], &[it.guarantee().bound.unwrap()], 1e-9, "bound");
}

#[test]
fn coins_of_a_known_scale_keep_the_promise_of_their_theorem() {
    let linear: onward::SharedLoss = std::sync::Arc::new(loss::LinearLoss);
    for class in ["ball", "box"] {
        for (kind, mut adversary) in adversaries() {
            let name = format!("coin:class={class},gradient=1,epsilon=1");
            let specification: LearnerSpec = name.parse().unwrap();
            let class = if class == "ball" { CoinDomain::Ball } else { CoinDomain::Box };
            let mut it = Coin::new(1.0, 3.0, class, Some(1.0)).unwrap();
            if kind == "growing" {
                continue;
            }
            play(&mut it, 1000, 4, &mut adversary);
            let scales = ProblemBounds { rounds: 1000.0, norm: 2.0, dimension: 4.0, ..ProblemBounds::default() };
            let promise = specification.plan(&linear, Some(3.0), &scales).unwrap().bound.unwrap();
            assert!(it.guarantee().bound.unwrap() <= promise, "{kind}: {:?} {promise}", it.guarantee());
        }
    }
}

// ---------------------------------------------------------------- ScInOL

#[test]
fn scinol_is_the_rule_of_its_paper_for_slopes_within_one() {
    let mut it = Scinol::new(1.3).unwrap();
    let mut random = Random(10);
    let (mut largest, mut squares, mut sum, mut eta) = (0.0f64, 0.0, 0.0, 1.3);
    for round in 0..500 {
        let x = (random.between(-1.0, 1.0) * f64::from(1u32 << (round / 50))) as f32;
        let g = random.between(-1.0, 0.8);
        largest = largest.max(f64::from(x.abs()));
        let v: f64 = squares + largest * largest;
        let theta: f64 = sum / v.sqrt();
        let w = theta.clamp(-1.0, 1.0) * eta / (2.0 * v.sqrt());
        let score = it.dot(features(&[x]));
        assert!((score - w * f64::from(x)).abs() <= 1e-9 * score.abs().max(1.0), "round {round}: {score}");
        it.observe(g, features(&[x]));
        let z = g * f64::from(x);
        squares += z * z;
        sum -= z;
        eta -= z * w;
        assert!(eta > 0.0);
    }
}

#[test]
fn scinol_predicts_the_same_in_any_units() {
    let logistic = loss::parse("logistic").unwrap();
    let build = || "scinol".parse::<LearnerSpec>().unwrap().build(&logistic, None).unwrap();
    let (mut one, mut other) = (build(), build());
    for row in stream(logistic.as_ref(), 300, 11) {
        let units = |index: u32| if index.is_multiple_of(2) { 1024.0 } else { 1.0 / 4096.0 };
        let scaled: Vec<f32> =
            row.indices.iter().zip(&row.values).map(|(&index, value)| value * units(index)).collect();
        let scaled = Features::new(&row.indices, &scaled).unwrap();
        let a = one.learn_one(row.features(), row.label, row.weight);
        let b = other.learn_one(scaled, row.label, row.weight);
        // Powers of two: to the bit.
        assert!((a - b).abs() <= 1e-12 * a.abs().max(1.0), "{a} {b}");
    }
}

// ---------------------------------------------------------------- online Newton step

/// Solves Av = b by Gaussian elimination with pivots.
fn solve(matrix: &[Vec<f64>], right: &[f64]) -> Vec<f64> {
    let size = right.len();
    let mut rows: Vec<Vec<f64>> = matrix.to_vec();
    rows.iter_mut().zip(right).for_each(|(row, value)| row.push(*value));
    for k in 0..size {
        let pivot = (k..size).max_by(|&a, &b| rows[a][k].abs().total_cmp(&rows[b][k].abs())).unwrap();
        rows.swap(k, pivot);
        let pivot = rows[k].clone();
        for row in &mut rows[k + 1..] {
            let factor = row[k] / pivot[k];
            row.iter_mut().zip(&pivot).for_each(|(entry, above)| *entry -= factor * above);
        }
    }
    let mut v = vec![0.0; size];
    for k in (0..size).rev() {
        let known: f64 = (k + 1..size).map(|j| rows[k][j] * v[j]).sum();
        v[k] = (rows[k][size] - known) / rows[k][k];
    }
    v
}

#[test]
fn the_full_newton_step_is_its_plain_dense_twin() {
    let (radius, alpha, gradient, d) = (0.7, 0.5, 4.0, 4);
    let gamma = 0.5 * f64::min(1.0 / (4.0 * gradient * 2.0 * radius), alpha);
    let epsilon = Ons::textbook_epsilon(radius, alpha, gradient);
    let mut it = Ons::new(OnsForm::Full(128), radius, epsilon, KnownCurvature::Bounded { alpha, gradient }).unwrap();
    // A of the textbook: ε = 1/(γ²D²).
    let mut a: Vec<Vec<f64>> = (0..d).map(|i| (0..d).map(|j| f64::from(u8::from(i == j))).collect()).collect();
    a.iter_mut().flatten().for_each(|entry| *entry /= (gamma * 2.0 * radius).powi(2));
    let (mut w, mut paid, mut projections) = (vec![0.0; d], 0.0, 0);
    let mut random = Random(12);
    for round in 0..400 {
        let z: Vec<f32> = row(&mut random, d, 2.0).iter().map(|z| z + if round % 3 == 0 { 0.0 } else { 0.4 }).collect();
        let z: Vec<f32> = z.iter().map(|z| z.clamp(-2.0, 2.0)).collect();
        it.observe(1.0, features(&z));
        let z: Vec<f64> = z.iter().map(|z| f64::from(*z)).collect();
        (0..d).for_each(|i| (0..d).for_each(|j| a[i][j] += z[i] * z[j]));
        let step = solve(&a, &z);
        paid += dot(&z, &step);
        w.iter_mut().zip(&step).for_each(|(w, step)| *w -= step / gamma);
        if norm(&w) > radius {
            projections += 1;
            let target: Vec<f64> = a.iter().map(|row| dot(row, &w)).collect();
            let at = |lambda: f64| {
                let mut shifted = a.clone();
                (0..d).for_each(|i| shifted[i][i] += lambda);
                solve(&shifted, &target)
            };
            let (mut low, mut high) = (0.0, 1e9);
            for _ in 0..200 {
                let middle = 0.5 * (low + high);
                if norm(&at(middle)) > radius { low = middle } else { high = middle }
            }
            w = at(high);
        }
        close(&w, &weights(&it, d), 1e-8, &format!("round {round}"));
    }
    assert!(projections > 20, "{projections}");
    let bound = paid / (2.0 * gamma) + gamma / 2.0 / (gamma * 2.0 * radius).powi(2) * radius * radius;
    close(&[bound], &[it.guarantee().bound.unwrap()], 1e-9, "bound");
}

#[test]
fn the_newton_step_of_squared_loss_is_ridge_regression() {
    let squared = loss::parse("squared").unwrap();
    let specification: LearnerSpec = "ons:epsilon=0.5,radius=1e6".parse().unwrap();
    let mut learner = specification.build(&squared, None).unwrap();
    let d = 8;
    let mut normal: Vec<Vec<f64>> = (0..d).map(|i| (0..d).map(|j| if i == j { 0.5 } else { 0.0 }).collect()).collect();
    let mut right = vec![0.0; d];
    for row in stream(squared.as_ref(), 200, 13) {
        let twin = solve(&normal, &right);
        let score = learner.learn_one(row.features(), row.label, row.weight);
        assert!((score - row.score(&twin)).abs() < 1e-9, "{score} {}", row.score(&twin));
        let mut x = vec![0.0; d];
        row.indices.iter().zip(&row.values).for_each(|(&index, &value)| x[index as usize] = f64::from(value));
        for i in 0..d {
            right[i] += 2.0 * row.weight * row.label * x[i];
            (0..d).for_each(|j| normal[i][j] += 2.0 * row.weight * x[i] * x[j]);
        }
    }
}

#[test]
fn the_bound_of_the_newton_step_is_not_zero_after_one_round() {
    let squared = loss::parse("squared").unwrap();
    for name in ["ons:radius=2", "ons:radius=2,alpha=0.01,gradient=4", "ons:radius=2,alpha=0.01"] {
        let mut learner = name.parse::<LearnerSpec>().unwrap().build(&squared, None).unwrap();
        let p = learner.learn_one(features(&[1.0]), 1.0, 1.0);
        // u = 1 pays nothing.
        let regret = squared.value(p, 1.0);
        let bound = learner.guarantee().bound.unwrap();
        assert!(regret == 1.0 && bound >= regret, "{name}: {bound}");
    }
}

#[test]
fn the_newton_step_says_when_its_theorem_does_not_hold() {
    let reason = |name: &str, loss_name: &str, d: usize| {
        let mut learner = name.parse::<LearnerSpec>().unwrap().build(loss::parse(loss_name).unwrap(), None).unwrap();
        learner.learn_one(features(&[1.0; 8][..d]), 1.0, 1.0);
        learner.guarantee().bound.err()
    };
    assert_eq!(reason("ons", "squared", 8), None);
    assert!(reason("ons", "absolute", 2).unwrap().contains("curve"));
    assert!(reason("ons:form=diagonal", "squared", 2).unwrap().contains("form=full"));
    assert!(reason("ons:form=sketched", "squared", 2).unwrap().contains("form=full"));
    assert!(reason("ons:limit=3", "squared", 8).unwrap().contains("limit"));
    assert!(reason("ons:alpha=1,gradient=0.1", "squared", 1).unwrap().contains("0.1"));
}

// ---------------------------------------------------------------- all

/// Every optimiser of this file, for dimension 6 at most.
fn all() -> Vec<Box<dyn Optimizer>> {
    let newton = |form| Ons::new(form, 2.0, 1.0, KnownCurvature::ExpConcave { alpha: 0.5 }).unwrap();
    vec![
        Box::new(Entropic::new(2.0, true, None, MirrorRate::SelfTuned).unwrap()),
        Box::new(Entropic::new(2.0, false, None, MirrorRate::SelfTuned).unwrap()),
        Box::new(Entropic::new(2.0, true, Some(6), MirrorRate::Fixed(0.1)).unwrap()),
        Box::new(PNorm::new(1.4, 2.0, true, MirrorRate::SelfTuned).unwrap()),
        Box::new(PNorm::new(2.0, 2.0, true, MirrorRate::SelfTuned).unwrap()),
        Box::new(FtrlProximal::new(0.5, 1.0, 0.5, 0.1, 2.0).unwrap()),
        Box::new(Coin::new(1.0, 2.0, CoinDomain::Ball, None).unwrap()),
        Box::new(Scinol::new(1.0).unwrap()),
        Box::new(newton(OnsForm::Full(10))),
        Box::new(newton(OnsForm::Full(3))),
        Box::new(newton(OnsForm::Diagonal)),
        Box::new(newton(OnsForm::Sketched(2))),
    ]
}

#[test]
fn dense_equals_sparse() {
    for (mut dense, mut sparse) in all().into_iter().zip(all()) {
        let mut random = Random(14);
        for round in 0..300 {
            let z = row(&mut random, 6, 1.5);
            let there: Vec<usize> = (0..6).filter(|&i| z[i] != 0.0).collect();
            let indices: Vec<u32> = there.iter().map(|&i| INDICES[i]).collect();
            let values: Vec<f32> = there.iter().map(|&i| z[i]).collect();
            let few = Features::new(&indices, &values).unwrap();
            let (one, other) = (dense.dot(features(&z)), sparse.dot(few));
            assert!((one - other).abs() < 1e-8, "{} round {round}: {one} {other}", dense.describe());
            dense.observe(0.8, features(&z));
            sparse.observe(0.8, few);
        }
        close(&weights(dense.as_ref(), 6), &weights(sparse.as_ref(), 6), 1e-8, &dense.describe());
    }
}

type Adversary = Box<dyn FnMut(usize, &[f64]) -> Vec<f32>>;

/// Who chooses the gradient, knowing the round and the point.
fn adversaries() -> Vec<(&'static str, Adversary)> {
    let mut coins = Random(15);
    let mut one = Random(16);
    let mut grown = Random(17);
    let mut sign = move || if coins.next().is_multiple_of(2) { 1.0 } else { -1.0f32 };
    vec![
        ("random signs", Box::new(move |_, w: &[f64]| w.iter().map(|_| sign()).collect())),
        (
            "one random sign",
            Box::new(move |_, w: &[f64]| {
                let sign = if one.next().is_multiple_of(2) { 1.0 } else { -1.0 };
                (0..w.len()).map(|i| if i == 0 { sign } else { 0.0 }).collect()
            }),
        ),
        ("against the point", Box::new(|_, w: &[f64]| w.iter().map(|w| if *w > 0.0 { 1.0 } else { -1.0 }).collect())),
        (
            "against one weight",
            Box::new(|_, w: &[f64]| {
                let z = if w[0] > 0.0 { 1.0 } else { -1.0 };
                (0..w.len()).map(|i| if i == 0 { z } else { 0.0 }).collect()
            }),
        ),
        ("one direction", Box::new(|_, w: &[f64]| (0..w.len()).map(|i| if i == 0 { -1.0 } else { 0.0 }).collect())),
        (
            "there and back",
            Box::new(|t, w: &[f64]| {
                let z = if (t + 1).ilog2().is_multiple_of(2) { -1.0 } else { 1.0 };
                (0..w.len()).map(|i| if i == 0 { z } else { 0.0 }).collect()
            }),
        ),
        (
            "growing",
            Box::new(move |t, w: &[f64]| {
                let size = f64::from(1u32 << (t / 40).min(20));
                w.iter().map(|w| (w.signum() * grown.between(0.1, size)) as f32).collect()
            }),
        ),
    ]
}

/// What was paid on ⟨w_t, z_t⟩, and Σz_t.
fn play(optimizer: &mut dyn Optimizer, rounds: usize, dimension: usize, adversary: &mut Adversary) -> (f64, Vec<f64>) {
    let (mut paid, mut sums) = (0.0, vec![0.0; dimension]);
    for t in 0..rounds {
        let z = adversary(t, &weights(optimizer, dimension));
        paid += optimizer.dot(features(&z));
        sums.iter_mut().zip(&z).for_each(|(sum, z)| *sum += f64::from(*z));
        optimizer.observe(1.0, features(&z));
    }
    (paid, sums)
}

/// The regret of linear losses against a class.
fn linear_regret(paid: f64, sums: &[f64], class: Comparator) -> f64 {
    let sizes = || sums.iter().map(|sum| sum.abs());
    paid + match class {
        Comparator::Ball(radius) => radius * norm(sums),
        Comparator::Box(radius) => radius * sizes().sum::<f64>(),
        Comparator::L1Ball(radius) => radius * sizes().fold(0.0, f64::max),
        Comparator::Simplex(radius) => -radius * sums.iter().copied().fold(f64::INFINITY, f64::min),
        Comparator::PNormBall { p, radius } => radius * q_norm(sums, p / (p - 1.0)),
        other => panic!("{other:?}"),
    }
}

/// Optimisers, and how much of their bound the worst of the games must reach: above a half, half of it
/// would be refuted.
type Case = (f64, Box<dyn Fn() -> Box<dyn Optimizer>>);

fn of_linear_losses() -> Vec<Case> {
    fn boxed(optimizer: impl Optimizer + 'static) -> Box<dyn Optimizer> {
        Box::new(optimizer)
    }
    // gradient = 1, rounds = 400.
    let textbook = |complexity: f64| MirrorRate::Fixed((2.0 * complexity / 400.0f64).sqrt() / 3.0);
    let auto = MirrorRate::SelfTuned;
    vec![
        (0.85, Box::new(move || boxed(Entropic::new(3.0, true, Some(4), textbook(8f64.ln())).unwrap()))),
        (0.85, Box::new(move || boxed(Entropic::new(3.0, false, Some(4), textbook(4f64.ln())).unwrap()))),
        (0.53, Box::new(move || boxed(Entropic::new(3.0, true, Some(4), auto).unwrap()))),
        (0.53, Box::new(move || boxed(Entropic::new(3.0, false, Some(4), auto).unwrap()))),
        (0.5, Box::new(move || boxed(Entropic::new(3.0, true, None, auto).unwrap()))),
        (0.53, Box::new(move || boxed(Entropic::new(3.0, false, None, auto).unwrap()))),
        (0.95, Box::new(|| boxed(PNorm::new(2.0, 3.0, false, MirrorRate::Fixed(0.15)).unwrap()))),
        (0.9, Box::new(|| boxed(PNorm::new(2.0, 3.0, true, MirrorRate::Fixed(0.15)).unwrap()))),
        (0.8, Box::new(|| boxed(PNorm::new(1.5, 3.0, false, MirrorRate::Fixed(0.1)).unwrap()))),
        (0.35, Box::new(move || boxed(PNorm::new(1.5, 3.0, true, auto).unwrap()))),
        (0.55, Box::new(move || boxed(PNorm::new(2.0, 3.0, true, auto).unwrap()))),
        (0.75, Box::new(|| boxed(FtrlProximal::new(3.0, 1.0, 1.0, 0.0, 3.0).unwrap()))),
        (0.9, Box::new(|| boxed(FtrlProximal::new(0.5, 1.0, 1.0, 0.0, 1.0).unwrap()))),
        (0.999, Box::new(|| boxed(Coin::new(1.0, 3.0, CoinDomain::Ball, None).unwrap()))),
        (0.999, Box::new(|| boxed(Coin::new(1.0, 3.0, CoinDomain::Box, None).unwrap()))),
    ]
}

#[test]
fn bounds_hold_in_every_linear_game_and_are_not_vacuous_in_the_worst() {
    for (least, build) in of_linear_losses() {
        let mut worst = (0.0, String::new());
        for dimension in [1, 2, 4] {
            for rounds in [1, 3, 10, 40, 400] {
                for (kind, mut adversary) in adversaries() {
                    let mut it = build();
                    let (paid, sums) = play(it.as_mut(), rounds, dimension, &mut adversary);
                    let Guarantee { comparator, bound, .. } = it.guarantee();
                    let (bound, class) = (bound.unwrap(), comparator.unwrap());
                    let regret = linear_regret(paid, &sums, class);
                    let context = format!("{} {kind} T={rounds} d={dimension}: {regret} {bound}", it.describe());
                    assert!(regret <= bound + 1e-9 * bound.abs().max(1.0), "{context}");
                    if bound > 0.0 && regret / bound > worst.0 {
                        worst = (regret / bound, context);
                    }
                }
            }
        }
        println!("{:.3} {}", worst.0, worst.1);
        assert!(worst.0 >= least, "{:?}", worst);
    }
}

#[test]
fn the_bound_of_the_newton_step_is_not_vacuous_on_labels_without_a_pattern() {
    let squared = loss::parse("squared").unwrap();
    // α = 1/(2·3²): |p − y| ≤ 3 on the ball.
    let cases =
        [("ons:radius=2", 0.6), ("ons:radius=2,alpha=0.0555", 0.6), ("ons:radius=2,alpha=0.0555,gradient=6", 0.25)];
    for (name, least) in cases {
        let mut worst = 0.0f64;
        for seed in 0..20 {
            for sign in [1.0, -1.0] {
                let mut learner = name.parse::<LearnerSpec>().unwrap().build(&squared, None).unwrap();
                let mut random = Random(seed);
                let (mut rows, mut paid) = (Vec::new(), 0.0);
                for round in 0..64 {
                    // At random, or away from the prediction.
                    let p = learner.predict_one(features(&[1.0]));
                    let away = seed % 2 == 0 && p != 0.0;
                    let y = if away {
                        -p.signum()
                    } else if random.uniform() < 0.5 {
                        sign
                    } else {
                        -sign
                    };
                    paid += squared.value(learner.learn_one(features(&[1.0]), y, 1.0), y);
                    rows.push(y);
                    let mean = (rows.iter().sum::<f64>() / rows.len() as f64).clamp(-2.0, 2.0);
                    let regret = paid - rows.iter().map(|y| squared.value(mean, *y)).sum::<f64>();
                    let bound = learner.guarantee().bound.unwrap();
                    assert!(regret <= bound * (1.0 + 1e-9), "{name} {round}: {regret} {bound}");
                    worst = worst.max(regret / bound);
                }
            }
        }
        println!("{worst:.3} {name}");
        assert!(worst >= least, "{name}: {worst}");
    }
}

#[test]
fn bounds_hold_for_curved_and_kinked_losses() {
    let names = [
        "mirror-descent",
        "mirror-descent:eta=0.1",
        "mirror-descent:signed=false",
        "mirror-descent:map=pnorm",
        "mirror-descent:map=pnorm,p=1.1,project=false,eta=0.01",
        "mirror-descent:map=euclidean",
        "ftrl-proximal",
        "ons",
        "coin",
        "coin:class=box",
    ];
    for name in names {
        for loss_name in ["squared", "absolute", "logistic", "hinge", "squared-hinge", "poisson"] {
            let loss = loss::parse(loss_name).unwrap();
            let mut learner = name.parse::<LearnerSpec>().unwrap().build(&loss, Some(2.0)).unwrap();
            let rows = stream(loss.as_ref(), 256, 18);
            let mut paid = 0.0;
            for row in &rows {
                let p = learner.learn_one(row.features(), row.label, row.weight);
                paid += row.weight * loss.value(p, row.label);
            }
            let Guarantee { comparator, bound, .. } = learner.guarantee();
            let (Ok(bound), Some(class)) = (bound, comparator) else {
                assert!(name == "ons" && ["absolute", "hinge"].contains(&loss_name), "{name} {loss_name}");
                continue;
            };
            let radius = class.radius().unwrap();
            // Corners and points of the class; on a ball the best one.
            let mut best = f64::INFINITY;
            let mut random = Random(19);
            for trial in 0..300 {
                let mut u: Vec<f64> = (0..8).map(|_| random.between(-1.0, 1.0)).collect();
                if trial < 16 {
                    u = (0..8)
                        .map(|i| if i == trial / 2 { if trial % 2 == 0 { 1.0 } else { -1.0 } } else { 0.0 })
                        .collect();
                }
                let size = match class {
                    Comparator::Ball(_) => norm(&u),
                    Comparator::Box(_) => u.iter().fold(0.0, |most, u| u.abs().max(most)),
                    Comparator::L1Ball(_) => u.iter().map(|u| u.abs()).sum(),
                    Comparator::PNormBall { p, .. } => q_norm(&u, p),
                    Comparator::Simplex(_) => {
                        u.iter_mut().for_each(|u| *u = u.abs());
                        u.iter().sum()
                    }
                    other => panic!("{other:?}"),
                };
                u.iter_mut().for_each(|u| *u *= radius / size);
                best = best.min(rows.iter().map(|row| row.weight * loss.value(row.score(&u), row.label)).sum());
            }
            if let Comparator::Ball(_) = class {
                best = best.min(best_on_ball(&rows, loss.as_ref(), radius, 8));
            }
            assert!(paid - best <= bound, "{name} {loss_name}: {} {bound}", paid - best);
        }
    }
}

#[test]
fn plans_are_not_below_what_the_bounds_become() {
    let names = [
        "mirror-descent",
        "mirror-descent:dimension=8",
        "mirror-descent:signed=false",
        "mirror-descent:signed=false,dimension=8",
        "mirror-descent:dimension=8,gradient=10,rounds=512",
        "mirror-descent:eta=0.1",
        "mirror-descent:map=pnorm",
        "mirror-descent:map=pnorm,p=1.1",
        "mirror-descent:map=pnorm,gradient=10,rounds=512",
        "mirror-descent:map=euclidean",
        "ons",
        "ons:alpha=0.01",
        "ons:alpha=0.01,gradient=100",
    ];
    let mut compared = 0;
    for name in names {
        for loss_name in ["squared", "absolute", "logistic", "squared-hinge", "poisson"] {
            let loss = loss::parse(loss_name).unwrap();
            let specification: LearnerSpec = name.parse().unwrap();
            for (radius, rounds) in [(0.5, 1), (0.5, 100), (2.0, 512)] {
                let mut learner = specification.build(&loss, Some(radius)).unwrap();
                let mut scales = ProblemBounds { rounds: rounds as f64, dimension: 8.0, ..ProblemBounds::default() };
                (scales.norm, scales.largest, scales.label) = (0.0, 0.0, 0.0);
                for row in stream(loss.as_ref(), rounds, 20) {
                    let squares: f64 = row.values.iter().map(|value| f64::from(value * value)).sum();
                    scales.norm = scales.norm.max(squares.sqrt() * (1.0 + 1e-6));
                    let largest = row.values.iter().fold(0.0f32, |most, value| most.max(value.abs()));
                    scales.largest = scales.largest.max(f64::from(largest));
                    scales.label = scales.label.max(row.label.abs()).max(1e-3);
                    learner.learn_one(row.features(), row.label, 1.0);
                }
                let (own, plan) = (learner.guarantee(), specification.plan(&loss, Some(radius), &scales).unwrap());
                if let (Ok(bound), Ok(promise)) = (&own.bound, &plan.bound) {
                    assert_eq!(own.comparator, plan.comparator);
                    assert!(bound <= promise, "{name} {loss_name} U={radius} T={rounds}: {bound} {promise}");
                    compared += 1;
                }
            }
        }
    }
    assert!(compared > 150, "{compared}");
}

#[test]
fn the_textbooks_constants_give_the_textbooks_bound() {
    let linear: onward::SharedLoss = std::sync::Arc::new(loss::LinearLoss);
    let cases = [
        // UG√(2T ln 2d) and UG√(2T ln d).
        ("mirror-descent:dimension=5,gradient=1,rounds=100", (200.0 * 10f64.ln()).sqrt()),
        ("mirror-descent:signed=false,dimension=5,gradient=1,rounds=100", (200.0 * 5f64.ln()).sqrt()),
        // UG√(T/(p−1)).
        ("mirror-descent:map=pnorm,p=1.5,gradient=1,rounds=100", 200f64.sqrt()),
        ("mirror-descent:map=euclidean,gradient=1,rounds=100", 10.0),
    ];
    for (name, expected) in cases {
        let mut learner = name.parse::<LearnerSpec>().unwrap().build(&linear, Some(3.0)).unwrap();
        for round in 0..100 {
            learner.learn_one(
                Features::new(&[round % 5], &[1.0]).unwrap(),
                if round % 3 == 0 { 1.0 } else { -1.0 },
                1.0,
            );
        }
        close(&[3.0 * expected], &[learner.guarantee().bound.unwrap()], 1e-6, name);
    }
}

#[test]
fn parameters_out_of_range_are_refused_by_name() {
    let squared = loss::parse("squared").unwrap();
    for (text, word) in [
        ("mirror-descent:map=cubic", "map"),
        ("mirror-descent:radius=0", "radius"),
        ("mirror-descent:eta=-1", "eta"),
        ("mirror-descent:dimension=0", "dimension"),
        ("mirror-descent:p=1.5", "p"),
        ("mirror-descent:map=pnorm,p=1", "p of mirror-descent must be from 1.001 to 2; got 1"),
        ("mirror-descent:map=pnorm,p=2.5", "p of mirror-descent must be from 1.001 to 2; got 2.5"),
        ("mirror-descent:map=pnorm,project=false", "project"),
        ("mirror-descent:map=euclidean,signed=true", "signed"),
        ("mirror-descent:gradient=1", "rounds"),
        ("mirror-descent:gradient=1,rounds=10", "dimension"),
        ("mirror-descent:gradient=1,rounds=10,dimension=3,eta=1", "eta"),
        ("ftrl-proximal:alpha=0", "alpha"),
        ("ftrl-proximal:l1=-1", "l1"),
        ("coin:epsilon=0", "epsilon"),
        ("coin:class=sphere", "class"),
        ("coin:gradient=-1", "gradient"),
        ("scinol:epsilon=nan", "epsilon"),
        ("ons:form=square", "form"),
        ("ons:limit=0", "limit"),
        ("ons:form=sketched,rank=0", "rank"),
        ("ons:gradient=1", "alpha"),
        ("ons:alpha=0", "alpha"),
        ("ons:epsilon=-3", "epsilon"),
    ] {
        let error = text.parse::<LearnerSpec>().and_then(|it| it.build(&squared, None)).err();
        let message = error.unwrap_or_else(|| panic!("{text} was taken")).to_string();
        assert!(message.contains(word), "{text}: {message}");
    }
}

/// The forms and maps that the battery, which takes every learner as it is, does not see.
const VARIANTS: [&str; 12] = [
    "mirror-descent:signed=false",
    "mirror-descent:dimension=4",
    "mirror-descent:eta=0.5,radius=1e3,signed=false",
    "mirror-descent:map=pnorm,p=1.2",
    "mirror-descent:map=pnorm,project=false,eta=0.01",
    "mirror-descent:map=euclidean",
    "ons:limit=3",
    "ons:alpha=0.5",
    "ons:alpha=0.5,gradient=3",
    "ons:form=diagonal",
    "ons:form=sketched,rank=2",
    "coin:class=box,gradient=2",
];

#[test]
fn variants_continue_to_the_bit() {
    for name in VARIANTS {
        for loss_name in ["squared", "logistic", "absolute"] {
            let loss = loss::parse(loss_name).unwrap();
            let build = |text: &str| text.parse::<LearnerSpec>().unwrap().build(&loss, None).unwrap();
            let (mut whole, mut first) = (build(name), build(name));
            let rows = stream(loss.as_ref(), 300, 21);
            for row in &rows[..150] {
                whole.learn_one(row.features(), row.label, row.weight);
                first.learn_one(row.features(), row.label, row.weight);
            }
            let mut second = build(&first.describe());
            assert_eq!(second.describe(), first.describe());
            second.restore(&first.state()).unwrap();
            for row in &rows[150..] {
                assert_eq!(second.predict_one(row.features()), whole.predict_one(row.features()), "{name}");
                let one = whole.learn_one(row.features(), row.label, row.weight);
                let other = second.learn_one(row.features(), row.label, row.weight);
                assert_eq!(one.to_bits(), other.to_bits(), "{name} {loss_name}");
            }
            assert_eq!(whole.state(), second.state(), "{name}");
            assert_eq!(whole.guarantee(), second.guarantee(), "{name}");
        }
    }
}

#[test]
fn variants_stay_finite_under_any_finite_input() {
    let extremes = [0.0, 1.0, -1.0, f32::MAX, f32::MIN, f32::MIN_POSITIVE, 1e-45, -1e30, 1e-20, 3.0e7];
    for name in VARIANTS {
        for loss_name in ["squared", "logistic", "absolute", "poisson", "squared-hinge"] {
            let loss = loss::parse(loss_name).unwrap();
            let mut learner = name.parse::<LearnerSpec>().unwrap().build(&loss, None).unwrap();
            let mut random = Random(22);
            for round in 0..300 {
                let values: Vec<f32> = (0..6).map(|_| extremes[(random.next() % 10) as usize]).collect();
                let label = match (loss.task(), loss.check_label(-1.0).is_ok()) {
                    (loss::Task::Binary, _) => [-1.0, 1.0][(random.next() % 2) as usize],
                    (_, true) => [0.0, -1e9, f64::from(f32::MAX), f64::from(f32::MIN)][(random.next() % 4) as usize],
                    (_, false) => [0.0, 1.0, 1e9][(random.next() % 3) as usize],
                };
                let weight = [1.0, 1e-38, 1e9, 3.0e38][(random.next() % 4) as usize];
                let offset = f64::from(extremes[(random.next() % 10) as usize]);
                let x = features(&values).with_offset(offset).unwrap();
                let score = learner.learn_one(x, label, weight);
                assert!(score.is_finite(), "{name} {loss_name} round {round}");
            }
            assert!((0..4).all(|index| learner.linear().unwrap().weight(index).is_finite()), "{name} {loss_name}");
            let state = learner.state();
            assert!(state.numbers().values().all(|number| number.is_finite()), "{name} {loss_name}: {state:?}");
        }
    }
}
