//! Stochastic gradient descent with schedules of the step size, penalties, averaging and
//! mini-batches (Robbins, Monro 1951; Bottou 2010), on all of R^d.
//!
//! w_{t+1} = w_t·(1 − η_t h_t α(1−ρ)) − η_t z_t, then the L1 penalty η_t h_t αρ of the
//! cumulative truncated kind (Tsuruoka, Tsujii, Ananiadou 2009); z_t the gradient of round t. α is the strength of the
//! penalty, ρ the part of L1 in it (0: l2, 1: l1, between: elastic net). The bias (feature 0) is
//! penalised as any weight. A row of weight h counts h times, in the loss and in the penalty:
//! z_t = h_t g_t x_t. With `step=flow` the step of the loss is gradient flow for time η_t h_t.
//!
//! *Mini-batches* of b: the gradients of b rows at one point, and then one step with their mean
//! (and the mean of their weights in the penalty).
//!
//! *Averaging* from round k on (Polyak, Ruppert): the mean of the points that made the
//! predictions, beside the last point, which goes on predicting.
//!
//! Rates: [`Schedule`].
//!
//! **Guarantee**: with a constant rate, no penalty and no mini-batches it is [`osd`](super::osd) on
//! R^d: R_T(u) ≤ ‖u‖²/(2η) + (η/2) Σ‖z_t‖² for every u. Otherwise none: on R^d nothing bounds how
//! far rates that fall let the point go, and a penalty pulls it away from where the losses are small.
//!
//! Cost: O(non-zeros) per round, penalties and average included, but for the average under an L1
//! penalty, which goes over all weights each round: O(d).

mod penalised;
mod schedule;

use crate::optimizer::prelude::*;
use penalised::Penalised;
use schedule::Rates;
pub use schedule::Schedule;

use super::ogd::promise_of_fixed_rate;
use crate::INDEX_LIMIT;
use crate::domain::Domain;
use crate::numeric::sum::{self, held};

/// What pulls weights towards 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Penalty {
    /// Nothing.
    None,
    /// ½α‖w‖₂².
    L2(f64),
    /// α‖w‖₁.
    L1(f64),
    /// α(ρ‖w‖₁ + ½(1−ρ)‖w‖₂²).
    ElasticNet {
        /// α.
        alpha: f64,
        /// ρ, from 0 to 1.
        ratio: f64,
    },
}

impl Penalty {
    /// α and ρ.
    fn parts(self) -> Option<(f64, f64)> {
        match self {
            Self::None => None,
            Self::L2(alpha) => Some((alpha, 0.0)),
            Self::L1(alpha) => Some((alpha, 1.0)),
            Self::ElasticNet { alpha, ratio } => Some((alpha, ratio)),
        }
    }

    /// α(1−ρ) and αρ.
    fn strengths(self) -> (f64, f64) {
        self.parts().map_or((0.0, 0.0), |(alpha, ratio)| (alpha * (1.0 - ratio), alpha * ratio))
    }

    fn check(self) -> Result<Self, Error> {
        if let Some((alpha, ratio)) = self.parts() {
            ALPHA.check(alpha)?;
            RATIO.check(ratio)?;
        }
        Ok(self)
    }

    /// Adds itself to what a learner says of itself.
    fn describe(self, learner: Description) -> Description {
        match self {
            Self::None => learner,
            Self::L2(_) => learner.with(&PENALTY, "l2"),
            Self::L1(_) => learner.with(&PENALTY, "l1"),
            Self::ElasticNet { ratio, .. } => learner.with(&RATIO, ratio).with(&PENALTY, "elastic-net"),
        }
    }
}

/// Stochastic gradient descent.
///
/// ```
/// use onward::Features;
/// use onward::optimizer::sgd::{Penalty, Schedule, Sgd};
/// use onward::protocol::Optimizer;
/// let mut w = Sgd::new(Schedule::Constant(0.5), Penalty::L1(0.25))?;
/// w.observe(-4.0, Features::new(&[0], &[1.0])?);
/// // 0.5·4 less the penalty of 0.5·0.25.
/// assert_eq!(w.weight(0), 1.875);
/// w.observe(1.0, Features::new(&[7], &[1.0])?);
/// // An absent feature pays the penalty too.
/// assert_eq!(w.weight(0), 1.75);
/// # Ok::<(), onward::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Sgd {
    rates: Rates,
    step: StepKind,
    penalty: Penalty,
    /// k; 0: no averaging.
    average_from: f64,
    /// What the rounds from k on have paid, if k > 1. Models of earlier versions do not know.
    averaged_paid: Option<f64>,
    /// b.
    batch: f64,
    /// The size of the comparators of the guarantee.
    radius: f64,
    weights: Penalised,
    /// Rounds so far.
    rounds: f64,
    /// η_t of the step that is being made, and the weight of its rows.
    rate: f64,
    weight: f64,
    /// Of the batch that is being filled: −h·g·x by entries, rows, Σh.
    pending: Vec<(u32, f64)>,
    rows: f64,
    pending_weight: f64,
    /// Σ‖z_t‖².
    squares: f64,
}

