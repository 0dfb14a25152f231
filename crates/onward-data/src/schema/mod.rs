//! What the columns of an input mean: which is the target, which are features,
//! of what kind, and where their weights are.
//!
//! Indices: 0 is the bias; numeric, boolean and timestamp columns have indices of
//! their own below [`Schema::reserved`], so that they never collide; whatever has
//! a name of its own (a category, a word, a key that appears later) is hashed to
//! `reserved + (hash & (2^bits − 1))`. The hash is [`onward::hashing::feature_hash`].

use std::collections::HashMap;

use onward::hashing::feature_hash as hash;
use serde::{Deserialize, Serialize};

pub(crate) mod interactions;
pub(crate) mod names;
pub(crate) mod sample;
pub(crate) mod target;
pub(crate) mod timestamp;

pub use interactions::Interaction;
pub use target::{Target, TargetRule};

/// How the records of an input are laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Layout {
    /// Named columns: CSV, TSV, JSON lines, Parquet, Arrow.
    Table,
    /// Integer indices with values: svmlight, and Arrow files of list columns.
    Indexed,
    /// Namespaces of named features: Vowpal Wabbit text.
    Named,
}

/// All that is needed to turn a record into an example, the same at predicting
/// as at learning.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Schema {
    /// How records are laid out.
    pub layout: Layout,
    /// Hashed features share 2^bits indices.
    pub bits: u32,
    /// Text columns give word sequences up to this length.
    pub ngrams: u32,
    /// The columns of a table, in the order of the first input; of Vowpal Wabbit's text,
    /// the namespaces that are left out.
    pub columns: Vec<Column>,
    /// Where labels come from.
    pub target: Target,
    /// What is multiplied with what.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub interactions: Vec<Interaction>,
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Column {
    /// Its name; nested JSON keys are joined by dots.
    pub name: String,
    /// What it is used for.
    pub role: Role,
}

/// What a column is used for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The label is made from it.
    Target,
    /// The importance weight.
    Weight,
    /// Passed through to the predictions.
    Id,
    /// A feature of some kind.
    Feature(Kind),
    /// Not used.
    Ignored,
}

/// Kinds of feature columns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A number at index `slot`; a missing one sets the indicator at `slot + 1`.
    /// A column that was constant in the first rows counts from that `origin`,
    /// and gives no feature while it stays there.
    Numeric {
        /// The index of the value.
        slot: u32,
        /// The constant of the first rows, if it was one.
        origin: Option<f64>,
    },
    /// True or false: 1 or 0 at index `slot`, missing at `slot + 1`.
    Boolean {
        /// The index of the value.
        slot: u32,
    },
    /// Any text, hashed as `column=value`. A value that was the only one in the
    /// first rows gives no feature.
    Categorical {
        /// The only value of the first rows, if there was only one.
        origin: Option<String>,
    },
    /// Words, hashed as `column:word`.
    Text,
    /// A moment: hour of day, weekday and month as categories, days since `origin` (days
    /// since 1970) at index `slot`, missing at `slot + 1`.
    Timestamp {
        /// The index of the elapsed days.
        slot: u32,
        /// The first moment of the stream, in days since 1970.
        origin: f64,
    },
}

impl Schema {
    /// The first index that hashed features can have: what is below has an owner.
    pub fn reserved(&self) -> u32 {
        let slots = self.columns.iter().filter_map(|column| match column.role {
            Role::Feature(Kind::Numeric { slot, .. } | Kind::Boolean { slot } | Kind::Timestamp { slot, .. }) => {
                Some(slot.saturating_add(2))
            }
            _ => None,
        });
        slots.max().unwrap_or(1)
    }

    /// The names of the columns with this role.
    pub(crate) fn names_of(&self, role: &Role) -> Vec<String> {
        self.columns.iter().filter(|column| column.role == *role).map(|column| column.name.clone()).collect()
    }

    /// Of each column of an input, by its name, the place among the columns of this schema, if it has one.
    pub(crate) fn places_of<'a>(&self, names: impl Iterator<Item = &'a str>) -> Vec<Option<usize>> {
        // The first column of a name: some formats may have several.
        let columns = self.columns.iter().enumerate().rev();
        let places: HashMap<_, _> = columns.map(|(at, column)| (column.name.as_str(), at)).collect();
        names.map(|name| places.get(name).copied()).collect()
    }

    /// Refuses a schema that no reader makes.
    ///
    /// # Errors
    /// When bits or n-grams are out of range, an index is beyond any table, or interactions are of
    /// what is not there.
    pub fn check(&self) -> Result<(), String> {
        let slots = (1..=30).contains(&self.bits) && (1..=8).contains(&self.ngrams) && self.reserved() <= 1 << 30;
        if slots && interactions::fit(self) {
            return Ok(());
        }
        Err("its schema is out of range: the model is damaged; copy it again, or learn it again".to_owned())
    }

    /// The index of a hashed feature.
    #[inline]
    pub(crate) fn hashed(&self, reserved: u32, hash: u64) -> u32 {
        reserved + (hash & ((1u64 << self.bits) - 1)) as u32
    }

    /// The share of hashed features expected to share their index with another
    /// one, when `distinct` indices are in use.
    pub fn expected_collisions(&self, distinct: u64) -> f64 {
        if self.layout == Layout::Indexed {
            return 0.0;
        }
        hash::expected_collisions(distinct.saturating_sub(u64::from(self.reserved())), self.bits)
    }
}

/// A cell of a table as its format delivers it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum CellValue<'a> {
    Missing,
    Number(f64),
    Boolean(bool),
    Timestamp(timestamp::Timestamp),
    /// Text that may be a number, a word, a moment: CSV has nothing else.
    Text(&'a [u8]),
}

/// What the cells of a column hold, where a table is copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnType {
    /// Text.
    Text,
    /// Whole numbers.
    Whole,
    /// Numbers.
    Number,
    /// Truth values.
    Boolean,
}
