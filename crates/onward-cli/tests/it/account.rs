//! What a run says of itself is true of the rounds that it is said of.

use serde_json::Value;

use crate::common::Folder;

/// y depends on the sign of x; `year` hardly varies and means nothing.
fn years() -> String {
    let row = |t: u32| {
        let x = f64::from(t * 7919 % 2003) / 1001.5 - 1.0;
        format!("{},{x:.4},{}\n", u32::from(x > 0.1), 2010 + t * 31 % 6)
    };
    "y,x,year\n".to_owned() + &(0..3000).map(row).collect::<String>()
}

fn report(folder: &Folder, options: &[&str]) -> Value {
    let arguments: Vec<&str> = ["learn", "-q", "data", "--report", "-"].iter().chain(options).copied().collect();
    serde_json::from_str(&folder.succeed(&arguments).stdout).unwrap()
}

fn own(report: &Value) -> &Value {
    report["guarantees"].as_array().unwrap().iter().find(|guarantee| guarantee["kind"] == "own").unwrap()
}

#[test]
fn the_own_guarantee_is_about_the_pass_that_was_charged() {
    let folder = Folder::new();
    folder.write("data", years());
    for learner in ["ogd:radius=2", "ogd-strong:sigma=0.5", "adagrad"] {
        let options = ["--target", "y", "--learner", learner];
        let once = report(&folder, &options);
        let several = report(&folder, &[&options[..], &["--passes", "4", "--model", "model"]].concat());
        assert!(own(&once)["bound_per_round"].is_f64(), "{once}");
        assert_eq!(own(&several), own(&once));
        assert_eq!(several["guarantees"], once["guarantees"]);
        assert_eq!(several["pass_risks"].as_array().unwrap().len(), 4);
        // Sums over all passes and an account of one: there is nothing to be said.
        let continued = report(&folder, &["--init", "model"]);
        assert!(own(&continued)["bound_per_round"].is_null(), "{continued}");
        assert!(own(&continued)["reason"].as_str().unwrap().contains("several passes"), "{continued}");
    }
}

#[test]
fn a_feature_that_the_learner_centres_weighs_by_its_deviation() {
    let folder = Folder::new();
    folder.write("data", years());
    report(&folder, &["--target", "y", "--model", "model"]);
    let inspected: Value = serde_json::from_str(&folder.succeed(&["inspect", "--json", "model"]).stdout).unwrap();
    let effect = |name: &str| {
        let features = inspected["heaviest"].as_array().unwrap();
        let feature = features.iter().find(|feature| feature["name"] == name).unwrap();
        (feature["weight"].as_f64().unwrap().abs(), feature["effect"].as_f64().unwrap())
    };
    // Uniform on −1…1, and on six years.
    for (name, deviation) in [("x", 1.0 / 3f64.sqrt()), ("year", (35f64 / 12.0).sqrt())] {
        let (weight, effect) = effect(name);
        assert!((effect - weight * deviation).abs() < 0.01 * effect, "{name} {weight} {effect}");
    }
    assert!(effect("x").1 > 5.0 * effect("year").1, "{inspected}");
}
