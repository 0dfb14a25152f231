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
//! with ‖u‖ ≤ U by at most U√(Σ‖x‖²). If some u has margin γ on every example and
//! ‖x‖ ≤ D, M ≤ (D/γ)², however long the stream.
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

use super::columns::LIMITS;
use super::rls::LIMIT;
use crate::archive::{Archive, Field};
use crate::guarantee::{Comparator, Guarantee, GuaranteeKind};
use crate::loss::{LossKind, ZeroOne};
use crate::numeric::{saturate, sum};
use crate::protocol::{
    COMPARATOR_RADIUS, LearnerDescriptor, Losses, ParameterDescriptor, Params, Promise, STANDARDISE, expect_positive,
    expect_rate,
};
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
    weights: ParameterTable<f32>,
    count: Count,
    /// Σ h²‖x‖² + 2h(γ' − y·b) over rounds with an update: at least ‖w‖².
    squares: f64,
    /// Σ h·y·b over rounds with an update.
    offsets: f64,
}

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

/// Refuses losses that the perceptron does not pay.
fn expect_mistakes(loss: &dyn Loss) -> Result<(), Error> {
    if loss.kind() == LossKind::ZeroOne {
        return Ok(());
    }
    let name = loss.name();
    Err(Error::parameter(format!(
        "the perceptron is charged by mistakes and cannot take the loss '{name}': leave --loss out, or say zero-one"
    )))
}

impl Perceptron {
    /// A perceptron whose guarantee is printed for comparators in the ball of this radius.
    ///
    /// # Errors
    /// When the radius is not positive and finite, or the loss is one that the
    /// perceptron does not pay.
    pub fn new(radius: f64, loss: &dyn Loss) -> Result<Self, Error> {
        expect_positive("radius", radius)?;
        expect_mistakes(loss)?;
        let (weights, count) = Default::default();
        Ok(Self { radius, margin: 0.0, weights, count, squares: 0.0, offsets: 0.0 })
    }

    /// A perceptron that updates when y·s ≤ γ'.
    ///
    /// # Errors
    /// As [`new`](Self::new), and when γ' is not from 1e-30 to 1e30.
    pub fn with_margin(margin: f64, radius: f64, loss: &dyn Loss) -> Result<Self, Error> {
        expect_rate("margin", margin)?;
        Ok(Self { margin, ..Self::new(radius, loss)? })
    }

    /// M: rounds with an update, weighted by importance.
    pub fn updates(&self) -> f64 {
        self.count.updates
    }

    /// Rounds in which the sign was wrong, weighted by importance: at most M.
    pub fn mistakes(&self) -> f64 {
        self.count.mistakes
    }
}

impl ScoreLearner for Perceptron {
    fn predict_one(&self, x: Features<'_>) -> f64 {
        x.offset() + x.dot(|index| self.weight(index))
    }

    fn learn_one(&mut self, x: Features<'_>, label: f64, weight: f64) -> f64 {
        let prediction = self.predict_one(x);
        if label * prediction > self.margin {
            return prediction;
        }
        for (index, value) in x.iter() {
            let entry = self.weights.entry(index);
            *entry = saturate(f64::from(*entry) + weight * label * f64::from(value));
        }
        self.count.observe(prediction, label, weight);
        self.count.updates += weight;
        let offset = weight * label * x.offset();
        self.squares += weight * weight * sum::squares(x.values()) - 2.0 * offset + 2.0 * weight * self.margin;
        self.offsets += offset;
        prediction
    }

    fn loss(&self) -> SharedLoss {
        Arc::new(ZeroOne)
    }

    fn describe(&self) -> String {
        match self.margin > 0.0 {
            true => format!("perceptron:margin={},radius={},variant=margin", self.margin, self.radius),
            false => format!("perceptron:radius={}", self.radius),
        }
    }

    fn updates(&self) -> Option<f64> {
        Some(Self::updates(self))
    }

    fn guarantee(&self) -> Guarantee {
        let bound = self.offsets + self.radius * self.squares.max(0.0).sqrt();
        Guarantee::own(Comparator::HingeOnUpdates(self.radius), bound)
    }

    fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        self.count.persist(archive)?;
        archive.number("squares", &mut self.squares)?;
        archive.number("offsets", &mut self.offsets)?;
        self.weights.persist(archive, |weight| *weight != 0.0, &[("weight", Field::F32(&|it| it))])
    }

    fn linear(&self) -> Option<&dyn LinearWeights> {
        Some(self)
    }
}

impl LinearWeights for Perceptron {
    fn weight(&self, index: u32) -> f64 {
        f64::from(self.weights.get(index))
    }
}

/// Which perceptron.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Variant {
    Plain,
    Margin,
    Averaged,
    Voted,
    SecondOrder,
}

