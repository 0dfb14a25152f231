//! The perceptron's bounds (Novikoff; hinge loss of any comparator), its variants, and the
//! passive-aggressive learners, which update at mistakes too.

use onward::guarantee::Comparator;
use onward::learner::{
    Aggressiveness, AveragedPerceptron, LearnerSpec, PassiveAggressive, Perceptron, ProblemBounds,
    SecondOrderPerceptron, VotedPerceptron,
};
use onward::loss::{self, ZeroOne};
use onward::{Features, ScoreLearner};

use crate::common::Random;

const ALL: [u32; 6] = [0, 1, 2, 3, 4, 5];

fn features(values: &[f32]) -> Features<'_> {
    Features::new(&ALL[..values.len()], values).unwrap()
}

fn dot(u: &[f64], x: &[f32]) -> f64 {
    u.iter().zip(x).map(|(u, &x)| u * f64::from(x)).sum()
}

fn norm(u: &[f64]) -> f64 {
    u.iter().map(|u| u * u).sum::<f64>().sqrt()
}

fn length(x: &[f32]) -> f64 {
    x.iter().map(|&x| f64::from(x) * f64::from(x)).sum::<f64>().sqrt()
}

fn build(name: &str, loss: &str) -> Box<dyn onward::Learner> {
    name.parse::<LearnerSpec>().unwrap().build(loss::parse(loss).unwrap(), None).unwrap()
}

/// A perceptron that counts.
trait Counts: ScoreLearner {
    fn counts(&self) -> (f64, f64);
}

macro_rules! counts {
    ($($learner:ty),*) => { $(impl Counts for $learner {
        fn counts(&self) -> (f64, f64) {
            (self.updates(), self.mistakes())
        }
    })* };
}

counts!(Perceptron, AveragedPerceptron, VotedPerceptron, SecondOrderPerceptron);

/// Those with a bound.
fn bounded(radius: f64) -> Vec<Box<dyn Counts>> {
    vec![
        Box::new(Perceptron::new(radius, &ZeroOne).unwrap()),
        Box::new(Perceptron::with_margin(0.3, radius, &ZeroOne).unwrap()),
        Box::new(Perceptron::with_margin(2.0, radius, &ZeroOne).unwrap()),
        Box::new(SecondOrderPerceptron::new(1.0, 10, radius, &ZeroOne).unwrap()),
        Box::new(SecondOrderPerceptron::new(0.01, 10, radius, &ZeroOne).unwrap()),
    ]
}

fn every() -> Vec<Box<dyn Counts>> {
    let mut all = bounded(1.0);
    all.push(Box::new(AveragedPerceptron::new(&ZeroOne).unwrap()));
    all.push(Box::new(VotedPerceptron::new(100, &ZeroOne).unwrap()));
    all
}

#[test]
fn trap_a_score_of_zero_is_a_mistake_to_learn_from() {
    for label in [1.0, -1.0] {
        for mut learner in every() {
            let x = Features::new(&[0], &[1.0]).unwrap();
            learner.learn_one(x, label, 1.0);
            // The score 0 predicts 1: the sign is wrong for the label −1 alone.
            assert_eq!(learner.counts(), (1.0, if label > 0.0 { 0.0 } else { 1.0 }));
            assert!(learner.linear().is_none_or(|linear| linear.weight(0) * label > 0.0));
            assert!(learner.predict_one(x) * label > 0.0);
        }
    }
}

/// Features and labels.
type Labelled = Vec<(Vec<f32>, f64)>;

/// A stream that a direction separates with this margin at least; the margin and the diameter that it has.
fn separable(seed: u64, margin: f64) -> (Labelled, f64, f64) {
    let mut random = Random(seed);
    let direction: Vec<f64> = (0..5).map(|_| random.between(-1.0, 1.0)).collect();
    let (mut least, mut diameter) = (f64::INFINITY, 0f64);
    let mut rows = Vec::new();
    for _ in 0..5000 {
        let values: Vec<f32> = (0..5).map(|_| random.between(-1.0, 1.0) as f32).collect();
        let score = dot(&direction, &values) / norm(&direction);
        if score.abs() >= margin {
            least = least.min(score.abs());
            diameter = diameter.max(length(&values));
            rows.push((values, score.signum()));
        }
    }
    (rows, least, diameter)
}

