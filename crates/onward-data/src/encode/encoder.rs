//! From cells to features, for all formats with named columns.

use std::collections::HashSet;
use std::fmt::Write;

use onward::hashing::feature_hash as hash;

use super::rules::{bad_weight, checked_weight};
use super::timestamps::{FEATURES_OF_TIMESTAMP, TimestampIndices};
use super::words::BagOfWords;
use super::{InteractionEncoder, NamesSeen, ParsedBatch, Rules};
use crate::error::{DataError, MEND, Result, quoted};
use crate::schema::target::boolean;
use crate::schema::timestamp::{Timestamp, TimestampParser};
use crate::schema::{CellValue, Column, Kind, Role};
use crate::text::numbers::batch::PaddedText;
use crate::text::numbers::{self, Number};

/// Turns rows of cells into examples.
pub(crate) struct RowEncoder {
    pub(crate) rules: Rules,
    /// For each column of the schema, the hash seed of its categories.
    pub(crate) seeds: Vec<u64>,
    /// For each column, the indices of the parts of its moments.
    parts: Vec<Option<Box<TimestampIndices>>>,
    /// For each column, the moment read last.
    moments: Vec<TimestampParser>,
    seen: NamesSeen,
    /// For each column, the row that last had it.
    last_row: Vec<u64>,
    /// The columns whose absence from a row is noted as missing.
    required: Vec<usize>,
    /// Whether the row is known to have these, and to have each column once.
    has_all: bool,
    has_each_once: bool,
    row: u64,
    pub(crate) label: Option<f64>,
    weight: f64,
    /// The columns that are ids.
    pub(crate) id_columns: Vec<usize>,
    /// The row's ids, by column.
    ids: Vec<Vec<u8>>,
    words: BagOfWords,
    /// The products of features, if there are interactions.
    pub(crate) products: Option<Box<InteractionEncoder>>,
    /// The hashes of the elements of the row's sets.
    elements: HashSet<u64>,
    /// A cell as text.
    text: String,
    /// How a missing value is written in the format.
    missing: &'static str,
}

impl RowEncoder {
    /// `missing`: how a missing value is written in the format.
    pub(crate) fn new(rules: Rules, missing: &'static str) -> Self {
        let columns = &rules.schema.columns;
        let seeds: Vec<_> = columns.iter().map(|column| hash::seed(column.name.as_bytes())).collect();
        let parts = |(column, &seed): (&Column, &u64)| {
            let is_moment = matches!(column.role, Role::Feature(Kind::Timestamp { .. }));
            is_moment.then(|| Box::new(TimestampIndices::new(&rules, seed)))
        };
        Self {
            parts: columns.iter().zip(&seeds).map(parts).collect(),
            seeds,
            moments: vec![TimestampParser::default(); columns.len()],
            seen: NamesSeen::default(),
            last_row: vec![0; columns.len()],
            required: (0..columns.len()).filter(|&column| rules.says_missing(&columns[column].role)).collect(),
            has_all: false,
            has_each_once: false,
            row: 0,
            label: None,
            weight: 1.0,
            id_columns: (0..columns.len()).filter(|&column| columns[column].role == Role::Id).collect(),
            ids: vec![Vec::new(); columns.len()],
            words: BagOfWords::new(rules.schema.ngrams as usize),
            products: InteractionEncoder::of_columns(&rules.schema),
            elements: HashSet::new(),
            text: String::new(),
            missing,
            rules,
        }
    }

    /// What a column is used for.
    pub(crate) fn column(&self, column: usize) -> &Column {
        &self.rules.schema.columns[column]
    }

    /// Begins a row with the bias.
    pub(crate) fn begin(&mut self, out: &mut ParsedBatch) {
        self.row += 1;
        (self.has_all, self.has_each_once) = (false, false);
        (self.label, self.weight) = (None, 1.0);
        self.id_columns.iter().for_each(|&column| self.ids[column].clear());
        self.elements.clear();
        out.push_bias(&mut self.seen);
        if let Some(products) = &mut self.products {
            products.begin();
        }
    }

