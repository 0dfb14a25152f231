//! Games without features, end to end.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;

use crate::common::Folder;
use crate::compare::{check_addresses, check_tags, embedded};

/// z = ½, −1, 1, −1, … in so many rounds.
fn alternating(rounds: usize) -> String {
    let z = |round| ["0.5", "-1", "1"][if round == 0 { 0 } else { 2 - round % 2 }];
    "z\n".to_owned() + &(0..rounds).map(|round| format!("{}\n", z(round))).collect::<String>()
}

/// Losses of three experts, of which the first is best.
const LOSSES: &str = "rock,paper,scissors\n0.1,0.5,0.9\n0.2,0.4,0.7\n0.6,0.1,0.8\n0.0,0.9,0.3\n";

/// The report of a game, as JSON.
fn played(folder: &Folder, arguments: &[&str]) -> Value {
    let arguments: Vec<&str> = ["play", "--quiet", "--report", "-"].iter().chain(arguments).copied().collect();
    serde_json::from_str(&folder.succeed(&arguments).stdout).unwrap()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

#[test]
fn following_the_leader_fails_in_one_command() {
    let folder = Folder::new();
    folder.write("leader.csv", alternating(1000));
    let game = ["leader.csv", "--losses", "linear", "--domain", "box", "--learner", "ftl,ogd"];
    let report = played(&folder, &game);
    let best = &report["game"]["best"];
    assert_eq!((number(&best["loss"]), number(&best["point"][0])), (-0.5, 1.0));
    let [leader, descent] = [0, 1].map(|at| &report["learners"][at]);
    assert_eq!(leader["played"]["loss"], 999.0);
    assert_eq!(leader["played"]["regret"], 999.5);
    assert_eq!(leader["played"]["guarantee"], Value::Null);
    assert!(leader["guarantees"][0]["reason"].as_str().unwrap().starts_with("following the leader has no bound"));
    // √2·D·√T with D = 2.
    let (regret, guarantee) = (number(&descent["played"]["regret"]), number(&descent["played"]["guarantee"]));
    assert!(regret <= guarantee && guarantee <= 2.0 * (2.0f64 * 1000.0).sqrt(), "{regret} {guarantee}");
    assert_eq!(number(&descent["regret_per_round"]), regret / 1000.0);

    let text = folder.succeed(&[&["play"], &game[..]].concat()).stderr;
    let lines: Vec<&str> = text.lines().collect();
    let place = lines.iter().position(|line| line.starts_with("learner ")).unwrap();
    assert!(lines[place + 1].starts_with("ogd ") && lines[place + 2].starts_with("ftl  "), "{text}");
    assert!(lines[place + 2].contains(" 999.0000 ") && lines[place + 2].ends_with("none [2]"), "{text}");
    assert!(lines[place + 3].starts_with("best fixed point  ") && lines[place + 3].contains(" -0.5000 "), "{text}");
    assert!(text.contains("\nGuarantees bound the regret in all:\n[1] against every u with |u_i| ≤ 1\n"), "{text}");
}

/// The curve of a leader that pays 1 in each round but the first is t − 1, against a best that pays 0 or −½.
#[test]
fn the_curve_has_the_regret_against_the_best_so_far_beside_the_bound() {
    let folder = Folder::new();
    folder.write("leader.csv", alternating(300));
    let report = played(&folder, &["leader.csv", "--losses", "linear", "--domain", "box", "--learner", "ftl,ogd"]);
    for learner in [0, 1] {
        let curve = report["learners"][learner]["curve"].as_array().unwrap();
        let rounds: Vec<u64> = curve.iter().map(|point| point["t"].as_u64().unwrap()).collect();
        assert!(rounds.is_sorted() && [1, 2, 4, 128, 256, 300].iter().all(|round| rounds.contains(round)));
        for point in curve {
            let t = number(&point["t"]);
            let (risk, regret) = (number(&point["risk"]) * t, number(&point["regret"]) * t);
            assert!((number(&point["baseline"]) * t + 0.5).abs() < 1e-9, "{point}");
            assert!((risk - regret + 0.5).abs() < 1e-9);
            match learner {
                0 => assert!((risk - (t - 1.0)).abs() < 1e-9 && point["own_guarantee"].is_null()),
                _ => assert!(regret <= number(&point["own_guarantee"]) * t + 1e-9),
            }
        }
    }
}

#[test]
fn the_page_and_the_table_are_those_of_comparisons() {
    let folder = Folder::new();
    folder.write("losses.csv", LOSSES);
    let game = ["play", "losses.csv", "--losses", "linear", "--learner", "hedge:predict=draw,seed=2,ogd,squint"];
    let outcome = folder.succeed(&[&game[..], &["--html", "page.html", "--report", "report.json"]].concat());
    let page = folder.read("page.html");
    check_tags(&page);
    check_addresses(&page);
    let data = embedded(&page);
    let names = ["hedge:predict=draw,seed=2", "ogd", "squint"];
    assert_eq!(data["learners"], Value::from(names.to_vec()));
    let kinds = |chart: usize| -> Vec<&str> {
        data["charts"][chart]["views"][0]["series"]
            .as_array()
            .unwrap()
            .iter()
            .map(|it| it["kind"].as_str().unwrap())
            .collect()
    };
    assert_eq!(kinds(1), [["regret"; 3], ["own guarantee"; 3]].concat());
    for part in
        ["<h1>3 players of losses.csv</h1>", "<dt>game</dt><dd>linear losses ⟨w, z⟩ on the simplex", "best fixed point"]
    {
        assert!(page.contains(part), "{part}");
    }
    // From the report the same page and table.
    assert_eq!(folder.succeed(&["show", "report.json", "--html", "-"]).stdout, page);
    let table = folder.succeed(&["show", "report.json"]).stdout;
    assert!(outcome.stderr.contains(&table), "{table}");
    assert!(table.contains("\nhedge:predict=draw,seed=2, as drawn  "), "{table}");
    assert!(folder.succeed(&["show", "report.json", "--plot"]).stdout.contains("mean linear loss so far"));
    assert!(folder.succeed(&["show", "report.json", "--svg", "-"]).stdout.contains("<svg"));
}

#[test]
fn equal_games_have_equal_reports_whatever_the_text_looks_like() {
    let folder = Folder::new();
    let bare: String = LOSSES.lines().skip(1).map(|line| format!("{line}\n")).collect();
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    gzip.write_all(LOSSES.as_bytes()).unwrap();
    let with_days: String = LOSSES.lines().enumerate().map(|(at, line)| format!("\"day, {at}\",{line}\r\n")).collect();
    let brackets: String = bare.lines().map(|line| format!("[{line}]\n")).collect();
    for (name, bytes) in [
        ("plain", LOSSES.as_bytes().to_vec()),
        ("bare", bare.clone().into_bytes()),
        ("gzip", gzip.finish().unwrap()),
        ("days", with_days.into_bytes()),
        ("semicolons", LOSSES.replace(',', ";").into_bytes()),
        ("tabs", LOSSES.replace(',', "\t").into_bytes()),
        ("blanks", format!("# numbers\n{}", bare.replace(',', "  ")).into_bytes()),
        ("brackets", brackets.into_bytes()),
        ("spaced", format!("\u{feff}\n\n{LOSSES}\n").into_bytes()),
    ] {
        folder.write(name, bytes);
    }
    let results = |name: &str| {
        let report = played(&folder, &[name, "--losses", "linear", "--learner", "adahedge,ogd"]);
        let learners = report["learners"].as_array().unwrap().iter();
        let learners: Vec<String> = learners.map(|it| format!("{} {}", it["played"], it["curve"])).collect();
        (learners, report["game"]["best"].clone(), report["game"]["coordinates"].clone())
    };
    let plain = results("plain");
    for name in ["gzip", "days", "semicolons", "tabs", "spaced"] {
        assert_eq!(results(name), plain, "{name}");
    }
    for name in ["bare", "blanks", "brackets"] {
        let found = results(name);
        assert_eq!((&found.0, &found.1), (&plain.0, &plain.1), "{name}");
        assert_eq!(found.2, Value::from(vec!["1", "2", "3"]), "{name}");
    }
    // By pipe, and without a column.
    let piped = folder.pipe(&["play", "--losses", "linear", "--quiet", "--report", "-"], LOSSES.as_bytes());
    assert_eq!(piped.code, Some(0));
    let report = played(&folder, &["days", "--losses", "linear", "--ignore", "paper"]);
    assert_eq!(report["game"]["coordinates"], Value::from(vec!["rock", "scissors"]));
}

/// Four rounds by hand: w_1 = 1/3 each, η = ½, w ∝ e^{−L/2}.
#[test]
fn hedge_is_charged_for_its_expectation_and_reports_what_was_drawn() {
    let folder = Folder::new();
    folder.write("losses.csv", LOSSES);
    let report =
        played(&folder, &["losses.csv", "--losses", "linear", "--learner", "hedge:eta=0.5,predict=draw,seed=1"]);
    let rows: Vec<Vec<f64>> =
        LOSSES.lines().skip(1).map(|line| line.split(',').map(|cell| cell.parse().unwrap()).collect()).collect();
    let (mut paid, mut sums) = (0.0, [0.0f64; 3]);
    for row in &rows {
        let weights = sums.map(|sum| (-0.5 * sum).exp());
        let total: f64 = weights.iter().sum();
        paid += weights.iter().zip(row).map(|(weight, z)| weight / total * z).sum::<f64>();
        sums.iter_mut().zip(row).for_each(|(sum, z)| *sum += z);
    }
    let it = &report["learners"][0]["played"];
    assert!((number(&it["loss"]) - paid).abs() < 1e-12, "{it}");
    let least = sums.iter().copied().fold(f64::INFINITY, f64::min);
    assert!((number(&it["regret"]) - (paid - least)).abs() < 1e-12);
    // The draws are among the entries.
    let drawn = number(&it["drawn_loss"]);
    let mut possible = vec![0.0];
    for row in &rows {
        possible = possible.iter().flat_map(|sum| row.iter().map(move |z| sum + z)).collect();
    }
    assert!(possible.iter().any(|sum: &f64| (sum - drawn).abs() < 1e-12), "{drawn}");
}

#[test]
fn what_is_no_game_is_refused_with_its_place() {
    let folder = Folder::new();
    for (bytes, options, message) in [
        ("", &["--losses", "linear"][..], "game: has no row of numbers; each line must be a vector"),
        ("a,b\n", &["--losses", "linear"], "game: has no row of numbers"),
        ("a,b\nx,y\n", &["--losses", "linear"], "game: has no row of numbers"),
        (
            "a,b\n1,2\n3\n",
            &["--losses", "linear"],
            "game, line 3: the row has 1 value where the first one has 2 values",
        ),
        (
            "1 2\n3 4 5\n",
            &["--losses", "linear"],
            "game, line 2: the row has 3 values where the first one has 2 values",
        ),
        ("a,b\n1,2\n3,x\n", &["--losses", "linear"], "game, line 3, column 'b': must be a finite number; found 'x'"),
        ("a,b\n1,2\n3,\n", &["--losses", "linear"], "game, line 3, column 'b': must be a finite number; found ''"),
        ("a,b\n1,NaN\n", &["--losses", "linear"], "game, line 2, column 'b': must be a finite number; found 'NaN'"),
        (
            "a,b\n1,2\n1,inf\n",
            &["--losses", "linear"],
            "game, line 3, column 'b': must be a finite number; found 'inf'",
        ),
        ("a,b\n1,2\n1,1e31\n", &["--losses", "linear"], "game, line 3: entries must be numbers within ±1e30; got 1e31"),
        ("a,b\n1,2\n\n0,0\n", &["--losses", "log"], "game, line 4: price relatives must not all be 0"),
        ("a,b\n1,2\n1,-2\n", &["--losses", "log"], "game, line 3: price relatives must be 0 or more; got -2"),
        ("a\n1\n", &["--losses", "linear"], "on the simplex there must be two coordinates or more"),
        ("[1,2]\n[3,\"x\"]\n", &["--losses", "linear"], "game, line 2: must be an array of numbers; found '[3,\"x\"]'"),
        ("{\"a\":1}\n", &["--losses", "linear"], "game, line 1: must be an array of numbers"),
        ("a\0b\n1,2\n", &["--losses", "linear"], "game: is not text"),
        ("a,b\n1,2\n", &["--losses", "log", "--domain", "ball"], "log losses are played on the simplex"),
        (
            "a,b\n1,2\n",
            &["--losses", "linear", "--radius", "0"],
            "the radius of a game must be from 1e-30 to 1e30; got 0",
        ),
        (
            "a,b\n1,2\n",
            &["--losses", "linear", "--learner", "coin"],
            "--learner coin: coin plays on these domains: all;",
        ),
        (
            "a,b\n1,2\n",
            &["--losses", "linear", "--learner", "auto"],
            "--learner auto: auto learns from features and labels",
        ),
        ("a,b\n1,2\n", &["--losses", "linear", "--learner", "ogd,ogd"], "--learner 'ogd' is given twice"),
        ("a,b\n1,2\n", &["--losses", "linear", "--learner", "ogdd"], "there is no learner 'ogdd'; did you mean 'ogd'?"),
        (
            "a,b\n1,2\n",
            &["--losses", "linear", "--ignore", "c"],
            "game: there is no column 'c' to ignore; the columns are: a, b",
        ),
        ("a,b\n1,2\n", &["--losses", "linear", "--report", "game"], "--report game is also an input"),
    ] {
        folder.write("game", bytes);
        let outcome = folder.run(&[&["play", "game", "--quiet"], options].concat());
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(2), ""), "{bytes:?} {options:?}: {outcome:?}");
        assert!(outcome.stderr.starts_with(&format!("onward: {message}")), "{bytes:?}: {}", outcome.stderr);
    }
    let outcome = folder.run(&["play", "nothing", "--losses", "linear"]);
    assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(2), "onward: nothing: no such file\n"));
    let outcome = folder.run(&["play", "game"]);
    assert!(outcome.code == Some(2) && outcome.stderr.contains("--losses <LOSSES>"), "{outcome:?}");
}

