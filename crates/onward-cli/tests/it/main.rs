//! The program's tests in one binary: every further binary links all dependencies again.

mod account;
mod anytime;
mod auto;
mod averaged;
mod bad_input;
mod cache;
mod common;
mod compare;
mod documentation;
mod flights;
mod golden;
mod headlines;
mod hindsight;
mod interactions;
mod outputs;
mod passes;
mod plan;
mod play;
mod summary;
