//! All learners by name.

mod catalog;

pub use catalog::LEARNERS;
