//! What each column is used for, judged from the first rows.

use crate::error::quoted;
use crate::options::Options;
use crate::schema::names::shown;
use crate::schema::sample::{ColumnSample, ROWS_FOR_ONE_RARE};
use crate::schema::{Kind, Role};

/// Hands out indices that never collide.
pub(super) struct IndexAllocator {
    pub(super) next: u32,
}

impl IndexAllocator {
    fn take(&mut self) -> u32 {
        self.next += 2;
        self.next - 2
    }
}

/// Columns by what became of them, for the notes.
#[derive(Default)]
pub(super) struct ColumnGroups {
    numeric: Vec<String>,
    categorical: Vec<String>,
    boolean: Vec<String>,
    timestamp: Vec<String>,
    text: Vec<String>,
    constant: Vec<String>,
    identifiers: Vec<String>,
    mixed: Vec<String>,
    /// Of mixed ones, what may stand for a missing value.
    markers: Vec<String>,
    empty: Vec<String>,
    sets: Vec<String>,
    pub(super) rare: Vec<String>,
}

impl ColumnGroups {
    pub(super) fn features(&self) -> usize {
        let groups = [
            &self.numeric,
            &self.categorical,
            &self.boolean,
            &self.timestamp,
            &self.text,
            &self.mixed,
            &self.sets,
            &self.rare,
        ];
        groups.iter().map(|names| names.len()).sum()
    }

    pub(super) fn lines(&self, rows: usize) -> Vec<String> {
        let say = |names: &[String], what: &str| (!names.is_empty()).then(|| format!("{what}: {}", shown(names)));
        let lines = [
            say(&self.numeric, "numbers"),
            say(&self.boolean, "true or false"),
            say(&self.categorical, "categories"),
            say(&self.sets, "sets"),
            say(
                &self.rare,
                &format!(
                    "in fewer than 1 of {ROWS_FOR_ONE_RARE} rows, hashed by name and not missed elsewhere (else name them in ⟦numeric⟧ or ⟦categorical⟧)"
                ),
            ),
            say(&self.timestamp, "dates (hour, weekday, month, days)"),
            say(&self.text, "text (words)"),
            say(&self.mixed, "taken as categories since some values are no numbers (else name them in ⟦numeric⟧)"),
            say(
                &self.empty,
                &format!(
                    "taken as categories since they are empty in the first {rows} rows (else name them in ⟦numeric⟧)"
                ),
            ),
            say(&self.constant, &format!("constant in the first {rows} rows, ignored until they change")),
            say(
                &self.identifiers,
                &format!(
                    "ignored since no value repeats in the first {rows} rows (else name them in ⟦categorical⟧ or ⟦text⟧)"
                ),
            ),
        ];
        lines.into_iter().flatten().chain(self.markers.iter().cloned()).collect()
    }
}

pub(super) fn role(
    name: &str,
    seen: &ColumnSample,
    target: &str,
    options: &Options,
    rows: usize,
    slots: &mut IndexAllocator,
    groups: &mut ColumnGroups,
) -> Role {
    let named = |names: &[String]| names.iter().any(|other| other == name);
    if name == target {
        return Role::Target;
    }
    if named(options.weight.as_slice()) {
        return Role::Weight;
    }
    if named(&options.ids) {
        return Role::Id;
    }
    if named(&options.ignore) {
        return Role::Ignored;
    }
    if named(&options.numeric) {
        groups.numeric.push(name.to_owned());
        return Role::Feature(Kind::Numeric { slot: slots.take(), origin: None });
    }
    if named(&options.categorical) {
        groups.categorical.push(name.to_owned());
        return Role::Feature(Kind::Categorical { origin: None });
    }
    if named(&options.text) {
        groups.text.push(name.to_owned());
        return Role::Feature(Kind::Text);
    }
    inferred_role(name, seen, rows, slots, groups)
}

fn inferred_role(
    name: &str,
    seen: &ColumnSample,
    rows: usize,
    slots: &mut IndexAllocator,
    groups: &mut ColumnGroups,
) -> Role {
    let present = seen.present();
    let constant = seen.is_constant() && rows > 1;
    let mut note = |group: fn(&mut ColumnGroups) -> &mut Vec<String>| {
        let group = if constant { &mut groups.constant } else { group(groups) };
        group.push(name.to_owned());
    };
    if present == 0 {
        let (is_set, empty): (bool, fn(&mut ColumnGroups) -> &mut Vec<String>) =
            (seen.sets > 0, |groups| &mut groups.empty);
        note(if is_set { |groups| &mut groups.sets } else { empty });
        return Role::Feature(Kind::Categorical { origin: None });
    }
    if seen.is_of(seen.numbers) {
        note(|groups| &mut groups.numeric);
        let origin = seen.first_number.filter(|origin| constant && origin.is_finite());
        return Role::Feature(Kind::Numeric { slot: slots.take(), origin });
    }
    if seen.is_of(seen.moments) && !constant {
        note(|groups| &mut groups.timestamp);
        return Role::Feature(Kind::Timestamp { slot: slots.take(), origin: seen.first_days.unwrap_or(0.0) });
    }
    if seen.booleans == present && seen.distinct.len() == 2 {
        note(|groups| &mut groups.boolean);
        return Role::Feature(Kind::Boolean { slot: slots.take() });
    }
    if seen.is_text() {
        note(|groups| &mut groups.text);
        return Role::Feature(Kind::Text);
    }
    if seen.is_identifier() {
        note(|groups| &mut groups.identifiers);
        return Role::Ignored;
    }
    note(if seen.numbers > 0 { |groups| &mut groups.mixed } else { |groups| &mut groups.categorical });
    if let Some((word, count)) = seen.only_invalid() {
        // Strings that are told from numbers are JSON's.
        let missing = if seen.strings > 0 { "null" } else { "an empty cell or NA" };
        groups.markers.push(format!(
            "all values of '{name}' but {count} times {} are numbers: if it stands for a missing value, write \
             {missing}",
            quoted(word.as_bytes())
        ));
    }
    let origin = seen.examples.first().filter(|_| constant).cloned();
    Role::Feature(Kind::Categorical { origin })
}
