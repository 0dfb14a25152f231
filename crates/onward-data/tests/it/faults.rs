//! What is said of inputs that are not what they should be, and how much of them is read.

use std::io::Write;

use onward_data::{Format, OnError, Options};

use crate::text::{self, read, read_files};

fn target(text: &str) -> Options {
    Options { target: Some(text.to_owned()), ..Options::default() }
}

fn skipping(text: &str) -> Options {
    Options { on_error: OnError::Skip, ..target(text) }
}

fn error(text: impl AsRef<[u8]>, options: Options) -> String {
    read(text, options).error.unwrap()
}

/// A table of numbers y (0 or 1) and x.
fn table(rows: usize) -> String {
    "y,x\n".to_owned() + &numbers(rows)
}

fn numbers(rows: usize) -> String {
    (0..rows).map(|at| format!("{},{}\n", at % 2, at % 17)).collect()
}

const NEVER_CLOSED: &str = "a quote is opened and never closed; close it, or double it if it is part of the text";

#[test]
fn an_open_quote_is_told_by_the_line_of_its_cell() {
    assert_eq!(error("y,x\n0,a\n1,\"b\n0,c\n", target("y")), format!("input, line 3: {NEVER_CLOSED}"));
    let later = "y,x,z\n0,a,b\n1,\"b\nc\",\"d\n0,e,f\n";
    assert_eq!(error(later, target("y")), format!("input, line 4: {NEVER_CLOSED}"));
    // There may be more cells before it than the header has.
    assert_eq!(error("y,x\n0,a\n1,2,\"b\n0,c\n", target("y")), format!("input, line 3: {NEVER_CLOSED}"));
    assert_eq!(error("\ny,\"x\n0,a\n", target("y")), format!("input, line 2: {NEVER_CLOSED}"));
    for chunk_size in [1, 1 << 18] {
        let outcome = read(table(50) + "1,\"2\n" + &numbers(50), Options { chunk_size, ..target("y") });
        assert_eq!((outcome.rows.len(), outcome.error.unwrap()), (50, format!("input, line 52: {NEVER_CLOSED}")));
    }
}

#[test]
fn an_open_quote_costs_one_line_when_bad_records_are_skipped() {
    let text = table(50) + "1,\"2\n" + &numbers(50);
    for chunk_size in [1, 100, 1 << 18] {
        let outcome = read(&text, Options { chunk_size, ..skipping("y") }).whole();
        assert_eq!((outcome.rows.len(), outcome.skipped), (100, 1));
        assert_eq!(outcome.errors, [format!("input, line 52: {NEVER_CLOSED}")]);
        assert_eq!(outcome.rows, read(table(50) + &numbers(50), target("y")).rows);
    }
}

#[test]
fn of_a_record_of_several_lines_those_up_to_the_open_quote_are_skipped() {
    let text = table(50) + "1,\"2\n3\",\"4\n" + &numbers(50);
    let outcome = read(text, skipping("y")).whole();
    assert_eq!((outcome.rows.len(), outcome.skipped), (100, 1));
    assert_eq!(outcome.errors, [format!("input, line 53: {NEVER_CLOSED}")]);
}

#[test]
fn a_quote_that_swallows_lines_up_to_another_is_pointed_out() {
    let text = "y,x,z\n0,1,2\n1,\"2,3\n0,1,2\n1,2,\"3\"\n0,1,2\n";
    assert_eq!(
        error(text, target("y")),
        "input, line 3: the record, going on for 3 lines, has 2 cells where the header has 3; close a quote that is \
         left open, quote cells that hold the delimiter, or skip such records with --on-error skip"
    );
}

