//! Online kernel methods: linear learners in the space of a kernel.
//!
//! A positive definite kernel K(x, x') is an inner product ⟨φ(x), φ(x')⟩ in some space, and the
//! points that gradient descent visits there are sums f = Σ c_j K(x_j, ·) over rows that were
//! seen. So what is known of linear learners holds, with K(x, x) for ‖x‖² and the norm of that
//! space for ‖w‖; what it costs is that the sum grows.
//!
//! - [`KernelDescent`] (`kernel`) and [`KernelPerceptron`] (`kernel-perceptron`): the sum itself,
//!   exact, or with a [`Budget`] of rows.
//! - [`Nystrom`] (`nystrom`) and [`Fourier`] (`rff`): finitely many features whose inner product is
//!   near K, for any linear learner; its cost a round does not grow.

pub(crate) mod descent;
mod draw;
mod expansion;
pub(crate) mod fourier;
mod function;
mod gram;
mod mapped;
pub(crate) mod nystrom;
pub(crate) mod perceptron;
mod row;

pub use descent::{KernelDescent, KernelRate};
pub use expansion::{Budget, Keep};
pub use fourier::{Fourier, FourierKernel};
pub use function::Kernel;
pub use mapped::{KernelMap, MappedLearner};
pub use nystrom::Nystrom;
pub use perceptron::KernelPerceptron;
