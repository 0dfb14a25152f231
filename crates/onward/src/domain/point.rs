//! A point that is kept in a convex set: what gradient descent moves.
//!
//! | domain | a step and its projection cost |
//! |---|---|
//! | R^d, L2 ball, box, orthant | O(non-zeros) |
//! | L1 ball | O(d), O(d log d) when the step leaves the ball; d: coordinates that differ from 0 |
//! | simplex | O(d log d), d its dimension |

use super::plain::PlainVector;
use super::simplex::Threshold;
use super::{BallVector, Domain, cube, l1_ball, orthant};
use crate::archive::Archive;
use crate::{Error, Features, INDEX_LIMIT};

/// A point w of a [`Domain`], at first the one of least norm: 0, or the centre of a simplex.
///
/// ```
/// use onward::{Features, domain::{Domain, Point}};
/// let mut w = Point::new(Domain::Box(1.0))?;
/// w.step(0.5, Features::new(&[0, 1], &[1.0, -4.0])?);
/// assert_eq!((w.get(0), w.get(1)), (0.5, -1.0));
/// # Ok::<(), onward::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Point {
    domain: Domain,
    vector: Vector,
    /// Whether a gradient had coordinates that a simplex does not have.
    is_beyond: bool,
}

#[derive(Debug, Clone)]
enum Vector {
    /// A scale times entries, for R^d and the ball.
    Scaled(BallVector),
    Plain(PlainVector),
}

impl Point {
    /// The point of least norm.
    ///
    /// # Errors
    /// When the radius is not from 1e-30 to 1e30, or the dimension not from 1 to 2²⁰.
    pub fn new(domain: Domain) -> Result<Self, Error> {
        Self::build(domain, false)
    }

    /// The same, keeping the average of the points that are [counted](Self::count).
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn averaging(domain: Domain) -> Result<Self, Error> {
        Self::build(domain, true)
    }

    fn build(domain: Domain, averaging: bool) -> Result<Self, Error> {
        let vector = match domain.check()? {
            Domain::All | Domain::Ball(_) if averaging => Vector::Scaled(BallVector::averaging()),
            Domain::All | Domain::Ball(_) => Vector::Scaled(BallVector::default()),
            Domain::Simplex { radius, dimension } => {
                Vector::Plain(PlainVector::uniform(radius / f64::from(dimension), dimension, averaging))
            }
            _ => Vector::Plain(PlainVector::uniform(0.0, 0, averaging)),
        };
        Ok(Self { domain, vector, is_beyond: false })
    }

    /// Where the point is kept.
    pub fn domain(&self) -> Domain {
        self.domain
    }

    /// ⟨w, x⟩.
    pub fn dot(&self, x: Features<'_>) -> f64 {
        match &self.vector {
            Vector::Scaled(vector) => vector.dot(x),
            Vector::Plain(vector) => vector.dot(x),
        }
    }

    /// w_i.
    pub fn get(&self, index: u32) -> f64 {
        match &self.vector {
            Vector::Scaled(vector) => vector.get(index),
            Vector::Plain(vector) => vector.get(index),
        }
    }

    /// Notes the coordinates of a gradient: what a box's diameter grows with.
    pub fn see(&mut self, x: Features<'_>) {
        match (self.domain, &mut self.vector) {
            (Domain::Box(_), Vector::Plain(vector)) => vector.see(x),
            (Domain::Simplex { dimension, .. }, _) => {
                self.is_beyond |= x.iter().any(|(index, value)| index >= dimension && value != 0.0);
            }
            _ => {}
        }
    }

    /// How many coordinates of a box were [seen](Self::see); 0 for other domains.
    pub fn seen(&self) -> f64 {
        match &self.vector {
            Vector::Plain(vector) => vector.seen(),
            Vector::Scaled(_) => 0.0,
        }
    }

    /// Whether all gradients that were [seen](Self::see) lie in the coordinates of the domain.
    pub fn is_complete(&self) -> bool {
        !self.is_beyond
    }

