//! How far a loss curves: what an online Newton step may count on.
//!
//! The step needs, for each round, a γ_t with ℓ(w) − ℓ(u) ≤ ⟨z, w − u⟩ − ½γ_t⟨z, w − u⟩² for every u of the
//! ball. For a loss of the score p = o + ⟨w, x⟩ (weight h) that is a c with
//!
//! ℓ(q) ≥ ℓ(p) + ℓ'(p)(q − p) + ½c(q − p)² for every score q on the ball, γ_t zzᵀ = h·c·xxᵀ.
//!
//! The best such c is the least of 2(ℓ(q) − ℓ(p) − ℓ'(p)(q − p))/(q − p)², the average of ℓ'' over [p, q] with
//! weights that fall linearly. Where ℓ'' first rises and then falls, so does the average as q moves away
//! from p (the weights are totally positive), and it is least at q = p or at an end of the scores.

use crate::loss::logistic::sigmoid;
use crate::loss::poisson::STRAIGHT_FROM;
use crate::loss::{InverseLink, Loss, Poisson};

/// What is known of the curvature of the losses.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum KnownCurvature {
    /// Nothing: the steps are as if γ_t = 1/(8‖z_t‖D), and there is no bound.
    Unknown,
    /// The losses are α-exp-concave on the ball (e^{−αℓ} is concave): γ_t = ½min(1/(4‖z_t‖D), α/h).
    ExpConcave {
        /// α of a loss of weight 1.
        alpha: f64,
    },
    /// The same, and no gradient is larger than this: γ = ½min(1/(4GD), α) in all rounds, the textbook's.
    Bounded {
        /// α of the losses, weights included.
        alpha: f64,
        /// G.
        gradient: f64,
    },
    /// Losses of a score with ℓ'' ≥ c everywhere: c.
    Strong(f64),
    /// The logistic loss, ℓ'' = e^p/(1 + e^p)² whatever the label.
    Logistic,
    /// The Poisson loss, ℓ'' = e^p up to p = 50, 0 above.
    Poisson,
    /// The squared hinge loss, ℓ'' = 2 before a margin of 1, 0 behind.
    SquaredHinge,
}

/// Where p stands among the scores that the ball allows.
#[derive(Debug, Clone, Copy)]
pub(super) struct AllowedScores {
    /// p.
    pub(super) score: f64,
    /// The smallest and the largest.
    pub(super) range: (f64, f64),
}

impl KnownCurvature {
    /// α and G, where they are given.
    pub(super) fn given(self) -> (Option<f64>, Option<f64>) {
        match self {
            Self::ExpConcave { alpha } => (Some(alpha), None),
            Self::Bounded { alpha, gradient } => (Some(alpha), Some(gradient)),
            _ => (None, None),
        }
    }

    /// c of a loss of weight 1 with the slope g at p; `None` where it is not known of the loss as a
    /// function of its score.
    pub(super) fn of_score(self, g: f64, at: AllowedScores) -> Option<f64> {
        match self {
            Self::Unknown | Self::ExpConcave { .. } | Self::Bounded { .. } => None,
            Self::Strong(c) => Some(c),
            Self::Logistic => Some(least(at, softplus, sigmoid, |p| sigmoid(p) * sigmoid(-p))),
            Self::Poisson => Some(least(at, total_rate, rate, |p| Poisson.second_derivative(p, 0.0))),
            Self::SquaredHinge => Some(squared_hinge(g, at)),
        }
    }
}

/// ln(1 + e^p).
fn softplus(p: f64) -> f64 {
    p.max(0.0) + libm::log1p(libm::exp(-p.abs()))
}

/// e^p, held from where the Poisson loss is straight.
fn rate(p: f64) -> f64 {
    InverseLink::Log.response(p)
}

/// The integral of that rate.
fn total_rate(p: f64) -> f64 {
    rate(p) * (1.0 + (p - STRAIGHT_FROM).max(0.0))
}

/// The least average curvature of a loss with these values and derivatives, ℓ'' rising, then falling.
fn least(at: AllowedScores, value: fn(f64) -> f64, slope: fn(f64) -> f64, curvature: fn(f64) -> f64) -> f64 {
    let AllowedScores { score, range: (low, high) } = at;
    let average = |q: f64| {
        let way = q - score;
        let terms = (value(q), value(score), slope(score) * way);
        // What rounding may have added is taken off: a bound must not rest on it.
        let rounding = 4.0 * f64::EPSILON * (terms.0.abs() + terms.1.abs() + terms.2.abs());
        let average = 2.0 * (terms.0 - terms.1 - terms.2 - rounding) / (way * way);
        // No average is below the least ℓ'' in between.
        let floor = curvature(score).min(curvature(q));
        if average.is_finite() { floor.max(average) } else { floor }
    };
    curvature(score).min(average(low)).min(average(high))
}

/// The squared hinge is s² for a margin short of 1 by s = |g|/2, and at the far end, r further, 0 if
/// r ≥ s: then its average curvature is 2s(2r − s)/r².
fn squared_hinge(g: f64, at: AllowedScores) -> f64 {
    let short = 0.5 * g.abs();
    let rest = if g < 0.0 { at.range.1 - at.score } else { at.score - at.range.0 };
    match (short > 0.0, rest > short) {
        (false, _) => 0.0,
        (true, false) => 2.0,
        (true, true) => 2.0 * (short / rest) * (2.0 - short / rest),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss;

    #[test]
    fn every_curve_is_below_its_loss_and_touches_it() {
        let cases = [
            ("squared", KnownCurvature::Strong(2.0), vec![-1.0, 3.0]),
            ("logistic", KnownCurvature::Logistic, vec![-1.0, 1.0, 0.3]),
            ("poisson", KnownCurvature::Poisson, vec![0.0, 4.0]),
            ("squared-hinge", KnownCurvature::SquaredHinge, vec![-1.0, 1.0]),
        ];
        for (name, curve, labels) in cases {
            let loss = loss::parse(name).unwrap();
            for (center, reach) in [(0.0, 1.0), (0.0, 8.0), (2.0, 3.0), (-3.0, 0.01)] {
                for y in &labels {
                    for step in 0..=20 {
                        let (low, high) = (center - reach, center + reach);
                        let p = low + (high - low) * f64::from(step) / 20.0;
                        let g = loss.derivative(p, *y);
                        let c = curve.of_score(g, AllowedScores { score: p, range: (low, high) }).unwrap();
                        let mut tightest = f64::INFINITY;
                        for to in 0..=400 {
                            let q = low + (high - low) * f64::from(to) / 400.0;
                            let above = loss.value(q, *y) - loss.value(p, *y) - g * (q - p);
                            let parabola = 0.5 * c * (q - p) * (q - p);
                            let size = loss.value(q, *y).abs() + loss.value(p, *y).abs() + 1.0;
                            assert!(above >= parabola - 1e-12 * size, "{name} y={y} p={p} q={q}: {above} {parabola}");
                            if (q - p).abs() > 0.02 * reach {
                                tightest = tightest.min(above / (0.5 * (q - p) * (q - p)));
                            }
                        }
                        // And it could not be much larger.
                        let curvature = loss.second_derivative(p, *y).min(tightest);
                        assert!(c >= 0.95 * curvature - 1e-6, "{name} y={y} p={p}: {c} {curvature}");
                    }
                }
            }
        }
    }
}
