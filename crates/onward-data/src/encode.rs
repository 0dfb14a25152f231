//! From cells to features: what all formats with named columns share.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use onward::SharedLoss;
use onward::feature::hash;

use crate::decimals::Text;
use crate::error::{DataError, quoted};
use crate::infer::Strays;
use crate::interactions::Products;
use crate::number::{self, Number};
use crate::options::Options;
use crate::parsed::Parsed;
use crate::schema::{Column, Kind, Role, Schema};
use crate::sparse::MEND;
use crate::target::{TargetValue, boolean};
use crate::timestamp::{Moment, Moments, WEEKDAYS};

/// The index of the bias, whose value is always 1.
pub(crate) const BIAS: u32 = 0;

/// A cell of a table as its format delivers it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Cell<'a> {
    Missing,
    Number(f64),
    Boolean(bool),
    #[cfg_attr(not(feature = "arrow"), allow(dead_code))]
    Moment(Moment),
    /// Text that may be a number, a word, a moment: CSV has nothing else.
    Text(&'a [u8]),
}

/// The columns of one input, bound to those of the schema by name.
#[derive(Debug, Default)]
pub(crate) struct Binding {
    /// For each column of the input, its column in the schema, if it has one.
    pub(crate) columns: Vec<Option<usize>>,
}

impl Binding {
    /// Binds columns by name.
    pub(crate) fn new<'a>(schema: &Schema, names: impl Iterator<Item = &'a str>) -> Self {
        // The first of those that have a name, as there may be some in other formats.
        let places: HashMap<_, _> =
            schema.columns.iter().enumerate().rev().map(|(at, column)| (column.name.as_str(), at)).collect();
        Self { columns: names.map(|name| places.get(name).copied()).collect() }
    }
}

/// What every parser needs: the schema, what labels are allowed, and whether bad
/// records are skipped.
#[derive(Debug, Clone)]
pub(crate) struct Rules {
    pub(crate) schema: Arc<Schema>,
    pub(crate) reserved: u32,
    loss: Option<SharedLoss>,
    pub(crate) skip_errors: bool,
    /// Whether each row needs a weight, if there is a column of them: for learning.
    require_weight: bool,
    /// What is known from the first rows about values that are no numbers, for messages.
    strays: Arc<Strays>,
    /// Whether the schema is that of a model, which options do not change.
    is_bound: bool,
}

impl Rules {
    pub(crate) fn new(schema: Arc<Schema>, options: &Options) -> Self {
        Self {
            reserved: schema.reserved(),
            schema,
            loss: options.loss.clone(),
            skip_errors: options.on_error == crate::OnError::Skip,
            require_weight: options.require_target,
            strays: Arc::default(),
            is_bound: options.schema.is_some(),
        }
    }

    pub(crate) fn with_strays(mut self, strays: Strays) -> Self {
        self.strays = Arc::new(strays);
        self
    }

    /// Whether a row without such a column differs from one where nothing is to be said
    /// about it: JSON may have very many columns, of which a row has few.
    fn says_missing(&self, role: &Role) -> bool {
        match role {
            Role::Weight => self.require_weight,
            Role::Feature(Kind::Numeric { .. } | Kind::Boolean { .. } | Kind::Timestamp { .. }) => true,
            Role::Target | Role::Id | Role::Ignored | Role::Feature(Kind::Categorical { .. } | Kind::Text) => false,
        }
    }

    /// The label of a target value, checked against the task and the loss.
    pub(crate) fn label(&self, value: TargetValue<'_>) -> Result<Option<f64>, DataError> {
        let label = self.schema.target.label(value).map_err(|error| match value {
            TargetValue::Text(text) if number::with_point(text).is_some() => error,
            _ if self.is_bound => error.remedy(MEND),
            _ => error,
        })?;
        if let (Some(label), Some(loss)) = (label, &self.loss) {
            loss.check_label(label).map_err(|error| {
                DataError::record(error).remedy(match self.is_bound {
                    true => MEND,
                    false => "choose another --loss, or leave such records out with --on-error skip",
                })
            })?;
        }
        Ok(label)
    }
}

/// Whether texts are the same but for blanks around them.
fn is_same(one: &str, other: &[u8]) -> bool {
    one.as_bytes() == other || one.as_bytes().trim_ascii() == other.trim_ascii()
}

/// An importance weight: 0, or of a size whose squares f64 can add up.
pub(crate) fn checked_weight(weight: f64) -> Result<f64, DataError> {
    if weight == 0.0 || (1e-38..=f64::from(f32::MAX)).contains(&weight) {
        return Ok(weight);
    }
    let shown = if (1e-4..1e7).contains(&weight.abs()) { weight.to_string() } else { format!("{weight:e}") };
    Err(DataError::record(format!("the importance weight is {shown}")).remedy(WEIGHTS))
}

