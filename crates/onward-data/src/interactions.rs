//! Interactions: products of features from two to eight groups, made as rows are read.
//!
//! A group is a column of a table, or a namespace of Vowpal Wabbit's text. `a*b` is each
//! feature of `a` times each of `b`. The term `*` stands for every group: `a * *` is `a` with
//! each, itself among them, `* * *` are all pairs. Of two interactions of the same groups the first is
//! made. Groups take the order in which the interaction names them; those that `*` stands
//! for, the order of the columns, or of the names of the namespaces.
//!
//! Where a group meets itself (`a*a`), each unordered combination of its features is made
//! once, those of a feature with itself among them. Only of a table's features that are 1 where
//! they are there (categories, elements of sets, truth values) there are no such squares: they
//! would say nothing new.
//!
//! The value is the product of the values, in 64 bits, then narrowed to 32; zeros are dropped. The index
//! is that of the hash [`onward::feature::hash::product`] of the indices. The bias and
//! indicators of missing values belong to no group.

use std::collections::HashSet;
use std::fmt;
use std::str::FromStr;

use onward::feature::hash;
use onward::model::Names;
use serde::{Deserialize, Serialize};

use crate::encode::NamesSeen;
use crate::error::{DataError, DataErrorKind, quoted};
use crate::infer;
use crate::parsed::Parsed;
use crate::schema::{Column, Kind, Layout, Role, Schema};
use crate::sparse::MEND;

/// The most groups of an interaction: the product of so many 32-bit floats is a 64-bit one.
const MOST_TERMS: usize = 8;
/// The most products of a row, and the most combinations of groups.
const MOST_PRODUCTS: u64 = 1_000_000;
/// The group of features that take part in no interaction.
const NONE: u32 = u32::MAX;

/// What is multiplied with what: `a*b`.
///
/// ```
/// use onward_data::Interaction;
/// let all = Interaction::list("carrier*origin, \"a*b\"*c, hour * *")?;
/// assert_eq!(all.len(), 3);
/// assert_eq!(all[1].to_string(), "\"a*b\"*c");
/// assert!("carrier".parse::<Interaction>().is_err());
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Interaction {
    terms: Vec<Term>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Term {
    /// A column or namespace.
    Group(String),
    /// Each of them.
    Every,
}

impl Interaction {
    /// Interactions separated by commas. Names that hold `*`, a comma or a quote stand in double
    /// quotes, with those in them doubled. Blanks around terms do not count.
    ///
    /// # Errors
    /// When a term or an asterisk between terms is missing, or there are fewer than two terms or more
    /// than eight.
    pub fn list(text: &str) -> Result<Vec<Self>, String> {
        let mut rest = text;
        let mut interactions = Vec::new();
        loop {
            let start = rest;
            let mut terms = Vec::new();
            let is_last = loop {
                terms.push(term(&mut rest, text)?);
                rest = rest.trim_start();
                match rest.chars().next() {
                    Some('*') => rest = &rest[1..],
                    Some(',') => break false,
                    None => break true,
                    Some(_) => return Err(no_separator(text, rest)),
                }
            };
            if !(2..=MOST_TERMS).contains(&terms.len()) {
                let shown = &start[..start.len() - rest.len()];
                return Err(wrong_length(shown.trim(), terms.len()));
            }
            interactions.push(Self { terms });
            if is_last {
                return Ok(interactions);
            }
            rest = &rest[1..];
        }
    }

    /// Names of the columns or namespaces, without those that `*` stands for.
    pub(crate) fn groups(&self) -> impl Iterator<Item = &str> {
        self.terms.iter().filter_map(|term| match term {
            Term::Group(name) => Some(name.as_str()),
            Term::Every => None,
        })
    }

    fn has_wildcards(&self) -> bool {
        self.terms.contains(&Term::Every)
    }
}

/// Takes a term from the head of `rest`.
fn term(rest: &mut &str, whole: &str) -> Result<Term, String> {
    *rest = rest.trim_start();
    match rest.chars().next() {
        Some('*') => {
            *rest = &rest[1..];
            Ok(Term::Every)
        }
        Some('"') => quoted_name(rest).ok_or_else(|| format!("a quote in '{whole}' is opened and never closed")),
        _ => {
            let end = rest.find(['*', ',', '"']).unwrap_or(rest.len());
            let name = rest[..end].trim_end();
            if name.is_empty() {
                return Err(format!(
                    "a name is missing in '{whole}': an interaction is a*b, columns or namespaces with * between \
                     them, or * as one of them for each (a * *)"
                ));
            }
            *rest = &rest[end..];
            Ok(Term::Group(name.to_owned()))
        }
    }
}

/// Takes a name in quotes from the head of `rest`.
fn quoted_name(rest: &mut &str) -> Option<Term> {
    let mut name = String::new();
    let mut tail = &rest[1..];
    loop {
        let end = tail.find('"')?;
        name.push_str(&tail[..end]);
        tail = &tail[end + 1..];
        match tail.strip_prefix('"') {
            Some(after) => {
                name.push('"');
                tail = after;
            }
            None => break,
        }
    }
    *rest = tail;
    Some(Term::Group(name))
}

fn no_separator(whole: &str, rest: &str) -> String {
    format!(
        "expected * or a comma before {} in '{whole}': the first of two asterisks side by side may be a term, which \
         stands for every column or namespace (* * b), and a name with * or a comma in it goes into double quotes",
        quoted(rest.as_bytes())
    )
}

fn wrong_length(shown: &str, terms: usize) -> String {
    match terms {
        1 if shown == "*" => "'*' alone is no interaction: write '* * *' for all pairs".to_owned(),
        1 => format!("'{shown}' names one column or namespace: an interaction is of two or more, as in {shown}*other"),
        _ => format!("'{shown}' is of {terms} columns or namespaces: an interaction is of {MOST_TERMS} at the most"),
    }
}

impl FromStr for Interaction {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut list = Self::list(text)?;
        match (list.pop(), list.is_empty()) {
            (Some(one), true) => Ok(one),
            _ => Err(format!("'{text}' holds several interactions, and one is wanted")),
        }
    }
}

