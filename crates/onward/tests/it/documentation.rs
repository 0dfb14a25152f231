//! What the documents say of learners and losses is what there is.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use onward::loss::LOSSES;
use onward::protocol::{Bound, LearnerDescriptor, LearnerSpec};
use onward::registry::LEARNERS;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(document: &str) -> String {
    std::fs::read_to_string(root().join(document)).unwrap_or_else(|error| panic!("{document}: {error}"))
}

/// What stands between backquotes.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// The row of a table that begins with a word.
fn row<'a>(document: &'a str, first: &str) -> &'a str {
    let start = format!("| {first} |");
    document.lines().find(|line| line.starts_with(&start)).unwrap_or_else(|| panic!("no row of {first} in README.md"))
}

fn learner_names() -> BTreeSet<&'static str> {
    LEARNERS.iter().map(|entry| entry.name).collect()
}

/// A number from 0 to 99 in words.
fn in_words(number: usize) -> String {
    const ONES: [&str; 20] = [
        "zero",
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "eleven",
        "twelve",
        "thirteen",
        "fourteen",
        "fifteen",
        "sixteen",
        "seventeen",
        "eighteen",
        "nineteen",
    ];
    const TENS: [&str; 10] = ["", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];
    match (number, number % 10) {
        (0..20, _) => ONES[number].to_owned(),
        (_, 0) => TENS[number / 10].to_owned(),
        (_, rest) => format!("{}-{}", TENS[number / 10], ONES[rest]),
    }
}

#[test]
fn the_readme_names_every_learner_and_every_loss_and_counts_them() {
    let readme = read("README.md");
    let (_, list) = readme.split_once("\nThe learners by name:\n").expect("README.md lists the learners by name");
    let list = list.trim_start().split("\n\n").next().unwrap();
    let named = quoted(row(&readme, "default learner")).chain(quoted(list)).collect::<BTreeSet<_>>();
    assert_eq!(named, learner_names(), "the learners in README.md");
    let losses = row(&readme, "losses");
    let named: BTreeSet<&str> = quoted(losses).collect();
    assert_eq!(named, LOSSES.iter().map(|entry| entry.name).collect(), "the row of losses in README.md");
    let count = in_words(LOSSES.len());
    assert!(losses.starts_with(&format!("| losses | {count}, ")), "README.md: there are {count} losses");
}

/// The first and the third cell of the rows of the tables of learners in docs/theory.md.
fn theorems(theory: &str) -> Vec<(Vec<&str>, &str)> {
    let (_, chapter) = theory.split_once("## Learners and their theorems").expect("docs/theory.md has that chapter");
    let chapter = chapter.split("\n## ").next().unwrap();
    let rows = chapter.lines().filter(|line| line.starts_with("| `"));
    rows.map(|row| {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").collect();
        (quoted(cells[0]).collect(), cells[2].trim())
    })
    .collect()
}

fn has_bound(entry: &LearnerDescriptor) -> bool {
    entry.promises.iter().any(|promise| !matches!(promise.bound, None | Some(Bound::Never(_))))
}

#[test]
fn the_theory_has_a_row_for_every_learner_with_a_bound_where_there_is_one() {
    let theory = read("docs/theory.md");
    let theorems = theorems(&theory);
    let named: Vec<&str> = theorems.iter().flat_map(|(names, _)| names.iter().copied()).collect();
    assert_eq!(named.iter().copied().collect::<BTreeSet<_>>(), learner_names(), "the tables of docs/theory.md");
    assert_eq!(named.len(), LEARNERS.len(), "a learner is in the tables of docs/theory.md twice");
    for (names, theorem) in &theorems {
        for name in names {
            let entry = LEARNERS.iter().find(|entry| entry.name == *name).unwrap();
            let says_none = theorem.starts_with("universal") || theorem.starts_with("none");
            assert_eq!(says_none, !has_bound(entry), "docs/theory.md says of {name}: {theorem}");
        }
    }
}

#[test]
fn the_page_of_guarantees_has_every_form_with_a_theorem_or_the_reason_why_not() {
    let page = read("docs/guarantees.md");
    let named: BTreeSet<String> =
        page.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next().map(str::to_owned)).collect();
    let mut forms = BTreeSet::new();
    for entry in LEARNERS {
        for promise in entry.promises.iter().filter(|promise| promise.bound.is_some()) {
            let colon = if promise.parameters.is_empty() { "" } else { ":" };
            forms.insert(format!("{}{colon}{}", entry.name, promise.parameters));
        }
    }
    let missing: Vec<_> = forms.difference(&named).collect();
    let strange: Vec<_> = named.difference(&forms).collect();
    assert!(
        missing.is_empty() && strange.is_empty(),
        "docs/guarantees.md, which bench/guarantees makes anew, lacks {missing:?} and has {strange:?}"
    );
}

#[test]
fn learners_and_losses_in_the_documents_are_some_that_there_are() {
    let mut documents: Vec<PathBuf> =
        std::fs::read_dir(root().join("docs")).unwrap().map(|entry| entry.unwrap().path()).collect();
    documents.push(root().join("README.md"));
    documents.push(root().join("CHANGELOG.md"));
    let mut seen = 0;
    for document in documents.iter().filter(|path| path.extension().is_some_and(|ending| ending == "md")) {
        let text = std::fs::read_to_string(document).unwrap();
        for (number, line) in text.lines().enumerate() {
            let place = format!("{}:{}", document.display(), number + 1);
            // Commands that are shown with what they print run in the tests of the program.
            if line.starts_with("$ ") {
                continue;
            }
            // `ogd:radius=U`, or --learner ogd:radius=5. Values may be symbols.
            let commands = line.split("--learner ").skip(1).map(|rest| rest.split([' ', '`', '\'']).next().unwrap());
            let forms = quoted(line).filter(|text| {
                let name = text.split(':').next().unwrap();
                text.contains('=') && !text.contains(' ') && learner_names().contains(name)
            });
            for form in commands.chain(forms).filter(|form| form.starts_with(|first: char| first.is_ascii_lowercase()))
            {
                let parsed: Result<LearnerSpec, _> = form.trim_end_matches([',', '.', ')', ';', ':']).parse();
                assert!(parsed.is_ok(), "{place}: {form}: {}", parsed.unwrap_err());
                seen += 1;
            }
            for loss in line.split("--loss ").skip(1).map(|rest| rest.split([' ', '`', '\'']).next().unwrap()) {
                let base = loss.split(':').next().unwrap().trim_end_matches([',', '.', ')', ';']);
                let is_lower = base.starts_with(|first: char| first.is_ascii_lowercase());
                assert!(
                    !is_lower || LOSSES.iter().any(|entry| entry.name == base),
                    "{place}: there is no loss '{loss}'"
                );
            }
        }
    }
    assert!(seen > 20, "{seen}");
}
