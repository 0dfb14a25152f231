//! The fast path: records without quotes, some lines together.
//!
//! Where the cells of such lines end is found 64 bytes at a time ([`Window`]), their numbers are read together
//! ([`batch`](crate::text::numbers::batch)), and categories are hashed before it is known whether they are new. A line that is not
//! plain, or that holds what must be refused, is left to the path that reads cell by cell.

use std::ops::Range;
use std::sync::Arc;

use memchr::memchr;

use crate::encode::{FEATURES_OF_TIMESTAMP, ParsedBatch, RowEncoder};
use crate::error::Result;
use crate::schema::{CellValue, Kind, Role};
use crate::text::delimiters::IndexedLine;
use crate::text::numbers::batch::{PaddedText, read_cells};
use crate::text::numbers::{self, Number};
use crate::text::window::Window;

/// Goes on to the line at `start`. If it is none of those in the window, finds out which of the lines from there on are plain, and
/// returns `true`. A line is plain if no quote begins a cell, and it has as many cells as there are columns.
pub(super) fn find_plain_lines<R>(
    window: &mut Window<R>,
    text: &[u8],
    start: usize,
    delimiter: u8,
    columns: usize,
    row: impl Fn(bool) -> R,
) -> bool {
    let Some(end) = window.go_to(text, start, [delimiter]) else { return false };
    let has_quotes = memchr(b'"', &text[start..end]).is_some();
    let begins_quoted = |start: u32| text.get(start as usize) == Some(&b'"');
    window.fill(|index, line| {
        let positions = index.positions(line);
        let is_quoted =
            has_quotes && (begins_quoted(line.start) || positions.iter().any(|&position| begins_quoted(position + 1)));
        row(positions.len() == columns && line.has_room(text) && !is_quoted)
    });
    true
}

/// Where a cell of a line, given by its number, begins and ends.
#[inline(always)]
pub(super) fn bounds(line: IndexedLine, positions: &[u32], at: usize) -> (u32, u32) {
    (if at == 0 { line.start } else { positions[at - 1] + 1 }, positions[at])
}

/// What is done with the cell at a place, but for plain numbers. `position`: that of its first feature.
enum ColumnOp {
    /// A number is a feature but for this one, which it is counted from.
    Number { at: usize, position: usize, slot: u32, origin: f64 },
    /// A category is one.
    Category { at: usize, position: usize, seed: u64 },
    /// A moment is some.
    Timestamp { at: usize, position: usize, column: usize, slot: u32, origin: f64 },
    /// A number is the label.
    Label { at: usize },
}

/// What is done with the columns.
#[derive(Default)]
struct RowPlan {
    columns: usize,
    /// Runs of adjacent columns whose numbers are features, in order.
    plain: Vec<Range<usize>>,
    /// The place, the slot and the position of the feature of each of these columns.
    places: Vec<usize>,
    slots: Vec<u32>,
    positions: Vec<u32>,
    /// What else is done, in the order of the columns, and the columns among these whose numbers are needed.
    ops: Vec<ColumnOp>,
    others: Vec<usize>,
    /// The indices and values of the features of a record, in the order of the columns, where they are known beforehand.
    indices: Vec<u32>,
    values: Vec<f32>,
    /// The columns that are read together, by their places in the schema.
    simple: Vec<usize>,
    /// The columns that are taken one by one: their places in the input and in the schema, and the position of the feature
    /// behind each.
    singles: Vec<(usize, usize)>,
    breaks: Vec<usize>,
    has_label: bool,
}

