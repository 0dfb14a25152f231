//! Kernel stochastic gradient descent (Kivinen, Smola, Williamson 2004): gradient descent on a
//! convex loss in the space of a kernel.
//!
//! The gradient of ℓ(f(x_t), y_t) in f is g_t·K(x_t, ·), so f_{t+1} = f_t + c_t·K(x_t, ·) with
//! c_t = −η_t h_t g_t (with `step=flow` the gradient flow of the loss for the time η_t h_t, which
//! never overshoots, keeps the bounds, and equals it for small steps), and the score is
//! p = b + Σ_j c_j K(x_j, x), b the row's offset.
//!
//! Rates: a constant η; or self-tuned, η_t = D/√(2 Σ_{s≤t} (h_s g_s)² K(x_s, x_s)) with D = 2U,
//! and then f is projected on the ball ‖f‖ ≤ U of the kernel's space, which is scaling.
//!
//! **Guarantee**, for a positive definite kernel and all rows kept, against every f with ‖f‖ ≤ U:
//!
//! - constant: R_T(f) ≤ U²/(2η) + (η/2) Σ (h_t g_t)² K(x_t, x_t);
//! - self-tuned: R_T(f) ≤ D²/(2η_T) + ½ Σ η_t (h_t g_t)² K(x_t, x_t) ≤ √2·D·√(Σ (h g)² K).
//!
//! They are those of gradient descent on vectors, whose proofs use inner products only. There is
//! none with a budget, nor for `sigmoid`, which is no inner product (nothing is projected there).
//!
//! **Cost.** Exact: every round in which the loss has a slope adds a row; a round costs O(non-zeros
//! of all of them), T rounds O(T²), and memory grows with the stream. With a [`Budget`] both are
//! bounded.

use super::expansion::{BUDGET, BUDGETED, Budget, CUT, Expansion, KEEP, SIGMOID, THRESHOLD};
use super::function::{COEF, DEGREE, GAMMA, KERNEL, Kernel};
use crate::archive::Archive;
use crate::guarantee::{Comparator, Guarantee, GuaranteeKind};
use crate::parameter::{Description, ParameterDescriptor, positive};
use crate::protocol::{
    FIXED_RATE, LearnerDescriptor, Losses, Params, ProblemBounds, Promise, STANDARDISE, STEP, StepKind,
};
use crate::{Error, Features, ScoreLearner, SharedLoss};

/// How fast a kernel learner moves.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum KernelRate {
    /// η_t = D/√(2 Σ (h g)² K(x, x)), in the ball.
    SelfTuned,
    /// η, unconstrained.
    Constant(f64),
}

/// Kernel gradient descent.
///
/// ```
/// use onward::learner::kernel::{Budget, Kernel, KernelDescent, KernelRate};
/// use onward::{Features, ScoreLearner, loss};
/// let kernel = Kernel::Rbf { gamma: 1.0 };
/// let mut learner = KernelDescent::new(loss::parse("squared")?, kernel, Budget::NONE, KernelRate::SelfTuned, 10.0)?;
/// // y = x² is not linear in x. The points come in mixed order.
/// for round in 0..300 {
///     let x = [(8 * round % 21) as f32 / 10.0 - 1.0];
///     learner.learn_one(Features::new(&[1], &x)?, f64::from(x[0] * x[0]), 1.0);
/// }
/// let at = |x: f32| learner.predict_one(Features::new(&[1], &[x]).unwrap());
/// assert!((at(-0.9) - 0.81).abs() < 0.05 && at(0.0).abs() < 0.05 && (at(0.9) - 0.81).abs() < 0.05);
/// # Ok::<(), onward::Error>(())
/// ```
pub struct KernelDescent {
    loss: SharedLoss,
    function: Expansion,
    rate: KernelRate,
    step: StepKind,
    radius: f64,
    /// Σ (h g)² K(x, x).
    squares: f64,
    /// η_T.
    last_rate: f64,
    /// Σ η_t (h g)² K(x, x).
    paid: f64,
}

