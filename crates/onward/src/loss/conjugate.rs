//! What a loss is at least, by its tangents: bounds on its conjugate for slopes that are scaled down.
//!
//! ℓ*(α) = sup_q αq − ℓ(q). For every slope α, ℓ(q) ≥ αq − ℓ*(α). A tangent at p has the slope α = ℓ′(p), and there
//! ℓ*(α) = αp − ℓ(p). Slopes cα with 0 ≤ c ≤ 1 give flatter minorants, which lie higher where q is far from p. ℓ* is convex,
//! so ℓ*(cα) ≤ (1 − c)ℓ*(0) + cℓ*(α), and −ℓ*(0) is the least loss; losses that are curved have less than that.

use super::{Curvature, Evaluation, Loss};

/// An upper bound on ℓ*(cα), for all c from 0 to 1, as a function of c:
/// −(1 − c)·least + c·linear + c²·square + ch·ln(c) + (1 − ch)·ln(1 − ch), h the `entropy`.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ScaledConjugate {
    /// The least loss at any score.
    pub least: f64,
    /// What grows with c.
    pub linear: f64,
    /// What grows with c².
    pub square: f64,
    /// h, from 0 to 1.
    pub entropy: f64,
}

impl ScaledConjugate {
    /// Of the tangent at p of a loss whose least value is `least`: linear in c.
    pub fn chord(p: f64, evaluation: Evaluation, least: f64) -> Self {
        Self { least, linear: evaluation.derivative * p - evaluation.value, ..Self::default() }
    }

    /// Of the tangent at p of a loss that is ½`curvature`·(q − q₀)² with some q₀ between p and where it is least, which is 0,
    /// or continues that straight: ℓ*(cα) is αq₀c + α²c²/(2·curvature).
    pub fn quadratic(p: f64, evaluation: Evaluation, curvature: f64) -> Self {
        let chord = Self::chord(p, evaluation, 0.0);
        let square = evaluation.derivative * evaluation.derivative / (2.0 * curvature);
        Self { linear: chord.linear - square, square, ..chord }
    }

    /// The bound at c.
    pub fn at(&self, c: f64) -> f64 {
        let share = c * self.entropy;
        let entropy = if share > 0.0 { share * libm::log(c) } else { 0.0 } + x_log_x(1.0 - share);
        -(1.0 - c) * self.least + c * (self.linear + c * self.square) + entropy
    }
}

/// x·ln x, 0 at 0.
pub(super) fn x_log_x(x: f64) -> f64 {
    if x > 0.0 { x * libm::log(x) } else { 0.0 }
}

/// Nearer than this to an end of the range, the ratio there would be all rounding.
const NEAR: f64 = 1e-3;

