//! A learner with a score per class, written and registered as somebody outside would, through all that the engine does:
//! learn, predict, compare, save, continue, snapshots, matrices, reports. Against brute force.

use onward::archive::Archive;
use onward::guarantee::{Guarantee, GuaranteeKind};
use onward::loss::{SharedClassLoss, Task, TaskLoss};
use onward::parameter::{Description, ParameterDescriptor, flag, positive};
use onward::protocol::{LearnerDescriptor, Losses, Promise};
use onward::{Features, Learner, Predictor, Rows};
use onward_data::{Input, Options};
use onward_engine::{
    CompareOptions, EngineError, LearnOptions, LearnRun, MatrixRows, Model, ModelOptions, PredictionCsv, Registry,
    TaskKind, compare, learn, predict,
};

use crate::Folder;

/// Gradient descent on a loss of classes: the weights of a feature's classes lie side by side.
struct ClassDescent {
    loss: SharedClassLoss,
    rate: f64,
    classes: usize,
    weights: Vec<Vec<f64>>,
}

const RATE: ParameterDescriptor = positive("rate").default("0.1").meaning("the learning rate");

static CLASS_DESCENT: LearnerDescriptor = LearnerDescriptor {
    name: "class-descent",
    summary: "gradient descent on a loss of classes",
    losses: Losses::Classes,
    parameters: &[RATE, flag("standardise").meaning("centre and scale features").quiet()],
    promises: &[Promise::other("")],
    build: |given| {
        let (loss, rate) = (given.class_loss(), given.number("rate"));
        Ok(Box::new(ClassDescent { loss, rate, classes: 0, weights: Vec::new() }))
    },
    plan: |_, _| Ok(Guarantee::none(GuaranteeKind::Own, "it has no theorem")),
};

impl ClassDescent {
    fn score(&self, x: Features<'_>, scores: &mut [f64]) {
        scores.fill(x.offset());
        for (index, value) in x.iter() {
            let weights = self.weights.get(index as usize).into_iter().flatten();
            scores.iter_mut().zip(weights).for_each(|(score, weight)| *score += weight * f64::from(value));
        }
    }
}

impl Predictor for ClassDescent {
    fn outputs(&self) -> usize {
        self.classes
    }

    fn predict(&self, rows: Rows<'_>, scores: &mut [f64]) {
        rows.with_scores(self.classes, scores).for_each(|(row, scores)| self.score(row.features, scores));
    }
}

impl Learner for ClassDescent {
    fn learn(&mut self, rows: Rows<'_>, scores: &mut [f64]) {
        let mut gradient = vec![0.0; self.classes];
        for (row, scores) in rows.with_scores(self.classes, scores) {
            self.score(row.features, scores);
            let Some(label) = row.label_to_learn() else { continue };
            self.loss.gradient(scores, label as usize, &mut gradient);
            for (index, value) in row.features.iter() {
                let index = index as usize;
                self.weights.resize(self.weights.len().max(index + 1), Vec::new());
                self.weights[index].resize(self.classes, 0.0);
                for (weight, g) in self.weights[index].iter_mut().zip(&gradient) {
                    *weight -= self.rate * row.weight * g * f64::from(value);
                }
            }
        }
    }

    fn loss(&self) -> TaskLoss {
        TaskLoss::Classes(SharedClassLoss::clone(&self.loss))
    }

    fn describe(&self) -> String {
        Description::of("class-descent").with(&RATE, self.rate).into()
    }

    fn guarantee(&self) -> Guarantee {
        Guarantee::none(GuaranteeKind::Own, "it has no theorem")
    }

    fn persist(&mut self, archive: &mut Archive) -> Result<(), onward::Error> {
        let mut classes = self.classes as u64;
        archive.count("classes", &mut classes)?;
        self.classes = classes as usize;
        let rows = self.weights.iter();
        let mut all: Vec<f64> =
            rows.flat_map(|row| (0..self.classes).map(|k| row.get(k).copied().unwrap_or(0.0))).collect();
        archive.column("weight", &mut all)?;
        self.weights = all.chunks(self.classes.max(1)).map(<[f64]>::to_vec).collect();
        Ok(())
    }

    fn set_classes(&mut self, classes: usize) {
        self.classes = classes;
    }
}

fn registry() -> Registry {
    Registry::default().with_learner(&CLASS_DESCENT)
}

fn model_options(learner: &str) -> ModelOptions {
    ModelOptions { learner: learner.to_owned(), registry: registry(), ..ModelOptions::default() }
}

