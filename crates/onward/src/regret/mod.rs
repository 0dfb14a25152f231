//! Measuring a learner against hindsight: the ledger of what was paid, the
//! certificate of what any fixed predictor must have paid, and guarantees.

mod guarantee;

pub use guarantee::{Guarantee, GuaranteeKind};
