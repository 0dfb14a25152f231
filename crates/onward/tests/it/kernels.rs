//! Kernel methods: against plain twins, against the linear learners that they are with a linear
//! kernel, against the kernels that features stand for, and against the best function of the
//! kernel's space in hindsight.

use onward::archive::{SavedColumn, State};
use onward::guarantee::Comparator;
use onward::learner::kernel::{
    Budget, Fourier, FourierKernel, Keep, Kernel, KernelDescent, KernelMap, KernelPerceptron, KernelRate, Nystrom,
};
use onward::learner::{LearnerSpec, ProblemBounds};
use onward::loss::{self, LinearLoss, ZeroOne};
use onward::protocol::StepKind;
use onward::{Features, ScoreLearner, SharedLoss};

use crate::common::{Random, Row, Saved, stream};

const SPACES: [Kernel; 4] = [
    Kernel::Linear,
    Kernel::Polynomial { gamma: 0.5, coef: 1.0, degree: 2 },
    Kernel::Rbf { gamma: 0.3 },
    Kernel::Laplacian { gamma: 0.3 },
];

fn build(specification: &str, loss: &SharedLoss) -> Box<dyn onward::Learner> {
    specification.parse::<LearnerSpec>().unwrap().build(loss, None).unwrap()
}

/// A row of the common streams as a plain vector.
fn dense(row: &Row) -> Vec<f64> {
    let mut full = vec![0.0; 8];
    row.indices.iter().zip(&row.values).for_each(|(&at, &value)| full[at as usize] = f64::from(value));
    full
}

fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

/// The kernels once more, on plain vectors.
fn plain_kernel(kernel: &Kernel, x: &[f64], y: &[f64]) -> f64 {
    let distance = |power: i32| x.iter().zip(y).map(|(x, y)| (x - y).abs().powi(power)).sum::<f64>();
    match *kernel {
        Kernel::Linear => dot(x, y),
        Kernel::Polynomial { gamma, coef, degree } => (gamma * dot(x, y) + coef).powi(degree as i32),
        Kernel::Rbf { gamma } => (-gamma * distance(2)).exp(),
        Kernel::Laplacian { gamma } => (-gamma * distance(1)).exp(),
        Kernel::Sigmoid { gamma, coef } => (gamma * dot(x, y) + coef).tanh(),
    }
}

/// A one-dimensional row.
fn at(value: f32) -> Row {
    Row { indices: vec![1], values: vec![value], label: 1.0, weight: 1.0, offset: 0.0 }
}

/// Two classes that no line tells apart, with their labels.
fn ring(rounds: usize, seed: u64) -> Vec<Row> {
    let mut random = Random(seed);
    (0..rounds)
        .map(|_| {
            let is_inside = random.uniform() < 0.5;
            let radius = if is_inside { random.between(0.0, 0.8) } else { random.between(1.2, 2.0) };
            let angle = random.between(0.0, std::f64::consts::TAU);
            let values = vec![1.0, (radius * angle.cos()) as f32, (radius * angle.sin()) as f32];
            Row { indices: vec![0, 1, 2], values, label: if is_inside { 1.0 } else { -1.0 }, weight: 1.0, offset: 0.0 }
        })
        .collect()
}

fn exclusive_or(rounds: usize, seed: u64) -> Vec<Row> {
    let mut random = Random(seed);
    let coordinate = |random: &mut Random| {
        let size = random.between(0.3, 1.0);
        if random.uniform() < 0.5 { size } else { -size }
    };
    (0..rounds)
        .map(|_| {
            let (x, y) = (coordinate(&mut random), coordinate(&mut random));
            let values = vec![1.0, x as f32, y as f32];
            Row { indices: vec![0, 1, 2], values, label: (x * y).signum(), weight: 1.0, offset: 0.0 }
        })
        .collect()
}

// ---- Exact learners against twins ----

/// Gradient descent on plain vectors, f64: constant rates, or self-tuned ones in a ball. Gives the
/// scores, and the bound of the theorem.
fn plain_descent(rows: &[Row], loss: &SharedLoss, rate: KernelRate, step: StepKind, radius: f64) -> (Vec<f64>, f64) {
    let (mut w, mut squares, mut paid, mut last) = (vec![0.0; 8], 0.0, 0.0, 0.0);
    let scores = rows
        .iter()
        .map(|row| {
            let x = dense(row);
            let p = row.offset + dot(&w, &x);
            let (g, q) = (loss.derivative(p, row.label), dot(&x, &x));
            squares += (row.weight * g).powi(2) * q;
            let eta = match rate {
                KernelRate::Constant(eta) => eta,
                KernelRate::SelfTuned if squares > 0.0 => 2.0 * radius / (2.0 * squares).sqrt(),
                KernelRate::SelfTuned => 0.0,
            };
            last = eta;
            paid += eta * (row.weight * g).powi(2) * q;
            let c = match step {
                StepKind::Flow => loss.importance_step(p, row.label, eta * row.weight, q),
                StepKind::Gradient => -eta * row.weight * g,
            };
            w.iter_mut().zip(&x).for_each(|(w, x)| *w += c * x);
            let norm = dot(&w, &w).sqrt();
            if rate == KernelRate::SelfTuned && norm > radius {
                w.iter_mut().for_each(|w| *w *= radius / norm);
            }
            p
        })
        .collect();
    let distance = if rate == KernelRate::SelfTuned { 2.0 * radius } else { radius };
    (scores, distance * distance / (2.0 * last) + paid / 2.0)
}

#[test]
fn with_the_linear_kernel_it_is_linear_gradient_descent_step_for_step() {
    for name in ["squared", "absolute", "logistic", "hinge", "poisson"] {
        let loss = loss::parse(name).unwrap();
        let mut rows = stream(loss.as_ref(), 300, 31);
        rows.iter_mut().enumerate().for_each(|(round, row)| row.offset = (round % 5) as f64 * 0.1 - 0.2);
        for rate in [KernelRate::Constant(0.02), KernelRate::SelfTuned] {
            for step in [StepKind::Flow, StepKind::Gradient] {
                // A small ball: most rounds project.
                let radius = 0.7;
                let learner = KernelDescent::new(loss.clone(), Kernel::Linear, Budget::NONE, rate, radius).unwrap();
                let mut learner = learner.with_step(step);
                let (twin, bound) = plain_descent(&rows, &loss, rate, step, radius);
                for (round, (row, expected)) in rows.iter().zip(twin).enumerate() {
                    let score = learner.learn_one(row.features(), row.label, row.weight);
                    assert!((score - expected).abs() < 1e-9, "{name} {rate:?} {step:?} {round}: {score} {expected}");
                }
                let printed = learner.guarantee().bound.unwrap();
                assert!((printed - bound).abs() < 1e-9 * bound, "{name} {rate:?} {step:?}: {printed} {bound}");
            }
        }
    }
}

