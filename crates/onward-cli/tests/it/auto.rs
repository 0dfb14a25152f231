//! The default learner through the program: its lanes in what is printed, its models, its parameters.

use serde_json::Value;

use crate::common::{Folder, data, report};

const TARGET: [&str; 2] = ["--target", "is_phishing"];

/// The report of learning phishing sites.
fn phishing(folder: &Folder, options: &[&str]) -> Value {
    let file = data("phishing.csv");
    report(folder, &[&[&file[..]], &TARGET[..], options].concat())
}

fn inspected(folder: &Folder, model: &str) -> Value {
    serde_json::from_str(&folder.succeed(&["inspect", "--json", model]).stdout).unwrap()
}

/// Name, weight and loss of each lane.
fn lanes(report: &Value) -> Vec<(&str, f64, f64)> {
    let lanes = report["lanes"].as_array().unwrap().iter();
    let number = |value: &Value| value.as_f64().unwrap();
    lanes.map(|lane| (lane["name"].as_str().unwrap(), number(&lane["weight"]), number(&lane["loss"]))).collect()
}

/// That weights are shares, and the gap is what it is called.
fn check(report: &Value, experts: usize) {
    let lanes = lanes(report);
    assert_eq!(lanes.len(), experts, "{lanes:?}");
    assert!(lanes.iter().all(|lane| (0.0..=1.0).contains(&lane.1)), "{lanes:?}");
    assert!((lanes.iter().map(|lane| lane.1).sum::<f64>() - 1.0).abs() < 1e-12, "{lanes:?}");
    let best = lanes.iter().map(|lane| lane.2).fold(f64::INFINITY, f64::min);
    let risk = report["sequential_risk"].as_f64().unwrap();
    let gap = report["gap_to_best_lane"].as_f64().unwrap();
    assert!((gap - (risk - best)).abs() < 1e-9 * risk.abs(), "{gap} {risk} {best}");
    // What is stated about it holds.
    let guarantees = report["guarantees"].as_array().unwrap();
    let own = guarantees.iter().find(|guarantee| guarantee["kind"] == "mixture").unwrap();
    match own["bound_per_round"].as_f64() {
        Some(bound) => assert!(gap <= bound + 1e-9 * risk.abs(), "{gap} {bound}"),
        None => assert!(own["reason"].is_string(), "{own}"),
    }
}

#[test]
fn auto_is_the_default() {
    let folder = Folder::new();
    assert_eq!(phishing(&folder, &[])["learner"], "auto");
    let file = data("phishing.csv");
    for (model, options) in [("default", &[][..]), ("asked", &["--learner", "auto"])] {
        folder.succeed(&[&["learn", "-q", &file, "--model", model], &TARGET[..], options].concat());
    }
    assert_eq!(std::fs::read(folder.path("default")).unwrap(), std::fs::read(folder.path("asked")).unwrap());
}

#[test]
fn the_report_says_what_each_lane_weighs_and_paid() {
    let folder = Folder::new();
    check(&phishing(&folder, &[]), 12);
    check(&phishing(&folder, &["--learner", "auto:lanes=4"]), 9);
    check(&phishing(&folder, &["--loss", "hinge"]), 12);
    let polls = data("trump_approval.csv");
    for loss in ["squared", "absolute", "huber:delta=1", "poisson"] {
        check(&report(&folder, &[&polls, "--target", "five_thirty_eight", "--loss", loss]), 12);
    }
    // No lanes, no such keys.
    let nag = phishing(&folder, &["--learner", "nag"]);
    assert!(nag.get("lanes").is_none() && nag.get("gap_to_best_lane").is_none(), "{nag}");
}