    /// Ends a row. Columns that it did not mention are missing.
    pub(crate) fn end(&mut self, out: &mut ParsedBatch) -> Result {
        let required = if self.has_all { 0 } else { self.required.len() };
        for at in 0..required {
            let column = self.required[at];
            if self.last_row[column] != self.row {
                self.cell(column, CellValue::Missing, out)?;
            }
        }
        self.id_columns.iter().for_each(|&column| out.ids.push(&self.ids[column]));
        if let Some(products) = &mut self.products {
            products.finish(&self.rules.schema, out)?;
        }
        let distinct = if self.has_each_once { self.rules.reserved } else { 0 };
        out.batch.finish_distinct_below(distinct, self.label, self.weight);
        Ok(())
    }

    /// Encodes the cell of a column of the schema.
    #[inline]
    pub(crate) fn cell(&mut self, column: usize, cell: CellValue<'_>, out: &mut ParsedBatch) -> Result {
        self.last_row[column] = self.row;
        if let Some(products) = &mut self.products {
            products.column(column, out.batch.pending());
        }
        self.encode(column, cell, out).map_err(|error| error.column(&self.column(column).name))
    }

    // Only numbers are read in place: the other kinds would spill the registers of all.
    #[inline(always)]
    fn encode(&mut self, column: usize, cell: CellValue<'_>, out: &mut ParsedBatch) -> Result {
        match self.rules.schema.columns[column].role {
            Role::Feature(Kind::Numeric { slot, origin }) => match self.number(column, cell)? {
                None => self.missing(column, slot, out),
                Some(value) if Some(value) == origin => {}
                Some(value) => self.own(column, slot, self.checked(value - origin.unwrap_or(0.0))?, out),
            },
            Role::Feature(Kind::Categorical { .. }) => self.category(column, cell, out),
            Role::Feature(Kind::Boolean { slot }) => match self.flag(column, cell)? {
                None => self.missing(column, slot, out),
                Some(flag) => self.own(column, slot, f32::from(u8::from(flag)), out),
            },
            Role::Feature(Kind::Text) => self.words(column, cell, out),
            Role::Feature(Kind::Timestamp { slot, origin }) => match self.moment(column, cell)? {
                None => self.missing(column, slot, out),
                Some(moment) => self.timestamp(column, (slot, self.checked(moment.days - origin)?), moment, out),
            },
            Role::Target => self.label = self.rules.label(cell)?,
            Role::Weight => self.weight = weight(cell)?,
            Role::Id => self.ids[column].extend_from_slice(as_text(&mut self.text, cell)),
            Role::Ignored => {}
        }
        Ok(())
    }

    /// Adds the feature of a column that has the column's name.
    #[inline]
    fn own(&mut self, column: usize, slot: u32, value: f32, out: &mut ParsedBatch) {
        out.push(&mut self.seen, slot, value, |names| names.push(slot, &[&self.rules.schema.columns[column].name]));
    }

    fn missing(&mut self, column: usize, slot: u32, out: &mut ParsedBatch) {
        self.leave_groups(out);
        let name = &self.rules.schema.columns[column].name;
        out.push(&mut self.seen, slot + 1, 1.0, |names| names.push(slot + 1, &[name, " missing"]));
    }

    #[inline(never)]
    fn category(&mut self, column: usize, cell: CellValue<'_>, out: &mut ParsedBatch) {
        let Self { rules, seeds, seen, text, .. } = self;
        let text = as_text(text, cell);
        let Column { name, role } = &rules.schema.columns[column];
        let is_origin = match role {
            Role::Feature(Kind::Categorical { origin: Some(origin) }) => is_same(origin, text),
            _ => false,
        };
        if !is_origin && !numbers::is_missing(text.trim_ascii()) {
            let index = rules.hashed(hash::name(seeds[column], text));
            out.push(seen, index, 1.0, |names| names.push_bytes(index, &[name.as_bytes(), b"=", text]));
        }
    }

    #[inline(never)]
    fn words(&mut self, column: usize, cell: CellValue<'_>, out: &mut ParsedBatch) {
        let Self { rules, seeds, seen, text, words, .. } = self;
        words.count(seeds[column], as_text(text, cell));
        for (hash, value, word) in words.weighted() {
            let (index, name) = (rules.hashed(hash), &rules.schema.columns[column].name);
            out.push(seen, index, value, |names| names.push(index, &[name, ":", word]));
        }
    }