#[test]
fn coefficients_are_the_rate_times_the_gradient() {
    // c_t = −η·h·g, and the score is Σ c_j K(x_j, x), for each kernel.
    for kernel in SPACES.into_iter().chain([Kernel::Sigmoid { gamma: 0.4, coef: -0.3 }]) {
        let loss = loss::parse("squared").unwrap();
        let rows = stream(loss.as_ref(), 120, 32);
        let rate = KernelRate::Constant(0.01);
        let mut learner = KernelDescent::new(loss.clone(), kernel, Budget::NONE, rate, 1.0).unwrap();
        let mut coefficients: Vec<f64> = Vec::new();
        for (round, row) in rows.iter().enumerate() {
            let x = dense(row);
            let products = rows[..round].iter().map(|other| plain_kernel(&kernel, &dense(other), &x));
            let expected: f64 = coefficients.iter().zip(products).map(|(c, product)| c * product).sum();
            let score = learner.learn_one(row.features(), row.label, row.weight);
            assert!((score - expected).abs() < 1e-9 * expected.abs().max(1.0), "{kernel:?} {round}");
            coefficients.push(-0.01 * row.weight * 2.0 * (expected - row.label));
        }
        assert_eq!(learner.support(), 120);
    }
}

#[test]
fn with_the_linear_kernel_the_kernel_perceptron_is_the_perceptron() {
    let mut random = Random(33);
    let zero_one: SharedLoss = std::sync::Arc::new(ZeroOne);
    let mut linear = build("perceptron:radius=2", &zero_one);
    let mut kernel = build("kernel-perceptron:kernel=linear,radius=2", &zero_one);
    for round in 0..2000 {
        // Whole numbers: sums in any order are exact.
        let values: Vec<f32> = (0..4).map(|_| (random.next() % 7) as f32 - 3.0).collect();
        let label = if values[1] + values[2] + (random.next() % 3) as f32 > 1.0 { 1.0 } else { -1.0 };
        let weight = [1.0, 2.0][(random.next() % 2) as usize];
        let x = Features::new(&[0, 1, 2, 3], &values).unwrap().with_offset((round % 3) as f64 - 1.0).unwrap();
        assert_eq!(linear.learn_one(x, label, weight), kernel.learn_one(x, label, weight));
        assert_eq!(linear.guarantee().bound, kernel.guarantee().bound);
    }
    assert!(linear.guarantee().bound.unwrap() > 10.0);
}

#[test]
fn a_row_with_its_zeros_written_gives_the_same_bits() {
    let zero_one: SharedLoss = std::sync::Arc::new(ZeroOne);
    let logistic = loss::parse("logistic").unwrap();
    for (name, loss) in [
        ("kernel", &logistic),
        ("kernel:kernel=laplacian,budget=20,keep=projectron", &logistic),
        ("kernel:kernel=polynomial,budget=20,keep=smallest", &logistic),
        ("kernel-perceptron", &zero_one),
        ("nystrom:components=30", &logistic),
        ("rff:components=30", &logistic),
    ] {
        let (mut sparse, mut full) = (build(name, loss), build(name, loss));
        // Backwards, and with every index.
        let indices: Vec<u32> = (0..8).rev().collect();
        for row in stream(loss.as_ref(), 150, 34) {
            let values: Vec<f32> = dense(&row).iter().rev().map(|&value| value as f32).collect();
            let one = sparse.learn_one(row.features(), row.label, row.weight);
            let other = full.learn_one(Features::new(&indices, &values).unwrap(), row.label, row.weight);
            assert_eq!(one.to_bits(), other.to_bits(), "{name}");
        }
    }
}

// ---- Budgets ----

/// Kernel descent with constant rates and a budget, on plain vectors: what is kept is a list.
fn plain_budget(rows: &[Row], kernel: &Kernel, eta: f64, size: usize, keep: Keep) -> Vec<f64> {
    let mut kept: Vec<(Vec<f64>, f64)> = Vec::new();
    rows.iter()
        .map(|row| {
            let x = dense(row);
            let p: f64 = kept.iter().map(|(z, c)| c * plain_kernel(kernel, z, &x)).sum();
            if kept.len() == size {
                let share = |(z, c): &(Vec<f64>, f64)| c.abs() * plain_kernel(kernel, z, z).sqrt();
                let smallest = (0..size).min_by(|&i, &j| share(&kept[i]).total_cmp(&share(&kept[j]))).unwrap();
                kept.remove(if keep == Keep::Oldest { 0 } else { smallest });
            }
            kept.push((x, -eta * row.weight * 2.0 * (p - row.label)));
            p
        })
        .collect()
}

#[test]
fn budgets_drop_what_they_say() {
    let loss = loss::parse("squared").unwrap();
    let rows = stream(loss.as_ref(), 200, 35);
    for kernel in SPACES {
        for keep in [Keep::Oldest, Keep::Smallest] {
            for size in [1, 2, 13] {
                let budget = Budget { size: Some(size), keep };
                let rate = KernelRate::Constant(0.05);
                let mut learner = KernelDescent::new(loss.clone(), kernel, budget, rate, 1.0).unwrap();
                for (row, expected) in rows.iter().zip(plain_budget(&rows, &kernel, 0.05, size, keep)) {
                    let score = learner.learn_one(row.features(), row.label, row.weight);
                    assert!((score - expected).abs() < 1e-9 * expected.abs().max(1.0), "{kernel:?} {budget:?}");
                    assert!(learner.support() <= size);
                }
                assert_eq!(learner.support(), size);
            }
        }
    }
}

/// Solves a symmetric positive system by elimination with pivots.
fn solve(matrix: &[Vec<f64>], right: &[f64]) -> Vec<f64> {
    let n = right.len();
    let mut rows: Vec<Vec<f64>> =
        matrix.iter().zip(right).map(|(row, &b)| row.iter().copied().chain([b]).collect()).collect();
    for column in 0..n {
        let pivot = (column..n).max_by(|&i, &j| rows[i][column].abs().total_cmp(&rows[j][column].abs())).unwrap();
        rows.swap(column, pivot);
        let head = rows[column].clone();
        for row in rows.iter_mut().skip(column + 1) {
            let factor = row[column] / head[column];
            row.iter_mut().zip(&head).for_each(|(entry, &above)| *entry -= factor * above);
        }
    }
    let mut solution = vec![0.0; n];
    for at in (0..n).rev() {
        let known: f64 = (at + 1..n).map(|j| rows[at][j] * solution[j]).sum();
        solution[at] = (rows[at][n] - known) / rows[at][at];
    }
    solution
}

