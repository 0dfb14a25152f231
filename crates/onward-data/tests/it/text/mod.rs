//! What the tests of the text readers share: read a text through the public reader, and
//! compare rows by their bits.

#![allow(dead_code, unreachable_pub, unused_macros)]

pub mod any;
pub mod svmlight;
pub mod vw;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::sync::{Mutex, MutexGuard, PoisonError};

use onward_data::{Format, Input, OnError, Options, Reader, Schema};
use proptest::prelude::*;

/// For tests that choose how loops run: one at a time, since all of a process run alike.
pub fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An example, by its bits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    pub features: Vec<(u32, u32)>,
    pub label: Option<u64>,
    pub weight: u64,
    pub offset: u64,
    pub ids: Vec<String>,
}

impl Row {
    /// A row; the values of equal indices are added up where the first of them is.
    pub fn new(features: Vec<(u32, f32)>, label: Option<f64>, weight: f64, ids: &[&str]) -> Self {
        let mut sums: Vec<(u32, f64)> = Vec::new();
        for (index, value) in features {
            match sums.iter_mut().find(|(other, _)| *other == index) {
                Some((_, sum)) => *sum += f64::from(value),
                None => sums.push((index, value.into())),
            }
        }
        let bits = |(index, sum): (u32, f64)| (index, (sum as f32).clamp(f32::MIN, f32::MAX).to_bits());
        Self {
            features: sums.into_iter().map(bits).collect(),
            label: label.map(f64::to_bits),
            weight: weight.to_bits(),
            offset: 0,
            ids: ids.iter().map(|&id| id.to_owned()).collect(),
        }
    }

    /// The same with an offset.
    pub fn from(self, offset: f64) -> Self {
        Self { offset: offset.to_bits(), ..self }
    }
}

/// All that came of an input.
#[derive(Debug, Default)]
pub struct Outcome {
    pub rows: Vec<Row>,
    /// The names that were given to each index.
    pub names: BTreeMap<u32, BTreeSet<String>>,
    /// The factors that were first handed on for each index.
    pub products: BTreeMap<u32, Vec<u32>>,
    pub skipped: u64,
    /// The first errors of skipped records.
    pub errors: Vec<String>,
    /// The error that ended it, at opening or later; the input is called `input`.
    pub error: Option<String>,
    pub schema: Option<Schema>,
    pub notes: Vec<String>,
    pub format: Option<Format>,
}

impl Outcome {
    pub fn name(&self, index: u32) -> &str {
        let names = &self.names[&index];
        assert_eq!(names.len(), 1, "{names:?}");
        names.first().unwrap()
    }

    /// Fails the test if the reader failed.
    pub fn whole(self) -> Self {
        assert_eq!(self.error, None);
        self
    }
}

/// Reads a text to the end, or to the error that stops it.
pub fn read(text: impl AsRef<[u8]>, options: Options) -> Outcome {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text.as_ref()).unwrap();
    let name = file.path().display().to_string();
    checked(read_inputs(&[Input::from(file.path())], options, |message| message.replace(&name, "input")))
}

/// Reads files, by their names and contents, one after the other.
pub fn read_files(files: &[(&str, &[u8])], options: Options) -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    let write = |(name, content): &(&str, &[u8])| {
        let path = folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        Input::from(path.as_path())
    };
    let inputs: Vec<_> = files.iter().map(write).collect();
    let place = format!("{}/", folder.path().display());
    checked(read_inputs(&inputs, options, |message| message.replace(&place, "")))
}

fn checked(outcome: Outcome) -> Outcome {
    let fault = |error: &String| error.contains("bug in Onward");
    assert!(!outcome.error.iter().chain(&outcome.errors).any(fault), "a parser panicked");
    outcome
}