#[test]
fn inspect_shows_the_lanes_and_the_gap() {
    let folder = Folder::new();
    let report = phishing(&folder, &["--model", "model"]);
    let json = inspected(&folder, "model");
    assert_eq!(json["lanes"], report["lanes"]);
    assert_eq!(json["gap_to_best_lane"], report["gap_to_best_lane"]);
    let text = folder.succeed(&["inspect", "model"]).stdout;
    let (_, table) = text.split_once("\nlanes ").unwrap();
    let rows: Vec<&str> = table.lines().skip(1).collect();
    let lanes = lanes(&report);
    for ((name, weight, loss), row) in lanes.iter().zip(&rows) {
        let said = format!("{:.2}% {loss:.4}", 100.0 * weight);
        let words: Vec<&str> = row.strip_prefix(name).unwrap().split_whitespace().collect();
        assert_eq!(words.join(" "), said, "{row}");
    }
    let risk = report["sequential_risk"].as_f64().unwrap();
    let mixture: Vec<&str> = rows[lanes.len()].split_whitespace().collect();
    assert_eq!(mixture.join(" "), format!("their mixture {risk:.4}"));
    let best = lanes.iter().min_by(|one, other| one.2.total_cmp(&other.2)).unwrap();
    let gap = report["gap_to_best_lane"].as_f64().unwrap();
    let outcome = if gap < 0.0 { "gained" } else { "cost" };
    let words: Vec<&str> = rows[lanes.len() + 1].split_whitespace().collect();
    let expected = format!("best lane {:.4} '{}' alone; mixing {outcome} {:.4}", best.2, best.0, gap.abs());
    assert_eq!(words.join(" "), expected);
    // A learner without lanes has none to show.
    phishing(&folder, &["--learner", "nag", "--model", "nag"]);
    assert!(!folder.succeed(&["inspect", "nag"]).stdout.contains("\nlanes "));
    assert!(inspected(&folder, "nag")["lanes"].is_null());
}

