//! Where labels come from: a column, or a comparison that makes two classes.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::error::{DataError, DataErrorKind, MEND, quoted};
use crate::text::numbers::{self, Number};

/// The target: a column and how its values become labels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Target {
    /// The column; `label` for the formats that have one label without a name.
    pub column: String,
    /// From values to labels.
    pub rule: TargetRule,
}

/// From values of the target column to labels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TargetRule {
    /// The number itself: regression.
    Number,
    /// A number in [0, 1] that is a probability.
    Probability,
    /// 1 (or true) is the positive class, 0 or −1 (or false) the negative one.
    Signs,
    /// Two classes by name.
    Classes {
        /// The class with label −1.
        negative: String,
        /// The class with label 1.
        positive: String,
    },
    /// Positive where the comparison holds.
    Comparison {
        /// How the value is compared.
        operator: Operator,
        /// With what; a number where the operator orders.
        with: String,
        /// Whether the column holds numbers, so that a value that is none is a mistake.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        numeric: bool,
    },
}

/// A comparison operator of a target expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Operator {
    /// `>`
    #[serde(rename = ">")]
    Greater,
    /// `>=`
    #[serde(rename = ">=")]
    GreaterOrEqual,
    /// `<`
    #[serde(rename = "<")]
    Less,
    /// `<=`
    #[serde(rename = "<=")]
    LessOrEqual,
    /// `==`
    #[serde(rename = "==")]
    Equal,
    /// `!=`
    #[serde(rename = "!=")]
    NotEqual,
}

/// Longest first, so that `>=` is not read as `>`.
const OPERATORS: [(&str, Operator); 6] = [
    (">=", Operator::GreaterOrEqual),
    ("<=", Operator::LessOrEqual),
    ("==", Operator::Equal),
    ("!=", Operator::NotEqual),
    (">", Operator::Greater),
    ("<", Operator::Less),
];

impl fmt::Display for Operator {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = OPERATORS.iter().find(|(_, operator)| operator == self).map_or("", |(text, _)| text);
        out.write_str(text)
    }
}

impl fmt::Display for Target {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.rule {
            TargetRule::Comparison { operator, with, .. } => {
                write!(out, "{}{operator}{with}", self.column)
            }
            TargetRule::Classes { positive, .. } => write!(out, "{}=={positive}", self.column),
            _ => out.write_str(&self.column),
        }
    }
}

/// A value of the target column.
#[derive(Debug, Clone, Copy)]
pub(crate) enum TargetValue<'a> {
    Missing,
    Number(f64),
    Boolean(bool),
    Text(&'a [u8]),
}

/// A target as the user writes it: a column, with a comparison or without.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Expression {
    pub(crate) column: String,
    pub(crate) comparison: Option<TargetRule>,
}

impl Expression {
    /// Reads `column` or `column>15`. A column whose name holds an operator is
    /// found first by its whole name.
    pub(crate) fn parse(text: &str, columns: &[&str]) -> Result<Self, DataError> {
        if columns.contains(&text) {
            return Ok(Self { column: text.to_owned(), comparison: None });
        }
        let first = |&(sign, operator): &(&'static str, Operator)| Some((text.find(sign)?, sign, operator));
        let found = OPERATORS.iter().filter_map(first).min_by_key(|&(at, sign, _)| (at, usize::MAX - sign.len()));
        let Some((at, sign, operator)) = found else {
            return Ok(Self { column: text.to_owned(), comparison: None });
        };
        let column = text[..at].trim().to_owned();
        let with = text[at + sign.len()..].trim().trim_matches(|mark| mark == '"' || mark == '\'').to_owned();
        check_operand(text, operator, &with)?;
        Ok(Self { column, comparison: Some(TargetRule::Comparison { operator, with, numeric: false }) })
    }
}

fn check_operand(text: &str, operator: Operator, with: &str) -> Result<(), DataError> {
    let ordered = !matches!(operator, Operator::Equal | Operator::NotEqual);
    if with.is_empty() || ordered && !matches!(numbers::parse(with.as_bytes()), Number::Finite(_)) {
        let found = format!("target '{text}' compares with {}", quoted(with.as_bytes()));
        let what = if ordered { "a number" } else { "a value" };
        return Err(DataError::new(DataErrorKind::Options, found).advise(format!("'{operator}' needs {what} after it")));
    }
    Ok(())
}

impl Target {
    /// Whether a number is all that counts of a text that is one.
    pub(crate) fn reads_numbers(&self) -> bool {
        use Operator::{Greater, GreaterOrEqual, Less, LessOrEqual};
        let orders = |operator| matches!(operator, Greater | GreaterOrEqual | Less | LessOrEqual);
        match self.rule {
            TargetRule::Number => true,
            TargetRule::Comparison { operator, .. } => orders(operator),
            TargetRule::Probability | TargetRule::Signs | TargetRule::Classes { .. } => false,
        }
    }

