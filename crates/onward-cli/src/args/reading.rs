//! What the inputs are, and what their columns mean.

use std::io::IsTerminal;
use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, ValueEnum, ValueHint};
use onward::loss::Task;
use onward_data::{Format, Input, Interaction, OnError, Options};

/// What the inputs are, common to all commands that read examples.
#[derive(Debug, Args)]
#[command(next_help_heading = "Input")]
pub(crate) struct InputArguments {
    /// Files to read, one after the other; `-` or no file: standard input. gzip and Zstandard are detected
    #[arg(value_name = "INPUT", value_hint = ValueHint::FilePath, help_heading = None)]
    pub(crate) inputs: Vec<String>,

    #[command(flatten)]
    pub(crate) format: FormatArguments,

    /// The longest record of a text format, in bytes (or with K, M, G) [default: 8M]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub(crate) record_limit: Option<usize>,

    /// Store the parsed examples in this Arrow file, and read them from there in later passes and in later runs over
    /// the same inputs. A stale cache is rebuilt, and one line says why
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) cache: Option<PathBuf>,

    /// Number of threads that parse, including the learning one, 1 to 256; with 2 or more, another one scores the
    /// predictions. Results do not depend on it [default: all processors, at most 16]
    #[arg(long, value_name = "N", value_parser = parse_whole::<usize>)]
    pub(crate) threads: Option<usize>,
}

/// What the format is.
#[derive(Debug, Args)]
#[command(next_help_heading = "Input")]
pub(crate) struct FormatArguments {
    /// csv, tsv, jsonl, svmlight, vw, parquet or arrow [default: detected from the content]
    #[arg(long, value_name = "FORMAT", value_parser = parse_format)]
    pub(crate) format: Option<Format>,

    /// Treat the first line of CSV and TSV as data; columns are named 1, 2, …
    #[arg(long)]
    pub(crate) no_header: bool,

    /// What to do with a record that cannot be read: stop, or skip and count it
    #[arg(long, value_name = "WHAT", default_value = "stop")]
    pub(crate) on_error: OnErrorOption,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnErrorOption {
    /// End the run with a message that says where
    Stop,
    /// Skip the record and count it
    Skip,
}

/// What the columns are.
#[derive(Debug, Args)]
#[command(next_help_heading = "Columns")]
pub(crate) struct ColumnArguments {
    /// The column to predict, or a comparison of it that makes two classes: 'delay>15', 'kind==spam'
    /// (>, >=, <, <=, ==, !=)
    #[arg(long, value_name = "COLUMN")]
    pub(crate) target: Option<String>,

    /// binary or regression [default: inferred from the target]
    #[arg(long, value_name = "TASK")]
    pub(crate) task: Option<TaskOption>,

    /// Columns (or Vowpal Wabbit namespaces) to leave out, separated by commas
    #[arg(long, value_name = "COLUMN,…", value_delimiter = ',', action = clap::ArgAction::Append)]
    pub(crate) ignore: Vec<String>,

    /// Treat these columns as categories, even if they look like numbers
    #[arg(long, value_name = "COLUMN,…", value_delimiter = ',', action = clap::ArgAction::Append)]
    pub(crate) categorical: Vec<String>,

    /// Treat these columns as numbers
    #[arg(long, value_name = "COLUMN,…", value_delimiter = ',', action = clap::ArgAction::Append)]
    pub(crate) numeric: Vec<String>,

    /// Treat these columns as text, as bags of words
    #[arg(long, value_name = "COLUMN,…", value_delimiter = ',', action = clap::ArgAction::Append)]
    pub(crate) text: Vec<String>,

    /// The column of importance weights
    #[arg(long, value_name = "COLUMN")]
    pub(crate) weight: Option<String>,

    /// Columns to copy to the predictions and not to learn from
    #[arg(long, value_name = "COLUMN,…", value_delimiter = ',', action = clap::ArgAction::Append)]
    pub(crate) id: Vec<String>,

    /// Add products of the features of columns (or Vowpal Wabbit namespaces): 'a*b', 'a*b*c', or 'a*a' within one. *
    /// stands for every column: 'a * *' is a with each, '* * *' is all pairs. Put names with * or a comma in double
    /// quotes
    #[arg(long, value_name = "A*B,…", value_parser = parse_interactions, action = clap::ArgAction::Append)]
    pub(crate) interactions: Vec<Interactions>,

    /// Text features are sequences of up to N words, 1 to 8 [default: 1]
    #[arg(long, value_name = "N", value_parser = parse_whole::<u32>)]
    pub(crate) ngrams: Option<u32>,

