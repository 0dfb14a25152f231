//! Labels in bounded memory: a histogram whose cells are as narrow as their number allows.
//!
//! Up to 4,096 distinct labels are kept as they are. When there are more, labels are
//! grouped by a grid whose width is a power of two, and which is doubled whenever so many
//! of its cells are in use; only cells in use are kept, so that a few labels far out do
//! not make it coarse. Each cell keeps the weight and the mean of its labels.

use std::collections::BTreeMap;

use crate::Error;
use crate::archive::{Archive, fields};

/// Cells in use, at the most.
const MOST_CELLS: usize = 4096;

/// No width is less than 2^-872: labels within ±3.4e38 then have cells whose numbers are finite.
const SMALLEST_EXPONENT: i32 = -872;

/// The labels of a cell.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct GridCell {
    /// Σ h.
    weight: f64,
    /// Σ h·y.
    sum: f64,
}

impl GridCell {
    fn add(&mut self, other: Self) {
        self.weight += other.weight;
        self.sum += other.sum;
    }
}

/// A histogram of labels.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Grid {
    /// A power of two; 0: every label has a cell of its own.
    width: f64,
    /// By the number of the cell, ⌊label/width⌋, or by the label itself.
    cells: BTreeMap<LabelKey, GridCell>,
}

/// A finite number that can be sorted.
#[derive(Debug, Clone, Copy, PartialEq)]
struct LabelKey(f64);

impl Eq for LabelKey {}

impl PartialOrd for LabelKey {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for LabelKey {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl Grid {
    /// Takes in a label of importance > 0.
    pub(crate) fn observe(&mut self, label: f64, weight: f64) {
        let cell = self.cells.entry(self.key(label)).or_default();
        cell.add(GridCell { weight, sum: weight * label });
        if self.cells.len() > MOST_CELLS {
            self.coarsen();
        }
    }

    /// The mean labels of the cells, in order, with their weights.
    pub(crate) fn labels(&self) -> impl DoubleEndedIterator<Item = (f64, f64)> {
        self.cells.values().map(|cell| (cell.sum / cell.weight, cell.weight))
    }

    /// Whether cells may hold labels that differ.
    pub(crate) fn is_coarse(&self) -> bool {
        self.width > 0.0
    }

    /// The ends of the cells, in order, with the means and weights of their labels. Where it is [coarse](Self::is_coarse).
    pub(crate) fn cells(&self) -> impl Iterator<Item = ((f64, f64), f64, f64)> {
        let ends = |key: &LabelKey| (key.0 * self.width, (key.0 + 1.0) * self.width);
        self.cells.iter().map(move |(key, cell)| (ends(key), cell.sum / cell.weight, cell.weight))
    }

    fn key(&self, label: f64) -> LabelKey {
        // 0 and −0 are one label.
        LabelKey(if self.width > 0.0 { (label / self.width).floor() } else { label } + 0.0)
    }

    /// Widens the cells until at most half as many are in use.
    fn coarsen(&mut self) {
        if self.width == 0.0 {
            self.width = self.finest();
            self.regroup(|label, width| (label / width).floor());
        }
        while 2 * self.cells.len() > MOST_CELLS {
            self.width *= 2.0;
            self.regroup(|number, _| (0.5 * number).floor());
        }
    }

    /// The first width: no more than the least distance between two labels.
    fn finest(&self) -> f64 {
        let labels: Vec<f64> = self.cells.keys().map(|key| key.0).collect();
        let least = labels.windows(2).map(|pair| pair[1] - pair[0]).fold(f64::MAX, f64::min);
        // ⌊log₂⌋ of it; −1023 if it is subnormal.
        let exponent = (least.to_bits() >> 52) as i32 - 1023;
        2f64.powi(exponent.max(SMALLEST_EXPONENT))
    }

    fn regroup(&mut self, number: impl Fn(f64, f64) -> f64) {
        let width = self.width;
        for (key, cell) in std::mem::take(&mut self.cells) {
            self.cells.entry(LabelKey(number(key.0, width) + 0.0)).or_default().add(cell);
        }
    }

    /// Saves or loads what is needed to continue to the bit.
    ///
    /// # Errors
    /// When something is missing or does not match.
    pub(crate) fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        archive.number("width", &mut self.width)?;
        let mut cells: Vec<(f64, GridCell)> = self.cells.iter().map(|(key, &cell)| (key.0, cell)).collect();
        let fields = fields!((f64, GridCell) { "number": F64 0, "weight": F64 1.weight, "sum": F64 1.sum });
        archive.records(&mut cells, &(0.0, GridCell::default()), &fields)?;
        if archive.is_loading() {
            self.cells = cells.into_iter().map(|(number, cell)| (LabelKey(number), cell)).collect();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn grid(labels: &[f64]) -> Grid {
        let mut grid = Grid::default();
        labels.iter().for_each(|&label| grid.observe(label, 1.0));
        grid
    }

    #[test]
    fn few_labels_are_exact() {
        let labels: Vec<f64> = (0..4096).map(|t| 1e5 + f64::from(t) * 1e-9).collect();
        assert!(grid(&labels).labels().map(|(label, _)| label).eq(labels.iter().copied()));
        assert_eq!(grid(&[0.0, -0.0, 1.0]).labels().collect::<Vec<_>>(), [(0.0, 2.0), (1.0, 1.0)]);
    }

    #[test]
    fn outliers_do_not_make_the_grid_coarse() {
        let mut labels: Vec<f64> = (0..50_000u32).map(|t| f64::from(t * 7919 % 50_021) / 50_021.0).collect();
        labels.extend([1e38, -3e38, 1e9]);
        let grid = grid(&labels);
        assert!(grid.width <= 1.0 / 1024.0 && grid.cells.len() > 1024, "{} {}", grid.width, grid.cells.len());
    }

    #[test]
    fn labels_of_any_size_find_a_cell() {
        let mut labels: Vec<f64> = (0..5000).map(|t| f64::from(t) * 5e-324).collect();
        labels.extend([f64::from(f32::MAX), f64::from(f32::MIN)]);
        let grid = grid(&labels);
        assert!(grid.cells.len() <= MOST_CELLS && grid.cells.keys().all(|key| key.0.is_finite()));
        assert_eq!(grid.labels().map(|(_, weight)| weight).sum::<f64>(), 5002.0);
    }

    proptest! {
        #[test]
        fn labels_move_by_less_than_a_cell_and_none_is_lost(
            center in -1e6..1e6f64,
            spread in 1e-3..1e3f64,
            steps in prop::collection::vec(0u32..1_000_000, 5000..9000),
        ) {
            let labels: Vec<f64> = steps.iter().map(|&step| center + spread * f64::from(step) * 1e-6).collect();
            let mut grid = grid(&labels);
            let mut sorted = labels.clone();
            sorted.sort_by(f64::total_cmp);
            let mut at = 0;
            for (mean, weight) in grid.labels() {
                let cell = &sorted[at..at + weight as usize];
                let rounding = 1e-9 * (center.abs() + spread);
                prop_assert!(cell.iter().all(|label| (label - mean).abs() <= grid.width + rounding));
                at += weight as usize;
            }
            prop_assert_eq!(at, labels.len());
            prop_assert!(grid.cells.len() > MOST_CELLS / 4);
            let mut again = Grid::default();
            let state = Archive::saved(|archive| grid.persist(archive)).unwrap();
            again.persist(&mut Archive::loading(state)).unwrap();
            prop_assert_eq!(again, grid);
        }
    }
}
