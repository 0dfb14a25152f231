//! Rows that are vectors of numbers, with no target among them: what games are played with.
//!
//! A line is a vector. Numbers stand between commas, semicolons, bars or tabs as in CSV, between blanks, or in brackets as in
//! JSON (`[0.5, -1]`). A first line without any number names the coordinates; else they are called 1, 2, …. Columns whose
//! first value is a text (dates, names) are left out. All other values must be numbers: none may be missing.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::error::{DataError, Result, quoted};
use crate::format::csv::cells::{each_cell, guess_delimiter};
use crate::options::Options;
use crate::source::{Boundaries, Chunker, Input};
use crate::text::lines::invalid_utf8;
use crate::text::numbers::{self, Number};

/// Reads vectors, one after the other.
///
/// ```
/// use onward_data::{Input, Options, VectorReader};
///
/// let input = Input::bytes("prices", "day,steady,wild\nMon,1,0.5\nTue,1.01,2\n");
/// let mut reader = VectorReader::open(input, &Options::default())?;
/// assert_eq!(reader.names(), ["steady", "wild"]);
/// assert_eq!(reader.left_out(), ["day"]);
/// assert_eq!(reader.next_row()?, Some(&[1.0, 0.5][..]));
/// assert_eq!(reader.next_row()?, Some(&[1.01, 2.0][..]));
/// assert_eq!(reader.next_row()?, None);
/// # Ok::<(), onward_data::DataError>(())
/// ```
pub struct VectorReader {
    chunker: Chunker,
    shape: LineShape,
    record_limit: usize,
    /// The names of all columns, and whether each is a coordinate.
    columns: Vec<(String, bool)>,
    names: Vec<String>,
    /// The cells of the record that was read last.
    cells: Vec<VectorCell>,
    row: Vec<f64>,
    /// Whether the cells are those of the first row, which has not been given out.
    is_pending: bool,
    /// The line of the record that was read last, and the record.
    line: u64,
    record: Vec<u8>,
    /// How many bytes were read: of the input as it is on disk, and of its records.
    read: Arc<AtomicU64>,
    bytes: u64,
}

/// How numbers stand in a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineShape {
    /// Between these marks, perhaps in quotes.
    Cells(u8),
    /// Between blanks.
    Words,
    /// In brackets.
    Brackets,
}

/// What stands in a cell.
#[derive(Debug, Clone, PartialEq)]
enum VectorCell {
    Number(f64),
    /// A value that is missing or beyond all numbers.
    NotFinite(String),
    Other(String),
}

impl LineShape {
    fn boundaries(self) -> Boundaries {
        match self {
            Self::Cells(delimiter) => Boundaries::Quoted { delimiter },
            Self::Words | Self::Brackets => Boundaries::Lines,
        }
    }

    /// By the first line.
    fn of(line: &[u8]) -> Self {
        let line = line.trim_ascii();
        let has_mark = line.iter().any(|byte| matches!(byte, b',' | b';' | b'|' | b'\t'));
        match line.first() {
            Some(b'[' | b'{') => Self::Brackets,
            _ if !has_mark && line.contains(&b' ') => Self::Words,
            _ => Self::Cells(guess_delimiter(line)),
        }
    }
}

fn cell(text: &[u8]) -> VectorCell {
    let shown = || String::from_utf8_lossy(text.trim_ascii()).into_owned();
    match numbers::parse(text) {
        Number::Finite(value) => VectorCell::Number(value),
        Number::Missing | Number::Infinite => VectorCell::NotFinite(shown()),
        Number::Invalid => VectorCell::Other(shown()),
    }
}

impl VectorReader {
    /// Opens an input; of the options those count that say which columns are left out and how long records may be.
    ///
    /// # Errors
    /// When it cannot be opened, or has no row of numbers.
    pub fn open(input: Input, options: &Options) -> Result<Self, DataError> {
        let read = Arc::new(AtomicU64::new(0));
        let chunker = Chunker::open(input, Arc::clone(&read))?;
        let mut reader = Self {
            chunker,
            shape: LineShape::Words,
            record_limit: options.record_limit,
            columns: Vec::new(),
            names: Vec::new(),
            cells: Vec::new(),
            row: Vec::new(),
            is_pending: false,
            line: 1,
            record: Vec::new(),
            read,
            bytes: 0,
        };
        reader.begin(&options.ignore)?;
        Ok(reader)
    }

    /// Finds out how lines are made, what the columns are called, and which of them are coordinates.
    fn begin(&mut self, ignored: &[String]) -> Result {
        let line = self.first_line()?;
        self.shape = LineShape::of(&line);
        if !self.read_record()? {
            return Err(self.nothing());
        }
        let mut names: Vec<String> = (1..=self.cells.len()).map(|number| number.to_string()).collect();
        if !self.cells.iter().any(|cell| matches!(cell, VectorCell::Number(_))) {
            for (name, cell) in names.iter_mut().zip(&self.cells) {
                if let VectorCell::NotFinite(text) | VectorCell::Other(text) = cell
                    && !text.is_empty()
                {
                    name.clone_from(text);
                }
            }
            self.columns = names.iter().map(|name| (name.clone(), false)).collect();
            if !self.read_record()? {
                return Err(self.nothing());
            }
        }
        if let Some(unknown) = ignored.iter().find(|ignored| !names.contains(ignored)) {
            let all = names.join(", ");
            return Err(DataError::options(format!("there is no column '{unknown}' to ignore"))
                .advise(format!("the columns are: {all}"))
                .input(&self.chunker.name));
        }
        let is_other = self.cells.iter().map(|cell| matches!(cell, VectorCell::Other(_)));
        let is_coordinate = names.iter().zip(is_other).map(|(name, is_other)| !is_other && !ignored.contains(name));
        self.columns = is_coordinate.zip(names.iter().cloned()).map(|(it, name)| (name, it)).collect();
        self.names = self.columns.iter().filter(|(_, it)| *it).map(|(name, _)| name.clone()).collect();
        if self.names.is_empty() {
            return Err(self.nothing());
        }
        self.is_pending = true;
        Ok(())
    }

