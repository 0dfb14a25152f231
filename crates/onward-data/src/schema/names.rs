//! Names of columns in messages.

use std::collections::HashMap;

use crate::error::{DataError, quoted};

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
        None if names.is_empty() => "there are no columns".to_owned(),
        None => format!("the columns are: {}", shown(names)),
    };
    DataError::options(format!("{what} names '{name}', which is not a column")).advise(remedy)
}

/// What is wrong with names of which one stands twice.
pub(crate) fn named_twice<'a>(names: impl Iterator<Item = &'a str>) -> Option<String> {
    let mut places = HashMap::new();
    names.enumerate().find_map(|(at, name)| {
        let before = places.insert(name, at)?;
        Some(format!("columns {} and {} are both named {}", before + 1, at + 1, quoted(name.as_bytes())))
    })
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
