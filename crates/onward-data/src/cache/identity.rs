//! Whether inputs are what they were.
//!
//! Content decides, not names: a file that was moved or touched is the same. But hashing all of it
//! costs what reading it costs, so a file is trusted that has the size and the time of its last
//! change that it had, and a few blocks of equal content. That time says nothing where the file was
//! changed shortly before it was read: a second change might fall on the same tick of a clock that
//! is that coarse (version control systems know this as being racily clean). Then all is hashed.

use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::time::{SystemTime, UNIX_EPOCH};

use rapidhash::v3::rapidhash_v3;
use serde::{Deserialize, Serialize};

use crate::error::DataError;
use crate::input::Input;

/// How much is hashed at a time: what the fast part of the processor's memory holds.
const PART: usize = 128 << 10;
/// How many blocks are looked at of a file that is trusted, and how long each is.
const SAMPLES: u64 = 16;
const SAMPLE: u64 = 4096;
/// Clocks of file systems are this coarse at the most, in nanoseconds.
const COARSEST: u64 = 2_000_000_000;

/// An input as it was when it was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Identity {
    size: u64,
    /// When it was changed last, in nanoseconds since 1970.
    changed: u64,
    /// The hash of its content.
    content: u64,
    /// The hash of some of its blocks.
    sample: u64,
}

/// What can be had without reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    size: u64,
    changed: u64,
}

impl Stamp {
    fn of(metadata: &Metadata) -> Self {
        Self { size: metadata.len(), changed: metadata.modified().map_or(0, nanoseconds) }
    }
}

fn nanoseconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |duration| duration.as_nanos() as u64)
}

/// What was there before a run began to read.
pub(super) struct Witness {
    pub(super) begun: u64,
    stamps: Vec<Stamp>,
}

impl Witness {
    pub(super) fn new(inputs: &[Input]) -> Result<Self, DataError> {
        let begun = nanoseconds(SystemTime::now());
        let stamp = |input: &Input| opened(input).and_then(|file| file.metadata()).map(|it| Stamp::of(&it));
        let stamps = inputs.iter().map(|input| stamp(input).map_err(|error| input.failed(&error)));
        Ok(Self { begun, stamps: stamps.collect::<Result<_, _>>()? })
    }

    /// Whether these are the inputs that were read `begun`.
    pub(super) fn saw(&self, kept: &[Identity], begun: u64, inputs: &[Input]) -> Result<bool, DataError> {
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

impl Identity {
    fn is(&self, stamp: Stamp, begun: u64, input: &Input) -> io::Result<bool> {
        let mut file = opened(input)?;
        if self.changed == stamp.changed && self.changed.saturating_add(COARSEST) <= begun {
            return Ok(sample(&mut file, stamp.size)? == self.sample);
        }
        let mut content = Content::new(file);
        content.read_to(stamp.size)?;
        Ok(content.hash() == self.content)
    }
}

fn opened(input: &Input) -> io::Result<File> {
    match input {
        Input::Path(path) => File::open(path),
        Input::Standard => Err(io::ErrorKind::Unsupported.into()),
    }
}

/// The hash of blocks that are spread evenly over a file, its first and its last among them.
fn sample(file: &mut File, size: u64) -> io::Result<u64> {
    let mut bytes = Vec::new();
    for number in 0..SAMPLES {
        let at = size.saturating_sub(SAMPLE) as u128 * u128::from(number) / u128::from(SAMPLES - 1);
        file.seek(SeekFrom::Start(at as u64))?;
        Read::by_ref(file).take(SAMPLE).read_to_end(&mut bytes)?;
    }
    Ok(rapidhash_v3(&bytes))
}

/// The hash of a file's content, of which ever more is read.
struct Content {
    file: File,
    part: Vec<u8>,
    read: u64,
    state: u64,
}

impl Content {
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
pub(super) struct Follower {
    inputs: Vec<Input>,
    stamps: Vec<Stamp>,
    pub(super) begun: u64,
    /// The inputs that are read to their end.
    done: Vec<Identity>,
    /// How long these are.
    passed: u64,
    current: Option<Content>,
}

impl Follower {
    pub(super) fn new(inputs: &[Input], witness: Witness) -> Self {
        Self {
            inputs: inputs.to_vec(),
            stamps: witness.stamps,
            begun: witness.begun,
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
                None => Content::new(opened(&self.inputs[self.done.len()])?),
            };
            content.read_to(read.min(end) - self.passed)?;
            if read < end {
                self.current = Some(content);
                break;
            }
            let sample = sample(&mut content.file, stamp.size)?;
            let Stamp { size, changed } = stamp;
            self.done.push(Identity { size, changed, content: content.hash(), sample });
            self.passed = end;
        }
        Ok(())
    }

    /// All inputs as they were read; `None` if one has changed meanwhile.
    pub(super) fn finish(mut self) -> io::Result<Option<Vec<Identity>>> {
        self.follow(u64::MAX)?;
        for (input, stamp) in self.inputs.iter().zip(&self.stamps) {
            if Stamp::of(&opened(input)?.metadata()?) != *stamp {
                return Ok(None);
            }
        }
        Ok(Some(self.done))
    }
}
