//! Reports: what a run did and what it cost. As JSON their keys are stable, and runs on equal inputs with equal
//! options differ in `timing` alone.

use std::fmt;
use std::time::Duration;

use onward::evaluation::{BaselineKind, LabelOrder, LabelPattern, SKILL_CONFIDENCE, Skill};
use onward::guarantee::{Comparator, GuaranteeKind};
use onward::loss::Task;
use onward::{ExpertReport, MixtureReport};
use serde::de::Error as _;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The chance that what is said of the average of the points is false.
pub(crate) const DELTA: f64 = 0.05;

/// A report as it is saved.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(untagged)]
#[allow(clippy::large_enum_variant, reason = "a run has one report")]
pub enum Report {
    /// Of a game.
    Play(PlayReport),
    /// Of a comparison.
    Compare(CompareReport),
    /// Of a run of learning.
    Learn(Box<LearnReport>),
    /// Of a run of predicting.
    Predict(PredictReport),
}

impl Report {
    /// What was read.
    pub fn stream(&self) -> &StreamReport {
        match self {
            Self::Play(report) => &report.stream,
            Self::Compare(report) => &report.stream,
            Self::Learn(report) => &report.stream,
            Self::Predict(report) => &report.stream,
        }
    }

    /// What each learner did; nothing of a run of predicting.
    pub fn learners(&self) -> &[LearnerReport] {
        match self {
            Self::Play(report) => &report.learners,
            Self::Compare(report) => &report.learners,
            Self::Learn(report) => std::slice::from_ref(&report.learner),
            Self::Predict(_) => &[],
        }
    }

    /// What was played, if it was a game.
    pub fn game(&self) -> Option<&GameReport> {
        match self {
            Self::Play(report) => Some(&report.game),
            _ => None,
        }
    }

    /// How long it took.
    pub fn timing(&self) -> Timing {
        match self {
            Self::Play(report) => report.timing,
            Self::Compare(report) => report.timing,
            Self::Learn(report) => report.learner.timing,
            Self::Predict(report) => report.timing,
        }
    }

    /// Reads a report that was saved.
    ///
    /// # Errors
    /// When it is none, or which key of it is not what it must be.
    pub fn from_json(text: &str) -> Result<Self, serde_json::Error> {
        let refused = |message: String| serde_json::Error::custom(message);
        let value: Option<Map<String, Value>> = serde_json::from_str(text).ok();
        let value = value.ok_or_else(|| refused("is not a report".to_owned()))?;
        // By the keys that only one of them has.
        let read: fn(Value) -> Result<Self, serde_json::Error> = match () {
            () if value.contains_key("game") => |value| serde_json::from_value(value).map(Self::Play),
            () if value.contains_key("learners") => |value| serde_json::from_value(value).map(Self::Compare),
            () if value.contains_key("sequential_risk") => |value| serde_json::from_value(value).map(Self::Learn),
            () if value.contains_key("mean_loss") => |value| serde_json::from_value(value).map(Self::Predict),
            () => return Err(refused("is not a report".to_owned())),
        };
        read(Value::Object(value.clone())).map_err(|error| refused(fault(&value, &error, read)))
    }
}

/// Whether an error can be about this value.
fn is_of_kind(value: &Value, error: &str) -> bool {
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "floating point",
        Value::Number(_) => "integer",
        Value::String(text) => return error.starts_with(&format!("invalid type: string {text:?}")),
        Value::Array(_) => "sequence",
        Value::Object(_) => "map",
    };
    error.starts_with(&format!("invalid type: {kind}"))
}

/// Which key is at fault: without its value the error is gone, or is about nothing in its place.
fn fault(
    report: &Map<String, Value>,
    error: &serde_json::Error,
    read: fn(Value) -> Result<Report, serde_json::Error>,
) -> String {
    let message = error.to_string();
    let is_at_fault = |key: &&String| {
        let mut other = report.clone();
        other.insert((*key).clone(), Value::Null);
        match read(Value::Object(other)).map_err(|error| error.to_string()) {
            Err(other) if other == message => false,
            // Nothing is no value of it either: its own was of a wrong kind, or else another key is at fault.
            Err(other) if other.starts_with("invalid type: null") => is_of_kind(&report[*key], &message),
            _ => true,
        }
    };
    let what = match message.strip_prefix("invalid type: ").and_then(|text| text.split_once(", expected ")) {
        Some((found, must)) => {
            format!("must be {}; got {found}", must.replace("f64", "a number").replace("u64", "a whole number"))
        }
        None => format!("is wrong: {message}"),
    };
    match report.keys().find(is_at_fault) {
        Some(key) => format!("is a damaged report: '{key}' {what}"),
        None => format!("is a damaged report: {message}"),
    }
}

