//! Text for people, and the numbers in it.

pub(crate) mod game;
pub(crate) mod guarantee;
pub(crate) mod inspection;
pub(crate) mod plan;
pub(crate) mod skill;
pub(crate) mod summary;
pub(crate) mod table;
mod verdict;

use onward_engine::TaskKind;

pub(crate) use verdict::class as class_in_words;

/// A count with commas between thousands.
pub(crate) fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A count with what is counted: 1 example, 2 examples.
pub(crate) fn counted(count: u64, what: &str) -> String {
    format!("{} {what}{}", grouped(count), if count == 1 { "" } else { "s" })
}

/// Four decimals, or as many significant digits when that would show too few or too many.
pub(crate) fn number(value: f64) -> String {
    if value == 0.0 || (1e-3..1e4).contains(&value.abs()) { format!("{value:.4}") } else { format!("{value:.3e}") }
}

/// An upper bound as [`number`] writes it, rounded up.
pub(crate) fn above(value: f64) -> String {
    let shown = number(value);
    let is_lower = shown.parse::<f64>().is_ok_and(|shown| shown < value);
    if is_lower { number(value + half_a_digit(value)) } else { shown }
}

/// A lower bound, rounded down.
pub(crate) fn below(value: f64) -> String {
    let shown = number(value);
    let is_higher = shown.parse::<f64>().is_ok_and(|shown| shown > value);
    if is_higher { number(value - half_a_digit(value)) } else { shown }
}

/// Half of the last digit that [`number`] writes.
fn half_a_digit(value: f64) -> f64 {
    match value.abs() {
        1e-3..1e4 => 0.5e-4,
        size => 0.5e-3 * 10f64.powi(size.log10().floor() as i32),
    }
}

/// A sum over many rounds: the same, but large ones in full, since sums that differ little are compared.
pub(crate) fn total(value: f64) -> String {
    if (1e4..1e10).contains(&value.abs()) { format!("{value:.2}") } else { number(value) }
}

/// A size that a person gave, as short as it reads back.
pub(crate) fn size(value: f64) -> String {
    if (1e-4..1e7).contains(&value) { value.to_string() } else { format!("{value:e}") }
}

/// A time as people say it: in milliseconds when it is short.
pub(crate) fn duration(seconds: f64) -> String {
    match seconds {
        ..0.001 => format!("{:.1} ms", 1e3 * seconds),
        ..0.1 => format!("{:.0} ms", 1e3 * seconds),
        _ => format!("{seconds:.2} s"),
    }
}

/// A number with this many digits behind its first.
pub(crate) fn rounded(value: f64, digits: usize) -> f64 {
    format!("{value:.digits$e}").parse().unwrap_or(value)
}

/// A text of this many letters at most: a longer one ends with an ellipsis.
pub(crate) fn shortened(text: &str, most: usize) -> String {
    match text.chars().count() > most {
        true => text.chars().take(most - 1).chain(['…']).collect(),
        false => text.to_owned(),
    }
}

/// The name of a task.
pub(crate) fn task_name(task: TaskKind) -> &'static str {
    match task {
        TaskKind::Binary => "binary",
        TaskKind::Regression => "regression",
        TaskKind::Classes => "classes",
        TaskKind::Game => "game",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_grouped_and_numbers_are_short() {
        assert_eq!([0, 999, 1000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([0, 1, 2000].map(|count| counted(count, "example")), ["0 examples", "1 example", "2,000 examples"]);
        assert_eq!([0.0, 0.0004, 0.05, 0.123, 90.0].map(duration), ["0.0 ms", "0.4 ms", "50 ms", "0.12 s", "90.00 s"]);
        assert_eq!([10.0, 0.5, 1e300, 1e-9].map(size), ["10", "0.5", "1e300", "1e-9"]);
        assert_eq!([0.45123, 0.4512, 1.00001e-5, -12.50004].map(above), ["0.4513", "0.4512", "1.001e-5", "-12.5000"]);
        assert_eq!([0.45128, 0.4512, 1.0009e-5, -12.50004].map(below), ["0.4512", "0.4512", "1.000e-5", "-12.5001"]);
        assert_eq!([9999.5, -12345.678, 1e12].map(total), ["9999.5000", "-12345.68", "1.000e12"]);
        assert_eq!([0.45123, 0.00001, -12.5, 1e9].map(number), ["0.4512", "1.000e-5", "-12.5000", "1.000e9"]);
    }
}
