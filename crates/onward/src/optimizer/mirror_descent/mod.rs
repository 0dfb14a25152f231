//! Online mirror descent (Nemirovski, Yudin 1983; Beck, Teboulle 2003; Shalev-Shwartz 2012).
//!
//! ∇ψ(w') = ∇ψ(w_t) − η z_t, then w_{t+1} is the Bregman projection of w' on the domain. The map ψ
//! decides in which norm gradients are measured, and how much is lost to many dimensions:
//!
//! | map | ψ | domain | bound, with the constants known |
//! |---|---|---|---|
//! | `euclidean` | ½‖w‖₂² | ‖w‖₂ ≤ U | UG₂√T |
//! | `pnorm` | ½‖w‖_p², 1 < p ≤ 2 | ‖w‖_p ≤ U | UG_q√(T/(p−1)) |
//! | `entropic` | Σ w ln w (EG) | w ≥ 0, Σw = U | UG_∞√(2T ln d) |
//! | `entropic`, signed | the same on ±U·e_i (EG±) | ‖w‖₁ ≤ U | UG_∞√(2T ln 2d) |
//!
//! The last two are for many features of which few matter: the bound grows with ln d, where that of
//! gradient descent grows with ‖x‖₂. The files of the maps have the updates, the bounds that are
//! printed (from the rates and gradients that occurred), and their proofs.

mod entropic;
mod log_sum;
mod p_norm;

pub use entropic::Entropic;
pub use p_norm::PNorm;

use crate::Error;
use crate::guarantee::{Comparator, Guarantee, GuaranteeKind};
use crate::optimizer::ogd;
use crate::parameter::{ParameterDescriptor, flag, number, positive, whole, words};
use crate::protocol::{Clip, LearnerDescriptor, Linear, Losses, Params, ProblemBounds, Promise, STANDARDISE};

/// The step size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum MirrorRate {
    /// From the gradients so far: nothing to choose.
    SelfTuned,
    /// The same in all rounds.
    Fixed(f64),
}

impl MirrorRate {
    /// η, where it is given.
    fn eta(self) -> Option<f64> {
        match self {
            Self::SelfTuned => None,
            Self::Fixed(eta) => Some(eta),
        }
    }
}

/// The parameters as they were given.
struct Settings {
    is_entropic: bool,
    p: f64,
    radius: f64,
    is_signed: bool,
    is_projected: bool,
    dimension: Option<u32>,
    rate: MirrorRate,
}

impl Settings {
    fn read(arguments: &Params<'_>) -> Result<Self, Error> {
        let map = arguments.text("map");
        let mut settings = Self {
            is_entropic: map == "entropic",
            p: if map == "euclidean" { 2.0 } else { arguments.number("p") },
            radius: arguments.number("radius"),
            is_signed: arguments.flag("signed"),
            is_projected: arguments.flag("project"),
            dimension: arguments.optional_whole("dimension").map(|dimension| dimension as u32),
            rate: arguments.optional_number("eta").map_or(MirrorRate::SelfTuned, MirrorRate::Fixed),
        };
        if let Some((gradient, rounds)) = arguments.optional_number("gradient").zip(arguments.optional_number("rounds"))
        {
            settings.rate = MirrorRate::Fixed(ETA.check(settings.rate_of_theorem(gradient, rounds)?)?);
        }
        Ok(settings)
    }

    /// The textbook's rate for gradients within this bound and this many rounds.
    fn rate_of_theorem(&self, gradient: f64, rounds: f64) -> Result<f64, Error> {
        match (self.is_entropic, self.dimension) {
            (true, None) => {
                Err(Error::parameter("gradient and rounds with map=entropic need dimension, the number of features"))
            }
            (true, dimension) => {
                // Of one corner alone there is nothing to learn: any rate will do.
                let complexity = Entropic::complexity(self.is_signed, dimension, 0.0).max(std::f64::consts::LN_2);
                Ok((2.0 * complexity / rounds).sqrt() / (self.radius * gradient))
            }
            _ => Ok(self.radius * ((self.p - 1.0) / rounds).sqrt() / gradient),
        }
    }

    fn entropic(&self) -> Result<Entropic, Error> {
        Entropic::new(self.radius, self.is_signed, self.dimension, self.rate)
    }

    fn p_norm(&self) -> Result<PNorm, Error> {
        PNorm::new(self.p, self.radius, self.is_projected, self.rate)
    }

    /// What the bound of the entropic map can become.
    fn plan_entropic(&self, arguments: &Params<'_>, scales: &ProblemBounds) -> Guarantee {
        let loss = arguments.loss();
        // |⟨w, x⟩| ≤ ‖w‖₁‖x‖_∞.
        let reach = self.radius * scales.slope(loss.as_ref(), self.radius * scales.largest) * scales.largest;
        if let Some(dimension) = self.dimension.filter(|&dimension| scales.dimension > f64::from(dimension)) {
            let reason = format!("the stream has more than the {dimension} features that dimension allows");
            return Guarantee::none(GuaranteeKind::Own, reason);
        }
        let complexity = |seen| Entropic::complexity(self.is_signed, self.dimension, seen);
        let (least, most) = (complexity(1.0).max(std::f64::consts::LN_2), complexity(scales.dimension.max(1.0)));
        let rounds = scales.rounds;
        let bound = match self.rate {
            MirrorRate::Fixed(eta) => most / eta + 0.5 * eta * reach * reach * rounds,
            // Let S_t = Σ_{s≤t}‖z_s‖_∞² ≤ TG². The last rate is at least √(least/S_T)/U: the first term.
            // A round with ‖z‖² ≤ S_{t−1} costs at most ½U√(1.25·most)·‖z‖²/√S_{t−1}, and ‖z‖²/√S_{t−1} ≤
            // √2·‖z‖²/√S_t ≤ 2√2(√S_t − √S_{t−1}). The others at most 2U√S_t, S doubles at each, and
            // before the last of them it was below G²: 2U·√2·G/(1 − 1/√2) < 9.7UG together.
            MirrorRate::SelfTuned => {
                let most = most.max(std::f64::consts::LN_2);
                reach * rounds.sqrt() * (most / least.sqrt() + (2.5 * most).sqrt()) + 9.7 * reach
            }
        };
        let comparator = match self.is_signed {
            true => Comparator::L1Ball(self.radius),
            false => Comparator::Simplex(self.radius),
        };
        Guarantee::own(comparator, bound)
    }

