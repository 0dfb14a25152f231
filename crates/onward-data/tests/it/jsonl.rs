//! The reader of JSON lines: against a tree that is flattened and encoded plainly, and on
//! bad lines.

use std::collections::HashSet;
use std::fmt;

use onward::hashing::feature_hash as hash;
use onward_data::{Column, Format, Kind, Layout, OnError, Options, Role, Schema, Target, TargetRule};
use proptest::prelude::*;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use crate::text::{self, Row, check, is_missing, number, options, read, value};

const BITS: u32 = 16;
/// The first index of hashed features in the schema below.
const RESERVED: u32 = 7;

/// A column of each role, so that the tests do not depend on what is inferred.
fn schema() -> Schema {
    let numeric = |slot, origin| Role::Feature(Kind::Numeric { slot, origin });
    let columns = [
        ("y", Role::Target),
        ("n", numeric(1, None)),
        ("b", Role::Feature(Kind::Boolean { slot: 3 })),
        ("c", Role::Feature(Kind::Categorical { origin: None })),
        ("a.x", numeric(5, Some(2.0))),
        ("skip", Role::Ignored),
        ("w", Role::Weight),
        ("id", Role::Id),
    ];
    let column = |(name, role): (&str, Role)| Column { name: name.to_owned(), role };
    Schema {
        interactions: Vec::new(),
        layout: Layout::Table,
        bits: BITS,
        ngrams: 1,
        columns: columns.map(column).to_vec(),
        target: Target { column: "y".to_owned(), rule: TargetRule::Number },
    }
}

fn bound() -> Options {
    Options { schema: Some(schema()), ..options(Format::JSONL, OnError::Stop) }
}

fn inferring(target: &str) -> Options {
    Options { target: Some(target.to_owned()), ..Options::default() }
}

/// JSON as it is written: keys may occur twice.
#[derive(Debug, Clone, PartialEq)]
enum Tree {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    Array(Vec<Tree>),
    Object(Vec<(String, Tree)>),
    /// Not JSON, but for the outermost brackets.
    Broken,
}

/// What a tree is read by.
struct Shape {
    /// Whether it is the whole record, with the columns of the schema.
    is_record: bool,
}

impl<'de> Visitor<'de> for Shape {
    type Value = Tree;
    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("JSON")
    }
    fn visit_unit<E>(self) -> Result<Tree, E> {
        Ok(Tree::Null)
    }
    fn visit_bool<E>(self, flag: bool) -> Result<Tree, E> {
        Ok(Tree::Bool(flag))
    }
    fn visit_i64<E>(self, number: i64) -> Result<Tree, E> {
        Ok(Tree::Number(number as f64))
    }
    fn visit_u64<E>(self, number: u64) -> Result<Tree, E> {
        Ok(Tree::Number(number as f64))
    }
    fn visit_f64<E>(self, number: f64) -> Result<Tree, E> {
        Ok(Tree::Number(number))
    }
    fn visit_str<E>(self, text: &str) -> Result<Tree, E> {
        Ok(Tree::Text(text.to_owned()))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut array: A) -> Result<Tree, A::Error> {
        let mut elements = Vec::new();
        while let Some(element) = array.next_element()? {
            elements.push(element);
        }
        Ok(Tree::Array(elements))
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Tree, A::Error> {
        let mut members = Vec::new();
        while let Some(key) = map.next_key::<String>()? {
            // What is left out need not have numbers within range, say.
            let value = if key == "skip" {
                let raw: Box<serde_json::value::RawValue> = map.next_value()?;
                serde_json::from_str(raw.get()).unwrap_or(Tree::Broken)
            } else if self.is_record && ["c", "id"].contains(&key.as_str()) {
                // As it is written; for a category and an id that is as good as text.
                let raw: Box<serde_json::value::RawValue> = map.next_value()?;
                match raw.get().starts_with(|first: char| first == '-' || first.is_ascii_digit()) {
                    true => Tree::Text(raw.get().to_owned()),
                    false => serde_json::from_str(raw.get()).map_err(serde::de::Error::custom)?,
                }
            } else {
                map.next_value()?
            };
            members.push((key, value));
        }
        Ok(Tree::Object(members))
    }
}

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Shape { is_record: false })
    }
}

/// A record as a tree.
struct Record(Tree);

impl<'de> Deserialize<'de> for Record {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Shape { is_record: true }).map(Self)
    }
}

