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

/// What is done with the cell at a place, but for plain numbers. `position`: that of its first feature.
enum Step {
    /// A number is a feature but for this one, which it is counted from.
    Number { at: usize, position: usize, slot: u32, origin: f64 },
    /// A category is one.
    Category { at: usize, position: usize, seed: u64 },
    /// A moment is some.
    Moment { at: usize, position: usize, column: usize, slot: u32, origin: f64 },
    /// A number is the label.
    Label { at: usize },
}

/// What is done with the columns.
#[derive(Default)]
struct Plan {
    columns: usize,
    /// The columns side by side of which each number is a feature, or that there is none; in order.
    plain: Vec<Range<usize>>,
    /// Of each of these its place, its slot, and the position of its feature.
    places: Vec<usize>,
    slots: Vec<u32>,
    positions: Vec<u32>,
    /// What else is done, in the order of the columns; and those of these columns whose numbers are wanted.
    steps: Vec<Step>,
    others: Vec<usize>,
    /// The indices and values of the features of a record, in the order of the columns, where they are known beforehand.
    indices: Vec<u32>,
    values: Vec<f32>,
    /// Those that are read together, in the schema.
    simple: Vec<usize>,
    /// The columns that are taken one by one: where they are, and which of the schema's; and the position of the feature
    /// that is next to each.
    apart: Vec<(usize, usize)>,
    breaks: Vec<usize>,
    has_label: bool,
}

/// A line that was looked at.
#[derive(Clone, Default)]
struct Row {
    /// The first of its numbers.
    number: usize,
    /// Its first feature, and the first of the ends of its runs.
    feature: usize,
    run: usize,
    /// Which of the hashed features are its.
    hashed: Range<usize>,
    label: Option<f64>,
    is_plain: bool,
    /// Whether none of its features was new.
    is_known: bool,
}

/// Lines that were looked at together.
#[derive(Default)]
pub(crate) struct PlainRecords {
    lines: PlainLines,
    plan: Plan,
    /// The columns that the plan is for.
    binding: Option<Arc<Binding>>,
    rows: Vec<Row>,
    /// Whether the input lacks no column that each record must have; and then there are none that are taken one by one, and no
    /// ids and products.
    has_required: bool,
    is_simple: bool,
    /// Where cells with numbers begin and end.
    starts: Vec<u32>,
    ends: Vec<u32>,
    numbers: Vec<f64>,
    /// Which numbers of a line are to be read by themselves.
    odd: Vec<u32>,
    features: Found,
    /// Where the features of each run end: those between two columns that are taken one by one.
    runs: Vec<usize>,
}

/// Features; what is behind the last one means nothing.
#[derive(Default)]
struct Found {
    indices: Vec<u32>,
    values: Vec<f32>,
    /// The indices that are hashed: two of a line may be equal.
    hashed: Vec<u32>,
}

impl Found {
    fn reserve(&mut self, most: usize) {
        if self.indices.len() < most {
            self.indices.resize(most, 0);
            self.values.resize(most, 0.0);
            self.hashed.resize(most, 0);
        }
    }

    /// Moves features up to where there are [none](NONE) before them. Gives where they end then.
    fn close_up(&mut self, range: Range<usize>, into: usize) -> usize {
        let (indices, values) = (&mut self.indices[..range.end], &mut self.values[..range.end]);
        let mut kept = into;
        for at in range {
            let (index, value) = (indices[at], values[at]);
            (indices[kept], values[kept]) = (index, value);
            kept += usize::from(index != NONE);
        }
        kept
    }
}

/// No feature.
const NONE: u32 = u32::MAX;