/// Rows of two numbers, of whose classes 0, 1, 2 the first two come alone until row 40, and class 4 from row 300 on.
fn table(rows: std::ops::Range<usize>) -> Vec<([f32; 2], Option<usize>)> {
    let row = |t: usize| {
        let x = [(t * 37 % 101) as f32 / 101.0, (t * 61 % 89) as f32 / 89.0];
        let class = match t {
            _ if t % 50 == 7 => return (x, None),
            300.. if t.is_multiple_of(5) => 4,
            _ if x[0] > x[1] => 0,
            40.. if x[0] + x[1] > 0.8 => 2,
            _ => 1,
        };
        (x, Some(class))
    };
    rows.map(row).collect()
}

fn csv(rows: std::ops::Range<usize>) -> Input {
    let line = |([a, b], class): ([f32; 2], Option<usize>)| {
        format!("{},{a},{b}\n", class.map_or(String::new(), |class| class.to_string()))
    };
    Input::bytes("classes.csv", "y,a,b\n".to_owned() + &table(rows).into_iter().map(line).collect::<String>())
}

/// The same as svmlight's text, in which a and b are the features 1 and 2 after the bias.
fn svmlight(rows: std::ops::Range<usize>) -> Input {
    let line = |([a, b], class): ([f32; 2], Option<usize>)| {
        format!("{} 0:{a} 1:{b}\n", class.map_or("?".to_owned(), |class| class.to_string()))
    };
    Input::bytes("classes.svm", table(rows).into_iter().map(line).collect::<String>())
}

fn learn_options(learner: &str, threads: usize) -> LearnOptions {
    let reading = Options { target: Some("y".to_owned()), threads, ..Options::default() };
    LearnOptions { start: model_options(learner).into(), reading, ..LearnOptions::default() }
}

/// Softmax regression by the textbook, with the rule for classes that are new: the probabilities of each row, and what all
/// rows paid.
fn by_hand(rows: &[([f32; 2], Option<usize>)], rate: f64) -> (Vec<Vec<f64>>, f64) {
    let (mut w, mut known, mut n, mut paid) = ([[0.0f64; 5]; 3], 0, 0, 0.0);
    let mut all = Vec::new();
    for &([a, b], class) in rows {
        let x = [1.0, f64::from(a), f64::from(b)];
        let needed = class.map_or(known, |class| known.max(class + 1));
        let softmax = |count: usize| -> Vec<f64> {
            let e: Vec<f64> = (0..count).map(|k| (0..3).map(|i| w[i][k] * x[i]).sum::<f64>().exp()).collect();
            let total: f64 = e.iter().sum();
            e.into_iter().map(|e| e / total).collect()
        };
        // What is learnt from, and what is charged.
        let learnt = softmax(needed);
        let mut charged = learnt.clone();
        // Before the first row nothing is known of how often classes are new.
        if needed > known && n > 0 {
            let new = 1.0 / f64::from(n + 1);
            let others: f64 = charged[..needed - 1].iter().sum();
            charged[..needed - 1].iter_mut().for_each(|p| *p *= (1.0 - new) / others);
            charged[needed - 1] = new;
        }
        known = needed;
        if let Some(class) = class {
            paid -= charged[class].ln();
            for k in 0..needed {
                let g = learnt[k] - f64::from(u8::from(k == class));
                (0..3).for_each(|i| w[i][k] -= rate * g * x[i]);
            }
            n += 1;
        }
        all.push(charged);
    }
    (all, paid / f64::from(n))
}

