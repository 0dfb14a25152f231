//! Dense vectors and matrices.

pub(crate) mod ball;
pub(crate) mod cholesky;
pub(crate) mod eigen;
mod rotation;
pub(crate) mod triangle;
pub(crate) mod vector;
