//! Online convex optimisation: one file per algorithm.
//!
//! An optimiser sees one (sub)gradient per round, and keeps a point w. The
//! gradient of a linear predictor's loss is a number times the features, z =
//! h·g·x, so one interface serves both: learning, and general online convex
//! optimisation, where the features are the gradient and the number is 1.

pub mod adagrad;
pub mod adagrad_dual;
pub mod adagrad_full;
mod adaptive;
pub mod coin;
pub mod dual_averaging;
pub mod ftl;
pub mod ftrl;
pub mod ftrl_proximal;
pub mod ftrl_real;
mod least;
pub mod lms;
pub mod mirror_descent;
pub mod nag;
pub mod nlms;
pub mod ogd;
pub mod ogd_strong;
pub mod ons;
pub mod osd;
mod prelude;
pub mod scinol;
pub mod sgd;

pub use adagrad::AdaGrad;
pub use adagrad_dual::AdaGradDual;
pub use adagrad_full::AdaGradFull;
pub use adaptive::Adaptive;
pub use coin::Coin;
pub use dual_averaging::{DualAveraging, LazyRate};
pub use ftl::{Ftl, RunningMean};
pub use ftrl::Ftrl;
pub use ftrl_proximal::FtrlProximal;
pub use ftrl_real::FtrlReal;
pub use lms::Lms;
pub use mirror_descent::{Entropic, PNorm};
pub use nag::Nag;
pub use nlms::Nlms;
pub use ogd::{Ogd, OgdRate};
pub use ogd_strong::OgdStrong;
pub use ons::Ons;
pub use scinol::Scinol;
pub use sgd::Sgd;

pub use crate::protocol::{Optimizer, Step};

/// Why there is no guarantee when a row had features that a simplex does not have.
pub(crate) const BEYOND: &str = "rows had features at or above the dimension of the simplex, which have no weights; \
    use a dimension above all indices (2^bits for hashed features)";