#[test]
fn a_record_that_is_too_long_is_skipped_without_being_kept() {
    let long = "9".repeat(10_000);
    // After a quote that is not closed within the limit, only its line is passed over.
    for (record, rows, skipped) in [
        (format!("1,{long}\n"), 100, 1),
        (format!("1,\"{long}\"\n"), 100, 1),
        (format!("1,\"2\n{long}\"\n"), 100, 2),
        (format!("1,\"{}", numbers(1000)), 1099, 1),
    ] {
        for chunk_size in [1, 100] {
            let text = table(50) + &record + &numbers(50);
            let outcome = read(text, Options { chunk_size, record_limit: 1000, ..skipping("y") }).whole();
            assert_eq!((outcome.rows.len(), outcome.skipped), (rows, skipped), "{:?}", outcome.errors);
            assert!(outcome.errors[0].starts_with("input, line 52: the record that begins here is longer than"));
        }
    }
    let text = "1 1:1\n".repeat(30) + &format!("0 {}\n", "1:1 ".repeat(1000)) + &"0 2:1\n".repeat(30);
    let outcome =
        read(text, Options { record_limit: 1000, chunk_size: 64, on_error: OnError::Skip, ..Options::default() });
    assert_eq!((outcome.rows.len(), outcome.skipped, &outcome.error), (60, 1, &None));
    assert_eq!(
        outcome.errors,
        ["input, line 31: the record that begins here is longer than 1000 bytes; close a quote that is left open, \
          name another format with --format, or allow longer records with --record-limit"]
    );
}

#[test]
fn a_first_row_that_is_longer_than_what_columns_are_judged_from() {
    let text = |length: usize| format!("y,x,c\n0,1,{}\n1,2,b\n", "a".repeat(length));
    assert_eq!(read(text(6 << 20), target("y")).whole().rows.len(), 2);
    let json = format!("{{\"y\": 0, \"x\": \"{}\"}}\n{{\"y\": 1, \"x\": \"b\"}}\n", "a".repeat(6 << 20));
    assert_eq!(read(json, target("y")).whole().rows.len(), 2);
    let message = "input, line 2: the first row must end within";
    let found = error(text(20 << 20), skipping("y"));
    assert!(found.starts_with(message), "{found}");
    let line = error("y".repeat(20 << 20), target("y"));
    assert!(line.starts_with("input, line 1: the record that begins here is longer than 8388608 bytes; "), "{line}");
}

#[test]
fn a_last_record_that_is_too_long_is_skipped() {
    let text = table(50) + "1," + &"9".repeat(600_000);
    let options = Options { record_limit: 1000, chunk_size: 100, ..skipping("y") };
    let outcome = read(text, options).whole();
    assert_eq!((outcome.rows.len(), outcome.skipped), (50, 1));
}

#[test]
fn when_nothing_is_left_to_learn_from_the_fault_behind_it_is_told() {
    assert!(
        error(b"y,x\n0,M\xfcnchen\n1,Berlin\n", target("y")).starts_with("input, line 2: is not UTF-8: bytes fc 6e")
    );
    assert_eq!(error("y,x\n1,\"a\n0,b\n", target("y")), format!("input, line 2: {NEVER_CLOSED}"));
    let ragged = error("y,x\n0,7\n1,7\n0,7,8\n1,6\n", target("y"));
    assert_eq!(read("y,x\n0,1\n1,abc\n0,3\n", target("y")).whole().rows.len(), 3);
    assert!(ragged.starts_with("input, line 4: the record has 3 cells where the header has 2; "), "{ragged}");
    let only = error("y,x\n0,7\n1,7\n0,7\n1,7,8\n", target("y"));
    assert!(only.starts_with("input, line 5: the record has 3 cells"), "{only}");
    let json = error("{\"y\": 1, \"x\": 2}\n{\"y\": 0, \"x\": 2}\nnonsense\n", target("y"));
    assert!(json.starts_with("input, line 3: expected an object"), "{json}");
}

#[test]
fn when_nothing_is_left_to_learn_from_it_is_told_why() {
    let ids: String = (0..30).map(|at| format!("{},k{at},7,\n", at % 2)).collect();
    assert_eq!(
        error(format!("y,id,c,e\n{ids}"), target("y")),
        "input: no column is left to learn from: treated as categories because they are empty in the first 30 rows (else \
         name them in --numeric): e; constant in the first 30 rows, ignored until they change: c; ignored because no value repeats in the first 30 rows (else name them in --categorical or --text): id; name such columns in \
         --numeric, --categorical or --text"
    );
    assert_eq!(
        error("y\n0\n1\n", target("y")),
        "input: no column is left to learn from: there are only the target and what options leave out; name another \
         format with --format, or fewer columns in --ignore, --id and --weight"
    );
}

#[test]
fn a_few_rows_with_a_word_among_numbers_are_learnt() {
    assert_eq!(read("y,x\n0,1\n1,abc\n", target("y")).whole().rows.len(), 2);
}

