//! Products of features: against a slow twin that makes all tuples and keeps some, and on
//! what cannot be multiplied.

use std::collections::BTreeSet;

use onward::hashing::feature_hash as hash;
use onward::loss::Task;
use onward_data::{Format, Interaction, Kind, OnError, Options, Role, Schema};
use proptest::prelude::*;

use crate::text::{self, Outcome, Row, options, read};

/// A feature of a group: its index and value, and whether it has a square.
type Factor = (u32, f32, bool);

/// The terms of an interaction, `None` being a wildcard.
type Terms = Vec<Option<&'static str>>;

/// SplitMix64's finaliser and the hash made of it, as the documentation has them.
fn index_of(factors: &[Factor], reserved: u32, bits: u32) -> u32 {
    let mix = |z: u64| {
        let z = (z ^ (z >> 30)).wrapping_mul(0xbf58476d1ce4e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d049bb133111eb);
        z ^ (z >> 31)
    };
    let hash = factors[1..]
        .iter()
        .fold(u64::from(factors[0].0), |hash, &(index, ..)| mix(hash.rotate_left(32) ^ u64::from(index)));
    reserved + (hash % (1 << bits)) as u32
}

/// All tuples with one element of each list, the last changing fastest.
fn tuples<T: Clone>(lists: &[Vec<T>]) -> Vec<Vec<T>> {
    lists.iter().fold(vec![Vec::new()], |tuples, list| {
        let longer =
            |tuple: &Vec<T>| list.iter().map(|last| [tuple.as_slice(), std::slice::from_ref(last)].concat()).collect();
        tuples.iter().flat_map(|tuple| -> Vec<Vec<T>> { longer(tuple) }).collect()
    })
}

/// The combinations of groups, by number; of those of equal groups the first.
fn combinations(interactions: &[Terms], names: &[&str]) -> Vec<Vec<usize>> {
    let mut made = BTreeSet::new();
    let mut all = Vec::new();
    for terms in interactions {
        let choices: Vec<Vec<usize>> = terms
            .iter()
            .map(|term| (0..names.len()).filter(|&group| term.is_none_or(|name| names[group] == name)).collect())
            .collect();
        for groups in tuples(&choices) {
            let wild = groups.iter().zip(terms).filter(|(_, term)| term.is_none()).map(|(group, _)| *group);
            let mut sorted = groups.clone();
            sorted.sort();
            if wild.is_sorted() && made.insert(sorted) {
                all.push(groups);
            }
        }
    }
    all
}

/// The products of a row.
fn products(interactions: &[Terms], groups: &[(&str, Vec<Factor>)], reserved: u32, bits: u32) -> Vec<(u32, f32)> {
    let names: Vec<&str> = groups.iter().map(|(name, _)| *name).collect();
    let combinations = combinations(interactions, &names);
    let repeats = |group: usize| combinations.iter().any(|all| all.iter().filter(|&&other| other == group).count() > 1);
    let factors = |group: usize| -> Vec<Factor> {
        let mut factors = groups[group].1.clone();
        if repeats(group) {
            let mut sums: Vec<Factor> = Vec::new();
            for (index, value, has_square) in factors {
                match sums.iter_mut().find(|(other, ..)| *other == index) {
                    Some((_, sum, _)) => *sum += value,
                    None => sums.push((index, value, has_square)),
                }
            }
            sums.sort_by_key(|(index, ..)| *index);
            factors = sums;
        }
        factors.retain(|(_, value, _)| *value != 0.0);
        factors
    };
    let mut made = Vec::new();
    for groups in &combinations {
        let lists: Vec<Vec<Factor>> = groups.iter().map(|&group| factors(group)).collect();
        for tuple in tuples(&lists) {
            let is_in_order = (0..groups.len()).all(|late| {
                (0..late).filter(|&early| groups[early] == groups[late]).all(|early| {
                    let (early, late) = (tuple[early], tuple[late]);
                    early.0 < late.0 || early.0 == late.0 && early.2
                })
            });
            let value = tuple.iter().fold(1.0, |product, &(_, value, _)| product * f64::from(value)) as f32;
            if is_in_order && value != 0.0 {
                made.push((index_of(&tuple, reserved, bits), value));
            }
        }
    }
    made
}