/// Reads inputs to the end, with messages changed by `without_place`.
pub fn read_inputs(inputs: &[Input], options: Options, without_place: impl Fn(String) -> String) -> Outcome {
    let mut outcome = Outcome::default();
    let shown = |error: onward_data::DataError| without_place(error.command_line());
    let mut reader = match Reader::open(inputs, options) {
        Ok(reader) => reader,
        Err(error) => {
            outcome.error = Some(shown(error));
            return outcome;
        }
    };
    outcome.schema = Some(reader.schema().clone());
    outcome.notes = reader.notes().iter().map(|note| without_place(note.command_line())).collect();
    outcome.format = Some(reader.format().clone());
    loop {
        match reader.next_batch() {
            Ok(Some(parsed)) => {
                outcome.skipped += parsed.skipped;
                outcome.errors.extend(parsed.errors.iter().cloned().map(&shown));
                for (index, name) in parsed.names.iter() {
                    outcome.names.entry(index).or_default().insert(name.to_string());
                }
                for (index, factors) in parsed.products() {
                    outcome.products.entry(index).or_insert_with(|| factors.to_vec());
                }
                outcome.rows.extend((0..parsed.batch.len()).map(|row| row_of(parsed, row)));
            }
            Ok(None) => return outcome,
            Err(error) => {
                outcome.error = Some(shown(error));
                return outcome;
            }
        }
    }
}

pub fn row_of(parsed: &onward_data::ParsedBatch, row: usize) -> Row {
    let example = parsed.batch.get(row);
    let ids = parsed.ids(row).map(|id| String::from_utf8_lossy(id).into_owned());
    Row {
        features: example.features.iter().map(|(index, value)| (index, value.to_bits())).collect(),
        label: example.label.map(f64::to_bits),
        weight: example.weight.to_bits(),
        offset: example.features.offset().to_bits(),
        ids: ids.collect(),
    }
}

/// A text converted to a format of examples.
pub fn converted(text: impl AsRef<[u8]>, options: Options, format: Format) -> Vec<u8> {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text.as_ref()).unwrap();
    let mut reader = Reader::open(&[Input::from(file.path())], options).unwrap();
    let mut out = Vec::new();
    onward_data::convert(&mut reader, &format, onward_data::Compression::None, &mut out).unwrap();
    out
}

/// Options for a format, with bad records skipped or not.
pub fn options(format: Format, on_error: OnError) -> Options {
    Options { format: Some(format), on_error, ..Options::default() }
}

/// A bad line between two good ones stops the reader with this message, or is skipped
/// with it; the good ones are read.
pub fn refuses(options: &Options, good: &str, bad: impl AsRef<[u8]>, message: &str) {
    let text = [format!("{good}\n").as_bytes(), bad.as_ref(), format!("\n\n{good}\n").as_bytes()].concat();
    for chunk_size in [1, 1 << 18] {
        let options = |on_error| Options { chunk_size, on_error, ..options.clone() };
        let stopped = read(&text, options(OnError::Stop));
        assert_eq!(stopped.error.as_deref(), Some(message));
        assert_eq!(stopped.rows.len(), 1);
        let skipped = read(&text, options(OnError::Skip)).whole();
        assert_eq!(skipped.errors, [message]);
        assert_eq!((skipped.rows.len(), skipped.skipped), (2, 1));
    }
}

/// One test for each way a line can be bad, with options and a good line for all of them.
macro_rules! refused {
    ($options:expr, $good:expr; $($name:ident: $line:expr => $message:expr;)*) => {$(
        #[test]
        fn $name() {
            text::refuses(&$options, $good, $line, concat!("input, line 2", $message));
        }
    )*};
}

/// A line with a few bytes replaced, removed or put in: mostly those that the format knows.
pub fn mutated(line: impl Strategy<Value = String>, known: &'static [u8]) -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![prop::sample::select(known), any::<u8>()];
    (line, prop::collection::vec((any::<prop::sample::Index>(), 0..3, byte), 0..3)).prop_map(|(line, changes)| {
        let mut line = line.into_bytes();
        for (at, kind, byte) in changes {
            let at = at.index(line.len() + 1);
            match kind {
                0 => line.insert(at, byte),
                1 if at < line.len() => drop(line.remove(at)),
                2 if at < line.len() => line[at] = byte,
                _ => {}
            }
        }
        line
    })
}

/// A number as the formats have it: what the grammar of onward says, and the standard
/// library's value.
pub fn number(text: &str) -> Option<f64> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let starts = unsigned.starts_with(|first: char| first.is_ascii_digit() || first == '.');
    let fits = |letter: char| letter.is_ascii_digit() || "+-.eE".contains(letter);
    let value = text.parse::<f64>().ok().filter(|value| value.is_finite());
    value.filter(|_| starts && unsigned.chars().all(fits))
}