#[test]
fn bad_rows_do_not_end_the_look_at_the_first_rows() {
    let text = "y,x\n0,1\n1,2,3\n".to_owned() + &numbers(30);
    let outcome = read(text, skipping("y")).whole();
    assert!(outcome.notes.iter().any(|note| note == "numbers: x"), "{:?}", outcome.notes);
    assert_eq!((outcome.rows.len(), outcome.skipped), (31, 1));
}

#[test]
fn semicolons_and_bars_separate_where_there_is_no_comma() {
    let commas = "y,x,c\n0,1.5,a\n1,2.5,\"b;|,c\"\n0,3,a\n".to_owned();
    let expected = read(&commas, target("y")).whole();
    for mark in [";", "|"] {
        let text = commas.replace(",c\"", "@").replace(',', mark).replace('@', ",c\"");
        let outcome = read(text, target("y")).whole();
        assert_eq!(outcome.rows, expected.rows);
        assert_eq!(outcome.notes[0], format!("format: csv, separated by '{mark}'"));
    }
    let outcome = read(
        commas.replace(",c\"", "@").replace(',', "\t").replace('@', ",c\""),
        Options { format: Some(Format::CSV), ..target("y") },
    );
    assert_eq!(outcome.rows, expected.rows);
    // One comma outside of quotes is enough.
    assert_eq!(read("y;z,x\n0,1\n1,2\n", target("y;z")).whole().rows.len(), 2);
    assert_eq!(read("\"y,z\";x\n0;1\n1;2\n", target("y,z")).whole().rows.len(), 2);
}

#[test]
fn decimal_commas_are_an_error() {
    let remedy = "numbers have a decimal point and no commas: write 1.5 and not 1,5, for instance with sed 's/,/./g', \
                  or skip such records with --on-error skip";
    assert_eq!(
        error("y;x\n0;1\n1;2,5\n", target("y")),
        format!(
            "input, line 3, column 'x': expected a number, found '2,5'; {remedy}; if these are not numbers, use \
                 --categorical 'x'"
        )
    );
    assert_eq!(
        error("y\tx\n0,5\t1\n1,5\t2\n", target("y")),
        format!("input, line 2, column 'y': the label must be a finite number; got '0,5'; {remedy}")
    );
    // In a CSV with commas they may be lists of something.
    assert_eq!(read("y,x\n0,\"1,2\"\n1,\"2,5\"\n", target("y")).whole().rows.len(), 2);
}

#[test]
fn carriage_returns_alone() {
    let message = "input: its lines end with carriage returns alone, as on old Macs; make them line feeds, for instance \
                   with tr '\\r' '\\n'";
    assert_eq!(error("y,x\r0,1\r1,2\r", target("y")), message);
    assert_eq!(error("1 1:1\r0 2:1\r", Options::default()), message);
}

#[test]
fn what_is_no_table_is_not_called_a_header() {
    let error_of = |text: &str| error(text, Options::default());
    assert_eq!(
        error_of("1 -1:1\n"),
        "input, line 1: the index must be a whole number; got '-1'; features have whole numbers from 0; for namespaces and names use Vowpal Wabbit's text: --format vw"
    );
    assert_eq!(
        error_of("PAR"),
        "input: holds one line, 'PAR', which as CSV is a header; if it was cut short, copy it again; if it is in another format, name it with --format"
    );
    assert_eq!(error("y,x\n", target("y")), "input: holds a header and no rows; give an input with examples in it");
}

