//! What the columns of a table are, judged from the first rows.

mod roles;
mod target;

use crate::error::{DataError, Result};
use crate::options::{OnError, Options};
use crate::schema::interactions::{self, Interaction};
use crate::schema::names::shown;
use crate::schema::sample::{ColumnSample, InvalidTokens, LabelSample, TableSample};
use crate::schema::target::Expression;
use crate::schema::{Column, ColumnType, Kind, Layout, Role, Schema, Target, TargetRule};
use roles::RoleJudge;
use target::rule;

/// What the first rows say about all.
pub(crate) struct InferredSchema {
    pub(crate) schema: Schema,
    /// What was inferred, one line per note.
    pub(crate) notes: Vec<String>,
    /// What the columns hold, where tables are copied.
    pub(crate) types: Option<Vec<ColumnType>>,
    pub(crate) invalid: InvalidTokens,
}

impl InferredSchema {
    /// A schema that is known already.
    pub(crate) fn known(schema: Schema, notes: Vec<String>) -> Self {
        Self { schema, notes, types: None, invalid: InvalidTokens::new() }
    }
}

/// The schema of records before any has been seen, with the columns that the options name.
pub(crate) fn unseen(options: &Options) -> Result<Schema> {
    let mut sample = TableSample::open();
    for name in table_options(options).into_iter().flat_map(|(_, names)| names) {
        sample.column(name);
    }
    if let Some(target) = &options.target {
        let names: Vec<_> = sample.names.iter().map(String::as_str).collect();
        let Expression { column, .. } = Expression::parse(target, &names)?;
        sample.column(&column);
    }
    table(&sample, options).map(|inferred| inferred.schema)
}

/// Infers the schema of a table from its first rows.
pub(crate) fn table(sample: &TableSample, options: &Options) -> Result<InferredSchema> {
    // A bad row ends the run, and may be what makes the others look odd.
    let fault = sample.fault.as_ref().filter(|_| options.on_error == OnError::Stop);
    let rather = |error: DataError| fault.cloned().unwrap_or(error);
    check_options(sample, options)?;
    let mut notes = Vec::new();
    let (expression, seen) = target_of(sample, options)?;
    let target = rule(expression, seen, options, &mut notes).map_err(rather)?;
    let mut judge = RoleJudge::new(options, &target.column, sample.rows);
    let mut columns = Vec::with_capacity(sample.names.len());
    let mut invalid = InvalidTokens::new();
    for (name, seen) in sample.names.iter().zip(&sample.seen) {
        if sample.is_open && seen.is_rare(sample.rows) && !is_named(name, &target.column, options) {
            judge.leave_rare(name);
            continue;
        }
        let role = judge.role(name, seen);
        if let (Role::Feature(Kind::Numeric { .. }), Some(token)) = (&role, seen.repeated_invalid()) {
            invalid.insert(columns.len(), token.clone());
        }
        columns.push(Column { name: name.clone(), role });
    }
    let lines = judge.lines();
    if judge.features() == 0 && sample.rows > 0 {
        return Err(rather(nothing_left(&lines)));
    }
    notes.extend(lines);
    let interactions = options.interactions.clone();
    interactions::check_columns(&interactions, &columns, &sample.names)?;
    notes.extend(interactions::note(&interactions));
    let (bits, ngrams) = (options.bits, options.ngrams);
    let schema = Schema { layout: Layout::Table, bits, ngrams, columns, target, interactions };
    Ok(InferredSchema { schema, notes, types: None, invalid })
}

/// All columns are left out, for these reasons.
fn nothing_left(reasons: &[String]) -> DataError {
    if reasons.is_empty() {
        let found = "no column is left to learn from: there are only the target and what options leave out";
        return DataError::format(found)
            .advise("name another format with ⟦format⟧, or fewer columns in ⟦ignore⟧, ⟦ids⟧ and ⟦weight⟧");
    }
    DataError::format(format!("no column is left to learn from: {}", reasons.join("; ")))
        .advise("name such columns in ⟦numeric⟧, ⟦categorical⟧ or ⟦text⟧")
}

/// The schema of a table that is copied: all columns are ids.
pub(crate) fn copied(sample: &TableSample, options: &Options) -> Result<InferredSchema> {
    check_options(sample, options)?;
    let (mut columns, mut types) = (Vec::new(), Vec::new());
    for (name, seen) in sample.names.iter().zip(&sample.seen) {
        let ignored = options.ignore.contains(name);
        if !ignored {
            types.push(column_type(name, seen, options)?);
        }
        columns.push(Column { name: name.clone(), role: if ignored { Role::Ignored } else { Role::Id } });
    }
    // No column has this name: labels are all missing.
    let target = Target { column: String::new(), rule: TargetRule::Number };
    let interactions = Vec::new();
    let schema = Schema { layout: Layout::Table, bits: options.bits, ngrams: 1, columns, target, interactions };
    Ok(InferredSchema { types: Some(types), ..InferredSchema::known(schema, Vec::new()) })
}

