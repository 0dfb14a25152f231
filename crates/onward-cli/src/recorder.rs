//! Keeps the labelled rows of the first pass, so that they can be walked again: in memory, and
//! when they are too many in a temporary file, which has no name and is gone with the program.
//! So pipes and streams larger than memory can be looked back on, too.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::sync::{Mutex, PoisonError};

use onward::Example;
use onward::regret::hindsight::{Block, Numbering, Row, Rows, SHARDS, share};

use crate::failure::Failure;
use crate::say;

/// Rows of more than this go to a file.
const MEMORY: usize = 256 << 20;

/// The rows of a stream.
pub(crate) struct Recorder {
    numbering: Numbering,
    /// The block that is being filled.
    block: Block,
    kept: Kept,
    bytes: usize,
    limit: usize,
    quiet: bool,
}

/// Where full blocks are.
enum Kept {
    Memory(Vec<Block>),
    File { file: Mutex<File>, places: Vec<Place>, end: u64 },
}

/// Where a block is in the file, and how much of what it holds.
#[derive(Debug, Clone, Copy)]
struct Place {
    start: u64,
    rows: usize,
    values: usize,
}

impl Place {
    fn bytes(self) -> usize {
        8 * self.values + 28 * self.rows
    }
}

impl Recorder {
    pub(crate) fn new(quiet: bool) -> Self {
        Self {
            numbering: Numbering::default(),
            block: Block::default(),
            kept: Kept::Memory(Vec::new()),
            bytes: 0,
            limit: MEMORY,
            quiet,
        }
    }

    /// Takes in a row; one without a label or of weight 0 is left out.
    pub(crate) fn push(&mut self, example: Example<'_>) -> Result<(), Failure> {
        let Some(label) = example.label.filter(|_| example.weight > 0.0) else { return Ok(()) };
        self.block.push(example, label, &mut self.numbering);
        if self.block.is_full() { self.settle() } else { Ok(()) }
    }

    /// All rows are in.
    pub(crate) fn finish(mut self) -> Result<Recording, Failure> {
        if !self.block.is_empty() {
            self.settle()?;
        }
        Ok(Recording { numbering: self.numbering, kept: self.kept })
    }

    /// Puts the block where full ones are.
    fn settle(&mut self) -> Result<(), Failure> {
        let block = std::mem::take(&mut self.block);
        self.bytes += block.bytes();
        if let Kept::Memory(blocks) = &mut self.kept {
            blocks.push(block);
            if self.bytes > self.limit {
                let blocks = std::mem::take(blocks);
                if !self.quiet {
                    let folder = std::env::temp_dir();
                    say::line(format_args!(
                        "the rows for --hindsight take more than {} MB: they are kept in a temporary file in {}",
                        self.limit >> 20,
                        folder.display()
                    ));
                }
                let file = tempfile::tempfile().map_err(|error| unwritten(&error))?;
                self.kept = Kept::File { file: Mutex::new(file), places: Vec::new(), end: 0 };
                blocks.iter().try_for_each(|block| self.write(block))?;
            }
            return Ok(());
        }
        self.write(&block)
    }

    /// Writes a block to the end of the file.
    fn write(&mut self, block: &Block) -> Result<(), Failure> {
        let Kept::File { file, places, end } = &mut self.kept else { return Ok(()) };
        let place = Place { start: *end, rows: block.len(), values: block.numbers.len() };
        let file = file.get_mut().unwrap_or_else(PoisonError::into_inner);
        file.write_all(&encoded(block)).map_err(|error| unwritten(&error))?;
        *end += place.bytes() as u64;
        places.push(place);
        Ok(())
    }
}

fn unwritten(error: &io::Error) -> Failure {
    Failure::system(format_args!(
        "the temporary file that --hindsight keeps rows in cannot be written: {error}; free some space in {}, or name \
         a folder that has some in the environment variable TMPDIR",
        std::env::temp_dir().display()
    ))
}

/// What the recorder kept.
pub(crate) struct Recording {
    numbering: Numbering,
    kept: Kept,
}

impl Recording {
    /// The numbers of the features.
    pub(crate) fn numbering(&self) -> &Numbering {
        &self.numbering
    }
}

