//! Learners with a score per class, written as somebody outside would write them: through rows, ledger and archive,
//! against brute force.

use std::sync::Arc;

use onward::archive::{Archive, State};
use onward::evaluation::Ledger;
use onward::guarantee::{Guarantee, GuaranteeKind};
use onward::loss::{ClassLoss, SharedClassLoss, Softmax, Task, TaskLoss};
use onward::{Batch, Error, Learner, Predictor, RowColumns, Rows};

use crate::common::Random;

/// Softmax regression by stochastic gradient descent: the weights of a feature's classes lie side by side.
struct SoftmaxDescent {
    rate: f64,
    classes: usize,
    /// Of each feature and class.
    weights: Vec<Vec<f64>>,
}

impl SoftmaxDescent {
    fn new(rate: f64, classes: usize) -> Self {
        Self { rate, classes, weights: Vec::new() }
    }

    fn score(&self, x: onward::Features<'_>, scores: &mut [f64]) {
        scores.fill(x.offset());
        for (index, value) in x.iter() {
            for (score, weight) in scores.iter_mut().zip(self.weights.get(index as usize).into_iter().flatten()) {
                *score += weight * f64::from(value);
            }
        }
    }
}

impl Predictor for SoftmaxDescent {
    fn outputs(&self) -> usize {
        self.classes
    }

    fn predict(&self, rows: Rows<'_>, scores: &mut [f64]) {
        for (example, scores) in rows.with_scores(self.classes, scores) {
            self.score(example.features, scores);
        }
    }
}

impl Learner for SoftmaxDescent {
    fn learn(&mut self, rows: Rows<'_>, scores: &mut [f64]) {
        let mut gradient = vec![0.0; self.classes];
        for (example, scores) in rows.with_scores(self.classes, scores) {
            self.score(example.features, scores);
            let Some(label) = example.label_to_learn() else { continue };
            Softmax.gradient(scores, label as usize, &mut gradient);
            for (index, value) in example.features.iter() {
                let index = index as usize;
                if index >= self.weights.len() {
                    self.weights.resize(index + 1, Vec::new());
                }
                self.weights[index].resize(self.classes, 0.0);
                for (weight, g) in self.weights[index].iter_mut().zip(&gradient) {
                    *weight -= self.rate * example.weight * g * f64::from(value);
                }
            }
        }
    }

    fn loss(&self) -> TaskLoss {
        TaskLoss::Classes(Arc::new(Softmax))
    }

    fn describe(&self) -> String {
        format!("softmax-descent:rate={}", self.rate)
    }

    fn guarantee(&self) -> Guarantee {
        Guarantee::none(GuaranteeKind::Own, "none was worked out")
    }

    fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        let mut classes = self.classes as u64;
        archive.count("classes", &mut classes)?;
        self.classes = classes as usize;
        let rows = self.weights.iter();
        let mut all: Vec<f64> =
            rows.flat_map(|row| (0..self.classes).map(|k| row.get(k).copied().unwrap_or(0.0))).collect();
        archive.column("weight", &mut all)?;
        self.weights = all.chunks(self.classes).map(<[f64]>::to_vec).collect();
        Ok(())
    }

    fn set_classes(&mut self, classes: usize) {
        self.classes = classes;
    }
}

/// Gives the logarithms of smoothed class frequencies, whatever the features are.
struct Frequencies {
    counts: Vec<f64>,
}

impl Predictor for Frequencies {
    fn outputs(&self) -> usize {
        self.counts.len()
    }

    fn predict(&self, rows: Rows<'_>, scores: &mut [f64]) {
        for (_, scores) in rows.with_scores(self.counts.len(), scores) {
            scores.iter_mut().zip(&self.counts).for_each(|(score, count)| *score = (count + 1.0).ln());
        }
    }
}

impl Learner for Frequencies {
    fn learn(&mut self, rows: Rows<'_>, scores: &mut [f64]) {
        let classes = self.counts.len();
        for (example, scores) in rows.with_scores(classes, scores) {
            scores.iter_mut().zip(&self.counts).for_each(|(score, count)| *score = (count + 1.0).ln());
            if let Some(label) = example.label_to_learn() {
                self.counts[label as usize] += example.weight;
            }
        }
    }

