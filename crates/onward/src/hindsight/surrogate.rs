//! The loss at a score, as far as the search needs it: smooth, and with what bounds it from below.

use crate::Loss;
use crate::loss::Kinks;

/// The loss of one row at a score p.
///
/// Losses that are curved are taken as they are: q = p. One of straight pieces is smoothed: each
/// kink k with jump J, J·max(0, p − k), becomes J·μ·ln(1 + e^((p−k)/μ)), which is above it by at
/// most J·μ·ln 2 (the entropic smoothing of Nesterov 2005). Its slope α at p is a subgradient of
/// the loss itself at one of the kinks, q. A tilt s of the kink makes it
/// J·μ·ln(1 + e^((p−k)/μ + s)), up to a constant. Either way ℓ(p′) ≥ ℓ(q) + α(p′ − q) for every p′.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct SurrogateLoss {
    /// ℓ(p).
    pub(super) loss: f64,
    /// ℓ_μ(p), above ℓ(p) where no kink is tilted.
    pub(super) smooth: f64,
    /// α = ℓ_μ'(p).
    pub(super) slope: f64,
    /// ℓ(q) − α·q: what the tangent at q is at 0.
    pub(super) intercept: f64,
}

impl SurrogateLoss {
    /// The loss at p, smoothed by μ where it has kinks.
    #[inline]
    pub(super) fn new(loss: &dyn Loss, p: f64, y: f64, mu: f64, tilts: Tilts) -> Self {
        let value = loss.value(p, y);
        let Some(Kinks { slope: left, jumps }) = loss.kinks(y) else {
            let slope = loss.derivative(p, y);
            return Self { loss: value, smooth: value, slope, intercept: value - slope * p };
        };
        let (mut smooth, mut slope) = (value, left);
        for ((kink, jump), tilt) in jumps.into_iter().zip(tilts).filter(|&((_, jump), _)| jump > 0.0) {
            let away = (p - kink) / mu;
            let x = away + f64::from(tilt);
            let e = libm::exp(-x.abs());
            smooth += jump * mu * (libm::log1p(e) + x.max(0.0) - away.max(0.0));
            slope += jump * if x >= 0.0 { 1.0 / (1.0 + e) } else { e / (1.0 + e) };
        }
        let q = if slope <= left + jumps[0].1 { jumps[0].0 } else { jumps[1].0 };
        Self { loss: value, smooth, slope, intercept: loss.value(q, y) - slope * q }
    }
}

/// Of the kinks of a row how far the smoothing leans to the right, 0 without: its logit.
pub(super) type Tilts = [f32; 2];

/// The farthest tilt: a slope that differs from that of a straight piece by 1e-11 of the jump.
const FARTHEST: f64 = 25.0;

/// The tilts that make the slopes at the kinks what they are at p.
#[inline]
pub(super) fn tilted(loss: &dyn Loss, p: f64, y: f64, mu: f64, mut tilts: Tilts) -> Tilts {
    if let Some(Kinks { jumps, .. }) = loss.kinks(y) {
        for ((kink, _), tilt) in jumps.into_iter().zip(&mut tilts).filter(|((_, jump), _)| *jump > 0.0) {
            *tilt = ((p - kink) / mu + f64::from(*tilt)).clamp(-FARTHEST, FARTHEST) as f32;
        }
    }
    tilts
}

/// How a model takes curvature.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Bend {
    /// μ.
    pub(super) mu: f64,
    /// The share β, from 0 to 1, of the secant that counts where the loss is straight.
    pub(super) share: f64,
}

/// A smoothed loss is straight this many μ away from a kink.
const STRAIGHT: f64 = 6.0;

/// Long enough to come to the end of a slope.
const FOR_EVER: f64 = 1e150;