/// A line that was looked at.
#[derive(Clone, Default)]
struct FastRow {
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
pub(super) struct FastPath {
    window: Window<FastRow>,
    plan: RowPlan,
    /// The columns that the plan is for.
    places: Option<Arc<[Option<usize>]>>,
    /// Whether the input lacks no column that each record must have; and then there are none that are taken one by one, and no
    /// ids and products.
    has_required: bool,
    is_simple: bool,
    /// Where cells with numbers begin and end.
    starts: Vec<u32>,
    ends: Vec<u32>,
    numbers: Vec<f64>,
    /// The numbers of a line that must be read one by one.
    irregular: Vec<u32>,
    features: RowFeatures,
    /// Where the features of each run end: those between two columns that are taken one by one.
    runs: Vec<usize>,
}

/// Features; what is behind the last one means nothing.
#[derive(Default)]
struct RowFeatures {
    indices: Vec<u32>,
    values: Vec<f32>,
    /// The indices that are hashed: a line may have two equal ones.
    hashed: Vec<u32>,
}

impl RowFeatures {
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

impl RowPlan {
    fn new(encoder: &RowEncoder, places: &[Option<usize>]) -> Self {
        let mut plan = Self { columns: places.len(), ..Self::default() };
        for (at, column) in places.iter().enumerate() {
            if let Some(column) = *column {
                plan.add(encoder, at, column);
            }
        }
        plan
    }

    /// Adds what is done with the cells at a place in the input, which belong to this column of the schema.
    fn add(&mut self, encoder: &RowEncoder, at: usize, column: usize) {
        let position = self.indices.len();
        // Interactions have to know the column of each feature.
        let is_single = encoder.products.is_some();
        match encoder.column(column).role {
            Role::Ignored => {}
            Role::Feature(Kind::Numeric { slot, origin: None }) if !is_single => {
                match self.plain.last_mut().filter(|last| last.end == at) {
                    Some(last) => last.end += 1,
                    None => self.plain.push(at..at + 1),
                }
                self.places.push(at);
                self.slots.push(slot);
                self.positions.push(position as u32);
                self.add_features(&[slot], column);
            }
            Role::Feature(Kind::Numeric { slot, origin: Some(origin) }) if !is_single => {
                self.ops.push(ColumnOp::Number { at, position, slot, origin });
                self.others.push(at);
                self.add_features(&[slot], column);
            }
            Role::Feature(Kind::Categorical { origin: None }) if !is_single => {
                self.ops.push(ColumnOp::Category { at, position, seed: encoder.seeds[column] });
                self.add_features(&[NONE], column);
            }
            Role::Feature(Kind::Timestamp { slot, origin }) if !is_single => {
                self.ops.push(ColumnOp::Timestamp { at, position, column, slot, origin });
                self.add_features(&[NONE; FEATURES_OF_TIMESTAMP], column);
            }
            Role::Target if !is_single && encoder.rules.schema.target.reads_numbers() => {
                self.ops.push(ColumnOp::Label { at });
                self.others.push(at);
                self.has_label = true;
            }
            // Each cell is encoded by itself.
            _ => {
                self.singles.push((at, column));
                self.breaks.push(position);
            }
        }
    }

    /// Adds the features of a column.
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

/// A line that is looked at.
#[derive(Clone, Copy)]
struct Cells<'a> {
    text: &'a [u8],
    around: PaddedText<'a>,
    line: IndexedLine,
    positions: &'a [u32],
}

impl<'a> Cells<'a> {
    #[inline(always)]
    fn bounds(self, at: usize) -> (u32, u32) {
        bounds(self.line, self.positions, at)
    }

    #[inline(always)]
    fn text(self, (start, end): (u32, u32)) -> &'a [u8] {
        &self.text[start as usize..end as usize]
    }

    /// What a cell is that was read with others, or else what it is by itself.
    #[inline(always)]
    fn number(self, value: f64, at: usize) -> Number {
        match self.bounds(at) {
            _ if !value.is_nan() => Number::Finite(value),
            (start, end) if start == end => Number::Missing,
            bounds => numbers::parse(self.text(bounds)),
        }
    }
}

/// Where the features of a line go, and what is known of it so far.
struct Slots<'a> {
    indices: &'a mut [u32],
    values: &'a mut [f32],
    hashed: &'a mut [u32],
    hashed_count: usize,
    label: Option<f64>,
    /// Whether all that it holds is as expected, no feature is new, and none is missing.
    is_plain: bool,
    is_known: bool,
    is_full: bool,
}

