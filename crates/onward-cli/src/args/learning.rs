//! What learns, and how.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};
use onward::protocol::ProblemBounds;
use onward_engine::{CompareOptions, HindsightOptions, LearnOptions, Model, ModelOptions, PassOrder, Start};

use super::OutputArguments;
use super::reading::{ColumnArguments, InputArguments, TaskOption, parse_whole};

/// What learns.
#[derive(Debug, Args)]
#[command(next_help_heading = "Learning")]
pub(crate) struct ModelArguments {
    /// The loss [default: logistic for binary, squared for regression]; see `onward list losses`
    #[arg(long, value_name = "NAME[:KEY=VALUE]")]
    pub(crate) loss: Option<String>,

    /// Compare with predictors of norm ‖u‖ ≤ U; learners that project keep their weights there [default: Σ(s_i u_i)² ≤
    /// 10², s_i the root mean square of feature i, which does not depend on units]
    #[arg(long, value_name = "U", allow_negative_numbers = true, value_parser = parse_number)]
    pub(crate) radius: Option<f64>,
}

/// Whether and how to look back.
#[derive(Debug, Args)]
#[command(next_help_heading = "Learning")]
pub(crate) struct HindsightArguments {
    /// Find the best fixed linear predictor, knowing the whole stream, and report the regret: what learning online cost
    /// against it. `ball`: with norm at most --radius; `unconstrained`: with any norm [default class: ball]
    #[arg(
        id = "hindsight",
        long = "hindsight",
        value_name = "CLASS",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "ball",
    )]
    class: Option<HindsightSize>,

    /// How close to the least loss --hindsight must get: a share of its loss (or of a thousandth of the loss of the
    /// best constant, if that is more) [default: 0.001]
    #[arg(
        id = "hindsight_gap",
        long = "hindsight-gap",
        value_name = "SHARE",
        allow_negative_numbers = true,
        value_parser = parse_number
    )]
    gap: Option<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum HindsightSize {
    /// Predictors of a bounded size
    Ball,
    /// Predictors of any size
    Unconstrained,
}

impl ModelArguments {
    /// A new model of this learner, or the default one.
    fn options(&self, learner: Option<&String>) -> ModelOptions {
        let base = ModelOptions::default();
        let learner = learner.cloned().unwrap_or(base.learner);
        ModelOptions { learner, loss: self.loss.clone(), radius: self.radius, ..base }
    }
}

impl HindsightArguments {
    fn options(&self) -> Option<HindsightOptions> {
        let unconstrained = self.class? == HindsightSize::Unconstrained;
        let base = HindsightOptions::default();
        Some(HindsightOptions { unconstrained, gap: self.gap.unwrap_or(base.gap) })
    }

    fn check(&self) -> Result<(), &'static str> {
        match self.gap.is_some() && self.class.is_none() {
            true => Err("--hindsight-gap needs --hindsight"),
            false => Ok(()),
        }
    }
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  onward learn flights.csv.zst --target 'arr_delay>15'
      is a flight late? Format, column types and task are detected and printed
  onward learn flights.csv.zst --target arr_delay --loss absolute --ignore tailnum
      by how many minutes? Predicts the median
  onward learn flights.csv.zst --target 'arr_delay>15' --interactions 'carrier*origin,dest*hour'
      with products of features: carriers by airport, hours by destination
  onward learn flights.csv.zst --target 'arr_delay>15' --hindsight
      compares with the best fixed linear predictor, knowing all flights
  onward learn monday.csv tuesday.csv --target clicked --model clicks.safetensors
  onward learn wednesday.csv --init clicks.safetensors --model clicks.safetensors
      continues every day
  tail -f log.jsonl | onward learn --target clicked --predictions - --model clicks.safetensors
      an endless stream: Ctrl-C ends the run and writes the model
  onward learn data.svm --learner ogd:radius=5 --report - --quiet | jq .guarantees
      a learner with a guarantee of its own")]
pub(crate) struct LearnArguments {
    #[command(flatten)]
    pub(crate) input: InputArguments,
    #[command(flatten)]
    pub(crate) columns: ColumnArguments,

    /// The learner [default: auto]; see `onward list learners`
    #[arg(long, value_name = "NAME[:KEY=VALUE,…]", help_heading = "Learning")]
    learner: Option<String>,

    #[command(flatten)]
    model_options: ModelArguments,
    #[command(flatten)]
    hindsight: HindsightArguments,