impl Bend {
    /// The curvature ℓ_μ''(p), and on a straight slope, where it is 0 or almost nothing, β times
    /// the slope over the distance to where the slope changes: else features whose rows are all on
    /// straight pieces would have no curvature, and a step would lead as far as the ball allows.
    #[inline]
    pub(super) fn at(self, loss: &dyn Loss, p: f64, y: f64, tilts: Tilts) -> f64 {
        let Some(Kinks { jumps, .. }) = loss.kinks(y) else {
            return match loss.second_derivative(p, y) {
                0.0 => self.secant(loss.derivative(p, y), || loss.importance_step(p, y, FOR_EVER, 1.0)),
                second => second,
            };
        };
        let mut bend = 0.0;
        let mut nearest = f64::INFINITY;
        for ((kink, jump), tilt) in jumps.into_iter().zip(tilts).filter(|&((_, jump), _)| jump > 0.0) {
            let distance = (p - kink + self.mu * f64::from(tilt)).abs();
            let e = libm::exp(-distance / self.mu);
            bend += jump * e / ((1.0 + e) * (1.0 + e)) / self.mu;
            nearest = distance.min(nearest);
        }
        if nearest > STRAIGHT * self.mu {
            bend += self.secant(loss.derivative(p, y), || nearest);
        }
        bend
    }

    #[inline]
    fn secant(self, slope: f64, distance: impl Fn() -> f64) -> f64 {
        if slope == 0.0 || self.share == 0.0 {
            return 0.0;
        }
        let distance = distance().abs();
        if distance > 0.0 { self.share * slope.abs() / distance } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::loss::{self, Curvature};

    proptest! {
        #[test]
        fn tangents_lie_below_the_loss_and_slopes_are_those_of_the_smooth_one(
            p in -4.0..4.0f64, away in -9.0..9.0f64, positive: bool, log_mu in -3.0..0.5f64,
            tilts in [-3.0..3.0f32, -3.0..3.0f32],
        ) {
            let mu = 10f64.powf(log_mu);
            let y = if positive { 1.0 } else { -1.0 };
            for entry in loss::LOSSES {
                let (name, loss) = (entry.name, entry.default_loss());
                if loss.curvature() == Curvature::None || loss.check_label(y).is_err() {
                    continue;
                }
                let piece = SurrogateLoss::new(&*loss, p, y, mu, tilts);
                let tangent = piece.intercept + piece.slope * away;
                prop_assert!(tangent <= loss.value(away, y) + 1e-12 * (1.0 + tangent.abs()), "{name}");
                let level = SurrogateLoss::new(&*loss, p, y, mu, [0.0; 2]);
                prop_assert!(level.smooth >= level.loss && level.smooth <= level.loss + 2.0 * mu * 2f64.ln() + 1e-15);
                let step = 1e-4 * mu.min(1.0);
                let (right, left) = (SurrogateLoss::new(&*loss, p + step, y, mu, tilts), SurrogateLoss::new(&*loss, p - step, y, mu, tilts));
                // By rounding, and by the third derivative or a jump of the second.
                let slope = (right.smooth - left.smooth) / (2.0 * step);
                prop_assert!((slope - piece.slope).abs() < 1e-3, "{name} {slope} {piece:?}");
                if loss.kinks(y).is_some() {
                    let found = (right.slope - left.slope) / (2.0 * step);
                    let bend = Bend { mu, share: 0.0 }.at(&*loss, p, y, tilts);
                    prop_assert!((found - bend).abs() <= 1e-6 / mu, "{name} {found} {bend}");
                }
            }
        }
    }

    #[test]
    fn on_straight_slopes_the_secant_counts() {
        // From the score to where the slope changes.
        for (name, p, y, slope, distance) in [
            ("absolute", 5.0, 2.0, 1.0, 3.0),
            ("quantile:tau=0.9", -2.0, 2.0, 0.9, 4.0),
            ("epsilon-insensitive:epsilon=0.5", 5.0, 2.0, 1.0, 2.5),
            ("hinge", -3.0, 1.0, 1.0, 4.0),
            ("perceptron", -3.0, 1.0, 1.0, 3.0),
            ("huber:delta=1", 6.0, 2.0, 2.0, 4.0),
            ("modified-huber", -3.0, 1.0, 4.0, 4.0),
        ] {
            let loss = loss::parse(name).unwrap();
            let found = Bend { mu: 0.01, share: 0.5 }.at(&*loss, p, y, [0.0; 2]);
            assert!((found - 0.5 * slope / distance).abs() < 1e-12, "{name} {found}");
        }
        // Where nothing pulls there is none.
        assert!(Bend { mu: 0.01, share: 0.5 }.at(&*loss::parse("hinge").unwrap(), 3.0, 1.0, [0.0; 2]) < 1e-80);
    }
}
