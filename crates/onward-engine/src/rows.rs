//! The labelled rows of a stream, kept so that they can be walked again: in memory, and when they are too many
//! in a temporary file, which has no name and is gone with the program. So pipes and streams larger than
//! memory can be looked back on, and gone over in another order.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use onward::hindsight::{LabelledRow, Numbering, RowBlock, RowSource, SHARDS, share};
use onward::numeric::rng::SplitMix64;
use onward::{Batch, Example};

/// Rows of more bytes than this go to a file.
const MEMORY: usize = 256 << 20;

/// The bytes of a row in the file, its features left out: where they end, label, weight, offset.
const FIXED: usize = 28;

/// The bytes of a feature in the file: number and value.
const FEATURE: usize = 8;

/// Rows that are kept.
pub(crate) struct RowStore {
    /// Numbers features for walks in hindsight; without it rows have their features by index.
    numbering: Option<Numbering>,
    /// The block that is being filled.
    block: RowBlock,
    kept: Kept,
    /// The first row of each full block.
    firsts: Vec<usize>,
    rows: usize,
    bytes: usize,
    limit: usize,
    /// In which order they were learnt; `None`: as they came.
    order: Option<Vec<usize>>,
}

/// Where full blocks are.
enum Kept {
    Memory(Vec<RowBlock>),
    File { file: Mutex<File>, extents: Vec<Extent>, end: u64 },
}

/// Where a block is in the file, and how much of what it holds.
#[derive(Debug, Clone, Copy)]
struct Extent {
    start: u64,
    rows: usize,
    features: usize,
}

impl Extent {
    fn bytes(self) -> usize {
        FIXED * self.rows + FEATURE * self.features
    }
}

impl RowStore {
    /// An empty store; `numbered` if its rows are for walks in hindsight.
    pub(crate) fn new(numbered: bool) -> Self {
        Self {
            numbering: numbered.then(Numbering::default),
            block: RowBlock::default(),
            kept: Kept::Memory(Vec::new()),
            firsts: Vec::new(),
            rows: 0,
            bytes: 0,
            limit: MEMORY,
            order: None,
        }
    }

    /// Takes in a row; one without a label or of weight 0 teaches nothing and is left out.
    pub(crate) fn push(&mut self, example: Example<'_>) -> io::Result<()> {
        let Some(label) = example.label.filter(|_| example.weight > 0.0) else { return Ok(()) };
        self.block.push(example, label, self.numbering.as_mut());
        if self.block.is_full() { self.settle() } else { Ok(()) }
    }

    /// All rows are in.
    pub(crate) fn finish(&mut self) -> io::Result<()> {
        if self.block.is_empty() { Ok(()) } else { self.settle() }
    }

    /// How many rows there are.
    pub(crate) fn len(&self) -> usize {
        self.rows
    }

    /// The bytes beyond which the rows went to a file, if they did.
    pub(crate) fn spilled(&self) -> Option<usize> {
        matches!(self.kept, Kept::File { .. }).then_some(self.limit)
    }

    /// The indices of the features by number. Empty where they are not numbered.
    pub(crate) fn indices(&self) -> &[u32] {
        self.numbering.as_ref().map_or(&[], Numbering::indices)
    }

    /// Adds rows to a batch, as they were.
    pub(crate) fn read(&self, rows: impl Iterator<Item = usize>, batch: &mut Batch) -> io::Result<()> {
        self.visit_rows(rows, &mut |row| self.add(row, batch))
    }

