//! Parts of a file, mapped into memory.

use std::fs::File;
use std::io;

use memmap2::{Mmap, MmapOptions};

/// Maps a part of a file: it is read as it is looked at.
pub(super) fn map(file: &File, at: u64, length: u64) -> io::Result<Mmap> {
    let out_of_file = || io::Error::from(io::ErrorKind::UnexpectedEof);
    let end = at.checked_add(length).ok_or_else(out_of_file)?;
    // Of what lies beyond the end nothing could be read, not even an error.
    if end > file.metadata()?.len() {
        return Err(out_of_file());
    }
    let length = usize::try_from(length).map_err(|_| out_of_file())?;
    // SAFETY: the bytes must not change while they are mapped. Onward writes a cache under another
    // name and renames it, so that a file that is mapped is never written to by any run; nothing
    // but another program that writes into it, or cuts it short, could change it, and the
    // documentation asks not to.
    #[allow(unsafe_code)]
    unsafe {
        MmapOptions::new().offset(at).len(length).map(file)
    }
}
