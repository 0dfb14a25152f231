//! Saving and loading: what a learner, a ledger and a schema need to continue
//! to the bit, and the file format that holds it.

pub mod file;
mod names;
mod numbers;
mod state;

pub use file::{FORMAT_VERSION, Model, is_safetensors};
pub use names::Names;
pub use state::{Column, State};
