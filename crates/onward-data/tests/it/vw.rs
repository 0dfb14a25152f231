//! The reader of Vowpal Wabbit's text: against a plain parser that splits strings, and on
//! bad lines.

use onward::loss::Task;
use onward_data::{Format, OnError, Options};
use proptest::prelude::*;

use crate::text::vw::{BITS, index, plain};
use crate::text::{self, Row, check, options, read};

fn regression() -> Options {
    Options { task: Some(Task::Regression), bits: BITS, ..options(Format::VW, OnError::Stop) }
}

fn rows(text: &str) -> Vec<Row> {
    read(text, regression()).whole().rows
}

#[test]
fn features_are_hashed_by_namespace_and_name() {
    assert_eq!(
        rows("1.5 |f a b:0.5 |g:2 a:3 |f a\n"),
        [Row::new(
            vec![
                (0, 1.0),
                (index("f", "a"), 1.0),
                (index("f", "b"), 0.5),
                (index("g", "a"), 6.0),
                (index("f", "a"), 1.0),
            ],
            Some(1.5),
            1.0,
            &[""],
        )]
    );
}

#[test]
fn a_lone_bar_is_the_namespace_without_a_name() {
    let row = |label| Row::new(vec![(0, 1.0), (index("", "a"), 1.0)], label, 1.0, &[""]);
    assert_eq!(rows("1 | a\n|\ta\n1 ||f| a\n"), [row(Some(1.0)), row(None), row(Some(1.0))]);
}

#[test]
fn label_importance_base_and_tag_stand_before_the_bar() {
    let row = |label, weight, tag| Row::new(vec![(0, 1.0)], label, weight, &[tag]);
    for (text, row) in [
        ("-1 2.5 0 'tag|", row(Some(-1.0), 2.5, "tag")),
        ("-1 2.5 -0.75 'tag|", row(Some(-1.0), 2.5, "tag").from(-0.75)),
        ("-1 2.5 'a.b |f", row(Some(-1.0), 2.5, "a.b")),
        ("-1 tag|f", row(Some(-1.0), 1.0, "tag")),
        ("-1 17|f", row(Some(-1.0), 1.0, "17")),
        ("-1 0 |f", row(Some(-1.0), 0.0, "")),
        ("tag|f", row(None, 1.0, "tag")),
        ("'7|f", row(None, 1.0, "7")),
        ("|f", row(None, 1.0, "")),
        ("nan 1 0.0 |f", row(None, 1.0, "")),
    ] {
        assert_eq!(rows(text), [row], "{text}");
    }
}

#[test]
fn a_bar_ends_a_feature_and_tabs_and_line_ends_are_blanks() {
    let row = Row::new(vec![(0, 1.0), (index("f", "a"), 2.0), (index("g", "b"), 1.0)], Some(1.0), 1.0, &[""]);
    assert_eq!(rows("1\t|f\ta:2|g b\r\n\n"), [row]);
}

#[test]
fn zeros_are_dropped_also_those_that_a_namespace_makes() {
    let row = Row::new(vec![(0, 1.0), (index("f", "b"), 1.0)], Some(1.0), 1.0, &[""]);
    assert_eq!(rows("1 |f a:0 b |g:0 a b:7 |h c:1e-60"), [row]);
}

#[test]
fn features_are_named_with_their_namespace() {
    let outcome = read("1 |f a |g a:2 | c\n", regression()).whole();
    assert_eq!(outcome.name(0), "bias");
    assert_eq!(outcome.name(index("f", "a")), "f^a");
    assert_eq!(outcome.name(index("g", "a")), "g^a");
    assert_eq!(outcome.name(index("", "c")), "c");
}

#[test]
fn ignored_namespaces_are_left_out_here_and_by_a_model_of_the_schema() {
    let text = "1 |f a |fg b:x |g c\n0 |fg:x\n";
    let ignoring = Options { ignore: vec!["fg".to_owned()], ..regression() };
    let outcome = read(text, ignoring).whole();
    let row = Row::new(vec![(0, 1.0), (index("f", "a"), 1.0), (index("g", "c"), 1.0)], Some(1.0), 1.0, &[""]);
    assert_eq!(outcome.rows[0], row);
    let predicting = Options { schema: outcome.schema, ..options(Format::VW, OnError::Stop) };
    assert_eq!(read(text, predicting).whole().rows, outcome.rows);
}

#[test]
fn a_namespace_to_ignore_that_is_not_there_is_an_error() {
    let ignoring = Options { ignore: vec!["zz".to_owned()], ..regression() };
    assert_eq!(
        read("1 |f a |g b\n", ignoring).error.unwrap(),
        "input: --ignore names 'zz', which is not a namespace in the first rows; the namespaces are: f, g"
    );
}

