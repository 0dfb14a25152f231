//! The arguments of the program. Each option's documentation is its help.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use onward_data::Format;

use crate::order::Order;

/// Online machine learning that measures itself against hindsight
#[derive(Debug, Parser)]
#[command(name = "onward", version, long_about = LONG_ABOUT, after_help = EXAMPLES, max_term_width = 100)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const LONG_ABOUT: &str = "Online machine learning that measures itself against hindsight.\n\n\
A learner sees one example at a time: it predicts, is told the truth, pays a loss, and updates, in memory that does \
not grow with the stream. At the end onward prints what that cost (the sequential risk), what ignoring the features \
would have cost (the best constant), and how much less any fixed linear predictor could have paid (the guarantee).";

const EXAMPLES: &str = "Examples:
  onward learn flights.csv.zst --target 'arr_delay>15' --model late.safetensors
  onward predict late.safetensors tomorrow.csv > predictions.csv
  onward compare flights.csv.zst --target 'arr_delay>15' --html late.html
  onward inspect late.safetensors --top 20
  zcat clicks.jsonl.gz | onward learn --target clicked
  onward convert flights.csv.zst flights.vw --target 'arr_delay>15'

`onward COMMAND --help` says more. Data formats: docs/data-formats.md.";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Learn from examples, one at a time, and report what it cost
    Learn(Box<LearnOptions>),
    /// Let several learners learn side by side in one pass, and say which paid least
    Compare(Box<CompareOptions>),
    /// Predict with a saved model, without learning
    Predict(Box<PredictOptions>),
    /// Show what a saved model holds
    Inspect(InspectOptions),
    /// Write examples in another format
    Convert(Box<ConvertOptions>),
    /// Print a completion script for a shell
    #[command(after_help = "Examples:
  onward completions bash > /etc/bash_completion.d/onward
  onward completions fish > ~/.config/fish/completions/onward.fish")]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

/// What the input is, common to all commands that read examples.
#[derive(Debug, Args)]
#[command(next_help_heading = "Input")]
pub(crate) struct InputOptions {
    /// Files to read, one after the other; `-`, or none: standard input. gzip and Zstandard are
    /// recognised
    #[arg(value_name = "INPUT", value_hint = ValueHint::FilePath, help_heading = None)]
    pub(crate) inputs: Vec<String>,

    /// csv, tsv, jsonl, svmlight, vw, parquet or arrow; recognised from content if not given
    #[arg(long, value_name = "FORMAT", value_parser = parse_format)]
    pub(crate) format: Option<Format>,

    /// CSV and TSV begin with data, not with column names: columns are named 1, 2, …
    #[arg(long)]
    pub(crate) no_header: bool,

    /// What to do with a record that cannot be read: stop, or skip (and count) it
    #[arg(long, value_name = "WHAT", default_value = "stop")]
    pub(crate) on_error: OnErrorOption,

    /// The longest record of a text format, in bytes (or with K, M, G) [default: 8M]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub(crate) record_limit: Option<usize>,

    /// Keep the examples in this file (Arrow), and read them from there in later passes and later
    /// runs over the same inputs, without parsing. It is made anew, with a word, where an input has
    /// changed or is to be read in another way
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) cache: Option<PathBuf>,

    /// Threads that parse, the learning one among them, 1 to 256; with 2 or more, one besides keeps
    /// the account. Results do not depend on it
    /// [default: all processors, 16 at the most]
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<usize>,
}

/// What the columns are.
#[derive(Debug, Args)]
#[command(next_help_heading = "Columns")]
pub(crate) struct ColumnOptions {
    /// The column to predict, or a comparison of it that makes two classes: 'delay>15', 'kind==spam'
    /// (>, >=, <, <=, ==, !=)
    #[arg(long, value_name = "COLUMN", action = clap::ArgAction::Append)]
    pub(crate) target: Vec<String>,

    /// binary or regression; inferred from the target if not given
    #[arg(long, value_name = "TASK")]
    pub(crate) task: Option<TaskOption>,

