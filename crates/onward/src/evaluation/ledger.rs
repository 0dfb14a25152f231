//! The ledger: what a predictor paid, round by round, and what that is worth.
//!
//! It takes the charged prediction, the label, the importance weight and the
//! features of each round, of any predictor whatever, and keeps the sequential
//! risk, the best constant beside it, metrics, the course of the run and the
//! universal certificate. It knows nothing of learners.

use crate::archive::Archive;
use crate::evaluation::anytime::AnytimeRisks;
use crate::evaluation::curved::{DEFAULT_MEMBERS, DEFAULT_SCORE_BOUND};
use crate::evaluation::label_account::LabelAccount;
use crate::evaluation::skill::{is_dear, skill};
use crate::evaluation::{
    BestConstant, BoundedLoss, Certificate, CertificateTerms, ClassFrequencies, ConstantInHindsight, Curve,
    CurvedCertificate, CurvedFloor, DEFAULT_RADIUS, LabelOrder, LabelStatistics, LedgerPoint, ScaledDual, Skill,
};
use crate::guarantee::{Comparator, Guarantee, GuaranteeKind};
use crate::loss::{Curvature, Evaluation, InverseLink, Task, TaskLoss};
use crate::metric::Metrics;
use crate::numeric::sum::Sum;
use crate::simd::scan::count_present;
use crate::{Error, Features, Rows, SharedLoss};

/// Keeps the account of a run.
///
/// ```
/// use onward::{Features, evaluation::Ledger};
/// let mut ledger = Ledger::new(onward::loss::parse("squared")?);
/// ledger.observe_one(1.0, 3.0, 1.0, Features::new(&[0], &[1.0])?);
/// assert_eq!(ledger.sequential_risk(), 4.0);
/// # Ok::<(), onward::Error>(())
/// ```
pub struct Ledger {
    loss: TaskLoss,
    radius: Option<f64>,
    rounds: u64,
    features: u64,
    paid: Sum,
    weight: Sum,
    /// The largest and smallest loss of a round, unweighted.
    losses: (f64, f64),
    /// Whether all rounds had importance 1.
    is_uniform: bool,
    baseline: Baseline,
    /// `None` in a run that was continued from a file of an older version, which does not have it.
    labels: Option<LabelAccount>,
    /// Mean, deviation and range of labels that are numbers.
    statistics: Option<LabelStatistics>,
    /// `None` where no sums are kept for one.
    certificate: Option<Certificate>,
    dual: Option<ScaledDual>,
    curved: Option<CurvedCertificate>,
    /// `None` in a run that was continued from a file of an older version.
    anytime: Option<AnytimeRisks>,
    metrics: Metrics,
    curve: Curve,
}

/// The certificates for one class.
#[derive(Debug, Clone, PartialEq)]
pub struct Certificates {
    /// The universal one.
    pub universal: Guarantee,
    /// The scaled dual.
    pub dual: Guarantee,
    /// What the bound of the universal one is made of.
    pub terms: Option<CertificateTerms>,
    /// What the best of the class pays at least, summed over rounds.
    pub floor: Option<f64>,
}

/// What a predictor that ignores the features would have paid.
enum Baseline {
    Score(BestConstant),
    Classes(ClassFrequencies),
}

impl Ledger {
    /// An empty ledger that charges this loss.
    pub fn new(loss: impl Into<TaskLoss>) -> Self {
        let loss = loss.into();
        let (metrics, baseline) = match &loss {
            TaskLoss::Score(loss) => {
                let metrics = Metrics::new(loss.task(), loss.inverse_link());
                (metrics, Baseline::Score(BestConstant::new(SharedLoss::clone(loss))))
            }
            TaskLoss::Classes(loss) => {
                (Metrics::of_classes(loss.is_log_loss()), Baseline::Classes(ClassFrequencies::default()))
            }
        };
        let is_convex = loss.score().is_some_and(|loss| loss.curvature() != Curvature::None);
        let statistics = (loss.task() == Task::Regression).then(LabelStatistics::default);
        let certificate = loss.score().map(|_| Certificate::default());
        let dual = is_convex.then(ScaledDual::default);
        let labels = Some(LabelAccount::new(&loss));
        Self {
            loss,
            radius: None,
            rounds: 0,
            features: 0,
            paid: Sum::default(),
            weight: Sum::default(),
            losses: (0.0, 0.0),
            is_uniform: true,
            baseline,
            labels,
            statistics,
            certificate,
            dual,
            curved: None,
            anytime: Some(AnytimeRisks::default()),
            metrics,
            curve: Curve::default(),
        }
    }

    /// Sets the radius of the comparators ‖u‖₂ ≤ radius that the certificate is for; else
    /// it is for the default [class](Self::comparator).
    pub fn set_radius(&mut self, radius: Option<f64>) {
        self.radius = radius;
    }

    /// Keeps no sums of features, so that there is no certificate and no feature is counted as distinct: for predictors that
    /// do not learn, of whom neither is asked.
    ///
    /// ```
    /// use onward::{Features, evaluation::Ledger};
    /// let mut ledger = Ledger::new(onward::loss::parse("squared")?).uncertified();
    /// ledger.observe_one(1.0, 3.0, 1.0, Features::new(&[0], &[1.0])?);
    /// assert_eq!((ledger.sequential_risk(), ledger.distinct_features()), (4.0, None));
    /// assert!(ledger.certificate().bound.is_err());
    /// # Ok::<(), onward::Error>(())
    /// ```
    pub fn uncertified(mut self) -> Self {
        (self.certificate, self.dual, self.curved) = (None, None, None);
        self
    }

