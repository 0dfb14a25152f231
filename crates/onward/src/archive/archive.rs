//! Saving and loading as one visit: a type names each of its numbers and columns once, in
//! `persist`, and an [`Archive`] writes them to a [`State`] or reads them from one.

use super::file::REMEDY;
use super::{ColumnNumber, Precision, SavedColumn, State};
use crate::Error;
use crate::hashing::feature_map::{FeatureMap, INDEX_LIMIT};

/// A visitor of all that a learner or ledger needs to continue to the bit.
///
/// ```
/// use onward::Error;
/// use onward::archive::Archive;
///
/// #[derive(Default)]
/// struct Mean { sum: f64, weights: Vec<f32> }
///
/// impl Mean {
///     fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
///         archive.number("sum", &mut self.sum)?;
///         archive.column("weight", &mut self.weights)
///     }
/// }
///
/// let state = Archive::saved(|archive| Mean { sum: 3.0, weights: vec![0.5] }.persist(archive))?;
/// let mut copy = Mean::default();
/// copy.persist(&mut Archive::loading(state))?;
/// assert_eq!((copy.sum, copy.weights), (3.0, vec![0.5]));
/// # Ok::<(), onward::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct Archive {
    state: State,
    is_loading: bool,
    /// What names begin with: the parts that are being visited, each with its dot.
    prefix: String,
    /// The map by whose ids loaded tables are laid out.
    pub(crate) features: Option<FeatureMap>,
}

/// Visits fields that are saved under their own names: `visit_fields!(archive.number(self.rounds, self.squares))`. Renaming
/// such a field changes the file format.
macro_rules! visit_fields {
    ($archive:ident.$method:ident($($owner:ident.$field:ident),+ $(,)?)) => {
        $($archive.$method(stringify!($field), &mut $owner.$field)?;)+
    };
}
pub(crate) use visit_fields;

/// The rows of these lengths that stand one after the other; `None` if their lengths do not add up.
pub(crate) fn rows_of<T: Clone>(all: &[T], lengths: impl Iterator<Item = usize>) -> Option<Vec<Vec<T>>> {
    let (mut rows, mut rest) = (Vec::new(), all);
    for length in lengths {
        let (row, after) = rest.split_at_checked(length)?;
        rows.push(row.to_vec());
        rest = after;
    }
    rest.is_empty().then_some(rows)
}

