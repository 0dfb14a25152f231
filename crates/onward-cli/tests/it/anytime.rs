//! Intervals of what predictions could expect to pay, at any time.

use serde_json::Value;

use crate::common::{Folder, data, report};

/// The interval of a loss, or why there is none.
fn interval(report: &Value, of: &str) -> Option<Result<(f64, f64), String>> {
    let found = report.get("anytime_risk")?.as_array().unwrap().iter().find(|it| it["of"] == of)?;
    Some(match found["low"].as_f64() {
        Some(low) => {
            assert_eq!(found["confidence"], 0.95);
            Ok((low, found["high"].as_f64().unwrap()))
        }
        None => Err(found["reason"].as_str().unwrap().to_owned()),
    })
}

#[test]
fn losses_of_known_range_have_an_interval_about_their_mean() {
    let folder = Folder::new();
    let sites = data("phishing.csv");
    let said = report(&folder, &[&sites, "--target", "is_phishing", "--loss-bound", "20"]);
    let mistakes = said["mistakes"].as_f64().unwrap() / 1250.0;
    let brier = said["metrics"]["brier"].as_f64().unwrap();
    let risk = said["sequential_risk"].as_f64().unwrap();
    let width = |of: &str, mean: f64| {
        let (low, high) = interval(&said, of).unwrap().unwrap();
        assert!(0.0 < low && low < mean && mean < high, "{of} {low} {mean} {high}");
        high - low
    };
    assert!(width("mistakes", mistakes) < 0.08 && width("brier", brier) < 0.06);
    // The range is part of it.
    assert!(width("loss", risk) > 0.1);
    let narrow = report(&folder, &[&sites, "--target", "is_phishing", "--loss-bound", "0.1"]);
    assert!(interval(&narrow, "loss").unwrap().unwrap_err().contains("not within 0 and 0.1"));
    assert_eq!(interval(&narrow, "mistakes"), interval(&said, "mistakes"));
    let (low, high) = interval(&said, "mistakes").unwrap().unwrap();
    let text = folder.succeed(&["learn", &sites, "--target", "is_phishing"]).stderr;
    let (from, to) = ((1e4 * (1.0 - high)).floor() / 100.0, (1e4 * (1.0 - low)).ceil() / 100.0);
    let row = format!(
        "\n                            expected accuracy between {from:.2}% and {to:.2}% at any time, with \
         probability 95%\n"
    );
    assert!(text.contains(&row), "{row} {text}");
}

#[test]
fn where_it_does_not_hold_the_reason_is_told() {
    let folder = Folder::new();
    let rows: String = (0..50).map(|t| format!("{},{},{}\n", t % 2, t % 7, 1 + t % 3)).collect();
    folder.write("weighted", "y,x,w\n".to_owned() + &rows);
    let options = ["weighted", "--target", "y", "--task", "binary", "--weight", "w"];
    let reason = interval(&report(&folder, &options), "mistakes").unwrap().unwrap_err();
    assert_eq!(reason, "importance weights differ from 1");
    assert!(!folder.succeed(&[&["learn"][..], &options].concat()).stderr.contains("at any time"));
    // Mistakes are of classes, and a Brier score of probabilities.
    let numbers = report(&folder, &["weighted", "--target", "x"]);
    assert!(numbers.get("anytime_risk").is_none());
    let hinge =
        report(&folder, &["weighted", "--target", "y", "--task", "binary", "--loss", "hinge", "--learner", "ogd"]);
    assert!(interval(&hinge, "mistakes").unwrap().is_ok() && interval(&hinge, "brier").is_none(), "{hinge}");
}
