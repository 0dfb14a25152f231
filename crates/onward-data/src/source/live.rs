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
    /// What is read next: the rest of a block, or an error.
    block: io::Result<Cursor<Vec<u8>>>,
}

/// What a pipe holds on Linux by default.
const BLOCK: usize = 64 << 10;

impl LiveReader {
    pub(super) fn new(reader: impl Read + Send + 'static) -> Self {
        let (sender, receiver) = sync_channel(2);
        // It may wait for good: it is left to the end of the program.
        drop(std::thread::spawn(move || send_blocks(reader, &sender)));
        Self { receiver, block: Ok(Cursor::default()) }
    }

    /// Whether something is there to be read, or known to have failed.
    fn has_more(&self) -> bool {
        self.block.as_ref().map_or(true, |block| block.position() < block.get_ref().len() as u64)
    }

    fn wait(&mut self, until: Instant) -> bool {
        if self.has_more() {
            return true;
        }
        match self.receiver.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(block) => self.block = block.map(Cursor::new),
            Err(error) => return error == RecvTimeoutError::Disconnected,
        }
        true
    }
}

impl Read for LiveReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if !self.has_more() {
            match self.receiver.recv() {
                Ok(block) => self.block = block.map(Cursor::new),
                Err(_) => return Ok(0),
            }
        }
        match &mut self.block {
            Ok(block) => block.read(buffer),
            failed => std::mem::replace(failed, Ok(Cursor::default())).map(|_| 0),
        }
    }
}

/// Reads to the end, or until the receiver is gone.
fn send_blocks(mut reader: impl Read, sender: &SyncSender<io::Result<Vec<u8>>>) {
    loop {
        let mut block = vec![0; BLOCK];
        let read = match reader.read(&mut block) {
            Ok(0) => return,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read,
        };
        let has_failed = read.is_err();
        let sent = sender.send(read.map(|length| {
            block.truncate(length);
            block
        }));
        if has_failed || sent.is_err() {
            return;
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