/// Projectron on plain vectors, the Gram matrix solved anew each round.
fn plain_projectron(rows: &[Row], kernel: &Kernel, eta: f64, budget: usize, threshold: f64) -> Vec<f64> {
    let mut kept: Vec<(Vec<f64>, f64)> = Vec::new();
    rows.iter()
        .map(|row| {
            let x = dense(row);
            let products: Vec<f64> = kept.iter().map(|(z, _)| plain_kernel(kernel, z, &x)).collect();
            let p: f64 = kept.iter().zip(&products).map(|((_, c), product)| c * product).sum();
            let step = -eta * row.weight * 2.0 * (p - row.label);
            let matrix: Vec<Vec<f64>> =
                kept.iter().map(|(z, _)| kept.iter().map(|(y, _)| plain_kernel(kernel, z, y)).collect()).collect();
            let shares = solve(&matrix, &products);
            let itself = plain_kernel(kernel, &x, &x);
            let residual = itself - dot(&shares, &products);
            if kept.len() < budget && residual > threshold * threshold * itself {
                kept.push((x, step));
            } else {
                kept.iter_mut().zip(&shares).for_each(|((_, c), share)| *c += step * share);
            }
            p
        })
        .collect()
}

#[test]
fn projectron_projects_on_the_span_of_what_it_keeps() {
    let loss = loss::parse("squared").unwrap();
    let rows = stream(loss.as_ref(), 120, 36);
    for kernel in [Kernel::Rbf { gamma: 0.3 }, Kernel::Laplacian { gamma: 0.3 }] {
        for (budget, threshold) in [(1, 0.5), (15, 0.1), (1000, 0.6)] {
            let keep = Keep::Projectron { threshold };
            let rate = KernelRate::Constant(0.05);
            let budget_of = Budget { size: Some(budget), keep };
            let mut learner = KernelDescent::new(loss.clone(), kernel, budget_of, rate, 1.0).unwrap();
            let twin = plain_projectron(&rows, &kernel, 0.05, budget, threshold);
            for (row, expected) in rows.iter().zip(twin) {
                let score = learner.learn_one(row.features(), row.label, row.weight);
                assert!((score - expected).abs() < 1e-8, "{kernel:?} {budget} {threshold}: {score} {expected}");
            }
            assert!(learner.support() <= budget && learner.support() < 120, "{}", learner.support());
        }
    }
}

#[test]
fn projectron_with_threshold_zero_is_exact() {
    for (kernel, most) in [
        (Kernel::Linear, 8),
        // Monomials of degree up to 2 of 7 features besides the constant: at most 36 and more.
        (Kernel::Polynomial { gamma: 0.5, coef: 1.0, degree: 2 }, 45),
        (Kernel::Rbf { gamma: 0.3 }, 300),
    ] {
        for (name, loss) in ["squared", "hinge"].map(|name| (name, loss::parse(name).unwrap())) {
            let rows = stream(loss.as_ref(), 300, 37);
            let new = |budget| KernelDescent::new(loss.clone(), kernel, budget, KernelRate::SelfTuned, 3.0).unwrap();
            let mut exact = new(Budget::NONE);
            let mut projected = new(Budget { size: None, keep: Keep::Projectron { threshold: 0.0 } });
            for row in &rows {
                let one = exact.learn_one(row.features(), row.label, row.weight);
                let other = projected.learn_one(row.features(), row.label, row.weight);
                // What is within a millionth of the span counts as in it.
                assert!((one - other).abs() < 1e-5, "{kernel:?} {name}: {one} {other}");
            }
            assert!(projected.support() <= most, "{kernel:?}: {}", projected.support());
            assert!((exact.norm_squared() - projected.norm_squared()).abs() < 1e-5);
        }
    }
}

// ---- Features that stand for kernels ----

fn features(map: &dyn KernelMap, row: &Row) -> Vec<f64> {
    let mut made = Vec::new();
    map.append(row.features(), &mut made);
    made.into_iter().map(f64::from).collect()
}

#[test]
fn random_fourier_features_approximate_the_kernel_at_their_rate() {
    let mut random = Random(38);
    for (kernel, plain) in
        [(FourierKernel::Rbf, Kernel::Rbf { gamma: 0.3 }), (FourierKernel::Laplacian, Kernel::Laplacian { gamma: 0.3 })]
    {
        let pairs: Vec<[Row; 2]> = (0..5)
            .map(|pair| {
                [0, 1].map(|_| Row {
                    indices: vec![0, 3, 70_000 + pair, (1 << 31) - 1],
                    values: (0..4).map(|_| random.between(-1.0, 1.0) as f32).collect(),
                    ..at(0.0)
                })
            })
            .collect();
        for components in [64, 256, 1024] {
            let seeds = 200;
            let (mut ratio, mut count) = (0.0, 0.0);
            for pair in &pairs {
                let difference: Vec<f64> =
                    pair[0].values.iter().zip(&pair[1].values).map(|(x, y)| f64::from(*x) - f64::from(*y)).collect();
                let double: Vec<f64> = difference.iter().map(|d| 2.0 * d).collect();
                let value = plain_kernel(&plain, &difference, &[0.0; 4]);
                let variance = 1.0 + plain_kernel(&plain, &double, &[0.0; 4]) / 2.0 - value * value;
                let deviation = (variance / f64::from(components)).sqrt();
                let mut mean = 0.0;
                for seed in 0..seeds {
                    let map = Fourier::new(kernel, 0.3, components as usize, seed).unwrap();
                    let error = dot(&features(&map, &pair[0]), &features(&map, &pair[1])) - value;
                    mean += error / seeds as f64;
                    ratio += (error / deviation).powi(2);
                    count += 1.0;
                }
                // Unbiased: five standard deviations of a mean over seeds.
                assert!(mean.abs() < 5.0 * deviation / (seeds as f64).sqrt(), "{kernel:?} {components}: {mean}");
            }
            // Squared errors over their expectation. Were all pairs alike, this would be the mean of 200
            // squares of normals: five standard deviations are 5√(2/200) = 0.5.
            assert!((0.5..1.5).contains(&(ratio / count)), "{kernel:?} {components}: {}", ratio / count);
        }
    }
}

#[test]
fn nystrom_features_are_the_kernel_when_all_points_are_landmarks() {
    let loss = loss::parse("squared").unwrap();
    let rows = stream(loss.as_ref(), 40, 39);
    for kernel in SPACES {
        let mut map = Nystrom::new(kernel, 40).unwrap();
        rows.iter().for_each(|row| map.observe(row.features()));
        assert!(map.landmarks() <= if kernel == Kernel::Linear { 8 } else { 40 });
        for one in &rows {
            for other in &rows {
                let expected = plain_kernel(&kernel, &dense(one), &dense(other));
                let product = dot(&features(&map, one), &features(&map, other));
                // Features are f32.
                assert!((product - expected).abs() < 2e-6 * expected.abs().max(1.0) * 4.0, "{kernel:?}: {product}");
            }
        }
    }
}

