//! A walk through the keys and values of a JSON object.

use std::fmt::{self, Write};

use onward::hashing::feature_hash as hash;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::error::Category;
use serde_json::value::RawValue;

use super::any_value::{AnySeed, TakeValue};
use crate::error::{DataError, MEND, Result, quoted};
use crate::schema::CellValue;
use crate::text::hashed::ByHash;

/// How deep objects may be nested.
const DEPTH: u32 = 100;
/// When this many keys have been met that are not columns, the keys of earlier rows are forgotten.
const KEPT_KEYS: usize = 1 << 14;

/// Where the value of a key goes.
#[derive(Debug, Clone, Copy)]
pub(super) enum Destination {
    /// To a column of the schema.
    Column(usize),
    /// To no column in particular.
    Unknown,
    /// Nowhere, with all that is in it.
    Skipped,
}

impl Destination {
    pub(super) fn column(self) -> Option<usize> {
        match self {
            Self::Column(column) => Some(column),
            Self::Unknown | Self::Skipped => None,
        }
    }
}

/// What is done with the keys and values of an object.
pub(super) trait JsonVisitor {
    /// A key, by its whole path and the hash of the path.
    fn key(&mut self, path: &str, hash: u64) -> Destination;

    /// An object or an array begins where a column may want one value.
    fn nested(&mut self, _place: Destination, _path: &str, _found: &str) -> Result {
        Ok(())
    }

    /// Whether a number is wanted as it is written: `1.50`, and all digits of a long one.
    fn wants_text(&self, place: Destination) -> bool;

    /// A number as it is written, where that is wanted.
    fn written(&mut self, place: Destination, path: &str, number: &[u8]) -> Result;

    /// A number, truth value, string or null.
    fn cell(&mut self, place: Destination, path: &str, cell: CellValue<'_>) -> Result;

    /// An element of a set; the first one of it or a later one.
    fn element(&mut self, place: Destination, path: &str, element: &str, is_first: bool);
}

/// What a walk through objects keeps from one to the next: memory, and the keys met.
#[derive(Default)]
pub(super) struct WalkState {
    /// The keys from the outermost to the one that is being read, joined by dots.
    path: String,
    depth: u32,
    /// The row that last had a path, by the hash of the path.
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
    /// Where the line is in memory, if a text is walked through.
    line: Option<usize>,
}

/// Walks through an object that was read already.
pub(super) fn walk_value<'de>(
    map: impl Deserializer<'de>,
    state: &mut WalkState,
    visit: &mut impl JsonVisitor,
) -> Result {
    state.begin();
    state.line = None;
    let result = map.deserialize_map(ObjectVisitor(JsonWalk { state, visit }));
    result.map_err(|error| {
        let error = error.to_string();
        let is_no_map = error.strip_prefix("invalid type: ").and_then(|text| text.split_once(", expected"));
        let found = match is_no_map {
            Some((found, _)) => format!("expected an object, found {}", found.replace('`', "'")),
            None => error,
        };
        state.error.take().unwrap_or_else(|| DataError::record(found).advise("a record is a map from names to values"))
    })
}

/// Walks through the object on a line.
pub(super) fn walk(line: &[u8], state: &mut WalkState, visit: &mut impl JsonVisitor) -> Result {
    check_start(line)?;
    state.begin();
    state.line = Some(line.as_ptr().addr());
    let mut deserializer = serde_json::Deserializer::from_slice(line);
    let object = ObjectVisitor(JsonWalk { state, visit });
    let result = deserializer.deserialize_map(object).and_then(|()| deserializer.end());
    result.map_err(|error| {
        let (error, start) = state.apart.take().unwrap_or((error, 0));
        state.error.take().unwrap_or_else(|| syntax(&error, start, line, &state.path))
    })
}

/// A line that is not even an attempt at an object.
fn check_start(line: &[u8]) -> Result {
    let text = line.trim_ascii();
    match text.first() {
        Some(b'{') => Ok(()),
        Some(b'[') => Err(DataError::record(format!("expected an object, found the array {}", quoted(text))).advise(
            "write one object per line, without brackets and commas around them, for instance with jq -c '.[]'",
        )),
        _ => {
            Err(DataError::record(format!("expected an object like {{\"a\": 1}}, found {}", quoted(text))).advise(MEND))
        }
    }
}

/// What serde_json found wrong in what begins at `start`, with the position in characters.
fn syntax(error: &serde_json::Error, start: usize, line: &[u8], path: &str) -> DataError {
    let message = error.to_string();
    let message = message.split(" at line ").next().unwrap_or(&message);
    if error.classify() == Category::Eof {
        let message = message.replace("EOF while parsing", "it ends inside");
        return DataError::record(format!("is not a whole JSON object: {message}"))
            .advise("write one whole object per line, for instance with jq -c .");
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
            "rescale it, or leave the key out with ⟦ignore⟧",
        ),
        _ => (
            format!("is not JSON: {message} at character {character} ({})", quoted(rest)),
            match message {
                "trailing characters" => "write one object per line",
                _ if ["NaN", "Inf", "-Inf"].iter().any(is_named) => {
                    "JSON has neither NaN nor infinity: write null for a missing value"
                }
                _ => MEND,
            },
        ),
    };
    let error = DataError::record(found).advise(remedy);
    if path.is_empty() { error } else { error.column(path) }
}