const VARIANTS: [(&str, Variant); 5] = [
    ("plain", Variant::Plain),
    ("margin", Variant::Margin),
    ("averaged", Variant::Averaged),
    ("voted", Variant::Voted),
    ("second-order", Variant::SecondOrder),
];

/// The variant that was asked for; an error where a parameter of another was given.
fn variant(arguments: &Params<'_>) -> Result<Variant, Error> {
    let asked = arguments.choice("variant", &VARIANTS)?;
    let owners = [
        ("a", Variant::SecondOrder),
        ("limit", Variant::SecondOrder),
        ("margin", Variant::Margin),
        ("vectors", Variant::Voted),
    ];
    let other = owners.into_iter().find(|&(key, owner)| owner != asked && arguments.is_given(key));
    if let Some((key, owner)) = other {
        let name = VARIANTS.iter().find(|(_, variant)| *variant == owner).map_or("", |(name, _)| name);
        return Err(Error::parameter(format!("{key} of perceptron is given, and is one of variant={name} alone")));
    }
    Ok(asked)
}

/// Why the mistakes of an average or a vote have no bound.
const NO_BOUND: &str = "the theorem bounds how often the last weights are updated, not the mistakes of all together";

/// The perceptron by name.
pub(crate) const ENTRY: LearnerDescriptor = LearnerDescriptor {
    name: "perceptron",
    summary: "updates at mistakes only (Rosenblatt); binary, charged by mistakes",
    losses: Losses::Only(&[LossKind::ZeroOne]),
    parameters: &[
        ParameterDescriptor {
            name: "a",
            default: "1",
            meaning: "variant=second-order: a·I is added to the correlations, from 1e-30 to 1e30",
        },
        LIMIT,
        ParameterDescriptor {
            name: "margin",
            default: "1",
            meaning: "variant=margin: margins up to this are updated, from 1e-30 to 1e30",
        },
        COMPARATOR_RADIUS,
        STANDARDISE,
        ParameterDescriptor {
            name: "variant",
            default: "plain",
            meaning: "plain, margin, averaged, voted (O(vectors·non-zeros) a round) or second-order (O(d²) a round)",
        },
        ParameterDescriptor {
            name: "vectors",
            default: "1000",
            meaning: "variant=voted: how many weight vectors vote, the last that there were, from 1 to 1000000",
        },
    ],
    promises: &[
        Promise::elsewhere("", "tests/perceptron.rs"),
        Promise::other("margin=0.5,radius=2,variant=margin"),
        Promise::other("a=2,limit=20,variant=second-order"),
        Promise::never("variant=averaged", NO_BOUND),
        Promise::never("variant=voted,vectors=5", NO_BOUND),
    ],
    build: |arguments| {
        let (loss, radius) = (arguments.loss(), arguments.number("radius")?);
        Ok(match variant(arguments)? {
            Variant::Plain => Box::new(Perceptron::new(radius, loss.as_ref())?),
            Variant::Margin => Box::new(Perceptron::with_margin(arguments.number("margin")?, radius, loss.as_ref())?),
            Variant::Averaged => Box::new(AveragedPerceptron::new(loss.as_ref())?),
            Variant::Voted => Box::new(VotedPerceptron::new(
                arguments.whole("vectors", voted::VECTORS, "for each is kept, and votes each round")?,
                loss.as_ref(),
            )?),
            Variant::SecondOrder => {
                let (a, limit) = (
                    arguments.number("a")?,
                    arguments.whole("limit", LIMITS, "for the matrix has its square of entries")?,
                );
                Box::new(SecondOrderPerceptron::new(a, limit, radius, loss.as_ref())?)
            }
        })
    },
    plan: |arguments, scales| {
        let (radius, square) = (arguments.number("radius")?, scales.rounds * scales.norm * scales.norm);
        // At most T updates of size X each.
        let length = match variant(arguments)? {
            Variant::Plain => scales.norm * scales.rounds.sqrt(),
            Variant::Margin => (square + 2.0 * scales.rounds * arguments.number("margin")?).sqrt(),
            Variant::Averaged | Variant::Voted => return Ok(Guarantee::none(GuaranteeKind::Own, NO_BOUND)),
            Variant::SecondOrder if scales.dimension > arguments.number("limit")? => {
                let reason = "there are more features than its limit, and those beyond are ignored";
                return Ok(Guarantee::none(GuaranteeKind::Own, reason));
            }
            Variant::SecondOrder => {
                let (a, dimension) = (arguments.number("a")?, scales.dimension);
                // The determinant is largest where all eigenvalues are alike.
                let determinant = dimension * libm::log1p(square / (a * dimension));
                ((a + square) * determinant).sqrt().min(scales.rounds * scales.norm)
            }
        };
        Ok(Guarantee::own(Comparator::HingeOnUpdates(radius), radius * length))
    },
};