#[test]
fn nystrom_features_are_k_inverse_between_the_sides() {
    // ⟨φ(x), φ(x')⟩ = kᵀK⁻¹k', whatever the basis.
    let loss = loss::parse("squared").unwrap();
    let rows = stream(loss.as_ref(), 60, 40);
    let kernel = Kernel::Rbf { gamma: 0.3 };
    let mut map = Nystrom::new(kernel, 12).unwrap();
    rows.iter().for_each(|row| map.observe(row.features()));
    assert_eq!(map.landmarks(), 12);
    let products = |row: &Row| -> Vec<f64> {
        rows[..12].iter().map(|landmark| plain_kernel(&kernel, &dense(landmark), &dense(row))).collect()
    };
    let matrix: Vec<Vec<f64>> = rows[..12].iter().map(products).collect();
    for one in &rows[12..] {
        for other in &rows[12..] {
            let expected = dot(&products(one), &solve(&matrix, &products(other)));
            let product = dot(&features(&map, one), &features(&map, other));
            assert!((product - expected).abs() < 1e-6, "{product} {expected}");
        }
    }
}

#[test]
fn with_landmarks_enough_nystrom_is_the_exact_kernel_learner() {
    for name in ["squared", "logistic"] {
        let loss = loss::parse(name).unwrap();
        // Eleven distinct points, again and again.
        let points = stream(loss.as_ref(), 11, 41);
        let mut random = Random(42);
        let mut exact = build("kernel:radius=2", &loss);
        let mut made = build("nystrom:components=11,bias=false,learner=(ogd:radius=2)", &loss);
        for _ in 0..300 {
            let row = &points[(random.next() % 11) as usize];
            let one = exact.learn_one(row.features(), row.label, row.weight);
            let other = made.learn_one(row.features(), row.label, row.weight);
            // The features that the map makes are f32.
            assert!((one - other).abs() < 1e-4, "{name}: {one} {other}");
        }
    }
}

// ---- Guarantees ----

/// Coordinates of rows in the kernel's space: their inner products are the kernel.
fn embedded(kernel: &Kernel, rows: &[Row]) -> Vec<Vec<f64>> {
    let points: Vec<Vec<f64>> = rows.iter().map(dense).collect();
    let mut factor: Vec<Vec<f64>> = Vec::new();
    for (i, x) in points.iter().enumerate() {
        let mut row = vec![0.0; rows.len()];
        for j in 0..=i {
            let rest =
                plain_kernel(kernel, x, &points[j]) - dot(&row[..j], if j == i { &row[..j] } else { &factor[j][..j] });
            let pivot = if j == i { 0.0 } else { factor[j][j] };
            row[j] = if j == i {
                rest.max(0.0).sqrt()
            } else if pivot > 1e-6 {
                rest / pivot
            } else {
                0.0
            };
        }
        factor.push(row);
    }
    factor
}

/// The least Σ h·ℓ over functions of norm ≤ radius that projected subgradient descent finds in
/// these coordinates: an upper bound of the least loss.
fn best_in_ball(rows: &[Row], points: &[Vec<f64>], loss: &SharedLoss, radius: f64) -> f64 {
    let mut f = vec![0.0; points[0].len()];
    let mut best = f64::INFINITY;
    for step in 1..=150 {
        let (mut total, mut gradient) = (0.0, vec![0.0; f.len()]);
        for (row, x) in rows.iter().zip(points) {
            let p = row.offset + dot(&f, x);
            total += row.weight * loss.value(p, row.label);
            let g = row.weight * loss.derivative(p, row.label);
            gradient.iter_mut().zip(x).for_each(|(z, x)| *z += g * x);
        }
        best = best.min(total);
        let norm = dot(&gradient, &gradient).sqrt().max(1e-300);
        let rate = 2.0 * radius / norm / f64::from(step).sqrt();
        f.iter_mut().zip(&gradient).for_each(|(f, z)| *f -= rate * z);
        let size = dot(&f, &f).sqrt();
        if size > radius {
            f.iter_mut().for_each(|f| *f *= radius / size);
        }
    }
    best
}

fn trial_streams(loss: &SharedLoss) -> Vec<(&'static str, Vec<Row>)> {
    let random = stream(loss.as_ref(), 128, 43);
    let mut sorted = random.clone();
    sorted.sort_by(|a, b| a.label.total_cmp(&b.label));
    let mut adversarial = stream(loss.as_ref(), 128, 44);
    // Labels against the trend that was there: the first half is unlearnt in the second.
    let half = adversarial.len() / 2;
    adversarial.sort_by(|a, b| b.label.total_cmp(&a.label));
    adversarial[half..].iter_mut().for_each(|row| row.values[1] = -row.values[1]);
    let mut heavy = stream(loss.as_ref(), 128, 45);
    heavy.iter_mut().step_by(17).for_each(|row| row.values.iter_mut().for_each(|value| *value *= 5.0));
    heavy.iter_mut().enumerate().for_each(|(round, row)| row.offset = ((round * 7) % 5) as f64 * 0.2 - 0.4);
    let (mut light, mut ponderous) = (sorted.clone(), sorted.clone());
    light.iter_mut().for_each(|row| row.weight *= 2e-38);
    ponderous.iter_mut().for_each(|row| row.weight *= 1e37);
    vec![
        ("random", random),
        ("sorted", sorted),
        ("adversarial", adversarial),
        ("heavy-tailed", heavy),
        ("light", light),
        ("ponderous", ponderous),
    ]
}

