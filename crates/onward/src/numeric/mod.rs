//! Numbers: sums, functions and random draws that give the same bits on every machine.

pub(crate) mod exp_log;
pub(crate) mod linalg;
pub mod rng;
pub mod sample;
pub(crate) mod sum;

/// The natural logarithm, with the same bits on all machines: readers that
/// compute feature values use it.
///
/// ```
/// assert_eq!(onward::numeric::logarithm(1.0), 0.0);
/// ```
pub fn logarithm(x: f64) -> f64 {
    libm::log(x)
}

/// The nearest finite f32: weights stay finite whatever happens.
#[inline]
pub(crate) fn saturate(value: f64) -> f32 {
    (value as f32).clamp(f32::MIN, f32::MAX)
}
