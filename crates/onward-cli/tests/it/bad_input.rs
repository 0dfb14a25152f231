//! What is wrong with an input or a command line, and the message it gives: one
//! test for each. All end with exit code 2 (the user can mend it), say where, what
//! was found and what to do, and leave no file behind.

use std::io::Write;

use crate::common::{self, Folder};

/// Enough rows that every column is what it looks like: y in 0, 1; x a number; c a category.
fn rows(count: usize) -> String {
    let row = |number: usize| format!("{},{},{}\n", number % 2, number % 17, ["a", "b", "c"][number % 3]);
    "y,x,c\n".to_owned() + &(0..count).map(row).collect::<String>()
}

/// Learning from the file `data` fails with this message, and writes nothing.
fn refused(content: impl AsRef<[u8]>, options: &[&str], message: &str) {
    let folder = Folder::new();
    folder.write("data", content);
    let mut arguments = vec!["learn", "data", "--quiet", "--model", "model", "--predictions", "p", "--report", "r"];
    arguments.extend(options);
    let outcome = folder.run(&arguments);
    assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(2), format!("onward: {message}\n").as_str()));
    assert_eq!(outcome.stdout, "");
    assert_eq!(folder.files(), ["data"]);
}

const Y: &[&str] = &["--target", "y"];

#[test]
fn a_file_that_is_missing() {
    let outcome = Folder::new().run(&["learn", "nowhere.csv", "--target", "y"]);
    assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(2), "onward: nowhere.csv: no such file\n"));
}

#[test]
fn a_later_file_that_is_missing_is_found_before_the_first_is_read() {
    let folder = Folder::new();
    folder.write("data", rows(50));
    let outcome = folder.run(&["learn", "-q", "data", "nowhere.csv", "--target", "y"]);
    assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(2), "onward: nowhere.csv: no such file\n"));
}

#[test]
fn a_folder() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("days")).unwrap();
    let outcome = folder.run(&["learn", "days", "--target", "y"]);
    let message = "onward: days: is a folder; name the files in it, for instance with *\n";
    assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(2), message));
}

#[test]
fn an_empty_file() {
    refused("", Y, "data: is empty; give an input with examples in it");
    refused("\n\n \n", Y, "data: is empty; give an input with examples in it");
}

#[test]
fn empty_standard_input() {
    let outcome = Folder::new().pipe(&["learn", "--target", "y"], b"");
    let message = "onward: standard input: is empty; give an input with examples in it\n";
    assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(2), message));
}

#[test]
fn a_header_and_no_rows() {
    refused("y,x\n", Y, "data: holds a header and no rows; give an input with examples in it");
}

#[test]
fn gzip_that_is_cut_short() {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(rows(20_000).as_bytes()).unwrap();
    let whole = encoder.finish().unwrap();
    let message = "data: ends in the middle of the compressed data; it was cut short: copy or download it again";
    refused(&whole[..whole.len() / 2], Y, message);
    refused(&whole[..whole.len() - 1], Y, message);
}

#[test]
fn zstandard_that_is_cut_short() {
    let whole = zstd::encode_all(rows(20_000).as_bytes(), 3).unwrap();
    let message = "data: ends in the middle of the compressed data; it was cut short: copy or download it again";
    refused(&whole[..whole.len() / 2], Y, message);
    refused(&whole[..whole.len() - 1], Y, message);
}

#[test]
fn compressed_data_that_is_damaged() {
    let mut encoder = zstd::Encoder::new(Vec::new(), 3).unwrap();
    encoder.include_checksum(true).unwrap();
    encoder.write_all(rows(20_000).as_bytes()).unwrap();
    let mut whole = encoder.finish().unwrap();
    // The last byte is of the checksum.
    *whole.last_mut().unwrap() ^= 1;
    let folder = Folder::new();
    folder.write("data", whole);
    let outcome = folder.run(&["learn", "data", "-q", "--target", "y"]);
    assert_eq!(outcome.code, Some(2));
    assert!(outcome.stderr.starts_with("onward: data: the compressed data is damaged ("), "{}", outcome.stderr);
}

