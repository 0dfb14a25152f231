//! Online machine learning that measures itself against hindsight.
//!
//! A [`Learner`] takes rows and plays one round for each, in order: it predicts, is told the truth,
//! pays a [`Loss`], and updates, in memory that does not grow with the stream.
//! A [`Ledger`] keeps what was paid (the *sequential risk*) and
//! a certificate of how much less any fixed linear predictor could have paid
//! (the *regret*).
//!
//! ```
//! use onward::{LearnerSpec, Ledger, RowColumns, Rows};
//!
//! let spec: LearnerSpec = "auto".parse()?;
//! let loss = onward::loss::parse("logistic")?;
//! let mut learner = spec.build(&loss, None)?;
//! let mut ledger = Ledger::new(learner.loss());
//!
//! // Three rows of two features, borrowed. Index 0 is the bias by convention.
//! let columns = RowColumns { labels: &[1.0, -1.0, 1.0], ..RowColumns::default() };
//! let rows = Rows::from_dense(&[1.0, 0.3, 1.0, -0.8, 1.0, 0.5], &[0, 1], columns)?;
//! let mut scores = [0.0; 3];
//! learner.learn(rows, &mut scores);
//! ledger.observe(rows, &scores);
//! assert!(ledger.sequential_risk() < 0.8);
//! # Ok::<(), onward::Error>(())
//! ```
//!
//! No files, threads, clocks or network in here: those are in `onward-data`
//! and the `onward` program.
//!
//! The modules are layers, each of which imports only those above it:
//! [`numeric`], [`simd`], [`hashing`], [`archive`], examples ([`Batch`]), [`parameter`], [`loss`], [`metric`], [`storage`],
//! [`guarantee`], [`protocol`] (what learners and optimisers are), [`domain`], [`optimizer`], [`learner`],
//! [`mixture`], [`evaluation`], [`hindsight`], [`game`], and [`registry`], which alone knows all learners.

pub mod archive;
pub mod domain;
mod error;
pub mod evaluation;
mod example;
pub mod game;
pub mod guarantee;
pub mod hashing;
pub mod hindsight;
pub mod learner;
pub mod loss;
pub mod metric;
pub mod mixture;
mod nearest;
pub mod numeric;
pub mod optimizer;
pub mod parameter;
pub mod protocol;
pub mod registry;
pub mod simd;
pub mod storage;

pub use error::{Error, ErrorKind};
pub use evaluation::Ledger;
pub use example::{Batch, BorrowedColumns, Example, Features, RowColumns, Rows};
pub use hashing::feature_map::{FeatureMap, INDEX_LIMIT};
pub use loss::{Loss, SharedLoss};
pub use protocol::{ExpertReport, Learner, LearnerSpec, LinearWeights, MixtureReport, Predictor, ScoreLearner};
