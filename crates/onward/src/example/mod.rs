//! Examples: rows of features with their labels and weights, one by one or many in a batch.

mod batch;
pub(crate) mod feature_map;
mod features;
pub(crate) mod reach;
mod repeats;
mod rows;

pub use batch::{Batch, BorrowedColumns, Example, RowColumns};
pub use feature_map::FeatureMap;
pub use features::{Features, INDEX_LIMIT};
pub use rows::Rows;
