//! The order of later passes: as they came, shuffled anew for each pass, or drawn at random.
//!
//! For the last two the labelled rows of the first pass are kept in memory.

use clap::ValueEnum;
use onward::random::SplitMix64;
use onward::{Batch, Example};

use crate::failure::Failure;

/// In which order later passes go over the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Order {
    /// As they came
    Sequential,
    /// Each once a pass, shuffled anew
    Shuffle,
    /// As many as there are, each drawn from all of them
    Random,
}

/// Rows take at most so many bytes.
const MOST_BYTES: usize = 4 << 30;

/// Rows of a piece: a batch grows as a whole, and is copied when it does.
const PIECE: usize = 4096;

/// The labelled rows of a stream.
#[derive(Default)]
pub(crate) struct Rows {
    pieces: Vec<Batch>,
    rows: usize,
    bytes: usize,
}

impl Rows {
    /// Takes in a row; one without a label or of weight 0 teaches nothing and is left out.
    pub(crate) fn push(&mut self, example: Example<'_>) -> Result<(), Failure> {
        let Some(label) = example.label.filter(|_| example.weight > 0.0) else { return Ok(()) };
        self.bytes += 8 * example.features.len() + 32;
        if self.bytes > MOST_BYTES {
            return Err(Failure::user(
                "--order keeps the rows in memory, and they take more than 4 GB: leave it out, and passes go over the \
                 input as it is",
            ));
        }
        if self.rows.is_multiple_of(PIECE) {
            self.pieces.push(Batch::default());
        }
        if let Some(piece) = self.pieces.last_mut() {
            example.features.iter().for_each(|(index, value)| piece.push(index, value));
            piece.set_offset(example.features.offset());
            piece.finish(Some(label), example.weight);
        }
        self.rows += 1;
        Ok(())
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.rows
    }

    /// The row at a place.
    pub(crate) fn get(&self, row: usize) -> Example<'_> {
        self.pieces[row / PIECE].get(row % PIECE)
    }

    /// The places of the rows of a pass, one after the other.
    pub(crate) fn places(&self, order: Order, random: &mut SplitMix64) -> Vec<usize> {
        let mut places: Vec<usize> = (0..self.rows).collect();
        match order {
            Order::Sequential => {}
            Order::Shuffle => {
                for at in (1..places.len()).rev() {
                    places.swap(at, random.below(at as u64 + 1) as usize);
                }
            }
            Order::Random => places.iter_mut().for_each(|place| *place = random.below(self.rows as u64) as usize),
        }
        places
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(count: u32) -> Rows {
        let mut batch = Batch::default();
        for row in 0..count {
            batch.push(row, 1.0);
            batch.set_offset(f64::from(row));
            batch.finish((row % 5 != 0).then_some(f64::from(row)), f64::from(row % 3));
        }
        let mut rows = Rows::default();
        batch.iter().try_for_each(|example| rows.push(example)).unwrap();
        rows
    }

    #[test]
    fn labelled_rows_of_some_weight_are_kept_as_they_are() {
        let rows = rows(20_000);
        let kept: Vec<u32> = (0..20_000).filter(|row| row % 5 != 0 && row % 3 != 0).collect();
        assert_eq!(rows.len(), kept.len());
        for (at, &row) in kept.iter().enumerate() {
            let example = rows.get(at);
            assert_eq!(example.features.indices(), [row]);
            assert_eq!((example.label, example.weight), (Some(f64::from(row)), f64::from(row % 3)));
            assert_eq!(example.features.offset(), f64::from(row));
        }
    }

    #[test]
    fn a_shuffle_has_each_row_once_and_draws_have_each_as_often_as_chance() {
        let rows = rows(3000);
        let mut random = SplitMix64::new(1);
        let shuffled = rows.places(Order::Shuffle, &mut random);
        let mut sorted = shuffled.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..rows.len()).collect::<Vec<_>>());
        assert_ne!(shuffled, sorted);
        assert_ne!(shuffled, rows.places(Order::Shuffle, &mut random));
        // Of n draws from n a share of 1/e is missed: 0.368 ± 0.5/√n.
        let drawn = rows.places(Order::Random, &mut random);
        let mut seen = vec![false; rows.len()];
        drawn.iter().for_each(|&place| seen[place] = true);
        let missed = seen.iter().filter(|&&seen| !seen).count() as f64 / rows.len() as f64;
        assert!((missed - 0.368).abs() < 0.05, "{missed}");
    }
}
