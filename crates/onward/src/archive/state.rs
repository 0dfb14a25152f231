//! The state of something that learns, as named numbers and named columns.

use std::collections::BTreeMap;

use crate::Error;

/// A column of numbers of one type.
#[derive(Debug, Clone, PartialEq)]
pub enum SavedColumn {
    /// 32-bit floats (weights).
    F32(Vec<f32>),
    /// 64-bit floats (sums and statistics).
    F64(Vec<f64>),
    /// Feature indices.
    U32(Vec<u32>),
    /// Text and small codes.
    U8(Vec<u8>),
}

impl SavedColumn {
    /// How many numbers the column holds.
    pub fn len(&self) -> usize {
        match self {
            Self::F32(values) => values.len(),
            Self::F64(values) => values.len(),
            Self::U32(values) => values.len(),
            Self::U8(values) => values.len(),
        }
    }

    /// Whether the column is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Named numbers and named columns: the memory of a learner or ledger.
///
/// ```
/// use onward::archive::{SavedColumn, State};
/// let mut state = State::default();
/// state.set("rounds", 3.0);
/// state.set_column("weight", SavedColumn::F32(vec![0.5, -0.5]));
/// assert_eq!(state.number("rounds")?, 3.0);
/// assert_eq!(state.columns()["weight"], SavedColumn::F32(vec![0.5, -0.5]));
/// # Ok::<(), onward::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct State {
    numbers: BTreeMap<String, f64>,
    columns: BTreeMap<String, SavedColumn>,
}

impl State {
    /// Sets a number.
    pub fn set(&mut self, name: &str, value: f64) {
        self.numbers.insert(name.to_owned(), value);
    }

    /// Sets a column.
    pub fn set_column(&mut self, name: &str, column: SavedColumn) {
        self.columns.insert(name.to_owned(), column);
    }

    /// All numbers by name.
    pub fn numbers(&self) -> &BTreeMap<String, f64> {
        &self.numbers
    }

    /// All columns by name.
    pub fn columns(&self) -> &BTreeMap<String, SavedColumn> {
        &self.columns
    }

    /// A number.
    ///
    /// # Errors
    /// When the state has none of that name.
    pub fn number(&self, name: &str) -> Result<f64, Error> {
        self.numbers.get(name).copied().ok_or_else(|| Self::missing(name))
    }

    /// A number that may be absent.
    pub fn optional(&self, name: &str) -> Option<f64> {
        self.numbers.get(name).copied()
    }

    /// A column, taken out.
    pub(super) fn take(&mut self, name: &str) -> Option<SavedColumn> {
        self.columns.remove(name)
    }

    /// What is said where a number or column is missing.
    pub(super) fn missing(name: &str) -> Error {
        Error::model(format!("the model lacks '{name}', or holds it in another type: it was made for another learner"))
    }
}
