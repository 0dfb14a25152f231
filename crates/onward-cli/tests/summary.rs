//! What a person reads at the end of a run.

mod common;

use common::Folder;

/// What `learn` says about these rows.
fn said(content: impl AsRef<[u8]>, options: &[&str]) -> String {
    let folder = Folder::new();
    folder.write("data", content);
    let arguments: Vec<&str> = ["learn", "data"].iter().chain(options).copied().collect();
    folder.succeed(&arguments).stderr
}

#[test]
fn one_is_not_a_plural() {
    let folder = Folder::new();
    folder.write("data", "1 |a x\n");
    folder.succeed(&["learn", "-q", "data", "--target", "label>0", "--model", "model"]);
    let one = folder.succeed(&["predict", "model", "data", "--predictions", "p"]).stderr;
    assert!(one.contains("\n1 example in ") && one.contains(" 0 mistakes\n"), "{one}");
    folder.write("data", "-1 |a x\nno label | x\n");
    let one = folder.succeed(&["predict", "model", "data", "--predictions", "p", "--on-error", "skip"]).stderr;
    assert!(one.contains("\n1 example (1 unreadable record skipped) in ") && one.contains(" 1 mistake\n"), "{one}");
    folder.write("table", "y,x\n1,2\n");
    let one = folder.succeed(&["convert", "table", "table.jsonl"]).stderr;
    assert!(one.ends_with("\n1 row written as jsonl\n"), "{one}");
}

/// y and a feature in the thousands.
fn thousands() -> String {
    let row = |t: u32| format!("{},{}\n", f64::from(t % 7) * 0.5, 3000 + t * 37 % 5000);
    "y,x\n".to_owned() + &(0..3000).map(row).collect::<String>()
}

#[test]
fn numbers_of_any_size_are_short() {
    let text = said(thousands(), &["--target", "y", "--learner", "ogd-strong", "--radius", "1e200"]);
    // The learner's parameters are as they were given.
    let (_, text) = text.split_once("\n\n").unwrap();
    let words = text.split(|letter: char| letter.is_whitespace() || letter == ',');
    let longest = words.map(|word| word.chars().filter(char::is_ascii_digit).count()).max();
    assert!(text.contains("R² -") && !text.contains("inf") && longest < Some(12), "{text}");
}
