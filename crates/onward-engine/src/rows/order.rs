//! The order of passes over rows that were kept.

use onward::numeric::rng::SplitMix64;

/// In which order the passes after the first go over the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PassOrder {
    /// As they come in the input: the input is read again.
    #[default]
    Sequential,
    /// Each row once per pass, shuffled anew.
    Shuffle,
    /// Random draws with replacement, as many as there are rows.
    Random,
}

impl PassOrder {
    /// The rows of a pass over this many, one after the other.
    pub(crate) fn rows(self, count: usize, random: &mut SplitMix64) -> Vec<usize> {
        let mut rows: Vec<usize> = (0..count).collect();
        match self {
            Self::Sequential => {}
            Self::Shuffle => {
                for at in (1..rows.len()).rev() {
                    rows.swap(at, random.below(at as u64 + 1) as usize);
                }
            }
            Self::Random => rows.iter_mut().for_each(|row| *row = random.below(count as u64) as usize),
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shuffle_has_each_row_once_and_draws_have_each_as_often_as_chance() {
        let count = 1600;
        let mut random = SplitMix64::new(1);
        let shuffled = PassOrder::Shuffle.rows(count, &mut random);
        let mut sorted = shuffled.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..count).collect::<Vec<_>>());
        assert_ne!(shuffled, sorted);
        assert_ne!(shuffled, PassOrder::Shuffle.rows(count, &mut random));
        // Of n draws from n a share of 1/e is missed: 0.368 ± 0.5/√n.
        let drawn = PassOrder::Random.rows(count, &mut random);
        let mut seen = vec![false; count];
        drawn.iter().for_each(|&row| seen[row] = true);
        let missed = seen.iter().filter(|&&seen| !seen).count() as f64 / count as f64;
        assert!((missed - 0.368).abs() < 0.05, "{missed}");
    }
}
