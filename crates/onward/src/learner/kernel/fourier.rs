//! Random Fourier features (Rahimi, Recht 2007) for online learning (Lu, Hoi, Wang, Zhao, Liu
//! 2016, *FOGD*).
//!
//! A kernel of x − x' is the mean of cos⟨ω, x − x'⟩ over its spectrum (Bochner). With D frequencies
//! ω_j drawn from it and phases b_j uniform on [0, 2π), the features
//! φ_j(x) = √(2/D)·cos(⟨ω_j, x⟩ + b_j) have ⟨φ(x), φ(x')⟩ = K(Δ) on average over the draws, where
//! Δ = x − x', with the variance (1 + K(2Δ)/2 − K(Δ)²)/D, which is at most 1/D.
//!
//! - `rbf`, exp(−γ‖x − x'‖₂²): ω normal with variance 2γ in each coordinate;
//! - `laplacian`, exp(−γ‖x − x'‖₁): ω Cauchy with scale γ in each coordinate.
//!
//! ω_j at feature i is drawn by hashing (seed, i, j): no table of it grows with the features, whose
//! indices may be any. A round costs O(D·non-zeros), memory that of the learner on D features. That
//! learner is any; `auto`, which is the default, has nothing more to tune.

use super::draw::Draws;
use super::function::{self, LAPLACIAN, RBF};
use super::mapped::{BIAS, KernelMap, LEARNER, MappedLearner, REASON, REASONS};
use crate::guarantee::{Guarantee, GuaranteeKind};
use crate::parameter::{Applies, Description, ParameterDescriptor, whole, words};
use crate::protocol::{LearnerDescriptor, Losses, Promise, STANDARDISE};
use crate::{Error, Features, INDEX_LIMIT};

/// The name of the row of phases, which no feature has.
const PHASES: u64 = INDEX_LIMIT as u64;

/// A kernel of differences.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FourierKernel {
    /// exp(−γ‖x − x'‖₂²).
    Rbf,
    /// exp(−γ‖x − x'‖₁).
    Laplacian,
}

/// Random Fourier features.
///
/// ```
/// use onward::Features;
/// use onward::learner::kernel::{KernelMap, Fourier, FourierKernel};
/// let map = Fourier::new(FourierKernel::Rbf, 0.5, 4096, 1)?;
/// let (mut here, mut there) = (Vec::new(), Vec::new());
/// map.append(Features::new(&[1, 7], &[0.5, 1.0])?, &mut here);
/// map.append(Features::new(&[1, 9], &[0.5, 1.0])?, &mut there);
/// let product: f32 = here.iter().zip(&there).map(|(a, b)| a * b).sum();
/// // ‖x − x'‖² = 2.
/// assert!((product - (-1.0f32).exp()).abs() < 0.06);
/// # Ok::<(), onward::Error>(())
/// ```
pub struct Fourier {
    kernel: FourierKernel,
    gamma: f64,
    seed: u64,
    /// b_j: from the seed.
    phases: Vec<f64>,
}

impl Fourier {
    /// `components` features, drawn with this seed.
    ///
    /// # Errors
    /// When γ is not from 1e-30 to 1e30, or there are no components or more than 2^20.
    pub fn new(kernel: FourierKernel, gamma: f64, components: usize, seed: u64) -> Result<Self, Error> {
        GAMMA.check(gamma)?;
        COMPONENTS.check(components)?;
        let draws = Draws::new(seed, PHASES);
        let phases = (0..components as u64).map(|j| 2.0 * std::f64::consts::PI * draws.uniform(j)).collect();
        Ok(Self { kernel, gamma, seed, phases })
    }
}

impl KernelMap for Fourier {
    fn append(&self, x: Features<'_>, features: &mut Vec<f32>) {
        let mut angles = self.phases.clone();
        // In order of index, without zeros: sums are the same however a row is written.
        let mut pairs: Vec<(u32, f32)> = x.iter().filter(|&(_, value)| value != 0.0).collect();
        pairs.sort_unstable_by_key(|&(index, _)| index);
        let scale = match self.kernel {
            FourierKernel::Rbf => (2.0 * self.gamma).sqrt(),
            FourierKernel::Laplacian => self.gamma,
        };
        for (index, value) in pairs {
            let draws = Draws::new(self.seed, u64::from(index));
            let value = scale * f64::from(value);
            let angles = (0u64..).zip(&mut angles);
            match self.kernel {
                FourierKernel::Rbf => angles.for_each(|(j, angle)| *angle += value * draws.normal(j)),
                FourierKernel::Laplacian => angles.for_each(|(j, angle)| *angle += value * draws.cauchy(j)),
            }
        }
        let size = (2.0 / self.phases.len() as f64).sqrt();
        features.extend(angles.iter().map(|&angle| (size * libm::cos(angle)) as f32));
    }

    fn describe(&self) -> String {
        let kernel = if self.kernel == FourierKernel::Rbf { RBF } else { LAPLACIAN };
        let rff = Description::of("rff").with(&COMPONENTS, self.phases.len()).with(&KERNEL, kernel.0);
        rff.with(&GAMMA, self.gamma).with(&SEED, self.seed).into()
    }
}

/// Each costs a wave a row.
const COMPONENTS: ParameterDescriptor = whole("components", 1..=1 << 20)
    .default("256")
    .meaning("number of random features; the error falls with its square root");

const KERNEL: ParameterDescriptor = words("kernel", &[RBF, LAPLACIAN]).meaning("similarity of two rows");

const GAMMA: ParameterDescriptor = ParameterDescriptor { applies: Applies::Always, ..function::GAMMA };

const SEED: ParameterDescriptor = whole("seed", 0..=u64::MAX).default("0").meaning("seed of the random numbers");

/// `rff` by name.
pub(crate) const ENTRY: LearnerDescriptor = LearnerDescriptor {
    name: "rff",
    summary: "random Fourier features of a kernel, then any linear learner, by default auto",
    losses: Losses::Convex,
    parameters: &[COMPONENTS, KERNEL, GAMMA, SEED, BIAS, LEARNER, STANDARDISE],
    promises: &[
        Promise::sometimes("", REASONS).at_most(128),
        Promise::other("bias=false,components=64,gamma=0.2,kernel=laplacian,learner=(nag:eta=1),seed=7"),
    ],
    build: |arguments| {
        let kernel = if arguments.text("kernel") == "rbf" { FourierKernel::Rbf } else { FourierKernel::Laplacian };
        let (components, seed) = (arguments.whole("components") as usize, arguments.whole("seed"));
        let map = Fourier::new(kernel, arguments.number("gamma"), components, seed)?;
        MappedLearner::asked(map, arguments)
    },
    plan: |_, _| Ok(Guarantee::none(GuaranteeKind::Own, REASON)),
};