impl TryFrom<String> for Interaction {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Interaction> for String {
    fn from(interaction: Interaction) -> Self {
        interaction.to_string()
    }
}

impl fmt::Display for Interaction {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        // With a wildcard the asterisks need some air.
        let between = if self.has_wildcards() { " * " } else { "*" };
        for (at, term) in self.terms.iter().enumerate() {
            out.write_str(if at > 0 { between } else { "" })?;
            match term {
                Term::Every => out.write_str("*")?,
                Term::Group(name) if name.is_empty() || name.trim() != name || name.contains(['*', ',', '"']) => {
                    write!(out, "\"{}\"", name.replace('"', "\"\""))?;
                }
                Term::Group(name) => out.write_str(name)?,
            }
        }
        Ok(())
    }
}

/// Refuses interactions in a format without groups.
pub(crate) fn refuse(interactions: &[Interaction]) -> Result<(), DataError> {
    let Some(first) = interactions.first() else {
        return Ok(());
    };
    let found = format!("the interaction '{first}' is of columns or namespaces, and this format has neither");
    Err(DataError::new(DataErrorKind::Options, found)
        .remedy("leave --interactions out, or convert a table or Vowpal Wabbit's text with it"))
}

/// Refuses interactions of columns that have no features; `names` are all that there are.
pub(crate) fn check_columns(
    interactions: &[Interaction],
    columns: &[Column],
    names: &[String],
) -> Result<(), DataError> {
    for name in interactions.iter().flat_map(Interaction::groups) {
        let Some(column) = columns.iter().find(|column| column.name == name) else {
            return Err(infer::no_such_column(name, "--interactions", names));
        };
        let reason = match column.role {
            Role::Feature(_) => continue,
            Role::Target => "the target",
            Role::Weight => "the weight",
            Role::Id => "an id",
            Role::Ignored => "left out",
        };
        let found = format!("column '{name}' is {reason}, and named as --interactions, which are of features");
        let error = DataError::new(DataErrorKind::Options, found);
        return Err(match column.role {
            Role::Ignored => error.remedy(format!("leave it out there too, or name it in --categorical '{name}'")),
            _ => error.remedy("leave it out there"),
        });
    }
    let crosses = Crosses::of_columns(interactions, columns);
    crosses.map(drop).map_err(|count| {
        let found = format!("--interactions stand for {count} combinations of columns");
        DataError::new(DataErrorKind::Options, found)
            .remedy(format!("{MOST_PRODUCTS} are allowed: name columns instead of *, or --ignore some"))
    })
}

