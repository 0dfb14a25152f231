//! Where labels come from: a column, or a comparison that makes two classes.

use std::fmt;

use onward::loss::{MAX_CLASSES, Task};
use serde::{Deserialize, Serialize};

use super::CellValue;
use crate::error::{DataError, MEND, Result, quoted};
use crate::text::numbers;

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
    /// The number of a class: 0, 1, 2, …
    ClassNumber,
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

impl Operator {
    /// Whether it needs an order, and so a number.
    pub(crate) fn orders(self) -> bool {
        !matches!(self, Self::Equal | Self::NotEqual)
    }
}

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

/// A target as the user writes it: a column, with a comparison or without.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Expression {
    pub(crate) column: String,
    pub(crate) comparison: Option<(Operator, String)>,
}

impl Expression {
    /// Reads `column` or `column>15`. A column whose name holds an operator is
    /// found first by its whole name.
    pub(crate) fn parse(text: &str, columns: &[&str]) -> Result<Self> {
        if columns.contains(&text) {
            return Ok(Self { column: text.to_owned(), comparison: None });
        }
        let first = |&(sign, operator): &(&'static str, Operator)| Some((text.find(sign)?, sign, operator));
        let found = OPERATORS.iter().filter_map(first).min_by_key(|&(at, sign, _)| (at, usize::MAX - sign.len()));
        let Some((at, sign, operator)) = found else { return Ok(Self { column: text.to_owned(), comparison: None }) };
        let column = text[..at].trim().to_owned();
        let with = text[at + sign.len()..].trim().trim_matches(|mark| mark == '"' || mark == '\'').to_owned();
        check_operand(text, operator, &with)?;
        Ok(Self { column, comparison: Some((operator, with)) })
    }
}

fn check_operand(text: &str, operator: Operator, with: &str) -> Result {
    if with.is_empty() || operator.orders() && numbers::finite(with.as_bytes()).is_none() {
        let found = format!("target '{text}' compares with {}", quoted(with.as_bytes()));
        let what = if operator.orders() { "a number" } else { "a value" };
        return Err(DataError::options(found).advise(format!("'{operator}' needs {what} after it")));
    }
    Ok(())
}

impl Target {
    /// Whether a number is all that counts of a text that is one.
    pub(crate) fn reads_numbers(&self) -> bool {
        match self.rule {
            TargetRule::Number | TargetRule::ClassNumber => true,
            TargetRule::Comparison { operator, .. } => operator.orders(),
            TargetRule::Probability | TargetRule::Signs | TargetRule::Classes { .. } => false,
        }
    }

    /// The label of a value; `None` when it is missing.
    pub(crate) fn label(&self, value: CellValue<'_>) -> Result<Option<f64>> {
        let value = match value {
            CellValue::Missing => return Ok(None),
            CellValue::Number(number) if number.is_nan() => return Ok(None),
            CellValue::Text(text) if numbers::is_missing(text.trim_ascii()) => return Ok(None),
            CellValue::Timestamp(moment) => CellValue::Number(moment.days),
            value => value,
        };
        let label = match &self.rule {
            TargetRule::Number => self.numeric(value).and_then(checked_number),
            TargetRule::ClassNumber => self.numeric(value).and_then(class_number),
            TargetRule::Probability => self.numeric(value).and_then(probability),
            TargetRule::Signs => self.sign(value),
            TargetRule::Classes { negative, positive } => self.class(value, negative, positive),
            TargetRule::Comparison { operator, with, numeric } => {
                self.compare(value, *operator, with, *numeric).map(signed)
            }
        };
        label.map(Some)
    }

    /// Refuses a label that this target never gives.
    pub(crate) fn check_label(&self, label: f64) -> Result {
        match self.rule {
            TargetRule::Number => checked_number(label).map(drop),
            TargetRule::ClassNumber => class_number(label).map(drop),
            TargetRule::Probability => probability(label).map(drop),
            _ if label == 1.0 || label == -1.0 => Ok(()),
            _ => Err(DataError::record(format!("the label must be 1 for the positive class or -1; got {label}"))),
        }
    }

