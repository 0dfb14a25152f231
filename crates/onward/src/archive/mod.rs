//! Saving and loading: what a learner, a ledger and a schema need to continue
//! to the bit, and the file format that holds it.

#[allow(clippy::module_inception, reason = "it holds the type of that name")]
mod archive;
mod column;
pub mod file;
mod names;
mod numbers;
mod precision;
mod state;

pub use archive::{Archive, Field};
pub(crate) use archive::{fields, rows_of, visit_fields};
pub use column::{ColumnNumber, SavedColumn};
pub use file::{FORMAT_VERSION, ModelFile, is_safetensors};
pub use names::Names;
pub(crate) use precision::{Precision, single};
pub use state::State;