#[test]
fn classes_are_learnt_charged_and_reported_as_by_hand() {
    let (expected, risk) = by_hand(&table(0..600), 0.1);
    let mut models = Vec::new();
    for threads in [1, 2] {
        let mut csv_sink = PredictionCsv::new(
            Vec::new(),
            &[],
            &onward::loss::parse_task_loss("softmax", &[], onward::loss::CLASS_LOSSES).unwrap(),
            false,
        )
        .unwrap();
        let run = LearnRun::open(&[csv(0..600)], learn_options("class-descent", threads)).unwrap();
        let mut outcome = run.run(Some(&mut csv_sink), &()).unwrap();
        let written = String::from_utf8(csv_sink.into_inner()).unwrap();
        let mut lines = written.lines();
        assert_eq!(lines.next(), Some("prediction,probability,label"));
        for ((line, expected), (_, class)) in lines.by_ref().zip(&expected).zip(table(0..600)) {
            let cells: Vec<&str> = line.split(',').collect();
            let likeliest = (1..expected.len()).fold(0, |top, k| if expected[k] > expected[top] { k } else { top });
            assert_eq!(cells[0].parse::<f64>().unwrap(), likeliest as f64, "{line} {expected:?}");
            assert!((cells[1].parse::<f64>().unwrap() - expected[likeliest]).abs() < 1e-6, "{line} {expected:?}");
            assert_eq!(cells[2].parse::<f64>().ok(), class.map(|class| class as f64));
        }
        assert_eq!((lines.next(), written.lines().count()), (None, 601));
        let report = outcome.report();
        assert!((report.learner.sequential_risk.unwrap() - risk).abs() < 1e-6 * risk);
        assert_eq!((report.stream.task, report.stream.loss.as_str()), (TaskKind::Classes, "softmax"));
        assert!((report.learner.metrics.log_loss.unwrap() - risk).abs() < 1e-6 * risk);
        assert!(report.learner.metrics.accuracy.unwrap() > 0.6 && report.learner.metrics.auc.is_none());
        assert!(report.learner.mistakes.is_some() && report.stream.baseline_risk.unwrap() > risk);
        models.push(outcome.model.to_bytes().unwrap());
    }
    assert_eq!(models[0], models[1]);
}

#[test]
fn classes_in_blocks_are_seen_and_the_saved_model_is_asked_about_its_past() {
    let blocks = |t: usize| format!("{},{},{}\n", t / 70 % 3, (t * 37 % 101), (t * 61 % 89));
    let mixed = |t: usize| blocks(t * 571 % 840);
    let run = |row: &dyn Fn(usize) -> String| {
        let input = Input::bytes("y.csv", "y,a,b\n".to_owned() + &(0..840).map(row).collect::<String>());
        let outcome = learn(std::slice::from_ref(&input), learn_options("class-descent:rate=1e-4", 1), &()).unwrap();
        let (report, mut scores) = (outcome.report(), Vec::new());
        let again = predict(&outcome.model, &[input], Options::default(), &mut scores, &()).unwrap();
        (report, again.mean_loss.unwrap())
    };
    let (report, again) = run(&blocks);
    let order = report.stream.label_order.unwrap();
    assert!((order.runs, order.is_clear) == (Some(12), true) && order.expected_runs.unwrap() > 500.0, "{order:?}");
    // The sample has all rows.
    let saved = report.learner.saved_model_risk.unwrap();
    assert!(saved.examples == 840 && (saved.risk.unwrap() - again).abs() < 1e-12, "{saved:?} {again}");
    // Staying pays next to nothing; the frequencies are those of three classes.
    assert!(report.stream.no_change_risk.unwrap() < 0.2 && report.stream.online_constant_risk.unwrap() > 1.0);
    assert!(report.learner.skill.unwrap().value < 0.0 && report.learner.kappa_temporal.unwrap() < 0.0);
    let (report, _) = run(&mixed);
    assert!(!report.stream.label_order.unwrap().is_clear && report.learner.saved_model_risk.is_none());
}

#[test]
fn a_model_of_classes_is_saved_continued_and_predicts() {
    let whole = learn(&[csv(0..600)], learn_options("class-descent", 1), &()).unwrap().model.to_bytes().unwrap();
    let folder = Folder::new();
    let mut half = learn(&[csv(0..350)], learn_options("class-descent", 1), &()).unwrap().model;
    half.save(folder.path("half.safetensors")).unwrap();
    let loaded = Model::load_with(folder.path("half.safetensors"), &registry()).unwrap();
    let options = LearnOptions { start: loaded.into(), ..learn_options("class-descent", 1) };
    let mut continued = learn(&[csv(350..600)], options, &()).unwrap().model;
    let ends = [&whole, &continued.to_bytes().unwrap()].map(|bytes| {
        let model = Model::from_bytes(bytes, &registry()).unwrap();
        let row = MatrixRows::Dense { values: &[0.3, 0.6], columns: 2, stride: 2 };
        (model.ledger().sequential_risk().to_bits(), model.predict_matrix(row).unwrap())
    });
    assert_eq!(ends[0], ends[1]);
    // Class 4 came after row 300, and before that none beyond 2.
    let mut options = learn_options("class-descent", 1);
    options.reading.target = None;
    let mut early = learn(&[svmlight(0..299)], options, &()).unwrap().model;
    let (mut scores, n) = (Vec::new(), early.ledger().rounds() as f64);
    let report = predict(&early, &[svmlight(299..400)], Options::default(), &mut scores, &()).unwrap();
    let (mut paid, mut charged) = (0.0, 0.0);
    let x = |row: &[f32; 2]| [1.0, row[0], row[1]];
    let snapshot = early.snapshot().unwrap();
    for (row, class) in table(299..400) {
        let values = x(&row);
        let features = Features::new(&[0, 1, 2], &values).unwrap();
        let mut known = Vec::new();
        onward::Example { features, label: None, weight: 1.0 }.as_rows(|rows| {
            known = early.predict(rows);
            assert_eq!(known, snapshot.predict(rows));
        });
        assert_eq!(known.len(), 3);
        let top = (1..3).fold(0, |top, k| if known[k] > known[top] { k } else { top }) as f64;
        assert_eq!(
            (snapshot.predict_one(features), snapshot.response_of(features), early.predict_one(features)),
            (top, top, top)
        );
        let Some(class) = class else { continue };
        let total: f64 = known.iter().map(|score| score.exp()).sum();
        // Of a row of class 4, all others share what is left.
        let likelihood = if class < 3 { known[class].exp() / total } else { 1.0 / (n + 1.0) };
        paid -= likelihood.ln();
        charged += 1.0;
    }
    assert!((report.mean_loss.unwrap() - paid / charged).abs() < 1e-6, "{:?} {}", report.mean_loss, paid / charged);
    assert_eq!(snapshot.outputs(), 3);
}