impl Sgd {
    /// With one row a step and no average.
    ///
    /// # Errors
    /// When a rate or α is not from 1e-30 to 1e30, a power or ρ not from 0 to 1.
    pub fn new(schedule: Schedule, penalty: Penalty) -> Result<Self, Error> {
        let (schedule, penalty) = (schedule.check()?, penalty.check()?);
        Ok(Self {
            rates: Rates::new(schedule),
            step: StepKind::Gradient,
            penalty,
            average_from: 0.0,
            averaged_paid: None,
            batch: 1.0,
            radius: 1.0,
            weights: Penalised::new(penalty.strengths().1 > 0.0, false),
            rounds: 0.0,
            rate: 0.0,
            weight: 0.0,
            pending: Vec::new(),
            rows: 0.0,
            pending_weight: 0.0,
            squares: 0.0,
        })
    }

    /// With this kind of steps. A batch of several rows takes the gradient, whatever is said here.
    #[must_use]
    pub fn with_step(self, step: StepKind) -> Self {
        Self { step, ..self }
    }

    /// With the average of the points from this round on, the first being 1; 0: none.
    pub fn average_from(self, round: u64) -> Self {
        let weights = Penalised::new(self.penalty.strengths().1 > 0.0, round > 0);
        Self { average_from: round as f64, averaged_paid: (round > 1).then_some(0.0), weights, ..self }
    }

    /// With one step for this many rows.
    ///
    /// # Errors
    /// When it is 0, or more than a million.
    pub fn batches_of(self, rows: u32) -> Result<Self, Error> {
        Ok(Self { batch: f64::from(BATCH.check(rows)?), ..self })
    }

    /// With the guarantee printed for comparators of this size.
    ///
    /// # Errors
    /// When it is not from 1e-30 to 1e30.
    pub fn with_radius(self, radius: f64) -> Result<Self, Error> {
        Ok(Self { radius: RADIUS.check(radius)?, ..self })
    }

    /// The L2 penalty of a step at this rate for this weight, and the L1 penalty that is then due.
    fn shrink(&mut self, rate: f64, weight: f64) -> f64 {
        let (l2, l1) = self.penalty.strengths();
        if l2 > 0.0 {
            self.weights.shrink((1.0 - rate * weight * l2).max(0.0));
        }
        rate * weight * l1
    }

    /// A step of a whole batch.
    fn step_of_batch(&mut self) {
        let rate = self.rates.step();
        let pending = std::mem::take(&mut self.pending);
        pending.iter().for_each(|&(index, _)| self.weights.catch_up(index));
        let due = self.shrink(rate, self.pending_weight / self.batch);
        pending.iter().for_each(|&(index, entry)| self.weights.add(index, rate * (entry / self.batch)));
        self.weights.owe(due);
        pending.iter().for_each(|&(index, _)| self.weights.catch_up(index));
        // Its memory is used again.
        self.pending = pending;
        self.pending.clear();
        (self.rows, self.pending_weight) = (0.0, 0.0);
    }
}

impl Optimizer for Sgd {
    fn dot(&self, x: Features<'_>) -> f64 {
        self.weights.dot(x)
    }

    fn prefetch(&mut self, x: Features<'_>) {
        self.weights.prefetch(x);
    }

    fn observe_loss(&mut self, loss: &dyn Fn() -> f64, weight: f64) {
        self.rates.observe_loss(loss, weight);
        if let Some(paid) = self.averaged_paid.as_mut().filter(|_| self.rounds + 1.0 >= self.average_from) {
            *paid = held(*paid + loss());
        }
    }

