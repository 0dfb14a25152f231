//! Passive-aggressive learning (Crammer, Dekel, Keshet, Shalev-Shwartz, Singer 2006).
//!
//! Passive where the loss ℓ is 0; else w moves the least that makes it 0, or trades the two:
//! w += τ·d·x, where d is the direction that the score should take (y for classes, the sign of
//! y − p for numbers), ℓ is max(0, 1 − yp) or max(0, |y − p| − ε), p = b + ⟨w, x⟩ with the row's
//! offset b, and
//!
//! - variant 0: τ = ℓ/‖x‖², the least w with ℓ = 0, whatever the row's importance;
//! - variant 1: τ = min(hC, ℓ/‖x‖²), which minimises ½‖w − w_t‖² + hC·ℓ(w);
//! - variant 2: τ = ℓ/(‖x‖² + 1/(2hC)), which minimises ½‖w − w_t‖² + hC·ℓ(w)².
//!
//! The requested loss, one of these or its square, is charged; the update is the
//! same for both. A row without a feature other than 0 teaches nothing.
//!
//! **Guarantee**: none of regret. The theorems bound sums of squared losses or mistakes, not what
//! was paid beyond a comparator. With ‖x‖ ≤ R, all h = 1, and ℓ*_t the loss of any u:
//! if all ℓ*_t are 0, variant 0 has Σℓ² ≤ R²‖u‖² (theorem 2), and if all ‖x‖ = 1,
//! Σℓ² ≤ (‖u‖ + 2√(Σℓ*²))² (theorem 3); variant 1 makes at most max(R², 1/C)·(‖u‖² + 2CΣℓ*)
//! mistakes of class (theorem 4); variant 2 has Σℓ² ≤ (R² + 1/(2C))·(‖u‖² + 2CΣℓ*²) (theorem 5).
//!
//! **Cost**: O(non-zeros) per round.

use crate::archive::{Archive, Field};
use crate::guarantee::{Guarantee, GuaranteeKind};
use crate::loss::LossKind;
use crate::numeric::{saturate, sum};
use crate::parameter::{Description, ParameterDescriptor, positive, words};
use crate::protocol::{LearnerDescriptor, Losses, Promise, STANDARDISE};
use crate::storage::table::ParameterTable;
use crate::{Error, Features, LinearWeights, ScoreLearner, SharedLoss};

/// How far an update goes; C is the aggressiveness.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Aggressiveness {
    /// Variant 0: until the loss is 0.
    Unbounded,
    /// Variant 1: by at most hC times the row.
    Capped(f64),
    /// Variant 2: less, the smaller hC is.
    Damped(f64),
}

/// A passive-aggressive learner.
///
/// ```
/// use onward::{Features, ScoreLearner, learner::{Aggressiveness, PassiveAggressive}};
/// let loss = onward::loss::parse("hinge")?;
/// let mut learner = PassiveAggressive::new(loss, Aggressiveness::Capped(1.0))?;
/// let x = Features::new(&[0], &[2.0])?;
/// // ℓ = 1, τ = min(1, 1/4).
/// learner.learn_one(x, 1.0, 1.0);
/// assert_eq!(learner.predict_one(x), 1.0);
/// # Ok::<(), onward::Error>(())
/// ```
pub struct PassiveAggressive {
    loss: SharedLoss,
    aggressiveness: Aggressiveness,
    weights: ParameterTable<f32>,
    /// Whether the square of ℓ is charged.
    is_squared: bool,
}

impl PassiveAggressive {
    /// For hinge or epsilon-insensitive loss, or the square of one.
    ///
    /// # Errors
    /// When the loss is another, or C not from 1e-30 to 1e30.
    pub fn new(loss: SharedLoss, aggressiveness: Aggressiveness) -> Result<Self, Error> {
        if let Aggressiveness::Capped(c) | Aggressiveness::Damped(c) = aggressiveness {
            C.check(c)?;
        }
        ENTRY.check_loss(loss.as_ref())?;
        let is_squared = matches!(loss.kind(), LossKind::SquaredHinge | LossKind::SquaredEpsilonInsensitive);
        Ok(Self { loss, aggressiveness, weights: ParameterTable::default(), is_squared })
    }