/// A report as JSON: sorted keys, indented, with a line end.
///
/// # Errors
/// When a value cannot be written as JSON.
pub fn to_json(report: &impl Serialize) -> Result<String, serde_json::Error> {
    // By way of a value, whose keys are sorted.
    Ok(format!("{:#}\n", serde_json::to_value(report)?))
}

/// What was read, the same for all learners.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct StreamReport {
    /// The version of onward.
    pub onward: String,
    /// The inputs by name.
    pub inputs: Vec<String>,
    /// Their format.
    pub format: String,
    /// What was predicted; empty of a game.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub target: String,
    /// Whether that is a class or a number.
    pub task: TaskKind,
    /// The loss that was asked for.
    pub loss: String,
    /// Examples, those without a label among them.
    pub examples: u64,
    /// Examples without a label.
    pub unlabelled: u64,
    /// Examples of importance 0.
    pub weightless: u64,
    /// Records that could not be read.
    pub skipped: u64,
    /// Features of the charged examples with a value other than 0, in all.
    pub features: Option<u64>,
    /// Different features.
    pub distinct_features: Option<u64>,
    /// The share of hashed features expected to share their weight with another one.
    pub collisions: Option<f64>,
    /// Bytes of the inputs, decompressed, in all passes.
    pub bytes: u64,
    /// The mean loss of the best constant prediction in hindsight.
    pub baseline_risk: Option<f64>,
    /// What the examples cost at least on average, whatever is predicted: 0 for most losses. `None` where it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub least_risk: Option<f64>,
    /// How far that may be off, where it is not exact: for losses that need a search, with more than 4,096 different labels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline_error: Option<f64>,
    /// The mean loss of the online constant, which predicts by the labels so far without features.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub online_constant_risk: Option<f64>,
    /// The mean loss of the no-change baseline, which predicts by the label before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_change_risk: Option<f64>,
    /// Whether the labels come in runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label_order: Option<LabelOrderReport>,
    /// The best fixed predictor in hindsight, if it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hindsight: Option<HindsightReport>,
}

/// JSON has no NaN: a mean over nothing is left out.
pub(crate) fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

impl StreamReport {
    /// How many examples were charged.
    pub fn rounds(&self) -> u64 {
        self.examples - self.unlabelled - self.weightless
    }
}

/// The order of the labels, beside what chance makes.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct LabelOrderReport {
    /// How often another class came, and the first one: of classes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs: Option<u64>,
    /// How many runs there are on average in random order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_runs: Option<f64>,
    /// The rank correlation of a label with the one before it: of numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank_correlation: Option<f64>,
    /// At most the probability that labels in random order come in so long runs.
    pub p_value: f64,
    /// Whether that is so small that it is no chance.
    pub is_clear: bool,
}

impl From<LabelOrder> for LabelOrderReport {
    fn from(order: LabelOrder) -> Self {
        let (p_value, is_clear) = (order.p_value, order.is_clear());
        let none = Self { runs: None, expected_runs: None, rank_correlation: None, p_value, is_clear };
        match order.pattern {
            LabelPattern::Runs(runs, expected) => Self { runs: Some(runs), expected_runs: Some(expected), ..none },
            LabelPattern::RankCorrelation(correlation) => Self { rank_correlation: Some(correlation), ..none },
        }
    }
}

/// What is predicted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TaskKind {
    /// One of two classes.
    #[default]
    Binary,
    /// A number.
    Regression,
    /// One of several classes.
    Classes,
    /// Nothing: points are charged as they are.
    Game,
}

impl fmt::Display for TaskKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Binary => "binary",
            Self::Regression => "regression",
            Self::Classes => "classes",
            Self::Game => "game",
        })
    }
}

impl From<Task> for TaskKind {
    fn from(task: Task) -> Self {
        match task {
            Task::Regression => Self::Regression,
            Task::Classes => Self::Classes,
            _ => Self::Binary,
        }
    }
}

/// How long it took.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub struct Timing {
    /// Seconds, without the search in hindsight.
    pub seconds: f64,
    /// Examples per second.
    pub examples_per_second: f64,
    /// Megabytes per second.
    pub megabytes_per_second: f64,
    /// Seconds of the search in hindsight.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hindsight_seconds: Option<f64>,
}

