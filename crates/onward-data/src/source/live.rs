//! Open inputs: those that are all there, and those that are waited for.

use std::io::{self, Cursor, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Instant;

/// An open input: decompressed bytes.
pub(crate) enum InputStream {
    /// A file, or what is decompressed: a short read means nothing.
    Steady(Box<dyn Read + Send>),
    /// A pipe or terminal: a short read means that no more is there yet.
    Live(LiveReader),
}

impl InputStream {
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

impl Read for InputStream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Steady(reader) => reader.read(buffer),
            Self::Live(live) => live.read(buffer),
        }
    }
}

/// A pipe that is read on a thread of its own: only then can one stop waiting for it.
pub(crate) struct LiveReader {
    receiver: Receiver<io::Result<Vec<u8>>>,
    block: Cursor<Vec<u8>>,
    failed: Option<io::Error>,
}

/// What a pipe holds on Linux by default.
const BLOCK: usize = 64 << 10;

impl LiveReader {
    pub(super) fn new(reader: impl Read + Send + 'static) -> Self {
        let (sender, receiver) = sync_channel(2);
        // It may wait for ever: it is left to the end of the program.
        drop(std::thread::spawn(move || send_blocks(reader, &sender)));
        Self { receiver, block: Cursor::default(), failed: None }
    }

    /// Whether something is there to be read, or known to have failed.
    fn has_more(&self) -> bool {
        self.failed.is_some() || self.block.position() < self.block.get_ref().len() as u64
    }

    fn put(&mut self, block: io::Result<Vec<u8>>) {
        match block {
            Ok(block) => self.block = Cursor::new(block),
            Err(error) => self.failed = Some(error),
        }
    }

    fn wait(&mut self, until: Instant) -> bool {
        if self.has_more() {
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

impl Read for LiveReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if !self.has_more() {
            match self.receiver.recv() {
                Ok(block) => self.put(block),
                Err(_) => return Ok(0),
            }
        }
        self.failed.take().map_or_else(|| self.block.read(buffer), Err)
    }
}

/// Reads to the end, or until no one listens any more.
fn send_blocks(mut reader: impl Read, sender: &SyncSender<io::Result<Vec<u8>>>) {
    loop {
        let mut block = vec![0; BLOCK];
        let read = reader.read(&mut block);
        let ends = matches!(&read, Ok(0) | Err(_));
        match read {
            Ok(0) => return,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => {
                let sent = sender.send(read.map(|length| {
                    block.truncate(length);
                    block
                }));
                if ends || sent.is_err() {
                    return;
                }
            }
        }
    }
}

/// A reader that counts what passes.
pub(super) struct CountingReader<R> {
    pub(super) inner: R,
    pub(super) count: Arc<AtomicU64>,
}

impl<R: Read> Read for CountingReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.count.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}
