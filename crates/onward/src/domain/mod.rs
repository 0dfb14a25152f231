//! Convex sets that weights are kept in, with exact Euclidean projections, and the two
//! ways to keep a point in one: projected after each step ([`Point`]), or as the projection
//! of all steps together ([`LazyPoint`]).

mod average;
pub mod cube;
pub mod l1_ball;
pub mod l2_ball;
mod lazy;
pub mod orthant;
mod plain;
mod point;
mod set;
pub mod simplex;
pub mod weighted_ball;

pub(crate) use average::Average;
pub use l2_ball::BallVector;
pub use lazy::LazyPoint;
pub use point::Point;
pub use set::Domain;
pub(crate) use set::{ALL, BALL, BOX, DIMENSION, DIMENSION_OF_RATE, DOMAIN, L1, RADIUS, SIMPLEX};
