//! Online subgradient descent with a fixed rate.
//!
//! w_{t+1} = Π(w_t − η z_t), z_t any subgradient of the loss at w_t: at a kink the one
//! that the loss's documentation names. The same as [`Ogd`] but for the rate, which
//! stays.
//!
//! **Guarantee**, for convex losses and every u of the domain (of R^d and of the
//! orthant: with ‖u‖₂ ≤ U): R_T(u) ≤ ‖u − w_1‖²/(2η) + (η/2) Σ‖z_t‖². With ‖z‖ ≤ G and
//! T rounds known beforehand, η = B/(G√T) gives BG√T, where B is the largest
//! ‖u − w_1‖: U on the L2 ball, half of what rates that fall pay for not knowing T.
//!
//! Cost: that of a step of [`Point`](crate::domain::Point).

use super::ogd::{self, Ogd, OgdRate};
use super::prelude::*;
use crate::domain::{DIMENSION_OF_RATE, DOMAIN, Domain, RADIUS};

fn rate(arguments: &Params<'_>) -> Result<OgdRate, Error> {
    let known = arguments.optional_number("rounds").zip(arguments.optional_number("gradient"));
    Ok(match (arguments.optional_number("eta"), known) {
        (None, None) => OgdRate::SelfTuned,
        (Some(eta), _) => OgdRate::Constant(eta),
        (None, Some((rounds, gradient))) => {
            let domain = Domain::from_arguments(arguments)?;
            OgdRate::Constant(ogd::rate_of_theorem(arguments, domain, rounds, gradient)?)
        }
    })
}

const ETA: ParameterDescriptor = positive("eta")
    .or("auto")
    .meaning("learning rate; auto: from rounds and gradient, or without them tuned as in ogd")
    .remedy("a smaller eta");

const ROUNDS: ParameterDescriptor = ogd::ROUNDS.only_with("gradient and eta=auto");

const GRADIENT: ParameterDescriptor = ogd::GRADIENT.only_with("rounds and eta=auto");

/// `osd` by name.
pub(crate) const ENTRY: LearnerDescriptor = LearnerDescriptor {
    name: "osd",
    summary: "online subgradient descent with a fixed rate",
    losses: Losses::Convex,
    parameters: &[ETA, RADIUS, DOMAIN, DIMENSION_OF_RATE, ROUNDS, GRADIENT, STEP, ogd::AVERAGE, STANDARDISE],
    promises: &[
        Promise::always("").within(Comparator::Ball(10.0)),
        Promise::linear("domain=all,eta=0.05,radius=1", FIXED_RATE),
        Promise::linear("domain=all,eta=0.05,radius=1,step=flow", FIXED_RATE).repeating(),
        Promise::linear("gradient=1,radius=1,rounds=4096", FIXED_RATE).within(Comparator::Ball(1.0)),
        Promise::linear("domain=box,eta=0.05,radius=1", FIXED_RATE).within(Comparator::Box(1.0)),
        Promise::linear("domain=orthant,eta=0.05,radius=1", FIXED_RATE).within(Comparator::Orthant(f64::INFINITY)),
        Promise::always("domain=l1,radius=1").within(Comparator::L1Ball(1.0)),
        Promise::always("domain=simplex,dimension=10,radius=1").within(Comparator::Simplex(1.0)),
        Promise::other("average=true").within(Comparator::Ball(10.0)),
    ],
    build: |arguments| Linear::learner(arguments, Ogd::from_arguments(arguments, rate(arguments)?)?.named("osd")),
    plan: |arguments, scales| {
        let optimizer = Ogd::from_arguments(arguments, rate(arguments)?)?;
        Ok(optimizer.promise(arguments.loss().as_ref(), scales))
    },
};

#[cfg(test)]
mod tests {
    use crate::protocol::LearnerSpec;

    #[test]
    fn rounds_and_gradient_give_the_rate_of_the_theorem() {
        let build = |text: &str| {
            let specification: LearnerSpec = text.parse().unwrap();
            specification.build(crate::loss::parse("hinge").unwrap(), None).map(|learner| learner.describe())
        };
        assert_eq!(build("osd:radius=3,rounds=100,gradient=2").unwrap(), "osd:eta=0.15,radius=3,step=gradient");
        assert_eq!(
            build("osd:domain=box,dimension=4,radius=3,rounds=100,gradient=2").unwrap(),
            "osd:domain=box,eta=0.3,radius=3,step=gradient"
        );
        assert_eq!(build("osd").unwrap(), "osd:eta=auto,radius=10,step=gradient");
        for wrong in [
            "osd:rounds=10",
            "osd:gradient=1",
            "osd:eta=1,rounds=4",
            "osd:rounds=0.5,gradient=1",
            "osd:domain=box,rounds=9,gradient=1",
        ] {
            assert!(build(wrong).is_err(), "{wrong}");
        }
    }
}
