//! Measuring a learner against hindsight: the ledger of what was paid, the
//! certificate of what any fixed predictor must have paid, and guarantees.

pub mod baseline;
pub mod certificate;
mod class_frequencies;
pub mod curve;
mod grid;
pub mod ledger;

pub use baseline::BestConstant;
pub use certificate::{Certificate, DEFAULT_RADIUS};
pub use class_frequencies::ClassFrequencies;
pub use curve::{Curve, LedgerPoint};
pub use ledger::Ledger;