    fn prepare(&mut self, g: f64, h: f64, x: Features<'_>) -> Step {
        self.rounds += 1.0;
        if self.average_from > 0.0 && self.rounds >= self.average_from {
            self.weights.count();
        }
        let q = sum::squares(x.values());
        self.squares = held(self.squares + held((h * g) * (h * g) * q));
        if self.batch > 1.0 {
            self.weight = h;
            return Step::Gradient { time: h };
        }
        (self.rate, self.weight) = (self.rates.step(), h);
        self.step.step(self.rate * h, q)
    }

    fn advance(&mut self, u: f64, x: Features<'_>) {
        if self.batch > 1.0 {
            let entries = x.iter().filter(|(_, value)| *value != 0.0);
            self.pending.extend(entries.map(|(index, value)| (index, u * f64::from(value))));
            self.rows += 1.0;
            self.pending_weight += self.weight;
            if self.rows >= self.batch {
                self.step_of_batch();
            }
            return;
        }
        self.weights.locate(x);
        self.weights.catch_up_all(x);
        let due = self.shrink(self.rate, self.weight);
        self.weights.add_all(u, x);
        if due > 0.0 {
            self.weights.owe(due);
            self.weights.catch_up_all(x);
        }
    }

    fn weight(&self, index: u32) -> f64 {
        self.weights.get(index)
    }

    fn averaged(&self) -> Option<Vec<(u32, f64)>> {
        self.weights.averaged()
    }

    fn late_average(&self) -> Option<(f64, f64)> {
        let points = (self.rounds - self.average_from + 1.0).max(0.0);
        (self.average_from > 1.0).then(|| (points, self.averaged_paid.unwrap_or(f64::NAN)))
    }

    fn guarantee(&self) -> Guarantee {
        match self.rates.schedule() {
            Schedule::Constant(eta) if self.batch == 1.0 && self.penalty == Penalty::None => {
                let bound = self.radius * self.radius / (2.0 * eta) + 0.5 * eta * self.squares;
                bound_of_sums(Comparator::Ball(self.radius), bound, &[self.squares])
            }
            _ => Guarantee::missing(NO_BOUND),
        }
    }

    fn describe(&self) -> String {
        let alpha = match (self.penalty.parts(), self.rates.schedule()) {
            (Some((alpha, _)), _) | (_, Schedule::Optimal(alpha)) => Some(alpha),
            _ => None,
        };
        let sgd = Description::of("sgd");
        let sgd = if let Some(alpha) = alpha { sgd.with(&ALPHA, alpha) } else { sgd };
        let sgd = self.rates.schedule().describe(sgd.with(&AVERAGE, self.average_from).with(&BATCH, self.batch));
        let sgd = self.penalty.describe(sgd).with(&RADIUS, self.radius);
        if self.batch > 1.0 { sgd.into() } else { sgd.with(&STEP, self.step).into() }
    }

    fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        visit_fields!(archive.number(self.rounds, self.squares));
        archive.optional("averaged_paid", &mut self.averaged_paid)?;
        archive.part("rates", |archive| self.rates.persist(archive))?;
        archive.part("point", |archive| self.weights.persist(archive))?;
        if self.batch > 1.0 {
            visit_fields!(archive.number(self.rows, self.pending_weight));
            let fields = [
                ("pending.index", Field::U32(&|pending: &mut (u32, f64)| &mut pending.0)),
                ("pending.step", Field::F64(&|it| &mut it.1)),
            ];
            archive.records(&mut self.pending, &(0, 0.0), &fields)?;
            let are_indices = self.pending.iter().all(|&(index, _)| index < INDEX_LIMIT);
            archive.check(are_indices, "pending.index", "must be below 2147483648")?;
        }
        Ok(())
    }
}

const NO_BOUND: &str = "on all of R^d only a constant rate without penalty and mini-batches has a bound";

const RADIUS: ParameterDescriptor = positive("radius").default("1").meaning(COMPARATOR_RADIUS.meaning);

const SCHEDULE: ParameterDescriptor = words(
    "schedule",
    &[
        ("root", "eta0/√t"),
        ("constant", "eta0"),
        ("invscaling", "eta0/t^power"),
        ("optimal", "1/(alpha·(t0 + t − 1)), t0 = alpha^(−3/4)"),
        ("adaptive", "eta0, divided by 5 after each window in which the loss did not fall"),
    ],
)
.meaning("schedule of the learning rate");

const ETA: ParameterDescriptor =
    positive("eta0").default("0.5").meaning("initial learning rate").unless("schedule=optimal").remedy(
        "a smaller \
            eta0",
    );

const POWER: ParameterDescriptor = number("power", 0.0..=1.0)
    .default("0.5")
    .meaning("exponent with which the rate falls")
    .only_with("schedule=invscaling");

