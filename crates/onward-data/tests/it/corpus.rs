//! The texts that fuzzing has found to be worth keeping (`fuzz/`), through the same checks.

use std::path::Path;

use crate::text;

fn each(target: &str, check: impl Fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let mut count = 0;
    for entry in std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
        check(&std::fs::read(entry.unwrap().path()).unwrap());
        count += 1;
    }
    assert!(count > 100, "{count} texts of {target}");
}

#[test]
fn texts_that_were_kept_are_read_as_plain_parsers_do() {
    each("svmlight", text::any::svmlight);
    each("vw", text::any::vw);
    each("csv", text::any::csv);
}