impl fmt::Display for Tree {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |text: &str| serde_json::to_string(text).unwrap();
        match self {
            Self::Null | Self::Broken => out.write_str("null"),
            Self::Bool(flag) => write!(out, "{flag}"),
            Self::Number(number) => out.write_str(&serde_json::to_string(number).unwrap()),
            Self::Text(string) => out.write_str(&text(string)),
            Self::Array(elements) => {
                let elements: Vec<_> = elements.iter().map(Self::to_string).collect();
                write!(out, "[{}]", elements.join(", "))
            }
            Self::Object(members) => {
                let member = |(key, value): &(String, Tree)| format!("{}:{value}", text(key));
                let members: Vec<_> = members.iter().map(member).collect();
                write!(out, "{{{}}}", members.join(" , "))
            }
        }
    }
}

/// A cell or a set.
enum Leaf {
    Cell(Tree),
    Set(Vec<String>),
}

/// The leaves of a record by their paths.
#[derive(Default)]
struct Flat {
    leaves: Vec<(String, Leaf)>,
    met: HashSet<String>,
}

impl Flat {
    fn object(&mut self, path: Option<&str>, members: Vec<(String, Tree)>, depth: usize) -> Result<(), ()> {
        if depth > 100 {
            return Err(());
        }
        for (key, value) in members {
            let path = path.map_or(key.clone(), |path| format!("{path}.{key}"));
            if self.meet(&path)? {
                self.value(path, value, depth)?;
            }
        }
        Ok(())
    }

    /// An error if the path was met; false if it is to be skipped.
    fn meet(&mut self, path: &str) -> Result<bool, ()> {
        if self.met.insert(path.to_owned()) { Ok(path != "skip") } else { Err(()) }
    }

    fn value(&mut self, path: String, value: Tree, depth: usize) -> Result<(), ()> {
        let takes_one = ["y", "w", "id"].contains(&path.as_str());
        match value {
            Tree::Broken => Err(()),
            Tree::Object(_) | Tree::Array(_) if takes_one => Err(()),
            Tree::Object(members) => self.object(Some(&path), members, depth + 1),
            Tree::Array(elements) => self.array(path, elements),
            value => {
                self.leaves.push((path, Leaf::Cell(value)));
                Ok(())
            }
        }
    }

    fn array(&mut self, path: String, elements: Vec<Tree>) -> Result<(), ()> {
        if elements.iter().any(|element| matches!(element, Tree::Array(_) | Tree::Object(_))) {
            return Err(());
        }
        if elements.iter().any(|element| matches!(element, Tree::Text(_) | Tree::Bool(_))) {
            let elements = elements.iter().filter(|element| **element != Tree::Null);
            self.leaves.push((path, Leaf::Set(elements.map(text_of).collect())));
            return Ok(());
        }
        if elements.iter().all(|element| *element == Tree::Null) {
            return Ok(());
        }
        for (at, element) in elements.into_iter().enumerate() {
            let path = format!("{path}.{at}");
            if self.meet(&path)? {
                self.leaves.push((path, Leaf::Cell(element)));
            }
        }
        Ok(())
    }
}

fn text_of(value: &Tree) -> String {
    match value {
        Tree::Null => String::new(),
        Tree::Bool(flag) => flag.to_string(),
        Tree::Number(number) => number.to_string(),
        Tree::Text(text) => text.clone(),
        Tree::Array(_) | Tree::Object(_) | Tree::Broken => unreachable!(),
    }
}

fn hashed(column: &str, value: &str) -> u32 {
    let hash = hash::name(hash::seed(column.as_bytes()), value.as_bytes());
    RESERVED + (hash % (1 << BITS)) as u32
}

/// Encodes leaves by the schema above, plainly.
struct Plain {
    features: Vec<(u32, f32)>,
    label: Option<f64>,
    weight: Option<f64>,
    id: String,
}

impl Plain {
    fn leaf(&mut self, path: &str, leaf: &Leaf) -> Result<(), ()> {
        let cell = match leaf {
            Leaf::Cell(cell) => cell,
            Leaf::Set(elements) => {
                // Each element once, and a path occurs once.
                let once = elements.iter().enumerate().filter(|(at, element)| !elements[..*at].contains(element));
                let features = once.map(|(_, element)| (hashed(path, element), 1.0));
                self.features.extend(features);
                return Ok(());
            }
        };
        match path {
            "y" => self.label = label(cell)?,
            "w" => {
                self.weight =
                    Some(numeric(cell)?.filter(|weight| *weight == 0.0 || (1e-38..3.5e38).contains(weight)).ok_or(())?)
            }
            "id" => self.id = text_of(cell),
            "n" => self.numeric(1, 0.0, numeric(cell)?)?,
            "a.x" => self.numeric(5, 2.0, numeric(cell)?)?,
            "b" => self.boolean(cell)?,
            "c" => self.category(path, cell),
            _ => match cell {
                Tree::Number(number) => self.features.push((hashed(path, ""), value(*number)?)),
                cell => self.category(path, cell),
            },
        }
        Ok(())
    }

