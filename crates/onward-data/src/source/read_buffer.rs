//! What has been read of an input and not yet been handed on.

use std::io::{self, Read};
use std::mem;
use std::ops::Deref;

/// Bytes in a memory that is used again and again: only what was never used is filled with zeros before it is read into.
#[derive(Debug, Default)]
pub(crate) struct ReadBuffer {
    memory: Vec<u8>,
    /// From where on they count.
    start: usize,
    /// How many of them count.
    length: usize,
}

/// More is not copied to other memory.
const MOST_COPIED: usize = 16 << 10;

impl ReadBuffer {
    /// Reads once, until `size` bytes are there at the most. Gives how many were read.
    pub(crate) fn read(&mut self, reader: &mut impl Read, size: usize) -> io::Result<usize> {
        if self.start > 0 {
            self.memory.copy_within(self.start..self.start + self.length, 0);
            self.start = 0;
        }
        if self.memory.len() < size {
            self.memory.resize(size, 0);
        }
        let read = reader.read(&mut self.memory[self.length..size])?;
        self.length += read;
        Ok(read)
    }

    /// Reads on into this memory, if there is little to be copied to it: that of who reads is near the processor. Leaves the memory
    /// that was used so far.
    pub(crate) fn reuse(&mut self, memory: &mut Vec<u8>) {
        if self.length > MOST_COPIED || memory.len() < self.length.max(1) {
            return;
        }
        memory[..self.length].copy_from_slice(self);
        self.start = 0;
        mem::swap(&mut self.memory, memory);
    }

    /// Forgets all.
    pub(crate) fn clear(&mut self) {
        (self.start, self.length) = (0, 0);
    }

    /// Cuts off the first bytes. They or the others, whichever are fewer, go to the memory of `spare`: of the many that are
    /// read to judge the columns from, only little is cut off at a time.
    pub(crate) fn take_front(&mut self, end: usize, mut spare: Vec<u8>) -> Vec<u8> {
        let (first, rest) = self.split_at(end);
        let rest_length = rest.len();
        if first.len() < rest_length {
            spare.clear();
            spare.extend_from_slice(first);
            (self.start, self.length) = (self.start + end, rest_length);
            return spare;
        }
        match spare.get_mut(..rest_length) {
            Some(into) => into.copy_from_slice(rest),
            None => {
                spare.clear();
                spare.extend_from_slice(rest);
            }
        }
        let mut first = mem::replace(&mut self.memory, spare);
        first.truncate(self.start + end);
        first.drain(..mem::take(&mut self.start));
        self.length = rest_length;
        first
    }
}

impl Deref for ReadBuffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.memory[self.start..self.start + self.length]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_cut_off_and_what_is_left_are_what_was_read() {
        let text: Vec<u8> = (0..=255).cycle().take(10_000).collect();
        let (mut reader, mut buffer, mut all) = (&text[..], ReadBuffer::default(), Vec::new());
        let (mut spare, mut adopted) = (vec![7; 40], 0);
        for round in 1.. {
            let before = buffer.to_vec();
            let size = before.len() + 1 + round % 97;
            let read = buffer.read(&mut reader, size).unwrap();
            assert_eq!(&buffer[..before.len()], before);
            assert_eq!(buffer.len(), before.len() + read);
            if read == 0 {
                break;
            }
            // Sometimes without memory to use again.
            let mut memory = if round % 5 == 0 { Vec::new() } else { mem::take(&mut spare) };
            if round % 3 == 0 {
                let (before, old, new) = (buffer.to_vec(), buffer.memory.as_ptr(), memory.as_ptr());
                let is_large = memory.len() >= before.len().max(1);
                buffer.reuse(&mut memory);
                assert_eq!(*buffer, before);
                assert_eq!((buffer.memory.as_ptr(), memory.as_ptr()), if is_large { (new, old) } else { (old, new) });
                adopted += usize::from(is_large);
            }
            let end = buffer.len() * (round % 4) / 3;
            let end = end.min(buffer.len());
            let cut = buffer.take_front(end, memory);
            assert_eq!(cut.len(), end);
            all.extend_from_slice(&cut);
            spare = cut;
        }
        all.extend_from_slice(&buffer);
        assert_eq!(all, text);
        assert!(adopted > 5);
    }
}
