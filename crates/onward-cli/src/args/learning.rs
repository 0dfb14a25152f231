//! What learns, and how.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};
use onward::protocol::ProblemBounds;
use onward_engine::{CompareOptions, HindsightOptions, LearnOptions, Model, ModelOptions, PassOrder, Start};

use super::OutputArguments;
use super::reading::{ColumnArguments, InputArguments, TaskOption};

/// What learns.
#[derive(Debug, Args)]
#[command(next_help_heading = "Learning")]
pub(crate) struct ModelArguments {
    /// The loss [default: logistic for binary, squared for regression]; see `onward list losses`
    #[arg(long, value_name = "NAME[:KEY=VALUE]")]
    pub(crate) loss: Option<String>,

    /// Compare with predictors of ‖u‖ ≤ U (and keep the learner's weights there, where it projects)
    /// [default: predictors of a size that does not depend on units, Σ(s_i u_i)² ≤ 10², s_i the root
    /// mean square of feature i]
    #[arg(long, value_name = "U", allow_negative_numbers = true)]
    pub(crate) radius: Option<f64>,
}

/// Whether and how to look back.
#[derive(Debug, Args)]
#[command(next_help_heading = "Learning")]
pub(crate) struct HindsightArguments {
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
    class: Option<HindsightSize>,

    /// How near to the least loss the predictor of --hindsight must be: a share of its loss (or of a
    /// thousandth of what a constant pays, if that is more)
    #[arg(
        id = "hindsight_gap",
        long = "hindsight-gap",
        value_name = "SHARE",
        default_value_t = 1e-3,
        allow_negative_numbers = true,
        requires = "hindsight"
    )]
    gap: f64,
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
        Some(HindsightOptions { unconstrained, gap: self.gap })
    }
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
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

    /// Go over the input N times; risk and guarantee are those of the first pass
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..), help_heading = "Learning")]
    passes: u32,

    /// The order in which passes after the first go over the rows; for shuffle and random the rows are kept, in memory
    /// and beyond 256 MB in a temporary file
    #[arg(long, value_name = "ORDER", help_heading = "Learning")]
    order: Option<OrderOption>,

    /// The seed of --order
    #[arg(long, value_name = "N", default_value_t = 0, requires = "order", help_heading = "Learning")]
    seed: u64,

    /// Losses are known to be within [0, R]: then bound what the average of the learner's points pays on a new
    /// example (for learners that keep it)
    #[arg(long, value_name = "R", allow_negative_numbers = true, help_heading = "Learning")]
    loss_bound: Option<f64>,

    /// Continue from a saved model, with its learner, loss, columns and account
    #[arg(
        long,
        value_name = "MODEL",
        value_hint = ValueHint::FilePath,
        conflicts_with_all = ["ColumnArguments", "ModelArguments", "learner", "hindsight"],
        help_heading = "Learning"
    )]
    pub(crate) init: Option<PathBuf>,

    /// Save the model here when done
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub(crate) model: Option<PathBuf>,

    /// Write the prediction made for each example before its label was seen, as CSV (`-`: standard
    /// output)
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub(crate) predictions: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) output: OutputArguments,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum OrderOption {
    /// As they came
    Sequential,
    /// Each once per pass, shuffled anew
    Shuffle,
    /// As many draws as there are rows, each from all of them
    Random,
}

impl LearnArguments {
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
                Some(OrderOption::Sequential) | None => PassOrder::Sequential,
            },
            seed: self.seed,
            loss_bound: self.loss_bound,
            trace: self.output.report.is_some(),
        }
    }
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  onward compare flights.csv.zst --target 'arr_delay>15' --report late.json
  onward show late.json --html late.html
      the default learners, and a page with charts for the browser
  onward compare flights.csv.zst --target arr_delay --loss absolute --learner auto --learner nag:eta=2
      two learners
  onward compare flights.csv.zst --target 'arr_delay>15' --hindsight
      with the regret of each against the best fixed predictor
  onward compare data.svm --learner ogd:radius=1 --learner ogd:radius=5 --report - --quiet | jq '.learners[].sequential_risk'
      the same for programs")]
pub(crate) struct CompareArguments {
    #[command(flatten)]
    pub(crate) input: InputArguments,
    #[command(flatten)]
    pub(crate) columns: ColumnArguments,

    /// A learner, once for each to compare [default: auto, nag, adagrad and ogd]; see `onward list learners`
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
    /// How many examples there will be
    #[arg(value_name = "EXAMPLES", value_parser = parse_rounds, allow_negative_numbers = true)]
    examples: u64,

    /// The learner [default: auto]; see `onward list learners`
    #[arg(long, value_name = "NAME[:KEY=VALUE,…]")]
    learner: Option<String>,

    #[command(flatten)]
    model_options: ModelArguments,

    /// binary or regression, which decides the default loss
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

    /// All bounds: those that are not given follow from others, or are 1.
    pub(crate) fn bounds(&self) -> Result<ProblemBounds, String> {
        let BoundArguments { norm, largest, label, features, range } = self.bounds;
        let (dimension, label, range) = (features.unwrap_or(1) as f64, label.unwrap_or(1.0), range.unwrap_or(1.0));
        let largest = largest.or(norm).unwrap_or(1.0);
        let most = largest * dimension.sqrt();
        let norm = norm.unwrap_or(most);
        match norm >= largest && norm <= most * (1.0 + 1e-9) || self.bounds.largest.is_none() {
            true => Ok(ProblemBounds { rounds: self.examples as f64, norm, largest, label, dimension, range }),
            false => Err(format!("--norm must be from largest to largest·√features, {largest} to {most}; got {norm}")),
        }
    }
}

/// How large features, labels and losses are.
#[derive(Debug, Args)]
#[command(next_help_heading = "Bounds")]
struct BoundArguments {
    /// The largest ‖x‖₂ [default: largest·√features, or 1]
    #[arg(long, value_name = "X", allow_negative_numbers = true, value_parser = parse_positive)]
    norm: Option<f64>,

    /// The largest |x_i| [default: the norm, or 1]
    #[arg(long, value_name = "X", allow_negative_numbers = true, value_parser = parse_positive)]
    largest: Option<f64>,

    /// The largest |y| [default: 1]
    #[arg(long, value_name = "Y", allow_negative_numbers = true, value_parser = parse_positive)]
    label: Option<f64>,

    /// How many features there are [default: 1]
    #[arg(long, value_name = "D", value_parser = clap::value_parser!(u64).range(1..=1 << 32))]
    features: Option<u64>,

    /// By how much the losses of a mixture's experts differ at most in a round [default: 1]
    #[arg(long, value_name = "R", allow_negative_numbers = true, value_parser = parse_positive)]
    range: Option<f64>,
}

/// A number of examples.
fn parse_rounds(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| "must be a whole number of examples, from 0 to 18446744073709551615".to_owned())
}

/// A number above 0.
fn parse_positive(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite() && *number > 0.0);
    number.ok_or_else(|| "must be a number above 0".to_owned())
}
