//! The arguments of the program. Each option's documentation is its help.

mod learning;
mod playing;
mod reading;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueHint};
use onward_data::Format;

pub(crate) use learning::{CompareArguments, LearnArguments, PlanArguments};
pub(crate) use playing::PlayArguments;
pub(crate) use reading::{ColumnArguments, FormatArguments, InputArguments};

/// Online machine learning that measures itself against hindsight
#[derive(Debug, Parser)]
#[command(name = "onward", version, long_about = LONG_ABOUT, after_help = EXAMPLES, max_term_width = 100)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const LONG_ABOUT: &str = "Online machine learning that measures itself against hindsight.\n\n\
A learner sees one example at a time: it predicts, sees the label, pays a loss and updates, in memory that does not \
grow with the stream. At the end Onward prints what that cost (the sequential risk), what ignoring the features would \
have cost (the best constant), and how much less any fixed linear predictor could have paid (the guarantee).";

const EXAMPLES: &str = "Examples:
  onward learn flights.csv.zst --target 'arr_delay>15' --model late.safetensors
  onward predict late.safetensors tomorrow.csv > predictions.csv
  onward compare flights.csv.zst --target 'arr_delay>15' --report late.json
  onward show late.json --html late.html
  onward inspect late.safetensors --top 20
  zcat clicks.jsonl.gz | onward learn --target clicked
  onward convert flights.csv.zst flights.vw --target 'arr_delay>15'

See `onward COMMAND --help` for more. Data formats: docs/data-formats.md.";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Learn from examples, one at a time, and report what it cost
    Learn(Box<LearnArguments>),
    /// Run several learners side by side in one pass and compare their losses
    Compare(Box<CompareArguments>),
    /// Play a game without features: the rows are losses, and points are compared with the best fixed one
    Play(PlayArguments),
    /// Predict with a saved model, without learning
    Predict(Box<PredictArguments>),
    /// Show a report of `learn`, `compare` or `play` as a table, a page, a plot or a picture
    Show(ShowArguments),
    /// Show what a saved model contains
    Inspect(InspectArguments),
    /// Write examples in another format
    Convert(Box<ConvertArguments>),
    /// List the learners with their parameters, the losses, or the formats
    #[command(after_help = "Examples:
  onward list learners
  onward list losses")]
    List {
        /// What to list
        what: Listed,
    },
    /// Print the regret bound of a learner's theorem for a stream of given length
    Plan(PlanArguments),
    /// Print a completion script for a shell
    #[command(after_help = "Examples:
  onward completions bash > /etc/bash_completion.d/onward
  onward completions fish > ~/.config/fish/completions/onward.fish")]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

/// What can be listed.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub(crate) enum Listed {
    /// Learners with their parameters
    Learners,
    /// Losses
    Losses,
    /// Formats of examples
    Formats,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  onward predict late.safetensors tomorrow.csv > predictions.csv
  onward predict late.safetensors today.csv --report -
      also reports the loss, if the input has labels")]
pub(crate) struct PredictArguments {
    /// The model, a file written by `onward learn --model`
    #[arg(value_name = "MODEL", value_hint = ValueHint::FilePath)]
    pub(crate) model: PathBuf,

    /// Predict with the average of the points that the learner went through (of sgd:average=1, ogd:average=true and
    /// osd:average=true)
    #[arg(long)]
    pub(crate) averaged: bool,

    #[command(flatten)]
    pub(crate) input: InputArguments,

    /// Write the predictions here, as CSV (`-`: standard output)
    #[arg(long, short, value_name = "FILE", default_value = "-", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub(crate) predictions: PathBuf,

    #[command(flatten)]
    pub(crate) output: OutputArguments,
}

/// What is written and said, common to all commands that read examples and report.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputArguments {
    /// Write a report in JSON (`-`: standard output); `onward show` draws those of `learn`, `compare` and `play`
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) report: Option<PathBuf>,

    /// Print only errors
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  onward compare flights.csv.zst --target 'arr_delay>15' --report late.json
  onward show late.json --html late.html
      writes a page with charts
  onward show late.json --plot
      draws the mean loss so far in the terminal")]
pub(crate) struct ShowArguments {
    /// The report, a file that `onward learn`, `compare` or `play` wrote with `--report` (`-`: standard input)
    #[arg(value_name = "REPORT", value_hint = ValueHint::FilePath)]
    pub(crate) report: PathBuf,

    /// Write a self-contained HTML page with charts (`-`: standard output)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) html: Option<PathBuf>,

    /// Write the chart of the mean loss so far as an SVG picture (`-`: standard output)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) svg: Option<PathBuf>,

    /// Draw the mean loss so far in the terminal
    #[arg(long)]
    pub(crate) plot: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  onward inspect late.safetensors --top 20
  onward inspect late.safetensors --json | jq .heaviest
      as JSON, for scripts")]
pub(crate) struct InspectArguments {
    /// The model, a file written by `onward learn --model`
    #[arg(value_name = "MODEL", value_hint = ValueHint::FilePath)]
    pub(crate) model: PathBuf,

    /// How many of the heaviest features to show
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = reading::parse_whole::<usize>)]
    pub(crate) top: usize,

    /// Show the weights of the average of the points that the learner went through
    #[arg(long)]
    pub(crate) averaged: bool,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  onward convert flights.csv.zst flights.vw --target 'arr_delay>15'
  onward convert flights.csv.zst flights.svm --target arr_delay
  onward convert flights.csv.zst flights.arrow --target arr_delay
      encoded examples, which need no parsing
  onward convert flights.csv.zst flights.parquet
      csv, tsv, jsonl and parquet keep the columns as they are")]
pub(crate) struct ConvertArguments {
    /// The file to read; `-`: standard input
    #[arg(value_name = "IN", value_hint = ValueHint::FilePath)]
    pub(crate) from: String,

    /// The file to write; its extension determines the format
    #[arg(value_name = "OUT", value_hint = ValueHint::FilePath)]
    pub(crate) to: PathBuf,

    /// The format to write, if the extension does not determine it
    #[arg(long, value_name = "FORMAT", value_parser = reading::parse_format, help_heading = "Output")]
    pub(crate) to_format: Option<Format>,

    #[command(flatten)]
    pub(crate) format: FormatArguments,
    #[command(flatten)]
    pub(crate) columns: ColumnArguments,

    /// Print only errors
    #[arg(long, short, help_heading = "Output")]
    pub(crate) quiet: bool,
}
