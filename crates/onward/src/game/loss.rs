//! What a point w pays in a round.
//!
//! | losses | a round is | w pays | gradient at w |
//! |---|---|---|---|
//! | linear | a vector of losses z | ⟨w, z⟩ | z |
//! | quadratic | a centre x | ‖w − x‖² | 2(w − x) |
//! | log | price relatives x ≥ 0, not all 0 | −ln⟨w, x⟩ | −x/⟨w, x⟩ |
//!
//! All are convex. The last two curve: for every u of the domain
//!
//! ℓ(u) ≥ ℓ(w) + ⟨z, u − w⟩ + ½γ⟨z, u − w⟩²
//!
//! with z the gradient at w. For the quadratic loss γ = 2/‖z‖² by Cauchy and Schwarz. For the log loss let
//! r = ⟨z, u − w⟩ = 1 − ⟨u, x⟩/⟨w, x⟩ < 1: then ℓ(u) = ℓ(w) − ln(1 − r), and −ln(1 − r) ≥ r + ½γr² for all
//! r ≥ −ρ with γ = 2(ρ − ln(1 + ρ))/ρ², since 2(−ln(1 − r) − r)/r² grows with r. Here 1 + ρ is the largest
//! ⟨u, x⟩/⟨w, x⟩ in the domain. (γ is 1 at ρ = 0; a fixed γ would need a bound on ρ in advance.)

use std::fmt;
use std::str::FromStr;

use super::GameRound;
use crate::nearest::unknown;
use crate::numeric::linalg::vector::dot;
use crate::numeric::sum;
use crate::{Error, ErrorKind};

/// Losses of the points of a game.
///
/// ```
/// use onward::game::PointLoss;
/// assert_eq!(PointLoss::Linear.value(&[0.5, 0.5], &[1.0, 3.0]), 2.0);
/// assert_eq!(PointLoss::Quadratic.value(&[1.0, 0.0], &[0.0, 0.0]), 1.0);
/// assert_eq!(PointLoss::Log.value(&[0.5, 0.5], &[2.0, 0.0]), 0.0);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PointLoss {
    /// ⟨w, z⟩.
    Linear,
    /// ‖w − x‖².
    Quadratic,
    /// −ln⟨w, x⟩.
    Log,
}

/// Entries beyond this are refused: their squares and sums are numbers.
const LARGEST: f64 = 1e30;

impl PointLoss {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Linear, Self::Quadratic, Self::Log];

    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Linear => "linear",
            Self::Quadratic => "quadratic",
            Self::Log => "log",
        }
    }

    /// The loss as a formula.
    pub fn formula(self) -> &'static str {
        match self {
            Self::Linear => "⟨w, z⟩",
            Self::Quadratic => "‖w − x‖²",
            Self::Log => "−ln⟨w, x⟩",
        }
    }

    /// What w pays: ∞ where the log loss is that of nothing.
    pub fn value(self, w: &[f64], row: &[f64]) -> f64 {
        match self {
            Self::Linear => dot(w, row),
            Self::Quadratic => sum::sum(w.iter().zip(row).map(|(w, x)| (w - x) * (w - x))),
            Self::Log => -libm::log(dot(w, row).max(0.0)),
        }
    }

    /// The gradient at w.
    pub(crate) fn gradient(self, w: &[f64], row: &[f64], out: &mut [f64]) {
        match self {
            Self::Linear => out.copy_from_slice(row),
            Self::Quadratic => out.iter_mut().zip(w.iter().zip(row)).for_each(|(z, (w, x))| *z = 2.0 * (w - x)),
            Self::Log => {
                let wealth = dot(w, row);
                out.iter_mut().zip(row).for_each(|(z, x)| *z = -x / wealth);
            }
        }
    }

    /// γ: how far the loss of a round curves along its gradient z, which may lack what is the same in all its entries on a
    /// simplex; 0 for linear losses, and where z is 0.
    pub(super) fn curvature(self, round: &GameRound<'_>, z: &[f64]) -> f64 {
        match self {
            Self::Linear => 0.0,
            Self::Quadratic => 2.0 / dot(z, z).max(f64::MIN_POSITIVE),
            Self::Log => {
                // −1/⟨w, x⟩ is an entry of the gradient over one of x: the largest of both.
                let most = round.gradient.iter().fold(0.0f64, |most, z| most.max(-z));
                let rho = (round.rules.radius() * most - 1.0).max(0.0);
                // ρ²/2 − ρ³/3 + … where the difference would be rounding.
                if rho < 1e-4 { 1.0 - 2.0 / 3.0 * rho } else { 2.0 * (rho - libm::log1p(rho)) / (rho * rho) }
            }
        }
    }

    /// Refuses a row that is no loss.
    ///
    /// # Errors
    /// When an entry is not a number within ±1e30; of price relatives, when one is below 0 or all are 0.
    pub fn check(self, row: &[f64]) -> Result<(), Error> {
        let refused = |message: String| Err(Error::new(ErrorKind::Features, message));
        if let Some(entry) = row.iter().find(|entry| entry.is_nan() || entry.abs() > LARGEST) {
            return refused(format!("entries must be numbers within ±{LARGEST:e}; got {entry:e}"));
        }
        match self {
            Self::Linear | Self::Quadratic => Ok(()),
            Self::Log => match row.iter().find(|entry| **entry < 0.0) {
                Some(entry) => refused(format!("price relatives must be 0 or more; got {entry}")),
                None if row.iter().all(|entry| *entry == 0.0) => {
                    refused("price relatives must not all be 0: every point would lose everything".to_owned())
                }
                None => Ok(()),
            },
        }
    }
}

impl fmt::Display for PointLoss {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

impl FromStr for PointLoss {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let names = Self::ALL.iter().map(|loss| loss.name());
        Self::ALL
            .into_iter()
            .find(|loss| loss.name() == text)
            .ok_or_else(|| Error::parameter(unknown("game", "losses of games", text, names)))
    }
}
