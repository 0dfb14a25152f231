//! The state of something that learns, as named numbers and named columns.

use std::collections::BTreeMap;

use super::SavedColumn;
use crate::Error;

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
