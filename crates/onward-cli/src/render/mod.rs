//! How reports look: as text, as a page, as a picture, in the terminal.

mod axis;
mod chart;
pub(crate) mod html;
mod scene;
pub(crate) mod svg;
pub(crate) mod terminal;
pub(crate) mod text;

/// Adds to a text.
fn write(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    // Writing to a String cannot fail.
    let _ = std::fmt::Write::write_fmt(text, arguments);
}
