//! Models: files, snapshots, rows one by one.

use std::sync::atomic::{AtomicBool, Ordering};

use onward::loss::Task;
use onward::{Batch, Features};
use onward_engine::{EngineError, Model, ModelOptions, Registry};

use crate::{Folder, classes, learned};

fn row(t: u32) -> ([f32; 3], f64) {
    let (a, b) = ((t * 37 % 101) as f32 / 101.0, (t * 61 % 89) as f32 / 89.0);
    ([1.0, a, b], if a > b { 1.0 } else { -1.0 })
}

fn model(learner: &str) -> Model {
    Model::for_indices(&ModelOptions { learner: learner.to_owned(), ..ModelOptions::default() }, Task::Binary).unwrap()
}

#[test]
fn a_snapshot_predicts_to_the_bit_what_the_model_did_and_never_changes() {
    for learner in ["auto", "nag", "nag:standardise=true", "kernel:budget=50", "hedge:learners=nag+ogd"] {
        let mut model = model(learner);
        let learn = |model: &mut Model, range: std::ops::Range<u32>| {
            for t in range {
                let (values, label) = row(t);
                model.learn_one(Features::new(&[0, 1, 2], &values).unwrap(), label, 1.0).unwrap();
            }
        };
        let scores = |predict: &dyn Fn(Features<'_>) -> f64| -> Vec<u64> {
            (0..50).map(|t| predict(Features::new(&[0, 1, 2], &row(1000 + t).0).unwrap()).to_bits()).collect()
        };
        learn(&mut model, 0..300);
        let snapshot = model.snapshot().unwrap();
        let before = scores(&|x| model.predict_one(x));
        learn(&mut model, 300..600);
        assert_ne!(scores(&|x| model.predict_one(x)), before, "{learner}");
        // From other threads too.
        let of_snapshot =
            std::thread::scope(|scope| scope.spawn(|| scores(&|x| snapshot.predict_one(x))).join().unwrap());
        assert_eq!(of_snapshot, before, "{learner}");
    }
}

#[test]
fn a_batch_and_single_rows_give_equal_models() {
    let mut batch = Batch::default();
    let (mut single, mut many) = (model("auto"), model("auto"));
    for t in 0..500 {
        let (values, label) = row(t);
        values.iter().enumerate().for_each(|(index, &value)| batch.push(index as u32, value));
        batch.finish(Some(label), f64::from(t % 3));
        single.learn_one(Features::new(&[0, 1, 2], &values).unwrap(), label, f64::from(t % 3)).unwrap();
    }
    many.learn(batch.rows(0..batch.len())).unwrap();
    assert_eq!(single.to_bytes().unwrap(), many.to_bytes().unwrap());
    assert_eq!((many.metadata().examples, many.metadata().weightless), (500, 167));
}

#[test]
fn a_label_that_the_loss_cannot_take_is_refused_and_nothing_is_learnt() {
    let mut model = model("nag");
    let fresh = model.to_bytes().unwrap();
    let x = Features::new(&[0], &[1.0]).unwrap();
    for label in [7.0, f64::NAN] {
        assert!(matches!(model.learn_one(x, label, 1.0), Err(EngineError::Core(_))), "{label}");
    }
    assert!(matches!(model.learn_one(x, 1.0, f64::NAN), Err(EngineError::Option { name: "weight", .. })));
    let mut batch = Batch::default();
    for label in [1.0, 7.0] {
        batch.push(0, 1.0);
        batch.finish(Some(label), 1.0);
    }
    let error = model.learn(batch.rows(0..batch.len())).unwrap_err();
    assert!(matches!(error, EngineError::Row { row: 1, column: None, .. }), "{error}");
    assert_eq!(model.to_bytes().unwrap(), fresh);
    // Nothing to learn is nothing learnt.
    assert!(model.learn(Batch::default().rows(..)).unwrap().is_empty());
    assert_eq!(model.to_bytes().unwrap(), fresh);
}

#[test]
fn a_saved_model_is_the_same_model() {
    let folder = Folder::new();
    let input = folder.input("data.csv", classes());
    let mut outcome = learned(&input, "auto", |_| ());
    let path = folder.path("model");
    outcome.model.save(&path).unwrap();
    let mut loaded = Model::load(&path).unwrap();
    assert_eq!(loaded.to_bytes().unwrap(), std::fs::read(&path).unwrap());
    assert_eq!(loaded.metadata(), outcome.model.metadata());
    assert_eq!(loaded.heaviest(5), outcome.model.heaviest(5));
    assert_eq!(loaded.heaviest(1)[0].name, "x");
    // What cannot be written leaves what was there.
    let error = outcome.model.save(folder.path("nowhere/model")).unwrap_err();
    assert!(matches!(error, EngineError::Write { .. }), "{error}");
    let error = Model::from_bytes(b"hello", &Registry::default()).err().unwrap();
    assert!(matches!(error, EngineError::Model { path: None, .. }), "{error}");
    let error = Model::load(folder.path("data.csv")).err().unwrap();
    assert!(matches!(&error, EngineError::Model { path: Some(path), .. } if path.ends_with("data.csv")), "{error}");
    assert!(matches!(Model::load(folder.path("nowhere")), Err(EngineError::Read { .. })));
}