    fn numeric(&mut self, slot: u32, origin: f64, number: Option<f64>) -> Result<(), ()> {
        match number {
            None => self.features.push((slot + 1, 1.0)),
            Some(number) if number == origin && slot == 5 => {}
            Some(number) => self.features.push((slot, value(number - origin)?)),
        }
        Ok(())
    }

    fn boolean(&mut self, cell: &Tree) -> Result<(), ()> {
        let flag = match text_of(cell).to_ascii_lowercase().as_str() {
            text if is_missing(text) => {
                self.features.push((4, 1.0));
                return Ok(());
            }
            "true" | "t" | "yes" | "y" | "1" => 1.0,
            "false" | "f" | "no" | "n" | "0" | "-0" if *cell != Tree::Text("-0".into()) => 0.0,
            _ => return Err(()),
        };
        self.features.push((3, flag));
        Ok(())
    }

    fn category(&mut self, path: &str, cell: &Tree) {
        let text = text_of(cell);
        if !is_missing(&text) {
            self.features.push((hashed(path, &text), 1.0));
        }
    }
}

fn numeric(cell: &Tree) -> Result<Option<f64>, ()> {
    match cell {
        Tree::Number(number) => Ok(Some(*number)),
        Tree::Bool(flag) => Ok(Some(f64::from(u8::from(*flag)))),
        Tree::Text(text) if is_missing(text) => Ok(None),
        Tree::Text(text) => number(text.trim_matches(|letter: char| letter.is_ascii_whitespace())).map(Some).ok_or(()),
        _ => Ok(None),
    }
}

fn label(cell: &Tree) -> Result<Option<f64>, ()> {
    match numeric(cell)? {
        Some(label) if label.abs() > f64::from(f32::MAX) => Err(()),
        label => Ok(label),
    }
}

/// A line, read plainly.
fn plain(line: &str) -> Result<Option<Row>, ()> {
    let Ok(Record(Tree::Object(members))) = serde_json::from_str(line) else {
        return Err(());
    };
    let mut flat = Flat::default();
    flat.object(None, members, 1)?;
    let mut row = Plain { features: vec![(0, 1.0)], label: None, weight: None, id: String::new() };
    for (path, leaf) in &flat.leaves {
        row.leaf(path, leaf)?;
    }
    let has = |name: &str| flat.leaves.iter().any(|(path, leaf)| path == name && matches!(leaf, Leaf::Cell(_)));
    for (name, indicator) in [("n", 2), ("b", 4), ("a.x", 6)] {
        if !has(name) {
            row.features.push((indicator, 1.0));
        }
    }
    Ok(Some(Row::new(row.features, row.label, row.weight.ok_or(())?, &[&row.id])))
}

#[test]
fn nested_objects_are_flattened_and_types_decide() {
    let line = r#"{"y": 1, "w": 2, "id": "é\n", "n": 0.5, "b": true, "c": "5", "a": {"x": 3, "deep": {"z": 7}}}"#;
    let outcome = read(format!("{line}\n"), bound()).whole();
    let features = vec![(0, 1.0), (1, 0.5), (3, 1.0), (hashed("c", "5"), 1.0), (5, 1.0), (hashed("a.deep.z", ""), 7.0)];
    assert_eq!(outcome.rows, [Row::new(features, Some(1.0), 2.0, &["é\n"])]);
    assert_eq!(outcome.name(hashed("c", "5")), "c=5");
    assert_eq!(outcome.name(hashed("a.deep.z", "")), "a.deep.z");
}

#[test]
fn arrays_are_sets_or_vectors() {
    let line = r#"{"y":1,"w":1,"n":[1,null,2],"b":false,"c":["u",7,true,null],"a":{"x":2},"e":[],"f":[null]}"#;
    let features = vec![
        (0, 1.0),
        (hashed("n.0", ""), 1.0),
        (hashed("n.2", ""), 2.0),
        (3, 0.0),
        (hashed("c", "u"), 1.0),
        (hashed("c", "7"), 1.0),
        (hashed("c", "true"), 1.0),
        (2, 1.0),
    ];
    let row = Row::new(features, Some(1.0), 1.0, &[""]);
    assert_eq!(read(line, bound()).whole().rows, [row]);
}

