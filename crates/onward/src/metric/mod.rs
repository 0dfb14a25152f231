//! What is measured beside the loss: how often right, how well ranked, how well
//! calibrated, how far off.
//!
//! All measures see one (prediction, label, weight) at a time, in memory that does
//! not grow; a weight of 2 equals seeing the example twice, a weight of 0 changes
//! nothing; sums of fractions are compensated, so that 10⁹ examples lose no digits that
//! matter; exponentials are from `libm`, so that the bits are equal on all machines.
//! Scores and labels are finite numbers.
//!
//! [`Metrics`] is the set that suits a task, and what the report shows.

pub mod auc;
pub mod binary;
pub mod calibration;
mod classes;
pub mod regression;
mod total;

pub use auc::Auc;
pub use binary::{Accuracy, Brier, LogLoss};
pub use calibration::{Calibration, CalibrationBin};
pub use classes::Classes;
pub use regression::Regression;

use serde_json::{Map, Value, json};

use self::binary::{Probability, target};
use crate::Error;
use crate::archive::Archive;
use crate::loss::{InverseLink, Task};

/// The measures that suit a task, fed with scores.
///
/// ```
/// use onward::loss::{InverseLink, Task};
/// let mut metrics = onward::metric::Metrics::new(Task::Binary, InverseLink::Logistic);
/// metrics.observe(2.0, 1.0, 1.0);
/// metrics.observe(-1.0, -1.0, 1.0);
/// metrics.observe(0.5, -1.0, 1.0);
/// let summary = metrics.summary();
/// assert_eq!(summary["auc"], 1.0);
/// assert_eq!(metrics.mistakes(), Some(1.0));
/// assert!(summary["log_loss"].as_f64().unwrap() < 0.5);
/// ```
#[derive(Debug, Clone)]
pub struct Metrics {
    link: InverseLink,
    measures: Measures,
}

#[derive(Debug, Clone)]
enum Measures {
    Binary(Box<Binary>),
    Regression(Regression),
    Classes { classes: Classes, has_log_loss: bool },
}

/// What two classes are measured by.
#[derive(Debug, Clone, Default)]
struct Binary {
    accuracy: Accuracy,
    auc: Auc,
    /// Only for scores that stand for probabilities.
    probabilities: Option<Probabilities>,
}

/// What probabilities are measured by.
#[derive(Debug, Clone, Default)]
struct Probabilities {
    log_loss: LogLoss,
    brier: Brier,
    calibration: Calibration,
}

/// What a round was measured by, of two classes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BinaryLosses {
    /// Whether the sign of the score was wrong.
    pub(crate) mistake: bool,
    /// (P(1) − q)² of scores that stand for probabilities.
    pub(crate) square: Option<f64>,
}

impl Metrics {
    /// The measures for a task and for scores of this link: those of probabilities
    /// only when the link is logistic, those of regression on the scale of the response.
    pub fn new(task: Task, link: InverseLink) -> Self {
        let measures = match task {
            Task::Binary => {
                let probabilities = (link == InverseLink::Logistic).then(Probabilities::default);
                Measures::Binary(Box::new(Binary { probabilities, ..Binary::default() }))
            }
            Task::Regression => Measures::Regression(Regression::default()),
            Task::Classes => Measures::Classes { classes: Classes::default(), has_log_loss: true },
        };
        Self { link, measures }
    }

    /// The measures for several classes, log loss among them if scores stand for probabilities.
    pub(crate) fn of_classes(has_log_loss: bool) -> Self {
        Self { link: InverseLink::Identity, measures: Measures::Classes { classes: Classes::default(), has_log_loss } }
    }

    /// Takes in the scores of a row, its class and, where they stand for probabilities, the log loss.
    pub(crate) fn observe_class(&mut self, scores: &[f64], class: usize, log_loss: f64, weight: f64) {
        if let Measures::Classes { classes, .. } = &mut self.measures {
            classes.observe(scores, class, log_loss, weight);
        }
    }

    /// Takes in the score of a prediction, the label that came, and the importance
    /// weight (finite, ≥ 0; 0 changes nothing).
    #[inline]
    pub fn observe(&mut self, score: f64, label: f64, weight: f64) {
        let _ = self.observe_charged(score, label, weight, None);
    }

    /// The same, where exp(−|score|) and ln(1 + exp(−|score|)) may be known. Returns what two classes were measured by.
    #[inline]
    pub(crate) fn observe_charged(
        &mut self,
        score: f64,
        label: f64,
        weight: f64,
        logistic: Option<(f64, f64)>,
    ) -> Option<BinaryLosses> {
        match &mut self.measures {
            _ if weight <= 0.0 => None,
            Measures::Binary(binary) => Some(binary.observe(score, label, weight, logistic)),
            Measures::Regression(regression) => {
                regression.observe(self.link.response(score), label, weight);
                None
            }
            Measures::Classes { .. } => None,
        }
    }

    /// Fetches what a score needs that will be observed.
    #[inline]
    pub(crate) fn prefetch(&self, score: f64) {
        if let Measures::Binary(binary) = &self.measures {
            binary.auc.prefetch(score);
        }
    }

    /// The weight of the mistakes of the score's sign: their number when all
    /// weights are 1. None when there are no classes.
    pub fn mistakes(&self) -> Option<f64> {
        match &self.measures {
            Measures::Binary(binary) => Some(binary.accuracy.mistakes()),
            Measures::Regression(_) => None,
            Measures::Classes { classes, .. } => Some(classes.mistakes()),
        }
    }