    /// Visits some rows, in this order.
    fn visit_rows(&self, rows: impl Iterator<Item = usize>, each: &mut dyn FnMut(LabelledRow<'_>)) -> io::Result<()> {
        let mut bytes = Vec::new();
        for row in rows {
            let at = self.firsts.partition_point(|&first| first <= row) - 1;
            let within = row - self.firsts[at];
            match &self.kept {
                Kept::Memory(blocks) => each(blocks[at].row(within)),
                Kept::File { file, extents, .. } => read_row(file, extents[at], within, &mut bytes)?.visit(each),
            }
        }
        Ok(())
    }

    /// The rows were learnt in this order.
    pub(crate) fn learnt_in(&mut self, order: Vec<usize>) {
        self.order = Some(order);
    }

    /// Visits all rows in the order in which they were learnt.
    pub(crate) fn visit_as_learnt(&self, each: &mut dyn FnMut(LabelledRow<'_>)) -> io::Result<()> {
        match &self.order {
            Some(order) => self.visit_rows(order.iter().copied(), each),
            None => (0..self.shards()).try_for_each(|shard| self.visit(shard, each)),
        }
    }

    fn add(&self, row: LabelledRow<'_>, batch: &mut Batch) {
        match self.indices() {
            [] => batch.extend(row.numbers, row.values),
            indices => {
                row.numbers.iter().zip(row.values).for_each(|(&at, &x)| batch.push(indices[at as usize], x));
            }
        }
        batch.set_offset(row.offset);
        // It named each feature once when it came.
        batch.finish_distinct_but(&[], Some(row.label), row.weight);
    }

    /// Puts the block where full ones are.
    fn settle(&mut self) -> io::Result<()> {
        let block = std::mem::take(&mut self.block);
        self.firsts.push(self.rows);
        self.rows += block.len();
        self.bytes += block.bytes();
        if let Kept::Memory(blocks) = &mut self.kept {
            blocks.push(block);
            if self.bytes > self.limit {
                let blocks = std::mem::take(blocks);
                self.kept = Kept::File { file: Mutex::new(tempfile::tempfile()?), extents: Vec::new(), end: 0 };
                blocks.iter().try_for_each(|block| self.write(block))?;
            }
            return Ok(());
        }
        self.write(&block)
    }

    /// Writes a block to the end of the file.
    fn write(&mut self, block: &RowBlock) -> io::Result<()> {
        let Kept::File { file, extents, end } = &mut self.kept else { return Ok(()) };
        let extent = Extent { start: *end, rows: block.len(), features: block.numbers.len() };
        file.get_mut().unwrap_or_else(PoisonError::into_inner).write_all(&encoded(block))?;
        *end += extent.bytes() as u64;
        extents.push(extent);
        Ok(())
    }
}

impl RowSource for RowStore {
    type Error = io::Error;

    fn dimension(&self) -> usize {
        self.indices().len()
    }

    fn shards(&self) -> usize {
        SHARDS
    }

    fn visit(&self, shard: usize, each: &mut dyn FnMut(LabelledRow<'_>)) -> io::Result<()> {
        match &self.kept {
            Kept::Memory(blocks) => blocks[share(blocks.len(), shard)].iter().for_each(|block| block.visit(each)),
            Kept::File { file, extents, .. } => {
                let mut bytes = Vec::new();
                for extent in &extents[share(extents.len(), shard)] {
                    read_at(file, extent.start, extent.bytes(), &mut bytes)?;
                    let (fixed, features) = bytes.split_at(FIXED * extent.rows);
                    decoded(0, fixed, features).visit(each);
                }
            }
        }
        Ok(())
    }
}

/// A block as bytes: first the rows without their features, then the features of all rows; all numbers
/// little-endian.
fn encoded(block: &RowBlock) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(block.bytes());
    for row in 0..block.len() {
        bytes.extend_from_slice(&block.ends[row].to_le_bytes());
        bytes.extend_from_slice(&block.labels[row].to_le_bytes());
        bytes.extend_from_slice(&block.weights[row].to_le_bytes());
        bytes.extend_from_slice(&block.offsets[row].to_le_bytes());
    }
    for (number, value) in block.numbers.iter().zip(&block.values) {
        bytes.extend_from_slice(&number.to_le_bytes());
        bytes.extend_from_slice(&value.to_le_bytes());
    }
    bytes
}

/// The block that these bytes are; `start` is where its first row has its features.
fn decoded(start: u32, fixed: &[u8], features: &[u8]) -> RowBlock {
    let mut block = RowBlock::default();
    for row in fixed.as_chunks::<FIXED>().0 {
        block.ends.push(u32::from_le_bytes(bytes_of(row, 0)) - start);
        block.labels.push(f64::from_le_bytes(bytes_of(row, 4)));
        block.weights.push(f64::from_le_bytes(bytes_of(row, 12)));
        block.offsets.push(f64::from_le_bytes(bytes_of(row, 20)));
    }
    for feature in features.as_chunks::<FEATURE>().0 {
        block.numbers.push(u32::from_le_bytes(bytes_of(feature, 0)));
        block.values.push(f32::from_le_bytes(bytes_of(feature, 4)));
    }
    block
}

fn bytes_of<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let mut found = [0; N];
    found.copy_from_slice(&bytes[at..at + N]);
    found
}

/// A single row of a block, as a block of its own.
fn read_row(file: &Mutex<File>, extent: Extent, row: usize, bytes: &mut Vec<u8>) -> io::Result<RowBlock> {
    // Its features begin where those of the row before end.
    let before = row.saturating_sub(1);
    read_at(file, extent.start + (FIXED * before) as u64, FIXED * (row - before + 1), bytes)?;
    let start = if row > 0 { u32::from_le_bytes(bytes_of(bytes, 0)) } else { 0 };
    let fixed: [u8; FIXED] = bytes_of(bytes, FIXED * (row - before));
    let features: Range<u32> = start..u32::from_le_bytes(bytes_of(&fixed, 0));
    let first = extent.start + (FIXED * extent.rows + FEATURE * start as usize) as u64;
    read_at(file, first, FEATURE * features.len(), bytes)?;
    Ok(decoded(start, &fixed, bytes))
}

fn read_at(file: &Mutex<File>, start: u64, length: usize, bytes: &mut Vec<u8>) -> io::Result<()> {
    bytes.resize(length, 0);
    let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
    file.seek(SeekFrom::Start(start))?;
    file.read_exact(bytes)
}

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

