//! The sets by name: what `domain=…` means.

use super::{cube, l1_ball, orthant, simplex};
use crate::Error;
use crate::guarantee::Comparator;
use crate::numeric::linalg::vector;
use crate::parameter::{Description, ParameterDescriptor, positive, whole, words};
use crate::protocol::Params;

/// A convex set that a point is kept in.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Domain {
    /// R^d.
    All,
    /// ‖w‖₂ ≤ radius.
    Ball(f64),
    /// |w_i| ≤ radius.
    Box(f64),
    /// w_i ≥ 0.
    Orthant,
    /// ‖w‖₁ ≤ radius.
    L1Ball(f64),
    /// w_i ≥ 0, Σ w_i = radius, over the coordinates 0 to dimension − 1.
    Simplex {
        /// The sum of the coordinates.
        radius: f64,
        /// How many coordinates there are.
        dimension: u32,
    },
}

pub(crate) const ALL: (&str, &str) = ("all", "R^d");
pub(crate) const BALL: (&str, &str) = ("ball", "‖w‖₂ ≤ radius");
pub(crate) const BOX: (&str, &str) = ("box", "|w_i| ≤ radius");
pub(crate) const L1: (&str, &str) = ("l1", "‖w‖₁ ≤ radius");
pub(crate) const SIMPLEX: (&str, &str) = ("simplex", "w_i ≥ 0 and Σ w_i = radius, for indices below dimension");

pub(crate) const DOMAIN: ParameterDescriptor = words("domain", &[ALL, BALL, BOX, ("orthant", "w_i ≥ 0"), L1, SIMPLEX])
    .default("ball")
    .meaning("domain of the weights")
    .quiet();

pub(crate) const RADIUS: ParameterDescriptor = positive("radius").default("10").meaning(
    "radius of the domain; with domain=all or orthant, of the comparators in the guarantee; the radius of \
              the run replaces this default",
);

/// A projection on a simplex goes over all of its coordinates: they are not too many.
pub(crate) const DIMENSION: ParameterDescriptor = whole("dimension", 1..=1 << 20)
    .default("1")
    .meaning("number of features: only indices below it have weights")
    .only_with("domain=simplex");

/// The same where a rate that is set by `gradient` depends on it in a box.
pub(crate) const DIMENSION_OF_RATE: ParameterDescriptor =
    DIMENSION.only_with("domain=simplex or domain=box and gradient");

impl Domain {
    /// The domain that the parameters `domain`, `radius` and `dimension` name.
    pub(crate) fn from_arguments(arguments: &Params<'_>) -> Result<Self, Error> {
        let radius = arguments.number("radius");
        match arguments.text("domain") {
            "all" => Ok(Self::All),
            "ball" => Ok(Self::Ball(radius)),
            "box" => Ok(Self::Box(radius)),
            "orthant" => Ok(Self::Orthant),
            "l1" => Ok(Self::L1Ball(radius)),
            _ if !arguments.is_given("dimension") => {
                Err(Error::parameter("domain=simplex needs the number of features; give it as dimension=100"))
            }
            _ => Ok(Self::Simplex { radius, dimension: arguments.whole("dimension") as u32 }),
        }
    }

    /// Refuses a size or a dimension out of range.
    pub(crate) fn check(self) -> Result<Self, Error> {
        match self {
            Self::All | Self::Orthant => {}
            Self::Ball(radius) | Self::Box(radius) | Self::L1Ball(radius) => {
                RADIUS.check(radius)?;
            }
            Self::Simplex { radius, dimension } => {
                RADIUS.check(radius)?;
                DIMENSION.check(dimension)?;
            }
        }
        Ok(self)
    }