/// The number whose last character is at `at`.
fn number_around(line: &[u8], at: usize) -> &[u8] {
    let is_part = |byte: &u8| byte.is_ascii_digit() || b"+-.eE".contains(byte);
    let start = line[..at].iter().rposition(|byte| !is_part(byte)).map_or(0, |before| before + 1);
    let end = line[at..].iter().position(|byte| !is_part(byte)).map_or(line.len(), |length| at + length);
    &line[start..end]
}

impl WalkState {
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
    fn meet(&mut self) -> Result<u64> {
        let hash = hash::seed(self.path.as_bytes());
        match self.met.get_mut(&hash) {
            Some(row) if *row == self.row => {
                return Err(DataError::record("the key occurs twice in the record").column(&self.path).advise(MEND));
            }
            Some(row) => *row = self.row,
            None => drop(self.met.insert(hash, self.row)),
        }
        Ok(hash)
    }

    /// An object or array begins.
    fn enter(&mut self) -> Result {
        self.depth += 1;
        if self.depth <= DEPTH {
            return Ok(());
        }
        let outermost = self.path.split('.').next().unwrap_or_default();
        Err(DataError::record(format!("objects are nested deeper than {DEPTH}"))
            .column(outermost)
            .advise(format!("leave the key out with ⟦ignore={outermost}⟧")))
    }
}

/// A path and what is done along it.
struct JsonWalk<'w, V> {
    state: &'w mut WalkState,
    visit: &'w mut V,
}

impl<V: JsonVisitor> JsonWalk<'_, V> {
    fn again(&mut self) -> JsonWalk<'_, V> {
        JsonWalk { state: self.state, visit: self.visit }
    }

    /// Hands an error of ours through serde, which has its own.
    fn check<T, E: Error>(&mut self, result: Result<T>) -> Result<T, E> {
        result.map_err(|error| {
            self.state.error = Some(error);
            E::custom("")
        })
    }

    /// Looks up the path where the walk is.
    fn place(&mut self) -> Result<Destination> {
        let hash = self.state.meet()?;
        Ok(self.visit.key(&self.state.path, hash))
    }

    /// Reads the members of an object.
    fn members<'de, A: MapAccess<'de>>(&mut self, mut map: A) -> Result<(), A::Error> {
        let entered = self.state.enter();
        self.check(entered)?;
        let length = self.state.path.len();
        while let Some(place) = map.next_key_seed(KeySeed(self.again()))? {
            match place {
                Destination::Skipped => drop(map.next_value::<IgnoredAny>()?),
                place if self.state.line.is_some() && self.visit.wants_text(place) => {
                    let value: &'de RawValue = map.next_value()?;
                    self.apart(place, value.get())?;
                }
                place => map.next_value_seed(AnySeed(KeyValue(self.again(), place)))?,
            }
            self.state.path.truncate(length);
        }
        self.state.depth -= 1;
        Ok(())
    }

    /// Reads a value where numbers are wanted as they are written.
    fn apart<E: Error>(&mut self, place: Destination, text: &str) -> Result<(), E> {
        if text.starts_with(|first: char| first == '-' || first.is_ascii_digit()) {
            let result = self.visit.written(place, &self.state.path, text.as_bytes());
            return self.check(result);
        }
        let mut deserializer = serde_json::Deserializer::from_str(text);
        AnySeed(KeyValue(self.again(), place)).deserialize(&mut deserializer).map_err(|error| {
            self.state.apart = Some((error, text.as_ptr().addr() - self.state.line.unwrap_or_default()));
            E::custom("")
        })
    }

    fn nested<E: Error>(&mut self, place: Destination, found: &str) -> Result<(), E> {
        let result = self.visit.nested(place, &self.state.path, found);
        self.check(result)
    }

    /// The numbers of an array: a column each.
    fn vector(&mut self, numbers: &[Option<f64>]) -> Result {
        if numbers.iter().all(Option::is_none) {
            return Ok(());
        }
        let length = self.state.path.len();
        for (at, number) in numbers.iter().enumerate() {
            // Writing to a String cannot fail.
            let _ = write!(self.state.path, ".{at}");
            let place = self.place()?;
            let cell = number.map_or(CellValue::Missing, CellValue::Number);
            if !matches!(place, Destination::Skipped) {
                self.visit.cell(place, &self.state.path, cell)?;
            }
            self.state.path.truncate(length);
        }
        Ok(())
    }
}

/// Takes the whole object of a line.
struct ObjectVisitor<'w, V>(JsonWalk<'w, V>);

