//! Decimal numbers: one from any text, and many together from texts whose ends are known.

pub(crate) mod batch;
#[cfg(target_arch = "x86_64")]
mod batch_avx2;
pub(crate) mod print;
mod scalar;

pub(crate) use scalar::*;
