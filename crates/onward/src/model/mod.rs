//! Saving and loading: what a learner, a ledger and a schema need to continue
//! to the bit, and the file format that holds it.

mod state;

pub use state::{Column, State};