impl Rows for Recording {
    type Error = io::Error;

    fn dimension(&self) -> usize {
        self.numbering.indices().len()
    }

    fn shards(&self) -> usize {
        SHARDS
    }

    fn visit(&self, shard: usize, each: &mut dyn FnMut(Row<'_>)) -> io::Result<()> {
        match &self.kept {
            Kept::Memory(blocks) => blocks[share(blocks.len(), shard)].iter().for_each(|block| block.visit(each)),
            Kept::File { file, places, .. } => {
                let mut bytes = Vec::new();
                for place in &places[share(places.len(), shard)] {
                    bytes.resize(place.bytes(), 0);
                    {
                        let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
                        file.seek(SeekFrom::Start(place.start))?;
                        file.read_exact(&mut bytes)?;
                    }
                    decoded(&bytes, *place).visit(each);
                }
            }
        }
        Ok(())
    }
}

/// A block as bytes: its columns one after the other, all numbers little-endian.
fn encoded(block: &Block) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(block.bytes());
    block.labels.iter().for_each(|value| bytes.extend_from_slice(&value.to_le_bytes()));
    block.weights.iter().for_each(|value| bytes.extend_from_slice(&value.to_le_bytes()));
    block.offsets.iter().for_each(|value| bytes.extend_from_slice(&value.to_le_bytes()));
    block.ends.iter().for_each(|value| bytes.extend_from_slice(&value.to_le_bytes()));
    block.numbers.iter().for_each(|value| bytes.extend_from_slice(&value.to_le_bytes()));
    block.values.iter().for_each(|value| bytes.extend_from_slice(&value.to_le_bytes()));
    bytes
}

/// The block that these bytes are.
fn decoded(bytes: &[u8], place: Place) -> Block {
    let (labels, bytes) = bytes.split_at(8 * place.rows);
    let (weights, bytes) = bytes.split_at(8 * place.rows);
    let (offsets, bytes) = bytes.split_at(8 * place.rows);
    let (ends, bytes) = bytes.split_at(4 * place.rows);
    let (numbers, values) = bytes.split_at(4 * place.values);
    Block {
        numbers: column(numbers, u32::from_le_bytes),
        values: column(values, f32::from_le_bytes),
        ends: column(ends, u32::from_le_bytes),
        labels: column(labels, f64::from_le_bytes),
        weights: column(weights, f64::from_le_bytes),
        offsets: column(offsets, f64::from_le_bytes),
    }
}

fn column<const N: usize, T>(bytes: &[u8], read: fn([u8; N]) -> T) -> Vec<T> {
    bytes.as_chunks::<N>().0.iter().map(|&bytes| read(bytes)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 5,000 rows of up to 59 features, among them some without a label or weight.
    fn recording(limit: usize) -> Recording {
        let mut batch = onward::Batch::default();
        for row in 0..5000u32 {
            (0..row % 60).for_each(|at| batch.push(at * 977 % 4096, (row + at) as f32 * 0.5));
            batch.set_offset(f64::from(row) * 0.25);
            batch.finish((row % 7 != 0).then_some(f64::from(row)), f64::from(row % 5));
        }
        let mut recorder = Recorder { limit, ..Recorder::new(true) };
        batch.iter().try_for_each(|example| recorder.push(example)).unwrap();
        recorder.finish().unwrap()
    }

    fn rows(recording: &Recording) -> Vec<String> {
        let mut rows = Vec::new();
        for shard in 0..recording.shards() {
            recording.visit(shard, &mut |row| rows.push(format!("{row:?}"))).unwrap();
        }
        rows
    }

    #[test]
    fn rows_come_back_from_memory_and_from_the_file() {
        let memory = recording(usize::MAX);
        let labelled = (0..5000u32).filter(|row| row % 7 != 0 && row % 5 != 0).count();
        assert!(matches!(memory.kept, Kept::Memory(_)) && rows(&memory).len() == labelled);
        // From the first block on, and after some.
        for limit in [0, 700_000] {
            let file = recording(limit);
            assert!(matches!(file.kept, Kept::File { .. }));
            assert_eq!(rows(&file), rows(&memory));
            assert_eq!(file.numbering().indices(), memory.numbering().indices());
        }
    }
}
