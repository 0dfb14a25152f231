//! Follow the leader: the point that would have been best so far.
//!
//! On linearised losses w_{t+1} = argmin ⟨Σ_{s≤t} z_s, w⟩ over the domain: on the L2 ball
//! −U Σz/‖Σz‖, in the box −U sign(Σz_i) coordinate by coordinate, on the L1 ball and the
//! simplex the best corner (of equal ones that with the least index). Where nothing
//! distinguishes points, the one of least norm.
//!
//! **No guarantee.** On [−1, 1] with z = ½, −1, 1, −1, … the leader changes each round, and
//! following it pays T − 1 where the best fixed point pays at most 0. What is missing is
//! curvature: a regulariser ([`ftrl`](super::ftrl)), or losses that have it of their own.
//! The quadratics ‖w − x_t‖² do, and there it is the running mean, with a
//! logarithmic regret: [`RunningMean`].
//!
//! With `losses=real` the losses are not linearised: see [`ftrl_real`].
//!
//! Cost: O(non-zeros) on the ball and in the box, O(d) on the L1 ball and the simplex.

use super::prelude::*;
use crate::domain::{BALL, BOX, DIMENSION, Domain, L1, LazyPoint, RADIUS, SIMPLEX};
use crate::numeric::sum;
use crate::optimizer::ftrl_real::{self, FEATURES, LOSSES, SHORT};

/// Follow the leader on linear losses.
///
/// ```
/// use onward::Features;
/// use onward::domain::Domain;
/// use onward::optimizer::{Ftl, Optimizer};
/// let mut leader = Ftl::new(Domain::Box(1.0))?;
/// let x = [0];
/// leader.observe(0.5, Features::new(&x, &[1.0])?);
/// assert_eq!(leader.weight(0), -1.0);
/// leader.observe(-1.0, Features::new(&x, &[1.0])?);
/// assert_eq!(leader.weight(0), 1.0);
/// # Ok::<(), onward::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Ftl {
    /// θ = −Σz.
    point: LazyPoint,
    /// The corner that leads, on the L1 ball and the simplex: its index and entry.
    corner: Option<(u32, f64)>,
}

impl Ftl {
    /// Over this domain.
    ///
    /// # Errors
    /// When the domain is not bounded (there a linear loss has no least), the radius not from
    /// 1e-30 to 1e30, or the dimension not from 1 to 2²⁰.
    pub fn new(domain: Domain) -> Result<Self, Error> {
        if !domain.is_bounded() {
            let (allowed, got) = (DOMAIN.values(), domain.name());
            let message =
                format!("domain must be {allowed}, because linear losses have no leader elsewhere; got {got}");
            return Err(Error::parameter(message));
        }
        Ok(Self { point: LazyPoint::new(domain)?, corner: None })
    }

    fn leading_corner(&self) -> Option<(u32, f64)> {
        match self.point.domain() {
            Domain::L1Ball(radius) => {
                let sizes = self.point.sums().map(|(index, sum)| (index, sum.abs())).filter(|(_, size)| *size > 0.0);
                first_largest(sizes).map(|(index, _)| (index, radius.copysign(self.point.sum(index))))
            }
            Domain::Simplex { radius, .. } => {
                let sums = self.point.sums();
                let is_open = sums.clone().all(|(_, sum)| sum == 0.0);
                if is_open { None } else { first_largest(sums).map(|(index, _)| (index, radius)) }
            }
            _ => None,
        }
    }
}

/// The largest value, of equal ones that with the least index: independent of the order.
fn first_largest(values: impl Iterator<Item = (u32, f64)>) -> Option<(u32, f64)> {
    values.max_by(|one, other| one.1.total_cmp(&other.1).then(other.0.cmp(&one.0)))
}

impl Optimizer for Ftl {
    fn prepare(&mut self, _g: f64, h: f64, _x: Features<'_>) -> Step {
        Step::Gradient { time: h }
    }

    fn advance(&mut self, u: f64, x: Features<'_>) {
        self.point.add(u, x);
        self.corner = self.leading_corner();
    }

    fn weight(&self, index: u32) -> f64 {
        let sum = self.point.sum(index);
        match (self.point.domain(), self.corner) {
            (Domain::Ball(radius), _) => {
                let norm = self.point.norm();
                if norm > 0.0 { radius * (sum / norm) } else { 0.0 }
            }
            (Domain::Box(radius), _) if sum != 0.0 => radius.copysign(sum),
            (Domain::L1Ball(_) | Domain::Simplex { .. }, Some((corner, entry))) if index == corner => entry,
            (Domain::Simplex { radius, dimension }, None) if index < dimension => radius / f64::from(dimension),
            _ => 0.0,
        }
    }

    fn guarantee(&self) -> Guarantee {
        Guarantee::missing(NONE)
    }

    fn describe(&self) -> String {
        let domain = self.point.domain();
        let (Domain::Ball(radius) | Domain::Box(radius) | Domain::L1Ball(radius) | Domain::Simplex { radius, .. }) =
            domain
        else {
            return "ftl".to_owned();
        };
        domain.describe(Description::of("ftl"), &DOMAIN).with(&RADIUS, radius).into()
    }

    fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        self.point.persist(archive)?;
        if archive.is_loading() {
            self.corner = self.leading_corner();
        }
        Ok(())
    }
}