// The good line around is long enough for the bad one to be looked at together with others.
refused! { regression(), "1 |f a b:0.5 c:0.25 d";
    a_line_without_a_bar: "1 a:2 b" =>
        ": expected '|' and features, found '1 a:2 b'; fix the record, or skip such records with --on-error skip";
    a_label_that_is_no_number: "abc |f a" =>
        ": the label must be a finite number; got 'abc'; fix the record, or skip such records with --on-error skip; for classes, name the positive one: --target 'label==CLASS'";
    a_label_that_touches_the_bar: "1|f a" =>
        ": '1' touches the bar; write a blank after it if it is a label, or a quote (') before it if it is a tag";
    too_many_words_before_the_bar: "1 1 0 0 |f a" =>
        ": too many words before the bar: '1 1 0 0'; there may be a label, its importance, a base and a tag";
    far_too_many_words_before_the_bar: "the quick brown fox jumps |f a" =>
        ": too many words before the bar: 'the quick brown fox jumps'; there may be a label, its importance, a base and a tag";
    a_negative_importance: "1 -2 |f a" =>
        ": the importance weight must be 0 or from 1e-38 to 3.4e38; got -2";
    an_importance_that_is_nan: "1 nan |f a" =>
        ": the importance weight must be 0 or from 1e-38 to 3.4e38; got 'nan'";
    an_infinite_importance: "1 inf |f a" =>
        ": the importance weight must be 0 or from 1e-38 to 3.4e38; got 'inf'";
    a_base_that_is_no_number: "1 1 half |f a" =>
        ": the base (initial prediction) must be a finite number; got 'half'; fix it, or write a quote (') before it if it is a tag";
    a_base_that_is_too_large: "1 1 1e39 |f a" =>
        ": the offset (initial prediction) must be within ±3.4e38; got 1e39";
    a_label_with_costs: "0:1.0:0.5 |f a" =>
        ": '0:1.0:0.5' belongs to an example over several lines or a label with costs; write one example per line, with a number as its label";
    several_labels_with_costs: "1:0 2:1 |f a" =>
        ": '1:0' belongs to an example over several lines or a label with costs; write one example per line, with a number as its label";
    a_label_with_costs_that_touches_the_bar: "0:1.0:0.5|f a" =>
        ": '0:1.0:0.5' touches the bar; write a blank after it if it is a label, or a quote (') before it if it is a tag";
    shared_features_of_several_lines: "shared |f a" =>
        ": 'shared' belongs to an example over several lines or a label with costs; write one example per line, with a number as its label";
    a_hexadecimal_value: "1 |f a b:0x10" =>
        ", column 'f^b': expected a number, found '0x10'; fix the record, or skip such records with --on-error skip";
    a_value_of_two_numbers: "1 | a:1-2" =>
        ", column 'a': expected a number, found '1-2'; fix the record, or skip such records with --on-error skip";
    a_value_with_a_second_colon: "1 |f a:1:2" =>
        ", column 'f^a': expected a number, found '1:2'; fix the record, or skip such records with --on-error skip";
    a_colon_without_a_value: "1 |f a: b" =>
        ", column 'f^a': there is no value after the colon; fix the record, or skip such records with --on-error skip";
    a_value_that_is_nan: "1 |f a:NaN" =>
        ", column 'f^a': the value is 'NaN'; leave a missing feature out of the row";
    an_infinite_value: "1 |f a:inf|g" =>
        ", column 'f^a': the value 'inf' is infinite, or beyond the range of 64-bit floats; features must be finite: rescale this one, or leave it out of the row";
    a_value_beyond_f32: "1 |f a:-1e39" =>
        ", column 'f^a': the value -1e39 is beyond ±3.4e38, the range of 32-bit floats; rescale the feature";
    a_value_that_its_namespace_takes_beyond_f32: "1 |f:1e20 a:1e20" =>
        ", column 'f^a': the value 1e40 is beyond ±3.4e38, the range of 32-bit floats; rescale the feature";
    a_namespace_weight_that_is_no_number: "1 |f:x a" =>
        ", column 'f': expected a number, found 'x'; fix the record, or skip such records with --on-error skip";
    a_weight_without_a_namespace: "1 |:2 a" =>
        ": expected a name before the colon, found ':2'; fix the record, or skip such records with --on-error skip";
    a_value_without_a_name: "1 |f a :2 b" =>
        ", column 'f': expected a name before the colon, found ':2'; fix the record, or skip such records with --on-error skip";
    bytes_that_are_not_utf8: b"1 |f caf\xe9" =>
        ": is not UTF-8: bytes e9 after '1 |f caf'; convert the file to UTF-8, for instance with iconv, or skip such records with --on-error skip";
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof![4 => "[a-c]{1,3}", 2 => "[0-9]{1,3}", 1 => "[^ \t\r\n:|\u{0}-\u{1f}]{1,12}"]
}

