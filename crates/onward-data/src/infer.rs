//! What the columns of a table are, judged from the first rows.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

use onward::feature::hash;
use onward::loss::Task;

use crate::encode::Cell;
use crate::error::{DataError, DataErrorKind, quoted};
use crate::interactions::{self, Interaction};
use crate::number::{self, Number};
use crate::options::{OnError, Options};
use crate::schema::{Column, Kind, Layout, Role, Schema};
use crate::target::{Expression, Operator, Target, TargetRule, boolean};
use crate::timestamp;

/// How many rows are looked at, at the most.
pub(crate) const SAMPLE_ROWS: usize = 10_000;
/// How many bytes are looked at, at the most.
pub(crate) const SAMPLE_BYTES: usize = 4 << 20;
/// A string column whose values never repeat in so many rows is an identifier.
const ROWS_FOR_IDENTIFIER: usize = 20;
/// A column with so many numbers (or dates), and at most one value in so many that is none, is
/// one of them: the others are mistakes, or stand for missing values.
const ROWS_TO_TRUST: usize = 20;
const ROWS_FOR_ONE_STRAY: usize = 20;
/// Two classes of which one is a number are believed in so many rows.
const ROWS_FOR_MIXED_CLASSES: usize = 20;
/// A string column of more words than this on average is text.
const WORDS_FOR_TEXT: f64 = 3.0;

/// A JSON key that fewer than one row in so many has is not worth a column: each row
/// without it would say that it is missing.
const ROWS_FOR_ONE_RARE: usize = 20;

/// Numbers of 64 bits, of which most are looked up to find that they are there: the hasher of the standard library would
/// take a third of the time that it takes to judge the columns.
type Numbers = HashSet<u64, BuildHasherDefault<Folding>>;

/// Hashes a number by both halves of its product with one that has no pattern.
#[derive(Default)]
struct Folding(u64);

impl Hasher for Folding {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(self.0 ^ u64::from(byte));
        }
    }

    fn write_u64(&mut self, number: u64) {
        let product = u128::from(number) * 0x9e37_79b9_7f4a_7c15;
        self.0 = product as u64 ^ (product >> 64) as u64;
    }
}

/// What was seen of a column in the first rows.
#[derive(Debug, Default, Clone)]
pub(crate) struct Seen {
    missing: usize,
    numbers: usize,
    integers: usize,
    booleans: usize,
    moments: usize,
    others: usize,
    sets: usize,
    /// JSON's strings, which are text even when they look like numbers.
    strings: usize,
    words: usize,
    zeros: usize,
    ones: usize,
    minus_ones: usize,
    distinct: Numbers,
    /// The bits of the distinct numbers.
    values: Numbers,
    /// The first few distinct values, as text.
    examples: Vec<String>,
    /// The first few distinct values that are no numbers, and how often each was seen.
    strays: Vec<(String, usize)>,
    first_number: Option<f64>,
    first_days: Option<f64>,
    smallest: f64,
    largest: f64,
}

/// Whether a number is a whole one, or so large that it has no digits behind its point.
fn is_whole(value: f64) -> bool {
    (value as i64) as f64 == value || value.abs() >= 9_007_199_254_740_992.0
}

/// How many distinct values are kept as text.
const KEPT_EXAMPLES: usize = 3;

impl Seen {
    fn present(&self) -> usize {
        self.numbers + self.booleans + self.moments + self.others
    }

    /// Takes in a cell of CSV.
    pub(crate) fn text(&mut self, text: &[u8]) {
        let trimmed = text.trim_ascii();
        match number::parse(trimmed) {
            Number::Missing => self.missing += 1,
            Number::Finite(value) => self.number(value, trimmed),
            Number::Infinite => self.number(f64::INFINITY, trimmed),
            Number::Invalid => self.word(trimmed),
        }
    }

    /// Takes in a cell where a comma in a number can only be meant as its point: it stays a
    /// number, which the parser refuses by its line.
    pub(crate) fn text_with_commas(&mut self, text: &[u8]) {
        match number::with_point(text.trim_ascii()) {
            Some(value) => self.number(value, text.trim_ascii()),
            None => self.text(text),
        }
    }

