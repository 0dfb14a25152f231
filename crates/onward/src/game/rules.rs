//! What is played: the losses, the set that points are taken from, and the fixed points that they are compared with.

use super::PointLoss;
use crate::Error;
use crate::domain::{Domain, RADIUS};
use crate::guarantee::Comparator;
use crate::nearest::unknown;
use crate::numeric::linalg::vector::{dot, norm};

/// The rules of a game.
///
/// ```
/// use onward::game::{GameRules, PointLoss};
/// let rules = GameRules::new(PointLoss::Linear, "box", Some(2.0), 3)?;
/// assert_eq!(rules.comparators().description(), "every u with |u_i| ≤ radius");
/// assert!(GameRules::new(PointLoss::Log, "box", None, 3).is_err());
/// # Ok::<(), onward::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GameRules {
    loss: PointLoss,
    domain: Domain,
    /// The size of the comparators that a theorem is about where the domain has none.
    radius: f64,
    dimension: usize,
    comparators: Comparator,
}

/// The sets by name.
const DOMAINS: [&str; 5] = ["simplex", "ball", "box", "l1", "all"];

/// More coordinates are refused: projections on a simplex go over all of them.
pub const MOST_COORDINATES: usize = 1 << 20;

impl GameRules {
    /// A game with these losses on the `simplex` w_i ≥ 0, Σw_i = radius, the `ball` ‖w‖₂ ≤ radius, the `box` |w_i| ≤ radius,
    /// the ball `l1` of ‖w‖₁ ≤ radius, or on `all` of R^d, in this dimension. The radius is 1 unless it is given. On all of R^d
    /// linear losses have no best point: comparators are those within the radius. So they are for quadratic losses if
    /// it is given; else every point is one.
    ///
    /// # Errors
    /// When there is no such domain, the radius is not from 1e-30 to 1e30, the dimension not from 1 to 2²⁰ (on the simplex
    /// from 2), or the losses are logarithms and the domain is not the simplex.
    pub fn new(loss: PointLoss, domain: &str, radius: Option<f64>, dimension: usize) -> Result<Self, Error> {
        let size = RADIUS.check(radius.unwrap_or(1.0)).map_err(|_| radius_refused(radius))?;
        if !(1..=MOST_COORDINATES).contains(&dimension) {
            let message = format!("a game must have from 1 to {MOST_COORDINATES} coordinates; got {dimension}");
            return Err(Error::parameter(message));
        }
        let domain = match domain {
            "simplex" if dimension == 1 => {
                return Err(Error::parameter(
                    "on the simplex there must be two coordinates or more: with one it is a single point, and there is \
                     nothing to choose",
                ));
            }
            "simplex" => Domain::Simplex { radius: size, dimension: dimension as u32 },
            "ball" => Domain::Ball(size),
            "box" => Domain::Box(size),
            "l1" => Domain::L1Ball(size),
            "all" => Domain::All,
            _ => return Err(Error::parameter(unknown("domain", "domains of games", domain, DOMAINS.into_iter()))),
        };
        if loss == PointLoss::Log && !matches!(domain, Domain::Simplex { .. }) {
            let name = domain.name();
            return Err(Error::parameter(format!(
                "log losses are played on the simplex, where ⟨w, x⟩ is what a portfolio w makes of 1; got {name}"
            )));
        }
        let comparators = match (loss, domain, radius) {
            (PointLoss::Quadratic, Domain::All, None) => Comparator::All,
            _ => domain.comparator(size),
        };
        Ok(Self { loss, domain, radius: size, dimension, comparators })
    }

    /// The losses.
    pub fn loss(&self) -> PointLoss {
        self.loss
    }

    /// Where points are taken from.
    pub fn domain(&self) -> Domain {
        self.domain
    }

    /// The radius of the domain; of all of R^d that of the comparators.
    pub fn radius(&self) -> f64 {
        self.radius
    }

    /// How many coordinates a point has.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// The fixed points that regret is counted against.
    pub fn comparators(&self) -> Comparator {
        self.comparators
    }

    /// All points of the domain.
    pub(super) fn domain_class(&self) -> Comparator {
        if self.domain == Domain::All { Comparator::All } else { self.comparators }
    }

    /// The largest ‖w − u‖₁ of two points of a bounded domain.
    pub(super) fn spread(&self) -> f64 {
        match self.domain {
            Domain::Ball(radius) => 2.0 * radius * (self.dimension as f64).sqrt(),
            Domain::Box(radius) => 2.0 * radius * self.dimension as f64,
            _ => 2.0 * self.radius,
        }
    }

    /// The largest norm of a comparator, and the least of a point of the domain; none where there is no largest.
    pub(super) fn norms(&self) -> (Option<f64>, f64) {
        let coordinates = self.dimension as f64;
        match (self.comparators, self.domain) {
            (Comparator::All, _) => (None, 0.0),
            (_, Domain::Simplex { radius, .. }) => (Some(radius), radius / coordinates.sqrt()),
            (_, Domain::Box(radius)) => (Some(radius * coordinates.sqrt()), 0.0),
            _ => (Some(self.radius), 0.0),
        }
    }
}

fn radius_refused(radius: Option<f64>) -> Error {
    let got = radius.unwrap_or(1.0);
    Error::parameter(format!("the radius of a game must be from 1e-30 to 1e30; got {got}"))
}

/// sup ⟨v, u⟩ over a class of comparators; none where there is no bound.
pub(super) fn support(class: Comparator, v: &[f64]) -> Option<f64> {
    let largest = |numbers: &mut dyn Iterator<Item = f64>| numbers.fold(f64::NEG_INFINITY, f64::max);
    match class {
        Comparator::Ball(radius) => Some(radius * norm(v)),
        Comparator::Box(radius) => Some(radius * v.iter().map(|v| v.abs()).sum::<f64>()),
        Comparator::L1Ball(radius) => Some(radius * largest(&mut v.iter().map(|v| v.abs()))),
        Comparator::Simplex(radius) => Some(radius * largest(&mut v.iter().copied())),
        _ => None,
    }
}

/// Room for what a projection rounds.
const ROUNDING: f64 = 1.0 + 1e-9;

/// Whether a guarantee against a class is one against this point of the domain of a game.
pub(super) fn contains(class: Comparator, u: &[f64]) -> bool {
    let sum_of_sizes = || u.iter().map(|u| u.abs()).sum::<f64>();
    match class {
        Comparator::All | Comparator::Experts | Comparator::SwitchingExperts(_) => true,
        Comparator::Ball(radius) => dot(u, u).sqrt() <= radius * ROUNDING,
        Comparator::Box(radius) => u.iter().all(|u| u.abs() <= radius * ROUNDING),
        Comparator::L1Ball(radius) => sum_of_sizes() <= radius * ROUNDING,
        Comparator::Simplex(radius) => {
            let total: f64 = u.iter().sum();
            u.iter().all(|&u| u >= 0.0) && (total - radius).abs() <= 1e-9 * radius
        }
        _ => false,
    }
}
