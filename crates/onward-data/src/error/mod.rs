//! What can be wrong with an input, and where.

use std::fmt;
use std::io;

use serde::{Deserialize, Serialize};

mod command_line;
mod message;

pub use message::{Message, Setting};

/// Where in the inputs something was found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    /// The file, or `standard input`.
    pub input: String,
    /// The line, from 1, in text formats.
    pub line: Option<u64>,
    /// The row, from 1, in formats without lines.
    pub row: Option<u64>,
    /// The column, key or namespace.
    pub column: Option<String>,
}

impl fmt::Display for Position {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [
            Some(self.input.clone()).filter(|input| !input.is_empty()),
            self.line.map(|line| format!("line {line}")),
            self.row.map(|row| format!("row {row}")),
            self.column.as_ref().map(|column| format!("column '{column}'")),
        ];
        out.write_str(&parts.into_iter().flatten().collect::<Vec<_>>().join(", "))
    }
}

/// What nearly all functions of this crate give.
pub(crate) type Result<T = (), E = DataError> = std::result::Result<T, E>;

/// An error in an input: opaque, with a [`kind`](DataError::kind), a
/// [`position`](DataError::position), what was found and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DataError {
    // Boxed: an error is rare, and a small result keeps the parsers' loops tight.
    inner: Box<Inner>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Inner {
    kind: DataErrorKind,
    position: Position,
    found: Message,
    remedy: Option<Message>,
}

/// What a [`DataError`] is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum DataErrorKind {
    /// The input cannot be opened: missing, a folder, not readable.
    Open,
    /// Reading failed: the device, the pipe.
    Io,
    /// The input as a whole is not what it should be: truncated, not of the format, empty.
    Format,
    /// One record is malformed.
    Record,
    /// Options and input do not go together: a column that is not there.
    Options,
}

impl DataError {
    /// An error without a position yet.
    #[cold]
    fn new(kind: DataErrorKind, found: impl fmt::Display) -> Self {
        let found = Message::from(found.to_string());
        Self { inner: Box::new(Inner { kind, position: Position::default(), found, remedy: None }) }
    }

    /// A malformed record. The reader adds its position.
    pub fn record(found: impl fmt::Display) -> Self {
        Self::new(DataErrorKind::Record, found)
    }

    /// An input that cannot be opened.
    pub(crate) fn open(found: impl fmt::Display) -> Self {
        Self::new(DataErrorKind::Open, found)
    }

    /// A failed read.
    pub(crate) fn io(found: impl fmt::Display) -> Self {
        Self::new(DataErrorKind::Io, found)
    }

    /// An input that is not what it should be as a whole.
    pub(crate) fn format(found: impl fmt::Display) -> Self {
        Self::new(DataErrorKind::Format, found)
    }

    /// Options that do not fit together, or do not fit the input.
    pub(crate) fn options(found: impl fmt::Display) -> Self {
        Self::new(DataErrorKind::Options, found)
    }

    /// Adds what to do about it.
    #[must_use]
    pub fn advise(mut self, remedy: impl Into<Message>) -> Self {
        self.inner.remedy = Some(remedy.into());
        self
    }

    /// Adds the input's name.
    pub(crate) fn input(mut self, input: &str) -> Self {
        input.clone_into(&mut self.inner.position.input);
        self
    }

    /// Adds the line.
    pub(crate) fn line(mut self, line: u64) -> Self {
        self.inner.position.line = Some(line);
        self
    }

    /// Adds the row.
    pub(crate) fn row(mut self, row: u64) -> Self {
        self.inner.position.row = Some(row);
        self
    }

    /// Adds the column, unless one is named already.
    #[must_use]
    pub fn column(mut self, column: &str) -> Self {
        self.inner.position.column.get_or_insert_with(|| column.to_owned());
        self
    }

    /// What the error is about.
    pub fn kind(&self) -> DataErrorKind {
        self.inner.kind
    }

    /// Where it was found.
    pub fn position(&self) -> &Position {
        &self.inner.position
    }

    /// What was found.
    pub fn found(&self) -> &Message {
        &self.inner.found
    }

    /// What to do about it, if that is known.
    pub fn remedy(&self) -> Option<&Message> {
        self.inner.remedy.as_ref()
    }

    /// The whole error, with settings as options of the command line.
    pub fn command_line(&self) -> String {
        self.worded(command_line::option)
    }

    /// The whole error, with the settings that it names [worded](Message::worded) by `word`.
    pub fn worded(&self, word: impl Fn(Setting, Option<&str>) -> String) -> String {
        let mut text = self.inner.position.to_string();
        if !text.is_empty() {
            text.push_str(": ");
        }
        text.push_str(&self.inner.found.worded(&word));
        if let Some(remedy) = &self.inner.remedy {
            text.push_str("; ");
            text.push_str(&remedy.worded(word));
        }
        text
    }
}

impl fmt::Display for DataError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.worded(message::field))
    }
}

impl std::error::Error for DataError {}

/// Why a file cannot be read or written, in the words of all messages.
pub fn io_reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "no such file".to_owned(),
        io::ErrorKind::IsADirectory => "is a folder".to_owned(),
        io::ErrorKind::NotADirectory => "a part of its path is not a folder".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        io::ErrorKind::StorageFull => "no space is left".to_owned(),
        _ => error.to_string(),
    }
}

/// What to do about a record that only its owner can mend.
pub(crate) const MEND: &str = "fix the record, or skip such records with ⟦on_error=skip⟧";

/// A found text as it is shown in a message: in quotes, on one line, not too long.
pub(crate) fn quoted(bytes: &[u8]) -> String {
    const LONGEST: usize = 40;
    let text = String::from_utf8_lossy(bytes);
    let mut shown = String::new();
    for letter in text.chars().take(LONGEST) {
        match letter {
            // As they stand in the file, where there are many of them.
            '"' | '\'' | '\\' => shown.push(letter),
            letter => shown.extend(letter.escape_debug()),
        }
    }
    if text.chars().nth(LONGEST).is_some() {
        shown.push('…');
    }
    format!("'{shown}'")
}