    /// Keeps sums for the curved certificate too. By default they end where there are more than [`DEFAULT_MEMBERS`] features. With a
    /// number of `features`, sums are kept for so many whatever else there is, those with indices below `reserved` (columns of numbers)
    /// before others: that takes time. Nothing changes where something was charged already, or the loss has
    /// no curvature.
    pub fn keep_curvature(&mut self, features: Option<usize>, reserved: u32) {
        let Some(loss) = self.loss.score().filter(|_| self.rounds == 0 && self.certificate.is_some()) else { return };
        // Scores in units of the label have no bound that is known beforehand.
        let is_free = loss.task() == Task::Regression && loss.inverse_link() == InverseLink::Identity;
        let bound = if is_free { f64::INFINITY } else { DEFAULT_SCORE_BOUND };
        let has_bend = match loss.curvature() {
            Curvature::Quadratic(_) | Curvature::Strong(_) => true,
            _ => loss.is_curvature_unimodal() && !is_free,
        };
        let (features, reserved) = features.map_or((DEFAULT_MEMBERS, 0), |features| (features, reserved));
        self.curved = has_bend.then(|| CurvedCertificate::new(bound, features, reserved));
    }

    /// The class of comparators that the certificate is for: the ball of the given radius. Without one, for two classes the standardised
    /// ball of radius [`DEFAULT_RADIUS`]; in regression the class [`BallBesideBias`](Comparator::BallBesideBias) whose radius is
    /// that many standard deviations of the labels, the bias being within the range of the labels and as far beyond, so that the class
    /// holds the best constant, and neither units of the label nor where its 0 is matter. For rates the
    /// radius is a plain number, and the bias as near to the logarithm of the mean label. Rows that do not all begin with a
    /// bias are compared with the standardised ball whose radius is as many root mean squares of the label.
    ///
    /// ```
    /// use onward::{Features, evaluation::Ledger, guarantee::Comparator};
    /// let mut ledger = Ledger::new(onward::loss::parse("squared")?);
    /// for label in [101.0, 103.0] {
    ///     ledger.observe_one(0.0, label, 1.0, Features::new(&[0, 1], &[1.0, 0.5])?);
    /// }
    /// assert_eq!(ledger.comparator(), Comparator::BallBesideBias { radius: 10.0, low: 91.0, high: 113.0 });
    /// # Ok::<(), onward::Error>(())
    /// ```
    pub fn comparator(&self) -> Comparator {
        if let Some(radius) = self.radius {
            return Comparator::Ball(radius);
        }
        let Some(labels) = &self.statistics else { return Comparator::StandardisedBall(DEFAULT_RADIUS) };
        let has_bias = self.certificate.as_ref().is_some_and(Certificate::has_bias);
        let is_rate = self.loss.score().is_some_and(|loss| loss.inverse_link() == InverseLink::Log);
        let (smallest, largest) = labels.range();
        // Where all labels are alike there is no scale but their size.
        let unit = |deviation: f64| match deviation.max(1e-9 * smallest.abs().max(largest.abs())) {
            0.0 => 1.0,
            unit => unit,
        };
        match (has_bias, is_rate) {
            (true, true) => {
                let constant = self.best_constant().map_or(0.0, |best| best.score);
                let (low, high) = (constant - DEFAULT_RADIUS, constant + DEFAULT_RADIUS);
                Comparator::BallBesideBias { radius: DEFAULT_RADIUS, low, high }
            }
            (true, false) => {
                let radius = DEFAULT_RADIUS * unit(labels.deviation());
                Comparator::BallBesideBias { radius, low: smallest - radius, high: largest + radius }
            }
            (false, true) => Comparator::StandardisedBall(DEFAULT_RADIUS),
            (false, false) => Comparator::StandardisedBall(DEFAULT_RADIUS * unit(labels.root_mean_square())),
        }
    }

    /// Charges a score that was made before the label was seen: [`observe`](Self::observe) of one row. A round of importance
    /// 0 changes nothing.
    ///
    /// # Panics
    /// When the loss is one of several scores.
    pub fn observe_one(&mut self, score: f64, label: f64, weight: f64, x: Features<'_>) {
        let Some(loss) = self.loss.score() else { panic!("the {} loss needs a score per class", self.loss.name()) };
        if weight != 0.0 {
            let evaluation = loss.evaluate(score, label);
            self.metrics.prefetch(score);
            self.enter(score, evaluation, label, weight, x);
        }
    }

    /// Charges scores that were made before the labels were seen, of rows in order: one score for each, or one per class.
    /// Rows without a label or of importance 0 change nothing. How many rows come at a time changes nothing either.
    ///
    /// # Panics
    /// When scores are not as many for each row, or a label is a class without a score.
    ///
    /// ```
    /// use onward::{RowColumns, Rows, evaluation::Ledger, loss::{SharedClassLoss, Softmax}};
    /// let columns = RowColumns { labels: &[2.0, f64::NAN], ..RowColumns::default() };
    /// let rows = Rows::from_dense(&[0.5, 1.0], &[7], columns)?;
    /// let mut ledger = Ledger::new(std::sync::Arc::new(Softmax) as SharedClassLoss);
    /// ledger.observe(rows, &[0.0; 6]);
    /// assert!((ledger.sequential_risk() - 3f64.ln()).abs() < 1e-15);
    /// # Ok::<(), onward::Error>(())
    /// ```
    pub fn observe(&mut self, rows: Rows<'_>, scores: &[f64]) {
        match self.loss.clone() {
            TaskLoss::Score(loss) => self.observe_scores(&loss, rows, scores),
            TaskLoss::Classes(_) => self.observe_classes(rows, scores),
        }
    }