#[test]
fn binary_noise() {
    let noise: Vec<u8> = (0..4096u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let message = "data: is binary data, in no format that Onward reads; formats are csv, tsv, jsonl, \
                   svmlight, vw, parquet and arrow, as they are or in gzip or zstd";
    refused(&noise, Y, message);
    // Whoever says that it is CSV is told what is wrong with it as such.
    let message = "data, line 1: is not UTF-8: bytes bb 77 33 ef after '\\0'; convert the file to UTF-8, for instance \
                   with iconv, or skip such records with --on-error skip";
    refused(&noise, &["--target", "y", "--format", "csv"], message);
}

#[test]
fn a_label_that_is_not_a_number_in_line_81402() {
    let mut text = String::from("delay,x\n");
    for line in 2..=90_000 {
        let label = if line == 81_402 { "late".to_owned() } else { format!("{}.5", line % 90) };
        text.push_str(&format!("{label},{}\n", line % 13));
    }
    let remedy = "fix the record, or skip such records with --on-error skip; for classes, name the positive one: --target 'delay==CLASS'";
    let message = format!("data, line 81402, column 'delay': the label must be a finite number; got 'late'; {remedy}");
    refused(&text, &["--target", "delay"], &message);
}

#[test]
fn a_column_that_does_not_exist() {
    refused(rows(50), &["--target", "Y"], "data: --target names 'Y', which is not a column; did you mean 'y'?");
    refused(
        rows(50),
        &["--target", "Y2"],
        "data: --target names 'Y2', which is not a column; the columns are: y, x, c",
    );
    let message = "data: --ignore names 'carrier', which is not a column; the columns are: y, x, c";
    refused(rows(50), &["--target", "y", "--ignore", "carrier"], message);
}

#[test]
fn no_target() {
    refused(rows(50), &[], "data: the column to predict is not named; name it with --target; the columns are: y, x, c");
}

#[test]
fn a_column_that_is_there_twice() {
    let message =
        "data, line 1: columns 2 and 3 are both named 'x'; rename a column, or use --no-header if this line is data";
    refused("y,x,x\n0,1,2\n", Y, message);
}

#[test]
fn a_header_that_is_data() {
    let message = "data, line 1: the first line should name the columns, found only numbers: 0, 1, 2; use --no-header \
                   if it is data; its columns are then named 1, 2, …";
    refused("0,1,2\n1,3,4\n", Y, message);
}

/// A value in line 62 of a column of numbers.
fn with_value(value: &str) -> String {
    rows(60) + &format!("1,{value},a\n") + &rows(20)[6..]
}

const INFINITE: &str = "is infinite, or beyond the range of 64-bit floats; features must be finite: write a missing value as an empty cell or NA";

#[test]
fn numbers_that_are_too_large() {
    refused(with_value("1e400"), Y, &format!("data, line 62, column 'x': '1e400' {INFINITE}"));
    let message = "data, line 62, column 'x': the value 1e300 is beyond ±3.4e38, the range of 32-bit floats; rescale \
                   the column, or leave it out with --ignore; write a missing value as an empty cell or NA";
    refused(with_value("1e300"), Y, message);
}

#[test]
fn infinity() {
    refused(with_value("inf"), Y, &format!("data, line 62, column 'x': 'inf' {INFINITE}"));
    refused(with_value("-Infinity"), Y, &format!("data, line 62, column 'x': '-Infinity' {INFINITE}"));
}

#[test]
fn nan_is_a_missing_value() {
    let folder = Folder::new();
    folder.write("data", with_value("nan"));
    let report = common::report(&folder, &["data", "--target", "y"]);
    assert_eq!(report["examples"], 81);
}

#[test]
fn what_only_looks_like_a_number() {
    let remedy = "fix the record, use --categorical 'x', or skip such records with --on-error skip";
    for value in ["0x10", "1-2", "12abc"] {
        let message = format!("data, line 62, column 'x': expected a number, found '{value}'; {remedy}");
        refused(with_value(value), Y, &message);
        refused(with_value(value), &["--target", "y", "--numeric", "x"], &message);
        let folder = Folder::new();
        folder.write("data", with_value(value));
        let report = common::report(&folder, &["data", "--target", "y", "--on-error", "skip"]);
        assert_eq!((report["examples"].as_u64(), report["skipped"].as_u64()), (Some(80), Some(1)));
    }
}

#[test]
fn an_index_above_the_limit() {
    let folder = Folder::new();
    folder.write("data", "1 3:1\n0 4194304:1\n");
    let outcome = folder.run(&["learn", "data", "-q"]);
    assert_eq!(outcome.code, Some(2));
    assert!(outcome.stderr.starts_with("onward: data, line 2"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("4194304") && outcome.stderr.contains("--bits"), "{}", outcome.stderr);
}

#[test]
fn a_weight_that_is_negative_or_no_number() {
    let data = |weight: &str| format!("y,x,w\n0,1,1\n1,2,{weight}\n");
    let options = &["--target", "y", "--weight", "w"];
    let rule = "the importance weight must be 0 or from 1e-38 to 3.4e38; got";
    refused(data("-1"), options, &format!("data, line 3, column 'w': {rule} -1"));
    refused(data("nan"), options, &format!("data, line 3, column 'w': {rule} 'nan'"));
    refused(data("inf"), options, &format!("data, line 3, column 'w': {rule} 'inf'"));
    refused(data(""), options, &format!("data, line 3, column 'w': {rule} ''"));
}

#[test]
fn a_line_of_ten_megabytes() {
    let long = rows(50) + &format!("1,2,{}\n", "z".repeat(10_000_000));
    let message = "data, line 52: the record that begins here is longer than 8388608 bytes; close a quote that is \
                   left open, name another format with --format, or allow longer records with --record-limit";
    refused(&long, Y, message);
    let folder = Folder::new();
    folder.write("data", long);
    let report = common::report(&folder, &["data", "--target", "y", "--record-limit", "16M"]);
    assert_eq!(report["examples"], 51);
}

#[test]
fn a_line_of_ten_megabytes_can_be_skipped() {
    let folder = Folder::new();
    folder.write("data", rows(50) + &format!("1,2,{}\n", "z".repeat(10_000_000)) + &rows(50)[6..]);
    let report = common::report(&folder, &["data", "--target", "y", "--on-error", "skip"]);
    assert_eq!((report["examples"].as_u64(), report["skipped"].as_u64()), (Some(100), Some(1)));
}

#[test]
fn a_later_file_that_is_in_another_format() {
    let folder = Folder::new();
    folder.write("data", rows(50));
    folder.write("events", "{\"y\": 1}\n");
    let outcome = folder.run(&["learn", "-q", "data", "events", "--target", "y"]);
    let message = "onward: events: is jsonl, but the first input is csv; all inputs must have one format: convert it \
                   first, or leave it out\n";
    assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(2), message));
}

