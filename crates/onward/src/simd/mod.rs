//! Loops in vector code that give the same bits on every machine, prefetching, and huge pages.

mod dispatch;
pub(crate) mod f32xn;
pub(crate) mod f64x4;
mod huge_pages;
mod prefetch;
pub(crate) mod scan;
pub(crate) mod u32x8;

pub(crate) use dispatch::{by_vectors, larger, smaller, vectors};
pub use dispatch::{is_wide, set_portable, vectorised};
pub use huge_pages::prefer_huge_pages;
pub(crate) use prefetch::prefetch_all;
pub use prefetch::{prefetch, prefetch_at};
