//! From cells to features: what all formats share.

mod encoder;
mod interactions;
mod names_seen;
mod parsed_batch;
mod rules;
mod timestamps;
mod words;

pub(crate) use encoder::RowEncoder;
pub(crate) use interactions::InteractionEncoder;
pub(crate) use names_seen::NamesSeen;
pub(crate) use parsed_batch::{KEPT_ERRORS, TextList, name_of};
pub use parsed_batch::{NewNames, ParsedBatch};
pub use rules::Rules;
pub(crate) use rules::{bad_offset, bad_weight, checked_offset, checked_weight};
pub(crate) use timestamps::FEATURES_OF_TIMESTAMP;

/// The index of the bias, whose value is always 1.
pub(crate) const BIAS: u32 = 0;
