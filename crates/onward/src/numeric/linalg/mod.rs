//! Dense vectors and matrices.

pub(crate) mod triangle;
pub(crate) mod vector;
