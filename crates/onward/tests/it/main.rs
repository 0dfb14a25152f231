//! The library's tests in one binary: every further binary links all dependencies again.

mod auto;
mod battery;
mod certificates;
mod classes;
mod common;
mod documentation;
mod experts;
mod guarantees;
mod hindsight;
mod kernels;
mod leaders;
mod mirror;
mod nag;
mod online;
mod own_loss;
mod parameters;
mod perceptron;
mod play;
mod regularised;
mod second_order;
mod structure;
mod traps;
mod vectors;
mod wording;