/// A field of a record, for [`Archive::records`]: how to reach it, and the type of its column.
pub enum Field<'a, R> {
    /// A 32-bit float.
    F32(&'a dyn Fn(&mut R) -> &mut f32),
    /// A 64-bit float.
    F64(&'a dyn Fn(&mut R) -> &mut f64),
    /// An index.
    U32(&'a dyn Fn(&mut R) -> &mut u32),
    /// A small code.
    U8(&'a dyn Fn(&mut R) -> &mut u8),
    /// A weight, of 32 bits in models that were saved so.
    #[allow(private_interfaces, reason = "learners of other crates have weights of one precision")]
    Weight(&'a dyn Fn(&mut R) -> &mut f64, Precision),
    /// The number that a column of 64-bit floats keeps for it, and how that number sets it.
    Number(&'a dyn Fn(&R) -> f64, &'a dyn Fn(&mut R, f64)),
}

/// The fields of a kind of records that are numbers in columns: the name of each column, the type of its numbers, and the
/// field that has them.
macro_rules! fields {
    ($record:ty { $($name:literal: $number:ident $($field:tt).+),+ $(,)? }) => {
        [$(($name, $crate::archive::Field::$number(&|record: &mut $record| &mut record.$($field).+))),+]
    };
}
pub(crate) use fields;

impl Archive {
    /// An archive that is read from.
    pub fn loading(state: State) -> Self {
        Self { state, is_loading: true, ..Self::default() }
    }

    /// An archive to load parts that share one feature map: the map of all features for which these parts have numbers.
    pub fn loading_with_map(state: State, parts: &[&str]) -> Self {
        let mut features = FeatureMap::default();
        let mut ids = Vec::new();
        for (name, column) in state.columns() {
            let is_of_part = |part: &&str| name.strip_prefix(*part).is_some_and(|rest| rest.starts_with('.'));
            let (true, SavedColumn::U32(indices)) = (name.ends_with(".index") && parts.iter().any(is_of_part), column)
            else {
                continue;
            };
            // Too large ones are refused where they are read.
            if let Some(&max_index) = indices.iter().max().filter(|&&index| index < INDEX_LIMIT) {
                ids.clear();
                features.add_ids(indices, &mut ids);
                features.is_useful_for(max_index);
            }
        }
        Self { features: Some(features), ..Self::loading(state) }
    }

    /// The map by whose ids tables have been laid out.
    pub fn into_map(self) -> FeatureMap {
        self.features.unwrap_or_default()
    }

    /// What a visit writes.
    ///
    /// # Errors
    /// Those of the visit.
    pub fn saved(visit: impl FnOnce(&mut Self) -> Result<(), Error>) -> Result<State, Error> {
        let mut archive = Self::default();
        visit(&mut archive)?;
        Ok(archive.state)
    }

    /// Whether values are read and not written. What is derived from them must then be computed again.
    pub fn is_loading(&self) -> bool {
        self.is_loading
    }

    fn full(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }

    /// A number.
    ///
    /// # Errors
    /// On loading, when the archive has none of that name.
    pub fn number(&mut self, name: &str, value: &mut f64) -> Result<(), Error> {
        let name = self.full(name);
        match self.is_loading {
            true => *value = self.state.number(&name)?,
            false => self.state.set(&name, *value),
        }
        Ok(())
    }

    /// A finite number.
    ///
    /// # Errors
    /// On loading, when it is missing or not finite.
    pub fn finite(&mut self, name: &str, value: &mut f64) -> Result<(), Error> {
        self.number(name, value)?;
        self.check(value.is_finite(), name, "must be finite")
    }

    /// A finite number from 0 on.
    ///
    /// # Errors
    /// On loading, when it is missing, not finite or below 0.
    pub fn size(&mut self, name: &str, value: &mut f64) -> Result<(), Error> {
        self.number(name, value)?;
        self.check((0.0..=f64::MAX).contains(value), name, "must be finite and not below 0")
    }

    /// A number that is written only if there is one.
    ///
    /// # Errors
    /// None today.
    pub fn optional(&mut self, name: &str, value: &mut Option<f64>) -> Result<(), Error> {
        let name = self.full(name);
        match (self.is_loading, *value) {
            (true, _) => *value = self.state.optional(&name),
            (false, Some(value)) => self.state.set(&name, value),
            (false, None) => {}
        }
        Ok(())
    }

    /// A whole number below 2^53.
    ///
    /// # Errors
    /// On loading, when it is missing or not a whole number.
    pub fn count(&mut self, name: &str, value: &mut u64) -> Result<(), Error> {
        let mut number = *value as f64;
        self.number(name, &mut number)?;
        self.check(number >= 0.0 && number.fract() == 0.0, name, "must be a whole number")?;
        *value = number as u64;
        Ok(())
    }

    /// A truth value, kept as 0 or 1.
    ///
    /// # Errors
    /// On loading, when it is missing, or neither 0 nor 1.
    pub fn flag(&mut self, name: &str, value: &mut bool) -> Result<(), Error> {
        let mut number = f64::from(u8::from(*value));
        self.number(name, &mut number)?;
        *value = number == 1.0;
        self.check(*value || number == 0.0, name, "must be 0 or 1")
    }

    /// A column that is loaded and has not been read.
    pub(super) fn saved_column(&self, name: &str) -> Option<&SavedColumn> {
        self.state.columns().get(&self.full(name)).filter(|_| self.is_loading)
    }

    /// A column of numbers of one type.
    ///
    /// # Errors
    /// On loading, when there is none of that name and type.
    pub fn column<T: ColumnNumber>(&mut self, name: &str, values: &mut Vec<T>) -> Result<(), Error> {
        if self.is_loading { self.exchange(name, values) } else { self.exchange(name, &mut values.clone()) }
    }

    /// The same, but saving takes the values instead of copying them.
    fn exchange<T: ColumnNumber>(&mut self, name: &str, values: &mut Vec<T>) -> Result<(), Error> {
        let name = self.full(name);
        match self.is_loading {
            true => *values = self.state.take(&name).and_then(T::values).ok_or_else(|| State::missing(&name))?,
            false => self.state.set_column(&name, T::column(std::mem::take(values))),
        }
        Ok(())
    }

    /// A column that is written only if it is not empty.
    ///
    /// # Errors
    /// On loading, when there is one of that name and another type.
    pub fn optional_column<T: ColumnNumber>(&mut self, name: &str, values: &mut Vec<T>) -> Result<(), Error> {
        let is_there = match self.is_loading {
            true => self.state.columns().contains_key(&self.full(name)),
            false => !values.is_empty(),
        };
        if is_there {
            return self.column(name, values);
        }
        values.clear();
        Ok(())
    }

    /// A column of `length` numbers.
    ///
    /// # Errors
    /// On loading, when there is none of that name, type and length.
    pub fn column_of<T: ColumnNumber>(&mut self, length: usize, name: &str, values: &mut Vec<T>) -> Result<(), Error> {
        self.column(name, values)?;
        self.check(values.len() == length, name, &format!("must have {length} numbers"))
    }

    /// A column that is kept in an array.
    ///
    /// # Errors
    /// On loading, when there is none of that name, type and length.
    pub fn array<T: ColumnNumber>(&mut self, name: &str, values: &mut [T]) -> Result<(), Error> {
        let mut column = values.to_vec();
        self.column_of(values.len(), name, &mut column)?;
        values.copy_from_slice(&column);
        Ok(())
    }

    /// Records side by side: a column for each of their fields. Loaded records start as copies of `blank`.
    ///
    /// # Errors
    /// On loading, when a column is missing or not as long as the others.
    pub fn records<R: Clone>(
        &mut self,
        records: &mut Vec<R>,
        blank: &R,
        fields: &[(&str, Field<'_, R>)],
    ) -> Result<(), Error> {
        if self.is_loading {
            let first = fields.first().and_then(|(name, _)| self.state.columns().get(&self.full(name)));
            records.clear();
            records.resize(first.map_or(0, SavedColumn::len), blank.clone());
        }
        for (name, field) in fields {
            match *field {
                Field::F32(of) => self.field(records, name, |it| *of(it), |it, value| *of(it) = value)?,
                Field::F64(of) => self.field(records, name, |it| *of(it), |it, value| *of(it) = value)?,
                Field::U32(of) => self.field(records, name, |it| *of(it), |it, value| *of(it) = value)?,
                Field::U8(of) => self.field(records, name, |it| *of(it), |it, value| *of(it) = value)?,
                Field::Weight(of, Precision::Single) => {
                    self.field(records, name, |it| *of(it) as f32, |it, value| *of(it) = value.into())?;
                }
                Field::Weight(of, Precision::Double) => {
                    self.field(records, name, |it| *of(it), |it, value| *of(it) = value)?;
                }
                Field::Number(get, set) => self.field(records, name, |it| get(it), set)?,
            }
        }
        Ok(())
    }

    fn field<R, T: ColumnNumber>(
        &mut self,
        records: &mut [R],
        name: &str,
        get: impl Fn(&mut R) -> T,
        set: impl Fn(&mut R, T),
    ) -> Result<(), Error> {
        let mut column = if self.is_loading { Vec::new() } else { records.iter_mut().map(get).collect() };
        self.exchange(name, &mut column)?;
        if self.is_loading {
            self.check(column.len() == records.len(), name, "must be as long as the columns beside it")?;
            records.iter_mut().zip(column).for_each(|(record, value)| set(record, value));
        }
        Ok(())
    }

    /// A part with names of its own: its `x` is kept as `name.x`.
    ///
    /// # Errors
    /// Those of the visit.
    pub fn part(&mut self, name: &str, visit: impl FnOnce(&mut Self) -> Result<(), Error>) -> Result<(), Error> {
        let length = self.prefix.len();
        self.prefix.push_str(name);
        self.prefix.push('.');
        let visited = visit(self);
        self.prefix.truncate(length);
        visited
    }

    /// On loading, refuses what does not hold. What is saved is not checked.
    ///
    /// # Errors
    /// On loading, when it does not hold: says which name is wrong and what `must` be so.
    pub fn check(&self, holds: bool, name: &str, must: &str) -> Result<(), Error> {
        if self.is_loading { self.require(holds.then_some(()), name, must) } else { Ok(()) }
    }

    /// What was made from values that were read.
    ///
    /// # Errors
    /// When nothing could be made from them: says which name is wrong and what `must` be so.
    pub fn require<T>(&self, made: Option<T>, name: &str, must: &str) -> Result<T, Error> {
        made.ok_or_else(|| Error::model(format!("'{}{name}' {must}: the model is damaged; {REMEDY}", self.prefix)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Clone, Default, PartialEq)]
    struct Entry {
        index: u32,
        weight: f32,
        sum: f64,
        is_seen: u8,
        round: u64,
    }

    #[derive(Debug, Default, PartialEq)]
    struct Whole {
        rate: f64,
        rounds: u64,
        is_cut: bool,
        radius: Option<f64>,
        paid: f64,
        bytes: Vec<u8>,
        rest: Vec<u32>,
        triple: [f64; 3],
        entries: Vec<Entry>,
    }

    impl Whole {
        fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
            archive.finite("rate", &mut self.rate)?;
            archive.part("inner", |archive| {
                archive.count("rounds", &mut self.rounds)?;
                archive.flag("is_cut", &mut self.is_cut)?;
                archive.optional("radius", &mut self.radius)
            })?;
            archive.size("paid", &mut self.paid)?;
            archive.column("bytes", &mut self.bytes)?;
            archive.optional_column("rest", &mut self.rest)?;
            archive.array("triple", &mut self.triple)?;
            archive.records(
                &mut self.entries,
                &Entry::default(),
                &[
                    ("entry.index", Field::U32(&|entry| &mut entry.index)),
                    ("entry.weight", Field::F32(&|entry| &mut entry.weight)),
                    ("entry.sum", Field::F64(&|entry| &mut entry.sum)),
                    ("entry.seen", Field::U8(&|entry| &mut entry.is_seen)),
                    (
                        "entry.round",
                        Field::Number(&|entry| entry.round as f64, &|entry, round| entry.round = round as u64),
                    ),
                ],
            )
        }
    }

    fn whole() -> Whole {
        let entry = |at: u32| Entry {
            index: at,
            weight: at as f32 / 3.0,
            sum: f64::from(at).sqrt(),
            is_seen: 1,
            round: 1 << at,
        };
        Whole {
            rate: 0.1,
            rounds: 7,
            is_cut: true,
            radius: None,
            paid: 2.5,
            bytes: b"text".to_vec(),
            rest: Vec::new(),
            triple: [1.0, -0.0, f64::MIN_POSITIVE],
            entries: (1..4).map(entry).collect(),
        }
    }

    fn saved() -> State {
        Archive::saved(|archive| whole().persist(archive)).unwrap()
    }

    #[test]
    fn what_is_loaded_is_what_was_saved() {
        for rest in [vec![], vec![7, 5]] {
            let state = Archive::saved(|archive| Whole { rest: rest.clone(), ..whole() }.persist(archive)).unwrap();
            assert_eq!(state.columns().contains_key("rest"), !rest.is_empty());
            let mut loaded = Whole { radius: Some(1.0), rest: vec![1], ..Whole::default() };
            loaded.persist(&mut Archive::loading(state)).unwrap();
            assert_eq!(loaded, Whole { rest, ..whole() });
        }
        assert_eq!(saved().number("inner.rounds").unwrap(), 7.0);
        assert_eq!(saved().columns()["entry.weight"], SavedColumn::F32(vec![1.0 / 3.0, 2.0 / 3.0, 1.0]));
    }

    #[test]
    fn what_cannot_be_is_refused_by_name() {
        let refused = |change: fn(&mut State)| {
            let mut state = saved();
            change(&mut state);
            Whole::default().persist(&mut Archive::loading(state)).unwrap_err().to_string()
        };
        for (change, said) in [
            ((|state| state.set("inner.rounds", 0.5)) as fn(&mut State), "'inner.rounds' must be a whole number"),
            (|state| state.set_column("triple", SavedColumn::F64(vec![1.0])), "'triple' must have 3 numbers"),
            (
                |state| state.set_column("triple", SavedColumn::F32(vec![1.0; 3])),
                "lacks 'triple', or holds it in another type",
            ),
            (|state| state.set_column("entry.sum", SavedColumn::F64(vec![1.0])), "'entry.sum' must be as long as"),
            (|state| state.set_column("entry.index", SavedColumn::U32(vec![])), "'entry.weight' must be as long as"),
            (
                |state| state.set_column("rest", SavedColumn::F64(vec![1.0])),
                "lacks 'rest', or holds it in another type",
            ),
            (|state| state.set("inner.is_cut", 0.5), "'inner.is_cut' must be 0 or 1"),
            (|state| state.set("paid", -1.0), "'paid' must be finite and not below 0"),
            (|state| state.set("paid", f64::NAN), "'paid' must be finite and not below 0"),
            (|state| state.set("paid", f64::INFINITY), "'paid' must be finite and not below 0"),
            (|state| state.set("rate", f64::INFINITY), "'rate' must be finite"),
        ] {
            let error = refused(change);
            assert!(error.contains(said), "{error}");
        }
    }
}