fn column_type(name: &str, seen: &ColumnSample, options: &Options) -> Result<ColumnType> {
    if seen.sets > 0 {
        return Err(DataError::options("holds lists, and a cell is one value")
            .column(name)
            .advise(format!("leave it out with ⟦ignore={name}⟧")));
    }
    let named = |names: &[String]| names.iter().any(|other| other == name);
    let is_truth = |text: &String| matches!(text.as_str(), "true" | "false");
    Ok(match seen.present() {
        _ if named(&options.numeric) => ColumnType::Number,
        _ if named(&options.categorical) || named(&options.text) => ColumnType::Text,
        present if seen.strings > 0 || present == 0 => ColumnType::Text,
        present if seen.numbers == present && seen.integers == present => ColumnType::Whole,
        present if seen.numbers == present => ColumnType::Number,
        present if seen.booleans == present && seen.examples.iter().all(is_truth) => ColumnType::Boolean,
        _ => ColumnType::Text,
    })
}

/// The schema of a format without columns, from the labels and the namespaces of the first rows.
pub(crate) fn labels(layout: Layout, sample: &LabelSample, options: &Options) -> Result<InferredSchema> {
    let (LabelSample { labels, namespaces }, mut notes) = (sample, Vec::new());
    let expression = Expression::parse(options.target.as_deref().unwrap_or("label"), &["label"])?;
    if expression.column != "label" {
        return Err(DataError::options(format!("there is no column '{}' in this format", expression.column))
            .advise("the one target is called label: use ⟦target=label==3⟧, or leave ⟦target⟧ out"));
    }
    for (flag, names) in table_options(options) {
        let fits = flag == "⟦ignore⟧" && layout == Layout::Named;
        if !names.is_empty() && !fits {
            return Err(DataError::options(format!("{flag} names columns, but this format has none"))
                .advise(format!("leave {flag} out")));
        }
    }
    let interactions = options.interactions.clone();
    if layout != Layout::Named {
        interactions::refuse(&interactions)?;
    }
    let target = rule(expression, labels, options, &mut notes)?;
    let columns = ignored_namespaces(namespaces, options)?;
    notes.extend(interactions::note(&interactions));
    notes.extend(interactions::check_namespaces(&interactions, &columns, namespaces)?);
    let schema = Schema { layout, bits: options.bits, ngrams: options.ngrams, columns, target, interactions };
    Ok(InferredSchema::known(schema, notes))
}

/// The namespaces that are left out, kept in the schema so that predicting leaves them out too.
fn ignored_namespaces(namespaces: &[String], options: &Options) -> Result<Vec<Column>> {
    let named = |name: &String| if name.is_empty() { "(unnamed)".to_owned() } else { name.clone() };
    let ignored = |name: &String| match namespaces.contains(name) {
        true => Ok(Column { name: name.clone(), role: Role::Ignored }),
        false => {
            Err(DataError::options(format!("⟦ignore⟧ names '{name}', which is not a namespace in the first rows"))
                .advise(format!("the namespaces are: {}", shown(&namespaces.iter().map(named).collect::<Vec<_>>()))))
        }
    };
    options.ignore.iter().map(ignored).collect()
}

/// The options that name columns.
fn table_options(options: &Options) -> [(&'static str, &[String]); 6] {
    let weight = options.weight.as_slice();
    [
        ("⟦ignore⟧", &options.ignore),
        ("⟦categorical⟧", &options.categorical),
        ("⟦numeric⟧", &options.numeric),
        ("⟦text⟧", &options.text),
        ("⟦ids⟧", &options.ids),
        ("⟦weight⟧", weight),
    ]
}

/// Whether the user named the column.
fn is_named(name: &str, target: &str, options: &Options) -> bool {
    let mut named = table_options(options).into_iter();
    let mut multiplied = options.interactions.iter().flat_map(Interaction::groups);
    name == target
        || named.any(|(_, names)| names.iter().any(|other| other == name))
        || multiplied.any(|other| other == name)
}

/// Every column named in an option exists and is named in one only.
fn check_options(sample: &TableSample, options: &Options) -> Result {
    let named = table_options(options);
    for (at, (flag, names)) in named.iter().enumerate() {
        for name in *names {
            sample.find(name, flag)?;
            let other = named[..at].iter().find(|(_, others)| others.contains(name));
            // An id may be a feature too? No: then it would be learnt by heart.
            if let Some((other, _)) = other {
                return Err(twice(name, other, flag));
            }
        }
    }
    Ok(())
}

fn twice(name: &str, first: &str, second: &str) -> DataError {
    DataError::options(format!("column '{name}' is named in both {first} and {second}"))
        .advise("name it in one of the two")
}

/// The target as the user wrote it, and what was seen of its column.
fn target_of<'s>(sample: &'s TableSample, options: &Options) -> Result<(Expression, &'s ColumnSample)> {
    let names: Vec<_> = sample.names.iter().map(String::as_str).collect();
    let Some(text) = &options.target else {
        return Err(DataError::options("the column to predict is not named")
            .advise(format!("name it with ⟦target⟧; the columns are: {}", shown(&sample.names))));
    };
    let expression = Expression::parse(text, &names)?;
    let at = sample.find(&expression.column, "⟦target⟧")?;
    for (flag, names) in table_options(options) {
        if names.contains(&expression.column) {
            return Err(twice(&expression.column, "⟦target⟧", flag));
        }
    }
    Ok((expression, &sample.seen[at]))
}
