//! The records of a CSV that have no quotes, some lines together.
//!
//! The numbers of some records are read together ([`decimals`](crate::decimals)), and categories are hashed before anybody
//! asks whether they are new. A line that is not [plain](crate::plain_lines), or that holds what is to be refused, is left to who
//! reads cell by cell.

use std::ops::Range;
use std::sync::Arc;

use crate::decimals::{CELL, Text, read_cells};
use crate::encode::{Binding, Cell, RowEncoder, Step};
use crate::error::DataError;
use crate::marks::Line;
use crate::number::{self, Number};
use crate::parsed::Parsed;
use crate::plain_lines::PlainLines;
use crate::schema::Schema;

/// What is done with the cells of a column.
enum Column {
    /// Nothing.
    Left,
    /// A number is a feature.
    Number {
        slot: u32,
        origin: Option<f64>,
        /// Which column of the schema it is.
        column: usize,
    },
    /// A category is one.
    Category { seed: u64, column: usize },
    /// A number is the label.
    Label { column: usize },
    /// Each is read by itself.
    Other { column: usize },
}

/// What is done with the columns.
#[derive(Default)]
struct Plan {
    columns: Vec<Column>,
    /// For each, whether its numbers are wanted; and how many are.
    wanted: Vec<bool>,
    numbers: usize,
    /// Those of numbers and categories, in the schema.
    simple: Vec<usize>,
    /// The columns that are taken one by one: where they are, and which of the schema's.
    others: Vec<(usize, usize)>,
}

/// A line that was looked at.
#[derive(Clone, Default)]
struct Row {
    /// The first of its numbers.
    number: usize,
    /// Its first feature, and the first of the ends of its runs.
    feature: usize,
    run: usize,
    label: Option<f64>,
    is_plain: bool,
}

/// Lines that were looked at together.
#[derive(Default)]
pub(crate) struct PlainRecords {
    lines: PlainLines,
    plan: Plan,
    /// The columns that the plan is for.
    binding: Option<Arc<Binding>>,
    rows: Vec<Row>,
    /// Whether no column is missing from each record.
    is_whole: bool,
    /// Where cells with numbers begin and end.
    starts: Vec<u32>,
    ends: Vec<u32>,
    numbers: Vec<f64>,
    /// The features; what is behind the last one means nothing.
    indices: Vec<u32>,
    values: Vec<f32>,
    /// Where the features of each run end: those between two columns that are taken one by one.
    runs: Vec<usize>,
}

impl Plan {
    fn new(encoder: &RowEncoder, columns: &[Option<usize>]) -> Self {
        let column = |&column: &Option<usize>| {
            let Some(column) = column else { return Column::Left };
            match encoder.step(column) {
                Step::Number { slot, origin } => Column::Number { slot, origin, column },
                Step::Category { seed } => Column::Category { seed, column },
                Step::Label => Column::Label { column },
                Step::Leave => Column::Left,
                Step::Other => Column::Other { column },
            }
        };
        let columns: Vec<_> = columns.iter().map(column).collect();
        let has_numbers = |column: &Column| matches!(column, Column::Number { .. } | Column::Label { .. });
        let wanted: Vec<_> = columns.iter().map(has_numbers).collect();
        let numbers = wanted.iter().filter(|&&is_wanted| is_wanted).count();
        let other = |(at, column): (usize, &Column)| match *column {
            Column::Label { column } | Column::Other { column } => Some((at, column)),
            Column::Left | Column::Number { .. } | Column::Category { .. } => None,
        };
        let simple = |column: &Column| match *column {
            Column::Number { column, .. } | Column::Category { column, .. } => Some(column),
            Column::Left | Column::Label { .. } | Column::Other { .. } => None,
        };
        let simple = columns.iter().filter_map(simple).collect();
        let others = columns.iter().enumerate().filter_map(other).collect();
        Self { columns, wanted, numbers, simple, others }
    }
}