impl Timing {
    pub(crate) fn new(elapsed: Duration, examples: u64, bytes: u64) -> Self {
        let seconds = elapsed.as_secs_f64().max(1e-9);
        Self {
            seconds,
            examples_per_second: examples as f64 / seconds,
            megabytes_per_second: bytes as f64 / 1e6 / seconds,
            hindsight_seconds: None,
        }
    }
}

/// The report of a run of learning.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct LearnReport {
    /// What was read.
    #[serde(flatten)]
    pub stream: StreamReport,
    /// Examples that the model had seen before, when it was continued.
    pub resumed_at: Option<u64>,
    /// What the learner did.
    #[serde(flatten)]
    pub learner: LearnerReport,
}

/// The report of a comparison.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CompareReport {
    /// What was read.
    #[serde(flatten)]
    pub stream: StreamReport,
    /// How long it took in all.
    pub timing: Timing,
    /// What each learner did, in the order in which they were asked for.
    pub learners: Vec<LearnerReport>,
}

/// The report of a game.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PlayReport {
    /// What was read.
    #[serde(flatten)]
    pub stream: StreamReport,
    /// What was played.
    pub game: GameReport,
    /// How long it took in all.
    pub timing: Timing,
    /// What each player paid, in the order in which they were asked for.
    pub learners: Vec<LearnerReport>,
}

/// What was played.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct GameReport {
    /// The set that points are taken from.
    pub domain: String,
    /// Its radius; of all of R^d, that of the comparators.
    pub radius: f64,
    /// The fixed points that regret is counted against, with the word `radius` for the radius.
    pub comparator: String,
    /// The names of the coordinates.
    pub coordinates: Vec<String>,
    /// The best fixed point in hindsight.
    pub best: Option<BestFixedPoint>,
}

/// The fixed point that pays least in all rounds.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct BestFixedPoint {
    /// Its coordinates.
    pub point: Vec<f64>,
    /// Its Euclidean norm.
    pub norm: f64,
    /// What it pays in all.
    pub loss: Option<f64>,
    /// No comparator pays less than `loss − gap`.
    pub gap: f64,
}

/// What a player paid in all rounds of a game.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PlayedReport {
    /// What it paid: on average over the draws, if it draws. Nothing where a portfolio lost everything.
    pub loss: Option<f64>,
    /// That less what the best fixed point pays.
    pub regret: Option<f64>,
    /// The bound of its own guarantee on the regret.
    pub guarantee: Option<f64>,
    /// What the drawn corners paid, of a player that draws.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drawn_loss: Option<f64>,
    /// The round in which a portfolio lost everything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ruined: Option<u64>,
    /// The point that it would play next.
    pub point: Vec<f64>,
}

/// The report of a run of predicting.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PredictReport {
    /// What was read.
    #[serde(flatten)]
    pub stream: StreamReport,
    /// The learner with its parameters.
    pub learner: String,
    /// Whether the average of its points predicted.
    #[serde(default, rename = "averaged", skip_serializing_if = "std::ops::Not::not")]
    pub is_averaged: bool,
    /// The mean loss on the examples with a label; `None` if there are none.
    pub mean_loss: Option<f64>,
    /// The weight of the mistakes, of classes.
    pub mistakes: Option<f64>,
    /// Accuracy and the like.
    pub metrics: MetricsReport,
    /// How long it took.
    pub timing: Timing,
}

