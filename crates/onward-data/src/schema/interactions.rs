//! Interactions: what is multiplied with what.
//!
//! A group is a column of a table, or a namespace of Vowpal Wabbit's text. `a*b` is each
//! feature of `a` times each of `b`. The term `*` stands for every group: `a * *` is `a` with
//! each, itself among them, `* * *` are all pairs. Of two interactions of the same groups the first is
//! made. Groups take the order in which the interaction names them; those that `*` stands
//! for, the order of the columns, or of the names of the namespaces.
//!
//! The products are made by [`encode`](crate::encode).

use std::collections::HashSet;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::names::{no_such_column, shown};
use super::{Column, Layout, Role, Schema};
use crate::error::{DataError, Result, quoted};

/// The most groups of an interaction: the product of eight 32-bit floats fits a 64-bit one.
pub(crate) const MOST_TERMS: usize = 8;
/// The most products of a row, and the most combinations of groups.
pub(crate) const MOST_PRODUCTS: u64 = 1_000_000;
/// The group of features that take part in no interaction.
pub(crate) const NONE: u32 = u32::MAX;

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
    /// Columns or namespaces; `None` stands for each of them.
    terms: Vec<Option<String>>,
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
        self.terms.iter().flatten().map(String::as_str)
    }

    pub(crate) fn has_wildcards(&self) -> bool {
        self.terms.contains(&None)
    }
}

/// Takes a term from the head of `rest`.
fn term(rest: &mut &str, whole: &str) -> Result<Option<String>, String> {
    *rest = rest.trim_start();
    if let Some(tail) = rest.strip_prefix('*') {
        *rest = tail;
        return Ok(None);
    }
    if rest.starts_with('"') {
        let name = quoted_name(rest).ok_or_else(|| format!("a quote in '{whole}' is opened and never closed"))?;
        return Ok(Some(name));
    }
    let (name, tail) = rest.split_at(rest.find(['*', ',', '"']).unwrap_or(rest.len()));
    *rest = tail;
    match name.trim_end() {
        "" => Err(format!(
            "a name is missing in '{whole}': an interaction is a*b, columns or namespaces with * between them, or * as \
             one of them for each (a * *)"
        )),
        name => Ok(Some(name.to_owned())),
    }
}

/// Takes a name in quotes from the head of `rest`.
fn quoted_name(rest: &mut &str) -> Option<String> {
    let mut name = String::new();
    loop {
        let (part, tail) = rest[1..].split_once('"')?;
        name.push_str(part);
        *rest = tail;
        if !tail.starts_with('"') {
            return Some(name);
        }
        name.push('"');
    }
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
        1 if shown == "*" => "'*' alone is not an interaction: write '* * *' for all pairs".to_owned(),
        1 => format!("'{shown}' names one column or namespace: an interaction has two or more, as in {shown}*other"),
        _ => format!("'{shown}' has {terms} columns or namespaces: an interaction has at most {MOST_TERMS}"),
    }
}

impl FromStr for Interaction {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut list = Self::list(text)?;
        match (list.pop(), list.is_empty()) {
            (Some(one), true) => Ok(one),
            _ => Err(format!("expected one interaction, found several: '{text}'")),
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
                None => out.write_str("*")?,
                Some(name) if name.is_empty() || name.trim() != name || name.contains(['*', ',', '"']) => {
                    write!(out, "\"{}\"", name.replace('"', "\"\""))?;
                }
                Some(name) => out.write_str(name)?,
            }
        }
        Ok(())
    }
}

/// Refuses interactions in a format without groups.
pub(crate) fn refuse(interactions: &[Interaction]) -> Result {
    let Some(first) = interactions.first() else { return Ok(()) };
    let found = format!("the interaction '{first}' needs columns or namespaces, but this format has neither");
    Err(DataError::options(found)
        .advise("leave ⟦interactions⟧ out, or convert a table or Vowpal Wabbit's text with it"))
}