    /// Takes in a cell of a format with types.
    pub(crate) fn cell(&mut self, cell: Cell<'_>) {
        match cell {
            Cell::Missing => self.missing += 1,
            Cell::Number(value) if value.is_nan() => self.missing += 1,
            Cell::Number(value) => self.number(value, value.to_string().as_bytes()),
            Cell::Boolean(flag) => {
                self.booleans += 1;
                self.value(flag.to_string().as_bytes());
            }
            Cell::Moment(moment) => {
                self.moments += 1;
                self.first_days.get_or_insert(moment.days);
                self.value(&moment.days.to_le_bytes());
            }
            Cell::Text(text) if number::is_missing(text.trim_ascii()) => self.missing += 1,
            Cell::Text(text) => {
                self.strings += 1;
                self.word(text.trim_ascii());
            }
        }
    }

    /// Takes in a set of strings.
    pub(crate) fn set(&mut self) {
        self.sets += 1;
    }

    /// Counts a row that lacks the column.
    pub(crate) fn lacks(&mut self, rows: usize) {
        self.missing += rows;
    }

    fn number(&mut self, value: f64, text: &[u8]) {
        if self.numbers == 0 {
            (self.smallest, self.largest) = (value, value);
        }
        self.numbers += 1;
        self.integers += usize::from(is_whole(value));
        self.zeros += usize::from(value == 0.0);
        self.ones += usize::from(value == 1.0);
        self.minus_ones += usize::from(value == -1.0);
        self.first_number.get_or_insert(value);
        self.smallest = self.smallest.min(value);
        self.largest = self.largest.max(value);
        if self.value(text) {
            self.values.insert((value + 0.0).to_bits());
        }
    }

    fn word(&mut self, text: &[u8]) {
        if let Some(moment) = timestamp::parse(text.trim_ascii()) {
            self.moments += 1;
            self.first_days.get_or_insert(moment.days);
        } else if boolean(text).is_some() {
            self.booleans += 1;
        } else {
            self.others += 1;
        }
        self.words += text.split(|byte| byte.is_ascii_whitespace()).filter(|word| !word.is_empty()).count();
        let has_room = self.strays.len() < KEPT_EXAMPLES;
        match self.strays.iter_mut().find(|(stray, _)| stray.as_bytes() == text) {
            Some((_, count)) => *count += 1,
            None if has_room => self.strays.push((String::from_utf8_lossy(text).into_owned(), 1)),
            None => {}
        }
        self.value(text);
    }

    /// Takes in the text of a value, without blanks around it; whether it is a new one.
    fn value(&mut self, text: &[u8]) -> bool {
        let is_new = self.distinct.insert(hash::seed(text));
        if is_new && self.examples.len() < KEPT_EXAMPLES {
            self.examples.push(String::from_utf8_lossy(text).into_owned());
        }
        is_new
    }

    fn is_constant(&self) -> bool {
        self.missing == 0 && self.distinct.len() == 1 && self.present() > 1
    }

    /// Whether so many values are of one kind that the column is, be it with a few that are not.
    fn is_of(&self, count: usize) -> bool {
        let strays = self.present() - count;
        count > 0 && (strays == 0 || count >= ROWS_TO_TRUST && strays * ROWS_FOR_ONE_STRAY <= self.present())
    }

    /// The most frequent of the values that are no numbers, if it repeats.
    fn repeated_stray(&self) -> Option<&(String, usize)> {
        self.strays.iter().max_by_key(|(_, count)| *count).filter(|(_, count)| *count > 1)
    }

    /// The one value that is no number, if it repeats among many numbers: perhaps it stands
    /// for missing ones.
    fn only_stray(&self) -> Option<&(String, usize)> {
        let is_only = |(_, count): &&(String, usize)| self.numbers + count == self.present();
        self.repeated_stray().filter(is_only).filter(|_| self.numbers >= ROWS_TO_TRUST)
    }

    /// A number or truth value that most rows lack, as the words of a bag in JSON.
    fn is_rare(&self, rows: usize) -> bool {
        let present = self.present();
        present > 0 && present < rows / ROWS_FOR_ONE_RARE && (self.numbers == present || self.booleans == present)
    }

    fn is_identifier(&self) -> bool {
        self.present() >= ROWS_FOR_IDENTIFIER && self.distinct.len() == self.present()
    }

    fn is_text(&self) -> bool {
        self.words as f64 > WORDS_FOR_TEXT * self.present() as f64 && 2 * self.distinct.len() > self.present()
    }
}