/// What a learner did and what it cost.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct LearnerReport {
    /// The learner as it was asked for, in a comparison.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The learner with all its parameters.
    pub learner: String,
    /// The mean loss, each example predicted before its label was seen; `None` if nothing was charged.
    pub sequential_risk: Option<f64>,
    /// The same over about the last tenth of the examples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recent_risk: Option<f64>,
    /// The share of the whole loss that was paid for the first example, before any label was known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_share: Option<f64>,
    /// What it saves of the loss of the better baseline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skill: Option<SkillReport>,
    /// The same from the second example on, where the first makes more than a tenth of what learner or baseline paid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skill_after_first: Option<SkillReport>,
    /// The share of the squared errors of the mean of the labels so far that it saves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub r2_online: Option<f64>,
    /// The accuracy beyond that of predicting the class before: (a − a₀)/(1 − a₀).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kappa_temporal: Option<f64>,
    /// What the model pays at the end on examples that it learnt from, where their labels come in runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saved_model_risk: Option<SavedModelRisk>,
    /// The weight of the mistakes, of classes.
    pub mistakes: Option<f64>,
    /// Accuracy and the like.
    pub metrics: MetricsReport,
    /// How long it took.
    pub timing: Timing,
    /// The learner's own guarantee, the universal certificate, the scaled dual and the curved certificate.
    pub guarantees: Vec<GuaranteeReport>,
    /// The course of the run.
    pub curve: Vec<CurvePoint>,
    /// Sequential risk less that of the best predictor in hindsight, if it was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub regret_per_round: Option<f64>,
    /// After several passes, what is paid on these rows more than by the best predictor in hindsight.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub excess_empirical_risk: Option<ExcessReport>,
    /// What the average of the learner's points pays at most on a new example, if it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub averaged_risk: Option<AveragedRisk>,
    /// What it did by the regularised losses h(ℓ + ½σ‖w‖²), for learners of such.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub regularised: Option<RegularisedReport>,
    /// What its predictions could expect to pay, at any time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub anytime_risk: Option<Vec<AnytimeRisk>>,
    /// The importance of the rounds in which it moved, for learners that count it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updates: Option<f64>,
    /// What the perceptron's theorem says of these against the best predictor in hindsight, if it was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub novikoff: Option<NovikoffReport>,
    /// What a learner that mixes others says of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lanes: Option<Vec<LaneReport>>,
    /// What a mixture that draws its experts pays on average over the draws.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_loss: Option<f64>,
    /// What the mixture paid more than the best of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap_to_best_lane: Option<f64>,
    /// The mean loss of each pass, where there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pass_risks: Option<Vec<Option<f64>>>,
    /// What it paid in all, in a game.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub played: Option<PlayedReport>,
}

impl LearnerReport {
    /// The learner as it was asked for, or with all its parameters.
    pub fn name(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.learner)
    }

    /// The certificate against the default class, or the ball of the given radius: the scaled dual, which is never weaker than the
    /// universal one, or that.
    pub fn certificate(&self) -> Option<&GuaranteeReport> {
        let dual = self.guarantee(GuaranteeKind::Dual).filter(|dual| dual.bound_per_round.is_some());
        dual.or_else(|| self.guarantee(GuaranteeKind::Universal))
    }

    /// The curved certificate, if there is a bound.
    pub fn curved(&self) -> Option<&GuaranteeReport> {
        self.guarantee(GuaranteeKind::Curved).filter(|curved| curved.bound_per_round.is_some())
    }

    /// The learner's own guarantee, or that of its mixture.
    pub fn own_guarantee(&self) -> Option<&GuaranteeReport> {
        self.guarantee(GuaranteeKind::Own).or_else(|| self.guarantee(GuaranteeKind::Mixture))
    }

    /// The guarantee of a kind.
    pub fn guarantee(&self, kind: GuaranteeKind) -> Option<&GuaranteeReport> {
        self.guarantees.iter().find(|guarantee| guarantee.kind == kind)
    }
}

/// 1 − the loss of the learner ÷ that of a baseline that goes by the labels alone.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct SkillReport {
    /// 1 is perfect, 0 no better than the baseline, below 0 worse.
    pub value: f64,
    /// Where the interval begins in which it lies; `None` for few examples.
    pub low: Option<f64>,
    /// Where that interval ends.
    pub high: Option<f64>,
    /// The probability with which it lies there.
    pub confidence: f64,
    /// The baseline: of both the one that paid less.
    pub baseline: SkillBaseline,
}

impl From<Skill> for SkillReport {
    fn from(skill: Skill) -> Self {
        let baseline = match skill.against {
            BaselineKind::OnlineConstant => SkillBaseline::OnlineConstant,
            BaselineKind::NoChange => SkillBaseline::NoChange,
        };
        let (low, high) = (skill.interval.map(|it| it.0), skill.interval.map(|it| it.1));
        Self { value: skill.value, low, high, confidence: SKILL_CONFIDENCE, baseline }
    }
}

/// What goes by the labels alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SkillBaseline {
    /// Predicts by the labels so far.
    OnlineConstant,
    /// Predicts by the label before.
    NoChange,
}

/// What a model pays at the end on a random sample of the examples that it learnt from in this run.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct SavedModelRisk {
    /// Its mean loss.
    pub risk: Option<f64>,
    /// How many examples the sample has.
    pub examples: u64,
}