impl Slots<'_> {
    /// Reads the plain numbers that were not read with the others, or that 32 bits do not hold.
    #[inline(always)]
    fn irregular(&mut self, irregular: &[u32], plain: &[f64], plan: &RowPlan, cells: Cells<'_>, encoder: &RowEncoder) {
        for &number in irregular {
            let number = number as usize;
            let (position, slot) = (plan.positions[number] as usize, plan.slots[number]);
            match cells.number(plain[number], plan.places[number]) {
                Number::Finite(value) => self.values[position] = value as f32,
                Number::Missing => {
                    (self.indices[position], self.values[position]) = (slot + 1, 1.0);
                    self.is_known &= encoder.has_named(&[slot + 1]);
                }
                Number::Infinite | Number::Invalid => {}
            }
            // What is not a number, or too large, must be refused.
            self.is_plain &= self.values[position].is_finite();
        }
    }

    #[inline(always)]
    fn hash(&mut self, index: u32, counts: bool) {
        self.hashed[self.hashed_count] = index;
        self.hashed_count += usize::from(counts);
    }

    #[inline(always)]
    fn apply(&mut self, op: &ColumnOp, mut next: impl FnMut() -> f64, cells: Cells<'_>, encoder: &mut RowEncoder) {
        match *op {
            ColumnOp::Number { at, position, slot, origin } => {
                let found = match cells.number(next(), at) {
                    Number::Finite(value) if value == origin => (NONE, 0.0),
                    Number::Finite(value) => (slot, (value - origin) as f32),
                    Number::Missing => (slot + 1, 1.0),
                    Number::Infinite | Number::Invalid => (slot, f32::NAN),
                };
                self.is_plain &= found.1.is_finite();
                self.is_full &= found.0 != NONE;
                self.is_known &= found.0 == NONE || encoder.has_named(&[found.0]);
                (self.indices[position], self.values[position]) = found;
            }
            ColumnOp::Category { at, position, seed } => {
                let (start, end) = cells.bounds(at);
                let may_be_missing = MAY_BE_MISSING[(cells.around.after(start) & 0xff) as usize] || start == end;
                let is_there = !(may_be_missing && numbers::is_missing(cells.text((start, end)).trim_ascii()));
                let (index, has_name) = encoder.category_index(seed, cells.around, (start, end));
                self.indices[position] = if is_there { index } else { NONE };
                self.hash(index, is_there);
                self.is_full &= is_there;
                self.is_known &= has_name || !is_there;
            }
            ColumnOp::Timestamp { at, position, column, slot, origin } => {
                let text = cells.text(cells.bounds(at));
                let Some((all, count)) = encoder.timestamp_features(column, (slot, origin), text) else {
                    self.is_plain = false;
                    return;
                };
                for (part, (index, value)) in all.into_iter().take(count).enumerate() {
                    (self.indices[position + part], self.values[position + part]) = (index, value);
                    // The first is a slot.
                    self.hash(index, part > 0);
                    self.is_known &= encoder.has_named(&[index]);
                }
                self.is_full &= count == FEATURES_OF_TIMESTAMP;
            }
            ColumnOp::Label { at } => {
                let label = match cells.number(next(), at) {
                    Number::Finite(value) => encoder.label(Some(value)),
                    Number::Missing => encoder.label(None),
                    Number::Infinite | Number::Invalid => None,
                };
                self.is_plain &= label.is_some();
                self.label = label.flatten();
            }
        }
    }
}

impl FastPath {
    /// A new text is read, whose columns are these of the schema.
    pub(super) fn begin(&mut self, encoder: &RowEncoder, places: &Arc<[Option<usize>]>) {
        self.window.begin();
        if !self.places.as_ref().is_some_and(|last| Arc::ptr_eq(last, places)) {
            self.plan = RowPlan::new(encoder, places);
            self.has_required = encoder.has_required(places);
            self.is_simple = self.has_required && self.plan.singles.is_empty() && encoder.ends_simply();
            self.places = Some(Arc::clone(places));
        }
    }