    /// The share of right classes. None when there are no classes, or before any weight.
    pub fn accuracy(&self) -> Option<f64> {
        match &self.measures {
            Measures::Binary(binary) => binary.accuracy.value(),
            Measures::Regression(_) => None,
            Measures::Classes { classes, .. } => classes.accuracy(),
        }
    }

    /// The root mean square error, of numbers. None when there are classes, or before any weight.
    pub fn rmse(&self) -> Option<f64> {
        match &self.measures {
            Measures::Regression(regression) => regression.rmse(),
            Measures::Binary(_) | Measures::Classes { .. } => None,
        }
    }

    /// The measures by name; those that are undefined so far are left out.
    ///
    /// - Two classes: `accuracy`, `auc` with `auc_error`, for the logistic link of the probabilities as they are
    ///   written, which tie where 64 bits cannot tell them apart; with the logistic link
    ///   `log_loss`, `brier`, `calibration_error` and `calibration`, an array of
    ///   {`from`, `to`, `weight`, `predicted`, `observed`} without empty bins.
    /// - Regression: `rmse`, `mae`, `r2`, `bias`.
    /// - Several classes: `accuracy`, and `log_loss` where scores stand for probabilities.
    pub fn summary(&self) -> Map<String, Value> {
        let mut summary = Map::new();
        match &self.measures {
            Measures::Binary(binary) => binary.summarise(&mut summary),
            Measures::Regression(regression) => {
                put(&mut summary, "rmse", regression.rmse());
                put(&mut summary, "mae", regression.mae());
                put(&mut summary, "r2", regression.r2());
                put(&mut summary, "bias", regression.bias());
            }
            Measures::Classes { classes, has_log_loss } => {
                put(&mut summary, "accuracy", classes.accuracy());
                put(&mut summary, "log_loss", classes.log_loss().filter(|_| *has_log_loss));
            }
        }
        summary
    }

    /// Saves or loads what is needed to continue to the bit.
    ///
    /// # Errors
    /// When what is read is of another task or link, or damaged: something missing, of
    /// the wrong shape, not finite, or negative where it cannot be.
    pub fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        match &mut self.measures {
            Measures::Binary(binary) => binary.persist(archive),
            Measures::Regression(regression) => archive.part("regression", |archive| regression.persist(archive)),
            Measures::Classes { classes, .. } => archive.part("classes", |archive| classes.persist(archive)),
        }
    }
}

impl Binary {
    #[inline]
    fn observe(&mut self, score: f64, label: f64, weight: f64, logistic: Option<(f64, f64)>) -> BinaryLosses {
        let mistake = self.accuracy.add(score, label, weight);
        let rank = if self.probabilities.is_some() { rank_of_probability(score) } else { score };
        self.auc.observe(rank, label, weight);
        let mut square = None;
        if let Some(probabilities) = &mut self.probabilities {
            let probability = match logistic {
                Some((e, shared)) => Probability::from_exponential(score, e, shared),
                None => Probability::of(score),
            };
            // One exponential serves all three.
            let target = target(label);
            probabilities.log_loss.add(probability, target, weight);
            square = Some(probabilities.brier.add(probability, target, weight));
            probabilities.calibration.observe(probability.positive, label, weight);
        }
        BinaryLosses { mistake, square }
    }

    fn summarise(&self, summary: &mut Map<String, Value>) {
        let auc = match self.probabilities {
            Some(_) => self.auc.of_probabilities(),
            None => self.auc.value_and_error(),
        };
        put(summary, "accuracy", self.accuracy.value());
        put(summary, "auc", auc.map(|(value, _)| value));
        put(summary, "auc_error", auc.map(|(_, error)| error));
        let Some(probabilities) = &self.probabilities else { return };
        put(summary, "log_loss", probabilities.log_loss.value());
        put(summary, "brier", probabilities.brier.value());
        put(summary, "calibration_error", probabilities.calibration.error());
        let bins = probabilities.calibration.bins();
        if !bins.is_empty() {
            summary.insert("calibration".to_owned(), json!(bins));
        }
    }

    fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        archive.part("accuracy", |archive| self.accuracy.persist(archive))?;
        archive.part("auc", |archive| self.auc.persist(archive))?;
        let Some(probabilities) = &mut self.probabilities else { return Ok(()) };
        archive.part("log_loss", |archive| probabilities.log_loss.persist(archive))?;
        archive.part("brier", |archive| probabilities.brier.persist(archive))?;
        archive.part("calibration", |archive| probabilities.calibration.persist(archive))
    }
}

/// The largest score whose probability tells it from scores nearby as finely as the bins of [`Auc`] do, and the least: with
/// 64 bits, probabilities become 1 at a score of 37, and lose digits below −708.
const FINE: std::ops::RangeInclusive<f64> = -700.0..=16.0;

/// What a logistic score is ranked by, so that scores with one probability tie: the AUC is that of the probabilities as
/// they are written.
#[inline]
fn rank_of_probability(score: f64) -> f64 {
    if FINE.contains(&score) { score } else { logit_of_written(score) }
}

/// The logit of the probability as it is written: infinite where that is 0 or 1.
#[cold]
fn logit_of_written(score: f64) -> f64 {
    let probability = InverseLink::Logistic.response(score);
    if score > 0.0 { -libm::log(1.0 - probability) } else { libm::log(probability) }
}

/// Adds a measure that is defined and that JSON can hold.
fn put(summary: &mut Map<String, Value>, name: &str, value: Option<f64>) {
    if let Some(value) = value.filter(|value| value.is_finite()) {
        summary.insert(name.to_owned(), value.into());
    }
}

#[cfg(test)]
mod tests;
