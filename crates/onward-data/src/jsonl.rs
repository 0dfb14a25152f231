//! JSON lines: an object a line.
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

use std::collections::HashMap;
use std::fmt::{self, Write};
use std::hash::BuildHasherDefault;

use onward::feature::hash;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::error::Category;
use serde_json::value::RawValue;

use crate::encode::{Cell, RowEncoder};
use crate::error::{DataError, quoted};
use crate::infer::Sample;
use crate::lines::{each_line, lines};
use crate::parsed::Parsed;
use crate::piece::{Parser, Piece};
use crate::schema::{Kind, Role, Schema};
use crate::sparse::MEND;
use crate::words::Passed;

/// How deep objects may be nested.
const DEPTH: u32 = 100;
/// When so many keys have been met that are no columns, those of earlier rows are forgotten.
const KEPT_KEYS: usize = 1 << 14;

/// From here on a whole number may not be a 64-bit float.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// A map from the hash of a path.
type ByHash<T> = HashMap<u64, T, BuildHasherDefault<Passed>>;

/// Where the value of a key goes.
#[derive(Debug, Clone, Copy)]
enum Place {
    /// To a column of the schema.
    Column(usize),
    /// To no column in particular.
    Unknown,
    /// Nowhere, with all that is in it.
    Skipped,
}

/// What is done with the keys and values of an object.
trait Visit {
    /// A key, by its whole path and the hash of that.
    fn key(&mut self, path: &str, hash: u64) -> Place;

    /// An object or an array begins where a column may want one value.
    fn nested(&mut self, _place: Place, _path: &str, _found: &str) -> Result<(), DataError> {
        Ok(())
    }

    /// Whether a number is wanted as it is written: `1.50`, and all digits of a long one.
    fn wants_text(&self, place: Place) -> bool;

    /// A number as it is written, where that is wanted.
    fn written(&mut self, place: Place, path: &str, number: &[u8]) -> Result<(), DataError>;

