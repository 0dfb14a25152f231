//! What happens to features between the reader and the learner.

pub mod hash;
pub mod scaling;

pub use scaling::RunningScale;

/// The natural logarithm, with the same bits on all machines: readers that
/// compute feature values use it.
///
/// ```
/// assert_eq!(onward::feature::logarithm(1.0), 0.0);
/// ```
pub fn logarithm(x: f64) -> f64 {
    libm::log(x)
}
