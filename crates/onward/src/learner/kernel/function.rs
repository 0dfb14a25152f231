//! The kernels: K(x, x'), how alike two rows are.
//!
//! | name | K(x, x') | parameters |
//! |---|---|---|
//! | `linear` | ⟨x, x'⟩ | |
//! | `polynomial` | (γ⟨x, x'⟩ + coef)^degree | γ > 0, coef ≥ 0, degree from 1 to 20 |
//! | `rbf` | exp(−γ‖x − x'‖₂²) | γ > 0 |
//! | `laplacian` | exp(−γ‖x − x'‖₁) | γ > 0 |
//! | `sigmoid` | tanh(γ⟨x, x'⟩ + coef) | γ > 0, any coef |
//!
//! All but `sigmoid` are positive definite, that is, inner products of some space; it is not, so no
//! theorem holds for it, and there is no space to project in. Evaluating one takes O(non-zeros of
//! both rows). Distances are summed as they are, not from norms: ‖x‖² + ‖x'‖² − 2⟨x, x'⟩ cancels for
//! rows that are far from 0 and near each other. The bias (index 0) is a feature as any other:
//! `linear`, `polynomial` and `sigmoid` include it, and in differences it vanishes.

use super::row::SparseRow;
use crate::Error;
use crate::parameter::{Description, GivenParameters, ParameterDescriptor, number, positive, whole, words};

/// Kernel values are held within ± this, so that sums of them are finite: ⟨x, x'⟩ itself is
/// smaller unless hundreds of features have the largest values that there are.
pub(super) const LARGEST: f64 = 1e80;

/// A kernel with its parameters.
///
/// ```
/// use onward::Features;
/// use onward::learner::kernel::Kernel;
/// let x = Features::new(&[0, 1], &[1.0, 2.0])?;
/// let y = Features::new(&[0, 2], &[1.0, 1.0])?;
/// assert_eq!(Kernel::Linear.value(x, y), 1.0);
/// assert_eq!(Kernel::Polynomial { gamma: 1.0, coef: 1.0, degree: 3 }.value(x, y), 8.0);
/// assert!((Kernel::Rbf { gamma: 0.1 }.value(x, y) - (-0.5f64).exp()).abs() < 1e-15);
/// # Ok::<(), onward::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kernel {
    /// ⟨x, x'⟩.
    Linear,
    /// (γ⟨x, x'⟩ + coef)^degree.
    Polynomial {
        /// γ, from 1e-30 to 1e30.
        gamma: f64,
        /// What is added, from 0 to 1e30.
        coef: f64,
        /// The degree, from 1 to 20.
        degree: u32,
    },
    /// exp(−γ‖x − x'‖₂²).
    Rbf {
        /// γ, from 1e-30 to 1e30.
        gamma: f64,
    },
    /// exp(−γ‖x − x'‖₁).
    Laplacian {
        /// γ, from 1e-30 to 1e30.
        gamma: f64,
    },
    /// tanh(γ⟨x, x'⟩ + coef): not positive definite.
    Sigmoid {
        /// γ, from 1e-30 to 1e30.
        gamma: f64,
        /// What is added, within ±1e30.
        coef: f64,
    },
}

impl Kernel {
    /// Refuses parameters out of range.
    ///
    /// # Errors
    /// Names the parameter, its value and its range.
    pub fn check(&self) -> Result<(), Error> {
        let gamma = match *self {
            Self::Linear => return Ok(()),
            Self::Rbf { gamma } | Self::Laplacian { gamma } => gamma,
            Self::Polynomial { gamma, coef, degree } => {
                COEF.narrowed(LEAST_COEF_OF_POLYNOMIAL).check(coef)?;
                DEGREE.check(degree)?;
                gamma
            }
            Self::Sigmoid { gamma, coef } => {
                COEF.check(coef)?;
                gamma
            }
        };
        GAMMA.check(gamma).map(drop)
    }

    /// K(x, x').
    pub fn value(&self, x: crate::Features<'_>, y: crate::Features<'_>) -> f64 {
        self.of(&SparseRow::new(x), &SparseRow::new(y))
    }

    /// K of two rows.
    pub(super) fn of(&self, x: &SparseRow<'_>, y: &SparseRow<'_>) -> f64 {
        match *self {
            Self::Linear | Self::Polynomial { .. } | Self::Sigmoid { .. } => self.of_product(x.join(y, |x, y| x * y)),
            Self::Rbf { gamma } => libm::exp(-gamma * x.join(y, |x, y| (x - y) * (x - y))),
            Self::Laplacian { gamma } => libm::exp(-gamma * x.join(y, |x, y| (x - y).abs())),
        }
    }

    /// K(x, x).
    pub(super) fn of_itself(&self, x: &SparseRow<'_>) -> f64 {
        self.of_square(x.square())
    }

    /// K(x, x) from ‖x‖².
    pub(super) fn of_square(&self, square: f64) -> f64 {
        match self {
            Self::Rbf { .. } | Self::Laplacian { .. } => 1.0,
            _ => self.of_product(square),
        }
    }

    /// K from ⟨x, x'⟩, for those that are functions of it.
    fn of_product(&self, product: f64) -> f64 {
        let value = match *self {
            Self::Polynomial { gamma, coef, degree } => power(gamma * product + coef, degree),
            Self::Sigmoid { gamma, coef } => libm::tanh(gamma * product + coef),
            _ => product,
        };
        value.clamp(-LARGEST, LARGEST)
    }

    /// Whether it is an inner product of some space.
    pub fn is_positive_definite(&self) -> bool {
        !matches!(self, Self::Sigmoid { .. })
    }