    /// Goes on to the record that begins at `start`. If it is plain, it may be [encoded](Self::encode).
    pub(super) fn go_to(&mut self, encoder: &mut RowEncoder, text: &[u8], start: usize, delimiter: u8) -> bool {
        let new_row = |is_plain| FastRow { is_plain, ..FastRow::default() };
        if find_plain_lines(&mut self.window, text, start, delimiter, self.plan.columns, new_row) {
            self.read_window(encoder, text);
        }
        self.window.current().is_some_and(|(_, row)| row.is_plain)
    }

    /// Makes the current record, which is plain, the row that has begun, ends it, and gives where the next begins.
    pub(super) fn encode(&self, encoder: &mut RowEncoder, text: &[u8], out: &mut ParsedBatch) -> Result<usize> {
        let Some((line, row)) = self.window.current() else { return Ok(text.len()) };
        let ends = &self.runs[row.run..][..=self.plan.singles.len()];
        let (mut start, mut first) = (row.feature, 0);
        // Each run of features ends before a column that is taken by itself, and the last one with the line.
        let singles = self.plan.singles.iter().map(Some).chain([None]);
        for (&end, single) in ends.iter().zip(singles) {
            let (indices, values) = (&self.features.indices[start..end], &self.features.values[start..end]);
            if !row.is_known && !encoder.has_named(indices) {
                let columns = first..single.map_or(self.plan.columns, |&(at, _)| at);
                self.name_features(columns, line, encoder, text, out);
            }
            if !indices.is_empty() {
                out.batch.extend(indices, values);
            }
            if let Some(&(at, column)) = single {
                (start, first) = (end, at + 1);
                encoder.cell(column, CellValue::Text(self.cell(line, at, text)), out)?;
            }
        }
        if self.plan.has_label {
            encoder.label = row.label;
        }
        if self.is_simple {
            encoder.end_simple(&self.features.hashed[row.hashed.clone()], out);
        } else {
            encoder.mention(&self.plan.simple, self.has_required);
            encoder.end(out)?;
        }
        Ok(line.end as usize + 1)
    }

    /// Hands on the names of the features of some columns that are met for the first time.
    #[inline(never)]
    fn name_features(
        &self,
        columns: Range<usize>,
        line: IndexedLine,
        encoder: &mut RowEncoder,
        text: &[u8],
        out: &mut ParsedBatch,
    ) {
        let places = self.places.iter().flat_map(|places| places[columns.clone()].iter());
        for (at, column) in columns.clone().zip(places) {
            if let Some(column) = *column {
                encoder.name_features(column, self.cell(line, at, text), out);
            }
        }
    }

