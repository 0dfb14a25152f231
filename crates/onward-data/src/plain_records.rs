//! The records of a CSV that have no quotes, some lines together.
//!
//! The numbers of some records are read together ([`decimals`](crate::decimals)), and categories are hashed before anybody
//! asks whether they are new. A line that is not [plain](crate::plain_lines), or that holds what is to be refused, is left to who
//! reads cell by cell.

use std::ops::Range;
use std::sync::Arc;

use crate::decimals::{Text, read_cells};
use crate::encode::{Binding, Cell, OF_MOMENT, RowEncoder, Way};
use crate::error::DataError;
use crate::marks::Line;
use crate::number::{self, Number};
use crate::parsed::Parsed;
use crate::plain_lines::PlainLines;
use crate::schema::Schema;

/// What is done with the cells of a column, or of some side by side. `at`: the place of the column.
enum Step {
    /// Each number is a feature; or a feature is that there is none. `slots`: those of the plan.
    Numbers { at: usize, slots: Range<usize> },
    /// A number is a feature but for this one, which it is counted from.
    Number { at: usize, slot: u32, origin: f64 },
    /// A category is one.
    Category { at: usize, seed: u64 },
    /// A moment is some.
    Moment { at: usize, column: usize, slot: u32, origin: f64 },
    /// A number is the label.
    Label { at: usize },
    /// It is read by itself.
    Other,
}

/// What is done with the columns.
#[derive(Default)]
struct Plan {
    /// In the order of the columns; those of which nothing is wanted are left out.
    steps: Vec<Step>,
    slots: Vec<u32>,
    columns: usize,
    /// The columns side by side whose numbers are wanted, and how many these are.
    wanted: Vec<Range<usize>>,
    numbers: usize,
    /// Those that are read together, in the schema.
    simple: Vec<usize>,
    /// The columns that are taken one by one: where they are, and which of the schema's.
    others: Vec<(usize, usize)>,
    /// The label, if there is one: where it is, and which of the schema's columns.
    label: Option<(usize, usize)>,
    /// The most features that a record has of those read together.
    most_features: usize,
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
    features: Found,
    /// Where the features of each run end: those between two columns that are taken one by one.
    runs: Vec<usize>,
}

/// Features; what is behind the last one means nothing.
#[derive(Default)]
struct Found {
    indices: Vec<u32>,
    values: Vec<f32>,
}

impl Found {
    fn reserve(&mut self, most: usize) {
        if self.indices.len() < most {
            self.indices.resize(most, 0);
            self.values.resize(most, 0.0);
        }
    }
}

impl Plan {
    fn new(encoder: &RowEncoder, binding: &Binding) -> Self {
        let mut plan = Self { columns: binding.columns.len(), ..Self::default() };
        for (at, column) in binding.columns.iter().enumerate() {
            let Some(column) = *column else { continue };
            let way = encoder.way(column);
            if matches!(way, Way::Number { .. } | Way::Label) {
                match plan.wanted.last_mut().filter(|last| last.end == at) {
                    Some(last) => last.end += 1,
                    None => plan.wanted.push(at..at + 1),
                }
                plan.numbers += 1;
            }
            match way {
                Way::Number { .. } | Way::Category { .. } | Way::Moment { .. } => plan.simple.push(column),
                Way::Label => plan.label = Some((at, column)),
                Way::Other => plan.others.push((at, column)),
                Way::Left => {}
            }
            let (step, features) = match way {
                Way::Number { slot, origin: Some(origin) } => (Step::Number { at, slot, origin }, 1),
                Way::Number { slot, origin: None } => {
                    plan.most_features += 1;
                    plan.slots.push(slot);
                    match plan.steps.last_mut() {
                        Some(Step::Numbers { at: first, slots }) if *first + slots.len() == at => {
                            slots.end += 1;
                            continue;
                        }
                        _ => (Step::Numbers { at, slots: plan.slots.len() - 1..plan.slots.len() }, 0),
                    }
                }
                Way::Category { seed } => (Step::Category { at, seed }, 1),
                Way::Moment { slot, origin } => (Step::Moment { at, column, slot, origin }, OF_MOMENT),
                Way::Label => (Step::Label { at }, 0),
                Way::Other => (Step::Other, 0),
                Way::Left => continue,
            };
            plan.steps.push(step);
            plan.most_features += features;
        }
        plan
    }
}