/// The first rows of a table: column names in order of appearance, with what was seen.
#[derive(Debug, Default)]
pub(crate) struct Sample {
    pub(crate) names: Vec<String>,
    pub(crate) seen: Vec<Seen>,
    pub(crate) rows: usize,
    /// Whether rows may lack columns and have others: JSON.
    pub(crate) is_open: bool,
    /// What is wrong with the first row that cannot be read.
    pub(crate) fault: Option<DataError>,
    places: HashMap<String, usize>,
}

impl Sample {
    pub(crate) fn with_columns(names: Vec<String>) -> Self {
        let seen = vec![Seen::default(); names.len()];
        Self { names, seen, ..Self::default() }
    }

    /// No columns yet: they are met in the rows.
    pub(crate) fn open() -> Self {
        Self { is_open: true, ..Self::default() }
    }

    /// The place of the column of a name, which may be a new one.
    pub(crate) fn column(&mut self, name: &str) -> usize {
        if let Some(&at) = self.places.get(name) {
            return at;
        }
        let at = self.names.len();
        self.places.insert(name.to_owned(), at);
        self.names.push(name.to_owned());
        self.seen.push(Seen::default());
        at
    }

    fn find(&self, name: &str, what: &str) -> Result<usize, DataError> {
        self.names.iter().position(|other| other == name).ok_or_else(|| no_such_column(name, what, &self.names))
    }
}

/// A column that does not exist, with the nearest that does.
pub(crate) fn no_such_column(name: &str, what: &str, names: &[String]) -> DataError {
    let near =
        |other: &&String| (strsim::damerau_levenshtein(&name.to_lowercase(), &other.to_lowercase()), other.len());
    // In a short name every letter counts.
    let farthest = match name.chars().count() {
        0..=2 => 0,
        3..=5 => 1,
        length => length / 2,
    };
    let nearest = names.iter().min_by_key(near).filter(|other| near(other).0 <= farthest);
    let inside = format!("{name}.");
    let parts: Vec<_> = names.iter().filter(|other| other.starts_with(&inside)).cloned().collect();
    let remedy = match nearest {
        _ if parts.len() == 1 => format!("did you mean '{}'?", parts[0]),
        _ if !parts.is_empty() => format!("did you mean one of its parts? There are: {}", shown(&parts)),
        Some(nearest) => format!("did you mean '{nearest}'?"),
        None if names.is_empty() => "there are none".to_owned(),
        None => format!("there are: {}", shown(names)),
    };
    DataError::new(DataErrorKind::Options, format!("there is no column '{name}', named as {what}")).remedy(remedy)
}

/// Names in a list that does not get too long.
pub(crate) fn shown(names: &[String]) -> String {
    const LONGEST: usize = 12;
    const LONGEST_NAME: usize = 60;
    // A whole line may have been taken for a name.
    let short = |name: &String| match name.char_indices().nth(LONGEST_NAME) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name.clone(),
    };
    let mut text = names.iter().take(LONGEST).map(short).collect::<Vec<_>>().join(", ");
    if names.len() > LONGEST {
        text.push_str(&format!(" and {} more", names.len() - LONGEST));
    }
    text
}

/// A schema with what is to be said about it.
pub(crate) struct Inferred {
    pub(crate) schema: Schema,
    pub(crate) notes: Vec<String>,
    pub(crate) strays: Strays,
}

/// Of columns of numbers, by their place in the schema, the value that is none and stands
/// there more than once: perhaps it means that the number is missing.
pub(crate) type Strays = HashMap<usize, (String, usize)>;