#[test]
fn lines_that_end_with_carriage_returns_alone() {
    let message = "data: its lines end with carriage returns alone, as on old Macs; make them line feeds, for instance \
                   with tr '\\r' '\\n'";
    refused(rows(50).replace('\n', "\r"), Y, message);
}

#[test]
fn numbers_with_a_decimal_comma() {
    let message = "data, line 2, column 'x': expected a number, found '1,5'; numbers have a decimal point and no \
                   commas: write 1.5 and not 1,5, for instance with sed 's/,/./g', or skip such records with \
                   --on-error skip; if these are not numbers, use --categorical 'x'";
    refused("y;x\n0;1,5\n1;2,5\n", Y, message);
}

#[test]
fn a_quote_that_is_never_closed() {
    let message = "data, line 3: a quote is opened and never closed; close it, or double it if it is part of the text";
    refused("y,x,c\n0,1,a\n1,2,\"b\n0,3,c\n", Y, message);
}

#[test]
fn text_that_is_not_utf_8() {
    let mut bytes = rows(60).into_bytes();
    bytes.extend_from_slice(b"1,2,M\xfcnchen\n");
    let message = "data, line 62: is not UTF-8: bytes fc 6e 63 68 after '1,2,M'; convert the file to UTF-8, for \
                   instance with iconv, or skip such records with --on-error skip";
    refused(&bytes, Y, message);
}