    fn loss(&self) -> TaskLoss {
        TaskLoss::Classes(Arc::new(Softmax))
    }

    fn describe(&self) -> String {
        "frequencies".to_owned()
    }

    fn guarantee(&self) -> Guarantee {
        Guarantee::none(GuaranteeKind::Own, "none was worked out")
    }

    fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        archive.column("count", &mut self.counts)
    }

    fn set_classes(&mut self, classes: usize) {
        self.counts.resize(classes, 0.0);
    }
}

fn learners(classes: usize) -> [Box<dyn onward::Learner>; 2] {
    [Box::new(SoftmaxDescent::new(0.1, classes)), Box::new(Frequencies { counts: vec![0.0; classes] })]
}

/// Rows of two numbers and a bias whose class is where they point to, some of them without a label or of weight 0.
fn stream(rows: usize, classes: usize, seed: u64) -> Batch {
    let (mut random, mut batch) = (Random(seed), Batch::default());
    for _ in 0..rows {
        let point = [random.between(-1.0, 1.0), random.between(-1.0, 1.0)];
        let angle = point[1].atan2(point[0]) / std::f64::consts::TAU + 0.5;
        let class = ((angle * classes as f64) as usize).min(classes - 1);
        batch.extend(&[0, 1, 2], &[1.0, point[0] as f32, point[1] as f32]);
        batch.set_offset(random.between(-1.0, 1.0));
        let is_labelled = random.next() % 10 > 0;
        batch.finish(is_labelled.then_some(class as f64), [0.0, 1.0, 1.0, 2.5][(random.next() % 4) as usize]);
    }
    batch
}

/// −ln of the probability of a class, as the textbook writes it.
fn paid(scores: &[f64], class: usize) -> f64 {
    let total: f64 = scores.iter().map(|score| score.exp()).sum();
    -(scores[class].exp() / total).ln()
}

/// Learns and charges in parts of this many rows, and returns all scores.
fn run(learner: &mut dyn onward::Learner, ledger: &mut Ledger, rows: Rows<'_>, size: usize) -> Vec<f64> {
    let mut all = Vec::new();
    for rows in rows.chunks(size) {
        let mut scores = vec![f64::NAN; rows.len() * learner.outputs()];
        let mut before = scores.clone();
        learner.predict(rows.slice(0..1), &mut before[..learner.outputs()]);
        learner.learn(rows, &mut scores);
        assert_eq!(scores[..learner.outputs()], before[..learner.outputs()]);
        ledger.observe(rows, &scores);
        all.extend(scores);
    }
    all
}

fn bits(scores: &[f64]) -> Vec<u64> {
    scores.iter().map(|score| score.to_bits()).collect()
}

fn persist(learner: &mut dyn onward::Learner, ledger: &mut Ledger, archive: &mut Archive) -> Result<(), Error> {
    archive.part("learner", |archive| learner.persist(archive))?;
    archive.part("ledger", |archive| ledger.persist(archive))
}

fn state(learner: &mut dyn onward::Learner, ledger: &mut Ledger) -> State {
    Archive::saved(|archive| persist(learner, ledger, archive)).unwrap()
}