    /// w ← Π(w + step·x).
    pub fn step(&mut self, step: f64, x: Features<'_>) {
        match (self.domain, &mut self.vector) {
            (Domain::Ball(radius), Vector::Scaled(vector)) => {
                vector.add(step, x);
                vector.project(radius);
            }
            (_, Vector::Scaled(vector)) => vector.add(step, x),
            (Domain::Box(radius), Vector::Plain(vector)) => {
                vector.add(step, x, INDEX_LIMIT, |value| cube::project(value, radius));
            }
            (Domain::Orthant, Vector::Plain(vector)) => vector.add(step, x, INDEX_LIMIT, orthant::project),
            (Domain::L1Ball(radius), Vector::Plain(vector)) => {
                vector.add(step, x, INDEX_LIMIT, |value| value);
                let mut sizes: Vec<f64> = vector.weights(0).map(f64::abs).collect();
                let threshold = l1_ball::threshold(&mut sizes, radius);
                if threshold != Threshold::default() {
                    vector.project(0, |value| l1_ball::shrunk(value, &threshold));
                }
            }
            (Domain::Simplex { radius, dimension }, Vector::Plain(vector)) => {
                vector.add(step, x, dimension, |value| value);
                let threshold = Threshold::of(&mut vector.weights(dimension).collect::<Vec<_>>(), radius);
                vector.project(dimension, |value| threshold.cut(value));
            }
            (Domain::All | Domain::Ball(_), Vector::Plain(_)) => {}
        }
    }

    /// Counts the point as it is for the average.
    pub fn count(&mut self) {
        match &mut self.vector {
            Vector::Scaled(vector) => vector.count(),
            Vector::Plain(vector) => vector.count(),
        }
    }

    /// The average of the points that were counted, if it is kept, in order of index.
    pub fn averaged(&self) -> Option<Vec<(u32, f64)>> {
        match &self.vector {
            Vector::Scaled(vector) => vector.averaged(),
            Vector::Plain(vector) => vector.averaged(),
        }
    }

