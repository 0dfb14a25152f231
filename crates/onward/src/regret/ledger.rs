//! The ledger: what a predictor paid, round by round, and what that is worth.
//!
//! It takes the charged prediction, the label, the importance weight and the
//! features of each round, of any predictor whatever, and keeps the sequential
//! risk, the best constant beside it, metrics, the course of the run and the
//! universal certificate. It knows nothing of learners.

use crate::loss::Curvature;
use crate::metric::Metrics;
use crate::model::State;
use crate::regret::{BestConstant, Certificate, Curve, Guarantee, GuaranteeKind, Point};
use crate::sum::Sum;
use crate::{Error, Features, Prediction, SharedLoss};

/// Keeps the account of a run.
///
/// ```
/// use onward::{Features, Prediction, regret::Ledger};
/// let mut ledger = Ledger::new(onward::loss::parse("squared")?);
/// ledger.observe(Prediction::new(1.0), 3.0, 1.0, Features::new(&[0], &[1.0])?);
/// assert_eq!(ledger.sequential_risk(), 4.0);
/// # Ok::<(), onward::Error>(())
/// ```
pub struct Ledger {
    loss: SharedLoss,
    radius: Option<f64>,
    rounds: u64,
    features: u64,
    paid: Sum,
    weight: Sum,
    best_constant: BestConstant,
    certificate: Certificate,
    metrics: Metrics,
    curve: Curve,
}

impl Ledger {
    /// An empty ledger that charges this loss.
    pub fn new(loss: SharedLoss) -> Self {
        Self {
            metrics: Metrics::new(loss.task(), loss.link()),
            best_constant: BestConstant::new(SharedLoss::clone(&loss)),
            radius: None,
            rounds: 0,
            features: 0,
            paid: Sum::default(),
            weight: Sum::default(),
            certificate: Certificate::default(),
            curve: Curve::default(),
            loss,
        }
    }

    /// Sets the radius of the comparators ‖u‖₂ ≤ radius that the certificate is for; else
    /// it is for the standardised ball of radius [`DEFAULT_RADIUS`](super::DEFAULT_RADIUS).
    pub fn set_radius(&mut self, radius: Option<f64>) {
        self.radius = radius;
    }

    /// Charges a prediction that was made before the label was seen. A round of
    /// importance 0 changes nothing. Returns the loss, unweighted.
    pub fn observe(&mut self, prediction: Prediction, label: f64, weight: f64, x: Features<'_>) -> f64 {
        let p = prediction.score;
        let loss = self.loss.value(p, label);
        if weight == 0.0 {
            return loss;
        }
        self.rounds += 1;
        self.features += x.values().iter().filter(|&&value| value != 0.0).count() as u64;
        self.paid.add(weight * loss);
        self.weight.add(weight);
        self.best_constant.observe(label, weight);
        self.certificate.observe(p, self.loss.derivative(p, label), weight, x);
        self.metrics.observe(p, label, weight);
        if self.curve.is_due(self.rounds) {
            self.mark();
        }
        loss
    }

    /// Puts a point on the curve.
    fn mark(&mut self) {
        let thorough = self.curve.is_logarithmic(self.rounds);
        let guarantee = if thorough { self.certificate().bound.ok() } else { None };
        let baseline = if thorough { self.best_constant.risk() } else { None };
        let (loss, weight) = (self.paid.total(), self.weight.total());
        self.curve.push(Point { round: self.rounds, loss, weight, guarantee, baseline });
    }

    /// The loss that is charged.
    pub fn loss(&self) -> &SharedLoss {
        &self.loss
    }

    /// Labelled rounds of importance above 0.
    pub fn rounds(&self) -> u64 {
        self.rounds
    }

    /// Features of those rounds with a value other than 0, in all.
    pub fn features(&self) -> u64 {
        self.features
    }

    /// Σ h·ℓ.
    pub fn paid(&self) -> f64 {
        self.paid.total()
    }

    /// Σ h.
    pub fn weight(&self) -> f64 {
        self.weight.total()
    }

    /// Sequential risk: Σ h·ℓ/Σ h, the mean loss while learning. NaN before the first round.
    pub fn sequential_risk(&self) -> f64 {
        self.paid.total() / self.weight.total()
    }

    /// The mean loss of the best constant prediction in hindsight; `None` before the first round.
    pub fn baseline_risk(&self) -> Option<f64> {
        self.best_constant.risk()
    }

    /// The mean loss of a predictor that always gives this score; `None` before the first round.
    pub fn constant_risk(&self, score: f64) -> Option<f64> {
        self.best_constant.risk_of(score)
    }

    /// The universal certificate.
    pub fn certificate(&self) -> Guarantee {
        if self.loss.curvature() == Curvature::None {
            let name = self.loss.name();
            let reason = format!("the {name} loss is not convex: the universal certificate needs convexity");
            return Guarantee::none(GuaranteeKind::Universal, reason);
        }
        self.certificate.guarantee(self.radius)
    }

    /// The sums behind the certificate.
    pub fn sums(&self) -> &Certificate {
        &self.certificate
    }

    /// Accuracy and the like.
    pub fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// The course of the run.
    pub fn curve(&self) -> &Curve {
        &self.curve
    }

    /// All that is needed to continue to the bit.
    pub fn state(&self) -> State {
        let mut state = State::default();
        state.set("rounds", self.rounds as f64);
        state.set("features", self.features as f64);
        self.paid.save("paid", &mut state);
        self.weight.save("weight", &mut state);
        state.absorb("best_constant", self.best_constant.state());
        state.absorb("certificate", self.certificate.state());
        state.absorb("metrics", self.metrics.state());
        state.absorb("curve", self.curve.state());
        state
    }

    /// Continues from a saved state.
    ///
    /// # Errors
    /// When something is missing or does not match.
    pub fn restore(&mut self, state: &State) -> Result<(), Error> {
        self.rounds = state.number("rounds")? as u64;
        self.features = state.number("features")? as u64;
        self.paid = Sum::load("paid", state)?;
        self.weight = Sum::load("weight", state)?;
        self.best_constant.restore(&state.part("best_constant"))?;
        self.certificate.restore(&state.part("certificate"))?;
        self.metrics.restore(&state.part("metrics"))?;
        self.curve.restore(&state.part("curve"))
    }
}
