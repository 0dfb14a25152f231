//! What a library says names no option and no command of the program: each door words settings for its own users. This
//! reads the sources of the crate that it is compiled in.

use std::fs;
use std::path::{Path, PathBuf};

/// Where onward-data words its settings for the command line.
const DOOR: &str = "command_line.rs";

const COMMANDS: [&str; 9] = ["learn", "compare", "play", "predict", "show", "inspect", "convert", "list", "plan"];

fn files(folder: &Path) -> Vec<PathBuf> {
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    paths.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// The string literals of a source without its tests, as they are written.
fn literals(source: &str) -> Vec<&str> {
    let mut rest = source.split("#[cfg(test)]\nmod tests {").next().unwrap();
    let mut found = Vec::new();
    while let Some(at) = rest.find(['"', '/', '\'']) {
        let (before, here) = rest.split_at(at);
        let hashes = before.len() - before.trim_end_matches('#').len();
        rest = if here.starts_with("//") {
            &here[here.find('\n').unwrap_or(here.len())..]
        } else if let Some(text) = here.strip_prefix('"') {
            let is_raw = before.trim_end_matches('#').ends_with('r');
            let end = if is_raw { text.find(&format!("\"{}", "#".repeat(hashes))) } else { end_of_string(text) };
            let (literal, after) = text.split_at(end.unwrap());
            found.push(literal);
            &after[1..]
        } else if let Some(text) = here.strip_prefix('\'') {
            after_character(text)
        } else {
            &here[1..]
        };
    }
    found
}

/// The first quote that is not escaped.
fn end_of_string(text: &str) -> Option<usize> {
    let mut is_escaped = false;
    text.find(|letter| {
        let is_end = letter == '"' && !is_escaped;
        is_escaped = letter == '\\' && !is_escaped;
        is_end
    })
}

/// What follows a character's first quote: all after the character, or all of it if this is a lifetime.
fn after_character(text: &str) -> &str {
    let mut letters = text.chars();
    let is_escape = letters.next() == Some('\\');
    // An escape has another letter at least, which may be a quote.
    let length =
        if is_escape { 1 + letters.next().map_or(0, char::len_utf8) } else { text.len() - letters.as_str().len() };
    let after = &text[length..];
    match after.find('\'') {
        Some(end) if is_escape || end == 0 => &after[end + 1..],
        _ => text,
    }
}

fn names_an_option(text: &str) -> bool {
    text.match_indices("--").any(|(at, _)| {
        let is_begin = text[..at].chars().next_back().is_none_or(|before| !before.is_alphanumeric() && before != '-');
        is_begin && text[at + 2..].starts_with(|after: char| after.is_ascii_lowercase())
    })
}

#[test]
fn texts_name_no_option_and_no_command_of_the_program() {
    let (mut count, mut faults) = (0, Vec::new());
    for path in files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src")) {
        let is_source = path.extension().is_some_and(|extension| extension == "rs");
        if !is_source || path.ends_with("tests.rs") || path.ends_with(DOOR) {
            continue;
        }
        let source = fs::read_to_string(&path).unwrap();
        for text in literals(&source) {
            count += 1;
            let is_command = |command: &&str| text.contains(&format!("onward {command}"));
            if names_an_option(text) || COMMANDS.iter().any(is_command) {
                faults.push(format!("{}: {text}", path.display()));
            }
        }
    }
    assert!(count > 50, "{count}");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn literals_are_found() {
    let source = "f(\"a\\\"b\", '\"', '\\'', \"c\"); // \"no\"\nfn g<'a>() { r#\"d\"e\"# }\n";
    assert_eq!(literals(source), ["a\\\"b", "c", "d\"e"]);
    assert!(names_an_option("use --bits") && names_an_option("(--bits)") && !names_an_option("a--b or -- c"));
}
