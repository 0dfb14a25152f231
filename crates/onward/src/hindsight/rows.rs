//! Rows that can be walked again and again, in shards.
//!
//! Passes are made shard by shard. Shards may be walked at the same time; what comes out of
//! them is joined in their order, so that the bits depend on where the shards end, never on
//! who walked them. Features are numbered 0, 1, 2, … in the order of their first appearance
//! ([`Numbering`]): what is kept for each feature lies side by side.

use std::convert::Infallible;
use std::ops::Range;

use crate::Example;
use crate::numeric::sum;
use crate::storage::table::ParameterTable;

/// A labelled row of importance above 0, its features by number.
#[derive(Debug, Clone, Copy)]
pub struct LabelledRow<'a> {
    /// The numbers of the features, each below [`RowSource::dimension`].
    pub numbers: &'a [u32],
    /// Their values, as many, finite.
    pub values: &'a [f32],
    /// The label, one that the loss takes.
    pub label: f64,
    /// The importance weight, above 0.
    pub weight: f64,
    /// What every score starts from.
    pub offset: f64,
}

impl LabelledRow<'_> {
    /// ⟨w, x⟩, the offset left out.
    #[inline]
    pub fn dot(&self, weights: &[f64]) -> f64 {
        let mut sums = [0.0; 4];
        let (numbers, values) = (self.numbers.chunks_exact(4), self.values.chunks_exact(4));
        let rest = numbers.remainder().iter().zip(values.remainder());
        let tail = sum::sum(rest.map(|(&number, &value)| weights[number as usize] * f64::from(value)));
        for (numbers, values) in numbers.zip(values) {
            for lane in 0..4 {
                sums[lane] += weights[numbers[lane] as usize] * f64::from(values[lane]);
            }
        }
        (sums[0] + sums[2]) + (sums[1] + sums[3]) + tail
    }
}

/// Rows that can be walked again and again.
pub trait RowSource: Sync {
    /// Why a walk can fail.
    type Error: Send;

    /// The numbers of all features are below this.
    fn dimension(&self) -> usize;

    /// In how many parts the rows are walked: a number that depends on the rows alone, not on
    /// the machine.
    fn shards(&self) -> usize;