#[test]
fn keys_that_come_later_are_features_of_their_own() {
    let text = "{\"y\": 1, \"a\": 1}\n{\"y\": 0, \"a\": 2}\n".repeat(5001)
        + "{\"y\": 1, \"a\": 1, \"new\": \"x\", \"number\": 3}\n";
    let outcome = read(text, inferring("y")).whole();
    let names: Vec<_> = outcome.names.values().flatten().map(String::as_str).collect();
    assert!(names.contains(&"new=x") && names.contains(&"number"), "{names:?}");
    assert_eq!(outcome.rows.last().unwrap().features.len(), 4);
}

#[test]
fn columns_are_inferred_with_their_types() {
    let line = |at: usize| {
        format!(
            r#"{{"y": {}, "number": {at}, "flag": {}, "zip": "0{}", "when": "2013-01-{:02}", "in": {{"v": [{at}, 1.5]}}, "tags": ["a"]}}"#,
            at % 2,
            at.is_multiple_of(2),
            at % 7,
            at % 28 + 1,
        )
    };
    let text: Vec<_> = (0..60).map(line).collect();
    let outcome = read(text.join("\n"), inferring("y")).whole();
    assert_eq!(
        outcome.notes,
        [
            "format: jsonl",
            "target: y, 1 against 0 or -1 (binary)",
            "numbers: number, in.v.0",
            "true or false: flag",
            "categories: zip",
            "sets: tags",
            "dates (hour, weekday, month, days): when",
            "constant in the first 60 rows, ignored until they change: in.v.1",
        ]
    );
}

#[test]
fn an_ignored_object_is_left_out_with_all_that_is_in_it() {
    let text = r#"{"y": 1, "a": 1, "o": {"p": [{"q": [[1]]}], "r": 1e999}}
{"y": 2, "a": 2, "o": {"new": 1}}"#;
    let ignoring = Options { ignore: vec!["o".to_owned()], ..inferring("y") };
    let outcome = read(text, ignoring).whole();
    let lengths: Vec<_> = outcome.rows.iter().map(|row| row.features.len()).collect();
    assert_eq!(lengths, [2, 2]);
    // A model of this schema leaves it out too.
    let predicting = Options { schema: outcome.schema, ..Options::default() };
    assert_eq!(read(text, predicting).whole().rows, outcome.rows);
}

#[test]
fn a_nested_key_can_be_target_and_ignored() {
    let text = "{\"a\": {\"y\": 1, \"x\": 5, \"s\": {\"t\": 1}}}\n{\"a\": {\"y\": 2, \"x\": 6}}\n";
    let options = Options { ignore: vec!["a.s".to_owned()], ..inferring("a.y>1") };
    let outcome = read(text, options).whole();
    let labels: Vec<_> = outcome.rows.iter().map(|row| row.label.map(f64::from_bits)).collect();
    assert_eq!(labels, [Some(-1.0), Some(1.0)]);
    assert_eq!(outcome.rows[0].features.len(), 2);
}

