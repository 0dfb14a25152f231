//! Measuring a learner against hindsight: the ledger of what was paid, the
//! certificate of what any fixed predictor must have paid, and guarantees.

pub mod baseline;
pub mod certificate;
mod class_frequencies;
pub mod curve;
pub mod curved;
pub mod dual;
mod grid;
mod labels;
pub mod ledger;

pub use baseline::BestConstant;
pub use certificate::{Certificate, CertificateTerms, DEFAULT_RADIUS};
pub use class_frequencies::ClassFrequencies;
pub use curve::{Curve, LedgerPoint};
pub use curved::{CurvedCertificate, CurvedFloor};
pub use dual::ScaledDual;
pub use labels::LabelStatistics;
pub use ledger::{Certificates, Ledger};