    /// A number, truth value, string or null.
    fn cell(&mut self, place: Place, path: &str, cell: Cell<'_>) -> Result<(), DataError>;

    /// An element of a set; the first one of it or a later one.
    fn element(&mut self, place: Place, path: &str, element: &str, is_first: bool);
}

/// What a walk through objects keeps from one to the next: memory, and the keys met.
#[derive(Default)]
struct Trail {
    /// The keys from the outermost to the one that is being read, joined by dots.
    path: String,
    depth: u32,
    /// The row that last had a path, by its hash.
    met: ByHash<u64>,
    row: u64,
    /// The numbers of the array that is being read; `None` for null.
    numbers: Vec<Option<f64>>,
    /// A number as text.
    text: String,
    /// What stopped the walk, if it was not the syntax.
    error: Option<DataError>,
    /// The syntax error of a value that was read apart, and where the value begins in the line.
    apart: Option<(serde_json::Error, usize)>,
    /// Where the line is in memory.
    line: usize,
}

/// Walks through the object on a line.
fn walk(line: &[u8], trail: &mut Trail, visit: &mut impl Visit) -> Result<(), DataError> {
    check_start(line)?;
    trail.begin();
    trail.line = line.as_ptr().addr();
    let mut deserializer = serde_json::Deserializer::from_slice(line);
    let object = Object(Walk { trail, visit });
    let result = object.deserialize(&mut deserializer).and_then(|()| deserializer.end());
    result.map_err(|error| {
        let (error, start) = trail.apart.take().unwrap_or((error, 0));
        trail.error.take().unwrap_or_else(|| syntax(&error, start, line, &trail.path))
    })
}

/// A line that is not even an attempt at an object.
fn check_start(line: &[u8]) -> Result<(), DataError> {
    let text = line.trim_ascii();
    match text.first() {
        Some(b'{') => Ok(()),
        Some(b'[') => Err(DataError::record(format!("expected an object, found the array {}", quoted(text)))
            .remedy("write one object a line, without brackets and commas around them, for instance with jq -c '.[]'")),
        _ => {
            Err(DataError::record(format!("expected an object like {{\"a\": 1}}, found {}", quoted(text))).remedy(MEND))
        }
    }
}

/// What serde_json found wrong in what begins at `start`, with the position in characters.
#[cold]
fn syntax(error: &serde_json::Error, start: usize, line: &[u8], path: &str) -> DataError {
    let message = error.to_string();
    let message = message.split(" at line ").next().unwrap_or(&message);
    if error.classify() == Category::Eof {
        return DataError::record(format!("is not a whole JSON object: {message}"))
            .remedy("was it cut short, or does the object go on on the next line? write one object a line, for instance with jq -c .");
    }
    let at = (start + error.column()).saturating_sub(1).min(line.len());
    // In a string that it only skips, serde_json counts one less.
    let is_before = message.starts_with("control character") && line.get(at).is_some_and(|&byte| byte >= b' ');
    let at = at + usize::from(is_before);
    let character = String::from_utf8_lossy(&line[..at]).chars().count() + 1;
    let rest = &line[at..];
    let is_named = |word: &&str| rest.starts_with(word.as_bytes());
    let (found, remedy) = match message {
        "number out of range" => (
            format!("the number {} is beyond ±1.8e308, the range of 64-bit floats", quoted(number_around(line, at))),
            "rescale it, or leave the key out with --ignore",
        ),
        _ => (
            format!("is not JSON: {message} at character {character} ({})", quoted(rest)),
            match message {
                "trailing characters" => "write one object a line",
                _ if ["NaN", "Inf", "-Inf"].iter().any(is_named) => {
                    "JSON has neither NaN nor infinity: write null for a missing value"
                }
                _ => MEND,
            },
        ),
    };
    let error = DataError::record(found).remedy(remedy);
    if path.is_empty() { error } else { error.column(path) }
}

/// The number whose last character is at `at`.
fn number_around(line: &[u8], at: usize) -> &[u8] {
    let is_part = |byte: &u8| byte.is_ascii_digit() || b"+-.eE".contains(byte);
    let start = line[..at].iter().rposition(|byte| !is_part(byte)).map_or(0, |before| before + 1);
    let end = line[at..].iter().position(|byte| !is_part(byte)).map_or(line.len(), |length| at + length);
    &line[start..end]
}

impl Trail {
    fn begin(&mut self) {
        self.path.clear();
        self.depth = 0;
        self.error = None;
        self.row += 1;
        if self.met.len() > KEPT_KEYS {
            self.met.clear();
        }
    }

    /// Whether the path has not been met in this row; its hash.
    fn meet(&mut self) -> Result<u64, DataError> {
        let hash = hash::seed(self.path.as_bytes());
        if self.met.insert(hash, self.row) == Some(self.row) {
            return Err(DataError::record("the key occurs twice in the record").column(&self.path).remedy(MEND));
        }
        Ok(hash)
    }

    /// An object or array begins.
    fn enter(&mut self) -> Result<(), DataError> {
        self.depth += 1;
        if self.depth <= DEPTH {
            return Ok(());
        }
        let outermost = self.path.split('.').next().unwrap_or_default();
        Err(DataError::record(format!("objects are nested deeper than {DEPTH}"))
            .column(outermost)
            .remedy(format!("leave the key out with --ignore {outermost}")))
    }
}

/// A trail and what is done along it.
struct Walk<'w, V> {
    trail: &'w mut Trail,
    visit: &'w mut V,
}

