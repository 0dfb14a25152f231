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

use crate::error::DataError;
use crate::source::Input;

/// How much is hashed at a time: what the fast part of the processor's memory holds.
const PART: usize = 128 << 10;
/// Clocks of file systems are this coarse at the most, in nanoseconds.
const COARSEST: u64 = 2_000_000_000;

/// An input as it was when it was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct InputIdentity {
    size: u64,
    /// When it was changed last, in nanoseconds since 1970.
    changed: u64,
    /// The hash of its content.
    content: u64,
}

/// What can be had without reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileStamp {
    size: u64,
    changed: u64,
}

impl FileStamp {
    fn of(metadata: &Metadata) -> Self {
        Self { size: metadata.len(), changed: changed(metadata) }
    }
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
    stamps: Vec<FileStamp>,
}

impl InputStamps {
    pub(super) fn new(inputs: &[Input]) -> Result<Self, DataError> {
        let begun = nanoseconds(SystemTime::now());
        let stamp = |input: &Input| opened(input).and_then(|file| file.metadata()).map(|it| FileStamp::of(&it));
        let stamps = inputs.iter().map(|input| stamp(input).map_err(|error| input.failed(&error)));
        Ok(Self { begun, stamps: stamps.collect::<Result<_, _>>()? })
    }

    /// Whether these are the inputs that were read `begun`.
    pub(super) fn saw(&self, kept: &[InputIdentity], begun: u64, inputs: &[Input]) -> Result<bool, DataError> {
        // What costs nothing first.
        if kept.len() != inputs.len() || kept.iter().zip(&self.stamps).any(|(kept, stamp)| kept.size != stamp.size) {
            return Ok(false);
        }
        for ((kept, stamp), input) in kept.iter().zip(&self.stamps).zip(inputs) {
            let is_same = kept.is(*stamp, begun, input).map_err(|error| input.failed(&error))?;
            if !is_same {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl InputIdentity {
    fn is(&self, stamp: FileStamp, begun: u64, input: &Input) -> io::Result<bool> {
        if self.changed == stamp.changed && self.changed.saturating_add(COARSEST) <= begun {
            return Ok(true);
        }
        let mut content = ContentHasher::new(opened(input)?);
        content.read_to(stamp.size)?;
        Ok(content.hash() == self.content)
    }
}

fn opened(input: &Input) -> io::Result<File> {
    match input {
        Input::Path(path) => File::open(path),
        _ => Err(io::ErrorKind::Unsupported.into()),
    }
}

/// The hash of a file's content, of which ever more is read.
struct ContentHasher {
    file: File,
    part: Vec<u8>,
    read: u64,
    state: u64,
}

impl ContentHasher {
    fn new(file: File) -> Self {
        Self { file, part: Vec::with_capacity(PART), read: 0, state: 0 }
    }

    /// Reads on to this place, or the end.
    fn read_to(&mut self, place: u64) -> io::Result<()> {
        while self.read < place {
            let wanted = ((PART - self.part.len()) as u64).min(place - self.read);
            let got = Read::by_ref(&mut self.file).take(wanted).read_to_end(&mut self.part)?;
            if got == 0 {
                return Ok(());
            }
            self.read += got as u64;
            if self.part.len() == PART {
                self.take_in();
            }
        }
        Ok(())
    }

    fn take_in(&mut self) {
        let [before, part] = [self.state, rapidhash_v3(&self.part)].map(u64::to_le_bytes);
        self.state = rapidhash_v3(&[before, part].concat());
        self.part.clear();
    }

    fn hash(mut self) -> u64 {
        self.take_in();
        self.state
    }
}

/// Hashes the inputs of a run along with it: so a file is read from the disk once, though it is
/// looked at twice.
pub(super) struct InputHasher {
    inputs: Vec<Input>,
    stamps: Vec<FileStamp>,
    pub(super) begun: u64,
    /// The inputs that are read to their end.
    done: Vec<InputIdentity>,
    /// How long these are.
    passed: u64,
    current: Option<ContentHasher>,
}

impl InputHasher {
    pub(super) fn new(inputs: &[Input], stamps: InputStamps) -> Self {
        Self {
            inputs: inputs.to_vec(),
            stamps: stamps.stamps,
            begun: stamps.begun,
            done: Vec::new(),
            passed: 0,
            current: None,
        }
    }

    /// Goes on until so many bytes of all inputs together are hashed.
    pub(super) fn follow(&mut self, read: u64) -> io::Result<()> {
        while let Some(stamp) = self.stamps.get(self.done.len()).copied() {
            let end = self.passed + stamp.size;
            let mut content = match self.current.take() {
                Some(content) => content,
                None => ContentHasher::new(opened(&self.inputs[self.done.len()])?),
            };
            content.read_to(read.min(end) - self.passed)?;
            if read < end {
                self.current = Some(content);
                break;
            }
            let FileStamp { size, changed } = stamp;
            self.done.push(InputIdentity { size, changed, content: content.hash() });
            self.passed = end;
        }
        Ok(())
    }

    /// All inputs as they were read; `None` if one has changed meanwhile.
    pub(super) fn finish(mut self) -> io::Result<Option<Vec<InputIdentity>>> {
        self.follow(u64::MAX)?;
        for (input, stamp) in self.inputs.iter().zip(&self.stamps) {
            if FileStamp::of(&opened(input)?.metadata()?) != *stamp {
                return Ok(None);
            }
        }
        Ok(Some(self.done))
    }
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
        let inputs = [input.clone()];
        let hasher = InputHasher::new(&inputs, InputStamps::new(&inputs).unwrap());
        let identity = hasher.finish().unwrap().unwrap().remove(0);
        (folder, input, bytes, identity)
    }

    fn write(input: &Input, bytes: &[u8]) {
        let Input::Path(path) = input else { panic!() };
        std::fs::write(path, bytes).unwrap();
    }

    #[test]
    fn a_file_that_was_not_changed_is_trusted_and_any_other_hashed() {
        let (_folder, input, mut bytes, kept) = example();
        let stamp = FileStamp { size: kept.size, changed: kept.changed };
        let long_after = kept.changed + COARSEST;
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
    fn following_in_steps_gives_the_same_as_reading_at_once() {
        let (folder, input, bytes, whole) = example();
        let other = Input::from(folder.path().join("y").as_path());
        write(&other, &bytes[..300_000]);
        let inputs = [input, other];
        for step in [1 << 17, 70_001, 250_000, 900_000] {
            let mut hasher = InputHasher::new(&inputs, InputStamps::new(&inputs).unwrap());
            (0..800_000).step_by(step).for_each(|read| hasher.follow(read as u64).unwrap());
            let found = hasher.finish().unwrap().unwrap();
            assert_eq!(found[0].content, whole.content, "{step}");
            assert_eq!(found[1].size, 300_000);
            assert_ne!(found[1].content, whole.content);
        }
    }

    #[test]
    fn what_changes_after_the_first_look_has_no_identity() {
        let (_folder, input, bytes, _) = example();
        let inputs = [input];
        let mut hasher = InputHasher::new(&inputs, InputStamps::new(&inputs).unwrap());
        hasher.follow(100_000).unwrap();
        write(&inputs[0], &bytes[..400_000]);
        assert_eq!(hasher.finish().unwrap(), None);
    }
}