#[test]
fn on_separable_streams_updates_stay_below_diameter_over_margin_squared() {
    for seed in 0..20 {
        let (rows, margin, diameter) = separable(seed, 0.05);
        let mut learner = Perceptron::new(1.0, &ZeroOne).unwrap();
        for (x, y) in &rows {
            learner.learn_one(features(x), *y, 1.0);
        }
        assert!(learner.updates() > 0.0 && learner.updates() <= (diameter / margin).powi(2));
        assert!(learner.mistakes() <= learner.updates());
        for least in [0.1, 1.0] {
            let mut learner = Perceptron::with_margin(least, 1.0, &ZeroOne).unwrap();
            for (x, y) in &rows {
                learner.learn_one(features(x), *y, 1.0);
            }
            let bound = (diameter * diameter + 2.0 * least) / (margin * margin);
            assert!(learner.updates() > 0.0 && learner.updates() <= bound);
        }
    }
}

#[test]
fn novikoffs_bound_does_not_depend_on_how_long_the_stream_is() {
    let (rows, margin, diameter) = separable(3, 0.2);
    let mut learner = Perceptron::new(1.0, &ZeroOne).unwrap();
    for _ in 0..50 {
        for (x, y) in &rows {
            learner.learn_one(features(x), *y, 1.0);
        }
    }
    assert!(learner.updates() <= (diameter / margin).powi(2));
    let before = learner.updates();
    for (x, y) in &rows {
        learner.learn_one(features(x), *y, 1.0);
    }
    assert_eq!(learner.updates(), before, "it has converged");
}

#[test]
fn with_offsets_too_updates_exceed_the_hinge_loss_of_no_comparator_by_more_than_the_bound() {
    for (seed, toward_label) in [(7, true), (8, false), (9, true), (10, false)] {
        exceed_no_comparator(seed, |random, label| {
            let size = 0.8 * random.uniform();
            if (random.uniform() < 0.8) == toward_label { size * label } else { -size * label }
        });
    }
}

#[test]
fn on_noisy_streams_updates_exceed_the_hinge_loss_of_no_comparator_by_more_than_the_bound() {
    exceed_no_comparator(99, |_, _| 0.0);
}

/// A round with an update: features, label, importance, offset.
type Updated = (Vec<f32>, f64, f64, f64);

/// Σ h·max(0, 1 − y(b + ⟨u, x⟩)).
fn hinge(updated: &[Updated], u: &[f64]) -> f64 {
    updated.iter().map(|(x, y, h, b)| h * (1.0 - y * (b + dot(u, x))).max(0.0)).sum()
}

fn exceed_no_comparator(seed: u64, offset: impl Fn(&mut Random, f64) -> f64) {
    for mut learner in bounded(3.0) {
        let mut random = Random(seed);
        let mut updated: Vec<Updated> = Vec::new();
        for _ in 0..3000 {
            let values: Vec<f32> = (0..3).map(|_| random.between(-1.0, 1.0) as f32).collect();
            let noise = random.uniform() < 0.2;
            let label = if (values[0] > 0.0) != noise { 1.0 } else { -1.0 };
            let weight = [1.0, 2.0][(random.next() % 2) as usize];
            let before = learner.counts().0;
            let offset = offset(&mut random, label);
            learner.learn_one(features(&values).with_offset(offset).unwrap(), label, weight);
            if learner.counts().0 > before {
                updated.push((values, label, weight, offset));
            }
        }
        let guarantee = learner.guarantee();
        assert_eq!(guarantee.comparator, Some(Comparator::HingeOnUpdates(3.0)));
        let (bound, (updates, mistakes)) = (guarantee.bound.unwrap(), learner.counts());
        assert!(mistakes <= updates && updates < 6000.0);
        for _ in 0..500 {
            let mut u: Vec<f64> = (0..3).map(|_| random.between(-1.0, 1.0)).collect();
            let scale = 3.0 * random.uniform() / norm(&u);
            u.iter_mut().for_each(|u| *u *= scale);
            let hinge = hinge(&updated, &u);
            assert!(updates <= hinge + bound, "{} {updates} {hinge} {bound}", learner.describe());
        }
    }
}