impl<V: Visit> Walk<'_, V> {
    fn again(&mut self) -> Walk<'_, V> {
        Walk { trail: self.trail, visit: self.visit }
    }

    /// Hands an error of ours through serde, which has its own.
    fn check<T, E: Error>(&mut self, result: Result<T, DataError>) -> Result<T, E> {
        result.map_err(|error| {
            self.trail.error = Some(error);
            E::custom("")
        })
    }

    /// Looks up the path where the walk is.
    fn place(&mut self) -> Result<Place, DataError> {
        let hash = self.trail.meet()?;
        Ok(self.visit.key(&self.trail.path, hash))
    }

    /// Reads the members of an object.
    fn members<'de, A: MapAccess<'de>>(&mut self, mut map: A) -> Result<(), A::Error> {
        let entered = self.trail.enter();
        self.check(entered)?;
        let length = self.trail.path.len();
        while let Some(place) = map.next_key_seed(Key(self.again()))? {
            match place {
                Place::Skipped => drop(map.next_value::<IgnoredAny>()?),
                place if self.visit.wants_text(place) => {
                    let value: &'de RawValue = map.next_value()?;
                    self.apart(place, value.get())?;
                }
                place => map.next_value_seed(Value(self.again(), place))?,
            }
            self.trail.path.truncate(length);
        }
        self.trail.depth -= 1;
        Ok(())
    }

    /// Reads a value where numbers are wanted as they are written.
    fn apart<E: Error>(&mut self, place: Place, text: &str) -> Result<(), E> {
        if text.starts_with(|first: char| first == '-' || first.is_ascii_digit()) {
            let result = self.visit.written(place, &self.trail.path, text.as_bytes());
            return self.check(result);
        }
        let mut deserializer = serde_json::Deserializer::from_str(text);
        Value(self.again(), place).deserialize(&mut deserializer).map_err(|error| {
            self.trail.apart = Some((error, text.as_ptr().addr() - self.trail.line));
            E::custom("")
        })
    }

    fn cell<E: Error>(&mut self, place: Place, cell: Cell<'_>) -> Result<(), E> {
        let result = self.visit.cell(place, &self.trail.path, cell);
        self.check(result)
    }

    fn nested<E: Error>(&mut self, place: Place, found: &str) -> Result<(), E> {
        let result = self.visit.nested(place, &self.trail.path, found);
        self.check(result)
    }

    /// The numbers of an array: a column each.
    fn vector(&mut self, numbers: &[Option<f64>]) -> Result<(), DataError> {
        if numbers.iter().all(Option::is_none) {
            return Ok(());
        }
        let length = self.trail.path.len();
        for (at, number) in numbers.iter().enumerate() {
            // Writing to a String cannot fail.
            let _ = write!(self.trail.path, ".{at}");
            let place = self.place()?;
            let cell = number.map_or(Cell::Missing, Cell::Number);
            if !matches!(place, Place::Skipped) {
                self.visit.cell(place, &self.trail.path, cell)?;
            }
            self.trail.path.truncate(length);
        }
        Ok(())
    }
}

/// The whole object of a line.
struct Object<'w, V>(Walk<'w, V>);

impl<'de, V: Visit> DeserializeSeed<'de> for Object<'_, V> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de, V: Visit> Visitor<'de> for Object<'_, V> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, map: A) -> Result<(), A::Error> {
        self.0.members(map)
    }
}

/// A key, appended to the path.
struct Key<'w, V>(Walk<'w, V>);

impl<'de, V: Visit> DeserializeSeed<'de> for Key<'_, V> {
    type Value = Place;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Place, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<V: Visit> Visitor<'_> for Key<'_, V> {
    type Value = Place;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a key")
    }

    fn visit_str<E: Error>(mut self, key: &str) -> Result<Place, E> {
        let trail = &mut *self.0.trail;
        if trail.depth > 1 {
            trail.path.push('.');
        }
        trail.path.push_str(key);
        let place = self.0.place();
        self.0.check(place)
    }
}

/// The value of a key.
struct Value<'w, V>(Walk<'w, V>, Place);