impl PlainRecords {
    /// A new text is read, whose columns are these of the schema.
    pub(crate) fn begin(&mut self, encoder: &RowEncoder, binding: &Arc<Binding>) {
        self.lines.begin();
        self.rows.clear();
        if !self.binding.as_ref().is_some_and(|last| Arc::ptr_eq(last, binding)) {
            self.plan = Plan::new(encoder, binding);
            self.is_whole = encoder.has_required(&binding.columns);
            self.binding = Some(Arc::clone(binding));
        }
    }

    /// The number of the record that begins at `start`, if it is plain. Then it may be [encoded](Self::encode).
    pub(crate) fn next(&mut self, encoder: &mut RowEncoder, text: &[u8], start: usize, delimiter: u8) -> Option<usize> {
        if self.lines.go_to(text, start, delimiter, self.plan.columns) {
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
        let ends = &self.runs[row.run..][..=self.plan.others.len()];
        let (mut start, mut label) = (row.feature, self.plan.label);
        for (&end, &(at, column)) in ends.iter().zip(&self.plan.others) {
            self.add_run(start..end, line, encoder, schema, text, out);
            start = end;
            if let Some((_, column)) = label.take_if(|&mut (before, _)| before < at) {
                encoder.label(schema, column, row.label)?;
            }
            encoder.cell(schema, column, Cell::Text(self.cell(line, at, text)), out)?;
        }
        self.add_run(start..ends[self.plan.others.len()], line, encoder, schema, text, out);
        if let Some((_, column)) = label {
            encoder.label(schema, column, row.label)?;
        }
        encoder.mention(&self.plan.simple, self.is_whole);
        Ok(line.end as usize + 1)
    }

    /// Adds features of a line.
    fn add_run(
        &self,
        features: Range<usize>,
        line: Line,
        encoder: &mut RowEncoder,
        schema: &Schema,
        text: &[u8],
        out: &mut Parsed,
    ) {
        let Found { indices, values } = &self.features;
        let (indices, values) = (&indices[features.clone()], &values[features]);
        if !encoder.has_named(indices) {
            self.name(line, encoder, schema, indices, text, out);
        }
        out.batch.extend(indices, values);
    }

    /// Has those of some features of a line named that are met for the first time.
    #[inline(never)]
    fn name(
        &self,
        line: Line,
        encoder: &mut RowEncoder,
        schema: &Schema,
        indices: &[u32],
        text: &[u8],
        out: &mut Parsed,
    ) {
        let Some(binding) = &self.binding else { return };
        for (at, column) in binding.columns.iter().enumerate() {
            if let Some(column) = *column {
                encoder.name_features(schema, column, indices, self.cell(line, at, text), out);
            }
        }
    }

    /// The text of a cell of a line.
    fn cell<'a>(&self, line: Line, at: usize, text: &'a [u8]) -> &'a [u8] {
        let (start, end) = self.lines.cell(line, at);
        &text[start..end]
    }

    /// Finds the cells of the next lines, and their features.
    fn look_ahead(&mut self, encoder: &mut RowEncoder, text: &[u8]) {
        let Self { lines, plan, rows, starts, ends, numbers, .. } = self;
        rows.clear();
        let most = lines.lines().len() * plan.numbers;
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
            for cells in &plan.wanted {
                let into = count..count + cells.len();
                let (starts, ends) = (&mut starts[into.clone()], &mut ends[into.clone()]);
                // Each begins behind the end of the one before.
                let mut start = if cells.start == 0 { line.start } else { places[cells.start - 1] + 1 };
                let places = &places[cells.clone()];
                for at in 0..places.len().min(starts.len()).min(ends.len()) {
                    (starts[at], ends[at]) = (start, places[at]);
                    start = places[at] + 1;
                }
                count = into.end;
            }
        }
        read_cells(text, &mut starts[..count], &ends[..count], numbers);
        self.features.reserve(self.rows.len() * self.plan.most_features + OF_MOMENT);
        self.runs.clear();
        let mut feature = 0;
        for number in 0..self.rows.len() {
            if self.rows[number].is_plain {
                feature = self.look_at(encoder, text, number, feature);
            }
        }
    }

    /// Finds the features of a line that has as many cells as there are columns, and keeps them from `first` on. Gives where
    /// they end.
    fn look_at(&mut self, encoder: &mut RowEncoder, text: &[u8], number: usize, first: usize) -> usize {
        let Self { lines, plan, rows, numbers, runs, .. } = self;
        let Found { indices, values } = &mut self.features;
        let (row, line) = (&mut rows[number], lines.line(number));
        (row.feature, row.run) = (first, runs.len());
        let places = lines.places(line);
        let bounds = |at: usize| (if at == 0 { line.start } else { places[at - 1] + 1 }, places[at]);
        let cell = |(start, end): (u32, u32)| &text[start as usize..end as usize];
        let mut numbers = &numbers[row.number..row.number + plan.numbers];
        let mut next = |count: usize| {
            let (some, rest) = numbers.split_at(count);
            numbers = rest;
            some
        };
        // What is not a number that was read with others.
        let settled = |value: f64, at: usize| match bounds(at) {
            _ if !value.is_nan() => Number::Finite(value),
            (start, end) if start == end => Number::Missing,
            bounds => number::parse(cell(bounds)),
        };
        let Some(around) = Text::new(text) else { return first };
        let (mut kept, mut is_plain) = (first, true);
        for step in &plan.steps {
            match *step {
                Step::Numbers { at, ref slots } => {
                    let slots = &plan.slots[slots.clone()];
                    let numbers = next(slots.len());
                    let into = kept..kept + slots.len();
                    let (indices, values) = (&mut indices[into.clone()], &mut values[into.clone()]);
                    let count = slots.len().min(numbers.len()).min(indices.len()).min(values.len());
                    let mut are_finite = true;
                    for number in 0..count {
                        let narrow = numbers[number] as f32;
                        (indices[number], values[number]) = (slots[number], narrow);
                        are_finite &= narrow.is_finite();
                    }
                    for number in if are_finite { 0..0 } else { 0..count } {
                        if values[number].is_finite() {
                            continue;
                        }
                        match settled(numbers[number], at + number) {
                            Number::Finite(value) => values[number] = value as f32,
                            Number::Missing => (indices[number], values[number]) = (slots[number] + 1, 1.0),
                            Number::Infinite | Number::Invalid => {}
                        }
                        // What is none, or too large, is to be refused.
                        is_plain &= values[number].is_finite();
                    }
                    kept = into.end;
                }
                Step::Number { at, slot, origin } => {
                    let found = match settled(next(1)[0], at) {
                        Number::Finite(value) if value == origin => continue,
                        Number::Finite(value) => (slot, (value - origin) as f32),
                        Number::Missing => (slot + 1, 1.0),
                        Number::Infinite | Number::Invalid => (slot, f32::NAN),
                    };
                    is_plain &= found.1.is_finite();
                    (indices[kept], values[kept]) = found;
                    kept += 1;
                }
                Step::Category { at, seed } => {
                    let (start, end) = bounds(at);
                    let may_be_missing = MAY_BE_MISSING[(around.after(start) & 0xff) as usize] || start == end;
                    // Written in any case: what is there is what a processor guesses wrong.
                    (indices[kept], values[kept]) = (encoder.category_index(seed, around, text, (start, end)), 1.0);
                    kept += usize::from(!(may_be_missing && number::is_missing(cell((start, end)).trim_ascii())));
                }
                Step::Moment { at, column, slot, origin } => {
                    match encoder.moment_features(column, (slot, origin), cell(bounds(at))) {
                        Some((all, count)) => {
                            let into = indices[kept..].iter_mut().zip(&mut values[kept..]);
                            into.zip(all).for_each(|((index, value), found)| (*index, *value) = found);
                            kept += count;
                        }
                        None => is_plain = false,
                    }
                }
                Step::Label { at } => match settled(next(1)[0], at) {
                    Number::Finite(value) => row.label = Some(value),
                    Number::Missing => {}
                    Number::Infinite | Number::Invalid => is_plain = false,
                },
                Step::Other => runs.push(kept),
            }
        }
        row.is_plain = is_plain;
        runs.push(kept);
        kept
    }
}

/// The bytes that words for what is missing begin with, and blanks around them. Most categories begin otherwise.
static MAY_BE_MISSING: [bool; 256] = {
    let mut may_be = [true; 256];
    let mut byte = 0;
    while byte < 256 {
        let letter = byte as u8;
        may_be[byte] = !letter.is_ascii_alphanumeric() || matches!(letter, b'n' | b'N');
        byte += 1;
    }
    may_be
};
