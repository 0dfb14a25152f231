//! Maps and sets of what is hashed already.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

use onward::hashing::feature_hash as hash;

/// A map from hashes.
pub(crate) type ByHash<T> = HashMap<u64, T, BuildHasherDefault<IdentityHasher>>;

/// A set of hashes.
pub(crate) type HashedSet = HashSet<u64, BuildHasherDefault<IdentityHasher>>;

/// Takes a hash as it is.
#[derive(Debug, Default)]
pub(crate) struct IdentityHasher(u64);

impl Hasher for IdentityHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = hash::seed(bytes);
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = value;
    }
}
