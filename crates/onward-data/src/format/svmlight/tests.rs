//! Plain rows against rows read word by word.

use proptest::prelude::*;

use super::*;

/// What a way to read the features of a line makes of it, to the bit; `None` if it does not read them.
fn made(line: &str, read: impl FnOnce(&mut SvmlightEncoder, &[u8], &mut ParsedBatch) -> bool) -> Option<String> {
    let (mut row, mut out) = (SvmlightEncoder::new(20), ParsedBatch::default());
    if !read(&mut row, line.as_bytes(), &mut out) {
        return None;
    }
    out.batch.finish(None, 1.0);
    let features = out.batch.get(0).features;
    let features: Vec<_> = features.iter().map(|(index, value)| (index, value.to_bits())).collect();
    Some(format!("{features:?} {:?}", out.names))
}

fn plainly(line: &str) -> Option<String> {
    // With lines around it, for what is next to the ends of a text is left to others.
    let whole = format!("1{line}");
    let text = format!("1 1:0.5\n1 2:0.5\n{whole}\n1 1:0.5\n1 2:0.5\n");
    made(&whole, |row, line, out| {
        row.fast.window.begin();
        let mut start = 0;
        for _ in 0..3 {
            start = row.fast.go_to(text.as_bytes(), start) + 1;
        }
        assert_eq!(row.fast.label(line).is_some(), row.fast.window.current().unwrap().1.is_plain);
        row.fast.label(line).is_some() && row.fast_features(out)
    })
}

fn slowly(line: &str) -> Option<String> {
    made(line, |row, line, out| row.features(line, 0, out).is_ok())
}

/// Values as files have them, and others.
fn value() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => "-?[0-9]\\.[0-9]{1,8}",
        2 => "-?[0-9]{1,8}",
        1 => "[-+]?[0-9]{0,12}(\\.[0-9]{0,20})?([eE][-+]?[0-9]{1,3})?",
        1 => "[-+.:e0-9 ]{0,6}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    #[test]
    fn labels_of_plain_rows_are_those_of_all_others(written in "[ \\t\\r\\x0c#?0-9a-z.-]{0,6}") {
        let line = format!("{written} 3:4 5:0.5");
        let text = format!("1 1:0.5\n1 2:0.5\n{line}\n1 1:0.5\n1 2:0.5\n");
        let (mut fast, mut start) = (FastLines::default(), 0);
        for _ in 0..3 {
            start = fast.go_to(text.as_bytes(), start) + 1;
        }
        if let Some(found) = fast.label(line.as_bytes()) {
            let line = content(line.as_bytes());
            let (expected, start) = label(line).unwrap();
            prop_assert_eq!(found, expected, "{:?}", line);
            prop_assert_eq!(&line[start..], b" 3:4 5:0.5");
        }
    }

    #[test]
    fn plain_rows_are_read_as_all_others(
        features in prop::collection::vec((prop_oneof![0u32..2_000_000, 0u32..50], value()), 1..40),
        blank in prop_oneof![8 => Just(" "), 1 => Just("  "), 1 => Just("\t")],
        sorts in prop::bool::weighted(0.8),
        // Where a colon stands in place of a blank.
        joined in prop_oneof![4 => Just(None), 1 => (0usize..40).prop_map(Some)],
    ) {
        let mut features = features;
        if sorts {
            features.sort_by_key(|&(index, _)| index);
            features.dedup_by_key(|&mut (index, _)| index);
        }
        let line: String = (0..)
            .zip(&features)
            .map(|(at, (index, value))| format!("{}{index}:{value}", if joined == Some(at) { ":" } else { blank }))
            .collect();
        let _alone = crate::alone();
        for is_portable in [false, true] {
            onward::simd::set_portable(is_portable);
            if let Some(plain) = plainly(line.trim_end()) {
                prop_assert_eq!(Some(plain), slowly(line.trim_end()), "{}", line);
            }
        }
        onward::simd::set_portable(false);
    }

    #[test]
    fn rows_of_common_form_are_plain(
        features in prop::collection::btree_map(0u32..1_000_000, "-?[0-9](\\.[0-9]{1,8})?", 1..200),
    ) {
        let line: String = features.iter().map(|(index, value)| format!(" {index}:{value}")).collect();
        prop_assert_eq!(plainly(&line), slowly(&line));
        prop_assert!(plainly(&line).is_some());
    }
}