#[test]
fn a_key_to_ignore_that_is_not_there_is_an_error() {
    let ignoring = Options { ignore: vec!["o.p".to_owned()], ..inferring("y") };
    assert_eq!(
        read(r#"{"y": 1, "o": {"pq": 1}}"#, ignoring).error.unwrap(),
        "input: --ignore names 'o.p', which is not a column; did you mean 'o.pq'?"
    );
}

#[test]
fn numbers_that_few_rows_have_are_not_missed_by_the_others() {
    let line = |at: usize| format!("{{\"y\": {}, \"every\": {at}, \"word{}\": 1}}\n", at % 2, at % 40);
    let text: String = (0..400).map(line).collect();
    let outcome = read(text, inferring("y")).whole();
    assert!(outcome.rows.iter().all(|row| row.features.len() == 3));
    assert!(outcome.notes[3].starts_with("in fewer than 1 of 20 rows"), "{:?}", outcome.notes);
}

#[test]
fn many_rows_of_new_keys_are_read_in_memory_that_stays() {
    let line = |at: usize| format!("{{\"y\": 1, \"a\": 1, \"key{at}\": 1}}\n");
    let text: String = (0..50_000).map(line).collect();
    assert_eq!(read(text, inferring("y")).whole().rows.len(), 50_000);
}

#[test]
fn json_and_csv_of_the_same_table_are_the_same_examples() {
    let cell = |at: usize| {
        let (year, day) = (2000 + at % 3, at % 28 + 1);
        let text = format!("words of text {} and {} again", at * 7 % 13, at * 5 % 11);
        (at as f64 * 0.37 - 3.0, format!("k{}", at % 5), format!("{year}-02-{day:02}T07:30:00"), text)
    };
    let (mut csv, mut json) = ("y,n,c,t,s\n".to_owned(), String::new());
    for at in 0..50 {
        let (number, category, time, text) = cell(at);
        csv.push_str(&format!("{at},{number},{category},{time},{text}\n"));
        json.push_str(&format!(
            "{{\"y\":{at},\"n\":{number},\"c\":\"{category}\",\"t\":\"{time}\",\"s\":\"{text}\"}}\n"
        ));
    }
    let (csv, json) = (read(csv, inferring("y")).whole(), read(json, inferring("y")).whole());
    assert_eq!((csv.format, json.format), (Some(Format::CSV), Some(Format::JSONL)));
    assert_eq!(csv.schema, json.schema);
    assert_eq!(csv.rows, json.rows);
}

#[test]
fn a_weight_is_needed_for_learning_only() {
    let predicting = Options { require_target: false, ..bound() };
    let outcome = read("{\"n\": 1}\n", predicting).whole();
    assert_eq!(outcome.rows[0].weight, 1f64.to_bits());
}

#[test]
fn an_array_of_objects_is_recognised_and_refused() {
    let remedy = "write one object per line, without brackets and commas around them, for instance with jq -c '.[]'";
    assert_eq!(
        read("[{\"a\": 1}, {\"a\": 2}]", Options::default()).error.unwrap(),
        format!("input, line 1: expected an object, found the array '[{{\"a\": 1}}, {{\"a\": 2}}]'; {remedy}")
    );
    assert_eq!(
        read("\n[\n  {\"a\": 1},\n  {\"a\": 2}\n]\n", Options::default()).error.unwrap(),
        format!("input, line 2: expected an object, found the array '['; {remedy}")
    );
}

#[test]
fn an_object_over_several_lines_is_refused() {
    assert_eq!(
        read("{\n  \"a\": 1\n}\n", Options::default()).error.unwrap(),
        "input, line 1: is not a whole JSON object: it ends inside an object; write one whole object per line, for \
         instance with jq -c ."
    );
}

refused! { bound(), r#"{"y": 1, "w": 1, "n": 1}"#;
    a_number_instead_of_an_object: "5" =>
        ": expected an object like {\"a\": 1}, found '5'; fix the record, or skip such records with --on-error skip";
    a_string_instead_of_an_object: r#""n""# =>
        ": expected an object like {\"a\": 1}, found '\"n\"'; fix the record, or skip such records with --on-error skip";
    an_array_instead_of_an_object: "[1, 2]" =>
        ": expected an object, found the array '[1, 2]'; write one object per line, without brackets and commas around them, for instance with jq -c '.[]'";
    words_instead_of_an_object: "y=1 n=2" =>
        ": expected an object like {\"a\": 1}, found 'y=1 n=2'; fix the record, or skip such records with --on-error skip";
    a_line_that_is_cut_short: r#"{"y": 1, "w": 1, "n": 1"# =>
        ": is not a whole JSON object: it ends inside an object; write one whole object per line, for instance with \
         jq -c .";
    a_string_that_is_cut_short: r#"{"y": 1, "w": 1, "c": "x"# =>
        ": is not a whole JSON object: it ends inside a string; write one whole object per line, for instance with jq \
         -c .";
    two_objects_on_a_line: r#"{"y": 1, "w": 1} {"y": 2, "w": 1}"# =>
        ": is not JSON: trailing characters at character 18 ('{\"y\": 2, \"w\": 1}'); write one object per line";
    a_comma_after_the_object: r#"{"y": 1, "w": 1},"# =>
        ": is not JSON: trailing characters at character 17 (','); write one object per line";
    a_comma_before_the_brace: r#"{"y": 1, "w": 1,}"# =>
        ": is not JSON: trailing comma at character 17 ('}'); fix the record, or skip such records with --on-error skip";
    a_missing_colon: r#"{"é" 1}"# =>
        ", column 'é': is not JSON: expected `:` at character 6 ('1}'); fix the record, or skip such records with --on-error skip";
    a_missing_comma: r#"{"y": 1 "w": 1}"# =>
        ": is not JSON: expected `,` or `}` at character 9 ('\"w\": 1}'); fix the record, or skip such records with --on-error skip";
    a_key_without_quotes: r#"{y: 1}"# =>
        ": is not JSON: key must be a string at character 2 ('y: 1}'); fix the record, or skip such records with --on-error skip";
    a_string_in_single_quotes: r#"{"c": 'x'}"# =>
        ", column 'c': is not JSON: expected value at character 7 (''x'}'); fix the record, or skip such records with --on-error skip";
    not_a_number: r#"{"é": NaN}"# =>
        ", column 'é': is not JSON: expected value at character 7 ('NaN}'); JSON has neither NaN nor infinity: write null for a missing value";
    an_infinite_number: r#"{"n": -Infinity}"# =>
        ", column 'n': is not JSON: invalid number at character 8 ('Infinity}'); JSON has neither NaN nor infinity: write null for a missing value";
    a_number_beyond_f64: r#"{"n": 1e400}"# =>
        ", column 'n': the number '1e400' is beyond ±1.8e308, the range of 64-bit floats; rescale it, or leave the key out with --ignore";
    a_number_with_a_leading_zero: r#"{"n": 01}"# =>
        ", column 'n': is not JSON: invalid number at character 8 ('1}'); fix the record, or skip such records with --on-error skip";
    a_hexadecimal_number: r#"{"n": 0x10}"# =>
        ": is not JSON: expected `,` or `}` at character 8 ('x10}'); fix the record, or skip such records with --on-error skip";
    an_invalid_escape: r#"{"c": "\x41"}"# =>
        ", column 'c': is not JSON: invalid escape at character 9 ('x41\"}'); fix the record, or skip such records with --on-error skip";
    a_lone_surrogate: r#"{"c": "\ud800"}"# =>
        ", column 'c': is not JSON: unexpected end of hex escape at character 14 ('\"}'); fix the record, or skip such records with --on-error skip";
    a_surrogate_the_wrong_way_round: r#"{"c": "\udc00\ud800"}"# =>
        ", column 'c': is not JSON: lone leading surrogate in hex escape at character 13 ('0\\ud800\"}'); fix the record, or skip such records with --on-error skip";
    a_tab_in_a_string: "{\"c\": \"a\tb\"}" =>
        ", column 'c': is not JSON: control character (\\u0000-\\u001F) found while parsing a string at character 9 ('\\tb\"}'); fix the record, or skip such records with --on-error skip";
    objects_too_deep: format!("{}1{}", "{\"d\":".repeat(101), "}".repeat(101)) =>
        ", column 'd': objects are nested deeper than 100; leave the key out with --ignore 'd'";
    arrays_without_end: format!("{{\"d\": {}", "[".repeat(100_000)) =>
        ", column 'd': holds an array of arrays; leave it out with --ignore 'd', or write its parts as keys of their own";
    an_array_of_objects: r#"{"o": {"items": [1, {"a": 1}]}}"# =>
        ", column 'o.items': holds an array of objects; leave it out with --ignore 'o.items', or write its parts as keys of their own";
    an_array_of_arrays: r#"{"grid": [[1], [2]]}"# =>
        ", column 'grid': holds an array of arrays; leave it out with --ignore 'grid', or write its parts as keys of their own";
    a_key_twice: r#"{"n": 1, "n": 2}"# =>
        ", column 'n': the key occurs twice in the record; fix the record, or skip such records with --on-error skip";
    an_unknown_key_twice: r#"{"k": 1, "k": {"l": 2}}"# =>
        ", column 'k': the key occurs twice in the record; fix the record, or skip such records with --on-error skip";
    a_key_twice_by_its_path: r#"{"a.x": 1, "a": {"x": 2}}"# =>
        ", column 'a.x': the key occurs twice in the record; fix the record, or skip such records with --on-error skip";
    an_object_as_target: r#"{"w": 1, "y": {"value": 1}}"# =>
        ", column 'y': expected one value, found an object; fix the record, or skip such records with --on-error skip";
    an_array_as_weight: r#"{"y": 1, "w": [1]}"# =>
        ", column 'w': expected one value, found an array; fix the record, or skip such records with --on-error skip";
    a_row_without_a_weight: r#"{"y": 1, "n": 1}"# =>
        ", column 'w': the importance weight must be 0 or from 1e-38 to 3.4e38; got missing";
    a_negative_weight: r#"{"y": 1, "w": -1}"# =>
        ", column 'w': the importance weight must be 0 or from 1e-38 to 3.4e38; got -1";
    a_target_that_is_no_number: r#"{"y": "late", "w": 1}"# =>
        ", column 'y': the label must be a finite number; got 'late'; fix the record, or skip such records with --on-error skip";
    text_where_a_number_should_be: r#"{"n": "many"}"# =>
        ", column 'n': expected a number, found 'many'; fix the record, or skip such records with --on-error skip";
    a_number_beyond_f32: r#"{"n": 1e39}"# =>
        ", column 'n': the value 1e39 is beyond ±3.4e38, the range of 32-bit floats; fix the record, or skip such records with --on-error skip; write a missing value as null";
    an_unknown_number_beyond_f32: r#"{"u": {"v": -1e39}}"# =>
        ", column 'u.v': the value -1e39 is beyond ±3.4e38, the range of 32-bit floats; fix the record, or skip such records with --on-error skip; write a missing value as null";
    a_number_where_a_truth_value_should_be: r#"{"b": 2}"# =>
        ", column 'b': expected true or false, found 2; fix the record, or skip such records with --on-error skip";
    bytes_that_are_not_utf8: b"{\"c\": \"caf\xe9\"}" =>
        ": is not UTF-8: bytes e9 22 7d after '{\"c\": \"caf'; convert the file to UTF-8, for instance with iconv, or skip such records with --on-error skip";
}

fn key() -> impl Strategy<Value = String> {
    const KEYS: &[&str] = &["y", "n", "b", "c", "a", "x", "skip", "w", "id", "z", "q.r", "", "é\"\\", "0", "a.x"];
    prop_oneof![5 => prop::sample::select(KEYS).prop_map(str::to_owned), 1 => "\\PC{1,4}"]
}

fn tree() -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![
        Just(Tree::Null),
        any::<bool>().prop_map(Tree::Bool),
        (-1000..1000i32).prop_map(|number| Tree::Number(number.into())),
        any::<f64>().prop_filter("finite", |number| number.is_finite()).prop_map(Tree::Number),
        prop::sample::select(&["1", "-2.5", "yes", "no", "NA", "", "x", " 7 "][..])
            .prop_map(|text| Tree::Text(text.into())),
        "[\\PC\t\n\u{1}]{0,6}".prop_map(Tree::Text),
    ];
    leaf.prop_recursive(4, 24, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Tree::Array),
            prop::collection::vec((key(), inner), 0..5).prop_map(Tree::Object),
        ]
    })
}

