//! One value of a table.

use super::timestamp::Timestamp;

/// A cell of a table as its format delivers it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum CellValue<'a> {
    Missing,
    Number(f64),
    Boolean(bool),
    Timestamp(Timestamp),
    /// Text that may be a number, a word, a moment: CSV has nothing else.
    Text(&'a [u8]),
}
