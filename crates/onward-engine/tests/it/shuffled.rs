//! Learning in random order: what comes of it is what comes of a file whose rows are in that order.

use std::sync::atomic::{AtomicBool, Ordering};

use onward::numeric::rng::SplitMix64;
use onward_data::{Input, Options};
use onward_engine::{
    EngineError, Event, HindsightOptions, LearnOptions, LearnReport, LearnRun, PassOrder, RunControl, learn,
};

use crate::{Folder, learned};

/// Sorted by the label, with weights, a category and rows that teach nothing.
fn sorted(rows: usize) -> Vec<String> {
    let row = |t: usize| {
        let label = if t % 41 == 3 { String::new() } else { usize::from(2 * t >= rows).to_string() };
        format!("{label},{},{},{}\n", t * 37 % 101, ["a", "b", "c"][t * 7 % 3], t % 4)
    };
    (0..rows).map(row).collect()
}

fn file(rows: &[String]) -> String {
    "y,x,c,w\n".to_owned() + &rows.concat()
}

/// The rows in the order of a shuffle, and behind them those that teach nothing.
fn shuffled(rows: &[String], seed: u64) -> Vec<String> {
    let teaches = |row: &&String| !row.starts_with(',') && !row.ends_with(",0\n");
    let mut taught: Vec<String> = rows.iter().filter(teaches).cloned().collect();
    let mut random = SplitMix64::new(seed);
    for at in (1..taught.len()).rev() {
        taught.swap(at, random.below(at as u64 + 1) as usize);
    }
    taught.extend(rows.iter().filter(|row| !teaches(row)).cloned());
    taught
}

fn weighted(options: &mut LearnOptions) {
    options.reading.weight = Some("w".to_owned());
}

/// What does not depend on the machine and the name of the input.
fn timeless(report: &LearnReport) -> serde_json::Value {
    let mut report = serde_json::to_value(report).unwrap();
    for key in ["timing", "inputs", "bytes"] {
        report.as_object_mut().unwrap().remove(key).unwrap();
    }
    report
}

#[test]
fn a_shuffled_pass_is_a_pass_over_a_shuffled_file_to_the_bit() {
    let folder = Folder::new();
    let rows = sorted(1500);
    let input = folder.input("sorted.csv", file(&rows));
    for (seed, learner) in [(0, "nag"), (7, "auto"), (7, "sgd:average=1")] {
        let expected = folder.input("shuffled.csv", file(&shuffled(&rows, seed)));
        let [mut found, mut expected] = [(&input, true), (&expected, false)].map(|(input, shuffle)| {
            learned(input, learner, |options| {
                weighted(options);
                (options.shuffle, options.seed) = (shuffle, seed);
                options.hindsight = Some(HindsightOptions::default());
                options.loss_bound = Some(1e3);
            })
        });
        let (mut one, mut other) = (timeless(&found.report()), timeless(&expected.report()));
        // The search walks the rows as they came: another order has other roundings.
        for report in [&mut one, &mut other] {
            assert!(report["hindsight"]["loss"].is_f64());
            for key in ["hindsight", "regret_per_round"] {
                report.as_object_mut().unwrap().remove(key).unwrap();
            }
            let points = report["curve"].as_array_mut().unwrap();
            // The certificate on the curve is that of the best predictor.
            for point in points.iter_mut().map(|it| it.as_object_mut().unwrap()) {
                ["regret", "guarantee"].into_iter().for_each(|key| drop(point.remove(key)));
            }
        }
        assert_eq!(one, other, "{learner}");
        let regrets = |report: LearnReport| report.learner.curve.into_iter().map(|it| it.regret.unwrap());
        for (one, other) in regrets(found.report()).zip(regrets(expected.report())) {
            assert!((one - other).abs() < 2e-3, "{learner}: {one} {other}");
        }
        assert_eq!(found.model.metadata(), expected.model.metadata());
        let bytes = [&mut found, &mut expected].map(|it| it.model.to_bytes().unwrap().len());
        assert_eq!(bytes[0], bytes[1], "{learner}");
    }
}

#[test]
fn later_passes_go_over_the_rows_that_were_kept() {
    let folder = Folder::new();
    let input = folder.input("sorted.csv", file(&sorted(600)));
    let run = |order: PassOrder, input: &Input| {
        let report = learned(input, "sgd", |options| {
            weighted(options);
            (options.shuffle, options.passes, options.order) = (true, 3, order);
        })
        .report();
        report.learner.pass_risks.unwrap()
    };
    let pipe = || Input::reader("pipe", std::io::Cursor::new(file(&sorted(600))));
    for order in [PassOrder::Sequential, PassOrder::Shuffle, PassOrder::Random] {
        let risks = run(order, &input);
        assert_eq!(risks, run(order, &pipe()), "{order:?}");
        assert_eq!(risks[0], run(PassOrder::Sequential, &input)[0]);
    }
    assert_ne!(run(PassOrder::Sequential, &input)[1], run(PassOrder::Shuffle, &input)[1]);
}

#[test]
fn predictions_in_random_order_are_refused() {
    let folder = Folder::new();
    let input = folder.input("sorted.csv", file(&sorted(60)));
    let reading = Options { target: Some("y".to_owned()), ..Options::default() };
    let run = LearnRun::open(&[input], LearnOptions { reading, shuffle: true, ..LearnOptions::default() }).unwrap();
    let mut scores = Vec::new();
    let error = run.run(Some(&mut scores), &()).err().unwrap();
    assert!(matches!(error, EngineError::Option { name: "shuffle", .. }), "{error}");
    assert!(scores.is_empty());
}

/// Cancels a run when something has been read.
#[derive(Default)]
struct Impatient(AtomicBool);

impl RunControl for Impatient {
    fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    fn observe(&self, event: Event<'_>) {
        if matches!(event, Event::Progress(_)) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
}

#[test]
fn what_was_read_before_a_run_is_ended_is_learnt() {
    let folder = Folder::new();
    let input = folder.input("sorted.csv", file(&sorted(60_000)));
    let reading = Options { target: Some("y".to_owned()), threads: 1, ..Options::default() };
    let options = LearnOptions { reading, shuffle: true, ..LearnOptions::default() };
    let report = learn(&[input], options, &Impatient::default()).unwrap().report();
    let stream = &report.stream;
    assert!((1000..60_000).contains(&stream.examples), "{}", stream.examples);
    assert_eq!(report.learner.curve.last().unwrap().t, stream.rounds());
}

/// Cancels a run after so many questions.
struct Patience(std::sync::atomic::AtomicU32);

impl RunControl for Patience {
    fn is_cancelled(&self) -> bool {
        self.0.fetch_sub(1, Ordering::Relaxed) == 0
    }
}

#[test]
fn a_run_that_is_ended_while_it_learns_has_no_hindsight_and_says_why() {
    let folder = Folder::new();
    let input = folder.input("sorted.csv", file(&sorted(1500)));
    let reading = Options { target: Some("y".to_owned()), threads: 1, ..Options::default() };
    let hindsight = Some(HindsightOptions::default());
    let options = LearnOptions { reading, shuffle: true, hindsight, ..LearnOptions::default() };
    // Asked once for the batch and once for its end; then before each 256 rows.
    let report = learn(&[input], options, &Patience(4.into())).unwrap().report();
    assert_eq!(report.learner.curve.last().unwrap().t, 512);
    assert_eq!(report.stream.rounds(), 512);
    let hindsight = serde_json::to_value(report.stream.hindsight.unwrap()).unwrap();
    assert_eq!(hindsight["reason"], "the run was ended before all rows were learnt");
}