/// Refuses interactions of namespaces that are left out, and notes those that the first rows
/// do not have.
pub(crate) fn check_namespaces(
    interactions: &[Interaction],
    ignored: &[Column],
    namespaces: &[String],
) -> Result<Vec<String>, DataError> {
    let mut notes: Vec<String> = Vec::new();
    for name in interactions.iter().flat_map(Interaction::groups) {
        if name.is_empty() || name.contains([' ', '\t', ':', '|', '\n', '\r']) {
            let found = format!("{} can be no namespace, and is named as --interactions", quoted(name.as_bytes()));
            return Err(DataError::new(DataErrorKind::Options, found)
                .remedy("names hold no blank, colon or bar; the namespace without a name is met by * alone"));
        }
        if ignored.iter().any(|column| column.name == name) {
            let found = format!("namespace '{name}' is named as --ignore and as --interactions");
            return Err(DataError::new(DataErrorKind::Options, found).remedy("name it in one of the two"));
        }
        if !namespaces.iter().any(|other| other == name) {
            let there: Vec<_> = namespaces.iter().filter(|name| !name.is_empty()).cloned().collect();
            let there = if there.is_empty() { "none with a name".to_owned() } else { infer::shown(&there) };
            let note = format!("--interactions: no namespace '{name}' in the first rows; there are: {there}");
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
    }
    Ok(notes)
}

/// Whether the interactions of a schema are of groups that it has.
pub(crate) fn fit(schema: &Schema) -> bool {
    let interactions = &schema.interactions;
    match schema.layout {
        Layout::Indexed => interactions.is_empty(),
        Layout::Named => true,
        Layout::Table => {
            let is_group = |name: &str| features(&schema.columns).any(|column| column.name == name);
            interactions.iter().flat_map(Interaction::groups).all(is_group)
                && Crosses::of_columns(interactions, &schema.columns).is_ok()
        }
    }
}

/// What is said of the interactions of a run.
pub(crate) fn note(interactions: &[Interaction]) -> Option<String> {
    let names: Vec<_> = interactions.iter().map(ToString::to_string).collect();
    (!names.is_empty()).then(|| format!("interactions: {}", infer::shown(&names)))
}

/// A group in a combination.
#[derive(Debug, Clone, Copy)]
struct Level {
    group: u32,
    /// The nearest level before it of the same group: combinations that differ in order alone
    /// are made once.
    same: Option<u8>,
}

/// Combinations of groups, by number, one after the other.
#[derive(Debug, Default)]
struct Crosses {
    levels: Vec<Level>,
    ends: Vec<usize>,
    /// The groups of each in order of number, with its place: to find those that are equal.
    keys: Vec<([u32; MOST_TERMS], usize)>,
}

impl Crosses {
    /// The combinations of a table's columns, or how many there would be if they are too many.
    fn of_columns(interactions: &[Interaction], columns: &[Column]) -> Result<Self, u64> {
        let names: Vec<_> = features(columns).map(|column| column.name.as_str()).collect();
        let mut crosses = Self::default();
        crosses.expand(interactions, names.len(), |name| names.iter().position(|other| *other == name))?;
        Ok(crosses)
    }

    fn clear(&mut self) {
        self.levels.clear();
        self.ends.clear();
        self.keys.clear();
    }

    fn iter(&self) -> impl Iterator<Item = &[Level]> {
        self.ends.iter().scan(0, |start, &end| Some(&self.levels[std::mem::replace(start, end)..end]))
    }

    /// Makes the combinations of `groups` groups, or tells how many there would be if they are too
    /// many. An interaction of a group that is not found gives none.
    fn expand(
        &mut self,
        interactions: &[Interaction],
        groups: usize,
        find: impl Fn(&str) -> Option<usize>,
    ) -> Result<(), u64> {
        self.clear();
        let count = interactions.iter().map(|interaction| {
            let wildcards = interaction.terms.iter().filter(|term| **term == Term::Every).count();
            (0..wildcards).fold(1.0, |count, at| count * (groups + at) as f64 / (at + 1) as f64)
        });
        let count: f64 = count.sum();
        if count > MOST_PRODUCTS as f64 {
            return Err(count as u64);
        }
        for interaction in interactions {
            let mut cross = [NONE; MOST_TERMS];
            let cross = &mut cross[..interaction.terms.len()];
            let is_found = interaction.terms.iter().zip(&mut *cross).all(|(term, group)| match term {
                Term::Every => true,
                Term::Group(name) => find(name).map(|found| *group = found as u32).is_some(),
            });
            if is_found {
                self.fill(cross, 0, 0, groups as u32);
            }
        }
        self.drop_repeated();
        Ok(())
    }

    /// Puts each group from `lowest` on in place of the first wildcard from `at` on, and so forth.
    fn fill(&mut self, cross: &mut [u32], at: usize, lowest: u32, groups: u32) {
        let Some(wildcard) = cross[at..].iter().position(|&group| group == NONE) else {
            return self.push(cross);
        };
        for group in lowest..groups {
            cross[at + wildcard] = group;
            self.fill(cross, at + wildcard + 1, group, groups);
        }
        cross[at + wildcard] = NONE;
    }

    fn push(&mut self, cross: &[u32]) {
        for (at, &group) in cross.iter().enumerate() {
            let same = cross[..at].iter().rposition(|&other| other == group).map(|same| same as u8);
            self.levels.push(Level { group, same });
        }
        let mut key = [NONE; MOST_TERMS];
        key[..cross.len()].copy_from_slice(cross);
        key[..cross.len()].sort_unstable();
        self.keys.push((key, self.ends.len()));
        self.ends.push(self.levels.len());
    }

    /// Of combinations of the same groups keeps the first.
    fn drop_repeated(&mut self) {
        self.keys.sort_unstable();
        let before = self.keys.len();
        self.keys.dedup_by_key(|(key, _)| *key);
        if self.keys.len() == before {
            return;
        }
        self.keys.sort_unstable_by_key(|&(_, place)| place);
        let (mut levels, mut ends) = (0, 0);
        for at in 0..self.keys.len() {
            let place = self.keys[at].1;
            let start = if place == 0 { 0 } else { self.ends[place - 1] };
            let end = self.ends[place];
            // What is kept moves to the front, over what is not.
            self.levels.copy_within(start..end, levels);
            levels += end - start;
            self.ends[ends] = levels;
            ends += 1;
        }
        self.levels.truncate(levels);
        self.ends.truncate(ends);
    }
}

/// The columns that have features: the groups of a table.
fn features(columns: &[Column]) -> impl Iterator<Item = &Column> {
    columns.iter().filter(|column| matches!(column.role, Role::Feature(_)))
}

/// Which features of a group are multiplied with themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Squares {
    None,
    /// Those with an index of their own.
    Numbered,
    All,
}