const LISTS: [(&str, &[&[Option<&str>]]); 9] = [
    ("a*b", &[&[Some("a"), Some("b")]]),
    ("b*a,c*a", &[&[Some("b"), Some("a")], &[Some("c"), Some("a")]]),
    ("a*a", &[&[Some("a"), Some("a")]]),
    ("a*b*c", &[&[Some("a"), Some("b"), Some("c")]]),
    (
        "b*a*b,a*a*a,b*c",
        &[&[Some("b"), Some("a"), Some("b")], &[Some("a"), Some("a"), Some("a")], &[Some("b"), Some("c")]],
    ),
    ("b**", &[&[Some("b"), None]]),
    ("***", &[&[None, None]]),
    ("c*b, * * *, a*b", &[&[Some("c"), Some("b")], &[None, None], &[Some("a"), Some("b")]]),
    ("* * a * *", &[&[None, Some("a"), None]]),
];

/// A list of interactions as it is written, and what it means.
fn list() -> impl Strategy<Value = (Vec<Interaction>, Vec<Terms>)> {
    prop::sample::select(LISTS.to_vec()).prop_map(|(text, terms)| {
        (Interaction::list(text).unwrap(), terms.iter().map(|terms| terms.to_vec()).collect())
    })
}

/// Values whose products and sums are exact.
fn value() -> impl Strategy<Value = f32> {
    prop::sample::select(vec![-2.0, -1.0, 0.0, 0.5, 1.0, 1.0, 3.0])
}

/// The namespaces of a row, which may come again, with names and values.
type Parts = Vec<(&'static str, Vec<(&'static str, f32)>)>;

fn parts() -> impl Strategy<Value = Parts> {
    let feature = (prop::sample::select(vec!["x", "y", "z"]), value());
    let part = (prop::sample::select(vec!["a", "b", "c", "d", ""]), prop::collection::vec(feature, 0..4));
    prop::collection::vec(part, 0..6)
}

fn line(parts: &Parts) -> String {
    let part = |(name, features): &(&str, Vec<(&str, f32)>)| {
        let features: String = features.iter().map(|(name, value)| format!(" {name}:{value}")).collect();
        format!("|{name}{features} ")
    };
    format!("1 {}\n", if parts.is_empty() { "|".to_owned() } else { parts.iter().map(part).collect() })
}

fn expected_of_namespaces(parts: &Parts, interactions: &[Terms], bits: u32) -> Row {
    let index = |namespace: &str, name: &str| {
        1 + (hash::name(hash::seed(namespace.as_bytes()), name.as_bytes()) % (1 << bits)) as u32
    };
    let mut features = vec![(0, 1.0)];
    let mut groups: Vec<(&str, Vec<Factor>)> = Vec::new();
    for (namespace, named) in parts {
        let at = groups.iter().position(|(name, _)| name == namespace).unwrap_or_else(|| {
            groups.push((namespace, Vec::new()));
            groups.len() - 1
        });
        for &(name, value) in named.iter().filter(|(_, value)| *value != 0.0) {
            features.push((index(namespace, name), value));
            groups[at].1.push((index(namespace, name), value, true));
        }
    }
    // With a wildcard the groups are those of the row, else those that are named.
    if interactions.iter().flatten().all(Option::is_some) {
        let lacking = ["a", "b", "c"].into_iter().filter(|name| !parts.iter().any(|(other, _)| other == name));
        groups.extend(lacking.map(|name| (name, Vec::new())));
    }
    groups.sort_by_key(|(name, _)| *name);
    features.extend(products(interactions, &groups, 1, bits));
    Row::new(features, Some(1.0), 1.0, &[""])
}

fn vw(interactions: &str) -> Options {
    Options {
        task: Some(Task::Regression),
        interactions: Interaction::list(interactions).unwrap(),
        ..options(Format::VW, OnError::Stop)
    }
}