    /// Hashed features share 2^N weights, 1 to 30 [default: 22]
    #[arg(long, value_name = "N", value_parser = parse_whole::<u32>)]
    pub(crate) bits: Option<u32>,
}

/// The products of one option.
#[derive(Debug, Clone)]
pub(crate) struct Interactions(Vec<Interaction>);

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TaskOption {
    /// Two classes
    Binary,
    /// Numbers
    Regression,
}

impl From<TaskOption> for Task {
    fn from(task: TaskOption) -> Self {
        match task {
            TaskOption::Binary => Self::Binary,
            TaskOption::Regression => Self::Regression,
        }
    }
}

impl InputArguments {
    /// The inputs; standard input if none is named.
    pub(crate) fn inputs(&self) -> Result<Vec<Input>, &'static str> {
        if self.inputs.is_empty() {
            return match std::io::stdin().is_terminal() {
                true => Err("no input is given: name a file, pipe examples in, or use `-` to type them"),
                false => Ok(vec![Input::Standard]),
            };
        }
        if self.inputs.iter().filter(|name| *name == "-").count() > 1 {
            return Err("standard input (`-`) can be read only once; name it once");
        }
        Ok(self.inputs.iter().map(|name| Input::from(name.as_str())).collect())
    }

    /// How they are read.
    pub(crate) fn reading(&self) -> Options {
        let base = self.format.reading();
        Options {
            record_limit: self.record_limit.unwrap_or(base.record_limit),
            threads: self.threads.unwrap_or(base.threads),
            cache: self.cache.clone(),
            ..base
        }
    }
}

impl FormatArguments {
    /// How inputs of the format are read.
    pub(crate) fn reading(&self) -> Options {
        Options {
            format: self.format.clone(),
            header: !self.no_header,
            on_error: match self.on_error {
                OnErrorOption::Stop => OnError::Stop,
                OnErrorOption::Skip => OnError::Skip,
            },
            threads: std::thread::available_parallelism().map_or(2, usize::from).min(16),
            ..Options::default()
        }
    }
}

impl ColumnArguments {
    /// Adds what the columns are.
    pub(crate) fn reading(&self, base: Options) -> Options {
        let interactions = self.interactions.iter().flat_map(|Interactions(list)| list.iter().cloned());
        Options {
            target: self.target.clone(),
            interactions: interactions.collect(),
            task: self.task.map(Task::from),
            ignore: self.ignore.clone(),
            categorical: self.categorical.clone(),
            numeric: self.numeric.clone(),
            text: self.text.clone(),
            weight: self.weight.clone(),
            ids: self.id.clone(),
            bits: self.bits.unwrap_or(base.bits),
            ngrams: self.ngrams.unwrap_or(base.ngrams),
            ..base
        }
    }

    /// The options that say what a learner would see, and mean nothing where a table is copied.
    pub(crate) fn for_learners(&self) -> Vec<&'static str> {
        let options = [
            ("--target", self.target.is_some()),
            ("--task", self.task.is_some()),
            ("--weight", self.weight.is_some()),
            ("--id", !self.id.is_empty()),
            ("--interactions", !self.interactions.is_empty()),
            ("--ngrams", self.ngrams.is_some()),
            ("--bits", self.bits.is_some()),
        ];
        options.into_iter().filter(|&(_, is_given)| is_given).map(|(name, _)| name).collect()
    }
}

/// A whole number.
pub(super) fn parse_whole<T: FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| "must be a whole number".to_owned())
}

pub(super) fn parse_format(text: &str) -> Result<Format, String> {
    text.parse()
}

fn parse_interactions(text: &str) -> Result<Interactions, String> {
    Interaction::list(text).map(Interactions).map_err(|error| error.to_string())
}

/// A size in bytes: a whole number, with K, M or G for powers of 1024.
fn parse_size(text: &str) -> Result<usize, String> {
    let (digits, unit) = match text.char_indices().last() {
        Some((at, 'k' | 'K')) => (&text[..at], 1 << 10),
        Some((at, 'm' | 'M')) => (&text[..at], 1 << 20),
        Some((at, 'g' | 'G')) => (&text[..at], 1 << 30),
        _ => (text, 1),
    };
    let size = digits.parse().ok().and_then(|count: usize| count.checked_mul(unit));
    // Memory for one record is held several times over.
    let is_fitting = |size: &usize| (1..=1 << 31).contains(size);
    size.filter(is_fitting).ok_or_else(|| "must be from 1 to 2G: bytes, or a number with K, M or G".to_owned())
}