#[test]
fn files_of_blank_lines_are_passed_over() {
    let rows = table(30);
    let outcome =
        read_files(&[("a", b"\n\n \n"), ("b", b""), ("c", rows.as_bytes()), ("d", b"\n")], target("y")).whole();
    assert_eq!(outcome.rows, read(&rows, target("y")).rows);
    let blank = "\n".repeat(5 << 20) + &table(30) + "1,\n1,2,3\n";
    let outcome = read(blank, target("y"));
    assert_eq!(outcome.rows.len(), 31);
    assert!(outcome.error.unwrap().starts_with(&format!("input, line {}: ", (5 << 20) + 33)));
}

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn what_comes_before_the_point_where_reading_fails_is_read() {
    let text = table(200_000);
    let whole = gzip(&text);
    let cut = &whole[..whole.len() / 2];
    let message = "input: ends in the middle of the compressed data; it was cut short: copy or download it again";
    for chunk_size in [1000, 1 << 18] {
        let outcome = read(cut, Options { chunk_size, ..target("y") });
        assert_eq!(outcome.error.as_deref(), Some(message));
        // Stored without compression: all but what the decoder has not handed out.
        let bytes: usize = text.split_inclusive('\n').take(outcome.rows.len() + 1).map(str::len).sum();
        assert!(bytes + (64 << 10) > cut.len() && bytes <= cut.len(), "{bytes} of {}", cut.len());
    }
    // Nothing is made of what is too little to be looked at.
    for length in [20, 23] {
        assert_eq!(error(&whole[..length], target("y")), message);
    }
}

#[test]
fn a_later_file_in_another_format_is_told_before_the_first_is_read() {
    let rows = table(30);
    let remedy = "all inputs must have one format: convert it first, or leave it out";
    for (content, format) in [
        (&b"{\"y\": 1, \"x\": 2}\n"[..], "jsonl"),
        (b"1 1:1\n", "svmlight"),
        (b"1 |a b\n", "vw"),
        (b"PAR1....", "parquet"),
        (b"\0\x01\x02\x03", "binary data"),
    ] {
        let outcome = read_files(&[("first", rows.as_bytes()), ("second", content)], target("y"));
        let message = format!("second: is {format}, but the first input is csv; {remedy}");
        assert_eq!((outcome.error, outcome.rows.len()), (Some(message), 0));
    }
    let outcome = read_files(&[("first", b"1 1:1\n0 2:1\n"), ("second", b"1 |a b\n")], Options::default());
    assert_eq!(outcome.error.unwrap(), format!("second: is vw, but the first input is svmlight; {remedy}"));
    // A label without features is recognised as nothing.
    let outcome = read_files(&[("first", b"1 1:1\n0 2:1\n"), ("second", b"1\n0 1:1\n")], Options::default());
    assert_eq!(outcome.whole().rows.len(), 4);
}

#[test]
fn a_later_table_without_the_target_is_told() {
    let rows = table(30);
    let files = [("first", rows.as_bytes()), ("second", b"Y,x\n0,1\n")];
    let outcome = read_files(&files, target("y"));
    let message = "second: --target names 'y', which is not a column; did you mean 'Y'?";
    assert_eq!((outcome.error.as_deref(), outcome.rows.len()), (Some(message), 0));
    // Where columns differ in their order, they are bound by name.
    let outcome = read_files(&[("first", rows.as_bytes()), ("second", b"x,y\n5,1\n")], target("y")).whole();
    assert_eq!((outcome.rows.len(), outcome.rows[30].label), (31, Some(1f64.to_bits())));
    // Who predicts needs no target.
    let schema = read(&rows, target("y")).schema;
    let predicting = Options { schema, require_target: false, ..Options::default() };
    assert_eq!(read_files(&files, predicting).whole().rows.len(), 31);
}

#[test]
fn a_later_file_of_json_without_the_target_is_noted() {
    let rows = b"{\"y\": 1, \"x\": 2}\n{\"y\": 0, \"x\": 3}\n";
    let outcome = read_files(&[("first", rows), ("second", b"{\"x\": 1}\n{\"x\": 2}\n")], target("y")).whole();
    assert_eq!(outcome.notes.last().unwrap(), "second: none of the first 2 rows has 'y'");
    assert_eq!((outcome.rows.len(), outcome.rows[2].label), (4, None));
    let outcome = read_files(&[("first", rows), ("second", rows)], target("y")).whole();
    assert!(!outcome.notes.iter().any(|note| note.starts_with("second")));
}

#[test]
fn a_target_that_is_compared_with_what_does_not_occur() {
    assert_eq!(
        error(table(30), target("y==spam")),
        "input: the target is compared with 'spam', and 'y' holds only numbers: 0, 1, …; compare with a number, \
         --target 'y==1', or name another column"
    );
    let words = "y,x\nham,1\neggs,2\n";
    let note = "'spam' does not occur in the first rows of 'y', which holds ham, eggs, …";
    for (expression, is_said) in [("y==spam", true), ("y!=spam", true), ("y==ham", false)] {
        let outcome = read(words, target(expression)).whole();
        assert_eq!(outcome.notes.iter().any(|line| line == note), is_said, "{expression}");
    }
}

