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

use std::fmt;

pub use entropic::Entropic;
pub use p_norm::PNorm;

use crate::Error;
use crate::guarantee::{Comparator, Guarantee, GuaranteeKind};
use crate::protocol::{
    Clip, LearnerDescriptor, Linear, Losses, ParameterDescriptor, Params, ProblemBounds, Promise, STANDARDISE,
    expect_rate, expect_rounds,
};

/// The step size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum MirrorRate {
    /// From the gradients so far: nothing to choose.
    SelfTuned,
    /// The same in all rounds.
    Fixed(f64),
}

impl fmt::Display for MirrorRate {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SelfTuned => out.write_str("auto"),
            Self::Fixed(eta) => eta.fmt(out),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum MirrorMap {
    Entropic,
    PNorm,
    Euclidean,
}

/// The parameters as they were given.
struct Settings {
    map: MirrorMap,
    p: f64,
    radius: f64,
    is_signed: bool,
    is_projected: bool,
    dimension: Option<u32>,
    rate: MirrorRate,
}

impl Settings {
    fn read(arguments: &Params<'_>) -> Result<Self, Error> {
        let maps =
            [("entropic", MirrorMap::Entropic), ("pnorm", MirrorMap::PNorm), ("euclidean", MirrorMap::Euclidean)];
        let map = arguments.choice("map", &maps)?;
        let foreign: &[&str] = match map {
            MirrorMap::Entropic => &["p", "project"],
            MirrorMap::PNorm => &["signed", "dimension"],
            MirrorMap::Euclidean => &["signed", "dimension", "p"],
        };
        if let Some(key) = foreign.iter().find(|key| arguments.is_given(key)) {
            let map = arguments.text("map");
            return Err(Error::parameter(format!(
                "{key} of mirror-descent has no meaning with map={map}: leave it out"
            )));
        }
        let dimension = match arguments.text("dimension") {
            "none" => None,
            _ => Some(arguments.whole("dimension", 1..=u64::from(u32::MAX), "as indices are")? as u32),
        };
        let mut settings = Self {
            map,
            p: if map == MirrorMap::Euclidean { 2.0 } else { arguments.number("p")? },
            radius: expect_rate("radius", arguments.number("radius")?)?,
            is_signed: arguments.flag("signed")?,
            is_projected: arguments.flag("project")?,
            dimension,
            rate: MirrorRate::SelfTuned,
        };
        settings.rate = settings.read_rate(arguments)?;
        Ok(settings)
    }

    /// The rate: `eta`, or the textbook's for `gradient` and `rounds`.
    fn read_rate(&self, arguments: &Params<'_>) -> Result<MirrorRate, Error> {
        let (gradient, rounds) = (arguments.number_or("gradient", "none")?, arguments.number_or("rounds", "none")?);
        let (gradient, rounds) = match (gradient, rounds) {
            (None, None) => {
                return Ok(arguments.number_or("eta", "auto")?.map_or(MirrorRate::SelfTuned, MirrorRate::Fixed));
            }
            (Some(gradient), Some(rounds)) => (expect_rate("gradient", gradient)?, expect_rounds(rounds)?),
            _ => return Err(Error::parameter("gradient and rounds of mirror-descent go together: give both or none")),
        };
        if arguments.is_given("eta") {
            let message = "eta of mirror-descent is given, and gradient and rounds, which make an eta: leave one out";
            return Err(Error::parameter(message));
        }
        let eta = match (self.map, self.dimension) {
            (MirrorMap::Entropic, None) => {
                return Err(Error::parameter(
                    "gradient and rounds with map=entropic need dimension, the number of features",
                ));
            }
            (MirrorMap::Entropic, dimension) => {
                // Of one corner alone there is nothing to learn: any rate will do.
                let complexity = Entropic::complexity(self.is_signed, dimension, 0.0).max(std::f64::consts::LN_2);
                (2.0 * complexity / rounds).sqrt() / (self.radius * gradient)
            }
            _ => self.radius * ((self.p - 1.0) / rounds).sqrt() / gradient,
        };
        Ok(MirrorRate::Fixed(expect_rate("eta (from gradient and rounds)", eta)?))
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
            let reason = "without a projection nothing bounds its gradients beforehand";
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

/// `mirror-descent` by name.
pub(crate) const ENTRY: LearnerDescriptor = LearnerDescriptor {
    name: "mirror-descent",
    summary: "mirror descent: exponentiated gradient (EG, EG±), p-norms, or Euclidean",
    losses: Losses::Convex,
    parameters: &[
        ParameterDescriptor { name: "map", default: "entropic", meaning: "entropic, pnorm or euclidean" },
        ParameterDescriptor {
            name: "radius",
            default: "10",
            meaning: "of the domain in the map's norm, above 0 (or --radius)",
        },
        ParameterDescriptor {
            name: "eta",
            default: "auto",
            meaning: "the rate, above 0; auto tunes itself from the gradients",
        },
        ParameterDescriptor {
            name: "gradient",
            default: "none",
            meaning: "the largest gradient in the dual norm; with rounds, it gives the textbook's eta",
        },
        ParameterDescriptor {
            name: "rounds",
            default: "none",
            meaning: "how many rounds there will be; goes with gradient",
        },
        ParameterDescriptor {
            name: "signed",
            default: "true",
            meaning: "entropic: true for weights of both signs, the L1 ball; false for the simplex",
        },
        ParameterDescriptor {
            name: "dimension",
            default: "none",
            meaning: "entropic: the number of features, which start equal; none: a prior that falls by order of appearance",
        },
        ParameterDescriptor { name: "p", default: "1.5", meaning: "pnorm: from 1.001 to 2" },
        ParameterDescriptor {
            name: "project",
            default: "true",
            meaning: "pnorm, euclidean: true or false, to project on the ball",
        },
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
        Ok(match settings.map {
            MirrorMap::Entropic => Box::new(Linear::new(loss, settings.entropic()?, Clip::Never)),
            MirrorMap::PNorm | MirrorMap::Euclidean => Box::new(Linear::new(loss, settings.p_norm()?, Clip::Never)),
        })
    },
    plan: |arguments, scales| {
        let settings = Settings::read(arguments)?;
        Ok(match settings.map {
            MirrorMap::Entropic => settings.plan_entropic(arguments, scales),
            MirrorMap::PNorm | MirrorMap::Euclidean => settings.plan_p_norm(arguments, scales),
        })
    },
};
