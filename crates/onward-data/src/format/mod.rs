//! Formats: each is a folder here, and a line in [`built_in`].
//!
//! A [`TextFormat`] tells whether an input is in it, how its records end, what the first of them
//! say about all, and makes parsers; so can one from outside this crate, which is then known by its
//! name in the [`Formats`] of a run. Files of columns, which are read by seeking, are [`columnar`].

#[cfg(feature = "arrow")]
pub(crate) mod arrow;
mod by_line;
#[cfg(feature = "arrow")]
pub(crate) mod columnar;
pub(crate) mod csv;
mod detect;
pub(crate) mod jsonl;
#[cfg(feature = "arrow")]
pub(crate) mod parquet;
mod records;
mod sparse;
mod svmlight;
mod vw;
pub(crate) mod write;

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::encode::Rules;
use crate::error::{DataError, Result};
use crate::schema::sample::{FirstRows, SAMPLE_ROWS};
use crate::schema::{Layout, Role, Schema};
use crate::source::{Boundaries, Parser};
use crate::text::lines::lines;
pub use by_line::{RowBuilder, by_line};
pub use csv::csv_cell;
pub(crate) use detect::has_first_line;
pub use detect::{Head, Recognition};
use write::Writing;

/// A format of text records.
pub trait TextFormat: Send + Sync {
    /// What it is called, in lower case.
    fn name(&self) -> &str;

    /// What it is, in a line, as `onward list formats` prints it.
    fn summary(&self) -> &str {
        "a format of text records"
    }

    /// The endings of file names that stand for it where something is written.
    fn endings(&self) -> &[&str] {
        &[]
    }

    /// How its records are laid out.
    fn layout(&self) -> Layout;

    /// Whether tables begin with a record that names the columns.
    fn has_header(&self) -> bool {
        false
    }

    /// Whether an input is in this format, by how it begins. By default it is only read where it is asked for by name.
    fn recognise(&self, _head: &Head<'_>) -> Recognition {
        Recognition::No
    }

    /// Whether an input that is recognised as no other format may be in this one: asked of inputs after the first.
    fn admits(&self, _head: &Head<'_>) -> bool {
        true
    }

    /// How records end in an input that begins like this.
    fn boundaries(&self, _head: &[u8]) -> Boundaries {
        Boundaries::Lines
    }

    /// What it is called in the notes of a run.
    fn described(&self, _boundaries: Boundaries) -> String {
        self.name().to_owned()
    }

    /// What the first records say about all: their columns, or their labels.
    ///
    /// # Errors
    /// When no record can be read, or the first says that this is another format.
    fn sample(&self, first: &FirstLines<'_>) -> Result<FirstRows, DataError>;

    /// Makes a parser: each thread has one.
    fn parser(&self, boundaries: Boundaries, rules: &Rules) -> Box<dyn Parser>;

    /// The names of the ids that come with each row.
    fn id_names(&self, schema: &Schema) -> Vec<String> {
        schema.names_of(&Role::Id)
    }

    /// What [`convert`](crate::convert) writes in this format.
    fn writing(&self) -> Writing {
        Writing::None
    }
}

/// The first records of an input, from which columns are judged.
pub struct FirstLines<'a> {
    pub(crate) bytes: &'a [u8],
    /// The number of the first line.
    pub(crate) line: u64,
    /// Whether there is no more.
    pub(crate) is_all: bool,
    pub(crate) boundaries: Boundaries,
    /// Whether the first record names the columns, in formats where one may.
    pub(crate) has_header: bool,
    pub(crate) record_limit: usize,
    pub(crate) threads: usize,
    /// The keys that are left out with all that is in them.
    pub(crate) ignored: &'a [String],
}

impl<'a> FirstLines<'a> {
    /// The lines that are not blank and are UTF-8, as many as are looked at.
    pub fn lines(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        lines(self.bytes).filter(|line| !line.is_empty() && std::str::from_utf8(line).is_ok()).take(SAMPLE_ROWS)
    }
}