#[test]
fn updates_stay_below_the_hinge_loss_on_all_rounds_and_the_root_of_it() {
    for (seed, noise) in [(1, 0.0), (2, 0.1), (3, 0.5)] {
        let mut random = Random(seed);
        let mut learner = Perceptron::new(1.0, &ZeroOne).unwrap();
        let (mut rows, mut largest): (Vec<Updated>, f64) = Default::default();
        for _ in 0..800 {
            let values: Vec<f32> = (0..3).map(|_| random.between(-1.0, 1.0) as f32).collect();
            let label = if (values[0] > values[1]) != (random.uniform() < noise) { 1.0 } else { -1.0 };
            learner.learn_one(features(&values), label, 1.0);
            largest = largest.max(length(&values));
            rows.push((values, label, 1.0, 0.0));
        }
        for size in [0.0, 0.3, 1.0, 3.0, 10.0, 30.0] {
            for tilt in [-1.0, -0.5, 0.0, 0.5] {
                let u = [size, size * tilt, 0.1 * size];
                // M ≤ H + ‖u‖X√M, solved for M.
                let (hinge, reach) = (hinge(&rows, &u), norm(&u) * largest);
                assert!(learner.updates() <= hinge + reach * reach + reach * hinge.sqrt(), "{seed} {u:?}");
                // X is that of the rounds with an update.
                let theorem = learner.novikoff().unwrap();
                assert!(theorem.size <= largest && theorem.offsets == 0.0);
                assert!(learner.updates() <= theorem.against(hinge, norm(&u)), "{seed} {u:?}");
            }
        }
    }
}

#[test]
fn the_theorem_holds_with_weights_offsets_and_margins() {
    for seed in 0..20 {
        let mut random = Random(seed);
        let margin = random.between(0.01, 2.0);
        let both = [Perceptron::new(1.0, &ZeroOne), Perceptron::with_margin(margin, 1.0, &ZeroOne)];
        for mut learner in both.map(Result::unwrap) {
            let mut rows: Vec<Updated> = Vec::new();
            for _ in 0..400 {
                let values: Vec<f32> = (0..3).map(|_| random.between(-1.0, 1.0) as f32).collect();
                let label = if (values[0] > values[1]) != (random.uniform() < 0.1) { 1.0 } else { -1.0 };
                let (weight, offset) = (random.between(0.1, 5.0), random.between(-1.0, 1.0));
                learner.learn_one(features(&values).with_offset(offset).unwrap(), label, weight);
                rows.push((values, label, weight, offset));
            }
            let theorem = learner.novikoff().unwrap();
            for size in [0.0, 0.3, 1.0, 3.0, 10.0, 30.0] {
                let u = [size, -size, 0.0];
                let bound = theorem.against(hinge(&rows, &u), norm(&u));
                assert!(learner.updates() <= bound, "{seed} {size} {} {bound}", learner.updates());
            }
        }
    }
}

#[test]
fn novikoffs_bound_is_met_with_equality_by_orthogonal_rows() {
    for dimension in [1u32, 7, 400] {
        let mut learner = Perceptron::new(1.0, &ZeroOne).unwrap();
        for index in (0..dimension).chain(0..dimension) {
            let label = if index % 3 == 0 { 1.0 } else { -1.0 };
            learner.learn_one(Features::new(&[index], &[2.0]).unwrap(), label, 1.0);
        }
        // u = (y_1, …, y_d)/√d has the margin 2/√d.
        let margin = 2.0 / f64::from(dimension).sqrt();
        let theorem = learner.novikoff().unwrap();
        assert_eq!(learner.updates(), f64::from(dimension));
        assert!((theorem.separable(margin) / learner.updates() - 1.0).abs() < 1e-12);
        // Without a hinge loss both forms are one: ‖u‖ = 1/γ.
        assert!((theorem.against(0.0, 1.0 / margin) / learner.updates() - 1.0).abs() < 1e-12);
    }
}

#[test]
fn trap_the_length_of_the_weights_is_at_least_m_less_the_hinge_loss_not_m_and_more() {
    let mut random = Random(5);
    let mut learner = Perceptron::new(1.0, &ZeroOne).unwrap();
    let mut updated: Vec<Updated> = Vec::new();
    for _ in 0..500 {
        let values: Vec<f32> = (0..3).map(|_| random.between(-1.0, 1.0) as f32).collect();
        // No direction separates these.
        let label = if (values[0] > 0.0) != (random.uniform() < 0.3) { 1.0 } else { -1.0 };
        let before = learner.updates();
        learner.learn_one(features(&values), label, 1.0);
        if learner.updates() > before {
            updated.push((values, label, 1.0, 0.0));
        }
    }
    let w: Vec<f64> = (0..3).map(|index| learner.linear().unwrap().weight(index)).collect();
    let mut wrong = 0;
    for _ in 0..200 {
        let u: Vec<f64> = (0..3).map(|_| random.between(-3.0, 3.0)).collect();
        let (m, hinge) = (learner.updates(), hinge(&updated, &u));
        assert!(norm(&w) * norm(&u) >= m - hinge - 1e-3);
        wrong += usize::from(norm(&w) * norm(&u) < m + hinge);
    }
    assert_eq!(wrong, 200, "the other claim holds for none");
}

