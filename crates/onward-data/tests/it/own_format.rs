//! A format from outside the crate: `label a=1 b=2`, read as Vowpal Wabbit's text of the same features is.

use crate::text::{Outcome, read_inputs};
use onward_data::formats::{Boundaries, FirstLines, FirstRows, Head, LabelSample, Parser, Recognition, Rules};
use onward_data::formats::{TextFormat, by_line};
use onward_data::{Compression, DataError, Format, Formats, Input, Layout, OnError, Options, Reader, convert};

struct KeyValue;

impl TextFormat for KeyValue {
    fn name(&self) -> &str {
        "keyvalue"
    }

    fn layout(&self) -> Layout {
        Layout::Named
    }

    fn recognise(&self, head: &Head<'_>) -> Recognition {
        let mut words = head.line().split(|&byte| byte == b' ').skip(1);
        match words.next().is_some_and(|word| word.contains(&b'=')) {
            true => Recognition::Surely,
            false => Recognition::No,
        }
    }

    fn sample(&self, first: &FirstLines<'_>) -> Result<FirstRows, DataError> {
        let mut labels = LabelSample::default();
        first.lines().for_each(|line| labels.label(line.split(|&byte| byte == b' ').next().unwrap_or_default()));
        Ok(FirstRows::Labels(labels))
    }

    fn parser(&self, _: Boundaries, rules: &Rules) -> Box<dyn Parser> {
        by_line(rules, |line, row| {
            let mut words = std::str::from_utf8(line).unwrap_or_default().split_ascii_whitespace();
            row.label(words.next().unwrap_or_default().as_bytes())?;
            for word in words {
                let (name, value) = word.split_once('=').ok_or_else(|| {
                    DataError::record(format!("expected name=value, found '{word}'")).advise("fix the line")
                })?;
                let value =
                    value.parse().map_err(|_| DataError::record(format!("'{value}' is not a number")).column(name))?;
                row.feature("", name, value)?;
            }
            Ok(())
        })
    }
}

fn options() -> Options {
    Options { formats: Formats::default().with(KeyValue), ..Options::default() }
}

fn read(text: &str, options: Options) -> Outcome {
    read_inputs(&[Input::bytes("input", text)], options, |message| message)
}

const TEXT: &str = "1 a=0.5 b=2\n0 b=-3 c=0\n\n1 a=1 d=7 a=2\nNA c=4\n";
const SAME: &str = "1 | a:0.5 b:2\n0 | b:-3 c:0\n\n1 | a:1 d:7 a:2\nNA | c:4\n";

#[test]
fn it_is_read_by_its_name_and_recognised_as_vowpal_wabbits_text_is() {
    let expected = read(SAME, Options::default()).whole();
    assert_eq!(expected.rows.len(), 4);
    for format in [None, Some(Format::named("keyvalue"))] {
        for chunk_size in [1, 1 << 18] {
            let found = read(TEXT, Options { format: format.clone(), chunk_size, ..options() }).whole();
            assert_eq!(found.rows.len(), 4);
            for (found, expected) in found.rows.iter().zip(&expected.rows) {
                assert_eq!((&found.features, found.label), (&expected.features, expected.label));
            }
            assert_eq!(found.format, Some(Format::named("keyvalue")));
            assert!(expected.names.iter().all(|(index, names)| found.names.get(index) == Some(names)));
        }
    }
}

#[test]
fn interactions_and_what_is_ignored_are_those_of_vowpal_wabbits_text() {
    let with = |options: Options| Options { interactions: vec!["* * *".parse().unwrap()], ..options };
    let (expected, found) = (read(SAME, with(Options::default())).whole(), read(TEXT, with(options())).whole());
    let features = |outcome: &Outcome| outcome.rows.iter().map(|row| row.features.clone()).collect::<Vec<_>>();
    assert_eq!(features(&found), features(&expected));
    assert_eq!(found.products, expected.products);
}

#[test]
fn it_predicts_the_same() {
    let learn = |text: &str, options: Options| {
        let specification: onward::learner::LearnerSpec = "nag".parse().unwrap();
        let mut learner = specification.build(onward::loss::parse("logistic").unwrap(), None).unwrap();
        let mut reader = Reader::open(&[Input::bytes("input", text)], options).unwrap();
        let mut scores = Vec::new();
        while let Some(parsed) = reader.next_batch().unwrap() {
            for example in parsed.batch.iter() {
                scores.push(learner.predict_one(example.features).to_bits());
                if let Some(label) = example.label {
                    learner.learn_one(example.features, label, example.weight);
                }
            }
        }
        scores
    };
    assert_eq!(learn(&TEXT.repeat(50), options()), learn(&SAME.repeat(50), Options::default()));
}

#[test]
fn its_errors_have_a_position_and_are_skipped_if_that_is_asked_for() {
    let text = "1 a=0.5\n0 b=x\n1 c\n0 a=1\n";
    let stopped = read(text, options());
    assert_eq!(stopped.error.as_deref(), Some("input, line 2, column 'b': 'x' is not a number"));
    assert_eq!(stopped.rows.len(), 1);
    let skipped = read(text, Options { on_error: OnError::Skip, ..options() }).whole();
    assert_eq!((skipped.rows.len(), skipped.skipped), (2, 2));
    assert_eq!(skipped.errors[1], "input, line 3: expected name=value, found 'c'; fix the line");
}

#[test]
fn a_run_that_does_not_know_it_says_so() {
    let unknown = Options { format: Some(Format::named("keyvalue")), ..Options::default() };
    let message = "there is no format 'keyvalue'; the formats are: csv, tsv, jsonl, svmlight, vw, parquet, arrow";
    assert_eq!(read(TEXT, unknown).error.as_deref(), Some(message));
    // Its name can be kept all the same.
    let name: Format = serde_json::from_str("\"keyvalue\"").unwrap();
    assert_eq!(name, Format::named("keyvalue"));
    assert_eq!(serde_json::to_string(&name).unwrap(), "\"keyvalue\"");
    assert!("keyvalue".parse::<Format>().is_err());
    assert_eq!(options().formats.parse("KeyValue"), Ok(name));
}

#[test]
fn what_is_only_read_is_not_written() {
    let mut reader = Reader::open(&[Input::bytes("input", TEXT)], options()).unwrap();
    let error = convert(&mut reader, &Format::named("keyvalue"), Compression::None, &mut Vec::new()).unwrap_err();
    assert_eq!(error.to_string(), "keyvalue can be read but not written; name another format");
    // And is converted to what is.
    let mut out = Vec::new();
    convert(&mut reader, &Format::VW, Compression::None, &mut out).unwrap();
    assert_eq!(String::from_utf8(out).unwrap(), "1 | a:0.5 b:2\n-1 | b:-3\n1 | a:3 d:7\n| c:4\n");
}