#[test]
fn no_function_of_the_ball_beats_the_guarantee() {
    let mut largest = 0f64;
    for name in ["squared", "absolute", "logistic", "hinge"] {
        let loss = loss::parse(name).unwrap();
        for (kind, rows) in trial_streams(&loss) {
            for kernel in SPACES {
                let points = embedded(&kernel, &rows);
                let new = |rate| KernelDescent::new(loss.clone(), kernel, Budget::NONE, rate, 2.0).unwrap();
                let mut learners = [
                    new(KernelRate::SelfTuned),
                    new(KernelRate::SelfTuned).with_step(StepKind::Flow),
                    new(KernelRate::Constant(0.01)),
                    // A plain step of this rate runs away on the squared loss.
                    new(KernelRate::Constant(0.2)).with_step(StepKind::Flow),
                ];
                let mut paid = [0.0; 4];
                for (round, row) in rows.iter().enumerate() {
                    for (learner, paid) in learners.iter_mut().zip(&mut paid) {
                        let score = learner.learn_one(row.features(), row.label, row.weight);
                        *paid += row.weight * loss.value(score, row.label);
                    }
                    if !(round + 1).is_power_of_two() {
                        continue;
                    }
                    let best = best_in_ball(&rows[..=round], &points[..=round], &loss, 2.0);
                    for (learner, paid) in learners.iter().zip(paid) {
                        let guarantee = learner.guarantee();
                        let context = format!("{} {name} {kind} {round}", learner.describe());
                        if let Err(reason) = &guarantee.bound {
                            // Only plain steps at a fixed rate run away, and they say so.
                            assert!(
                                context.contains("eta=0.01") && reason.contains("too large"),
                                "{context}: {reason}"
                            );
                            continue;
                        }
                        assert_eq!(guarantee.comparator, Some(Comparator::KernelBall(2.0)));
                        let bound = guarantee.bound.unwrap();
                        assert!(paid - best <= bound + 1e-9 * paid, "{context}: {} > {bound}", paid - best);
                        largest = largest.max((paid - best) / bound);
                    }
                }
            }
        }
    }
    assert!(largest > 0.2, "{largest}");
}

/// Plays a linear game with points that have nothing to do with each other (far apart for the RBF
/// kernel), and returns regret and bound.
fn orthogonal_game(rate: KernelRate, radius: f64, rounds: usize) -> (f64, f64) {
    let loss: SharedLoss = std::sync::Arc::new(LinearLoss);
    let kernel = Kernel::Rbf { gamma: 1.0 };
    let mut learner = KernelDescent::new(loss, kernel, Budget::NONE, rate, radius).unwrap();
    let mut paid = 0.0;
    for round in 0..rounds {
        let row = at(round as f32 * 100.0);
        // The sign against the learner; what it says is 0, and any sign will do.
        let score = learner.predict_one(row.features());
        let sign = if score < 0.0 { -1.0 } else { 1.0 };
        paid += sign * learner.learn_one(row.features(), sign, 1.0);
    }
    // The best function is −U·Σ z_t/‖Σ z_t‖, and pays −U√T.
    (paid + radius * (rounds as f64).sqrt(), learner.guarantee().bound.unwrap())
}

#[test]
fn on_orthogonal_points_the_bounds_are_reached() {
    for exponent in 0..=10 {
        let rounds = 1 << exponent;
        // The constant that is best for T rounds: the bound is U√T, and so is the regret.
        let constant = KernelRate::Constant(3.0 / f64::from(rounds).sqrt());
        let (regret, bound) = orthogonal_game(constant, 3.0, rounds as usize);
        assert!(regret <= bound * (1.0 + 1e-12), "{rounds}: {regret} {bound}");
        // So half the bound would be found out.
        assert!(regret > 0.999 * bound, "{rounds}: {regret} {bound}");
        let (regret, bound) = orthogonal_game(KernelRate::SelfTuned, 3.0, rounds as usize);
        // U√T of √2·2·U√T, or a little less of it, as rates are sums over rounds.
        assert!(regret <= bound && regret > 0.35 * bound, "{rounds}: {regret} {bound}");
    }
}

#[test]
fn against_the_sign_of_the_score_the_bounds_hold() {
    // A linear game whose signs are against the score, on a few points that come again and again,
    // in all kernels; the best function in hindsight has a closed form.
    let loss: SharedLoss = std::sync::Arc::new(LinearLoss);
    for kernel in SPACES {
        for (eta, period) in [(None, 1), (None, 5), (Some(0.05), 1), (Some(0.05), 5), (Some(0.5), 3)] {
            let rate = eta.map_or(KernelRate::SelfTuned, KernelRate::Constant);
            let mut learner = KernelDescent::new(loss.clone(), kernel, Budget::NONE, rate, 1.5).unwrap();
            let points = stream(loss.as_ref(), period, 46);
            let (mut paid, mut sums) = (0.0, vec![0.0; period]);
            for round in 0..512usize {
                let row = &points[round % period];
                let score = learner.predict_one(row.features());
                let sign = if score < 0.0 { -1.0 } else { 1.0 };
                paid += sign * learner.learn_one(row.features(), sign, 1.0);
                sums[round % period] += sign;
                if !(round + 1).is_power_of_two() {
                    continue;
                }
                let mut square = 0.0;
                for (x, a) in points.iter().zip(&sums) {
                    for (y, b) in points.iter().zip(&sums) {
                        square += a * b * plain_kernel(&kernel, &dense(x), &dense(y));
                    }
                }
                let regret = paid + 1.5 * square.max(0.0).sqrt();
                let bound = learner.guarantee().bound.unwrap();
                assert!(regret <= bound * (1.0 + 1e-9), "{kernel:?} {eta:?} {round}: {regret} {bound}");
            }
        }
    }
}

#[test]
fn the_kernel_perceptron_exceeds_no_function_by_more_than_its_bound_and_reaches_it() {
    // Every point is new, and a mistake: M = T, and the best function has margin U/√T on each.
    for rounds in [4usize, 64, 400] {
        let radius = 2.0;
        let mut learner = KernelPerceptron::new(Kernel::Rbf { gamma: 1.0 }, Budget::NONE, radius, &ZeroOne).unwrap();
        for round in 0..rounds {
            let label = if round % 3 == 0 { 1.0 } else { -1.0 };
            learner.learn_one(at(round as f32 * 100.0).features(), label, 1.0);
        }
        let margin = radius / (rounds as f64).sqrt();
        let hinge = rounds as f64 * (1.0 - margin).max(0.0);
        let bound = learner.guarantee().bound.unwrap();
        assert_eq!(learner.updates(), rounds as f64);
        assert!(learner.updates() - hinge <= bound + 1e-9 && learner.updates() - hinge > 0.999 * bound);
    }
}

#[test]
fn on_noisy_streams_no_function_beats_the_kernel_perceptron_by_more_than_its_bound() {
    let hinge = loss::parse("hinge").unwrap();
    for (name, mut rows) in [("ring", ring(300, 47)), ("exclusive or", exclusive_or(300, 48))] {
        let mut random = Random(49);
        for row in &mut rows {
            if random.uniform() < 0.1 {
                row.label = -row.label;
            }
            row.weight = [1.0, 2.0][(random.next() % 2) as usize];
            row.offset = random.between(-0.3, 0.3);
        }
        for kernel in SPACES {
            let mut learner = KernelPerceptron::new(kernel, Budget::NONE, 3.0, &ZeroOne).unwrap();
            let mut updated: Vec<Row> = Vec::new();
            for row in &rows {
                let before = learner.updates();
                learner.learn_one(row.features(), row.label, row.weight);
                if learner.updates() > before {
                    updated.push(row.clone());
                }
            }
            assert_eq!(learner.guarantee().comparator, Some(Comparator::KernelHingeOnUpdates(3.0)));
            let best = best_in_ball(&updated, &embedded(&kernel, &updated), &hinge, 3.0);
            let bound = learner.guarantee().bound.unwrap();
            assert!(learner.updates() - best <= bound, "{name} {kernel:?}: {} {best} {bound}", learner.updates());
        }
    }
}