impl Squares {
    /// Those whose square says what they do not.
    fn of(kind: &Kind) -> Self {
        match kind {
            Kind::Numeric { .. } | Kind::Timestamp { .. } => Self::Numbered,
            Kind::Text => Self::All,
            Kind::Boolean { .. } | Kind::Categorical { .. } => Self::None,
        }
    }
}

/// How groups are told apart.
#[derive(Debug)]
enum Groups {
    /// The group of each column of a table.
    Columns(Vec<u32>),
    /// The seeds of the namespaces that are named.
    Named(Vec<u64>),
    /// All namespaces, for there are wildcards.
    Met(Met),
}

impl Groups {
    /// The names of the groups of a combination.
    #[cold]
    fn names(&self, levels: &[Level], schema: &Schema) -> String {
        let name = |group: usize| match self {
            Self::Columns(_) => features(&schema.columns).nth(group).map(|column| column.name.clone()),
            Self::Named(_) => distinct_names(&schema.interactions).get(group).map(|&name| name.to_owned()),
            Self::Met(met) => met.distinct.get(group).map(|&part| String::from_utf8_lossy(met.name(part)).into_owned()),
        };
        let names: Vec<_> = levels.iter().map(|level| name(level.group as usize).unwrap_or_default()).collect();
        names.join("*")
    }
}

