//! The tests of readers and writers in one binary: every further binary links all dependencies again.

mod auto;
mod cache;
mod columnar;
mod convert;
mod convert_text;
mod corpus;
mod csv;
mod faults;
mod inferring;
mod interactions;
mod jsonl;
mod reading;
#[cfg(feature = "arrow")]
mod support;
mod svmlight;
mod text;
mod vw;