/// Infers the schema of a table from its first rows.
pub(crate) fn table(sample: &Sample, options: &Options) -> Result<Inferred, DataError> {
    check_options(sample, options)?;
    let mut notes = Vec::new();
    // A bad row ends the run, and may be what makes the others look odd.
    let fault = sample.fault.as_ref().filter(|_| options.on_error == OnError::Stop);
    let fault_or = |error: DataError| fault.cloned().unwrap_or(error);
    let (expression, seen) = target_of(sample, options)?;
    let target = rule(expression, seen, options, &mut notes).map_err(fault_or)?;
    let mut slots = Slots { next: 1 };
    let mut groups = Groups::default();
    let mut columns = Vec::with_capacity(sample.names.len());
    let mut strays = Strays::new();
    for (name, seen) in sample.names.iter().zip(&sample.seen) {
        if sample.is_open && seen.is_rare(sample.rows) && !is_named(name, &target.column, options) {
            groups.rare.push(name.clone());
            continue;
        }
        let role = role(name, seen, &target.column, options, sample.rows, &mut slots, &mut groups);
        if let (Role::Feature(Kind::Numeric { .. }), Some(stray)) = (&role, seen.repeated_stray()) {
            strays.insert(columns.len(), stray.clone());
        }
        columns.push(Column { name: name.clone(), role });
    }
    notes.extend(groups.lines(sample.rows));
    if groups.features() == 0 {
        return Err(fault_or(nothing_left(&groups, sample.rows)));
    }
    let interactions = options.interactions.clone();
    interactions::check_columns(&interactions, &columns, &sample.names)?;
    notes.extend(interactions::note(&interactions));
    let (bits, ngrams) = (options.bits, options.ngrams);
    let schema = Schema { layout: Layout::Table, bits, ngrams, columns, target, interactions };
    Ok(Inferred { schema, notes, strays })
}

/// All columns are left out: for what reasons.
fn nothing_left(groups: &Groups, rows: usize) -> DataError {
    let reasons = groups.lines(rows);
    let error = |found| DataError::new(DataErrorKind::Format, found);
    if reasons.is_empty() {
        return error(
            "no column is left to learn from: there are only the target and what options leave out".to_owned(),
        )
        .remedy("is the format another one? Else name fewer columns in --ignore, --id and --weight");
    }
    error(format!("no column is left to learn from: {}", reasons.join("; ")))
        .remedy("name such columns in --numeric, --categorical or --text")
}

/// What the cells of a column hold, where a table is copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holds {
    Text,
    /// Whole numbers.
    Whole,
    Number,
    Boolean,
}

/// The schema of a table that is copied (all columns are ids), and what its columns hold.
pub(crate) fn copied(sample: &Sample, options: &Options) -> Result<(Schema, Vec<Holds>), DataError> {
    check_options(sample, options)?;
    let (mut columns, mut holds) = (Vec::new(), Vec::new());
    for (name, seen) in sample.names.iter().zip(&sample.seen) {
        let ignored = options.ignore.contains(name);
        if !ignored {
            holds.push(held(name, seen, options)?);
        }
        columns.push(Column { name: name.clone(), role: if ignored { Role::Ignored } else { Role::Id } });
    }
    // No column has this name: labels are all missing.
    let target = Target { column: String::new(), rule: TargetRule::Number };
    let interactions = Vec::new();
    let schema = Schema { layout: Layout::Table, bits: options.bits, ngrams: 1, columns, target, interactions };
    Ok((schema, holds))
}

fn held(name: &str, seen: &Seen, options: &Options) -> Result<Holds, DataError> {
    if seen.sets > 0 {
        return Err(DataError::new(DataErrorKind::Options, "holds lists, and a cell is one value")
            .column(name)
            .remedy(format!("leave it out with --ignore '{name}'")));
    }
    let named = |names: &[String]| names.iter().any(|other| other == name);
    let is_truth = |text: &String| matches!(text.as_str(), "true" | "false");
    Ok(match seen.present() {
        _ if named(&options.numeric) => Holds::Number,
        _ if named(&options.categorical) || named(&options.text) => Holds::Text,
        _ if seen.strings > 0 => Holds::Text,
        0 => Holds::Text,
        present if seen.numbers == present && seen.integers == present => Holds::Whole,
        present if seen.numbers == present => Holds::Number,
        present if seen.booleans == present && seen.examples.iter().all(is_truth) => Holds::Boolean,
        _ => Holds::Text,
    })
}

/// The schema of a format without columns, from the labels and the namespaces of the first rows.
pub(crate) fn labels(
    layout: Layout,
    seen: &Seen,
    namespaces: &[String],
    options: &Options,
) -> Result<Inferred, DataError> {
    let mut notes = Vec::new();
    let expression = Expression::parse(options.target.as_deref().unwrap_or("label"), &["label"])?;
    if expression.column != "label" {
        return Err(DataError::new(
            DataErrorKind::Options,
            format!("there is no column '{}' in this format", expression.column),
        )
        .remedy("its one target is called label: --target 'label==3', or leave --target out"));
    }
    for (flag, names) in table_options(options) {
        let fits = flag == "--ignore" && layout == Layout::Named;
        if !names.is_empty() && !fits {
            return Err(DataError::new(
                DataErrorKind::Options,
                format!("{flag} names columns, and this format has none"),
            )
            .remedy(format!("leave {flag} out")));
        }
    }
    let interactions = options.interactions.clone();
    if layout != Layout::Named {
        interactions::refuse(&interactions)?;
    }
    let target = rule(expression, seen, options, &mut notes)?;
    let columns = ignored_namespaces(namespaces, options)?;
    notes.extend(interactions::note(&interactions));
    notes.extend(interactions::check_namespaces(&interactions, &columns, namespaces)?);
    let schema = Schema { layout, bits: options.bits, ngrams: options.ngrams, columns, target, interactions };
    Ok(Inferred { schema, notes, strays: Strays::new() })
}