#[test]
fn mixed_line_ends_are_read_alike() {
    let folder = Folder::new();
    folder.write("unix", rows(100));
    let mixed: String =
        rows(100).lines().enumerate().map(|(at, line)| format!("{line}{}", ["\n", "\r\n"][at % 2])).collect();
    folder.write("mixed", mixed + "\r\n\n");
    let risk = |name: &str| common::report(&folder, &[name, "--target", "y"])["sequential_risk"].clone();
    assert_eq!(risk("unix"), risk("mixed"));
}

#[test]
fn ragged_rows() {
    let remedy = "quote cells that hold the delimiter, or skip such records with --on-error skip";
    refused(
        "y,x,c\n0,1,a\n1,2\n",
        Y,
        &format!("data, line 3: the record has 2 cells where the header has 3; {remedy}"),
    );
    refused("y,x,c\n0,1,a,b\n", Y, &format!("data, line 2: the record has 4 cells where the header has 3; {remedy}"));
}

#[test]
fn a_target_that_is_also_ignored() {
    let message = "data: column 'y' is named in both --target and --ignore; name it in one of the two";
    refused(rows(50), &["--target", "y", "--ignore", "y"], message);
}

#[test]
fn two_targets() {
    let folder = Folder::new();
    let outcome = folder.run(&["learn", "data", "--target", "y", "--target", "x"]);
    assert_eq!(outcome.code, Some(2));
    assert!(outcome.stderr.contains("'--target <COLUMN>' cannot be used multiple times"), "{}", outcome.stderr);
}

#[test]
fn a_third_class() {
    let text = rows(60) + "2,3,a\n";
    let message = "data, line 62, column 'y': the label must be 1 for the positive class and 0 or -1 for the other; got 2; fix the record, or skip such records with --on-error skip; for numbers use --task \
                   regression; for classes name the positive one: --target 'y==CLASS'";
    refused(rows(12_000) + &text[6..], Y, &message.replace("line 62", "line 12062"));
}

#[test]
fn many_classes() {
    let message = "data: target 'c' has more than two values in the first rows: a, b, c, …; name the positive one, \
                   --target 'c==a', or compare numbers, --target 'c>0'";
    refused(rows(50), &["--target", "c"], message);
}

#[test]
fn parquet_that_is_cut_short() {
    let folder = Folder::new();
    folder.write("data", b"PAR1 and then nothing that a footer could be");
    let outcome = folder.run(&["learn", "data", "-q", "--target", "y"]);
    assert_eq!(outcome.code, Some(2));
    assert!(outcome.stderr.starts_with("onward: data: "), "{}", outcome.stderr);
}

#[test]
fn an_output_that_is_an_input() {
    let folder = Folder::new();
    folder.write("data", rows(50));
    for flag in ["--model", "--predictions", "--report"] {
        let outcome = folder.run(&["learn", "data", "-q", "--target", "y", flag, "./data"]);
        let message = format!("onward: {flag} ./data is also an input and would be overwritten; name another file\n");
        assert_eq!((outcome.code, outcome.stderr), (Some(2), message));
    }
    assert_eq!(folder.read("data"), rows(50));
}

#[test]
fn two_outputs_that_are_one() {
    let folder = Folder::new();
    folder.write("data", rows(50));
    let outcome = folder.run(&["learn", "data", "-q", "--target", "y", "--model", "out", "--report", "out"]);
    let message = "onward: --model and --report both write to out; name another file for one of them\n";
    assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(2), message));
    let outcome = folder.run(&["learn", "data", "-q", "--target", "y", "--predictions", "-", "--report", "-"]);
    let message = "onward: --predictions and --report both write to standard output; name another file for one of \
                   them\n";
    assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(2), message));
}