    fn observe_scores(&mut self, loss: &SharedLoss, rows: Rows<'_>, scores: &[f64]) {
        /// How many at a time: so many charges are near when they are entered.
        const SOME: usize = 64;
        rows.check_scores(1, scores);
        let mut evaluations = Vec::new();
        let mut examples = rows.with_next();
        for (scores, labels) in scores.chunks(SOME).zip(rows.labels().chunks(SOME)) {
            loss.evaluate_all(scores, labels, &mut evaluations);
            for ((&p, &evaluation), (example, next)) in scores.iter().zip(&evaluations).zip(examples.by_ref()) {
                if let (Some(next), Some(certificate)) = (next, &mut self.certificate) {
                    certificate.prefetch(next);
                }
                if let Some(label) = example.label_to_learn() {
                    self.metrics.prefetch(p);
                    self.enter(p, evaluation, label, example.weight, example.features);
                }
            }
        }
    }

    /// Enters a round that paid this.
    #[inline]
    fn pay(&mut self, loss: f64, weight: f64, values: &[f32]) {
        self.rounds += 1;
        self.features += count_present(values) as u64;
        self.paid.add(weight * loss);
        self.weight.add(weight);
        self.losses = (self.losses.0.max(loss), self.losses.1.min(loss));
        self.is_uniform &= weight == 1.0;
    }

    /// Enters what a prediction is charged, of a row of some importance.
    fn enter(&mut self, p: f64, evaluation: Evaluation, label: f64, weight: f64, x: Features<'_>) {
        let Evaluation { value, derivative, logistic } = evaluation;
        self.pay(value, weight, x.values());
        if let Baseline::Score(best_constant) = &mut self.baseline {
            if let Some(labels) = &mut self.labels {
                labels.observe(label, weight, best_constant);
            }
            best_constant.observe(label, weight);
        }
        if let Some(statistics) = &mut self.statistics {
            statistics.observe(label, weight);
        }
        if let Some(certificate) = &mut self.certificate {
            certificate.observe(p, derivative, weight, x);
        }
        if let (Some(dual), TaskLoss::Score(loss)) = (&mut self.dual, &self.loss) {
            dual.observe(loss.conjugate(p, label, evaluation), derivative, weight, x.offset());
            if let Some(curved) = &mut self.curved {
                if self.rounds == 1 && self.statistics.is_some() && loss.inverse_link() == InverseLink::Identity {
                    curved.centre(label, x);
                }
                curved.observe(&**loss, p, label, evaluation, weight, x);
            }
        }
        let measured = self.metrics.observe_charged(p, label, weight, logistic);
        if let Some(anytime) = &mut self.anytime {
            anytime.charged.observe(value);
            if let Some(losses) = measured {
                anytime.mistakes.observe(f64::from(u8::from(losses.mistake)));
                losses.square.into_iter().for_each(|square| anytime.brier.observe(square));
            }
        }
        if self.curve.is_due(self.rounds) {
            self.mark();
        }
    }

    fn observe_classes(&mut self, rows: Rows<'_>, scores: &[f64]) {
        let outputs = scores.len().checked_div(rows.len()).unwrap_or(0);
        rows.check_scores(outputs, scores);
        for (row, example) in rows.iter().enumerate() {
            let Some(label) = example.label_to_learn() else { continue };
            let (class, scores) = (label as usize, &scores[row * outputs..][..outputs]);
            let value = self.loss.value(scores, label);
            self.pay(value, example.weight, example.features.values());
            self.anytime.iter_mut().for_each(|anytime| anytime.charged.observe(value));
            if let Baseline::Classes(frequencies) = &mut self.baseline {
                frequencies.observe(class, example.weight);
            }
            if let Some(labels) = &mut self.labels {
                labels.observe_class(class, example.weight);
            }
            self.metrics.observe_class(scores, class, value, example.weight);
            if self.curve.is_due(self.rounds) {
                self.mark();
            }
        }
    }

    /// Puts a point on the curve.
    fn mark(&mut self) {
        let thorough = self.curve.is_logarithmic(self.rounds);
        let (guarantee, terms) = match thorough {
            true => {
                let certificates = self.certificates();
                (certificates.universal.bound.ok(), certificates.terms)
            }
            false => (None, None),
        };
        let best = if thorough { self.best_constant() } else { None };
        if let (Some(best), Some(labels)) = (best, &mut self.labels) {
            labels.predict(best.score);
        }
        let baseline = match best {
            None if thorough => self.baseline_risk(),
            best => best.map(|best| best.risk),
        };
        self.curve.push(LedgerPoint { guarantee, terms, baseline, ..self.now() });
    }

    /// The sums of this round.
    fn now(&self) -> LedgerPoint {
        let (online_constant, no_change) = match &self.labels {
            Some(labels) => (labels.online_constant(), labels.no_change()),
            None => (None, None),
        };
        let (round, loss, weight) = (self.rounds, self.paid(), self.weight());
        LedgerPoint { round, loss, weight, online_constant, no_change, ..LedgerPoint::default() }
    }

