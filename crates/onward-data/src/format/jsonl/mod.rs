//! JSON lines: one object per line.
//!
//! Nested objects are flattened, their keys joined by dots. Numbers, `true` and
//! `false`, strings and `null` are cells of the column that the key names; an
//! array of numbers is the columns `key.0`, `key.1`, …; an array with a string
//! or a truth value in it is a set, each element a feature `key=element`. Keys
//! may come and go: one that is not among the columns is hashed by its name. Ids,
//! categories and targets that are compared as text have numbers as they are written. A
//! string stays a string even if it looks like a number, until a column of
//! numbers takes it for one. Arrays of arrays or objects are refused, as is a key
//! that occurs twice.

mod any_value;
mod walk;
mod write;

use onward::hashing::feature_hash as hash;
use serde::Deserializer;

use super::records::each_line;
use super::write::Writing;
use super::{FirstLines, Head, Recognition, TextFormat};
use crate::encode::{ParsedBatch, RowEncoder, Rules};
use crate::error::{DataError, MEND, Result};
use crate::schema::sample::{FirstRows, SAMPLE_ROWS, TableSample};
use crate::schema::{CellValue, Column, Kind, Layout, Role, Schema};
use crate::source::{Boundaries, Chunk, Parser};
use crate::text::hashed::ByHash;
use crate::text::lines::lines;
use walk::{Destination, JsonVisitor, WalkState, walk, walk_value};

/// From here on a whole number may not be a 64-bit float.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// The format: an object per line.
pub(super) struct JsonLines;

impl TextFormat for JsonLines {
    fn name(&self) -> &str {
        "jsonl"
    }

    fn summary(&self) -> &str {
        "JSON lines: one object per line"
    }

    fn endings(&self) -> &[&str] {
        &["jsonl", "ndjson", "json"]
    }

    fn layout(&self) -> Layout {
        Layout::Table
    }

    fn recognise(&self, head: &Head<'_>) -> Recognition {
        Recognition::surely(head.line().first() == Some(&b'{') || is_array(head.line()))
    }

    fn admits(&self, _: &Head<'_>) -> bool {
        false
    }

    fn sample(&self, first: &FirstLines<'_>) -> Result<FirstRows> {
        sample(first).map(FirstRows::Table)
    }

    fn parser(&self, _: Boundaries, rules: &Rules) -> Box<dyn Parser> {
        Box::new(ObjectEncoder::new(rules))
    }

    fn writing(&self) -> Writing {
        Writing::Table(write::json_lines)
    }
}

/// An array of objects: not a format that is read, but one whose parser says what to do.
fn is_array(line: &[u8]) -> bool {
    line.strip_prefix(b"[").map(<[u8]>::trim_ascii).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"{"))
}

/// What was seen of the first rows. A line that cannot be read is passed over (the
/// parser reports it), unless no line can, or the first one begins an array: then it is
/// the format that is wrong.
fn sample(first: &FirstLines<'_>) -> Result<TableSample> {
    let mut sampler =
        JsonSampler { ignored: first.ignored, sample: TableSample::open(), mentions: Vec::new(), is_trial: true };
    let mut state = WalkState::default();
    let mut first_error = None;
    for (number, line) in (first.line..).zip(lines(first.bytes)) {
        if sampler.sample.rows == SAMPLE_ROWS {
            break;
        }
        if line.is_empty() {
            continue;
        }
        match sampler.line(line, &mut state) {
            Err(error) if sampler.sample.rows == 0 && line.starts_with(b"[") => return Err(error.line(number)),
            Ok(()) => sampler.sample.rows += 1,
            Err(error) => drop(first_error.get_or_insert(error.line(number))),
        }
    }
    match first_error {
        Some(error) if sampler.sample.rows == 0 => Err(error),
        fault => {
            let mut sample = sampler.finish();
            sample.fault = fault;
            Ok(sample)
        }
    }
}

/// Looks at the types of values.
struct JsonSampler<'s> {
    ignored: &'s [String],
    sample: TableSample,
    /// In how many rows each column was mentioned.
    mentions: Vec<usize>,
    /// Whether the line is only read to see that it can be.
    is_trial: bool,
}

impl JsonSampler<'_> {
    /// Takes in a line, all of it or nothing.
    fn line(&mut self, line: &[u8], state: &mut WalkState) -> Result {
        self.is_trial = true;
        walk(line, state, self)?;
        self.is_trial = false;
        walk(line, state, self)
    }

    fn mention(&mut self, path: &str) -> usize {
        let at = self.sample.column(path);
        self.mentions.resize(self.sample.names.len(), 0);
        self.mentions[at] += 1;
        at
    }

    fn finish(mut self) -> TableSample {
        for (seen, mentions) in self.sample.seen.iter_mut().zip(&self.mentions) {
            seen.missing += self.sample.rows - mentions;
        }
        self.sample
    }
}

impl JsonVisitor for JsonSampler<'_> {
    fn key(&mut self, path: &str, _: u64) -> Destination {
        if !self.ignored.iter().any(|name| name == path) {
            return Destination::Unknown;
        }
        if !self.is_trial {
            self.mention(path);
        }
        Destination::Skipped
    }

    fn wants_text(&self, _: Destination) -> bool {
        // The trial tells errors by where they are in the line.
        !self.is_trial
    }

    fn written(&mut self, _: Destination, path: &str, number: &[u8]) -> Result {
        let at = self.mention(path);
        self.sample.seen[at].text(number);
        Ok(())
    }

    fn cell(&mut self, _: Destination, path: &str, cell: CellValue<'_>) -> Result {
        if !self.is_trial {
            let at = self.mention(path);
            self.sample.seen[at].cell(cell);
        }
        Ok(())
    }

    fn element(&mut self, _: Destination, path: &str, _: &str, is_first: bool) {
        if !self.is_trial && is_first {
            let at = self.mention(path);
            self.sample.seen[at].sets += 1;
        }
    }
}

