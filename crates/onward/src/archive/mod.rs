//! Saving and loading: what a learner, a ledger and a schema need to continue
//! to the bit, and the file format that holds it.

#[allow(clippy::module_inception, reason = "it holds the type of that name")]
mod archive;
pub mod file;
mod names;
mod numbers;
mod state;

pub use archive::{Archive, ColumnNumber, Field};
pub(crate) use archive::{rows_of, visit_fields};
pub use file::{FORMAT_VERSION, ModelFile, is_safetensors};
pub use names::Names;
pub use state::{SavedColumn, State};
