//! What a user can say about an input.

use std::path::PathBuf;

use onward::loss::{Task, TaskLoss};

use crate::format::{Definition, Format, Formats};
use crate::schema::{Interaction, Schema};

/// What to do with a record that cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnError {
    /// Stop with an error that says where it is.
    #[default]
    Stop,
    /// Leave it out and count it.
    Skip,
}

/// What a user says about an input; all that is not said is inferred.
#[derive(Debug, Clone)]
pub struct Options {
    /// The formats that there are.
    pub formats: Formats,
    /// The format, else recognised from content.
    pub format: Option<Format>,
    /// The target column or expression (`delay>15`).
    pub target: Option<String>,
    /// What to predict, else inferred from the target's values.
    pub task: Option<Task>,
    /// The loss, whose labels are checked as they are read.
    pub loss: Option<TaskLoss>,
    /// Columns (or namespaces) to leave out.
    pub ignore: Vec<String>,
    /// Columns that are categories.
    pub categorical: Vec<String>,
    /// Columns that are numbers.
    pub numeric: Vec<String>,
    /// Columns that are text.
    pub text: Vec<String>,
    /// The column of importance weights.
    pub weight: Option<String>,
    /// Columns passed through to the predictions.
    pub ids: Vec<String>,
    /// What is multiplied with what: columns, or namespaces.
    pub interactions: Vec<Interaction>,
    /// Hashed features share 2^bits indices: 1 to 30.
    pub bits: u32,
    /// Word sequences of text columns up to this length: 1 to 8.
    pub ngrams: u32,
    /// Whether CSV and TSV begin with a line of column names; else they are named 1, 2, ….
    pub header: bool,
    /// What to do with a record that cannot be read.
    pub on_error: OnError,
    /// How many threads parse, the caller's among them.
    pub threads: usize,
    /// The longest record in bytes.
    pub record_limit: usize,
    /// About how many bytes a thread parses at a time.
    pub chunk_size: usize,
    /// The schema of a model, used as it is instead of inferring one.
    pub schema: Option<Schema>,
    /// Whether a target column must be there, as for learning.
    pub require_target: bool,
    /// Where examples are kept between runs over the same files: written by the first, read by
    /// those after it instead of the inputs, as long as these stay the same and are read in the
    /// same way.
    pub cache: Option<PathBuf>,
}

impl Options {
    /// The format that is asked for, or else recognised from how an input begins.
    pub(crate) fn recognise(&self, head: &[u8]) -> Option<&Definition> {
        let asked = self.format.as_ref().and_then(|format| self.formats.get(format));
        asked.or_else(|| self.formats.recognise(head, self.header))
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            formats: Formats::default(),
            format: None,
            target: None,
            task: None,
            loss: None,
            ignore: Vec::new(),
            categorical: Vec::new(),
            numeric: Vec::new(),
            text: Vec::new(),
            weight: None,
            ids: Vec::new(),
            interactions: Vec::new(),
            bits: 22,
            ngrams: 1,
            header: true,
            on_error: OnError::Stop,
            threads: 2,
            record_limit: 8 << 20,
            chunk_size: 256 << 10,
            schema: None,
            require_target: true,
            cache: None,
        }
    }
}