    /// The label of a value; `None` when it is missing.
    pub(crate) fn label(&self, value: TargetValue<'_>) -> Result<Option<f64>, DataError> {
        let value = match value {
            TargetValue::Missing => return Ok(None),
            TargetValue::Text(text) if numbers::is_missing(text.trim_ascii()) => return Ok(None),
            value => value,
        };
        match &self.rule {
            TargetRule::Number => self.numeric(value).and_then(checked_number).map(Some),
            TargetRule::Probability => probability(self.numeric(value)?).map(Some),
            TargetRule::Signs => self.sign(value).map(Some),
            TargetRule::Classes { negative, positive } => self.class(value, negative, positive).map(Some),
            TargetRule::Comparison { operator, with, numeric } => {
                self.compare(value, *operator, with, *numeric).map(|holds| Some(signed(holds)))
            }
        }
    }

    /// Refuses a label that this target never gives.
    pub(crate) fn check_label(&self, label: f64) -> Result<(), DataError> {
        match self.rule {
            TargetRule::Number => checked_number(label).map(drop),
            TargetRule::Probability => probability(label).map(drop),
            _ if label == 1.0 || label == -1.0 => Ok(()),
            _ => Err(DataError::record(format!("the label is {label}"))
                .advise("labels of two classes are 1 for the positive one, and -1")),
        }
    }

    fn compare(
        &self,
        value: TargetValue<'_>,
        operator: Operator,
        with: &str,
        numeric: bool,
    ) -> Result<bool, DataError> {
        let Number::Finite(threshold) = numbers::parse(with.as_bytes()) else {
            let equal = text_of(value).trim_ascii() == with.trim().as_bytes();
            return Ok(equal == (operator == Operator::Equal));
        };
        if let (TargetValue::Text(text), Operator::Equal | Operator::NotEqual) = (value, operator)
            && let (Some(value), Some(with)) = (long_integer(text), long_integer(with.as_bytes()))
        {
            // Neighbours beyond 2^53 are the same 64-bit float.
            return Ok((value == with) == (operator == Operator::Equal));
        }
        let number = match (value, operator) {
            // Among words, a text that is no number is different from every number.
            (TargetValue::Text(text), Operator::Equal | Operator::NotEqual) if !numeric => match numbers::parse(text) {
                Number::Finite(number) => number,
                _ => return Ok(operator == Operator::NotEqual),
            },
            _ => self.numeric(value)?,
        };
        Ok(match operator {
            Operator::Greater => number > threshold,
            Operator::GreaterOrEqual => number >= threshold,
            Operator::Less => number < threshold,
            Operator::LessOrEqual => number <= threshold,
            Operator::Equal => number == threshold,
            Operator::NotEqual => number != threshold,
        })
    }

    fn numeric(&self, value: TargetValue<'_>) -> Result<f64, DataError> {
        match value {
            TargetValue::Number(number) if number.is_finite() => Ok(number),
            TargetValue::Boolean(flag) => Ok(f64::from(u8::from(flag))),
            TargetValue::Text(text) => match numbers::parse(text) {
                Number::Finite(number) => Ok(number),
                _ if numbers::with_point(text).is_some() => {
                    Err(self.not_a_number(&quoted(text)).advise(numbers::NO_COMMAS))
                }
                _ => Err(self.not_a_number(&quoted(text))),
            },
            TargetValue::Number(number) => Err(self.not_a_number(&number.to_string())),
            TargetValue::Missing => Err(self.not_a_number("nothing")),
        }
    }