#[test]
fn rows_that_have_nothing_in_common_attain_the_bounds_and_half_of_them_would_be_false() {
    // Each of T features comes once, with the label −1, whose sign the score 0 gets wrong. A u of
    // −U/√T everywhere pays T(1 − U/√T), so that M − H(u) = U√T.
    let (rounds, radius) = (400u32, 2.0);
    for (name, attained) in [
        ("perceptron:radius=2", 1.0),
        // Margins add 2γ' under the root.
        ("perceptron:variant=margin,margin=1,radius=2", 1.0 / 3f64.sqrt()),
        ("perceptron:variant=margin,margin=10,radius=2", 1.0 / 21f64.sqrt()),
        ("perceptron:variant=second-order,radius=2", 1.0),
    ] {
        let mut learner = build(name, "zero-one");
        let charged = learner.loss();
        let mut paid = 0.0;
        for index in 0..rounds {
            let x = Features::new(std::slice::from_ref(&index), &[1.0]).unwrap();
            paid += charged.value(&[learner.learn_one(x, -1.0, 1.0)], -1.0);
        }
        let root = f64::from(rounds).sqrt();
        let regret = paid - f64::from(rounds) * (1.0 - radius / root);
        let ratio = regret / learner.guarantee().bound.unwrap();
        assert!((ratio - attained).abs() < 1e-9, "{name}: {ratio}");
    }
}

#[test]
fn what_is_promised_beforehand_is_not_below_what_comes_true() {
    let rounds = 400;
    for name in [
        "perceptron",
        "perceptron:variant=margin,margin=0.5",
        "perceptron:variant=second-order",
        "perceptron:variant=second-order,a=0.01",
        "perceptron:variant=second-order,a=100",
    ] {
        let specification: LearnerSpec = name.parse().unwrap();
        let loss = loss::parse("zero-one").unwrap();
        let scales =
            ProblemBounds { rounds: f64::from(rounds), norm: 3f64.sqrt(), dimension: 3.0, ..ProblemBounds::default() };
        let promise = specification.plan(&loss, None, &scales).unwrap();
        let mut learner = specification.build(&loss, None).unwrap();
        let mut random = Random(2);
        for _ in 0..rounds {
            let values: Vec<f32> = (0..3).map(|_| random.between(-1.0, 1.0) as f32).collect();
            learner.learn_one(features(&values), if random.uniform() < 0.5 { 1.0 } else { -1.0 }, 1.0);
        }
        let own = learner.guarantee();
        assert_eq!(promise.comparator, own.comparator);
        assert!(promise.bound.unwrap() >= own.bound.unwrap(), "{name}");
    }
    for name in ["perceptron:variant=averaged", "perceptron:variant=voted"] {
        let specification: LearnerSpec = name.parse().unwrap();
        let promise = specification.plan(&loss::parse("zero-one").unwrap(), None, &ProblemBounds::default()).unwrap();
        assert!(promise.bound.is_err() && build(name, "zero-one").guarantee().bound.is_err());
    }
}

/// Rows in eighths, so that all arithmetic is exact, with labels that are often wrong.
fn eighths(rounds: usize, seed: u64) -> Vec<(Vec<f32>, f64, f64)> {
    let mut random = Random(seed);
    (0..rounds)
        .map(|_| {
            let values: Vec<f32> = (0..4).map(|_| (random.between(-8.0, 8.0)).round() as f32 / 8.0).collect();
            let is_noise = random.uniform() < 0.2;
            let label = if (values[0] + 0.5 * values[1] > 0.1) != is_noise { 1.0 } else { -1.0 };
            (values, label, [1.0, 2.0, 0.5][(random.next() % 3) as usize])
        })
        .collect()
}

