//! A point that is the projection of a scaled sum of gradients: what dual averaging
//! and follow the regularised leader keep.
//!
//! θ is the negative sum of all gradients, and w = Π(η·θ): steps are never projected,
//! points are. An entry of w is computed when it is asked for.
//!
//! | domain | cost of a step |
//! |---|---|
//! | R^d, L2 ball (with a running ‖θ‖²), box, orthant | O(non-zeros) |
//! | L1 ball, simplex (the threshold of the projection) | O(d log d) |

use bytemuck::Zeroable;

use super::simplex::Threshold;
use super::{Domain, cube, l1_ball, orthant};
use crate::archive::{Archive, Field, visit_fields};
use crate::numeric::sum;
use crate::storage::table::ParameterTable;
use crate::{Error, Features};

/// Sums of gradients are held within this: their squares stay finite.
const LARGEST: f64 = 1e150;

/// When ‖θ‖² has fallen to this part of what it was, its rounding errors have grown to 1e-8 of it.
const FALLEN: f64 = 1e-8;

/// A coordinate of θ.
#[derive(Debug, Clone, Copy, Zeroable)]
#[repr(C)]
struct LazyCoordinate {
    sum: f64,
    /// Whether a gradient touched it: 0 or 1.
    is_seen: u64,
}

/// w = Π(η·θ) in a [`Domain`].
///
/// ```
/// use onward::{Features, domain::{Domain, LazyPoint}};
/// let mut w = LazyPoint::new(Domain::Box(1.0))?;
/// w.add(-3.0, Features::new(&[0], &[1.0])?);
/// w.set_rate(0.5);
/// assert_eq!(w.get(0), -1.0); // −1.5 before the projection
/// w.set_rate(0.25);
/// assert_eq!(w.get(0), -0.75);
/// # Ok::<(), onward::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct LazyPoint {
    domain: Domain,
    sums: ParameterTable<LazyCoordinate>,
    seen: f64,
    /// ‖θ‖², for the ball.
    square: f64,
    /// The largest ‖θ‖² since it was last computed from scratch.
    peak: f64,
    /// η.
    rate: f64,
    /// η, and for the ball what brings η·θ into it.
    factor: f64,
    /// What the entries of η·θ fall by, for the L1 ball and the simplex.
    threshold: Threshold,
    /// Whether a gradient had coordinates that a simplex does not have.
    is_beyond: bool,
}

impl LazyPoint {
    /// θ = 0.
    ///
    /// # Errors
    /// When the radius is not from 1e-30 to 1e30, or the dimension not from 1 to 2²⁰.
    pub fn new(domain: Domain) -> Result<Self, Error> {
        let mut sums: ParameterTable<LazyCoordinate> = ParameterTable::default();
        if let Domain::Simplex { dimension, .. } = domain.check()? {
            (0..dimension).for_each(|index| sums.entry(index).is_seen = 1);
        }
        let threshold = Threshold::default();
        let mut point = Self {
            domain,
            sums,
            seen: 0.0,
            square: 0.0,
            peak: 0.0,
            rate: 0.0,
            factor: 0.0,
            threshold,
            is_beyond: false,
        };
        point.set_rate(0.0);
        Ok(point)
    }

    /// Where the point is kept.
    pub fn domain(&self) -> Domain {
        self.domain
    }

    /// w_i.
    pub fn get(&self, index: u32) -> f64 {
        let value = self.factor * self.sum(index);
        match self.domain {
            Domain::All | Domain::Ball(_) => value,
            Domain::Box(radius) => cube::project(value, radius),
            Domain::Orthant => orthant::project(value),
            Domain::L1Ball(_) => l1_ball::shrunk(value, &self.threshold),
            Domain::Simplex { dimension, .. } if index < dimension => self.threshold.cut(value),
            Domain::Simplex { .. } => 0.0,
        }
    }

    /// θ_i.
    pub fn sum(&self, index: u32) -> f64 {
        self.sums.get(index).sum
    }

    /// θ of the coordinates that there are, in no order.
    pub(crate) fn sums(&self) -> impl Iterator<Item = (u32, f64)> + Clone {
        self.sums.entries().filter(|(_, entry)| entry.is_seen != 0).map(|(index, entry)| (index, entry.sum))
    }

    /// ‖θ‖, kept for the ball.
    pub(crate) fn norm(&self) -> f64 {
        self.square.sqrt()
    }

    /// How many coordinates were touched by gradients.
    pub fn seen(&self) -> f64 {
        self.seen
    }

    /// Whether all gradients lie in the coordinates of the domain.
    pub fn is_complete(&self) -> bool {
        !self.is_beyond
    }