    #[cold]
    fn not_a_number(&self, found: &str) -> DataError {
        let error = DataError::record(format!("the label should be a finite number, found {found}"));
        match self.rule {
            TargetRule::Number => error.advise(format!(
                "mend the record, or leave such records out with ⟦on_error=skip⟧; for classes, say which is positive: \
                 ⟦target={}==CLASS⟧",
                self.column
            )),
            _ => error.advise(MEND),
        }
    }

    fn sign(&self, value: TargetValue<'_>) -> Result<f64, DataError> {
        let found = match value {
            TargetValue::Boolean(flag) => return Ok(signed(flag)),
            TargetValue::Number(number) => number,
            TargetValue::Text(text) => match (boolean(text), numbers::parse(text)) {
                (Some(flag), _) => return Ok(signed(flag)),
                (None, Number::Finite(number)) => number,
                _ => return Err(self.not_a_sign(&quoted(text))),
            },
            TargetValue::Missing => return Err(self.not_a_sign("nothing")),
        };
        match found {
            1.0 => Ok(1.0),
            0.0 | -1.0 => Ok(-1.0),
            other => Err(self.not_a_sign(&other.to_string())),
        }
    }

    #[cold]
    fn not_a_sign(&self, found: &str) -> DataError {
        DataError::record(format!(
            "the label should be 1 for the positive class and 0 or -1 for the other, found {found}"
        ))
        .advise(format!(
            "{MEND}; for numbers say ⟦task=regression⟧; for classes say which is positive: ⟦target={}==CLASS⟧",
            self.column
        ))
    }

    fn class(&self, value: TargetValue<'_>, negative: &str, positive: &str) -> Result<f64, DataError> {
        let text = text_of(value);
        let text = text.trim_ascii();
        if text == positive.as_bytes() {
            return Ok(1.0);
        }
        if text == negative.as_bytes() {
            return Ok(-1.0);
        }
        Err(DataError::record(format!(
            "the label {} is neither '{negative}' nor '{positive}', the two classes of the first rows",
            quoted(text)
        ))
        .advise(format!(
            "{MEND}; or say which class is positive, the others being negative: ⟦target={}=={positive}⟧",
            self.column
        )))
    }
}

impl TargetRule {
    /// Whether labels are −1 and 1 (or probabilities).
    pub fn is_binary(&self) -> bool {
        !matches!(self, Self::Number)
    }