    /// Columns (or Vowpal Wabbit namespaces) to leave out, separated by commas
    #[arg(long, value_name = "COLUMN,…", value_delimiter = ',', action = clap::ArgAction::Append)]
    pub(crate) ignore: Vec<String>,

    /// Columns that are categories, though they look like numbers
    #[arg(long, value_name = "COLUMN,…", value_delimiter = ',', action = clap::ArgAction::Append)]
    pub(crate) categorical: Vec<String>,

    /// Columns that are numbers, though the first rows do not show it
    #[arg(long, value_name = "COLUMN,…", value_delimiter = ',', action = clap::ArgAction::Append)]
    pub(crate) numeric: Vec<String>,

    /// Columns of text, taken as bags of words
    #[arg(long, value_name = "COLUMN,…", value_delimiter = ',', action = clap::ArgAction::Append)]
    pub(crate) text: Vec<String>,

    /// The column of importance weights
    #[arg(long, value_name = "COLUMN")]
    pub(crate) weight: Option<String>,

    /// Columns that are copied to the predictions and not learnt from
    #[arg(long, value_name = "COLUMN,…", value_delimiter = ',', action = clap::ArgAction::Append)]
    pub(crate) id: Vec<String>,

    /// Products of features, for each pair (or more) of columns (or Vowpal Wabbit namespaces):
    /// 'a*b', 'a*b*c'; 'a*a' within one; * for every one: 'a * *' is a with each, '* * *' are all
    /// pairs. Names with * or a comma go into double quotes
    #[arg(long, value_name = "A*B,…", action = clap::ArgAction::Append)]
    pub(crate) interactions: Vec<String>,

    /// Text gives sequences of up to N words, 1 to 8 [default: 1]
    #[arg(long, value_name = "N")]
    pub(crate) ngrams: Option<u32>,

    /// Hashed features share 2^N weights, 1 to 30 [default: 22]
    #[arg(long, value_name = "N")]
    pub(crate) bits: Option<u32>,
}

impl ColumnOptions {
    /// The options that were given, by name.
    pub(crate) fn given(&self) -> Vec<&'static str> {
        let options = [
            ("--target", !self.target.is_empty()),
            ("--task", self.task.is_some()),
            ("--ignore", !self.ignore.is_empty()),
            ("--categorical", !self.categorical.is_empty()),
            ("--numeric", !self.numeric.is_empty()),
            ("--text", !self.text.is_empty()),
            ("--weight", self.weight.is_some()),
            ("--id", !self.id.is_empty()),
            ("--interactions", !self.interactions.is_empty()),
            ("--ngrams", self.ngrams.is_some()),
            ("--bits", self.bits.is_some()),
        ];
        options.into_iter().filter(|&(_, given)| given).map(|(name, _)| name).collect()
    }
}

/// How loud.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct VoiceOptions {
    /// Say nothing but errors on standard error
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// Whether and how to look back.
#[derive(Debug, Args)]
#[command(next_help_heading = "Learning")]
pub(crate) struct HindsightOptions {
    /// Find the best fixed linear predictor, knowing the whole stream, and tell the regret: what
    /// learning online cost against it. `ball`: of the size that --radius says; `unconstrained`: of
    /// any size [default class: ball]
    #[arg(
        id = "hindsight",
        long = "hindsight",
        value_name = "CLASS",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "ball",
    )]
    pub(crate) class: Option<HindsightClass>,

    /// How near to the least loss the predictor of --hindsight is to be: a share of its loss (or of a
    /// thousandth of what a constant pays, if that is more)
    #[arg(
        id = "hindsight_gap",
        long = "hindsight-gap",
        value_name = "SHARE",
        default_value_t = 1e-3,
        allow_negative_numbers = true,
        requires = "hindsight"
    )]
    pub(crate) gap: f64,
}

#[derive(Debug, Args)]
#[command(after_help = LEARN_EXAMPLES)]
pub(crate) struct LearnOptions {
    #[command(flatten)]
    pub(crate) input: InputOptions,
    #[command(flatten)]
    pub(crate) columns: ColumnOptions,

    /// The loss [default: logistic for binary, squared for regression]; see --list-losses
    #[arg(long, value_name = "NAME[:KEY=VALUE]", help_heading = "Learning")]
    pub(crate) loss: Option<String>,

