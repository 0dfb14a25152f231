//! Whether inputs are what they were.
//!
//! Content decides, not names: a file that was moved or touched is the same. But hashing all of it
//! costs what reading it costs, so a file is trusted that has the size and the time of its last
//! change that it had. That is the time of the inode, which no program sets as it likes; where there is none,
//! all is hashed. It says nothing where the file was changed shortly
//! before it was read: a second change might fall on the same tick of a clock that is that coarse
//! (version control systems know this as being racily clean). Then all is hashed, too.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::time::{SystemTime, UNIX_EPOCH};

use rapidhash::v3::rapidhash_v3;
use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::source::Input;

/// How much is hashed at a time: what the fast part of the processor's memory holds.
const PART: usize = 128 << 10;
/// Clocks of file systems are this coarse at the most, in nanoseconds.
const COARSEST: u64 = 2_000_000_000;

/// An input as it was when it was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct InputIdentity {
    #[serde(flatten)]
    stamp: FileStamp,
    /// The hash of its content.
    content: u64,
}

/// What is known of a file without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct FileStamp {
    size: u64,
    /// When it was changed last, in nanoseconds since 1970.
    changed: u64,
}

/// When a file was changed last.
#[cfg(unix)]
fn changed(metadata: &Metadata) -> u64 {
    use std::os::unix::fs::MetadataExt;
    let seconds = u64::try_from(metadata.ctime()).unwrap_or(0);
    seconds.saturating_mul(1_000_000_000).saturating_add(metadata.ctime_nsec() as u64)
}

/// A time that is never trusted: where programs set it as they like.
#[cfg(not(unix))]
fn changed(_: &Metadata) -> u64 {
    u64::MAX
}

fn nanoseconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |duration| duration.as_nanos() as u64)
}

/// What was there before a run began to read.
pub(super) struct InputStamps {
    pub(super) begun: u64,
    pub(super) inputs: Vec<Input>,
    stamps: Vec<FileStamp>,
}

impl InputStamps {
    pub(super) fn new(inputs: &[Input]) -> Result<Self> {
        let begun = nanoseconds(SystemTime::now());
        let stamps = inputs.iter().map(|input| stamp(input).map_err(|error| input.failed(&error)));
        Ok(Self { begun, inputs: inputs.to_vec(), stamps: stamps.collect::<Result<_, _>>()? })
    }

    /// Whether these are the inputs that were read `begun`.
    pub(super) fn saw(&self, kept: &[InputIdentity], begun: u64) -> Result<bool> {
        // What costs nothing first.
        if kept.len() != self.inputs.len()
            || kept.iter().zip(&self.stamps).any(|(kept, stamp)| kept.stamp.size != stamp.size)
        {
            return Ok(false);
        }
        for ((kept, stamp), input) in kept.iter().zip(&self.stamps).zip(&self.inputs) {
            if !kept.is(*stamp, begun, input).map_err(|error| input.failed(&error))? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// All inputs as they were read; `None` if one has changed meanwhile.
    pub(super) fn identities(&self) -> io::Result<Option<Vec<InputIdentity>>> {
        let mut identities = Vec::with_capacity(self.inputs.len());
        for (input, kept) in self.inputs.iter().zip(&self.stamps) {
            let content = content(input)?;
            if stamp(input)? != *kept {
                return Ok(None);
            }
            identities.push(InputIdentity { stamp: *kept, content });
        }
        Ok(Some(identities))
    }
}

impl InputIdentity {
    fn is(&self, stamp: FileStamp, begun: u64, input: &Input) -> io::Result<bool> {
        let is_old = self.stamp.changed.saturating_add(COARSEST) <= begun;
        Ok(self.stamp.changed == stamp.changed && is_old || content(input)? == self.content)
    }
}

fn opened(input: &Input) -> io::Result<File> {
    match input {
        Input::Path(path) => File::open(path),
        _ => Err(io::ErrorKind::Unsupported.into()),
    }
}

fn stamp(input: &Input) -> io::Result<FileStamp> {
    let metadata = opened(input)?.metadata()?;
    Ok(FileStamp { size: metadata.len(), changed: changed(&metadata) })
}

/// The hash of a file's content.
fn content(input: &Input) -> io::Result<u64> {
    let (mut file, mut part, mut state) = (opened(input)?, Vec::with_capacity(PART), 0u64);
    while Read::by_ref(&mut file).take(PART as u64).read_to_end(&mut part)? > 0 {
        let [before, part_hash] = [state, rapidhash_v3(&part)].map(u64::to_le_bytes);
        state = rapidhash_v3(&[before, part_hash].concat());
        part.clear();
    }
    Ok(state)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file, what it was, and what is there now with another time of its last change.
    fn example() -> (tempfile::TempDir, Input, Vec<u8>, InputIdentity) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        let bytes: Vec<u8> = (0..500_000u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        std::fs::write(&path, &bytes).unwrap();
        let input = Input::from(path.as_path());
        let stamps = InputStamps::new(std::slice::from_ref(&input)).unwrap();
        let identity = stamps.identities().unwrap().unwrap().remove(0);
        (folder, input, bytes, identity)
    }

    fn write(input: &Input, bytes: &[u8]) {
        let Input::Path(path) = input else { panic!() };
        std::fs::write(path, bytes).unwrap();
    }

    #[test]
    fn a_file_that_was_not_changed_is_trusted_and_any_other_hashed() {
        let (_folder, input, mut bytes, kept) = example();
        let stamp = kept.stamp;
        let long_after = stamp.changed + COARSEST;
        for at in [0, 34_000, 250_000, 499_999] {
            bytes[at] ^= 1;
            write(&input, &bytes);
            assert!(kept.is(stamp, long_after, &input).unwrap());
            assert!(!kept.is(stamp, long_after - 1, &input).unwrap());
            assert!(!kept.is(FileStamp { changed: stamp.changed + 1, ..stamp }, long_after, &input).unwrap());
            bytes[at] ^= 1;
        }
        write(&input, &bytes);
        assert!(kept.is(stamp, 0, &input).unwrap());
    }

    #[test]
    fn what_changes_after_the_first_look_has_no_identity() {
        let (_folder, input, bytes, _) = example();
        let stamps = InputStamps::new(std::slice::from_ref(&input)).unwrap();
        write(&input, &bytes[..400_000]);
        assert!(stamps.identities().unwrap().is_none());
    }
}