#[test]
fn two_outputs_that_are_one_by_two_names() {
    let folder = Folder::new();
    folder.write("data", rows(50));
    std::fs::create_dir(folder.path("sub")).unwrap();
    folder.succeed(&["learn", "data", "-q", "--target", "y", "--model", "model"]);
    let whole = folder.path("out").display().to_string();
    for other in ["./out", "sub/../out", &whole] {
        let twice = |first: &str| {
            format!(
                "onward: {first} and --report both write to out; name another file for one of \
                                   them\n"
            )
        };
        for flag in ["--model", "--predictions"] {
            let outcome = folder.run(&["learn", "data", "-q", "--target", "y", flag, other, "--report", "out"]);
            assert_eq!((outcome.code, outcome.stderr), (Some(2), twice(flag)));
        }
        let outcome = folder.run(&["predict", "model", "data", "-q", "--predictions", other, "--report", "out"]);
        assert_eq!((outcome.code, outcome.stderr), (Some(2), twice("--predictions")));
    }
    let message = "onward: --predictions and --report both write to standard output; name another file for one of \
                   them\n";
    for other in ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"] {
        for (report, predictions) in [("-", other), (other, "-"), (other, "/dev/stdout")] {
            let outputs = ["-q", "--predictions", predictions, "--report", report];
            let outcome = folder.run(&[&["learn", "data", "--target", "y"], &outputs[..]].concat());
            assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(2), message));
            let outcome = folder.run(&[&["predict", "model", "data"], &outputs[..]].concat());
            assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(2), message));
        }
    }
    assert_eq!(folder.files(), ["data", "model", "sub"]);
    // Devices are no files that replace one another.
    folder.succeed(&["learn", "data", "--target", "y", "--predictions", "/dev/null", "--report", "/dev/null"]);
}

#[test]
fn an_output_that_is_the_model_to_continue_from() {
    let folder = Folder::new();
    folder.write("data", rows(50));
    folder.succeed(&["learn", "data", "-q", "--target", "y", "--model", "model"]);
    let before = std::fs::read(folder.path("model")).unwrap();
    for flag in ["--predictions", "--report"] {
        let outcome = folder.run(&["learn", "data", "-q", "--init", "model", flag, "./model"]);
        let message = format!("onward: {flag} ./model is also an input and would be overwritten; name another file\n");
        assert_eq!((outcome.code, outcome.stderr), (Some(2), message));
    }
    assert_eq!(std::fs::read(folder.path("model")).unwrap(), before);
    folder.succeed(&["learn", "data", "-q", "--init", "model", "--model", "model"]);
}

#[test]
fn an_output_in_a_folder_that_is_not_there() {
    let folder = Folder::new();
    folder.write("data", rows(50));
    let outcome = folder.run(&["learn", "data", "-q", "--target", "y", "--model", "models/m"]);
    assert_eq!(outcome.code, Some(2));
    assert!(outcome.stderr.starts_with("onward: models/m: cannot be written: "), "{}", outcome.stderr);
    assert!(outcome.stderr.ends_with(": its folder does not exist; create it\n"), "{}", outcome.stderr);
}

#[test]
fn passes_over_a_pipe() {
    let outcome = Folder::new().pipe(&["learn", "--target", "y", "--passes", "2"], rows(50).as_bytes());
    let message = "onward: --passes must be 1 for standard input, which can be read only once; or save it to a file\n";
    assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(2), message));
}

