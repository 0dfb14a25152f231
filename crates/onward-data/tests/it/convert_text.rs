//! What is converted to text, or from JSON, and read again is what it was.

#![cfg(feature = "arrow")]

use std::collections::BTreeMap;
use std::path::Path;

use onward_data::{Compression, ConvertError, Converted, Format, Input, Options, Reader, convert};
use proptest::prelude::*;

use crate::support::*;

fn converted<P: AsRef<Path>>(paths: &[P], options: Options, format: &Format) -> (Vec<u8>, Converted) {
    let mut out = Vec::new();
    let converted = convert(&mut open(paths, options).unwrap(), format, Compression::None, &mut out).unwrap();
    (out, converted)
}

fn copied<P: AsRef<Path>>(paths: &[P], options: Options, format: &Format) -> Result<String, ConvertError> {
    let inputs: Vec<_> = paths.iter().map(|path| Input::from(path.as_ref())).collect();
    let mut out = Vec::new();
    convert(&mut Reader::open_table(&inputs, options)?, format, Compression::None, &mut out)?;
    Ok(String::from_utf8(out).unwrap())
}

fn rows() -> impl Strategy<Value = String> {
    let value = prop_oneof![
        (-1e6..1e6f64).prop_map(|x| x.to_string()),
        any::<f32>().prop_filter("finite", |x| x.is_finite()).prop_map(|x| x.to_string()),
        Just(String::new()),
    ];
    let row = (prop_oneof![Just("0"), Just("1"), Just("")], value, "[a-c]{0,2}", "([a-f]{1,2} ){0,7}");
    // A table whose columns are all empty is refused, as it should be.
    let rows = prop::collection::vec(row, 1..60).prop_filter("nothing to learn from", |rows| {
        rows.iter().any(|(_, value, word, words)| !(value.is_empty() && word.is_empty() && words.is_empty()))
    });
    rows.prop_map(|rows| {
        let mut text = "y,x,c,words\n".to_owned();
        for (label, value, word, words) in rows {
            text += &format!("{label},{value},{word},{words}\n");
        }
        text
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn svmlight_is_read_again_to_the_bit_but_for_zeros(
        text in rows(),
        threads in 1usize..4,
        chunk_size in prop_oneof![Just(1usize), Just(300), Just(1 << 18)],
    ) {
        let folder = Folder::new();
        let path = [folder.write("x.csv", &text)];
        let options = Options { threads, chunk_size, task: Some(onward::loss::Task::Binary), ..target("y") };
        let mut expected = read_all(&path, options.clone()).unwrap().rows;
        let (out, told) = converted(&path, options.clone(), &Format::SVMLIGHT);
        let options = Options {
            target: None,
            bits: told.bits.max(1),
            format: Some(Format::SVMLIGHT),
            ..options
        };
        let found = read_all(&[folder.write("x.svm", out)], options).unwrap();
        for row in &mut expected {
            row.features.retain(|(_, bits)| f32::from_bits(*bits) != 0.0);
        }
        prop_assert_eq!(found.rows, expected);
    }

    #[test]
    fn vowpal_wabbit_text_has_the_same_names_and_values(text in rows()) {
        let folder = Folder::new();
        let path = [folder.write("x.csv", &text)];
        let expected = read_all(&path, target("y")).unwrap();
        let (out, _) = converted(&path, target("y"), &Format::VW);
        let options = Options {
            format: Some(Format::VW),
            task: Some(onward::loss::Task::Binary),
            ..Options::default()
        };
        let found = read_all(&[folder.write("x.vw", out)], options).unwrap();
        prop_assert_eq!(found.rows.len(), expected.rows.len());
        for (found_row, row) in found.rows.iter().zip(&expected.rows) {
            prop_assert_eq!(found_row.label, row.label);
            let mut named = row.named(&expected.names);
            named.retain(|_, value| *value != 0.0);
            let unescaped = found_row.named(&found.names).into_iter().map(|(name, value)| {
                (name.trim_start_matches('^').replace("%20", " ").replace("%3A", ":"), value)
            });
            prop_assert_eq!(unescaped.collect::<BTreeMap<_, _>>(), named);
        }
    }
}

#[test]
fn json_lines_and_csv_hold_the_same_table() {
    let folder = Folder::new();
    let json = "{\"a\":1,\"b\":{\"c\":\"x\\ny\",\"d\":true}}\n{\"a\":-2.5,\"b\":{\"c\":null}}\n{\"b\":{\"d\":false}}\n";
    let path = folder.write("x.jsonl", json);
    let csv = copied(&[&path], Options::default(), &Format::CSV).unwrap();
    assert_eq!(csv, "a,b.c,b.d\n1,\"x\ny\",true\n-2.5,,\n,,false\n");
    let path = folder.write("x.csv", csv);
    assert_eq!(
        copied(&[path], Options::default(), &Format::JSONL).unwrap(),
        "{\"a\":1,\"b.c\":\"x\\ny\",\"b.d\":true}\n\
         {\"a\":-2.5,\"b.c\":null,\"b.d\":null}\n\
         {\"a\":null,\"b.c\":null,\"b.d\":false}\n"
    );
}

#[test]
fn a_key_that_the_first_rows_lack_is_not_dropped_silently() {
    let folder = Folder::new();
    let rows: String = (0..10_000).map(|row| format!("{{\"a\":{row}}}\n")).collect();
    let path = folder.write("x.jsonl", format!("{rows}{{\"a\":1,\"late\":\"b=c\"}}\n"));
    assert_eq!(
        worded(copied(&[path], Options::default(), &Format::CSV).unwrap_err()),
        "row 10001 has 'late', but the first rows, which determine the columns, do not; \
         leave it out with --ignore 'late', or move a row that has it to the front"
    );
}

#[test]
fn numbers_of_json_keep_their_digits() {
    let folder = Folder::new();
    let path = folder.write("x.jsonl", "{\"id\":9007199254740993,\"b\":1.50}\n");
    assert_eq!(copied(&[path], Options::default(), &Format::CSV).unwrap(), "id,b\n9007199254740993,1.50\n");
    let path = folder.write("x.jsonl", "{\"a\":[9007199254740993]}\n");
    assert_eq!(
        folder.without(&worded(copied(&[path], Options::default(), &Format::CSV).unwrap_err())),
        "x.jsonl, line 1, column 'a.0': the number 9007199254740992 may have lost digits, because it is beyond 2^53; \
         in arrays of numbers, write such numbers as strings, or as keys of their own"
    );
}

#[test]
fn arrays_of_json_are_no_cells() {
    let folder = Folder::new();
    let path = folder.write("x.jsonl", "{\"a\":[\"x\"],\"b\":1}\n");
    let error = worded(copied(&[path], Options::default(), &Format::CSV).unwrap_err());
    assert!(error.contains("column 'a'") && error.contains("--ignore"), "{error}");
}

/// The offsets of all rows.
fn offsets<P: AsRef<Path>>(path: P) -> Vec<f64> {
    let mut reader = open(&[path], Options::default()).unwrap();
    let mut offsets = Vec::new();
    while let Some(parsed) = reader.next_batch().unwrap() {
        offsets.extend(parsed.batch.iter().map(|example| example.features.offset()));
    }
    offsets
}

#[test]
fn initial_predictions_come_along() {
    let folder = Folder::new();
    let text = "1 1 0.5 | a\n-1 2 -1.25 'x | a:3\n1 3 | b\n-1 | b\n| a\n";
    let vw = folder.write("x.vw", text);
    let expected = [0.5, -1.25, 0.0, 0.0, 0.0];
    assert_eq!(offsets(&vw), expected);
    let (out, _) = converted(&[&vw], Options::default(), &Format::VW);
    assert_eq!(String::from_utf8(out).unwrap(), text);
    let (out, _) = converted(&[&vw], Options::default(), &Format::ARROW);
    assert_eq!(offsets(folder.write("x.arrow", out)), expected);
}

#[test]
fn an_initial_prediction_that_a_format_has_no_words_for_is_an_error() {
    let folder = Folder::new();
    let message = |text: &str, format: &Format| {
        let path = folder.write("x.vw", text);
        let mut reader = open(&[path], Options::default()).unwrap();
        worded(convert(&mut reader, format, Compression::None, &mut Vec::new()).unwrap_err())
    };
    assert_eq!(
        message("1 | a\n-1 1 0.5 | a\n", &Format::SVMLIGHT),
        "example 2 has the offset 0.5, and svmlight has none; convert to vw or arrow"
    );
    assert_eq!(
        message("1 | a\nnan 1 0.5 | a\n", &Format::VW),
        "example 2 has the offset 0.5 and no label, which Vowpal Wabbit's text cannot express; convert to arrow"
    );
}
