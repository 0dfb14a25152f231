//! The scales of a stream that has not been seen: what theorems need to promise something
//! beforehand.

use crate::loss::Curvature;
use crate::{Error, Loss};

/// How long a stream is and how large what it holds. Weights of importance are 1.
///
/// ```
/// use onward::protocol::ProblemBounds;
/// let scales = ProblemBounds { rounds: 1e4, norm: 2.0, label: 3.0, ..ProblemBounds::default() };
/// // (p − y)² on ‖w‖ ≤ 1: |p| ≤ 2 and |y| ≤ 3, so |g| ≤ 2·(2 + 3) and ‖z‖ ≤ 20.
/// let loss = onward::loss::parse("squared")?;
/// assert_eq!(scales.gradient(loss.as_ref(), 1.0), 20.0);
/// # Ok::<(), onward::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProblemBounds {
    /// T: how many rounds.
    pub rounds: f64,
    /// X: the largest ‖x‖₂, the bias included.
    pub norm: f64,
    /// The largest |x_i|.
    pub largest: f64,
    /// Y: the largest |y|.
    pub label: f64,
    /// d: how many features there are.
    pub dimension: f64,
    /// r: the largest difference of the losses that two experts of a mixture have in a round.
    pub range: f64,
}

impl Default for ProblemBounds {
    /// One round of unit size.
    fn default() -> Self {
        Self { rounds: 1.0, norm: 1.0, largest: 1.0, label: 1.0, dimension: 1.0, range: 1.0 }
    }
}

impl ProblemBounds {
    /// The same for rows with a bias besides: one more feature, which is always 1.
    ///
    /// ```
    /// use onward::protocol::ProblemBounds;
    /// let bounds = ProblemBounds { norm: 2.0, largest: 0.5, dimension: 16.0, ..ProblemBounds::default() }.with_bias();
    /// assert_eq!((bounds.norm, bounds.largest, bounds.dimension), (5f64.sqrt(), 1.0, 17.0));
    /// ```
    pub fn with_bias(self) -> Self {
        let norm = (self.norm * self.norm + 1.0).sqrt();
        Self { norm, largest: self.largest.max(1.0), dimension: self.dimension + 1.0, ..self }
    }

    /// The largest slope |g| of the loss for scores within ±`score`.
    pub fn slope(&self, loss: &dyn Loss, score: f64) -> f64 {
        match loss.curvature() {
            // lipschitz() takes one range for scores and labels; these depend on the difference.
            Curvature::Quadratic(c) => c * (score + self.label),
            _ => loss.lipschitz(score.max(self.label)),
        }
    }

    /// G: the largest ‖z‖₂ of gradients z = g·x for weights ‖w‖₂ ≤ radius.
    pub fn gradient(&self, loss: &dyn Loss, radius: f64) -> f64 {
        self.slope(loss, radius * self.norm) * self.norm
    }

    /// G whatever the weights, for losses whose slope is bounded: it is then the same far out and farther.
    pub(crate) fn gradient_anywhere(&self, loss: &dyn Loss) -> Option<f64> {
        let (far, farther) = (self.slope(loss, 1e30), self.slope(loss, 1e60));
        (far.is_finite() && far == farther).then_some(far * self.norm)
    }

    /// Refuses scales that are no sizes.
    ///
    /// # Errors
    /// When one is not finite or not above 0 (T may be 0).
    pub fn check(&self) -> Result<(), Error> {
        let sizes = [
            ("the number of features", self.dimension),
            ("the norm of features", self.norm),
            ("the largest feature", self.largest),
            ("the largest label", self.label),
            ("the range of losses", self.range),
        ];
        for (name, size) in sizes {
            if !(size.is_finite() && size > 0.0) {
                return Err(Error::parameter(format!("{name} must be a finite number above 0; got {size}")));
            }
        }
        match self.rounds.is_finite() && self.rounds >= 0.0 {
            true => Ok(()),
            false => Err(Error::parameter(format!("the number of rounds must be 0 or more; got {}", self.rounds))),
        }
    }
}