    /// The learner [default: auto]; see --list-learners
    #[arg(long, value_name = "NAME[:KEY=VALUE,…]", help_heading = "Learning")]
    pub(crate) learner: Option<String>,

    /// Compare with predictors of ‖u‖ ≤ U (and keep the learner's weights there, where it projects)
    /// [default: predictors of a size that does not depend on units, Σ(s_i u_i)² ≤ 10², s_i the root
    /// mean square of feature i]
    #[arg(long, value_name = "U", allow_negative_numbers = true, help_heading = "Learning")]
    pub(crate) radius: Option<f64>,

    #[command(flatten)]
    pub(crate) hindsight: HindsightOptions,

    /// Go over the input N times; risk and guarantee are those of the first pass
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..), help_heading = "Learning")]
    pub(crate) passes: u32,

    /// Read nothing, and print what the learner's theorem promises of a stream of T examples; beside
    /// it go --learner, --loss, --radius, --task and --scales
    #[arg(
        long,
        value_name = "T",
        value_parser = parse_rounds,
        allow_negative_numbers = true,
        conflicts_with_all = IDLE_IN_A_PLAN,
        help_heading = "Learning"
    )]
    pub(crate) plan: Option<u64>,

    /// What --plan reckons with: norm=X (the largest ‖x‖₂), largest=X (the largest |x_i|), label=Y
    /// (the largest |y|), features=D, range=R (how much the losses of a mixture's experts differ at
    /// most in a round) [default: 1 each]
    #[arg(long, value_name = "KEY=VALUE,…", value_delimiter = ',', help_heading = "Learning")]
    pub(crate) scales: Vec<String>,

    /// The order in which passes after the first go over the rows, which are kept in memory for
    /// shuffle and random
    #[arg(long, value_name = "ORDER", help_heading = "Learning")]
    pub(crate) order: Option<Order>,

    /// The seed of --order [default: 0]
    #[arg(long, value_name = "N", help_heading = "Learning")]
    pub(crate) seed: Option<u64>,

    /// Losses are within [0, R], which is known beforehand: then bound what the average of the
    /// learner's points pays on a new example (for learners that keep it)
    #[arg(long, value_name = "R", allow_negative_numbers = true, help_heading = "Learning")]
    pub(crate) loss_bound: Option<f64>,

    /// Continue from a saved model: its learner, loss, columns and account, so that no option about
    /// these goes with it
    #[arg(long, value_name = "MODEL", value_hint = ValueHint::FilePath, help_heading = "Learning")]
    pub(crate) init: Option<PathBuf>,

    /// Save the model here when done
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub(crate) model: Option<PathBuf>,

    /// Write the prediction made for each example before its label was seen, as CSV (`-`: standard
    /// output)
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub(crate) predictions: Option<PathBuf>,

    /// Write a report in JSON (`-`: standard output)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub(crate) report: Option<PathBuf>,

    /// Write a page with charts of the run, which needs no network (`-`: standard output)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub(crate) html: Option<PathBuf>,

    /// Draw the mean loss so far on standard error
    #[arg(long, conflicts_with = "quiet", help_heading = "Output")]
    pub(crate) plot: bool,

    #[command(flatten)]
    pub(crate) voice: VoiceOptions,

    /// List the learners with their parameters, and stop
    #[arg(long, help_heading = "Help")]
    pub(crate) list_learners: bool,

    /// List the losses, and stop
    #[arg(long, help_heading = "Help")]
    pub(crate) list_losses: bool,
}

/// What would change nothing beside --plan, which reads and writes nothing.
const IDLE_IN_A_PLAN: [&str; 32] = [
    "inputs",
    "format",
    "no_header",
    "on_error",
    "record_limit",
    "cache",
    "threads",
    "target",
    "ignore",
    "categorical",
    "numeric",
    "text",
    "weight",
    "id",
    "interactions",
    "ngrams",
    "bits",
    "hindsight",
    "hindsight_gap",
    "passes",
    "order",
    "seed",
    "loss_bound",
    "init",
    "model",
    "predictions",
    "report",
    "html",
    "plot",
    "quiet",
    "list_learners",
    "list_losses",
];

