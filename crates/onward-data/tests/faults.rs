//! What is said of inputs that are not what they should be, and how much of them is read.

mod text;

use std::io::Write;

use onward_data::{Format, OnError, Options};
use text::{read, read_files};

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
        "input, line 3: the record, going on for 3 lines, has 2 cells where the header has 3; is a quote left open? \
         Quote cells that hold the delimiter, or leave such records out with --on-error skip"
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
        ["input, line 31: the record that begins here is longer than 1000 bytes; is a quote left open, or is the \
          format another one? Else allow it with --record-limit"]
    );
}

#[test]
fn a_first_row_that_is_longer_than_what_columns_are_judged_from() {
    let text = |length: usize| format!("y,x,c\n0,1,{}\n1,2,b\n", "a".repeat(length));
    assert_eq!(read(text(6 << 20), target("y")).whole().rows.len(), 2);
    let json = format!("{{\"y\": 0, \"x\": \"{}\"}}\n{{\"y\": 1, \"x\": \"b\"}}\n", "a".repeat(6 << 20));
    assert_eq!(read(json, target("y")).whole().rows.len(), 2);
    let message = "input, line 2: the first row goes on beyond";
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
        "input: no column is left to learn from: taken as categories since they are empty in the first 30 rows (else \
         name them in --numeric): e; constant in the first 30 rows, ignored until they change: c; ignored since no \
         value repeats in the first 30 rows (else name them in --categorical or --text): id; name such columns in \
         --numeric, --categorical or --text"
    );
    assert_eq!(
        error("y\n0\n1\n", target("y")),
        "input: no column is left to learn from: there are only the target and what options leave out; is the format \
         another one? Else name fewer columns in --ignore, --id and --weight"
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
        Options { format: Some(Format::Csv), ..target("y") },
    );
    assert_eq!(outcome.rows, expected.rows);
    // One comma outside of quotes is enough.
    assert_eq!(read("y;z,x\n0,1\n1,2\n", target("y;z")).whole().rows.len(), 2);
    assert_eq!(read("\"y,z\";x\n0;1\n1;2\n", target("y,z")).whole().rows.len(), 2);
}

#[test]
fn decimal_commas_are_an_error() {
    let remedy = "numbers have a decimal point and no commas: write 1.5 and not 1,5, for instance with sed 's/,/./g', \
                  or leave such records out with --on-error skip";
    assert_eq!(
        error("y;x\n0;1\n1;2,5\n", target("y")),
        format!(
            "input, line 3, column 'x': expected a number, found '2,5'; {remedy}; if these are no numbers, say \
                 --categorical 'x'"
        )
    );
    assert_eq!(
        error("y\tx\n0,5\t1\n1,5\t2\n", target("y")),
        format!("input, line 2, column 'y': the label should be a finite number, found '0,5'; {remedy}")
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
        "input, line 1: the index '-1' is no whole number; features are named by whole numbers, 0 or more; namespaces \
         and names are Vowpal Wabbit's: --format vw"
    );
    assert_eq!(
        error_of("PAR"),
        "input: holds one line, 'PAR', which as CSV is a header; if it was cut short, copy it again; if it is in \
         another format, say so with --format"
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
    let remedy = "a run reads inputs of one format: convert it first with onward convert, or leave it out";
    for (content, format) in [
        (&b"{\"y\": 1, \"x\": 2}\n"[..], "jsonl"),
        (b"1 1:1\n", "svmlight"),
        (b"1 |a b\n", "vw"),
        (b"PAR1....", "parquet"),
        (b"\0\x01\x02\x03", "binary data"),
    ] {
        let outcome = read_files(&[("first", rows.as_bytes()), ("second", content)], target("y"));
        let message = format!("second: is {format}, and the first input is csv; {remedy}");
        assert_eq!((outcome.error, outcome.rows.len()), (Some(message), 0));
    }
    let outcome = read_files(&[("first", b"1 1:1\n0 2:1\n"), ("second", b"1 |a b\n")], Options::default());
    assert_eq!(outcome.error.unwrap(), format!("second: is vw, and the first input is svmlight; {remedy}"));
    // A label without features is recognised as nothing.
    let outcome = read_files(&[("first", b"1 1:1\n0 2:1\n"), ("second", b"1\n0 1:1\n")], Options::default());
    assert_eq!(outcome.whole().rows.len(), 4);
}

#[test]
fn a_later_table_without_the_target_is_told() {
    let rows = table(30);
    let files = [("first", rows.as_bytes()), ("second", b"Y,x\n0,1\n")];
    let outcome = read_files(&files, target("y"));
    let message = "second: there is no column 'y', named as --target; did you mean 'Y'?";
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