/// The largest a for which ℓ(q) ≥ ℓ(p) + g(q − p) + (a/2)(q − p)² for all q within ±`bound`, p among them, or somewhat less.
///
/// With r(q) = 2(ℓ(q) − ℓ(p) − g(q − p))/(q − p)² it is the least r(q). Where ℓ″ rises up to some score and falls from
/// there, so does r, and its least value is that at an end of the range.
/// `ends` are ℓ(−bound) and ℓ(bound), if that is finite.
pub(crate) fn largest_bend(
    loss: &dyn Loss,
    (p, y): (f64, f64),
    evaluation: Evaluation,
    bound: f64,
    ends: (f64, f64),
) -> f64 {
    let known = match loss.curvature() {
        Curvature::Quadratic(c) => return c,
        Curvature::Strong(c) => c,
        _ => 0.0,
    };
    if !(bound.is_finite() && loss.is_curvature_unimodal()) {
        return known;
    }
    let ratio = |end: f64, value: f64| {
        let distance = end - p;
        if distance.abs() < NEAR {
            return loss.second_derivative(p, y).min(loss.second_derivative(end, y));
        }
        let along = evaluation.derivative * distance;
        let rounding = 8.0 * f64::EPSILON * (value.abs() + evaluation.value.abs() + along.abs());
        2.0 * (value - evaluation.value - along - rounding) / (distance * distance)
    };
    let (low, high) = (ratio(-bound, ends.0), ratio(bound, ends.1));
    if low.is_nan() || high.is_nan() { known } else { low.min(high).max(known) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::{LOSSES, LossDescriptor};

    fn losses() -> impl Iterator<Item = crate::SharedLoss> {
        LOSSES.iter().map(LossDescriptor::default_loss).filter(|loss| loss.curvature() != Curvature::None)
    }

    fn labels(loss: &dyn Loss) -> Vec<f64> {
        [-1.0, 0.0, 0.3, 1.0, 2.5, 7.0].into_iter().filter(|&y| loss.check_label(y).is_ok()).collect()
    }

    /// cα q − ℓ*(cα) is below the loss wherever q is, and touches it for c = 1 at p.
    #[test]
    fn scaled_tangents_are_minorants() {
        for loss in losses() {
            for y in labels(&*loss) {
                for p in (-60..=60).map(|p| f64::from(p) / 7.0) {
                    let evaluation = loss.evaluate(p, y);
                    let conjugate = loss.conjugate(p, y, evaluation).unwrap();
                    let touch = evaluation.derivative * p - conjugate.at(1.0);
                    assert!(
                        (touch - evaluation.value).abs() <= 1e-9 * (1.0 + evaluation.value.abs()),
                        "{loss:?} {p} {y}"
                    );
                    for c in [0.0, 0.01, 0.3, 0.7, 0.97, 1.0] {
                        for q in (-200..=200).map(|q| f64::from(q) / 11.0) {
                            let below = c * evaluation.derivative * q - conjugate.at(c);
                            let value = loss.value(q, y);
                            assert!(below <= value + 1e-9 * (1.0 + value.abs()), "{loss:?} y={y} p={p} c={c} q={q}");
                        }
                    }
                }
            }
        }
    }

    /// Where the conjugate is known in closed form, the bound is that.
    #[test]
    fn curved_losses_have_their_conjugates_exactly() {
        for name in ["squared", "huber:delta=0.7", "expectile:tau=0.8", "squared-hinge", "modified-huber", "logistic"] {
            let loss = crate::loss::parse(name).unwrap();
            for y in labels(&*loss).into_iter().filter(|y| *y != 0.3 || name != "logistic") {
                for p in (-30..=30).map(|p| f64::from(p) / 7.0) {
                    let evaluation = loss.evaluate(p, y);
                    let conjugate = loss.conjugate(p, y, evaluation).unwrap();
                    for c in [0.1, 0.5, 0.9] {
                        let slope = c * evaluation.derivative;
                        let sup = (-400_000..=400_000).map(|q| f64::from(q) / 20_000.0);
                        let sup = sup.map(|q| slope * q - loss.value(q, y)).fold(f64::NEG_INFINITY, f64::max);
                        let found = conjugate.at(c);
                        assert!(
                            (found - sup).abs() <= 1e-3 * (1.0 + sup.abs()),
                            "{name} y={y} p={p} c={c}: {found} {sup}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn bends_are_minorants_and_as_large_as_can_be() {
        for loss in losses() {
            for y in labels(&*loss) {
                for bound in [0.5, 2.0, 10.0] {
                    for p in (-20..=20).map(|p| bound * f64::from(p) / 20.0) {
                        let evaluation = loss.evaluate(p, y);
                        let ends = (loss.value(-bound, y), loss.value(bound, y));
                        let bend = largest_bend(&*loss, (p, y), evaluation, bound, ends);
                        let mut least = f64::INFINITY;
                        for q in (-1000..=1000).map(|q| bound * f64::from(q) / 1000.0) {
                            let (value, way) = (loss.value(q, y), q - p);
                            let below = evaluation.value + evaluation.derivative * way + 0.5 * bend * way * way;
                            assert!(
                                below <= value + 1e-9 * (1.0 + value.abs()),
                                "{loss:?} y={y} p={p} C={bound} q={q}"
                            );
                            if way.abs() > 0.01 {
                                least = least
                                    .min(2.0 * (value - evaluation.value - evaluation.derivative * way) / way.powi(2));
                            }
                        }
                        let is_as_large = bend >= least.min(loss.second_derivative(p, y)) - 1e-6;
                        let is_exact = loss.is_curvature_unimodal() && p.abs() < bound;
                        assert!(is_as_large || !is_exact, "{loss:?} y={y} p={p} C={bound}: {bend} {least}");
                    }
                }
            }
        }
    }
}
