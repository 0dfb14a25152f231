//! From cells to features: what all formats with named columns share.

use std::collections::HashSet;
use std::sync::Arc;

use onward::feature::hash;

use super::rules::{bad_weight, checked_weight};
use super::timestamps::{FEATURES_OF_TIMESTAMP, TimestampIndices, features_of};
use super::words::BagOfWords;
use super::{BIAS, InteractionEncoder, NamesSeen, ParsedBatch, Rules};
use crate::error::{DataError, MEND, quoted};
use crate::schema::target::{TargetValue, boolean};
use crate::schema::timestamp::TimestampParser;
use crate::schema::{CellValue, Column, Kind, Role, Schema};
use crate::text::numbers::batch::PaddedText;
use crate::text::numbers::{self, Number};

/// What is done with the cells of a column where those of some rows are read together.
pub(crate) enum ColumnEncoding {
    /// What a [`Kind::Numeric`] is.
    Number { slot: u32, origin: Option<f64> },
    /// A category is hashed with this seed.
    Category { seed: u64 },
    /// What a [`Kind::Timestamp`] is.
    Timestamp { slot: u32, origin: f64 },
    /// A number is read and becomes the label.
    Label,
    /// Nothing.
    Ignored,
    /// Each is taken by itself, by [`RowEncoder::cell`].
    Single,
}

/// Turns rows of cells into examples.
#[derive(Debug)]
pub(crate) struct RowEncoder {
    rules: Rules,
    /// For each column of the schema, the hash seed of its categories.
    seeds: Vec<u64>,
    /// Of those with moments.
    parts: Vec<Option<Box<TimestampIndices>>>,
    /// Of each column, what was read of it.
    moments: Vec<TimestampParser>,
    seen: NamesSeen,
    /// For each column of the schema, the row that last had it.
    last_row: Vec<u64>,
    /// The columns whose absence from a row means something.
    required: Vec<usize>,
    /// Whether the row is known to have these, and to have each column once.
    has_all: bool,
    has_each_once: bool,
    row: u64,
    label: Option<f64>,
    weight: f64,
    /// Which of the row's ids each column is.
    id_at: Vec<Option<usize>>,
    ids: Vec<Vec<u8>>,
    words: BagOfWords,
    /// The products of features, if there are interactions.
    products: Option<Box<InteractionEncoder>>,
    /// The hashes of the elements of the row's sets.
    elements: HashSet<u64>,
    text: String,
    /// How a missing value is written in the format.
    missing: &'static str,
}

impl RowEncoder {
    pub(crate) fn new(rules: Rules) -> Self {
        let columns = &rules.schema.columns;
        let seeds: Vec<_> = columns.iter().map(|column| hash::seed(column.name.as_bytes())).collect();
        let is_moment = |column: &Column| matches!(column.role, Role::Feature(Kind::Timestamp { .. }));
        let parts = |(column, &seed): (&Column, &u64)| {
            is_moment(column).then(|| Box::new(TimestampIndices::new(&rules.schema, rules.reserved, seed)))
        };
        let parts = columns.iter().zip(&seeds).map(parts).collect();
        let mut count = 0;
        let id_at: Vec<_> = columns
            .iter()
            .map(|column| {
                (column.role == Role::Id).then(|| {
                    count += 1;
                    count - 1
                })
            })
            .collect();
        Self {
            seeds,
            parts,
            moments: vec![TimestampParser::default(); columns.len()],
            seen: NamesSeen::default(),
            last_row: vec![0; columns.len()],
            required: (0..columns.len()).filter(|&column| rules.says_missing(&columns[column].role)).collect(),
            has_all: false,
            has_each_once: false,
            row: 0,
            label: None,
            weight: 1.0,
            ids: vec![Vec::new(); count],
            id_at,
            words: BagOfWords::new(rules.schema.ngrams as usize),
            products: InteractionEncoder::of_columns(&rules.schema),
            elements: HashSet::new(),
            text: String::new(),
            missing: "an empty cell or NA",
            rules,
        }
    }

    /// For a format that has nulls.
    pub(crate) fn with_nulls(mut self) -> Self {
        self.missing = "null";
        self
    }

    /// The schema, to be handed to [`cell`](Self::cell) and [`end`](Self::end): taken once a
    /// chunk, since counting references once a cell would show in the profile.
    pub(crate) fn schema(&self) -> Arc<Schema> {
        Arc::clone(&self.rules.schema)
    }