    /// The loss that is charged.
    pub fn loss(&self) -> &TaskLoss {
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

    /// What the average of all points of a linear learner pays on an example that is drawn like those
    /// seen: at most this, with probability 1 − δ (Cesa-Bianchi, Conconi, Gentile 2004). It is the
    /// mean progressive loss + R√(2 ln(1/δ)/T), by Azuma's inequality and the convexity of the loss, for
    /// independent examples from one distribution and losses in [0, R], R known before the run.
    ///
    /// # Errors
    /// The reason why it does not hold: a loss was beyond R, an importance weight was not 1, the loss
    /// is not convex, or nothing was charged.
    pub fn averaged_risk(&self, range: f64, delta: f64) -> Result<f64, String> {
        let (largest, smallest) = self.losses;
        if !(range.is_finite() && range > 0.0 && delta > 0.0 && delta < 1.0) {
            return Err(format!(
                "the range of losses must be above 0, and δ above 0 and below 1; got {range} and \
                                {delta}"
            ));
        }
        match self.rounds {
            0 => Err("no loss has been recorded yet".to_owned()),
            _ if self.loss.score().is_none_or(|loss| loss.curvature() == Curvature::None) => {
                Err("the loss is not a convex one of a single score".to_owned())
            }
            _ if !self.is_uniform => Err("importance weights differ from 1".to_owned()),
            _ if largest > range || smallest < 0.0 => {
                Err(format!("losses were from {smallest} to {largest}, not within 0 and {range}"))
            }
            rounds => Ok(self.sequential_risk() + range * (2.0 * libm::log(1.0 / delta) / rounds as f64).sqrt()),
        }
    }

    /// The interval in which the mean of the conditional expectations of a loss is at all times, with probability 1 − δ: what
    /// predictions like these could expect to pay when they were made, however the stream drifts ([`anytime`](super::anytime)).
    ///
    /// # Errors
    /// The reason why it does not hold: an importance weight was not 1, a loss was out of its range, the loss was
    /// not measured, or nothing was charged.
    ///
    /// ```
    /// use onward::{Features, evaluation::{BoundedLoss, Ledger}};
    /// let mut ledger = Ledger::new(onward::loss::parse("logistic")?);
    /// for round in 0..1000 {
    ///     let label = if round % 10 == 0 { -1.0 } else { 1.0 };
    ///     ledger.observe_one(2.0, label, 1.0, Features::new(&[0], &[1.0])?);
    /// }
    /// let (low, high) = ledger.anytime_risk(BoundedLoss::Mistakes, 0.05).unwrap();
    /// assert!(low < 0.1 && 0.1 < high && high < 0.15);
    /// # Ok::<(), onward::Error>(())
    /// ```
    pub fn anytime_risk(&self, loss: BoundedLoss, delta: f64) -> Result<(f64, f64), String> {
        if !self.is_uniform {
            return Err("importance weights differ from 1".to_owned());
        }
        let anytime = self.anytime.as_ref().ok_or("the model was saved by a version that did not keep its sums")?;
        let (losses, range) = match loss {
            BoundedLoss::Mistakes => (&anytime.mistakes, 1.0),
            BoundedLoss::Brier => (&anytime.brier, 1.0),
            BoundedLoss::Charged(range) if self.losses.0 > range || self.losses.1 < 0.0 => {
                let (largest, smallest) = self.losses;
                return Err(format!("losses were from {smallest} to {largest}, not within 0 and {range}"));
            }
            BoundedLoss::Charged(range) => (&anytime.charged, range),
        };
        match losses.is_empty() {
            true => Err("no such loss has been recorded".to_owned()),
            false => Ok(losses.interval(range, delta)),
        }
    }

    /// The mean loss of the best constant prediction in hindsight, for classes that of their frequencies; `None` before
    /// the first round, and for classes whose scores stand for no probabilities.
    pub fn baseline_risk(&self) -> Option<f64> {
        match (&self.baseline, &self.loss) {
            (Baseline::Classes(frequencies), TaskLoss::Classes(loss)) if loss.is_log_loss() => frequencies.risk(),
            (Baseline::Classes(_), _) => None,
            (Baseline::Score(best_constant), _) => best_constant.risk(),
        }
    }

    /// The best constant prediction in hindsight, with what it pays and how exactly that is known; `None` before the first
    /// round, and for classes.
    pub fn best_constant(&self) -> Option<ConstantInHindsight> {
        match &self.baseline {
            Baseline::Score(best_constant) => best_constant.found(),
            Baseline::Classes(_) => None,
        }
    }

    /// The mean loss of the [online constant](super::OnlineConstant), for classes of their
    /// [frequencies so far](super::OnlineFrequencies); `None` before the first round, for classes whose scores stand for no
    /// probabilities, and in a run that was continued from a file of an older version.
    pub fn online_constant_risk(&self) -> Option<f64> {
        self.mean_of(LabelAccount::online_constant)
    }

    /// The mean loss of the [no-change baseline](super::NoChange); `None` as for the online constant.
    pub fn no_change_risk(&self) -> Option<f64> {
        self.mean_of(LabelAccount::no_change)
    }

    fn mean_of(&self, paid: impl Fn(&LabelAccount) -> Option<f64>) -> Option<f64> {
        self.labels.as_ref().filter(|_| self.rounds > 0).and_then(paid).map(|paid| paid / self.weight())
    }

    /// The temporal kappa (a − a₀)/(1 − a₀), a the accuracy and a₀ that of predicting the class before: 1 is perfect, 0 no
    /// better than that. `None` for numbers, where the class never changed, and in a run that was continued from a file of
    /// an older version.
    pub fn kappa_temporal(&self) -> Option<f64> {
        let (accuracy, last) = (self.metrics.accuracy()?, self.mean_of(LabelAccount::right)?);
        (last < 1.0).then(|| (accuracy - last) / (1.0 - last))
    }

    /// 1 − Σ h·(p − y)²/Σ h·(ȳ − y)², ȳ the mean of the labels before each: R² against a predictor that did not know the
    /// labels either, and pays for the first one too. `None` for classes, where that makes no error, and in a run that was
    /// continued from a file of an older version.
    pub fn r2_online(&self) -> Option<f64> {
        let online = self.mean_of(LabelAccount::squares_of_mean).filter(|&square| square > 0.0)?;
        self.metrics.rmse().map(|error| 1.0 - error * error / online)
    }

    /// The skill against the better of the online constant and the no-change baseline; `None` where these are, and where the
    /// better one pays nothing, or less.
    pub fn skill(&self) -> Option<Skill> {
        self.skill_since(&LedgerPoint::zero())
    }

    fn skill_since(&self, begin: &LedgerPoint) -> Option<Skill> {
        let mut skill = skill(&self.curve, begin, &self.now())?;
        // Who pays nothing has the skill 1, unless losses may be negative.
        let most = if self.losses.1 < 0.0 { f64::INFINITY } else { 1.0 };
        skill.interval = skill.interval.map(|(low, high)| (low, high.min(most)));
        Some(skill)
    }

    /// The skill from the second round on, where the first one makes more than a tenth of what the learner or a baseline
    /// paid. In the first round nothing is known: where labels are far from 0 it costs all so much that the other rounds do
    /// not count beside it.
    pub fn skill_after_first(&self) -> Option<Skill> {
        let (first, end) = (self.curve.first()?, self.now());
        if is_dear(first, &end) { self.skill_since(first) } else { None }
    }

    /// Whether the labels come in runs; `None` where all are equal, and in a run that was continued from a file of an older
    /// version.
    pub fn label_order(&self) -> Option<LabelOrder> {
        self.labels.as_ref().and_then(LabelAccount::order)
    }

    /// The mean loss over about the last tenth of the rounds: no fewer, and no more than another 256th of all. `None` for
    /// fewer than ten rounds.
    pub fn recent_risk(&self) -> Option<f64> {
        let end = self.now();
        let tenth = end.round / 10;
        let begins = self.curve.even().iter().rev().find(|point| tenth > 0 && point.round <= end.round - tenth)?;
        Some((end.loss - begins.loss) / (end.weight - begins.weight))
    }

    /// The share of the whole loss that was paid in the first round, before any label was known; `None` where nothing was
    /// paid.
    pub fn first_share(&self) -> Option<f64> {
        self.curve.first().filter(|_| self.paid() > 0.0).map(|first| first.loss / self.paid())
    }

    /// The mean loss of a predictor that always gives this score; `None` before the first round, and for classes.
    pub fn constant_risk(&self, score: f64) -> Option<f64> {
        match &self.baseline {
            Baseline::Score(best_constant) => best_constant.risk_of(score),
            Baseline::Classes(_) => None,
        }
    }

    /// The frequencies of the classes, if there are some.
    pub fn class_frequencies(&self) -> Option<&ClassFrequencies> {
        match &self.baseline {
            Baseline::Classes(frequencies) => Some(frequencies),
            Baseline::Score(_) => None,
        }
    }

    /// The universal certificate.
    pub fn certificate(&self) -> Guarantee {
        self.certificates().universal
    }

    /// The scaled dual certificate, for the same class as the [universal](Self::certificate) one and never weaker.
    pub fn dual(&self) -> Guarantee {
        self.certificates().dual
    }

    /// Both, and what they are made of, by one walk over all features.
    pub fn certificates(&self) -> Certificates {
        let none = |reason: &str| Certificates {
            universal: Guarantee::none(GuaranteeKind::Universal, reason),
            dual: Guarantee::none(GuaranteeKind::Dual, reason),
            terms: None,
            floor: None,
        };
        let Some(loss) = self.loss.score() else {
            return none("the universal certificate is for one score per row, and classes have one each");
        };
        if loss.curvature() == Curvature::None {
            return none(&format!("the {} loss is not convex: the universal certificate needs convexity", loss.name()));
        }
        let Some(certificate) = &self.certificate else { return none("its sums were not kept") };
        let class = self.comparator();
        let (Some(terms), Some(radius)) = (certificate.terms(class), class.radius()) else {
            return none("the certificate is about balls of weights");
        };
        let bias = class.bias().unwrap_or_default();
        let bound = terms.bound(radius, bias);
        // The difference rounds at the size of what was paid.
        let rounding = 4.0 * f64::EPSILON * (self.paid().abs() + bound.abs());
        let mut floor = Some(self.paid() - bound - rounding).filter(|floor| floor.is_finite());
        let dual = match self.dual.as_ref().map(|dual| dual.floor(terms.largest(radius, bias))) {
            Some(Some(of_dual)) => {
                floor = Some(floor.map_or(of_dual, |floor| floor.max(of_dual)));
                Ok((self.paid() - of_dual).min(bound))
            }
            Some(None) => Err(format!("the {} loss is not bounded below", loss.name())),
            None => Err("its sums were not kept".to_owned()),
        };
        let comparator = Some(class);
        Certificates {
            universal: Guarantee { kind: GuaranteeKind::Universal, comparator, bound: Ok(bound) },
            dual: Guarantee { kind: GuaranteeKind::Dual, comparator: dual.is_ok().then_some(class), bound: dual },
            terms: Some(terms),
            floor,
        }
    }

    /// Σ h·(the least loss of each row): nobody pays less. `None` where it is not known.
    pub fn least(&self) -> Option<f64> {
        self.dual.as_ref().and_then(ScaledDual::least)
    }

    /// The curved certificate, and what the best of its class pays at least, with the features that it is about.
    pub fn curved(&self) -> (Guarantee, Option<CurvedFloor>) {
        let kind = GuaranteeKind::Curved;
        let Some(curved) = &self.curved else {
            let reason = "it is for losses with curvature, and its sums were kept for none";
            return (Guarantee::none(kind, reason), None);
        };
        match curved.floor() {
            Ok(mut floor) => {
                let class = Comparator::ScoresWithin(curved.bound());
                // Nobody pays less than the least loss of each row.
                let least = self.dual.as_ref().and_then(|dual| dual.floor(f64::INFINITY));
                floor.floor = least.map_or(floor.floor, |least| floor.floor.max(least));
                (Guarantee { kind, comparator: Some(class), bound: Ok(self.paid() - floor.floor) }, Some(floor))
            }
            Err(reason) => (Guarantee::none(kind, reason), None),
        }
    }

    /// How many features had a value other than 0; `None` if the ledger is [uncertified](Self::uncertified).
    pub fn distinct_features(&self) -> Option<u64> {
        self.certificate.as_ref().map(Certificate::distinct_features)
    }

    /// The sums behind the certificate; `None` if the ledger is [uncertified](Self::uncertified).
    pub fn sums(&self) -> Option<&Certificate> {
        self.certificate.as_ref()
    }

    /// Accuracy and the like.
    pub fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// The course of the run.
    pub fn curve(&self) -> &Curve {
        &self.curve
    }

    /// Saves or loads what is needed to continue to the bit.
    ///
    /// # Errors
    /// When something is missing or does not match.
    pub fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        archive.count("rounds", &mut self.rounds)?;
        archive.count("features", &mut self.features)?;
        archive.number("losses.largest", &mut self.losses.0)?;
        archive.number("losses.smallest", &mut self.losses.1)?;
        archive.flag("is_uniform", &mut self.is_uniform)?;
        self.paid.persist("paid", archive)?;
        self.weight.persist("weight", archive)?;
        match &mut self.baseline {
            Baseline::Score(best_constant) => {
                archive.part("best_constant", |archive| best_constant.persist(archive))?
            }
            Baseline::Classes(classes) => archive.part("class_frequencies", |archive| classes.persist(archive))?,
        }
        // Files of older versions do not have it.
        let mut has_labels = self.labels.is_some().then_some(1.0);
        archive.optional("has_labels", &mut has_labels)?;
        if archive.is_loading() {
            self.labels = has_labels.map(|_| LabelAccount::new(&self.loss));
        }
        if let Some(labels) = &mut self.labels {
            archive.part("labels", |archive| labels.persist(archive))?;
        }
        // Written only where there is none.
        let mut is_certified = self.certificate.is_none().then_some(0.0);
        archive.optional("is_certified", &mut is_certified)?;
        if archive.is_loading() {
            self.certificate = (is_certified != Some(0.0)).then(Certificate::default);
        }
        if let Some(certificate) = &mut self.certificate {
            archive.part("certificate", |archive| certificate.persist(archive))?;
        }
        // Models of before they were kept go on without.
        let is_kept = self.statistics.as_mut().map_or(Ok(true), |statistics| statistics.persist(archive))?;
        self.statistics = self.statistics.take().filter(|_| is_kept);
        let is_kept = self.dual.as_mut().map_or(Ok(true), |dual| dual.persist(archive))?;
        self.dual = self.dual.take().filter(|_| is_kept);
        if archive.is_loading() {
            let mut curved = CurvedCertificate::new(DEFAULT_SCORE_BOUND, 0, 0);
            let mut is_kept = false;
            archive.part("curved", |archive| curved.persist(archive).map(|found| is_kept = found))?;
            self.curved = is_kept.then_some(curved);
        } else if let Some(curved) = &mut self.curved {
            archive.part("curved", |archive| curved.persist(archive).map(drop))?;
        }
        let is_kept = self.anytime.as_mut().map_or(Ok(true), |anytime| anytime.persist(archive))?;
        self.anytime = self.anytime.take().filter(|_| is_kept);
        archive.part("metrics", |archive| self.metrics.persist(archive))?;
        archive.part("curve", |archive| self.curve.persist(archive))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss;

    fn ledger(weights: &[f64]) -> Ledger {
        let mut ledger = Ledger::new(loss::parse("absolute").unwrap());
        for &weight in weights {
            ledger.observe_one(0.25, 1.0, weight, Features::new(&[0], &[1.0]).unwrap());
        }
        ledger
    }

    #[test]
    fn the_risk_of_the_average_is_bounded_by_azuma_or_not_at_all() {
        // 0.75 + 2·√(2 ln 20/8).
        let bound = ledger(&[1.0; 8]).averaged_risk(2.0, 0.05).unwrap();
        assert!((bound - (0.75 + 2.0 * (2.0 * 20f64.ln() / 8.0).sqrt())).abs() < 1e-12);
        for (ledger, range, reason) in [
            (ledger(&[]), 1.0, "no loss has been recorded"),
            (ledger(&[1.0, 2.0]), 1.0, "importance weights differ from 1"),
            (ledger(&[1.0]), 0.5, "not within 0 and 0.5"),
            (ledger(&[1.0]), 0.0, "the range of losses must be above 0"),
        ] {
            let said = ledger.averaged_risk(range, 0.05).unwrap_err();
            assert!(said.contains(reason), "{said}");
        }
    }

    /// A ledger of labels whose scores are the negative label before, and the sums of what was paid.
    fn followed(loss: &str, labels: &[f64]) -> (Ledger, Vec<f64>) {
        let loss = loss::parse(loss).unwrap();
        let (mut ledger, mut score, mut paid) = (Ledger::new(&loss), 0.5, vec![0.0]);
        for &label in labels {
            ledger.observe_one(score, label, 2.0, Features::new(&[0], &[1.0]).unwrap());
            paid.push(paid.last().unwrap() + 2.0 * loss.value(score, label));
            score = -label;
        }
        (ledger, paid)
    }

    #[test]
    fn recent_risk_and_the_share_of_the_first_round_are_those_of_the_losses() {
        for rounds in [9usize, 10, 500, 513, 5000] {
            let labels: Vec<f64> = (0..rounds).map(|t| (t * 7 % 11) as f64 - 4.0).collect();
            let (ledger, paid) = followed("squared", &labels);
            assert!((ledger.first_share().unwrap() - paid[1] / paid[rounds]).abs() < 1e-12);
            let Some(recent) = ledger.recent_risk() else {
                assert!(rounds < 10);
                continue;
            };
            let tail = |count: usize| (paid[rounds] - paid[rounds - count]) / (2.0 * count as f64);
            let counts = rounds / 10..=rounds / 10 + rounds / 256;
            assert!(counts.clone().any(|count| (tail(count) - recent).abs() < 1e-9), "{rounds} {counts:?}");
        }
    }

    #[test]
    fn r2_online_is_against_the_mean_of_the_labels_before() {
        for loss in ["squared", "absolute", "poisson", "expectile:tau=0.3"] {
            let labels: Vec<f64> = (0..200).map(|t| f64::from(t * t % 13)).collect();
            let link = loss::parse(loss).unwrap().inverse_link();
            let mut ledger = Ledger::new(loss::parse(loss).unwrap());
            let (mut errors, mut online, mut sum) = (0.0, 0.0, 0.0);
            for (t, &label) in labels.iter().enumerate() {
                ledger.observe_one(1.0, label, 0.5, Features::new(&[0], &[1.0]).unwrap());
                errors += (link.response(1.0) - label).powi(2);
                let mean = if t == 0 { link.response(0.0) } else { sum / t as f64 };
                online += (mean - label).powi(2);
                sum += label;
            }
            let found = ledger.r2_online().unwrap();
            assert!((found - (1.0 - errors / online)).abs() < 1e-12, "{loss} {found}");
        }
        assert_eq!(followed("hinge", &[1.0, -1.0]).0.r2_online(), None);
        assert_eq!(followed("squared", &[0.0; 5]).0.r2_online(), None);
    }

    #[test]
    fn the_temporal_kappa_is_the_accuracy_beyond_that_of_the_last_label() {
        let labels: Vec<f64> = (0..300).map(|t| if t * t % 7 < 3 { 1.0 } else { -1.0 }).collect();
        for loss in ["logistic", "hinge", "zero-one"] {
            let (ledger, _) = followed(loss, &labels);
            // Its score says the opposite of the last label, and at first positive as that baseline does.
            let stays = labels.windows(2).filter(|pair| pair[0] == pair[1]).count() as f64;
            let first = f64::from(labels[0] > 0.0);
            let (accuracy, last) = ((first + 299.0 - stays) / 300.0, (first + stays) / 300.0);
            let kappa = ledger.kappa_temporal().unwrap();
            assert!((kappa - (accuracy - last) / (1.0 - last)).abs() < 1e-12, "{loss} {kappa}");
        }
        assert_eq!(followed("logistic", &[1.0; 20]).0.kappa_temporal(), None);
        assert_eq!(followed("squared", &labels).0.kappa_temporal(), None);
    }

    #[test]
    fn a_file_of_an_older_version_knows_no_baselines_and_continues() {
        let labels: Vec<f64> = (0..60).map(|t| f64::from(t % 3) - 1.0).collect();
        let (mut ledger, _) = followed("squared", &labels);
        let known = |ledger: &Ledger| {
            let risks = [ledger.online_constant_risk(), ledger.no_change_risk(), ledger.skill().map(|it| it.value)];
            (risks.map(|it| it.is_some()), ledger.label_order().is_some())
        };
        assert_eq!(known(&ledger), ([true; 3], true));
        let state = Archive::saved(|archive| ledger.persist(archive)).unwrap();
        let mut old = crate::archive::State::default();
        let is_new = |name: &str| {
            ["labels.", "has_labels"].iter().any(|new| name.starts_with(new))
                || name.ends_with(".online_constant")
                || name.ends_with(".no_change")
        };
        state.numbers().iter().filter(|it| !is_new(it.0)).for_each(|(name, &number)| old.set(name, number));
        state.columns().iter().filter(|it| !is_new(it.0)).for_each(|(name, it)| old.set_column(name, it.clone()));
        let mut loaded = Ledger::new(loss::parse("squared").unwrap());
        loaded.persist(&mut Archive::loading(old)).unwrap();
        for ledger in [&mut ledger, &mut loaded] {
            (0..40).for_each(|_| ledger.observe_one(0.25, 1.0, 1.0, Features::new(&[0], &[1.0]).unwrap()));
        }
        assert_eq!(known(&loaded), ([false; 3], false));
        let known_ever = |ledger: &Ledger| (ledger.sequential_risk(), ledger.recent_risk(), ledger.first_share());
        assert_eq!(known_ever(&loaded), known_ever(&ledger));
        // And is saved and loaded again as it is.
        let state = Archive::saved(|archive| loaded.persist(archive)).unwrap();
        let mut again = Ledger::new(loss::parse("squared").unwrap());
        again.persist(&mut Archive::loading(state)).unwrap();
        assert_eq!(known(&again), known(&loaded));
        assert_eq!(again.curve().points(), loaded.curve().points());
    }

    #[test]
    fn the_risk_at_any_time_continues_from_a_file_or_ends_with_one_of_an_older_version() {
        let observe = |ledger: &mut Ledger, rounds: std::ops::Range<u32>| {
            for t in rounds {
                let label = if t % 3 == 0 { -1.0 } else { 1.0 };
                ledger.observe_one(f64::from(t % 5) - 1.0, label, 1.0, Features::new(&[0], &[1.0]).unwrap());
            }
        };
        let new = || Ledger::new(loss::parse("logistic").unwrap());
        let (mut whole, mut begun, mut loaded, mut older) = (new(), new(), new(), new());
        observe(&mut whole, 0..500);
        observe(&mut begun, 0..200);
        let state = Archive::saved(|archive| begun.persist(archive)).unwrap();
        let mut old = crate::archive::State::default();
        state.numbers().iter().for_each(|(name, &number)| old.set(name, number));
        let kept = state.columns().iter().filter(|(name, _)| *name != "anytime");
        kept.for_each(|(name, column)| old.set_column(name, column.clone()));
        loaded.persist(&mut Archive::loading(state)).unwrap();
        older.persist(&mut Archive::loading(old)).unwrap();
        for ledger in [&mut loaded, &mut older] {
            observe(ledger, 200..500);
        }
        for kind in [BoundedLoss::Mistakes, BoundedLoss::Brier, BoundedLoss::Charged(10.0)] {
            let (low, high) = whole.anytime_risk(kind, 0.05).unwrap();
            assert!(low < high);
            assert_eq!(loaded.anytime_risk(kind, 0.05), Ok((low, high)));
            assert!(older.anytime_risk(kind, 0.05).unwrap_err().contains("did not keep its sums"));
        }
        let mistakes = whole.metrics().mistakes().unwrap() / 500.0;
        let (low, high) = whole.anytime_risk(BoundedLoss::Mistakes, 0.05).unwrap();
        assert!(low < mistakes && mistakes < high);
        assert!(whole.anytime_risk(BoundedLoss::Charged(0.5), 0.05).unwrap_err().contains("not within 0 and 0.5"));
        whole.observe_one(0.0, 1.0, 2.0, Features::new(&[0], &[1.0]).unwrap());
        assert!(whole.anytime_risk(BoundedLoss::Brier, 0.05).unwrap_err().contains("importance weights"));
    }

    #[test]
    fn an_uncertified_ledger_stays_so() {
        let mut ledger = ledger(&[1.0, 2.0]).uncertified();
        ledger.observe_one(0.25, 1.0, 1.0, Features::new(&[0], &[1.0]).unwrap());
        let mut restored = Ledger::new(loss::parse("absolute").unwrap());
        assert!(restored.sums().is_some() && restored.certificate().bound.is_ok());
        let state = Archive::saved(|archive| ledger.persist(archive)).unwrap();
        restored.persist(&mut Archive::loading(state)).unwrap();
        for ledger in [ledger, restored] {
            assert!(ledger.sums().is_none() && ledger.certificate().bound.is_err());
            assert_eq!((ledger.rounds(), ledger.sequential_risk(), ledger.distinct_features()), (3, 0.75, None));
        }
    }

    /// Of streams of coins, the mean of the points of gradient descent pays more than the bound on
    /// fewer than δ.
    #[test]
    fn the_bound_on_the_average_fails_as_rarely_as_it_says() {
        let (mut failures, streams, rounds) = (0, 400, 64);
        let mut state = 7u64;
        for _ in 0..streams {
            let (mut point, mut mean) = (0.0, 0.0);
            let mut ledger = Ledger::new(loss::parse("absolute").unwrap());
            for round in 1..=rounds {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let label = f64::from((state >> 60) < 6);
                ledger.observe_one(point, label, 1.0, Features::new(&[0], &[1.0]).unwrap());
                mean += point / f64::from(rounds);
                let g = if point > label {
                    1.0
                } else if point < label {
                    -1.0
                } else {
                    0.0
                };
                point = (point - g / f64::from(round).sqrt()).clamp(0.0, 1.0);
            }
            // E|mean − y| for y = 1 with probability 6/16.
            let risk = mean * 10.0 / 16.0 + (1.0 - mean) * 6.0 / 16.0;
            failures += u32::from(risk > ledger.averaged_risk(1.0, 0.2).unwrap());
        }
        assert!(f64::from(failures) <= 0.2 * f64::from(streams), "{failures}");
    }
}
