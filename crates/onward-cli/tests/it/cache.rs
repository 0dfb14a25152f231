//! `--cache`: the same to the bit, without parsing.

use serde_json::Value;

use crate::common::{Folder, data};

const FILE: [&str; 2] = ["--cache", "x.arrow"];
const IS_READ: &str = "cache: reading x.arrow instead of the input\n";

/// Inputs with labels, weights, ids, offsets and records that are skipped, and how to read them.
fn streams(folder: &Folder) -> [Vec<String>; 3] {
    let number = |at: usize| (at as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 44;
    let svmlight = (0..3000).map(|at| match at % 400 {
        9 => "1 :\n".to_owned(),
        _ => format!("{} {}:1 {}:{}\n", ["1", "-1", "?"][at % 3], at % 5, 7 + at % 9, number(at)),
    });
    let vw = (0..3000).map(|at| match at % 400 {
        9 => "1 | a:b\n".to_owned(),
        _ => {
            format!("{} {} 0.{} 'tag,{at}|a x{} y:{}\n", ["1", "-1"][at % 2], at % 3, at % 7, number(at) % 90, at % 11)
        }
    });
    let csv = (0..3000).map(|at| match at % 400 {
        9 => "1,2\n".to_owned(),
        _ => format!("row {at},{},{},{},c{}\n", ["1", "0", ""][at % 3], at % 4, number(at), number(at) % 30),
    });
    folder.write("x.svm", svmlight.collect::<String>());
    folder.write("x.vw", vw.collect::<String>());
    folder.write("x.csv", "id,y,w,x,c\n".to_owned() + &csv.collect::<String>());
    let skip = ["--on-error", "skip"];
    let of = |arguments: &[&str]| arguments.iter().chain(&skip).map(|&it| it.to_owned()).collect();
    [of(&["x.svm"]), of(&["x.vw"]), of(&["x.csv", "--target", "y", "--weight", "w", "--id", "id"])]
}

/// Runs and returns what it left, but for the time that it took, and what it said.
fn outcome(folder: &Folder, command: &str, arguments: &[&str]) -> (Value, String, Vec<u8>, String) {
    let files = match command {
        "learn" => &["--report", "r.json", "--predictions", "p.csv", "--model", "m.safetensors"][..],
        "compare" => &["--report", "r.json"],
        _ => &["--report", "r.json", "--predictions", "p.csv"],
    };
    let said = folder.succeed(&[&[command][..], arguments, files].concat()).stderr;
    let mut report: Value = serde_json::from_str(&folder.read("r.json")).unwrap();
    report.as_object_mut().unwrap().remove("timing");
    for learner in report.get_mut("learners").and_then(Value::as_array_mut).into_iter().flatten() {
        learner.as_object_mut().unwrap().remove("timing");
    }
    let text = |name: &str| std::fs::read_to_string(folder.path(name)).unwrap_or_default();
    let model = std::fs::read(folder.path("m.safetensors")).unwrap_or_default();
    (report, text("p.csv"), model, said)
}

/// What is said, without what differs from run to run.
fn notes(said: &str) -> Vec<&str> {
    said.lines().filter(|line| line.contains(": ") && !line.contains("MB/s") && !line.starts_with("cache")).collect()
}

#[test]
fn learning_from_a_cache_leaves_the_same_to_the_bit() {
    let folder = Folder::new();
    for stream in streams(&folder) {
        let stream: Vec<&str> = stream.iter().map(String::as_str).collect();
        for more in [&["--learner", "adagrad"][..], &["--learner", "nag", "--passes", "3"]] {
            let run = |extra: &[&str]| outcome(&folder, "learn", &[&stream[..], more, extra].concat());
            let (report, predictions, model, said) = run(&[]);
            for (threads, reads) in [("1", false), ("2", true), ("1", true)] {
                let (again, same, other, again_said) = run(&[&FILE[..], &["--threads", threads]].concat());
                assert_eq!(again, report, "{stream:?}");
                assert!(same == predictions && other == model, "{stream:?}");
                assert_eq!(notes(&again_said), notes(&said), "{stream:?}");
                assert_eq!(again_said.contains(IS_READ), reads, "{again_said}");
            }
            std::fs::remove_file(folder.path("x.arrow")).unwrap();
        }
    }
}

#[test]
fn learning_comparing_predicting_and_going_on_share_a_cache() {
    let folder = Folder::new();
    let phishing = data("phishing.csv");
    let stream = [&*phishing, "--target", "is_phishing"];
    folder.succeed(&[&["learn", "--quiet", "--model", "m.safetensors"], &stream[..], &FILE].concat());
    let (plain, ..) = outcome(&folder, "compare", &stream);
    let (cached, .., said) = outcome(&folder, "compare", &[&stream[..], &FILE].concat());
    assert_eq!(cached, plain);
    assert!(said.contains(IS_READ), "{said}");
    let predicting = ["m.safetensors", &phishing];
    let (plain, predictions, ..) = outcome(&folder, "predict", &predicting);
    let (cached, same, _, said) = outcome(&folder, "predict", &[&predicting[..], &FILE].concat());
    assert!(cached == plain && same == predictions && said.contains(IS_READ), "{said}");
    let going_on = [&*phishing, "--init", "m.safetensors"];
    let continued = |extra: &[&str]| {
        let report = ["learn", "--report", "r.json"];
        let said = folder.succeed(&[&report[..], &going_on, extra].concat()).stderr;
        let mut report: Value = serde_json::from_str(&folder.read("r.json")).unwrap();
        report.as_object_mut().unwrap().remove("timing");
        (report, said)
    };
    let (plain, _) = continued(&[]);
    let (cached, said) = continued(&FILE);
    assert!(cached == plain && said.contains(IS_READ), "{said}");
}

#[test]
fn a_cache_that_does_not_fit_is_made_anew_with_a_word() {
    let folder = Folder::new();
    let [stream, ..] = streams(&folder);
    let stream: Vec<&str> = stream.iter().map(String::as_str).collect();
    let learn = |extra: &[&str]| folder.run(&[&["learn", "--learner", "sgd"], &stream[..], &FILE, extra].concat());
    assert_eq!(learn(&[]).code, Some(0));
    folder.write("x.svm", folder.read("x.svm") + "1 1:1\n");
    let said = learn(&[]).stderr;
    let word = "cache: x.arrow holds rows of other inputs, or of older versions of them; it is rebuilt\n";
    assert!(said.contains(word), "{said}");
    assert!(learn(&[]).stderr.contains(IS_READ));
    let said = learn(&["--record-limit", "1K"]).stderr;
    assert!(said.contains("cache: x.arrow holds rows that were read with other columns"), "{said}");
    let said = learn(&["--record-limit", "1K", "--quiet"]).stderr;
    assert_eq!(said, "");
    folder.write("x.arrow", "a letter");
    let outcome = learn(&[]);
    assert_eq!(outcome.code, Some(2));
    assert!(outcome.stderr.contains("x.arrow: --cache names a file that is not a cache of Onward"), "{outcome:?}");
    assert_eq!(folder.read("x.arrow"), "a letter");
}

#[test]
fn what_cannot_be_cached_is_refused_or_said() {
    let folder = Folder::new();
    let outcome = folder.pipe(&["learn", "-", "--cache", "x.arrow"], b"1 1:2\n");
    assert_eq!(outcome.code, Some(2));
    assert!(outcome.stderr.contains("standard input: can be read only once"), "{outcome:?}");
    folder.write("x.svm", "1 1:2\n-1 1:x\n");
    let outcome = folder.run(&["learn", "x.svm", "--cache", "x.arrow"]);
    assert_eq!(outcome.code, Some(2));
    let word = "no cache is written to x.arrow: the input could not be read to its end\n";
    assert!(outcome.stderr.contains(word), "{outcome:?}");
    let outcome = folder.run(&["learn", "x.svm", "--cache", "x.svm"]);
    assert_eq!(outcome.code, Some(2));
    assert!(
        outcome.stderr.contains("--cache x.svm is also an input and would be overwritten; name another file"),
        "{outcome:?}"
    );
    let outcome = folder.run(&["learn", "x.svm", "--cache", "y", "--model", "y"]);
    assert_eq!(outcome.code, Some(2));
    assert_eq!(folder.files(), ["x.svm"]);
}
