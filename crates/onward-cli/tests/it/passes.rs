//! Several passes: their order, and what is said of the averaged predictor.

use serde_json::Value;

use crate::common::{Folder, data, report};

/// The mean losses of three passes over the phishing sites.
fn risks(folder: &Folder, more: &[&str]) -> Vec<f64> {
    let phishing = data("phishing.csv");
    let arguments = [&[&phishing, "--target", "is_phishing", "--learner", "sgd", "--passes", "3"][..], more].concat();
    let report = report(folder, &arguments);
    report["pass_risks"].as_array().unwrap().iter().map(|risk| risk.as_f64().unwrap()).collect()
}

#[test]
fn each_order_is_its_own_and_the_same_again_for_the_same_seed() {
    let folder = Folder::new();
    let sequential = risks(&folder, &[]);
    assert_eq!(sequential, risks(&folder, &["--order", "sequential"]));
    let shuffled = risks(&folder, &["--order", "shuffle"]);
    assert_eq!(shuffled, risks(&folder, &["--order", "shuffle", "--seed", "0", "--threads", "1"]));
    let drawn = risks(&folder, &["--order", "random"]);
    let others = [&sequential, &shuffled, &drawn, &risks(&folder, &["--order", "shuffle", "--seed", "1"])];
    for (at, one) in others.iter().enumerate() {
        // The first pass is the stream as it came, whatever comes after it.
        assert_eq!(one[0], sequential[0]);
        assert!(one[1] < one[0]);
        assert!(others[..at].iter().all(|other| other[1] != one[1]));
    }
}

#[test]
fn a_pipe_can_be_gone_over_in_another_order() {
    let folder = Folder::new();
    let bytes = std::fs::read(data("phishing.csv")).unwrap();
    let arguments = ["learn", "--quiet", "--target", "is_phishing", "--passes", "2", "--learner", "sgd"];
    let outcome = folder.pipe(&[&arguments[..], &["--order", "shuffle", "--report", "-"]].concat(), &bytes);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    let report: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(report["pass_risks"].as_array().unwrap().len(), 2);
    let outcome = folder.pipe(&[&arguments[..], &["--order", "sequential"]].concat(), &bytes);
    assert_eq!(outcome.code, Some(2));
}

#[test]
fn the_averaged_predictor_is_promised_a_risk_where_the_theorem_holds() {
    let folder = Folder::new();
    let phishing = data("phishing.csv");
    let asked = [&*phishing, "--target", "is_phishing", "--loss-bound", "5"];
    let said = report(&folder, &[&asked[..], &["--learner", "sgd:average=1"]].concat());
    let expected = said["sequential_risk"].as_f64().unwrap() + 5.0 * (2.0 * 20f64.ln() / 1250.0).sqrt();
    assert!((said["averaged_risk"]["bound"].as_f64().unwrap() - expected).abs() < 1e-12);
    assert_eq!(said["averaged_risk"]["confidence"], 0.95);
    for (more, reason) in [
        (&["--learner", "nag"][..], "does not keep the average"),
        (&["--learner", "sgd:average=1", "--passes", "2"], "for one pass"),
    ] {
        let said = report(&folder, &[&asked[..], more].concat());
        assert!(said["averaged_risk"]["bound"].is_null());
        assert!(said["averaged_risk"]["reason"].as_str().unwrap().contains(reason), "{said}");
    }
    let narrow = [&*phishing, "--target", "is_phishing", "--loss-bound", "0.5", "--learner", "sgd:average=1"];
    assert!(report(&folder, &narrow)["averaged_risk"]["reason"].as_str().unwrap().contains("not within 0 and 0.5"));
}

#[test]
fn what_would_change_nothing_or_make_no_sense_is_refused() {
    let folder = Folder::new();
    let phishing = data("phishing.csv");
    for (arguments, said) in [
        (&["--order", "shuffle"][..], "--order needs at least 2 passes"),
        (&["--seed", "1"], "--seed needs --order or --shuffle"),
        (
            &["--shuffle", "--predictions", "p.csv"],
            "--predictions has no place beside --shuffle: rows are learnt in random",
        ),
        (&["--passes", "2", "--order", "backwards"], "invalid value 'backwards'"),
        (&["--loss-bound", "0"], "--loss-bound must be above 0; got 0"),
        (&["--loss-bound", "-1"], "--loss-bound must be above 0; got -1"),
    ] {
        let outcome = folder.run(&[&["learn", &phishing, "--target", "is_phishing"], arguments].concat());
        assert_eq!(outcome.code, Some(2), "{arguments:?}");
        assert!(outcome.stderr.contains(said), "{arguments:?}: {}", outcome.stderr);
    }
}
