//! Measuring a learner against hindsight: the ledger of what was paid, the
//! certificate of what any fixed predictor must have paid, and guarantees.

pub mod anytime;
pub mod baseline;
pub mod certificate;
mod class_frequencies;
pub mod curve;
pub mod curved;
pub mod dual;
mod grid;
mod label_account;
pub mod label_runs;
mod labels;
pub mod ledger;
pub mod no_change;
pub mod online_constant;
pub mod online_frequencies;
mod online_mean;
mod sign_transitions;
pub mod skill;
mod smoothed_frequency;

pub use anytime::{AnytimeLosses, BoundedLoss};
pub use baseline::{BestConstant, ConstantInHindsight};
pub use certificate::{Certificate, CertificateTerms, DEFAULT_RADIUS};
pub use class_frequencies::ClassFrequencies;
pub use curve::{Curve, LedgerPoint};
pub use curved::{CurvedCertificate, CurvedFloor};
pub use dual::ScaledDual;
pub use label_runs::{LabelOrder, LabelPattern, LabelRuns};
pub use labels::LabelStatistics;
pub use ledger::{Certificates, Ledger};
pub use no_change::{NoChange, NoChangeOfClass};
pub use online_constant::OnlineConstant;
pub use online_frequencies::OnlineFrequencies;
pub use skill::{BaselineKind, SKILL_CONFIDENCE, Skill};