    pub(crate) fn skips_errors(&self) -> bool {
        self.rules.skip_errors
    }

    /// How many ids each row has.
    pub(crate) fn id_columns(&self) -> usize {
        self.ids.len()
    }

    /// Begins a row with the bias.
    pub(crate) fn begin(&mut self, out: &mut ParsedBatch) {
        self.row += 1;
        (self.has_all, self.has_each_once) = (false, false);
        self.label = None;
        self.weight = 1.0;
        self.ids.iter_mut().for_each(Vec::clear);
        self.elements.clear();
        self.push(BIAS, 1.0, out, || "bias".to_owned());
        if let Some(products) = &mut self.products {
            products.begin();
        }
    }

    /// Ends a row: columns that it did not mention are missing.
    pub(crate) fn end(&mut self, schema: &Schema, out: &mut ParsedBatch) -> Result<(), DataError> {
        let required = if self.has_all { 0 } else { self.required.len() };
        for at in 0..required {
            let column = self.required[at];
            if self.last_row[column] != self.row {
                self.cell(schema, column, CellValue::Missing, out)?;
            }
        }
        for id in &self.ids {
            out.push_id(id);
        }
        if let Some(products) = &mut self.products {
            products.finish(schema, out)?;
        }
        let distinct = if self.has_each_once { self.rules.reserved } else { 0 };
        out.batch.finish_distinct_below(distinct, self.label, self.weight);
        Ok(())
    }

    /// Whether rows have neither ids nor products, so that one that has all columns may be [ended simply](Self::end_simple).
    pub(crate) fn ends_simply(&self) -> bool {
        self.ids.is_empty() && self.products.is_none()
    }

    /// Ends a row that has all columns, each once: only these of its features may share an index.
    #[inline]
    pub(crate) fn end_simple(&mut self, hashed: &[u32], out: &mut ParsedBatch) {
        out.batch.finish_distinct_but(hashed, self.label, self.weight);
    }

    /// Encodes the cell of a column of the schema.
    #[inline]
    pub(crate) fn cell(
        &mut self,
        schema: &Schema,
        column: usize,
        cell: CellValue<'_>,
        out: &mut ParsedBatch,
    ) -> Result<(), DataError> {
        self.last_row[column] = self.row;
        if let Some(products) = &mut self.products {
            products.column(column, out.batch.pending());
        }
        let result = match &schema.columns[column].role {
            Role::Ignored => Ok(()),
            Role::Feature(Kind::Numeric { slot, origin }) => self.number(column, *slot, *origin, cell, out),
            Role::Feature(Kind::Categorical { origin }) => self.category(column, origin.as_deref(), cell, out),
            Role::Feature(Kind::Boolean { slot }) => self.boolean(schema, column, *slot, cell, out),
            Role::Feature(Kind::Text) => self.words(column, cell, out),
            Role::Feature(Kind::Timestamp { slot, origin }) => self.moment(schema, column, (*slot, *origin), cell, out),
            Role::Target => self.target(cell),
            Role::Weight => self.weight(cell),
            Role::Id => {
                self.id(column, cell);
                Ok(())
            }
        };
        result.map_err(|error| error.column(&schema.columns[column].name))
    }

    /// What is done with the cells of a column.
    pub(crate) fn encoding(&self, column: usize) -> ColumnEncoding {
        match &self.rules.schema.columns[column].role {
            Role::Ignored => ColumnEncoding::Ignored,
            // InteractionEncoder have to know of which column a feature is.
            _ if self.products.is_some() => ColumnEncoding::Single,
            Role::Feature(Kind::Numeric { slot, origin }) => ColumnEncoding::Number { slot: *slot, origin: *origin },
            Role::Feature(Kind::Categorical { origin: None }) => ColumnEncoding::Category { seed: self.seeds[column] },
            Role::Feature(Kind::Timestamp { slot, origin }) => {
                ColumnEncoding::Timestamp { slot: *slot, origin: *origin }
            }
            Role::Target if self.rules.schema.target.reads_numbers() => ColumnEncoding::Label,
            _ => ColumnEncoding::Single,
        }
    }

    /// The index of the category between these places of a text, at which eight bytes are before and behind; and whether it has
    /// been met.
    #[inline]
    pub(crate) fn category_index(
        &self,
        seed: u64,
        around: PaddedText<'_>,
        text: &[u8],
        (start, end): (u32, u32),
    ) -> (u32, bool) {
        let hash = match hash::SHORT.contains(&(end - start)) {
            true => hash::short(seed, around.after(start), around.before(end), end - start),
            false => hash::name(seed, &text[start as usize..end as usize]),
        };
        let index = self.rules.schema.hashed(self.rules.reserved, hash);
        (index, self.seen.all(&[index]))
    }