/// The names in interactions, each once.
fn distinct_names(interactions: &[Interaction]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for name in interactions.iter().flat_map(Interaction::groups) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// The namespaces of a row, where each is a group. As long as rows have the same, in the same
/// order, the combinations stay.
#[derive(Debug, Default)]
struct Met {
    interactions: Vec<Interaction>,
    /// Of each part of the row, the seed of its namespace, and where its name ends.
    seeds: Vec<u64>,
    names: Vec<u8>,
    ends: Vec<usize>,
    /// The seeds of the row that the combinations were made for, and the groups of its parts.
    known: Vec<u64>,
    groups: Vec<u32>,
    order: Vec<usize>,
    /// The parts where each name is first in `order`.
    distinct: Vec<usize>,
}

impl Met {
    fn name(&self, part: usize) -> &[u8] {
        let start = if part == 0 { 0 } else { self.ends[part - 1] };
        &self.names[start..self.ends[part]]
    }

    /// Numbers the groups by the order of their names, and makes their combinations.
    fn settle(&mut self, crosses: &mut Crosses) -> Result<(), u64> {
        if self.seeds == self.known {
            return Ok(());
        }
        self.known.clear();
        let mut order = std::mem::take(&mut self.order);
        order.clear();
        order.extend(0..self.seeds.len());
        order.sort_unstable_by(|&one, &other| self.name(one).cmp(self.name(other)));
        self.groups.clear();
        self.groups.resize(order.len(), NONE);
        self.distinct.clear();
        for &part in &order {
            if self.distinct.last().is_none_or(|&last| self.name(last) != self.name(part)) {
                self.distinct.push(part);
            }
            self.groups[part] = self.distinct.len() as u32 - 1;
        }
        self.order = order;
        let find = |name: &str| self.distinct.binary_search_by(|&part| self.name(part).cmp(name.as_bytes())).ok();
        crosses.expand(&self.interactions, self.distinct.len(), find)?;
        self.known.extend_from_slice(&self.seeds);
        Ok(())
    }
}

/// Features one after the other in a row that are of one group.
#[derive(Debug, Clone, Copy)]
struct Part {
    group: u32,
    /// Where they begin in the row: they end where the next part begins.
    start: u32,
}

/// A feature that is multiplied with others.
#[derive(Debug, Clone, Copy)]
struct Factor {
    index: u32,
    value: f32,
    /// Its place in the row.
    place: u32,
    has_square: bool,
}

/// Makes the products of each row. A parser has one of its own, if there are interactions: it
/// tells where groups begin, and at the end of the row the products are added to it.
#[derive(Debug)]
pub(crate) struct Products {
    groups: Groups,
    crosses: Crosses,
    /// Of each group.
    squares: Vec<Squares>,
    meets_itself: Vec<bool>,
    parts: Vec<Part>,
    /// The factors by group, and where each group's begin and end.
    factors: Vec<Factor>,
    ranges: Vec<(u32, u32)>,
    naming: Naming,
    /// The first index of hashed features.
    reserved: u32,
}

/// Which products have been handed on, to be named.
#[derive(Debug, Default)]
struct Naming {
    seen: NamesSeen,
    count: usize,
}

impl Naming {
    /// Whether a product is to be handed on. A reader keeps those that it met first, a number of them: a
    /// parser, which reads ever later pieces, need not look at more.
    #[inline]
    fn wants(&mut self, index: u32) -> bool {
        self.count < Names::MOST_PRODUCTS && self.seen.first(index)
    }
}

impl Products {
    /// For the columns of a table; `None` without interactions.
    pub(crate) fn of_columns(schema: &Schema) -> Option<Box<Self>> {
        if schema.interactions.is_empty() {
            return None;
        }
        let crosses = Crosses::of_columns(&schema.interactions, &schema.columns).unwrap_or_default();
        let mut count = 0;
        let group = |column: &Column| match column.role {
            Role::Feature(_) => {
                count += 1;
                count - 1
            }
            _ => NONE,
        };
        let mut groups: Vec<u32> = schema.columns.iter().map(group).collect();
        let used: HashSet<u32> = crosses.levels.iter().map(|level| level.group).collect();
        groups.iter_mut().filter(|group| !used.contains(group)).for_each(|group| *group = NONE);
        let squares = features(&schema.columns).map(|column| match &column.role {
            Role::Feature(kind) => Squares::of(kind),
            _ => Squares::None,
        });
        let squares = squares.collect();
        Some(Box::new(Self::new(Groups::Columns(groups), crosses, squares, schema)))
    }

    /// For namespaces; `None` without interactions.
    pub(crate) fn of_namespaces(schema: &Schema) -> Option<Box<Self>> {
        let interactions = &schema.interactions;
        if interactions.is_empty() {
            return None;
        }
        let mut crosses = Crosses::default();
        if interactions.iter().any(Interaction::has_wildcards) {
            let met = Met { interactions: interactions.clone(), ..Met::default() };
            return Some(Box::new(Self::new(Groups::Met(met), crosses, Vec::new(), schema)));
        }
        let names = distinct_names(interactions);
        let find = |name: &str| names.iter().position(|other| *other == name);
        // Without wildcards there are no more than were named.
        let _ = crosses.expand(interactions, names.len(), find);
        let seeds = names.iter().map(|name| hash::seed(name.as_bytes())).collect();
        Some(Box::new(Self::new(Groups::Named(seeds), crosses, Vec::new(), schema)))
    }

    fn new(groups: Groups, crosses: Crosses, squares: Vec<Squares>, schema: &Schema) -> Self {
        let mut products = Self {
            groups,
            crosses,
            squares,
            meets_itself: Vec::new(),
            parts: Vec::new(),
            factors: Vec::new(),
            ranges: Vec::new(),
            naming: Naming::default(),
            reserved: schema.reserved(),
        };
        products.look_for_pairs();
        products
    }

    /// Finds the groups that there are, and those that meet themselves.
    fn look_for_pairs(&mut self) {
        let groups = self.crosses.levels.iter().map(|level| level.group as usize + 1).max().unwrap_or(0);
        self.meets_itself.clear();
        self.meets_itself.resize(groups, false);
        for level in self.crosses.levels.iter().filter(|level| level.same.is_some()) {
            self.meets_itself[level.group as usize] = true;
        }
        self.ranges.resize(groups, (0, 0));
    }

    /// A row begins.
    #[inline]
    pub(crate) fn begin(&mut self) {
        self.parts.clear();
        if let Groups::Met(met) = &mut self.groups {
            met.seeds.clear();
            met.names.clear();
            met.ends.clear();
        }
    }

    /// The features of a column begin; the row has `start` so far.
    #[inline]
    pub(crate) fn column(&mut self, column: usize, start: usize) {
        let group = match &self.groups {
            Groups::Columns(groups) => groups[column],
            _ => NONE,
        };
        self.parts.push(Part { group, start: start as u32 });
    }

    /// The features of a namespace begin; the row has `start` so far.
    // Not inlined: the loop over the features has the registers to itself.
    #[inline(never)]
    pub(crate) fn namespace(&mut self, seed: u64, name: &[u8], start: usize) {
        let group = match &mut self.groups {
            Groups::Named(seeds) => seeds.iter().position(|&other| other == seed).map_or(NONE, |at| at as u32),
            Groups::Met(met) => {
                met.seeds.push(seed);
                met.names.extend_from_slice(name);
                met.ends.push(met.names.len());
                NONE
            }
            Groups::Columns(_) => NONE,
        };
        self.parts.push(Part { group, start: start as u32 });
    }

    /// Features begin that belong to no group.
    #[inline]
    pub(crate) fn nothing(&mut self, start: usize) {
        self.parts.push(Part { group: NONE, start: start as u32 });
    }

    /// Adds the products to the row that is being filled.
    pub(crate) fn finish(&mut self, schema: &Schema, out: &mut Parsed) -> Result<(), DataError> {
        if let Groups::Met(met) = &mut self.groups {
            let is_known = met.seeds == met.known;
            met.settle(&mut self.crosses).map_err(|count| too_many(count, &schema.interactions))?;
            self.parts.iter_mut().zip(&met.groups).for_each(|(part, &group)| part.group = group);
            if !is_known {
                self.look_for_pairs();
            }
        }
        let (indices, values) = out.batch.pending_row();
        self.gather(indices, values);
        let count = self.count();
        if count > MOST_PRODUCTS as f64 {
            return Err(too_many(count as u64, &schema.interactions));
        }
        let Self { groups, crosses, factors, ranges, naming, reserved, .. } = self;
        let mut run =
            Run { levels: &[], factors, ranges, chosen: [0; MOST_TERMS], reserved: *reserved, schema, naming };
        for levels in crosses.iter() {
            if levels.iter().all(|level| run.has_factors(level.group)) {
                run.levels = levels;
                run.descend(0, 0, 1.0, out).map_err(|error| error.column(&groups.names(levels, schema)))?;
            }
        }
        Ok(())
    }

    /// Collects the factors by group.
    fn gather(&mut self, indices: &[u32], values: &[f32]) {
        let Self { parts, ranges, factors, squares, meets_itself, .. } = self;
        ranges.iter_mut().for_each(|range| *range = (0, 0));
        let ends = |at: usize| parts.get(at + 1).map_or(indices.len(), |part| part.start as usize);
        // A namespace may come several times: first how many there are, then where they go.
        let used = || parts.iter().enumerate().filter(|(_, part)| (part.group as usize) < meets_itself.len());
        for (at, part) in used() {
            let count = values[part.start as usize..ends(at)].iter().filter(|&&value| value != 0.0).count();
            ranges[part.group as usize].1 += count as u32;
        }
        let mut start = 0;
        for range in ranges.iter_mut() {
            let end = start + range.1;
            *range = (start, start);
            start = end;
        }
        factors.clear();
        factors.resize(start as usize, Factor { index: 0, value: 0.0, place: 0, has_square: true });
        for (at, part) in used() {
            let squares = squares.get(part.group as usize).copied().unwrap_or(Squares::All);
            let end = &mut ranges[part.group as usize].1;
            for place in part.start as usize..ends(at) {
                let (index, value) = (indices[place], values[place]);
                if value != 0.0 {
                    let has_square = match squares {
                        Squares::All => true,
                        Squares::Numbered => index < self.reserved,
                        Squares::None => false,
                    };
                    factors[*end as usize] = Factor { index, value, place: place as u32, has_square };
                    *end += 1;
                }
            }
        }
        for (range, _) in ranges.iter_mut().zip(meets_itself).filter(|(_, meets_itself)| **meets_itself) {
            let kept = add_up(&mut factors[range.0 as usize..range.1 as usize]);
            range.1 = range.0 + kept as u32;
        }
    }

    /// How many products there will be, or somewhat more.
    fn count(&self) -> f64 {
        let of = |levels: &[Level]| {
            levels.iter().enumerate().fold(1.0, |count, (at, level)| {
                let (start, end) = self.ranges[level.group as usize];
                let before = levels[..at].iter().filter(|other| other.group == level.group).count();
                count * (f64::from(end - start) + before as f64) / (before + 1) as f64
            })
        };
        self.crosses.iter().map(of).sum()
    }
}

/// Orders factors by index, so that a pair has one hash whatever the order in the row, and adds up
/// those that share one, as [`onward::Batch::finish`] does. Returns how many are left.
fn add_up(factors: &mut [Factor]) -> usize {
    factors.sort_unstable_by_key(|factor| (factor.index, factor.place));
    let mut kept = 0;
    let mut at = 0;
    while at < factors.len() {
        let mut factor = factors[at];
        let same = factors[at..].iter().take_while(|other| other.index == factor.index).count();
        if same > 1 {
            let sum: f64 = factors[at..at + same].iter().map(|factor| f64::from(factor.value)).sum();
            factor.value = sum.clamp(f64::from(f32::MIN), f64::from(f32::MAX)) as f32;
        }
        at += same;
        if factor.value != 0.0 {
            factors[kept] = factor;
            kept += 1;
        }
    }
    kept
}

/// The walk through the products of a row.
struct Run<'r> {
    levels: &'r [Level],
    factors: &'r [Factor],
    ranges: &'r [(u32, u32)],
    /// The factor that was chosen at each level.
    chosen: [u32; MOST_TERMS],
    reserved: u32,
    schema: &'r Schema,
    naming: &'r mut Naming,
}