const PATIENCE: ParameterDescriptor = whole("patience", 1..=1 << 53)
    .default("1000")
    .meaning("rounds per window of the loss")
    .only_with("schedule=adaptive");

const PENALTY: ParameterDescriptor = words(
    "penalty",
    &[
        ("none", "no penalty"),
        ("l2", "½·alpha·‖w‖₂²"),
        ("l1", "alpha·‖w‖₁"),
        (
            "elastic-net",
            "a mix of both, set by \
                l1-ratio",
        ),
    ],
)
.meaning("regularisation");

const ALPHA: ParameterDescriptor = positive("alpha")
    .default("0.0001")
    .meaning("strength of the penalty; schedule=optimal uses it too")
    .only_with("penalty or schedule=optimal");

const RATIO: ParameterDescriptor = number("l1-ratio", 0.0..=1.0)
    .default("0.15")
    .meaning("share of L1 in the penalty")
    .only_with("penalty=elastic-net");

const AVERAGE: ParameterDescriptor = whole("average", 0..=1 << 53)
    .default("0")
    .meaning("keep the average of the weights from this round on, counting from 1; 0: no average")
    .quiet();

const BATCH: ParameterDescriptor = whole("batch", 1..=1_000_000).default("1").meaning("rows per step").quiet();

const STEP: ParameterDescriptor = crate::protocol::STEP.unless("batch");

fn schedule(arguments: &Params<'_>) -> Schedule {
    let eta = arguments.number("eta0");
    match arguments.text("schedule") {
        "constant" => Schedule::Constant(eta),
        "invscaling" => Schedule::InverseScaling { eta, power: arguments.number("power") },
        "optimal" => Schedule::Optimal(arguments.number("alpha")),
        "adaptive" => Schedule::Adaptive { eta, patience: arguments.number("patience") },
        _ => Schedule::Root(eta),
    }
}

fn penalty(arguments: &Params<'_>) -> Penalty {
    let alpha = arguments.number("alpha");
    match arguments.text("penalty") {
        "l2" => Penalty::L2(alpha),
        "l1" => Penalty::L1(alpha),
        "elastic-net" => Penalty::ElasticNet { alpha, ratio: arguments.number("l1-ratio") },
        _ => Penalty::None,
    }
}

/// `sgd` by name.
pub(crate) const ENTRY: LearnerDescriptor = LearnerDescriptor {
    name: "sgd",
    summary: "stochastic gradient descent with schedules, penalties, averaging and mini-batches",
    losses: Losses::Convex,
    parameters: &[SCHEDULE, ETA, POWER, PATIENCE, PENALTY, ALPHA, RATIO, AVERAGE, BATCH, RADIUS, STEP, STANDARDISE],
    promises: &[
        Promise::never("", NO_BOUND),
        Promise::linear("eta0=0.05,schedule=constant", FIXED_RATE),
        Promise::linear("eta0=0.05,schedule=constant,step=flow", FIXED_RATE).repeating(),
        Promise::other("eta0=0.2,power=0.3,schedule=invscaling"),
        Promise::other("eta0=0.1,patience=20,schedule=adaptive"),
        // Its first rates are large: plain steps of the squared loss run away.
        Promise::other("alpha=0.01,schedule=optimal,step=flow"),
        Promise::other("alpha=0.001,penalty=l2"),
        Promise::other("alpha=0.001,penalty=l1"),
        Promise::other("alpha=0.001,l1-ratio=0.5,penalty=elastic-net"),
        Promise::other("average=5,batch=4,radius=2"),
    ],
    build: |arguments| {
        let optimizer = Sgd::new(schedule(arguments), penalty(arguments))?
            .with_step(StepKind::from_arguments(arguments))
            .average_from(arguments.whole("average"))
            .batches_of(arguments.whole("batch") as u32)?
            .with_radius(arguments.number("radius"))?;
        Linear::learner(arguments, optimizer)
    },
    plan: |arguments, scales| {
        let is_plain = penalty(arguments) == Penalty::None && arguments.whole("batch") == 1;
        match schedule(arguments) {
            Schedule::Constant(eta) if is_plain => {
                let (radius, loss) = (arguments.number("radius"), arguments.loss());
                Ok(promise_of_fixed_rate(Domain::All, eta, radius, loss.as_ref(), scales))
            }
            _ => Ok(Guarantee::missing(NO_BOUND)),
        }
    },
};
