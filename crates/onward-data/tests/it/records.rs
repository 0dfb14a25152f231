//! Records that are encoded one at a time are the examples that the reader of JSON lines makes of them.

use std::collections::BTreeSet;

use crate::text::{self, Row, read_inputs};
use onward::loss::Task;
use onward_data::{Field, Format, Input, Kind, Options, ParsedBatch, Reader, RecordEncoder, Role, Schema};
use proptest::prelude::*;
use serde_json::{Value, json};

fn lines(records: &[Value]) -> String {
    records.iter().map(|record| format!("{record}\n")).collect()
}

fn rows(batch: &ParsedBatch) -> Vec<Row> {
    (0..batch.batch.len()).map(|row| text::row_of(batch, row)).collect()
}

fn names(batch: &ParsedBatch) -> BTreeSet<(u32, String)> {
    batch.names.iter().map(|(index, name)| (index, name.to_owned())).collect()
}

/// All records encoded, each alone.
fn encoded(encoder: &mut RecordEncoder, records: &[Value]) -> ParsedBatch {
    let mut out = ParsedBatch::default();
    records.iter().for_each(|record| encoder.encode(record, &mut out).unwrap());
    out
}

/// What the reader makes of the same records under a schema.
fn read(records: &[Value], schema: &Schema) -> text::Outcome {
    let options = Options {
        schema: Some(schema.clone()),
        format: Some(Format::JSONL),
        require_target: false,
        ..Options::default()
    };
    read_inputs(&[Input::bytes("input", lines(records))], options, |message| message).whole()
}

fn number() -> impl Strategy<Value = Value> {
    prop_oneof![
        (-100i64..100).prop_map(|number| json!(number)),
        (-1e6..1e6f64).prop_map(|number| json!(number)),
        Just(Value::Null),
    ]
}

fn word() -> impl Strategy<Value = Value> {
    prop_oneof![4 => "[a-c]{1,2}".prop_map(Value::String), 1 => Just(Value::Null)]
}

fn record() -> impl Strategy<Value = Value> {
    let nested = (number(), word()).prop_map(|(x, c)| json!({"x": x, "c": c}));
    let list = prop_oneof![
        prop::collection::vec("[a-d]", 0..4).prop_map(|words| json!(words)),
        prop::collection::vec(-9i64..9, 0..4).prop_map(|numbers| json!(numbers)),
        (0i64..9, "[a-d]").prop_map(|(number, word)| json!([number, word, true])),
    ];
    let moment = (1u32..29, 0u32..24).prop_map(|(day, hour)| json!(format!("2013-01-{day:02}T{hour:02}:00")));
    (prop_oneof![Just(0), Just(1)], number(), word(), any::<bool>(), nested, list, moment, prop::option::of(number()))
        .prop_map(|(y, x, c, flag, o, tags, when, late)| {
            let mut record = json!({"y": y, "x": x, "c": c, "flag": flag, "o": o, "tags": tags, "when": when});
            if let Some(late) = late {
                record["late"] = late;
            }
            record
        })
}

/// The schema that the reader infers.
fn inferred(records: &[Value], options: Options) -> Option<Schema> {
    let reader = Reader::open(&[Input::bytes("input", lines(records))], options).ok()?;
    Some(reader.schema().clone())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn under_a_schema_they_are_those_of_the_reader(
        first in prop::collection::vec(record(), 25..60),
        later in prop::collection::vec(record(), 1..20),
    ) {
        let options = Options {
            target: Some("y".to_owned()),
            ids: vec!["c".to_owned()],
            interactions: vec!["x*flag".parse().unwrap()],
            ..Options::default()
        };
        let Some(schema) = inferred(&first, options) else { return Ok(()) };
        let expected = read(&later, &schema);
        let found = encoded(&mut RecordEncoder::with_schema(schema).unwrap(), &later);
        prop_assert_eq!(rows(&found), expected.rows);
        let expected: BTreeSet<_> = expected
            .names
            .into_iter()
            .flat_map(|(index, names)| names.into_iter().map(move |name| (index, name)))
            .collect();
        prop_assert_eq!(names(&found), expected);
    }

    #[test]
    fn without_one_all_keys_are_those_that_the_reader_meets_later(records in prop::collection::vec(record(), 1..20)) {
        let options = Options { target: Some("y".to_owned()), task: Some(Task::Binary), ..Options::default() };
        let mut encoder = RecordEncoder::new(&options).unwrap();
        let schema = encoder.schema().clone();
        prop_assert_eq!(schema.columns.len(), 1);
        let found = encoded(&mut encoder, &records);
        prop_assert_eq!(rows(&found), read(&records, &schema).rows);
    }

    #[test]
    fn fields_are_the_values_that_they_stand_for(x in -1e9..1e9f64, c in "[a-z]{0,5}", flag: bool, list in prop::collection::vec(-5i32..5, 0..4)) {
        let options = Options { target: Some("y>0".to_owned()), categorical: vec!["x".to_owned()], ..Options::default() };
        let schema = RecordEncoder::new(&options).unwrap().schema().clone();
        let x = if flag { x.trunc() } else { x };
        let value = if x.fract() == 0.0 { json!(x as i64) } else { json!(x) };
        let record = json!({"y": 1.5, "x": value, "c": c, "flag": flag, "list": list, "none": null});
        let numbers: Vec<f64> = list.iter().map(|&number| f64::from(number)).collect();
        let fields = [
            // In the order that a map of JSON has.
            ("c", Field::from(c.as_str())), ("flag", flag.into()), ("list", numbers.into()), ("none", None::<f64>.into()),
            ("x", x.into()), ("y", 1.5.into()),
        ];
        let mut encoder = RecordEncoder::with_schema(schema).unwrap();
        let (mut one, mut other) = (ParsedBatch::default(), ParsedBatch::default());
        encoder.encode(&record, &mut one).unwrap();
        encoder.encode_fields(fields, &mut other).unwrap();
        prop_assert_eq!(rows(&one), rows(&other));
    }
}

