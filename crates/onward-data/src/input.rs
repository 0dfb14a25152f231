//! A file or standard input, opened and decompressed.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Instant;

use flate2::bufread::GzDecoder;

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

/// How much of a compressed input is read at a time.
const BUFFER: usize = 128 << 10;

const GZIP: &[u8] = &[0x1f, 0x8b];
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];

/// A frame of Zstandard, be it one to be skipped, as pzstd writes them first.
fn is_zstd(head: &[u8]) -> bool {
    head.starts_with(ZSTD) || matches!(head, [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..])
}

/// Whether the first bytes are those of a compressed input.
pub(crate) fn is_compressed(head: &[u8]) -> bool {
    head.starts_with(GZIP) || is_zstd(head)
}

/// An open input: decompressed bytes.
pub(crate) enum Opened {
    /// A file, or what is decompressed: a short read means nothing.
    Steady(Box<dyn Read + Send>),
    /// A pipe or terminal: a short read means that no more is there yet.
    Live(Live),
}

impl Opened {
    pub(crate) fn is_live(&self) -> bool {
        matches!(self, Self::Live(_))
    }

    /// Waits until something can be read (or has ended), `until` a moment at the most.
    pub(crate) fn wait(&mut self, until: Instant) -> bool {
        match self {
            Self::Steady(_) => true,
            Self::Live(live) => live.wait(until),
        }
    }
}

impl Read for Opened {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Steady(reader) => reader.read(buffer),
            Self::Live(live) => live.read(buffer),
        }
    }
}

/// A pipe that is read on a thread of its own, since only so can one stop to wait for it.
pub(crate) struct Live {
    receiver: Receiver<io::Result<Vec<u8>>>,
    block: io::Result<Vec<u8>>,
    at: usize,
}

/// What a pipe holds on Linux, if nobody asked for more.
const BLOCK: usize = 64 << 10;

impl Live {
    fn new(reader: impl Read + Send + 'static) -> Self {
        let (sender, receiver) = sync_channel(2);
        // It may wait for ever: it is left to the end of the program.
        drop(std::thread::spawn(move || send_blocks(reader, &sender)));
        Self { receiver, block: Ok(Vec::new()), at: 0 }
    }

    fn has_more(&self) -> bool {
        self.block.as_ref().is_ok_and(|block| self.at < block.len())
    }

    fn put(&mut self, block: io::Result<Vec<u8>>) {
        (self.block, self.at) = (block, 0);
    }

    fn wait(&mut self, until: Instant) -> bool {
        if self.has_more() || self.block.is_err() {
            return true;
        }
        match self.receiver.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(block) => self.put(block),
            Err(RecvTimeoutError::Timeout) => return false,
            Err(RecvTimeoutError::Disconnected) => {}
        }
        true
    }
}

impl Read for Live {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if !self.has_more() && self.block.is_ok() {
            match self.receiver.recv() {
                Ok(block) => self.put(block),
                Err(_) => return Ok(0),
            }
        }
        let block = std::mem::replace(&mut self.block, Ok(Vec::new()))?;
        let length = buffer.len().min(block.len() - self.at);
        buffer[..length].copy_from_slice(&block[self.at..self.at + length]);
        self.at += length;
        self.block = Ok(block);
        Ok(length)
    }
}

/// Reads to the end, or until nobody listens any more.
fn send_blocks(mut reader: impl Read, sender: &SyncSender<io::Result<Vec<u8>>>) {
    loop {
        let mut block = vec![0; BLOCK];
        let read = reader.read(&mut block);
        let ends = !matches!(&read, Ok(length) if *length > 0);
        let sent = match read {
            Ok(0) => return,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Ok(length) => {
                block.truncate(length);
                sender.send(Ok(block))
            }
            Err(error) => sender.send(Err(error)),
        };
        if ends || sent.is_err() {
            return;
        }
    }
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

/// The members of a gzip file one after the other. Zeros after the last one, with which
/// tapes and some programs fill up blocks, count for nothing.
struct Gzip<R> {
    /// `None` at the end.
    member: Option<GzDecoder<R>>,
}

/// Something else follows compressed data.
#[derive(Debug, thiserror::Error)]
#[error("the compressed data is followed by something that is not gzip")]
struct Trailing;

impl<R: BufRead> Gzip<R> {
    fn new(reader: R) -> Self {
        Self { member: Some(GzDecoder::new(reader)) }
    }
}

impl<R: BufRead> Read for Gzip<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.member {
            let read = member.read(buffer)?;
            if read > 0 || buffer.is_empty() {
                return Ok(read);
            }
            let ended = self.member.take().map(GzDecoder::into_inner);
            self.member = ended.map(next_member).transpose()?.flatten();
        }
        Ok(0)
    }
}

fn next_member<R: BufRead>(mut reader: R) -> io::Result<Option<GzDecoder<R>>> {
    let mut is_padded = false;
    loop {
        let bytes = reader.fill_buf()?;
        let zeros = bytes.iter().take_while(|&&byte| byte == 0).count();
        is_padded |= zeros > 0;
        match bytes.get(zeros) {
            None if bytes.is_empty() => return Ok(None),
            None => reader.consume(zeros),
            Some(first) if *first == GZIP[0] && !is_padded => return Ok(Some(GzDecoder::new(reader))),
            Some(_) => return Err(io::Error::new(io::ErrorKind::InvalidData, Trailing)),
        }
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
    pub(crate) fn open(&self, count: Arc<AtomicU64>) -> Result<Opened, DataError> {
        let file = self.file()?;
        let is_file = file.as_ref().and_then(|file| file.metadata().ok()).is_some_and(|metadata| metadata.is_file());
        let mut raw: Box<dyn Read + Send> = match file {
            Some(file) => Box::new(Counted { inner: file, count }),
            None => Box::new(Counted { inner: io::stdin(), count }),
        };
        let head = self.head(&mut raw)?;
        let raw = io::Cursor::new(head.clone()).chain(raw);
        if head.starts_with(GZIP) {
            let buffered = BufReader::with_capacity(BUFFER, raw);
            return Ok(Opened::Steady(Box::new(Gzip::new(buffered))));
        }
        if is_zstd(&head) {
            let buffered = BufReader::with_capacity(BUFFER, raw);
            let decoder = zstd::stream::read::Decoder::with_buffer(buffered);
            return Ok(Opened::Steady(Box::new(decoder.map_err(|error| self.failed(&error))?)));
        }
        Ok(match is_file {
            true => Opened::Steady(Box::new(raw)),
            false => Opened::Live(Live::new(raw)),
        })
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
