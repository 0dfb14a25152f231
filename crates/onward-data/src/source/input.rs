//! Where examples come from: a file, standard input, memory, or any reader.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};

use super::decompress::{self, Trailing, decompressed, is_compressed};
use super::live::{CountingReader, InputStream, LiveReader};
#[cfg(feature = "arrow")]
use super::seekable::Seekable;
use crate::error::{DataError, Result, io_reason};
#[cfg(feature = "arrow")]
use bytes::Bytes;

/// Where examples come from.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Input {
    /// A file, named pipe or device.
    Path(PathBuf),
    /// Standard input.
    Standard,
    /// Bytes in memory: what a file would hold.
    Bytes(NamedBytes),
    /// A reader, which can be read once.
    Reader(NamedReader),
}

/// Bytes with a name for messages.
#[derive(Clone)]
pub struct NamedBytes {
    name: Arc<str>,
    bytes: Arc<[u8]>,
}

/// A reader with a name for messages. Clones share it: the first that is read has it.
#[derive(Clone)]
pub struct NamedReader {
    name: Arc<str>,
    reader: Arc<Mutex<Option<Box<dyn Read + Send>>>>,
}

impl fmt::Debug for NamedBytes {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:?} ({} bytes)", self.name, self.bytes.len())
    }
}

impl fmt::Debug for NamedReader {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:?}", self.name)
    }
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

impl Input {
    /// Bytes in memory, as a file would hold them: compressed or not, in any format. Messages call them `name`.
    ///
    /// ```
    /// use onward_data::{Input, Options, Reader};
    ///
    /// let input = Input::bytes("examples", "1 1:0.5\n0 1:0.25\n");
    /// let mut reader = Reader::open(&[input], Options::default())?;
    /// assert_eq!(reader.next_batch()?.map(|parsed| parsed.batch.len()), Some(2));
    /// # Ok::<(), onward_data::DataError>(())
    /// ```
    pub fn bytes(name: impl Into<Arc<str>>, bytes: impl AsRef<[u8]>) -> Self {
        Self::Bytes(NamedBytes { name: name.into(), bytes: Arc::from(bytes.as_ref()) })
    }

    /// What a reader gives, as a pipe does: it is read once, from a thread of its own. Messages call it `name`.
    pub fn reader(name: impl Into<Arc<str>>, reader: impl Read + Send + 'static) -> Self {
        Self::Reader(NamedReader { name: name.into(), reader: Arc::new(Mutex::new(Some(Box::new(reader)))) })
    }

    /// How messages name it.
    pub fn name(&self) -> String {
        match self {
            Self::Path(path) => path.display().to_string(),
            Self::Standard => "standard input".to_owned(),
            Self::Bytes(NamedBytes { name, .. }) | Self::Reader(NamedReader { name, .. }) => name.to_string(),
        }
    }

    /// Whether it can be read again from the start.
    pub fn is_repeatable(&self) -> bool {
        self.size().is_some()
    }

    /// How many bytes it has, if that is known: not of a pipe.
    pub fn size(&self) -> Option<u64> {
        match self {
            Self::Path(path) => path.metadata().ok().filter(std::fs::Metadata::is_file).map(|metadata| metadata.len()),
            Self::Bytes(input) => Some(input.bytes.len() as u64),
            Self::Standard | Self::Reader(_) => None,
        }
    }

    /// Refuses what cannot be opened. A pipe is not opened for it: its writer would see
    /// it closed again.
    pub(crate) fn check(&self) -> Result {
        match self {
            Self::Path(path) if self.is_repeatable() => self.file(path).map(drop),
            Self::Path(path) => self.check_path(path),
            Self::Standard | Self::Bytes(_) | Self::Reader(_) => Ok(()),
        }
    }

    fn check_path(&self, path: &Path) -> Result {
        let metadata = path.metadata().map_err(|error| self.cannot_open(&error))?;
        if metadata.is_dir() {
            return Err(DataError::open("is a folder")
                .input(&self.name())
                .advise("name the files in it, for instance with *"));
        }
        Ok(())
    }

    fn file(&self, path: &Path) -> Result<File> {
        self.check_path(path)?;
        File::open(path).map_err(|error| self.cannot_open(&error))
    }

    /// The input itself, for formats that seek; `None` where that cannot be done.
    #[cfg(feature = "arrow")]
    pub(crate) fn seekable(&self) -> Result<Option<Seekable>> {
        Ok(match self {
            Self::Path(path) if self.is_repeatable() => Some(Seekable::File(self.file(path)?)),
            Self::Bytes(input) => Some(Seekable::Memory(Bytes::from_owner(Arc::clone(&input.bytes)))),
            Self::Path(_) | Self::Standard | Self::Reader(_) => None,
        })
    }

    fn cannot_open(&self, error: &io::Error) -> DataError {
        let found = match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::IsADirectory => io_reason(error),
            _ => format!("cannot be read: {}", io_reason(error)),
        };
        DataError::open(found).input(&self.name())
    }

    /// Opens it; gzip and Zstandard are recognised by their first bytes and decompressed.
    /// What is read of the file, before decompression, is added to `count`.
    pub(crate) fn open(&self, count: Arc<AtomicU64>) -> Result<InputStream> {
        let is_steady = self.is_repeatable();
        let inner: Box<dyn Read + Send> = match self {
            Self::Path(path) => Box::new(self.file(path)?),
            Self::Standard => Box::new(io::stdin()),
            Self::Bytes(input) => Box::new(io::Cursor::new(Arc::clone(&input.bytes))),
            Self::Reader(input) => {
                let taken = input.reader.lock().unwrap_or_else(PoisonError::into_inner).take();
                taken.ok_or_else(|| DataError::open("was read before, and can be read only once").input(&input.name))?
            }
        };
        let mut raw = CountingReader { inner, count };
        let mut head = Vec::with_capacity(decompress::HEAD);
        let read = raw.by_ref().take(decompress::HEAD as u64).read_to_end(&mut head);
        read.map_err(|error| self.failed(&error))?;
        let whole = io::Cursor::new(head.clone()).chain(raw);
        Ok(match is_compressed(&head) {
            true => InputStream::Steady(decompressed(&head, whole).map_err(|error| self.failed(&error))?),
            false if is_steady => InputStream::Steady(Box::new(whole)),
            false => InputStream::Live(LiveReader::new(whole)),
        })
    }

    /// Reading failed after the input was opened.
    pub(crate) fn failed(&self, error: &io::Error) -> DataError {
        use io::ErrorKind::{InvalidData, InvalidInput, Other, UnexpectedEof};
        if error.get_ref().is_some_and(|inner| inner.is::<Trailing>()) {
            return DataError::format(error)
                .advise("cut off what follows, or copy or download it again")
                .input(&self.name());
        }
        match error.kind() {
            UnexpectedEof => DataError::format("ends in the middle of the compressed data")
                .advise("it was cut short: copy or download it again"),
            InvalidData | InvalidInput | Other => {
                DataError::format(format!("the compressed data is damaged ({error})"))
                    .advise("copy or download it again")
            }
            _ => DataError::io(format!("reading failed: {error}")),
        }
        .input(&self.name())
    }
}