/// On all of R^d linear losses have no best point, and a ball stands for it.
#[test]
fn without_a_domain_the_comparators_are_said() {
    let folder = Folder::new();
    folder.write("losses.csv", LOSSES);
    let game = ["play", "losses.csv", "--losses", "linear", "--domain", "all", "--radius", "2", "--learner", "coin"];
    let text = folder.succeed(&game).stderr;
    for part in [
        "linear losses have no best point on all of R^d: the best of every u with ‖u‖₂ ≤ 2 stands for it",
        "[1] against every u with ‖u‖₂ ≤ 2",
        "on all of R^3",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    // The theorem of a learner that is about a smaller class than the one with the best point says nothing of it.
    folder.write("centres.csv", "x,y\n5,0\n5,1\n");
    let game = ["play", "centres.csv", "--losses", "quadratic", "--domain", "all", "--learner", "coin,ftl"];
    let text = folder.succeed(&game).stderr;
    assert!(
        text.contains("its theorem is about every u with ‖u‖₂ ≤ 1, and the best fixed point has the norm 5.0249"),
        "{text}"
    );
    assert!(text.contains("[1] against every u\n"), "{text}");
}

/// An endless stream of rows: the signal comes while the next one is waited for.
#[test]
fn a_signal_ends_a_game_and_its_report_is_written() {
    let folder = Folder::new();
    let game = ["play", "-", "--losses", "linear", "--domain", "box", "--learner", "ftl", "--report", "report.json"];
    let mut child =
        folder.command(&game).stdin(Stdio::piped()).stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(alternating(100).as_bytes()).unwrap();
    // It has begun when it says what it has found.
    let mut said = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.starts_with("coordinates") {
        line.clear();
        assert!(said.read_line(&mut line).unwrap() > 0);
    }
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    drop(stdin);
    let report: Value = serde_json::from_str(&folder.read("report.json")).unwrap();
    let played = number(&report["learners"][0]["played"]["loss"]);
    // However many it had come to.
    assert_eq!(played, (number(&report["examples"]) - 1.0).max(0.0));
}
