//! Several learners side by side: the same figures as each alone, a table, a report, a page, a picture
//! and a plot.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::common::{Folder, data, report};

/// The report of a run of `compare`, with these arguments, as JSON.
fn compared(folder: &Folder, arguments: &[&str]) -> Value {
    let arguments: Vec<&str> = ["compare", "--quiet", "--report", "-"].iter().chain(arguments).copied().collect();
    serde_json::from_str(&folder.succeed(&arguments).stdout).unwrap()
}

/// A report without what differs between equal runs.
fn timeless(mut report: Value) -> Value {
    for learner in report.get_mut("learners").and_then(Value::as_array_mut).into_iter().flatten() {
        learner.as_object_mut().unwrap().remove("timing").unwrap();
    }
    report.as_object_mut().unwrap().remove("timing").unwrap();
    report
}

const LEARNERS: [&str; 6] = ["auto", "nag", "adagrad", "ogd", "ogd-strong:sigma=0.1", "nag:standardise=true"];

fn asked<'a>(learners: &[&'a str]) -> Vec<&'a str> {
    learners.iter().flat_map(|learner| ["--learner", *learner]).collect()
}

/// Regression, with importance weights, rows without a label, and records that cannot be read.
fn weighted() -> String {
    let row = |t: u32| match t % 50 {
        7 => format!(",{},b,1\n", t % 13),
        9 => "1,2\n".to_owned(),
        11 => format!("{},{},a,0\n", t % 5, t % 13),
        _ => format!("{},{},{},{}\n", (t * 7) % 11, t % 13, ["a", "b"][t as usize % 2], 1 + t % 3),
    };
    "y,x,c,w\n".to_owned() + &(0..3000).map(row).collect::<String>()
}