fn value_text() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => (-9.0..9.0f64).prop_map(|value| format!("{value:.6}")),
        2 => (-1e5..1e5f64).prop_map(|value| format!("{value:e}")),
        2 => (-1000..1000i32).prop_map(|value| value.to_string()),
        1 => Just("0".to_owned()),
    ]
}

fn word(name: String, value: Option<String>) -> String {
    match value {
        Some(value) => format!("{name}:{value}"),
        None => name,
    }
}

fn namespace() -> impl Strategy<Value = String> {
    let named = (name(), prop::option::weighted(0.3, value_text())).prop_map(|(name, value)| word(name, value));
    let head = prop_oneof![1 => Just(String::new()), 3 => named];
    let feature = (name(), prop::option::of(value_text())).prop_map(|(name, value)| word(name, value));
    let blank = prop_oneof![3 => Just(" "), 1 => Just("\t"), 1 => Just("  ")];
    (head, prop::collection::vec(feature, 0..6), blank, any::<bool>()).prop_map(|(head, features, blank, ends)| {
        let features: String = features.iter().map(|feature| format!("{blank}{feature}")).collect();
        format!("|{head}{features}{}", if ends { blank } else { "" })
    })
}

fn line() -> impl Strategy<Value = String> {
    let importance = (0.0..9.0f64).prop_map(|weight| format!(" {weight:.2}"));
    let head = prop_oneof![
        1 => Just(String::new()),
        1 => "'[a-z0-9]{0,4} ?",
        4 => value_text().prop_map(|label| format!("{label} ")),
        2 => (value_text(), importance.clone()).prop_map(|(label, weight)| format!("{label}{weight} ")),
        1 => (value_text(), importance, value_text())
            .prop_map(|(label, weight, base)| format!("{label}{weight} {base} tag")),
    ];
    let namespaces = prop::collection::vec(namespace(), 1..4);
    (head, namespaces, any::<bool>()).prop_map(|(head, namespaces, carriage)| {
        format!("{head}{}{}", namespaces.concat(), if carriage { "\r" } else { "" })
    })
}

fn mutated() -> impl Strategy<Value = Vec<u8>> {
    text::mutated(line(), b" :|\t'-+.eEnainf0123456789shared")
}

fn with(chunk_size: usize, threads: usize) -> Options {
    Options { chunk_size, threads, ..regression() }
}

proptest! {
    #[test]
    fn what_is_written_is_read_as_by_a_plain_parser(
        lines in prop::collection::vec(line(), 1..20),
        chunk_size in 1..2000usize,
        threads in 1..4usize,
    ) {
        let outcome = read(lines.join("\n"), with(chunk_size, threads)).whole();
        let expected: Vec<_> = lines.iter().filter_map(|line| plain(line.trim_end_matches('\r'), &[]).unwrap()).collect();
        prop_assert_eq!(outcome.rows, expected);
    }

    #[test]
    fn what_is_converted_is_read_back_the_same(
        lines in prop::collection::vec(("(-?[0-9]\\.[0-9]{1,3}( [0-9.]{1,3})? )('[a-z]{1,3} )?", "( [a-z]{1,3}(:-?[0-9]{1,3}\\.[0-9])?){0,5}"), 1..10),
    ) {
        let text: String = lines.iter().map(|(head, features)| format!("{head}|{features}\n")).collect();
        prop_assume!(read(&text, regression()).error.is_none());
        let again = text::converted(&text, regression(), Format::VW);
        // A feature whose values add up to 0 is not written: it could not be read back.
        let mut expected = read(text, regression()).whole().rows;
        for row in &mut expected {
            row.features.retain(|&(_, value)| f32::from_bits(value) != 0.0);
        }
        prop_assert_eq!(read(again, regression()).whole().rows, expected);
    }

    #[test]
    fn bad_lines_are_those_of_a_plain_parser(
        lines in prop::collection::vec(mutated(), 1..12),
        chunk_size in 1..2000usize,
        threads in 1..4usize,
    ) {
        let text = lines.join(&b'\n');
        check(&text, &with(chunk_size, threads), |line| plain(line, &[])).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn any_bytes_are_read_or_refused(text in prop::collection::vec(any::<u8>(), 0..300), chunk_size in 1..400usize) {
        check(&text, &with(chunk_size, 2), |line| plain(line, &[])).map_err(TestCaseError::fail)?;
    }
}