    /// The features of the moment that the text of a column is, in order, and how many they are; of a missing one too. `None` if it
    /// is to be refused.
    pub(crate) fn timestamp_features(
        &mut self,
        column: usize,
        (slot, origin): (u32, f64),
        text: &[u8],
    ) -> Option<([(u32, f32); FEATURES_OF_TIMESTAMP], usize)> {
        let text = text.trim_ascii();
        let mut all = [(slot + 1, 1.0); FEATURES_OF_TIMESTAMP];
        let Some(moment) = self.moments[column].parse(text) else {
            return numbers::is_missing(text).then_some((all, 1));
        };
        let days = (moment.days - origin) as f32;
        all[0] = (slot, days);
        let mut count = 1;
        for (index, _) in features_of(&self.parts[column], moment) {
            all[count] = (index, 1.0);
            count += 1;
        }
        days.is_finite().then_some((all, count))
    }

    /// Whether none of these features is met for the first time.
    #[inline]
    pub(crate) fn has_named(&self, indices: &[u32]) -> bool {
        self.seen.all(indices)
    }

    /// Those of some features that are met for the first time, in order of index.
    pub(crate) fn not_named(&self, indices: &[u32]) -> Vec<u32> {
        let mut new: Vec<_> = indices.iter().copied().filter(|&index| !self.seen.all(&[index])).collect();
        new.sort_unstable();
        new
    }

    /// Hands on the names of those of some new features, in order of index, that the text of a column has which is read with others.
    pub(crate) fn name_features(
        &mut self,
        schema: &Schema,
        column: usize,
        new: &[u32],
        text: &[u8],
        out: &mut ParsedBatch,
    ) {
        let Column { name, role } = &schema.columns[column];
        let mut is_new = |index: u32| new.binary_search(&index).is_ok() && self.seen.first(index);
        match role {
            &Role::Feature(Kind::Numeric { slot, .. }) => {
                if is_new(slot) {
                    out.names.push(slot, name);
                }
                if is_new(slot + 1) {
                    out.names.push_parts(slot + 1, &[name, " missing"]);
                }
            }
            // What is missing has no feature, though another one may share its index.
            Role::Feature(Kind::Categorical { .. }) if !numbers::is_missing(text.trim_ascii()) => {
                let index = self.rules.schema.hashed(self.rules.reserved, hash::name(self.seeds[column], text));
                if is_new(index) {
                    out.names.push_bytes(index, &[name.as_bytes(), b"=", text]);
                }
            }
            &Role::Feature(Kind::Timestamp { slot, .. }) => {
                if is_new(slot) {
                    out.names.push_parts(slot, &[name, " days"]);
                }
                if is_new(slot + 1) {
                    out.names.push_parts(slot + 1, &[name, " missing"]);
                }
                let moment = self.moments[column].parse(text.trim_ascii());
                for (index, part) in moment.into_iter().flat_map(|moment| features_of(&self.parts[column], moment)) {
                    if is_new(index) {
                        out.names.push(index, &part.name(name));
                    }
                }
            }
            _ => {}
        }
    }

    /// The label that a number is, or a missing one; nothing if it is to be refused.
    pub(crate) fn label(&self, number: Option<f64>) -> Option<Option<f64>> {
        self.rules.label(number.map_or(TargetValue::Missing, TargetValue::Number)).ok()
    }

    /// Refuses a label that the task or the loss does not have.
    pub(crate) fn check_label(&self, label: f64) -> Result<(), DataError> {
        let target = &self.rules.schema.target;
        target
            .check_label(label)
            .and_then(|()| self.rules.check_label(label))
            .map_err(|error| error.column(&target.column))
    }

    /// Sets the label of the row.
    pub(crate) fn set_label(&mut self, label: Option<f64>) {
        self.label = label;
    }

    /// Whether these columns are all that a row must have, so that none is [missing](Self::end) from it.
    pub(crate) fn has_required(&self, columns: &[Option<usize>]) -> bool {
        let mut are_there = vec![false; self.seeds.len()];
        columns.iter().flatten().for_each(|&column| are_there[column] = true);
        self.required.iter().all(|&column| are_there[column])
    }