    /// Adds the kernel and its parameters to what a learner says of itself.
    pub(super) fn describe(&self, learner: Description) -> Description {
        match *self {
            Self::Linear => learner.with(&KERNEL, "linear"),
            Self::Polynomial { gamma, coef, degree } => {
                learner.with(&KERNEL, "polynomial").with(&GAMMA, gamma).with(&COEF, coef).with(&DEGREE, degree)
            }
            Self::Rbf { gamma } => learner.with(&KERNEL, "rbf").with(&GAMMA, gamma),
            Self::Laplacian { gamma } => learner.with(&KERNEL, "laplacian").with(&GAMMA, gamma),
            Self::Sigmoid { gamma, coef } => learner.with(&KERNEL, "sigmoid").with(&GAMMA, gamma).with(&COEF, coef),
        }
    }

    /// The kernel that a learner's parameters [`KERNEL`], [`GAMMA`], [`COEF`], [`DEGREE`] ask for.
    pub(super) fn asked(arguments: &GivenParameters) -> Self {
        let (gamma, coef) = (arguments.number("gamma"), arguments.number("coef"));
        match arguments.text("kernel") {
            "linear" => Self::Linear,
            "polynomial" => Self::Polynomial { gamma, coef, degree: arguments.whole("degree") as u32 },
            "laplacian" => Self::Laplacian { gamma },
            "sigmoid" => Self::Sigmoid { gamma, coef },
            _ => Self::Rbf { gamma },
        }
    }
}

/// base^degree by multiplication: the same bits everywhere.
fn power(base: f64, degree: u32) -> f64 {
    (1..degree).fold(base, |power, _| power * base)
}

pub(super) const RBF: (&str, &str) = ("rbf", "exp(−γ‖x − x'‖₂²)");
pub(super) const LAPLACIAN: (&str, &str) = ("laplacian", "exp(−γ‖x − x'‖₁)");

pub(super) const KERNEL: ParameterDescriptor = words(
    "kernel",
    &[
        ("linear", "⟨x, x'⟩"),
        ("polynomial", "(γ⟨x, x'⟩ + coef)^degree"),
        RBF,
        LAPLACIAN,
        ("sigmoid", "tanh(γ⟨x, x'⟩ + coef), not positive definite: no guarantee"),
    ],
)
.default("rbf")
.meaning("similarity of two rows");

pub(super) const GAMMA: ParameterDescriptor =
    positive("gamma").default("0.1").meaning("γ: how fast similarity falls with distance").unless("kernel=linear");

/// Below it is no inner product.
const LEAST_COEF_OF_POLYNOMIAL: f64 = 0.0;

pub(super) const COEF: ParameterDescriptor = number("coef", -1e30..=1e30)
    .default("1")
    .meaning("added to γ⟨x, x'⟩")
    .at_least_with(LEAST_COEF_OF_POLYNOMIAL, "kernel=polynomial")
    .only_with("kernel=polynomial or kernel=sigmoid");

/// Higher powers overflow or vanish.
pub(super) const DEGREE: ParameterDescriptor =
    whole("degree", 1..=20).default("3").meaning("degree of the polynomial").only_with("kernel=polynomial");

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Features;

    const ALL: [Kernel; 5] = [
        Kernel::Linear,
        Kernel::Polynomial { gamma: 0.5, coef: 1.5, degree: 3 },
        Kernel::Rbf { gamma: 0.3 },
        Kernel::Laplacian { gamma: 0.3 },
        Kernel::Sigmoid { gamma: 0.2, coef: -0.5 },
    ];

    #[test]
    fn kernels_are_their_formulas() {
        let x = Features::new(&[1, 3], &[2.0, -1.0]).unwrap();
        let y = Features::new(&[4, 3, 0], &[0.5, 3.0, 1.0]).unwrap();
        // ⟨x, y⟩ = −3; squares of the differences 1, 4, 16, 0.25; their sizes 1, 2, 4, 0.5.
        let expected = [-3.0, 0.0, (-0.3 * 21.25f64).exp(), (-0.3 * 7.5f64).exp(), (-1.1f64).tanh()];
        for (kernel, expected) in ALL.iter().zip(expected) {
            assert!((kernel.value(x, y) - expected).abs() < 1e-15, "{kernel:?}");
            assert_eq!(kernel.value(x, y), kernel.value(y, x), "{kernel:?}");
        }
    }

    #[test]
    fn of_itself_is_the_value_at_equal_rows() {
        let x = Features::new(&[1, 3], &[2.0, -1.5]).unwrap();
        for kernel in ALL {
            assert_eq!(kernel.of_itself(&SparseRow::new(x)), kernel.value(x, x), "{kernel:?}");
        }
    }

    #[test]
    fn values_stay_finite() {
        let x = Features::new(&[0, 1], &[f32::MAX, f32::MAX]).unwrap();
        let y = Features::new(&[0, 1], &[f32::MIN, f32::MAX / 2.0]).unwrap();
        let polynomial = Kernel::Polynomial { gamma: 1e30, coef: 1e30, degree: 19 };
        for kernel in ALL.into_iter().chain([polynomial, Kernel::Rbf { gamma: 1e30 }]) {
            assert!(kernel.value(x, y).abs() <= LARGEST && kernel.value(x, x).abs() <= LARGEST, "{kernel:?}");
        }
    }

    #[test]
    fn near_rows_far_from_zero_are_told_apart() {
        let (x, y) = ([3e6f32], [3e6f32 + 0.25]);
        let value =
            Kernel::Rbf { gamma: 1.0 }.value(Features::new(&[1], &x).unwrap(), Features::new(&[1], &y).unwrap());
        assert!((value - (-0.0625f64).exp()).abs() < 1e-15);
    }
}