/// A record whose known columns have values that they take.
fn record() -> impl Strategy<Value = Tree> {
    let number =
        || prop_oneof![(-1e9..1e9f64).prop_map(Tree::Number), Just(Tree::Null), Just(Tree::Text("2.5".into()))];
    let flag = prop_oneof![any::<bool>().prop_map(Tree::Bool), Just(Tree::Text("yes".into()))];
    let set = prop::collection::vec("[a-d]{1,2}".prop_map(Tree::Text), 0..4).prop_map(Tree::Array);
    let vector = prop::collection::vec(number(), 0..4).prop_map(|numbers| {
        Tree::Array(numbers.into_iter().filter(|number| !matches!(number, Tree::Text(_))).collect())
    });
    let text = prop_oneof!["\\PC{0,8}", "[a\n\t\"\\\\]{0,5}"].prop_map(Tree::Text);
    let nested = (number(), text.clone()).prop_map(|(x, z)| Tree::Object(vec![("x".into(), x), ("z".into(), z)]));
    let members = (
        (number(), 0.0..9.0f64, number(), flag),
        (text.clone(), nested, tree(), text, set, vector),
        any::<prop::sample::Index>(),
    );
    members.prop_map(|((y, w, n, b), (c, a, skip, id, s, v), start)| {
        let keys = ["y", "w", "n", "b", "c", "a", "skip", "id", "s", "v"].map(str::to_owned);
        let values = [y, Tree::Number(w), n, b, c, a, skip, id, s, v];
        let mut members: Vec<_> = keys.into_iter().zip(values).collect();
        let length = members.len();
        members.rotate_left(start.index(length));
        members.retain(|(key, _)| key != "b" || start.index(7) > 0);
        Tree::Object(members)
    })
}