    fn nothing(&self) -> DataError {
        DataError::format("has no row of numbers")
            .advise("each line must be a vector: numbers between commas or blanks, or in brackets")
            .input(&self.chunker.name)
    }

    /// The first line that is more than blanks, which stays to be read.
    fn first_line(&mut self) -> Result<Vec<u8>> {
        loop {
            let Some(end) = self.chunker.first_record(Boundaries::Lines, self.record_limit)? else {
                return Err(self.nothing());
            };
            let line = self.chunker.buffer[..end].to_vec();
            if line.contains(&0) || invalid_utf8(&line, 0).is_some() {
                return Err(DataError::format("is not text")
                    .advise("games are read from CSV, JSON lines of arrays, or numbers between blanks")
                    .input(&self.chunker.name));
            }
            if Boundaries::Lines.counts(&line) {
                return Ok(line);
            }
            self.take(end);
        }
    }

    /// Takes the next record out of the input.
    fn take(&mut self, end: usize) {
        self.line = self.chunker.line;
        self.record = self.chunker.take_front(end, std::mem::take(&mut self.record));
        self.bytes += end as u64;
    }

    /// Reads the cells of the next record; false at the end.
    fn read_record(&mut self) -> Result<bool> {
        let boundaries = self.shape.boundaries();
        loop {
            let Some(end) = self.chunker.first_record(boundaries, self.record_limit)? else { return Ok(false) };
            self.take(end);
            if boundaries.counts(&self.record) {
                break;
            }
        }
        self.cells.clear();
        let cells = &mut self.cells;
        let read = match self.shape {
            LineShape::Cells(delimiter) => each_cell(&self.record, delimiter, |text| cells.push(cell(text))),
            LineShape::Words => {
                let words = self.record.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
                cells.extend(words.map(cell));
                Ok(())
            }
            LineShape::Brackets => match serde_json::from_slice::<Vec<f64>>(&self.record) {
                Ok(row) => {
                    cells.extend(row.into_iter().map(VectorCell::Number));
                    Ok(())
                }
                Err(_) => Err(DataError::record(format!(
                    "must be an array of numbers; found {}",
                    quoted(self.record.trim_ascii())
                ))),
            },
        };
        read.map_err(|error| error.input(&self.chunker.name).line(self.line))?;
        self.check_length()?;
        Ok(true)
    }

    fn check_length(&self) -> Result {
        let (found, expected) = (self.cells.len(), self.columns.len());
        if expected == 0 || found == expected {
            return Ok(());
        }
        let values = |count: usize| if count == 1 { "1 value".to_owned() } else { format!("{count} values") };
        let message = format!("the row has {} where the first one has {}", values(found), values(expected));
        Err(self.refuse(message, "all rows must be vectors of one length"))
    }

    /// An error of the row that was read last.
    pub fn refuse(&self, found: impl std::fmt::Display, remedy: &str) -> DataError {
        let error = DataError::record(found).input(&self.chunker.name).line(self.line);
        if remedy.is_empty() { error } else { error.advise(remedy) }
    }

    /// Whether the next row is there, or the input has ended. A pipe is waited for, but no longer than this.
    pub fn wait(&mut self, patience: Duration) -> bool {
        self.is_pending || self.chunker.wait_for_record(self.shape.boundaries(), patience)
    }

    /// The next row; `None` at the end.
    ///
    /// # Errors
    /// When a value is no finite number, a row has not as many as the first, or the input cannot be read.
    pub fn next_row(&mut self) -> Result<Option<&[f64]>, DataError> {
        if !std::mem::take(&mut self.is_pending) && !self.read_record()? {
            return Ok(None);
        }
        self.row.clear();
        for (cell, (name, _)) in self.cells.iter().zip(&self.columns).filter(|(_, (_, is_coordinate))| *is_coordinate) {
            match cell {
                VectorCell::Number(value) => self.row.push(*value),
                VectorCell::NotFinite(text) | VectorCell::Other(text) => {
                    let found = format!("must be a finite number; found {}", quoted(text.as_bytes()));
                    return Err(self.refuse(found, "").column(name));
                }
            }
        }
        Ok(Some(&self.row))
    }

    /// The names of the coordinates.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The names of the columns that are none.
    pub fn left_out(&self) -> Vec<&str> {
        self.columns.iter().filter(|(_, it)| !it).map(|(name, _)| name.as_str()).collect()
    }

    /// What lines are, in a word or two.
    pub fn format(&self) -> String {
        match self.shape {
            LineShape::Cells(b',') => "csv".to_owned(),
            LineShape::Cells(b'\t') => "tsv".to_owned(),
            LineShape::Cells(delimiter) => format!("csv, separated by {}", quoted(&[delimiter])),
            LineShape::Words => "numbers between blanks".to_owned(),
            LineShape::Brackets => "jsonl".to_owned(),
        }
    }

    /// How many bytes the records have that were read.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// How many bytes of the input were read, as they are on disk.
    pub fn bytes_on_disk(&self) -> u64 {
        self.read.load(Ordering::Relaxed)
    }
}