impl<'de, V: Visit> DeserializeSeed<'de> for Value<'_, V> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, V: Visit> Visitor<'de> for Value<'_, V> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a value")
    }

    fn visit_unit<E: Error>(mut self) -> Result<(), E> {
        self.0.cell(self.1, Cell::Missing)
    }

    fn visit_bool<E: Error>(mut self, flag: bool) -> Result<(), E> {
        self.0.cell(self.1, Cell::Boolean(flag))
    }

    fn visit_i64<E: Error>(mut self, number: i64) -> Result<(), E> {
        self.0.cell(self.1, Cell::Number(number as f64))
    }

    fn visit_u64<E: Error>(mut self, number: u64) -> Result<(), E> {
        self.0.cell(self.1, Cell::Number(number as f64))
    }

    fn visit_f64<E: Error>(mut self, number: f64) -> Result<(), E> {
        self.0.cell(self.1, Cell::Number(number))
    }

    fn visit_str<E: Error>(mut self, text: &str) -> Result<(), E> {
        self.0.cell(self.1, Cell::Text(text.as_bytes()))
    }

    fn visit_map<A: MapAccess<'de>>(mut self, map: A) -> Result<(), A::Error> {
        self.0.nested(self.1, "an object")?;
        self.0.members(map)
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut array: A) -> Result<(), A::Error> {
        self.0.nested(self.1, "an array")?;
        self.0.trail.numbers.clear();
        let mut is_set = false;
        while array.next_element_seed(Element { walk: self.0.again(), place: self.1, is_set: &mut is_set })?.is_some() {
        }
        if is_set {
            return Ok(());
        }
        let numbers = std::mem::take(&mut self.0.trail.numbers);
        let result = self.0.vector(&numbers);
        self.0.trail.numbers = numbers;
        self.0.check(result)
    }
}

/// An element of an array. As long as all are numbers, they are kept; the first
/// one that is none makes the array a set.
struct Element<'w, V> {
    walk: Walk<'w, V>,
    place: Place,
    is_set: &'w mut bool,
}

impl<V: Visit> Element<'_, V> {
    fn number(self, number: f64) {
        if *self.is_set {
            self.walk.number_element(self.place, number, false);
        } else {
            self.walk.trail.numbers.push(Some(number));
        }
    }

    fn text(mut self, text: &str) {
        let mut is_first = !*self.is_set;
        *self.is_set = true;
        if is_first {
            let numbers = std::mem::take(&mut self.walk.trail.numbers);
            for number in numbers.iter().flatten() {
                self.walk.again().number_element(self.place, *number, is_first);
                is_first = false;
            }
            self.walk.trail.numbers = numbers;
        }
        let walk = self.walk;
        walk.visit.element(self.place, &walk.trail.path, text, is_first);
    }

    fn refuse<E: Error>(mut self, found: &str) -> Result<(), E> {
        let path = &self.walk.trail.path;
        let error = DataError::record(format!("holds an array of {found}"))
            .column(path)
            .remedy(format!("leave it out with --ignore {path}, or write its parts as keys of their own"));
        self.walk.check(Err(error))
    }
}

impl<V: Visit> Walk<'_, V> {
    /// A number in a set, as text.
    fn number_element(self, place: Place, number: f64, is_first: bool) {
        let Self { trail, visit } = self;
        trail.text.clear();
        // Writing to a String cannot fail.
        let _ = write!(trail.text, "{number}");
        visit.element(place, &trail.path, &trail.text, is_first);
    }
}

