//! Messages for people, on standard error. Its reader may have gone away, or its disk be
//! full: no reason to lose what a run leaves, so that such errors are ignored.

use std::fmt::Display;
use std::io::Write;

/// Writes a line.
pub(crate) fn line(text: impl Display) {
    block(format_args!("{text}\n"));
}

/// Writes lines that end themselves.
pub(crate) fn block(text: impl Display) {
    let _ = std::io::stderr().write_all(text.to_string().as_bytes());
}
