//! Convex sets that weights are kept in, with exact projections.

pub mod l2_ball;

pub use l2_ball::BallVector;
pub(crate) use l2_ball::saturate;