impl<'de, V: Visit> DeserializeSeed<'de> for Element<'_, V> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, V: Visit> Visitor<'de> for Element<'_, V> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an element of a set or a vector")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.walk.trail.numbers.push(None);
        Ok(())
    }

    fn visit_bool<E: Error>(self, flag: bool) -> Result<(), E> {
        self.text(if flag { "true" } else { "false" });
        Ok(())
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<(), E> {
        self.number(number as f64);
        Ok(())
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<(), E> {
        self.number(number as f64);
        Ok(())
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<(), E> {
        self.number(number);
        Ok(())
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        self.text(text);
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, _: A) -> Result<(), A::Error> {
        self.refuse("objects")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, _: A) -> Result<(), A::Error> {
        self.refuse("arrays")
    }
}

/// What was seen of the first rows. A line that cannot be read is passed over (the
/// parser reports it), unless no line can, or the first one begins an array: then it is
/// the format that is wrong.
pub(crate) fn sample(head: &[u8], limit: usize, ignored: &[String]) -> Result<Sample, DataError> {
    let mut look = Look { ignored, sample: Sample::open(), mentions: Vec::new(), is_trial: true };
    let mut trail = Trail::default();
    let mut first_error = None;
    for (number, line) in (1..).zip(lines(head)) {
        if look.sample.rows == limit {
            break;
        }
        if line.is_empty() {
            continue;
        }
        match look.line(line, &mut trail) {
            Err(error) if look.sample.rows == 0 && line.starts_with(b"[") => return Err(error.line(number)),
            Ok(()) => look.sample.rows += 1,
            Err(error) => drop(first_error.get_or_insert(error.line(number))),
        }
    }
    match first_error {
        Some(error) if look.sample.rows == 0 => Err(error),
        fault => {
            let mut sample = look.finish();
            sample.fault = fault;
            Ok(sample)
        }
    }
}

/// Looks at the types of values.
struct Look<'s> {
    ignored: &'s [String],
    sample: Sample,
    /// In how many rows each column was mentioned.
    mentions: Vec<usize>,
    /// Whether the line is only read to see that it can be.
    is_trial: bool,
}

impl Look<'_> {
    /// Takes in a line, all of it or nothing.
    fn line(&mut self, line: &[u8], trail: &mut Trail) -> Result<(), DataError> {
        self.is_trial = true;
        walk(line, trail, self)?;
        self.is_trial = false;
        walk(line, trail, self)
    }

    fn mention(&mut self, path: &str) -> usize {
        let at = self.sample.column(path);
        self.mentions.resize(self.sample.names.len(), 0);
        self.mentions[at] += 1;
        at
    }

    fn finish(mut self) -> Sample {
        for (seen, mentions) in self.sample.seen.iter_mut().zip(&self.mentions) {
            seen.lacks(self.sample.rows - mentions);
        }
        self.sample
    }
}

impl Visit for Look<'_> {
    fn key(&mut self, path: &str, _: u64) -> Place {
        if !self.ignored.iter().any(|name| name == path) {
            return Place::Unknown;
        }
        if !self.is_trial {
            self.mention(path);
        }
        Place::Skipped
    }

    fn wants_text(&self, _: Place) -> bool {
        // The trial tells errors by where they are in the line.
        !self.is_trial
    }

    fn written(&mut self, _: Place, path: &str, number: &[u8]) -> Result<(), DataError> {
        let at = self.mention(path);
        self.sample.seen[at].text(number);
        Ok(())
    }

    fn cell(&mut self, _: Place, path: &str, cell: Cell<'_>) -> Result<(), DataError> {
        if !self.is_trial {
            let at = self.mention(path);
            self.sample.seen[at].cell(cell);
        }
        Ok(())
    }

    fn element(&mut self, _: Place, path: &str, _: &str, is_first: bool) {
        if !self.is_trial && is_first {
            let at = self.mention(path);
            self.sample.seen[at].set();
        }
    }
}

/// Parses pieces of JSON lines.
pub(crate) struct JsonlParser {
    encoder: RowEncoder,
    trail: Trail,
    known: ByHash<Known>,
}

/// A column of the schema.
#[derive(Debug, Clone, Copy)]
struct Known {
    column: usize,
    /// Whether it is left out with all that is in it.
    is_skipped: bool,
}

impl JsonlParser {
    pub(crate) fn new(encoder: RowEncoder) -> Self {
        let known = known(&encoder.schema());
        Self { encoder: encoder.with_nulls(), trail: Trail::default(), known }
    }
}

