//! What a run is said to be worth: beside what goes by the labels alone, whatever order they come in and however far from
//! 0 they are.

use onward::numeric::rng::SplitMix64;
use serde_json::Value;

use crate::common::{Folder, data, report};

/// A number that a report has.
fn at(report: &Value, path: &str) -> f64 {
    report.pointer(path).and_then(Value::as_f64).unwrap_or_else(|| panic!("{path}: {report}"))
}

/// Two classes, of which a feature tells a little, sorted by the class.
fn sorted_by_label() -> String {
    let mut random = SplitMix64::new(5);
    let row = |t: u32| {
        let label = u32::from(t >= 600);
        let noise: f64 = (0..6).map(|_| random.uniform()).sum::<f64>() - 3.0;
        format!("{:.3},{:.3},{},{label}\n", noise + 0.4 * f64::from(label), t % 7, ["r", "g", "b"][t as usize % 3])
    };
    "a,b,colour,y\n".to_owned() + &(0..1200).map(row).collect::<String>()
}

/// The level of a lake, far from 0, by year and inflow.
fn far_from_zero(rows: u32) -> String {
    let mut random = SplitMix64::new(8);
    let mut row = |t: u32| {
        let inflow = random.uniform() - 0.5;
        let level = 579.0 + inflow + 1.2 * (f64::from(t) * 0.1).sin() + 0.1 * random.uniform();
        format!("{},{inflow:.3},{level:.3}\n", 1900 + t)
    };
    "year,inflow,level\n".to_owned() + &(0..rows).map(&mut row).collect::<String>()
}