    /// Make N passes over the input; risk and guarantee are those of the first pass
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = parse_passes, help_heading = "Learning")]
    passes: u32,

    /// The order of the rows in passes after the first; for shuffle and random the rows are kept in memory, or beyond
    /// 256 MB in a temporary file
    #[arg(long, value_name = "ORDER", help_heading = "Learning")]
    order: Option<OrderOption>,

    /// Learn the rows of the first pass in random order too: for inputs whose order means nothing, such as a file sorted by
    /// its label. All rows are read and kept first, in memory, or beyond 256 MB in a temporary file. Later passes are
    /// shuffled too, unless --order says something else
    #[arg(long, help_heading = "Learning")]
    shuffle: bool,

    /// The seed of --shuffle and --order [default: 0]
    #[arg(long, value_name = "N", value_parser = parse_whole::<u64>, help_heading = "Learning")]
    seed: Option<u64>,

    /// If losses lie in [0, R], print a bound on the loss of the averaged predictor on a new example (for learners that
    /// keep an average), and report where the expected loss was at any time
    #[arg(long, value_name = "R", allow_negative_numbers = true, value_parser = parse_number, help_heading = "Learning")]
    loss_bound: Option<f64>,

    /// Continue from a saved model, with its learner, loss, columns and statistics
    #[arg(
        long,
        value_name = "MODEL",
        value_hint = ValueHint::FilePath,
        conflicts_with_all = GIVEN_BY_A_MODEL,
        help_heading = "Learning"
    )]
    pub(crate) init: Option<PathBuf>,

    /// Save the model here when done
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub(crate) model: Option<PathBuf>,

    /// Write the predictions as CSV, each made before its label was seen (`-`: standard output)
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub(crate) predictions: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) output: OutputArguments,
}

/// What a model that continues says itself: its columns, learner and loss, and no rows to look back on. One by one, for
/// of a group clap names all.
const GIVEN_BY_A_MODEL: [&str; 15] = [
    "target",
    "task",
    "ignore",
    "categorical",
    "numeric",
    "text",
    "weight",
    "id",
    "interactions",
    "ngrams",
    "bits",
    "loss",
    "radius",
    "learner",
    "hindsight",
];

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum OrderOption {
    /// As they come in the input
    Sequential,
    /// Each row once per pass, shuffled anew
    Shuffle,
    /// Random draws with replacement, as many as there are rows
    Random,
}

impl LearnArguments {
    /// Refuses options that need another one.
    pub(crate) fn check(&self) -> Result<(), &'static str> {
        if self.seed.is_some() && self.order.is_none() && !self.shuffle {
            return Err("--seed needs --order or --shuffle");
        }
        if self.shuffle && self.predictions.is_some() {
            return Err(
                "--predictions has no place beside --shuffle: rows are learnt in random order, and predictions \
                        would not be in the order of the rows; save the model with --model, and use onward predict",
            );
        }
        self.hindsight.check()
    }

    /// What they ask for; `model`: what continues.
    pub(crate) fn options(&self, model: Option<Model>) -> LearnOptions {
        let new = self.model_options.options(self.learner.as_ref());
        LearnOptions {
            start: model.map_or(Start::New(new), Start::from),
            reading: self.columns.reading(self.input.reading()),
            hindsight: self.hindsight.options(),
            passes: self.passes,
            order: match self.order {
                Some(OrderOption::Shuffle) => PassOrder::Shuffle,
                Some(OrderOption::Random) => PassOrder::Random,
                None if self.shuffle && self.passes > 1 => PassOrder::Shuffle,
                Some(OrderOption::Sequential) | None => PassOrder::Sequential,
            },
            shuffle: self.shuffle,
            seed: self.seed.unwrap_or(0),
            loss_bound: self.loss_bound,
            trace: self.output.report.is_some(),
        }
    }
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  onward compare flights.csv.zst --target 'arr_delay>15' --report late.json
  onward show late.json --html late.html
      compares the default learners and writes a page with charts
  onward compare flights.csv.zst --target arr_delay --loss absolute --learner auto --learner nag:eta=2
      compares two learners
  onward compare flights.csv.zst --target 'arr_delay>15' --hindsight
      adds the regret of each against the best fixed predictor
  onward compare data.svm --learner ogd:radius=1 --learner ogd:radius=5 --report - --quiet | jq '.learners[].sequential_risk'
      as JSON, for scripts")]
pub(crate) struct CompareArguments {
    #[command(flatten)]
    pub(crate) input: InputArguments,
    #[command(flatten)]
    pub(crate) columns: ColumnArguments,

    /// A learner to compare; repeat it for each one [default: auto, nag, adagrad and ogd]; see `onward list learners`
    #[arg(long, value_name = "NAME[:KEY=VALUE,…]", action = clap::ArgAction::Append, help_heading = "Learning")]
    learner: Vec<String>,

    #[command(flatten)]
    model_options: ModelArguments,
    #[command(flatten)]
    hindsight: HindsightArguments,
    #[command(flatten)]
    pub(crate) output: OutputArguments,
}

