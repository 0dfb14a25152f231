//! Plain rows against rows read word by word.

use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::options::Options;
use crate::schema::{Target, TargetRule};

/// Without interactions, and with products of each two features of one namespace and of any two.
fn schemas() -> [Schema; 2] {
    let with = |interactions| Schema { interactions, ..schema() };
    [schema(), with(vec!["* * *".parse().unwrap()])]
}

fn schema() -> Schema {
    let target = Target { column: "label".to_owned(), rule: TargetRule::Number };
    Schema { layout: Layout::Named, bits: 20, ngrams: 1, columns: Vec::new(), target, interactions: Vec::new() }
}

fn rules(schema: &Schema) -> Rules {
    crate::open::rules(Arc::new(schema.clone()), &Options::default(), Default::default())
}

/// What a way to read the features of a line makes of it, to the bit; `None` if it does not read them.
fn made(schema: &Schema, read: impl FnOnce(&mut VwEncoder, &Rules, &mut ParsedBatch) -> bool) -> Option<String> {
    let mut out = ParsedBatch::default();
    let mut row = VwEncoder::new(schema);
    if !read(&mut row, &rules(schema), &mut out) {
        return None;
    }
    if let Err(error) = row.features.end(schema, (None, 1.0), &mut out) {
        return Some(error.to_string());
    }
    let features = out.batch.get(0).features;
    let features: Vec<_> = features.iter().map(|(index, value)| (index, value.to_bits())).collect();
    Some(format!("{features:?} {:?}", out.names))
}

fn plainly(schema: &Schema, text: &str) -> Option<String> {
    // With lines around it, for what is next to the ends of a text is left to others.
    let (line, around) = (format!("1 {text}"), "1 |a b:0.5\n".repeat(2));
    let whole = format!("{around}{line}\n{around}");
    made(schema, |row, rules, out| {
        row.fast.window.begin();
        let mut start = 0;
        for _ in 0..3 {
            start = row.fast.go_to(&rules.schema, &row.features.seen, whole.as_bytes(), start) + 1;
        }
        row.fast_features(line.as_bytes(), out)
    })
}

fn slowly(schema: &Schema, text: &str) -> Option<String> {
    made(schema, |row, rules, out| row.slow_features(rules, text.as_bytes(), out).is_ok())
}

fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-zA-Z0-9=]{1,20}(:-?[0-9](\\.[0-9]{1,8})?)?",
        1 => "[a-z]{0,4}(:[-+]?[0-9]{0,12}(\\.[0-9]{0,20})?([eE][-+]?[0-9]{1,3})?)?",
        1 => "[a-z:|.0 \t]{0,5}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    #[test]
    fn plain_rows_are_read_as_all_others(
        namespaces in prop::collection::vec(("[a-z]{0,9}", prop::collection::vec(word(), 0..12)), 1..4),
        blank in prop_oneof![8 => Just(" "), 1 => Just("  "), 1 => Just("\t")],
    ) {
        let text: String =
            namespaces.iter().map(|(name, words)| format!("|{name}{blank}{} ", words.join(blank))).collect();
        for text in [text.as_str(), text.trim_end()] {
            let _alone = crate::alone();
            for is_portable in [false, true] {
                onward::simd::set_portable(is_portable);
                for schema in &schemas() {
                    if let Some(plain) = plainly(schema, text) {
                        prop_assert_eq!(Some(plain), slowly(schema, text), "{}", text);
                    }
                }
            }
        }
        onward::simd::set_portable(false);
    }

    #[test]
    fn rows_of_common_form_are_plain(
        words in prop::collection::vec("[a-zA-Z0-9=]{1,20}(:-?[0-9](\\.[0-9]{1,8})?)?", 1..100),
    ) {
        let text = format!("|a {} |b x y |c z:2 ", words.join(" "));
        for schema in &schemas() {
            prop_assert_eq!(plainly(schema, &text), slowly(schema, &text));
            prop_assert!(plainly(schema, &text).is_some());
        }
    }
}