/// Follow the leader on the losses ‖w − x_t‖²: the running mean.
///
/// w_1 = 0, w_{t+1} = w_t + (x_t − w_t)/t = the mean of x_1..x_t, the best point so far.
///
/// **Guarantee**, against every u: R_T(u) ≤ Σ‖w_t − x_t‖²/t, with equality for the best u,
/// w_{T+1}; if ‖x_t‖ ≤ L it is at most 4L²(1 + ln T). (Proof of the equality: the sum of squares
/// about the mean grows by (1 − 1/t)‖x_t − w_t‖² in round t, and the round pays ‖x_t − w_t‖².)
///
/// ```
/// let mut leader = onward::optimizer::RunningMean::new(2)?;
/// assert_eq!(leader.observe(&[1.0, 0.0])?, 1.0);
/// assert_eq!(leader.observe(&[0.0, 1.0])?, 2.0);
/// assert_eq!(leader.mean(), [0.5, 0.5]);
/// // Paid 3; the best point pays 1.
/// assert_eq!(leader.bound(), 2.0);
/// # Ok::<(), onward::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct RunningMean {
    mean: Vec<f64>,
    rounds: f64,
    bound: f64,
}

impl RunningMean {
    /// Of vectors of this length.
    ///
    /// # Errors
    /// When it is 0.
    pub fn new(dimension: usize) -> Result<Self, Error> {
        match dimension {
            0 => Err(Error::parameter("dimension must be 1 or more; got 0")),
            _ => Ok(Self { mean: vec![0.0; dimension], rounds: 0.0, bound: 0.0 }),
        }
    }

    /// A round: pays ‖w_t − x‖², which is returned, then takes x in.
    ///
    /// # Errors
    /// When x has another length, or an entry that is not a number within ±1e100.
    pub fn observe(&mut self, x: &[f64]) -> Result<f64, Error> {
        if x.len() != self.mean.len() || x.iter().any(|x| x.is_nan() || x.abs() > 1e100) {
            return Err(Error::parameter(format!("x must have {} numbers, all within ±1e100", self.mean.len())));
        }
        self.rounds += 1.0;
        let paid = sum::sum(self.mean.iter().zip(x).map(|(w, x)| (w - x) * (w - x)));
        self.bound += paid / self.rounds;
        self.mean.iter_mut().zip(x).for_each(|(w, x)| *w += (x - *w) / self.rounds);
        Ok(paid)
    }

    /// The point that the next round is charged for.
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// Σ‖w_t − x_t‖²/t: the regret against the best fixed point, exactly.
    pub fn bound(&self) -> f64 {
        self.bound
    }
}

const DOMAIN: ParameterDescriptor =
    words("domain", &[BALL, BOX, L1, SIMPLEX]).meaning("domain of the weights").quiet().unless("losses=real");

const JUMPY: &str = "the leader jumps from end to end of its domain";
const FROM_JUMPS: &str = "it adds up by how much each leader pays more than the next";

const NONE: &str = "following the leader has no bound on linear losses: it may pay T − 1 where the best pays 0";

/// `ftl` by name.
pub(crate) const ENTRY: LearnerDescriptor = LearnerDescriptor {
    name: "ftl",
    summary: "follow the leader, on linearised losses (no guarantee: it shows why regularisation is needed) or on the losses \
              themselves",
    losses: Losses::Convex,
    parameters: &[
        RADIUS.meaning("radius of the domain; the radius of the run replaces this default"),
        DOMAIN,
        DIMENSION,
        LOSSES,
        FEATURES,
        STANDARDISE,
    ],
    promises: &[
        Promise::never("", NONE).within(Comparator::Ball(10.0)).unlearned(JUMPY),
        Promise::never("domain=box,radius=1", NONE).within(Comparator::Box(1.0)).unlearned(JUMPY),
        Promise::never("domain=l1,radius=1", NONE).within(Comparator::L1Ball(1.0)).unlearned(JUMPY),
        Promise::never("domain=simplex,dimension=10,radius=1", NONE).within(Comparator::Simplex(1.0)).unlearned(JUMPY),
        Promise::linear("features=20,losses=real,radius=2", FROM_JUMPS).at_most(SHORT).within(Comparator::Ball(2.0)),
    ],
    build: |arguments| {
        if arguments.text("losses") == "real" {
            return ftrl_real::build_leader(arguments);
        }
        Linear::learner(arguments, Ftl::new(Domain::from_arguments(arguments)?)?)
    },
    plan: |arguments, _| {
        Ok(Guarantee::missing(match arguments.text("losses") {
            "real" => "with losses=real its bound depends on the losses of each round",
            _ => "following the leader has no bound on linear losses",
        }))
    },
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_leader_is_the_point_of_least_sum() {
        let rows: [[f32; 3]; 3] = [[1.0, -2.0, 0.5], [0.5, 1.0, 0.0], [1.0, 0.5, 0.0]];
        let sum = [2.5, -0.5, 0.5];
        for (domain, least) in [
            (Domain::Ball(2.0), -2.0 * 6.75f64.sqrt()),
            (Domain::Box(2.0), -7.0),
            (Domain::L1Ball(2.0), -5.0),
            (Domain::Simplex { radius: 2.0, dimension: 3 }, -1.0),
        ] {
            let mut leader = Ftl::new(domain).unwrap();
            rows.iter().for_each(|row| leader.observe(1.0, Features::new(&[0, 1, 2], row).unwrap()));
            let paid: f64 = (0..3).map(|i| leader.weight(i) * sum[i as usize]).sum();
            assert!((paid - least).abs() < 1e-12, "{domain:?} {paid}");
        }
        assert!(Ftl::new(Domain::All).is_err() && Ftl::new(Domain::Orthant).is_err());
    }
}
