//! What `--hindsight` says is true, and what it cannot say it refuses.

use serde_json::Value;

use crate::common::{Folder, data, report};

fn number(report: &Value, key: &str) -> f64 {
    report.pointer(key).and_then(Value::as_f64).unwrap_or_else(|| panic!("{key}: {report}"))
}

/// y = 1 + 2x + noise of ±1 that x does not know of, with weights.
fn line() -> String {
    let row = |t: u32| {
        let x = f64::from(t % 11) - 5.0;
        let noise = if t % 22 < 11 { 1.0 } else { -1.0 };
        format!("{},{x},{}\n", 1.0 + 2.0 * x + noise, 1 + t / 22 % 2)
    };
    "y,x,w\n".to_owned() + &(0..22 * 40).map(row).collect::<String>()
}

#[test]
fn a_line_is_found_exactly_and_the_regret_is_the_difference() {
    let folder = Folder::new();
    folder.write("line.csv", line());
    for class in ["--hindsight", "--hindsight=ball", "--hindsight=unconstrained"] {
        let report = report(&folder, &["line.csv", "--target", "y", "--weight", "w", class]);
        // The noise is what is left.
        assert!((number(&report, "/hindsight/loss") - 1.0).abs() < 1e-8, "{report}");
        assert!(number(&report, "/hindsight/gap") < 1e-6);
        let regret = number(&report, "/sequential_risk") - number(&report, "/hindsight/loss");
        assert!((number(&report, "/regret_per_round") - regret).abs() < 1e-12);
        assert!(number(&report, "/timing/hindsight_seconds") >= 0.0 && number(&report, "/hindsight/passes") > 1.0);
        // The curve ends with it, and has it at each point.
        let curve = report["curve"].as_array().unwrap();
        assert!(curve.iter().all(|point| point["regret"].is_f64()), "{curve:?}");
        assert!((curve.last().unwrap()["regret"].as_f64().unwrap() - regret).abs() < 1e-9);
    }
    // A ball of radius 1 holds the line back; one of ten does not.
    let held = report(&folder, &["line.csv", "--target", "y", "--weight", "w", "--hindsight", "--radius", "1"]);
    assert_eq!((&held["hindsight"]["class"], number(&held, "/hindsight/radius")), (&"ball".into(), 1.0));
    assert!((number(&held, "/hindsight/norm") - 1.0).abs() < 1e-9);
    // u = (1, 2)(XᵀX + λ)⁻¹XᵀX on the sphere: with bias b and slope s, E x² = 10, E x = 0.
    let least = (0..=20_000).map(|at| {
        let angle = f64::from(at) * std::f64::consts::PI / 20_000.0 - std::f64::consts::FRAC_PI_2;
        let (slope, bias) = angle.sin_cos();
        1.0 + 10.0 * (2.0 - slope).powi(2) + (1.0 - bias).powi(2)
    });
    let least = least.fold(f64::INFINITY, f64::min);
    assert!((number(&held, "/hindsight/loss") - least).abs() < 1e-5, "{held} {least}");
    assert!((number(&held, "/hindsight/loss_at_ten_times_radius") - 1.0).abs() < 1e-6);
}

#[test]
fn threads_pipes_and_the_guarantees_agree() {
    let folder = Folder::new();
    let sites = data("phishing.csv");
    let options = ["--target", "is_phishing", "--task", "binary", "--hindsight"];
    let with = |more: &[&str]| {
        let mut report = report(&folder, &[&[sites.as_str()][..], &options, more].concat());
        report.as_object_mut().unwrap().remove("timing");
        report
    };
    let one = with(&["--threads", "1"]);
    assert_eq!(one, with(&["--threads", "2"]));
    let (loss, gap) = (number(&one, "/hindsight/loss"), number(&one, "/hindsight/gap"));
    assert!(gap >= 0.0 && gap <= 1e-3 * loss, "{one}");
    assert!(number(&one, "/hindsight/norm") <= 10.0 + 1e-9);
    // The certificate is about the same ball: it is never below the regret.
    let universal = one["guarantees"].as_array().unwrap().iter().find(|it| it["kind"] == "universal").unwrap();
    assert!(universal["bound_per_round"].as_f64().unwrap() >= number(&one, "/regret_per_round") - 1e-12);
    // A narrower gap is a narrower interval within.
    let narrow = with(&["--hindsight-gap", "1e-6"]);
    let (least, narrower) = (number(&narrow, "/hindsight/loss"), number(&narrow, "/hindsight/gap"));
    assert!(narrower <= 1e-6 * least && least <= loss + 1e-12 && least >= loss - gap - 1e-12, "{narrow}");
    // A pipe can be read once, and that is enough.
    let arguments = [&["learn", "-q", "--report", "-"][..], &options].concat();
    let piped = folder.pipe(&arguments, &std::fs::read(&sites).unwrap());
    let piped: Value = serde_json::from_str(&piped.stdout).unwrap();
    assert_eq!(piped["hindsight"], one["hindsight"]);
}

