//! The records of a CSV that have no quotes, some lines together.
//!
//! Where cells end is found 64 bytes at a time ([`marks`](crate::marks)), the numbers of some records are read
//! together ([`decimals`](crate::decimals)), and categories are hashed before anybody asks whether they are new. A line in
//! which a quote begins a cell, that has not as many cells as there are columns, or that holds what is to be refused, is left
//! to who reads cell by cell.

use memchr::memchr;

use crate::decimals::{CELL, Text, read_cells};
use crate::encode::{Cell, RowEncoder, Step};
use crate::error::DataError;
use crate::marks::{Line, Marks};
use crate::number::{self, Number};
use crate::parsed::Parsed;
use crate::schema::Schema;

/// What is done with the columns.
#[derive(Default)]
struct Plan {
    columns: usize,
    numbers: Vec<NumberColumn>,
    /// Where the column of the label is, if its numbers are labels.
    label: Option<usize>,
    /// Where there is a number in each record: those of the columns, then the label.
    places: Vec<usize>,
    categories: Vec<CategoryColumn>,
    /// The columns of numbers and categories in order: where they are, and which of the schema's.
    simple: Vec<(usize, usize)>,
    /// In order.
    stages: Vec<Stage>,
}

/// A column of numbers.
struct NumberColumn {
    at: usize,
    /// Which of the [simple](Plan::simple) columns it is.
    simple: usize,
    slot: u32,
    origin: Option<f64>,
}

/// A column of categories.
struct CategoryColumn {
    at: usize,
    simple: usize,
    seed: u64,
}

/// A part of a record.
enum Stage {
    /// So many simple columns.
    Simple(usize),
    /// The label, as a number.
    Label { column: usize },
    /// A column that is read by itself.
    Other { at: usize, column: usize },
}

/// A feature of a record that is being put together.
#[derive(Clone, Copy, Default)]
struct Feature {
    index: u32,
    value: f32,
    is_there: bool,
}

/// A line that was looked at.
#[derive(Clone)]
struct Row {
    line: Line,
    /// The first of its numbers.
    number: usize,
    /// The features of its simple columns, and the first of the ends of their runs.
    features: usize,
    run: usize,
    label: Option<f64>,
    is_plain: bool,
}

/// Lines that were looked at together.
#[derive(Default)]
pub(crate) struct PlainRecords {
    marks: Marks,
    plan: Plan,
    rows: Vec<Row>,
    current: usize,
    /// Where cells with numbers begin and end.
    starts: Vec<u32>,
    ends: Vec<u32>,
    numbers: Vec<f64>,
    /// The features of simple columns, with which of these each is of; what is behind `count` means nothing.
    indices: Vec<u32>,
    values: Vec<f32>,
    sources: Vec<u32>,
    count: usize,
    /// Where the features of each run of simple columns end.
    runs: Vec<usize>,
    /// Those of one record.
    features: Vec<Feature>,
}

impl Plan {
    fn new(encoder: &RowEncoder, columns: &[Option<usize>]) -> Self {
        let mut plan = Self { columns: columns.len(), ..Self::default() };
        for (at, &column) in columns.iter().enumerate() {
            let Some(column) = column else { continue };
            let simple = plan.simple.len();
            match encoder.step(column) {
                Step::Number { slot, origin } => plan.numbers.push(NumberColumn { at, simple, slot, origin }),
                Step::Category { seed } => plan.categories.push(CategoryColumn { at, simple, seed }),
                Step::Label => {
                    plan.label = Some(at);
                    plan.stages.push(Stage::Label { column });
                    continue;
                }
                Step::Other => {
                    plan.stages.push(Stage::Other { at, column });
                    continue;
                }
            }
            plan.simple.push((at, column));
            match plan.stages.last_mut() {
                Some(Stage::Simple(count)) => *count += 1,
                _ => plan.stages.push(Stage::Simple(1)),
            }
        }
        plan.places = plan.numbers.iter().map(|number| number.at).chain(plan.label).collect();
        plan
    }
}

/// Where a cell of a record begins and ends.
#[inline]
fn cell(line: Line, places: &[u32], at: usize) -> (u32, u32) {
    (if at == 0 { line.start } else { places[at - 1] + 1 }, places[at])
}

impl PlainRecords {
    /// A new text is read, whose columns are these of the schema.
    pub(crate) fn begin(&mut self, encoder: &RowEncoder, columns: &[Option<usize>]) {
        self.rows.clear();
        self.current = 0;
        self.plan = Plan::new(encoder, columns);
    }

    /// Whether the record that begins at `start` is plain. Then it may be [encoded](Self::encode).
    pub(crate) fn next(&mut self, encoder: &RowEncoder, text: &[u8], start: usize, delimiter: u8) -> bool {
        // Records that were read by others may have been of several lines.
        while self.rows.get(self.current).is_some_and(|row| (row.line.start as usize) < start) {
            self.current += 1;
        }
        if self.rows.get(self.current).is_none_or(|row| row.line.start as usize != start) {
            self.look_ahead(encoder, text, start, delimiter);
        }
        self.rows.get(self.current).is_some_and(|row| row.is_plain)
    }

