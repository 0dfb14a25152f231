//! How sums and generators of random numbers are saved.

use super::State;
use crate::Error;
use crate::numeric::rng::SplitMix64;
use crate::numeric::sum::Sum;

impl Sum {
    /// Saves it under a name.
    pub(crate) fn save(&self, name: &str, state: &mut State) {
        state.set(name, self.sum);
        state.set(&format!("{name}.lost"), self.lost);
    }

    /// The sum saved under a name.
    pub(crate) fn load(name: &str, state: &State) -> Result<Self, Error> {
        Ok(Self { sum: state.number(name)?, lost: state.number(&format!("{name}.lost"))? })
    }
}

impl SplitMix64 {
    /// Saves it under a name, as two halves that f64 holds exactly.
    pub(crate) fn save(&self, name: &str, state: &mut State) {
        state.set(&format!("{name}.high"), (self.0 >> 32) as f64);
        state.set(&format!("{name}.low"), (self.0 & 0xffff_ffff) as f64);
    }

    /// The generator saved under a name.
    pub(crate) fn load(name: &str, state: &State) -> Result<Self, Error> {
        let half = |part: &str| state.number(&format!("{name}.{part}")).map(|half| u64::from(half as u32));
        Ok(Self(half("high")? << 32 | half("low")?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_goes_on_to_the_bit_where_it_was_saved() {
        let mut random = SplitMix64::new(u64::MAX - 3);
        random.bits();
        let mut state = State::default();
        random.save("draws", &mut state);
        let mut other = SplitMix64::load("draws", &state).unwrap();
        assert_eq!(random.bits(), other.bits());
    }
}
