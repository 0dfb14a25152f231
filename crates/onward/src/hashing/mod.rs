//! Hashes: from names to feature indices, and from indices to numbers.

pub mod feature_hash;
pub(crate) mod feature_map;
pub(crate) mod index_map;