/// Refuses interactions of columns that have no features; `names` are all that there are.
pub(crate) fn check_columns(interactions: &[Interaction], columns: &[Column], names: &[String]) -> Result {
    for name in interactions.iter().flat_map(Interaction::groups) {
        let Some(column) = columns.iter().find(|column| column.name == name) else {
            return Err(no_such_column(name, "⟦interactions⟧", names));
        };
        let remedy = "leave it out there";
        let (reason, remedy) = match column.role {
            Role::Feature(_) => continue,
            Role::Target => ("the target", remedy.to_owned()),
            Role::Weight => ("the weight", remedy.to_owned()),
            Role::Id => ("an id", remedy.to_owned()),
            Role::Ignored => ("left out", format!("{remedy} too, or name it in ⟦categorical={name}⟧")),
        };
        let found = format!("column '{name}' is {reason}, and only features can be in ⟦interactions⟧");
        return Err(DataError::options(found).advise(remedy));
    }
    let combinations = Combinations::of_columns(interactions, columns);
    combinations.map(drop).map_err(|count| {
        let found = format!("⟦interactions⟧ make {count} combinations of columns");
        DataError::options(found)
            .advise(format!("at most {MOST_PRODUCTS} are allowed: name columns instead of *, or ⟦ignore⟧ some"))
    })
}

/// Refuses interactions of namespaces that are left out, and notes those that the first rows
/// do not have.
pub(crate) fn check_namespaces(
    interactions: &[Interaction],
    ignored: &[Column],
    namespaces: &[String],
) -> Result<Vec<String>> {
    let mut notes: Vec<String> = Vec::new();
    for name in interactions.iter().flat_map(Interaction::groups) {
        if name.is_empty() || name.contains([' ', '\t', ':', '|', '\n', '\r']) {
            let found = format!("{} cannot be a namespace, but is named in ⟦interactions⟧", quoted(name.as_bytes()));
            return Err(DataError::options(found)
                .advise("names have no blank, colon or bar; only * stands for the namespace without a name"));
        }
        if ignored.iter().any(|column| column.name == name) {
            let found = format!("namespace '{name}' is named in both ⟦ignore⟧ and ⟦interactions⟧");
            return Err(DataError::options(found).advise("name it in one of the two"));
        }
        if !namespaces.iter().any(|other| other == name) {
            let there: Vec<_> = namespaces.iter().filter(|name| !name.is_empty()).cloned().collect();
            let there = if there.is_empty() { "none with a name".to_owned() } else { shown(&there) };
            let note = format!(
                "⟦interactions⟧ names '{name}', which is not a namespace in the first rows; the namespaces are: {there}"
            );
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
                && Combinations::of_columns(interactions, &schema.columns).is_ok()
        }
    }
}

/// The note about the interactions of a run.
pub(crate) fn note(interactions: &[Interaction]) -> Option<String> {
    let names: Vec<_> = interactions.iter().map(ToString::to_string).collect();
    (!names.is_empty()).then(|| format!("interactions: {}", shown(&names)))
}

/// A group in a combination.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Level {
    pub(crate) group: u32,
    /// The nearest level before it of the same group: combinations that differ in order alone
    /// are made once.
    pub(crate) same: Option<u8>,
}

/// Combinations of groups, by number, one after the other.
#[derive(Debug, Default)]
pub(crate) struct Combinations {
    pub(crate) levels: Vec<Level>,
    ends: Vec<usize>,
    /// The groups of each in order of number, where there may be some that are equal.
    met: Option<HashSet<Vec<u32>>>,
}