    /// θ += step·x. The point moves when [`set_rate`](Self::set_rate) is called.
    pub fn add(&mut self, step: f64, x: Features<'_>) {
        if step == 0.0 {
            return;
        }
        let mut change = 0.0;
        for (index, value) in x.iter().filter(|(_, value)| *value != 0.0) {
            if matches!(self.domain, Domain::Simplex { dimension, .. } if index >= dimension) {
                self.is_beyond = true;
                continue;
            }
            let entry = self.sums.entry(index);
            if entry.is_seen == 0 {
                entry.is_seen = 1;
                self.seen += 1.0;
            }
            let before = entry.sum;
            entry.sum = (before + step * f64::from(value)).clamp(-LARGEST, LARGEST);
            change += (entry.sum - before) * (entry.sum + before);
        }
        if let Domain::Ball(_) = self.domain {
            self.square = (self.square + change).max(0.0);
            self.peak = self.peak.max(self.square);
            if self.square < FALLEN * self.peak {
                self.square = self.sum_of_squares();
                self.peak = self.square;
            }
        }
    }

    /// In order of index, whatever the order in which they came: a saved point goes on to the bit.
    fn sum_of_squares(&self) -> f64 {
        let used = self.sums.used(|entry| entry.sum != 0.0);
        sum::sum(used.into_iter().map(|index| self.sum(index).powi(2)))
    }

    /// w = Π(rate·θ) from now on.
    pub fn set_rate(&mut self, rate: f64) {
        (self.rate, self.factor) = (rate, rate);
        match self.domain {
            Domain::Ball(radius) => {
                let norm = self.square.sqrt();
                if rate * norm > radius {
                    self.factor = radius / norm;
                }
            }
            Domain::L1Ball(radius) => {
                let mut sizes: Vec<f64> = self.scaled().map(f64::abs).collect();
                self.threshold = l1_ball::threshold(&mut sizes, radius);
            }
            Domain::Simplex { radius, .. } => {
                self.threshold = Threshold::of(&mut self.scaled().collect::<Vec<_>>(), radius);
            }
            Domain::All | Domain::Box(_) | Domain::Orthant => {}
        }
    }

    /// η·θ_i of the coordinates that there are.
    fn scaled(&self) -> impl Iterator<Item = f64> {
        self.sums().map(|(_, sum)| self.rate * sum)
    }

    /// Everything but the domain.
    ///
    /// # Errors
    /// When something is missing or does not match.
    pub fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        visit_fields!(archive.number(self.rate, self.square, self.peak, self.seen));
        archive.flag("beyond", &mut self.is_beyond)?;
        let sum = Field::Number(&|entry: &LazyCoordinate| entry.sum, &|entry, sum| {
            *entry = LazyCoordinate { sum, is_seen: 1 }
        });
        self.sums.persist(archive, |entry| entry.is_seen != 0, &[("sum", sum)])?;
        if archive.is_loading() {
            self.set_rate(self.rate);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::domain::{Point, simplex};

    proptest! {
        /// w = Π(η·θ): the same as one step from the origin of R^d, projected.
        #[test]
        fn a_lazy_point_is_the_projection_of_the_sum(
            rows in prop::collection::vec(prop::array::uniform4(-3.0f32..3.0), 1..20), rate in 0.01f64..3.0
        ) {
            let mut sums = [0.0f64; 4];
            rows.iter().for_each(|row| sums.iter_mut().zip(row).for_each(|(sum, z)| *sum += f64::from(*z)));
            for domain in [Domain::All, Domain::Ball(1.5), Domain::Box(0.8), Domain::Orthant, Domain::L1Ball(1.2)] {
                let mut lazy = LazyPoint::new(domain).unwrap();
                rows.iter().for_each(|row| lazy.add(1.0, Features::new(&[0, 1, 2, 3], row).unwrap()));
                lazy.set_rate(rate);
                let mut point = Point::new(domain).unwrap();
                let total = sums.map(|sum| sum as f32);
                point.step(rate, Features::new(&[0, 1, 2, 3], &total).unwrap());
                for index in 0..4 {
                    let difference = lazy.get(index) - point.get(index);
                    prop_assert!(difference.abs() < 1e-6 * (1.0 + rate * 60.0), "{domain:?} {difference}");
                }
            }
            let mut lazy = LazyPoint::new(Domain::Simplex { radius: 2.0, dimension: 4 }).unwrap();
            rows.iter().for_each(|row| lazy.add(1.0, Features::new(&[0, 1, 2, 3], row).unwrap()));
            lazy.set_rate(rate);
            let mut plain = sums.map(|sum| rate * sum);
            simplex::project(&mut plain, 2.0);
            for (index, w) in plain.iter().enumerate() {
                prop_assert!((lazy.get(index as u32) - w).abs() < 1e-11);
            }
        }
    }

    #[test]
    fn a_sum_that_cancels_leaves_a_norm_that_is_right() {
        let mut lazy = LazyPoint::new(Domain::Ball(1.0)).unwrap();
        for (index, step) in [(3, 1e20), (7, 3.0), (3, -1e20)] {
            lazy.add(step, Features::new(&[index], &[1.0]).unwrap());
        }
        lazy.set_rate(1.0);
        assert!((lazy.get(7) - 1.0).abs() < 1e-12, "{}", lazy.get(7));
    }
}