    /// Walks the rows of a shard, in order.
    ///
    /// # Errors
    /// Where rows cannot be read again.
    fn visit(&self, shard: usize, each: &mut dyn FnMut(LabelledRow<'_>)) -> Result<(), Self::Error>;
}

/// Who does the work on the shards.
pub trait Workers: Sync {
    /// The results of `work` on 0, 1, …, `count` − 1, in this order, whoever computed them when.
    fn map<T: Send>(&self, count: usize, work: &(dyn Fn(usize) -> T + Sync)) -> Vec<T>;
}

/// One shard after the other, on the caller's thread.
#[derive(Debug, Clone, Copy, Default)]
pub struct Serial;

impl Workers for Serial {
    fn map<T: Send>(&self, count: usize, work: &(dyn Fn(usize) -> T + Sync)) -> Vec<T> {
        (0..count).map(work).collect()
    }
}

/// Numbers features in the order of their first appearance.
#[derive(Debug, Clone, Default)]
pub struct Numbering {
    /// Of each index one more than its number; 0 if it has none.
    table: ParameterTable<u32>,
    indices: Vec<u32>,
}

impl Numbering {
    /// The number of a feature, which it has from now on.
    #[inline]
    pub fn number(&mut self, index: u32) -> u32 {
        let entry = self.table.entry(index);
        if *entry == 0 {
            self.indices.push(index);
            // Indices are below 2^31, and so are their numbers.
            *entry = self.indices.len() as u32;
        }
        *entry - 1
    }

    /// The indices of the features, by number.
    pub fn indices(&self) -> &[u32] {
        &self.indices
    }
}

/// Rows in an arena.
#[derive(Debug, Clone, Default)]
pub struct RowBlock {
    /// The numbers of the features of all rows, one row after the other.
    pub numbers: Vec<u32>,
    /// Their values.
    pub values: Vec<f32>,
    /// Where each row ends.
    pub ends: Vec<u32>,
    /// The labels.
    pub labels: Vec<f64>,
    /// The importance weights.
    pub weights: Vec<f64>,
    /// The offsets.
    pub offsets: Vec<f64>,
}

/// A block with so many features takes no further row.
const FULL: usize = 1 << 16;

/// Nor one with so many rows.
const FULL_ROWS: usize = 1 << 14;

impl RowBlock {
    /// Adds a row; without a numbering its features keep their indices as numbers.
    #[inline]
    pub fn push(&mut self, example: Example<'_>, label: f64, numbering: Option<&mut Numbering>) {
        let indices = example.features.indices();
        match numbering {
            Some(numbering) => self.numbers.extend(indices.iter().map(|&index| numbering.number(index))),
            None => self.numbers.extend_from_slice(indices),
        }
        self.values.extend_from_slice(example.features.values());
        self.ends.push(self.numbers.len() as u32);
        self.labels.push(label);
        self.weights.push(example.weight);
        self.offsets.push(example.features.offset());
    }

    /// Whether the next row belongs in another block.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.numbers.len() >= FULL || self.ends.len() >= FULL_ROWS
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// How much memory the rows take, in bytes.
    pub fn bytes(&self) -> usize {
        8 * self.numbers.len() + 28 * self.ends.len()
    }

    /// A row.
    ///
    /// # Panics
    /// When there are not so many.
    #[inline]
    pub fn row(&self, at: usize) -> LabelledRow<'_> {
        let start = if at == 0 { 0 } else { self.ends[at - 1] as usize };
        let features = start..self.ends[at] as usize;
        LabelledRow {
            numbers: &self.numbers[features.clone()],
            values: &self.values[features],
            label: self.labels[at],
            weight: self.weights[at],
            offset: self.offsets[at],
        }
    }

    /// Walks the rows.
    pub fn visit(&self, each: &mut dyn FnMut(LabelledRow<'_>)) {
        (0..self.len()).for_each(|at| each(self.row(at)));
    }
}

/// In how many shards rows are walked: enough for the threads of most machines, and few enough
/// for sums over features, which there is one of for each shard.
pub const SHARDS: usize = 16;

/// The part of so many blocks that belongs to a shard.
pub fn share(blocks: usize, shard: usize) -> Range<usize> {
    shard * blocks / SHARDS..(shard + 1) * blocks / SHARDS
}

/// The labelled rows of a stream, in memory.
///
/// ```
/// use onward::{Batch, hindsight::{RowSource, RowsInMemory}};
/// let mut batch = Batch::default();
/// batch.push(7, 2.0);
/// batch.finish(Some(1.0), 1.0);
/// let mut rows = RowsInMemory::default();
/// rows.record(&batch);
/// assert_eq!((rows.dimension(), rows.numbering().indices()), (1, &[7][..]));
/// ```
#[derive(Debug, Clone, Default)]
pub struct RowsInMemory {
    numbering: Numbering,
    blocks: Vec<RowBlock>,
}

impl RowsInMemory {
    /// Takes in the rows of a batch; those without a label or of importance 0 are left out.
    pub fn record(&mut self, batch: &crate::Batch) {
        batch.iter().for_each(|example| self.push(example));
    }

    /// Takes in a row; one without a label or of importance 0 is left out.
    pub fn push(&mut self, example: Example<'_>) {
        let Some(label) = example.label.filter(|_| example.weight > 0.0) else { return };
        if self.blocks.last().is_none_or(RowBlock::is_full) {
            self.blocks.push(RowBlock::default());
        }
        if let Some(block) = self.blocks.last_mut() {
            block.push(example, label, Some(&mut self.numbering));
        }
    }

    /// The numbers of the features.
    pub fn numbering(&self) -> &Numbering {
        &self.numbering
    }
}

impl RowSource for RowsInMemory {
    type Error = Infallible;

    fn dimension(&self) -> usize {
        self.numbering.indices.len()
    }

    fn shards(&self) -> usize {
        SHARDS
    }

    fn visit(&self, shard: usize, each: &mut dyn FnMut(LabelledRow<'_>)) -> Result<(), Infallible> {
        self.blocks[share(self.blocks.len(), shard)].iter().for_each(|block| block.visit(each));
        Ok(())
    }
}