impl PlainRecords {
    /// A new text is read, whose columns are these of the schema.
    pub(crate) fn begin(&mut self, encoder: &RowEncoder, binding: &Arc<Binding>) {
        self.lines.begin();
        self.rows.clear();
        if !self.binding.as_ref().is_some_and(|last| Arc::ptr_eq(last, binding)) {
            self.plan = Plan::new(encoder, &binding.columns);
            self.is_whole = encoder.has_required(&binding.columns);
            self.binding = Some(Arc::clone(binding));
        }
    }

    /// The number of the record that begins at `start`, if it is plain. Then it may be [encoded](Self::encode).
    pub(crate) fn next(&mut self, encoder: &RowEncoder, text: &[u8], start: usize, delimiter: u8) -> Option<usize> {
        if self.lines.go_to(text, start, delimiter, self.plan.columns.len()) {
            self.look_ahead(encoder, text);
        }
        self.lines.current().filter(|&number| self.rows[number].is_plain)
    }

    /// Encodes the plain record of this number, and tells where the next begins.
    pub(crate) fn encode(
        &self,
        number: usize,
        encoder: &mut RowEncoder,
        schema: &Schema,
        text: &[u8],
        out: &mut Parsed,
    ) -> Result<usize, DataError> {
        let (row, line) = (&self.rows[number], self.lines.line(number));
        let content = |at: usize| {
            let (start, end) = self.lines.cell(line, at);
            &text[start..end]
        };
        let (mut feature, mut from) = (row.feature, 0);
        let mut runs = self.runs[row.run..].iter();
        // The features of the columns before this one.
        let mut add_run = |encoder: &mut RowEncoder, to: usize, out: &mut Parsed| {
            let end = runs.next().map_or(feature, |&end| end);
            let features = std::mem::replace(&mut feature, end)..end;
            let columns = std::mem::replace(&mut from, to)..to;
            let (indices, values) = (&self.indices[features.clone()], &self.values[features]);
            encoder.features(schema, indices, values, || self.sources(indices, columns.clone(), line, text), out);
        };
        for &(at, column) in &self.plan.others {
            add_run(encoder, at, out);
            let cell = match self.plan.columns[at] {
                Column::Label { .. } => row.label.map_or(Cell::Missing, Cell::Number),
                _ => Cell::Text(content(at)),
            };
            encoder.cell(schema, column, cell, out)?;
        }
        add_run(encoder, self.plan.columns.len(), out);
        encoder.mention(&self.plan.simple, self.is_whole);
        Ok(line.end as usize + 1)
    }