impl<'de, V: JsonVisitor> Visitor<'de> for ObjectVisitor<'_, V> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, map: A) -> Result<(), A::Error> {
        self.0.members(map)
    }
}

/// A key, appended to the path.
struct KeySeed<'w, V>(JsonWalk<'w, V>);

impl<'de, V: JsonVisitor> DeserializeSeed<'de> for KeySeed<'_, V> {
    type Value = Destination;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Destination, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<V: JsonVisitor> Visitor<'_> for KeySeed<'_, V> {
    type Value = Destination;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a key")
    }

    fn visit_str<E: Error>(mut self, key: &str) -> Result<Destination, E> {
        let state = &mut *self.0.state;
        if state.depth > 1 {
            state.path.push('.');
        }
        state.path.push_str(key);
        let place = self.0.place();
        self.0.check(place)
    }
}

/// Takes the value of a key.
struct KeyValue<'w, V>(JsonWalk<'w, V>, Destination);

impl<'de, V: JsonVisitor> TakeValue<'de> for KeyValue<'_, V> {
    #[inline]
    fn cell<E: Error>(self, cell: CellValue<'_>, text: impl Fn() -> String) -> Result<(), E> {
        let Self(mut walk, place) = self;
        let result = match cell {
            // Its text is wanted and was not read apart.
            CellValue::Number(_) if walk.visit.wants_text(place) => {
                walk.visit.written(place, &walk.state.path, text().as_bytes())
            }
            cell => walk.visit.cell(place, &walk.state.path, cell),
        };
        walk.check(result)
    }

    #[inline]
    fn text<E: Error>(self, text: &str) -> Result<(), E> {
        self.cell(CellValue::Text(text.as_bytes()), String::new)
    }

    fn object<A: MapAccess<'de>>(mut self, map: A) -> Result<(), A::Error> {
        self.0.nested(self.1, "an object")?;
        self.0.members(map)
    }

    fn array<A: SeqAccess<'de>>(self, mut array: A) -> Result<(), A::Error> {
        let Self(mut walk, place) = self;
        walk.nested(place, "an array")?;
        walk.state.numbers.clear();
        let mut is_set = false;
        while array.next_element_seed(AnySeed(Element { walk: walk.again(), place, is_set: &mut is_set }))?.is_some() {}
        if is_set {
            return Ok(());
        }
        let numbers = std::mem::take(&mut walk.state.numbers);
        let result = walk.vector(&numbers);
        walk.state.numbers = numbers;
        walk.check(result)
    }
}

/// Takes an element of an array. As long as all are numbers, they are kept; the first one that is not a number makes the
/// array a set.
struct Element<'w, V> {
    walk: JsonWalk<'w, V>,
    place: Destination,
    is_set: &'w mut bool,
}

impl<V: JsonVisitor> Element<'_, V> {
    fn refuse<E: Error>(mut self, found: &str) -> Result<(), E> {
        let path = &self.walk.state.path;
        let error = DataError::record(format!("holds an array of {found}"))
            .column(path)
            .advise(format!("leave it out with ⟦ignore={path}⟧, or write its parts as keys of their own"));
        self.walk.check(Err(error))
    }
}

impl<V: JsonVisitor> JsonWalk<'_, V> {
    /// A number in a set, as text.
    fn number_element(self, place: Destination, number: f64, is_first: bool) {
        let Self { state, visit } = self;
        state.text.clear();
        // Writing to a String cannot fail.
        let _ = write!(state.text, "{number}");
        visit.element(place, &state.path, &state.text, is_first);
    }
}

impl<'de, V: JsonVisitor> TakeValue<'de> for Element<'_, V> {
    #[inline]
    fn cell<E: Error>(self, cell: CellValue<'_>, _: impl Fn() -> String) -> Result<(), E> {
        match cell {
            CellValue::Boolean(flag) => return self.text(if flag { "true" } else { "false" }),
            CellValue::Number(number) if *self.is_set => self.walk.number_element(self.place, number, false),
            CellValue::Number(number) => self.walk.state.numbers.push(Some(number)),
            _ => self.walk.state.numbers.push(None),
        }
        Ok(())
    }

    fn text<E: Error>(mut self, text: &str) -> Result<(), E> {
        let mut is_first = !*self.is_set;
        *self.is_set = true;
        if is_first {
            let numbers = std::mem::take(&mut self.walk.state.numbers);
            for number in numbers.iter().flatten() {
                self.walk.again().number_element(self.place, *number, is_first);
                is_first = false;
            }
            self.walk.state.numbers = numbers;
        }
        let walk = self.walk;
        walk.visit.element(self.place, &walk.state.path, text, is_first);
        Ok(())
    }

    fn object<A: MapAccess<'de>>(self, _: A) -> Result<(), A::Error> {
        self.refuse("objects")
    }

    fn array<A: SeqAccess<'de>>(self, _: A) -> Result<(), A::Error> {
        self.refuse("arrays")
    }
}