#[test]
fn after_several_passes_the_excess_of_the_last_predictor_is_told() {
    let folder = Folder::new();
    folder.write("line.csv", line());
    let options = ["line.csv", "--target", "y", "--hindsight", "--learner", "nag"];
    let once = report(&folder, &options);
    assert!(once.get("excess_empirical_risk").is_none());
    let several = report(&folder, &[&options[..], &["--passes", "5", "--model", "model"]].concat());
    // What the regret is about stays the first pass.
    assert_eq!(several["regret_per_round"], once["regret_per_round"]);
    let excess = number(&several, "/excess_empirical_risk/last");
    folder.succeed(&["predict", "model", "line.csv", "--predictions", "p", "--report", "r", "-q"]);
    let predicted: Value = serde_json::from_str(&folder.read("r")).unwrap();
    let expected = number(&predicted, "/mean_loss") - number(&several, "/hindsight/loss");
    assert!((excess - expected).abs() < 1e-9 * expected.abs().max(1.0), "{excess} {expected}");
}

/// What `learn` says of the line.
fn said(content: &str, options: &[&str]) -> String {
    let folder = Folder::new();
    folder.write("data", content);
    folder.succeed(&[&["learn", "data", "--target", "y"][..], options].concat()).stderr
}

#[test]
fn a_sentence_says_what_it_means() {
    let text = said(&line(), &["--hindsight", "--radius", "5"]);
    for part in [
        "\nin hindsight        1.0000  mean loss of the best fixed linear predictor with ‖u‖₂ ≤ 5; none pays less \
         than ",
        "\nradius 50           1.0000  the same at ten times the radius; hardly less: the radius is large enough\n",
        "\nregret ",
        " per example against the best fixed linear predictor of that size; the theory allows ",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let held = said(&line(), &["--hindsight", "--radius", "0.5"]);
    assert!(held.contains("much less: this radius is too small for the best predictor"), "{held}");
    // Of any size, the certificate speaks if its class has the predictor.
    let free = said(&line(), &["--hindsight=unconstrained", "--learner", "nag"]);
    assert!(free.contains("against the best fixed linear predictor; the theory allows "), "{free}");
    let free = said(&line(), &["--hindsight=unconstrained", "--learner", "nag", "--radius", "1", "--loss", "absolute"]);
    assert!(
        free.contains("against the best fixed linear predictor; no guarantee here covers predictors of that size"),
        "{free}"
    );
    // The label turns round half way: whoever learns online follows.
    let row = |t: u32| format!("{},{}\n", if t < 1000 { 1.0 } else { -1.0 }, t % 3);
    let turning = "y,x\n".to_owned() + &(0..2000).map(row).collect::<String>();
    let text = said(&turning, &["--hindsight", "--loss", "squared"]);
    assert!(text.contains("\nlearning online beat the best fixed linear predictor of that size by "), "{text}");
    let without = said(&line(), &[]);
    assert!(without.contains("\nlearning online cost at most "), "{without}");
}

#[test]
fn mistakes_are_compared_with_the_least_hinge_loss() {
    let folder = Folder::new();
    // The sign of x, and of two rows in ten the other: u = (0, 1) pays the hinge loss 2 on these, and nobody less.
    let row = |t: u32| {
        let x = if t.is_multiple_of(2) { 1.0 } else { -1.0 };
        format!("{},{x}\n", if t % 10 < 2 { -x } else { x })
    };
    folder.write("noisy", "y,x\n".to_owned() + &(0..1000).map(row).collect::<String>());
    let options = ["noisy", "--target", "y>0", "--radius", "2", "--hindsight"];
    for learner in ["perceptron", "perceptron:variant=averaged", "kernel-perceptron:budget=50"] {
        let report = report(&folder, &[&options[..], &["--learner", learner]].concat());
        assert!((number(&report, "/hindsight/loss") - 0.4).abs() < 1e-3, "{report}");
        assert_eq!(number(&report, "/hindsight/mistakes_per_round"), 0.2, "{report}");
        assert_eq!(report["hindsight"]["charged_by"], "hinge");
        let regret = number(&report, "/sequential_risk") - number(&report, "/hindsight/loss");
        assert!((number(&report, "/regret_per_round") - regret).abs() < 1e-12);
    }
    // By the hinge loss it is the same predictor, and those who pay it are not said to make mistakes.
    let sites = data("phishing.csv");
    let options = [&sites, "--target", "is_phishing", "--radius", "2", "--hindsight"];
    let mistakes = report(&folder, &[&options[..], &["--learner", "perceptron"]].concat());
    let hinge = report(&folder, &[&options[..], &["--learner", "ogd", "--loss", "hinge"]].concat());
    for key in ["loss", "gap", "norm", "loss_at_ten_times_radius"] {
        assert_eq!(mistakes["hindsight"][key], hinge["hindsight"][key], "{key}");
    }
    assert!(hinge["hindsight"].get("charged_by").is_none());
    let own = mistakes["guarantees"].as_array().unwrap().iter().find(|it| it["kind"] == "own").unwrap();
    assert!(number(&mistakes, "/regret_per_round") <= own["bound_per_round"].as_f64().unwrap());
    let text = folder.succeed(&[&["learn"][..], &options, &["--learner", "perceptron"]].concat()).stderr;
    for part in [
        "mean hinge loss of the best fixed linear predictor with ‖u‖₂ ≤ 2",
        "\nlearning online made 0.163 mistakes per example; the best fixed linear predictor of that size by the hinge \
         loss makes 0.138 and pays 0.331; the theory allows 0.383\n",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn novikoffs_theorem_bounds_the_mistakes_of_the_perceptron() {
    let folder = Folder::new();
    // y = the sign of x, at least 1 from 0; and the same with every tenth label turned round.
    let stream = |turned: u32| {
        let row = move |t: u32| {
            let x = f64::from(t * 7 % 13) - 6.0;
            let x = if x < 0.0 { x - 0.5 } else { x + 0.5 };
            let y = if (x > 0.0) != (turned > 0 && t.is_multiple_of(turned)) { 1 } else { -1 };
            format!("{y},{x}\n")
        };
        "y,x\n".to_owned() + &(0..1000).map(row).collect::<String>()
    };
    folder.write("apart", stream(0));
    folder.write("mixed", stream(10));
    for learner in ["perceptron", "perceptron:variant=margin,margin=0.5"] {
        let with =
            |file| report(&folder, &[file, "--target", "y>0", "--radius", "4", "--hindsight", "--learner", learner]);
        for (file, is_apart) in [("apart", true), ("mixed", false)] {
            let report = with(file);
            let mistakes = number(&report, "/mistakes");
            let bound = number(&report, "/novikoff/hinge_bound");
            assert!(mistakes > 0.0 && mistakes <= bound && number(&report, "/updates") <= bound, "{report}");
            // The closed form of what is reported.
            let hinge = 1000.0 * number(&report, "/hindsight/loss");
            let reach = number(&report, "/hindsight/raw_norm") * number(&report, "/novikoff/size");
            let closed = hinge + reach * reach + reach * hinge.sqrt();
            assert!((bound / closed - 1.0).abs() < 1e-9, "{bound} {closed}");
            assert_eq!(report["novikoff"].get("margin").is_some(), is_apart, "{report}");
            if is_apart {
                let margin = number(&report, "/novikoff/margin");
                // No predictor has a larger margin than the nearest rows are from 0.
                assert!(margin > 0.0 && margin <= 1.5, "{margin}");
                let square = (number(&report, "/novikoff/size") / margin).powi(2);
                assert!((number(&report, "/novikoff/margin_bound") / square - 1.0).abs() < 1e-12);
                assert!(number(&report, "/updates") <= square);
            }
        }
    }
    let said = |file| {
        let options = ["learn", file, "--target", "y>0", "--radius", "4", "--hindsight", "--learner", "perceptron"];
        folder.succeed(&options).stderr
    };
    let apart = said("apart");
    assert!(apart.contains("  in all, by Novikoff's theorem: (X/γ)², X = "), "{apart}");
    let mixed = said("mixed");
    assert!(mixed.contains("  in all, by Novikoff's theorem: H + (‖u‖X)² + ‖u‖X√H, X = "), "{mixed}");
    // An average is not bounded by it, and features that are scaled change.
    for learner in ["perceptron:variant=averaged", "perceptron:standardise=true", "kernel-perceptron:budget=50"] {
        let report = report(&folder, &["apart", "--target", "y>0", "--hindsight", "--learner", learner]);
        assert!(report.get("novikoff").is_none(), "{report}");
    }
}

#[test]
fn regularised_losses_have_a_risk_a_best_and_a_bound() {
    let folder = Folder::new();
    let sites = data("phishing.csv");
    let options = [&sites, "--target", "is_phishing", "--hindsight", "--learner"];
    for loss in ["hinge", "logistic"] {
        for (learner, sigma) in [("ogd-strong:sigma=0.1", 0.1), ("ogd-strong:sigma=0.02", 0.02)] {
            let said = report(&folder, &[&options[..], &[learner, "--loss", loss]].concat());
            let of = |key: &str| number(&said, &format!("/regularised/{key}"));
            assert_eq!(of("sigma"), sigma);
            // The penalty is what the risk has more than the sequential one.
            assert!(of("risk") > number(&said, "/sequential_risk"));
            let (best, gap, norm) = (of("best"), of("gap"), of("norm"));
            assert!(gap >= 0.0 && gap <= 1e-3 * best, "{said}");
            // 0 pays the loss of the score 0, and the best of any size pays less than the regularised best.
            let zero = if loss == "hinge" { 1.0 } else { 2f64.ln() };
            assert!(best < zero && 0.5 * sigma * norm * norm < zero);
            assert!(best - gap > number(&said, "/hindsight/loss") - number(&said, "/hindsight/gap"));
            let (regret, bound, theorem) = (of("regret_per_round"), of("bound_per_round"), of("theorem_per_round"));
            assert!((regret - (of("risk") - best)).abs() < 1e-12);
            assert!(regret + gap <= bound && bound <= theorem, "{regret} {bound} {theorem}");
            let g = of("gradient");
            assert!((theorem - g * g * (1.0 + 1250f64.ln()) / (2.0 * sigma * 1250.0)).abs() < 1e-9 * theorem);
        }
    }
    let text =
        folder.succeed(&[&["learn"][..], &options, &["ogd-strong:sigma=0.1", "--loss", "hinge"]].concat()).stderr;
    for part in [
        "\nregularised ",
        "  mean loss plus ½σ‖w‖² of the points that predicted, σ = 0.1\n",
        "  regret per example on the regularised losses, against every u; G²(1 + ln T)/(2σT) is ",
        "  the least of these losses that was found; no u has less than ",
        ": that regret\n",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    // Other learners regularise nothing.
    let other = report(&folder, &[&options[..], &["ogd", "--loss", "hinge"]].concat());
    assert!(other.get("regularised").is_none());
}

#[test]
fn updates_and_guarantee_of_several_passes_are_those_of_the_first() {
    let folder = Folder::new();
    let sites = data("phishing.csv");
    let options = [&sites, "--target", "is_phishing", "--radius", "2", "--learner"];
    let of = |learner: &str, more: &[&str]| report(&folder, &[&options[..], &[learner], more].concat());
    let (once, thrice) = (of("perceptron", &[]), of("perceptron", &["--passes", "3"]));
    assert_eq!(once["updates"], thrice["updates"]);
    assert_eq!(once["guarantees"], thrice["guarantees"]);
    // What is not bounded is not said to be.
    let said = |learner| folder.succeed(&[&["learn"][..], &options, &[learner]].concat()).stderr;
    assert!(said("perceptron").contains(" with an update, M, which its guarantee bounds\n"));
    assert!(said("perceptron:variant=averaged").contains(" with an update, M\n"));
}

#[test]
fn separated_labels_have_no_best_predictor_of_any_size() {
    let row = |t: u32| format!("{},{}\n", t % 2, f64::from(t % 2) - 0.5);
    let apart = "y,x\n".to_owned() + &(0..200).map(row).collect::<String>();
    let text = said(&apart, &["--task", "binary", "--hindsight=unconstrained"]);
    let reason = "\nin hindsight          none  a linear predictor separates the labels, so its loss can be \
                  arbitrarily small; give a radius\n";
    assert!(text.contains(reason), "{text}");
    let folder = Folder::new();
    folder.write("data", &apart);
    let report = report(&folder, &["data", "--target", "y", "--task", "binary", "--hindsight=unconstrained"]);
    assert!(report["hindsight"]["loss"].is_null() && report["hindsight"]["reason"].is_string(), "{report}");
    assert!(report.get("regret_per_round").is_none());
}

#[test]
fn nothing_to_look_back_on_is_no_fault() {
    let folder = Folder::new();
    folder.write("data", "y,x\n,1\n,2\n");
    let report = report(&folder, &["data", "--target", "y", "--task", "binary", "--hindsight"]);
    assert!(report.get("hindsight").is_none() && report["examples"] == 2, "{report}");
}

/// The run ends with this message, and leaves nothing.
fn refused(options: &[&str], message: &str) {
    let folder = Folder::new();
    folder.write("line.csv", line());
    let outcome = folder.run(&[&["learn", "-q", "line.csv", "--report", "r"][..], options].concat());
    assert_eq!(outcome.code, Some(2), "{outcome:?}");
    assert!(outcome.stderr.starts_with(&format!("onward: {message}")), "{}", outcome.stderr);
    assert_eq!(folder.files(), ["line.csv"]);
}

#[test]
fn questions_without_an_answer_are_refused_before_anything_is_read() {
    let y = ["--target", "y", "--hindsight"];
    refused(&[&y[..], &["--radius", "0"]].concat(), "--radius must be above 0; got 0");
    refused(&[&y[..], &["--hindsight-gap", "0"]].concat(), "--hindsight-gap must be above 0 and below 1; got 0");
    refused(&[&y[..], &["--hindsight-gap", "-1"]].concat(), "--hindsight-gap must be above 0 and below 1; got -1");
    let folder = Folder::new();
    folder.write("line.csv", line());
    folder.succeed(&["learn", "-q", "line.csv", "--target", "y", "--model", "model"]);
    let outcome = folder.run(&["learn", "-q", "line.csv", "--init", "model", "--hindsight"]);
    assert_eq!(outcome.code, Some(2));
    assert!(outcome.stderr.contains("cannot be used with '--hindsight"), "{}", outcome.stderr);
    // The gap is about a question that must be asked.
    let outcome = folder.run(&["learn", "-q", "line.csv", "--target", "y", "--hindsight-gap", "0.1"]);
    assert_eq!(outcome.code, Some(2));
    assert!(outcome.stderr.contains("--hindsight"), "{}", outcome.stderr);
}

/// Scales that shrink as the stream goes on: a certificate of the class in the scales so far would be below the regret
/// against the best of the class in the scales at the end.
#[test]
fn the_curve_has_the_regret_below_the_certificate_of_the_best_predictor() {
    let folder = Folder::new();
    let row = |t: u32| match t {
        0..16 => format!("{},{}\n", 2 * (92 + t), 92 + t),
        _ => "0,0\n".to_owned(),
    };
    folder.write("burst.csv", "y,x\n".to_owned() + &(0..10_016).map(row).collect::<String>());
    for learner in ["auto", "nag", "ogd", "coin"] {
        for class in [&[][..], &["--radius", "3"], &["--loss", "absolute"]] {
            let options = [&["burst.csv", "--target", "y", "--hindsight", "--learner", learner][..], class].concat();
            let report = report(&folder, &options);
            let mut compared = 0;
            for point in report["curve"].as_array().unwrap() {
                let (Some(regret), Some(bound)) = (point["regret"].as_f64(), point["guarantee"].as_f64()) else {
                    continue;
                };
                let risk = point["risk"].as_f64().unwrap();
                assert!(regret <= bound + 1e-6 * risk, "{learner} {class:?}: {point}");
                compared += 1;
            }
            assert!(compared >= 10, "{learner}: {report}");
        }
    }
}

/// What a fixed predictor of the default class of regression pays is never more than the best constant, whatever the units.
#[test]
fn the_default_class_of_regression_holds_the_best_constant() {
    let folder = Folder::new();
    let mut stated = Vec::new();
    for (scale, shift) in [(1.0, 0.0), (1000.0, 0.0), (1.0, 1e4)] {
        let rows = (0..400u32).map(|t| {
            let (season, noise) = (f64::from(t % 24), f64::from(t * 7919 % 101) / 101.0);
            let level = 300.0 + 40.0 * (season / 4.0).sin() + 60.0 * noise;
            format!("{},{},{}\n", shift + scale * level, 2000.0 + season, noise)
        });
        folder.write("units.csv", "y,x,z\n".to_owned() + &rows.collect::<String>());
        let report = report(&folder, &["units.csv", "--target", "y", "--hindsight"]);
        let (best, constant) = (number(&report, "/hindsight/loss"), number(&report, "/baseline_risk"));
        assert!(best <= constant * (1.0 + 1e-9), "{best} {constant}");
        stated.push((best / (scale * scale), number(&report, "/hindsight/radius") / scale));
    }
    for (best, radius) in &stated[1..] {
        assert!((best - stated[0].0).abs() < 1e-3 * best && (radius - stated[0].1).abs() < 1e-6 * radius, "{stated:?}");
    }
}