const LEARN_EXAMPLES: &str = "Examples:
  onward learn flights.csv.zst --target 'arr_delay>15'
      whether a flight is late; format, column kinds and task are recognised and said
  onward learn flights.csv.zst --target arr_delay --loss absolute --ignore tailnum
      by how many minutes, the median
  onward learn flights.csv.zst --target 'arr_delay>15' --interactions 'carrier*origin,dest*hour'
      with products of features: carriers at each airport, hours at each destination
  onward learn flights.csv.zst --target 'arr_delay>15' --hindsight
      and what the best fixed linear predictor would have paid, knowing all flights
  onward learn monday.csv tuesday.csv --target clicked --model clicks.safetensors
  onward learn wednesday.csv --init clicks.safetensors --model clicks.safetensors
      day after day
  tail -f log.jsonl | onward learn --target clicked --predictions - --model clicks.safetensors
      a stream that never ends: Ctrl-C ends the run and writes the model
  onward learn data.svm --learner ogd:radius=5 --report - --quiet | jq .guarantees
      a learner with a guarantee of its own
  onward learn --plan 100000 --learner ogd:radius=1 --loss squared --scales norm=1,label=1
      what its theorem promises before there are data";

#[derive(Debug, Args)]
#[command(after_help = COMPARE_EXAMPLES)]
pub(crate) struct CompareOptions {
    #[command(flatten)]
    pub(crate) input: InputOptions,
    #[command(flatten)]
    pub(crate) columns: ColumnOptions,

    /// A learner; once for each that is to be compared [default: auto, nag, adagrad and ogd]; see
    /// `onward learn --list-learners`
    #[arg(long, value_name = "NAME[:KEY=VALUE,…]", action = clap::ArgAction::Append, help_heading = "Learning")]
    pub(crate) learner: Vec<String>,

    /// The loss that all are charged by [default: logistic for binary, squared for regression]; see
    /// `onward learn --list-losses`
    #[arg(long, value_name = "NAME[:KEY=VALUE]", help_heading = "Learning")]
    pub(crate) loss: Option<String>,

    /// Compare with predictors of ‖u‖ ≤ U (and keep the learners' weights there, where they project)
    /// [default: predictors of a size that does not depend on units, Σ(s_i u_i)² ≤ 10², s_i the root
    /// mean square of feature i]
    #[arg(long, value_name = "U", allow_negative_numbers = true, help_heading = "Learning")]
    pub(crate) radius: Option<f64>,

    #[command(flatten)]
    pub(crate) hindsight: HindsightOptions,

    /// Write a report in JSON (`-`: standard output)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub(crate) report: Option<PathBuf>,

    /// Write a page with charts of the run, which needs no network (`-`: standard output)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub(crate) html: Option<PathBuf>,

    /// Draw the mean loss so far on standard error
    #[arg(long, conflicts_with = "quiet", help_heading = "Output")]
    pub(crate) plot: bool,

    /// Write the chart of the mean loss so far as an SVG picture (`-`: standard output)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub(crate) picture: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) voice: VoiceOptions,
}

const COMPARE_EXAMPLES: &str = "Examples:
  onward compare flights.csv.zst --target 'arr_delay>15' --html late.html
      the default learners, and a page with charts for the browser
  onward compare flights.csv.zst --target arr_delay --loss absolute --learner auto --learner nag:eta=2 --plot
      two learners, and a plot in the terminal
  onward compare flights.csv.zst --target 'arr_delay>15' --hindsight --html late.html
      with the regret of each against the best fixed predictor
  onward compare data.svm --learner ogd:radius=1 --learner ogd:radius=5 --report - --quiet | jq '.learners[].sequential_risk'
      the same for programs";

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  onward predict late.safetensors tomorrow.csv > predictions.csv
  onward predict late.safetensors today.csv --report -
      when the labels are there, the loss on them is reported too")]
pub(crate) struct PredictOptions {
    /// The model, a file that `onward learn --model` wrote
    #[arg(value_name = "MODEL", value_hint = ValueHint::FilePath)]
    pub(crate) model: PathBuf,

