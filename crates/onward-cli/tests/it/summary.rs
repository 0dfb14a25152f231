//! What a person reads at the end of a run.

use crate::common::Folder;

/// What `learn` says about these rows.
fn said(content: impl AsRef<[u8]>, options: &[&str]) -> String {
    let folder = Folder::new();
    folder.write("data", content);
    let arguments: Vec<&str> = ["learn", "data"].iter().chain(options).copied().collect();
    folder.succeed(&arguments).stderr
}

#[test]
fn one_is_not_a_plural() {
    let folder = Folder::new();
    folder.write("data", "1 |a x\n");
    folder.succeed(&["learn", "-q", "data", "--target", "label>0", "--model", "model"]);
    let one = folder.succeed(&["predict", "model", "data", "--predictions", "p"]).stderr;
    assert!(one.contains("\n1 example in ") && one.contains(" 0 mistakes\n"), "{one}");
    folder.write("data", "-1 |a x\nno label | x\n");
    let one = folder.succeed(&["predict", "model", "data", "--predictions", "p", "--on-error", "skip"]).stderr;
    assert!(one.contains("\n1 example (1 unreadable record skipped) in ") && one.contains(" 1 mistake\n"), "{one}");
    folder.write("table", "y,x\n1,2\n");
    let one = folder.succeed(&["convert", "table", "table.jsonl"]).stderr;
    assert!(one.ends_with("\n1 row written as jsonl\n"), "{one}");
}

/// y and a feature in the thousands.
fn thousands() -> String {
    let row = |t: u32| format!("{},{}\n", f64::from(t % 7) * 0.5, 3000 + t * 37 % 5000);
    "y,x\n".to_owned() + &(0..3000).map(row).collect::<String>()
}

#[test]
fn numbers_of_any_size_are_short() {
    let text = said(thousands(), &["--target", "y", "--learner", "ogd-strong", "--radius", "1e200"]);
    // The learner's parameters are as they were given.
    let (_, text) = text.split_once("\n\n").unwrap();
    let words = text.split(|letter: char| letter.is_whitespace() || letter == ',');
    let longest = words.map(|word| word.chars().filter(char::is_ascii_digit).count()).max();
    assert!(text.contains("RMSE ") && !text.contains("inf") && longest < Some(12), "{text}");
}

#[test]
fn a_learner_that_runs_away_is_told_what_to_do() {
    let remedy = |first: &str| {
        format!(" times what the online constant does: its steps are too large for these features; {first}\n")
    };
    for (learner, first) in [
        ("ogd-strong", "try standardise=true, a larger sigma, a smaller radius, or the default learner"),
        ("ogd-strong:sigma=0.0001,standardise=true", "try a larger sigma, a smaller radius, or another learner"),
        ("sgd:batch=4", "try standardise=true, a smaller eta0, or the default learner"),
        ("dual-averaging:domain=all,eta=1", "try standardise=true, a smaller eta, or the default learner"),
    ] {
        let text = said(thousands(), &["--target", "y", "--learner", learner]);
        assert!(text.contains("\ndiverged "), "{text}");
        assert!(text.contains(&remedy(first)), "{text}");
    }
    // What the advice is worth.
    let fit = said(thousands(), &["--target", "y", "--learner", "ogd-strong:standardise=true,sigma=1"]);
    assert!(!fit.contains("diverged"), "{fit}");
    let default = said(thousands(), &["--target", "y"]);
    assert!(!default.contains("diverged"), "{default}");
}

#[test]
fn a_learner_that_is_slow_or_held_back_has_not_diverged() {
    // Labels far from 0 with little spread: whoever starts at 0 pays many times the best constant.
    let row = |t: u32| format!("{},{}\n", 1000.0 + f64::from(t % 3), f64::from(t * 37 % 11) * 0.1);
    let far = "y,x\n".to_owned() + &(0..200).map(row).collect::<String>();
    for options in [
        &["--learner", "nag"][..],
        &["--learner", "nag", "--loss", "absolute"],
        &["--learner", "ogd", "--radius", "2"],
        &["--learner", "adagrad"],
        &["--loss", "huber"],
    ] {
        let options: Vec<&str> = ["--target", "y"].iter().chain(options).copied().collect();
        let text = said(&far, &options);
        assert!(!text.contains("diverged"), "{text}");
    }
    // One positive in a hundred: mistakes are many times those of a constant, and no sign of too large steps.
    let rare: String = (0..500u32).map(|t| format!("{},{}\n", u32::from(t % 100 == 7), t * 37 % 11)).collect();
    for learner in ["perceptron", "nag", "nag:standardise=true"] {
        let text = said(format!("y,x\n{rare}"), &["--target", "y", "--task", "binary", "--learner", learner]);
        assert!(!text.contains("diverged"), "{text}");
    }
}

#[test]
fn passes_are_named_beside_the_rate_that_counts_them() {
    let rows = "y,x\n".to_owned() + &"0,1\n1,2\n,3\n".repeat(20);
    let twice = said(&rows, &["--target", "y", "--passes", "2"]);
    assert!(twice.contains("\n60 examples (20 without a label), 2 passes, in "), "{twice}");
    assert!(said(&rows, &["--target", "y"]).contains("\n60 examples (20 without a label) in "));
}

#[test]
fn why_nothing_was_learnt() {
    let weighted = "y,x,w\n0,1,0\n1,2,0\n,3,1\n";
    let text = said(weighted, &["--target", "y", "--weight", "w"]);
    assert!(text.ends_with("\nall examples with a label had weight 0; nothing was learnt\n"), "{text}");
    let text = said("y,x\n,1\n,2\n", &["--target", "y", "--task", "binary"]);
    assert!(text.ends_with("\nno example had a label; nothing was learnt\n"), "{text}");
}

#[test]
fn the_help_says_what_the_program_is_and_shows_examples() {
    let folder = Folder::new();
    for arguments in [&["-h"][..], &["--help"]] {
        let text = folder.succeed(arguments).stdout;
        assert!(text.starts_with("Online machine learning that measures itself against hindsight"), "{text}");
    }
    let bare = folder.run(&[]);
    assert!(bare.stderr.starts_with("Online machine learning that measures itself against hindsight"), "{bare:?}");
    for command in ["learn", "predict", "inspect", "convert", "list", "plan", "completions"] {
        let text = folder.succeed(&[command, "--help"]).stdout;
        assert!(text.contains(&format!("Examples:\n  onward {command} ")), "{text}");
    }
}

#[test]
fn the_heaviest_of_many_features_are_those_of_all() {
    let folder = Folder::new();
    let row = |t: u32| {
        let words: String =
            (0..40).map(|k| format!(" w{}:{}", (t * 40 + k) * 7919 % 5000, 1 + (t * 31 + k * 17) % 23)).collect();
        format!("{} |{words}\n", if t.is_multiple_of(3) { 1 } else { -1 })
    };
    folder.write("data", (0..300).map(row).collect::<String>());
    folder.succeed(&["learn", "data", "-q", "--learner", "nag", "--model", "model"]);
    let heaviest = |top: &str| {
        let report = folder.succeed(&["inspect", "model", "--json", "--top", top]).stdout;
        let report: serde_json::Value = serde_json::from_str(&report).unwrap();
        report["heaviest"].as_array().unwrap().clone()
    };
    let all = heaviest("1000000");
    assert!(all.len() > 3000, "{}", all.len());
    for top in [0, 1, 10, 700, 1500] {
        assert_eq!(heaviest(&top.to_string()), all[..top], "{top}");
    }
}
