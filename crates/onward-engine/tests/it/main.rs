//! Tests of the engine through its public interface.

mod classes;
mod label_runs;
mod matrices;
mod models;
mod registry;
mod runs;
mod shuffled;

#[path = "../../../onward/tests/it/wording.rs"]
mod wording;

use std::path::PathBuf;

use onward_data::{Input, Options};
use onward_engine::{LearnOptions, LearnOutcome, ModelOptions, learn};

/// A folder that is gone after the test.
pub(crate) struct Folder(tempfile::TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// A file with this content, as an input.
    pub(crate) fn input(&self, name: &str, content: impl AsRef<[u8]>) -> Input {
        std::fs::write(self.path(name), content).unwrap();
        Input::from(self.path(name).as_path())
    }
}

/// 600 rows with a target y of 0 or 1, a number, a category, and a few labels missing.
pub(crate) fn classes() -> String {
    let row = |t: usize| {
        let (x, c) = (t * 37 % 101, ["a", "b", "c"][t % 3]);
        let y = if t % 50 == 7 { String::new() } else { usize::from(x > 40 + 10 * (t % 3)).to_string() };
        format!("{y},{x},{c}\n")
    };
    "y,x,c\n".to_owned() + &(0..600).map(row).collect::<String>()
}

/// Learns y with this learner.
pub(crate) fn learned(input: &Input, learner: &str, change: impl FnOnce(&mut LearnOptions)) -> LearnOutcome {
    let start = ModelOptions { learner: learner.to_owned(), ..ModelOptions::default() }.into();
    let reading = Options { target: Some("y".to_owned()), ..Options::default() };
    let mut options = LearnOptions { start, reading, ..LearnOptions::default() };
    change(&mut options);
    learn(std::slice::from_ref(input), options, &()).unwrap()
}
