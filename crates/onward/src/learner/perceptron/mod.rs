//! The perceptron (Rosenblatt 1958) and its variants.
//!
//! Predict 1 if s = b + ⟨w, x⟩ ≥ 0, else −1, b being the row's offset. When y·s ≤ 0,
//! w += h·y·x. A learning rate would only scale w.
//!
//! The charged loss is 0/1. **Guarantee** (Novikoff 1962; Freund, Schapire 1999):
//! over the rounds with an update, of which there are M, and for every u,
//! M ≤ H(u) + ‖u‖√(Σ‖x‖²), where H(u) = Σ max(0, 1 − y⟨u, x⟩) and both sums are
//! over those rounds only. Sign mistakes may be fewer than M, since a score of 0
//! is updated whatever the label. So the mistakes exceed the hinge loss of any u
//! with ‖u‖ ≤ U by at most U√(Σ‖x‖²). In closed form, with X the largest ‖x‖ of an update and H(u) over
//! all rounds, M ≤ H + (‖u‖X)² + ‖u‖X√H; if u has the margin γ on every example, M ≤ (X/γ)², however long the
//! stream ([`Novikoff`]).
//!
//! With offsets, of which y·b = 0 is the usual case, the same proof goes: an update adds
//! h²‖x‖² + 2h·y⟨w, x⟩ ≤ h²‖x‖² − 2h·y·b to ‖w‖², and h·y⟨u, x⟩ ≥ h(1 − H − y·b) to
//! ⟨w, u⟩, H being that of b + ⟨u, x⟩. So M ≤ H(u) + Σ h·y·b + ‖u‖√(Σ h²‖x‖² − 2h·y·b).
//!
//! Variants:
//! - `margin` updates when y·s ≤ γ' already. The proof goes with y⟨w, x⟩ ≤ γ' − y·b: 2h·γ' is added
//!   under the root for each update, so that M ≤ (D² + 2γ')/γ² where a margin γ exists;
//! - `averaged` ([`AveragedPerceptron`]) and `voted` ([`VotedPerceptron`]) predict with all weight
//!   vectors so far;
//! - `second-order` ([`SecondOrderPerceptron`]) decorrelates the features, O(d²).

mod averaged;
mod second_order;
mod voted;

pub use averaged::AveragedPerceptron;
pub use second_order::SecondOrderPerceptron;
pub use voted::VotedPerceptron;

use std::sync::Arc;

use super::columns;
use crate::archive::{Archive, Field, Precision};
use crate::guarantee::{Comparator, Guarantee, GuaranteeKind, Novikoff};
use crate::loss::{LossKind, ZeroOne};
use crate::numeric::sum;
use crate::parameter::{Description, ParameterDescriptor, positive, whole, words};
use crate::protocol::{COMPARATOR_RADIUS, LearnerDescriptor, Losses, Promise, STANDARDISE};
use crate::storage::table::ParameterTable;
use crate::{Error, Features, LinearWeights, Loss, ScoreLearner, SharedLoss};

/// The perceptron, with a margin or without.
///
/// ```
/// use onward::{Features, ScoreLearner, learner::Perceptron, loss::ZeroOne};
/// let mut learner = Perceptron::new(1.0, &ZeroOne)?;
/// let x = Features::new(&[0], &[1.0])?;
/// // The score 0 predicts 1, which is right, and is learnt from nevertheless.
/// learner.learn_one(x, 1.0, 1.0);
/// assert_eq!((learner.updates(), learner.mistakes()), (1.0, 0.0));
/// # Ok::<(), onward::Error>(())
/// ```
pub struct Perceptron {
    radius: f64,
    /// γ'.
    margin: f64,
    weights: ParameterTable<f64>,
    precision: Precision,
    count: Count,
    /// Σ h²‖x‖² + 2h(γ' − y·b) over rounds with an update: at least ‖w‖².
    squares: f64,
    /// Σ h·y·b over rounds with an update.
    offsets: f64,
    /// X²: the largest h‖x‖² + 2(γ' − y·b) of a round with an update; `None` in models that were saved without it.
    largest: Option<f64>,
}

/// Weights are held within the range of f32.
const LARGEST: f64 = f32::MAX as f64;