    /// Says that the row has these columns, each once; `is_whole`: and with those others that it has all that it must have.
    pub(crate) fn mention(&mut self, columns: &[usize], is_whole: bool) {
        (self.has_each_once, self.has_all) = (true, is_whole);
        if !is_whole {
            columns.iter().for_each(|&column| self.last_row[column] = self.row);
        }
    }

    /// A key that the schema does not know, met later in the stream: hashed by its name.
    pub(crate) fn unknown(&mut self, key: &str, cell: CellValue<'_>, out: &mut ParsedBatch) -> Result<(), DataError> {
        self.leave_groups(out);
        let seed = hash::seed(key.as_bytes());
        let result = match cell {
            CellValue::Missing => Ok(()),
            CellValue::Text(text) if numbers::is_missing(text.trim_ascii()) => Ok(()),
            CellValue::Number(value) => {
                self.checked(value).map(|value| self.hashed(hash::name(seed, b""), value, out, || key.to_owned()))
            }
            _ => {
                self.value_text(cell);
                let value = std::mem::take(&mut self.text);
                self.hashed(hash::name(seed, value.as_bytes()), 1.0, out, || format!("{key}={value}"));
                self.text = value;
                Ok(())
            }
        };
        result.map_err(|error: DataError| error.column(key))
    }

    /// An element of a set: hashed as `key=element`, whatever column it is (if the schema has it),
    /// once in a row.
    pub(crate) fn element(&mut self, column: Option<usize>, key: &str, element: &str, out: &mut ParsedBatch) {
        match (column, &mut self.products) {
            (Some(column), Some(products)) => products.column(column, out.batch.pending()),
            _ => self.leave_groups(out),
        }
        let hash = hash::name(hash::seed(key.as_bytes()), element.as_bytes());
        if self.elements.insert(hash) {
            self.hashed(hash, 1.0, out, || format!("{key}={element}"));
        }
    }

    /// What follows belongs to no group of an interaction.
    #[inline]
    fn leave_groups(&mut self, out: &ParsedBatch) {
        if let Some(products) = &mut self.products {
            products.nothing(out.batch.pending());
        }
    }

    #[inline]
    fn push(&mut self, index: u32, value: f32, out: &mut ParsedBatch, name: impl FnOnce() -> String) {
        if self.seen.first(index) {
            out.names.push(index, &name());
        }
        out.batch.push(index, value);
    }

    #[inline]
    fn hashed(&mut self, hash: u64, value: f32, out: &mut ParsedBatch, name: impl FnOnce() -> String) {
        let index = self.rules.schema.hashed(self.rules.reserved, hash);
        self.push(index, value, out, name);
    }

    fn missing(&mut self, column: usize, slot: u32, out: &mut ParsedBatch) {
        self.leave_groups(out);
        let name = || format!("{} missing", self.rules.schema.columns[column].name);
        if self.seen.first(slot + 1) {
            out.names.push(slot + 1, &name());
        }
        out.batch.push(slot + 1, 1.0);
    }

    #[inline]
    fn number(
        &mut self,
        column: usize,
        slot: u32,
        origin: Option<f64>,
        cell: CellValue<'_>,
        out: &mut ParsedBatch,
    ) -> Result<(), DataError> {
        let value = match cell {
            CellValue::Number(value) if value.is_nan() => None,
            CellValue::Number(value) => Some(value),
            CellValue::Missing => None,
            CellValue::Boolean(flag) => Some(f64::from(u8::from(flag))),
            CellValue::Text(text) => match numbers::parse(text) {
                Number::Finite(value) => Some(value),
                Number::Missing => None,
                Number::Infinite => return Err(self.infinite(text)),
                Number::Invalid => return Err(self.not_a_number(column, text)),
            },
            CellValue::Timestamp(_) => return Err(self.expected(column, "a number", "a date")),
        };
        match (value, origin) {
            (None, _) => self.missing(column, slot, out),
            (Some(value), Some(origin)) if value == origin => {}
            (Some(value), origin) => {
                let value = self.checked(value - origin.unwrap_or(0.0))?;
                if self.seen.first(slot) {
                    out.names.push(slot, &self.rules.schema.columns[column].name);
                }
                out.batch.push(slot, value);
            }
        }
        Ok(())
    }

    /// A feature value as f32.
    #[inline]
    fn checked(&self, value: f64) -> Result<f32, DataError> {
        let narrow = value as f32;
        if narrow.is_finite() { Ok(narrow) } else { Err(self.too_large(value)) }
    }