#[test]
fn options_say_what_the_columns_are_before_any_is_seen() {
    let options = Options {
        target: Some("delay>15".to_owned()),
        numeric: vec!["distance".to_owned()],
        categorical: vec!["flight".to_owned()],
        ids: vec!["id".to_owned()],
        weight: Some("w".to_owned()),
        ..Options::default()
    };
    let mut encoder = RecordEncoder::new(&options).unwrap();
    let role = |name: &str| encoder.schema().columns.iter().find(|column| column.name == name).unwrap().role.clone();
    assert_eq!(role("distance"), Role::Feature(Kind::Numeric { slot: 1, origin: None }));
    assert_eq!(role("flight"), Role::Feature(Kind::Categorical { origin: None }));
    assert_eq!((role("id"), role("w"), role("delay")), (Role::Id, Role::Weight, Role::Target));
    let record = json!({"delay": 16, "distance": 7, "flight": 1545, "id": "a", "w": 2, "new": 3});
    let found = encoded(&mut encoder, &[record]);
    let example = found.batch.get(0);
    assert_eq!((example.label, example.weight), (Some(1.0), 2.0));
    assert_eq!(found.ids(0).collect::<Vec<_>>(), [b"a"]);
    let names: Vec<_> = found.names.iter().map(|(_, name)| name.to_owned()).collect();
    assert_eq!(names, ["bias", "distance", "flight=1545", "new"]);
}

#[test]
fn labels_are_given_apart_or_come_later() {
    let options = Options { target: Some("y".to_owned()), ..Options::default() };
    let mut encoder = RecordEncoder::new(&options).unwrap();
    let mut out = ParsedBatch::default();
    encoder.encode(json!({"x": 1}), &mut out).unwrap();
    encoder.encode_labelled(json!({"x": 1}), 2.5, &mut out).unwrap();
    assert_eq!([0, 1].map(|row| out.batch.get(row).label), [None, Some(2.5)]);
    let binary = Options { task: Some(Task::Binary), ..options };
    let mut encoder = RecordEncoder::new(&binary).unwrap();
    let error = encoder.encode_labelled(json!({"x": 1}), 1.0, &mut out).unwrap_err();
    assert_eq!(error.to_string(), "the batch has rows of another schema; clear it first");
    assert_eq!(out.batch.len(), 2);
    out.clear();
    let error = encoder.encode_labelled(json!({"x": 1}), 2.0, &mut out).unwrap_err();
    assert_eq!(error.to_string(), "column 'y': the label must be 1 for the positive class or -1; got 2");
    assert_eq!(out.batch.len(), 0);
}

#[test]
fn what_is_wrong_is_said_with_its_column_and_the_batch_stays() {
    let mut encoder = RecordEncoder::new(&Options { target: Some("y".to_owned()), ..Options::default() }).unwrap();
    let mut out = encoded(&mut encoder, &[json!({"y": 1, "x": 2})]);
    let before = rows(&out);
    for (record, message) in [
        (json!({"x": 1, "y": "abc"}), ", column 'y': the label must be a finite number; got 'abc'"),
        (json!({"x": [[1]]}), ", column 'x': holds an array of arrays"),
        (json!({"y": {"z": 1}}), ", column 'y': expected one value, found an object"),
        (json!({"x": 1e300}), ", column 'x': the value 1e300 is beyond ±3.4e38"),
        (json!([1]), "expected an object, found sequence"),
        (json!(null), "expected an object, found null"),
    ] {
        let error = encoder.encode(&record, &mut out).unwrap_err();
        assert!(format!(", {error}").contains(message.trim_start_matches(", ")), "{error}");
        assert!(error.remedy().is_some(), "{error}");
        assert_eq!(rows(&out), before);
    }
    let twice = [("x", Field::from(1.0)), ("x", 2.0.into())];
    let error = encoder.encode_fields(twice, &mut out).unwrap_err();
    assert!(error.to_string().starts_with("column 'x': the key occurs twice in the record"), "{error}");
    // And goes on.
    encoder.encode(json!({"y": 1, "x": 2}), &mut out).unwrap();
    assert_eq!(rows(&out)[1], before[0]);
}

#[test]
fn what_does_not_go_together_is_refused() {
    let error = |options: &Options| RecordEncoder::new(options).err().unwrap().to_string();
    assert_eq!(
        error(&Options::default()),
        "the column to predict is not named; name it with target; the columns are: "
    );
    let target = Options { target: Some("y".to_owned()), ..Options::default() };
    assert!(error(&Options { bits: 31, ..target.clone() }).starts_with("bits must be from 1 to 30; got 31"));
    let twice = Options { ignore: vec!["y".to_owned()], ..target.clone() };
    assert_eq!(error(&twice), "column 'y' is named in both target and ignore; name it in one of the two");
    let unnamed = Options { interactions: vec!["a*b".parse().unwrap()], ..target };
    assert!(error(&unnamed).starts_with("interactions names 'a', which is not a column"));
    let svmlight = Reader::open(&[Input::bytes("input", "1 1:2\n")], Options::default()).unwrap().schema().clone();
    assert!(RecordEncoder::with_schema(svmlight).is_err());
}
