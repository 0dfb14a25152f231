//! Learners with matrices (recursive least squares, the forecaster of Vovk, Azoury and Warmuth,
//! batch least squares, AROW) against plain dense computations and their theorems.

use onward::archive::{SavedColumn, State};
use onward::guarantee::Comparator;
use onward::learner::{LearnerSpec, LeastSquares, LeastSquaresForm, ProblemBounds, Regularisation, Rls, Vaw};
use onward::loss::{self, Squared};
use onward::{Features, Loss, ScoreLearner};

use crate::common::{Random, Row, Saved, best_on_ball, stream};

type Matrix = Vec<Vec<f64>>;

fn identity(size: usize, diagonal: f64) -> Matrix {
    (0..size).map(|i| (0..size).map(|j| if i == j { diagonal } else { 0.0 }).collect()).collect()
}

/// Gauss–Jordan with the largest pivots.
fn inverse(a: &Matrix) -> Matrix {
    let size = a.len();
    let (mut a, mut b) = (a.clone(), identity(size, 1.0));
    for i in 0..size {
        let pivot = (i..size).max_by(|&k, &l| a[k][i].abs().total_cmp(&a[l][i].abs())).unwrap();
        a.swap(i, pivot);
        b.swap(i, pivot);
        let scale = a[i][i];
        a[i].iter_mut().chain(&mut b[i]).for_each(|entry| *entry /= scale);
        for k in (0..size).filter(|&k| k != i) {
            let factor = a[k][i];
            for j in 0..size {
                a[k][j] -= factor * a[i][j];
                b[k][j] -= factor * b[i][j];
            }
        }
    }
    b
}