/// Whether a text stands for a missing value.
pub fn is_missing(text: &str) -> bool {
    let text = text.trim_matches(|letter: char| letter.is_ascii_whitespace());
    ["", "na", "n/a", "nan", "null"].contains(&text.to_ascii_lowercase().as_str())
}

/// A label of a regression: `Ok(None)` if it is missing.
pub fn label(text: &str) -> Result<Option<f64>, ()> {
    let text = text.trim_matches(|letter: char| letter.is_ascii_whitespace());
    if is_missing(text) {
        return Ok(None);
    }
    match number(text) {
        Some(label) if label.abs() <= f64::from(f32::MAX) => Ok(Some(label)),
        _ => Err(()),
    }
}

/// The value of a feature, if it is within the range of f32.
pub fn value(value: f64) -> Result<f32, ()> {
    let narrow = value as f32;
    if narrow.is_finite() { Ok(narrow) } else { Err(()) }
}

/// What a reader that goes line by line should make of a text: the rows, the bad lines (from
/// 1), with `parse` giving the row of a line, nothing for one that does not count, or an error.
pub fn expected(text: &[u8], parse: impl Fn(&str) -> Result<Option<Row>, ()>) -> (Vec<Row>, Vec<usize>) {
    let (mut rows, mut bad) = (Vec::new(), Vec::new());
    for (number, line) in (1..).zip(text.split(|&byte| byte == b'\n')) {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.trim_ascii().is_empty() {
            continue;
        }
        match std::str::from_utf8(line).map_err(|_| ()).and_then(&parse) {
            Ok(row) => rows.extend(row),
            Err(()) => bad.push(number),
        }
    }
    (rows, bad)
}

/// In both modes the reader makes of a text what `parse` makes of its lines.
pub fn check(text: &[u8], options: &Options, parse: impl Fn(&str) -> Result<Option<Row>, ()>) -> Result<(), String> {
    let (rows, bad) = expected(text, &parse);
    let skipping = read(text, Options { on_error: OnError::Skip, ..options.clone() });
    if skipping.format.is_none() {
        // Refused as a whole: empty, or with control characters.
        return Ok(());
    }
    same("rows", &rows, &skipping.rows)?;
    same("skipped", &(bad.len() as u64), &skipping.skipped)?;
    same("error", &None, &skipping.error)?;
    check_places(&skipping.errors, &bad)?;
    let stopping = read(text, Options { on_error: OnError::Stop, ..options.clone() });
    let Some(&line) = bad.first() else {
        same("rows", &rows, &stopping.rows)?;
        return same("error", &None, &stopping.error);
    };
    let head: Vec<u8> = text.split_inclusive(|&byte| byte == b'\n').take(line - 1).collect::<Vec<_>>().concat();
    same("rows before the error", &expected(&head, &parse).0, &stopping.rows)?;
    let error = stopping.error.unwrap_or_default();
    let place = format!("input, line {line}");
    match error.strip_prefix(place.as_str()) {
        Some(rest) if rest.starts_with([',', ':']) => Ok(()),
        _ => Err(format!("the error should be at line {line}: {error}")),
    }
}

/// The errors of skipped records name bad lines, in order.
fn check_places(errors: &[String], bad: &[usize]) -> Result<(), String> {
    let line = |error: &String| {
        let rest = error.strip_prefix("input, line ").unwrap_or("");
        rest.split([',', ':']).next().and_then(|number| number.parse().ok())
    };
    let lines: Vec<usize> = errors.iter().filter_map(line).collect();
    let in_order = lines.is_sorted_by(|a, b| a < b);
    if lines.len() < errors.len() || !in_order || lines.iter().any(|line| !bad.contains(line)) {
        return Err(format!("bad lines are {bad:?}, found {errors:?}"));
    }
    Ok(())
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, expected: &T, found: &T) -> Result<(), String> {
    if expected == found {
        return Ok(());
    }
    Err(format!("{what}: expected {expected:?}, found {found:?}"))
}
