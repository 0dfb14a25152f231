//! The reader of SVMlight text: against a plain parser that splits strings, and on bad lines.

use onward::loss::Task;
use onward_data::{Format, OnError, Options};
use proptest::prelude::*;

use crate::text::svmlight::plain;
use crate::text::{self, Row, check, options, read};

fn regression() -> Options {
    Options { task: Some(Task::Regression), ..options(Format::SVMLIGHT, OnError::Stop) }
}

fn rows(text: &str) -> Vec<Row> {
    read(text, regression()).whole().rows
}

#[test]
fn index_i_is_feature_i_plus_one_after_the_bias() {
    assert_eq!(
        rows("1.5 0:0.5 7:-2e-1\n-1\n"),
        [
            Row::new(vec![(0, 1.0), (1, 0.5), (8, -0.2)], Some(1.5), 1.0, &[]),
            Row::new(vec![(0, 1.0)], Some(-1.0), 1.0, &[]),
        ]
    );
}

#[test]
fn qid_comments_zeros_and_blank_lines_count_for_nothing() {
    let text = "# a comment\n\n2 qid:7 1:1 2:0 3:-0.0 # 4:4\r\n  \n \t3\t1:1 \n2 1:1e-60";
    let row = |label| Row::new(vec![(0, 1.0), (2, 1.0)], Some(label), 1.0, &[]);
    let last = Row::new(vec![(0, 1.0)], Some(2.0), 1.0, &[]);
    assert_eq!(rows(text), [row(2.0), row(3.0), last]);
}

#[test]
fn a_missing_label_is_a_question_mark_or_nan() {
    let unlabelled = Row::new(vec![(0, 1.0), (2, 1.0)], None, 1.0, &[]);
    assert_eq!(rows("? 1:1\nnan 1:1\n"), [unlabelled.clone(), unlabelled]);
}

#[test]
fn indices_may_be_in_any_order() {
    let row = Row::new(vec![(0, 1.0), (10, 1.0), (4, 2.0)], Some(0.0), 1.0, &[]);
    assert_eq!(rows("0 9:1 3:2\n"), [row]);
}

#[test]
fn features_are_named_by_their_index_in_the_file() {
    let outcome = read("1 7:1 012:1\n", regression()).whole();
    assert_eq!(outcome.name(0), "bias");
    assert_eq!(outcome.name(8), "7");
    assert_eq!(outcome.name(13), "12");
}

#[test]
fn the_task_is_inferred_from_the_labels() {
    let outcome = read("1 1:1\n-1 1:2\n? 1:3", options(Format::SVMLIGHT, OnError::Stop)).whole();
    assert_eq!(outcome.notes[1], "target: label, 1 against 0 or -1 (binary)");
    let labels: Vec<_> = outcome.rows.iter().map(|row| row.label.map(f64::from_bits)).collect();
    assert_eq!(labels, [Some(1.0), Some(-1.0), None]);
}

#[test]
fn the_target_can_be_one_class_of_many() {
    let options = Options { target: Some("label==3".to_owned()), ..options(Format::SVMLIGHT, OnError::Stop) };
    let outcome = read("3 1:1\n1 1:1\n? 1:1\n", options).whole();
    let labels: Vec<_> = outcome.rows.iter().map(|row| row.label.map(f64::from_bits)).collect();
    assert_eq!(labels, [Some(1.0), Some(-1.0), None]);
}

#[test]
fn the_largest_index_is_two_to_the_bits_minus_one() {
    let options = Options { bits: 30, ..regression() };
    let row = Row::new(vec![(0, 1.0), (1 << 30, 1.0)], Some(1.0), 1.0, &[]);
    assert_eq!(read("1 1073741823:1", options).whole().rows, [row]);
}

