//! What is kept for each feature, by its index.

pub mod scaling;
pub(crate) mod table;

pub use scaling::RunningScale;