    /// Of which of some columns each of these features of a line is, and the text of its cell.
    fn sources<'a>(
        &'a self,
        indices: &'a [u32],
        columns: Range<usize>,
        line: Line,
        text: &'a [u8],
    ) -> impl Iterator<Item = (usize, &'a [u8])> {
        let mut indices = indices.iter().peekable();
        columns.filter_map(move |at| {
            let (start, end) = self.lines.cell(line, at);
            let cell = &text[start..end];
            let (column, is_there) = match self.plan.columns[at] {
                Column::Number { slot, column, .. } => {
                    (column, indices.peek().is_some_and(|&&index| index == slot || index == slot + 1))
                }
                Column::Category { column, .. } => (column, !is_missing(cell)),
                Column::Left | Column::Label { .. } | Column::Other { .. } => return None,
            };
            is_there.then(|| indices.next()).map(|_| (column, cell))
        })
    }

    /// Finds the cells of the next lines, and their features.
    fn look_ahead(&mut self, encoder: &RowEncoder, text: &[u8]) {
        let Self { lines, plan, rows, starts, ends, numbers, .. } = self;
        rows.clear();
        // One more for what is written in any case.
        let most = lines.lines().len() * plan.numbers + 1;
        if starts.len() < most {
            starts.resize(most, 0);
            ends.resize(most, 0);
        }
        let mut count = 0;
        for (line, is_plain) in lines.lines() {
            rows.push(Row { number: count, is_plain, ..Row::default() });
            if !is_plain {
                continue;
            }
            let places = lines.places(line);
            let (starts, ends) = (&mut starts[count..=count + plan.numbers], &mut ends[count..=count + plan.numbers]);
            let (mut start, mut found) = (line.start, 0);
            for (&end, &is_wanted) in places.iter().zip(&plan.wanted) {
                // As empty, which may be anything, what is to be read by itself.
                (starts[found], ends[found]) = (if end - start <= *CELL.end() { start } else { end }, end);
                found += usize::from(is_wanted);
                start = end + 1;
            }
            count += plan.numbers;
        }
        read_cells(text, &starts[..count], &ends[..count], numbers);
        let most = self.rows.len() * self.plan.columns.len();
        if self.indices.len() < most {
            self.indices.resize(most, 0);
            self.values.resize(most, 0.0);
        }
        self.runs.clear();
        let mut feature = 0;
        for number in 0..self.rows.len() {
            if self.rows[number].is_plain {
                feature += self.look_at(encoder, text, number, feature);
            }
        }
    }

    /// Finds the features of a line that has as many cells as there are columns, and keeps them from `feature` on. Gives how many
    /// there are.
    fn look_at(&mut self, encoder: &RowEncoder, text: &[u8], number: usize, feature: usize) -> usize {
        let Self { lines, plan, rows, numbers, indices, values, runs, .. } = self;
        let (row, line) = (&mut rows[number], lines.line(number));
        (row.feature, row.run) = (feature, runs.len());
        let count = plan.columns.len();
        let (indices, values) = (&mut indices[feature..feature + count], &mut values[feature..feature + count]);
        let mut numbers = numbers[row.number..row.number + plan.numbers].iter();
        let mut next = |(start, end): (u32, u32)| match numbers.next() {
            Some(&value) if CELL.contains(&(end - start)) && !value.is_nan() => Number::Finite(value),
            _ if start == end => Number::Missing,
            _ => number::parse(&text[start as usize..end as usize]),
        };
        let Some(around) = Text::new(text) else { return 0 };
        let (mut start, mut kept) = (line.start, 0);
        for (column, &end) in plan.columns.iter().zip(lines.places(line)) {
            let bounds = (start, end);
            start = end + 1;
            let (index, value, is_there) = match *column {
                Column::Left => continue,
                Column::Number { slot, origin, .. } => match next(bounds) {
                    Number::Missing => (slot + 1, 1.0, true),
                    Number::Finite(value) => {
                        let narrow = (value - origin.unwrap_or(0.0)) as f32;
                        // Too large: to be refused.
                        row.is_plain &= narrow.is_finite();
                        (slot, narrow, origin != Some(value))
                    }
                    Number::Infinite | Number::Invalid => {
                        row.is_plain = false;
                        continue;
                    }
                },
                Column::Category { seed, .. } => {
                    let index = encoder.category_index(seed, around, text, bounds);
                    (index, 1.0, !is_missing(&text[bounds.0 as usize..bounds.1 as usize]))
                }
                Column::Label { .. } => {
                    runs.push(feature + kept);
                    match next(bounds) {
                        Number::Finite(value) => row.label = Some(value),
                        Number::Missing => {}
                        Number::Infinite | Number::Invalid => row.is_plain = false,
                    }
                    continue;
                }
                Column::Other { .. } => {
                    runs.push(feature + kept);
                    continue;
                }
            };
            // Written in any case: what is there is what a processor guesses wrong.
            (indices[kept], values[kept]) = (index, value);
            kept += usize::from(is_there);
        }
        runs.push(feature + kept);
        kept
    }
}

/// Whether a category is missing.
#[inline]
fn is_missing(text: &[u8]) -> bool {
    match text {
        // What most categories begin with is in no word for it.
        [b'A'..=b'M' | b'O'..=b'Z' | b'a'..=b'm' | b'o'..=b'z' | b'0'..=b'9', ..] => false,
        _ => number::is_missing(text.trim_ascii()),
    }
}