/// Makes examples of objects.
pub(crate) struct ObjectEncoder {
    encoder: RowEncoder,
    state: WalkState,
    known: KnownColumns,
}

impl ObjectEncoder {
    pub(crate) fn new(rules: &Rules) -> Self {
        let encoder = RowEncoder::new(rules.clone(), "null");
        Self { encoder, state: WalkState::default(), known: known(&rules.schema) }
    }

    /// Adds an object that was read already, with its label if that is given apart.
    pub(crate) fn object<'de>(
        &mut self,
        object: impl Deserializer<'de>,
        label: Option<f64>,
        out: &mut ParsedBatch,
    ) -> Result {
        out.id_columns = self.encoder.id_columns.len();
        let Self { encoder, state, known } = self;
        encoder.begin(out);
        walk_value(object, state, &mut JsonEncoder { known, encoder, out })?;
        if let Some(label) = label {
            encoder.check_label(label)?;
            encoder.label = Some(label);
        }
        encoder.end(out)
    }
}

/// The columns of a schema by the hash of their name, with where their values go.
type KnownColumns = ByHash<(usize, Destination)>;

fn known(schema: &Schema) -> KnownColumns {
    // An ignored column may be an object in some rows, with parts that are used.
    let used = schema.columns.iter().filter(|column| column.role != Role::Ignored);
    let mut used: Vec<&str> = used.map(|column| column.name.as_str()).collect();
    used.sort_unstable();
    let has_used_parts = |name: &str| {
        let prefix = format!("{name}.");
        let at = used.partition_point(|other| *other < prefix.as_str());
        used.get(at).is_some_and(|other| other.starts_with(&prefix))
    };
    let known = |(at, column): (usize, &Column)| {
        let is_used = column.role != Role::Ignored || has_used_parts(&column.name);
        let destination = if is_used { Destination::Column(at) } else { Destination::Skipped };
        (hash::seed(column.name.as_bytes()), (at, destination))
    };
    schema.columns.iter().enumerate().map(known).collect()
}

/// Encodes the values of an object.
struct JsonEncoder<'p> {
    known: &'p KnownColumns,
    encoder: &'p mut RowEncoder,
    out: &'p mut ParsedBatch,
}

impl JsonEncoder<'_> {
    fn role(&self, place: Destination) -> Option<&Role> {
        place.column().map(|column| &self.encoder.column(column).role)
    }
}

impl JsonVisitor for JsonEncoder<'_> {
    fn key(&mut self, path: &str, hash: u64) -> Destination {
        match self.known.get(&hash) {
            Some(&(column, destination)) if self.encoder.column(column).name == path => destination,
            _ => Destination::Unknown,
        }
    }

    fn nested(&mut self, place: Destination, path: &str, found: &str) -> Result {
        match self.role(place) {
            Some(Role::Target | Role::Weight | Role::Id) => {
                Err(DataError::record(format!("expected one value, found {found}")).column(path).advise(MEND))
            }
            _ => Ok(()),
        }
    }

    fn wants_text(&self, place: Destination) -> bool {
        match self.role(place) {
            Some(Role::Id | Role::Feature(Kind::Categorical { .. })) => true,
            Some(Role::Target) => self.encoder.rules.schema.target.rule.compares_text(),
            _ => false,
        }
    }

    fn written(&mut self, place: Destination, path: &str, number: &[u8]) -> Result {
        self.cell(place, path, CellValue::Text(number))
    }

    fn cell(&mut self, place: Destination, path: &str, cell: CellValue<'_>) -> Result {
        // An element of an array of numbers, which has been read as a 64-bit float.
        if let CellValue::Number(value) = cell
            && value.abs() >= EXACT
            && self.wants_text(place)
        {
            return Err(DataError::record(format!(
                "the number {value} may have lost digits, because it is beyond 2^53"
            ))
            .column(path)
            .advise("in arrays of numbers, write such numbers as strings, or as keys of their own"));
        }
        match place {
            Destination::Column(column) => self.encoder.cell(column, cell, self.out),
            Destination::Unknown => self.encoder.unknown(path, cell, self.out),
            Destination::Skipped => Ok(()),
        }
    }

    fn element(&mut self, place: Destination, path: &str, element: &str, _: bool) {
        if self.role(place) != Some(&Role::Ignored) {
            self.encoder.element(place.column(), path, element, self.out);
        }
    }
}

/// Parses chunks of JSON lines.
impl Parser for ObjectEncoder {
    fn parse(&mut self, chunk: &Chunk, out: &mut ParsedBatch) -> Result {
        let Self { encoder, state, known } = self;
        out.id_columns = encoder.id_columns.len();
        each_line(chunk, encoder.rules.skip_errors, out, &mut |line: &[u8], out: &mut ParsedBatch| {
            encoder.begin(out);
            walk(line, state, &mut JsonEncoder { known, encoder, out })?;
            encoder.end(out)
        })
    }
}
