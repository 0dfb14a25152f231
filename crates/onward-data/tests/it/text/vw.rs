//! Vowpal Wabbit's text, read plainly.

use onward::hashing::feature_hash as hash;

use super::{Row, number, value};

/// How many bits indices have.
pub const BITS: u32 = 16;

/// The index of a feature.
pub fn index(namespace: &str, name: &str) -> u32 {
    let hash = hash::name(hash::seed(namespace.as_bytes()), name.as_bytes());
    1 + (hash % (1 << BITS)) as u32
}

/// A name and the value after a colon, if there is one.
fn pair(word: &str) -> Result<(&str, f64), ()> {
    match word.split_once(':') {
        Some(("", _)) => Err(()),
        Some((name, value)) => Ok((name, number(value).ok_or(())?)),
        None => Ok((word, 1.0)),
    }
}

fn is_number(text: &str) -> bool {
    // As a label is read: a vertical tab is no blank.
    number(text.trim_matches(|letter: char| letter.is_ascii_whitespace())).is_some()
}

/// The row of a line, by splitting strings; the namespaces `ignored` are left out.
pub fn plain(line: &str, ignored: &[&str]) -> Result<Option<Row>, ()> {
    let (before, after) = line.split_once('|').ok_or(())?;
    let mut words: Vec<_> = before.split([' ', '\t']).filter(|word| !word.is_empty()).collect();
    let touches = !before.is_empty() && !before.ends_with([' ', '\t']);
    let quoted = words.last().is_some_and(|word| word.starts_with('\''));
    if touches && !quoted && words.len() == 1 && words[0].split(':').all(is_number) {
        return Err(());
    }
    let tag = if touches || quoted { words.pop().unwrap_or("") } else { "" };
    let tag = if quoted { &tag[1..] } else { tag };
    if words.len() > 3 || words.iter().any(|word| word.contains(':') || *word == "shared") {
        return Err(());
    }
    let label = super::label(words.first().unwrap_or(&""))?;
    // A vertical tab is no blank.
    let number = |word: &&str| number(word.trim_matches(|letter: char| letter.is_ascii_whitespace()));
    let weight = words.get(1).map_or(Some(1.0), number).ok_or(())?;
    let offset = words.get(2).map_or(Some(0.0), number).ok_or(())?;
    if !(weight == 0.0 || (1e-38..=f64::from(f32::MAX)).contains(&weight)) || offset.abs() > f64::from(f32::MAX) {
        return Err(());
    }
    let mut features = vec![(0, 1.0)];
    for part in after.split('|') {
        let (head, rest) = part.split_at(part.find([' ', '\t']).unwrap_or(part.len()));
        let named = head.split(':').next().unwrap_or("");
        if ignored.contains(&named) {
            continue;
        }
        let (namespace, scale) = if head.is_empty() { ("", 1.0) } else { pair(head)? };
        for word in rest.split([' ', '\t']).filter(|word| !word.is_empty()) {
            let (name, number) = pair(word)?;
            let value = value(number * scale)?;
            if value != 0.0 {
                features.push((index(namespace, name), value));
            }
        }
    }
    Ok(Some(Row::new(features, label, weight, &[tag]).from(offset)))
}
