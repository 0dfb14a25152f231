//! Programs that use Onward as a library: see the files beside this one.

/// The README, whose Rust code runs as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