#[test]
fn on_classes_with_a_margin_the_kernel_perceptron_stops_making_mistakes() {
    let mut learner = KernelPerceptron::new(Kernel::Rbf { gamma: 1.0 }, Budget::NONE, 1.0, &ZeroOne).unwrap();
    for row in ring(1000, 50) {
        learner.learn_one(row.features(), row.label, 1.0);
    }
    let after = learner.updates();
    for row in ring(1000, 51) {
        learner.learn_one(row.features(), row.label, 1.0);
    }
    assert!(after > 0.0 && after < 100.0 && learner.updates() - after <= 3.0, "{after} {}", learner.updates());
    assert_eq!(learner.support() as f64, learner.updates());
}

#[test]
fn where_the_theorem_does_not_apply_there_is_no_number() {
    let logistic = loss::parse("logistic").unwrap();
    let zero_one: SharedLoss = std::sync::Arc::new(ZeroOne);
    let scales = ProblemBounds { rounds: 100.0, norm: 2.0, ..ProblemBounds::default() };
    for (name, loss) in [
        ("kernel:kernel=sigmoid", &logistic),
        ("kernel:budget=10", &logistic),
        ("kernel:keep=projectron", &logistic),
        ("kernel-perceptron:kernel=sigmoid", &zero_one),
        ("kernel-perceptron:budget=10,keep=smallest", &zero_one),
        ("nystrom:learner=ogd", &logistic),
        ("rff:learner=ogd", &logistic),
    ] {
        let mut learner = build(name, loss);
        for row in stream(loss.as_ref(), 30, 52) {
            learner.learn_one(row.features(), row.label, row.weight);
        }
        assert!(learner.guarantee().bound.is_err(), "{name}");
        let specification: LearnerSpec = name.parse().unwrap();
        assert!(specification.plan(loss, None, &scales).unwrap().bound.is_err(), "{name}");
    }
    // Cut off: the theorem is about what was not.
    let mut learner = build("kernel:kernel=polynomial", &logistic);
    learner.learn_one(at(3e38).features(), 1.0, 1.0);
    assert!(learner.guarantee().bound.is_err());
    // A mixture behind a map keeps its promise against its experts.
    let mut learner = build("rff", &logistic);
    accuracy(learner.as_mut(), &ring(50, 53));
    assert_eq!(learner.guarantee().comparator, Some(Comparator::Experts));
    assert!(learner.mixture().is_some());
}

#[test]
fn what_is_planned_is_kept() {
    let mut random = Random(54);
    let zero_one: SharedLoss = std::sync::Arc::new(ZeroOne);
    for (name, losses) in [
        ("kernel", &["squared", "logistic", "hinge", "absolute", "poisson"][..]),
        ("kernel:kernel=linear,radius=3", &["squared", "hinge"]),
        ("kernel:kernel=polynomial,radius=0.5,step=gradient", &["squared", "logistic"]),
        ("kernel:kernel=laplacian,eta=0.3", &["logistic", "hinge", "absolute", "huber"]),
        ("kernel-perceptron:kernel=polynomial", &["zero-one"]),
    ] {
        for loss in losses {
            let loss = if *loss == "zero-one" { zero_one.clone() } else { loss::parse(loss).unwrap() };
            let mut learner = build(name, &loss);
            for _ in 0..200 {
                let mut values: Vec<f32> = (0..3).map(|_| random.between(-1.0, 1.0) as f32).collect();
                let norm = values.iter().map(|x| x * x).sum::<f32>().sqrt();
                values.iter_mut().for_each(|x| *x *= 1.499 / norm);
                let label = match (loss.task(), loss.check_label(-1.0)) {
                    (loss::Task::Binary, _) | (_, Ok(())) => [-1.0, 1.0][(random.next() % 2) as usize],
                    _ => random.uniform().round(),
                };
                learner.learn_one(Features::new(&[0, 1, 2], &values).unwrap(), label, 1.0);
            }
            let scales = ProblemBounds {
                rounds: 200.0,
                norm: 1.5,
                largest: 1.5,
                label: 1.0,
                dimension: 3.0,
                ..ProblemBounds::default()
            };
            let plan = name.parse::<LearnerSpec>().unwrap().plan(&loss, None, &scales).unwrap();
            let own = learner.guarantee();
            assert_eq!(plan.comparator, own.comparator);
            assert!(
                own.bound.clone().unwrap() <= plan.bound.clone().unwrap(),
                "{name} {}: {own:?} {plan:?}",
                loss.name()
            );
        }
    }
    // Slopes that grow with the score have no bound beforehand without a ball.
    let squared = loss::parse("squared").unwrap();
    let plan =
        "kernel:eta=0.1".parse::<LearnerSpec>().unwrap().plan(&squared, None, &ProblemBounds::default()).unwrap();
    assert!(plan.bound.is_err());
}

// ---- What kernels are for ----

fn accuracy(learner: &mut dyn onward::Learner, rows: &[Row]) -> f64 {
    let correct = rows.iter().filter(|row| learner.learn_one(row.features(), row.label, 1.0) * row.label > 0.0);
    correct.count() as f64 / rows.len() as f64
}

#[test]
fn kernels_solve_what_no_line_can() {
    let logistic = loss::parse("logistic").unwrap();
    let zero_one: SharedLoss = std::sync::Arc::new(ZeroOne);
    for (name, rows) in [("ring", ring(2000, 55)), ("exclusive or", exclusive_or(2000, 56))] {
        for (learner, loss, least) in [
            ("kernel:gamma=1", &logistic, 0.95),
            ("kernel:gamma=1,budget=100,keep=projectron", &logistic, 0.95),
            ("kernel:gamma=1,budget=200", &logistic, 0.9),
            ("kernel:kernel=laplacian,gamma=1,budget=200,keep=smallest", &logistic, 0.9),
            ("kernel:kernel=polynomial,degree=2,gamma=1", &logistic, 0.95),
            ("kernel-perceptron:gamma=1", &zero_one, 0.95),
            ("kernel-perceptron:gamma=1,budget=40", &zero_one, 0.9),
            ("nystrom:gamma=1,components=50", &logistic, 0.95),
            ("nystrom:gamma=1,components=50,learner=ogd", &logistic, 0.95),
            ("rff:gamma=1,components=128", &logistic, 0.95),
            ("rff:gamma=1,components=128,learner=ogd", &logistic, 0.95),
        ] {
            let share = accuracy(build(learner, loss).as_mut(), &rows);
            assert!(share > least, "{name} {learner}: {share}");
        }
        for linear in ["ogd", "nag"] {
            let share = accuracy(build(linear, &logistic).as_mut(), &rows);
            assert!(share < 0.7, "{name} {linear}: {share}");
        }
    }
}