// The good line around is long enough for the bad one to be looked at together with others.
refused! { Options { bits: 20, ..regression() }, "1 1:1 2:0.5 3:0.25";
    a_label_that_is_no_number: "1-2 1:1" =>
        ": the label must be a finite number; got '1-2'; fix the record, or skip such records with --on-error skip; for classes, name the positive one: --target 'label==CLASS'";
    a_label_beyond_f32: "1e39 1:1" =>
        ": the label must be within ±3.4e38; got 1e39; rescale the labels";
    a_line_without_a_label: "1:1 2:1" =>
        ": the line begins with '1:1' instead of a label; write ? where the label is missing";
    a_feature_without_a_colon: "1 1:1 2" =>
        ": expected index:value, found '2'; fix the record, or skip such records with --on-error skip";
    a_blank_after_the_colon: "1 1: 2" =>
        ", column '1': there is no value after the colon; fix the record, or skip such records with --on-error skip";
    a_name_instead_of_an_index: "1 abc:1" =>
        ": the index must be a whole number; got 'abc'; features have whole numbers from 0; for namespaces and names use Vowpal Wabbit's text: --format vw";
    a_negative_index: "1 -1:1" =>
        ": the index must be a whole number; got '-1'; features have whole numbers from 0; for namespaces and names use Vowpal Wabbit's text: --format vw";
    an_index_that_is_empty: "1 :1" =>
        ": the index must be a whole number; got ''; features have whole numbers from 0; for namespaces and names use Vowpal Wabbit's text: --format vw";
    an_index_beyond_the_bits: "1 1048576:1" =>
        ", column '1048576': the index 1048576 is beyond 1048575, the last that --bits 20 has room for; use --bits 21";
    an_index_beyond_all_bits: "1 1073741824:1" =>
        ", column '1073741824': the index 1073741824 is beyond 1048575, the last that --bits 20 has room for; indices must be below 2^30, the most that --bits allows: renumber the features";
    an_index_beyond_64_bits: "1 18446744073709551617:1" =>
        ", column '18446744073709551617': the index 18446744073709551617 is beyond 1048575, the last that --bits 20 has room for; indices must be below 2^30, the most that --bits allows: renumber the features";
    a_hexadecimal_value: "1 1:1 2:0x10" =>
        ", column '2': expected a number, found '0x10'; fix the record, or skip such records with --on-error skip";
    a_value_of_two_numbers: "1 1:1-2" =>
        ", column '1': expected a number, found '1-2'; fix the record, or skip such records with --on-error skip";
    a_value_with_a_second_colon: "1 1:2:3" =>
        ", column '1': expected a number, found '2:3'; fix the record, or skip such records with --on-error skip";
    a_value_with_more_colons: "1 2:3:4:5" =>
        ", column '2': expected a number, found '3:4:5'; fix the record, or skip such records with --on-error skip";
    a_value_with_more_colons_among_many: "1 1:1 2:1:3:1 4:1 5:1" =>
        ", column '2': expected a number, found '1:3:1'; fix the record, or skip such records with --on-error skip";
    a_label_with_colons: "1:2:3" =>
        ": the line begins with '1:2:3' instead of a label; write ? where the label is missing";
    a_label_with_colons_before_a_feature: "1:2:3 4:5" =>
        ": the line begins with '1:2:3' instead of a label; write ? where the label is missing";
    a_label_with_colons_before_many_features: "1:2:3 4:5 6:7 8:9 10:11" =>
        ": the line begins with '1:2:3' instead of a label; write ? where the label is missing";
    a_value_beyond_f32: "1 1:1e39" =>
        ", column '1': the value 1e39 is beyond ±3.4e38, the range of 32-bit floats; rescale the feature";
    a_value_beyond_f64: "1 1:1e400" =>
        ", column '1': the value '1e400' is infinite, or beyond the range of 64-bit floats; features must be finite: rescale this one, or leave it out of the row";
    an_infinite_value: "1 1:-inf" =>
        ", column '1': the value '-inf' is infinite, or beyond the range of 64-bit floats; features must be finite: rescale this one, or leave it out of the row";
    a_value_that_is_nan: "1 1:nan" =>
        ", column '1': the value is 'nan'; leave a missing feature out of the row";
    a_feature_twice_in_a_row: "1 3:1 3:2" =>
        ", column '3': the row names this feature twice; add the two values up, or skip such records with --on-error skip";
    a_feature_twice_out_of_order: "1 3:0 1:1 03:2" =>
        ", column '3': the row names this feature twice; add the two values up, or skip such records with --on-error skip";
    a_qid_that_is_no_number: "1 qid:a 1:1" =>
        ", column 'qid': qid must be a whole number; got 'a'; Onward does not use it";
    bytes_that_are_not_utf8: b"1 1:1 # caf\xe9 x" =>
        ": is not UTF-8: bytes e9 20 78 after '1 1:1 # caf'; convert the file to UTF-8, for instance with iconv, or skip such records with --on-error skip";
}