    /// Whether a number matters as it is written, too.
    pub(crate) fn compares_text(&self) -> bool {
        match self {
            Self::Classes { .. } => true,
            Self::Comparison { operator, .. } => matches!(operator, Operator::Equal | Operator::NotEqual),
            Self::Number | Self::Probability | Self::Signs => false,
        }
    }
}

/// An integer that a 64-bit float may not hold.
fn long_integer(text: &[u8]) -> Option<i128> {
    let text = std::str::from_utf8(text.trim_ascii()).ok()?;
    (text.len() > 15).then(|| text.parse().ok())?
}

fn signed(positive: bool) -> f64 {
    if positive { 1.0 } else { -1.0 }
}

/// The value as text; numbers as they are written shortest.
fn text_of(value: TargetValue<'_>) -> Vec<u8> {
    match value {
        TargetValue::Missing => Vec::new(),
        TargetValue::Number(number) => number.to_string().into_bytes(),
        TargetValue::Boolean(flag) => flag.to_string().into_bytes(),
        TargetValue::Text(text) => text.to_vec(),
    }
}

fn checked_number(label: f64) -> Result<f64, DataError> {
    if label.abs() <= f64::from(f32::MAX) {
        return Ok(label);
    }
    Err(DataError::record(format!("the label {label:e} is beyond ±3.4e38"))
        .advise("labels are at most ±3.4e38: rescale them"))
}

fn probability(label: f64) -> Result<f64, DataError> {
    if (0.0..=1.0).contains(&label) {
        return Ok(label);
    }
    Err(DataError::record(format!("the label {label} is no probability")).advise(
        "labels of a binary task are 0 and 1, -1 and 1, or between 0 and 1; ⟦task=regression⟧ takes any number",
    ))
}

/// Reads the usual words for true and false.
pub(crate) fn boolean(text: &[u8]) -> Option<bool> {
    const TRUE: [&[u8]; 4] = [b"true", b"t", b"yes", b"y"];
    const FALSE: [&[u8]; 4] = [b"false", b"f", b"no", b"n"];
    let text = text.trim_ascii();
    let is = |words: &[&[u8]]| words.iter().any(|word| text.eq_ignore_ascii_case(word));
    if is(&TRUE) {
        Some(true)
    } else if is(&FALSE) {
        Some(false)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expression(text: &str) -> (String, Option<(Operator, String)>) {
        let parsed = Expression::parse(text, &["a>b", "x"]).unwrap();
        let comparison = parsed.comparison.map(|rule| match rule {
            TargetRule::Comparison { operator, with, .. } => (operator, with),
            other => panic!("{other:?}"),
        });
        (parsed.column, comparison)
    }

    #[test]
    fn expressions_split_at_the_first_operator() {
        assert_eq!(expression("x"), ("x".into(), None));
        assert_eq!(expression("a>b"), ("a>b".into(), None));
        assert_eq!(expression("x>15"), ("x".into(), Some((Operator::Greater, "15".into()))));
        assert_eq!(expression("x >= -1.5"), ("x".into(), Some((Operator::GreaterOrEqual, "-1.5".into()))));
        assert_eq!(expression("x==a>b"), ("x".into(), Some((Operator::Equal, "a>b".into()))));
        assert_eq!(expression("x!='late'"), ("x".into(), Some((Operator::NotEqual, "late".into()))));
    }

    #[test]
    fn an_ordering_needs_a_number() {
        let error = Expression::parse("x>late", &[]).unwrap_err();
        assert_eq!(error.to_string(), "target 'x>late' compares with 'late'; '>' needs a number after it");
        let error = Expression::parse("x==", &[]).unwrap_err();
        assert_eq!(error.to_string(), "target 'x==' compares with ''; '==' needs a value after it");
    }

    #[test]
    fn comparisons_make_signs() {
        let target = |text| {
            let Expression { column, comparison } = Expression::parse(text, &[]).unwrap();
            Target { column, rule: comparison.unwrap() }
        };
        let rule = target("x>15");
        assert_eq!(rule.label(TargetValue::Text(b"15")).unwrap(), Some(-1.0));
        assert_eq!(rule.label(TargetValue::Text(b"15.5")).unwrap(), Some(1.0));
        assert_eq!(rule.label(TargetValue::Text(b"NA")).unwrap(), None);
        assert!(rule.label(TargetValue::Text(b"abc")).is_err());
        let rule = target("x==late");
        assert_eq!(rule.label(TargetValue::Text(b"late")).unwrap(), Some(1.0));
        assert_eq!(rule.label(TargetValue::Text(b" late\t")).unwrap(), Some(1.0));
        assert_eq!(rule.label(TargetValue::Number(1.0)).unwrap(), Some(-1.0));
    }

    #[test]
    fn rules_of_older_models_are_read() {
        let text = r#"{"comparison":{"operator":"==","with":"3"}}"#;
        let rule: TargetRule = serde_json::from_str(text).unwrap();
        assert_eq!(rule, TargetRule::Comparison { operator: Operator::Equal, with: "3".to_owned(), numeric: false });
        assert_eq!(serde_json::to_string(&rule).unwrap(), text);
    }

    #[test]
    fn signs_take_zero_minus_one_and_words() {
        let target = Target { column: "y".to_owned(), rule: TargetRule::Signs };
        for (text, label) in [("1", 1.0), ("0", -1.0), ("-1", -1.0), ("1.0", 1.0), ("True", 1.0), ("no", -1.0)] {
            assert_eq!(target.label(TargetValue::Text(text.as_bytes())).unwrap(), Some(label));
        }
        assert!(target.label(TargetValue::Text(b"2")).is_err());
    }
}