/// The namespaces that are left out, kept in the schema so that predicting leaves them out too.
fn ignored_namespaces(namespaces: &[String], options: &Options) -> Result<Vec<Column>, DataError> {
    let named = |name: &String| if name.is_empty() { "(unnamed)".to_owned() } else { name.clone() };
    let ignored = |name: &String| match namespaces.contains(name) {
        true => Ok(Column { name: name.clone(), role: Role::Ignored }),
        false => Err(DataError::new(
            DataErrorKind::Options,
            format!("there is no namespace '{name}' in the first rows, named as --ignore"),
        )
        .remedy(format!("there are: {}", shown(&namespaces.iter().map(named).collect::<Vec<_>>())))),
    };
    options.ignore.iter().map(ignored).collect()
}

/// The options that name columns.
fn table_options(options: &Options) -> [(&'static str, &[String]); 6] {
    let weight = options.weight.as_slice();
    [
        ("--ignore", &options.ignore),
        ("--categorical", &options.categorical),
        ("--numeric", &options.numeric),
        ("--text", &options.text),
        ("--id", &options.ids),
        ("--weight", weight),
    ]
}

/// Whether the user named the column.
fn is_named(name: &str, target: &str, options: &Options) -> bool {
    let mut named = table_options(options).into_iter();
    let mut multiplied = options.interactions.iter().flat_map(Interaction::groups);
    name == target
        || named.any(|(_, names)| names.iter().any(|other| other == name))
        || multiplied.any(|other| other == name)
}

/// Every column named in an option exists and is named in one only.
fn check_options(sample: &Sample, options: &Options) -> Result<(), DataError> {
    let named = table_options(options);
    for (at, (flag, names)) in named.iter().enumerate() {
        for name in *names {
            sample.find(name, flag)?;
            let other = named[..at].iter().find(|(_, others)| others.contains(name));
            // An id may be a feature too? No: then it would be learnt by heart.
            if let Some((other, _)) = other {
                return Err(twice(name, other, flag));
            }
        }
    }
    Ok(())
}

fn twice(name: &str, first: &str, second: &str) -> DataError {
    DataError::new(DataErrorKind::Options, format!("column '{name}' is named as {first} and as {second}"))
        .remedy("name it in one of the two")
}

/// The target as the user wrote it, and what was seen of its column.
fn target_of<'s>(sample: &'s Sample, options: &Options) -> Result<(Expression, &'s Seen), DataError> {
    let names: Vec<_> = sample.names.iter().map(String::as_str).collect();
    let Some(text) = &options.target else {
        return Err(DataError::new(DataErrorKind::Options, "the column to predict is not named")
            .remedy(format!("name it with --target; there are: {}", shown(&sample.names))));
    };
    let expression = Expression::parse(text, &names)?;
    let at = sample.find(&expression.column, "--target")?;
    for (flag, names) in table_options(options) {
        if names.contains(&expression.column) {
            return Err(twice(&expression.column, "--target", flag));
        }
    }
    Ok((expression, &sample.seen[at]))
}