impl Run<'_> {
    fn has_factors(&self, group: u32) -> bool {
        self.ranges.get(group as usize).is_some_and(|(start, end)| start < end)
    }

    /// The factors to choose from at a level.
    fn range(&self, level: usize) -> std::ops::Range<u32> {
        let Level { group, same } = self.levels[level];
        let (start, end) = self.ranges[group as usize];
        let start = match same {
            None => start,
            Some(same) => {
                let chosen = self.chosen[same as usize];
                chosen + u32::from(!self.factors[chosen as usize].has_square)
            }
        };
        start..end
    }

    /// Chooses a factor at `level`, those before having this hash and product.
    fn descend(&mut self, level: usize, hash: u64, product: f64, out: &mut Parsed) -> Result<(), DataError> {
        if level + 1 == self.levels.len() {
            return self.last(hash, product, out);
        }
        for at in self.range(level) {
            let Factor { index, value, .. } = self.factors[at as usize];
            self.chosen[level] = at;
            let hash = if level == 0 { u64::from(index) } else { hash::product(hash, index) };
            self.descend(level + 1, hash, product * f64::from(value), out)?;
        }
        Ok(())
    }

    /// The last level, where the products are made.
    #[inline(never)]
    fn last(&mut self, hash: u64, product: f64, out: &mut Parsed) -> Result<(), DataError> {
        let range = self.range(self.levels.len() - 1);
        // Of copies, for all that the loop writes might be elsewhere what it reads.
        let (factors, schema, reserved) = (self.factors, self.schema, self.reserved);
        for at in range {
            let factor = factors[at as usize];
            let value = (product * f64::from(factor.value)) as f32;
            if !value.is_finite() {
                return Err(self.too_large(at));
            }
            if value == 0.0 {
                continue;
            }
            let index = schema.hashed(reserved, hash::product(hash, factor.index));
            if self.naming.wants(index) {
                self.name(index, at, out);
            }
            out.batch.push(index, value);
        }
        Ok(())
    }

    /// The factors of a product, whose last one is `last`.
    fn chosen(&self, last: u32) -> impl Iterator<Item = &Factor> {
        let before = self.chosen[..self.levels.len() - 1].iter().copied();
        before.chain(std::iter::once(last)).map(|at| &self.factors[at as usize])
    }

    #[cold]
    fn name(&mut self, index: u32, last: u32, out: &mut Parsed) {
        self.naming.count += 1;
        out.push_product(index, self.chosen(last).map(|factor| factor.index));
    }

    #[cold]
    fn too_large(&self, last: u32) -> DataError {
        let values: Vec<_> = self.chosen(last).map(|factor| format!("{:e}", factor.value)).collect();
        let found = format!("the product {} is beyond ±3.4e38, the range of 32-bit floats", values.join(" × "));
        DataError::record(found).remedy("rescale them, or leave the interaction out")
    }
}