#[test]
fn kernels_solve_what_pairs_of_features_cannot() {
    // The default learner has products of two features for rows as narrow as these; the sign of a
    // product of three is beyond it.
    let logistic = loss::parse("logistic").unwrap();
    let mut random = Random(60);
    let mut rows = exclusive_or(3000, 61);
    for row in &mut rows {
        let third = random.between(0.3, 1.0) * if random.uniform() < 0.5 { 1.0 } else { -1.0 };
        row.indices.push(3);
        row.values.push(third as f32);
        row.label *= third.signum();
    }
    let linear = accuracy(build("auto", &logistic).as_mut(), &rows);
    assert!(linear < 0.6, "auto: {linear}");
    for name in [
        "kernel:gamma=1",
        "kernel:kernel=polynomial,gamma=1",
        "nystrom:gamma=1",
        "nystrom:gamma=1,learner=ogd",
        "rff:gamma=1",
    ] {
        let share = accuracy(build(name, &logistic).as_mut(), &rows);
        assert!(share > 0.85, "{name}: {share}");
    }
}

// ---- Parameters and states ----

#[test]
fn parameters_out_of_range_are_refused_by_name() {
    let logistic = loss::parse("logistic").unwrap();
    let error = |name: &str| {
        let refused = name.parse::<LearnerSpec>().and_then(|it| it.build(&logistic, None).map(drop));
        refused.expect_err(name).to_string()
    };
    for (name, says) in [
        ("kernel:kernel=cubic", "kernel of kernel must be linear, polynomial, rbf, laplacian or sigmoid; got cubic"),
        ("kernel:gamma=0", "gamma of kernel must be above 0; got 0"),
        ("kernel:gamma=NaN", "gamma of kernel must be above 0; got NaN"),
        ("kernel:kernel=linear,gamma=1", "gamma of kernel has no effect with kernel=linear"),
        ("kernel:degree=2", "degree of kernel has no effect without kernel=polynomial"),
        ("kernel:kernel=polynomial,degree=0", "degree of kernel must be a whole number from 1 to 20; got 0"),
        ("kernel:kernel=polynomial,coef=-1", "coef of kernel with kernel=polynomial must be from 0 to 1e30; got -1"),
        ("kernel:kernel=sigmoid,coef=inf", "coef of kernel must be from -1e30 to 1e30; got inf"),
        ("kernel:kernel=sigmoid,keep=projectron", "keep=projectron needs a kernel that is an inner product"),
        ("kernel:budget=0", "budget of kernel must be a whole number from 1 to 16777216, or none; got 0"),
        ("kernel:keep=newest", "keep of kernel must be oldest, smallest or projectron; got newest"),
        ("kernel:keep=projectron,threshold=2", "threshold of kernel must be from 0 to 1; got 2"),
        ("kernel:threshold=0.5", "threshold of kernel has no effect without keep=projectron"),
        ("kernel:eta=-1", "eta of kernel must be above 0, or auto; got -1"),
        ("kernel:radius=0", "radius of kernel must be above 0; got 0"),
        ("kernel:step=jump", "step of kernel must be gradient or flow; got jump"),
        ("nystrom:components=0", "components of nystrom must be a whole number from 1 to 10000; got 0"),
        ("nystrom:kernel=sigmoid", "kernel must be linear, polynomial, rbf or laplacian; got sigmoid"),
        (
            "nystrom:learner=ogd+nag",
            "learner of nystrom must be one learner, such as auto or (ogd:radius=5); got ogd+nag",
        ),
        ("nystrom:learner=nobody", "there is no learner 'nobody'"),
        ("nystrom:learner=(ogd:eta=-1)", "eta of ogd must be above 0, or auto; got -1"),
        ("rff:kernel=linear", "kernel of rff must be rbf or laplacian; got linear"),
        ("rff:components=2000000", "components of rff must be a whole number from 1 to 1048576; got 2000000"),
        ("rff:seed=-1", "seed of rff must be a whole number; got -1"),
        ("rff:learner=perceptron", "perceptron"),
    ] {
        assert!(error(name).contains(says), "{name}: {}", error(name));
    }
}

/// Every way in which one column or number can be wrong.
fn damages(state: &State) -> Vec<(String, State)> {
    let mut all = Vec::new();
    let mut add = |what: String, change: &dyn Fn(&mut State)| {
        let mut damaged = state.clone();
        change(&mut damaged);
        all.push((what, damaged));
    };
    for name in state.numbers().keys() {
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            add(format!("{name} = {value}"), &|state| state.set(name, value));
        }
    }
    for (name, column) in state.columns() {
        let shorter = match column {
            SavedColumn::F32(values) => SavedColumn::F32(values[1..].to_vec()),
            SavedColumn::F64(values) => SavedColumn::F64(values[1..].to_vec()),
            SavedColumn::U32(values) => SavedColumn::U32(values[1..].to_vec()),
            SavedColumn::U8(values) => SavedColumn::U8(values[1..].to_vec()),
        };
        add(format!("{name} cut"), &|state| state.set_column(name, shorter.clone()));
        let wrong = match column {
            SavedColumn::F32(values) => SavedColumn::F32([&[f32::NAN], &values[1..]].concat()),
            SavedColumn::F64(values) => SavedColumn::F64([&[f64::NAN], &values[1..]].concat()),
            SavedColumn::U32(values) => SavedColumn::U32([&[u32::MAX], &values[1..]].concat()),
            SavedColumn::U8(values) => SavedColumn::U8(values.clone()),
        };
        add(format!("{name} wrong"), &|state| state.set_column(name, wrong.clone()));
    }
    all
}

