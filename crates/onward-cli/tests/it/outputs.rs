//! What a run leaves: whole files or none, the same bytes for the same run.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::common::{Folder, data, report};

fn phishing(folder: &Folder, options: &[&str]) {
    let file = data("phishing.csv");
    let arguments: Vec<&str> =
        ["learn", "-q", &file, "--target", "is_phishing"].iter().chain(options).copied().collect();
    folder.succeed(&arguments);
}

#[test]
fn equal_runs_leave_equal_bytes_whatever_the_number_of_threads() {
    let folder = Folder::new();
    for threads in ["1", "2", "5"] {
        let [model, predictions] = [format!("m{threads}"), format!("p{threads}")];
        phishing(&folder, &["--threads", threads, "--model", &model, "--predictions", &predictions]);
    }
    for threads in ["2", "5"] {
        assert_eq!(
            std::fs::read(folder.path("m1")).unwrap(),
            std::fs::read(folder.path(&format!("m{threads}"))).unwrap()
        );
        assert_eq!(folder.read("p1"), folder.read(&format!("p{threads}")));
    }
}

#[test]
fn reports_differ_in_timing_alone() {
    let folder = Folder::new();
    let file = data("phishing.csv");
    let mut reports: Vec<_> = (0..2).map(|_| report(&folder, &[&file, "--target", "is_phishing"])).collect();
    for report in &mut reports {
        assert!(report["timing"]["seconds"].as_f64().unwrap() > 0.0);
        report.as_object_mut().unwrap().remove("timing");
    }
    assert_eq!(reports[0], reports[1]);
}