/// How the values of the target become labels.
fn rule(expression: Expression, seen: &Seen, options: &Options, notes: &mut Vec<String>) -> Result<Target, DataError> {
    let column = expression.column;
    let rule = match expression.comparison {
        Some(rule) if options.task == Some(Task::Regression) => {
            let target = Target { column, rule };
            return Err(DataError::new(
                DataErrorKind::Options,
                format!("the target {target} makes two classes, and the task is regression"),
            )
            .remedy("leave out the comparison, or --task"));
        }
        Some(TargetRule::Comparison { operator, with, .. }) => {
            check_value(&column, operator, &with, seen, notes)?;
            let numeric = seen.numbers > 0 && are_numbers(seen) && number_of(&with).is_some();
            TargetRule::Comparison { operator, with, numeric }
        }
        Some(rule) => rule,
        None => match options.task {
            Some(Task::Regression) => TargetRule::Number,
            Some(Task::Binary) => binary_rule(&column, seen)?,
            _ => inferred_rule(&column, seen)?,
        },
    };
    let target = Target { column, rule };
    notes.extend(assumed(&target, seen, options.task));
    notes.push(match &target.rule {
        TargetRule::Number => format!("target: {target} (regression)"),
        TargetRule::Classes { negative, positive } => {
            format!("target: {}, {positive} against {negative} (binary)", target.column)
        }
        TargetRule::Probability => format!("target: {target} (a probability, binary)"),
        TargetRule::Signs => format!("target: {target}, 1 against 0 or -1 (binary)"),
        TargetRule::Comparison { .. } => format!("target: {target} (binary)"),
    });
    Ok(target)
}

/// What the rule is worth where the first rows have no label.
fn assumed(target: &Target, seen: &Seen, task: Option<Task>) -> Option<String> {
    if seen.present() > 0 {
        return None;
    }
    let column = &target.column;
    Some(match &target.rule {
        TargetRule::Number if task == Some(Task::Regression) => {
            format!("all labels are missing in the first rows of '{column}'")
        }
        TargetRule::Number => format!(
            "all labels are missing in the first rows of '{column}': regression is assumed (else say --task binary, \
             or --target '{column}==CLASS')"
        ),
        TargetRule::Comparison { .. } => format!("all labels are missing in the first rows of '{column}'"),
        _ => format!(
            "all labels are missing in the first rows of '{column}': 1 against 0 or -1 is assumed (else say --target \
             '{column}==CLASS')"
        ),
    })
}

fn number_of(text: &str) -> Option<f64> {
    match number::parse(text.as_bytes()) {
        Number::Finite(value) => Some(value),
        _ => None,
    }
}

/// Looks whether the value that a target is compared with can occur, and whether both
/// classes do. Who compares numbers with a word has probably mistaken the column; a class may
/// be met later.
fn check_value(
    column: &str,
    operator: Operator,
    with: &str,
    seen: &Seen,
    notes: &mut Vec<String>,
) -> Result<(), DataError> {
    if seen.present() == 0 {
        return Ok(());
    }
    let examples = shown(&seen.examples);
    let number = number_of(with);
    if let Some(threshold) = number.filter(|_| !matches!(operator, Operator::Equal | Operator::NotEqual)) {
        if seen.numbers > 0 && is_one_sided(operator, threshold, seen) {
            notes.push(format!(
                "only one class in the first rows: '{column}' goes from {} to {} there, compared with {with}",
                seen.smallest, seen.largest
            ));
        }
        return Ok(());
    }
    let occurs = match number {
        Some(number) => seen.values.contains(&(number + 0.0).to_bits()),
        None => seen.distinct.contains(&hash::seed(with.as_bytes())),
    };
    if occurs {
        return Ok(());
    }
    if number.is_none() && seen.numbers == seen.present() {
        let found = format!("the target is compared with '{with}', and '{column}' holds only numbers: {examples}, …");
        return Err(DataError::new(DataErrorKind::Options, found)
            .remedy(format!("compare with a number, --target '{column}==1', or name another column")));
    }
    notes.push(format!("'{with}' does not occur in the first rows of '{column}', which holds {examples}, …"));
    Ok(())
}

/// Whether all numbers are on one side of a threshold.
fn is_one_sided(operator: Operator, threshold: f64, seen: &Seen) -> bool {
    match operator {
        Operator::Greater | Operator::LessOrEqual => seen.largest <= threshold || seen.smallest > threshold,
        _ => seen.largest < threshold || seen.smallest >= threshold,
    }
}

/// Whether so many of a target's values are of one kind that the others are mistakes. Of two
/// distinct values each may be a class; of more, one stray is a mistake in any number of rows.
fn are_nearly_all(count: usize, seen: &Seen) -> bool {
    let strays = seen.present() - count;
    let few = strays * ROWS_FOR_ONE_STRAY <= seen.present().max(ROWS_FOR_ONE_STRAY);
    count > strays && (strays == 0 || few && (seen.distinct.len() > 2 || count >= ROWS_TO_TRUST))
}

