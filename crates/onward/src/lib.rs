//! x
mod error;
pub mod feature;
pub mod loss;
pub mod model;
mod protocol;
pub mod regret;
mod sum;
mod table;
pub use error::{Error, ErrorKind};
pub use loss::{Loss, SharedLoss};
pub use protocol::{Batch, Example, Features, Learner, Prediction};