    /// d·ℓ: how far the score falls short, with the sign of the way it should go.
    fn shortfall(&self, p: f64, y: f64) -> f64 {
        let slope = self.loss.derivative(p, y);
        match (slope == 0.0, self.is_squared) {
            (true, _) => 0.0,
            (_, true) => -0.5 * slope,
            (_, false) => -slope.signum() * self.loss.value(p, y),
        }
    }
}

impl ScoreLearner for PassiveAggressive {
    fn predict_one(&self, x: Features<'_>) -> f64 {
        x.offset() + x.dot(|index| self.weights.weight(index))
    }

    fn learn_one(&mut self, x: Features<'_>, label: f64, weight: f64) -> f64 {
        let prediction = self.predict_one(x);
        let shortfall = self.shortfall(prediction, label);
        let square = sum::squares(x.values());
        if shortfall == 0.0 || square == 0.0 {
            return prediction;
        }
        let step = match self.aggressiveness {
            Aggressiveness::Unbounded => shortfall / square,
            Aggressiveness::Capped(c) => (shortfall / square).clamp(-weight * c, weight * c),
            Aggressiveness::Damped(c) => shortfall / (square + 0.5 / (weight * c)),
        };
        for (index, value) in x.iter().filter(|&(_, value)| value != 0.0) {
            let entry = self.weights.entry(index);
            *entry = saturate(f64::from(*entry) + step * f64::from(value));
        }
        prediction
    }

    fn loss(&self) -> SharedLoss {
        SharedLoss::clone(&self.loss)
    }

    fn describe(&self) -> String {
        let pa = Description::of("pa");
        let pa = match self.aggressiveness {
            Aggressiveness::Unbounded => pa.with(&VARIANT, 0),
            Aggressiveness::Capped(c) => pa.with(&C, c).with(&VARIANT, 1),
            Aggressiveness::Damped(c) => pa.with(&C, c).with(&VARIANT, 2),
        };
        pa.into()
    }

    fn guarantee(&self) -> Guarantee {
        Guarantee::none(GuaranteeKind::Own, NONE)
    }

    fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        self.weights.persist(archive, |weight| *weight != 0.0, &[("weight", Field::F32(&|it| it))])
    }

    fn linear(&self) -> Option<&dyn LinearWeights> {
        Some(&self.weights)
    }
}

const NONE: &str = "the theorems of passive-aggressive learning bound squared losses and mistakes, not regret";

const C: ParameterDescriptor =
    positive("c").default("1").meaning("aggressiveness").unless("variant=0").remedy("a smaller c");

const VARIANT: ParameterDescriptor =
    words("variant", &[("0", "until the loss is 0"), ("1", "at most c"), ("2", "damped by c")])
        .default("1")
        .meaning("size of a step");

/// `pa` by name.
pub(crate) const ENTRY: LearnerDescriptor = LearnerDescriptor {
    name: "pa",
    summary: "passive-aggressive: the smallest change that corrects each mistake (Crammer et al.)",
    losses: Losses::Only(&[
        LossKind::Hinge,
        LossKind::SquaredHinge,
        LossKind::EpsilonInsensitive,
        LossKind::SquaredEpsilonInsensitive,
    ]),
    parameters: &[C, STANDARDISE, VARIANT],
    promises: &[
        Promise::never("", NONE).repeating(),
        Promise::other("c=0.5,variant=2"),
        Promise::other("variant=0").repeating().unweighted("whatever the importance, the loss becomes 0"),
    ],
    build: |arguments| {
        let c = arguments.number("c");
        let variant = match arguments.text("variant") {
            "0" => Aggressiveness::Unbounded,
            "1" => Aggressiveness::Capped(c),
            _ => Aggressiveness::Damped(c),
        };
        Ok(Box::new(PassiveAggressive::new(arguments.loss(), variant)?))
    },
    plan: |_, _| Ok(Guarantee::none(GuaranteeKind::Own, NONE)),
};