/// The columns of a schema by the hash of their name.
fn known(schema: &Schema) -> ByHash<Known> {
    // An identifier is ignored too, and may be an object in some rows of which parts are used.
    let mut used: Vec<&str> = schema
        .columns
        .iter()
        .filter(|column| column.role != Role::Ignored)
        .map(|column| column.name.as_str())
        .collect();
    used.sort_unstable();
    let has_used_parts = |name: &str| {
        let prefix = format!("{name}.");
        let at = used.partition_point(|other| *other < prefix.as_str());
        used.get(at).is_some_and(|other| other.starts_with(&prefix))
    };
    let columns = schema.columns.iter().enumerate();
    columns
        .map(|(at, column)| {
            let is_skipped = column.role == Role::Ignored && !has_used_parts(&column.name);
            let known = Known { column: at, is_skipped };
            (hash::seed(column.name.as_bytes()), known)
        })
        .collect()
}

/// Encodes the values of an object.
struct Encode<'p> {
    schema: &'p Schema,
    known: &'p ByHash<Known>,
    encoder: &'p mut RowEncoder,
    out: &'p mut Parsed,
}

impl Encode<'_> {
    fn role(&self, place: Place) -> Option<&Role> {
        match place {
            Place::Column(column) => Some(&self.schema.columns[column].role),
            Place::Unknown | Place::Skipped => None,
        }
    }
}

impl Visit for Encode<'_> {
    fn key(&mut self, path: &str, hash: u64) -> Place {
        match self.known.get(&hash) {
            Some(known) if self.schema.columns[known.column].name == path => match known.is_skipped {
                true => Place::Skipped,
                false => Place::Column(known.column),
            },
            _ => Place::Unknown,
        }
    }

    fn nested(&mut self, place: Place, path: &str, found: &str) -> Result<(), DataError> {
        match self.role(place) {
            Some(Role::Target | Role::Weight | Role::Id) => {
                Err(DataError::record(format!("expected one value, found {found}")).column(path).remedy(MEND))
            }
            _ => Ok(()),
        }
    }

    fn wants_text(&self, place: Place) -> bool {
        match self.role(place) {
            Some(Role::Id | Role::Feature(Kind::Categorical { .. })) => true,
            Some(Role::Target) => self.schema.target.rule.compares_text(),
            _ => false,
        }
    }

    fn written(&mut self, place: Place, path: &str, number: &[u8]) -> Result<(), DataError> {
        self.cell(place, path, Cell::Text(number))
    }

    fn cell(&mut self, place: Place, path: &str, cell: Cell<'_>) -> Result<(), DataError> {
        // An element of an array of numbers, which has been read as a 64-bit float.
        if let Cell::Number(value) = cell
            && value.abs() >= EXACT
            && self.wants_text(place)
        {
            return Err(DataError::record(format!("the number {value} may have lost digits, being beyond 2^53"))
                .column(path)
                .remedy("in arrays of numbers, write such numbers as strings, or as keys of their own"));
        }
        match place {
            Place::Column(column) => self.encoder.cell(self.schema, column, cell, self.out),
            Place::Unknown => self.encoder.unknown(path, cell, self.out),
            Place::Skipped => Ok(()),
        }
    }

    fn element(&mut self, place: Place, path: &str, element: &str, _: bool) {
        let column = match place {
            Place::Column(column) => Some(column),
            Place::Unknown | Place::Skipped => None,
        };
        if self.role(place) != Some(&Role::Ignored) {
            self.encoder.element(column, path, element, self.out);
        }
    }
}

impl Parser for JsonlParser {
    fn parse(&mut self, piece: &Piece, out: &mut Parsed) -> Result<(), DataError> {
        out.set_id_columns(self.encoder.id_columns());
        let schema = self.encoder.schema();
        let Self { encoder, trail, known } = self;
        each_line(piece, encoder.skips_errors(), out, &mut |line: &[u8], out: &mut Parsed| {
            encoder.begin(out);
            let mut encode = Encode { schema: &schema, known, encoder, out };
            walk(line, trail, &mut encode)?;
            encoder.end(&schema, out)
        })
    }
}