/// The name of a format.
///
/// What it stands for is looked up in the [`Formats`] of the run, so that the name of a format from
/// elsewhere can be kept in a model, and be read from it, where the format is not known.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Format(Cow<'static, str>);

impl Format {
    /// Comma-separated values.
    pub const CSV: Self = Self(Cow::Borrowed("csv"));
    /// Tab-separated values.
    pub const TSV: Self = Self(Cow::Borrowed("tsv"));
    /// One JSON object per line.
    pub const JSONL: Self = Self(Cow::Borrowed("jsonl"));
    /// `label index:value …`, as LIBSVM and SVMlight write it.
    pub const SVMLIGHT: Self = Self(Cow::Borrowed("svmlight"));
    /// Vowpal Wabbit's text.
    pub const VW: Self = Self(Cow::Borrowed("vw"));
    /// Apache Parquet.
    pub const PARQUET: Self = Self(Cow::Borrowed("parquet"));
    /// Apache Arrow IPC, file or stream.
    pub const ARROW: Self = Self(Cow::Borrowed("arrow"));

    /// A format by its name.
    pub fn named(name: impl Into<String>) -> Self {
        Self(Cow::Owned(name.into()))
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Format {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl FromStr for Format {
    type Err = String;

    /// One of the formats that Onward has built in.
    fn from_str(text: &str) -> Result<Self, String> {
        Formats::default().parse(text)
    }
}

/// What a format is.
#[derive(Clone)]
pub(crate) enum Definition {
    Text(Arc<dyn TextFormat>),
    Columnar(&'static ColumnarFormat),
}

/// A format of files of columns.
pub(crate) struct ColumnarFormat {
    /// What it is called, in lower case.
    pub(crate) name: &'static str,
    /// What it is, in a line.
    summary: &'static str,
    /// The endings of file names that stand for it where something is written.
    endings: &'static [&'static str],
    /// Whether a file that begins like this is in this format.
    has_magic: fn(&[u8]) -> bool,
    /// Opens a file, without reading its rows.
    #[cfg(feature = "arrow")]
    pub(crate) open: fn(crate::source::Seekable) -> Result<Box<dyn columnar::ColumnarFile>>,
    /// What [`convert`](crate::convert) writes in this format.
    writing: Writing,
}

/// All formats that Onward has built in, in the order in which an input is tried as one of them.
fn built_in() -> Vec<Definition> {
    vec![
        #[cfg(feature = "arrow")]
        Definition::Columnar(&parquet::PARQUET),
        #[cfg(feature = "arrow")]
        Definition::Columnar(&arrow::ARROW),
        Definition::Text(Arc::new(jsonl::JsonLines)),
        Definition::Text(Arc::new(svmlight::Svmlight)),
        Definition::Text(Arc::new(vw::Vw)),
        Definition::Text(Arc::new(csv::Delimited::TSV)),
        Definition::Text(Arc::new(csv::Delimited::CSV)),
    ]
}

impl Definition {
    /// What it is called.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Text(format) => format.name(),
            Self::Columnar(format) => format.name,
        }
    }

    /// What it is, in a line.
    fn summary(&self) -> &str {
        match self {
            Self::Text(format) => format.summary(),
            Self::Columnar(format) => format.summary,
        }
    }

    /// The format, if it is one of text.
    pub(crate) fn text(&self) -> Option<&Arc<dyn TextFormat>> {
        match self {
            Self::Text(format) => Some(format),
            Self::Columnar(_) => None,
        }
    }

    fn endings(&self) -> &[&str] {
        match self {
            Self::Text(format) => format.endings(),
            Self::Columnar(format) => format.endings,
        }
    }

    pub(crate) fn writing(&self) -> Writing {
        match self {
            Self::Text(format) => format.writing(),
            Self::Columnar(format) => format.writing,
        }
    }

    /// The handle of this format.
    pub(crate) fn handle(&self) -> Format {
        Format::named(self.name())
    }
}

/// The formats that a run knows: those that Onward has built in, and others.
#[derive(Clone)]
pub struct Formats {
    /// In the order in which an input is tried as one of them.
    all: Vec<Definition>,
}

impl Default for Formats {
    fn default() -> Self {
        Self { all: built_in() }
    }
}

impl fmt::Debug for Formats {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_set().entries(self.names()).finish()
    }
}