#[test]
fn learners_of_classes_are_compared() {
    let options = CompareOptions {
        learners: vec!["class-descent".to_owned(), "class-descent:rate=0.5".to_owned()],
        registry: registry(),
        reading: Options { target: Some("y".to_owned()), ..Options::default() },
        hindsight: Some(onward_engine::HindsightOptions::default()),
        ..CompareOptions::default()
    };
    let report = compare(&[csv(0..600)], options, &()).unwrap().report();
    for (learner, rate) in report.learners.iter().zip([0.1, 0.5]) {
        let risk = by_hand(&table(0..600), rate).1;
        assert!((learner.sequential_risk.unwrap() - risk).abs() < 1e-6 * risk);
        assert!(learner.guarantees.iter().all(|it| it.reason.is_some()) && learner.regret_per_round.is_none());
    }
    assert!(serde_json::to_string(&report).unwrap().contains("available for one score per row, not for one per class"));
}

#[test]
fn matrices_of_classes_give_as_many_scores_per_row_as_classes() {
    let rows = table(0..2_600);
    let values: Vec<f32> = rows.iter().flat_map(|(x, _)| *x).collect();
    let labels: Vec<f64> = rows.iter().map(|(_, class)| class.map_or(f64::NAN, |class| class as f64)).collect();
    let mut model = Model::for_indices(&model_options("class-descent"), Task::Classes).unwrap();
    assert_eq!((model.task(), model.loss().name()), (Task::Classes, "softmax".to_owned()));
    let matrix = MatrixRows::Dense { values: &values, columns: 2, stride: 2 };
    let scores = model.learn_matrix(matrix, &labels, None).unwrap();
    let (expected, _) = by_hand(&rows, 0.1);
    assert_eq!(scores.len(), 5 * rows.len());
    for (scores, expected) in scores.chunks(5).zip(&expected) {
        let total: f64 = scores.iter().map(|score| score.exp()).sum();
        for (k, score) in scores.iter().enumerate() {
            assert!((score.exp() / total - expected.get(k).copied().unwrap_or(0.0)).abs() < 1e-6);
        }
    }
    // Row by row the model is the same.
    let mut single = Model::for_indices(&model_options("class-descent"), Task::Classes).unwrap();
    for ((x, _), (&label, scores)) in rows.iter().zip(labels.iter().zip(scores.chunks(5))) {
        let row = [1.0, x[0], x[1]];
        let features = Features::new(&[0, 1, 2], &row).unwrap();
        let class =
            if label.is_nan() { single.predict_one(features) } else { single.learn_one(features, label, 1.0).unwrap() };
        assert_eq!(class, (1..5).fold(0, |top, k| if scores[k] > scores[top] { k } else { top }) as f64);
    }
    assert_eq!(single.ledger().sequential_risk().to_bits(), model.ledger().sequential_risk().to_bits());
}

