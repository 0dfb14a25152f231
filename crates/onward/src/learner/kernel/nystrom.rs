//! Nyström features (Williams, Seeger 2001) for online learning (Lu, Hoi, Wang, Zhao, Liu 2016,
//! *NOGD*): the kernel seen from a few rows.
//!
//! The first B rows that are new to the span of those before them are the *landmarks* z_1..z_B. A
//! row becomes φ(x) = L⁻¹(K(z_j, x))_j, with K_BB = LLᵀ the Cholesky factor of their Gram matrix:
//! the coordinates, in an orthonormal basis, of the projection of x on the span of the landmarks.
//! ⟨φ(x), φ(x')⟩ = k(x)ᵀK_BB⁻¹k(x'), as with K_BB^(−1/2), of which φ is a rotation; it is K(x, x')
//! itself when one of the rows is in their span. Unlike K_BB^(−1/2), the factor grows by a row with
//! each landmark and leaves the features that are there as they are: so no phase is needed before
//! the B-th landmark. While there are fewer, a row's own new direction is its last feature, and the
//! learner is the exact kernel learner.
//!
//! Features go to any linear learner, by default `auto`. Those of rotation-invariant ones (`ogd`) give the same
//! predictions in any basis; others see this basis, in which late features are small.
//!
//! Landmarks are chosen by their features alone. A round costs O(B·non-zeros + B²); memory is
//! B rows and B²/2 numbers.

use super::expansion::factor;
use super::function::{COEF, DEGREE, GAMMA, KERNEL, Kernel};
use super::gram::{Coordinates, Gram};
use super::mapped::{BIAS, KernelMap, LEARNER, MappedLearner, REASON, REASONS};
use super::row::{SparseRow, persist_rows};
use crate::archive::Archive;
use crate::guarantee::{Guarantee, GuaranteeKind};
use crate::numeric::saturate;
use crate::parameter::{Description, ParameterDescriptor, whole};
use crate::protocol::{LearnerDescriptor, Losses, Promise, STANDARDISE};
use crate::{Error, Features};

/// Nyström features.
///
/// ```
/// use onward::Features;
/// use onward::learner::kernel::{KernelMap, Kernel, Nystrom};
/// let kernel = Kernel::Rbf { gamma: 0.5 };
/// let mut map = Nystrom::new(kernel, 10)?;
/// let rows: [[f32; 2]; 3] = [[0.0, 1.0], [1.0, 0.5], [0.3, -0.2]];
/// let x = |at: usize| Features::new(&[1, 2], &rows[at]).unwrap();
/// (0..3).for_each(|at| map.observe(x(at)));
/// let made = |at: usize| {
///     let mut features = Vec::new();
///     map.append(x(at), &mut features);
///     features
/// };
/// let product: f32 = made(0).iter().zip(&made(2)).map(|(a, b)| a * b).sum();
/// assert!((f64::from(product) - kernel.value(x(0), x(2))).abs() < 1e-6);
/// # Ok::<(), onward::Error>(())
/// ```
pub struct Nystrom {
    kernel: Kernel,
    components: usize,
    landmarks: Vec<SparseRow<'static>>,
    gram: Gram,
}

impl Nystrom {
    /// With at most `components` landmarks.
    ///
    /// # Errors
    /// When there are none or more than 10,000, the kernel is not positive definite, or its
    /// parameters are out of range.
    pub fn new(kernel: Kernel, components: usize) -> Result<Self, Error> {
        kernel.check()?;
        if !kernel.is_positive_definite() {
            return Err(Error::parameter(
                "kernel must be linear, polynomial, rbf or laplacian; got sigmoid, which is not an inner product and \
                 has no features",
            ));
        }
        COMPONENTS.check(components)?;
        Ok(Self { kernel, components, landmarks: Vec::new(), gram: Gram::default() })
    }

    /// How many landmarks there are so far.
    pub fn landmarks(&self) -> usize {
        self.landmarks.len()
    }

    fn coordinates(&self, x: &SparseRow<'_>) -> Coordinates {
        let products: Vec<f64> = self.landmarks.iter().map(|row| self.kernel.of(row, x)).collect();
        self.gram.coordinates(&products, self.kernel.of_itself(x))
    }

    /// Whether a row with these coordinates is a landmark when it is learnt from.
    fn enters(&self, coordinates: &Coordinates) -> bool {
        coordinates.is_independent && self.landmarks.len() < self.components
    }
}

impl KernelMap for Nystrom {
    fn append(&self, x: Features<'_>, features: &mut Vec<f32>) {
        let coordinates = self.coordinates(&SparseRow::new(x));
        features.extend(coordinates.inside.iter().map(|&y| saturate(y)));
        if self.enters(&coordinates) {
            features.push(saturate(coordinates.residual.sqrt()));
        }
    }

    fn observe(&mut self, x: Features<'_>) {
        if self.landmarks.len() == self.components {
            return;
        }
        let row = SparseRow::new(x);
        let coordinates = self.coordinates(&row);
        if self.enters(&coordinates) {
            self.gram.grow(&coordinates);
            self.landmarks.push(row.owned());
        }
    }

    fn describe(&self) -> String {
        self.kernel.describe(Description::of("nystrom").with(&COMPONENTS, self.components)).into()
    }

    fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        persist_rows(&mut self.landmarks, archive)?;
        let fits = self.landmarks.len() <= self.components;
        archive.check(fits, "row.length", "must have no more rows than components")?;
        if archive.is_loading() {
            self.gram = factor(&self.kernel, &self.landmarks, archive)?;
        }
        Ok(())
    }
}

/// Each costs a value of the kernel a row, and the matrix of all their square.
const COMPONENTS: ParameterDescriptor =
    whole("components", 1..=10_000).default("100").meaning("number of rows from which the kernel is approximated");

/// `nystrom` by name.
pub(crate) const ENTRY: LearnerDescriptor = LearnerDescriptor {
    name: "nystrom",
    summary: "Nyström features: a kernel approximated from its first rows, then any linear learner, by default auto",
    losses: Losses::Convex,
    parameters: &[COMPONENTS, KERNEL, GAMMA, COEF, DEGREE, BIAS, LEARNER, STANDARDISE],
    promises: &[
        Promise::sometimes("", REASONS).at_most(128),
        Promise::other("bias=false,components=20,kernel=linear,learner=(nag:eta=1)"),
        Promise::other("coef=2,degree=2,gamma=0.2,kernel=polynomial"),
        Promise::other("kernel=laplacian"),
    ],
    build: |arguments| {
        let map = Nystrom::new(Kernel::asked(arguments), arguments.whole("components") as usize)?;
        MappedLearner::asked(map, arguments)
    },
    plan: |_, _| Ok(Guarantee::none(GuaranteeKind::Own, REASON)),
};