fn are_numbers(seen: &Seen) -> bool {
    are_nearly_all(seen.numbers, seen)
}

fn are_signs(seen: &Seen) -> bool {
    let numbers_fit = seen.integers == seen.numbers
        && seen.largest <= 1.0
        && (seen.smallest >= 0.0 || seen.smallest == -1.0 && seen.zeros == 0);
    are_numbers(seen) && numbers_fit || are_nearly_all(seen.booleans, seen)
}

/// The rule when the user did not say what the task is.
fn inferred_rule(column: &str, seen: &Seen) -> Result<TargetRule, DataError> {
    match seen.present() {
        0 => Ok(TargetRule::Number),
        _ if are_signs(seen) => Ok(TargetRule::Signs),
        _ if are_numbers(seen) => Ok(TargetRule::Number),
        _ => binary_rule(column, seen),
    }
}

/// The rule for two classes.
fn binary_rule(column: &str, seen: &Seen) -> Result<TargetRule, DataError> {
    if seen.present() == 0 || are_signs(seen) {
        return Ok(TargetRule::Signs);
    }
    if are_numbers(seen) && seen.smallest >= 0.0 && seen.largest <= 1.0 {
        return Ok(TargetRule::Probability);
    }
    if are_nearly_all(seen.ones + seen.zeros.max(seen.minus_ones), seen) {
        return Ok(TargetRule::Signs);
    }
    let mut classes = seen.examples.clone();
    classes.sort();
    let is_mixed = seen.numbers > 0 && seen.numbers < seen.present();
    let (found, remedy) = match (classes.as_slice(), seen.distinct.len()) {
        ([negative, positive], 2) if is_mixed && seen.present() < ROWS_FOR_MIXED_CLASSES => (
            format!(
                "has two values in the first rows, {negative} and {positive}, of which one is a number and one is none"
            ),
            format!(
                "if they are two classes, say which is positive: --target '{column}=={positive}'; if one is a \
                 mistake, mend it, or say --task regression to be told where it is"
            ),
        ),
        ([negative, positive], 2) => {
            return Ok(TargetRule::Classes { negative: negative.clone(), positive: positive.clone() });
        }
        ([only], 1) => (
            format!("is always '{only}' in the first rows"),
            format!("say which class is positive: --target '{column}=={only}'"),
        ),
        _ => (
            format!("has more than two values in the first rows: {}, …{}", shown(&classes), strays_among_numbers(seen)),
            format!(
                "say which is positive, --target '{column}=={}', or for numbers compare, --target '{column}>0'",
                classes.first().map_or("", String::as_str)
            ),
        ),
    };
    Err(DataError::new(DataErrorKind::Options, format!("target '{column}' {found}")).remedy(remedy))
}

/// What keeps a target from being a number.
fn strays_among_numbers(seen: &Seen) -> String {
    if seen.numbers == 0 || seen.strays.is_empty() {
        return String::new();
    }
    let words: Vec<_> = seen.strays.iter().map(|(word, _)| quoted(word.as_bytes())).collect();
    format!(" ({} of {} are no numbers: {}, …)", seen.present() - seen.numbers, seen.present(), shown(&words))
}

/// Hands out indices that never collide.
struct Slots {
    next: u32,
}

impl Slots {
    fn take(&mut self) -> u32 {
        self.next += 2;
        self.next - 2
    }
}

/// Columns by what became of them, for the notes.
#[derive(Default)]
struct Groups {
    numeric: Vec<String>,
    categorical: Vec<String>,
    boolean: Vec<String>,
    timestamp: Vec<String>,
    text: Vec<String>,
    constant: Vec<String>,
    identifiers: Vec<String>,
    mixed: Vec<String>,
    /// Of mixed ones, what may stand for a missing value.
    markers: Vec<String>,
    empty: Vec<String>,
    sets: Vec<String>,
    rare: Vec<String>,
}

impl Groups {
    fn features(&self) -> usize {
        let groups = [
            &self.numeric,
            &self.categorical,
            &self.boolean,
            &self.timestamp,
            &self.text,
            &self.mixed,
            &self.sets,
            &self.rare,
        ];
        groups.iter().map(|names| names.len()).sum()
    }