impl Combinations {
    /// The combinations of a table's columns, or how many there would be if they are too many.
    pub(crate) fn of_columns(interactions: &[Interaction], columns: &[Column]) -> Result<Self, u64> {
        let names: Vec<_> = features(columns).map(|column| column.name.as_str()).collect();
        let mut combinations = Self::default();
        combinations.expand(interactions, names.len(), |name| names.iter().position(|other| *other == name))?;
        Ok(combinations)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &[Level]> {
        self.ends.iter().scan(0, |start, &end| Some(&self.levels[std::mem::replace(start, end)..end]))
    }

    /// Makes the combinations of `groups` groups, or tells how many there would be if they are too
    /// many. An interaction of a group that is not found gives none.
    pub(crate) fn expand(
        &mut self,
        interactions: &[Interaction],
        groups: usize,
        find: impl Fn(&str) -> Option<usize>,
    ) -> Result<(), u64> {
        self.levels.clear();
        self.ends.clear();
        // The combinations of one interaction differ.
        self.met = (interactions.len() > 1).then(HashSet::new);
        let count = interactions.iter().map(|interaction| {
            let wildcards = interaction.terms.iter().filter(|term| term.is_none()).count();
            (0..wildcards).fold(1.0, |count, at| count * (groups + at) as f64 / (at + 1) as f64)
        });
        let count: f64 = count.sum();
        if count > MOST_PRODUCTS as f64 {
            return Err(count as u64);
        }
        for interaction in interactions {
            let mut combination = [NONE; MOST_TERMS];
            let combination = &mut combination[..interaction.terms.len()];
            let is_found = interaction.terms.iter().zip(&mut *combination).all(|(term, group)| match term {
                None => true,
                Some(name) => find(name).map(|found| *group = found as u32).is_some(),
            });
            if is_found {
                self.fill(combination, 0, 0, groups as u32);
            }
        }
        Ok(())
    }

    /// Puts each group from `lowest` on in place of the first wildcard from `at` on, and so forth.
    fn fill(&mut self, combination: &mut [u32], at: usize, lowest: u32, groups: u32) {
        let Some(wildcard) = combination[at..].iter().position(|&group| group == NONE) else {
            return self.push(combination);
        };
        for group in lowest..groups {
            combination[at + wildcard] = group;
            self.fill(combination, at + wildcard + 1, group, groups);
        }
        combination[at + wildcard] = NONE;
    }

    /// Of combinations of the same groups, keeps the first.
    fn push(&mut self, combination: &[u32]) {
        if let Some(met) = &mut self.met {
            let mut groups = combination.to_vec();
            groups.sort_unstable();
            if !met.insert(groups) {
                return;
            }
        }
        for (at, &group) in combination.iter().enumerate() {
            let same = combination[..at].iter().rposition(|&other| other == group).map(|same| same as u8);
            self.levels.push(Level { group, same });
        }
        self.ends.push(self.levels.len());
    }
}

/// The columns that have features: the groups of a table.
pub(crate) fn features(columns: &[Column]) -> impl Iterator<Item = &Column> {
    columns.iter().filter(|column| matches!(column.role, Role::Feature(_)))
}

/// The names in interactions, each once.
pub(crate) fn distinct_names(interactions: &[Interaction]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for name in interactions.iter().flat_map(Interaction::groups) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
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
        assert_eq!(message("*"), "'*' alone is not an interaction: write '* * *' for all pairs");
        assert_eq!(
            message("a*b,c,d*e"),
            "'c' names one column or namespace: an interaction has two or more, as in c*other"
        );
        assert_eq!(
            message("a*b*c*d*e*f*g*h*i"),
            "'a*b*c*d*e*f*g*h*i' has 9 columns or namespaces: an interaction has at most 8"
        );
        assert!("a*b,c*d".parse::<Interaction>().is_err());
    }

    /// The groups of each combination, as letters.
    fn combinations(text: &str, groups: &str) -> Vec<String> {
        let interactions = Interaction::list(text).unwrap();
        let mut combinations = Combinations::default();
        combinations.expand(&interactions, groups.len(), |name| groups.find(name)).unwrap();
        let name = |level: &Level| groups.as_bytes()[level.group as usize] as char;
        combinations.iter().map(|levels| levels.iter().map(name).collect()).collect()
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
        let mut combinations = Combinations::default();
        assert_eq!(combinations.expand(&pairs, 1413, |_| None), Ok(()));
        assert_eq!(combinations.ends.len(), 1413 * 1414 / 2);
        assert_eq!(combinations.expand(&pairs, 1414, |_| None), Err(1414 * 1415 / 2));
    }
}
