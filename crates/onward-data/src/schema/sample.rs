//! What was seen of the first rows: of each column, or of the labels.

use std::collections::HashMap;

use onward::hashing::feature_hash as hash;

use super::names::no_such_column;
use super::target::boolean;
use super::{CellValue, timestamp};
use crate::error::{DataError, Result};
use crate::text::hashed::HashedSet;
use crate::text::numbers::{self, Number};

/// How many rows are looked at, at the most.
pub(crate) const SAMPLE_ROWS: usize = 10_000;
/// How many bytes are looked at, at the most.
pub(crate) const SAMPLE_BYTES: usize = 4 << 20;
/// A string column whose values never repeat in this many rows is an identifier.
const ROWS_FOR_IDENTIFIER: usize = 20;
/// A column with this many numbers (or dates), and at most one other value in 20, is
/// one of them: the others are mistakes, or stand for missing values.
pub(crate) const ROWS_TO_TRUST: usize = 20;
pub(crate) const ROWS_FOR_ONE_INVALID: usize = 20;
/// A string column of more words than this on average is text.
const WORDS_FOR_TEXT: f64 = 3.0;

/// A JSON key that fewer than one row in 20 has is not worth a column: each row
/// without it would say that it is missing.
pub(crate) const ROWS_FOR_ONE_RARE: usize = 20;

/// What was seen of a column in the first rows.
#[derive(Debug, Default, Clone)]
pub(crate) struct ColumnSample {
    pub(crate) missing: usize,
    pub(crate) numbers: usize,
    pub(crate) integers: usize,
    pub(crate) booleans: usize,
    pub(crate) moments: usize,
    pub(crate) others: usize,
    pub(crate) sets: usize,
    /// JSON's strings, which are text even when they look like numbers.
    pub(crate) strings: usize,
    pub(crate) words: usize,
    pub(crate) zeros: usize,
    pub(crate) ones: usize,
    pub(crate) minus_ones: usize,
    /// The hashes of the distinct values as text.
    pub(crate) distinct: HashedSet,
    /// The numbers among the distinct values.
    values: Vec<f64>,
    /// The first few distinct values, as text.
    pub(crate) examples: Vec<String>,
    /// The first few distinct values that are no numbers, and how often each was seen.
    pub(crate) invalid: Vec<(String, usize)>,
    pub(crate) first_number: Option<f64>,
    pub(crate) first_days: Option<f64>,
    pub(crate) smallest: f64,
    pub(crate) largest: f64,
}

/// Whether a number is a whole one, or so large that it has no digits behind its point.
fn is_whole(value: f64) -> bool {
    (value as i64) as f64 == value || value.abs() >= 9_007_199_254_740_992.0
}

/// How many distinct values are kept as text.
const KEPT_EXAMPLES: usize = 3;

impl ColumnSample {
    pub(crate) fn present(&self) -> usize {
        self.numbers + self.booleans + self.moments + self.others
    }

    /// Takes in a cell of CSV.
    pub(crate) fn text(&mut self, text: &[u8]) {
        let trimmed = text.trim_ascii();
        match numbers::parse(trimmed) {
            Number::Missing => self.missing += 1,
            Number::Finite(value) => self.number(value, trimmed),
            Number::Infinite => self.number(f64::INFINITY, trimmed),
            Number::Invalid => self.word(trimmed),
        }
    }

    /// Takes in a cell where a comma in a number can only be meant as its point: it stays a
    /// number, which the parser refuses by its line.
    pub(crate) fn text_with_commas(&mut self, text: &[u8]) {
        match numbers::with_point(text.trim_ascii()) {
            Some(value) => self.number(value, text.trim_ascii()),
            None => self.text(text),
        }
    }

    /// Takes in a cell of a format with types.
    pub(crate) fn cell(&mut self, cell: CellValue<'_>) {
        match cell {
            CellValue::Missing => self.missing += 1,
            CellValue::Number(value) if value.is_nan() => self.missing += 1,
            CellValue::Number(value) => self.number(value, value.to_string().as_bytes()),
            CellValue::Boolean(flag) => {
                self.booleans += 1;
                self.value(flag.to_string().as_bytes());
            }
            CellValue::Timestamp(moment) => {
                self.moments += 1;
                self.first_days.get_or_insert(moment.days);
                self.value(&moment.days.to_le_bytes());
            }
            CellValue::Text(text) if numbers::is_missing(text.trim_ascii()) => self.missing += 1,
            CellValue::Text(text) => {
                self.strings += 1;
                self.word(text.trim_ascii());
            }
        }
    }

    fn number(&mut self, value: f64, text: &[u8]) {
        if self.numbers == 0 {
            (self.smallest, self.largest) = (value, value);
        }
        self.numbers += 1;
        self.integers += usize::from(is_whole(value));
        self.zeros += usize::from(value == 0.0);
        self.ones += usize::from(value == 1.0);
        self.minus_ones += usize::from(value == -1.0);
        self.first_number.get_or_insert(value);
        self.smallest = self.smallest.min(value);
        self.largest = self.largest.max(value);
        if self.value(text) {
            self.values.push(value);
        }
    }