    #[inline(never)]
    fn timestamp(&mut self, column: usize, (slot, days): (u32, f32), moment: Timestamp, out: &mut ParsedBatch) {
        let name = &self.rules.schema.columns[column].name;
        out.push(&mut self.seen, slot, days, |names| names.push(slot, &[name, " days"]));
        for (index, part) in self.parts[column].iter().flat_map(|parts| parts.features_of(moment)) {
            out.push(&mut self.seen, index, 1.0, |names| names.push(index, &[name, &part.name()]));
        }
    }

    /// A key that the schema does not know, met later in the stream: hashed by its name.
    pub(crate) fn unknown(&mut self, key: &str, cell: CellValue<'_>, out: &mut ParsedBatch) -> Result {
        self.leave_groups(out);
        let seed = hash::seed(key.as_bytes());
        match cell {
            CellValue::Missing => {}
            CellValue::Text(text) if numbers::is_missing(text.trim_ascii()) => {}
            CellValue::Number(value) => {
                let value = self.checked(value).map_err(|error| error.column(key))?;
                let index = self.rules.hashed(hash::name(seed, b""));
                out.push(&mut self.seen, index, value, |names| names.push(index, &[key]));
            }
            _ => {
                let text = as_text(&mut self.text, cell);
                let index = self.rules.hashed(hash::name(seed, text));
                out.push(&mut self.seen, index, 1.0, |names| names.push_bytes(index, &[key.as_bytes(), b"=", text]));
            }
        }
        Ok(())
    }

