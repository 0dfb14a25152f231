//! What may stand in a record, whatever its format.

use std::sync::Arc;

use onward::loss::TaskLoss;

use crate::error::{DataError, MEND, Result};
use crate::schema::sample::InvalidTokens;
use crate::schema::{CellValue, Kind, Role, Schema};
use crate::text::numbers;

/// What every parser needs: the schema, what labels are allowed, and whether bad
/// records are skipped.
#[derive(Debug, Clone)]
pub struct Rules {
    pub(crate) schema: Arc<Schema>,
    pub(crate) reserved: u32,
    pub(crate) loss: Option<TaskLoss>,
    pub(crate) skip_errors: bool,
    /// Whether each row needs a weight, if there is a column of them: for learning.
    pub(crate) require_weight: bool,
    /// What is known from the first rows about values that are no numbers, for messages.
    pub(crate) invalid: Arc<InvalidTokens>,
    /// Whether the schema is that of a model, which options do not change.
    pub(crate) is_bound: bool,
}

impl Rules {
    /// Whether a row that lacks such a column gets a feature that says so. JSON may have very many columns,
    /// and few of them in a row.
    pub(super) fn says_missing(&self, role: &Role) -> bool {
        match role {
            Role::Weight => self.require_weight,
            Role::Feature(Kind::Numeric { .. } | Kind::Boolean { .. } | Kind::Timestamp { .. }) => true,
            Role::Target | Role::Id | Role::Ignored | Role::Feature(Kind::Categorical { .. } | Kind::Text) => false,
        }
    }

    /// The index of a hashed feature.
    #[inline]
    pub(crate) fn hashed(&self, hash: u64) -> u32 {
        self.schema.hashed(self.reserved, hash)
    }

    /// The label of a target value, checked against the task and the loss.
    pub(crate) fn label(&self, value: CellValue<'_>) -> Result<Option<f64>> {
        let label = self.schema.target.label(value).map_err(|error| match value {
            CellValue::Text(text) if numbers::with_point(text).is_some() => error,
            _ if self.is_bound => error.advise(MEND),
            _ => error,
        })?;
        label.map_or(Ok(()), |label| self.check_label(label))?;
        Ok(label)
    }

    /// Refuses a label that the loss does not have.
    pub(crate) fn check_label(&self, label: f64) -> Result {
        let Some(Err(error)) = self.loss.as_ref().map(|loss| loss.check_label(label)) else { return Ok(()) };
        Err(DataError::record(error).advise(match self.is_bound {
            true => MEND,
            false => "choose another ⟦loss⟧, or skip such records with ⟦on_error=skip⟧",
        }))
    }
}

/// An importance weight: 0, or of a size whose squares f64 can add up.
pub(crate) fn checked_weight(weight: f64) -> Result<f64> {
    if weight == 0.0 || (1e-38..=f64::from(f32::MAX)).contains(&weight) {
        return Ok(weight);
    }
    let shown = if (1e-4..1e7).contains(&weight.abs()) { weight.to_string() } else { format!("{weight:e}") };
    Err(bad_weight(&shown))
}

pub(crate) fn bad_weight(found: &str) -> DataError {
    DataError::record(format!("the importance weight must be 0 or from 1e-38 to 3.4e38; got {found}"))
}

/// What a prediction starts from: within the range that labels have.
pub(crate) fn checked_offset(offset: f64) -> Result<f64> {
    if offset.abs() <= f64::from(f32::MAX) {
        return Ok(offset);
    }
    Err(bad_offset(&format!("{offset:e}")))
}

pub(crate) fn bad_offset(found: &str) -> DataError {
    DataError::record(format!("the offset (initial prediction) must be within ±3.4e38; got {found}"))
}