/// Measures beside the loss; those that are undefined are left out.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct MetricsReport {
    /// The share of right classes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accuracy: Option<f64>,
    /// The area under the ROC curve.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auc: Option<f64>,
    /// How far that may be off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auc_error: Option<f64>,
    /// The cross-entropy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log_loss: Option<f64>,
    /// The Brier score.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub brier: Option<f64>,
    /// How far predicted probabilities are from observed shares.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calibration_error: Option<f64>,
    /// Predicted probabilities beside observed shares.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calibration: Option<Vec<CalibrationRow>>,
    /// Root mean square error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rmse: Option<f64>,
    /// Mean absolute error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mae: Option<f64>,
    /// Coefficient of determination.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub r2: Option<f64>,
    /// Mean prediction less mean label.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bias: Option<f64>,
}

/// A range of predicted probabilities.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct CalibrationRow {
    /// The lowest probability of the range.
    pub from: f64,
    /// The probability at which the next range begins.
    pub to: f64,
    /// The weight of the examples in it.
    pub weight: f64,
    /// The mean probability that was predicted.
    pub predicted: f64,
    /// The share that was positive.
    pub observed: f64,
}

/// A bound on the regret per example, or why there is none.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct GuaranteeReport {
    /// Where it comes from.
    pub kind: GuaranteeKind,
    /// The class of predictors that it is about, with the word `radius` for the radius; empty without a bound.
    pub comparator: String,
    /// The radius of that class; absent, too, where any score is allowed.
    pub radius: Option<f64>,
    /// The least and the largest weight of the bias, in classes that bound it beside the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bias: Option<(f64, f64)>,
    /// The features that the predictors of the class use, where they are not all of the stream.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub features: Option<Vec<String>>,
    /// How many features are combinations of these, or nearly, where these and those are all of the stream.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub combinations: Option<u64>,
    /// What the best of the class pays at least, per example, whoever it was concluded from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub floor: Option<f64>,
    /// The bound.
    pub bound_per_round: Option<f64>,
    /// Why there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl GuaranteeReport {
    /// The radius, if the guarantee is about the class of predictors that this makes of it.
    pub fn radius_of(&self, class: fn(f64) -> Comparator) -> Option<f64> {
        self.radius.filter(|&radius| class(radius).description() == self.comparator)
    }
}

/// A point of the curve: sums and means up to a round.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct CurvePoint {
    /// The round.
    pub t: u64,
    /// The weight of the examples so far.
    pub weight: f64,
    /// The sequential risk.
    pub risk: Option<f64>,
    /// The mean loss since the point before.
    pub recent_risk: Option<f64>,
    /// The universal certificate, per example: for the class in the scales so far; with the best predictor in hindsight, for
    /// that predictor.
    pub guarantee: Option<f64>,
    /// The mean loss of the best constant for the examples so far.
    pub baseline: Option<f64>,
    /// The learner's own guarantee, per example.
    pub own_guarantee: Option<f64>,
    /// The Euclidean norm of the weights.
    pub weight_norm: Option<f64>,
    /// The regret against the best predictor in hindsight, per example.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub regret: Option<f64>,
}

/// The best predictor in hindsight, or why there is none.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(untagged)]
pub enum HindsightReport {
    /// There is none.
    Missing {
        /// Always absent.
        loss: Option<f64>,
        /// Why.
        reason: String,
    },
    /// It was found.
    Found(BestInHindsight),
}

impl HindsightReport {
    /// The predictor, if there is one.
    pub fn best(&self) -> Option<&BestInHindsight> {
        match self {
            Self::Found(best) => Some(best),
            Self::Missing { .. } => None,
        }
    }
}

/// The best fixed linear predictor of a class, found with the whole stream known. Losses are per example.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct BestInHindsight {
    /// What it is the best of.
    pub class: HindsightClass,
    /// The size of that class, if it has one.
    pub radius: Option<f64>,
    /// The least and the largest weight of the bias, in a class that bounds it beside the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bias: Option<(f64, f64)>,
    /// The largest size of its scores.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub largest_score: Option<f64>,
    /// Its mean loss.
    pub loss: Option<f64>,
    /// No predictor of the class has a mean loss below `loss − gap`.
    pub gap: Option<f64>,
    /// Whether the gap is as small as was asked for.
    pub is_reached: bool,
    /// Its norm as the class measures it.
    pub norm: Option<f64>,
    /// Its Euclidean norm.
    pub raw_norm: Option<f64>,
    /// The passes that were made over the rows.
    pub passes: u32,
    /// The loss of the best at ten times the radius.
    pub loss_at_ten_times_radius: Option<f64>,
    /// Its gap.
    pub gap_at_ten_times_radius: Option<f64>,
    /// The loss that it is the best by, where that is not the loss that learners are charged by: `hinge` for mistakes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub charged_by: Option<String>,
    /// Its own mistakes per example, in that case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mistakes_per_round: Option<f64>,
}

