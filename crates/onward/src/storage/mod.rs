//! What is kept for each feature, by its index.

pub(crate) mod feature_index;
pub mod scaling;
pub(crate) mod table;

pub use scaling::RunningScale;