    /// The name, as `domain=` takes it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Ball(_) => "ball",
            Self::Box(_) => "box",
            Self::Orthant => "orthant",
            Self::L1Ball(_) => "l1",
            Self::Simplex { .. } => "simplex",
        }
    }

    /// Adds the domain, and the dimension of a simplex, to what a learner says of itself.
    pub(crate) fn describe(&self, description: Description, domain: &ParameterDescriptor) -> Description {
        let description = match self {
            Self::Simplex { dimension, .. } => description.with(&DIMENSION, dimension),
            _ => description,
        };
        description.with(domain, self.name())
    }

    /// Whether the set is bounded.
    pub fn is_bounded(&self) -> bool {
        !matches!(self, Self::All | Self::Orthant)
    }

    /// The largest ‖u − w‖₂ of two of its points, which differ in at most this many coordinates;
    /// `None` where there is no largest.
    ///
    /// ```
    /// use onward::domain::Domain;
    /// assert_eq!(Domain::Box(3.0).diameter(4.0), Some(12.0));
    /// assert_eq!(Domain::All.diameter(4.0), None);
    /// ```
    pub fn diameter(&self, coordinates: f64) -> Option<f64> {
        match *self {
            Self::All | Self::Orthant => None,
            Self::Ball(radius) | Self::L1Ball(radius) => Some(2.0 * radius),
            Self::Box(radius) => Some(2.0 * radius * coordinates.sqrt()),
            // One point when there is one coordinate only.
            Self::Simplex { dimension: 1, .. } => Some(0.0),
            Self::Simplex { radius, .. } => Some(radius * std::f64::consts::SQRT_2),
        }
    }

    /// The largest ‖u − w_1‖₂, w_1 the point of least norm, where a learner begins: `None` where
    /// there is no largest.
    pub fn reach(&self, coordinates: f64) -> Option<f64> {
        match *self {
            Self::All | Self::Orthant => None,
            Self::Ball(radius) | Self::L1Ball(radius) => Some(radius),
            Self::Box(radius) => Some(radius * coordinates.sqrt()),
            Self::Simplex { radius, dimension } => Some(radius * (1.0 - 1.0 / f64::from(dimension)).sqrt()),
        }
    }

    /// The comparators that a guarantee is about: the set itself, or those of its points that are
    /// no larger than this radius.
    pub(crate) fn comparator(&self, radius: f64) -> Comparator {
        match *self {
            Self::All => Comparator::Ball(radius),
            Self::Orthant => Comparator::Orthant(radius),
            Self::Ball(radius) => Comparator::Ball(radius),
            Self::Box(radius) => Comparator::Box(radius),
            Self::L1Ball(radius) => Comparator::L1Ball(radius),
            Self::Simplex { radius, .. } => Comparator::Simplex(radius),
        }
    }

    /// Moves a vector to the nearest point of the set. Of a simplex it has as many entries as there are coordinates.
    ///
    /// ```
    /// use onward::domain::Domain;
    /// let mut w = [3.0, 4.0];
    /// Domain::Ball(1.0).project(&mut w);
    /// assert!((w[0] - 0.6).abs() < 1e-15 && (w[1] - 0.8).abs() < 1e-15);
    /// ```
    pub fn project(&self, w: &mut [f64]) {
        match *self {
            Self::All => {}
            Self::Ball(radius) => {
                let norm = vector::norm(w);
                if norm > radius {
                    w.iter_mut().for_each(|w| *w *= radius / norm);
                }
            }
            Self::Box(radius) => w.iter_mut().for_each(|w| *w = cube::project(*w, radius)),
            Self::Orthant => w.iter_mut().for_each(|w| *w = orthant::project(*w)),
            Self::L1Ball(radius) => l1_ball::project(w, radius),
            Self::Simplex { radius, .. } => simplex::project(w, radius),
        }
    }

    /// The largest ‖w‖₂ of its points in this many coordinates, where there is one.
    pub(crate) fn norm(&self, coordinates: f64) -> Option<f64> {
        match *self {
            Self::Simplex { radius, .. } => Some(radius),
            _ => self.reach(coordinates),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::LearnerSpec;

    #[test]
    fn a_domain_is_named_with_what_it_needs() {
        let build = |text: &str| {
            let specification: LearnerSpec = text.parse()?;
            specification.build(crate::loss::parse("squared")?, None).map(|learner| learner.describe())
        };
        for domain in ["all", "box", "orthant", "l1"] {
            assert_eq!(
                build(&format!("ogd:radius=2,domain={domain}")).unwrap(),
                format!("ogd:domain={domain},eta=auto,radius=2,step=gradient")
            );
        }
        assert_eq!(
            build("ogd:domain=simplex,dimension=3,radius=1").unwrap(),
            "ogd:dimension=3,domain=simplex,eta=auto,radius=1,step=gradient"
        );
        for (text, message) in [
            ("ogd:domain=cone", "domain of ogd must be all, ball, box, orthant, l1 or simplex; got cone"),
            ("ogd:domain=simplex", "domain=simplex needs the number of features; give it as dimension=100"),
            ("ogd:domain=simplex,dimension=0", "dimension of ogd must be a whole number from 1 to 1048576; got 0"),
            ("ogd:domain=box,radius=0", "radius of ogd must be above 0; got 0"),
        ] {
            assert_eq!(build(text).unwrap_err().to_string(), message);
        }
        assert!(Domain::Simplex { radius: 1.0, dimension: 1 << 21 }.check().is_err());
        assert!(Domain::L1Ball(f64::NAN).check().is_err());
    }
}
