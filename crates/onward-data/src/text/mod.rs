//! Text: its lines, where their words end, and the numbers in them.

pub(crate) mod delimiters;
pub(crate) mod hashed;
pub(crate) mod lines;
pub(crate) mod numbers;
pub(crate) mod window;
