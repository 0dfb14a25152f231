//! The average of the points predicts with `--averaged`, is inspected with it, and is what its risk is about.

use serde_json::Value;

use crate::common::{Folder, report};

/// Learners that keep the average of points that are not projected, at a rate of 0.05.
const AVERAGING: [&str; 3] = [
    "sgd:average=1,schedule=constant,eta0=0.05",
    "ogd:average=true,eta=0.05,radius=1000",
    "osd:average=true,eta=0.05,domain=all",
];

/// (x, y): each of the first 16 rows as likely as any other.
fn rows(count: u32) -> impl Iterator<Item = (f64, f64)> {
    let mut state = 1u32;
    (0..count).map(move |t| {
        let at = if t < 16 { t } else { state >> 28 };
        state = state.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
        let x = f64::from(at) / 8.0 - 1.0;
        (x, 0.5 + 0.25 * x + if at % 3 == 0 { 0.25 } else { -0.125 })
    })
}

fn table(count: u32) -> String {
    "y,x\n".to_owned() + &rows(count).map(|(x, y)| format!("{y},{x}\n")).collect::<String>()
}

/// The mean of the points of gradient descent that made the predictions, from `first` on; `ogd` divides its rate by √t.
fn twin(learner: &str, first: usize) -> [f64; 2] {
    let (mut w, mut sum) = ([0.0, 0.0], [0.0, 0.0]);
    for (t, (x, y)) in rows(200).enumerate() {
        if t + 1 >= first {
            sum = [sum[0] + w[0], sum[1] + w[1]];
        }
        let rate = 0.05 / if learner.starts_with("ogd") { ((t + 1) as f64).sqrt() } else { 1.0 };
        let step = rate * 2.0 * (w[0] + w[1] * x - y);
        w = [w[0] - step, w[1] - step * x];
    }
    sum.map(|sum| sum / (201 - first) as f64)
}

fn predicted(folder: &Folder, model: &str, more: &[&str]) -> Vec<f64> {
    let said = folder.succeed(&[&["predict", model, "all", "-q"][..], more].concat()).stdout;
    said.lines().skip(1).map(|line| line.split(',').next().unwrap().parse().unwrap()).collect()
}

#[test]
fn predictions_are_those_of_the_mean_of_the_points() {
    let folder = Folder::new();
    folder.write("learnt", table(200));
    folder.write("all", table(16));
    let late = "sgd:average=51,schedule=constant,eta0=0.05";
    for (learner, first) in AVERAGING.map(|it| (it, 1)).into_iter().chain([(late, 51)]) {
        let options = ["--target", "y", "--task", "regression", "--loss", "squared", "--learner", learner];
        folder.succeed(&[&["learn", "learnt", "-q", "--model", "model"][..], &options].concat());
        let [bias, slope] = twin(learner, first);
        let said = predicted(&folder, "model", &["--averaged"]);
        assert_eq!(said.len(), 16);
        for ((x, _), score) in rows(16).zip(&said) {
            assert!((score - (bias + slope * x)).abs() < 1e-5, "{learner} {x} {score} {bias} {slope}");
        }
        // The last point predicts otherwise.
        assert!(predicted(&folder, "model", &[]).iter().zip(&said).any(|(last, mean)| (last - mean).abs() > 1e-3));
        let inspect = |more: &[&str]| -> Value {
            let text = folder.succeed(&[&["inspect", "model", "--json"][..], more].concat()).stdout;
            serde_json::from_str(&text).unwrap()
        };
        let (averaged, last) = (inspect(&["--averaged"]), inspect(&[]));
        assert!(averaged["averaged"] == true && last.get("averaged").is_none());
        for feature in averaged["heaviest"].as_array().unwrap() {
            let expected = if feature["name"] == "x" { slope } else { bias };
            assert!((feature["weight"].as_f64().unwrap() - expected).abs() < 1e-5, "{feature}");
        }
        assert!(averaged["heaviest"].as_array().unwrap().len() == 2 && averaged["heaviest"] != last["heaviest"]);
        let text = folder.succeed(&["inspect", "model", "--averaged"]).stdout;
        assert!(text.contains("\nweights    the average of the points that the learner went through\n"), "{text}");
    }
}

#[test]
fn the_promised_risk_is_about_what_predicts() {
    let folder = Folder::new();
    folder.write("learnt", table(2000));
    folder.write("all", table(16));
    for learner in AVERAGING {
        let options = ["learnt", "--target", "y", "--task", "regression", "--loss", "absolute", "--loss-bound", "2"];
        let said = report(&folder, &[&options[..], &["--learner", learner, "--model", "model"]].concat());
        let bound = said["averaged_risk"]["bound"].as_f64().unwrap();
        folder.succeed(&["predict", "model", "all", "-q", "--averaged", "-p", "p", "--report", "r"]);
        let expected: Value = serde_json::from_str(&folder.read("r")).unwrap();
        assert_eq!(expected["averaged"], true);
        // All rows that there are, each as likely: the mean loss is the expected one.
        let risk = expected["mean_loss"].as_f64().unwrap();
        assert!(risk <= bound && bound < risk + 0.2, "{learner} {risk} {bound}");
    }
}

#[test]
fn who_keeps_no_average_says_which_option_does() {
    let folder = Folder::new();
    folder.write("all", table(16));
    for learner in ["nag", "auto", "ogd", "sgd", "sgd:average=100"] {
        folder.succeed(&["learn", "all", "-q", "--target", "y", "--learner", learner, "--model", "model"]);
        for command in [&["predict", "model", "all", "--averaged", "-q"][..], &["inspect", "model", "--averaged"]] {
            let outcome = folder.run(command);
            assert_eq!((outcome.code, &*outcome.stdout), (Some(2), ""), "{learner} {}", outcome.stderr);
            let reason = "onward: --averaged needs a learner that keeps the average of its points: sgd:average=K from \
                          example K on, or ogd:average=true or osd:average=true; got ";
            assert!(outcome.stderr.starts_with(reason), "{}", outcome.stderr);
        }
    }
}
