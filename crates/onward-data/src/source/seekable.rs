//! Inputs that are read by seeking.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use bytes::Bytes;
use parquet::errors::Result;
use parquet::file::reader::{ChunkReader, Length};

/// A file, or bytes in memory.
pub(crate) enum Seekable {
    File(File),
    Memory(Bytes),
}

impl Seekable {
    /// The bytes from a position on.
    pub(crate) fn read_at(&self, at: u64, size: usize) -> io::Result<Bytes> {
        match self {
            Self::File(file) => {
                let (mut file, mut bytes) = (file, vec![0; size]);
                file.seek(SeekFrom::Start(at))?;
                file.read_exact(&mut bytes)?;
                Ok(Bytes::from(bytes))
            }
            Self::Memory(bytes) => {
                let start = usize::try_from(at).unwrap_or(usize::MAX);
                let range = start..start.saturating_add(size);
                let is_there = bytes.get(range.clone()).is_some();
                is_there.then(|| bytes.slice(range)).ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
            }
        }
    }

    /// The first eight bytes, or all if there are fewer.
    pub(crate) fn magic(&self) -> io::Result<Bytes> {
        self.read_at(0, self.len().min(8) as usize)
    }
}

impl Length for Seekable {
    fn len(&self) -> u64 {
        match self {
            Self::File(file) => Length::len(file),
            Self::Memory(bytes) => Length::len(bytes),
        }
    }
}

impl ChunkReader for Seekable {
    type T = Box<dyn Read>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        Ok(match self {
            Self::File(file) => Box::new(file.get_read(start)?),
            Self::Memory(bytes) => Box::new(bytes.get_read(start)?),
        })
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        Ok(self.read_at(start, length)?)
    }
}
