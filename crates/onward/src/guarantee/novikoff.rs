//! The perceptron's theorem about any comparator u (Novikoff 1962; Freund, Schapire 1999).
//!
//! With M the importance of the rounds with an update, H(u) = Σ h·max(0, 1 − y⟨u, x⟩) over all rounds, and X the
//! largest √h·‖x‖ of a round with an update, M ≤ H + ‖u‖X√M. Solved for M:
//! **M ≤ H + (‖u‖X)² + ‖u‖X√H**. Where u has the margin γ, which is to say y⟨u, x⟩ ≥ γ‖u‖ in every round,
//! **M ≤ (X/γ)²**, however long the stream.
//!
//! With offsets b and updates up to the margin γ', X² is the largest h‖x‖² + 2(γ' − y·b), H that of b + ⟨u, x⟩, to
//! which Σ h·y·b over the rounds with an update is added.

/// What a perceptron's updates tell the theorem.
///
/// ```
/// use onward::guarantee::Novikoff;
/// let theorem = Novikoff { size: 2.0, offsets: 0.0 };
/// assert_eq!(theorem.separable(0.5), 16.0);
/// // H = 9, ‖u‖ = 3: 9 + 36 + 6·3.
/// assert_eq!(theorem.against(9.0, 3.0), 63.0);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Novikoff {
    /// X.
    pub size: f64,
    /// Σ h·y·b over the rounds with an update.
    pub offsets: f64,
}

impl Novikoff {
    /// The most updates against a comparator with this hinge loss H over all rounds and this norm.
    pub fn against(&self, hinge: f64, norm: f64) -> f64 {
        let (hinge, step) = ((hinge + self.offsets).max(0.0), norm * self.size);
        hinge + step * step + step * hinge.sqrt()
    }

    /// The most updates where a comparator has this margin γ, above 0, in every round.
    pub fn separable(&self, margin: f64) -> f64 {
        (self.size / margin).powi(2)
    }
}