/// What the plain perceptron does: each vector after each round, and with how much importance.
fn vectors(rows: &[(Vec<f32>, f64, f64)]) -> Vec<(Vec<f64>, f64, bool)> {
    let mut w = vec![0.0; 4];
    rows.iter()
        .map(|(x, y, h)| {
            let is_mistake = y * dot(&w, x) <= 0.0;
            if is_mistake {
                w.iter_mut().zip(x).for_each(|(w, &x)| *w += h * y * f64::from(x));
            }
            (w.clone(), *h, is_mistake)
        })
        .collect()
}

/// The importance of the rounds with an update.
fn updates(vectors: &[(Vec<f64>, f64, bool)]) -> f64 {
    vectors.iter().filter(|(.., is_mistake)| *is_mistake).map(|(_, h, _)| h).sum()
}

#[test]
fn the_averaged_perceptron_predicts_with_the_mean_of_all_vectors() {
    let rows = eighths(300, 21);
    let vectors = vectors(&rows);
    let mut learner = AveragedPerceptron::new(&ZeroOne).unwrap();
    let (mut sum, mut total, mut mistakes) = (vec![0.0; 4], 0.0, 0.0);
    for ((x, y, h), (after, ..)) in rows.iter().zip(&vectors) {
        let expected = if total > 0.0 { dot(&sum, x) / total } else { 0.0 };
        let score = learner.learn_one(features(x), *y, *h);
        assert!((score - expected).abs() < 1e-12);
        mistakes += if (expected >= 0.0) == (*y > 0.0) { 0.0 } else { *h };
        sum.iter_mut().zip(after).for_each(|(sum, w)| *sum += h * w);
        total += h;
    }
    assert_eq!(learner.counts(), (updates(&vectors), mistakes));
    assert!(mistakes < learner.updates(), "averaging is worth it on a noisy stream");
}

#[test]
fn the_voted_perceptron_lets_all_vectors_or_the_last_ones_vote() {
    let rows = eighths(300, 22);
    let vectors = vectors(&rows);
    for limit in [1, 2, 7, 1000] {
        let mut learner = VotedPerceptron::new(limit, &ZeroOne).unwrap();
        // Each vector with its votes, the first of which is 0.
        let mut voters: Vec<(Vec<f64>, f64)> = vec![(vec![0.0; 4], 0.0)];
        for ((x, y, h), (after, _, is_mistake)) in rows.iter().zip(&vectors) {
            let last = &voters[voters.len().saturating_sub(limit as usize)..];
            let total: f64 = last.iter().map(|(_, votes)| votes).sum();
            let vote = |w: &[f64]| if dot(w, x) >= 0.0 { 1.0 } else { -1.0 };
            let mean = last.iter().map(|(w, votes)| votes * vote(w)).sum::<f64>() / total;
            let score = learner.learn_one(features(x), *y, *h);
            assert_eq!(score, if total > 0.0 { mean } else { 1.0 }, "{limit}");
            match is_mistake {
                true => voters.push((after.clone(), *h)),
                false => voters.last_mut().unwrap().1 += h,
            }
        }
        assert_eq!(learner.updates(), updates(&vectors));
        assert!(voters.len() > 50);
    }
}

#[test]
fn the_last_voter_alone_is_the_plain_perceptron() {
    let mut voted = VotedPerceptron::new(1, &ZeroOne).unwrap();
    let mut plain = Perceptron::new(1.0, &ZeroOne).unwrap();
    for (x, y, h) in eighths(300, 23) {
        let (one, other) = (voted.learn_one(features(&x), y, h), plain.learn_one(features(&x), y, h));
        assert_eq!(one >= 0.0, other >= 0.0);
    }
    assert_eq!(voted.counts(), plain.counts());
}

/// Solves by elimination.
fn solve(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
    let size = b.len();
    for i in 0..size {
        for k in (0..size).filter(|&k| k != i) {
            let factor = a[k][i] / a[i][i];
            (0..size).for_each(|j| a[k][j] -= factor * a[i][j]);
            b[k] -= factor * b[i];
        }
    }
    (0..size).map(|i| b[i] / a[i][i]).collect()
}