const FIRST: &[u8] = b"a,b,y\n1,x,0\n2,z,1\n3,x,1\n";

/// What predicting, with the model of the first file, says of a second.
fn predicted(second: &[u8]) -> text::Outcome {
    let schema = read_files(&[("first", FIRST)], target("y")).schema;
    let options = Options { schema, require_target: false, ..Options::default() };
    read_files(&[("first", FIRST), ("second", second)], options)
}

#[test]
fn a_later_table_with_none_of_the_columns_is_told_before_the_first_is_read() {
    for (second, message) in [
        (
            &b"a\tb\ty\n1\tx\t0\n"[..],
            "second, line 1: its header is separated by '\\t', but that of the first input by ','",
        ),
        (b"a;b;y\n1;x;0\n", "second, line 1: its header is separated by ';', but that of the first input by ','"),
        (b"c,d,y\n1,x,0\n", "second: has none of the model's columns, a, b; name another input"),
    ] {
        let outcome = predicted(second);
        let error = outcome.error.unwrap();
        assert!(error.starts_with(message), "{error}");
        assert!(outcome.rows.is_empty());
    }
    let learnt = read_files(&[("first", FIRST), ("second", b"a;b;y\n1;x;0\n")], target("y")).error.unwrap();
    assert!(learnt.starts_with("second, line 1: its header is separated by ';'"), "{learnt}");
    let other = read_files(&[("first", FIRST), ("second", b"c,y\n1,0\n")], target("y")).error.unwrap();
    assert!(other.starts_with("second: has none of the first input's columns, a, b"), "{other}");
}

#[test]
fn what_a_later_table_lacks_is_noted_once_for_all_that_lack_it() {
    let second = &b"y,b,c\n1,x,0\n"[..];
    let outcome = predicted(second).whole();
    assert!(
        outcome.notes.contains(&"second: columns of the model that the input lacks, treated as missing: a".to_owned())
    );
    assert!(outcome.notes.contains(&"second: columns that the model does not know, ignored: c".to_owned()));
    let files = [("first", FIRST), ("second", second), ("third", second), ("fourth", FIRST)];
    let outcome = read_files(&files, target("y")).whole();
    let lacks = "second and 1 more: columns of the first input that the input lacks, treated as missing: a";
    assert!(outcome.notes.iter().any(|note| note == lacks), "{:?}", outcome.notes);
    let extra = "second and 1 more: columns that the first input does not have, ignored: c";
    assert!(outcome.notes.iter().any(|note| note == extra), "{:?}", outcome.notes);
    let options = Options { ids: vec!["b".to_owned()], ..target("y") };
    let outcome = read_files(&[("first", FIRST), ("second", b"a,y\n1,0\n")], options).whole();
    assert_eq!(outcome.notes.last().unwrap(), "second: ids that the input lacks, left empty in predictions: b");
    let options = Options { weight: Some("a".to_owned()), ..target("y") };
    let error = read_files(&[("first", FIRST), ("second", b"b,y\nx,0\n")], options).error.unwrap();
    assert_eq!(error, "second: --weight names 'a', which is not a column; the columns are: b, y");
}

#[test]
fn later_json_lines_with_none_of_the_columns() {
    let first = b"{\"a\": 1, \"b\": 2, \"y\": 0}\n{\"a\": 2, \"b\": 3, \"y\": 1}\n";
    let error = read_files(&[("first", first), ("second", b"{\"c\": 1, \"y\": 1}\n")], target("y")).error.unwrap();
    assert!(error.starts_with("second: has none of the first input's columns, a, b"), "{error}");
    let lacking = read_files(&[("first", first), ("second", b"{\"a\": 1, \"y\": 1}\n")], target("y")).whole();
    let note = "second: columns of the first input that the input lacks, treated as missing: b";
    assert_eq!(lacking.notes.last().unwrap(), note);
}