#[test]
fn options_that_name_columns_are_refused() {
    let options = Options { ignore: vec!["3".to_owned()], ..regression() };
    let error = read("1 3:1\n", options).error.unwrap();
    assert_eq!(error, "input: --ignore names columns, but this format has none; leave --ignore out");
}

fn value_text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => any::<f32>().prop_filter("finite", |value| value.is_finite()).prop_map(|value| value.to_string()),
        4 => (-9.0..9.0f64).prop_map(|value| format!("{value:.6}")),
        2 => (-1e9..1e9f64).prop_map(|value| format!("{value:e}")),
        2 => (-1000..1000i32).prop_map(|value| value.to_string()),
        1 => Just("0.0".to_owned()),
    ]
}

fn line() -> impl Strategy<Value = String> {
    let features = prop::collection::btree_map(0u32..1 << 20, value_text(), 0..12);
    let label = prop_oneof![value_text(), Just("?".to_owned())];
    let blank = prop_oneof![Just(" "), Just("\t"), Just("  ")];
    let tail = prop_oneof![4 => Just(""), 1 => Just(" # note 1:2"), 1 => Just(" "), 1 => Just("\r")];
    (label, features, any::<u64>(), blank, tail, any::<bool>()).prop_map(
        |(label, features, order, blank, tail, query)| {
            let mut features: Vec<_> = features.into_iter().map(|(index, value)| format!("{index}:{value}")).collect();
            if order % 3 == 0 && !features.is_empty() {
                let middle = order as usize % features.len();
                features.rotate_left(middle);
            }
            let query = if query { format!("{blank}qid:{}", order % 100) } else { String::new() };
            let features: String = features.iter().map(|feature| format!("{blank}{feature}")).collect();
            format!("{label}{query}{features}{tail}")
        },
    )
}

fn mutated() -> impl Strategy<Value = Vec<u8>> {
    text::mutated(line(), b" :\t#-+.eEnainf0123456789qd?|x")
}

fn with(chunk_size: usize, threads: usize) -> Options {
    Options { chunk_size, threads, bits: 20, ..regression() }
}

proptest! {
    #[test]
    fn what_is_written_is_read_as_by_a_plain_parser(
        lines in prop::collection::vec(line(), 1..20),
        chunk_size in 1..2000usize,
        threads in 1..4usize,
    ) {
        let text = lines.join("\n");
        let outcome = read(&text, with(chunk_size, threads)).whole();
        let expected: Vec<_> = lines.iter().filter_map(|line| plain(line, 20).unwrap()).collect();
        prop_assert_eq!(outcome.rows, expected);
    }

    #[test]
    fn what_is_converted_is_read_back_the_same(lines in prop::collection::vec(line(), 1..10)) {
        let text = lines.join("\n");
        let again = text::converted(&text, with(1 << 18, 1), Format::SVMLIGHT);
        prop_assert_eq!(read(again, with(1 << 18, 1)).whole().rows, read(text, with(1 << 18, 1)).whole().rows);
    }

    #[test]
    fn bad_lines_are_those_of_a_plain_parser(
        lines in prop::collection::vec(mutated(), 1..12),
        chunk_size in 1..2000usize,
        threads in 1..4usize,
    ) {
        let text = lines.join(&b'\n');
        check(&text, &with(chunk_size, threads), |line| plain(line, 20)).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn any_bytes_are_read_or_refused(text in prop::collection::vec(any::<u8>(), 0..300), chunk_size in 1..400usize) {
        check(&text, &with(chunk_size, 2), |line| plain(line, 20)).map_err(TestCaseError::fail)?;
    }
}
