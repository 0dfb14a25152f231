//! The name that was meant, where a name is not known.

/// The known name that starts with the one typed, or else the one that needs the fewest
/// edits, if they are less than half of it. Neighbours that were swapped count as one.
pub(crate) fn nearest<'a>(typed: &str, known: impl Iterator<Item = &'a str> + Clone) -> Option<&'a str> {
    let typed = typed.to_lowercase().replace('_', "-");
    let completed = known.clone().find(|known| !typed.is_empty() && known.starts_with(&typed));
    completed.or_else(|| {
        let (edits, near) =
            known.map(|known| (strsim::osa_distance(&typed, known), known)).min_by_key(|&(edits, _)| edits)?;
        (2 * edits < near.len()).then_some(near)
    })
}

/// What to say of a name that is none: the nearest, and all. `plural`: what they are, "losses".
pub(crate) fn unknown<'a>(
    what: &str,
    plural: &str,
    name: &str,
    known: impl Iterator<Item = &'a str> + Clone,
) -> String {
    let all = known.clone().collect::<Vec<_>>().join(", ");
    match nearest(name, known) {
        Some(near) => format!("there is no {what} '{name}'; did you mean '{near}'? The {plural} are: {all}"),
        None => format!("there is no {what} '{name}'; the {plural} are: {all}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
