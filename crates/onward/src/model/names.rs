//! The names of features, as far as they are known, in bounded memory.

use std::collections::HashMap;

use super::{Column, State};
use crate::Error;

/// Most bytes of names that are kept; those met later have none.
const MOST_BYTES: usize = 32 << 20;

/// Names by feature index: the first name met for each.
///
/// ```
/// let mut names = onward::model::Names::default();
/// names.add(3, "hour");
/// names.add(3, "minute");
/// assert_eq!(names.get(3), Some("hour"));
/// ```
#[derive(Debug, Clone, Default)]
pub struct Names {
    names: HashMap<u32, Box<str>>,
    bytes: usize,
    lost: u64,
}

impl Names {
    /// Adds a name, unless the index has one or the memory for names is used up.
    pub fn add(&mut self, index: u32, name: &str) {
        if self.names.contains_key(&index) {
            return;
        }
        if self.bytes + name.len() > MOST_BYTES {
            self.lost += 1;
            return;
        }
        self.bytes += name.len();
        self.names.insert(index, name.into());
    }

    /// The name of an index.
    pub fn get(&self, index: u32) -> Option<&str> {
        self.names.get(&index).map(AsRef::as_ref)
    }

    /// How many names came when the memory for them was used up.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// How many names are kept.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether no name is kept.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The names in order of index, as columns.
    pub fn state(&self) -> State {
        let mut indices: Vec<u32> = self.names.keys().copied().collect();
        indices.sort_unstable();
        let mut text = Vec::with_capacity(self.bytes);
        let mut ends = Vec::with_capacity(indices.len());
        for index in &indices {
            text.extend_from_slice(self.names[index].as_bytes());
            // At most MOST_BYTES: fits.
            ends.push(text.len() as u32);
        }
        let mut state = State::default();
        state.set("lost", self.lost as f64);
        state.set_column("index", Column::U32(indices));
        state.set_column("end", Column::U32(ends));
        state.set_column("text", Column::U8(text));
        state
    }

    /// The names of a saved state.
    ///
    /// # Errors
    /// When something is missing or does not match.
    pub fn restore(state: &State) -> Result<Self, Error> {
        let damaged = || Error::model("the names of features do not match: the model is damaged");
        let (indices, ends, text) = (state.u32s("index")?, state.u32s("end")?, state.u8s("text")?);
        let text = std::str::from_utf8(text).map_err(|_| damaged())?;
        if indices.len() != ends.len() {
            return Err(damaged());
        }
        let mut names = Self::default();
        let mut start = 0;
        for (&index, &end) in indices.iter().zip(ends) {
            names.add(index, text.get(start..end as usize).ok_or_else(damaged)?);
            start = end as usize;
        }
        names.lost = state.number("lost")? as u64;
        Ok(names)
    }
}
