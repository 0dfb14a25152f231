//! What each column is used for, judged from the first rows.

use std::collections::BTreeMap;

use crate::error::quoted;
use crate::options::Options;
use crate::schema::names::shown;
use crate::schema::sample::{ColumnSample, ROWS_FOR_ONE_RARE};
use crate::schema::{Kind, Role};

/// What became of a column, in the order of the notes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum ColumnGroup {
    Numeric,
    Boolean,
    Categorical,
    Sets,
    Rare,
    Timestamp,
    Text,
    Mixed,
    Empty,
    Constant,
    Identifiers,
}

use ColumnGroup::{Boolean, Categorical, Constant, Empty, Identifiers, Mixed, Numeric, Rare, Sets, Text, Timestamp};

impl ColumnGroup {
    /// The note about its columns.
    fn title(self, rows: usize) -> String {
        match self {
            Numeric => "numbers".to_owned(),
            Boolean => "true or false".to_owned(),
            Categorical => "categories".to_owned(),
            Sets => "sets".to_owned(),
            Rare => format!(
                "in fewer than 1 of {ROWS_FOR_ONE_RARE} rows, hashed by name and not counted as missing elsewhere (else name \
                 them in ⟦numeric⟧ or ⟦categorical⟧)"
            ),
            Timestamp => "dates (hour, weekday, month, days)".to_owned(),
            Text => "text (words)".to_owned(),
            Mixed => {
                "treated as categories because some values are not numbers (else name them in ⟦numeric⟧)".to_owned()
            }
            Empty => format!(
                "treated as categories because they are empty in the first {rows} rows (else name them in ⟦numeric⟧)"
            ),
            Constant => format!("constant in the first {rows} rows, ignored until they change"),
            Identifiers => format!(
                "ignored because no value repeats in the first {rows} rows (else name them in ⟦categorical⟧ or ⟦text⟧)"
            ),
        }
    }
}

/// Gives each column its role, and remembers what became of it.
pub(super) struct RoleJudge<'a> {
    options: &'a Options,
    target: &'a str,
    rows: usize,
    /// The next index that no column has.
    next_slot: u32,
    groups: BTreeMap<ColumnGroup, Vec<String>>,
    /// Of mixed columns, what may stand for a missing value.
    markers: Vec<String>,
}

impl<'a> RoleJudge<'a> {
    pub(super) fn new(options: &'a Options, target: &'a str, rows: usize) -> Self {
        Self { options, target, rows, next_slot: 1, groups: BTreeMap::new(), markers: Vec::new() }
    }

    /// How many columns are features whose values differ.
    pub(super) fn features(&self) -> usize {
        let groups = self.groups.iter().filter(|(group, _)| !matches!(group, Constant | Identifiers | Empty));
        groups.map(|(_, names)| names.len()).sum()
    }

    /// The notes about the columns, one line per group.
    pub(super) fn lines(&self) -> Vec<String> {
        let line = |(group, names): (&ColumnGroup, &Vec<_>)| format!("{}: {}", group.title(self.rows), shown(names));
        self.groups.iter().map(line).chain(self.markers.iter().cloned()).collect()
    }

    /// Leaves out a key that few rows have.
    pub(super) fn leave_rare(&mut self, name: &str) {
        self.put(Rare, name);
    }

    fn put(&mut self, group: ColumnGroup, name: &str) {
        self.groups.entry(group).or_default().push(name.to_owned());
    }

    fn take_slot(&mut self) -> u32 {
        self.next_slot += 2;
        self.next_slot - 2
    }

    /// A feature of a column that an option names.
    fn named(&mut self, name: &str, group: ColumnGroup, kind: Kind) -> Role {
        self.put(group, name);
        Role::Feature(kind)
    }

    pub(super) fn role(&mut self, name: &str, seen: &ColumnSample) -> Role {
        let options = self.options;
        let named = |names: &[String]| names.iter().any(|other| other == name);
        match name {
            _ if name == self.target => Role::Target,
            _ if named(options.weight.as_slice()) => Role::Weight,
            _ if named(&options.ids) => Role::Id,
            _ if named(&options.ignore) => Role::Ignored,
            _ if named(&options.numeric) => {
                let slot = self.take_slot();
                self.named(name, Numeric, Kind::Numeric { slot, origin: None })
            }
            _ if named(&options.categorical) => self.named(name, Categorical, Kind::Categorical { origin: None }),
            _ if named(&options.text) => self.named(name, Text, Kind::Text),
            _ => self.inferred(name, seen),
        }
    }

    fn inferred(&mut self, name: &str, seen: &ColumnSample) -> Role {
        let present = seen.present();
        let is_constant = seen.is_constant() && self.rows > 1;
        let (group, role) = if present == 0 {
            let group = if seen.sets > 0 { Sets } else { Empty };
            (group, Role::Feature(Kind::Categorical { origin: None }))
        } else if seen.is_of(seen.numbers) {
            let origin = seen.first_number.filter(|origin| is_constant && origin.is_finite());
            (Numeric, Role::Feature(Kind::Numeric { slot: self.take_slot(), origin }))
        } else if seen.is_of(seen.moments) && !is_constant {
            let origin = seen.first_days.unwrap_or(0.0);
            (Timestamp, Role::Feature(Kind::Timestamp { slot: self.take_slot(), origin }))
        } else if seen.booleans == present && seen.distinct.len() == 2 {
            (Boolean, Role::Feature(Kind::Boolean { slot: self.take_slot() }))
        } else if seen.is_text() {
            (Text, Role::Feature(Kind::Text))
        } else if seen.is_identifier() {
            (Identifiers, Role::Ignored)
        } else {
            self.note_marker(name, seen);
            let origin = seen.examples.first().filter(|_| is_constant).cloned();
            let group = if seen.numbers > 0 { Mixed } else { Categorical };
            (group, Role::Feature(Kind::Categorical { origin }))
        };
        self.put(if is_constant { Constant } else { group }, name);
        role
    }

    /// One word among numbers may stand for a missing value.
    fn note_marker(&mut self, name: &str, seen: &ColumnSample) {
        let Some((word, count)) = seen.only_invalid() else { return };
        // Strings that are told from numbers are JSON's.
        let missing = if seen.strings > 0 { "null" } else { "an empty cell or NA" };
        let word = quoted(word.as_bytes());
        self.markers.push(format!(
            "all values of '{name}' are numbers, except {word} ({count} times): if it stands for a missing value, write \
             {missing}"
        ));
    }
}