    /// What the bound of the p-norm map can become.
    fn plan_p_norm(&self, arguments: &Params<'_>, scales: &ProblemBounds) -> Guarantee {
        if !self.is_projected {
            let reason = "without a projection its gradients have no bound in advance";
            return Guarantee::none(GuaranteeKind::Own, reason);
        }
        // |⟨w, x⟩| ≤ ‖w‖_p‖x‖_q ≤ U‖x‖₂.
        let gradient = scales.gradient(arguments.loss().as_ref(), self.radius);
        let (convexity, rounds) = (self.p - 1.0, scales.rounds);
        let bound = match self.rate {
            MirrorRate::Fixed(eta) => {
                self.radius * self.radius / (2.0 * eta) + eta * gradient * gradient * rounds / (2.0 * convexity)
            }
            MirrorRate::SelfTuned => self.radius * gradient * (8.0 * rounds / convexity).sqrt(),
        };
        let comparator = match self.p == 2.0 {
            true => Comparator::Ball(self.radius),
            false => Comparator::PNormBall { p: self.p, radius: self.radius },
        };
        Guarantee::own(comparator, bound)
    }
}

const MAP: ParameterDescriptor = words(
    "map",
    &[
        ("entropic", "Σ w ln w: exponentiated gradient"),
        ("pnorm", "½‖w‖_p²"),
        ("euclidean", "½‖w‖₂²: gradient descent"),
    ],
)
.meaning("mirror map");

const RADIUS: ParameterDescriptor = positive("radius").default("10").meaning(
    "radius of the domain in the norm of the map; the radius of the run \
                                              replaces this default",
);

const ETA: ParameterDescriptor =
    positive("eta").or("auto").meaning("learning rate; auto: tuned from the gradients").remedy("a smaller eta");

const SIGNED: ParameterDescriptor = flag("signed")
    .default("true")
    .meaning("weights of both signs, on the L1 ball; false: the simplex")
    .only_with("map=entropic");

const DIMENSION: ParameterDescriptor = whole("dimension", 1..=u32::MAX as u64)
    .or("none")
    .meaning("number of features, with a uniform prior; none: a prior that decreases in order of appearance")
    .only_with("map=entropic");

/// Nearer to 1 powers overflow, and above 2 the map is not strongly convex.
const P: ParameterDescriptor = number("p", 1.001..=2.0).default("1.5").meaning("p of the norm").only_with("map=pnorm");

const PROJECT: ParameterDescriptor =
    flag("project").default("true").meaning("project onto the ball").unless("map=entropic");

/// `mirror-descent` by name.
pub(crate) const ENTRY: LearnerDescriptor = LearnerDescriptor {
    name: "mirror-descent",
    summary: "mirror descent: exponentiated gradient (EG, EG±), p-norms, or Euclidean",
    losses: Losses::Convex,
    parameters: &[
        MAP,
        RADIUS,
        ETA,
        ogd::GRADIENT.meaning("bound on the gradients in the dual norm").only_with("rounds and eta=auto"),
        ogd::ROUNDS
            .meaning("the number of rounds T, which with gradient gives the textbook's eta")
            .only_with("gradient and eta=auto"),
        SIGNED,
        DIMENSION,
        P,
        PROJECT,
        STANDARDISE,
    ],
    promises: &[
        Promise::always("").within(Comparator::L1Ball(10.0)),
        Promise::always("radius=1").within(Comparator::L1Ball(1.0)),
        Promise::always("dimension=10,radius=1").within(Comparator::L1Ball(1.0)),
        Promise::always("dimension=10,radius=1,signed=false").within(Comparator::Simplex(1.0)),
        Promise::always("map=euclidean,radius=1").within(Comparator::Ball(1.0)),
        Promise::always("map=pnorm,p=1.2,radius=1").within(Comparator::PNormBall { p: 1.2, radius: 1.0 }),
        Promise::other("eta=0.01").within(Comparator::L1Ball(10.0)),
        Promise::other("dimension=10,gradient=2,rounds=1000").within(Comparator::L1Ball(10.0)),
        Promise::other("eta=0.1,map=pnorm,project=false"),
    ],
    build: |arguments| {
        let settings = Settings::read(arguments)?;
        let loss = arguments.loss();
        Ok(match settings.is_entropic {
            true => Box::new(Linear::new(loss, settings.entropic()?, Clip::Never)),
            false => Box::new(Linear::new(loss, settings.p_norm()?, Clip::Never)),
        })
    },
    plan: |arguments, scales| {
        let settings = Settings::read(arguments)?;
        Ok(match settings.is_entropic {
            true => settings.plan_entropic(arguments, scales),
            false => settings.plan_p_norm(arguments, scales),
        })
    },
};