impl CompareArguments {
    /// Refuses options that need another one.
    pub(crate) fn check(&self) -> Result<(), &'static str> {
        self.hindsight.check()
    }

    /// What they ask for.
    pub(crate) fn options(&self) -> CompareOptions {
        let base = CompareOptions::default();
        CompareOptions {
            learners: if self.learner.is_empty() { base.learners } else { self.learner.clone() },
            loss: self.model_options.loss.clone(),
            radius: self.model_options.radius,
            reading: self.columns.reading(self.input.reading()),
            hindsight: self.hindsight.options(),
            trace: self.output.report.is_some(),
            ..base
        }
    }
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  onward plan 100000 --learner ogd:radius=1 --loss squared --norm 1 --label 1")]
pub(crate) struct PlanArguments {
    /// The number of examples
    #[arg(value_name = "EXAMPLES", value_parser = parse_rounds, allow_negative_numbers = true)]
    examples: u64,

    /// The learner [default: auto]; see `onward list learners`
    #[arg(long, value_name = "NAME[:KEY=VALUE,…]")]
    learner: Option<String>,

    #[command(flatten)]
    model_options: ModelArguments,

    /// binary or regression; decides the default loss
    #[arg(long, value_name = "TASK", default_value = "binary", help_heading = "Learning")]
    pub(crate) task: TaskOption,

    #[command(flatten)]
    bounds: BoundArguments,
}

impl PlanArguments {
    /// What learns.
    pub(crate) fn model_options(&self) -> ModelOptions {
        self.model_options.options(self.learner.as_ref())
    }

    /// Whether the rows get a bias besides their features.
    pub(crate) fn has_bias(&self) -> bool {
        !self.bounds.no_bias
    }

    /// All bounds, of the features of the input without the bias: those that are not given follow from others, or are 1.
    pub(crate) fn bounds(&self) -> Result<ProblemBounds, String> {
        let BoundArguments { norm, largest, label, features, range, no_bias: _ } = self.bounds;
        let (dimension, label, range) = (features.unwrap_or(1) as f64, label.unwrap_or(1.0), range.unwrap_or(1.0));
        let largest = largest.or(norm).unwrap_or(1.0);
        let most = largest * dimension.sqrt();
        let norm = norm.unwrap_or(most);
        match norm >= largest && norm <= most * (1.0 + 1e-9) || self.bounds.largest.is_none() {
            true => Ok(ProblemBounds { rounds: self.examples as f64, norm, largest, label, dimension, range }),
            false => {
                Err(format!("--norm must be from {largest} (--largest) to {most} (--largest·√features); got {norm}"))
            }
        }
    }
}

/// How large features, labels and losses are.
#[derive(Debug, Args)]
#[command(next_help_heading = "Bounds")]
struct BoundArguments {
    /// The largest ‖x‖₂ of the features of the input, without the bias [default: largest·√features, or 1]
    #[arg(long, value_name = "X", allow_negative_numbers = true, value_parser = parse_positive)]
    norm: Option<f64>,

    /// The largest |x_i| [default: the norm, or 1]
    #[arg(long, value_name = "X", allow_negative_numbers = true, value_parser = parse_positive)]
    largest: Option<f64>,

    /// The largest |y| [default: 1]
    #[arg(long, value_name = "Y", allow_negative_numbers = true, value_parser = parse_positive)]
    label: Option<f64>,

    /// The number of features, without the bias [default: 1]
    #[arg(long, value_name = "D", value_parser = parse_features)]
    features: Option<u64>,

    /// The rows have no bias. Otherwise one is added to these bounds, a feature that is 1 in every row, as reading any
    /// format adds it to the rows (but not to examples in Arrow, whose features are used as they are)
    #[arg(long)]
    no_bias: bool,

    /// The largest difference between the losses of a mixture's experts in a round [default: 1]
    #[arg(long, value_name = "R", allow_negative_numbers = true, value_parser = parse_positive)]
    range: Option<f64>,
}

/// A number of examples, also as 1e6.
fn parse_rounds(text: &str) -> Result<u64, String> {
    let is_count = |number: &f64| number.fract() == 0.0 && (0.0..u64::MAX as f64).contains(number);
    let count = text.parse().ok().or_else(|| text.parse().ok().filter(is_count).map(|number: f64| number as u64));
    count.ok_or_else(|| "must be a whole number of examples, such as 1000000 or 1e6".to_owned())
}

/// A number.
pub(super) fn parse_number(text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| "must be a number".to_owned())
}

/// A number of passes.
fn parse_passes(text: &str) -> Result<u32, String> {
    parse_whole(text).ok().filter(|&passes| passes > 0).ok_or_else(|| "must be a whole number above 0".to_owned())
}

/// A number of features.
fn parse_features(text: &str) -> Result<u64, String> {
    let count = parse_whole(text).ok().filter(|count| (1..=1 << 32).contains(count));
    count.ok_or_else(|| "must be a whole number from 1 to 4294967296".to_owned())
}

/// A number above 0.
fn parse_positive(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite() && *number > 0.0);
    number.ok_or_else(|| "must be a number above 0".to_owned())
}