fn times(a: &Matrix, x: &[f64]) -> Vec<f64> {
    a.iter().map(|row| dot(row, x)).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn add_outer(a: &mut Matrix, factor: f64, x: &[f64]) {
    for i in 0..x.len() {
        for j in 0..x.len() {
            a[i][j] += factor * x[i] * x[j];
        }
    }
}

/// The largest eigenvalue of a positive definite matrix.
fn largest(a: &Matrix) -> f64 {
    let mut x = vec![1.0; a.len()];
    x[0] = 1.3;
    let mut value = 0.0;
    for _ in 0..200 {
        let y = times(a, &x);
        value = dot(&y, &y).sqrt();
        x = y.iter().map(|y| y / value).collect();
    }
    value
}

fn condition(a: &Matrix) -> f64 {
    largest(a) * largest(&inverse(a))
}

/// Rows of five features: ordinary ones, or of very different size and nearly collinear.
fn rows(rounds: usize, is_ill: bool, seed: u64) -> Vec<Row> {
    let mut random = Random(seed);
    (0..rounds)
        .map(|_| {
            let mut values: Vec<f32> = (0..5).map(|_| random.between(-1.0, 1.0) as f32).collect();
            if is_ill {
                values[1] = values[0] + 1e-3 * values[1];
                values[3] *= 1e3;
                values[4] *= 1e-2;
            }
            let label = f64::from(values[0]) - 2.0 * f64::from(values[2]) + random.between(-0.5, 0.5);
            let weight = [1.0, 0.25, 3.0, 7.5][(random.next() % 4) as usize];
            let offset = random.between(-0.5, 0.5);
            Row { indices: vec![0, 1, 2, 3, 4], values, label, weight, offset }
        })
        .collect()
}

fn doubles(row: &Row) -> Vec<f64> {
    row.values.iter().map(|&value| f64::from(value)).collect()
}

/// λI + Σ h·xxᵀ and Σ h(y − b)x.
fn normal_equations(rows: &[Row], lambda: f64) -> (Matrix, Vec<f64>) {
    let (mut a, mut b) = (identity(5, lambda), vec![0.0; 5]);
    for row in rows {
        let x = doubles(row);
        add_outer(&mut a, row.weight, &x);
        b.iter_mut().zip(&x).for_each(|(b, x)| *b += row.weight * (row.label - row.offset) * x);
    }
    (a, b)
}

fn weights(learner: &dyn onward::Learner) -> Vec<f64> {
    (0..5).map(|index| learner.linear().unwrap().weight(index)).collect()
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
}

fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

fn build(specification: &str, loss: &str) -> Box<dyn onward::Learner> {
    specification.parse::<LearnerSpec>().unwrap().build(loss::parse(loss).unwrap(), None).unwrap()
}

fn learn(learner: &mut dyn onward::Learner, row: &Row) -> f64 {
    learner.learn_one(row.features(), row.label, row.weight)
}

fn learn_all(learner: &mut dyn onward::Learner, rows: &[Row]) {
    for row in rows {
        learn(learner, row);
    }
}

#[test]
fn recursive_least_squares_solves_the_normal_equations_after_every_row() {
    for (is_ill, lambda) in [(false, 1.0), (false, 1e-3), (true, 1.0), (true, 1e-4)] {
        let rows = rows(300, is_ill, 1);
        let mut learner = Rls::new(lambda, 1.0, 10, 1.0).unwrap();
        let mut worst = 0f64;
        for (round, row) in rows.iter().enumerate() {
            learn(&mut learner, row);
            let (a, b) = normal_equations(&rows[..=round], lambda);
            let expected = times(&inverse(&a), &b);
            let condition = condition(&a);
            worst = worst.max(condition);
            let error = distance(&weights(&learner), &expected) / norm(&expected);
            assert!(error <= 1e-12 * condition, "{is_ill} {lambda} {round}: {error} {condition}");
        }
        assert_eq!(worst > 1e8, is_ill, "{worst}");
    }
}

#[test]
fn trap_ridge_from_the_inverse_of_i_plus_lambda_i_would_solve_another_problem() {
    let rows = rows(50, false, 2);
    let mut learner = Rls::new(0.5, 1.0, 10, 1.0).unwrap();
    learn_all(&mut learner, &rows);
    let solution = |lambda| {
        let (a, b) = normal_equations(&rows, lambda);
        times(&inverse(&a), &b)
    };
    assert!(distance(&weights(&learner), &solution(0.5)) < 1e-13);
    assert!(distance(&weights(&learner), &solution(1.5)) > 1e-3);
}

#[test]
fn trap_gamma_from_the_identity_is_the_inverse_of_i_plus_the_sum_not_of_the_sum() {
    let rows = rows(40, false, 3);
    let mut learner = Rls::new(1.0, 1.0, 10, 1.0).unwrap();
    for (round, row) in rows.iter().enumerate() {
        learn(&mut learner, row);
        let gamma = inverse(&normal_equations(&rows[..=round], 1.0).0);
        // xᵀΓx of all unit vectors and sums of two is all of Γ.
        for i in 0..5u32 {
            for j in 0..i {
                let pair = [j, i];
                let found = learner.variance(Features::new(&pair, &[1.0, 1.0]).unwrap());
                let (i, j) = (i as usize, j as usize);
                let expected = gamma[i][i] + gamma[j][j] + 2.0 * gamma[i][j];
                assert!((found - expected).abs() < 1e-13, "{found} {expected}");
            }
            let found = learner.variance(Features::new(&[i], &[1.0]).unwrap());
            assert!((found - gamma[i as usize][i as usize]).abs() < 1e-13);
        }
    }
    let (mut sum, _) = normal_equations(&rows, 1.0);
    (0..5).for_each(|i| sum[i][i] -= 1.0);
    let wrong = inverse(&sum)[0][0];
    assert!((learner.variance(Features::new(&[0], &[1.0]).unwrap()) - wrong).abs() > 1e-4);
}

#[test]
fn trap_the_gradient_of_the_squared_loss_has_its_2() {
    for (p, y) in [(0.3, 1.5), (-2.0, 0.5), (4.0, -1.0)] {
        let step = 1e-6;
        let slope = (Squared.value(p + step, y) - Squared.value(p - step, y)) / (2.0 * step);
        assert!((Squared.derivative(p, y) - slope).abs() < 1e-8 && slope != 0.0);
    }
    // The first step of gradient descent from 0 at a small rate η is 2ηyx; the flow bends it by a
    // relative ηx².
    let mut learner = build("ogd:eta=1e-6,radius=1", "squared");
    learner.learn_one(Features::new(&[0], &[3.0]).unwrap(), 2.0, 1.0);
    assert!((learner.linear().unwrap().weight(0) / (2.0 * 1e-6 * 2.0 * 3.0) - 1.0).abs() < 1e-5 + 1e-7);
    // At the minimum of ridge regression the gradient of λ‖w‖² is that of the squares: 2 beside 2.
    let rows = rows(30, false, 4);
    let mut learner = Rls::new(3.0, 1.0, 10, 1.0).unwrap();
    learn_all(&mut learner, &rows);
    let w = weights(&learner);
    let objective = |w: &[f64]| {
        3.0 * dot(w, w) + rows.iter().map(|row| row.weight * Squared.value(row.score(w), row.label)).sum::<f64>()
    };
    for i in 0..5 {
        let shifted = |by: f64| w.iter().enumerate().map(|(j, w)| if i == j { w + by } else { *w }).collect::<Vec<_>>();
        let slope = (objective(&shifted(1e-4)) - objective(&shifted(-1e-4))) / 2e-4;
        assert!(slope.abs() < 1e-8, "{slope}");
    }
}

#[test]
fn the_least_of_the_regularised_squares_follows_from_what_was_paid() {
    for (is_ill, lambda) in [(false, 1.0), (true, 0.01)] {
        let rows = rows(200, is_ill, 5);
        let mut learner = Rls::new(lambda, 1.0, 10, 1.0).unwrap();
        let mut sum = 0.0;
        for (round, row) in rows.iter().enumerate() {
            let q = row.weight * learner.variance(row.features());
            let p = learn(&mut learner, row);
            sum += row.weight * (row.label - p).powi(2) / (1.0 + q);
            let (a, b) = normal_equations(&rows[..=round], lambda);
            let u = times(&inverse(&a), &b);
            let best = lambda * dot(&u, &u)
                + rows[..=round].iter().map(|row| row.weight * (row.label - row.score(&u)).powi(2)).sum::<f64>();
            assert!((learner.best_regularised_loss() - best).abs() <= 1e-10 * best, "{round}");
            assert!((sum - best).abs() <= 1e-10 * best, "{round}");
        }
    }
}

/// Discounted normal equations, with the regularisation of `Rls`: each λ_i set again in its turn.
struct Discounted {
    a: Matrix,
    b: Vec<f64>,
    lambdas: Vec<f64>,
    turn: usize,
    /// Σ h·y².
    squares: f64,
}

impl Discounted {
    fn new(lambda: f64) -> Self {
        Self { a: identity(5, lambda), b: vec![0.0; 5], lambdas: vec![lambda; 5], turn: 0, squares: 0.0 }
    }

    fn observe(&mut self, x: &[f64], y: f64, h: f64, lambda: f64, f: f64, is_first: bool) {
        if f < 1.0 && !is_first {
            self.a.iter_mut().flatten().chain(&mut self.b).chain(&mut self.lambdas).for_each(|entry| *entry *= f);
            for _ in 0..(5.0 * (1.0 - f)).ceil() as usize {
                self.turn = (self.turn + 1) % 5;
                self.a[self.turn][self.turn] += lambda - self.lambdas[self.turn];
                self.lambdas[self.turn] = lambda;
            }
        }
        self.squares = if is_first { 0.0 } else { f * self.squares } + h * y * y;
        add_outer(&mut self.a, h, x);
        self.b.iter_mut().zip(x).for_each(|(b, x)| *b += h * y * x);
    }
}

#[test]
fn with_regularisation_that_is_kept_it_solves_the_discounted_normal_equations() {
    for forgetting in [0.999, 0.9, 0.7, 0.5] {
        let rows = rows(400, false, 6);
        let learner = Rls::new(0.3, forgetting, 10, 1.0).unwrap();
        let mut learner = learner.with_regularisation(Regularisation::Kept);
        let mut twin = Discounted::new(0.3);
        for (round, row) in rows.iter().enumerate() {
            learn(&mut learner, row);
            twin.observe(&doubles(row), row.label - row.offset, row.weight, 0.3, forgetting, round == 0);
            let expected = times(&inverse(&twin.a), &twin.b);
            assert!(distance(&weights(&learner), &expected) < 1e-12 * condition(&twin.a), "{forgetting} {round}");
            let least = twin.squares - dot(&twin.b, &expected);
            assert!((learner.best_regularised_loss() - least).abs() < 1e-11 * twin.squares, "{forgetting} {round}");
            // The bound of the documentation on what is left of the regularisation.
            let least = 0.3 * forgetting.powf(1.0 + 1.0 / (1.0 - forgetting));
            assert!(twin.lambdas.iter().all(|&lambda| lambda >= least * (1.0 - 1e-12) && lambda <= 0.3));
        }
        assert!(learner.guarantee().bound.is_err());
    }
}

/// Five features that span three dimensions, exactly: what is not in the span has λ alone, whose square root `rls` keeps
/// and sums of squares cannot. Below 1e-12 all λ have nearly one solution, of which even square roots lose digits.
#[test]
fn collinear_features_are_solved_for_whatever_lambda_is() {
    let mut random = Random(12);
    let rows: Vec<Row> = (0..300)
        .map(|_| {
            let [a, b] = [0, 1].map(|_| (random.next() % 17) as f32 / 4.0 - 2.0);
            let label = f64::from(a - 2.0 * b) + random.between(-0.5, 0.5);
            Row {
                indices: vec![0, 1, 2, 3, 4],
                values: vec![1.0, a, 2.0 * a, a - b, b],
                label,
                weight: 1.0,
                offset: 0.0,
            }
        })
        .collect();
    for exponent in 0..=30 {
        let lambda: f64 = format!("1e-{exponent}").parse().unwrap();
        for form in [LeastSquaresForm::Running, LeastSquaresForm::Scratch(1000)] {
            let mut rls = Rls::new(lambda.max(1e-12), 1.0, 10, 1.0).unwrap();
            let mut batch = LeastSquares::new(form, lambda, 10, 1.0).unwrap();
            let (mut paid, mut expected) = (0.0, 0.0);
            for (round, row) in rows.iter().enumerate() {
                let (one, other) = (learn(&mut rls, row), learn(&mut batch, row));
                expected += (one - row.label).powi(2);
                paid += (other - row.label).powi(2);
                assert!((one - other).abs() < 1e-4, "lambda 1e-{exponent}, {form:?}, round {round}: {one} {other}");
            }
            assert!((paid / expected - 1.0).abs() < 1e-5, "lambda 1e-{exponent}, {form:?}: {paid} {expected}");
            // What it says of its regret it says of the problem that it solved.
            let reason = batch.guarantee().bound.err().unwrap_or_default();
            let is_raised = reason.contains("lambda was raised");
            assert!(
                if exponent < 4 { reason.is_empty() } else { is_raised || exponent < 12 },
                "1e-{exponent}: {reason}"
            );
        }
    }
}

/// The textbook's: f^t·λ‖u‖² + Σ f^(t−s)·h·(y − ⟨u, x⟩)², from all rows anew. Two features come late.
#[test]
fn with_forgetting_it_minimises_the_exponentially_weighted_squares_and_the_regularisation_fades_too() {
    for forgetting in [0.999, 0.9, 0.7] {
        let mut rows = rows(300, false, 6);
        rows.iter_mut().take(40).for_each(|row| row.values[3..].fill(0.0));
        let mut learner = Rls::new(0.3, forgetting, 10, 1.0).unwrap();
        for (round, row) in rows.iter().enumerate() {
            learn(&mut learner, row);
            let age = |at: usize| forgetting.powi((round - at) as i32);
            let (mut a, mut b, mut squares) = (identity(5, 0.3 * age(0) * forgetting), vec![0.0; 5], 0.0);
            for (at, row) in rows[..=round].iter().enumerate() {
                let (x, y, h) = (doubles(row), row.label - row.offset, age(at) * row.weight);
                add_outer(&mut a, h, &x);
                b.iter_mut().zip(&x).for_each(|(b, x)| *b += h * y * x);
                squares += h * y * y;
            }
            let gamma = inverse(&a);
            let (expected, scale) = (times(&gamma, &b), condition(&a));
            // Features that did not come yet have no weight, and others little of their first rows.
            assert!(distance(&weights(&learner), &expected) < 1e-12 * scale, "{forgetting} {round} {scale}");
            let least = squares - dot(&b, &expected);
            assert!((learner.best_regularised_loss() - least).abs() < 1e-11 * squares, "{forgetting} {round}");
            for i in 0..5u32 {
                let found = learner.linear().unwrap().gamma(i).unwrap();
                let expected = gamma[i as usize][i as usize];
                assert!(
                    (found - expected).abs() <= 1e-12 * scale * expected,
                    "{forgetting} {round}: {found} {expected}"
                );
            }
        }
        assert!(learner.guarantee().bound.is_err());
    }
}

/// What has been forgotten for ever so long is held where numbers end: a feature that comes back, or comes first, after
/// 100,000 rows finds finite weights.
#[test]
fn a_regularisation_that_has_faded_away_leaves_numbers() {
    let mut learner = Rls::new(1.0, 0.5, 10, 1.0).unwrap();
    let row = |index: u32, value: f32| ([0, index], [1.0, value]);
    let mut learn = |(indices, values): ([u32; 2], [f32; 2]), label: f64| {
        let x = Features::new(&indices, &values).unwrap();
        assert!(learner.learn_one(x, label, 1.0).is_finite());
        learner.linear().unwrap().weight(indices[1])
    };
    learn(row(3, 2.0), 5.0);
    (0..100_000).for_each(|round| assert!(learn(row(1, (round % 3) as f32), (round % 3) as f64).is_finite()));
    // With nothing that holds it, a row is fitted.
    assert!((learn(row(7, 2.0), 8.0) - 4.0).abs() < 1e-6);
    assert!(learn(row(3, f32::MAX), -1.0).is_finite());
}

/// Many steps on nearly collinear features, beside normal equations whose sums are compensated.
fn stays_exact(steps: u64) {
    for forgetting in [1.0, 0.999] {
        let mut random = Random(7);
        let mut learner = Rls::new(1.0, forgetting, 5, 1.0).unwrap().with_regularisation(Regularisation::Kept);
        let (mut a, mut b) = (vec![[0.0f64; 2]; 15], vec![[0.0f64; 2]; 5]);
        let add = |sum: &mut [f64; 2], term: f64| {
            let total = sum[0] + term;
            sum[1] += if sum[0].abs() >= term.abs() { (sum[0] - total) + term } else { (term - total) + sum[0] };
            sum[0] = total;
        };
        let mut twin = Discounted::new(1.0);
        let mut values = [1f32; 5];
        for step in 0..steps {
            // Half a million rounds in which two features do not occur at all.
            let is_quiet = step / 500_000 % 2 == 1;
            values[1] = random.between(-1.0, 1.0) as f32;
            values[2] = values[1] + 1e-4 * random.between(-1.0, 1.0) as f32;
            values[3] = if is_quiet { 0.0 } else { random.between(-1.0, 1.0) as f32 };
            values[4] = values[3] * 1e-3;
            let label = f64::from(values[1] - values[3]) + random.between(-1.0, 1.0);
            let x = values.map(f64::from);
            learner.learn_one(Features::new(&[0, 1, 2, 3, 4], &values).unwrap(), label, 1.0);
            if forgetting < 1.0 {
                twin.observe(&x, label, 1.0, 1.0, forgetting, step == 0);
            } else {
                let mut at = 0;
                for i in 0..5 {
                    add(&mut b[i], label * x[i]);
                    for j in 0..=i {
                        add(&mut a[at], x[i] * x[j]);
                        at += 1;
                    }
                }
            }
        }
        let (a, b) = if forgetting < 1.0 {
            (twin.a, twin.b)
        } else {
            let mut full = identity(5, 1.0);
            let pairs = (0..5).flat_map(|i| (0..=i).map(move |j| (i, j)));
            for ((i, j), sum) in pairs.zip(&a) {
                full[i][j] += sum[0] + sum[1];
                full[j][i] = full[i][j];
            }
            (full, b.iter().map(|sum| sum[0] + sum[1]).collect())
        };
        let gamma = inverse(&a);
        let expected = times(&gamma, &b);
        let (error, condition) = (distance(&weights(&learner), &expected) / norm(&expected), condition(&a));
        println!("{steps} steps, forgetting {forgetting}: relative error {error:.1e}, condition {condition:.1e}");
        assert!(condition > 1e2 && error <= 1e-12 * condition, "{forgetting}: {error} {condition}");
        for i in 0..5u32 {
            let found = learner.variance(Features::new(&[i], &[1.0]).unwrap());
            let expected = gamma[i as usize][i as usize];
            assert!(found > 0.0 && (found - expected).abs() <= 1e-12 * condition * expected, "{found} {expected}");
        }
    }
}

#[test]
fn recursive_least_squares_stays_exact_over_a_million_steps() {
    stays_exact(1_000_000);
}

#[test]
fn recursive_least_squares_stays_exact_over_ten_million_steps() {
    stays_exact(10_000_000);
}

#[test]
fn batch_least_squares_says_what_recursive_least_squares_says() {
    let rows = rows(120, false, 8);
    let mut recursive = Rls::new(0.7, 1.0, 10, 2.0).unwrap();
    let mut batch: Vec<LeastSquares> = [LeastSquaresForm::Running, LeastSquaresForm::Scratch(1000)]
        .map(|form| LeastSquares::new(form, 0.7, 10, 2.0).unwrap())
        .into();
    for row in &rows {
        let p = learn(&mut recursive, row);
        for batch in &mut batch {
            assert!((learn(batch, row) - p).abs() < 1e-12);
            assert!(distance(&weights(batch), &weights(&recursive)) < 1e-12);
            let (one, other) = (batch.guarantee().bound.unwrap(), recursive.guarantee().bound.unwrap());
            assert!((one - other).abs() < 1e-11 * one);
        }
    }
}

#[test]
fn rows_beyond_those_that_are_kept_are_predicted_not_learnt_from() {
    let rows = rows(30, false, 9);
    let mut all = LeastSquares::new(LeastSquaresForm::Scratch(20), 1.0, 10, 1.0).unwrap();
    let mut some = LeastSquares::new(LeastSquaresForm::Scratch(20), 1.0, 10, 1.0).unwrap();
    learn_all(&mut all, &rows);
    learn_all(&mut some, &rows[..20]);
    assert_eq!((weights(&all), all.ignored(), some.ignored()), (weights(&some), 10, 0));
    assert!(some.guarantee().bound.is_ok() && all.guarantee().bound.is_err());
}

#[test]
fn features_beyond_the_limit_are_ignored_and_end_the_guarantee() {
    for name in ["rls:limit=3", "vaw:limit=3", "least-squares:limit=3", "least-squares:form=scratch,limit=3"] {
        let (mut limited, mut full) = (build(name, "squared"), build(name, "squared"));
        for row in rows(40, false, 10) {
            let score = learn(limited.as_mut(), &row);
            let first = Features::new(&row.indices[..3], &row.values[..3]).unwrap().with_offset(row.offset).unwrap();
            assert_eq!(score.to_bits(), full.learn_one(first, row.label, row.weight).to_bits(), "{name}");
        }
        assert_eq!(limited.linear().unwrap().weight(3), 0.0);
        assert!(limited.guarantee().bound.is_err() && full.guarantee().bound.is_ok(), "{name}");
    }
}

#[test]
fn the_forecaster_includes_the_row_that_it_predicts() {
    for lambda in [1.0, 0.05] {
        let rows = rows(150, false, 11);
        let mut learner = Vaw::new(lambda, 10, 1.0).unwrap();
        for (round, row) in rows.iter().enumerate() {
            let (mut a, b) = normal_equations(&rows[..round], lambda);
            let x = doubles(row);
            let says = |a: &Matrix| row.offset + dot(&times(&inverse(a), &b), &x);
            let mut light = a.clone();
            add_outer(&mut light, 1.0, &x);
            assert!((learner.predict_one(row.features()) - says(&light)).abs() < 1e-12);
            add_outer(&mut a, row.weight, &x);
            assert!((learn(&mut learner, row) - says(&a)).abs() < 1e-12);
        }
    }
}

/// What is paid, and the bounds of a learner, on rows.
fn account(learner: &mut dyn onward::Learner, rows: &[Row]) -> (f64, f64) {
    let paid = rows.iter().map(|row| row.weight * Squared.value(learn(learner, row), row.label)).sum();
    (paid, learner.guarantee().bound.unwrap())
}

/// The least of the squares on the ball, by the normal equations with the multiplier that brings the
/// solution onto it.
fn best_squares_on_ball(rows: &[Row], radius: f64) -> f64 {
    let solution = |multiplier: f64| {
        let (a, b) = normal_equations(rows, multiplier);
        times(&inverse(&a), &b)
    };
    let (mut low, mut high) = (1e-9, 1e12);
    for _ in 0..200 {
        let middle = f64::sqrt(low * high);
        if norm(&solution(middle)) > radius { low = middle } else { high = middle }
    }
    let u = solution(high);
    rows.iter().map(|row| row.weight * Squared.value(row.score(&u), row.label)).sum()
}

#[test]
fn the_bounds_of_least_squares_hold_and_are_the_regret_against_the_regularised_squares() {
    for (seed, is_ill) in [(12, false), (13, true), (14, false)] {
        let rows = rows(100, is_ill, seed);
        for radius in [0.1, 1.0, 5.0] {
            let mut learners: Vec<Box<dyn onward::Learner>> =
                vec![Box::new(Rls::new(0.5, 1.0, 10, radius).unwrap()), Box::new(Vaw::new(0.5, 10, radius).unwrap())];
            for learner in &mut learners {
                let (paid, bound) = account(learner.as_mut(), &rows);
                assert_eq!(learner.guarantee().comparator, Some(Comparator::Ball(radius)));
                assert!(paid - best_squares_on_ball(&rows, radius) <= bound * (1.0 + 1e-12));
                // bound − λU² + min_u λ‖u‖² + Σ(…)² is what was paid, exactly.
                let (a, b) = normal_equations(&rows, 0.5);
                let u = times(&inverse(&a), &b);
                let least = 0.5 * dot(&u, &u)
                    + rows.iter().map(|row| row.weight * Squared.value(row.score(&u), row.label)).sum::<f64>();
                assert!((bound - 0.5 * radius * radius + least - paid).abs() <= 1e-10 * paid);
            }
        }
    }
}

/// The labels ±1 that are against the prediction, on x = 1.
fn contrary(learner: &mut dyn onward::Learner, rounds: usize) -> Vec<Row> {
    (0..rounds)
        .map(|_| {
            let mut row = Row { indices: vec![0], values: vec![1.0], label: 1.0, weight: 1.0, offset: 0.0 };
            row.label = if learner.predict_one(row.features()) > 0.0 { -1.0 } else { 1.0 };
            learn(learner, &row);
            row
        })
        .collect()
}

#[test]
fn labels_against_the_prediction_come_close_to_the_bounds_and_half_of_them_would_be_false() {
    for rounds in [10, 100, 1000, 10_000] {
        for name in ["rls", "vaw", "least-squares"] {
            let rows = contrary(build(name, "squared").as_mut(), rounds);
            let mut learner = build(name, "squared");
            let (paid, bound) = account(learner.as_mut(), &rows);
            // The best of all is within the ball.
            let mean = rows.iter().map(|row| row.label).sum::<f64>() / rounds as f64;
            let regret = paid - rows.iter().map(|row| (row.label - mean).powi(2)).sum::<f64>();
            let ratio = regret / bound;
            assert!((0.6..=1.0).contains(&ratio), "{name} {rounds}: {ratio}");
        }
        let mut learner = Vaw::new(1.0, 10, 1.0).unwrap();
        let rows = contrary(&mut learner, rounds);
        let (paid, mean) = (
            account(&mut Vaw::new(1.0, 10, 1.0).unwrap(), &rows).0,
            rows.iter().map(|row| row.label).sum::<f64>() / rounds as f64,
        );
        let regret = paid - rows.iter().map(|row| (row.label - mean).powi(2)).sum::<f64>();
        let ratio = regret / learner.logarithmic_bound();
        assert!((0.5..=1.0).contains(&ratio), "{rounds}: {ratio}");
    }
}

#[test]
fn the_logarithmic_bound_is_that_of_the_determinant_and_above_what_happened() {
    for is_ill in [false, true] {
        let mut rows = rows(200, is_ill, 15);
        rows.iter_mut().for_each(|row| row.weight = 1.0);
        let mut learner = Vaw::new(0.2, 10, 1.5).unwrap();
        account(&mut learner, &rows);
        let (a, _) = normal_equations(&rows, 0.2);
        // Gaussian elimination: the pivots multiply to the determinant.
        let (mut a, mut determinant) = (a, 0.0);
        for i in 0..5 {
            determinant += (a[i][i] / 0.2).ln();
            for k in i + 1..5 {
                let factor = a[k][i] / a[i][i];
                let above = a[i].clone();
                a[k].iter_mut().zip(&above).for_each(|(entry, above)| *entry -= factor * above);
            }
        }
        let largest = rows.iter().map(|row| (row.label - row.offset).abs()).fold(0.0, f64::max);
        let expected = 0.2 * 1.5 * 1.5 + largest * largest * determinant;
        assert!((learner.logarithmic_bound() / expected - 1.0).abs() < 1e-9);
        assert!(learner.guarantee().bound.unwrap() <= learner.logarithmic_bound());
    }
}

#[test]
fn what_is_promised_beforehand_is_not_below_what_comes_true() {
    let rounds = 500;
    let mut rows = rows(rounds, false, 16);
    rows.iter_mut().for_each(|row| (row.weight, row.offset) = (1.0, 0.0));
    let largest = |size: fn(&Row) -> f64| rows.iter().map(size).fold(0.0, f64::max);
    let scales = ProblemBounds {
        rounds: rounds as f64,
        norm: largest(|row| norm(&doubles(row))),
        largest: 1.0,
        label: largest(|row| row.label.abs()),
        dimension: 5.0,
        ..ProblemBounds::default()
    };
    let loss = loss::parse("squared").unwrap();
    for name in ["vaw", "vaw:lambda=0.01", "vaw:lambda=100,radius=3"] {
        let specification: LearnerSpec = name.parse().unwrap();
        let promise = specification.plan(&loss, None, &scales).unwrap();
        let mut learner = specification.build(&loss, None).unwrap();
        let bound = account(learner.as_mut(), &rows).1;
        assert_eq!(promise.comparator, learner.guarantee().comparator);
        let promise = promise.bound.unwrap();
        // All features are alike: not far above.
        assert!(promise >= bound && promise < 50.0 * bound, "{name}: {promise} {bound}");
    }
    for name in ["rls", "least-squares", "vaw:limit=4"] {
        let specification: LearnerSpec = name.parse().unwrap();
        assert!(specification.plan(&loss, None, &scales).unwrap().bound.is_err());
    }
}

/// AROW by full matrices, or by their diagonals alone.
fn dense_arow(rows: &[Row], r: f64, is_full: bool) -> (Vec<f64>, Vec<f64>) {
    let (mut w, mut sigma) = (vec![0.0; 5], identity(5, 1.0));
    let mut scores = Vec::new();
    for row in rows {
        let x = doubles(row);
        let m = row.offset + dot(&w, &x);
        scores.push(m);
        if row.label * m >= 1.0 {
            continue;
        }
        let product = times(&sigma, &x);
        let beta = 1.0 / (dot(&product, &x) + r / row.weight);
        let alpha = (1.0 - row.label * m).max(0.0) * beta;
        w.iter_mut().zip(&product).for_each(|(w, product)| *w += alpha * row.label * product);
        add_outer(&mut sigma, -beta, &product);
        if !is_full {
            for (i, row) in sigma.iter_mut().enumerate() {
                row.iter_mut().enumerate().filter(|&(j, _)| j != i).for_each(|(_, entry)| *entry = 0.0);
            }
        }
    }
    (scores, w)
}

#[test]
fn arow_equals_its_plain_twin() {
    for r in [0.1, 1.0, 10.0] {
        let mut rows = rows(400, false, 17);
        rows.iter_mut().for_each(|row| row.label = if row.label > 0.2 { 1.0 } else { -1.0 });
        for (name, is_full, tolerance) in [("diagonal", false, 1e-5), ("full", true, 1e-11)] {
            let (scores, w) = dense_arow(&rows, r, is_full);
            for loss in ["hinge", "squared-hinge"] {
                let mut learner = build(&format!("arow:form={name},r={r}"), loss);
                for (row, expected) in rows.iter().zip(&scores) {
                    // Weights of the diagonal form are f32.
                    let score = learn(learner.as_mut(), row);
                    assert!((score - expected).abs() < tolerance * expected.abs().max(1.0), "{name} {r}");
                }
                assert!(distance(&weights(learner.as_ref()), &w) < tolerance * norm(&w), "{name} {r}");
                assert_eq!(learner.loss().name(), loss);
            }
        }
    }
}

#[test]
fn trap_the_kink_of_the_hinge_is_at_a_margin_of_1() {
    for name in ["arow", "arow:form=full", "pa", "pa:variant=0", "pa:variant=2", "ogd"] {
        let at = |label: f64, offset: f64| {
            let mut learner = build(name, "hinge");
            let x = Features::new(&[0], &[1.0]).unwrap().with_offset(offset).unwrap();
            learner.learn_one(x, label, 1.0);
            learner.linear().unwrap().weight(0)
        };
        for y in [-1.0, 1.0] {
            // A margin of exactly 1 is left as it is; 0, which is no kink, and 0.5 are not.
            assert_eq!(at(y, y), 0.0, "{name}");
            if name != "ogd" {
                // Nothing else moves either: the covariance of AROW neither.
                let (mut learner, mut fresh) = (build(name, "hinge"), build(name, "hinge"));
                learner.learn_one(Features::new(&[0], &[1.0]).unwrap().with_offset(y).unwrap(), y, 1.0);
                assert_eq!(learner.state(), fresh.state(), "{name}");
            }
            assert!(at(y, 0.0) * y > 0.0 && at(y, 0.5 * y) * y > 0.0 && at(y, -0.25 * y) * y > 0.0, "{name}");
        }
    }
}

/// All forms of the learners here and of the perceptron, of which the battery knows the defaults alone.
const FORMS: [(&str, &str); 19] = [
    ("rls:forgetting=0.99", "squared"),
    ("rls:forgetting=0.5,limit=3", "squared"),
    ("rls:lambda=1e-30", "squared"),
    ("rls:limit=3", "squared"),
    ("vaw:lambda=1e-30", "squared"),
    ("vaw:limit=2", "squared"),
    ("least-squares:form=scratch", "squared"),
    ("least-squares:form=scratch,rows=50,limit=3", "squared"),
    ("arow:form=full", "hinge"),
    ("arow:form=full,r=1e-30", "hinge"),
    ("arow:r=1e-30", "hinge"),
    ("pa:variant=0", "hinge"),
    ("pa:variant=2", "epsilon-insensitive"),
    ("perceptron:variant=margin", "zero-one"),
    ("perceptron:variant=averaged", "zero-one"),
    ("perceptron:variant=voted", "zero-one"),
    ("perceptron:variant=voted,vectors=5", "zero-one"),
    ("perceptron:variant=second-order", "zero-one"),
    ("perceptron:variant=second-order,limit=3,a=1e-30", "zero-one"),
];

#[test]
fn every_form_says_what_it_predicts_and_continues_to_the_bit() {
    for (name, loss) in FORMS {
        let mut rows = stream(loss::parse(loss).unwrap().as_ref(), 300, 18);
        rows.iter_mut().step_by(3).for_each(|row| row.weight = 1.0);
        let (mut whole, mut first) = (build(name, loss), build(name, loss));
        let mut second = build(&first.describe(), loss);
        assert_eq!(first.describe(), second.describe());
        for (round, row) in rows.iter().enumerate() {
            let asked = whole.predict_one(row.features());
            whole.learn_one(row.features(), row.label, 0.0);
            let score = learn(whole.as_mut(), row);
            assert!(row.weight != 1.0 || asked.to_bits() == score.to_bits(), "{name}");
            if round == 150 {
                second.restore(&first.state()).unwrap();
            }
            let half = if round < 150 { &mut first } else { &mut second };
            assert_eq!(learn(half.as_mut(), row).to_bits(), score.to_bits(), "{name} {round}");
        }
        assert_eq!((whole.state(), whole.guarantee()), (second.state(), second.guarantee()), "{name}");
        let state = whole.state();
        // Models of earlier versions lack the largest norm of the perceptron's rows.
        let names = state.numbers().keys().chain(state.columns().keys()).filter(|name| *name != "largest");
        for missing in names {
            assert!(build(name, loss).restore(&without(&state, missing)).is_err(), "{name} without {missing}");
        }
    }
}

fn without(state: &State, missing: &str) -> State {
    let mut damaged = State::default();
    state.numbers().iter().filter(|(key, _)| *key != missing).for_each(|(key, value)| damaged.set(key, *value));
    let columns = state.columns().iter().filter(|(key, _)| *key != missing);
    columns.for_each(|(key, column)| damaged.set_column(key, column.clone()));
    damaged
}

#[test]
fn damaged_states_are_refused_or_predict_without_a_panic() {
    for (name, loss) in FORMS.into_iter().chain([("rls", "squared"), ("least-squares", "squared"), ("arow", "hinge")]) {
        let rows = stream(loss::parse(loss).unwrap().as_ref(), 40, 19);
        let mut learner = build(name, loss);
        learn_all(learner.as_mut(), &rows);
        let state = learner.state();
        let mut damaged = Vec::new();
        for (key, column) in state.columns() {
            let changed: Vec<SavedColumn> = match column {
                SavedColumn::F64(values) => vec![
                    SavedColumn::F64(values.iter().map(|_| -1e300).collect()),
                    SavedColumn::F64(values.iter().map(|_| f64::NAN).collect()),
                    SavedColumn::F64(values.iter().skip(1).copied().collect()),
                ],
                SavedColumn::F32(values) => vec![SavedColumn::F32(values.iter().skip(1).copied().collect())],
                SavedColumn::U32(values) => vec![
                    SavedColumn::U32(values.iter().map(|_| 1).collect()),
                    SavedColumn::U32(values.iter().map(|_| u32::MAX).collect()),
                    SavedColumn::U32(values.iter().skip(1).copied().collect()),
                ],
                SavedColumn::U8(_) => Vec::new(),
            };
            damaged.extend(changed.into_iter().map(|column| {
                let mut state = state.clone();
                state.set_column(key, column);
                state
            }));
        }
        for key in state.numbers().keys() {
            for value in [f64::NAN, -1.0, 1e300] {
                let mut state = state.clone();
                state.set(key, value);
                damaged.push(state);
            }
        }
        let mut refused = 0;
        for state in damaged {
            let mut learner = build(name, loss);
            if learner.restore(&state).is_err() {
                refused += 1;
                continue;
            }
            learn_all(learner.as_mut(), &rows);
        }
        assert!(refused > 1, "{name}");
    }
}

#[test]
fn every_form_stays_finite_under_any_finite_input() {
    let extremes = [0.0, 1.0, -1.0, f32::MAX, f32::MIN, f32::MIN_POSITIVE, 1e-45, -1e30, 1e-20, 3.0e7];
    for (name, loss_name) in FORMS {
        let loss = loss::parse(loss_name).unwrap();
        for seed in 0..5 {
            let mut random = Random(seed);
            let mut learner = build(name, loss_name);
            for round in 0..300 {
                let mut pick = || extremes[(random.next() % 10) as usize];
                let values: Vec<f32> = (0..6).map(|_| pick()).collect();
                let (offset, label) = (f64::from(pick()), f64::from(pick()));
                let is_binary = loss.task() == loss::Task::Binary;
                let label = if is_binary && label >= 0.0 {
                    1.0
                } else if is_binary {
                    -1.0
                } else {
                    label
                };
                let weight = [1.0, 1e-38, 1e9, 3.0e38][(random.next() % 4) as usize];
                let x = Features::new(&[0, 1, 2, 3, 4, 5], &values).unwrap().with_offset(offset).unwrap();
                let score = learner.learn_one(x, label, weight);
                assert!(score.is_finite() && loss.value(score, label).is_finite(), "{name} round {round}");
                assert!(learner.predict_one(x).is_finite(), "{name} round {round}");
            }
            assert!(
                (0..6).all(|index| learner.linear().is_none_or(|linear| linear.weight(index).is_finite())),
                "{name}"
            );
            let state = learner.state();
            assert!(state.numbers().values().all(|number| number.is_finite()), "{name} {:?}", state.numbers());
            for (key, column) in state.columns() {
                if let SavedColumn::F64(values) = column {
                    assert!(values.iter().all(|value| value.is_finite()), "{name} {key}");
                }
            }
        }
    }
}

#[test]
fn dense_rows_equal_sparse_ones() {
    for (name, loss) in FORMS.into_iter().filter(|(name, _)| !name.contains("limit=")) {
        if name.contains("1e-30") {
            // Without regularisation to speak of, rounding decides what features that are new weigh.
            continue;
        }
        let rows = stream(loss::parse(loss).unwrap().as_ref(), 200, 20);
        let (mut sparse, mut dense) = (build(name, loss), build(name, loss));
        for row in &rows {
            let mut full = [0.0; 8];
            row.indices.iter().zip(&row.values).for_each(|(&index, &value)| full[index as usize] = value);
            let all = Features::new(&[0, 1, 2, 3, 4, 5, 6, 7], &full).unwrap();
            let (one, other) = (learn(sparse.as_mut(), row), dense.learn_one(all, row.label, row.weight));
            assert!((one - other).abs() <= 1e-5 * one.abs().max(1.0), "{name}: {one} {other}");
        }
    }
}

#[test]
fn on_an_ordinary_stream_the_bound_of_least_squares_is_above_brute_force() {
    let rows = stream(&Squared, 200, 21);
    for name in ["rls", "vaw", "least-squares:form=scratch"] {
        let mut learner = build(name, "squared");
        let (paid, bound) = account(learner.as_mut(), &rows);
        assert!(paid - best_on_ball(&rows, &Squared, 1.0, 8) <= bound, "{name}");
    }
}

#[test]
fn parameters_out_of_range_are_refused_by_name() {
    for (specification, loss, message) in [
        ("rls:lambda=0", "squared", "lambda of rls must be above 0; got 0"),
        ("rls:forgetting=0.4", "squared", "forgetting of rls must be from 0.5 to 1; got 0.4"),
        ("rls:limit=0", "squared", "limit of rls must be a whole number from 1 to 8192; got 0"),
        ("vaw:radius=0", "squared", "radius of vaw must be above 0; got 0"),
        ("least-squares:form=half", "squared", "form of least-squares must be running or scratch; got half"),
        ("least-squares:rows=0", "squared", "rows of least-squares must be a whole number from 1 to 1000000; got 0"),
        ("least-squares", "absolute", "the loss of least-squares must be squared; got absolute"),
        ("arow:r=-1", "hinge", "r of arow must be above 0; got -1"),
        ("arow:limit=9", "hinge", "limit of arow has no effect without form=full; leave it out"),
        ("arow", "logistic", "the loss of arow must be hinge or squared-hinge; got logistic"),
        ("pa:c=0", "hinge", "c of pa must be above 0; got 0"),
        ("pa:variant=3", "hinge", "variant of pa must be 0, 1 or 2; got 3"),
        ("pa:variant=0,c=2", "hinge", "c of pa has no effect with variant=0; leave it out"),
        ("perceptron:margin=2", "zero-one", "margin of perceptron has no effect without variant=margin; leave it out"),
        ("perceptron:variant=margin,margin=-1", "zero-one", "margin of perceptron must be above 0; got -1"),
        (
            "perceptron:variant=voted,vectors=0",
            "zero-one",
            "vectors of perceptron must be a whole number from 1 to 1000000; got 0",
        ),
        ("perceptron:variant=second-order,a=inf", "zero-one", "a of perceptron must be above 0; got inf"),
    ] {
        let built = specification.parse::<LearnerSpec>().unwrap().build(loss::parse(loss).unwrap(), None);
        assert_eq!(built.err().map(|error| error.to_string()).as_deref(), Some(message), "{specification}");
    }
}