    #[cold]
    fn too_large(&self, value: f64) -> DataError {
        let found = match value.is_finite() {
            true => format!("the value {value:e} is beyond ±3.4e38, the range of 32-bit floats"),
            false => format!("the value is {value}"),
        };
        let remedy = match self.rules.is_bound {
            true => MEND,
            false => "rescale the column, or leave it out with ⟦ignore⟧",
        };
        DataError::record(found).advise(format!("{remedy}; write a missing value as {}", self.missing))
    }

    #[cold]
    fn not_a_number(&self, column: usize, text: &[u8]) -> DataError {
        if numbers::with_point(text).is_some() {
            let error = DataError::record(format!("expected a number, found {}", quoted(text)));
            if self.rules.is_bound {
                return error.advise(numbers::NO_COMMAS);
            }
            return error.advise(format!(
                "{}; if these are no numbers, say ⟦categorical={}⟧",
                numbers::NO_COMMAS,
                self.rules.schema.columns[column].name
            ));
        }
        match self.rules.invalid.get(&column) {
            Some((stray, count)) if stray.as_bytes() == text.trim_ascii() => {
                let name = &self.rules.schema.columns[column].name;
                DataError::record(format!("expected a number, found {}, as in {count} of the first rows", quoted(text)))
                    .advise(format!(
                        "if it stands for a missing value, write {}; else say ⟦categorical={name}⟧, or leave such \
                     records out with ⟦on_error=skip⟧",
                        self.missing
                    ))
            }
            _ => self.expected(column, "a number", &quoted(text)),
        }
    }

    #[cold]
    fn expected(&self, column: usize, what: &str, found: &str) -> DataError {
        let name = &self.rules.schema.columns[column].name;
        let error = DataError::record(format!("expected {what}, found {found}"));
        if self.rules.is_bound {
            return error.advise(MEND);
        }
        error.advise(format!(
            "mend the record, say ⟦categorical={name}⟧, or leave such records out with ⟦on_error=skip⟧"
        ))
    }

    #[cold]
    fn infinite(&self, text: &[u8]) -> DataError {
        DataError::record(format!("{} is infinite, or beyond the range of 64-bit floats", quoted(text)))
            .advise(format!("features are finite: write a missing value as {}", self.missing))
    }

    fn category(
        &mut self,
        column: usize,
        origin: Option<&str>,
        cell: CellValue<'_>,
        out: &mut ParsedBatch,
    ) -> Result<(), DataError> {
        if let CellValue::Text(text) = cell {
            self.category_text(column, origin, text, out);
            return Ok(());
        }
        self.value_text(cell);
        let text = std::mem::take(&mut self.text);
        self.category_text(column, origin, text.as_bytes(), out);
        self.text = text;
        Ok(())
    }

    #[inline]
    fn category_text(&mut self, column: usize, origin: Option<&str>, text: &[u8], out: &mut ParsedBatch) {
        if numbers::is_missing(text.trim_ascii()) || origin.is_some_and(|origin| is_same(origin, text)) {
            return;
        }
        let index = self.rules.schema.hashed(self.rules.reserved, hash::name(self.seeds[column], text));
        if self.seen.first(index) {
            let name = &self.rules.schema.columns[column].name;
            out.names.push_bytes(index, &[name.as_bytes(), b"=", text]);
        }
        out.batch.push(index, 1.0);
    }

    fn boolean(
        &mut self,
        schema: &Schema,
        column: usize,
        slot: u32,
        cell: CellValue<'_>,
        out: &mut ParsedBatch,
    ) -> Result<(), DataError> {
        let flag = match cell {
            CellValue::Missing => None,
            CellValue::Boolean(flag) => Some(flag),
            CellValue::Text(text) if numbers::is_missing(text.trim_ascii()) => None,
            CellValue::Text(text) => match (boolean(text), text.trim_ascii()) {
                (Some(flag), _) => Some(flag),
                (None, b"1") => Some(true),
                (None, b"0") => Some(false),
                _ => return Err(self.expected(column, "true or false", &quoted(text))),
            },
            CellValue::Number(1.0) => Some(true),
            CellValue::Number(0.0) => Some(false),
            CellValue::Number(value) => return Err(self.expected(column, "true or false", &value.to_string())),
            CellValue::Timestamp(_) => return Err(self.expected(column, "true or false", "a date")),
        };
        match flag {
            None => self.missing(column, slot, out),
            Some(flag) => {
                let value = f32::from(u8::from(flag));
                self.push(slot, value, out, || schema.columns[column].name.clone());
            }
        }
        Ok(())
    }

