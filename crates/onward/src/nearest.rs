//! The name that was meant, where a name is not known.

/// The known name that starts with the one typed, or else the one that needs the fewest
/// edits, if they are less than half of it.
pub(crate) fn nearest<'a>(typed: &str, known: impl Iterator<Item = &'a str> + Clone) -> Option<&'a str> {
    let typed = typed.to_lowercase().replace('_', "-");
    let completed = known.clone().find(|known| !typed.is_empty() && known.starts_with(&typed));
    completed.or_else(|| {
        let (edits, near) = known.map(|known| (edits(&typed, known), known)).min_by_key(|&(edits, _)| edits)?;
        (2 * edits < near.len()).then_some(near)
    })
}

/// The distance of Levenshtein and Damerau (optimal string alignment): the fewest
/// insertions, deletions and replacements of a character and swaps of neighbours that turn
/// one text into the other.
fn edits(from: &str, to: &str) -> usize {
    let (from, to): (Vec<char>, Vec<char>) = (from.chars().collect(), to.chars().collect());
    let (mut before, mut last) = (Vec::new(), (0..=to.len()).collect::<Vec<usize>>());
    for (i, a) in from.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, b) in to.iter().enumerate() {
            let replaced = last[j] + usize::from(a != b);
            let mut fewest = replaced.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *a == to[j - 1] && from[i - 1] == *b {
                fewest = fewest.min(before[j - 1] + 1);
            }
            row.push(fewest);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_are_counted_as_levenshtein_does_and_swaps_once() {
        for (from, to, distance) in [
            ("kitten", "sitting", 3),
            ("", "abc", 3),
            ("abc", "", 3),
            ("hinge", "hinge", 0),
            ("flaw", "lawn", 2),
            ("nga", "nag", 1),
            ("logisitc", "logistic", 1),
            ("ca", "abc", 3),
        ] {
            assert_eq!(edits(from, to), distance, "{from} {to}");
            assert_eq!(edits(to, from), distance, "{to} {from}");
        }
    }

    #[test]
    fn the_nearest_name_is_near() {
        let known = ["nag", "ogd", "ogd-strong", "adagrad", "perceptron"];
        for (typed, found) in [
            ("nga", Some("nag")),
            ("NAG", Some("nag")),
            ("ogd_strong", Some("ogd-strong")),
            ("ogdstrong", Some("ogd-strong")),
            ("ada", Some("adagrad")),
            ("percepton", Some("perceptron")),
            ("sgd", Some("ogd")),
            ("xgboost", None),
            ("", None),
        ] {
            assert_eq!(nearest(typed, known.into_iter()), found, "{typed}");
        }
        assert_eq!(nearest("nag", std::iter::empty()), None);
    }
}