#[test]
fn a_file_sorted_by_its_label_teaches_nothing_and_is_told_what_to_do() {
    let folder = Folder::new();
    folder.write("sorted.csv", sorted_by_label());
    let said = folder.succeed(&["learn", "sorted.csv", "--target", "y"]).stderr;
    let found = report(&folder, &["sorted.csv", "--target", "y"]);
    // As good as it gets by all measures but those of this file.
    assert!(at(&found, "/metrics/accuracy") > 0.99 && at(&found, "/metrics/auc") > 0.99);
    assert!(at(&found, "/kappa_temporal") < 0.0 && at(&found, "/no_change_risk") < 0.02);
    assert!(at(&found, "/skill/value") < 0.3 && found["skill"]["baseline"] == "no_change");
    assert_eq!((at(&found, "/label_order/runs"), &found["label_order"]["is_clear"]), (2.0, &Value::Bool(true)));
    let saved = at(&found, "/saved_model_risk/risk");
    assert!(saved > at(&found, "/online_constant_risk") && at(&found, "/saved_model_risk/examples") == 1000.0);
    for part in [
        "the labels come in 2 runs; in random order they would come in about 601\n",
        &format!(
            "saved model {saved:>14.4}  mean loss of the saved model on 1,000 examples of this run, drawn at random; "
        ),
        "if the order of the rows means nothing, learn them in random order: --shuffle\n",
        "; temporal kappa -",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    // What it is worth to learn in random order.
    let found = report(&folder, &["sorted.csv", "--target", "y", "--shuffle", "--model", "model"]);
    assert!(at(&found, "/skill/low") > 0.0 && found["skill"]["baseline"] == "online_constant", "{found}");
    assert!(found["label_order"]["is_clear"] == Value::Bool(false) && found["saved_model_risk"].is_null());
    folder.succeed(&["predict", "model", "sorted.csv", "--quiet", "--predictions", "p", "--report", "again"]);
    let again: Value = serde_json::from_str(&folder.read("again")).unwrap();
    assert!(at(&again, "/mean_loss") < at(&again, "/baseline_risk") && at(&again, "/mean_loss") < 0.7 * saved);
    let said = folder.succeed(&["learn", "sorted.csv", "--target", "y", "--shuffle"]).stderr;
    assert!(said.contains("  it learnt: it pays ") && !said.contains("--shuffle"), "{said}");
    let said = folder.succeed(&["compare", "sorted.csv", "--target", "y", "--learner", "nag"]).stderr;
    assert!(said.contains("\n\nlabel order: the labels come in 2 runs; "), "{said}");
}

#[test]
fn random_order_is_that_of_the_seed_from_a_file_and_from_a_pipe() {
    let folder = Folder::new();
    folder.write("sorted.csv", sorted_by_label());
    let arguments = ["--target", "y", "--learner", "sgd", "--shuffle"];
    let risk =
        |more: &[&str]| at(&report(&folder, &[&["sorted.csv"], &arguments[..], more].concat()), "/sequential_risk");
    let first = risk(&[]);
    assert_eq!(first, risk(&["--seed", "0", "--threads", "1"]));
    assert_ne!(first, risk(&["--seed", "1"]));
    let piped = [&["learn", "-q", "--report", "-", "--passes", "2", "--hindsight"], &arguments[..]].concat();
    let outcome = folder.pipe(&piped, sorted_by_label().as_bytes());
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    let piped: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(at(&piped, "/sequential_risk"), first);
    // Later passes are shuffled too, unless something else is asked for.
    let passes = |more: &[&str]| {
        let found = report(&folder, &[&["sorted.csv", "--passes", "2"], &arguments[..], more].concat());
        at(&found, "/pass_risks/1")
    };
    assert_eq!(passes(&[]), passes(&["--order", "shuffle"]));
    assert_eq!(at(&piped, "/pass_risks/1"), passes(&[]));
    assert_ne!(passes(&[]), passes(&["--order", "sequential"]));
    // A model goes on in random order as well.
    folder.succeed(&["learn", "-q", "sorted.csv", "--target", "y", "--model", "model", "--shuffle"]);
    let found = report(&folder, &["sorted.csv", "--init", "model", "--shuffle", "--seed", "3"]);
    assert_eq!((at(&found, "/examples"), at(&found, "/resumed_at")), (2400.0, 1200.0));
}

#[test]
fn labels_far_from_0_are_judged_beside_a_predictor_that_starts_at_0_too() {
    let folder = Folder::new();
    folder.write("lake.csv", far_from_zero(98));
    let found = report(&folder, &["lake.csv", "--target", "level"]);
    assert!(at(&found, "/metrics/r2") < -1000.0 && at(&found, "/r2_online").abs() < 0.01);
    assert!(at(&found, "/first_share") > 0.99 && at(&found, "/recent_risk") < 5.0);
    assert!(at(&found, "/skill/value").abs() < 0.01 && at(&found, "/skill_after_first/value") > 0.2);
    let said = folder.succeed(&["learn", "lake.csv", "--target", "level"]).stderr;
    let (_, summary) = said.split_once(" distinct\n\n").unwrap();
    assert!(summary.starts_with("skill  ") && summary.contains(", from the second example on\n"), "{said}");
    assert!(
        said.contains("first example       100.0%  of the whole loss, paid before any label was known; "),
        "{said}"
    );
    assert!(!said.contains("R²") && said.contains("\nrecent risk "), "{said}");
    // Ratios are not those of the best constant, which knows all levels beforehand.
    let said = folder.succeed(&["compare", "lake.csv", "--target", "level"]).stderr;
    let auto = said.lines().find(|line| line.starts_with("auto ")).unwrap();
    assert_eq!(auto.split_whitespace().nth(2), Some("1.000"), "{said}");
}

#[test]
fn a_learner_that_pays_many_times_what_the_online_constant_does_is_remarked_upon() {
    let folder = Folder::new();
    folder.write("lake.csv", far_from_zero(98));
    for (learner, what) in [("nag", "behind"), ("ogd:radius=2", "behind"), ("ogd-strong:sigma=0.001", "diverged")] {
        let asked = ["lake.csv", "--target", "level", "--ignore", "year", "--learner", learner];
        let said = folder.succeed(&[&["learn"], &asked[..]].concat()).stderr;
        let line = said.lines().find(|line| line.starts_with(what)).unwrap_or_else(|| panic!("{learner}: {said}"));
        assert!(line.contains(" times what the online constant does: ") && line.contains("; try "), "{line}");
        assert!(said.contains("  it did not learn: it pays "), "{learner}: {said}");
        let compared = folder.succeed(&[&["compare"], &asked[..]].concat()).stderr;
        assert!(compared.contains(&format!("\n{learner} {what}: the learner pays ")), "{compared}");
    }
}

#[test]
fn who_pays_more_than_the_online_constant_has_beaten_nobody() {
    let folder = Folder::new();
    folder.write("lake.csv", far_from_zero(98));
    let asked = ["learn", "lake.csv", "--target", "level", "--ignore", "year", "--radius", "0.1", "--loss", "absolute"];
    for more in [&["--learner", "nag"][..], &["--learner", "nag", "--hindsight"]] {
        let said = folder.succeed(&[&asked[..], more].concat()).stderr;
        assert!(!said.contains(" beat "), "{said}");
        assert!(said.contains("but the online constant pays ") && said.contains("try a larger --radius"), "{said}");
    }
    // Who pays less has.
    let said = folder.succeed(&[&asked[..], &["--hindsight"]].concat()).stderr;
    assert!(said.contains("\nlearning online beat "), "{said}");
}

#[test]
fn who_has_nothing_to_learn_is_not_said_to_have_learnt() {
    // Labels of coins: skill is within its interval around 0, or below.
    let folder = Folder::new();
    let mut random = SplitMix64::new(2);
    let mut row = |_: u32| format!("{},{:.3}\n", random.below(2), random.uniform());
    folder.write("coins.csv", "y,x\n".to_owned() + &(0..3000).map(&mut row).collect::<String>());
    for learner in ["auto", "nag", "ogd", "adagrad"] {
        let said = folder.succeed(&["learn", "coins.csv", "--target", "y", "--learner", learner]).stderr;
        assert!(!said.contains("it learnt:") && !said.contains("beat"), "{learner}: {said}");
        assert!(!said.contains("label order"), "{learner}: {said}");
    }
    let found = report(&folder, &["coins.csv", "--target", "y"]);
    assert!(at(&found, "/skill/low") < 0.0 && at(&found, "/label_order/p_value") > 1e-3, "{found}");
}

#[test]
fn a_summary_of_an_older_model_says_nothing_that_it_cannot_know() {
    let folder = Folder::new();
    let golden = |name: &str| {
        std::fs::read(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/v1").join(name)).unwrap()
    };
    folder.write("rows.csv", golden("approval.csv"));
    let old = zstd::stream::decode_all(&*golden("approval-nag.safetensors.zst")).unwrap();
    folder.write("old", old);
    let found = report(&folder, &["rows.csv", "--init", "old", "--model", "new"]);
    for key in ["online_constant_risk", "no_change_risk", "label_order", "skill", "r2_online", "saved_model_risk"] {
        assert!(found[key].is_null(), "{key}: {found}");
    }
    assert!(at(&found, "/recent_risk") > 0.0 && at(&found, "/metrics/r2").is_finite());
    let said = folder.succeed(&["learn", "rows.csv", "--init", "new"]).stderr;
    assert!(
        said.contains("\nsequential risk ") && !said.contains("skill") && !said.contains("online constant"),
        "{said}"
    );
}

#[test]
fn a_report_of_an_older_version_has_ratios_to_the_best() {
    let folder = Folder::new();
    let arguments = ["compare", "-q", &data("phishing.csv"), "--target", "is_phishing", "--report", "new"];
    folder.succeed(&arguments);
    let mut old: Value = serde_json::from_str(&folder.read("new")).unwrap();
    for key in ["online_constant_risk", "no_change_risk", "label_order"] {
        old.as_object_mut().unwrap().remove(key);
    }
    folder.write("old", old.to_string());
    let table = folder.succeed(&["show", "old"]).stdout;
    assert!(table.contains("  to the best  ") && !table.contains("online constant"), "{table}");
    let page = folder.succeed(&["show", "new", "--html", "-"]).stdout;
    assert!(page.contains("<td>online constant</td>") && page.contains("<td>no change</td>"), "{page}");
}

#[test]
fn the_auc_is_that_of_the_predictions_in_the_file() {
    // Rates so large that many probabilities are written as 1.0 or next to it, among them wrong ones.
    let folder = Folder::new();
    let mut random = SplitMix64::new(21);
    let mut row = |_: u32| {
        let x: f64 = 4.0 * random.uniform() - 1.0;
        let y = u32::from(x + random.uniform() > 0.9);
        format!("{y},{x:.3},{:.3}\n", random.uniform())
    };
    folder.write("rows.csv", "y,x,z\n".to_owned() + &(0..1500).map(&mut row).collect::<String>());
    for rate in ["1e14", "1e18", "1e30"] {
        let learner = format!("sgd:schedule=constant,eta0={rate}");
        let arguments = ["rows.csv", "--target", "y", "--learner", &learner, "--predictions", "p.csv"];
        let found = report(&folder, &arguments);
        let written: Vec<(f64, f64)> = folder
            .read("p.csv")
            .lines()
            .skip(1)
            .map(|line| {
                let (prediction, label) = line.split_once(',').unwrap();
                (prediction.parse().unwrap(), label.parse().unwrap())
            })
            .collect();
        let certain = written.iter().filter(|row| row.0 == 1.0).count();
        assert!(certain > 20, "{rate} {certain}");
        let (mut won, mut pairs) = (0.0, 0.0);
        for &(one, _) in written.iter().filter(|row| row.1 > 0.0) {
            for &(other, _) in written.iter().filter(|row| row.1 < 0.0) {
                pairs += 1.0;
                won += if one > other { 1.0 } else { 0.5 * f64::from(u8::from(one == other)) };
            }
        }
        let difference = at(&found, "/metrics/auc") - won / pairs;
        assert!(difference.abs() <= at(&found, "/metrics/auc_error") + 1e-12, "{rate}: {difference}");
    }
}