#[test]
fn the_second_order_perceptron_includes_the_row_and_stays_below_the_bound_of_its_paper() {
    for (a, seed) in [(1.0, 31), (0.1, 32), (20.0, 33)] {
        let mut learner = SecondOrderPerceptron::new(a, 10, 1.0, &ZeroOne).unwrap();
        let mut s: Vec<Vec<f64>> = (0..4).map(|i| (0..4).map(|j| if i == j { a } else { 0.0 }).collect()).collect();
        let mut v = vec![0.0; 4];
        let add = |s: &mut Vec<Vec<f64>>, h: f64, x: &[f32]| {
            for i in 0..4 {
                (0..4).for_each(|j| s[i][j] += h * f64::from(x[i]) * f64::from(x[j]));
            }
        };
        let mut updated = Vec::new();
        for (x, y, _) in eighths(400, seed) {
            let mut with = s.clone();
            add(&mut with, 1.0, &x);
            let expected = dot(&solve(with, v.clone()), &x);
            let score = learner.learn_one(features(&x), y, 1.0);
            assert!((score - expected).abs() < 1e-12);
            if y * score <= 0.0 {
                add(&mut s, 1.0, &x);
                v.iter_mut().zip(&x).for_each(|(v, &x)| *v += y * f64::from(x));
                updated.push((x, y, 1.0, 0.0));
            }
        }
        assert_eq!(learner.updates(), updated.len() as f64);
        // λ_1 by iterating on S, and ln det(I + S/a) as the learner has it.
        let mut u = vec![1.0, 0.5, -0.25, 0.1];
        let mut first = 0.0;
        for _ in 0..2000 {
            let next: Vec<f64> = s.iter().map(|row| row.iter().zip(&u).map(|(s, u)| s * u).sum()).collect();
            first = norm(&next);
            u = next.iter().map(|u| u / first).collect();
        }
        let paper = (first * learner.log_determinant()).sqrt();
        let own = learner.guarantee().bound.unwrap();
        assert!((own - norm(&v)).abs() < 1e-9 && own <= paper && learner.log_determinant() > 1.0);
        // The paper's bound in full: of any u, with uᵀ(aI + S)u.
        let mut random = Random(seed);
        for _ in 0..200 {
            let u: Vec<f64> = (0..4).map(|_| random.between(-3.0, 3.0)).collect();
            let quadratic: f64 =
                s.iter().zip(&u).map(|(row, ui)| ui * row.iter().zip(&u).map(|(s, u)| s * u).sum::<f64>()).sum();
            let bound = hinge(&updated, &u) + (quadratic * learner.log_determinant()).sqrt();
            assert!(learner.updates() <= bound);
        }
    }
}

#[test]
fn where_one_direction_dominates_the_second_order_needs_fewer_updates() {
    let mut random = Random(41);
    let mut plain = Perceptron::new(1.0, &ZeroOne).unwrap();
    let mut second = SecondOrderPerceptron::new(1.0, 10, 1.0, &ZeroOne).unwrap();
    for _ in 0..3000 {
        let large = random.between(-10.0, 10.0);
        let values =
            [large, random.between(-0.5, 0.5), random.between(-0.5, 0.5), 0.3 * large].map(|value| value as f32);
        let score = values[1] - values[2];
        if score.abs() > 0.1 {
            let label = f64::from(score.signum());
            plain.learn_one(features(&values), label, 1.0);
            second.learn_one(features(&values), label, 1.0);
        }
    }
    assert!(2.0 * second.updates() < plain.updates(), "{} {}", second.updates(), plain.updates());
}

/// The passive-aggressive update on plain vectors.
fn passive_aggressive(w: &mut [f64], x: &[f32], loss: f64, direction: f64, way: Aggressiveness, h: f64) {
    let square = length(x).powi(2);
    let step = match way {
        Aggressiveness::Unbounded => loss / square,
        Aggressiveness::Capped(c) => (loss / square).min(h * c),
        Aggressiveness::Damped(c) => loss / (square + 1.0 / (2.0 * h * c)),
    };
    w.iter_mut().zip(x).for_each(|(w, &x)| *w += step * direction * f64::from(x));
}

const WAYS: [Aggressiveness; 5] = [
    Aggressiveness::Unbounded,
    Aggressiveness::Capped(1.0),
    Aggressiveness::Capped(0.05),
    Aggressiveness::Damped(1.0),
    Aggressiveness::Damped(0.05),
];

