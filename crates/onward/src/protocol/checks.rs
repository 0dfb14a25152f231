//! What several parameters must be.

use crate::Error;

/// Refuses a rate (or what rates are made of) that sums of squares could not hold.
pub(crate) fn expect_rate(name: &str, value: f64) -> Result<f64, Error> {
    if (1e-30..=1e30).contains(&value) {
        return Ok(value);
    }
    Err(Error::parameter(format!(
        "{name} is {value:?}: it is a number from 1e-30 to 1e30, so that its square neither vanishes nor overflows"
    )))
}

/// Refuses a number of rounds that no stream has.
pub(crate) fn expect_rounds(rounds: f64) -> Result<f64, Error> {
    if (1.0..=1e18).contains(&rounds) {
        return Ok(rounds);
    }
    Err(Error::parameter(format!(
        "rounds is {rounds}: it is a number from 1 to 1e18, the examples that a stream can have"
    )))
}

/// Refuses a parameter that is not positive and finite.
pub(crate) fn expect_positive(name: &str, value: f64) -> Result<f64, Error> {
    if value.is_finite() && value > 0.0 {
        return Ok(value);
    }
    let why = if name == "radius" { ", for a class of size 0 has one predictor, which is 0" } else { "" };
    Err(Error::parameter(format!("{name} is {value}: it is a finite number above 0{why}")))
}