    fn lines(&self, rows: usize) -> Vec<String> {
        let say = |names: &[String], what: &str| (!names.is_empty()).then(|| format!("{what}: {}", shown(names)));
        let lines = [
            say(&self.numeric, "numbers"),
            say(&self.boolean, "true or false"),
            say(&self.categorical, "categories"),
            say(&self.sets, "sets"),
            say(
                &self.rare,
                &format!(
                    "in fewer than 1 of {ROWS_FOR_ONE_RARE} rows, hashed by name and not missed elsewhere (else name them in --numeric or --categorical)"
                ),
            ),
            say(&self.timestamp, "dates (hour, weekday, month, days)"),
            say(&self.text, "text (words)"),
            say(&self.mixed, "taken as categories since some values are no numbers (else name them in --numeric)"),
            say(
                &self.empty,
                &format!(
                    "taken as categories since they are empty in the first {rows} rows (else name them in --numeric)"
                ),
            ),
            say(&self.constant, &format!("constant in the first {rows} rows, ignored until they change")),
            say(
                &self.identifiers,
                &format!(
                    "ignored since no value repeats in the first {rows} rows (else name them in --categorical or --text)"
                ),
            ),
        ];
        lines.into_iter().flatten().chain(self.markers.iter().cloned()).collect()
    }
}

fn role(
    name: &str,
    seen: &Seen,
    target: &str,
    options: &Options,
    rows: usize,
    slots: &mut Slots,
    groups: &mut Groups,
) -> Role {
    let named = |names: &[String]| names.iter().any(|other| other == name);
    if name == target {
        return Role::Target;
    }
    if named(options.weight.as_slice()) {
        return Role::Weight;
    }
    if named(&options.ids) {
        return Role::Id;
    }
    if named(&options.ignore) {
        return Role::Ignored;
    }
    if named(&options.numeric) {
        groups.numeric.push(name.to_owned());
        return Role::Feature(Kind::Numeric { slot: slots.take(), origin: None });
    }
    if named(&options.categorical) {
        groups.categorical.push(name.to_owned());
        return Role::Feature(Kind::Categorical { origin: None });
    }
    if named(&options.text) {
        groups.text.push(name.to_owned());
        return Role::Feature(Kind::Text);
    }
    inferred_role(name, seen, rows, slots, groups)
}

fn inferred_role(name: &str, seen: &Seen, rows: usize, slots: &mut Slots, groups: &mut Groups) -> Role {
    let present = seen.present();
    let constant = seen.is_constant() && rows > 1;
    let mut note = |group: fn(&mut Groups) -> &mut Vec<String>| {
        let group = if constant { &mut groups.constant } else { group(groups) };
        group.push(name.to_owned());
    };
    if present == 0 {
        let (is_set, empty): (bool, fn(&mut Groups) -> &mut Vec<String>) = (seen.sets > 0, |groups| &mut groups.empty);
        note(if is_set { |groups| &mut groups.sets } else { empty });
        return Role::Feature(Kind::Categorical { origin: None });
    }
    if seen.is_of(seen.numbers) {
        note(|groups| &mut groups.numeric);
        let origin = seen.first_number.filter(|origin| constant && origin.is_finite());
        return Role::Feature(Kind::Numeric { slot: slots.take(), origin });
    }
    if seen.is_of(seen.moments) && !constant {
        note(|groups| &mut groups.timestamp);
        return Role::Feature(Kind::Timestamp { slot: slots.take(), origin: seen.first_days.unwrap_or(0.0) });
    }
    if seen.booleans == present && seen.distinct.len() == 2 {
        note(|groups| &mut groups.boolean);
        return Role::Feature(Kind::Boolean { slot: slots.take() });
    }
    if seen.is_text() {
        note(|groups| &mut groups.text);
        return Role::Feature(Kind::Text);
    }
    if seen.is_identifier() {
        note(|groups| &mut groups.identifiers);
        return Role::Ignored;
    }
    note(if seen.numbers > 0 { |groups| &mut groups.mixed } else { |groups| &mut groups.categorical });
    if let Some((word, count)) = seen.only_stray() {
        // Strings that are told from numbers are JSON's.
        let missing = if seen.strings > 0 { "null" } else { "an empty cell or NA" };
        groups.markers.push(format!(
            "all values of '{name}' but {count} times {} are numbers: if it stands for a missing value, write \
             {missing}",
            quoted(word.as_bytes())
        ));
    }
    let origin = seen.examples.first().filter(|_| constant).cloned();
    Role::Feature(Kind::Categorical { origin })
}