impl Plan {
    fn new(encoder: &RowEncoder, binding: &Binding) -> Self {
        let mut plan = Self { columns: binding.columns.len(), ..Self::default() };
        for (at, column) in binding.columns.iter().enumerate() {
            let Some(column) = *column else { continue };
            let position = plan.indices.len();
            match encoder.way(column) {
                Way::Number { slot, origin: None } => {
                    match plan.plain.last_mut().filter(|last| last.end == at) {
                        Some(last) => last.end += 1,
                        None => plan.plain.push(at..at + 1),
                    }
                    plan.places.push(at);
                    plan.slots.push(slot);
                    plan.positions.push(position as u32);
                    plan.add_features(&[slot], column);
                }
                Way::Number { slot, origin: Some(origin) } => {
                    plan.steps.push(Step::Number { at, position, slot, origin });
                    plan.others.push(at);
                    plan.add_features(&[slot], column);
                }
                Way::Category { seed } => {
                    plan.steps.push(Step::Category { at, position, seed });
                    plan.add_features(&[NONE], column);
                }
                Way::Moment { slot, origin } => {
                    plan.steps.push(Step::Moment { at, position, column, slot, origin });
                    plan.add_features(&[NONE; OF_MOMENT], column);
                }
                Way::Label => {
                    plan.steps.push(Step::Label { at });
                    plan.others.push(at);
                    plan.has_label = true;
                }
                Way::Other => {
                    plan.apart.push((at, column));
                    plan.breaks.push(position);
                }
                Way::Left => {}
            }
        }
        plan
    }

    /// The next features are those of a column.
    fn add_features(&mut self, indices: &[u32], column: usize) {
        self.indices.extend_from_slice(indices);
        self.values.resize(self.indices.len(), 1.0);
        self.simple.push(column);
    }

    /// How many numbers are wanted.
    fn numbers(&self) -> usize {
        self.slots.len() + self.others.len()
    }
}