    fn words(&mut self, column: usize, cell: CellValue<'_>, out: &mut ParsedBatch) -> Result<(), DataError> {
        let mut words = std::mem::take(&mut self.words);
        match cell {
            CellValue::Missing => {}
            CellValue::Text(text) => words.count(self.seeds[column], text),
            _ => {
                self.value_text(cell);
                words.count(self.seeds[column], self.text.as_bytes());
            }
        }
        for (hash, value, word) in words.weighted() {
            let index = self.rules.schema.hashed(self.rules.reserved, hash);
            if self.seen.first(index) {
                out.names.push_parts(index, &[&self.rules.schema.columns[column].name, ":", word]);
            }
            out.batch.push(index, value);
        }
        words.clear();
        self.words = words;
        Ok(())
    }

    fn moment(
        &mut self,
        schema: &Schema,
        column: usize,
        (slot, origin): (u32, f64),
        cell: CellValue<'_>,
        out: &mut ParsedBatch,
    ) -> Result<(), DataError> {
        let moment = match cell {
            CellValue::Missing => None,
            CellValue::Timestamp(moment) => Some(moment),
            CellValue::Text(text) => match self.moments[column].parse(text.trim_ascii()) {
                Some(moment) => Some(moment),
                None if numbers::is_missing(text.trim_ascii()) => None,
                None => {
                    return Err(self.expected(column, "a date like 2013-01-31 or 2013-01-31T23:59:59", &quoted(text)));
                }
            },
            CellValue::Number(value) => return Err(self.expected(column, "a date", &value.to_string())),
            CellValue::Boolean(flag) => return Err(self.expected(column, "a date", &flag.to_string())),
        };
        let Some(moment) = moment else {
            self.missing(column, slot, out);
            return Ok(());
        };
        let name = &schema.columns[column].name;
        self.push(slot, self.checked(moment.days - origin)?, out, || format!("{name} days"));
        for (index, part) in features_of(&self.parts[column], moment) {
            self.push(index, 1.0, out, || part.name(name));
        }
        Ok(())
    }

    fn target(&mut self, cell: CellValue<'_>) -> Result<(), DataError> {
        let value = match cell {
            CellValue::Missing => TargetValue::Missing,
            CellValue::Number(value) if value.is_nan() => TargetValue::Missing,
            CellValue::Number(value) => TargetValue::Number(value),
            CellValue::Boolean(flag) => TargetValue::Boolean(flag),
            CellValue::Text(text) => TargetValue::Text(text),
            CellValue::Timestamp(moment) => TargetValue::Number(moment.days),
        };
        self.label = self.rules.label(value)?;
        Ok(())
    }

    fn weight(&mut self, cell: CellValue<'_>) -> Result<(), DataError> {
        self.weight = match cell {
            CellValue::Number(value) => checked_weight(value)?,
            CellValue::Text(text) => match numbers::parse(text) {
                Number::Finite(value) => checked_weight(value)?,
                _ => return Err(bad_weight(&quoted(text))),
            },
            CellValue::Missing => return Err(bad_weight("missing")),
            CellValue::Boolean(flag) => f64::from(u8::from(flag)),
            CellValue::Timestamp(_) => return Err(bad_weight("a date")),
        };
        Ok(())
    }

    fn id(&mut self, column: usize, cell: CellValue<'_>) {
        self.value_text(cell);
        if let Some(at) = self.id_at[column] {
            self.ids[at].extend_from_slice(self.text.as_bytes());
        }
    }

    /// The cell as text in `self.text`, as CSV would have it.
    fn value_text(&mut self, cell: CellValue<'_>) {
        use std::fmt::Write;
        self.text.clear();
        // Writing to a String cannot fail.
        let _ = match cell {
            CellValue::Missing => Ok(()),
            CellValue::Number(value) => write!(self.text, "{value}"),
            CellValue::Boolean(flag) => write!(self.text, "{flag}"),
            CellValue::Timestamp(moment) => write!(self.text, "{}", moment.days),
            CellValue::Text(text) => write!(self.text, "{}", String::from_utf8_lossy(text)),
        };
    }
}

/// Whether texts are the same but for blanks around them.
fn is_same(one: &str, other: &[u8]) -> bool {
    one.as_bytes() == other || one.as_bytes().trim_ascii() == other.trim_ascii()
}
