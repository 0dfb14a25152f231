//! Examples: rows of features with their labels and weights, one by one or many in a batch.

mod batch;
mod features;
mod numbering;
pub(crate) mod reach;
mod repeats;
mod rows;

pub use batch::{Batch, BorrowedColumns, Example, RowColumns};
pub use features::Features;
pub use rows::Rows;
