//! How sums, generators of random numbers, samples and triangular matrices are saved.

use super::{Archive, fields, rows_of};
use crate::Error;
use crate::numeric::linalg::cholesky::Cholesky;
use crate::numeric::linalg::triangle::Triangle;
use crate::numeric::rng::SplitMix64;
use crate::numeric::sample::{Prioritised, RandomSample};
use crate::numeric::sum::Sum;

impl Sum {
    /// Saves it under a name, or loads it.
    pub(crate) fn persist(&mut self, name: &str, archive: &mut Archive) -> Result<(), Error> {
        archive.number(name, &mut self.sum)?;
        archive.number(&format!("{name}.lost"), &mut self.lost)
    }
}

impl SplitMix64 {
    /// Saves it under a name, as two halves that f64 holds exactly, or loads it.
    pub(crate) fn persist(&mut self, name: &str, archive: &mut Archive) -> Result<(), Error> {
        let (mut high, mut low) = (self.0 >> 32, self.0 & 0xffff_ffff);
        archive.count(&format!("{name}.high"), &mut high)?;
        archive.count(&format!("{name}.low"), &mut low)?;
        self.0 = high << 32 | low & 0xffff_ffff;
        Ok(())
    }
}

impl RandomSample<(f64, f64)> {
    /// Saves a sample of pairs of numbers, or loads it.
    pub(crate) fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        let mut kept: Vec<_> = self.kept.iter().map(|kept| (kept.priority, kept.item)).collect();
        let fields = fields!((f64, (f64, f64)) { "priority": F64 0, "first": F64 1.0, "second": F64 1.1 });
        archive.records(&mut kept, &(0.0, (0.0, 0.0)), &fields)?;
        archive.check(
            kept.len() <= self.capacity,
            "priority",
            "must have no more numbers than the sample has items",
        )?;
        archive.count("skip", &mut self.skip)?;
        if archive.is_loading() {
            self.kept = kept.into_iter().map(|(priority, item)| Prioritised { priority, item }).collect();
        }
        self.random.persist("random", archive)
    }
}

impl Triangle {
    /// Saves it under a name, row by row without gaps, or loads it: then it must be of this size.
    pub(crate) fn persist(&mut self, name: &str, size: usize, archive: &mut Archive) -> Result<(), Error> {
        let mut packed = self.rows.concat();
        archive.column(name, &mut packed)?;
        if archive.is_loading() {
            let rows = rows_of(&packed, (1..=size).rev());
            self.rows = archive.require(rows, name, "must be a triangle with a row for each feature")?;
        }
        Ok(())
    }
}

impl Cholesky {
    /// Saves its factor under a name, row by row, or loads it: then it must be of this size.
    pub(crate) fn persist(&mut self, name: &str, size: usize, archive: &mut Archive) -> Result<(), Error> {
        archive.column(name, &mut self.factor)?;
        self.size = size;
        let must = "must be a triangle with a row for each feature, above 0 on its diagonal";
        archive.check(self.is_sound(), name, must)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_triangle_that_has_grown_is_saved() {
        let mut triangle = Triangle::default();
        (0..20).for_each(|i| triangle.grow(f64::from(i)));
        triangle.add_outer(1.0, &[1.0; 20]);
        let state = Archive::saved(|archive| triangle.persist("triangle", 20, archive)).unwrap();
        let mut again = Triangle::default();
        again.persist("triangle", 20, &mut Archive::loading(state.clone())).unwrap();
        assert_eq!((&again.rows, again.rows.len(), again.rows[19].as_slice()), (&triangle.rows, 20, &[20.0][..]));
        assert!(again.persist("triangle", 19, &mut Archive::loading(state)).is_err());
    }

    #[test]
    fn a_generator_goes_on_to_the_bit_where_it_was_saved() {
        let mut random = SplitMix64::new(u64::MAX - 3);
        random.bits();
        let state = Archive::saved(|archive| random.persist("draws", archive)).unwrap();
        let mut other = SplitMix64::new(0);
        other.persist("draws", &mut Archive::loading(state)).unwrap();
        assert_eq!(random.bits(), other.bits());
    }
}
