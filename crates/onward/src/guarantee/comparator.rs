//! Classes of comparators: the fixed predictors that regret is counted against.

/// A class of fixed predictors. Sizes are of the weights u on the raw features, the bias
/// among them, unless the class says otherwise.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Comparator {
    /// Every u.
    All,
    /// ‖u‖₂ ≤ radius.
    Ball(f64),
    /// Σ(s_i u_i)² ≤ radius², s_i the root mean square of feature i over the stream.
    StandardisedBall(f64),
    /// √(Σ(s_i u_i)²) ≤ radius over all features but the bias, s_i the root mean square of feature i over the stream, and
    /// the weight u₀ of the bias within low and high. With a radius in units of the label, and low and high around the
    /// labels, the class depends neither on the units of the features nor on those of the label, and holds the best
    /// constant.
    BallBesideBias {
        /// The radius.
        radius: f64,
        /// The least weight of the bias.
        low: f64,
        /// The largest weight of the bias.
        high: f64,
    },
    /// |b + ⟨u, x⟩| ≤ radius for every row of the stream, whatever the size of u; an infinite radius is no condition.
    ScoresWithin(f64),
    /// |u_i| ≤ radius.
    Box(f64),
    /// u_i ≥ 0 and ‖u‖₂ ≤ radius.
    Orthant(f64),
    /// u_i ≥ 0 and Σu_i = radius.
    Simplex(f64),
    /// ‖u‖₁ ≤ radius.
    L1Ball(f64),
    /// ‖u‖_p ≤ radius.
    PNormBall {
        /// The p of the norm, from 1 to 2.
        p: f64,
        /// The radius.
        radius: f64,
    },
    /// What ‖u‖₂ ≤ radius pay by the hinge loss on the rounds in which the learner moved.
    HingeOnUpdates(f64),
    /// Functions of norm ≤ radius in the space of the learner's kernel.
    KernelBall(f64),
    /// What functions of norm ≤ radius in the space of the learner's kernel pay by the hinge loss on
    /// the rounds in which the learner moved.
    KernelHingeOnUpdates(f64),
    /// The best of the experts that the learner mixes.
    Experts,
    /// Sequences of experts with at most this many switches.
    SwitchingExperts(u64),
}

impl Comparator {
    /// The class in words, with the words `radius`, `low` and `high` for its numbers.
    ///
    /// ```
    /// use onward::guarantee::Comparator;
    /// assert_eq!(Comparator::Box(2.0).description(), "every u with |u_i| ≤ radius");
    /// ```
    pub fn description(&self) -> String {
        match self {
            Self::All => "every u".to_owned(),
            Self::Ball(_) => "every u with ‖u‖₂ ≤ radius".to_owned(),
            Self::StandardisedBall(_) => {
                "every u with Σ(s_i u_i)² ≤ radius², s_i the root mean square of feature i".to_owned()
            }
            Self::BallBesideBias { .. } => {
                "every u with Σ(s_i u_i)² ≤ radius², s_i the root mean square of feature i, and a bias from low to high"
                    .to_owned()
            }
            Self::ScoresWithin(radius) if radius.is_infinite() => "every u".to_owned(),
            Self::ScoresWithin(_) => "every u with scores from −radius to radius on all rows".to_owned(),
            Self::Box(_) => "every u with |u_i| ≤ radius".to_owned(),
            Self::Orthant(_) => "every u with u_i ≥ 0 and ‖u‖₂ ≤ radius".to_owned(),
            Self::Simplex(_) => "every u with u_i ≥ 0 and Σu_i = radius".to_owned(),
            Self::L1Ball(_) => "every u with ‖u‖₁ ≤ radius".to_owned(),
            Self::PNormBall { p, .. } => format!("every u with ‖u‖_p ≤ radius, p = {p}"),
            Self::HingeOnUpdates(_) => {
                "the hinge loss, on the rounds with an update, of every u with ‖u‖₂ ≤ radius".to_owned()
            }
            Self::KernelBall(_) => "every function of norm ≤ radius in the kernel's space".to_owned(),
            Self::KernelHingeOnUpdates(_) => {
                "the hinge loss, on the rounds with an update, of every function of norm ≤ radius in the kernel's space"
                    .to_owned()
            }
            Self::Experts => "the best of its lanes and other experts".to_owned(),
            Self::SwitchingExperts(switches) => format!("the best of its experts with at most {switches} switches"),
        }
    }

    /// The least and the largest weight of the bias, if the class bounds it beside the others.
    pub fn bias(&self) -> Option<(f64, f64)> {
        match *self {
            Self::BallBesideBias { low, high, .. } => Some((low, high)),
            _ => None,
        }
    }

    /// The radius of the class, if it has one.
    pub fn radius(&self) -> Option<f64> {
        match *self {
            Self::Ball(radius)
            | Self::StandardisedBall(radius)
            | Self::BallBesideBias { radius, .. }
            | Self::ScoresWithin(radius)
            | Self::Box(radius)
            | Self::Orthant(radius)
            | Self::Simplex(radius)
            | Self::L1Ball(radius)
            | Self::PNormBall { radius, .. }
            | Self::HingeOnUpdates(radius)
            | Self::KernelBall(radius)
            | Self::KernelHingeOnUpdates(radius) => Some(radius),
            Self::All | Self::Experts | Self::SwitchingExperts(_) => None,
        }
    }
}