#[test]
fn continuing_a_model_equals_never_stopping() {
    let folder = Folder::new();
    let text = std::fs::read_to_string(data("phishing.csv")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let part = |range: std::ops::Range<usize>| {
        lines[..1].iter().chain(&lines[range]).map(|line| format!("{line}\n")).collect::<String>()
    };
    folder.write("first", part(1..700));
    folder.write("second", part(700..lines.len()));
    let target = ["--target", "is_phishing"];
    let mut whole = report(&folder, &["first", "second", target[0], target[1], "--model", "whole"]);
    folder.succeed(&["learn", "-q", "first", target[0], target[1], "--model", "half"]);
    let mut resumed = report(&folder, &["second", "--init", "half", "--model", "resumed"]);
    assert_eq!(std::fs::read(folder.path("whole")).unwrap(), std::fs::read(folder.path("resumed")).unwrap());
    assert_eq!(resumed["resumed_at"], 699);
    for report in [&mut whole, &mut resumed] {
        // What was read now, not what was learnt.
        for key in ["timing", "resumed_at", "inputs", "bytes"] {
            report.as_object_mut().unwrap().remove(key);
        }
    }
    // What the learner said of itself on the way is not in the model: it begins anew.
    for (point, before) in resumed["curve"].as_array_mut().unwrap().iter_mut().zip(whole["curve"].as_array().unwrap()) {
        if point["t"].as_u64() < Some(700) {
            for key in ["own_guarantee", "weight_norm"] {
                assert_eq!(point[key].take(), serde_json::Value::Null);
                point[key] = before[key].clone();
            }
        }
    }
    assert_eq!(whole, resumed);
}

#[test]
fn predictions_of_a_saved_model_equal_those_of_a_continued_run_to_the_bit() {
    let folder = Folder::new();
    phishing(&folder, &["--model", "model"]);
    // The same rows with the labels taken out: a continued run predicts them and learns nothing.
    let text = std::fs::read_to_string(data("phishing.csv")).unwrap();
    let unlabelled: String = text
        .lines()
        .enumerate()
        .map(|(at, line)| match (at, line.rsplit_once(',')) {
            (0, _) | (_, None) => format!("{line}\n"),
            (_, Some((features, _))) => format!("{features},\n"),
        })
        .collect();
    folder.write("unlabelled", unlabelled);
    folder.succeed(&["predict", "-q", "model", "unlabelled", "--predictions", "predicted"]);
    folder.succeed(&["learn", "-q", "--init", "model", "unlabelled", "--predictions", "continued"]);
    assert_eq!(folder.read("predicted"), folder.read("continued"));
    assert_eq!(folder.read("predicted").lines().count(), 1251);
}

#[test]
fn predicting_labelled_data_reports_the_loss_and_leaves_the_model_alone() {
    let folder = Folder::new();
    phishing(&folder, &["--model", "model"]);
    let before = std::fs::read(folder.path("model")).unwrap();
    let file = data("phishing.csv");
    folder.succeed(&["predict", "-q", "model", &file, "--predictions", "p", "--report", "r"]);
    assert_eq!(std::fs::read(folder.path("model")).unwrap(), before);
    let report: serde_json::Value = serde_json::from_str(&folder.read("r")).unwrap();
    // Log loss computed here from the predictions file.
    let losses = folder.read("p");
    let losses = losses.lines().skip(1).map(|line| {
        let (p, y) = line.split_once(',').unwrap();
        let (p, y): (f64, f64) = (p.parse().unwrap(), y.parse().unwrap());
        -(if y > 0.0 { p } else { 1.0 - p }).ln()
    });
    let mean = losses.sum::<f64>() / 1250.0;
    assert!((report["mean_loss"].as_f64().unwrap() - mean).abs() < 1e-9);
    assert!(report.get("sequential_risk").is_none());
}

#[test]
fn progressive_predictions_pay_the_sequential_risk() {
    let folder = Folder::new();
    phishing(&folder, &["--predictions", "p", "--report", "r"]);
    let report: serde_json::Value = serde_json::from_str(&folder.read("r")).unwrap();
    let predictions = folder.read("p");
    let mut correct = 0;
    let mut total = 0.0;
    for line in predictions.lines().skip(1) {
        let (p, y) = line.split_once(',').unwrap();
        let (p, y): (f64, f64) = (p.parse().unwrap(), y.parse().unwrap());
        total -= (if y > 0.0 { p } else { 1.0 - p }).ln();
        correct += u32::from((p >= 0.5) == (y > 0.0));
    }
    assert!((report["sequential_risk"].as_f64().unwrap() - total / 1250.0).abs() < 1e-9);
    assert!((report["metrics"]["accuracy"].as_f64().unwrap() - f64::from(correct) / 1250.0).abs() < 1e-12);
}

#[test]
fn ids_go_along_with_predictions() {
    let folder = Folder::new();
    folder.write("data", "id,y,x\n\"a,1\",1,2\nb,0,3\nc,,4\n");
    let outcome = folder.succeed(&["learn", "-q", "data", "--target", "y", "--id", "id", "--predictions", "-"]);
    let rows: Vec<Vec<&str>> = outcome.stdout.lines().map(|line| line.rsplitn(3, ',').collect()).collect();
    let column = |at: usize| rows.iter().map(|row| row[at]).collect::<Vec<_>>();
    assert_eq!(column(2), ["id", "\"a,1\"", "b", "c"]);
    assert_eq!(column(0), ["label", "1.0", "-1.0", ""]);
}

#[test]
fn ids_and_weights_that_the_input_lacks_are_named() {
    let folder = Folder::new();
    folder.write("data", "id,name,y,x,w\n1,a,1,2,1\n2,b,0,3,2\n3,a,1,4,1\n");
    folder.succeed(&["learn", "-q", "data", "--target", "y", "--id", "id,name", "--weight", "w", "--model", "model"]);
    folder.write("csv", "x,name\n2,c\n");
    folder.write("json", "{\"x\": 2, \"name\": \"c\"}\n");
    for input in ["csv", "json"] {
        let outcome = folder.succeed(&["predict", "model", input]);
        for note in [
            "ids that the input lacks, left empty in predictions: id\n",
            "weights that the input lacks, so that each example has weight 1: w\n",
        ] {
            assert!(outcome.stderr.contains(note), "{}", outcome.stderr);
        }
        let mut lines = outcome.stdout.lines();
        assert_eq!(lines.next(), Some("id,name,prediction,label"));
        assert!(lines.next().unwrap().starts_with(",c,0."));
    }
    let outcome = folder.succeed(&["predict", "model", "data"]);
    assert!(!outcome.stderr.contains("lacks"), "{}", outcome.stderr);
}

#[test]
fn a_model_says_what_it_was_learnt_from() {
    let folder = Folder::new();
    phishing(&folder, &["--model", "model", "--passes", "3"]);
    let text = folder.succeed(&["inspect", "model"]).stdout;
    for line in [
        "target     is_phishing (binary)\n",
        "examples   1,250 from csv, 0 without a label\n",
        "passes     at most 3 over the same data\n",
    ] {
        assert!(text.contains(line), "{text}");
    }
    let json: serde_json::Value =
        serde_json::from_str(&folder.succeed(&["inspect", "--json", "model"]).stdout).unwrap();
    assert_eq!((&json["facts"]["passes"], &json["facts"]["format"]), (&3.into(), &"csv".into()));
}

#[test]
fn a_full_disk_leaves_what_was_there() {
    let folder = Folder::new();
    phishing(&folder, &["--model", "model"]);
    let before = std::fs::read(folder.path("model")).unwrap();
    let file = data("phishing.csv");
    // /dev/full takes nothing.
    let full = "onward: /dev/full: cannot be written: no space is left; free some space and run \
                again\n";
    for flag in ["--report", "--predictions", "--model"] {
        let outcome = folder.run(&["learn", "-q", &file, "--target", "is_phishing", flag, "/dev/full"]);
        assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(1), full));
    }
    // All outputs are written before the first takes its place.
    let others = ["--model", "model", "--predictions", "p", "--report", "r"];
    for flag in ["--report", "--predictions", "--model"] {
        let others = others.chunks(2).filter(|other| other[0] != flag).flatten().copied();
        let arguments: Vec<&str> =
            ["learn", "-q", &file, "--target", "is_phishing", flag, "/dev/full"].into_iter().chain(others).collect();
        let outcome = folder.run(&arguments);
        assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(1), full), "{flag}");
        assert_eq!(std::fs::read(folder.path("model")).unwrap(), before);
        assert_eq!(folder.files(), ["model"]);
    }
    let outcome = folder.run(&["predict", "-q", "model", &file, "--predictions", "p", "--report", "/dev/full"]);
    assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(1), full));
    assert_eq!(folder.files(), ["model"]);
    // A limit on the size of files stops the model half-way.
    let script = format!(
        "trap '' XFSZ; ulimit -f 8; exec {} learn -q {file} --target is_phishing --model model",
        env!("CARGO_BIN_EXE_onward")
    );
    let outcome =
        std::process::Command::new("bash").args(["-c", &script]).current_dir(folder.path("")).output().unwrap();
    let message = "onward: model: cannot be written: File too large (os error 27)\n";
    assert_eq!((outcome.status.code(), String::from_utf8(outcome.stderr).unwrap().as_str()), (Some(1), message));
    assert_eq!(std::fs::read(folder.path("model")).unwrap(), before);
    assert_eq!(folder.files(), ["model"]);
}

