//! The README's command, on the data that ships with it.

use crate::common::{Folder, data, report};

#[test]
fn the_first_command_learns_whether_a_flight_is_late() {
    let folder = Folder::new();
    let outcome = folder.succeed(&["learn", &data("flights.csv.zst"), "--target", "arr_delay>15"]);
    for line in [
        "format: csv",
        "target: arr_delay>15 (binary)",
        "336,776 examples (9,430 without a label)",
        "best constant       0.5478",
        "heaviest features",
    ] {
        assert!(outcome.stderr.contains(line), "{line}: {}", outcome.stderr);
    }
}

#[test]
fn the_report_of_flights_has_the_figures() {
    let folder = Folder::new();
    let report = report(&folder, &[&data("flights.csv.zst"), "--target", "arr_delay>15"]);
    assert_eq!((report["examples"].as_u64(), report["unlabelled"].as_u64()), (Some(336_776), Some(9_430)));
    let risk = report["sequential_risk"].as_f64().unwrap();
    // Vowpal Wabbit with the best of seven rates pays 0.4525, with AUC 0.7720.
    assert!(risk < 0.44, "{risk}");
    let baseline = report["baseline_risk"].as_f64().unwrap();
    assert!((baseline - 0.548).abs() < 5e-4, "{baseline}");
    assert!(report["metrics"]["auc"].as_f64().unwrap() > 0.78);
    let guarantees = report["guarantees"].as_array().unwrap();
    assert_eq!((&guarantees[0]["kind"], &guarantees[1]["kind"]), (&"mixture".into(), &"universal".into()));
    assert!(guarantees[..3].iter().all(|guarantee| guarantee["bound_per_round"].is_f64()), "{guarantees:?}");
    // There are more than 64 features.
    assert!(guarantees[3]["bound_per_round"].is_null());
}