#[test]
fn what_classes_pay_is_the_sum_of_the_surprise_of_each() {
    let batch = stream(2000, 3, 5);
    for mut learner in learners(3) {
        let mut ledger = Ledger::new(learner.loss());
        let scores = run(&mut *learner, &mut ledger, batch.rows(..), 100);
        let (mut sum, mut weight, mut mistakes, mut counts) = (0.0, 0.0, 0.0, [0.0; 3]);
        for (example, scores) in batch.iter().zip(scores.chunks(3)) {
            let Some(class) = example.label.map(|label| label as usize) else { continue };
            sum += example.weight * paid(scores, class);
            weight += example.weight;
            counts[class] += example.weight;
            let is_beaten =
                (0..3).any(|other| scores[other] > scores[class] || (other < class && scores[other] == scores[class]));
            mistakes += if is_beaten { example.weight } else { 0.0 };
        }
        let close = |one: f64, other: f64| assert!((one - other).abs() < 1e-9 * other, "{one} {other}");
        close(ledger.paid(), sum);
        assert_eq!((ledger.weight(), ledger.metrics().mistakes()), (weight, Some(mistakes)));
        let summary = ledger.metrics().summary();
        close(summary["log_loss"].as_f64().unwrap(), sum / weight);
        close(summary["accuracy"].as_f64().unwrap(), 1.0 - mistakes / weight);
        assert_eq!(summary.len(), 2);
        // The best constant: of all probabilities on a grid none pays less than the frequencies.
        let entropy = counts.iter().map(|count| count / weight * (weight / count).ln()).sum::<f64>();
        close(ledger.baseline_risk().unwrap(), entropy);
        let frequencies = ledger.class_frequencies().unwrap().probabilities();
        (0..3).for_each(|class| close(frequencies[class], counts[class] / weight));
        for a in 1..50 {
            for b in 1..50 - a {
                let q = [f64::from(a) / 50.0, f64::from(b) / 50.0, f64::from(50 - a - b) / 50.0];
                assert!((0..3).map(|class| -counts[class] / weight * q[class].ln()).sum::<f64>() >= entropy - 1e-12);
            }
        }
        let is_constant = learner.describe() == "frequencies";
        assert_eq!(ledger.sequential_risk() < 0.8 * entropy, !is_constant, "{} of {entropy}", ledger.sequential_risk());
        assert!(!is_constant || (ledger.sequential_risk() - entropy).abs() < 0.02);
        // What there is not, says why.
        assert_eq!((ledger.loss().task(), ledger.loss().name()), (Task::Classes, "softmax".to_owned()));
        assert!(ledger.certificate().bound.unwrap_err().contains("one score per row"));
        assert!(ledger.averaged_risk(1.0, 0.1).is_err() && ledger.constant_risk(0.0).is_none());
        assert!(ledger.sums().is_none() && ledger.distinct_features().is_none());
        assert!(!ledger.curve().points().is_empty());
    }
}

#[test]
fn gradient_descent_on_softmax_is_that_of_the_textbook() {
    let batch = stream(300, 3, 6);
    let mut learner = SoftmaxDescent::new(0.05, 3);
    let mut scores = vec![0.0; 3 * batch.len()];
    learner.learn(batch.rows(..), &mut scores);
    let mut w = [[0.0f64; 3]; 3];
    for (example, scores) in batch.iter().zip(scores.chunks(3)) {
        let (x, offset) = (example.features.values(), example.features.offset());
        let p: [f64; 3] = std::array::from_fn(|k| offset + (0..3).map(|i| w[i][k] * f64::from(x[i])).sum::<f64>());
        assert!((0..3).all(|k| (p[k] - scores[k]).abs() < 1e-9));
        let Some(label) = example.label else { continue };
        let total: f64 = p.iter().map(|p| p.exp()).sum();
        for k in 0..3 {
            let g = p[k].exp() / total - f64::from(label == k as f64);
            (0..3).for_each(|i| w[i][k] -= 0.05 * example.weight * g * f64::from(x[i]));
        }
    }
}

#[test]
fn parts_of_any_size_and_a_break_between_them_change_no_bit() {
    let batch = stream(500, 3, 7);
    let rows = batch.rows(..);
    for kind in 0..2 {
        let make = || learners(3).into_iter().nth(kind).unwrap();
        let mut learner = make();
        let mut ledger = Ledger::new(learner.loss());
        let whole = run(&mut *learner, &mut ledger, rows, rows.len());
        let end = state(&mut *learner, &mut ledger);
        for size in [1, 7, 64, 499] {
            let mut learner = make();
            let mut ledger = Ledger::new(learner.loss());
            let mut scores = run(&mut *learner, &mut ledger, rows.slice(0..200), size);
            let half = state(&mut *learner, &mut ledger);
            (learner, ledger) = (make(), Ledger::new(learner.loss()));
            persist(&mut *learner, &mut ledger, &mut Archive::loading(half)).unwrap();
            scores.extend(run(&mut *learner, &mut ledger, rows.slice(200..500), size));
            assert_eq!(bits(&scores), bits(&whole), "{} {size}", learner.describe());
            assert_eq!(format!("{:?}", state(&mut *learner, &mut ledger)), format!("{end:?}"));
        }
    }
}