impl KernelDescent {
    /// By the plain gradient. The radius is that of the ball in the kernel's space, which holds f if
    /// rates are self-tuned, and the comparators of the guarantee always.
    ///
    /// # Errors
    /// When the radius or η is not from 1e-30 to 1e30, or a parameter of the kernel or of the
    /// budget is out of its range.
    pub fn new(loss: SharedLoss, kernel: Kernel, budget: Budget, rate: KernelRate, radius: f64) -> Result<Self, Error> {
        RADIUS.check(radius)?;
        if let KernelRate::Constant(eta) = rate {
            ETA.check(eta)?;
        }
        let function = Expansion::new(kernel, budget)?;
        let step = StepKind::Gradient;
        Ok(Self { loss, function, rate, step, radius, squares: 0.0, last_rate: 0.0, paid: 0.0 })
    }

    /// The same with this kind of steps.
    #[must_use]
    pub fn with_step(self, step: StepKind) -> Self {
        Self { step, ..self }
    }

    /// How many rows are kept.
    pub fn support(&self) -> usize {
        self.function.rows.len()
    }

    /// ‖f‖² in the kernel's space.
    pub fn norm_squared(&self) -> f64 {
        self.function.square
    }

    /// Takes in a gradient of this squared norm and returns η_t.
    fn rate_with(&mut self, square: f64) -> f64 {
        self.squares = (self.squares + square).min(f64::MAX);
        self.last_rate = match self.rate {
            KernelRate::Constant(eta) => eta,
            KernelRate::SelfTuned if self.squares > 0.0 => {
                2.0 * self.radius / (std::f64::consts::SQRT_2 * self.squares.sqrt())
            }
            // No gradient so far: no step, and no rate to speak of.
            KernelRate::SelfTuned => 0.0,
        };
        self.paid = (self.paid + self.last_rate * square).min(f64::MAX);
        self.last_rate
    }

    fn bound(&self) -> f64 {
        // Self-tuned rates: projections move between points of a ball of this diameter. A constant
        // one: from 0, freely, toward a comparator that is at most a radius away.
        let distance = if self.rate == KernelRate::SelfTuned { 2.0 * self.radius } else { self.radius };
        match self.last_rate > 0.0 {
            true => (distance * distance / (2.0 * self.last_rate) + 0.5 * self.paid).min(f64::MAX),
            false => 0.0,
        }
    }
}

impl ScoreLearner for KernelDescent {
    fn predict_one(&self, x: Features<'_>) -> f64 {
        self.function.score(x)
    }

    fn learn_one(&mut self, x: Features<'_>, label: f64, weight: f64) -> f64 {
        let met = self.function.meet(x);
        let p = x.offset() + met.value;
        let g = self.loss.derivative(p, label);
        let rate = self.rate_with((weight * g) * (weight * g) * met.itself.abs());
        let c = match self.step {
            StepKind::Flow => self.loss.importance_step(p, label, rate * weight, met.itself.max(0.0)),
            StepKind::Gradient => -rate * weight * g,
        };
        self.function.add(c, &met);
        if self.rate == KernelRate::SelfTuned && self.function.kernel.is_positive_definite() {
            self.function.project(self.radius);
        }
        p
    }

    fn loss(&self) -> SharedLoss {
        SharedLoss::clone(&self.loss)
    }

    fn describe(&self) -> String {
        let eta = match self.rate {
            KernelRate::SelfTuned => None,
            KernelRate::Constant(eta) => Some(eta),
        };
        let kernel = self.function.kernel.describe(Description::of("kernel"));
        let rate = kernel.with_optional(&ETA, eta).with(&RADIUS, self.radius).with(&STEP, self.step);
        self.function.budget.describe(rate).into()
    }

    fn guarantee(&self) -> Guarantee {
        if let Some(flaw) = self.function.flaw() {
            return Guarantee::none(GuaranteeKind::Own, flaw);
        }
        if self.squares == f64::MAX {
            return Guarantee::none(GuaranteeKind::Own, "the squares of gradients became too large to add up");
        }
        Guarantee::own(Comparator::KernelBall(self.radius), self.bound())
    }

    fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        archive.size("squares", &mut self.squares)?;
        archive.size("last_rate", &mut self.last_rate)?;
        archive.size("paid", &mut self.paid)?;
        self.function.persist(archive)
    }
}

/// What a theorem of exact kernel learners lacks with these parameters.
pub(super) fn lack(kernel: &Kernel, budget: &Budget) -> Result<Option<Guarantee>, Error> {
    let flaw = Expansion::new(*kernel, *budget)?.flaw();
    Ok(flaw.map(|flaw| Guarantee::none(GuaranteeKind::Own, flaw)))
}

fn plan(arguments: &Params<'_>, scales: &ProblemBounds) -> Result<Guarantee, Error> {
    let kernel = Kernel::asked(arguments);
    if let Some(lack) = lack(&kernel, &Budget::asked(arguments)?)? {
        return Ok(lack);
    }
    let (radius, loss) = (arguments.number("radius"), arguments.loss());
    // √K(x, x): it grows with ‖x‖ for all these kernels.
    let norm = kernel.of_square(scales.norm * scales.norm).sqrt();
    let bound = match arguments.optional_number("eta") {
        None => {
            let gradient = scales.slope(loss.as_ref(), radius * norm) * norm;
            2.0 * radius * gradient * (2.0 * scales.rounds).sqrt()
        }
        Some(eta) => {
            let slope = loss.lipschitz(1e12);
            if slope > loss.lipschitz(1e6) {
                let reason = "without a ball the scores, and so the slopes of this loss, have no bound in advance; \
                              use eta=auto, or a loss of bounded slope";
                return Ok(Guarantee::none(GuaranteeKind::Own, reason));
            }
            radius * radius / (2.0 * eta) + 0.5 * eta * scales.rounds * (slope * norm) * (slope * norm)
        }
    };
    Ok(Guarantee::own(Comparator::KernelBall(radius), bound))
}

const ETA: ParameterDescriptor = positive("eta")
    .or("auto")
    .meaning("constant learning rate; auto: tuned from the gradients, in the ball")
    .remedy("a smaller eta");

const RADIUS: ParameterDescriptor = positive("radius").default("10").meaning(
    "radius of the ball in the kernel's space; the radius of the run \
        replaces this default",
);

/// `kernel` by name.
pub(crate) const ENTRY: LearnerDescriptor = LearnerDescriptor {
    name: "kernel",
    summary: "kernel gradient descent; without a budget it is exact, and time per round and memory grow with the \
              stream",
    losses: Losses::Convex,
    parameters: &[KERNEL, GAMMA, COEF, DEGREE, ETA, RADIUS, STEP, BUDGET, KEEP, THRESHOLD, STANDARDISE],
    promises: &[
        Promise::elsewhere("", "tests/kernels.rs").at_most(2000),
        Promise::always("kernel=linear").within(Comparator::Ball(10.0)).at_most(2000),
        Promise::linear("kernel=linear,eta=0.05", FIXED_RATE).overflowing(CUT).at_most(2000),
        Promise::linear("kernel=linear,eta=0.05,step=flow", FIXED_RATE).repeating().at_most(2000),
        Promise::other("coef=2,degree=2,gamma=0.2,kernel=polynomial"),
        Promise::other("kernel=laplacian,radius=3"),
        Promise::never("kernel=sigmoid", SIGMOID).at_most(2000),
        Promise::never("budget=20", BUDGETED).at_most(2000),
        Promise::never("budget=20,keep=smallest", BUDGETED).at_most(2000),
        Promise::never("budget=20,keep=projectron,threshold=0.2", BUDGETED).at_most(2000),
    ],
    build: |arguments| {
        let rate = arguments.optional_number("eta").map_or(KernelRate::SelfTuned, KernelRate::Constant);
        let (kernel, budget) = (Kernel::asked(arguments), Budget::asked(arguments)?);
        let learner = KernelDescent::new(arguments.loss(), kernel, budget, rate, arguments.number("radius"))?;
        Ok(Box::new(learner.with_step(StepKind::from_arguments(arguments))))
    },
    plan,
};