/// Cells of a row: two numbers, a category, a truth value; empty is missing.
type Cells = (Option<f32>, Option<f32>, &'static str, Option<bool>);

fn cells() -> impl Strategy<Value = Cells> {
    let category = prop::sample::select(vec!["p", "q", "r", ""]);
    (prop::option::of(value()), prop::option::of(value()), category, prop::option::of(any::<bool>()))
}

fn cell<T: ToString>(value: &Option<T>) -> String {
    value.as_ref().map_or(String::new(), T::to_string)
}

/// The features of a row of a table with the columns of `schema`, and its products.
fn expected_of_columns(schema: &Schema, (a, b, c, d): &Cells, interactions: &[Terms]) -> Row {
    let mut features = vec![(0, 1.0)];
    let mut groups: Vec<(&str, Vec<Factor>)> = Vec::new();
    for column in &schema.columns {
        let Role::Feature(kind) = &column.role else { continue };
        let mut group = Vec::new();
        let number = match column.name.as_str() {
            "a" => *a,
            "b" => *b,
            _ => d.map(|flag| f32::from(u8::from(flag))),
        };
        match kind {
            Kind::Numeric { slot, origin } => match number {
                None => features.push((slot + 1, 1.0)),
                Some(value) if *origin == Some(f64::from(value)) => {}
                Some(value) => group.push((*slot, (f64::from(value) - origin.unwrap_or(0.0)) as f32, true)),
            },
            Kind::Boolean { slot } => match number {
                None => features.push((slot + 1, 1.0)),
                Some(value) => group.push((*slot, value, false)),
            },
            Kind::Categorical { origin } => {
                if !c.is_empty() && origin.as_deref() != Some(c) {
                    let hash = hash::name(hash::seed(b"c"), c.as_bytes());
                    group.push((schema.reserved() + (hash % (1 << schema.bits)) as u32, 1.0, false));
                }
            }
            other => panic!("{other:?}"),
        }
        features.extend(group.iter().map(|&(index, value, _)| (index, value)));
        groups.push((&column.name, group));
    }
    features.extend(products(interactions, &groups, schema.reserved(), schema.bits));
    Row::new(features, Some(2.0), 1.0, &[])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn products_of_namespaces_are_those_of_the_slow_twin(
        rows in prop::collection::vec(parts(), 1..8),
        (interactions, terms) in list(),
        bits in prop::sample::select(vec![2u32, 16]),
        threads in 1usize..3,
        chunk_size in prop::sample::select(vec![1usize, 1 << 18]),
    ) {
        let text: String = rows.iter().map(line).collect();
        let options = Options { interactions, bits, threads, chunk_size, ..vw("a*b") };
        let found = read(text, options).whole();
        let expected: Vec<Row> = rows.iter().map(|parts| expected_of_namespaces(parts, &terms, bits)).collect();
        prop_assert_eq!(found.rows, expected);
    }

    #[test]
    fn products_of_columns_are_those_of_the_slow_twin(
        rows in prop::collection::vec(cells(), 1..12),
        (interactions, terms) in list(),
        bits in prop::sample::select(vec![2u32, 16]),
        threads in 1usize..3,
        chunk_size in prop::sample::select(vec![1usize, 1 << 18]),
    ) {
        // The first rows decide what the columns are: both values of each.
        let start = [(Some(4.0), Some(5.0), "p", Some(true)), (Some(6.0), Some(0.0), "q", Some(false))];
        let rows: Vec<Cells> = start.into_iter().chain(rows).collect();
        let row = |(a, b, c, d): &Cells| format!("{},{c},2,{},{}\n", cell(d), cell(a), cell(b));
        let text = format!("d,c,t,a,b\n{}", rows.iter().map(row).collect::<String>());
        let options = Options {
            target: Some("t".to_owned()),
            task: Some(Task::Regression),
            interactions,
            bits,
            threads,
            chunk_size,
            ..options(Format::CSV, OnError::Stop)
        };
        let found = read(text, options).whole();
        let schema = found.schema.clone().unwrap();
        let expected: Vec<Row> = rows.iter().map(|cells| expected_of_columns(&schema, cells, &terms)).collect();
        prop_assert_eq!(found.rows, expected);
    }
}

/// The name of each feature of the last row, products by those of their factors, with its value.
fn named(outcome: &Outcome) -> Vec<(String, f32)> {
    let name = |index: u32| match outcome.products.get(&index) {
        Some(factors) => factors.iter().map(|&factor| outcome.name(factor)).collect::<Vec<_>>().join("*"),
        None => outcome.name(index).to_owned(),
    };
    let features = &outcome.rows.last().unwrap().features;
    features[1..].iter().map(|&(index, bits)| (name(index), f32::from_bits(bits))).collect()
}

fn with(pairs: &[(&str, f32)]) -> Vec<(String, f32)> {
    pairs.iter().map(|&(name, value)| (name.to_owned(), value)).collect()
}

#[test]
fn the_indices_of_products_never_change() {
    const PINNED: [u32; 9] =
        [2_331_108, 2_036_610, 3_408_705, 2_823_579, 3_560_871, 855_981, 2_418_670, 762_953, 1_850_561];
    // Numbers of the first release with interactions: a model saved then must find its weights.
    let features = |text: &str| {
        let row = read("1 |a x:2 y |b z:3\n", vw(text)).whole().rows.remove(0);
        row.features.into_iter().map(|(index, bits)| (index, f32::from_bits(bits))).collect::<Vec<_>>()
    };
    let single = [(0, 1.0), (PINNED[0], 2.0), (PINNED[1], 1.0), (PINNED[2], 3.0)];
    assert_eq!(features("a*b"), [&single[..], &[(PINNED[3], 6.0), (PINNED[4], 3.0)]].concat());
    assert_eq!(features("b*a"), [&single[..], &[(PINNED[5], 6.0), (PINNED[6], 3.0)]].concat());
    assert_eq!(features("a*b*b"), [&single[..], &[(PINNED[7], 18.0), (PINNED[8], 9.0)]].concat());
}

#[test]
fn products_of_a_table_are_named_by_their_factors() {
    let text = "y,carrier,hour,tags\n1,UA,7,a\n0,AA,8,b\n1,UA,9,b\n";
    let options = Options {
        target: Some("y".to_owned()),
        interactions: Interaction::list("hour*carrier,hour*hour,carrier*tags").unwrap(),
        ..options(Format::CSV, OnError::Stop)
    };
    let outcome = read(text, options).whole();
    let expected = [
        ("carrier=UA", 1.0),
        ("hour", 9.0),
        ("tags=b", 1.0),
        ("hour*carrier=UA", 9.0),
        ("hour*hour", 81.0),
        ("carrier=UA*tags=b", 1.0),
    ];
    assert_eq!(named(&outcome), with(&expected));
    assert!(outcome.notes.iter().any(|note| note == "interactions: hour*carrier, hour*hour, carrier*tags"));
}

#[test]
fn sets_and_objects_of_json_are_groups_and_unknown_keys_are_none() {
    let text = r#"{"y": 1, "tags": ["a", "b"], "o": {"n": 2}, "m": 1}
{"y": 0, "tags": ["a"], "o": {"n": 4}, "m": 2}
{"y": 0, "tags": ["b", "c"], "o": {"n": 3}}
"#;
    let options = Options {
        target: Some("y".to_owned()),
        interactions: Interaction::list("o.n*tags,tags*tags,m*o.n").unwrap(),
        ..options(Format::JSONL, OnError::Stop)
    };
    let outcome = read(text, options.clone()).whole();
    let mut found = named(&outcome);
    // Which of the two is first depends on their indices.
    found.iter_mut().filter(|(name, _)| name == "tags=c*tags=b").for_each(|(name, _)| *name = "tags=b*tags=c".into());
    found.sort_by(|one, other| one.0.cmp(&other.0));
    let expected = [
        ("m missing", 1.0),
        ("o.n", 3.0),
        ("o.n*tags=b", 3.0),
        ("o.n*tags=c", 3.0),
        ("tags=b", 1.0),
        ("tags=b*tags=c", 1.0),
        ("tags=c", 1.0),
    ];
    assert_eq!(found, with(&expected));
    let bound = Options { schema: outcome.schema, ..options };
    let late = read(r#"{"y": 0, "o": {"n": 3}, "tags": ["b", "c"], "late": 5}"#, bound).whole();
    // One more: it belongs to no group.
    assert_eq!(late.rows[0].features.len(), 1 + expected.len() + 1);
}

#[test]
fn a_missing_value_and_a_zero_have_no_products() {
    let options = Options {
        target: Some("y".to_owned()),
        interactions: Interaction::list("a*b").unwrap(),
        ..options(Format::CSV, OnError::Stop)
    };
    let table = |last: &str| read(format!("y,a,b\n1,2,3\n0,4,5\n{last}\n"), options.clone()).whole();
    assert_eq!(named(&table("1,,5")), with(&[("a missing", 1.0), ("b", 5.0)]));
    assert_eq!(named(&table("1,0,5")), with(&[("a", 0.0), ("b", 5.0)]));
    assert_eq!(named(&table("1,1e-30,1e-30")), with(&[("a", 1e-30), ("b", 1e-30)]));
}

#[test]
fn an_overflowing_product_is_an_error_with_its_line_and_names() {
    let message = "input, line 2, column 'a*b': the product 1e30 × -1e10 is beyond ±3.4e38, the range of 32-bit \
                   floats; rescale the features, or leave the interaction out";
    text::refuses(&vw("a*b"), "1 |a x |b y", "1 |a x:1e30 |b y:-1e10", message);
    let with_wildcard = message.replace("'a*b'", "'d*b'").replace("1e30 × -1e10", "-1e10 × 1e30");
    text::refuses(&vw("d * *"), "1 |b x |a y", "1 |b y:1e30 |d x:-1e10", &with_wildcard);
    let options = Options {
        target: Some("y".to_owned()),
        interactions: Interaction::list("b*a").unwrap(),
        ..options(Format::CSV, OnError::Stop)
    };
    let found = read("y,a,b\n1,2,3\n0,1e20,1e20\n", options).error.unwrap();
    assert!(found.starts_with("input, line 3, column 'b*a': the product 1e20 × 1e20 is beyond"), "{found}");
}

#[test]
fn a_row_with_too_many_products_is_an_error_that_counts_them() {
    let wide: String = (0..1414).map(|number| format!(" f{number}")).collect();
    let message = "input, line 2: --interactions a*a would make 1000405 products of this row; at most 1000000 are allowed: name \
                   fewer columns or namespaces; fix the record, or skip such records with --on-error skip";
    text::refuses(&vw("a*a"), "1 |a x", format!("1 |a{wide}"), message);
    // As many groups: there are too many combinations before a feature is looked at.
    let groups: String = (0..1414).map(|number| format!("|g{number} ")).collect();
    let message = message.replace("a*a", "* * *");
    text::refuses(&vw("* * *"), "1 |a x", format!("1 {groups}"), &message);
}

fn error(text: &str, options: Options) -> String {
    read(text, options).error.unwrap()
}

#[test]
fn interactions_of_what_is_no_column_with_features_are_refused() {
    let refused = |interactions: &str| {
        let options = Options {
            target: Some("y".to_owned()),
            ids: vec!["id".to_owned()],
            ignore: vec!["no".to_owned()],
            interactions: Interaction::list(interactions).unwrap(),
            ..options(Format::CSV, OnError::Stop)
        };
        error("y,carrier,hour,id,no\n1,UA,7,a,1\n0,AA,8,b,2\n", options)
    };
    assert_eq!(
        refused("carier*hour"),
        "input: --interactions names 'carier', which is not a column; did you mean 'carrier'?"
    );
    assert_eq!(
        refused("hour*y"),
        "input: column 'y' is the target, and only features can be in --interactions; leave it out there"
    );
    assert!(refused("id*hour").contains("column 'id' is an id"));
    assert!(refused("no*hour").contains("column 'no' is left out"));
}

#[test]
fn a_format_without_groups_has_no_interactions() {
    let options = Options {
        interactions: Interaction::list("a*b").unwrap(),
        task: Some(Task::Regression),
        ..options(Format::SVMLIGHT, OnError::Stop)
    };
    assert_eq!(
        error("1 1:2\n", options),
        "input: the interaction 'a*b' needs columns or namespaces, but this format has neither; leave --interactions \
         out, or convert a table or Vowpal Wabbit's text with it"
    );
}

#[test]
fn namespaces_that_are_not_in_the_first_rows_are_noted() {
    let outcome = read("1 |a x |b y | z\n", vw("a*c,b*a,c*c")).whole();
    let notes: Vec<_> = outcome.notes.iter().filter(|note| note.contains("not a namespace")).collect();
    assert_eq!(
        notes,
        ["--interactions names 'c', which is not a namespace in the first rows; the namespaces are: a, b"]
    );
    assert_eq!(outcome.rows[0].features.len(), 1 + 3 + 1);
    // It may come later.
    let outcome = read("1 |a x |b y\n1 |c x\n", vw("c*c")).whole();
    assert_eq!(outcome.rows.iter().map(|row| row.features.len()).collect::<Vec<_>>(), [3, 3]);
    let ignoring = Options { ignore: vec!["a".to_owned()], ..vw("a*b") };
    assert!(error("1 |a x |b y\n", ignoring).contains("namespace 'a' is named in both --ignore and --interactions"));
    assert!(error("1 |a x |b y\n", vw("\"\"*b")).contains("'' cannot be a namespace"));
}

#[test]
fn a_wildcard_leaves_out_what_is_ignored_and_takes_the_namespace_without_a_name() {
    let options = Options { ignore: vec!["b".to_owned()], ..vw("a * *") };
    let outcome = read("1 |b y |a x:2 | z:3\n", options).whole();
    let expected = [("a^x", 2.0), ("z", 3.0), ("a^x*z", 6.0), ("a^x*a^x", 4.0)];
    let mut found = named(&outcome);
    // The nameless namespace is the first of all.
    assert_eq!(found.remove(2), ("a^x*z".to_owned(), 6.0));
    assert_eq!(found, with(&[expected[0], expected[1], expected[3]]));
}

#[test]
fn conversion_writes_products_with_their_names() {
    let text = "y,carrier,hour\n1,UA,7\n0,AA,8\n";
    let options = Options {
        target: Some("y".to_owned()),
        interactions: Interaction::list("carrier*hour").unwrap(),
        ..options(Format::CSV, OnError::Stop)
    };
    let written = text::converted(text, options, Format::VW);
    assert_eq!(
        String::from_utf8(written).unwrap(),
        "1 | carrier=UA hour:7 carrier=UA*hour:7\n-1 | carrier=AA hour:8 carrier=AA*hour:8\n"
    );
}

#[test]
fn a_schema_keeps_its_interactions_and_is_checked() {
    let outcome = read("1 |a x |b y\n", vw("a*b,a * *")).whole();
    let schema = outcome.schema.unwrap();
    let json = serde_json::to_value(&schema).unwrap();
    assert_eq!(json["interactions"], serde_json::json!(["a*b", "a * *"]));
    assert_eq!(serde_json::from_value::<Schema>(json.clone()).unwrap(), schema);
    // One of a model from before there were any.
    let mut old = json.clone();
    old.as_object_mut().unwrap().remove("interactions");
    assert!(serde_json::from_value::<Schema>(old).unwrap().interactions.is_empty());
    let damaged = |name: &str, value: serde_json::Value| {
        let mut json = json.clone();
        json[name] = value;
        serde_json::from_value::<Schema>(json).map_err(|error| error.to_string()).and_then(|schema| schema.check())
    };
    assert_eq!(damaged("layout", "named".into()), Ok(()));
    assert!(damaged("layout", "table".into()).is_err());
    assert!(damaged("layout", "indexed".into()).is_err());
    assert!(damaged("interactions", serde_json::json!(["a"])).is_err());
}