#[test]
fn looking_back_once_tells_each_learner_what_it_would_have_been_told_alone() {
    let folder = Folder::new();
    folder.write("weighted", weighted());
    let phishing = data("phishing.csv");
    let cases: [&[&str]; 2] = [
        &[&phishing, "--target", "is_phishing", "--hindsight"],
        &["weighted", "--target", "y", "--weight", "w", "--on-error", "skip", "--radius", "3", "--hindsight"],
    ];
    for options in cases {
        let all = compared(&folder, &[options, &asked(&LEARNERS)].concat());
        assert!(all["hindsight"]["loss"].as_f64().unwrap() > 0.0);
        for (at, learner) in LEARNERS.iter().enumerate() {
            let alone = report(&folder, &[options, &["--learner", *learner]].concat());
            let beside = &all["learners"][at];
            assert_eq!(alone["hindsight"], all["hindsight"], "{learner}");
            assert!(alone["regret_per_round"].is_number());
            assert_eq!(alone["regret_per_round"], beside["regret_per_round"], "{learner}");
            assert_eq!(alone["curve"], beside["curve"], "{learner}");
            let last = beside["curve"].as_array().unwrap().last().unwrap();
            let difference = last["regret"].as_f64().unwrap() - beside["regret_per_round"].as_f64().unwrap();
            assert!(difference.abs() < 1e-9, "{learner}: {difference}");
        }
    }
    let outcome = folder.run(&[&["compare"][..], cases[0]].concat());
    assert!(outcome.stderr.contains(" regret "), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("\nbest in hindsight "), "{}", outcome.stderr);
    let perceptron = ["compare", &phishing, "--target", "is_phishing", "--hindsight", "--learner", "perceptron"];
    let outcome = folder.run(&perceptron);
    assert!(outcome.stderr.contains("\nbest in hindsight (hinge loss) "), "{}", outcome.stderr);
    assert!(
        outcome.stderr.contains("\nThe regret is the mistakes minus the hinge loss of the best"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn the_page_says_what_the_regret_is_against() {
    let (folder, phishing) = (Folder::new(), data("phishing.csv"));
    let page = |options: &[&str]| {
        let shared = ["compare", "-q", &phishing, "--target", "is_phishing", "--hindsight", "--report", "report"];
        folder.succeed(&[&shared[..], options].concat());
        let page = folder.succeed(&["show", "report", "--html", "-"]).stdout;
        let kinds = embedded(&page)["charts"][1]["views"][0]["series"].as_array().unwrap().clone();
        let kinds: Vec<String> = kinds.iter().map(|series| series["kind"].as_str().unwrap().to_owned()).collect();
        (page, kinds)
    };
    let (logistic, kinds) = page(&["--learner", "ogd", "--radius", "5"]);
    for part in ["<dt>best in hindsight</dt><dd>mean loss 0.", " with ‖u‖₂ ≤ 5, to ", "at ten times the radius; "]
    {
        assert!(logistic.contains(part), "{part}");
    }
    assert_eq!(kinds, ["regret", "own guarantee", "universal certificate"]);
    let (mistakes, kinds) = page(&["--learner", "perceptron", "--radius", "2"]);
    for part in
        ["<dd>mean hinge loss 0.3315 of", "it makes 0.1376 mistakes per example", "The mistakes of each learner minus"]
    {
        assert!(mistakes.contains(part), "{part}");
    }
    assert_eq!(kinds, ["mistakes minus hinge loss", "own guarantee"]);
    // Of another size the theorem does not speak.
    let (_, kinds) = page(&["--learner", "perceptron"]);
    assert_eq!(kinds, ["mistakes minus hinge loss"]);
}

#[test]
fn each_learner_pays_and_says_to_the_bit_what_it_does_alone() {
    let folder = Folder::new();
    folder.write("weighted", weighted());
    let phishing = data("phishing.csv");
    let cases: [&[&str]; 2] = [
        &[&phishing, "--target", "is_phishing"],
        &["weighted", "--target", "y", "--weight", "w", "--on-error", "skip", "--loss", "absolute", "--radius", "3"],
    ];
    for options in cases {
        let all = compared(&folder, &[options, &asked(&LEARNERS)].concat());
        assert_eq!(all["learners"].as_array().unwrap().len(), LEARNERS.len());
        for (at, learner) in LEARNERS.iter().enumerate() {
            let mut alone = timeless(report(&folder, &[options, &["--learner", *learner]].concat()));
            let beside = &all["learners"][at];
            assert_eq!(beside["name"], *learner);
            assert_eq!(alone.as_object_mut().unwrap().remove("resumed_at"), Some(Value::Null));
            for (key, value) in alone.as_object().unwrap() {
                let found = beside.get(key).or_else(|| all.get(key));
                if key == "guarantees" {
                    let found = found.and_then(Value::as_array).unwrap();
                    for (alone, beside) in value.as_array().unwrap().iter().zip(found) {
                        // What the best of a class pays at least is learnt from all learners together.
                        let [most, bound] = [alone, beside].map(|it| it["bound_per_round"].as_f64());
                        assert!(bound <= most && beside["comparator"] == alone["comparator"], "{learner} {beside}");
                        let is_shared = ["dual", "curved"].iter().any(|kind| alone["kind"] == *kind);
                        assert!(is_shared || bound == most, "{learner} {beside}");
                    }
                    continue;
                }
                // As text: JSON has the shortest decimals that read back to the bit.
                assert!(found.map(Value::to_string) == Some(value.to_string()), "{learner} {key}");
            }
        }
    }
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let folder = Folder::new();
    folder.write("weighted", weighted());
    let run = |threads: &str| {
        let arguments = ["weighted", "--target", "y", "--on-error", "skip", "--threads", threads];
        timeless(compared(&folder, &[&arguments[..], &asked(&LEARNERS)].concat()))
    };
    let one = run("1");
    assert!(one["skipped"].as_u64() > Some(0) && one["unlabelled"].as_u64() > Some(0), "{one}");
    assert_eq!(one, run("2"));
    assert_eq!(one, run("7"));
}

#[test]
fn the_curve_has_the_guarantee_and_the_norm_of_the_weights_at_log_spaced_rounds_and_at_the_end() {
    let folder = Folder::new();
    // One feature and the bias, whose weights can be followed here: w -= eta/√t times the gradient.
    folder.write("data", "1 | x:1\n-2 | x:2\n3 | x:1\n");
    let report = report(&folder, &["data", "--target", "label", "--learner", "ogd:eta=0.1", "--loss", "absolute"]);
    let norms: Vec<f64> =
        report["curve"].as_array().unwrap().iter().map(|point| point["weight_norm"].as_f64().unwrap()).collect();
    let (mut w, mut expected) = ([0.0f64; 2], Vec::new());
    for (t, (x, y)) in [(1.0, 1.0), (2.0, -2.0), (1.0, 3.0)].into_iter().enumerate() {
        let g = (w[0] + w[1] * x - y).signum();
        let rate = 0.1 / ((t + 1) as f64).sqrt();
        (w[0], w[1]) = (w[0] - rate * g, w[1] - rate * g * x);
        expected.push(w[0].hypot(w[1]));
    }
    // Weights are stored in 32 bits.
    for (found, expected) in norms.iter().zip(&expected) {
        assert!((found - expected).abs() < 1e-6, "{norms:?} {expected:?}");
    }
    assert_eq!(norms.len(), 3);
    let end = &report["curve"][2];
    assert_eq!((&end["t"], &end["weight"]), (&3.into(), &3.0.into()));
    assert_eq!(end["own_guarantee"], report["guarantees"][0]["bound_per_round"]);
    assert_eq!(end["guarantee"], report["guarantees"][1]["bound_per_round"]);
}

#[test]
fn evenly_spaced_points_have_neither_guarantee_nor_norm_and_learners_without_a_theorem_have_none() {
    let folder = Folder::new();
    let report = compared(&folder, &[&data("phishing.csv"), "--target", "is_phishing"]);
    let names: Vec<&str> =
        report["learners"].as_array().unwrap().iter().map(|learner| learner["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["auto", "nag", "adagrad", "ogd"]);
    for learner in report["learners"].as_array().unwrap() {
        // That of `auto` is about its lanes, and the regret on the curve is not.
        let has_theorem = learner["name"] != "nag" && learner["name"] != "auto";
        for point in learner["curve"].as_array().unwrap() {
            let round = point["t"].as_u64().unwrap();
            let is_thorough = round.is_power_of_two() || round == 1250;
            assert_eq!(point["weight_norm"].is_f64(), is_thorough, "{point}");
            assert_eq!(point["own_guarantee"].is_f64(), is_thorough && has_theorem, "{point}");
        }
    }
}

#[test]
fn the_table_is_in_order_of_risk_with_the_baselines_last() {
    let folder = Folder::new();
    let outcome = folder.succeed(&["compare", &data("phishing.csv"), "--target", "is_phishing"]);
    let text = outcome.stderr;
    assert_eq!(outcome.stdout, "");
    assert!(text.contains("\nlearners: auto, nag, adagrad, ogd; loss: logistic\n"), "{text}");
    let (_, table) = text.split_once("\nlearner ").unwrap();
    let rows: Vec<Vec<&str>> = table.lines().skip(1).take(7).map(|line| line.split_whitespace().collect()).collect();
    let head = table.lines().next().unwrap();
    for title in ["sequential risk", "to the constant", "accuracy", "AUC", "own guarantee", "guarantee", "seconds"] {
        assert!(head.contains(title), "{head}");
    }
    let report = report(&folder, &[&data("phishing.csv"), "--target", "is_phishing"]);
    let risk = |row: usize, at: usize| rows[row][at].parse::<f64>().unwrap();
    assert_eq!(rows[0][0], "auto");
    assert_eq!(rows[0][1], format!("{:.4}", report["sequential_risk"].as_f64().unwrap()));
    assert!((0..3).all(|row| risk(row, 1) <= risk(row + 1, 1)), "{table}");
    for (row, name, key) in [
        (4, ["online", "constant"], "online_constant_risk"),
        (5, ["no", "change"], "no_change_risk"),
        (6, ["best", "constant"], "baseline_risk"),
    ] {
        assert_eq!((&rows[row][..2], rows[row][2]), (&name[..], &*format!("{:.4}", report[key].as_f64().unwrap())));
        assert!((risk(row, 3) - risk(row, 2) / risk(4, 2)).abs() < 2e-3, "{table}");
    }
    assert_eq!(rows[4][3], "1.000");
    assert!((0..4).all(|row| (risk(row, 2) - risk(row, 1) / risk(4, 2)).abs() < 2e-3), "{table}");
    // nag has no guarantee of its own, and a note says why.
    let nag = rows.iter().find(|row| row[0] == "nag").unwrap();
    let note = table.lines().find(|line| line.starts_with(nag[6])).unwrap();
    assert_eq!(nag[5], "none");
    assert!(note.len() > 20 && !note.contains("against every u"), "{note}");
}

#[test]
fn a_measure_of_numbers_is_their_error() {
    let folder = Folder::new();
    folder.write("weighted", weighted());
    let arguments = ["compare", "weighted", "--target", "y", "--on-error", "skip", "--learner", "nag"];
    let text = folder.succeed(&arguments).stderr;
    assert!(
        text.contains("RMSE") && !text.contains("accuracy") && text.contains("60 unreadable records skipped"),
        "{text}"
    );
}

#[test]
fn nothing_charged_is_no_table_of_nan() {
    let folder = Folder::new();
    folder.write("data", "y,x\n,1\n,2\n");
    let arguments = ["compare", "data", "--target", "y", "--task", "regression", "--report", "r"];
    let said = folder.succeed(&arguments).stderr;
    let text = folder.succeed(&["show", "r", "--plot", "--html", "p", "--svg", "s"]).stdout;
    assert!(text.contains("nothing to plot") && !said.contains("NaN"), "{text}{said}");
    assert!(folder.read("p").contains("nothing to show") && !folder.read("p").contains("NaN"));
    assert!(folder.read("s").contains("nothing to show"));
}

/// Whether tags are balanced, and attributes quoted, outside style and script.
pub(crate) fn check_tags(page: &str) {
    let mut open: Vec<String> = Vec::new();
    let mut rest = page;
    while let Some(at) = rest.find('<') {
        assert!(!rest[..at].contains('>'), "a stray > before {}", &rest[at..at + 40.min(rest.len() - at)]);
        rest = &rest[at..];
        let end = rest.find('>').expect("a tag ends");
        let tag = &rest[1..end];
        rest = &rest[end + 1..];
        if tag.starts_with(['!', '?']) {
            continue;
        }
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name), "{tag}");
            continue;
        }
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
        let name = tag.split([' ', '/']).next().unwrap();
        if tag.ends_with('/') {
            continue;
        }
        open.push(name.to_owned());
        if ["style", "script"].contains(&name) {
            rest = &rest[rest.find(&format!("</{name}>")).expect("it ends")..];
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

/// The data of a page.
pub(crate) fn embedded(page: &str) -> Value {
    let (_, rest) = page.split_once("<script id=\"data\" type=\"application/json\">").unwrap();
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

/// Whether a page or picture fetches nothing: no address in it but the name of SVG.
pub(crate) fn check_addresses(page: &str) {
    let without = page.replace("http://www.w3.org/2000/svg", "");
    for word in ["http:", "https:", "src=", "href", "url(\"", "@import", "fetch(", "XMLHttpRequest", "//www"] {
        assert!(!without.contains(word), "{word}");
    }
}

#[test]
fn the_page_is_whole_fetches_nothing_and_holds_what_the_report_has() {
    let folder = Folder::new();
    let file = data("phishing.csv");
    let report = compared(&folder, &[&file, "--target", "is_phishing"]);
    folder.write("report", report.to_string());
    folder.succeed(&["show", "report", "--html", "page.html", "--svg", "loss.svg"]);
    let page = folder.read("page.html");
    check_tags(&page);
    check_addresses(&page);
    let data = embedded(&page);
    assert_eq!(data["learners"], serde_json::json!(["auto", "nag", "adagrad", "ogd"]));
    let charts = data["charts"].as_array().unwrap();
    let titles: Vec<&str> = charts.iter().map(|chart| chart["title"].as_str().unwrap()).collect();
    assert_eq!(titles, ["Cumulative loss", "Regret against guarantee", "Recent risk", "Weight norms"]);
    // Without a script they are there too, each view with its drawing, and the first of each chart is seen.
    assert_eq!((page.matches("<svg").count(), page.matches(" hidden=\"\"><svg").count()), (6, 2));
    for (at, learner) in report["learners"].as_array().unwrap().iter().enumerate() {
        let series = |chart: usize, view: usize, kind: &str| {
            let series = charts[chart]["views"][view]["series"].as_array().unwrap();
            series.iter().find(|series| series["learner"] == at && series["kind"] == kind).cloned()
        };
        let end = |series: Option<Value>| {
            let series = series?;
            let point = series["points"].as_array().unwrap().last().unwrap().clone();
            assert_eq!(point[0], 1250.0);
            point[1].as_f64()
        };
        let close = |found: Option<f64>, expected: Option<f64>| match (found, expected) {
            (Some(found), Some(expected)) => (found - expected).abs() <= 1e-6 * expected.abs(),
            (found, expected) => found == expected,
        };
        let risk = learner["sequential_risk"].as_f64().unwrap();
        let last = learner["curve"].as_array().unwrap().last().unwrap();
        assert!(close(end(series(0, 0, "loss")), Some(risk)));
        assert!(close(end(series(0, 1, "loss")), Some(1250.0 * risk)));
        let against_constant = risk - report["baseline_risk"].as_f64().unwrap();
        assert!(close(end(series(1, 0, "regret against the best constant")), Some(against_constant)));
        assert!(close(end(series(1, 0, "own guarantee")), last["own_guarantee"].as_f64()), "{learner}");
        assert!(close(end(series(1, 0, "universal certificate")), last["guarantee"].as_f64()));
        assert!(close(end(series(3, 0, "norm of the weights")), last["weight_norm"].as_f64()));
        // Means between points, weighted by how far apart they are, are the mean of all.
        let recent = series(2, 0, "recent risk").unwrap();
        let (mut before, mut paid) = (0.0, 0.0);
        for point in recent["points"].as_array().unwrap() {
            let (round, mean) = (point[0].as_f64().unwrap(), point[1].as_f64().unwrap());
            paid += mean * (round - before);
            before = round;
        }
        assert!((paid / 1250.0 - risk).abs() < 1e-6 && before == 1250.0);
    }
    let picture = folder.read("loss.svg");
    check_tags(&picture);
    check_addresses(&picture);
    assert!(picture.starts_with("<?xml") && picture.contains("Cumulative loss: mean logistic loss so far"));
}

#[test]
fn pages_of_equal_runs_differ_in_times_alone() {
    let folder = Folder::new();
    let file = data("phishing.csv");
    let run = || {
        folder.succeed(&["compare", "-q", &file, "--target", "is_phishing", "--report", "report"]);
        folder.succeed(&["show", "report", "--html", "page", "--svg", "picture"]);
        (embedded(&folder.read("page")), folder.read("picture"))
    };
    assert_eq!(run(), run());
}

#[test]
fn hostile_names_stay_text() {
    let folder = Folder::new();
    // The slash makes a folder of what stands before it.
    std::fs::create_dir(folder.path("<")).unwrap();
    let path = "</script><script>alert(1)<!-- \"'&.csv";
    let column = "y</title><b>";
    folder.write(path, format!("{column},x\n1,2\n0,3\n1,4\n"));
    for command in ["learn", "compare"] {
        let file = format!("{command}.html");
        folder.succeed(&[command, "-q", "--target", column, "--report", "report", "--", path]);
        folder.succeed(&["show", "report", "--html", &file]);
        let page = folder.read(&file);
        check_tags(&page);
        embedded(&page);
        assert!(!page.contains("<script>alert") && !page.contains("<!--") && !page.contains("<b>"), "{page}");
        assert!(page.contains("&lt;/script&gt;&lt;script&gt;alert(1)&lt;!-- &quot;&#39;&amp;.csv"), "{page}");
    }
}

#[test]
fn learn_has_the_same_page_with_one_learner_and_the_same_plot_and_table() {
    let folder = Folder::new();
    let file = data("phishing.csv");
    let report = report(&folder, &[&file, "--target", "is_phishing", "--passes", "2"]);
    let report = report.to_string();
    let outcome = folder.pipe(&["show", "-", "--html", "page", "--plot"], report.as_bytes());
    let table = folder.pipe(&["show", "-"], report.as_bytes()).stdout;
    assert!(
        table.starts_with("learner ") && table.contains("\nauto ") && table.contains("\nbest constant "),
        "{table}"
    );
    let page = folder.read("page");
    check_tags(&page);
    let data = embedded(&page);
    assert_eq!(data["learners"], serde_json::json!(["auto"]));
    assert_eq!(data["charts"].as_array().unwrap().len(), 4);
    assert!(outcome.stdout.contains("mean logistic loss so far") && outcome.stdout.contains("a auto 0.2466"));
}

#[test]
fn the_plot_has_ticks_around_the_curves_and_no_colours_off_a_terminal() {
    let folder = Folder::new();
    let file = data("phishing.csv");
    let learners = asked(&["nag", "ogd:radius=2"]);
    let report = compared(&folder, &[&[&file, "--target", "is_phishing"], &learners[..]].concat());
    // It begins after a two hundred and fiftieth part of the run, the best constant after a few examples more.
    let curves = report["learners"].as_array().unwrap().iter().flat_map(|learner| learner["curve"].as_array().unwrap());
    let from =
        |point: &Value, round: u64, key: &str| point[key].as_f64().filter(|_| point["t"].as_u64() >= Some(round));
    let values: Vec<f64> =
        curves.flat_map(|point| [from(point, 4, "risk"), from(point, 16, "baseline")]).flatten().collect();
    let (low, high) = (values.iter().copied().fold(f64::MAX, f64::min), values.iter().copied().fold(0.0, f64::max));
    let text = folder.pipe(&["show", "-", "--plot"], report.to_string().as_bytes()).stdout;
    let labels: Vec<f64> = text
        .lines()
        .filter_map(|line| line.split_once('┤'))
        .filter_map(|(label, _)| label.trim().parse().ok())
        .collect();
    assert!(labels.len() >= 3 && labels.windows(2).all(|pair| pair[0] > pair[1]), "{text}");
    let room = 0.04 * (high - low) + 1e-9;
    assert!(labels.iter().all(|label| (low - room..=high + room).contains(label)), "{labels:?} {low} {high}");
    assert!(!text.contains('\u{1b}'));
    assert!(
        text.contains("a nag 0.")
            && text.contains("b ogd:radius=2 0.")
            && text.contains("⠄ best constant so far 0.6855")
    );
}

#[test]
fn a_signal_ends_the_run_and_what_was_learnt_is_written() {
    let folder = Folder::new();
    let mut command = folder.command(&["compare", "--target", "y", "--report", "report"]);
    let mut child = command.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let rows: String = (0..20_000).map(|row| format!("{},{}\n", row % 2, row % 7)).collect();
    stdin.write_all(format!("y,x\n{rows}").as_bytes()).unwrap();
    stdin.flush().unwrap();
    // The pipe stays open: without the signal the run would wait for ever.
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    assert!(lines.by_ref().any(|line| line.unwrap().contains(" examples, least sequential risk 0.")));
    let rest = std::thread::spawn(move || lines.for_each(drop));
    assert!(Command::new("kill").args(["-s", "INT", &child.id().to_string()]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    drop(stdin);
    rest.join().unwrap();
    let report: Value = serde_json::from_str(&folder.read("report")).unwrap();
    assert!(report["examples"].as_u64().unwrap() > 0 && report["learners"].as_array().unwrap().len() == 4);
    check_tags(&folder.succeed(&["show", "report", "--html", "-"]).stdout);
}

/// `compare` fails with this message, and writes nothing.
fn refused(options: &[&str], message: &str) {
    let folder = Folder::new();
    folder.write("data", "y,x\n1,2\n0,3\n1,4\n");
    let arguments: Vec<&str> = ["compare", "--quiet"].iter().chain(options).copied().collect();
    let outcome = folder.run(&arguments);
    assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(2), format!("onward: {message}\n").as_str()));
    assert_eq!((outcome.stdout.as_str(), folder.files()), ("", vec!["data".to_owned()]));
}

const DATA: [&str; 3] = ["data", "--target", "y"];

fn refused_learners(learners: &[&str], options: &[&str], message: &str) {
    refused(&[&DATA[..], &asked(learners), options, &["--report", "r"]].concat(), message);
}

#[test]
fn a_learner_that_there_is_not() {
    let folder = Folder::new();
    // Before any input is looked at.
    let outcome = folder.run(&["compare", "nowhere", "--learner", "auto", "--learner", "nagg"]);
    assert_eq!(outcome.code, Some(2));
    assert!(outcome.stderr.starts_with("onward: there is no learner 'nagg'; did you mean 'nag'?"), "{outcome:?}");
}

#[test]
fn equal_learners() {
    let remedy = "leave one out, or change a parameter";
    refused_learners(&["nag", "auto", "nag"], &[], &format!("--learner 'nag' is given twice: {remedy}"));
    // Equal by what their parameters are when they are not given.
    refused_learners(&["nag", "nag:eta=0.5"], &[], &format!("--learner 'nag' and 'nag:eta=0.5' are equal: {remedy}"));
}

#[test]
fn a_learner_that_cannot_take_the_loss() {
    let message = "--learner nag: the loss of nag must have a slope, and zero-one has none; use hinge or logistic, or \
                   the learner perceptron";
    refused_learners(&["nag"], &["--loss", "zero-one"], message);
    let message = "--learner perceptron: the perceptron counts mistakes, so its loss must be zero-one; got logistic";
    refused_learners(&["nag", "perceptron"], &["--loss", "logistic"], message);
}

#[test]
fn learners_that_are_charged_by_different_losses() {
    let message = "--loss must be a loss that all learners can take; by default nag would use logistic and perceptron \
                   zero-one, which cannot be compared";
    refused_learners(&["nag", "perceptron"], &[], message);
    // Alike, they can be.
    let folder = Folder::new();
    folder.write("data", "y,x\n1,2\n0,3\n1,4\n");
    let learners = asked(&["perceptron", "perceptron:standardise=true"]);
    assert_eq!(compared(&folder, &[&DATA[..], &learners].concat())["loss"], "zero-one");
}

#[test]
fn parameters_and_radii_out_of_range() {
    refused_learners(&["auto", "nag:eta=0"], &[], "--learner nag:eta=0: eta of nag must be above 0; got 0");
    refused_learners(&["auto"], &["--radius", "-1"], "--radius must be above 0; got -1");
}

#[test]
fn outputs_that_are_one_file_or_an_input() {
    let refused = |options: &[&str], message: &str| refused(&[&DATA[..], options].concat(), message);
    refused(&["--report", "data"], "--report data is also an input and would be overwritten; name another file");
    refused(&["--report", "nowhere/report"], "nowhere/report: cannot be written: its folder does not exist; create it");
    let folder = Folder::new();
    folder.write("data", "y,x\n1,2\n0,3\n1,4\n");
    folder.succeed(&["compare", "-q", "data", "--target", "y", "--report", "report"]);
    for (options, message) in [
        (
            &["--html", "out", "--svg", "./out"][..],
            "--html and --svg both write to ./out; name another file for one \
                of them",
        ),
        (&["--html", "report"], "--html report is also an input and would be overwritten; name another file"),
        (&["--svg", "nowhere/picture"], "nowhere/picture: cannot be written: its folder does not exist; create it"),
    ] {
        let outcome = folder.run(&[&["show", "report"], options].concat());
        assert_eq!((outcome.code, outcome.stderr), (Some(2), format!("onward: {message}\n")));
    }
    assert_eq!(folder.files(), ["data", "report"]);
}

#[test]
fn what_is_no_report_cannot_be_shown() {
    let folder = Folder::new();
    folder.write("data", "y,x\n1,2\n0,3\n1,4\n");
    folder.succeed(&["learn", "-q", "data", "--target", "y", "--model", "model"]);
    folder.succeed(&["predict", "-q", "model", "data", "--predictions", "p", "--report", "predicted"]);
    folder.write("other", "{\"onward\": 1}");
    folder.succeed(&["learn", "-q", "data", "--target", "y", "--report", "learned"]);
    let mut report: serde_json::Value = serde_json::from_str(&folder.read("learned")).unwrap();
    report["sequential_risk"] = "a".into();
    folder.write("damaged", report.to_string());
    for (path, message) in [
        ("data", "is not a report; write one with `onward learn --report` or `onward compare --report`"),
        ("other", "is not a report; write one with `onward learn --report` or `onward compare --report`"),
        (
            "damaged",
            "is a damaged report: 'sequential_risk' must be a number; got string \"a\"; write one with `onward learn \
             --report` or `onward compare --report`",
        ),
        (
            "predicted",
            "is a report of `onward predict`; only those of `onward learn` and `onward compare` can be drawn",
        ),
        ("model", "is a model, not a report; use onward inspect"),
        ("nowhere", "no such file"),
    ] {
        let outcome = folder.run(&["show", path]);
        assert_eq!((outcome.code, outcome.stderr), (Some(2), format!("onward: {path}: {message}\n")));
    }
}

#[test]
fn bad_data_leaves_no_file() {
    let folder = Folder::new();
    folder.write("data", "y,x\n1,2\n0,3\n1,4\n0,5,6\n");
    let outcome = folder.run(&["compare", "-q", "data", "--target", "y", "--report", "r"]);
    assert!(outcome.code == Some(2) && outcome.stderr.contains("data, line 5"), "{outcome:?}");
    assert_eq!(folder.files(), ["data"]);
}