    fn word(&mut self, text: &[u8]) {
        if let Some(moment) = timestamp::parse(text.trim_ascii()) {
            self.moments += 1;
            self.first_days.get_or_insert(moment.days);
        } else if boolean(text).is_some() {
            self.booleans += 1;
        } else {
            self.others += 1;
        }
        self.words += text.split(|byte| byte.is_ascii_whitespace()).filter(|word| !word.is_empty()).count();
        let has_room = self.invalid.len() < KEPT_EXAMPLES;
        match self.invalid.iter_mut().find(|(token, _)| token.as_bytes() == text) {
            Some((_, count)) => *count += 1,
            None if has_room => self.invalid.push((String::from_utf8_lossy(text).into_owned(), 1)),
            None => {}
        }
        self.value(text);
    }

    /// Takes in the text of a value, without blanks around it; whether it is a new one.
    fn value(&mut self, text: &[u8]) -> bool {
        let is_new = self.distinct.insert(hash::seed(text));
        if is_new && self.examples.len() < KEPT_EXAMPLES {
            self.examples.push(String::from_utf8_lossy(text).into_owned());
        }
        is_new
    }

    /// Whether one of the numbers is this one.
    pub(crate) fn has_number(&self, number: f64) -> bool {
        self.values.contains(&number)
    }

    pub(crate) fn is_constant(&self) -> bool {
        self.missing == 0 && self.distinct.len() == 1 && self.present() > 1
    }

    /// Whether enough values are of one kind for the column to be, even if a few are not.
    pub(crate) fn is_of(&self, count: usize) -> bool {
        let invalid = self.present() - count;
        count > 0 && (invalid == 0 || count >= ROWS_TO_TRUST && invalid * ROWS_FOR_ONE_INVALID <= self.present())
    }

    /// The most frequent of the values that are no numbers, if it repeats.
    pub(crate) fn repeated_invalid(&self) -> Option<&(String, usize)> {
        self.invalid.iter().max_by_key(|(_, count)| *count).filter(|(_, count)| *count > 1)
    }

    /// The one value that is no number, if it repeats among many numbers: perhaps it stands
    /// for missing ones.
    pub(crate) fn only_invalid(&self) -> Option<&(String, usize)> {
        let is_only = |(_, count): &&(String, usize)| self.numbers + count == self.present();
        self.repeated_invalid().filter(is_only).filter(|_| self.numbers >= ROWS_TO_TRUST)
    }

    /// A number or truth value that most rows lack, as the words of a bag in JSON.
    pub(crate) fn is_rare(&self, rows: usize) -> bool {
        let present = self.present();
        present > 0 && present < rows / ROWS_FOR_ONE_RARE && (self.numbers == present || self.booleans == present)
    }

    pub(crate) fn is_identifier(&self) -> bool {
        self.present() >= ROWS_FOR_IDENTIFIER && self.distinct.len() == self.present()
    }

    pub(crate) fn is_text(&self) -> bool {
        self.words as f64 > WORDS_FOR_TEXT * self.present() as f64 && 2 * self.distinct.len() > self.present()
    }
}

/// The first rows of a table: column names in order of appearance, with what was seen.
#[derive(Debug, Default)]
pub struct TableSample {
    pub(crate) names: Vec<String>,
    pub(crate) seen: Vec<ColumnSample>,
    pub(crate) rows: usize,
    /// Whether rows may lack columns and have others: JSON.
    pub(crate) is_open: bool,
    /// The number of the line of the first row, in text.
    pub(crate) first_line: u64,
    /// What is wrong with the first row that cannot be read.
    pub(crate) fault: Option<DataError>,
    places: HashMap<String, usize>,
}

impl TableSample {
    pub(crate) fn with_columns(names: Vec<String>, first_line: u64) -> Self {
        let seen = vec![ColumnSample::default(); names.len()];
        Self { names, seen, first_line, ..Self::default() }
    }

    /// No columns yet: they are met in the rows.
    pub(crate) fn open() -> Self {
        Self { is_open: true, ..Self::default() }
    }

    /// The place of the column of a name, which may be a new one.
    pub(crate) fn column(&mut self, name: &str) -> usize {
        if let Some(&at) = self.places.get(name) {
            return at;
        }
        let at = self.names.len();
        self.places.insert(name.to_owned(), at);
        self.names.push(name.to_owned());
        self.seen.push(ColumnSample::default());
        at
    }

    pub(crate) fn find(&self, name: &str, what: &str) -> Result<usize> {
        self.names.iter().position(|other| other == name).ok_or_else(|| no_such_column(name, what, &self.names))
    }
}

/// Of columns of numbers, by their place in the schema, the value that is none and stands
/// there more than once: perhaps it means that the number is missing.
pub(crate) type InvalidTokens = HashMap<usize, (String, usize)>;

/// The first rows of a format without columns: the labels, and the names of the namespaces.
#[derive(Debug, Default)]
pub struct LabelSample {
    pub(crate) labels: ColumnSample,
    pub(crate) namespaces: Vec<String>,
}

impl LabelSample {
    /// Takes in a label as it is written; an empty one is missing.
    pub fn label(&mut self, label: &[u8]) {
        self.labels.text(label);
    }

    /// Takes in the name of a namespace.
    pub fn namespace(&mut self, name: &[u8]) {
        if !self.namespaces.iter().any(|other| other.as_bytes() == name) {
            self.namespaces.push(String::from_utf8_lossy(name).into_owned());
        }
    }
}

/// What the first rows gave.
#[derive(Debug)]
pub enum FirstRows {
    /// Columns.
    Table(TableSample),
    /// Labels.
    Labels(LabelSample),
}
