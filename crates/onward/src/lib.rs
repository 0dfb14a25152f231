//! Online machine learning that measures itself against hindsight.
//!
//! A [`Learner`] sees one example at a time: it predicts, is told the truth,
//! pays a [`Loss`], and updates, in memory that does not grow with the stream.
//! A [`Ledger`](regret::Ledger) keeps what was paid (the *sequential risk*) and
//! a certificate of how much less any fixed linear predictor could have paid
//! (the *regret*).
//!
//! ```
//! use onward::{Features, learner::Specification, regret::Ledger};
//!
//! let specification: Specification = "auto".parse()?;
//! let loss = onward::loss::parse("logistic")?;
//! let mut learner = specification.build(&loss, None)?;
//! let mut ledger = Ledger::new(learner.charged_loss());
//!
//! // Rows are sparse: indices and values. Index 0 is the bias by convention.
//! for (values, label) in [([1.0, 0.3], 1.0), ([1.0, -0.8], -1.0), ([1.0, 0.5], 1.0)] {
//!     let x = Features::new(&[0, 1], &values)?;
//!     let prediction = learner.learn(x, label, 1.0);
//!     ledger.observe(prediction, label, 1.0, x);
//! }
//! assert!(ledger.sequential_risk() < 0.8);
//! # Ok::<(), onward::Error>(())
//! ```
//!
//! No files, threads, clocks or network in here: those are in `onward-data`
//! and the `onward` program.

mod dense;
pub mod domain;
mod eight;
mod error;
pub mod expert;
pub mod feature;
mod floats;
pub mod learner;
pub mod loss;
mod math;
#[doc(hidden)]
pub mod memory;
pub mod metric;
pub mod model;
mod nearest;
pub mod optimizer;
mod protocol;
mod quad;
pub mod random;
mod reach;
pub mod regret;
mod slot_hints;
mod sum;
mod table;
pub mod vector;

pub use error::{Error, ErrorKind};
pub use loss::{Loss, SharedLoss};
pub use protocol::{Batch, Example, Expert, Features, INDEX_LIMIT, Learner, Lent, Mixed, Prediction, RowColumns};
pub use slot_hints::SlotHints;