impl Formats {
    /// Adds a format, in place of one that has its name. Inputs are tried as one of it before those that were there.
    #[must_use]
    pub fn with(mut self, format: impl TextFormat + 'static) -> Self {
        self.all.retain(|other| other.name() != format.name());
        self.all.insert(0, Definition::Text(Arc::new(format)));
        self
    }

    /// Their names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.all.iter().map(Definition::name)
    }

    /// Their names, each with what it is, in the order of the documentation.
    pub fn summaries(&self) -> impl Iterator<Item = (&str, &str)> {
        let mut all: Vec<_> = self.all.iter().map(|format| (format.name(), format.summary())).collect();
        all.sort_by_key(|(name, _)| rank(name));
        all.into_iter()
    }

    /// The format of a name, in any case.
    ///
    /// # Errors
    /// When there is none, with the names that there are.
    pub fn parse(&self, name: &str) -> Result<Format, String> {
        let format = Format::named(name.to_ascii_lowercase());
        match self.get(&format) {
            Some(_) => Ok(format),
            None => Err(format!("there is no format '{format}'; the formats are: {}", self.list())),
        }
    }

    /// The format that the ending of a file's name stands for, for writing.
    pub fn of_file(&self, name: &str) -> Option<Format> {
        let ending = name.rsplit('.').next()?.to_ascii_lowercase();
        self.all.iter().find(|format| format.endings().contains(&ending.as_str())).map(Definition::handle)
    }

    /// Whether [`convert`](crate::convert) writes tables in this format, and not examples.
    pub fn writes_tables(&self, format: &Format) -> bool {
        self.get(format).is_some_and(|format| matches!(format.writing(), Writing::Table(_)))
    }

    /// Whether inputs in this format are text, which is read record by record.
    pub fn is_text(&self, format: &Format) -> bool {
        self.get(format).and_then(Definition::text).is_some()
    }

    /// Whether the first record names the columns.
    pub fn has_header(&self, format: &Format) -> bool {
        self.get(format).and_then(Definition::text).is_some_and(|format| format.has_header())
    }

    /// What a name stands for.
    pub(crate) fn get(&self, format: &Format) -> Option<&Definition> {
        self.all.iter().find(|other| other.name() == format.name())
    }

    /// A format that the run does not know.
    pub(crate) fn unknown(&self, format: &Format) -> DataError {
        DataError::options(format!("there is no format '{format}'")).advise(format!("the formats are: {}", self.list()))
    }

    /// Their names, for people.
    pub(crate) fn list(&self) -> String {
        self.summaries().map(|(name, _)| name).collect::<Vec<_>>().join(", ")
    }

    /// Recognises a format from the first bytes of an input (decompressed). `None`: this is no text that any
    /// format reads. Without `has_header` text is a table if it can be one.
    pub(crate) fn recognise(&self, bytes: &[u8], has_header: bool) -> Option<&Definition> {
        if let Some(found) = self.columnar(bytes) {
            return Some(found);
        }
        let head = Head::new(bytes, has_header);
        if head.looks_binary() {
            return None;
        }
        let recognised = |wanted: Recognition| {
            let is_it = |format: &Arc<dyn TextFormat>| format.recognise(&head) == wanted;
            self.all.iter().find(|format| format.text().is_some_and(is_it))
        };
        recognised(Recognition::Surely).or_else(|| recognised(Recognition::IfNoOther))
    }

    /// The format of columns that an input has which begins like this.
    pub(crate) fn columnar(&self, bytes: &[u8]) -> Option<&Definition> {
        self.all.iter().find(|format| matches!(format, Definition::Columnar(format) if (format.has_magic)(bytes)))
    }
}

/// The place of a format where people read of it, which is not the order in which they are tried.
fn rank(name: &str) -> usize {
    let order = ["csv", "tsv", "jsonl", "svmlight", "vw", "parquet", "arrow"];
    order.iter().position(|other| *other == name).unwrap_or(order.len())
}