/// What weights may be.
const WEIGHTS: &str = "weights are numbers from 1e-38 to 3.4e38, or 0";

/// What a prediction starts from: within the range that labels have.
pub(crate) fn checked_offset(offset: f64) -> Result<f64, DataError> {
    if offset.abs() <= f64::from(f32::MAX) {
        return Ok(offset);
    }
    Err(bad_offset(&format!("{offset:e}")))
}

pub(crate) fn bad_offset(found: &str) -> DataError {
    DataError::record(format!("the offset (initial prediction) is {found}"))
        .remedy("offsets are numbers within ±3.4e38, 0 for none")
}

/// Which indices have had their name handed on: one bit each.
#[derive(Debug, Clone)]
pub(crate) struct NamesSeen {
    bits: Vec<u64>,
    /// All from [`RUN`] on that are below this have.
    run_end: u32,
}

/// Behind the bias, and what a feature 0 would have, of which there is none in files that count from 1.
const RUN: u32 = BIAS + 2;

impl Default for NamesSeen {
    fn default() -> Self {
        Self { bits: Vec::new(), run_end: RUN }
    }
}

impl NamesSeen {
    /// Has the processor fetch what tells whether an index has been met.
    #[inline(always)]
    pub(crate) fn prefetch(&self, index: u32) {
        onward::vector::prefetch_at(&self.bits, (index / 64) as usize);
    }

    /// Whether none of the indices is met for the first time.
    #[inline]
    pub(crate) fn all(&self, indices: &[u32]) -> bool {
        let mut all = 1;
        for &index in indices {
            all &= self.bits.get((index / 64) as usize).copied().unwrap_or(0) >> (index % 64);
        }
        all & 1 == 1
    }

    /// Which of the indices have not been met.
    pub(crate) fn find_new(&self, indices: &[u32], new: &mut Vec<u32>) {
        new.clear();
        new.resize(indices.len(), 0);
        let mut count = 0;
        for (at, &index) in (0..).zip(indices) {
            let word = self.bits.get((index / 64) as usize).copied().unwrap_or(0);
            // Written in any case: which are new is what a processor guesses wrong.
            new[count] = at;
            count += usize::from(word >> (index % 64) & 1 == 0);
        }
        new.truncate(count);
    }

    /// The same of indices that ascend: where all features of a file have been met, which is soon, only their ends are looked at.
    #[inline]
    pub(crate) fn all_ascending(&self, indices: &[u32]) -> bool {
        match indices {
            [first, .., last] if *first >= RUN && *last < self.run_end => true,
            _ => self.all(indices),
        }
    }

    /// Whether the index is met for the first time.
    #[inline]
    pub(crate) fn first(&mut self, index: u32) -> bool {
        let word = self.bits.get((index / 64) as usize).copied().unwrap_or(0);
        word >> (index % 64) & 1 == 0 && self.note(index)
    }

    #[cold]
    fn note(&mut self, index: u32) -> bool {
        let word = (index / 64) as usize;
        if word >= self.bits.len() {
            self.bits.reserve_exact((word + 1).next_power_of_two() - self.bits.len());
            onward::memory::prefer_huge_pages(&self.bits);
            self.bits.resize((word + 1).next_power_of_two(), 0);
        }
        self.bits[word] |= 1 << (index % 64);
        let has = |index: u32| self.bits.get((index / 64) as usize).is_some_and(|word| word >> (index % 64) & 1 == 1);
        while has(self.run_end) {
            self.run_end += 1;
        }
        true
    }
}

/// What is done with the cells of a column where those of some rows are read together.
pub(crate) enum Way {
    /// What a [`Kind::Numeric`] is.
    Number { slot: u32, origin: Option<f64> },
    /// A category is hashed with this seed.
    Category { seed: u64 },
    /// What a [`Kind::Timestamp`] is.
    Moment { slot: u32, origin: f64 },
    /// A number is read and becomes the label.
    Label,
    /// Nothing.
    Left,
    /// Each is taken by itself, by [`RowEncoder::cell`].
    Other,
}

/// The indices of the parts of a moment.
#[derive(Debug)]
struct Parts {
    hours: [u32; 24],
    weekdays: [u32; WEEKDAYS.len()],
    /// From 1 on.
    months: [u32; 13],
}