    fn compare(&self, value: CellValue<'_>, operator: Operator, with: &str, numeric: bool) -> Result<bool> {
        let Some(threshold) = numbers::finite(with.as_bytes()) else {
            let equal = text_of(value).trim_ascii() == with.trim().as_bytes();
            return Ok(equal == (operator == Operator::Equal));
        };
        if let (CellValue::Text(text), false) = (value, operator.orders()) {
            if let (Some(value), Some(with)) = (long_integer(text), long_integer(with.as_bytes())) {
                // Neighbours beyond 2^53 are the same 64-bit float.
                return Ok((value == with) == (operator == Operator::Equal));
            }
            // Among words, a text that is not a number differs from every number.
            if !numeric && numbers::finite(text).is_none() {
                return Ok(operator == Operator::NotEqual);
            }
        }
        let number = self.numeric(value)?;
        Ok(match operator {
            Operator::Greater => number > threshold,
            Operator::GreaterOrEqual => number >= threshold,
            Operator::Less => number < threshold,
            Operator::LessOrEqual => number <= threshold,
            Operator::Equal => number == threshold,
            Operator::NotEqual => number != threshold,
        })
    }

    fn numeric(&self, value: CellValue<'_>) -> Result<f64> {
        match value {
            CellValue::Number(number) if number.is_finite() => Ok(number),
            CellValue::Boolean(flag) => Ok(f64::from(u8::from(flag))),
            CellValue::Text(text) => numbers::finite(text).ok_or_else(|| match numbers::with_point(text) {
                Some(_) => self.not_a_number(&quoted(text)).advise(numbers::NO_COMMAS),
                None => self.not_a_number(&quoted(text)),
            }),
            value => Err(self.not_a_number(&String::from_utf8_lossy(&text_of(value)))),
        }
    }

    fn not_a_number(&self, found: &str) -> DataError {
        let error = DataError::record(format!("the label must be a finite number; got {found}"));
        match self.rule {
            TargetRule::Number => {
                error.advise(format!("{MEND}; for classes, name the positive one: ⟦target={}==CLASS⟧", self.column))
            }
            _ => error.advise(MEND),
        }
    }

    fn sign(&self, value: CellValue<'_>) -> Result<f64> {
        let number = match value {
            CellValue::Boolean(flag) => return Ok(signed(flag)),
            CellValue::Number(number) => number,
            CellValue::Text(text) => match boolean(text) {
                Some(flag) => return Ok(signed(flag)),
                None => numbers::finite(text).ok_or_else(|| self.not_a_sign(&quoted(text)))?,
            },
            CellValue::Missing | CellValue::Timestamp(_) => return Err(self.not_a_sign("nothing")),
        };
        match number {
            1.0 => Ok(1.0),
            0.0 | -1.0 => Ok(-1.0),
            other => Err(self.not_a_sign(&other.to_string())),
        }
    }

    fn not_a_sign(&self, found: &str) -> DataError {
        let column = &self.column;
        DataError::record(format!("the label must be 1 for the positive class and 0 or -1 for the other; got {found}"))
            .advise(format!(
                "{MEND}; for numbers use ⟦task=regression⟧; for classes name the positive one: ⟦target={column}==CLASS⟧"
            ))
    }

    fn class(&self, value: CellValue<'_>, negative: &str, positive: &str) -> Result<f64> {
        let text = text_of(value);
        let text = text.trim_ascii();
        if text == positive.as_bytes() || text == negative.as_bytes() {
            return Ok(signed(text == positive.as_bytes()));
        }
        let found = quoted(text);
        let found =
            format!("the label {found} is neither '{negative}' nor '{positive}', the two classes of the first rows");
        let column = &self.column;
        Err(DataError::record(found).advise(format!(
            "{MEND}; or name the positive class, which makes all others negative: ⟦target={column}=={positive}⟧"
        )))
    }
}

impl TargetRule {
    /// What the labels are: −1 and 1 (or probabilities), numbers, or numbers of classes.
    pub fn task(&self) -> Task {
        match self {
            Self::Number => Task::Regression,
            Self::ClassNumber => Task::Classes,
            Self::Probability | Self::Signs | Self::Classes { .. } | Self::Comparison { .. } => Task::Binary,
        }
    }