fn mutated() -> impl Strategy<Value = Vec<u8>> {
    text::mutated(
        prop_oneof![record().boxed(), tree().boxed()].prop_map(|tree| tree.to_string()),
        b"{}[]:,\"\\ 0123456789.-+eEnultrfas",
    )
}

fn with(chunk_size: usize, threads: usize) -> Options {
    Options { chunk_size, threads, ..bound() }
}

/// A first line that has the columns of the schema, so that the input is not refused as a whole.
const FIRST: &str = "{\"y\":1,\"w\":1,\"n\":1}\n";

proptest! {
    #[test]
    fn what_is_written_is_read_as_by_a_plain_parser(
        records in prop::collection::vec(record(), 1..12),
        chunk_size in 1..2000usize,
        threads in 1..4usize,
    ) {
        let lines: Vec<_> = records.iter().map(Tree::to_string).collect();
        let outcome = read(lines.join("\r\n"), with(chunk_size, threads)).whole();
        let expected: Vec<_> = lines.iter().filter_map(|line| plain(line).unwrap()).collect();
        prop_assert_eq!(outcome.rows, expected);
    }

    #[test]
    fn bad_lines_are_those_of_a_plain_parser(
        lines in prop::collection::vec(mutated(), 1..10),
        chunk_size in 1..2000usize,
        threads in 1..4usize,
    ) {
        let text = [FIRST.as_bytes(), &lines.join(&b'\n')].concat();
        check(&text, &with(chunk_size, threads), plain).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..300), chunk_size in 1..400usize) {
        // Control characters at the head would have the input refused as a whole.
        let text = [FIRST.repeat(200).as_bytes(), &bytes].concat();
        check(&text, &with(chunk_size, 2), plain).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn inference_takes_any_records(trees in prop::collection::vec(tree(), 1..20)) {
        let text: String = trees.iter().map(|tree| format!("{tree}\n")).collect();
        let options = Options { on_error: OnError::Skip, ..inferring("y") };
        drop(read(format!("{FIRST}{text}"), options));
    }
}