#[test]
fn a_cancelled_run_has_what_it_learnt_so_far() {
    let folder = Folder::new();
    let input = folder.input("data.csv", classes());
    // It is asked before each batch: at the second.
    struct AfterOneBatch(AtomicBool);
    impl onward_engine::RunControl for AfterOneBatch {
        fn is_cancelled(&self) -> bool {
            self.0.load(Ordering::Relaxed)
        }
        fn observe(&self, event: onward_engine::Event<'_>) {
            if matches!(event, onward_engine::Event::Progress(_)) {
                self.0.store(true, Ordering::Relaxed);
            }
        }
    }
    let reading =
        onward_data::Options { target: Some("y".to_owned()), chunk_size: 1000, ..onward_data::Options::default() };
    let options = onward_engine::LearnOptions { reading, passes: 3, ..onward_engine::LearnOptions::default() };
    let control = AfterOneBatch(AtomicBool::new(false));
    let outcome = onward_engine::learn(&[input], options, &control).unwrap();
    let examples = outcome.model.metadata().examples;
    assert!((1..600).contains(&examples), "{examples}");
    assert_eq!(outcome.report().stream.examples, examples);
    // The later passes were not made.
    assert!(outcome.report().learner.pass_risks.is_none() && outcome.model.metadata().passes == 1);
}

#[test]
fn records_of_another_schema_are_refused_by_model_snapshot_and_batch() {
    let encoder = |target: &str| {
        let options = onward_data::Options {
            target: Some(target.to_owned()),
            task: Some(Task::Binary),
            ..onward_data::Options::default()
        };
        onward_data::RecordEncoder::new(&options).unwrap()
    };
    let (mut own, mut other) = (encoder("sent"), encoder("paid"));
    let mut model = Model::new(&ModelOptions::default(), own.schema().clone()).unwrap();
    let mut rows = onward_data::ParsedBatch::default();
    own.encode(serde_json::json!({"sent": true, "price": 3, "shop": "web"}), &mut rows).unwrap();
    own.encode(serde_json::json!({"sent": false, "price": 5}), &mut rows).unwrap();
    assert_eq!(model.learn_records(&rows).unwrap().len(), 2);
    assert!(model.names().get(rows.batch.get(0).features.indices()[1]).is_some());
    let snapshot = model.snapshot().unwrap();
    assert_eq!(snapshot.predict_records(&rows).unwrap(), model.predict_records(&rows).unwrap());
    // An equal schema is as good: that of the model, saved and loaded.
    let loaded = Model::from_bytes(&model.to_bytes().unwrap(), &Registry::default()).unwrap();
    let mut again = onward_data::RecordEncoder::with_schema(loaded.schema().clone()).unwrap();
    let mut more = onward_data::ParsedBatch::default();
    again.encode(serde_json::json!({"price": 4}), &mut more).unwrap();
    assert!(model.predict_records(&more).is_ok());
    // Rows of another one would be features of other meanings.
    let fresh = model.to_bytes().unwrap();
    let mut foreign = onward_data::ParsedBatch::default();
    other.encode(serde_json::json!({"paid": true, "price": 3}), &mut foreign).unwrap();
    let message = "records must be encoded by the model's schema; got another one's";
    assert_eq!(model.learn_records(&foreign).unwrap_err().to_string(), message);
    assert_eq!(model.predict_records(&foreign).unwrap_err().to_string(), message);
    assert_eq!(snapshot.predict_records(&foreign).unwrap_err().to_string(), message);
    assert_eq!(model.to_bytes().unwrap(), fresh);
    // Nor do they come into one batch, unless it is cleared.
    let error = other.encode(serde_json::json!({"paid": true}), &mut rows).unwrap_err();
    assert_eq!(
        (error.to_string(), rows.batch.len()),
        ("the batch has rows of another schema; clear it first".to_owned(), 2)
    );
    rows.clear();
    other.encode(serde_json::json!({"paid": true}), &mut rows).unwrap();
}
