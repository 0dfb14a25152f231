//! The tests of readers and writers in one binary: every further binary links all dependencies again.

#[macro_use]
mod text;

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
mod own_format;
mod reading;
mod records;
#[cfg(feature = "arrow")]
mod support;
mod svmlight;
mod vw;

#[path = "../../../onward/tests/it/wording.rs"]
mod wording;
