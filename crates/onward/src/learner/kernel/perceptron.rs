//! The kernel perceptron (Aizerman, Braverman, Rozonoer 1964; Freund, Schapire 1999): the
//! perceptron in the space of a kernel.
//!
//! Predict 1 if s = b + Σ_j h_j y_j K(x_j, x) ≥ 0, else −1, the sum over the rounds with an update;
//! when y·s ≤ 0 the row enters with the coefficient h·y.
//!
//! The charged loss is 0/1. **Guarantee**, as for the perceptron with inner products K, for a
//! positive definite kernel and all rows kept: over the M rounds with an update, for every f of
//! norm ≤ U in the kernel's space,
//! M ≤ H(f) + Σ h·y·b + U√(Σ h²K(x, x) − 2h·y·b), where H(f) = Σ h·max(0, 1 − y(b + f(x))).
//! If some f has margin γ on every example and K(x, x) ≤ D², M ≤ (‖f‖D/γ)²: where classes can be
//! told apart the support stops growing. Elsewhere it grows with the mistakes; a [`Budget`] bounds it.
//! A round costs O(non-zeros of the support).

use std::sync::Arc;

use super::descent::lack;
use super::expansion::{BUDGET, BUDGETED, Budget, Expansion, KEEP, SIGMOID, THRESHOLD};
use super::function::{COEF, DEGREE, GAMMA, KERNEL, Kernel};
use crate::archive::Archive;
use crate::guarantee::{Comparator, Guarantee, GuaranteeKind};
use crate::loss::{LossKind, ZeroOne};
use crate::parameter::Description;
use crate::protocol::{COMPARATOR_RADIUS, LearnerDescriptor, Losses, Promise, STANDARDISE};
use crate::{Error, Features, Loss, ScoreLearner, SharedLoss};

/// The kernel perceptron.
///
/// ```
/// use onward::learner::kernel::{Budget, Kernel, KernelPerceptron};
/// use onward::{Features, ScoreLearner, loss::ZeroOne};
/// let mut learner = KernelPerceptron::new(Kernel::Rbf { gamma: 1.0 }, Budget::NONE, 1.0, &ZeroOne)?;
/// // Exclusive or: no line tells these apart.
/// let corners = [([0.0, 0.0], -1.0), ([0.0, 1.0], 1.0), ([1.0, 0.0], 1.0), ([1.0, 1.0], -1.0)];
/// for (x, label) in corners.iter().cycle().take(40) {
///     learner.learn_one(Features::new(&[1, 2], x)?, *label, 1.0);
/// }
/// for (x, label) in corners {
///     assert!(learner.predict_one(Features::new(&[1, 2], &x)?) * label > 0.0);
/// }
/// # Ok::<(), onward::Error>(())
/// ```
pub struct KernelPerceptron {
    radius: f64,
    function: Expansion,
    /// M: the importance of rounds with an update.
    updates: f64,
    /// Σ h²K(x, x) − 2h·y·b over rounds with an update: at least ‖f‖².
    squares: f64,
    /// Σ h·y·b over rounds with an update.
    offsets: f64,
}

impl KernelPerceptron {
    /// A perceptron whose guarantee is printed for functions of norm at most the radius.
    ///
    /// # Errors
    /// When the radius is not positive and finite, a parameter of the kernel or of the budget is out
    /// of its range, or the loss is one that the perceptron does not pay.
    pub fn new(kernel: Kernel, budget: Budget, radius: f64, loss: &dyn Loss) -> Result<Self, Error> {
        COMPARATOR_RADIUS.check(radius)?;
        ENTRY.check_loss(loss)?;
        let function = Expansion::new(kernel, budget)?;
        Ok(Self { radius, function, updates: 0.0, squares: 0.0, offsets: 0.0 })
    }

    /// M: rounds with an update, weighted by importance.
    pub fn updates(&self) -> f64 {
        self.updates
    }

    /// How many rows are kept.
    pub fn support(&self) -> usize {
        self.function.rows.len()
    }
}

impl ScoreLearner for KernelPerceptron {
    fn predict_one(&self, x: Features<'_>) -> f64 {
        self.function.score(x)
    }

    fn learn_one(&mut self, x: Features<'_>, label: f64, weight: f64) -> f64 {
        let met = self.function.meet(x);
        let prediction = x.offset() + met.value;
        if label * prediction > 0.0 {
            return prediction;
        }
        self.function.add(weight * label, &met);
        self.updates += weight;
        let offset = weight * label * x.offset();
        self.squares += weight * weight * met.itself - 2.0 * offset;
        self.offsets += offset;
        prediction
    }

    fn loss(&self) -> SharedLoss {
        Arc::new(ZeroOne)
    }

    fn describe(&self) -> String {
        let kernel = self.function.kernel.describe(Description::of("kernel-perceptron"));
        self.function.budget.describe(kernel.with(&COMPARATOR_RADIUS, self.radius)).into()
    }

    fn updates(&self) -> Option<f64> {
        Some(Self::updates(self))
    }

    fn guarantee(&self) -> Guarantee {
        if let Some(flaw) = self.function.flaw() {
            return Guarantee::none(GuaranteeKind::Own, flaw);
        }
        let bound = self.offsets + self.radius * self.squares.max(0.0).sqrt();
        Guarantee::own(Comparator::KernelHingeOnUpdates(self.radius), bound)
    }

    fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        archive.size("updates", &mut self.updates)?;
        archive.finite("squares", &mut self.squares)?;
        archive.finite("offsets", &mut self.offsets)?;
        self.function.persist(archive)
    }
}

/// The kernel perceptron by name.
pub(crate) const ENTRY: LearnerDescriptor = LearnerDescriptor {
    name: "kernel-perceptron",
    summary: "the perceptron in a kernel's space; binary; without a budget it is exact, and memory grows with the \
              mistakes",
    losses: Losses::Only(&[LossKind::ZeroOne]),
    parameters: &[KERNEL, GAMMA, COEF, DEGREE, COMPARATOR_RADIUS, BUDGET, KEEP, THRESHOLD, STANDARDISE],
    promises: &[
        Promise::elsewhere("", "tests/kernels.rs").at_most(2000),
        Promise::other("kernel=linear"),
        Promise::other("coef=2,degree=2,gamma=0.2,kernel=polynomial"),
        Promise::other("kernel=laplacian,radius=3"),
        Promise::never("kernel=sigmoid", SIGMOID).at_most(2000),
        Promise::never("budget=20", BUDGETED).at_most(2000),
        Promise::never("budget=20,keep=smallest", BUDGETED).at_most(2000),
        Promise::never("budget=20,keep=projectron,threshold=0.2", BUDGETED).at_most(2000),
    ],
    build: |arguments| {
        let (kernel, budget) = (Kernel::asked(arguments), Budget::asked(arguments)?);
        let (radius, loss) = (arguments.number("radius"), arguments.loss());
        Ok(Box::new(KernelPerceptron::new(kernel, budget, radius, loss.as_ref())?))
    },
    // At most T updates of size √K(x, x) each.
    plan: |arguments, scales| {
        let kernel = Kernel::asked(arguments);
        if let Some(lack) = lack(&kernel, &Budget::asked(arguments)?)? {
            return Ok(lack);
        }
        let radius = arguments.number("radius");
        let bound = radius * (kernel.of_square(scales.norm * scales.norm) * scales.rounds).sqrt();
        Ok(Guarantee::own(Comparator::KernelHingeOnUpdates(radius), bound))
    },
};