/// How often, weighted by importance.
#[derive(Debug, Clone, Copy, Default)]
struct Count {
    /// M: rounds with an update.
    updates: f64,
    /// Rounds in which the sign was wrong.
    mistakes: f64,
}

impl Count {
    /// Takes in a round in which this score was charged.
    fn observe(&mut self, score: f64, label: f64, weight: f64) {
        self.mistakes += weight * ZeroOne.value(score, label);
    }

    fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        archive.number("updates", &mut self.updates)?;
        archive.number("mistakes", &mut self.mistakes)
    }
}

/// Tells of learners how often they moved and erred.
macro_rules! counts {
    ($($learner:ident),+) => {$(
        impl $learner {
            /// M: rounds with an update, weighted by importance.
            pub fn updates(&self) -> f64 {
                self.count.updates
            }

            /// Rounds in which the sign of the prediction was wrong, weighted by importance.
            pub fn mistakes(&self) -> f64 {
                self.count.mistakes
            }
        }
    )+};
}

counts!(Perceptron, AveragedPerceptron, VotedPerceptron, SecondOrderPerceptron);

impl Perceptron {
    /// A perceptron whose guarantee is printed for comparators in the ball of this radius.
    ///
    /// # Errors
    /// When the radius is not positive and finite, or the loss is one that the
    /// perceptron does not pay.
    pub fn new(radius: f64, loss: &dyn Loss) -> Result<Self, Error> {
        COMPARATOR_RADIUS.check(radius)?;
        ENTRY.check_loss(loss)?;
        let (weights, precision, count) = Default::default();
        Ok(Self { radius, margin: 0.0, weights, precision, count, squares: 0.0, offsets: 0.0, largest: Some(0.0) })
    }

    /// A perceptron that updates when y·s ≤ γ'.
    ///
    /// # Errors
    /// As [`new`](Self::new), and when γ' is not from 1e-30 to 1e30.
    pub fn with_margin(margin: f64, radius: f64, loss: &dyn Loss) -> Result<Self, Error> {
        Ok(Self { margin: MARGIN.check(margin)?, ..Self::new(radius, loss)? })
    }
}

impl ScoreLearner for Perceptron {
    fn predict_one(&self, x: Features<'_>) -> f64 {
        x.offset() + x.dot(|index| self.weights.weight(index))
    }

    fn learn_one(&mut self, x: Features<'_>, label: f64, weight: f64) -> f64 {
        let prediction = self.predict_one(x);
        if label * prediction > self.margin {
            return prediction;
        }
        for (index, value) in x.iter() {
            let entry = self.weights.entry(index);
            let moved = *entry + weight * label * f64::from(value);
            *entry = self.precision.rounded(moved.clamp(-LARGEST, LARGEST));
        }
        self.count.observe(prediction, label, weight);
        self.count.updates += weight;
        let (offset, square) = (weight * label * x.offset(), sum::squares(x.values()));
        self.squares += weight * weight * square - 2.0 * offset + 2.0 * weight * self.margin;
        let size = weight * square + 2.0 * (self.margin - label * x.offset());
        self.largest = self.largest.map(|largest| largest.max(size));
        self.offsets += offset;
        prediction
    }

    fn loss(&self) -> SharedLoss {
        Arc::new(ZeroOne)
    }

    fn describe(&self) -> String {
        let it = Description::of("perceptron");
        match self.margin > 0.0 {
            true => it.with(&MARGIN, self.margin).with(&COMPARATOR_RADIUS, self.radius).with(&VARIANT, "margin").into(),
            false => it.with(&COMPARATOR_RADIUS, self.radius).into(),
        }
    }

    fn updates(&self) -> Option<f64> {
        Some(Self::updates(self))
    }

    fn novikoff(&self) -> Option<Novikoff> {
        Some(Novikoff { size: self.largest?.sqrt(), offsets: self.offsets })
    }

    fn guarantee(&self) -> Guarantee {
        let bound = self.offsets + self.radius * self.squares.max(0.0).sqrt();
        Guarantee::own(Comparator::HingeOnUpdates(self.radius), bound)
    }

    fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        self.count.persist(archive)?;
        archive.number("squares", &mut self.squares)?;
        archive.number("offsets", &mut self.offsets)?;
        archive.optional("largest", &mut self.largest)?;
        archive.precision("weight", &mut self.precision);
        self.weights.persist(archive, |weight| *weight != 0.0, &[("weight", Field::Weight(&|it| it, self.precision))])
    }

    fn linear(&self) -> Option<&dyn LinearWeights> {
        Some(&self.weights)
    }
}

const VARIANT: ParameterDescriptor = words(
    "variant",
    &[
        ("plain", "Rosenblatt's"),
        ("margin", "updates on small margins too"),
        ("averaged", "predicts with the mean of all weight vectors"),
        ("voted", "the last weight vectors vote, O(vectors·non-zeros) per round"),
        ("second-order", "decorrelates the features, O(d²) per round"),
    ],
)
.meaning("variant of the perceptron");

const A: ParameterDescriptor =
    positive("a").default("1").meaning("a·I is added to the correlation matrix").only_with("variant=second-order");

const LIMIT: ParameterDescriptor = columns::LIMIT.only_with("variant=second-order");

const MARGIN: ParameterDescriptor =
    positive("margin").default("1").meaning("update when the margin is at most this").only_with("variant=margin");

/// Each is kept, and votes each round.
const VECTORS: ParameterDescriptor = whole("vectors", 1..=1_000_000)
    .default("1000")
    .meaning("number of weight vectors that vote, the most recent ones")
    .only_with("variant=voted");

/// Why the mistakes of an average or a vote have no bound.
const NO_BOUND: &str = "the theorem bounds how often the last weights are updated, not the mistakes of all together";

/// The perceptron by name.
pub(crate) const ENTRY: LearnerDescriptor = LearnerDescriptor {
    name: "perceptron",
    summary: "updates on mistakes only (Rosenblatt); binary, with the loss zero-one",
    losses: Losses::Only(&[LossKind::ZeroOne]),
    parameters: &[A, LIMIT, MARGIN, COMPARATOR_RADIUS, STANDARDISE, VARIANT, VECTORS],
    promises: &[
        Promise::elsewhere("", "tests/perceptron.rs"),
        Promise::other("margin=0.5,radius=2,variant=margin"),
        Promise::other("a=2,limit=20,variant=second-order"),
        Promise::never("variant=averaged", NO_BOUND),
        Promise::never("variant=voted,vectors=5", NO_BOUND),
    ],
    build: |arguments| {
        let (loss, radius) = (arguments.loss(), arguments.number("radius"));
        let loss = loss.as_ref();
        Ok(match arguments.text("variant") {
            "plain" => Box::new(Perceptron::new(radius, loss)?),
            "margin" => Box::new(Perceptron::with_margin(arguments.number("margin"), radius, loss)?),
            "averaged" => Box::new(AveragedPerceptron::new(loss)?),
            "voted" => Box::new(VotedPerceptron::new(arguments.whole("vectors"), loss)?),
            _ => {
                let (a, limit) = (arguments.number("a"), arguments.whole("limit"));
                Box::new(SecondOrderPerceptron::new(a, limit, radius, loss)?)
            }
        })
    },
    plan: |arguments, scales| {
        let (radius, square) = (arguments.number("radius"), scales.rounds * scales.norm * scales.norm);
        // At most T updates of size X each.
        let length = match arguments.text("variant") {
            "plain" => scales.norm * scales.rounds.sqrt(),
            "margin" => (square + 2.0 * scales.rounds * arguments.number("margin")).sqrt(),
            "averaged" | "voted" => return Ok(Guarantee::none(GuaranteeKind::Own, NO_BOUND)),
            _ if scales.dimension > arguments.number("limit") => {
                let reason = "there are more features than its limit, and the others are ignored";
                return Ok(Guarantee::none(GuaranteeKind::Own, reason));
            }
            _ => {
                let (a, dimension) = (arguments.number("a"), scales.dimension);
                // The determinant is largest where all eigenvalues are alike.
                let determinant = dimension * libm::log1p(square / (a * dimension));
                ((a + square) * determinant).sqrt().min(scales.rounds * scales.norm)
            }
        };
        Ok(Guarantee::own(Comparator::HingeOnUpdates(radius), radius * length))
    },
};
