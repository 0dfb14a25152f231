//! The documentation shows only commands that run, with the output that they give.
//!
//! In README.md and docs/*.md, blocks marked `console` hold commands after `$ ` and
//! what they print. They run, block after block of a file, in one folder that has
//! `data/`; `[..]` stands for any text in a line, `...` on a line of its own for any
//! lines. Blocks marked otherwise (`sh`) are not run.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::Folder;

struct Step {
    line: usize,
    command: String,
    expected: String,
}

/// The commands of a document in order.
fn steps(text: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut inside = false;
    for (number, line) in text.lines().enumerate() {
        if let Some(mark) = line.strip_prefix("```") {
            inside = mark == "console";
        } else if let Some(command) = line.strip_prefix("$ ").filter(|_| inside) {
            steps.push(Step { line: number + 1, command: command.to_owned(), expected: String::new() });
        } else if let (true, Some(step)) = (inside, steps.last_mut()) {
            step.expected.push_str(line);
            step.expected.push('\n');
        }
    }
    steps
}

/// Whether a line is as expected, `[..]` standing for any text.
fn line_matches(expected: &str, found: &str) -> bool {
    let mut pieces = expected.split("[..]");
    let Some(mut rest) = found.strip_prefix(pieces.next().unwrap_or("")) else { return false };
    let pieces: Vec<&str> = pieces.collect();
    let Some((last, middle)) = pieces.split_last() else { return rest.is_empty() };
    for piece in middle {
        let Some(at) = rest.find(piece) else { return false };
        rest = &rest[at + piece.len()..];
    }
    rest.len() >= last.len() && rest.ends_with(last)
}

/// Whether lines are as expected, `...` standing for any lines.
fn matches(expected: &[&str], found: &[&str]) -> bool {
    match expected.split_first() {
        None => found.is_empty(),
        Some((&"...", rest)) => (0..=found.len()).any(|skipped| matches(rest, &found[skipped..])),
        Some((line, rest)) => {
            found.split_first().is_some_and(|(first, others)| line_matches(line, first) && matches(rest, others))
        }
    }
}

fn run(document: &Path) -> usize {
    let folder = Folder::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    std::os::unix::fs::symlink(root.join("data"), folder.path("data")).unwrap();
    let program = PathBuf::from(env!("CARGO_BIN_EXE_onward"));
    let path = format!("{}:{}", program.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let text = std::fs::read_to_string(document).unwrap();
    let steps = steps(&text);
    for step in &steps {
        let script = format!("exec 2>&1; {}", step.command);
        let output = Command::new("bash")
            .args(["-o", "pipefail", "-c", &script])
            .env("PATH", &path)
            .current_dir(folder.path(""))
            .output()
            .unwrap();
        let found = String::from_utf8(output.stdout).unwrap();
        let expected: Vec<&str> = step.expected.lines().map(str::trim_end).collect();
        let found: Vec<&str> = found.lines().map(str::trim_end).collect();
        assert!(
            matches(&expected, &found),
            "{}:{}: $ {}\nexpected:\n{}\nfound:\n{}",
            document.display(),
            step.line,
            step.command,
            expected.join("\n"),
            found.join("\n")
        );
    }
    steps.len()
}

#[test]
fn every_command_in_the_documentation_prints_what_it_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut documents = vec![root.join("README.md")];
    documents.extend(std::fs::read_dir(root.join("docs")).unwrap().map(|entry| entry.unwrap().path()));
    let ran: usize = documents
        .iter()
        .filter(|path| path.extension().is_some_and(|ending| ending == "md"))
        .map(|path| run(path))
        .sum();
    assert!(ran >= 10, "{ran}");
}

#[test]
fn the_matcher_tells_right_from_wrong() {
    assert!(matches(&["a[..]c", "...", "z"], &["abc", "1", "2", "z"]));
    assert!(!matches(&["a[..]c"], &["abd"]));
    assert!(!matches(&["a", "..."], &["b"]));
    assert!(!matches(&["a"], &["a", "b"]));
}
