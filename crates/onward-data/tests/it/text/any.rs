//! What has to hold of any text, whatever it is: the readers make of it what plain parsers do, however it is cut and on however
//! many threads. Fuzzing looks for texts of which it does not, and the tests try those that were kept.

use onward::loss::Task;
use onward_data::{Format, OnError, Options};

use super::{Outcome, alone, check, options, read};

/// Texts that are longer are cut: what they would find is found with fewer bytes, too.
const MOST: usize = 1 << 14;

fn cut(text: &[u8]) -> &[u8] {
    &text[..text.len().min(MOST)]
}

/// Bytes for which readers have code of their own: the rows in front and behind let those in between be looked at many at a time.
fn padded(text: &[u8], row: &str) -> Vec<u8> {
    [row.repeat(4).as_bytes(), text, b"\n", row.repeat(4).as_bytes()].concat()
}

/// A text, and the same with arrays in place of vectors.
fn both_ways(text: &[u8], options: &Options, parse: impl Fn(&[u8], &Options) -> Result<(), String>) {
    let _alone = alone();
    for is_portable in [false, true] {
        onward::simd::set_portable(is_portable);
        if let Err(difference) = parse(text, options) {
            panic!("{difference}\nportable: {is_portable}\n{}", String::from_utf8_lossy(text));
        }
    }
    onward::simd::set_portable(false);
}

/// SVMlight's format.
pub fn svmlight(text: &[u8]) {
    let options = Options { task: Some(Task::Regression), ..options(Format::SVMLIGHT, OnError::Stop) };
    let bits = options.bits;
    let text = padded(cut(text), "1 1:0.5 20:-3 300:1.25 4000:7\n");
    both_ways(&text, &options, |text, options| check(text, options, |line| super::svmlight::plain(line, bits)));
}

/// Vowpal Wabbit's text.
pub fn vw(text: &[u8]) {
    let options = Options { task: Some(Task::Regression), bits: super::vw::BITS, ..options(Format::VW, OnError::Stop) };
    let text = padded(cut(text), "1 |a x:0.5 y z:-3 |b name u:1.25\n");
    both_ways(&text, &options, |text, options| check(text, options, |line| super::vw::plain(line, &[])));
}

/// A table, whose first line is the header. Records without a quote are read some together, and those of which each cell is quoted
/// cell by cell: both have the same rows, names and errors.
pub fn csv(text: &[u8]) {
    let text = cut(text);
    // Of few bits, names share indices.
    let bits = if text.len().is_multiple_of(2) { 22 } else { 5 };
    let options = |on_error, chunk_size, threads| Options {
        bits,
        chunk_size,
        threads,
        target: Some("y".to_owned()),
        task: Some(Task::Regression),
        ..options(Format::CSV, on_error)
    };
    for on_error in [OnError::Skip, OnError::Stop] {
        let expected = read(text, options(on_error, 1 << 18, 1));
        same(&expected, &read(text, options(on_error, 1 << 18, 2)), true, text);
        same(&expected, &read(text, options(on_error, 1 + text.len() / 3, 2)), false, text);
        let _alone = alone();
        onward::simd::set_portable(true);
        same(&expected, &read(text, options(on_error, 1 << 18, 1)), true, text);
        onward::simd::set_portable(false);
        if let Some(quoted) = quoted(text).filter(|_| expected.schema.is_some()) {
            same(&expected, &read(&quoted, options(on_error, 1 << 18, 1)), true, text);
        }
    }
}

/// The same table with each cell quoted; nothing of one with quotes, or with carriage returns that end no line.
fn quoted(text: &[u8]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(text).ok()?;
    let lines: Vec<_> = text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line)).collect();
    if text.contains('"') || lines.iter().any(|line| line.contains('\r')) || text.starts_with('\u{feff}') {
        return None;
    }
    let first = lines.iter().find(|line| !line.trim_matches(' ').is_empty())?;
    let separator = [",", ";", "|", "\t"].into_iter().find(|mark| first.contains(mark)).unwrap_or(",");
    let quote = |line: &&str| match line.trim_matches(' ').is_empty() {
        true => (*line).to_owned(),
        false => line.split(separator).map(|cell| format!("\"{cell}\"")).collect::<Vec<_>>().join(separator),
    };
    Some(lines.iter().map(quote).collect::<Vec<_>>().join("\n").into_bytes())
}

/// Outcomes are the same. Of each piece the first errors are kept, and so pieces differ in these.
fn same(expected: &Outcome, found: &Outcome, are_errors_kept: bool, text: &[u8]) {
    let shown = String::from_utf8_lossy(text);
    assert_eq!(found.error, expected.error, "{shown}");
    assert_eq!(found.rows, expected.rows, "{shown}");
    assert_eq!(found.skipped, expected.skipped, "{shown}");
    if are_errors_kept {
        assert_eq!((&found.errors, &found.names), (&expected.errors, &expected.names), "{shown}");
    }
}