#[test]
fn parameters_out_of_range() {
    let all = onward::registry::LEARNERS.iter().map(|entry| entry.name).collect::<Vec<_>>().join(", ");
    let near = format!("there is no learner 'nga'; did you mean 'nag'? The learners are: {all}");
    let far = format!("there is no learner 'forest'; the learners are: {all}");
    for (options, message) in [
        (vec!["--learner", "nga"], near.as_str()),
        (vec!["--learner", "forest"], far.as_str()),
        (
            vec!["--learner", "nag:etta=1"],
            "nag has no parameter 'etta'; did you mean 'eta'? Its parameters are: eta, \
                standardise",
        ),
        (vec!["--learner", "nag:rate=1"], "nag has no parameter 'rate'; its parameters are: eta, standardise"),
        (vec!["--learner", "nag:eta=0"], "eta of nag must be above 0; got 0"),
        (vec!["--learner", "nag:eta=fast"], "eta of nag must be a number above 0; got fast"),
        (vec!["--radius", "-1"], "--radius must be above 0; got -1"),
        (vec!["--bits", "31"], "--bits must be from 1 to 30; got 31"),
        (vec!["--ngrams", "0"], "--ngrams must be from 1 to 8; got 0"),
        (vec!["--threads", "0"], "--threads must be from 1 to 256; got 0"),
        (
            vec!["--loss", "logistic", "--task", "regression"],
            "--task must be binary for the logistic loss; got regression",
        ),
        (
            vec!["--learner", "perceptron", "--loss", "hinge"],
            "the perceptron counts mistakes, so its loss must be zero-one; got hinge",
        ),
    ] {
        let options: Vec<&str> = Y.iter().copied().chain(options).collect();
        refused(rows(50), &options, message);
    }
}

#[test]
fn a_loss_that_is_misspelt() {
    let folder = Folder::new();
    folder.write("data", rows(50));
    for (typed, meant) in
        [("logisti", "logistic"), ("logistc", "logistic"), ("sqaured", "squared"), ("hinge-", "hinge")]
    {
        let outcome = folder.run(&["learn", "data", "-q", "--target", "y", "--loss", typed]);
        let message = format!("onward: there is no loss '{typed}'; did you mean '{meant}'? The losses are: squared, ");
        assert!(outcome.stderr.starts_with(&message), "{}", outcome.stderr);
        assert_eq!(outcome.code, Some(2));
    }
}

#[test]
fn options_that_a_format_does_not_have_are_remarked_upon() {
    let folder = Folder::new();
    folder.write("data", rows(50));
    folder.write("svm", "1 1:2\n0 1:3\n");
    folder.write("vw", "1 |a x\n-1 |a y\n");
    folder.succeed(&["convert", "-q", "data", "data.parquet"]);
    folder.succeed(&["convert", "-q", "data", "data.arrow", "--target", "y"]);
    folder.succeed(&["convert", "-q", "data", "data.jsonl"]);
    folder.succeed(&["learn", "-q", "svm", "--model", "model"]);
    let header = |format: &str| format!("--no-header has no effect: it is for csv and tsv, and this is {format}\n");
    let limit = "--record-limit has no effect: it is for text formats, and this is parquet\n";
    for (arguments, message) in [
        (&["learn", "data.jsonl", "--target", "y", "--no-header"][..], header("jsonl")),
        (&["learn", "svm", "--no-header"], header("svmlight")),
        (&["learn", "vw", "--no-header"], header("vw")),
        (&["learn", "data.parquet", "--target", "y", "--no-header"], header("parquet")),
        (&["learn", "data.arrow", "--no-header"], header("arrow")),
        (&["learn", "data.parquet", "--target", "y", "--record-limit", "8M"], limit.to_owned()),
        (&["predict", "model", "svm", "--no-header"], header("svmlight")),
        (&["convert", "svm", "out.vw", "--no-header"], header("svmlight")),
    ] {
        let outcome = folder.succeed(arguments);
        assert!(outcome.stderr.contains(&message), "{arguments:?}: {}", outcome.stderr);
    }
}

