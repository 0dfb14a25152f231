//! What is said to people, on standard error. Its reader may have gone away, or its disk be
//! full: no reason to lose what a run leaves, so that such errors are ignored.

use std::fmt::Display;
use std::io::Write;

/// Says a line.
pub(crate) fn line(text: impl Display) {
    block(format_args!("{text}\n"));
}

/// Says lines that end themselves.
pub(crate) fn block(text: impl Display) {
    let _ = std::io::stderr().write_all(text.to_string().as_bytes());
}