    /// An element of a set: hashed as `key=element`, once in a row. The key counts where it is no column.
    pub(crate) fn element(&mut self, column: Option<usize>, key: &str, element: &str, out: &mut ParsedBatch) {
        match (column, &mut self.products) {
            (Some(column), Some(products)) => products.column(column, out.batch.pending()),
            _ => self.leave_groups(out),
        }
        let seed = column.map_or_else(|| hash::seed(key.as_bytes()), |column| self.seeds[column]);
        let hash = hash::name(seed, element.as_bytes());
        if self.elements.insert(hash) {
            let (index, columns) = (self.rules.hashed(hash), &self.rules.schema.columns);
            let key = column.map_or(key, |column| &columns[column].name);
            out.push(&mut self.seen, index, 1.0, |names| names.push(index, &[key, "=", element]));
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
    fn number(&self, column: usize, cell: CellValue<'_>) -> Result<Option<f64>> {
        Ok(match cell {
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
        })
    }

    #[inline(never)]
    fn flag(&self, column: usize, cell: CellValue<'_>) -> Result<Option<bool>> {
        let found = match cell {
            CellValue::Missing => return Ok(None),
            CellValue::Boolean(flag) => return Ok(Some(flag)),
            CellValue::Number(value) if value == 0.0 || value == 1.0 => return Ok(Some(value == 1.0)),
            CellValue::Number(value) => value.to_string(),
            CellValue::Timestamp(_) => "a date".to_owned(),
            CellValue::Text(text) => match (text.trim_ascii(), boolean(text)) {
                (missing, _) if numbers::is_missing(missing) => return Ok(None),
                (_, Some(flag)) => return Ok(Some(flag)),
                (b"0", None) => return Ok(Some(false)),
                (b"1", None) => return Ok(Some(true)),
                _ => quoted(text),
            },
        };
        Err(self.expected(column, "true or false", &found))
    }

    #[inline(never)]
    fn moment(&mut self, column: usize, cell: CellValue<'_>) -> Result<Option<Timestamp>> {
        let found = match cell {
            CellValue::Missing => return Ok(None),
            CellValue::Timestamp(moment) => return Ok(Some(moment)),
            CellValue::Text(text) => match self.moments[column].parse(text.trim_ascii()) {
                None if !numbers::is_missing(text.trim_ascii()) => {
                    return Err(self.expected(column, "a date like 2013-01-31 or 2013-01-31T23:59:59", &quoted(text)));
                }
                moment => return Ok(moment),
            },
            CellValue::Number(value) => value.to_string(),
            CellValue::Boolean(flag) => flag.to_string(),
        };
        Err(self.expected(column, "a date", &found))
    }

    /// A feature value as f32.
    #[inline]
    fn checked(&self, value: f64) -> Result<f32> {
        let narrow = value as f32;
        if narrow.is_finite() { Ok(narrow) } else { Err(self.too_large(value)) }
    }

    fn too_large(&self, value: f64) -> DataError {
        let found = match value {
            _ if value.is_nan() => "the value is NaN, which is not a number".to_owned(),
            _ if value.is_infinite() => "the value is infinite".to_owned(),
            _ => format!("the value {value:e} is beyond ±3.4e38, the range of 32-bit floats"),
        };
        let remedy = match self.rules.is_bound {
            true => MEND,
            false => "rescale the column, or leave it out with ⟦ignore⟧",
        };
        DataError::record(found).advise(format!("{remedy}; write a missing value as {}", self.missing))
    }

    fn not_a_number(&self, column: usize, text: &[u8]) -> DataError {
        let (name, found) = (&self.column(column).name, quoted(text));
        if numbers::with_point(text).is_some() {
            let error = DataError::record(format!("expected a number, found {found}"));
            return match self.rules.is_bound {
                true => error.advise(numbers::NO_COMMAS),
                false => {
                    error.advise(format!("{}; if these are not numbers, use ⟦categorical={name}⟧", numbers::NO_COMMAS))
                }
            };
        }
        match self.rules.invalid.get(&column) {
            Some((token, count)) if token.as_bytes() == text.trim_ascii() => {
                let missing = self.missing;
                DataError::record(format!("expected a number, found {found}, as in {count} of the first rows")).advise(
                    format!(
                        "if it stands for a missing value, write {missing}; else use ⟦categorical={name}⟧, or skip such \
                         records with ⟦on_error=skip⟧"
                    ),
                )
            }
            _ => self.expected(column, "a number", &found),
        }
    }

    fn expected(&self, column: usize, what: &str, found: &str) -> DataError {
        let error = DataError::record(format!("expected {what}, found {found}"));
        if self.rules.is_bound {
            return error.advise(MEND);
        }
        let name = &self.column(column).name;
        error.advise(format!("fix the record, use ⟦categorical={name}⟧, or skip such records with ⟦on_error=skip⟧"))
    }

    fn infinite(&self, text: &[u8]) -> DataError {
        DataError::record(format!("{} is infinite, or beyond the range of 64-bit floats", quoted(text)))
            .advise(format!("features must be finite: write a missing value as {}", self.missing))
    }
}

/// What the fast path of CSV needs, which reads the cells of many rows together.
impl RowEncoder {
    /// The index of the category between these positions of a text, and whether it has been met.
    #[inline]
    pub(crate) fn category_index(&self, seed: u64, text: PaddedText<'_>, bounds: (u32, u32)) -> (u32, bool) {
        let index = self.rules.hashed(text.hash(seed, bounds));
        (index, self.seen.all(&[index]))
    }

    /// The features of the moment in a text, in order, and their number; of a missing one too. `None` if the text must be
    /// refused.
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
        for (index, _) in self.parts[column].iter().flat_map(|parts| parts.features_of(moment)) {
            all[count] = (index, 1.0);
            count += 1;
        }
        days.is_finite().then_some((all, count))
    }

    /// Whether all of these features have been met.
    #[inline]
    pub(crate) fn has_named(&self, indices: &[u32]) -> bool {
        self.seen.all(indices)
    }

    /// Hands on the names of the features of a cell that are met for the first time. Encoding the cell does that too, but
    /// reads its number again: where categories are often new, that is a tenth of all instructions.
    pub(crate) fn name_features(&mut self, column: usize, text: &[u8], out: &mut ParsedBatch) {
        let Self { rules, seeds, parts, moments, seen, .. } = self;
        let Column { name, role } = &rules.schema.columns[column];
        let trimmed = text.trim_ascii();
        match *role {
            Role::Feature(Kind::Numeric { slot, .. } | Kind::Timestamp { slot, .. })
                if numbers::is_missing(trimmed) =>
            {
                out.name(seen, slot + 1, |names| names.push(slot + 1, &[name, " missing"]));
            }
            Role::Feature(Kind::Numeric { origin, .. }) if origin.is_some() && numbers::finite(text) == origin => {}
            Role::Feature(Kind::Numeric { slot, .. }) => out.name(seen, slot, |names| names.push(slot, &[name])),
            Role::Feature(Kind::Timestamp { slot, .. }) => {
                out.name(seen, slot, |names| names.push(slot, &[name, " days"]));
                let Some(moment) = moments[column].parse(trimmed) else { return };
                for (index, part) in parts[column].iter().flat_map(|parts| parts.features_of(moment)) {
                    out.name(seen, index, |names| names.push(index, &[name, &part.name()]));
                }
            }
            Role::Feature(Kind::Categorical { .. }) if !numbers::is_missing(trimmed) => {
                let index = rules.hashed(hash::name(seeds[column], text));
                out.name(seen, index, |names| names.push_bytes(index, &[name.as_bytes(), b"=", text]));
            }
            _ => {}
        }
    }

    /// The label that a number is, or a missing one; nothing if it must be refused.
    pub(crate) fn label(&self, number: Option<f64>) -> Option<Option<f64>> {
        self.rules.label(number.map_or(CellValue::Missing, CellValue::Number)).ok()
    }

    /// Refuses a label that the task or the loss does not have.
    pub(crate) fn check_label(&self, label: f64) -> Result {
        let target = &self.rules.schema.target;
        let checked = target.check_label(label).and_then(|()| self.rules.check_label(label));
        checked.map_err(|error| error.column(&target.column))
    }

    /// Whether a row with these columns has all that it must have, so that none is [missing](Self::end).
    pub(crate) fn has_required(&self, columns: &[Option<usize>]) -> bool {
        let mut are_there = vec![false; self.seeds.len()];
        columns.iter().flatten().for_each(|&column| are_there[column] = true);
        self.required.iter().all(|&column| are_there[column])
    }

    /// Notes that the row has these columns, each once; `is_whole`: and all that it must have.
    pub(crate) fn mention(&mut self, columns: &[usize], is_whole: bool) {
        (self.has_each_once, self.has_all) = (true, is_whole);
        if !is_whole {
            columns.iter().for_each(|&column| self.last_row[column] = self.row);
        }
    }

    /// Whether rows have neither ids nor products, so that one that has all columns may be [ended simply](Self::end_simple).
    pub(crate) fn ends_simply(&self) -> bool {
        self.id_columns.is_empty() && self.products.is_none()
    }

    /// Ends a row that has all columns, each once: only these of its features may share an index.
    #[inline]
    pub(crate) fn end_simple(&mut self, hashed: &[u32], out: &mut ParsedBatch) {
        out.batch.finish_distinct_but(hashed, self.label, self.weight);
    }
}

/// The importance weight in a cell.
fn weight(cell: CellValue<'_>) -> Result<f64> {
    match cell {
        CellValue::Number(value) => checked_weight(value),
        CellValue::Text(text) => match numbers::finite(text) {
            Some(value) => checked_weight(value),
            None => Err(bad_weight(&quoted(text))),
        },
        CellValue::Missing => Err(bad_weight("missing")),
        CellValue::Boolean(flag) => Ok(f64::from(u8::from(flag))),
        CellValue::Timestamp(_) => Err(bad_weight("a date")),
    }
}

/// A cell as text, as CSV would have it. Anything but text is written to `buffer`.
fn as_text<'a>(buffer: &'a mut String, cell: CellValue<'a>) -> &'a [u8] {
    buffer.clear();
    // Writing to a String cannot fail.
    let _ = match cell {
        CellValue::Text(text) => return text,
        CellValue::Missing => Ok(()),
        CellValue::Number(value) => write!(buffer, "{value}"),
        CellValue::Boolean(flag) => write!(buffer, "{flag}"),
        CellValue::Timestamp(moment) => write!(buffer, "{}", moment.days),
    };
    buffer.as_bytes()
}

/// Whether texts are equal but for blanks around them.
fn is_same(one: &str, other: &[u8]) -> bool {
    one.as_bytes() == other || one.as_bytes().trim_ascii() == other.trim_ascii()
}