#[test]
fn a_reader_that_goes_away_is_no_fault() {
    let folder = Folder::new();
    let file = data("flights.csv.zst");
    let mut command = folder.command(&["learn", "-q", &file, "--target", "arr_delay>15", "--predictions", "-"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut first = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(
        (first.as_str(), output.status.code(), output.stderr.as_slice()),
        ("prediction,label\n", Some(0), &b""[..])
    );
}

#[test]
fn a_reader_that_goes_away_early_leaves_no_model_and_says_so() {
    let folder = Folder::new();
    let script = format!(
        "{} learn -q {} --target 'arr_delay>15' --predictions - --model model | head -n 1; exit ${{PIPESTATUS[0]}}",
        env!("CARGO_BIN_EXE_onward"),
        data("flights.csv.zst")
    );
    let output =
        std::process::Command::new("bash").args(["-c", &script]).current_dir(folder.path("")).output().unwrap();
    let message = "onward: standard output: cannot be written: Broken pipe (os error 32): its reader closed it before \
                   the end of the run, so no model is written; let it read to the end, or write to a file\n";
    assert_eq!((output.status.code(), String::from_utf8(output.stderr).unwrap().as_str()), (Some(1), message));
    assert_eq!(folder.files(), [""; 0]);
}

#[test]
fn a_report_that_nobody_reads_does_not_cost_the_model() {
    let folder = Folder::new();
    let script = format!(
        "{} learn -q {} --target is_phishing --report - --model model | true; exit ${{PIPESTATUS[0]}}",
        env!("CARGO_BIN_EXE_onward"),
        data("phishing.csv")
    );
    let output =
        std::process::Command::new("bash").args(["-c", &script]).current_dir(folder.path("")).output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
    assert_eq!(folder.files(), ["model"]);
}

/// Sends a signal.
fn send(signal: &str, child: &Child) {
    let sent = std::process::Command::new("kill").args(["-s", signal, &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

/// Waits for a line that a program says, and keeps reading what it says afterwards.
fn wait_for(child: &mut Child, wanted: impl Fn(&str) -> bool) -> std::thread::JoinHandle<()> {
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    assert!(lines.by_ref().any(|line| wanted(&line.unwrap())));
    std::thread::spawn(move || lines.for_each(drop))
}

#[test]
fn a_signal_ends_the_run_and_what_was_learnt_is_written() {
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        let folder = Folder::new();
        let mut command = folder.command(&["learn", "--target", "y", "--model", "model", "--report", "report"]);
        let mut child = command.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let rows: String = (0..20_000).map(|row| format!("{},{}\n", row % 2, row % 7)).collect();
        stdin.write_all(format!("y,x\n{rows}").as_bytes()).unwrap();
        stdin.flush().unwrap();
        // The pipe stays open: without the signal the run would wait for ever.
        let rest = wait_for(&mut child, |line| line.contains(" examples, sequential risk"));
        send(signal, &child);
        assert_eq!(child.wait().unwrap().code(), Some(code));
        drop(stdin);
        rest.join().unwrap();
        let report: serde_json::Value = serde_json::from_str(&folder.read("report")).unwrap();
        assert!(report["examples"].as_u64().unwrap() > 0);
        assert_eq!(folder.files(), ["model", "report"]);
    }
}

/// Waits until a program catches SIGINT.
fn wait_until_it_catches(child: &Child) {
    let status = format!("/proc/{}/status", child.id());
    let caught = |line: &str| line.strip_prefix("SigCgt:").and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    // SIGINT is 2, SIGTERM 15: bits 1 and 14.
    let both = 1 << 1 | 1 << 14;
    while !std::fs::read_to_string(&status).unwrap().lines().filter_map(caught).any(|mask| mask & both == both) {
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_signal_before_anything_was_learnt_ends_the_program_at_once() {
    let folder = Folder::new();
    phishing(&folder, &["--model", "model"]);
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        for arguments in [&["learn", "--target", "y", "--model", "new"][..], &["predict", "model", "-p", "new"]] {
            let mut command = folder.command(arguments);
            let mut child = command.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
            // The pipe stays open and empty.
            let stdin = child.stdin.take().unwrap();
            wait_until_it_catches(&child);
            send(signal, &child);
            let begun = Instant::now();
            while child.try_wait().unwrap().is_none() {
                if begun.elapsed() > Duration::from_secs(20) {
                    child.kill().unwrap();
                    panic!("{arguments:?} goes on after SIG{signal}");
                }
                std::thread::sleep(Duration::from_millis(5));
            }
            let output = child.wait_with_output().unwrap();
            drop(stdin);
            assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(code), &b""[..]));
            assert_eq!(folder.files(), ["model"]);
        }
    }
}

#[test]
fn a_signal_while_converting_leaves_nothing() {
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        let folder = Folder::new();
        let file = data("flights.csv.zst");
        let mut command = folder.command(&["convert", "-q", &file, "flights.vw", "--target", "arr_delay>15"]);
        let mut child = command.spawn().unwrap();
        while folder.files().is_empty() {
            assert!(child.try_wait().unwrap().is_none());
            std::thread::sleep(Duration::from_millis(1));
        }
        send(signal, &child);
        assert_eq!(child.wait().unwrap().code(), Some(code));
        assert_eq!(folder.files(), [""; 0]);
    }
}

#[test]
fn the_file_that_is_standard_input_is_not_overwritten() {
    let folder = Folder::new();
    let rows = "y,x\n1,2\n0,3\n1,4\n";
    folder.write("data", rows);
    let mut command = folder.command(&["learn", "-q", "--target", "y", "--predictions", "data"]);
    let input = std::fs::File::open(folder.path("data")).unwrap();
    let output = command.stdin(input).output().unwrap();
    let message = "onward: --predictions data is also an input and would be overwritten; name another file\n";
    assert_eq!((output.status.code(), String::from_utf8(output.stderr).unwrap().as_str()), (Some(2), message));
    assert_eq!(folder.read("data"), rows);
}

#[test]
fn a_pipe_and_a_file_give_the_same() {
    let folder = Folder::new();
    let file = data("phishing.csv");
    phishing(&folder, &["--model", "from_file"]);
    let text = std::fs::read(&file).unwrap();
    let outcome = folder.pipe(&["learn", "-q", "--target", "is_phishing", "--model", "from_pipe"], &text);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    assert_eq!(std::fs::read(folder.path("from_file")).unwrap(), std::fs::read(folder.path("from_pipe")).unwrap());
}

#[test]
fn later_passes_learn_on_and_the_account_is_of_the_first() {
    let folder = Folder::new();
    let file = data("phishing.csv");
    let once = report(&folder, &[&file, "--target", "is_phishing"]);
    let thrice = report(&folder, &[&file, "--target", "is_phishing", "--passes", "3"]);
    assert_eq!(once["sequential_risk"], thrice["sequential_risk"]);
    assert_eq!(once["examples"], thrice["examples"]);
    let risks: Vec<f64> = serde_json::from_value(thrice["pass_risks"].clone()).unwrap();
    assert_eq!(risks.len(), 3);
    assert_eq!(risks[0], once["sequential_risk"].as_f64().unwrap());
    assert!(risks[1] < risks[0]);
}

#[test]
fn a_pass_that_a_signal_cuts_short_is_not_counted() {
    let folder = Folder::new();
    let rows: String = (0..500_000).map(|row| format!("{},{}\n", row % 2, row % 7)).collect();
    folder.write("data", format!("y,x\n{rows}"));
    let once = report(&folder, &["data", "--target", "y"])["bytes"].as_u64().unwrap();
    let options = ["--target", "y", "--passes", "1000", "--model", "model", "--report", "report"];
    let mut command = folder.command(&[&["learn", "data"], &options[..]].concat());
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    // In the second pass, most of which is still to come.
    let rest = wait_for(&mut child, |line| {
        let count = line.split_once(" examples, sequential risk").map(|(count, _)| count.replace(',', ""));
        count.is_some_and(|count| count.parse::<u64>().unwrap() > 500_000)
    });
    send("INT", &child);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    rest.join().unwrap();
    let report: serde_json::Value = serde_json::from_str(&folder.read("report")).unwrap();
    let whole = report["bytes"].as_u64().unwrap() / once;
    // The report has risks of passes only where there are several.
    assert_eq!(report["pass_risks"].as_array().map_or(1, Vec::len) as u64, whole);
    let model: serde_json::Value =
        serde_json::from_str(&folder.succeed(&["inspect", "--json", "model"]).stdout).unwrap();
    assert_eq!(model["facts"]["passes"], whole);
}

#[test]
fn the_curve_ends_where_the_run_does() {
    let folder = Folder::new();
    let file = data("phishing.csv");
    let whole = report(&folder, &[&file, "--target", "is_phishing"]);
    let curve = whole["curve"].as_array().unwrap();
    let last = curve.last().unwrap();
    assert_eq!(last["t"], 1250);
    assert_eq!((&last["risk"], &last["baseline"]), (&whole["sequential_risk"], &whole["baseline_risk"]));
    assert_eq!(last["guarantee"], whole["guarantees"][1]["bound_per_round"]);
    let rounds: Vec<u64> = curve.iter().map(|point| point["t"].as_u64().unwrap()).collect();
    assert!(rounds.windows(2).all(|pair| pair[0] < pair[1]), "{rounds:?}");
    // Where the run ends at a point that is kept, and where nothing was charged.
    folder.write("four", "y,x\n0,1\n1,2\n1,3\n0,4\n");
    assert_eq!(report(&folder, &["four", "--target", "y"])["curve"].as_array().unwrap().len(), 4);
    folder.write("none", "y,x\n,1\n,2\n");
    assert_eq!(report(&folder, &["none", "--target", "y", "--task", "binary"])["curve"], serde_json::json!([]));
}

#[test]
fn a_bound_that_is_no_number_has_a_reason() {
    let folder = Folder::new();
    let file = data("phishing.csv");
    let report = report(&folder, &[&file, "--target", "is_phishing", "--learner", "adagrad:radius=1e300"]);
    let own = &report["guarantees"][0];
    assert!(own["bound_per_round"].is_null());
    assert_eq!(own["reason"], "its bound is beyond the range of 64-bit floats");
}

#[test]
fn a_pipe_whose_header_comes_first_is_predicted_and_continued() {
    let folder = Folder::new();
    phishing(&folder, &["--model", "model"]);
    let file = data("phishing.csv");
    let program = env!("CARGO_BIN_EXE_onward");
    for command in ["predict -q model", "learn -q --init model --predictions -"] {
        let script = format!("(head -n 1 {file}; sleep 0.3; sed -n 2,4p {file}) | {program} {command}");
        let output =
            std::process::Command::new("bash").args(["-c", &script]).current_dir(folder.path("")).output().unwrap();
        assert_eq!(String::from_utf8(output.stdout).unwrap().lines().count(), 4, "{command}");
    }
}

#[test]
fn the_most_bits_are_not_too_many() {
    let folder = Folder::new();
    folder.write("data", "1 |a x\n-1 |b y\n");
    assert_eq!(report(&folder, &["data", "--bits", "30"])["examples"], 2);
}

#[test]
fn a_standard_error_that_takes_nothing_costs_no_output() {
    let folder = Folder::new();
    let (program, file) = (env!("CARGO_BIN_EXE_onward"), data("phishing.csv"));
    let learn = format!("{program} learn {file} --target is_phishing --model model --report report --predictions p");
    let predict = format!("{program} predict model {file} --predictions p --report report");
    let convert = format!("{program} convert {file} phishing.vw --target is_phishing");
    for (command, files) in [
        (&learn, &["model", "p", "report"][..]),
        (&predict, &["model", "p", "report"]),
        (&convert, &["model", "phishing.vw"]),
    ] {
        // A disk that is full; a reader that has gone away; one that leaves after a line; none at all.
        for end in ["2>/dev/full", "2>&1 | true", "2>&1 | head -n 1", "2>&-"] {
            let script = format!("{command} {end}; exit ${{PIPESTATUS[0]}}");
            let output =
                std::process::Command::new("bash").args(["-c", &script]).current_dir(folder.path("")).output().unwrap();
            assert_eq!(output.status.code(), Some(0), "{script}");
            assert_eq!(folder.files(), files, "{script}");
            files.iter().filter(|name| **name != "model").for_each(|name| {
                std::fs::remove_file(folder.path(name)).unwrap();
            });
        }
    }
    let script = format!("{program} learn nowhere 2>/dev/full");
    let output = std::process::Command::new("bash").args(["-c", &script]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}