#[test]
fn passive_aggressive_learners_equal_their_plain_twins() {
    for way in WAYS {
        for name in
            ["hinge", "squared-hinge", "epsilon-insensitive:epsilon=0.2", "squared-epsilon-insensitive:epsilon=0.2"]
        {
            let mut learner = PassiveAggressive::new(loss::parse(name).unwrap(), way).unwrap();
            let mut w = vec![0.0; 4];
            let mut random = Random(51);
            for (x, sign, h) in eighths(300, 51) {
                let offset = random.between(-0.5, 0.5);
                let is_binary = name.ends_with("hinge");
                let y = if is_binary { sign } else { f64::from(x[0]) - f64::from(x[2]) + random.between(-0.5, 0.5) };
                let p = offset + dot(&w, &x);
                let (loss, direction) = match is_binary {
                    true => (1.0 - y * p, y),
                    false => ((y - p).abs() - 0.2, (y - p).signum()),
                };
                let score = learner.learn_one(features(&x).with_offset(offset).unwrap(), y, h);
                assert!((score - p).abs() < 1e-5 * (1.0 + norm(&w)), "{way:?} {name}");
                let paid = if name.starts_with("squared") { loss.max(0.0).powi(2) } else { loss.max(0.0) };
                assert!((learner.loss().value(p, y) - paid).abs() < 1e-12);
                if loss > 0.0 && length(&x) > 0.0 {
                    passive_aggressive(&mut w, &x, loss, direction, way, h);
                }
            }
            assert!((0..4u32).all(|i| (learner.linear().unwrap().weight(i) - w[i as usize]).abs() < 1e-4 * norm(&w)));
        }
    }
}

/// Σℓ², mistakes (scores of 0 included) and Σℓ* and Σℓ*² of each u, for the hinge loss.
fn pay(way: Aggressiveness, rows: &[(Vec<f32>, f64)], us: &[Vec<f64>]) -> (f64, f64, Vec<(f64, f64)>) {
    let mut learner = PassiveAggressive::new(loss::parse("hinge").unwrap(), way).unwrap();
    let (mut squares, mut mistakes) = (0.0, 0.0);
    for (x, y) in rows {
        let margin = y * learner.learn_one(features(x), *y, 1.0);
        squares += (1.0 - margin).max(0.0).powi(2);
        mistakes += if margin <= 0.0 { 1.0 } else { 0.0 };
    }
    let of = |u: &Vec<f64>| {
        let losses = || rows.iter().map(|(x, y)| (1.0 - y * dot(u, x)).max(0.0));
        (losses().sum(), losses().map(|loss| loss * loss).sum())
    };
    (squares, mistakes, us.iter().map(of).collect())
}

/// Noisy rows, of length 1 if asked, comparators, good ones among them, and the longest row's length.
fn noisy(seed: u64, has_unit_length: bool) -> (Labelled, Vec<Vec<f64>>, f64) {
    let mut random = Random(seed);
    let mut rows = Vec::new();
    let mut largest = 0f64;
    for _ in 0..1500 {
        let mut values: Vec<f32> = (0..4).map(|_| random.between(-1.0, 1.0) as f32).collect();
        if has_unit_length {
            let length = length(&values) as f32;
            values.iter_mut().for_each(|value| *value /= length);
        }
        largest = largest.max(length(&values));
        let label = if (values[0] - values[3] > 0.0) != (random.uniform() < 0.1) { 1.0 } else { -1.0 };
        rows.push((values, label));
    }
    let mut us: Vec<Vec<f64>> = (0..50).map(|_| (0..4).map(|_| random.between(-3.0, 3.0)).collect()).collect();
    us.extend([0.0, 0.2, 0.5, 1.0, 2.0, 4.0].map(|size| vec![size, 0.0, 0.0, -size]));
    (rows, us, largest)
}

#[test]
fn theorem_2_where_a_comparator_pays_nothing_squared_losses_sum_to_at_most_its_norm() {
    for seed in 0..10 {
        let (rows, margin, diameter) = separable(seed, 0.1);
        // The direction of `separable`, at the length that has all margins at 1.
        let mut random = Random(seed);
        let direction: Vec<f64> = (0..5).map(|_| random.between(-1.0, 1.0)).collect();
        let u: Vec<f64> = direction.iter().map(|u| u / norm(&direction) / margin * (1.0 + 1e-12)).collect();
        let (squares, _, comparators) = pay(Aggressiveness::Unbounded, &rows, std::slice::from_ref(&u));
        assert!(comparators[0].0 < 1e-9);
        assert!(squares > 0.0 && squares <= (norm(&u) * diameter).powi(2) * (1.0 + 1e-5), "{seed}");
    }
}