    /// Encodes the record, which is plain, and tells where the next begins.
    pub(crate) fn encode(
        &self,
        encoder: &mut RowEncoder,
        schema: &Schema,
        text: &[u8],
        out: &mut Parsed,
    ) -> Result<usize, DataError> {
        let row = &self.rows[self.current];
        let places = self.marks.of(row.line);
        let content = |at: usize| {
            let (start, end) = cell(row.line, places, at);
            &text[start as usize..end as usize]
        };
        let (mut feature, mut run) = (row.features, row.run);
        for stage in &self.plan.stages {
            match *stage {
                Stage::Other { at, column } => encoder.cell(schema, column, Cell::Text(content(at)), out)?,
                Stage::Label { column } => {
                    encoder.cell(schema, column, row.label.map_or(Cell::Missing, Cell::Number), out)?;
                }
                Stage::Simple(_) => {
                    let range = feature..self.runs[run];
                    (feature, run) = (range.end, run + 1);
                    let (indices, values) = (&self.indices[range.clone()], &self.values[range.clone()]);
                    let source = |number: usize| {
                        let (at, column) = self.plan.simple[self.sources[range.start + number] as usize];
                        (column, content(at))
                    };
                    encoder.features(schema, indices, values, source, out);
                }
            }
        }
        encoder.mention(self.plan.simple.iter().map(|&(_, column)| column));
        Ok(row.line.end as usize + 1)
    }

    /// Finds the cells of the next lines, and their features.
    fn look_ahead(&mut self, encoder: &RowEncoder, text: &[u8], start: usize, delimiter: u8) {
        let Self { marks, plan, rows, current, starts, ends, numbers, .. } = self;
        let end = marks.find_by(text, start, [delimiter]);
        let has_quotes = memchr(b'"', &text[start..end]).is_some();
        rows.clear();
        *current = 0;
        let most = marks.lines().len() * plan.places.len();
        if starts.len() < most {
            starts.resize(most, 0);
            ends.resize(most, 0);
        }
        let mut count = 0;
        for &line in marks.lines() {
            let places = marks.of(line);
            let begins_quoted = |start: u32| text.get(start as usize) == Some(&b'"');
            let is_quoted =
                has_quotes && (begins_quoted(line.start) || places.iter().any(|&place| begins_quoted(place + 1)));
            let is_plain = places.len() == plan.columns && line.has_room(text) && !is_quoted;
            rows.push(Row { line, number: count, features: 0, run: 0, label: None, is_plain });
            if !is_plain {
                continue;
            }
            let room = starts[count..].iter_mut().zip(&mut ends[count..]);
            for (into, &at) in room.zip(&plan.places) {
                let (start, end) = cell(line, places, at);
                // As empty, which is 0, what is to be read by itself.
                *into.0 = if end - start <= *CELL.end() { start } else { end };
                *into.1 = end;
            }
            count += plan.places.len();
        }
        read_cells(text, &starts[..count], &ends[..count], numbers);
        let most = self.rows.len() * self.plan.simple.len();
        if self.indices.len() < most {
            self.indices.resize(most, 0);
            self.values.resize(most, 0.0);
            self.sources.resize(most, 0);
        }
        self.count = 0;
        self.runs.clear();
        for number in 0..self.rows.len() {
            if self.rows[number].is_plain {
                self.look_at(encoder, text, number);
            }
        }
    }

    /// Finds the features of a line that has as many cells as there are columns.
    fn look_at(&mut self, encoder: &RowEncoder, text: &[u8], number: usize) {
        let Self { marks, plan, rows, numbers, features, .. } = self;
        let row = &mut rows[number];
        let (line, places) = (row.line, marks.of(row.line));
        features.resize(plan.simple.len(), Feature::default());
        let content = |(start, end): (u32, u32)| &text[start as usize..end as usize];
        let read = |value: f64, bounds: (u32, u32)| match CELL.contains(&(bounds.1 - bounds.0)) && !value.is_nan() {
            true => Number::Finite(value),
            false if bounds.0 == bounds.1 => Number::Missing,
            false => number::parse(content(bounds)),
        };
        let mut values = numbers[row.number..].iter();
        for (column, &value) in plan.numbers.iter().zip(&mut values) {
            let feature = &mut features[column.simple];
            match (read(value, cell(line, places, column.at)), column.origin) {
                (Number::Missing, _) => *feature = Feature { index: column.slot + 1, value: 1.0, is_there: true },
                (Number::Finite(value), origin) => {
                    let narrow = (value - origin.unwrap_or(0.0)) as f32;
                    // Too large: to be refused.
                    row.is_plain &= narrow.is_finite();
                    *feature = Feature { index: column.slot, value: narrow, is_there: origin != Some(value) };
                }
                (Number::Infinite | Number::Invalid, _) => row.is_plain = false,
            }
        }
        if let (Some(at), Some(&value)) = (plan.label, values.next()) {
            match read(value, cell(line, places, at)) {
                Number::Finite(value) => row.label = Some(value),
                Number::Missing => {}
                Number::Infinite | Number::Invalid => row.is_plain = false,
            }
        }
        let Some(around) = Text::new(text) else { return };
        for column in &plan.categories {
            let bounds = cell(line, places, column.at);
            let index = encoder.category_index(column.seed, around, text, bounds);
            features[column.simple] = Feature { index, value: 1.0, is_there: !is_missing(content(bounds)) };
        }
        if row.is_plain {
            self.keep(number);
        }
    }

    /// Keeps those features of a record that are there.
    fn keep(&mut self, number: usize) {
        let Self { plan, rows, indices, values, sources, count, runs, features, .. } = self;
        (rows[number].features, rows[number].run) = (*count, runs.len());
        let (indices, values, sources) = (&mut indices[*count..], &mut values[*count..], &mut sources[*count..]);
        let (mut kept, mut next) = (0, 0);
        for stage in &plan.stages {
            let Stage::Simple(length) = *stage else { continue };
            let run = next..next + length;
            next = run.end;
            for (source, feature) in run.clone().zip(&features[run]) {
                // Written in any case: what is there is what a processor guesses wrong.
                (indices[kept], values[kept], sources[kept]) = (feature.index, feature.value, source as u32);
                kept += usize::from(feature.is_there);
            }
            runs.push(*count + kept);
        }
        *count += kept;
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
