//! SVMlight's format, read plainly.

use std::collections::HashSet;

use super::{Row, number, value};

/// The row of a line, by splitting strings; indices are below 2^`bits`.
pub fn plain(line: &str, bits: u32) -> Result<Option<Row>, ()> {
    let content = line.split('#').next().unwrap_or("");
    let content = content.trim_matches(|letter: char| letter.is_ascii_whitespace());
    let mut words = content.split([' ', '\t']).filter(|word| !word.is_empty()).peekable();
    let Some(label) = words.next() else {
        return Ok(None);
    };
    let label = if label == "?" { Ok(None) } else { super::label(label) }?;
    if let Some(query) = words.peek().and_then(|word| word.strip_prefix("qid:")) {
        number(query).filter(|_| query.chars().all(|digit| digit.is_ascii_digit())).ok_or(())?;
        words.next();
    }
    let mut features = vec![(0, 1.0)];
    let mut seen = HashSet::new();
    for word in words {
        let (index, text) = word.split_once(':').ok_or(())?;
        if index.is_empty() || !index.chars().all(|digit| digit.is_ascii_digit()) || index.len() > 18 {
            return Err(());
        }
        let index = index.parse::<u64>().map_err(|_| ())?;
        let value = value(number(text).ok_or(())?)?;
        if index >= 1 << bits || !seen.insert(index) {
            return Err(());
        }
        if value != 0.0 {
            features.push((index as u32 + 1, value));
        }
    }
    Ok(Some(Row::new(features, label, 1.0, &[])))
}