const LONG: &str = "{\"id\":1234567890123456789,\"b\":1,\"y\":0}\n{\"id\":1234567890123456790,\"b\":1.50,\"y\":1}\n";

#[test]
fn ids_keep_the_numbers_as_they_are_written() {
    let ids = ["id", "b"].map(str::to_owned).to_vec();
    let text = LONG.replace("\"y\"", "\"x\":[\"u\"],\"y\"");
    let outcome = read(text, Options { ids, ..inferring("y") }).whole();
    let ids: Vec<_> = outcome.rows.iter().map(|row| row.ids.join(" ")).collect();
    assert_eq!(ids, ["1234567890123456789 1", "1234567890123456790 1.50"]);
}

#[test]
fn long_numbers_are_categories_of_their_own() {
    let outcome = read(LONG, Options { categorical: vec!["id".to_owned()], ..inferring("y") }).whole();
    let names: HashSet<_> = outcome.names.values().flatten().map(String::as_str).collect();
    assert!(names.contains("id=1234567890123456789") && names.contains("id=1234567890123456790"), "{names:?}");
}

#[test]
fn long_numbers_are_compared_to_the_last_digit() {
    let csv = "id,b\n1234567890123456789,1\n1234567890123456790,2\n";
    for text in [LONG, csv] {
        for (target, expected) in [("id==1234567890123456789", [1.0, -1.0]), ("id!=1234567890123456789", [-1.0, 1.0])] {
            let outcome = read(text, inferring(target)).whole();
            let labels: Vec<_> = outcome.rows.iter().map(|row| row.label).collect();
            assert_eq!(labels, expected.map(|label: f64| Some(label.to_bits())), "{target}");
        }
    }
}

#[test]
fn a_value_where_text_is_wanted_may_be_an_object_or_have_mistakes() {
    let options = || Options { categorical: vec!["c".to_owned()], ..inferring("y") };
    let text = "{\"y\":0,\"c\":1}\n{\"y\":1,\"c\":{\"d\":2}}\n";
    assert_eq!(read(text, options()).whole().rows.len(), 2);
    let error = read(text.to_owned() + "{\"y\":1,\"c\":\"\\ud800\"}\n", options()).error.unwrap();
    assert!(error.contains("line 3, column 'c': is not JSON") && error.contains(" at character 19 "), "{error}");
}

#[test]
fn remedies_of_json_speak_of_null() {
    let error = read("{\"y\":1,\"n\":1}\n{\"y\":0,\"n\":1e39}\n", inferring("y")).error.unwrap();
    assert!(error.ends_with("leave it out with --ignore; write a missing value as null"), "{error}");
    let row = |at: usize| if at > 29 { "\"?\"".to_owned() } else { at.to_string() };
    let text: String = (0..40).map(|at| format!("{{\"y\":{},\"x\":{}}}\n", at % 2, row(at))).collect();
    let outcome = read(text, inferring("y")).whole();
    assert!(outcome.notes.iter().any(|note| note.ends_with("stands for a missing value, write null")));
}

#[test]
fn parts_of_an_object_are_suggested_and_single_letters_are_not() {
    let error = |text: &str, target| read(text, inferring(target)).error.unwrap();
    assert_eq!(
        error("{\"a\":1,\"y\":{\"z\":1}}\n", "y"),
        "input: --target names 'y', which is not a column; did you mean 'y.z'?"
    );
    assert_eq!(
        error("{\"a\":1,\"y\":{\"u\":1,\"v\":1}}\n", "y"),
        "input: --target names 'y', which is not a column; did you mean one of its parts? There are: y.u, y.v"
    );
    assert_eq!(error("{\"a\":1}\n", "x"), "input: --target names 'x', which is not a column; the columns are: a");
    assert_eq!(error("{\"Ab\":1}\n", "ab"), "input: --target names 'ab', which is not a column; did you mean 'Ab'?");
    assert_eq!(
        error("{\"abcd\":1}\n", "abc"),
        "input: --target names 'abc', which is not a column; did you mean 'abcd'?"
    );
}