    #[command(flatten)]
    pub(crate) input: InputOptions,

    /// Write the predictions here, as CSV (`-`: standard output)
    #[arg(long, short, value_name = "FILE", default_value = "-", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub(crate) predictions: PathBuf,

    /// Write a report in JSON (`-`: standard output; then say where the predictions go)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub(crate) report: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) voice: VoiceOptions,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  onward inspect late.safetensors --top 20
  onward inspect late.safetensors --json | jq .heaviest
      the same for programs")]
pub(crate) struct InspectOptions {
    /// The model, a file that `onward learn --model` wrote
    #[arg(value_name = "MODEL", value_hint = ValueHint::FilePath)]
    pub(crate) model: PathBuf,

    /// How many of the heaviest features to show
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) top: usize,

    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  onward convert flights.csv.zst flights.vw --target 'arr_delay>15'
  onward convert flights.csv.zst flights.svm --target arr_delay
  onward convert flights.csv.zst flights.arrow --target arr_delay
      ready examples, which are learnt from without parsing
  onward convert flights.csv.zst flights.parquet
      a table: csv, tsv, jsonl and parquet keep the columns as they are")]
pub(crate) struct ConvertOptions {
    /// The file to read; `-`: standard input
    #[arg(value_name = "IN", value_hint = ValueHint::FilePath)]
    pub(crate) from: String,

    /// The file to write; its ending says the format
    #[arg(value_name = "OUT", value_hint = ValueHint::FilePath)]
    pub(crate) to: PathBuf,

    /// The format to write, if the ending does not say it
    #[arg(long, value_name = "FORMAT", value_parser = parse_format, help_heading = "Output")]
    pub(crate) to_format: Option<Format>,

    #[command(flatten)]
    pub(crate) input: ConvertInputOptions,
    #[command(flatten)]
    pub(crate) columns: ColumnOptions,
    #[command(flatten)]
    pub(crate) voice: VoiceOptions,
}

/// As [`InputOptions`], without the inputs.
#[derive(Debug, Args)]
#[command(next_help_heading = "Input")]
pub(crate) struct ConvertInputOptions {
    /// The format of IN; recognised from content if not given
    #[arg(long, value_name = "FORMAT", value_parser = parse_format)]
    pub(crate) format: Option<Format>,

    /// CSV and TSV begin with data, not with column names: columns are named 1, 2, …
    #[arg(long)]
    pub(crate) no_header: bool,

    /// What to do with a record that cannot be read: stop, or skip (and count) it
    #[arg(long, value_name = "WHAT", default_value = "stop")]
    pub(crate) on_error: OnErrorOption,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnErrorOption {
    /// End the run, with a message that says where
    Stop,
    /// Leave the record out, and count it
    Skip,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum HindsightClass {
    /// Predictors of a bounded size
    Ball,
    /// Predictors of any size
    Unconstrained,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TaskOption {
    /// Two classes
    Binary,
    /// Numbers
    Regression,
}

fn parse_format(text: &str) -> Result<Format, String> {
    text.parse()
}

/// A number of examples.
fn parse_rounds(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| "it is a whole number of examples, from 0 to 18446744073709551615".to_owned())
}

/// A size in bytes: a whole number, with K, M or G for powers of 1024.
fn parse_size(text: &str) -> Result<usize, String> {
    let wrong = || format!("'{text}' is no size: write bytes, or a number with K, M or G");
    let (digits, unit) = match text.char_indices().last() {
        Some((at, 'k' | 'K')) => (&text[..at], 1 << 10),
        Some((at, 'm' | 'M')) => (&text[..at], 1 << 20),
        Some((at, 'g' | 'G')) => (&text[..at], 1 << 30),
        _ => (text, 1),
    };
    let count: usize = digits.parse().map_err(|_| wrong())?;
    let size = count.checked_mul(unit).ok_or_else(wrong)?;
    // Memory for one record is held several times over.
    if (1..=1 << 31).contains(&size) { Ok(size) } else { Err(format!("a record limit is from 1 to 2G, not {text}")) }
}