#[test]
fn classes_may_come_up_in_the_middle_of_a_stream() {
    let (few, many) = (stream(200, 2, 8), stream(300, 5, 9));
    for mut learner in learners(2) {
        let mut ledger = Ledger::new(learner.loss());
        let first = run(&mut *learner, &mut ledger, few.rows(..), 50);
        learner.set_classes(5);
        assert_eq!((learner.outputs(), first.len()), (5, 400));
        let second = run(&mut *learner, &mut ledger, many.rows(..), 50);
        let charged = |batch: &Batch, scores: &[f64], outputs| -> f64 {
            let rows = batch.iter().zip(scores.chunks(outputs));
            rows.filter_map(|(it, scores)| Some(it.weight * paid(scores, it.label? as usize))).sum()
        };
        let expected = charged(&few, &first, 2) + charged(&many, &second, 5);
        assert!((ledger.paid() - expected).abs() < 1e-9 * expected);
        assert_eq!(ledger.class_frequencies().unwrap().probabilities().len(), 5);
    }
}

#[test]
fn a_class_whose_score_is_minus_infinity_has_probability_zero() {
    let scores = [0.5, f64::NEG_INFINITY, 0.5];
    let (mut probabilities, mut gradient) = ([0.0; 3], [0.0; 3]);
    Softmax.probabilities(&scores, &mut probabilities);
    Softmax.gradient(&scores, 0, &mut gradient);
    assert_eq!((probabilities, gradient), ([0.5, 0.0, 0.5], [-0.5, 0.0, 0.5]));
    assert!((Softmax.value(&scores, 0) - 2f64.ln()).abs() < 1e-15);
    assert_eq!(Softmax.value(&scores, 1), f64::INFINITY);
}

#[test]
fn labels_that_are_no_classes_are_refused() {
    let loss = TaskLoss::Classes(Arc::new(Softmax));
    assert!([0.0, 1.0, 131_071.0].iter().all(|&label| loss.check_label(label).is_ok()));
    for label in [-1.0, 0.5, f64::INFINITY, 131_072.0, 1e10, f64::NAN] {
        assert!(
            loss.check_label(label).unwrap_err().to_string().contains("must be a whole number from 0 to 131071; got"),
            "{label}"
        );
    }
}

/// Charges scores of one row of class 2.
fn charge(scores: &[f64]) {
    let columns = RowColumns { labels: &[2.0], ..RowColumns::default() };
    let rows = Rows::from_dense(&[1.0], &[0], columns).unwrap();
    Ledger::new(Arc::new(Softmax) as SharedClassLoss).observe(rows, scores);
}

#[test]
#[should_panic = "label 2 is not a class with one of 2 scores"]
fn a_label_without_a_score_is_told() {
    charge(&[0.0; 2]);
}

#[test]
#[should_panic = "scores must be 3 for each of 1 rows; got 2"]
fn too_few_scores_for_a_learner_are_told() {
    let rows = Rows::from_dense(&[1.0], &[0], RowColumns::default()).unwrap();
    SoftmaxDescent::new(0.1, 3).predict(rows, &mut [0.0; 2]);
}

#[test]
#[should_panic = "scores must be 1 for each of 2 rows; got 3"]
fn too_many_scores_for_a_learner_are_told() {
    let specification: onward::learner::LearnerSpec = "nag".parse().unwrap();
    let mut learner = specification.build(onward::loss::parse("squared").unwrap(), None).unwrap();
    let rows = Rows::from_dense(&[1.0, 2.0], &[0], RowColumns::default()).unwrap();
    learner.learn(rows, &mut [0.0; 3]);
}
