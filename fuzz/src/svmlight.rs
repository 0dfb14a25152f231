//! See `text/any.rs` of the tests of onward-data.

#![no_main]

#[path = "../../crates/onward-data/tests/it/text/mod.rs"]
mod text;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| text::any::svmlight(bytes));