#[test]
fn theorems_3_4_and_5_hold_against_every_comparator_on_noisy_streams() {
    for seed in 0..10 {
        let (rows, us, _) = noisy(seed, true);
        let (squares, _, comparators) = pay(Aggressiveness::Unbounded, &rows, &us);
        for (u, (_, theirs)) in us.iter().zip(&comparators) {
            assert!(squares <= (norm(u) + 2.0 * theirs.sqrt()).powi(2) * (1.0 + 1e-5), "theorem 3, {seed}");
        }
        let (rows, us, radius) = noisy(seed + 100, false);
        for c in [0.01, 0.3, 1.0, 10.0] {
            let (_, mistakes, comparators) = pay(Aggressiveness::Capped(c), &rows, &us);
            for (u, (theirs, _)) in us.iter().zip(&comparators) {
                let bound = (radius * radius).max(1.0 / c) * (norm(u).powi(2) + 2.0 * c * theirs);
                assert!(mistakes <= bound * (1.0 + 1e-5), "theorem 4, {seed} {c}");
            }
            let (squares, _, comparators) = pay(Aggressiveness::Damped(c), &rows, &us);
            for (u, (_, theirs)) in us.iter().zip(&comparators) {
                let bound = (radius * radius + 0.5 / c) * (norm(u).powi(2) + 2.0 * c * theirs);
                assert!(squares <= bound * (1.0 + 1e-5), "theorem 5, {seed} {c}");
            }
        }
    }
}

#[test]
fn rows_that_have_nothing_in_common_attain_the_theorems_and_half_of_them_would_be_false() {
    // T unit vectors once each: every loss is 1, and u = ±1 everywhere, of square T, pays nothing.
    let rounds = 100u32;
    for (way, attained) in [
        (Aggressiveness::Unbounded, 1.0),
        (Aggressiveness::Capped(1.0), 1.0),
        // R² + 1/(2C) = 1.5.
        (Aggressiveness::Damped(1.0), 1.0 / 1.5),
    ] {
        let mut learner = PassiveAggressive::new(loss::parse("hinge").unwrap(), way).unwrap();
        let (mut squares, mut mistakes) = (0.0, 0.0);
        for index in 0..rounds {
            let x = Features::new(std::slice::from_ref(&index), &[1.0]).unwrap();
            let y = if index % 3 == 0 { 1.0 } else { -1.0 };
            let margin = y * learner.learn_one(x, y, 1.0);
            squares += (1.0 - margin).max(0.0).powi(2);
            mistakes += if margin <= 0.0 { 1.0 } else { 0.0 };
        }
        let factor = if let Aggressiveness::Damped(c) = way { 1.0 + 0.5 / c } else { 1.0 };
        let bound = factor * f64::from(rounds);
        assert_eq!((squares, mistakes), (f64::from(rounds), f64::from(rounds)));
        assert!((squares / bound - attained).abs() < 1e-12 && 0.5 * bound < squares);
    }
}

#[test]
fn in_regression_squared_losses_sum_to_at_most_the_norm_of_a_comparator_within_the_tube() {
    let mut random = Random(61);
    let u = [1.5, -0.5, 0.25, 2.0];
    let mut learner = build("pa:variant=0", "epsilon-insensitive:epsilon=0.25");
    let loss = learner.loss();
    let (mut squares, mut radius) = (0.0, 0f64);
    for _ in 0..2000 {
        let values: Vec<f32> = (0..4).map(|_| random.between(-1.0, 1.0) as f32).collect();
        let label = dot(&u, &values) + random.between(-0.25, 0.25);
        squares += loss.value(&[learner.learn_one(features(&values), label, 1.0)], label).powi(2);
        radius = radius.max(length(&values));
    }
    assert!(squares > 0.1 && squares <= (norm(&u) * radius).powi(2), "{squares}");
    assert!(learner.guarantee().bound.is_err());
}

#[test]
fn a_row_of_importance_0_or_without_features_teaches_nothing() {
    for name in ["pa:variant=0", "pa:variant=1", "pa:variant=2"] {
        let mut learner = build(name, "hinge");
        learner.learn_one(features(&[0.0, 0.0]), 1.0, 1.0);
        learner.learn_one(features(&[1.0, 2.0]), 1.0, 0.0);
        assert_eq!(learner.linear().unwrap().weights(&[0, 1]), [0.0; 2]);
    }
}