#[test]
fn options_that_a_copy_of_a_table_would_ignore() {
    let folder = Folder::new();
    folder.write("data", rows(50));
    let copied = "cannot be used here, because jsonl keeps the table as it is; convert to svmlight, vw or arrow for \
                  encoded examples";
    for (arguments, named) in [
        (&["convert", "data", "out.jsonl", "--target", "y"][..], "--target"),
        (&["convert", "data", "out.jsonl", "--bits", "9", "--id", "c"], "--id and --bits"),
    ] {
        let outcome = folder.run(arguments);
        assert_eq!((outcome.code, outcome.stderr), (Some(2), format!("onward: {named} {copied}\n")), "{arguments:?}");
        assert_eq!(folder.files(), ["data"]);
    }
    folder.succeed(&["convert", "data", "out.jsonl", "--ignore", "c", "--categorical", "x"]);
}

#[test]
fn word_sequences_without_text_are_remarked_upon() {
    let folder = Folder::new();
    folder.write("data", rows(50));
    let note = "--ngrams has no effect: no column is text; name text columns in --text\n";
    for options in [&["learn", "data"][..], &["convert", "data", "out.vw"]] {
        let with = |more: &[&str]| {
            let arguments: Vec<&str> = options.iter().chain(&["--target", "y"]).chain(more).copied().collect();
            folder.succeed(&arguments).stderr
        };
        assert!(with(&["--ngrams", "2"]).contains(note));
        assert!(!with(&["--ngrams", "2", "--text", "c"]).contains("--ngrams"));
        assert!(!with(&[]).contains("--ngrams"));
    }
}

#[test]
fn bits_where_nothing_is_hashed_are_remarked_upon() {
    let folder = Folder::new();
    folder.write("data", rows(50));
    folder.write("events", "{\"y\": 0, \"x\": 1}\n{\"y\": 1, \"x\": 2}\n");
    folder.write("svm", "1 1:2\n0 1:3\n");
    let note = "--bits has no effect: only categories, text, dates and interactions are hashed, and there are none\n";
    let said = |arguments: &[&str]| folder.succeed(&[&["learn"], arguments].concat()).stderr;
    assert!(said(&["data", "--target", "y", "--ignore", "c", "--bits", "3"]).contains(note));
    assert!(!said(&["data", "--target", "y", "--ignore", "c"]).contains("--bits"));
    // Categories, keys that come later, and indices that are limited.
    assert!(!said(&["data", "--target", "y", "--bits", "3"]).contains(note));
    assert!(!said(&["events", "--target", "y", "--bits", "3"]).contains(note));
    assert!(!said(&["svm", "--bits", "3"]).contains(note));
}

#[test]
fn a_namespace_that_does_not_exist() {
    let remedy = |found: &str| {
        format!("data: --ignore names 'b', which is not a namespace in the first rows; the namespaces are: {found}")
    };
    refused("1 | x\n-1 | y\n", &["--ignore", "b"], &remedy("(unnamed)"));
    refused("1 | x\n-1 |a y\n", &["--ignore", "b"], &remedy("(unnamed), a"));
}

#[test]
fn bad_records_can_be_skipped_and_are_counted() {
    let folder = Folder::new();
    let mut bytes = rows(100).into_bytes();
    bytes.extend_from_slice(b"1,2\n1,inf,a\n0,1,\xff\n7,1,a\n1,5,\"b\nc\",d\n0,1,b\n");
    folder.write("data", bytes);
    let report =
        common::report(&folder, &["data", "--target", "y", "--on-error", "skip", "--numeric", "x", "--task", "binary"]);
    assert_eq!((report["examples"].as_u64(), report["skipped"].as_u64()), (Some(101), Some(5)));
}

