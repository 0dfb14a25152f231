//! Products of features: `--interactions`, as a user meets it.

use std::fmt::Write;

use crate::common::{Folder, data, report};

/// Rows with three namespaces, and the same with the products of `a` and `b` written out, as
/// text; the label depends on a product.
fn rows(count: u32, importance: u32) -> (String, String) {
    let (mut plain, mut crossed) = (String::new(), String::new());
    let mut state = 7u32;
    let mut draw = |below: u32| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 16) % below
    };
    for _ in 0..count {
        let (one, other, third, size) = (draw(5), draw(7), draw(3), 1 + draw(4));
        let label = if (one + other) % 2 == 0 { 1 } else { -1 };
        let line = format!("{label} {importance} |a u{one}:{size} v{third} |b w{other}:0.5 |c t{third}");
        writeln!(plain, "{line}").unwrap();
        let half = f64::from(size) / 2.0;
        writeln!(crossed, "{line} |p u{one}^w{other}:{half} v{third}^w{other}:0.5").unwrap();
    }
    (plain, crossed)
}

fn folder() -> Folder {
    let folder = Folder::new();
    let (plain, crossed) = rows(20_000, 1);
    folder.write("plain.vw", plain);
    folder.write("crossed.vw", crossed);
    folder
}

#[test]
fn products_pay_what_features_written_out_by_hand_pay() {
    let folder = folder();
    let learner = ["--learner", "nag"];
    let risk = |arguments: &[&str]| report(&folder, &[arguments, &learner].concat())["sequential_risk"].to_string();
    let by_hand = risk(&["crossed.vw"]);
    assert_eq!(risk(&["plain.vw", "--interactions", "a*b"]), by_hand);
    // The order of the groups is another hash of the same feature.
    assert_eq!(risk(&["plain.vw", "--interactions", "b*a, a*b"]), by_hand);
    let without: f64 = risk(&["plain.vw"]).parse().unwrap();
    let with: f64 = by_hand.parse().unwrap();
    assert!(without > 0.6 && with < 0.2, "the label is a product: {without} without, {with} with");
}

#[test]
fn a_model_predicts_with_its_interactions() {
    let folder = folder();
    folder.succeed(&["learn", "plain.vw", "--quiet", "--interactions", "a*b,c * *", "--model", "m.safetensors"]);
    let (weightless, _) = rows(20_000, 0);
    folder.write("weightless.vw", weightless);
    // What learning predicts where it learns nothing is what predicting predicts.
    let continued = ["learn", "weightless.vw", "--quiet", "--init", "m.safetensors", "--predictions", "learnt.csv"];
    folder.succeed(&continued);
    folder.succeed(&["predict", "m.safetensors", "weightless.vw", "--quiet", "--predictions", "predicted.csv"]);
    let learnt = folder.read("learnt.csv");
    assert!(learnt.lines().count() == 20_001 && learnt == folder.read("predicted.csv"));
    let again = folder.run(&["learn", "plain.vw", "--init", "m.safetensors", "--interactions", "a*b"]);
    assert_eq!(again.code, Some(2));
    assert!(again.stderr.contains("--interactions <A*B,…>"), "{}", again.stderr);
}

#[test]
fn stopping_and_continuing_is_the_same_as_not_stopping() {
    let folder = folder();
    let text = folder.read("plain.vw");
    let half = text.match_indices('\n').nth(9_999).unwrap().0 + 1;
    folder.write("first.vw", &text[..half]);
    folder.write("second.vw", &text[half..]);
    let options = ["--quiet", "--interactions", "***", "--model"];
    folder.succeed(&[&["learn", "first.vw", "second.vw"], &options[..], &["whole.safetensors"]].concat());
    folder.succeed(&[&["learn", "first.vw"], &options[..], &["half.safetensors"]].concat());
    folder.succeed(&["learn", "second.vw", "--quiet", "--init", "half.safetensors", "--model", "two.safetensors"]);
    let bytes = |name: &str| std::fs::read(folder.path(name)).unwrap();
    assert!(bytes("whole.safetensors") == bytes("two.safetensors"));
}

#[test]
fn the_model_does_not_depend_on_the_number_of_threads() {
    let folder = folder();
    let model = |threads: &str, name: &str| {
        folder.succeed(&[
            "learn",
            "plain.vw",
            "--quiet",
            "--interactions",
            "***",
            "--threads",
            threads,
            "--model",
            name,
        ]);
        std::fs::read(folder.path(name)).unwrap()
    };
    assert!(model("1", "one.safetensors") == model("2", "two.safetensors"));
    assert!(model("1", "one.safetensors") == model("3", "three.safetensors"));
}

#[test]
fn inspect_names_products_and_interactions() {
    let folder = folder();
    folder.succeed(&["learn", "plain.vw", "--quiet", "--interactions", "a*b", "--model", "m.safetensors"]);
    let shown = folder.succeed(&["inspect", "m.safetensors", "--top", "60"]).stdout;
    assert!(shown.contains("\nmultiplied a*b\n"), "{shown}");
    assert!(shown.contains("a^u1*b^w2"), "{shown}");
}

#[test]
fn learn_and_compare_and_a_conversion_pay_the_same() {
    let folder = folder();
    let target = ["--target", "is_phishing", "--interactions", "https*long_url,age_of_domain * *"];
    let phishing = data("phishing.csv");
    let learnt = report(&folder, &[&[phishing.as_str(), "--learner", "nag"], &target[..]].concat());
    let risk = learnt["sequential_risk"].as_f64().unwrap();
    let options = ["--learner", "nag", "--quiet", "--report", "-"];
    let compared = folder.succeed(&[&["compare", phishing.as_str()], &options[..], &target[..]].concat()).stdout;
    let compared: serde_json::Value = serde_json::from_str(&compared).unwrap();
    assert_eq!(compared["learners"][0]["sequential_risk"].as_f64(), Some(risk));
    folder.succeed(&[&["convert", phishing.as_str(), "p.arrow", "--quiet"], &target[..]].concat());
    assert_eq!(report(&folder, &["p.arrow", "--learner", "nag"])["sequential_risk"].as_f64(), Some(risk));
    let plain = report(&folder, &[phishing.as_str(), "--learner", "nag", "--target", "is_phishing"]);
    assert_ne!(plain["sequential_risk"], learnt["sequential_risk"]);
}

#[test]
fn what_is_no_interaction_is_said_before_the_input_is_read() {
    let folder = Folder::new();
    let outcome = folder.run(&["learn", "nothing.csv", "--target", "y", "--interactions", "a*b,c"]);
    assert_eq!(outcome.code, Some(2));
    let message = "for '--interactions <A*B,…>': 'c' names one column or namespace: an interaction has two or more, as \
                   in c*other\n";
    assert!(outcome.stderr.contains(message), "{}", outcome.stderr);
    folder.write("t.csv", "y,carrier,hour\n1,UA,7\n0,AA,8\n");
    let outcome = folder.run(&["learn", "t.csv", "--target", "y", "--interactions", "carier*hour"]);
    assert_eq!(
        outcome.stderr,
        "onward: t.csv: --interactions names 'carier', which is not a column; did you mean 'carrier'?\n"
    );
    let outcome = folder.run(&["convert", "t.csv", "t.parquet", "--interactions", "carrier*hour"]);
    assert_eq!(outcome.code, Some(2));
    assert!(outcome.stderr.contains("--interactions cannot be used here"), "{}", outcome.stderr);
}
