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

use crate::optimizer::ogd;
use crate::optimizer::prelude::*;

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

/// The rate that is given, or the textbook's for gradients within a bound and a number of rounds.
fn rate(arguments: &Params<'_>, of_theorem: impl Fn(f64, f64) -> Result<f64, Error>) -> Result<MirrorRate, Error> {
    match arguments.optional_number("gradient").zip(arguments.optional_number("rounds")) {
        Some((gradient, rounds)) => Ok(MirrorRate::Fixed(ETA.check(of_theorem(gradient, rounds)?)?)),
        None => Ok(arguments.optional_number("eta").map_or(MirrorRate::SelfTuned, MirrorRate::Fixed)),
    }
}

fn entropic(arguments: &Params<'_>) -> Result<Entropic, Error> {
    let (radius, is_signed) = (arguments.number("radius"), arguments.flag("signed"));
    let dimension = arguments.optional_whole("dimension").map(|dimension| dimension as u32);
    let rate = rate(arguments, |gradient, rounds| {
        if dimension.is_none() {
            let message = "gradient and rounds with map=entropic need dimension, the number of features";
            return Err(Error::parameter(message));
        }
        // Of one corner alone there is nothing to learn: any rate will do.
        let complexity = Entropic::complexity(is_signed, dimension, 0.0).max(std::f64::consts::LN_2);
        Ok((2.0 * complexity / rounds).sqrt() / (radius * gradient))
    })?;
    Entropic::new(radius, is_signed, dimension, rate)
}

fn p_norm(arguments: &Params<'_>) -> Result<PNorm, Error> {
    let step = StepKind::from_arguments(arguments);
    let p = if arguments.text("map") == "euclidean" { 2.0 } else { arguments.number("p") };
    let radius = arguments.number("radius");
    let rate = rate(arguments, |gradient, rounds| Ok(radius * ((p - 1.0) / rounds).sqrt() / gradient))?;
    Ok(PNorm::new(p, radius, arguments.flag("project"), rate)?.with_step(step))
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

/// Flow is along the gradient, which is how only the Euclidean map moves.
const STEP: ParameterDescriptor = crate::protocol::STEP.only_with("map=euclidean");

const GRADIENT: ParameterDescriptor =
    ogd::GRADIENT.meaning("bound on the gradients in the dual norm").only_with("rounds and eta=auto");

const ROUNDS: ParameterDescriptor = ogd::ROUNDS
    .meaning("the number of rounds T, which with gradient gives the textbook's eta")
    .only_with("gradient and eta=auto");

/// `mirror-descent` by name.
pub(crate) const ENTRY: LearnerDescriptor = LearnerDescriptor {
    name: "mirror-descent",
    summary: "mirror descent: exponentiated gradient (EG, EG±), p-norms, or Euclidean",
    losses: Losses::Convex,
    parameters: &[MAP, RADIUS, ETA, GRADIENT, ROUNDS, SIGNED, DIMENSION, P, PROJECT, STEP, STANDARDISE],
    promises: &[
        Promise::always("").within(Comparator::L1Ball(10.0)),
        Promise::always("radius=1").within(Comparator::L1Ball(1.0)),
        Promise::always("dimension=10,radius=1").within(Comparator::L1Ball(1.0)),
        Promise::always("dimension=10,radius=1,signed=false").within(Comparator::Simplex(1.0)),
        Promise::always("map=euclidean,radius=1").within(Comparator::Ball(1.0)),
        Promise::always("map=euclidean,radius=1,step=flow").within(Comparator::Ball(1.0)),
        Promise::always("map=pnorm,p=1.2,radius=1").within(Comparator::PNormBall { p: 1.2, radius: 1.0 }),
        Promise::other("eta=0.01").within(Comparator::L1Ball(10.0)),
        Promise::other("dimension=10,gradient=2,rounds=1000").within(Comparator::L1Ball(10.0)),
        Promise::other("eta=0.1,map=pnorm,project=false"),
    ],
    build: |arguments| match arguments.text("map") {
        "entropic" => Linear::learner(arguments, entropic(arguments)?),
        _ => Linear::learner(arguments, p_norm(arguments)?),
    },
    plan: |arguments, scales| match arguments.text("map") {
        "entropic" => Ok(entropic(arguments)?.promise(arguments.loss().as_ref(), scales)),
        _ => Ok(p_norm(arguments)?.promise(arguments.loss().as_ref(), scales)),
    },
};
