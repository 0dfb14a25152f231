//! Regret on regularised losses h(ℓ(w) + ½σ‖w‖²), which are strongly convex whatever ℓ is.

/// What a learner of regularised losses tells of them after its rounds.
///
/// ```
/// use onward::guarantee::Regularised;
/// let one = Regularised { sigma: 0.5, penalty: 0.0, bound: 4.0, gradient: Some(2.0), radius: None };
/// // G²/(2σ) after one round.
/// assert_eq!(one.theorem(1.0), Some(4.0));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Regularised {
    /// σ.
    pub sigma: f64,
    /// Σ h·½σ‖w‖² of the points that made the predictions.
    pub penalty: f64,
    /// What the regret on the regularised losses is at most, from the gradients that occurred.
    pub bound: f64,
    /// G: the largest norm of their gradients. `None` where an importance weight was not 1.
    pub gradient: Option<f64>,
    /// The comparators are ‖u‖₂ ≤ radius; `None`: all.
    pub radius: Option<f64>,
}

impl Regularised {
    /// G²(1 + ln T)/(2σ) after T rounds of importance 1.
    pub fn theorem(&self, rounds: f64) -> Option<f64> {
        self.gradient.map(|gradient| gradient * gradient * (1.0 + libm::log(rounds.max(1.0))) / (2.0 * self.sigma))
    }
}
