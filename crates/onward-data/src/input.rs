//! A file or standard input, opened and decompressed.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{DataError, DataErrorKind};

/// Where examples come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// A file, named pipe or device.
    Path(PathBuf),
    /// Standard input.
    Standard,
}

impl From<&str> for Input {
    /// `-` is standard input.
    fn from(text: &str) -> Self {
        if text == "-" { Self::Standard } else { Self::Path(PathBuf::from(text)) }
    }
}

impl From<&Path> for Input {
    fn from(path: &Path) -> Self {
        Self::Path(path.to_owned())
    }
}

const GZIP: &[u8] = &[0x1f, 0x8b];
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];

/// Whether the first bytes are those of a compressed input.
#[cfg_attr(not(feature = "arrow"), allow(dead_code))]
pub(crate) fn is_compressed(head: &[u8]) -> bool {
    head.starts_with(GZIP) || head.starts_with(ZSTD)
}

/// An open input: decompressed bytes.
pub(crate) struct Opened {
    pub(crate) reader: Box<dyn Read + Send>,
    /// Whether a short read means that no more is there yet.
    pub(crate) is_live: bool,
}

/// A reader that counts what passes.
struct Counted<R> {
    inner: R,
    count: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.count.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

impl Input {
    /// How messages name it.
    pub fn name(&self) -> String {
        match self {
            Self::Path(path) => path.display().to_string(),
            Self::Standard => "standard input".to_owned(),
        }
    }

    /// Whether it can be read again from the start.
    pub fn is_repeatable(&self) -> bool {
        match self {
            Self::Path(path) => path.metadata().is_ok_and(|metadata| metadata.is_file()),
            Self::Standard => false,
        }
    }

    /// The bytes of the file on disk; `None` for a pipe.
    pub fn size(&self) -> Option<u64> {
        match self {
            Self::Path(path) => path.metadata().ok().filter(std::fs::Metadata::is_file).map(|metadata| metadata.len()),
            Self::Standard => None,
        }
    }

    /// The file itself, for formats that seek.
    pub(crate) fn file(&self) -> Result<Option<File>, DataError> {
        let Self::Path(path) = self else {
            return Ok(None);
        };
        let failed = |error: io::Error| self.cannot_open(&error);
        let metadata = path.metadata().map_err(failed)?;
        if metadata.is_dir() {
            return Err(DataError::new(DataErrorKind::Open, "is a folder")
                .input(&self.name())
                .remedy("name the files in it, for instance with *"));
        }
        File::open(path).map(Some).map_err(failed)
    }

    fn cannot_open(&self, error: &io::Error) -> DataError {
        let found = match error.kind() {
            io::ErrorKind::NotFound => "no such file".to_owned(),
            io::ErrorKind::PermissionDenied => "not allowed to read it".to_owned(),
            _ => format!("cannot be opened: {error}"),
        };
        DataError::new(DataErrorKind::Open, found).input(&self.name())
    }

    /// Opens it; gzip and Zstandard are recognised by their first bytes and decompressed.
    /// What is read of the file, before decompression, is added to `count`.
    pub(crate) fn open(&self, count: Arc<AtomicU64>) -> Result<Opened, DataError> {
        let file = self.file()?;
        let is_file = file.as_ref().and_then(|file| file.metadata().ok()).is_some_and(|metadata| metadata.is_file());
        let mut raw: Box<dyn Read + Send> = match file {
            Some(file) => Box::new(Counted { inner: file, count }),
            None => Box::new(Counted { inner: io::stdin(), count }),
        };
        let head = self.head(&mut raw)?;
        let buffered = BufReader::with_capacity(128 << 10, io::Cursor::new(head.clone()).chain(raw));
        let compressed = is_compressed(&head);
        let reader: Box<dyn Read + Send> = if head.starts_with(GZIP) {
            Box::new(flate2::bufread::MultiGzDecoder::new(buffered))
        } else if head.starts_with(ZSTD) {
            let decoder = zstd::stream::read::Decoder::with_buffer(buffered);
            Box::new(decoder.map_err(|error| self.failed(&error))?)
        } else {
            Box::new(buffered)
        };
        Ok(Opened { reader, is_live: !is_file && !compressed })
    }

    /// The first bytes, enough to recognise how they are compressed.
    fn head(&self, reader: &mut impl Read) -> Result<Vec<u8>, DataError> {
        let mut head = Vec::with_capacity(ZSTD.len());
        let read = reader.by_ref().take(ZSTD.len() as u64).read_to_end(&mut head);
        read.map_err(|error| self.failed(&error))?;
        Ok(head)
    }

    /// Reading failed after the input was opened.
    pub(crate) fn failed(&self, error: &io::Error) -> DataError {
        use io::ErrorKind::{InvalidData, InvalidInput, Other, UnexpectedEof};
        match error.kind() {
            UnexpectedEof => DataError::new(DataErrorKind::Format, "ends in the middle of the compressed data")
                .remedy("it was cut short: copy or download it again"),
            InvalidData | InvalidInput | Other => {
                DataError::new(DataErrorKind::Format, format!("the compressed data is damaged ({error})"))
                    .remedy("copy or download it again")
            }
            _ => DataError::new(DataErrorKind::Io, format!("reading failed: {error}")),
        }
        .input(&self.name())
    }
}