    /// 5,000 rows of up to 59 features, among them some without a label or weight.
    fn batch() -> Batch {
        let mut batch = Batch::default();
        for row in 0..5000u32 {
            (0..row % 60).for_each(|at| batch.push(at * 977 % 4096, (row + at) as f32 * 0.5));
            batch.set_offset(f64::from(row) * 0.25);
            batch.finish((row % 7 != 0).then_some(f64::from(row)), f64::from(row % 5));
        }
        batch
    }

    fn store(limit: usize, numbered: bool) -> RowStore {
        let mut store = RowStore { limit, ..RowStore::new(numbered) };
        batch().iter().try_for_each(|example| store.push(example)).unwrap();
        store.finish().unwrap();
        store
    }

    /// The rows as a walk gives them.
    fn walked(store: &RowStore) -> Vec<String> {
        let mut rows = Vec::new();
        for shard in 0..store.shards() {
            store.visit(shard, &mut |row| rows.push(format!("{row:?}"))).unwrap();
        }
        rows
    }

    #[test]
    fn rows_come_back_from_memory_and_from_the_file() {
        let memory = store(usize::MAX, true);
        let labelled = (0..5000u32).filter(|row| row % 7 != 0 && row % 5 != 0).count();
        assert!(memory.spilled().is_none() && walked(&memory).len() == labelled && memory.len() == labelled);
        // From the first block on, and after some.
        for limit in [0, 700_000] {
            let file = store(limit, true);
            assert_eq!(file.spilled(), Some(limit));
            assert_eq!(walked(&file), walked(&memory));
            assert_eq!(file.indices(), memory.indices());
        }
    }

    #[test]
    fn rows_are_visited_in_the_order_in_which_they_were_learnt() {
        for limit in [usize::MAX, 0, 700_000] {
            let mut store = store(limit, true);
            let visited = |store: &RowStore| {
                let mut labels = Vec::new();
                store.visit_as_learnt(&mut |row| labels.push(row.label)).unwrap();
                labels
            };
            let came = visited(&store);
            let order: Vec<usize> = (0..store.len()).map(|at| at * 1999 % store.len()).collect();
            store.learnt_in(order.clone());
            assert_eq!(visited(&store), order.iter().map(|&at| came[at]).collect::<Vec<_>>());
        }
    }

    #[test]
    fn rows_are_read_as_they_were_in_any_order() {
        let batch = batch();
        let kept: Vec<_> = batch.iter().filter(|it| it.label.is_some() && it.weight > 0.0).collect();
        let shown = |it: &Example<'_>| {
            let x = it.features;
            format!("{:?}", (x.indices(), x.values(), x.offset(), it.label, it.weight))
        };
        for (limit, numbered) in [(usize::MAX, true), (usize::MAX, false), (0, true), (0, false), (700_000, false)] {
            let store = store(limit, numbered);
            let order = || (0..store.len()).map(|at| at * 1999 % store.len());
            let mut read = Batch::default();
            store.read(order(), &mut read).unwrap();
            assert_eq!(read.len(), kept.len());
            for (at, example) in order().zip(read.iter()) {
                assert_eq!(shown(&example), shown(&kept[at]), "{limit} {numbered} {at}");
            }
        }
    }
}
