//! The state of something that learns, as named numbers and named columns.

use std::collections::BTreeMap;

use crate::Error;

/// A column of numbers of one type.
#[derive(Debug, Clone, PartialEq)]
pub enum Column {
    /// 32-bit floats (weights).
    F32(Vec<f32>),
    /// 64-bit floats (sums and statistics).
    F64(Vec<f64>),
    /// Feature indices.
    U32(Vec<u32>),
    /// Text and small codes.
    U8(Vec<u8>),
}

impl Column {
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
/// use onward::archive::{Column, State};
/// let mut state = State::default();
/// state.set("rounds", 3.0);
/// state.set_column("weight", Column::F32(vec![0.5, -0.5]));
/// assert_eq!(state.number("rounds")?, 3.0);
/// assert_eq!(state.f32s("weight")?, [0.5, -0.5]);
/// # Ok::<(), onward::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct State {
    numbers: BTreeMap<String, f64>,
    columns: BTreeMap<String, Column>,
}

impl State {
    /// Sets a number.
    pub fn set(&mut self, name: &str, value: f64) {
        self.numbers.insert(name.to_owned(), value);
    }

    /// Sets a column.
    pub fn set_column(&mut self, name: &str, column: Column) {
        self.columns.insert(name.to_owned(), column);
    }

    /// All numbers by name.
    pub fn numbers(&self) -> &BTreeMap<String, f64> {
        &self.numbers
    }

    /// All columns by name.
    pub fn columns(&self) -> &BTreeMap<String, Column> {
        &self.columns
    }

    /// A number.
    ///
    /// # Errors
    /// When the state has none of that name.
    pub fn number(&self, name: &str) -> Result<f64, Error> {
        self.numbers.get(name).copied().ok_or_else(|| missing(name))
    }

    /// A number that may be absent.
    pub fn optional(&self, name: &str) -> Option<f64> {
        self.numbers.get(name).copied()
    }

    /// A column of 32-bit floats.
    ///
    /// # Errors
    /// When there is none of that name and type.
    pub fn f32s(&self, name: &str) -> Result<&[f32], Error> {
        match self.columns.get(name) {
            Some(Column::F32(values)) => Ok(values),
            _ => Err(missing(name)),
        }
    }

    /// A column of 64-bit floats.
    ///
    /// # Errors
    /// When there is none of that name and type.
    pub fn f64s(&self, name: &str) -> Result<&[f64], Error> {
        match self.columns.get(name) {
            Some(Column::F64(values)) => Ok(values),
            _ => Err(missing(name)),
        }
    }

    /// A column of indices.
    ///
    /// # Errors
    /// When there is none of that name and type.
    pub fn u32s(&self, name: &str) -> Result<&[u32], Error> {
        match self.columns.get(name) {
            Some(Column::U32(values)) => Ok(values),
            _ => Err(missing(name)),
        }
    }

    /// A column of bytes.
    ///
    /// # Errors
    /// When there is none of that name and type.
    pub fn u8s(&self, name: &str) -> Result<&[u8], Error> {
        match self.columns.get(name) {
            Some(Column::U8(values)) => Ok(values),
            _ => Err(missing(name)),
        }
    }

    /// Takes in another state under a prefix: its `x` becomes `prefix.x`.
    pub fn absorb(&mut self, prefix: &str, other: State) {
        self.numbers.extend(other.numbers.into_iter().map(|(name, value)| (format!("{prefix}.{name}"), value)));
        self.columns.extend(other.columns.into_iter().map(|(name, column)| (format!("{prefix}.{name}"), column)));
    }

    /// The part under a prefix, as it was before [`absorb`](State::absorb).
    pub fn part(&self, prefix: &str) -> State {
        let cut = |name: &str| name.strip_prefix(prefix)?.strip_prefix('.').map(str::to_owned);
        State {
            numbers: self.numbers.iter().filter_map(|(name, value)| Some((cut(name)?, *value))).collect(),
            columns: self.columns.iter().filter_map(|(name, column)| Some((cut(name)?, column.clone()))).collect(),
        }
    }
}

fn missing(name: &str) -> Error {
    Error::model(format!("the model lacks '{name}', or holds it in another type: it was made for another learner"))
}