#[test]
fn a_damaged_model_is_refused_by_what_is_wrong() {
    let folder = Folder::new();
    folder.write("data", rows(50));
    folder.succeed(&["learn", "data", "-q", "--target", "y", "--model", "model"]);
    let whole = std::fs::read(folder.path("model")).unwrap();
    let no_model = "is not a model; models are the safetensors files that Onward saves";
    let cut = |length: usize, what: &str, whole: usize| {
        format!("is cut short: it has {length} bytes where {what} {whole}; copy it again, or learn it again")
    };
    let (all, header) = (whole.len(), 8 + u64::from_le_bytes(*whole.first_chunk().unwrap()) as usize);
    let order = "the model comes first: onward predict MODEL INPUT";
    for (name, bytes, message) in [
        ("cut", &whole[..all - 3], cut(all - 3, "its header says", all)),
        ("cut_early", &whole[..header - 1], cut(header - 1, "its header alone takes", header)),
        ("empty", &[][..], format!("is empty; it must hold a model; {order}")),
        ("noise", b"hello there, I am no model".as_slice(), format!("{no_model}; {order}")),
    ] {
        folder.write(name, bytes);
        let outcome = folder.run(&["predict", name, "data"]);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(2), ""));
        assert_eq!(outcome.stderr, format!("onward: {name}: {message}\n"));
    }
    let outcome = folder.run(&["predict", "data", "model"]);
    assert_eq!(outcome.stderr, format!("onward: data: {no_model}; model may be one; the model comes first\n"));
    let outcome = folder.run(&["inspect", "data"]);
    assert_eq!((outcome.code, outcome.stderr), (Some(2), format!("onward: data: {no_model}\n")));
    let outcome = folder.run(&["learn", "-q", "data", "--init", "data"]);
    assert_eq!((outcome.code, outcome.stderr), (Some(2), format!("onward: data: {no_model}\n")));
    let mut flipped = whole.clone();
    let last = flipped.len() - 1;
    flipped[last] ^= 1;
    folder.write("flipped", flipped);
    let outcome = folder.run(&["predict", "flipped", "data"]);
    assert_eq!(
        outcome.stderr,
        "onward: flipped: is damaged: its checksum does not match its contents; copy it again, or learn it again\n"
    );
}

#[test]
fn data_that_a_model_does_not_fit() {
    let folder = Folder::new();
    folder.write("data", rows(50));
    folder.write("other", "a,b\n1,2\n");
    folder.write("svm", "1 2:3\n");
    folder.succeed(&["learn", "data", "-q", "--target", "y", "--model", "model"]);
    let outcome = folder.run(&["predict", "model", "other", "-q"]);
    let message = "onward: other: has none of the model's columns, x, c; name another input, or give this one a header with \
         these names\n";
    assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(2), message));
    let outcome = folder.run(&["predict", "model", "svm", "-q"]);
    let message = "onward: svm: the model was learnt from named columns, but this is svmlight; name its format with \
                   --format if it is another one, convert it, or learn a model from it\n";
    assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(2), message));
}

#[test]
fn options_that_a_continued_model_would_ignore() {
    let folder = Folder::new();
    folder.write("data", rows(50));
    folder.succeed(&["learn", "data", "-q", "--target", "y", "--model", "model"]);
    let refused = |options: &[&str], named: &str| {
        let arguments: Vec<&str> = ["learn", "--init", "model", "data", "-q"].iter().chain(options).copied().collect();
        let outcome = folder.run(&arguments);
        assert_eq!(outcome.code, Some(2));
        let is_named =
            outcome.stderr.contains("'--init <MODEL>' cannot be used with") && outcome.stderr.contains(named);
        assert!(is_named, "{named}: {}", outcome.stderr);
    };
    for (option, value) in [
        ("--target", "y"),
        ("--task", "binary"),
        ("--ignore", "c"),
        ("--categorical", "x"),
        ("--numeric", "x"),
        ("--text", "c"),
        ("--weight", "x"),
        ("--id", "c"),
        // What is the default is ignored all the same.
        ("--ngrams", "1"),
        ("--bits", "22"),
        ("--loss", "logistic"),
        ("--learner", "nag"),
        ("--radius", "2"),
    ] {
        refused(&[option, value], option);
    }
    refused(&["--bits", "18", "--ignore", "c"], "--ignore <COLUMN,…>");
    refused(&["--hindsight"], "--hindsight");
    folder.succeed(&["learn", "--init", "model", "data", "-q", "--passes", "2", "--threads", "1", "--format", "csv"]);
}