#[test]
fn models_of_auto_are_continued_to_the_bit() {
    let folder = Folder::new();
    let text = std::fs::read_to_string(data("phishing.csv")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let part = |range: std::ops::Range<usize>| {
        lines[..1].iter().chain(&lines[range]).map(|line| format!("{line}\n")).collect::<String>()
    };
    folder.write("first", part(1..500));
    folder.write("second", part(500..lines.len()));
    for learner in ["auto", "auto:lanes=4", "auto:lanes=7"] {
        let options = [&TARGET[..], &["--learner", learner]].concat();
        let learn = |arguments: &[&str]| folder.succeed(&[&["learn", "-q"], arguments].concat());
        learn(&[&["first", "second", "--model", "whole", "--predictions", "all"], &options[..]].concat());
        learn(&[&["first", "--model", "half", "--predictions", "some"], &options[..]].concat());
        learn(&["second", "--init", "half", "--model", "resumed", "--predictions", "others"]);
        let read = |name: &str| std::fs::read(folder.path(name)).unwrap();
        assert_eq!(read("whole"), read("resumed"), "{learner}");
        let others = folder.read("others");
        let (_, others) = others.split_once('\n').unwrap();
        assert_eq!(folder.read("all"), folder.read("some") + others, "{learner}");
        assert_eq!(inspected(&folder, "whole")["learner"], learner);
        // Loading changes nothing.
        folder.succeed(&["predict", "-q", "whole", "second", "--predictions", "p"]);
        folder.succeed(&["predict", "-q", "resumed", "second", "--predictions", "q"]);
        assert_eq!(folder.read("p"), folder.read("q"));
    }
}

#[test]
fn parameters_that_auto_has_not_are_refused_with_those_it_has() {
    let folder = Folder::new();
    let file = data("phishing.csv");
    for (learner, message) in [
        ("auto:lanes=5", "lanes of auto must be auto, 7 or 4; got 5"),
        ("auto:lanes=", "lanes of auto must be auto, 7 or 4; got nothing"),
        ("auto:eta=1", "auto has no parameter 'eta'; its parameters are: lanes"),
        ("auto:standardise=true", "auto has no parameter 'standardise'; its parameters are: lanes"),
        ("auto:lane=4", "auto has no parameter 'lane'; did you mean 'lanes'? Its parameters are: lanes"),
    ] {
        let outcome = folder.run(&[&["learn", "-q", &file, "--learner", learner], &TARGET[..]].concat());
        assert_eq!((outcome.code, outcome.stderr.trim_end()), (Some(2), format!("onward: {message}").as_str()));
    }
    let outcome = folder.run(&[&["learn", "-q", &file, "--loss", "zero-one"], &TARGET[..]].concat());
    assert_eq!(outcome.code, Some(2));
    assert!(outcome.stderr.contains("the loss of auto must have a slope, and zero-one has none"), "{outcome:?}");
}

/// y depends on x, with weights in column w.
fn weighted(weight: impl Fn(u32) -> f64) -> String {
    let row = |t: u32| {
        let x = f64::from(t * 7919 % 2003) / 1001.5 - 1.0;
        let y = u32::from(x + f64::from(t * 31 % 17) / 17.0 > 0.6);
        format!("{y},{x:.4},{}\n", weight(t))
    };
    "y,x,w\n".to_owned() + &(0..900).map(row).collect::<String>()
}

#[test]
fn importance_weights_count_for_the_lanes_as_for_the_account() {
    let folder = Folder::new();
    let options = ["--target", "y", "--weight", "w"];
    // The mixture has its bound. Weight 0: as if the row were not there.
    folder.write("light", weighted(|t| [0.25, 0.5, 0.0, 1.0][t as usize % 4]));
    let light = report(&folder, &[&["light"], &options[..]].concat());
    check(&light, 12);
    assert!(light["guarantees"][0]["bound_per_round"].is_f64(), "{light}");
    let kept: String = folder
        .read("light")
        .lines()
        .filter(|line| !line.ends_with(",0"))
        .fold(String::new(), |text, line| text + line + "\n");
    folder.write("kept", kept);
    let kept = report(&folder, &[&["kept"], &options[..]].concat());
    assert_eq!((&kept["lanes"], &kept["sequential_risk"]), (&light["lanes"], &light["sequential_risk"]));
    // Above 1 too: it is larger by as much.
    folder.write("heavy", weighted(|t| if t % 3 == 0 { 2.0 } else { 1.0 }));
    let heavy = report(&folder, &[&["heavy"], &options[..]].concat());
    check(&heavy, 12);
    let bound = heavy["guarantees"][0]["bound_per_round"].as_f64().unwrap();
    assert!(heavy["gap_to_best_lane"].as_f64().unwrap() <= bound, "{heavy}");
    check(&report(&folder, &[&["heavy", "--loss", "hinge"], &options[..]].concat()), 12);
    check(&report(&folder, &[&["heavy", "--task", "regression"], &options[..]].concat()), 12);
}

#[test]
fn later_passes_change_the_model_and_not_the_account_of_the_lanes() {
    let folder = Folder::new();
    let once = phishing(&folder, &["--model", "once"]);
    let twice = phishing(&folder, &["--passes", "2", "--model", "twice"]);
    check(&twice, 12);
    for key in ["sequential_risk", "lanes", "gap_to_best_lane", "guarantees"] {
        assert_eq!(once[key], twice[key], "{key}");
    }
    let risks: Vec<f64> = serde_json::from_value(twice["pass_risks"].clone()).unwrap();
    assert!(risks.len() == 2 && risks[1] < risks[0], "{risks:?}");
    // The model's lanes have paid for both passes.
    let both = inspected(&folder, "twice");
    let mixture = both["gap_to_best_lane"].as_f64().unwrap()
        + lanes(&both).iter().map(|lane| lane.2).fold(f64::INFINITY, f64::min);
    assert!((mixture - (risks[0] + risks[1]) / 2.0).abs() < 1e-9, "{mixture} {risks:?}");
    // A model that went over its data again has no guarantee, of a mixture neither.
    let continued = phishing_continued(&folder);
    let own = &continued["guarantees"][0];
    assert_eq!(own["kind"], "mixture");
    assert!(own["bound_per_round"].is_null() && own["reason"].as_str().unwrap().contains("several passes"), "{own}");
}

fn phishing_continued(folder: &Folder) -> Value {
    report(folder, &[&data("phishing.csv"), "--init", "twice"])
}

#[test]
fn a_model_that_has_learnt_nothing_shows_no_losses() {
    let folder = Folder::new();
    folder.write("data", "y,x\n,1\n,2\n");
    folder.succeed(&["learn", "-q", "data", "--target", "y", "--task", "binary", "--model", "model"]);
    let json = inspected(&folder, "model");
    assert!(json["gap_to_best_lane"].is_null() && json["lanes"][0]["loss"].is_null(), "{json}");
    let text = folder.succeed(&["inspect", "model"]).stdout;
    assert!(!text.contains("NaN") && !text.contains("lane"), "{text}");
}