#[test]
fn a_later_header_that_names_a_column_twice() {
    for (header, message) in [
        ("a,b,y,y", "second, line 1: columns 3 and 4 are both named 'y'"),
        ("a,b,y,a", "second, line 1: columns 1 and 4 are both named 'a'"),
    ] {
        let second = format!("{header}\n1,x,0,1\n");
        let outcome = read_files(&[("first", FIRST), ("second", second.as_bytes())], target("y"));
        let error = outcome.error.unwrap();
        assert!(error.starts_with(message), "{error}");
        assert!(outcome.rows.is_empty());
    }
    let outcome = read_files(&[("first", FIRST), ("second", b"a,b,y,\n1,x,0,1\n")], target("y")).whole();
    let note = "second: columns that the first input does not have, ignored: column 4";
    assert!(outcome.notes.iter().any(|found| found == note), "{:?}", outcome.notes);
}

#[test]
fn a_later_table_after_what_is_none() {
    let jsonl = b"{\"a\": 1, \"y\": 0}\n{\"a\": 2, \"y\": 1}\n";
    for (first, second, message) in [
        (&jsonl[..], FIRST, "second: is csv, but the first input is jsonl"),
        (jsonl, b"a\ty\n1\t0\n", "second: is tsv, but the first input is jsonl"),
        (b"1 |f a b\n0 |f a\n", FIRST, "second: is csv, but the first input is vw"),
        (b"1 1:1\n0 2:1\n", FIRST, "second: is csv, but the first input is svmlight"),
        (b"1 1:1\n0 2:1\n", b"1,2,3\n0,1,2\n", "second: is csv, but the first input is svmlight"),
    ] {
        let options = if first == jsonl { target("y") } else { Options::default() };
        let outcome = read_files(&[("first", first), ("second", second)], options);
        let error = outcome.error.unwrap();
        assert!(error.starts_with(message), "{error}");
        assert!(outcome.rows.is_empty());
    }
}

#[test]
fn a_long_first_line_of_svmlight_is_recognised() {
    let line = |label: i32| format!("{label} {}\n", (1..400).map(|at| format!("{at}:0.12345 ")).collect::<String>());
    let outcome = read(line(1) + &line(-1), Options::default()).whole();
    assert_eq!((outcome.format, outcome.rows.len()), (Some(Format::SVMLIGHT), 2));
    // As a later file too.
    let rows = table(30);
    let files = [("first", rows.as_bytes()), ("second", line(1).as_bytes())].map(|(name, text)| (name, text.to_vec()));
    let files: Vec<_> = files.iter().map(|(name, text)| (*name, text.as_slice())).collect();
    let error = read_files(&files, target("y")).error.unwrap();
    assert!(error.starts_with("second: is svmlight, but the first input is csv"), "{error}");
}

#[test]
fn long_names_are_shortened_in_messages() {
    let error = error(format!("{},x\n1,2\n", "n".repeat(5000)), target("label"));
    assert!(error.len() < 300, "{error}");
}

#[test]
fn the_limit_of_records_holds_whatever_the_chunks() {
    let long = "9".repeat(3000);
    for (text, format, rows) in [
        (format!("y,x\n0,1\n1,{long}\n1,2\n"), Format::CSV, 2),
        (format!("y\tx\n0\t1\n1\t{long}\n1\t2\n"), Format::TSV, 2),
        (format!("y,x\n0,1\n1,\"{long}\n\"\n1,2\n"), Format::CSV, 2),
        (format!("y,x\n0,1\n1,2\n1,{long}"), Format::CSV, 2),
        (format!("{{\"y\":0,\"x\":1}}\n{{\"y\":1,\"x\":{long}}}\n{{\"y\":1,\"x\":2}}\n"), Format::JSONL, 2),
        (format!("0 1:1\n1 1:{long}\n1 2:1\n"), Format::SVMLIGHT, 2),
        (format!("0 |f a\n1 |f a{long}\n1 |f b\n"), Format::VW, 2),
    ] {
        for chunk_size in [1, 256 << 10] {
            let named =
                if onward_data::Formats::default().writes_tables(&format) { target("y") } else { Options::default() };
            let options = Options { record_limit: 1000, chunk_size, ..named };
            let error = read(&text, options.clone()).error.unwrap();
            assert!(error.contains("the record that begins here is longer than 1000 bytes"), "{format}: {error}");
            let skipping = read(&text, Options { on_error: OnError::Skip, ..options }).whole();
            // A quote that is open beyond the limit costs its line, and the next is one more.
            let skipped = if text.contains('"') && format == Format::CSV { 2 } else { 1 };
            assert_eq!((skipping.rows.len(), skipping.skipped), (rows, skipped), "{format}");
        }
    }
}