/// The predictors that the best in hindsight is the best of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum HindsightClass {
    /// ‖u‖₂ ≤ radius.
    #[serde(rename = "ball")]
    Ball,
    /// Σ(s_i u_i)² ≤ radius², s_i the root mean square of feature i.
    #[serde(rename = "standardised ball")]
    StandardisedBall,
    /// The same of all features but the bias, which is within an interval.
    #[serde(rename = "standardised ball beside the bias")]
    BallBesideBias,
    /// Any size.
    #[serde(rename = "unconstrained")]
    Unconstrained,
}

/// What is paid on these rows more than by the best predictor in hindsight.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct ExcessReport {
    /// By the last predictor.
    pub last: Option<f64>,
    /// By the average of the learner's predictors, where it keeps one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub averaged: Option<f64>,
}

/// What the average of the learner's points pays at most on a new example, or why nothing can be said of it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct AveragedRisk {
    /// The bound.
    pub bound: Option<f64>,
    /// The probability with which it holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// Why there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// How many updates, and so mistakes, the perceptron's theorem allows against the best predictor in hindsight û.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct NovikoffReport {
    /// X: the largest norm of a row with an update, times the root of its importance.
    pub size: f64,
    /// γ: the margin of û, where it separates all rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub margin: Option<f64>,
    /// H + (‖û‖X)² + ‖û‖X√H, H the hinge loss of û over all rows.
    pub hinge_bound: f64,
    /// (X/γ)².
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub margin_bound: Option<f64>,
}

impl NovikoffReport {
    /// The lesser of both bounds.
    pub fn bound(&self) -> f64 {
        self.margin_bound.unwrap_or(f64::INFINITY).min(self.hinge_bound)
    }
}

/// What a learner did by its regularised losses h(ℓ + ½σ‖w‖²), per unit importance.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RegularisedReport {
    /// σ.
    pub sigma: f64,
    /// The mean regularised loss of the points that made the predictions.
    pub risk: Option<f64>,
    /// The bound on the regret by these losses, from the gradients that occurred.
    pub bound_per_round: Option<f64>,
    /// The bounds are against ‖u‖₂ ≤ radius; absent: against every u.
    pub radius: Option<f64>,
    /// G: the largest norm of these gradients, where all importance weights are 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gradient: Option<f64>,
    /// G²(1 + ln T)/(2σT).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub theorem_per_round: Option<f64>,
    /// With `--hindsight`, the least mean loss plus ½σ‖u‖² that was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub best: Option<f64>,
    /// No u has less than `best − gap`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap: Option<f64>,
    /// ‖u‖₂ of the best.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub norm: Option<f64>,
    /// The risk less that of the best: the lower end of the regret.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub regret_per_round: Option<f64>,
    /// Why the best was not looked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The interval in which the mean of the conditional expectations of a loss was at all times of the run, or why none is
/// known.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct AnytimeRisk {
    /// Of which loss.
    pub of: AnytimeLoss,
    /// Where it begins.
    pub low: Option<f64>,
    /// Where it ends.
    pub high: Option<f64>,
    /// The probability with which it holds at all times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// Why there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A loss whose range is known before the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnytimeLoss {
    /// Mistakes, each of which is 1.
    Mistakes,
    /// The Brier score.
    Brier,
    /// The charged loss.
    Loss,
}

/// A learner in a mixture.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct LaneReport {
    /// Its name.
    pub name: String,
    /// Its share of the next prediction.
    pub weight: f64,
    /// What it would have paid alone.
    pub loss: Option<f64>,
}

/// The learners that a mixture is made of.
pub(crate) fn lanes(mixture: &MixtureReport) -> Vec<LaneReport> {
    let loss = |it: &ExpertReport| Some(it.loss).filter(|loss| loss.is_finite());
    let lane = |it: &ExpertReport| LaneReport { name: it.name.clone(), weight: it.weight, loss: loss(it) };
    mixture.experts.iter().map(lane).collect()
}