#[test]
fn damaged_states_are_refused() {
    let logistic = loss::parse("logistic").unwrap();
    let zero_one: SharedLoss = std::sync::Arc::new(ZeroOne);
    for (name, loss) in [
        ("kernel", &logistic),
        ("kernel:budget=10", &logistic),
        ("kernel:budget=10,keep=projectron", &logistic),
        ("kernel-perceptron", &zero_one),
        ("nystrom:components=10", &logistic),
    ] {
        let mut learner = build(name, loss);
        for row in stream(loss.as_ref(), 40, 57) {
            learner.learn_one(row.features(), row.label, row.weight);
        }
        // What the learner inside refuses is its own affair.
        let is_ours = |what: &str| !what.starts_with("learner.");
        let tried = damages(&learner.state()).into_iter().filter(|(what, _)| is_ours(what));
        for (what, damaged) in tried {
            assert!(build(name, loss).restore(&damaged).is_err(), "{name} {what}");
        }
        assert!(build(name, loss).restore(&learner.state()).is_ok());
    }
    // More rows than the budget holds.
    let mut learner = build("kernel:budget=10", &logistic);
    accuracy(learner.as_mut(), &stream(logistic.as_ref(), 40, 58));
    assert!(build("kernel:budget=9", &logistic).restore(&learner.state()).is_err());
    // A row twice has no Gram matrix that could be factored.
    let mut learner = build("kernel:budget=2,keep=projectron", &logistic);
    accuracy(learner.as_mut(), &[at(1.0), at(2.0)]);
    let mut state = learner.state();
    state.set_column("row.value", SavedColumn::F32(vec![1.0, 1.0]));
    assert!(build("kernel:budget=2,keep=projectron", &logistic).restore(&state).is_err());
}

/// Learners whose parameters are not the defaults, which the battery tries.
const VARIANTS: [&str; 16] = [
    "kernel:kernel=linear",
    "kernel:kernel=linear,eta=0.1",
    "kernel:kernel=linear,eta=0.1,step=gradient",
    "kernel:kernel=polynomial,degree=20,gamma=1e30,coef=1e30,eta=1e30,step=gradient",
    "kernel:kernel=polynomial,coef=0,degree=4,eta=1",
    "kernel:kernel=laplacian,budget=5",
    "kernel:kernel=sigmoid,coef=-1,gamma=1",
    "kernel:kernel=sigmoid,eta=1,step=gradient,budget=7,keep=smallest",
    "kernel:kernel=linear,eta=1e30,budget=5,keep=smallest,radius=1e-30",
    "kernel:kernel=linear,keep=projectron,threshold=0",
    "kernel:kernel=polynomial,keep=projectron,threshold=0,eta=1,budget=20,step=gradient",
    "kernel:keep=projectron,threshold=1,radius=1e30",
    "nystrom:kernel=linear,components=5",
    "nystrom:kernel=polynomial,coef=0,degree=20,learner=(nag:eta=1)",
    "rff:kernel=laplacian,gamma=1e30,components=7,learner=adagrad",
    "rff:gamma=1e30,components=1,bias=false,learner=auto",
];

#[test]
fn everything_stays_finite_under_any_finite_input_with_any_parameters() {
    let extremes = [0.0, 1.0, -1.0, f32::MAX, f32::MIN, f32::MIN_POSITIVE, 1e-45, -1e30, 1e-20, 3.0e7];
    let zero_one: SharedLoss = std::sync::Arc::new(ZeroOne);
    let losses = ["squared", "hinge", "logistic", "poisson"].map(|name| loss::parse(name).unwrap());
    let perceptrons = ["linear", "polynomial,keep=projectron", "sigmoid,budget=9"]
        .map(|kernel| (format!("kernel-perceptron:kernel={kernel}"), zero_one.clone()));
    let others = VARIANTS.iter().flat_map(|name| losses.iter().map(|loss| (name.to_string(), loss.clone())));
    for (name, loss) in others.chain(perceptrons) {
        let mut random = Random(62);
        let mut learner = build(&name, &loss);
        for round in 0..120 {
            let values: Vec<f32> = (0..6).map(|_| extremes[(random.next() % 10) as usize]).collect();
            let label = match (loss.task(), loss.check_label(-1.0).is_ok()) {
                (loss::Task::Binary, _) => [-1.0, 1.0][(random.next() % 2) as usize],
                (_, true) => [0.0, -1e9, f64::from(f32::MAX), f64::from(f32::MIN)][(random.next() % 4) as usize],
                (_, false) => [0.0, 1e9, f64::from(f32::MAX)][(random.next() % 3) as usize],
            };
            let weight = [1.0, 1e-38, 1e9, 3.0e38][(random.next() % 4) as usize];
            let offset = f64::from(extremes[(random.next() % 10) as usize]);
            let x = Features::new(&[0, 1, 2, 3, 4, 5], &values).unwrap().with_offset(offset).unwrap();
            let score = learner.learn_one(x, label, weight);
            assert!(score.is_finite(), "{name} {} round {round}: {score}", loss.name());
            assert!(learner.guarantee().bound.is_ok_and(f64::is_finite) || learner.guarantee().bound.is_err());
        }
        let state = learner.state();
        assert!(state.numbers().values().all(|number| number.is_finite()), "{name} {}: {state:?}", loss.name());
        if let Some(SavedColumn::F64(coefficients)) = state.columns().get("coefficient") {
            assert!(coefficients.iter().all(|c| c.is_finite()), "{name} {}", loss.name());
        }
        // What was saved is taken back, whatever happened.
        let mut again = build(&learner.describe(), &loss);
        again.restore(&state).unwrap_or_else(|error| panic!("{name} {}: {error}", loss.name()));
    }
}

#[test]
fn variants_too_are_saved_and_continued_to_the_bit() {
    let loss = loss::parse("squared").unwrap();
    let rows = stream(loss.as_ref(), 200, 63);
    for name in VARIANTS {
        let (mut whole, mut first) = (build(name, &loss), build(name, &loss));
        rows[..100].iter().for_each(|row| {
            whole.learn_one(row.features(), row.label, row.weight);
            first.learn_one(row.features(), row.label, row.weight);
        });
        let mut second = build(&first.describe(), &loss);
        second.restore(&first.state()).unwrap();
        for row in &rows[100..] {
            let one = whole.learn_one(row.features(), row.label, row.weight);
            let other = second.learn_one(row.features(), row.label, row.weight);
            assert_eq!(one.to_bits(), other.to_bits(), "{name}");
        }
        assert_eq!((whole.state(), whole.guarantee()), (second.state(), second.guarantee()), "{name}");
    }
}

#[test]
fn maps_go_behind_maps() {
    let logistic = loss::parse("logistic").unwrap();
    let name = "rff:components=64,gamma=1,learner=(nystrom:components=20,learner=(ogd:radius=5))";
    let mut learner = build(name, &logistic);
    assert_eq!(build(&learner.describe(), &logistic).describe(), learner.describe());
    assert!(accuracy(learner.as_mut(), &ring(1500, 59)) > 0.85);
}