#[test]
fn a_header_that_is_too_long() {
    let header = format!("y,x,{}\n", "z".repeat(10_000));
    let options = Options { record_limit: 1000, ..skipping("y") };
    let message = "line 1: the record that begins here is longer than 1000 bytes";
    let first = error(header.clone() + "0,1,2\n1,2,3\n", options.clone());
    assert!(first.starts_with(&format!("input, {message}")), "{first}");
    let rows = table(30);
    let second = read_files(&[("first", rows.as_bytes()), ("second", header.as_bytes())], options).error.unwrap();
    assert!(second.starts_with(&format!("second, {message}")), "{second}");
}

#[test]
fn a_first_row_that_is_too_long_is_skipped() {
    let text = format!("y,x\n1,{}\n{}", "9".repeat(3000), numbers(30));
    let outcome = read(text, Options { record_limit: 1000, ..skipping("y") }).whole();
    assert_eq!((outcome.rows.len(), outcome.skipped), (30, 1));
}

#[test]
fn files_with_a_header_only_are_passed_over() {
    let outcome = read_files(&[("first", b"a,b,y\n"), ("blank", b"\n"), ("third", FIRST)], target("y")).whole();
    assert_eq!(outcome.rows, read(FIRST, target("y")).rows);
    let outcome = read_files(&[("first", b"\na,b,y\n"), ("second", b"a,b,y\n"), ("third", b"\n")], target("y"));
    let message = "first: holds a header and no rows; give an input with examples in it";
    assert_eq!(outcome.error.as_deref(), Some(message));
}

#[test]
fn a_control_character_makes_no_binary_data() {
    for stray in ["\x0b", "\x1b"] {
        let text = format!("y,x\n0,a{stray}\n1,b\n0,b\n");
        assert_eq!(read(text, target("y")).whole().rows.len(), 3);
    }
    let nul = "y,x\n0,a\0\n1,b\n0,b\n";
    assert!(error(nul, target("y")).starts_with("input: is binary data, in no format that Onward reads"));
    let given = Options { format: Some(Format::CSV), ..target("y") };
    assert_eq!(read(nul, given).whole().rows.len(), 3);
}

#[test]
fn bars_without_a_header_are_a_table() {
    let options = Options { header: false, ..target("1") };
    let outcome = read("0|2|3\n1|5|4\n0|5|7\n", options).whole();
    assert_eq!((outcome.format, outcome.rows.len()), (Some(Format::CSV), 3));
}

#[test]
fn zstandard_may_begin_with_a_frame_to_be_skipped() {
    let rows = zstd::encode_all(table(30).as_bytes(), 0).unwrap();
    let text = [&b"\x50\x2a\x4d\x18\x04\0\0\0\x01\x02\x03\x04"[..], &rows].concat();
    assert_eq!(read(text, target("y")).whole().rows.len(), 30);
}

#[test]
fn what_follows_gzip() {
    let whole = gzip(&table(30));
    let padded = [&whole[..], &[0; 1000]].concat();
    assert_eq!(read(padded, target("y")).whole().rows.len(), 30);
    let two = [whole.clone(), gzip(&numbers(30))].concat();
    assert_eq!(read(two, target("y")).whole().rows.len(), 60);
    let error = read([&whole[..], b"garbage"].concat(), target("y")).error.unwrap();
    assert_eq!(
        error,
        "input: the compressed data is followed by something that is not gzip; cut off what follows, or copy or \
         download it again"
    );
}

#[test]
fn what_is_compressed_twice() {
    let once = gzip(&table(30));
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
    encoder.write_all(&once).unwrap();
    for twice in [encoder.finish().unwrap(), zstd::encode_all(&once[..], 0).unwrap()] {
        assert_eq!(error(&twice, target("y")), "input: is compressed twice; decompress it once");
        let rows = table(30);
        let later = read_files(&[("first", rows.as_bytes()), ("second", &twice)], target("y")).error.unwrap();
        assert!(later.starts_with("second: is compressed twice, but the first input is csv"), "{later}");
    }
}