#[test]
fn what_does_not_fit_classes_is_refused() {
    let error = |result: Result<Model, EngineError>| result.err().unwrap().to_string();
    let refused = |learner: &str, loss: Option<&str>, task| {
        error(Model::for_indices(&ModelOptions { loss: loss.map(str::to_owned), ..model_options(learner) }, task))
    };
    assert_eq!(
        refused("nag", None, Task::Classes),
        "nag gives one score per row; the softmax loss needs a score per class"
    );
    assert_eq!(
        refused("class-descent", None, Task::Binary),
        "class-descent predicts classes; the target has two classes or is a number"
    );
    assert_eq!(
        refused("class-descent", Some("softmax"), Task::Regression),
        "loss must fit the labels, which are numbers; got softmax"
    );
    assert_eq!(
        refused("class-descent", Some("squared"), Task::Classes),
        "loss must fit the labels, which are numbers of classes; got squared"
    );
    let mut options = learn_options("class-descent", 1);
    options.reading.task = Some(Task::Regression);
    let error = LearnRun::open(&[csv(0..10)], options).err().unwrap().to_string();
    assert_eq!(error, "task must be classes for the softmax loss; got regression");
    // Labels that are no numbers of classes are found where they stand.
    for label in ["-1", "0.5", "131072", "cat"] {
        let input = Input::bytes("classes.csv", format!("y,a\n0,1\n{label},2\n"));
        let error = learn(&[input], learn_options("class-descent", 1), &()).err().unwrap();
        let text = error.to_string();
        assert!(text.contains("classes.csv") && text.contains("line 3") && text.contains("number"), "{text}");
        assert_eq!(error.position().and_then(|position| position.column.as_deref()), Some("y"), "{text}");
    }
    let mut model = Model::for_indices(&model_options("class-descent"), Task::Classes).unwrap();
    let x = Features::new(&[0], &[1.0]).unwrap();
    assert!(model.learn_one(x, 0.5, 1.0).is_err() && model.learn_one(x, 1e9, 1.0).is_err());
    // Before the first class there is none.
    assert_eq!((model.predict_one(x), model.snapshot().unwrap().response_of(x)), (0.0, 0.0));
}

#[test]
fn rows_before_the_first_label_and_rows_of_weight_zero_change_nothing() {
    // More unlabelled rows than a matrix is handled at a time.
    let rows: Vec<_> = table(0..1_500).into_iter().map(|(x, _)| (x, None)).chain(table(0..100)).collect();
    let values: Vec<f32> = rows.iter().flat_map(|(x, _)| *x).collect();
    let labels: Vec<f64> = rows.iter().map(|(_, class)| class.map_or(f64::NAN, |class: usize| class as f64)).collect();
    for learner in ["class-descent", "class-descent:standardise=true"] {
        let mut model = Model::for_indices(&model_options(learner), Task::Classes).unwrap();
        let matrix = MatrixRows::Dense { values: &values, columns: 2, stride: 2 };
        let scores = model.learn_matrix(matrix, &labels, None).unwrap();
        assert_eq!(scores.len(), 3 * rows.len());
        assert!(scores[..3 * 1_500].iter().all(|&score| score == f64::NEG_INFINITY));
        let mut late = Model::for_indices(&model_options(learner), Task::Classes).unwrap();
        let matrix = MatrixRows::Dense { values: &values[2 * 1_500..], columns: 2, stride: 2 };
        let expected = late.learn_matrix(matrix, &labels[1_500..], None).unwrap();
        assert_eq!(scores[3 * 1_500..], expected, "{learner}");
        // A class that is new, in a row of weight 0, is not met by it.
        let before = model.to_bytes().unwrap();
        let x = Features::new(&[0, 1], &[1.0, 0.5]).unwrap();
        model.learn_one(x, 7.0, 0.0).unwrap();
        assert_eq!(model.predict_matrix(matrix).unwrap().len(), expected.len());
        assert_eq!((before.len(), model.ledger().rounds()), (model.to_bytes().unwrap().len(), late.ledger().rounds()));
    }
}

#[test]
fn a_prediction_does_not_depend_on_the_label_of_its_row() {
    let model = learn(&[csv(0..299)], learn_options("class-descent", 1), &()).unwrap().model;
    let predicted = |text: &str| {
        let mut sink = PredictionCsv::new(Vec::new(), &[], model.loss(), false).unwrap();
        let input = Input::bytes("new.csv", text);
        let report = predict(&model, &[input], Options::default(), &mut sink, &()).unwrap();
        (String::from_utf8(sink.into_inner()).unwrap(), report.mean_loss)
    };
    let (known, paid) = predicted("y,a,b\n2,0.5,0.25\n");
    let (new, more) = predicted("y,a,b\n131071,0.5,0.25\n");
    assert_eq!(known.replace(",2.0\n", ",131071.0\n"), new);
    let rounds = model.ledger().rounds() as f64;
    assert!(paid.unwrap() < 3.0 && (more.unwrap() - (rounds + 1.0).ln()).abs() < 1e-9);
}