/// A row that would have more products than there is room for.
#[cold]
fn too_many(count: u64, interactions: &[Interaction]) -> DataError {
    let names = interactions.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    DataError::record(format!("--interactions {names} would make {count} products of this row"))
        .remedy(format!("{MOST_PRODUCTS} are allowed: name fewer columns or namespaces; {MEND}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<String> {
        Interaction::list(text).unwrap().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn interactions_are_read_and_shown() {
        assert_eq!(shown("a*b"), ["a*b"]);
        assert_eq!(shown(" a * b ,a*b*c, long name*b"), ["a*b", "a*b*c", "long name*b"]);
        assert_eq!(shown("a**"), ["a * *"]);
        assert_eq!(shown("**b,***,*****"), ["* * b", "* * *", "* * * * *"]);
        assert_eq!(shown("a***b"), ["a * * * b"]);
        assert_eq!(shown(r#""a*b"*"c,d","*" * " ""x""#), [r#""a*b"*"c,d""#, r#""*"*" ""x""#]);
    }

    #[test]
    fn what_is_shown_is_read_again() {
        for text in ["a*b", "a * *", "* * * * b", r#""a*b"*"c,d"*" e "*"""f"""*g"#, r#""*"*""*x"#] {
            let one: Interaction = text.parse().unwrap();
            assert_eq!(one.to_string().parse(), Ok(one), "{text}");
        }
    }

    #[test]
    fn what_is_no_interaction_is_refused() {
        let message = |text: &str| Interaction::list(text).unwrap_err();
        for missing in ["", " ", "a*", "a*b,", ",a*b", "a*,b*c", "**"] {
            assert!(message(missing).starts_with("a name is missing"), "{missing}: {}", message(missing));
        }
        for unclear in ["*b", "a**b", "a\"b*c", "\"a\"b*c"] {
            assert!(message(unclear).starts_with("expected * or a comma before"), "{unclear}: {}", message(unclear));
        }
        assert_eq!(message("\"a*b"), "a quote in '\"a*b' is opened and never closed");
        assert_eq!(message("*"), "'*' alone is no interaction: write '* * *' for all pairs");
        assert_eq!(
            message("a*b,c,d*e"),
            "'c' names one column or namespace: an interaction is of two or more, as in c*other"
        );
        assert_eq!(
            message("a*b*c*d*e*f*g*h*i"),
            "'a*b*c*d*e*f*g*h*i' is of 9 columns or namespaces: an interaction is of 8 at the most"
        );
        assert!("a*b,c*d".parse::<Interaction>().is_err());
    }

    /// The groups of each combination, as letters.
    fn combinations(text: &str, groups: &str) -> Vec<String> {
        let interactions = Interaction::list(text).unwrap();
        let mut crosses = Crosses::default();
        crosses.expand(&interactions, groups.len(), |name| groups.find(name)).unwrap();
        let name = |level: &Level| groups.as_bytes()[level.group as usize] as char;
        crosses.iter().map(|levels| levels.iter().map(name).collect()).collect()
    }

    #[test]
    fn wildcards_give_each_combination_once() {
        assert_eq!(combinations("a*b", "abc"), ["ab"]);
        assert_eq!(combinations("c * *", "abc"), ["ca", "cb", "cc"]);
        assert_eq!(combinations("***", "abc"), ["aa", "ab", "ac", "bb", "bc", "cc"]);
        assert_eq!(combinations("*****", "ab"), ["aaa", "aab", "abb", "bbb"]);
        assert_eq!(combinations("b*a,***,a*b*a", "ab"), ["ba", "aa", "bb", "aba"]);
        assert_eq!(combinations("b * a * *", "ab"), ["baa", "bab"]);
        assert_eq!(combinations("a*x,b*a", "ab"), ["ba"]);
        assert_eq!(combinations("***", ""), [""; 0]);
    }

    #[test]
    fn combinations_beyond_the_limit_are_counted_and_not_made() {
        let pairs = Interaction::list("***").unwrap();
        let mut crosses = Crosses::default();
        assert_eq!(crosses.expand(&pairs, 1413, |_| None), Ok(()));
        assert_eq!(crosses.ends.len(), 1413 * 1414 / 2);
        assert_eq!(crosses.expand(&pairs, 1414, |_| None), Err(1414 * 1415 / 2));
    }
}
