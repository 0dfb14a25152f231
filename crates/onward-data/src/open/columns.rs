//! Whether the columns of an input are those that a schema knows.

use std::collections::HashSet;

use super::Purpose;
use crate::error::{DataError, Result};
use crate::options::Options;
use crate::schema::names::{no_such_column, shown};
use crate::schema::{Layout, Role, Schema};

/// An input without named columns, where a table should be copied.
pub(crate) fn no_table(format: &str) -> DataError {
    DataError::format(format!("is {format}, which holds examples, not a table"))
        .advise("convert it to svmlight, vw or arrow")
}

/// Refuses an input that is laid out in another way than a model's.
pub(crate) fn check_layout(schema: &Schema, layout: Layout, format: &str) -> Result {
    if schema.layout == layout {
        return Ok(());
    }
    let of = |layout| match layout {
        Layout::Table => "named columns",
        Layout::Indexed => "numbered features (svmlight)",
        Layout::Named => "Vowpal Wabbit's namespaces",
    };
    Err(DataError::options(format!("the model was learnt from {}, but this is {format}", of(schema.layout)))
        .advise("name its format with ⟦format⟧ if it is another one, convert it, or learn a model from it"))
}

/// What columns an input must have, besides those of the schema's features.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ColumnRequirements {
    /// Whether the schema is that of a model, and not of the first input.
    pub(crate) of_model: bool,
    /// Whether rows are learnt from.
    pub(crate) requires_target: bool,
}

impl ColumnRequirements {
    pub(crate) fn new(options: &Options, purpose: Purpose) -> Self {
        Self {
            of_model: options.schema.is_some(),
            requires_target: options.require_target && purpose == Purpose::Learn,
        }
    }

    fn owner(self) -> &'static str {
        if self.of_model { "the model" } else { "the first input" }
    }
}

/// Says what the input lacks of the schema's columns, and what it has besides; refuses if it
/// lacks all of them.
pub(crate) fn bind_columns(schema: &Schema, names: &[String], required: &ColumnRequirements) -> Result<Vec<String>> {
    let mut notes = check_columns(schema, names, required)?;
    let weight = schema.columns.iter().find(|column| column.role == Role::Weight && !names.contains(&column.name));
    if let Some(weight) = weight.filter(|_| required.requires_target) {
        let named = if required.of_model { "the model's weight" } else { "⟦weight⟧" };
        return Err(no_such_column(&weight.name, named, names));
    }
    let known: HashSet<_> = schema.columns.iter().map(|column| &column.name).collect();
    let extra: Vec<_> = names.iter().filter(|name| !known.contains(name)).cloned().collect();
    if !extra.is_empty() {
        let owner = required.owner();
        let lacks = if required.of_model { "does not know" } else { "does not have" };
        notes.push(format!("columns that {owner} {lacks}, ignored: {}", shown(&extra)));
    }
    Ok(notes)
}

/// Says what the input lacks of the schema's columns; refuses if it lacks all of them.
pub(crate) fn check_columns(schema: &Schema, names: &[String], required: &ColumnRequirements) -> Result<Vec<String>> {
    let mut notes = Vec::new();
    let owner = required.owner();
    let there: HashSet<_> = names.iter().map(String::as_str).collect();
    let is_feature: fn(&Role) -> bool = |role| matches!(role, Role::Feature(_));
    let lacking = |is_wanted: fn(&Role) -> bool| -> Vec<String> {
        let wanted = schema.columns.iter().filter(|column| is_wanted(&column.role));
        wanted.map(|column| &column.name).filter(|name| !there.contains(name.as_str())).cloned().collect()
    };
    let (features, ids, weights) =
        (lacking(is_feature), lacking(|role| *role == Role::Id), lacking(|role| *role == Role::Weight));
    let feature_count = schema.columns.iter().filter(|column| is_feature(&column.role)).count();
    // Where tables are copied there are no features, and all columns are ids.
    let (all, count) = if feature_count > 0 { (&features, feature_count) } else { (&ids, schema.columns.len()) };
    if count > 0 && all.len() == count {
        return Err(DataError::options(format!("has none of {owner}'s columns, {}", shown(all)))
            .advise("name another input, or give this one a header with these names"));
    }
    if required.requires_target && !there.contains(schema.target.column.as_str()) {
        let named = if required.of_model { "the model's target" } else { "⟦target⟧" };
        return Err(no_such_column(&schema.target.column, named, names));
    }
    if !features.is_empty() {
        notes.push(format!("columns of {owner} that the input lacks, treated as missing: {}", shown(&features)));
    }
    if !ids.is_empty() {
        let place = if feature_count == 0 { "" } else { " in predictions" };
        notes.push(format!("ids that the input lacks, left empty{place}: {}", shown(&ids)));
    }
    // For learning a missing weight is an error of its first record.
    if !weights.is_empty() && !required.requires_target {
        notes.push(format!("weights that the input lacks, so that each example has weight 1: {}", shown(&weights)));
    }
    Ok(notes)
}

/// The notes about later inputs: a note about several of them stands once.
#[derive(Debug, Default)]
pub(crate) struct LaterNotes {
    /// A note, the first input that it is about, and of how many more.
    said: Vec<(String, String, usize)>,
}

impl LaterNotes {
    pub(crate) fn add(&mut self, input: &str, notes: Vec<String>) {
        for note in notes {
            match self.said.iter_mut().find(|(other, ..)| *other == note) {
                Some((.., more)) => *more += 1,
                None => self.said.push((note, input.to_owned(), 0)),
            }
        }
    }

    pub(crate) fn lines(self) -> impl Iterator<Item = String> {
        self.said.into_iter().map(|(note, input, more)| match more {
            0 => format!("{input}: {note}"),
            _ => format!("{input} and {more} more: {note}"),
        })
    }
}
