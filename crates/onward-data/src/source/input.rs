//! Where examples come from: a file or standard input.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use super::decompress::{self, Trailing, decompressed, is_compressed};
use super::live::{CountingReader, InputStream, LiveReader};
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

    /// Refuses what cannot be opened. A pipe is not opened for it: its writer would see
    /// it closed again.
    pub(crate) fn check(&self) -> Result<(), DataError> {
        if let Self::Path(path) = self {
            self.check_path(path)?;
        }
        if self.is_repeatable() {
            drop(self.file()?);
        }
        Ok(())
    }

    fn check_path(&self, path: &Path) -> Result<(), DataError> {
        let metadata = path.metadata().map_err(|error| self.cannot_open(&error))?;
        if metadata.is_dir() {
            return Err(DataError::new(DataErrorKind::Open, "is a folder")
                .input(&self.name())
                .remedy("name the files in it, for instance with *"));
        }
        Ok(())
    }

    /// The file itself, for formats that seek.
    pub(crate) fn file(&self) -> Result<Option<File>, DataError> {
        let Self::Path(path) = self else {
            return Ok(None);
        };
        self.check_path(path)?;
        File::open(path).map(Some).map_err(|error| self.cannot_open(&error))
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
    pub(crate) fn open(&self, count: Arc<AtomicU64>) -> Result<InputStream, DataError> {
        let file = self.file()?;
        let is_file = file.as_ref().and_then(|file| file.metadata().ok()).is_some_and(|metadata| metadata.is_file());
        let inner: Box<dyn Read + Send> = match file {
            Some(file) => Box::new(file),
            None => Box::new(io::stdin()),
        };
        let mut raw = CountingReader { inner, count };
        let mut head = Vec::with_capacity(decompress::HEAD);
        let read = raw.by_ref().take(decompress::HEAD as u64).read_to_end(&mut head);
        read.map_err(|error| self.failed(&error))?;
        let whole = io::Cursor::new(head.clone()).chain(raw);
        Ok(match is_compressed(&head) {
            true => InputStream::Steady(decompressed(&head, whole).map_err(|error| self.failed(&error))?),
            false if is_file => InputStream::Steady(Box::new(whole)),
            false => InputStream::Live(LiveReader::new(whole)),
        })
    }

    /// Reading failed after the input was opened.
    pub(crate) fn failed(&self, error: &io::Error) -> DataError {
        use io::ErrorKind::{InvalidData, InvalidInput, Other, UnexpectedEof};
        if error.get_ref().is_some_and(|inner| inner.is::<Trailing>()) {
            return DataError::new(DataErrorKind::Format, error)
                .remedy("cut off what follows, or copy or download it again")
                .input(&self.name());
        }
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