    /// Everything but the domain.
    ///
    /// # Errors
    /// When something is missing or does not match.
    pub fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        let mut coordinates = 0;
        if let Domain::Simplex { dimension, .. } = self.domain {
            archive.flag("beyond", &mut self.is_beyond)?;
            coordinates = dimension;
        }
        match &mut self.vector {
            Vector::Scaled(vector) => vector.persist(archive),
            Vector::Plain(vector) => vector.persist(archive, coordinates),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::archive::State;
    use crate::domain::simplex;

    const ALL: [Domain; 6] = [
        Domain::All,
        Domain::Ball(1.5),
        Domain::Box(0.8),
        Domain::Orthant,
        Domain::L1Ball(1.2),
        Domain::Simplex { radius: 1.2, dimension: 5 },
    ];

    fn saved(point: &mut Point) -> State {
        Archive::saved(|archive| point.persist(archive)).unwrap()
    }

    /// The projection of a plain vector.
    fn project(domain: Domain, w: &mut [f64; 5]) {
        match domain {
            Domain::All => {}
            Domain::Ball(radius) => {
                let norm = w.iter().map(|w| w * w).sum::<f64>().sqrt();
                w.iter_mut().for_each(|w| *w *= (radius / norm).min(1.0));
            }
            Domain::Box(radius) => w.iter_mut().for_each(|w| *w = w.clamp(-radius, radius)),
            Domain::Orthant => w.iter_mut().for_each(|w| *w = w.max(0.0)),
            Domain::L1Ball(radius) => l1_ball::project(w, radius),
            Domain::Simplex { radius, .. } => simplex::project(w, radius),
        }
    }

    proptest! {
        #[test]
        fn steps_equal_those_of_a_plain_vector_and_so_does_the_average(
            steps in prop::collection::vec((prop::array::uniform5(-2.0f32..2.0), 0u8..32), 1..40)
        ) {
            for domain in ALL {
                let mut point = Point::averaging(domain).unwrap();
                let mut plain = [0.0f64; 5];
                project(domain, &mut plain);
                let mut sum = [0.0f64; 5];
                for (row, mask) in &steps {
                    let kept: Vec<usize> = (0..5).filter(|bit| mask >> bit & 1 == 1).collect();
                    let indices: Vec<u32> = kept.iter().map(|&i| i as u32).collect();
                    let values: Vec<f32> = kept.iter().map(|&i| row[i]).collect();
                    point.count();
                    sum.iter_mut().zip(&plain).for_each(|(sum, w)| *sum += w);
                    point.step(0.3, Features::new(&indices, &values).unwrap());
                    kept.iter().for_each(|&i| plain[i] += 0.3 * f64::from(row[i]));
                    project(domain, &mut plain);
                }
                // Entries up to about 24: 40 roundings of 1.1e-16 relative, no step expands them. Eleven digits of the
                // average stay.
                let tolerance = 1e-10;
                for (index, &w) in plain.iter().enumerate() {
                    prop_assert!((point.get(index as u32) - w).abs() < tolerance, "{domain:?}");
                }
                let averaged = point.averaged().unwrap();
                for (index, sum) in sum.iter().enumerate() {
                    let found = averaged.iter().find(|(i, _)| *i as usize == index).map_or(0.0, |(_, w)| *w);
                    prop_assert!((found - sum / steps.len() as f64).abs() < tolerance, "{domain:?} {found} {sum}");
                }
            }
        }
    }

    #[test]
    fn a_saved_point_goes_on_to_the_bit() {
        let rows: Vec<[f32; 3]> =
            (0..40).map(|t| [t as f32 % 3.0 - 1.0, t as f32 % 5.0 - 2.2, 0.1 * t as f32]).collect();
        for domain in ALL {
            let (mut whole, mut second) = (Point::averaging(domain).unwrap(), Point::averaging(domain).unwrap());
            for (at, row) in rows.iter().enumerate() {
                if at == 20 {
                    second.persist(&mut Archive::loading(saved(&mut whole))).unwrap();
                }
                for point in [&mut whole, &mut second] {
                    let x = Features::new(&[4, 1, 2], row).unwrap();
                    point.count();
                    point.see(x);
                    point.step(-0.2, x);
                }
            }
            assert_eq!(saved(&mut whole), saved(&mut second), "{domain:?}");
            assert_eq!(whole.averaged(), second.averaged(), "{domain:?}");
        }
    }

    /// Coordinates that are 0 are not saved, and are there again: below 0 the threshold lifts them.
    #[test]
    fn a_large_simplex_goes_on_with_all_its_coordinates() {
        let domain = Domain::Simplex { radius: 1.0, dimension: 70_000 };
        let (mut whole, mut second) = (Point::new(domain).unwrap(), Point::new(domain).unwrap());
        whole.step(5.0, Features::new(&[3], &[1.0]).unwrap());
        assert_eq!((whole.get(3), whole.get(69_999)), (1.0, 0.0));
        second.persist(&mut Archive::loading(saved(&mut whole))).unwrap();
        for point in [&mut whole, &mut second] {
            point.step(-1.0, Features::new(&[3], &[1.0]).unwrap());
            assert!((point.get(69_999) - 1.0 / 70_000.0).abs() < 1e-15);
        }
        assert_eq!(saved(&mut whole), saved(&mut second));
    }

    #[test]
    fn what_a_simplex_does_not_have_stays_out_and_is_noted() {
        let mut point = Point::new(Domain::Simplex { radius: 1.0, dimension: 2 }).unwrap();
        let x = Features::new(&[0, 2], &[1.0, 1.0]).unwrap();
        assert_eq!((point.get(0), point.get(1), point.get(2)), (0.5, 0.5, 0.0));
        point.see(x);
        point.step(0.5, x);
        assert_eq!((point.get(0), point.get(1), point.get(2)), (0.75, 0.25, 0.0));
        assert!(!point.is_complete());
    }
}