impl Part {
    /// What it is called, in a column of this name.
    fn name(self, column: &str) -> String {
        match self {
            Self::Hour(hour) => format!("{column} hour={hour}"),
            Self::Weekday(day) => format!("{column} weekday={}", WEEKDAYS[day as usize % WEEKDAYS.len()]),
            Self::Month(month) => format!("{column} month={month}"),
        }
    }
}

impl Parts {
    fn new(schema: &Schema, reserved: u32, seed: u64) -> Self {
        // Codes that no column=value text can be: a zero byte, the part, its number.
        let of = |code: u8, number: usize| schema.hashed(reserved, hash::name(seed, &[0, code, number as u8]));
        Self {
            hours: std::array::from_fn(|hour| of(b'h', hour)),
            weekdays: std::array::from_fn(|weekday| of(b'd', weekday)),
            months: std::array::from_fn(|month| of(b'm', month)),
        }
    }
}

/// The most features that a moment has: how long ago it was, the hour, the weekday, the month.
pub(crate) const OF_MOMENT: usize = 4;

/// What the features of a moment are, but how long ago it was.
#[derive(Debug, Clone, Copy)]
enum Part {
    Hour(u32),
    Weekday(u32),
    Month(u32),
}

/// Turns rows of cells into examples.
#[derive(Debug)]
pub(crate) struct RowEncoder {
    rules: Rules,
    /// For each column of the schema, the hash seed of its categories.
    seeds: Vec<u64>,
    /// Of those with moments.
    parts: Vec<Option<Box<Parts>>>,
    /// Of each column, what was read of it.
    moments: Vec<Moments>,
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
    words: crate::words::Words,
    /// The products of features, if there are interactions.
    products: Option<Box<Products>>,
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
            is_moment(column).then(|| Box::new(Parts::new(&rules.schema, rules.reserved, seed)))
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
            moments: vec![Moments::default(); columns.len()],
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
            words: crate::words::Words::new(rules.schema.ngrams as usize),
            products: Products::of_columns(&rules.schema),
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
    pub(crate) fn begin(&mut self, out: &mut Parsed) {
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
    pub(crate) fn end(&mut self, schema: &Schema, out: &mut Parsed) -> Result<(), DataError> {
        let required = if self.has_all { 0 } else { self.required.len() };
        for at in 0..required {
            let column = self.required[at];
            if self.last_row[column] != self.row {
                self.cell(schema, column, Cell::Missing, out)?;
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
    pub(crate) fn end_simple(&mut self, hashed: &[u32], out: &mut Parsed) {
        out.batch.finish_distinct_but(hashed, self.label, self.weight);
    }

    /// Encodes the cell of a column of the schema.
    #[inline]
    pub(crate) fn cell(
        &mut self,
        schema: &Schema,
        column: usize,
        cell: Cell<'_>,
        out: &mut Parsed,
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
    pub(crate) fn way(&self, column: usize) -> Way {
        match &self.rules.schema.columns[column].role {
            Role::Ignored => Way::Left,
            // Products have to know of which column a feature is.
            _ if self.products.is_some() => Way::Other,
            Role::Feature(Kind::Numeric { slot, origin }) => Way::Number { slot: *slot, origin: *origin },
            Role::Feature(Kind::Categorical { origin: None }) => Way::Category { seed: self.seeds[column] },
            Role::Feature(Kind::Timestamp { slot, origin }) => Way::Moment { slot: *slot, origin: *origin },
            Role::Target if self.rules.schema.target.reads_numbers() => Way::Label,
            _ => Way::Other,
        }
    }

    /// The index of the category between these places of a text, at which eight bytes are before and behind; and whether it has
    /// been met.
    #[inline]
    pub(crate) fn category_index(
        &self,
        seed: u64,
        around: Text<'_>,
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
    pub(crate) fn moment_features(
        &mut self,
        column: usize,
        (slot, origin): (u32, f64),
        text: &[u8],
    ) -> Option<([(u32, f32); OF_MOMENT], usize)> {
        let text = text.trim_ascii();
        let mut all = [(slot + 1, 1.0); OF_MOMENT];
        let Some(moment) = self.moments[column].parse(text) else {
            return number::is_missing(text).then_some((all, 1));
        };
        let days = (moment.days - origin) as f32;
        all[0] = (slot, days);
        let mut count = 1;
        for (index, _) in parts_of(&self.parts[column], moment) {
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
    pub(crate) fn name_features(&mut self, schema: &Schema, column: usize, new: &[u32], text: &[u8], out: &mut Parsed) {
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
            Role::Feature(Kind::Categorical { .. }) if !number::is_missing(text.trim_ascii()) => {
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
                for (index, part) in moment.into_iter().flat_map(|moment| parts_of(&self.parts[column], moment)) {
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
    pub(crate) fn unknown(&mut self, key: &str, cell: Cell<'_>, out: &mut Parsed) -> Result<(), DataError> {
        self.leave_groups(out);
        let seed = hash::seed(key.as_bytes());
        let result = match cell {
            Cell::Missing => Ok(()),
            Cell::Text(text) if number::is_missing(text.trim_ascii()) => Ok(()),
            Cell::Number(value) => {
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
    pub(crate) fn element(&mut self, column: Option<usize>, key: &str, element: &str, out: &mut Parsed) {
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
    fn leave_groups(&mut self, out: &Parsed) {
        if let Some(products) = &mut self.products {
            products.nothing(out.batch.pending());
        }
    }

    #[inline]
    fn push(&mut self, index: u32, value: f32, out: &mut Parsed, name: impl FnOnce() -> String) {
        if self.seen.first(index) {
            out.names.push(index, &name());
        }
        out.batch.push(index, value);
    }

    #[inline]
    fn hashed(&mut self, hash: u64, value: f32, out: &mut Parsed, name: impl FnOnce() -> String) {
        let index = self.rules.schema.hashed(self.rules.reserved, hash);
        self.push(index, value, out, name);
    }

    fn missing(&mut self, column: usize, slot: u32, out: &mut Parsed) {
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
        cell: Cell<'_>,
        out: &mut Parsed,
    ) -> Result<(), DataError> {
        let value = match cell {
            Cell::Number(value) if value.is_nan() => None,
            Cell::Number(value) => Some(value),
            Cell::Missing => None,
            Cell::Boolean(flag) => Some(f64::from(u8::from(flag))),
            Cell::Text(text) => match number::parse(text) {
                Number::Finite(value) => Some(value),
                Number::Missing => None,
                Number::Infinite => return Err(self.infinite(text)),
                Number::Invalid => return Err(self.not_a_number(column, text)),
            },
            Cell::Moment(_) => return Err(self.expected(column, "a number", "a date")),
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
            false => "rescale the column, or leave it out with --ignore",
        };
        DataError::record(found).remedy(format!("{remedy}; write a missing value as {}", self.missing))
    }

    #[cold]
    fn not_a_number(&self, column: usize, text: &[u8]) -> DataError {
        if number::with_point(text).is_some() {
            let error = DataError::record(format!("expected a number, found {}", quoted(text)));
            if self.rules.is_bound {
                return error.remedy(number::NO_COMMAS);
            }
            return error.remedy(format!(
                "{}; if these are no numbers, say --categorical '{}'",
                number::NO_COMMAS,
                self.rules.schema.columns[column].name
            ));
        }
        match self.rules.strays.get(&column) {
            Some((stray, count)) if stray.as_bytes() == text.trim_ascii() => {
                let name = &self.rules.schema.columns[column].name;
                DataError::record(format!("expected a number, found {}, as in {count} of the first rows", quoted(text)))
                    .remedy(format!(
                        "if it stands for a missing value, write {}; else say --categorical '{name}', or leave such \
                     records out with --on-error skip",
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
            return error.remedy(MEND);
        }
        error.remedy(format!(
            "mend the record, say --categorical '{name}', or leave such records out with --on-error skip"
        ))
    }

    #[cold]
    fn infinite(&self, text: &[u8]) -> DataError {
        DataError::record(format!("{} is infinite, or beyond the range of 64-bit floats", quoted(text)))
            .remedy(format!("features are finite: write a missing value as {}", self.missing))
    }

    fn category(
        &mut self,
        column: usize,
        origin: Option<&str>,
        cell: Cell<'_>,
        out: &mut Parsed,
    ) -> Result<(), DataError> {
        if let Cell::Text(text) = cell {
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
    fn category_text(&mut self, column: usize, origin: Option<&str>, text: &[u8], out: &mut Parsed) {
        if number::is_missing(text.trim_ascii()) || origin.is_some_and(|origin| is_same(origin, text)) {
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
        cell: Cell<'_>,
        out: &mut Parsed,
    ) -> Result<(), DataError> {
        let flag = match cell {
            Cell::Missing => None,
            Cell::Boolean(flag) => Some(flag),
            Cell::Text(text) if number::is_missing(text.trim_ascii()) => None,
            Cell::Text(text) => match (boolean(text), text.trim_ascii()) {
                (Some(flag), _) => Some(flag),
                (None, b"1") => Some(true),
                (None, b"0") => Some(false),
                _ => return Err(self.expected(column, "true or false", &quoted(text))),
            },
            Cell::Number(1.0) => Some(true),
            Cell::Number(0.0) => Some(false),
            Cell::Number(value) => return Err(self.expected(column, "true or false", &value.to_string())),
            Cell::Moment(_) => return Err(self.expected(column, "true or false", "a date")),
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

    fn words(&mut self, column: usize, cell: Cell<'_>, out: &mut Parsed) -> Result<(), DataError> {
        let mut words = std::mem::take(&mut self.words);
        match cell {
            Cell::Missing => {}
            Cell::Text(text) => words.count(self.seeds[column], text),
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
        cell: Cell<'_>,
        out: &mut Parsed,
    ) -> Result<(), DataError> {
        let moment = match cell {
            Cell::Missing => None,
            Cell::Moment(moment) => Some(moment),
            Cell::Text(text) => match self.moments[column].parse(text.trim_ascii()) {
                Some(moment) => Some(moment),
                None if number::is_missing(text.trim_ascii()) => None,
                None => {
                    return Err(self.expected(column, "a date like 2013-01-31 or 2013-01-31T23:59:59", &quoted(text)));
                }
            },
            Cell::Number(value) => return Err(self.expected(column, "a date", &value.to_string())),
            Cell::Boolean(flag) => return Err(self.expected(column, "a date", &flag.to_string())),
        };
        let Some(moment) = moment else {
            self.missing(column, slot, out);
            return Ok(());
        };
        let name = &schema.columns[column].name;
        self.push(slot, self.checked(moment.days - origin)?, out, || format!("{name} days"));
        for (index, part) in parts_of(&self.parts[column], moment) {
            self.push(index, 1.0, out, || part.name(name));
        }
        Ok(())
    }

    fn target(&mut self, cell: Cell<'_>) -> Result<(), DataError> {
        let value = match cell {
            Cell::Missing => TargetValue::Missing,
            Cell::Number(value) if value.is_nan() => TargetValue::Missing,
            Cell::Number(value) => TargetValue::Number(value),
            Cell::Boolean(flag) => TargetValue::Boolean(flag),
            Cell::Text(text) => TargetValue::Text(text),
            Cell::Moment(moment) => TargetValue::Number(moment.days),
        };
        self.label = self.rules.label(value)?;
        Ok(())
    }

    fn weight(&mut self, cell: Cell<'_>) -> Result<(), DataError> {
        self.weight = match cell {
            Cell::Number(value) => checked_weight(value)?,
            Cell::Text(text) => match number::parse(text) {
                Number::Finite(value) => checked_weight(value)?,
                _ => return Err(bad_weight(&quoted(text))),
            },
            Cell::Missing => return Err(bad_weight("missing")),
            Cell::Boolean(flag) => f64::from(u8::from(flag)),
            Cell::Moment(_) => return Err(bad_weight("a date")),
        };
        Ok(())
    }

    fn id(&mut self, column: usize, cell: Cell<'_>) {
        self.value_text(cell);
        if let Some(at) = self.id_at[column] {
            self.ids[at].extend_from_slice(self.text.as_bytes());
        }
    }

    /// The cell as text in `self.text`, as CSV would have it.
    fn value_text(&mut self, cell: Cell<'_>) {
        use std::fmt::Write;
        self.text.clear();
        // Writing to a String cannot fail.
        let _ = match cell {
            Cell::Missing => Ok(()),
            Cell::Number(value) => write!(self.text, "{value}"),
            Cell::Boolean(flag) => write!(self.text, "{flag}"),
            Cell::Moment(moment) => write!(self.text, "{}", moment.days),
            Cell::Text(text) => write!(self.text, "{}", String::from_utf8_lossy(text)),
        };
    }
}

/// The parts of a moment with their indices.
#[inline]
fn parts_of(parts: &Option<Box<Parts>>, moment: Moment) -> impl Iterator<Item = (u32, Part)> + use<> {
    let of = |indices: &[u32], number: u32| indices.get(number as usize).copied().unwrap_or(BIAS);
    let all = parts.as_deref().map(|parts| {
        let hour = moment.hour.map(|hour| (of(&parts.hours, hour), Part::Hour(hour)));
        let weekday = (of(&parts.weekdays, moment.weekday), Part::Weekday(moment.weekday));
        [hour, Some(weekday), Some((of(&parts.months, moment.month), Part::Month(moment.month)))]
    });
    all.into_iter().flatten().flatten()
}

pub(crate) fn bad_weight(found: &str) -> DataError {
    DataError::record(format!("the importance weight is {found}")).remedy(WEIGHTS)
}
