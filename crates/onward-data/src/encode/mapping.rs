//! Which column of an input is which of the schema's.

use std::collections::HashMap;

use crate::schema::Schema;

/// The columns of one input, bound to those of the schema by name.
#[derive(Debug, Default)]
pub(crate) struct ColumnMapping {
    /// For each column of the input, its column in the schema, if it has one.
    pub(crate) columns: Vec<Option<usize>>,
}

impl ColumnMapping {
    /// ColumnRequirements columns by name.
    pub(crate) fn new<'a>(schema: &Schema, names: impl Iterator<Item = &'a str>) -> Self {
        // The first of those that have a name, as there may be some in other formats.
        let places: HashMap<_, _> =
            schema.columns.iter().enumerate().rev().map(|(at, column)| (column.name.as_str(), at)).collect();
        Self { columns: names.map(|name| places.get(name).copied()).collect() }
    }
}