    /// Whether a number matters as it is written, too.
    pub(crate) fn compares_text(&self) -> bool {
        match self {
            Self::Classes { .. } => true,
            Self::Comparison { operator, .. } => !operator.orders(),
            Self::Number | Self::Probability | Self::Signs | Self::ClassNumber => false,
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
fn text_of(value: CellValue<'_>) -> Vec<u8> {
    match value {
        CellValue::Missing | CellValue::Timestamp(_) => Vec::new(),
        CellValue::Number(number) => number.to_string().into_bytes(),
        CellValue::Boolean(flag) => flag.to_string().into_bytes(),
        CellValue::Text(text) => text.to_vec(),
    }
}

fn checked_number(label: f64) -> Result<f64> {
    if label.abs() <= f64::from(f32::MAX) {
        return Ok(label);
    }
    Err(DataError::record(format!("the label must be within ±3.4e38; got {label:e}")).advise("rescale the labels"))
}

fn class_number(label: f64) -> Result<f64> {
    if label.fract() == 0.0 && (0.0..MAX_CLASSES as f64).contains(&label) {
        return Ok(label);
    }
    let found = format!("the label must be a whole number from 0 to {}; got {label}", MAX_CLASSES - 1);
    Err(DataError::record(found).advise("number the classes 0, 1, 2, …"))
}

fn probability(label: f64) -> Result<f64> {
    if (0.0..=1.0).contains(&label) {
        return Ok(label);
    }
    let found = format!("the label must be from 0 to 1; got {label}");
    Err(DataError::record(found)
        .advise("labels of a binary task may also be -1 and 1; ⟦task=regression⟧ takes any number"))
}

/// Reads the usual words for true and false.
pub(crate) fn boolean(text: &[u8]) -> Option<bool> {
    const TRUE: [&[u8]; 4] = [b"true", b"t", b"yes", b"y"];
    const FALSE: [&[u8]; 4] = [b"false", b"f", b"no", b"n"];
    let text = text.trim_ascii();
    let is = |words: &[&[u8]]| words.iter().any(|word| text.eq_ignore_ascii_case(word));
    is(&TRUE).then_some(true).or_else(|| is(&FALSE).then_some(false))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expression(text: &str) -> (String, Option<(Operator, String)>) {
        let parsed = Expression::parse(text, &["a>b", "x"]).unwrap();
        (parsed.column, parsed.comparison)
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
            let (operator, with) = comparison.unwrap();
            Target { column, rule: TargetRule::Comparison { operator, with, numeric: false } }
        };
        let rule = target("x>15");
        assert_eq!(rule.label(CellValue::Text(b"15")).unwrap(), Some(-1.0));
        assert_eq!(rule.label(CellValue::Text(b"15.5")).unwrap(), Some(1.0));
        assert_eq!(rule.label(CellValue::Text(b"NA")).unwrap(), None);
        assert!(rule.label(CellValue::Text(b"abc")).is_err());
        let rule = target("x==late");
        assert_eq!(rule.label(CellValue::Text(b"late")).unwrap(), Some(1.0));
        assert_eq!(rule.label(CellValue::Text(b" late\t")).unwrap(), Some(1.0));
        assert_eq!(rule.label(CellValue::Number(1.0)).unwrap(), Some(-1.0));
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
            assert_eq!(target.label(CellValue::Text(text.as_bytes())).unwrap(), Some(label));
        }
        assert!(target.label(CellValue::Text(b"2")).is_err());
    }
}
