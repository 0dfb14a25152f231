//! The arguments of the program. Each option's documentation is its help.

mod learning;
mod reading;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueHint};
use onward_data::Format;

pub(crate) use learning::{CompareArguments, LearnArguments, PlanArguments};
pub(crate) use reading::{ColumnArguments, FormatArguments, InputArguments};

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
  onward compare flights.csv.zst --target 'arr_delay>15' --report late.json
  onward show late.json --html late.html
  onward inspect late.safetensors --top 20
  zcat clicks.jsonl.gz | onward learn --target clicked
  onward convert flights.csv.zst flights.vw --target 'arr_delay>15'

`onward COMMAND --help` says more. Data formats: docs/data-formats.md.";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Learn from examples, one at a time, and report what it cost
    Learn(Box<LearnArguments>),
    /// Let several learners learn side by side in one pass, and say which paid least
    Compare(Box<CompareArguments>),
    /// Predict with a saved model, without learning
    Predict(Box<PredictArguments>),
    /// Show a report that `learn` or `compare` wrote: as a table, a page, a plot or a picture
    Show(ShowArguments),
    /// Show what a saved model holds
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
    /// Print what a learner's theorem promises for a stream before there is one
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

/// What there are lists of.
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
      when the labels are there, the loss on them is reported too")]
pub(crate) struct PredictArguments {
    /// The model, a file that `onward learn --model` wrote
    #[arg(value_name = "MODEL", value_hint = ValueHint::FilePath)]
    pub(crate) model: PathBuf,

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
    /// Write a report in JSON (`-`: standard output); `onward show` draws it
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) report: Option<PathBuf>,

    /// Say nothing but errors on standard error
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  onward compare flights.csv.zst --target 'arr_delay>15' --report late.json
  onward show late.json --html late.html
      a page with charts for the browser
  onward show late.json --plot
      the mean loss so far in the terminal")]
pub(crate) struct ShowArguments {
    /// The report, a file that `onward learn --report` or `onward compare --report` wrote (`-`: standard input)
    #[arg(value_name = "REPORT", value_hint = ValueHint::FilePath)]
    pub(crate) report: PathBuf,

    /// Write a page with charts, which needs no network (`-`: standard output)
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
      the same for programs")]
pub(crate) struct InspectArguments {
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
pub(crate) struct ConvertArguments {
    /// The file to read; `-`: standard input
    #[arg(value_name = "IN", value_hint = ValueHint::FilePath)]
    pub(crate) from: String,

    /// The file to write; its ending says the format
    #[arg(value_name = "OUT", value_hint = ValueHint::FilePath)]
    pub(crate) to: PathBuf,

    /// The format to write, if the ending does not say it
    #[arg(long, value_name = "FORMAT", value_parser = reading::parse_format, help_heading = "Output")]
    pub(crate) to_format: Option<Format>,

    #[command(flatten)]
    pub(crate) format: FormatArguments,
    #[command(flatten)]
    pub(crate) columns: ColumnArguments,

    /// Say nothing but errors on standard error
    #[arg(long, short, help_heading = "Output")]
    pub(crate) quiet: bool,
}