    /// The text of a cell of a line.
    fn cell<'a>(&self, line: IndexedLine, at: usize, text: &'a [u8]) -> &'a [u8] {
        let (start, end) = bounds(line, self.window.index.positions(line), at);
        &text[start as usize..end as usize]
    }

    /// Finds the cells of the lines in the window, and their features.
    fn read_window(&mut self, encoder: &mut RowEncoder, text: &[u8]) {
        let plain = self.window.rows.iter().filter(|row| row.is_plain).count();
        self.find_numbers(plain, text);
        self.irregular.resize(self.plan.slots.len() + 1, 0);
        self.features.reserve((plain + 1) * self.plan.indices.len() + 1);
        self.runs.clear();
        let has_named = encoder.has_named(&self.plan.slots);
        let (mut feature, mut hashed) = (0, 0);
        for number in 0..self.window.rows.len() {
            if self.window.rows[number].is_plain {
                (feature, hashed) = self.look_at(encoder, text, number, (feature, hashed), has_named);
            }
        }
    }

    /// Finds the numbers of the plain lines, and reads them.
    fn find_numbers(&mut self, plain: usize, text: &[u8]) {
        let Self { window, plan, starts, ends, numbers, .. } = self;
        // Those that are plain have at least a byte for each column: others may be any number.
        let most = plain * plan.numbers();
        if starts.len() < most {
            starts.resize(most, 0);
            ends.resize(most, 0);
        }
        let mut count = 0;
        let Window { index, rows, .. } = window;
        for (&line, row) in index.lines.iter().zip(rows) {
            row.number = count;
            if !row.is_plain {
                continue;
            }
            let positions = index.positions(line);
            for cells in &plan.plain {
                let into = count..count + cells.len();
                let (starts, ends) = (&mut starts[into.clone()], &mut ends[into.clone()]);
                // Each begins behind the end of the one before.
                let mut start = if cells.start == 0 { line.start } else { positions[cells.start - 1] + 1 };
                for ((into, end), &position) in starts.iter_mut().zip(ends).zip(&positions[cells.clone()]) {
                    (*into, *end) = (start, position);
                    start = position + 1;
                }
                count = into.end;
            }
            for &at in &plan.others {
                (starts[count], ends[count]) = bounds(line, positions, at);
                count += 1;
            }
        }
        read_cells(text, &mut starts[..count], &ends[..count], numbers);
    }

    /// Finds the features of a line with as many cells as there are columns. Keeps them from the first of `first` on, and the
    /// hashed ones from the second on. Returns where both end. `has_named`: whether the slots of all plain numbers have a name.
    fn look_at(
        &mut self,
        encoder: &mut RowEncoder,
        text: &[u8],
        number: usize,
        first: (usize, usize),
        has_named: bool,
    ) -> (usize, usize) {
        let Self { window, plan, numbers, irregular, features, .. } = self;
        let Some(around) = PaddedText::new(text) else { return first };
        let Window { index, rows, .. } = window;
        let (line, row) = (index.lines[number], &mut rows[number]);
        let cells = Cells { text, around, line, positions: index.positions(line) };
        let count = plan.indices.len();
        let RowFeatures { indices, values, hashed } = features;
        let mut slots = Slots {
            indices: &mut indices[first.0..][..count],
            values: &mut values[first.0..][..count],
            hashed: &mut hashed[first.1..][..=count],
            hashed_count: 0,
            label: None,
            is_plain: true,
            is_known: true,
            is_full: true,
        };
        slots.indices.copy_from_slice(&plan.indices);
        slots.values.copy_from_slice(&plan.values);
        let numbers = &numbers[row.number..][..plan.numbers()];
        let (plain, others) = numbers.split_at(plan.slots.len());
        // Written in any case: which are irregular is what a processor guesses wrong.
        let mut count = 0;
        for (number, (&value, &position)) in (0..).zip(plain.iter().zip(&plan.positions)) {
            let narrow = value as f32;
            slots.values[position as usize] = narrow;
            irregular[count] = number;
            count += usize::from(!narrow.is_finite());
        }
        slots.irregular(&irregular[..count], plain, plan, cells, encoder);
        if !has_named {
            let indices = &slots.indices;
            slots.is_known &= plan.positions.iter().all(|&position| encoder.has_named(&[indices[position as usize]]));
        }
        let mut others = others.iter();
        for op in &plan.ops {
            slots.apply(op, || others.next().copied().unwrap_or(f64::NAN), cells, encoder);
        }
        let Slots { hashed_count, label, is_plain, is_known, is_full, .. } = slots;
        let hashed = first.1..first.1 + hashed_count;
        let end = hashed.end;
        *row =
            FastRow { number: row.number, feature: first.0, run: self.runs.len(), hashed, label, is_plain, is_known };
        (self.end_runs(first.0, is_full), end)
    }

    /// Notes where the runs of the line end whose features begin at `first`, and closes the gaps of missing features. Returns
    /// the last end.
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