impl PlainRecords {
    /// A new text is read, whose columns are these of the schema.
    pub(crate) fn begin(&mut self, encoder: &RowEncoder, binding: &Arc<Binding>) {
        self.lines.begin();
        self.rows.clear();
        if !self.binding.as_ref().is_some_and(|last| Arc::ptr_eq(last, binding)) {
            self.plan = Plan::new(encoder, binding);
            self.has_required = encoder.has_required(&binding.columns);
            self.is_simple = self.has_required && self.plan.apart.is_empty() && encoder.ends_simply();
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

    /// Makes the plain record of this number the row that has begun, ends it, and tells where the next begins.
    pub(crate) fn encode(
        &self,
        number: usize,
        encoder: &mut RowEncoder,
        schema: &Schema,
        text: &[u8],
        out: &mut Parsed,
    ) -> Result<usize, DataError> {
        let (row, line) = (&self.rows[number], self.lines.line(number));
        let ends = &self.runs[row.run..][..=self.plan.apart.len()];
        let (mut start, mut first) = (row.feature, 0);
        for (&end, &(at, column)) in ends.iter().zip(&self.plan.apart) {
            self.add_run((start..end, first..at), (row, line), encoder, schema, text, out);
            (start, first) = (end, at + 1);
            encoder.cell(schema, column, Cell::Text(self.cell(line, at, text)), out)?;
        }
        let last = (start..ends[self.plan.apart.len()], first..self.plan.columns);
        self.add_run(last, (row, line), encoder, schema, text, out);
        if self.plan.has_label {
            encoder.set_label(row.label);
        }
        if self.is_simple {
            encoder.end_simple(&self.features.hashed[row.hashed.clone()], out);
        } else {
            encoder.mention(&self.plan.simple, self.has_required);
            encoder.end(schema, out)?;
        }
        Ok(line.end as usize + 1)
    }

    /// Adds features of a line, which are those of some columns.
    #[inline]
    fn add_run(
        &self,
        (features, columns): (Range<usize>, Range<usize>),
        (row, line): (&Row, Line),
        encoder: &mut RowEncoder,
        schema: &Schema,
        text: &[u8],
        out: &mut Parsed,
    ) {
        let (indices, values) = (&self.features.indices[features.clone()], &self.features.values[features]);
        if !row.is_known {
            self.name((indices, columns), line, encoder, schema, text, out);
        }
        if !indices.is_empty() {
            out.batch.extend(indices, values);
        }
    }

    /// Has those of the features of some columns named that are met for the first time.
    #[inline(never)]
    fn name(
        &self,
        (indices, columns): (&[u32], Range<usize>),
        line: Line,
        encoder: &mut RowEncoder,
        schema: &Schema,
        text: &[u8],
        out: &mut Parsed,
    ) {
        let Some(binding) = &self.binding else { return };
        let new = encoder.not_named(indices);
        if new.is_empty() {
            return;
        }
        for (at, column) in columns.clone().zip(&binding.columns[columns]) {
            if let Some(column) = *column {
                encoder.name_features(schema, column, &new, self.cell(line, at, text), out);
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
        // Those that are plain have at least a byte for each column: others may be any number.
        let plain = lines.lines().filter(|&(_, is_plain)| is_plain).count();
        let most = plain * plan.numbers();
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
            for cells in &plan.plain {
                let into = count..count + cells.len();
                let (starts, ends) = (&mut starts[into.clone()], &mut ends[into.clone()]);
                // Each begins behind the end of the one before.
                let mut start = if cells.start == 0 { line.start } else { places[cells.start - 1] + 1 };
                for ((into, end), &place) in starts.iter_mut().zip(ends).zip(&places[cells.clone()]) {
                    (*into, *end) = (start, place);
                    start = place + 1;
                }
                count = into.end;
            }
            for &at in &plan.others {
                starts[count] = if at == 0 { line.start } else { places[at - 1] + 1 };
                ends[count] = places[at];
                count += 1;
            }
        }
        read_cells(text, &mut starts[..count], &ends[..count], numbers);
        self.odd.resize(self.plan.slots.len() + 1, 0);
        self.features.reserve((plain + 1) * self.plan.indices.len() + 1);
        self.runs.clear();
        let has_named = encoder.has_named(&self.plan.slots);
        let (mut feature, mut hashed) = (0, 0);
        for number in 0..self.rows.len() {
            if self.rows[number].is_plain {
                (feature, hashed) = self.look_at(encoder, text, number, (feature, hashed), has_named);
            }
        }
    }

    /// Finds the features of a line that has as many cells as there are columns, and keeps them from `first` on, and those that
    /// are hashed from the second of them on. Gives where they end. `has_named`: whether the slots of all plain numbers have a name.
    fn look_at(
        &mut self,
        encoder: &mut RowEncoder,
        text: &[u8],
        number: usize,
        first: (usize, usize),
        has_named: bool,
    ) -> (usize, usize) {
        let Self { lines, plan, rows, numbers, odd, .. } = self;
        let (row, line) = (&mut rows[number], lines.line(number));
        let count = plan.indices.len();
        let Found { indices, values, hashed } = &mut self.features;
        let (indices, values) = (&mut indices[first.0..][..count], &mut values[first.0..][..count]);
        let hashed = &mut hashed[first.1..][..=count];
        let places = lines.places(line);
        let bounds = |at: usize| (if at == 0 { line.start } else { places[at - 1] + 1 }, places[at]);
        let cell = |(start, end): (u32, u32)| &text[start as usize..end as usize];
        // What is not a number that was read with others.
        let settled = |value: f64, at: usize| match bounds(at) {
            _ if !value.is_nan() => Number::Finite(value),
            (start, end) if start == end => Number::Missing,
            bounds => number::parse(cell(bounds)),
        };
        let Some(around) = Text::new(text) else { return first };
        indices.copy_from_slice(&plan.indices);
        values.copy_from_slice(&plan.values);
        let numbers = &numbers[row.number..][..plan.numbers()];
        let (plain, others) = numbers.split_at(plan.slots.len());
        let (mut is_plain, mut is_known, mut is_full) = (true, true, true);
        // Written in any case: which are odd is what a processor guesses wrong.
        let mut count = 0;
        for (number, (&value, &position)) in (0..).zip(plain.iter().zip(&plan.positions)) {
            let narrow = value as f32;
            values[position as usize] = narrow;
            odd[count] = number;
            count += usize::from(!narrow.is_finite());
        }
        for &number in &odd[..count] {
            let number = number as usize;
            let (position, slot) = (plan.positions[number] as usize, plan.slots[number]);
            match settled(plain[number], plan.places[number]) {
                Number::Finite(value) => values[position] = value as f32,
                Number::Missing => {
                    (indices[position], values[position]) = (slot + 1, 1.0);
                    is_known &= encoder.has_named(&[slot + 1]);
                }
                Number::Infinite | Number::Invalid => {}
            }
            // What is none, or too large, is to be refused.
            is_plain &= values[position].is_finite();
        }
        if !has_named {
            is_known &= plan.positions.iter().all(|&position| encoder.has_named(&[indices[position as usize]]));
        }
        let (mut others, mut hashed_count) = (others.iter(), 0);
        let mut next = || others.next().copied().unwrap_or(f64::NAN);
        for step in &plan.steps {
            match *step {
                Step::Number { at, position, slot, origin } => {
                    let found = match settled(next(), at) {
                        Number::Finite(value) if value == origin => (NONE, 0.0),
                        Number::Finite(value) => (slot, (value - origin) as f32),
                        Number::Missing => (slot + 1, 1.0),
                        Number::Infinite | Number::Invalid => (slot, f32::NAN),
                    };
                    is_plain &= found.1.is_finite();
                    is_full &= found.0 != NONE;
                    is_known &= found.0 == NONE || encoder.has_named(&[found.0]);
                    (indices[position], values[position]) = found;
                }
                Step::Category { at, position, seed } => {
                    let (start, end) = bounds(at);
                    let may_be_missing = MAY_BE_MISSING[(around.after(start) & 0xff) as usize] || start == end;
                    let is_there = !(may_be_missing && number::is_missing(cell((start, end)).trim_ascii()));
                    let (index, has_name) = encoder.category_index(seed, around, text, (start, end));
                    indices[position] = if is_there { index } else { NONE };
                    hashed[hashed_count] = index;
                    hashed_count += usize::from(is_there);
                    is_full &= is_there;
                    is_known &= has_name || !is_there;
                }
                Step::Moment { at, position, column, slot, origin } => {
                    let Some((all, count)) = encoder.moment_features(column, (slot, origin), cell(bounds(at))) else {
                        is_plain = false;
                        continue;
                    };
                    for (part, (index, value)) in all.into_iter().take(count).enumerate() {
                        (indices[position + part], values[position + part]) = (index, value);
                        // The first is a slot.
                        hashed[hashed_count] = index;
                        hashed_count += usize::from(part > 0);
                        is_known &= encoder.has_named(&[index]);
                    }
                    is_full &= count == OF_MOMENT;
                }
                Step::Label { at } => {
                    let label = match settled(next(), at) {
                        Number::Finite(value) => encoder.label(Some(value)),
                        Number::Missing => encoder.label(None),
                        Number::Infinite | Number::Invalid => None,
                    };
                    is_plain &= label.is_some();
                    row.label = label.flatten();
                }
            }
        }
        (row.feature, row.run) = (first.0, self.runs.len());
        row.hashed = first.1..first.1 + hashed_count;
        (row.is_plain, row.is_known) = (is_plain, is_known);
        let hashed_end = row.hashed.end;
        (self.end_runs(first.0, is_full), hashed_end)
    }

    /// Notes where the runs of a line end whose features begin at `first`, and moves them up to where some are missing. Gives the
    /// last of the ends.
    fn end_runs(&mut self, first: usize, is_full: bool) -> usize {
        let Self { plan, features, runs, .. } = self;
        if is_full {
            runs.extend(plan.breaks.iter().map(|position| first + position));
            runs.push(first + plan.indices.len());
            return first + plan.indices.len();
        }
        let (mut from, mut end) = (0, first);
        for &position in plan.breaks.iter().chain([&plan.indices.len()]) {
            end = features.close_up(first + from..first + position, end);
            runs.push(end);
            from = position;
        }
        end
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
